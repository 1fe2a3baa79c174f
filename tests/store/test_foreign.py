"""Another registry's log, taken over and read beside the own one, on every engine."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from sqlalchemy import select

from registry.errors import ConflictError, InputError, NotFoundError
from registry.records.log_seal import LogImport
from registry.records.record import Kind
from registry.records.statement import Entry
from registry.seal import merkle_tree as tree
from registry.store import log_seals as seals
from registry.store.database_tables import METADATA
from registry.store.ledger import Ledger
from registry.store.log_integrity import check_log
from registry.store.log_reader import LogSummary
from registry.store.log_writer import ForeignEntry, import_entries
from registry.store.registry_rebuild import rebuild, verify
from tests.store import builders as make
from tests.store import sealing

Entries = list[tuple[Entry, bytes | None]]
OTHER = sealing.OTHER_LOG
VKEY = sealing.log_key(OTHER).vkey or ""


@pytest.fixture
def theirs(new_ledger: Callable[[], Ledger]) -> Entries:
    """What another registry recorded: twenty claims, an audit of the first, with its lock and run."""
    ledger = new_ledger()
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        names = [make.add_claim(writer, phi, quote=f"Their claim {number}.") for number in range(20)]
        audit = make.add_audit(writer, f"{names[0]}@1")
        locked = writer.append(make.lock(audit, f"{names[0]}@1"))
        writer.append(make.run(audit, locked.at))
    with ledger.view() as view:
        return list(view.log_entries())


@pytest.fixture
def ours(ledger: Ledger) -> Ledger:
    """A registry of our own with one claim, which has the same identifier as one of theirs."""
    with ledger.write(actor="LAB") as writer:
        make.add_claim(writer, make.settle(writer), quote="Our claim.")
    return ledger


def _take_over(ledger: Ledger, entries: Entries) -> int:
    with ledger.write(actor="LAB") as writer:
        return import_entries(writer, OTHER, VKEY, _unsigned(entries))


def _unsigned(entries: Entries) -> Iterator[ForeignEntry]:
    """The entries, without signatures of their authors."""
    yield from ((place, text, None) for place, text in entries)


def test_a_foreign_log_is_read_beside_the_own(ours: Ledger, theirs: Entries) -> None:
    """Each sees its own statements alone, though identifiers are the same; roots and proofs are those of the log that is read."""
    with ours.view() as view:
        before = (list(view.leaves()), seals.find_root(view))

    assert _take_over(ours, theirs) == len(theirs)

    leaves = [bytes.fromhex(entry.leaf) for entry, _ in theirs]
    with ours.view(log=OTHER) as view:
        assert (view.log_origin, view.log_vkey, view.log_size) == (OTHER, VKEY, len(theirs))
        assert [claim.quote for claim in view.list_claims()] == [f"Their claim {number}." for number in range(20)]
        first = next(iter(view.list_claims()))
        assert view.dossier(first.claim).log_origin == OTHER
        assert len(view.dossier(first.claim).audits[0].runs) == 1
        assert view.status(first.claim) == first.status
        assert [claim.quote for claim in view.list_claims(text="19.")] == ["Their claim 19."]
        assert seals.find_root(view) == tree.root_of(leaves).hex()
        assert list(view.log_entries()) == theirs
    with ours.view() as view:
        assert [claim.quote for claim in view.list_claims()] == ["Our claim."]
        assert (list(view.leaves()), seals.find_root(view)) == before
        origin = view.log_origin
    assert ours.list_logs() == (
        LogSummary(origin=origin, vkey=None, size=3, is_own=True),
        LogSummary(origin=OTHER, vkey=VKEY, size=len(theirs), is_own=False),
    )
    assert check_log(ours, log=OTHER).is_sound
    assert verify(ours).foreign == len(theirs)


def test_what_is_here_is_not_taken_over_twice(ours: Ledger, theirs: Entries) -> None:
    """The same entries again change nothing, more of them go on."""
    assert _take_over(ours, theirs[:10]) == 10

    assert _take_over(ours, theirs[5:]) == len(theirs) - 10
    assert _take_over(ours, theirs) == 0

    with ours.view(log=OTHER) as view:
        assert list(view.log_entries()) == theirs


def test_a_foreign_log_is_held_against_the_note_it_came_with(ours: Ledger, theirs: Entries) -> None:
    """What our own log says of theirs is what it is checked by."""
    root = tree.root_of(bytes.fromhex(entry.leaf) for entry, _ in theirs).hex()
    note = sealing.note_of(OTHER, len(theirs), root)
    with ours.write(actor="LAB") as writer:
        import_entries(writer, OTHER, VKEY, _unsigned(theirs))
        writer.append(LogImport(origin=OTHER, size=len(theirs), root=root, vkey=VKEY, checkpoint=note, bundle="ab" * 32))

    report = check_log(ours, vkeys=sealing.vkeys_of(OTHER), log=OTHER)

    assert report.is_sound
    assert [(checkpoint.fits, checkpoint.is_signed) for checkpoint in report.checkpoints] == [(True, True)]


def test_another_history_is_refused(ours: Ledger, theirs: Entries) -> None:
    """With the entry whose leaves differ; nothing of it is recorded."""
    _take_over(ours, theirs[:10])
    forged = [*theirs[:8], (replace(theirs[8][0], leaf="ab" * 32), theirs[8][1]), *theirs[9:]]

    with pytest.raises(ConflictError, match=rf"history-differs\][^\n]*\n  --> {OTHER}, entry 9"):
        _take_over(ours, forged)

    with ours.view(log=OTHER) as view:
        assert view.log_size == 10


@pytest.mark.parametrize("case", ["a gap", "a start in the middle", "another text", "another actor", "out of order"])
def test_entries_that_do_not_fit_are_refused(ours: Ledger, theirs: Entries, case: str) -> None:
    """Whole or not at all."""
    place, text = theirs[4]
    changed = {
        "a gap": [*theirs[:4], *theirs[5:]],
        "a start in the middle": theirs[4:],
        "another text": [*theirs[:4], (place, (text or b"").replace(b"Their", b"There")), *theirs[5:]],
        "another actor": [*theirs[:4], (replace(place, actor="OTHER"), text), *theirs[5:]],
        "out of order": [*theirs[:4], theirs[5], theirs[4], *theirs[6:]],
    }

    with pytest.raises(InputError, match="log-broken"):
        _take_over(ours, changed[case])

    with pytest.raises(NotFoundError, match="log-not-found"), ours.view(log=OTHER):
        pass


def test_the_own_log_is_never_taken_over(ours: Ledger, theirs: Entries) -> None:
    """What is ours is written, not imported."""
    with pytest.raises(ConflictError, match="own-log"), ours.write(actor="LAB") as writer:
        import_entries(writer, writer.log_origin, VKEY, _unsigned(theirs))


def test_rows_that_rest_on_an_erased_statement_are_excluded(ours: Ledger, theirs: Entries, new_url: Callable[[], str]) -> None:
    """The first claim's text is gone: its audit, lock and run are in the log and in no table, and everything else is."""
    erased: Entries = [(place, None if place.seq == 3 else text) for place, text in theirs]

    assert _take_over(ours, erased) == len(theirs)

    with ours.view(log=OTHER) as view:
        assert [claim.quote for claim in view.list_claims()] == [f"Their claim {number}." for number in range(1, 20)]
        assert view.list_audits() == ()
        assert list(view.log_entries()) == erased
    assert [fault.code for fault in check_log(ours, log=OTHER).findings] == ["text-missing"]
    assert verify(ours).foreign == len(theirs)
    target = new_url()
    assert rebuild(ours.url, target, lambda _done: None).foreign == len(theirs)


def test_a_rebuilt_registry_has_the_foreign_logs_and_all_seals(ours: Ledger, theirs: Entries, new_url: Callable[[], str]) -> None:
    """Every row of every table is the same."""
    with ours.write(actor="LAB") as writer:
        phi = f"{writer.list_specs()[0].payload.spec}@1"
        names = writer.allocate(Kind.CLAIM, "LAB", 20)
        writer.append_many([make.claim(name, phi, quote="More.") for name in names])
        sealing.seal(writer, witnessed_at=make.START, size=5)
        sealing.seal(writer)
    _take_over(ours, theirs)
    target = new_url()

    report = rebuild(ours.url, target, lambda _done: None)

    assert (report.entries, report.foreign, report.checkpoints, report.cosignatures) == (23, len(theirs), 2, 1)
    copy = Ledger.open(target, clock=make.ticking(), salt=make.salting())
    assert _rows(copy) == _rows(ours)
    copy.close()


def _rows(ledger: Ledger) -> dict[str, list[tuple[object, ...]]]:
    with ledger.connect() as connection:
        return {
            table.name: [tuple(row) for row in connection.execute(select(table).order_by(*table.primary_key))]
            for table in METADATA.sorted_tables
        }
