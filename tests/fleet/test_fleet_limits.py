"""Limits that workers share: permits of a rate, the lease by the worker's own clock, slices and their jobs."""

import asyncio
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.replay.request_pacing import StoppedError
from fleet.database import FleetDatabase
from fleet.limits import LeaseGuard, RateGate, SlotGrant
from fleet.queue.job_queue import ENGINES, Job, QueueStop, open_queue
from fleet.runs.slice_store import report_limits
from fleet.slices import LARGEST, choose_sizes, number_slices
from tests.fleet.conftest import NewFleet

ENDPOINT = ("http://e", "k")


def ask_database(database: FleetDatabase, wanted: int) -> SlotGrant:
    """Ask for permits, as a worker does."""
    answer = database.call("SELECT fleet.grant_slots(%s, %s, %s)", *ENDPOINT, wanted)
    return SlotGrant(count=answer["count"], wait_s=answer["wait_s"], spacing_s=answer.get("spacing_s") or 0.0)


def test_permits_of_three_workers_never_exceed_the_rate(new_fleet: NewFleet) -> None:
    """Permits of all workers are at least the spacing of the rate apart, whoever asks for how many."""
    url, rate = new_fleet(), 200.0
    databases = [FleetDatabase(url) for _ in range(3)]
    report_limits(databases[0], ENDPOINT, rate, 0.0)
    # By the row of the limit alone: two readings of a clock may be far apart on a busy machine.
    moments: list[float] = []
    for number in range(12):
        database = databases[number % 3]
        grant = ask_database(database, number + 1)
        assert grant.count is not None
        end = database.call("SELECT extract(epoch FROM next_at)::float8 FROM fleet.quota")
        moments += [end - (grant.count - place) * grant.spacing_s for place in range(grant.count)]
    for database in databases:
        database.close()

    assert len(moments) > 12
    assert min(after - before for before, after in pairwise(moments)) > 1 / rate


def test_a_pause_holds_permits_back(new_fleet: NewFleet) -> None:
    """After a 429 the next permit comes when the pause is over, and a shorter pause does not shorten it."""
    database = FleetDatabase(new_fleet())
    report_limits(database, ENDPOINT, 50.0, 30.0)
    report_limits(database, ENDPOINT, None, 1.0)
    grant = ask_database(database, 5)
    database.close()

    assert grant.count == 0
    assert grant.wait_s > 20


def test_an_endpoint_without_a_rate_gives_permits_without_number(new_fleet: NewFleet) -> None:
    """Only the pause is known then."""
    database = FleetDatabase(new_fleet())
    report_limits(database, ENDPOINT, None, 0.0)
    grant = ask_database(database, 5)
    database.close()

    assert (grant.count, grant.wait_s) == (None, 0.0)


def test_requests_go_at_the_granted_times() -> None:
    """Ten requests take the permits of their grants in order, and none is sent before its time."""
    asked: list[int] = []
    begun = time.monotonic()

    def ask(wanted: int) -> SlotGrant:
        asked.append(wanted)
        return SlotGrant(count=min(wanted, 4), wait_s=max(0.0, begun + len(asked) * 0.04 - time.monotonic()), spacing_s=0.01)

    async def go() -> list[float]:
        gate, moments = RateGate(ask, is_limited=True), []

        async def send() -> None:
            await gate.enter(lambda: False)
            moments.append(time.monotonic())

        await asyncio.gather(*(send() for _ in range(10)))
        return moments

    moments = asyncio.run(go())

    assert len(moments) == 10
    assert moments[0] >= begun + 0.04
    assert asked[0] == 10


def test_waiting_requests_end_with_their_slice() -> None:
    """A slice that is stopped does not wait for a pause to end."""
    gate = RateGate(lambda _wanted: SlotGrant(count=None, wait_s=0.0))
    gate.pause(3600)

    async def go() -> None:
        stopped = False

        def stop() -> None:
            nonlocal stopped
            stopped = True

        asyncio.get_running_loop().call_later(0.05, stop)
        await gate.enter(lambda: stopped)

    with pytest.raises(StoppedError):
        asyncio.run(go())


def test_a_worker_stops_sending_in_the_last_third_of_its_lease() -> None:
    """By the monotonic clock, from the moment at which the renewal was asked for; a renewal makes it go on."""
    now = 100.0
    guard = LeaseGuard(30.0, clock=lambda: now)
    guard.renew(100.0)
    states = []
    for now in (100.0, 119.9, 120.1, 130.1):  # noqa: B007 (the clock reads it)
        states += [(guard.may_send, guard.is_over)]
    guard.renew(125.0)
    states.append((guard.may_send, guard.is_over))
    guard.renew(110.0)
    guard.is_lost = True

    assert states == [(True, False), (True, False), (False, False), (False, True), (True, False)]
    assert (guard.renewed_at, guard.may_send, guard.is_over) == (125.0, False, True)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_job_that_a_silent_worker_holds_can_be_put_again(new_fleet: NewFleet, engine: str) -> None:
    """Its slice is free when the lease has ended, and the next worker does not wait until the engine takes the first one for dead."""
    queue, job = open_queue(engine, new_fleet(engine), 3600.0), Job(kind="replay", run="r", slice=0)
    queue.put([job])

    async def go() -> None:
        taken, taken_again, stop = asyncio.Event(), asyncio.Event(), QueueStop()

        async def hold(_job: Job) -> None:
            if not taken.is_set():
                taken.set()
                await taken_again.wait()
            taken_again.set()

        working = asyncio.create_task(queue.work(["replay"], hold, slots=2, stop=stop))
        try:
            await taken.wait()
            await asyncio.to_thread(queue.put, [job])
            await asyncio.wait_for(taken_again.wait(), 20)
        finally:
            taken_again.set()
            stop.request()
            await working

    asyncio.run(go())


@given(st.integers(1, 400_000))
def test_slices_are_neither_large_nor_few(calls: int) -> None:
    """At most 256 calls and at least 8, smaller towards the end, and in a run of some size as many slices as a few workers need."""
    sizes = list(choose_sizes(calls))

    assert sum(sizes) == calls
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] <= LARGEST
    assert all(size >= 8 for size in sizes[:-1])
    assert calls < 256 or len(sizes) >= 28
    assert all(size <= max(16, -(-sum(sizes[place:]) // 32)) for place, size in enumerate(sizes))


@given(st.integers(0, 700))
def test_each_new_call_is_in_one_slice_in_the_order_of_the_plan(count: int) -> None:
    """Numbers go on where the last plan ended."""
    keys = [str(number) for number in range(count)]
    slices = list(number_slices(keys, first=7))

    assert [key for key, _ in slices] == keys
    assert [number for _, number in slices] == [7 + place for place, size in enumerate(choose_sizes(count)) for _ in range(size)]


def test_the_schema_is_a_file_of_the_package() -> None:
    """`fleet init` reads it from the installation."""
    from importlib.resources import files

    assert Path(str(files("fleet").joinpath("schema.sql"))).is_file()
