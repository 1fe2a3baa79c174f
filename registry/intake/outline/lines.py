"""The lines of a card's text: where each stands, on which page, and what it is taken for."""

import re
from bisect import bisect_right
from dataclasses import dataclass

from registry.records.card import CardText, MediaType, Page
from registry.records.passage import PassageKind

_LINE = re.compile(r"[^\n\f]*")
_MARGIN = " \t\r\v\xa0"


@dataclass(slots=True)
class Line:
    """A line with something on it; `kind` is filled in by those who recognise it."""

    start: int
    """Its first character that is not white space."""
    stop: int
    text: str
    page: int
    """Index into the pages of the card."""
    gap: bool
    """Whether an empty line stands between this one and the one above, or a page begins with it."""
    kind: PassageKind | None = None
    """None for running text."""


def read_lines(card: CardText) -> list[Line]:
    """Return the lines of *card* that are not empty, in order."""
    finder = PageFinder(card.pages)
    lines: list[Line] = []
    gap = True
    text, at = card.text, 0
    while at <= len(text):
        found = _LINE.match(text, at)
        stop = found.end() if found else len(text)
        shown = text[at:stop].strip(_MARGIN)
        if shown:
            start = at + text[at:stop].index(shown)
            lines.append(Line(start, start + len(shown), shown, finder.find_index(start), gap))
        gap = not shown or text[stop : stop + 1] == "\f"
        at = stop + 1
    return lines


class PageFinder:
    """On which page a character stands, found in the logarithm of the number of pages."""

    def __init__(self, pages: tuple[Page, ...]) -> None:
        self._pages = pages
        self._starts = [page.start for page in pages]

    def find_index(self, position: int) -> int:
        """Return the index of the page on which the character at *position* stands."""
        return max(0, bisect_right(self._starts, position) - 1)

    def find_number(self, position: int) -> int:
        """Return the number of that page, from 1."""
        return self._pages[self.find_index(position)].number


def has_pages(card: CardText) -> bool:
    """Return whether pages mean anything for this card."""
    return len(card.pages) > 1 or card.media_type is MediaType.PDF


def split_by_page(lines: list[Line]) -> list[list[Line]]:
    """Return the lines of each page that has any."""
    pages: list[list[Line]] = []
    for line in lines:
        if not pages or pages[-1][-1].page != line.page:
            pages.append([])
        pages[-1].append(line)
    return pages


def measure_width(lines: list[Line]) -> int:
    """Return how many characters a full line of running text has: the length that one line in ten exceeds."""
    lengths = sorted(len(line.text) for line in lines if line.kind is None and len(line.text) > 25)
    return min(lengths[len(lengths) * 9 // 10], 200) if lengths else 80
