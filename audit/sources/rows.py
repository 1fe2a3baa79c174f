"""Rows that a reader of logs hands over: through the checks of every score table, and out as a table of their own."""

import csv
import math
from collections.abc import Iterable, Sequence
from typing import TextIO

import numpy as np

from audit.sources.header import COLUMNS, IDS
from audit.sources.port import Row
from audit.sources.raw import RawColumn, RawTable
from audit.sources.table import build_table
from audit.statistics.scores import ScoreTable
from registry.records.imported import Imported

_TEXTS = tuple(name for name in COLUMNS if name not in {"score", "weight"})


def build_row_table(rows: Sequence[Row], imported: Imported, *, low: float, high: float) -> ScoreTable:
    """Return *rows* as one checked table, whose files are those of *imported*.

    Raises:
        TableError: whatever is wrong with a table that was written by hand; the fault names the log and the place in it.
    """
    by_file: dict[str, list[Row]] = {file.name: [] for file in imported.files}
    for row in rows:
        by_file[row.file or imported.files[0].name].append(row)
    digests = {file.name: file.sha256 for file in imported.files}
    tables = [_build_raw(name, digests[name], of_file) for name, of_file in by_file.items() if of_file]
    return build_table(tables, low=low, high=high)


def _build_raw(name: str, sha256: str, rows: Sequence[Row]) -> RawTable:
    score = np.array([math.nan if row.score is None else row.score for row in rows], dtype=np.float64)
    return RawTable(
        name=name,
        sha256=sha256,
        columns={column: _intern(getattr(row, column) for row in rows) for column in _TEXTS},
        score=score,
        empty=np.array([row.score is None for row in rows], dtype=np.bool_),
        row_word="row",
        first_row=1,
        rows_read=len(rows),
        places=tuple(row.place or f"task {row.task_id}, context {row.context_id}, sample {row.sample}" for row in rows),
    )


def _intern(texts: Iterable[str | None]) -> RawColumn:
    known: dict[str, int] = {}
    codes = [-1 if not text else known.setdefault(text, len(known)) for text in texts]
    return RawColumn(codes=np.array(codes, dtype=np.int32), labels=tuple(known))


def write_rows(rows: Sequence[Row], out: TextIO) -> None:
    """Write *rows* as CSV in the form that score tables have; columns that no row fills are left out.

    A score is written with all its digits, so that the table read again has the digest of this one.
    """
    optional = [name for name in _TEXTS if name not in IDS and any(getattr(row, name) is not None for row in rows)]
    extras = list(dict.fromkeys(name for row in rows for name in row.extras))
    writer = csv.writer(out, lineterminator="\n")
    # A column of the log that is called as one of ours would be read as one.
    writer.writerow([*IDS, "score", *optional, *(f"log_{name}" if name in COLUMNS else name for name in extras)])
    for row in rows:
        score = "" if row.score is None else repr(float(row.score))
        own = [getattr(row, name) or "" for name in optional]
        writer.writerow([*(getattr(row, name) for name in IDS), score, *own, *(_write(row.extras.get(name)) for name in extras)])


def _write(value: str | float | None) -> str:
    return "" if value is None else value if isinstance(value, str) else repr(value)
