"""A quoted passage followed into another revision: match result, changes of sense, and other changes there."""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz.distance import LCSseq

from registry.intake.outline.card_passages import read_outline
from registry.intake.quote_anchor import AnchoredText
from registry.intake.revision.row_comparison import RowComparison, compare_rows_at
from registry.intake.revision.word_alignment import (
    LIKE_HERE,
    MOST_CELLS,
    AlignedRun,
    Alignment,
    RenamedSection,
    SectionPairs,
    Words,
    find_spelling,
    fold_spelling,
    match_words,
    measure_similarity,
    read_words,
)
from registry.intake.text_normalisation import SOFT_HYPHEN
from registry.records.system_card import Anchor, CardText, MatchResult, PassageKind

# Words whose change can turn the meaning of a passage although no figure changed: negations, opposites, scope (all,
# some, likely) and names. A new wording with such a change needs a reason of its own. Finding nothing proves nothing.
# Cost: some synonyms ask for a reason.

_NEGATIONS = frozenset(
    ("not", "no", "never", "non", "none", "neither", "nor", "without", "cannot", "hardly", "rarely", "seldom", "few", "failed", "unable")
)
_ALSO_NEGATE = frozenset(
    ("nothing", "nobody", "nowhere", "barely", "scarcely", "fail", "fails", "failing", "failure", "lack", "lacks", "lacked", "lacking")
)
"""Negations of what follows or of the whole, which turn a passage only where they stand in it."""
_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "mis", "de")
"""Before a word that stands on the other side, they make its opposite: able, unable."""
_SCOPES = (
    # holds everywhere
    frozenset("all always every everyone each any entirely completely fully invariably universally wholly only must".split()),  # noqa: SIM905
    # holds for more than half, or is said to be usual
    frozenset("most mostly majority usually generally typically often frequently largely mainly many".split()),  # noqa: SIM905
    # holds somewhere
    frozenset("some sometimes several occasionally partly partially".split()),  # noqa: SIM905
    # is not said for certain
    frozenset("may might could possibly perhaps potentially probably likely presumably apparently seems appears suggests".split()),  # noqa: SIM905
)
"""How far a statement holds: a word more or less of one of these kinds makes another statement."""
_OPPOSITES = tuple(
    (re.compile(rf"^(?:{ours})$"), re.compile(rf"^(?:{theirs})$"))
    for ours, theirs in (
        # which way it went
        (
            r"increas\w*|ris(?:e|es|en|ing)|rose|gr(?:ow|ows|ew|own|owth|owing)|higher|highest|more|greater|larger|gain\w*",
            r"decreas\w*|reduc\w*|declin\w*|f(?:all|alls|ell|allen|alling)|drop\w*|lower\w*|lowest|less|fewer|smaller|los(?:s|ses|t)",
        ),
        (
            r"improv\w*|better|best|outperform\w*|strong(?:er|est)?",
            r"worse\w*|worst|degrad\w*|deteriorat\w*|underperform\w*|weak(?:er|est)?",
        ),
        # on which side of a limit
        (r"above|exceed\w*|over|surpass\w*|minimum|least|beyond", r"below|under|beneath|maximum|most|within"),
        # how it ended
        (
            r"accept\w*|compl(?:y|ies|ied|iance)|agree\w*|allow\w*|permit\w*",
            r"refus\w*|reject\w*|declin\w*|prohibit\w*|forbid\w*|den(?:y|ies|ied)",
        ),
        (r"succe\w*|pass(?:es|ed|ing)?", r"fail\w*"),
        (r"true|correct\w*|right", r"false|wrong\w*"),
        (r"present|presence|with|includ\w*", r"absent|absence|without|exclud\w*"),
        (r"enabl\w*|on", r"disabl\w*|off"),
        (r"before|prior|pre", r"after|post|following"),
        (r"safe\w*|harmless|benign", r"danger\w*|harmful|malicious"),
    )
)
"""Words of which one in place of the other turns a statement, each side as a pattern of whole folded words."""
_BEGINNINGS = frozenset(
    "the a an this that these those we our it its they their he she his her in on at for of to with without when where while if as by from "  # noqa: SIM905
    "after before during over under all some most each every no not none both however also although because since and but or there here "
    "one two three overall finally moreover furthermore additionally thus therefore further such many few any".split()
)
"""Words that have a capital because a sentence begins with them, and are no names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SenseChange:
    """One change of sense."""

    what: str
    """What changed, such as "a negation"."""
    words: str
    """The words of it, as "unable → able"; "nothing" stands for none."""

    def __str__(self) -> str:
        return f"{self.what} changed: {self.words}"


def is_negation(word: str) -> bool:
    """Return whether *word* negates what follows it."""
    return word.casefold() in _NEGATIONS or word.endswith("n't")


def find_turns(old: str, new: str) -> tuple[SenseChange, ...]:
    """Return the words in which two passages differ and that make another statement of it; empty where none was found.

    Negations and opposites are compared where they are, since a "not" may move; how far it holds and names in the passage as a whole.
    That nothing is found does not say that both mean the same.
    """
    words = [list(words.words) for words in read_words(old, new)]
    runs = list(_find_runs(*words))
    # Negations and opposites are compared place by place. Scope and names are compared over the whole passage, since
    # their words move freely.
    negations = [_describe(left, right) for left, right in map(_compare_negations, runs) if left or right]
    opposites = [opposite for run in runs for opposite in _find_opposites(run)]
    scopes = [whole for kind in _SCOPES if (whole := _compare_whole(words, kind.__contains__))]
    names = _compare_names(runs, words)
    groups = (("a negation", negations), ("an opposite", opposites), ("how far it holds", scopes), ("a name", [names] if names else []))
    return tuple(SenseChange(what=what, words=text) for what, texts in groups for text in dict.fromkeys(texts))


_Run = tuple[Sequence[str], Sequence[str]]


def _find_runs(old: Sequence[str], new: Sequence[str]) -> Iterable[_Run]:
    """Yield the words that took each other's place; one side may be empty."""
    a = c = 0
    ours, theirs = ([fold_spelling(word) for word in words] for words in (old, new))
    for block in LCSseq.opcodes(ours, theirs).as_matching_blocks():
        if block.a > a or block.b > c:
            yield old[a : block.a], new[c : block.b]
        a, c = block.a + block.size, block.b + block.size


def _compare_negations(run: _Run) -> tuple[list[str], list[str]]:
    """Return the negating words of both sides of a run, none where both have as many."""
    sides = [[fold_spelling(word) for word in words] for words in run]
    ours, theirs = ([word for word in words if is_negation(word) or word in _ALSO_NEGATE] for words in sides)
    for mine, yours, negated, bare in ((sides[0], sides[1], ours, theirs), (sides[1], sides[0], theirs, ours)):
        pairs = [(word, word.removeprefix(prefix)) for word in mine for prefix in _PREFIXES if word.startswith(prefix)]
        negated.extend(word for word, rest in pairs if rest in yours and word not in negated)
        bare.extend(rest for _, rest in pairs if rest in yours)
    is_prefixed = any(not (is_negation(word) or word in _ALSO_NEGATE) for word in (*ours, *theirs))
    return (ours, theirs) if is_prefixed or len(ours) != len(theirs) else ([], [])


def _find_opposites(run: _Run) -> Iterable[str]:
    sides = [[fold_spelling(word) for word in words] for words in run]
    for first, second in _OPPOSITES:
        for pattern, other in ((first, second), (second, first)):
            left = [word for word in sides[0] if pattern.match(word)]
            right = [word for word in sides[1] if other.match(word)]
            # If both sides contain both words, they may only have changed places in an unchanged statement.
            kept = any(pattern.match(word) for word in sides[1]) and any(other.match(word) for word in sides[0])
            if left and right and not kept:
                yield _describe(left, right)


def _compare_whole(words: Sequence[Sequence[str]], is_wanted: Callable[[str], bool]) -> str | None:
    before, after = (Counter(folded for word in side if is_wanted(folded := fold_spelling(word))) for side in words)
    left, right = before - after, after - before
    if sum(left.values()) == sum(right.values()):
        return None  # another word of the same kind: "always" for "in all cases"
    return _describe(left.elements(), right.elements())


def _compare_names(runs: Sequence[_Run], words: Sequence[Sequence[str]]) -> str | None:
    """Return the names of which one took the place of another; None where none did."""
    folded = [{fold_spelling(word) for word in side} for side in words]
    left = [word for ours, _ in runs for word in ours if _is_name(word) and fold_spelling(word) not in folded[1]]
    right = [word for _, theirs in runs for word in theirs if _is_name(word) and fold_spelling(word) not in folded[0]]
    return _describe(left, right) if left and right else None


def _is_name(word: str) -> bool:
    return any(character.isupper() for character in word) and fold_spelling(word) not in _BEGINNINGS


def _describe(before: Iterable[str], after: Iterable[str]) -> str:
    return f"{' '.join(before) or 'nothing'} → {' '.join(after) or 'nothing'}"


# The match of a quoted passage in another revision of its card.
#
# The two texts are aligned as wholes; each passage is then carried over word by word, so that a quotation of half a
# sentence keeps its half. The same words in the same section are unchanged, in another section moved. Other words at
# the aligned place, or a passage much like it elsewhere, are reworded. The rest is gone. Unchanged and moved passages
# keep their audits and are not stale.

_FEWEST_WORDS = 4
"""Words that are looked for beyond the aligned place; fewer occur by chance."""
_FARTHEST = 20
"""Words that may have been put into a passage for each that it has, before its parts are taken for different places."""
_NEAR = 3
"""Words before a passage among which a negation turns it."""
_AFTER = re.compile(r"[.,;:!?)\]\"'\u201d\u2019*_]{1,4}")
_QUOTES = str.maketrans({'"': "'", SOFT_HYPHEN: "-"})
_HITS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowedPassage:
    """What became of one passage."""

    match_result: MatchResult
    anchor: Anchor | None
    """Where it stands in the new text; None for what is gone."""
    differs: tuple[str, ...] = ()
    """As in `registry.records.system_card.PassageMatch`."""
    heads: tuple[str, ...] = ()
    """Of a row whose column heads or caption changed: each change, as "column head: Test → Deployment"."""


@dataclass(frozen=True, slots=True)
class _Place:
    """A run of words of the new text."""

    start: int
    stop: int
    in_order: bool


class Follower:
    """Two revisions of a card, aligned once for any number of passages."""

    def __init__(self, old: CardText, new: CardText) -> None:
        self.old, self.new = old, new
        self.old_words, self.new_words = read_words(old.text, new.text)
        self.old_outline, self.new_outline = read_outline(old), read_outline(new)
        self.alignment = Alignment(
            self.old_words,
            self.new_words,
            old_blocks=self.old_words.cut(self.old_outline.passages),
            new_blocks=self.new_words.cut(self.new_outline.passages),
        )
        self.sections = SectionPairs(self.old_outline.headings, self.new_outline.headings)
        self._anchored = AnchoredText(new)
        self._in_order = [pair for pair in self.alignment.pairs if pair.in_order]
        self._alike = [pair for pair in self._in_order if pair.is_alike]
        self._gaps: dict[tuple[int, int], dict[int, int]] = {}
        self._old_starts = {start for start, _ in self.alignment.old_blocks} | {len(self.old_words.words)}
        self._from_old = {word: at for at, word in enumerate(self.alignment.to_new) if word >= 0}

    def follow(self, anchor: Anchor) -> FollowedPassage:
        """Return the match result of the passage at *anchor*, a place in the old text."""
        start, stop = self.old_words.find_words(anchor.start, anchor.stop)
        if start >= stop:
            return FollowedPassage(match_result=MatchResult.GONE, anchor=None)
        if (place := self._find_place(start, stop)) is None:
            return FollowedPassage(match_result=MatchResult.GONE, anchor=None)
        place = self._widen(start, stop, place)
        # A passage that lost the negation before it is reworded, even if its own words are the same.
        differs = None if self._is_turned(start, place) else self._find_spelling(start, stop, place)
        if differs is None and self._measure(start, stop, place) < LIKE_HERE:
            return FollowedPassage(match_result=MatchResult.GONE, anchor=None)
        there = self._anchor(anchor, place, start, stop)
        rows = self.compare_rows(anchor.start, there.start)
        if rows is not None and rows.is_renamed:
            # The same words under another head are another statement.
            return FollowedPassage(match_result=MatchResult.REWORDED, anchor=there, heads=rows.describe_heads())
        if differs is None and rows is not None and rows.has_same_cells:
            differs = ()
        if differs != ():
            return FollowedPassage(match_result=MatchResult.REWORDED, anchor=there, differs=differs or ())
        moved = self.sections.is_moved(anchor.start, there.start, in_order=place.in_order)
        return FollowedPassage(match_result=MatchResult.MOVED if moved else MatchResult.UNCHANGED, anchor=there)

    def compare_rows(self, old: int, new: int) -> RowComparison | None:
        """Return how the rows at two characters, of the old and of the new text, differ; None unless both are rows with known heads."""
        return compare_rows_at(self.old_outline, old, self.new_outline, new)

    def _find_place(self, start: int, stop: int) -> _Place | None:
        """Return the new words that are the old ones, or the most like them; None if there are none."""
        # The aligned place comes first. Equal words elsewhere are taken only if the aligned place has others.
        place = self._carry(start, stop)
        if place is not None and self._is_alike(start, stop, place):
            return place
        again = self._find_again(start, stop)
        if again is not None or (place is not None and self._measure(start, stop, place) >= LIKE_HERE):
            return again or place
        joined = self._carry_in_gap(start, stop)
        return max(filter(None, (place, joined)), key=lambda candidate: self._measure(start, stop, candidate), default=None)

    def _is_alike(self, start: int, stop: int, place: _Place) -> bool:
        return self.alignment.old[start:stop] == self.alignment.new[place.start : place.stop]

    def _measure(self, start: int, stop: int, place: _Place) -> float:
        return measure_similarity(self.alignment.old[start:stop], self.alignment.new[place.start : place.stop])

    def _carry(self, start: int, stop: int) -> _Place | None:
        """Return the run of new words that the old ones from *start* to *stop* correspond to; None if none of them does."""
        main_run = self._find_main_run(start, stop)
        first_pair, last_pair = (self.alignment.find_pair(main_run[at]) if main_run else None for at in (0, -1))
        if first_pair is None or last_pair is None:
            return None
        first, last = main_run[0], main_run[-1]
        begin = self.alignment.to_new[first] - self._count_before(first, start, first_pair)
        end = self.alignment.to_new[last] + 1 + self._count_after(last, stop, last_pair)
        return _Place(begin, end, first_pair.in_order)

    def _carry_in_gap(self, start: int, stop: int) -> _Place | None:
        """Return where the words stand if all between two passages that are alike is aligned word by word, however it is cut.

        This finds what another layout cut otherwise: rows that run on, a heading that became the beginning of its paragraph.
        """
        (low, high), (first, last) = self._find_gap(start, stop, alike=True)
        if (high - low) * (last - first) > MOST_CELLS:
            return None
        if (low, high) not in self._gaps:
            self._gaps[low, high] = match_words(self.alignment.old[low:high], self.alignment.new[first:last])
        matched = self._gaps[low, high]
        there = [matched[at] for at in range(start - low, stop - low) if at in matched]
        return _Place(first + there[0], first + there[-1] + 1, in_order=True) if there else None

    def _find_main_run(self, start: int, stop: int) -> list[int]:
        """Return the old words whose counterparts stand together, of several such groups the largest."""
        groups: list[list[int]] = []
        for word in range(start, stop):
            there = self.alignment.to_new[word]
            if there < 0:
                continue
            step = there - self.alignment.to_new[groups[-1][-1]] if groups else 0
            if groups and 0 < step <= _FARTHEST + stop - start:
                groups[-1].append(word)
            else:
                groups.append([word])
        return max(groups, key=len, default=[])

    def _count_before(self, first: int, start: int, pair: AlignedRun) -> int:
        """Return how many new words before the counterpart of *first* took the place of the old ones between *start* and *first*."""
        outer = next((at for at in range(first - 1, pair.old[0] - 1, -1) if self.alignment.to_new[at] >= 0), None)
        free = self.alignment.to_new[first] - (pair.new[0] if outer is None else self.alignment.to_new[outer] + 1)
        wanted = first - max(start, pair.old[0])
        whole = start <= (pair.old[0] if outer is None else outer + 1)
        return free if whole and wanted else min(free, wanted)

    def _count_after(self, last: int, stop: int, pair: AlignedRun) -> int:
        outer = next((at for at in range(last + 1, pair.old[1]) if self.alignment.to_new[at] >= 0), None)
        free = (pair.new[1] if outer is None else self.alignment.to_new[outer]) - self.alignment.to_new[last] - 1
        wanted = min(stop, pair.old[1]) - last - 1
        whole = stop >= (pair.old[1] if outer is None else outer)
        return free if whole and wanted else min(free, wanted)

    def _widen(self, start: int, stop: int, place: _Place) -> _Place:
        """Return *place* with the words put into its sentence, if the passage was a whole one; a "not" before it belongs to any passage."""
        first, last = place.start, place.stop
        low, high = self._find_block(first)[0], self._find_block(last - 1)[1]
        # A quotation of a whole sentence grows with its sentence. A quotation of a part must not take in words that its
        # author left out, except a negation.
        if start in self._old_starts:
            while first > low and self._is_added(first - 1, start - 1 + first - place.start):
                first -= 1
        else:
            near = range(max(low, first - _NEAR), first)
            first = min((at for at in near if at not in self._from_old and is_negation(self.new_words.words[at])), default=first)
        if stop in self._old_starts:
            while last < high and self._is_added(last, stop + last - place.stop):
                last += 1
        return _Place(first, last, place.in_order)

    def _is_added(self, new: int, old: int) -> bool:
        """Whether a new word beside a passage is new there: it has no counterpart, and another word stood beside the old passage."""
        stood = self.alignment.old[old] if 0 <= old < len(self.alignment.old) else ""
        return new not in self._from_old and self.alignment.new[new] != stood

    def _find_block(self, word: int) -> tuple[int, int]:
        blocks = self.alignment.new_blocks
        return blocks[bisect_right(blocks, word, key=lambda block: block[0]) - 1]

    def _is_turned(self, start: int, place: _Place) -> bool:
        """Whether a negation that stood right before the passage is gone."""
        pair = self.alignment.find_pair(start)
        if pair is None or start in self._old_starts or place.start == 0:
            return False
        near = range(max(pair.old[0], start - _NEAR), start)
        return any(self.alignment.to_new[word] < 0 and is_negation(self.old_words.words[word]) for word in near)

    def _find_again(self, start: int, stop: int) -> _Place | None:
        """Return where the same words stand that belong to no other passage, the aligned place before others; None if nowhere."""
        wanted = self.alignment.old[start:stop]
        hits = [at for at in self._find_all(wanted) if self._is_free(at, at + len(wanted), start, stop)]
        for alike in (False, True):
            low, high = self._find_gap(start, stop, alike=alike)[1]
            here = [at for at in hits if low <= at and at + len(wanted) <= high]
            if here:
                return _Place(here[0], here[0] + len(wanted), in_order=True)
        if len(wanted) < _FEWEST_WORDS or not hits:
            return None
        nearest = min(hits, key=lambda at: abs(at - low))
        return _Place(nearest, nearest + len(wanted), in_order=False)

    def _find_all(self, wanted: str) -> Iterator[int]:
        at, left = self.alignment.new.find(wanted), _HITS
        while at >= 0 and left:
            yield at
            at, left = self.alignment.new.find(wanted, at + 1), left - 1

    def _is_free(self, first: int, last: int, start: int, stop: int) -> bool:
        """Whether new words belong to no other passage: to none that is alike, nor all of them to the same words elsewhere."""
        others = [at for word in range(first, last) if (at := self._from_old.get(word)) is not None and not start <= at < stop]
        if any((pair := self.alignment.find_pair(at)) is not None and pair.is_alike for at in others):
            return False
        return len(others) < last - first or others != list(range(others[0], others[0] + last - first))

    def _find_gap(self, start: int, stop: int, *, alike: bool) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return the old and the new words between what stands before and after the old ones and has its counterpart in order."""
        pairs = self._alike if alike else self._in_order
        before = bisect_right(pairs, start, key=lambda pair: pair.old[1]) - 1
        after = bisect_left(pairs, stop, key=lambda pair: pair.old[0])
        low = (pairs[before].old[1], pairs[before].new[1]) if before >= 0 else (0, 0)
        high = pairs[after] if after < len(pairs) else None
        ends = (high.old[0], high.new[0]) if high else (len(self.alignment.old), len(self.alignment.new))
        return (low[0], ends[0]), (low[1], ends[1])

    def _find_spelling(self, start: int, stop: int, place: _Place) -> tuple[str, ...] | None:
        ours, theirs = self.old_words.words[start:stop], self.new_words.words[place.start : place.stop]
        differs = find_spelling(ours, theirs, self.alignment.counts)
        if differs is None or len(ours) != len(theirs):
            return differs
        for at in range(len(ours) - 1):
            before, after = _get_between(self.old_words, start + at), _get_between(self.new_words, place.start + at)
            if before != after:
                if any(character.isdigit() for character in ours[at]) and any(character.isdigit() for character in ours[at + 1]):
                    return None  # "1-5" is not "1, 5"
                differs = (*differs, f"{_show(self.old_words, start + at)} → {_show(self.new_words, place.start + at)}")
        return differs

    def _anchor(self, anchor: Anchor, place: _Place, start: int, stop: int) -> Anchor:
        """Return the anchor of the new words, with the signs at their ends that the old passage had at its own."""
        begin, end = self.new_words.map_span(place.start, place.stop)
        first, last = self.old_words.map_span(start, stop)
        lead, trail = self.old.text[anchor.start : first], self.old.text[last : anchor.stop]
        while lead and lead.strip() and self.new.text[max(0, begin - 1) : begin] == lead[-1]:
            lead, begin = lead[:-1], begin - 1
        followed = self.new.text[end : end + len(trail)]
        same = next((at for at, (left, right) in enumerate(zip(trail, followed, strict=False)) if left != right), len(followed))
        end += same
        if not same and trail.strip() and (match := _AFTER.match(self.new.text, end)):
            end = match.end()
        return self._anchored.place(begin, end)


def _get_between(words: Words, at: int) -> str:
    """Return the signs between a word and the next, quotation marks and hyphens of all kinds alike."""
    return "".join(words.text[words.stops[at] : words.starts[at + 1]].translate(_QUOTES).split())


def _show(words: Words, at: int) -> str:
    return " ".join(words.text[words.starts[at] : words.stops[at + 1]].split())


# Other changes between two revisions: sections, passages, and figures in passages without a claim.

_REFERRING = frozenset(
    (
        "section",
        "sections",
        "figure",
        "figures",
        "fig",
        "table",
        "tables",
        "appendix",
        "page",
        "pages",
        "chapter",
        "footnote",
        "note",
        "p",
        "pp",
        "§",
    )
)
"""Before a number, these say that it names a place in the card and is no figure."""
_PLACE = re.compile(r"^(?:\d+\.){2,}\d*$|^\d+(?:\.\d+)+\.[A-Za-z]$")
"""A number with two points or more is that of a section."""
_STATE = frozenset((PassageKind.SENTENCE, PassageKind.ITEM, PassageKind.ROW, PassageKind.HEAD, PassageKind.CAPTION, PassageKind.FOOTNOTE))
"""Passages that state something, and the heads of tables, which say of what."""
_SIGNS = frozenset("%<>=~±≤≥≈")
_WRITTEN = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty ninety "  # noqa: SIM905
    "hundred hundreds thousand thousands million millions billion billions half third quarter double twice once none".split()
)
"""Numbers in words; "one" counts, too often rather than never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedFigure:
    """A number, and where it stands in its text."""

    number: str
    """As all its spellings are folded to."""
    start: int
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFigure:
    """A passage in which figures changed, or one with figures that was removed or added."""

    old: str
    """As the older text has it, white space folded; empty for an added passage."""
    new: str
    """Empty for a removed passage."""
    numbers: str
    """The figures, as "6.5 → 7.5"."""
    page: int | None
    """In the newer text, of a removed passage in the older; None for cards without pages."""
    section: str | None
    start: int
    """First character in the older text; of an added passage in the newer."""
    stop: int
    taken_out: tuple[PlacedFigure, ...]
    """The figures that the newer passage has not, in the older text."""
    put_in: tuple[PlacedFigure, ...]
    """The figures that the older passage has not, in the newer text."""

    def leave_out(self, old: Iterable[Anchor], new: Iterable[Anchor]) -> "ChangedFigure | None":
        """Return it without the figures that passages of the older text or of the newer quote; None if one side is quoted wholly."""
        taken_out = tuple(figure for figure in self.taken_out if not _is_in(figure, old))
        put_in = tuple(figure for figure in self.put_in if not _is_in(figure, new))
        if (self.taken_out and not taken_out) or (self.put_in and not put_in):
            return None
        return replace(self, taken_out=taken_out, put_in=put_in, numbers=_describe_figures(taken_out, put_in))


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageEdit:
    """A sentence, row, or item that was reworded or removed."""

    old: str
    """As the older text has it, white space folded."""
    new: str
    """Empty for what was removed."""
    turns: tuple[SenseChange, ...]
    """Of what was reworded: negations, opposites, how far it holds, names."""
    has_figures: bool
    """Whether figures changed in it, or were removed with it."""
    page: int | None
    """In the older text; None for cards without pages."""
    section: str | None
    start: int
    """First character in the older text."""
    stop: int
    changed: tuple[tuple[int, int], ...]
    """The words of the older text that are not in the newer passage, as characters from and to; empty where words were only put in."""

    def is_quoted(self, quoted: Iterable[Anchor]) -> bool:
        """Return whether all that changed in it is quoted in the older text, so that a claim mentions it."""
        spans = self.changed or ((self.start, self.stop),)
        anchors = tuple(quoted)
        return all(any(anchor.start < stop and start < anchor.stop for anchor in anchors) for start, stop in spans)


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionChanges:
    """What changed, counted in passages: sentences, rows, headings."""

    unchanged: int
    """With those that moved, and those spelled otherwise."""
    moved: int
    """Of the unchanged, those in another section."""
    respelled: int
    """Of the unchanged, those spelled otherwise."""
    reworded: int
    removed: int
    """Of the older text."""
    removed_with_figures: int
    """Of the removed, those that have figures."""
    added: int
    """Of the newer text."""
    added_with_figures: int
    sections_added: tuple[str, ...]
    sections_removed: tuple[str, ...]
    sections_renamed: tuple[RenamedSection, ...]
    figures: tuple[ChangedFigure, ...]
    """In the order of the older text, then what was added; places in the card, such as "Section 3.2", are no figures."""
    edits: tuple[PassageEdit, ...]
    """Sentences, rows and items that were reworded or removed, in the order of the older text."""


def find_text_changes(follower: Follower) -> RevisionChanges:
    """Return what changed between the two texts of *follower* as wholes."""
    alike = [pair for pair in follower.alignment.pairs if pair.is_alike]
    reworded = [pair for pair in follower.alignment.pairs if not pair.is_alike]
    ours, theirs = follower.old_words, follower.new_words
    pairs = follower.alignment.pairs
    removed = _list_left(follower.alignment.old_blocks, [pair.old for pair in pairs])
    added = _list_left(follower.alignment.new_blocks, [pair.new for pair in pairs])
    gone = tuple(filter(None, (_find_lost(follower, block, is_new=False) for block in removed)))
    come = tuple(filter(None, (_find_lost(follower, block, is_new=True) for block in added)))
    figures = sorted((*_find_figures(follower, reworded), *gone), key=lambda changed_figure: changed_figure.start)
    numbered = {figure.start for figure in figures}
    return RevisionChanges(
        unchanged=len(alike),
        moved=sum(_is_moved(follower, pair) for pair in alike),
        respelled=sum(ours.words[slice(*pair.old)] != theirs.words[slice(*pair.new)] for pair in alike),
        reworded=len(reworded),
        removed=len(removed),
        removed_with_figures=len(gone),
        added=len(added),
        added_with_figures=len(come),
        sections_added=tuple(follower.sections.find_added()),
        sections_removed=tuple(follower.sections.find_removed()),
        sections_renamed=tuple(follower.sections.find_renamed()),
        figures=(*figures, *come),
        edits=tuple(_find_edits(follower, reworded, removed, numbered)),
    )


def find_changed_numbers(old: str, new: str) -> str | None:
    """Return the numbers and signs of amount in which two passages differ, as "< 4 % → 5 %"; None if they have the same.

    Numbers in words count too.
    """
    ours, theirs = ([fold_spelling(word) for word in words.words] for words in read_words(old, new))
    before, after = (Counter(word for word in words if _has_digit(word) or word in _SIGNS or word in _WRITTEN) for words in (ours, theirs))
    left, right = before - after, after - before
    return _describe(left.elements(), right.elements()) if left or right else None


def _is_moved(follower: Follower, pair: AlignedRun) -> bool:
    old, new = follower.old_words.map_span(*pair.old)[0], follower.new_words.map_span(*pair.new)[0]
    return follower.sections.is_moved(old, new, in_order=pair.in_order)


def _list_left(blocks: list[tuple[int, int]], taken: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the blocks that lie in none of the runs *taken*."""
    covered = set(_list_words(taken))
    return [(start, stop) for start, stop in blocks if start not in covered]


def _find_edits(
    follower: Follower, reworded: list[AlignedRun], removed: list[tuple[int, int]], numbered: set[int]
) -> Iterator[PassageEdit]:
    """Yield the statements that were reworded or removed; headings, contents and furniture make none."""
    kinds = {passage.start: passage.kind for passage in follower.old_outline.passages}
    starts = sorted(kinds)
    runs = sorted([(pair.old, pair.new) for pair in reworded] + [(block, (0, 0)) for block in removed])
    for old, new in runs:
        start, stop = follower.old_words.map_span(*old)
        at = bisect_right(starts, start) - 1
        if at >= 0 and kinds[starts[at]] not in _STATE:
            continue
        before, after = _read(follower.old_words, old), _read(follower.new_words, new) if new[1] else ""
        section = follower.old_outline.find_section(start)
        lost = [word for word in range(*old) if follower.alignment.to_new[word] < 0]
        yield PassageEdit(
            old=before,
            new=after,
            turns=find_turns(before, after) if after else (),
            has_figures=start in numbered,
            page=follower.old.get_page_number(start) if len(follower.old.pages) > 1 else None,
            section=None if section is None else follower.old_outline.headings[section].title,
            start=start,
            stop=stop,
            changed=tuple(follower.old_words.map_span(word, word + 1) for word in lost),
        )


def _find_lost(follower: Follower, block: tuple[int, int], *, is_new: bool) -> ChangedFigure | None:
    """Return a removed or an added passage that has figures; None for one without, and for headings."""
    words, outline, card = (
        (follower.new_words, follower.new_outline, follower.new) if is_new else (follower.old_words, follower.old_outline, follower.old)
    )
    start, stop = words.map_span(*block)
    figures = _locate(words, [at for _, named, at in _list_figures(words, block) if not named])
    if not figures or _is_title(card.text, [heading.start for heading in outline.headings], start):
        return None
    section, text = outline.find_section(start), _read(words, block)
    taken_out, put_in = ((), figures) if is_new else (figures, ())
    return ChangedFigure(
        old="" if is_new else text,
        new=text if is_new else "",
        numbers=_describe_figures(taken_out, put_in),
        page=card.get_page_number(start) if len(card.pages) > 1 else None,
        section=None if section is None else outline.headings[section].title,
        start=start,
        stop=stop,
        taken_out=taken_out,
        put_in=put_in,
    )


def _list_words(spans: Iterable[tuple[int, int]]) -> Iterator[int]:
    for start, stop in spans:
        yield from range(start, stop)


def _find_figures(follower: Follower, reworded: list[AlignedRun]) -> Iterator[ChangedFigure]:
    titles = [heading.start for heading in follower.old_outline.headings]
    for pair in reworded:
        taken_out, put_in = _compare_figures(follower, pair)
        start, stop = follower.old_words.map_span(*pair.old)
        if _is_title(follower.old.text, titles, start):
            continue
        begin, _ = follower.new_words.map_span(*pair.new)
        rows = follower.compare_rows(start, begin)
        if rows is not None:
            taken_out, put_in = _keep_cells(taken_out, rows.taken_out), _keep_cells(put_in, rows.put_in)
        if not (taken_out or put_in):
            continue
        section = follower.new_outline.find_section(begin)
        yield ChangedFigure(
            old=_read(follower.old_words, pair.old),
            new=_read(follower.new_words, pair.new),
            numbers=_describe_figures(taken_out, put_in),
            page=follower.new.get_page_number(begin) if len(follower.new.pages) > 1 else None,
            section=None if section is None else follower.new_outline.headings[section].title,
            start=start,
            stop=stop,
            taken_out=taken_out,
            put_in=put_in,
        )


def _is_title(text: str, titles: list[int], start: int) -> bool:
    """Whether the line on which the character *start* stands begins with a title, whose numbers are no figures."""
    at = bisect_right(titles, start) - 1
    return at >= 0 and "\n" not in text[titles[at] : start].lstrip()


def _read(words: Words, span: tuple[int, int]) -> str:
    return " ".join(words.text[words.starts[span[0]] : words.stops[span[1] - 1]].split())


def _compare_figures(follower: Follower, pair: AlignedRun) -> tuple[tuple[PlacedFigure, ...], tuple[PlacedFigure, ...]]:
    """Return the figures that only the old passage has, and those that only the new one has.

    A number that belongs to a name ("Opus 4.7") is none, unless another took its place.
    """
    ours, theirs = _list_figures(follower.old_words, pair.old), _list_figures(follower.new_words, pair.new)
    before, after = (Counter((number, named) for number, named, _ in figures) for figures in (ours, theirs))
    left, right = before - after, after - before
    # A number after a capital is part of a name such as a version. It counts only if another number took its place.
    is_figure = any(not named for _, named in (*left, *right))
    if not is_figure and not (left and right):
        return (), ()
    to_new = follower.alignment.to_new
    kept = {to_new[at] for at in range(*pair.old)}
    # Of equal numbers, those without a counterpart are the ones that were removed.
    taken_out = _choose(left, sorted(ours, key=lambda our: to_new[our[2]] >= 0))
    put_in = _choose(right, sorted(theirs, key=lambda their: their[2] in kept))
    return _locate(follower.old_words, taken_out), _locate(follower.new_words, put_in)


def _keep_cells(figures: tuple[PlacedFigure, ...], cells: Counter[str]) -> tuple[PlacedFigure, ...]:
    """Return the figures that are in one of the changed cells; those of a new column are no changed figures."""
    return tuple(figure for figure in figures if any(figure.number in fold_spelling(cell) for cell in cells))


def _list_figures(words: Words, span: tuple[int, int]) -> list[tuple[str, bool, int]]:
    """Return the numbers that are no places in the card, whether a capital stands before each, as before a version, and its word."""
    figures = []
    for at in range(*span):
        folded = fold_spelling(words.words[at])
        before = words.words[at - 1] if at > span[0] else ""
        is_place = before.casefold() in _REFERRING or _PLACE.match(folded) is not None
        if _has_digit(folded) and not is_place:
            figures.append((folded, before[:1].isupper(), at))
    return figures


def _choose(wanted: Counter[tuple[str, bool]], figures: list[tuple[str, bool, int]]) -> list[int]:
    """Return the words of the first of *figures* that are *wanted*, as many as are, in the order of the text."""
    left, chosen = wanted.copy(), []
    for number, named, at in figures:
        if left[number, named] > 0:
            left[number, named] -= 1
            chosen.append(at)
    return sorted(chosen)


def _locate(words: Words, places: list[int]) -> tuple[PlacedFigure, ...]:
    spans = ((at, *words.map_span(at, at + 1)) for at in places)
    return tuple(PlacedFigure(number=fold_spelling(words.words[at]), start=start, stop=stop) for at, start, stop in spans)


def _is_in(figure: PlacedFigure, quoted: Iterable[Anchor]) -> bool:
    return any(anchor.start < figure.stop and figure.start < anchor.stop for anchor in quoted)


def _describe_figures(taken_out: Iterable[PlacedFigure], put_in: Iterable[PlacedFigure]) -> str:
    return _describe([figure.number for figure in taken_out], [figure.number for figure in put_in])


def _has_digit(word: str) -> bool:
    return any(character.isdigit() for character in word)
