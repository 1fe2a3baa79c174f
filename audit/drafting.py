"""From an audit file to the audit and the lock that it describes, and what keeps a plan from ever being answered."""

from dataclasses import replace
from datetime import date

from audit.evidence_units import settle_evidence
from audit.fixing import Fixed
from registry.errors import ConflictError, Fault, InputError
from registry.records.analysis_plan import Lock, Plan
from registry.records.audit_case import Audit
from registry.records.claim import ClaimRevision
from registry.records.claim_draft import AuditDraft


def settle_draft(draft: AuditDraft, range_: tuple[float, float]) -> AuditDraft:
    """Return the draft with the figures of its evidence in the unit of a property with *range_*.

    A plan that no scores in that range could ever answer to is refused: it could not be mended once it is locked.

    Raises:
        InputError: with every fault, of the plan and of the evidence.
    """
    low, high = range_
    plan, specs = draft.plan, draft.deploy_specs
    faults = []
    if plan.margin is not None and plan.margin > high - low:
        found = f"{plan.margin:g} is wider than the range [{low:g}, {high:g}] of the property"
        faults.append(Fault(code="out-of-range", where="plan.margin", found=found, advice="give δ in the unit of the score"))
    if not specs or len(set(specs)) < len(specs) or not all(one.strip() for one in specs):
        found = "expected the names of one or more P_deploy specifications, each once and none blank"
        faults.append(Fault(code="not-valid", where="deploy_specs", found=found, advice="leave it out for the one called `default`"))
    evidence = draft.evidence
    try:
        evidence = settle_evidence(draft.evidence, range_, where="evidence")
    except InputError as error:
        faults += error.faults
    if faults:
        raise InputError(faults)
    return replace(draft, evidence=evidence)


def check_last_day(plan: Plan, day: date, *, where: str, what: str) -> None:
    """Refuse a plan whose outcome would be valid until a day before *day*, on which *what*; raises ConflictError."""
    if plan.valid_until is not None and plan.valid_until < day:
        found = f"is {plan.valid_until.isoformat()}, and {what} on {day.isoformat()}: the outcome would have expired before its run"
        advice = "give a later day in a new audit file, or leave valid_until out: 12 months after the run began"
        raise ConflictError(Fault(code="expires-before-run", where=where, found=found, advice=advice))


def build_audit(identifier: str, draft: AuditDraft, claim: ClaimRevision, auditor: str) -> Audit:
    """Return the opening of the audit that *draft* describes."""
    return Audit(
        audit=identifier,
        claim=claim.reference,
        auditor=auditor,
        independence=draft.independence,
        deployment=draft.deployment,
        scoring=draft.scoring,
        plan=draft.plan,
        question=draft.question,
        note=draft.note,
        contestation=draft.contestation,
        renews=draft.renews,
    )


def build_lock(audit: Audit, draft: AuditDraft, claim: ClaimRevision, range_: tuple[float, float], fixed: Fixed) -> Lock:
    """Return the lock of *audit*: the plan with every default filled in, θ and direction as the claim has them.

    Args:
        fixed: what the draft refers to.
    """
    width = range_[1] - range_[0]
    plan = replace(
        draft.plan,
        margin=draft.plan.margin if draft.plan.margin is not None else 0.05 * width,
        epsilon=draft.plan.epsilon if draft.plan.epsilon is not None else 0.01 * width,
        tasks=draft.plan.tasks if fixed.tasks is None else fixed.tasks.count,
    )
    return Lock(
        audit=audit.audit,
        claim=claim.reference,
        plan=plan,
        relation=claim.relation,
        theta=claim.theta,
        direction=claim.direction,
        deploy_specs=draft.deploy_specs,
        exclusion_rules=draft.exclusion_rules,
        stopping_rule=draft.stopping_rule,
        budget=draft.budget,
        note=draft.note,
        test=fixed.test,
        deploy=fixed.deploy,
        scoring=fixed.scoring,
        cues=fixed.cues,
        tasks=fixed.tasks,
        replay=fixed.replay,
        replay_parts=fixed.replay_parts,
        model=fixed.model,
        endpoint_names=fixed.endpoint_names,
    )
