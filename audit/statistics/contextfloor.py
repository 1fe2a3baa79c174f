"""How far the number of contexts alone limits what a replay can find (statistics.md section 3, planning).

Var(ED) = sd_t²/T + Σ_sides [sd_c²/C + sd_x²/(TC) + sd_e²/(TCn)]: with more tasks and samples every term falls but sd_c²/C. Here sd_c² is
the analysis-of-variance estimate for two crossed factors without replication (S. R. Searle, G. Casella & C. E. McCulloch, Variance
Components, 1992, chapter 4): (MS_context − MS_residual)/T, exact for full tables, with the mean number of tasks a context otherwise.
"""

import math
from collections.abc import Sequence

import numpy as np

from audit.statistics.cells import Cells
from audit.statistics.halfwidth import ZERO_VARIANCE, Part, total_variance
from audit.statistics.power import minimum_detectable
from audit.statistics.sums import sum_all, sum_groups, sum_many


def context_component(cells: Cells) -> float | None:
    """Return sd_c² of one side, scores in [0, 1]; 0 where contexts differ no more than chance has them, None with too few cells."""
    tasks, contexts = (np.unique(codes, return_inverse=True)[1] for codes in (cells.task, cells.context))
    counts = np.bincount(tasks), np.bincount(contexts)
    spare = len(tasks) - len(counts[0]) - len(counts[1]) + 1
    if len(counts[1]) < 2 or spare < 1:
        return None
    by_task, by_context = (
        sum_groups(cells.mean, codes, size=len(count)) / count for codes, count in zip((tasks, contexts), counts, strict=True)
    )
    mean = sum_many(cells.mean) / len(cells.mean)
    between = sum_all(counts[1] * (by_context - mean) ** 2) / (len(counts[1]) - 1)
    residual = sum_all((cells.mean - by_task[tasks] - by_context[contexts] + mean) ** 2) / spare
    return max(0.0, between - residual) * len(counts[1]) / len(tasks)


def detectable_floor(sides: Sequence[Cells], *, level: float, banerjee: bool) -> float | None:
    """Return the |ED| that no number of tasks or samples lets be found with 80 % power at these numbers of contexts.

    (t_level + t.80)·√Σ sd_c²/C in the form of the half-width of ED; None where contexts are not seen to differ, or cannot be.
    """
    parts = []
    for cells in sides:
        component, contexts = context_component(cells), len(np.unique(cells.context))
        if component is None:
            return None
        parts.append(Part(variance=component / contexts, df=contexts - 1))
    if not math.isfinite(total_variance(parts)) or total_variance(parts) <= ZERO_VARIANCE:
        return None
    return minimum_detectable(parts, level=level, banerjee=banerjee)
