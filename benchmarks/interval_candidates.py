"""Candidates for the interval of ED, each a function of the same few sums over a table, for all tables of a cell at once.

That the chosen one gives the intervals of `audit.statistics` is a test. `benchmarks.interval_ideas` compares them.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, ndtri, stdtrit

from audit.statistics.mean_intervals import MIN_CONTEXT_CORRELATION, MIN_TASK_CORRELATION, SKEWED
from audit.statistics.responses import Floats
from audit.statistics.side_moments import ZERO_VARIANCE
from benchmarks.coverage_grid import LEVEL, Cell, Drawn

Z = float(ndtri(0.5 + LEVEL / 2))
UPPER = 0.5 + LEVEL / 2
SMALLEST_SIZE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SideSums:
    """One side of many tables; arrays by table."""

    mean: Floats
    task: Floats
    """Variance of the mean from its task means."""
    context: Floats
    """The same from its context means; 0 where contexts are not sampled."""
    residual: Floats
    """What both contain: the mean square of cells about their task and context, over their number; 0 where contexts are not sampled."""
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
    safe = np.where(variance > 0, variance, 1.0)
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


# --- The ideas ---


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """One way to make the intervals: what is counted, and how the limits of ED are joined."""

    name: str
    why: str
    """How far it gets, and why it is chosen or not."""
    subtracts: bool = True
    """Whether the residual, which tasks and contexts both contain, is subtracted once."""
    certain: bool = False
    """Whether the subtracted part is taken to be known, so that the degrees of freedom rise."""
    limits: str = "exact"
    """Of a side, from which MOVER makes those of ED: `exact`, `jeffreys` or `score`."""
    joins: str = "hull"
    """`hull` of ED ± h and MOVER, `mover` alone, or `t` alone."""
    floor: float = 1.0
    """By how much the least correlation of responses counts in the limits that MOVER joins."""
    lowest: float = -1.0
    """Of MOVER's correlation."""
    prior: float = 0.0
    """Degrees of freedom of a prior for the context component: `PRIOR_SD` on the logit."""
    pairs: bool = False
    """Whether contexts of the same number count as pairs."""


PRIOR_SD = 0.4
IDEAS = (
    Idea(name="before", why="the residual is counted with the tasks and again with the contexts", subtracts=False, lowest=0.0),
    Idea(
        name="three terms (chosen)",
        why="keeps every demand and reaches the goal; in full tables it is a mixed model's, by REML with Kenward–Roger",
    ),
    Idea(
        name="three terms, minimum correlation not for ED",
        why="false *stable* rises above 5 % for rare shares",
        floor=0.0,
    ),
    Idea(
        name="three terms, only MOVER",
        why="hardly narrower, lower coverage in the worst cell; ED ± h and its p would no longer agree with the interval",
        joins="mover",
    ),
    Idea(name="three terms, only t", why="the narrowest, and false *stable* in one replay of nine for rare shares", joins="t"),
    Idea(name="three terms, hull with Jeffreys", why="false *stable* reaches 5 % for rare shares", limits="jeffreys"),
    Idea(name="three terms, only MOVER of Jeffreys limits", why="the same, but more", limits="jeffreys", joins="mover"),
    Idea(name="three terms, only MOVER of score limits", why="the same, but more", limits="score", joins="mover"),
    Idea(
        name="three terms, subtracted part treated as known",
        why="the degrees of freedom rise too far: false inversion above 5 % with five contexts",
        certain=True,
    ),
    Idea(
        name="three terms, moderated context variance",
        why="a prior of 4 degrees of freedom at context SD 0.4; wrong if contexts differ by more than the prior assumes",
        prior=4.0,
    ),
    Idea(
        name="three terms, contexts paired by name",
        why="no gain if the sides have different contexts (fewer degrees of freedom); see paired scaffolds",
        pairs=True,
    ),
)
CHOSEN = IDEAS[1]

Parts = list[tuple[Floats, float]]
"""Each with its degrees of freedom; the task part first, then contexts, then negative ones."""


def find_limits(sums: Sums, idea: Idea) -> tuple[Limits, Limits]:
    """Return the intervals of ED and of Φ_deploy."""
    sides = [_find_side(sums, place, idea) for place in (0, 1)]
    variance = [total(_list_side_parts(sums, place, idea)) for place in (0, 1)]
    parts = _list_parts(sums, idea)
    h = _find_half_width(parts, idea)
    around = Limits(low=sums.difference - h, high=sums.difference + h)
    if idea.joins == "t":
        return clip(around, -1.0), sides[1][0]
    band = mover(sums, sides[0][1], sides[1][1], _correlate(sums, variance[0], variance[1], idea))
    return clip(band if idea.joins == "mover" else join(band, around), -1.0), sides[1][0]


def total(parts: Parts) -> Floats:
    """Return the sum of the parts, never below the largest."""
    return np.maximum(np.sum([part for part, _ in parts], axis=0), np.max([part for part, _ in parts], axis=0))


def _list_side_parts(sums: Sums, place: int, idea: Idea, *, floor: float = 0.0) -> Parts:
    side = sums.sides[place]
    task, context = side.task, _moderate(side, idea)
    whole = np.maximum(0.0, side.mean * (1 - side.mean))
    spread = np.where(sums.binary, whole, np.minimum(whole, side.spread / np.maximum(SKEWED * whole, 1e-300)))
    correlation = floor * np.sqrt(whole) * (1 - 2 * side.mean) ** 2 * spread
    parts = [(np.maximum(task, MIN_TASK_CORRELATION * correlation / sums.tasks), sums.tasks - 1.0)]
    if sums.random:
        parts += [(np.maximum(context, MIN_CONTEXT_CORRELATION * correlation / side.contexts), side.contexts - 1 + idea.prior)]
        parts += [(-side.residual, (sums.tasks - 1.0) * (side.contexts - 1))] if idea.subtracts else []
    return parts


def _list_parts(sums: Sums, idea: Idea) -> Parts:
    parts: Parts = [(sums.task, sums.tasks - 1.0)]
    if not sums.random:
        return parts
    contexts = [(_moderate(side, idea), side.contexts - 1 + idea.prior) for side in sums.sides]
    if idea.pairs and contexts[0][1] == contexts[1][1]:
        contexts = [(np.maximum(0.0, contexts[0][0] + contexts[1][0] - 2 * sums.paired), contexts[0][1])]
    taken = [(-side.residual, (sums.tasks - 1.0) * (side.contexts - 1)) for side in sums.sides] if idea.subtracts else []
    return parts + contexts + taken


def _moderate(side: SideSums, idea: Idea) -> Floats:
    """The context part, drawn towards what a context SD of `PRIOR_SD` on the logit would make it."""
    if not idea.prior:
        return side.context
    expected = side.residual + (PRIOR_SD * side.mean * (1 - side.mean)) ** 2 / side.contexts
    df = side.contexts - 1
    return (df * side.context + idea.prior * expected) / (df + idea.prior)


def _find_half_width(parts: Parts, idea: Idea) -> Floats:
    if not idea.certain:
        return student(total(parts), parts)
    # The contexts give up what is subtracted, and their degrees of freedom are taken to stay.
    positive, taken = [part for part in parts[1:] if part[0].max() > 0], [part for part, _ in parts if part.max() <= 0]
    whole = np.maximum(np.sum([part for part, _ in positive], axis=0), 1e-300) if positive else np.ones(1)
    share = np.maximum(0.0, 1 + np.sum(taken, axis=0) / whole) if taken else np.ones(1)
    reduced = [parts[0], *((part * share, df) for part, df in positive)]
    return student(total(reduced), reduced)


def _find_side(sums: Sums, place: int, idea: Idea) -> tuple[Limits, Limits]:
    """The reported interval of a side, and the limits that MOVER joins."""
    side, parts = sums.sides[place], _list_side_parts(sums, place, idea)
    h = _find_half_width(parts, idea)
    raised = np.maximum(h, _find_half_width(_list_side_parts(sums, place, idea, floor=1.0), idea))
    sizes = [_find_size(sums, place, width, varies=total(parts) > ZERO_VARIANCE) for width in (raised, raised if idea.floor else h)]
    exact = exact_limits(side.mean, sizes[0])
    shapes = {"exact": exact_limits, "score": wilson_limits, "jeffreys": partial(exact_limits, shift=0.5)}
    reported = clip(join(exact, Limits(low=side.mean - h, high=side.mean + h)), 0.0)
    return reported, shapes[idea.limits](side.mean, sizes[1])


def _find_size(sums: Sums, place: int, width: Floats, *, varies: npt.NDArray[np.bool_]) -> Floats:
    mean = sums.sides[place].mean
    size = np.maximum(SMALLEST_SIZE, mean * (1 - mean) * (Z / np.maximum(width, 1e-150)) ** 2)
    size = np.where(sums.binary, np.minimum(size, sums.responses[place]), size)
    return np.where(varies, size, float(sums.tasks))


def _correlate(sums: Sums, first: Floats, second: Floats, idea: Idea) -> Floats:
    shared = sums.covariance + (sums.paired if idea.pairs else 0.0)
    seen = np.minimum(first, second) > ZERO_VARIANCE
    flat = np.where(np.maximum(first, second) <= ZERO_VARIANCE, idea.lowest, 0.0)
    return np.clip(np.where(seen, shared / np.sqrt(np.maximum(first * second, 1e-300)), flat), idea.lowest, 0.95)
