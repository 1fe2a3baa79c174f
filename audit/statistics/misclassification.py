"""A share of positives corrected for a judge whose sensitivity and specificity were measured elsewhere.

Sources: W. J. Rogan & B. Gladen, American Journal of Epidemiology 107 (1978) 71–76; the interval: Zs. Lang & J. Reiczigel, Preventive
Veterinary Medicine 113 (2014) 13–22, eqs 4–7 and 15–17 (as in R's `asht::prevSeSp`).
Assumed: the judge errs here as it did where it was measured, in every response alike, and those measurements are independent of the
scores. Clusters come in as the size that the scores are worth (Korn & Graubard 1998).
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri, stdtrit

from audit.statistics.difference import mover
from audit.statistics.halfwidth import ZERO_VARIANCE, half_width, total_variance
from audit.statistics.moments import SideMoments
from audit.statistics.proportion import Limits, clopper_pearson, raise_variances
from audit.statistics.scores import Codes

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits:
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
class Accuracy:
    """What is known of a judge on one side."""

    sensitivity: Hits
    specificity: Hits

    @property
    def informative(self) -> bool:
        """Whether the judge tells positives from negatives better than chance, also with a case of each kind added: Se + Sp > 1."""
        plain = self.sensitivity.rate + self.specificity.rate
        return plain > 1 and self.sensitivity.shrunk + self.specificity.shrunk > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Prevalence:
    """The corrected share of one side."""

    value: float
    """In [0, 1]."""

    limits: Limits
    uncut: float
    """The value before it was cut to [0, 1]."""


def find_effective_size(side: SideMoments, *, random: bool, banerjee: bool, level: float) -> float | None:
    """Return how many independent responses the binary scores of one side are worth; None when their variance cannot be estimated.

    As in `audit.statistics.proportion`: without variance the tasks are counted, and its parts are raised to the least likeness.
    """
    parts = side.parts(random=random)
    if parts is None:
        return None
    if total_variance(parts) <= ZERO_VARIANCE:
        return side.effective_tasks
    widest = (parts, raise_variances(side, parts))
    h = max(half_width(each, level=level, banerjee=banerjee) for each in widest)
    size = side.mean * (1 - side.mean) * (float(ndtri(0.5 + level / 2)) / h) ** 2
    return min(float(side.responses), max(1e-3, size))


def correct_share(*, share: float, size: float, accuracy: Accuracy, level: float) -> Prevalence:
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
        # Where calls and accuracy contradict each other the interval lies beyond the range, and cutting would leave no doubt.
        exact = clopper_pearson(successes=size * value, trials=size, level=level)
        low, high = min(low, exact.low), max(high, exact.high)
    # Shrinking moves the centre; the interval still holds the value that it is printed beside.
    return Prevalence(value=value, limits=Limits(low=min(low, value), high=max(high, value)), uncut=uncut)


def correct_difference(test: Prevalence, deploy: Prevalence, *, correlation: float = 0.0) -> Limits:
    """Return the interval of test − deploy where each side has an accuracy of its own: MOVER.

    Tasks that go together on both sides are not made use of; where they go against each other, *correlation*, at most 0, widens it.
    """
    band = mover(first=test.value, first_limits=test.limits, second=deploy.value, second_limits=deploy.limits, correlation=correlation)
    return Limits(low=max(-1.0, band.low), high=min(1.0, band.high))


def correct_shared_difference(*, difference: float, limits: Limits, accuracy: Accuracy, level: float) -> Limits:
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
    low = value - math.hypot((difference - limits.low) / spread, own)
    high = value + math.hypot((limits.high - difference) / spread, own)
    return Limits(low=max(-1.0, low), high=min(1.0, high))


def measure_rate(right: Mask, *, among: Mask, task: Codes, level: float) -> tuple[float, Limits] | None:
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
