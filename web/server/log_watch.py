"""Waiting for the next entry of the log: any number of readers share one look at it, and none holds a thread while it waits."""

import asyncio
import time
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool

_INTERVAL_S = 0.25


class LogWatch:
    """Lets requests wait until the log has grown; use it in one event loop."""

    def __init__(self, read_size: Callable[[], int]) -> None:
        self._read_size = read_size
        self._reading: asyncio.Task[int] | None = None
        self._begun = 0.0

    async def wait(self, after: int, seconds: int) -> None:
        """Return when the log has another size than *after*, or after so many seconds. Who names a size beyond the end need not wait.

        Raises:
            CaveatError: the log cannot be read.
        """
        deadline = time.monotonic() + seconds
        while await self._find_size() == after and (left := deadline - time.monotonic()) > 0:  # noqa: ASYNC110  (another process writes)
            await asyncio.sleep(min(_INTERVAL_S, left))

    async def _find_size(self) -> int:
        now = time.monotonic()
        if self._reading is None or (self._reading.done() and now - self._begun >= _INTERVAL_S):
            self._begun = now
            self._reading = asyncio.create_task(run_in_threadpool(self._read_size))
        # A reader that goes away must not end the look of the others.
        return await asyncio.shield(self._reading)
