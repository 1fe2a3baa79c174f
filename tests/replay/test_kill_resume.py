"""A run that is killed at any instant goes on where it was: counted by the endpoint, no call is made twice."""

import json
import random
import signal
import threading
from pathlib import Path

import pytest

from tests.endpoint.server import Asked, Endpoint, Outcome, Reply, run_endpoint
from tests.replay.replay_files import start, write_replay

CALLS = 25 * 4


class Gate:
    """Answers slowly, and says when so many requests have come."""

    def __init__(self, delay_s: float) -> None:
        self.delay_s = delay_s
        self.came = threading.Event()
        self.wanted = 0
        self.count = 0

    def __call__(self, _asked: Asked) -> Outcome:
        """Answer one request."""
        self.count += 1
        if self.count >= self.wanted:
            self.came.set()
        return Reply(delay_s=self.delay_s)

    def wait(self, more: int) -> bool:
        """Wait until *more* requests have come."""
        self.wanted = self.count + more
        self.came.clear()
        return self.came.wait(30)


@pytest.mark.parametrize("seed", [1])
def test_a_killed_run_makes_no_call_twice(tmp_path: Path, seed: int) -> None:
    """After SIGKILL at three random instants, every call was received once; those in flight are lost, told, and repeated on request."""
    chance = random.Random(seed)
    write_replay(tmp_path, tasks=25)
    gate = Gate(delay_s=0.03)
    with run_endpoint(Endpoint(script=gate)) as server:
        for _ in range(3):
            process = start(server, tmp_path, "--concurrency", "4")
            came = gate.wait(chance.randint(1, 25))
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=30)
            assert came
        whole = start(server, tmp_path, "--json")
        document = json.loads(whole.communicate(timeout=60)[0])
        repeated_bodies = max(asked.number for asked in server.posts())
        received = len(server.posts())
        lost = sum(arm["failures"].get("lost-in-flight", 0) for arm in document["arms"])
        again = start(server, tmp_path, "--json", "--repeat-lost")
        repeated = json.loads(again.communicate(timeout=60)[0])

    assert (whole.returncode, again.returncode) == (0, 0)
    assert repeated_bodies == 0
    assert sum(arm["answered"] for arm in document["arms"]) + lost == CALLS
    assert CALLS - lost <= received <= CALLS
    assert 1 <= lost <= 3 * 4
    assert repeated["answered"] == lost
    assert sum(arm["answered"] for arm in repeated["arms"]) == CALLS
    assert len(server.posts()) == received + lost


def test_ctrl_c_finishes_cleanly_and_prints_how_to_go_on(tmp_path: Path) -> None:
    """SIGINT ends a run with nothing lost, and the printed command makes the rest."""
    write_replay(tmp_path, tasks=25)
    gate = Gate(delay_s=0.05)
    with run_endpoint(Endpoint(script=gate)) as server:
        process = start(server, tmp_path, "--concurrency", "3")
        came = gate.wait(10)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
        made = len(server.posts())
        rest = start(server, tmp_path, "-o", "small.run", "--json")
        document = json.loads(rest.communicate(timeout=60)[0])

    assert came
    assert process.returncode == 1
    assert "caveat audit run small.yaml -o small.run" in out + err
    assert "Traceback" not in err
    assert made < CALLS
    assert (document["lost"], document["settled_before"], document["answered"]) == (0, made, CALLS - made)
    assert max(asked.number for asked in server.posts()) == 0
