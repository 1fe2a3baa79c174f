"""A lab's own table becomes a score table: every form of file, every word for a score, and one message for each cause."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from audit.errors import TableError
from audit.records.model_response import ImportedLog
from audit.sources import sheet_files
from audit.sources.column_guess import guess_columns
from audit.sources.log_import import build_row_table, read_logs, read_rows
from audit.sources.log_rows import LogOptions, LogRow
from audit.sources.own_table import read_cell, table_from_frame
from audit.sources.sheet_files import read_sheet
from tests.sources.sheet_fixtures import (
    ARMS,
    HEAD,
    MAP,
    ROWS,
    replace_member,
    write_jsonl,
    write_parquet,
    write_text,
    write_xlsx,
)

READING = LogOptions(mapping=MAP, arm_names=ARMS)


def read(path: Path, reading: LogOptions = READING) -> tuple[list[LogRow], ImportedLog]:
    return read_rows([str(path)], reading)


def refuse(path: Path, reading: LogOptions = READING) -> list[tuple[str, str, str]]:
    """Code, place without its folder, and finding of every fault."""
    with pytest.raises(TableError) as caught:
        read(path, reading)
    return [(fault.code, fault.where.replace(f"{path.parent}/", ""), fault.found) for fault in caught.value.faults]


WRITERS: dict[str, Callable[[Path], Path]] = {
    "runs.xlsx": write_xlsx,
    "runs.csv": write_text,
    "semicolons.csv": lambda path: write_text(path, separator=";"),
    "runs.tsv": lambda path: write_text(path, separator="\t"),
    "runs.jsonl": write_jsonl,
    "runs.parquet": write_parquet,
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_form_of_file_gives_the_same_scores(name: str, tmp_path: Path) -> None:
    """The digest of the scores is that of the same rows in a frame."""
    frame = pd.DataFrame(ROWS, columns=list(HEAD))
    wanted = table_from_frame(frame, mapping=MAP, arms={"test": "Eval", "deploy": "Prod"})

    rows, imported = read(WRITERS[name](tmp_path / name))

    assert build_row_table(rows, imported, low=0, high=1).content == wanted.content
    assert (imported.files[0].found, imported.files[0].scored) == (8, 8)


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path: Path) -> None:
    """Excel begins “CSV UTF-8” with one."""
    path = write_text(tmp_path / "runs.csv", separator=";")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())

    assert read(path)[0][0].task_id == "q0"


@pytest.mark.parametrize(
    ("cell", "score"),
    [
        (True, 1),
        ("FALSE", 0),
        ("Pass", 1),
        ("failed", 0),
        ("Yes", 1),
        ("incorrect", 0),
        (1, 1),
        ("0.25", 0.25),
        ("85 %", 0.85),
        ("1e-2", 0.01),
        ("-1", -1),
    ],
)
def test_the_usual_words_and_numbers_are_scores(cell: Any, score: float) -> None:
    """Upper and lower case are the same."""
    assert read_cell(cell)[1] == pytest.approx(score)


@pytest.mark.parametrize("cell", [None, "n/a", "NaN", "Error", "–", "#DIV/0!", "partial", "1_000", "0,5", "1.5.2", "inf"])
def test_what_is_no_score_is_never_a_number(cell: Any) -> None:
    """A comma is a decimal mark only where semicolons separate columns."""
    assert read_cell(cell)[1] is None


def test_a_comma_is_a_decimal_mark_where_semicolons_separate(tmp_path: Path) -> None:
    """Whole numbers are written alike with a comma and with a point."""
    rows = [("a", "Eval", "0,5"), ("a", "Prod", "1")]

    assert [row.score for row in read(write_text(tmp_path / "runs.csv", rows, separator=";"))[0]] == [0.5, 1.0]


def test_rows_without_a_score_are_excluded_with_a_reason_and_counted(tmp_path: Path) -> None:
    """An empty cell, a word for nothing, and an error of the spreadsheet."""

    def change(_workbook: Any, sheet: Any) -> None:
        sheet["C2"], sheet["C3"], sheet["C4"] = None, "n/a", "#DIV/0!"
        sheet["C4"].data_type = "e"

    rows, imported = read(write_xlsx(tmp_path / "runs.xlsx", change=change))

    assert [row.score for row in rows[:3]] == [None, None, None]
    assert {(part.reason, part.count, part.examples) for part in imported.files[0].excluded} == {
        ("no score in the table", 1, ("row 2",)),
        ("no score in the table (n/a)", 1, ("row 3",)),
        ("no score in the table (#DIV/0!)", 1, ("row 4",)),
    }


def test_a_column_of_reasons_says_why_there_is_no_score(tmp_path: Path) -> None:
    """A reason next to a score is one fault with its count."""
    head = (*HEAD, "why")
    rows = [("a", "Eval", "", "refused"), ("a", "Prod", "1", "none")]
    reading = replace(READING, mapping={**MAP, "reason": "why"})

    assert read(write_text(tmp_path / "runs.csv", rows, head=head), reading)[0][0].excluded_reason == "refused"
    both = [("a", "Eval", "1", "refused"), ("a", "Prod", "1", "refused")]
    assert refuse(write_text(tmp_path / "both.csv", both, head=head), reading) == [
        ("score-and-reason", "both.csv, rows 2, 3, column passed", "2 rows have a score and a reason why there is none")
    ]


def test_given_words_replace_the_usual_ones_as_a_whole(tmp_path: Path) -> None:
    """Half of a pair, turned round, must not meet the usual number of the other half."""
    path = write_text(tmp_path / "runs.csv", [("a", "Eval", "pass"), ("a", "Prod", "fail")])

    assert [row.score for row in read(path, replace(READING, values={"pass": 0, "fail": 1}))[0]] == [0, 1]
    ((code, where, found),) = refuse(path, replace(READING, values={"fail": 1}))
    assert (code, where) == ("score-not-number", "runs.csv, row 2, column passed")
    assert "'pass' (1)" in found


def test_words_without_a_number_are_one_fault_with_the_words_and_first_places(tmp_path: Path) -> None:
    """Four thousand cells are one message."""
    rows = [(f"q{number}", arm, "partial") for number in range(2000) for arm in ("Eval", "Prod")]

    assert refuse(write_text(tmp_path / "runs.csv", rows)) == [
        (
            "score-not-number",
            "runs.csv, rows 2, 3, 4, column passed and 3,997 more",
            "4,000 of 4,000 scores are words without a number: 'partial' (4,000)",
        )
    ]


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (("TRUE", "5"), "words (1, such as TRUE) and numbers (1, such as 5)"),
        (("85 %", "1"), "numbers (1, such as 1) and numbers in per cent (1, such as 85 %)"),
        (("0,5", "0.25"), "numbers with a point (1, such as 0.25) and numbers with a comma (1, such as 0,5)"),
    ],
)
def test_scores_of_several_kinds_are_refused(cells: tuple[str, str], found: str, tmp_path: Path) -> None:
    """Which scale is meant is not clear."""
    rows = [("a", "Eval", cells[0]), ("a", "Prod", cells[1])]

    ((code, _, text),) = refuse(write_text(tmp_path / "runs.csv", rows, separator=";"))

    assert (code, text) == ("scores-mixed", f"the scores are of several kinds: {found}")


def test_sample_numbers_are_made_where_the_table_has_none(tmp_path: Path) -> None:
    """They count the responses of one task in one context, and the account says so."""
    rows, imported = read(write_text(tmp_path / "runs.csv", [*ROWS, *ROWS[:1]]))

    assert [row.sample for row in rows] == ["1"] * 8 + ["2"]
    assert "no column of samples: responses of one task in one context were numbered, up to 2" in imported.files[0].notes


def test_a_column_that_tells_repeated_rows_apart_is_named(tmp_path: Path) -> None:
    """As a warning where samples are made, as the remedy where the table has samples."""
    head = (*HEAD, "run", "system")
    rows = [("a", arm, "1", "1", system) for arm in ("Eval", "Prod") for system in ("x", "y")]
    path = write_text(tmp_path / "runs.csv", rows, head=head)

    assert "differ in system (x, y)" in read(path, replace(READING, mapping={**MAP, "family": "run"}))[1].files[0].warnings[0]
    assert refuse(path, replace(READING, mapping={**MAP, "sample": "run"}))[0][0] == "duplicate-row"
    assert len(read(path, replace(READING, mapping={**MAP, "sample": "run"}, where={"system": ["x"]}))[0]) == 2


def test_without_a_column_of_contexts_each_arm_is_one_context(tmp_path: Path) -> None:
    """A verdict is then at most conditional on these contexts, and the account says it."""
    rows, imported = read(write_text(tmp_path / "runs.csv"))

    assert {(row.arm, row.context_id) for row in rows} == {("test", "Eval"), ("deploy", "Prod")}
    assert any("at most conditional on these contexts" in note for note in imported.files[0].notes)


def test_two_tables_can_be_the_two_arms(tmp_path: Path) -> None:
    """Each file is then one context."""
    paths = {arm: str(write_text(tmp_path / f"{arm}.csv", [("a", f"{arm} x", "1")])) for arm in ("test", "deploy")}
    reading = LogOptions(mapping={"task": "prompt_id", "score": "passed"}, arms={path: arm for arm, path in paths.items()})

    rows = read_rows(list(paths.values()), reading)[0]

    assert {(row.arm, row.context_id) for row in rows} == {("test", "test"), ("deploy", "deploy")}


def test_models_and_dates_become_the_provenance(tmp_path: Path) -> None:
    """Several models are refused: a difference between models is not one between contexts."""
    head = (*HEAD, "model", "time")
    rows = [(*row, "m-1", f"2026-11-0{number + 1}T10:00:00Z") for number, row in enumerate(ROWS)]
    reading = replace(READING, mapping={**MAP, "model": "model", "started_at": "time"})

    imported = read(write_text(tmp_path / "runs.csv", rows, head=head), reading)[1]

    assert (imported.provenance.models_returned, imported.started_at) == (("m-1",), "2026-11-01T10:00:00+00:00")
    mixed = [*rows, ("q9", "Eval", "yes", "m-2", "soon")]
    assert [code for code, _, _ in refuse(write_text(tmp_path / "mixed.csv", mixed, head=head), reading)] == ["bad-date", "choice-needed"]


def test_text_that_spreadsheets_and_terminals_obey_is_data(tmp_path: Path) -> None:
    """A task called as a formula keeps its name on the way through a CSV file, and control characters are made visible."""
    from audit.sources.log_import import write_rows
    from audit.sources.score_table import read_table

    rows = [("=1+1", "Eval", "1"), ("=1+1", "Prod", "0"), ("\x1b[31mq", "Eval", "1"), ("\x1b[31mq", "Prod", "0")]
    read_, imported = read(write_text(tmp_path / "runs.csv", rows))
    with (tmp_path / "scores.csv").open("w", encoding="utf-8", newline="") as file:
        write_rows(read_, file)

    assert "\n'=1+1,test" in (tmp_path / "scores.csv").read_text(encoding="utf-8")
    again = read_table([tmp_path / "scores.csv"], low=0, high=1)
    assert again.task.labels == ("=1+1", "[U+001B][31mq")
    assert again.content == build_row_table(read_, imported, low=0, high=1).content


# Spreadsheets that are refused.


def fill_with_formulas(_workbook: Any, sheet: Any) -> None:
    for row in range(2, 10):
        sheet[f"C{row}"] = "=1+1"


def insert_group_row(_workbook: Any, sheet: Any) -> None:
    sheet.insert_rows(1)
    sheet["B1"], sheet["C1"] = "Setup", "Outcome"


def insert_units_row(_workbook: Any, sheet: Any) -> None:
    sheet.insert_rows(2)
    for cell, text in (("A2", "id"), ("B2", "setting"), ("C2", "0/1")):
        sheet[cell] = text


@pytest.mark.parametrize(
    ("change", "code", "found"),
    [
        (lambda _, sheet: sheet.merge_cells("A2:A3"), "cells-merged", "cells are merged in 1 place: A2:A3"),
        (fill_with_formulas, "formula-without-value", "8 cells of the column passed hold a formula without a value"),
        (insert_group_row, "header-not-clear", "row 1 is read as the header: the column has data and no name"),
        (insert_units_row, "header-not-clear", "rows 1 and 2 both look like headers: id, setting, 0/1"),
        (lambda book, _: book.create_sheet("More").append(["a"]), "choice-needed", "2 sheets have data: 'Runs', 'More'"),
        (lambda book, _: [book.create_sheet(f"S{place}") for place in range(59)], "choice-needed", "the file has 60 sheets: 'Runs', 'S0'"),
    ],
)
def test_a_spreadsheet_that_is_not_plain_is_refused_with_one_message(
    change: Callable[[Any, Any], object], code: str, found: str, tmp_path: Path
) -> None:
    """Each says which cells, and what to do."""
    ((actual, _, text),) = refuse(write_xlsx(tmp_path / "runs.xlsx", change=change))

    assert (actual, text[: len(found)]) == (code, found)


def test_a_formula_that_is_not_read_does_not_matter(tmp_path: Path) -> None:
    """Notes and totals next to the scores may be formulas."""
    path = write_xlsx(tmp_path / "runs.xlsx", [(*row, "=A2") for row in ROWS], head=(*HEAD, "note"))

    assert len(read(path)[0]) == 8


def test_a_sheet_is_chosen_by_its_name(tmp_path: Path) -> None:
    """A wrong name lists the sheets."""

    def add(workbook: Any, _sheet: Any) -> None:
        workbook.create_sheet("More").append(["a"])

    path = write_xlsx(tmp_path / "runs.xlsx", change=add)

    assert len(read(path, replace(READING, sheet="Runs"))[0]) == 8
    assert refuse(path, replace(READING, sheet="Rums"))[0][::2] == (
        "unknown-name",
        "there is no sheet 'Rums'; the sheets are 'Runs', 'More'",
    )


def test_a_zip_bomb_is_refused_before_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By what the archive states; the limit is lowered, so that the test need not write a gigabyte."""
    monkeypatch.setattr(sheet_files, "_INFLATED", 10_000_000)
    source = write_xlsx(tmp_path / "plain.xlsx")
    bomb = replace_member(source, tmp_path / "bomb.xlsx", "xl/worksheets/sheet1.xml", b" " * 20_000_000)

    assert bomb.stat().st_size < 100_000
    ((code, _, found),) = refuse(bomb)
    assert code == "file-too-large"
    assert re.match(r"its parts inflate to 20,\d{3},\d{3} bytes, expected at most 10,000,000", found)


def test_xml_entities_do_not_multiply(tmp_path: Path) -> None:
    """A billion laughs end the child process, or stay text; the command survives."""
    source = write_xlsx(tmp_path / "plain.xlsx")
    entities = "".join(f'<!ENTITY a{place} "{(f"&a{place - 1};" if place else "ha") * 10}">' for place in range(10))
    sheet = f'<!DOCTYPE w [{entities}]><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    sheet += '<row r="1"><c r="A1" t="str"><f>1</f><v>&a9;</v></c></row></sheetData></worksheet>'
    path = replace_member(source, tmp_path / "runs.xlsx", "xl/worksheets/sheet1.xml", sheet.encode())

    assert refuse(path)[0][0] == "file-not-readable"


# Other files that are refused.

OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


@pytest.mark.parametrize(
    ("name", "content", "code", "found"),
    [
        ("locked.xlsx", OLE + "EncryptedPackage".encode("utf-16-le"), "file-not-readable", "the spreadsheet is encrypted with a password"),
        ("old.xls", OLE + "Workbook".encode("utf-16-le"), "file-not-readable", "the file is a spreadsheet of the older form XLS"),
        ("text.xlsx", b"prompt_id,condition\n", "file-not-readable", "the name ends in .xlsx and the content is neither of the two"),
        ("latin.csv", "a;b\ncafé;1\n".encode("latin-1"), "not-utf-8", "the byte 0xe9 is not UTF-8; the file may be in Latin-1"),
        ("wide.csv", "a\tb\nc\t1\n".encode("utf-16"), "not-utf-8", "the file is UTF-16, or no text"),
        ("ragged.csv", b"a;b\n1;2;3\n1;2\n1\n", "row-broken", "2 rows have another number of fields than the header; expected 2, found 3"),
        ("open.csv", b'a;b\n"1;2\n', "file-not-readable", "the file cannot be read as CSV: unexpected end of data"),
        ("head.csv", b"a;b\n", "table-empty", "the table has a header and no rows"),
        ("empty.tsv", b"", "table-empty", "the file is empty"),
    ],
)
def test_a_file_that_cannot_be_read_gets_one_message(name: str, content: bytes, code: str, found: str, tmp_path: Path) -> None:
    """The message says what it is instead."""
    path = tmp_path / name
    path.write_bytes(content)

    assert [(code_, found_) for code_, _, found_ in refuse(path)] == [(code, found)]


def test_a_file_of_two_gigabytes_is_refused_unread(tmp_path: Path) -> None:
    """The file is sparse, so that the test costs nothing; reading it would."""
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.write(b"prompt_id;condition;passed\n")
        file.truncate(2_000_000_000)

    assert refuse(path)[0][0] == "file-too-large"


def test_a_table_with_too_many_rows_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of Python objects cost memory."""
    monkeypatch.setattr(sheet_files, "MOST_ROWS", 5)

    for name in ("runs.csv", "runs.jsonl", "runs.parquet"):
        assert refuse(WRITERS[name](tmp_path / name))[0][0] == "file-too-large"


@pytest.mark.parametrize(
    ("mapping", "code", "found"),
    [
        ({**MAP, "scoer": "passed"}, "unknown-name", "there is no role 'scoer'"),
        ({**MAP, "score": "pased"}, "column-missing", "the column is missing; the columns are: prompt_id, condition, passed"),
        ({"task": "prompt_id"}, "mapping-needed", "no column is named as arm or score; the columns are: prompt_id, condition, passed"),
    ],
)
def test_a_mapping_that_does_not_match_the_table_says_what_there_is(mapping: dict[str, str], code: str, found: str, tmp_path: Path) -> None:
    """With the nearest name."""
    ((actual, _, text),) = refuse(write_text(tmp_path / "runs.csv"), replace(READING, mapping=mapping))

    assert (actual, text[: len(found)]) == (code, found)


def test_a_column_that_occurs_twice_is_refused_if_it_is_read(tmp_path: Path) -> None:
    """Two columns of notes do no harm."""
    path = write_text(tmp_path / "runs.csv", [(*row, row[2], "", "") for row in ROWS], head=(*HEAD, "passed", "note", "note"))

    assert refuse(path)[0][::2] == ("duplicate-column", "the column occurs 2 times")


def test_rows_without_a_task_are_one_fault(tmp_path: Path) -> None:
    """Blank rows are no rows."""
    path = write_text(tmp_path / "runs.csv", [("", "Eval", "yes")] * 5 + [("", "", "")] + list(ROWS))

    assert refuse(path) == [("id-empty", "runs.csv, rows 2, 3, 4, column prompt_id and 2 more", "5 of 13 rows have no task")]


def test_a_table_with_one_arm_is_refused(tmp_path: Path) -> None:
    """Nothing could be compared."""
    path = write_text(tmp_path / "runs.csv", [row for row in ROWS if row[1] == "Eval"])

    assert refuse(path, replace(READING, arm_names={}))[0][::2] == ("one-sided", "all 4 rows are of arm 'Eval'")


def test_an_arm_that_no_row_has_suggests_the_nearest(tmp_path: Path) -> None:
    """Exchanged or misspelt arms must not pass."""
    ((code, where, _),) = refuse(write_text(tmp_path / "runs.csv"), replace(READING, arm_names={"Evel": "test", "Prod": "deploy"}))

    assert (code, where) == ("unknown-name", "runs.csv, --arms test=Evel")


def test_scores_outside_the_range_are_one_fault(tmp_path: Path) -> None:
    """They have one cause: a range that was not said."""
    path = write_text(tmp_path / "runs.csv", [(f"q{number}", arm, 40 + number) for number in range(9) for arm in ("Eval", "Prod")])

    with pytest.raises(TableError) as caught:
        read_logs([str(path)], READING, low=0, high=1)

    (fault,) = caught.value.faults
    assert fault.found == "expected numbers from 0 to 1; 18 scores are outside, from 40 to 48"


def test_a_spreadsheet_with_our_own_columns_needs_no_mapping(tmp_path: Path) -> None:
    """Also the optional ones, such as weights."""
    head = ("task_id", "side", "context_id", "sample", "score", "weight")
    rows = [("a", arm, "c-" + arm, 1, 1, 2.5) for arm in ("test", "deploy")]

    table = read_logs([str(write_xlsx(tmp_path / "runs.xlsx", rows, head=head))], LogOptions(), low=0, high=1).table

    assert table.weight is not None
    assert (table.weight.labels, table.arm.labels, table.sample.labels) == (("2.5",), ("deploy", "test"), ("1",))


# Frames.


def test_frames_of_pandas_and_arrow_give_the_same_table() -> None:
    """And so does any object with the capsule interface."""

    class Stream:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return arrow.__arrow_c_stream__(requested_schema)

    frame = pd.DataFrame([*ROWS, ("q9", "Eval", None)], columns=list(HEAD))
    arrow = pa.Table.from_pandas(frame)
    arms = {"test": "Eval", "deploy": "Prod"}

    tables = [table_from_frame(given, mapping=MAP, arms=arms) for given in (frame, arrow, Stream())]

    assert len({table.content for table in tables}) == 1
    assert (tables[0].rows, tables[0].excluded.labels) == (9, ("no score in the table",))


def test_a_frame_with_our_own_columns_needs_no_mapping() -> None:
    """Its score words may be said."""
    frame = pd.DataFrame({"task_id": ["a", "a"], "arm": ["test", "deploy"], "score": ["good", "bad"]})

    assert table_from_frame(frame, mapping=None, arms=None, score_values={"good": 1, "bad": 0}).score.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        (pd.concat([pd.DataFrame(ROWS, columns=list(HEAD))] * 2), "frame-index"),
        (pd.DataFrame([(*row, 1) for row in ROWS], columns=[*HEAD, "passed"]), "duplicate-column"),
        (pd.DataFrame([(*row[:2], 0.5 if place else True) for place, row in enumerate(ROWS)], columns=list(HEAD)), "scores-mixed"),
        (pd.DataFrame(columns=list(HEAD)), "table-empty"),
        ([{"prompt_id": "a"}], "unknown-format"),
    ],
)
def test_a_frame_that_is_not_sound_is_refused(frame: Any, code: str) -> None:
    """With the same family of errors as a file."""
    with pytest.raises(TableError) as caught:
        table_from_frame(frame, mapping=MAP, arms={"test": "Eval", "deploy": "Prod"})

    assert [fault.code for fault in caught.value.faults] == [code]


def test_a_frame_without_a_mapping_gets_the_guess_as_an_argument() -> None:
    """It can be pasted."""
    with pytest.raises(TableError) as caught:
        table_from_frame(pd.DataFrame(ROWS, columns=list(HEAD)), mapping=None, arms=None)

    advice = caught.value.faults[0].advice or ""
    assert "columns={'task': 'prompt_id', 'arm': 'condition', 'score': 'passed'}" in advice
    assert "arms={'test': 'Eval', 'deploy': 'Prod'}" in advice


# The guess.


def test_columns_are_guessed_by_their_names_and_values(tmp_path: Path) -> None:
    """A column of free text is no score, whatever its name."""
    head = ("Prompt ID", "setting", "grade", "is_correct", "model")
    rows = [(f"q{number}", setting, "well done", "yes", "m") for number in range(3) for setting in ("evaluation", "production")]

    guess = guess_columns(read_sheet(write_text(tmp_path / "runs.csv", rows, head=head)), has_arm=False)

    assert guess.mapping == {"task": "Prompt ID", "arm": "setting", "score": "is_correct", "model": "model"}
    assert guess.arms == {"evaluation": "test", "production": "deploy"}
    assert guess.is_complete


def test_arms_that_no_word_tells_apart_are_not_guessed(tmp_path: Path) -> None:
    """Exchanged arms would turn the sign of the difference."""
    rows = [(f"q{number}", colour, "yes") for number in range(3) for colour in ("red", "blue", "test in production")]

    guess = guess_columns(read_sheet(write_text(tmp_path / "runs.csv", rows)), has_arm=False)

    assert (guess.arms, guess.is_complete) == ({}, False)


def test_a_rival_for_a_role_is_shown(tmp_path: Path) -> None:
    """Two columns may both be the score; the person decides."""
    path = write_text(tmp_path / "runs.csv", [(*row, 1) for row in ROWS], head=(*HEAD, "score"))

    score = next(column for column in guess_columns(read_sheet(path), has_arm=False).columns if column.role == "score")

    assert (score.column, score.why) == ("score", "its name; or passed?")


# A column of scores for each arm.

WIDE_MAP = {"task": "id", "score.test": "eval_score", "score.deploy": "prod_score"}


def write_wide(path: Path, *lines: str, head: str = "id,eval_score,prod_score,note") -> Path:
    path.write_text("\n".join((head, *(lines or ("q1,1,0,a", "q2,0,1,b")))) + "\n", encoding="utf-8")
    return path


def test_a_column_of_scores_for_each_arm_gives_a_row_for_each(tmp_path: Path) -> None:
    """Every score keeps the number of its row; an empty cell is excluded on its own side alone."""
    path = write_wide(tmp_path / "wide.csv", "q1,1,0,a", "q2,0,,b", "q3,1,1,c")
    rows, imported = read(path, LogOptions(mapping=WIDE_MAP))
    frame = table_from_frame(pd.read_csv(path, dtype={"id": str}), mapping=WIDE_MAP, arms=None)

    assert [(row.task_id, row.arm, row.score, row.place) for row in rows[:4]] == [
        ("q1", "test", 1.0, "row 2"), ("q1", "deploy", 0.0, "row 2"), ("q2", "test", 0.0, "row 3"), ("q2", "deploy", None, "row 3"),
    ]  # fmt: skip
    assert (imported.files[0].found, imported.files[0].scored) == (6, 5)
    assert frame.content == build_row_table(rows, imported, low=0, high=1).content


@pytest.mark.parametrize(
    ("mapping", "code"),
    [
        ({"task": "id", "score.test": "eval_score"}, "bad-option"),
        ({"task": "id", "score.test": "eval_score", "score.deploy": "eval_score"}, "bad-option"),
        ({**WIDE_MAP, "arm": "note"}, "arm-twice"),
        ({**WIDE_MAP, "score": "note"}, "arm-twice"),
        ({**WIDE_MAP, "score.deploy": "prod"}, "column-missing"),
        ({"score.test": "eval_score", "score.deploy": "prod_score"}, "mapping-needed"),
    ],
)
def test_columns_for_arms_that_do_not_fit_are_one_message(tmp_path: Path, mapping: dict[str, str], code: str) -> None:
    """One column, one for both arms, a second source of arm or score, a column or a task that is missing."""
    assert [fault[0] for fault in refuse(write_wide(tmp_path / "wide.csv"), LogOptions(mapping=mapping))] == [code]


def test_a_word_among_wide_scores_names_its_row(tmp_path: Path) -> None:
    """The columns are named together, because a row holds several scores."""
    ((code, where, _),) = refuse(write_wide(tmp_path / "wide.csv", "q1,1,0,a", "q2,maybe,0,b"), LogOptions(mapping=WIDE_MAP))

    assert (code, where) == ("score-not-number", "wide.csv, row 3, column eval_score | prod_score")


@pytest.mark.parametrize(
    ("head", "is_wide"),
    [
        ("id,eval_score,prod_score", True),
        ("id,scoreTest,scoreDeployed", True),
        ("id,latest_score,prod_score", False),
        ("id,test_score,eval_score,prod_score", False),
        ("id,test_score,prod_name", False),
    ],
)
def test_columns_for_arms_are_guessed_only_from_clear_names(tmp_path: Path, head: str, *, is_wide: bool) -> None:
    """A word within a word says nothing, two columns of one side are no guess, and names are no scores."""
    lines = ["q1,1,0,1", "q2,0,1,1"] if head.count(",") == 3 else ["q1,1,zero", "q2,0,one"] if "name" in head else ["q1,1,0", "q2,0,1"]
    guess = guess_columns(read_sheet(write_wide(tmp_path / "wide.csv", *lines, head=head)), has_arm=False)

    assert guess.is_wide is is_wide
    assert guess.is_complete is is_wide


@pytest.mark.parametrize(
    ("item", "task"), [("e{0},P{0}\nd{0},P{0}", "pair_id"), ("i{0},P{0}\ni{0},P{0}", "item_id"), ("e{0},P\nd{0},P", "item_id")]
)
def test_the_two_halves_of_a_pair_are_one_task(tmp_path: Path, item: str, task: str) -> None:
    """The column that both halves share is guessed where their own identifiers are each in one arm; else it is not read."""
    lines = "\n".join(item.format(number) for number in range(5)).splitlines()
    rows = [f"{line},{arm},1" for line, arm in zip(lines, ["Eval", "Prod"] * 5, strict=True)]
    path = tmp_path / "pairs.csv"
    path.write_text("\n".join(["item_id,pair_id,condition,passed", *rows]) + "\n", encoding="utf-8")

    guess = guess_columns(read_sheet(path), has_arm=False)

    assert guess.mapping == {"task": task, "arm": "condition", "score": "passed"}


def test_an_own_table_with_several_properties_is_refused_until_one_is_chosen(tmp_path: Path) -> None:
    """One rate over refusals of harmful and of harmless requests supports no claim."""
    lines = ["task_id,side,score,property,model"]
    lines += [f"{kind}-{task},{side},1,{kind},m-1" for kind in ("harmful", "benign") for task in range(2) for side in ("test", "deploy")]
    path = tmp_path / "scores.csv"
    path.write_text("\n".join(lines))
    own = LogOptions(where={"side": ("test", "deploy")})

    assert refuse(path, own) == [
        (
            "choice-needed",
            "scores.csv, column property",
            "the rows have 2 values: benign, harmful; one rate over all of them supports no claim",
        )
    ]
    rows, imported = read(path, replace(own, where={"property": ("harmful",)}))
    assert len(rows) == 4
    assert imported.provenance.models_returned == ("m-1",)


def test_a_frame_keeps_what_makes_it_doubtful() -> None:
    """It has no account of an import, so the table itself says that failures are scored."""
    frame = pd.DataFrame({"task_id": ["a", "a"], "arm": ["test", "deploy"], "score": [0, 0], "error": ["timeout", None]})

    table = table_from_frame(frame, mapping=None, arms=None)

    assert [doubt.partition(": ")[2] for doubt in table.doubts] == ["1 of 2 scored rows are marked in the column error"]


def test_the_columns_that_could_have_been_the_scores_are_named(tmp_path: Path) -> None:
    """A lock that names none of them leaves the choice open; a count, a constant and a text are no scores."""
    path = tmp_path / "own.csv"
    path.write_text("task_id,arm,score,strict,passed,tokens,run,note\na,test,1,0,0,120,1,good\na,deploy,0,1,0,80,1,bad\n", encoding="utf-8")

    _, imported = read_rows([str(path)], LogOptions())

    assert imported.provenance.scorer == "score"
    assert imported.provenance.other_scorers == ("passed", "strict")
