"""Runs in a fleet's database without processes, for tests of single rules."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from audit.endpoints.endpoint_opening import open_endpoint
from audit.records.model_response import Failure, Purpose, Response
from audit.replay.call_engine import read_clock
from audit.replay.replay_design import build_design
from audit.replay.replay_file import read_replay
from audit.replay.run_budget import SpentAmount
from audit.replay.run_store import dump_response, open_store, put_replay
from fleet.database import FleetDatabase, to_json
from fleet.jobs.replay_run import name_fleet_run
from fleet.jobs.replay_slices import ReplayHandler
from fleet.jobs.slice_handler import WorkerPlace
from fleet.queue.job_queue import Job
from fleet.runs.leases import SliceLease, acquire_lease
from fleet.runs.run_plan import WantedCalls, check_server, upload_plan
from fleet.runs.run_states import SessionSettings, open_session
from fleet.runs.slice_store import SpillFile
from registry.records.replay_run import Budget
from tests.endpoint.server import KEY, Endpoint
from tests.fleet.fleet_processes import QUICK
from tests.replay.replay_files import write_replay

AMOUNT = {"input_tokens": 10, "output_tokens": 40, "usd": 0.0}


def list_environ(server: Endpoint | None, key: str | None = KEY) -> dict[str, str]:
    """Return what a worker has in its environment."""
    return {"ANTHROPIC_BASE_URL": server.url if server else "http://127.0.0.1:9"} | ({"ANTHROPIC_API_KEY": key} if key else {})


def prepare_run(
    url: str,
    folder: Path,
    server: Endpoint | None = None,
    *,
    tasks: int = 2,
    samples: int = 1,
    budget: Budget | None = None,
    **settings: Any,
) -> tuple[FleetDatabase, str]:
    """Write the plan of a small replay to the fleet and begin a session; return the database and the run's name."""
    folder.mkdir(exist_ok=True)
    file = read_replay(write_replay(folder, tasks=tasks, samples=samples), None)
    planned = build_design(file.replay, file.tasks, file.contexts)
    store = open_store(folder / "small.run", create=True)
    store.add_cells(planned)
    put_replay(store, file.replay, file.tasks)
    run = name_fleet_run(store, "small")
    database = FleetDatabase.open(url)
    wanted = WantedCalls(
        purpose=Purpose.REPLAY,
        calls=[cell.call for cell in planned],
        cells=store.list_cells(),
        documents=store.dump_documents(),
        find_settled=lambda _keys: (),
        before={},
    )
    upload_plan(database, run, wanted, check_server(database, run))
    begin_session(database, run, folder, server, budget=budget, **settings)
    store.close()
    return database, run


def begin_session(
    database: FleetDatabase, run: str, folder: Path, server: Endpoint | None = None, *, budget: Budget | None = None, **settings: Any
) -> int:
    """Begin a session of *run*, as its coordinator does."""
    policy = read_replay(folder / "small.yaml", None).replay.policy
    from importlib.metadata import version

    known = SessionSettings(
        policy=policy,
        base_url=open_endpoint(policy, environ=list_environ(server)).base_url,
        concurrency=8,
        timeout_s=20.0,
        retry_failed=False,
        repeat_lost=False,
        prices={},
        version=version("caveat"),
    )
    return open_session(database, run, replace(known, **settings), budget or Budget(), SpentAmount())


def take(database: FleetDatabase, run: str, number: int = 0, *, worker: str = "one", lease_s: float = 30.0) -> SliceLease:
    """Return the lease on a slice, which must be free."""
    lease = acquire_lease(database, run, number, worker=worker, lease_s=lease_s, now=read_clock())
    assert lease is not None
    return lease


def list_keys(database: FleetDatabase, run: str, number: int = 0) -> list[str]:
    """Return the keys of the calls of a slice."""
    return [key for (key,) in database.fetch("SELECT key FROM fleet.call WHERE run = %s AND slice = %s ORDER BY position", [run, number])]


def send(
    database: FleetDatabase,
    lease: SliceLease,
    *keys: str,
    number: int = 1,
    why: str | None = None,
    ticket: int = 1,
    outputs: Mapping[str, int] = MappingProxyType({}),
    outcomes: Sequence[Mapping[str, Any]] = (),
    **amount: Any,
) -> Any:
    """Run the sending transaction for *keys*; return what it answers.

    *outputs* are output tokens of single calls, *outcomes* those of earlier ones.
    """
    calls = [{"key": key, "round": number, "why": why, **AMOUNT, **amount} for key in keys]
    calls = [{**call, "output_tokens": outputs.get(call["key"], call["output_tokens"])} for call in calls]
    return database.call(
        "SELECT fleet.send(%s, %s, %s, %s, 'one', %s::uuid, '2026-11-20T12:00:00+00:00', 'http://e', 'k', %s::jsonb, %s::jsonb)",
        *(lease.run, lease.session, lease.slice, lease.epoch, f"00000000-0000-0000-0000-{ticket:012}", to_json(calls)),
        to_json(outcomes) if outcomes else None,
    )


def describe_outcome(key: str, failure: str | None = None, *, number: int = 1, request: str = "0" * 64) -> dict[str, Any]:
    """Return an outcome of a call as a worker writes it."""
    response = Response(
        key=key,
        request=request,
        purpose=Purpose.REPLAY,
        model_requested="m",
        model_returned=None if failure else "m",
        text=None if failure else "ok",
        failure=Failure(code=failure, message="injected") if failure else None,
    )
    return {
        "key": key, "round": number, "failure": failure, "requested": "m", "returned": response.model_returned,
        "document": dump_response(response),
        "calls": 1, "input_tokens": 5, "output_tokens": 5, "usd": 0.0,
    }  # fmt: skip


def settle(database: FleetDatabase, run: str, key: str, failure: str | None = None, *, number: int = 1) -> None:
    """Write an outcome of a call."""
    request = database.call("SELECT request FROM fleet.call WHERE run = %s AND key = %s", run, key)
    write_outcome(database, run, describe_outcome(key, failure, number=number, request=request))


def write_outcome(database: FleetDatabase, run: str, outcome: dict[str, Any]) -> None:
    """Write *outcome* as a worker does."""
    database.call("SELECT fleet.settle(%s, 'one', %s::jsonb)", run, to_json([outcome]))


def expire(database: FleetDatabase) -> None:
    """Let every lease end now."""
    database.fetch("UPDATE fleet.lease SET until = '-infinity' WHERE NOT is_released")


def make_place(url: str, folder: Path, environ: Mapping[str, str], *, name: str = "one", lease_s: float = 30.0) -> WorkerPlace:
    """Return the place of a worker in this process; its row is in the database."""
    database = FleetDatabase(url)
    database.fetch(
        "INSERT INTO fleet.worker (worker, version, kinds, slots, facts) VALUES (%s, '0', '{replay}', 1, '{}') ON CONFLICT DO NOTHING",
        [name],
    )
    database.close()
    spill = SpillFile(folder / "spill" / f"{name}.jsonl")
    return WorkerPlace(
        url=url,
        name=name,
        lease_s=lease_s,
        answer_s=30.0,
        clock=read_clock,
        environ=environ,
        send_key_to=(),
        spill=spill,
        patience=QUICK,
    )


def work_on(place: WorkerPlace, run: str, *numbers: int) -> None:
    """Have a worker do the jobs of slices one after the other."""
    handler = ReplayHandler(place)

    async def go() -> None:
        for number in numbers:
            await handler.handle(Job(kind="replay", run=run, slice=number))
        await handler.close()

    asyncio.run(go())
