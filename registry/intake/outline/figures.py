"""What a cell of a printed table may hold: a figure with its unit and uncertainty, a fraction, or a sign for none."""

import re

_NUMBER = r"(?:[<>\u2264\u2265~\u2248\u2248]\s?)?[-+\u2212\u2013]?[$\u20ac\u00a3]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_UNIT = r"(?:\s?(?:%|\u2030|\u00d7)|pp|x|[kKMBT](?:\+)?|ms|s|h)?(?![\w])"
_UNCERTAINTY = (
    r"(?:\s?(?:\u00b1|\+/-)\s?\d[\d.]*\s?%?"
    r"|\s?\(\s?(?:\u00b1|\+/-)?\s?[-+\u2212]?\d[\d.,]*\s?%?(?:\s?[,\u2013-]\s?[-+\u2212]?\d[\d.]*\s?%?)?\s?\)"
    r"|\s?\[\s?[-+\u2212]?\d[\d.]*\s?%?\s?[,\u2013-]\s?[-+\u2212]?\d[\d.]*\s?%?\s?\])?"
)
_PAIR = rf"{_NUMBER}(?:\s?%)?\s?(?:/|of|[-\u2013])\s?\d[\d,]*(?:\.\d+)?(?:\s?%)?"
_FIGURE = rf"(?:{_PAIR}|{_NUMBER}{_UNIT}){_UNCERTAINTY}"
_NONE = r"(?:N/A|n/a|NA|[-\u2013\u2014\u2212]{1,3}|\u2713|\u2717|\u2714|\u2718)"
_CELL = re.compile(rf"(?<!\S)(?:{_FIGURE}|{_NONE})[*\u2020\u2021]?(?!\S)")
_LONGEST = 400
"""Characters of a line that may be a row."""


def find_cells(text: str) -> list[tuple[int, int]]:
    """Return the spans of the cells with which *text* ends, from left to right; none if it ends otherwise or is too long."""
    if len(text) > _LONGEST:
        return []
    cells: list[tuple[int, int]] = []
    for found in _CELL.finditer(text):
        if cells and text[cells[-1][1] : found.start()].strip():
            cells = []
        cells.append(found.span())
    if not cells or text[cells[-1][1] :].strip():
        return []
    return cells


def has_figure(text: str) -> bool:
    """Return whether there is a digit in *text*."""
    return any(character.isdigit() for character in text)
