"""What a design can find at all: the smallest detectable difference, and the floor that the contexts set."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audit.statistics.responses import Floats, sum_all, sum_groups, sum_many
from audit.statistics.side_moments import ZERO_VARIANCE, Cells, VariancePart, collapse_clusters, half_width, total_variance

# Sources (statistics.md section 3): minimum detectable effect after Miller 2024 (arXiv:2411.00640) with
# t quantiles. The bound on unseen contexts is the exact one-sided binomial bound at 0 of C (the "rule
# of three" before its approximation).

POWER = 0.80
_MOST_CONTEXTS = 10_000
_MOST_TASKS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraSample:
    """How much more would narrow an interval enough, if the new ones vary as the present ones do."""

    contexts: int
    """More contexts on each side that is sampled."""

    tasks: int


def unseen_bound(number: float) -> float:
    """Return 1 − 0.05^(1/n): the share of contexts, or of tasks, that could behave differently, none of the n in the sample being of them.

    At 95 % confidence; contexts and tasks are assumed to be sampled independently from their distribution.

    Raises:
        ValueError: n is below 1.
    """
    if number < 1:
        raise ValueError(f"the number sampled must be at least 1, got {number}")
    return -math.expm1(math.log(0.05) / number)


def minimum_detectable(parts: Sequence[VariancePart], *, level: float, banerjee: bool) -> float | None:
    """Return the smallest |ED| that a test at *level* finds with 80 % power: (t_level + t.80)√V; None without a variance."""
    if total_variance(parts) <= ZERO_VARIANCE:
        return None
    return half_width(parts, level=level, banerjee=banerjee) + half_width(parts, level=2 * POWER - 1, banerjee=banerjee)


def sample_size_to_resolve(
    task: VariancePart, contexts: Sequence[VariancePart], *, half_width_now: float, half_width_needed: float, level: float
) -> ExtraSample | None:
    """Return the contexts and tasks to add so that an interval shrinks from one half-width to another; None if no number does.

    A part's variance is taken to fall as 1/(df + 1), its degrees of freedom to grow along, the form of half-width to follow
    the number of contexts; the reported interval (a hull) is taken to shrink in proportion to h. Contexts come first: the
    smallest number that suffices by itself; if none does, as many as leave half of the squared half-width needed to the tasks.

    Args:
        task: task part of the variance.
        contexts: context part of each sampled side; empty for fixed and nested contexts.
        half_width_now: of the reported interval, from the point to the end that matters; above 0.
        half_width_needed: from the point to the boundary that must not be crossed.
        level: of the interval.
    """
    whole = _grow(task, contexts, ExtraSample(contexts=0, tasks=0), level=level)
    if not (half_width_now > 0 and half_width_needed > 0 and whole > 0):
        return None
    target = whole * half_width_needed / half_width_now

    def reached(extra: ExtraSample) -> bool:
        return _grow(task, contexts, extra, level=level) <= target

    # Contexts come first because their part of the variance does not fall with more tasks.
    alone = find_first(lambda n: reached(ExtraSample(contexts=n, tasks=0)), _MOST_CONTEXTS if contexts else 0)
    if alone is not None:
        return ExtraSample(contexts=alone, tasks=0)
    still = VariancePart(variance=0.0, df=task.df)
    # 1/√2 of the half-width is half of the squared half-width: contexts take half, tasks the rest.
    share = target / math.sqrt(2)
    more = find_first(lambda n: _grow(still, contexts, ExtraSample(contexts=n, tasks=0), level=level) <= share, _MOST_CONTEXTS)
    if more is None:
        return None
    tasks = find_first(lambda n: reached(ExtraSample(contexts=more, tasks=n)), _MOST_TASKS)
    return None if tasks is None else ExtraSample(contexts=more, tasks=tasks)


def _grow(task: VariancePart, contexts: Sequence[VariancePart], extra: ExtraSample, *, level: float) -> float:
    """The half-width after adding *extra*."""
    grown = [_scale(part, extra.contexts) for part in contexts]
    banerjee = any(part.df + 1 < 5 for part in grown)
    return half_width((_scale(task, extra.tasks), *grown), level=level, banerjee=banerjee)


def _scale(part: VariancePart, extra: int) -> VariancePart:
    size = part.df + 1
    return VariancePart(variance=part.variance * size / (size + extra), df=part.df + extra)


def find_first(holds: Callable[[int], bool], most: int) -> int | None:
    """Return the smallest n in 0 … *most* for which *holds*, which must stay true once it is; None when there is none."""
    if holds(0):
        return 0
    high = 1
    while high <= most and not holds(high):
        high *= 2
    if high > most:
        return None
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


# The limit that the number of contexts sets, however many tasks are added (statistics.md section 3,
# planning).
#
# Var(ED) = sd_t²/T + Σ_sides [sd_c²/C + sd_x²/(TC) + sd_e²/(TCn)]. More tasks and samples reduce every
# term except sd_c²/C. The context part of V cannot be used for this because it contains noise too.
# sd_c² is the analysis-of-variance estimate for two crossed factors without replication (S. R. Searle,
# G. Casella & C. E. McCulloch, Variance Components, 1992, chapter 4): (MS_context − MS_residual)/T,
# exact for full tables, with the mean number of tasks per context otherwise. Guaranteed and anytime
# intervals have no such floor.


def context_component(cells: Cells) -> float | None:
    """Return sd_c² of one side, scores in [0, 1]; 0 where contexts differ no more than chance has them, None with too few cells."""
    sums, counts = zip(*(_gather(cells, codes) for codes in (cells.task, cells.context)), strict=True)
    tasks, contexts = (int(np.count_nonzero(count)) for count in counts)
    spare = len(cells.mean) - tasks - contexts + 1
    if contexts < 2 or spare < 1:
        return None
    by_task, by_context = (total / np.maximum(count, 1) for total, count in zip(sums, counts, strict=True))
    mean = sum_many(cells.mean) / len(cells.mean)
    between = sum_all(counts[1] * (by_context - mean) ** 2) / (contexts - 1)
    residual = sum_many((cells.mean - by_task[cells.task] - by_context[cells.context] + mean) ** 2 / 2) * 2 / spare
    return max(0.0, between - residual) * contexts / len(cells.mean)


def detectable_floor(sides: Sequence[Cells], *, level: float, banerjee: bool) -> float | None:
    """Return the |ED| that no number of tasks or samples lets be found with 80 % power at these numbers of contexts.

    (t_level + t.80)·√Σ sd_c²/C in the form of the half-width of ED; None where contexts are not seen to differ, or cannot be.
    """
    parts = []
    for cells in map(collapse_clusters, sides):
        component, contexts = context_component(cells), int(np.count_nonzero(np.bincount(cells.context)))
        if component is None:
            return None
        parts.append(VariancePart(variance=component / contexts, df=contexts - 1))
    if not math.isfinite(total_variance(parts)) or total_variance(parts) <= ZERO_VARIANCE:
        return None
    return minimum_detectable(parts, level=level, banerjee=banerjee)


def _gather(cells: Cells, codes: npt.NDArray[np.intp]) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Sum of the cell means, and number of cells, by code."""
    size = int(codes.max()) + 1
    return sum_groups(cells.mean, codes, size=size), np.bincount(codes, minlength=size)
