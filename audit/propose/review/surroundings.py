"""What stands around a proposal in its card, for a person who judges it."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from registry.intake.show import show_text
from registry.records.card import Anchor, CardText
from registry.records.passage import Outline, Passage, PassageKind

_NEARBY = 300
"""Characters shown before and after a passage."""
_NOT_READ = (PassageKind.FURNITURE, PassageKind.CONTENTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """A quote with its neighbours; all texts on one line, control and direction characters visible."""

    before: str
    """The passage before; empty where there is none."""
    lead: str
    """Of the quote's own passage, what stands before the quote; empty where it begins with it."""
    quote: str
    """Of a table row, as a person reads it; of everything else, as the card has it."""
    tail: str
    """Of the quote's own passage, what stands after it."""
    after: str
    caption: str | None = None
    """Of a table row, what is written above or below its table."""
    cells: tuple[tuple[str, str], ...] = ()
    """Of a table row: column and cell, from left to right; "" for a column without a head."""


class Neighbourhood:
    """A card's passages, made ready to find what stands around many quotes."""

    def __init__(self, card: CardText, outline: Outline) -> None:
        self._text = card.text
        self._passages = [one for one in outline.passages if one.kind not in _NOT_READ]
        self._starts = [one.start for one in self._passages]

    def find(self, anchor: Anchor) -> Surroundings:
        """Return what stands around the quote at *anchor*."""
        own = list(self._find_own(anchor))
        start, stop = (min(own[0][1].start, anchor.start), max(own[-1][1].stop, anchor.stop)) if own else (anchor.start, anchor.stop)
        first, last = (own[0][0], own[-1][0]) if own else self._place(anchor)
        row = next((one for _, one in own if one.kind is PassageKind.ROW), None)
        return Surroundings(
            before=self._show(first - 1, is_end=True),
            lead=_shorten_start(self._text[start : anchor.start]),
            quote=show_text(self._text[anchor.start : anchor.stop] if row is None else row.words, limit=2_000),
            tail=show_text(self._text[anchor.stop : stop], limit=_NEARBY),
            after=self._show(last + 1, is_end=False),
            caption=show_text(row.caption) if row is not None and row.caption else None,
            cells=tuple((show_text(one.column or ""), show_text(one.text)) for one in row.cells) if row is not None else (),
        )

    def _find_own(self, anchor: Anchor) -> Iterator[tuple[int, Passage]]:
        """Give the passages that the quote touches, with their places."""
        for place in range(max(0, bisect_right(self._starts, anchor.start) - 1), len(self._passages)):
            passage = self._passages[place]
            if passage.start >= anchor.stop:
                return
            if passage.stop > anchor.start:
                yield place, passage

    def _place(self, anchor: Anchor) -> tuple[int, int]:
        """Between which passages a quote stands that no passage holds; both are beside the neighbours to show."""
        place = bisect_right(self._starts, anchor.start)
        return place, place - 1

    def _show(self, place: int, *, is_end: bool) -> str:
        if not 0 <= place < len(self._passages):
            return ""
        words = self._passages[place].words
        return _shorten_start(words) if is_end else show_text(words, limit=_NEARBY)


def _shorten_start(text: str) -> str:
    """Keep the end: what stands right before a quote matters most."""
    folded = " ".join(text[-20 * _NEARBY :].split())
    return show_text(folded if len(folded) <= _NEARBY else f"…{folded[-_NEARBY + 1 :]}", limit=2 * _NEARBY)
