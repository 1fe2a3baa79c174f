"""What a person decides of a change that a claim may not have survived."""

from dataclasses import dataclass
from enum import StrEnum

from registry.records.record import Record
from registry.records.status import CauseKind


class StalenessVerdict(StrEnum):
    """What a person found."""

    CONFIRMED = "confirmed"
    """The claim no longer stands on evidence."""
    DISMISSED = "dismissed"
    """The change does not touch the claim."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewedCause(Record):
    """A cause by its name; a review speaks of what was on record when it was made, not of a later entry that gives the same cause."""

    kind: CauseKind
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StalenessReview(Record):
    """A person's decision on causes for a claim revision to be stale; the last one on each cause counts."""

    claim: str
    """`CLM-…@n`."""
    verdict: StalenessVerdict
    causes: tuple[ReviewedCause, ...]
    """At least one."""
    why: str

    def __post_init__(self) -> None:
        if not self.causes:
            raise ValueError("a review names at least one cause")
        if not self.why.strip():
            raise ValueError("a review needs its reason (why)")
