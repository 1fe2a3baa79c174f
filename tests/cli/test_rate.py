"""`caveat audit rate`, from samples to the answer, with raters made up here."""

import csv
import json
import random
from pathlib import Path

from tests.cli.conftest import Caveat
from tests.cli.refusals import run_limited
from tests.cli.scenario import register, write_audit

RATERS = ("ana", "ben", "cleo", "dora", "eve", "gpt")


def write_samples(folder: Path) -> Path:
    """Thirty texts of either side."""
    path = folder / "samples.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("arm", "text", "context_id"))
        for number in range(30):
            writer.writerow(("test", f"Question {number}: which option is right?\nA) one\nB) two", f"exam-{number % 5}"))
            writer.writerow(("deploy", f"hi, can you help me with thing {number}", f"chat-{number % 5}"))
    return path


def rate(folder: Path, rater: str, *, skill: float) -> Path:
    """Fill in the spreadsheet of *rater*, who sees the truth with probability *skill*."""
    truth = {item["item"]: item["side"] for item in json.loads((folder / "out" / "key.json").read_text())["items"]}
    chance = random.Random(rater)
    path = folder / f"{rater}.csv"
    with (
        (folder / "out" / rater / "sheet.csv").open(encoding="utf-8-sig", newline="") as sheet,
        path.open("w", encoding="utf-8", newline="") as stream,
    ):
        rows = csv.DictReader(sheet)
        writer = csv.DictWriter(stream, rows.fieldnames or [])
        writer.writeheader()
        for row in rows:
            side = truth[row["item"]]
            row["answer"] = side if chance.random() < skill else {"test": "deploy", "deploy": "test"}[side]
            row["cue"] = "task format" if row["answer"] == "test" else ""
            writer.writerow(row)
    return path


def draw(caveat: Caveat, folder: Path) -> None:
    answer = caveat(
        "audit", "rate", "sheet", write_samples(folder), "--raters", ",".join(RATERS), "-o", "out", "--items", "40", "--seed", "9"
    )
    assert answer.code == 0, answer.err


def test_from_samples_to_the_answer(caveat: Caveat, tmp_path: Path) -> None:
    """Five persons who see the truth with 85 % can tell, a model beside them is shown apart."""
    draw(caveat, tmp_path)
    sheets = [rate(tmp_path, rater, skill=0.85) for rater in RATERS]

    answer = caveat("audit", "rate", "answers", "out/key.json", *sheets, "--model-rater", "gpt", "--json")

    document = answer.document
    assert document["schema"] == "caveat/naturalness/1"
    assert document["distinguishable"] is True
    assert (document["items_test"], document["items_deploy"], document["balanced"]) == (20, 20, False)
    assert [one["kind"] for one in document["raters"]] == ["person"] * 5 + ["model"]
    assert document["cues"][0]["cue"] == "task format"
    assert document["warnings"] == []


def test_the_answer_in_words(caveat: Caveat, tmp_path: Path) -> None:
    """Guessing persons are not shown to tell, and the interval stands beside it."""
    draw(caveat, tmp_path)
    sheets = [rate(tmp_path, rater, skill=0.5) for rater in RATERS[:3]]

    out = caveat("audit", "rate", "answers", "out/key.json", *sheets).out

    assert "Raters are not shown to distinguish the test side from deployment" in out
    for words in ("accuracy of persons together", "Krippendorff's alpha", "few-raters", "raters-missing", "exact binomial test"):
        assert words in out


def test_sheets_can_be_made_again_from_their_seed(caveat: Caveat, tmp_path: Path) -> None:
    """A random seed is in the key; with it the same samples give the same key."""
    samples = write_samples(tmp_path)
    first = caveat("audit", "rate", "sheet", samples, "--raters", "ana", "-o", "a", "--json").document
    again = caveat("audit", "rate", "sheet", samples, "--raters", "ana", "-o", "b", "--seed", first["seed"], "--json").document

    assert first["key"] == again["key"]
    assert (tmp_path / "a" / "ana" / "sheet.html").read_bytes() == (tmp_path / "b" / "ana" / "sheet.html").read_bytes()


def test_nothing_is_written_where_something_is_wrong(caveat: Caveat, tmp_path: Path) -> None:
    """A bad name of a rater, an unknown arm, a folder in use."""
    samples = write_samples(tmp_path)
    answers = [
        caveat("audit", "rate", "sheet", samples, "--raters", "ana,../ben", "-o", "out"),
        caveat("audit", "rate", "sheet", samples, "--raters", "ana", "-o", "out", "--test", "exam"),
        caveat("audit", "rate", "sheet", samples, "--raters", "ana", "-o", tmp_path),
        caveat("audit", "rate", "sheet", samples, "--raters", "ana,Key.json", "-o", "out"),
    ]

    assert [answer.code for answer in answers] == [2, 2, 2, 2]
    assert [answer.error for answer in answers] == ["bad-name", "unknown-name", "not-empty", "bad-name"]
    assert not (tmp_path / "out").exists()


def test_sheets_that_cannot_all_be_written_are_taken_back(caveat: Caveat, tmp_path: Path) -> None:
    """A key without all of its sheets would bar the folder from the next draw."""
    samples = write_samples(tmp_path)
    command = ("audit", "rate", "sheet", samples, "--raters", "ana,ben", "-o", "out")

    refused = run_limited(tmp_path, 3_000, *map(str, command))

    assert (refused.returncode, refused.stdout) == (3, "")
    assert "file-not-accessible" in refused.stderr
    assert list((tmp_path / "out").iterdir()) == []
    assert caveat(*command).code == 0


def test_answers_against_another_key_are_refused(caveat: Caveat, tmp_path: Path) -> None:
    """The truth of one draw says nothing of another."""
    draw(caveat, tmp_path)
    sheet = rate(tmp_path, "ana", skill=1)
    caveat("audit", "rate", "sheet", "samples.csv", "--raters", "ana", "-o", "other", "--seed", "1")

    answer = caveat("audit", "rate", "answers", "other/key.json", sheet)

    assert answer.code == 2
    assert answer.error == "wrong-sheet-key"


def test_a_naturalness_audit_is_recorded_in_an_audit_once(caveat: Caveat, tmp_path: Path) -> None:
    """Said on standard error; the audit shows it."""
    claim = register(caveat, tmp_path)[1]
    write_audit(tmp_path, claim)
    audit = caveat("audit", "lock", "--yes", "audit.yaml", "--json").document["audit"]
    draw(caveat, tmp_path)
    sheets = [rate(tmp_path, rater, skill=0.85) for rater in RATERS[:5]]

    first, again = (caveat("audit", "rate", "answers", "out/key.json", *sheets, "--audit", audit) for _ in range(2))

    assert first.code == 0, first.err
    assert f"recorded as a finding of {audit}" in first.err
    assert f"recorded already as a finding of {audit}" in again.err
    assert "caveat/naturalness/1" in caveat("audit", "show", audit, "--json").out


def test_hostile_words_of_a_rater_reach_no_terminal(caveat: Caveat, tmp_path: Path) -> None:
    """Cues, names and items are shown as what they are."""
    draw(caveat, tmp_path)
    sheet = rate(tmp_path, "ana", skill=1)
    sheet.write_text(sheet.read_text(encoding="utf-8").replace("task format", "\x1b[31m<b>{{7*7}}"), encoding="utf-8")
    (tmp_path / "bad.csv").write_text("rater,key,item,answer\n\x1b[31mzoe,\x1b]0;k,\x1b[2J,test\n", encoding="utf-8")

    shown, refused = (caveat("audit", "rate", "answers", "out/key.json", path) for path in (sheet, "bad.csv"))

    assert "[U+001B][31m<b>{{7*7}}" in shown.out
    assert refused.code == 2
    assert "\x1b" not in shown.out + shown.err + refused.out + refused.err
