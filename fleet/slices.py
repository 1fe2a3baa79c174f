"""Slices of a run: which calls one worker makes in one go."""

from collections.abc import Iterator, Sequence

LARGEST = 256
"""Calls of a slice. A larger one would lose more when its worker dies."""
_SMALLEST = 16
"""To take a slice and to give it back costs about as much as two calls. Runs of less than 512 calls have smaller ones."""
_SHARE = 32
"""A slice has this part of the calls that are left at most. So the last slices are small, and workers finish at about the same time."""


def choose_sizes(calls: int) -> Iterator[int]:
    """Give the sizes of the slices of a run with *calls*: 256 in large runs, fewer in small ones and towards the end."""
    smallest = min(_SMALLEST, max(_SMALLEST // 2, calls // _SHARE))
    while calls > 0:
        size = min(calls, LARGEST, max(smallest, -(-calls // _SHARE)))
        yield size
        calls -= size


def number_slices(keys: Sequence[str], *, first: int) -> Iterator[tuple[str, int]]:
    """Give *keys*, each of them once, with the numbers of their slices, from *first*, in the order of the plan.

    The order of the plan mixes arms and contexts. A slice is a stretch of it, so that an endpoint which changes in the course of a run
    changes for all arms alike.
    """
    start = 0
    for number, size in enumerate(choose_sizes(len(keys)), start=first):
        yield from ((key, number) for key in keys[start : start + size])
        start += size
