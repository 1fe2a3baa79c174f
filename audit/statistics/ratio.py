"""The ratio of two means over the same tasks, by inversion: every ratio r is kept for which numerator − r · denominator could be 0.

Sources: E. C. Fieller, Journal of the Royal Statistical Society B 16 (1954) 175–185 (t test of y − r x); A. Donner & G. Y. Zou,
Statistical Methods in Medical Research 21 (2012) 347–359 (MOVER-R: limits of both means instead of their variances). Assumed: tasks
are independent of each other. Where the denominator could be 0 the set of ratios is unbounded, and no ratio is given.
"""

import math

import numpy as np
from scipy.special import stdtrit

from audit.statistics.paired import SAME, check_level, check_vector, divide_by_power_of_two
from audit.statistics.scores import Floats
from registry.records.measure import Measure

NOT_IDENTIFIED = "not identified: the denominator's interval contains 0"


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


def _find_unit(values: Floats) -> int:
    return math.frexp(float(np.abs(values).max(initial=0.0)))[1]
