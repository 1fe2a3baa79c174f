"""A sum of coefficients times arm means over the tasks that all arms have, and the parts of its variance (statistics.md section 2).

Differences, differences in differences, and numerator − r · denominator of a ratio are all such sums; an arm that stands in twice
counts once, with the sum of its coefficients. Sources and assumptions: `audit.statistics.moments`; the contexts of one arm are
independent of those of every other.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from audit.statistics.cells import Cells
from audit.statistics.difference import difference_interval, mover
from audit.statistics.equivalence import difference_p
from audit.statistics.halfwidth import ZERO_VARIANCE, Part, half_width, one_sided_p, total_variance
from audit.statistics.moments import ENOUGH_CONTEXTS, Moments, SideMoments, compute_moments, compute_task_means, find_common_tasks
from audit.statistics.proportion import Limits
from audit.statistics.scores import Floats

_HIGHEST_CORRELATION = 0.95

Coefficients = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arms:
    """Two to four arms over the tasks that all of them have, scores in [0, 1]."""

    names: tuple[str, ...]
    pairs: Mapping[tuple[str, str], Moments]
    """By every two of the names, in their order."""
    random: bool
    """Whether contexts are a sample."""

    @property
    def first(self) -> Moments:
        """Any of the pairs: tasks and weights are the same in all."""
        return next(iter(self.pairs.values()))

    @property
    def tasks(self) -> int:
        """Clusters of the tasks that all arms have, at least 1: families where they are declared, else tasks."""
        return self.first.test.tasks

    @property
    def banerjee(self) -> bool:
        """Whether half-widths take Banerjee's form: contexts are a sample, and an arm has fewer than five."""
        return self.random and min(self.side(name).contexts for name in self.names) < ENOUGH_CONTEXTS

    def pair(self, first: str, second: str) -> Moments:
        """Return the moments of first − second."""
        found = self.pairs.get((first, second))
        if found is not None:
            return found
        back = self.pairs[second, first]
        return replace(back, test=back.deploy, deploy=back.test)

    def side(self, name: str) -> SideMoments:
        """Return the mean of one arm with the parts of its variance."""
        return next(pair.test if names[0] == name else pair.deploy for names, pair in self.pairs.items() if name in names)


def find_tasks_of_all(arms: Sequence[Cells], *, tasks: int) -> npt.NDArray[np.bool_]:
    """Return, for each of the task codes 0 … tasks − 1, whether every arm has a scored response to it."""
    common = np.ones(tasks, dtype=bool)
    for cells in arms:
        common &= find_common_tasks(cells, cells, tasks=tasks)
    return common


def compute_arms(
    arms: Mapping[str, Cells], common: npt.NDArray[np.bool_], *, random: bool, binary: bool, weights: Floats | None = None
) -> Arms:
    """Return the moments of two to four *arms* over the *common* tasks, of which there must be at least one.

    Args:
        arms: cells by name.
        common: by task code.
        random: whether contexts are a sample.
        binary: whether every score of all arms is 0 or 1.
        weights: of all tasks, by task code; None when all weigh the same.
    """
    pairs = {
        (first, second): compute_moments(arms[first], arms[second], common, random=random, binary=binary, weights=weights)
        for first, second in itertools.combinations(arms, 2)
    }
    return Arms(names=tuple(arms), pairs=pairs, random=random)


def combine(arms: Arms, coefficients: Coefficients) -> float:
    """Return Σ coefficient · Φ."""
    return math.fsum(coefficient * arms.side(name).mean for name, coefficient in coefficients.items())


def combine_parts(arms: Arms, coefficients: Coefficients) -> tuple[Part, ...] | None:
    """Return the parts of the variance of Σ coefficient · Φ: of tasks, and with random contexts of each arm that stays in.

    What tasks and contexts of an arm both contain is a negative part, as in `SideMoments`.

    None with one task, or with one random context in such an arm.
    """
    kept = {name: coefficient for name, coefficient in coefficients.items() if coefficient}
    task = _combine_tasks(arms, kept)
    contexts = [(coefficient, arms.side(name)) for name, coefficient in kept.items()] if arms.random else []
    if task is None or any(side.context_variance is None for _, side in contexts):
        return None
    parts = (Part(variance=c * c * (side.context_variance or 0.0), df=side.contexts - 1) for c, side in contexts)
    overlaps = (replace(part, variance=c * c * part.variance) for c, side in contexts for part in side.overlap())
    return (Part(variance=task, df=arms.first.test.effective_tasks - 1), *parts, *overlaps)


def find_obstacle(arms: Arms) -> str | None:
    """Return why a variance cannot be estimated, or None."""
    families = arms.first.test.families
    if arms.tasks < 2:
        return "one family of tasks: nothing says how families vary" if families else "one task: nothing says how tasks vary"
    if arms.first.difference_variance is None:
        units = "families" if families else "tasks"
        return f"the weights of the {units} are worth fewer than two {units}: nothing says how {units} vary"
    alone = [name for name in arms.names if arms.random and arms.side(name).contexts < 2]
    unit = "template" if arms.first.test.templates else "context"
    return f"one {unit} in arm {', '.join(alone)}: nothing says how {unit}s vary" if alone else None


def find_correlation(arms: Arms, first: Coefficients, second: Coefficients) -> float:
    """Return the correlation of two sums, of shared arms' contexts too, cut to [0, 0.95]; 0 where either has no variance."""
    apart = {name: first.get(name, 0.0) - second.get(name, 0.0) for name in {**first, **second}}
    variances = [None if parts is None else total_variance(parts) for parts in (combine_parts(arms, c) for c in (first, second, apart))]
    v_first, v_second, v_apart = variances
    if v_first is None or v_second is None or v_apart is None or min(v_first, v_second) <= ZERO_VARIANCE:
        return 0.0
    covariance = (v_first + v_second - v_apart) / 2
    return min(_HIGHEST_CORRELATION, max(0.0, covariance / math.sqrt(v_first) / math.sqrt(v_second)))


def find_p(arms: Arms, coefficients: Coefficients) -> float | None:
    """Return the two-sided p of Σ coefficient · Φ = 0, from the standard error and degrees of freedom of ± h; None without a variance."""
    pair = _find_pair(coefficients)
    if pair is not None:
        return difference_p(arms.pair(*pair))
    parts = combine_parts(arms, coefficients)
    p = None if parts is None else one_sided_p(abs(combine(arms, coefficients)), parts, banerjee=arms.banerjee)
    return None if p is None else min(1.0, 2 * p)


def double_difference_interval(arms: Arms, first: tuple[str, str], second: tuple[str, str], *, level: float) -> Limits | None:
    """Return the interval of (first − first's other) − (second − second's other), cut to [−2, 2].

    The hull of the estimate ± h and of MOVER from the intervals of both differences: as for ED, one level up. Where an arm cancels
    and two are left, the interval of their difference is returned. None where the variance cannot be estimated.
    """
    plus, minus = subtract({first[0]: 1.0}, {first[1]: 1.0}), subtract({second[0]: 1.0}, {second[1]: 1.0})
    net = subtract(plus, minus)
    pair = _find_pair(net)
    if pair is not None:
        return difference_interval(arms.pair(*pair), level=level)
    parts = combine_parts(arms, net)
    limits = [difference_interval(arms.pair(*pair), level=level) for pair in (first, second)]
    if parts is None or limits[0] is None or limits[1] is None:
        return None
    value, h = combine(arms, net), half_width(parts, level=level, banerjee=arms.banerjee)
    band = mover(
        first=combine(arms, plus),
        first_limits=limits[0],
        second=combine(arms, minus),
        second_limits=limits[1],
        correlation=find_correlation(arms, plus, minus),
    )
    return Limits(low=max(-2.0, min(band.low, value - h)), high=min(2.0, max(band.high, value + h)))


def subtract(first: Coefficients, second: Coefficients, *, times: float = 1.0) -> dict[str, float]:
    """Return the coefficients of first − times · second."""
    return {name: first.get(name, 0.0) - times * second.get(name, 0.0) for name in {**first, **second}}


def compute_differences(arms: Mapping[str, Cells], common: npt.NDArray[np.bool_], coefficients: Coefficients) -> Floats:
    """Return Σ coefficient · Φ of each common task, in the order of the task codes; what is within rounding of 0 is 0."""
    terms = [coefficient * compute_task_means(arms[name].keep(common), common) for name, coefficient in coefficients.items()]
    total = np.sum(terms, axis=0)
    total[np.abs(total) <= 1e-12] = 0.0
    return np.asarray(total, dtype=np.float64)


def _find_pair(coefficients: Coefficients) -> tuple[str, str] | None:
    """Return the two arms of a plain difference, or None for another sum: what is one difference is treated as one, to the bit."""
    kept = {name: coefficient for name, coefficient in coefficients.items() if coefficient}
    if sorted(kept.values()) != [-1.0, 1.0]:
        return None
    ahead, behind = sorted(kept, key=lambda name: -kept[name])
    return ahead, behind


def _combine_tasks(arms: Arms, coefficients: Coefficients) -> float | None:
    """Σ cₖ² vₖ + 2 Σ cₖ cₗ covₖₗ: the variance of the mean of the tasks' own sums."""
    if arms.first.difference_variance is None:
        return None
    own = (c * c * (arms.side(name).task_variance or 0.0) for name, c in coefficients.items())
    mixed = (
        2 * coefficients.get(first, 0.0) * coefficients.get(second, 0.0) * (pair.covariance or 0.0)
        for (first, second), pair in arms.pairs.items()
    )
    # Never negative but for rounding.
    return max(0.0, math.fsum((*own, *mixed)))
