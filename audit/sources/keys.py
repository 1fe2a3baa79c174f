"""No two rows may have the same key; where a column that is none of ours tells them apart, the message names it."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from audit.errors import TableError
from audit.sources.header import IDS, KEYS
from audit.sources.raw import LISTED, FaultList, RawTable, merge_columns
from audit.statistics.scores import Labelled
from registry.errors import Fault

Keys = npt.NDArray[np.int64]
Read = Callable[[tuple[str, ...]], Sequence[RawTable]]
"""Reads the files once more, with the columns named."""

Telling = list[tuple[str, tuple[str, ...]]]
"""Columns with their values."""

_MOST_VALUES = 100
"""A column with more values than this numbers responses rather than kinds of them, and nobody would choose rows by it."""


def check_keys(tables: Sequence[RawTable], columns: Mapping[str, Labelled], faults: FaultList, *, read: Read) -> None:
    """Add a fault for each row with the task, arm, context, sample and other `KEYS` of an earlier one."""
    key = number_keys([columns[name] for name in (*IDS, *KEYS)])
    complete = np.flatnonzero(np.all([columns[name].codes >= 0 for name in IDS], axis=0))
    ordered = np.sort(key[complete])
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not len(repeated):
        return
    telling = find_telling(tables, key[complete], complete, read)
    advice = _advise(telling)
    # One remedy for all rows: a few of them are example enough.
    most = 3 if telling else LISTED
    extra = int(np.count_nonzero(ordered[1:] == ordered[:-1]))
    listed = 0
    for value in repeated[:most].tolist():
        rows = complete[key[complete] == value]
        for row in rows[1:][: most - listed].tolist():
            listed += 1
            faults.add(_tell_repeated(tables, columns, (int(rows[0]), row), advice))
    faults.count(extra - listed)


def number_keys(columns: Sequence[Labelled]) -> Keys:
    """Return a number for each row, the same exactly where the entries of all *columns* are."""
    key = np.zeros(len(columns[0].codes), dtype=np.int64)
    size = 1
    for column in columns:
        width = len(column.labels) + 1
        if size * width >= 2**62:
            # Too many combinations to number: number those that occur.
            _, key = np.unique(key, return_inverse=True)
            size = len(key)
        key = key * width + (column.codes + 1)
        size *= width
    return key


def find_telling(tables: Sequence[RawTable], key: Keys, rows: npt.NDArray[np.intp], read: Read) -> Telling:
    """Return the fewest columns, with their values, that together tell rows of one key apart; none if none do.

    Columns are added one by one, each time the one that leaves most keys apart (of equals, the one with fewer values).
    """
    unknown = [name for name in tables[0].unknown if all(name in table.unknown for table in tables)]
    try:
        again = read(tuple(unknown)) if unknown else ()
    except TableError:
        return []
    columns = {name: merge_columns([(table.extras[name], len(table.score)) for table in again]) for name in unknown}
    left = {name: column.keep(rows) for name, column in columns.items() if 1 < len(column.labels) <= _MOST_VALUES}
    chosen: Telling = []
    _, numbers = np.unique(key, return_inverse=True)
    apart = int(numbers.max()) + 1
    while apart < len(rows) and left:
        split = {
            name: np.unique(numbers * (len(column.labels) + 1) + column.codes + 1, return_inverse=True) for name, column in left.items()
        }
        best = max(left, key=lambda name: (len(split[name][0]), -len(left[name].labels)))
        if len(split[best][0]) == apart:
            break
        apart, numbers = len(split[best][0]), split[best][1]
        chosen.append((best, left.pop(best).labels))
    return chosen if apart == len(rows) else []


def _advise(telling: Telling) -> str:
    if not telling:
        return "give each response its own sample, or remove one"
    chosen = " ".join(f"--where {name}=…" for name, _ in telling)
    values = "; ".join(f"{name} is {', '.join(values[:5])}{' …' if len(values) > 5 else ''}" for name, values in telling)
    return f"rows differ in {', '.join(name for name, _ in telling)}: keep one with {chosen} ({values})"


def _tell_repeated(tables: Sequence[RawTable], columns: Mapping[str, Labelled], rows: tuple[int, int], advice: str) -> Fault:
    first, row = rows
    names = [name for name in (*IDS, *KEYS) if columns[name].codes[row] >= 0]
    key = ", ".join(f"{name} {columns[name].labels[columns[name].codes[row]]!r}" for name in names)
    found = f"the key ({key}) stands already in {_locate(tables, first)}"
    return Fault(code="row-repeated", where=_locate(tables, row), found=found, advice=advice)


def _locate(tables: Sequence[RawTable], row: int) -> str:
    """File and row of a row of the whole table."""
    for table in tables:
        if row < len(table.score):
            return table.locate(row, "task_id").removesuffix(", column task_id")
        row -= len(table.score)
    raise ValueError(f"row {row} lies beyond the table")
