"""What a design can and cannot find, and how much more of it would decide (statistics.md section 3).

Sources: minimum detectable effect after Miller 2024 (arXiv:2411.00640) with t quantiles; the bound on what was not drawn is the
exact one-sided binomial bound at 0 of C (the "rule of three" before its approximation).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from audit.statistics.halfwidth import ZERO_VARIANCE, Part, half_width, total_variance

POWER = 0.80
_MOST_CONTEXTS = 10_000
_MOST_TASKS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """How much more would narrow an interval enough, if the new ones vary as the present ones do."""

    contexts: int
    """More contexts on each side that is sampled."""

    tasks: int


def unseen_bound(drawn: float) -> float:
    """Return 1 − 0.05^(1/n): the share of contexts, or of tasks, that could behave otherwise, none of the n *drawn* ones being of them.

    At 95 % confidence; contexts and tasks are assumed to be drawn independently from their distribution.

    Raises:
        ValueError: *drawn* is below 1.
    """
    if drawn < 1:
        raise ValueError(f"the number drawn must be at least 1, got {drawn}")
    return -math.expm1(math.log(0.05) / drawn)


def minimum_detectable(parts: Sequence[Part], *, level: float, banerjee: bool) -> float | None:
    """Return the smallest |ED| that a test at *level* finds with 80 % power: (t_level + t.80)√V; None without a variance."""
    if total_variance(parts) <= ZERO_VARIANCE:
        return None
    return half_width(parts, level=level, banerjee=banerjee) + half_width(parts, level=2 * POWER - 1, banerjee=banerjee)


def sample_size_to_resolve(
    task: Part, contexts: Sequence[Part], *, half_width_now: float, half_width_needed: float, level: float
) -> Extra | None:
    """Return the contexts and tasks to add so that an interval shrinks from one half-width to another; None if no number does.

    A part's variance is taken to fall as 1/(df + 1), its degrees of freedom to grow along, the form of half-width to follow
    the number of contexts; the reported interval (a hull) is taken to shrink in proportion to h. Contexts come first: the
    smallest number that suffices alone; if none does, as many as leave half of the squared half-width needed to the tasks.

    Args:
        task: task part of the variance.
        contexts: context part of each sampled side; empty for fixed and nested contexts.
        half_width_now: of the reported interval, from the point to the end that matters; above 0.
        half_width_needed: from the point to the boundary that must not be crossed.
        level: of the interval.
    """
    whole = _grow(task, contexts, Extra(contexts=0, tasks=0), level=level)
    if not (half_width_now > 0 and half_width_needed > 0 and whole > 0):
        return None
    target = whole * half_width_needed / half_width_now

    def reached(extra: Extra) -> bool:
        return _grow(task, contexts, extra, level=level) <= target

    alone = find_first(lambda n: reached(Extra(contexts=n, tasks=0)), _MOST_CONTEXTS if contexts else 0)
    if alone is not None:
        return Extra(contexts=alone, tasks=0)
    still = Part(variance=0.0, df=task.df)
    share = target / math.sqrt(2)
    more = find_first(lambda n: _grow(still, contexts, Extra(contexts=n, tasks=0), level=level) <= share, _MOST_CONTEXTS)
    if more is None:
        return None
    tasks = find_first(lambda n: reached(Extra(contexts=more, tasks=n)), _MOST_TASKS)
    return None if tasks is None else Extra(contexts=more, tasks=tasks)


def _grow(task: Part, contexts: Sequence[Part], extra: Extra, *, level: float) -> float:
    """The half-width after adding *extra*."""
    grown = [_scale(part, extra.contexts) for part in contexts]
    banerjee = any(part.df + 1 < 5 for part in grown)
    return half_width((_scale(task, extra.tasks), *grown), level=level, banerjee=banerjee)


def _scale(part: Part, extra: int) -> Part:
    size = part.df + 1
    return Part(variance=part.variance * size / (size + extra), df=part.df + extra)


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
