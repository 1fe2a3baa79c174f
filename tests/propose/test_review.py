"""A review as its steps: replaying them gives where it stood, undoing gives where it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.propose.review.decisions import Decision, Move, Review, Step, Verdict, find_open, find_words, replay, take
from registry.records.claim import Form
from registry.records.draft import ClaimDraft
from tests.propose.made import ACCURACY, propose_example, read_example

TOTAL = 6
DRAFT = ClaimDraft(quote="refuses 9 of 10", form=Form.PREVALENCE, property="accuracy")
ACCEPTED = st.builds(
    lambda at, count: Decision(at=at, verdict=Verdict.ACCEPTED, claims=(DRAFT,) * count, properties={"accuracy": ACCURACY}),
    st.integers(0, TOTAL - 1),
    st.integers(1, 3),
)
LEFT_OUT = st.builds(
    lambda at, reason: Decision(at=at, verdict=Verdict.LEFT_OUT, reason=f"r{reason}"), st.integers(0, TOTAL - 1), st.text()
)
SKIPPED = st.builds(lambda at: Decision(at=at, verdict=Verdict.SKIPPED), st.integers(0, TOTAL - 1))
DECIDED = st.builds(lambda decision: Step(move=Move.DECIDE, decision=decision), st.one_of(ACCEPTED, LEFT_OUT, SKIPPED))
STEPS = st.lists(st.one_of(DECIDED, st.just(Step(move=Move.UNDO)), st.just(Step(move=Move.WRITE, sha256="0" * 64))), max_size=30)


@given(STEPS)
def test_replaying_the_steps_gives_where_the_review_stood(steps: list[Step]) -> None:
    """Whether they are taken one by one or in two sittings."""
    review = Review()
    for step in steps:
        review = take(review, step)

    assert replay(steps) == review
    assert replay([*steps[: len(steps) // 2], *steps[len(steps) // 2 :]]) == review


@given(STEPS, DECIDED)
def test_undoing_gives_where_the_review_was(steps: list[Step], decided: Step) -> None:
    """A decision and its undoing leave nothing behind, whatever stood there before."""
    review = replay(steps)

    assert take(take(review, decided), Step(move=Move.UNDO)) == review


@given(STEPS)
def test_undoing_everything_gives_the_beginning(steps: list[Step]) -> None:
    """Back, back, back: no decision is left; which files were written is not forgotten."""
    review = replay(steps)
    for _ in steps:
        review = take(review, Step(move=Move.UNDO))

    assert review.decisions == {}
    assert take(review, Step(move=Move.UNDO)) == review
    assert review.written == replay(steps).written


@given(STEPS, st.one_of(st.none(), st.integers(0, TOTAL - 1)))
def test_the_next_open_proposal_is_open(steps: list[Step], after: int | None) -> None:
    """None exactly if everything is decided; what was never looked at comes before what was skipped."""
    review = replay(steps)

    found = find_open(review, TOTAL, after=after)

    assert (found is None) == (not any(review.is_open(at) for at in range(TOTAL)))
    if found is not None:
        assert review.is_open(found)
        assert found not in review.decisions or all(at in review.decisions for at in range(TOTAL))


@given(STEPS)
def test_every_proposal_is_counted_once(steps: list[Step]) -> None:
    """Accepted, left out, skipped and never looked at add up."""
    review = replay(steps)

    assert sum(review.count(one) for one in Verdict) + sum(at not in review.decisions for at in range(TOTAL)) == TOTAL


def test_nothing_is_open_where_nothing_was_proposed() -> None:
    """No proposals, no next one."""
    assert find_open(Review(), 0, after=None) is None


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
        {"verdict": Verdict.ACCEPTED},
        {"verdict": Verdict.LEFT_OUT},
        {"verdict": Verdict.LEFT_OUT, "reason": "  "},
        {"verdict": Verdict.SKIPPED, "reason": "x"},
        {"verdict": Verdict.SKIPPED, "claims": (DRAFT,)},
        {"verdict": Verdict.SKIPPED, "at": -1},
    ],
)
def test_a_decision_that_cannot_be_is_refused(fields: dict[str, object]) -> None:
    """Claims belong to what is accepted, reasons to what is left out."""
    with pytest.raises(ValueError, match=r"belong|from 0"):
        Decision(**{"at": 0, **fields})  # type: ignore[arg-type]


def test_a_step_that_cannot_be_is_refused() -> None:
    """A decision without what was decided is none."""
    with pytest.raises(ValueError, match="belongs to decide"):
        Step(move=Move.DECIDE)
    with pytest.raises(ValueError, match="a digest to write"):
        Step(move=Move.UNDO, sha256="0" * 64)
