"""What can go wrong with evidence: a branch of the family in `registry.errors`."""

import math

from registry.errors import Fault, InputError

LARGEST_SCORE = 1e100
"""Beyond it variances, which are in the square of the score's unit, come near to what a float can hold."""

NARROWEST_RANGE = 1e-100


class TableError(InputError):
    """A file cannot be read as a score table; every fault names file, row and column. Nothing was recorded."""


class DesignError(InputError):
    """The scores are sound, and yet no differential follows from them: a side, a task or a specification is missing."""


def find_range_fault(low: float, high: float) -> Fault | None:
    """Return what is wrong with a range of scores, or None: it must run upwards, and its numbers must leave room to compute with."""
    text = f"found {low:g} and {high:g}"
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        return Fault("bad-range", "range", f"expected low < high, {text}")
    if max(-low, high) > LARGEST_SCORE or high - low < NARROWEST_RANGE:
        expected = f"expected numbers within ±{LARGEST_SCORE:g} that are at least {NARROWEST_RANGE:g} apart"
        return Fault("bad-range", "range", f"{expected}, {text}")
    return None
