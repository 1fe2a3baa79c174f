"""The rules of the gate, what a finding is, and the claims that are judged."""

from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from registry.records.claim import ClaimRevision
from registry.records.claim_status import Status
from registry.records.record import Record
from registry.records.verdict import Completeness


class Level(StrEnum):
    """How grave a finding is; the order is that of SARIF."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    @property
    def rank(self) -> int:
        """0 for a note, 2 for an error."""
        return ("note", "warning", "error").index(self.value)


class Rule(StrEnum):
    """What the gate looks for."""

    CLAIM_STALE = "claim-stale"
    CLAIM_CONTRADICTED = "claim-contradicted"
    MONITOR_ALARM = "monitor-alarm"
    CLAIM_WITHDRAWN = "claim-withdrawn"
    CLAIM_EXCEEDS_RESTRICTION = "claim-exceeds-restriction"
    CLAIM_NOT_REPRODUCED = "claim-not-reproduced"
    CLAIM_INCONCLUSIVE = "claim-inconclusive"
    CLAIM_UNAUDITED = "claim-unaudited"
    CLAIM_CONTESTED = "claim-contested"
    FIGURE_WITHOUT_THETA = "figure-without-theta"
    FIGURE_WITHOUT_VERSION = "figure-without-version"
    FIGURE_WITHOUT_N = "figure-without-n"
    FIGURE_WITHOUT_UNCERTAINTY = "figure-without-uncertainty"
    FIGURE_WITHOUT_CONTEXT = "figure-without-context"
    CLAIM_UNREGISTERED = "claim-unregistered"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleText(Record):
    """A rule in words, and its level where the verdict does not decide."""

    text: str
    level: Level


RULES = {
    Rule.CLAIM_STALE: RuleText(text="The claim rests on an earlier model version, or needs review", level=Level.ERROR),
    Rule.CLAIM_CONTRADICTED: RuleText(text="The claim is contradicted under deployment-like contexts", level=Level.ERROR),
    Rule.MONITOR_ALARM: RuleText(text="A locked monitor of the claim is in alarm", level=Level.ERROR),
    Rule.CLAIM_WITHDRAWN: RuleText(text="The claim was withdrawn, rejected or superseded", level=Level.ERROR),
    Rule.CLAIM_EXCEEDS_RESTRICTION: RuleText(text="The draft repeats the original where only a restricted claim holds", level=Level.ERROR),
    Rule.CLAIM_NOT_REPRODUCED: RuleText(text="The replay of the evaluation does not give the card's figure", level=Level.ERROR),
    Rule.CLAIM_INCONCLUSIVE: RuleText(text="The audit did not resolve the claim", level=Level.WARNING),
    Rule.CLAIM_UNAUDITED: RuleText(text="The claim has not been audited", level=Level.WARNING),
    Rule.CLAIM_CONTESTED: RuleText(text="There is an open or upheld objection to the claim", level=Level.WARNING),
    Rule.FIGURE_WITHOUT_THETA: RuleText(text="The limit of the claim is not stated", level=Level.WARNING),
    Rule.FIGURE_WITHOUT_VERSION: RuleText(text="The exact model version is not stated", level=Level.WARNING),
    Rule.FIGURE_WITHOUT_N: RuleText(text="The number of tasks or trials is not stated", level=Level.WARNING),
    Rule.FIGURE_WITHOUT_UNCERTAINTY: RuleText(text="No interval or standard error is stated", level=Level.WARNING),
    Rule.FIGURE_WITHOUT_CONTEXT: RuleText(text="The evaluation, or how the model was asked, is not stated", level=Level.WARNING),
    Rule.CLAIM_UNREGISTERED: RuleText(text="A passage reads like a claim, and is neither registered nor excluded", level=Level.NOTE),
}
"""In the order in which findings of one claim are reported. An established verdict is an error, a provisional one a warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftPlace(Record):
    """Where something is in the draft."""

    path: str
    """As it was given; relative to the current folder where it lies in it, with `/`."""
    line: int | None
    """From 1; None for files without lines, such as PDF."""
    page: int | None
    """From 1; None for files without pages."""

    def __str__(self) -> str:
        if self.line is not None:
            return f"{self.path}:{self.line}"
        return self.path if self.page is None else f"{self.path}, page {self.page}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotedClaim(Record):
    """A registered claim that the draft quotes, or that is about the model version which changes."""

    claim: ClaimRevision
    """The revision with the words that were found."""
    status: Status
    """Of that revision."""
    completeness: tuple[Completeness, ...] = ()
    place: DraftPlace | None = None
    """None where there is no draft."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiver(Record):
    """A finding that is allowed until a day."""

    rule: Rule
    claim: str
    """`CLM-…`, in any revision or with `@n` in one."""
    why: str
    until: date
    """The last day on which it counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateFinding(Record):
    """One thing that a rule says."""

    rule: Rule
    level: Level
    message: str
    claim: str | None
    """`CLM-…@n`; None for a passage that is not registered."""
    place: DraftPlace | None
    fingerprint: str
    """Stays the same when lines move: it follows from claim or words, and rule."""
    waiver: Waiver | None = None
    is_known: bool = False
    """Whether the baseline has it."""

    @property
    def name(self) -> str:
        """What it is about: the claim, or the place in the draft."""
        return self.claim or str(self.place or "draft")


@dataclass(frozen=True, slots=True, kw_only=True)
class GateReport(Record):
    """All findings on one draft or model version."""

    findings: tuple[GateFinding, ...]
    checked: tuple[str, ...]
    """`CLM-…@n` of every claim that was judged, in log order."""
    fail_on: Level

    @property
    def failing(self) -> tuple[GateFinding, ...]:
        """The findings that let the gate fail: at or above the level, not waived, not in the baseline."""
        return tuple(finding for finding in self.findings if self.is_failing(finding))

    def is_failing(self, finding: GateFinding) -> bool:
        """Whether *finding* lets the gate fail."""
        return finding.level.rank >= self.fail_on.rank and finding.waiver is None and not finding.is_known
