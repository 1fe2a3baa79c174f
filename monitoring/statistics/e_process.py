"""Evidence that the rate of a stream is above a limit, valid at every look, and the confidence sequence that belongs to it.

Under the null that every item's weighted score z (see `stream_tally`) has a conditional mean of at most the limit θ,

    M(θ) = mean over f of Π (1 + f·(z - θ)/(θ - a))

with a ≤ 0 the smallest z that the plan allows is a nonnegative supermartingale that starts at 1. By Ville's inequality it ever reaches m/α
with a probability of at most α/m. This is betting the share f of what may be bet without ruin on each item (Waudby-Smith and Ramdas 2024,
JRSS B 86(1)); a is 0 without labels of people. Sums of a cell give at least the log of the product of its items, because the logarithm is
concave, and exactly that product where scores are 0 or 1. So evidence from sums is never too large. It is defined at the ends of windows.
"""

import math
from collections.abc import Sequence

import numpy as np

from monitoring.statistics.stream_tally import StreamTally

BETS: tuple[float, ...] = (0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32)
"""The shares f. Another grid would be another process, so a monitor's lock fixes it."""

LABEL_BETS: tuple[float, ...] = (0.02, 0.04, 0.08, 0.16, 0.32, 0.48, 0.64, 0.8)
"""The shares f where people label a part: the smallest z is then far below 0, so that the same share is a much smaller bet."""

_STEPS = 200
"""Halvings of an interval in [0, 1]: more than the digits of a double."""


def log_evidence(tally: StreamTally, limit: float, *, bets: Sequence[float] = BETS) -> float:
    """Return log M of *tally* against "the rate is at most *limit*".

    Raises:
        ValueError: for a limit outside (0, 1). Against a limit of 0 a single event decides, and no bet is needed.
    """
    if not 0 < limit < 1:
        raise ValueError(f"limit {limit} is not in (0, 1)")
    shares, reach = np.asarray(bets, dtype=float), limit - tally.floor
    # For each f: the factor of an item with z = 0 is 1 - f without labels, as 0 is then the smallest z.
    growth = (tally.items - math.fsum(tally.weights.values())) * np.log1p(-shares * limit / reach)
    for weighted, count in tally.weights.items():
        growth = growth + count * np.log1p(shares * (weighted - limit) / reach)
    highest = float(growth.max())
    return highest + math.log(float(np.exp(growth - highest).mean()))


def find_lower_limit(tally: StreamTally, threshold: float, *, bets: Sequence[float] = BETS) -> float:
    """Return the highest rate θ against which the evidence has reached *threshold* (m/α); 0 where none has.

    Each factor is 1 - f + f·(z - a)/(θ - a), so the evidence falls as θ grows: "M(θ) ≥ threshold" and "θ ≤ lower limit" are the same.
    """
    wanted = math.log(threshold)
    if not tally.weights:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if log_evidence(tally, middle, bets=bets) >= wanted:
            low = middle
        else:
            high = middle
    return low
