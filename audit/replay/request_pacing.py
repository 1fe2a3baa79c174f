"""How many requests are under way at once, and when the same request is sent again."""

import asyncio
import contextlib
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, stop_after_delay, wait_random_exponential

from audit.endpoints.model_answers import ModelError, RateQuota, RequestTrouble

# Concurrency follows throughput. The limit begins small and doubles while that makes answers arrive faster. Then it
# grows by an eighth, and stays where growth no longer helps. A refusal (429, 529) halves it and holds back all calls
# for as long as the endpoint asks. Where rate-limit headers state what remains, requests are spaced so that no refusal
# occurs.
#
# tenacity holds the schedule of retries, and `retry-after` has a ceiling. Cost: the first second runs below capacity.

_FIRST = 16
_BETTER = 1.04
"""A throughput that is higher by this factor is higher, and not chance."""
_MUCH_BETTER = 1.3
"""Twice the requests should be answered nearly twice as fast; where they are not by this factor, doubling has gone too far."""
_PATIENCE = 20
"""Windows without a gain, after which growing is tried again."""
_SHORTEST_WINDOW_S = 0.2
_WEIGHT = 0.1
"""Of the newest answer, in the moving average of tokens a request."""
_LONGEST_SPACING_S = 5.0
"""Seconds after which the headers are doubted: one more request shows what they say now."""


@dataclass
class _RateBucket:
    """One rate limit: what it held at `at`, and how fast it fills."""

    remaining: float
    limit: float
    rate: float
    at: float
    marks: int
    """Requests sent in all when the request that told of it was sent."""


class StoppedError(Exception):
    """There are no more slots: the run is ending."""


class CallLimiter(Protocol):
    """What decides when calls begin and requests are sent. Waiters get StoppedError when there are no more slots."""

    @property
    def most_at_once(self) -> int:
        """Requests that were under way at the same time, at most."""

    async def enter(self) -> None:
        """Wait until one more call may begin; the caller ends it with `leave`."""

    def leave(self) -> None:
        """A call that had entered is over."""

    def stop(self) -> None:
        """Give no more slots, and wake who waits for one; requests under way go on."""

    def slot(self) -> AbstractAsyncContextManager[int]:
        """Hold a place for one request, from its sending to its answer; gives its number."""

    def succeed(self, number: int, quotas: Iterable[RateQuota], *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Request *number* was answered."""

    def refuse(self, number: int, quotas: Iterable[RateQuota], *, retry_after_s: float) -> None:
        """Request *number* was refused for there being too many."""


class RequestLimiter:
    """Slots for requests. Not for several event loops."""

    def __init__(self, *, cap: int, clock: Callable[[], float], ahead: float = 0.0) -> None:
        """Begin with no request under way.

        Args:
            cap: requests under way, at most.
            clock: monotonic.
            ahead: share of the requests under way that more calls may have begun, so that their intents are written when a place is free.
        """
        self.cap = cap
        self._ahead = ahead
        self.limit = min(_FIRST, cap)
        self.open = 0
        """Calls begun and not ended, waiting for another attempt included."""
        self.in_flight = 0
        self._most_at_once = 0
        self._clock = clock
        self._stopped = False
        self._waiters: list[asyncio.Future[None]] = []
        self._paused_until = 0.0
        self._sent = 0
        self._buckets: dict[str, _RateBucket] = {}
        self._cost = {"requests": 1.0, "tokens": 1.0, "input-tokens": 1.0, "output-tokens": 1.0}
        self._doubling = True
        self._best = 0.0
        self._idle_windows = 0
        self._since = clock()
        self._done = 0
        self._was_full = False

    @property
    def most_at_once(self) -> int:
        """Requests that were under way at the same time, at most."""
        return self._most_at_once

    async def enter(self) -> None:
        """Wait until one more call may begin; the caller ends it with `leave`. Raises StoppedError when none may any more."""
        # `open` counts calls that wait for another attempt too. Without that, new calls would start while the endpoint
        # refuses the old ones.
        while self.open >= self.limit + int(self._ahead * self.limit) and not self._stopped:
            self._was_full = True
            await self._wait(None)
        if self._stopped:
            raise StoppedError
        self.open += 1

    def leave(self) -> None:
        """A call that had entered is over."""
        self.open -= 1
        self._wake()

    def stop(self) -> None:
        """Give out no more slots, and wake who waits for one; requests under way go on."""
        self._stopped = True
        self._wake()

    @contextlib.asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Hold a place for one request, from its sending to its answer; gives its number, for what is learned from it.

        Raises:
            StoppedError: there are no more.
        """
        # Checked again after every wake: several waiters may be woken for one free place.
        while not self._stopped and ((wait_s := self._find_wait()) is None or wait_s > 0):
            await self._wait(wait_s)
        if self._stopped:
            raise StoppedError
        self.in_flight += 1
        self._sent += 1
        self._most_at_once = max(self._most_at_once, self.in_flight)
        try:
            yield self._sent
        finally:
            self.in_flight -= 1
            self._wake()

    def succeed(self, number: int, quotas: Iterable[RateQuota], *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Request *number* was answered."""
        self._learn_costs(input_tokens, output_tokens)
        self._learn(number, quotas)
        self._done += 1
        self._grow()

    def refuse(self, number: int, quotas: Iterable[RateQuota], *, retry_after_s: float) -> None:
        """Request *number* was refused for there being too many; all requests wait *retry_after_s* seconds."""
        self._learn(number, quotas)
        now = self._clock()
        # Refusals of requests that were under way together are one signal. Halving for each would bring the limit to 1
        # at once.
        if now >= self._paused_until:
            self.limit = max(1, self.limit // 2)
        self._paused_until = max(self._paused_until, now + retry_after_s)
        # After a refusal the capacity is roughly known. The limit then grows in small steps, and earlier throughput is
        # no longer the measure.
        self._doubling = False
        self._best = 0.0
        self._begin_window(now)

    def _find_wait(self) -> float | None:
        """Seconds until a request may be sent, 0 for now; None: until another one ends."""
        if self.in_flight >= self.limit:
            return None
        now = self._clock()
        if now < self._paused_until:
            return self._paused_until - now
        # The scarcest limit decides: requests, input tokens and output tokens are limited separately.
        return max((self._space(kind, bucket, now) for kind, bucket in self._buckets.items()), default=0.0)

    def _space(self, kind: str, bucket: _RateBucket, now: float) -> float:
        # A request dearer than the whole bucket could otherwise never be sent.
        cost = min(self._cost[kind], bucket.limit)
        # Refill since the headers, less the requests sent after the one that carried them: their cost is not in
        # `remaining` yet.
        there = min(bucket.limit, bucket.remaining + bucket.rate * (now - bucket.at)) - (self._sent - bucket.marks) * cost
        if there >= cost:
            return 0.0
        # Headers without a reset time, or older than a full refill, say nothing about now. One request at a time finds
        # out.
        if bucket.rate <= 0 or now - bucket.at > _LONGEST_SPACING_S + (bucket.limit / bucket.rate):
            return 0.0 if self.in_flight == 0 else _SHORTEST_WINDOW_S
        return max(0.001, (cost - there) / bucket.rate)

    def _learn(self, number: int, quotas: Iterable[RateQuota]) -> None:
        now = self._clock()
        for quota in quotas:
            bucket = self._buckets.get(quota.kind)
            if bucket is not None and bucket.marks > number:
                continue  # an answer that was overtaken tells of an older state
            # The reset time is when the bucket is full again, so the rate follows from what is missing. A full bucket
            # shows no rate, and the last known one stays.
            missing = quota.limit - quota.remaining
            quota_rate = missing / quota.reset_s if quota.reset_s else 0.0
            rate = quota_rate or (bucket.rate if bucket is not None else 0.0)
            self._buckets[quota.kind] = _RateBucket(remaining=quota.remaining, limit=quota.limit, rate=rate, at=now, marks=number)

    def _learn_costs(self, input_tokens: int | None, output_tokens: int | None) -> None:
        costs = {"input-tokens": input_tokens, "output-tokens": output_tokens, "tokens": (input_tokens or 0) + (output_tokens or 0)}
        for kind, tokens in costs.items():
            if tokens is not None:
                # The first answer replaces the initial guess; later ones move the average by a tenth.
                self._cost[kind] += (tokens - self._cost[kind]) * (_WEIGHT if self._done else 1.0)

    def _grow(self) -> None:
        now = self._clock()
        elapsed = now - self._since
        # A window has at least as many answers as requests under way. Shorter ones would show chance.
        if self._done < self.limit or elapsed < _SHORTEST_WINDOW_S:
            return
        throughput, full = self._done / elapsed, self._was_full or self.open >= self.limit
        self._begin_window(now)
        # Throughput below the limit is set by the calls and not by the endpoint, so it is no reason to grow.
        if not full or self.limit >= self.cap:
            return
        self._doubling = self._doubling and throughput > self._best * _MUCH_BETTER
        if throughput > self._best * _BETTER:
            self._best = throughput
            self._idle_windows = 0
            self.limit = min(self.cap, self.limit * 2 if self._doubling else self.limit + max(1, self.limit // 8))
        else:
            self._idle_windows += 1
            if self._idle_windows >= _PATIENCE:
                # The endpoint may have become faster since. The mark is lowered so that the next window can count as a
                # gain and growth is tried again.
                self._idle_windows, self._best = 0, throughput / _BETTER**2
        self._wake()

    def _begin_window(self, now: float) -> None:
        self._since, self._done, self._was_full = now, 0, False

    async def _wait(self, seconds: float | None) -> None:
        """Wait for a slot to come free, or at most *seconds*."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await waiter

    def _wake(self) -> None:
        # All waiters are woken and check for themselves. Which of them may go depends on the limit and on the headers.
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)


# Retries of one request, bounded in number and time whatever the endpoint asks for.

_SHARED = (RequestTrouble.RATE_LIMITED, RequestTrouble.OVERLOADED)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryLimits:
    """How long a call is tried."""

    max_attempts: int = 6
    max_elapsed_s: float = 900.0
    """Seconds from the first attempt, after which none is begun."""
    longest_wait_s: float = 120.0
    """The ceiling on what `retry-after` can ask for."""
    first_wait_s: float = 0.5
    """Doubled with each attempt, and drawn at random below that, up to a minute."""


def build_retrying(patience: RetryLimits, sleep: Callable[[float], Awaitable[None]]) -> AsyncRetrying:
    """Return what repeats an attempt that failed for a passing reason; the last error is raised."""
    # Random waits spread the calls that failed together.
    backoff = wait_random_exponential(multiplier=patience.first_wait_s, max=60.0)

    def wait_s(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        retry_after_s = error.retry_after_s if isinstance(error, ModelError) else None
        # The endpoint's wish counts up to a ceiling, with up to 5 % of noise, so that calls held back together do not
        # return together.
        return backoff(state) if retry_after_s is None else min(retry_after_s, patience.longest_wait_s) * (1 + 0.05 * random.random())  # noqa: S311 (spreads load, guards nothing)

    return AsyncRetrying(
        stop=stop_after_attempt(patience.max_attempts) | stop_after_delay(patience.max_elapsed_s),
        wait=wait_s,
        retry=retry_if_exception(lambda error: isinstance(error, ModelError) and error.is_passing),
        sleep=sleep,
        reraise=True,
    )


def find_pause(error: ModelError, patience: RetryLimits) -> float | None:
    """Return for how many seconds no request should be sent because of *error*; None when it says nothing about the others."""
    if error.trouble not in _SHARED:
        return None
    return patience.first_wait_s if error.retry_after_s is None else min(error.retry_after_s, patience.longest_wait_s)
