"""Limits that all workers share: the lease on a slice, the rate of requests, and the budget."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from audit.endpoints.model_answers import RateQuota
from audit.records.model_response import Usage
from audit.replay.request_pacing import RequestLimiter, StoppedError
from audit.replay.run_budget import BudgetPurse, Prices, SpentAmount
from audit.replay.run_store import Call
from registry.errors import Fault
from registry.records.replay_run import Budget

_MARGIN = 1 / 3
"""Share of a lease that a worker leaves unused: what it sends must be on its way before another worker takes over."""
_CHECK_S = 0.05


@dataclass(slots=True)
class LeaseGuard:
    """Whether a worker may send for its lease, by the monotonic clock of this machine."""

    lease_s: float
    clock: Callable[[], float] = time.monotonic
    renewed_at: float = 0.0
    is_lost: bool = False
    """Whether another worker has the slice, or it was not renewed in time."""

    def renew(self, asked_at: float) -> None:
        """The database has renewed the lease; *asked_at* is when it was asked to, which is earlier than its answer."""
        self.renewed_at = max(self.renewed_at, asked_at)

    @property
    def left_s(self) -> float:
        """Seconds in which requests may be sent."""
        return 0.0 if self.is_lost else self.renewed_at + self.lease_s * (1 - _MARGIN) - self.clock()

    @property
    def may_send(self) -> bool:
        """Whether a request may be sent now."""
        return self.left_s > 0

    @property
    def is_over(self) -> bool:
        """Whether the lease may have ended by the clock of the database."""
        return self.is_lost or self.clock() > self.renewed_at + self.lease_s


@dataclass(slots=True, kw_only=True)
class SlotGrant:
    """Times that the database has granted: `count` of them, the first after `wait_s`; None where there is no rate."""

    count: int | None
    wait_s: float
    spacing_s: float = 0.0


AskSlots = Callable[[int], SlotGrant]
"""From how many are wanted. Blocks while the database answers."""


@dataclass(slots=True)
class RateGate:
    """Requests of one worker to one endpoint, at times that all workers share."""

    ask: AskSlots
    is_limited: bool = False
    """Whether the endpoint has a rate; the sending transaction says so too."""
    paused_until: float = 0.0
    """By the monotonic clock: after a 429 that any worker received."""
    waiting: int = 0
    times: deque[float] = field(default_factory=deque)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def pause(self, seconds: float) -> None:
        """Hold all requests back for *seconds*."""
        if seconds > 0:
            self.paused_until = max(self.paused_until, time.monotonic() + seconds)
            # Times that were granted before the pause are void: they would all be used at its end.
            self.times.clear()

    async def enter(self, is_stopped: Callable[[], bool]) -> None:
        """Wait until a request may be sent; raises StoppedError as soon as *is_stopped*."""
        self.waiting += 1
        try:
            while True:
                await _sleep_until(lambda: self.paused_until, is_stopped)
                if not self.is_limited:
                    return
                if (moment := await self._take(is_stopped)) is not None:
                    await _sleep_until(lambda: moment, is_stopped)
                    return
        finally:
            self.waiting -= 1

    async def _take(self, is_stopped: Callable[[], bool]) -> float | None:
        async with self.lock:
            if is_stopped():
                raise StoppedError
            if not self.times:
                # Requests that came together are asked for together.
                await asyncio.sleep(0)
                grant = await asyncio.to_thread(self.ask, self.waiting)
                # The answer took a moment, so the times are a little late and never early.
                now = time.monotonic()
                if grant.count is None:
                    self.is_limited = False
                    self.pause(grant.wait_s)
                    return None
                if grant.count == 0:
                    await asyncio.sleep(min(grant.wait_s, 0.5))
                    return None
                self.times.extend(now + grant.wait_s + number * grant.spacing_s for number in range(grant.count))
            return self.times.popleft()


async def _sleep_until(get_moment: Callable[[], float], is_stopped: Callable[[], bool]) -> None:
    while (left := get_moment() - time.monotonic()) > 0:
        if is_stopped():
            raise StoppedError
        await asyncio.sleep(min(left, _CHECK_S) if left > _CHECK_S else left)
    if is_stopped():
        raise StoppedError


class SliceLimiter:
    """The limiter of one slice: the worker's own limits, the rate of all workers, and the lease."""

    def __init__(self, shared: RequestLimiter, gate: RateGate, guard: LeaseGuard, *, report: Callable[[float | None, float], None]) -> None:
        self._shared = shared
        self._gate = gate
        self._guard = guard
        self._report = report
        self._stopped = False
        self._costs: dict[str, float] = {}

    @property
    def most_at_once(self) -> int:
        """Requests of the worker that were under way at the same time, at most."""
        return self._shared.most_at_once

    def _is_stopped(self) -> bool:
        return self._stopped or self._guard.is_over

    async def enter(self) -> None:
        """Wait until one more call may begin; the caller ends it with `leave`. Raises StoppedError when none may any more."""
        if self._is_stopped():
            raise StoppedError
        await self._shared.enter()
        if self._is_stopped():
            self._shared.leave()
            raise StoppedError

    def leave(self) -> None:
        """A call that had entered is over."""
        self._shared.leave()

    def stop(self) -> None:
        """Give no more slots for this slice; other slices of the worker go on."""
        self._stopped = True

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[int]:
        """Hold a place for one request; raises StoppedError when there are no more, or the lease is about to end."""
        while True:
            await self._gate.enter(self._is_stopped)
            async with self._shared.slot() as number:
                # The renewal may be late by a moment. A request that waits is not sent in the last third of the lease.
                if self._guard.may_send and not self._is_stopped():
                    yield number
                    return
            if self._is_stopped():
                raise StoppedError
            await asyncio.sleep(_CHECK_S)

    def succeed(self, number: int, quotas: Iterable[RateQuota], *, input_tokens: int | None, output_tokens: int | None) -> None:
        """Request *number* was answered."""
        quotas = tuple(quotas)
        self._shared.succeed(number, quotas, input_tokens=input_tokens, output_tokens=output_tokens)
        tokens = {"input-tokens": input_tokens, "output-tokens": output_tokens, "tokens": (input_tokens or 0) + (output_tokens or 0)}
        for kind, cost in {"requests": 1, **tokens}.items():
            if cost is not None:
                self._costs[kind] = self._costs.get(kind, cost) * 0.9 + cost * 0.1
        rates = [
            (quota.limit - quota.remaining) / quota.reset_s / max(1.0, self._costs.get(quota.kind, 1.0))
            for quota in quotas
            if quota.reset_s and quota.remaining < quota.limit
        ]
        if rates:
            self._report(min(rates), 0.0)

    def refuse(self, number: int, quotas: Iterable[RateQuota], *, retry_after_s: float) -> None:
        """Request *number* was refused for there being too many; all workers wait *retry_after_s* seconds."""
        self._shared.refuse(number, quotas, retry_after_s=retry_after_s)
        self._gate.pause(retry_after_s)
        self._report(None, retry_after_s)


class SlicePurse:
    """The purse of one worker: it measures what calls may cost and have cost. Whether they fit is for the sending transaction to say."""

    def __init__(self, prices: Prices) -> None:
        self._own = BudgetPurse(Budget(), prices)
        self._bounds: dict[str, SpentAmount] = {}
        self._spent: dict[str, SpentAmount] = {}

    @property
    def spent(self) -> SpentAmount:
        """What this worker has spent since it started."""
        return self._own.spent

    @property
    def is_idle(self) -> bool:
        """Whether nothing is reserved."""
        return self._own.is_idle

    def reserve(self, call: Call) -> Fault | None:
        """Note the worst case of *call*; it always fits here."""
        self._bounds[call.key] = self._own.bound(call)
        return self._own.reserve(call)

    def settle(self, call: Call, usage: Usage | None) -> None:
        """*call* is over; *usage* as the endpoint counted it, None for its worst case."""
        with _Difference(self, call):
            self._own.settle(call, usage)

    def release(self, call: Call, *, sent: bool = False) -> None:
        """*call* is over, and cost no tokens."""
        with _Difference(self, call):
            self._own.release(call, sent=sent)

    def add_lost(self, call: Call) -> None:
        """One request of *call* may have been billed next to the one that is answered."""
        with _Difference(self, call):
            self._own.add_lost(call)

    def get_bound(self, key: str) -> SpentAmount:
        """Return the worst case of the call *key*, which was reserved."""
        return self._bounds[key]

    def pop_spent(self, key: str) -> SpentAmount:
        """Return what the call *key* has spent; it is forgotten then."""
        self._bounds.pop(key, None)
        return self._spent.pop(key, SpentAmount())

    def add(self, key: str, amount: SpentAmount) -> None:
        """Note that the call *key* has spent *amount* more."""
        self._spent[key] = self._spent.get(key, SpentAmount()) + amount


class _Difference:
    """Notes for a call what the purse has spent inside the context."""

    def __init__(self, purse: SlicePurse, call: Call) -> None:
        self._purse = purse
        self._call = call
        self._before = purse.spent

    def __enter__(self) -> None:
        self._before = self._purse.spent

    def __exit__(self, *_: object) -> None:
        self._purse.add(self._call.key, self._purse.spent - self._before)
