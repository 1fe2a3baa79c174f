"""How far the number of contexts alone limits what a replay can find (statistics.md section 3, planning).

Var(ED) = sd_t²/T + Σ_sides [sd_c²/C + sd_x²/(TC) + sd_e²/(TCn)]: with more tasks and samples every term falls but sd_c²/C. Here sd_c² is
the analysis-of-variance estimate for two crossed factors without replication (S. R. Searle, G. Casella & C. E. McCulloch, Variance
Components, 1992, chapter 4): (MS_context − MS_residual)/T, exact for full tables, with the mean number of tasks a context otherwise.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from audit.statistics.cells import Cells, collapse_clusters
from audit.statistics.halfwidth import ZERO_VARIANCE, Part, total_variance
from audit.statistics.power import minimum_detectable
from audit.statistics.scores import Floats
from audit.statistics.sums import sum_all, sum_groups, sum_many


def context_component(cells: Cells) -> float | None:
    """Return sd_c² of one side, scores in [0, 1]; 0 where contexts differ no more than chance has them, None with too few cells."""
    sums, counts = zip(*(_gather(cells, codes) for codes in (cells.task, cells.context)), strict=True)
    tasks, contexts = (int(np.count_nonzero(count)) for count in counts)
    spare = len(cells.mean) - tasks - contexts + 1
    if contexts < 2 or spare < 1:
        return None
    by_task, by_context = (total / np.maximum(count, 1) for total, count in zip(sums, counts, strict=True))
    mean = sum_many(cells.mean) / len(cells.mean)
    between = sum_all(counts[1] * (by_context - mean) ** 2) / (contexts - 1)
    residual = sum_many((cells.mean - by_task[cells.task] - by_context[cells.context] + mean) ** 2 / 2) * 2 / spare
    return max(0.0, between - residual) * contexts / len(cells.mean)


def detectable_floor(sides: Sequence[Cells], *, level: float, banerjee: bool) -> float | None:
    """Return the |ED| that no number of tasks or samples lets be found with 80 % power at these numbers of contexts.

    (t_level + t.80)·√Σ sd_c²/C in the form of the half-width of ED; None where contexts are not seen to differ, or cannot be.
    """
    parts = []
    for cells in map(collapse_clusters, sides):
        component, contexts = context_component(cells), int(np.count_nonzero(np.bincount(cells.context)))
        if component is None:
            return None
        parts.append(Part(variance=component / contexts, df=contexts - 1))
    if not math.isfinite(total_variance(parts)) or total_variance(parts) <= ZERO_VARIANCE:
        return None
    return minimum_detectable(parts, level=level, banerjee=banerjee)


def _gather(cells: Cells, codes: npt.NDArray[np.intp]) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Sum of the cell means, and number of cells, by code."""
    size = int(codes.max()) + 1
    return sum_groups(cells.mean, codes, size=size), np.bincount(codes, minlength=size)
