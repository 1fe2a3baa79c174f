"""What two registries say about the same claims: where they disagree, and what one of them alone has."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from registry.codec.canonical_documents import digest, to_document
from registry.records.claim import ClaimRevision
from registry.records.claim_status import Dispute, read_words
from registry.records.record import Record
from registry.records.specification import PropertySpec
from registry.registration.claim_search import ClaimQuery, ListedClaim, search_claims, write_plain, write_verdict
from registry.store.registry_view import View


class MatchKind(StrEnum):
    """What a row of a comparison is, in the order in which rows are listed."""

    DISAGREEMENT = "disagreement"
    DIFFERENCE = "difference"
    """In both, and they differ without contradiction: one has no verdict, or one is withdrawn or stale."""
    ONLY_FIRST = "only_first"
    ONLY_SECOND = "only_second"
    SAME = "same"


_DISAGREEING = ("verdict", "objections", "theta", "relation", "form", "direction", "property")
"""In the order in which rows are listed; `audited` and the rest are differences that contradict nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimDifference(Record):
    """One point in which two records of a claim differ."""

    field: str
    first: str | float | None
    second: str | float | None

    @property
    def is_disagreement(self) -> bool:
        """Whether both cannot be right; one registry that has no verdict contradicts no other."""
        return self.field in _DISAGREEING


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPair(Record):
    """A claim in one registry or in both."""

    kind: MatchKind
    words: str
    model: str
    """`developer/name/version`."""
    first: str | None
    """`CLM-…@n`; None where the first registry has no such claim."""
    second: str | None
    first_verdict: str | None
    second_verdict: str | None
    differences: tuple[ClaimDifference, ...] = ()


@dataclass(frozen=True, slots=True)
class _Side:
    """A claim as one registry has it."""

    listed: ListedClaim
    claim: ClaimRevision
    property_name: str
    definition: str
    """Digest of the definition of the property; two registries number their definitions on their own."""

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the claim, whatever its punctuation and layout."""
        return read_words(self.claim.quote)


def compare_registries(first: View, second: View) -> list[ClaimPair]:
    """Return the claims of both in the order of `MatchKind`: disagreements first, claims without a difference last.

    Two claims are the same where their words and their model version are: identifiers are each registry's own. Among several of these,
    those about the same definition belong together, then those about a property of the same name.
    """
    left, right = _group(first), _group(second)
    pairs = [pair for key in dict.fromkeys([*left, *right]) for pair in _match(left.get(key, []), right.get(key, []))]
    return sorted(pairs, key=_weigh)


def _group(view: View) -> Mapping[tuple[tuple[str, ...], str], list[_Side]]:
    """Return the claims of *view* whose text is there, by words and model version."""
    listed = [claim for claim in search_claims(view, ClaimQuery(), log=view.log_origin) if claim.summary.quote is not None]
    revisions = view.find_recorded(claim.summary.seq for claim in listed)
    bodies = {reference: view.find_opened(reference) for reference in {claim.summary.property for claim in listed}}
    groups: dict[tuple[tuple[str, ...], str], list[_Side]] = {}
    for claim in listed:
        recorded = revisions.get(claim.summary.seq)
        if recorded is None:
            continue
        body = bodies[claim.summary.property]
        name = body.name if isinstance(body, PropertySpec) else claim.summary.property
        definition = digest(to_document(body)) if body is not None else claim.summary.property
        side = _Side(claim, recorded.payload, name, definition)
        groups.setdefault((side.words, write_plain(claim.summary.model).casefold()), []).append(side)
    return groups


def _match(left: Sequence[_Side], right: Sequence[_Side]) -> Iterator[ClaimPair]:
    """Yield the claims of one group, as pairs where they can be matched."""
    rest_left, rest_right = list(left), list(right)
    matchers: tuple[Callable[[_Side], object], ...] = (
        lambda side: (side.definition, side.claim.form, side.claim.theta),
        lambda side: side.definition,
        lambda side: side.property_name.casefold(),
        lambda _side: True,
    )
    for match in matchers:
        for side in tuple(rest_left):
            other = next((candidate for candidate in rest_right if match(candidate) == match(side)), None)
            # Unlike definitions are paired only where nothing else could be meant.
            if other is None or (match is matchers[-1] and (len(rest_left), len(rest_right)) != (1, 1)):
                continue
            rest_left.remove(side)
            rest_right.remove(other)
            yield _compare(side, other)
    yield from (_build_single(side, MatchKind.ONLY_FIRST) for side in rest_left)
    yield from (_build_single(side, MatchKind.ONLY_SECOND) for side in rest_right)


def _compare(left: _Side, right: _Side) -> ClaimPair:
    differences = tuple(_list_differences(left, right))
    is_disagreement = any(difference.is_disagreement for difference in differences)
    return ClaimPair(
        kind=MatchKind.DISAGREEMENT if is_disagreement else MatchKind.DIFFERENCE if differences else MatchKind.SAME,
        words=left.claim.quote,
        model=write_plain(left.claim.model),
        first=left.claim.reference,
        second=right.claim.reference,
        first_verdict=write_verdict(left.listed.summary),
        second_verdict=write_verdict(right.listed.summary),
        differences=differences,
    )


def _list_differences(left: _Side, right: _Side) -> Iterator[ClaimDifference]:
    left_status, right_status = left.listed.summary.status, right.listed.summary.status
    verdicts = [write_verdict(side.listed.summary) for side in (left, right)]
    is_audited = left_status.gravest is not None and right_status.gravest is not None
    values: list[tuple[str, Any, Any]] = [
        ("verdict" if is_audited else "audited", verdicts[0], verdicts[1]),
        ("objections", _describe_dispute(left_status.dispute), _describe_dispute(right_status.dispute)),
        *((name, getattr(left.claim, name), getattr(right.claim, name)) for name in ("theta", "relation", "form", "direction")),
        ("property", left.definition[:12], right.definition[:12]),
        ("lifecycle", left_status.lifecycle, right_status.lifecycle),
        ("staleness", left_status.staleness, right_status.staleness),
    ]
    for name, first, second in values:
        if first != second:
            yield ClaimDifference(field=name, first=first, second=second)


def _describe_dispute(dispute: Dispute) -> str:
    return "none" if dispute is Dispute.UNDISPUTED else dispute.value


def _build_single(side: _Side, kind: MatchKind) -> ClaimPair:
    is_first, verdict = kind is MatchKind.ONLY_FIRST, write_verdict(side.listed.summary)
    return ClaimPair(
        kind=kind,
        words=side.claim.quote,
        model=write_plain(side.claim.model),
        first=side.claim.reference if is_first else None,
        second=None if is_first else side.claim.reference,
        first_verdict=verdict if is_first else None,
        second_verdict=None if is_first else verdict,
    )


def _weigh(pair: ClaimPair) -> tuple[int, int, str]:
    fields = [_DISAGREEING.index(difference.field) for difference in pair.differences if difference.is_disagreement]
    return list(MatchKind).index(pair.kind), min(fields, default=len(_DISAGREEING)), pair.first or pair.second or ""
