"""How two numbers per unit go together, with an interval: Pearson's r and Spearman's rank correlation.

Sources: R. A. Fisher 1915, 1921 (z = artanh r, variance 1/(n − 3)); D. G. Bonett & T. A. Wright, Psychometrika 65 (2000) 23–28 (ranks:
variance (1 + r²/2)/(n − 3)). Assumed: units are independent of each other; for Pearson's interval, both are near normal together.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtr

from audit.statistics.paired import SAME, check_level, check_vector, divide_by_power_of_two, rank_doubled
from audit.statistics.scores import Floats
from registry.records.measure import HypothesisTest, Measure

FEWEST = 4
"""Below this many units the interval's variance does not exist."""

EXACT_UP_TO = 8
"""Up to this many units Spearman's p counts all n! orders."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """A correlation with its interval, and the test that it is 0."""

    measure: Measure
    test: HypothesisTest

    @property
    def p(self) -> float | None:
        """Two-sided p of no correlation; None where `test` gives its reason."""
        return self.test.p


def pearson(first: Floats, second: Floats, *, level: float) -> Correlation:
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
    return Correlation(measure=_bound(r, variance=1 / (n - 3), level=level), test=_test(r, n=n, method=method))


def spearman(first: Floats, second: Floats, *, level: float) -> Correlation:
    """Return Spearman's rank correlation (mid-ranks for ties) with the interval of Bonett & Wright, and its two-sided test.

    p is exact up to eight units (all n! orders of the ranks, ties included), and from t with n − 2 degrees of freedom above.
    None as in `pearson`, except that the exact p exists at ±1 too.

    Raises:
        ValueError: as in `pearson`.
    """
    n = _check(first, second, level=level)
    exact = n <= EXACT_UP_TO
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
        return Correlation(measure=measure, test=test)
    return Correlation(measure=measure, test=_test(r, n=n, method=method))


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


def _refuse(reason: str, *, method: str, n: int) -> Correlation:
    test = HypothesisTest(statistic=None, p=None, method=method, n=n, reason=reason)
    return Correlation(measure=Measure(value=None, reason=reason), test=test)


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
    # What is within rounding of ±1 is ±1: artanh would turn the rest into a false, finite interval.
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
    # Doubled ranks are whole numbers, and so is n times their covariance: nothing is lost in comparing.
    a, b = first.astype(np.int64), second.astype(np.int64)
    orders = np.array(list(itertools.permutations(range(n))), dtype=np.intp)
    middle = int(a.sum()) * int(b.sum())
    products = n * (b[orders] @ a) - middle
    seen = abs(n * int(a @ b) - middle)
    return int(np.count_nonzero(np.abs(products) >= seen)) / math.factorial(n)
