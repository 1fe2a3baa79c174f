"""Workers and coordinators in processes of their own, which can be killed, and what they left behind."""

import asyncio
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path

from audit.replay.call_engine import read_clock
from audit.replay.request_pacing import RetryLimits
from fleet.jobs.worker import WorkerRequest, WorkerStop, run_worker
from registry.cli.main import main
from tests.endpoint.server import KEY, Endpoint
from tests.replay.processes import Started

QUICK = RetryLimits(first_wait_s=0.02, longest_wait_s=0.5)
MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)
"""What a clock that stands still shows: with it, the same answers make the same bytes on any machine."""


def read_fixed_clock() -> datetime:
    """Return the same moment each time."""
    return MOMENT


def list_environ(server: Endpoint, *, key: str | None = KEY) -> dict[str, str]:
    """Return the environment of a process whose endpoint is *server*."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "CAVEAT_"))}
    return environ | {"ANTHROPIC_BASE_URL": server.url} | ({"ANTHROPIC_API_KEY": key} if key else {})


def start_worker(
    url: str, server: Endpoint, folder: Path, *, name: str, slots: int = 2, is_clock_fixed: bool = False, key: str | None = KEY,
    hostile_seed: int | None = None,
) -> Started:  # fmt: skip
    """Start a worker called *name*."""
    return Started(_work, url, str(folder), name, slots, is_clock_fixed, hostile_seed, folder=folder, environ=list_environ(server, key=key))


def _work(url: str, folder: str, name: str, slots: int, is_clock_fixed: bool, hostile_seed: int | None) -> None:  # noqa: FBT001 (crosses a process)
    from tests.fleet.hostile_queue import HostileQueue

    async def go() -> None:
        stop, loop = WorkerStop(), asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.request)
        request = WorkerRequest(
            url=url,
            name=name,
            slots=slots,
            spill=Path(folder) / "spill",
            clock=read_fixed_clock if is_clock_fixed else read_clock,
            patience=QUICK,
            open_queue=None if hostile_seed is None else lambda url, timeout_s: HostileQueue(url, timeout_s, seed=hostile_seed),
        )
        await run_worker(request, stop, lambda message: print(message, file=sys.stderr))

    asyncio.run(go())


def start_coordinator(url: str, server: Endpoint, folder: Path, *words: str) -> Started:
    """Start `caveat audit run small.yaml --fleet` in *folder*."""
    return Started(_coordinate, str(folder), ("--fleet", url, *words), folder=folder, environ=list_environ(server))


def _coordinate(folder: str, words: tuple[str, ...]) -> None:
    os.chdir(folder)
    sys.argv = ["caveat", "audit", "run", "small.yaml", *words]
    main()
