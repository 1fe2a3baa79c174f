"""What pages say of disputes and disclosure: who took which step, where each stands, what a rival came to, which seals are open."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from registry.codec.statement_encoding import list_opened
from registry.records.claim_status import ContestationState
from registry.records.dossier import ContestationFile
from registry.records.supplement import AnySupplement, AuditSummary, CardSupplement, ChangeReport, ClaimRow, SpecRole, Supplement

_STATES = {
    ContestationState.OPEN: "open, not yet answered",
    ContestationState.ANSWERED: "answered, not decided",
    ContestationState.ESCALATED: "escalated, not decided",
    ContestationState.UPHELD: "upheld",
    ContestationState.REJECTED: "rejected",
    ContestationState.REJECTED_BY_OWNER: "rejected by its owner alone, which settles nothing",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalOutcome:
    """One audit under the rival of a contestation, as the page of one claim tells it."""

    audit: str
    claim: str
    summary: AuditSummary | None
    """What it came to; None where it is about another claim, or leads this one's page."""
    leads: bool
    """Whether it is the audit that the page is about."""


def name_actor(file: ContestationFile, actor: str) -> str:
    """Return who took a step, with what they are to the contestation: `its owner LAB`, `AISI, who contested it`, or the code alone."""
    if actor == file.owner:
        return f"its owner {actor}"
    return f"{actor}, who contested it" if actor == file.contestation.payload.by else actor


def describe_state(file: ContestationFile) -> str:
    """Return where the contestation stands, in words, with who decided it."""
    words = _STATES[file.state]
    if file.is_settled:
        return f"{words} by {name_actor(file, file.events[-1].entry.actor)}"
    to = file.events[-1].payload.to if file.state is ContestationState.ESCALATED else None
    return f"escalated to {to}, not decided" if to else words


def list_contestations(supplement: AnySupplement) -> tuple[ContestationFile, ...]:
    """Return every contestation that concerns a page of *supplement*, each once, in log order; a change report is about none."""
    files: Iterable[ContestationFile]
    match supplement:
        case Supplement():
            files = (*supplement.contestations, *(one for part in supplement.specs for one in part.contestations))
        case CardSupplement():
            files = supplement.contestations
        case ChangeReport():
            files = ()
    each = {one.contestation.entry.seq: one for one in files}
    return tuple(each[seq] for seq in sorted(each))


def list_standing(supplement: AnySupplement) -> tuple[ContestationFile, ...]:
    """Return those that stand against something on the page: not settled, or upheld. They are named on every page."""
    return tuple(one for one in list_contestations(supplement) if one.state is not ContestationState.REJECTED)


def list_rival_outcomes(supplement: Supplement, file: ContestationFile) -> tuple[RivalOutcome, ...]:
    """Return the replays under the rival of *file*, in log order, with what they came to for the claim of *supplement*."""
    leading = supplement.audit.opening.payload.audit if supplement.audit else None
    summaries = {one.audit: one for one in supplement.other_audits}
    return tuple(
        RivalOutcome(
            audit=one.payload.audit,
            claim=one.payload.claim,
            summary=None if one.payload.audit == leading else summaries.get(one.payload.audit),
            leads=one.payload.audit == leading,
        )
        for one in file.replays
    )


def list_contestations_of_row(supplement: CardSupplement, row: ClaimRow) -> tuple[ContestationFile, ...]:
    """Return the contestations that concern one claim of a card."""
    return tuple(one for one in supplement.contestations if one.contestation.payload.contestation in row.contestations)


def count_concerned(supplement: CardSupplement, file: ContestationFile) -> int:
    """Return how many of the claims that a card's supplement tells of rest on what is contested, or are it."""
    return sum(file.contestation.payload.contestation in row.contestations for row in supplement.claims)


def collect_disputes(supplement: AnySupplement) -> dict[str, Any]:
    """Return what templates need to tell of contestations."""
    said = [one.contestation.payload for one in list_contestations(supplement)]
    return {
        "contestations": list_contestations(supplement),
        "standing": list_standing(supplement),
        "rivals": {one.rival: one.contestation for one in said if one.rival is not None},
        "count_concerned": count_concerned,
        "describe_state": describe_state,
        "list_contestations_of_row": list_contestations_of_row,
        "list_rival_outcomes": list_rival_outcomes,
        "name_actor": name_actor,
    }


def collect_disclosed(supplement: AnySupplement) -> dict[str, Any]:
    """Return what templates need to tell of sealed specifications: the bodies that this rendering shows, and whether it is confidential."""
    if not isinstance(supplement, Supplement):
        return {"is_confidential": False, "opened": {}}
    opened = list_opened(supplement)
    properties = (opened.get(part.reference) for part in supplement.specs if part.role is SpecRole.PROPERTY)
    return {"is_confidential": bool(supplement.openings), "opened": opened, "shown_property": next(properties, None)}
