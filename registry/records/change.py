"""What changed in a registry from one log entry to another: the record of the change report."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from registry.records.classification import ClaimClass, Mode, Standing
from registry.records.drift import DriftStep
from registry.records.estimate import SpecEstimate
from registry.records.model import ModelRef
from registry.records.record import Record
from registry.records.seal import Inclusion
from registry.records.statement import Entry
from registry.records.status import Status


class OccasionKind(StrEnum):
    """What set a change off."""

    MODEL = "model"
    CARD = "card"
    SPEC = "spec"
    METHOD = "method"
    AUDIT = "audit"
    CONTESTATION = "contestation"
    CLAIM = "claim"
    REVIEW = "review"


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion(Record):
    """One thing that happened in between, in a sentence."""

    kind: OccasionKind
    text: str
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimState(Record):
    """A claim as it stood at one moment."""

    identifier: str
    """`CLM-…@n#digest`; `CLM-…@n` is also the name of its supplement's files."""
    claim_entry: Entry
    model: ModelRef
    quote: str
    status: Status
    class_: ClaimClass | None
    """None without an outcome, and then so is all that follows."""
    standing: Standing | None
    mode: Mode | None
    candidate: ClaimClass | None
    verdict: str | None
    restricted: str | None
    """The restricted claim."""
    audit: str | None
    """`AUD-…`."""
    outcome_entry: Entry | None
    estimate: SpecEstimate | None
    """Against the first specification of P_deploy; None without one."""
    theta: float | None = None
    level: float | None = None
    """Of the intervals; None without an estimate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimChange(Record):
    """One claim before and after."""

    claim: str
    """`CLM-…`."""
    before: ClaimState | None
    """None for a claim that was not registered then."""
    after: ClaimState
    why: tuple[str, ...]
    """At least one sentence: what set it off, most important first."""
    entries: tuple[Entry, ...]
    """Entries in between that concern the claim, in log order."""
    steps: tuple[DriftStep, ...]
    """How far the numbers moved; empty where one side has no estimate, or both have the same."""
    newly_inverted: bool
    """Whether it is inverted now, and was not before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeReport(Record):
    """What changed from entry `since` to entry `log_size`, claim by claim."""

    schema: Literal["caveat/change-report/1"] = "caveat/change-report/1"
    identifier: str
    """`changes-SINCE-SIZE`, also the name of its files."""
    made_at: datetime
    log_origin: str
    since: int
    """The registry as of this entry is the state before; 0 for an empty one."""
    since_at: datetime | None
    """Time of that entry; None for 0."""
    log_size: int
    scope: str | None
    """What it is limited to, in words; None for the whole registry."""
    occasions: tuple[Occasion, ...]
    """In log order."""
    changes: tuple[ClaimChange, ...]
    """Newly inverted first, then other changes of class, then the rest, each by identifier."""
    unchanged: int
    """Claims in scope that did not change."""
    inclusion: Inclusion | None = None
