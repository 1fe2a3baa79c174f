"""Which model is spoken of: one exact version, and its lineage."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from registry.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRef(Record):
    """The exact model version a claim or a piece of evidence is about."""

    developer: str
    name: str
    version: str

    def __str__(self) -> str:
        return f"{self.developer} {self.name} {self.version}"


class Descent(StrEnum):
    """How a model version comes from another one."""

    SUCCESSOR = "successor"
    """It takes the other's place: claims about that no longer speak of what is offered."""
    SNAPSHOT = "snapshot"
    """A later state of the same version, under a name of its own; it takes the other's place too."""
    FINE_TUNE = "fine_tune"
    """Trained further from the other, which stays what it is: its claims neither become stale nor speak of this one."""


REPLACING = frozenset({Descent.SUCCESSOR, Descent.SNAPSHOT})
"""Descent that makes claims about the earlier version potentially stale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelVersion(Record):
    """A model version as registered, with the one it follows."""

    model: ModelRef

    predecessor: ModelRef | None = None
    """The version this one succeeds, where that was said when it was registered; what is said later are events (`ModelEvent`)."""

    note: str | None = None

    released: date | None = None
    """The day it was first offered; None when nobody says."""


class ModelEventKind(StrEnum):
    """What may be said of a registered model version."""

    FOLLOW = "follow"
    """It comes from `predecessor`, as `descent` says."""
    UNFOLLOW = "unfollow"
    """It does not come from `predecessor`: what was said before was an error."""
    DEPRECATE = "deprecate"
    """It is no longer offered, or will not be from `on` on."""
    REINSTATE = "reinstate"
    """It is offered again, or after all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEvent(Record):
    """A step in the lineage of model versions."""

    model: ModelRef
    event: ModelEventKind
    predecessor: ModelRef | None = None
    """Given exactly for follow and unfollow."""
    descent: Descent | None = None
    """Given exactly for follow."""
    on: date | None = None
    """The last day on which a deprecated version is offered; None when nobody says, and for other events."""
    reason: str | None = None
    """Required but for follow."""
    branch: bool = False
    """Whether whoever says follow knows that something else took the predecessor's place already; without it that is refused."""

    def __post_init__(self) -> None:
        links = self.event in (ModelEventKind.FOLLOW, ModelEventKind.UNFOLLOW)
        if links != (self.predecessor is not None):
            raise ValueError("a predecessor belongs to follow and unfollow, and only to them")
        if (self.event is ModelEventKind.FOLLOW) != (self.descent is not None):
            raise ValueError("a descent belongs to follow, and only to it")
        if self.on is not None and self.event is not ModelEventKind.DEPRECATE:
            raise ValueError("a last day belongs to deprecate, and only to it")
        if self.branch and self.event is not ModelEventKind.FOLLOW:
            raise ValueError("a branch belongs to follow, and only to it")
        if self.event is not ModelEventKind.FOLLOW and not (self.reason and self.reason.strip()):
            raise ValueError(f"{self.event.value} needs a reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLink(Record):
    """That one version comes from another, as it is on record: derived from versions and events, never itself recorded."""

    model: ModelRef
    predecessor: ModelRef
    descent: Descent
    entry: int
    """The entry that says so last."""
