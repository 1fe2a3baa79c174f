"""What the differential could be had the excluded and truncated responses been scored."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from audit.statistics.mean_intervals import ConfidenceLimits
from audit.statistics.responses import NO, SCORED, SETTLED, YES, Codes, Floats, ScoreTable, TextColumn, find_relative_weights
from audit.statistics.side_moments import INDEPENDENT, Cells, Clusters, average_tasks, build_cells, compute_task_means, find_common_tasks
from registry.records.estimates import Truncation, TruncationCounts

# Truncated responses, and score tables in which open responses get the lowest or highest score.
#
# Excluded responses count like truncated ones: both could have had another score, and excluding
# failures must not hide them. An audit with 6 % server errors therefore needs the same verdict in the
# best and the worst case.

Rows = npt.NDArray[np.intp]
Mask = npt.NDArray[np.bool_]


def count_truncated(table: ScoreTable, test_rows: Rows, deploy_rows: Rows) -> Truncation | None:
    """Return the truncated responses among the rows of both sides; None where *table* does not state which they are."""
    if table.truncated is None:
        return None
    return Truncation(test=_count(table, table.truncated, test_rows), deploy=_count(table, table.truncated, deploy_rows))


def find_open(table: ScoreTable, arm: str) -> Mask:
    """Return the rows of *arm* without a settled score: excluded, or truncated and not settled. Excluding failures must not hide them."""
    unresolved: Mask = table.excluded.codes != SCORED
    if table.truncated is not None:
        unresolved = unresolved | _is(table.truncated, YES)
    rows: Mask = unresolved & _is(table.arm, arm)
    return rows


def fill_scores(table: ScoreTable, rows: Mask, score: float) -> ScoreTable:
    """Return *table* with *score* in each of *rows*, those that were excluded as well."""
    everything = np.ones(table.rows, dtype=bool)
    codes = np.where(rows, np.int32(SCORED), table.excluded.codes)
    # `keep` drops the labels that no row has any more.
    excluded = TextColumn(codes=codes, labels=table.excluded.labels).keep(everything)
    return replace(table, score=np.where(rows, score, table.score), excluded=excluded)


def _count(table: ScoreTable, truncated: TextColumn, rows: Rows) -> TruncationCounts:
    scored = table.excluded.codes[rows] == SCORED
    states = {label: int(np.count_nonzero(_is(truncated, label)[rows])) for label in (NO, SETTLED, YES)}
    return TruncationCounts(
        responses=len(rows),
        truncated=states[SETTLED] + states[YES],
        settled=states[SETTLED],
        not_stated=int(np.count_nonzero(scored & (truncated.codes[rows] < 0))),
        excluded=int(np.count_nonzero(~scored)),
        unresolved=int(np.count_nonzero(~scored | _is(truncated, YES)[rows])),
        refused=None if table.refused is None else int(np.count_nonzero(_is(table.refused, YES)[rows])),
    )


def _is(column: TextColumn, label: str) -> Mask:
    code = column.find(label)
    mask: Mask = np.zeros(len(column.codes), dtype=bool) if code is None else column.codes == code
    return mask


# ED if the excluded responses had been scored, at worst and at best (statistics.md section 3).


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ResponseSide:
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

    def scored(self) -> "ResponseSide":
        """Return the responses that have a score."""
        kept = ~np.isnan(self.score)
        return self if kept.all() else replace(self, task=self.task[kept], context=self.context[kept], score=self.score[kept])

    def cells(self, *, fill: float) -> Cells:
        """Return the cell means with *fill* in place of every missing score."""
        score = np.where(np.isnan(self.score), fill, self.score)
        return build_cells(task=self.task, context=self.context, score=score, clusters=self.clusters)


def exclusion_bounds(test: ResponseSide, deploy: ResponseSide, *, tasks: int, weights: Floats | None = None) -> ConfidenceLimits | None:
    """Return the lowest and highest ED that scores in [0, 1] for the excluded responses could give; None when none is excluded.

    The tasks are those with any response on both sides, so a task lost by exclusion comes back; hence the ED of the scored
    responses by themselves may lie outside. *weights* are those of all tasks by their codes; None means that all weigh the same.
    """
    if not (test.excluded or deploy.excluded):
        return None

    def difference(*, fill_test: float, fill_deploy: float) -> float:
        first, second = test.cells(fill=fill_test), deploy.cells(fill=fill_deploy)
        common = find_common_tasks(first, second, tasks=tasks)
        means_test, means_deploy = compute_task_means(first, common), compute_task_means(second, common)
        relative = find_relative_weights(weights, common)
        return average_tasks(means_test, relative) - average_tasks(means_deploy, relative)

    # ED is monotone in every score, so two fills of all missing scores give both ends.
    return ConfidenceLimits(low=difference(fill_test=0.0, fill_deploy=1.0), high=difference(fill_test=1.0, fill_deploy=0.0))
