"""Contrasts and ratios of arms over the same tasks, and levels for several comparisons at once."""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr, ndtri, stdtrit

from audit.statistics.bootstrap import count_rows, draw_uniforms, draw_weights, open_stream
from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.mean_intervals import ConfidenceLimits, difference_interval, difference_p, find_side_intervals, mover_limits
from audit.statistics.paired_tests import SAME, check_level, check_vector, divide_by_power_of_two
from audit.statistics.responses import Floats
from audit.statistics.side_moments import (
    ENOUGH_CONTEXTS,
    ZERO_VARIANCE,
    Cells,
    Moments,
    SideMoments,
    VariancePart,
    compute_moments,
    compute_task_means,
    find_common_tasks,
    half_width,
    one_sided_p,
    total_variance,
)
from registry.records.estimates import Measure

# A contrast is a sum of coefficients times arm means over the tasks that all arms have, with the parts
# of its variance (statistics.md section 2). Differences, differences in differences, and numerator − r
# · denominator of a ratio are all such sums. An arm that occurs twice counts once, with the sum of its
# coefficients. Sources and assumptions: `audit.statistics.side_moments`; the contexts of one arm are
# independent of those of every other.

_HIGHEST_CORRELATION = 0.95

Coefficients = Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmScores:
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
        pair = self.pairs.get((first, second))
        if pair is not None:
            return pair
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
) -> ArmScores:
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
    return ArmScores(names=tuple(arms), pairs=pairs, random=random)


def combine(arms: ArmScores, coefficients: Coefficients) -> float:
    """Return Σ coefficient · Φ."""
    return math.fsum(coefficient * arms.side(name).mean for name, coefficient in coefficients.items())


def combine_parts(arms: ArmScores, coefficients: Coefficients) -> tuple[VariancePart, ...] | None:
    """Return the parts of the variance of Σ coefficient · Φ: of tasks, and with random contexts of each arm that stays in.

    What tasks and contexts of an arm both contain is a negative part, as in `SideMoments`.

    None with one task, or with one random context in such an arm.
    """
    kept = {name: coefficient for name, coefficient in coefficients.items() if coefficient}
    task = _combine_tasks(arms, kept)
    contexts = [(coefficient, arms.side(name)) for name, coefficient in kept.items()] if arms.random else []
    if task is None or any(side.context_variance is None for _, side in contexts):
        return None
    parts = (VariancePart(variance=c * c * (side.context_variance or 0.0), df=side.contexts - 1) for c, side in contexts)
    overlaps = (replace(part, variance=c * c * part.variance) for c, side in contexts for part in side.overlap())
    return (VariancePart(variance=task, df=arms.first.test.effective_tasks - 1), *parts, *overlaps)


def find_obstacle(arms: ArmScores) -> str | None:
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


def find_correlation(arms: ArmScores, first: Coefficients, second: Coefficients) -> float:
    """Return the correlation of two sums, of shared arms' contexts too, cut to [0, 0.95]; 0 where either has no variance."""
    apart = {name: first.get(name, 0.0) - second.get(name, 0.0) for name in {**first, **second}}
    variances = [None if parts is None else total_variance(parts) for parts in (combine_parts(arms, c) for c in (first, second, apart))]
    v_first, v_second, v_apart = variances
    if v_first is None or v_second is None or v_apart is None or min(v_first, v_second) <= ZERO_VARIANCE:
        return 0.0
    covariance = (v_first + v_second - v_apart) / 2
    # A correlation near 1 would give MOVER an interval of almost no width.
    return min(_HIGHEST_CORRELATION, max(0.0, covariance / math.sqrt(v_first) / math.sqrt(v_second)))


def find_p(arms: ArmScores, coefficients: Coefficients) -> float | None:
    """Return the two-sided p of Σ coefficient · Φ = 0, from the standard error and degrees of freedom of ± h; None without a variance."""
    pair = _find_pair(coefficients)
    if pair is not None:
        return difference_p(arms.pair(*pair))
    parts = combine_parts(arms, coefficients)
    p = None if parts is None else one_sided_p(abs(combine(arms, coefficients)), parts, banerjee=arms.banerjee)
    return None if p is None else min(1.0, 2 * p)


def double_difference_interval(
    arms: ArmScores, first: tuple[str, str], second: tuple[str, str], *, level: float
) -> ConfidenceLimits | None:
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
    band = mover_limits(
        first=combine(arms, plus),
        first_limits=limits[0],
        second=combine(arms, minus),
        second_limits=limits[1],
        correlation=find_correlation(arms, plus, minus),
    )
    return ConfidenceLimits(low=max(-2.0, min(band.low, value - h)), high=min(2.0, max(band.high, value + h)))


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


def _combine_tasks(arms: ArmScores, coefficients: Coefficients) -> float | None:
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


# The ratio of two means over the same tasks, by inversion: r is in the interval if numerator − r ·
# denominator could be 0.
#
# Sources: E. C. Fieller, Journal of the Royal Statistical Society B 16 (1954) 175–185 (t test of y − r
# x); A. Donner & G. Y. Zou, Statistical Methods in Medical Research 21 (2012) 347–359 (MOVER-R: limits
# of both means instead of their variances); R. G. Newcombe, ibid. 25 (2016) 1774–1778 (numerators of
# either sign, by the inversion used here). Assumed: tasks are independent of each other.
#
# Where the denominator could be 0 the set of ratios is unbounded, and no ratio is reported; the ratios
# of the skill study lose their number for this reason. An inversion costs about five hundred
# evaluations of the interval.

NOT_IDENTIFIED = "not identified: the denominator's interval contains 0"

_DIRECTIONS = 514
_HALVINGS = 60
_SMALLEST = 1e-12


def fieller(numerator: Floats, denominator: Floats, *, level: float) -> Measure:
    """Return mean(numerator) / mean(denominator) with Fieller's interval, both given task by task.

    Args:
        numerator: one finite number per task, in any unit.
        denominator: one finite number per task, in the same order of tasks.
        level: nominal coverage, between 0 and 1, both excluded.

    The value is None when the denominator's own t interval contains 0, and with fewer than two tasks. There is no interval
    when numerator and denominator are in the same ratio in every task: nothing shows how tasks vary about it.

    Raises:
        ValueError: not two vectors of finite numbers of one length, or *level* outside its range.
    """
    check_vector(numerator)
    check_vector(denominator)
    check_level(level)
    if numerator.shape != denominator.shape:
        raise ValueError(f"numerator and denominator must be of one length, got {len(numerator)} and {len(denominator)}")
    n = len(numerator)
    if n < 2:
        return Measure(value=None, reason="no task" if n == 0 else "one task: nothing says how tasks vary")
    unit, base = _find_unit(numerator), _find_unit(denominator)
    y, x = divide_by_power_of_two(numerator), divide_by_power_of_two(denominator)
    mean_y, mean_x = (math.fsum(values.tolist()) / n for values in (y, x))
    quantile = float(stdtrit(n - 1, 0.5 + level / 2)) ** 2 / (n * (n - 1))
    off_y, off_x = y - mean_y, x - mean_x
    # The squares of half-widths, and their mixed term, at this level.
    yy, xy, xx = (quantile * math.fsum((a * b).tolist()) for a, b in ((off_y, off_y), (off_y, off_x), (off_x, off_x)))
    # The quadratic in r opens upwards only if the denominator's own interval excludes 0.
    square = mean_x**2 - xx
    if square <= SAME:
        return Measure(value=None, reason=NOT_IDENTIFIED)
    ratio, scale = mean_y / mean_x, math.ldexp(1.0, unit - base)
    rest = y - ratio * x
    if float(np.abs(rest).max()) <= SAME:
        return Measure(value=ratio * scale, reason="no variation: the ratio is the same in every task")
    middle = mean_x * mean_y - xy
    # Never negative but for rounding, because the point itself is kept.
    root = math.sqrt(max(0.0, middle**2 - square * (mean_y**2 - yy)))
    return Measure(value=ratio * scale, low=(middle - root) / square * scale, high=(middle + root) / square * scale)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioTerm:
    """Numerator or denominator: its estimate, and the limits from which MOVER recovers how it varies."""

    value: float
    limits: ConfidenceLimits


def ratio_interval(
    numerator: RatioTerm, denominator: RatioTerm, *, correlation: float, half_width: Callable[[float], float]
) -> ConfidenceLimits | None:
    """Return the interval of numerator/denominator: all r for which 0 lies in the interval of numerator − r · denominator.

    That interval is built as ED's is: the hull of the difference ± h (Fieller) and of MOVER (MOVER-R). The hull of the kept r is
    returned; None when it is unbounded because the denominator could be 0.

    Args:
        numerator: in the same unit as the denominator.
        denominator: its value must not be 0.
        correlation: of both, in [0, 1).
        half_width: h of numerator − r · denominator, given r.
    """

    def keeps(ratio: float) -> bool:
        if abs(numerator.value - ratio * denominator.value) <= half_width(ratio):
            return True
        ends = sorted((ratio * denominator.limits.low, ratio * denominator.limits.high))
        band = mover_limits(
            first=numerator.value,
            first_limits=numerator.limits,
            second=ratio * denominator.value,
            second_limits=ConfidenceLimits(low=ends[0], high=ends[1]),
            # A negative ratio turns the sign of the second term's correlation; 0 is the cautious choice
            # there.
            correlation=correlation if ratio >= 0 else 0.0,
        )
        return band.low <= 0 <= band.high

    point = numerator.value / denominator.value
    # The largest numerator that its limits or h allow sets the scale of the search.
    reach = max(abs(numerator.limits.low), abs(numerator.limits.high), abs(numerator.value) + half_width(0.0)) / abs(denominator.value)
    # Angles are equally spaced, not ratios, so the ends of the grid are practically infinite.
    angles = np.linspace(-math.pi / 2, math.pi / 2, _DIRECTIONS)[1:-1]
    grid = sorted({point, *(max(reach, _SMALLEST) * np.tan(angles)).tolist()})
    kept = [place for place, ratio in enumerate(grid) if ratio == point or keeps(ratio)]
    # A kept ratio at the end of the grid means that the set is unbounded: the denominator could be 0.
    if kept[0] == 0 or kept[-1] == len(grid) - 1:
        return None
    low = _find_edge(keeps, kept=grid[kept[0]], beyond=grid[kept[0] - 1])
    return ConfidenceLimits(low=low, high=_find_edge(keeps, kept=grid[kept[-1]], beyond=grid[kept[-1] + 1]))


def _find_edge(keeps: Callable[[float], bool], *, kept: float, beyond: float) -> float:
    """Return the ratio between *kept* and *beyond* up to which ratios are kept."""
    for _ in range(_HALVINGS):
        middle = (kept + beyond) / 2
        kept, beyond = (middle, beyond) if keeps(middle) else (kept, middle)
    return kept


def _find_unit(values: Floats) -> int:
    return math.frexp(float(np.abs(values).max(initial=0.0)))[1]


# Ratios of two means, and of two differences of means, between the arms of a table. h and the limits
# are those of ED. A ratio is not identified if the interval of its denominator contains 0.


def ratio_of_means(arms: ArmScores, first: str, second: str, *, scale: ScoreScale, level: float) -> Measure:
    """Return Φ_first / Φ_second in the unit of the score, so that a range that does not begin at 0 counts from its own 0.

    None where nothing says how tasks or contexts vary, and where the interval of Φ_second contains 0.
    """
    above, below = find_side_intervals(arms.pair(first, second), level=level)
    if above is None or below is None:
        return Measure(value=None, reason=find_obstacle(arms))
    if _contains_zero(_stretch(scale, below.hull)):
        return Measure(value=None, reason=NOT_IDENTIFIED)
    terms = (
        RatioTerm(value=scale.stretch(arms.side(first).mean), limits=_stretch(scale, above.exact)),
        RatioTerm(value=scale.stretch(arms.side(second).mean), limits=_stretch(scale, below.exact)),
    )
    measure = _divide(arms, {first: 1.0}, {second: 1.0}, terms=terms, width=scale.width, level=level)
    # Means of scores that are never negative have a ratio that is not.
    return measure if scale.low < 0 or measure.low is None else Measure(value=measure.value, low=max(0.0, measure.low), high=measure.high)


def ratio_of_differences(arms: ArmScores, above: tuple[str, str], below: tuple[str, str], *, level: float) -> Measure:
    """Return (Φ − Φ)/(Φ − Φ), a ratio of means of the tasks' differences; it has no unit.

    None where nothing says how tasks or contexts vary, and where the interval of the denominator contains 0.
    """
    limits = [difference_interval(arms.pair(*pair), level=level) for pair in (above, below)]
    if find_obstacle(arms) is not None or limits[0] is None or limits[1] is None:
        return Measure(value=None, reason=find_obstacle(arms))
    if _contains_zero(limits[1]):
        return Measure(value=None, reason=NOT_IDENTIFIED)
    first, second = ({ahead: 1.0, behind: -1.0} for ahead, behind in (above, below))
    terms = RatioTerm(value=combine(arms, first), limits=limits[0]), RatioTerm(value=combine(arms, second), limits=limits[1])
    return _divide(arms, first, second, terms=terms, width=1.0, level=level)


def _divide(
    arms: ArmScores, first: Coefficients, second: Coefficients, *, terms: tuple[RatioTerm, RatioTerm], width: float, level: float
) -> Measure:
    numerator, denominator = terms
    limits = ratio_interval(
        numerator, denominator, correlation=find_correlation(arms, first, second), half_width=_measure(arms, first, second, width, level)
    )
    if limits is None:
        return Measure(value=None, reason=NOT_IDENTIFIED)
    return Measure(value=numerator.value / denominator.value, low=limits.low, high=limits.high)


def _measure(arms: ArmScores, first: Coefficients, second: Coefficients, width: float, level: float) -> Callable[[float], float]:
    """Return the function that gives h of first − ratio · second."""

    def measure(ratio: float) -> float:
        parts = combine_parts(arms, subtract(first, second, times=ratio))
        return 0.0 if parts is None else width * half_width(parts, level=level, banerjee=arms.banerjee)

    return measure


def _contains_zero(limits: ConfidenceLimits) -> bool:
    return limits.low <= 0 <= limits.high


def _stretch(scale: ScoreScale, limits: ConfidenceLimits) -> ConfidenceLimits:
    return ConfidenceLimits(low=scale.stretch(limits.low), high=scale.stretch(limits.high))


# Levels and p-values for several comparisons: S. Holm, Scandinavian Journal of Statistics 6 (1979)
# 65–70.
#
# All comparisons requested in one call count, also those without a p. Requesting more costs power.


def holm_levels(count: int, *, level: float) -> tuple[float, ...]:
    """Return the level of the k-th interval, k = 1 … count, ordered by p: 1 − α/(count − k + 1) with α = 1 − level.

    Raises:
        ValueError: *count* is below 1 or *level* not between 0 and 1.
    """
    if count < 1 or not 0 < level < 1:
        raise ValueError(f"count must be at least 1 and level lie in (0, 1), got {count} and {level}")
    # The last level is the plan's own, to the bit.
    return tuple(level if remaining == 1 else 1 - (1 - level) / remaining for remaining in range(count, 0, -1))


def holm_p(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return the adjusted p of each comparison, in the order given: max over j ≤ k of (m − j + 1) p₍ⱼ₎, at most 1.

    m counts all comparisons that were asked for. None, a comparison without a p, stays None and counts as one that is not rejected.

    Raises:
        ValueError: a p lies outside [0, 1].
    """
    if not all(p is None or 0 <= p <= 1 for p in p_values):
        raise ValueError(f"p-values must lie in [0, 1], got {list(p_values)}")
    ordered = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: dict[int, float] = {}
    largest = 0.0
    for rank, (p, place) in enumerate(ordered):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p))
        adjusted[place] = largest
    return tuple(adjusted.get(place) for place in range(len(p_values)))


# Levels for intervals under Holm's rule: ordered by p, stepping down as long as the interval at the
# level of the step excludes no difference. So intervals and decisions agree. The intervals are read as
# in `audit.verdict.claim_classification`.

Excludes = Callable[[float], bool]
"""Whether a comparison's interval at a level excludes no difference."""


def step_down(comparisons: Sequence[Excludes], ps: Sequence[float | None], *, level: float) -> tuple[float, ...]:
    """Return the level at which each comparison's interval is to be given, in the order of *comparisons*.

    The comparison with the k-th smallest p gets 1 − α/(m − k + 1) as long as every interval so far excludes no difference. The first
    that does not stops the steps, and all later ones are given at its level: so an interval at its level excludes no difference
    exactly when Holm's rule rejects, if intervals are never shorter than those that p comes from. A comparison without p comes first if
    its interval at the strictest level excludes no difference, and last if it does.

    Raises:
        ValueError: as many p as comparisons are needed, and a level between 0 and 1.
    """
    if not comparisons:
        return ()
    levels = holm_levels(len(comparisons), level=level)
    place = dict(zip(range(len(comparisons)), ps, strict=True))
    known = {k: p if p is not None else (0.0 if comparisons[k](levels[0]) else 1.0) for k, p in place.items()}
    level_of, stopped = dict.fromkeys(known, level), None
    for step, k in enumerate(sorted(known, key=lambda k: (known[k], k))):
        level_of[k] = stopped or levels[step]
        if stopped is None and not comparisons[k](levels[step]):
            stopped = levels[step]
    return tuple(level_of[k] for k in range(len(comparisons)))


# Simultaneous intervals for several contrasts of the same tasks: max-|t| with shared bootstrap weights.
#
# Sources: P. H. Westfall & S. S. Young, Resampling-Based Multiple Testing (Wiley 1993), section 2.5; T.
# Hothorn, F. Bretz & P. Westfall, Biometrical Journal 50 (2008) 346–363 (simultaneous intervals from
# the joint distribution of the t statistics); Z. Šidák, Journal of the American Statistical Association
# 62 (1967) 626–633 (independence is the widest case).

ENOUGH_UNITS = 20
"""Below so many tasks or contexts their resampled sums have too short tails: with five, intervals held jointly in 88 to 92 % of samples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SimultaneousLevel:
    """What each of several intervals must be made at, so that all of them hold at once."""

    critical: float
    """estimate ± critical · standard error."""

    level: float
    """The same as the level of each interval taken alone, for half-widths with degrees of freedom of their own."""

    def limits(self, estimate: float, standard_error: float) -> ConfidenceLimits:
        """Return the simultaneous interval of one contrast."""
        return ConfidenceLimits(low=estimate - self.critical * standard_error, high=estimate + self.critical * standard_error)


def find_simultaneous(
    differences: Floats,
    standard_errors: Floats,
    *,
    level: float,
    replicates: int,
    seed: int,
    contexts: Sequence[Floats] = (),
) -> SimultaneousLevel | None:
    """Return the critical value for m contrasts, all resampled with the same weights; None when no contrast has a standard error.

    The statistic of a replicate is the largest |estimate* − estimate|/SE. Its quantile is that of nearly normal statistics; with
    few tasks the standard errors vary too, so it is transferred to Student's t: the level at which the normal quantile is the
    bootstrap's gives the t quantile with (fewest tasks of a contrast) − 1 degrees of freedom. So it is never below the t
    quantile of a single interval, and never above Bonferroni's, which is enough whatever the correlation. It is Bonferroni's without
    replicates, and where a contrast rests on fewer than `ENOUGH_UNITS` tasks, or contexts.

    What of SE² neither *differences* nor *contexts* account for is simulated apart for each contrast, which is conservative.

    Args:
        differences: [tasks, m], the difference of each task in each contrast; NaN where a task lacks one.
        standard_errors: of the m estimates, all parts included; NaN or 0 leaves the contrast out.
        level: to hold jointly, between 0 and 1.
        replicates: 0 or more.
        seed: of the weights.
        contexts: for each sampled set of contexts [contexts, m], the share of each context in the estimate's deviation
            (Σ over tasks of a(m − Φ)/T); NaN where it has none.

    Raises:
        ValueError: shapes do not fit, *level* is not between 0 and 1, or *replicates* is negative.
    """
    _check(differences, standard_errors, contexts, level=level, replicates=replicates)
    tasks = np.count_nonzero(~np.isnan(differences), axis=0)
    used = np.flatnonzero((tasks >= 2) & (standard_errors > math.sqrt(ZERO_VARIANCE)))
    if not len(used):
        return None
    df = int(tasks[used].min()) - 1
    # Bonferroni holds whatever the correlation, so it is the upper limit of the joint level and the
    # fallback.
    bonferroni = 1 - (1 - level) / len(used)
    errors = standard_errors[used]
    rank = math.ceil((replicates + 1) * level)
    joint = bonferroni
    if rank <= replicates and _count_fewest([differences[:, used], *(part[:, used] for part in contexts)]) >= ENOUGH_UNITS:
        parts = [_deviate(differences[:, used] - np.nanmean(differences[:, used], axis=0), divisor=tasks[used])]
        parts += [_deviate(part[:, used], divisor=1) for part in contexts]
        largest = _resample(parts, errors, replicates=replicates, seed=seed)
        reached = float(2 * ndtr(np.partition(largest, rank - 1)[rank - 1]) - 1)
        joint = min(bonferroni, max(level, reached))
    return SimultaneousLevel(critical=float(stdtrit(df, 0.5 + joint / 2)), level=joint)


def _check(differences: Floats, standard_errors: Floats, contexts: Sequence[Floats], *, level: float, replicates: int) -> None:
    contrasts = standard_errors.shape
    if len(contrasts) != 1 or any(part.ndim != 2 or part.shape[1:] != contrasts for part in (differences, *contexts)):
        shapes = ", ".join(str(part.shape) for part in (differences, *contexts))
        raise ValueError(f"expected matrices with one column for each of {contrasts} standard errors, got {shapes}")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, got {level}")
    if replicates < 0:
        raise ValueError(f"replicates must not be negative, got {replicates}")


def _count_fewest(parts: Sequence[Floats]) -> int:
    """The fewest tasks, or contexts, that any contrast rests on; contexts that a contrast has none of do not count."""
    counts = np.concatenate([np.count_nonzero(~np.isnan(part), axis=0) for part in parts])
    return int(counts[counts > 0].min())


def _deviate(deviations: Floats, *, divisor: int | Floats) -> Floats:
    """Deviations such that their squares add up to the part's variance; in an order that names cannot change."""
    present = np.count_nonzero(~np.isnan(deviations), axis=0)
    scaled: Floats = np.nan_to_num(deviations / divisor * np.sqrt(present / np.maximum(1, present - 1)), nan=0.0)
    return scaled[np.lexsort(scaled.T)]


def _resample(parts: Sequence[Floats], errors: Floats, *, replicates: int, seed: int) -> Floats:
    """The largest |t*| of each replicate."""
    explained = np.sum([np.sum(part**2, axis=0) for part in parts], axis=0)
    # A remainder that is only rounding would add noise of its own.
    rest = np.sqrt(np.where(errors**2 - explained > 1e-9 * explained, errors**2 - explained, 0.0))
    scale = np.sqrt(np.maximum(errors**2, explained))
    rows = count_rows(max(len(part) for part in parts))
    maxima = []
    for block in range(-(-replicates // rows)):
        stream = open_stream(seed, block)
        total: Floats = ndtri(draw_uniforms(stream, rows=rows, columns=len(errors))) * rest
        for part in parts:
            # Deviations add up to 0, so weights need no centring.
            total += draw_weights(stream, rows=rows, units=len(part)) @ part
        maxima.append(np.abs(total / scale).max(axis=1))
    return np.concatenate(maxima)[:replicates] if maxima else np.empty(0)
