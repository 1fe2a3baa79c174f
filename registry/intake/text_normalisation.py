"""The declared normalisations N1 to N6, and texts under them with the way back to the original."""

import html
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from registry.records.system_card import MatchLevel

# The declared normalisations N1 to N6, as patterns and replacements.
#
# U+FDD0 to U+FDEF are Unicode noncharacters, reserved for use inside programs. Here they stand for characters that a
# reader may write or leave out. In a foreign text they are replaced first, so no text can imitate them.

SOFT_HYPHEN = "\ufdd0"
"""A hyphen at a line end: it may belong to the word or to the line."""
FREE_MARK = "\ufdd2"
"""A footnote mark that can be nothing else."""
SOFT_SPACE = "\ufdd6"
"""White space inside a letter-spaced run."""
MARK_DIGITS = "\ufde0\ufde1\ufde2\ufde3\ufde4\ufde5\ufde6\ufde7\ufde8\ufde9"
"""Digits glued to a word or a full stop: a footnote mark, most likely."""

# N1 -------------------------------------------------------------------------------------------------------------------
# White space.
WHITE_SPACE = re.compile(r"[ \t\n\r\f\v]{2,}|[\t\n\r\f\v]")

# N2 -------------------------------------------------------------------------------------------------------------------
# Shapes of the same character: quotation marks, dashes, spaces, ligatures, characters that do not show.
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d"
_SPACES = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\u0085"
ONE_TO_ONE = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2039\u203a\u00b4\u02bc\u2032\uff07", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033\u301d\u301e\uff02", '"'),
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_SPACES, " "),
        **dict.fromkeys("\u00d7\u2715\u2716\u2a2f", "x"),
    }
)
"""Characters that a reader writes by another one."""

CLUSTER = re.compile(
    # A letter with the accents that follow it, or a syllable of Hangul letters, composes to one character.
    r"[^\W_][\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f]+"
    r"|[\u1100-\u115f][\u1160-\u11a7][\u11a8-\u11ff]?|[^\x00-\x7f]"
)
INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufffe]+|(?<![-|:])-{2,3}(?![-|:])")
INVISIBLE_AS = {"--": "-", "---": "-"}
_KEPT_DECOMPOSITIONS = ("<super>", "<sub>", "<fraction>", "<circle>")
"""Opening these would change a number: 10² is not 102, and 2½ not 21/2."""
_KEPT = frozenset(map(chr, ONE_TO_ONE))


def open_compatible(match: re.Match[str]) -> str | None:
    """Return the characters in compatibility form (NFKC), None where that changes nothing or would change a number."""
    cluster = match[0]
    if cluster in _KEPT or unicodedata.decomposition(cluster[0]).startswith(_KEPT_DECOMPOSITIONS):
        return None
    opened = unicodedata.normalize("NFKC", cluster)
    return None if opened == cluster else opened


# N3 -------------------------------------------------------------------------------------------------------------------
# Hyphens at line ends.
LINE_END_HYPHEN = re.compile(
    r"(?<=\w)[-\u2010\u00ad]\s+(?=\w)"  # as in "evalua-\ntion", and in "evalua- tion" where the line end was folded
    r"|(?<=\S)[\u2013\u2014][ \t]*[\n\r\f]\s*(?=\S)"  # a dash set without spaces keeps none at a line end
)


def encode_hyphen(match: re.Match[str]) -> str:
    """Return a hyphen that may be omitted, or a hard one between digits, which no one hyphenates."""
    before, after = match.string[match.start() - 1], match.string[match.end() : match.end() + 1]
    is_hard = match[0][0] in "\u2013\u2014" or (before.isdigit() and after.isdigit())
    return "-" if is_hard else SOFT_HYPHEN


# N4 -------------------------------------------------------------------------------------------------------------------
# Markdown and HTML markup.
MARKUP = re.compile(
    r"""
      (?P<comment><!--(?:(?!-->|<!--)[\s\S]){0,2000}-->)
    | (?P<tag></?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]{0,2000})?/?>)
    | (?P<entity>&(?:[A-Za-z][A-Za-z0-9]{1,30}|\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6});)
    | (?P<escape>\\(?=[!-/:-@\[-`{-~]))
    | (?P<link>!?\[(?=[^\[\]\n]{0,500}\]\([^()\n]{0,2000}\)) | (?<=[^\s\[])\]\([^()\n]{0,2000}\))
    | (?P<line>^[ \t]{0,3}(?:\#{1,6}[ \t]+|>[ \t]?|[-*+\u2022\u25cf][ \t]+) | ^[ \t]{0,20}\|?[ \t]{0,20}:?-{3}[-|: \t\r]*$)
    | (?P<cell>\|)
    | (?P<code>`+)
    | (?P<strike>~~)
    | (?P<star>(?:(?<!\d)\*{1,3}(?=\S) | (?<=\S)\*{1,3}(?!\d)))
    | (?P<bar>(?:(?<!\w)_{1,3}(?=\S) | (?<=\S)_{1,3}(?!\w)))
    """,
    re.VERBOSE | re.MULTILINE,
)
_INLINE_TAGS = frozenset({"a", "abbr", "b", "code", "em", "font", "i", "mark", "s", "small", "span", "strong", "sub", "u"})


def drop_markup(match: re.Match[str]) -> str:
    """Return what remains of one piece of markup: nothing, a space, or the character it meant."""
    match match.lastgroup:
        case "entity":
            return html.unescape(match[0])
        case "comment" | "line" | "cell":
            return " "
        case "tag":
            name = match[0].strip("</> ").split()[0].rstrip("/").lower()
            if name == "sup":
                return "" if match[0].startswith("</") else "^"
            return "" if name in _INLINE_TAGS else " "
        case _:
            return ""


# N5 -------------------------------------------------------------------------------------------------------------------
# Footnote marks, page numbers and running heads.
FOOTNOTE_MARK = re.compile(
    r"""
      (?P<note>\[\^[^\]\s]{1,40}\])                                   # Markdown
    | (?P<tag>(?<=[A-Za-z.,;:!?%)"'\u201d\u2019])<sup>\s*(?:\d{1,3}|[*\u2020\u2021\u00a7])\s*</sup>)
    | (?P<bracket>\x20?\[\d{1,3}(?:[,\u2013-]\x20?\d{1,3}){0,20}\])       # [12], [3, 4]
    | (?P<raised>(?<=[A-Za-z.,;:!?%)"'\u201d\u2019])[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]{1,3}|(?<=\w)[\u2020\u2021]{1,3})
    | (?P<word>\b[a-z]{4,})(?P<digits>\d{1,2})(?!\w|[.,]\d|%)           # "model2", but not "F1" or "H100"
    | (?P<stop>(?:(?<=[^\d\s][.,;:])|(?<=[!?%)"'\u201d\u2019])))(?P<after>\d{1,2})(?!\w|[.,]\d|%)    # "model.1", "47%2"
    """,
    re.VERBOSE,
)
_TO_MARKS = str.maketrans("0123456789", MARK_DIGITS)


def encode_footnote_mark(match: re.Match[str]) -> str:
    """Return the match with the mark made optional."""
    if match["digits"] is not None:
        return match["word"] + match["digits"].translate(_TO_MARKS)
    if match["after"] is not None:
        return match["after"].translate(_TO_MARKS)
    return FREE_MARK


_PAGE_NUMBER = r"(?:(?:page\s+)?\d{1,4}(?:\s*(?:/|of)\s*\d{1,4})?|[-\u2013]\s?\d{1,4}\s?[-\u2013])"
_PAGE_BREAK = re.compile(
    rf"(?:\n[ \t]{{0,80}}{_PAGE_NUMBER}[ \t]{{0,80}})?\s{{0,80}}\f\s{{0,80}}(?:{_PAGE_NUMBER}[ \t]{{0,80}}(?=\r?\n))?", re.IGNORECASE
)
_DIGITS = re.compile(r"\d+")
_NUMBER_IN_SENTENCE = re.compile(r"(?<=[a-z,;])[ \t]*\r?\n\s*\d{1,4}[ \t]*\r?\n\s*(?=[a-z])")


def find_page_furniture(text: str) -> Iterable[tuple[int, int, str]]:
    """Return the edits that drop page breaks with the page numbers and running heads around them.

    Without page breaks, only a number by itself on a line in the midst of a sentence is taken for a page number.
    """
    if "\f" not in text:
        return [(match.start(), match.end(), " ") for match in _NUMBER_IN_SENTENCE.finditer(text)]
    spans = [match.span() for match in _PAGE_BREAK.finditer(text)] + _find_running_heads(text)
    return [(start, stop, " ") for start, stop in _merge(sorted(spans))]


def _merge(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, stop in spans:
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def _find_running_heads(text: str) -> list[tuple[int, int]]:
    """Lines at the edge of a page that stand, but for digits, at the same edge of three pages and of every fifth."""
    edges: list[tuple[str, int, int]] = []
    at = 0
    pages = text.split("\f")
    for page in pages:
        edges += _edge_lines(page, at)
        at += len(page) + 1
    # Three pages at least, and every fifth in a long card, so that two equal table heads are not taken for furniture.
    needed = max(3, len(pages) // 5)
    counts = Counter(key for key, _, _ in edges)
    return [(start, stop) for key, start, stop in edges if counts[key] >= needed]


def _edge_lines(page: str, at: int) -> list[tuple[str, int, int]]:
    """First two and last two lines of a page with something on them: edge and shape, start, stop."""
    lines: list[tuple[str, int, int]] = []
    for line in page.split("\n"):
        if line.strip():
            lines.append((line, at, at + len(line)))
        at += len(line) + 1
    inner = len(lines) > 4
    chosen = [("top", line) for line in lines[: 2 if inner else 0]] + [("foot", line) for line in (lines[-2:] if inner else [])]
    return [(f"{edge}:{_DIGITS.sub('#', line.strip())}", start, stop) for edge, (line, start, stop) in chosen]


# N6 -------------------------------------------------------------------------------------------------------------------
# Letter-spaced text.
_SPACED_RUN = re.compile(r"(?<!\S)(?:\S\s{1,3}){3,}\S(?!\S)")


def find_letter_spacing(text: str) -> Iterable[tuple[int, int, str]]:
    """Return the edits that make white space inside letter-spaced runs optional; never between two digits."""
    for run in _SPACED_RUN.finditer(text):
        if 2 * sum(character.isalpha() for character in run[0]) <= len(run[0].split()):
            continue
        for gap in re.finditer(r"\s+", run[0]):
            before, after = run[0][gap.start() - 1], run[0][gap.end()]
            if not (before.isdigit() and after.isdigit()):
                yield run.start() + gap.start(), run.start() + gap.end(), SOFT_SPACE


_HYPHENS_AND_MARKS = re.compile(rf"(?<=\w)-(?=\w)|[{SOFT_HYPHEN}{FREE_MARK}{MARK_DIGITS}]")
LIFTED_AT = {
    MatchLevel.N3: _HYPHENS_AND_MARKS,
    MatchLevel.N4: _HYPHENS_AND_MARKS,
    MatchLevel.N5: _HYPHENS_AND_MARKS,
    MatchLevel.N6: re.compile(rf"[- {SOFT_HYPHEN}{SOFT_SPACE}{FREE_MARK}{MARK_DIGITS}]"),
}
"""What is taken out of the string and compared place by place, by level."""
NOT_FOR_TEXTS = dict.fromkeys(range(0xFDD0, 0xFDF0), "\ufffd")
"""Noncharacters that come in with a text."""


# A text under a normalisation, with the way back from every character to the original.
#
# A form is made by layers of edits. Each layer remembers its edits, so a span of the form is mapped back layer by
# layer; the mapping is monotone. Characters that a reader may leave out are removed from the string, kept beside it as
# marks, and compared place by place.

Edit = tuple[int, int, str]
"""Start, stop and replacement, in characters of the text that is edited."""


@dataclass(frozen=True, slots=True)
class EditLayer:
    """The edits of one step, in order: where each stands in the new text, and where it stood in the old one."""

    new_starts: list[int] = field(default_factory=list)
    new_stops: list[int] = field(default_factory=list)
    old_starts: list[int] = field(default_factory=list)
    old_stops: list[int] = field(default_factory=list)

    def map_span(self, start: int, stop: int) -> tuple[int, int]:
        """Return the old span of the new, not empty, span from *start* to *stop*."""
        return self._map_character(start)[0], self._map_character(stop - 1)[1]

    def _map_character(self, position: int) -> tuple[int, int]:
        # A character inside a replacement maps to the whole span that was replaced.
        index = bisect_right(self.new_starts, position) - 1
        if index < 0:
            return position, position + 1
        if position < self.new_stops[index]:
            return self.old_starts[index], self.old_stops[index]
        old = position - self.new_stops[index] + self.old_stops[index]
        return old, old + 1


@dataclass(frozen=True, slots=True)
class NormalisedText:
    """One text under one normalisation."""

    text: str
    layers: tuple[EditLayer, ...]
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
        marks: dict[int, str] = {}
        for index in range(first, last):
            place = self.mark_positions[index] - start
            marks[place] = marks.get(place, "") + self.marks[index]
        return marks


def build_form(text: str, level: MatchLevel) -> NormalisedText:
    """Return *text* under all normalisations up to *level*, most structural first: folding white space comes last."""
    rank = int(level[1:])
    layers: list[EditLayer] = []
    for needed, step in _STEPS:
        if rank >= needed:
            text, layer = apply_edits(text, step(text))
            if layer.new_starts:
                layers.append(layer)
        # Single characters keep their places, so this step needs no layer. It comes after the hyphens, whose shapes it
        # would unify.
        if rank >= 2 and needed == 3:
            text = text.translate(ONE_TO_ONE)
    lifted = LIFTED_AT.get(level)
    if lifted is None:
        return NormalisedText(text, tuple(layers), [], [])
    edits = [(match.start(), match.end(), "") for match in lifted.finditer(text)]
    bare, layer = apply_edits(text, edits)
    marks = [text[start:stop] for start, stop, _ in edits]
    return NormalisedText(bare, (*layers, layer), list(layer.new_starts), marks)


def apply_edits(text: str, edits: Iterable[Edit]) -> tuple[str, EditLayer]:
    """Return *text* with *edits*, which are in order and do not overlap, and the way back."""
    layer = EditLayer()
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

    A hyphen or space in the line must be in both; a hyphen at a line end, a space inside letter-spaced text and a footnote
    mark may be missing in either. A digit that may be a footnote mark or a part of the word, if the quotation has it, must
    are in the text, and be the same.
    """
    return all(_is_same_mark(text_marks.get(place, ""), quote_marks.get(place, "")) for place in text_marks.keys() | quote_marks.keys())


def _is_same_mark(ours: str, theirs: str) -> bool:
    for hard, soft in (("-", SOFT_HYPHEN), (" ", SOFT_SPACE)):
        in_ours, in_theirs = hard in ours, hard in theirs
        if (in_ours and not in_theirs and soft not in theirs) or (in_theirs and not in_ours and soft not in ours):
            return False
    # Only the quotation's digits must be in the text: a reader who leaves a footnote mark out is right, one who adds a
    # digit is not.
    digits = _digits(theirs)
    return not digits or digits == _digits(ours)


def _digits(marks: str) -> str:
    return "".join(mark for mark in marks if mark in MARK_DIGITS)


def _by_pattern(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str | None]) -> Callable[[str], Iterable[Edit]]:
    def find_edits(text: str) -> Iterable[Edit]:
        for match in pattern.finditer(text):
            replacement = replace(match)
            if replacement is not None:
                yield match.start(), match.end(), replacement

    return find_edits


def _compatible_edits(text: str) -> Iterable[Edit]:
    return () if text.isascii() else _by_pattern(CLUSTER, open_compatible)(text)


_STEPS: tuple[tuple[int, Callable[[str], Iterable[Edit]]], ...] = (
    (5, find_page_furniture),
    (5, _by_pattern(FOOTNOTE_MARK, encode_footnote_mark)),
    (4, _by_pattern(MARKUP, drop_markup)),
    (3, _by_pattern(LINE_END_HYPHEN, encode_hyphen)),
    (2, _compatible_edits),
    (2, _by_pattern(INVISIBLE, lambda match: INVISIBLE_AS.get(match[0], ""))),
    (6, find_letter_spacing),
    (1, _by_pattern(WHITE_SPACE, lambda _: " ")),
)
"""At which level a step begins to apply, and the step; in the order of application, which is not the order of the levels:
what depends on lines (page furniture, hyphenation) must be seen before white space is folded."""
