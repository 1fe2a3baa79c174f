"""Half-width of a t interval whose variance is a sum of parts with few degrees of freedom each.

Sources: F. E. Satterthwaite, Biometrics Bulletin 2 (1946) 110–114, for mean squares with coefficients of either sign; in full tables of
two crossed factors these are Kenward & Roger's degrees of freedom too (Biometrics 53 (1997) 983–997; a test quotes R's pbkrtest).
S. K. Banerjee, Sankhyā 22 (1960) 357–358: squared t quantiles, weighted by the parts; it needs no degrees of freedom of the sum.
Assumed: the parts are independent, and each, divided by its expectation, is near χ²(df)/df.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scipy.special import stdtr, stdtrit

ZERO_VARIANCE = 1e-15
"""On the scale of scores in [0, 1], a variance up to this counts as none."""

_HALVINGS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One component of a variance."""

    variance: float
    """Negative for what two other parts both contain: it is subtracted once."""

    df: float
    """Degrees of freedom it was estimated with, at least 1; a fraction where tasks have weights."""


def total_variance(parts: Sequence[Part]) -> float:
    """Return the sum of the parts, never below the largest of them, the same in whatever order they come; 0 without parts."""
    return max(math.fsum(part.variance for part in parts), max((part.variance for part in parts), default=0.0))


def half_width(parts: Sequence[Part], *, level: float, banerjee: bool) -> float:
    """Return h such that estimate ± h covers at *level*; 0 when there is no variance.

    With *banerjee* each part has the t quantile of its own degrees of freedom and nothing is subtracted (conservative);
    otherwise the sum has the quantile of Satterthwaite's (never below 1).
    """
    variance = total_variance(parts)
    if variance <= 0:
        return 0.0
    upper = 0.5 + level / 2
    if banerjee:
        return math.sqrt(math.fsum(float(stdtrit(part.df, upper)) ** 2 * part.variance for part in parts if part.variance > 0))
    return float(stdtrit(satterthwaite_df(parts), upper)) * math.sqrt(variance)


def satterthwaite_df(parts: Sequence[Part]) -> float:
    """Return the effective degrees of freedom V²/Σ(vᵢ²/dfᵢ), of negative parts too, at least 1; the variance must not be zero."""
    # Shares of the variance are squared instead of variances: tiny ones would underflow.
    variance = total_variance(parts)
    return max(1.0, 1.0 / math.fsum((part.variance / variance) ** 2 / part.df for part in parts))


def one_sided_p(distance: float, parts: Sequence[Part], *, banerjee: bool) -> float | None:
    """Return the p at which an interval of the same form, one-sided, just reaches *distance*; None without a variance.

    *distance* counts in the direction of the alternative: p falls from 1 through 0.5 at 0.
    """
    variance = total_variance(parts)
    if variance <= ZERO_VARIANCE:
        return None
    if not banerjee:
        return float(stdtr(satterthwaite_df(parts), -distance / math.sqrt(variance)))
    if distance < 0:
        return 1.0 - _smallest_p(lambda level: half_width(parts, level=level, banerjee=True) < -distance)
    return _smallest_p(lambda level: half_width(parts, level=level, banerjee=True) < distance)


def _smallest_p(excludes: Callable[[float], bool]) -> float:
    """Return the smallest one-sided p in (0, 0.5] whose interval, at level 1 − 2p, *excludes* the hypothesis.

    Halves on the logarithm of p; below 1e−16 the level cannot be told from 1 and the smallest p that can is returned.
    """
    low, high = math.log(1e-16), math.log(0.5)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if excludes(1.0 - 2.0 * math.exp(middle)):
            high = middle
        else:
            low = middle
    return math.exp(high)
