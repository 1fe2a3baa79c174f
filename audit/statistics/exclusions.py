"""What the differential would be had the excluded responses been scored, at worst and at best (statistics.md section 3)."""

from dataclasses import dataclass, replace

import numpy as np

from audit.statistics.cells import Cells, build_cells
from audit.statistics.clusters import INDEPENDENT, Clusters
from audit.statistics.moments import average_tasks, compute_task_means, find_common_tasks
from audit.statistics.proportion import Limits
from audit.statistics.scores import Codes, Floats
from audit.statistics.weights import find_relative_weights


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Side:
    """All responses of one side, scored or excluded; arrays of one length."""

    task: Codes
    context: Codes
    score: Floats
    """In [0, 1]; NaN where the response was excluded."""

    clusters: Clusters = INDEPENDENT
    """Which tasks and contexts depend on each other, by their codes."""

    @property
    def excluded(self) -> int:
        """Number of responses without a score."""
        return int(np.count_nonzero(np.isnan(self.score)))

    def scored(self) -> "Side":
        """Return the responses that have a score."""
        kept = ~np.isnan(self.score)
        return self if kept.all() else replace(self, task=self.task[kept], context=self.context[kept], score=self.score[kept])

    def cells(self, *, fill: float) -> Cells:
        """Return the cell means with *fill* in place of every missing score."""
        score = np.where(np.isnan(self.score), fill, self.score)
        return build_cells(task=self.task, context=self.context, score=score, clusters=self.clusters)


def exclusion_bounds(test: Side, deploy: Side, *, tasks: int, weights: Floats | None = None) -> Limits | None:
    """Return the lowest and highest ED that scores in [0, 1] for the excluded responses could give; None when none is excluded.

    The tasks are those with any response on both sides, so a task lost by exclusion comes back; hence the ED of the scored
    responses alone may lie outside. *weights* are those of all tasks by their codes; None means that all weigh the same.
    """
    if not (test.excluded or deploy.excluded):
        return None

    def difference(*, fill_test: float, fill_deploy: float) -> float:
        first, second = test.cells(fill=fill_test), deploy.cells(fill=fill_deploy)
        common = find_common_tasks(first, second, tasks=tasks)
        means_test, means_deploy = compute_task_means(first, common), compute_task_means(second, common)
        relative = find_relative_weights(weights, common)
        return average_tasks(means_test, relative) - average_tasks(means_deploy, relative)

    return Limits(low=difference(fill_test=0.0, fill_deploy=1.0), high=difference(fill_test=1.0, fill_deploy=0.0))
