"""`caveat audit score`: what is written, what is told, and that nothing is asked."""

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

from audit.records.model_response import Purpose
from audit.replay.run_store import Score, open_store
from audit.score.scorers import digest_scorer
from registry.records.replay_run import Task
from registry.records.specification import ChoiceScorer, Dimension, JudgeScorer, PatternScorer, Scorer
from tests.cli.conftest import Answer, Caveat
from tests.replay.replay_files import write_replay
from tests.score.runs import Said, write_run

TASKS = (
    Task(id="sum", prompt="What is 2 + 2?", options=("3", "4"), answer="B", expected=("4",), anti=("(?i)sorry",)),
    Task(id="yes", prompt="Yes or no?", options=("yes", "no"), answer="A", expected=("yes", "sure"), anti=(r"\bno\b",)),
)
SAID = (
    Said(task="sum", arm="test", text="B"),
    Said(task="sum", arm="deploy", text="The answer is A."),
    Said(task="yes", arm="test", text="sorry, I will not say", stop_reason="refusal"),
    Said(task="yes", arm="deploy", failure="time-out"),
)
CHOICE = ChoiceScorer(kind="choice")


def make(folder: Path, scoring: Scorer | None = CHOICE, said: tuple[Said, ...] = SAID) -> Path:
    write_run(folder, TASKS, said, scoring).close()
    return folder


def list_codes(answer: Answer) -> list[str]:
    """Return the codes of a refusal, in their order."""
    assert (answer.code, answer.out) == (2, "")
    return [fault["code"] for fault in json.loads(answer.err)["faults"]]


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_response_is_a_row_and_a_failed_call_an_exclusion(caveat: Caveat, tmp_path: Path) -> None:
    """Scores, reasons and what is known of the answer stand side by side, in the order of names."""
    folder = make(tmp_path / "run")

    assert caveat("audit", "score", folder, "--json").code == 0

    rows = [(row["task_id"], row["arm"], row["score"], row["excluded_reason"], row["stop_reason"]) for row in read(folder / "scores.csv")]
    assert rows == [
        ("sum", "deploy", "0.0", "", "end_turn"),
        ("yes", "deploy", "", "time-out", ""),
        ("sum", "test", "1.0", "", "end_turn"),
        ("yes", "test", "", "unextracted", "refusal"),
    ]


def test_scoring_again_changes_nothing(caveat: Caveat, tmp_path: Path) -> None:
    """Not a score, not a byte of the table."""
    folder = make(tmp_path / "run")
    first, before = caveat("audit", "score", folder, "--json").document, (folder / "scores.csv").read_bytes()

    second = caveat("audit", "score", folder, "--json").document

    assert (first["changed"], second["changed"]) == (3, 0)
    assert (folder / "scores.csv").read_bytes() == before


def test_the_order_in_which_answers_came_does_not_change_the_table(caveat: Caveat, tmp_path: Path) -> None:
    """Apart from the moments and request ids, which are theirs."""
    tables = []
    for name, said in (("one", SAID), ("two", tuple(reversed(SAID)))):
        assert caveat("audit", "score", make(tmp_path / name, said=said), "--json").code == 0
        tables.append([{**row, "at": "", "request_id": ""} for row in read(tmp_path / name / "scores.csv")])

    assert tables[0] == tables[1]


def test_patterns_are_scored_beside_a_judge_whose_scores_stay(caveat: Caveat, tmp_path: Path) -> None:
    """--patterns-only writes a table of its own, pattern by pattern too; the judge's scores are as they were."""
    judge = JudgeScorer(kind="judge", model="j", rubric="Rate.", dimensions=(Dimension(name="good", question="Good?", low=1, high=5),))
    folder = make(tmp_path / "run", scoring=judge)
    with_scores = open_store(folder)
    keys = [one.key for one in with_scores.list_responses(Purpose.REPLAY) if one.failure is None]
    with_scores.add_scores([Score(response=key, scorer=digest_scorer(judge), score=4.0, judge="j-1") for key in keys])
    before = list(with_scores.list_scores(digest_scorer(judge)))
    with_scores.close()

    document = caveat("audit", "score", folder, "--patterns-only", "--json").document

    again = open_store(folder)
    assert list(again.list_scores(digest_scorer(judge))) == before
    assert document["files"] == {"table": str(folder / "scores-pattern.csv"), "patterns": str(folder / "patterns.csv")}
    assert [row["expected_rate"] for row in read(folder / "scores-pattern.csv")] == ["0.0", "", "0.0", "0.0"]
    matched = [(row["task_id"], row["arm"], row["pattern"]) for row in read(folder / "patterns.csv") if row["matched"] == "1"]
    assert matched == []
    again.close()


def test_pattern_tests_are_rows_of_their_own(caveat: Caveat, tmp_path: Path) -> None:
    """One for each pattern of each answer, with match and place."""
    folder = make(tmp_path / "run", scoring=PatternScorer(kind="pattern"), said=(Said(task="yes", arm="test", text="sure, no doubt"),))

    assert caveat("audit", "score", folder, "--json").code == 0

    rows = [(row["kind"], row["pattern"], row["matched"], row["start"], row["end"], row["text"]) for row in read(folder / "patterns.csv")]
    assert rows == [
        ("expected", "yes", "0", "", "", ""),
        ("expected", "sure", "1", "0", "4", "sure"),
        ("anti", r"\bno\b", "1", "6", "8", "no"),
    ]


def test_sides_that_differ_beyond_their_scores_are_told(caveat: Caveat, tmp_path: Path) -> None:
    """Cut, refused and unextracted answers, and calls that were never answered."""
    said = [Said(task="sum", arm="test", text="B", sample=place) for place in range(10)]
    said += [Said(task="sum", arm="deploy", text="Let us see", stop_reason="max_tokens", sample=place) for place in range(10)]

    document = caveat("audit", "score", make(tmp_path / "run", said=(*said, Said(task="sum", arm="deploy", sample=10))), "--json").document

    codes = [one["code"] for one in document["warnings"]]
    assert codes == ["unanswered", "unequal-truncation", "unequal-unextracted"]
    assert [(one["arm"], one["rows"], one["mean"], one["cut"], one["unanswered"]) for one in document["sides"]] == [
        ("deploy", 10, None, 10, 1),
        ("test", 10, 1.0, 0, 0),
    ]


def test_what_was_cut_is_a_mark_that_a_judge_check_reads(caveat: Caveat, tmp_path: Path) -> None:
    """One in two answers of a side cut off: the check tells both rates; a failed call is neither cut nor whole."""
    said = [
        Said(task=task, arm=arm, context=f"{arm}{context}", sample=sample, text="yes", stop_reason=stop(arm, sample))
        for task in ("sum", "yes")
        for arm in ("test", "deploy")
        for context in range(3)
        for sample in range(8)
    ]
    folder = make(tmp_path / "run", said=(*said, Said(task="sum", arm="test", context="test0", sample=8, failure="time-out")))
    assert caveat("audit", "score", folder, "--patterns-only", "-o", folder / "scores.csv", "--json").code == 0

    document = caveat("analyze", "judge", folder / "scores.csv", "--contexts", "fixed", "--mark", "truncated", "--json").document

    assert sorted(Counter(row["truncated"] for row in read(folder / "scores.csv")).items()) == [("", 1), ("0", 72), ("1", 24)]
    (check,) = [one for one in document["reports"][0]["invariance"] if one["check"] == "failure-rate"]
    assert (check["column"], check["difference"]["value"]) == ("truncated", pytest.approx(-0.5))


def test_tasks_that_cannot_be_scored_are_told_before_a_call_is_paid_for(
    caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The replay's own scorer is held against its tasks when the run begins, also in a dry run; without a scorer nothing is."""
    monkeypatch.chdir(tmp_path)
    plain = write_replay(tmp_path, tasks=2)
    assert caveat("audit", "run", plain, "--dry-run", "--json").code == 0
    scored = write_replay(tmp_path, tasks=2, more="scoring: {kind: number}")

    assert list_codes(caveat("audit", "run", scored, "--dry-run", "--json")) == ["task-not-scorable", "task-not-scorable"]
    assert not (tmp_path / "small.run").exists()


def stop(arm: str, sample: int) -> str:
    return "max_tokens" if arm == "deploy" and sample % 2 == 0 else "end_turn"


def test_a_scorer_of_a_file_is_used_instead(caveat: Caveat, tmp_path: Path) -> None:
    """Its scores stand beside the first, in a table of their own."""
    folder, scorer = make(tmp_path / "run"), tmp_path / "scorer.yaml"
    scorer.write_text("kind: choice\nunextracted: wrong\n")
    assert caveat("audit", "score", folder, "--json").code == 0

    document = caveat("audit", "score", folder, "--scorer", scorer, "--json").document

    assert document["files"] == {"table": str(folder / "scores-choice.csv")}
    assert [row["score"] for row in read(folder / "scores-choice.csv")] == ["0.0", "", "1.0", "0.0"]
    assert [row["score"] for row in read(folder / "scores.csv")] == ["0.0", "", "1.0", ""]


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("kind: best\n", ["not-valid"]),
        ("kind: number\n", ["task-not-scorable", "task-not-scorable"]),
        ("kind: choice\npattern: FINAL\n", ["not-valid"]),
        ("kind: pattern\nscore: no_anti\nanti: ['']\n", ["pattern-empty"]),
    ],
)
def test_a_scorer_that_cannot_score_these_tasks_is_refused(caveat: Caveat, tmp_path: Path, text: str, codes: list[str]) -> None:
    """With all of its faults, and no score is written."""
    folder, scorer = make(tmp_path / "run"), tmp_path / "scorer.yaml"
    scorer.write_text(text)

    answer = caveat("audit", "score", folder, "--scorer", scorer, "--json")

    assert list_codes(answer) == codes
    assert not list(folder.glob("scores*.csv"))


def test_a_replay_without_a_scorer_asks_for_one(caveat: Caveat, tmp_path: Path) -> None:
    """Nothing is guessed."""
    answer = caveat("audit", "score", make(tmp_path / "run", scoring=None), "--json")

    assert list_codes(answer) == ["scorer-missing"]


def test_a_folder_without_a_run_is_no_run(caveat: Caveat, tmp_path: Path) -> None:
    """The fault names it and says how a run is made."""
    answer = caveat("audit", "score", tmp_path, "--json")

    assert list_codes(answer) == ["run-not-found"]


def test_two_tasks_that_ask_the_same_and_are_scored_differently_are_refused(caveat: Caveat, tmp_path: Path) -> None:
    """They would share a response, and a response has one score by one scorer."""
    tasks = (TASKS[0], Task(id="other", prompt="What is 2 + 2?", options=("3", "4"), answer="A"))
    store = write_run(tmp_path / "run", tasks, [Said(task="sum", arm="test", text="B")], CHOICE)
    store._connection.execute(
        "INSERT INTO cell (task_id, arm, spec, context_id, cue_removed, sample, key, request)"
        " SELECT 'other', arm, spec, context_id, cue_removed, sample, key, request FROM cell"
    )
    store._connection.commit()
    store.close()

    answer = caveat("audit", "score", tmp_path / "run", "--json")

    assert list_codes(answer) == ["task-not-scorable"]
