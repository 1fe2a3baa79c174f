"""Where a claim stands, on four independent axes that are derived when read."""

from dataclasses import dataclass
from enum import StrEnum

from registry.records.classification import RestrictionStatus
from registry.records.family import FamilyOutcome
from registry.records.record import Record


class Lifecycle(StrEnum):
    """Where a claim is in its life."""

    RESERVED = "reserved"
    REGISTERED = "registered"
    PUBLISHED = "published"
    SUPERSEDED = "superseded"
    WITHDRAWN = "withdrawn"
    REJECTED = "rejected"


class Dispute(StrEnum):
    """Whether somebody objects."""

    UNDISPUTED = "undisputed"
    CONTESTED = "contested"
    """At least one contestation is open, answered or escalated."""
    UPHELD = "upheld"
    """A contestation was upheld and none is open."""


class Staleness(StrEnum):
    """Whether what was audited is still what is there."""

    CURRENT = "current"
    POTENTIALLY_STALE = "potentially_stale"
    """Something changed, and nobody has looked at it yet."""
    STALE = "stale"
    """A person confirmed that a change took away what the claim rests on."""


class CauseKind(StrEnum):
    """What may take away what a claim rests on."""

    SUCCESSOR = "successor"
    """Another version took the place of the claim's model version."""
    DEPRECATION = "deprecation"
    """The claim's model version is no longer offered."""
    CARD = "card"
    """The passage is not in the newest revision of its card, or nobody has looked."""
    SPEC = "spec"
    """A definition it refers to has a newer version."""
    METHOD = "method"
    """The method of its estimate has a newer version."""
    CONTESTATION = "contestation"
    """A contestation of it, or of a definition it rests on, was upheld after its last audit."""
    EXPIRY = "expiry"
    """No outcome of the claim revision is valid any more: the last one expired."""
    REVISION = "revision"
    """It was revised after its last audit, or has a newer revision than the one that is seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StaleCause(Record):
    """One change that a claim may not have survived."""

    kind: CauseKind
    what: str
    """What came after, as it is called: `Lab Lumen 2`, `CTX-…@2`, `CRD-…@2`, `closed-form/3`, `CON-…`, `CLM-…@2`."""
    entry: int
    """The entry that recorded it."""
    text: str
    """The reason in a sentence without full stop."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status(Record):
    """A claim's four independent axes, derived when read."""

    lifecycle: Lifecycle
    dispute: Dispute
    staleness: Staleness
    restriction: RestrictionStatus
    stale_because: tuple[str, ...] = ()
    """Each reason in a sentence; empty when current."""
    superseded_by: str | None = None
    """The claim that took its place."""
    causes: tuple[StaleCause, ...] = ()
    """What `stale_because` says, one by one, in the same order; without those that a person dismissed."""
    gravest: FamilyOutcome | None = None
    """The gravest outcome of the claim's family, of which `restriction` follows; None exactly for a family that is not audited."""
    beside: FamilyOutcome | None = None
    """The gravest outcome of other claims on the same words, about another property, model version or card; None without one."""
