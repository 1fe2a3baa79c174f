"""Where in a table row a figure stands."""

import re

from registry.records.passage import Cell, Passage

_NAMES_ROW = re.compile(r"\W*(?:benchmark|evaluation|eval|dataset|test|task)s?\b", re.IGNORECASE)
_FIGURE = re.compile(r"[<>≤≥~±]?\s?[-−]?\d[\d.,]*\s?%?")


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


def find_label(passage: Passage) -> str:
    """Return what names the row: the cell under a head such as "Benchmark", else the first that is no figure; else its words."""
    named = [cell for cell in passage.cells if cell.text.strip() and not _FIGURE.fullmatch(cell.text.strip())]
    for cell in named:
        if cell.column and _NAMES_ROW.match(cell.column):
            return cell.text.strip()
    return named[0].text.strip() if named else passage.words
