"""Pure work on a fleet against this machine alone: drawing and estimates; and a run of 300,000 cells shown and fetched.

Run: python benchmarks/fleet_work.py [--supplements N] [--estimates N] [--cells N] [--parts N]
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).parent.parent))

import numpy as np

from audit.modules.differential_estimate import EstimateRequest, estimate_here
from audit.records.model_response import Purpose, Response
from audit.replay.call_engine import read_clock
from audit.replay.run_store import dump_response, open_store
from audit.sources.score_table import read_table
from benchmarks.fleet import make_fleet
from fleet.database import FleetDatabase
from fleet.jobs.drawing import render_on_fleet
from fleet.jobs.estimating import estimate_on_fleet
from fleet.runs.fleet_overview import list_piece_runs, list_quotas, list_runs, list_workers
from fleet.runs.run_plan import write_folder
from registry.records.analysis_plan import Plan
from registry.records.statement import OutputFormat
from registry.report.render_workers import RenderJob, render_many
from registry.report.supplement_assembly import assemble_claim
from tests.fleet.fleet_processes import start_pure_worker
from tests.fleet.fleet_runs import prepare_run
from tests.postgres import run_server
from tests.report.builders import MADE_AT
from tests.report.dossiers import inverted

T = TypeVar("T")


def draw(server: str, count: int, parts: int) -> bool:
    """PDFs of *count* supplements: two worker processes of this machine, and two workers of a fleet; the same bytes."""
    base = assemble_claim(inverted(), made_at=MADE_AT)
    # Each record differs, so that no result is there already.
    jobs = [
        RenderJob(key=str(number), supplement=replace(base, log_size=base.log_size + number), format=OutputFormat.PDF)
        for number in range(count)
    ]
    warm = jobs[0]
    list(render_many([warm, warm], workers=2, time_limit_s=60))
    url = make_fleet(server, "procrastinate", 30.0)
    with _workers(url, 2, "draw"):
        list(render_on_fleet(url, [warm, replace(warm, key="w", format=OutputFormat.HTML)], time_limit_s=60, tell=print))
        return _compare(
            f"drawing {count} PDFs, 2 workers",
            jobs,
            lambda part: sorted((made.key, made.data) for made in render_many(iter(part), workers=2, time_limit_s=60)),
            lambda part: sorted((made.key, made.data) for made in render_on_fleet(url, iter(part), time_limit_s=60, tell=print)),
            parts=parts,
            most=1.05,
        )


def estimate(server: str, count: int, parts: int) -> bool:
    """Estimates of *count* tables of 800 rows: this process, and one worker of a fleet, so that only the fleet's cost differs."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "table.csv"
        chance = np.random.default_rng(1)
        rows = [
            f"t{task},{arm},{arm}-{context},{sample},{int(chance.random() < 0.6)}"
            for task in range(20) for arm in ("test", "deploy") for context in range(10) for sample in range(2)
        ]  # fmt: skip
        path.write_text("task_id,arm,context_id,sample,score\n" + "\n".join(rows) + "\n", encoding="utf-8")
        table = read_table([path], low=0.0, high=1.0)
    plan = Plan()
    # Each plan has a seed of its own, so that no result is there already.
    requests = [
        EstimateRequest(
            label=str(number), table=table, plan=replace(plan, seed=number), range=(0.0, 1.0), test="test", deploy="deploy", pointwise=False
        )
        for number in range(count)
    ]
    url = make_fleet(server, "procrastinate", 30.0)
    with _workers(url, 1, "estimate"):
        list(estimate_on_fleet(url, [replace(requests[0], plan=replace(plan, seed=-1))], tell=print))
        return _compare(
            f"{count} estimates, 1 worker",
            requests,
            lambda part: [outcome.result for outcome in estimate_here(part)],
            lambda part: [outcome.result for outcome in sorted(estimate_on_fleet(url, part, tell=print), key=lambda item: item.position)],
            parts=parts,
            most=1.05,
        )


def show_and_fetch(server: str, cells: int) -> bool:
    """What `fleet show` reads, and `fleet fetch`, of a run in which every cell has an answer."""
    url = make_fleet(server, "procrastinate", 3600.0)
    with tempfile.TemporaryDirectory() as name:
        begun = time.perf_counter()
        database, run = prepare_run(url, Path(name) / "plan", tasks=cells // 60, samples=15)
        print(f"{cells} cells planned and written in {time.perf_counter() - begun:.0f} s")
        _answer_all(database, run)
        shown = [
            _time(lambda: (list_runs(database), list_piece_runs(database), list_workers(database, 30), list_quotas(database)))
            for _ in range(5)
        ]
        command = [sys.executable, "-m", "caveat_command", "fleet", "show", "--fleet", url]
        typed = [_time(lambda: subprocess.run(command, check=True, capture_output=True)) for _ in range(5)]
        bare = [_time(lambda: subprocess.run([*command[:3], "--version"], check=True, capture_output=True)) for _ in range(5)]
        begun, cpu = time.perf_counter(), time.process_time()
        count = write_folder(database, run, Path(name) / "fetched.run")
        fetched, cpu = time.perf_counter() - begun, time.process_time() - cpu
        store = open_store(Path(name) / "fetched.run")
        assert count == store.count_cells() == cells
        store.close()
    database.close()
    show_s, typed_s, bare_s = (sorted(times)[2] for times in (shown, typed, bare))
    print(
        f"{cells} cells, load {os.getloadavg()[0]:.1f}: show reads {show_s:.3f} s, the command takes {typed_s:.2f} s"
        f" (caveat --version {bare_s:.2f} s); fetch {fetched:.1f} s, of it {cpu:.1f} s CPU"
    )
    return show_s <= 0.2 and fetched <= 60


def _time(action: Callable[[], object]) -> float:
    begun = time.perf_counter()
    action()
    return time.perf_counter() - begun


def _answer_all(database: FleetDatabase, run: str) -> None:
    """Give every call of *run* the outcome of an answer, by the same rows that workers write, in bulk."""
    moment = read_clock()
    asked = {"key": "KEY", "request": "REQUEST", "purpose": Purpose.REPLAY, "model_requested": "m"}
    response = Response(**asked, model_returned="m", text="ok " * 100, sent_at=moment, received_at=moment)
    document = dump_response(response)
    database.fetch("UPDATE fleet.lease SET epoch = 1, worker = 'bench', is_released = false, until = 'infinity' WHERE run = %s", [run])
    database.fetch(
        "INSERT INTO fleet.intent SELECT run, key, 1, slice, 1, 1, %s, NULL, gen_random_uuid(), 'bench', 10, 10, 0 FROM fleet.call"
        " WHERE run = %s",
        [read_clock().isoformat(), run],
    )
    database.fetch(
        "INSERT INTO fleet.outcome (run, key, round, is_late, is_counted, failure, worker, document) SELECT run, key, 1, false, true, NULL,"
        " 'bench', replace(replace(%s, 'KEY', key), 'REQUEST', request) FROM fleet.call WHERE run = %s",
        [document, run],
    )
    database.fetch(
        "INSERT INTO fleet.tally SELECT run, 1, slice, '', false, true, count(*) FROM fleet.intent WHERE run = %s GROUP BY run, slice",
        [run],
    )
    database.fetch(
        "INSERT INTO fleet.account SELECT run, slice, 0, 0, 0, 0, count(*), sum(input_tokens), sum(output_tokens), 0 FROM fleet.intent"
        " WHERE run = %s GROUP BY run, slice",
        [run],
    )
    database.fetch("UPDATE fleet.lease SET is_done = true, is_released = true, until = '-infinity' WHERE run = %s", [run])
    database.fetch("ANALYZE")


@contextmanager
def _workers(url: str, count: int, kind: str) -> Iterator[None]:
    with tempfile.TemporaryDirectory() as name:
        started = [start_pure_worker(url, Path(name), name=f"worker-{number}", kinds=(kind,)) for number in range(count)]
        try:
            yield
        finally:
            for worker in started:
                worker.send_signal(signal.SIGTERM)
            for worker in started:
                worker.communicate(timeout=60)


def _compare(
    name: str, items: Sequence[T], here: Callable[[Sequence[T]], object], there: Callable[[Sequence[T]], object], *, parts: int, most: float
) -> bool:
    """Do each part of *items* by both, and say how they compare by wall clock and results."""
    seconds, are_equal = [0.0, 0.0], True
    size = max(1, -(-len(items) // parts))
    for start in range(0, len(items), size):
        results = []
        for side, work in enumerate((here, there)):
            begun = time.perf_counter()
            results.append(work(items[start : start + size]))
            seconds[side] += time.perf_counter() - begun
        are_equal = are_equal and results[0] == results[1]
    ratio = seconds[1] / seconds[0]
    equal = "equal" if are_equal else "DIFFERENT"
    print(
        f"{name}, load {os.getloadavg()[0]:.1f}: here {seconds[0]:.1f} s, fleet {seconds[1]:.1f} s, {ratio:.3f}; results {equal}",
        flush=True,
    )
    return ratio <= most and are_equal


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--supplements", type=int, default=300)
    parser.add_argument("--estimates", type=int, default=5000)
    parser.add_argument("--cells", type=int, default=300_000)
    parser.add_argument("--parts", type=int, default=1, help="parts that both sides do in turn, so that other programs slow both alike")
    options = parser.parse_args()
    with run_server(is_durable=True) as server:
        met = [draw(server, options.supplements, options.parts)] if options.supplements else []
        met += [estimate(server, options.estimates, options.parts)] if options.estimates else []
        met += [show_and_fetch(server, options.cells)] if options.cells else []
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
