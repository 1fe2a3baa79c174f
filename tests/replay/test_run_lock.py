"""`caveat audit run` under a lock: before anything is sent, the registry is asked whether the lock is there, and about this replay."""

import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.cli.scenario import register, write_audit, write_scores
from tests.endpoint.server import run_endpoint
from tests.replay.conftest import Caveat
from tests.replay.replay_files import write_replay

RUN = ("audit", "run", "small.yaml")


def wait_for_next_second() -> None:
    """A lock's time has whole seconds: what happens within one cannot be told apart."""
    begun = int(time.time())
    while int(time.time()) == begun:
        time.sleep(0.01)


@pytest.fixture
def audit(caveat: Caveat, tmp_path: Path) -> str:
    """A locked audit of the first claim of a small card."""
    claim = register(caveat, tmp_path)[0]
    locked = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json")
    assert locked.code == 0, locked.err
    return str(locked.document["audit"])


def test_a_run_under_its_lock_says_which_claim_it_is_about(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """The claim's words are printed, so that the audit of another claim is seen before it is paid for; the run then goes through."""
    write_replay(tmp_path, tasks=2, more=f"audit: {audit}")
    with run_endpoint() as server:
        ran = caveat(*RUN, server=server)

    assert ran.code == 0, ran.err
    assert "the model schemes in 5 % of cases" in " ".join(ran.err.split())
    assert f"under the lock of {audit}" in ran.err


def test_an_audit_that_is_not_locked_or_not_there_is_refused(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """Nothing is sent, and no folder is made."""
    claim = caveat("claim", "list", "--json").document["claims"][1]["claim"]
    scores = write_scores(tmp_path / "scores.csv", test=0.9, deploy=0.5)
    opened = caveat("audit", "conclude", write_audit(tmp_path, claim), scores, "--json").document["audit"]
    codes = []
    with run_endpoint() as server:
        for name in (opened, audit[:-6] + "0099-1"):
            write_replay(tmp_path, tasks=2, more=f"audit: {name}")
            ran = caveat(*RUN, server=server)
            codes.append((ran.code, "not-locked" in ran.err))

    assert codes == [(2, True), (2, False)]
    assert server.asked == []
    assert not (tmp_path / "small.run").exists()


def test_other_arms_and_specifications_than_the_lock_names_are_refused_together(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """Every departure at once, before anything is sent."""
    path = write_replay(tmp_path, tasks=2, more=f"audit: {audit}")
    path.write_text(path.read_text(encoding="utf-8").replace("arm: test,", "arm: exam,").replace("deploy.yaml}", "deploy.yaml, spec: odd}"))
    with run_endpoint() as server:
        ran = caveat(*RUN, server=server)

    assert ran.code == 2
    assert ran.err.count("design-differs-from-lock") == 3
    assert server.asked == []


def test_a_folder_that_was_begun_before_the_lock_is_refused(caveat: Caveat, tmp_path: Path) -> None:
    """Responses that were there before the plan cannot be adopted by naming the audit afterwards."""
    claim = register(caveat, tmp_path)[0]
    with run_endpoint() as server:
        write_replay(tmp_path, tasks=2)
        caveat(*RUN, server=server)
        wait_for_next_second()
        audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
        write_replay(tmp_path, tasks=2, samples=2, more=f"audit: {audit}")
        ran = caveat(*RUN, server=server)
        fresh = caveat(*RUN, "-o", "other.run", server=server)

    assert ran.code == 2
    assert "run-before-lock" in ran.err
    assert fresh.code == 0
    assert len(server.posts()) == 8 + 16


def test_an_audit_with_an_outcome_takes_no_more_responses(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """They could not enter it."""
    scores = write_scores(tmp_path / "scores.csv", test=0.9, deploy=0.5)
    concluded = caveat("audit", "conclude", audit, scores, "--run-date", datetime.now(UTC).isoformat())
    assert concluded.code in (0, 1), concluded.err
    write_replay(tmp_path, tasks=2, more=f"audit: {audit}")
    with run_endpoint() as server:
        ran = caveat(*RUN, server=server)

    assert ran.code == 2
    assert "audit-concluded" in ran.err
    assert server.asked == []


def test_a_short_name_that_two_authorities_have_is_ones_own(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The configured authority's comes first; what it has not is found with the other."""
    assert [caveat("init", "--code", code, "--join").code for code in ("AISI", "LAB")] == [0, 0]
    write_replay(tmp_path, tasks=2)
    path = tmp_path / "small.yaml"
    for code, word in (("AISI", "ours"), ("LAB", "theirs")):
        monkeypatch.setenv("CAVEAT_AUTHORITY", code)
        for name in ("test", "deploy")[: 2 if code == "LAB" else 1]:
            text = (tmp_path / f"{name}.yaml").read_text(encoding="utf-8").replace("You are in", f"{word}: you are in")
            (tmp_path / "registered.yaml").write_text(text, encoding="utf-8")
            added = caveat("spec", "add", f"{name}_context", f"ctx-{name}", "registered.yaml")
            assert added.code == 0, added.err
    path.write_text(
        path.read_text(encoding="utf-8").replace("test.yaml", "ctx-test").replace("deploy.yaml", "ctx-deploy"), encoding="utf-8"
    )
    monkeypatch.setenv("CAVEAT_AUTHORITY", "AISI")
    with run_endpoint() as server:
        ran = caveat(*RUN, server=server)

    assert ran.code == 0, ran.err
    assert {asked.body["system"].partition(":")[0] for asked in server.posts()} == {"ours", "theirs"}
    assert {asked.body["system"] for asked in server.posts() if "in test" in asked.body["system"]} == {
        "ours: you are in test one.",
        "ours: you are in test two.",
    }


def test_the_command_that_goes_on_names_the_registry_that_was_named(caveat: Caveat, tmp_path: Path, audit: str) -> None:
    """Without it the lock would be looked for in another one."""
    write_replay(tmp_path, tasks=2, more=f"audit: {audit}\nbudget: {{calls: 2}}")
    with run_endpoint() as server:
        ran = caveat(*RUN, "--registry", "sqlite:///caveat.db", server=server)

    assert ran.code == 1, ran.err
    assert "small.run --registry sqlite:///caveat.db" in " ".join(ran.out.split())


def test_the_dry_run_names_tasks_that_are_alike_while_a_family_can_still_be_declared(caveat: Caveat, tmp_path: Path) -> None:
    """After the lock it would be too late; and the lock names the file that the next command runs."""
    claim = register(caveat, tmp_path)[0]
    write_replay(tmp_path, tasks=2)
    tasks = "schema: caveat/tasks/1\ntasks:\n"
    tasks += "".join(f"  - {{id: t{number}, prompt: 'Explain how a lock on a front door works, please, {number}.'}}\n" for number in (1, 2))
    (tmp_path / "tasks.yaml").write_text(tasks, encoding="utf-8")

    planned = caveat(*RUN, "--dry-run")
    plan = tmp_path / write_audit(tmp_path, claim)
    plan.write_text(f"{plan.read_text(encoding='utf-8')}replay: small.yaml\n", encoding="utf-8")
    locked = caveat("audit", "lock", "--yes", str(plan))

    assert "tasks t1 and t2 are near-duplicates" in planned.err
    assert locked.code == 0, locked.err
    assert " in small.yaml, then: caveat audit run small.yaml" in " ".join(locked.out.replace(f"{tmp_path}/", "").split())
