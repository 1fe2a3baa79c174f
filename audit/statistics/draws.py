"""Random weights of the bootstrap: how often each task or context is drawn in each replicate.

Below `ENOUGH_UNITS` units the counts are multinomial, as in drawing that many with replacement; from there on they are independent
Poisson(1) counts, of the same mean and variance but for 1/units (A. B. Owen & D. Eckles, arXiv:1106.2125, on independent weights).
A block of replicates has a generator of its own, so that blocks may be made in any order and by any number of threads. Only the raw
stream of SFC64 is used, which NumPy keeps as it is from version to version (NEP 19), and integer arithmetic on it.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.statistics.scores import Floats

ENOUGH_UNITS = 200
"""From this many units on the weights are Poisson."""

POISSON_COUNTS = (24109, 24109, 12056, 4018, 1005, 200, 33, 5, 1)
"""How many of the 65,536 values of 16 bits stand for 0, 1, 2 … draws: Poisson(1) to ±1.5/65,536, mean and variance exactly 1."""

MOST_DRAWS = len(POISSON_COUNTS) - 1
"""Largest Poisson weight."""

_TABLE = np.repeat(np.arange(len(POISSON_COUNTS)), POISSON_COUNTS)
_TABLES = {kind: _TABLE.astype(kind) for kind in (np.float32, np.float64)}
_CHUNK = 4096

Kind = type[np.float32] | type[np.float64]


def count_rows(units: int) -> int:
    """Return the number of replicates in a block of weights for *units* tasks: about 32,000 weights, 16 to 1,024 replicates."""
    return min(1024, max(16, 32_000 // units))


def open_stream(seed: int, block: int) -> np.random.SFC64:
    """Return the generator of one block; streams of different blocks and seeds are independent."""
    # A seed of NumPy's is a natural number, or several.
    entropy = seed if seed >= 0 else (-seed, 1)
    return np.random.SFC64(np.random.SeedSequence(entropy, spawn_key=(block,)))


def draw_weights(stream: np.random.SFC64, *, rows: int, units: int) -> Floats:
    """Return weights [rows, units], whole numbers: each row the counts of one replicate."""
    weights = np.empty((rows, units))
    for place, chunk in draw_chunks(stream, rows=rows, units=units):
        weights[:, place] = chunk
    return weights


def draw_uniforms(stream: np.random.SFC64, *, rows: int, columns: int) -> Floats:
    """Return numbers [rows, columns] between 0 and 1, neither of them included."""
    words = stream.random_raw(rows * columns) >> np.uint64(12)
    return ((words.astype(np.float64) + 0.5) * 2.0**-52).reshape(rows, columns)


def draw_chunks(
    stream: np.random.SFC64, *, rows: int, units: int, kind: Kind = np.float64
) -> Iterator[tuple[slice, npt.NDArray[np.floating[Any]]]]:
    """Yield the weights of some of the units at a time, with their place; an array is valid until the next one is drawn.

    They are the same numbers in single as in double precision.
    """
    if units < ENOUGH_UNITS:
        yield slice(0, units), _draw_multinomial(stream, rows=rows, units=units).astype(kind)
        return
    memory = np.empty(rows * min(units, _CHUNK), dtype=kind)
    for start in range(0, units, _CHUNK):
        stop = min(units, start + _CHUNK)
        yield slice(start, stop), _draw_poisson(stream, memory[: rows * (stop - start)]).reshape(rows, stop - start)


def _draw_poisson(stream: np.random.SFC64, memory: npt.NDArray[np.floating[Any]]) -> npt.NDArray[np.floating[Any]]:
    words = stream.random_raw(-(-len(memory) // 4)).astype("<u8", copy=False)
    # Sixteen bits never leave the table; "wrap" spares the check and the copy that the default makes.
    return np.take(_TABLES[memory.dtype.type], words.view("<u2")[: len(memory)], out=memory, mode="wrap")


def _draw_multinomial(stream: np.random.SFC64, *, rows: int, units: int) -> npt.NDArray[np.intp]:
    words = stream.random_raw(-(-rows * units // 2)).astype("<u8", copy=False)
    # The high half of 32 random bits times the number of units: each is drawn with probability 1/units ± 2⁻³².
    drawn = (words.view("<u4")[: rows * units].astype(np.int64) * units) >> 32
    drawn += np.repeat(np.arange(rows) * units, units)
    return np.bincount(drawn, minlength=rows * units).reshape(rows, units)
