"""Intents and outcomes are written in groups, so that one sync to the disk serves many calls."""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from audit.records.model_response import Response
from audit.replay.run_store import Call, CallIntent, CallStore, build_not_writable

# Intents and outcomes are written in groups: everything that waits when the disk is free goes into one transaction.
# With one transaction per call, the sync to the disk would limit the throughput.
#
# A call waits for its intent before it is sent. The event loop never waits for the disk. The queue is bounded by the
# number of open calls.


@dataclass(slots=True)
class _IntentEntry:
    call: Call
    done: "asyncio.Future[CallIntent | None]"


@dataclass(slots=True)
class _OutcomeEntry:
    intent: CallIntent
    response: Response
    done: "asyncio.Future[None]"


class GroupWriter:
    """Writes to one store from one event loop; closed by leaving its context, when everything is written."""

    def __init__(self, store: CallStore, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._clock = clock
        self.gather_s = 0.0
        """Seconds that the first entry of a group waits for others: fewer transactions, and a later answer."""
        self._asked: list[_IntentEntry] = []
        self._settled: list[_OutcomeEntry] = []
        self._waiting = asyncio.Event()
        # One thread, so that groups are written one after the other and in the order in which they were collected.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="caveat-store")
        self._task: asyncio.Task[None] | None = None
        self._closing = False

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._write())
        return self

    async def __aexit__(self, *_: object) -> None:
        # Leaving the context writes what still waits: an outcome that is only in memory has been paid for.
        self._closing = True
        self._waiting.set()
        if self._task is not None:
            await self._task
        self._thread.shutdown(wait=True)

    async def intend(self, call: Call) -> CallIntent | None:
        """Return the intent of *call* once it is on the disk, None where the store refuses it; raises UnavailableError."""
        done: asyncio.Future[CallIntent | None] = asyncio.get_running_loop().create_future()
        self._asked.append(_IntentEntry(call, done))
        self._waiting.set()
        return await done

    async def settle(self, intent: CallIntent, response: Response) -> None:
        """Return once the outcome is on the disk; raises UnavailableError when it cannot be written."""
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._settled.append(_OutcomeEntry(intent, response, done))
        self._waiting.set()
        await done

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        while not self._closing or self._asked or self._settled:
            await self._waiting.wait()
            if self.gather_s and not self._closing:
                await asyncio.sleep(self.gather_s)
            self._waiting.clear()
            # A task that was cancelled will not send its call. An intent for it would later count as lost in flight,
            # and as possibly billed.
            entries, self._asked = [entry for entry in self._asked if not entry.done.done()], []
            settled, self._settled = self._settled, []
            writing = loop.run_in_executor(self._thread, self._write_group, entries, settled)
            try:
                # The transaction is finished even if the task that asked for it is cancelled.
                intents = await asyncio.shield(writing)
            except Exception as error:  # noqa: BLE001 (whatever it is, those who wait must hear of it)
                self._fail([*entries, *settled], error)
                continue
            for entry, intent in zip(entries, intents, strict=True):
                if not entry.done.done():
                    entry.done.set_result(intent)
            for two in settled:
                if not two.done.done():
                    two.done.set_result(None)

    def _write_group(self, intent_entries: list[_IntentEntry], settled: list[_OutcomeEntry]) -> Sequence[CallIntent | None]:
        if not (intent_entries or settled):
            return []
        return self._store.write(
            [(entry.intent, entry.response) for entry in settled],
            [entry.call for entry in intent_entries],
            at=self._clock().isoformat(),
        )

    def _fail(self, waiting: list[_IntentEntry | _OutcomeEntry], error: Exception) -> None:
        for item in waiting:
            if not item.done.done():
                is_ours = not isinstance(error, sqlite3.Error)
                item.done.set_exception(error if is_ours else build_not_writable(self._store.path, error))
