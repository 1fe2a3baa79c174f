"""The bootstrap of tasks, contexts and both, on sums over cells instead of responses.

Every statistic of a replicate is a ratio of sums Σ_i w_i Σ_c v_c x_ic over the cells of a side, with w_i how often task i was drawn (the
same for both sides: tasks stay paired) and v_c how often context c was (each side its own). So one product of the weights
with the table of sums gives a replicate of everything: Φ* = Φ + Σ w v z / Σ w v a with z = q a (m − Φ), a = q/(contexts present for the
task) and q the weight of the task in the mean; all weights 1 give Φ itself, also with missing cells. Sources: A. B. Owen, Annals of Applied
Statistics 1 (2007) 386–411 (pigeonhole bootstrap); A. B. Owen & D. Eckles, Annals of Applied Statistics 6 (2012) 895–927 (arXiv:1106.2125).

Sums are exact: x is rounded to a power of two so fine that no sum of it needs more than 53 bits. Hence neither the order of summation,
nor the number of threads, nor the library that multiplies matrices changes a bit of a replicate.
"""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from audit.statistics.draws import ENOUGH_UNITS, MOST_DRAWS, Kind, count_rows, draw_chunks, draw_weights, open_stream
from audit.statistics.scores import Codes, Floats

_BLOCK = 1024
_DENSE = 2_000_000
"""Up to this many numbers beyond eight for each one present, the matrix is kept whole; above, it is sparse."""

_SINGLE = 2.0**24
"""Whole numbers up to this are exact in single precision, which multiplies twice as fast."""

_PRODUCT = 720_000
"""Multiplications in one matrix product: below, OpenBLAS stays in one thread, and the weights in the cache."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layer:
    """One side: its cells, and what is added up over them; arrays of one length."""

    task: Codes
    """Row in the design, 0 … tasks − 1."""

    context: Codes
    """0 … contexts − 1; all 0 where contexts are not sampled."""

    contexts: int
    deviation: Floats
    """z = q a (m − Φ) of each cell, which the expected standard error is made of."""

    tables: tuple[Floats, ...]
    """The numbers x that are added up, of any size."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sums:
    """Replicated sums of one side; one row for each replicate."""

    tables: Floats
    """One column for each table of the layer."""

    drawn: Floats
    """Σ_i w_i · Σ_c v_c/contexts."""

    weighted: Floats
    """Σ_i w_i q_i · Σ_c v_c/contexts."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replicates:
    """The sums of both sides (test, deployment) under each way of drawing."""

    task: tuple[Sums, Sums]
    context: tuple[Sums, Sums] | None
    """None where contexts are not sampled."""

    two_way: tuple[Sums, Sums] | None


def resample(
    layers: tuple[Layer, Layer], task_weights: Floats, *, random: bool, replicates: int, seed: int, threads: int = 1
) -> Replicates:
    """Return the replicated sums of the two *layers*, which have the same tasks.

    The first n replicates are the same whatever number is asked for. Takes memory for the results and, beyond them, a few MB.

    Args:
        layers: test and deployment side.
        task_weights: q, one for each task.
        random: whether contexts are a sample.
        replicates: at least 1.
        seed: of all weights.
        threads: to share the blocks of replicates; no result depends on it.
    """
    design = _Design(layers, task_weights, random=random)
    rows = min(_BLOCK, max(16, 100_000 // max(design.contexts)))
    found = [np.empty((replicates, design.width)) for _ in range(3 if random else 1)]

    def run(block: int) -> None:
        place = slice(block * rows, min(replicates, (block + 1) * rows))
        for way, totals in zip(found, design.draw(open_stream(seed, block), rows=rows, kept=place.stop - place.start), strict=True):
            way[place] = totals

    blocks = range(-(-replicates // rows))
    if threads > 1:
        with ThreadPoolExecutor(max_workers=threads) as pool:
            list(pool.map(run, blocks))
    else:
        for block in blocks:
            run(block)
    ways = [design.divide(totals) for totals in found]
    return Replicates(task=ways[0], context=ways[1] if random else None, two_way=ways[2] if random else None)


class _Design:
    """Both layers as one matrix, and how to multiply it with weights."""

    def __init__(self, layers: tuple[Layer, Layer], task_weights: Floats, *, random: bool) -> None:
        self.tasks = len(task_weights)
        self.random = random
        self.contexts = [layer.contexts for layer in layers]
        self.parts = [len(layer.tables) for layer in layers]
        # Of each side: what the draws weigh, twice, and its tables.
        self.width = sum(2 + parts for parts in self.parts)
        small = all(_is_small(table, tasks=self.tasks) for table in (task_weights, *(table for layer in layers for table in layer.tables)))
        self.kind: Kind = np.float32 if small else np.float64
        self.matrix = _build_matrix(layers, task_weights, self.kind)
        # Sums of multiples of one power of two: exact in any order.
        self.whole = np.asarray(self.matrix.sum(axis=0), dtype=np.float64).reshape(1, -1)

    def draw(self, stream: np.random.SFC64, *, rows: int, kept: int) -> list[Floats]:
        """Return the totals of the first *kept* of the [rows] replicates of a block, under each way of drawing."""
        contexts = [draw_weights(stream, rows=rows, units=units)[:kept] for units in self.contexts] if self.random else []
        tile = min(rows, count_rows(self.tasks))
        tasks = np.concatenate([self._multiply(stream, rows=tile) for _ in range(0, kept, tile)])[:kept]
        found = [self._gather(tasks, [np.ones((1, units)) for units in self.contexts])]
        if self.random:
            found += [self._gather(self.whole, contexts), self._gather(tasks, contexts)]
        return found

    def divide(self, totals: Floats) -> tuple[Sums, Sums]:
        """Return what belongs to each side."""
        halves = totals[:, : 2 + self.parts[0]], totals[:, 2 + self.parts[0] :]
        test, deploy = (Sums(drawn=half[:, 0], weighted=half[:, 1], tables=half[:, 2:]) for half in halves)
        return test, deploy

    def _multiply(self, stream: np.random.SFC64, *, rows: int) -> Floats:
        total = np.zeros((rows, self.matrix.shape[1]))
        step = max(32, _PRODUCT // total.size) if isinstance(self.matrix, np.ndarray) else self.tasks
        for place, weights in draw_chunks(stream, rows=rows, units=self.tasks, kind=self.kind):
            # Dense and sparse multiply alike.
            rows_here: Any = self.matrix[place]
            # Products of whole numbers that single precision holds are exact in it too.
            for start in range(0, weights.shape[1], step):
                total += weights[:, start : start + step] @ rows_here[start : start + step]
        return total

    def _gather(self, product: Floats, contexts: Sequence[Floats]) -> Floats:
        """Add up over contexts, each as often as it was drawn: for each side two numbers for the draws, then its tables."""
        found, start = [], 2
        for drawn, units, parts in zip(contexts, self.contexts, self.parts, strict=True):
            stop = start + units * parts
            tables = product[:, start:stop].reshape(len(product), parts, units)
            found += [product[:, :2] * (drawn.sum(axis=1, keepdims=True) / units), np.einsum("rpc,rc->rp", tables, drawn)]
            start = stop
        return np.concatenate(found, axis=1)


def _build_matrix(layers: Sequence[Layer], task_weights: Floats, kind: Kind) -> npt.NDArray[np.floating[Any]] | csr_array:
    """One row a task: 1, its weight, then the tables of both sides with a column for each context."""
    tasks = len(task_weights)
    width = 2 + sum(layer.contexts * len(layer.tables) for layer in layers)
    present = 2 * tasks + sum(len(table) for layer in layers for table in layer.tables)
    if tasks * width > 8 * present + _DENSE:
        rows, columns, values = (np.concatenate(parts) for parts in zip(*_list_entries(layers, task_weights), strict=True))
        return csr_array((values.astype(kind), (rows, columns)), shape=(tasks, width))
    matrix = np.zeros((tasks, width), dtype=kind)
    for row, column, value in _list_entries(layers, task_weights):
        matrix[row, column] = value
    return matrix


def _list_entries(layers: Sequence[Layer], task_weights: Floats) -> Iterator[tuple[Codes, Codes, Floats]]:
    """Yield rows, columns and values of the matrix, one table at a time."""
    tasks = len(task_weights)
    factor = _largest_factor(tasks) * max(_largest_factor(layer.contexts) for layer in layers)
    every, first = np.arange(tasks, dtype=np.int32), np.zeros(tasks, dtype=np.int32)
    yield every, first, np.ones(tasks)
    yield every, first + np.int32(1), quantise(task_weights, factor=factor)
    start = 2
    for layer in layers:
        for table in layer.tables:
            yield layer.task, layer.context + np.int32(start), quantise(table, factor=factor)
            start += layer.contexts


def _is_small(table: Floats, *, tasks: int) -> bool:
    """Whether all are whole numbers whose weighted sums over tasks single precision holds exactly."""
    return float(np.abs(table).max()) * tasks * _largest_factor(tasks) < _SINGLE and bool((np.rint(table) == table).all())


def quantise(values: Floats, *, factor: float) -> Floats:
    """Return *values* rounded so that sums with weights, of which none exceeds *factor*, are exact in double precision."""
    bound = float(np.abs(values).sum()) * factor
    if not bound:
        return values
    # frexp: bound < 2**exponent; two bits are left for the sign and for the rounding of the values themselves.
    unit = 2.0 ** min(1000, 51 - math.frexp(bound)[1])
    return np.rint(values * unit) / unit


def _largest_factor(units: int) -> int:
    """The largest weight that one of *units* can be drawn with."""
    return units if units < ENOUGH_UNITS else MOST_DRAWS
