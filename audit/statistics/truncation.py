"""How many responses of each side were truncated, and the tables in which those have the lowest or highest score."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from audit.statistics.scores import NO, SCORED, SETTLED, YES, Labelled, ScoreTable
from registry.records.estimate import Truncation, TruncationCounts

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
    excluded = Labelled(codes=codes, labels=table.excluded.labels).keep(everything)
    return replace(table, score=np.where(rows, score, table.score), excluded=excluded)


def _count(table: ScoreTable, truncated: Labelled, rows: Rows) -> TruncationCounts:
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


def _is(column: Labelled, label: str) -> Mask:
    code = column.find(label)
    found: Mask = np.zeros(len(column.codes), dtype=bool) if code is None else column.codes == code
    return found
