"""An interval for the difference of two means over the same tasks.

Sources: R. G. Newcombe, Statistics in Medicine 17 (1998) 873–890 and 2635–2650 (paired); G. Y. Zou & A. Donner, Statistics in
Medicine 27 (2008) 1693–1702 (MOVER: the method of variance estimates recovery).
Assumed: what `audit.statistics.moments` assumes.
"""

import math

from audit.statistics.halfwidth import ZERO_VARIANCE, half_width, total_variance
from audit.statistics.moments import Moments
from audit.statistics.proportion import Limits, SideInterval, side_interval

_LOWEST_CORRELATION, _HIGHEST_CORRELATION = -1.0, 0.95


def mover(*, first: float, first_limits: Limits, second: float, second_limits: Limits, correlation: float) -> Limits:
    """Return limits for first − second from the limits of each and the correlation of the two estimates."""
    difference = first - second
    return Limits(
        low=difference - _combine(first - first_limits.low, second_limits.high - second, correlation),
        high=difference + _combine(first_limits.high - first, second - second_limits.low, correlation),
    )


def difference_interval(moments: Moments, *, level: float) -> Limits | None:
    """Return the interval for ED: the hull of ED ± h and MOVER, cut to [−1, 1].

    None when the design has one task, or one random context on a side.
    """
    return join_sides(moments, find_side_intervals(moments, level=level), level=level, correlation=task_correlation(moments))


def join_sides(
    moments: Moments, sides: tuple[SideInterval | None, SideInterval | None], *, level: float, correlation: float
) -> Limits | None:
    """Return the hull of ED ± h and MOVER from the exact limits of the sides, cut to [−1, 1]; None without one of them, or without V."""
    parts, (test, deploy) = moments.parts(), sides
    if parts is None or test is None or deploy is None:
        return None
    h = half_width(parts, level=level, banerjee=moments.banerjee)
    band = mover(
        first=moments.test.mean,
        first_limits=test.exact,
        second=moments.deploy.mean,
        second_limits=deploy.exact,
        correlation=correlation,
    )
    difference = moments.difference
    return Limits(low=max(-1.0, min(band.low, difference - h)), high=min(1.0, max(band.high, difference + h)))


def find_side_intervals(moments: Moments, *, level: float) -> tuple[SideInterval | None, SideInterval | None]:
    """Return the intervals of the test and of the deployment side; each None when it cannot be given."""
    test, deploy = (
        side_interval(side, random=moments.random, banerjee=moments.banerjee, binary=moments.binary, level=level)
        for side in (moments.test, moments.deploy)
    )
    return test, deploy


def task_correlation(moments: Moments) -> float:
    """Return the covariance over tasks as a share of the two whole variances, cut to [−1, 0.95].

    −1 where neither side shows any variance, since nothing then says how they vary together; 0 where one of them shows none.
    """
    test, deploy = moments.test.parts(random=moments.random), moments.deploy.parts(random=moments.random)
    if moments.covariance is None or test is None or deploy is None:
        return 0.0
    variances = total_variance(test), total_variance(deploy)
    if min(variances) <= ZERO_VARIANCE:
        return _LOWEST_CORRELATION if max(variances) <= ZERO_VARIANCE else 0.0
    spread = math.sqrt(variances[0]) * math.sqrt(variances[1])
    return min(_HIGHEST_CORRELATION, max(_LOWEST_CORRELATION, moments.covariance / spread))


def _combine(first: float, second: float, correlation: float) -> float:
    # Rounding may leave a tiny negative number under the root.
    return math.sqrt(max(0.0, first * first + second * second - 2 * correlation * first * second))
