"""Claims as arrays: the combination of values that a claim has of each group of facets, and bits for the values of facets that have few.

Measured with a million claims, of which 75,000 pass: counting 17 facets takes 4.1 ms with an array for each facet, 10.3 ms with one array
of 17 codes a claim, and 0.7 ms with the combinations of four groups, which give the counts of all their facets. Bits are for choosing:
`&` and a count take 16 µs.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from registry.records.claim_status import Status
from registry.records.model_version import ModelRef
from registry.registration.claim_search import ListedClaim
from registry.store.claim_listing import ClaimSummary
from web.facets import FACETS, ClaimFilter, FacetCounts, FacetValue, SelectedClaim, Selection, order_values, read_facets

_MOST_BITS = 64
"""A facet of more values has no bit sets: they would take more memory than its numbers."""
_BITS_COST = 1_000
"""An estimate: finding and counting one claim takes as long as counting so many of a bit set."""
_FEW = 8
"""Combinations that are compared one by one: 30 µs each with a million claims, and 750 µs for a table of all of them."""
_FEW_VALUES = 32
"""Values that Python sorts sooner than arrays are made of them."""
_MOST_KEPT = 500
_SMALL = 1_000
"""Claims that are counted again each time: keeping their counts would push out those of many claims."""
_BLOCK = 512
"""Words of 64 bits that are looked through at once."""

Bits = NDArray[np.uint64]
"""A set of places, the first in the lowest bit."""
Numbers = NDArray[np.int64]
Codes = NDArray[np.uint16] | NDArray[np.uint32]
Combination = tuple[str, ...]
"""A value of each facet of a group."""

GROUPS: tuple[tuple[str, ...], ...] = (
    ("verdict", "class", "standing", "basis", "form", "staleness", "dispute", "lifecycle", "monitoring", "production"),
    ("developer", "model", "version"),
    ("card", "authority"),
    ("property", "pclass"),
)
"""Facets with values that depend on each other, in the order of `FACETS`: a registry of many claims has few combinations of each group."""
_STATE, _ABOUT = 0, 1
"""The groups of what a list shows of a claim: its state, and its model version."""
_PICK_STATE = itemgetter(*map(GROUPS[_STATE].index, ("class", "monitoring", "production")))


def split_groups(facets: Sequence[str]) -> Iterator[Combination]:
    """Yield the combination that *facets*, in the order of `FACETS`, have of each group."""
    start = 0
    for group in GROUPS:
        yield tuple(facets[start : start + len(group)])
        start += len(group)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelfRow:
    """One claim with its facets, as the shelf has it at some entry."""

    claim: str
    revision: int
    seq: int
    """The entry that recorded the revision."""
    facets: tuple[str, ...]
    """In the order of `FACETS`."""
    summary: ClaimSummary | None = None
    """What a list shows, where it is at hand."""


NamedRevision = tuple[str, int, Status | None, ClaimSummary | None]
"""A claim, one of its revisions, its status, and what a list shows of it, where these are at hand."""
Describe = Callable[[Sequence[int]], Sequence[NamedRevision]]
"""Gives the revisions that these entries recorded, in this order."""


def build_row(claim: ListedClaim) -> ShelfRow:
    """Return the row of *claim*, with what a list shows."""
    facets, summary = read_facets(claim), claim.summary
    values = tuple(facets[name] for name in FACETS)
    return ShelfRow(claim=summary.claim, revision=summary.revision, seq=summary.seq, facets=values, summary=summary)


def build_set(places: NDArray[Any], size: int) -> Bits:
    """Return the set of *places*, each below *size*."""
    flags = np.zeros(size, dtype=bool)
    flags[places] = True
    return _pack(flags)


def _pack(flags: NDArray[np.bool_]) -> Bits:
    packed = np.packbits(flags, bitorder="little")
    return np.concatenate((packed, np.zeros(-len(packed) % 8, dtype=np.uint8))).view(np.uint64)


def _count_bits(members: Bits) -> int:
    return int(np.bitwise_count(members).sum(dtype=np.int64))


def find_places(members: Bits) -> Numbers:
    """Return the places in a set, ascending."""
    # Most words of a small set are empty, and truth values are looked through three times as fast as numbers.
    filled = np.flatnonzero(members)
    bits = np.flatnonzero(np.unpackbits(members[filled].view(np.uint8), bitorder="little").view(bool))
    places: Numbers = (filled[bits >> 6] << 6) + (bits & 63)
    return places


def list_places(members: Bits, *, skip: int = 0) -> Iterator[int]:
    """Yield the places in a set, the last first, without the first *skip* of these."""
    stop = len(members)
    while stop > 0:
        start = max(0, stop - _BLOCK)
        block = members[start:stop]
        count = _count_bits(block)
        if skip >= count:
            skip -= count
        else:
            places = find_places(block)[::-1][skip:] + start * 64
            skip = 0
            yield from places.tolist()
        stop = start


class _Group:
    """One group of facets of all claims."""

    def __init__(self, combinations: Sequence[Combination], codes: Codes) -> None:
        self.combinations = combinations
        """By code; a combination may occur no more."""
        self.codes = codes
        self._totals = np.bincount(codes, minlength=len(combinations))

    def unite(self, picked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return for each claim whether its combination is *picked*."""
        codes = np.flatnonzero(picked)
        if len(codes) > _FEW:
            flags: NDArray[np.bool_] = np.take(picked, self.codes)
            return flags
        # A number of Python is compared in the type of the array.
        parts = [self.codes == code for code in codes.tolist()]
        return functools.reduce(np.bitwise_or, parts) if parts else np.zeros(len(self.codes), dtype=bool)

    def count(self, base: "_Base") -> Numbers:
        """Return how many claims of *base* have each combination."""
        if base.count == len(self.codes):
            return self._totals
        return np.bincount(self.codes[base.places], minlength=len(self.combinations))


class _Column:
    """One facet of all claims."""

    def __init__(self, group: _Group, place: int) -> None:
        self.group = group
        texts = [combination[place] for combination in group.combinations]
        self.values = tuple(dict.fromkeys(texts))
        """By code; a value may occur no more."""
        self._by_value = {value: code for code, value in enumerate(self.values)}
        self._code_of = np.array([self._by_value[text] for text in texts], dtype=np.int64)
        """By code of the combination."""
        # Codes in the order of their values, so that a stable sort by count needs to compare no texts.
        self._ordered = np.array(sorted(range(len(self.values)), key=self.values.__getitem__), dtype=np.int64)
        self._bits = self._build_bits() if 0 < len(self.values) <= _MOST_BITS else None

    def _build_bits(self) -> NDArray[np.uint64]:
        codes = self._code_of.astype(np.uint8)[self.group.codes]
        return np.stack([_pack(codes == code) for code in range(len(self.values))])

    def unite(self, values: Iterable[str]) -> Bits:
        """Return the claims that have one of *values*."""
        codes = [self._by_value[value] for value in values if value in self._by_value]
        if self._bits is not None:
            return np.asarray(np.bitwise_or.reduce(self._bits[codes], axis=0)) if codes else np.zeros_like(self._bits[0])
        return _pack(self.group.unite(np.isin(self._code_of, codes)))

    def count(self, base: "_Base") -> Numbers:
        """Return how many claims of *base* have each value, by code."""
        if self._bits is not None and not base.is_counted and base.count * _BITS_COST > len(self.values) * len(self.group.codes):
            counts: Numbers = np.bitwise_count(self._bits & base.members).sum(axis=1, dtype=np.int64)
            return counts
        # Whole numbers below 2**53 are exact as weights.
        return np.bincount(self._code_of, weights=base.count_group(self.group), minlength=len(self.values)).astype(np.int64)

    def list_most(self, counts: Numbers, most: int) -> tuple[dict[str, int], int]:
        """Return the *most* frequent values with their counts, and how many more there are."""
        if len(self.values) <= _FEW_VALUES:
            numbers = counts.tolist()
            ordered = sorted((code for code in self._ordered.tolist() if numbers[code]), key=lambda code: -numbers[code])
            return {self.values[code]: numbers[code] for code in ordered[:most]}, max(0, len(ordered) - most)
        there = self._ordered[counts[self._ordered] > 0]
        first = there[np.argsort(-counts[there], kind="stable")][:most]
        listed = zip(first.tolist(), counts[first].tolist(), strict=True)
        return {self.values[code]: count for code, count in listed}, len(there) - len(first)

    def find_count(self, counts: Numbers, value: str) -> int:
        """Return the count of one value."""
        code = self._by_value.get(value)
        return 0 if code is None else int(counts[code])


class _Base:
    """A set of claims in which facets are counted."""

    def __init__(self, members: Bits, *, is_counted: bool) -> None:
        self.members = members
        self.count = _count_bits(members)
        self.is_counted = is_counted
        """Whether all facets are counted in it, so that its claims have to be found anyway."""
        self._places: Numbers | None = None
        self._counts: dict[int, Numbers] = {}

    @property
    def places(self) -> Numbers:
        """The claims by number."""
        if self._places is None:
            self._places = find_places(self.members)
        return self._places

    def count_group(self, group: _Group) -> Numbers:
        """Return how many of the claims have each combination of *group*."""
        counts = self._counts.get(id(group))
        if counts is None:
            counts = self._counts[id(group)] = group.count(self)
        return counts


class ShelfState:
    """The claims at one entry of the log; nothing changes it after it was made."""

    def __init__(
        self, *, log_size: int, seqs: Numbers, combinations: Sequence[Sequence[Combination]], codes: Sequence[Codes], describe: Describe
    ) -> None:
        """Take the claims in the order of the entries *seqs*, with the *codes* of the *combinations* of each group."""
        self.log_size = log_size
        self.seqs = seqs
        self._groups = tuple(_Group(known, numbers) for known, numbers in zip(combinations, codes, strict=True))
        self._by_facet = {
            facet: _Column(group, place) for group, names in zip(self._groups, GROUPS, strict=True) for place, facet in enumerate(names)
        }
        self._describe = describe
        self._all = build_set(np.arange(len(seqs)), len(seqs))
        self._counts: dict[tuple[str, Any], Numbers] = {}

    @property
    def codes(self) -> tuple[Codes, ...]:
        """The codes of all claims, by group."""
        return tuple(group.codes for group in self._groups)

    def select(
        self,
        wanted: ClaimFilter,
        *,
        entries: Numbers | None = None,
        skip: int = 0,
        before: int | None = None,
        limit: int,
    ) -> Selection:
        """Return a selection; see `web.facets.ClaimSource`.

        Args:
            entries: those of the claim revisions in which the words occur, ascending; None without words.
        """
        if wanted.words and entries is None:
            raise ValueError("words are found in the file, not in the sets")
        matching = self._all if entries is None else build_set(self._find_entries(entries), len(self.seqs))
        chosen, passing = self._choose(wanted, matching)
        base = _Base(passing, is_counted=True)
        shown = passing if before is None else self._cut(passing, before)
        claims = tuple(self._name(list(islice(list_places(shown, skip=skip), limit))))
        counter = _Counter(
            wanted=wanted,
            columns=self._by_facet,
            matching=matching,
            chosen=chosen,
            passing=base,
            kept=self._counts if entries is None else {},
        )
        return Selection(total=base.count, facets=FacetCounts(counter.list_most), claims=claims)

    def _choose(self, wanted: ClaimFilter, matching: Bits) -> tuple[dict[str, Bits], Bits]:
        """Return the claims with the values that are chosen, by facet, and those of *matching* that have all of them."""
        chosen = {facet: self._by_facet[facet].unite(values) for facet, values in wanted.chosen.items()}
        passing = matching
        for members in chosen.values():
            passing = passing & members
        return chosen, passing

    def find_listed(self, wanted: ClaimFilter) -> Numbers:
        """Return the places of the claims that have the values that *wanted* chooses, the latest first."""
        return find_places(self._choose(wanted, self._all)[1])[::-1]

    def list_claims(self) -> Iterator[str]:
        """Yield all claims, `CLM-…`, in the order of their entries."""
        for start in range(0, len(self.seqs), _BLOCK):
            yield from (claim for claim, *_ in self._describe(self.seqs[start : start + _BLOCK].tolist()))

    def _name(self, places: Sequence[int]) -> Iterator[SelectedClaim]:
        entries = self.seqs[places].tolist()
        codes = zip(*(group.codes[places].tolist() for group in self._groups), strict=True)
        state, about = self._groups[_STATE].combinations, self._groups[_ABOUT].combinations
        for seq, own, (claim, revision, status, summary) in zip(entries, codes, self._describe(entries), strict=True):
            class_, monitoring, production = _PICK_STATE(state[own[_STATE]])
            developer, name, version = about[own[_ABOUT]]
            yield SelectedClaim(
                claim=claim, revision=revision, seq=seq, class_=class_, model=ModelRef(developer=developer, name=name, version=version),
                status=status, summary=summary, monitoring=monitoring, production=production,
            )  # fmt: skip

    def _find_entries(self, entries: Numbers) -> Numbers:
        places = np.searchsorted(self.seqs, entries)
        places[places == len(self.seqs)] = 0
        return places[self.seqs[places] == entries] if len(self.seqs) else places[:0]

    def _cut(self, members: Bits, before: int) -> Bits:
        """Return those of *members* that entries before the entry *before* recorded."""
        word, bit = divmod(int(np.searchsorted(self.seqs, before)), 64)
        cut = members[: word + 1].copy()
        cut[word:] &= np.uint64((1 << bit) - 1)
        return cut


class _Counter:
    """The counts of one selection, each made when it is asked for: a page shows few facets."""

    def __init__(
        self,
        *,
        wanted: ClaimFilter,
        columns: Mapping[str, _Column],
        matching: Bits,
        chosen: Mapping[str, Bits],
        passing: _Base,
        kept: dict[tuple[str, Any], Numbers],
    ) -> None:
        self._wanted = wanted
        self._everything = frozenset(wanted.chosen.items())
        self._columns = columns
        self._matching = matching
        self._chosen = chosen
        self._passing = passing
        self._kept = kept

    def list_most(self, facet: str, most: int | None) -> tuple[tuple[FacetValue, ...], int]:
        """Return the values of *facet* with their counts; see `FacetCounts`."""
        column, own = self._columns[facet], self._wanted.chosen.get(facet, ())
        counts = self._count(facet, column)
        listed, rest = column.list_most(counts, len(column.values) if most is None else most)
        # A value that is chosen is shown however rare it is.
        added = {value: column.find_count(counts, value) for value in own if value not in listed}
        if not added:
            # They are in order already.
            picked = frozenset(own)
            return tuple([FacetValue(facet, value, count, value in picked) for value, count in listed.items()]), rest
        return order_values(facet, listed | added, own), rest - sum(1 for count in added.values() if count)

    def _count(self, facet: str, column: _Column) -> Numbers:
        others = self._everything
        if facet in self._chosen:
            others = frozenset(item for item in others if item[0] != facet)
        counts = self._kept.get((facet, others))
        if counts is None:
            base = self._find_base(facet)
            counts = column.count(base)
            if base.count > _SMALL:
                while len(self._kept) >= _MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
                self._kept[facet, others] = counts
        return counts

    def _find_base(self, facet: str) -> _Base:
        """Return the claims in which *facet* is counted: its counts ignore what is chosen of it."""
        if facet not in self._chosen:
            return self._passing
        base = self._matching
        for name, members in self._chosen.items():
            if name != facet:
                base = base & members
        return _Base(base, is_counted=False)


def build_state(rows: Iterable[ShelfRow], *, log_size: int) -> ShelfState:
    """Return the state of *rows*, which stay in memory with it."""
    by_entry = {row.seq: row for row in sorted(rows, key=lambda row: row.seq)}
    known: list[dict[Combination, int]] = [{} for _ in GROUPS]
    numbers = [
        [codes.setdefault(combination, len(codes)) for codes, combination in zip(known, split_groups(row.facets), strict=True)]
        for row in by_entry.values()
    ]
    array = np.array(numbers, dtype=np.uint32).reshape(-1, len(GROUPS))
    codes = [narrow_codes(array[:, place], len(combinations)) for place, combinations in enumerate(known)]

    def describe(entries: Sequence[int]) -> list[NamedRevision]:
        rows = map(by_entry.__getitem__, entries)
        return [(row.claim, row.revision, row.summary.status if row.summary else None, row.summary) for row in rows]

    seqs = np.array(list(by_entry), dtype=np.int64)
    return ShelfState(
        log_size=log_size, seqs=seqs, combinations=[tuple(combinations) for combinations in known], codes=codes, describe=describe
    )


def narrow_codes(codes: NDArray[np.uint32], count: int) -> Codes:
    """Return *codes* of *count* combinations one after the other, in as few bytes as hold them."""
    return codes.astype(np.uint16) if count <= 1 << 16 else np.ascontiguousarray(codes)
