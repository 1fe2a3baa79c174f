"""Small tables of a lab with its own columns and words, in any form of file."""

import json
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from openpyxl import Workbook

HEAD = ("prompt_id", "condition", "passed")
ROWS: tuple[tuple[Any, ...], ...] = tuple(
    (f"q{task}", condition, passed) for task in range(4) for condition, passed in (("Eval", True), ("Prod", task > 0))
)
MAP = {"task": "prompt_id", "arm": "condition", "score": "passed"}
ARMS = {"Eval": "test", "Prod": "deploy"}
"""By value, as a log's arms are named."""


def write_xlsx(
    path: Path, rows: Sequence[Sequence[Any]] = ROWS, *, head: Sequence[str] = HEAD, change: Callable[[Workbook, Any], object] | None = None
) -> Path:
    """Write a spreadsheet with one sheet, *change*d before it is saved."""
    workbook = Workbook()
    sheet = workbook.active
    assert sheet is not None
    sheet.title = "Runs"
    for row in (head, *rows):
        sheet.append(list(row))
    if change is not None:
        change(workbook, sheet)
    workbook.save(path)
    return path


def write_text(path: Path, rows: Sequence[Sequence[Any]] = ROWS, *, head: Sequence[str] = HEAD, separator: str = ",") -> Path:
    """Write a text table."""
    lines = (separator.join(map(str, row)) for row in (head, *rows))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def write_jsonl(path: Path) -> Path:
    """Write one object a line."""
    path.write_text("".join(json.dumps(dict(zip(HEAD, row, strict=True))) + "\n" for row in ROWS), encoding="utf-8")
    return path


def write_parquet(path: Path) -> Path:
    """Write a Parquet file."""
    pq.write_table(pa.table({name: [row[place] for row in ROWS] for place, name in enumerate(HEAD)}), path)
    return path


def replace_member(source: Path, path: Path, name: str, content: bytes) -> Path:
    """Write the archive *source* with another content of one member."""
    with zipfile.ZipFile(source) as archive, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as changed:
        for member in archive.namelist():
            changed.writestr(member, content if member == name else archive.read(member))
    return path
