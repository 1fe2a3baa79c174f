"""The bootstrap of tasks and contexts: order, random weights, replicated sums, and the bands made from them."""

import math
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.special import ndtri

from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.missing_responses import ResponseSide
from audit.statistics.responses import Codes, Floats, find_relative_weights, sum_all, sum_groups, sum_many
from audit.statistics.side_moments import (
    ZERO_VARIANCE,
    Cells,
    Moments,
    Units,
    VariancePart,
    build_cells,
    find_common_tasks,
    find_units,
    half_width,
)
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import Bands, Bootstrap, ScoreRange

# Tasks and contexts are sorted by their scores, not by their names. Renaming them therefore changes no
# replicate.
#
# The order is a colour refinement (B. Weisfeiler & A. Leman 1968). The colour of a task is computed
# from the colours of its contexts and the scores there, and the colour of a context likewise from its
# tasks, in a few rounds. Units with the same final colour are interchangeable in every replicate. The
# exception is a design with a symmetry that the rounds cannot detect; there the order of the names
# decides.

_ROUNDS = 2
# Numbers without a simple relation to each other.
_FIRST, _SECOND, _THIRD = 12.9898 * np.sqrt(2), 78.233 * np.sqrt(3), 37.719 * np.sqrt(5)

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellMarks:
    """The cells of one side, each with a mark in [0, 1) for what was scored in it; arrays of one length."""

    task: Places
    """Codes 0 … tasks − 1."""

    context: Places
    """Codes 0 … contexts − 1."""

    contexts: int
    mark: Floats


def mix_hashes(first: Floats, second: Floats) -> Floats:
    """Return numbers in [0, 1) that differ where a pair of numbers does, by all that chance allows."""
    mixed: Floats = first * _FIRST
    mixed += second * _SECOND
    mixed -= np.floor(mixed)
    mixed *= 43758.5453
    mixed -= np.floor(mixed)
    return mixed


def place_units(sides: tuple[CellMarks, CellMarks], marks: Floats) -> tuple[Places, tuple[Places, Places]]:
    """Return the place of each task, and of each context of the two sides, in the order that their scores give.

    Args:
        sides: cells of the test and of the deployment side.
        marks: in [0, 1), one for each task: what is known of it besides its scores.
    """
    tasks, contexts = marks, [np.full(side.contexts, 0.5) for side in sides]
    for _ in range(_ROUNDS):
        sums = [
            sum_groups(mix_hashes(side.mark, colours[side.context]), side.task, size=len(marks))
            for side, colours in zip(sides, contexts, strict=True)
        ]
        tasks = _fraction(mix_hashes(_fraction(sums[0] * _THIRD), _fraction(sums[1] * _THIRD)) + tasks * _SECOND)
        contexts = [_colour(side, tasks) for side in sides]
    order = _rank(tasks)
    # Given the order of the tasks, a context is known by its column.
    spread = _fraction((order + 1) * _FIRST)
    first, second = (_rank(_colour(side, spread)) for side in sides)
    return order, (first, second)


def _colour(side: CellMarks, tasks: Floats) -> Floats:
    return _fraction(sum_groups(mix_hashes(side.mark, tasks[side.task]), side.context, size=side.contexts) * _THIRD)


def _rank(colours: Floats) -> Places:
    place = np.empty(len(colours), dtype=np.intp)
    place[np.argsort(colours, kind="stable")] = np.arange(len(colours))
    return place


def _fraction(numbers: Floats) -> Floats:
    return numbers - np.floor(numbers)


# Random weights: the number of times each task or context is drawn in each replicate.
#
# Below `ENOUGH_UNITS` units the counts are multinomial, as in drawing with replacement. From there on
# they are independent Poisson(1) counts, with the same mean and variance up to 1/units (A. B. Owen & D.
# Eckles, arXiv:1106.2125, on independent weights). Each block of replicates has its own generator, so
# any number of threads may compute the blocks in any order, and the first n replicates stay the same
# when more are requested.
#
# Only the raw stream of SFC64 is used, with integer arithmetic. NumPy keeps that stream the same
# between versions (NEP 19), but not its distributions. Published bands depend on SFC64 for this reason.

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
    """Yield the weights of some of the units at a time, with their place; an array is valid until the next one is made.

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


# The bootstrap of tasks, of contexts and of both, computed on sums over cells instead of responses.
#
# Every statistic of a replicate is a ratio of sums Σ_i w_i Σ_c v_c x_ic over the cells of a side. w_i
# counts how often task i was drawn; it is the same for both sides, so tasks stay paired. v_c counts how
# often context c was drawn, separately for each side. One product of the weights with the table of sums
# therefore gives all statistics of a replicate: Φ* = Φ + Σ w v z / Σ w v a with z = q a (m − Φ), a =
# q/(contexts present for the task) and q the weight of the task in the mean. With all weights 1 this is
# Φ itself, also with missing cells. Sources: A. B. Owen, Annals of Applied Statistics 1 (2007) 386–411
# (pigeonhole bootstrap); A. B. Owen & D. Eckles, Annals of Applied Statistics 6 (2012) 895–927
# (arXiv:1106.2125).
#
# Sums are exact. Each x is rounded to a power of two so that every weighted sum fits in 53 bits; this
# costs at most 1e−8 per value. So neither the order of summation, nor the number of threads, nor the
# BLAS library changes a bit of a replicate. A pinned BLAS would have been the alternative.

_BLOCK = 1024
_DENSE = 2_000_000
"""Up to this many numbers beyond eight for each one present, the matrix is kept whole; above, it is sparse."""

_SINGLE = 2.0**24
"""Whole numbers up to this are exact in single precision, which multiplies twice as fast."""

_PRODUCT = 720_000
"""Multiplications in one matrix product: below, OpenBLAS stays in one thread, and the weights in the cache."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResamplingLayer:
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
class ReplicatedSums:
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

    task: tuple[ReplicatedSums, ReplicatedSums]
    context: tuple[ReplicatedSums, ReplicatedSums] | None
    """None where contexts are not sampled."""

    two_way: tuple[ReplicatedSums, ReplicatedSums] | None


def resample(
    layers: tuple[ResamplingLayer, ResamplingLayer], task_weights: Floats, *, random: bool, replicates: int, seed: int, threads: int = 1
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
    sums = [np.empty((replicates, design.width)) for _ in range(3 if random else 1)]

    def run(block: int) -> None:
        place = slice(block * rows, min(replicates, (block + 1) * rows))
        for way, totals in zip(sums, design.draw(open_stream(seed, block), rows=rows, kept=place.stop - place.start), strict=True):
            way[place] = totals

    blocks = range(-(-replicates // rows))
    if threads > 1:
        with ThreadPoolExecutor(max_workers=threads) as pool:
            list(pool.map(run, blocks))
    else:
        for block in blocks:
            run(block)
    ways = [design.divide(totals) for totals in sums]
    return Replicates(task=ways[0], context=ways[1] if random else None, two_way=ways[2] if random else None)


class _Design:
    """Both layers as one matrix, and how to multiply it with weights."""

    def __init__(self, layers: tuple[ResamplingLayer, ResamplingLayer], task_weights: Floats, *, random: bool) -> None:
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
        totals = [self._gather(tasks, [np.ones((1, units)) for units in self.contexts])]
        if self.random:
            totals += [self._gather(self.whole, contexts), self._gather(tasks, contexts)]
        return totals

    def divide(self, totals: Floats) -> tuple[ReplicatedSums, ReplicatedSums]:
        """Return what belongs to each side."""
        halves = totals[:, : 2 + self.parts[0]], totals[:, 2 + self.parts[0] :]
        test, deploy = (ReplicatedSums(drawn=half[:, 0], weighted=half[:, 1], tables=half[:, 2:]) for half in halves)
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
        sums, start = [], 2
        for context, units, parts in zip(contexts, self.contexts, self.parts, strict=True):
            stop = start + units * parts
            tables = product[:, start:stop].reshape(len(product), parts, units)
            sums += [product[:, :2] * (context.sum(axis=1, keepdims=True) / units), np.einsum("rpc,rc->rp", tables, context)]
            start = stop
        return np.concatenate(sums, axis=1)


def _build_matrix(layers: Sequence[ResamplingLayer], task_weights: Floats, kind: Kind) -> npt.NDArray[np.floating[Any]] | csr_array:
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


def _list_entries(layers: Sequence[ResamplingLayer], task_weights: Floats) -> Iterator[tuple[Codes, Codes, Floats]]:
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


# Responses become sums that are resampled, and replicated sums become replicated statistics. Scores lie
# in [0, 1].
#
# Responses to tasks that only one side has are not part of Φ and are not resampled. They stay unchanged
# in the spread that nED is divided by, so that all weights 1 give nED itself.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredSide:
    """The responses of one side and the cells that they make."""

    responses: ResponseSide
    cells: Cells


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SideReading:
    """How the replicated sums of one side are read.

    Where all cells and tasks count alike, the one table needed for Φ is Σ y; otherwise there are tables of z = q a (m − Φ), of a where
    contexts are sampled, of the number of responses and of Σ(y − Φ). The last table, of Σ(y − Φ)², is there unless scores are 0 or 1.
    """

    mean: float
    """Φ."""

    plain: int | None
    """Responses a task, where all cells and tasks count alike; None where they do not."""

    weighted: bool
    """Whether there is a table of a; where not, it adds up to the weights of the tasks."""

    binary: bool
    """Whether all scores are 0 or 1: then Σ(y − Φ)² follows from Σ(y − Φ)."""

    outside: tuple[float, float, float]
    """Number, Σ(y − Φ) and Σ(y − Φ)² of responses that are not resampled."""

    def means(self, sums: ReplicatedSums) -> Floats:
        """Return Φ* of each replicate; NaN where no cell was sampled."""
        above, below = sums.tables[:, 0], sums.tables[:, 1] if self.weighted else sums.weighted
        if self.plain is not None:
            above, below = self._add(sums)
        drawn = below > 0
        return np.where(drawn, self.mean + above / np.where(drawn, below, 1.0), np.nan)

    def variances(self, sums: ReplicatedSums) -> Floats:
        """Return the variance of single responses (n − 1) of each replicate; NaN where fewer than two were sampled."""
        total, count = self._add(sums)
        square = total * (1 - 2 * self.mean) + count * (self.mean * (1 - self.mean)) if self.binary else sums.tables[:, -1]
        count, total, square = (part + outside for part, outside in zip((count, total, square), self.outside, strict=True))
        several = count > 1
        safe = np.where(several, count, 2.0)
        return np.where(several, np.maximum(0.0, square - total**2 / safe) / (safe - 1), np.nan)

    def _add(self, sums: ReplicatedSums) -> tuple[Floats, Floats]:
        """Σ(y − Φ) and the number of responses."""
        if self.plain is not None:
            count = self.plain * sums.drawn
            return sums.tables[:, 0] - self.mean * count, count
        place = 2 if self.weighted else 1
        return sums.tables[:, place + 1], sums.tables[:, place]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResamplingInput:
    """Two sides ready to be resampled."""

    layers: tuple[ResamplingLayer, ResamplingLayer]
    readings: tuple[SideReading, SideReading]
    task_weights: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _CommonCells:
    """Cells of the common tasks, or their sums by task where contexts are not sampled."""

    task: Places
    context: Places
    contexts: int
    columns: tuple[Floats, ...]
    """z, then the tables."""


def build_layers(sides: tuple[ScoredSide, ScoredSide], moments: Moments, *, weights: Floats | None, random: bool) -> ResamplingInput:
    """Return what is resampled, tasks and contexts in an order that their scores give.

    Args:
        sides: test and deployment.
        moments: of these sides.
        weights: of the tasks by their codes; None when all weigh the same.
        random: whether contexts are resampled too.
    """
    size = 1 + max(int(side.cells.task.max()) for side in sides)
    common = find_common_tasks(sides[0].cells, sides[1].cells, tasks=size)
    relative = find_relative_weights(None if weights is None else weights[:size], common)
    units = find_units(sides[0].cells.clusters, common, relative)
    task_weights = np.ones(units.number) if units.relative is None else units.relative
    means = moments.test.mean, moments.deploy.mean
    readings, tables = zip(
        *(_tabulate(side, common, mean, units, random=random, binary=moments.binary) for side, mean in zip(sides, means, strict=True)),
        strict=True,
    )
    marked = [CellMarks(task=table.task, context=table.context, contexts=table.contexts, mark=_mark(table.columns)) for table in tables]
    order, contexts = place_units((marked[0], marked[1]), mix_hashes(task_weights, task_weights))
    layers = [
        ResamplingLayer(
            task=order.astype(np.int32)[table.task],
            context=places.astype(np.int32)[table.context],
            contexts=table.contexts,
            deviation=table.columns[0],
            tables=table.columns[1:],
        )
        for table, places in zip(tables, contexts, strict=True)
    ]
    placed = np.empty_like(task_weights)
    placed[order] = task_weights
    return ResamplingInput(layers=(layers[0], layers[1]), readings=(readings[0], readings[1]), task_weights=placed)


def _tabulate(
    side: ScoredSide, common: npt.NDArray[np.bool_], mean: float, units: Units, *, random: bool, binary: bool
) -> tuple[SideReading, _CommonCells]:
    squares = side.cells.mean if binary else _average_squares(side.responses)
    kept = common[side.cells.task]
    cells, outside = side.cells, (0.0, 0.0, 0.0)
    if not kept.all():
        lost = side.cells.keep(~common)
        outside = float(lost.count.sum()), _sum(_total(lost, mean)), _sum(_scatter(lost, squares[~kept], mean))
        cells, squares = side.cells.keep(common), squares[kept]
    clusters = cells.clusters
    task, context = _number(cells.task), _number(clusters.of_contexts(cells.context))
    contexts = int(context.max()) + 1
    present = np.bincount(task)
    share = (1.0 if units.weights is None else units.weights[task]) / present[task] / units.largest
    alone = clusters.family is None and clusters.template is None
    alike = alone and units.weights is None and (cells.count == cells.count[0]).all() and (present == present[0]).all()
    plain = int(cells.count[0] * present[0]) if alike and (not random or present[0] == contexts) else None
    columns = [share * (cells.mean - mean)]
    if plain is None:
        columns += [columns[0], *([share] if random else []), cells.count.astype(np.float64), _total(cells, mean)]
    else:
        # Scores of 0 and 1 add up to whole numbers, whatever rounding made of their mean.
        columns.append(np.rint(cells.count * cells.mean) if binary else cells.count * cells.mean)
    if not binary:
        columns.append(_scatter(cells, squares, mean))
    reading = SideReading(mean=mean, plain=plain, weighted=plain is None and random, binary=binary, outside=outside)
    unit = task if units.of_task is None else units.of_task[task]
    if not random:
        # Without sampled contexts all cells of a task (or family) are always drawn together, so one sum
        # per unit is enough.
        return reading, _collapse(unit, np.zeros_like(unit), columns)
    if not alone:
        return reading, _collapse(unit, context, columns)
    return reading, _CommonCells(task=task, context=context, contexts=contexts, columns=tuple(columns))


def _total(cells: Cells, mean: float) -> Floats:
    """Σ(y − Φ) in each cell."""
    return cells.count * (cells.mean - mean)


def _scatter(cells: Cells, squares: Floats, mean: float) -> Floats:
    """Σ(y − Φ)² in each cell, from the mean squares."""
    # Rounding may leave a tiny negative number.
    return np.maximum(0.0, cells.count * (squares - 2 * mean * cells.mean + mean**2))


def _collapse(task: Places, context: Places, columns: list[Floats]) -> _CommonCells:
    """One cell for each pair of *task* and *context*, the clusters that are drawn."""
    contexts = int(context.max()) + 1
    key, place = np.unique(task * contexts + context, return_inverse=True)
    # sum_groups is for numbers up to 2; a power of two changes no bit.
    scales = [2.0 ** np.ceil(np.log2(max(1.0, float(np.abs(column).max())))) for column in columns]
    summed = tuple(scale * sum_groups(column / scale, place, size=len(key)) for scale, column in zip(scales, columns, strict=True))
    return _CommonCells(task=key // contexts, context=key % contexts, contexts=contexts, columns=summed)


def _number(codes: Places) -> Places:
    """The codes that occur, numbered 0, 1, 2 … in their order."""
    used = np.bincount(codes) > 0
    return codes if used.all() else (np.cumsum(used) - 1)[codes]


def _average_squares(side: ResponseSide) -> Floats:
    """The mean square in each cell, cells in the order of `Side.cells`."""
    scored = side.scored()
    return build_cells(task=scored.task, context=scored.context, score=scored.score**2).mean


def _sum(values: Floats) -> float:
    scale = 2.0 ** np.ceil(np.log2(max(1.0, float(np.abs(values).max()))))
    return float(scale * sum_many(values / scale))


def _mark(columns: tuple[Floats, ...]) -> Floats:
    mark = np.zeros(len(columns[0]))
    for column in columns:
        mark = mix_hashes(mark, column)
    return mark


# Bootstrap bands of Φ_test, Φ_deploy, ED and nED, and a check of the run against its expected standard
# error.
#
# A band runs between two percentiles of the replicates, scaled about the estimate by k = max(1,
# h/(z·SE)). h is the closed-form half-width of ED, SE the standard deviation of ED over the replicates,
# and z the normal quantile of the level (1.96 at 95 %). The scaling is needed because percentiles are
# too narrow with few tasks or contexts (statistics.md section 5). All bands of a run use the k of ED.
# No verdict depends on a band.
#
# Replicates are equal to the last bit on every machine. k uses SciPy's quantiles of t, so bands agree
# to about 12 digits.

_NO_SPREAD = 1e-6
"""A spread or a difference of a replicate up to this is taken for the rounding of 0, scores in [0, 1]."""

_NO_WIDTH = 1e-9
_LARGE = 100_000_000

_NOT_SAMPLED = {
    ContextDesign.RANDOM: "one context on a side: nothing says how contexts vary",
    ContextDesign.FIXED: "contexts are fixed, not a sample",
    ContextDesign.NESTED: "contexts are nested: the task is the only cluster",
}


def build_bootstrap(
    sides: tuple[ScoredSide, ScoredSide], moments: Moments, plan: Plan, scale: ScoreScale, *, ned: float | None, weights: Floats | None
) -> Bootstrap | None:
    """Return the bands in the unit of the score; None without replicates, or when nothing says how tasks vary.

    Never a band of zero width: where the replicates do not vary, which is no certainty, it is None with the reason.

    Args:
        sides: test and deployment.
        moments: of these sides.
        plan: level, ε (filled in), seed, replicates, what contexts are.
        scale: range of the score.
        ned: nED; None when it is not defined.
        weights: of the tasks by their codes; None when all weigh the same.
    """
    if not plan.replicates or moments.difference_variance is None:
        return None
    random = moments.random and moments.parts() is not None
    # With one context on a side only tasks can be resampled; the bands by context then state the
    # reason.
    ready = build_layers(sides, moments, weights=weights, random=random)
    threads = min(4, os.cpu_count() or 1) if moments.test.tasks * plan.replicates > _LARGE else 1
    replicates = resample(ready.layers, ready.task_weights, random=random, replicates=plan.replicates, seed=plan.seed, threads=threads)
    epsilon = plan.epsilon_on(scale.width) / scale.width
    drawn = tuple(
        None if sums is None else _replicate(sums, ready.readings, epsilon=epsilon)
        for sums in (replicates.task, replicates.context, replicates.two_way)
    )
    error = _deviation([way for way in drawn if way is not None][-1]["ed"])
    maker = _BandMaker(level=plan.level, scale=_find_scale(moments, error, level=plan.level), unsampled=_NOT_SAMPLED[plan.contexts])

    def bands(name: str, point: float, write: Callable[[float], float], *, lowest: float, highest: float) -> Bands:
        return maker.build([None if way is None else way[name] for way in drawn], point, lambda x: write(min(highest, max(lowest, x))))

    return Bootstrap(
        replicates=plan.replicates,
        seed=plan.seed,
        scale=maker.scale,
        standard_error=scale.stretch_difference(error) if error > math.sqrt(ZERO_VARIANCE) else None,
        expected_standard_error=scale.stretch_difference(expected_error(ready.layers, ready.task_weights, random=random)),
        ed=bands("ed", moments.difference, scale.stretch_difference, lowest=-1.0, highest=1.0),
        phi_test=bands("phi_test", moments.test.mean, scale.stretch, lowest=0.0, highest=1.0),
        phi_deploy=bands("phi_deploy", moments.deploy.mean, scale.stretch, lowest=0.0, highest=1.0),
        ned=None if ned is None else bands("ned", ned, float, lowest=-math.inf, highest=math.inf),
    )


def expected_error(layers: tuple[ResamplingLayer, ResamplingLayer], task_weights: Floats, *, random: bool) -> float:
    """Return the standard error of ED over infinitely many replicates, scores in [0, 1].

    With z scaled to add up to deviations of the mean, E(w_i w_j) = α + [i = j] and E(v_c v_d) = β + [c = d]:
    Var = Σ_i (z_test,i· − z_deploy,i·)² + Σ_sides [(β − 1) Σ_i z_i·² + α Σ_c z_·c² + Σ_ic z_ic²], with α = 1 − 1/T or β = 1 − 1/C where
    counts are multinomial and 1 where they are Poisson (A. B. Owen & D. Eckles, arXiv:1106.2125, on weights that are products). Exact for
    multinomial weights without missing cells; else of the linearised ratio.
    """
    tasks = len(task_weights)
    by_task = [sum_groups(layer.deviation, layer.task, size=tasks) for layer in layers]
    variance = sum_many((by_task[0] - by_task[1]) ** 2 / 2) * 2
    if random:
        for layer, rows in zip(layers, by_task, strict=True):
            columns = sum_groups(layer.deviation, layer.context, size=layer.contexts)
            alpha, loss = 1 - _loss(tasks), _loss(layer.contexts)
            variance += alpha * sum_all(columns**2) + sum_many(layer.deviation**2) - loss * sum_many(rows**2)
    return math.sqrt(max(0.0, variance)) / sum_all(task_weights)


def _loss(units: int) -> float:
    """1 − E(w_i w_j) of two units."""
    return 1 / units if units < ENOUGH_UNITS else 0.0


def _find_scale(moments: Moments, error: float, *, level: float) -> float:
    if error <= math.sqrt(ZERO_VARIANCE):
        return 1.0
    # With one context on a side ED has no half-width; the half-width of the task part replaces it.
    task = VariancePart(variance=moments.difference_variance or 0.0, df=moments.test.effective_tasks - 1)
    parts = moments.parts()
    h = half_width((task,) if parts is None else parts, level=level, banerjee=parts is not None and moments.banerjee)
    return max(1.0, h / (float(ndtri(0.5 + level / 2)) * error))


def _replicate(
    sums: tuple[ReplicatedSums, ReplicatedSums], readings: tuple[SideReading, SideReading], *, epsilon: float
) -> dict[str, Floats]:
    """The four statistics of each replicate; NaN where nothing was drawn, nED ±∞ where it is not defined."""
    test, deploy = (reading.means(side) for reading, side in zip(readings, sums, strict=True))
    first, second = (reading.variances(side) for reading, side in zip(readings, sums, strict=True))
    difference, spread = test - deploy, np.sqrt((first + second) / 2)
    # A replicate without spread and with different sides sorts beyond all others.
    undefined = np.where(np.abs(difference) <= _NO_SPREAD, 0.0, np.copysign(np.inf, difference))
    ned = np.where(spread <= _NO_SPREAD, undefined, difference / np.maximum(spread + epsilon, _NO_SPREAD))
    return {"phi_test": test, "phi_deploy": deploy, "ed": difference, "ned": ned}


def _deviation(values: Floats) -> float:
    """The standard deviation, the same on every machine."""
    kept = values[~np.isnan(values)]
    # Differences of means lie in [−1, 1], their squared deviations in [0, 4].
    return math.sqrt(4 * sum_many((kept - sum_many(kept) / len(kept)) ** 2 / 4) / len(kept)) if len(kept) else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _BandMaker:
    level: float
    scale: float
    unsampled: str
    """Why contexts are not resampled."""

    def build(self, floatses: list[Floats | None], point: float, write: Callable[[float], float]) -> Bands:
        """Bands of one statistic from its replicates by task, by context and by both."""
        ranges: list[ScoreRange | None] = []
        reasons: list[str] = []
        for values in floatses:
            ends = self.unsampled if values is None else self._find_ends(values, point)
            ranges.append(None if isinstance(ends, str) else ScoreRange(low=write(ends[0]), high=write(ends[1])))
            reasons += [ends] if isinstance(ends, str) else []
        return Bands(task=ranges[0], context=ranges[1], two_way=ranges[2], reason="; ".join(dict.fromkeys(reasons)) or None)

    def _find_ends(self, values: Floats, point: float) -> tuple[float, float] | str:
        """The stretched percentiles, or why there are none; A. C. Davison & D. V. Hinkley 1997, chapter 5: the (B + 1)α-th smallest."""
        kept = values[~np.isnan(values)]
        rank = math.floor((len(kept) + 1) * (1 - self.level) / 2 + 1e-9)
        if rank < 1:
            return f"{len(kept)} replicates are too few for a band at this level"
        kept = np.partition(kept, (rank - 1, len(kept) - rank))
        low, high = float(kept[rank - 1]), float(kept[-rank])
        if not math.isfinite(low) or not math.isfinite(high):
            return "not defined in too many replicates: their scores do not vary within the sides and yet the sides differ"
        if high - low <= _NO_WIDTH:
            return "the replicates do not vary, which is no certainty"
        return point + self.scale * (low - point), point + self.scale * (high - point)
