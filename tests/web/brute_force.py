"""Claims selected and counted by looking at each of them: what the shelf has to agree with."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from registry.registration.claim_search import ListedClaim
from web.facets import (
    FACETS,
    ClaimFilter,
    FacetCounts,
    FacetValue,
    SelectedClaim,
    Selection,
    order_values,
    read_facets,
    split_words,
    write_searched,
)


def count_facets(rows: Sequence[Mapping[str, str]], chosen: Mapping[str, Iterable[str]] | None = None) -> dict[str, tuple[FacetValue, ...]]:
    """Return the values of each facet with their counts, the most frequent first. A facet's counts ignore what is chosen of it.

    Args:
        rows: the facets of each claim that passes everything else.
        chosen: the values that are chosen, by facet; of one facet any will do, of several all must hold.
    """
    wanted = {facet: frozenset(values) for facet, values in (chosen or {}).items()}
    counted: dict[str, tuple[FacetValue, ...]] = {}
    for facet in FACETS:
        others = {name: values for name, values in wanted.items() if name != facet}
        passing = (row for row in rows if all(row[name] in values for name, values in others.items()))
        counts = Counter(row[facet] for row in passing)
        counted[facet] = order_values(facet, counts, wanted.get(facet, frozenset()))
    return counted


class ClaimTable:
    """All claims of one reading of a registry, selected by looking at each."""

    def __init__(self, claims: Iterable[ListedClaim]) -> None:
        ordered = sorted(claims, key=lambda claim: -claim.summary.seq)
        self.claims = tuple(ordered)
        self._facets = tuple(read_facets(claim) for claim in ordered)
        self._words = tuple(frozenset(split_words(write_searched(claim))) for claim in ordered)

    def select(self, wanted: ClaimFilter, *, skip: int = 0, before: int | None = None, limit: int) -> Selection:
        """Return a selection; see `ClaimSource`."""
        words = split_words(wanted.words)
        places = [place for place, known in enumerate(self._words) if known.issuperset(words)]
        facets = count_facets([self._facets[place] for place in places], wanted.chosen)
        chosen = {facet: frozenset(values) for facet, values in wanted.chosen.items()}
        passing = [place for place in places if all(self._facets[place][facet] in values for facet, values in chosen.items())]
        shown = [place for place in passing if before is None or self.claims[place].summary.seq < before]
        counts = FacetCounts(lambda facet, most: (facets[facet][:most], len(facets[facet][len(facets[facet][:most]) :])))
        return Selection(total=len(passing), facets=counts, claims=tuple(self._describe(place) for place in shown[skip : skip + limit]))

    def _describe(self, place: int) -> SelectedClaim:
        summary = self.claims[place].summary
        facets = self._facets[place]
        return SelectedClaim(
            claim=summary.claim, revision=summary.revision, seq=summary.seq, class_=facets["class"], model=summary.model,
            status=summary.status, summary=summary, monitoring=facets["monitoring"], production=facets["production"],
        )  # fmt: skip
