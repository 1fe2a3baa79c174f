"""Workers and coordinators in processes of their own, which can be killed, and what they left behind."""

import asyncio
import os
import signal
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from audit.endpoints.endpoint_opening import open_endpoint
from audit.replay.call_engine import CallSettings, HaltRequest, RunSummary, read_clock
from audit.replay.replay_design import build_design
from audit.replay.replay_file import read_replay
from audit.replay.request_pacing import RetryLimits
from audit.replay.run_store import open_store, put_replay
from fleet.jobs.replay_run import FleetReplay, run_replay
from fleet.jobs.replay_slices import KINDS
from fleet.jobs.worker import WorkerRequest, WorkerStop, run_in_loop, run_worker
from registry.cli.main import main
from tests.endpoint.server import KEY, Endpoint
from tests.fleet.hostile_queue import HostileQueue
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
    hostile_seed: int | None = None, answer_s: float = 30.0,
) -> Started:  # fmt: skip
    """Start a worker called *name*."""
    how = {"slots": slots, "is_clock_fixed": is_clock_fixed, "hostile_seed": hostile_seed, "answer_s": answer_s}
    return Started(work, url, str(folder), name, how, folder=folder, environ=list_environ(server, key=key))


def work(url: str, folder: str, name: str, how: dict[str, Any]) -> None:
    """Be a worker called *name*, until a signal."""
    hostile_seed = how.get("hostile_seed")

    async def go() -> None:
        stop, loop = WorkerStop(), asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.request)
        request = WorkerRequest(
            url=url,
            name=name,
            slots=how["slots"],
            spill=Path(folder) / "spill",
            clock=read_fixed_clock if how.get("is_clock_fixed") else read_clock,
            kinds=how.get("kinds", KINDS),
            patience=QUICK,
            answer_s=how.get("answer_s", 30.0),
            open_queue=None if hostile_seed is None else lambda url, timeout_s: HostileQueue(url, timeout_s, seed=hostile_seed),
        )
        await run_worker(request, stop, lambda message: sys.stderr.write(f"{message}\n"))

    run_in_loop(go())


def start_pure_worker(url: str, folder: Path, *, name: str, kinds: tuple[str, ...]) -> Started:
    """Start a worker of pure work called *name*, which has no key of any model."""
    environ = {key: value for key, value in os.environ.items() if not key.startswith(("ANTHROPIC_", "CAVEAT_"))}
    return Started(work, url, str(folder), name, {"slots": 1, "kinds": kinds}, folder=folder, environ=environ)


def start_coordinator(url: str, server: Endpoint, folder: Path, *words: str, hostile_seed: int | None = None) -> Started:
    """Start `caveat audit run small.yaml --fleet` in *folder*, or its coordinator on a hostile queue."""
    if hostile_seed is not None:
        return Started(_coordinate_hostile, url, str(folder), hostile_seed, folder=folder, environ=list_environ(server))
    return Started(_coordinate, str(folder), ("--fleet", url, *words), folder=folder, environ=list_environ(server))


def _coordinate(folder: str, words: tuple[str, ...]) -> None:
    os.chdir(folder)
    sys.argv = ["caveat", "audit", "run", "small.yaml", *words]
    main()


def _coordinate_hostile(url: str, folder: str, seed: int) -> None:
    """Do what the command does, with a queue that no one can choose on the command line."""
    file = read_replay(Path(folder) / "small.yaml", None)
    planned = build_design(file.replay, file.tasks, file.contexts)
    store = open_store(Path(folder) / "small.run", create=True)
    store.add_cells(planned)
    put_replay(store, file.replay, file.tasks)

    async def go() -> RunSummary:
        async with open_endpoint(file.replay.policy) as endpoint:
            request = FleetReplay(
                url=url,
                name="small",
                calls=[cell.call for cell in planned],
                policy=file.replay.policy,
                settings=CallSettings(budget=file.replay.budget),
                timeout_s=60,
            )
            return await run_replay(
                store,
                endpoint,
                request,
                progress=lambda _summary: None,
                tell=lambda _message: None,
                stop=HaltRequest(),
                make_queue=lambda url, timeout_s: HostileQueue(url, timeout_s, seed=seed),
            )

    summary = asyncio.run(go())
    if summary.stopped is not None:
        sys.stderr.write(str(summary.stopped))
        sys.exit(1)
