"""A replay under a lock is compared with it before its first call, and its run folder when it is imported."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from audit.replay.run_store import DATABASE
from tests.cli.scenario import register, write_audit
from tests.endpoint.server import MODEL, run_endpoint
from tests.replay.conftest import Caveat
from tests.replay.replay_files import write_replay

RUN = ("audit", "run", "small.yaml")
SCORING = "scoring: {kind: pattern, expected: ['1']}\n"


@pytest.fixture
def audit(caveat: Caveat, tmp_path: Path) -> str:
    """A lock on a replay of 24 tasks, with everything that it refers to."""
    claim = register(caveat, tmp_path)[0]
    write_replay(tmp_path, tasks=24, more=SCORING)
    locked = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra="replay: small.yaml\nbudget: 200 calls\n"), "--json")
    assert locked.code == 0, locked.err
    return str(locked.document["audit"])


def name_audit(tmp_path: Path, audit: str, *, tasks: int = 24, samples: int = 1, more: str = "") -> Path:
    """Write the audit's identifier into the replay, which is no part of what is locked."""
    return write_replay(tmp_path, tasks=tasks, samples=samples, more=f"{SCORING}{more}audit: {audit}")


def find_items(caveat: Caveat, audit: str) -> list[str]:
    """The items of the deviations on record, sorted."""
    return sorted(one["payload"]["item"] for one in caveat("audit", "show", audit, "--json").document["deviations"])


def test_the_locked_replay_runs_and_establishes(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """Written with the identifier of its audit it is still the same replay, down to the import of its run folder."""
    name_audit(tmp_path, audit)
    with run_endpoint() as server:
        ran = caveat(*RUN, server=server)
        caveat("audit", "score", "small.run")
        done = caveat("audit", "conclude", audit, "small.run", "--json")

    assert ran.code == 0, ran.err
    assert done.document["restriction"]["basis"] == "replay"
    assert find_items(caveat, audit) == []


def test_a_replay_that_was_changed_since_is_refused_before_anything_is_sent(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """Every departure at once: tasks, contexts, scoring, model, samples; nothing is sent, and no folder is made."""
    path = name_audit(tmp_path, audit, tasks=23, samples=2)
    text = path.read_text(encoding="utf-8").replace(MODEL, f"{MODEL}-2").replace("['1']", "['2']")
    path.write_text(text, encoding="utf-8")
    (tmp_path / "deploy.yaml").write_text((tmp_path / "deploy.yaml").read_text().replace("deploy one", "deploy 1"), encoding="utf-8")
    with run_endpoint() as server:
        ran = caveat(*RUN, server=server)

    assert ran.code == 2
    assert ran.err.count("replay-differs-from-lock") == 5
    for item in ("tasks:", "deployment contexts:", "scoring:", "model:", "other:"):
        assert item in ran.err
    assert (server.asked, (tmp_path / "small.run").exists()) == ([], False)


def test_going_on_with_a_reason_is_recorded_before_the_first_call_and_establishes_nothing(
    caveat: Caveat, tmp_path: Path, audit: str
) -> None:
    """The reason stands in the log; resuming asks for no other, and the import finds nothing that was not told."""
    name_audit(tmp_path, audit, tasks=22)
    with run_endpoint() as server:
        ran = caveat(*RUN, "--deviation", "two tasks were broken", server=server)
        told = find_items(caveat, audit)
        resumed = caveat(*RUN, server=server)
        caveat("audit", "score", "small.run")
        done = caveat("audit", "conclude", audit, "small.run", "--json")

    assert (ran.code, resumed.code) == (0, 0), ran.err + resumed.err
    assert told == ["tasks"]
    assert done.document["restriction"]["basis"] == "reported"
    reasons = [one["payload"]["reason"] for one in caveat("audit", "show", audit, "--json").document["deviations"]]
    assert "two tasks were broken" in reasons


def test_more_samples_than_locked_are_told_and_decide_nothing(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """How often was sampled is printed as a deviation; what was measured is the same."""
    name_audit(tmp_path, audit, samples=2)
    with run_endpoint() as server:
        caveat(*RUN, "--deviation", "answers vary", server=server)
        caveat("audit", "score", "small.run")
        done = caveat("audit", "conclude", audit, "small.run", "--json")

    assert done.document["restriction"]["basis"] == "replay"
    assert find_items(caveat, audit) == ["other"]


def test_taking_a_run_before_its_end_is_an_early_stop(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """Which calls were still waiting is seen beside the scores; leaving them out is printed, although every task has some score."""
    name_audit(tmp_path, audit)
    with run_endpoint() as server:
        caveat(*RUN, server=server)
    with sqlite3.connect(tmp_path / "small.run" / DATABASE) as store:
        dropped = store.execute("DELETE FROM outcome WHERE rowid = (SELECT max(rowid) FROM outcome)").rowcount
    store.close()
    caveat("audit", "score", "small.run")
    done = caveat("audit", "conclude", audit, "small.run", "--unfinished", "--json")

    assert dropped == 1
    assert (done.code, done.document["restriction"]["basis"]) == (0, "replay"), done.err
    assert find_items(caveat, audit) == ["stopping_rule"]
    assert "calls never answered: 1" in done.err


def test_a_table_without_its_run_folder_is_not_shown_to_be_of_the_locked_replay(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """Taking the scores out of the folder takes away what they could be compared by."""
    name_audit(tmp_path, audit)
    with run_endpoint() as server:
        caveat(*RUN, server=server)
        caveat("audit", "score", "small.run")
        done = caveat("audit", "conclude", audit, "small.run/scores.csv", "--run-date", datetime.now(UTC).isoformat(), "--json")

    assert done.document["restriction"]["basis"] == "reported"
    assert find_items(caveat, audit) == ["deploy_contexts", "test_contexts"]


def test_a_replay_that_contradicts_the_audit_file_is_never_locked(caveat: Caveat, tmp_path: Path) -> None:
    """Another model or other tasks in one file than in the other: a plan that no one could keep."""
    claim = register(caveat, tmp_path)[0]
    write_replay(tmp_path, tasks=24)
    extra = "replay: small.yaml\nmodel: another\nplan: {tasks: 25}\nbudget: 10 calls\n"

    refused = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim, extra=extra))

    assert refused.code == 2
    assert refused.err.count("lock-contradicts-itself") == 3
    assert "is 10 calls, and the replay may take" in refused.err
