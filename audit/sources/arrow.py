"""Score tables that Arrow reads: CSV and Parquet."""

import csv
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from audit.errors import TableError
from audit.sources.score_columns import (
    FLAGS,
    LISTED,
    LONGEST_HEADER,
    MOST_COLUMNS,
    ColumnSelection,
    RawColumn,
    RawTable,
    build_too_wide,
    find_columns,
    find_named,
    list_unknown,
)
from audit.statistics.responses import Floats
from registry.errors import Fault
from registry.present.answers import undo_cell

_TEXT = pa.dictionary(pa.int32(), pa.string())
_BLOCK = 1 << 22
_LONGEST_FOOTER = 32_000_000
_PARQUET_TAIL = 8
_Header = tuple[dict[str, str], dict[str, str]]
"""The file's names of our columns, by ours, and of those asked for beside them, by the name asked for."""

_NUMBER = r"^(?i:[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|[+-]?(?:nan|inf|infinity))$"


def read_csv(path: Path, selection: ColumnSelection, *, name: str, sha256: str) -> RawTable:
    """Return the rows of a CSV file; a row's number is that of its record, the header being 1 (a field may hold line ends).

    Raises:
        TableError: the file is not CSV, or its header lacks a column.
    """
    # The header is checked before the rows are read: an unknown column is a cheap fault in a file of any size.
    names = _read_csv_header(path, name)
    header = _check_header(names, selection, name)
    # Read without a handler first. A Python function that Arrow's threads release while the interpreter ends aborted
    # the process in 2 of 100 runs, so only files with broken rows get one.
    try:
        table = _read_csv(path, header, name, None)
    except TableError:
        broken: list[Any] = []
        _read_csv(path, header, name, broken)
        if broken:
            raise TableError(_describe_broken(broken, name)) from None
        raise
    numbers = _number_rows(path)
    if numbers is None:
        numbers = np.arange(2, len(table) + 2) if selection.where else None
    origin = RawOrigin(name=name, sha256=sha256, first_row=2, rows=numbers, names=tuple(names))
    raw = _build(table, header, selection, origin)
    # Tables that Caveat writes have an apostrophe before a text that a spreadsheet would compute.
    return replace(
        raw, columns={column: replace(texts, labels=tuple(map(undo_cell, texts.labels))) for column, texts in raw.columns.items()}
    )


def read_parquet(path: Path, selection: ColumnSelection, *, name: str, sha256: str) -> RawTable:
    """Return the rows of a Parquet file; whole numbers become texts in id columns.

    Raises:
        TableError: the file is no Parquet, its schema lacks a column, or an id column holds neither texts nor whole numbers.
    """
    try:
        _refuse_long_footer(path, name)
        schema = pyarrow.parquet.read_schema(path)
        _refuse_wide(len(schema.names), name)
        header = _check_header(schema.names, selection, name)
        table = pyarrow.parquet.read_table(path, columns=_list_columns(header))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise TableError(_describe_unreadable(name, "Parquet", error)) from error
    flat = tuple(field.name for field in schema if not pa.types.is_nested(field.type))
    numbers = np.arange(1, len(table) + 1) if selection.where else None
    origin = RawOrigin(name=name, sha256=sha256, first_row=1, rows=numbers, names=flat)
    return _build(table, header, selection, origin)


def _list_columns(header: _Header) -> list[str]:
    return list(dict.fromkeys((*header[0].values(), *header[1].values())))


def _read_csv_header(path: Path, name: str) -> list[str]:
    """Return the names in the first record; not by Arrow's stream, which reads on in a thread that may outlive us."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            names = next(record for record in csv.reader(_read_header_lines(text, name)) if record)
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableError(_describe_unreadable(name, "CSV", error)) from error
    except StopIteration:
        raise TableError(_describe_unreadable(name, "CSV", ValueError("Empty CSV file"))) from None
    _refuse_wide(len(names), name)
    return names


def _read_header_lines(text: TextIO, name: str) -> Iterator[str]:
    """Give the lines of the header, which a quoted name may break; more than any header has is not read."""
    # Read line by line with a limit: a file without line ends must not be read whole for its header.
    left = LONGEST_HEADER
    while line := text.readline(left + 1):
        left -= len(line)
        if left < 0:
            raise TableError(build_too_wide(name, f"its header has more than {LONGEST_HEADER:,} characters"))
        yield line


def _refuse_wide(count: int, name: str) -> None:
    if count > MOST_COLUMNS:
        raise TableError(build_too_wide(name, f"it has {count:,} columns"))


def _refuse_long_footer(path: Path, name: str) -> None:
    """A Parquet file ends with the length of its description, which names every column in every group of rows."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - _PARQUET_TAIL))
        tail = file.read(_PARQUET_TAIL)
    length = int.from_bytes(tail[:4], "little")
    if len(tail) == _PARQUET_TAIL and tail[4:] == b"PAR1" and length > _LONGEST_FOOTER:
        raise TableError(build_too_wide(name, f"the description of its columns has {length:,} bytes"))


def _read_csv(path: Path, header: _Header, name: str, broken: list[Any] | None) -> Any:
    """Read the columns; with *broken*, broken rows are put there instead of raised.

    A function of Python's given to Arrow is let go of by Arrow's own threads: one that does so while the interpreter ends aborts the
    process. And with several threads Arrow does not know the number of a broken row. So only files with broken rows pay for it.
    """
    types = {column: pa.string() if column == header[0]["score"] else _TEXT for column in _list_columns(header)}
    try:
        with _quiet():
            return pyarrow.csv.read_csv(
                path,
                read_options=pyarrow.csv.ReadOptions(use_threads=broken is None, block_size=_BLOCK),
                parse_options=_parse_options(broken),
                convert_options=pyarrow.csv.ConvertOptions(
                    column_types=types, include_columns=list(types), null_values=[""], strings_can_be_null=True
                ),
            )
    except pa.ArrowInvalid as error:
        raise TableError(_describe_unreadable(name, "CSV", error)) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Where a broken row is not UTF-8, Arrow prints a traceback beside the error that it raises; the error is enough."""
    unraisablehook = sys.unraisablehook
    sys.unraisablehook = lambda _: None
    try:
        yield
    finally:
        sys.unraisablehook = unraisablehook


def _parse_options(broken: list[Any] | None) -> Any:
    if broken is None:
        return pyarrow.csv.ParseOptions(newlines_in_values=True)

    def skip(row: Any) -> str:
        if len(broken) <= LISTED:
            broken.append(row)
        return "skip"

    return pyarrow.csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip)


def _number_rows(path: Path) -> npt.NDArray[np.int64] | None:
    """Return the number of each record where blank lines, which are skipped, make it differ from a plain count; else None."""
    with path.open("rb") as file:
        # Arrow skips blank lines and counts only records. The exact numbers are found by a second pass, and only if the
        # file has blank lines.
        if not any(not line.strip() for line in file):
            return None
    limit = csv.field_size_limit(sys.maxsize)
    try:
        with path.open(encoding="utf-8-sig", newline="") as text:
            numbers = [number for number, record in enumerate(csv.reader(text), start=1) if record]
    finally:
        csv.field_size_limit(limit)
    return np.array(numbers[1:], dtype=np.int64)


def _describe_broken(broken: list[Any], name: str) -> list[Fault]:
    faults = [
        Fault(
            "row-broken",
            f"{name}, row {row.number}",
            f"expected {row.expected_columns} fields, found {row.actual_columns}: {row.text[:60]!r}",
        )
        for row in broken[:LISTED]
    ]
    if len(broken) > LISTED:
        faults.append(Fault("more-faults", name, "and more rows like these"))
    return faults


def _describe_unreadable(name: str, kind: str, error: Exception) -> Fault:
    first = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return Fault("file-not-readable", name, f"the file cannot be read as {kind}: {first}")


def _check_header(names: list[str], selection: ColumnSelection, name: str) -> _Header:
    columns, faults = find_columns(names, selection, where=name)
    if faults:
        raise TableError(faults)
    return columns, {column: find_named(column, names) or column for column in selection.names}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawOrigin:
    """Where a table was read from."""

    name: str
    sha256: str
    first_row: int
    rows: npt.NDArray[np.int64] | None
    """Number of each row; None for a plain count from `first_row`."""
    names: tuple[str, ...]
    """All columns that hold texts or numbers."""


def _build(table: Any, header: _Header, selection: ColumnSelection, origin: RawOrigin) -> RawTable:
    extras = {extra: _encode_any(table.column(there), where=f"{origin.name}, column {there}") for extra, there in header[1].items()}
    rows_read, rows = len(table), origin.rows
    seen = {name: extras[name].list_values() for name in selection.where}
    # Rows are chosen before anything is checked: a file of several evaluations may have faults in the others.
    if selection.where:
        kept = np.all([extras[name].find(values) for name, values in selection.where.items()], axis=0)
        table, rows = table.filter(pa.array(kept)), None if rows is None else rows[kept]
        extras = {name: column.keep(kept) for name, column in extras.items()}
    columns, faults = _build_columns(table, header[0], origin.name)
    there = header[0]["score"]
    column = table.column(there)
    if not _is_one_of(column.type, _NUMBERS):
        kind = f"expected numbers, found {column.type}"
        advice = "write 1 and 0" if pa.types.is_boolean(column.type) else None
        faults.append(Fault("score-not-number", f"{origin.name}, column {there}", kind, advice=advice))
    if faults:
        raise TableError(faults)
    score, empty, strange = _parse_scores(column)
    return RawTable(
        name=origin.name,
        sha256=origin.sha256,
        columns=columns,
        score=score,
        empty=empty,
        row_word="row",
        first_row=origin.first_row,
        rows=rows,
        texts={row: str(column[row].as_py())[:40] for row in strange[:LISTED].tolist()},
        texts_beyond=strange[LISTED:],
        score_name=there,
        extras=extras,
        seen=seen,
        unknown=list_unknown(origin.names, header[0]),
        rows_read=rows_read,
    )


def _build_columns(table: Any, names: dict[str, str], name: str) -> tuple[dict[str, RawColumn], list[Fault]]:
    columns, faults = {}, []
    for ours, there in names.items():
        if ours == "score":
            continue
        column = table.column(there)
        if _is_one_of(column.type, _NUMBERS if ours == "weight" else _FLAGS if ours in FLAGS else _LABELS):
            columns[ours] = _encode(column)
        else:
            kind = f"expected texts or whole numbers, found {column.type}"
            faults.append(Fault("bad-name", f"{name}, column {there}", kind))
    return columns, faults


_TEXTS = (pa.types.is_string, pa.types.is_large_string)
_LABELS = (*_TEXTS, pa.types.is_integer, pa.types.is_null)
_FLAGS = (*_LABELS, pa.types.is_boolean)
_NUMBERS = (*_LABELS, pa.types.is_floating, pa.types.is_decimal)


def _is_one_of(kind: Any, kinds: Iterable[Callable[[Any], bool]]) -> bool:
    inner = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(is_kind(inner) for is_kind in kinds)


def _encode(column: Any) -> RawColumn:
    """Return codes and labels; an empty text counts as nothing."""
    if pa.types.is_null(column.type):
        return RawColumn(codes=np.full(len(column), -1, dtype=np.int32), labels=())
    if not pa.types.is_dictionary(column.type):
        column = pc.dictionary_encode(column.cast(pa.string()))
    whole = column.unify_dictionaries().combine_chunks()
    whole = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    labels = tuple("" if label is None else str(label) for label in whole.dictionary.to_pylist())
    # CSV cannot distinguish an empty text from nothing, so both mean nothing in every format.
    if "" in labels:
        codes = np.where(codes == labels.index(""), np.int32(-1), codes)
    return RawColumn(codes=codes, labels=labels)


def _encode_any(column: Any, *, where: str) -> RawColumn:
    """As `_encode`, for a column of any kind that can be written as text."""
    try:
        return _encode(column)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        kind = f"expected texts, numbers or truth values, found {column.type}"
        raise TableError(Fault("bad-name", where, kind)) from error


def _parse_scores(column: Any) -> tuple[Floats, npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
    """Return scores as numbers, NaN for what is none; where there is nothing; and the rows whose text is not a number."""
    strange = np.zeros(0, dtype=np.intp)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if _is_one_of(column.type, _TEXTS):
        column = pc.utf8_trim_whitespace(column)
        column = pc.if_else(pc.equal(column, ""), None, column)
        # Arrow's cast stops at the first bad text. The pattern finds all of them, so that the message can list them.
        good = pc.match_substring_regex(column, _NUMBER)
        strange = np.flatnonzero(pc.invert(good).fill_null(fill_value=False).to_numpy())
        empty = column.is_null().to_numpy()
        column = pc.if_else(good, column, None)
    else:
        empty = column.is_null().to_numpy()
    numbers = column.cast(pa.float64(), safe=False).fill_null(float("nan"))
    return numbers.to_numpy().astype(np.float64), empty, strange


# Tables of others, whose columns have other names: all flat columns as Python values.


def read_parquet_columns(path: Path, *, name: str, most_rows: int) -> tuple[tuple[str, ...], list[list[Any]]]:
    """Return the names of all columns of a Parquet file without nested ones, and the values of each.

    Raises:
        TableError: the file is no Parquet, or has too many columns or rows.
    """
    try:
        _refuse_long_footer(path, name)
        schema = pyarrow.parquet.read_schema(path)
        _refuse_wide(len(schema.names), name)
        rows = pyarrow.parquet.read_metadata(path).num_rows
        # The description of the file states the rows, so a file that is too long is not read.
        if rows > most_rows:
            raise TableError(Fault("file-too-large", name, f"the table has {rows:,} rows, expected at most {most_rows:,}"))
        flat = [field.name for field in schema if not pa.types.is_nested(field.type)]
        table = pyarrow.parquet.read_table(path, columns=list(dict.fromkeys(flat)))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as error:
        raise TableError(_describe_unreadable(name, "Parquet", error)) from error
    return _list_values(table)


def read_stream_columns(frame: Any) -> tuple[tuple[str, ...], list[list[Any]]]:
    """Return the names and values of all columns of what has the Arrow PyCapsule interface (`__arrow_c_stream__`).

    Raises:
        TableError: the stream cannot be read.
    """
    try:
        return _list_values(pa.table(frame))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise TableError(_describe_unreadable("frame", "an Arrow table", error)) from error


def _list_values(table: Any) -> tuple[tuple[str, ...], list[list[Any]]]:
    return tuple(table.column_names), [column.to_pylist() for column in table.columns]
