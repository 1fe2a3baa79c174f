"""A claim's status in a supplement: changes it may not have survived, objections, and opened seals."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from registry.codec.statement_encoding import check_openings, list_opened
from registry.errors import Fault, InputError
from registry.records.claim_status import CauseKind, ObjectionState, StaleCause, Staleness, StalenessReview, StalenessVerdict, Status
from registry.records.dossier import ObjectionFile, Recorded
from registry.records.model_version import ModelRef
from registry.records.specification import SpecOpening
from registry.records.statement import Entry
from registry.records.supplement import AnySupplement, AuditSummary, CardSupplement, ChangeReport, ClaimRow, SpecRole, Supplement
from registry.report.number_format import format_day

# Staleness. Nine kinds of cause are derived when read, each with the entry that recorded it;
# nothing is stored as a status. A claim only *may* be stale until a person reviews the cause, or an
# audit opened after it has an outcome (decision of 2026-11-22). The cost: a deprecation that is
# taken back and repeated must be reviewed again.

_REMEDY: Mapping[CauseKind, str] = {
    CauseKind.SUCCESSOR: "resolved by applying the claim to it, or by a dismissal",
    CauseKind.DEPRECATION: "resolved by a review",
    CauseKind.CARD: "resolved by a review",
    CauseKind.SPEC: "resolved by a new audit under the newer version, or by a dismissal",
    CauseKind.METHOD: "resolved by a new audit with the newer version, or by a dismissal",
    CauseKind.OBJECTION: "resolved by a new audit, or by a dismissal",
    CauseKind.EXPIRY: "resolved by a new audit, or by a dismissal",
    CauseKind.MONITOR: "resolved by a new audit, or by a dismissal",
    CauseKind.REVISION: "resolved by an audit of this revision, or by a dismissal",
}
_MOST_LISTED = 2
_READ_NEWER = "read the newer revision"


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseRow:
    """One reason why a claim may be stale, or is."""

    kind: str
    """Value of its `CauseKind`."""
    text: str
    """In a sentence without full stop."""
    entry: Entry | None
    """Of what came; None where the record does not have that entry."""
    remedy: str | None
    """What would resolve it, such as `resolved by a review`; None where it is unknown, confirmed, or replaced."""
    confirmed: Recorded[StalenessReview] | None
    """The review by which the claim is stale; None if it was not confirmed."""


def name_causes(supplement: Supplement | CardSupplement, find_entry: Callable[[int], Entry | None]) -> Supplement | CardSupplement:
    """Return *supplement* with the entries that its causes to be stale and its family's outcomes number, so that they are proven too."""
    statuses = [supplement.status] if isinstance(supplement, Supplement) else [row.status for row in supplement.claims]
    numbers = sorted({cause.entry for status in statuses for cause in status.causes})
    entries = tuple(entry for entry in map(find_entry, numbers) if entry is not None)
    outcomes = [outcome for status in statuses for outcome in (status.gravest, status.beside) if outcome is not None]
    outcomes += [*supplement.family.outcomes, *supplement.family.others] if isinstance(supplement, Supplement) else []
    # Outcomes in other logs have no entry here that could be proven.
    seqs = sorted({outcome.seq for outcome in outcomes if outcome.log is None})
    return replace(supplement, cause_entries=entries, family_entries=tuple(entry for entry in map(find_entry, seqs) if entry is not None))


def list_causes(
    status: Status, reviews: Sequence[Recorded[StalenessReview]], entries: Sequence[Entry], *, claim: str
) -> tuple[CauseRow, ...]:
    """Return why the claim revision *claim*, `CLM-…@n`, is stale or may be: what a person confirmed first, else in the order of *status*.

    Args:
        entries: those that the record names for causes.
    """
    known = {cause_entry.seq: cause_entry for cause_entry in entries}
    last = _find_last(reviews, claim)
    # A newer revision takes the place of this one, so the other causes need no remedy.
    is_replaced = any(describe_remedy(stale_cause, claim) == _READ_NEWER for stale_cause in status.causes)
    rows = []
    for cause in status.causes:
        staleness_review = last.get((cause.kind, cause.what))
        # A review applies to causes recorded before it: the same words later are a new question.
        is_confirmed = (
            staleness_review is not None
            and staleness_review.payload.verdict is StalenessVerdict.CONFIRMED
            and staleness_review.entry.seq > cause.entry
        )
        review = staleness_review if is_confirmed else None
        is_moot = is_replaced and cause.kind is not CauseKind.REVISION
        remedy = None if review or is_moot else describe_remedy(cause, claim)
        text, entry = cause.text.removesuffix("."), known.get(cause.entry)
        rows.append(CauseRow(kind=cause.kind.value, text=text, entry=entry, remedy=remedy, confirmed=review))
    # Confirmed causes come first; sorting is stable, so the rest keeps its order.
    return tuple(sorted(rows, key=lambda row: row.confirmed is None))


def describe_remedy(cause: StaleCause, claim: str) -> str:
    """Return what would resolve *cause* for the claim revision *claim*, `CLM-…@n`, in words."""
    # The cause names the newer revision: nothing resolves it for the older one.
    if cause.kind is CauseKind.REVISION and cause.what != claim:
        return _READ_NEWER
    return _REMEDY[cause.kind]


def describe_staleness(status: Status, reviews: Sequence[Recorded[StalenessReview]], *, claim: str, model: ModelRef) -> str | None:
    """Return what page one says of the staleness of the claim revision *claim*, `CLM-…@n`; None for one that is current or superseded.

    Args:
        model: of the revision; page one names it in its head, so it is not repeated.
    """
    if status.staleness is Staleness.CURRENT:
        return None
    rows = [replace(row, text=shorten_model(row.text, model)) for row in list_causes(status, reviews, (), claim=claim)]
    waiting = _shorten([_describe_open(row) for row in rows if row.confirmed is None])
    if status.staleness is Staleness.NEEDS_REVIEW:
        # The notice above the claim already names the newer revision to read.
        if any(row.remedy == _READ_NEWER for row in rows):
            return None
        return f"Needs review: {waiting}."
    # One review can confirm several causes; it is named once.
    confirmations = {cause_row.confirmed.entry.seq: cause_row.confirmed for cause_row in rows if cause_row.confirmed is not None}
    reason = _shorten([_describe_confirmed(review, rows) for review in confirmations.values()]) or "a person confirmed it"
    return f"It is stale: {reason}." + (f" This has not been reviewed yet: {waiting}." if waiting else "")


def shorten_model(text: str, model: ModelRef) -> str:
    """Return the cause *text* as a page writes it that names *model* already, without the developer of both versions."""
    if not text.startswith(f"{model} "):
        return text
    return "its model" + text.removeprefix(str(model)).replace(f" {model.developer} ", " ", 1)


def _find_last(reviews: Sequence[Recorded[StalenessReview]], claim: str) -> dict[tuple[CauseKind, str], Recorded[StalenessReview]]:
    """Return the last review on each cause of *claim*, by its name."""
    # In log order, so a later review replaces an earlier one on the same cause.
    return {(cause.kind, cause.what): review for review in reviews if review.payload.claim == claim for cause in review.payload.causes}


def _describe_open(row: CauseRow) -> str:
    return row.text if row.remedy is None else f"{row.text} ({row.remedy})"


def _describe_confirmed(review: Recorded[StalenessReview], rows: Sequence[CauseRow]) -> str:
    causes = " and ".join(row.text for row in rows if row.confirmed is review)
    return f"confirmed by {review.entry.actor} on {format_day(review.entry.at)} because {causes} (“{review.payload.why}”)"


def _shorten(texts: Sequence[str]) -> str:
    more = len(texts) - _MOST_LISTED
    return "; ".join(texts[:_MOST_LISTED]) + (f"; and {more} more" if more > 0 else "")


# Disputes and disclosure.
#
# Anyone may decide an objection but who raised it, and a party may give way. An owner's own
# rejection is printed as theirs and resolves nothing. An escalation leaves the decision to whom it
# names (decision of 2026-11-22). The cost: a registry with one authority can only give way.

_STATES = {
    ObjectionState.OPEN: "open, not yet answered",
    ObjectionState.ANSWERED: "answered, not decided",
    ObjectionState.ESCALATED: "escalated, not decided",
    ObjectionState.UPHELD: "upheld",
    ObjectionState.REJECTED: "rejected",
    ObjectionState.REJECTED_BY_OWNER: "rejected by its owner only, which resolves nothing",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalOutcome:
    """One audit under the rival of an objection, as the page of one claim tells it."""

    audit: str
    claim: str
    summary: AuditSummary | None
    """What it came to; None where it is about another claim, or leads this one's page."""
    leads: bool
    """Whether it is the audit that the page is about."""


def name_actor(file: ObjectionFile, actor: str) -> str:
    """Return who took a step, with what they are to the objection: `its owner LAB`, `AISI, who contested it`, or the code only."""
    if actor == file.owner:
        return f"its owner {actor}"
    return f"{actor}, who contested it" if actor == file.objection.payload.by else actor


def describe_state(file: ObjectionFile) -> str:
    """Return the state of the objection, in words, with who decided it."""
    words = _STATES[file.state]
    if file.is_settled:
        return f"{words} by {name_actor(file, file.events[-1].entry.actor)}"
    # An escalation names who is to decide, where it was said.
    to = file.events[-1].payload.to if file.state is ObjectionState.ESCALATED else None
    return f"escalated to {to}, not decided" if to else words


def list_objections(supplement: AnySupplement) -> tuple[ObjectionFile, ...]:
    """Return every objection that concerns a page of *supplement*, each once, in log order; a change report is about none."""
    files: Iterable[ObjectionFile]
    match supplement:
        case Supplement():
            # Objections to definitions are kept with each definition.
            files = (*supplement.objections, *(objection for part in supplement.specs for objection in part.objections))
        case CardSupplement():
            files = supplement.objections
        case ChangeReport():
            files = ()
    # One objection can concern several definitions of the page.
    by_number = {file.objection.entry.seq: file for file in files}
    return tuple(by_number[seq] for seq in sorted(by_number))


def list_standing(supplement: AnySupplement) -> tuple[ObjectionFile, ...]:
    """Return those that speak against something on the page: not settled, or upheld. They are named on every page."""
    # An upheld objection stays on every page, because it says what is wrong.
    return tuple(objection for objection in list_objections(supplement) if objection.state is not ObjectionState.REJECTED)


def list_rival_outcomes(supplement: Supplement, file: ObjectionFile) -> tuple[RivalOutcome, ...]:
    """Return the replays under the rival of *file*, in log order, with what they came to for the claim of *supplement*."""
    leading = supplement.audit.opening.payload.audit if supplement.audit else None
    summaries = {other_audit.audit: other_audit for other_audit in supplement.other_audits}
    return tuple(
        # The leading audit has its own part of the page, so it is not summarised again.
        RivalOutcome(
            audit=replay.payload.audit,
            claim=replay.payload.claim,
            summary=None if replay.payload.audit == leading else summaries.get(replay.payload.audit),
            leads=replay.payload.audit == leading,
        )
        for replay in file.replays
    )


def list_objections_of_row(supplement: CardSupplement, row: ClaimRow) -> tuple[ObjectionFile, ...]:
    """Return the objections that concern one claim of a card."""
    return tuple(objection for objection in supplement.objections if objection.objection.payload.objection in row.objections)


def count_concerned(supplement: CardSupplement, file: ObjectionFile) -> int:
    """Return how many of the claims that a card's supplement mentions rest on what is contested, or are it."""
    return sum(file.objection.payload.objection in row.objections for row in supplement.claims)


def collect_disputes(supplement: AnySupplement) -> dict[str, Any]:
    """Return what templates need to report objections."""
    objections = [objection.objection.payload for objection in list_objections(supplement)]
    return {
        "objections": list_objections(supplement),
        "standing": list_standing(supplement),
        "rivals": {objection.rival: objection.objection for objection in objections if objection.rival is not None},
        "count_concerned": count_concerned,
        "describe_state": describe_state,
        "list_objections_of_row": list_objections_of_row,
        "list_rival_outcomes": list_rival_outcomes,
        "name_actor": name_actor,
    }


def collect_disclosed(supplement: AnySupplement) -> dict[str, Any]:
    """Return what templates need to report sealed specifications: the bodies that this rendering shows, and whether it is confidential."""
    if not isinstance(supplement, Supplement):
        return {"is_confidential": False, "opened": {}}
    # A sealed property that this rendering opens is shown in place of its commitment.
    opened = list_opened(supplement)
    properties = (opened.get(part.reference) for part in supplement.specs if part.role is SpecRole.PROPERTY)
    return {"is_confidential": bool(supplement.openings), "opened": opened, "shown_property": next(properties, None)}


# A confidential rendering is the public record plus openings, and both print the same
# record digest (decision of 2026-11-22). Nothing else can be redacted.


def add_openings(supplement: AnySupplement, openings: Sequence[SpecOpening]) -> Supplement:
    """Return *supplement* with *openings* next to those it has; without them it is the record that it was.

    Raises:
        InputError: it is not a claim's; or an opening is of a specification that the record does not refer to, is doubled, or does not open
            the commitment that the record states.
    """
    if not isinstance(supplement, Supplement):
        raise InputError(Fault("card-not-confidential", supplement.identifier, "is no claim's supplement, and shows no specification"))
    # Openings add up: a record that is opened already keeps what it has.
    opened = replace(supplement, openings=(*supplement.openings, *openings))
    # Every opening is checked against its commitment, so that no other text can be shown as the
    # sealed one.
    faults = check_openings(opened)
    if faults:
        raise InputError(faults)
    return opened
