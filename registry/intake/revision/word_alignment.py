"""Two revisions of a card aligned: their words, the spelling of words, and their sections."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise
from zlib import crc32

from rapidfuzz.distance import OSA, Indel, LCSseq

from registry.intake import text_normalisation as rules
from registry.intake.text_normalisation import SOFT_SPACE, Edit, EditLayer, apply_edits
from registry.records.system_card import Heading, Passage

# A card's text as words, without its layout. Two revisions are compared by these.
#
# Line breaks, hyphenation, markup, page furniture, footnote marks and letter-spacing are removed as
# `registry.intake.text_normalisation` declares them for N1 to N6, with two differences. Digits glued to a word stay,
# because "llama3" is no footnote. A bracketed number is a footnote mark only where a line of the text begins with it,
# because "[44, 71]" may be an interval.

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
    layers: tuple[EditLayer, ...]

    def map_span(self, first: int, stop: int) -> tuple[int, int]:
        """Return the characters of the original text from word *first* to the end of the word before *stop*."""
        start, end = self.starts[first], self.stops[stop - 1]
        # The way back goes through the layers in reverse order of their application.
        for layer in reversed(self.layers):
            start, end = layer.map_span(start, end)
        return start, end

    def find_words(self, start: int, stop: int) -> tuple[int, int]:
        """Return the first word that ends after character *start* of the original text, and one past the last that begins before *stop*."""
        places = range(len(self.words))
        first = bisect_right(places, start, key=lambda at: self.map_span(at, at + 1)[1])
        return first, max(first, bisect_left(places, stop, key=lambda at: self.map_span(at, at + 1)[0]))

    def cut(self, passages: Iterable[Passage]) -> list[tuple[int, int]]:
        """Return the runs of words into which *passages* cut the text; what is between two belongs to the one before."""
        bounds = {0, len(self.words)}
        low = 0
        for passage in passages:
            # Passages come in order, so each search begins where the last one ended.
            low = self._find_from(low, passage.start)
            bounds.add(low)
        return list(pairwise(sorted(bounds)))

    def _find_from(self, low: int, position: int) -> int:
        """Return the first word from *low* on that ends after character *position*; quick where it is near."""
        step = 16
        # Doubling steps, then bisection: the next passage is usually near, and a card may have a hundred thousand
        # words.
        while low + step < len(self.words) and self.map_span(low + step, low + step + 1)[1] <= position:
            low, step = low + step, 2 * step
        places = range(min(low + step + 1, len(self.words)))
        return bisect_right(places, position, lo=low, key=lambda at: self.map_span(at, at + 1)[1])


def read_words(old: str, new: str) -> tuple[Words, Words]:
    """Return the words of both texts.

    They are read together, because only the other use of a word shows whether "red-" at a line end and "teaming" below it are one
    word or two.
    """
    bare = [_take_layout(text.translate(rules.NOT_FOR_TEXTS)) for text in (old, new)]
    tokens = [[(match[0], match.start(), match.end()) for match in _WORD.finditer(text)] for text, _ in bare]
    known = {word.casefold() for words in tokens for word, _, _ in words}
    pairs = {pair for (text, _), words in zip(bare, tokens, strict=True) for pair in _hyphenated(text, words)}
    first, second = (_build(text, layers, _settle_hyphens(words, known, pairs)) for (text, layers), words in zip(bare, tokens, strict=True))
    return first, second


def measure_common(old: str, new: str) -> float | None:
    """Return the share, 0 to 1, of the runs of five words of the shorter text that are in the other too; None for texts of a few lines.

    Two revisions of a card have nearly all in common, two cards hardly any, whatever their layout (Broder's containment, 1997, of a
    sample of the runs).
    """
    # A file that is no revision is refused before anything is written. Revisions share 96 to 99 % of their five-word
    # runs, other cards 0 to 6 %; the limit is 20 % unless `--unlike` is given, since a revision cannot be taken back.
    # Cost: a card written anew needs the option.
    every = 1 + max(len(old), len(new)) // _SAMPLED
    ours, theirs = (_sample_runs(text, every) for text in (old, new))
    fewest = min(len(ours), len(theirs))
    return len(ours & theirs) / fewest if fewest >= _FEWEST_RUNS else None


def _sample_runs(text: str, every: int) -> set[int]:
    """Return the checksums of the text's runs of words, of long texts only those that *every* divides, the same ones in any text."""
    last: deque[str] = deque(maxlen=_RUN)
    checksums = set()
    for word in re.finditer(r"\w+", text):
        last.append(word[0].casefold())
        number = crc32(" ".join(last).encode("utf-8", "surrogatepass"))
        # Chosen by checksum and not by place, so the same runs are chosen from both texts.
        if len(last) == _RUN and number % every == 0:
            checksums.add(number)
    return checksums


def _build(text: str, layers: tuple[EditLayer, ...], tokens: Iterable[tuple[str, int, int]]) -> Words:
    listed = list(tokens)
    return Words([word for word, _, _ in listed], [start for _, start, _ in listed], [stop for _, _, stop in listed], text, layers)


def _take_layout(text: str) -> tuple[str, tuple[EditLayer, ...]]:
    layers: list[EditLayer] = []
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
    return ((match.start(), match.end(), "") for match in _IMAGE.finditer(text))


def _find_marks(text: str) -> Iterator[Edit]:
    listed = set(_LISTED.findall(text))
    for match in _MARK.finditer(text):
        if match["bracket"] is None or all(number in listed for number in re.findall(r"\d+", match["bracket"])):
            yield match.start(), match.end(), " " if match["note"] else ""


def _find_markup(text: str) -> Iterator[Edit]:
    return ((match.start(), match.end(), rules.drop_markup(match)) for match in rules.MARKUP.finditer(text))


def _find_line_ends(text: str) -> Iterator[Edit]:
    for match in rules.LINE_END_HYPHEN.finditer(text):
        yield match.start(), match.end(), rules.encode_hyphen(match)


def _find_forms(text: str) -> Iterator[Edit]:
    """Yield the edits that open ligatures and compatibility forms and drop what is not seen."""
    edits = [
        (match.start(), match.end(), opened)
        for match in (() if text.isascii() else rules.CLUSTER.finditer(text))
        if (opened := rules.open_compatible(match)) is not None
    ]
    edits += [(match.start(), match.end(), rules.INVISIBLE_AS.get(match[0], "")) for match in rules.INVISIBLE.finditer(text)]
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


def _settle_hyphens(words: list[tuple[str, int, int]], texts: set[str], pairs: set[tuple[str, str]]) -> Iterator[tuple[str, int, int]]:
    """Yield *words* with each hyphen at a line end taken as part of the line, or of the word if the word is written so elsewhere."""
    for word, start, stop in words:
        left, mark, right = word.partition(rules.SOFT_HYPHEN)
        joined = word.replace(rules.SOFT_HYPHEN, "")
        if not mark:
            yield word, start, stop
        # Separate words only if the text elsewhere joins the same pair with a hyphen and never writes it as one word.
        elif joined.casefold() not in texts and (left.casefold(), right.casefold()) in pairs:
            yield left, start, start + len(left)
            yield right, start + len(left) + 1, stop
        else:
            yield joined, start, stop


# Spelling differences. A passage that differs in spelling only is reworded without an alarm.
#
# A word with a digit is never a matter of spelling, nor is a negation, a plural, or another real word. A typing error
# is one letter between two words of which only one is English (pyspellchecker). Cost: one dependency.

_SHORTEST_TYPO = 5
_AMERICAN = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # behaviour, favourite, coloured; four letters and fewer ("four", "tour") are other words
        (r"^(\w{3,})our(s|ed|ing|ings|able|ably|al|ally|ful|ite|ites|er|ers|less|hood)?$", r"\1or\2"),
        # generalise, analysed, organisation
        (r"^(\w{3,})is(e|es|ed|er|ers|ing|able|ation|ations|ational)$", r"\1iz\2"),
        (r"^(\w{3,})ys(e|es|ed|er|ers|ing)$", r"\1yz\2"),
        # modelling, labelled, signalled: of words whose last syllable is not stressed
        (r"^(\w{3,}(?:el|al|ol|il))l(ed|ing|ings|er|ers)$", r"\1\2"),
        (r"^(fu|du|di)(el|al)l(ed|ing|er|ers)$", r"\1\2\3"),
        # centre, metre, theatre
        (r"^(cent|met|kilomet|millimet|theat|fib|lit|calib|spect|somb|meag)re(s|d)?$", r"\1er\2"),
        # defence, licence
        (r"^(defen|offen|licen|preten)ce(s|d|less)?$", r"\1se\2"),
        (r"^practis(e|es|ed|ing)$", r"practic\1"),
        # catalogue, dialogue
        (r"^(catal|dial|anal|monol|epil|prol)ogue?(s|d)?$", r"\1og\2"),
        # sceptical, grey, programme, judgement, ageing, artefact, fulfil
        (r"^scep(tic\w*)$", r"skep\1"),
        (r"^gr[ae]y(s|ed|ing|er)?$", r"gray\1"),
        (r"^programme(s)?$", r"program\1"),
        (r"^((?:mis)?judg|acknowledg)ement(s)?$", r"\1ment\2"),
        (r"^ageing$", "aging"),
        (r"^artefact(s|ual)?$", r"artifact\1"),
        (r"^(fulfil|enrol|instal|skil|wil)l?(s|ment|ments|ful|fully)?$", r"\1l\2"),
        (r"^(learn|burn|spell|dream|lean)t$", r"\1ed"),
        (r"^(toward|backward|forward|afterward|upward|downward)s$", r"\1"),
        (r"^(whil|among|amid)st$", r"\1"),
        (r"^(an|p)ae(\w{3,})$", r"\1e\2"),
        (r"^(alumin)ium$", r"\1um"),
        (r"^(cosy|tyre|sulphur\w*|plough\w*|cheque\w*|mould\w*|moult\w*)$", r"\1"),
    )
)
"""British spellings and what American ones make of them, in order; the first that fits is applied. Where two real words would fall
together ("filled" and "filed"), a rule leaves them alone."""
_SAME = {"&": "and", "\u00a7": "section", "percent": "%", "maths": "math"}
"""Other ways to write the same word."""
_GROUPED = re.compile(r"^-?\d{1,3}(?:,\d{3})+(?:\.\d+)?$")
_APART = frozenset(["a", "an", "in", "no", "un", "im", "dis", "all", "any", "some", "every", "may"])
"""Words that make another word with the one after them: "a typical" is not "atypical", nor "may be" "maybe"."""


@cache
def fold_spelling(word: str) -> str:
    """Return *word* as all its spellings are folded to: small letters, American, digits without grouping commas.

    A word with digits keeps its case: "5M" is not "5m".
    """
    word = word.replace(SOFT_SPACE, "")
    if any(character.isdigit() for character in word):
        plain = word.replace(",", "") if _GROUPED.match(word) else word
        return re.sub(r"^(-?)\.", r"\g<1>0.", plain)
    small = word.casefold()
    if small in _SAME:
        return _SAME[small]
    for pattern, replacement in _AMERICAN:
        match = pattern.match(small)
        if match:
            return match.expand(replacement)
    return small


def find_spelling(old: Sequence[str], new: Sequence[str], counts: Counter[str]) -> tuple[str, ...] | None:
    """Return the differences of spelling between *old* and *new*, as "colour → color"; None if they differ in more than that.

    Args:
        counts: how often each folded word is in both texts together; what is used again and again is a term and no typing error.
    """
    spellings: dict[str, None] = {}
    for ours, theirs in _find_runs(old, new):
        left, right = ([fold_spelling(word) for word in words] for words in (ours, theirs))
        is_spaced = any(SOFT_SPACE in word for word in (*ours, *theirs))
        if left != right and not (is_spaced and "".join(left) == "".join(right)) and not _is_same_run(left, right, counts):
            return None
        before, after = (" ".join(words).replace(SOFT_SPACE, "") for words in (ours, theirs))
        if before != after and not is_spaced:
            spellings[f"{before} → {after}"] = None
    return tuple(spellings)


def _find_runs(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Yield the words that correspond: one by one where they are folded alike, in runs where they are not."""
    ours, theirs = [fold_spelling(word) for word in old], [fold_spelling(word) for word in new]
    a = c = 0
    for block in LCSseq.opcodes(ours, theirs).as_matching_blocks():
        if block.a > a or block.b > c:
            yield old[a : block.a], new[c : block.b]
        yield from (([left], [right]) for left, right in zip(old[block.a :][: block.size], new[block.b :][: block.size], strict=True))
        a, c = block.a + block.size, block.b + block.size


def _is_same_run(ours: list[str], theirs: list[str], counts: Counter[str]) -> bool:
    """Whether two runs of folded words are the same words written together, apart, or with a typing error."""
    if not (ours and theirs) or any(character.isdigit() for word in (*ours, *theirs) for character in word):
        return False
    if "".join(ours) == "".join(theirs):
        return ours[0] not in _APART and theirs[0] not in _APART
    return len(ours) == len(theirs) and all(
        left == right or _is_typo(left, right, counts) for left, right in zip(ours, theirs, strict=True)
    )


def _is_typo(left: str, right: str, counts: Counter[str]) -> bool:
    """Whether one of two words of five letters or more is the other with one letter wrong, and no word of its own."""
    if min(len(left), len(right)) < _SHORTEST_TYPO or not (left.isalpha() and right.isalpha()) or OSA.distance(left, right) != 1:
        return False
    if left[0] != right[0] or left[:-1] == right or right[:-1] == left or left[:-1] == right[:-1]:
        return False  # "atypical", "models", "tested" and "tester": the ends of a word carry its meaning
    # Two real words differ in meaning, and two unknown ones may both be names. A word that is used more than twice is a
    # term.
    known = [word in _load_dictionary() for word in (left, right)]
    unknown = right if known[0] else left
    return known[0] != known[1] and counts[unknown] <= 2


@cache
def _load_dictionary() -> frozenset[str]:
    from spellchecker import SpellChecker  # noqa: PLC0415  (0.2 s, needed where two words are one letter apart)

    return frozenset(SpellChecker(language="en").word_frequency.dictionary)


# Alignment of two revisions of a card as wholes.
#
# Equal sentences, rows and headings are matched in order first (longest common subsequence), so that a repeated
# sentence meets its own counterpart and not a copy elsewhere. What is equal and left over on both sides has moved.
# Between two matches, the rest is paired in order by similarity, one with one or two with one, and the words within a
# pair are matched. Cost: three seconds for a pair of 590 kB.

LIKE_HERE = 0.5
"""Similarity from which a passage at the aligned place is taken for the other, reworded: twice the words that both have in
order, over the words of both (the normalised Indel similarity)."""
LIKE_ELSEWHERE = 0.75
"""The same for a passage at another place."""
_SHORTEST_MOVED = 4
"""Words that a passage must have to be found again elsewhere; shorter ones occur by chance."""
_VOTES = 400
"""Passages in which the rarest words of a passage may stand, together, to say where it went; words in more say nothing."""
_CANDIDATES = 8
MOST_CELLS = 40_000_000
"""Cells of a table of words against words that are compared exactly; above it, only the pairs of passages are."""
_LARGEST = 400_000_000
"""The same for blocks: 50 MB of one bit for each two of them, 20,000 sentences against as many."""
_WHOLE = 10_000
"""Pairs of passages in a gap up to which each is compared with each."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class AlignedRun:
    """A run of words of the old text and the run of the new that it became."""

    old: Span
    new: Span
    in_order: bool
    """Whether what stands around it is aligned with what stands around its counterpart."""
    is_alike: bool
    """Whether the words are the same but for their spelling."""


@dataclass(frozen=True, slots=True)
class _Bead:
    """Runs of blocks that may have become each other, and how much they weigh."""

    old: Span
    new: Span
    gain: float


class Alignment:
    """Two texts, aligned."""

    def __init__(self, old: Words, new: Words, *, old_blocks: list[Span], new_blocks: list[Span]) -> None:
        """Align *old* and *new*, cut into sentences, rows and headings as the blocks say, which cover each text without a gap."""
        self._code: dict[str, str] = {}
        self.old, self.new = self._encode(old), self._encode(new)
        """The words of each text, one character for each folded word."""
        self.old_blocks, self.new_blocks = old_blocks, new_blocks
        self.counts = Counter(map(fold_spelling, old.words)) + Counter(map(fold_spelling, new.words))
        self.pairs = sorted(self._find_pairs(), key=lambda pair: pair.old)
        """In the order of the old text; they overlap in neither."""
        self._starts = [pair.old[0] for pair in self.pairs]
        self.to_new = self._map_words()
        """For each word of the old text the one of the new it corresponds to, or -1."""

    def find_pair(self, word: int) -> AlignedRun | None:
        """Return the pair in which a word of the old text is; None for what has no counterpart."""
        at = bisect_right(self._starts, word) - 1
        return self.pairs[at] if at >= 0 and word < self.pairs[at].old[1] else None

    def _encode(self, words: Words) -> str:
        """Return one character for each word; rapidfuzz and `str.find` are quickest on texts. Surrogates are passed over."""
        code = self._code
        for word in map(fold_spelling, words.words):
            if word not in code:
                # One character per word lets rapidfuzz and `str.find` compare words. The range of surrogates is
                # skipped, since such characters cannot be encoded.
                number = len(code) + 0x100
                code[word] = chr(number if number < 0xD800 else number + 0x800)
        return "".join(code[fold_spelling(word)] for word in words.words)

    def _find_pairs(self) -> Iterator[AlignedRun]:
        ours = [self.old[start:stop] for start, stop in self.old_blocks]
        theirs = [self.new[start:stop] for start, stop in self.new_blocks]
        # The order of the steps is the order of certainty: equal in place, equal elsewhere, like in place, like
        # elsewhere. What one step took is not offered to the next.
        matches = list(_match_in_order(ours, theirs))
        moved = dict(_match_moved(ours, theirs, matches))
        for i, j in matches:
            yield self._pair((i, i + 1), (j, j + 1), in_order=True)
        for i, j in moved.items():
            yield self._pair((i, i + 1), (j, j + 1), in_order=False)
        left_old, left_new = [], []
        taken_old, taken_new = set(moved), set(moved.values())
        for gap_old, gap_new in _find_gaps(matches, len(ours), len(theirs)):
            old_free = [i for i in range(*gap_old) if i not in taken_old]
            new_free = [j for j in range(*gap_new) if j not in taken_new]
            beads = list(_pair_in_gap([ours[i] for i in old_free], [theirs[j] for j in new_free]))
            for (a, b), (c, d) in beads:
                yield self._pair((old_free[a], old_free[b - 1] + 1), (new_free[c], new_free[d - 1] + 1), in_order=True)
            used_old = {at for (a, b), _ in beads for at in range(a, b)}
            used_new = {at for _, (c, d) in beads for at in range(c, d)}
            left_old += [i for at, i in enumerate(old_free) if at not in used_old]
            left_new += [j for at, j in enumerate(new_free) if at not in used_new]
        for i, j in _pair_elsewhere(ours, theirs, left_old, left_new):
            yield self._pair((i, i + 1), (j, j + 1), in_order=False)

    def _pair(self, old: Span, new: Span, *, in_order: bool) -> AlignedRun:
        ours = (self.old_blocks[old[0]][0], self.old_blocks[old[1] - 1][1])
        theirs = (self.new_blocks[new[0]][0], self.new_blocks[new[1] - 1][1])
        return AlignedRun(ours, theirs, in_order, self.old[slice(*ours)] == self.new[slice(*theirs)])

    def _map_words(self) -> list[int]:
        mapped = [-1] * len(self.old)
        for pair in self.pairs:
            (a, b), (c, d) = pair.old, pair.new
            if pair.is_alike:
                mapped[a:b] = range(c, d)
            # Above this size the pair is known and its words stay unmatched, because the work grows with the product of
            # both lengths.
            elif (b - a) * (d - c) <= MOST_CELLS:
                for ours, theirs in match_words(self.old[a:b], self.new[c:d]).items():
                    mapped[a + ours] = c + theirs
        return mapped


def measure_similarity(ours: str, theirs: str) -> float:
    """Return the similarity of two encoded runs of words, between 0 and 1."""
    return Indel.normalized_similarity(ours, theirs)


def match_words(ours: str, theirs: str) -> dict[int, int]:
    """Return which words of two encoded runs are in both in the same order, the most there are."""
    blocks = LCSseq.opcodes(ours, theirs).as_matching_blocks()
    return {block.a + step: block.b + step for block in blocks for step in range(block.size)}


def _match_in_order(ours: list[str], theirs: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the blocks that stand in both texts in the same order; what is alike at both ends is taken off first, for speed."""
    start = 0
    while start < min(len(ours), len(theirs)) and ours[start] == theirs[start]:
        start += 1
    back = 0
    while back < min(len(ours), len(theirs)) - start and ours[-1 - back] == theirs[-1 - back]:
        back += 1
    yield from ((at, at) for at in range(start))
    middle_old, middle_new = ours[start : len(ours) - back], theirs[start : len(theirs) - back]
    yield from ((start + i, start + j) for i, j in _find_common(middle_old, middle_new))
    yield from ((len(ours) - at, len(theirs) - at) for at in range(back, 0, -1))


def _find_common(ours: list[str], theirs: list[str]) -> Iterator[tuple[int, int]]:
    """Yield the longest common subsequence; of texts too long for its table, what lies between the blocks that occur once in each."""
    if len(ours) * len(theirs) <= _LARGEST:
        yield from _find_longest(ours, theirs)
        return
    i = j = 0
    for next_i, next_j in (*_find_unique(ours, theirs), (len(ours), len(theirs))):
        if (next_i - i) * (next_j - j) <= _LARGEST:
            yield from ((i + a, j + b) for a, b in _find_longest(ours[i:next_i], theirs[j:next_j]))
        if next_i < len(ours):
            yield next_i, next_j
        i, j = next_i + 1, next_j + 1


def _find_longest(ours: list[str], theirs: list[str]) -> Iterator[tuple[int, int]]:
    for block in LCSseq.opcodes(ours, theirs).as_matching_blocks():
        yield from ((block.a + step, block.b + step) for step in range(block.size))


def _find_unique(ours: list[str], theirs: list[str]) -> list[tuple[int, int]]:
    """Return the blocks that occur once in each text, as many as stand in the same order (patience sorting)."""
    once = {block for block, count in Counter(theirs).items() if count == 1}
    places = {block: j for j, block in enumerate(theirs) if block in once}
    counts = Counter(ours)
    pairs = [(i, places[block]) for i, block in enumerate(ours) if counts[block] == 1 and block in places]
    tops: list[int] = []
    chains: list[tuple[tuple[int, int], int]] = []
    piles: list[int] = []
    for pair in pairs:
        at = bisect_left(tops, pair[1])
        chains.append((pair, piles[at - 1] if at else -1))
        tops[at : at + 1], piles[at : at + 1] = [pair[1]], [len(chains) - 1]
    chain: list[tuple[int, int]] = []
    at = piles[-1] if piles else -1
    while at >= 0:
        chain.append(chains[at][0])
        at = chains[at][1]
    return chain[::-1]


def _match_moved(ours: list[str], theirs: list[str], matches: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the blocks that are left over on both sides and alike, in order of appearance; short ones only beside another."""
    taken_old, taken_new = {i for i, _ in matches}, {j for _, j in matches}
    places: dict[str, list[int]] = defaultdict(list)
    for j, block in enumerate(theirs):
        if j not in taken_new:
            places[block].append(j)
    for i, block in enumerate(ours):
        if i in taken_old or len(block) < _SHORTEST_MOVED or not places.get(block):
            continue
        j = places[block].pop(0)
        # A short block is taken as moved only next to a longer one that moved with it: alone it occurs by chance.
        for step in (0, -1, 1):
            a, b = i + step, j + step
            while 0 <= a < len(ours) and 0 <= b < len(theirs) and ours[a] == theirs[b] and a not in taken_old and b not in taken_new:
                taken_old.add(a)
                taken_new.add(b)
                if b in places[theirs[b]]:
                    places[theirs[b]].remove(b)
                yield a, b
                if step == 0:
                    break
                a, b = a + step, b + step


def _find_gaps(matches: list[tuple[int, int]], old: int, new: int) -> Iterator[tuple[Span, Span]]:
    """Yield what lies between two matches, where both sides have something."""
    i = j = 0
    for next_i, next_j in (*matches, (old, new)):
        if next_i > i or next_j > j:
            yield (i, next_i), (j, next_j)
        i, j = next_i + 1, next_j + 1


def _pair_in_gap(ours: list[str], theirs: list[str]) -> Iterator[tuple[Span, Span]]:
    """Yield the runs of blocks that became each other, in order: one and one, two and one, one and two.

    Of all ways to pair them in order the one whose pairs are together the most alike, each weighed by its words
    (after Gale and Church, 1993, with similarity of words in place of lengths). In a large gap only blocks that share rare words are
    compared, wherever they stand: what was reworded is found beside a chapter that was put in.
    """
    if len(ours) * len(theirs) <= _WHOLE:
        places: Iterable[tuple[int, int]] = ((i, j) for i in range(len(ours)) for j in range(len(theirs)))
    else:
        places = sorted((i, there) for i, j in _find_candidates(ours, theirs) for there in {j, min(j + 1, len(theirs) - 1)})
    beads = []
    for i, j in dict.fromkeys(places):
        # A sentence may have been split or joined.
        for a, b in ((1, 1), (1, 2), (2, 1)):
            first, begin = i + 1 - a, j + 1 - b
            if first >= 0 and begin >= 0 and (gain := _weigh(ours[first : i + 1], theirs[begin : j + 1])):
                beads.append(_Bead((first, i + 1), (begin, j + 1), gain))
    yield from _find_heaviest_chain(beads, len(ours), len(theirs))


def _find_candidates(ours: list[str], theirs: list[str]) -> Iterator[tuple[int, int]]:
    """Yield, for each block, those that share the most of its rarest words."""
    index: dict[str, list[int]] = defaultdict(list)
    for j, block in enumerate(theirs):
        for word in set(block):
            index[word].append(j)
    for i, block in enumerate(ours):
        # Frequent words occur everywhere and would make every block a candidate.
        rarest = sorted((len(index[word]), word) for word in set(block) if word in index)
        summed = accumulate(count for count, _ in rarest)
        votes = Counter(j for (_, word), total in zip(rarest, summed, strict=True) if total <= _VOTES for j in index[word])
        yield from ((i, j) for j, _ in sorted(votes.items(), key=lambda vote: (-vote[1], vote[0]))[:_CANDIDATES])


def _find_heaviest_chain(beads: list[_Bead], rows: int, columns: int) -> Iterator[tuple[Span, Span]]:
    """Yield those of *beads* that follow each other on both sides and weigh the most together.

    A tree of maxima over the new blocks (Fenwick, 1994) answers, row by row of the old ones, which chain a bead goes on with.
    """
    from_row, to_row = (defaultdict[int, list[int]](list) for _ in range(2))
    for number, bead in enumerate(beads):
        from_row[bead.old[0]].append(number)
        to_row[bead.old[1]].append(number)
    tree = [(0.0, -1)] * (columns + 1)
    chains = [(0.0, -1)] * len(beads)
    for row in range(rows + 1):
        for number in to_row[row]:
            at = beads[number].new[1]
            while at <= columns:
                tree[at] = max(tree[at], (chains[number][0], number))
                at += at & -at
        for number in from_row[row]:
            at, before = beads[number].new[0], (0.0, -1)
            while at:
                before = max(before, tree[at])
                at -= at & -at
            chains[number] = before[0] + beads[number].gain, before[1]
    last, matches = max(range(len(beads)), key=lambda number: chains[number][0], default=-1), []
    while last >= 0:
        matches.append((beads[last].old, beads[last].new))
        last = chains[last][1]
    yield from reversed(matches)


def _weigh(ours: list[str], theirs: list[str]) -> float:
    """Return the words of two runs of blocks that are alike, 0.0 if too few are; a run must be the more alike for each of its parts."""
    left, right = "".join(ours), "".join(theirs)
    similarity = Indel.normalized_similarity(left, right, score_cutoff=LIKE_HERE)
    if not similarity:
        return 0.0
    parts = [name for run in (ours, theirs) if len(run) > 1 for name in run]
    # Otherwise a long equal sentence would carry an unrelated short neighbour along.
    if any(Indel.normalized_similarity(left if part in theirs else right, part) < 0.25 for part in parts):
        return 0.0
    return similarity * (len(left) + len(right))


def _pair_elsewhere(ours: list[str], theirs: list[str], old: list[int], new: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the left-over blocks that are much alike at different places, the most alike first."""
    long = [i for i in old if len(ours[i]) > _SHORTEST_MOVED]
    scored: list[tuple[float, int, int]] = []
    for a, b in _find_candidates([ours[i] for i in long], [theirs[j] for j in new]):
        i, j = long[a], new[b]
        similarity = Indel.normalized_similarity(ours[i], theirs[j], score_cutoff=LIKE_ELSEWHERE)
        if similarity:
            scored.append((-similarity, i, j))
    taken_old: set[int] = set()
    taken_new: set[int] = set()
    # The most alike first, and each block once.
    for _, i, j in sorted(scored):
        if i not in taken_old and j not in taken_new:
            taken_old.add(i)
            taken_new.add(j)
            yield i, j


# Sections of two revisions, matched by title, whatever their numbers, in order. A number changes when a section is
# inserted before it.

_NUMBER = re.compile(r"^(?:(?:section|chapter|appendix|annex|part)\s+)?(?:\d{1,3}|[A-Z])(?:\.\d{1,3})*[.):]?\s+(?=\S)", re.IGNORECASE)
_LIKE = 0.6
"""Similarity of two titles, by letters, from which one is the other renamed, if they stand between the same sections."""


@dataclass(frozen=True, slots=True)
class RenamedSection:
    """A section with another title."""

    old: str
    new: str


class SectionPairs:
    """The headings of two revisions, matched."""

    def __init__(self, old: Sequence[Heading], new: Sequence[Heading]) -> None:
        self.old, self.new = tuple(old), tuple(new)
        self._old_starts = [heading.start for heading in old]
        self._new_starts = [heading.start for heading in new]
        self._to_new = dict(_match([_get_key(heading) for heading in old], [_get_key(heading) for heading in new]))
        self._to_old = {j: i for i, j in self._to_new.items()}

    def is_moved(self, old: int, new: int, *, in_order: bool) -> bool:
        """Return whether the character *new* is in another section than the character *old* did.

        A heading that was put in or taken out above a passage does not move it, if what is around it is the same
        (*in_order*); nor does a card without headings know of any move.
        """
        ours, theirs = bisect_right(self._old_starts, old) - 1, bisect_right(self._new_starts, new) - 1
        became = self._to_new.get(ours)
        if ours < 0 and theirs < 0:
            return False
        if became == theirs:
            return False
        # A move needs evidence on both sides: a section with a counterpart elsewhere. A heading that was inserted above
        # the passage is not such evidence.
        return not in_order or (became is not None and theirs in self._to_old)

    def find_added(self) -> list[str]:
        """Return the titles that the old revision has nothing for."""
        return [heading.title for at, heading in enumerate(self.new) if at not in self._to_old]

    def find_removed(self) -> list[str]:
        """Return the titles that the new revision has nothing for."""
        return [heading.title for at, heading in enumerate(self.old) if at not in self._to_new]

    def find_renamed(self) -> list[RenamedSection]:
        """Return the sections with other words in the title; another number or other capitals are no other title."""
        pairs = ((self.old[i], self.new[j]) for i, j in sorted(self._to_new.items()))
        return [RenamedSection(old.title, new.title) for old, new in pairs if _get_key(old) != _get_key(new)]


def _get_key(heading: Heading) -> str:
    """Return a title without its number, small, only letters and digits."""
    return " ".join(re.findall(r"\w+", _NUMBER.sub("", heading.title.strip()).casefold())) or heading.title.casefold()


def _match(ours: list[str], theirs: list[str]) -> Iterator[tuple[int, int]]:
    matches = [
        (block.a + step, block.b + step) for block in LCSseq.opcodes(ours, theirs).as_matching_blocks() for step in range(block.size)
    ]
    yield from matches
    taken_old, taken_new = {i for i, _ in matches}, {j for _, j in matches}
    left: dict[str, deque[int]] = defaultdict(deque)
    for j, title in enumerate(theirs):
        if j not in taken_new:
            left[title].append(j)
    for i, title in enumerate(ours):
        if i not in taken_old and left.get(title):
            j = left[title].popleft()
            taken_old.add(i)
            taken_new.add(j)
            yield i, j
    a = b = 0
    for i, j in (*matches, (len(ours), len(theirs))):
        yield from _match_renamed(
            [(at, ours[at]) for at in range(a, i) if at not in taken_old], [(at, theirs[at]) for at in range(b, j) if at not in taken_new]
        )
        a, b = i + 1, j + 1


def _match_renamed(ours: list[tuple[int, str]], theirs: list[tuple[int, str]]) -> Iterator[tuple[int, int]]:
    """Yield the titles between two matches that are alike, in order."""
    start = 0
    for i, title in ours:
        scored = [(_compare(title, other), -at) for at, (_, other) in enumerate(theirs[start:], start)]
        similarity, at = max(scored, default=(0.0, 0))
        if similarity >= _LIKE:
            yield i, theirs[-at][0]
            start = 1 - at


def _compare(title: str, other: str) -> float:
    """Return the similarity of two titles, 1.0 where one has all the words of the other."""
    ours, theirs = set(title.split()), set(other.split())
    return 1.0 if ours <= theirs or theirs <= ours else Indel.normalized_similarity(title, other)
