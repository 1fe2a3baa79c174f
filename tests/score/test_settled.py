"""A truncated response is settled only where no further text could change its score, as its scorer declares."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.records.model_response import Purpose, ReplayCell, Response
from audit.replay.run_rows import TableRow
from audit.score.answer_extraction import build_pattern_marker, build_score
from audit.score.scorers import build_settled
from registry.records.replay_run import Task
from registry.records.specification import (
    ChoiceScorer,
    Dimension,
    JudgeScorer,
    LabelScorer,
    NumberScorer,
    PatternScore,
    PatternScorer,
    Scorer,
    reads_only_response,
)

TASK = Task(id="t", prompt="p")
OTHERS: tuple[Scorer, ...] = (
    ChoiceScorer(kind="choice"),
    NumberScorer(kind="number"),
    LabelScorer(kind="label"),
    JudgeScorer(kind="judge", model="m", rubric="r", dimensions=(Dimension(name="d", question="q", low=0, high=1),)),
)


def build_row(scorer: PatternScorer, text: str) -> TableRow:
    score = build_score(build_pattern_marker(scorer)(TASK, text), response="k", scorer="s")
    response = Response(key="k", request="r", purpose=Purpose.REPLAY, model_requested="m", text=text, stop_reason="max_tokens")
    return TableRow(cell=ReplayCell(task_id="t", arm="test", context_id="c", sample=0), response=response, score=score, judge=None)


def is_settled(score: PatternScore, text: str, *, expected: tuple[str, ...] = (), anti: tuple[str, ...] = ()) -> bool:
    scorer = PatternScorer(kind="pattern", score=score, expected=expected, anti=anti)
    return build_settled(scorer)(build_row(scorer, text))


@pytest.mark.parametrize(
    ("score", "patterns", "text", "settled"),
    [
        (PatternScore.ANY_EXPECTED, {"expected": ("a", "b")}, "a x", True),
        (PatternScore.ANY_EXPECTED, {"expected": ("a", "b")}, "x", False),
        (PatternScore.ALL_EXPECTED, {"expected": ("a", "b")}, "a x", False),
        (PatternScore.ALL_EXPECTED, {"expected": ("a", "b")}, "a b x", True),
        (PatternScore.HIT_RATE, {"expected": ("a", "b")}, "a x", False),
        (PatternScore.HIT_RATE, {"expected": ("a", "b")}, "a b x", True),
        (PatternScore.ANY_ANTI, {"anti": ("a",)}, "a x", True),
        (PatternScore.NO_ANTI, {"anti": ("a",)}, "a x", True),
        (PatternScore.NO_ANTI, {"anti": ("a",)}, "x", False),
        (PatternScore.NO_ANTI, {"anti": ("a",), "expected": ("x",)}, "x y", False),
    ],
)
def test_a_hit_settles_what_a_hit_decides(score: PatternScore, patterns: dict[str, tuple[str, ...]], text: str, *, settled: bool) -> None:
    """One hit decides `any` and `no`; every pattern must have hit for `all` and for the rate; what is absent may still come."""
    assert is_settled(score, text, **patterns) is settled


@pytest.mark.parametrize("pattern", [r"cat\b", "cat$", r"cat\Z", "cat(?!egory)", "(?>category|cat)", "(?:cat)++", "cat"])
def test_a_match_that_more_text_could_undo_settles_nothing(pattern: str) -> None:
    """At the end of the text a boundary was not seen, and a pattern may look at what follows."""
    assert not is_settled(PatternScore.ANY_EXPECTED, "the cat", expected=(pattern,))


SAFE = ("a", "ab?", "(?i)B", r"a\b", "[ab]+c", "a.*b", "(?<=a)b", "a|bc", "a{2}", "^a")


@given(text=st.text("abc ", max_size=8), more=st.text("abc ", max_size=6), pattern=st.sampled_from(SAFE))
def test_a_settled_score_stays_whatever_follows(text: str, more: str, pattern: str) -> None:
    """The declaration holds for every continuation."""
    for score in (PatternScore.ANY_EXPECTED, PatternScore.HIT_RATE):
        scorer = PatternScorer(kind="pattern", score=score, expected=(pattern,))
        row = build_row(scorer, text)
        if build_settled(scorer)(row):
            assert row.score is not None
            assert build_pattern_marker(scorer)(TASK, text + more).score == row.score.score


@pytest.mark.parametrize("scorer", OTHERS)
def test_no_other_scorer_declares_anything_settled(scorer: Any) -> None:
    """A later statement wins over an earlier one, and a judge reads the whole."""
    row = build_row(PatternScorer(kind="pattern", score=PatternScore.ANY_EXPECTED, expected=("a",)), "a x")

    assert not build_settled(scorer)(row)


def test_rules_alone_read_the_response_alone() -> None:
    """Patterns, options and numbers; a judge or a person may be led by what a response says of its context."""
    assert reads_only_response(PatternScorer(kind="pattern"))
    assert [reads_only_response(one) for one in OTHERS] == [True, True, False, False]
