"""A run folder as a score table: what is a row, who judged it, and that the table is one that an estimate reads."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from audit.modules.differential_estimate import estimate
from audit.records.model_response import Purpose, ReplayCell
from audit.replay.replay_provenance import CONTEXTS
from audit.replay.run_rows import TableRow, find_repeated_contexts, list_rows, write_table
from audit.replay.run_store import RunStore, Score, put_version
from audit.score.run_evidence import read_run, remark_sides, tally_rows
from audit.score.scorers import digest_scorer, score_run
from audit.sources.score_table import read_table
from registry.codec.canonical_documents import to_document
from registry.errors import ConflictError, InputError
from registry.records.analysis_plan import Plan
from registry.records.replay_run import Task
from registry.records.specification import ChoiceScorer, ContextItem, ContextSpec, Dimension, JudgeScorer
from tests.score.runs import BEGUN, Said, write_run

CHOICE = ChoiceScorer(kind="choice")
JUDGE = JudgeScorer(kind="judge", model="judge-9", rubric="Rate.", dimensions=(Dimension(name="score", question="Good?", low=0, high=1),))
TASKS = tuple(Task(id=f"t{place}", prompt=f"Question {place}?", options=("x", "y"), answer="A") for place in range(6))


def answer(right: dict[str, int]) -> list[Said]:
    """Give answers of both arms under two contexts; in each arm the first tasks are right."""
    return [
        Said(task=task.id, arm=arm, context=f"{arm[0]}{context}", text="A" if place < right[arm] else "B")
        for arm in ("test", "deploy")
        for context in range(2)
        for place, task in enumerate(TASKS)
    ]


def make(folder: Path, said: list[Said]) -> RunStore:
    store = write_run(folder, TASKS, said, CHOICE)
    score_run(store, CHOICE, {task.id: task for task in TASKS})
    return store


def put_judgments(store: RunStore, scores: list[tuple[str | None, int | None, float | None]]) -> list[TableRow | ReplayCell]:
    """Judge the first answer as *scores* say (judge, repeat, score) and return the table's rows."""
    key = next(one.key for one in store.list_responses(Purpose.REPLAY) if one.failure is None)
    digest = digest_scorer(JUDGE)
    store.add_scores(
        Score(
            response=key,
            scorer=digest,
            score=score,
            excluded_reason=None if score is not None else "judge-not-json",
            judge=judge,
            repeat=repeat,
            dimensions=None if score is None else {"score": score},
        )
        for judge, repeat, score in scores
    )
    return list(list_rows(store, digest, judge=JUDGE.model))


def test_the_table_of_a_run_is_one_that_an_estimate_reads(tmp_path: Path) -> None:
    """ED of six tasks, four right on the test side and five in deployment, is -1/6."""
    store = make(tmp_path, answer({"test": 4, "deploy": 5}))
    write_table(list_rows(store, digest_scorer(CHOICE)), tmp_path / "scores.csv")

    table = read_table([tmp_path / "scores.csv"], low=0, high=1)

    assert estimate(table, Plan(), range_=(0, 1)).specs[0].ed.value == pytest.approx(-1 / 6)
    store.close()


def test_a_call_without_an_answer_is_no_row(tmp_path: Path) -> None:
    """It is counted as unanswered, not as an exclusion."""
    store = make(tmp_path, [*answer({"test": 1, "deploy": 1}), Said(task="t0", arm="test", context="t9")])

    tallies = tally_rows(list_rows(store, digest_scorer(CHOICE)))

    assert tallies["test", None, None].rows == 12
    assert tallies["test", None, None].unanswered == 1
    assert [one.code for one in remark_sides(tallies)] == ["unanswered"]
    store.close()


def test_an_answer_that_nobody_scored_is_a_row_that_says_so(tmp_path: Path) -> None:
    """Before any scoring every answer is one."""
    store = write_run(tmp_path, TASKS, answer({"test": 1, "deploy": 1}), CHOICE)

    reasons = {row.excluded_reason for row in list_rows(store, digest_scorer(CHOICE)) if isinstance(row, TableRow)}

    assert reasons == {"not-scored"}
    store.close()


def test_repeats_of_a_judge_are_rows_of_their_own(tmp_path: Path) -> None:
    """One row for each, with the judge that was returned; a failed call is an exclusion of that judge."""
    store = write_run(tmp_path, TASKS, [Said(task="t0", arm="test", text="x"), Said(task="t0", arm="deploy", failure="time-out")], JUDGE)

    rows = put_judgments(store, [("judge-9-a", 0, 1.0), ("judge-9-a", 1, None)])

    found = [(row.cell.arm, row.judge, row.value, row.excluded_reason) for row in rows if isinstance(row, TableRow)]
    assert found == [
        ("deploy", "judge-9-a", None, "time-out"),
        ("test", "judge-9-a", 1.0, None),
        ("test", "judge-9-a", None, "judge-not-json"),
    ]
    store.close()


def test_a_judge_that_never_answered_is_named_as_it_was_asked(tmp_path: Path) -> None:
    """A table names its judge in every row or in none."""
    store = write_run(tmp_path, TASKS, [Said(task="t0", arm="test", text="x")], JUDGE)

    rows = put_judgments(store, [(None, None, None)])

    assert [row.judge for row in rows if isinstance(row, TableRow)] == ["judge-9"]
    store.close()


def test_a_dimension_called_like_a_column_gets_a_name_of_its_own(tmp_path: Path) -> None:
    """`score` is a column already."""
    store = write_run(tmp_path, TASKS, [Said(task="t0", arm="test", text="x")], JUDGE)
    write_table(put_judgments(store, [("j", None, 0.5)]), tmp_path / "scores.csv", dimensions=("score",))

    with (tmp_path / "scores.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)

    assert (row["score"], row["dimension_score"]) == ("0.5", "0.5")
    store.close()


def test_a_later_scoring_that_differs_counts_and_the_earlier_stays(tmp_path: Path) -> None:
    """Nothing in a run folder is changed; what was scored otherwise before is found again."""
    store = make(tmp_path, answer({"test": 4, "deploy": 5}))
    digest = digest_scorer(CHOICE)
    key = next(iter(store.list_scores(digest))).response
    store.add_scores([Score(response=key, scorer=digest, score=0.25)])

    changed = score_run(store, CHOICE, {task.id: task for task in TASKS})

    assert changed == 1
    assert store.find_scores(digest, key)[0].score in (0.0, 1.0)
    assert store._connection.execute("SELECT count(*) FROM score WHERE response = ?", (key,)).fetchone() == (3,)
    store.close()


def test_a_run_is_evidence_with_its_beginning_and_its_accounts(tmp_path: Path) -> None:
    """The moment of the first call, and every planned call scored, excluded or unanswered."""
    said = [*answer({"test": 4, "deploy": 5}), Said(task="t0", arm="test", context="t9", failure="time-out")]
    make(tmp_path, said).close()

    found = read_run(tmp_path, low=0, high=1)

    (file,) = found.imported.files
    assert found.imported.started_at == BEGUN.isoformat()
    assert (file.found, file.scored, [(one.reason, one.count) for one in file.excluded]) == (25, 24, [("time-out", 1)])
    assert found.table.rows == 25


@pytest.mark.parametrize(
    ("said", "is_scored", "code"),
    [
        ([Said(task="t0", arm="test", text="A"), Said(task="t0", arm="deploy")], True, "run-incomplete"),
        ([Said(task="t0", arm="test", text="A"), Said(task="t0", arm="deploy", text="A")], False, "run-not-scored"),
    ],
)
def test_an_unfinished_run_is_no_evidence(tmp_path: Path, said: list[Said], code: str, *, is_scored: bool) -> None:
    """Not asked to its end, or not scored: the fault says what to do."""
    (make(tmp_path, said) if is_scored else write_run(tmp_path, TASKS, said, CHOICE)).close()

    with pytest.raises(ConflictError) as caught:
        read_run(tmp_path, low=0, high=1)

    assert caught.value.code == code


def test_an_unfinished_run_can_be_taken_as_it_is(tmp_path: Path) -> None:
    """What was never answered is told, and is no row."""
    make(tmp_path, [*answer({"test": 4, "deploy": 5}), Said(task="t0", arm="test", context="t9")]).close()

    found = read_run(tmp_path, low=0, high=1, unfinished=True)

    assert [(one.reason, one.is_row) for one in found.imported.files[0].excluded] == [("unanswered", False)]
    assert found.table.rows == 24


def test_a_table_that_was_edited_is_refused(tmp_path: Path) -> None:
    """The stored responses are the evidence, not the file that was made of them."""
    store = make(tmp_path, answer({"test": 4, "deploy": 5}))
    write_table(list_rows(store, digest_scorer(CHOICE)), tmp_path / "scores.csv")
    store.close()
    path = tmp_path / "scores.csv"
    path.write_text(path.read_text().replace(",0.0,", ",1.0,", 1))

    with pytest.raises(ConflictError) as caught:
        read_run(tmp_path, low=0, high=1)

    assert caught.value.code == "run-table-differs"


def test_tasks_that_cannot_be_scored_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    """No score is kept."""
    tasks = (Task(id="t0", prompt="p", options=("x",), answer="Z"),)
    store = write_run(tmp_path, tasks, [Said(task="t0", arm="test", text="A")], CHOICE)

    with pytest.raises(InputError, match="task t0"):
        score_run(store, CHOICE, {"t0": tasks[0]})

    assert store.list_scorers() == []
    store.close()


def test_contexts_of_one_side_with_the_same_words_are_found(tmp_path: Path) -> None:
    """One more space makes another request and no other context; a common template, another side, or other words are no repetition."""
    store = write_run(tmp_path, TASKS, [], CHOICE)
    plain, spaced = ContextItem(id="c1", system="You help."), ContextItem(id="c2", system=" You  help")
    made = [replace(item, id=f"{item.id}-made", made_from="m", system=f"{item.system} Always") for item in (plain, spaced)]
    test = ContextSpec(name="Test", description="d", contexts=(plain, spaced, *made, replace(plain, id="c3", system="You do not help.")))
    deploy = ContextSpec(name="Deploy", description="d", contexts=(plain,))
    put_version(store, CONTEXTS, {"test.yaml": to_document(test), "deploy.yaml": to_document(deploy)})

    assert find_repeated_contexts(store) == (("c1", "c2"),)
    store.close()
