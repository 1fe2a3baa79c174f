"""From the responses of two sides to the sums that are resampled, and from replicated sums to replicated statistics.

Scores lie in [0, 1]. Responses of tasks that only one side has are no part of Φ, and are not resampled; in the spread that nED divides
by they stay as they are, so that all weights 1 give nED itself.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from audit.statistics.cells import Cells, build_cells
from audit.statistics.clusters import Units, find_units
from audit.statistics.exclusions import Side
from audit.statistics.moments import Moments, find_common_tasks
from audit.statistics.ordering import Marked, Places, mix, place_units
from audit.statistics.resampling import Layer, Sums
from audit.statistics.scores import Floats
from audit.statistics.sums import sum_groups, sum_many
from audit.statistics.weights import find_relative_weights


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoredSide:
    """The responses of one side and the cells that they make."""

    responses: Side
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

    def means(self, sums: Sums) -> Floats:
        """Return Φ* of each replicate; NaN where no cell was drawn."""
        above, below = sums.tables[:, 0], sums.tables[:, 1] if self.weighted else sums.weighted
        if self.plain is not None:
            above, below = self._add(sums)
        drawn = below > 0
        return np.where(drawn, self.mean + above / np.where(drawn, below, 1.0), np.nan)

    def variances(self, sums: Sums) -> Floats:
        """Return the variance of single responses (n − 1) of each replicate; NaN where fewer than two were drawn."""
        total, count = self._add(sums)
        square = total * (1 - 2 * self.mean) + count * (self.mean * (1 - self.mean)) if self.binary else sums.tables[:, -1]
        count, total, square = (part + outside for part, outside in zip((count, total, square), self.outside, strict=True))
        several = count > 1
        safe = np.where(several, count, 2.0)
        return np.where(several, np.maximum(0.0, square - total**2 / safe) / (safe - 1), np.nan)

    def _add(self, sums: Sums) -> tuple[Floats, Floats]:
        """Σ(y − Φ) and the number of responses."""
        if self.plain is not None:
            count = self.plain * sums.drawn
            return sums.tables[:, 0] - self.mean * count, count
        place = 2 if self.weighted else 1
        return sums.tables[:, place + 1], sums.tables[:, place]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Resampled:
    """Two sides ready to be resampled."""

    layers: tuple[Layer, Layer]
    readings: tuple[SideReading, SideReading]
    task_weights: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Table:
    """Cells of the common tasks, or their sums by task where contexts are not sampled."""

    task: Places
    context: Places
    contexts: int
    columns: tuple[Floats, ...]
    """z, then the tables."""


def build_layers(sides: tuple[ScoredSide, ScoredSide], moments: Moments, *, weights: Floats | None, random: bool) -> Resampled:
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
    marked = [Marked(task=table.task, context=table.context, contexts=table.contexts, mark=_mark(table.columns)) for table in tables]
    order, contexts = place_units((marked[0], marked[1]), mix(task_weights, task_weights))
    layers = [
        Layer(
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
    return Resampled(layers=(layers[0], layers[1]), readings=(readings[0], readings[1]), task_weights=placed)


def _tabulate(
    side: ScoredSide, common: npt.NDArray[np.bool_], mean: float, units: Units, *, random: bool, binary: bool
) -> tuple[SideReading, _Table]:
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
        return reading, _collapse(unit, np.zeros_like(unit), columns)
    if not alone:
        return reading, _collapse(unit, context, columns)
    return reading, _Table(task=task, context=context, contexts=contexts, columns=tuple(columns))


def _total(cells: Cells, mean: float) -> Floats:
    """Σ(y − Φ) in each cell."""
    return cells.count * (cells.mean - mean)


def _scatter(cells: Cells, squares: Floats, mean: float) -> Floats:
    """Σ(y − Φ)² in each cell, from the mean squares."""
    # Rounding may leave a tiny negative number.
    return np.maximum(0.0, cells.count * (squares - 2 * mean * cells.mean + mean**2))


def _collapse(task: Places, context: Places, columns: list[Floats]) -> _Table:
    """One cell for each pair of *task* and *context*, the clusters that are drawn."""
    contexts = int(context.max()) + 1
    key, place = np.unique(task * contexts + context, return_inverse=True)
    # sum_groups is for numbers up to 2; a power of two changes no bit.
    scales = [2.0 ** np.ceil(np.log2(max(1.0, float(np.abs(column).max())))) for column in columns]
    summed = tuple(scale * sum_groups(column / scale, place, size=len(key)) for scale, column in zip(scales, columns, strict=True))
    return _Table(task=key // contexts, context=key % contexts, contexts=contexts, columns=summed)


def _number(codes: Places) -> Places:
    """The codes that occur, numbered 0, 1, 2 … in their order."""
    used = np.bincount(codes) > 0
    return codes if used.all() else (np.cumsum(used) - 1)[codes]


def _average_squares(side: Side) -> Floats:
    """The mean square in each cell, cells in the order of `Side.cells`."""
    scored = side.scored()
    return build_cells(task=scored.task, context=scored.context, score=scored.score**2).mean


def _sum(values: Floats) -> float:
    scale = 2.0 ** np.ceil(np.log2(max(1.0, float(np.abs(values).max()))))
    return float(scale * sum_many(values / scale))


def _mark(columns: tuple[Floats, ...]) -> Floats:
    mark = np.zeros(len(columns[0]))
    for column in columns:
        mark = mix(mark, column)
    return mark
