"""A renewal that is killed or interrupted at any instant goes on where it was: nothing is recorded, asked or concluded twice."""

import json
import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from registry.cli.main import main
from tests.endpoint.server import KEY, Asked, Endpoint, Outcome, run_endpoint
from tests.replay.conftest import Caveat
from tests.replay.processes import Started
from tests.replay.renewals import CALLS, NEW, answer, endpoint
from tests.replay.test_kill_resume import Gate

RENEW = ("stale", "renew", "--yes", "--ask", NEW, "-o", "renewed", "--concurrency", "4")


class Answering(Gate):
    """Answers as both models do, slowly, and says when so many requests have come."""

    def __call__(self, asked: Asked) -> Outcome:
        """Answer one request."""
        super().__call__(asked)
        reply = answer(asked)
        return type(reply)(text=reply.text, delay_s=self.delay_s)


def start(server: Endpoint, folder: Path) -> Started:
    """Start the renewal in *folder* as a process of its own."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("ANTHROPIC_", "CAVEAT_"))}
    return Started(_call, str(folder), folder=folder, environ=environ | {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": KEY})


def _call(folder: str) -> None:
    os.chdir(folder)
    sys.argv = ["caveat", *RENEW]
    main()


def count_kinds(caveat: Caveat) -> dict[str, int]:
    """How many statements of each kind the log holds."""
    kinds: dict[str, int] = {}
    for one in caveat("admin", "log", "show", "--start", "1", "--json").document["entries"]:
        kinds[one["entry"]["kind"]] = kinds.get(one["entry"]["kind"], 0) + 1
    return kinds


@pytest.mark.parametrize("seed", [5])
def test_a_killed_renewal_goes_on_where_it_was(caveat: Caveat, registry: Path, seed: int) -> None:
    """After SIGKILL at a random instant: two carried revisions, two locks, two outcomes, and no call made twice."""
    chance = random.Random(seed)
    before = count_kinds(caveat)
    gate = Answering(delay_s=0.02)
    with run_endpoint(endpoint(script=gate)) as server:
        process = start(server, registry)
        came = gate.wait(chance.randint(1, CALLS // 2))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)
        rest = caveat(*RENEW, "--repeat-lost", "--json", server=server)
        twice = sum(asked.number > 0 for asked in server.posts())
    after = count_kinds(caveat)

    assert came
    assert {one["state"] for one in rest.document["renewals"]} == {"concluded"}
    assert {kind: after[kind] - before.get(kind, 0) for kind in ("claim_revision", "lock", "run", "restriction")} == dict.fromkeys(
        ("claim_revision", "lock", "run", "restriction"), 2
    )
    assert twice <= 4, "no more than were in flight"


def test_ctrl_c_keeps_everything_and_says_how_to_go_on(caveat: Caveat, registry: Path) -> None:
    """The locks and the answers stay; the command that is printed makes the rest."""
    gate = Answering(delay_s=0.03)
    with run_endpoint(endpoint(script=gate)) as server:
        process = start(server, registry)
        came = gate.wait(20)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        made = len(server.posts())
        rest = caveat(*RENEW, "--json", server=server)

    assert came
    assert process.returncode == 1
    assert f"caveat stale renew --ask {NEW} -o renewed" in " ".join(err.split())
    assert "Traceback" not in err
    assert made < CALLS
    assert len(server.posts()) == CALLS
    assert {one["state"] for one in rest.document["renewals"]} == {"concluded"}


def read(path: Path) -> Any:
    """Return the document in *path*."""
    return json.loads(path.read_text(encoding="utf-8"))


def test_what_was_chosen_is_kept_in_the_folder(caveat: Caveat, registry: Path) -> None:
    """Once the audits are locked the claims are stale no more; the folder knows what is left to do."""
    with run_endpoint(endpoint()) as server:
        caveat(*RENEW, "--prepare-only", server=server)
        kept = read(registry / "renewed" / "renewal.json")
        rest = caveat(*RENEW, "--json", server=server)

    assert (kept["ask"], kept["claims"]) == (NEW, ["CLM-AISI-2026-0001-S", "CLM-AISI-2026-0002-Q"])
    assert {one["state"] for one in rest.document["renewals"]} == {"concluded"}
