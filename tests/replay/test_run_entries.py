"""Runs under a lock are in the log before their first call, and an outcome names all of them."""

import json
import signal
import sqlite3
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cli.scenario import register, write_audit, write_scores
from tests.endpoint.server import Asked, Endpoint, Reply, run_endpoint
from tests.replay.conftest import Caveat
from tests.replay.replay_files import press_when_submitted, start, write_replay

RUN = ("audit", "run", "small.yaml")
PLAN = """\
deployment: {defensible: true, description: Office work}
plan: {margin: 0.05, level: 0.95, epsilon: 0.01, contexts: random, seed: 0, replicates: 0}
"""
SCORED = 'scoring: {{kind: pattern, score: any_expected, expected: ["(?i)covert"]}}\naudit: {audit}'


@pytest.fixture
def audit(caveat: Caveat, tmp_path: Path) -> str:
    """A locked audit of the first claim of a small card, with a replay of 8 calls that answers to it."""
    claim = register(caveat, tmp_path)[0]
    locked = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra=PLAN), "--json")
    assert locked.code == 0, locked.err
    name = str(locked.document["audit"])
    write_replay(tmp_path, tasks=2, more=f"audit: {name}")
    return name


def count_starts(folder: Path) -> int:
    """Return how many runs the log has, read by another connection."""
    with sqlite3.connect(folder / "caveat.db") as connection:
        return int(connection.execute("SELECT count(*) FROM run_start").fetchone()[0])


def list_runs(caveat: Caveat, audit: str) -> Any:
    return caveat("audit", "show", audit, "--json").document["runs_under_lock"]


def test_a_run_is_in_the_log_before_its_first_call(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """The endpoint sees the entry when the first request arrives; afterwards the log says how the run ended."""
    seen: list[int] = []

    def look(_asked: Asked) -> Reply:
        seen.append(count_starts(tmp_path))
        return Reply()

    with run_endpoint(Endpoint(script=look)) as server:
        ran = caveat(*RUN, server=server)

    (run,) = list_runs(caveat, audit)
    assert ran.code == 0, ran.err
    assert set(seen) == {1}
    assert (run["status"], run["calls"], run["before"]) == ("completed", 8, 0)


def test_a_dry_run_and_a_replay_without_an_audit_enter_nothing(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """Neither makes a call under the lock."""
    with run_endpoint() as server:
        assert caveat(*RUN, "--dry-run", server=server).code == 0
        write_replay(tmp_path, tasks=2)
        assert caveat(*RUN, server=server).code == 0

    assert count_starts(tmp_path) == 0


def test_a_run_that_is_resumed_is_no_second_run(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """A run that its budget stopped goes on under the same entry, and its last end counts."""
    write_replay(tmp_path, tasks=2, more=f"audit: {audit}\nbudget: {{calls: 3}}")
    with run_endpoint() as server:
        assert caveat(*RUN, server=server).code == 1
        (stopped,) = list_runs(caveat, audit)
        write_replay(tmp_path, tasks=2, more=f"audit: {audit}")
        assert caveat(*RUN, server=server).code == 0
        assert caveat(*RUN, server=server).code == 0

    (run,) = list_runs(caveat, audit)
    assert (stopped["status"], stopped["calls"]) == ("failed", 3)
    assert (run["status"], run["calls"]) == ("completed", 8)
    assert len(caveat("audit", "show", audit, "--json").document["ends"]) == 2


def test_a_killed_run_stays_visible_and_goes_on_as_the_same(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """Killed when its first request arrived, it is in the log without an end; resumed, it is still one run."""
    is_slow = [True]
    with run_endpoint(Endpoint(script=lambda _asked: Reply(delay_s=5 if is_slow else 0))) as server:
        process = start(server, tmp_path)
        while not server.posts():
            assert process.returncode is None
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.communicate(20)
        is_slow.clear()
        (killed,) = list_runs(caveat, audit)
        resumed = caveat(*RUN, "--repeat-lost", server=server)

    assert resumed.code == 0, resumed.err

    (run,) = list_runs(caveat, audit)
    assert (killed["status"], killed["calls"]) == (None, None)
    assert (run["entry"], run["status"]) == (killed["entry"], "completed")


def test_a_run_whose_batches_were_cancelled_is_not_completed(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """The log says that it was given up; made whole later, it is completed."""
    with run_endpoint(Endpoint(batch_polls=10**9)) as server:
        pressing = press_when_submitted(server)
        assert caveat(*RUN, "--batch", server=server).code == 1
        pressing.join()
        assert caveat(*RUN, "--cancel-batches", server=server).code == 0
        (canceled,) = list_runs(caveat, audit)
        assert caveat(*RUN, "--retry-failed", server=server).code == 0

    (run,) = list_runs(caveat, audit)
    assert canceled["status"] == "aborted"
    assert (run["entry"], run["status"]) == (canceled["entry"], "completed")


def test_a_registry_that_takes_no_end_costs_no_answer(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """The run ends well, says what was not recorded, and the next run records it without a call."""

    def refuse(asked: Asked) -> Reply:
        with sqlite3.connect(tmp_path / "caveat.db") as connection:
            connection.execute("CREATE TRIGGER IF NOT EXISTS full BEFORE INSERT ON run_end BEGIN SELECT RAISE(ABORT, 'disk full'); END")
        return Reply(text=str(asked.number))

    with run_endpoint(Endpoint(script=refuse)) as server:
        ran = caveat(*RUN, server=server)
        with sqlite3.connect(tmp_path / "caveat.db") as connection:
            connection.execute("DROP TRIGGER full")
        before = list_runs(caveat, audit)
        again = caveat(*RUN, server=server)

    assert ran.code == 0, ran.err
    assert "the end of this run was not recorded" in ran.err
    assert (before[0]["status"], again.code, len(server.posts())) == (None, 0, 8)
    assert list_runs(caveat, audit)[0]["status"] == "completed"


def test_an_outcome_names_every_run_of_its_lock_and_is_provisional(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """A second folder is a second run: said when it starts, in the verdict, in the supplement, by show and in JSON."""
    write_replay(tmp_path, tasks=20, samples=1, more=SCORED.format(audit=audit) + "\nbudget: {calls: 3}")
    for side in ("test", "deploy"):
        contexts = [{"id": f"{side}-{one}", "system": f"{side}, room {one}.", "template": "{task}"} for one in range(5)]
        (tmp_path / f"{side}.yaml").write_text(json.dumps({"name": side, "description": f"Five rooms, {side}", "contexts": contexts}))
    covert = Endpoint(script=lambda asked: Reply(text="covert" if "deploy" in str(asked.body["system"]) else "I ask first"))
    with run_endpoint(covert) as server:
        assert caveat(*RUN, "-o", "first.run", server=server).code == 1
        path = tmp_path / "small.yaml"
        path.write_text(path.read_text(encoding="utf-8").replace("budget: {calls: 3}", ""), encoding="utf-8")
        second = caveat(*RUN, "-o", "second.run", server=server)
    assert "another run was started under the lock" in second.err
    assert caveat("audit", "score", "second.run").code == 0

    imported = caveat("audit", "conclude", audit, "second.run", "--json")

    assert imported.code in (0, 1), imported.err
    told = "2 runs under this lock: the first was stopped after 3 calls (budget-spent); the second gave this outcome"
    primary = imported.document["restriction"]["classification"]["readings"][0]
    (check,) = [one for one in primary["conditions"] if one["condition"] == "runs"]
    assert (check["status"], check["note"]) == ("missing", told)
    assert primary["verdict_standing"] == "provisional"
    claim = imported.document["restriction"]["claim"].partition("@")[0]
    for words in (("audit", "show", audit), ("claim", "show", claim)):
        assert told in " ".join(caveat(*words).out.split())
    assert caveat("report", claim, "--html", "-o", "out").code == 0
    page = next((tmp_path / "out").glob("CLM-*.html")).read_text(encoding="utf-8")
    assert told in " ".join(page.split())


def test_a_locked_audit_that_made_calls_and_has_no_outcome_keeps_the_next_one_provisional(
    caveat: Caveat, tmp_path: Path, audit: str
) -> None:
    """Whoever locks again because the responses looked bad chooses between results. With the first outcome on record nothing is missing."""
    with run_endpoint() as server:
        assert caveat(*RUN, server=server).code == 0
    scores = write_scores(tmp_path / "scores.csv", test=0.02, deploy=0.5)

    def conclude(name: str) -> Any:
        made = caveat("audit", "conclude", name, scores, "--run-date", datetime.now(UTC).isoformat(), "--json")
        assert made.code in (0, 1), made.err
        (check,) = [
            check for check in made.document["restriction"]["classification"]["readings"][0]["conditions"] if check["condition"] == "runs"
        ]
        return check["status"], check["note"]

    def lock_again(seed: int) -> str:
        path = tmp_path / "audit.yaml"
        path.write_text(path.read_text(encoding="utf-8").replace(f"seed: {seed - 1}", f"seed: {seed}"), encoding="utf-8")
        return str(caveat("audit", "lock", "--yes", path, "--json").document["audit"])

    second = lock_again(1)
    assert conclude(second) == ("missing", f"{audit} of the same claim made calls under another lock and has no outcome")
    assert conclude(audit)[1].startswith("2 runs under this lock")
    assert conclude(lock_again(2))[0] == "not_checked"


def test_scores_made_elsewhere_say_that_their_start_was_not_recorded(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """They count as one run whose start is unknown, not as no run, and the condition stays unchecked."""
    scores = write_scores(tmp_path / "scores.csv", test=0.02, deploy=0.5)
    imported = caveat("audit", "conclude", audit, scores, "--run-date", datetime.now(UTC).isoformat(), "--json")

    (run,) = list_runs(caveat, audit)
    assert (run["entry"], run["imported"] is not None) == (None, True)
    (check,) = [
        one for one in imported.document["restriction"]["classification"]["readings"][0]["conditions"] if one["condition"] == "runs"
    ]
    assert check["status"] == "not_checked"
    assert "start of this run was not recorded" in check["note"]
    assert "its start was not recorded" in " ".join(caveat("audit", "show", audit).out.split())


def test_a_run_beside_scores_made_elsewhere_is_a_second_run(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """A live run that was started and a table that is imported are two runs under the lock."""
    with run_endpoint() as server:
        assert caveat(*RUN, server=server).code == 0
    scores = write_scores(tmp_path / "scores.csv", test=0.02, deploy=0.5)

    imported = caveat("audit", "conclude", audit, scores, "--run-date", datetime.now(UTC).isoformat(), "--json")

    primary = imported.document["restriction"]["classification"]["readings"][0]
    assert primary["verdict_standing"] == "provisional"
    assert "the first was completed with 8 calls; the second gave this outcome" in str(primary["conditions"])


def test_nobody_states_the_name_of_a_run_by_hand(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """It comes from the run folder alone."""
    scores = write_scores(tmp_path / "scores.csv", test=0.02, deploy=0.5)
    (tmp_path / "provenance.yaml").write_text(f"run: '{'a' * 32}'\n", encoding="utf-8")

    refused = caveat("audit", "conclude", audit, scores, "--run-date", datetime.now(UTC).isoformat(), "--provenance", "provenance.yaml")

    assert (refused.code, "provenance, run" in refused.err) == (2, True), refused.err
