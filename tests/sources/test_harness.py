"""Samples of lm-evaluation-harness: files that it wrote, and the same files with something wrong."""

import json
import math
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from audit.errors import TableError
from audit.modules.differential_estimate import estimate
from audit.sources.lm_eval_harness import read_harness
from audit.sources.log_import import read_logs, read_rows
from audit.sources.log_rows import LogOptions
from registry.records.analysis_plan import Plan
from tests.sources.log_fixtures import HARNESS, LOGS, change_first, change_lines, copy_harness


def choose(metric: str = "exact_match", filter_: str | None = "strict-match", **more: Any) -> LogOptions:
    return LogOptions(scorer=metric, key=filter_, **more)


def read_pair(folder: Path, reading: LogOptions | None = None, task: str = "sums_free") -> Any:
    paths = {arm: str(copy_harness(folder, arm, task)) for arm in HARNESS}
    chosen = reading or choose()
    arms = {path: arm for arm, path in paths.items()}
    return read_logs(list(arms), LogOptions(arms=arms, scorer=chosen.scorer, key=chosen.key, task_field=chosen.task_field), low=0, high=1)


def codes(error: pytest.ExceptionInfo[TableError]) -> list[str]:
    return [fault.code for fault in error.value.faults]


@pytest.mark.parametrize(
    ("task", "metric", "filter_", "printed"),
    [
        # |sums_choice|      1|none            |     0|acc        |↑  |0.6667|±  |0.2108|     with "This is an evaluation."
        # |sums_choice|      1|none            |     0|acc        |↑  |1.0000|±  |0.0000|     without
        ("sums_choice", "acc", None, (4 / 6, 1.0)),
        # |sums_free  |      2|flexible-extract|     0|exact_match|↑  |0.6667|±  |0.2108|  and  1.0000
        ("sums_free", "exact_match", "flexible-extract", (4 / 6, 1.0)),
        # |           |       |strict-match    |     0|exact_match|↑  |0.5000|±  |0.2236|  and  0.8333
        ("sums_free", "exact_match", "strict-match", (0.5, 5 / 6)),
    ],
)
def test_two_runs_give_the_means_that_the_harness_printed(
    tmp_path: Path, task: str, metric: str, filter_: str | None, printed: tuple[float, float]
) -> None:
    """Each metric and filter is read as itself, and tasks are paired by document."""
    read = read_pair(tmp_path, choose(metric, filter_), task)

    found = estimate(read.table, Plan(), range_=(0, 1)).specs[0]
    assert (found.phi_test.value, found.phi_deploy.value) == pytest.approx(printed)
    assert found.n.tasks == 6


def test_results_beside_the_samples_state_counts_model_and_date(tmp_path: Path) -> None:
    """What the results file says becomes accounts and provenance; its date is the beginning of the run in seconds since 1970."""
    imported = read_pair(tmp_path).imported

    date = json.loads((LOGS / "harness" / f"results_{HARNESS['test']}.json").read_text())["date"]
    assert [(file.declared, file.found, file.scored, file.arm) for file in imported.files] == [(6, 6, 6, "test"), (6, 6, 6, "deploy")]
    assert imported.provenance.model_requested == "table example/answers-from-a-table"
    assert imported.provenance.corpus_tasks is None
    assert datetime.fromisoformat(imported.started_at).timestamp() == pytest.approx(date, abs=1e-5)
    assert "mean 0.5, as the results state" in imported.files[0].notes


@pytest.mark.parametrize(
    ("reading", "code", "named"),
    [
        (choose(filter_=None), "choice-needed", "flexible-extract, strict-match"),
        (choose(filter_="strict"), "unknown-name", "flexible-extract, strict-match"),
        (choose("acc"), "unknown-name", "exact_match"),
    ],
)
def test_a_metric_or_filter_that_is_not_there_is_told_with_those_that_are(
    tmp_path: Path, reading: LogOptions, code: str, named: str
) -> None:
    """No one has to open the file to learn what it holds."""
    with pytest.raises(TableError) as error:
        read_harness([copy_harness(tmp_path, "test")], reading)

    assert codes(error) == [code]
    assert named in (error.value.faults[0].found or "")


def test_two_metrics_are_not_chosen_between(tmp_path: Path) -> None:
    """Metrics acc and acc_norm are different properties."""
    with pytest.raises(TableError) as error:
        read_harness([copy_harness(tmp_path, "test", "sums_choice")], LogOptions())

    assert codes(error) == ["choice-needed"]


def test_fewer_documents_than_stated_are_refused_unless_allowed(tmp_path: Path) -> None:
    """A file that was cut off has lost documents for a reason; with --unfinished the accounts tell it."""
    path = change_lines(copy_harness(tmp_path, "test"), lambda lines: lines[:-2])

    with pytest.raises(TableError) as error:
        read_harness([path], choose(filter_="flexible-extract"))
    imported = read_harness([path], choose(filter_="flexible-extract", unfinished=True))[1]

    assert codes(error) == ["samples-missing"]
    assert (imported.files[0].declared, imported.files[0].found) == (6, 4)
    assert any("2 documents that the results state are not there" in note for note in imported.files[0].notes)


@pytest.mark.parametrize(("value", "reason"), [(math.nan, "the score is NaN"), (None, "the log has no score"), (math.inf, "infinite")])
def test_a_document_without_a_score_is_an_exclusion(tmp_path: Path, value: float | None, reason: str) -> None:
    """It stays a row, with its reason, and is counted."""
    path = change_first(copy_harness(tmp_path, "test"), exact_match=value)

    rows, imported = read_harness([path], choose())

    excluded = [row for row in rows if row.score is None]
    assert [reason in (row.excluded_reason or "") for row in excluded] == [True]
    assert (imported.files[0].scored, imported.files[0].excluded[0].count, imported.files[0].excluded[0].is_row) == (5, 1, True)
    assert imported.files[0].excluded[0].examples == ("document 0",)


@pytest.mark.parametrize("value", ["[invalid]", [0.1, 2], {"f1": 1}])
def test_a_score_that_is_no_number_is_refused(tmp_path: Path, value: object) -> None:
    """Leaving it out would choose among responses without a word."""
    path = change_first(copy_harness(tmp_path, "test"), exact_match=value)

    with pytest.raises(TableError) as error:
        read_harness([path], choose())

    assert codes(error) == ["score-not-number"]
    assert "document 0 (line 1)" in error.value.faults[0].where


def test_a_text_counts_as_the_user_says(tmp_path: Path) -> None:
    """--score-values gives a text its number."""
    path = change_first(copy_harness(tmp_path, "test"), exact_match="C")

    rows, _ = read_harness([path], choose(values={"C": 1.0}))

    assert rows[0].score == 1.0


def test_documents_of_other_data_are_not_paired(tmp_path: Path) -> None:
    """A document number alone does not say that two samples are of one task."""
    test, deploy = copy_harness(tmp_path, "test"), copy_harness(tmp_path, "deploy")
    change_first(deploy, doc_hash="0" * 64)
    arms = {str(test): "test", str(deploy): "deploy"}

    with pytest.raises(TableError) as error:
        read_rows(list(arms), choose(arms=arms))

    assert codes(error) == ["task-texts-differ"]


def test_documents_are_paired_by_content_whatever_their_order(tmp_path: Path) -> None:
    """With --task-field doc_hash a reordered evaluation gives the same differential."""
    whole = read_pair(tmp_path, choose(task_field="doc_hash")).table
    deploy = tmp_path / f"samples_sums_free_{HARNESS['deploy']}.jsonl"
    change_lines(deploy, lambda lines: [{**line, "doc_id": 5 - line["doc_id"]} for line in lines])
    arms = {str(tmp_path / f"samples_sums_free_{HARNESS['test']}.jsonl"): "test", str(deploy): "deploy"}

    turned = read_logs(list(arms), choose(arms=arms, task_field="doc_hash"), low=0, high=1).table

    results = [estimate(table, Plan(), range_=(0, 1)).specs[0].ed.value for table in (whole, turned)]
    assert results[0] == results[1] == pytest.approx(0.5 - 5 / 6)


def test_samples_alone_are_read_and_say_that_nothing_states_their_number(tmp_path: Path) -> None:
    """Without results there is no date either, and no model."""
    path = copy_harness(tmp_path, "test")
    path.with_name(f"results_{HARNESS['test']}.json").unlink()

    imported = read_harness([path], choose())[1]

    assert (imported.files[0].declared, imported.started_at, imported.provenance.model_requested) == (None, None, None)
    assert any("nothing states" in note for note in imported.files[0].notes)


def test_no_key_of_the_model_arguments_is_taken(tmp_path: Path) -> None:
    """The harness writes what stood on its command line, and that may hold a secret."""
    path = copy_harness(tmp_path, "test")
    results = path.with_name(f"results_{HARNESS['test']}.json")
    document = json.loads(results.read_text())
    document["config"]["model_args"] = "model=m,base_url=https://me:geheim@api.example.com:8443/v1?key=geheim,api_key=geheim"
    results.write_text(json.dumps(document))

    imported = read_harness([path], choose())[1]

    assert imported.provenance.endpoint == "https://api.example.com:8443/v1"
    assert "geheim" not in repr(imported)


def test_a_document_that_stands_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    """The harness appends to a file that is there already; the second half would count twice."""
    path = change_lines(copy_harness(tmp_path, "test"), lambda lines: [*lines, lines[0]])
    arms = {str(path): "test"}

    with pytest.raises(TableError) as error:
        read_logs(list(arms), choose(arms=arms, unfinished=True), low=0, high=1)

    assert codes(error) == ["duplicate-row"]
    assert "document 0 (line 13)" in error.value.faults[0].where


def test_a_line_that_was_cut_off_is_told(tmp_path: Path) -> None:
    """What is no JSON is no sample that could be left out."""
    path = copy_harness(tmp_path, "test")
    path.write_bytes(path.read_bytes()[:-40])

    with pytest.raises(TableError) as error:
        read_harness([path], choose())

    assert codes(error) == ["not-json"]


def test_a_number_beyond_all_floats_is_no_score(tmp_path: Path) -> None:
    """A whole number of 400 digits is infinite for every computation."""
    path = change_first(copy_harness(tmp_path, "test"), exact_match=10**400)

    rows, _ = read_harness([path], choose())

    assert rows[0].excluded_reason == "the score is infinite"


def test_a_field_of_the_document_can_be_the_task(tmp_path: Path) -> None:
    """What is not asked for is not kept; what is, is."""
    path = copy_harness(tmp_path, "test")

    rows, _ = read_harness([path], choose(task_field="doc.question"))

    assert rows[0].task_id == "What is 7 + 5?"


def test_a_field_that_is_not_there_is_told(tmp_path: Path) -> None:
    """With the option that named it."""
    with pytest.raises(TableError) as error:
        read_harness([copy_harness(tmp_path, "test")], choose(context_field="metadata.context"))

    assert set(codes(error)) == {"unknown-name"}
    assert "--context-field" in (error.value.faults[0].advice or "")
