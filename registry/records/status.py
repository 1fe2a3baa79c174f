"""Where a claim stands, on four independent axes that are derived when read."""

from dataclasses import dataclass
from enum import StrEnum

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


class RestrictionStatus(StrEnum):
    """What the latest audit left of the claim."""

    UNAUDITED = "unaudited"
    UNRESTRICTED = "unrestricted"
    """Stable in its own form."""
    RESTRICTED = "restricted"
    """Degraded."""
    SUSPENDED = "suspended"
    """Inverted as candidate or structural risk: not to be relied on before a replay."""
    WITHDRAWN = "withdrawn"
    """Inverted, established."""
    UNDETERMINED = "undetermined"


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
