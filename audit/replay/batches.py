"""Calls made by Message Batches: written down, submitted in chunks, waited for, and settled; nothing is submitted twice after a crash.

A chunk is written down with its intents before it is submitted, and the batch's identifier after. When the process dies in between, the
endpoint's own list of batches says whether the chunk was accepted. Waiting can be left at any time: the batches run at the endpoint.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from audit.model import SAMPLING, Endpoint, ModelError, Trouble, build_key_refused, build_unreachable
from audit.replay.batch_calls import BatchView, cancel_batch, find_batch, is_certain, read_results, submit_batch
from audit.replay.batch_chunks import (
    MOST_BYTES,
    MOST_REQUESTS,
    Chunk,
    list_open_chunks,
    split_calls,
    write_accepted,
    write_chunk,
    write_closed,
)
from audit.replay.batch_recovery import search_chunk
from audit.replay.batch_results import ChunkReader
from audit.replay.store import Call, Intent, RunStore
from registry.codec.canonical import Json
from registry.errors import Fault, InputError, NotFoundError
from registry.records.response import Failure, Response

_GROWTH = 1.5
"""How much longer each wait is than the one before."""
_READINGS = 3
"""Times that results which lack a request are read before it counts as missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSettings:
    """How calls are put into batches, and how these are waited for."""

    requests: int = 10_000
    """Most requests in one batch; the API takes 100,000. Smaller ones come back sooner, and lose less when one expires."""
    bytes: int = 128 * 2**20
    """Most bytes of one submission."""
    first_wait_s: float = 5.0
    longest_wait_s: float = 120.0
    grace_s: float = 60.0
    """Seconds after a submission was written down until the endpoint's list is believed when the batch is not on it."""
    patience: int = 8
    """Failed questions to the endpoint in a row, after which the run ends and says how to come back."""
    repeat_failed: bool = False
    repeat_lost: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.requests <= MOST_REQUESTS:
            raise ValueError(f"a batch has 1 to {MOST_REQUESTS} requests, got {self.requests}")
        if not 1 <= self.bytes <= MOST_BYTES:
            raise ValueError(f"a batch has up to {MOST_BYTES} bytes, got {self.bytes}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What a run is surrounded by: clock, waiting, and whom it talks to."""

    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    should_stop: Callable[[], bool] = lambda: False
    tell: Callable[[str], None] = lambda _text: None
    progress: Callable[[int], None] = lambda _more: None
    """Told how many more calls are done at the endpoint."""


@dataclass
class BatchSummary:
    """What became of the calls."""

    submitted: int = 0
    """Requests in batches submitted by this run."""
    already: int = 0
    """Calls that had an outcome, or were under way, before."""
    lost: int = 0
    """Calls of an earlier run that may have been made, and of which nobody can say; not repeated."""
    counts: Counter[str] = field(default_factory=Counter)
    """Results settled, by kind: those of the API, and missing, unknown, repeated, unreadable, other_model."""
    running: tuple[str, ...] = ()
    """Batches that are still being worked on at the endpoint; running again waits for them."""


async def run_batches(
    store: RunStore, calls: Iterable[Call], endpoint: Endpoint, settings: BatchSettings, around: Around | None = None
) -> BatchSummary:
    """Make *calls* by Message Batches and settle each of them in *store*; those that have an outcome are not made again.

    First come the batches that an earlier run left behind, then the rest. When `around.should_stop` says so, the batches are left
    running and named in the summary.

    Raises:
        InputError: the endpoint takes no batches, or calls set sampling parameters that its API version does not take.
        NotFoundError: the endpoint does not know a batch any more; `repeat_lost` gives it up.
        UnavailableError: the key is refused, or the endpoint does not answer; batches go on running.
    """
    run = _Run(store, endpoint, settings, around or Around())
    await run.resume()
    await run.submit(calls)
    return await run.wait()


async def cancel_batches(store: RunStore, endpoint: Endpoint) -> list[str]:
    """Ask the endpoint to stop working on every batch of *store* that is under way, and return them; raises ModelError."""
    chunks, _ = list_open_chunks(store)
    return [(await cancel_batch(endpoint, chunk.batch)).id for chunk in chunks if chunk.batch is not None]


class _Run:
    """One run: the chunks that are open, and what was found of them."""

    def __init__(self, store: RunStore, endpoint: Endpoint, settings: BatchSettings, around: Around) -> None:
        self._store = store
        self._endpoint = endpoint
        self._settings = settings
        self._around = around
        self._summary = BatchSummary()
        self._open, self._number = list_open_chunks(store)
        self._foreign: dict[int, set[str]] = {}
        self._done: Counter[int] = Counter()
        self._sends: Counter[int] = Counter()
        self._tried: dict[int, datetime] = {}
        self._begun = self._around.clock()
        self._failures = 0

    # What an earlier run left behind

    async def resume(self) -> None:
        """Drop chunks that were written down and never submitted; tell of those that go on."""
        for chunk in list(self._open):
            waiting = chunk.find_open(self._store)
            if chunk.batch is None and not waiting:
                self._close(chunk, "never submitted", {})
            elif chunk.batch is None:
                self._around.tell(
                    f"{chunk.name}: {len(waiting)} calls were about to be submitted when the run ended; looking for their batch"
                )
            else:
                self._around.tell(f"{chunk.name}: waiting for batch {chunk.batch} again")

    # Submission

    async def submit(self, calls: Iterable[Call]) -> None:
        """Submit what of *calls* has no outcome yet and is not under way."""
        settings = self._settings
        for chunk_calls in split_calls(self._list_pending(calls), most=settings.requests, most_bytes=settings.bytes):
            if self._around.should_stop():
                return
            self._check_sampling(chunk_calls)
            self._number += 1
            at = self._around.clock()
            chunk, intents = write_chunk(self._store, chunk_calls, number=self._number, endpoint=self._endpoint.base_url, at=at)
            self._open.append(chunk)
            await self._send(chunk, {call.key: call.body for call in chunk_calls}, intents)

    def _list_pending(self, calls: Iterable[Call]) -> Iterator[Call]:
        under_way = {key for chunk in self._open for key in chunk.keys}
        lost = {intent.key for intent in self._store.list_lost()} - under_way
        for call in calls:
            settled = bool(self._store.find_settled([call.key], failed=not self._settings.repeat_failed))
            if settled or call.key in under_way:
                self._summary.already += 1
            elif call.key in lost and not self._settings.repeat_lost:
                self._summary.lost += 1
            else:
                yield call

    def _check_sampling(self, calls: Iterable[Call]) -> None:
        set_names = {name for call in calls for name in SAMPLING if name in call.body}
        if set_names and self._endpoint.api_version >= "2026-10-21":
            version = self._endpoint.api_version
            found = f"cannot be set under API version {version}, and one version holds for a whole batch"
            advice = "set policy.api_version: '2023-06-01', or leave it out"
            faults = [Fault(code="sampling-not-settable", where=f"policy.{name}", found=found, advice=advice) for name in sorted(set_names)]
            raise InputError(faults)

    async def _send(self, chunk: Chunk, bodies: Mapping[str, Mapping[str, Json]], intents: Iterable[Intent]) -> None:
        """Submit *chunk* until the endpoint takes it or refuses it; when nobody knows what it did, it stays open to be looked for."""
        requests = [(custom_id, bodies[key]) for custom_id, key in chunk.custom_ids.items() if key in bodies]
        wait_s = self._settings.first_wait_s
        for attempt in range(self._settings.patience):
            self._tried[chunk.number] = self._around.clock()
            self._sends[chunk.number] += 1
            try:
                view = await submit_batch(self._endpoint, requests)
            except ModelError as error:
                if not is_certain(error):
                    if self._sends[chunk.number] >= self._settings.patience:
                        raise build_unreachable(self._endpoint, error) from error
                    self._around.tell(f"{chunk.name}: the submission's answer was lost ({error.message}); looking for its batch")
                    return
                if not error.is_passing or attempt + 1 == self._settings.patience:
                    self._refuse(chunk, intents, error)
                await self._pause(max(wait_s, min(error.retry_after_s or 0.0, self._settings.longest_wait_s)))
                wait_s *= _GROWTH
            else:
                self._accept(chunk, view, adopted=False)
                self._summary.submitted += len(requests)
                return

    def _accept(self, chunk: Chunk, view: BatchView, *, adopted: bool) -> None:
        write_accepted(self._store, chunk, batch=view.id, created_at=view.created_at, adopted=adopted)
        self._open[self._open.index(chunk)] = replace(chunk, batch=view.id)
        how = "was found again as" if adopted else "was submitted as"
        self._around.tell(f"{chunk.name}: {len(chunk.keys)} calls: {how} {view.id}")

    def _refuse(self, chunk: Chunk, intents: Iterable[Intent], error: ModelError) -> None:
        """Settle a chunk that the endpoint did not take, and end the run: the next chunk would fare no better."""
        self._fail(intents, Failure(code="not-accepted", message=error.message), batch=None)
        self._close(chunk, "not accepted", {})
        if error.trouble is Trouble.KEY_REFUSED:
            raise build_key_refused(self._endpoint, error)
        if error.trouble in (Trouble.UNREACHABLE, Trouble.RATE_LIMITED, Trouble.OVERLOADED):
            raise build_unreachable(self._endpoint, error)
        found = f"the endpoint does not take this batch of {len(chunk.keys)} calls (HTTP {error.status}): {error.message}"
        advice = "an endpoint without Message Batches is asked one call at a time; a batch that is too large wants fewer requests"
        raise InputError(Fault(code="batch-refused", where=self._endpoint.base_url, found=found, advice=advice))

    # Waiting

    async def wait(self) -> BatchSummary:
        """Visit the open chunks until none is left, or somebody says stop."""
        wait_s = self._settings.first_wait_s
        while self._open:
            for chunk in list(self._open):
                if not self._around.should_stop():
                    await self._visit(chunk)
            if not self._open or self._around.should_stop():
                break
            await self._pause(wait_s)
            wait_s = min(wait_s * _GROWTH, self._settings.longest_wait_s)
        self._summary.running = tuple(chunk.batch or chunk.name for chunk in self._open)
        return self._summary

    async def _visit(self, chunk: Chunk) -> None:
        try:
            if chunk.batch is None:
                await self._look_for(chunk)
            else:
                await self._look_at(chunk, chunk.batch)
            self._failures = 0
        except ModelError as error:
            self._bear(chunk, error)

    async def _look_for(self, chunk: Chunk) -> None:
        known = self._foreign.setdefault(chunk.number, self._list_known())
        try:
            search = await search_chunk(self._endpoint, chunk, known=known)
        except ModelError as error:
            if error.status not in (404, 405, 501):
                raise
            self._give_up(chunk, f"the endpoint does not list its batches (HTTP {error.status}), so nobody can say whether they were made")
            return
        if search.found is not None:
            self._accept(chunk, search.found, adopted=True)
        elif search.is_conclusive and self._is_grace_over(chunk):
            self._around.tell(f"{chunk.name}: the endpoint has no such batch, so it was never accepted; submitting it again")
            intents = list(chunk.find_open(self._store).values())
            bodies = {intent.key: self._store.get_request(intent.request) for intent in intents}
            await self._send(chunk, bodies, intents)

    async def _look_at(self, chunk: Chunk, batch: str) -> None:
        view = await find_batch(self._endpoint, batch)
        self._around.progress(view.done - self._done[chunk.number])
        self._done[chunk.number] = view.done
        if view.is_archived:
            self._give_up(chunk, f"batch {batch} is archived: its results can no longer be read")
        elif view.ended_at is not None:
            await self._read(chunk, view)

    async def _read(self, chunk: Chunk, view: BatchView) -> None:
        reader = ChunkReader(self._store, chunk, view)
        for _ in range(_READINGS):
            async with aclosing(read_results(self._endpoint, view.id)) as lines:
                await reader.read(lines)
            if reader.is_complete:
                break
        reader.close()
        counts = {kind: count for kind, count in sorted(reader.counts.items()) if count}
        self._summary.counts.update(counts)
        self._close(chunk, "read", counts)
        self._around.tell(f"{chunk.name}: {view.id} has ended: {', '.join(f'{count} {kind}' for kind, count in counts.items())}")

    # What goes wrong

    def _bear(self, chunk: Chunk, error: ModelError) -> None:
        """Pass over a failed question, unless it says that asking again is of no use."""
        if error.trouble is Trouble.KEY_REFUSED:
            raise build_key_refused(self._endpoint, error)
        if error.trouble is Trouble.NOT_FOUND and chunk.batch is not None:
            if self._settings.repeat_lost:
                self._give_up(chunk, f"the endpoint does not know batch {chunk.batch} any more")
                return
            found = f"the endpoint does not know batch {chunk.batch} of {len(chunk.keys)} calls: {error.message}"
            advice = (
                "use a key of the workspace that it was submitted from; --repeat-lost gives the batch up, and may pay for its calls twice"
            )
            raise NotFoundError(Fault(code="batch-not-found", where=self._endpoint.base_url, found=found, advice=advice))
        self._failures += 1
        if self._failures >= self._settings.patience:
            raise build_unreachable(self._endpoint, error)

    def _give_up(self, chunk: Chunk, why: str) -> None:
        """Settle the calls of a chunk that nobody can say anything of; running again with `repeat_lost` makes them again."""
        intents = list(chunk.find_open(self._store).values())
        self._fail(intents, Failure(code="lost-in-flight", message=why), batch=chunk.batch)
        self._summary.lost += len(intents)
        self._close(chunk, "given up", {"lost": len(intents)})
        self._around.tell(f"{chunk.name}: {len(intents)} calls are lost: {why}")

    def _fail(self, intents: Iterable[Intent], failure: Failure, *, batch: str | None) -> None:
        outcomes = []
        for intent in intents:
            model = str(self._store.get_request(intent.request)["model"])
            response = Response(
                key=intent.key, request=intent.request, purpose=intent.purpose, model_requested=model, batch=batch, failure=failure
            )
            outcomes.append((intent, response))
        self._store.settle(outcomes)

    def _close(self, chunk: Chunk, reason: str, counts: Mapping[str, int]) -> None:
        write_closed(self._store, chunk, reason=reason, counts=counts)
        self._open = [one for one in self._open if one.number != chunk.number]

    def _list_known(self) -> set[str]:
        accepted = (self._store.find_document(f"batch-{number:06}-accepted") for number in range(1, self._number + 1))
        return {one["id"] for one in accepted if one is not None}

    def _is_grace_over(self, chunk: Chunk) -> bool:
        # A chunk of an earlier run was submitted before this one began, whenever that was.
        tried = self._tried.get(chunk.number, self._begun)
        return self._around.clock() - tried >= timedelta(seconds=self._settings.grace_s)

    async def _pause(self, seconds: float) -> None:
        if not self._around.should_stop():
            await self._around.sleep(seconds)
