"""The door: which file is read as what, who says the arm, and what only several files together show."""

import csv
import gzip
import io
import json
import os
import shutil
import zipfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from audit.errors import TableError
from audit.records.model_response import ExcludedResponses, ImportedFile, ImportedLog
from audit.sources.log_import import build_row_table, find_format, read_logs, read_rows, split_sources, write_rows
from audit.sources.log_rows import LogOptions, LogRow, describe_accounts, merge_accounts, verify_accounts
from audit.sources.score_table import read_table
from registry.errors import InputError
from registry.records.replay_run import Provenance
from tests.sources.log_fixtures import EVERY_EVAL, INSPECT, LOGS, change_lines, copy_every_eval, copy_harness

SCORES = "task_id,arm,context_id,sample,score\nt,test,c,1,1\nt,deploy,d,1,0\n"


def codes(error: pytest.ExceptionInfo[InputError]) -> list[str]:
    return [fault.code for fault in error.value.faults]


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_formats_are_told_by_content_whatever_the_name(tmp_path: Path) -> None:
    """A log that was renamed is read as what it is."""
    shutil.copy(INSPECT / "pair_T1_test.eval", tmp_path / "a.zip")
    harness = copy_harness(tmp_path, "test").rename(tmp_path / "b.txt")
    every_eval = copy_every_eval(tmp_path, EVERY_EVAL["test"]).rename(tmp_path / "c.log")
    table = write(tmp_path / "d.csv", SCORES)

    found = [find_format([str(path)]).name for path in (tmp_path / "a.zip", harness, every_eval, table)]

    assert found == ["INSPECT", "HARNESS", "EVERY_EVAL", "TABLE"]


def test_an_inspect_log_as_json_is_told_by_its_beginning(tmp_path: Path) -> None:
    """Inspect writes JSON over many lines; the first line is a brace."""
    path = write(tmp_path / "x.json", json.dumps({"version": 2, "status": "success", "eval": {}, "samples": []}, indent=2))

    assert find_format([path]).name == "INSPECT"


def test_an_archive_of_something_else_is_no_log(tmp_path: Path) -> None:
    """A spreadsheet is an archive too; no one is asked for its arm."""
    with zipfile.ZipFile(tmp_path / "scores.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    path = str(tmp_path / "scores.xlsx")

    with pytest.raises(TableError) as error:
        read_logs([path], LogOptions(), low=0, high=1)

    assert codes(error) == ["file-not-readable"]


@pytest.mark.parametrize("name", ["results.json", "aggregate.json"])
def test_a_file_of_results_alone_is_not_taken_for_a_log(tmp_path: Path, name: str) -> None:
    """The message names the files that hold the samples."""
    path = write(tmp_path / name, json.dumps({"results": {}, "n-samples": {}}, indent=2))

    with pytest.raises(TableError) as error:
        read_rows([path], LogOptions(arms={path: "test"}))

    assert codes(error) == ["unknown-format"]
    assert "samples_*.jsonl" in (error.value.faults[0].advice or "")


def test_a_folder_without_scores_is_nothing_that_is_known(tmp_path: Path) -> None:
    """A folder of logs is not gone through: which arm each belongs to has to be said."""
    with pytest.raises(TableError) as error:
        find_format([str(tmp_path)])

    assert codes(error) == ["unknown-format"]


def test_formats_are_not_mixed(tmp_path: Path) -> None:
    """Their identifiers would not agree, and no one would see it."""
    paths = [str(copy_harness(tmp_path, "test")), str(INSPECT / "pair_T1_test.eval")]

    with pytest.raises(TableError) as error:
        read_rows(paths, LogOptions(arms=dict.fromkeys(paths, "test")))

    assert codes(error) == ["formats-mixed"]
    assert "is an Inspect log" in (error.value.faults[0].found or "")


@pytest.mark.parametrize(
    ("text", "path", "arm", "spec"),
    [
        ("test=a.eval", "a.eval", "test", None),
        ("deploy/agent=a.eval", "a.eval", "deploy", "agent"),
        ("a.eval", "a.eval", None, None),
        ("x=y.eval", "x=y.eval", None, None),
        ("deploy=x=y.eval", "x=y.eval", "deploy", None),
        ("test=s3://bucket/a.eval", "s3://bucket/a.eval", "test", None),
    ],
)
def test_an_argument_is_taken_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, path: str, *, arm: str | None, spec: str | None
) -> None:
    """What exists under its whole text is a path, however it is called."""
    monkeypatch.chdir(tmp_path)
    for name in ("a.eval", "x=y.eval"):
        (tmp_path / name).touch()

    source = split_sources([text])[0]

    assert (source.path, source.arm, source.spec) == (path, arm, spec)


@pytest.mark.parametrize("text", ["=a.eval", "test=", "deploy/=a.eval", " =a.eval", "test =a.eval", " test=a.eval", "deploy/ x=a.eval"])
def test_an_argument_that_is_none_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    """No arm, no path, or no specification where one is announced."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.eval").touch()

    with pytest.raises(InputError) as error:
        split_sources([text])

    assert codes(error) == ["bad-option"]


def test_missing_and_repeated_paths_are_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One path in two spellings is one file."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.eval").touch()

    with pytest.raises(InputError) as error:
        split_sources(["test=a.eval", "deploy=./a.eval", "deploy=b.eval"])

    assert sorted(set(codes(error))) == ["duplicate", "file-not-readable"]


def test_every_wrong_argument_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An arm that is missing hides no path that is."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(InputError) as error:
        split_sources(["=a.eval", "test=nowhere.eval", "deploy /x=b.eval"])

    assert codes(error) == ["bad-option", "file-not-readable", "bad-option"]


def test_a_pipe_is_no_log(tmp_path: Path) -> None:
    """It can be read once, and no one may ever write into it."""
    os.mkfifo(tmp_path / "pipe.eval")

    with pytest.raises(InputError) as error:
        split_sources([f"test={tmp_path / 'pipe.eval'}"])

    assert codes(error) == ["file-not-readable"]
    assert "pipe" in (error.value.faults[0].found or "")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.eval.gz", gzip.compress(b"PK", mtime=0), "gzip"),
        ("a.jsonl", zstandard.compress(b"{}"), "Zstandard"),
        ("card.md", b"# A card", "ends in .md"),
        ("scores", b"task_id,arm", "ends in nothing"),
        ("table.json", b'{"task_id": "a"}', "not an Inspect log"),
        ("rows.json", b"[]", "ends in .json"),
        ("book.docx", b"PK\x03\x04", "ends in .docx"),
    ],
)
def test_what_is_no_log_is_no_table_for_that(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    """The message says what it is, also beside a log that is one."""
    (tmp_path / name).write_bytes(content)

    with pytest.raises(TableError) as error:
        find_format([str(INSPECT / "pair_T1_test.eval"), str(tmp_path / name)])

    assert codes(error) == ["unknown-format"]
    assert told in (error.value.faults[0].found or "")


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04"])
def test_what_is_called_a_log_of_inspect_is_read_as_one(tmp_path: Path, content: bytes) -> None:
    """An empty or broken archive is told as what it is meant to be."""
    path = str(tmp_path / "a.eval")
    Path(path).write_bytes(content)

    with pytest.raises(TableError) as error:
        read_rows([path], LogOptions(arms={path: "test"}))

    assert codes(error) == ["file-not-readable"]


def test_a_copy_of_a_log_is_the_same_log(tmp_path: Path) -> None:
    """Bytes tell it, not names: an arm compared with itself would give 0."""
    paths = [str(tmp_path / name) for name in ("one.eval", "two.eval")]
    for path in paths:
        shutil.copy(INSPECT / "pair_T1_test.eval", path)

    with pytest.raises(TableError) as error:
        read_rows(paths, LogOptions(arms=dict(zip(paths, ("test", "deploy"), strict=True))))

    assert codes(error) == ["duplicate"]


def test_two_logs_of_one_arm_with_one_name_would_be_one_context(tmp_path: Path) -> None:
    """Contexts are called by the files; two of one name have to be told apart."""
    paths = []
    for name, log in (("a", "pair_T1_test.eval"), ("b", "pair_D2_deploy.eval")):
        (tmp_path / name).mkdir()
        paths.append(str(shutil.copy(INSPECT / log, tmp_path / name / "run.eval")))

    with pytest.raises(TableError) as error:
        read_rows(paths, LogOptions(arms=dict.fromkeys(paths, "test")))

    assert codes(error) == ["context-ambiguous"]


def test_several_logs_of_an_arm_are_several_contexts() -> None:
    """And several specifications of P_deploy stay apart."""
    test, deploy = (str(INSPECT / name) for name in ("pair_T1_test.eval", "pair_D2_deploy.eval"))
    rows, _ = read_rows([test, deploy], LogOptions(arms={test: "deploy", deploy: "deploy"}, specs={test: "exam", deploy: "chat"}))

    assert {(row.context_id, row.spec) for row in rows} == {("pair_T1_test", "exam"), ("pair_D2_deploy", "chat")}


@pytest.mark.parametrize(
    ("reading", "code"),
    [
        (LogOptions(), "arm-missing"),
        (LogOptions(arm_names={"x": "test"}), "arm-missing"),
    ],
)
def test_somebody_has_to_say_the_arm(reading: LogOptions, code: str) -> None:
    """It is never guessed from a name."""
    with pytest.raises(TableError) as error:
        read_rows([str(INSPECT / "pair_T1_test.eval")], reading)

    assert codes(error) == [code]


def test_an_arm_is_said_once() -> None:
    """Before the path, or in the log."""
    path = str(INSPECT / "pair_T1_test.eval")

    with pytest.raises(TableError) as error:
        read_rows([path], LogOptions(arms={path: "test"}, arm_field="task_args.framing"))

    assert codes(error) == ["arm-twice"]


def test_logs_with_different_scorers_are_not_compared(tmp_path: Path) -> None:
    """Each file has one metric alone, so none was chosen; they are two properties all the same."""
    test, deploy = copy_every_eval(tmp_path, EVERY_EVAL["test"]), copy_every_eval(tmp_path, EVERY_EVAL["deploy"])
    for path, metric in ((test, "strict-match"), (deploy, "flexible-extract")):
        change_lines(path, lambda lines, metric=metric: [line for line in lines if metric in line["evaluation_name"]])  # type: ignore[misc]  # the loop's own value
    arms = {str(test): "test", str(deploy): "deploy"}

    with pytest.raises(TableError) as error:
        read_rows(list(arms), LogOptions(arms=arms, unfinished=True))

    assert codes(error) == ["choice-needed"]


def test_what_is_for_logs_is_refused_for_a_table(tmp_path: Path) -> None:
    """It would be without effect."""
    path = write(tmp_path / "s.csv", SCORES)

    with pytest.raises(TableError) as error:
        read_logs([path], LogOptions(arms={path: "test"}, key="x"), low=0, high=1)

    assert codes(error) == ["option-for-logs"]


def test_a_table_is_read_as_before(tmp_path: Path) -> None:
    """By the door or without it: the same scores."""
    path = tmp_path / "s.csv"
    write(path, SCORES)

    read = read_logs([str(path)], LogOptions(), low=0, high=1)

    assert read.imported is None
    assert read.table.content == read_table([path], low=0, high=1).content


def test_a_fault_names_the_log_and_the_sample(tmp_path: Path) -> None:
    """Not a table that no one has seen."""
    path = str(copy_harness(tmp_path, "test"))

    with pytest.raises(TableError) as error:
        read_logs([path], LogOptions(arms={path: "test"}, scorer="exact_match", key="strict-match"), low=2, high=5)

    assert {fault.code for fault in error.value.faults} == {"score-out-of-range"}
    assert error.value.faults[0].where.startswith(f"{path}, document 0 (line 1)")


@given(
    st.lists(
        st.tuples(st.text(min_size=1, max_size=5).filter(lambda text: text == text.strip() and text.isprintable()), st.floats(0, 1)),
        min_size=1,
        max_size=8,
        unique_by=lambda one: one[0],
    ),
    st.randoms(use_true_random=False),
)
def test_a_table_that_was_written_holds_the_same_scores(
    tmp_path_factory: pytest.TempPathFactory, pairs: list[tuple[str, float]], rng: object
) -> None:
    """Written and read again, in another order, the scores have the same digest."""
    rows = [LogRow(task_id=task, arm=arm, context_id=arm, sample="1", score=score) for task, score in pairs for arm in ("test", "deploy")]
    rows.append(LogRow(task_id="none", arm="test", context_id="test", sample="2", score=None, excluded_reason="refused, with a comma"))
    file = ImportedFile(name="x.log", sha256="0" * 64, format="x", arm=None, declared=None, found=len(rows), scored=len(rows) - 1)
    direct = build_row_table(rows, ImportedLog(files=(file,)), low=0, high=1)
    rng.shuffle(rows)  # type: ignore[attr-defined]  # a generator of hypothesis
    out = io.StringIO()
    write_rows(rows, out)
    path = tmp_path_factory.mktemp("table") / "scores.csv"
    path.write_text(out.getvalue(), encoding="utf-8", newline="")

    again = read_table([path], low=0, high=1)

    assert again.content == direct.content


def test_extras_become_columns_and_never_ours() -> None:
    """A column of a log that is called as one of ours would be read as one."""
    out = io.StringIO()
    write_rows([LogRow(task_id="t", arm="a", context_id="c", sample="1", score=1, extras={"model": "m", "weight": "7"})], out)

    header, row = list(csv.reader(io.StringIO(out.getvalue())))

    assert dict(zip(header, row, strict=True)) == {
        "task_id": "t",
        "arm": "a",
        "context_id": "c",
        "sample": "1",
        "score": "1.0",
        "model": "m",
        "log_weight": "7",
    }


def test_accounts_that_do_not_add_up_are_a_fault_of_ours() -> None:
    """A reader that loses a response must not pass unseen."""
    rows = [LogRow(task_id="t", arm="a", context_id="c", sample="1", score=1)]
    file = ImportedFile(
        name="x",
        sha256="0" * 64,
        format="x",
        arm="a",
        declared=3,
        found=3,
        scored=1,
        excluded=(ExcludedResponses(reason="r", count=1, is_row=True),),
    )

    with pytest.raises(ValueError, match="x: scored, excluded and found"):
        verify_accounts(ImportedLog(files=(file,)), rows)


def test_accounts_are_one_line_a_file_without_its_folder() -> None:
    """A record does not tell where somebody keeps their files."""
    _, imported = read_rows([path := str(INSPECT / "pair_T1_test.eval")], LogOptions(arms={path: "test"}))

    summary = describe_accounts(imported)

    assert summary.startswith("pair_T1_test.eval (inspect-eval/2, SHA-256 ")
    assert "states 12, 12 found, 12 scored as arm test" in summary
    assert str(INSPECT) not in summary


def build_part(name: str, started_at: str | None, **known: str) -> ImportedLog:
    file = ImportedFile(name=name, sha256=name * 8, format="x", arm=None, declared=None, found=0, scored=0)
    return ImportedLog(files=(file,), provenance=Provenance(**known), started_at=started_at)  # type: ignore[arg-type]  # texts alone


def test_a_beginning_is_known_where_every_log_states_one() -> None:
    """The earliest, whatever the time zones; and none if one log does not say, for its responses may be older."""
    parts = [build_part("a", "2026-11-21T12:00:00+00:00"), build_part("b", "2026-11-21T13:00:00+02:00")]

    assert merge_accounts(parts).started_at == "2026-11-21T13:00:00+02:00"
    assert merge_accounts([*parts, build_part("c", None)]).started_at is None


def test_what_logs_say_differently_is_said_of_each() -> None:
    """One statement of all stands once; what one log alone says is not said of the other."""
    parts = [build_part("a", None, endpoint="e", model_returned="m", tools="t"), build_part("b", None, endpoint="e", model_returned="n")]

    merged = merge_accounts(parts).provenance

    assert (merged.endpoint, merged.model_returned, merged.tools) == ("e", "m (a); n (b)", "t (a)")


def test_samples_of_the_committed_logs_are_those_of_other_programs() -> None:
    """The files beside the tests are as they were written: none holds a path of a machine."""
    for path in LOGS.rglob("*.json*"):
        text = path.read_text(encoding="utf-8")

        assert str(Path.home()) not in text
        assert str(Path(__file__).parent) not in text
