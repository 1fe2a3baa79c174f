"""Samples of Every Eval Ever: files that its own converters made of other logs, and the same files with something wrong."""

import json
from pathlib import Path
from typing import Any

import pytest

from audit.errors import TableError
from audit.modules.differential_estimate import estimate
from audit.sources.every_eval_ever import read_every_eval
from audit.sources.log_import import read_logs
from audit.sources.log_rows import LogOptions
from registry.records.analysis_plan import Plan
from tests.sources.log_fixtures import EVERY_EVAL, EVERY_EVAL_INSPECT, HARNESS, change_first, change_lines, copy_every_eval, copy_harness

STRICT = "exact_match:strict-match"


def codes(error: pytest.ExceptionInfo[TableError]) -> list[str]:
    return [fault.code for fault in error.value.faults]


def read_pair(folder: Path, runs: dict[str, str], **more: Any) -> Any:
    arms = {str(copy_every_eval(folder, run)): arm for arm, run in runs.items()}
    return read_logs(list(arms), LogOptions(arms=arms, **more), low=0, high=1)


def find_differential(table: Any) -> tuple[float, float, float]:
    found = estimate(table, Plan(), range_=(0, 1)).specs[0]
    return found.phi_test.value, found.phi_deploy.value, found.ed.value


def test_converted_samples_give_what_their_origin_gives(tmp_path: Path) -> None:
    """The harness's own files and their conversion hold the same scores."""
    arms = {str(copy_harness(tmp_path, arm)): arm for arm in HARNESS}
    origin = read_logs(list(arms), LogOptions(arms=arms, scorer="exact_match", key="strict-match"), low=0, high=1)

    converted = read_pair(tmp_path, EVERY_EVAL, scorer=STRICT)

    assert find_differential(converted.table) == find_differential(origin.table) == pytest.approx((0.5, 5 / 6, 0.5 - 5 / 6))


def test_converted_inspect_logs_give_their_printed_accuracies(tmp_path: Path) -> None:
    """Accuracy 0.667 and 0.75, as Inspect printed them."""
    read = read_pair(tmp_path, EVERY_EVAL_INSPECT)

    assert find_differential(read.table) == pytest.approx((2 / 3, 0.75, -1 / 12))
    assert [(file.declared, file.found) for file in read.imported.files] == [(12, 12), (12, 12)]
    assert read.imported.files[0].format == "every-eval-ever/0.3.0"


def test_its_timestamp_is_no_beginning(tmp_path: Path) -> None:
    """`evaluation_timestamp` does not say beginning or end, so it is a date of access and no proof that a lock came first."""
    imported = read_pair(tmp_path, EVERY_EVAL_INSPECT).imported

    assert imported.started_at is None
    assert imported.provenance.accessed.startswith("2026-11-21T13:42:33Z")


def test_two_metrics_are_not_chosen_between(tmp_path: Path) -> None:
    """A sample stands once for each metric; a name of the evaluation chooses as well as the metric's own."""
    path = copy_every_eval(tmp_path, EVERY_EVAL["test"])

    with pytest.raises(TableError) as error:
        read_every_eval([path], LogOptions())
    by_name, _ = read_every_eval([path], LogOptions(scorer="sums_free/strict-match"))
    by_metric, _ = read_every_eval([path], LogOptions(scorer=STRICT))

    assert codes(error) == ["choice-needed"]
    assert "exact_match:flexible-extract, exact_match:strict-match" in (error.value.faults[0].found or "")
    assert by_name == by_metric


def test_a_metric_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    """No one has to open the file to learn what it holds."""
    with pytest.raises(TableError) as error:
        read_every_eval([copy_every_eval(tmp_path, EVERY_EVAL["test"])], LogOptions(scorer="accuracy"))

    assert codes(error) == ["unknown-name"]
    assert STRICT in (error.value.faults[0].found or "")


def test_an_entry_of_the_evaluation_can_be_chosen(tmp_path: Path) -> None:
    """`is_correct` is a truth value, 1 or 0."""
    path = copy_every_eval(tmp_path, EVERY_EVAL["test"])

    scores = [row.score for row in read_every_eval([path], LogOptions(scorer=STRICT, key="is_correct"))[0]]

    assert scores == [1, 1, 0, 0, 1, 0]


def test_a_sample_with_an_error_is_an_exclusion(tmp_path: Path) -> None:
    """The schema demands a score of it all the same; it would be a made-up 0."""
    path = change_first(copy_every_eval(tmp_path, EVERY_EVAL_INSPECT["test"]), error="timeout after 600 s\ntrace")
    reading = LogOptions(unfinished=True)

    rows, imported = read_every_eval([path], reading)

    assert [row.excluded_reason for row in rows if row.score is None] == ["the log states an error"]
    assert (imported.files[0].scored, imported.files[0].excluded[0].examples) == (11, ("sample ages: timeout after 600 s trace",))


def test_a_changed_file_is_not_the_one_the_aggregate_states(tmp_path: Path) -> None:
    """The aggregate holds the digest of its samples: an edited score is seen."""
    path = copy_every_eval(tmp_path, EVERY_EVAL_INSPECT["test"])
    change_first(path, evaluation={"score": 1.0, "is_correct": True})

    with pytest.raises(TableError) as error:
        read_every_eval([path], LogOptions())

    assert codes(error) == ["samples-missing"]
    assert "digest" in (error.value.faults[0].found or "")


def test_fewer_samples_than_stated_are_refused_unless_allowed(tmp_path: Path) -> None:
    """With --unfinished the accounts tell it."""
    path = change_lines(copy_every_eval(tmp_path, EVERY_EVAL_INSPECT["test"]), lambda lines: lines[:-3])

    with pytest.raises(TableError) as error:
        read_every_eval([path], LogOptions())
    imported = read_every_eval([path], LogOptions(unfinished=True))[1]

    assert "states 12 lines, the file has 9" in (error.value.faults[0].found or "")
    assert (imported.files[0].declared, imported.files[0].found) == (12, 9)


def test_repeated_samples_are_told_apart_by_epoch(tmp_path: Path) -> None:
    """An epoch is a further sample of the same task and context; without one, the order of the file numbers them."""
    path = copy_every_eval(tmp_path, EVERY_EVAL_INSPECT["test"])
    change_lines(path, lambda lines: [*lines, *({**line, "metadata": {"epoch": "2"}} for line in lines)])
    plain = copy_every_eval(tmp_path, EVERY_EVAL_INSPECT["deploy"])
    change_lines(plain, lambda lines: [{**line, "metadata": None} for line in [*lines, *lines]])

    samples = [{row.sample for row in read_every_eval([one], LogOptions(unfinished=True))[0]} for one in (path, plain)]

    assert samples == [{"1", "2"}, {"1", "2"}]


def test_a_line_without_what_the_schema_requires_is_told(tmp_path: Path) -> None:
    """All such lines at once, by number and field."""
    path = copy_every_eval(tmp_path, EVERY_EVAL_INSPECT["test"])
    change_lines(path, lambda lines: [lines[0], {"evaluation_id": "x", "sample_id": "y"}, *lines[2:]])

    with pytest.raises(TableError) as error:
        read_every_eval([path], LogOptions())

    assert {fault.where for fault in error.value.faults} == {f"{path}, line 2"}
    assert len(error.value.faults) == 4


def test_the_arm_can_stand_in_the_sample(tmp_path: Path) -> None:
    """One file of two conditions becomes two arms, named as the user says."""
    path = copy_every_eval(tmp_path, EVERY_EVAL_INSPECT["test"])
    path.with_name(f"{EVERY_EVAL_INSPECT['test']}.json").unlink()
    change_lines(
        path,
        lambda lines: [{**line, "metadata": {"condition": name}} for name in ("exam", "chat") for line in lines],
    )
    reading = LogOptions(arm_field="metadata.condition", arm_names={"exam": "test", "chat": "deploy"}, context_field="metadata.condition")

    read = read_logs([str(path)], reading, low=0, high=1)

    assert read.table.arm.labels == ("deploy", "test")
    assert read.table.context.labels == ("chat", "exam")
    assert find_differential(read.table)[2] == 0


def test_a_level_that_the_scorer_does_not_know_is_no_score(tmp_path: Path) -> None:
    """Where the aggregate says that −1 stands for unknown, it is an exclusion."""
    path = change_first(copy_every_eval(tmp_path, EVERY_EVAL_INSPECT["test"]), evaluation={"score": -1, "is_correct": False})
    aggregate = path.with_name(f"{EVERY_EVAL_INSPECT['test']}.json")
    document = json.loads(aggregate.read_text())
    document["evaluation_results"][0]["metric_config"]["has_unknown_level"] = True
    aggregate.write_text(json.dumps(document))

    rows, _ = read_every_eval([path], LogOptions(unfinished=True))

    assert rows[0].excluded_reason == "the scorer's level is unknown"


@pytest.mark.parametrize("name", ["\ud800", "a\x1b[31m"])
def test_a_text_that_is_none_is_still_a_name(tmp_path: Path, name: str) -> None:
    """Half a character in an identifier ends neither the import nor the table that is written of it."""
    path = change_first(copy_every_eval(tmp_path, EVERY_EVAL_INSPECT["test"]), sample_id=name, model_id=name)

    rows, imported = read_every_eval([path], LogOptions(unfinished=True))

    assert (rows[0].task_id + repr(imported)).encode("utf-8")


def test_an_error_is_one_whatever_its_form(tmp_path: Path) -> None:
    """The schema says text; an object is no reason to take the score for an observation."""
    path = change_first(copy_every_eval(tmp_path, EVERY_EVAL_INSPECT["test"]), error={"code": 529})

    rows, imported = read_every_eval([path], LogOptions(unfinished=True))

    assert rows[0].excluded_reason == "the log states an error"
    assert imported.files[0].excluded[0].examples[0].endswith(': {"code": 529}')
