"""How the responses of an outcome came to be, as the log and the data show it: what the conditions of an established verdict ask."""

from datetime import UTC, date

from audit.adherence import describe_items
from audit.basis import Ground, Scored
from audit.drafting import check_last_day
from audit.entering import list_runs_of
from audit.standing import Conduct, Runs
from registry.records.dossier import AuditFile
from registry.records.module_findings import find_invariance
from registry.records.replay_run import describe_runs
from registry.records.specification import reads_only_response
from registry.records.verdict import find_last_day, is_expired
from registry.registration.specification_registration import find_locked_procedure
from registry.store.view import View
from registry.store.writer import Writer


def find_conduct(view: View, file: AuditFile, scored: Scored, ground: Ground, valid_until: date) -> Conduct:
    """Return how the responses came to be, as the log and the data show it."""
    replayed = scored.provenance.replayed
    lock = file.lock.payload if file.lock else None
    registered = lock is not None and {one.name for one in lock.deploy} == set(lock.deploy_specs)
    return Conduct(
        no_lock=_find_lock_gap(file, scored, ground),
        runs=_find_runs(file, scored),
        valid_until=valid_until,
        is_expired=is_expired(valid_until, view.today),
        asked=ground.asked,
        provenance=scored.provenance,
        reads_response_only=_find_reading(view, file, scored),
        is_invariance_checked=find_invariance((one.payload.body for one in file.findings), scores=scored.table.content) is True,
        deployment_described=registered or (replayed is not None and bool(replayed.list_asked(scored.deploy_arm))),
    )


def find_validity(writer: Writer, file: AuditFile, scored: Scored | None) -> date:
    """Return the last day on which an outcome counts in full: the plan's, or 12 months after the run began; without a run, after today.

    Raises:
        ConflictError: the plan's day lies before the run.
    """
    plan = (file.lock or file.audit).payload.plan
    began = scored.started_at.astimezone(UTC).date() if scored and scored.started_at else writer.moment.date()
    check_last_day(plan, began, where=f"{file.audit.payload.audit}, plan.valid_until", what="the run began")
    return find_last_day(plan.valid_until, began)


def _find_runs(file: AuditFile, scored: Scored) -> Runs | None:
    """Return which runs were made under the lock, as the log shows them; None without a lock."""
    if file.lock is None:
        return None
    runs, own = list_runs_of(file, scored.provenance.run)
    return Runs(count=len(runs), is_recorded=own.entry is not None, text=describe_runs(runs, gave=own) or "")


def _find_reading(view: View, file: AuditFile, scored: Scored) -> bool | None:
    """Return whether the scorer reads only the response: as the run folder shows it, else as the lock fixes it; None where neither does."""
    if scored.provenance.scorer_reads_response is not None:
        return scored.provenance.scorer_reads_response
    if "model_graded" in (scored.provenance.judge or ""):  # Inspect's scorers that ask a model
        return False
    procedure = find_locked_procedure(view, file.lock.payload) if file.lock else None
    return None if procedure is None else reads_only_response(procedure)


def _find_lock_gap(file: AuditFile, scored: Scored, ground: Ground) -> str | None:
    """Return why it is not shown that a lock preceded the run, as a clause; None where it is shown."""
    if file.lock is None:
        return "no lock preceded the run"
    if ground.post_hoc:
        return "the lock is not shown to precede the run"
    if ground.decisive:
        return f"the scores are of other {describe_items(ground.decisive)} than the lock fixes"
    return None if scored.is_dated_by_data else "when the run began is only the auditor's word; the data do not show it"
