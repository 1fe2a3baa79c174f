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
    tables: list[SourceTable] = []
    table: SourceTable | None = None
    row: SourceRow | None = None
    cell: SourceCell | None = None
    depth, in_head = 0, False
    for found in _TAG.finditer(text, start, stop):
        name, is_close = found["name"].lower(), bool(found["close"])
        if name == "table":
            depth += -1 if is_close else 1
            if not is_close and depth == 1:
                table, row, cell, in_head = SourceTable(found.start(), found.end()), None, None, False
                tables.append(table)
            elif is_close and depth == 0 and table is not None:
                _close(row, cell, found.start())
                table.stop, table = found.end(), None
            depth = max(depth, 0)
        elif table is None or depth != 1:
            continue
        elif name == "caption":
            if not is_close:
                table.caption = (found.end(), found.end())
            elif table.caption is not None:
                table.caption = (table.caption[0], found.start())
        elif name in ("thead", "tbody", "tfoot"):
            in_head = name == "thead" and not is_close
        elif name == "tr":
            _close(row, cell, found.start())
            row, cell = None, None
            if not is_close:
                row = SourceRow(found.start(), found.end(), is_in_head=in_head)
                table.rows.append(row)
            elif table.rows:
                table.rows[-1].stop = found.end()
        else:
            _close(None, cell, found.start())
            cell = None
            if not is_close:
                if row is None:
                    row = SourceRow(found.start(), found.end(), is_in_head=in_head)
                    table.rows.append(row)
                cell = _open_cell(found, name)
                row.cells.append(cell)
                row.stop = found.end()
            elif row is not None:
                row.stop = found.end()
    if table is not None:
        _close(row, cell, stop)
        table.stop = stop
    return tables


def _close(row: SourceRow | None, cell: SourceCell | None, at: int) -> None:
    if cell is not None:
        cell.stop = at
    if row is not None:
        row.stop = max(row.stop, at)


def _open_cell(found: re.Match[str], name: str) -> SourceCell:
    spans = {span["which"].lower(): int(span["count"]) for span in _SPAN.finditer(found["attributes"])}
    columns = min(max(1, spans.get("col", 1)), _COLUMNS)
    return SourceCell(found.end(), found.end(), name == "th", columns, min(max(1, spans.get("row", 1)), 1_000))
