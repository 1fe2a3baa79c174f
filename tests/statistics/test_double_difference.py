"""How far a difference moved between two replays, checked against another program and against sums written out."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.statistics.responses import Floats
from audit.statistics.side_moments import Cells
from audit.statistics.version_differences import (
    DoubleDifference,
    VersionDifference,
    compute_edit,
    correlate,
    double_difference_interval,
    edit_interval,
    have_common_contexts,
    pair_cells,
)
from benchmarks.shift_coverage import World, draw, judge

Four = tuple[Floats, Floats, Floats, Floats]
"""Scores [task, context]: test and deployment side before, test and deployment side after."""


def build(means: Floats, *, shift: int = 0) -> Cells:
    """Cells of a matrix [task, context]; context codes begin at *shift*."""
    task, context = (index.ravel() for index in np.indices(means.shape))
    return Cells(task=task, context=context + shift, mean=means.ravel(), count=np.ones(means.size, dtype=np.int64))


def move(before: Floats, after: Floats, *, random: bool, shift: int, weights: Floats | None) -> VersionDifference:
    one, two = build(after, shift=shift), build(before)
    if have_common_contexts(one, two):
        one, two = pair_cells(one, two)
    found = compute_edit(one, two, tasks=len(before), random=random, binary=False, weights=weights)
    assert found is not None
    return found


def double(four: Four, *, random: bool = True, shift: int = 0, weights: Floats | None = None) -> DoubleDifference:
    test_before, deploy_before, test_after, deploy_after = four
    return DoubleDifference(
        first=move(test_before, test_after, random=random, shift=shift, weights=weights),
        second=move(deploy_before, deploy_after, random=random, shift=shift, weights=weights),
    )


def draw_four(seed: int, *, tasks: int = 24, contexts: int = 6) -> Four:
    rng = np.random.default_rng(seed)
    task = rng.uniform(0, 0.4, (tasks, 1))
    one, two, three, four = (task + rng.uniform(0, 0.5, (tasks, contexts)) for _ in range(4))
    return one, two, three, four


def test_with_fixed_contexts_the_half_width_is_that_of_a_t_interval_over_the_tasks() -> None:
    """scipy.stats.ttest_1samp on the tasks' own double differences; the interval given is never narrower."""
    four = draw_four(1)
    each = (four[2] - four[0] - four[3] + four[1]).mean(axis=1)
    theirs = stats.ttest_1samp(each, 0.0).confidence_interval(0.95)

    found = double(four, random=False)

    limits, parts = double_difference_interval(found, level=0.95), found.parts()
    assert found.value == pytest.approx(each.mean(), abs=1e-12)
    assert parts is not None
    assert [part.variance for part in parts] == [pytest.approx(stats.sem(each) ** 2, rel=1e-9)]
    assert limits is not None
    assert limits.low <= theirs.low + 1e-12
    assert limits.high >= theirs.high - 1e-12


def test_shared_contexts_count_by_their_own_movement_and_others_by_how_they_differ() -> None:
    """Standard errors of context means, of the differences where contexts are shared, of each replay where they are not."""
    four = draw_four(2)
    moved = [stats.sem((four[2 + side] - four[side]).mean(axis=0)) ** 2 for side in range(2)]
    apart = [stats.sem(four[place].mean(axis=0)) ** 2 for place in (2, 0, 3, 1)]

    paired, independent = (double(four, shift=shift).parts() for shift in (0, 50))

    assert paired is not None
    assert independent is not None
    assert [part.variance for part in paired[1:]] == pytest.approx(moved, rel=1e-9)
    assert [part.variance for part in independent[1:] if part.variance > 0] == pytest.approx(apart, rel=1e-9)
    assert paired[0] == independent[0]


def test_the_limits_are_the_hull_of_both_forms_written_out() -> None:
    """± t √V with Satterthwaite's degrees of freedom, and Zou and Donner's limits from those of both movements."""
    four = draw_four(3)
    found = double(four)
    each = (four[2] - four[0] - four[3] + four[1]).mean(axis=1)
    variances = [stats.sem(each) ** 2, *(stats.sem((four[2 + side] - four[side]).mean(axis=0)) ** 2 for side in range(2))]
    total = sum(variances)
    df = total**2 / sum(part**2 / free for part, free in zip(variances, (23, 5, 5), strict=True))
    h = stats.t.ppf(0.975, df) * math.sqrt(total)
    first, second = (edit_interval(edit, level=0.95) for edit in (found.first, found.second))
    assert first is not None
    assert second is not None
    a, b, r = found.first.moments.difference, found.second.moments.difference, correlate(found)
    down = math.sqrt((a - first.low) ** 2 + (second.high - b) ** 2 - 2 * r * (a - first.low) * (second.high - b))
    up = math.sqrt((first.high - a) ** 2 + (b - second.low) ** 2 - 2 * r * (first.high - a) * (b - second.low))

    limits = double_difference_interval(found, level=0.95)

    assert limits is not None
    assert limits.low == pytest.approx(min(a - b - h, a - b - down), rel=1e-9)
    assert limits.high == pytest.approx(max(a - b + h, a - b + up), rel=1e-9)


def test_what_a_task_does_to_both_sides_of_one_version_alike_cancels() -> None:
    """A task that only the later version finds hard moves both sides, and not ED."""
    rng = np.random.default_rng(4)
    quiet = [0.3 + rng.uniform(-0.05, 0.05, (24, 6)) for _ in range(4)]
    own = rng.uniform(0, 0.6, (24, 1))

    plain = double((quiet[0], quiet[1], quiet[2], quiet[3]))
    moved = double((quiet[0], quiet[1], quiet[2] + own, quiet[3] + own))

    before, after = plain.parts(), moved.parts()
    assert before is not None
    assert after is not None
    assert after[0].variance == pytest.approx(before[0].variance, rel=1e-9)
    assert correlate(moved) > 0.9


@given(seed=st.integers(0, 2**32 - 1), random=st.booleans(), shift=st.sampled_from((0, 50)))
def test_turning_time_around_turns_the_sign(seed: int, *, random: bool, shift: int) -> None:
    """The interval is mirrored with it."""
    four = draw_four(seed, tasks=8, contexts=3)

    there = double(four, random=random, shift=shift)
    back = double((four[2], four[3], four[0], four[1]), random=random, shift=shift)

    limits = double_difference_interval(there, level=0.9), double_difference_interval(back, level=0.9)
    assert there.value == pytest.approx(-back.value, abs=1e-12)
    assert limits[0] is not None
    assert limits[1] is not None
    assert (limits[0].low, limits[0].high) == pytest.approx((-limits[1].high, -limits[1].low), abs=1e-9)


@given(seed=st.integers(0, 2**32 - 1))
def test_exchanging_the_sides_turns_the_sign(seed: int) -> None:
    """ΔED is the movement of the test side less that of the deployment side."""
    one, two, three, four = draw_four(seed, tasks=8, contexts=3)

    there, back = double((one, two, three, four)), double((two, one, four, three))

    limits = double_difference_interval(there, level=0.9), double_difference_interval(back, level=0.9)
    assert limits[0] is not None
    assert limits[1] is not None
    assert (limits[0].low, limits[0].high) == pytest.approx((-limits[1].high, -limits[1].low), abs=1e-9)


def test_weights_make_it_the_difference_of_weighted_means() -> None:
    """The task part is that of the linearised ratio, with T/(T − 1)."""
    four = draw_four(5)
    weights = np.arange(1.0, 25.0)
    each = (four[2] - four[0] - four[3] + four[1]).mean(axis=1)
    mean = np.average(each, weights=weights)
    expected = np.sum(weights**2 * (each - mean) ** 2) / weights.sum() ** 2 * 24 / 23

    found = double(four, weights=weights)

    parts = found.parts()
    assert found.value == pytest.approx(mean, abs=1e-12)
    assert parts is not None
    assert parts[0].variance == pytest.approx(expected, rel=1e-9)
    assert parts[0].df == pytest.approx(weights.sum() ** 2 / np.sum(weights**2) - 1)


@pytest.mark.parametrize(
    ("values", "tasks", "contexts", "limits"),
    [
        ((0.0, 0.0, 1.0, 0.0), 1, 6, False),  # one task
        ((0.0, 0.0, 1.0, 0.0), 24, 1, False),  # one context
        ((0.0, 0.0, 1.0, 0.0), 24, 6, True),  # every task by the same amount
        ((0.5, 0.5, 0.5, 0.5), 24, 6, True),  # nothing moves, nothing varies
        ((0.0, 1.0, 1.0, 0.0), 24, 6, True),  # as far as it can go
    ],
)
def test_a_degenerate_design_gets_no_interval_or_one_of_some_width(
    values: tuple[float, ...], tasks: int, contexts: int, *, limits: bool
) -> None:
    """Never a width of zero, never beyond what scores in [0, 1] allow."""
    one, two, three, four = (np.full((tasks, contexts), value) for value in values)

    found = double_difference_interval(double((one, two, three, four)), level=0.95)

    assert (found is not None) == limits
    if found is not None:
        assert found.high - found.low > 0.05
        assert -2 <= found.low <= found.high <= 2


@pytest.mark.parametrize("shared", [True, False])
def test_the_interval_holds_the_truth_as_often_as_it_says(*, shared: bool) -> None:
    """300 draws of the benchmark's world in which the gap opens; below 91 % by chance once in a thousand at 95 %."""
    world = World(design="random", shared=shared, contexts=5, tasks=20, rates="gap opens", judged=False)
    rng = np.random.default_rng(8)

    held = [judge(world, draw(world, rng))[0] for _ in range(300)]

    assert np.mean(held, axis=0).min() > 0.91
