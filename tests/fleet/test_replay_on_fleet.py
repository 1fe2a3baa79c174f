"""A replay on a fleet: the calls of one machine, each sent once."""

import json
import signal
from pathlib import Path

from tests.endpoint.server import Endpoint, Reply, run_endpoint
from tests.fleet.conftest import NewFleet
from tests.fleet.fleet_processes import start_coordinator, start_worker
from tests.replay.replay_files import write_replay

CALLS = 25 * 4


def test_two_workers_make_every_call_once(new_fleet: NewFleet, tmp_path: Path) -> None:
    """The run folder has every answer, the endpoint saw each call once, and both workers end on SIGTERM."""
    url = new_fleet()
    write_replay(tmp_path, tasks=25)
    with run_endpoint(Endpoint(script=lambda _asked: Reply(delay_s=0.02))) as server:
        workers = [start_worker(url, server, tmp_path, name=f"worker-{number}") for number in range(2)]
        run = start_coordinator(url, server, tmp_path, "--json")
        out, err = run.communicate(timeout=60)
        for worker in workers:
            worker.send_signal(signal.SIGTERM)
        ends = [worker.communicate(timeout=30) for worker in workers]
    assert run.returncode == 0, err
    document = json.loads(out)

    assert [worker.returncode for worker in workers] == [0, 0], ends
    assert (document["answered"], document["lost"]) == (CALLS, 0)
    assert len(server.posts()) == CALLS
    assert max(asked.number for asked in server.posts()) == 0
