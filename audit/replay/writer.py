"""Intents and outcomes are written in groups: whatever is waiting when the disk is free, in one transaction each.

A call waits for its intent before it is sent; nobody waits for the loop, and the loop for nobody. What waits is bounded by the calls
that are open.
"""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from audit.replay.database import build_not_writable
from audit.replay.store import Call, Intent, RunStore
from registry.records.response import Response


@dataclass(slots=True)
class _Asked:
    call: Call
    done: "asyncio.Future[Intent]"


@dataclass(slots=True)
class _Settled:
    intent: Intent
    response: Response
    done: "asyncio.Future[None]"


class GroupWriter:
    """Writes to one store from one event loop; closed by leaving its context, when everything is written."""

    def __init__(self, store: RunStore, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock
        self._asked: list[_Asked] = []
        self._settled: list[_Settled] = []
        self._waiting = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="caveat-store")
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._write())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        self._waiting.set()
        if self._task is not None:
            await self._task
        self._thread.shutdown(wait=True)

    async def intend(self, call: Call) -> Intent:
        """Return the intent of *call* once it is on the disk; raises UnavailableError when it cannot be written."""
        done: asyncio.Future[Intent] = asyncio.get_running_loop().create_future()
        self._asked.append(_Asked(call, done))
        self._waiting.set()
        return await done

    async def settle(self, intent: Intent, response: Response) -> None:
        """Return once the outcome is on the disk; raises UnavailableError when it cannot be written."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._settled.append(_Settled(intent, response, done))
        self._waiting.set()
        await done

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while not self._closing or self._asked or self._settled:
            await self._waiting.wait()
            self._waiting.clear()
            # Who no longer waits for an intent will not send the call either.
            asked, self._asked = [one for one in self._asked if not one.done.done()], []
            settled, self._settled = self._settled, []
            writing = loop.run_in_executor(self._thread, self._write_group, asked, settled)
            try:
                # A transaction that has begun is finished, whoever has stopped waiting for it.
                intents = await asyncio.shield(writing)
            except Exception as error:  # noqa: BLE001 (whatever it is, those who wait must hear of it)
                self._fail([*asked, *settled], error)
                continue
            for one, intent in zip(asked, intents, strict=True):
                if not one.done.done():
                    one.done.set_result(intent)
            for two in settled:
                if not two.done.done():
                    two.done.set_result(None)

    def _write_group(self, asked: list[_Asked], settled: list[_Settled]) -> list[Intent]:
        if settled:
            self._store.settle([(one.intent, one.response) for one in settled])
        return self._store.intend([one.call for one in asked], at=self._clock().isoformat()) if asked else []

    def _fail(self, waiting: list[_Asked | _Settled], error: Exception) -> None:
        for one in waiting:
            if not one.done.done():
                is_ours = not isinstance(error, sqlite3.Error)
                one.done.set_exception(error if is_ours else build_not_writable(self._store.path, error))
