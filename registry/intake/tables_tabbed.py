"""Tables in text whose cells a tab sets apart, one row a line: as an HTML page is read, and as spreadsheets are pasted."""

from registry.intake.tables_markup import SourceCell, SourceRow, SourceTable


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
    """Let the cells of the first row cover empty ones where a second row of heads, empty at its beginning, stands below."""
    if len(table.rows) < 3 or _says(text, table.rows[1].cells[0]) or _has_figures(text, table.rows[1]):
        return
    head = table.rows[0]
    kept: list[SourceCell] = []
    for cell in head.cells:
        if kept and len(kept) > 1 and not _says(text, cell):
            kept[-1].columns += 1
        else:
            kept.append(cell)
    head.cells = kept
    for row in table.rows[:2]:
        row.is_in_head = True


def _says(text: str, cell: SourceCell) -> bool:
    return bool(text[cell.start : cell.stop].strip())


def _has_figures(text: str, row: SourceRow) -> bool:
    return any(text[cell.start : cell.stop].strip()[:1].isdigit() for cell in row.cells)
