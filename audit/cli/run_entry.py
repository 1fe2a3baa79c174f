"""What a live replay tells the log of itself: that it starts, before its first call, and how it ended."""

import secrets
from collections.abc import Sequence

from audit.entering import end_run, enter_run
from audit.replay.call_engine import RunSummary
from audit.replay.run_store import RunStore, find_name, name_run
from registry.cli.application import App
from registry.errors import CaveatError
from registry.records.replay_run import RunStatus


def enter(app: App, store: RunStore, audits: Sequence[str], *, model: str, planned: int, before: int) -> None:
    """Enter the run of *store* under the lock of each of *audits*, before its first call; a run that is entered already stays as it is.

    Raises:
        CaveatError: the registry cannot be written to: nothing was sent, and nothing is lost.
    """
    name = name_run(store, lambda: secrets.token_hex(16))
    with app.ledger.write(actor=app.config.authority) as writer:
        new = enter_run(writer, audits, name, model=model, planned=planned, before=before)
        others = {one: len(file.starts) - 1 for one in new if (file := writer.find_audit(one)) is not None and len(file.starts) > 1}
    for audit, count in others.items():
        runs = "another run was" if count == 1 else f"{count} other runs were"
        app.say(f"warning: {runs} started under the lock of {audit}; an outcome will name all of them and be provisional")


def record_end(app: App, store: RunStore, audits: Sequence[str], summary: RunSummary) -> None:
    """Record how the run of *store* ended. A registry that cannot be written to now ends nothing: the responses are in the folder."""
    status = RunStatus.FAILED if summary.stopped else RunStatus.ABORTED if summary.interrupted else RunStatus.COMPLETED
    why = summary.stopped.code if summary.stopped else None
    try:
        name = find_name(store)
        if name is not None:
            with app.ledger.write(actor=app.config.authority) as writer:
                end_run(writer, audits, name, status=status, calls=summary.spent.calls, why=why)
    except CaveatError as error:
        fault = error.faults[0]
        app.say(f"warning: the end of this run was not recorded ({fault.code}: {fault.found}); running again or importing it records it")
