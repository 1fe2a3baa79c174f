"""A text under a declared normalisation, with the way back from every character to the original.

A form is made by layers of edits. Each layer remembers where its edits lie, so a span of the form is carried back layer by
layer to the span of the original text it came from; the way back is monotone. What a reader may write or leave out (a
hyphen at a line end, a footnote mark) is lifted out of the string and kept beside it as marks, and compared place by place.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from registry.intake import rules
from registry.records.card import MatchLevel

Edit = tuple[int, int, str]
"""Start, stop and replacement, in characters of the text that is edited."""


@dataclass(frozen=True, slots=True)
class Layer:
    """The edits of one step, in order: where each stands in the new text, and where it stood in the old one."""

    new_starts: list[int] = field(default_factory=list)
    new_stops: list[int] = field(default_factory=list)
    old_starts: list[int] = field(default_factory=list)
    old_stops: list[int] = field(default_factory=list)

    def map_span(self, start: int, stop: int) -> tuple[int, int]:
        """Return the old span of the new, not empty, span from *start* to *stop*."""
        return self._map_character(start)[0], self._map_character(stop - 1)[1]

    def _map_character(self, position: int) -> tuple[int, int]:
        index = bisect_right(self.new_starts, position) - 1
        if index < 0:
            return position, position + 1
        if position < self.new_stops[index]:
            return self.old_starts[index], self.old_stops[index]
        old = position - self.new_stops[index] + self.old_stops[index]
        return old, old + 1


@dataclass(frozen=True, slots=True)
class Form:
    """One text under one normalisation."""

    text: str
    layers: tuple[Layer, ...]
    """First applied first."""
    mark_positions: list[int]
    """Before which character of `text` something was lifted out, ascending; a position may repeat."""
    marks: list[str]
    """What was lifted out there."""

    def map_span(self, start: int, stop: int) -> tuple[int, int]:
        """Return the span of the original text from which the span *start* to *stop* of `text` was made."""
        for layer in reversed(self.layers):
            start, stop = layer.map_span(start, stop)
        return start, stop

    def get_marks(self, start: int, stop: int) -> dict[int, str]:
        """Return what was lifted out strictly between *start* and *stop*, by its distance from *start*."""
        first, last = bisect_right(self.mark_positions, start), bisect_left(self.mark_positions, stop)
        found: dict[int, str] = {}
        for index in range(first, last):
            place = self.mark_positions[index] - start
            found[place] = found.get(place, "") + self.marks[index]
        return found


def build_form(text: str, level: MatchLevel) -> Form:
    """Return *text* under all normalisations up to *level*, most structural first: folding white space comes last."""
    rank = int(level[1:])
    layers: list[Layer] = []
    for needed, step in _STEPS:
        if rank >= needed:
            text, layer = apply_edits(text, step(text))
            if layer.new_starts:
                layers.append(layer)
        if rank >= 2 and needed == 3:
            text = text.translate(rules.ONE_TO_ONE)
    lifted = rules.LIFTED_AT.get(level)
    if lifted is None:
        return Form(text, tuple(layers), [], [])
    edits = [(found.start(), found.end(), "") for found in lifted.finditer(text)]
    bare, layer = apply_edits(text, edits)
    marks = [text[start:stop] for start, stop, _ in edits]
    return Form(bare, (*layers, layer), list(layer.new_starts), marks)


def apply_edits(text: str, edits: Iterable[Edit]) -> tuple[str, Layer]:
    """Return *text* with *edits*, which are in order and do not overlap, and the way back."""
    layer = Layer()
    pieces: list[str] = []
    at = length = 0
    for start, stop, replacement in edits:
        pieces += (text[at:start], replacement)
        length += start - at
        layer.new_starts.append(length)
        length += len(replacement)
        layer.new_stops.append(length)
        layer.old_starts.append(start)
        layer.old_stops.append(stop)
        at = stop
    if not layer.new_starts:
        return text, layer
    pieces.append(text[at:])
    return "".join(pieces), layer


def is_same_marking(text_marks: dict[int, str], quote_marks: dict[int, str]) -> bool:
    """Return whether what was lifted out of text and quotation agrees at every place.

    A hyphen or space in the line must stand in both; a hyphen at a line end, a space inside letter-spaced text and a footnote
    mark may be missing in either. A digit that may be a footnote mark or a part of the word, if the quotation has it, must
    stand in the text, and be the same.
    """
    return all(_is_same_mark(text_marks.get(place, ""), quote_marks.get(place, "")) for place in text_marks.keys() | quote_marks.keys())


def _is_same_mark(ours: str, theirs: str) -> bool:
    for hard, soft in (("-", rules.SOFT_HYPHEN), (" ", rules.SOFT_SPACE)):
        one, other = hard in ours, hard in theirs
        if (one and not other and soft not in theirs) or (other and not one and soft not in ours):
            return False
    digits = _digits(theirs)
    return not digits or digits == _digits(ours)


def _digits(marks: str) -> str:
    return "".join(mark for mark in marks if mark in rules.MARK_DIGITS)


def _by_pattern(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str | None]) -> Callable[[str], Iterable[Edit]]:
    def find_edits(text: str) -> Iterable[Edit]:
        for found in pattern.finditer(text):
            replacement = replace(found)
            if replacement is not None:
                yield found.start(), found.end(), replacement

    return find_edits


def _compatible_edits(text: str) -> Iterable[Edit]:
    return () if text.isascii() else _by_pattern(rules.CLUSTER, rules.open_compatible)(text)


_STEPS: tuple[tuple[int, Callable[[str], Iterable[Edit]]], ...] = (
    (5, rules.find_page_furniture),
    (5, _by_pattern(rules.FOOTNOTE_MARK, rules.encode_footnote_mark)),
    (4, _by_pattern(rules.MARKUP, rules.drop_markup)),
    (3, _by_pattern(rules.LINE_END_HYPHEN, rules.encode_hyphen)),
    (2, _compatible_edits),
    (2, _by_pattern(rules.INVISIBLE, lambda found: rules.INVISIBLE_AS.get(found[0], ""))),
    (6, rules.find_letter_spacing),
    (1, _by_pattern(rules.WHITE_SPACE, lambda _: " ")),
)
"""At which level a step begins to apply, and the step; in the order of application, which is not the order of the levels:
what depends on lines (page furniture, hyphenation) must be seen before white space is folded."""
