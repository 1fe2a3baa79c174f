"""Authors sign what they state: laws of keys and signatures, on every engine."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from registry.codec.statement_encoding import leaf_hash
from registry.errors import CaveatError, ConflictError
from registry.records.log_seal import KeyEventKind
from registry.records.statement import Entry
from registry.registration.key_registration import add_key, get_key, revoke_key, rotate_key
from registry.seal.signing_keys import Backing, SigningKey, StatementKeys, make_key, make_statement_key, sign_entry
from registry.store.database_tables import create_guards, drop_statements
from registry.store.ledger import Ledger
from registry.store.log_integrity import check_log
from registry.store.log_reader import find_backings, find_signature_faults, list_key_events, list_signatures, read_statement_keys
from registry.store.registry_rebuild import rebuild
from tests.store import builders as make

KEYS = {code: make_statement_key(code, seed=code.encode().ljust(32, b".")) for code in ("LAB", "AISI")}
NEXT = make_statement_key("LAB", seed=b"n" * 32)


class Secrets:
    """The secret keys that are here, by authority."""

    def __init__(self) -> None:
        self.here: dict[str, SigningKey] = {}

    def find(self, authority: str) -> SigningKey | None:
        """Return the key of *authority*; None where it is not here."""
        return self.here.get(authority)


@pytest.fixture
def secrets() -> Secrets:
    return Secrets()


@pytest.fixture
def registry(new_registry: Callable[[], str], secrets: Secrets) -> Any:
    """A registry in which LAB and AISI have statement keys: entries 1 to 4, asserted by the operator."""
    ledger = Ledger.open(new_registry(), clock=make.ticking(), salt=make.salting(), find_key=secrets.find)
    for code in KEYS:
        with ledger.write(actor=code) as writer:
            writer.append(make.authority(code))
    for code, key in KEYS.items():
        with ledger.write(actor=code) as writer:
            add_key(writer, key)
    secrets.here = dict(KEYS)
    yield ledger
    ledger.close()


def state(ledger: Ledger, actor: str, slug: str) -> Entry:
    """Let *actor* state something, and return its entry."""
    with ledger.write(actor=actor) as writer:
        name = make.allocate(writer, make.Kind.PROPERTY) if actor == make.LAB else writer.allocate(make.Kind.PROPERTY, actor)[0]
        return writer.append(make.property_spec(name, slug=slug, owner=actor))


def list_codes(ledger: Ledger) -> list[str]:
    return [finding.code for finding in check_log(ledger).findings]


def edit(ledger: Ledger, *statements: str) -> None:
    """Change the database as its operator can: without the guards, which stand again afterwards."""
    with ledger.connect() as connection:
        for statement in drop_statements(connection.dialect.name):
            connection.exec_driver_sql(statement)
        for statement in statements:
            connection.execute(text(statement))
        create_guards(connection)
        connection.commit()


def test_what_an_authority_states_is_signed_with_its_key(registry: Ledger) -> None:
    """Every entry that is written while its author's key is here is its author's, and those before rest on the operator's word."""
    mine, theirs = state(registry, "LAB", "a"), state(registry, "AISI", "b")

    with registry.view() as view:
        backings_by_entry = find_backings(view, [entry for entry, _ in view.log_entries()])
        keys = {signature.entry: signature.key for signature in list_signatures(view, backings_by_entry)}
    assert list(backings_by_entry.values()) == [Backing.OPERATOR] * 4 + [Backing.AUTHOR] * 2
    assert keys == {mine.seq: KEYS["LAB"].fingerprint, theirs.seq: KEYS["AISI"].fingerprint}
    assert list_codes(registry) == []


def test_a_missing_signature_is_no_failure(registry: Ledger, secrets: Secrets) -> None:
    """Without the key the statement is recorded as the operator's assertion, and the log is sound."""
    secrets.here = {}
    entry = state(registry, "LAB", "a")

    with registry.view() as view:
        assert find_backings(view, [entry]) == {entry.seq: Backing.OPERATOR}
    assert list_codes(registry) == []


@pytest.mark.parametrize(
    ("signer", "code"),
    [
        (KEYS["AISI"], "signature-not-valid"),
        (NEXT, "signature-not-valid"),
        (make_key(KEYS["LAB"].algorithm, "LAB", seed=b"x" * 32), "signature-not-valid"),
    ],
)
def test_no_statement_of_one_authority_verifies_as_anothers(registry: Ledger, signer: SigningKey, code: str) -> None:
    """Whoever signs a statement of LAB with another key than LAB's own is found out, also with a key that the log has for others."""
    entry = state(registry, "LAB", "a")
    with registry.view() as view:
        keys, origin = read_statement_keys(view), view.log_origin
    forged = sign_entry(signer, origin, entry.seq, entry.leaf)

    fault = keys.find_fault(entry, forged)
    assert fault is not None
    assert fault.code == code
    as_theirs = keys.find_fault(replace(entry, actor="AISI"), sign_entry(KEYS["LAB"], origin, entry.seq, entry.leaf))
    assert as_theirs is not None
    assert as_theirs.code == "signature-not-valid"


def test_a_signature_counts_for_one_entry_of_one_log(registry: Ledger) -> None:
    """The same statement at another number, with another leaf, or in another log is not signed."""
    entry = state(registry, "LAB", "a")
    with registry.view() as view:
        keys, origin = read_statement_keys(view), view.log_origin
    right = sign_entry(KEYS["LAB"], origin, entry.seq, entry.leaf)
    others = [
        sign_entry(KEYS["LAB"], origin, entry.seq + 1, entry.leaf),
        sign_entry(KEYS["LAB"], origin, entry.seq, leaf_hash(b"else")),
        sign_entry(KEYS["LAB"], f"{origin}2", entry.seq, entry.leaf),
        replace(right, signature=right.signature[:-4] + "AA=="),
        replace(right, signature="not base64"),
    ]

    assert keys.find_fault(entry, right) is None
    assert {fault.code for signature in others if (fault := keys.find_fault(entry, replace(signature, entry=entry.seq)))} == {
        "signature-not-valid"
    }
    assert all(keys.find_fault(entry, replace(signature, entry=entry.seq)) for signature in others)


def test_a_key_signs_between_the_entries_that_add_and_end_it(registry: Ledger, secrets: Secrets) -> None:
    """Not before the log knows it, not after another took its place, not after it was revoked."""
    early = state(registry, "LAB", "a")
    with registry.write(actor="LAB") as writer:
        rotated = rotate_key(writer, KEYS["LAB"], NEXT, reason="Once a year")
    secrets.here["LAB"] = NEXT
    between = state(registry, "LAB", "b")
    with registry.write(actor="LAB") as writer:
        revoked = revoke_key(writer, get_key(writer, NEXT.fingerprint), reason="Laptop lost", untrusted_from=None)
    secrets.here.pop("LAB")
    late = state(registry, "LAB", "c")

    with registry.view() as view:
        keys, origin = read_statement_keys(view), view.log_origin

    def find(key: SigningKey, entry: Entry) -> str | None:
        fault = keys.find_fault(entry, sign_entry(key, origin, entry.seq, entry.leaf))
        return fault.code if fault else None

    ended = "signature-not-valid"
    entries = (early, rotated, between, revoked, late)
    assert [find(KEYS["LAB"], place) for place in entries] == [None, None, ended, ended, ended]
    assert [find(NEXT, place) for place in entries] == [ended, ended, None, None, ended]
    assert list_codes(registry) == []
    with registry.view() as view:
        found_backings = find_backings(view, entries)
    backings = [Backing.AUTHOR, Backing.AUTHOR, Backing.WITHDRAWN, Backing.AUTHOR, Backing.OPERATOR]
    assert [found_backings[place.seq] for place in entries] == backings


def test_what_a_key_signed_before_it_was_lost_stays_good(registry: Ledger, secrets: Secrets) -> None:
    """A revocation that names a time withdraws what was signed from then on, and nothing before."""
    before, after = state(registry, "LAB", "a"), state(registry, "LAB", "b")
    with registry.write(actor="LAB") as writer:
        revoke_key(writer, get_key(writer, KEYS["LAB"].fingerprint), reason="Laptop lost", untrusted_from=after.at)

    with registry.view() as view:
        backings = find_backings(view, [before, after])
    assert (backings[before.seq], backings[after.seq]) == (Backing.AUTHOR, Backing.WITHDRAWN)


def test_a_successor_enters_by_the_old_key_alone(registry: Ledger, secrets: Secrets) -> None:
    """Who writes in LAB's name without its key neither replaces its key nor adds another beside it: both are failures by name."""
    secrets.here = {}
    with registry.write(actor="LAB") as writer:
        rotate_key(writer, KEYS["LAB"], NEXT, reason="The operator says so")
    assert list_codes(registry) == ["key-not-authorised"]

    with registry.view() as view:
        events = list_key_events(view)
        signed = {signature.entry: signature for signature in list_signatures(view, (event.entry.seq for event in events))}
        added = replace(events[-1], payload=replace(events[-1].payload, event=KeyEventKind.ADD, replaces=None))
        keys = StatementKeys(view.log_origin, [*events[:-1], added], signed)
    assert [fault.code for fault in keys.faults] == ["key-not-authorised"]
    assert [key_state.fingerprint for key_state in keys.keys] == [key.fingerprint for key in KEYS.values()]


def test_a_key_that_the_log_has_not_in_force_signs_nothing(registry: Ledger, secrets: Secrets) -> None:
    """A secret key of another registry, or one that was replaced, is refused, and nothing is recorded."""
    secrets.here["LAB"] = NEXT
    with registry.view() as view:
        size = view.log_size

    with pytest.raises(ConflictError, match="key-not-registered"):
        state(registry, "LAB", "a")
    with registry.view() as view:
        assert view.log_size == size


def test_signatures_are_neither_changed_nor_removed(registry: Ledger) -> None:
    """The database itself refuses."""
    entry = state(registry, "LAB", "a")
    for statement in (
        f"DELETE FROM signature WHERE seq = {entry.seq}",
        f"UPDATE signature SET value = value WHERE seq = {entry.seq}",
        "INSERT INTO signature SELECT * FROM signature",
    ):
        with pytest.raises(CaveatError, match="append-only|unique|duplicate"), registry.connect() as connection:
            connection.execute(text(statement))


def test_swapped_signatures_are_noticed(registry: Ledger) -> None:
    """Each signature is over its own entry, so two that changed places are both wrong."""
    first, second = state(registry, "LAB", "a"), state(registry, "LAB", "b")
    edit(
        registry,
        f"CREATE TEMPORARY TABLE kept AS SELECT seq, value FROM signature WHERE seq IN ({first.seq}, {second.seq})",
        f"UPDATE signature SET value = (SELECT value FROM kept WHERE kept.seq = {first.seq + second.seq} - signature.seq)"
        f" WHERE seq IN ({first.seq}, {second.seq})",
        "DROP TABLE kept",
    )

    assert list_codes(registry) == ["signature-not-valid", "signature-not-valid"]


def test_what_the_operator_edits_in_a_signed_statement_is_noticed(registry: Ledger, new_registry: Callable[[], str]) -> None:
    """Also where leaf and tree are made anew, as a rebuilt log has them: the signature is its author's, over other words."""
    entry = state(registry, "LAB", "a")
    with registry.view() as view:
        body_text = next(body for place, body in view.log_entries(entry.seq) if place.seq == entry.seq) or b""
    forged = body_text.replace(b"refusal rate", b"refusal hate")
    assert forged != body_text
    leaf = leaf_hash(forged)
    quoted = forged.decode().replace("'", "''").replace(":", "\\:")
    blob = f"X'{leaf}'" if registry.url.startswith("sqlite") else f"'\\x{leaf}'\\:\\:bytea"
    edit(
        registry,
        f"UPDATE body SET json = '{quoted}' WHERE seq = {entry.seq}",
        f"UPDATE entry SET leaf = {blob} WHERE seq = {entry.seq}",
        "UPDATE spec_version SET body = replace(body, 'refusal rate', 'refusal hate')",
    )
    target = new_registry()
    rebuild(registry.url, target, lambda _done: None)
    rebuilt = Ledger.open(target, clock=make.ticking(), salt=make.salting())

    assert "signature-not-valid" in list_codes(registry)
    assert list_codes(rebuilt) == ["signature-not-valid"]
    rebuilt.close()


def test_a_rebuilt_registry_keeps_its_signatures(registry: Ledger, new_registry: Callable[[], str]) -> None:
    """Each of them, with its key, over the same entry."""
    numbers = [state(registry, code, code.lower()).seq for code in KEYS]
    target = new_registry()
    report = rebuild(registry.url, target, lambda _done: None)
    rebuilt = Ledger.open(target, clock=make.ticking(), salt=make.salting())

    with registry.view() as here, rebuilt.view() as there:
        assert list_signatures(here, numbers) == list_signatures(there, numbers)
        assert list(find_signature_faults(there)) == []
    assert report.signatures == len(numbers)
    rebuilt.close()
