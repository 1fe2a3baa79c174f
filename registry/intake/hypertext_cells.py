"""How many tabs stand before each cell of an HTML table, so that every cell keeps its column.

A cell over several columns or rows leaves the places it covers empty (HTML Living Standard, 4.9.12); a table within a cell is
read as text of that cell.
"""

from dataclasses import dataclass, field

_COLUMNS = 1_000
_ROWS = 65_534


@dataclass(slots=True)
class _Table:
    covered: dict[int, int] = field(default_factory=dict)
    """For how many rows, this one included, each column is taken by a cell from above."""
    below: dict[int, int] = field(default_factory=dict)
    column: int = 0
    """Where the next cell may stand."""
    pen: int = 0
    """Where the last tab led to."""


class CellCounter:
    """Follows the tables of a page as their tags open and close."""

    def __init__(self) -> None:
        self._tables: list[_Table] = []

    @property
    def is_nested(self) -> bool:
        """Whether what is read stands in a table within a table."""
        return len(self._tables) > 1

    def open_table(self) -> None:
        """Begin a table."""
        self._tables.append(_Table())

    def close_table(self) -> None:
        """End the table begun last."""
        if self._tables:
            self._tables.pop()

    def open_row(self) -> None:
        """Begin a row of the table."""
        if self._tables:
            table = self._tables[-1]
            table.covered = table.below
            table.below = {column: rows - 1 for column, rows in table.covered.items() if rows > 1}
            table.column = table.pen = 0

    def open_cell(self, columns: int, rows: int) -> int:
        """Return how many tabs stand before a cell that takes so many *columns* and *rows*."""
        if not self._tables:
            return 0
        table = self._tables[-1]
        while table.column in table.covered:
            table.column += 1
        tabs, table.pen = table.column - table.pen, table.column
        for column in range(table.column, table.column + min(columns, _COLUMNS)):
            if rows > 1:
                table.below[column] = min(rows, _ROWS) - 1
        table.column += min(columns, _COLUMNS)
        return min(tabs, _COLUMNS)

    def close_row(self) -> int:
        """Return how many tabs end the row: for columns that cells before or above it take."""
        if not self._tables:
            return 0
        table = self._tables[-1]
        while table.column in table.covered:
            table.column += 1
        return max(0, min(table.column - table.pen - 1, _COLUMNS))


def read_span(value: str | None) -> int:
    """Return the number of columns or rows that an attribute gives; 1 where it gives none that counts."""
    given = (value or "").strip()[:6]
    return max(1, int(given)) if given.isascii() and given.isdigit() else 1
