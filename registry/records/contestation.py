"""A reasoned objection to a specification or a claim, and what became of it."""

from dataclasses import dataclass
from enum import StrEnum

from registry.records.record import Record


class ContestationStep(StrEnum):
    """What may follow a contestation."""

    ANSWERED = "answered"
    UPHELD = "upheld"
    REJECTED = "rejected"
    ESCALATED = "escalated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestation(Record):
    """An authority contests a claim or a specification version, optionally with a rival."""

    contestation: str
    """`CON-…`."""
    target: str
    """`CLM-…@n`, or a specification `…@n`."""
    by: str
    """Authority code."""
    grounds: str
    rival: str | None = None
    """`CTX-…@n` offered in its place."""

    def __post_init__(self) -> None:
        if not self.grounds.strip():
            raise ValueError("a contestation needs its grounds")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestationEvent(Record):
    """A step in a contestation."""

    contestation: str
    step: ContestationStep
    note: str
    to: str | None = None
    """Code of the authority it is escalated to; None for other steps, or where nobody is named."""

    def __post_init__(self) -> None:
        if not self.note.strip():
            raise ValueError("a step in a contestation needs a note")
