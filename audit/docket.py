"""An audit as the registry records it: opened, locked, given its evidence and scores, concluded.

What an audit may rest on (basis) is decided here and nowhere else: `replay` needs a lock made before the run began.
"""

import math
import re
from collections import Counter
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from audit.drafting import build_audit, build_lock, check_draft
from audit.findings import find_departures, find_scores, settle_invariance
from audit.run import Circumstances, Outcome, run_case
from audit.statistics.scores import SCORED, ScoreTable
from registry.errors import ConflictError, Fault, InputError, NotFoundError
from registry.records.audit import EvidenceStatement, Result
from registry.records.case import Case, CaseClaim, Scoring
from registry.records.claim import ClaimRevision
from registry.records.classification import Basis
from registry.records.dossier import AuditFile, Recorded
from registry.records.draft import AuditDraft
from registry.records.estimate import Estimate
from registry.records.finding import Finding, FindingBody
from registry.records.identifier import Kind, parse_identifier
from registry.records.plan import Lock
from registry.records.restriction import Restriction
from registry.records.spec import PropertySpec
from registry.records.trial import ExcludedCount, Provenance, Run, RunStatus
from registry.store.view import View
from registry.store.writer import Writer

TEST_ARM, DEPLOY_ARM = "test", "deploy"
"""What the two arms of a score table are called unless somebody says otherwise; under a lock nobody can."""

_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """A score table with what is known of how it came to be."""

    table: ScoreTable
    source: str
    """File names, as the report prints them."""
    started_at: datetime | None
    """When the first response was made; None when nobody says, and then no lock can have preceded it."""
    provenance: Provenance = Provenance()
    test_arm: str = TEST_ARM
    deploy_arm: str = DEPLOY_ARM


@dataclass(frozen=True, slots=True, kw_only=True)
class Concluded:
    """What importing into an audit came to."""

    audit: str
    restriction: Restriction
    outcome: Outcome
    is_new: bool
    """False when the same audit, with the same scores, was recorded before."""


def open_audit(writer: Writer, draft: AuditDraft, *, auditor: str, locked: bool) -> tuple[AuditFile, bool]:
    """Record the audit that *draft* describes, with its evidence and, if *locked*, its lock; return it and whether it is new.

    The same draft again changes nothing.

    Raises:
        NotFoundError: the claim is not registered.
    """
    claim = get_claim(writer, draft.claim)
    check_draft(draft, get_property(writer, claim).range)
    same = _find_same(writer, draft, claim, auditor=auditor, locked=locked)
    if same is not None:
        return same, False
    if not locked and (twin := _find_same(writer, draft, claim, auditor=auditor, locked=True)) is not None:
        name = twin.audit.payload.audit
        found = f"this very plan is locked as {name}; scores imported without it would count as unlocked"
        advice = f"caveat audit import {name} TABLE --run-date DATE"
        raise ConflictError(Fault(code="audit-is-locked", where=claim.reference, found=found, advice=advice))
    audit = build_audit(writer.allocate(Kind.AUDIT, auditor)[0], draft, claim, auditor)
    writer.append(audit)
    writer.append_many([EvidenceStatement(audit=audit.audit, claim=claim.reference, evidence=one) for one in draft.evidence])
    if locked:
        writer.append(build_lock(audit, draft, claim, get_property(writer, claim).range))
    return get_audit(writer, audit.audit), True


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
    known = next((one for one in file.findings if one.payload.body == body), None)
    if known is not None:
        return known, False
    if not file.restrictions:  # with an outcome nothing is recorded, on plan or off it
        _check_plan(writer, file, body)
    said = Finding(audit=file.audit.payload.audit, claim=file.audit.payload.claim, body=body, source=source)
    return Recorded(entry=writer.append(said), payload=said), True


def _check_plan(view: View, file: AuditFile, body: FindingBody) -> None:
    plan = file.lock.payload.plan if file.lock else file.audit.payload.plan
    departures = find_departures(body, plan, get_property(view, get_claim(view, file.audit.payload.claim)).range)
    if departures:
        made = ", ".join(f"{name} {_write(here)} where its plan says {_write(planned)}" for name, (here, planned) in departures.items())
        advice = f"run it again with {' '.join(f'--{name} {_write(planned)}' for name, (_, planned) in departures.items())}"
        raise ConflictError(
            Fault(code="finding-off-plan", where=file.audit.payload.audit, found=f"the finding was made with {made}", advice=advice)
        )


def _write(value: object) -> str:
    return " ".join(map(_write, value)) if isinstance(value, tuple) else f"{value:g}" if isinstance(value, float) else str(value)


def conclude(writer: Writer, file: AuditFile, scored: Scored | None) -> Concluded:
    """Record what an audit comes to: from scores, or without any from reported evidence alone (retrospective).

    Scores whose run began after the lock give the basis `replay`. All others, and evidence without scores, give `reported`,
    which can restrict and never establish; scores older than a lock are post hoc, whatever date is given for them, if an audit
    of the claim held the same table before the lock. The same scores again change nothing.

    Raises:
        ConflictError: a locked audit without scores, a table with other P_deploy specifications than the lock names, other arms
            than `test` and `deploy` under a lock, a run that begins after its import, one that begins after its dates of access,
            a second table under one lock, or a declared invariance that a recorded check contradicts.
        InputError: scores of a locked audit without the date of their run.
    """
    claim = get_claim(writer, file.audit.payload.claim)
    basis, post_hoc = _decide_basis(writer, file, scored)
    case = build_case(claim, get_property(writer, claim), file, scores=scored.table.content if scored else None)
    outcome = run_case(
        case,
        scored.table if scored else None,
        basis=basis,
        post_hoc=post_hoc,
        arms=(scored.test_arm, scored.deploy_arm) if scored else (TEST_ARM, DEPLOY_ARM),
        circumstances=_find_circumstances(writer, file, scored, claim, locked=basis is Basis.REPLAY),
    )
    if file.lock and scored and outcome.estimate:
        _check_arms(file.lock.payload, scored)
        _check_specs(file.lock.payload, scored, outcome.estimate)
    known = next((one.payload for one in reversed(file.restrictions) if _is_same(one.payload, file, scored, outcome)), None)
    if known is not None:
        return Concluded(audit=file.audit.payload.audit, restriction=known, outcome=outcome, is_new=False)
    _check_access(scored)
    if file.lock and file.results:
        found = "has its outcome; a lock is for one, so that no later table can take its place"
        advice = "give all tables of a replay in one import, or lock another audit"
        raise ConflictError(Fault(code="audit-concluded", where=file.audit.payload.audit, found=found, advice=advice))
    result = _record_run(writer, file, scored, outcome) if basis is Basis.REPLAY and scored else None
    restriction = Restriction(
        audit=file.audit.payload.audit,
        claim=file.audit.payload.claim,
        classification=outcome.classification,
        text=outcome.restricted,
        basis=basis,
        result=result,
        post_hoc=post_hoc,
        estimate=None if result else outcome.estimate,
        table=_digest(scored),
        scores=scored.table.content if scored else None,
        source=scored.source if scored else None,
        provenance=None if result or not scored else scored.provenance,
    )
    writer.append(restriction)
    return Concluded(audit=restriction.audit, restriction=restriction, outcome=outcome, is_new=True)


def _decide_basis(view: View, file: AuditFile, scored: Scored | None) -> tuple[Basis, bool]:
    """Return the basis, and whether the outcome is post hoc: nothing shows that the plan preceded the scores."""
    if file.lock is None:
        return (Basis.REPORTED if scored or file.evidence else Basis.NONE), scored is not None
    if scored is None:
        raise ConflictError(
            Fault(
                code="scores-missing",
                where=file.audit.payload.audit,
                found="is locked, so its outcome needs scores",
                advice=f"caveat audit import {file.audit.payload.audit} TABLE --run-date DATE",
            )
        )
    if scored.started_at is None:
        found = "the plan is locked, and when the run began is not said; without it the outcome would be post hoc for good"
        advice = "give the moment of the first response with --run-date, such as 2026-11-21T12:00:00Z"
        raise InputError(Fault(code="run-date-missing", where=scored.source, found=found, advice=advice))
    preceded = scored.started_at >= file.lock.entry.at and not _was_known(view, file, scored.table)
    return (Basis.REPLAY, False) if preceded else (Basis.REPORTED, True)


def _was_known(view: View, file: AuditFile, table: ScoreTable) -> bool:
    """Tell whether any audit of the registry held these very scores, in whatever file, before the lock of *file* was made."""
    locked = file.lock.entry.seq if file.lock else 0
    audits = view.list_audits()
    runs = (one.entry.seq for audit in audits for one in audit.runs if one.payload.scores == table.content)
    outcomes = (one.entry.seq for audit in audits for one in audit.restrictions if one.payload.scores == table.content)
    found = (one.entry.seq for audit in audits for one in audit.findings if find_scores(one.payload.body) == table.content)
    return any(seq < locked for seq in (*runs, *outcomes, *found))


def build_case(claim: ClaimRevision, body: PropertySpec, file: AuditFile, *, scores: str | None = None) -> Case:
    """Return the input of the decision table for an audit: the lock's θ and plan where there is a lock, invariance as it was found.

    Args:
        scores: digest of the scores to be concluded from; None without scores.

    Raises:
        ConflictError: the audit file declares an invariance that a recorded check contradicts.
    """
    audit, lock = file.audit.payload, file.lock.payload if file.lock else None
    return Case(
        claim=CaseClaim(
            form=claim.form,
            property=replace(body, direction=claim.direction),
            quote=claim.quote,
            quote_status=claim.quote_status,
            relation=lock.relation if lock else claim.relation,
            theta=lock.theta if lock else claim.theta,
            reported=claim.reported,
            model=claim.model,
        ),
        evidence=tuple(one.payload.evidence for one in file.evidence),
        deployment=audit.deployment,
        plan=lock.plan if lock else audit.plan,
        scoring=Scoring(invariant=settle_invariance(file, scores=scores)),
    )


def _record_run(writer: Writer, file: AuditFile, scored: Scored, outcome: Outcome) -> int:
    """Record the run and its result; return the number of the result's entry."""
    if outcome.estimate is None or scored.started_at is None:
        raise ValueError("a run has an estimate and a beginning")
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
    )
    entry = writer.append(run)
    # An entry's time has whole seconds.
    if scored.started_at >= entry.at + timedelta(seconds=1):
        found = f"begins at {scored.started_at.isoformat()}, after this import at {entry.at.isoformat()}"
        advice = "check the clocks of both computers; of a score table, give the moment of the first response with --run-date"
        raise ConflictError(Fault(code="run-in-future", where=scored.source, found=found, advice=advice))
    return writer.append(Result(audit=run.audit, run=entry.seq, estimate=outcome.estimate)).seq


def _find_circumstances(view: View, file: AuditFile, scored: Scored | None, claim: ClaimRevision, *, locked: bool) -> Circumstances:
    """Return what the checklist reports of how the scores came to be and of who answers for P_deploy."""
    replayed = scored.provenance.replayed if scored else None
    named = dict.fromkeys((*claim.deploy_contexts, *(replayed.list_references(scored.deploy_arm) if scored and replayed else ())))
    specs = [view.find_spec(one.bare, one.revision) for one in map(parse_identifier, named)]
    owners = sorted({f"{one.payload.owner} ({one.payload.slug})" for one in specs if one is not None})
    return Circumstances(
        provenance=scored.provenance if scored else None,
        lock=file.lock.payload if file.lock and locked else None,
        deploy_owner=", ".join(owners) or None,
        findings=tuple(one.payload.body for one in file.findings),
    )


def _count_excluded(table: ScoreTable) -> tuple[ExcludedCount, ...]:
    """Count the responses without a score by arm and reason, in that order."""
    pairs = Counter(zip(table.arm.codes.tolist(), table.excluded.codes.tolist(), strict=True))
    return tuple(
        ExcludedCount(arm=table.arm.labels[arm], reason=table.excluded.labels[reason], count=count)
        for (arm, reason), count in sorted(pairs.items())
        if reason != SCORED
    )


def _is_same(known: Restriction, file: AuditFile, scored: Scored | None, outcome: Outcome) -> bool:
    """Tell whether *known* came from the same scores; without a lock a table has several outcomes, one for each pair of its arms."""
    if known.table != _digest(scored):
        return False
    if file.lock or known.estimate is None or outcome.estimate is None:
        return True
    before, now = ([(one.phi_test.value, one.phi_deploy.value) for one in found.specs] for found in (known.estimate, outcome.estimate))
    return len(before) == len(now) and all(
        math.isclose(first, second, abs_tol=1e-9)
        for old, new in zip(before, now, strict=True)
        for first, second in zip(old, new, strict=True)
    )


def _digest(scored: Scored | None) -> str | None:
    return scored.table.sha256 if scored else None


def _check_access(scored: Scored | None) -> None:
    """The two statements on when the endpoint was asked must not contradict each other; compared by the day."""
    if scored is None or scored.started_at is None:
        return
    began = scored.started_at.astimezone(UTC)
    # A day may be written in any time zone.
    first = f"{began - timedelta(days=1):%Y-%m-%d}"
    earlier = [day for day in _DAY.findall(scored.provenance.accessed or "") if day < first]
    if earlier:
        found = f"names {earlier[0]} as a date of access, and {began:%Y-%m-%d} as the day of the first response"
        advice = "correct accessed in the provenance, or --run-date"
        raise ConflictError(Fault(code="accessed-before-run", where=scored.source, found=found, advice=advice))


def _check_arms(lock: Lock, scored: Scored) -> None:
    """Which rows are P_test is part of the plan: chosen at import, it could turn the sign of ED after the scores were seen."""
    if (scored.test_arm, scored.deploy_arm) != (TEST_ARM, DEPLOY_ARM):
        raise ConflictError(
            Fault(
                code="arms-differ-from-lock",
                where=scored.source,
                found=f"{scored.test_arm!r} and {scored.deploy_arm!r} are named as its arms; under the lock of {lock.audit} "
                f"they are called {TEST_ARM!r} and {DEPLOY_ARM!r}",
                advice="call the arms so in the table that is planned, and leave --test and --deploy out",
            )
        )


def _check_specs(lock: Lock, scored: Scored, estimate: Estimate) -> None:
    found = sorted({one.spec for one in estimate.specs})
    if sorted(lock.deploy_specs) != found:
        raise ConflictError(
            Fault(
                code="specs-differ-from-lock",
                where=scored.source,
                found=f"has the P_deploy specifications {', '.join(found)}; the lock of {lock.audit} names {', '.join(lock.deploy_specs)}",
                advice="import the table that was planned, or open another audit for this one",
            )
        )


def _find_same(view: View, draft: AuditDraft, claim: ClaimRevision, *, auditor: str, locked: bool) -> AuditFile | None:
    """Return the audit that was recorded from the same draft, if any."""
    for file in view.list_audits(claim=claim.claim):
        audit = file.audit.payload
        wanted = build_audit(audit.audit, draft, claim, auditor)
        evidence = tuple(one.payload.evidence for one in file.evidence)
        lock = file.lock.payload if file.lock else None
        wanted_lock = build_lock(wanted, draft, claim, get_property(view, claim).range) if locked else None
        if audit == wanted and evidence == draft.evidence and lock == wanted_lock:
            return file
    return None


def get_claim(view: View, name: str) -> ClaimRevision:
    """Return the claim revision that *name* stands for, the latest unless it names one; raises NotFoundError or InputError."""
    try:
        identifier = parse_identifier(name, Kind.CLAIM)
    except ValueError as error:
        raise InputError(Fault(code="bad-identifier", where=name, found=str(error))) from error
    revision = identifier.revision
    found = view.find_claim(identifier.bare) if revision is None else view.find_revision(identifier.bare, revision)
    if found is None:
        near = ", ".join(view.suggest(identifier.bare)) or "nothing like it; caveat claim list shows all"
        raise NotFoundError(Fault(code="not-registered", where=name, found="no such claim is registered", advice=f"registered: {near}"))
    if identifier.digest not in (None, found.entry.leaf[:16]):
        recorded = f"{found.payload.reference} is recorded as #{found.entry.leaf[:16]}"
        advice = "leave out what follows #, to take what is recorded here"
        raise NotFoundError(Fault(code="digest-mismatch", where=name, found=recorded, advice=advice))
    return found.payload


def get_property(view: View, claim: ClaimRevision) -> PropertySpec:
    """Return the property of *claim*; raises NotFoundError when it is sealed."""
    identifier = parse_identifier(claim.property, Kind.PROPERTY)
    found = view.find_spec(identifier.bare, identifier.revision)
    if found is None or not isinstance(found.payload.body, PropertySpec):
        sealed = "its text is sealed or not in this registry, so the claim cannot be audited"
        advice = "revise the claim with a property that can be read"
        raise NotFoundError(Fault(code="spec-sealed", where=claim.property, found=sealed, advice=advice))
    return found.payload.body


def get_audit(view: View, identifier: str) -> AuditFile:
    """Return the audit with everything recorded of it; raises NotFoundError with what is near."""
    found = view.find_audit(identifier)
    if found is None:
        near = ", ".join(view.suggest(identifier)) or "caveat audit list shows all"
        raise NotFoundError(Fault(code="not-registered", where=identifier, found="no such audit is registered", advice=near))
    return found
