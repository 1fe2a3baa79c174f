"""Calls made by batches: selected, submitted in chunks, waited for, settled, and recovered after a crash."""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from audit.endpoints.messages_api import SAMPLING, WITHOUT_SAMPLING
from audit.endpoints.model_answers import ModelError, NotAMessageError, RequestTrouble
from audit.endpoints.model_endpoint import Endpoint, build_key_refused, build_unreachable
from audit.records.model_response import Attempt, Failure, Response
from audit.replay import batch_requests, chat_batches
from audit.replay.batch_requests import (
    MOST_BYTES,
    MOST_REQUESTS,
    BatchChunk,
    BatchPort,
    BatchView,
    is_certain,
    list_open_chunks,
    split_calls,
    write_accepted,
    write_chunk,
    write_closed,
)
from audit.replay.call_engine import (
    INTERRUPTED,
    LOST,
    UNSENT,
    CallSettings,
    HaltRequest,
    Progress,
    RunSummary,
    RunTally,
    build_changed,
    hold_run,
    is_changed,
    read_clock,
    settle_lost,
)
from audit.replay.run_budget import BudgetPurse, count_spent, count_waiting, discount_batch
from audit.replay.run_store import Call, CallIntent, RunStore, join_text, join_thinking
from registry.codec.canonical_documents import Json
from registry.errors import AnswerNoError, CaveatError, Fault, InputError, NotFoundError
from registry.records.specification import ModelApi


def get_port(endpoint: Endpoint) -> BatchPort:
    """Return the requests about batches of the API of *endpoint*."""
    return chat_batches if endpoint.api is ModelApi.OPENAI_CHAT else batch_requests


# Selection: calls without an outcome whose parameters fit a batch.

_LOOKED_UP = 500
"""Calls that are looked up in the store at once."""


def select_calls(
    store: RunStore, calls: Iterable[Call], *, under_way: Collection[str], settings: CallSettings, tally: RunTally
) -> Iterator[Call]:
    """Give those of *calls* that are to be made; the others are counted in *tally* as settled before.

    Args:
        under_way: keys of calls that an open batch holds.
    """
    for group in _group(calls):
        outcomes = store.find_outcomes([call.key for call in group])
        for call in group:
            if call.key in under_way or (call.key in outcomes and not _is_wanted_again(outcomes[call.key], settings)):
                tally.settled_before += 1
            else:
                yield call


def check_sampling(calls: Iterable[Call], *, api_version: str) -> None:
    """Return when *calls* set no sampling parameter that *api_version* does not take; the version is one header for a whole batch.

    Versions are those of the Messages API; the other API has none.

    Raises:
        InputError: they do.
    """
    # Sampling parameters need API version 2023-06-01, the last that takes them. The version is one header for the whole
    # batch, so single requests cannot differ from it, as they do outside batches.
    texts = {name for call in calls for name in SAMPLING if name in call.body}
    if not texts or api_version < WITHOUT_SAMPLING:
        return
    text = f"cannot be set under API version {api_version}, and one version holds for a whole batch"
    where = [f"policy.{name}" for name in SAMPLING if name in texts]
    raise InputError([Fault("sampling-not-settable", place, text) for place in where])


def _is_wanted_again(failure: str | None, settings: CallSettings) -> bool:
    # The same rule as for single calls: what may have been billed is repeated only on request.
    if failure == LOST:
        return settings.repeat_lost
    return failure is not None and (failure in UNSENT or settings.retry_failed)


def _group(calls: Iterable[Call]) -> Iterator[list[Call]]:
    group: list[Call] = []
    for call in calls:
        group.append(call)
        if len(group) >= _LOOKED_UP:
            yield group
            group = []
    yield group


# Recovery. A batch whose identifier was lost is found again: list the batches of its size since one hour before the
# submission, and look for our custom ids in their results. A chunk that is not listed after a minute was never
# accepted. Cost: a foreign batch of the same size is waited for.

_SKEW = timedelta(hours=1)
"""How far the endpoint's clock may be behind ours."""
_LOOKED_AT = 20
"""Results of a batch that are looked at for one of ours; one is enough, unless the endpoint mixes batches up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSearch:
    """What a look at the endpoint's list of batches found of one chunk."""

    found: BatchView | None
    """The chunk's batch."""
    undecided: int
    """Batches still being worked on that may be it: whose a batch is shows only in its results."""

    @property
    def is_conclusive(self) -> bool:
        """Whether the batch is found, or is not there."""
        return self.found is not None or not self.undecided


def find_earliest(chunk: BatchChunk) -> datetime:
    """Return the time from which batches may be that of *chunk*, by any clock that is not far behind ours."""
    return datetime.fromisoformat(chunk.at) - _SKEW


async def search_chunk(endpoint: Endpoint, chunk: BatchChunk, listed: Iterable[BatchView], *, known: set[str]) -> ChunkSearch:
    """Look for the batch that *chunk* was submitted as, among those of its size.

    Args:
        listed: the endpoint's batches since `find_earliest`.
        known: batches that are known to be something else; what is found to be so is added.

    Raises:
        ModelError: results could not be read.
    """
    undecided = 0
    for view in listed:
        if view.id in known:
            continue
        if view.tag is not None:
            if view.tag == chunk.tag:
                return ChunkSearch(found=view, undecided=undecided)
            known.add(view.id)
            continue
        # Without a mark, the number of requests is the only thing that the list shows of a batch's content. It is 0 while the OpenAI API
        # still checks a batch; a gateway may drop marks, so that such a batch may be ours too.
        if view.total not in (0, len(chunk.keys)):
            continue
        # Results can be read only when a batch has ended. Until then it may be ours, and submitting the chunk again
        # could pay for it twice.
        if view.ended_at is None:
            undecided += 1
        elif not view.is_archived and await _is_its(endpoint, view, chunk):
            return ChunkSearch(found=view, undecided=undecided)
        else:
            # Batches that are known to be foreign are not read again at each visit.
            known.add(view.id)
    return ChunkSearch(found=None, undecided=undecided)


async def _is_its(endpoint: Endpoint, view: BatchView, chunk: BatchChunk) -> bool:
    ids = chunk.custom_ids
    looked_at = 0
    # Only the first results are read; closing the generator ends the download.
    async with aclosing(get_port(endpoint).read_results(endpoint, view.id)) as lines:
        async for line in lines:
            if line is not None and line["custom_id"] in ids:
                return True
            looked_at += 1
            if looked_at >= _LOOKED_AT:
                break
    return False


# Reading results: each becomes an outcome as it arrives, none twice, and no call is left without one.

_BLOCK = 200
"""Outcomes that are written in one transaction."""
_REFUSALS = frozenset(
    {
        "authentication_error",
        "billing_error",
        "invalid_request_error",
        "not_found_error",
        "permission_error",
        "request_too_large",
    }
)
"""Errors of a request that say that no model worked on it."""


class ChunkReader:
    """Settles the results of one chunk, and hands each outcome to *count*; can read again after a reading broke off.

    Answers are read as *endpoint* reads them, and its words about a failure are kept without the key.
    """

    def __init__(
        self, store: RunStore, chunk: BatchChunk, view: BatchView, count: Callable[[Response], None], *, endpoint: Endpoint
    ) -> None:
        self.counts: Counter[str] = Counter()
        """Results by kind: the API's own, and `unknown`, `repeated`, `unreadable`, `missing`, `other_model`."""
        self._store = store
        self._count = count
        self._endpoint = endpoint
        self._view = view
        self._ids = chunk.custom_ids
        # Calls that an earlier reading settled are no longer open, so reading a batch again writes nothing twice.
        self._open = chunk.find_open(store)
        self._models: dict[str, str] = {}

    @property
    def is_complete(self) -> bool:
        """Whether every call of the chunk has an outcome."""
        return not self._open

    async def read(self, lines: AsyncIterator[Mapping[str, Any] | None]) -> None:
        """Settle what *lines* hold; what an earlier reading settled is passed over."""
        waiting: list[tuple[CallIntent, Response]] = []
        seen: set[str] = set()
        odd: Counter[str] = Counter()
        try:
            async for line in lines:
                outcome = self._take(line, seen, odd)
                if outcome is not None:
                    waiting.append(outcome)
                if len(waiting) >= _BLOCK:
                    self._settle(waiting)
        finally:
            # If the download breaks off, the results that did arrive are written: they are paid for.
            self._settle(waiting)
            # Only the last reading is counted, since a second reading sees the same odd lines again.
            for kind in ("unknown", "repeated", "unreadable"):
                self.counts[kind] = odd[kind]

    def close(self) -> None:
        """Settle every call that no result was found for: the batch has ended, and nothing will come."""
        message = f"batch {self._view.id} has ended, and its results hold nothing for this request"
        missing = [(intent, self._fail(intent, "batch-missing", message)) for intent in self._open.values()]
        self.counts["missing"] += len(missing)
        self._settle(missing)

    def _take(self, line: Mapping[str, Any] | None, seen: set[str], odd: Counter[str]) -> tuple[CallIntent, Response] | None:
        if line is None:
            odd["unreadable"] += 1
            return None
        key = self._ids.get(line["custom_id"])
        # Foreign and repeated lines are counted and ignored. The first result of a call counts.
        if key is None or key in seen:
            odd["unknown" if key is None else "repeated"] += 1
            return None
        seen.add(key)
        intent = self._open.get(key)
        return None if intent is None else (intent, self._build(intent, line["result"]))

    def _settle(self, waiting: list[tuple[CallIntent, Response]]) -> None:
        self._store.settle(waiting)
        for intent, response in waiting:
            del self._open[intent.key]
            self._count(response)
        waiting.clear()

    def _build(self, intent: CallIntent, result: Mapping[str, Any]) -> Response:
        kind = result.get("type")
        match kind:
            case "succeeded":
                response = self._answer(intent, result.get("message"))
            case "errored":
                response = self._refuse(intent, result.get("error"))
            case "expired":
                response = self._fail(intent, "batch-expired", f"batch {self._view.id} expired before this request was worked on")
            case "canceled":
                response = self._fail(intent, "batch-canceled", f"batch {self._view.id} was canceled before this request was worked on")
            case _:
                response = self._fail(intent, "endpoint-error", "the batch's result is of a kind that the API does not describe")
        # A result that says "succeeded" without a readable message is counted as unreadable, not as a success.
        self.counts[str(kind) if response.failure is None or kind != "succeeded" else "unreadable"] += 1
        if response.model_returned not in (None, response.model_requested):
            self.counts["other_model"] += 1
        return response

    def _answer(self, intent: CallIntent, document: Any) -> Response:
        try:
            message = self._endpoint.read_answer(document, self._store.get_request(intent.request))
        except NotAMessageError as error:
            return self._fail(intent, "bad-answer", f"the batch says that the request succeeded, and its message is none: {error}")
        return Response(
            key=intent.key,
            request=intent.request,
            purpose=intent.purpose,
            model_requested=self._find_model(intent),
            model_returned=message.model,
            text=join_text(message.content),
            thinking=join_thinking(message.content),
            content=message.content,
            stop_reason=message.stop_reason,
            message_id=message.id,
            usage=message.usage,
            completion=message.details,
            # A batch has no times of single requests. The batch's own times bound them.
            sent_at=self._view.created_at,
            received_at=self._view.ended_at,
            batch=self._view.id,
        )

    def _refuse(self, intent: CallIntent, error: Any) -> Response:
        # The API nests the error in an envelope that has the request id. Endpoints that omit the envelope are read as
        # well.
        outer = error if isinstance(error, dict) else {}
        nested_error = outer.get("error")
        inner = nested_error if isinstance(nested_error, dict) else outer
        kind, message = self._describe(inner.get("type")) or "error", self._describe(inner.get("message")) or "no reason was given"
        attempt = Attempt(status=None, request_id=self._describe(outer.get("request_id")), error=kind)
        # The code decides whether `--retry-failed` may help and whether the call was billed, so unknown kinds count as
        # the endpoint's error.
        code = "not-accepted" if kind in _REFUSALS else "endpoint-error"
        return self._fail(intent, code, f"{kind}: {message}", attempts=(attempt,))

    def _fail(self, intent: CallIntent, code: str, message: str, *, attempts: tuple[Attempt, ...] = ()) -> Response:
        return Response(
            key=intent.key,
            request=intent.request,
            purpose=intent.purpose,
            model_requested=self._find_model(intent),
            attempts=attempts,
            sent_at=self._view.created_at,
            received_at=self._view.ended_at,
            batch=self._view.id,
            failure=Failure(code=code, message=message),
        )

    def _describe(self, value: object) -> str | None:
        """Return an endpoint's words as they can be kept: without the key that it may echo."""
        return self._endpoint.redact(value) if isinstance(value, str) else None

    def _find_model(self, intent: CallIntent) -> str:
        # Samples of one request share a body, which is read once.
        if intent.request not in self._models:
            self._models[intent.request] = str(self._store.get_request(intent.request)["model"])
        return self._models[intent.request]


def build_failed(store: RunStore, intent: CallIntent, failure: Failure, *, batch: str | None) -> Response:
    """Return the outcome of a call that no result was read for."""
    model = str(store.get_request(intent.request).get("model"))
    return Response(key=intent.key, request=intent.request, purpose=intent.purpose, model_requested=model, batch=batch, failure=failure)


# The run by batches.
#
# A chunk is written with its intents before it is submitted, and the batch's identifier after. If the process dies in
# between, the endpoint's own list of batches shows whether the chunk was accepted. Waiting can stop at any time, since
# batches run at the endpoint.
#
# What waits in a batch is held against the budget apart from what is spent: it may be billed at any time, and it is not
# called spent before its results are read. Cost: a tight budget submits less than it could.

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
    """Seconds after a submission whose answer was lost, until the endpoint's list is believed when the batch is not on it."""
    patience: int = 8
    """Questions in a row without an answer, after which the run ends and says how to come back."""

    def __post_init__(self) -> None:
        if not 1 <= self.requests <= MOST_REQUESTS:
            raise ValueError(f"a batch has 1 to {MOST_REQUESTS} requests, got {self.requests}")
        if not 1 <= self.bytes <= MOST_BYTES:
            raise ValueError(f"a batch has up to {MOST_BYTES} bytes, got {self.bytes}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchSummary:
    """Outcome of the calls of one run by batches."""

    run: RunSummary
    submitted: int
    """Requests in batches that the endpoint accepted in this run."""
    results: Mapping[str, int]
    """Results read in this run, by kind: those of the API, and missing, unknown, repeated, unreadable, other_model."""
    running: tuple[str, ...]
    """Batches that are still being worked on at the endpoint; running again waits for them."""


async def run_batches(
    store: RunStore,
    calls: Iterable[Call],
    endpoint: Endpoint,
    settings: CallSettings | None = None,
    *,
    batching: BatchSettings | None = None,
    progress: Progress | None = None,
    tell: Callable[[str], None] | None = None,
    clock: Callable[[], datetime] = read_clock,
    stop: HaltRequest | None = None,
) -> BatchSummary:
    """Make those of *calls* that have no outcome yet by batches, settle each, and return what came of them.

    First come the batches that an earlier run left behind, then the rest. A run that is stopped leaves its batches running, and names
    them. `concurrency` and `patience` of *settings* are for single calls, and mean nothing here.

    Args:
        progress: receives the progress after each chunk.
        tell: receives a sentence about each chunk.
        clock: the time that is written down.
        stop: how the run is ended from outside: once, when the request under way is answered; twice, at once. Batches go on.

    Raises:
        ConflictError: another process works in this folder.
        InputError: the endpoint takes no batches, or calls set sampling parameters that its API version does not take.
        NotFoundError: the endpoint does not know a batch any more; `repeat_lost` gives it up.
        UnavailableError: the key is refused, or the endpoint does not answer; batches go on running.
    """
    with hold_run(store):
        run = _BatchRun(store, endpoint, settings or CallSettings(), batching or BatchSettings(), clock)
        halt = stop or HaltRequest()
        run.listen(progress or (lambda _summary: None), tell or (lambda _text: None), halt)
        try:
            run.resume()
            await run.submit(calls)
            return await run.wait()
        except asyncio.CancelledError:
            task = asyncio.current_task()
            # A second stop request cancels the task on purpose; the result is then a summary. Any other cancellation
            # belongs to the caller and is passed on.
            if halt.times < 2 or task is None:
                raise
            task.uncancel()
            return run.summarise()


async def cancel_batches(store: RunStore, endpoint: Endpoint) -> list[str]:
    """Ask the endpoint to stop working on every batch of *store* that is under way, and return them; raises ModelError."""
    chunks, _ = list_open_chunks(store)
    return [(await get_port(endpoint).cancel_batch(endpoint, chunk.batch)).id for chunk in chunks if chunk.batch is not None]


class _BatchRun:
    """One run: the chunks that are open, and what was found of them."""

    def __init__(
        self, store: RunStore, endpoint: Endpoint, settings: CallSettings, batching: BatchSettings, clock: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._endpoint = endpoint
        self._port = get_port(endpoint)
        self._settings = settings
        self._batching = batching
        self._clock = clock
        self._tally = RunTally(lost=settle_lost(store, clock))
        for model, returned in store.list_models():
            self._tally.models.setdefault(model, []).append(returned)
        spent, waiting = count_spent(store, settings.prices, UNSENT), count_waiting(store, settings.prices)
        self._purse = BudgetPurse(settings.budget, discount_batch(settings.prices), spent=spent, waiting=waiting)
        self._open, self._number = list_open_chunks(store)
        self._foreign: dict[int, set[str]] = {}
        self._sends: Counter[int] = Counter()
        self._tried: dict[int, datetime] = {}
        self._begun = clock()
        self._started = time.monotonic()
        self._failures = 0
        self._submitted = 0
        self._results: Counter[str] = Counter()
        self._stopped: CaveatError | None = None
        self._ended = asyncio.Event()

    def listen(self, progress: Progress, tell: Callable[[str], None], stop: HaltRequest) -> None:
        """Say who is informed, and who may end the run."""
        self._progress = progress
        self._describe = tell
        task = asyncio.current_task()

        def end() -> None:
            self._ended.set()
            # The first request waits for the HTTP request under way, because a submission that is cut off has to be
            # searched for.
            if stop.times > 1 and task is not None:
                task.cancel()

        stop.listen(end)
        if stop.times:
            self._ended.set()

    # What an earlier run left behind

    def resume(self) -> None:
        """Drop chunks that were written down and never submitted; report those that go on."""
        for chunk in list(self._open):
            waiting = chunk.find_open(self._store)
            # Killed between the chunk's document and its intents: nothing was submitted, and its calls are selected
            # again.
            if chunk.batch is None and not waiting:
                self._close(chunk, "never submitted", {})
            elif chunk.batch is None:
                self._describe(f"{chunk.name}: {len(waiting)} calls were about to be submitted when the run ended; looking for their batch")
            else:
                self._describe(f"{chunk.name}: waiting for batch {chunk.batch} again")

    # Submission

    async def submit(self, calls: Iterable[Call]) -> None:
        """Submit what of *calls* has no outcome yet, is not under way, and fits the budget."""
        batching = self._batching
        under_way = {key for chunk in self._open for key in chunk.keys}
        selected = select_calls(self._store, calls, under_way=under_way, settings=self._settings, tally=self._tally)
        for chunk_calls in split_calls(self._afford(selected), most=batching.requests, most_bytes=batching.bytes):
            if self._ended.is_set():
                return
            # Before the chunk is written: a chunk that can never be submitted would stay open in the folder.
            if self._endpoint.api is ModelApi.MESSAGES:
                check_sampling(chunk_calls, api_version=self._endpoint.api_version)
            self._number += 1
            at = self._clock()
            chunk, intents = write_chunk(self._store, chunk_calls, number=self._number, endpoint=self._endpoint.base_url, at=at)
            self._open.append(chunk)
            await self._send(chunk, {call.key: call.body for call in chunk_calls}, intents)

    def _afford(self, calls: Iterable[Call]) -> Iterator[Call]:
        """Give *calls* while the worst case of all that were given fits the budget."""
        for call in calls:
            model = str(call.body.get("model"))
            if is_changed(model, self._tally.models.get(model, ()), allow_alias=self._settings.allow_alias):
                self._stopped = self._stopped or build_changed(self._endpoint, model, self._tally.models[model], call.key)
                return
            # There is nothing to wait for as in a run of single calls: results come hours later. What does not fit
            # stays unsubmitted.
            excess = self._purse.reserve(call)
            if excess is not None:
                self._stopped = self._stopped or AnswerNoError(excess)
                return
            # The worst case counts as spent from the submission on, because a batch cannot be taken back request by
            # request.
            self._purse.settle(call, None)
            yield call

    async def _send(self, chunk: BatchChunk, bodies: Mapping[str, Mapping[str, Json]], intents: Iterable[CallIntent]) -> None:
        """Submit *chunk* until the endpoint takes it or refuses it; if it is unknown what it did, it stays open to be looked for."""
        requests = [(custom_id, bodies[key]) for custom_id, key in chunk.custom_ids.items() if key in bodies]
        wait_s = self._batching.first_wait_s
        for attempt in range(self._batching.patience):
            self._tried[chunk.number] = self._clock()
            self._sends[chunk.number] += 1
            self._tally.attempts += 1
            try:
                view = await self._port.submit_batch(self._endpoint, requests, tag=chunk.tag)
            except ModelError as error:
                # After a lost answer, submitting again at once could create a second batch. The list of batches
                # decides.
                if not is_certain(error):
                    self._doubt(chunk, error)
                    return
                if not error.is_passing or attempt + 1 == self._batching.patience or self._ended.is_set():
                    self._set_free(chunk, intents, error)
                    return
                # An endpoint's `retry-after` may lengthen the wait, up to our own ceiling.
                await self._pause(max(wait_s, min(error.retry_after_s or 0.0, self._batching.longest_wait_s)))
                wait_s *= _GROWTH
            else:
                self._accept(chunk, view, adopted=False)
                self._submitted += len(requests)
                return

    def _accept(self, chunk: BatchChunk, view: BatchView, *, adopted: bool) -> None:
        write_accepted(self._store, chunk, batch=view.id, created_at=view.created_at, adopted=adopted)
        self._open[self._open.index(chunk)] = replace(chunk, batch=view.id)
        how = "found again as" if adopted else "submitted as"
        self._describe(f"{chunk.name}: {len(chunk.keys)} calls {how} {view.id}")

    def _doubt(self, chunk: BatchChunk, error: ModelError) -> None:
        if self._sends[chunk.number] >= self._batching.patience:
            raise build_unreachable(self._endpoint, error) from error
        self._describe(f"{chunk.name}: the answer to the submission was lost ({error.message}); looking for its batch")

    def _set_free(self, chunk: BatchChunk, intents: Iterable[CallIntent], error: ModelError) -> None:
        """Let the calls of a chunk that the endpoint did not take be made later, and end the run: the next chunk would fare no better."""
        # `interrupted` is a failure that cost nothing, so the next run submits these calls without being asked.
        self._fail(intents, Failure(code=INTERRUPTED, message=f"the batch was not accepted: {error.message}"), batch=None)
        self._close(chunk, "not accepted", {})
        if error.trouble is RequestTrouble.KEY_REFUSED:
            raise build_key_refused(self._endpoint, error)
        if self._ended.is_set():
            return
        if error.is_passing:
            raise build_unreachable(self._endpoint, error)
        status = "" if error.status is None else f" (HTTP {error.status})"
        problem = f"the endpoint does not take this batch of {len(chunk.keys)} calls{status}: {error.message}"
        raise InputError(Fault("batch-refused", self._endpoint.base_url, problem))

    # Waiting

    async def wait(self) -> BatchSummary:
        """Visit the open chunks until none is left, or it is stopped."""
        wait_s = self._batching.first_wait_s
        while self._open:
            for chunk in list(self._open):
                if not self._ended.is_set():
                    await self._visit(chunk)
            if not self._open or self._ended.is_set():
                break
            await self._pause(wait_s)
            # Batches take minutes to hours. Growing waits answer small ones soon and ask little about large ones.
            wait_s = min(wait_s * _GROWTH, self._batching.longest_wait_s)
        return self.summarise()

    async def _visit(self, chunk: BatchChunk) -> None:
        try:
            if chunk.batch is None:
                await self._look_for(chunk)
            else:
                await self._look_at(chunk, chunk.batch)
            self._failures = 0
        except ModelError as error:
            self._bear(chunk, error)

    async def _look_for(self, chunk: BatchChunk) -> None:
        known = self._foreign.setdefault(chunk.number, self._list_known())
        try:
            listed = await self._port.list_batches(self._endpoint, since=find_earliest(chunk))
        except ModelError as error:
            # An endpoint without a list of batches can never resolve the chunk. Its calls are reported as lost instead
            # of being waited for.
            if error.status not in (404, 405, 501):
                raise
            self._give_up(chunk, f"the endpoint does not list its batches (HTTP {error.status}), so it is unknown whether they were made")
            return
        search = await search_chunk(self._endpoint, chunk, listed, known=known)
        if search.found is not None:
            self._accept(chunk, search.found, adopted=True)
        # A new batch may appear on the list with a delay. Only after the grace period does absence mean that it was not
        # accepted.
        elif search.is_conclusive and self._is_grace_over(chunk):
            self._describe(f"{chunk.name}: the endpoint has no such batch, so it was never accepted; submitting it again")
            intents = list(chunk.find_open(self._store).values())
            bodies = {intent.key: self._store.get_request(intent.request) for intent in intents}
            await self._send(chunk, bodies, intents)

    async def _look_at(self, chunk: BatchChunk, batch: str) -> None:
        view = await self._port.find_batch(self._endpoint, batch)
        if view.refusal is not None:
            refused = ModelError(RequestTrouble.NOT_ACCEPTED, f"batch {batch} was refused as a whole: {view.refusal}")
            self._set_free(chunk, list(chunk.find_open(self._store).values()), refused)
        elif view.is_archived:
            self._give_up(chunk, f"batch {batch} is archived: its results can no longer be read")
        elif view.ended_at is not None:
            await self._read(chunk, view)

    async def _read(self, chunk: BatchChunk, view: BatchView) -> None:
        reader = ChunkReader(self._store, chunk, view, self._count, endpoint=self._endpoint)
        # A stream can end early without an error. It is read again before requests count as missing, and missing ones
        # count as possibly billed.
        for _ in range(_READINGS):
            async with aclosing(self._port.read_results(self._endpoint, view.id)) as lines:
                await reader.read(lines)
            if reader.is_complete:
                break
        reader.close()
        counts = {kind: count for kind, count in sorted(reader.counts.items()) if count}
        self._results.update(counts)
        self._close(chunk, "read", counts)
        self._describe(f"{chunk.name}: {view.id} has ended: {', '.join(f'{count} {kind}' for kind, count in counts.items())}")

    # What goes wrong

    def _bear(self, chunk: BatchChunk, error: ModelError) -> None:
        """Pass over a failed question, unless it says that asking again is of no use."""
        if error.trouble is RequestTrouble.KEY_REFUSED:
            raise build_key_refused(self._endpoint, error)
        if error.trouble is RequestTrouble.NOT_FOUND and chunk.batch is not None:
            # A batch that the endpoint does not know may belong to another workspace's key. It is given up only on
            # request, and never if this run submitted it.
            if self._settings.repeat_lost and not self._sends[chunk.number]:
                self._give_up(chunk, f"the endpoint does not know batch {chunk.batch} any more")
                return
            problem = f"the endpoint does not know batch {chunk.batch} of {len(chunk.keys)} calls: {error.message}"
            raise NotFoundError(Fault("batch-not-found", self._endpoint.base_url, problem))
        self._failures += 1
        if self._failures >= self._batching.patience:
            raise build_unreachable(self._endpoint, error)

    def _give_up(self, chunk: BatchChunk, why: str) -> None:
        """Settle the calls of a chunk of which nothing is known; running again with `repeat_lost` makes them again."""
        intents = list(chunk.find_open(self._store).values())
        self._fail(intents, Failure(code=LOST, message=why), batch=chunk.batch)
        self._tally.lost += len(intents)
        self._close(chunk, "given up", {"lost": len(intents)})
        self._describe(f"{chunk.name}: {len(intents)} calls are lost, and made again only when you ask for that: {why}")

    def _fail(self, intents: Iterable[CallIntent], failure: Failure, *, batch: str | None) -> None:
        self._store.settle([(intent, build_failed(self._store, intent, failure, batch=batch)) for intent in intents])

    def _close(self, chunk: BatchChunk, reason: str, counts: Mapping[str, int]) -> None:
        write_closed(self._store, chunk, reason=reason, counts=counts)
        self._open = [batch_chunk for batch_chunk in self._open if batch_chunk.number != chunk.number]
        self._progress(self.summarise().run)

    def _count(self, response: Response) -> None:
        """Take in one outcome; another model than was asked for, or than answered before, is told when everything is read."""
        self._tally.add(response)
        model, known = response.model_requested, self._tally.add_model(response)
        # The remaining results are read all the same, since they are paid for. The run then reports the change and
        # submits nothing more.
        if self._stopped is None and is_changed(model, known, allow_alias=self._settings.allow_alias):
            self._stopped = build_changed(self._endpoint, model, known, response.key)

    def _list_known(self) -> set[str]:
        accepted = (self._store.find_document(f"batch-{number:06}-accepted") for number in range(1, self._number + 1))
        # Batches that other chunks of this folder have already been matched with.
        return {item["id"] for item in accepted if item is not None}

    def _is_grace_over(self, chunk: BatchChunk) -> bool:
        # A chunk of an earlier run was submitted before this one began, whenever that was.
        tried = self._tried.get(chunk.number, self._begun)
        return self._clock() - tried >= timedelta(seconds=self._batching.grace_s)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)

    def summarise(self) -> BatchSummary:
        """Return the progress."""
        run = self._tally.summarise(
            spent=count_spent(self._store, self._settings.prices, UNSENT),
            elapsed_s=time.monotonic() - self._started,
            most_at_once=0,
            stopped=self._stopped,
            interrupted=self._ended.is_set(),
        )
        running = tuple(chunk.batch or chunk.name for chunk in self._open)
        return BatchSummary(run=run, submitted=self._submitted, results=dict(self._results), running=running)
