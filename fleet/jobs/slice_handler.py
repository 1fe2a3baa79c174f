"""What all kinds of work have in common at a worker: a job names a slice, whose lease is taken, renewed and released."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

from audit.replay.call_engine import HaltRequest
from audit.replay.request_pacing import RetryLimits
from fleet.database import FleetDatabase, repeat_until
from fleet.limits import RateGate
from fleet.queue.job_queue import Job
from fleet.runs.leases import SliceLease, acquire_lease, release_lease
from fleet.runs.slice_store import SpillFile
from registry.errors import CaveatError

UNABLE_S = 1.0
"""Seconds that a worker which cannot do a slice leaves to the others before it takes another job."""


@dataclass(slots=True, kw_only=True)
class WorkerPlace:
    """What the kinds of work of one worker have in common."""

    url: str
    name: str
    lease_s: float
    answer_s: float
    """Seconds of silence after which the database counts as away."""
    clock: Callable[[], datetime]
    environ: Mapping[str, str]
    send_key_to: Collection[str]
    spill: SpillFile
    facts: str = "{}"
    """The worker's row says this of its machine; a piece repeats it."""
    patience: RetryLimits = field(default_factory=RetryLimits)
    leases: list[SliceLease] = field(default_factory=list)
    """Those that the keeper renews."""
    halts: set[HaltRequest] = field(default_factory=set)
    """Of the runs of calls under way."""
    gates: dict[tuple[str, str], RateGate] = field(default_factory=dict)
    """By address and fingerprint of the key."""
    databases: list[FleetDatabase] = field(default_factory=list)
    """Connections that no slice uses now: a new one costs as much as ten calls."""
    is_stopping: bool = False
    is_leaving: bool = False

    def open_database(self) -> FleetDatabase:
        """Return a database of its own for one thread of work."""
        return FleetDatabase(self.url, answer_s=self.answer_s)

    def note(self, database: FleetDatabase, message: str) -> None:
        """Say in the worker's row what it does or cannot do; a database that is away is not waited for."""
        with suppress(CaveatError):
            database.fetch("UPDATE fleet.worker SET message = %s WHERE worker = %s", [message, self.name])

    def leave(self) -> None:
        """End the runs of calls under way; asked twice, leave what is under way."""
        for halt in self.halts:
            halt.request()


class UnableError(Exception):
    """This worker cannot do slices of the run, for a reason of its own; others may."""

    def __init__(self, error: CaveatError) -> None:
        self.error = error
        super().__init__(str(error))


class SliceHandler(ABC):
    """Does jobs of one kind."""

    def __init__(self, place: WorkerPlace) -> None:
        self._place = place
        self._unable: set[tuple[str, int]] = set()
        """Sessions of runs that this worker cannot work for."""

    async def handle(self, job: Job, has_room: asyncio.Event | None = None) -> None:
        """Do the slice that *job* names; a job for no slice is ignored and counted.

        Args:
            has_room: set as soon as another job can be taken, which may be before the slice is done.
        """
        databases = self._place.databases
        database = databases.pop() if databases else self._place.open_database()
        try:
            await self._handle(database, job, has_room or asyncio.Event())
        finally:
            databases.append(database)

    @abstractmethod
    async def work(self, database: FleetDatabase, lease: SliceLease, has_room: asyncio.Event) -> None:
        """Do the slice of *lease*; raises UnableError where this worker cannot."""

    async def close(self) -> None:
        """Let go of what the slices shared, when none is under way."""
        while self._place.databases:
            self._place.databases.pop().close()

    async def _handle(self, database: FleetDatabase, job: Job, has_room: asyncio.Event) -> None:
        place = self._place
        lease = await asyncio.to_thread(
            acquire_lease, database, job.run, job.slice, worker=place.name, lease_s=place.lease_s, now=place.clock()
        )
        if lease is None:
            await asyncio.to_thread(_count_unknown, database, job)
            return
        if (lease.run, lease.session) in self._unable:
            await asyncio.to_thread(release_lease, database, lease)
            await asyncio.sleep(UNABLE_S)
            return
        place.leases.append(lease)
        message: str | None = None
        try:
            await self.work(database, lease, has_room)
        except UnableError as unable:
            self._unable.add((lease.run, lease.session))
            error = unable.error
            await asyncio.to_thread(place.note, database, f"takes no slice of {lease.run}: {error.code}: {error.faults[0].found}")
        except Exception as error:  # noqa: BLE001 (whatever it is, the row of the slice is to say so)
            message = f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else error!r}"[:300]
        finally:
            # The answers of this slice come before its release: what the next owner finds open counts as lost.
            try:
                await asyncio.to_thread(self._end, database, lease, message)
            finally:
                # Renewed for ever, it would keep every other worker from the slice.
                place.leases.remove(lease)

    def _end(self, database: FleetDatabase, lease: SliceLease, message: str | None) -> None:
        place = self._place

        def end() -> None:
            place.spill.deliver(database)
            release_lease(database, lease, message=message)

        repeat_until(end, lambda: place.is_leaving)


def _count_unknown(database: FleetDatabase, job: Job) -> None:
    """Count a job whose slice is no slice of a run."""
    database.fetch(
        "INSERT INTO fleet.ignored (job) SELECT %s WHERE NOT EXISTS (SELECT FROM fleet.lease WHERE run = %s AND slice = %s)",
        [job.name[:200], job.run, job.slice],
    )
