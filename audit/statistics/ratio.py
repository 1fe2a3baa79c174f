"""The ratio of two means over the same tasks, by inversion: every ratio r is kept for which numerator − r · denominator could be 0.

Sources: E. C. Fieller, Journal of the Royal Statistical Society B 16 (1954) 175–185 (t test of y − r x); A. Donner & G. Y. Zou,
Statistical Methods in Medical Research 21 (2012) 347–359 (MOVER-R: limits of both means instead of their variances); R. G. Newcombe,
ibid. 25 (2016) 1774–1778 (numerators of either sign, by the inversion used here). Assumed: tasks are independent of each other. Where
the denominator could be 0 the set of ratios is unbounded, and no ratio is given.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtrit

from audit.statistics.difference import mover
from audit.statistics.paired import SAME, check_level, check_vector, divide_by_power_of_two
from audit.statistics.proportion import Limits
from audit.statistics.scores import Floats
from registry.records.measure import Measure

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
class Term:
    """Numerator or denominator: its estimate, and the limits from which MOVER recovers how it varies."""

    value: float
    limits: Limits


def ratio_interval(numerator: Term, denominator: Term, *, correlation: float, half_width: Callable[[float], float]) -> Limits | None:
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
        band = mover(
            first=numerator.value,
            first_limits=numerator.limits,
            second=ratio * denominator.value,
            second_limits=Limits(low=ends[0], high=ends[1]),
            correlation=correlation if ratio >= 0 else 0.0,
        )
        return band.low <= 0 <= band.high

    point = numerator.value / denominator.value
    # How far the numerator alone reaches, by its limits or by its own h: the scale on which ratios are looked for.
    reach = max(abs(numerator.limits.low), abs(numerator.limits.high), abs(numerator.value) + half_width(0.0)) / abs(denominator.value)
    # Directions instead of ratios: both ends of the grid are as good as infinite.
    angles = np.linspace(-math.pi / 2, math.pi / 2, _DIRECTIONS)[1:-1]
    grid = sorted({point, *(max(reach, _SMALLEST) * np.tan(angles)).tolist()})
    kept = [place for place, ratio in enumerate(grid) if ratio == point or keeps(ratio)]
    if kept[0] == 0 or kept[-1] == len(grid) - 1:
        return None
    low = _find_edge(keeps, kept=grid[kept[0]], beyond=grid[kept[0] - 1])
    return Limits(low=low, high=_find_edge(keeps, kept=grid[kept[-1]], beyond=grid[kept[-1] + 1]))


def _find_edge(keeps: Callable[[float], bool], *, kept: float, beyond: float) -> float:
    """Return the ratio between *kept* and *beyond* up to which ratios are kept."""
    for _ in range(_HALVINGS):
        middle = (kept + beyond) / 2
        kept, beyond = (middle, beyond) if keeps(middle) else (kept, middle)
    return kept


def _find_unit(values: Floats) -> int:
    return math.frexp(float(np.abs(values).max(initial=0.0)))[1]
