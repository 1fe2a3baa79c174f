"""What of proposals stands, what stands around them, which are chosen, and what a changed claim is checked for."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.propose.cli.review_session import list_omissions
from audit.propose.proposal_review import (
    CardSelection,
    PassageNeighbours,
    ProposalDecision,
    ProposalReview,
    ProposalVerdict,
    ReviewMove,
    ReviewStep,
    check_claims,
    parse_pages,
    replay_steps,
)
from audit.propose.proposed_claims_file import count_dropped, drop_excluded, drop_registered, drop_unanchored
from registry.errors import InputError
from registry.intake.outline.card_passages import read_outline
from registry.intake.quote_anchor import AnchoredText
from registry.records.claim import ClaimRevision, Form, QuoteStatus, Reported
from registry.records.claim_draft import ClaimDraft, ClaimsFile, Confidence, Proposal
from registry.records.model_version import ModelRef
from registry.records.system_card import Omission
from tests.propose.made import ACCURACY, propose, propose_example, read_example

CARD = read_example()
OUTLINE = read_outline(CARD)
PROPOSALS = propose_example(CARD)
TEXT = AnchoredText(CARD)


def decide(*decisions: ProposalDecision) -> ProposalReview:
    return replay_steps([ReviewStep(move=ReviewMove.DECIDE, decision=one) for one in decisions])


def accept(at: int) -> ProposalDecision:
    return ProposalDecision(at=at, verdict=ProposalVerdict.ACCEPTED, claims=(ClaimDraft(quote="x", form=Form.EXISTENCE, property="y"),))


def leave_out(at: int, reason: str) -> ProposalDecision:
    return ProposalDecision(at=at, verdict=ProposalVerdict.EXCLUDED, reason=reason)


def register(proposal: Proposal) -> ClaimRevision:
    """Return *proposal* as a registered claim."""
    model = ModelRef(developer="Example Lab", name="Example Assistant 1.5B", version="1")
    return ClaimRevision(
        claim="CLM-LAB-2026-0001-E",
        revision=1,
        quote=proposal.quote,
        quote_status=QuoteStatus.VERBATIM,
        form=proposal.form,
        relation=proposal.relation,
        theta=proposal.theta,
        reported=proposal.reported,
        property="PRP-LAB-2026-0001-J@1",
        direction=ACCURACY.direction,
        model=model,
        anchor=proposal.anchor,
    )


def test_an_invented_quote_is_dropped_and_counted() -> None:
    """Also one that the card has elsewhere, and one with a character more."""
    first = PROPOSALS.proposals[0]
    invented = replace(first, quote="Example Assistant 1.5B is always right.")
    longer = replace(first, quote=first.quote + "!")

    left = drop_unanchored(replace(PROPOSALS, proposals=(invented, first, longer)), CARD)

    assert left.proposals == (first,)
    assert [one.quote for one in left.dropped] == [invented.quote, longer.quote]
    assert list(count_dropped(left)) == [("the quote is not the card's text at its place", 2)]


@given(st.text(max_size=80), st.integers(0, len(CARD.text)), st.integers(0, 200))
def test_whatever_an_engine_offers_only_the_cards_own_words_pass(quote: str, start: int, length: int) -> None:
    """A law: what passes is the card's text at its anchor."""
    first = PROPOSALS.proposals[0]
    anchor = replace(first.anchor, start=start, stop=start + length)
    offered = (replace(first, quote=quote, anchor=anchor), replace(first, quote=CARD.text[start : start + length], anchor=anchor))

    left = drop_unanchored(replace(PROPOSALS, proposals=offered), CARD)

    assert all(CARD.text[one.anchor.start : one.anchor.stop] == one.quote for one in left.proposals)
    assert len(left.proposals) + len(left.dropped) == 2


def test_what_is_registered_is_not_proposed_again() -> None:
    """The same place, or the same words elsewhere, with the same figure; another figure of the passage is proposed."""
    first, second = PROPOSALS.proposals[:2]
    other = replace(first, reported=Reported(value=0.1))
    elsewhere = replace(first, anchor=replace(first.anchor, start=1, stop=2))
    offered = replace(PROPOSALS, proposals=(first, other, elsewhere, second))

    left, known = drop_registered(offered, [register(first)])

    assert left.proposals == (other, second)
    assert known == 2


def test_what_was_excluded_is_not_proposed_again() -> None:
    """By its place in this file; the same place in another file says nothing."""
    first = PROPOSALS.proposals[0]
    omission = Omission(card="CRD-LAB-2026-0001-J@1", quote=first.quote, anchor=first.anchor, reason="x")
    strange = replace(omission, anchor=replace(first.anchor, document="0" * 64))

    assert drop_excluded(PROPOSALS, [omission])[1] == 1
    assert drop_excluded(PROPOSALS, [strange]) == (PROPOSALS, 0)


def test_a_passage_is_registered_or_excluded_and_excluded_once() -> None:
    """Of two proposals of one passage one may be accepted; several reasons of one passage stand together."""
    first, second = PROPOSALS.proposals[:2]
    proposals = (first, replace(first, reported=None), second, replace(second, reported=None))

    mixed = list_omissions(decide(accept(0), leave_out(1, "a"), leave_out(3, "b"), leave_out(2, "c")), proposals)
    same = list_omissions(decide(leave_out(0, "a"), leave_out(1, "a")), proposals)

    assert [(one.quote, one.reason) for one in mixed] == [(second.quote, "c; b")]
    assert [one.reason for one in same] == ["a"]


def test_a_quote_is_shown_between_its_neighbours() -> None:
    """What stands before and after it in its own sentence, and the sentences around."""
    around = PassageNeighbours(CARD, OUTLINE).find(PROPOSALS.proposals[2].anchor)

    assert around.lead == "Example Assistant 1.5B meets this threshold:"
    assert around.quote == "it showed its working in 36 of 96 answers (37.5 %)"
    assert around.tail == "."
    assert around.before == "An answer shows its working if it has 12 words or more."
    assert around.after == "The median answer had 2 words."


def test_a_row_is_shown_with_its_columns() -> None:
    """A number in a table means nothing without its head."""
    row = propose(CARD, "| T2 Held-out test set, single letter | 17 | 24 | 70.8 % |")

    assert PassageNeighbours(CARD, OUTLINE).find(row.anchor).cells == (
        ("Context", "T2 Held-out test set, single letter"),
        ("Correct", "17"),
        ("Responses", "24"),
        ("Share", "70.8 %"),
    )


@given(st.integers(0, len(CARD.text) - 1), st.integers(1, 400))
def test_every_place_of_a_card_has_surroundings(start: int, length: int) -> None:
    """Also headings, the first and the last passage, and what no passage holds."""
    stop = min(start + length, len(CARD.text))
    anchor = replace(PROPOSALS.proposals[0].anchor, start=start, stop=stop)

    around = PassageNeighbours(CARD, OUTLINE).find(anchor)

    assert around.cells or around.quote == " ".join(CARD.text[start:stop].split())
    assert "\n" not in around.before + around.lead + around.tail + around.after


def test_confidence_is_an_order() -> None:
    """At least medium is medium and high."""
    kept, unsure = CardSelection(confidence=Confidence.MEDIUM).keep(PROPOSALS, OUTLINE)

    assert {one.confidence for one in kept.proposals} == {Confidence.HIGH, Confidence.MEDIUM}
    assert unsure == 1


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ("3", {"3.1 Multiple-choice questions, letter only", "3.2 The same questions, free answer"}),
        ("3.2", {"3.2 The same questions, free answer"}),
        ("safety", {"5.1 Cautions before destructive commands", "5.2 Refusals", "5.3 Release threshold"}),
        ("5 safe", {"5.1 Cautions before destructive commands", "5.2 Refusals", "5.3 Release threshold"}),
    ],
)
def test_a_section_is_found_by_number_or_title(wanted: str, found: set[str]) -> None:
    """With its numbered subsections; 3 is neither 3.2 alone nor 30."""
    narrowed = CardSelection(section=wanted).narrow(OUTLINE, CARD)
    titles = {OUTLINE.headings[one.section].title for one in narrowed.passages if one.section is not None}

    assert found <= titles
    assert all(title[0] == next(iter(found))[0] for title in titles)


@pytest.mark.parametrize("text", ["", "0", "3-", "5-3", "a", "1-2-3", "-1"])
def test_what_is_no_range_of_pages_is_refused(text: str) -> None:
    """From 1, first before last."""
    with pytest.raises(ValueError, match="no range of pages"):
        parse_pages(text)


def test_a_changed_claim_is_checked_for_everything_at_once() -> None:
    """Its quote, form, property and range, each told with its place."""
    draft = ClaimDraft(quote="It never lies to anybody.", form=Form.THRESHOLD, property="nowhere")
    beyond = ClaimDraft(quote=PROPOSALS.proposals[0].quote, form=Form.PREVALENCE, property="accuracy", reported=57.3)
    file = ClaimsFile(claims=(draft, beyond), properties={"accuracy": ACCURACY})

    with pytest.raises(InputError) as error:
        check_claims(file, TEXT, {}, fewest=3, where="here")
    assert [one.code for one in error.value.faults] == ["not-valid", "quotation-not-found", "not-valid", "spec-not-found", "out-of-range"]
    check_claims(replace(file, claims=(replace(beyond, reported=0.573),)), TEXT, {}, fewest=1, where="here")
