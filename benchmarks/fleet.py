"""A fleet of four workers: requests sent twice in random schedules, capacity used, database time a call, and the shared rate limit.

Run: python benchmarks/fleet.py [--schedules N] [--calls N] [--at-once N] [--first SEED] [--minutes M] [--only-schedules]
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from audit.replay.call_engine import UNSENT, read_clock
from fleet.database import FleetDatabase, create_schema, to_json
from fleet.queue.job_queue import install_queue
from fleet.runs.leases import acquire_lease
from fleet.runs.slice_store import report_limits
from tests.endpoint.server import Endpoint
from tests.fleet.chaos import ChaosResult, run_schedule
from tests.fleet.fleet_processes import start_coordinator, start_worker
from tests.fleet.fleet_runs import list_keys, prepare_run
from tests.postgres import create_database, run_server
from tests.replay.processes import Started
from tests.replay.replay_files import start, write_replay

QUEUES = ("procrastinate", "pgqueuer", "hostile")


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


@dataclass(frozen=True, slots=True)
class Capacity:
    """An endpoint of known capacity, in a process of its own: requests beyond its places wait."""

    places: int
    latency_s: float

    @property
    def rate(self) -> float:
        """Answers a second, at most."""
        return self.places / self.latency_s


def measure_capacity(server: str, calls: int, capacity: Capacity, workers: int = 4) -> bool:
    """Share of an endpoint's capacity that is used, from the first request to the last answer, and the CPU time of a call.

    One machine with as many places as all workers together is measured in the same run.
    """
    shares = [_measure_share(server, calls, count, capacity) for count in (0, workers)]
    return shares[1] >= 0.95


def _measure_share(server: str, calls: int, workers: int, capacity: Capacity) -> float:
    with tempfile.TemporaryDirectory() as name, _run_endpoint(capacity, Path(name)) as (endpoint, process):
        folder = Path(name)
        write_replay(folder, tasks=calls // 4)
        # Twice as many as the endpoint has places: one that knows no limit is kept busy.
        most = 2 * capacity.places
        if workers:
            url = make_fleet(server, "procrastinate", 30.0)
            started = [start_worker(url, endpoint, folder, name=f"worker-{number}") for number in range(workers)]
            _wait_for_workers(url, workers)
        else:
            started = []
        watched = {"PostgreSQL": [_find_postmaster(server)] if workers else [], "workers": [worker.pid for worker in started]}
        before = {kind: _read_cpu_s(processes) for kind, processes in watched.items()}
        if workers:
            run = start_coordinator(url, endpoint, folder, "--json", "--concurrency", str(most // workers))
        else:
            run = start(endpoint, folder, "--json", "--concurrency", str(most))
        used = _watch(run, watched, before)
        out, err = run.communicate(timeout=10)
        assert run.returncode == 0, err
        for worker in started:
            worker.send_signal(signal.SIGTERM)
        for worker in started:
            worker.communicate(timeout=60)
        assert json.loads(out)["answered"] == calls
        first, last = _read_span(process)
    share = calls / (last - first) / capacity.rate
    names = f"{workers} workers" if workers else "one machine"
    times = ", ".join(f"{kind} {seconds / calls * 1000:.2f}" for kind, seconds in used.items())
    print(
        f"{calls} calls, {capacity.places} places of {capacity.latency_s} s, load {os.getloadavg()[0]:.1f}: {names} {share:.3f}"
        f" of {capacity.rate:.0f}/s; CPU ms a call: {times}",
        flush=True,
    )
    return share


def _watch(run: Started, watched: Mapping[str, Sequence[int]], before: Mapping[str, float]) -> dict[str, float]:
    """Wait for the end of *run*; return the seconds of CPU that it and the *watched* processes took."""
    begun = own_s = _read_cpu_s([run.pid])
    while run.returncode is None:
        own_s = max(own_s, _read_cpu_s([run.pid]))
        time.sleep(0.05)
    return {kind: _read_cpu_s(processes) - before[kind] for kind, processes in watched.items() if processes} | {"command": own_s - begun}


def _read_cpu_s(processes: Sequence[int]) -> float:
    """Seconds of CPU of *processes* and of those that they have started, ended ones included; only Linux says so."""
    ticks = 0
    for parent in processes:
        with contextlib.suppress(OSError):
            children = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii").split()
            for process in (str(parent), *children):
                with contextlib.suppress(OSError):
                    # The name of the program comes first, in brackets; the 14th to 17th field are times.
                    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                    ticks += sum(int(field) for field in fields[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def _find_postmaster(server: str) -> int:
    folder = Path(server.partition("?host=")[2])
    return int((folder / "data" / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0])


@contextmanager
def _run_endpoint(capacity: Capacity, folder: Path) -> Iterator[tuple[Endpoint, subprocess.Popen[str]]]:
    """Give an endpoint that runs in a process of its own, and that process."""
    command = [sys.executable, str(Path(__file__).parent.parent / "tests" / "endpoint" / "server.py")]
    command += ["--places", str(capacity.places), "--latency", str(capacity.latency_s)]
    with (folder / "endpoint.log").open("w") as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True)
    try:
        assert process.stdout is not None
        yield Endpoint(port=int(process.stdout.readline().rpartition(":")[2])), process
    finally:
        process.kill()
        process.communicate()


def _read_span(endpoint: subprocess.Popen[str]) -> tuple[float, float]:
    """When the endpoint took its first request, and gave its last answer."""
    out, _ = endpoint.communicate(input="\n", timeout=10)
    first, last = out.split()
    return float(first), float(last)


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
    parser.add_argument("--places", type=int, default=40, help="requests that the endpoint works on at once")
    parser.add_argument("--latency", type=float, default=0.2, help="seconds that each of them takes there")
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--minutes", type=float, default=600.0, help="after which no schedule is begun")
    parser.add_argument("--only-schedules", action="store_true")
    options = parser.parse_args()
    with run_server(is_durable=True) as server:
        met = [] if options.only_schedules else [measure_sending(server), measure_rate(server)]
        met += [measure_capacity(server, options.calls, Capacity(options.places, options.latency))] if options.calls else []
        if options.schedules:
            how = {"first": options.first, "minutes": options.minutes}
            met.append(measure_schedules(server, options.schedules, options.at_once, **how))
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
