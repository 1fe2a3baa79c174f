"""What changed in a registry from one log entry to another: the record of the change report."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

from registry.records.claim import Form, QuoteStatus, Relation
from registry.records.classification import ClaimClass, Mode, Standing
from registry.records.drift import DriftStep
from registry.records.estimate import SpecEstimate
from registry.records.inclusion import Inclusion
from registry.records.model import ModelRef
from registry.records.record import Record
from registry.records.statement import Entry
from registry.records.status import Status
from registry.records.supplement import CardSupplement, Supplement


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
    quote_status: QuoteStatus
    form: Form
    relation: Relation | None
    """Of a threshold or bound."""
    card: str | None
    """`CRD-…@n` that is quoted."""
    status: Status
    class_: ClaimClass | None
    """None without an outcome, and then so is all that follows."""
    standing: Standing | None
    mode: Mode | None
    point_class: ClaimClass | None
    verdict: str | None
    restricted: str | None
    """The restricted claim."""
    audit: str | None
    """`AUD-…`."""
    outcome_entry: Entry | None
    estimate: SpecEstimate | None
    """Against the first specification of P_deploy, without its numbers task by task; None without one."""
    specs: int = 0
    """How many specifications of P_deploy the estimate has."""
    theta: float | None = None
    level: float | None = None
    """Of the intervals; None without an estimate, as the next two."""
    margin: float | None = None
    range: tuple[float, float] | None = None
    """Lowest and highest possible score."""


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
    """As `name_report` has it, also the name of its files."""
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
    """Newly inverted first, then other changes of class, then of standing, mode or point class, then model, status or text, then the rest,
    each by identifier.
    """
    unchanged: int
    """Claims in scope that did not change."""
    claims: tuple[str, ...] | None = None
    """The claims it is limited to, `CLM-…`, ascending; None for every claim of the registry."""
    erased: tuple[str, ...] = ()
    """Claims in scope that changed and of which nothing is told, because the text of a statement that they rest on was erased."""
    inclusion: Inclusion | None = None
    """That every entry named here stands in the log at `log_size`."""

    def __post_init__(self) -> None:
        if not 0 <= self.since <= self.log_size:
            raise ValueError(f"it is told from entry {self.since} to entry {self.log_size}")
        if self.identifier != (expected := name_report(self.since, self.log_size, self.claims)):
            raise ValueError(f"it is called {self.identifier!r}; what it says makes it {expected}")


AnySupplement = Supplement | CardSupplement | ChangeReport
"""Each of the three documents that are drawn."""


def name_report(since: int, log_size: int, claims: Sequence[str] | None) -> str:
    """Return what a change report is called: `changes-SINCE-SIZE`, and for some claims alone a digest of their names after that."""
    name = f"changes-{since}-{log_size}"
    return name if claims is None else f"{name}-{hashlib.sha256(' '.join(claims).encode()).hexdigest()[:8]}"
