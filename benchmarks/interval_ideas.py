"""Ideas for narrower intervals of ED, each tried on the same tables: coverage, false verdicts, width and cost.

Run from the repository root: `python -m benchmarks.interval_ideas` (about ten minutes of one core). `--table FILE` writes what is kept as
INTERVALS.md, `--stride N` tries every N-th cell, `--runs N` draws so many tables a cell. Prints one JSON line; exit 1 when the chosen idea
misses a demand by more than chance.

The cells are those of `benchmarks.coverage_grid` in which a verdict is possible, thinned. Every idea is a function of the same few sums
over a table, so all ideas see the same tables and the arithmetic runs over all tables of a cell at once. That the chosen idea gives the
intervals of `audit.statistics` is a test.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, ndtri, stdtrit

from audit.statistics.halfwidth import ZERO_VARIANCE
from audit.statistics.scores import Floats
from benchmarks.coverage_grid import CONTEXT_SDS, LEVEL, RATES, Cell, Drawn, draw_tables

Z = float(ndtri(0.5 + LEVEL / 2))
UPPER = 0.5 + LEVEL / 2
SMALLEST_SIZE = 1e-3

RANDOM_CONTEXTS = ((5, 5), (10, 10), (20, 20), (20, 5))
OTHER_CONTEXTS = {"fixed": ((5, 5), (20, 5)), "nested": ((1, 1), (5, 5))}
TASKS, SAMPLES = (20, 50, 200), (1, 5)


def list_cells() -> Iterator[Cell]:
    """Yield the cells: five samples only up to 50 tasks, and context SD 0.4 only where contexts are random."""
    for design, pairs in {"random": RANDOM_CONTEXTS, **OTHER_CONTEXTS}.items():
        for tasks, pair, samples, sd, rates, judged in product(TASKS, pairs, SAMPLES, CONTEXT_SDS, RATES, (False, True)):
            if (samples == 1 or tasks < TASKS[-1]) and (design == "random" or sd != CONTEXT_SDS[1]):
                yield Cell(design, tasks, *pair, samples, sd, *rates, judged)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SideSums:
    """One side of many tables; arrays by table."""

    mean: Floats
    task: Floats
    """Variance of the mean from its task means."""
    context: Floats
    """The same from its context means; 0 where contexts are not sampled."""
    residual: Floats
    """What both of these contain: the mean square of cells about task and context means, over the cells; 0 where contexts are not sampled."""
    spread: Floats
    contexts: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Both sides of many tables, and how they vary together."""

    sides: tuple[SideSums, SideSums]
    task: Floats
    """Variance of ED from the differences of task means."""
    covariance: Floats
    paired: Floats
    """Covariance of the two means over contexts of the same number; 0 where the numbers differ or contexts are not sampled."""
    binary: npt.NDArray[np.bool_]
    tasks: int
    responses: tuple[int, int]
    random: bool

    @property
    def difference(self) -> Floats:
        """ED of each table."""
        return self.sides[0].mean - self.sides[1].mean


def compute_sums(cell: Cell, drawn: list[Drawn], binary: npt.NDArray[np.bool_]) -> Sums:
    """Return the sums of the tables that `draw_tables` drew."""
    means = [side.mean.astype(float).mean(axis=2) for side in drawn]
    contexts = [side.mean.astype(float).mean(axis=1) for side in drawn]
    random = cell.design == "random"
    sides = tuple(_compute_side(side, task, context, random=random) for side, task, context in zip(drawn, means, contexts, strict=True))
    off = [task - task.mean(axis=1, keepdims=True) for task in means]
    scale = cell.tasks * (cell.tasks - 1)
    paired = np.zeros(len(binary))
    if random and cell.contexts_test == cell.contexts_deploy:
        moved = [context - context.mean(axis=1, keepdims=True) for context in contexts]
        paired = (moved[0] * moved[1]).sum(axis=1) / (cell.contexts_test * (cell.contexts_test - 1))
    return Sums(
        sides=(sides[0], sides[1]),
        task=((off[0] - off[1]) ** 2).sum(axis=1) / scale,
        covariance=(off[0] * off[1]).sum(axis=1) / scale,
        paired=paired,
        binary=binary,
        tasks=cell.tasks,
        responses=(cell.tasks * cell.contexts_test * cell.samples, cell.tasks * cell.contexts_deploy * cell.samples),
        random=random,
    )


def _compute_side(side: Drawn, task: Floats, context: Floats, *, random: bool) -> SideSums:
    tasks, contexts = side.mean.shape[1:]
    mean = task.mean(axis=1)
    none = np.zeros(len(mean))
    if random:
        rest = side.mean - task[:, :, None] - context[:, None, :] + mean[:, None, None]
        residual = (rest**2).sum(axis=(1, 2)) / ((tasks - 1) * (contexts - 1) * tasks * contexts)
    whole = mean * (1 - mean)
    spread = whole if side.square is None else np.maximum(0.0, side.square.mean(axis=(1, 2)) - mean**2)
    return SideSums(
        mean=mean,
        task=task.var(axis=1, ddof=1) / tasks,
        context=context.var(axis=1, ddof=1) / contexts if random else none,
        residual=residual if random else none,
        spread=spread,
        contexts=contexts,
    )


# --- Variances, degrees of freedom, limits: what the ideas are made of ---


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Limits:
    """Lower and upper ends, by table."""

    low: Floats
    high: Floats


def join(first: Limits, second: Limits) -> Limits:
    """Return the hull of two intervals."""
    return Limits(low=np.minimum(first.low, second.low), high=np.maximum(first.high, second.high))


def clip(limits: Limits, lowest: float) -> Limits:
    """Return the limits cut to [lowest, 1]."""
    return Limits(low=np.maximum(lowest, limits.low), high=np.minimum(1.0, limits.high))


def student(variance: Floats, parts: list[tuple[Floats, float]]) -> Floats:
    """Return t(ν)·√variance with Satterthwaite's ν of the parts (variance, degrees of freedom); 0 where there is no variance."""
    safe = np.maximum(variance, 1e-300)
    squares = sum((part / safe) ** 2 / df for part, df in parts)
    df = np.maximum(1.0, 1.0 / np.maximum(squares, 1e-12))
    return np.where(variance > 0, stdtrit(df, UPPER) * np.sqrt(variance), 0.0)


def exact_limits(mean: Floats, size: Floats, *, shift: float = 1.0) -> Limits:
    """Return Clopper–Pearson limits at *size* (shift 1), or Jeffreys' equal-tailed ones (shift 0.5)."""
    met, other = np.minimum(size * mean, size), np.maximum(size - size * mean, 0.0)
    tail = (1 - LEVEL) / 2
    low = np.where(met <= 0, 0.0, betaincinv(np.maximum(met + 1 - shift, 1e-9), other + shift, tail))
    high = np.where(other <= 0, 1.0, betaincinv(met + shift, np.maximum(other + 1 - shift, 1e-9), 1 - tail))
    return Limits(low=np.minimum(low, mean), high=np.maximum(high, mean))


def wilson_limits(mean: Floats, size: Floats) -> Limits:
    """Return score limits at *size*."""
    square = Z**2 / size
    middle = (mean + square / 2) / (1 + square)
    half = Z * np.sqrt(mean * (1 - mean) / size + square / (4 * size)) / (1 + square)
    return Limits(low=middle - half, high=middle + half)


def mover(sums: Sums, first: Limits, second: Limits, correlation: Floats) -> Limits:
    """Return limits for ED from those of the sides."""
    means = sums.sides[0].mean, sums.sides[1].mean

    def reach(one: Floats, other: Floats) -> Floats:
        return np.sqrt(np.maximum(0.0, one**2 + other**2 - 2 * correlation * one * other))

    down = reach(means[0] - first.low, second.high - means[1])
    up = reach(first.high - means[0], means[1] - second.low)
    return Limits(low=sums.difference - down, high=sums.difference + up)
