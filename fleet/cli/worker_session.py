"""One call of `caveat worker`: its signals, and what it says."""

import asyncio
import signal
from collections.abc import Collection
from pathlib import Path

from fleet.jobs.worker import KINDS, WorkerRequest, WorkerStop, run_worker
from registry.cli.application import App
from registry.errors import Fault, InputError


def work(app: App, url: str, *, kinds: tuple[str, ...], slots: int, name: str | None, spill: Path, send_key_to: Collection[str]) -> None:
    """Work until a signal.

    Raises:
        InputError: a kind of work is unknown.
    """
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

    asyncio.run(run())
