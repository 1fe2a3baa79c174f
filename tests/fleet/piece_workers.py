"""Workers of pure work in threads of this process, and what a coordinator gets from them."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fleet.jobs.worker import WorkerRequest, WorkerStop, run_worker
from fleet.pieces import DRAW, ESTIMATE, SCORE

PURE = (SCORE, ESTIMATE, DRAW)


class ThreadWorker:
    """A worker in a thread, with its own event loop, as in a process of its own."""

    def __init__(self, url: str, folder: Path, *, name: str, kinds: Sequence[str], slots: int, **more: Any) -> None:
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop = WorkerStop()
        self._request = WorkerRequest(url=url, name=name, kinds=tuple(kinds), slots=slots, spill=folder / "spill", **more)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self._thread.start()
        self._ready.wait(30)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        await run_worker(self._request, self._stop, lambda _message: self._ready.set())

    def end(self) -> None:
        """Ask it to finish its slices, and wait until it has."""
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._stop.request)
        self._thread.join(60)
        assert not self._thread.is_alive()


@contextmanager
def working(url: str, folder: Path, count: int, *, kinds: Sequence[str] = PURE, slots: int = 1, **more: Any) -> Iterator[None]:
    """Have *count* workers at work."""
    workers = [ThreadWorker(url, folder, name=f"worker-{number}", kinds=kinds, slots=slots, **more) for number in range(count)]
    try:
        yield
    finally:
        for worker in workers:
            worker.end()
