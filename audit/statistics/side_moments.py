"""Clusters, cells and means of two sides, the parts of their variances, and the half-width that the parts give."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.special import stdtr, stdtrit

from audit.statistics.responses import Codes, Floats, effective_number, find_relative_weights, sum_all, sum_groups, sum_many

# Families of tasks and templates of contexts: dependent units count as one cluster.
#
# A family replaces the task in the task part of a variance. The task means of a family are averaged,
# each with the weight of its task, before anything is squared. A template does the same in the context
# part. Point estimates do not change. Sources: K.-Y. Liang & S. L. Zeger, Biometrika 73 (1986) 13–22
# (cluster-robust variance); A. C. Cameron & D. L. Miller, Journal of Human Resources 50 (2015) 317–372,
# section VI.A (G/(G − 1) and G − 1 degrees of freedom). Assumed: families are independent of each
# other, and so are templates.

Places = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clusters:
    """Which tasks, and which contexts, depend on each other."""

    family: Places | None = None
    """By task code: the code of one task of its family, the same for all of them. None: every task is its own family."""

    template: Places | None = None
    """By context code, as `family`. None: every context is its own template."""

    def of_tasks(self, tasks: Places) -> Places:
        """Return the cluster of each of the task codes."""
        return tasks if self.family is None else self.family[tasks]

    def of_contexts(self, contexts: Places) -> Places:
        """Return the cluster of each of the context codes."""
        return contexts if self.template is None else self.template[contexts]

    def recode(self, *, tasks: Places, contexts: Places, size: tuple[int, int]) -> "Clusters":
        """Return the same for other codes: *tasks* and *contexts* hold the new code by the old one, *size* how many new ones there are."""
        return Clusters(family=_recode(self.family, tasks, size[0]), template=_recode(self.template, contexts, size[1]))


def connect_units(units: Places, groups: Places, *, size: int) -> Places:
    """Return, for each unit 0 … size − 1, the lowest unit that it is connected with, over groups that both are in.

    Args:
        units: one entry for each membership.
        groups: the group of each entry, 0 or more.
        size: number of units.
    """
    nodes = size + int(groups.max(initial=-1)) + 1
    graph = coo_array((np.ones(len(units), dtype=np.int8), (units, groups + size)), shape=(nodes, nodes)).tocsr()
    _, component = connected_components(graph, directed=False)
    _, first, place = np.unique(component[:size], return_index=True, return_inverse=True)
    lowest: Places = first[place]
    return lowest


def merge_clusters(first: Clusters, second: Clusters) -> Clusters:
    """Return the clusters in which everything depends on each other that does in *first* or in *second*, over the same codes."""
    return Clusters(family=_merge(first.family, second.family), template=_merge(first.template, second.template))


def _merge(first: Places | None, second: Places | None) -> Places | None:
    if first is None or second is None:
        return second if first is None else first
    every = np.arange(len(first), dtype=np.intp)
    return connect_units(np.concatenate([every, every]), np.concatenate([first, second + len(first)]), size=len(first))


INDEPENDENT = Clusters()
"""Every task and every context is a cluster of its own."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Units:
    """The clusters of the common tasks."""

    code: Places
    """Of each cluster, among the codes of the tasks."""

    relative: Floats | None
    """Weight of each as a share of the largest; None where they do not differ."""

    of_task: Places | None
    """By common task: the place of its cluster; None where every task is its own."""

    weights: Floats | None
    """Of the common tasks, as shares of the largest; None where they do not differ."""

    @property
    def number(self) -> int:
        """How many clusters there are."""
        return len(self.code)

    @property
    def largest(self) -> float:
        """Weight of the heaviest cluster, the heaviest task having 1."""
        return 1.0 if self.of_task is None else float(self._total().max())

    def average(self, values: Floats) -> Floats:
        """Return the mean of *values*, of the common tasks and in [−2, 2], in each cluster."""
        if self.of_task is None:
            return values
        weighted = values if self.weights is None else self.weights * values
        return sum_groups(weighted, self.of_task, size=self.number) / self._total()

    def _total(self) -> Floats:
        """The weight of each cluster."""
        if self.of_task is None:
            return np.ones(self.number) if self.weights is None else self.weights
        return sum_groups(np.ones(len(self.of_task)) if self.weights is None else self.weights, self.of_task, size=self.number)


def find_units(clusters: Clusters, common: npt.NDArray[np.bool_], relative: Floats | None) -> Units:
    """Return the clusters of the *common* tasks (by task code), with the weights *relative*."""
    tasks = np.flatnonzero(common)
    if clusters.family is None:
        return Units(code=tasks, relative=relative, of_task=None, weights=relative)
    code, place = np.unique(clusters.family[tasks], return_inverse=True)
    if len(code) == len(tasks):
        return Units(code=tasks, relative=relative, of_task=None, weights=relative)
    total = sum_groups(np.ones(len(tasks)) if relative is None else relative, place, size=len(code))
    alike = bool((total == total[0]).all())
    return Units(code=code, relative=None if alike else total / total.max(), of_task=place, weights=relative)


def _recode(clusters: Places | None, places: Places, size: int) -> Places | None:
    """Codes that were not there before are clusters of their own."""
    if clusters is None:
        return None
    codes = np.arange(size, dtype=np.intp)
    codes[places] = places[clusters]
    return codes


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
    # Counting the whole grid is faster than sorting, but its memory grows with tasks × contexts even if
    # few cells are filled.
    if grid <= 8 * len(key) + _DENSE:
        total = np.bincount(key, minlength=grid)
        present = np.flatnonzero(total)
        place, size, rows, count = key, grid, present, total[present]
    else:
        present, place, count = np.unique(key, return_inverse=True, return_counts=True)
        size, rows = len(present), np.arange(len(present))
    mean = sum_groups(score, place, size=size)[rows] / count
    # Scores of 0 and 1 are their own squares, so a binary side needs no second sum.
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


# Half-width of a t interval with a variance that is a sum of parts with few degrees of freedom each.
#
# Sources: F. E. Satterthwaite, Biometrics Bulletin 2 (1946) 110–114, for mean squares with coefficients
# of either sign; in full tables of two crossed factors these are Kenward & Roger's degrees of freedom
# too (Biometrics 53 (1997) 983–997; a test quotes R's pbkrtest). S. K. Banerjee, Sankhyā 22 (1960)
# 357–358: squared t quantiles, weighted by the parts; it needs no degrees of freedom of the sum.
# Assumed: the parts are independent, and each, divided by its expectation, is near χ²(df)/df.

ZERO_VARIANCE = 1e-15
"""On the scale of scores in [0, 1], a variance up to this counts as none."""

_HALVINGS = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class VariancePart:
    """One component of a variance."""

    variance: float
    """Negative for what two other parts both contain: it is subtracted once."""

    df: float
    """Degrees of freedom it was estimated with, at least 1; a fraction where tasks have weights."""


def total_variance(parts: Sequence[VariancePart]) -> float:
    """Return the sum of the parts, never below the largest of them, the same in whatever order they come; 0 without parts."""
    return max(math.fsum(part.variance for part in parts), max((part.variance for part in parts), default=0.0))


def half_width(parts: Sequence[VariancePart], *, level: float, banerjee: bool) -> float:
    """Return h such that estimate ± h covers at *level*; 0 when there is no variance.

    With *banerjee* each part has the t quantile of its own degrees of freedom and nothing is subtracted (conservative);
    else the sum has the quantile of Satterthwaite's (never below 1).
    """
    variance = total_variance(parts)
    if variance <= 0:
        return 0.0
    upper = 0.5 + level / 2
    if banerjee:
        return math.sqrt(math.fsum(float(stdtrit(part.df, upper)) ** 2 * part.variance for part in parts if part.variance > 0))
    return float(stdtrit(satterthwaite_df(parts), upper)) * math.sqrt(variance)


def satterthwaite_df(parts: Sequence[VariancePart]) -> float:
    """Return the effective degrees of freedom V²/Σ(vᵢ²/dfᵢ), of negative parts too, at least 1; the variance must not be zero."""
    # Shares of the variance are squared instead of variances: tiny ones would underflow.
    variance = total_variance(parts)
    return max(1.0, 1.0 / math.fsum((part.variance / variance) ** 2 / part.df for part in parts))


def one_sided_p(distance: float, parts: Sequence[VariancePart], *, banerjee: bool) -> float | None:
    """Return the p at which an interval of the same form, one-sided, just reaches *distance*; None without a variance.

    *distance* counts in the direction of the alternative: p falls from 1 through 0.5 at 0.
    """
    variance = total_variance(parts)
    if variance <= ZERO_VARIANCE:
        return None
    if not banerjee:
        return float(stdtr(satterthwaite_df(parts), -distance / math.sqrt(variance)))
    if distance < 0:
        return 1.0 - _smallest_p(lambda level: half_width(parts, level=level, banerjee=True) < -distance)
    return _smallest_p(lambda level: half_width(parts, level=level, banerjee=True) < distance)


def _smallest_p(excludes: Callable[[float], bool]) -> float:
    """Return the smallest one-sided p in (0, 0.5] whose interval, at level 1 − 2p, *excludes* the hypothesis.

    Halves on the logarithm of p; below 1e−16 the level cannot be told from 1 and the smallest p that can is returned.
    """
    low, high = math.log(1e-16), math.log(0.5)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if excludes(1.0 - 2.0 * math.exp(middle)):
            high = middle
        else:
            low = middle
    return math.exp(high)


# Means of two sides and the parts of their variances, over tasks and contexts (statistics.md section
# 2).
#
# Sources: analysis of variance of two crossed factors (S. R. Searle, G. Casella & C. E. McCulloch,
# Variance Components, 1992, chapter 4): the residual is in the task part and in the context part, and
# is subtracted once. Two-way clustering: Owen & Eckles 2012 (arXiv:1106.2125); MacKinnon, Nielsen &
# Webb (arXiv:2406.08880), whose rule keeps the sum of the three terms from falling below any one of the
# parts. A weighted mean is the ratio Σ wᵢΦᵢ/Σ wᵢ and has the variance of the linearised ratio, with
# T/(T − 1): D. A. Binder, International Statistical Review 51 (1983) 279–292, as in R's `survey`.
# Assumed: tasks (or families) are independent of each other; with random contexts, contexts (or
# templates) are independent of each other and of the tasks, and one side's contexts of the other's.
# Samples need not be independent.

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

    def parts(self, *, random: bool) -> tuple[VariancePart, ...] | None:
        """Return the parts of the variance of the mean, or None when one of them cannot be estimated."""
        if self.task_variance is None or self.context_variance is None:
            return None
        task = VariancePart(variance=self.task_variance, df=self.effective_tasks - 1)
        return (task, VariancePart(variance=self.context_variance, df=self.contexts - 1), *self.overlap()) if random else (task,)

    def overlap(self) -> tuple[VariancePart, ...]:
        """Return what two parts both contain as a negative part; nothing where there is none."""
        df = (self.effective_tasks - 1) * (self.contexts - 1)
        return (VariancePart(variance=-self.residual_variance, df=df),) if self.residual_variance > 0 and df > 0 else ()


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

    def parts(self) -> tuple[VariancePart, ...] | None:
        """Return the parts of the variance of ED, or None when one of them cannot be estimated."""
        contexts = (self.test, self.deploy) if self.random else ()
        if self.difference_variance is None or any(side.context_variance is None for side in contexts):
            return None
        task = VariancePart(variance=self.difference_variance, df=self.test.effective_tasks - 1)
        sampled = (VariancePart(variance=side.context_variance or 0.0, df=side.contexts - 1) for side in contexts)
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
        task_variance=_find_task_variance(off, units.relative, mean=mean),
        context_variance=compute_context_variance(cells, mean, tasks=len(task_means), by_code=by_code) if random else 0.0,
        residual_variance=compute_residual_variance(cells, by_code=by_code) if random else 0.0,
        kish=None if units.relative is None else effective_number(units.relative),
        # Rounding may leave a tiny negative number if nothing varies.
        spread=None if task_squares is None else max(0.0, average_tasks(task_squares, units.weights) - mean * mean),
        families=cells.clusters.family is not None,
        templates=cells.clusters.template is not None,
    )


def _find_task_variance(off: Floats, relative: Floats | None, *, mean: float) -> float | None:
    """The variance of *mean* whose clusters are *off* by so much: of the linearised ratio, and at least s·Φ(1 − Φ)/n_eff.

    A ratio takes the spread of its clusters from the heavy ones. Where few have most of the weight and the event is rare, they seldom
    have it: mean and variance come out too low together. s is the spread of the cluster means, all counted alike, as a share of the
    largest that their plain mean allows: 1 for clusters of one all-or-nothing response, less for clusters of many. n_eff is Kish's number.
    """
    linear = _scale(off, off, relative)
    if linear is None or relative is None:
        return linear
    centre = sum_all(off) / len(off)
    plain = mean + centre
    whole = plain * (1 - plain)
    spread = sum_all((off - centre) ** 2) / (len(off) - 1)
    share = min(1.0, spread / whole) if whole > ZERO_VARIANCE else 1.0
    return max(linear, share * max(0.0, mean * (1 - mean)) / effective_number(relative))


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
    # Without spare cells the residual is unknown. Subtracting 0 leaves the variance too large, which is
    # the safe side.
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
