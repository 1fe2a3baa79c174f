"""Cells of one side: the mean score of each task in each context."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from audit.statistics.clusters import INDEPENDENT, Clusters
from audit.statistics.scores import Codes, Floats
from audit.statistics.sums import sum_groups

_DENSE = 1_000_000
"""Up to this many cells beyond eight per response the grid is counted whole; above, present cells are found by sorting."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """The cells that hold at least one score; arrays of one length, in no order that matters."""

    task: npt.NDArray[np.intp]
    context: npt.NDArray[np.intp]
    mean: Floats
    """Mean score in the cell, in [0, 1]."""

    count: npt.NDArray[np.int64]
    """Scores in the cell, at least 1."""

    square: Floats | None = None
    """Mean squared score in the cell; None where every score is 0 or 1, and so its own square, or where it is not known."""

    clusters: Clusters = INDEPENDENT
    """Which tasks and contexts depend on each other, by their codes."""

    def keep(self, tasks: npt.NDArray[np.bool_]) -> "Cells":
        """Return the cells of those tasks for which *tasks*, by task code, is true."""
        return self.take(tasks[self.task])

    def take(self, kept: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "Cells":
        """Return the cells at these places, or those for which *kept* is true."""
        square = None if self.square is None else self.square[kept]
        return replace(self, task=self.task[kept], context=self.context[kept], mean=self.mean[kept], count=self.count[kept], square=square)


def build_cells(*, task: Codes, context: Codes, score: Floats, clusters: Clusters = INDEPENDENT) -> Cells:
    """Average scores in [0, 1], and their squares, over the samples of each cell."""
    width = int(context.max(initial=0)) + 1
    key = task.astype(np.int64) * width + context
    grid = (int(task.max(initial=0)) + 1) * width
    if grid <= 8 * len(key) + _DENSE:
        total = np.bincount(key, minlength=grid)
        present = np.flatnonzero(total)
        place, size, rows, count = key, grid, present, total[present]
    else:
        present, place, count = np.unique(key, return_inverse=True, return_counts=True)
        size, rows = len(present), np.arange(len(present))
    mean = sum_groups(score, place, size=size)[rows] / count
    graded = ((score != 0.0) & (score != 1.0)).any()
    square = sum_groups(score**2, place, size=size)[rows] / count if graded else None
    return Cells(task=present // width, context=present % width, mean=mean, count=count, square=square, clusters=clusters)


def collapse_clusters(cells: Cells) -> Cells:
    """Return the mean cell of each family and template, without clusters of its own; *cells* themselves where none are declared."""
    if cells.clusters.family is None and cells.clusters.template is None:
        return cells
    task, context = cells.clusters.of_tasks(cells.task), cells.clusters.of_contexts(cells.context)
    width = int(context.max(initial=0)) + 1
    key, place = np.unique(task * width + context, return_inverse=True)
    mean = sum_groups(cells.mean, place, size=len(key)) / np.bincount(place)
    return Cells(task=key // width, context=key % width, mean=mean, count=np.bincount(place, weights=cells.count).astype(np.int64))
