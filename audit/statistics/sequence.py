"""Confidence sequences: intervals for a mean that hold at every look together, so that a replay may stop whenever it likes.

Source: I. Waudby-Smith & A. Ramdas, Journal of the Royal Statistical Society B 86 (2024) 1–27, Theorem 2 (predictable plug-in
empirical Bernstein, arXiv:2010.09686). For X_t in [0, 1] with E(X_t given the past) = μ and any predictable λ_t in (0, 1), with
v_t = 4(X_t − μ̂_{t−1})² and ψ(λ) = (−log(1 − λ) − λ)/4,

    Σλ_t X_t/Σλ_t ± [log(2/α) + Σ v_t ψ(λ_t)]/Σλ_t

contains μ for all t at once with probability 1 − α. The λ_t are the authors' plug-ins for one level; since they do not look at
the α of the interval, the same walk gives a valid sequence at any other α, and so a valid p.
Assumed: tasks are independent draws, taken in an order that their scores did not choose. Sums follow that order, so walks are the
same for any order of rows; on other machines, whose logarithms may differ in their last bit, to about 12 digits.
"""

import hashlib
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from audit.statistics.proportion import Limits
from audit.statistics.scores import Floats
from registry.records.estimate import Walk

_LARGEST_BET = 0.5


def order_tasks(task_ids: Sequence[str], *, seed: int, families: Sequence[str] | None = None) -> list[int]:
    """Return the positions of *task_ids* in the order of the SHA-256 of `seed:family`, and within a family of `seed:task_id`.

    Without *families*, one name for each task, every task is its own. The order of two tasks does not depend on the others, so a longer
    list only puts tasks between. It is random as far as the ids do not know the seed.
    """
    keys = [(_hash(family, seed), _hash(task_id, seed)) for task_id, family in zip(task_ids, families or task_ids, strict=True)]
    return sorted(range(len(keys)), key=keys.__getitem__)


def _hash(name: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}:{name}".encode()).digest()


def walk_all(values: Floats, *, level: float) -> tuple[Floats, Floats, Floats]:
    """Return centre, penalty and weight of the walk after each of *values* (in [0, 1], along the last axis), shaped like them.

    *level* tunes how narrow the sequence is at that level; it holds at all.
    """
    steps = np.arange(1, values.shape[-1] + 1, dtype=np.float64)
    mean = (0.5 + np.cumsum(values, axis=-1)) / (steps + 1)
    variance = (0.25 + np.cumsum((values - mean) ** 2, axis=-1)) / (steps + 1)
    mean_before, variance_before = _shift(mean, 0.5), _shift(variance, 0.25)
    bets = np.minimum(np.sqrt(2 * math.log(2 / (1 - level)) / (variance_before * steps * np.log1p(steps))), _LARGEST_BET)
    penalty = np.cumsum((values - mean_before) ** 2 * (-np.log1p(-bets) - bets), axis=-1)
    weight = np.cumsum(bets, axis=-1)
    return np.cumsum(bets * values, axis=-1) / weight, penalty, weight


def build_walk(values: npt.NDArray[np.float64], *, level: float) -> Walk:
    """Return the walk after the last of *values*, of which there is at least one; numbers in [0, 1] in the order they came."""
    centre, penalty, weight = walk_all(values, level=level)
    return Walk(centre=float(centre[-1]), penalty=float(penalty[-1]), weight=float(weight[-1]))


def walk_limits(walk: Walk, *, level: float) -> Limits:
    """Return the interval at *level*, not cut to [0, 1]."""
    radius = (math.log(2 / (1 - level)) + walk.penalty) / walk.weight
    return Limits(low=walk.centre - radius, high=walk.centre + radius)


def one_sided_walk_p(walk: Walk, distance: float) -> float:
    """Return the one-sided p at which the interval, at level 1 − 2p, just reaches *distance* from its centre; at most 1."""
    return math.exp(min(0.0, walk.penalty - distance * walk.weight))


def extend_walk(walk: Walk, *, taken: int, more: int, point: float, variance: float, level: float) -> Walk:
    """Return *walk*, of *taken* steps, gone on for *more* of them with mean *point* and *variance*: what a longer replay would bring."""
    steps = np.arange(taken + 1, taken + more + 1, dtype=np.float64)
    # The sequence itself never takes the variance for smaller.
    known = max(variance, 0.25 / (taken + 1))
    bets = np.minimum(np.sqrt(2 * math.log(2 / (1 - level)) / (known * steps * np.log1p(steps))), _LARGEST_BET)
    weight = walk.weight + float(np.sum(bets))
    return Walk(
        centre=(walk.centre * walk.weight + point * float(np.sum(bets))) / weight,
        penalty=walk.penalty + variance * float(np.sum(-np.log1p(-bets) - bets)),
        weight=weight,
    )


def _shift(values: Floats, first: float) -> Floats:
    """The values one step earlier: what was known before each."""
    return np.concatenate([np.full((*values.shape[:-1], 1), first), values[..., :-1]], axis=-1)
