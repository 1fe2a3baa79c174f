"""Runs under a lock as the log has them: entered before their first call, and what became of each.

A run folder has a random name, written down before anything is sent. The log holds that name with the lock, so a run that is resumed is
not entered again, after a crash at any moment, and a second folder under the same lock is a second run.
"""

from collections.abc import Sequence

from registry.errors import Fault, NotFoundError
from registry.records.dossier import AuditFile, Recorded
from registry.records.replay_run import RunEnd, RunHistory, RunStart, RunStatus
from registry.store.writer import Writer


def enter_run(writer: Writer, audits: Sequence[str], name: str, *, model: str, planned: int, before: int) -> tuple[str, ...]:
    """Record the run called *name* under the lock of each of *audits*, where it is not yet; return those for which it is new.

    Args:
        writer: of the registry.
        audits: `AUD-…`, each with a lock.
        name: of the run folder, as `audit.replay.run_store.name_run` gives it.
        model: the name that is asked for.
        planned: calls that the replay plans.
        before: calls that the folder holds already.

    Raises:
        ConflictError: an audit has no lock, or has its outcome.
    """
    new = [one for one in audits if find_start(_get_audit(writer, one), name) is None]
    writer.append_many([RunStart(audit=one, run=name, model=model, planned=planned, before=before) for one in new])
    return tuple(new)


def end_run(writer: Writer, audits: Sequence[str], name: str, *, status: RunStatus, calls: int, why: str | None = None) -> None:
    """Record how the run called *name* ended under each of *audits*; its last end again, or one after its import, changes nothing."""
    ends = []
    for audit in audits:
        file = _get_audit(writer, audit)
        start = find_start(file, name)
        if start is None or any(one.payload.start == start.entry.seq for one in file.runs):
            continue
        end = RunEnd(audit=audit, start=start.entry.seq, status=status, calls=calls, why=why)
        known = [one.payload for one in file.ends if one.payload.start == start.entry.seq]
        if known[-1:] != [end]:
            ends.append(end)
    writer.append_many(ends)


def find_start(file: AuditFile, name: str | None) -> Recorded[RunStart] | None:
    """Return the start of the run called *name* under the lock of *file*; None where it was not recorded."""
    return next((one for one in file.starts if one.payload.run == name), None)


def list_runs_of(file: AuditFile, name: str | None) -> tuple[tuple[RunHistory, ...], RunHistory]:
    """Return all runs under the lock of *file*, and the one called *name*, which has no entry where its start was not recorded."""
    start = find_start(file, name)
    runs = tuple(one for one in file.history if one.imported is None or one.entry is not None)
    own = next((one for one in runs if start is not None and one.entry == start.entry.seq), None)
    if own is not None:
        return runs, own
    own = RunHistory(entry=None, status=RunStatus.COMPLETED, calls=None)
    return (*runs, own), own


def _get_audit(writer: Writer, name: str) -> AuditFile:
    found = writer.find_audit(name)
    if found is None:
        near = ", ".join(writer.suggest(name)) or "caveat audit list shows all"
        raise NotFoundError(Fault(code="not-registered", where=name, found="no such audit is registered", advice=near))
    return found
