"""Statements of an audit: its opening, lock, runs, results, evidence, findings, outcome, and deviations from the lock."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, select

from registry.errors import Fault
from registry.records.analysis_plan import COMPUTED, Deviation, Exploration, Lock, LockedItem, list_plan_differences
from registry.records.audit_case import Access, Audit, AuditWithdrawal, EvidenceKind, EvidenceLayer, EvidenceStatement, Independence, Result
from registry.records.claim import Direction, Form, Relation
from registry.records.claim_status import list_phrases, number_phrase, read_words
from registry.records.module_findings import (
    Ablation,
    ControlReport,
    Finding,
    FindingBody,
    FindingKind,
    JudgeReport,
    Naturalness,
    RealismJudge,
    Recognition,
    RecognitionLinks,
    Shift,
)
from registry.records.record import Kind
from registry.records.replay_run import Run, RunEnd, RunStart, RunStatus
from registry.records.verdict import Basis, ClaimClass, Mode, Restriction, Standing, Verdict, VerdictStanding
from registry.store.database_engine import (
    TriggerRule,
    begins,
    bytes_column,
    digest,
    new_table,
    one_of,
    real_column,
    refers,
    text_column,
    text_columns,
    whole_column,
    whole_columns,
)
from registry.store.kinds.claim_kinds import audited_phrase
from registry.store.statement_kind import AUDIT, CLAIM, OBJECTION, EntryPlace, Role, Row, StatementKind, plain, split_reference, unhex

if TYPE_CHECKING:
    from registry.store.log_reader import LogReader
    from registry.store.registry_view import View
    from registry.store.statement_rules import StatementRules


audit = new_table(
    "audit",
    *text_columns("audit claim"),
    whole_column("revision"),
    *text_columns("auditor independence"),
    begins("audit", Kind.AUDIT),
    one_of("independence", Independence),
    UniqueConstraint("log", "audit"),
    UniqueConstraint("log", "audit", "claim", "revision"),
    refers("audit", "identifier", "id"),
    refers("claim revision", "claim_revision", "claim revision"),
    refers("auditor", "authority", "code"),
    Index(None, "log", "claim"),
)
audit_rival = new_table(
    "audit_rival",
    *text_columns("audit objection"),
    begins("objection", Kind.OBJECTION),
    refers("audit", "audit", "audit"),
    refers("objection", "objection", "objection"),
    Index(None, "log", "audit"),
    Index(None, "log", "objection"),
)
"""Audits that replay under the rival of an objection."""


AUDITS = Role("audit", "claim", CLAIM, "revision", "audit")
RIVALS = Role("audit_rival", "audit", AUDIT, own="objection")


def _of_audit(table: str) -> tuple[Role, ...]:
    return (Role(table, "audit", AUDIT),)


class AuditKind(StatementKind[Audit]):
    """The opening of an audit, of one revision that exists, by a registered auditor."""

    tables = (audit, audit_rival)
    names = (AUDITS, RIVALS, Role("audit_rival", "objection", OBJECTION, own="audit"))
    reason = "an audit was opened"
    importance = 29

    def build_rows(self, audit: Audit, place: EntryPlace) -> Iterator[Row]:
        yield "audit", (*place.here, audit.audit, *split_reference(audit.claim), audit.auditor, audit.independence.value)
        if audit.objection is not None:
            yield "audit_rival", (*place.here, audit.audit, audit.objection)

    def find_faults(self, audit: Audit, rules: "StatementRules") -> Iterator[Fault]:
        yield from rules.check_number(audit.audit, 1, 1 if rules.view.is_used(audit.audit) else 0, "audit")
        yield from rules.check_authority(audit.auditor, audit.audit)
        yield from rules.check_revision(audit.claim, audit.audit)
        yield from _find_renewal_faults(rules.view, audit)

    def describe(self, payload: Audit) -> str:
        return f"{payload.audit} of {payload.claim} {payload.question or ''}"

    def name_new(self, payload: Audit) -> str:
        return payload.audit


audit_withdrawal = new_table(
    "audit_withdrawal",
    *text_columns("audit"),
    UniqueConstraint("log", "audit"),
    refers("audit", "audit", "audit"),
)


class AuditWithdrawalKind(StatementKind[AuditWithdrawal]):
    """That an audit no longer counts: said once, by its auditor."""

    tables = (audit_withdrawal,)
    names = _of_audit("audit_withdrawal")
    kept = "why an audit no longer counts stays"
    reason = "an audit was withdrawn"
    importance = 35

    def build_rows(self, withdrawal: AuditWithdrawal, place: EntryPlace) -> Iterator[Row]:
        yield "audit_withdrawal", (*place.here, withdrawal.audit)

    def find_faults(self, withdrawal: AuditWithdrawal, rules: "StatementRules") -> Iterator[Fault]:
        file = rules.view.find_audit(withdrawal.audit)
        if file is None:
            yield rules.refuse_unknown("audit", withdrawal.audit)
        elif file.withdrawn is not None:
            yield refuse_withdrawn(file.withdrawn.payload, file.withdrawn.entry.seq)
        # Others object: a withdrawal by them would take away what they do not like.
        elif (auditor := file.audit.payload.auditor) != rules.actor:
            problem = f"{auditor} made the audit, and you act as {rules.actor}"
            advice = f"object to the claim: caveat contest open {file.audit.payload.claim}"
            yield Fault("not-permitted", withdrawal.audit, problem, advice=advice)

    def describe(self, payload: AuditWithdrawal) -> str:
        return f"{payload.audit} withdrawn: {payload.reason}"


def refuse_withdrawn(withdrawal: AuditWithdrawal, entry: int) -> Fault:
    """Return the fault of a statement on an audit that was withdrawn by *entry*."""
    return Fault("audit-withdrawn", withdrawal.audit, f"was withdrawn by entry {entry}: {withdrawal.reason}")


# An audit that renews another one. The locks are compared when the new one is recorded, so "repeats the plan" is true by rule, also in
# imported logs (decision of 2026-11-22). The cost: two more reads for each renewed lock.


def _find_renewal_faults(view: "View", audit: Audit) -> Iterator[Fault]:
    """Yield why *audit* cannot renew the audit that it names: that is one of the same claim, with a lock."""
    if audit.renews is None:
        return
    there = view.find_audit(audit.renews)
    claim = audit.claim.partition("@")[0]
    if there is None:
        problem = f"renews {audit.renews}, and no audit has this identifier here"
        yield Fault("not-registered", audit.audit, problem, advice="caveat audit list")
    elif there.audit.payload.claim.partition("@")[0] != claim:
        problem = f"renews {audit.renews}, which is of {there.audit.payload.claim}"
        yield Fault("wrong-claim", audit.audit, problem, advice="leave renews out: a plan is of one claim")
    elif there.lock is None:
        problem = f"renews {audit.renews}, which has no lock: there is no plan to repeat"
        yield Fault("not-locked", audit.audit, problem, advice="leave renews out")


def _find_plan_faults(view: "View", lock: Lock) -> Iterator[Fault]:
    """Yield in what *lock*, the lock of an audit that renews another, is not the lock of that one."""
    audit = view.find_audit(lock.audit)
    renews = audit.audit.payload.renews if audit else None
    old = view.find_audit(renews) if renews else None
    # The audit was checked when it was opened. Without an old lock there is nothing to compare.
    if old is None or old.lock is None:
        return
    if differing := list_plan_differences(old.lock.payload, lock):
        problem = f"renews {renews}, and its plan differs in {', '.join(differing)}"
        yield Fault("renewal-differs", lock.audit, problem, advice="leave renews out: another plan is an audit of its own")


lock = new_table(
    "lock",
    *text_columns("audit claim"),
    *whole_columns("revision at"),
    text_column("relation", null=True),
    real_column("theta"),
    text_column("direction"),
    real_column("margin"),
    real_column("level", null=False),
    one_of("relation", Relation),
    one_of("direction", Direction),
    CheckConstraint("theta IS NULL OR relation IS NOT NULL", name="theta_agrees"),
    CheckConstraint("level >= 0.5 AND level < 1", name="level"),
    CheckConstraint("margin > 0", name="margin"),
    UniqueConstraint("log", "audit"),
    UniqueConstraint("log", "audit", "seq"),
    UniqueConstraint("log", "audit", "seq", "at"),
    refers("audit claim revision", "audit", "audit claim revision"),
    guards=(
        TriggerRule(
            # The lock repeats the time of its entry so that runs can be compared with it by a foreign
            # key. A wrong copy would let a run precede its lock.
            broken="NEW.at <> (SELECT at FROM entry WHERE log = NEW.log AND seq = NEW.seq)",
            message="not-its-time: lock.at must be the time of its entry",
        ),
    ),
)


class LockKind(StatementKind[Lock]):
    """The plan of an audit, fixed before its run: one for an audit, of the revision that is audited."""

    tables = (lock,)
    names = _of_audit("lock")
    kept = "what was fixed before a run stays"
    reason = "an audit was locked"
    importance = 28

    def build_rows(self, lock: Lock, place: EntryPlace) -> Iterator[Row]:
        relation = lock.relation.value if lock.relation else None
        plan = (relation, lock.theta, lock.direction.value, lock.plan.margin, lock.plan.level)
        yield "lock", (*place.here, lock.audit, *split_reference(lock.claim), place.at, *plan)

    def find_faults(self, lock: Lock, rules: "StatementRules") -> Iterator[Fault]:
        yield from rules.check_audit(lock.audit, lock.claim)
        yield from _find_plan_faults(rules.view, lock)
        if rules.find_lock(lock.audit):
            yield Fault("already-locked", lock.audit, "its plan is locked; a lock is never changed")

    def describe(self, payload: Lock) -> str:
        theta = "not published" if payload.theta is None else f"{payload.theta:g}"
        limit = "" if payload.relation is None else f", {payload.relation.value} {theta}"
        return f"{payload.audit} margin {payload.plan.margin:g}, level {payload.plan.level:g}{limit}"


def _with_lock(place: EntryPlace, audit: str, reader: "LogReader") -> EntryPlace:
    """Return *place* with the lock of *audit*. A run repeats its time, so that a CHECK can refuse one that began before it."""
    rows = reader.rows(select(lock.c.seq, lock.c.at).where(reader.visible(lock), lock.c.audit == audit))
    return replace(place, lock=(rows[0].seq, rows[0].at) if rows else None)


# Runs under a lock: a run starts once and before the outcome, and an end names its start. A run is recorded before its first call. A lab
# that repeats runs until one fits therefore leaves the starts of the others in the log.

IMPORTED = "imported"
"""How a run ends whose scores were imported, beside the values of `RunStatus`."""
run_start = new_table(
    "run_start",
    text_column("audit"),
    whole_column("lock"),
    text_column("run"),
    # Entry numbers prove the order without trusting any clock.
    CheckConstraint("lock < seq", name="lock_before_start"),
    CheckConstraint("length(run) = 32", name="run_32_digits"),
    UniqueConstraint("log", "audit", "seq"),
    UniqueConstraint("log", "audit", "run"),
    refers("audit lock", "lock", "audit seq"),
)
run_end = new_table(
    "run_end",
    text_column("audit"),
    whole_column("start"),
    text_column("status"),
    whole_column("calls"),
    one_of("status", (*RunStatus, IMPORTED)),
    CheckConstraint("start < seq", name="start_before_end"),
    CheckConstraint("calls >= 0", name="calls"),
    refers("audit start", "run_start", "audit seq"),
    Index(None, "log", "audit"),
)


def _find_start_faults(view: "View", run_end: RunEnd | Run) -> Iterator[Fault]:
    """Yield why the entry that *run_end* names is no start of a run of its audit."""
    own = (run_start.c.audit == run_end.audit) & (run_start.c.seq == run_end.start)
    if run_end.start is not None and not view.rows(select(run_start.c.seq).where(view.visible(run_start), own)):
        yield Fault(
            "not-registered",
            run_end.audit,
            f"entry {run_end.start} starts no run of this audit",
            advice=f"caveat audit show {run_end.audit} lists its runs",
        )


class RunStartKind(StatementKind[RunStart]):
    """The start of a run under a lock, recorded before its first call."""

    tables = (run_start,)
    names = _of_audit("run_start")
    kept = "which runs were made under a lock stays"
    reason = "a run under a lock was started"
    importance = 26
    rests_on_rows = True

    def build_rows(self, run_start: RunStart, place: EntryPlace) -> Iterator[Row]:
        lock, _ = place.lock or (0, 0)
        yield "run_start", (*place.here, run_start.audit, lock, run_start.run)

    def find_faults(self, start: RunStart, rules: "StatementRules") -> Iterator[Fault]:
        file = rules.view.find_audit(start.audit)
        if file is None:
            yield rules.refuse_unknown("audit", start.audit)
            return
        if file.lock is None:
            problem = "there is no lock, so no run can be started under it"
            yield Fault("not-locked", start.audit, problem)
        if any(other.payload.run == start.run for other in file.starts):
            yield Fault("already-recorded", start.audit, "this run is in the log already")
        if file.withdrawn is not None:
            yield refuse_withdrawn(file.withdrawn.payload, file.withdrawn.entry.seq)
        # A lock is for one outcome (decision of 2026-11-21).
        if file.restrictions:
            problem = f"has its outcome, entry {file.restrictions[0].entry.seq}; no run under its lock is started after that"
            advice = "lock another audit, or leave audit out of the replay"
            yield Fault("audit-concluded", start.audit, problem, advice=advice)

    def describe(self, payload: RunStart) -> str:
        return f"{payload.audit} run started: {payload.planned:,} calls planned, model {payload.model}"

    def complete_place(self, payload: RunStart, place: EntryPlace, reader: "LogReader") -> EntryPlace:
        return _with_lock(place, payload.audit, reader)


class RunEndKind(StatementKind[RunEnd]):
    """The end of a run that was started. It has no further conditions: a run must be able to end, even after the outcome."""

    tables = (run_end,)
    names = _of_audit("run_end")
    kept = "the outcome of a run stays"
    reason = "a run under a lock ended"
    importance = 27

    def build_rows(self, run_end: RunEnd, place: EntryPlace) -> Iterator[Row]:
        yield "run_end", (*place.here, run_end.audit, run_end.start, run_end.status.value, run_end.calls)

    def find_faults(self, run_end: RunEnd, rules: "StatementRules") -> Iterator[Fault]:
        if rules.view.find_audit(run_end.audit) is None:
            yield rules.refuse_unknown("audit", run_end.audit)
        else:
            yield from _find_start_faults(rules.view, run_end)

    def describe(self, payload: RunEnd) -> str:
        return f"{payload.audit} run of entry {payload.start} {payload.status.value} after {payload.calls:,} calls"


run = new_table(
    "run",
    text_column("audit"),
    *whole_columns("lock lock_at started_at"),
    text_column("status"),
    bytes_column("scores"),
    *whole_columns("responses excluded"),
    whole_column("corpus", null=True),
    one_of("status", RunStatus),
    digest("scores"),
    CheckConstraint("lock < seq", name="lock_before_run"),
    # The lock precedes the run. Otherwise scores may have been seen before the plan was fixed.
    CheckConstraint("started_at >= lock_at", name="started_after_lock"),
    CheckConstraint("responses >= 0 AND excluded >= 0", name="counts"),
    UniqueConstraint("log", "audit", "seq"),
    refers("audit lock lock_at", "lock", "audit seq at"),
)


class RunKind(StatementKind[Run]):
    """A run whose scores came in, made after the lock."""

    tables = (run, run_end)
    names = _of_audit("run")
    reason = "an audit has a run"
    importance = 25
    rests_on_rows = True

    def build_rows(self, run: Run, place: EntryPlace) -> Iterator[Row]:
        excluded = sum(count.count for count in run.excluded)
        counts = (run.responses, excluded, run.provenance.corpus_tasks)
        started = int(run.started_at.timestamp())
        # Without a lock the row gets entry 0, which the foreign key refuses. The rule reports it
        # earlier in better words.
        yield "run", (*place.here, run.audit, *(place.lock or (0, 0)), started, run.status.value, unhex(run.table), *counts)
        # An import also ends the run that was started under the lock.
        if run.start is not None:
            yield "run_end", (*place.here, run.audit, run.start, IMPORTED, run.responses + excluded)

    def find_faults(self, run: Run, rules: "StatementRules") -> Iterator[Fault]:
        if rules.view.find_audit(run.audit) is None:
            yield rules.refuse_unknown("audit", run.audit)
        elif (locked := rules.find_lock(run.audit)) is None:
            problem = "there is no lock, so no run can follow it"
            yield Fault("not-locked", run.audit, problem, advice=f"lock the plan before the runs: caveat audit lock {run.audit}")
        elif run.started_at.tzinfo is None:
            yield Fault("bad-date", run.audit, "started_at needs its time zone")
        # Compared in whole seconds, as both are stored.
        elif int(run.started_at.timestamp()) < locked[1]:
            yield Fault(
                "run-before-lock",
                run.audit,
                f"the run started at {run.started_at.isoformat()}, before the plan was locked",
                advice="its scores can enter a restriction as reported, not as replay",
            )
        else:
            yield from _find_start_faults(rules.view, run)

    def describe(self, payload: Run) -> str:
        return f"{payload.audit} {payload.responses} responses of {payload.started_at:%Y-%m-%d %H:%M} in {payload.source}"

    def complete_place(self, payload: Run, place: EntryPlace, reader: "LogReader") -> EntryPlace:
        return _with_lock(place, payload.audit, reader)


result = new_table(
    "result",
    text_column("audit"),
    *whole_columns("lock run"),
    CheckConstraint("lock < run AND run < seq", name="lock_before_run_before_result"),
    UniqueConstraint("log", "audit", "seq"),
    refers("audit lock", "lock", "audit seq"),
    refers("audit run", "run", "audit seq"),
)
estimate = new_table(
    "estimate",
    whole_column("position"),
    *text_columns("spec judge"),
    real_column("ed", null=False),
    real_column("low"),
    real_column("high"),
    whole_column("replayed"),
    whole_column("corpus", null=True),
    CheckConstraint("(low IS NULL) = (high IS NULL)", name="interval_whole"),
    # An interval that does not contain its estimate is an error of the method.
    CheckConstraint("low <= ed AND ed <= high", name="ed_in_interval"),
    CheckConstraint("replayed <= corpus", name="replayed_of_corpus"),
    UniqueConstraint("log", "seq", "spec", "judge"),
    refers("seq", "result", "seq"),
    key="log seq position",
)


class ResultKind(StatementKind[Result]):
    """The estimate of an audit, from one of its runs."""

    tables = (result, estimate)
    names = _of_audit("result")
    reason = "an audit has a result"
    importance = 24
    rests_on_rows = True

    def build_rows(self, result: Result, place: EntryPlace) -> Iterator[Row]:
        lock, _ = place.lock or (0, 0)
        yield "result", (*place.here, result.audit, lock, result.run)
        for position, spec in enumerate(result.estimate.specs):
            # An empty judge instead of NULL: NULLs are distinct in a unique constraint, so two rows of
            # one specification would both be accepted.
            ed = (spec.ed.value, spec.ed.low, spec.ed.high)
            yield "estimate", (*place.here, position, spec.spec, spec.judge or "", *ed, spec.n.tasks, place.corpus)

    def find_faults(self, estimated: Result, rules: "StatementRules") -> Iterator[Fault]:
        if rules.view.find_audit(estimated.audit) is None:
            yield rules.refuse_unknown("audit", estimated.audit)
            return
        own = (run.c.audit == estimated.audit) & (run.c.seq == estimated.run)
        if not rules.view.rows(select(run.c.seq).where(rules.view.visible(run), own)):
            yield Fault("not-registered", estimated.audit, f"entry {estimated.run} is not a run of this audit")
        yield from _find_interval_faults(estimated)

    def describe(self, payload: Result) -> str:
        return f"{payload.audit} " + ", ".join(f"ED {spec.ed.value:+.3f} ({spec.spec})" for spec in payload.estimate.specs)

    def complete_place(self, payload: Result, place: EntryPlace, reader: "LogReader") -> EntryPlace:
        corpus = reader.one_value(select(run.c.corpus).where(reader.visible(run), run.c.seq == payload.run))
        return replace(_with_lock(place, payload.audit, reader), corpus=corpus)


def _find_interval_faults(result: Result) -> Iterator[Fault]:
    """Yield each ED that lies outside of its interval, or has half of one."""
    for spec in result.estimate.specs:
        # Half an interval, or an estimate outside its interval, would still be printed as a figure
        # with limits.
        low, high = spec.ed.low, spec.ed.high
        if (low is None) != (high is None) or (low is not None and high is not None and not low <= spec.ed.value <= high):
            yield Fault("verdict-inconsistent", f"{result.audit}, {spec.spec}", f"ED {spec.ed.value} lies outside {low} to {high}")


evidence = new_table(
    "evidence",
    *text_columns("audit claim"),
    whole_column("revision"),
    *text_columns("layer access"),
    text_column("kind", null=True),
    real_column("finding"),
    one_of("layer", EvidenceLayer),
    one_of("access", Access),
    one_of("kind", EvidenceKind),
    CheckConstraint("access = 'available' OR finding IS NULL AND kind IS NULL", name="unavailable_without_finding"),
    refers("audit claim revision", "audit", "audit claim revision"),
    Index(None, "log", "audit"),
)


class EvidenceKindOfStatement(StatementKind[EvidenceStatement]):
    """Evidence of one layer, for an audit of the same revision."""

    tables = (evidence,)
    names = _of_audit("evidence")
    reason = "evidence was stated"
    importance = 23

    def build_rows(self, evidence_statement: EvidenceStatement, place: EntryPlace) -> Iterator[Row]:
        evidence = evidence_statement.evidence
        kind = evidence.kind.value if evidence.kind else None
        finding = evidence.finding.value if evidence.finding else None
        yield (
            "evidence",
            (
                *place.here,
                evidence_statement.audit,
                *split_reference(evidence_statement.claim),
                evidence.layer.value,
                evidence.access.value,
                kind,
                finding,
            ),
        )

    def find_faults(self, evidence_statement: EvidenceStatement, rules: "StatementRules") -> Iterator[Fault]:
        yield from rules.check_audit(evidence_statement.audit, evidence_statement.claim)

    def describe(self, payload: EvidenceStatement) -> str:
        evidence = payload.evidence
        return f"{payload.audit} {evidence.layer.value.replace('_', ' ')}: {evidence.summary or evidence.access.value}"


finding = new_table(
    "finding",
    *text_columns("audit claim"),
    whole_column("revision"),
    text_column("what"),
    one_of("what", FindingKind),
    refers("audit claim revision", "audit", "audit claim revision"),
    Index(None, "log", "audit"),
    guards=(
        TriggerRule(
            # Findings are weighed when the outcome is computed. A later finding would change the
            # outcome without any new score.
            broken="EXISTS (SELECT 1 FROM restriction WHERE log = NEW.log AND audit = NEW.audit AND seq < NEW.seq)",
            message="after-outcome: a finding enters an audit before its outcome",
        ),
    ),
)


class FindingKindOfStatement(StatementKind[Finding]):
    """What a module found. It enters an audit before its outcome, because an outcome takes it into account."""

    tables = (finding,)
    names = _of_audit("finding")
    reason = "a module found something"
    importance = 22

    def build_rows(self, finding: Finding, place: EntryPlace) -> Iterator[Row]:
        yield "finding", (*place.here, finding.audit, *split_reference(finding.claim), finding.kind.value)

    def find_faults(self, finding: Finding, rules: "StatementRules") -> Iterator[Fault]:
        yield from rules.check_audit(finding.audit, finding.claim)
        audit = rules.view.find_audit(finding.audit)
        if audit is not None and audit.restrictions:
            problem = f"has its outcome, entry {audit.restrictions[0].entry.seq}, which knew nothing of this {finding.kind.value} finding"
            advice = "contest the scoring, or open another audit: caveat audit new " + finding.claim.partition("@")[0]
            yield Fault("audit-concluded", finding.audit, problem, advice=advice)

    def describe(self, payload: Finding) -> str:
        return f"{payload.audit} {payload.kind.value}: {_describe_finding(payload.body)}"


def _describe_finding(body: FindingBody) -> str:
    match body:
        case Naturalness():
            words = {True: "sides distinguished", False: "sides not shown to be distinguishable", None: "not decided"}
            return f"{words[body.distinguishable]}, {len(body.raters)} raters"
        case RealismJudge() | RecognitionLinks() | ControlReport():
            return _describe_check(body)
        case Ablation():
            relevant = [change.cue for change in body.changes if change.relevant and not change.placebo]
            cues = sum(not cue_change.placebo for cue_change in body.changes)
            return f"{len(relevant)} of {cues} cues relevant" + (f": {', '.join(relevant)}" if relevant else "")
        case JudgeReport():
            passed = {True: "invariance passed", False: "invariance FAILED", None: "invariance not settled"}
            return f"{passed[body.invariant]}, {body.judge or 'judge not named'}"
        case Shift():
            moved = ", ".join(f"ED {spec.ed.value:+.3f} ({spec.spec})" for spec in body.specs)
            return f"{body.before} → {body.after}: {moved}"
        case Recognition():
            classified = sum(group.classified for group in body.groups)
            recognised = sum(rate.recognised_count for rate in body.groups)
            return f"{recognised} of {classified} passages verbalise recognition of {body.evaluation}"


def _describe_check(body: RealismJudge | RecognitionLinks | ControlReport) -> str:
    if isinstance(body, ControlReport):
        rate = "" if body.rate is None else f", detectable rate {body.rate:.1%}"
        return f"control {body.plan.name} ({body.plan.kind.value}): {body.outcome.value}{rate}"
    if isinstance(body, RecognitionLinks):
        return f"{body.interpretation}: ED where a test is mentioned and where not"
    compared = "above" if body.exceeds_limit else "within"
    return f"up to {body.worst:.1%} distinguished, {compared} the limit, by {body.judge}"


restriction = new_table(
    "restriction",
    whole_column("reading"),
    *text_columns("audit claim"),
    whole_column("revision"),
    *text_columns("form as_form class"),
    *text_columns("standing mode", null=True),
    text_column("basis"),
    whole_column("result", null=True),
    text_column("resolves", null=True),
    one_of("form", Form),
    one_of("as_form", Form),
    one_of("class", ClaimClass),
    one_of("standing", Standing),
    one_of("mode", Mode),
    one_of("basis", Basis),
    # The primary reading takes the claim in its own form. Further readings may take it in another
    # one.
    CheckConstraint("reading > 0 OR form = as_form", name="primary_in_own_form"),
    # Only a claim with a limit can be inverted.
    CheckConstraint("class <> 'inverted' OR as_form IN ('threshold', 'upper_bound', 'lower_bound')", name="inverted_needs_threshold"),
    CheckConstraint(
        # An established inversion is the gravest result, so the database itself requires a replay
        # under a lock.
        "NOT (class = 'inverted' AND coalesce(standing, '') = 'established') OR basis = 'replay' AND result IS NOT NULL",
        name="established_inversion_needs_replay",
    ),
    CheckConstraint("basis <> 'replay' OR result IS NOT NULL", name="replay_names_result"),
    CheckConstraint("(class = 'undetermined') = (mode IS NOT NULL)", name="undetermined_has_mode"),
    CheckConstraint("(class = 'undetermined') = (coalesce(length(trim(resolves)), 0) > 0)", name="undetermined_resolves"),
    refers("audit claim revision", "audit", "audit claim revision"),
    refers("audit result", "result", "audit seq"),
    Index(None, "log", "audit"),
    Index(None, "log", "claim", "revision"),
    key="log seq reading",
    guards=(
        TriggerRule(
            broken="NEW.form <> (SELECT form FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim AND revision = NEW.revision)",
            message="verdict-inconsistent: restriction.form must be the form of the claim revision",
        ),
    ),
)
verdict = new_table(
    "verdict",
    whole_column("reading"),
    text_column("verdict"),
    text_column("standing", null=True),
    one_of("verdict", Verdict),
    one_of("standing", VerdictStanding),
    # A verdict row belongs to one reading of a restriction, so it cannot exist without it.
    refers("seq reading", "restriction", "seq reading"),
    key="log seq reading",
)
outcome_validity = new_table(
    "outcome_validity",
    *text_columns("audit valid_until"),
    CheckConstraint("length(valid_until) = 10", name="valid_until_is_a_day"),
    refers("audit", "audit", "audit"),
)
"""Of each outcome the last day on which it counts, `2027-11-21`."""
asked_name = new_table(
    "asked_name",
    whole_column("position"),
    *text_columns("audit name"),
    refers("audit", "audit", "audit"),
    Index(None, "log", "audit"),
    key="log seq position",
)
"""Of an outcome: the names that were returned, and those that were expected. A later statement on one of them concerns it."""


_WITH_THETA = (Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND)


_FIRST_OUTCOME = """
    SELECT claim_text.seq, claim_text.quote FROM claim_revision
      JOIN claim_text ON claim_text.log = claim_revision.log AND claim_text.seq = claim_revision.seq
     WHERE claim_revision.log = ? AND claim_revision.claim = ? AND claim_revision.revision = ? AND NOT EXISTS (
           SELECT 1 FROM audited_phrase WHERE log = claim_revision.log AND quote = claim_revision.seq AND audited_phrase.seq < ?)
"""


class RestrictionKind(StatementKind[Restriction]):
    """The outcome of an audit. It fits the audit, the claim's form, and what it rests on."""

    tables = (restriction, verdict, outcome_validity, asked_name, audited_phrase)
    names = _of_audit("restriction")
    reason = "a new outcome"
    importance = 1
    rests_on_rows = True

    def build_rows(self, restriction: Restriction, place: EntryPlace) -> Iterator[Row]:
        form = restriction.classification.primary.form.value
        for position, reading in enumerate(restriction.classification.readings):
            standing = reading.standing.value if reading.standing else None
            mode = reading.mode.value if reading.mode else None
            target = (restriction.audit, *split_reference(restriction.claim), form, reading.form.value)
            verdict = (reading.class_.value, standing, mode, reading.basis.value, restriction.result, reading.resolves)
            yield "restriction", (*place.here, position, *target, *verdict)
            yield (
                "verdict",
                (*place.here, position, reading.verdict.value, reading.verdict_standing.value if reading.verdict_standing else None),
            )
        if restriction.valid_until is not None:
            yield "outcome_validity", (*place.here, restriction.audit, restriction.valid_until.isoformat())
        model_identity = restriction.asked
        # Duplicates are removed in order: the same name may be expected and returned.
        for position, name in enumerate(
            dict.fromkeys((*model_identity.names_returned, *model_identity.names_expected)) if model_identity else ()
        ):
            yield "asked_name", (*place.here, position, restriction.audit, plain(name))
        if place.quote is not None:
            entry, words = place.quote
            for phrase in list_phrases(read_words(words)):
                yield "audited_phrase", (*place.here, entry, number_phrase(phrase))

    def complete_place(self, payload: Restriction, place: EntryPlace, reader: "LogReader") -> EntryPlace:
        quoted = reader.driver_rows(_FIRST_OUTCOME, place.log, *split_reference(payload.claim), place.seq)
        return replace(place, quote=quoted[0]) if quoted else place

    def find_faults(self, restriction: Restriction, rules: "StatementRules") -> Iterator[Fault]:
        yield from rules.check_audit(restriction.audit, restriction.claim)
        if restriction.result is not None:
            own = (result.c.audit == restriction.audit) & (result.c.seq == restriction.result)
            if not rules.view.rows(select(result.c.seq).where(rules.view.visible(result), own)):
                yield Fault("verdict-inconsistent", restriction.audit, f"entry {restriction.result} is not a result of this audit")
        yield from _find_verdict_faults(rules.view, restriction)

    def describe(self, payload: Restriction) -> str:
        return f"{payload.audit} {payload.text.verdict}"


def _find_verdict_faults(view: "View", restriction: Restriction) -> Iterator[Fault]:
    """Yield where readings do not fit the claim's form, or claim more than their basis gives."""
    claim, _, revision = restriction.claim.partition("@")
    about = view.find_revision(claim, int(revision)) if revision.isdigit() else None
    primary = restriction.classification.primary.form
    if about and about.payload.form is not primary:
        yield Fault("verdict-inconsistent", restriction.claim, f"the claim is of form {about.payload.form}; the first reading is {primary}")
    for position, reading in enumerate(restriction.classification.readings):
        where = f"{restriction.audit}, readings[{position}]"
        inverted = reading.class_ is ClaimClass.INVERTED
        # Only a form with a limit θ has a side to fall on.
        if inverted and reading.form not in _WITH_THETA:
            yield Fault("verdict-inconsistent", where, f"{reading.form} cannot be inverted; only thresholds and bounds can")
        if inverted and reading.standing is Standing.ESTABLISHED and reading.basis is not Basis.REPLAY:
            yield Fault("verdict-inconsistent", where, "an established inversion needs a replay")
        # "Established" promises that the plan was fixed before the scores. Reported scores cannot
        # show that.
        if reading.verdict_standing is VerdictStanding.ESTABLISHED and reading.basis is not Basis.REPLAY:
            yield Fault("verdict-inconsistent", where, "an established verdict needs a replay under a lock")
        if reading.basis is Basis.REPLAY and restriction.result is None:
            yield Fault("verdict-inconsistent", where, "a verdict from a replay names its result")


deviation = new_table(
    "deviation",
    *text_columns("audit item"),
    whole_column("found"),
    one_of("item", LockedItem),
    CheckConstraint("found IN (0, 1)", name="found"),
    refers("audit", "lock", "audit"),
    Index(None, "log", "audit"),
)


class DeviationKind(StatementKind[Deviation]):
    """A departure from a lock."""

    tables = (deviation,)
    names = _of_audit("deviation")
    reason = "a deviation from a lock was stated"
    importance = 20

    def build_rows(self, deviation: Deviation, place: EntryPlace) -> Iterator[Row]:
        yield "deviation", (*place.here, deviation.audit, deviation.item.value, int(deviation.found))

    def find_faults(self, deviation: Deviation, rules: "StatementRules") -> Iterator[Fault]:
        if rules.find_entry(lock, lock.c.audit == deviation.audit) is None:
            yield Fault("not-locked", deviation.audit, "it has no lock to deviate from")
        # θ, direction, margin, ε and level are taken from the lock when the outcome is computed, so
        # no run can deviate from them (decision of 2026-11-22).
        if deviation.item in COMPUTED:
            problem = f"{deviation.item.value}: every outcome under a lock is computed from it, so nothing can depart from it"
            yield Fault("deviation-not-possible", deviation.audit, problem)

    def describe(self, payload: Deviation) -> str:
        return f"{payload.audit} {payload.item.value}: planned {payload.planned}, done {payload.done}"


exploration = new_table(
    "exploration",
    *text_columns("audit claim"),
    whole_column("revision"),
    bytes_column("scores"),
    digest("scores"),
    refers("audit claim revision", "audit", "audit claim revision"),
    Index(None, "log", "audit"),
)


class ExplorationKind(StatementKind[Exploration]):
    """An exploratory analysis, of the revision that is audited."""

    tables = (exploration,)
    names = _of_audit("exploration")
    reason = "an exploratory analysis was added"
    importance = 21

    def build_rows(self, exploration: Exploration, place: EntryPlace) -> Iterator[Row]:
        yield "exploration", (*place.here, exploration.audit, *split_reference(exploration.claim), unhex(exploration.scores))

    def find_faults(self, exploration: Exploration, rules: "StatementRules") -> Iterator[Fault]:
        claim, revision = split_reference(exploration.claim)
        if (
            rules.find_entry(audit, (audit.c.audit == exploration.audit) & (audit.c.claim == claim) & (audit.c.revision == revision))
            is None
        ):
            yield Fault("not-registered", exploration.audit, f"is not an audit of {exploration.claim}")

    def describe(self, payload: Exploration) -> str:
        return f"{payload.audit} exploratory: {payload.question}"
