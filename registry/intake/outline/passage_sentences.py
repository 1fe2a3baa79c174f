"""The sentences of a passage, and the text as a person reads it, with the way back to the card."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from operator import itemgetter

from registry.intake import text_normalisation as rules
from registry.intake.text_normalisation import Edit, EditLayer, apply_edits
from registry.records.system_card import CardText, MediaType

# Ends of sentences.
#
# Own rules and no library: a card's sentences end before names such as "gpt-5.2-codex" and after "Claude Haiku 4.5",
# have footnote marks glued to their stops, and are needed as places in the text and not as strings.

_STOP = re.compile(
    r"(?P<stop>[.!?\u2026]{1,8})(?P<closing>[\"'\u201d\u2019)\]*_]{0,4})(?P<mark>(?:\^?(?<=[^\d\s][.!?%)\"\u201d\u2019^])\d{1,2})?)\s+(?=\S)"
)
_LAST_WORD = re.compile(r"[^\s(\[\"'\u201c\u2018]{1,40}$")

_NEVER_LAST = frozenset(
    [
        "e.g",
        "i.e",
        "cf",
        "vs",
        "viz",
        "fig",
        "figs",
        "eq",
        "eqs",
        "sec",
        "secs",
        "ref",
        "refs",
        "vol",
        "ch",
        "app",
        "pp",
        "ed",
        "eds",
        "dr",
        "mr",
        "mrs",
        "ms",
        "prof",
        "st",
        "approx",
        "ca",
        "resp",
        "incl",
        "excl",
        "dept",
        "est",
        "avg",
        "max",
        "min",
        "std",
    ]
)
"""Abbreviations after which the sentence goes on."""
_BEFORE_NUMBER = frozenset(
    ["no", "nos", "p", "tab", "art", "v", "ver", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec"]
)
"""Abbreviations if a number follows; words that may end a sentence otherwise."""
_SOMETIMES_LAST = frozenset(
    ["etc", "al", "inc", "ltd", "corp", "co", "u.s", "u.k", "e.u", "u.n", "a.m", "p.m", "ph.d", "m.sc", "b.sc", "d.c"]
)
"""Abbreviations that may end a sentence: they do where the next word is one that sentences begin with."""
_OPENERS = frozenset(
    [
        "the",
        "a",
        "an",
        "this",
        "that",
        "these",
        "those",
        "we",
        "our",
        "it",
        "its",
        "in",
        "on",
        "at",
        "as",
        "for",
        "to",
        "from",
        "by",
        "with",
        "if",
        "when",
        "while",
        "although",
        "though",
        "however",
        "but",
        "and",
        "or",
        "so",
        "all",
        "both",
        "each",
        "every",
        "no",
        "none",
        "some",
        "most",
        "many",
        "several",
        "such",
        "there",
        "here",
        "they",
        "their",
        "he",
        "she",
        "his",
        "her",
        "you",
        "your",
        "i",
        "one",
        "two",
        "three",
        "after",
        "before",
        "because",
        "since",
        "under",
        "over",
        "among",
        "across",
        "during",
        "overall",
        "finally",
        "first",
        "second",
        "third",
        "also",
        "further",
        "moreover",
        "see",
        "note",
        "results",
        "table",
        "figure",
        "section",
        "another",
        "other",
        "compared",
        "using",
        "given",
    ]
)
"""Words that sentences begin with."""
_LABELLED = re.compile(
    r"(?:appendix|figure|table|section|plan|option|condition|class|group|level|type|part|step|phase|tier|arm|model)\s$", re.IGNORECASE
)
"""Before a single capital, these say that it is a name and the stop an end: "see Appendix A. We …"."""
_NAME_IN_SMALL = re.compile(r"[a-z][\w-]*\d|[a-z]+[.@_][a-z0-9]")
"""Names written small that may begin a sentence: gpt-5.2, o3, llama.cpp."""
_ENUMERATOR = re.compile(r"^\W{0,3}(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})[.)]{1,2}$")
_INITIAL = re.compile(r"[A-Z]\.")
_PAIRS = {"(": ")", "\u201c": "\u201d"}
_LONGEST_INSERTION = 500
"""Characters between parentheses or quotation marks that are kept together."""


def split_sentences(text: str) -> list[tuple[int, int]]:
    """Return where each sentence of *text* begins and ends; together they are the whole of it but for the spaces between.

    *text* is one paragraph with its white space folded. What is in parentheses or in directed quotation marks is not split.
    """
    insertions = _find_insertions(text)
    spans: list[tuple[int, int]] = []
    start = at = 0
    for match in _STOP.finditer(text):
        while at < len(insertions) and insertions[at][1] <= match.start():
            at += 1
        # A quotation or parenthesis may hold whole sentences; cut out of it, they would lose who says them.
        is_inside = at < len(insertions) and insertions[at][0] < match.start() and match.end("closing") < insertions[at][1]
        if not is_inside and _is_end(text, start, match):
            spans.append((start, match.end("mark")))
            start = match.end()
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans


def _find_insertions(text: str) -> list[tuple[int, int]]:
    """The outermost parentheses and quotations that close within reach, as (opening, one past the closing)."""
    spans: list[tuple[int, int]] = []
    open_at: list[tuple[int, str]] = []
    for match in re.finditer(r"[()\u201c\u201d]", text):
        sign, at = match[0], match.start()
        if sign in _PAIRS:
            open_at.append((at, _PAIRS[sign]))
        elif open_at and open_at[-1][1] == sign:
            opening = open_at.pop()[0]
            # A bracket that is never closed must not hold the rest of the paragraph together.
            if at - opening <= _LONGEST_INSERTION:
                while spans and spans[-1][0] > opening:
                    spans.pop()
                spans.append((opening, at + 1))
    return spans


def _is_end(text: str, start: int, match: re.Match[str]) -> bool:
    rest = text[match.end() : match.end() + 40].lstrip("\"'\u201c\u2018([*_")
    before = text[max(start, match.start() - 60) : match.start()]
    word = _LAST_WORD.search(before)
    last = word[0] if word else ""
    # "1." or "(a)." numbers the sentence and does not end one.
    if _ENUMERATOR.match(text[start : match.end("stop")]) and match["stop"] == ".":
        return False
    if not rest or (rest[0].islower() and not _NAME_IN_SMALL.match(rest)):
        return False
    return match["stop"] != "." or _ends_after(last, before, rest)


def _ends_after(last: str, before: str, rest: str) -> bool:
    """Whether the stop after the word *last* ends the sentence that *rest* would follow."""
    name = last.lower().strip("*_")
    if name in _NEVER_LAST:
        return False
    if name in _BEFORE_NUMBER:
        return not rest[0].isdigit()
    next_word = "" if _INITIAL.match(rest) else re.split(r"[^\w'\u2019-]", rest, maxsplit=1)[0]
    if name in _SOMETIMES_LAST:
        return next_word.lower() in _OPENERS
    # A single capital may be an initial ("J. Smith"), a label ("Appendix A.") or the end of a sentence. The next word
    # decides.
    if len(last) == 1 and last.isupper():
        return next_word.lower() in _OPENERS or _LABELLED.search(before[:-1]) is not None
    return True


# A piece of a card as a person reads it, with the way back from every character to the card's text.
#
# White space is folded, markup dropped, entities and ligatures opened, hyphens at line ends closed, letter-spaced text
# closed up, and footnote marks removed where they can be nothing else. Quotation marks, dashes and figures stay as they
# are, since a claim quotes them.

_LIGATURE = re.compile(r"[\ufb00-\ufb06\u0132\u0133\ufb13-\ufb17\uff01-\uff5e]")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufffe]+")
_HYPHENS = re.compile(r"[\u2010\u2011]")
_REFERENCE = re.compile(r"\[(?P<text>[^\[\]\n]{1,300})\]\[[^\[\]\n]{0,200}\]")
_SPACE = re.compile(r"\s{2,}|[^\S ]")
_LINE_END = re.compile(r"(?<=\w)(?P<hyphen>[-\u2010\u00ad])(?P<gap>\s+)(?=\w)|(?<=\S)(?P<dash>[\u2013\u2014])[ \t]*[\n\r\f]\s*(?=\S)")
_LEFT = re.compile(r"[\w-]{1,60}$")
_RIGHT = re.compile(r"[\w-]{1,60}")
_NOTHING_TO_DO = re.compile(r"[^ -~]|^ | $|  |[*_`<&\\\[\]~|^#>]|[A-Za-z.,;:!?%)\"']\d|- |\b\S \S \S ")
"""Absent from text that reads as it is written."""
_SPACED_RUN = re.compile(r"(?<!\S)(?:\S\s{1,4}){5,}\S(?!\S)")
_WORD = re.compile(r"[^\W\d_][\w-]*[^\W_]")
_NOT_ABBREVIATED = (
    r"(?<!\bfig\.)(?<!\bno\.)(?<!\bnos\.)(?<!\beq\.)(?<!\bsec\.)(?<!\bvol\.)(?<!\bch\.)(?<!\btab\.)(?<!\bp\.)(?<!\bpp\.)(?<!\bv\.)"
)
_MARK = re.compile(
    rf"""
      (?P<note>\[\^[^\]\s]{{1,40}}\])
    | (?P<tag>(?<=[A-Za-z.,;:!?%)"'\u201d\u2019])<sup>\s*(?:\[\^[^\]\s]{{1,40}}\]|\d{{1,3}}|[*\u2020\u2021\u00a7])\s*</sup>)
    | (?P<raised_note><sup>\s*\[\^[^\]\s]{{1,40}}\]\s*</sup>)
    | (?P<raised>(?<=[.,;:!?%)"'\u201d\u2019])[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]{{1,3}}|(?<=\w)[\u2020\u2021]{{1,3}})
    | (?P<reference>(?<=[a-z]{{2}})\x20?\[\d{{1,3}}\])
    | (?P<own>(?<=\S)[ \t]*\n[ \t]*(?P<alone>\d{{1,2}})[ \t]*\n[ \t]*(?=\S))
    | (?P<begins>(?<=[A-Za-z.,;:!?%)"'\u201d\u2019])[ \t]*\n[ \t]*(?P<first>\d{{1,2}})(?=[ ][A-Za-z(\u201c]))
    | (?:(?<=%)|(?<=[^\d\s][.!?])|(?<=[.!?%)]["')\u201d\u2019])|(?<=[\u201d\u2019])(?<!(?-i:[A-Z]{{2}})\u2019))
      {_NOT_ABBREVIATED}(?P<stop>\d{{1,2}})(?!\w|[.,:]\d|%|/)
    | (?<=[A-Za-z),;:])(?P<word>\d{{1,2}})(?!\w|[.,:/-]\d|%|[-/\u2013]\w)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_HARD_PARTS = frozenset(
    [
        "self",
        "non",
        "high",
        "low",
        "long",
        "short",
        "well",
        "end",
        "open",
        "closed",
        "multi",
        "pre",
        "post",
        "cross",
        "in",
        "out",
        "on",
        "off",
        "re",
        "co",
        "anti",
        "semi",
        "state",
        "single",
        "pair",
    ]
)
"""What compounds begin with; broken after it, the hyphen belongs to the word."""


@dataclass(frozen=True, slots=True)
class ReadablePassage:
    """A piece of a card, readable."""

    words: str
    layers: tuple[EditLayer, ...]
    pieces: tuple[tuple[int, int, int], ...]
    """Where the pieces it was made of stand: in what was joined, in the card's text, and how long each is."""

    def map_span(self, start: int, stop: int) -> tuple[int, int]:
        """Return the span of the card's text from which the span *start* to *stop* of `words` was made."""
        for layer in reversed(self.layers):
            start, stop = layer.map_span(start, stop)
        return self._to_card(start), self._to_card(stop - 1) + 1

    def find(self, position: int) -> int:
        """Return the first character of `words` that was made of what is at or after *position* in the card."""
        low, high = 0, len(self.words)
        while low < high:
            middle = (low + high) // 2
            if self.map_span(middle, middle + 1)[1] > position:
                high = middle
            else:
                low = middle + 1
        return low

    def _to_card(self, position: int) -> int:
        at, start, length = self.pieces[bisect_right(self.pieces, position, key=itemgetter(0)) - 1]
        return start + min(position - at, length - 1)


class PassageReader:
    """Reads pieces of one card; what its words are decides which hyphens at line ends belong to them."""

    def __init__(self, card: CardText) -> None:
        self._text = card.text
        # A saved page may keep the marks of Markdown: only from them a plain text has headings.
        self._has_markup = card.media_type is MediaType.MARKDOWN or (card.media_type is MediaType.PLAIN and bool(card.headings))
        self._is_printed = card.media_type in (MediaType.PDF, MediaType.PLAIN)
        self._is_ascii = card.text.isascii()
        self._vocabulary: set[str] | None = None

    def read(self, pieces: Iterable[tuple[int, int]], *, marks: frozenset[int] = frozenset()) -> ReadablePassage:
        """Return what the *pieces* (start, stop) of the card say together, with their way back.

        Args:
            marks: numbers of the footnotes that are on the same page; only these are taken for marks after a bare word.
        """
        joined, at, kept = "", 0, []
        parts = []
        for start, stop in pieces:
            parts.append(self._text[start:stop])
            kept.append((at, start, max(1, stop - start)))
            at += stop - start + 1
        joined = "\n".join(parts)
        # Most passages need no edit, and one search is far cheaper than seven steps.
        if _NOTHING_TO_DO.search(joined) is None:
            return ReadablePassage(joined, (), tuple(kept))
        layers: list[EditLayer] = []
        for find_edits in self._steps(marks):
            joined, layer = apply_edits(joined, find_edits(joined))
            if layer.new_starts:
                layers.append(layer)
        words, layer = apply_edits(joined, _find_margins(joined))
        return ReadablePassage(words, (*layers, layer) if layer.new_starts else tuple(layers), tuple(kept))

    def read_words(self, start: int, stop: int) -> str:
        """Return what the card says from *start* to *stop*."""
        return self.read([(start, stop)]).words

    def read_cell(self, start: int, stop: int) -> str:
        """Return what a cell of a table says; a sign that would begin a heading or list item on a line of its own is itself there."""
        text = self._text[start:stop].strip()
        start = self._text.index(text, start) if text else start
        sign = text[:1] if self._has_markup and text[:2] in ("# ", "- ", "+ ", "> ") else ""
        words = self.read_words(start, start + len(text))
        return f"{sign} {words}" if sign else words

    def _steps(self, marks: frozenset[int]) -> Iterable[Callable[[str], Iterable[Edit]]]:
        yield lambda text: self._find_marks(text, marks)
        if self._has_markup:
            yield _find_references
            yield _find_markup
        if self._is_printed:
            yield self._find_hyphens
        if not self._is_ascii:
            yield _find_ligatures
            yield lambda text: ((match.start(), match.end(), "") for match in _INVISIBLE.finditer(text))
            yield lambda text: ((match.start(), match.end(), "-") for match in _HYPHENS.finditer(text))
        yield _find_letter_spacing
        yield lambda text: ((match.start(), match.end(), " ") for match in _SPACE.finditer(text))

    def _find_marks(self, text: str, marks: frozenset[int]) -> Iterable[Edit]:
        if not self._is_printed and "^" not in text and "<sup" not in text and self._is_ascii:
            return
        for match in _MARK.finditer(text):
            edit = self._judge_mark(match, marks)
            if edit is not None:
                yield edit

    def _judge_mark(self, match: re.Match[str], marks: frozenset[int]) -> Edit | None:
        match match.lastgroup:
            case "note" | "raised_note" | "tag" | "raised" | "reference":
                return match.start(), match.end(), ""
            case "own" | "begins" if self._is_printed:
                number = int(match["alone"] or match["first"])
                return (match.start(), match.end(), "" if match["alone"] and _hangs(match) else " ") if number in marks else None
            case "stop" if self._is_printed:
                # Without footnotes found on the page, small numbers after a stop are still taken for marks; larger ones
                # may be figures.
                is_known = int(match["stop"]) in marks or (not marks and 0 < int(match["stop"]) < 60)
                return (match.start(), match.end(), "") if is_known else None
            case "word" if self._is_printed:
                return (match.start(), match.end(), "") if int(match["word"]) in marks else None
            case _:
                return None

    def _find_hyphens(self, text: str) -> Iterable[Edit]:
        if "-" not in text and text.isascii():
            return
        for match in _LINE_END.finditer(text):
            if match["dash"]:
                yield match.start(), match.end(), match["dash"]
            elif (kept := self._close(text, match)) is not None:
                yield match.start(), match.end(), kept

    def _close(self, text: str, match: re.Match[str]) -> str | None:
        """What remains of a hyphen and the white space after it; None where both stay."""
        left, right = _LEFT.search(text[max(0, match.start() - 60) : match.start()]), _RIGHT.match(text, match.end())
        if left is None or right is None:
            return None
        head, tail = left[0].lower(), right[0].lower()
        is_line_end = "\n" in match["gap"] or "\f" in match["gap"]
        if not is_line_end:
            return "" if f"{head}{tail}" in self._words() else None
        if match["hyphen"] == "\u00ad":
            return ""
        # Before a capital or a digit, the hyphen is a part of a name such as "GPT-4".
        if not right[0][0].islower() or not head[-1].isalpha():
            return "-"
        return "-" if self._is_compound(head, tail) else ""

    def _is_compound(self, head: str, tail: str) -> bool:
        words, first, last = self._words(), tail.split("-", maxsplit=1)[0], head.rsplit("-", maxsplit=1)[-1]
        # The card's own vocabulary decides whether a hyphen belongs to the word or to the line.
        if f"{head}{tail}" in words or f"{last}{first}" in words:
            return False
        return f"{head}-{tail}" in words or f"{last}-{first}" in words or last in _HARD_PARTS or (last in words and first in words)

    def _words(self) -> set[str]:
        if self._vocabulary is None:
            self._vocabulary = {match[0].lower() for match in _WORD.finditer(self._text)}
        return self._vocabulary


def _hangs(match: re.Match[str]) -> bool:
    """Whether what follows a mark on a line of its own is set without a space before it: a stop, a comma, a bracket."""
    return match.string[match.end()] in ".,;:!?)]\u201d\u2019"


def _find_references(text: str) -> Iterable[Edit]:
    """The brackets and the name of links that are defined elsewhere: `[text][name]`; a pair of citation numbers is none."""
    for match in _REFERENCE.finditer(text):
        if not match["text"].isdigit():
            yield match.start(), match.start() + 1, ""
            yield match.end("text"), match.end(), ""


def _find_markup(text: str) -> Iterable[Edit]:
    for match in rules.MARKUP.finditer(text):
        kept = rules.drop_markup(match)
        if match.lastgroup == "cell" and text[match.start() - 1 : match.start()] == "\\":
            continue  # an escaped bar is one to read
        if match.lastgroup == "tag" and kept == "^" and not match.string[match.start() - 1 : match.start()].isdigit():
            kept = ""  # a raised character after a letter is no power
        yield match.start(), match.end(), kept


def _find_ligatures(text: str) -> Iterable[Edit]:
    return ((match.start(), match.end(), unicodedata.normalize("NFKC", match[0])) for match in _LIGATURE.finditer(text))


def _find_letter_spacing(text: str) -> Iterable[Edit]:
    for run in _SPACED_RUN.finditer(text):
        gaps = list(re.finditer(r"\s+", run[0]))
        if 2 * sum(character.isalpha() for character in run[0]) <= len(gaps):
            continue
        for gap in gaps:
            before, after = text[run.start() + gap.start() - 1], text[run.start() + gap.end()]
            # In letter-spaced text one space separates letters and two separate words.
            kept = " " if len(gap[0]) > 1 or (before.isdigit() and after.isdigit()) else ""
            yield run.start() + gap.start(), run.start() + gap.end(), kept


def _find_margins(text: str) -> Iterable[Edit]:
    left, right = len(text) - len(text.lstrip()), len(text.rstrip())
    if left:
        yield 0, left, ""
    if left < right < len(text):
        yield right, len(text), ""
