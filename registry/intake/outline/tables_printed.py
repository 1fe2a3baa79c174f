"""Tables in the lines of a printed page: which lines are rows, which are heads, and what each cell stands under.

A PDF's text has no cells. A row is a line that ends in figures and has neighbours that end in as many; its heads are the short
lines above the first row. What does not agree stays without a column.
"""

import re
from dataclasses import dataclass, field

from registry.intake.outline.figures import find_cells, has_figure
from registry.intake.outline.heads import Columns, align_heads, is_label
from registry.intake.outline.lines import Line
from registry.intake.outline.printed import BULLET, is_caption
from registry.records.passage import PassageKind

_NAME = re.compile(r"(?P<word>\b[A-Z][\w-]*) (?P<number>\d+(?:\.\d+)*[A-Za-z]?)(?=['\u2019]s|[,;:)]| (?:[a-z]{2,}|\())")
_BEFORE_CELL = re.compile(r"(\b[A-Z][\w-]*) $")
_DATE = re.compile(r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? (?:\d{1,2}(?:st|nd|rd|th)?,? )?\d{4}$")
_OPEN_END = re.compile(
    r"[.;!?] |\b(?:the|a|an|of|in|at|on|to|by|for|from|with|than|about|and|or|was|were|is|are|we|that|which|least|most|only|over|under"
    r"|year|section|table|figure|page|version|all)$",
    re.IGNORECASE,
)
"""How the words before a figure end where a sentence was broken after it."""
_TWO_SENTENCES = re.compile(r"[.;!?] |\b(?:the|was|were|is|are|we|that)$")
_VERSION = re.compile(r"\d+(?:\.\d+)*[A-Za-z]?")
_ENDS = (".", "!", "?", ":", ";", ".\u201d", ".)")
_HEAD_LINES = 24
_LABEL_LINES = 3
_LONGEST_LABEL = 90
_JUDGED_ROWS = 12
"""After so many rows a run is judged; what is no table then is not read on, so that reading stays linear."""


@dataclass(slots=True)
class PrintedRow:
    """A row: its lines, where its cells stand in the card, and what they stand under."""

    lines: list[Line]
    label: tuple[int, int] | None
    """Where its label stands in the card; None for a row of figures alone."""
    cells: list[tuple[int, int]]


@dataclass(slots=True)
class PrintedTable:
    """Rows that belong together, and the lines that name their columns."""

    rows: list[PrintedRow]
    heads: list[Line] = field(default_factory=list)
    columns: Columns | None = None
    title: str | None = None
    """What stands over all columns, above their heads."""


def find_tables(lines: list[Line], width: int) -> list[PrintedTable]:
    """Mark the rows and heads among *lines* and return them by table, in order.

    Args:
        width: characters of a full line of running text.
    """
    names = _find_names(lines)
    candidates = [_read_row(line, names) if line.kind is None else None for line in lines]
    tables: list[PrintedTable] = []
    index = 0
    while index < len(lines):
        run = _read_run(lines, candidates, index, width)
        if run is None:
            index += 1
            continue
        table, stop = run
        table.heads = _find_heads(lines, _first_index(lines, table, index), width)
        _align(table)
        for row in table.rows:
            for line in row.lines:
                line.kind = PassageKind.ROW
        for line in table.heads:
            line.kind = PassageKind.HEAD
        tables.append(table)
        index = stop
    return tables


def _find_names(lines: list[Line]) -> frozenset[tuple[str, str]]:
    """Words that running text follows with a version: the number in "Haiku 4.5" is no cell."""
    return frozenset((found["word"], found["number"]) for line in lines for found in _NAME.finditer(line.text))


def _read_row(line: Line, names: frozenset[tuple[str, str]]) -> PrintedRow | None:
    """The row that *line* may be, a version at the end of its label taken for what it is; None if it ends in no cell."""
    cells = find_cells(line.text)
    if not cells or BULLET.match(line.text) or _DATE.search(line.text):
        return None
    if len(cells) > 1 and _is_version(line.text, cells[0], names):
        cells = cells[1:]
    if len(cells) == 1 and _is_version(line.text, cells[0], names):
        return None
    label = line.text[: cells[0][0]].rstrip()
    spans = [(line.start + start, line.start + stop) for start, stop in cells]
    return PrintedRow([line], (line.start, line.start + len(label)) if label else None, spans)


def _is_version(text: str, cell: tuple[int, int], names: frozenset[tuple[str, str]]) -> bool:
    word, number = _BEFORE_CELL.search(text[max(0, cell[0] - 40) : cell[0]]), text[cell[0] : cell[1]]
    return word is not None and _VERSION.fullmatch(number) is not None and (word[1], number) in names


def _read_run(lines: list[Line], candidates: list[PrintedRow | None], index: int, width: int) -> tuple[PrintedTable, int] | None:
    """The table whose first row is at *index*, and the index after its last; None if no table begins there."""
    first = candidates[index]
    if first is None or not _has_figures(first):
        return None
    count, rows, at = len(first.cells), [first], index + 1
    while at < len(lines):
        following, skipped = _next_row(lines, candidates, at, count)
        if following is None or (len(rows) == _JUDGED_ROWS and not _is_table(rows, count, width)):
            break
        rows.append(following)
        at += skipped + 1
    goes_on = count == 1 and at < len(lines) and lines[at].kind is None and lines[at].text[:1].islower()
    return (PrintedTable(rows), at) if not goes_on and _is_table(rows[:_JUDGED_ROWS], count, width) else None


def _next_row(lines: list[Line], candidates: list[PrintedRow | None], at: int, count: int) -> tuple[PrintedRow | None, int]:
    """The row at *at* or, after the lines of a label that takes several, soon after; with how many lines lie between."""
    label_lines: list[Line] = []
    for skipped in range(_LABEL_LINES if count > 1 else 1):
        if at + skipped >= len(lines):
            break
        line, row = lines[at + skipped], candidates[at + skipped]
        if line.kind is PassageKind.FURNITURE and not label_lines:
            continue
        if line.kind is not None:
            break
        if row is not None and len(row.cells) == count:
            return (row if not label_lines or row.label is not None else _with_label(row, label_lines)), skipped
        if row is not None or len(line.text) > 45 or line.text.endswith(_ENDS) or is_caption(line.text):
            break
        label_lines.append(line)
    return None, 0


def _has_figures(row: PrintedRow) -> bool:
    line = row.lines[-1]
    return any(has_figure(line.text[start - line.start : stop - line.start]) for start, stop in row.cells)


def _with_label(row: PrintedRow, label_lines: list[Line]) -> PrintedRow:
    return PrintedRow([*label_lines, *row.lines], (label_lines[0].start, label_lines[-1].stop), row.cells)


def _is_table(rows: list[PrintedRow], count: int, width: int) -> bool:
    """Whether rows of *count* figures are a table and not sentences that happen to end in figures."""
    labels = [row.lines[-1].text[: max(0, row.cells[0][0] - row.lines[-1].start)].strip() for row in rows]
    if any(len(label) > _LONGEST_LABEL for label in labels):
        return False
    pattern = _OPEN_END if count == 1 else _TWO_SENTENCES
    prose = sum(1 for label in labels if pattern.search(label))
    full = sum(1 for row in rows if len(row.lines[-1].text) > 0.9 * width and row.label is not None)
    if count >= 3:
        return prose == 0
    if count == 2:
        return prose == 0 and (len(rows) >= 2 or full == 0)
    return len(rows) >= 2 and prose == 0 and full == 0 and all(labels)


def _first_index(lines: list[Line], table: PrintedTable, index: int) -> int:
    """The index of the first line of the table; a first row without a label may have it on the lines above."""
    first = table.rows[0]
    if first.label is not None:
        return index
    label_lines: list[Line] = []
    at = index - 1
    while at >= 0 and len(label_lines) < _LABEL_LINES and lines[at].kind is None and not lines[at].text.endswith(_ENDS):
        line = lines[at]
        label_lines.insert(0, line)
        at -= 1
        if len(line.text) > 45 or line.text[:1].isupper():
            break
    if label_lines and label_lines[0].text[:1].isupper() and len(label_lines[0].text) <= 45:
        table.rows[0] = _with_label(first, label_lines)
        return at + 1
    return index


def _find_heads(lines: list[Line], first: int, width: int) -> list[Line]:
    """The short lines right above the first row, up to what cannot be a head."""
    taken: list[Line] = []
    at = first - 1
    while at >= 0 and len(taken) < _HEAD_LINES:
        line = lines[at]
        if line.kind is PassageKind.FURNITURE:
            break
        goes_on = bool(taken) and line.text.endswith(":") and taken[0].text[:1].islower()
        if line.kind is not None or is_caption(line.text) or BULLET.match(line.text) or (line.text.endswith(_ENDS) and not goes_on):
            break
        if len(line.text) > 0.85 * width and taken:
            break
        taken.insert(0, line)
        at -= 1
        if lines[at + 1].gap and len(taken) > 0:
            break
    return taken


def _align(table: PrintedTable) -> None:
    """Find the columns; lines above the one that begins with the head of the labels are a title over all of them."""
    texts = [line.text for line in table.heads]
    first = next((index for index, text in enumerate(texts) if is_label(text.split(maxsplit=1)[0])), 0)
    if first and all(not is_label(text.split(maxsplit=1)[0]) for text in texts[:first]):
        table.title = " ".join(texts[:first])
    count = len(table.rows[0].cells)
    table.columns = align_heads(texts[first:], count) if texts else None
    if table.columns is None and first:
        table.title, table.columns = None, align_heads(texts, count)
