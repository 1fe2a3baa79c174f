"""The facets by which claims are listed and searched: their names, and the values that a claim has."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol
from urllib.parse import urlencode

from registry.errors import CaveatError
from registry.records.claim_status import Dispute, Lifecycle, Staleness, Status
from registry.records.model_version import ModelRef
from registry.records.monitor import MonitorVerdict
from registry.records.verdict import Basis, ClaimClass, Verdict, VerdictStanding
from registry.registration.claim_search import UNAUDITED, ListedClaim, write_plain, write_verdict
from registry.report.supplement_wording import get_words
from registry.store.claim_listing import ClaimSummary

NONE = "none"
"""What stands for a value that a claim does not have, such as the class of a claim without an audit."""


def _write(value: object) -> str:
    return NONE if value is None else str(value)


FACETS: Mapping[str, Callable[[ListedClaim], str]] = {
    "verdict": lambda claim: write_verdict(claim.summary),
    "class": lambda claim: _write(claim.reading.class_ if claim.reading else None),
    "standing": lambda claim: _write(gravest.standing if (gravest := claim.summary.status.gravest) else None),
    "basis": lambda claim: _write(claim.basis),
    "form": lambda claim: claim.summary.form.value,
    "staleness": lambda claim: claim.summary.status.staleness.value,
    "dispute": lambda claim: claim.summary.status.dispute.value,
    "lifecycle": lambda claim: claim.summary.status.lifecycle.value,
    "monitoring": lambda claim: _write(claim.monitoring and claim.monitoring.state),
    "production": lambda claim: _write(claim.monitoring and claim.monitoring.verdict),
    "developer": lambda claim: claim.summary.model.developer,
    "model": lambda claim: claim.summary.model.name,
    "version": lambda claim: claim.summary.model.version,
    "card": lambda claim: _write(claim.summary.card and claim.summary.card.partition("@")[0]),
    "authority": lambda claim: claim.summary.claim.split("-")[1],
    "property": lambda claim: claim.summary.property.partition("@")[0],
    "pclass": lambda claim: _write(claim.property_class),
}
"""Every facet, by the name that an address has; each claim has one value of each."""

LABELS = {
    "verdict": "Verdict", "class": "TRACE class", "standing": "Standing", "basis": "Evidence basis", "form": "Form of the claim",
    "staleness": "Staleness", "dispute": "Dispute", "lifecycle": "Lifecycle", "monitoring": "Monitoring", "production": "In production",
    "developer": "Developer", "model": "Model", "version": "Model version", "card": "Card", "authority": "Authority",
    "property": "Property", "pclass": "Property class",
}  # fmt: skip

_TEXTS = frozenset({"developer", "model", "version", "card", "authority", "property"})
"""Facets whose values are names, not words of Caveat."""


# Not frozen, since a page has hundreds of them and a frozen one takes twice as long to make. Nothing changes it.
@dataclass(slots=True, unsafe_hash=True)
class FacetValue:
    """One value of a facet."""

    facet: str
    value: str
    count: int
    is_chosen: bool

    @property
    def label(self) -> str:
        """The value for a person."""
        return describe_value(self.facet, self.value)


def describe_value(facet: str, value: str) -> str:
    """Return *value* of *facet* for a person."""
    if value in (NONE, UNAUDITED) and facet in _WITHOUT_VALUE:
        return "not audited" if facet == "verdict" else "sealed" if facet == "pclass" else "no monitor" if facet in _MONITORED else "none"
    if facet in _TEXTS:
        return value
    # A value that an address invents has no words.
    known = _MEMBERS.get(facet)
    if known is None or value not in set(known):
        return value.replace("_", " ")
    words = get_words(known(value))
    # What a monitor says is a sentence; a list has its beginning.
    return words.partition(":")[0] if facet == "production" else words


_MEMBERS: Mapping[str, type[StrEnum]] = {
    "verdict": Verdict, "class": ClaimClass, "standing": VerdictStanding, "basis": Basis, "staleness": Staleness, "dispute": Dispute,
    "lifecycle": Lifecycle, "production": MonitorVerdict,
}  # fmt: skip
_MONITORED = frozenset({"monitoring", "production"})
_WITHOUT_VALUE = frozenset({"verdict", "class", "standing", "basis", "card", "pclass"}) | _MONITORED
"""Facets of which a claim can have no value: it was not audited, quotes no card, has no monitor, or its property is sealed."""


def read_facets(claim: ListedClaim) -> dict[str, str]:
    """Return the value of each facet of *claim*."""
    return {name: read(claim) for name, read in FACETS.items()}


def order_values(facet: str, counts: Mapping[str, int], chosen: Iterable[str]) -> tuple[FacetValue, ...]:
    """Return the values of one facet, the most frequent first; a value that is chosen is there with a count of 0 as well."""
    there = {**dict.fromkeys(chosen, 0), **{value: count for value, count in counts.items() if count}}
    ordered = sorted(there, key=lambda value: (-there[value], value))
    picked = frozenset(chosen)
    return tuple(FacetValue(facet, value, there[value], value in picked) for value in ordered)


# Selections: the claims that pass filters, with the counts of every facet.

_WORD = re.compile(r"\w+")


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of *text* as they are searched: letters, digits and low lines, without regard to upper and lower case."""
    return tuple(_WORD.findall(text.casefold()))


def write_searched(claim: ListedClaim) -> str:
    """Return the text of *claim* that words are searched in: quotation, identifier and model."""
    summary = claim.summary
    return " ".join((summary.quote or "", summary.claim, write_plain(summary.model)))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFilter:
    """What a list of claims is narrowed by."""

    chosen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values that are chosen, by facet: of one facet any will do, of several all must hold."""
    words: str = ""
    """Words that must all occur."""


def write_query(wanted: ClaimFilter, more: Mapping[str, str] | None = None) -> str:
    """Return *wanted* as the query of an address, always in the same order."""
    pairs = [(facet, value) for facet in LABELS for value in wanted.chosen.get(facet, ())]
    return urlencode([*([("q", wanted.words)] if wanted.words else []), *pairs, *(more or {}).items()])


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedClaim:
    """One claim of a selection."""

    claim: str
    """`CLM-…`."""
    revision: int
    seq: int
    """The entry that recorded this revision."""
    class_: str
    model: ModelRef
    status: Status | None = None
    """Its status, where it is at hand; None: it is read from the registry."""
    summary: ClaimSummary | None = None
    """What a list shows, where it is at hand; otherwise it is read from the registry."""
    monitoring: str = NONE
    """Where its monitors are; see `MonitorState`."""
    production: str = NONE
    """What their evidence says; see `MonitorVerdict`."""


class FacetCounts(Mapping[str, tuple[FacetValue, ...]]):
    """The values of each facet with their counts, the most frequent first; each facet is counted when it is asked for."""

    def __init__(self, count: Callable[[str, int | None], tuple[tuple[FacetValue, ...], int]]) -> None:
        """Take what counts a facet: it gives the most frequent values, as many as asked for (None: all), and how many more there are."""
        self._count = count

    def list_most(self, facet: str, most: int) -> tuple[tuple[FacetValue, ...], int]:
        """Return the *most* frequent values of *facet* and those that are chosen, and how many more there are."""
        return self._count(facet, most)

    def __getitem__(self, facet: str) -> tuple[FacetValue, ...]:
        """Return all values of *facet*."""
        if facet not in FACETS:
            raise KeyError(facet)
        return self._count(facet, None)[0]

    def __iter__(self) -> Iterator[str]:
        """Yield the facets."""
        return iter(FACETS)

    def __len__(self) -> int:
        """Return how many facets there are."""
        return len(FACETS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """One page of the claims that pass a filter, the latest revision first."""

    total: int
    """How many pass, on all pages."""
    facets: FacetCounts
    claims: tuple[SelectedClaim, ...]


def count_claims(claims: "ClaimSource") -> int | None:
    """Return how many claims there are; None where what they rest on cannot be read."""
    try:
        return claims.select(ClaimFilter(), limit=1).total
    except CaveatError:
        return None


LONGEST = 1_000_000_000
"""More claims than any list has."""


class ListStateFinder(Protocol):
    """Whatever names the states of lists of claims without making them."""

    def find_state(self, wanted: ClaimFilter, *, skip: int = 0, limit: int = LONGEST, most: int = 0) -> str:
        """Return a digest that differs where the list of claims that pass *wanted*, at most *limit* after *skip* of them, may differ.

        Args:
            most: how many values of each facet the list counts; 0 for a list without counts.
        """


BuildListStates = Callable[[Mapping[str, str]], ListStateFinder]
"""Takes the states of the pages of claims, by claim, `CLM-…`."""


class ClaimSource(Protocol):
    """Whatever can select claims."""

    def select(self, wanted: ClaimFilter, *, skip: int = 0, before: int | None = None, limit: int) -> Selection:
        """Return at most *limit* claims that pass *wanted*, after *skip* of them or of an entry before *before*."""
