"""What surrounds a passage of a card: its section, neighbours, block and introduction."""

import re
from bisect import bisect_left
from itertools import groupby

from registry.records.system_card import Outline, Passage, PassageKind

# The surroundings of a passage: sections, neighbours, block, and the paragraph that introduces it. Facts of a figure
# are taken only from words tied to it. A borrowed fact would hide a missing one. Cost: facts stated once in another
# paragraph read "not stated".

_NUMBER = re.compile(
    r"(?:Appendix\s+|Section\s+|Chapter\s+)?((?:[A-Z]\.)?\d{1,3}(?:\.\d{1,3}){0,7}|[A-Z](?:\.\d{1,3}){1,7})\.?\s", re.IGNORECASE
)
OUTSIDE = frozenset({PassageKind.CONTENTS, PassageKind.FURNITURE})
"""Repeated from elsewhere: not what an author wrote beside a passage."""

_LISTED = frozenset({PassageKind.ITEM, PassageKind.ROW, PassageKind.HEAD, PassageKind.CAPTION})
"""What a paragraph may introduce."""

_GOES_ON = re.compile(
    r"\W*(?:It|Its|They|Their|This|These|That|Those|Here|However|Additionally|Moreover|Similarly|Across|Overall|"
    r"(?:In|On|For|With|From|Of) (?:this|these|those|both|such|all|contrast|addition))\b"
)
"""How a sentence begins that goes on with the one before it."""

_LONGEST_THREAD = 6
"""Sentences above that one may go on with."""

_REACH = 40
"""Blocks that are looked at above a list or table: beyond, what one finds does not introduce it."""


class PassageContext:
    """An outline with its passages put in order, so that each question about the surroundings of one is quick."""

    def __init__(self, outline: Outline, text: str) -> None:
        self.outline = outline
        self.text = text
        """The card's text, in which the passages stand."""
        self.passages = tuple(passage for passage in outline.passages if passage.kind not in OUTSIDE)
        """In the order of the text, without contents and furniture."""
        self._starts = [one.start for one in self.passages]
        # A table or footnote may interrupt a block.
        in_blocks = sorted(self.passages, key=lambda passage: passage.block)
        self._blocks = {block: tuple(members) for block, members in groupby(in_blocks, key=lambda passage: passage.block)}
        self._titles = _nest(outline, text)

    def section_titles(self, passage: Passage) -> tuple[str, ...]:
        """Return the headings above *passage*, outermost first, by their numbers or marks; empty above the first heading."""
        return self._titles[passage.section] if passage.section is not None else ()

    def neighbours(self, passage: Passage, *, before: int, after: int) -> tuple[Passage, ...]:
        """Return up to *before* passages above and *after* below that stand in the same section, in order, without itself."""
        place = bisect_left(self._starts, passage.start)
        near = (*self.passages[max(0, place - before) : place], *self.passages[place : place + after + 1])
        return tuple(one for one in near if one.section == passage.section and one.start != passage.start)

    def block(self, passage: Passage) -> tuple[Passage, ...]:
        """Return the passages of the same paragraph, list item or table, itself among them."""
        return self._blocks.get(passage.block, (passage,))

    def continued(self, passage: Passage) -> tuple[Passage, ...]:
        """Return the sentences that *passage* goes on with ("This fell to 3%."), the nearest first; empty where it begins anew.

        A row goes on with none: its neighbours stand beside it, not before it. An item stays inside its own list item.
        """
        if passage.kind not in (PassageKind.SENTENCE, PassageKind.ITEM):
            return ()
        is_item = passage.kind is PassageKind.ITEM
        passages: list[Passage] = []
        last = passage
        for one in reversed(self.neighbours(passage, before=_LONGEST_THREAD, after=0)):
            if _GOES_ON.match(last.words) is None or one.kind is not passage.kind or (is_item and one.block != passage.block):
                break
            passages.append(one)
            last = one
        return tuple(passages)

    def lead_in(self, passage: Passage) -> tuple[Passage, ...]:
        """Return the sentences of the paragraph that introduces the list or table *passage* is in; empty for running text."""
        if passage.kind not in _LISTED:
            return ()
        place = bisect_left(self._starts, self.block(passage)[0].start) - 1
        for _ in range(_REACH):
            if place < 0 or self.passages[place].section != passage.section:
                return ()
            found = self.passages[place]
            if found.kind is PassageKind.SENTENCE:
                return self.block(found)
            place = bisect_left(self._starts, self.block(found)[0].start) - 1
        return ()


def _nest(outline: Outline, text: str) -> list[tuple[str, ...]]:
    """Return for each heading the titles from the outermost to its own."""
    open_: list[tuple[int, str]] = []
    nested: list[tuple[str, ...]] = []
    for heading in outline.headings:
        depth = _read_depth(heading.title, text, heading.start)
        if depth is None:
            nested.append((heading.title,))
            continue
        while open_ and open_[-1][0] >= depth:
            open_.pop()
        open_.append((depth, heading.title))
        nested.append(tuple(title for _, title in open_))
    return nested


def _read_depth(title: str, text: str, start: int) -> int | None:
    """Return how deep a heading lies, from 1: by its number, else by its hash marks; None where it shows neither.

    Bookmarks give titles without the numbers that stand in the text.
    """
    numbered = _NUMBER.match(title + " ") or _NUMBER.match(text[start : start + 40])
    if numbered:
        return numbered[1].count(".") + 1
    marks = re.search(r"#{1,6}(?=\s)", text[max(0, start - 8) : start + 8])
    return len(marks[0]) if marks else None
