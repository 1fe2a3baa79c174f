"""How far several raters give the same answers to the same items, beyond chance.

Sources: K. Krippendorff, Computing Krippendorff's Alpha-Reliability (University of Pennsylvania, 2011), nominal data, any number of raters,
missing answers; intervals by resampling items (B. Efron, Annals of Statistics 7 (1979) 1–26) joined with those of Korn & Graubard for
the observed agreement. Assumed: items are independent. Raters are taken as they are: these intervals say nothing about others.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audit.statistics.moments import SideMoments
from audit.statistics.proportion import Limits, side_interval
from audit.statistics.scores import Floats
from audit.statistics.sums import sum_all

Answers = npt.NDArray[np.integer]
"""[items, raters]: the code of the answer from 0, or −1 for none."""

_BLOCK = 1_000
"""Replicates that are drawn together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementInterval:
    """A measure of agreement; the value is None where it does not exist, the limits where they cannot be given."""

    value: float | None
    limits: Limits | None


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
    found = side_interval(side, random=False, banerjee=False, binary=False, level=level)
    return AgreementInterval(value=side.mean, limits=None if found is None else found.hull)


def krippendorff_alpha(counts: Floats) -> float | None:
    """Return Krippendorff's alpha for nominal answers: 1 − D_o/D_e; None without two answers of one item, or with one answer in all.

    *counts* is what `count_answers` returns. 1 is perfect agreement, 0 what chance would give; below 0 there is less than that.
    """
    found = _alphas(np.ones((1, len(counts))), counts)
    return None if np.isnan(found[0]) else float(found[0])


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
    ends = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2]).tolist() if len(drawn) else [value, value]
    expected = _expect(counts.sum(axis=0))
    low, high = (1 - (1 - end) / expected for end in (observed.limits.low, observed.limits.high))
    return AgreementInterval(value=value, limits=Limits(low=max(-1.0, min(low, ends[0])), high=min(1.0, max(high, ends[1], value))))


def _disagree(counts: Floats) -> Floats:
    """By item: Σ_{v≠w} n_v n_w/(m − 1), ordered pairs of raters who disagree, each answer counted once."""
    ratings = counts.sum(axis=1)
    found: Floats = (ratings**2 - (counts**2).sum(axis=1)) / (ratings - 1)
    return found


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
    found = np.full(len(weights), np.nan)
    observed = weights @ _disagree(counts) if len(counts) else np.zeros(len(weights))
    found[exists] = 1 - observed[exists] * (whole[exists] - 1) / expected[exists]
    return found


def _resample(counts: Floats, *, replicates: int, seed: int) -> Floats:
    """Alphas of replicates that exist."""
    rng = np.random.default_rng(seed)
    items = len(counts)
    found = []
    for start in range(0, replicates, _BLOCK):
        weights = rng.multinomial(items, np.full(items, 1 / items), size=min(_BLOCK, replicates - start)).astype(np.float64)
        found.append(_alphas(weights, counts))
    drawn = np.concatenate(found)
    return drawn[~np.isnan(drawn)]
