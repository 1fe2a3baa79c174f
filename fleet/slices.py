"""Slices of a run: which calls one worker makes in one go, and how far the plan is complete."""

from collections.abc import Collection, Iterable, Iterator, Sequence

LARGEST = 256
"""Calls of a slice. A larger one would lose more when its worker dies."""
_SMALLEST = 8
_SLICES = 32
"""A run has about as many at least, so that a few workers finish at about the same time."""


def choose_size(calls: int) -> int:
    """Return how many calls a slice of a run with *calls* has: 256 in large runs, fewer in small ones, so that all workers have some."""
    return min(LARGEST, max(_SMALLEST, -(-calls // _SLICES)))


def number_slices(keys: Iterable[str], known: Collection[str], *, first: int, size: int) -> Iterator[tuple[str, int]]:
    """Give those of *keys* that are not *known* with the numbers of their slices, from *first*, in the order of the plan; each key once.

    The order of the plan mixes arms and contexts. A slice is a stretch of it, so that an endpoint which changes in the course of a run
    changes for all arms alike.
    """
    seen = set(known)
    count = 0
    for key in keys:
        if key not in seen:
            seen.add(key)
            yield key, first + count // size
            count += 1


def find_prefix(keys: Sequence[str], settled: Collection[str]) -> int:
    """Return how many of *keys*, the calls of the plan in its order, come before the first without an outcome.

    A stopping rule that may be applied at any time counts only these. The order was fixed before the first score.
    """
    for position, key in enumerate(keys):
        if key not in settled:
            return position
    return len(keys)
