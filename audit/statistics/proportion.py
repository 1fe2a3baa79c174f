"""An interval for the mean score of one side, whose scores come in clusters.

Sources: E. L. Korn & B. I. Graubard, Survey Methodology 24 (1998) 193–201; NCHS, Vital and Health Statistics 2(175), 2017: the exact
binomial interval of C. J. Clopper & E. S. Pearson, Biometrika 26 (1934), at the sample size that the clusters are worth.
Assumed: what `audit.statistics.moments` assumes.
"""

from dataclasses import dataclass

from scipy.special import betaincinv, ndtri

from audit.statistics.halfwidth import ZERO_VARIANCE, half_width, total_variance
from audit.statistics.moments import SideMoments

_SMALLEST_SIZE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Lower and upper end of an interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SideInterval:
    """The interval of one side, and the exact limits that the interval of the difference is made from."""

    exact: Limits
    """Clopper–Pearson at the effective size."""

    hull: Limits
    """What is reported: the exact limits and Φ ± h together, cut to [0, 1]."""


def clopper_pearson(*, successes: float, trials: float, level: float) -> Limits:
    """Return the exact binomial limits; counts may be fractions.

    Args:
        successes: between 0 and *trials*.
        trials: above 0.
        level: nominal coverage, between 0 and 1, both excluded.

    Raises:
        ValueError: an argument lies outside its range.
    """
    if not (trials > 0 and 0 <= successes <= trials and 0 < level < 1):
        raise ValueError(f"successes must lie in [0, trials] and level in (0, 1), got {successes}, {trials}, {level}")
    tail = (1 - level) / 2
    failures = trials - successes
    low = 0.0 if successes <= 0 else float(betaincinv(successes, failures + 1, tail))
    high = 1.0 if failures <= 0 else float(betaincinv(successes + 1, failures, 1 - tail))
    return Limits(low=low, high=high)


def side_interval(side: SideMoments, *, random: bool, banerjee: bool, binary: bool, level: float) -> SideInterval | None:
    """Return the interval for Φ of one side, in [0, 1]; None when its variance cannot be estimated.

    Never of zero width: without variance the tasks are counted, so 0 of 20 gives [0, 0.168] at 95 %.
    """
    parts = side.parts(random=random)
    if parts is None:
        return None
    h = half_width(parts, level=level, banerjee=banerjee)
    size = side.effective_tasks
    if total_variance(parts) > ZERO_VARIANCE:
        size = max(_SMALLEST_SIZE, side.mean * (1 - side.mean) * (float(ndtri(0.5 + level / 2)) / h) ** 2)
        size = min(size, side.responses) if binary else size
    # Rounding may put a product above its factor.
    exact = clopper_pearson(successes=min(size * side.mean, size), trials=size, level=level)
    hull = Limits(low=max(0.0, min(exact.low, side.mean - h)), high=min(1.0, max(exact.high, side.mean + h)))
    return SideInterval(exact=exact, hull=hull)
