"""What became of a quoted passage in another revision of its card, and where it stands there.

The two texts are aligned as wholes first (`registry.intake.revision.alignment`); each passage is then carried over word by word, so that
a quotation of half a sentence keeps its half. The same words in the same section are unchanged, in another section moved;
other words at the aligned place, or a passage much like it elsewhere, are reworded; the rest is gone.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from registry.intake.anchor import AnchoredText
from registry.intake.outline.passages import read_outline
from registry.intake.revision.alignment import LIKE_HERE, MOST_CELLS, Alignment, Pair, match_words, measure_likeness
from registry.intake.revision.sections import Sections
from registry.intake.revision.sense import is_negation
from registry.intake.revision.spelling import find_spelling
from registry.intake.revision.words import Words, read_words
from registry.intake.rules import SOFT_HYPHEN
from registry.records.card import Anchor, CardText
from registry.records.survey import Fate

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
class Followed:
    """What became of one passage."""

    fate: Fate
    anchor: Anchor | None
    """Where it stands in the new text; None for what is gone."""
    differs: tuple[str, ...] = ()
    """As in `registry.records.survey.Sighting`."""


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
        self.sections = Sections(self.old_outline.headings, self.new_outline.headings)
        self._anchored = AnchoredText(new)
        self._in_order = [pair for pair in self.alignment.pairs if pair.in_order]
        self._alike = [pair for pair in self._in_order if pair.is_alike]
        self._gaps: dict[tuple[int, int], dict[int, int]] = {}
        self._old_starts = {start for start, _ in self.alignment.old_blocks} | {len(self.old_words.words)}
        self._from_old = {word: at for at, word in enumerate(self.alignment.to_new) if word >= 0}

    def follow(self, anchor: Anchor) -> Followed:
        """Return what became of the passage at *anchor*, a place in the old text."""
        start, stop = self.old_words.find_words(anchor.start, anchor.stop)
        if start >= stop:
            return Followed(fate=Fate.GONE, anchor=None)
        place = self._find_place(start, stop)
        if place is None:
            return Followed(fate=Fate.GONE, anchor=None)
        place = self._widen(start, stop, place)
        differs = None if self._is_turned(start, place) else self._find_spelling(start, stop, place)
        if differs is None and self._measure(start, stop, place) < LIKE_HERE:
            return Followed(fate=Fate.GONE, anchor=None)
        there = self._anchor(anchor, place, start, stop)
        if differs != ():
            return Followed(fate=Fate.REWORDED, anchor=there, differs=differs or ())
        moved = self.sections.is_moved(anchor.start, there.start, in_order=place.in_order)
        return Followed(fate=Fate.MOVED if moved else Fate.UNCHANGED, anchor=there)

    def _find_place(self, start: int, stop: int) -> _Place | None:
        """Return the new words that are the old ones, or the most like them; None if there are none."""
        place = self._carry(start, stop)
        if place is not None and self._is_alike(start, stop, place):
            return place
        again = self._find_again(start, stop)
        if again is not None or (place is not None and self._measure(start, stop, place) >= LIKE_HERE):
            return again or place
        joined = self._carry_in_gap(start, stop)
        return max(filter(None, (place, joined)), key=lambda one: self._measure(start, stop, one), default=None)

    def _is_alike(self, start: int, stop: int, place: _Place) -> bool:
        return self.alignment.old[start:stop] == self.alignment.new[place.start : place.stop]

    def _measure(self, start: int, stop: int, place: _Place) -> float:
        return measure_likeness(self.alignment.old[start:stop], self.alignment.new[place.start : place.stop])

    def _carry(self, start: int, stop: int) -> _Place | None:
        """Return the run of new words that the old ones from *start* to *stop* correspond to; None if none of them does."""
        there = self._find_main_run(start, stop)
        first_pair, last_pair = (self.alignment.find_pair(there[at]) if there else None for at in (0, -1))
        if first_pair is None or last_pair is None:
            return None
        first, last = there[0], there[-1]
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

    def _count_before(self, first: int, start: int, pair: Pair) -> int:
        """Return how many new words before the counterpart of *first* took the place of the old ones between *start* and *first*."""
        outer = next((at for at in range(first - 1, pair.old[0] - 1, -1) if self.alignment.to_new[at] >= 0), None)
        free = self.alignment.to_new[first] - (pair.new[0] if outer is None else self.alignment.to_new[outer] + 1)
        wanted = first - max(start, pair.old[0])
        whole = start <= (pair.old[0] if outer is None else outer + 1)
        return free if whole and wanted else min(free, wanted)

    def _count_after(self, last: int, stop: int, pair: Pair) -> int:
        outer = next((at for at in range(last + 1, pair.old[1]) if self.alignment.to_new[at] >= 0), None)
        free = (pair.new[1] if outer is None else self.alignment.to_new[outer]) - self.alignment.to_new[last] - 1
        wanted = min(stop, pair.old[1]) - last - 1
        whole = stop >= (pair.old[1] if outer is None else outer)
        return free if whole and wanted else min(free, wanted)

    def _widen(self, start: int, stop: int, place: _Place) -> _Place:
        """Return *place* with the words put into its sentence, if the passage was a whole one; a "not" before it belongs to any passage."""
        first, last = place.start, place.stop
        low, high = self._find_block(first)[0], self._find_block(last - 1)[1]
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
        if not same and trail.strip() and (found := _AFTER.match(self.new.text, end)):
            end = found.end()
        return self._anchored.place(begin, end)


def _get_between(words: Words, at: int) -> str:
    """Return the signs between a word and the next, quotation marks and hyphens of all kinds alike."""
    return "".join(words.text[words.stops[at] : words.starts[at + 1]].translate(_QUOTES).split())


def _show(words: Words, at: int) -> str:
    return " ".join(words.text[words.starts[at] : words.stops[at + 1]].split())
