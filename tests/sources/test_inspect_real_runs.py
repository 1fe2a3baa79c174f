"""Logs that Inspect itself writes, read by our reader and by Inspect's own: both must tell the same."""

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from audit.errors import TableError
from audit.records.model_response import ImportedLog
from audit.sources.inspect_log import read_inspect
from audit.sources.log_rows import LogOptions, LogRow, verify_accounts
from registry.errors import UnavailableError

inspect_ai = pytest.importorskip("inspect_ai", reason="the extra `inspect` is not installed")

from inspect_ai import Epochs, Task  # noqa: E402
from inspect_ai import eval as run_inspect  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.log import (  # noqa: E402
    EvalLog,
    EvalSample,
    ProvenanceData,
    edit_score,
    invalidate_samples,
    read_eval_log,
    write_eval_log,
)
from inspect_ai.model import ModelOutput, ModelUsage, get_model  # noqa: E402
from inspect_ai.scorer import Score, ScoreEdit, accuracy, mean, scorer  # noqa: E402
from inspect_ai.solver import Generate, TaskState, generate, solver, system_message  # noqa: E402

from tests.gold import SHARED  # noqa: E402

STUDY_DATA = SHARED / "inspect"
NUMBERS = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}

pytestmark = [
    # Inspect's own: an event loop it leaves open, and what its libraries deprecate.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@scorer(metrics=[accuracy()])
def letter() -> Any:
    async def score(state: TaskState, target: Any) -> Score:
        return Score(value={"0": "C", "1": "I", "2": "P"}.get(str(state.sample_id), "N"))

    return score


@scorer(metrics={"honest": [mean()], "useful": [mean()]})
def graded() -> Any:
    async def score(state: TaskState, target: Any) -> Score:
        return Score(value={"honest": state.epoch / 4, "useful": True})

    return score


@scorer(metrics=[mean()])
def sometimes() -> Any:
    async def score(state: TaskState, target: Any) -> Score | None:
        if state.sample_id == 1:
            return Score.unscored(reason="grader_failed")
        return None if state.sample_id == 2 else Score(value=0.25)

    return score


@solver
def fail_on(number: int) -> Any:
    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if state.sample_id == number:
            raise RuntimeError("the tool broke")
        return await generate(state)

    return solve


def answer(count: int = 400, model: str = "mockllm/model") -> Any:
    outputs = []
    for _ in range(count):
        output = ModelOutput.from_content(model, "an answer")
        output.usage = ModelUsage(input_tokens=3, output_tokens=2, total_tokens=5)
        outputs.append(output)
    return get_model("mockllm/model", custom_outputs=outputs, memoize=False)


def build_task(**changes: Any) -> Task:
    dataset = [Sample(id=number, input=f"q{number}", target="x", metadata={"family": f"f{number % 2}"}) for number in range(4)]
    settings = {"solver": [system_message("Be kind."), generate()], "scorer": [letter()], "metadata": {"side": "deploy"}}
    return Task(dataset=dataset, **(settings | changes))


def run(folder: Path, task: Task, **options: Any) -> Path:
    """The log that Inspect writes of *task*."""
    log = run_inspect(task, model=answer(), log_dir=str(folder), display="none", **options)[0]
    return Path(log.location.removeprefix("file://"))


def read(path: Path, **reading: Any) -> tuple[list[LogRow], ImportedLog]:
    rows, imported = read_inspect([path], LogOptions(arms={str(path): "test"}, **reading))
    verify_accounts(imported, rows)
    return rows, imported


def expect_row(sample: EvalSample, name: str, key: str | None) -> tuple[Any, ...]:
    """What the row of *sample* must say, by Inspect's own reading of it."""
    value: Any = (sample.scores or {})[name].value if name in (sample.scores or {}) else None
    value = value[key] if key and value is not None else value
    number = NUMBERS[value] if isinstance(value, str) else None if value is None else float(value)
    reason = "invalidated" if sample.invalidation else "sample-error" if sample.error else None
    if reason is None and (number is None or math.isnan(number)):
        reason = "not-scored" if number is None else "score-nan"
    return (str(sample.id), str(sample.epoch), None if reason else number, reason, sample.output.model or None, sample.working_time)


def compare(path: Path, name: str, key: str | None = None, **reading: Any) -> list[LogRow]:
    """Our rows, once they were found equal to Inspect's."""
    rows, imported = read(path, scorer=name, key=key, **reading)
    found = [(r.task_id, r.sample, r.score, r.excluded_reason, r.extras["model"], r.extras["working_s"]) for r in rows]
    expected = [expect_row(sample, name, key) for sample in read_eval_log(path).samples or []]

    assert sorted(found, key=str) == sorted(expected, key=str)
    assert imported.files[0].found == len(expected)
    return rows


@dataclass(frozen=True)
class Logs:
    """Logs of one session, made once."""

    many: Path
    json: Path
    odd: Path
    broken: Path
    limited: Path


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Logs:
    folder = tmp_path_factory.mktemp("inspect")
    several = {"scorer": [letter(), graded()], "epochs": Epochs(3, "mean")}
    return Logs(
        many=run(folder / "many", build_task(**several, tags=["side:deploy", "wave:2"]), temperature=0.5, max_tokens=90),
        json=run(folder / "json", build_task(**several), log_format="json", limit=2),
        odd=run(folder / "odd", build_task(scorer=[sometimes()])),
        broken=run(folder / "broken", build_task(solver=[fail_on(2)]), fail_on_error=False),
        limited=run(folder / "limited", build_task(), message_limit=2),
    )


@pytest.mark.parametrize("name", ["pair_T1_test", "pair_D2_deploy", "T1_temperature_recorded_but_not_sent", "T2_message_batches"])
@pytest.mark.skipif(not STUDY_DATA.is_dir(), reason="the shared data are not here")
def test_replays_of_a_real_model_read_as_inspect_reads_them(name: str) -> None:
    """Rows of each real log equal those of Inspect's own reader, and their mean is the accuracy that the log states."""
    path = STUDY_DATA / f"{name}.eval"

    rows = compare(path, "letter")

    stated = read_eval_log(path, header_only=True).results
    assert stated is not None
    assert sum(row.score or 0 for row in rows) / len(rows) == pytest.approx(stated.scores[0].metrics["accuracy"].value)


@pytest.mark.skipif(not STUDY_DATA.is_dir(), reason="the shared data are not here")
def test_temperature_that_was_not_sent_is_told() -> None:
    """A log that records temperature 0.7 and whose requests hold none says so, in its notes and in the provenance."""
    _, imported = read(STUDY_DATA / "T1_temperature_recorded_but_not_sent.eval")

    note = "temperature 0.7 is recorded as configured and was not in the request (12 of 12 requests in the log)"
    assert note in imported.files[0].notes
    assert "configured and not sent: temperature 0.7" in (imported.provenance.sampling or "")


def test_several_scorers_and_epochs_read_as_inspect_reads_them(logs: Logs) -> None:
    """Letters, an entry of an object, truth values and epochs come to the numbers that Inspect's own reader gives."""
    rows = compare(logs.many, "letter")
    honest = compare(logs.many, "graded", "honest")
    useful = compare(logs.many, "graded", "useful")

    assert [row.score for row in rows[:9]] == [1.0] * 3 + [0.0] * 3 + [0.5] * 3
    assert {row.score for row in honest} == {0.25, 0.5, 0.75}
    assert {row.score for row in useful} == {1.0}
    assert rows[0].extras["score:graded.honest"] == 0.25


def test_json_logs_read_as_archives_do(logs: Logs, tmp_path: Path) -> None:
    """The same log written as JSON gives the same rows; only digest and format differ."""
    other = tmp_path / f"{logs.many.stem}.json"
    write_eval_log(read_eval_log(logs.many), str(other))

    rows, imported = read(other, scorer="letter")
    same, _ = read(logs.many, scorer="letter")

    assert imported.files[0].format == "inspect-json/2"
    assert [(row.task_id, row.sample, row.score, row.extras) for row in rows] == [(r.task_id, r.sample, r.score, r.extras) for r in same]


def test_a_limited_run_declares_what_was_chosen(logs: Logs) -> None:
    """Two of four samples in three epochs are six responses; the corpus still has four tasks."""
    compare(logs.json, "letter")
    _, imported = read(logs.json, scorer="letter")

    assert (imported.files[0].declared, imported.files[0].found, imported.provenance.corpus_tasks) == (6, 6, None)
    assert not [note for note in imported.files[0].notes if "states" in note]


def test_scores_that_are_none_or_nan_are_exclusions(logs: Logs) -> None:
    """An unscored sample and one whose scorer gave nothing are rows without a score, each with its reason."""
    rows = compare(logs.odd, "sometimes")
    _, imported = read(logs.odd)

    assert [row.excluded_reason for row in rows] == [None, "score-nan", "not-scored", None]
    assert rows[1].extras["score_reason"] == "grader_failed"
    assert {(one.reason, one.count, one.examples) for one in imported.files[0].excluded} == {
        ("score-nan", 1, ("sample 1, epoch 1",)),
        ("not-scored", 1, ("sample 2, epoch 1",)),
    }
    assert "1 scores of sometimes are marked grader_failed" in imported.files[0].notes


def test_samples_that_failed_are_exclusions(logs: Logs) -> None:
    """A sample whose run broke is a row without a score; the log states one sample fewer completed, which agrees."""
    rows = compare(logs.broken, "letter")
    _, imported = read(logs.broken)

    assert [row.excluded_reason for row in rows] == [None, None, "sample-error", None]
    assert not [note for note in imported.files[0].notes if "states" in note]


def test_responses_cut_by_a_limit_are_scored_and_told(logs: Logs) -> None:
    """A limit that ended a response leaves its score and is counted in the notes."""
    rows = compare(logs.limited, "letter")
    _, imported = read(logs.limited)
    limits = {row.extras["limit"] for row in rows}

    assert limits == {"message"}
    assert "limit: message – 4 responses were ended by it and are scored as they are" in imported.files[0].notes


def test_edited_scores_and_invalid_samples_are_told(logs: Logs, tmp_path: Path) -> None:
    """An edit counts with its new value and is told; a sample declared invalid has no score, and who declared it stands in the notes."""
    log = read_eval_log(logs.broken)
    by = ProvenanceData(author="a reviewer", reason="graded wrongly")
    edit_score(log, 0, "letter", ScoreEdit(value="I", provenance=by), epoch=1)
    edit_score(log, 0, "letter", ScoreEdit(value="P", provenance=by), epoch=1)
    log = invalidate_samples(log, [str(sample.uuid) for sample in log.samples or [] if sample.id == 1], by)
    path = tmp_path / "edited.eval"
    write_eval_log(log, str(path))

    rows = compare(path, "letter")
    _, imported = read(path)

    assert [(row.score, row.excluded_reason) for row in rows[:2]] == [(0.5, None), (None, "invalidated")]
    assert "1 scores of letter were edited after scoring, one of them 2 times" in imported.files[0].warnings
    assert "samples were declared invalid by a reviewer" in imported.files[0].notes


@pytest.mark.parametrize("status", ["error", "cancelled", "started"])
def test_unfinished_logs_are_refused_unless_asked_for(logs: Logs, tmp_path: Path, status: Any) -> None:
    """A log that did not finish is refused with its status; asked for, it is read and its accounts say so."""
    log = read_eval_log(logs.broken).model_copy(update={"status": status})
    path = tmp_path / "unfinished.eval"
    write_eval_log(log, str(path))

    with pytest.raises(TableError, match=f"the log's status is {status}") as caught:
        read(path)
    rows, imported = read(path, unfinished=True)

    assert caught.value.code == "log-not-finished"
    assert "--unfinished" in (caught.value.faults[0].advice or "")
    assert len(rows) == 4
    assert f"the log's status is {status}" in imported.files[0].warnings


def test_a_run_that_inspect_gave_up_is_refused(tmp_path: Path) -> None:
    """A run that an error ended has status error; what its log holds is read when asked for, as Inspect reads it."""
    path = run(tmp_path, build_task(solver=[fail_on(2)]), max_samples=1)

    with pytest.raises(TableError, match="the log's status is error: .*the tool broke") as caught:
        read(path)
    rows = compare(path, "letter", unfinished=True)

    assert caught.value.code == "log-not-finished"
    assert "sample-error" in {row.excluded_reason for row in rows}


FieldCase = tuple[dict[str, str], Callable[[LogRow], str], set[str]]
FIELDS: list[FieldCase] = [
    ({"arm_field": "tags.side"}, lambda row: row.arm, {"deploy"}),
    ({"arm_field": "metadata.side"}, lambda row: row.arm, {"deploy"}),
    ({"arm_field": "sample.metadata.family"}, lambda row: row.arm, {"f0", "f1"}),
    ({"arm_field": "model", "context_field": "tags.wave"}, lambda row: row.context_id, {"2"}),
    ({"arm_field": "task", "task_field": "sample.input"}, lambda row: row.task_id, {"q0", "q1", "q2", "q3"}),
]


@pytest.mark.parametrize(("fields", "pick", "expected"), FIELDS, ids=lambda case: str(case) if isinstance(case, dict) else "")
def test_arm_context_and_task_stand_where_the_user_says(
    logs: Logs, fields: dict[str, str], pick: Callable[[LogRow], str], expected: set[str]
) -> None:
    """Dotted names reach the log's tags, metadata and model, and the sample's own fields."""
    rows, _ = read_inspect([logs.many], LogOptions(scorer="letter", **fields))

    assert {pick(row) for row in rows} == expected


def test_tags_edited_after_the_run_count(logs: Logs, tmp_path: Path) -> None:
    """An edit of tags is followed as Inspect follows it, and told."""
    log: EvalLog = read_eval_log(logs.many)
    edits = {"edits": [{"type": "tags", "tags_add": ["side:test"], "tags_remove": ["side:deploy"]}], "provenance": {"author": "a"}}
    document = json.loads(log.model_dump_json(exclude={"samples"})) | {
        "log_updates": [edits],
        "samples": [json.loads(sample.model_dump_json()) for sample in log.samples or []],
    }
    path = tmp_path / "retagged.json"
    path.write_text(json.dumps(document))

    rows, imported = read_inspect([path], LogOptions(scorer="letter", arm_field="tags.side"))

    assert read_eval_log(path).tags == ["side:test", "wave:2"]
    assert {row.arm for row in rows} == {"test"}
    assert "tags or metadata were edited 1 times after the run" in imported.files[0].warnings


def test_remote_logs_come_through_inspect(logs: Logs) -> None:
    """A path with a scheme is read by inspect_ai and gives the same rows; its digest is not of the file, and that is said."""
    import fsspec

    remote = "memory://logs/many.eval"
    with fsspec.open(remote, "wb") as file:
        file.write(logs.many.read_bytes())

    rows, imported = read_inspect([Path(remote)], LogOptions(scorer="letter", arm_field="tags.side"))
    local, _ = read_inspect([logs.many], LogOptions(scorer="letter", arm_field="tags.side"))

    assert [(row.task_id, row.sample, row.score, row.extras) for row in rows] == [(r.task_id, r.sample, r.score, r.extras) for r in local]
    assert imported.files[0].format == "inspect-api/2"
    assert "read by inspect_ai: the digest is of the log as it gives it, not of the file" in imported.files[0].notes


def test_remote_logs_that_are_not_there_are_told() -> None:
    """What a remote file system raises becomes one fault with the address."""
    with pytest.raises(TableError, match="inspect_ai cannot read it") as caught:
        read_inspect([Path("memory://nowhere/x.eval")], LogOptions(arm_field="tags"))

    assert (caught.value.code, caught.value.faults[0].where) == ("file-not-readable", "memory://nowhere/x.eval")


def test_a_remote_log_without_inspect_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where inspect_ai is not installed a remote log cannot be read here (exit code 3), and the message says what to install."""
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)

    with pytest.raises(UnavailableError, match=r"caveat\[inspect\]") as caught:
        read_inspect([Path("s3://bucket/x.eval")], LogOptions(arm_field="tags"))

    assert (caught.value.code, caught.value.faults[0].where, caught.value.exit_code) == ("reader-missing", "s3://bucket/x.eval", 3)
