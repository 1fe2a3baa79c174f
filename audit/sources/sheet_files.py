"""A file of any common form becomes one sheet: column names, rows of cells, and the place of each row for messages."""

import csv
import hashlib
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from audit.errors import TableError
from audit.sources.arrow import read_parquet_columns
from audit.sources.log_rows import read_lines
from audit.sources.score_columns import MOST_COLUMNS, build_too_wide
from registry.errors import Fault, InputError
from registry.intake.card_reader import ask_extractor
from registry.intake.text_extractors import name_cell
from registry.present.answers import show

# A sheet keeps what its file says: TRUE is not 1 and "7" is not 7 until the roles of the columns are known. Rows of
# Python objects cost about 400 bytes each, so such a file has a limit; a table with Caveat's own columns is read by Arrow
# and has none.

Cell = str | int | float | bool | None
"""One cell; None where it is empty."""

LARGEST_FILE = 500_000_000
LARGEST_SPREADSHEET = 100_000_000
"""Bytes of a file; a larger one is refused unread."""
MOST_ROWS = 2_000_000
_INFLATED = 1_000_000_000
_MOST_CELLS = 20_000_000
_SECONDS = 120
_PLACES = 3
_CONVERT = "keep the columns that are needed, or give the table Caveat's own column names (docs/files.md), which have no such limit"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sheet:
    """One table as it was read, nothing checked but its form."""

    name: str
    """The file, as it was given."""
    sha256: str
    kind: str
    """Such as `CSV with semicolons`, `XLSX, sheet 'Runs'`."""
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    numbers: Sequence[int]
    """Number of each row in the file, counted from 1, the header included."""
    row_word: str = "row"
    first_column: int | None = None
    """Of a spreadsheet, which column its first one is, counted from 0, so that cells have names; else None."""
    has_decimal_comma: bool = False
    """Whether `0,5` is a number: where semicolons separate."""
    uncomputed: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """By column of a spreadsheet, the rows whose cell has a formula and no value."""

    def find(self, column: str) -> int:
        """Return the position of *column*."""
        return self.columns.index(column)

    def list_texts(self, column: str) -> tuple[str, ...]:
        """Return the values of *column* as texts, each once, in order."""
        place = self.find(column)
        return tuple(dict.fromkeys(text for row in self.rows if (text := as_text(row[place])) is not None))

    def name_place(self, row: int) -> str:
        """Return the place of a row in its file."""
        return f"{self.row_word} {self.numbers[row]}"

    def locate(self, rows: Sequence[int], column: str | None = None) -> str:
        """Return file and place of the first few of *rows*, and how many more there are."""
        shown = rows[:_PLACES]
        if self.first_column is not None and column is not None:
            places = [name_cell(self.numbers[row] - 1, self.first_column + self.find(column)) for row in shown]
            text = f"cell {places[0]}" if len(places) == 1 else f"cells {', '.join(places)}"
        else:
            numbers = ", ".join(str(self.numbers[row]) for row in shown)
            text = f"{self.row_word}{'s' if len(shown) > 1 else ''} {numbers}" + (f", column {column}" if column is not None else "")
        return f"{self.name}, {text}" + (f" and {len(rows) - len(shown):,} more" if len(rows) > len(shown) else "")


def read_sheet(path: Path, *, sheet: str | None = None) -> Sheet:
    """Return the rows of a CSV, TSV, JSON Lines, Parquet or XLSX file.

    Args:
        path: the file; its kind is read from its name and checked against its first bytes.
        sheet: which sheet of a spreadsheet; None for the only one with data.

    Raises:
        TableError: the file is too large, is not what its name says, or has no usable header.
    """
    name = str(path)
    read = _READERS.get(path.suffix.lower())
    start, size, sha256 = _read_start(path)
    _check_kind(path, start)
    if read is None:
        problem = f"expected a name that ends in {', '.join(_READERS)}, found {path.suffix or 'no ending'}"
        raise TableError(Fault("unknown-format", name, problem, advice="save the table as XLSX or CSV"))
    if sheet is not None and read is not _read_xlsx:
        raise TableError(Fault("bad-option", f"--sheet {sheet}", f"{name} is no spreadsheet and has no sheets", advice="leave --sheet out"))
    most = LARGEST_SPREADSHEET if read is _read_xlsx else LARGEST_FILE
    if size > most:
        problem = f"the file has {size:,} bytes, expected at most {most:,}; it was not read"
        raise TableError(Fault("file-too-large", name, problem, advice=_CONVERT))
    table = read(path, sha256(), sheet)
    if not table.rows:
        raise TableError(Fault("table-empty", name, "the table has a header and no rows" if table.columns else "the table has no rows"))
    return table


def _read_start(path: Path) -> tuple[bytes, int, Callable[[], str]]:
    def digest() -> str:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    try:
        with path.open("rb") as file:
            return file.read(8), path.stat().st_size, digest
    except OSError as error:
        raise TableError(Fault("file-not-readable", str(path), f"the file cannot be opened: {error.strerror or error}")) from error


def _check_kind(path: Path, start: bytes) -> None:
    """Refuse what is called as something else than it is, and the older forms of spreadsheets."""
    name, suffix = str(path), path.suffix.lower()
    save = "open it in a spreadsheet program and save it as XLSX or CSV UTF-8"
    if not start:
        raise TableError(Fault("table-empty", name, "the file is empty"))
    if start.startswith(_OLE):
        # An encrypted XLSX is such a container too. The directory names its entries in UTF-16.
        is_locked = "EncryptedPackage".encode("utf-16-le") in path.read_bytes()[:LARGEST_SPREADSHEET]
        problem = "the spreadsheet is encrypted with a password" if is_locked else "the file is a spreadsheet of the older form XLS"
        raise TableError(Fault("file-not-readable", name, problem, advice="save it without a password" if is_locked else save))
    if suffix in {".xls", ".xlsb", ".xlsm", ".ods", ".numbers"}:  # also where the bytes are no OLE container
        raise TableError(Fault("unknown-format", name, f"expected XLSX, CSV, JSON Lines or Parquet, found {suffix}", advice=save))
    is_zip, is_parquet = start.startswith(b"PK\x03\x04"), start.startswith(b"PAR1")
    if is_zip != (suffix == ".xlsx") or is_parquet != (suffix == ".parquet"):
        content = "an archive or a spreadsheet" if is_zip else "Parquet" if is_parquet else "neither of the two"
        problem = f"the name ends in {suffix or 'nothing'} and the content is {content}"
        raise TableError(Fault("file-not-readable", name, problem, advice="give the file the ending of what it is"))


# Text: which mark separates columns is decided by the header and the first rows.

_SAMPLE = 50
_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}


def _read_csv(path: Path, sha256: str, _sheet: str | None) -> Sheet:
    text = _decode(path)
    separator = _find_separator(text)
    rows: list[list[Cell]] = []
    numbers: list[int] = []
    columns: tuple[str, ...] = ()
    broken: list[tuple[int, int]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        for number, record in enumerate(reader, start=1):
            if not any(field.strip() for field in record):
                continue
            if not columns:
                columns = _check_columns([field.strip() for field in record], str(path))
            elif len(record) != len(columns):
                broken.append((number, len(record)))
            else:
                rows.append([field.strip() or None for field in record])
                numbers.append(number)
            _refuse_long(len(rows), str(path))
    except csv.Error as error:
        raise TableError(
            Fault("file-not-readable", f"{path}, line {reader.line_num}", f"the file cannot be read as CSV: {error}")
        ) from error
    if broken:
        first = ", ".join(str(number) for number, _ in broken[:_PLACES])
        more = f" and {len(broken) - _PLACES:,} more" if len(broken) > _PLACES else ""
        problem = f"{len(broken):,} rows have another number of fields than the header; expected {len(columns)}, found {broken[0][1]}"
        raise TableError(Fault("row-broken", f"{path}, rows {first}{more}", problem))
    return Sheet(
        name=str(path),
        sha256=sha256,
        kind=f"CSV with {_SEPARATORS[separator]}",
        columns=columns,
        rows=rows,
        numbers=numbers,
        has_decimal_comma=separator == ";",
    )


def _decode(path: Path) -> str:
    content = path.read_bytes()
    save = "save it as “CSV UTF-8”"
    # UTF-16 begins with a byte order mark, or has zero bytes in ASCII text.
    if content.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in content:
        raise TableError(Fault("not-utf-8", str(path), "the file is UTF-16, or no text", advice=save))
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        problem = f"the byte {content[error.start]:#04x} is not UTF-8; the file may be in Latin-1"
        raise TableError(Fault("not-utf-8", f"{path}, line {line}", problem, advice=save)) from error


def _find_separator(text: str) -> str:
    """Return the mark that splits the header into most columns, those with rows of equal width first."""
    sample = text[:1_000_000]
    best = (False, 0, ",")
    for mark in _SEPARATORS:
        widths = []
        try:
            for record in csv.reader(io.StringIO(sample, newline=""), delimiter=mark):
                widths += [len(record)] if record else []
                if len(widths) > _SAMPLE:
                    break
        except csv.Error:
            continue
        width = widths[0] if widths else 0
        # The last row of the sample may be cut.
        is_even = all(other == width for other in widths[:-1] or widths)
        if width > 1 and (is_even, width) > best[:2]:
            best = (is_even, width, mark)
    return best[2]


def _refuse_long(count: int, name: str) -> None:
    if count > MOST_ROWS:
        raise TableError(Fault("file-too-large", name, f"the table has more than {MOST_ROWS:,} rows", advice=_CONVERT))


def _check_columns(columns: Sequence[str], name: str) -> tuple[str, ...]:
    if len(columns) > MOST_COLUMNS:
        raise TableError(build_too_wide(name, f"it has {len(columns):,} columns"))
    return tuple(columns)


# JSON Lines, Parquet and spreadsheets.


def _read_jsonl(path: Path, sha256: str, _sheet: str | None) -> Sheet:
    lines = read_lines(path).lines
    _refuse_long(len(lines), str(path))
    columns = _check_columns(list(dict.fromkeys(key for line in lines for key in line.fields)), str(path))
    rows = [[as_cell(line.fields.get(column)) for column in columns] for line in lines]
    numbers = [line.number for line in lines]
    return Sheet(name=str(path), sha256=sha256, kind="JSON Lines", columns=columns, rows=rows, numbers=numbers, row_word="line")


def as_cell(value: Any) -> Cell:
    """Return a value of JSON, Arrow or pandas as a cell; NaN and a missing value of any kind as an empty one."""
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return None if value != value else value  # noqa: PLR0124 - NaN alone differs from itself
    if isinstance(value, str):
        return value.strip() or None
    # pandas has two more words for a missing value, which do not equal themselves or compare to nothing.
    if type(value).__name__ in {"NAType", "NaTType"}:
        return None
    if isinstance(value, Mapping | list | tuple):
        return orjson.dumps(value, default=str).decode()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def as_text(cell: Cell) -> str | None:
    """Return an identifier as the table shows it; what does not show is made visible, as in the CSV file that Caveat writes."""
    if cell is None:
        return None
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    return show(cell) if isinstance(cell, str) else repr(cell)


def build_sheet(name: str, sha256: str, columns: Sequence[str], values: Iterable[Sequence[Any]], *, kind: str) -> Sheet:
    """Return a sheet of the values of each column, row 1 being the first."""
    cells = [[as_cell(value) for value in column] for column in values]
    rows = list(zip(*cells, strict=True)) if cells else []
    _refuse_long(len(rows), name)
    return Sheet(name=name, sha256=sha256, kind=kind, columns=_check_columns(columns, name), rows=rows, numbers=range(1, len(rows) + 1))


def _read_parquet(path: Path, sha256: str, _sheet: str | None) -> Sheet:
    columns, values = read_parquet_columns(path, name=str(path), most_rows=MOST_ROWS)
    return build_sheet(str(path), sha256, columns, values, kind="Parquet")


_HEAVY = "save the sheet with the scores as CSV UTF-8"


def _read_xlsx(path: Path, sha256: str, sheet: str | None) -> Sheet:
    name = str(path)
    limits = {"sheet": sheet, "maximum_bytes": _INFLATED, "maximum_cells": _MOST_CELLS}
    try:
        # In a child process with limits on time and memory, as card files are read: the file may be hostile.
        answer = ask_extractor("calamine", limits, path.read_bytes(), where=name, seconds=_SECONDS, code="file-not-readable")
    except InputError as error:
        raise TableError([_explain_crash(fault) for fault in error.faults]) from error
    if merged := answer["merged"]:
        problem = f"cells are merged in {len(merged):,} {'place' if len(merged) == 1 else 'places'}: {_list_few(merged)}"
        raise TableError(Fault("cells-merged", f"{name}, sheet {answer['sheet']}", problem))
    return _build_spreadsheet(answer, name, sha256)


def _explain_crash(fault: Fault) -> Fault:
    """Return what a child process that ended without an answer means; what it refuses has its own words."""
    if not fault.found.startswith("calamine"):
        return fault
    problem = f"it is damaged, or too large for the limits on time and memory, such as with a cell far outside the table ({fault.found})"
    return Fault(fault.code, fault.where, problem, advice=_HEAVY)


def _list_few(texts: Sequence[str]) -> str:
    return ", ".join(texts[:_PLACES]) + (f" and {len(texts) - _PLACES:,} more" if len(texts) > _PLACES else "")


def _build_spreadsheet(answer: Mapping[str, Any], name: str, sha256: str) -> Sheet:
    filled = [(number, row) for number, row in enumerate(answer["rows"], start=answer["first_row"] + 1) if any(map(_is_filled, row))]
    if not filled:
        raise TableError(Fault("table-empty", name, f"sheet {answer['sheet']!r} has no data"))
    (header_number, header), *body = filled
    columns = _check_columns([str(cell).strip() if _is_filled(cell) else "" for cell in header], name)
    places = {number: place for place, (number, _) in enumerate(body)}
    uncomputed: dict[str, list[int]] = {}
    for row, column in answer["uncomputed"]:
        if row + 1 in places:
            uncomputed.setdefault(columns[column - answer["first_column"]], []).append(places[row + 1])
    table = Sheet(
        name=name,
        sha256=sha256,
        kind=f"XLSX, sheet {answer['sheet']!r}",
        columns=columns,
        rows=[[cell.strip() or None if isinstance(cell, str) else cell for cell in row] for _, row in body],
        numbers=[number for number, _ in body],
        first_column=answer["first_column"],
        uncomputed=uncomputed,
    )
    _check_header_row(table, header, header_number)
    return table


def _is_filled(cell: Cell) -> bool:
    return cell is not None and (not isinstance(cell, str) or bool(cell.strip()))


def _check_header_row(table: Sheet, header: Sequence[Cell], number: int) -> None:
    """Refuse a header of two rows, or one that leaves a column with data without a name."""
    first = table.first_column or 0
    unnamed = [place for place, name in enumerate(table.columns) if not name and any(_is_filled(row[place]) for row in table.rows)]
    numeric = [place for place, cell in enumerate(header) if isinstance(cell, bool | float | int)]
    advice = "write the names of all columns into one row, directly above the data"
    if unnamed or numeric:
        cells = _list_few([name_cell(number - 1, first + place) for place in unnamed or numeric])
        what = "the column has data and no name" if unnamed else "expected the name of a column, found a number"
        raise TableError(Fault("header-not-clear", f"{table.name}, {cells}", f"row {number} is read as the header: {what}", advice=advice))
    if (row := _find_second_header(table.rows)) is not None:
        problem = (
            f"rows {number} and {table.numbers[0]} both look like headers: {_list_few([str(cell) for cell in row if _is_filled(cell)])}"
        )
        raise TableError(Fault("header-not-clear", table.name, problem, advice=advice))


def _find_second_header(rows: Sequence[Sequence[Cell]]) -> Sequence[Cell] | None:
    """Return the first row if it has texts alone that do not occur again below, one of them above numbers or truth values alone."""
    if len(rows) < 3 or any(isinstance(cell, bool | float | int) for cell in rows[0]):
        return None
    below = [[row[place] for row in rows[1:] if _is_filled(row[place])] for place in range(len(rows[0]))]
    # A first response without a score looks alike, but its arm or context occurs again.
    if any(cell in column for cell, column in zip(rows[0], below, strict=True) if _is_filled(cell)):
        return None
    is_above = [
        _is_filled(cell) and len(column) > 1 and all(isinstance(other, bool | float | int) for other in column)
        for cell, column in zip(rows[0], below, strict=True)
    ]
    return rows[0] if any(is_above) else None


_READERS: dict[str, Callable[[Path, str, str | None], Sheet]] = {
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".xlsx": _read_xlsx,
    ".jsonl": _read_jsonl,
    ".ndjson": _read_jsonl,
    ".parquet": _read_parquet,
}
