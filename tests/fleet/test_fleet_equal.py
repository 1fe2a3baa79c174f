"""The same bytes on one machine and on a fleet of any size: score table, patterns and estimate, each made by the fleet."""

import asyncio
import hashlib
import json
import signal
from contextlib import nullcontext
from pathlib import Path

import pytest

from audit.endpoints.endpoint_opening import open_endpoint
from audit.records.model_response import Purpose
from audit.replay.call_engine import run_calls
from audit.replay.replay_design import build_design
from audit.replay.replay_file import read_replay
from audit.replay.run_store import open_store, put_replay
from fleet.pieces import ESTIMATE, SCORE
from tests.endpoint.server import KEY, Asked, Endpoint, Reply, run_endpoint
from tests.fleet.conftest import NewFleet
from tests.fleet.fleet_processes import read_fixed_clock, start_coordinator, start_worker
from tests.fleet.piece_workers import working
from tests.replay.conftest import Caveat
from tests.replay.conftest import caveat as caveat  # noqa: PLC0414 (a fixture of another folder)
from tests.replay.replay_files import write_replay
from tests.soaking import IS_SOAK

SCORING = "scoring: {kind: pattern, score: any_expected, expected: [four]}"
_ANSWERED = ("scores.csv", "patterns.csv")


def answer(asked: Asked) -> Reply:
    """Return the recorded answer of a request: the same text and request identifier whoever asks, and however late."""
    digest = hashlib.sha256(json.dumps(asked.body, sort_keys=True).encode()).hexdigest()
    return Reply(
        text="four" if int(digest[0], 16) % 3 else "five", headers={"request-id": f"req_{digest[:12]}"}, delay_s=int(digest[1], 16) / 500
    )


def run_on_one_machine(folder: Path, server: Endpoint) -> None:
    """Make the calls in this process, with the clock that stands still."""
    file = read_replay(folder / "small.yaml", None)
    planned = build_design(file.replay, file.tasks, file.contexts)
    store = open_store(folder / "small.run", create=True)
    store.add_cells(planned)
    put_replay(store, file.replay, file.tasks)

    async def go() -> None:
        async with open_endpoint(file.replay.policy, environ={"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": server.url}) as endpoint:
            await run_calls(store, [call.call for call in planned], endpoint, clock=read_fixed_clock)

    asyncio.run(go())
    store.close()


def run_on_fleet(url: str, folder: Path, server: Endpoint, workers: int) -> None:
    """Have *workers* processes make them, one of which is killed in the middle where there are several."""
    started = [start_worker(url, server, folder, name=f"worker-{number}", is_clock_fixed=True) for number in range(workers)]
    run = start_coordinator(url, server, folder, "--json")
    out, err = run.communicate(timeout=120)
    assert run.returncode == 0, out + err
    for worker in started:
        worker.send_signal(signal.SIGTERM)
    for worker in started:
        worker.communicate(timeout=60)


def read_results(caveat: Caveat, folder: Path, url: str | None, workers: int) -> dict[str, bytes]:
    """Score the run folder and estimate, on the fleet where there is one; return the bytes of every file and answer."""
    run = folder / "small.run"
    fleet = ("--fleet", url) if url else ()
    with working(url, folder, workers, kinds=(SCORE, ESTIMATE)) if url else nullcontext():
        scored = caveat("audit", "score", run, *fleet)
        assert scored.code == 0, scored.err
        estimate = caveat("analyze", "estimate", run / "scores.csv", "--contexts", "fixed", "--json", *fleet)
    store = open_store(run)
    texts = "".join(
        f"{response.key} {response.text} {response.stop_reason}\n" for response in sorted(store.list_responses(Purpose.REPLAY), key=str)
    )
    store.close()
    files = {name: (run / name).read_bytes() for name in _ANSWERED if (run / name).is_file()}
    return {**files, "responses": texts.encode(), "estimate": estimate.out.replace(str(folder), "").encode()}


@pytest.mark.slow
def test_a_fleet_of_any_size_gives_the_bytes_of_one_machine(new_fleet: NewFleet, tmp_path: Path, caveat: Caveat) -> None:
    """No fleet, and 1, 2 and 4 workers (8 in `make soak`): equal bytes of scores.csv and estimate from a recorded endpoint."""
    results: dict[int, dict[str, bytes]] = {}
    with run_endpoint(Endpoint(script=answer)) as server:
        for workers in (0, 1, 2, 4, *((8,) if IS_SOAK else ())):
            folder = tmp_path / str(workers)
            folder.mkdir()
            write_replay(folder, tasks=20, more=SCORING)
            url = new_fleet() if workers else None
            if url:
                run_on_fleet(url, folder, server, workers)
            else:
                run_on_one_machine(folder, server)
            results[workers] = read_results(caveat, folder, url, workers)

    assert b"says_four" in results[0]["estimate"] or results[0]["scores.csv"].count(b"\n") > 80
    for workers, result in results.items():
        assert {name for name in result if result[name] != results[0][name]} == set(), workers
