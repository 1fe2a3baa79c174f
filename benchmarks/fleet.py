"""A fleet of four workers: requests sent twice in random schedules, capacity used, database time a call, and the shared rate limit.

Run: python benchmarks/fleet.py [--schedules N] [--calls N] [--at-once N] [--first SEED] [--minutes M] [--only-schedules]
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from audit.replay.call_engine import UNSENT, read_clock
from fleet.database import FleetDatabase, create_schema, to_json
from fleet.queue.job_queue import install_queue
from fleet.runs.leases import acquire_lease
from fleet.runs.slice_store import report_limits
from tests.endpoint.server import Endpoint, Reply, run_endpoint
from tests.fleet.chaos import ChaosResult, run_schedule
from tests.fleet.fleet_processes import start_coordinator, start_worker
from tests.fleet.fleet_runs import list_keys, prepare_run
from tests.postgres import create_database, run_server
from tests.replay.replay_files import start, write_replay

QUEUES = ("procrastinate", "pgqueuer", "hostile")
_LATENCY_S = 0.2


def make_fleet(server: str, engine: str, lease_s: float) -> str:
    url = create_database(server)
    create_schema(url, engine=engine, unsent=sorted(UNSENT), lease_s=lease_s)
    install_queue(engine, url)
    return url


def measure_schedules(server: str, count: int, at_once: int, *, first: int, minutes: float) -> bool:
    """Random schedules on all three queues in turn, with the seeds from *first* on; none is begun after *minutes*."""
    end = time.monotonic() + 60 * minutes

    def run(seed: int) -> ChaosResult | None:
        if time.monotonic() > end:
            return None
        queue = QUEUES[seed % 3]
        new: Callable[[], str] = partial(make_fleet, server, "procrastinate" if queue == "hostile" else queue, 1.0)
        with tempfile.TemporaryDirectory() as folder:
            try:
                result = run_schedule(seed, server, new, Path(folder), is_hostile=queue == "hostile", tasks=15)
            except Exception as error:  # noqa: BLE001 (a schedule that did not end is a result too)
                print(f"seed {seed} ({queue}) did not end: {str(error)[:2000]}", flush=True)
                broken.append(seed)
                return None
        print(f"seed {seed} ({queue}): {result.sent} sent, {result.lost} lost, {result.find_faults()}", flush=True)
        return result

    broken: list[int] = []
    with ThreadPoolExecutor(at_once) as pool:
        results = [result for result in pool.map(run, range(first, first + count)) if result is not None]
    faults = [fault for result in results for fault in result.find_faults()]
    sent, lost = sum(result.sent for result in results), sum(result.lost for result in results)
    calls = sum(result.calls for result in results)
    twice = sum(result.sent_twice for result in results)
    print(
        f"{len(results)} schedules from seed {first}, {calls} calls: {sent} sent, {twice} sent twice, {lost} lost in flight,"
        f" {len(faults)} broken laws {faults}; {len(broken)} did not end {broken}"
    )
    return not faults and not broken


def measure_capacity(server: str, calls: int, workers: int = 4, concurrency: int = 16) -> bool:
    """Share of what an endpoint of known latency and a known number of places answers, from the first request to the last.

    One machine with as many places as all workers together is measured in the same run.
    """
    shares = [_measure_share(server, calls, count, workers * concurrency) for count in (0, workers)]
    cpu = os.getloadavg()[0]
    print(
        f"{calls} calls, {workers * concurrency} places, {_LATENCY_S} s an answer, load {cpu:.1f}:"
        f" one machine {shares[0]:.3f}, {workers} workers {shares[1]:.3f} of {workers * concurrency / _LATENCY_S:.0f}/s"
    )
    return shares[1] >= 0.95


def _measure_share(server: str, calls: int, workers: int, places: int) -> float:
    moments: list[float] = []

    def answer(_asked: object) -> Reply:
        moments.append(time.perf_counter())
        return Reply(delay_s=_LATENCY_S)

    with run_endpoint(Endpoint(script=answer)) as endpoint, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_replay(folder, tasks=calls // 4)
        if workers:
            url = make_fleet(server, "procrastinate", 30.0)
            started = [start_worker(url, endpoint, folder, name=f"worker-{number}") for number in range(workers)]
            _wait_for_workers(url, workers)
            run = start_coordinator(url, endpoint, folder, "--json", "--concurrency", str(places // workers))
        else:
            started = []
            run = start(endpoint, folder, "--json", "--concurrency", str(places))
        out, err = run.communicate(timeout=1200)
        assert run.returncode == 0, err
        for worker in started:
            worker.send_signal(signal.SIGTERM)
        for worker in started:
            worker.communicate(timeout=60)
        assert json.loads(out)["answered"] == calls
    return len(moments) / (moments[-1] + _LATENCY_S - moments[0]) / (places / _LATENCY_S)


def _wait_for_workers(url: str, count: int) -> None:
    database = FleetDatabase(url)
    while database.call("SELECT count(*) FROM fleet.worker") < count:
        time.sleep(0.1)
    database.close()


def measure_sending(server: str) -> bool:
    """Wall time of the sending transaction for 64 calls, and of writing their outcomes."""
    with tempfile.TemporaryDirectory() as folder:
        url = make_fleet(server, "procrastinate", 3600.0)
        database, run = prepare_run(url, Path(folder) / "plan", tasks=1600)
    sends, settles = [], []
    slices = [number for (number,) in database.fetch("SELECT DISTINCT slice FROM fleet.call ORDER BY 1")]
    for number in slices:
        lease = acquire_lease(database, run, number, worker="bench", lease_s=3600, now=read_clock())
        assert lease is not None
        keys = list_keys(database, run, number)
        for first in range(0, len(keys) - 63, 64):
            block = keys[first : first + 64]
            calls = [{"key": key, "round": 1, "why": None, "input_tokens": 10, "output_tokens": 10, "usd": 0.0} for key in block]
            begun = time.perf_counter()
            answer = database.call(
                "SELECT fleet.send(%s, 1, %s, %s, 'bench', gen_random_uuid(), '2026-11-20T12:00:00+00:00', 'e', 'k', %s::jsonb)",
                *(run, number, lease.epoch, to_json(calls)),
            )
            sends.append((time.perf_counter() - begun) / 64)
            outcomes = [{**call, "failure": None, "requested": "m", "returned": "m", "document": "x" * 800, "calls": 1} for call in calls]
            begun = time.perf_counter()
            database.call("SELECT fleet.settle(%s, 'bench', %s::jsonb)", run, to_json(outcomes))
            settles.append((time.perf_counter() - begun) / 64)
            assert len(answer["sent"]) == 64
    database.close()
    send_ms, settle_ms = (sorted(values)[len(values) // 2] * 1000 for values in (sends, settles))
    print(f"database time a call, {len(sends)} blocks of 64, median: intents {send_ms:.3f} ms, outcomes {settle_ms:.3f} ms")
    return send_ms + settle_ms <= 0.1


def measure_rate(server: str, rate: float = 500.0) -> bool:
    """Permits that four connections get in turn: the most in any second, and the share of the rate."""
    url = make_fleet(server, "procrastinate", 30.0)
    databases = [FleetDatabase(url) for _ in range(4)]
    report_limits(databases[0], ("e", "k"), rate, 0.0)
    moments: list[float] = []
    begun = time.monotonic()
    while time.monotonic() - begun < 4:
        for database in databases:
            row = database.fetch("SELECT extract(epoch FROM clock_timestamp())::float8, fleet.grant_slots('e', 'k', 64)")[0]
            moments += [row[0] + row[1]["wait_s"] + place * row[1]["spacing_s"] for place in range(row[1]["count"])]
    for database in databases:
        database.close()
    moments.sort()
    first = 0
    most = 0
    for last, moment in enumerate(moments):
        while moment - moments[first] >= 1:
            first += 1
        most = max(most, last - first + 1)
    share = (len(moments) - 1) / (moments[-1] - moments[0]) / rate
    gap_ms = min(after - before for before, after in pairwise(moments)) * 1000
    print(f"rate {rate:.0f}/s: at most {most} permits in a second, {share:.3f} of the rate used, {gap_ms:.2f} ms apart at least")
    return most <= rate + 1 and share >= 0.95


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--schedules", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--minutes", type=float, default=600.0, help="after which no schedule is begun")
    parser.add_argument("--only-schedules", action="store_true")
    options = parser.parse_args()
    with run_server(is_durable=True) as server:
        met = [] if options.only_schedules else [measure_sending(server), measure_rate(server)]
        met += [measure_capacity(server, options.calls)] if options.calls else []
        if options.schedules:
            how = {"first": options.first, "minutes": options.minutes}
            met.append(measure_schedules(server, options.schedules, options.at_once, **how))
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
