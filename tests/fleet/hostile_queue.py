"""A queue that delivers jobs twice, late, out of order or never, between processes: the laws may not rest on the engine."""

import asyncio
import random
from collections import Counter
from collections.abc import Collection, Sequence

from fleet.database import FleetDatabase
from fleet.queue.job_queue import Backlog, Handle, Job, QueueStop

_TABLE = "CREATE TABLE IF NOT EXISTS fleet_queue.hostile (id bigint GENERATED ALWAYS AS IDENTITY, kind text, run text, slice integer)"


class HostileQueue:
    """Keeps the interface, and every promise of it that a queue can break."""

    def __init__(self, url: str, _timeout_s: float, *, seed: int) -> None:
        self._database = FleetDatabase(url)
        self._chance = random.Random(seed)

    def put(self, jobs: Sequence[Job]) -> None:
        """Lose a fifth of *jobs*, and add a fifth twice, and one that names nothing."""
        self._database.fetch(_TABLE)
        rows = [job for job in jobs for _ in range(self._chance.choice([0, 1, 1, 1, 2]))]
        for job in (*rows, Job(kind="replay", run="no-such-run", slice=self._chance.randint(-5, 5))):
            sql = "INSERT INTO fleet_queue.hostile (kind, run, slice) VALUES (%s, %s, %s)"
            self._database.fetch(sql, [job.kind, job.run, job.slice])

    async def work(self, kinds: Collection[str], handle: Handle, *, slots: int, stop: QueueStop) -> None:
        """Deliver jobs in any order; some stay and are delivered again, at the same time too, and some are late."""
        await asyncio.to_thread(self._database.fetch, _TABLE)
        tasks: set[asyncio.Task[None]] = set()
        while not stop.is_set:
            await asyncio.sleep(0.05)
            if len(tasks) >= slots:
                continue
            sql = "SELECT id, kind, run, slice FROM fleet_queue.hostile WHERE kind = ANY (%s) ORDER BY random() LIMIT 1"
            for number, kind, run, slice_ in await asyncio.to_thread(self._database.fetch, sql, [list(kinds)]):
                if self._chance.random() < 0.7:
                    await asyncio.to_thread(self._database.fetch, "DELETE FROM fleet_queue.hostile WHERE id = %s", [number])
                task = asyncio.create_task(self._deliver(handle, Job(kind=kind, run=run, slice=slice_)))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _deliver(self, handle: Handle, job: Job) -> None:
        if self._chance.random() < 0.2:
            await asyncio.sleep(self._chance.uniform(0, 1.5))
        await handle(job)

    def cancel(self, run: str) -> int:  # noqa: ARG002 (as the interface has it)
        """Remove nothing, and say so."""
        return 0

    def look(self, run: str | None = None) -> Backlog:
        """Return what is there, or that nothing is."""
        self._database.fetch(_TABLE)
        rows = [] if self._chance.random() < 0.3 else self._database.fetch("SELECT kind, run, slice FROM fleet_queue.hostile")
        jobs = [Job(kind=row[0], run=row[1], slice=row[2]) for row in rows if run in (None, row[1])]
        return Backlog(waiting=Counter(job.kind for job in jobs), running={}, stalled={}, names=frozenset(job.name for job in jobs))
