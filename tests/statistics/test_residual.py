"""What tasks and contexts both contain is counted once, as lme4 and pbkrtest do; and what follows for ED."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.statistics.mean_intervals import (
    difference_interval,
    find_side_intervals,
    guaranteed_difference,
    guaranteed_sides,
    task_correlation,
)
from audit.statistics.responses import Floats
from audit.statistics.side_moments import Cells, Moments, VariancePart, compute_moments, half_width, satterthwaite_df, total_variance
from benchmarks.coverage_grid import Cell, build_moments, draw_tables
from benchmarks.coverage_worlds import measure
from benchmarks.interval_candidates import CHOSEN, compute_sums, find_limits
from benchmarks.verdict_worlds import build_opposed_world
from registry.records.analysis_plan import ContextDesign, IntervalMethod
from tests.examples import scale

SCORES = [
    [0.45, 0.52, 0.39, 0.48, 0.28, 0.25],
    [0.27, 0.45, 0.43, 0.60, 0.57, 0.42],
    [0.12, 0.34, 0.51, 0.52, 0.29, 0.32],
    [0.23, 0.23, 0.57, 0.33, 0.40, 0.41],
    [0.33, 0.37, 0.51, 0.49, 0.31, 0.36],
    [0.49, 0.13, 0.53, 0.43, 0.31, 0.53],
    [0.55, 0.30, 0.57, 0.61, 0.50, 0.50],
    [0.60, 0.68, 0.88, 0.62, 0.70, 0.51],
]


def take(test: Floats, deploy: Floats, *, random: bool = True, binary: bool = False) -> Moments:
    """The moments of two arrays [task, context] of single responses; NaN is a missing cell."""
    sides = []
    for block in (test, deploy):
        task, context = (index.ravel() for index in np.indices(block.shape))
        kept = ~np.isnan(block.ravel())
        count = np.ones(int(kept.sum()), dtype=np.int64)
        sides.append(Cells(task=task[kept], context=context[kept], mean=block.ravel()[kept], count=count))
    return compute_moments(sides[0], sides[1], np.ones(len(test), dtype=bool), random=random, binary=binary)


def test_error_and_degrees_of_freedom_are_those_of_lme4_and_pbkrtest() -> None:
    """Standard error of a mean over crossed tasks and contexts, by REML, with Kenward and Roger's degrees of freedom.

    > library(lme4); library(pbkrtest)   # R 4.2.2, lme4 1.1.31, pbkrtest 0.5.2
    > d <- data.frame(y=as.vector(y), task=factor(rep(1:8, 6)), context=factor(rep(1:6, each=8)))
    > m <- lmer(y ~ 1 + (1|task) + (1|context), d)
    > sqrt(as.matrix(vcovAdj(m))[1,1])
    [1] 0.04394509
    > get_Lb_ddf(m, 1)
    [1] 9.33865428172
    """
    block = np.array(SCORES)

    parts = take(block, block).test.parts(random=True) or ()

    assert math.sqrt(total_variance(parts)) == pytest.approx(0.04394509, abs=1e-7)
    assert satterthwaite_df(parts) == pytest.approx(9.33865428172, rel=1e-6)


def test_cells_without_a_factor_are_a_sample_of_their_own() -> None:
    """Independent cells: on average the variance is that of their mean, and not twice that."""
    rng = np.random.default_rng(5)
    variances = []
    for _ in range(300):
        block = rng.random((12, 8))
        variances.append(total_variance(take(block, block).test.parts(random=True) or ()))

    # The rule "never below a part" lets it come out somewhat high; twice would be 2.
    assert 1 <= np.mean(variances) / (1 / 12 / 96) < 1.35


@given(seed=st.integers(0, 10_000), tasks=st.integers(2, 9), contexts=st.integers(2, 7), lost=st.floats(0, 0.3))
@settings(max_examples=scale(40), deadline=None)
def test_the_sum_is_never_below_a_part_nor_above_two_terms(seed: int, tasks: int, contexts: int, lost: float) -> None:
    """Whatever is missing: largest part ≤ V ≤ tasks + contexts."""
    rng = np.random.default_rng(seed)
    block = rng.random((2, tasks, contexts))
    block[:, :, 1:][rng.random((2, tasks, contexts - 1)) < lost] = np.nan
    moments = take(block[0], block[1])
    for parts in (moments.parts(), moments.test.parts(random=True)):
        if parts is None:
            continue
        positive = [part.variance for part in parts if part.variance > 0]

        assert max(positive) <= total_variance(parts) <= math.fsum(positive) * (1 + 1e-12)


def test_banerjee_subtracts_nothing() -> None:
    """Below five contexts a negative part changes nothing: conservative, as before."""
    parts = (VariancePart(variance=0.002, df=19), VariancePart(variance=0.001, df=3))

    assert half_width((*parts, VariancePart(variance=-0.0009, df=57)), level=0.95, banerjee=True) == half_width(
        parts, level=0.95, banerjee=True
    )


def test_too_few_cells_leave_no_residual() -> None:
    """A table in which each task has one context knows nothing of the residual, and two terms remain."""
    block = np.full((4, 4), np.nan)
    np.fill_diagonal(block, [0.1, 0.4, 0.6, 0.9])

    assert take(block, block).test.residual_variance == 0.0


@pytest.mark.parametrize("design", ["random", "fixed", "nested"])
def test_the_chosen_idea_is_what_audits_use(design: str) -> None:
    """The vectorised bench gives the intervals of `audit.statistics`, table by table."""
    cell = Cell(design, 12, 6, 5, 2, 0.4, 0.05, 0.3, judged=True)
    sides, binary = draw_tables(cell, np.random.default_rng(1), 12)
    ed, deploy = find_limits(compute_sums(cell, sides, binary), CHOSEN)

    for run, moments in enumerate(build_moments(cell, sides, binary)):
        band, side = difference_interval(moments, level=0.95), find_side_intervals(moments, level=0.95)[1]

        assert band is not None
        assert side is not None
        assert (ed.low[run], ed.high[run]) == pytest.approx((band.low, band.high), abs=1e-9)
        assert (deploy.low[run], deploy.high[run]) == pytest.approx((side.hull.low, side.hull.high), abs=1e-9)


def test_sides_that_oppose_each_other_are_allowed_for() -> None:
    """Tasks that score in the test alone or in deployment alone: the correlation is −1, and so it is where neither side varies."""
    test = np.repeat(np.array([[1.0], [1.0], [0.0], [0.0], [0.0], [0.0]]), 5, axis=1)
    ones = np.ones((6, 5))

    assert task_correlation(take(test, 1 - test, random=False, binary=True)) == pytest.approx(-1.0)
    assert task_correlation(take(ones, 1 - ones, random=False, binary=True)) == -1.0
    assert task_correlation(take(test, ones, random=False, binary=True)) == 0.0


def test_opposed_tasks_are_covered() -> None:
    """The world in which ED was missed too often: at least 93 % in closed form, 97 % guaranteed."""
    world = build_opposed_world(ContextDesign.FIXED)

    assert measure(world, runs=250).ed >= 0.93
    assert measure(replace(world, interval=IntervalMethod.GUARANTEED), runs=250).ed >= 0.97


def test_guaranteed_ed_needs_no_correlation() -> None:
    """It holds every difference of two means in the sides' intervals at half of the error each."""
    rng = np.random.default_rng(2)
    moments = take(rng.random((20, 6)), rng.random((20, 6)))
    test, deploy = guaranteed_sides(moments, level=0.975)
    band = guaranteed_difference(moments, level=0.95)
    turned = guaranteed_difference(replace(moments, covariance=-(moments.covariance or 0.0)), level=0.95)

    assert test is not None
    assert deploy is not None
    assert band == turned
    assert band is not None
    assert band.low <= test.hull.low - deploy.hull.high
    assert band.high >= test.hull.high - deploy.hull.low
