"""The differential in units of the spread of single responses: nED = ED / (σ_pool + ε) (arXiv:2605.11496 section 3.1)."""

import math

from audit.statistics.scores import Floats
from audit.statistics.sums import sum_many

NEGLIGIBLE = 1e-12
"""On the scale of scores in [0, 1], a spread or a differential up to this counts as 0."""


def pooled_deviation(test: Floats, deploy: Floats) -> float | None:
    """Return σ_pool = √((σ²_test + σ²_deploy)/2) of scores in [0, 1], n − 1 in each variance; None when a side has fewer than two."""
    if len(test) < 2 or len(deploy) < 2:
        return None
    return math.sqrt((_variance(test) + _variance(deploy)) / 2)


def normalise(difference: float, deviation: float | None, *, epsilon: float) -> float | None:
    """Return nED; 0 when spread and difference are both negligible, None when only the spread is, or when it is not known."""
    if deviation is None:
        return None
    if deviation <= NEGLIGIBLE:
        return 0.0 if abs(difference) <= NEGLIGIBLE else None
    return difference / (deviation + epsilon)


def _variance(scores: Floats) -> float:
    mean = sum_many(scores) / len(scores)
    return sum_many((scores - mean) ** 2) / (len(scores) - 1)
