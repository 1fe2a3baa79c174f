"""The four axes of a claim's status, derived from what is recorded: lifecycle, dispute, staleness, restriction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from registry.records.claim import ClaimEventKind
from registry.records.classification import ClaimClass, Standing
from registry.records.contestation import ContestationState
from registry.records.status import Dispute, Lifecycle, RestrictionStatus, StaleCause, Staleness, Status

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
    verdict: tuple[ClaimClass, Standing | None] | None = None
    """Class and standing of the claim's own reading in the latest restriction of its latest revision; None when there is none."""


def derive_status(facts: Facts) -> Status:
    """Return the four axes; they do not depend on each other."""
    superseded = [successor for event, successor in facts.events if event is ClaimEventKind.SUPERSEDE]
    return Status(
        lifecycle=derive_lifecycle(has_revision=facts.has_revision, events=[event for event, _ in facts.events]),
        dispute=_derive_dispute(facts.contestations),
        staleness=_derive_staleness(facts),
        restriction=_derive_restriction(facts.verdict),
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


def _derive_restriction(verdict: tuple[ClaimClass, Standing | None] | None) -> RestrictionStatus:
    if verdict is None:
        return RestrictionStatus.UNAUDITED
    match verdict[0]:
        case ClaimClass.STABLE:
            return RestrictionStatus.UNRESTRICTED
        case ClaimClass.DEGRADED:
            return RestrictionStatus.RESTRICTED
        case ClaimClass.INVERTED:
            established = verdict[1] is Standing.ESTABLISHED
            return RestrictionStatus.WITHDRAWN if established else RestrictionStatus.SUSPENDED
        case ClaimClass.UNDETERMINED:
            return RestrictionStatus.UNDETERMINED
        case _:
            assert_never(verdict[0])
