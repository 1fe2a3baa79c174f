"""Claims as bits of whole numbers: a set of a million claims is one number of 125 kB, and `&` and `|` are the operations of a search."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from registry.registration.claim_search import ListedClaim
from registry.store.claim_listing import ClaimSummary
from web.facets import FACETS, ClaimFilter, FacetValue, SelectedClaim, Selection, order_values, read_facets

_FEW = 2_000
"""Up to so many claims are looked at one by one: a facet with thousands of values would need as many operations on sets."""


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


def build_row(claim: ListedClaim) -> ShelfRow:
    """Return the row of *claim*, with what a list shows."""
    facets, summary = read_facets(claim), claim.summary
    values = tuple(facets[name] for name in FACETS)
    return ShelfRow(claim=summary.claim, revision=summary.revision, seq=summary.seq, facets=values, summary=summary)


def build_set(places: Iterable[int], size: int) -> int:
    """Return the set of *places*, each below *size*."""
    data = bytearray(size // 8 + 1)
    for place in places:
        data[place >> 3] |= 1 << (place & 7)
    return int.from_bytes(data, "little")


def list_places(members: int) -> Iterator[int]:
    """Yield the places in a set, the last first."""
    data = members.to_bytes((members.bit_length() + 7) // 8, "little")
    for index in range(len(data) - 1, -1, -1):
        if byte := data[index]:
            for bit in range(7, -1, -1):
                if byte >> bit & 1:
                    yield (index << 3) + bit


class ShelfState:
    """The claims at one entry of the log; nothing changes it after it was made."""

    def __init__(self, rows: Sequence[ShelfRow], *, log_size: int) -> None:
        self.log_size = log_size
        # In the order of their entries, so that the last places are the latest claims.
        self._rows = sorted(rows, key=lambda row: row.seq)
        self._places = {row.seq: place for place, row in enumerate(self._rows)}
        self._all = (1 << len(self._rows)) - 1
        self._sets: dict[str, dict[str, int]] = {}
        for index, facet in enumerate(FACETS):
            places: dict[str, list[int]] = {}
            for place, row in enumerate(self._rows):
                places.setdefault(row.facets[index], []).append(place)
            self._sets[facet] = {value: build_set(members, len(self._rows)) for value, members in places.items()}

    def select(
        self, wanted: ClaimFilter, *, found: Iterable[int] | None = None, skip: int = 0, before: int | None = None, limit: int
    ) -> Selection:
        """Return a selection; see `web.facets.ClaimSource`.

        Args:
            found: the entries of the claim revisions in which the words occur; None without words.
        """
        if wanted.words and found is None:
            raise ValueError("words are found in the file, not in the sets")
        matching = self._all
        if found is not None:
            matching = build_set((self._places[seq] for seq in found if seq in self._places), len(self._rows))
        chosen = {facet: self._unite(facet, values) for facet, values in wanted.chosen.items()}
        passing = matching
        for members in chosen.values():
            passing &= members
        shown: list[SelectedClaim] = []
        left = skip
        for place in list_places(passing):
            row = self._rows[place]
            if before is not None and row.seq >= before:
                continue
            if left:
                left -= 1
                continue
            if len(shown) == limit:
                break
            class_ = row.facets[_CLASS]
            shown.append(SelectedClaim(claim=row.claim, revision=row.revision, seq=row.seq, class_=class_, summary=row.summary))
        facets = {facet: self._count(facet, matching, chosen, wanted.chosen.get(facet, ())) for facet in FACETS}
        return Selection(total=passing.bit_count(), facets=facets, claims=tuple(shown))

    def _unite(self, facet: str, values: Iterable[str]) -> int:
        members = 0
        for value in values:
            members |= self._sets[facet].get(value, 0)
        return members

    def _count(self, facet: str, matching: int, chosen: Mapping[str, int], own: Iterable[str]) -> tuple[FacetValue, ...]:
        base = matching
        for name, members in chosen.items():
            if name != facet:
                base &= members
        sets = self._sets[facet]
        if len(sets) > _FEW // 10 and base.bit_count() <= _FEW:
            index = list(FACETS).index(facet)
            counts: dict[str, int] = {}
            for place in list_places(base):
                value = self._rows[place].facets[index]
                counts[value] = counts.get(value, 0) + 1
        else:
            counts = {value: (base & members).bit_count() for value, members in sets.items()}
        return order_values(facet, counts, own)


_CLASS = list(FACETS).index("class")
