"""The limiter finds how much an endpoint takes, and keeps below what it is told."""

import asyncio
import time
from pathlib import Path

import pytest

from audit.endpoints.model_answers import RateQuota
from audit.replay import call_engine
from audit.replay.call_engine import CallSettings, HaltRequest
from audit.replay.request_pacing import RequestLimiter, StoppedError
from audit.replay.run_budget import BudgetPurse
from audit.replay.run_store import open_store
from registry.records.replay_run import Budget
from tests.endpoint.server import Asked, Endpoint, Outcome, Refusal, Reply, run_endpoint
from tests.replay.calling import make_calls, open_at, run


class Clock:
    """A clock that stands still until it is told."""

    now = 100.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


def test_a_refusal_halves_the_limit_once_for_all_that_were_under_way() -> None:
    """Ten refusals of one burst are one sign."""
    clock = Clock()
    limiter = RequestLimiter(cap=64, clock=clock)
    before = limiter.limit
    for number in range(10):
        limiter.refuse(number, (), retry_after_s=2.0)
    clock.now += 3
    after_burst = limiter.limit
    limiter.refuse(11, (), retry_after_s=2.0)

    assert (after_burst, limiter.limit) == (before // 2, before // 4)


def test_the_limit_never_falls_below_one_nor_rises_above_the_cap() -> None:
    """However often it is refused, one request is left; however well it goes, the cap holds."""
    clock = Clock()
    limiter = RequestLimiter(cap=20, clock=clock)
    for number in range(20):
        clock.now += 10
        limiter.refuse(number, (), retry_after_s=1.0)
    lowest = limiter.limit
    for number in range(5000):
        clock.now += 0.5 / (1 + number)
        limiter.open = limiter.limit
        limiter.succeed(number, (), input_tokens=1, output_tokens=1)

    assert lowest == 1
    assert limiter.limit <= 20


def test_requests_wait_where_the_endpoint_has_none_left() -> None:
    """With nothing remaining, the next request waits for about as long as one takes to come back."""

    async def go() -> float:
        limiter = RequestLimiter(cap=8, clock=time.monotonic)
        async with limiter.slot() as number:
            pass
        limiter.succeed(number, (RateQuota(kind="requests", limit=10, remaining=0, reset_s=1.0),), input_tokens=1, output_tokens=1)
        started = time.monotonic()
        async with limiter.slot():
            return time.monotonic() - started

    waited = asyncio.run(go())

    assert 0.05 <= waited <= 0.9


def test_a_stopped_limiter_gives_nothing_more() -> None:
    """Who waits is woken, and told."""

    async def go() -> None:
        limiter = RequestLimiter(cap=1, clock=time.monotonic)
        await limiter.enter()
        waiting = asyncio.create_task(limiter.enter())
        await asyncio.sleep(0)
        limiter.stop()
        await waiting

    with pytest.raises(StoppedError):
        asyncio.run(go())


class StoppingLimiter(RequestLimiter):
    """A limiter with whose third place the run is asked to end, twice, before the call's task takes its first step."""

    halt = HaltRequest()

    async def enter(self) -> None:
        """Take a place."""
        await super().enter()
        if self.open == 3:
            for _ in range(2):
                asyncio.get_running_loop().call_soon(self.halt.request)


def test_a_call_that_is_ended_before_it_began_gives_its_place_back(tmp_path: Path) -> None:
    """Slices of a worker share a limiter: for a place that is never free, another slice would wait for ever."""
    limiter = StoppingLimiter(cap=8, clock=time.monotonic)
    store = open_store(tmp_path, create=True)

    async def go() -> int:
        async with open_at(server) as endpoint:
            purse = BudgetPurse(Budget(), {})
            summary = await call_engine.make_calls(
                store, make_calls(8), endpoint, CallSettings(), limiter=limiter, purse=purse, stop=limiter.halt
            )
            return summary.answered

    with run_endpoint(Endpoint(script=lambda _asked: Reply(delay_s=5))) as server:
        answered = asyncio.run(go())
    store.close()

    assert (answered, limiter.open) == (0, 0)


class Meter:
    """A token bucket as the hosted API keeps one: it refuses what is too much, and tells in headers what is left."""

    def __init__(self, *, burst: float, rate: float) -> None:
        self.burst, self.rate, self.level, self.at, self.refused = burst, rate, burst, time.monotonic(), 0

    def __call__(self, _asked: Asked) -> Outcome:
        """Answer or refuse one request."""
        now = time.monotonic()
        self.level = min(self.burst, self.level + (now - self.at) * self.rate)
        self.at = now
        allowed = self.level >= 1
        self.level -= allowed
        self.refused += not allowed
        headers = {
            "anthropic-ratelimit-requests-limit": str(int(self.burst)),
            "anthropic-ratelimit-requests-remaining": str(int(self.level)),
            "anthropic-ratelimit-requests-reset": f"{(self.burst - self.level) / self.rate:.3f}",
        }
        if allowed:
            return Reply(headers=headers, delay_s=0.02)
        return Refusal(status=429, headers={**headers, "retry-after": f"{1 / self.rate:.3f}"})


def test_refusals_are_rare_where_the_headers_tell_the_limit(tmp_path: Path) -> None:
    """An endpoint that allows sixty requests a second and says so refuses hardly any, and is kept busy."""
    meter = Meter(burst=30, rate=60)
    with run_endpoint(Endpoint(script=meter)) as server:
        summary = run(server, tmp_path, make_calls(240))

    assert summary.answered == 240
    assert meter.refused <= 12
    assert summary.elapsed_s < 3 * (240 - 30) / 60


def test_a_storm_of_refusals_without_headers_is_survived(tmp_path: Path) -> None:
    """An endpoint that takes four at once and tells nothing is asked less, and answers everything."""
    with run_endpoint() as server:
        server.script = lambda _: Reply(delay_s=0.02) if server.at_once <= 4 else Refusal(status=429, headers={"retry-after": "0.05"})
        summary = run(server, tmp_path, make_calls(120))

    assert (summary.answered, summary.stopped) == (120, None)
    assert summary.attempts < 240
