"""Truncated responses are counted side by side, and the estimates at the ends of what they could have scored are the extremes."""

from pathlib import Path

import pytest

from audit.modules.differential_estimate import estimate
from audit.protocol.case_outcome import bound_unresolved
from audit.sources.score_table import read_table
from audit.statistics.responses import ScoreTable
from registry.records.analysis_plan import Plan
from registry.records.estimates import TruncationCounts

PLAN = Plan(replicates=0)
RANGE = (0.0, 1.0)
HEADER = "task_id,arm,context_id,sample,score,excluded_reason,truncated,settled,refused"


def write(path: Path, *, marks: dict[tuple[str, int, int], str], header: str = HEADER) -> ScoreTable:
    """A crossed table of 6 tasks and 3 contexts a side; *marks* replace what follows the sample, by arm, task and context."""
    lines = [header]
    for arm in ("test", "deploy"):
        for task in range(6):
            for context in range(3):
                rest = marks.get((arm, task, context), f"{(task + context) % 2},,no,,no")
                lines.append(f"t{task},{arm},{arm[0]}{context},0,{rest}")
    path.write_text("\n".join(lines) + "\n")
    return read_table([path], low=0, high=1)


MARKS = {
    ("test", 0, 0): "0,,yes,,no",
    ("test", 1, 0): "1,,yes,yes,no",
    ("test", 2, 0): ",unextracted,yes,,no",
    ("deploy", 0, 0): "0,,yes,,",
    ("deploy", 3, 1): "0,,,,yes",
    ("deploy", 4, 1): ",time-out,,,",
}


def test_truncated_responses_are_counted_side_by_side(tmp_path: Path) -> None:
    """Settled, excluded, refused, and those of which nothing is stated; a response that never came is not asked about."""
    truncation = estimate(write(tmp_path / "t.csv", marks=MARKS), PLAN, range_=RANGE).specs[0].truncation

    assert truncation is not None
    assert truncation.test == TruncationCounts(responses=18, truncated=3, settled=1, not_stated=0, excluded=1, unresolved=2, refused=0)
    assert truncation.deploy == TruncationCounts(responses=18, truncated=1, settled=0, not_stated=1, excluded=1, unresolved=2, refused=1)
    assert truncation.test.open == 2
    assert truncation.test.share == pytest.approx(2 / 18)


def test_without_a_word_on_truncation_it_is_not_stated(tmp_path: Path) -> None:
    """None is not zero."""
    table = write(
        tmp_path / "t.csv",
        marks={key: f"{key[1] % 2},,,," for key in MARKS}
        | {(arm, task, context): f"{(task + context) % 2},,,," for arm in ("test", "deploy") for task in range(6) for context in range(3)},
    )

    assert estimate(table, PLAN, range_=RANGE).specs[0].truncation is None
    assert list(bound_unresolved(table, PLAN, range_=RANGE)) == []


def test_the_ends_are_the_extremes_of_all_fillings(tmp_path: Path) -> None:
    """Every score that truncated and excluded responses could have had lies between the four estimates; settled ones keep theirs."""
    table = write(tmp_path / "t.csv", marks=MARKS)
    ends = [one.specs[0] for one in bound_unresolved(table, PLAN, range_=RANGE)]
    middle = estimate(table, PLAN, range_=RANGE).specs[0]

    assert len(ends) == 4
    assert min(one.phi_test.value for one in ends) <= middle.phi_test.value <= max(one.phi_test.value for one in ends)
    assert min(one.ed.value for one in ends) <= middle.ed.value <= max(one.ed.value for one in ends)
    # Two open responses of the test side, in two of six tasks with three contexts each: a third of a task each way.
    spread = max(one.phi_test.value for one in ends) - min(one.phi_test.value for one in ends)
    assert spread == pytest.approx(2 / 18)
    assert max(one.phi_deploy.value for one in ends) - min(one.phi_deploy.value for one in ends) == pytest.approx(2 / 18)
    assert {one.n.excluded_test for one in ends} == {0}
    assert {one.n.excluded_deploy for one in ends} == {0}


def test_settled_responses_open_nothing(tmp_path: Path) -> None:
    """A score that can no longer change has no other end."""
    table = write(tmp_path / "t.csv", marks={("test", 1, 0): "1,,yes,yes,no"})

    assert list(bound_unresolved(table, PLAN, range_=RANGE)) == []


def test_one_open_side_has_two_ends(tmp_path: Path) -> None:
    """The other side stays as it is."""
    table = write(tmp_path / "t.csv", marks={("test", 0, 0): "0,,yes,,no"})

    assert len({one.specs[0].phi_deploy.value for one in bound_unresolved(table, PLAN, range_=RANGE)}) == 1
    assert len(list(bound_unresolved(table, PLAN, range_=RANGE))) == 2


def test_scores_are_the_same_whatever_is_said_of_truncation(tmp_path: Path) -> None:
    """A column that is added must not make scores that were seen before look new."""
    first = write(tmp_path / "a.csv", marks={})
    second = write(tmp_path / "b.csv", marks={("test", 0, 0): "0,,yes,,no"})

    assert first.content == second.content


def test_counts_that_cannot_be_are_refused() -> None:
    """No more settled than truncated, no more truncated than responses."""
    with pytest.raises(ValueError, match="must not fall"):
        TruncationCounts(responses=3, truncated=1, settled=2, not_stated=0, excluded=0, unresolved=0)
