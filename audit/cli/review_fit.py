"""A screen that fits its terminal: parts of it give way in an order, so that what must be seen is seen at any height."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rich.console import Console, RenderableType
from rich.segment import Segment, Segments
from rich.style import Style

Lines = list[list[Segment]]
"""What a terminal shows, line by line."""
_CUTS = (
    # What stands around the quote, first to a line each, then whole.
    *(("after", 1), ("before", 1), ("caption", 1), ("after", 0), ("before", 0)),
    # The row's cells: its name and figure are enough.
    ("cells", 4),
    # Then from everything something.
    *(("quote", 8), ("message", 4), ("fields", 10), ("quote", 5), ("caption", 0), ("fields", 6), ("cells", 0), ("message", 2)),
    # A terminal of a few lines.
    *(("fields", 2), ("quote", 2), ("keys", 1), ("fields", 0), ("bar", 1), ("rule", 0), ("message", 1)),
)
"""Which part gives way, and how many lines it keeps then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One part of a screen."""

    name: str
    """By which it gives way; parts of one name do so one after the other."""
    body: RenderableType
    brief: RenderableType | None = None
    """Stands for the body as soon as the screen does not hold everything; None: nothing shorter does."""
    is_end: bool = False
    """Whether its end counts, and it gives way from its beginning."""
    note: str = ""
    """Stands at the end of its last line where it is cut."""


def fit(console: Console, parts: Iterable[Part], height: int) -> Lines:
    """Return the lines of *parts*, as wide as *console*, *height* at most."""
    listed = tuple(parts)
    drawn = [_draw(console, one.body) for one in listed]
    if _count(drawn) > height:
        drawn = [lines if one.brief is None else _draw(console, one.brief) for one, lines in zip(listed, drawn, strict=True)]
    for name, least in _CUTS:
        for place, one in enumerate(listed):
            over = _count(drawn) - height
            if over > 0 and one.name == name and len(drawn[place]) > least:
                drawn[place] = _cut(drawn[place], max(least, len(drawn[place]) - over), one, console.width)
    return [line for lines in drawn for line in lines][:height]


def draw(console: Console, parts: Iterable[Part]) -> Lines:
    """Return all lines of *parts*, as wide as *console*, whatever their number."""
    return [line for one in parts for line in _draw(console, one.body)]


def print_lines(console: Console, lines: Sequence[Sequence[Segment]]) -> None:
    """Show *lines* on a cleared screen."""
    console.clear()
    console.print(Segments([one for line in lines for one in (*line, Segment.line())]), end="")


def _draw(console: Console, body: RenderableType) -> Lines:
    return console.render_lines(body, console.options.update(height=None), pad=False)


def _count(drawn: Iterable[Lines]) -> int:
    return sum(map(len, drawn))


def _cut(lines: Lines, keep: int, part: Part, width: int) -> Lines:
    if keep == 0:
        return []
    kept = lines[-keep:] if part.is_end else lines[:keep]
    if part.is_end:
        return kept
    mark = f" … {part.note}".rstrip()
    room = min(Segment.get_line_length(kept[-1]), width - len(mark))
    ending = [*Segment.adjust_line_length(kept[-1], room, pad=False), Segment(mark, Style(dim=True))]
    return [*kept[:-1], ending]
