"""Calls become outcomes: each is written down before it is sent and when it came back, and none that has an outcome is sent again."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice

from audit.model import Answer, Endpoint, build_key_refused, build_unknown_model, build_unreachable
from audit.replay.batch_chunks import list_open_chunks
from audit.replay.budget import Purse, count_spent, count_waiting
from audit.replay.limiter import Limiter, StoppedError
from audit.replay.lock import hold_run
from audit.replay.outcomes import IN_FLIGHT, build_changed, build_hopeless, build_lost, build_response, is_changed, is_doubtful
from audit.replay.prices import Prices
from audit.replay.retries import Patience, build_retrying, find_pause
from audit.replay.store import Call, RunStore
from audit.replay.summary import RunSummary, Tally
from audit.replay.writer import GroupWriter
from audit.trouble import ModelError, Trouble
from registry.errors import AnswerNoError, CaveatError
from registry.records.replay import Budget
from registry.records.response import Attempt, Failure, Response

LOST = IN_FLIGHT
INTERRUPTED = "interrupted"
UNSENT = frozenset({INTERRUPTED, Trouble.KEY_REFUSED.value, Trouble.NOT_FOUND.value})
"""Failures that cost nothing and say nothing of the call: it is sent when the run goes on."""
_CHUNK = 128
"""Calls that are looked up at once."""
_HOPELESS = 5
"""First calls that the endpoint does not accept, after which the others are not sent."""
_DOWN = 20
"""Calls in a row that the endpoint had no answer to, after which it is taken to be down."""
_SHOW_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How calls are made."""

    concurrency: int = 256
    """Requests under way at once, at most; how many there are, the limiter finds."""
    retry_failed: bool = False
    """Send calls again whose outcome is a failure."""
    repeat_lost: bool = False
    """Send calls again that were in flight when a process ended; they may be billed twice."""
    allow_alias: bool = False
    """Whether another model than the one that was asked may answer; it must stay the same one."""
    patience: Patience = field(default_factory=Patience)
    budget: Budget = field(default_factory=Budget)
    prices: Prices = field(default_factory=dict)


class Halt:
    """How a run is asked to end: once, to finish what is under way; twice, to leave it."""

    def __init__(self) -> None:
        self.times = 0
        self._listeners: list[Callable[[], None]] = []

    def request(self) -> None:
        """Ask, once more. To be called in the thread of the event loop."""
        self.times += 1
        for listener in self._listeners:
            listener()

    def listen(self, listener: Callable[[], None]) -> None:
        """Call *listener* at each request."""
        self._listeners.append(listener)


Progress = Callable[[RunSummary], None]


def read_clock() -> datetime:
    """Return the time, UTC."""
    return datetime.now(UTC)


async def run_calls(
    store: RunStore,
    calls: Iterable[Call],
    endpoint: Endpoint,
    settings: Settings | None = None,
    *,
    progress: Progress | None = None,
    clock: Callable[[], datetime] = read_clock,
    stop: Halt | None = None,
) -> RunSummary:
    """Make those of *calls* that have no outcome yet, and return what came of them.

    Calls are read as they are needed and may be a generator. The same call twice is one call. Calls that an earlier process left in
    flight are settled as `lost-in-flight` first, and not sent again unless `repeat_lost` asks for it. A run that cannot go on (wrong
    key, unknown model, changed model, spent budget, endpoint down) ends with everything under way written down; the summary says why.

    Args:
        progress: told how things stand, ten times a second at most.
        clock: the time that is written down.
        stop: how somebody else ends the run.

    Raises:
        ConflictError: another process works in this folder.
        UnavailableError: the run folder cannot be written.
    """
    with hold_run(store):
        run = _Run(store, endpoint, settings or Settings(), clock)
        return await run.make(calls, progress or (lambda _summary: None), stop or Halt())


def settle_lost(store: RunStore, clock: Callable[[], datetime] = read_clock) -> int:
    """Give every intent that an earlier process left open its outcome, `lost-in-flight`; return how many there were.

    Calls that wait in a batch are not lost. To be called while the run folder is held (`hold_run`).
    """
    waiting = {(chunk.at, key) for chunk in list_open_chunks(store)[0] for key in chunk.keys}
    lost = [intent for intent in store.list_lost() if (intent.at, intent.key) not in waiting]
    message = "the call was in flight when the process ended; it may have been billed"
    store.settle([(intent, build_lost(store, intent, message, clock())) for intent in lost])
    return len(lost)


class _Run:
    """One run of calls."""

    def __init__(self, store: RunStore, endpoint: Endpoint, settings: Settings, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._endpoint = endpoint
        self._settings = settings
        self._clock = clock
        self._limiter = Limiter(cap=settings.concurrency, clock=time.monotonic)
        self._writer = GroupWriter(store, clock)
        self._tally = Tally()
        self._purse = Purse(settings.budget, settings.prices)
        self._pending: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = asyncio.Event()
        self._settled = asyncio.Event()
        self._stopped: CaveatError | None = None
        self._interrupted = False
        self._down = 0
        """Calls in a row that the endpoint had no answer to."""
        self._refused = 0
        self._has_answered = False
        self._failed: BaseException | None = None
        self._started = time.monotonic()
        self._shown = 0.0
        self._progress: Progress = lambda _summary: None
        self._again = UNSENT | ({LOST} if settings.repeat_lost else frozenset())

    async def make(self, calls: Iterable[Call], progress: Progress, stop: Halt) -> RunSummary:
        self._progress = progress
        self._tally.lost = settle_lost(self._store, self._clock)
        # What a batch holds is made there: it counts as under way, and is not sent a second time.
        self._pending.update(intent.key for intent in self._store.list_lost())
        settings = self._settings
        spent, waiting = count_spent(self._store, settings.prices, UNSENT), count_waiting(self._store, settings.prices)
        self._purse = Purse(settings.budget, settings.prices, spent=spent, waiting=waiting)
        for asked, returned in self._store.list_models():
            self._tally.models.setdefault(asked, []).append(returned)
        stop.listen(lambda: self._interrupt(stop.times))
        if stop.times:
            self._interrupt(stop.times)
        async with self._writer:
            try:
                await self._dispatch(calls)
                await self._drain()
            finally:
                await self._abandon()
        summary = self._summarise()
        progress(summary)
        return summary

    async def _dispatch(self, calls: Iterable[Call]) -> None:
        """Begin every call that is to be made, as fast as the limiter lets them."""
        async for call in self._select(calls):
            if self._check_models(call):
                return
            try:
                if not await self._afford(call):
                    return
                await self._limiter.enter()
            except StoppedError:
                return
            task = asyncio.create_task(self._make(call))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _select(self, calls: Iterable[Call]) -> AsyncIterator[Call]:
        """Give those of *calls* that are to be sent, each once."""
        chunks = _chunk(calls)
        while chunk := await asyncio.to_thread(next, chunks, None):
            fresh: dict[str, Call] = {}
            for call in chunk:
                if call.key not in self._pending:
                    fresh.setdefault(call.key, call)
            # They count as pending before the store is asked: what another task settles meanwhile is then in the store.
            self._pending.update(fresh)
            known = await asyncio.to_thread(self._store.find_outcomes, list(fresh))
            wanted = [call for key, call in fresh.items() if key not in known or self._is_wanted_again(known[key])]
            self._tally.settled_before += len(chunk) - len(wanted)
            self._pending.difference_update(key for key in fresh.keys() - {call.key for call in wanted})
            for call in wanted:
                yield call
            self._show()

    def _is_wanted_again(self, failure: str | None) -> bool:
        return failure is not None and (failure in self._again or (self._settings.retry_failed and failure != LOST))

    async def _afford(self, call: Call) -> bool:
        """Set aside what *call* may spend; when it does not fit, wait for those under way, which may spend less than they could."""
        while (excess := self._purse.reserve(call)) is not None:
            if self._ended.is_set():
                # Those under way may spend less than they could: what they would have left is not known.
                return False
            if self._purse.is_idle:
                self._stopped = self._stopped or AnswerNoError(excess)
                return False
            self._settled.clear()
            await self._settled.wait()
        return not self._ended.is_set()

    async def _make(self, call: Call) -> None:
        """Make one call in its place among those under way, which it keeps until its outcome is on the disk.

        So a kill or a full disk loses no more calls than may be under way at once.
        """
        try:
            await self._complete(call)
        except Exception as error:  # noqa: BLE001 (told by `_drain`; before its place is free, so that nobody is let in for it)
            self._failed = self._failed or error
            self._end(None)
        finally:
            self._limiter.leave()

    async def _complete(self, call: Call) -> None:
        """Write down that the call is about to be made, make it with its attempts, and write down what came of it."""
        attempts: list[Attempt] = []
        intent = await self._writer.intend(call)
        response = await self._ask(call, attempts, self._clock())
        await self._writer.settle(intent, response)
        self._pending.discard(call.key)
        self._tally.add(response)
        self._settled.set()
        self._tally.add_model(response)
        self._check_models(call)
        self._show()

    async def _ask(self, call: Call, attempts: list[Attempt], sent_at: datetime) -> Response:
        doubted: list[ModelError] = []
        try:
            async for attempt in build_retrying(self._settings.patience, self._sleep):
                with attempt:
                    try:
                        answer = await self._attempt(call, attempts)
                    except ModelError as error:
                        if error.may_be_billed:
                            doubted.append(error)
                        raise
        except StoppedError:
            # A call that may have been billed is not one that was never made.
            code = doubted[-1].trouble.value if doubted else INTERRUPTED
            message = "the run was ended before the call had an answer"
            return self._fail(call, attempts, sent_at, Failure(code=code, message=message), len(doubted))
        except ModelError as error:
            self._react(call, error)
            return self._fail(call, attempts, sent_at, Failure(code=error.trouble.value, message=error.message), len(doubted))
        self._down, self._has_answered = 0, True
        self._purse.settle(call, answer.message.usage)
        for _ in doubted:
            self._purse.add_lost(call)
        return build_response(call, answer, attempts, sent_at, self._clock())

    async def _attempt(self, call: Call, attempts: list[Attempt]) -> Answer:
        """Send one request; what the endpoint says of its limits is learned either way."""
        async with self._limiter.slot() as number:
            self._tally.attempts += 1
            self._tally.maybe_billed_twice += bool(attempts) and is_doubtful(attempts[-1])
            try:
                answer = await self._endpoint.send(call.body)
            except ModelError as error:
                attempts.append(Attempt(status=error.status, request_id=error.request_id, error=error.type))
                pause_s = find_pause(error, self._settings.patience)
                if pause_s is not None:
                    self._limiter.refuse(number, error.quotas, retry_after_s=pause_s)
                raise
            usage = answer.message.usage
            self._limiter.succeed(number, answer.quotas, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
            attempts.append(Attempt(status=answer.status, request_id=answer.request_id, error=None))
            return answer

    def _fail(self, call: Call, attempts: list[Attempt], sent_at: datetime, failure: Failure, doubtful: int) -> Response:
        if doubtful:
            self._purse.settle(call, None)
            for _ in range(doubtful - 1):
                self._purse.add_lost(call)
        else:
            self._purse.release(call, sent=failure.code not in UNSENT)
        return Response(
            key=call.key,
            request=call.request,
            purpose=call.purpose,
            model_requested=str(call.body.get("model")),
            attempts=tuple(attempts),
            sent_at=sent_at if attempts else None,
            received_at=self._clock(),
            failure=failure,
        )

    def _react(self, call: Call, error: ModelError) -> None:
        """End the run where *error* is about more than this one call."""
        match error.trouble:
            case Trouble.KEY_REFUSED:
                self._end(build_key_refused(self._endpoint, error))
            case Trouble.NOT_FOUND:
                self._end(build_unknown_model(self._endpoint, str(call.body.get("model")), error))
            case Trouble.NOT_ACCEPTED:
                self._refused += 1
                if self._refused >= _HOPELESS and not self._has_answered:
                    self._end(build_hopeless(self._endpoint, self._refused, error))
            case Trouble.BAD_ANSWER:
                return
            case _:
                self._down += 1
                if self._down >= _DOWN or (self._down >= _HOPELESS and not self._has_answered):
                    self._end(build_unreachable(self._endpoint, error))

    def _check_models(self, call: Call) -> bool:
        """End the run when another model than was asked, or several, answered what *call* asks, in this run or before; return whether."""
        asked = str(call.body.get("model"))
        known = self._tally.models.get(asked, [])
        if is_changed(asked, known, allow_alias=self._settings.allow_alias):
            self._end(build_changed(self._endpoint, asked, known, call.key))
            return True
        return False

    def _interrupt(self, times: int) -> None:
        self._interrupted = True
        self._end(None)
        if times > 1:
            for task in self._tasks:
                task.cancel()

    def _end(self, error: CaveatError | None) -> None:
        """Begin no more calls and no more attempts; what is under way is waited for."""
        self._stopped = self._stopped or error
        self._ended.set()
        self._settled.set()
        self._limiter.stop()

    async def _sleep(self, seconds: float) -> None:
        """Wait before another attempt; raises StoppedError as soon as there will be none."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)
        if self._ended.is_set():
            raise StoppedError

    async def _drain(self) -> None:
        while self._tasks:
            await asyncio.wait(self._tasks)
        if self._failed is not None:
            raise self._failed

    async def _abandon(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _show(self) -> None:
        now = time.monotonic()
        if now - self._shown >= _SHOW_S:
            self._shown = now
            self._progress(self._summarise())

    def _summarise(self) -> RunSummary:
        return self._tally.summarise(
            spent=self._purse.spent,
            elapsed_s=time.monotonic() - self._started,
            most_at_once=self._limiter.most_at_once,
            stopped=self._stopped,
            interrupted=self._interrupted,
        )


def _chunk(calls: Iterable[Call]) -> Iterator[list[Call]]:
    iterator = iter(calls)
    while chunk := list(islice(iterator, _CHUNK)):
        yield chunk
