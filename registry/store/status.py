"""The four axes of a claim's status, derived from what is recorded: lifecycle, dispute, staleness, restriction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from registry.records.claim import ClaimEventKind
from registry.records.claim_status import ContestationState, Dispute, FamilyOutcome, Lifecycle, StaleCause, Staleness, Status
from registry.records.verdict import RestrictionStatus, find_restriction

_AFTER = {
    ClaimEventKind.PUBLISH: Lifecycle.PUBLISHED,
    ClaimEventKind.SUPERSEDE: Lifecycle.SUPERSEDED,
    ClaimEventKind.WITHDRAW: Lifecycle.WITHDRAWN,
    ClaimEventKind.REJECT: Lifecycle.REJECTED,
}
TERMINAL = frozenset({Lifecycle.SUPERSEDED, Lifecycle.WITHDRAWN, Lifecycle.REJECTED})
"""A claim here takes no new revision and is not published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of one claim, as the store found it."""

    has_revision: bool
    events: Sequence[tuple[ClaimEventKind, str | None]] = ()
    """What happened to it, in log order, each with its successor if any."""
    contestations: Sequence[ContestationState] = ()
    """Where each contestation of the claim, or of a specification that it or a lock of it refers to, stands."""
    causes: tuple[StaleCause, ...] = ()
    """What it may not have survived, without what was dismissed."""
    is_confirmed: bool = False
    """Whether a person confirmed one of `causes`."""
    gravest: FamilyOutcome | None = None
    """The gravest outcome of the claim's family; None for a family that is not audited."""
    beside: FamilyOutcome | None = None
    """The gravest outcome of other claims on the same words; None without one."""


def derive_status(facts: Facts) -> Status:
    """Return the four axes; they do not depend on each other."""
    superseded = [successor for event, successor in facts.events if event is ClaimEventKind.SUPERSEDE]
    return Status(
        lifecycle=derive_lifecycle(has_revision=facts.has_revision, events=[event for event, _ in facts.events]),
        dispute=_derive_dispute(facts.contestations),
        staleness=_derive_staleness(facts),
        restriction=_derive_restriction(facts.gravest),
        gravest=facts.gravest,
        beside=facts.beside,
        stale_because=tuple(one.text for one in facts.causes),
        causes=facts.causes,
        superseded_by=superseded[-1] if superseded else None,
    )


def derive_lifecycle(*, has_revision: bool, events: Sequence[ClaimEventKind]) -> Lifecycle:
    """Return where the claim is after the last event that moved it."""
    moved = [_AFTER[event] for event in events if event is not ClaimEventKind.RESERVE]
    if moved:
        return moved[-1]
    return Lifecycle.REGISTERED if has_revision else Lifecycle.RESERVED


def _derive_staleness(facts: Facts) -> Staleness:
    if not facts.causes:
        return Staleness.CURRENT
    return Staleness.STALE if facts.is_confirmed else Staleness.POTENTIALLY_STALE


def _derive_dispute(states: Sequence[ContestationState]) -> Dispute:
    settled: Mapping[ContestationState, Dispute] = {
        ContestationState.UPHELD: Dispute.UPHELD,
        ContestationState.REJECTED: Dispute.UNDISPUTED,
    }
    found = {settled.get(state, Dispute.CONTESTED) for state in states}
    if Dispute.CONTESTED in found:
        return Dispute.CONTESTED
    return Dispute.UPHELD if Dispute.UPHELD in found else Dispute.UNDISPUTED


def _derive_restriction(gravest: FamilyOutcome | None) -> RestrictionStatus:
    return RestrictionStatus.UNAUDITED if gravest is None else find_restriction(gravest.verdict, gravest.standing)
