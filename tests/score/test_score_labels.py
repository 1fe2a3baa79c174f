"""Labels of a person: sheets that tell nothing, and labels that find their responses again."""

import csv
import json
from pathlib import Path

import pytest

from registry.records.replay_run import Task
from registry.records.specification import ChoiceScorer, LabelScorer, Scorer
from tests.cli.conftest import Answer, Caveat
from tests.score.runs import Said, write_run

TASKS = tuple(Task(id=f"t{place}", prompt=f"Question {place}?", options=("x", "y"), answer="A") for place in range(8))
SAID = (
    *(
        Said(task=task.id, arm=arm, context=f"{arm}-room", text=f"Answer {place}.")
        for place, task in enumerate(TASKS)
        for arm in ("test", "deploy")
    ),
    Said(task="t0", arm="test", context="test-room", sample=1, failure="time-out"),
    Said(task="t1", arm="test", context="test-room", text="=1+1", cue_removed="word"),
)


def make(folder: Path, scoring: Scorer | None = None) -> Path:
    write_run(folder, TASKS, SAID, scoring).close()
    return folder


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def fill(sheet: Path, labels: list[str]) -> None:
    """Write *labels* beside the first responses of the sheet."""
    rows = read(sheet)
    for row, label in zip(rows, labels, strict=False):
        row["label"] = label
    with sheet.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def list_codes(answer: Answer) -> list[str]:
    return [fault["code"] for fault in json.loads(answer.err)["faults"]]


def test_a_sheet_names_neither_arm_nor_context(caveat: Caveat, tmp_path: Path) -> None:
    """Every answered response once, in another order than the run's, and nothing that would be computed by a spreadsheet."""
    folder = make(tmp_path / "run")

    document = caveat("audit", "score", folder, "--sheet", "sheet.csv", "--json").document

    text, rows = (tmp_path / "sheet.csv").read_text(), read(tmp_path / "sheet.csv")
    assert document["items"] == len(rows) == 17
    assert list(rows[0]) == ["sheet", "item", "task", "response", "label"]
    assert not any(word in text for word in ("deploy", "room", "test", "word"))
    assert [row["task"] for row in rows] != sorted(row["task"] for row in rows)
    assert "'=1+1" in {row["response"] for row in rows}


def test_labels_find_their_responses_again(caveat: Caveat, tmp_path: Path) -> None:
    """Each label is the score of its response; what has none is not scored; labels.csv is what caveat analyze judge reads."""
    folder = make(tmp_path / "run")
    caveat("audit", "score", folder, "--sheet", "sheet.csv")
    rows = read(tmp_path / "sheet.csv")
    fill(tmp_path / "sheet.csv", [str(int("0" in row["response"])) for row in rows[:-1]])

    scored = caveat("audit", "score", folder, "--answers", "sheet.csv", "--json")

    assert scored.code == 0, scored.err
    assert (scored.document["changed"], scored.document["scorer"]["kind"]) == (16, "label")
    table = {(row["task_id"], row["arm"], row["sample"], row["cue_removed"]): row for row in read(folder / "scores.csv")}
    answers = [row for key, row in table.items() if row["score"]]
    assert len(answers) == 16
    assert all(float(row["score"]) == (row["task_id"] == "t0") for row in answers)
    assert table["t0", "test", "1", ""]["excluded_reason"] == "time-out"
    assert sorted(row["excluded_reason"] for row in table.values() if not row["score"]) == ["not-scored", "time-out"]
    assert len(read(folder / "labels.csv")) == sum(row["cue_removed"] == "" for row in answers)


def test_labels_stand_beside_the_scores_of_the_replay(caveat: Caveat, tmp_path: Path) -> None:
    """The table of the replay's own scorer stays as it is."""
    folder = make(tmp_path / "run", ChoiceScorer(kind="choice"))
    caveat("audit", "score", folder)
    before = (folder / "scores.csv").read_bytes()
    caveat("audit", "score", folder, "--sheet", "sheet.csv", "--items", "3")
    fill(tmp_path / "sheet.csv", ["1", "0.5", "true"])

    document = caveat("audit", "score", folder, "--answers", "sheet.csv", "--json").document

    assert document["files"] == {"table": str(folder / "scores-label.csv"), "labels": str(folder / "labels.csv")}
    assert sum(side["scored"] for side in document["sides"]) == 3
    assert (folder / "scores.csv").read_bytes() == before


def test_two_sheets_of_a_run_share_no_name(caveat: Caveat, tmp_path: Path) -> None:
    """A second sheet is drawn anew; both find their responses."""
    folder = make(tmp_path / "run")
    for name in ("one.csv", "two.csv"):
        caveat("audit", "score", folder, "--sheet", name)

    one, two = ({row["item"] for row in read(tmp_path / name)} for name in ("one.csv", "two.csv"))
    assert len(one) == 17
    assert not one & two
    fill(tmp_path / "two.csv", ["1"] * 17)
    assert caveat("audit", "score", folder, "--answers", "two.csv", "--json").document["changed"] == 17


@pytest.mark.parametrize(
    ("labels", "change", "codes"),
    [
        ([], ("", ""), ["no-answers"]),
        (["good"], ("", ""), ["score-not-number"]),
        (["nan"], ("", ""), ["score-not-number"]),
        (["1"], ("item,", "thing,"), ["column-missing"]),
    ],
)
def test_what_is_no_sheet_of_labels_is_refused(
    caveat: Caveat, tmp_path: Path, labels: list[str], change: tuple[str, str], codes: list[str]
) -> None:
    """Nothing is kept of it."""
    folder = make(tmp_path / "run")
    caveat("audit", "score", folder, "--sheet", "sheet.csv")
    fill(tmp_path / "sheet.csv", labels)
    path = tmp_path / "sheet.csv"
    path.write_text(path.read_text().replace(*change, 1) if change[0] else path.read_text())

    answer = caveat("audit", "score", folder, "--answers", "sheet.csv", "--json")

    assert (answer.code, list_codes(answer)) == (2, codes)
    assert not list(folder.glob("*.csv"))


def test_labels_of_another_run_or_item_and_labels_given_twice_are_refused(caveat: Caveat, tmp_path: Path) -> None:
    """A sheet belongs to its run folder, an item to its sheet, and a response has one label."""
    folder = make(tmp_path / "run")
    caveat("audit", "score", folder, "--sheet", "sheet.csv")
    first = read(tmp_path / "sheet.csv")[0]
    head = "sheet,item,label\n"
    (tmp_path / "other.csv").write_text(f"{head}0123456789abcdef,{first['item']},1\n")
    (tmp_path / "item.csv").write_text(f"{head}{first['sheet']},BBBBBBBBBBBB,1\n")
    (tmp_path / "twice.csv").write_text(f"{head}" + f"{first['sheet']},{first['item']},1\n" * 2)

    answers = [caveat("audit", "score", folder, "--answers", name, "--json") for name in ("other.csv", "item.csv", "twice.csv")]

    assert [list_codes(answer) for answer in answers] == [["wrong-sheet-key"], ["unknown-name"], ["duplicate"]]


def test_a_sheet_is_not_written_over_a_file(caveat: Caveat, tmp_path: Path) -> None:
    """Labels may stand in it."""
    folder = make(tmp_path / "run")
    (tmp_path / "sheet.csv").write_text("labels of a week")

    answer = caveat("audit", "score", folder, "--sheet", "sheet.csv", "--json")

    assert (answer.code, list_codes(answer)) == (2, ["file-exists"])
    assert (tmp_path / "sheet.csv").read_text() == "labels of a week"


def test_a_replay_that_is_scored_by_labels_asks_for_them(caveat: Caveat, tmp_path: Path) -> None:
    """And its labels are its scores, which an audit can import."""
    folder = make(tmp_path / "run", LabelScorer(kind="label", question="Is it good?"))
    unlabelled = caveat("audit", "score", folder, "--json")
    assert list_codes(unlabelled) == ["labels-missing"]
    caveat("audit", "score", folder, "--sheet", "sheet.csv")
    fill(tmp_path / "sheet.csv", ["1"] * 17)

    document = caveat("audit", "score", folder, "--answers", "sheet.csv", "--json").document

    assert document["scorer"] == {"kind": "label", "question": "Is it good?"}
    assert document["files"]["table"] == str(folder / "scores.csv")
