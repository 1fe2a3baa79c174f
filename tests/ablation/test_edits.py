"""Two versions of one side, paired by task and context, checked against closed forms and another program."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.statistics.contrast_intervals import Excludes, holm_levels, holm_p, step_down
from audit.statistics.mean_intervals import difference_p
from audit.statistics.responses import Floats
from audit.statistics.side_moments import Cells
from audit.statistics.version_differences import VersionDifference, compute_edit, edit_interval, have_common_contexts, pair_cells


def build(means: Floats, *, shift: int = 0) -> Cells:
    """Cells of a matrix [task, context], NaN where there is none; context codes begin at *shift*."""
    task, context = np.nonzero(~np.isnan(means))
    return Cells(task=task, context=context + shift, mean=means[task, context], count=np.ones(len(task), dtype=np.int64))


def edit(first: Floats, second: Floats, *, random: bool = True, shift: int = 0, weights: Floats | None = None) -> VersionDifference:
    one, two = build(first), build(second, shift=shift)
    if have_common_contexts(one, two):
        one, two = pair_cells(one, two)
    found = compute_edit(one, two, tasks=len(first), random=random, binary=False, weights=weights)
    assert found is not None
    return found


def draw(seed: int, *, tasks: int = 24, contexts: int = 6) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    return rng.random((tasks, contexts)), 0.5 * rng.random((tasks, contexts))


def test_with_fixed_contexts_p_is_that_of_the_paired_t_test() -> None:
    """scipy.stats.ttest_rel on the task means."""
    first, second = draw(1)

    found = edit(first, second, random=False)

    theirs = stats.ttest_rel(first.mean(axis=1), second.mean(axis=1))
    assert difference_p(found.moments) == pytest.approx(theirs.pvalue, rel=1e-9)
    assert found.moments.difference == pytest.approx((first - second).mean(), abs=1e-12)


def test_the_context_part_is_the_squared_standard_error_of_paired_context_means() -> None:
    """scipy.stats.ttest_rel on the context means, t being the difference over its standard error."""
    first, second = draw(2)

    found = edit(first, second)

    theirs = stats.ttest_rel(first.mean(axis=0), second.mean(axis=0))
    parts = found.moments.parts()
    assert parts is not None
    assert parts[1].variance == pytest.approx((found.moments.difference / theirs.statistic) ** 2, rel=1e-9)
    assert [part.df for part in parts] == [23, 5]


def test_a_context_effect_that_both_versions_have_does_not_widen_the_interval() -> None:
    """Paired contexts cancel; the same numbers under ids that are not shared do not."""
    rng = np.random.default_rng(3)
    contexts = rng.uniform(-0.3, 0.3, size=6)
    first = 0.5 + contexts + rng.uniform(-0.1, 0.1, size=(24, 6))
    second = 0.4 + contexts + rng.uniform(-0.1, 0.1, size=(24, 6))

    paired, apart = (edit(first, second, shift=shift) for shift in (0, 100))

    widths = [limits.high - limits.low for one in (paired, apart) if (limits := edit_interval(one, level=0.95))]
    assert paired.moments.paired
    assert not apart.moments.paired
    assert paired.moments.difference == pytest.approx(apart.moments.difference, abs=1e-12)
    assert widths[0] < widths[1] / 2


@given(seed=st.integers(0, 2**32 - 1), random=st.booleans())
def test_swapping_the_versions_turns_the_sign(seed: int, *, random: bool) -> None:
    """The interval is mirrored with it."""
    first, second = draw(seed, tasks=8, contexts=3)

    there, back = (edit(*pair, random=random) for pair in ((first, second), (second, first)))

    limits = edit_interval(there, level=0.9), edit_interval(back, level=0.9)
    assert there.moments.difference == -back.moments.difference
    assert limits[0] is not None
    assert limits[1] is not None
    assert (limits[0].low, limits[0].high) == pytest.approx((-limits[1].high, -limits[1].low), abs=1e-9)


def test_cells_without_a_counterpart_are_excluded() -> None:
    """A cell that only one version has would compare different contexts."""
    first, second = draw(4)
    lacking = second.copy()
    lacking[0, 0] = lacking[3, 5] = np.nan
    expected = np.nanmean(np.where(np.isnan(lacking), np.nan, first - second), axis=1).mean()

    found = edit(first, lacking)

    assert found.moments.difference == pytest.approx(expected, abs=1e-12)
    assert found.moments.test.responses == first.size - 2


def test_task_differences_and_context_shares_add_up() -> None:
    """Their mean is the difference, with weights too, and shares carry the context part."""
    first, second = draw(5)
    weights = np.arange(1.0, 25.0)

    found = edit(first, second, weights=weights)

    parts = found.moments.parts()
    assert parts is not None
    assert np.mean(found.differences) == pytest.approx(np.average((first - second).mean(axis=1), weights=weights), abs=1e-12)
    assert np.sum(found.shares) == pytest.approx(0, abs=1e-12)
    assert np.sum(found.shares**2) * 6 / 5 == pytest.approx(parts[1].variance, rel=1e-12)


def test_equal_weights_change_no_bit() -> None:
    """As in the estimate."""
    first, second = draw(6)

    plain, weighted = edit(first, second), edit(first, second, weights=np.full(24, 3.0))

    assert plain.moments == weighted.moments


@pytest.mark.parametrize(
    ("first", "second", "limits"),
    [
        (np.ones((1, 6)), np.zeros((1, 6)), False),  # one task
        (np.ones((24, 1)), np.zeros((24, 1)), False),  # one context
        (np.ones((24, 6)), np.zeros((24, 6)), True),  # every task by the same amount
        (np.ones((24, 6)), np.ones((24, 6)), True),  # no change at all
        (np.full((24, 6), 0.5), np.full((24, 6), 0.5), True),  # all ties between 0 and 1
    ],
)
def test_a_degenerate_design_gets_no_interval_or_one_of_some_width(first: Floats, second: Floats, *, limits: bool) -> None:
    """Never a width of zero, and no p from a statistic that does not exist."""
    one = edit(first, second)

    found = edit_interval(one, level=0.95)

    assert (found is not None) == limits
    assert difference_p(one.moments) is None
    if found is not None:
        assert found.high - found.low > 0.05


def test_an_edit_that_changes_nothing_in_twenty_tasks_counts_twenty_tasks() -> None:
    """However alike the tasks' scores are: [0, 0.168] either way, as 0 of 20 tasks has it; the sides alone would give ±0.05."""
    same = (np.arange(6) < 5 - np.arange(20)[:, np.newaxis] % 2).astype(float)

    limits = edit_interval(edit(same, same, random=False), level=0.95)

    assert limits is not None
    assert (limits.low, limits.high) == pytest.approx((-0.168, 0.168), abs=1e-3)


@pytest.mark.parametrize(("tasks", "share"), [(20, 0.05), (20, 0.3), (50, 0.1)])
def test_intervals_cover_where_few_tasks_change(tasks: int, share: float) -> None:
    """A seeded simulation: the edit turns the right answers of a share of tasks wrong, the others stay as they are."""
    rng = np.random.default_rng(8)
    covered = 0
    for _ in range(300):
        first = np.repeat((rng.random((tasks, 1)) < 0.7).astype(float), 5, axis=1)
        second = np.where(rng.random((tasks, 1)) < share, 0.0, first)
        limits = edit_interval(edit(first, second, random=False), level=0.95)
        covered += limits is not None and limits.low <= 0.7 * share <= limits.high

    assert covered / 300 >= 0.94


def test_versions_without_a_common_task_have_no_difference() -> None:
    """None, not 0."""
    first, second = np.full((4, 2), np.nan), np.full((4, 2), np.nan)
    first[:2], second[2:] = 1, 0

    assert compute_edit(build(first), build(second, shift=9), tasks=4, random=True, binary=True) is None


def test_intervals_of_paired_contexts_cover_as_often_as_they_say() -> None:
    """A seeded simulation: contexts change the score, and change by how much the cue does."""
    rng = np.random.default_rng(7)
    covered = 0
    for _ in range(300):
        task, context = rng.normal(0, 0.5, (20, 1)), rng.normal(0, 0.6, (1, 6))
        effect = rng.normal(0, 0.3, (20, 1)) + rng.normal(0, 0.3, (1, 6))
        levels = [1 / (1 + np.exp(-(task + context + on * effect))) for on in (1, 0)]
        first, second = ((rng.random((20, 6)) < level).astype(float) for level in levels)
        limits = edit_interval(edit(first, second), level=0.95)
        covered += limits is not None and limits.low <= 0 <= limits.high

    assert covered / 300 >= 0.94


def build_dual(p: float) -> Excludes:
    """An interval that excludes no difference exactly below its p."""
    return lambda level: p < 1 - level


@given(ps=st.lists(st.integers(1, 996).map(lambda n: n / 997), min_size=1, max_size=8))
def test_an_interval_at_its_step_excludes_zero_exactly_when_holm_rejects(ps: list[float]) -> None:
    """With intervals that are dual to p, the step-down reads as Holm's adjusted p do."""
    comparisons = [build_dual(p) for p in ps]

    levels = step_down(comparisons, ps, level=0.95)

    rejected = [excludes(level) for excludes, level in zip(comparisons, levels, strict=True)]
    assert rejected == [p is not None and p < 0.05 for p in holm_p(ps)]
    assert set(levels) <= set(holm_levels(len(ps), level=0.95))


def test_a_comparison_without_p_is_tried_at_the_strictest_level() -> None:
    """Every task changed by the same amount: no p, and an interval far from 0."""
    comparisons = [lambda _level: True, lambda _level: True]

    assert step_down(comparisons, [0.001, None], level=0.95) == (0.95, 0.975)
    assert step_down([], [], level=0.95) == ()
