"""Task ids alone: from a list, or from the column `task_id` of a table that need not have scores yet."""

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet

from audit.errors import TableError
from registry.errors import Fault


def read_task_families(path: Path) -> dict[str, str | None]:
    """Return the family of each task of a file, or None, by task id in sorted order.

    A task has the first family that a row of it names in the column `family`, which may be absent. CSV, JSONL and Parquet are told by
    their names and need the column `task_id`; any other file has one id a line.

    Raises:
        TableError: the file cannot be read as what its name says, has no such column, or no ids.
    """
    read = _READERS.get(path.suffix.lower(), _read_lines)
    try:
        families: dict[str, str | None] = {}
        for task_id, family in read(path):
            if task_id:
                families[task_id] = families.get(task_id) or family or None
    except (KeyError, TypeError) as error:
        fault = Fault(
            code="column-missing", where=f"{path}, column task_id", found="the column is missing", advice="add the column task_id"
        )
        raise TableError(fault) from error
    except (OSError, UnicodeDecodeError, csv.Error, orjson.JSONDecodeError, pa.ArrowInvalid) as error:
        first = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        fault = Fault(
            code="table-not-readable", where=str(path), found=f"the file cannot be read: {first}", advice="check what the file is"
        )
        raise TableError(fault) from error
    if not families:
        raise TableError(Fault(code="table-empty", where=str(path), found="the file has no task ids", advice="write one for each task"))
    return {task_id: families[task_id] for task_id in sorted(families)}


Named = tuple[str, str | None]
"""The id of a task, and its family."""


def _read_lines(path: Path) -> Iterable[Named]:
    return [(line.strip(), None) for line in path.read_text(encoding="utf-8-sig").splitlines()]


def _read_csv(path: Path) -> Iterable[Named]:
    with path.open(encoding="utf-8-sig", newline="") as text:
        return [(row["task_id"] or "", row.get("family")) for row in csv.DictReader(text, strict=True)]


def _read_jsonl(path: Path) -> Iterable[Named]:
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    return [(str(row["task_id"]), _as_text(row.get("family"))) for row in rows if row["task_id"] is not None]


def _read_parquet(path: Path) -> Iterable[Named]:
    names = [name for name in ("task_id", "family") if name == "task_id" or name in pyarrow.parquet.read_schema(path).names]
    rows = pyarrow.parquet.read_table(path, columns=names).to_pylist()
    return [(str(row["task_id"]), _as_text(row.get("family"))) for row in rows if row["task_id"] is not None]


def _as_text(value: object) -> str | None:
    return None if value is None else str(value)


_READERS: dict[str, Callable[[Path], Iterable[Named]]] = {
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".parquet": _read_parquet,
}
