"""The interval covers as often as it says: a quick, seeded simulation over few designs (the long one is a benchmark)."""

import numpy as np
import pytest
from scipy.special import expit

from audit.statistics.cells import Cells
from audit.statistics.difference import difference_interval, find_side_intervals
from audit.statistics.moments import compute_moments

RUNS = 2000
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)


def mean_share(center: float, spread: float) -> float:
    """The mean of expit(center + spread · normal)."""
    return float(WEIGHTS @ expit(center + spread * NODES) / WEIGHTS.sum())


def simulate(rng: np.random.Generator, *, tasks: int, contexts: int, centers: tuple[float, float], context_sd: float) -> tuple[bool, bool]:
    """Whether ED and Φ_deploy are covered in one drawn table; tasks and contexts are crossed, and one response is a cell."""
    difficulty = rng.normal(0, 1.0, (tasks, 1))
    cells, truths = [], []
    for center in centers:
        effect = rng.normal(0, context_sd, (1, contexts))
        crossed = rng.normal(0, 0.4, (tasks, contexts))
        scores = (rng.random((tasks, contexts)) < expit(center + difficulty + effect + crossed)).astype(float)
        task, context = (index.ravel() for index in np.indices(scores.shape))
        cells.append(Cells(task=task, context=context, mean=scores.ravel(), count=np.ones(scores.size, dtype=np.int64)))
        truths.append(mean_share(center, float(np.sqrt(1.0 + context_sd**2 + 0.16))))
    moments = compute_moments(cells[0], cells[1], np.ones(tasks, dtype=bool), random=True, binary=True)
    band, (_, side) = difference_interval(moments, level=0.95), find_side_intervals(moments, level=0.95)
    assert band is not None
    assert side is not None
    return band.low <= truths[0] - truths[1] <= band.high, side.hull.low <= truths[1] <= side.hull.high


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
    """At least 93 % of nominal 95 %, and Φ_deploy at least 92 % from 20 tasks on."""
    rng = np.random.default_rng([tasks, contexts, 7])

    covered = np.array([simulate(rng, tasks=tasks, contexts=contexts, centers=centers, context_sd=context_sd) for _ in range(RUNS)])

    shares = covered.mean(axis=0)
    assert shares[0] >= 0.93
    assert shares[1] >= (0.92 if tasks >= 20 else 0.9)


def test_the_simulation_can_fail() -> None:
    """The same tables with contexts taken as fixed cover far less: the check sees a wrong design."""
    rng = np.random.default_rng(3)
    misses = 0
    for _ in range(200):
        effects = rng.normal(0, 1.0, (2, 1, 5))
        scores = (rng.random((2, 200, 5)) < expit(effects)).astype(float)
        task, context = (index.ravel() for index in np.indices(scores[0].shape))
        cells = [Cells(task=task, context=context, mean=side.ravel(), count=np.ones(side.size, dtype=np.int64)) for side in scores]
        moments = compute_moments(cells[0], cells[1], np.ones(200, dtype=bool), random=False, binary=True)
        band = difference_interval(moments, level=0.95)
        assert band is not None
        misses += not band.low <= 0 <= band.high

    assert misses / 200 > 0.4
