"""The engine procrastinate: of all it can do, only to keep jobs and to hand them out."""

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import procrastinate
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException

from fleet.database import AsyncConnection, SyncConnection, join_search_path
from fleet.queue.job_queue import SCHEMA, Backlog, Handle, Job, QueueStop, end_tasks

_TASK = "fleet"
_PATIENCE_S = 2.0
"""Seconds that jobs have to end in order."""
_END_S = 5.0
"""Seconds that the engine has to write their states; the database may not answer."""
# Its own log repeats every cut connection with a traceback. What matters of it is in the tables of the fleet.
logging.getLogger("procrastinate").setLevel(logging.CRITICAL)
logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)


def install(url: str) -> None:
    """Create the tables of procrastinate in its schema."""
    with _open_sync(url) as app:
        app.schema_manager.apply_schema()


def open_queue(url: str, timeout_s: float) -> "ProcrastinateQueue":
    """Return the queue in the database at *url*; workers that are silent for *timeout_s* seconds are taken for dead."""
    return ProcrastinateQueue(url, timeout_s)


@contextmanager
def _open_sync(url: str) -> Iterator[procrastinate.App]:
    app = procrastinate.App(
        connector=procrastinate.SyncPsycopgConnector(
            conninfo=join_search_path(url, SCHEMA), connection_class=SyncConnection, min_size=1, max_size=1, timeout=5
        )
    )
    with app.open():
        yield app


class ProcrastinateQueue:
    """Jobs as procrastinate keeps them; the kind is its queue, the name its queueing lock."""

    def __init__(self, url: str, timeout_s: float) -> None:
        self._url = url
        self._timeout_s = timeout_s

    def put(self, jobs: Sequence[Job]) -> None:
        """Add *jobs*; a waiting job of the same name is not added again."""
        with _open_sync(self._url) as app:
            for job in jobs:
                deferrer = app.configure_task(_TASK, queue=job.kind, queueing_lock=job.name, allow_unknown=True)
                with contextlib.suppress(AlreadyEnqueued):
                    deferrer.defer(kind=job.kind, run=job.run, slice=job.slice)

    async def work(self, kinds: Collection[str], handle: Handle, *, slots: int, stop: QueueStop) -> None:
        """Run *handle* for jobs of *kinds* until *stop*."""
        size = slots + 4
        app = procrastinate.App(
            connector=procrastinate.PsycopgConnector(
                conninfo=join_search_path(self._url, SCHEMA), connection_class=AsyncConnection, min_size=1, max_size=size, timeout=5
            )
        )

        @app.task(name=_TASK)
        async def run(**payload: Any) -> None:
            # A payload that names nothing is for the handler to ignore and to count.
            await handle(Job(kind=str(payload.get("kind")), run=str(payload.get("run")), slice=_read_number(payload.get("slice"))))

        async with app.open_async():
            sweep = asyncio.create_task(self._sweep(app))
            worker = asyncio.create_task(
                app.run_worker_async(
                    queues=list(kinds),
                    concurrency=slots,
                    install_signal_handlers=False,
                    delete_jobs="always",
                    fetch_job_polling_interval=min(1.0, self._timeout_s / 2),
                    update_heartbeat_interval=self._timeout_s / 3,
                    stalled_worker_timeout=self._timeout_s,
                    # Jobs under way go on without the engine. It must not keep the worker from new ones until they are done.
                    shutdown_graceful_timeout=_PATIENCE_S,
                )
            )
            stopping = asyncio.create_task(stop.event.wait())
            try:
                await asyncio.wait([sweep, worker, stopping], return_when=asyncio.FIRST_COMPLETED)
            finally:
                await end_tasks([sweep, stopping, worker], patience_s=_END_S)
        for task in (sweep, worker):
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                raise error

    async def _sweep(self, app: procrastinate.App) -> None:
        """Put jobs of dead workers back. A loop of our own: as a job, it would wait for the workers that it is to replace."""
        while True:
            await asyncio.sleep(self._timeout_s / 2)
            # A cut connection is no reason to end the worker, whose jobs go on.
            with contextlib.suppress(ConnectorException):
                for job in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=self._timeout_s):
                    # Another worker may have swept it, or a job of the same name waits already.
                    with contextlib.suppress(ConnectorException):
                        await app.job_manager.retry_job(job)
                await app.job_manager.prune_stalled_workers(self._timeout_s)

    def cancel(self, run: str) -> int:
        """Remove the waiting jobs of *run*; return how many there were."""
        with _open_sync(self._url) as app:
            jobs = [job for job in app.job_manager.list_jobs(status="todo") if job.task_kwargs.get("run") == run and job.id is not None]
            return sum(app.job_manager.cancel_job_by_id(job.id, delete_job=True) for job in jobs if job.id is not None)

    def look(self, run: str | None = None) -> Backlog:
        """Return what the queue holds, of *run* or in all."""
        with _open_sync(self._url) as app:
            jobs = [
                job
                for status in ("todo", "doing")
                for job in app.job_manager.list_jobs(status=status)
                if run is None or job.task_kwargs.get("run") == run
            ]
        counts = {status: Counter(job.queue for job in jobs if job.status == status) for status in ("todo", "doing")}
        stalled = Counter(job.queue for job in jobs if job.status == "doing" and job.worker_id is None)
        names = frozenset(
            f"{job.queue}:{job.task_kwargs.get('run')}:{job.task_kwargs.get('slice')}" for job in jobs if job.status == "todo"
        )
        return Backlog(waiting=counts["todo"], running=counts["doing"], stalled=stalled, names=names)


def _read_number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1
