"""A statement of any length goes into the log in at most 65,535 bytes, and is read, checked, rebuilt and erased whole."""

import hashlib
import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from registry.codec.statement_encoding import LONGEST_ENTRY, hashed_form, leaf_hash, write_statement
from registry.errors import InputError
from registry.records.record import Kind
from registry.records.specification import ContextItem, ContextSpec, SpecVersion
from registry.records.statement import PAYLOADS, Entry
from registry.store.ledger import Ledger
from registry.store.log_integrity import scan_log
from registry.store.registry_rebuild import rebuild, verify
from tests.store import builders as make

SALT = "0f" * 16
LONG = "Who asks, and why? " * 6_000


def write(kind: str, payload: Any) -> bytes:
    """Return a statement of *kind* by an author with the longest code there is."""
    place = Entry(seq=1, kind=kind, actor="ABCDEFGHIJKL", at=datetime(2026, 11, 26, tzinfo=UTC), leaf="")
    return write_statement(place, payload, SALT)


def append_long(ledger: Ledger) -> Entry:
    """Register a context of 114,000 characters."""
    with ledger.write(actor="LAB") as writer:
        make.settle(writer)
        name = make.allocate(writer, Kind.CONTEXT)
        body = ContextSpec(name="Support", description="Customers ask.", contexts=(ContextItem(id="one", system=LONG),))
        return writer.append(make.context_spec(name, body=body))


@pytest.mark.parametrize("kind", sorted(PAYLOADS))
def test_no_kind_of_statement_is_too_long_for_the_log(kind: str) -> None:
    """Whatever its payload: what is not payload is short."""
    assert len(hashed_form(write(kind, {"why": "x" * 1_000_000}))) < 300


@given(missing=st.integers(-300, 300), character=st.sampled_from(["a", '"', "\u20ac"]))
@example(missing=0, character="a")
@example(missing=-1, character="a")
def test_a_long_payload_is_hashed_by_its_digest(missing: int, character: str) -> None:
    """A statement of up to 65,535 bytes is hashed as it is."""
    frame = len(write("card", {"why": character}))
    text = write("card", {"why": character + "x" * (LONGEST_ENTRY - frame - missing)})
    form = hashed_form(text)

    assert len(text) == LONGEST_ENTRY - missing
    assert len(form) <= LONGEST_ENTRY
    assert leaf_hash(text) == hashlib.sha256(b"\x00" + form).hexdigest()
    if len(text) <= LONGEST_ENTRY:
        assert form == text
    else:
        document = json.loads(text)
        payload = json.dumps(document.pop("payload"), separators=(",", ":"), ensure_ascii=False).encode()
        assert json.loads(form) == document | {"payload_sha256": hashlib.sha256(payload).hexdigest()}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b'"actor":"ABC', b'"actor":"ABCD'),
        (b'"at":"2026', b'"at":"2027'),
        (b'"kind":"card', b'"kind":"claim'),
        (b"x" * 70_000, b"x" * 70_001),
        (SALT.encode(), b"1f" * 16),
    ],
)
def test_every_part_of_a_long_statement_counts(before: bytes, after: bytes) -> None:
    """Author, time, kind, payload and salt: another one gives another entry hash."""
    text = write("card", {"title": "x" * 70_000})

    assert leaf_hash(text) != leaf_hash(text.replace(before, after, 1))


@pytest.mark.parametrize(
    "text",
    [
        b"x" * 70_000,
        b'{"actor":"A","at":"t","kind":"card","payload":"' + b"x" * 70_000 + b'"}',
        b'{"at":"t","actor":"A","kind":"card","payload":"' + b"x" * 70_000 + b'","salt":"s","schema":"caveat/statement/1"}',
        b'{"actor":"A","at":"t","kind":"card","payload":{"a":"' + b"x" * 70_000 + b'","salt":"s"},"schema":"caveat/statement/1"}',
        b'{"actor":"A","at":"t","kind":"card","payload":"' + b"x" * 70_000 + b'","salt":"s","schema":"caveat/statement/2"}',
    ],
)
def test_only_a_canonical_statement_is_hashed_by_the_digest_of_its_payload(text: bytes) -> None:
    """Otherwise a text with a long value and one with the digest of this value in its place could have the same entry hash."""
    assert hashed_form(text) == text


def test_a_long_statement_is_read_checked_and_rebuilt(ledger: Ledger, new_url: Callable[[], str]) -> None:
    """As any other one; the database keeps its text whole."""
    recorded = append_long(ledger)
    with ledger.view() as view:
        spec: SpecVersion = view.recorded((recorded.seq,))[0].payload
        ((_, text),) = view.log_entries(recorded.seq, recorded.seq + 1)
    assert isinstance(spec.body, ContextSpec)
    assert spec.body.contexts[0].system == LONG
    assert text is not None
    assert len(text) > LONGEST_ENTRY
    assert verify(ledger).erased == 0

    target = new_url()
    rebuild(ledger.url, target, lambda _seq: None)
    copy = Ledger.open(target, clock=make.ticking(), salt=make.salting())
    with copy.view() as view:
        assert view.recorded((recorded.seq,))[0].entry == recorded
    assert verify(copy).entries == verify(ledger).entries
    copy.close()


def test_the_text_of_a_long_statement_is_erased(ledger: Ledger) -> None:
    """Its entry hash stays."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        claim = make.add_claim(writer, phi, note=LONG)
        recorded = writer.find_claim(claim)
        assert recorded is not None
        writer.erase(recorded.entry.seq, why="It named a person.")

    with ledger.view() as view:
        ((place, text),) = view.log_entries(recorded.entry.seq, recorded.entry.seq + 1)
    assert (place, text) == (recorded.entry, None)
    assert verify(ledger).erased == 1


def test_the_form_of_a_long_statement_in_place_of_its_text_is_found(sqlite_template: Path, tmp_path: Path) -> None:
    """It has the same entry hash, and is no statement."""
    path = shutil.copy(sqlite_template, tmp_path / "registry.db")
    ledger = Ledger.open(f"sqlite:///{path}", clock=make.ticking(), salt=make.salting())
    recorded = append_long(ledger)
    with closing(sqlite3.connect(path)) as connection, connection:
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'body'").fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        ((text,),) = connection.execute("SELECT json FROM body WHERE seq = ?", (recorded.seq,)).fetchall()
        connection.execute("UPDATE body SET json = ? WHERE seq = ?", (hashed_form(text.encode()).decode(), recorded.seq))

    with ledger.view() as view:
        (fault,) = scan_log(view, lambda _seq: None).faults
        with pytest.raises(InputError, match="unknown-statement"):
            view.recorded((recorded.seq,))
    ledger.close()
    assert (fault.code, fault.where) == ("entry-altered", f"entry {recorded.seq}")
    assert "is no statement" in fault.found
