"""Where in a table row a figure stands."""

from registry.records.passage import Cell, Passage


def find_cell(passage: Passage, at: int) -> Cell | None:
    """Return the cell of the row that holds character *at* of its words; None where cells cannot be told apart."""
    place = find_cell_place(passage, at)
    return passage.cells[place] if place is not None else None


def find_cell_place(passage: Passage, at: int) -> int | None:
    """Return the index of that cell, from 0."""
    cursor = 0
    for place, cell in enumerate(passage.cells):
        start = passage.words.find(cell.text, cursor) if cell.text else -1
        if start < 0:
            continue
        cursor = start + len(cell.text)
        if start <= at < cursor:
            return place
    return None
