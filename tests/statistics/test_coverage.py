"""The interval covers at least as often as stated: a quick, seeded simulation over few designs (the long one is a benchmark)."""

import numpy as np
import pytest
from scipy.special import expit

from audit.modules.differential_estimate import estimate
from audit.statistics.intervals import IntervalBasis
from audit.statistics.mean_intervals import difference_interval, find_side_intervals
from audit.statistics.responses import Floats
from audit.statistics.side_moments import Cells, Moments, compute_moments
from benchmarks.coverage_grid import Cell, build_moments, draw_tables, find_codes, judge
from registry.records.analysis_plan import ContextDesign, Plan
from tests.statistics.tables import Row, build_table

pytestmark = pytest.mark.slow

RUNS = 2000
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


def mean_share(center: float, spread: float) -> float:
    """The mean of expit(center + spread · normal)."""
    return float(WEIGHTS @ expit(center + spread * NODES) / WEIGHTS.sum())


def simulate(rng: np.random.Generator, *, tasks: int, contexts: int, centers: tuple[float, float], context_sd: float) -> tuple[bool, ...]:
    """Whether ED and Φ_deploy are covered in one drawn table, and Φ_deploy is called beyond itself as a θ.

    Tasks and contexts are crossed, and one response is a cell.
    """
    difficulty = rng.normal(0, 1.0, (tasks, 1))
    sides, truths = [], []
    for center in centers:
        effect = rng.normal(0, context_sd, (1, contexts))
        crossed = rng.normal(0, 0.4, (tasks, contexts))
        sides.append((rng.random((tasks, contexts)) < expit(center + difficulty + effect + crossed)).astype(float))
        truths.append(mean_share(center, float(np.sqrt(1.0 + context_sd**2 + 0.16))))
    moments = take_all(np.array(sides), random=True)
    band, (_, side) = difference_interval(moments, level=0.95), find_side_intervals(moments, level=0.95)
    assert band is not None
    assert side is not None
    return band.low <= truths[0] - truths[1] <= band.high, side.hull.low <= truths[1] <= side.hull.high, side.hull.low > truths[1]


@pytest.mark.parametrize(
    ("tasks", "contexts", "centers", "context_sd"),
    [
        (5, 2, (0.0, 0.8), 0.4),
        (12, 4, (-1.0, 0.0), 0.4),
        (20, 5, (-3.0, -1.5), 0.4),
        (20, 5, (-4.0, -4.0), 0.0),
        (60, 8, (0.0, 0.5), 0.8),
        (200, 5, (-0.5, 0.5), 0.4),
    ],
)
def test_the_differential_is_covered(tasks: int, contexts: int, centers: tuple[float, float], context_sd: float) -> None:
    """At least 93 % of nominal 95 %, Φ_deploy at least 92 % from 20 tasks on; at most 5 % false inversions at θ = Φ_deploy."""
    rng = np.random.default_rng([tasks, contexts, 7])

    covered = np.array([simulate(rng, tasks=tasks, contexts=contexts, centers=centers, context_sd=context_sd) for _ in range(RUNS)])

    shares = covered.mean(axis=0)
    assert shares[0] >= 0.93
    assert shares[1] >= (0.92 if tasks >= 20 else 0.9)
    assert shares[2] <= 0.05


@pytest.mark.parametrize("tasks", [20, 100])
def test_fixed_contexts_are_covered_as_themselves(tasks: int) -> None:
    """The listed contexts are the estimand, tasks are drawn: at least 91 %."""
    rng = np.random.default_rng([tasks, 11])
    effects = rng.normal(0, 0.8, (2, 1, 4))
    truths = [np.mean([mean_share(float(effect), 1.0) for effect in side.ravel()]) for side in effects]
    covered = 0
    for _ in range(RUNS):
        scores = (rng.random((2, tasks, 4)) < expit(effects + rng.normal(0, 1.0, (1, tasks, 1)))).astype(float)
        band = difference_interval(take_all(scores, random=False), level=0.95)
        assert band is not None
        covered += int(band.low <= truths[0] - truths[1] <= band.high)

    assert covered / RUNS >= 0.91


def take_all(scores: Floats, *, random: bool) -> Moments:
    """The moments of an array [side, task, context] of single responses."""
    task, context = (index.ravel() for index in np.indices(scores[0].shape))
    sides = [Cells(task=task, context=context, mean=side.ravel(), count=np.ones(side.size, dtype=np.int64)) for side in scores]
    return compute_moments(sides[0], sides[1], np.ones(scores.shape[1], dtype=bool), random=random, binary=True)


def test_the_simulation_can_fail() -> None:
    """The same tables with contexts taken as fixed cover far less: the check sees a wrong design."""
    rng = np.random.default_rng(3)
    misses = 0
    for _ in range(200):
        effects = rng.normal(0, 1.0, (2, 1, 5))
        scores = (rng.random((2, 200, 5)) < expit(effects)).astype(float)
        band = difference_interval(take_all(scores, random=False), level=0.95)
        assert band is not None
        misses += not band.low <= 0 <= band.high

    assert misses / 200 > 0.4


def describe(design: str, *, tasks: int = 20) -> Cell:
    """A cell of the long simulation with unequal contexts and one sample."""
    return Cell(design, tasks, 10, 4, 1, 0.8, 0.05, 0.3, judged=True)


@pytest.mark.parametrize("design", ["random", "fixed", "nested"])
def test_the_long_simulation_counts_what_the_station_reports(design: str) -> None:
    """The intervals of the benchmark are those of an estimate made from the same scores, bit for bit."""
    cell = describe(design)
    sides_drawn, binary = draw_tables(cell, np.random.default_rng(1), 1)
    moments = next(build_moments(cell, sides_drawn, binary))
    rows: list[Row] = []
    for arm, side in zip(("test", "deploy"), sides_drawn, strict=True):
        codes = zip(*find_codes(cell, side.mean.shape[2]), side.mean.ravel().tolist(), strict=True)
        rows.extend((f"t{task:03}", arm, f"c{context:04}", "0", score) for task, context, score in codes)
    spec = estimate(build_table(rows), Plan(contexts=ContextDesign(design)), range_=(0, 1)).specs[0]

    band, sides = difference_interval(moments, level=0.95), find_side_intervals(moments, level=0.95)

    assert band is not None
    assert (spec.ed.low, spec.ed.high) == (band.low, band.high)
    assert [(phi.low, phi.high) for phi in (spec.phi_test, spec.phi_deploy)] == [(one.hull.low, one.hull.high) for one in sides if one]


@pytest.mark.parametrize("design", ["random", "fixed", "nested"])
def test_the_long_simulation_draws_around_its_truth(design: str) -> None:
    """The mean of many drawn tables is the Φ that quadrature gave, within four standard errors."""
    cell = describe(design)
    sides, _ = draw_tables(cell, np.random.default_rng(2), 4000)

    for side, truth in zip(sides, (cell.rate_test, cell.rate_deploy), strict=True):
        tables = side.mean.mean(axis=(1, 2))

        assert abs(tables.mean() - truth) < 4 * tables.std() / np.sqrt(len(tables))


def test_the_long_simulation_counts_a_miss() -> None:
    """Tables drawn around another truth than the cell's are not covered, and are counted as inverted upwards."""
    drawn, told = describe("random", tasks=200), Cell("random", 200, 10, 4, 1, 0.8, 0.9, 0.001, judged=True)
    sides, binary = draw_tables(drawn, np.random.default_rng(3), 20)

    counted = np.array([judge(told, IntervalBasis(moments=moments))[:5] for moments in build_moments(drawn, sides, binary)])

    assert counted[:, :3].sum() == 0
    assert counted[:, 3].all()
    assert not counted[:, 4].any()
