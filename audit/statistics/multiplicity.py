"""Levels for several comparisons at once.

Source: S. Holm, Scandinavian Journal of Statistics 6 (1979) 65–70.
"""


def holm_levels(count: int, *, level: float) -> tuple[float, ...]:
    """Return the level of the k-th interval, k = 1 … count, ordered by p: 1 − α/(count − k + 1) with α = 1 − level.

    Raises:
        ValueError: *count* is below 1 or *level* not between 0 and 1.
    """
    if count < 1 or not 0 < level < 1:
        raise ValueError(f"count must be at least 1 and level lie in (0, 1), got {count} and {level}")
    # The last level is the plan's own, to the bit.
    return tuple(level if remaining == 1 else 1 - (1 - level) / remaining for remaining in range(count, 0, -1))
