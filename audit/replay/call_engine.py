"""Calls become outcomes: each is written down before it is sent, and none that has an outcome is sent again."""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from audit.endpoints.model_answers import ABOUT_ALL_CALLS, DOUBTFUL, GIVEN_UP, EndpointAnswer, ModelError, RequestTrouble
from audit.endpoints.model_endpoint import Endpoint, build_ending, build_unreachable
from audit.records.model_response import Attempt, Failure, Purpose, Response
from audit.replay.batch_requests import list_open_chunks
from audit.replay.group_writer import GroupWriter
from audit.replay.request_pacing import CallLimiter, RequestLimiter, RetryLimits, StoppedError, build_retrying, find_pause
from audit.replay.run_budget import BudgetPurse, CallPurse, Prices, SpentAmount, count_spent, count_waiting
from audit.replay.run_store import Call, CallIntent, CallStore, RunStore, join_text, join_thinking
from registry.codec.file_io import lock_file
from registry.errors import AnswerNoError, CaveatError, ConflictError, Fault, InputError
from registry.records.replay_run import Budget

# One process at a time in a run folder. `flock` belongs to the open file, so a killed process leaves no stale lock that
# a person would have to remove.

LOG = logging.getLogger("caveat.requests")
"""Calls by key and model: shown by `caveat -v`, never a prompt, an answer or a key of an endpoint."""

_NAME = "run.lock"


@contextmanager
def hold_run(store: RunStore) -> Iterator[None]:
    """Hold the run folder of *store* until the context ends.

    The lock is the system's, on an open file: it ends with the process, however that ends.

    Raises:
        ConflictError: another process (or another run in this one) holds it.
    """
    path = Path(store.path).parent / _NAME
    # Opened for appending: the file is created where it is missing, and never truncated while another process holds it.
    with path.open("a") as file:
        if not lock_file(file, where=str(path.parent)):
            raise ConflictError(Fault("in-use", str(path.parent), "another process is sending calls for it"))
        yield


# The documents of a run folder that name the fleet run of its calls.


def name_fleet_document(purpose: Purpose) -> str:
    """Return the name of the document that names the run on a fleet with the calls for *purpose*."""
    return "fleet" if purpose is Purpose.REPLAY else f"fleet-{purpose.value}"


def find_fleet_run(store: RunStore, purpose: Purpose) -> str | None:
    """Return the name of the run on a fleet that makes the calls of the folder for *purpose*; None where this machine makes them."""
    document = store.find_document(name_fleet_document(purpose))
    return None if document is None else str(document["run"])


def check_fleet_run(store: RunStore, purpose: Purpose, *, on_fleet: bool) -> None:
    """Raise ConflictError where calls for *purpose* are to be made here, and workers of a fleet may be making them."""
    run = None if on_fleet else find_fleet_run(store, purpose)
    if run is not None:
        problem = f"its calls are made by the workers of a fleet, as {run}; made here too, they could be paid twice"
        raise ConflictError(Fault("run-on-fleet", str(store.path.parent), problem))


# Records of single calls, and the errors that end a run because of one.

IN_FLIGHT = "lost-in-flight"


def build_response(call: Call, answer: EndpointAnswer, attempts: list[Attempt], sent_at: datetime, received_at: datetime) -> Response:
    """Return the outcome of *call* that *answer* is."""
    message = answer.message
    LOG.info("call %s to %s: %d request(s), answered in %.1f s", call.key[:12], call.body.get("model"), len(attempts), answer.latency_s)
    return Response(
        key=call.key,
        request=call.request,
        purpose=call.purpose,
        model_requested=str(call.body.get("model")),
        model_returned=message.model,
        text=join_text(message.content),
        thinking=join_thinking(message.content),
        content=message.content,
        stop_reason=message.stop_reason,
        message_id=message.id,
        usage=message.usage,
        completion=message.details,
        attempts=tuple(attempts),
        sent_at=sent_at,
        received_at=received_at,
        latency_s=answer.latency_s,
    )


def build_lost(store: RunStore, intent: CallIntent, message: str, now: datetime) -> Response:
    """Return the outcome of a call that an earlier process left open."""
    return Response(
        key=intent.key,
        request=intent.request,
        purpose=intent.purpose,
        model_requested=str(store.get_request(intent.request).get("model")),
        sent_at=datetime.fromisoformat(intent.at),
        received_at=now,
        failure=Failure(code=IN_FLIGHT, message=message),
    )


def build_hopeless(endpoint: Endpoint, refused: int, error: ModelError) -> InputError:
    """Return the error that ends a run if no first call is accepted."""
    problem = f"the endpoint accepted none of the first {refused} calls (HTTP {error.status}): {error.message}"
    return InputError(Fault("not-accepted", endpoint.base_url, problem))


# The model that answers is checked because a result applies to one model version. After another model answered, a run
# never goes on in that folder: its table would mix two models. Cost: a new folder, and the calls are paid again.
def build_changed(endpoint: Endpoint, model: str, returned: Sequence[str], key: str) -> AnswerNoError:
    """Return the error that ends a run in which another model answers; *returned* are the names that answered."""
    others = ", ".join(name for name in returned if name != model) or model
    problem = f"{model} was asked, and {others} answered" if len(returned) == 1 else f"{' and then '.join(returned)} answered as {model}"
    return AnswerNoError(Fault("model-changed", f"{endpoint.base_url}, call {key[:12]}", problem))


def is_changed(model: str, returned: Sequence[str], *, allow_alias: bool) -> bool:
    """Return whether the names *returned* break the rule: the *model* that was requested, or with *allow_alias* always one other."""
    # An alias may resolve to one dated version. A second name means that the alias moved during the run, which
    # `allow_alias` does not cover.
    return len(returned) > 1 or (not allow_alias and any(name != model for name in returned))


def is_doubtful(attempt: Attempt) -> bool:
    """Return whether the request of *attempt*, which has no answer, may have been billed."""
    # A repetition counts as possibly billed twice after no status, or after 408, 502 and 504: a model may have worked
    # on the request. Cost: connections that were never made count too; the number errs towards too many.
    return attempt.error in DOUBTFUL or attempt.status in GIVEN_UP


# Counts of a run of calls, during the run and at its end.


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What one run of calls came to; what earlier runs in the same folder did is in `settled_before` and `spent`."""

    settled_before: int
    """Calls that had an outcome already, or that another cell of the design shares."""
    answered: int
    """Answers that came in this run, of any stop reason."""
    refusals: int
    truncated: int
    """Answers cut by max_tokens or the context window."""
    empty: int
    """Answers without text; refusals may be among them."""
    failures: Mapping[str, int]
    """Calls of this run without an answer, by code."""
    lost: int
    """Calls that were in flight when an earlier process ended; they may have been billed."""
    maybe_billed_twice: int
    """Requests that were repeated although the one before may have reached the model."""
    attempts: int
    """HTTP requests of this run."""
    input_tokens: int
    output_tokens: int
    spent: SpentAmount
    """In this folder, earlier runs included, and what may have been billed counted as if it had been."""
    models: Mapping[str, tuple[str, ...]]
    """By model requested, what answered."""
    fingerprints: tuple[str, ...] = ()
    """The names of server configurations that the answers of this run carry, in the order in which they came."""
    elapsed_s: float
    most_at_once: int
    """Requests under way at the same time, at most."""
    stopped: CaveatError | None = None
    """Why the run ended before its last call; None when it did not, or was interrupted."""
    interrupted: bool = False
    """Whether it was asked to end."""
    is_waiting: bool = False
    """Whether batches are still being worked on at the endpoint: the run has not ended."""

    @property
    def done(self) -> int:
        """Calls of this run that are over."""
        return self.answered + sum(self.failures.values())


@dataclass(slots=True, kw_only=True)
class RunTally:
    """The counts of a run, while it goes on."""

    settled_before: int = 0
    answered: int = 0
    refusals: int = 0
    truncated: int = 0
    empty: int = 0
    lost: int = 0
    maybe_billed_twice: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    models: dict[str, list[str]] = field(default_factory=dict)
    fingerprints: dict[str, None] = field(default_factory=dict)

    def add(self, response: Response) -> None:
        """Count one outcome."""
        if response.failure is not None:
            self.failures[response.failure.code] += 1
            return
        self.answered += 1
        self.refusals += response.stop_reason == "refusal"
        self.truncated += response.stop_reason in ("max_tokens", "model_context_window_exceeded")
        self.empty += not (response.text or "").strip()
        if response.completion is not None and response.completion.system_fingerprint is not None:
            self.fingerprints[response.completion.system_fingerprint] = None
        usage = response.usage
        # Input read from or written to a cache is input too; the endpoint reports it in separate fields.
        inputs = (usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens)
        self.input_tokens += sum(input_ or 0 for input_ in inputs)
        self.output_tokens += usage.output_tokens or 0

    def add_model(self, response: Response) -> list[str]:
        """Take in which model answered, and return those that have answered what was asked of the same one."""
        known = self.models.setdefault(response.model_requested, [])
        if response.model_returned is not None and response.model_returned not in known:
            known.append(response.model_returned)
        return known

    def summarise(
        self, *, spent: SpentAmount, elapsed_s: float, most_at_once: int, stopped: CaveatError | None, interrupted: bool
    ) -> RunSummary:
        """Return the counts as they are."""
        return RunSummary(
            settled_before=self.settled_before,
            answered=self.answered,
            refusals=self.refusals,
            truncated=self.truncated,
            empty=self.empty,
            failures=dict(self.failures),
            lost=self.lost,
            maybe_billed_twice=self.maybe_billed_twice,
            attempts=self.attempts,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            spent=spent,
            models={name: tuple(model) for name, model in self.models.items()},
            fingerprints=tuple(self.fingerprints),
            elapsed_s=elapsed_s,
            most_at_once=most_at_once,
            stopped=stopped,
            interrupted=interrupted,
        )


# The run itself.
#
# Retries and limits are ours and not the SDK's: every attempt must be recorded, and all calls share one limiter. A run
# makes the calls that its file plans now. What an earlier version planned stays open, and its answers stay in the
# table.

LOST = IN_FLIGHT
INTERRUPTED = "interrupted"
UNSENT = frozenset({INTERRUPTED, *(trouble.value for trouble in ABOUT_ALL_CALLS)})
"""Failures that cost nothing and say nothing of the call: it is sent when the run goes on."""
_CALL_CHUNK = 128
"""Calls that are looked up at once."""
_HOPELESS = 5
"""First calls that the endpoint does not accept, after which the others are not sent."""
_DOWN = 20
"""Calls in a row that the endpoint had no answer to, after which it is taken to be down."""
_SHOW_S = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSettings:
    """How calls are made."""

    concurrency: int = 256
    """Requests under way at once, at most; how many there are, the limiter finds."""
    retry_failed: bool = False
    """Send calls again whose outcome is a failure."""
    repeat_lost: bool = False
    """Send calls again that were in flight when a process ended; they may be billed twice."""
    allow_alias: bool = False
    """Whether another model than the one that was asked may answer; it must stay the same one."""
    gather_s: float = 0.0
    """Seconds that intents and outcomes wait to be written together, at most; never more than a tenth of the time of an answer."""
    patience: RetryLimits = field(default_factory=RetryLimits)
    budget: Budget = field(default_factory=Budget)
    prices: Prices = field(default_factory=dict)


class HaltRequest:
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
    settings: CallSettings | None = None,
    *,
    progress: Progress | None = None,
    clock: Callable[[], datetime] = read_clock,
    stop: HaltRequest | None = None,
) -> RunSummary:
    """Make those of *calls* that have no outcome yet, and return what came of them.

    Calls are read as they are needed and may be a generator. The same call twice is one call. Calls that an earlier process left in
    flight are settled as `lost-in-flight` first, and not sent again unless `repeat_lost` asks for it. A run that cannot go on (wrong
    key, unknown model, changed model, spent budget, endpoint down) ends with everything under way written down; the summary says why.

    Args:
        progress: receives the progress, ten times a second at most.
        clock: the time that is written down.
        stop: how the run is ended from outside.

    Raises:
        ConflictError: another process works in this folder.
        UnavailableError: the run folder cannot be written.
    """
    settings = settings or CallSettings()
    with hold_run(store):
        # First of all: every intent that is open after this line belongs to a batch or to this run.
        lost = settle_lost(store, clock)
        spent, waiting = count_spent(store, settings.prices, UNSENT), count_waiting(store, settings.prices)
        purse = BudgetPurse(settings.budget, settings.prices, spent=spent, waiting=waiting)
        limiter = RequestLimiter(cap=settings.concurrency, clock=time.monotonic)
        return await make_calls(
            store, calls, endpoint, settings, limiter=limiter, purse=purse, lost=lost, progress=progress, clock=clock, stop=stop
        )


async def make_calls(
    store: CallStore,
    calls: Iterable[Call],
    endpoint: Endpoint,
    settings: CallSettings,
    *,
    limiter: CallLimiter,
    purse: CallPurse,
    lost: int = 0,
    progress: Progress | None = None,
    clock: Callable[[], datetime] = read_clock,
    stop: HaltRequest | None = None,
) -> RunSummary:
    """Make those of *calls* that have no outcome in *store*, with the limits of the caller, as `run_calls` says.

    Args:
        limiter: how many requests may be under way.
        purse: what they may spend.
        lost: calls of an earlier process that the caller has settled as lost in flight.

    Raises:
        UnavailableError: the store cannot be written.
    """
    run = _CallRun(store, endpoint, settings, clock, limiter=limiter, purse=purse, lost=lost)
    return await run.make(calls, progress or (lambda _summary: None), stop or HaltRequest())


def settle_lost(store: RunStore, clock: Callable[[], datetime] = read_clock) -> int:
    """Give every intent that an earlier process left open its outcome, `lost-in-flight`; return how many there were.

    Calls that wait in a batch are not lost. To be called while the run folder is held (`hold_run`).
    """
    # An intent is identified by its time and its key: the same call may have been lost in an earlier run and wait in a
    # batch now.
    waiting = {(chunk.at, key) for chunk in list_open_chunks(store)[0] for key in chunk.keys}
    lost = [intent for intent in store.list_lost() if (intent.at, intent.key) not in waiting]
    message = "the call was in flight when the process ended; it may have been billed"
    store.settle([(intent, build_lost(store, intent, message, clock())) for intent in lost])
    return len(lost)


class _CallRun:
    """One run of calls."""

    def __init__(
        self,
        store: CallStore,
        endpoint: Endpoint,
        settings: CallSettings,
        clock: Callable[[], datetime],
        *,
        limiter: CallLimiter,
        purse: CallPurse,
        lost: int,
    ) -> None:
        self._store = store
        self._endpoint = endpoint
        self._settings = settings
        self._clock = clock
        self._limiter = limiter
        self._writer = GroupWriter(store, clock)
        self._tally = RunTally(lost=lost)
        self._purse = purse
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
        # A failure that cost nothing is sent again without asking. What may have been billed needs the user's consent.
        self._again = UNSENT | ({LOST} if settings.repeat_lost else frozenset())

    async def make(self, calls: Iterable[Call], progress: Progress, stop: HaltRequest) -> RunSummary:
        self._progress = progress
        # Calls that wait in a batch count as under way and are not sent a second time.
        self._pending.update(intent.key for intent in self._store.list_lost())
        # Models that answered in earlier sessions count, so a change of model between two sessions stops the run before
        # its first call.
        for model, returned in self._store.list_models():
            self._tally.models.setdefault(model, []).append(returned)
        stop.listen(lambda: self._interrupt(stop.times))
        if stop.times:
            self._interrupt(stop.times)
        async with self._writer:
            try:
                await self._dispatch(calls)
                await self._drain()
            finally:
                # Reached with tasks only after an error or a cancellation: no task may outlive the writer that its
                # outcome needs.
                await self._abandon()
        summary = self._summarise()
        progress(summary)
        return summary

    async def _dispatch(self, calls: Iterable[Call]) -> None:
        """Begin every call that is to be made, as fast as the limiter lets them."""
        # The checks come in the order of their cost: model, budget, then a slot, which may take long. Nothing is
        # reserved for a call that a changed model already forbids.
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
            # Not at the end of `_make`: a task that is cancelled before its first step never comes there.
            task.add_done_callback(self._free)

    def _free(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._limiter.leave()

    async def _select(self, calls: Iterable[Call]) -> AsyncIterator[Call]:
        """Give those of *calls* that are to be sent, each once."""
        chunks = _chunk(calls)
        # The generator of calls reads bodies from SQLite, so it runs in a thread and does not hold up answers.
        while chunk := await asyncio.to_thread(next, chunks, None):
            fresh: dict[str, Call] = {}
            for call in chunk:
                if call.key not in self._pending:
                    fresh.setdefault(call.key, call)
            # They are pending before the store is asked. If another task settles one of them meanwhile, the store
            # already has its outcome.
            self._pending.update(fresh)
            known = await asyncio.to_thread(self._store.find_outcomes, list(fresh))
            wanted = [call for key, call in fresh.items() if key not in known or self._is_wanted_again(known[key])]
            self._tally.settled_before += len(chunk) - len(wanted)
            LOG.info("of %d calls, %d have an outcome in the run folder and are not sent again", len(chunk), len(chunk) - len(wanted))
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
                # The run is ending, so it stays unknown what the calls under way would have left. The budget is not
                # reported as spent.
                return False
            # Nothing is under way that could free a reservation, so waiting would never end: the budget is spent.
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
        except Exception as error:  # noqa: BLE001 (told by `_drain`; before its place is free, so that no one is let in for it)
            # Recorded before the slot is freed. Otherwise the next call would start in a run that can no longer write
            # outcomes.
            self._failed = self._failed or error
            self._end(None)

    async def _complete(self, call: Call) -> None:
        """Write down that the call is about to be made, make it with its attempts, and write down what came of it."""
        attempts: list[Attempt] = []
        intent = await self._writer.intend(call)
        if intent is None:
            # Another process has this call, or it may not be sent now. Nothing was sent, so nothing is written down.
            self._purse.release(call)
            self._pending.discard(call.key)
            self._settled.set()
            return
        response = await self._ask(call, attempts, self._clock())
        await self._writer.settle(intent, response)
        self._pending.discard(call.key)
        self._tally.add(response)
        self._settled.set()
        # The answer is on the disk before its model is checked: the answer that reveals a change of model is evidence
        # and is kept.
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
            # An attempt that may have been billed decides the code: `interrupted` would let the next run send the call
            # again without asking.
            code = doubted[-1].trouble.value if doubted else INTERRUPTED
            message = "the run was ended before the call had an answer"
            return self._fail(call, attempts, sent_at, Failure(code=code, message=message), len(doubted))
        except ModelError as error:
            self._react(call, error)
            return self._fail(call, attempts, sent_at, Failure(code=error.trouble.value, message=error.message), len(doubted))
        self._down, self._has_answered = 0, True
        self._purse.settle(call, answer.message.usage)
        # Every earlier attempt that may have been billed is counted at its worst case, in addition to the one that was
        # answered.
        for _ in doubted:
            self._purse.add_lost(call)
        return build_response(call, answer, attempts, sent_at, self._clock())

    async def _attempt(self, call: Call, attempts: list[Attempt]) -> EndpointAnswer:
        """Send one request; what the endpoint says of its limits is learned either way."""
        async with self._limiter.slot() as number:
            self._tally.attempts += 1
            self._tally.maybe_billed_twice += bool(attempts) and is_doubtful(attempts[-1])
            try:
                answer = await self._endpoint.send(call.body)
            except ModelError as error:
                attempts.append(Attempt(status=error.status, request_id=error.request_id, error=error.type))
                pause_s = find_pause(error, self._settings.patience)
                # Only rate limits and overload concern the other calls. A fault of one request does not slow down the
                # run.
                if pause_s is not None:
                    self._limiter.refuse(number, error.quotas, retry_after_s=pause_s)
                raise
            self._writer.gather_s = min(self._settings.gather_s, answer.latency_s / 10)
            usage = answer.message.usage
            self._limiter.succeed(number, answer.quotas, input_tokens=usage.input_tokens, output_tokens=usage.output_tokens)
            attempts.append(Attempt(status=answer.status, request_id=answer.request_id, error=None))
            return answer

    def _fail(self, call: Call, attempts: list[Attempt], sent_at: datetime, failure: Failure, doubtful: int) -> Response:
        if doubtful:
            self._purse.settle(call, None)
            # `settle` with no usage already counts one request at its worst case.
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
            # A call without an attempt was never sent, and a date would say that it was.
            sent_at=sent_at if attempts else None,
            received_at=self._clock(),
            failure=failure,
        )

    def _react(self, call: Call, error: ModelError) -> None:
        """End the run where *error* is about more than this one call."""
        if error.trouble in ABOUT_ALL_CALLS:
            self._end(build_ending(self._endpoint, str(call.body.get("model")), error))
            return
        match error.trouble:
            # One refused request may be a fault of its task. If the first five are refused and none was answered, the
            # policy or the contexts are wrong, and the remaining calls would only repeat that.
            case RequestTrouble.NOT_ACCEPTED:
                self._refused += 1
                if self._refused >= _HOPELESS and not self._has_answered:
                    self._end(build_hopeless(self._endpoint, self._refused, error))
            # The endpoint is there and answers. One unreadable answer says nothing about the others.
            case RequestTrouble.BAD_ANSWER:
                return
            case _:
                self._down += 1
                # An endpoint that never answered is given up sooner than one that did and may recover.
                if self._down >= _DOWN or (self._down >= _HOPELESS and not self._has_answered):
                    self._end(build_unreachable(self._endpoint, error))

    def _check_models(self, call: Call) -> bool:
        """End the run when another model than was asked, or several, answered what *call* asks, in this run or before; return whether."""
        name = str(call.body.get("model"))
        model = self._tally.models.get(name, [])
        if is_changed(name, model, allow_alias=self._settings.allow_alias):
            self._end(build_changed(self._endpoint, name, model, call.key))
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
        # The three signals wake whoever waits: sleepers between attempts, calls that wait for budget, and calls that
        # wait for a slot.
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
    while chunk := list(islice(iterator, _CALL_CHUNK)):
        yield chunk
