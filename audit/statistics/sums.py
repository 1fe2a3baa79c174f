"""Sums that do not depend on the order of their terms, so that a shuffled table gives the same bits.

A value in [−1, 1] is split into two integers, its multiples of 2⁻²⁶ and of 2⁻⁵³; sums of integers below 2⁵³ are exact in
double precision whatever the order. What is lost is at most 2⁻⁵⁴ per value. Good for 2²⁶ (67 million) values a group.
"""

import math

import numpy as np
import numpy.typing as npt

from audit.statistics.scores import Floats

_COARSE = 2.0**26
_FINE = 2.0**53


def sum_groups(values: Floats, groups: npt.NDArray[np.integer], *, size: int) -> Floats:
    """Return the sum of *values* (each in [−2, 2]) in each of the groups 0 … size − 1; 0 for an empty group."""
    coarse = np.rint(values * _COARSE)
    fine = np.rint((values - coarse / _COARSE) * _FINE)
    high = np.bincount(groups, weights=coarse, minlength=size)
    low = np.bincount(groups, weights=fine, minlength=size)
    return high / _COARSE + low / _FINE


def sum_all(values: Floats) -> float:
    """Return the correctly rounded sum of a vector (Shewchuk's algorithm, `math.fsum`)."""
    return math.fsum(values.tolist())


def sum_many(values: Floats) -> float:
    """Return the order-free sum of a long vector of values in [−2, 2]; faster than `sum_all` and as exact as `sum_groups`."""
    coarse = np.rint(values * _COARSE)
    fine = np.rint((values - coarse / _COARSE) * _FINE)
    return float(np.sum(coarse)) / _COARSE + float(np.sum(fine)) / _FINE
