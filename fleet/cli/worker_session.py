"""One call of `caveat worker`: its signals, and what it says."""

import asyncio
import signal
from collections.abc import Collection
from pathlib import Path

from fleet.jobs.worker import KINDS, WorkerRequest, WorkerStop, run_in_loop, run_worker
from fleet.pieces import DRAW
from registry.cli.application import App
from registry.errors import Fault, InputError
from registry.report.render_workers import has_layout


def work(
    app: App, url: str, *, kinds: tuple[str, ...] | None, slots: int, name: str | None, spill: Path, send_key_to: Collection[str]
) -> None:
    """Work until a signal.

    Args:
        kinds: of work; None for all that this installation can.

    Raises:
        InputError: a kind of work is unknown.
        UnavailableError: libraries of a kind that was asked for are missing.
    """
    if kinds is None:
        kinds = KINDS if has_layout() else tuple(kind for kind in KINDS if kind != DRAW)
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        problem = f"{', '.join(unknown) or 'nothing'} is no kind of work; kinds are {', '.join(KINDS)}"
        raise InputError(Fault("unknown-name", "--can", problem))
    request = WorkerRequest(url=url, kinds=kinds, slots=slots, name=name, spill=spill, send_key_to=send_key_to)

    async def run() -> None:
        stop, loop = WorkerStop(), asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.request)
        await run_worker(request, stop, app.say)

    run_in_loop(run())
