"""What may be said of runs under a lock: a run is started once and before the outcome, and what ends it names its start."""

from collections.abc import Iterator

from sqlalchemy import select

from registry.errors import Fault
from registry.records.replay_run import Run, RunEnd, RunStart
from registry.store.run_tables import run_start
from registry.store.view import View


def find_run_faults(view: View, said: RunStart | RunEnd) -> Iterator[Fault]:
    """Yield everything that keeps *said* from being recorded now."""
    file = view.find_audit(said.audit)
    if file is None:
        near = [one for one in view.suggest(said.audit) if one != said.audit]
        advice = f"did you mean {' or '.join(near)}?" if near else "caveat audit list shows the audits"
        yield Fault(code="audit-unknown", where=said.audit, found="no audit has this identifier here", advice=advice)
        return
    if isinstance(said, RunEnd):
        yield from find_start_faults(view, said)
        return
    if file.lock is None:
        found = "there is no lock, so no run can be started under it"
        yield Fault(code="not-locked", where=said.audit, found=found, advice="lock the plan before the run: caveat audit lock FILE")
    if any(one.payload.run == said.run for one in file.starts):
        yield Fault(code="run-started", where=said.audit, found="this run is in the log already", advice="there is nothing to add")
    if file.restrictions:
        found = f"has its outcome, entry {file.restrictions[0].entry.seq}; no run under its lock is started after that"
        advice = "lock another audit, or leave audit out of the replay"
        yield Fault(code="audit-has-outcome", where=said.audit, found=found, advice=advice)


def find_start_faults(view: View, said: RunEnd | Run) -> Iterator[Fault]:
    """Yield why the entry that *said* names is no start of a run of its audit."""
    own = (run_start.c.audit == said.audit) & (run_start.c.seq == said.start)
    if said.start is not None and not view.rows(select(run_start.c.seq).where(view.visible(run_start), own)):
        yield Fault(
            code="run-unknown",
            where=said.audit,
            found=f"entry {said.start} starts no run of this audit",
            advice=f"caveat audit show {said.audit} lists its runs",
        )
