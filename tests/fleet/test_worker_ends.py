"""A worker that is asked to end does so, whatever the database and the libraries do at that moment."""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, LiteralString

import psycopg
import pytest

from fleet.database import DatabaseAwayError, FleetDatabase, to_json
from fleet.jobs.worker import run_in_loop
from fleet.queue.job_queue import ENGINES, end_tasks
from tests.endpoint.server import Endpoint, Reply, run_endpoint
from tests.fleet.conftest import NewFleet
from tests.fleet.fleet_processes import start_coordinator, start_worker, work
from tests.fleet.fleet_runs import describe_outcome, prepare_run, send, take
from tests.fleet.silent_proxy import run_proxy
from tests.replay.processes import Started
from tests.replay.replay_files import write_replay

_ANSWER_S = 3.0
_LONGEST_S = 120


def wait_until(is_so: Callable[[], object]) -> None:
    """Return once *is_so*; fail where it does not come to be."""
    deadline = time.monotonic() + _LONGEST_S
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_silent_server_counts_as_away(new_fleet: NewFleet) -> None:
    """A statement that no one answers ends; so does one inside a transaction. The next connection works."""
    url = new_fleet()
    with run_proxy(url) as proxy:
        database = FleetDatabase(proxy.url, answer_s=1.0)
        assert database.call("SELECT 1") == 1
        # A server that works for longer than the limit is silent too; one that sends something now and then is not.
        assert len(database.fetch("SELECT pg_sleep(0.1), repeat('x', 100000) FROM generate_series(1, 15)")) == 15
        with pytest.raises(DatabaseAwayError, match=r"no answer from the server for 1 s"):
            database.fetch("SELECT pg_sleep(60)")
        assert database.call("SELECT 2") == 2

        def ask() -> None:
            with database.transaction() as cursor:
                proxy.silent.set()
                cursor.execute("SELECT 3")

        with pytest.raises(DatabaseAwayError, match=r"no answer from the server for 1 s"):
            ask()
        database.close()


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_an_idle_worker_ends_before_a_silent_database(new_fleet: NewFleet, tmp_path: Path, engine: str) -> None:
    """From the first signal on, the database answers nothing: neither the engine nor the last statements are waited for without end."""
    url = new_fleet(engine)
    database = FleetDatabase(url)
    with run_endpoint(Endpoint()) as endpoint, run_proxy(url) as proxy:
        worker = start_worker(proxy.url, endpoint, tmp_path, name="one", answer_s=_ANSWER_S)
        # The worker's own two, and one of the engine at least.
        sql: LiteralString = "SELECT count(*) > 3 FROM pg_stat_activity WHERE datname = current_database()"
        wait_until(lambda: database.call(sql))
        proxy.silent.set()
        worker.send_signal(signal.SIGTERM)
        _, err = worker.communicate(timeout=_LONGEST_S)
    database.close()

    assert worker.returncode == 0, err


@pytest.mark.slow
def test_a_second_signal_ends_a_worker_with_calls_before_a_silent_database(new_fleet: NewFleet, tmp_path: Path) -> None:
    """After the first one it waits for the database, because its answers have been paid for; they are on its disk when it ends."""
    url = new_fleet(lease_s=5.0)
    write_replay(tmp_path, tasks=4)
    answering: list[int] = []

    with run_proxy(url) as proxy:

        def answer(_asked: object) -> Reply:
            proxy.silent.set()
            answering.append(1)
            return Reply(delay_s=0.2)

        with run_endpoint(Endpoint(script=answer)) as endpoint:
            coordinator = start_coordinator(url, endpoint, tmp_path)
            worker = start_worker(proxy.url, endpoint, tmp_path, name="one", answer_s=_ANSWER_S)
            wait_until(lambda: answering)
            for _ in range(2):
                worker.send_signal(signal.SIGTERM)
                time.sleep(0.1)
            _, err = worker.communicate(timeout=_LONGEST_S)
            coordinator.send_signal(signal.SIGKILL)
            coordinator.communicate(timeout=_LONGEST_S)

    kept = [json.loads(line)["outcome"] for line in (tmp_path / "spill" / "one.jsonl").read_text(encoding="utf-8").splitlines()]
    assert worker.returncode == 0, err
    assert sum(outcome["failure"] is None for outcome in kept) == len(answering)


@pytest.mark.slow
def test_a_worker_ends_while_it_delivers_old_answers(new_fleet: NewFleet, tmp_path: Path) -> None:
    """The database falls silent as the first of them comes: a signal ends the worker, and the answer stays on its disk."""
    url = new_fleet()
    database, run = prepare_run(url, tmp_path)
    key = database.call("SELECT key FROM fleet.call LIMIT 1")
    send(database, take(database, run), key)
    database.close()
    old = tmp_path / "spill" / "old.jsonl"
    old.parent.mkdir()
    old.write_text(to_json({"run": run, "worker": "old", "outcome": describe_outcome(key)}) + "\n", encoding="utf-8")
    with run_endpoint(Endpoint()) as endpoint, run_proxy(url, silent_at=b"fleet.settle") as proxy:
        worker = start_worker(proxy.url, endpoint, tmp_path, name="one", answer_s=_ANSWER_S)
        proxy.silent.wait(_LONGEST_S)
        worker.send_signal(signal.SIGTERM)
        _, err = worker.communicate(timeout=_LONGEST_S)

    assert "fleet-database-away" in err or "DatabaseAwayError" in err
    assert old.read_text(encoding="utf-8").count("\n") == 1


def test_a_lost_cancellation_is_repeated() -> None:
    """A task that goes on once ends; one that never obeys is left alone."""

    async def go_on(times: int) -> None:
        for _ in range(times):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)

    async def go() -> tuple[bool, bool]:
        deaf, stubborn = (asyncio.create_task(go_on(times)) for times in (2, 1000))
        await asyncio.sleep(0)
        await end_tasks([deaf, stubborn], patience_s=0.01)
        ended = deaf.done(), stubborn.done()
        while not stubborn.done():
            stubborn.cancel()
            await asyncio.sleep(0)
        return ended

    assert asyncio.run(go()) == (True, False)


@pytest.mark.parametrize("steps", range(6))
def test_a_wait_that_ends_as_it_is_cancelled_is_ended(steps: int) -> None:
    """Python 3.11 drops the cancellation of `asyncio.wait_for` at one of these steps of the loop, so that a loop around it goes on."""

    async def go_on(event: asyncio.Event) -> None:
        while True:
            await asyncio.wait_for(event.wait(), 3600)
            event.clear()

    async def go() -> bool:
        event = asyncio.Event()
        task = asyncio.create_task(go_on(event))
        await asyncio.sleep(0.01)
        event.set()
        for _ in range(steps):
            await asyncio.sleep(0)
        await end_tasks([task], patience_s=0.01)
        return task.done()

    assert asyncio.run(go())


def work_with_lost_cancellation(url: str, folder: str) -> None:
    """Do as a worker whose listener loses its first cancellation: psycopg before 3.3.6 does, rarely, on Python 3.11."""
    listen = psycopg.AsyncConnection.notifies

    async def go_on(connection: psycopg.AsyncConnection, **how: Any) -> AsyncGenerator[psycopg.Notify]:
        try:
            async for note in listen(connection, **how):
                yield note
        except asyncio.CancelledError:
            await asyncio.sleep(3600)

    psycopg.AsyncConnection.notifies = go_on  # type: ignore[assignment, method-assign]
    work(url, folder, "one", {"slots": 1})


@pytest.mark.parametrize("engine", ENGINES)
def test_a_worker_whose_listener_loses_its_cancellation_ends(new_fleet: NewFleet, tmp_path: Path, engine: str) -> None:
    """Once in some thousand times, a worker waited for its listener for ever."""
    url = new_fleet(engine)
    database = FleetDatabase(url)
    worker = Started(work_with_lost_cancellation, url, str(tmp_path), folder=tmp_path, environ=dict(os.environ))
    sql: LiteralString = "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN fleet_pause'"
    wait_until(lambda: database.call(sql))
    worker.send_signal(signal.SIGTERM)
    _, err = worker.communicate(timeout=_LONGEST_S)
    database.close()

    assert worker.returncode == 0, err


def leave_task() -> None:
    """End a worker's loop in which a task of a library goes on after its first cancellation."""

    async def go_on() -> None:
        for _ in range(2):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)

    async def go() -> None:
        leave_task.task = asyncio.create_task(go_on())  # type: ignore[attr-defined]
        await asyncio.sleep(0)

    run_in_loop(go())


def test_a_task_that_a_library_leaves_does_not_keep_the_process(tmp_path: Path) -> None:
    """The event loop alone would cancel it once, and wait for it for ever."""
    process = Started(leave_task, folder=tmp_path, environ=dict(os.environ))
    process.communicate(timeout=20)

    assert process.returncode == 0


def test_an_error_of_the_database_does_not_end_the_renewal(new_fleet: NewFleet, tmp_path: Path) -> None:
    """A full disk for a moment: afterwards the worker hears again that it is to be drained, and ends."""
    url = new_fleet()
    with run_endpoint(Endpoint()) as endpoint, psycopg.connect(url, autocommit=True) as connection:
        worker = start_worker(url, endpoint, tmp_path, name="one")
        wait_until(lambda: connection.execute("SELECT count(*) FROM fleet.worker").fetchone() == (1,))
        connection.execute("CREATE SEQUENCE refused")
        # The count stays, although the statement is taken back.
        connection.execute(
            "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
            " $$ BEGIN PERFORM nextval('public.refused'); RAISE EXCEPTION 'full' USING ERRCODE = 'disk_full'; END $$"
        )
        connection.execute("CREATE TRIGGER refuse BEFORE UPDATE ON fleet.worker EXECUTE FUNCTION public.refuse()")
        wait_until(lambda: connection.execute("SELECT is_called FROM refused").fetchone() == (True,))
        connection.execute("DROP TRIGGER refuse ON fleet.worker")
        connection.execute("UPDATE fleet.worker SET is_draining = true")
        worker.communicate(timeout=_LONGEST_S)

    assert worker.returncode == 0
