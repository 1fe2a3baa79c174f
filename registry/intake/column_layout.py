"""Columns of a printed table, from the positions of its words: one tab before each column in the text of its lines.

A PDF has words at places and no cells. White space between words does not count when a quotation is matched with its card, so the
extractor can write columns into the text itself: registries keep text and no positions, and later readers need no PDF.

A line of a table has one tab for each column of figures, also before an empty cell. A head over several columns is followed by
`SPAN` in each further column it covers. Lines that do not fit keep their text: a wrong column would give a figure to another model.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

SPAN = "\u2003"
"""The text of a cell that the head to its left covers too."""

_FIGURE = re.compile(
    r"[<>≤≥~≈↑↓]?[-+−–]?[$€£]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.?\d+)(?:%|‰|×|x|pp|[kKMBT]|ms|s|h)?[*†‡]?"
    r"|\(?±?[-−]?\d[\d.,]*%?\)?|N/A|n/a|NA|[-–—−]{1,3}|✓|✗|✔|✘"
)
_JOINS = frozenset("/±+–-")
_NUMBER = re.compile(r"\d")
_CAPTION = re.compile(r"(?:Table|Figure|Fig\.|TABLE|FIGURE)\s+\w{0,3}\d")
_GAP = 1.3
"""Widths of an average character between two cells; words of a line are at most about one apart, also in justified text."""
_FAR = 3.4
"""Heights of a line between rows of one table."""
_FAR_HEAD = 4.5
"""The same between the heads and the first row, where cells have margins."""
_ALIGNED = 2.0
"""Points, or characters, between a head and its column that are set alike."""
_MOST_BETWEEN = 3
_MOST_HEADS = 30
_PROSE_WORDS = 9


@dataclass(frozen=True, slots=True)
class PlacedWord:
    """A word of a line and its place on the page; units are points, or characters where the text itself is the page."""

    start: int
    """Its first character in the line."""
    stop: int
    left: float
    right: float


@dataclass(frozen=True, slots=True)
class PlacedLine:
    """A line of a page."""

    text: str
    words: tuple[PlacedWord, ...]
    bottom: float
    """Of its first word; grows upwards, as in PDF."""
    height: float


@dataclass(slots=True)
class _Cell:
    start: int
    stop: int
    left: float
    right: float
    words: list[PlacedWord]

    @property
    def centre(self) -> float:
        return (self.left + self.right) / 2


@dataclass(slots=True)
class _Region:
    """Rows of one table, by the index of their lines."""

    rows: dict[int, list[_Cell]] = field(default_factory=dict)
    columns: list[tuple[float, float]] = field(default_factory=list)
    """From where to where the figures of each column reach."""
    label_stop: float = 0.0
    """Where the longest label of a row ends."""


def set_tabs(lines: Sequence[PlacedLine]) -> list[str]:
    """Return the text of *lines* (one page, from top to bottom), with tabs in those that are rows or heads of a table."""
    texts = [line.text for line in lines]
    widths = [(word.right - word.left) / (word.stop - word.start) for line in lines for word in line.words]
    if not widths:
        return texts
    gap = _GAP * median(widths)
    cells = [_split(line, gap) for line in lines]
    for region in _find_regions(lines, cells):
        if not _set_columns(region):
            continue
        tabbed = {
            index: _write(lines[index].text, _place_row(row, region.columns), len(region.columns)) for index, row in region.rows.items()
        }
        if any(text is None for text in tabbed.values()):
            continue
        first = min(region.rows)
        heads = _find_heads(lines, cells, first, region)
        margins = _find_margins([cell for index in heads for cell in cells[index]], region)
        for index in heads:
            placed = _place_head(cells[index], region, margins, is_lowest=index == first - 1)
            tabbed[index] = _write(lines[index].text, placed, len(region.columns))
        for index, text in tabbed.items():
            texts[index] = text or texts[index]
    return texts


def _split(line: PlacedLine, gap: float) -> list[_Cell]:
    """The cells of a line: words that are close, and figures each by itself."""
    cells: list[_Cell] = []
    for word in line.words:
        text = line.text[word.start : word.stop]
        last = cells[-1] if cells else None
        is_apart = last is None or word.left - last.right > gap
        # A row of figures may be set as close as words are.
        if last is not None and not is_apart and _FIGURE.fullmatch(text) and text[0] not in "(±" and text not in _JOINS:
            before = line.text[last.start : last.stop]
            is_apart = bool(_FIGURE.fullmatch(before)) and before[-1] not in _JOINS
        if last is None or is_apart:
            cells.append(_Cell(word.start, word.stop, word.left, word.right, [word]))
        else:
            last.stop, last.right = word.stop, max(last.right, word.right)
            last.words.append(word)
    return cells


def _is_figure(line: PlacedLine, cell: _Cell) -> bool:
    words = [line.text[word.start : word.stop] for word in cell.words]
    return all(word in _JOINS or _FIGURE.fullmatch(word) for word in words)


def _find_regions(lines: Sequence[PlacedLine], cells: Sequence[list[_Cell]]) -> Iterator[_Region]:
    """Runs of lines with two or more figures in cells of their own, with at most a few other lines between."""
    region, last = _Region(), -1
    for index, line in enumerate(lines):
        figures = sum(_is_figure(line, cell) for cell in cells[index])
        is_row = figures >= 2 and bool(_NUMBER.search(line.text)) and figures * 2 >= len(cells[index]) - 1 and _runs_right(cells[index])
        if region.rows and (index - last > _MOST_BETWEEN + 1 or _CAPTION.match(line.text) or (is_row and _is_far(lines, last, index))):
            yield region
            region = _Region()
        if is_row:
            region.rows[index] = cells[index]
            last = index
    if region.rows:
        yield region


def _is_far(lines: Sequence[PlacedLine], last: int, index: int) -> bool:
    """Whether a row is further below the last one than the lines between explain, or above it, as in a second column of the page."""
    drop = lines[last].bottom - lines[index].bottom
    return drop <= 0 or drop > _FAR * lines[index].height * (index - last)


def _runs_right(cells: list[_Cell]) -> bool:
    return all(before.left < after.left for before, after in pairwise(cells))


def _set_columns(region: _Region) -> bool:
    """Find where the columns of figures are; False where they are not distinct or too few rows show them."""
    if len(region.rows) < 2:
        return False
    spans = sorted((cell.left, cell.right) for row in region.rows.values() for cell in row[1:])
    # A first cell without a label is a figure too, and stands above others' figures.
    columns: list[tuple[float, float]] = []
    for left, right in spans:
        if columns and left <= columns[-1][1]:
            columns[-1] = (columns[-1][0], max(right, columns[-1][1]))
        else:
            columns.append((left, right))
    region.columns = columns
    region.label_stop = max((row[0].right for row in region.rows.values() if row[0].right < columns[0][0]), default=0.0) if columns else 0.0
    return 2 <= len(columns) <= 40 or (len(columns) == 1 and len(region.rows) >= 2)


def _place_row(row: list[_Cell], columns: list[tuple[float, float]]) -> list[tuple[int, int, _Cell]] | None:
    """Give each cell its column, 0 for the label; None where two cells fall into one column."""
    placed: list[tuple[int, int, _Cell]] = []
    for cell in row:
        column = 0 if cell.right < columns[0][0] else _find_column(cell.centre, columns)
        if placed and column == placed[-1][0]:
            return None
        placed.append((column, 1, cell))
    return placed


def _find_column(centre: float, columns: list[tuple[float, float]]) -> int:
    """The column, from 1, whose figures are nearest to *centre*."""
    distances = [max(left - centre, centre - right, 0.0) for left, right in columns]
    return distances.index(min(distances)) + 1


def _find_heads(lines: Sequence[PlacedLine], cells: Sequence[list[_Cell]], first: int, region: _Region) -> list[int]:
    """The lines right above the first row that stand over its columns, without captions and running text."""
    heads: list[int] = []
    top = lines[first].bottom
    for index in range(first - 1, max(-1, first - 1 - _MOST_HEADS), -1):
        line = lines[index]
        # Lines of neighbouring heads may come in any order: each must be above the first row, and near the heads read so far.
        if not line.words or _CAPTION.match(line.text) or not lines[first].bottom < line.bottom < top + _FAR_HEAD * line.height:
            break
        is_prose = any(len(cell.words) >= _PROSE_WORDS for cell in cells[index])
        if is_prose or not _runs_right(cells[index]) or line.text.rstrip().endswith((".", ";")):
            break
        if any(not _is_label(cell, region) for cell in cells[index]):
            heads.append(index)
            top = max(top, line.bottom)
    return heads


def _is_label(cell: _Cell, region: _Region) -> bool:
    """Whether a cell stands over the labels; a wide head begins left of the figures below it and right of the labels."""
    return cell.right < region.columns[0][0] and cell.left < region.label_stop


def _find_covered(cell: _Cell, columns: list[tuple[float, float]]) -> list[int]:
    """The columns, from 1, whose middle lies below the cell."""
    return [at for at, (left, right) in enumerate(columns, start=1) if cell.left <= (left + right) / 2 <= cell.right]


def _find_margins(cells: list[_Cell], region: _Region) -> dict[int, int]:
    """The column of the left margins that lines over exactly one column share: a short last line of a head has the margin of its others."""
    margins: dict[int, int] = {}
    for cell in cells:
        covered = _find_covered(cell, region.columns)
        if len(covered) == 1 and not _is_label(cell, region):
            margins.setdefault(round(cell.left), covered[0])
    return margins


def _place_head(cells: list[_Cell], region: _Region, margins: dict[int, int], *, is_lowest: bool) -> list[tuple[int, int, _Cell]] | None:
    """Give each cell of a head its first column and the number of columns it covers; None where they collide."""
    columns = region.columns
    placed: list[tuple[int, int, _Cell]] = []
    for cell in cells:
        covered = _find_covered(cell, columns)
        if _is_label(cell, region):
            pieces = [(0, 1, cell)]
        elif len(covered) > 1 and (len(cell.words) >= len(covered) if is_lowest else _is_word_a_column(cell, covered, columns)):
            pieces = _divide(cell, columns)
        elif len(covered) > 1:
            pieces = [(covered[0], len(covered), cell)]
        else:
            column = covered[0] if covered else margins.get(round(cell.left)) or _find_column(cell.centre, columns)
            pieces = [(column, 1, cell)]
        for piece in pieces:
            if placed and piece[0] < placed[-1][0] + placed[-1][1]:
                return None
            placed.append(piece)
    return placed


def _is_word_a_column(cell: _Cell, covered: list[int], columns: list[tuple[float, float]]) -> bool:
    """Whether each word of a head is set like a column of its own: at its left, its right or its middle. Then they begin as many heads."""
    if len(cell.words) != len(covered):
        return False
    edges = [((word.left, word.right), columns[column - 1]) for word, column in zip(cell.words, covered, strict=True)]
    differences = [(own[0] - below[0], own[1] - below[1], (sum(own) - sum(below)) / 2) for own, below in edges]
    return any(all(abs(difference) <= _ALIGNED for difference in alike) for alike in zip(*differences, strict=True))


def _divide(cell: _Cell, columns: list[tuple[float, float]]) -> list[tuple[int, int, _Cell]]:
    """Heads of several columns that are set as close as words: each word goes to the nearest column."""
    pieces: list[tuple[int, int, _Cell]] = []
    for word in cell.words:
        column = _find_column((word.left + word.right) / 2, columns)
        if pieces and pieces[-1][0] == column:
            last = pieces[-1][2]
            last.stop, last.right = word.stop, word.right
            last.words.append(word)
        else:
            pieces.append((column, 1, _Cell(word.start, word.stop, word.left, word.right, [word])))
    return pieces


def _write(text: str, placed: list[tuple[int, int, _Cell]] | None, count: int) -> str | None:
    """The line with a tab before each column; None where its cells have no distinct columns."""
    if placed is None:
        return None
    pieces = [""] * (count + 1)
    for column, width, cell in placed:
        pieces[column] = text[cell.start : cell.stop]
        pieces[column + 1 : column + width] = [SPAN] * (width - 1)
    return "\t".join(pieces)
