"""Task ids alone: from a list, or from the column `task_id` of a table that need not have scores yet."""

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

import orjson
import pyarrow as pa
import pyarrow.parquet

from audit.errors import TableError
from registry.errors import Fault


def read_task_ids(path: Path) -> list[str]:
    """Return the different task ids of a file in sorted order.

    CSV, JSONL and Parquet are told by their names and need the column `task_id`; any other file has one id a line.

    Raises:
        TableError: the file cannot be read as what its name says, has no such column, or no ids.
    """
    read = _READERS.get(path.suffix.lower(), _read_lines)
    try:
        found = sorted({task_id for task_id in read(path) if task_id})
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
    if not found:
        raise TableError(Fault(code="table-empty", where=str(path), found="the file has no task ids", advice="write one for each task"))
    return found


def _read_lines(path: Path) -> Iterable[str]:
    return [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]


def _read_csv(path: Path) -> Iterable[str]:
    with path.open(encoding="utf-8-sig", newline="") as text:
        return [row["task_id"] or "" for row in csv.DictReader(text, strict=True)]


def _read_jsonl(path: Path) -> Iterable[str]:
    lines = path.read_bytes().splitlines()
    ids = [orjson.loads(line)["task_id"] for line in lines if line.strip()]
    return [str(task_id) for task_id in ids if task_id is not None]


def _read_parquet(path: Path) -> Iterable[str]:
    table = pyarrow.parquet.read_table(path, columns=["task_id"])
    return [str(task_id) for task_id in table.column("task_id").to_pylist() if task_id is not None]


_READERS: dict[str, Callable[[Path], Iterable[str]]] = {
    ".csv": _read_csv,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".parquet": _read_parquet,
}
