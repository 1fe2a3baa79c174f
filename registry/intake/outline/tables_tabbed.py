"""Tables in text whose cells a tab sets apart, one row a line: as an HTML page is read, and as spreadsheets are pasted."""

from registry.intake.outline.tables_markup import SourceCell, SourceRow, SourceTable


def find_tabbed_tables(text: str) -> list[SourceTable]:
    """Return the runs of lines with tabs in *text* as tables; a cell of the upper heads covers the empty ones after it."""
    tables: list[SourceTable] = []
    is_open = False
    at = 0
    for line in text.split("\n"):
        if "\t" in line.strip(" \r\f"):
            if not is_open:
                tables.append(SourceTable(at, at))
            tables[-1].rows.append(_read_row(at, line))
            tables[-1].stop = at + len(line)
            is_open = True
        else:
            is_open = False
        at += len(line) + 1
    tables = [table for table in tables if any(len(row.cells) > 1 for row in table.rows)]
    for table in tables:
        _span_heads(text, table)
    return tables


def _read_row(at: int, line: str) -> SourceRow:
    row = SourceRow(at, at + len(line))
    start = 0
    for piece in line.split("\t"):
        row.cells.append(SourceCell(at + start, at + start + len(piece)))
        start += len(piece) + 1
    shown = line.strip()
    row.start = at + line.index(shown)
    row.stop = row.start + len(shown)
    return row


def _span_heads(text: str, table: SourceTable) -> None:
    """Let heads cover the empty cells after them, where several rows of heads stand above each other.

    A further row of heads says nothing in its first column and has no figures; rows below it do.
    """
    count = 1
    while count < len(table.rows) and not _says(text, table.rows[count].cells[0]) and not _has_figures(text, table.rows[count]):
        count += 1
    if count == 1 or count == len(table.rows) or _has_figures(text, table.rows[0]):
        return
    is_label_wide = len(table.rows[0].cells) > 1 and not any(_says_at(text, row, 1) for row in table.rows[:count])
    for row in table.rows[:count]:
        row.is_in_head = True
        kept: list[SourceCell] = []
        for cell in row.cells:
            is_covered = _says(text, kept[-1]) and not _says(text, cell) if kept else False
            if is_covered and (len(kept) > 1 or is_label_wide):
                kept[-1].columns += 1
            else:
                kept.append(cell)
        row.cells = kept


def _says_at(text: str, row: SourceRow, column: int) -> bool:
    return column < len(row.cells) and _says(text, row.cells[column])


def _says(text: str, cell: SourceCell) -> bool:
    return bool(text[cell.start : cell.stop].strip())


def _has_figures(text: str, row: SourceRow) -> bool:
    return any(text[cell.start : cell.stop].strip()[:1].isdigit() for cell in row.cells)
