"""Claims read in overlapping windows: each is one, and the order of windows does not matter."""

from dataclasses import replace
from itertools import permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from audit.propose.claude_engine import merge_windows
from registry.records.claim import Direction, Form, PropertyClass, Relation, Reported
from registry.records.claim_draft import Confidence, Proposal
from registry.records.specification import PropertySpec
from registry.records.system_card import Anchor, MatchLevel, PassageKind


def _make(start: int = 0, stop: int = 40, *, value: float | None = 0.09, name: str = "rate", **fields: Any) -> Proposal:
    spec = PropertySpec(name=name, class_=PropertyClass.CAPABILITY, range=(0, 1), direction=Direction.NOT_SAFETY)
    anchor = Anchor(document="ab" * 32, start=start, stop=stop, exact="x" * (stop - start), prefix="", suffix="", level=MatchLevel.N0)
    default: dict[str, Any] = {
        "quote": anchor.exact,
        "anchor": anchor,
        "passage": PassageKind.SENTENCE,
        "form": Form.PREVALENCE,
        "relation": None,
        "theta": None,
        "reported": None if value is None else Reported(value=value),
        "written": None,
        "property": spec,
        "slug": name,
        "model": "Model A",
        "version": None,
        "evaluation": None,
        "confidence": Confidence.MEDIUM,
    }
    return Proposal(**{**default, **fields})


@st.composite
def _proposals(draw: st.DrawFn) -> Proposal:
    start = draw(st.integers(0, 60))
    form = draw(st.sampled_from((Form.PREVALENCE, Form.EXISTENCE, Form.UPPER_BOUND)))
    return _make(
        start,
        start + draw(st.integers(5, 40)),
        value=draw(st.sampled_from((None, 0.09, 0.5))),
        name=draw(st.sampled_from(("rate", "score"))),
        form=form,
        relation=Relation.AT_MOST if form is Form.UPPER_BOUND else None,
        model=draw(st.sampled_from((None, "Model A", "Model B"))),
        confidence=draw(st.sampled_from(Confidence)),
    )


_WINDOWS = st.lists(_proposals(), max_size=5)


@given(_WINDOWS)
def test_merging_a_list_with_itself_changes_nothing(window: list[Proposal]) -> None:
    """The same answer twice is the same proposals once."""
    once = merge_windows([window])

    assert merge_windows([window, window]) == once
    assert merge_windows([once]) == once
    assert merge_windows([once, once]) == once


@given(st.lists(_WINDOWS, max_size=4), st.randoms())
def test_the_order_of_windows_does_not_matter(windows: list[list[Proposal]], chance: Any) -> None:
    """Windows, and proposals within them, may come in any order."""
    shuffled = [chance.sample(window, len(window)) for window in windows]
    chance.shuffle(shuffled)

    assert merge_windows(shuffled) == merge_windows(windows)


@given(st.lists(_WINDOWS, max_size=4))
def test_nothing_is_made_up_and_no_window_loses_a_claim(windows: list[list[Proposal]]) -> None:
    """What comes out was put in, but for notes; there are at least as many claims as in the fullest window, and they are in order."""
    merged = merge_windows(windows)
    given_ = {replace(one, notes=()) for window in windows for one in window}

    assert {replace(one, notes=()) for one in merged} <= given_
    assert len(merged) >= max((len(set(window)) for window in windows), default=0)
    assert [one.anchor.start for one in merged] == sorted(one.anchor.start for one in merged)


def test_one_claim_of_two_windows_is_one_whatever_it_is_called() -> None:
    """Overlapping quotes with the same figure for the same model are one claim; the surer reading is kept."""
    sure = _make(10, 50, name="violation rate", confidence=Confidence.HIGH)

    assert merge_windows([[_make(0, 40)], [sure]]) == (sure,)


def test_two_claims_of_one_window_stay_two() -> None:
    """“0 % on the one and 0 % on the other” is two claims with one quote, in both windows, and two when merged."""
    window = [_make(name="one"), _make(name="other")]

    assert len(merge_windows([window, window])) == 2
    assert len(merge_windows([window, [_make(name="another"), _make(name="one")]])) == 2


def test_another_figure_or_subject_is_another_claim() -> None:
    """Compound sentences give several figures, and several models."""
    others = [_make(value=0.1), _make(model="Model B"), _make(value=None), _make(21, 61)]

    assert all(len(merge_windows([[_make()], [one]])) == 2 for one in others)


def test_a_claim_that_does_not_name_its_model_is_that_of_one_that_does() -> None:
    """A window that begins right at the sentence may not know whom it speaks of; the one that knows is kept."""
    nameless = _make(model=None)

    assert merge_windows([[nameless], [_make()]]) == (_make(),)


def test_another_form_is_told() -> None:
    """Where two windows read one figure in two ways, the surer reading is kept, and says what the other was."""
    bound = _make(value=None, theta=0.09, form=Form.UPPER_BOUND, relation=Relation.AT_MOST, confidence=Confidence.HIGH)

    for windows in permutations([[_make()], [bound]]):
        (one,) = merge_windows(windows)

        assert replace(one, notes=()) == bound
        assert one.notes == ("read with a neighbouring part of the card, the engine takes it for prevalence",)


def test_quotes_that_only_touch_are_two_claims() -> None:
    """The end of one sentence and the beginning of the next may give the same figure."""
    assert len(merge_windows([[_make(0, 40)], [_make(30, 70)]])) == 2
