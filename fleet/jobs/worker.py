"""One worker: it registers, renews its leases, takes jobs from the queue, and ends in order."""

import asyncio
import json
import os
import platform
import secrets
import socket
from collections.abc import Callable, Collection, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from audit.replay.call_engine import read_clock
from audit.replay.request_pacing import RetryLimits
from fleet.database import DatabaseAwayError, FleetDatabase, open_async, read_meta, repeat_until
from fleet.jobs.piece_slices import PieceHandler, load_kind
from fleet.jobs.replay_slices import KINDS as CALL_KINDS
from fleet.jobs.replay_slices import ReplayHandler
from fleet.jobs.slice_handler import SliceHandler, WorkerPlace
from fleet.pieces import KINDS as PIECE_KINDS
from fleet.queue.job_queue import Job, JobQueue, OpenQueue, QueueStop, choose_timeout, end_tasks, open_queue
from fleet.runs.leases import renew_leases
from fleet.runs.slice_store import SpillFile
from registry.errors import ConflictError

KINDS = (*CALL_KINDS, *PIECE_KINDS)
"""What a worker can be asked to do."""
_RESTART_S = 0.3


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRequest:
    """What a worker is asked to do."""

    url: str
    kinds: tuple[str, ...] = CALL_KINDS
    slots: int = 2
    """Jobs at the same time."""
    spill: Path = Path(".caveat-worker")
    """Folder for answers that the database cannot take now."""
    name: str | None = None
    """None: made of host and process."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    send_key_to: Collection[str] = ()
    clock: Callable[[], datetime] = read_clock
    open_queue: OpenQueue | None = None
    """None: that of the engine that the fleet was initialised with."""
    patience: RetryLimits = field(default_factory=RetryLimits)
    answer_s: float = 30.0
    """Seconds of silence after which the database counts as away. No statement of a worker takes long."""


class WorkerStop:
    """How a worker is asked to end: once, to finish its slices; twice, to finish the calls under way; three times, to leave them."""

    def __init__(self) -> None:
        self.times = 0
        self._listeners: list[Callable[[int], None]] = []

    def request(self) -> None:
        """Ask, once more. To be called in the thread of the event loop."""
        self.times += 1
        for listener in self._listeners:
            listener(self.times)

    def listen(self, listener: Callable[[int], None]) -> None:
        """Call *listener* at each request."""
        self._listeners.append(listener)


def run_in_loop(work: Coroutine[Any, Any, None]) -> None:
    """Run *work* in the fastest event loop of this system. With uvloop, which Windows has not, a call takes a seventh less CPU time."""
    try:
        import uvloop  # noqa: PLC0415 (no other command needs it)
    except ModuleNotFoundError:
        asyncio.run(_run_whole(work))
    else:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_run_whole(work))


async def _run_whole(work: Coroutine[Any, Any, None]) -> None:
    """Do *work*, and end the tasks that libraries leave behind: the loop cancels each of them once only, and waits for it without end."""
    try:
        await work
    finally:
        await end_tasks(asyncio.all_tasks() - {asyncio.current_task()})


async def run_worker(request: WorkerRequest, stop: WorkerStop, tell: Callable[[str], None]) -> None:
    """Work until *stop*.

    Raises:
        UnavailableError: the database cannot be reached at the start, or the engine is not installed.
        ConflictError: the database has no schema of this version.
    """
    database = await asyncio.to_thread(partial(FleetDatabase.open, request.url, answer_s=request.answer_s))
    try:
        worker = _Worker(request, database, await asyncio.to_thread(read_meta, database), tell)
        await worker.run(stop)
    finally:
        database.close()


class _Worker:
    def __init__(self, request: WorkerRequest, database: FleetDatabase, meta: Mapping[str, str], tell: Callable[[str], None]) -> None:
        self._request = request
        self._database = database
        self._tell = tell
        self._lease_s = float(meta["lease_s"])
        name = request.name or f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(3)}"
        equipment = [load_kind(kind).list_equipment() for kind in request.kinds if kind in PIECE_KINDS]
        facts = {
            "host": socket.gethostname(),
            "process": os.getpid(),
            "python": platform.python_version(),
            "equipment": {own[-1].kind: dict(own[-1].versions) for own in equipment},
        }
        self._place = WorkerPlace(
            url=request.url,
            name=name,
            lease_s=self._lease_s,
            answer_s=request.answer_s,
            clock=request.clock,
            environ=request.environ,
            send_key_to=request.send_key_to,
            spill=SpillFile(request.spill / f"{name}.jsonl"),
            facts=json.dumps(facts, sort_keys=True),
            patience=request.patience,
        )
        make = request.open_queue or (lambda url, timeout_s: open_queue(meta["engine"], url, timeout_s))
        self._queue: JobQueue = make(request.url, choose_timeout(self._lease_s))
        self._handlers: dict[str, SliceHandler] = {}
        """By the kind of job: pieces come on a lane that only workers with the same equipment listen to."""
        for own in equipment:
            self._handlers |= dict.fromkeys((entry.lane for entry in own), PieceHandler(self._place, own[-1], slots=request.slots))
        if calls := [kind for kind in request.kinds if kind in CALL_KINDS]:
            self._handlers |= dict.fromkeys(calls, ReplayHandler(self._place))
        self._tasks: set[asyncio.Task[None]] = set()
        self._taking = QueueStop()

    async def run(self, stop: WorkerStop) -> None:
        await asyncio.to_thread(self._register)
        # Answers that earlier processes of this folder could not deliver: late or not, they have been paid for.
        count = await asyncio.to_thread(self._deliver_old, stop)
        if count:
            self._tell(f"delivered {count} answers that were kept while the database was away")
        stop.listen(self._react)
        if stop.times:
            self._react(stop.times)
        self._tell(f"worker {self._place.name}: {', '.join(self._request.kinds)}; ends with SIGTERM")
        keeping = [asyncio.create_task(self._keep()), asyncio.create_task(self._listen())]
        try:
            await self._take()
            while self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            await end_tasks(keeping)
            for handler in set(self._handlers.values()):
                await handler.close()
            self._place.spill.close()
            with suppress(DatabaseAwayError):
                await asyncio.to_thread(
                    self._database.fetch, "UPDATE fleet.worker SET is_ended = true, message = 'ended' WHERE worker = %s", [self._place.name]
                )

    def _register(self) -> None:
        self._database.fetch(
            "INSERT INTO fleet.worker (worker, version, kinds, slots, facts) VALUES (%s, %s, %s, %s, %s) ON CONFLICT (worker) DO UPDATE SET"
            " version = excluded.version, kinds = excluded.kinds, slots = excluded.slots, facts = excluded.facts, is_ended = false,"
            " is_draining = false, seen = clock_timestamp()",
            [self._place.name, version("caveat"), list(self._request.kinds), self._request.slots, self._place.facts],
        )

    def _deliver_old(self, stop: WorkerStop) -> int:
        count = 0
        for path in sorted(self._request.spill.glob("*.jsonl")) if self._request.spill.is_dir() else ():
            spill = SpillFile(path)
            # A file that is locked belongs to a worker who lives.
            with suppress(ConflictError):
                count += repeat_until(partial(spill.deliver, self._database), lambda: stop.times > 0)
                spill.close()
        return count

    def _react(self, times: int) -> None:
        self._place.is_stopping = True
        self._taking.request()
        if times == 1:
            self._tell("ending: finishing the slices under way; a second signal leaves them")
        else:
            self._place.is_leaving = True
            self._place.leave()

    async def _take(self) -> None:
        """Take jobs until asked to stop. An engine that failed is started again: the database comes back, and jobs are put again."""
        while not self._taking.is_set:
            try:
                await self._queue.work(list(self._handlers), self._handle, slots=self._request.slots, stop=self._taking)
            except Exception as error:  # noqa: BLE001 (an engine may raise what it likes; it decides nothing)
                await asyncio.to_thread(self._place.note, self._database, f"the queue was interrupted: {type(error).__name__}")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._taking.event.wait(), _RESTART_S)

    async def _handle(self, job: Job) -> None:
        """Do *job* in a task of its own: an engine that gives up must not cancel calls under way, which are paid for.

        Returns when there is room for another job. The engine counts this one as done then; the lease goes on until it is.
        """
        handler = self._handlers.get(job.kind)
        if handler is None or self._taking.is_set:
            return
        has_room = asyncio.Event()
        task = asyncio.create_task(self._do(handler, job, has_room))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(lambda _task: has_room.set())
        await has_room.wait()

    async def _do(self, handler: SliceHandler, job: Job, has_room: asyncio.Event) -> None:
        # While the database is away a job cannot begin, and one that has begun waits for it by itself.
        with suppress(DatabaseAwayError):
            await handler.handle(job, has_room)

    async def _keep(self) -> None:
        """Renew the leases and show that the worker lives; notice when it is to be drained."""
        while True:
            # Whatever it is (a full disk, a right that is missing), it may pass. Without this task the worker would make no call any more.
            with suppress(Exception):
                if await asyncio.to_thread(self._renew) and not self._place.is_stopping:
                    self._react(1)
            await asyncio.sleep(self._lease_s / 6)

    def _renew(self) -> bool:
        renew_leases(self._database, self._place.name, list(self._place.leases))
        rows = self._database.fetch(
            "UPDATE fleet.worker SET seen = clock_timestamp() WHERE worker = %s RETURNING is_draining", [self._place.name]
        )
        return bool(rows and rows[0][0])

    async def _listen(self) -> None:
        """Hear at once that another worker was refused by an endpoint. Each sending reads the same from a row.

        A connection on which nothing came for five minutes is opened anew: no one says that it was cut.
        """
        while True:
            with suppress(Exception):
                connection = await open_async(self._request.url, schema="fleet")
                async with connection:
                    await connection.execute("LISTEN fleet_pause")
                    async for note in connection.notifies():
                        document = json.loads(note.payload)
                        gate = self._place.gates.get(tuple(document["endpoint"]))
                        if gate is not None:
                            gate.pause(float(document["pause_s"]))
            await asyncio.sleep(1)
