"""Logs of other infrastructure, by the command line: to a table, and into an audit up to its supplement."""

import json
import shutil
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import register, write_audit
from tests.contamination.made_up import Run
from tests.sources.log_fixtures import HARNESS, INSPECT, change_lines, copy_harness

PAIR = ("pair_T1_test.eval", "pair_D2_deploy.eval")
SOURCES = ("test=pair_T1_test.eval", "deploy=pair_D2_deploy.eval")
STRICT = ("--scorer", "exact_match", "--key", "strict-match")


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A folder with two Inspect logs of the same twelve questions under two contexts."""
    for name in PAIR:
        shutil.copy(INSPECT / name, tmp_path / name)
    return tmp_path


def date_results(folder: Path, moment: float) -> None:
    """Let the harness's results say that its runs began at *moment*."""
    for date in HARNESS.values():
        path = folder / f"results_{date}.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "date": moment}))


def load_weights(folder: Path) -> None:
    """Let the harness's results say that it loaded the weights itself, of the model that scenario claims are about."""
    for date in HARNESS.values():
        path = folder / f"results_{date}.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "model_source": "hf", "model_name": "m-1"}))


def test_two_inspect_logs_become_an_outcome_without_running_anything_again(caveat: Caveat, logs: Path) -> None:
    """Accuracies 0.667 and 0.75, twelve tasks, one context a side: undetermined with a class of the point, reported, with its accounts."""
    _, claim, _ = register(caveat, logs)

    done = caveat("audit", "conclude", write_audit(logs, claim), *SOURCES, "--json")

    assert done.code == 0, done.err
    restriction, imported = done.document["restriction"], done.document["imported"]
    spec = restriction["estimate"]["specs"][0]
    assert (spec["phi_test"]["value"], spec["phi_deploy"]["value"]) == pytest.approx((2 / 3, 0.75))
    assert spec["ed"]["value"] == pytest.approx(2 / 3 - 0.75)
    assert (spec["n"]["tasks"], restriction["basis"], restriction["post_hoc"]) == (12, "reported", True)
    primary = restriction["classification"]["readings"][0]
    assert (primary["class"], primary["mode"], primary["point_class"] is not None) == ("undetermined", "technical", True)
    assert [(file["name"], file["declared"], file["scored"]) for file in imported["files"]] == [(name, 12, 12) for name in PAIR]
    assert restriction["provenance"]["model_returned"] == imported["provenance"]["model_returned"]
    assert "pair_T1_test.eval (inspect-eval/2" in restriction["provenance"]["imported"]


def test_the_supplement_shows_where_the_scores_came_from(caveat: Caveat, logs: Path) -> None:
    """Provenance as the logs state it, and a line of accounts for each."""
    _, claim, _ = register(caveat, logs)
    caveat("audit", "conclude", write_audit(logs, claim), *SOURCES)

    assert caveat("report", claim.partition("@")[0], "-o", "out", "--html").code == 0
    page = next((logs / "out").glob("CLM-*.html")).read_text(encoding="utf-8")

    assert "Imported logs" in page
    assert page.count("12 found, 12 scored as arm") >= 2
    assert "claude-local-qwen2.5-coder" in page


def test_a_table_of_logs_gives_what_the_logs_give(caveat: Caveat, logs: Path) -> None:
    """By way of `caveat audit table` the scores are the same, so the registry knows them for what they are."""
    claim, other, _ = register(caveat, logs)
    written = caveat("audit", "table", *SOURCES, "-o", "scores.csv", "--json")
    direct = caveat("audit", "conclude", write_audit(logs, other), *SOURCES, "--json").document["restriction"]

    by_table = caveat("audit", "conclude", write_audit(logs, claim), "scores.csv", "--json").document["restriction"]

    assert (written.document["rows"], written.document["table"]) == (24, "scores.csv")
    assert [file["found"] for file in written.document["imported"]["files"]] == [12, 12]
    assert by_table["scores"] == direct["scores"]
    assert by_table["estimate"]["specs"] == direct["estimate"]["specs"]


def test_logs_older_than_the_lock_are_post_hoc_whatever_is_said(caveat: Caveat, logs: Path) -> None:
    """The log's own time decides; another one given with --run-date is refused."""
    _, claim, _ = register(caveat, logs)
    audit = caveat("audit", "lock", "--yes", write_audit(logs, claim), "--json").document["audit"]

    lied = caveat("audit", "conclude", audit, *SOURCES, "--run-date", "2030-01-01T00:00:00Z")
    restriction = caveat("audit", "conclude", audit, *SOURCES, "--json").document["restriction"]

    assert (lied.code, "run-date-differs" in lied.err) == (2, True)
    assert (restriction["basis"], restriction["post_hoc"]) == ("reported", True)


@pytest.mark.parametrize("written", [(), ("--run-date", "2026-11-21"), ("--run-date", "2026-11-21T13:42:33Z")])
def test_the_run_date_comes_from_the_logs(caveat: Caveat, logs: Path, written: tuple[str, ...]) -> None:
    """It need not be given, and may be given as it is."""
    _, claim, _ = register(caveat, logs)

    assert caveat("audit", "conclude", write_audit(logs, claim), *SOURCES, *written).code == 0


@pytest.mark.parametrize(("is_loaded", "basis", "asked"), [(True, "replay", "bound"), (False, "reported", "unidentified")])
def test_logs_made_under_a_lock_are_a_replay_where_they_name_the_model(
    *, is_loaded: bool, basis: str, asked: str, caveat: Caveat, tmp_path: Path
) -> None:
    """The moment of the run stands in the log: no --run-date is needed. A log that carries no returned name is reported at most.

    Of the log's several metrics and filters, the lock names the one that is taken.
    """
    _, claim, _ = register(caveat, tmp_path)
    named = write_audit(tmp_path, claim, extra='scorer: "exact_match,strict-match"\n')
    audit = caveat("audit", "lock", "--yes", named, "--json").document["audit"]
    sources = [f"{arm}={copy_harness(tmp_path, arm)}" for arm in HARNESS]
    date_results(tmp_path, time.time())
    if is_loaded:
        load_weights(tmp_path)

    done = caveat("audit", "conclude", audit, *sources, *STRICT, "--json")

    assert done.code == 0, done.err
    restriction = done.document["restriction"]
    assert (restriction["basis"], restriction["post_hoc"], restriction["asked"]["status"]) == (basis, False, asked)
    run = caveat("audit", "show", audit, "--json").document["runs"][0]["payload"]
    assert run["responses"] == 12
    assert "lm-evaluation-harness" in run["provenance"]["imported"]


def test_what_the_logs_say_is_not_said_otherwise(caveat: Caveat, logs: Path) -> None:
    """A provenance file completes the logs; it does not correct them."""
    _, claim, _ = register(caveat, logs)
    audit = write_audit(logs, claim)
    (logs / "lie.yaml").write_text("model_returned: another-model\n")
    (logs / "more.yaml").write_text("judge_uncertainty: none measured\n")

    refused = caveat("audit", "conclude", audit, *SOURCES, "--provenance", "lie.yaml")
    done = caveat("audit", "conclude", audit, *SOURCES, "--provenance", "more.yaml", "--json")

    assert (refused.code, "provenance-differs" in refused.err, "another-model" in refused.err) == (2, True, True)
    known = done.document["restriction"]["provenance"]
    assert known["judge_uncertainty"] == "none measured"
    assert known["model_returned"] != "another-model"


def test_accounts_cannot_be_made_up(caveat: Caveat, logs: Path) -> None:
    """What was read of logs is told by whoever read them."""
    _, claim, _ = register(caveat, logs)
    caveat("audit", "table", *SOURCES, "-o", "scores.csv")
    (logs / "forged.yaml").write_text("imported: all.eval, 500 found, 500 scored\n")

    done = caveat("audit", "conclude", write_audit(logs, claim), "scores.csv", "--provenance", "forged.yaml")

    assert (done.code, "provenance, imported" in done.err) == (2, True)


def test_the_same_logs_again_change_nothing(caveat: Caveat, logs: Path) -> None:
    """In whatever order they are named."""
    _, claim, _ = register(caveat, logs)
    audit = write_audit(logs, claim)

    answers = [caveat("audit", "conclude", audit, *sources, "--json").document for sources in (SOURCES, SOURCES[::-1])]

    assert [one["new"] for one in answers] == [True, False]


def test_one_side_alone_is_no_differential(caveat: Caveat, logs: Path) -> None:
    """An arm is missing: nothing is recorded."""
    _, claim, _ = register(caveat, logs)

    done = caveat("audit", "conclude", write_audit(logs, claim), SOURCES[0])

    assert (done.code, "one-sided" in done.err) == (2, True)
    assert caveat("audit", "list", "--json").document["audits"] == []


def test_tasks_that_do_not_overlap_are_no_pair(caveat: Caveat, tmp_path: Path) -> None:
    """Two tasks of the harness are two benchmarks."""
    _, claim, _ = register(caveat, tmp_path)
    test, deploy = copy_harness(tmp_path, "test"), copy_harness(tmp_path, "deploy")
    renamed = deploy.rename(tmp_path / deploy.name.replace("sums_free", "sums_other"))

    done = caveat("audit", "conclude", write_audit(tmp_path, claim), f"test={test}", f"deploy={renamed}", *STRICT)

    assert (done.code, "no-common-task" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("test=pair_T1_test.eval", "deploy=pair_T1_test.eval"), "duplicate"),
        (("pair_T1_test.eval", "deploy=pair_D2_deploy.eval"), "arm-missing"),
        (("test=pair_T1_test.eval", "deploy=nothing.eval"), "file-not-readable"),
        ((*SOURCES, "--scorer", "accuracy"), "unknown-name"),
        ((*SOURCES, "--score-values", "C"), "bad-option"),
        ((*SOURCES, "--score-values", "C=nan"), "bad-option"),
        ((*SOURCES, "--arms", "test=a"), "arm-twice"),
        (("test=pair_T1_test.eval", "deploy=scores.jsonl"), "formats-mixed"),
        (("test=claims.yaml", "deploy=card.md"), "unknown-format"),
        (("test=scores.jsonl",), "arm-twice"),
        ((*SOURCES, "--context-field", "metadata.nothing"), "unknown-name"),
        (("=pair_T1_test.eval", "test =pair_D2_deploy.eval"), "bad-option"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_recorded(caveat: Caveat, logs: Path, arguments: tuple[str, ...], code: str) -> None:
    """By import and by table alike, with a code that docs/errors.md explains."""
    _, claim, _ = register(caveat, logs)
    (logs / "scores.jsonl").write_text('{"task_id": "a", "arm": "test", "context_id": "c", "sample": "1", "score": 1}\n')

    imported = caveat("audit", "conclude", write_audit(logs, claim), *arguments)
    table = caveat("audit", "table", *arguments, "-o", "scores.csv")

    assert (imported.code, code in imported.err) == (2, True), imported.err
    assert table.code == 2
    assert caveat("audit", "list", "--json").document["audits"] == []
    assert not list(logs.glob("*scores.csv*"))


def test_a_table_does_not_overwrite_its_logs(caveat: Caveat, logs: Path) -> None:
    """The log is the evidence."""
    before = (logs / PAIR[0]).read_bytes()

    done = caveat("audit", "table", *SOURCES, "-o", PAIR[0])

    assert (done.code, "bad-option" in done.err) == (2, True)
    assert (logs / PAIR[0]).read_bytes() == before


def test_what_was_excluded_is_told_before_the_outcome(caveat: Caveat, tmp_path: Path) -> None:
    """A score that is NaN and two documents that are not there: on stderr, in the answer, and in the record."""
    _, claim, _ = register(caveat, tmp_path)
    test, deploy = copy_harness(tmp_path, "test"), copy_harness(tmp_path, "deploy")
    change_lines(test, lambda lines: [{**lines[0], "exact_match": float("nan")}, *lines[1:4], *lines[6:]])

    done = caveat("audit", "conclude", write_audit(tmp_path, claim), f"test={test}", f"deploy={deploy}", *STRICT, "--unfinished", "--json")

    assert done.code == 0, done.err
    file = done.document["imported"]["files"][0]
    assert (file["declared"], file["found"], file["scored"], file["excluded"][0]["count"]) == (6, 4, 3, 1)
    assert "states 6 responses and has 4" in done.err
    assert "1 without a score: the score is NaN" in done.err
    assert "1 excluded: the score is NaN" in done.document["restriction"]["provenance"]["imported"]


def test_skill_runs_become_an_audit_of_two_conditions(caveat: Caveat, tmp_path: Path) -> None:
    """The range of the property is that of the judge; where it is not, every score outside is told."""
    _, claim, _ = register(caveat, tmp_path)
    Run().write(tmp_path / "runs")
    arms = ("--arms", "test=B,deploy=D")
    audit = write_audit(tmp_path, claim)

    wrong = caveat("audit", "conclude", audit, "runs", "--scorer", "composite", *arms)
    right = caveat("audit", "conclude", audit, "runs", "--scorer", "any_anti", *arms, "--json")
    table = caveat("audit", "table", "runs", "--scorer", "composite", *arms, "--range", "1", "5", "-o", "scores.csv")

    assert (wrong.code, "score-out-of-range" in wrong.err) == (2, True)
    assert right.code == 0, right.err
    assert [file["format"] for file in right.document["imported"]["files"]] == ["skill-contamination"] * 3
    assert table.code == 0, table.err
    assert (tmp_path / "scores.csv").read_text().startswith("task_id,arm,context_id,sample,score,excluded_reason,skill,")


@pytest.mark.parametrize("date", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "2026-02-30"])
def test_a_date_that_no_calendar_has_is_refused(caveat: Caveat, logs: Path, date: str) -> None:
    """A zone can lead out of the years that there are; nothing is recorded."""
    _, claim, _ = register(caveat, logs)

    done = caveat("audit", "conclude", write_audit(logs, claim), *SOURCES, "--run-date", date)

    assert (done.code, "bad-date" in done.err) == (2, True)
    assert caveat("audit", "list", "--json").document["audits"] == []


def test_swapped_arms_are_warned_of_before_the_outcome(caveat: Caveat, logs: Path) -> None:
    """The names of the files say otherwise; the warning is in the record too."""
    _, claim, _ = register(caveat, logs)

    done = caveat("audit", "conclude", write_audit(logs, claim), "deploy=pair_T1_test.eval", "test=pair_D2_deploy.eval", "--json")

    assert done.code == 0, done.err
    assert "it is given as arm deploy, and its name says test" in done.err
    assert "its name says test" in done.document["restriction"]["provenance"]["imported"]


def test_a_log_from_the_future_is_warned_of_and_is_no_replay(caveat: Caveat, tmp_path: Path) -> None:
    """Without a lock it is reported evidence whose date is doubtful; under a lock it is refused."""
    unlocked, locked, _ = register(caveat, tmp_path)
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, locked), "--json").document["audit"]
    sources = [f"{arm}={copy_harness(tmp_path, arm)}" for arm in HARNESS]
    date_results(tmp_path, time.time() + 10**8)

    refused = caveat("audit", "conclude", audit, *sources, *STRICT)
    done = caveat("audit", "conclude", write_audit(tmp_path, unlocked), *sources, *STRICT)

    assert (refused.code, "run-in-future" in refused.err) == (2, True), refused.err
    assert (done.code, "still to come" in done.err) == (0, True), done.err
