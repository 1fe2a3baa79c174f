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


class ContestationState(StrEnum):
    """Where a contestation stands after its last step."""

    OPEN = "open"
    ANSWERED = "answered"
    ESCALATED = "escalated"
    UPHELD = "upheld"
    REJECTED = "rejected"
    REJECTED_BY_OWNER = "rejected_by_owner"
    """By whoever owns what is contested, alone: nobody judges their own cause, so the dispute goes on."""


SETTLED = frozenset({ContestationState.UPHELD, ContestationState.REJECTED})
"""What is contested further then needs a contestation of its own."""


def owner_of(target: str) -> str:
    """Return the code of the authority whose claim or specification *target* is; empty where it is no identifier."""
    return [*target.split("-"), ""][1]


def find_state(step: ContestationStep | None, *, actor: str, owner: str, by: str) -> ContestationState:
    """Return where a contestation stands after *step* (None: before any), recorded by *actor*.

    Who contests may reject, that is withdraw, what they own themselves; any other owner's rejection settles nothing.
    """
    if step is None:
        return ContestationState.OPEN
    if step is ContestationStep.REJECTED and actor == owner != by:
        return ContestationState.REJECTED_BY_OWNER
    return ContestationState(step.value)


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
