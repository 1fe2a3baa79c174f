"""Levels and p-values for several comparisons at once.

Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65–70.
"""

from collections.abc import Sequence


def holm_levels(count: int, *, level: float) -> tuple[float, ...]:
    """Return the level of the k-th interval, k = 1 … count, ordered by p: 1 − α/(count − k + 1) with α = 1 − level.

    Raises:
        ValueError: *count* is below 1 or *level* not between 0 and 1.
    """
    if count < 1 or not 0 < level < 1:
        raise ValueError(f"count must be at least 1 and level lie in (0, 1), got {count} and {level}")
    # The last level is the plan's own, to the bit.
    return tuple(level if remaining == 1 else 1 - (1 - level) / remaining for remaining in range(count, 0, -1))


def holm_p(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Return the adjusted p of each comparison, in the order given: max over j ≤ k of (m − j + 1) p₍ⱼ₎, at most 1.

    m counts all comparisons that were asked for. None, a comparison without a p, stays None and counts as one that is not rejected.

    Raises:
        ValueError: a p lies outside [0, 1].
    """
    if not all(p is None or 0 <= p <= 1 for p in p_values):
        raise ValueError(f"p-values must lie in [0, 1], got {list(p_values)}")
    ordered = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: dict[int, float] = {}
    largest = 0.0
    for rank, (p, place) in enumerate(ordered):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p))
        adjusted[place] = largest
    return tuple(adjusted.get(place) for place in range(len(p_values)))
