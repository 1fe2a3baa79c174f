"""The difference of two versions of one side over the same tasks, and the difference of two such differences."""

import math
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from audit.statistics.mean_intervals import ConfidenceLimits, difference_interval, find_side_intervals, mover_limits
from audit.statistics.responses import Floats, find_relative_weights, sum_all, sum_groups
from audit.statistics.side_moments import (
    ZERO_VARIANCE,
    Cells,
    Moments,
    VariancePart,
    compute_moments,
    compute_task_means,
    find_common_tasks,
    find_units,
    half_width,
    total_variance,
)

# Two versions of the contexts of one side over the same tasks: with a cue and without it (statistics.md
# section 3).
#
# If both versions have the same context ids, an edited context and its original are one draw, not two.
# Scores are paired cell by cell, and the context part of the variance is that of the paired difference.
# If they share no id, contexts are independent, as on the two sides of ED.
#
# An edit that changes little has an interval from mean gain and mean loss: no change in 20 tasks leaves
# ±16.8 points open. Sparse ablations get 10 to 50 % wider intervals from this. Sources and assumptions:
# `audit.statistics.side_moments`; for gains and losses R. G. Newcombe, Statistics in Medicine 17 (1998)
# 2635–2650, whose paired intervals rest on the two kinds of discordant pairs, and MOVER as in
# `audit.statistics.mean_intervals`.


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionMoments(Moments):
    """Both versions as the sides of a difference: `test` is the first, `deploy` the second. Scores lie in [0, 1].

    With paired contexts `covariance` holds the covariance over contexts too, so that MOVER sees the whole of it.
    """

    paired: bool
    """Whether the contexts of both versions are the same ones."""

    context_difference: float | None
    """Context part of the variance of the difference; None where contexts are not paired, not sampled, or only one."""

    def parts(self) -> tuple[VariancePart, ...] | None:
        """Return the parts of the variance of the difference, or None when one of them cannot be estimated."""
        # `super()` without arguments fails here: a dataclass with slots is a new class.
        parts = Moments.parts(self)
        # Paired contexts have one part for the difference; two separate parts would count what cancels.
        if parts is None or not (self.paired and self.random):
            return parts
        return (parts[0], VariancePart(variance=self.context_difference or 0.0, df=self.test.contexts - 1))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VersionDifference:
    """The difference of two versions with what it is made of, so that several can be resampled together."""

    moments: VersionMoments
    differences: Floats
    """By task code: what the task, or the family that has the code, adds to the difference, such that their mean is the difference.

    NaN where a version lacks it.
    """

    shares: Floats
    """By context code: what a paired context, or the template that has the code, adds to the deviation of the difference.

    NaN where there is none.
    """

    swing: Moments | None
    """Gains max(m − m', 0) of paired cells as `test`, their losses max(m' − m, 0) as `deploy`; None where contexts are not shared."""


def edit_interval(edit: VersionDifference, *, level: float) -> ConfidenceLimits | None:
    """Return the interval of the difference: that of ED, and for paired cells its MOVER interval from gains and losses; None as there.

    An edit that changes few cells, or none, is one of rare events: the sides' own limits, which know nothing of pairs, would be too
    narrow where scores vary little. Gains and losses count tasks: no change in 20 tasks gives ±0.168 at 95 %. Their correlation
    is taken as 0; where it is not, the part that knows it is the interval of ED.
    """
    limits = difference_interval(edit.moments, level=level)
    gains, losses = (None, None) if edit.swing is None else find_side_intervals(edit.swing, level=level)
    if limits is None or edit.swing is None or gains is None or losses is None:
        return limits
    first, second = edit.swing.test.mean, edit.swing.deploy.mean
    band = mover_limits(first=first, first_limits=gains.exact, second=second, second_limits=losses.exact, correlation=0.0)
    return ConfidenceLimits(low=max(-1.0, min(limits.low, band.low)), high=min(1.0, max(limits.high, band.high)))


def have_common_contexts(first: Cells, second: Cells) -> bool:
    """Return whether any context id is in both versions."""
    return bool(np.isin(first.context, second.context).any())


def pair_cells(first: Cells, second: Cells) -> tuple[Cells, Cells]:
    """Return the cells, task and context, that both versions have."""
    width = int(max(first.context.max(initial=0), second.context.max(initial=0))) + 1
    keys = [cells.task.astype(np.int64) * width + cells.context for cells in (first, second)]
    return _keep(first, np.isin(keys[0], keys[1])), _keep(second, np.isin(keys[1], keys[0]))


def compute_edit(
    first: Cells, second: Cells, *, tasks: int, random: bool, binary: bool, weights: Floats | None = None
) -> VersionDifference | None:
    """Return first − second over the tasks that both have; None when they have none in common.

    Cells must have gone through `pair_cells` where the versions share contexts.

    Args:
        tasks: number of task codes.
        random: whether contexts are a sample.
        binary: whether every score of both versions is 0 or 1.
        weights: of all tasks, by task code; None when all weigh the same.
    """
    common = find_common_tasks(first, second, tasks=tasks)
    if not common.any():
        return None
    first, second = _sort(first.keep(common)), _sort(second.keep(common))
    plain = compute_moments(first, second, common, random=random, binary=binary, weights=weights)
    relative = find_relative_weights(weights, common)
    by_code = np.zeros(tasks)
    by_code[common] = 1.0 if relative is None else relative
    paired = have_common_contexts(first, second)
    shares = _share_contexts(first, second, plain.difference, by_code) if paired and random else np.empty(0)
    units = find_units(first.clusters, common, relative)
    means = units.average(compute_task_means(first, common) - compute_task_means(second, common))
    if units.relative is not None:
        means = plain.difference + units.relative * (means - plain.difference) * (units.number / sum_all(units.relative))
    differences = np.full(tasks, np.nan)
    differences[units.code] = means
    swing = _swing(first, second, common, random=random, weights=weights) if paired else None
    return VersionDifference(moments=_join(plain, shares, paired=paired), differences=differences, shares=shares, swing=swing)


def _swing(first: Cells, second: Cells, common: npt.NDArray[np.bool_], *, random: bool, weights: Floats | None) -> Moments:
    """The moments of gains and losses of paired cells, which come in the same order."""
    change = first.mean - second.mean
    gains, losses = (replace(first, mean=np.maximum(way, 0.0), square=None) for way in (change, -change))
    binary = bool(np.isin(change, (-1.0, 0.0, 1.0)).all())
    return compute_moments(gains, losses, common, random=random, binary=binary, weights=weights)


def _join(plain: Moments, shares: Floats, *, paired: bool) -> VersionMoments:
    rest = {field.name: getattr(plain, field.name) for field in fields(Moments)}
    contexts = plain.test.contexts
    if not len(shares) or contexts < 2 or plain.covariance is None:
        return VersionMoments(**rest, paired=paired, context_difference=None)
    apart = sum_all(np.nan_to_num(shares) ** 2) * contexts / (contexts - 1)
    # Var(x − y) = Var x + Var y − 2 Cov(x, y), solved for the covariance.
    both = (plain.test.context_variance or 0.0) + (plain.deploy.context_variance or 0.0)
    return VersionMoments(**{**rest, "covariance": plain.covariance + (both - apart) / 2}, paired=True, context_difference=apart)


def _share_contexts(first: Cells, second: Cells, difference: float, by_code: Floats) -> Floats:
    """Σ_i w_i a_i (m_ic − m'_ic − Δ)/Σw by context code c, with a_i = 1/(contexts present for the task); NaN where c has no cell.

    Where templates are declared, c are the templates.
    """
    present = np.bincount(first.task)
    deviations = by_code[first.task] * (first.mean - second.mean - difference) / present[first.task]
    cluster = first.clusters.of_contexts(first.context)
    sums = sum_groups(deviations, cluster, size=int(cluster.max()) + 1) / sum_all(by_code)
    return np.where(np.bincount(cluster) > 0, sums, np.nan)


def _sort(cells: Cells) -> Cells:
    return _keep(cells, np.lexsort((cells.context, cells.task)))


def _keep(cells: Cells, kept: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> Cells:
    return cells.take(kept)


# The difference of two differences, each between two replays of one side over the same tasks: how far
# ED itself moved.
#
# Both differences are those defined above: the same contexts pair cell by cell, so an effect of a
# context or task on both replays cancels. Sources and assumptions: `audit.statistics.side_moments`, and
# MOVER as in `audit.statistics.mean_intervals`, one level up. One side's contexts are independent of
# the other's.

_HIGHEST_CORRELATION = 0.95


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DoubleDifference:
    """Two differences over exactly the same tasks, such as Φ_test after − before and Φ_deploy after − before; scores lie in [0, 1]."""

    first: VersionDifference
    second: VersionDifference

    @property
    def value(self) -> float:
        """First − second, in [−2, 2]."""
        return self.first.moments.difference - self.second.moments.difference

    @property
    def banerjee(self) -> bool:
        """Whether half-widths take Banerjee's form: contexts are a sample, and a side has fewer than five."""
        return self.first.moments.banerjee or self.second.moments.banerjee

    def parts(self) -> tuple[VariancePart, ...] | None:
        """Return the parts of its variance: one of tasks, then the context parts of both; None where one of them cannot be estimated.

        Tasks are one cluster over all four means: their part is the variance of the mean of the tasks' own double differences.
        """
        variance_parts, two = self.first.moments.parts(), self.second.moments.parts()
        if variance_parts is None or two is None:
            return None
        tasks = self.first.moments.test.tasks
        deviations = self.first.differences - self.second.differences - self.value
        # A task that one of the replays lacks is NaN.
        deviations = deviations[~np.isnan(deviations)]
        own = VariancePart(variance=sum_all(deviations**2) / (tasks * (tasks - 1)), df=variance_parts[0].df)
        return (own, *variance_parts[1:], *two[1:])


def correlate(double: DoubleDifference) -> float:
    """Return the correlation of both differences, which tasks bring about, cut to [0, 0.95]; 0 where either has no variance."""
    apart, side_parts = double.parts(), [edit.moments.parts() for edit in (double.first, double.second)]
    if apart is None or side_parts[0] is None or side_parts[1] is None:
        return 0.0
    first, second = (total_variance(parts) for parts in side_parts if parts is not None)
    if min(first, second) <= ZERO_VARIANCE:
        return 0.0
    # Var(x − y) = Var x + Var y − 2 Cov(x, y), solved for the covariance.
    covariance = (first + second - total_variance(apart)) / 2
    return min(_HIGHEST_CORRELATION, max(0.0, covariance / math.sqrt(first) / math.sqrt(second)))


def double_difference_interval(double: DoubleDifference, *, level: float) -> ConfidenceLimits | None:
    """Return the hull of the value ± h and of MOVER from the intervals of both differences, cut to [−2, 2]; None without a variance."""
    parts = double.parts()
    first, second = (edit_interval(edit, level=level) for edit in (double.first, double.second))
    if parts is None or first is None or second is None:
        return None
    value, h = double.value, half_width(parts, level=level, banerjee=double.banerjee)
    band = mover_limits(
        first=double.first.moments.difference,
        first_limits=first,
        second=double.second.moments.difference,
        second_limits=second,
        correlation=correlate(double),
    )
    return ConfidenceLimits(low=max(-2.0, min(band.low, value - h)), high=min(2.0, max(band.high, value + h)))
