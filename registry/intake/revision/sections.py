"""Which section of one revision of a card is which of another: by title, whatever its number, in order."""

import re
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Indel, LCSseq

from registry.records.card import Heading

_NUMBER = re.compile(r"^(?:(?:section|chapter|appendix|annex|part)\s+)?(?:\d{1,3}|[A-Z])(?:\.\d{1,3})*[.):]?\s+(?=\S)", re.IGNORECASE)
_LIKE = 0.6
"""Likeness of two titles, by letters, from which one is the other renamed, if they stand between the same sections."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """A section with another title."""

    old: str
    new: str


class Sections:
    """The headings of two revisions, matched."""

    def __init__(self, old: Sequence[Heading], new: Sequence[Heading]) -> None:
        self.old, self.new = tuple(old), tuple(new)
        self._old_starts = [heading.start for heading in old]
        self._new_starts = [heading.start for heading in new]
        self._to_new = dict(_match([_get_key(one) for one in old], [_get_key(one) for one in new]))
        self._to_old = {j: i for i, j in self._to_new.items()}

    def is_moved(self, old: int, new: int, *, in_order: bool) -> bool:
        """Return whether the character *new* stands in another section than the character *old* did.

        A heading that was put in or taken out above a passage does not move it, if what stands around it is the same
        (*in_order*); nor does a card without headings know of any move.
        """
        ours, theirs = bisect_right(self._old_starts, old) - 1, bisect_right(self._new_starts, new) - 1
        became = self._to_new.get(ours)
        if ours < 0 and theirs < 0:
            return False
        if became == theirs:
            return False
        return not in_order or (became is not None and theirs in self._to_old)

    def find_added(self) -> list[str]:
        """Return the titles that the old revision has nothing for."""
        return [heading.title for at, heading in enumerate(self.new) if at not in self._to_old]

    def find_removed(self) -> list[str]:
        """Return the titles that the new revision has nothing for."""
        return [heading.title for at, heading in enumerate(self.old) if at not in self._to_new]

    def find_renamed(self) -> list[Renamed]:
        """Return the sections whose title has other words; another number or other capitals are no other title."""
        pairs = ((self.old[i], self.new[j]) for i, j in sorted(self._to_new.items()))
        return [Renamed(old.title, new.title) for old, new in pairs if _get_key(old) != _get_key(new)]


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
        likeness, at = max(scored, default=(0.0, 0))
        if likeness >= _LIKE:
            yield i, theirs[-at][0]
            start = 1 - at


def _compare(title: str, other: str) -> float:
    """Return the likeness of two titles, 1.0 where one has all the words of the other."""
    ours, theirs = set(title.split()), set(other.split())
    return 1.0 if ours <= theirs or theirs <= ours else Indel.normalized_similarity(title, other)
