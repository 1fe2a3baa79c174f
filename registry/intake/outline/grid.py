"""A table as a grid: which rows are heads, and what every cell of the others stands under."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from registry.intake.outline.tables_markup import SourceRow, SourceTable
from registry.records.passage import Cell

_COLUMNS = 200


@dataclass(frozen=True, slots=True)
class GridCell:
    """What stands at one place of the grid."""

    text: str
    is_head: bool
    is_first: bool
    """Whether the cell begins at this column; a cell over several columns does so only once."""
    is_own: bool
    """Whether the cell begins at this row."""


@dataclass(frozen=True, slots=True)
class GridRow:
    """A row with its heads applied."""

    row: SourceRow
    is_head: bool
    cells: tuple[Cell, ...]


def read_grid(table: SourceTable, read_words: Callable[[int, int], str]) -> list[GridRow]:
    """Return the rows of *table*, each cell readable and under what the heads above it say.

    Rows of `th` cells, rows of `thead`, and the first row where no other is a head are heads; so is a row that says one thing over
    all columns, which then stands above the labels of the rows below it.
    """
    grid = _lay_out(table, read_words)
    heads = _find_head_rows(table, grid)
    found: list[GridRow] = []
    names: list[list[str]] = []
    group: str | None = None
    last_labels: list[str] = []
    for index, (row, places) in enumerate(zip(table.rows, grid, strict=True)):
        title = _read_group(places) if index not in heads else None
        if index in heads and not (found and not found[-1].is_head):
            _add_names(names, places)
        elif index in heads:
            names, group = [], None
            _add_names(names, places)
        elif title is not None:
            group = title
        if index in heads or title is not None:
            found.append(GridRow(row, is_head=True, cells=()))
            continue
        cells = _name_cells(places, names, group, last_labels)
        found.append(GridRow(row, is_head=False, cells=cells))
    return found


def _lay_out(table: SourceTable, read_words: Callable[[int, int], str]) -> list[list[GridCell | None]]:
    """Every row as places from left to right; spans fill the places they cover (HTML Living Standard, 4.9.12)."""
    grid: list[list[GridCell | None]] = []
    pending: dict[int, tuple[int, GridCell]] = {}
    for row in table.rows:
        places: list[GridCell | None] = []
        following: dict[int, tuple[int, GridCell]] = {}
        waiting = list(row.cells)
        column = 0
        while (waiting or any(at >= column for at in pending)) and column < _COLUMNS:
            if column in pending:
                left, above = pending[column]
                places.append(above)
                if left > 1:
                    following[column] = (left - 1, above)
                column += 1
                continue
            if not waiting:
                places.append(None)
                column += 1
                continue
            cell = waiting.pop(0)
            text = read_words(cell.start, cell.stop)
            for offset in range(cell.columns):
                places.append(GridCell(text, cell.is_head, is_first=offset == 0, is_own=True))
                if cell.rows > 1:
                    below = GridCell(text, cell.is_head, is_first=offset == 0, is_own=False)
                    following[column + offset] = (cell.rows - 1, below)
            column += cell.columns
        grid.append(places[:_COLUMNS])
        pending = following
    return grid


def _find_head_rows(table: SourceTable, grid: list[list[GridCell | None]]) -> set[int]:
    heads = {index for index, (row, places) in enumerate(zip(table.rows, grid, strict=True)) if row.is_in_head or _is_all_heads(places)}
    if not heads and len(grid) > 1 and not _has_figures(grid[0]):
        heads.add(0)
    index = 0
    while index in heads:
        index += 1
    # A second row of heads that is not marked as one: nothing above its first column, words only, and columns spanned above it.
    if (0 < index < len(grid) and _spans(grid[index - 1]) and not _text(grid[index], 0) and not _has_figures(grid[index])) or (
        0 < index < len(grid) and _spans(grid[index - 1]) and not _text(grid[index], 0) and _is_named(grid[index])
    ):
        heads.add(index)
    return heads


def _is_named(places: Sequence[GridCell | None]) -> bool:
    """Whether every cell that says something begins with a letter: names with versions, and no values."""
    said = [place.text for place in places if place is not None and place.text]
    return bool(said) and all(text[0].isalpha() for text in said)


def _is_all_heads(places: Sequence[GridCell | None]) -> bool:
    said = [place for place in places if place is not None and place.text]
    return bool(said) and all(place.is_head for place in said)


def _has_figures(places: Sequence[GridCell | None]) -> bool:
    return any(place is not None and place.text[:1].isdigit() for place in places)


def _spans(places: Sequence[GridCell | None]) -> bool:
    return any(place is not None and not place.is_first for place in places)


def _text(places: Sequence[GridCell | None], column: int) -> str:
    place = places[column] if column < len(places) else None
    return place.text if place is not None else ""


def _read_group(places: Sequence[GridCell | None]) -> str | None:
    """What a row says that only names those below it: one cell over all columns, or the first alone with none beside it."""
    said = [place for place in places if place is not None and place.text and place.is_first]
    is_alone = len(said) == 1 and said[0].is_own and len(places) > 1
    if is_alone and (places[0] is said[0]) and not said[0].text[:1].isdigit():
        return said[0].text
    return None


def _add_names(names: list[list[str]], places: Sequence[GridCell | None]) -> None:
    for column, place in enumerate(places):
        while len(names) <= column:
            names.append([])
        if place is not None and place.text and place.text not in names[column]:
            names[column].append(place.text)


def _name_cells(places: Sequence[GridCell | None], names: list[list[str]], group: str | None, last_labels: list[str]) -> tuple[Cell, ...]:
    cells: list[Cell] = []
    is_leading = True
    for column, place in enumerate(places):
        text = place.text if place is not None else ""
        name = " ".join(names[column]) if column < len(names) else ""
        if place is not None and not place.is_first and cells and cells[-1].column == (name or None):
            continue  # one cell under one head, however many columns both take
        has_more = any(_text(places, other) and not _text(places, other)[0].isdigit() for other in range(column + 1, len(places)))
        if is_leading and not text and has_more and column < len(last_labels):
            text = last_labels[column]
        else:
            is_leading = is_leading and not text
        if column < 1 or is_leading:
            last_labels[column : column + 1] = [text]
        if column == 0 and group is not None:
            name = f"{name} {group}".strip()
        cells.append(Cell(text=text, column=name or None))
    return tuple(cells)
