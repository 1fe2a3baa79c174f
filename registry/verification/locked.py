"""Whether threshold and direction were fixed before the replay: read from the entries that the record quotes."""

from collections.abc import Iterator

from registry.records.analysis_plan import Lock
from registry.records.audit_case import Result
from registry.records.claim import ClaimRevision
from registry.records.dossier import Recorded
from registry.records.replay_run import Run
from registry.records.supplement import AnySupplement, AuditPart, CardSupplement, ChangeReport
from registry.verification.check import Check, Name, no, not_checked, yes


def check_lock(supplement: AnySupplement, *, is_proven: bool) -> Check:
    """Return whether the lock stands before the runs, in the log and in time, and fixes what the claim says.

    Args:
        is_proven: whether the entries that the record quotes are those of the log; else order and time are the record's own word.
    """
    if isinstance(supplement, CardSupplement):
        return not_checked(Name.LOCK, "a card supplement quotes no lock; verify the supplement of each claim")
    if isinstance(supplement, ChangeReport):
        return not_checked(Name.LOCK, "a change report quotes no lock; verify the supplements of its claims")
    audit = supplement.audit
    if audit is None:
        return not_checked(Name.LOCK, "nobody has audited this revision of the claim, so there is nothing to fix before")
    if audit.lock is None:
        note = "nothing was locked: it is not shown that θ and direction were fixed before the scores were seen"
        return not_checked(Name.LOCK, note)
    return _check_locked(audit.lock, audit, supplement.claim, is_proven=is_proven)


def _check_locked(lock: Recorded[Lock], audit: AuditPart, claim: Recorded[ClaimRevision], *, is_proven: bool) -> Check:
    faults = [*_check_terms(lock, claim), *_check_order(lock, audit)]
    if faults:
        return no(Name.LOCK, "; ".join(faults))
    told = _tell_terms(lock)
    if not audit.runs:
        return not_checked(Name.LOCK, f"{told}; no replay is recorded under it")
    if not is_proven:
        return not_checked(Name.LOCK, f"{told}, as the record has it; its entries are not proven, so this shows nothing")
    return yes(Name.LOCK, f"{told}, before {_tell_run(audit.runs[0])}{_tell_deviations(audit)}")


def _check_terms(lock: Recorded[Lock], claim: Recorded[ClaimRevision]) -> Iterator[str]:
    """Give everything in which the lock is not of this claim as it was then."""
    locked, claimed = lock.payload, claim.payload
    if locked.claim != claimed.reference:
        yield f"the lock in entry {lock.entry.seq} is of {locked.claim}, the supplement of {claimed.reference}"
    if lock.entry.seq <= claim.entry.seq:
        yield f"the claim is of entry {claim.entry.seq}, its lock of entry {lock.entry.seq} before it"
    for name, one, other in (
        ("θ", locked.theta, claimed.theta),
        ("relation", locked.relation, claimed.relation),
        ("direction", locked.direction, claimed.direction),
    ):
        if one != other:
            yield f"{name} is {other} in the claim, and {one} was locked"


def _check_order(lock: Recorded[Lock], audit: AuditPart) -> Iterator[str]:
    """Give everything that does not follow its lock."""
    if lock.payload.audit != audit.opening.payload.audit:
        yield f"the lock is of {lock.payload.audit}, the audit is {audit.opening.payload.audit}"
    for run in audit.runs:
        yield from _check_run(lock, run)
    if audit.result is not None:
        yield from _check_result(audit.result, {run.entry.seq for run in audit.runs})


def _check_run(lock: Recorded[Lock], run: Recorded[Run]) -> Iterator[str]:
    if run.payload.audit != lock.payload.audit:
        yield f"the run in entry {run.entry.seq} is of {run.payload.audit}"
    if run.entry.seq <= lock.entry.seq:
        yield f"the run is entry {run.entry.seq}, its lock entry {lock.entry.seq} after it"
    if run.payload.started_at < lock.entry.at:
        began, fixed = f"{run.payload.started_at:%Y-%m-%d %H:%M:%S}", f"{lock.entry.at:%Y-%m-%d %H:%M:%S}"
        yield f"the run in entry {run.entry.seq} began {began}, before the lock of {fixed}"


def _check_result(result: Recorded[Result], runs: set[int]) -> Iterator[str]:
    if result.payload.run not in runs or result.entry.seq <= result.payload.run:
        yield f"the result in entry {result.entry.seq} is of run {result.payload.run}, which is none of this audit's before it"


def _tell_terms(lock: Recorded[Lock]) -> str:
    said = lock.payload
    theta = "no θ" if said.theta is None else f"θ {said.relation or ''} {said.theta:g}".replace("  ", " ")
    return f"{theta} and {said.direction.value} locked in entry {lock.entry.seq} of {lock.entry.at:%Y-%m-%d %H:%M} UTC"


def _tell_run(run: Recorded[Run]) -> str:
    return f"the run of entry {run.entry.seq}, begun {run.payload.started_at:%Y-%m-%d %H:%M} UTC by its own word"


def _tell_deviations(audit: AuditPart) -> str:
    count = len(audit.deviations)
    if not count:
        return "; no deviation from it is recorded"
    return f"; {count} {'deviation' if count == 1 else 'deviations'} from it {'is' if count == 1 else 'are'} recorded, and shown"
