"""Cells of one side: the mean score of each task in each context."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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

    def keep(self, tasks: npt.NDArray[np.bool_]) -> "Cells":
        """Return the cells of those tasks for which *tasks*, by task code, is true."""
        kept = tasks[self.task]
        return Cells(task=self.task[kept], context=self.context[kept], mean=self.mean[kept], count=self.count[kept])


def build_cells(*, task: Codes, context: Codes, score: Floats) -> Cells:
    """Average scores in [0, 1] over the samples of each cell."""
    width = int(context.max(initial=0)) + 1
    key = task.astype(np.int64) * width + context
    grid = (int(task.max(initial=0)) + 1) * width
    if grid <= 8 * len(key) + _DENSE:
        total = np.bincount(key, minlength=grid)
        present = np.flatnonzero(total)
        sums = sum_groups(score, key, size=grid)[present]
        count = total[present]
    else:
        present, inverse, count = np.unique(key, return_inverse=True, return_counts=True)
        sums = sum_groups(score, inverse, size=len(present))
    return Cells(task=present // width, context=present % width, mean=sums / count, count=count)
