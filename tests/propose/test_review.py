"""A review as its steps: replaying them gives where it stood, undoing gives where it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.propose.proposal_review import (
    ProposalDecision,
    ProposalReview,
    ProposalVerdict,
    ReviewMove,
    ReviewStep,
    find_open,
    find_words,
    replay_steps,
    take_step,
)
from registry.records.claim import Form
from registry.records.claim_draft import ClaimDraft
from tests.propose.made import ACCURACY, propose_example, read_example

TOTAL = 6
DRAFT = ClaimDraft(quote="refuses 9 of 10", form=Form.PREVALENCE, property="accuracy")
ACCEPTED = st.builds(
    lambda at, count: ProposalDecision(at=at, verdict=ProposalVerdict.ACCEPTED, claims=(DRAFT,) * count, properties={"accuracy": ACCURACY}),
    st.integers(0, TOTAL - 1),
    st.integers(1, 3),
)
EXCLUDED = st.builds(
    lambda at, reason: ProposalDecision(at=at, verdict=ProposalVerdict.EXCLUDED, reason=f"r{reason}"), st.integers(0, TOTAL - 1), st.text()
)
SKIPPED = st.builds(lambda at: ProposalDecision(at=at, verdict=ProposalVerdict.SKIPPED), st.integers(0, TOTAL - 1))
DECIDED = st.builds(lambda decision: ReviewStep(move=ReviewMove.DECIDE, decision=decision), st.one_of(ACCEPTED, EXCLUDED, SKIPPED))
STEPS = st.lists(
    st.one_of(DECIDED, st.just(ReviewStep(move=ReviewMove.UNDO)), st.just(ReviewStep(move=ReviewMove.WRITE, sha256="0" * 64))), max_size=30
)


@given(STEPS)
def test_replaying_the_steps_gives_where_the_review_stood(steps: list[ReviewStep]) -> None:
    """Whether they are taken one by one or in two sittings."""
    review = ProposalReview()
    for step in steps:
        review = take_step(review, step)

    assert replay_steps(steps) == review
    assert replay_steps([*steps[: len(steps) // 2], *steps[len(steps) // 2 :]]) == review


@given(STEPS, DECIDED)
def test_undoing_gives_where_the_review_was(steps: list[ReviewStep], decided: ReviewStep) -> None:
    """A decision and its undoing leave nothing behind, whatever stood there before."""
    review = replay_steps(steps)

    assert take_step(take_step(review, decided), ReviewStep(move=ReviewMove.UNDO)) == review


@given(STEPS)
def test_undoing_everything_gives_the_beginning(steps: list[ReviewStep]) -> None:
    """Back, back, back: no decision is left; which files were written is not forgotten."""
    review = replay_steps(steps)
    for _ in steps:
        review = take_step(review, ReviewStep(move=ReviewMove.UNDO))

    assert review.decisions == {}
    assert take_step(review, ReviewStep(move=ReviewMove.UNDO)) == review
    assert review.written == replay_steps(steps).written


@given(STEPS, st.one_of(st.none(), st.integers(0, TOTAL - 1)))
def test_the_next_open_proposal_is_open(steps: list[ReviewStep], after: int | None) -> None:
    """None exactly if everything is decided; what was never looked at comes before what was skipped."""
    review = replay_steps(steps)

    found = find_open(review, TOTAL, after=after)

    assert (found is None) == (not any(review.is_open(at) for at in range(TOTAL)))
    if found is not None:
        assert review.is_open(found)
        assert found not in review.decisions or all(at in review.decisions for at in range(TOTAL))


@given(STEPS)
def test_every_proposal_is_counted_once(steps: list[ReviewStep]) -> None:
    """Accepted, left out, skipped and never looked at add up."""
    review = replay_steps(steps)

    assert sum(review.count(one) for one in ProposalVerdict) + sum(at not in review.decisions for at in range(TOTAL)) == TOTAL


def test_nothing_is_open_where_nothing_was_proposed() -> None:
    """No proposals, no next one."""
    assert find_open(ProposalReview(), 0, after=None) is None


def test_words_are_found_from_here_on_and_round() -> None:
    """In quote, property, model or section, whatever the case and the line ends."""
    proposals = propose_example(read_example()).proposals

    assert find_words(proposals, "SHOWED its   working", after=-1) == 2
    assert find_words(proposals, "example assistant", after=0) == 1
    assert find_words(proposals, "57.3 %", after=3) == 0
    assert find_words(proposals, "nowhere in it", after=0) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"verdict": ProposalVerdict.ACCEPTED},
        {"verdict": ProposalVerdict.EXCLUDED},
        {"verdict": ProposalVerdict.EXCLUDED, "reason": "  "},
        {"verdict": ProposalVerdict.SKIPPED, "reason": "x"},
        {"verdict": ProposalVerdict.SKIPPED, "claims": (DRAFT,)},
        {"verdict": ProposalVerdict.SKIPPED, "at": -1},
    ],
)
def test_a_decision_that_cannot_be_is_refused(fields: dict[str, object]) -> None:
    """Claims belong to what is accepted, reasons to what is left out."""
    with pytest.raises(ValueError, match=r"belong|from 0"):
        ProposalDecision(**{"at": 0, **fields})  # type: ignore[arg-type]


def test_a_step_that_cannot_be_is_refused() -> None:
    """A decision without what was decided is none."""
    with pytest.raises(ValueError, match="belongs to decide"):
        ReviewStep(move=ReviewMove.DECIDE)
    with pytest.raises(ValueError, match="a digest to write"):
        ReviewStep(move=ReviewMove.UNDO, sha256="0" * 64)
