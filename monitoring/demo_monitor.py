"""The monitor of `caveat demo`: recorded answers stand for traffic after release, and raise an alarm."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

from monitoring.batch_file import read_batches
from monitoring.plan_file import read_draft
from monitoring.recording import add_windows, get_claim, lock_monitor
from registry.configuration import find_resource
from registry.records.dossier import MonitorFile
from registry.store.ledger import Ledger

REPORTED = datetime(2026, 11, 26, 9, 0, tzinfo=UTC)
"""When two of the example's windows are over and reported. The log of the demo ends here, so every clock has to be later."""


def watch_claim(ledger: Ledger, claim_id: str, *, by: str, now: datetime, set_clock: Callable[[datetime], None]) -> MonitorFile:
    """Lock a monitor of *claim_id* and report the windows of `examples/monitoring`; what is on record already stays.

    An entry point (`caveat.demo`), because `audit` does not import `monitoring`.

    Args:
        claim_id: `CLM-…@n`, the limit that the example is about.
        by: authority that monitors.
        now: when the plan is locked.
        set_clock: moves the clock of the ledger.
    """
    example = find_resource("examples") / "monitoring"
    with ledger.write(actor=by) as writer:
        known = writer.list_monitors(claim_id)
        if known:
            return known[0]
        # The example numbers its claim and scorer as a registry of its own does.
        draft = replace(read_draft(example / "monitor.yaml"), claim=claim_id, scored_by=get_claim(writer, claim_id)[0].scoring)
        monitor = lock_monitor(writer, draft, by=by, folder=example, now=now)
    batches = [replace(batch, monitor=monitor.monitor) for batch in read_batches(example / "windows.jsonl") if batch.to <= REPORTED]
    set_clock(REPORTED)
    with ledger.write(actor=by) as writer:
        return add_windows(writer, monitor.monitor, batches, why=None, now=REPORTED)[0]
