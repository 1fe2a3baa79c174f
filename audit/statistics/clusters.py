"""Tasks of one family and contexts of one template: what depends on each other counts as one cluster.

A family is to the task part of a variance what a task is without families: the task means of a family are averaged, each with the weight
of its task, before anything is squared. A template is the same to the context part. Points stay what they are. Sources: K.-Y. Liang &
S. L. Zeger, Biometrika 73 (1986) 13–22 (cluster-robust variance); A. C. Cameron & D. L. Miller, Journal of Human Resources 50 (2015)
317–372, section VI.A (G/(G − 1) and G − 1 degrees of freedom). Assumed: families are independent of each other, and so are templates.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from audit.statistics.scores import Floats
from audit.statistics.sums import sum_groups

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


def connect(units: Places, groups: Places, *, size: int) -> Places:
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


def merge(first: Clusters, second: Clusters) -> Clusters:
    """Return the clusters in which everything depends on each other that does in *first* or in *second*, over the same codes."""
    return Clusters(family=_merge(first.family, second.family), template=_merge(first.template, second.template))


def _merge(first: Places | None, second: Places | None) -> Places | None:
    if first is None or second is None:
        return second if first is None else first
    every = np.arange(len(first), dtype=np.intp)
    return connect(np.concatenate([every, every]), np.concatenate([first, second + len(first)]), size=len(first))


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
    """Return the clusters of the *common* tasks (by task code), whose weights are *relative*."""
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
    found = np.arange(size, dtype=np.intp)
    found[places] = places[clusters]
    return found
