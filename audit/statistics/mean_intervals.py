"""Intervals and tests of a mean and of a difference of two means: closed form, guaranteed, and for interim analyses."""

import hashlib
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv, ndtri

from audit.statistics.responses import Floats
from audit.statistics.side_moments import ZERO_VARIANCE, Moments, SideMoments, VariancePart, half_width, one_sided_p, total_variance
from registry.records.estimates import ConfidenceSequence

# An interval for the mean score of one side with clustered scores.
#
# Sources: E. L. Korn & B. I. Graubard, Survey Methodology 24 (1998) 193–201; NCHS, Vital and Health
# Statistics 2(175), 2017: the exact binomial interval of C. J. Clopper & E. S. Pearson, Biometrika 26
# (1934), at the effective sample size of the clusters.
#
# Such intervals end short of the truth for rare shares as long as the effective size rests on the
# observed variance alone: if the tasks or contexts that matter were not drawn, mean and variance are
# both too low (C. Franco, R. J. A. Little, T. A. Louis & E. V. Slud, Journal of Survey Statistics and
# Methodology 7 (2019), PMC6690503). So both variances are raised to a minimum intraclass correlation
# before the effective size is formed. The shape and the constants are ours, set by simulation; ED uses
# the same limits. The price: with random contexts that do not differ, rare shares are up to four times
# wider. Every simulated cell of the grid meets every requirement. Beyond the grid, finely graded scores
# with Φ of 0.1 to 0.15 and very different tasks have up to 6.5 % false inversions at 12 tasks, 5.5 %
# from 20 on. Assumed: what `audit.statistics.side_moments` assumes.

MIN_TASK_CORRELATION, MIN_CONTEXT_CORRELATION = 0.32, 0.08
"""Least intraclass correlation of the responses to one task, and under one context, each as a multiple of √(Φ(1 − Φ)) (1 − 2Φ)².

So at most 0.06 and 0.015, near Φ = 0.1 and 0.9, and none at 0, ½ and 1. Set so that no cell of the design grid (statistics.md section 5)
has more than 5 % false inversions, here and at rates and numbers of contexts between those of the grid.
"""

SKEWED = 1.5
"""From this squared coefficient of variation σ²/(Φ(1 − Φ))² on, single responses count as skewed as all-or-nothing ones, below it less.

All-or-nothing responses have 4 or more, scores in tenths with Φ = 0.05 about 3, scores that scatter with SD 0.1 about 0.85 have 0.6. Set so
that rare shares graded in quarters, tenths and twentieths keep to 5 % false inversions too.
"""

_SMALLEST_SIZE = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceLimits:
    """Lower and upper end of an interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SideInterval:
    """The interval of one side, and the exact limits that the interval of the difference is made from."""

    exact: ConfidenceLimits
    """Clopper–Pearson at the effective size."""

    hull: ConfidenceLimits
    """What is reported: the exact limits and Φ ± h together, cut to [0, 1]."""


def clopper_pearson(*, successes: float, trials: float, level: float) -> ConfidenceLimits:
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
    return ConfidenceLimits(low=low, high=high)


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
        widest = max(h, half_width(raise_variances(side, parts), level=level, banerjee=banerjee))
        size = max(_SMALLEST_SIZE, side.mean * (1 - side.mean) * (float(ndtri(0.5 + level / 2)) / widest) ** 2)
        size = min(size, side.responses) if binary else size
    # Rounding may put a product slightly above its factor.
    exact = clopper_pearson(successes=min(size * side.mean, size), trials=size, level=level)
    hull = ConfidenceLimits(low=max(0.0, min(exact.low, side.mean - h)), high=min(1.0, max(exact.high, side.mean + h)))
    return SideInterval(exact=exact, hull=hull)


def raise_variances(side: SideMoments, parts: Sequence[VariancePart]) -> tuple[VariancePart, ...]:
    """Return the parts, task first, none below what the least correlation of responses in a cluster makes of their spread.

    Where what is counted is rare, few tasks or contexts show it at all: when those that matter were not sampled, mean and variance come
    out too low together, and the interval ends short of the truth. A correlation that is the same at every Φ (beta-binomial) would widen
    the rarest shares more than is needed, one that falls as Φ(1 − Φ) (normal on the logit) less; this is their geometric mean. A share
    near ½ has no skewness, so there nothing is raised. Graded responses that vary little about their mean are not skewed either: what they
    lack of `SKEWED` their spread lacks of Φ(1 − Φ).
    """
    # Rounding may put a mean slightly outside the range.
    whole = max(0.0, side.mean * (1 - side.mean))
    correlation = math.sqrt(whole) * (1 - 2 * side.mean) ** 2
    spread = whole if side.spread is None or whole == 0 else min(whole, side.spread / (SKEWED * whole))
    clusters = ((MIN_TASK_CORRELATION, side.effective_tasks), (MIN_CONTEXT_CORRELATION, float(side.contexts)))
    # Contexts have no part where they are not sampled; what both parts contain stays as it is.
    raised = (
        replace(part, variance=max(part.variance, least * correlation * spread / count))
        for part, (least, count) in zip(parts, clusters, strict=False)
    )
    return (*raised, *parts[len(clusters) :])


# An interval for the difference of two means over the same tasks.
#
# Sources: R. G. Newcombe, Statistics in Medicine 17 (1998) 873–890 and 2635–2650 (paired); G. Y. Zou &
# A. Donner, Statistics in Medicine 27 (2008) 1693–1702 (MOVER: the method of variance estimates
# recovery). Assumed: what `audit.statistics.side_moments` assumes.

_LOWEST_CORRELATION, _HIGHEST_CORRELATION = -1.0, 0.95


def mover_limits(
    *, first: float, first_limits: ConfidenceLimits, second: float, second_limits: ConfidenceLimits, correlation: float
) -> ConfidenceLimits:
    """Return limits for first − second from the limits of each and the correlation of the two estimates."""
    difference = first - second
    return ConfidenceLimits(
        low=difference - _combine(first - first_limits.low, second_limits.high - second, correlation),
        high=difference + _combine(first_limits.high - first, second - second_limits.low, correlation),
    )


def difference_interval(moments: Moments, *, level: float) -> ConfidenceLimits | None:
    """Return the interval for ED: the hull of ED ± h and MOVER, cut to [−1, 1].

    None when the design has one task, or one random context on a side.
    """
    return join_sides(moments, find_side_intervals(moments, level=level), level=level, correlation=task_correlation(moments))


def join_sides(
    moments: Moments, sides: tuple[SideInterval | None, SideInterval | None], *, level: float, correlation: float
) -> ConfidenceLimits | None:
    """Return the hull of ED ± h and MOVER from the exact limits of the sides, cut to [−1, 1]; None without one of them, or without V."""
    parts, (test, deploy) = moments.parts(), sides
    if parts is None or test is None or deploy is None:
        return None
    h = half_width(parts, level=level, banerjee=moments.banerjee)
    band = mover_limits(
        first=moments.test.mean,
        first_limits=test.exact,
        second=moments.deploy.mean,
        second_limits=deploy.exact,
        correlation=correlation,
    )
    difference = moments.difference
    return ConfidenceLimits(low=max(-1.0, min(band.low, difference - h)), high=min(1.0, max(band.high, difference + h)))


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


# Equivalence by two one-sided tests (TOST): D. J. Schuirmann, Journal of Pharmacokinetics and
# Biopharmaceutics 15 (1987) 657–680.


def equivalence_p(moments: Moments, *, margin: float) -> float | None:
    """Return the larger p of the two one-sided tests of |ED| ≥ *margin*; None without a variance.

    Both tests use the standard error and degrees of freedom of ED ± h, so `is_equivalent` at a level implies
    p ≤ (1 − level)/2. The reverse need not hold: the reported interval also holds MOVER's limits and is the wider one.
    """
    parts = moments.parts()
    if parts is None:
        return None
    # The nearer end of [−margin, margin] has the larger p.
    return one_sided_p(margin - abs(moments.difference), parts, banerjee=moments.banerjee)


def difference_p(moments: Moments) -> float | None:
    """Return the two-sided p of ED = 0, from the standard error and degrees of freedom of ED ± h; None without a variance."""
    parts = moments.parts()
    p = None if parts is None else one_sided_p(abs(moments.difference), parts, banerjee=moments.banerjee)
    return None if p is None else min(1.0, 2 * p)


def is_equivalent(interval: ConfidenceLimits | None, *, margin: float) -> bool:
    """Return whether the whole interval lies within ±margin; without an interval it does not."""
    return interval is not None and -margin <= interval.low and interval.high <= margin


# Guaranteed intervals: they assume nothing about the distribution of the scores, and are wider for it
# (statistics.md section 2, guaranteed mode).
#
# Each side counts as one all-or-nothing draw per independent cluster: tasks, or contexts where these
# are sampled and fewer. Among scores in [0, 1] with a given mean such draws vary most. Source of the
# limits: C. J. Clopper & E. S. Pearson, Biometrika 26 (1934). The difference also assumes nothing about
# how the sides vary together. Each side may err at half of α (C. E. Bonferroni's inequality), and the
# difference runs from the lowest value of one less the highest of the other upwards. Assumed: what
# `audit.statistics.side_moments` assumes.
#
# In tiny designs the closed form can be the wider interval, so the two are joined: a guaranteed
# interval is never narrower than the closed form.


def count_clusters(side: SideMoments, *, random: bool) -> float:
    """Return min(tasks, contexts) where contexts are sampled, else the tasks; weighted tasks by their effective number."""
    return min(side.effective_tasks, float(side.contexts)) if random else side.effective_tasks


def guaranteed_side(side: SideMoments, *, random: bool, banerjee: bool, binary: bool, level: float) -> SideInterval | None:
    """Return the interval for Φ of one side, in [0, 1]; None when its variance cannot be estimated.

    The hull of the closed form's interval, which a tiny design can make the wider one, and the exact limits at so many draws as
    there are clusters.
    """
    plain = side_interval(side, random=random, banerjee=banerjee, binary=binary, level=level)
    if plain is None:
        return None
    size = count_clusters(side, random=random)
    # Rounding may put a product above its factor.
    exact = clopper_pearson(successes=min(size * side.mean, size), trials=size, level=level)
    return SideInterval(exact=_join(exact, plain.exact), hull=_join(exact, plain.hull))


def guaranteed_sides(moments: Moments, *, level: float) -> tuple[SideInterval | None, SideInterval | None]:
    """Return the intervals of the test and of the deployment side; each None when it cannot be given."""
    test, deploy = (
        guaranteed_side(side, random=moments.random, banerjee=moments.banerjee, binary=moments.binary, level=level)
        for side in (moments.test, moments.deploy)
    )
    return test, deploy


def guaranteed_difference(moments: Moments, *, level: float) -> ConfidenceLimits | None:
    """Return the interval for ED, cut to [−1, 1]; None without a variance.

    The hull of ED ± h and of all differences of two means in the intervals of the sides, each at the level (1 + *level*)/2.
    """
    parts, (test, deploy) = moments.parts(), guaranteed_sides(moments, level=(1 + level) / 2)
    if parts is None or test is None or deploy is None:
        return None
    h = half_width(parts, level=level, banerjee=moments.banerjee)
    low = min(test.hull.low - deploy.hull.high, moments.difference - h)
    high = max(test.hull.high - deploy.hull.low, moments.difference + h)
    return ConfidenceLimits(low=max(-1.0, low), high=min(1.0, high))


def _join(first: ConfidenceLimits, second: ConfidenceLimits) -> ConfidenceLimits:
    return ConfidenceLimits(low=min(first.low, second.low), high=max(first.high, second.high))


# Confidence sequences: intervals for a mean that hold at all interim analyses together, so that a
# replay may stop at any time.
#
# Source: I. Waudby-Smith & A. Ramdas, Journal of the Royal Statistical Society B 86 (2024) 1–27,
# Theorem 2 (predictable plug-in empirical Bernstein, arXiv:2010.09686). For X_t in [0, 1] with E(X_t
# given the past) = μ and any predictable λ_t in (0, 1), with v_t = 4(X_t − μ̂_{t−1})² and ψ(λ) =
# (−log(1 − λ) − λ)/4,
#
#     Σλ_t X_t/Σλ_t ± [log(2/α) + Σ v_t ψ(λ_t)]/Σλ_t
#
# contains μ for all t at once with probability 1 − α. The λ_t are the authors' plug-ins for one level.
# They do not depend on the α of the interval, so the same sequence is valid at any other α and gives a
# valid p. Assumed: tasks are independent draws, in an order that does not depend on their scores. Sums
# follow that order, so a sequence is the same for any order of rows; on machines whose logarithms
# differ in the last bit, to about 12 digits.
#
# The intervals are about twice as wide as the closed form, more where scores hardly vary. There are no
# weights and no contrasts.

# λ must stay below 1. The cut at 1/2 follows the authors' plug-ins.
_LARGEST_BET = 0.5


def order_tasks(task_ids: Sequence[str], *, seed: int, families: Sequence[str] | None = None) -> list[int]:
    """Return the positions of *task_ids* in the order of the SHA-256 of `seed:family`, and within a family of `seed:task_id`.

    Without *families*, one name for each task, every task is its own. The order of two tasks does not depend on the others, so a longer
    list only puts tasks between. It is random as far as the ids do not know the seed.
    """
    keys = [(_hash(family, seed), _hash(task_id, seed)) for task_id, family in zip(task_ids, families or task_ids, strict=True)]
    return sorted(range(len(keys)), key=keys.__getitem__)


def list_beyond_prefix(
    task_ids: Sequence[str], open_ids: Collection[str], *, seed: int, families: Sequence[str] | None = None
) -> list[str]:
    """Return those of *task_ids* that do not count when a replay stops: the first family of the order with an open task, and all after it.

    The rule knows no scores: the order was fixed before the first one, and *open_ids* are tasks with a call that has no outcome.
    """
    names = list(families or task_ids)
    order = order_tasks(task_ids, seed=seed, families=families)
    stops = {names[place] for place in order if task_ids[place] in open_ids}
    first = next((number for number, place in enumerate(order) if names[place] in stops), len(order))
    return [task_ids[place] for place in order[first:]]


def _hash(name: str, seed: int) -> bytes:
    # A hash of seed and name, so that added tasks do not change the order of the others.
    return hashlib.sha256(f"{seed}:{name}".encode()).digest()


def compute_sequence(values: Floats, *, level: float) -> tuple[Floats, Floats, Floats]:
    """Return centre, penalty and weight of the sequence after each of *values* (in [0, 1], along the last axis), shaped like them.

    *level* tunes how narrow the sequence is at that level; it holds at all.
    """
    steps = np.arange(1, values.shape[-1] + 1, dtype=np.float64)
    mean = (0.5 + np.cumsum(values, axis=-1)) / (steps + 1)
    variance = (0.25 + np.cumsum((values - mean) ** 2, axis=-1)) / (steps + 1)
    mean_before, variance_before = _shift(mean, 0.5), _shift(variance, 0.25)
    # A bet may only use what was known before its task; otherwise the sequence is not predictable and
    # the guarantee fails.
    bets = np.minimum(np.sqrt(2 * math.log(2 / (1 - level)) / (variance_before * steps * np.log1p(steps))), _LARGEST_BET)
    penalty = np.cumsum((values - mean_before) ** 2 * (-np.log1p(-bets) - bets), axis=-1)
    weight = np.cumsum(bets, axis=-1)
    return np.cumsum(bets * values, axis=-1) / weight, penalty, weight


def build_sequence(values: npt.NDArray[np.float64], *, level: float) -> ConfidenceSequence:
    """Return the sequence after the last of *values*, of which there is at least one; numbers in [0, 1] in the order they came."""
    centre, penalty, weight = compute_sequence(values, level=level)
    return ConfidenceSequence(centre=float(centre[-1]), penalty=float(penalty[-1]), weight=float(weight[-1]))


def sequence_limits(sequence: ConfidenceSequence, *, level: float) -> ConfidenceLimits:
    """Return the interval at *level*, not cut to [0, 1]."""
    radius = (math.log(2 / (1 - level)) + sequence.penalty) / sequence.weight
    return ConfidenceLimits(low=sequence.centre - radius, high=sequence.centre + radius)


def one_sided_sequence_p(sequence: ConfidenceSequence, distance: float) -> float:
    """Return the one-sided p at which the interval, at level 1 − 2p, just reaches *distance* from its centre; at most 1."""
    return math.exp(min(0.0, sequence.penalty - distance * sequence.weight))


def extend_sequence(
    sequence: ConfidenceSequence, *, taken: int, more: int, point: float, variance: float, level: float
) -> ConfidenceSequence:
    """Return *sequence*, of *taken* steps, continued for *more* steps with mean *point* and *variance*: the result of a longer replay."""
    steps = np.arange(taken + 1, taken + more + 1, dtype=np.float64)
    # The sequence starts its variance estimate with one pseudo-observation of 0.25, so it never assumes
    # less.
    known = max(variance, 0.25 / (taken + 1))
    bets = np.minimum(np.sqrt(2 * math.log(2 / (1 - level)) / (known * steps * np.log1p(steps))), _LARGEST_BET)
    weight = sequence.weight + float(np.sum(bets))
    return ConfidenceSequence(
        centre=(sequence.centre * sequence.weight + point * float(np.sum(bets))) / weight,
        penalty=sequence.penalty + variance * float(np.sum(-np.log1p(-bets) - bets)),
        weight=weight,
    )


def _shift(values: Floats, first: float) -> Floats:
    """The values one step earlier: what was known before each."""
    return np.concatenate([np.full((*values.shape[:-1], 1), first), values[..., :-1]], axis=-1)
