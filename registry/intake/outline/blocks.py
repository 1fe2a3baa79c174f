"""Runs of lines or spans that are read together: a paragraph, a list item, a caption, a footnote."""

from bisect import bisect_right
from dataclasses import dataclass, field

from registry.intake.outline.lines import Line
from registry.intake.outline.printed import BULLET, is_caption
from registry.records.passage import PassageKind

_TERMINAL = (".", "!", "?", ":", ";", ".\u201d", "?\u201d", "!\u201d", ".)", '."', "\u2019", "\u201d", ")", "]")


@dataclass(slots=True)
class Block:
    """Spans of a card that are one paragraph, list item, caption, footnote or heading."""

    kind: PassageKind
    spans: list[tuple[int, int]]
    page: int = 0
    """Index of the page on which it begins."""
    is_split: bool = True
    """Whether it is read sentence by sentence."""
    marks: frozenset[int] = field(default_factory=frozenset)
    """Numbers of the footnotes on its pages."""
    interruptions: list[int] = field(default_factory=list)
    """Where it goes on after something that is read on its own: a footnote, a table."""


def build_blocks(lines: list[Line], width: int, marks: dict[int, frozenset[int]], titles: frozenset[int]) -> list[Block]:
    """Return the blocks of printed *lines*; rows and heads are left to their tables.

    Args:
        width: characters of a full line.
        marks: the numbers of the footnotes on each page.
        titles: where headings begin.
    """
    blocks: list[Block] = []
    open_block: Block | None = None
    last: Line | None = None
    longest = 0
    is_interrupted = False
    for line in lines:
        kind = line.kind
        is_interrupted = is_interrupted or kind not in (None, PassageKind.FURNITURE)
        if kind in (PassageKind.FURNITURE, PassageKind.CONTENTS):
            blocks.append(Block(kind, [(line.start, line.stop)], line.page, is_split=False))
            continue
        if kind in (PassageKind.ROW, PassageKind.HEAD):
            last = None if open_block is None or open_block.kind is PassageKind.CAPTION else last
            continue
        if kind is PassageKind.FOOTNOTE:
            _add_footnote(blocks, line, marks)
            continue
        if kind is PassageKind.HEADING:
            if line.start not in titles and blocks and blocks[-1].kind is kind:
                blocks[-1].spans.append((line.start, line.stop))
            else:
                blocks.append(Block(kind, [(line.start, line.stop)], line.page, is_split=False))
            last = None
            continue
        started = _start_kind(line.text)
        if last is None or open_block is None or started is not None or _is_break(last, line, max(width, longest)):
            open_block = Block(started or PassageKind.SENTENCE, [], line.page, marks=marks.get(line.page, frozenset()))
            blocks.append(open_block)
            longest = 0
        elif is_interrupted:
            open_block.interruptions.append(line.start)
        is_interrupted = False
        open_block.spans.append((line.start, line.stop))
        open_block.marks |= marks.get(line.page, frozenset())
        longest, last = max(longest, len(line.text)), line
    return blocks


def build_single_blocks(lines: list[Line], tables: list[tuple[int, int]]) -> list[Block]:
    """Return a block for every line that stands in none of the *tables* (start, stop): text that is not broken into lines."""
    blocks: list[Block] = []
    starts = [start for start, _ in tables]
    for line in lines:
        at = bisect_right(starts, line.stop) - 1
        if at >= 0 and line.start < tables[at][1]:
            continue
        is_title = line.kind is PassageKind.HEADING
        kind = line.kind or _start_kind(line.text) or PassageKind.SENTENCE
        blocks.append(Block(kind, [(line.start, line.stop)], line.page, is_split=not is_title))
    return blocks


def _start_kind(text: str) -> PassageKind | None:
    if is_caption(text):
        return PassageKind.CAPTION
    return PassageKind.ITEM if BULLET.match(text) else None


def _add_footnote(blocks: list[Block], line: Line, marks: dict[int, frozenset[int]]) -> None:
    """Begin a footnote, or go on with the one begun on the line above."""
    digits = line.text[: len(line.text) - len(line.text.lstrip("0123456789"))]
    is_first = bool(digits) and int(digits) in marks.get(line.page, frozenset())
    above = blocks[-1] if blocks and blocks[-1].kind is PassageKind.FOOTNOTE and blocks[-1].page == line.page else None
    if above is None or is_first:
        blocks.append(Block(PassageKind.FOOTNOTE, [(line.start, line.stop)], line.page))
    else:
        above.spans.append((line.start, line.stop))


def _is_break(last: Line, line: Line, width: int) -> bool:
    """Whether a paragraph ends between two lines: its last line had room for the next word, and reads as an end."""
    begins = line.text[:1].isupper() or line.text[:1] in '"\u201c(['
    is_end = last.text.endswith(_TERMINAL)
    if line.gap and last.page == line.page:
        return is_end or begins or len(last.text) < 0.6 * width
    room = len(last.text) + 1 + len(line.text.split(maxsplit=1)[0])
    if not begins:
        return False
    return room <= (0.92 if is_end else 0.75) * width
