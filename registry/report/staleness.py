"""What a supplement says of changes that its claim may not have survived: what each is, what a person decided, what would settle it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from registry.records.claim_status import CauseKind, StaleCause, Staleness, StalenessReview, StalenessVerdict, Status
from registry.records.dossier import Recorded
from registry.records.statement import Entry
from registry.records.supplement import CardSupplement, Supplement
from registry.report.moments import format_day

_REMEDY: Mapping[CauseKind, str] = {
    CauseKind.SUCCESSOR: "settled by carrying the claim to the new version, or a person who dismisses it",
    CauseKind.DEPRECATION: "settled by a person",
    CauseKind.CARD: "settled by a person",
    CauseKind.SPEC: "settled by a new audit under the newer version, or a person who dismisses it",
    CauseKind.METHOD: "settled by a new audit by the newer version, or a person who dismisses it",
    CauseKind.CONTESTATION: "settled by a new audit, or a person who dismisses it",
    CauseKind.EXPIRY: "settled by a new audit, or a person who dismisses it",
    CauseKind.REVISION: "settled by an audit of this revision, or a person who dismisses it",
}
_MOST_TOLD = 2
_READ_NEWER = "the newer revision is what stands"


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseRow:
    """One reason why a claim may be stale, or is."""

    kind: str | None
    """Value of its `CauseKind`; None in records made before causes were told apart."""
    text: str
    """In a sentence without full stop."""
    entry: Entry | None
    """Of what came; None where the record does not name it, as in records made before causes were told apart."""
    remedy: str | None
    """What would settle it, such as `settled by a person`; None where it is unknown, a person confirmed it, or a newer revision stands."""
    confirmed: Recorded[StalenessReview] | None
    """The review by which the claim is stale; None where nobody confirmed it."""


def name_causes(supplement: Supplement | CardSupplement, find_entry: Callable[[int], Entry | None]) -> Supplement | CardSupplement:
    """Return *supplement* with the entries that its causes to be stale and its family's outcomes number, so that they are proven too."""
    statuses = [supplement.status] if isinstance(supplement, Supplement) else [row.status for row in supplement.claims]
    numbers = sorted({cause.entry for status in statuses for cause in status.causes})
    found = tuple(one for one in map(find_entry, numbers) if one is not None)
    outcomes = [outcome for status in statuses for outcome in (status.gravest, status.beside) if outcome is not None]
    outcomes += [*supplement.family.outcomes, *supplement.family.others] if isinstance(supplement, Supplement) else []
    seqs = sorted({outcome.seq for outcome in outcomes if outcome.log is None})
    return replace(supplement, cause_entries=found, family_entries=tuple(one for one in map(find_entry, seqs) if one is not None))


def list_causes(
    status: Status, reviews: Sequence[Recorded[StalenessReview]], entries: Sequence[Entry], *, claim: str
) -> tuple[CauseRow, ...]:
    """Return why the claim revision *claim*, `CLM-…@n`, is stale or may be: what a person confirmed first, else in the order of *status*.

    Args:
        entries: those that the record names for causes.
    """
    known = {one.seq: one for one in entries}
    last = _find_last(reviews, claim)
    if not status.causes:
        return tuple(
            CauseRow(kind=None, text=one.removesuffix("."), entry=None, remedy=None, confirmed=None) for one in status.stale_because
        )
    is_replaced = any(describe_remedy(one, claim) == _READ_NEWER for one in status.causes)
    rows = []
    for cause in status.causes:
        review = _find_confirmation(cause, last)
        is_moot = is_replaced and cause.kind is not CauseKind.REVISION
        remedy = None if review or is_moot else describe_remedy(cause, claim)
        text, entry = cause.text.removesuffix("."), known.get(cause.entry)
        rows.append(CauseRow(kind=cause.kind.value, text=text, entry=entry, remedy=remedy, confirmed=review))
    return tuple(sorted(rows, key=lambda one: one.confirmed is None))


def describe_remedy(cause: StaleCause, claim: str) -> str:
    """Return what would settle *cause* for the claim revision *claim*, `CLM-…@n`, in words."""
    if cause.kind is CauseKind.REVISION and cause.what != claim:
        return _READ_NEWER
    return _REMEDY[cause.kind]


def describe_staleness(status: Status, reviews: Sequence[Recorded[StalenessReview]], *, claim: str) -> str | None:
    """Return what page one says of the staleness of the claim revision *claim*, `CLM-…@n`; None for one that is current."""
    if status.staleness is Staleness.CURRENT:
        return None
    rows = list_causes(status, reviews, (), claim=claim)
    waiting = _shorten([_tell_open(one) for one in rows if one.confirmed is None])
    if status.staleness is Staleness.POTENTIALLY_STALE:
        return f"It may be stale: {waiting}."
    each = {one.confirmed.entry.seq: one.confirmed for one in rows if one.confirmed is not None}
    told = _shorten([_tell_confirmed(one, rows) for one in each.values()]) or "a person confirmed it"
    return f"It is stale: {told}." + (f" Nobody has looked at this yet: {waiting}." if waiting else "")


def _find_last(reviews: Sequence[Recorded[StalenessReview]], claim: str) -> dict[tuple[CauseKind, str], Recorded[StalenessReview]]:
    """Return the last review on each cause of *claim*, by its name."""
    return {(cause.kind, cause.what): one for one in reviews if one.payload.claim == claim for cause in one.payload.causes}


def _find_confirmation(
    cause: StaleCause, last: Mapping[tuple[CauseKind, str], Recorded[StalenessReview]]
) -> Recorded[StalenessReview] | None:
    """Return the review that confirmed *cause*; one from before the entry that recorded it does not speak of it."""
    said = last.get((cause.kind, cause.what))
    is_confirmed = said is not None and said.payload.verdict is StalenessVerdict.CONFIRMED and said.entry.seq > cause.entry
    return said if is_confirmed else None


def _tell_open(row: CauseRow) -> str:
    return row.text if row.remedy is None else f"{row.text} ({row.remedy})"


def _tell_confirmed(review: Recorded[StalenessReview], rows: Sequence[CauseRow]) -> str:
    causes = " and ".join(one.text for one in rows if one.confirmed is review)
    return f"confirmed by {review.entry.actor} on {format_day(review.entry.at)} because {causes} (“{review.payload.why}”)"


def _shorten(told: Sequence[str]) -> str:
    more = len(told) - _MOST_TOLD
    return "; ".join(told[:_MOST_TOLD]) + (f"; and {more} more" if more > 0 else "")
