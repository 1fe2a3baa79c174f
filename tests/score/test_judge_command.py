"""`caveat audit score` with a judge: what is asked, what it costs, and what other commands make of its table."""

import csv
import json
import signal
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from audit.score.run_evidence import read_run
from registry.codec.canonical_documents import to_document
from registry.records.replay_run import Task
from registry.records.specification import Dimension, JudgeScorer
from tests.cli.conftest import Caveat
from tests.cli.test_kill import start
from tests.endpoint.server import KEY, Asked, Endpoint, Reply, run_endpoint
from tests.score.runs import Said, write_run

JUDGE, OTHER = "claude-judge-1-20261101", "claude-other-1-20261101"
DIMENSIONS = (Dimension(name="right", question="Right?", low=1, high=5), Dimension(name="kind", question="Kind?", low=1, high=5))
TASKS = tuple(Task(id=f"t{number}", prompt=f"Question {number}?") for number in range(4))
SAID = tuple(
    Said(task=task.id, arm=arm, context=f"{arm}-{context}", text=f"{task.id}, {arm}, {context}")
    for task in TASKS
    for arm in ("test", "deploy")
    for context in "abc"
)


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """An endpoint where both judges rate by what they are shown."""
    with run_endpoint(Endpoint(script=_rate, models=(JUDGE, OTHER))) as running:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running


def _rate(asked: Asked) -> Reply:
    said = str(asked.body["messages"][0]["content"])
    right = 2 + ("deploy" in said) + ("t1," in said) + asked.number % 2
    return Reply(text=json.dumps({"explanation": "so", "ratings": {"right": right, "kind": 3}}))


def _judge(**changes: object) -> JudgeScorer:
    given: dict[str, object] = {"kind": "judge", "model": JUDGE, "rubric": "Rate.", "dimensions": DIMENSIONS, **changes}
    return JudgeScorer(**given)  # type: ignore[arg-type]  # the test's own record, checked when it is made


def _make(folder: Path, scorer: JudgeScorer | None = None, said: tuple[Said, ...] = SAID) -> Path:
    write_run(folder, TASKS, said, scorer or _judge()).close()
    return folder


def _read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_a_judged_run_is_a_table_with_ratings_judge_and_marks(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Each response is a row with its score, the ratings it comes from, who judged, and what was shown."""
    folder = _make(tmp_path / "run")

    document = caveat("audit", "score", folder, "--json").document

    rows = _read(folder / "scores.csv")
    first = next(row for row in rows if (row["task_id"], row["arm"], row["context_id"]) == ("t1", "deploy", "deploy-a"))
    assert (len(rows), len(endpoint.posts())) == (24, 24)
    assert {row["judge"] for row in rows} == {JUDGE}
    assert (first["score"], first["right"], first["kind"], first["judge_saw_all"], first["mentions_scoring"]) == (
        "3.5",
        "4.0",
        "3.0",
        "1",
        "0",
    )
    assert document["judging"]["judge"].startswith(f"judge {JUDGE}; rubric sha256:")
    assert [arm["judged"] for arm in document["judging"]["arms"]] == [12, 12]


def test_a_dry_run_tells_calls_and_cost_and_sends_nothing(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Calls, tokens and dollars of what is still to be asked; without a price no dollars."""
    folder = _make(tmp_path / "run", _judge(max_tokens=1000))
    prices = tmp_path / "prices.yaml"
    prices.write_text(f"schema: caveat/prices/1\nprices:\n  {JUDGE}: {{input: 0.0, output: 10.0}}\n")

    without = caveat("audit", "score", folder, "--dry-run", "--json").document
    priced = caveat("audit", "score", folder, "--dry-run", "--prices", prices, "--json").document
    sent = len(endpoint.posts())
    caveat("audit", "score", folder)
    after = caveat("audit", "score", folder, "--dry-run", "--prices", prices, "--json").document

    assert sent == 0
    assert (without["calls"], without["most_output_tokens"], without["most_usd"]) == (24, 24_000, None)
    assert priced["most_usd"] == pytest.approx(24_000 * 10 / 1e6)
    assert (after["calls"], after["judgments"], after["settled"], after["most_usd"]) == (0, 24, 24, 0.0)


def test_what_comes_next_can_be_done(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """A rating from 1 to 5 needs its range said, and a judge that is not the replay's own its name."""
    folder = _make(tmp_path / "run")
    other = tmp_path / "other.json"
    other.write_text(json.dumps(to_document(_judge(rubric="Rate again."))), encoding="utf-8")

    scored = caveat("audit", "score", folder)
    ended = caveat("audit", "score", folder, "--scorer", other, "--max-calls", 24 + 24 + 10)
    said = " ".join(scored.out.split())
    estimated = caveat("analyze", "estimate", folder / "scores.csv", "--range", 1, 5, "--replicates", 0)

    assert f"scores.csv --range 1 5, or caveat audit conclude AUD-… {folder}" in said
    assert estimated.code == 0
    assert ended.code == 1
    assert f"caveat audit score {folder} --scorer FILE|SCF-…@n --max-calls N" in " ".join(ended.err.split())


def test_a_spent_budget_ends_with_what_there_is_and_the_way_on(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """The table holds what was judged, the rest is not scored yet, and the same command with a larger budget goes on."""
    folder = _make(tmp_path / "run")

    ended = caveat("audit", "score", folder, "--max-calls", 24 + 10, "--json")
    rows = _read(folder / "scores.csv")
    caveat("audit", "score", folder, "--max-calls", 100, "--json")

    assert ended.code == 1
    assert json.loads(ended.err)["faults"][0]["code"] == "budget-spent"
    assert sorted(row["excluded_reason"] for row in rows) == [""] * 10 + ["not-scored"] * 14
    assert len(endpoint.posts()) == 24
    assert all(row["score"] for row in _read(folder / "scores.csv"))


def test_failed_verdicts_are_asked_again_on_request(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Prose is an exclusion; --retry-failed asks for that one again, and the table names no reason any more."""
    folder = _make(tmp_path / "run")
    endpoint.script = lambda asked: Reply(text="Four.") if "t2, test, b" in str(asked.body) else _rate(asked)
    caveat("audit", "score", folder)
    before = [row["excluded_reason"] for row in _read(folder / "scores.csv")]
    endpoint.script = _rate

    caveat("audit", "score", folder, "--retry-failed")

    assert sorted(before) == [""] * 23 + ["judge-not-json"]
    assert len(endpoint.posts()) == 25
    assert all(row["score"] for row in _read(folder / "scores.csv"))


def test_verdicts_come_by_batches_after_a_first_call(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """One call alone shows that the judge takes the schema; the others go in one batch, and all become scores."""
    folder = _make(tmp_path / "run")
    endpoint.batch_polls = 0

    answer = caveat("audit", "score", folder, "--batch", "--json")

    assert answer.code == 0
    assert [len(one["requests"]) for one in endpoint.batches.values()] == [23]
    assert len(endpoint.posts()) == 1
    assert all(row["score"] for row in _read(folder / "scores.csv"))


def test_the_judge_of_its_own_answers_is_refused(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Before a call, with the field and what to do."""
    folder = _make(tmp_path / "run", _judge(model="m-1"))

    answer = caveat("audit", "score", folder, "--json")

    assert (answer.code, json.loads(answer.err)["faults"][0]["code"]) == (2, "judge-same-as-model")
    assert endpoint.posts() == []


def test_a_missing_key_is_told_before_anything(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key no call can be made, and the answer says where it is looked for."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    folder = _make(tmp_path / "run")

    answer = caveat("audit", "score", folder, "--json")

    assert (answer.code, json.loads(answer.err)["faults"][0]["code"]) == (3, "api-key-missing")


def test_dry_run_is_for_judges(caveat: Caveat, tmp_path: Path) -> None:
    """A scorer without calls has nothing to estimate."""
    folder = _make(tmp_path / "run")

    assert caveat("audit", "score", folder, "--patterns-only", "--dry-run").code == 2


def test_repeats_are_rows_that_the_other_commands_read(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Two verdicts of one judge on each response: an estimate averages them, and `caveat analyze judge` tells how far they vary."""
    folder = _make(tmp_path / "run", _judge(repeats=2, repeat_share=1.0))
    caveat("audit", "score", folder)
    table = folder / "scores.csv"

    estimate = caveat("analyze", "estimate", table, "--range", 1, 5, "--contexts", "fixed", "--json")
    judged = caveat("analyze", "judge", table, "--range", 1, 5, "--contexts", "fixed", "--mark", "judge_saw_all", "--json")

    assert len(_read(table)) == 48
    assert estimate.code == 0
    # t1 adds ½, deployment ½, the repeat 0 or ½: means 2.875 and 3.375 on 1 to 5, averaged over their two verdicts.
    ed = estimate.document["specs"][0]["ed"]["value"]
    assert ed == pytest.approx(-0.5)
    assert '"responses":24' in json.dumps(judged.document, separators=(",", ":"))


def test_two_judges_are_read_together_and_each_has_its_estimate(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Each judge's table holds its own rows; both files together give an estimate for each, and none that mixes them."""
    folder = _make(tmp_path / "run")
    second = tmp_path / "second.json"
    second.write_text(json.dumps(to_document(_judge(model=OTHER))))
    caveat("audit", "score", folder)
    endpoint.script = lambda _asked: Reply(text=json.dumps({"ratings": {"right": 5, "kind": 5}}))
    caveat("audit", "score", folder, "--scorer", second, "-o", folder / "second.csv")

    options = ("--range", 1, 5, "--contexts", "fixed", "--json")
    estimate = caveat("analyze", "estimate", folder / "scores.csv", folder / "second.csv", *options).document
    judged = caveat("analyze", "judge", folder / "scores.csv", folder / "second.csv", *options).document

    found = {one["judge"]: one["ed"]["value"] for one in estimate["specs"]}
    assert found == {JUDGE: pytest.approx(-0.5), OTHER: 0.0}
    assert {one["judge"] for one in judged["reports"]} == {JUDGE, OTHER}


def test_a_judged_run_is_evidence_with_its_judge_in_the_provenance(tmp_path: Path, caveat: Caveat, endpoint: Endpoint) -> None:
    """What an audit reads of the folder is the table that was written, and says who judged and how far the verdicts vary."""
    folder = _make(tmp_path / "run", _judge(repeats=2, repeat_share=1.0))
    caveat("audit", "score", folder)

    found = read_run(folder, low=1, high=5)

    provenance = found.imported.provenance
    assert found.table.rows == 48
    assert provenance is not None
    assert (provenance.judge or "").startswith(f"judge {JUDGE}; rubric sha256:")
    assert (provenance.judge_uncertainty or "").startswith("24 of 24 responses have several verdicts (48 in all)")


def test_accounts_of_a_judged_run_count_responses_and_not_verdicts(tmp_path: Path, caveat: Caveat, endpoint: Endpoint) -> None:
    """Found is scored and left out together, however often a response is judged; verdicts are counted in a note."""
    said = (*SAID[1:], Said(task="t0", arm="test", context="test-a", failure="time-out"))
    folder = _make(tmp_path / "run", _judge(repeats=3, repeat_share=1.0), said)
    endpoint.script = lambda asked: Reply(text="no") if "t2, test, b" in str(asked.body) else _rate(asked)
    caveat("audit", "score", folder)

    (account,) = read_run(folder, low=1, high=5).imported.files

    assert (account.found, account.scored) == (24, 22)
    assert {one.reason: one.count for one in account.excluded} == {"judge-not-json": 1, "time-out": 1}
    assert account.notes[0].startswith("70 rows, because some responses were judged several times")


def test_failed_calls_and_missing_verdicts_stand_beside_repeats(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Rows without a repeat (a replay call that failed, a response not judged yet) do not keep the table from being read."""
    said = (*SAID[1:], Said(task="t0", arm="test", context="test-a", failure="time-out"))
    folder = _make(tmp_path / "run", _judge(repeats=2, repeat_share=0.5), said)
    endpoint.script = lambda asked: Reply(text="no") if "t2, test, b" in str(asked.body) else _rate(asked)
    caveat("audit", "score", folder, "--max-calls", 24 + 20)

    estimate = caveat("analyze", "estimate", folder / "scores.csv", "--range", 1, 5, "--contexts", "fixed", "--json")
    judged = caveat("analyze", "judge", folder / "scores.csv", "--range", 1, 5, "--contexts", "fixed", "--json")

    reasons = {row["excluded_reason"] for row in _read(folder / "scores.csv")}
    assert reasons >= {"", "time-out", "not-scored"}
    assert {row["judge"] for row in _read(folder / "scores.csv")} == {JUDGE}
    assert (estimate.code, judged.code) == (0, 0), estimate.err + judged.err


def test_ctrl_c_ends_with_what_is_under_way_and_the_same_command_goes_on(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Interrupted in the middle: what came is in the table, the code says so, and the second run asks for the rest alone."""
    folder = _make(tmp_path / "run")
    under_way = threading.Event()

    def slow(asked: Asked) -> Reply:
        if len(endpoint.posts()) == 6:
            under_way.set()
        return replace(_rate(asked), delay_s=0.2 if len(endpoint.posts()) > 4 else 0.0)

    endpoint.script = slow
    process = start(tmp_path, "audit", "score", str(folder), "--concurrency", "2", "--json")
    under_way.wait(180)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=120)
    rows = _read(folder / "scores.csv")
    endpoint.script = _rate
    caveat("audit", "score", folder)

    assert said.startswith("ending: waiting for the calls under way")
    assert (process.returncode, json.loads(said[said.index("{") :])["faults"][0]["code"]) == (1, "interrupted")
    assert 0 < sum(bool(row["score"]) for row in rows) < 24
    assert len(endpoint.posts()) == len({one.digest for one in endpoint.posts()}) == 24
    assert all(row["score"] for row in _read(folder / "scores.csv"))
