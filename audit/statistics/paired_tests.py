"""Tests, effect size and correlations of paired numbers, one pair per task."""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import nctdtr, ndtr, ndtri, stdtr

from audit.statistics.responses import Floats
from registry.records.estimates import HypothesisTest, Measure

# Tests and effect size of one difference per task.
#
# Sources: Student 1908 (t); F. Wilcoxon, Biometrics Bulletin 1 (1945) 80–83, exact with ties by the
# distribution of sign flips over mid-ranks (E. L. Lehmann, Nonparametrics, 1975, section 3.2); J. H.
# Steiger & R. T. Fouladi, Noncentrality interval estimation, 1997 (d with the noncentral t). Assumed:
# tasks are independent of each other. Contexts are taken as fixed, not as a sample.

SAME = 1e-12
"""Numbers this close, times the largest size among them, count as equal: what is closer is left over from arithmetic."""

EXACT_SIGNS_UP_TO = 20
"""Up to this many non-zero differences all sign flips are counted."""

_LARGEST_T = 1e4
"""The noncentral t was checked up to here."""

_HALVINGS = 70


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spread:
    """Differences divided by a power of two, so that no square over- or underflows; what is made of them has no unit."""

    mean: float
    deviation: float
    """Standard deviation (n − 1), above 0."""
    n: int

    @property
    def t(self) -> float:
        return self.mean / self.deviation * math.sqrt(self.n)


def paired_t(differences: Floats) -> HypothesisTest:
    """Return the two-sided t test of mean difference 0, with n − 1 degrees of freedom.

    Args:
        differences: one finite number per task, in any unit; 0 means no difference.

    Statistic and p are None with fewer than two tasks or without variation between them.

    Raises:
        ValueError: *differences* is not a vector of finite numbers.
    """
    check_vector(differences)
    n = len(differences)
    method = f"paired t test on tasks, two-sided, {max(0, n - 1)} degrees of freedom"
    spread = _measure_spread(differences)
    if isinstance(spread, str):
        return HypothesisTest(statistic=None, p=None, method=method, n=n, reason=spread)
    return HypothesisTest(statistic=spread.t, p=2 * float(stdtr(n - 1, -abs(spread.t))), method=method, n=n)


def cohens_d(differences: Floats, *, level: float) -> Measure:
    """Return d_z = mean / standard deviation (n − 1) of the differences, with its interval from the noncentral t.

    d_z is in units of the spread between tasks, not of single scores. Not corrected for its bias in small samples. None with
    fewer than two tasks or without variation between them.

    Raises:
        ValueError: *differences* is not a vector of finite numbers, or *level* not between 0 and 1.
    """
    check_vector(differences)
    check_level(level)
    spread = _measure_spread(differences)
    if isinstance(spread, str):
        return Measure(value=None, reason=spread)
    value = spread.mean / spread.deviation
    # Beyond the range in which the noncentral t was checked, d is reported without an interval.
    if abs(spread.t) > _LARGEST_T:
        reason = f"tasks hardly vary compared with their mean (t = {spread.t:.3g}): the noncentral t cannot be inverted there"
        return Measure(value=value, reason=reason)
    low, high = (_find_noncentrality(spread.t, df=spread.n - 1, p=p) / math.sqrt(spread.n) for p in (0.5 + level / 2, 0.5 - level / 2))
    return Measure(value=value, low=low, high=high)


def wilcoxon_signed_rank(differences: Floats) -> HypothesisTest:
    """Return the two-sided signed-rank test of differences symmetric about 0; the statistic is W+, the ranks of positive ones summed.

    Zero method "wilcox": zeros are dropped, and `method` says how many; `n` counts what is left. Ties have mid-ranks. Up to 20
    non-zero differences p is exact, by all sign flips over the mid-ranks; above, from the normal curve with tie and continuity
    correction. Statistic and p are None when every difference is zero, or there is none.

    Raises:
        ValueError: *differences* is not a vector of finite numbers.
    """
    check_vector(differences)
    kept = differences[np.abs(differences) > SAME * float(np.abs(differences).max(initial=0.0))]
    n, dropped = len(kept), len(differences) - len(kept)
    zeros = "no zero" if not dropped else f"{dropped} zero{'s' if dropped > 1 else ''} dropped"
    exact = n <= EXACT_SIGNS_UP_TO
    how = "exact by sign flips over mid-ranks" if exact else "normal approximation with tie and continuity correction"
    method = f"Wilcoxon signed-rank test on tasks (W+), two-sided, {zeros} (zero method wilcox), {how}"
    if n == 0:
        reason = "every difference is zero" if dropped else "no task"
        return HypothesisTest(statistic=None, p=None, method=method, n=0, reason=reason)
    # Twice the mid-ranks are whole numbers, so the exact distribution can be counted in an integer
    # array.
    doubled = rank_doubled(np.abs(kept))
    positive = int(doubled[kept > 0].sum())
    p = _count_sign_flips(doubled, positive) if exact else _approximate(doubled, positive)
    return HypothesisTest(statistic=positive / 2, p=p, method=method, n=n)


def check_vector(values: Floats) -> None:
    """Raise ValueError unless *values* is a vector of finite numbers."""
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ValueError(
            f"expected a vector of finite numbers, got shape {values.shape} with {int((~np.isfinite(values)).sum())} not finite"
        )


def check_level(level: float) -> None:
    """Raise ValueError unless *level* lies between 0 and 1, both excluded."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level}")


def rank_doubled(values: Floats) -> npt.NDArray[np.int64]:
    """Return twice the mid-rank of each of *values*, at least one; a value within `SAME` of the next lower one is tied to it."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    first = np.concatenate(([True], np.diff(ordered) > SAME * float(np.abs(values).max())))
    group = np.cumsum(first) - 1
    start = np.flatnonzero(first)
    end = np.append(start[1:], len(values))
    ranks = np.empty(len(values), dtype=np.int64)
    # Places start + 1 … end share the rank (start + 1 + end)/2.
    ranks[order] = (start + 1 + end)[group]
    return ranks


def divide_by_power_of_two(values: Floats) -> Floats:
    """Return *values* brought near [−1, 1] without rounding."""
    largest = float(np.abs(values).max(initial=0.0))
    # For a subnormal number a single step would need an infinite factor.
    exponent = math.frexp(largest)[1]
    return np.ldexp(np.ldexp(values, -(exponent // 2)), -(exponent - exponent // 2))


def _measure_spread(differences: Floats) -> _Spread | str:
    """Return what t and d are made of, or why they do not exist."""
    n = len(differences)
    if n < 2:
        return "no task" if n == 0 else "one task: nothing says how tasks vary"
    scaled = divide_by_power_of_two(differences)
    if float(scaled.max()) - float(scaled.min()) <= SAME * float(np.abs(scaled).max()):
        return "no variation: the difference is the same in every task"
    mean = math.fsum(scaled.tolist()) / n
    return _Spread(mean=mean, deviation=math.sqrt(math.fsum(((scaled - mean) ** 2).tolist()) / (n - 1)), n=n)


def _count_sign_flips(doubled: npt.NDArray[np.int64], positive: int) -> float:
    """Return the share of the 2ⁿ equally likely signs whose rank sum lies as far from its middle as *positive*, on either side."""
    total = int(doubled.sum())
    ways = np.zeros(total + 1, dtype=np.int64)
    ways[0] = 1
    for rank in doubled.tolist():
        ways[rank:] += ways[:-rank].copy()
    distance = np.abs(2 * np.arange(total + 1) - total)
    return float(ways[distance >= abs(2 * positive - total)].sum() / 2.0 ** len(doubled))


def _approximate(doubled: npt.NDArray[np.int64], positive: int) -> float:
    """Return p from the normal curve: given the mid-ranks r, W+ has variance Σ r²/4, ties included."""
    ranks = doubled / 2
    distance = abs(positive / 2 - float(ranks.sum()) / 2)
    # Rank sums move in steps of at least 1/2; at distance 0 there is nothing to correct.
    corrected = max(0.0, distance - 0.5)
    return 2 * float(ndtr(-corrected / math.sqrt(float((ranks**2).sum()) / 4)))


def _find_noncentrality(t: float, *, df: int, p: float) -> float:
    """Return δ for which the noncentral t with *df* has P(T ≤ *t*) = *p*; P falls as δ rises."""
    width = math.sqrt(1 + t * t / (2 * df))
    # Near δ = t the noncentral t has about this standard deviation; the bracket then grows until it
    # holds the root.
    low, high = t - width, t + width
    while float(nctdtr(df, low, t)) < p:
        low -= width
    while float(nctdtr(df, high, t)) > p:
        high += width
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(nctdtr(df, middle, t)) > p else (low, middle)
    return (low + high) / 2


# Correlation of two numbers per unit, with an interval: Pearson's r and Spearman's rank correlation.
#
# Sources: R. A. Fisher 1915, 1921 (z = artanh r, variance 1/(n − 3)); D. G. Bonett & T. A. Wright,
# Psychometrika 65 (2000) 23–28 (ranks: variance (1 + r²/2)/(n − 3)). Assumed: units are independent of
# each other; for Pearson's interval, both numbers are near bivariate normal.

FEWEST = 4
"""Below this many units the interval's variance does not exist."""

EXACT_RANKS_UP_TO = 8
"""Up to this many units Spearman's p counts all n! orders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrelationInterval:
    """A correlation with its interval, and the test that it is 0."""

    measure: Measure
    test: HypothesisTest

    @property
    def p(self) -> float | None:
        """Two-sided p of no correlation; None where `test` gives its reason."""
        return self.test.p


def pearson(first: Floats, second: Floats, *, level: float) -> CorrelationInterval:
    """Return Pearson's r with Fisher's interval, and the two-sided t test of r = 0 with n − 2 degrees of freedom.

    Args:
        first: one finite number per unit.
        second: one finite number per unit, in the same order of units.
        level: nominal coverage, between 0 and 1, both excluded.

    r and p are None with fewer than four units or where one of the two does not vary; interval and p are None at r = ±1.

    Raises:
        ValueError: not two vectors of finite numbers of one length, or *level* outside its range.
    """
    n = _check(first, second, level=level)
    method = f"Pearson's r, t test with {max(0, n - 2)} degrees of freedom, two-sided"
    reason = _find_obstacle(first, second)
    if reason is not None:
        return _refuse(reason, method=method, n=n)
    r = _correlate(first, second)
    return CorrelationInterval(measure=_bound(r, variance=1 / (n - 3), level=level), test=_test(r, n=n, method=method))


def spearman(first: Floats, second: Floats, *, level: float) -> CorrelationInterval:
    """Return Spearman's rank correlation (mid-ranks for ties) with the interval of Bonett & Wright, and its two-sided test.

    p is exact up to eight units (all n! orders of the ranks, ties included), and from t with n − 2 degrees of freedom above.
    None as in `pearson`, except that the exact p exists at ±1 too.

    Raises:
        ValueError: as in `pearson`.
    """
    n = _check(first, second, level=level)
    exact = n <= EXACT_RANKS_UP_TO
    how = "exact over all orders" if exact else f"t approximation with {n - 2} degrees of freedom"
    method = f"Spearman's rank correlation, mid-ranks, {how}, two-sided"
    reason = _find_obstacle(first, second)
    if reason is not None:
        return _refuse(reason, method=method, n=n)
    ranks = rank_doubled(first).astype(np.float64), rank_doubled(second).astype(np.float64)
    r = _correlate(*ranks)
    measure = _bound(r, variance=(1 + r * r / 2) / (n - 3), level=level)
    if exact:
        test = HypothesisTest(statistic=r, p=_count_orders(*ranks), method=method, n=n)
        return CorrelationInterval(measure=measure, test=test)
    return CorrelationInterval(measure=measure, test=_test(r, n=n, method=method))


def _check(first: Floats, second: Floats, *, level: float) -> int:
    check_vector(first)
    check_vector(second)
    check_level(level)
    if first.shape != second.shape:
        raise ValueError(f"both vectors must be of one length, got {len(first)} and {len(second)}")
    return len(first)


def _find_obstacle(first: Floats, second: Floats) -> str | None:
    """Return why there is no correlation, or None."""
    if len(first) < FEWEST:
        return f"{len(first)} units: a correlation with an interval needs at least {FEWEST}"
    for name, values in (("first", first), ("second", second)):
        if float(values.max()) - float(values.min()) <= SAME * float(np.abs(values).max()):
            return f"no variation: the {name} of the two numbers is the same for every unit"
    return None


def _refuse(reason: str, *, method: str, n: int) -> CorrelationInterval:
    test = HypothesisTest(statistic=None, p=None, method=method, n=n, reason=reason)
    return CorrelationInterval(measure=Measure(value=None, reason=reason), test=test)


def _correlate(first: Floats, second: Floats) -> float:
    n = len(first)
    off = []
    for values in (first, second):
        scaled = divide_by_power_of_two(values)
        centred = scaled - math.fsum(scaled.tolist()) / n
        off.append(divide_by_power_of_two(centred))
    a, b = off
    xy, xx, yy = (math.fsum(product.tolist()) for product in (a * b, a * a, b * b))
    r = xy / (math.sqrt(xx) * math.sqrt(yy))
    # A value within rounding of ±1 is ±1. Otherwise artanh would turn the remainder into a false,
    # finite interval.
    return math.copysign(1.0, r) if abs(r) >= 1 - SAME else r


def _bound(r: float, *, variance: float, level: float) -> Measure:
    if abs(r) == 1:
        return Measure(value=r, reason="perfect correlation: Fisher's interval does not exist")
    half, z = float(ndtri(0.5 + level / 2)) * math.sqrt(variance), math.atanh(r)
    return Measure(value=r, low=math.tanh(z - half), high=math.tanh(z + half))


def _test(r: float, *, n: int, method: str) -> HypothesisTest:
    if abs(r) == 1:
        return HypothesisTest(statistic=None, p=None, method=method, n=n, reason="perfect correlation: t is not finite")
    t = r * math.sqrt((n - 2) / (1 - r * r))
    return HypothesisTest(statistic=t, p=2 * float(stdtr(n - 2, -abs(t))), method=method, n=n)


def _count_orders(first: Floats, second: Floats) -> float:
    """Return the share of all orders of *second* whose correlation with *first* is as far from 0, on either side."""
    n = len(first)
    # Doubled ranks are whole numbers, and so is n times their covariance, so the comparison is exact.
    a, b = first.astype(np.int64), second.astype(np.int64)
    orders = np.array(list(itertools.permutations(range(n))), dtype=np.intp)
    middle = int(a.sum()) * int(b.sum())
    products = n * (b[orders] @ a) - middle
    seen = abs(n * int(a @ b) - middle)
    return int(np.count_nonzero(np.abs(products) >= seen)) / math.factorial(n)
