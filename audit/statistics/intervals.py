"""Intervals and p-values of one specification by any of the interval methods; scores lie in [0, 1]."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from audit.statistics.detectable_effect import POWER, minimum_detectable
from audit.statistics.mean_intervals import (
    ConfidenceLimits,
    SideInterval,
    difference_interval,
    difference_p,
    equivalence_p,
    find_side_intervals,
    guaranteed_difference,
    guaranteed_sides,
    one_sided_sequence_p,
    sequence_limits,
)
from audit.statistics.side_moments import ZERO_VARIANCE, Moments, half_width, total_variance
from registry.records.analysis_plan import IntervalMethod
from registry.records.estimates import ConfidenceSequence, ConfidenceSequences

# 45 halvings of log p from 1e−15 to 0.5 reach a relative precision of about 1e−12.
_HALVINGS = 45


# One entry point for the three interval methods, so that Holm's levels, p-values and sample sizes are
# computed alike for all. The basis can be read back from the record of an estimate, without its score
# table; an anytime estimate carries nine more numbers for this.
@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalBasis:
    """What the intervals of one specification are made from, at any level."""

    moments: Moments
    method: IntervalMethod = IntervalMethod.CLOSED_FORM
    sequence: ConfidenceSequences | None = None
    """Given exactly for anytime intervals."""

    @property
    def sequences(self) -> ConfidenceSequences:
        """The sequences of anytime intervals.

        Raises:
            ValueError: there are none.
        """
        if self.sequence is None:
            raise ValueError("anytime intervals need their confidence sequences")
        return self.sequence


def find_sides(grounds: IntervalBasis, *, level: float) -> tuple[ConfidenceLimits | None, ConfidenceLimits | None]:
    """Return the intervals of Φ_test and Φ_deploy, cut to [0, 1]; each None when nothing says how its tasks or contexts vary."""
    moments = grounds.moments
    match grounds.method:
        case IntervalMethod.CLOSED_FORM:
            test, deploy = find_side_intervals(moments, level=level)
            # The hull is reported. The exact limits only serve MOVER.
            return _hull(test), _hull(deploy)
        case IntervalMethod.GUARANTEED:
            test, deploy = guaranteed_sides(moments, level=level)
            return _hull(test), _hull(deploy)
        case IntervalMethod.ANYTIME:
            # A confidence sequence would exist even for one task, but then nothing shows how tasks
            # vary; all methods refuse alike.
            if moments.difference_variance is None:
                return None, None
            sequences = grounds.sequences
            return (
                _include(sequence_limits(sequences.phi_test, level=level), moments.test.mean, lowest=0.0),
                _include(sequence_limits(sequences.phi_deploy, level=level), moments.deploy.mean, lowest=0.0),
            )


def find_difference(grounds: IntervalBasis, *, level: float) -> ConfidenceLimits | None:
    """Return the interval of ED, cut to [−1, 1]; None when nothing says how tasks, or the contexts of a side, vary."""
    moments = grounds.moments
    match grounds.method:
        case IntervalMethod.CLOSED_FORM:
            return difference_interval(moments, level=level)
        case IntervalMethod.GUARANTEED:
            return guaranteed_difference(moments, level=level)
        case IntervalMethod.ANYTIME:
            if moments.difference_variance is None:
                return None
            middle = sequence_limits(grounds.sequences.ed, level=level)
            # The sequence runs over (d + 1)/2, which lies in [0, 1].
            return _include(ConfidenceLimits(low=2 * middle.low - 1, high=2 * middle.high - 1), moments.difference, lowest=-1.0)


def find_zero_p(grounds: IntervalBasis) -> float | None:
    """Return the two-sided p of ED = 0; None where there is no interval, and in closed form without a variance."""
    moments = grounds.moments
    match grounds.method:
        case IntervalMethod.CLOSED_FORM:
            return difference_p(moments)
        case IntervalMethod.GUARANTEED:
            # The hull of several limits has no test statistic of its own. Inverting the interval makes
            # p and interval agree.
            p = _invert(lambda level: find_difference(grounds, level=level), lambda limits: limits.low > 0 or limits.high < 0)
        case IntervalMethod.ANYTIME:
            p = None if moments.difference_variance is None else _sequence_p(grounds.sequences.ed, 0.5, point=(moments.difference + 1) / 2)
    return None if p is None else min(1.0, 2 * p)


def find_equivalence_p(grounds: IntervalBasis, *, margin: float) -> float | None:
    """Return the larger p of the two one-sided tests of |ED| ≥ *margin*; None as in `find_zero_p`."""
    moments = grounds.moments
    match grounds.method:
        case IntervalMethod.CLOSED_FORM:
            return equivalence_p(moments, margin=margin)
        case IntervalMethod.GUARANTEED:
            return _invert(
                lambda level: find_difference(grounds, level=level), lambda limits: -margin < limits.low and limits.high < margin
            )
        case IntervalMethod.ANYTIME:
            if moments.difference_variance is None:
                return None
            if abs(moments.difference) > margin:
                return 1.0
            # TOST reports the larger of two p-values; it belongs to the end of [−margin, margin] nearer
            # to the estimate.
            return one_sided_sequence_p(grounds.sequences.ed, margin / 2 - abs(grounds.sequences.ed.centre - 0.5))


def find_detectable(grounds: IntervalBasis, *, level: float) -> float | None:
    """Return the smallest |ED| that this design finds with 80 % power at *level*; None without a variance.

    What the interval reaches from the point towards 0, and the t.80 of the standard error; above 1 when no ED would be found.
    """
    moments, parts = grounds.moments, grounds.moments.parts()
    if parts is None or total_variance(parts) <= ZERO_VARIANCE:
        return None
    limits = find_difference(grounds, level=level)
    if grounds.method is IntervalMethod.CLOSED_FORM or limits is None:
        return minimum_detectable(parts, level=level, banerjee=moments.banerjee)
    down, up = moments.difference - limits.low, limits.high - moments.difference
    reach = max(down, up) if moments.difference == 0 else down if moments.difference > 0 else up
    return reach + half_width(parts, level=2 * POWER - 1, banerjee=moments.banerjee)


def _hull(side: SideInterval | None) -> ConfidenceLimits | None:
    return None if side is None else side.hull


def _include(limits: ConfidenceLimits, point: float, *, lowest: float) -> ConfidenceLimits:
    """The limits, widened to hold the point estimate (the centre of a sequence is another mean) and cut to [lowest, 1]."""
    return ConfidenceLimits(low=max(lowest, min(limits.low, point)), high=min(1.0, max(limits.high, point)))


def _sequence_p(sequence: ConfidenceSequence, goal: float, *, point: float) -> float:
    """One-sided p at which the interval, which holds *point*, leaves *goal*."""
    # The centre of the sequence weights tasks by their bets, so it can lie on the other side of the
    # goal than the mean.
    if (sequence.centre - goal) * (point - goal) <= 0:
        return 1.0
    return one_sided_sequence_p(sequence, abs(sequence.centre - goal))


def _invert(find: Callable[[float], ConfidenceLimits | None], excludes: Callable[[ConfidenceLimits], bool]) -> float | None:
    """Return the smallest one-sided p whose interval, at level 1 − 2p, *excludes* the hypothesis; 1.0 from 0.5 on, None without one.

    Halves on the logarithm of p, from 1e−15 on: below, the level cannot be told from 1.
    """
    if find(0.5) is None:
        return None

    def holds(p: float) -> bool:
        limits = find(1 - 2 * p)
        return limits is not None and excludes(limits)

    low, high = math.log(1e-15), math.log(0.499)
    if not holds(math.exp(high)):
        return 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if holds(math.exp(middle)) else (middle, high)
    return math.exp(high)
