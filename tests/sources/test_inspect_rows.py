"""What of a log of Inspect becomes a row, which number it gets, and what is told beside it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.errors import TableError
from audit.records.model_response import ImportedFile
from audit.sources.inspect_log import read_inspect
from audit.sources.log_rows import LogOptions, LogRow, verify_accounts
from tests.sources.eval_archive import build_header, build_sample, write_log


def read(path: Path, **reading: Any) -> tuple[list[LogRow], ImportedFile]:
    rows, imported = read_inspect([path], LogOptions(**{"arms": {str(path): "test"}, **reading}))
    verify_accounts(imported, rows)
    return rows, imported.files[0]


def refuse(path: Path, **reading: Any) -> TableError:
    with pytest.raises(TableError) as caught:
        read(path, **reading)
    return caught.value


def score(folder: Path, value: Any, **reading: Any) -> tuple[float | None, str | None]:
    rows, _ = read(write_log(folder, build_sample(value=value)), **reading)
    return rows[0].score, rows[0].excluded_reason


@pytest.mark.parametrize(
    ("value", "expected"),
    [("C", 1.0), ("I", 0.0), ("P", 0.5), ("N", 0.0), (True, 1.0), (False, 0.0), (3, 3.0), (-0.25, -0.25), (0, 0.0)],
)
def test_letters_numbers_and_truth_values_are_numbers(tmp_path: Path, value: Any, expected: float) -> None:
    """Inspect's letters, numbers and truth values come to what Inspect's own metrics make of them."""
    assert score(tmp_path, value) == (expected, None)


@pytest.mark.parametrize(
    ("value", "key", "reason"),
    [
        (float("nan"), None, "score-nan"),
        (None, None, "not-scored"),
        ({"a": None}, "a", "not-scored"),
        ({"a": float("nan")}, "a", "score-nan"),
    ],
)
def test_no_value_is_no_score(tmp_path: Path, value: Any, key: str | None, reason: str) -> None:
    """NaN and null are exclusions, each with a reason of its own, and never 0."""
    assert score(tmp_path, value, key=key) == (None, reason)


def test_texts_are_numbers_only_by_what_the_user_says(tmp_path: Path) -> None:
    """A mapping of texts takes the place of Inspect's letters as a whole: a text it does not hold is refused."""
    path = write_log(tmp_path, build_sample("a", "GRADE: A"), build_sample("b", "GRADE: B"), build_sample("c", "C"))

    told = refuse(path)
    rows, _ = read(path, values={"GRADE: A": 1.0, "GRADE: B": 0.7, "C": 0.2})
    lacking = refuse(path, values={"GRADE: A": 1.0, "GRADE: B": 0.7})

    assert [(fault.code, fault.advice) for fault in told.faults] == [
        ("score-not-number", "say what each text is: --score-values 'GRADE: A=1'"),
        ("score-not-number", "say what each text is: --score-values 'GRADE: B=1'"),
    ]
    assert [row.score for row in rows] == [1.0, 0.7, 0.2]
    assert "sample c, epoch 1: expected a number or one of GRADE: A, GRADE: B, found 'C'" in lacking.faults[0].found


@pytest.mark.parametrize("value", ["0.7", "yes", "c", "", [1, 2], float("inf"), 10**400, {"a": [1]}])
def test_values_that_are_no_numbers_are_refused(tmp_path: Path, value: Any) -> None:
    """Texts no one mapped (also such that look like numbers), lists and infinity are told with the sample."""
    error = refuse(write_log(tmp_path, build_sample(value=value)), key="a" if isinstance(value, dict) else None)

    assert error.code == "score-not-number"
    assert "sample s0, epoch 1" in error.faults[0].found


def test_a_fault_of_many_samples_is_told_once(tmp_path: Path) -> None:
    """One hundred samples with the same text are one fault with their number."""
    error = refuse(write_log(tmp_path, *(build_sample(f"s{number}", "maybe") for number in range(100))))

    assert len(error.faults) == 1
    assert error.faults[0].found.startswith("100 samples, the first is sample s0, epoch 1")


def test_an_object_needs_its_entry_named(tmp_path: Path) -> None:
    """A score of several values is refused with their names, and with what was probably meant where the name is wrong."""
    path = write_log(tmp_path, build_sample(value={"honesty": 1, "helpfulness": 0.5}))

    silent, wrong = refuse(path), refuse(path, key="honest")
    rows, _ = read(path, key="honesty")

    assert (silent.code, wrong.code) == ("choice-needed", "unknown-name")
    assert "honesty, helpfulness" in silent.faults[0].found
    assert wrong.faults[0].advice == "did you mean honesty?"
    assert rows[0].score == 1.0


def test_several_scorers_need_a_choice(tmp_path: Path) -> None:
    """Which scorer makes the table is the user's to say; the others stand beside it."""
    scores = {"match": {"value": "C"}, "judge": {"value": 0.25}, "grades": {"value": {"a": 1, "b": "text"}}}
    path = write_log(tmp_path, build_sample(scores=scores))

    silent, wrong = refuse(path), refuse(path, scorer="Judge")
    rows, _ = read(path, scorer="judge")

    assert (silent.code, wrong.code) == ("choice-needed", "unknown-name")
    assert "match, judge, grades" in silent.faults[0].found
    assert wrong.faults[0].advice == "did you mean judge?"
    assert (rows[0].score, rows[0].extras["score:match"], rows[0].extras["score:grades.b"]) == (0.25, 1.0, "text")


def test_a_sample_that_its_scorer_skipped_is_not_scored(tmp_path: Path) -> None:
    """Samples without the chosen score are exclusions beside those that have one."""
    rows, file = read(write_log(tmp_path, build_sample("a"), build_sample("b", scores={}), build_sample("c", scores=None)))

    assert [row.excluded_reason for row in rows] == [None, "not-scored", "not-scored"]
    assert (file.found, file.scored, file.excluded[0].examples) == (3, 1, ("sample b, epoch 1", "sample c, epoch 1"))


def test_a_log_that_nobody_scored_has_only_exclusions(tmp_path: Path) -> None:
    """A run without scorers is rows without scores, not an error and not zeros."""
    rows, file = read(write_log(tmp_path, build_sample(scores=None)))

    assert [(row.score, row.excluded_reason) for row in rows] == [(None, "not-scored")]
    assert file.scored == 0


def test_what_is_invalid_or_broken_is_not_scored(tmp_path: Path) -> None:
    """Invalid goes before broken, broken before its score; a score that a broken sample has all the same is told."""
    invalid = build_sample("a", invalidation={"author": "Q. Reviewer"}, error={"message": "x"})
    broken = build_sample("b", error={"message": "the sandbox died", "traceback": "…"})

    rows, file = read(write_log(tmp_path, invalid, broken))

    assert [row.excluded_reason for row in rows] == ["invalidated", "sample-error"]
    assert "samples were declared invalid by Q. Reviewer" in file.notes
    assert "2 samples that ended with an error were scored nevertheless; they are excluded here" in file.notes


def test_fewer_samples_than_the_header_says_are_named(tmp_path: Path) -> None:
    """A log that lacks samples is refused with the first identifiers and epochs; asked for, it is read and its accounts say the same."""
    header = build_header(3, epochs=2)
    path = write_log(tmp_path, build_sample("s0"), build_sample("s0", epoch=2), build_sample("s2"), header=header)

    error = refuse(path)
    _, file = read(path, unfinished=True)

    assert (error.code, error.faults[0].found) == ("samples-missing", file.notes[0])
    assert (file.declared, file.found) == (6, 3)
    assert "the header states 6 samples and the log holds 3 (not there: s1 epoch 1, s1 epoch 2, s2 epoch 2)" in file.notes
    assert "the header states 6 samples completed and the log holds 3 without an error" in file.warnings


def test_a_mean_that_differs_from_the_logs_own_is_told(tmp_path: Path) -> None:
    """The log's own accuracy is compared with the mean of the rows; a difference is told, agreement is not."""
    results = {"total_samples": 2, "scores": [{"name": "match", "metrics": {"accuracy": {"value": 0.5}}}]}
    samples = build_sample("s0", "C"), build_sample("s1", "I")

    _, agreeing = read(write_log(tmp_path, *samples, header=build_header(2, results=results)))
    _, differing = read(write_log(tmp_path, *samples[:1], header=build_header(2, results=results)), unfinished=True)

    assert not [note for note in agreeing.warnings if "accuracy" in note]
    assert "the log states accuracy 0.5 for match and the mean of the scored rows is 1" in differing.warnings


def test_another_model_that_answered_is_told(tmp_path: Path) -> None:
    """Fallbacks, retries and timelines are each counted in the notes."""
    first = build_sample("s0", output={"model": "m-1"}, model_fallbacks=[{"model": "m-1", "fallback_model": "m-0"}])
    second = build_sample("s1", output={"model": "m-2"}, error_retries=[{"message": "529"}], timelines=[{"name": "target"}])

    _, file = read(write_log(tmp_path, first, second))

    assert {
        "in 1 samples another model answered in place of the one asked for: m-0",
        "1 samples were run again after an error",
        "1 samples have timelines (as Petri's do): the target's transcript is there and not in the sample's messages",
    } <= {*file.notes, *file.warnings}


def test_a_parameter_sent_otherwise_is_told(tmp_path: Path) -> None:
    """What was configured is compared with the request of the audited model alone, under each provider's spelling; nested entries count."""

    def ask(config: dict[str, Any], request: dict[str, Any] | None, role: str | None = None) -> dict[str, Any]:
        return {"event": "model", "role": role, "config": config, "call": {"request": request} if request is not None else None}

    config = {"temperature": 0.7, "max_tokens": 50, "top_p": 0.9}
    sent = {"generationConfig": {"maxOutputTokens": 50, "temperature": 1.0}, "messages": [{"top_p": 0.9}]}
    grader = ask({"temperature": 0}, {}, role="grader")
    samples = build_sample("s0", events=[grader, ask(config, sent)]), build_sample("s1", events=[ask(config, None)])

    rows, imported = read_inspect([path := write_log(tmp_path, *samples)], LogOptions(arms={str(path): "test"}))

    assert imported.files[0].notes[:3] == (
        "top_p 0.9 is recorded as configured and was not in the request (1 of 1 requests in the log)",
        "temperature is recorded as 0.7 and was sent as 1.0 (1 of 1 requests in the log)",
        "1 samples do not hold the request of their first call: what was sent for them is not known",
    )
    assert imported.provenance.sampling == (
        "configured: max_tokens 50, temperature 0.7, top_p 0.9; in the request (first call of 1 samples): max_tokens 50, temperature 1.0; "
        "configured and not sent: top_p 0.9"
    )
    assert len(rows) == 2


def test_provenance_says_what_the_log_states_and_no_more(tmp_path: Path) -> None:
    """What a log does not state stays None, and that the endpoint is not recorded is a note."""
    rows, imported = read_inspect([path := write_log(tmp_path, build_sample())], LogOptions(arms={str(path): "test"}))
    provenance = imported.provenance

    assert (provenance.endpoint, provenance.model_returned, provenance.sampling, provenance.budget_spent) == (None, None, None, None)
    assert (provenance.model_requested, provenance.judge, provenance.corpus_tasks) == ("lab/m", "Inspect scorer match", None)
    assert provenance.transcripts == imported.files[0].sha256
    assert imported.started_at == "2026-11-21T12:00:00+00:00"
    assert any(note.startswith("the endpoint is not recorded") for note in imported.files[0].notes)
    assert rows[0].extras["system_sha256"] is None


def test_the_first_response_dates_the_import(tmp_path: Path) -> None:
    """Times of several zones are compared as moments, and the earliest start is that of the import."""
    samples = build_sample("s0", started_at="2026-01-02T00:30:00+02:00"), build_sample("s1", started_at="2026-01-01T23:00:00+00:00")

    _, imported = read_inspect([path := write_log(tmp_path, *samples)], LogOptions(arms={str(path): "test"}))

    assert imported.started_at == "2026-01-01T22:30:00+00:00"
    assert imported.provenance.accessed == "2026-01-01T22:30:00+00:00 to 2026-01-01T23:00:00+00:00"


@pytest.mark.parametrize("field", ["metadata.nothing", "tags", "tags.none", "sample.metadata.family", "task_args"])
def test_a_field_without_a_single_value_is_told(tmp_path: Path, field: str) -> None:
    """An arm that cannot be told (nothing there, two tags, an object) refuses the log and names the field."""
    header = build_header(1)
    header["eval"] |= {"tags": ["a", "b"], "task_args": {"x": 1}}
    error = refuse(write_log(tmp_path, build_sample(), header=header), arms={}, arm_field=field)

    assert error.code == "unknown-name"
    assert field in error.faults[0].found


def test_a_log_without_arm_is_told(tmp_path: Path) -> None:
    """Neither a name before the path nor a field: nothing says which side the responses belong to."""
    assert refuse(write_log(tmp_path, build_sample()), arms={}).code == "arm-missing"


@pytest.mark.parametrize(
    ("version", "code"), [(3, "newer-format"), (99, "newer-format"), ("2", "file-not-readable"), (None, "file-not-readable")]
)
def test_versions_to_come_are_refused(tmp_path: Path, version: Any, code: str) -> None:
    """A later format is not guessed at; versions 1 and 2 are read."""
    assert refuse(write_log(tmp_path, build_sample(), header=build_header(1, version=version))).code == code
    assert len(read(write_log(tmp_path, build_sample(), header=build_header(1, version=1)))[0]) == 1


def test_logs_of_the_oldest_form_are_read(tmp_path: Path) -> None:
    """A JSON log of version 1, with one unnamed score a sample, gets the scorer's name from its results."""
    sample = {"id": 1, "epoch": 1, "input": "q", "target": "t", "score": {"value": "C"}, "transcript": {"events": [], "content": {}}}
    results = {"scorer": {"name": "includes"}, "metrics": {"accuracy": {"value": 1}}}
    document = build_header(1, version=1, results=results) | {"samples": [sample]}
    path = tmp_path / "old.json"
    path.write_text(json.dumps(document))

    rows, _ = read(path)

    assert (rows[0].score, rows[0].extras["scorer"], rows[0].task_id) == (1.0, "includes", "1")


def test_json_that_is_no_log_is_told(tmp_path: Path) -> None:
    """A JSON file of something else is refused with what a log has."""
    path = tmp_path / "x.json"
    path.write_text('{"version": 2, "results": []}')

    assert "as a log of Inspect has" in refuse(path).faults[0].found


def test_rows_do_not_depend_on_the_order_of_members(tmp_path: Path) -> None:
    """Samples that ended in another order give the same rows."""
    samples = [build_sample(f"s{number}", number / 10, epoch) for number in range(4) for epoch in (1, 2, 10)]

    forwards, _ = read(write_log(tmp_path, *samples))
    backwards, _ = read(write_log(tmp_path, *reversed(samples)))

    assert forwards == backwards
    assert [row.sample for row in forwards[:3]] == ["1", "2", "10"]


def test_faults_of_several_logs_are_told_together(tmp_path: Path) -> None:
    """A damaged log and one without a choice of scorer are two faults of one error."""
    good = write_log(tmp_path, build_sample(scores={"a": {"value": 1}, "b": {"value": 1}}), name="two.eval")
    bad = tmp_path / "bad.eval"
    bad.write_bytes(b"not a zip")

    with pytest.raises(TableError) as caught:
        read_inspect([bad, good], LogOptions(arms={str(good): "test", str(bad): "deploy"}))

    assert [fault.code for fault in caught.value.faults] == ["file-not-readable", "choice-needed"]


def test_what_a_log_says_is_printed_on_one_line(tmp_path: Path) -> None:
    """Control characters and line breaks of a log do not reach a terminal; half a character does not stop a table from being written."""
    header = build_header(1, status="error", error={"message": "lost\x1b[31m\nred\ud800"})
    sample = build_sample(scores={"match": {"value": "C"}, "no\ud800te": {"value": "half \ud83d"}})

    rows, file = read(write_log(tmp_path, sample, header=header), unfinished=True, scorer="match")

    assert file.warnings[0] == "the log's status is error: lost[31m red?"
    assert rows[0].extras["score:no?te"] == "half ?"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
PLACES = """
    status eval plan results stats error tags metadata log_updates eval.dataset eval.dataset.sample_ids
    eval.dataset.samples eval.config eval.config.epochs eval.packages eval.revision eval.model eval.model_roles
    eval.tags eval.metadata eval.created eval.sandbox eval.model_base_url results.scores results.total_samples
    results.completed_samples stats.model_usage stats.started_at plan.steps sample.id sample.epoch sample.scores
    sample.score sample.scores.match sample.scores.match.value sample.scores.match.history
    sample.scores.match.reason sample.scores.match.metadata sample.error sample.limit sample.invalidation
    sample.model_fallbacks sample.error_retries sample.timelines sample.output sample.output.choices
    sample.output.model sample.model_usage sample.events sample.messages sample.attachments sample.started_at
    sample.working_time sample.input
""".split()  # noqa: SIM905  # a list of fifty names is read more easily than fifty strings
"""Whatever a reader looks at."""


def put(document: dict[str, Any], name: str, value: Any) -> None:
    *path, last = name.split(".")
    for key in path:
        document = document.setdefault(key, {})
        if not isinstance(document, dict):
            return
    document[last] = value


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.sampled_from(PLACES), value=JSON)
def test_whatever_stands_in_a_log_is_read_or_told(tmp_path: Path, place: str, value: Any) -> None:
    """Any JSON in the place of anything a reader looks at gives rows that add up, or an error of ours."""
    header, sample = build_header(1), build_sample()
    put({"sample": sample} if place.startswith("sample.") else header, place, value)
    path = tmp_path / "log.json"
    path.write_text(json.dumps(header | {"samples": [sample]}))

    try:
        rows, _ = read(path, unfinished=True, key="a")
    except TableError as error:
        assert all(fault.code and fault.where and fault.found for fault in error.faults)
    else:
        assert [row.score is None for row in rows] == [row.excluded_reason is not None for row in rows]


@pytest.mark.parametrize("moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "yesterday", 7])
def test_a_moment_that_no_calendar_has_is_none(tmp_path: Path, moment: object) -> None:
    """The log's own date stands in for it."""
    path = write_log(tmp_path, build_sample(started_at=moment))

    assert read_inspect([path], LogOptions(arms={str(path): "test"}))[1].started_at == "2026-11-21T12:00:00+00:00"


def test_a_sample_without_a_time_may_have_been_the_first(tmp_path: Path) -> None:
    """The beginning of the run counts where one sample does not say when it was asked: the first response was not later."""
    path = write_log(tmp_path, build_sample("s0", started_at="2026-11-21T12:30:00+00:00"), build_sample("s1"))

    assert read_inspect([path], LogOptions(arms={str(path): "test"}))[1].started_at == "2026-11-21T12:00:00+00:00"


def test_what_a_log_calls_itself_is_told_and_no_secret(tmp_path: Path) -> None:
    """Task, arguments, data set and tags show which context a log is of; an argument that may be a key is not repeated."""
    header = build_header(1)
    header["eval"] |= {"task_args": {"framing": "exam", "api_key": "sk-1", "options": {"a": 1}}, "tags": ["side:test"]}
    header["eval"]["dataset"]["name"] = "sums12"

    notes = read(write_log(tmp_path, build_sample(), header=header))[1].notes

    assert "the log's task is sums (framing exam), its data set sums12 of 1 samples, its tags side:test" in notes
    assert "sk-1" not in repr(notes)
