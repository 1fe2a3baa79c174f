"""A card in windows that a language model can read at once: they overlap, end where passages end, and say what they stand under."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from audit.propose.about.around import Around
from registry.records.passage import Outline, Passage, PassageKind

SMALLEST = 2_000
"""Characters of a window at least; below, headings and heads of tables would fill it."""
_LEFT_OUT = frozenset({PassageKind.FURNITURE, PassageKind.CONTENTS})
"""What claims nothing, and would be read for money."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A passage as a window shows it, or a piece of one that is too long."""

    number: int
    """From 1, through the whole card; a window's answer names its passage by it."""
    start: int
    """First character in the card's text."""
    stop: int
    text: str
    """One line, as a person reads it."""
    passage: int
    """Index into the passages of the outline."""

    @property
    def shown(self) -> str:
        """The line with its number."""
        return f"{self.number}| {self.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Lines that are read at once."""

    number: int
    """From 1."""
    lines: tuple[Line, ...]
    """At least one, in the order of the card."""
    titles: tuple[str, ...]
    """Of the sections that it begins under, the outermost first; empty above the first heading."""
    table: tuple[str, ...]
    """Caption and heads of the table in the middle of which it begins; empty where it does not."""
    pages: tuple[int, int] | None
    """First and last; None for media without pages."""

    @property
    def start(self) -> int:
        """First character in the card's text."""
        return self.lines[0].start

    @property
    def stop(self) -> int:
        """One past the last character."""
        return self.lines[-1].stop

    @property
    def text(self) -> str:
        """What is shown, a line each: heads of an interrupted table first, without numbers."""
        return "\n".join([*(f"| {one}" for one in self.table), *(line.shown for line in self.lines)])


def cut_windows(around: Around, *, size: int, overlap: int) -> tuple[Window, ...]:
    """Return the windows of a card, in order; empty when nothing of it can be read.

    Together they show every passage but page furniture and contents. A passage longer than a sixth of a window is cut at white space,
    its pieces overlapping.

    Args:
        size: characters of a window at most, line numbers included.
        overlap: characters that a window repeats of the one before, at most; whole lines.

    Raises:
        ValueError: *size* is below 2,000, or *overlap* not between 0 and half of it.
    """
    if size < SMALLEST or not 0 <= overlap <= size // 2:
        raise ValueError(f"a window has at least {SMALLEST} characters and an overlap of at most half, got {size} and {overlap}")
    lines, first = list(_list_lines(around.outline.passages, longest=size // 6)), 0
    windows: list[Window] = []
    while first < len(lines):
        window = _build(around, lines, first, number=len(windows) + 1, size=size)
        windows.append(window)
        last = first + len(window.lines)
        first = last if last == len(lines) else _step_back(lines, first + 1, last, overlap)
    return tuple(windows)


def halve(window: Window, around: Around) -> tuple[Window, Window] | None:
    """Return the two halves of *window*, which keep its number; None for one that is a single line."""
    middle = len(window.lines) // 2
    if middle == 0:
        return None
    parts = (window.lines[:middle], window.lines[middle:])
    room = sum(len(line.shown) for line in window.lines) // 8
    first, second = (_describe(around, part, number=window.number, room=room) for part in parts)
    return first, second


def describe_window(window: Window, outline: Outline) -> str:
    """Return where *window* stands, as a person looks it up: pages, and the sections it begins and ends in."""
    sections = dict.fromkeys(
        outline.headings[index].title
        for line in (window.lines[0], window.lines[-1])
        if (index := outline.passages[line.passage].section) is not None
    )
    where = f"“{'” to “'.join(sections)}”" if sections else f"characters {window.start:,} to {window.stop:,}"
    if window.pages is None:
        return where
    first, last = window.pages
    return f"page {first}, {where}" if first == last else f"pages {first} to {last}, {where}"


def _list_lines(passages: Sequence[Passage], *, longest: int) -> Iterator[Line]:
    number = 0
    for index, passage in enumerate(passages):
        if passage.kind in _LEFT_OUT:
            continue
        for start, stop, text in _cut(passage, longest):
            if text:
                number += 1
                yield Line(number=number, start=start, stop=stop, text=text, passage=index)


def _cut(passage: Passage, longest: int) -> Iterator[tuple[int, int, str]]:
    """Start, stop and words of a passage; a long one's pieces all have its whole span, because words are shorter than characters."""
    words = " ".join(passage.words.split())
    if len(words) <= longest:
        yield passage.start, passage.stop, words
        return
    at = 0
    while at < len(words):
        stop = len(words) if at + longest >= len(words) else max(words.rfind(" ", at + longest // 2, at + longest), at + longest // 2)
        yield passage.start, passage.stop, words[at:stop].strip()
        if stop == len(words):
            return
        back = words.rfind(" ", at + 1, max(at + 2, stop - longest // 8))
        at = back + 1 if back > at else stop


def _build(around: Around, lines: Sequence[Line], first: int, *, number: int, size: int) -> Window:
    room = size // 8
    head = _describe(around, lines[first : first + 1], number=number, room=room)
    left = size - sum(map(len, head.titles)) - sum(len(one) + 3 for one in head.table)
    last = first
    while last < len(lines) and (last == first or left >= len(lines[last].shown) + 1):
        left -= len(lines[last].shown) + 1
        last += 1
    return _describe(around, lines[first:last], number=number, room=room)


def _describe(around: Around, lines: Sequence[Line], *, number: int, room: int) -> Window:
    first, last = (around.outline.passages[line.passage] for line in (lines[0], lines[-1]))
    pages = None if first.page is None or last.page is None else (first.page, last.page)
    titles = tuple(one[: room // 4] for one in around.section_titles(first)[-4:])
    table = tuple(_fit(list_table(first, around), room))
    return Window(number=number, lines=tuple(lines), titles=titles, table=table, pages=pages)


def list_table(row: Passage, around: Around) -> Iterator[str]:
    """Give the caption and the heads that stand above a row in its table; nothing for what is no row."""
    if row.kind is not PassageKind.ROW:
        return
    if row.caption:
        yield row.caption
    yield from (one.words for one in around.block(row) if one.kind is PassageKind.HEAD and one.start < row.start)


def _fit(texts: Iterator[str], room: int) -> Iterator[str]:
    for text in texts:
        line = " ".join(text.split())[:room]
        if line:
            yield line
            room -= len(line)


def _step_back(lines: Sequence[Line], lowest: int, last: int, overlap: int) -> int:
    """The first line of the next window: as many before *last* as *overlap* holds."""
    first, left = last, overlap
    while first > lowest and left >= len(lines[first - 1].shown) + 1:
        left -= len(lines[first - 1].shown) + 1
        first -= 1
    return first
