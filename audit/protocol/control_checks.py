"""Controls of an audit: whether one is named in its lock and made under its plan, and what an outcome makes of them."""

from dataclasses import fields

from audit.protocol.evidence_basis import ScoredTable, weigh_deviations
from audit.protocol.lock_adherence import LockDeviation, describe_items
from registry.errors import ConflictError, Fault, InputError
from registry.records.analysis_plan import LockedItem
from registry.records.audit_case import ControlCheck, ControlStatus
from registry.records.dossier import AuditFile
from registry.records.module_findings import ControlOutcome, ControlReport
from registry.records.positive_control import ControlExpectation, ControlKind, ControlPlan
from registry.report.control_wording import NO_CONTROL, describe_outcome, describe_reach, list_positive
from registry.store.registry_view import View

# A control is named in the lock: one that is chosen when its result is known could be chosen for it. A locked control
# without a result lowers the standing, or an inconvenient one could be kept back.

_SAME = (LockedItem.TASKS, LockedItem.TEST_CONTEXTS, LockedItem.DEPLOY_CONTEXTS, LockedItem.SCORING)
"""What a control shares with the plan. The subject is another one, and so may be its budget and where it stopped."""
_GRAVITY = {
    ControlOutcome.PASSED: ControlStatus.PASSED,
    ControlOutcome.UNCLEAR: ControlStatus.UNCLEAR,
    ControlOutcome.TEST_ONLY: ControlStatus.TEST_ONLY,
    ControlOutcome.DETECTED: ControlStatus.DETECTED,
}


def check_named(file: AuditFile, plan: ControlPlan, *, where: str) -> None:
    """Refuse a control that the lock of *file* does not name.

    Raises:
        ConflictError: the audit has no lock, or its lock has a control of this name with another content.
        InputError: the lock names no such control, so that it was chosen later.
    """
    audit = file.audit.payload.audit
    if file.lock is None:
        raise ConflictError(Fault("not-locked", audit, "a control is named in a lock, and this audit has none"))
    locked = {control.name: control for control in file.lock.payload.controls}
    if plan.name not in locked:
        names = ", ".join(locked) or "none"
        problem = f"the lock of {audit} names the controls {names}, and not {plan.name}: it was chosen after the plan"
        raise InputError(Fault("control-after-run", where, problem, advice="lock another audit that names it: controls: [FILE]"))
    planned = locked[plan.name]
    if planned != plan:
        other = ", ".join(field.name for field in fields(ControlPlan) if getattr(plan, field.name) != getattr(planned, field.name))
        problem = f"differs from the control {plan.name} that {audit} locked, in {other}"
        raise ConflictError(Fault("control-differs-from-lock", where, problem, advice="use the file as it was locked"))


def check_subject(view: View, file: AuditFile, scored: ScoredTable, plan: ControlPlan) -> None:
    """Refuse scores not made under the locked plan: other tasks, contexts or scorer, or a prompt on another model; raises ConflictError."""
    deviations = weigh_deviations(view, file, scored, None)
    # A subject that was asked in evaluation contexts only is no deviation: it says less, and the report says so.
    is_test_only = plan.kind is not ControlKind.POLICY and scored.table.arm.find(scored.deploy_arm) is None
    # An instruction is tested on the claim's own model: another one may follow it where that one would not.
    same = (*_SAME, LockedItem.MODEL) if plan.kind is ControlKind.PROMPT else _SAME
    wrong = [item for item in deviations if item.item in same and not (is_test_only and _is_about_deployment(item))]
    if wrong:
        detail = "; ".join(f"{item.item.words}: planned {item.planned}, done {item.done}" for item in wrong[:2])
        problem = f"other {describe_items(wrong)} than {file.audit.payload.audit} locked ({detail})"
        advice = "a control repeats the locked plan: run it with the same tasks, contexts and scorer, and a prompt on the same model"
        raise ConflictError(Fault("control-differs-from-lock", scored.source, problem, advice=advice))


def _is_about_deployment(deviation: LockDeviation) -> bool:
    return deviation.item is LockedItem.DEPLOY_CONTEXTS or (deviation.item is LockedItem.TASKS and deviation.done.startswith("deploy"))


def check_controls(file: AuditFile, *, scores: str | None) -> ControlCheck | None:
    """Return what the positive controls that the lock of *file* names show of an outcome from *scores*; None where it names none."""
    planned = [plan for plan in (file.lock.payload.controls if file.lock else ()) if plan.expects is ControlExpectation.VIOLATES]
    if not planned or scores is None:
        return None
    reports = list_positive((finding.payload.body for finding in file.findings), scores=scores)
    checks = [_check(plan, [report for report in reports if report.plan == plan]) for plan in planned]
    status, note = min(checks, key=lambda check: list(ControlStatus).index(check[0]))
    return ControlCheck(status=status, note=note, reach=describe_reach(reports) if reports else NO_CONTROL)


def _check(plan: ControlPlan, reports: list[ControlReport]) -> tuple[ControlStatus, str]:
    if not reports:
        on = " on these scores" if plan.kind is ControlKind.POLICY else ""
        return ControlStatus.NOT_REPORTED, f"the lock names the control {plan.name}, and no result{on} is on record"
    worst = min(reports, key=lambda report: list(ControlOutcome).index(report.outcome))
    return _GRAVITY[worst.outcome], describe_outcome(worst)
