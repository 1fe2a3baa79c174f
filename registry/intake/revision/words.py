"""A card's text as words, without its layout: what two revisions are compared by.

Line breaks, hyphenation, markup, page furniture, footnote marks and letter-spacing are taken away as `registry.intake.rules`
declares them for N1 to N6, with two differences. Digits glued to a word stay, because "llama3" is no footnote; and a bracketed
number is a footnote mark only where a line of the text begins with it, because "[44, 71]" may be an interval.
"""

import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

from registry.intake import rules
from registry.intake.forms import Edit, Layer, apply_edits
from registry.records.passage import Passage

_MARK = re.compile(
    r"""
      (?P<note>\[\^[^\]\s]{1,40}\]:?)                                             # Markdown
    | (?P<tag>(?<=[A-Za-z.,;:!?%)"'\u201d\u2019])<sup>\s{0,9}(?:\d{1,3}|[*\u2020\u2021\u00a7])\s{0,9}</sup>)
    | \x20?\[(?P<bracket>\d{1,3}(?:[,\u2013-]\x20?\d{1,3}){0,20})\]               # [12], [3, 4], if a line begins with each
    | (?P<raised>(?:(?<=[A-Za-z]{4})|(?<=[.,;:!?%)"'\u201d\u2019]))[\u00b9\u00b2\u00b3\u2070\u2074-\u2079]{1,3}|(?<=\w)[\u2020\u2021]{1,3})
    | (?:(?<=[a-z]{4}[.!?])|(?<=[%)"'\u201d\u2019][.!?]))(?P<after>\d{1,2})(?=\s|$)   # "cases.12", but not "v.3" or "score:85"
    """,
    re.VERBOSE,
)
_IMAGE = re.compile(r"!\[\]\([^()\n]{0,2000}\)")
_LISTED = re.compile(r"^[ \t]{0,8}\[(\d{1,3})\]", re.MULTILINE)
_RUN = 5
"""Words of a run by which two texts are known as one card; shared by chance too rarely to count."""
_FEWEST_RUNS = 50
_SAMPLED = 2_000_000
"""Characters up to which every run of a text counts; of longer ones as many, so that memory stays flat."""
_LIGHT = rules.SOFT_HYPHEN + rules.SOFT_SPACE

_WORD = re.compile(
    rf"(?:(?<![\w)\]%])-(?=\.?\d))?(?:\.(?=\d))?[^\W_]+"  # a sign and a leading point belong to the number
    rf"(?:(?:['{_LIGHT}_]|\.(?=\d)|(?<=\d),(?=\d{{3}}(?!\d))|(?<=\d)[:/](?=\d))[^\W_]+)*"
    r"|[%<>=~\u00b1\u2264\u2265\u2248$\u20ac\u00a3\u00b0\u00a7+^?&]"
)
"""Words, numbers, names with digits in them, and the signs that change a figure's meaning."""


@dataclass(frozen=True, slots=True)
class Words:
    """The words of one text, in order, and the way back to its characters."""

    words: list[str]
    starts: list[int]
    """In the text without layout, as `stops`."""
    stops: list[int]
    text: str
    """Without layout."""
    layers: tuple[Layer, ...]

    def map_span(self, first: int, stop: int) -> tuple[int, int]:
        """Return the characters of the original text from word *first* to the end of the word before *stop*."""
        start, end = self.starts[first], self.stops[stop - 1]
        for layer in reversed(self.layers):
            start, end = layer.map_span(start, end)
        return start, end

    def find_words(self, start: int, stop: int) -> tuple[int, int]:
        """Return the first word that ends after character *start* of the original text, and one past the last that begins before *stop*."""
        places = range(len(self.words))
        first = bisect_right(places, start, key=lambda at: self.map_span(at, at + 1)[1])
        return first, max(first, bisect_left(places, stop, key=lambda at: self.map_span(at, at + 1)[0]))

    def cut(self, passages: Iterable[Passage]) -> list[tuple[int, int]]:
        """Return the runs of words into which *passages* cut the text; what stands between two belongs to the one before."""
        bounds = {0, len(self.words)}
        low = 0
        for passage in passages:
            low = self._find_from(low, passage.start)
            bounds.add(low)
        return list(pairwise(sorted(bounds)))

    def _find_from(self, low: int, position: int) -> int:
        """Return the first word from *low* on that ends after character *position*; quick where it is near."""
        step = 16
        while low + step < len(self.words) and self.map_span(low + step, low + step + 1)[1] <= position:
            low, step = low + step, 2 * step
        places = range(min(low + step + 1, len(self.words)))
        return bisect_right(places, position, lo=low, key=lambda at: self.map_span(at, at + 1)[1])


def read_words(old: str, new: str) -> tuple[Words, Words]:
    """Return the words of both texts.

    They are read together, because only the other use of a word tells whether "red-" at a line end and "teaming" below it are one
    word or two.
    """
    bare = [_take_layout(text.translate(rules.NOT_FOR_TEXTS)) for text in (old, new)]
    found = [[(match[0], match.start(), match.end()) for match in _WORD.finditer(text)] for text, _ in bare]
    known = {word.casefold() for words in found for word, _, _ in words}
    pairs = {pair for (text, _), words in zip(bare, found, strict=True) for pair in _hyphenated(text, words)}
    first, second = (_build(text, layers, _settle_hyphens(words, known, pairs)) for (text, layers), words in zip(bare, found, strict=True))
    return first, second


def measure_common(old: str, new: str) -> float | None:
    """Return the share, 0 to 1, of the runs of five words of the shorter text that stand in the other too; None for texts of a few lines.

    Two revisions of a card have nearly all in common, two cards hardly any, whatever their layout (Broder's containment, 1997, of a
    sample of the runs).
    """
    every = 1 + max(len(old), len(new)) // _SAMPLED
    ours, theirs = (_sample_runs(text, every) for text in (old, new))
    fewest = min(len(ours), len(theirs))
    return len(ours & theirs) / fewest if fewest >= _FEWEST_RUNS else None


def _sample_runs(text: str, every: int) -> set[int]:
    """Return the checksums of the text's runs of words, of long texts only those that *every* divides, the same ones in any text."""
    last: deque[str] = deque(maxlen=_RUN)
    found = set()
    for word in re.finditer(r"\w+", text):
        last.append(word[0].casefold())
        number = crc32(" ".join(last).encode("utf-8", "surrogatepass"))
        if len(last) == _RUN and number % every == 0:
            found.add(number)
    return found


def _build(text: str, layers: tuple[Layer, ...], found: Iterable[tuple[str, int, int]]) -> Words:
    listed = list(found)
    return Words([word for word, _, _ in listed], [start for _, start, _ in listed], [stop for _, _, stop in listed], text, layers)


def _take_layout(text: str) -> tuple[str, tuple[Layer, ...]]:
    layers: list[Layer] = []
    for step in (  # what depends on lines (page furniture, hyphenation) comes before what changes them
        rules.find_page_furniture,
        _find_images,
        _find_marks,
        _find_markup,
        _find_line_ends,
        _find_forms,
        rules.find_letter_spacing,
    ):
        text, layer = apply_edits(text, step(text))
        if layer.new_starts:
            layers.append(layer)
    return text.translate(rules.ONE_TO_ONE), tuple(layers)


def _find_images(text: str) -> Iterator[Edit]:
    """Yield the edits that drop images without words; their files are numbered by page."""
    return ((found.start(), found.end(), "") for found in _IMAGE.finditer(text))


def _find_marks(text: str) -> Iterator[Edit]:
    listed = set(_LISTED.findall(text))
    for found in _MARK.finditer(text):
        if found["bracket"] is None or all(number in listed for number in re.findall(r"\d+", found["bracket"])):
            yield found.start(), found.end(), " " if found["note"] else ""


def _find_markup(text: str) -> Iterator[Edit]:
    return ((found.start(), found.end(), rules.drop_markup(found)) for found in rules.MARKUP.finditer(text))


def _find_line_ends(text: str) -> Iterator[Edit]:
    for found in rules.LINE_END_HYPHEN.finditer(text):
        yield found.start(), found.end(), rules.encode_hyphen(found)


def _find_forms(text: str) -> Iterator[Edit]:
    """Yield the edits that open ligatures and compatibility forms and drop what is not seen."""
    edits = [
        (found.start(), found.end(), opened)
        for found in (() if text.isascii() else rules.CLUSTER.finditer(text))
        if (opened := rules.open_compatible(found)) is not None
    ]
    edits += [(found.start(), found.end(), rules.INVISIBLE_AS.get(found[0], "")) for found in rules.INVISIBLE.finditer(text)]
    last = 0
    for start, stop, replacement in sorted(edits):
        if start >= last:
            yield start, stop, replacement
            last = stop


def _hyphenated(text: str, words: list[tuple[str, int, int]]) -> Iterator[tuple[str, str]]:
    """Yield the pairs of words that a hyphen joins within a line."""
    for (left, _, stop), (right, start, _) in pairwise(words):
        if start == stop + 1 and text[stop] == "-":
            yield left.casefold(), right.casefold()


def _settle_hyphens(words: list[tuple[str, int, int]], known: set[str], pairs: set[tuple[str, str]]) -> Iterator[tuple[str, int, int]]:
    """Yield *words* with each hyphen at a line end taken as part of the line, or of the word if the word is written so elsewhere."""
    for word, start, stop in words:
        left, mark, right = word.partition(rules.SOFT_HYPHEN)
        joined = word.replace(rules.SOFT_HYPHEN, "")
        if not mark:
            yield word, start, stop
        elif joined.casefold() not in known and (left.casefold(), right.casefold()) in pairs:
            yield left, start, start + len(left)
            yield right, start + len(left) + 1, stop
        else:
            yield joined, start, stop
