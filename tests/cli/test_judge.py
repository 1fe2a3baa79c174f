"""`caveat analyze judge` and the options that choose rows, as a user calls them; and the traps of real paired evaluations."""

import csv
import json
import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from audit.protocol.audit_record import add_finding
from registry.records.module_findings import FindingBody
from registry.store.log_writer import Writer
from tests.cli.conftest import Caveat
from tests.cli.refusals import size_of
from tests.cli.scenario import register, write_audit, write_scores
from tests.gold import SHARED

STUDY_DATA = SHARED / "paired"
real = pytest.mark.skipif(not STUDY_DATA.is_dir(), reason="the shared data are not here")


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def draw(*, judges: tuple[str, ...] = ("",), repeats: int = 1) -> list[dict[str, Any]]:
    """Forty tasks, two contexts a side; every judge calls one in ten wrong."""
    rng = random.Random(0)
    rows = []
    for side, rate in (("test", 0.3), ("deploy", 0.5)):
        for task in range(40):
            for context in range(2):
                truth = rng.random() < rate
                for judge in judges:
                    for repeat in range(repeats):
                        score = int(truth != (rng.random() < 0.1))
                        row = {"task_id": f"t{task}", "side": side, "context_id": f"{side}{context}", "sample": 0, "score": score}
                        row |= {"judge": judge, "judge_repeat": repeat, "truth": int(truth), "cut": 0}
                        rows.append(row)
    return rows


def list_labels(rows: list[dict[str, Any]], *, every: int = 2) -> list[dict[str, Any]]:
    ids = ("task_id", "side", "context_id", "sample")
    seen = {tuple(row[name] for name in ids): row["truth"] for row in rows}
    return [dict(zip(ids, key, strict=True)) | {"label": truth} for number, (key, truth) in enumerate(seen.items()) if number % every == 0]


def read_report(caveat: Caveat, *arguments: Any) -> Any:
    answer = caveat("analyze", "judge", *arguments, "--json")
    assert answer.code == 0, answer.err
    (report,) = answer.document["reports"]
    return report


def test_a_file_of_labels_says_what_a_column_of_labels_says(caveat: Caveat, tmp_path: Path) -> None:
    """CSV, JSONL and Parquet, in any order; the source's name is all that differs."""
    rows = draw()
    scores = write(tmp_path / "scores.csv", [row | {"truth": row["truth"] if number % 2 == 0 else ""} for number, row in enumerate(rows)])
    labels = list_labels(rows)
    write(tmp_path / "labels.csv", labels[::-1])
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in labels))

    column = read_report(caveat, scores, "--label-column", "truth", "--contexts", "fixed")
    for name in ("labels.csv", "labels.jsonl"):
        file = read_report(caveat, scores, "--labels", tmp_path / name, "--contexts", "fixed")

        assert file["labels"] == column["labels"]
        assert file["corrected"] == column["corrected"]
        assert file["invariance"][0]["column"] == name
    assert column["labels"][0]["labelled"] == 40
    assert column["corrected"][0]["lambda_test"] == 1


def test_every_judge_is_reported_and_repeats_are_its_noise(caveat: Caveat, tmp_path: Path) -> None:
    """In text too: the judged line, the noise, and that nothing was checked."""
    scores = write(tmp_path / "scores.csv", draw(judges=("first", "second"), repeats=3))
    found = caveat("analyze", "judge", scores, "--json").document
    text = caveat("analyze", "judge", scores)

    assert found["schema"] == "caveat/judges/1"
    assert [report["judge"] for report in found["reports"]] == ["first", "second"]
    assert all(report["repeats"]["responses"] == 160 and report["repeats"]["scorings"] == 480 for report in found["reports"])
    assert "judge first, P_deploy specification default" in text.out
    assert "160 responses scored 480 times" in text.out
    assert "invariance: not checked" in text.out
    estimate = caveat("analyze", "estimate", scores, "--replicates", "0", "--json").document
    assert [spec["judge"] for spec in estimate["specs"]] == ["first", "second"]
    assert estimate["specs"][0]["n"]["responses_test"] == 80


@pytest.mark.parametrize(
    ("change", "code", "where"),
    [
        (lambda labels: [*labels, labels[0]], "duplicate-row", "labels.csv"),
        (lambda labels: [*labels, labels[0] | {"task_id": "t99"}], "label-unmatched", "labels.csv"),
        (lambda labels: [*labels[1:], labels[0] | {"label": 2}], "score-out-of-range", "column label"),
        (lambda labels: [*labels[1:], labels[0] | {"label": "yes"}], "score-not-number", "column label"),
        (lambda labels: [*labels[1:], labels[0] | {"label": ""}], "score-missing", "column label"),
        (lambda labels: [{"task_id": row["task_id"], "label": row["label"]} for row in labels], "column-missing", "column arm"),
    ],
)
def test_labels_that_are_wrong_are_refused(caveat: Caveat, tmp_path: Path, change: Any, code: str, where: str) -> None:
    """Twice, of no row, out of range, no number, empty, without keys: each told with its place, and nothing is estimated."""
    rows = draw()
    scores, labels = write(tmp_path / "scores.csv", rows), write(tmp_path / "labels.csv", change(list_labels(rows)))
    answer = caveat("analyze", "judge", scores, "--labels", labels)

    assert (answer.code, answer.out) == (2, "")
    assert f"error[{code}]" in answer.err
    assert where in answer.err


def test_many_labels_of_no_row_are_counted(caveat: Caveat, tmp_path: Path) -> None:
    """Twenty in full, the number of the others; and as many texts that are no labels."""
    rows = draw()
    scores = write(tmp_path / "scores.csv", [row | {"words": f"word {number}"} for number, row in enumerate(rows)])
    labels = write(tmp_path / "labels.csv", [row | {"context_id": "elsewhere", "sample": n} for n, row in enumerate(list_labels(rows))])

    assert "and 60 more faults" in caveat("analyze", "judge", scores, "--labels", labels).err
    assert "and 140 more values" in caveat("analyze", "judge", scores, "--label-column", "words").err


def test_a_label_that_several_specifications_could_mean_is_refused(caveat: Caveat, tmp_path: Path) -> None:
    """The same ids under two specifications of P_deploy; with the column spec it is clear."""
    rows = draw()
    both = [row | {"spec": ""} for row in rows if row["side"] == "test"]
    both += [row | {"spec": spec} for row in rows if row["side"] == "deploy" for spec in ("x", "y")]
    scores, labels = write(tmp_path / "scores.csv", both), list_labels(rows)
    refused = caveat("analyze", "judge", scores, "--labels", write(tmp_path / "labels.csv", labels))
    named = [row | {"spec": "x" if row["side"] == "deploy" else ""} for row in labels]
    accepted = caveat("analyze", "judge", scores, "--labels", write(tmp_path / "labels.csv", named), "--json").document

    assert "label-ambiguous" in refused.err
    assert [report["labels"][1]["labelled"] > 0 for report in accepted["reports"]] == [True, False]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--mark", "score2"), "column-missing"),
        (("--mark", "judge_repeat2"), "column-missing"),
        (("--mark", "task_id"), "bad-flag"),
        (("--rescored", "context_id"), "score-not-number"),
        (("--label-column", "truths"), "column-missing"),
        (("--sensitivity", "0.9", "--specificity", "9/10"), "bad-option"),
        (("--sensitivity", "11/10", "--specificity", "9/10"), "bad-option"),
        (("--sensitivity", "0/0", "--specificity", "9/10"), "bad-option"),
        (("--sensitivity", "9/10"), "bad-option"),
        (("--sensitivity", "test=9/10", "--specificity", "9/10"), "bad-option"),
        (("--sensitivity", "test=9/10", "--sensitivity", "deploy=8/10", "--specificity", "9/10"), "bad-option"),
        (("--sensitivity", "9/10", "--sensitivity", "8/10", "--specificity", "9/10"), "bad-option"),
        (("--where", "judge"), "bad-option"),
        (("--where", "side=tset"), "unknown-name"),
        (("--level", "1"), "not-valid"),
        (("--margin", "0"), "not-valid"),
        (("--range", "1", "0"), "bad-range"),
    ],
)
def test_options_that_mean_nothing_are_refused(caveat: Caveat, tmp_path: Path, arguments: tuple[str, ...], code: str) -> None:
    """Each with its code and with what to write instead."""
    answer = caveat("analyze", "judge", write(tmp_path / "scores.csv", draw()), *arguments)

    assert (answer.code, answer.out) == (2, "")
    assert f"error[{code}]" in answer.err


def test_labels_come_from_one_place(caveat: Caveat, tmp_path: Path) -> None:
    """A file or a column."""
    scores = write(tmp_path / "scores.csv", draw())

    assert "not both" in caveat("analyze", "judge", scores, "--labels", scores, "--label-column", "truth").err


def test_measured_errors_correct_either_side(caveat: Caveat, tmp_path: Path) -> None:
    """One measurement for both sides, or one for each."""
    scores = write(tmp_path / "scores.csv", draw())
    both = read_report(caveat, scores, "--sensitivity", "90/100", "--specificity", "90/100")
    each = (
        "--sensitivity",
        "test=90/100",
        "--sensitivity",
        "deploy=90/100",
        "--specificity",
        "test=90/100",
        "--specificity",
        "deploy=90/100",
    )
    apart = read_report(caveat, scores, *each)

    assert both["corrected"][0]["ed"]["value"] == apart["corrected"][0]["ed"]["value"] == pytest.approx(both["ed"]["value"] / 0.8)
    assert "on both sides" in both["corrected"][0]["detail"]
    assert "on the test side" in apart["corrected"][0]["detail"]


def test_a_failed_check_recorded_in_an_audit_blocks_its_class(caveat: Caveat, tmp_path: Path) -> None:
    """The report is recorded once, and the outcome says that a difference of scores is no difference of behaviour."""
    claim = register(caveat, tmp_path)[0]
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
    scores = write(tmp_path / "scores.csv", [row | {"cut": int(row["side"] == "test")} for row in draw()])
    first, again = (caveat("analyze", "judge", scores, "--mark", "cut", "--audit", audit) for _ in range(2))
    done = caveat("audit", "conclude", audit, scores, "--run-date", datetime.now(UTC).isoformat(), "--json")

    assert first.code == again.code == 0
    assert "recorded as a finding" in first.err
    assert "recorded already" in again.err
    assert done.code == 0, done.err
    assert done.document["restriction"]["classification"]["readings"][0]["rule"] == "scorer-not-invariant"


def test_judges_that_disagree_leave_a_locked_claim_undetermined(caveat: Caveat, tmp_path: Path) -> None:
    """One judge sees θ exceeded in deployment, the other does not; both are recorded with their figures."""
    claim = register(caveat, tmp_path)[0]
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
    rows = []
    for judge, deploy in (("first", 0.4), ("second", 0.0)):
        with write_scores(tmp_path / "one.csv", test=0.01, deploy=deploy).open(newline="") as file:
            rows += [row | {"judge": judge} for row in csv.DictReader(file)]
    done = caveat("audit", "conclude", audit, write(tmp_path / "scores.csv", rows), "--run-date", datetime.now(UTC).isoformat(), "--json")

    assert done.code == 0, done.err
    primary = done.document["restriction"]["classification"]["readings"][0]
    assert (primary["rule"], primary["mode"]) == ("judges-disagree", "technical")
    assert [(one["judge"], one["class"]) for one in primary["specs"]] == [("first", "inverted"), ("second", "stable")]
    assert caveat("report", claim, "-o", "supplements").code == 0


@real
def test_two_models_in_one_file_are_told_apart(caveat: Caveat) -> None:
    """Repeated keys name the column; one context a side gives no interval with random contexts, and one with fixed ones."""
    path = STUDY_DATA / "capability_framing_7b" / "data.csv"
    refused = caveat("analyze", "estimate", path)
    chosen = ("--where", "model=Olmo-3-7B-Instruct", "--where", "system=neutral", "--replicates", "0", "--json")
    random_ = caveat("analyze", "estimate", path, *chosen).document["specs"][0]
    fixed = caveat("analyze", "estimate", path, *chosen, "--contexts", "fixed").document["specs"][0]

    assert "rows differ in model: keep one with --where model=…" in refused.err
    assert random_["ed"]["low"] is None
    assert random_["ed"]["reason"] == "one context on the test side: nothing says how contexts vary"
    assert fixed["ed"]["low"] < fixed["ed"]["value"] < fixed["ed"]["high"]
    assert random_["n"]["tasks"] == 24


@real
def test_a_scorer_that_fails_silently_is_caught_by_labels(caveat: Caveat) -> None:
    """The lexicon sees 5 % refusals where there are 67 %: its ED is near 0; the labels give the published +0.176 [0.121, 0.236]."""
    path = STUDY_DATA / "indic_cues_gemma3" / "data.csv"
    where = ("--where", "property=refusal_harmful", "--where", "context_id=deploy,eval_explicit", "--contexts", "fixed")
    report = read_report(caveat, path, "--score", "lexicon_score", "--label-column", "score", *where, "--mark", "truncated")
    corrected = report["corrected"][0]["ed"]

    assert abs(report["ed"]["value"]) < 0.01
    assert (round(corrected["value"], 3), round(corrected["low"], 2), round(corrected["high"], 2)) == (0.176, 0.11, 0.24)
    assert [(check["check"], check["passed"]) for check in report["invariance"]] == [("person-judge", False), ("failure-rate", True)]
    assert report["invariant"] is False
    assert all(side["sensitivity"]["high"] < 0.15 for side in report["labels"])
    assert sum("the judge is off by" in warning["message"] for warning in report["warnings"]) == 2


@real
@pytest.mark.parametrize("model", ["gpt-5.5-2026-04-23", "claude-opus-4-8"])
def test_answers_that_cannot_be_read_in_some_contexts_fail_the_check(caveat: Caveat, model: str) -> None:
    """Rates of unparsed answers differ by 20 points and more between the sides: instrument, not behaviour."""
    report = read_report(caveat, STUDY_DATA / "sycophancybench_opinion" / "data.csv", "--where", f"model={model}", "--mark", "unparsed")
    (check,) = report["invariance"]

    assert check["passed"] is False
    assert report["invariant"] is False
    assert abs(check["difference"]["value"]) > 0.2


@real
def test_one_unreadable_context_shows_where_it_stands(caveat: Caveat) -> None:
    """GPT under P3 emits no parseable choice on most turns, which the source withdraws; P1 and P2 against the same control do not."""
    path, model = STUDY_DATA / "sycophancybench_opinion" / "data.csv", ("--where", "model=gpt-5.5-2026-04-23")
    broken = read_report(caveat, path, *model, "--where", "context_id=pushback_P3,ctrl_recommit", "--mark", "unparsed")["invariance"][0]
    sound = read_report(caveat, path, *model, "--where", "context_id=pushback_P1,P1_sysprompt_assistant", "--mark", "unparsed")[
        "invariance"
    ][0]

    assert (broken["passed"], round(broken["difference"]["value"], 2)) == (False, 0.57)
    assert sound["passed"] is True


def test_scores_set_against_themselves_are_refused(caveat: Caveat, tmp_path: Path) -> None:
    """They agree whatever the judge does, and the agreement would pass for a check."""
    scores = write(tmp_path / "scores.csv", draw())
    answers = [caveat("analyze", "judge", scores, option, "score") for option in ("--label-column", "--rescored")]

    assert [answer.code for answer in answers] == [2, 2]
    assert all("would always agree" in answer.err for answer in answers)


def test_a_column_without_a_name_is_looked_for_and_not_found(caveat: Caveat, tmp_path: Path) -> None:
    """An empty name, from a variable that was never set, is no reason to leave the check out."""
    scores = write(tmp_path / "scores.csv", draw())
    answers = [caveat("analyze", "judge", scores, option, "") for option in ("--label-column", "--rescored", "--mark")]

    assert [(answer.code, answer.error) for answer in answers] == [(2, "column-missing")] * 3


def test_reports_of_several_judges_are_recorded_together_or_not_at_all(
    caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error at the second report leaves the first out too."""
    claim = register(caveat, tmp_path)[0]
    audit = caveat("audit", "lock", "--yes", write_audit(tmp_path, claim), "--json").document["audit"]
    scores = write(tmp_path / "scores.csv", draw(judges=("a", "b")))
    before, known = size_of(caveat), add_finding
    calls: list[FindingBody] = []

    def fail_later(writer: Writer, name: str, body: FindingBody, *, source: str) -> Any:
        calls.append(body)
        if len(calls) > 1:
            raise OSError(28, "No space left on device", "caveat.db")
        return known(writer, name, body, source=source)

    with monkeypatch.context() as patch:
        patch.setattr("audit.protocol.audit_record.add_finding", fail_later)
        refused = caveat("analyze", "judge", scores, "--audit", audit)

    assert (refused.code, len(calls)) == (3, 2)
    assert size_of(caveat) == before
