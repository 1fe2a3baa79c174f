"""An audit as the registry records it: opened, locked, concluded; deviations, explorations, comparisons of versions."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from audit.modules.differential_estimate import estimate
from audit.modules.version_shift import measure_shift
from audit.protocol.audit_lock import (
    LockedParts,
    build_audit,
    build_lock,
    check_last_day,
    find_start,
    fix_draft,
    settle_draft,
    try_step,
)
from audit.protocol.case_outcome import CaseOutcome, run_case
from audit.protocol.control_checks import check_controls
from audit.protocol.evidence_basis import (
    DEPLOY_ARM,
    TEST_ARM,
    ScoredTable,
    check_access,
    check_arms,
    check_raters,
    check_specs,
    find_conduct,
    find_deviations,
    find_validity,
    list_unrecorded,
    settle_invariance,
    weigh,
    weigh_deviations,
)
from audit.protocol.lock_adherence import LockDeviation, describe_items, is_on_record
from audit.statistics.responses import SCORED, ScoreTable
from audit.verdict.case_file import settle_evidence
from registry.errors import ConflictError, Fault, InputError, NotFoundError
from registry.records.analysis_plan import COMPUTED, Deviation, Exploration, Lock, LockedItem, LockedSpec, Plan, list_deviations
from registry.records.audit_case import Case, CaseClaim, Evidence, EvidenceStatement, Result, Scoring
from registry.records.claim import ClaimRevision, find_spoken_of
from registry.records.claim_draft import AuditDraft
from registry.records.claim_status import Opposition
from registry.records.dossier import AuditFile, Recorded
from registry.records.model_version import ModelRef
from registry.records.module_findings import Finding, FindingBody, Shift
from registry.records.record import Kind, parse_identifier
from registry.records.replay_run import ExcludedCount, ReplayAccount, Run, RunStatus
from registry.records.specification import PropertySpec
from registry.records.verdict import ChecklistItem, Restriction
from registry.report.minimum_reporting import build_audit_items
from registry.store.kinds.audit_kinds import refuse_withdrawn
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# An audit as the registry records it: opened, locked, given its evidence and scores, concluded. No other module knows
# how these steps become statements in the log.


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditConclusion:
    """What importing into an audit came to."""

    audit: str
    restriction: Restriction
    outcome: CaseOutcome
    is_new: bool
    """False when the same audit, with the same scores, was recorded before."""
    found: tuple[Deviation, ...] = ()
    """Departures from the lock that this import found and recorded."""


def open_audit(writer: Writer, draft: AuditDraft, *, auditor: str, locked: bool, folder: Path | None = None) -> tuple[AuditFile, bool]:
    """Record the audit that *draft* describes, with its evidence and, if *locked*, its lock; return it and whether it is new.

    The same draft again changes nothing.

    Args:
        folder: where the audit file is, for the files that it names; None where it is in none.

    Raises:
        NotFoundError: the claim is not registered.
        InputError: the plan can never be answered, a figure of the evidence is not possible, or what it refers to is not there.
    """
    claim = get_claim(writer, draft.claim)
    draft, fixed = _check_draft(writer, draft, claim, auditor=auditor, locked=locked, folder=folder)
    # The same draft again is a repetition, for example after a crash, and must not open a second audit: several locks
    # of one claim are counted on page one.
    same = _find_same(writer, draft, claim, auditor=auditor, fixed=fixed if locked else None)
    if same is not None:
        return same, False
    # A forgotten `--lock` would open an unlocked twin of a locked audit, and scores imported there could never reach
    # the basis `replay`.
    if not locked and (twin := _find_same(writer, draft, claim, auditor=auditor, fixed=fixed)) is not None:
        name = twin.audit.payload.audit
        problem = f"this plan is locked as {name}; scores imported without it would count as unlocked"
        raise ConflictError(
            Fault("audit-is-locked", claim.reference, problem, advice=f"caveat audit conclude {name} TABLE --run-date DATE")
        )
    audit = build_audit(writer.allocate(Kind.AUDIT, auditor)[0], draft, claim, auditor)
    writer.append(audit)
    writer.append_many([EvidenceStatement(audit=audit.audit, claim=claim.reference, evidence=evidence) for evidence in draft.evidence])
    if locked:
        writer.append(build_lock(audit, draft, claim, get_property(writer, claim).range, fixed))
    return get_audit(writer, audit.audit), True


def _check_draft(
    writer: Writer, draft: AuditDraft, claim: ClaimRevision, *, auditor: str, locked: bool, folder: Path | None
) -> tuple[AuditDraft, LockedParts]:
    """Return *draft* in the unit of its property, and what it refers to; raises InputError with every fault of plan, evidence and parts."""
    faults: list[Fault] = []
    settled = try_step(lambda: settle_draft(draft, get_property(writer, claim).range), faults)
    if locked:
        try_step(lambda: check_last_day(draft.plan, writer.moment.date(), where="plan.valid_until", what="the plan is locked"), faults)
    fixed = try_step(lambda: fix_draft(writer, draft, claim, owner=auditor, folder=folder), faults)
    if settled is None or fixed is None or faults:
        raise InputError(list(dict.fromkeys(faults)))
    return settled, fixed


def add_evidence(writer: Writer, audit: str, evidence: Sequence[Evidence]) -> list[Recorded[EvidenceStatement]]:
    """Record *evidence* that was reported elsewhere in an audit without a lock, for its verdict to take into account; return what is new.

    Raises:
        NotFoundError: the audit is not registered.
        ConflictError: the audit is locked, so its evidence is fixed, or it has its verdict.
        InputError: a figure is not possible on the range of the property.
    """
    file = get_audit(writer, audit)
    if file.lock:
        problem = "its lock fixes the evidence"
        raise ConflictError(Fault("audit-is-locked", audit, problem, advice="open another audit for this evidence: caveat audit open FILE"))
    if file.restrictions:
        problem = "has its verdict, which did not take this evidence into account"
        advice = f"open another audit for it: caveat audit new {file.audit.payload.claim} > audit.yaml, then caveat audit open audit.yaml"
        raise ConflictError(Fault("audit-concluded", audit, problem, advice=advice))
    settled = settle_evidence(tuple(evidence), get_range(writer, audit), where="evidence")
    known = [statement.payload.evidence for statement in file.evidence]
    new = [EvidenceStatement(audit=audit, claim=file.audit.payload.claim, evidence=part) for part in settled if part not in known]
    return [Recorded(entry=writer.append(statement), payload=statement) for statement in new]


def count_locks(view: View, file: AuditFile) -> tuple[int, int]:
    """Return how many other audits of the claim of *file* are locked, and how many of them have no outcome.

    Counted are those of every revision about the same model version: of another, scores are no choice next to these. Replays under the
    rival of an objection are not counted: they answer to another party's specification. Nor is a lock that *file* replaces.
    """
    this = file.audit.payload
    # Several locks of one claim are counted and not forbidden: honest repetition gets a sentence on page one, and a
    # choice among several outcomes becomes visible.
    others = [
        audit for audit in view.list_audits(claim=this.claim.partition("@")[0]) if audit.lock and audit.audit.payload.objection is None
    ]
    model = get_claim(view, this.claim).model
    others = [
        other
        for other in others
        if other.audit.payload.audit != this.audit
        and get_claim(view, other.audit.payload.claim).model == model
        and not other.is_replaced_by(file)
    ]
    return len(others), sum(not other.restrictions for other in others)


def add_finding(writer: Writer, audit: str, body: FindingBody, *, source: str) -> tuple[Recorded[Finding], bool]:
    """Record what a module found in *audit*, for its outcome to take into account; return it and whether it is new.

    The same body again changes nothing, also after the outcome.

    Args:
        source: file names of what it was made from.

    Raises:
        NotFoundError: the audit is not registered.
        ConflictError: the audit has its outcome, which knew nothing of this finding; or the finding was made with another level,
            margin, range or kind of contexts than the audit's plan.
    """
    file = get_audit(writer, audit)
    known = next((finding for finding in file.findings if finding.payload.body == body), None)
    if known is not None:
        return known, False
    if not file.restrictions:  # with an outcome nothing is recorded, on plan or off it
        _check_plan(writer, file, body)
    statement = Finding(audit=file.audit.payload.audit, claim=file.audit.payload.claim, body=body, source=source)
    return Recorded(entry=writer.append(statement), payload=statement), True


def _check_plan(view: View, file: AuditFile, body: FindingBody) -> None:
    # Level, margin, range and contexts are those of the plan. A margin chosen afterwards could pass any check.
    plan = file.lock.payload.plan if file.lock else file.audit.payload.plan
    deviations = find_deviations(body, plan, get_property(view, get_claim(view, file.audit.payload.claim)).range)
    if deviations:
        made = ", ".join(f"{name} {_write(here)} where its plan says {_write(planned)}" for name, (here, planned) in deviations.items())
        options = (f"--{name.replace('_', '-')} {_write(planned)}" for name, (_, planned) in deviations.items())
        advice = f"run it again with {' '.join(options)}"
        raise ConflictError(
            Fault("finding-differs-from-plan", file.audit.payload.audit, f"the finding was made with {made}", advice=advice)
        )


def _write(value: object) -> str:
    return " ".join(map(_write, value)) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else str(value)


def conclude(writer: Writer, file: AuditFile, scored: ScoredTable | None) -> AuditConclusion:
    """Record what an audit comes to: from scores, or without any from reported evidence only (retrospective).

    Scores with a run that began after the lock give the basis `replay`. All others, and evidence without scores, give `reported`,
    which can restrict and never establish; scores older than a lock are post hoc, whatever date is given for them, if an audit
    of the claim held the same table before the lock. Scores that do not show by the names they carry that the claim's model version
    was asked give `reported`. Scores of other tasks, contexts, models or scoring than the lock fixes give
    `reported` too. Every departure from the lock is recorded with the outcome. The same scores again change nothing.

    Raises:
        ConflictError: a locked audit without scores, a table with other P_deploy specifications than the lock names, other arms
            than `test` and `deploy` under a lock, a run that begins after its import, one that begins after its dates of access,
            a second table under one lock, or a declared invariance that a recorded check contradicts.
        InputError: scores of a locked audit without the date of their run.
    """
    if file.withdrawn is not None:
        raise ConflictError(refuse_withdrawn(file.withdrawn.payload, file.withdrawn.entry.seq))
    # The order matters. The basis is weighed first, because the decision table uses it. Rules of the lock come after
    # the estimate, whose specifications they compare. Nothing is written before all checks have passed.
    claim = get_claim(writer, file.audit.payload.claim)
    ground = weigh(writer, file, scored)
    valid_until = find_validity(writer, file, scored)
    case = build_case(
        claim, get_property(writer, claim), file, scores=scored.table.content if scored else None, spoken_of=get_spoken_of(writer, claim)
    )
    outcome = run_case(
        case,
        scored.table if scored else None,
        basis=ground.basis,
        post_hoc=ground.post_hoc,
        arms=(scored.test_arm, scored.deploy_arm) if scored else (TEST_ARM, DEPLOY_ARM),
        conduct=find_conduct(writer, file, scored, ground, valid_until) if scored else None,
        off_lock=describe_items(ground.decisive),
    )
    if file.lock and scored and outcome.estimate:
        check_arms(file.lock.payload, scored)
        check_specs(file.lock.payload, scored, outcome.estimate)
    # The same scores again return the recorded outcome. This comes before the refusal of a second table, so that
    # repeating a command is no error.
    known = next((record.payload for record in reversed(file.restrictions) if _is_same(record.payload, file, scored, outcome)), None)
    if known is not None:
        return AuditConclusion(audit=file.audit.payload.audit, restriction=known, outcome=outcome, is_new=False)
    check_access(scored)
    # A lock is for one outcome. With two, the better table could be chosen after both were seen.
    if file.lock and file.results:
        done = "has its outcome; a lock is for one, so that no later table can take its place"
        advice = "give all tables of a replay in one import, or lock another audit"
        raise ConflictError(Fault("audit-concluded", file.audit.payload.audit, done, advice=advice))
    result: int | None = None
    deviations: tuple[Deviation, ...] = ()
    # A post hoc outcome records no run under the lock: the lock did not plan it.
    if file.lock and scored and not ground.post_hoc:
        result = _record_run(writer, file, scored, outcome)
        deviations = _record_deviations(writer, file, scored, outcome)
    restriction = Restriction(
        audit=file.audit.payload.audit,
        claim=file.audit.payload.claim,
        classification=outcome.classification,
        text=outcome.restricted,
        basis=ground.basis,
        result=result,
        post_hoc=ground.post_hoc,
        estimate=None if result else outcome.estimate,
        table=_digest(scored),
        scores=scored.table.content if scored else None,
        source=scored.source if scored else None,
        provenance=None if result or not scored else scored.provenance,
        asked=ground.asked,
        valid_until=valid_until,
    )
    writer.append(restriction)
    return AuditConclusion(audit=restriction.audit, restriction=restriction, outcome=outcome, is_new=True, found=deviations)


def find_opposed(view: View, concluded: AuditConclusion) -> Opposition | None:
    """Return the outcome that keeps the one of *concluded* from being established next to others; None without one."""
    counted = view.find_counted([concluded.restriction.claim]).values()
    own = max((outcome for outcome in counted if outcome.audit == concluded.audit), key=lambda outcome: outcome.seq, default=None)
    return own.opposed if own else None


def list_reporting(view: View, concluded: AuditConclusion) -> tuple[ChecklistItem, ...]:
    """Return minimum reporting of an outcome as the registry holds it now."""
    file = get_audit(view, concluded.audit)
    outcome = next(restriction for restriction in reversed(file.restrictions) if restriction.payload == concluded.restriction)
    return build_audit_items(view.dossier(concluded.restriction.claim), file, outcome)


def get_spoken_of(view: View, claim: ClaimRevision) -> ModelRef | None:
    """Return the model version that the words of *claim*, which is registered, are about, where it was applied; None where it was not."""
    # The words of a carried claim are about the version they were quoted of. Its card's figure is a figure of that
    # version, so it is left out of the case below.
    before = (view.find_revision(claim.claim, number) for number in range(1, claim.revision))
    return find_spoken_of([*(revision.payload for revision in before if revision is not None), claim])


def build_case(
    claim: ClaimRevision, body: PropertySpec, file: AuditFile, *, scores: str | None = None, spoken_of: ModelRef | None = None
) -> Case:
    """Return the input of the decision table for an audit: the lock's θ and plan where there is a lock, invariance as it was found.

    Args:
        scores: digest of the scores to be concluded from; None without scores.
        spoken_of: the model version that the claim's words are about, where it was applied; the card's figure is then none of the claim's.

    Raises:
        ConflictError: the audit file declares an invariance that a recorded check contradicts.
    """
    audit, lock = file.audit.payload, file.lock.payload if file.lock else None
    # θ, relation and plan come from the lock where there is one: the claim may have been revised since, and defaults
    # are filled in there.
    plan = lock.plan if lock else audit.plan
    return Case(
        claim=CaseClaim(
            form=claim.form,
            property=replace(body, direction=claim.direction),
            quote=claim.quote,
            quote_status=claim.quote_status,
            relation=lock.relation if lock else claim.relation,
            theta=lock.theta if lock else claim.theta,
            reported=None if spoken_of else claim.reported,
            model=claim.model,
            spoken_of=spoken_of,
        ),
        evidence=tuple(statement.payload.evidence for statement in file.evidence),
        deployment=audit.deployment,
        plan=plan,
        scoring=Scoring(invariant=settle_invariance(file, scores=scores)),
        raters=check_raters([finding.payload.body for finding in file.findings], limit=plan.rater_limit),
        controls=check_controls(file, scores=scores),
    )


def _record_run(writer: Writer, file: AuditFile, scored: ScoredTable, outcome: CaseOutcome) -> int:
    """Record the run and its result; return the number of the result's entry."""
    if outcome.estimate is None or scored.started_at is None:
        raise ValueError("a run has an estimate and a beginning")
    start = find_start(file, scored.provenance.run)
    run = Run(
        audit=file.audit.payload.audit,
        started_at=scored.started_at,
        status=RunStatus.COMPLETED,
        table=scored.table.sha256,
        scores=scored.table.content,
        source=scored.source,
        responses=int((scored.table.excluded.codes == SCORED).sum()),
        excluded=_count_excluded(scored.table),
        provenance=scored.provenance,
        start=start.entry.seq if start else None,
    )
    entry = writer.append(run)
    # An entry's time has whole seconds, so a run may seem to begin up to one second after its import.
    if scored.started_at >= entry.at + timedelta(seconds=1):
        problem = f"begins at {scored.started_at.isoformat()}, after this import at {entry.at.isoformat()}"
        raise ConflictError(Fault("run-in-future", scored.source, problem))
    return writer.append(Result(audit=run.audit, run=entry.seq, estimate=outcome.estimate)).seq


def _record_deviations(writer: Writer, file: AuditFile, scored: ScoredTable, outcome: CaseOutcome) -> tuple[Deviation, ...]:
    """Record in what the scores depart from the lock without an explanation; return it."""
    new_deviations = list_unrecorded(file, weigh_deviations(writer, file, scored, outcome.estimate))
    audit = file.audit.payload.audit
    deviations = tuple(
        Deviation(audit=audit, item=deviation.item, planned=deviation.planned, done=deviation.done, reason=None, found=True)
        for deviation in new_deviations
    )
    writer.append_many(deviations)
    return deviations


def _count_excluded(table: ScoreTable) -> tuple[ExcludedCount, ...]:
    """Count the responses without a score by arm and reason, in that order."""
    pairs = Counter(zip(table.arm.codes.tolist(), table.excluded.codes.tolist(), strict=True))
    return tuple(
        ExcludedCount(arm=table.arm.labels[arm], reason=table.excluded.labels[reason], count=count)
        for (arm, reason), count in sorted(pairs.items())
        if reason != SCORED
    )


def _is_same(restriction: Restriction, file: AuditFile, scored: ScoredTable | None, outcome: CaseOutcome) -> bool:
    """Tell whether *restriction* came from the same scores; without a lock a table has several outcomes, one for each pair of its arms."""
    # Without a lock one table can have several outcomes, one for each pair of its arms, so the means are compared too.
    if restriction.table != _digest(scored):
        return False
    if file.lock or restriction.estimate is None or outcome.estimate is None:
        return True
    before, now = (
        [(spec.phi_test.value, spec.phi_deploy.value) for spec in result.specs] for result in (restriction.estimate, outcome.estimate)
    )
    return len(before) == len(now) and all(
        math.isclose(first, second, abs_tol=1e-9)
        for old, new in zip(before, now, strict=True)
        for first, second in zip(old, new, strict=True)
    )


def _digest(scored: ScoredTable | None) -> str | None:
    return scored.table.sha256 if scored else None


def _find_same(view: View, draft: AuditDraft, claim: ClaimRevision, *, auditor: str, fixed: LockedParts | None) -> AuditFile | None:
    """Return the audit that was recorded from the same draft, if any; a locked one with the same lock where *fixed* is given."""
    for file in view.list_audits(claim=claim.claim):
        audit = file.audit.payload
        wanted = build_audit(audit.audit, draft, claim, auditor)
        evidence = tuple(statement.payload.evidence for statement in file.evidence)
        lock = file.lock.payload if file.lock else None
        wanted_lock = build_lock(wanted, draft, claim, get_property(view, claim).range, fixed) if fixed else None
        # Whoever withdrew an audit and repeats its draft means to make it again.
        if file.withdrawn is None and audit == wanted and evidence == draft.evidence and _is_same_lock(lock, wanted_lock):
            return file
    return None


def _is_same_lock(lock: Lock | None, wanted: Lock | None) -> bool:
    """Tell whether *lock* fixes what *wanted* does; names that were stated since count only where it fixes none."""
    # Names of endpoints that were registered after the lock are no change of the plan.
    if lock is None or wanted is None or not lock.endpoint_names:
        return lock == wanted
    return lock == replace(wanted, endpoint_names=lock.endpoint_names)


def get_claim(view: View, name: str) -> ClaimRevision:
    """Return the claim revision that *name* means, the latest unless it names one; raises NotFoundError or InputError."""
    try:
        identifier = parse_identifier(name, Kind.CLAIM)
    except ValueError as error:
        raise InputError(Fault("bad-identifier", name, str(error), advice=view.suggest(name))) from error
    revision = identifier.revision
    claim_revision = view.find_claim(identifier.bare) if revision is None else view.find_revision(identifier.bare, revision)
    if claim_revision is None:
        near = view.suggest(identifier.bare) or "caveat claim list shows the registered claims"
        raise NotFoundError(Fault("not-registered", name, "no such claim is registered", advice=near))
    if identifier.digest not in (None, claim_revision.entry.leaf[:16]):
        recorded = f"{claim_revision.payload.reference} is recorded as #{claim_revision.entry.leaf[:16]}"
        raise NotFoundError(Fault("digest-mismatch", name, recorded))
    return claim_revision.payload


def get_property(view: View, claim: ClaimRevision) -> PropertySpec:
    """Return the property of *claim*; raises NotFoundError when it is sealed."""
    identifier = parse_identifier(claim.property, Kind.PROPERTY)
    body = view.find_opened(identifier.bare, identifier.revision)
    if not isinstance(body, PropertySpec):
        sealed = "its text is sealed or not in this registry: without its range no score can be read, and the claim cannot be audited"
        advice = "its owner can reveal it (caveat spec reveal SEAL-FILE); or revise the claim with a property that can be read"
        raise NotFoundError(Fault("spec-sealed", claim.property, sealed, advice=advice))
    return body


def get_audit(view: View, identifier: str) -> AuditFile:
    """Return the audit with everything recorded of it; raises NotFoundError with what is near."""
    audit = view.find_audit(identifier)
    if audit is None:
        near = view.suggest(identifier) or "caveat audit list shows all"
        raise NotFoundError(Fault("not-registered", identifier, "no such audit is registered", advice=near))
    return audit


# Deviations that a person reports or explains. Those that a comparison finds are recorded with the outcome.


def add_deviations(writer: Writer, audit: str, deviations: Iterable[LockDeviation], *, why: str) -> int:
    """Record *deviations* that are about to happen, each with the reason *why*; return how many were not on record yet.

    Raises:
        NotFoundError, InputError: no such audit; no reason.
    """
    known_deviations = [deviation.payload for deviation in get_audit(writer, audit).deviations]
    new = [departure for departure in deviations if not is_on_record(departure, known_deviations)]
    writer.append_many([_build(audit, lock_deviation, why) for lock_deviation in new])
    return len(new)


def deviate(
    writer: Writer, audit: str, item: LockedItem, *, planned: str | None, done: str | None, why: str
) -> tuple[Recorded[Deviation], bool]:
    """Record that *item* was done differently than the lock of *audit* says; return it and whether it is new.

    Args:
        planned: what was planned; None for what the lock says of it.
        done: what was done; None explains the deviations in *item* that were found and that are not explained.
        why: the reason; never empty.

    Raises:
        NotFoundError: no such audit.
        ConflictError: the audit has no lock, or every outcome under a lock is computed from the item.
        InputError: no reason, nothing done, or more than one departure that could be meant.
    """
    file = get_audit(writer, audit)
    if file.lock is None:
        raise ConflictError(Fault("not-locked", audit, "it has no lock to deviate from"))
    # θ, direction, margin, ε and level cannot deviate: every outcome under a lock is computed from them.
    _refuse_computed(item, audit)
    departure = _find_unexplained(file, item) if done is None else _describe(file.lock.payload, item, planned, done)
    statement = _build(audit, departure, why)
    known = next((deviation for deviation in file.deviations if deviation.payload == statement), None)
    return (known, False) if known else (Recorded(entry=writer.append(statement), payload=statement), True)


def _build(audit: str, lock_deviation: LockDeviation, why: str) -> Deviation:
    if not why.strip():
        raise InputError(Fault("reason-missing", audit, "the reason is empty", advice="say why the plan was not followed"))
    return Deviation(audit=audit, item=lock_deviation.item, planned=lock_deviation.planned, done=lock_deviation.done, reason=why.strip())


def _refuse_computed(item: LockedItem, audit: str) -> None:
    if item in COMPUTED:
        problem = f"{item.value}: every outcome under a lock is computed from it, so nothing can depart from it"
        advice = f"caveat audit explore {audit} TABLE --question … looks at scores with other settings; no verdict rests on that"
        raise ConflictError(Fault("deviation-not-possible", audit, problem, advice=advice))


def _find_unexplained(file: AuditFile, item: LockedItem) -> LockDeviation:
    """Return the one departure in *item* that was found and that are not explained."""
    audit = file.audit.payload.audit
    deviations = list_deviations(deviation.payload for deviation in file.deviations)
    open_ = [departure for departure in deviations if departure.item is item and departure.reason is None]
    # A reason belongs to one deviation. With several open, guessing could attach it to another one.
    if len(open_) != 1:
        problem = f"{len(open_) or 'no'} deviations in {item.value} were found and not explained"
        done = f" (one of: {'; '.join(deviation.done for deviation in open_)})" if open_ else ""
        raise InputError(Fault("deviation-ambiguous", audit, problem, advice=f"say what was done with --done{done}"))
    return LockDeviation(item=item, planned=open_[0].planned, done=open_[0].done)


def _describe(lock: Lock, item: LockedItem, planned: str | None, done: str) -> LockDeviation:
    if not done.strip():
        raise InputError(Fault("deviation-ambiguous", lock.audit, "the description is empty"))
    return LockDeviation(item=item, planned=planned or describe_planned(lock, item), done=done.strip())


def describe_planned(lock: Lock, item: LockedItem) -> str:
    """Return what *lock* says of *item*, in words; that it says nothing where it leaves the item open."""
    tasks = f"the {lock.tasks.count} tasks of the list with SHA-256 {lock.tasks.sha256}" if lock.tasks else None
    descriptions = {
        LockedItem.TEST_CONTEXTS: _name_specs((lock.test,) if lock.test else ()),
        LockedItem.DEPLOY_CONTEXTS: _name_specs(lock.deploy),
        LockedItem.TASKS: tasks or (f"{lock.plan.tasks} tasks" if lock.plan.tasks else None),
        LockedItem.CUES: _name_specs(lock.cues),
        LockedItem.SCORING: _name_specs((lock.scoring,) if lock.scoring else ()),
        LockedItem.MODEL: lock.model,
        LockedItem.BUDGET: lock.budget,
        LockedItem.STOPPING_RULE: lock.stopping_rule,
        LockedItem.EXCLUSIONS: lock.exclusion_rules,
    }
    return descriptions.get(item) or "not fixed by the lock"


def _name_specs(specs: Iterable[LockedSpec]) -> str | None:
    return ", ".join(f"{spec.spec}, SHA-256 {spec.sha256}" for spec in specs) or None


# Explorations: analyses that were not fixed before. No verdict rests on them, and they are recorded so that their
# scores count as known.


def explore(
    writer: Writer, audit: str, scored: ScoredTable, *, question: str, options: dict[str, Any], whole: ScoreTable | None = None
) -> tuple[Recorded[Exploration], bool]:
    """Record what *scored* comes to under the audit's plan with *options* in its place; return it and whether it is new.

    The scores count as known from then on: a lock that is made later is not before them.

    Args:
        question: what is looked for.
        options: by field of `registry.records.analysis_plan.Plan`, what is to differ.
        whole: the table before rows were chosen from it; None where all were taken.

    Raises:
        NotFoundError: no such audit.
        InputError: no question; a setting out of its range.
        DesignError: the table has no two sides.
    """
    file = get_audit(writer, audit)
    if not question.strip():
        raise InputError(Fault("reason-missing", audit, "the question is empty", advice="say what was looked for"))
    plan = find_plan(file)
    used = change_plan(plan, options)
    claim = get_claim(writer, file.audit.payload.claim)
    result = estimate(scored.table, used, range_=get_property(writer, claim).range, test=scored.test_arm, deploy=scored.deploy_arm)
    statement = Exploration(
        audit=file.audit.payload.audit,
        claim=file.audit.payload.claim,
        question=question.strip(),
        differs=(*_list_differences(plan, used), *_list_other(scored, whole)),
        estimate=result,
        source=scored.source,
        # The digest of the whole table: choosing rows does not make the other scores unseen.
        scores=(whole or scored.table).content,
    )
    known = next((exploration for exploration in file.explorations if exploration.payload == statement), None)
    return (known, False) if known else (Recorded(entry=writer.append(statement), payload=statement), True)


def find_plan(file: AuditFile) -> Plan:
    """Return how the audit's own estimate is made."""
    return file.lock.payload.plan if file.lock else file.audit.payload.plan


def get_range(view: View, audit: str) -> tuple[float, float]:
    """Return the lowest and highest score of the property that *audit* is about; raises NotFoundError."""
    return get_property(view, get_claim(view, get_audit(view, audit).audit.payload.claim)).range


def change_plan(plan: Plan, options: dict[str, Any]) -> Plan:
    """Return *plan* with what *options* gives in its place; None leaves the plan's own. Raises InputError for what is out of range."""
    changes = {name: value for name, value in options.items() if value is not None}
    try:
        return replace(plan, **changes)
    except ValueError as error:
        raise InputError(Fault("not-valid", "options", str(error))) from error


def _list_differences(plan: Plan, used: Plan) -> list[str]:
    pairs = ((field.name, getattr(plan, field.name), getattr(used, field.name)) for field in fields(Plan))
    return [
        f"{name} {_write_plan_value(now)}, where the plan says {_write_plan_value(planned)}"
        for name, planned, now in pairs
        if now != planned
    ]


def _list_other(scored: ScoredTable, whole: ScoreTable | None) -> list[str]:
    arms = (scored.test_arm, scored.deploy_arm)
    texts = [] if arms == ("test", "deploy") else [f"arms {arms[0]} and {arms[1]} in the place of test and deploy"]
    return texts if whole is None else [*texts, f"{scored.table.rows} of {whole.rows} rows"]


def _write_plan_value(value: object) -> str:
    return "nothing" if value is None else f"{value:g}" if isinstance(value, float) else str(getattr(value, "value", value))


# Comparison of two audits of one claim over model versions.
#
# `audit.modules.version_shift` computes the numbers and pairs by identifiers. This section checks that the scores are
# those of the two audits, and whether equal identifiers stand for equal texts.

_PARTS = {"tasks": "tasks", "test": "test contexts", "deploy": "deployment contexts", "scoring": "scoring", "samples": "numbers of samples"}
"""Parts of a replay that a comparison takes to be the same, in words."""
_PAIRED = ("tasks", "test", "deploy")
"""Those that scores are paired by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditComparison:
    """What two audits that are to be compared fix."""

    before: AuditFile
    after: AuditFile
    models: tuple[ModelRef, ModelRef]
    plan: Plan
    """That of the later audit, whose finding a shift is."""
    range: tuple[float, float]


def find_comparison(view: View, before: str, after: str) -> AuditComparison:
    """Return what the audits *before* and *after*, `AUD-…`, fix for a comparison of their scores.

    Raises:
        NotFoundError: an audit is not registered.
        ConflictError: they are of two claims, of one model version, or of scores on two ranges.
    """
    files = get_audit(view, before), get_audit(view, after)
    claims = [get_claim(view, file.audit.payload.claim) for file in files]
    first, second = (get_property(view, claim).range for claim in claims)
    old, new = (revision.model for revision in claims)
    where, faults = f"{before}, {after}", []
    if claims[0].claim != claims[1].claim:
        problem = f"{before} is about {claims[0].claim}, {after} about {claims[1].claim}; a shift is of one claim over model versions"
        faults.append(Fault("wrong-claim", where, problem, advice="carry the claim: caveat stale apply"))
    elif old == new:
        problem = f"both audits are about {old}; between two replays of one version there is no shift"
        faults.append(Fault("single-version", where, problem))
    if first != second:
        problem = f"scores of {before} lie in {list(first)}, those of {after} in {list(second)}"
        faults.append(Fault("ranges-differ", where, problem))
    if faults:
        raise ConflictError(faults)
    # The later audit's plan counts, because the shift is recorded as a finding of that audit.
    lock = files[1].lock
    plan = lock.payload.plan if lock else files[1].audit.payload.plan
    return AuditComparison(before=files[0], after=files[1], models=(old, new), plan=plan, range=first)


def compare(comparison: AuditComparison, before: ScoreTable, after: ScoreTable) -> Shift:
    """Return how far the numbers moved from *before* to *after*.

    Raises:
        ConflictError: an audit has scores on record, and these are others.
        DesignError: as `measure_shift`.
    """
    files = (comparison.before, before), (comparison.after, after)
    faults = [fault for file, table in files for fault in _check_scores(file, table)]
    if faults:
        raise ConflictError(faults)
    audit = comparison.before.audit.payload.audit
    shift = measure_shift(before, after, comparison.plan, range_=comparison.range, models=comparison.models, audit=audit)
    return warn_of_designs(shift, find_design(comparison.before), find_design(comparison.after))


def find_design(file: AuditFile, replayed: ReplayAccount | None = None) -> dict[str, str]:
    """Return what is known of the texts that the scores of *file* rest on: digests by part of a replay, as far as they are on record.

    Args:
        replayed: what the run folder of scores says that are not on record yet; None for those that are.
    """
    runs = [run.payload.provenance.replayed for run in file.runs]
    # The replay that was made says more than the lock, which may leave parts open.
    last = replayed or (runs[-1] if runs else None)
    lock = file.lock.payload if file.lock else None
    if last is not None:
        return dict(last.parts)
    if lock is None or lock.replay_parts:
        return dict(lock.replay_parts or {}) if lock else {}
    named = {"test": lock.test, "deploy": lock.deploy[0] if len(lock.deploy) == 1 else None, "scoring": lock.scoring}
    return {name: spec.sha256 for name, spec in named.items() if spec is not None}


def warn_of_designs(shift: Shift, before: Mapping[str, str], after: Mapping[str, str]) -> Shift:
    """Return *shift*, with a warning where equal identifiers may mean other texts: parts of the designs differ, or are not known.

    Args:
        before: as `find_design` returns it.
        after: of the later audit.
    """
    differing = [words for name, words in _PARTS.items() if name in before and name in after and before[name] != after[name]]
    # Unknown is a warning of its own: parts that are not on record are not the same parts.
    unknown = [_PARTS[name] for name in _PAIRED if name not in before or name not in after]
    warnings = []
    if differing:
        warnings.append(f"The replays differ in {', '.join(differing)}: this may explain a change, and texts with the same ID may differ.")
    if unknown:
        warnings.append(f"Texts with the same ID may differ between the replays; not on record: {', '.join(unknown)}.")
    return replace(shift, warnings=(*warnings, *shift.warnings))


def _check_scores(file: AuditFile, table: ScoreTable) -> Iterator[Fault]:
    recorded = {run.payload.scores for run in file.runs} | {restriction.payload.scores for restriction in file.restrictions}
    known = {digest for digest in recorded if digest is not None}
    if known and table.content not in known:
        names, audit = ", ".join(table_file.name for table_file in table.files), file.audit.payload.audit
        problem = f"{audit} rests on scores with the digest {min(known)[:16]}…, and these have {table.content[:16]}…"
        yield Fault("scores-differ-from-outcome", names, problem)
