"""How far several raters agree beyond chance, and how often blind raters are right."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import bdtrc, gammaln

from audit.statistics.mean_intervals import ConfidenceLimits, clopper_pearson, side_interval
from audit.statistics.responses import Floats, effective_number, sum_all
from audit.statistics.side_moments import ENOUGH_CONTEXTS, SideMoments, VariancePart, satterthwaite_df

# Agreement of several raters beyond chance.
#
# Sources: K. Krippendorff, Computing Krippendorff's Alpha-Reliability (University of Pennsylvania,
# 2011), nominal data, any number of raters, missing answers; intervals by resampling items (B. Efron,
# Annals of Statistics 7 (1979) 1–26) joined with those of Korn & Graubard for the observed agreement.
# Assumed: items are independent. Raters are fixed: the intervals do not generalise to other raters.

Answers = npt.NDArray[np.integer]
"""[items, raters]: the code of the answer from 0, or −1 for none."""

_BLOCK = 1_000
"""Replicates that are drawn together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementInterval:
    """A measure of agreement; the value is None where it does not exist, the limits where they cannot be given."""

    value: float | None
    limits: ConfidenceLimits | None


def count_answers(answers: Answers) -> Floats:
    """Return [items, answers]: how many raters gave each answer, for the items that at least two raters answered.

    Items come in an order of their own, so that no result depends on theirs.
    """
    counts = np.zeros((len(answers), int(answers.max(initial=-1)) + 1))
    for code in range(counts.shape[1]):
        counts[:, code] = (answers == code).sum(axis=1)
    kept: Floats = counts[counts.sum(axis=1) >= 2]
    return kept[np.lexsort(kept.T)] if kept.size else kept


def observe_agreement(counts: Floats, *, level: float) -> AgreementInterval:
    """Return the share of pairs of raters who agree, each answer weighing the same, with the Korn–Graubard interval over items.

    None without an item that two raters answered; no interval with one such item.
    """
    if not len(counts):
        return AgreementInterval(value=None, limits=None)
    ratings, disagreements = counts.sum(axis=1), _disagree(counts)
    value = 1 - sum_all(disagreements) / sum_all(ratings)
    items = len(counts)
    deviations = (ratings - disagreements - value * ratings) / sum_all(ratings)
    variance = None if items < 2 else sum_all(deviations**2) * items / (items - 1)
    equal = bool((ratings == ratings[0]).all())
    side = SideMoments(
        mean=min(1.0, max(0.0, value)),
        tasks=items,
        contexts=0,
        responses=items,
        task_variance=variance,
        context_variance=0.0,
        kish=None if equal else sum_all(ratings) ** 2 / sum_all(ratings**2),
    )
    interval = side_interval(side, random=False, banerjee=False, binary=False, level=level)
    return AgreementInterval(value=side.mean, limits=None if interval is None else interval.hull)


def krippendorff_alpha(counts: Floats) -> float | None:
    """Return Krippendorff's alpha for nominal answers: 1 − D_o/D_e; None without two answers of one item, or with one answer in all.

    *counts* is what `count_answers` returns. 1 is perfect agreement, 0 what chance would give; below 0 there is less than that.
    """
    alphas = _alphas(np.ones((1, len(counts))), counts)
    return None if np.isnan(alphas[0]) else float(alphas[0])


def bound_alpha(counts: Floats, *, level: float, replicates: int, seed: int) -> AgreementInterval:
    """Return alpha with its interval: the hull of bootstrap percentiles over items and of the observed agreement's limits.

    The latter are put into 1 − D_o/D_e with D_e as it is: so raters who agree on every item do not get an interval of no width.
    No interval with one item, or without replicates.
    """
    value = krippendorff_alpha(counts)
    observed = observe_agreement(counts, level=level)
    if value is None or observed.value is None or observed.limits is None or replicates < 1:
        return AgreementInterval(value=value, limits=None)
    drawn = _resample(counts, replicates=replicates, seed=seed)
    # Replicates in which only one answer occurs have no alpha and drop out; if none is left, the value
    # itself is the percentile.
    ends = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist() if len(drawn) else [value, value]
    expected = _expect(counts.sum(axis=0))
    low, high = (1 - (1 - end) / expected for end in (observed.limits.low, observed.limits.high))
    return AgreementInterval(
        value=value, limits=ConfidenceLimits(low=max(-1.0, min(low, ends[0])), high=min(1.0, max(high, ends[1], value)))
    )


def _disagree(counts: Floats) -> Floats:
    """By item: Σ_{v≠w} n_v n_w/(m − 1), ordered pairs of raters who disagree, each answer counted once."""
    ratings = counts.sum(axis=1)
    disagreement: Floats = (ratings**2 - (counts**2).sum(axis=1)) / (ratings - 1)
    return disagreement


def _expect(totals: Floats) -> float:
    """D_e: the share of disagreeing pairs among all answers, whatever item they belong to."""
    whole = float(totals.sum())
    return float(whole**2 - (totals**2).sum()) / (whole * (whole - 1))


def _alphas(weights: Floats, counts: Floats) -> Floats:
    """One alpha for each row of item *weights* (whole numbers); NaN where it does not exist."""
    totals = weights @ counts
    whole = totals.sum(axis=1)
    expected = whole**2 - (totals**2).sum(axis=1)
    exists = expected > 0
    alphas = np.full(len(weights), np.nan)
    observed = weights @ _disagree(counts) if len(counts) else np.zeros(len(weights))
    alphas[exists] = 1 - observed[exists] * (whole[exists] - 1) / expected[exists]
    return alphas


def _resample(counts: Floats, *, replicates: int, seed: int) -> Floats:
    """Alphas of replicates that exist."""
    rng = np.random.default_rng(seed)
    items = len(counts)
    alphas = []
    for start in range(0, replicates, _BLOCK):
        weights = rng.multinomial(items, np.full(items, 1 / items), size=min(_BLOCK, replicates - start)).astype(np.float64)
        alphas.append(_alphas(weights, counts))
    drawn = np.concatenate(alphas)
    return drawn[~np.isnan(drawn)]


# Accuracy of blind raters, individually and pooled (statistics.md section 3).
#
# Sources: C. J. Clopper & E. S. Pearson, Biometrika 26 (1934) 404–413 (one rater); E. L. Korn & B. I.
# Graubard, Survey Methodology 24 (1998) 193–201, with the variances of items and of raters (pooled); G.
# Y. Zou & A. Donner, Statistics in Medicine 27 (2008) 1693–1702 (MOVER, for the mean of two shares).
# Assumed: items are independent draws from their side; raters are independent of each other and, for
# the pooled accuracy, a sample of possible raters.
#
# Items and raters are crossed, and each side weighs half whatever its number of items. One person gives
# no pooled interval.

Flags = npt.NDArray[np.bool_]

ENOUGH_RATERS = ENOUGH_CONTEXTS
"""With fewer persons the interval for all of them takes Banerjee's form and is wide; with two it says next to nothing."""

ENOUGH_ITEMS = 5
"""Below so many items on a side the variance of that side says too little: beside 20 items, two left out the truth in 9–27 %."""

_SAME = 1e-7
"""Relative slack by which two probabilities count as equal, as in R's fisher.test."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledAccuracy:
    """The accuracy of several raters together."""

    value: float
    limits: ConfidenceLimits | None
    """None with one rater, or one item on a side: nothing says how others would differ."""


def binomial_p(*, correct: int, trials: int) -> float:
    """Return the exact two-sided p of *correct* of *trials* against 1/2.

    Raises:
        ValueError: not 0 ≤ correct ≤ trials, or no trial.
    """
    if not 0 <= correct <= trials or trials < 1:
        raise ValueError(f"correct must lie in [0, trials] and trials be at least 1, got {correct} and {trials}")
    far = max(correct, trials - correct)
    # At 1/2 the distribution is symmetric, so both tails are the same.
    return 1.0 if 2 * far == trials else min(1.0, 2 * float(bdtrc(far - 1, trials, 0.5)))


def fisher_p(*, right: tuple[int, int], trials: tuple[int, int]) -> float:
    """Return Fisher's exact two-sided p that answers and truth are independent, for right answers and trials on either side.

    Exact whatever the numbers of items of both sides and however often the rater says `test`: both margins are fixed.
    Two-sided as in R: all tables at most as probable as the one found.
    """
    count = right[0] + trials[1] - right[1]
    whole = sum(trials)
    values = np.arange(max(0, count - trials[1]), min(count, trials[0]) + 1)
    logs = _log_choose(trials[0], values) + _log_choose(trials[1], count - values) - _log_choose(whole, np.array([count]))
    chances = np.exp(logs)
    return min(1.0, math.fsum(chances[chances <= chances[values == right[0]] * (1 + _SAME)].tolist()))


def mean_of_shares(*, right: tuple[float, float], trials: tuple[int, int], level: float) -> tuple[float, ConfidenceLimits]:
    """Return the mean of the shares right on either side with its interval, MOVER from Clopper–Pearson limits; trials are above 0."""
    shares = [right[side] / trials[side] for side in (0, 1)]
    limits = [clopper_pearson(successes=right[side], trials=trials[side], level=level) for side in (0, 1)]
    down = math.hypot(*(share - limit.low for share, limit in zip(shares, limits, strict=True))) / 2
    up = math.hypot(*(confidence_limits.high - share for share, confidence_limits in zip(shares, limits, strict=True))) / 2
    value = sum(shares) / 2
    return value, ConfidenceLimits(low=max(0.0, value - down), high=min(1.0, value + up))


def pool_raters(right: Floats, test: Flags, *, level: float) -> PooledAccuracy | None:
    """Return the accuracy of all raters, items and raters crossed; either side weighs half, and each of its items the same.

    None when a side has no answer. Items take the place of tasks, in two strata of fixed size, and raters that of contexts.

    Where a side has fewer than `ENOUGH_ITEMS` their spread may not show at all: then the limits that count each item as one draw
    are taken in too.

    Args:
        right: [items, raters]: 1 for a right answer, 0 for a wrong one, NaN for none.
        test: by item, whether it is of the test side.
        level: nominal coverage, between 0 and 1.
    """
    answered = ~np.isnan(right)
    items, raters = answered.any(axis=1), answered.any(axis=0)
    right, answered, test = right[items][:, raters], answered[items][:, raters], test[items]
    sizes = np.array([np.count_nonzero(~test), np.count_nonzero(test)])
    if not sizes.all():
        return None
    weights = 0.5 / sizes[test.astype(int)]
    shares = np.where(answered, right, 0.0).sum(axis=1) / answered.sum(axis=1)
    value = sum_all(weights * shares)
    side = SideMoments(
        mean=value,
        tasks=len(right),
        contexts=right.shape[1],
        responses=int(np.count_nonzero(answered)),
        task_variance=_compute_item_variance(shares, test, sizes),
        context_variance=_compute_rater_variance(right - value, answered, weights),
        kish=_count_effective_items(shares, test, weights),
    )
    interval = side_interval(side, random=True, banerjee=side.contexts < ENOUGH_RATERS, binary=True, level=level)
    # With few items on a side their spread may be invisible: beside 20 items, two on the other side
    # missed the truth in 9 to 27 % of samples.
    if interval is None or sizes.min() >= ENOUGH_ITEMS:
        return PooledAccuracy(value=value, limits=None if interval is None else interval.hull)
    right_of_side = sum_all(shares[test]), sum_all(shares[~test])
    _, counted = mean_of_shares(right=right_of_side, trials=(int(sizes[1]), int(sizes[0])), level=level)
    return PooledAccuracy(
        value=value, limits=ConfidenceLimits(low=min(interval.hull.low, counted.low), high=max(interval.hull.high, counted.high))
    )


def _compute_item_variance(shares: Floats, test: Flags, sizes: npt.NDArray[np.int64]) -> float | None:
    """¼ Σ over sides of s²/n; None with one item on a side."""
    return None if sizes.min() < 2 else math.fsum(_vary(side_shares) for side_shares in (shares[test], shares[~test])) / 4


def _count_effective_items(shares: Floats, test: Flags, weights: Floats) -> float:
    """How many items of equal weight they are worth (Kish), and no more than the variances of both sides have degrees of freedom, plus 1.

    Those are Satterthwaite's: where one side has few items and most of the variance, they are about its own.
    """
    sides = shares[test], shares[~test]
    kish = effective_number(weights)
    if min(len(side) for side in sides) < 2 or not any(_vary(side) for side in sides):
        return kish
    return min(kish, 1 + satterthwaite_df([VariancePart(variance=_vary(side), df=len(side) - 1) for side in sides]))


def _vary(shares: Floats) -> float:
    """The variance of the mean of one side, s²/n; at least two items."""
    return sum_all((shares - sum_all(shares) / len(shares)) ** 2) / (len(shares) * (len(shares) - 1))


def _compute_rater_variance(deviations: Floats, answered: Flags, weights: Floats) -> float | None:
    """R/(R − 1) Σ_r z_r² with z_r = Σ_i w_i a_i (x_ir − accuracy) and a_i = 1/(raters of the item); None with one rater."""
    raters = int(answered.shape[1])
    if raters < 2:
        return None
    scaled = np.where(answered, deviations, 0.0) * (weights / answered.sum(axis=1))[:, np.newaxis]
    sums = [sum_all(scaled[:, rater]) for rater in range(raters)]
    return math.fsum(sum_ * sum_ for sum_ in sums) * raters / (raters - 1)


def _log_choose(n: int, k: npt.NDArray[np.int64]) -> Floats:
    logarithms: Floats = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return logarithms
