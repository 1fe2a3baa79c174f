"""A log whose own key signs nonsense: refused by name, or kept as harmless words; never a crash, and the own log stays what it was."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from registry.codec.canonical_documents import canonical_bytes
from registry.codec.statement_encoding import decode_statement, leaf_hash
from registry.errors import CaveatError
from registry.exchange.bundle_format import BundleEnd, BundleHeader, EntryLine, NoteLine, encode_line
from registry.exchange.bundle_transfer import take_over
from registry.exchange.foreign_claims import find_elsewhere
from registry.records.log_seal import Checkpoint
from registry.records.statement import Entry
from registry.seal.merkle_tree import root_of
from registry.seal.signed_notes import sign_checkpoint
from registry.store.dossiers import TrailQuery, list_trail
from registry.store.ledger import begin
from registry.store.log_reader import list_key_events
from registry.store.log_writer import Writer, import_entries
from registry.store.registry_view import View
from tests.store import builders
from tests.transfer.registries import Institute

NONSENSE: tuple[Any, ...] = ("x", "a@b", "x@99999999999999999999", "CLM-AISI-2026-0001-Z@1", "\x00\u202e\x1b[2J", 2**53 - 1)


def sign_log(institute: Institute, texts: Sequence[bytes], path: Path) -> Path:
    """Write a bundle of *texts* to *path*, signed by the key of *institute* as if they were its log."""
    leaves = [leaf_hash(text) for text in texts]
    said = Checkpoint(origin=institute.origin, size=len(texts), root=root_of(map(bytes.fromhex, leaves)).hex())
    header = BundleHeader(origin=said.origin, since=0, peaks=(), size=said.size, cards=False, vkeys=())
    entries = [EntryLine(seq=seq, text=text.decode(), leaf=leaf) for seq, (text, leaf) in enumerate(zip(texts, leaves, strict=True), 1)]
    lines = [encode_line(one) for one in (header, *entries, NoteLine(checkpoint=sign_checkpoint(said, [institute.key])))]
    end = BundleEnd(lines=len(lines), sha256=hashlib.sha256(b"".join(lines)).hexdigest())
    path.write_bytes(b"".join(lines) + encode_line(end))
    return path


def list_texts(institute: Institute) -> list[bytes]:
    """Return the statements of a log."""
    with institute.ledger.view() as view:
        return [text for _, text in view.log_entries() if text is not None]


def place(seq: int, text: bytes) -> tuple[Entry, bytes, None]:
    """Return an unsigned statement with its entry; raises InputError where it is none."""
    said = decode_statement(text, where=f"entry {seq}")
    return Entry(seq=seq, kind=said.kind, actor=said.actor, at=said.at, leaf=leaf_hash(text)), text, None


def read(view: View) -> None:
    """Read a log as people do."""
    for one in view.list_claims():
        view.dossier(one.claim)
    view.list_cards()
    view.list_specs()
    list_trail(view, TrailQuery())
    list_key_events(view)


def change(text: bytes, path: Sequence[str], value: Any) -> bytes:
    """Return the statement with another value at *path*."""
    document = json.loads(text)
    place = document
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return canonical_bytes(document)


def list_nonsense(texts: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Yield the log cut off after one statement of each kind, with nonsense in one of its fields."""
    for at in {json.loads(text)["kind"]: at for at, text in enumerate(texts)}.values():
        for field in (("actor",), ("at",), *(("payload", name) for name in json.loads(texts[at])["payload"])):
            yield from ([*texts[:at], change(texts[at], field, value)] for value in NONSENSE)


def test_nonsense_in_any_field_is_refused_by_name_or_harmless(aisi: Institute, lab: Institute) -> None:
    """It ends in an error with a name, or in entries whose claims, cards and trail are read without a crash."""
    codes: set[str] = set()
    for texts in list_nonsense(list_texts(aisi)):
        with suppress(CaveatError), lab.ledger.connect() as connection:
            begin(connection)
            writer = Writer(connection, actor="LAB", clock=builders.ticking(), salt=builders.salting())
            try:
                import_entries(writer, aisi.origin, str(aisi.vkey), [place(seq, text) for seq, text in enumerate(texts, 1)])
                read(View(connection, limit=len(texts), log_id=2))
            except CaveatError as error:
                codes.add(error.code)
            finally:
                connection.rollback()

    assert codes == {"log-broken", "not-storable", "not-valid", "unknown-statement"}


@pytest.mark.parametrize(
    ("field", "value"),
    [("card", "x"), ("card", "x@99999999999999999999"), ("property", "a@b"), ("claim", "\x00"), ("claim", "CLM-AISI-2026-0001-Z")],
)
def test_what_reads_like_no_reference_is_named(field: str, value: str, aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """Statements that their own registry let in are not believed to be readable; nothing of the log is kept then."""
    *texts, last = list_texts(aisi)
    path = sign_log(aisi, [*texts, change(last, ("payload", field), value)], tmp_path / "evil.jsonl")

    with pytest.raises(CaveatError) as refused:
        take_over(lab.ledger, path, actor="LAB", keys=(aisi.vkey,))

    assert refused.value.code == "log-broken"
    assert f"entry {len(texts) + 1}" in refused.value.faults[0].where
    assert len(lab.ledger.list_logs()) == 1


@pytest.mark.parametrize("depth", [100, 990, 1_100, 100_000])
def test_a_statement_that_is_nested_without_end_is_refused(depth: int, aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """No reader's stack runs out."""
    *texts, last = list_texts(aisi)
    deep = last.replace(b'"note":"no. 1"', b'"note":' + b"[" * depth + b"]" * depth)
    assert deep != last

    with pytest.raises(CaveatError):
        take_over(lab.ledger, sign_log(aisi, [*texts, deep], tmp_path / "evil.jsonl"), actor="LAB", keys=(aisi.vkey,))


def test_a_long_statement_is_taken_over_whole_and_one_that_no_log_holds_is_refused(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """A long payload goes into the log by its digest; an author's name of 70,000 characters cannot."""
    note = "Who asks, and why? " * 6_000
    (claim,) = aisi.add_claims(quote="It never schemes.")
    texts = [
        text.replace(b'"note":"no. 0"', b'"note":"%b"' % note.encode()) if claim.encode() in text else text for text in list_texts(aisi)
    ]
    take_over(lab.ledger, sign_log(aisi, texts, tmp_path / "long.jsonl"), actor="LAB", keys=(aisi.vkey,))
    with lab.ledger.view(log=aisi.origin) as view:
        recorded = view.find_claim(claim)
    assert recorded is not None
    assert recorded.payload.note == note

    named = change(texts[-1], ("actor",), "A" * 70_000)
    with pytest.raises(CaveatError) as refused:
        take_over(lab.ledger, sign_log(aisi, [*texts, named], tmp_path / "evil.jsonl"), actor="LAB", keys=(aisi.vkey,))
    assert refused.value.code == "statement-too-long"
    assert refused.value.faults[0].where == f"entry {len(texts) + 1}"


def test_more_key_events_than_anybody_follows_are_refused(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """A hundred thousand keys cost a reader no hour."""
    texts = list_texts(aisi)
    event = next(text for text in texts if json.loads(text)["kind"] == "key_event")
    many = [change(event, ("payload", "key"), f"{number:064x}") for number in range(1_500)]
    path = sign_log(aisi, [*texts[:2], *many], tmp_path / "evil.jsonl")

    with pytest.raises(CaveatError) as refused:
        take_over(lab.ledger, path, actor="LAB", keys=(aisi.vkey,))

    assert refused.value.code == "too-many-keys"


def test_a_claim_elsewhere_that_cannot_be_read_is_told_beside_ones_own(aisi: Institute, lab: Institute, tmp_path: Path) -> None:
    """What another registry lost of its log keeps no one from reading the own claim."""
    own = lab.add_quoted()
    aisi.export(tmp_path / "before.jsonl")
    claim = next(seq for seq, text in enumerate(list_texts(aisi), 1) if b'"quote_status":"verbatim"' in text)
    take_over(lab.ledger, tmp_path / "before.jsonl", actor="LAB", keys=(aisi.vkey,))
    with lab.ledger.connect() as connection:
        connection.exec_driver_sql("DELETE FROM body WHERE log = 2 AND seq = ?", (claim,))
        connection.commit()
    with lab.ledger.view() as view:
        dossier = view.dossier(own)

    (found,) = find_elsewhere(lab.ledger, dossier)

    assert (found.status, found.outcome) == (None, None)
    assert found.problem is not None
    assert "erased" in found.problem
