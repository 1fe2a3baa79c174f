"""Means of two sides and the parts of their variances, over tasks and contexts (statistics.md section 2).

Sources: analysis of variance of two crossed factors (S. R. Searle, G. Casella & C. E. McCulloch, Variance Components, 1992, chapter 4):
the residual is in the task part and in the context part, and is subtracted once. Two-way clustering: Owen & Eckles 2012
(arXiv:1106.2125); MacKinnon, Nielsen & Webb (arXiv:2406.08880), whose rule keeps the three terms from being too small: never below
any one of the parts. A weighted mean is the ratio Σ wᵢΦᵢ/Σ wᵢ and has the variance of
the linearised ratio, with T/(T − 1): D. A. Binder, International Statistical Review 51 (1983) 279–292, as in R's `survey`. Assumed:
tasks, or where families are declared the families of tasks, are independent of each other; with random contexts, contexts (or their
templates) are independent of each other and of the tasks, and one side's contexts of the other's. Samples need not be independent.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from audit.statistics.cells import Cells
from audit.statistics.clusters import Places, Units, find_units
from audit.statistics.halfwidth import Part
from audit.statistics.scores import Floats
from audit.statistics.sums import sum_all, sum_groups, sum_many
from audit.statistics.weights import effective_number, find_relative_weights

ENOUGH_CONTEXTS = 5
"""From this many contexts on either side the Satterthwaite form is used, below it Banerjee's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SideMoments:
    """One side: its mean, what it rests on, and the parts of the variance of the mean. Scores lie in [0, 1]."""

    mean: float
    tasks: int
    """Independent clusters of tasks: families where they are declared, else tasks."""

    contexts: int
    """Independent clusters of contexts: templates where they are declared, else contexts."""

    responses: int
    task_variance: float | None
    """None with one task, or weights worth fewer than two: nothing says how tasks vary."""

    context_variance: float | None
    """0 where contexts are not sampled (fixed, nested); None with one random context."""

    residual_variance: float = 0.0
    """What the task part and the context part both contain: how cells depart from both; 0 where unknown or not sampled."""

    kish: float | None = None
    """(Σw)²/Σw² of the weights of the clusters of tasks; None when all weigh the same."""

    spread: float | None = None
    """Variance σ² of single responses about the mean, each with the weight it has in the mean; Φ(1 − Φ) where every score is 0 or 1.

    None where that is so, or where it is not known.
    """

    families: bool = False
    """Whether `tasks` counts families."""

    templates: bool = False
    """Whether `contexts` counts templates."""

    @property
    def effective_tasks(self) -> float:
        """How many clusters of equal weight the weighted ones are worth (Kish 1965); their number when all weigh the same."""
        return float(self.tasks) if self.kish is None else self.kish

    def parts(self, *, random: bool) -> tuple[Part, ...] | None:
        """Return the parts of the variance of the mean, or None when one of them cannot be estimated."""
        if self.task_variance is None or self.context_variance is None:
            return None
        task = Part(variance=self.task_variance, df=self.effective_tasks - 1)
        return (task, Part(variance=self.context_variance, df=self.contexts - 1), *self.overlap()) if random else (task,)

    def overlap(self) -> tuple[Part, ...]:
        """Return what two parts both contain as a negative part; nothing where there is none."""
        df = (self.effective_tasks - 1) * (self.contexts - 1)
        return (Part(variance=-self.residual_variance, df=df),) if self.residual_variance > 0 and df > 0 else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """Both sides over the same tasks, and how they vary together. Scores lie in [0, 1]."""

    test: SideMoments
    deploy: SideMoments
    random: bool
    """Whether contexts are a sample."""

    binary: bool
    """Whether every score of both sides is 0 or 1."""

    difference_variance: float | None
    """Task part of the variance of ED; None with one task, or weights worth fewer than two."""

    covariance: float | None
    """Covariance of the two means over tasks; None with one task."""

    @property
    def difference(self) -> float:
        """ED = Φ_test − Φ_deploy, in [−1, 1]."""
        return self.test.mean - self.deploy.mean

    @property
    def banerjee(self) -> bool:
        """Whether half-widths take Banerjee's form: contexts are a sample, and a side has fewer than five."""
        return self.random and min(self.test.contexts, self.deploy.contexts) < ENOUGH_CONTEXTS

    def parts(self) -> tuple[Part, ...] | None:
        """Return the parts of the variance of ED, or None when one of them cannot be estimated."""
        contexts = (self.test, self.deploy) if self.random else ()
        if self.difference_variance is None or any(side.context_variance is None for side in contexts):
            return None
        task = Part(variance=self.difference_variance, df=self.test.effective_tasks - 1)
        sampled = (Part(variance=side.context_variance or 0.0, df=side.contexts - 1) for side in contexts)
        return (task, *sampled, *(part for side in contexts for part in side.overlap()))


def find_common_tasks(test: Cells, deploy: Cells, *, tasks: int) -> npt.NDArray[np.bool_]:
    """Return, for each of the task codes 0 … tasks − 1, whether both sides have a scored response to it."""
    seen_test, seen_deploy = np.zeros(tasks, dtype=bool), np.zeros(tasks, dtype=bool)
    seen_test[test.task] = True
    seen_deploy[deploy.task] = True
    return seen_test & seen_deploy


def compute_task_means(cells: Cells, common: npt.NDArray[np.bool_]) -> Floats:
    """Return Φ of each common task, in the order of the task codes: the mean of its cell means."""
    size = len(common)
    contexts = np.bincount(cells.task, minlength=size)
    return (sum_groups(cells.mean, cells.task, size=size)[common]) / contexts[common]


def compute_moments(
    test: Cells, deploy: Cells, common: npt.NDArray[np.bool_], *, random: bool, binary: bool, weights: Floats | None = None
) -> Moments:
    """Return the moments of both sides over the *common* tasks, of which there must be at least one.

    *weights* are those of all tasks, by task code and above 0; only their ratios matter. None, or the same for all common
    tasks, gives the same bits.
    """
    test, deploy = test.keep(common), deploy.keep(common)
    relative = find_relative_weights(weights, common)
    units = find_units(test.clusters, common, relative)
    means_test, means_deploy = compute_task_means(test, common), compute_task_means(deploy, common)
    by_code = None
    if relative is not None:
        by_code = np.zeros(len(common))
        by_code[common] = relative
    side_test = _compute_side(test, means_test, _average_squares(test, common), units, by_code, random=random)
    side_deploy = _compute_side(deploy, means_deploy, _average_squares(deploy, common), units, by_code, random=random)
    off_test, off_deploy = units.average(means_test - side_test.mean), units.average(means_deploy - side_deploy.mean)
    return Moments(
        test=side_test,
        deploy=side_deploy,
        random=random,
        binary=binary,
        difference_variance=_scale(off_test - off_deploy, off_test - off_deploy, units.relative),
        covariance=_scale(off_test, off_deploy, units.relative),
    )


def average_tasks(task_means: Floats, relative: Floats | None) -> float:
    """Return Σ wᵢΦᵢ/Σ wᵢ, the plain mean without weights."""
    if relative is None:
        return sum_all(task_means) / len(task_means)
    return sum_all(relative * task_means) / sum_all(relative)


def _average_squares(cells: Cells, common: npt.NDArray[np.bool_]) -> Floats | None:
    """The mean squared score of each common task, as `compute_task_means`; None where the cells have no squares."""
    return None if cells.square is None else compute_task_means(replace(cells, mean=cells.square), common)


def _compute_side(
    cells: Cells, task_means: Floats, task_squares: Floats | None, units: Units, by_code: Floats | None, *, random: bool
) -> SideMoments:
    mean = average_tasks(task_means, units.weights)
    off = units.average(task_means - mean)
    return SideMoments(
        mean=mean,
        tasks=units.number,
        contexts=count_contexts(cells),
        responses=int(cells.count.sum()),
        task_variance=_scale(off, off, units.relative),
        context_variance=compute_context_variance(cells, mean, tasks=len(task_means), by_code=by_code) if random else 0.0,
        residual_variance=compute_residual_variance(cells, by_code=by_code) if random else 0.0,
        kish=None if units.relative is None else effective_number(units.relative),
        # Rounding may leave a tiny negative number where nothing varies.
        spread=None if task_squares is None else max(0.0, average_tasks(task_squares, units.weights) - mean * mean),
        families=cells.clusters.family is not None,
        templates=cells.clusters.template is not None,
    )


def _scale(first: Floats, second: Floats, relative: Floats | None) -> float | None:
    """T/(T − 1) Σ wᵢ² firstᵢ·secondᵢ / (Σ wᵢ)² for deviations of the means of clusters; None with one, or weights worth fewer than two."""
    tasks = len(first)
    if relative is None:
        return None if tasks < 2 else sum_all(first * second) / (tasks * (tasks - 1))
    if effective_number(relative) < 2:
        return None
    return sum_all(relative * first * (relative * second)) / sum_all(relative) ** 2 * tasks / (tasks - 1)


def count_contexts(cells: Cells) -> int:
    """Return the number of contexts, or of templates where they are declared, with at least one cell."""
    return int(np.count_nonzero(np.bincount(cells.clusters.of_contexts(cells.context))))


def compute_context_variance(cells: Cells, mean: float, *, tasks: int, by_code: Floats | None) -> float | None:
    """Return C/(C − 1) Σ_c z_c² with z_ic = w_i a_ic (m_ic − Φ)/Σw and a_i = 1/(contexts present for the task); None with one context.

    Where templates are declared, c are the templates, and C their number.
    *by_code* holds the weight of each task by its code, at most 1 in size; None means that the *tasks* all weigh the same.
    """
    contexts = count_contexts(cells)
    if contexts < 2:
        return None
    present = np.bincount(cells.task)
    deviations = (cells.mean - mean) / present[cells.task]
    total = float(tasks)
    if by_code is not None:
        deviations = by_code[cells.task] * deviations
        total = sum_all(by_code)
    cluster = cells.clusters.of_contexts(cells.context)
    sums = sum_groups(deviations, cluster, size=int(cluster.max()) + 1)
    return math.fsum((sums**2).tolist()) / total**2 * contexts / (contexts - 1)


def compute_residual_variance(cells: Cells, *, by_code: Floats | None) -> float:
    """Return N/(N − T − C + 1) Σ (w_tc r_tc/Σw)², r_tc what is left of a cell when its task and its context are taken out.

    In a full table without weights this is the residual mean square over the N = TC cells. Families and templates take the place of
    tasks and contexts, and what they share is one cell. 0 with too few cells to know it. *by_code* as in `compute_context_variance`.
    """
    weight = 1.0 / np.bincount(cells.task)[cells.task]
    if by_code is not None:
        weight = by_code[cells.task] * weight
    task, context, weight, mean = _join_cells(cells, weight)
    size = int(task.max()) + 1, int(context.max()) + 1
    tasks, contexts = (int(np.count_nonzero(np.bincount(codes))) for codes in (task, context))
    spare = len(mean) - tasks - contexts + 1
    if spare < 1 or tasks < 2:
        return 0.0
    off = mean - _average(mean, weight, task, size[0])
    rest = off - _average(off, weight, context, size[1])
    # Squares lie in [0, 4].
    return 4 * sum_many((weight * rest) ** 2 / 4) / sum_all(weight) ** 2 * len(mean) / spare


def _join_cells(cells: Cells, weight: Floats) -> tuple[Places, Places, Floats, Floats]:
    """Return cluster of tasks, cluster of contexts, weight (largest at most 1) and mean of the cells of clusters."""
    task, context = cells.clusters.of_tasks(cells.task), cells.clusters.of_contexts(cells.context)
    if cells.clusters.family is None and cells.clusters.template is None:
        return task, context, weight, cells.mean
    pairs, place = np.unique(np.stack([task, context]), axis=1, return_inverse=True)
    size = pairs.shape[1]
    if size == len(weight):  # of one cell each
        return task, context, weight, cells.mean
    total = sum_groups(weight, place, size=size)
    return pairs[0], pairs[1], total / total.max(), sum_groups(weight * cells.mean, place, size=size) / total


def _average(values: Floats, weight: Floats, codes: Places, size: int) -> Floats:
    """The weighted mean of the group of each value; a group with values has weight."""
    total = np.maximum(sum_groups(weight, codes, size=size), np.finfo(float).tiny)
    return (sum_groups(weight * values, codes, size=size) / total)[codes]
