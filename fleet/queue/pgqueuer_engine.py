"""The engine pgqueuer, behind the same four functions."""

import asyncio
import json
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from pgqueuer.core.qm import QueueManager
from pgqueuer.domain.models import Job as EngineJob
from pgqueuer.queries import Queries

from fleet.database import FleetDatabase, open_async
from fleet.queue.job_queue import SCHEMA, Backlog, Handle, Job, QueueStop, end_tasks

logging.getLogger("pgqueuer").setLevel(logging.CRITICAL)
_BATCH = 1
_PATIENCE_S = 2.0
"""Seconds that the engine has to end in order."""
_T = TypeVar("_T")


def install(url: str) -> None:
    """Create the tables of pgqueuer in its schema."""
    asyncio.run(_use(url, lambda queries: queries.install()))


def open_queue(url: str, timeout_s: float) -> "PgqueuerQueue":
    """Return the queue in the database at *url*; workers that are silent for *timeout_s* seconds are taken for dead."""
    return PgqueuerQueue(url, timeout_s)


async def _use(url: str, action: Callable[[Queries], Awaitable[_T]]) -> _T:
    connection = await open_async(url, schema=SCHEMA)
    async with connection:
        return await action(Queries.from_psycopg_connection(connection))


class PgqueuerQueue:
    """Jobs as pgqueuer keeps them; the kind is its entry point, the name its dedupe key."""

    def __init__(self, url: str, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s

    def put(self, jobs: Sequence[Job]) -> None:
        """Add *jobs*; a waiting job of the same name is not added again."""
        if not jobs:
            return
        payloads: list[bytes | None] = [json.dumps({"kind": job.kind, "run": job.run, "slice": job.slice}).encode() for job in jobs]
        names: list[str | None] = [job.name for job in jobs]
        # A job is put where its slice is free. One of the same name that was picked is a dead worker's, and would keep this one out until
        # the engine takes that worker for dead.
        database = FleetDatabase(self._url)
        try:
            database.fetch("DELETE FROM fleet_queue.pgqueuer WHERE status = 'picked' AND dedupe_key = ANY (%s)", [names])
        finally:
            database.close()

        async def add(queries: Queries) -> object:
            kinds = [job.kind for job in jobs]
            return await queries.enqueue(kinds, payloads, [0] * len(jobs), dedupe_key=names, on_conflict="skip")

        asyncio.run(_use(self._url, add))

    async def work(self, kinds: Collection[str], handle: Handle, *, slots: int, stop: QueueStop) -> None:
        """Run *handle* for jobs of *kinds* until *stop*."""
        connection = await open_async(self._url, schema=SCHEMA)
        try:
            manager = QueueManager(Queries.from_psycopg_connection(connection))

            async def run(job: EngineJob) -> None:
                await handle(_read_job(job))

            for kind in kinds:
                manager.entrypoint(kind)(run)
            stopping = asyncio.create_task(stop.event.wait())
            working = asyncio.create_task(
                manager.run(
                    dequeue_timeout=timedelta(seconds=min(1.0, self._timeout_s / 2)),
                    batch_size=_BATCH,
                    # The engine asks for twice the size of a batch at least.
                    max_concurrent_tasks=max(2 * _BATCH, slots),
                    shutdown_on_listener_failure=True,
                    heartbeat_timeout=timedelta(seconds=self._timeout_s),
                    log_aggregation_interval=timedelta(0),
                )
            )
            watching = asyncio.create_task(_wait_for_cut(connection))
            try:
                await asyncio.wait([stopping, working, watching], return_when=asyncio.FIRST_COMPLETED)
                manager.shutdown.set()
                # After a cut the engine tries for ever to write down what it did. Its jobs go on without it, and are handed out again.
                await asyncio.wait([working], timeout=_PATIENCE_S)
            finally:
                await end_tasks([stopping, watching, working], patience_s=_PATIENCE_S)
            if working.done() and not working.cancelled() and (error := working.exception()) is not None:
                raise error
        finally:
            # Not as a context: its end would wait for a statement that no one answers.
            await connection.close()

    def cancel(self, run: str) -> int:
        """Remove the waiting jobs of *run*; return how many there were."""
        database = FleetDatabase(self._url)
        try:
            rows = database.fetch(
                "DELETE FROM fleet_queue.pgqueuer WHERE status = 'queued' AND split_part(dedupe_key, ':', 2) = %s RETURNING id",
                [run],
            )
        finally:
            database.close()
        return len(rows)

    def look(self, run: str | None = None) -> Backlog:
        """Return what the queue holds, of *run* or in all."""
        database = FleetDatabase(self._url)
        try:
            rows = database.fetch(
                "SELECT status::text, entrypoint, dedupe_key, heartbeat < now() - make_interval(secs => %s) FROM fleet_queue.pgqueuer"
                " WHERE status IN ('queued', 'picked')",
                [self._timeout_s],
            )
        finally:
            database.close()
        mine = [row for row in rows if run is None or str(row[2]).split(":")[1:2] == [run]]
        running = [row for row in mine if row[0] == "picked"]
        return Backlog(
            waiting=Counter(row[1] for row in mine if row[0] == "queued"),
            running=Counter(row[1] for row in running),
            stalled=Counter(row[1] for row in running if row[3]),
            names=frozenset(row[2] for row in mine if row[0] == "queued"),
        )


async def _wait_for_cut(connection: Any) -> None:
    """Return once *connection* is of no use any more."""
    while not connection.closed:  # noqa: ASYNC110 (psycopg has no event for a cut)
        await asyncio.sleep(0.5)


def _read_job(job: EngineJob) -> Job:
    try:
        payload: Any = json.loads(job.payload or b"{}")
    except ValueError:
        payload = {}
    document = payload if isinstance(payload, dict) else {}
    number = document.get("slice")
    return Job(kind=str(document.get("kind")), run=str(document.get("run")), slice=number if type(number) is int else -1)
