"""A judge's mean corrected by a person's labels, or by its measured sensitivity and specificity."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from audit.statistics.mean_intervals import ConfidenceLimits, clopper_pearson, mover_limits, raise_variances, side_interval
from audit.statistics.responses import Codes, Floats
from audit.statistics.side_moments import ENOUGH_CONTEXTS, ZERO_VARIANCE, SideMoments, VariancePart, half_width, one_sided_p, total_variance

# Correction by a sensitivity and specificity that were measured elsewhere.
#
# Sources: W. J. Rogan & B. Gladen, American Journal of Epidemiology 107 (1978) 71–76; the interval: Zs.
# Lang & J. Reiczigel, Preventive Veterinary Medicine 113 (2014) 13–22, eqs 4–7 and 15–17 (as in R's
# `asht::prevSeSp`). Assumed: the judge errs here at the rates measured there, in every response alike,
# and those measurements are independent of the scores. Clusters enter through the effective sample size
# of the scores (Korn & Graubard 1998).

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class HitCounts:
    """Right calls among cases of one kind: sensitivity among true positives, specificity among true negatives."""

    right: int
    cases: int
    """At least 1."""

    @property
    def rate(self) -> float:
        """Share of right calls."""
        return self.right / self.cases

    @property
    def shrunk(self) -> float:
        """The same with one right and one wrong call added, as the interval takes it."""
        return (self.right + 1) / (self.cases + 2)

    @property
    def variance(self) -> float:
        """Of `shrunk`."""
        return self.shrunk * (1 - self.shrunk) / (self.cases + 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeAccuracy:
    """What is known of a judge on one side."""

    sensitivity: HitCounts
    specificity: HitCounts

    @property
    def informative(self) -> bool:
        """Whether the judge distinguishes positives from negatives better than chance, also with a case of each kind added: Se + Sp > 1."""
        plain = self.sensitivity.rate + self.specificity.rate
        return plain > 1 and self.sensitivity.shrunk + self.specificity.shrunk > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedShare:
    """The corrected share of one side."""

    value: float
    """In [0, 1]."""

    limits: ConfidenceLimits
    uncut: float
    """The value before it was cut to [0, 1]."""


def find_effective_size(side: SideMoments, *, random: bool, banerjee: bool, level: float) -> float | None:
    """Return how many independent responses the binary scores of one side are worth; None when their variance cannot be estimated.

    As in `audit.statistics.mean_intervals`: without variance the tasks are counted, and its parts are raised to the least similarity.
    """
    parts = side.parts(random=random)
    if parts is None:
        return None
    # Without variance no effective size exists; the tasks are counted, as for a mean.
    if total_variance(parts) <= ZERO_VARIANCE:
        return side.effective_tasks
    widest = (parts, raise_variances(side, parts))
    h = max(half_width(variances, level=level, banerjee=banerjee) for variances in widest)
    size = side.mean * (1 - side.mean) * (float(ndtri(0.5 + level / 2)) / h) ** 2
    # Clustering cannot make responses worth more than their number.
    return min(float(side.responses), max(1e-3, size))


def correct_share(*, share: float, size: float, accuracy: JudgeAccuracy, level: float) -> CorrectedShare:
    """Return (share + Sp − 1)/(Se + Sp − 1), cut to [0, 1], with the interval of Lang & Reiczigel.

    Where the value is 0 or 1, the interval holds the exact limits of none, or all, of *size* too: never of zero width.

    Args:
        share: of responses called positive, in [0, 1].
        size: how many independent responses they are worth, above 0.
        accuracy: of the judge; it must be informative.
        level: nominal coverage, between 0 and 1, both excluded.

    Raises:
        ValueError: the judge is not informative.
    """
    if not accuracy.informative:
        raise ValueError("sensitivity and specificity must sum to more than 1")
    sensitivity, specificity = accuracy.sensitivity, accuracy.specificity
    uncut = (share + specificity.rate - 1) / (sensitivity.rate + specificity.rate - 1)
    value = min(1.0, max(0.0, uncut))
    z = float(ndtri(0.5 + level / 2))
    shrunk = (size * share + z * z / 2) / (size + z * z)
    spread = sensitivity.shrunk + specificity.shrunk - 1
    centre = (shrunk + specificity.shrunk - 1) / spread
    shift = 2 * z * z * (centre * sensitivity.variance - (1 - centre) * specificity.variance)
    sampling = shrunk * (1 - shrunk) / (size + z * z)
    h = z * math.sqrt(sampling + centre**2 * sensitivity.variance + (1 - centre) ** 2 * specificity.variance) / spread
    low, high = (min(1.0, max(0.0, centre + shift + sign * h)) for sign in (-1, 1))
    if value in (0.0, 1.0):
        # If the calls contradict the measured accuracy, the interval lies outside [0, 1], and cutting
        # it would leave almost no width. The exact limits of none (or all) keep a width.
        exact = clopper_pearson(successes=size * value, trials=size, level=level)
        low, high = min(low, exact.low), max(high, exact.high)
    # The added cases move the centre of the interval away from the value. The reported interval must
    # contain it.
    return CorrectedShare(value=value, limits=ConfidenceLimits(low=min(low, value), high=max(high, value)), uncut=uncut)


def correct_difference(test: CorrectedShare, deploy: CorrectedShare, *, correlation: float = 0.0) -> ConfidenceLimits:
    """Return the interval of test − deploy where each side has an accuracy of its own: MOVER.

    Tasks that go together on both sides are not made use of; where they go against each other, *correlation*, at most 0, widens it.
    """
    band = mover_limits(
        first=test.value, first_limits=test.limits, second=deploy.value, second_limits=deploy.limits, correlation=correlation
    )
    return ConfidenceLimits(low=max(-1.0, band.low), high=min(1.0, band.high))


def correct_shared_difference(*, difference: float, limits: ConfidenceLimits, accuracy: JudgeAccuracy, level: float) -> ConfidenceLimits:
    """Return the interval of the difference divided by Se + Sp − 1, where one *accuracy* holds for both sides.

    Then its error scales both sides alike. Distances to the judged *limits* are scaled, and the uncertainty of the scale is added in
    squares (MOVER); cut to [−1, 1].

    Raises:
        ValueError: the judge is not informative.
    """
    if not accuracy.informative:
        raise ValueError("sensitivity and specificity must sum to more than 1")
    scale = accuracy.sensitivity.rate + accuracy.specificity.rate - 1
    spread = accuracy.sensitivity.shrunk + accuracy.specificity.shrunk - 1
    z = float(ndtri(0.5 + level / 2))
    value = difference / scale
    own = z * abs(value) * math.sqrt(accuracy.sensitivity.variance + accuracy.specificity.variance) / spread
    # The shrunk scale is the smaller one, so dividing by it widens the interval.
    low = value - math.hypot((difference - limits.low) / spread, own)
    high = value + math.hypot((limits.high - difference) / spread, own)
    return ConfidenceLimits(low=max(-1.0, low), high=min(1.0, high))


def measure_rate(right: Mask, *, among: Mask, task: Codes, level: float) -> tuple[float, ConfidenceLimits] | None:
    """Return the share of responses that are *right* *among* some, with its exact limits at their effective size over tasks.

    None where there is none of them. Arrays of one length; *task* holds the code of each response's task.
    """
    cases, hits = np.bincount(task[among]), np.bincount(task[among & right], minlength=int(task.max(initial=0)) + 1)
    total = int(cases.sum())
    if not total:
        return None
    rate = float(hits.sum()) / total
    present = cases > 0
    tasks = int(np.count_nonzero(present))
    off = hits[: len(cases)][present] - rate * cases[present]
    variance = float((off**2).sum()) / total**2 * tasks / max(1, tasks - 1)
    size = float(tasks)
    if variance > ZERO_VARIANCE and tasks > 1:
        quantile = float(ndtri(0.5 + level / 2)) / float(stdtrit(tasks - 1, 0.5 + level / 2))
        size = min(float(total), rate * (1 - rate) / variance * quantile**2)
    return rate, clopper_pearson(successes=min(size * rate, size), trials=size, level=level)


# Correction by a person's labels of a random subset: prediction-powered inference.
#
# Sources: A. N. Angelopoulos, S. Bates, C. Fannjiang, M. I. Jordan & T. Zrnic, Science 382 (2023)
# 669–674; with the weight λ: A. N. Angelopoulos, J. C. Duchi & T. Zrnic, PPI++, arXiv:2311.01453. The
# papers treat the labelled and the other responses as two samples. Here the judge's mean is over all
# responses, which is the same estimator with λ(1 − n/N) in place of λ.
#
# Clusters: the estimator is linearised per response, and the influences are summed by task and, where
# contexts are a sample, by context, as in `audit.statistics.side_moments`. Assumed in addition: the
# labelled responses are a random subset of each side, and the person is right.
#
# λ is 1 below 60 labels a side and tuned from there on. The reader cannot choose it, so that it cannot
# be chosen by its result. Below 30 labels there is no correction. A nearly perfect judge gets wide
# intervals.

FEWEST_LABELS = 30
"""Below this many labels on a side nothing is corrected."""

ENOUGH_TO_TUNE = 60
"""From this many labels on each side λ is tuned; below, it is 1."""

FEWEST_ERRORS = 5
"""With fewer labelled tasks in which judge and person differ, the normal approximation says too little: exact limits are added."""

_EQUAL = 1e-12
_HIGHEST_CORRELATION = 0.95


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgedResponses:
    """The responses of one side to the tasks of both, in an order that does not depend on the table's; arrays of one length."""

    task: Codes
    """0 … tasks − 1, the same codes on both sides: of families where they are declared."""

    context: Codes
    score: Floats
    """Of the judge, in [0, 1]."""

    label: Floats
    """Of a person, in [0, 1]; NaN where there is none."""

    weight: Floats
    """Of the response in Φ; their sum is 1."""

    tasks: int
    """Clusters of tasks: families where they are declared, else tasks."""

    template: Codes | None = None
    """Of the response's context; None where templates are not declared."""

    @property
    def labelled(self) -> npt.NDArray[np.bool_]:
        """Which responses have a label."""
        return ~np.isnan(self.label)

    @property
    def labels(self) -> int:
        """How many responses have a label."""
        return int(np.count_nonzero(self.labelled))

    def share(self) -> Floats:
        """Return the weight of each labelled response among the labelled; their sum is 1, elsewhere 0."""
        weight = np.where(self.labelled, self.weight, 0.0)
        share: Floats = weight / weight.sum()
        return share

    def errors(self) -> Floats:
        """Return person − judge, 0 where there is no label."""
        return np.where(self.labelled, np.nan_to_num(self.label) - self.score, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LinearEstimate:
    """An estimate on one side, and what each cluster added to its deviation."""

    value: float
    by_task: Floats
    by_context: Floats
    """By context code; 0 for contexts that are not on this side."""

    tasks: int
    """Tasks that hold labels."""

    contexts: int
    """Contexts that hold labels."""

    effective_tasks: float
    """(Σv)²/Σv² of the weight of labels in each task (Kish 1965)."""

    effective_contexts: float
    labels: int
    """Labelled responses."""

    complete: bool
    """Whether every response has a label, so that a mean is one of labels alone."""

    widened: tuple[float, float] | None = None
    """Distances to the exact limits below and above, where judge and person hardly ever differ; else None."""

    def task_part(self, deviations: Floats | None = None) -> VariancePart:
        """Return the task part of the variance, of *deviations* where those are given; there must be two tasks with labels."""
        off = self.by_task if deviations is None else deviations
        return _scale(off, count=self.tasks, effective=self.effective_tasks)

    def context_part(self) -> VariancePart:
        """Return the context part of the variance; there must be two contexts with labels."""
        return _scale(self.by_context, count=self.contexts, effective=self.effective_contexts)

    def parts(self, *, random: bool) -> tuple[VariancePart, ...] | None:
        """Return the parts of the variance, None when one of them cannot be estimated."""
        if self.tasks < 2 or (random and self.contexts < 2):
            return None
        return (self.task_part(), self.context_part()) if random else (self.task_part(),)


def _sum(codes: Codes, values: Floats, *, size: int = 0) -> Floats:
    """Sums of *values* by code."""
    return np.bincount(codes, weights=values, minlength=size).astype(np.float64)


def _scale(deviations: Floats, *, count: int, effective: float) -> VariancePart:
    variance = math.fsum((deviations**2).tolist()) * count / (count - 1)
    return VariancePart(variance=variance, df=max(1.0, effective - 1))


def correct(side: JudgedResponses, *, weight: float, level: float) -> LinearEstimate:
    """Return λ·mean(judge, all) + mean(person − λ·judge, labelled), with λ = *weight*; there must be a label."""
    share, error = side.share(), np.where(side.labelled, np.nan_to_num(side.label) - weight * side.score, 0.0)
    judged, rectifier = float((side.weight * side.score).sum()), float((share * error).sum())
    off = weight * side.weight * (side.score - judged)
    influence = off + share * (error - rectifier)
    complete = bool(side.labelled.all())
    # With λ = 1 the correction is an average of errors, whose exact limits exist. With every response
    # labelled the judge drops out.
    widened = None if complete or weight != 1 else _widen(side, off, level=level)
    return _linearise(side, weight * judged + rectifier, influence, widened)


def find_bias(side: JudgedResponses, *, level: float) -> LinearEstimate:
    """Return the mean of person − judge over the labelled responses; there must be a label."""
    share, error = side.share(), side.errors()
    # Rounding may put a mean slightly outside the range.
    mean = min(1.0, max(-1.0, float((share * error).sum())))
    return _linearise(side, mean, share * (error - mean), _widen(side, np.zeros_like(error), level=level))


def _linearise(side: JudgedResponses, value: float, influence: Floats, widened: tuple[float, float] | None) -> LinearEstimate:
    share = side.share()
    tasks = _sum(side.task, share, size=side.tasks)
    cluster = side.context if side.template is None else side.template
    contexts = _sum(cluster, share)
    return LinearEstimate(
        value=value,
        by_task=_sum(side.task, influence, size=side.tasks),
        by_context=_sum(cluster, influence),
        tasks=int(np.count_nonzero(tasks)),
        contexts=int(np.count_nonzero(contexts)),
        effective_tasks=float(tasks.sum() ** 2 / (tasks**2).sum()),
        effective_contexts=float(contexts.sum() ** 2 / (contexts**2).sum()),
        labels=side.labels,
        complete=bool(side.labelled.all()),
        widened=widened,
    )


def _widen(side: JudgedResponses, off: Floats, *, level: float) -> tuple[float, float] | None:
    """Return distances to limits that hold however rare errors are, None where they are not rare.

    The mean of an error in [−1, 1] lies between −P(error < 0) and P(error > 0); each has its exact limit over tasks. The deviation
    *off* of the judge's own mean is added in squares.
    """
    share, error = side.share(), side.errors()
    differs = _sum(side.task, (np.abs(error) > _EQUAL).astype(np.float64), size=side.tasks)
    if np.count_nonzero(differs) >= FEWEST_ERRORS:
        return None
    tasks = _sum(side.task, share, size=side.tasks)
    trials = float(tasks.sum() ** 2 / (tasks**2).sum())
    mean = float((share * error).sum())
    ends = []
    for wrong in (error < -_EQUAL, error > _EQUAL):
        rate = min(1.0, float(share[wrong].sum()))
        ends.append(clopper_pearson(successes=min(trials * rate, trials), trials=trials, level=level).high)
    by_task = _sum(side.task, off, size=side.tasks)
    count = side.tasks
    own = half_width((_scale(by_task, count=count, effective=count),), level=level, banerjee=False) if count > 1 else 0.0
    return math.hypot(own, mean + ends[0]), math.hypot(own, ends[1] - mean)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelSelection:
    """How the judge scored the labelled responses and the others; a random subset differs by chance alone."""

    labelled: float
    """Mean score of the labelled responses, in [0, 1]."""

    others: float
    p: float
    """Two-sided, that both are the same but for chance; tasks are the clusters."""


def compare_unlabelled(side: JudgedResponses) -> LabelSelection | None:
    """Return what the judge gave labelled responses next to the others; None with fewer than `FEWEST_LABELS` of either, or no variance."""
    if min(side.labels, len(side.score) - side.labels) < FEWEST_LABELS:
        return None
    others = np.where(side.labelled, 0.0, side.weight)
    shares = side.share(), others / others.sum()
    means = [float((share * side.score).sum()) for share in shares]
    influence = shares[0] * (side.score - means[0]) - shares[1] * (side.score - means[1])
    weights = [_sum(side.task, share, size=side.tasks) for share in shares]
    tasks = min(int(np.count_nonzero(weight)) for weight in weights)
    if tasks < 2:
        return None
    effective = min(float(1 / (weight**2).sum()) for weight in weights)
    part = _scale(_sum(side.task, influence, size=side.tasks), count=tasks, effective=effective)
    p = one_sided_p(abs(means[0] - means[1]), (part,), banerjee=False)
    return None if p is None else LabelSelection(labelled=means[0], others=means[1], p=min(1.0, 2 * p))


def tune(side: JudgedResponses) -> float:
    """Return the λ in [0, 1] for which the task part of the variance is smallest (power tuning of PPI++); 1 where none is smaller."""
    share = side.share()
    label = np.nan_to_num(side.label)
    mean_label, mean_score = float((share * label).sum()), float((share * side.score).sum())
    judged = float((side.weight * side.score).sum())
    fixed = _sum(side.task, share * (label - mean_label), size=side.tasks)
    slope = side.weight * (side.score - judged) - share * (side.score - mean_score)
    by_task = _sum(side.task, slope, size=side.tasks)
    squares = float((by_task**2).sum())
    return 1.0 if squares <= ZERO_VARIANCE else min(1.0, max(0.0, -float((fixed * by_task).sum()) / squares))


def has_rare_errors(side: JudgedResponses) -> bool:
    """Return whether judge and person differ in fewer than `FEWEST_ERRORS` labelled tasks."""
    return len(np.unique(side.task[np.abs(side.errors()) > _EQUAL])) < FEWEST_ERRORS


def find_limits(linear_estimate: LinearEstimate, *, random: bool, level: float) -> ConfidenceLimits | None:
    """Return the interval of one side's mean error; None when its variance cannot be estimated.

    Where tasks do not differ in it, they are counted: as draws of which that share has an error of 1 in size, never an interval of zero
    width.
    """
    spread = _spread(linear_estimate, random=random, level=level)
    if spread is None or not _is_flat(linear_estimate):
        return spread
    exact = _count_tasks(linear_estimate, abs(linear_estimate.value), level=level)
    return exact if linear_estimate.value > 0 else ConfidenceLimits(low=-exact.high, high=-exact.low)


def _count_tasks(linear_estimate: LinearEstimate, share: float, *, level: float) -> ConfidenceLimits:
    """The exact limits of a share, which is cut to [0, 1], at the effective number of tasks."""
    size = linear_estimate.effective_tasks
    return clopper_pearson(successes=min(size, max(0.0, size * share)), trials=size, level=level)


def _spread(linear_estimate: LinearEstimate, *, random: bool, level: float) -> ConfidenceLimits | None:
    """The value ± h, and the limits of rare errors."""
    parts = linear_estimate.parts(random=random)
    if parts is None:
        return None
    h = half_width(parts, level=level, banerjee=_is_thin((linear_estimate,), random=random))
    below, above = linear_estimate.widened or (0.0, 0.0)
    return ConfidenceLimits(low=linear_estimate.value - max(h, below), high=linear_estimate.value + max(h, above))


def find_mean_limits(linear_estimate: LinearEstimate, *, random: bool, level: float) -> ConfidenceLimits | None:
    """Return the interval of a corrected mean of scores in [0, 1], cut to that; None when its variance cannot be estimated.

    Where all responses are labelled, or nothing varies, it holds the interval that a mean of scores has: never of zero width. Where the
    value lies beyond the range, of which cutting would leave next to nothing, it holds the exact limits of 0, or all, of the tasks.
    """
    limits, parts = _spread(linear_estimate, random=random, level=level), linear_estimate.parts(random=random)
    if limits is None or parts is None:
        return None
    low, high = max(0.0, min(limits.low, 1.0)), min(1.0, max(limits.high, 0.0))
    if not 0 <= linear_estimate.value <= 1:
        counted = _count_tasks(linear_estimate, linear_estimate.value, level=level)
        low, high = min(low, counted.low), max(high, counted.high)
    if total_variance(parts) > ZERO_VARIANCE and not linear_estimate.complete:
        return ConfidenceLimits(low=low, high=high)
    side = SideMoments(
        mean=min(1.0, max(0.0, linear_estimate.value)),
        tasks=linear_estimate.tasks,
        contexts=linear_estimate.contexts,
        responses=linear_estimate.labels,
        task_variance=parts[0].variance,
        context_variance=parts[1].variance if random else 0.0,
        kish=linear_estimate.effective_tasks,
    )
    own = side_interval(side, random=random, banerjee=_is_thin((linear_estimate,), random=random), binary=False, level=level)
    return (
        ConfidenceLimits(low=low, high=high) if own is None else ConfidenceLimits(low=min(own.hull.low, low), high=max(own.hull.high, high))
    )


def find_difference(
    test: LinearEstimate, deploy: LinearEstimate, limits: tuple[ConfidenceLimits, ConfidenceLimits], *, random: bool, level: float
) -> ConfidenceLimits:
    """Return the interval of test − deploy: the hull of the paired ± h and of MOVER from the *limits* that the sides have.

    Where errors are rare on a side the sides count as uncorrelated.
    """
    sides = (test, deploy)
    # The paired task part takes its degrees of freedom from the side with fewer effective tasks.
    fewer = min(sides, key=lambda side: side.effective_tasks)
    contexts = [side.context_part() for side in sides] if random else []
    h = half_width((fewer.task_part(test.by_task - deploy.by_task), *contexts), level=level, banerjee=_is_thin(sides, random=random))
    difference = test.value - deploy.value
    band = mover_limits(
        first=test.value,
        first_limits=_around(test, limits[0]),
        second=deploy.value,
        second_limits=_around(deploy, limits[1]),
        correlation=_correlate(test, deploy, random=random),
    )
    return ConfidenceLimits(low=min(band.low, difference - h), high=max(band.high, difference + h))


def find_bias_difference(test: LinearEstimate, deploy: LinearEstimate, *, level: float) -> ConfidenceLimits | None:
    """Return the interval of the difference of two mean errors over tasks; None when a variance cannot be estimated.

    Where tasks differ neither on the test nor on the deployment side, they are counted as pairs: 0 of 60 tasks gives ±0.06 at 95 %.
    """
    limits = [find_limits(side, random=False, level=level) for side in (test, deploy)]
    if limits[0] is None or limits[1] is None:
        return None
    difference = test.value - deploy.value
    if abs(difference) > 1 or not (_is_flat(test) and _is_flat(deploy)):
        return find_difference(test, deploy, (limits[0], limits[1]), random=False, level=level)
    # Both sides are flat: the pairs are counted at the smaller effective number, which is the wider
    # choice.
    exact = _count_tasks(min((test, deploy), key=lambda side: side.effective_tasks), abs(difference), level=level)
    if abs(difference) <= _EQUAL:
        return ConfidenceLimits(low=-exact.high, high=exact.high)
    return exact if difference > 0 else ConfidenceLimits(low=-exact.high, high=-exact.low)


def _is_flat(linear_estimate: LinearEstimate) -> bool:
    """Whether tasks do not differ, and that not for want of errors."""
    return linear_estimate.widened is None and total_variance(linear_estimate.parts(random=False) or ()) <= ZERO_VARIANCE


def _around(linear_estimate: LinearEstimate, limits: ConfidenceLimits) -> ConfidenceLimits:
    """Limits that were cut to the range, around a value that may lie outside it."""
    return ConfidenceLimits(low=min(limits.low, linear_estimate.value), high=max(limits.high, linear_estimate.value))


def _correlate(test: LinearEstimate, deploy: LinearEstimate, *, random: bool) -> float:
    # Where errors are rare their covariance is estimated from next to nothing; uncorrelated sides give
    # the wider interval.
    if test.widened is not None or deploy.widened is not None:
        return 0.0
    variances = [total_variance(side.parts(random=random) or ()) for side in (test, deploy)]
    if min(variances) <= ZERO_VARIANCE:
        return 0.0
    covariance = float((test.by_task * deploy.by_task).sum())
    return min(_HIGHEST_CORRELATION, max(0.0, covariance / math.sqrt(variances[0]) / math.sqrt(variances[1])))


def _is_thin(sides: Sequence[LinearEstimate], *, random: bool) -> bool:
    return random and min(side.contexts for side in sides) < ENOUGH_CONTEXTS


def weigh_responses(task: Codes, context: Codes, relative: Floats | None, *, tasks: int) -> Floats:
    """Return the weight of each response in Φ: tasks by *relative* (alike if None), contexts of a task alike, responses of a cell alike."""
    width = int(context.max(initial=0)) + 1
    cell = task.astype(np.int64) * width + context
    cells, of_response, counts = np.unique(cell, return_inverse=True, return_counts=True)
    contexts = np.bincount(cells // width, minlength=tasks)
    weights = np.ones(tasks) if relative is None else relative
    response_weights: Floats = weights[task] / weights.sum() / contexts[task] / counts[of_response]
    return response_weights
