"""A listing: rows under columns that are declared once, as a table, as JSON and as CSV.

A command that lists something builds a `Listing`. The options `--columns`, `--sort`, `--reverse` and `--csv` of every such command are the
fields of `ListChoice`, and `build_answer` and `render_csv` obey them.
"""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import Enum
from typing import Any, Generic, TypeVar

from registry.errors import Fault, InputError, suggest
from registry.present.answers import Answer, write_cell
from registry.present.blocks import Block, Table

Row = TypeVar("Row")
Cell = str | int | float | bool | date | None
"""A value of one row under one column; None for what is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(Generic[Row]):
    """A column, by the name that `--columns` and `--sort` take and that heads it; a table shows its underscores as spaces."""

    name: str
    read: Callable[[Row], Cell]
    """The value, as JSON and CSV have it."""
    show: Callable[[Row], str] | None = None
    """The value for a person; None: as CSV writes it."""
    rank: Callable[[Row], Any] | None = None
    """By what rows are sorted under this column; None: by the value."""
    is_number: bool = False
    is_shown: bool = True
    """Whether a table has it without being asked to."""
    is_spare: bool = False
    """Whether a table leaves it out where the terminal is too narrow for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListChoice:
    """How a list is wanted."""

    columns: tuple[str, ...] = ()
    """Empty: those of the command."""
    sort: str | None = None
    """The column to sort by; None: the order of the command."""
    is_reversed: bool = False
    limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing(Generic[Row]):
    """What a command lists."""

    document: Mapping[str, Any]
    """The JSON answer without its rows."""
    field: str
    """The field of the document that has the rows."""
    rows: Sequence[Row]
    describe: Callable[[Row], Any]
    """Returns a row as JSON has it where no columns are chosen."""
    columns: Sequence[Column[Row]]
    none: str
    """What a person reads where there are no rows."""
    present: Callable[[Sequence[Row]], Iterable[Block]] | None = None
    """What a person reads where no columns are chosen; None: a table."""


def build_answer(listing: Listing[Row], choice: ListChoice) -> Answer:
    """Return the listing as a document and as blocks. With chosen columns both have these columns only.

    Raises:
        InputError: a column is not one of the listing.
    """
    columns, rows = _choose(listing, choice), _arrange(listing, choice)
    if choice.columns:
        cells = [{column.name: _to_json(column.read(row)) for column in columns} for row in rows]
        document: Mapping[str, Any] = {"schema": "caveat/rows/1", "columns": [column.name for column in columns], "rows": cells}
    else:
        document = {**listing.document, listing.field: [listing.describe(row) for row in rows]}
    if not rows:
        return Answer(document, [listing.none])
    if listing.present is not None and not choice.columns:
        return Answer(document, listing.present(rows))
    return Answer(document, [build_table(columns, rows, is_whole=bool(choice.columns))])


def render_csv(listing: Listing[Row], choice: ListChoice) -> bytes:
    """Return the listing as CSV with a header, one line for each row; without chosen columns, with all of them.

    Raises:
        InputError: a column is not one of the listing.
    """
    columns = _choose(listing, choice)
    rows = ([_write_cell(column.read(row)) for column in columns] for row in _arrange(listing, choice))
    return _write_csv([[column.name for column in columns], *rows])


def update_csv(before: bytes, listing: Listing[Row], column: str, is_dropped: Callable[[str], bool]) -> bytes | None:
    """Return *before*, which `render_csv` wrote of an earlier state, with the rows of *listing*.

    A row takes the place of one with the same text under *column*; the others follow at the end.

    Args:
        is_dropped: whether an earlier row with this text is excluded, unless it is replaced.

    Returns:
        None where *before* is not such a file.
    """
    rows = list(csv.reader(io.StringIO(before.decode("utf-8-sig"), newline="")))
    head, *changed = csv.reader(io.StringIO(render_csv(listing, ListChoice()).decode("utf-8-sig"), newline=""))
    # A text that the reader changes, such as one with a bare carriage return, shows here.
    if not rows or rows[0] != head or _write_csv(rows) != before or len(changed) != len(listing.rows):
        return None
    place = head.index(column)
    new = {row[place]: row for row in changed}
    kept = [new.pop(row[place], row) for row in rows[1:] if row[place] in new or not is_dropped(row[place])]
    return _write_csv([head, *kept, *new.values()])


def _write_csv(rows: Iterable[Sequence[str]]) -> bytes:
    lines = io.StringIO()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    # Excel reads a CSV file without a byte order mark in the code page of the country, which spoils every quotation mark and accent.
    # Python (utf-8-sig), pandas, R and LibreOffice skip the mark.
    return lines.getvalue().encode("utf-8-sig")


def _choose(listing: Listing[Row], choice: ListChoice) -> Sequence[Column[Row]]:
    by_name = {column.name: column for column in listing.columns}
    wanted = choice.columns or tuple(by_name)
    # A column named twice would be one field in JSON, so it is one everywhere.
    return [_get(by_name, name, "--columns") for name in dict.fromkeys(wanted)]


def _arrange(listing: Listing[Row], choice: ListChoice) -> Sequence[Row]:
    """Return the rows in the chosen order, as many as are wanted; rows without a value come last in either direction."""
    rows = list(listing.rows)
    if choice.sort is not None:
        column = _get({column.name: column for column in listing.columns}, choice.sort, "--sort")
        rank: Callable[[Row], Any] = column.rank or column.read
        known = [row for row in rows if rank(row) is not None]
        unknown = [row for row in rows if rank(row) is None]
        rows = sorted(known, key=rank, reverse=choice.is_reversed) + unknown
    elif choice.is_reversed:
        rows.reverse()
    return rows[: choice.limit]


def _get(columns: Mapping[str, Column[Row]], name: str, where: str) -> Column[Row]:
    if name not in columns:
        known = ", ".join(columns)
        raise InputError(Fault("unknown-name", where, f"{name!r} is not a column; there are {known}", advice=suggest(name, columns)))
    return columns[name]


def build_table(columns: Sequence[Column[Row]], rows: Sequence[Row], *, is_whole: bool = False) -> Table:
    """Return *rows* as a person reads them: without the columns that a table does not show, unless *is_whole*."""
    columns = [column for column in columns if column.is_shown or is_whole]
    cells = [[column.show(row) if column.show else _write_text(column.read(row)) for column in columns] for row in rows]
    heads = {column.name: column.name.replace("_", " ") for column in columns}
    spare = () if is_whole else [heads[column.name] for column in columns if column.is_spare]
    return Table(list(heads.values()), cells, numbers=[heads[column.name] for column in columns if column.is_number], spare=spare)


def _write_cell(cell: Cell) -> str:
    # A negative number begins like a formula and is none, so only texts are guarded.
    return write_cell(cell) if isinstance(cell, str) and not isinstance(cell, Enum) else _write_text(cell)


def _write_text(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return str(_to_json(cell))


def _to_json(cell: Cell) -> str | int | float | bool | None:
    if isinstance(cell, datetime):
        return f"{cell:%Y-%m-%dT%H:%M:%SZ}"
    return cell.isoformat() if isinstance(cell, date) else cell.value if isinstance(cell, Enum) else cell
