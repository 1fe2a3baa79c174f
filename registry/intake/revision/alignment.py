"""Which words of one text stand where in another: two revisions of a card aligned as wholes.

Sentences, rows and headings that are alike are matched in order first (longest common subsequence), so that a sentence that
occurs often meets its own counterpart and not a copy elsewhere. What is alike and left over on both sides has moved. Between two
matches, what is left is paired in order by likeness, one with one or two with one, and within a pair the words are matched.
Where words stand is counted in the words of `registry.intake.revision.words`.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import accumulate

from rapidfuzz.distance import Indel, LCSseq

from registry.intake.revision.spelling import fold_spelling
from registry.intake.revision.words import Words

LIKE_HERE = 0.5
"""Likeness from which a passage at the aligned place is taken for the other, reworded: twice the words that both have in
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
class Pair:
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

    def find_pair(self, word: int) -> Pair | None:
        """Return the pair in which a word of the old text stands; None for what has no counterpart."""
        at = bisect_right(self._starts, word) - 1
        return self.pairs[at] if at >= 0 and word < self.pairs[at].old[1] else None

    def _encode(self, words: Words) -> str:
        """Return one character for each word; rapidfuzz and `str.find` are quickest on texts. Surrogates are passed over."""
        code = self._code
        for word in map(fold_spelling, words.words):
            if word not in code:
                number = len(code) + 0x100
                code[word] = chr(number if number < 0xD800 else number + 0x800)
        return "".join(code[fold_spelling(word)] for word in words.words)

    def _find_pairs(self) -> Iterator[Pair]:
        ours = [self.old[start:stop] for start, stop in self.old_blocks]
        theirs = [self.new[start:stop] for start, stop in self.new_blocks]
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

    def _pair(self, old: Span, new: Span, *, in_order: bool) -> Pair:
        ours = (self.old_blocks[old[0]][0], self.old_blocks[old[1] - 1][1])
        theirs = (self.new_blocks[new[0]][0], self.new_blocks[new[1] - 1][1])
        return Pair(ours, theirs, in_order, self.old[slice(*ours)] == self.new[slice(*theirs)])

    def _map_words(self) -> list[int]:
        mapped = [-1] * len(self.old)
        for pair in self.pairs:
            (a, b), (c, d) = pair.old, pair.new
            if pair.is_alike:
                mapped[a:b] = range(c, d)
            elif (b - a) * (d - c) <= MOST_CELLS:
                for ours, theirs in match_words(self.old[a:b], self.new[c:d]).items():
                    mapped[a + ours] = c + theirs
        return mapped


def measure_likeness(ours: str, theirs: str) -> float:
    """Return the likeness of two encoded runs of words, between 0 and 1."""
    return Indel.normalized_similarity(ours, theirs)


def match_words(ours: str, theirs: str) -> dict[int, int]:
    """Return which words of two encoded runs stand in both in the same order, the most there are."""
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
    found: list[tuple[int, int]] = []
    at = piles[-1] if piles else -1
    while at >= 0:
        found.append(chains[at][0])
        at = chains[at][1]
    return found[::-1]


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
    (after Gale and Church, 1993, with likeness of words in place of lengths). In a large gap only blocks that share rare words are
    compared, wherever they stand: what was reworded is found beside a chapter that was put in.
    """
    if len(ours) * len(theirs) <= _WHOLE:
        places: Iterable[tuple[int, int]] = ((i, j) for i in range(len(ours)) for j in range(len(theirs)))
    else:
        places = sorted((i, there) for i, j in _find_candidates(ours, theirs) for there in {j, min(j + 1, len(theirs) - 1)})
    beads = []
    for i, j in dict.fromkeys(places):
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
    last, found = max(range(len(beads)), key=lambda number: chains[number][0], default=-1), []
    while last >= 0:
        found.append((beads[last].old, beads[last].new))
        last = chains[last][1]
    yield from reversed(found)


def _weigh(ours: list[str], theirs: list[str]) -> float:
    """Return the words of two runs of blocks that are alike, 0.0 if too few are; a run must be the more alike for each of its parts."""
    left, right = "".join(ours), "".join(theirs)
    likeness = Indel.normalized_similarity(left, right, score_cutoff=LIKE_HERE)
    if not likeness:
        return 0.0
    parts = [one for run in (ours, theirs) if len(run) > 1 for one in run]
    if any(Indel.normalized_similarity(left if one in theirs else right, one) < 0.25 for one in parts):
        return 0.0
    return likeness * (len(left) + len(right))


def _pair_elsewhere(ours: list[str], theirs: list[str], old: list[int], new: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the left-over blocks that are much alike at different places, the most alike first."""
    long = [i for i in old if len(ours[i]) > _SHORTEST_MOVED]
    scored: list[tuple[float, int, int]] = []
    for a, b in _find_candidates([ours[i] for i in long], [theirs[j] for j in new]):
        i, j = long[a], new[b]
        likeness = Indel.normalized_similarity(ours[i], theirs[j], score_cutoff=LIKE_ELSEWHERE)
        if likeness:
            scored.append((-likeness, i, j))
    taken_old: set[int] = set()
    taken_new: set[int] = set()
    for _, i, j in sorted(scored):
        if i not in taken_old and j not in taken_new:
            taken_old.add(i)
            taken_new.add(j)
            yield i, j
