"""Tables as Markdown and HTML write them: rows of cells with their places in the source, and the heads above each."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_TAG = re.compile(r"<(?P<close>/?)(?P<name>table|thead|tbody|tfoot|tr|td|th|caption)\b(?P<attributes>[^<>]{0,2000})>", re.IGNORECASE)
_SPAN = re.compile(r"\b(?P<which>row|col)span\s*=\s*[\"']?(?P<count>\d{1,3})", re.IGNORECASE)
_DELIMITER = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)*[ \t]*:?-+:?[ \t]*\|?[ \t]*$")
_COLUMNS = 200
"""Columns of a table that are told apart; a span beyond is cut."""


@dataclass(slots=True)
class SourceCell:
    """A cell: where its content stands in the card, and how many columns and rows it covers."""

    start: int
    stop: int
    is_head: bool = False
    columns: int = 1
    rows: int = 1


@dataclass(slots=True)
class SourceRow:
    """A row of a table in the source."""

    start: int
    stop: int
    cells: list[SourceCell] = field(default_factory=list)
    is_in_head: bool = False


@dataclass(slots=True)
class SourceTable:
    """A table in the source."""

    start: int
    stop: int
    rows: list[SourceRow] = field(default_factory=list)
    caption: tuple[int, int] | None = None


def is_delimiter(line: str) -> bool:
    """Return whether *line* is the second line of a Markdown table (GitHub Flavored Markdown, 4.10)."""
    return len(line) <= 4_000 and "-" in line and ("|" in line) and _DELIMITER.match(line) is not None


def read_pipe_table(lines: list[tuple[int, str]]) -> SourceTable:
    """Return the table of Markdown *lines* (start, text): the first its head, the second the delimiter."""
    table = SourceTable(lines[0][0], lines[-1][0] + len(lines[-1][1]))
    for index, (start, line) in enumerate(lines):
        if index != 1:
            table.rows.append(_read_pipe_row(start, line, is_head=index == 0))
    return table


def _read_pipe_row(start: int, line: str, *, is_head: bool) -> SourceRow:
    body = line.rstrip()
    row = SourceRow(start + len(body) - len(body.lstrip()), start + len(body), is_in_head=is_head)
    at = row.start - start + (1 if body.lstrip().startswith("|") else 0)
    for stop in _find_pipes(body, at):
        row.cells.append(SourceCell(start + at, start + stop, is_head))
        at = stop + 1
    if body[at:].strip():
        row.cells.append(SourceCell(start + at, start + len(body), is_head))
    return row


def _find_pipes(line: str, at: int) -> Iterator[int]:
    """Where the bars stand that part cells: those not escaped."""
    return (found.start() for found in re.finditer(r"(?<!\\)\|", line) if found.start() >= at)


def read_html_tables(text: str, start: int, stop: int) -> list[SourceTable]:
    """Return the tables that stand between *start* and *stop*; one within another belongs to the cell it stands in."""
    reader = _TableReader()
    for found in _TAG.finditer(text, start, stop):
        reader.take(found)
    reader.end_table(stop, stop)
    return reader.tables


class _TableReader:
    """Takes the tags of tables one by one; a row or cell that is not closed ends where the next begins."""

    def __init__(self) -> None:
        self.tables: list[SourceTable] = []
        self._table: SourceTable | None = None
        self._row: SourceRow | None = None
        self._cell: SourceCell | None = None
        self._depth = 0
        self._in_head = False

    def take(self, found: re.Match[str]) -> None:
        """Go on with the next tag."""
        name, is_close = found["name"].lower(), bool(found["close"])
        if name == "table":
            self._take_table(found, is_close=is_close)
        elif self._table is None or self._depth != 1:
            return
        elif name == "caption":
            self._take_caption(self._table, found, is_close=is_close)
        elif name in ("thead", "tbody", "tfoot"):
            self._in_head = name == "thead" and not is_close
        elif name == "tr":
            self._end_row(found.start(), found.end() if is_close else found.start())
            if not is_close:
                self._begin_row(self._table, found)
        else:
            self._take_cell(self._table, found, name, is_close=is_close)

    def end_table(self, at: int, stop: int) -> None:
        """End the table that is open, if one is."""
        if self._table is not None:
            self._end_row(at, at)
            self._table.stop, self._table = stop, None

    def _take_table(self, found: re.Match[str], *, is_close: bool) -> None:
        self._depth = max(0, self._depth + (-1 if is_close else 1))
        if is_close and self._depth == 0:
            self.end_table(found.start(), found.end())
        elif not is_close and self._depth == 1:
            self._table, self._in_head = SourceTable(found.start(), found.end()), False
            self.tables.append(self._table)

    def _take_caption(self, table: SourceTable, found: re.Match[str], *, is_close: bool) -> None:
        if not is_close:
            table.caption = (found.end(), found.end())
        elif table.caption is not None:
            table.caption = (table.caption[0], found.start())

    def _take_cell(self, table: SourceTable, found: re.Match[str], name: str, *, is_close: bool) -> None:
        self._end_cell(found.start())
        row = self._row if self._row is not None or is_close else self._begin_row(table, found)
        if row is not None:
            row.stop = found.end()
            if not is_close:
                self._cell = _open_cell(found, name)
                row.cells.append(self._cell)

    def _begin_row(self, table: SourceTable, found: re.Match[str]) -> SourceRow:
        self._row = SourceRow(found.start(), found.end(), is_in_head=self._in_head)
        table.rows.append(self._row)
        return self._row

    def _end_row(self, at: int, stop: int) -> None:
        self._end_cell(at)
        if self._row is not None:
            self._row.stop, self._row = max(self._row.stop, stop), None

    def _end_cell(self, at: int) -> None:
        if self._cell is not None:
            self._cell.stop, self._cell = at, None
            if self._row is not None:
                self._row.stop = max(self._row.stop, at)


def _open_cell(found: re.Match[str], name: str) -> SourceCell:
    spans = {span["which"].lower(): int(span["count"]) for span in _SPAN.finditer(found["attributes"])}
    columns = min(max(1, spans.get("col", 1)), _COLUMNS)
    return SourceCell(found.end(), found.end(), name == "th", columns, min(max(1, spans.get("row", 1)), 1_000))
