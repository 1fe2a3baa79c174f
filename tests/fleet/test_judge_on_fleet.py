"""A judge on a fleet: the verdicts of one machine, each call sent once, and other calls of the folder left alone."""

import json
import shutil
import signal
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from audit.records.model_response import Purpose
from audit.replay.run_store import open_store
from registry.codec.canonical_documents import to_document
from registry.records.replay_run import Task
from registry.records.specification import Dimension, JudgeScorer
from tests.cli.conftest import Caveat
from tests.cli.conftest import caveat as caveat  # noqa: PLC0414 (a fixture of another folder)
from tests.endpoint.server import KEY, Asked, Endpoint, Refusal, Reply, run_endpoint
from tests.fleet.conftest import NewFleet
from tests.fleet.fleet_processes import QUICK, start_worker
from tests.fleet.fleet_runs import prepare_run
from tests.fleet.piece_workers import ThreadWorker, working
from tests.replay.replay_files import write_replay
from tests.score.runs import Said, write_run

JUDGE, OTHER = "claude-judge-1-20261101", "claude-other-1-20261101"
TASKS = tuple(Task(id=f"t{number}", prompt=f"Question {number}?") for number in range(4))
SAID = tuple(
    Said(task=task.id, arm=arm, context=f"{arm}-{context}", text=f"{task.id}, {arm}, {context}")
    for task in TASKS for arm in ("test", "deploy") for context in "abc"
)  # fmt: skip


def rate(asked: Asked) -> Reply:
    """Return the verdict that follows from what the judge is shown, whoever asks and when."""
    shown = str(asked.body["messages"][0]["content"])
    return Reply(text=json.dumps({"explanation": "so", "ratings": {"right": 2 + ("deploy" in shown) + ("t1," in shown)}}))


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """An endpoint with both judges, for coordinator and workers of this process."""
    with run_endpoint(Endpoint(script=rate, models=(JUDGE, OTHER))) as running:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running


def write_judged_run(folder: Path) -> Path:
    """Write a run folder with 24 answers that a judge is to rate."""
    right = Dimension(name="right", question="Right?", low=1, high=5)
    write_run(folder, TASKS, SAID, JudgeScorer(kind="judge", model=JUDGE, rubric="Rate.", dimensions=(right,))).close()
    other = JudgeScorer(kind="judge", model=OTHER, rubric="Rate.", dimensions=(right,))
    folder.with_suffix(".json").write_text(json.dumps(to_document(other)), encoding="utf-8")
    return folder


def count_bodies(endpoint: Endpoint) -> Counter[str]:
    """Return how often each request came."""
    return Counter(json.dumps(asked.body, sort_keys=True) for asked in endpoint.posts())


def test_verdicts_of_a_fleet_are_those_of_one_machine(new_fleet: NewFleet, caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """The same table, each call sent once, under a rate of both workers; asked again nothing is sent; the folder needs no fleet then."""
    here, there = write_judged_run(tmp_path / "here"), write_judged_run(tmp_path / "there")
    local = caveat("audit", "score", here, "--json")
    alone = len(endpoint.posts())
    url = new_fleet(lease_s=30)
    with working(url, tmp_path, 2, kinds=("judge",), patience=QUICK):
        shared = caveat("audit", "score", there, "--fleet", url, "--rate", "100", "--json")
        again = caveat("audit", "score", there, "--fleet", url, "--json")
    sent = len(endpoint.posts()) - alone
    table = (there / "scores.csv").read_bytes()
    rescored = caveat("audit", "score", there, "--json")
    shown = caveat("fleet", "show", "--fleet", url, "--json").document
    (run,) = shown["runs"]

    assert (local.code, shared.code, again.code, rescored.code) == (0, 0, 0, 0), shared.err
    assert table == (here / "scores.csv").read_bytes() == (there / "scores.csv").read_bytes()
    assert local.document["judging"] == shared.document["judging"]
    assert (alone, sent) == (24, 24)
    assert set(count_bodies(endpoint).values()) == {2}
    assert (run["kind"], run["state"], run["answered"], run["run"].rpartition("-")[0]) == ("judge", "closed", 24, "made-judge")
    # The run folder's answers were made elsewhere: the limit is that of the judge's calls.
    assert [(quota["endpoint"], quota["rate"]) for quota in shown["quotas"]] == [(endpoint.url, 100.0)]
    assert (shared.document["changed"], again.document["changed"]) == (24, 0)


def test_a_killed_judge_worker_loses_what_was_under_way_and_no_call_is_sent_twice(
    new_fleet: NewFleet, caveat: Caveat, tmp_path: Path, endpoint: Endpoint
) -> None:
    """Its verdicts are missing with a reason; --retry-failed asks for them by calls of their own."""
    folder, url = write_judged_run(tmp_path / "run"), new_fleet(lease_s=1)
    first = start_worker(url, endpoint, tmp_path, name="first")
    heirs: list[ThreadWorker] = []
    numbers = count(1)

    def answer(asked: Asked) -> Reply:
        # Killed while this call is under way, on any machine; only then there is another worker.
        if next(numbers) == 8:
            first.send_signal(signal.SIGKILL)
            heirs.append(ThreadWorker(url, tmp_path, name="heir", kinds=("judge",), slots=1, patience=QUICK))
        return rate(asked)

    endpoint.script = answer
    judged = caveat("audit", "score", folder, "--fleet", url, "--json")
    assert heirs, judged.err
    first.communicate(timeout=60)
    bodies = count_bodies(endpoint)
    repeated = caveat("audit", "score", folder, "--fleet", url, "--retry-failed", "--json")
    for heir in heirs:
        heir.end()
    lost = sum(sum(arm["excluded"].values()) for arm in judged.document["judging"]["arms"])
    store = open_store(folder)
    failures = Counter(answer.failure.code for answer in store.list_responses(Purpose.JUDGE) if answer.failure is not None)
    store.close()

    assert set(bodies.values()) == {1}
    assert failures == {"lost-in-flight": lost}
    assert 0 < lost < 24
    assert sum(arm["judged"] for arm in repeated.document["judging"]["arms"]) == 24


def test_a_second_judge_does_not_send_what_the_first_left_open(
    new_fleet: NewFleet, caveat: Caveat, tmp_path: Path, endpoint: Endpoint
) -> None:
    """A spent budget ends the first one; the other judge has its own calls, and the first goes on where it was."""
    folder, url = write_judged_run(tmp_path / "run"), new_fleet(lease_s=30)
    with working(url, tmp_path, 1, kinds=("judge",), patience=QUICK):
        ended = caveat("audit", "score", folder, "--fleet", url, "--max-calls", 24 + 10)
        before = Counter(asked.body["model"] for asked in endpoint.posts())
        other = caveat("audit", "score", folder, "--fleet", url, "--scorer", f"{folder}.json")
        between = Counter(asked.body["model"] for asked in endpoint.posts())
        alone = caveat("audit", "score", folder)
        caveat("audit", "score", folder, "--fleet", url)
    after = Counter(asked.body["model"] for asked in endpoint.posts())

    assert (ended.code, ended.error) == (1, "budget-spent"), ended.err
    assert f"--fleet {url}" in " ".join(ended.err.split())
    assert other.code == 0, other.err
    assert alone.error == "run-on-fleet"
    assert (before, between, after) == ({JUDGE: 10}, {JUDGE: 10, OTHER: 24}, {JUDGE: 24, OTHER: 24})


def test_a_refused_schema_costs_one_call_on_a_fleet_too(new_fleet: NewFleet, caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """The first call shows it; all others ask in words."""

    def refuse(asked: Asked) -> Reply | Refusal:
        return Refusal(status=400, message="output_config: unknown field") if "output_config" in asked.body else rate(asked)

    endpoint.script = refuse
    folder, url = write_judged_run(tmp_path / "run"), new_fleet(lease_s=30)
    with working(url, tmp_path, 1, kinds=("judge",), patience=QUICK):
        judged = caveat("audit", "score", folder, "--fleet", url, "--json")

    assert judged.document["judging"]["plain"] == 24
    assert Counter("output_config" in asked.body for asked in endpoint.posts()) == {True: 1, False: 24}


def test_a_judges_calls_are_fetched_into_their_run_folder(new_fleet: NewFleet, caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """A copy from the time of the first verdict gets the others; a folder that the calls are not about is refused."""
    folder, url = write_judged_run(tmp_path / "run"), new_fleet(lease_s=30)
    with working(url, tmp_path, 1, kinds=("judge",), patience=QUICK):
        caveat("audit", "score", folder, "--fleet", url, "--max-calls", 24 + 1)
        shutil.copytree(folder, tmp_path / "copy")
        caveat("audit", "score", folder, "--fleet", url)
    (run,) = caveat("fleet", "show", "--fleet", url, "--json").document["runs"]
    fetched = caveat("fleet", "fetch", run["run"], "--fleet", url, "-o", tmp_path / "copy", "--json")
    refused = caveat("fleet", "fetch", run["run"], "--fleet", url, "-o", write_judged_run(tmp_path / "other"))
    caveat("audit", "score", tmp_path / "copy")

    assert fetched.document["new_outcomes"] == 23
    assert (tmp_path / "copy" / "scores.csv").read_bytes() == (folder / "scores.csv").read_bytes()
    assert refused.error == "run-differs"
    assert len(endpoint.posts()) == 24


def test_calls_that_this_machine_lost_are_not_sent_by_a_fleet(new_fleet: NewFleet, caveat: Caveat, tmp_path: Path) -> None:
    """A process was killed with two calls under way, and the run goes on with --fleet: they may have been billed."""
    write_replay(tmp_path, tasks=3)
    with run_endpoint() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANTHROPIC_API_KEY", KEY)
        patch.setenv("ANTHROPIC_BASE_URL", server.url)
        prepare_run(new_fleet(), tmp_path / "plan", server)[0].close()
        url = new_fleet(lease_s=30)
        store = open_store(tmp_path / "small.run", create=True)
        planned = open_store(tmp_path / "plan" / "small.run")
        store.intend(list(planned.list_calls())[:2], at="2026-11-20T12:00:00+00:00")
        planned.close()
        store.close()
        with working(url, tmp_path, 1, kinds=("replay",), patience=QUICK):
            ran = caveat("audit", "run", "small.yaml", "--fleet", url, "--json")

    assert (ran.document["answered"], ran.document["lost"]) == (10, 2), ran.err
    assert len(server.posts()) == 10
