"""Appending to the ledger and reading it back, on every engine."""

from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta

import pytest

from registry.codec.statement_encoding import leaf_hash
from registry.errors import ConflictError, InputError, NotFoundError, UnavailableError
from registry.records.claim import ClaimEvent, ClaimEventKind
from registry.records.log_seal import Erasure
from registry.records.model_version import ModelVersion
from registry.records.record import Kind, parse_identifier
from registry.store import database_schema as schema
from registry.store.kinds.claim_kinds import natural_key
from registry.store.ledger import Ledger
from tests.store import builders as make


def test_an_entry_has_the_leaf_of_its_text(ledger: Ledger) -> None:
    """What the log keeps is SHA-256(0x00 ‖ text), and the text is kept byte for byte."""
    with ledger.write(actor="LAB") as writer:
        recorded = writer.append(make.authority())

    with ledger.view() as view:
        ((entry, text),) = view.log_entries()

    assert entry == recorded
    assert text is not None
    assert leaf_hash(text) == entry.leaf


def test_what_is_appended_is_read_back(ledger: Ledger) -> None:
    """Every payload comes back equal, in log order."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        name = make.add_claim(writer, phi, theta=None, note="first")

    with ledger.view() as view:
        recorded = view.find_claim(name)
        payloads = [entry.payload for entry in view.entries()]

    assert recorded is not None
    assert recorded.payload == make.claim(name, phi, note="first")
    assert payloads[0] == make.authority()
    assert [entry.entry.seq for entry in [recorded]] == [3]


def test_a_transaction_is_recorded_wholly_or_not_at_all(ledger: Ledger) -> None:
    """An exception inside the transaction leaves the log as it was."""

    def fail() -> None:
        with ledger.write(actor="LAB") as writer:
            make.settle(writer)
            raise KeyError

    with pytest.raises(KeyError):
        fail()

    with ledger.view() as view:
        assert view.log_size == 0
        assert view.find_authority("LAB") is None


def test_half_a_refused_list_is_never_recorded(ledger: Ledger) -> None:
    """Whoever swallows the error of a list that was refused halfway still records nothing of it."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)

    def swallow() -> None:
        with ledger.write(actor="LAB") as writer:
            names = writer.allocate(Kind.CLAIM, "LAB", 2)
            with pytest.raises(InputError):
                writer.append_many([make.claim(names[0], phi), make.claim(names[1], "PRP-LAB-2026-0009-L@1")])

    with pytest.raises(ConflictError, match="transaction-refused"):
        swallow()

    with ledger.view() as view:
        assert view.count_claims() == 0


def test_identifiers_are_gapless_per_kind_authority_and_year(ledger: Ledger) -> None:
    """Numbers begin at 1, follow each other across transactions, and what was not used is allocated again."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        unused = writer.allocate(Kind.CLAIM, "LAB", 2)
    with ledger.write(actor="LAB") as writer:
        names = [make.add_claim(writer, phi, quote=f"claim {number}") for number in range(3)]

    assert names[:2] == unused
    assert [parse_identifier(name).number for name in names] == [1, 2, 3]


def test_a_claim_needs_its_identifier_first(ledger: Ledger) -> None:
    """An identifier that no one allocated or reserved is refused."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        with pytest.raises(InputError, match="identifier-not-reserved"):
            writer.append(make.claim("CLM-LAB-2026-0001-E", phi))


def test_a_reserved_claim_is_registered_later(ledger: Ledger) -> None:
    """Reserving takes the identifier; the first revision uses it."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        name = make.allocate(writer, Kind.CLAIM)
        writer.append(ClaimEvent(claim=name, event=ClaimEventKind.RESERVE))
    with ledger.view() as view:
        assert view.is_reserved(name)
        assert view.find_claim(name) is None
        assert view.dossier(name).revisions == ()

    with ledger.write(actor="LAB") as writer:
        writer.append(make.claim(name, phi))

    with ledger.view() as view:
        assert view.find_claim(name) is not None
        assert not view.is_reserved(name)


def test_revisions_are_contiguous(ledger: Ledger) -> None:
    """Neither a gap nor a second revision with the same number."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        name = make.add_claim(writer, phi)
        for revision in (1, 3):
            with pytest.raises(ConflictError, match="changed-meanwhile"):
                writer.append(make.claim(name, phi, revision=revision, why="typing error"))
        writer.append(make.claim(name, phi, revision=2, why="typing error"))

    with ledger.view() as view:
        assert [recorded.payload.revision for recorded in view.dossier(name).revisions] == [1, 2]


@pytest.mark.parametrize("event", [ClaimEventKind.WITHDRAW, ClaimEventKind.REJECT, ClaimEventKind.SUPERSEDE])
def test_a_claim_that_ended_takes_nothing_more(ledger: Ledger, event: ClaimEventKind) -> None:
    """After its end neither a revision nor a publication follows."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        name, other = make.add_claim(writer, phi), make.add_claim(writer, phi)
        successor = other if event is ClaimEventKind.SUPERSEDE else None
        writer.append(ClaimEvent(claim=name, event=event, successor=successor, reason="wrong"))
        for payload in (make.claim(name, phi, revision=2, why="late"), ClaimEvent(claim=name, event=ClaimEventKind.PUBLISH)):
            with pytest.raises(ConflictError, match="claim-ended"):
                writer.append(payload)


def test_all_faults_come_at_once(ledger: Ledger) -> None:
    """A list with several unknown references is refused with a fault for each."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        names = writer.allocate(Kind.CLAIM, "LAB", 3)
        with pytest.raises(InputError) as refused:
            writer.append_many(
                [
                    make.claim(names[0], "PRP-LAB-2026-0009-L@1"),
                    make.claim(names[1], phi, card="CRD-LAB-2026-0001-J@1", scoring=phi),
                    make.claim(names[2], "PRP-LAB-2026-0001-X@7"),
                ]
            )

    assert [fault.code for fault in refused.value.faults] == ["not-registered", "wrong-kind", "not-registered", "not-registered"]


def test_who_speaks_is_registered(ledger: Ledger) -> None:
    """An actor no one knows says nothing, except to introduce an authority."""
    with ledger.write(actor="GHOST") as writer:
        writer.append(make.authority())
        with pytest.raises(InputError, match="authority-not-registered"):
            writer.append(ModelVersion(model=make.MODEL))


def test_the_same_natural_key_finds_the_claim(ledger: Ledger) -> None:
    """Number, figures, property version and white space do not make another claim."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        name = make.add_claim(writer, phi)
        again = make.claim("CLM-LAB-2026-0002-C", phi, quote=" It does\nnot  scheme. ", note="x", revision=2, why="y")
        other = make.claim("CLM-LAB-2026-0002-C", phi, quote="It does scheme.")
        matches = writer.find_natural([natural_key(again), natural_key(other)])

    assert natural_key(again) != natural_key(other)
    assert [match.payload.claim for match in matches.values()] == [name]


def test_texts_are_kept_once_by_digest(ledger: Ledger) -> None:
    """A text is found by the digest of its UTF-8; one that was never kept is not found."""
    with ledger.write(actor="LAB") as writer:
        first, second = writer.put_content(make.TEXT), writer.put_content(make.TEXT)

    with ledger.view() as view:
        assert first == second
        assert view.get_content(first) == make.TEXT
        with pytest.raises(NotFoundError, match="content-missing"):
            view.get_content("00" * 32)


def test_as_of_reads_what_was_there(ledger: Ledger) -> None:
    """By entry and by time; an entry that is not there yet is refused."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
    with ledger.write(actor="LAB") as writer:
        name = make.add_claim(writer, phi)
        at = writer.append(make.claim(name, phi, revision=2, why="better", quote="Better.")).at
    with ledger.write(actor="LAB") as writer:
        writer.append(make.authority("OTHER"))

    def quotes(as_of: int | datetime) -> list[str | None]:
        with ledger.view(as_of) as view:
            return [claim.quote for claim in view.list_claims()]

    assert quotes(2) == []
    assert quotes(3) == ["It does not scheme."]
    assert quotes(4) == ["Better."]
    assert quotes(at) == ["Better."]
    assert quotes(at - timedelta(seconds=60)) == []
    with pytest.raises(InputError, match="entry-not-found"), ledger.view(6):
        pass


def test_time_never_runs_backwards(new_url: Callable[[], str]) -> None:
    """When the clock does, the entry has the time of the one before it."""
    url = new_url()
    schema.upgrade(url)
    times = iter([make.START, make.START - timedelta(minutes=5)])
    ledger = Ledger.open(url, clock=lambda: next(times), salt=make.salting())
    with ledger.write(actor="LAB") as writer:
        first = writer.append(make.authority())
        second = writer.append(make.authority("OTHER"))
    ledger.close()

    assert first.at == second.at == make.START


@pytest.mark.parametrize("steps", [[-601], [0, 0, 0], [3600, -599], [86_400, 0]])
def test_a_clock_that_is_far_behind_the_last_entry_is_refused(ledger: Ledger, steps: list[int]) -> None:
    """More than ten minutes; a clock that stands still, as in a reproducible example, is never behind, nor is one that is ahead."""
    with ledger.write(actor="LAB") as writer:
        last = writer.append(make.authority()).at

    for step in steps:
        last += timedelta(seconds=step)
        moved = Ledger.open(ledger.url, clock=lambda last=last: last, salt=make.salting())
        is_behind = step < -600
        with pytest.raises(InputError, match="clock-behind") if is_behind else nullcontext(), moved.write(actor="LAB") as writer:
            writer.append(make.authority(f"LAB{writer.log_size}"))
        moved.release()

    with ledger.view() as view:
        times = [entry.at for entry, _ in view.log_entries()]
        assert times == sorted(times)
        assert len(times) == 1 + (0 if steps == [-601] else len(steps))


def test_an_erased_text_leaves_its_proof(ledger: Ledger) -> None:
    """The leaf stays, the words are gone from everywhere, and what needs them says so."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        name = make.add_claim(writer, phi)
        before = writer.find_entry(3)
        erasure = writer.erase(3, why="It named a person.")

    with ledger.view() as view:
        assert view.find_entry(3) == before
        assert [claim.quote for claim in view.list_claims()] == [None]
        assert list(view.list_claims(text="scheme")) == []
        assert [text is None for _, text in view.log_entries()] == [False, False, True, False]
        assert before is not None
        assert view.recorded((4,))[0].payload == Erasure(erased=3, leaf=before.leaf, why="It named a person.")
        assert erasure == view.find_entry(4)
        with pytest.raises(NotFoundError, match="body-erased"):
            view.dossier(name)


def test_a_log_has_one_name(ledger: Ledger) -> None:
    """It is named before its first entry, once."""
    with ledger.write(actor="LAB") as writer:
        writer.name_log("registry.example/log", "key")
        with pytest.raises(ConflictError, match="log-named"):
            writer.name_log("another")

    with ledger.view() as view:
        assert (view.log_origin, view.log_vkey) == ("registry.example/log", "key")


def test_words_that_a_database_cannot_hold_are_kept_in_the_statement(ledger: Ledger) -> None:
    """U+0000 is replaced in the rows on every engine, and stays in the statement."""
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
        name = make.add_claim(writer, phi, quote="zero \x00 here")

    with ledger.view() as view:
        assert view.dossier(name).current.payload.quote == "zero \x00 here"
        assert [claim.quote for claim in view.list_claims()] == ["zero \ufffd here"]


def test_a_registry_that_is_not_there_says_what_to_do(new_url: Callable[[], str]) -> None:
    """No file or no schema: caveat init. Nothing is created by looking."""
    url = new_url()

    for _ in range(2):
        with pytest.raises(UnavailableError, match="caveat init") as refused:
            Ledger.open(url, clock=make.ticking(), salt=make.salting())
        assert refused.value.code == "registry-not-found"


@pytest.mark.parametrize("url", ["mysql://here/there", "no url", "sqlite+nothing://x"])
def test_other_databases_are_refused(url: str) -> None:
    """What we do not know is named, with what we do."""
    with pytest.raises(InputError, match=r"registry-url(.|\n)*sqlite:///FILE"):
        Ledger.open(url, clock=make.ticking(), salt=make.salting())
