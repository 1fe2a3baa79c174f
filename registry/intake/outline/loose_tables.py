"""Tables that lost their rows when a page became plain text: a cell on each line, or several rows on one.

Both are read only where the number of figures is the same in every row: else nothing says where a row ends.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby

from registry.intake.outline.page_lines import BULLET, CardLine, is_caption
from registry.intake.outline.printed_tables import (
    PrintedRow,
    PrintedTable,
    align_table,
    find_cells,
    has_figure,
    is_label,
    mark_lines,
    split_names,
)

_ENDS = (".", "!", "?", ":", ";", ",")
_LONGEST_LABEL = 60
_LABELS, _HEAD_LINES = 3, 24
_FEWEST = 3
"""Figures of a row on a line with others; fewer are found in sentences too."""


def find_loose_tables(lines: list[CardLine]) -> list[PrintedTable]:
    """Mark the rows and heads among *lines* of a plain text and return them by table, in order."""
    tables: list[PrintedTable] = []
    at = 0
    while at < len(lines):
        table, at = _read_cell_lines(lines, at) or _read_joined_rows(lines, at) or (None, at + 1)
        if table is None:
            continue
        mark_lines(table)
        tables.append(table)
    return tables


def _is_name(line: CardLine) -> bool:
    """Whether a line may be a label or a head: short, and no sentence, caption, or figure."""
    return (
        line.kind is None
        and len(line.text) <= _LONGEST_LABEL
        and not line.text.endswith(_ENDS)
        and not BULLET.match(line.text)
        and not is_caption(line.text)
        and not _is_cell(line)
    )


def _is_cell(line: CardLine) -> bool:
    return line.kind is None and find_cells(line.text) == [(0, len(line.text))]


# A cell on each line: the label of a row, and below it as many figures as the other rows have.


def _read_cell_lines(lines: list[CardLine], at: int) -> tuple[PrintedTable | None, int] | None:
    """The table whose first figure is at *at*, and the index after its last line; no table for rows that are none, which are read once."""
    if not _is_cell(lines[at]) or at == 0 or not _is_name(lines[at - 1]):
        return None
    above = at
    while above > 0 and at - above < _HEAD_LINES and _is_name(lines[above - 1]):
        above -= 1
    rows, end = _collect_rows(lines, at - 1)
    if len(rows) < 2:
        return None
    count = len(rows[0].cells)
    # A chart leaves figures and names too, but seldom rows of one length under as many heads.
    table = PrintedTable(rows, heads=_find_cell_heads(lines[above : at - 1], count) if at - above < _HEAD_LINES else [])
    names = [line.text for line in table.heads[-count:]]
    if table.heads and len(set(names)) == count and all(name[0].isalnum() for name in names):
        align_table(table, names, table.heads[-count - 1].text if len(table.heads) > count else None)
    elif min(count, len(rows)) < _FEWEST or not any(has_figure(line.text) for row in rows for line in row.lines[1:]):
        return None, end
    return table, end


def _collect_rows(lines: list[CardLine], label: int) -> tuple[list[PrintedRow], int]:
    """The rows from the one with the label at *label* on, as long as all have the same number of figures, and the index after the last."""
    rows: list[PrintedRow] = []
    end = label
    while label < len(lines):
        stop = label + 1
        while stop < len(lines) and _is_cell(lines[stop]) and not (rows and stop - label > len(rows[0].cells)):
            stop += 1
        if rows and stop - label - 1 != len(rows[0].cells):
            break
        rows.append(PrintedRow(lines[label:stop], _span(lines[label]), [_span(line) for line in lines[label + 1 : stop]]))
        end = stop
        # Titles of groups may be above the next label.
        label = next((index for index in range(stop, min(stop + _LABELS, len(lines) - 1)) if _is_cell(lines[index + 1])), len(lines))
        if not all(_is_name(line) for line in lines[stop : label + 1]):
            break
    return rows, end


def _find_cell_heads(above: list[CardLine], count: int) -> list[CardLine]:
    """The lines of the first block of *above* that has a head for each column, and perhaps for one or two columns of labels."""
    blocks: list[list[CardLine]] = []
    for line in above:
        if line.gap or not blocks:
            blocks.append([])
        blocks[-1].append(line)
    fitting = (block for block in reversed(blocks) if count <= len(block) <= count + 2)
    return next(fitting, above if count <= len(above) <= count + 2 else [])


# Several rows on one line: a label and figures, and again a label and as many figures.


def _read_joined_rows(lines: list[CardLine], at: int) -> tuple[PrintedTable, int] | None:
    first = _split_rows(lines[at]) if lines[at].kind is None else []
    if len(first) < 2:
        return None
    count, rows, index, stop = len(first[0].cells), list(first), at + 1, at + 1
    while index < len(lines) and index - stop < _LABELS:
        more = _split_rows(lines[index]) if lines[index].kind is None else []
        if more and all(len(row.cells) == count for row in more):
            rows += more
            stop = index + 1
        elif not _is_name(lines[index]):
            break
        index += 1
    heads: list[CardLine] = []
    while at > 0 and len(heads) < _HEAD_LINES and lines[at - 1].kind is None and not lines[at - 1].text.endswith(_ENDS):
        at -= 1
        if is_caption(lines[at].text) or BULLET.match(lines[at].text):
            break
        heads.insert(0, lines[at])
    table = PrintedTable(rows, heads=heads)
    align_table(table)
    if table.columns is None:
        _take_heads(table, lines[stop - 1])
    return table, stop


def _take_heads(table: PrintedTable, line: CardLine) -> None:
    """Take the heads from the label of the first row, if they are on its line: "Model Elo Win rate Ibis 3 1201 79.4"."""
    first = table.rows[0]
    if first.label is None or first.span is None or (first.lines[0] is not line and len(table.rows) < 2):
        return
    start, stop = first.label
    words = first.lines[0].text[start - first.lines[0].start : stop - first.lines[0].start]
    label, _, rest = words.partition(" ")
    names = split_names(rest, len(first.cells) + 1) if is_label(label) else []
    if names:
        first.label = (stop - len(names[-1]), stop)
        first.span = (first.label[0], first.span[1])
        align_table(table, names[:-1], label)


def _split_rows(line: CardLine) -> list[PrintedRow]:
    """The rows of a line, each a label and figures; none unless all have the same number of them and the line ends with one."""
    rows = list(_iterate_rows(line)) if len(line.text) < 4_000 else []
    counts = {len(row.cells) for row in rows}
    is_sure = bool(rows) and (min(counts) >= _FEWEST or (min(counts) > 1 and len(rows) >= _FEWEST))
    return rows if is_sure and len(counts) == 1 and rows[-1].cells[-1][1] == line.stop else []


def _iterate_rows(line: CardLine) -> Iterator[PrintedRow]:
    tokens = list(re.finditer(r"\S+", line.text))
    runs = [list(run) for _, run in groupby(range(len(tokens)), key=lambda place: _is_number(tokens[place][0]))]
    lengths = Counter(len(run) for run in runs if len(run) > 1 and _is_number(tokens[run[0]][0]))
    count = lengths.most_common(1)[0][0] if lengths else 0
    words: list[int] = []
    for run in runs:
        # "Gemini 2.5 Pro", "Grok 4 65.26": a few figures are part of a name, and so is the first of one too many.
        if not _is_number(tokens[run[0]][0]) or len(run) < min(count, _FEWEST):
            words += run
            continue
        words, cells = (words + run[:1], run[1:]) if len(run) == count + 1 else (words, run)
        if not words:
            return
        spans = [(line.start + tokens[place].start(), line.start + tokens[place].end()) for place in (*words, *cells)]
        label = (spans[0][0], spans[len(words) - 1][1])
        yield PrintedRow([line], label, spans[len(words) :], (label[0], spans[-1][1]))
        words = []


def _is_number(token: str) -> bool:
    return find_cells(token) == [(0, len(token))]


def _span(line: CardLine) -> tuple[int, int]:
    return line.start, line.stop
