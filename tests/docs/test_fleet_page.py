"""The worked example of docs/fleet.md, run as it stands: two workers, one of which is killed, with processes that a shell starts."""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from audit.records.model_response import Purpose
from audit.replay.run_store import open_store
from tests.endpoint.server import KEY, Endpoint, Reply, run_endpoint
from tests.postgres import create_database, run_server

ROOT = Path(__file__).parent.parent.parent
# The reader waits half a minute. The test waits until worker `one` has an answer, whatever the machine.
PREAMBLE = f"""\
set -m
trap 'kill -KILL $(jobs -p) 2>/dev/null' EXIT
sleep() {{ timeout 60 {sys.executable} wait.py; }}
"""
WAIT = """\
import os, time
import psycopg
connection = psycopg.connect(os.environ["CAVEAT_FLEET_URL"], autocommit=True)
while not connection.execute("SELECT EXISTS (SELECT FROM fleet.outcome WHERE worker = 'one')").fetchone()[0]:
    time.sleep(0.05)
"""


def read_example() -> str:
    """Return the commands of the example."""
    page = (ROOT / "docs" / "fleet.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"## Worked example.*?```bash\n(.*?)```", page, flags=re.DOTALL)
    assert "--lease 5" in block
    # The test does not wait as long as a reader for the end of the lease.
    return str(block).replace("--lease 5", "--lease 2")


def read_replay() -> str:
    """Return the replay of the example without its locks, which are in a registry that this test does not have, and with fewer arms."""
    text = (ROOT / "examples" / "replay" / "replay.yaml").read_text(encoding="utf-8")
    # The edits make four calls of five; the rest is enough for a kill in the middle.
    return re.sub(r", edits: \[.*?\]", "", re.sub(r"^audit:.*\n", "", text, flags=re.MULTILINE))


def endpoint_of(replay: Path) -> AbstractContextManager[Endpoint]:
    """Return an endpoint that has the model of the replay."""
    model = re.findall(r"model: (\S+)", replay.read_text())[0]
    return run_endpoint(Endpoint(models=(model,), script=lambda _asked: Reply(text="B", delay_s=0.2)))


@pytest.mark.slow
def test_the_worked_example_survives_the_killed_worker(tmp_path: Path) -> None:
    """Every call of the demo's tasks has an outcome, none was sent twice, and what was under way at the kill is lost in flight."""
    for path in (ROOT / "examples" / "replay").glob("*.yaml"):
        shutil.copy(path, tmp_path)
    replay = tmp_path / "replay.yaml"
    replay.write_text(read_replay())
    (tmp_path / "wait.py").write_text(WAIT)
    with run_server(is_durable=True) as server, endpoint_of(replay) as endpoint:
        url = create_database(server)
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "CAVEAT_"))}
        environ |= {"CAVEAT_FLEET_URL": url, "ANTHROPIC_BASE_URL": endpoint.url, "ANTHROPIC_API_KEY": KEY, "COLUMNS": "80"}
        environ["PATH"] = f"{Path(sys.executable).parent}:{environ['PATH']}"
        # Ended by bash and not by Python, so that its trap ends the workers too.
        words = ["timeout", "150", "bash", "-c", PREAMBLE + read_example()]
        done = subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True, check=False)
        sent = Counter(str(asked.body) for asked in endpoint.posts())
    store = open_store(tmp_path / "replay.run")
    responses = [store.find_response(key) for _, key in store.list_cells()]
    lost = sum(response.failure is not None for response in store.list_responses(Purpose.REPLAY))
    store.close()

    assert done.returncode == 0, done.stdout + done.stderr
    assert None not in responses
    assert max(sent.values()) == 1
    assert {response.failure.code for response in responses if response is not None and response.failure} <= {"lost-in-flight"}
    assert lost < len(responses) / 2
    assert "silent: dead, paused, or cut off" in done.stdout, done.stdout
    assert "calls for the workers of the fleet" in done.stderr
