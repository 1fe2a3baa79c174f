"""Monitors of a claim after release: the locked plan, the windows of production data, and the evidence after each.

A monitor settles a limit on production traffic. It never gives ED, because test tasks and production tasks differ.
"""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from registry.records.claim import Relation
from registry.records.record import Payload, Record


class MonitorDesign(StrEnum):
    """What a monitor is given."""

    SAMPLE = "sample"
    """Items of production, each reviewed with a known probability and scored."""
    COUNTS = "counts"
    """Counts by stratum made by others: the scores cannot be checked."""
    INCIDENTS = "incidents"
    """Single events that were reported: they refute "never", and give no rate."""


class Evaluability(StrEnum):
    """Whether production shows what the claim is about."""

    SURROGATE_ONLY = "surrogate_only"
    """Only something that goes along with it is seen."""
    CORRECTION_EVALUABLE = "correction_evaluable"
    """It shows when someone corrects it."""
    DELAYED_EVALUABLE = "delayed_evaluable"
    """It shows after some time."""
    DIRECTLY_AUDITABLE = "directly_auditable"
    """It shows in the item itself."""


class StreamUnit(StrEnum):
    """What an item of the stream is."""

    USER = "user"
    """The mean score of one user in a window: conversations of a user are alike, and count once."""
    CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorStratum(Record):
    """A part of the stream with one inclusion probability."""

    name: str
    inclusion: float
    """π: the probability that an item is reviewed, in (0, 1]."""
    label_share: float | None = None
    """ρ: the probability that people label a reviewed item, whatever its score, in (0, 1]; None where they label none."""

    def __post_init__(self) -> None:
        if not 0 < self.inclusion <= 1:
            raise ValueError(f"the inclusion probability of {self.name} must lie in (0, 1], got {self.inclusion}")
        if self.label_share is not None and not 0 < self.label_share <= 1:
            raise ValueError(f"the share of {self.name} that people label must lie in (0, 1], got {self.label_share}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorPlan(Record):
    """A fixed set of items with labels by people, scored again by the current judge all the time: shows a change of the judge."""

    sha256: str
    """Of the file with the anchors, hexadecimal; the file may stay with its owner."""
    false_positive: float
    """Tolerated share of good anchors that the judge calls bad, in (0, 1)."""
    false_negative: float
    """Tolerated share of bad anchors that the judge calls good, in (0, 1)."""
    guard: int = 300
    """Good anchors scored after an alarm that must stay quiet before the alarm counts as one of the system; bad ones before "holds"."""
    run_length: float = 1000.0
    """Windows until the anchors raise an alarm without a change, on average at least."""

    def __post_init__(self) -> None:
        for name, rate in (("false_positive", self.false_positive), ("false_negative", self.false_negative)):
            if not 0 < rate < 1:
                raise ValueError(f"{name} must lie in (0, 1), got {rate}")
        if self.guard < 1 or self.run_length < 2:
            raise ValueError("guard must be at least 1 and run_length at least 2")


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftPlan(Record):
    """An alarm for operators, which changes no status."""

    tolerated: float
    """θ₀, in (0, 1): of scores on the wrong side, so of 1 - x for a claim with a lower limit."""
    run_length: float
    """Windows until an alarm without drift, on average at least."""

    def __post_init__(self) -> None:
        if not 0 < self.tolerated < 1 or self.run_length < 2:
            raise ValueError("drift needs a tolerated rate in (0, 1) and a run_length of at least 2")


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorPlan(Record):
    """What is fixed before the first item."""

    design: MonitorDesign
    evaluability: Evaluability
    stream: str
    """The stream in words, such as `consumer chat`."""
    unit: StreamUnit
    one_per_user: bool = False
    """Whether at most one conversation of a user is in the stream."""
    start: datetime
    """Of the first window, UTC."""
    every_days: int
    """Length of a window."""
    silent_after_days: int
    """Without a window for so long, the monitor is silent."""
    strata: tuple[MonitorStratum, ...]
    relation: Relation
    theta: float
    """The claim's limit for scores in [0, 1]."""
    is_limit_stated: bool = True
    """Whether the words of the claim state this limit. Without that, traffic beyond it need not contradict them."""
    alpha: float = 0.05
    """Probability of ever raising the claim alarm wrongly, over all monitors of the family."""
    family: int = 1
    """Claims that are monitored together."""
    bets: tuple[float, ...]
    """The shares of the e-process; see `monitoring.statistics.e_process`."""
    scored_by: str | None = None
    """`SCF-…@n`: what gives the scores. Another version ends the monitor. None where people verify incidents."""
    range: tuple[float, float] = (0.0, 1.0)
    """Lowest and highest score before they are mapped to [0, 1]."""
    models: tuple[str, ...] = ()
    """The names by which traces call the model version; empty where none are read."""
    evaluation: str | None = None
    """The name of the evaluation in traces; None where none are read."""
    label_delay_days: int = 0
    """Windows are reported when labels of this age are in."""
    min_users: int = 20
    """A cell with fewer users is suppressed."""
    anchors: AnchorPlan | None = None
    drift: DriftPlan | None = None

    def __post_init__(self) -> None:
        wrong = list(self._find_wrong())
        if wrong:
            raise ValueError("; ".join(wrong))

    def _find_wrong(self) -> Iterator[str]:
        yield from self._find_wrong_incidents() if self.is_of_incidents else self._find_wrong_rate()
        if not 0 < self.alpha < 0.5:
            yield f"alpha must lie in (0, 0.5), got {self.alpha}"
        if self.family < 1:
            yield f"family must be at least 1, got {self.family}"
        if self.every_days < 1 or self.silent_after_days < self.every_days:
            yield "a window must be at least a day, and silent_after at least a window"
        if self.label_delay_days < 0 or self.min_users < 1:
            yield "label_delay must not be negative, and min_users at least 1"
        if len({stratum.name for stratum in self.strata}) < len(self.strata):
            yield "inclusion needs strata with different names"
        if not self.bets or not all(0 < bet < 1 for bet in self.bets):
            yield "bets must lie in (0, 1)"
        if self.start.tzinfo is None:
            yield "start needs a time zone"

    def _find_wrong_rate(self) -> Iterator[str]:
        if not 0 < self.theta < 1:
            yield f"theta must lie in (0, 1), got {self.theta}: the scores of a monitor are mapped to [0, 1]"
        if self.scored_by is None:
            yield "scored_by is required: it names what gives the scores"
        if not self.strata:
            yield "inclusion is required: it has the probability that an item is reviewed"
        lacking = [stratum.name for stratum in self.strata if stratum.label_share is None]
        if 0 < len(lacking) < len(self.strata):
            # The judge's error in such a stratum would stay, and the alarm would be called corrected.
            yield f"labels lacks the share of {', '.join(lacking)}"

    def _find_wrong_incidents(self) -> Iterator[str]:
        if self.theta != (0 if self.relation is Relation.AT_MOST else 1):
            yield "incidents refute only a limit that no score may pass"
        if len(self.strata) > 1:
            yield "items that are reviewed besides incidents are one random sample, so there is one stratum at most"
        if self.anchors is not None or self.drift is not None or self.is_corrected:
            yield "anchors, drift and labels of a random share need a rate, and incidents give none"

    @property
    def is_of_incidents(self) -> bool:
        """Whether single events are the evidence, and not a rate."""
        return self.design is MonitorDesign.INCIDENTS

    def list_doubts(self) -> tuple[str, ...]:
        """Return what keeps any evidence under this plan from a verdict, each reason in a sentence without full stop."""
        doubts = []
        if self.evaluability is not Evaluability.DIRECTLY_AUDITABLE:
            doubts.append(f"production shows the property only indirectly ({self.evaluability.value.replace('_', ' ')})")
        if not self.is_limit_stated:
            doubts.append("the words of the claim do not state the limit")
        if self.is_of_incidents:
            # One event that people verified needs no judge and no independence.
            return tuple(doubts)
        if self.counts_dependent:
            doubts.append("conversations of one user are counted as if they were independent")
        if self.design is MonitorDesign.COUNTS:
            doubts.append("the counts were made elsewhere, and their scores cannot be checked")
        if self.anchors is None and not self.is_corrected:
            doubts.append("there are no anchors and no labels of people, so an alarm may show a change of the judge")
        return tuple(doubts)

    @property
    def counts_dependent(self) -> bool:
        """Whether several items may be of one user."""
        return self.unit is not StreamUnit.USER and not self.one_per_user

    @property
    def is_corrected(self) -> bool:
        """Whether people label a random share of the reviewed items, which corrects the judge's error."""
        return bool(self.strata) and all(stratum.label_share is not None for stratum in self.strata)

    @property
    def threshold(self) -> float:
        """m/α: the evidence that raises the claim alarm."""
        return self.family / self.alpha

    @property
    def bound(self) -> float:
        """The largest weighted score: 1/(π·ρ) of an item that the judge calls good and people call bad."""
        return max((1 / (stratum.inclusion * (stratum.label_share or 1)) for stratum in self.strata), default=1.0)

    @property
    def floor(self) -> float:
        """The smallest weighted score: (1 - 1/ρ)/π of an item that the judge calls bad and people call good."""
        return min(((1 - 1 / (stratum.label_share or 1)) / stratum.inclusion for stratum in self.strata), default=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitor(Payload):
    """A monitor with its plan. Recording it locks the plan: no item may be older."""

    KIND = "monitor"
    monitor: str
    """`MON-…`."""
    claim: str
    """`CLM-…@n`."""
    plan: MonitorPlan
    by: str
    """Code of the authority that monitors."""


class Attribution(StrEnum):
    """What changed when an alarm was raised."""

    SYSTEM = "system"
    """The anchors stayed quiet through the guard."""
    JUDGE = "judge"
    """The anchors raised an alarm as well."""
    CORRECTED = "corrected"
    """People's labels correct the judge's error, so it does not matter whether the judge changed."""
    OPEN = "open"
    """The guard is not over."""
    UNKNOWN = "unknown"
    """There are no anchors: system or judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelCounts(Record):
    """Scores of people for a random share of the reviewed items, jointly with the judge's.

    g is the judge's score and Y that of people, both mapped to [0, 1]. With scores of 0 and 1 the sums are counts.
    """

    items: int
    """Labelled items."""
    both: float
    """Σ min(g, Y): items that both scored 1."""
    judge_only: float
    """Σ max(g - Y, 0): items that only the judge scored 1."""
    people_only: float
    """Σ max(Y - g, 0): items that only people scored 1."""
    users: int
    """Users of whom an item was chosen for a label."""
    pending: int = 0
    """Items chosen for a label that have none yet."""
    pending_total: float = 0.0
    """Σ g of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowCell(Record):
    """The items of one stratum in one window."""

    stratum: str
    items: int
    """Items in the stream, reviewed or not."""
    reviewed: int = 0
    """Items with a score that is old enough to count."""
    total: float = 0.0
    """Sum of the scores."""
    squares: float | None = None
    """Sum of the squared scores."""
    users: int | None = None
    pending: int = 0
    """Items chosen for review without a score."""
    labels: LabelCounts | None = None
    """Under a plan in which people label a random share; None under any other, and in a suppressed cell."""
    suppressed: bool = False
    """Whether only the number of items is given."""
    inclusion: float | None = None
    """The inclusion probability as a file states it, which must be the plan's; None in the log."""


_HARDLY = 1e-6


def is_chosen_as_planned(*, items: int, chosen: int, inclusion: float) -> bool:
    """Whether *chosen* of *items* can be a sample in which each item has the probability *inclusion*.

    An item that was never chosen counts as one without an event, so too few chosen items hide a rate, and too many make one up. False
    where a number as far off has a probability below one in a million (H. Chernoff, Annals of Mathematical Statistics 23, 1952).
    """
    if inclusion == 1 or not items:
        return chosen == items
    share = chosen / items
    parts = ((share, inclusion), (1 - share, 1 - inclusion))
    return items * math.fsum(part * math.log(part / planned) for part, planned in parts if part > 0) <= math.log(2 / _HARDLY)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorCounts(Record):
    """What the judge said of anchors in one window."""

    good: int
    """Anchors that people called good."""
    bad: int
    false_positive: int
    """Good ones that the judge called bad."""
    false_negative: int
    """Bad ones that the judge called good."""

    def __post_init__(self) -> None:
        if not (0 <= self.false_positive <= self.good and 0 <= self.false_negative <= self.bad):
            raise ValueError("more wrong anchors than anchors")


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorReading(Record):
    """The evidence after a window, computed from all windows up to it."""

    items: int
    """Items of the stream so far."""
    reviewed: int
    rate: float | None
    """Weighted mean of the scores so far (Hájek); None before the first score."""
    log_evidence: float
    """log M against the claim's limit."""
    lower: float
    """The rate was above this at some time, unless an event of probability α/m happened."""
    upper: float
    """The rate was below this at some time, unless an event of probability α/m happened."""
    average_limit: float
    """The average rate so far is at most this (at least, for a claim with a lower limit), with the same error at all looks."""
    alarm: int | None = None
    """Number of the first window with the claim alarm; it stays."""
    anchors_alarm: int | None = None
    """Number of the first window with the alarm of the anchors."""
    attribution: Attribution | None = None
    """None without an alarm."""
    drift: bool = False
    """Whether the drift alarm is up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorWindow(Payload):
    """The data of one window, or that they are missing."""

    KIND = "monitor_window"
    monitor: str
    claim: str
    """`CLM-…@n`, as the monitor has it."""
    number: int
    """From 1, without gaps."""
    correction: int = 0
    """0 for the first report of a window, then 1, 2, …; the highest counts."""
    reason: str | None = None
    """Why a window is corrected, or why its data are missing."""
    start: datetime
    stop: datetime
    cells: tuple[WindowCell, ...] = ()
    """Empty for a window without data."""
    anchors: AnchorCounts | None = None
    opted_out: float | None = None
    """Share of the stream's users that may not be reviewed; None where unknown."""
    source: str | None = None
    """SHA-256 of the file that was read, hexadecimal."""
    reading: MonitorReading


_INCIDENT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorIncident(Payload):
    """One event in production that was reported. Its description is not in the log, only a digest of it with a salt."""

    KIND = "monitor_incident"
    monitor: str
    claim: str
    """`CLM-…@n`, as the monitor has it."""
    incident: str
    """Its identifier in the framework, such as `2027-04-11-9f3a`."""
    framework: str
    """Under which it was reported, such as `eu-ai-act-73` or `oecd-aim`."""
    occurred: date
    reported: date
    summary_sha256: str
    """Of a salt of 32 random bytes, which stays with the lab, and its description in UTF-8; hexadecimal."""
    verified: bool
    """Whether a person checked that it happened and is what the claim excludes."""
    reason: str | None = None
    """Why it differs from what was reported before; None for the first report."""
    source: str | None = None
    """SHA-256 of the file that was read, hexadecimal."""

    def __post_init__(self) -> None:
        # Identifiers only: a free text could hold words of users.
        for name, text in (("incident", self.incident), ("framework", self.framework)):
            if not _INCIDENT_NAME.fullmatch(text):
                raise ValueError(f"{name} is an identifier of at most 64 letters, digits and . _ : / -")
        if self.reported < self.occurred:
            raise ValueError("an incident is reported after it occurred")


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorEnd(Payload):
    """A monitor ends, for a reason."""

    KIND = "monitor_end"
    monitor: str
    claim: str
    reason: str


class MonitorState(StrEnum):
    """Where a monitor is."""

    LOCKED = "locked"
    """No window yet."""
    RUNNING = "running"
    SILENT = "silent"
    """No window for longer than the plan allows."""
    ALARM = "alarm"
    ENDED = "ended"


class MonitorVerdict(StrEnum):
    """How a monitor's evidence reads."""

    OPEN = "open"
    """Nothing is settled."""
    HOLDS_SO_FAR = "holds_so_far"
    """The average rate so far keeps to the limit."""
    VIOLATED = "violated"
    """The alarm was raised, and it counts as one of the system."""
    IN_DOUBT = "in_doubt"
    """The alarm was raised, and something is missing for more: see the reasons."""
    JUDGE_CHANGED = "judge_changed"
    """The alarm was raised, and the anchors say that the judge changed."""
