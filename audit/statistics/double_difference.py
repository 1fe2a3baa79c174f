"""The difference of two differences, each between two replays of one side over the same tasks: how far ED itself moved.

Both differences are those of `audit.statistics.edits`, where the same contexts pair cell by cell: what a context, or a task, does to
both replays alike cancels. Sources and assumptions: `audit.statistics.moments`, and MOVER as in `audit.statistics.difference`, one
level up. One side's contexts are independent of the other's.
"""

import math
from dataclasses import dataclass

import numpy as np

from audit.statistics.difference import mover
from audit.statistics.edits import Edit, edit_interval
from audit.statistics.halfwidth import ZERO_VARIANCE, Part, half_width, total_variance
from audit.statistics.proportion import Limits
from audit.statistics.sums import sum_all

_HIGHEST_CORRELATION = 0.95


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DoubleDifference:
    """Two differences over exactly the same tasks, such as Φ_test after − before and Φ_deploy after − before; scores lie in [0, 1]."""

    first: Edit
    second: Edit

    @property
    def value(self) -> float:
        """First − second, in [−2, 2]."""
        return self.first.moments.difference - self.second.moments.difference

    @property
    def banerjee(self) -> bool:
        """Whether half-widths take Banerjee's form: contexts are a sample, and a side has fewer than five."""
        return self.first.moments.banerjee or self.second.moments.banerjee

    def parts(self) -> tuple[Part, ...] | None:
        """Return the parts of its variance: one of tasks, then the context parts of both; None where one of them cannot be estimated.

        Tasks are one cluster over all four means: their part is the variance of the mean of the tasks' own double differences.
        """
        one, two = self.first.moments.parts(), self.second.moments.parts()
        if one is None or two is None:
            return None
        tasks = self.first.moments.test.tasks
        deviations = self.first.differences - self.second.differences - self.value
        # A task that the replays do not all have is NaN.
        deviations = deviations[~np.isnan(deviations)]
        own = Part(variance=sum_all(deviations**2) / (tasks * (tasks - 1)), df=one[0].df)
        return (own, *one[1:], *two[1:])


def correlate(double: DoubleDifference) -> float:
    """Return the correlation of both differences, which tasks bring about, cut to [0, 0.95]; 0 where either has no variance."""
    apart, each = double.parts(), [edit.moments.parts() for edit in (double.first, double.second)]
    if apart is None or each[0] is None or each[1] is None:
        return 0.0
    first, second = (total_variance(parts) for parts in each if parts is not None)
    if min(first, second) <= ZERO_VARIANCE:
        return 0.0
    # Var(x − y) = Var x + Var y − 2 Cov(x, y), solved for the covariance.
    covariance = (first + second - total_variance(apart)) / 2
    return min(_HIGHEST_CORRELATION, max(0.0, covariance / math.sqrt(first) / math.sqrt(second)))


def double_difference_interval(double: DoubleDifference, *, level: float) -> Limits | None:
    """Return the hull of the value ± h and of MOVER from the intervals of both differences, cut to [−2, 2]; None without a variance."""
    parts = double.parts()
    first, second = (edit_interval(edit, level=level) for edit in (double.first, double.second))
    if parts is None or first is None or second is None:
        return None
    value, h = double.value, half_width(parts, level=level, banerjee=double.banerjee)
    band = mover(
        first=double.first.moments.difference,
        first_limits=first,
        second=double.second.moments.difference,
        second_limits=second,
        correlation=correlate(double),
    )
    return Limits(low=max(-2.0, min(band.low, value - h)), high=min(2.0, max(band.high, value + h)))
