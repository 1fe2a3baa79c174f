"""No call is sent twice and none is without an outcome, through random kills, pauses, cuts and restarts, on three queues."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from tests.fleet.chaos import ChaosResult, run_schedule
from tests.fleet.conftest import NewFleet
from tests.soaking import choose

pytestmark = pytest.mark.slow

QUEUES = ("procrastinate", "pgqueuer", "hostile")
_SCHEDULES = choose(6, 100)
_AT_ONCE = 3


def make_schedule(server: str, new_fleet: NewFleet, folder: Path, seed: int) -> Callable[[], ChaosResult]:
    """Return the schedule of *seed*; the queues take turns."""
    queue = QUEUES[seed % len(QUEUES)]
    engine = "procrastinate" if queue == "hostile" else queue
    return partial(run_schedule, seed, server, partial(new_fleet, engine), folder / str(seed), is_hostile=queue == "hostile", tasks=15)


def test_random_schedules_send_nothing_twice_and_lose_no_call(durable_server: str, new_fleet: NewFleet, tmp_path: Path) -> None:
    """The endpoint counts: each call was sent once at most, has one outcome, and the purse agrees. The message has the seeds."""
    schedules = [make_schedule(durable_server, new_fleet, tmp_path, seed) for seed in range(1, _SCHEDULES + 1)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        results = list(pool.map(lambda schedule: schedule(), schedules))

    assert [fault for result in results for fault in result.find_faults()] == []
    assert sum(result.answered for result in results) > 0
