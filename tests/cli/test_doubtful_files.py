"""What makes a log or table doubtful keeps its verdict provisional, under a lock too, and is on page one."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Answer, Caveat
from tests.sources.eval_archive import build_archive, build_header, build_sample, list_members
from tests.spelling import spell
from tests.verdict.overclaims.recipe import write_json
from tests.verdict.overclaims.story import ENDPOINT as MODEL
from tests.verdict.overclaims.story import PROPERTIES, Story, tell_sabotage

Document = dict[str, Any]
FIELDS = ("--arm-field", "sample.metadata.arm", "--context-field", "sample.metadata.context", "--task-field", "sample.metadata.task")
ACCOUNTING = "accounting"


@pytest.fixture
def story(caveat: Caveat, tmp_path: Path) -> Story:
    """A registry with one claim, "at most 20 %", a bound endpoint name and a locked plan."""
    return tell_sabotage(caveat, tmp_path)


def build_log(*, samples: int = 1) -> tuple[Document, list[Document]]:
    """Return header and samples of a log in which no response sabotages: 24 tasks, 8 contexts a side, *samples* of each."""
    now = datetime.now(UTC).isoformat()
    rows = [
        (task, arm, place, number) for task in range(24) for arm in ("test", "deploy") for place in range(8) for number in range(samples)
    ]
    documents = [
        build_sample(
            f"{task}-{arm}-{place}-{number}",
            0.0,
            input=f"What is {spell(f't{task}')}?",
            started_at=now,
            metadata={"arm": arm, "context": f"{arm}{place}", "task": f"t{task}"},
            output={"model": MODEL, "choices": [{"stop_reason": "stop"}]},
        )
        for task, arm, place, number in rows
    ]
    header = build_header(len(documents))
    header["eval"] |= {"created": now, "model_generate_config": {"temperature": 1.0}}
    header["eval"]["dataset"]["sample_ids"] = [one["id"] for one in documents]
    return header, documents


def conclude(story: Story, header: Document, samples: list[Document], *options: str) -> Document:
    """Conclude the locked audit from a log; return the reading of the claim's own form."""
    path = story.folder / "run.eval"
    path.write_bytes(build_archive(list_members(header, samples)))
    return find_primary(story.caveat("audit", "conclude", story.names["main"], path, *FIELDS, *options, "--json"))


def find_primary(answer: Answer) -> Document:
    assert answer.code == 0, answer.err
    reading: Document = answer.document["restriction"]["classification"]["readings"][0]
    return reading


def test_a_whole_log_is_established(story: Story) -> None:
    """The control: without a doubt the same log establishes the verdict."""
    reading = conclude(story, *build_log())

    assert (reading["verdict"], reading["verdict_standing"]) == ("holds", "established")
    assert "Doubtful files" not in story.read_page("page")


def keep_one_of_three(header: Document, samples: list[Document]) -> None:
    """The run broke off, and of each task and context one response was kept."""
    header["status"] = "error"
    del samples[1::3]
    del samples[1::2]


def edit_scores(header: Document, samples: list[Document]) -> None:
    """A tenth of the scores was 1 before someone changed it."""
    for sample in samples[::10]:
        sample["scores"]["match"]["history"] = [{"value": 1.0}, {"value": 0.0}]


def answer_nothing(header: Document, samples: list[Document]) -> None:
    """Half of the deployment responses have no answer, which Inspect counts as 0."""
    for sample in [one for one in samples if one["metadata"]["arm"] == "deploy"][::2]:
        sample["scores"]["match"]["value"] = "N"


@pytest.mark.parametrize(
    ("change", "samples", "options", "says"),
    [
        (keep_one_of_three, 3, ("--unfinished",), "run.eval states 1,152 responses and has 384"),
        (edit_scores, 1, (), "39 scores of match were edited after scoring"),
        (answer_nothing, 1, (), "96 of 384 scores of match are N, no answer"),
    ],
)
def test_a_doubtful_log_establishes_nothing_under_a_lock(
    story: Story, change: Callable[[Document, list[Document]], None], samples: int, options: tuple[str, ...], says: str
) -> None:
    header, documents = build_log(samples=samples)
    change(header, documents)

    reading = conclude(story, header, documents, *options)

    assert (reading["verdict"], reading["verdict_standing"], reading["missing_condition"]) == ("holds", "provisional", ACCOUNTING)
    assert says in reading["why"]
    page = story.read_page("page")
    assert "Doubtful files: run.eval" in page
    assert says in page
    assert "You may say The claim holds" not in page


def test_a_few_responses_without_an_answer_are_counted_and_no_doubt(story: Story) -> None:
    header, samples = build_log()
    samples[0]["scores"]["match"]["value"] = "N"

    reading = conclude(story, header, samples)

    assert reading["verdict_standing"] == "established"
    assert "1 of 384 scores of match are N" in story.read_page("page")


def test_rows_that_were_chosen_at_the_import_are_a_doubt(story: Story) -> None:
    """The best of two seeds is chosen from a table that has both."""
    now = datetime.now(UTC).isoformat()
    lines = ["task,arm,context,seed,score,model,started_at,truncated"]
    for seed, score in (("1", 1), ("2", 0)):
        for task in range(24):
            lines += [f"t{task},{arm},{arm}{place},{seed},{score},{MODEL},{now},0" for arm in ("test", "deploy") for place in range(8)]
    table = story.folder / "own.csv"
    table.write_text("\n".join(lines), encoding="utf-8")
    roles = ",".join(f"{role}={role}" for role in ("task", "arm", "context", "score", "model", "started_at", "truncated"))

    answer = story.caveat("audit", "conclude", story.names["main"], table, "--map", roles, "--where", "seed=2", "--json")

    condition = next(one for one in find_primary(answer)["conditions"] if one["condition"] == ACCOUNTING)
    assert (condition["status"], condition["note"]) == ("missing", "own.csv: --where seed kept 384 of 768 rows")
    assert "Doubtful files: own.csv: --where seed kept 384 of 768 rows." in story.read_page("page")


def test_a_model_or_property_chosen_at_the_import_is_no_doubt(story: Story) -> None:
    """A claim is about one model: a table of several has to be cut."""
    rows = [f"t{task},{arm},0" for task in range(24) for arm in ("test", "deploy")]
    lines = ["task,arm,score,model", *(f"{row},{name}" for name in (MODEL, "other") for row in rows)]
    table = story.folder / "own.csv"
    table.write_text("\n".join(lines), encoding="utf-8")

    answer = story.caveat(
        "audit",
        "table",
        table,
        "--map",
        "task=task,arm=arm,score=score,model=model",
        "--where",
        f"model={MODEL}",
        "-o",
        "out.csv",
        "--json",
    )

    assert answer.code == 0, answer.err
    assert "--where" not in str(answer.document)


def test_a_doubt_cannot_be_stated_away(story: Story) -> None:
    """What only the files show is no one's to state."""
    header, samples = build_log()
    edit_scores(header, samples)
    (story.folder / "run.eval").write_bytes(build_archive(list_members(header, samples)))
    (story.folder / "stated.json").write_text('{"doubts": ["none"]}', encoding="utf-8")

    answer = story.caveat("audit", "conclude", story.names["main"], "run.eval", *FIELDS, "--provenance", "stated.json")

    assert answer.error == "not-valid"


@pytest.mark.parametrize(
    ("column", "mark", "is_doubt"), [("unparsed", "1", True), ("error", "server", True), ("error", "0.2", False), ("turns", "1", False)]
)
def test_a_score_of_a_row_that_is_marked_as_failed_is_a_doubt(story: Story, column: str, mark: str, is_doubt: bool) -> None:  # noqa: FBT001
    """Failures that count as 0 would keep any upper limit."""
    rows = [f"t{task},{arm},0,{mark if task == 0 else ''}" for task in range(24) for arm in ("test", "deploy")]
    (story.folder / "own.csv").write_text("\n".join((f"task,arm,score,{column}", *rows)), encoding="utf-8")

    answer = story.caveat("audit", "table", "own.csv", "--map", "task=task,arm=arm,score=score", "-o", "out.csv", "--json")

    assert answer.code == 0, answer.err
    (warnings,) = (file["warnings"] for file in answer.document["imported"]["files"])
    assert warnings == ([f"2 of 48 scored rows are marked in the column {column}"] if is_doubt else [])


@pytest.mark.parametrize(
    ("column", "mark", "is_doubt"),
    [("error", "timeout", True), ("status", "failed", True), ("http_status", "500", True), ("status", "ok", False), ("turns", "1", False)],
)
@pytest.mark.parametrize("has_log", [True, False])
def test_a_score_table_with_rows_marked_as_failed_is_doubtful(
    story: Story,
    column: str,
    mark: str,
    has_log: bool,  # noqa: FBT001
    is_doubt: bool,  # noqa: FBT001
) -> None:
    """A table in Caveat's own form is checked as a lab's own table is, in a registry and for a case file."""
    cells = [(task, arm, place) for task in range(24) for arm in ("test", "deploy") for place in range(8)]
    rows = [f"t{task},{arm},{arm}{place},1,0,no,{MODEL},{mark if task < 2 else ''}" for task, arm, place in cells]
    header = f"task_id,arm,context_id,sample,score,truncated,model_returned,{column}"
    table = story.folder / "scores.csv"
    table.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    note = f"scores.csv: 32 of 384 scored rows are marked in the column {column}"

    if has_log:
        now = datetime.now(UTC).isoformat()
        reading = find_primary(story.caveat("audit", "conclude", story.names["main"], table, "--run-date", now, "--json"))
    else:
        claim = {"quote": "At most 20 %.", "form": "upper_bound", "theta": 0.2, "property": PROPERTIES["sabotage"], "model": story.model}
        case = {"claim": claim, "deployment": {"defensible": True, "description": "Drawn"}, "scoring": {"invariant": True}}
        write_json(story.folder / "case.json", {**case, "scores": "scores.csv", "plan": {"replicates": 0}})
        reading = story.caveat("analyze", "classify", "case.json", "--json").document["readings"][0]

    notes = {one["condition"]: one["note"] for one in reading["conditions"] if one["status"] == "missing"}
    assert reading["verdict"] == "holds"
    assert (notes.get(ACCOUNTING) == note) is is_doubt
    assert not is_doubt or reading["verdict_standing"] == "provisional"


def test_two_snapshots_of_one_version_are_a_doubt_where_each_side_has_its_own(story: Story) -> None:
    """Both names are stated for the claim's version, and what differs may be the snapshot and not the context."""
    later = f"{MODEL}-b"
    story.caveat("model", "endpoint", "LAB/Lumen/1", later, "--reason", "A snapshot of it")
    draft = json.loads((story.folder / "main.json").read_text(encoding="utf-8")) | {"question": "Another plan"}
    locked = story.caveat("audit", "lock", "--yes", write_json(story.folder / "other.json", draft), "--json")
    header, samples = build_log()
    paths = []
    for arm in ("test", "deploy"):
        own = [sample for sample in samples if sample["metadata"]["arm"] == arm]
        for sample in own:
            sample["output"]["model"] = MODEL if arm == "test" else later
        half = json.loads(json.dumps(header))
        half["results"] = header["results"] | {"total_samples": len(own), "completed_samples": len(own)}
        half["eval"]["dataset"] |= {"samples": len(own), "sample_ids": [sample["id"] for sample in own]}
        path = story.folder / f"{arm}.eval"
        path.write_bytes(build_archive(list_members(half, own)))
        paths.append(path)

    reading = find_primary(story.caveat("audit", "conclude", locked.document["audit"], *paths, *FIELDS, "--json"))

    notes = {one["condition"]: one["note"] for one in reading["conditions"] if one["status"] == "missing"}
    assert set(notes) == {ACCOUNTING}
    assert f"the responses name several models ({MODEL}, {later})" in notes[ACCOUNTING]
    assert reading["verdict_standing"] == "provisional"


def test_the_account_names_the_scorers_that_were_not_taken(story: Story) -> None:
    """The lock names no scorer, so a reader must see that there was a choice."""
    header, samples = build_log()
    for sample in samples:
        sample["scores"]["strict"] = {"value": 1.0}

    conclude(story, header, samples, "--scorer", "match")

    assert "samples also scored by strict, which was not taken" in story.read_page("page")
