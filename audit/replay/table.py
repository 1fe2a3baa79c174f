"""A run folder as a score table: one row for every scoring of every response, failed ones as exclusions.

Rows come in the order of their names, so that the same responses and scores make the same bytes, in whatever order they came.
"""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from audit.replay.clusters import NONE, NamedClusters
from audit.replay.store import RunStore
from registry.atomic import replacing
from registry.records.response import Cell, Response
from registry.records.score import Score

COLUMNS = (
    *("task_id", "arm", "spec", "context_id", "cue_removed", "sample", "judge", "judge_repeat", "score", "excluded_reason"),
    *("stop_reason", "truncated", "settled", "refused", "model_returned", "request_id", "response", "at"),
)
CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
"""Stop reasons of answers that ended before they were over."""
_BEHIND = COLUMNS.index("stop_reason")
PATTERN_COLUMNS = (
    *("task_id", "arm", "spec", "context_id", "cue_removed", "sample", "response"),
    *("kind", "pattern", "matched", "start", "end", "text", "literal", "flags"),
)
NOT_SCORED = "not-scored"
"""Reason of a row whose response is there and was not scored yet."""

Value = str | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """One scoring of one response, or a response that has none."""

    cell: Cell
    response: Response
    score: Score | None
    """None after a failed call, and before the scoring."""
    judge: str | None
    """The model that judged, or would have; None for a deterministic scorer."""

    @property
    def value(self) -> float | None:
        """The score; None exactly when there is a reason."""
        return None if self.score is None else self.score.score

    @property
    def excluded_reason(self) -> str | None:
        """Why there is no score: the code of the failed call, the scorer's reason, or that nobody scored it yet."""
        if self.response.failure is not None:
            return self.response.failure.code
        return NOT_SCORED if self.score is None else self.score.excluded_reason


def list_rows(store: RunStore, scorer: str, *, judge: str | None = None) -> Iterator[TableRow | Cell]:
    """Give the rows of the table by the scorer with the digest *scorer*; a cell whose call was never answered is given as it is.

    Args:
        store: the run folder's.
        scorer: digest of the scorer.
        judge: model that the scorer asks, for rows that no judge saw; None for a deterministic scorer.
    """
    judges: Sequence[str | None] = (store.list_judges(scorer) or [judge]) if judge is not None else [None]
    for cell, key in store.list_cells(by_name=True):
        response = store.find_response(key)
        if response is None:
            yield cell
            continue
        scores = [] if response.failure else store.find_scores(scorer, key)
        for one in scores:
            named = [one.judge] if one.judge is not None else judges
            yield from (TableRow(cell=cell, response=response, score=one, judge=name) for name in named)
        if not scores:
            yield from (TableRow(cell=cell, response=response, score=None, judge=name) for name in judges)


def is_never_settled(_: TableRow) -> bool:
    """Return False: the score of a truncated response may have been another."""
    return False


def write_table(
    rows: Iterable[TableRow | Cell],
    path: Path,
    *,
    dimensions: Sequence[str] = (),
    marks: Sequence[str] = (),
    is_settled: Callable[[TableRow], bool] = is_never_settled,
    clusters: NamedClusters = NONE,
) -> None:
    """Write the rows that have a response to *path* as CSV, whole or not at all.

    Args:
        rows: as `list_rows` gives them; cells without a response are left out.
        path: the file; one that is there is replaced.
        dimensions: names of ratings or rates that get columns of their own; one that is a column already is called `dimension_NAME`.
        marks: names of what a scorer notes of every response, 1 or 0, such as whether a judge saw all of it; columns at the end.
        is_settled: whether the score of a truncated response can no longer change, as its scorer declares.
        clusters: families of tasks and templates of contexts; columns at the end where any is named.
    """
    names = [f"dimension_{name}" if name in (*COLUMNS, *marks) else name for name in dimensions]
    header = (*COLUMNS[:_BEHIND], *names, *COLUMNS[_BEHIND:], *marks, *clusters.columns)
    values = (
        (*_build_values(row, dimensions, is_settled), *_mark(row, marks), *clusters.list_values(row.cell))
        for row in rows
        if isinstance(row, TableRow)
    )
    _write(path, header, values)


def write_patterns(rows: Iterable[TableRow | Cell], path: Path) -> None:
    """Write one row for every pattern test of *rows* to *path* as CSV, whole or not at all."""
    tests = ((row, one) for row in rows if isinstance(row, TableRow) for one in list_tests(row.score))
    _write(path, PATTERN_COLUMNS, ((*_place(row.cell), row.response.key, *_test_values(one)) for row, one in tests))


def list_tests(score: Score | None) -> Iterator[dict[str, object]]:
    """Give what a pattern scorer found for each pattern; nothing for other scorers."""
    patterns = (score.detail or {}).get("patterns") if score else None
    if isinstance(patterns, list | tuple):
        yield from (one for one in patterns if isinstance(one, dict))


def _build_values(row: TableRow, dimensions: Sequence[str], is_settled: Callable[[TableRow], bool]) -> tuple[Value, ...]:
    response, score = row.response, row.score
    moment = response.received_at or response.sent_at
    rated = (score.dimensions if score else None) or {}
    return (
        *_place(row.cell),
        row.judge,
        None if score is None or score.repeat is None else str(score.repeat),
        row.value,
        row.excluded_reason,
        *(rated.get(name) for name in dimensions),
        response.stop_reason,
        None if response.failure else str(int(response.stop_reason in CUT)),
        None if response.stop_reason not in CUT else str(int(is_settled(row))),
        None if response.failure else str(int(response.stop_reason == "refusal")),
        response.model_returned,
        response.attempts[-1].request_id if response.attempts else None,
        response.key,
        None if moment is None else moment.isoformat(),
    )


def _mark(row: TableRow, marks: Sequence[str]) -> Iterator[Value]:
    detail = (row.score.detail if row.score else None) or {}
    yield from (str(int(bool(detail[name]))) if name in detail else None for name in marks)


def _place(cell: Cell) -> tuple[Value, ...]:
    return cell.task_id, cell.arm, cell.spec, cell.context_id, cell.cue_removed, str(cell.sample)


def _test_values(test: dict[str, object]) -> Iterator[Value]:
    for name in PATTERN_COLUMNS[PATTERN_COLUMNS.index("kind") :]:
        value = test.get(name)
        yield str(int(value)) if isinstance(value, bool) else None if value is None else str(value)


def _write(path: Path, header: Sequence[str], rows: Iterable[Sequence[Value]]) -> None:
    with replacing(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(["" if value is None else repr(value) if isinstance(value, float) else value for value in row] for row in rows)
