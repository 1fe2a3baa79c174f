"""What is said of a card's passages goes into the registry and comes out; what cannot be so is refused in words."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from sqlalchemy.exc import DBAPIError

from registry.errors import CaveatError, ConflictError, InputError, NotFoundError
from registry.records.claim import ClaimRelation, ClaimRelationKind, QuoteStatus
from registry.records.claim_status import Staleness
from registry.records.record import Payload
from registry.records.system_card import MatchResult
from registry.store import database_schema as schema
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from registry.store.registry_rebuild import rebuild, verify
from tests.store import builders as make

QUOTE = (36, 55)
"""Where "It does not scheme." stands in the builders' text."""


def _open(url: str) -> Ledger:
    return Ledger.open(url, clock=lambda: datetime(2030, 1, 1, tzinfo=UTC), salt=make.salting())


def _prepare(writer: Writer) -> tuple[str, str, str]:
    """Record a card, a claim quoted from it, and its second revision; return the claim and both revisions."""
    phi = make.settle(writer)
    card = make.add_card(writer)
    claim = make.add_quoted(writer, phi, f"{card}@1")
    return claim, f"{card}@1", make.revise_card(writer, card)


def test_what_is_said_of_passages_comes_out_as_it_went_in(ledger: Ledger) -> None:
    """Each kind by its card, with and without revision, and passage matches by their claim too; as of before, nothing of it is seen."""
    with ledger.write(actor="LAB") as writer:
        claim, first, second = _prepare(writer)
        before = writer.log_size
        payloads: tuple[Payload, ...] = (
            make.survey(first, (0, 35), QUOTE),
            make.survey(second, QUOTE, by="claude model-1"),
            make.omission(first, "It is about another model."),
            make.passage_match(f"{claim}@1", second, MatchResult.MOVED),
        )
        writer.append_many(payloads)
    card = first.partition("@")[0]

    with ledger.view() as view, ledger.view(before) as then:
        surveys = [survey.payload for survey in view.list_surveys(card)]
        assert surveys == list(payloads[:2])
        assert [survey.payload for survey in view.list_surveys(second)] == [payloads[1]]
        assert [omission.payload for omission in view.list_omissions(card)] == [payloads[2]]
        assert view.list_omissions(second) == ()
        for records in (
            view.list_passage_matches(card=second),
            view.list_passage_matches(card=card),
            view.list_passage_matches(claim=claim),
            view.list_passage_matches(claim=f"{claim}@1", card=second),
            view.list_passage_matches(),
            view.dossier(claim).passage_matches,
        ):
            assert [recorded.payload for recorded in records] == [payloads[3]]
        assert view.list_passage_matches(card=first) == view.list_passage_matches(claim=f"{claim}@2") == ()
        assert [recorded.entry.seq - before for recorded in view.history(card)[2:]] == [1, 2, 3, 4]
        assert view.history(claim)[-1].payload == payloads[3]
        assert (then.list_surveys(card), then.list_omissions(card), then.list_passage_matches(), then.dossier(claim).passage_matches) == (
            (),
        ) * 4


FATES = [
    (None, "{first} has a newer revision, @2; the place of its passage there was not looked up (caveat card diff {card} --record)"),
    (MatchResult.UNCHANGED, None),
    (MatchResult.MOVED, None),
    (MatchResult.REWORDED, "its passage is reworded in {second}"),
    (MatchResult.GONE, "its passage is gone from {second}"),
]


@pytest.mark.parametrize(("match_result", "reason"), FATES, ids=[str(match_result) for match_result, _ in FATES])
def test_a_newer_card_makes_stale_what_does_not_stand_there(ledger: Ledger, match_result: MatchResult | None, reason: str | None) -> None:
    """A passage found word for word is not stale, one that is not says how, one that no one looked up says that."""
    with ledger.write(actor="LAB") as writer:
        claim, first, second = _prepare(writer)
        if match_result:
            writer.append(make.passage_match(f"{claim}@1", second, match_result))

    expected = () if reason is None else (reason.format(first=first, second=second, card=first.partition("@")[0]),)
    with ledger.view() as view:
        status = view.status(claim)
        assert status.stale_because == expected
        assert status.staleness is (Staleness.NEEDS_REVIEW if expected else Staleness.CURRENT)
        assert view.dossier(claim).status == status
        assert [summary.status for summary in view.list_claims()] == [status]


def test_a_passage_spelled_otherwise_makes_nothing_stale(ledger: Ledger) -> None:
    """Reworded in its spelling alone is no alarm, and stays none when the words of the passage match are erased."""
    with ledger.write(actor="LAB") as writer:
        claim, _, second = _prepare(writer)
        writer.append(replace(make.passage_match(f"{claim}@1", second, MatchResult.REWORDED), differs=("behaviour → behavior",)))
        last = writer.log_size

    with ledger.view() as view:
        assert view.status(claim).stale_because == ()
    with ledger.write(actor="LAB") as writer:
        writer.erase(last, why="It named a person.")
    with ledger.view() as view:
        assert view.status(claim).stale_because == ()


def test_only_the_newest_revision_of_the_card_counts(ledger: Ledger) -> None:
    """A passage match in the second revision says nothing of the third; as of before the third, it still settles the matter."""
    with ledger.write(actor="LAB") as writer:
        claim, first, second = _prepare(writer)
        writer.append(make.passage_match(f"{claim}@1", second))
        then = writer.log_size
        make.revise_card(writer, first.partition("@")[0], revision=3, document="12" * 32)

    with ledger.view() as view, ledger.view(then) as before:
        (reason,) = view.status(claim).stale_because
        assert reason.startswith(f"{first} has a newer revision, @3; the place of its passage there was not looked up")
        assert before.status(claim).stale_because == ()


def test_a_paraphrase_has_no_passage_to_look_up(ledger: Ledger) -> None:
    """It is stale as ever, and no one is told to look for words that were never the card's."""
    with ledger.write(actor="LAB") as writer:
        _, first, second = _prepare(writer)
        phi = "PRP-LAB-2026-0001-X@1"
        claim = make.add_claim(writer, phi, card=first, quote="In our words.")
        with pytest.raises(InputError, match="wrong-document"):
            writer.append(make.passage_match(f"{claim}@1", second))

    with ledger.view() as view:
        assert view.status(claim).stale_because == (f"{first} has a newer revision, @2",)


def test_claims_of_one_card_have_each_their_own_fate(ledger: Ledger) -> None:
    """What is remembered for one claim is not said of the next, though model, card and property are the same."""
    with ledger.write(actor="LAB") as writer:
        claim, first, second = _prepare(writer)
        phi = "PRP-LAB-2026-0001-X@1"
        others = [make.add_quoted(writer, phi, first, note=str(number)) for number in range(3)]
        writer.append(make.passage_match(f"{claim}@1", second))
        writer.append(make.passage_match(f"{others[0]}@1", second, MatchResult.GONE))
        writer.append(make.passage_match(f"{others[1]}@1", second, MatchResult.REWORDED))

    with ledger.view() as view:
        reasons = [" ".join(summary.status.stale_because) for summary in view.list_claims()]
    assert [words.partition(second)[0] for words in reasons[:3]] == ["", "its passage is gone from ", "its passage is reworded in "]
    assert "was not looked up" in reasons[3]


def test_a_claim_that_moved_to_the_new_revision_leaves_its_passage_matches_behind(ledger: Ledger) -> None:
    """They were about the revision that quoted the old one; the new one is current, and its dossier still shows them."""
    with ledger.write(actor="LAB") as writer:
        claim, _, second = _prepare(writer)
        writer.append(make.passage_match(f"{claim}@1", second, MatchResult.REWORDED))
        place = make.anchor(document="ef" * 32)
        verbatim = {"card": second, "quote_status": QuoteStatus.VERBATIM, "anchor": place}
        writer.append(make.claim(claim, "PRP-LAB-2026-0001-X@1", revision=2, why="reworded by the publisher", **verbatim))

    with ledger.view() as view:
        dossier = view.dossier(claim)
    assert dossier.status.stale_because == ()
    assert [passage_match.payload.claim for passage_match in dossier.passage_matches] == [f"{claim}@1"]


def test_every_refusal_says_why(ledger: Ledger) -> None:
    """A code for each, and what is refused leaves no trace."""
    with ledger.write(actor="LAB") as writer:
        claim, first, second = _prepare(writer)
        other = f"{make.add_card(writer, 'cd' * 32)}@1"
        bare = make.add_claim(writer, "PRP-LAB-2026-0001-X@1", quote="Known from elsewhere.")
        writer.append_many([make.survey(first, QUOTE), make.omission(first), make.passage_match(f"{claim}@1", second)])
        size = writer.log_size
        nowhere = f"{first.partition('@')[0]}@9"
        refused: list[tuple[Payload, str]] = [
            (make.survey(nowhere, QUOTE), "not-registered"),
            (make.survey(first, (0, 56)), "not-in-text"),
            (make.survey(first, QUOTE), "already-recorded"),
            (make.survey(first), "already-recorded"),
            (make.omission(nowhere), "not-registered"),
            (make.omission(first, document="ef" * 32), "wrong-document"),
            (make.omission(first, start=50, stop=99), "not-in-text"),
            (make.omission(first, "Another reason."), "already-recorded"),
            (make.passage_match("CLM-LAB-2026-0009-1@1", second), "not-registered"),
            (make.passage_match(f"{claim}@2", second), "not-registered"),
            (make.passage_match(f"{claim}@1", nowhere), "not-registered"),
            (make.passage_match(f"{claim}@1", first, document="ab" * 32), "wrong-document"),
            (make.passage_match(f"{claim}@1", other, document="cd" * 32), "wrong-document"),
            (make.passage_match(f"{bare}@1", second), "wrong-document"),
            (make.passage_match(f"{claim}@1", second, document="ab" * 32), "wrong-document"),
            (make.passage_match(f"{claim}@1", second, start=0, stop=900), "not-in-text"),
            (make.passage_match(f"{claim}@1", second, MatchResult.GONE), "already-recorded"),
        ]
        for payload, code in refused:
            with pytest.raises(CaveatError, match=code):
                writer.append(payload)

        assert writer.log_size == size


def test_surveys_by_one_engine_add_up(ledger: Ledger) -> None:
    """It may have read part of a card first; what it proposes again adds nothing and is refused, and so is nothing twice."""
    with ledger.write(actor="LAB") as writer:
        _, first, second = _prepare(writer)
        writer.append_many([make.survey(first), make.survey(second), make.survey(first, by="rules 2")])
        writer.append_many([make.survey(first, (0, 9)), make.survey(first, (0, 9), QUOTE)])
        with pytest.raises(ConflictError, match="already-recorded"):
            writer.append(make.survey(first, QUOTE))

        assert [len(survey.payload.passages) for survey in writer.list_surveys(first)] == [0, 0, 1, 2]


def test_an_erased_omission_leaves_its_place_and_its_proof(ledger: Ledger) -> None:
    """The words stand in the statement alone: no row of any table holds them, and the registry still verifies."""
    with ledger.write(actor="LAB") as writer:
        _, first, _ = _prepare(writer)
        seq = writer.append(make.omission(first, "It names a person.")).seq
        writer.erase(seq, why="It named a person.")

    with ledger.view() as view:
        assert view.list_omissions(first) == ()
        assert view.list_erased_of(first) == (view.find_entry(seq),)
        with pytest.raises(NotFoundError, match="body-erased"):
            view.recorded((seq,))
    assert verify(ledger).erased == 1
    with ledger.connect() as connection:
        row = connection.exec_driver_sql("SELECT * FROM omission").one()
    assert tuple(row)[1:] == (seq, *first.split("@")[:1], 1, *QUOTE)


def test_a_rebuilt_registry_says_the_same_of_passages(ledger: Ledger, new_url: Callable[[], str]) -> None:
    """Rows, statuses and what is listed, on each engine."""
    with ledger.write(actor="LAB") as writer:
        claim, first, second = _prepare(writer)
        writer.append_many([make.survey(first, QUOTE), make.omission(first), make.passage_match(f"{claim}@1", second, MatchResult.GONE)])
    target = new_url()
    rebuild(ledger.url, target, lambda _done: None)
    copy = _open(target)

    with ledger.view() as here, copy.view() as there:
        assert there.list_surveys(first) == here.list_surveys(first)
        assert there.list_omissions(first) == here.list_omissions(first)
        assert there.dossier(claim) == here.dossier(claim)
    assert verify(copy).rows == verify(ledger).rows
    copy.close()


@pytest.mark.parametrize("table", ["survey", "omission", "passage_match"])
def test_nothing_that_is_said_of_passages_can_be_deleted(new_url: Callable[[], str], table: str) -> None:
    """The guards of the tables refuse it."""
    url = new_url()
    schema.upgrade(url)
    ledger = _open(url)
    with ledger.write(actor="LAB") as writer:
        claim, _, second = _prepare(writer)
        writer.append_many(
            [make.survey(second, QUOTE), make.omission(second, document="ef" * 32), make.passage_match(f"{claim}@1", second)]
        )

    with ledger.connect() as connection, pytest.raises(DBAPIError, match="append-only"):
        connection.exec_driver_sql(f"DELETE FROM {table}")

    assert verify(ledger).entries > 0
    ledger.close()


def test_a_relation_is_found_from_either_side(ledger: Ledger) -> None:
    """The one who looks need not know which claim named the other."""
    with ledger.write(actor="LAB") as writer:
        claim, first, _ = _prepare(writer)
        other = make.add_quoted(writer, "PRP-LAB-2026-0001-X@1", first, note="again")
        relation_statement = ClaimRelation(claim=claim, relation=ClaimRelationKind.RESTATES, other=other)
        writer.append(relation_statement)

    with ledger.view() as view:
        assert [recorded.payload for recorded in view.list_relations(claim)] == [relation_statement]
        assert view.list_relations(other) == view.list_relations(claim)


def test_a_place_in_the_text_is_needed_unless_gone() -> None:
    """The record refuses before any table is asked."""
    with pytest.raises(ValueError, match="exactly if it is not gone"):
        replace(make.passage_match("CLM-LAB-2026-0001-E@1", "CRD-LAB-2026-0001-L@2"), match_result=MatchResult.GONE)
