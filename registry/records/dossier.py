"""Everything a registry knows of one claim as of one log entry, and the proof that those entries are in the log."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Generic, TypeVar

from registry.records.analysis_plan import Deviation, Exploration, Lock
from registry.records.audit_case import Audit, AuditWithdrawal, EvidenceStatement, Result
from registry.records.claim import ClaimEvent, ClaimRelation, ClaimRevision, Relation
from registry.records.claim_status import (
    SETTLED,
    Family,
    Objection,
    ObjectionEvent,
    ObjectionState,
    StalenessReview,
    Status,
    find_state,
    owner_of,
)
from registry.records.forecast import Forecast, ForecastScore
from registry.records.log_seal import EntryOpening, EntrySignature, KeyEvent, Node
from registry.records.model_version import ModelEndpoint, ModelEvent, ModelVersion
from registry.records.module_findings import Finding
from registry.records.monitor import (
    Attribution,
    Monitor,
    MonitorEnd,
    MonitorIncident,
    MonitorPlan,
    MonitorReading,
    MonitorState,
    MonitorVerdict,
    MonitorWindow,
    is_chosen_as_planned,
)
from registry.records.record import Authority, Payload, Record
from registry.records.replay_run import Run, RunEnd, RunHistory, RunStart, list_runs
from registry.records.specification import Reveal, SpecVersion
from registry.records.statement import Entry
from registry.records.system_card import Card, PassageMatch
from registry.records.verdict import Restriction

# A dossier: everything a registry knows about one claim as of one log entry. Supplements are
# assembled from it.

Said = TypeVar("Said", bound=Payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded(Record, Generic[Said]):
    """A payload with the log entry that recorded it."""

    entry: Entry
    payload: Said


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFile(Record):
    """One audit with all that belongs to it, each in log order."""

    audit: Recorded[Audit]
    lock: Recorded[Lock] | None
    runs: tuple[Recorded[Run], ...] = ()
    results: tuple[Recorded[Result], ...] = ()
    evidence: tuple[Recorded[EvidenceStatement], ...] = ()
    restrictions: tuple[Recorded[Restriction], ...] = ()
    findings: tuple[Recorded[Finding], ...] = ()
    deviations: tuple[Recorded[Deviation], ...] = ()
    explorations: tuple[Recorded[Exploration], ...] = ()
    starts: tuple[Recorded[RunStart], ...] = ()
    """Runs that were entered in the log before their first call; of live replays alone."""
    ends: tuple[Recorded[RunEnd], ...] = ()
    withdrawn: Recorded[AuditWithdrawal] | None = None

    @property
    def history(self) -> tuple[RunHistory, ...]:
        """Every run under its lock, in log order; those with a start that was not recorded last."""
        return list_runs(self.starts, self.ends, self.runs)

    def is_replaced_by(self, other: "AuditFile") -> bool:
        """Whether *other* locked the same plan again, only to fix endpoint names, before a run or an outcome of this audit was recorded."""
        if self.lock is None or other.lock is None or self.history or self.restrictions:
            return False
        before, after = self.lock, other.lock
        # The same plan leaves no choice between two: whoever runs it twice could do so under one lock too.
        is_same = replace(after.payload, audit=before.payload.audit, endpoint_names=()) == before.payload
        is_named = bool(after.payload.endpoint_names)
        return is_same and is_named and before.entry.seq < after.entry.seq and self.audit.payload.auditor == other.audit.payload.auditor


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectionFile(Record):
    """One objection with its steps."""

    objection: Recorded[Objection]
    events: tuple[Recorded[ObjectionEvent], ...] = ()
    replays: tuple[Recorded[Audit], ...] = ()
    """Audits that replay under its rival."""

    @property
    def owner(self) -> str:
        """Code of the owner of what is contested."""
        return owner_of(self.objection.payload.target)

    @property
    def state(self) -> ObjectionState:
        """Where it is after its last step."""
        if not self.events:
            return ObjectionState.OPEN
        last = self.events[-1]
        return find_state(last.payload.step, actor=last.entry.actor, owner=self.owner, by=self.objection.payload.by)

    @property
    def is_settled(self) -> bool:
        """Whether another than the owner decided it, or a party gave way."""
        return self.state in SETTLED


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorFile(Record):
    """A monitor with its windows and its end."""

    monitor: Recorded[Monitor]
    windows: tuple[Recorded[MonitorWindow], ...] = ()
    """In log order, corrections included."""
    incidents: tuple[Recorded[MonitorIncident], ...] = ()
    """In log order; of each the last report counts."""
    ended: Recorded[MonitorEnd] | None = None
    forecasts: tuple[Recorded[Forecast], ...] = ()
    """What audits said of it before its first window."""
    scores: tuple[Recorded[ForecastScore], ...] = ()
    """How they came true; the last score of a forecast counts."""

    @property
    def plan(self) -> MonitorPlan:
        """What was locked."""
        return self.monitor.payload.plan

    @property
    def current(self) -> tuple[MonitorWindow, ...]:
        """The windows that count, by number: of each its last correction."""
        last = {recorded.payload.number: recorded.payload for recorded in self.windows}
        return tuple(last[number] for number in sorted(last))

    @property
    def reading(self) -> MonitorReading | None:
        """The evidence after the last window; None before the first window."""
        return self.windows[-1].payload.reading if self.windows else None

    @property
    def labelled(self) -> int:
        """Items that people labelled, under a plan in which they label a random share."""
        return sum(cell.labels.items for window in self.current for cell in window.cells if cell.labels)

    @property
    def known_incidents(self) -> tuple[Recorded[MonitorIncident], ...]:
        """Of each incident its last report, in the order of the first ones."""
        return tuple({recorded.payload.incident: recorded for recorded in self.incidents}.values())

    @property
    def refutation(self) -> Recorded[MonitorIncident] | None:
        """The first verified incident. It stays, also when a later report takes the verification back."""
        return next((recorded for recorded in self.incidents if recorded.payload.verified), None)

    @property
    def has_alarm(self) -> bool:
        """Whether the claim alarm was raised, by scores or by a verified incident."""
        return self.refutation is not None or (self.reading is not None and self.reading.alarm is not None)

    @property
    def due(self) -> date:
        """The last day for the next window; after it, the monitor is silent."""
        current = self.current
        last = current[-1].stop if current else self.plan.start
        # A window can be reported when it is over and its labels are in.
        return last.date() + timedelta(days=self.plan.silent_after_days + self.plan.label_delay_days)

    def find_score(self, entry: int) -> ForecastScore | None:
        """Return how the forecast of *entry* came true; None where it was not scored."""
        return next((recorded.payload for recorded in reversed(self.scores) if recorded.payload.forecast == entry), None)

    def find_state(self, today: date | None) -> MonitorState:
        """Return where the monitor is on *today*; None leaves time out."""
        if self.has_alarm:
            return MonitorState.ALARM
        if self.ended is not None:
            return MonitorState.ENDED
        # Without a random sample there is nothing to report: no incident is no news.
        if self.plan.is_of_incidents and not self.plan.strata:
            return MonitorState.RUNNING if self.incidents else MonitorState.LOCKED
        if self._is_silent(today):
            return MonitorState.SILENT
        return MonitorState.RUNNING if self.windows else MonitorState.LOCKED

    def _is_silent(self, day: date | None) -> bool:
        current = self.current
        return (day is not None and day > self.due) or bool(current and not current[-1].cells)

    def find_verdict(self, today: date | None) -> MonitorVerdict:
        """Return how the evidence reads on *today*."""
        if self.refutation is not None:
            return MonitorVerdict.IN_DOUBT if self.list_doubts() else MonitorVerdict.VIOLATED
        reading = self.reading
        if reading is None:
            return MonitorVerdict.OPEN
        if reading.alarm is not None:
            if reading.attribution is Attribution.JUDGE:
                return MonitorVerdict.JUDGE_CHANGED
            return MonitorVerdict.IN_DOUBT if self.list_doubts() else MonitorVerdict.VIOLATED
        # The end of a monitor restores nothing that silence withdrew.
        day = today if self.ended is None else self.ended.entry.at.date()
        is_quiet = not self.is_misled and not self._is_silent(day)
        return MonitorVerdict.HOLDS_SO_FAR if is_quiet and not self.list_doubts() and self._keeps_limit() else MonitorVerdict.OPEN

    @property
    def is_misled(self) -> bool:
        """Whether the anchors show that the judge changed, and no labels of people correct it."""
        reading = self.reading
        return reading is not None and reading.anchors_alarm is not None and not self.plan.is_corrected

    def list_doubts(self) -> tuple[str, ...]:
        """Return what keeps the evidence from a verdict, each reason in a sentence without full stop."""
        reading, plan = self.reading, self.plan
        doubts = [*plan.list_doubts()]
        if reading is None or plan.is_of_incidents:
            return tuple(doubts)
        doubts += [*self._list_unplanned(), *(self._list_unseen() if reading.alarm is None else ())]
        # Labels of people correct the judge's error, whatever the anchors show.
        if plan.anchors is None or plan.is_corrected:
            return tuple(doubts)
        guard, rate = plan.anchors.guard, plan.anchors.false_positive
        if without := [str(window.number) for window in self.current if window.cells and window.anchors is None]:
            doubts.append(f"no anchors were scored in window {', '.join(without)}")
        if reading.alarm is None:
            # A judge that misses bad items shows on bad anchors only, and one that sees too many on good ones.
            if sum(window.anchors.bad for window in self.current if window.anchors) < guard:
                doubts.append(f"fewer than {guard} bad anchors were scored")
        elif reading.attribution is Attribution.OPEN:
            doubts.append(f"fewer than {guard} good anchors were scored since the alarm, so the judge may have changed")
        elif not any(self._exceeds_judge_error(recorded.payload.reading) for recorded in self.windows):
            doubts.append(f"a judge with the tolerated share of false positives ({rate:.1%}) would explain the alarm")
        elif not self._is_settled(guard):
            doubts.append(f"the anchors were not quiet for {guard} good ones after the evidence exceeded the tolerated errors of the judge")
        return tuple(doubts)

    def _list_unplanned(self) -> Iterator[str]:
        """Yield where the items that were chosen for review are not as many as the locked probabilities give."""
        for stratum in self.plan.strata:
            cells = [cell for window in self.current for cell in window.cells if cell.stratum == stratum.name and not cell.suppressed]
            items, chosen = sum(cell.items for cell in cells), sum(cell.reviewed + cell.pending for cell in cells)
            if not is_chosen_as_planned(items=items, chosen=chosen, inclusion=stratum.inclusion):
                number = f"{chosen:,} of {items:,} items of {stratum.name} were chosen for review"
                yield f"{number}, where the plan chooses each with probability {stratum.inclusion:g}"

    def _list_unseen(self) -> Iterator[str]:
        """Yield what no window shows, and what may have been the bad part."""
        current = self.current
        if gaps := [str(window.number) for window in current if not window.cells]:
            yield f"window {', '.join(gaps)} has no data"
        share = max((window.opted_out or 0.0 for window in current), default=0.0)
        if share and not self._keeps_limit(unseen=share):
            yield f"up to {share:.1%} of users are not reviewed, and their items could pass the limit"

    def _is_settled(self, guard: int) -> bool:
        """Whether the evidence exceeded the tolerated errors of the judge, and the anchors then stayed quiet for the guard.

        An alarm of little evidence is no proof for evidence that comes later: the judge may have changed between.
        """
        quiet: int | None = None
        for recorded in self.windows:
            window = recorded.payload
            if window.reading.anchors_alarm is not None:
                return False
            if quiet is None:
                quiet = 0 if self._exceeds_judge_error(window.reading) else None
            elif window.anchors is not None and not window.correction:
                quiet += window.anchors.good
            if quiet is not None and quiet >= guard:
                return True
        return False

    def _exceeds_judge_error(self, reading: MonitorReading) -> bool:
        """Whether *reading* is on the wrong side of the limit even if the judge errs as often as is tolerated.

        A rate r is judged to be r + (1 - r)·FP at most.
        """
        plan = self.plan
        if plan.anchors is None:
            return False
        is_upper = plan.relation is Relation.AT_MOST
        judged, limit = (reading.lower, plan.theta) if is_upper else (1 - reading.upper, 1 - plan.theta)
        return judged >= limit + (1 - limit) * plan.anchors.false_positive

    def _keeps_limit(self, *, unseen: float = 0.0) -> bool:
        """Whether the average so far keeps to the limit even if the judge misses as many bad items as is tolerated.

        A rate r is judged to be r·(1 - FN) at least; under labels of people it is corrected already. Of the share *unseen* of users each
        item counts as bad.
        """
        reading, plan = self.reading, self.plan
        if reading is None or (plan.anchors is None and not plan.is_corrected):
            return False
        is_upper = plan.relation is Relation.AT_MOST
        judged, limit = (reading.average_limit, plan.theta) if is_upper else (1 - reading.average_limit, 1 - plan.theta)
        missed = 0.0 if plan.anchors is None or plan.is_corrected else plan.anchors.false_negative
        return (1 - unseen) * judged / (1 - missed) + unseen < limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Dossier(Record):
    """One claim, whole."""

    log_origin: str
    log_size: int
    """Entries up to which this was read: the log as of entry `log_size`."""
    claim: str
    revisions: tuple[Recorded[ClaimRevision], ...]
    """In order, the last is the current one; empty for a claim that is only reserved."""
    status: Status
    authorities: tuple[Recorded[Authority], ...] = ()
    """All authorities that are named in it."""
    card: Recorded[Card] | None = None
    """The card revision that the current claim revision quotes."""
    newer_cards: tuple[Recorded[Card], ...] = ()
    model: Recorded[ModelVersion] | None = None
    successors: tuple[Recorded[ModelVersion], ...] = ()
    """Model versions that follow the claim's, nearest first."""
    specs: tuple[Recorded[SpecVersion], ...] = ()
    """The specification versions that the current revision refers to; then those that locks of its audits fix and their replays asked."""
    newer_specs: tuple[Recorded[SpecVersion], ...] = ()
    audits: tuple[AuditFile, ...] = ()
    events: tuple[Recorded[ClaimEvent], ...] = ()
    relations: tuple[Recorded[ClaimRelation], ...] = ()
    """Relations in which the claim stands on either side."""
    objections: tuple[ObjectionFile, ...] = ()
    """Those that target the claim or a specification it rests on, and those under whose rival one of its audits replays."""
    passage_matches: tuple[Recorded[PassageMatch], ...] = ()
    """Where the passages of its revisions stand in other revisions of the card, in log order."""
    reviews: tuple[Recorded[StalenessReview], ...] = ()
    """What people decided of changes that the claim may not have survived, of all its revisions, in log order."""
    later: tuple[Recorded[ClaimRevision], ...] = ()
    """The revisions after the one it is seen from, in order: audits of these are among its audits."""
    model_events: tuple[Recorded[ModelEvent], ...] = ()
    """Of the lineage of the models that its revisions are about, and of those that follow them, in log order."""
    model_endpoints: tuple[Recorded[ModelEndpoint], ...] = ()
    """On the endpoint names that show who was asked for the model of the current revision, in log order; see `EndpointIndex`."""
    reveals: tuple[Recorded[Reveal], ...] = ()
    """Of the sealed ones among `specs`, in log order."""
    today: date | None = None
    """The day by which outcomes count as expired: that of the last entry seen, or of the reader's clock."""
    family: Family = Family()
    """The claims on the same words about the same property and model version, with the outcomes of all."""
    monitors: tuple[MonitorFile, ...] = ()
    """Monitors of its revisions after release, in log order."""

    @property
    def current(self) -> Recorded[ClaimRevision]:
        """The latest revision; raises IndexError for a claim that is only reserved."""
        return self.revisions[-1]


# The proof that a record's entries are in a log, and their signers.
#
# One proof covers all entries. It consists of complete subtrees only, which do not depend on the
# size of the log (decision of 2026-11-22). The cost: 0.5 to 7 ms per claim, 17 kB for a card with
# 500 claims.


@dataclass(frozen=True, slots=True, kw_only=True)
class Inclusion(Record):
    """The proof that entries are in a log: anyone can compute the root from their hashes and these nodes."""

    size: int
    """Of the log, in entries."""
    root: str
    """Of the tree over them, hexadecimal."""
    nodes: tuple[Node, ...]
    """The fewest nodes above none of the entries proven, by level and index."""
    openings: tuple[EntryOpening, ...] = ()
    """One for each entry with a payload in the record, in log order."""
    signatures: tuple[EntrySignature, ...] = ()
    """One for each entry proven that its author signed, in log order."""
    keys: tuple[Recorded[KeyEvent], ...] = ()
    """What the log says of the statement keys of those authors, in log order; these entries are proven too."""


# What superseded a supplement of an earlier log entry. It is outside the record digest, since the
# record was made before it.


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrySupersession(Record):
    """That a supplement no longer says what the registry says; known only to whoever draws it later."""

    name: str
    """`CLM-…@n` or `CRD-…@n` that says it now; also the name of its files."""
    entry: Entry
    """The first entry after the supplement's own log that changed what it says."""
    log_size: int
    """Entries of the log when this was known."""
    why: tuple[str, ...]
    """What changed, a sentence each; at least one."""
