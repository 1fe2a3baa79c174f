"""Files become one checked table, and every fault is told with its place."""

import csv
import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.errors import TableError
from audit.modules.differential_estimate import estimate
from audit.sources.score_table import read_table
from audit.statistics.responses import ScoreTable, TextColumn
from registry.records.analysis_plan import Plan

HEADER = "task_id,arm,context_id,sample,score"
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(content: str | bytes, name: str = "scores.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


def read(*paths: Path, low: float = 0, high: float = 1) -> ScoreTable:
    return read_table(paths, low=low, high=high)


def refuse(*paths: Path) -> TableError:
    with pytest.raises(TableError) as caught:
        read(*paths)
    return caught.value


def texts(column: TextColumn) -> list[str | None]:
    return [None if code < 0 else column.labels[code] for code in column.codes.tolist()]


def found_codes(error: TableError) -> list[str]:
    return [fault.code for fault in error.faults]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> Path:
    """The same rows in the format that the name says."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    if path.suffix == ".csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(text.getvalue())
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in names}), path)
    return path


ROWS: list[dict[str, Any]] = [
    {"task_id": "007", "arm": "test", "context_id": "c, 1", "sample": "0", "score": 0.25, "excluded_reason": None, "judge": "x"},
    {"task_id": "7", "arm": "test", "context_id": "c, 1", "sample": "0", "score": 1, "excluded_reason": None, "judge": "y"},
    {"task_id": "007", "arm": "deploy", "context_id": 'c "2"', "sample": "a", "score": None, "excluded_reason": "refused", "judge": "z"},
    {"task_id": "ü", "arm": "deploy", "context_id": "c\n3", "sample": "a", "score": 0, "excluded_reason": None, "judge": None},
]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_three_formats_say_the_same(tmp_path: Path, suffix: str) -> None:
    """Texts with commas, quotes, line ends and leading zeros; a missing score with its reason; other columns left out."""
    table = read(write_rows(tmp_path / f"scores{suffix}", ROWS))

    assert texts(table.task) == ["007", "7", "007", "ü"]
    assert texts(table.arm) == ["test", "test", "deploy", "deploy"]
    assert texts(table.context) == ["c, 1", "c, 1", 'c "2"', "c\n3"]
    assert texts(table.sample) == ["0", "0", "a", "a"]
    assert texts(table.excluded) == [None, None, "refused", None]
    assert texts(table.spec) == [None] * 4
    np.testing.assert_array_equal(table.score, [0.25, 1, np.nan, 0])
    assert (table.low, table.high, table.rows) == (0, 1, 4)


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_whole_numbers_are_good_identifiers(tmp_path: Path, suffix: str) -> None:
    """1 and "1" name the same task: identifiers are texts."""
    rows = [{"task_id": task, "side": "test", "context_id": 3, "sample": 0, "score": 1.0} for task in (1, 2)]

    table = read(write_rows(tmp_path / f"scores{suffix}", rows))

    assert (table.task.labels, table.arm.labels, table.context.labels) == (("1", "2"), ("test",), ("3",))


def test_the_digest_is_that_of_the_bytes(write: Write) -> None:
    """Of one file its SHA-256; of several one that does not depend on their order."""
    first, second = write(f"{HEADER}\nt,test,c,0,1\n", "a.csv"), write(f"{HEADER}\nt,deploy,c,0,1\n", "b.csv")

    assert read(first).sha256 == hashlib.sha256(first.read_bytes()).hexdigest()
    assert read(first, second).sha256 == read(second, first).sha256
    assert read(first, second).sha256 not in {read(first).sha256, read(second).sha256}
    assert [file.rows for file in read(first, second).files] == [1, 1]


def test_a_byte_order_mark_is_no_part_of_a_name(write: Write) -> None:
    """As spreadsheets write it, in CSV and JSONL."""
    line = '{"task_id": "t", "arm": "test", "context_id": "c", "sample": 0, "score": 1}\n'

    assert read(write(b"\xef\xbb\xbf" + f"{HEADER}\r\nt,test,c,0,1\r\n".encode())).rows == 1
    assert read(write(b"\xef\xbb\xbf" + line.encode(), "a.jsonl")).rows == 1


def test_all_faults_come_at_once_with_their_rows(write: Write) -> None:
    """One table with one fault of each kind."""
    path = write(
        f"{HEADER},excluded_reason\n"
        "t1,test,c1,0,1,\n"
        "t1,test,c1,0,0,\n"
        "t2,test,c1,0,1.5,\n"
        "t3,test,c1,0,,\n"
        "t4,test,c1,0,nan,\n"
        "t5,test,c1,0,0.5,refused\n"
        "t6,test,,0,0.5,\n"
        " t7,test,c1,0,0.5,\n"
        "t8,test,c1,0,yes,\n"
        "t9,test,c1,0,inf,\n"
    )

    error = refuse(path)

    told = {fault.code: fault.where.removeprefix(str(path)) for fault in error.faults}
    assert told == {
        "duplicate-row": ", row 3",
        "score-out-of-range": ", row 11, column score",
        "score-missing": ", row 5, column score",
        "score-nan": ", row 6, column score",
        "score-and-reason": ", row 7, column excluded_reason",
        "id-empty": ", row 8, column context_id",
        "bad-name": ", row 9, column task_id",
        "score-not-number": ", row 10, column score",
    }
    assert found_codes(error).count("score-out-of-range") == 2
    repeated = next(fault for fault in error.faults if fault.code == "duplicate-row")
    assert repeated.found == f"the key (task_id 't1', arm 'test', context_id 'c1', sample '0') is already in {path}, row 2"


def test_twenty_faults_are_listed_and_the_others_counted(write: Write) -> None:
    """A table of 1,000 texts for scores."""
    path = write(HEADER + "\n" + "".join(f"t{row},test,c,0,pass\n" for row in range(1000)))

    error = refuse(path)

    assert len(error.faults) == 21
    assert error.faults[-1].found == "and 980 more faults like these"


def test_no_kind_of_fault_hides_another(write: Write) -> None:
    """Of 30 padded names and 30 wrong scores and one repeated row, each kind is shown."""
    lines = [f" t{row},test,c,0,2" for row in range(30)]

    error = refuse(write("\n".join([HEADER, *lines, lines[0]])))

    codes = found_codes(error)
    assert len(codes) == 21
    assert set(codes) == {"bad-name", "score-out-of-range", "duplicate-row", "more-faults"}
    assert error.faults[-1].found == "and 43 more faults like these"


def test_a_thousand_copies_of_a_row_are_counted(write: Write) -> None:
    """Also where one key is repeated more often than is listed."""
    error = refuse(write(HEADER + "\n" + "t,test,c,0,1\n" * 1000))

    assert len(error.faults) == 21
    assert error.faults[-1].found == "and 979 more faults like these"


def test_a_row_of_two_files_is_repeated(write: Write) -> None:
    """The fault names both files."""
    first, second = (write(f"{HEADER}\nt,test,c,0,1\n", name) for name in ("a.csv", "b.csv"))

    error = refuse(first, second)

    assert error.faults[0].where == f"{second}, row 2"
    assert error.faults[0].found.endswith(f"{first}, row 2")


def test_a_row_is_found_repeated_among_more_keys_than_can_be_numbered(write: Write) -> None:
    """Four columns of 50,000 texts each: 6 · 10¹⁸ combinations."""
    lines = [f"t{row},a{row},c{row},s{row},1" for row in range(50_000)]

    error = refuse(write("\n".join([HEADER, *lines, lines[7]])))

    assert [fault.where.rpartition(", ")[2] for fault in error.faults] == ["row 50002"]


def test_the_same_key_under_two_specifications_is_two_rows(write: Write) -> None:
    """The specification is part of the key."""
    table = read(write(f"{HEADER},spec\nt,deploy,c,0,1,web\nt,deploy,c,0,1,api\nt,test,c,0,1,\n"))

    assert texts(table.spec) == ["web", "api", None]


def test_rows_are_numbered_as_they_stand_where_lines_are_blank(write: Write) -> None:
    """Blank lines are skipped and still counted; so are lines of JSONL."""
    line = '{"task_id": "t", "arm": "test", "context_id": "c", "sample": 0, "score": 2}'

    assert refuse(write(f"{HEADER}\n\nt,test,c,0,2\n\n")).faults[0].where.endswith("row 3, column score")
    assert refuse(write(f"\n\n{line}\n", "a.jsonl")).faults[0].where.endswith("line 3, column score")


def test_a_reason_makes_nan_a_missing_score(write: Write) -> None:
    """As data frames write it."""
    table = read(write(f"{HEADER},excluded_reason\nt,test,c,0,NaN,timeout\n"))

    assert texts(table.excluded) == ["timeout"]
    assert np.isnan(table.score[0])


@pytest.mark.parametrize(
    ("header", "code", "advice"),
    [
        ("task,arm,context_id,sample,score", "column-missing", "did you mean 'task'? rename it to task_id"),
        ("task_id,Side,context_id,sample,score", "column-missing", "did you mean 'Side'? rename it to arm"),
        ("task_id,context_id,sample,score", "column-missing", "add the column arm (or side)"),
        ("task_id;arm;context_id;sample;score", "column-missing", "separate columns by commas"),
        ("task_id,arm,side,context_id,sample,score", "duplicate-column", "keep one of them"),
        ("task_id,arm,context_id,sample,score,score", "duplicate-column", "keep one of them"),
        (f"{HEADER},specs", "column-typo", "did you mean spec? rename it"),
        (f"{HEADER},exclusion_reason", "column-typo", "did you mean excluded_reason? rename it"),
    ],
)
def test_headers_that_are_nearly_right_are_told(write: Write, header: str, code: str, advice: str) -> None:
    """With the column that was meant, where there is one."""
    values = ";".join("x" * 5) if ";" in header else ",".join("1" * len(header.split(",")))

    fault = refuse(write(f"{header}\n{values}\n")).faults[0]

    assert (fault.code, fault.advice) == (code, advice)


def test_jsonl_takes_either_word_for_the_side_and_not_both(write: Write) -> None:
    """In every row."""
    row = {"task_id": "t", "context_id": "c", "sample": 0, "score": 1}

    good = write(json.dumps(row | {"side": "test"}) + "\n" + json.dumps(row | {"arm": "deploy"}) + "\n", "a.jsonl")
    bad = write(json.dumps(row | {"side": "test", "arm": "test"}) + "\n", "b.jsonl")

    assert read(good).arm.labels == ("deploy", "test")
    assert found_codes(refuse(bad)) == ["duplicate-column"]


def test_a_key_that_stands_twice_in_a_line_is_told(write: Write) -> None:
    """JSON readers keep the last one without a word; keys inside other objects, and texts that look like keys, are no such thing."""
    good = '{"task_id":"a","arm":"test","context_id":"c","sample":0,"score" : 1,"note":"\\"score\\": 0","meta":{"score":1,"arm":"x"}}\n'
    bad = '{"task_id":"a","arm":"deploy","context_id":"c","sample":0,"score":0,"meta":{},"score":1}\n'

    refused = refuse(write(good + bad, "scores.jsonl"))

    assert found_codes(refused) == ["duplicate-column"]
    assert refused.faults[0].where.endswith("line 2, column score")


def test_jsonl_faults_are_told_by_line(write: Write) -> None:
    """What is no JSON, no object, no identifier, no number; NaN is told apart."""
    row = '{"task_id": %s, "arm": "test", "context_id": "c", "sample": 0, "score": %s}\n'

    broken = refuse(write("{\n[1]\n" + row % ('"t"', "NaN") + row % ("1.5", "1"), "a.jsonl"))
    scores = refuse(write(row % ('"a"', '"1"') + row % ('"b"', "true") + row % ('"d"', "1" * 19), "b.jsonl"))

    assert found_codes(broken) == ["not-json", "not-json", "not-json", "bad-name"]
    assert broken.faults[2].found == "NaN is not JSON; write null"
    assert broken.faults[3].where.endswith("line 4, column task_id")
    assert [(fault.code, fault.where.rpartition(", column")[0][-6:]) for fault in scores.faults] == [
        ("score-not-number", "line 1"),
        ("score-not-number", "line 2"),
        ("score-out-of-range", "line 3"),
    ]


def test_a_missing_column_of_jsonl_is_told(write: Write) -> None:
    """When no row has it."""
    line = json.dumps({"task_id": "t", "arm": "test", "context": "c", "sample": 0, "score": 1}) + "\n"

    error = refuse(write(line, "a.jsonl"))

    assert error.faults[0].advice == "did you mean 'context'? rename it to context_id"


@pytest.mark.parametrize(
    ("content", "name", "code"),
    [
        (b"", "a.csv", "table-empty"),
        (b"", "a.jsonl", "table-empty"),
        (b"\n\n", "a.jsonl", "table-empty"),
        (f"{HEADER}\n".encode(), "a.csv", "table-empty"),
        (b"\n", "a.csv", "file-not-readable"),
        (b"PAR1 and no more", "a.parquet", "file-not-readable"),
        (b"PAR1 and no more", "a.csv", "file-not-readable"),
        (f"{HEADER}\nt,test,c,0,1\n".encode(), "a.parquet", "file-not-readable"),
        (f"{HEADER}\nt,test,c,0,1\n".encode("utf-16"), "a.csv", "file-not-readable"),
        (f"{HEADER}\n\xfc,test,c,0,1\n".encode("latin-1"), "a.csv", "file-not-readable"),
        (b"\x1f\x8b\x08\x00 packed", "a.csv", "file-not-readable"),
        (b"PK\x03\x04 packed", "a.csv", "file-not-readable"),
        (f"{HEADER}\nt,test,c,0,1\n".encode(), "a.txt", "unknown-format"),
        (f"{HEADER}\nt,test,c,0,1\n".encode(), "table", "unknown-format"),
    ],
)
def test_files_that_are_not_what_they_claim_are_refused(write: Write, content: bytes, name: str, code: str) -> None:
    """One fault each, never another kind of exception."""
    assert found_codes(refuse(write(content, name))) == [code]


def test_a_row_of_the_wrong_length_is_told_with_its_number(write: Write) -> None:
    """A comma too many, a field too few."""
    error = refuse(write(f"{HEADER}\nt1,test,c,0,1\nt2,test,c,0,1,9\nt3,test\n"))

    assert [fault.where[-5:] for fault in error.faults] == ["row 3", "row 4"]
    assert "expected 5 fields, found 6" in error.faults[0].found


def test_many_broken_rows_are_bounded(write: Write) -> None:
    """Twenty are shown."""
    error = refuse(write(HEADER + "\n" + "t1,test\n" * 100))

    assert len(error.faults) == 21


def test_faults_of_every_file_are_told(write: Write, tmp_path: Path) -> None:
    """One that is absent, one that is empty."""
    error = refuse(tmp_path / "absent.csv", write(""))

    assert found_codes(error) == ["file-not-readable", "table-empty"]


def test_no_file_and_no_range_are_refused(write: Write) -> None:
    """An empty list, a range from high to low, and one whose squares no number holds."""
    path = write(f"{HEADER}\nt,test,c,0,1\n")

    assert found_codes(refuse()) == ["bad-option"]
    for low, high in ((1.0, 0.0), (0.0, float("inf")), (float("nan"), 1.0), (-1e308, 1e308), (0.0, 1e300), (0.0, 5e-324)):
        with pytest.raises(TableError, match="bad-range"):
            read(path, low=low, high=high)


def test_parquet_columns_of_the_wrong_kind_are_told(tmp_path: Path) -> None:
    """Decimals for identifiers, truth values for scores."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"task_id": [1.5], "arm": ["test"], "context_id": ["c"], "sample": [0], "score": [True]}), path)

    error = refuse(path)

    assert found_codes(error) == ["bad-name", "score-not-number"]
    assert error.faults[1].advice == "write 1 and 0"


def test_parquet_may_hold_dictionaries_texts_and_nothing(tmp_path: Path) -> None:
    """Categories for identifiers, texts for scores, a spec column of nulls."""
    path = tmp_path / "a.parquet"
    columns = {
        "task_id": pa.array(["a", "b", "a"]).dictionary_encode(),
        "arm": ["test", "test", "deploy"],
        "context_id": pa.array(["c"] * 3, type=pa.large_string()),
        "sample": [0, 0, 0],
        "score": ["1", " 0.5 ", "0"],
        "spec": pa.nulls(3),
    }
    pq.write_table(pa.table(columns), path)

    table = read(path)

    assert table.score.tolist() == [1, 0.5, 0]
    assert texts(table.task) == ["a", "b", "a"]
    assert table.spec.labels == ()


def test_parquet_may_hold_categories_for_scores_and_empty_texts(tmp_path: Path) -> None:
    """An empty text is nothing: no specification, no score."""
    path = tmp_path / "a.parquet"
    columns = {
        "task_id": ["a", "b"],
        "arm": ["test", "test"],
        "context_id": ["c", "c"],
        "sample": [0, 0],
        "score": pa.array(["1", ""]).dictionary_encode(),
        "spec": ["", ""],
        "excluded_reason": ["", "cut off"],
    }
    pq.write_table(pa.table(columns), path)

    table = read(path)

    assert texts(table.spec) == [None, None]
    assert texts(table.excluded) == [None, "cut off"]
    assert table.score[0] == 1


def test_broken_lines_of_jsonl_are_bounded(write: Write) -> None:
    """Twenty are listed, the others counted."""
    error = refuse(write("no json\n" * 100, "a.jsonl"))

    assert len(error.faults) == 21
    assert error.faults[-1].found == "and 80 more faults like these"


def test_jsonl_scores_that_are_no_numbers_are_bounded_too(write: Write) -> None:
    """Twenty are listed."""
    rows = [{"task_id": row, "arm": "test", "context_id": "c", "sample": 0, "score": "pass"} for row in range(100)]

    error = refuse(write("".join(json.dumps(row) + "\n" for row in rows), "a.jsonl"))

    assert error.faults[-1].found == "and 80 more faults like these"


CELLS = st.text(st.sampled_from("ab ,\"';\n\t0.1naNé-"), max_size=6)


@given(rows=st.lists(st.tuples(CELLS, CELLS, CELLS, CELLS, CELLS), max_size=6), data=st.binary(max_size=30))
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_stands_in_a_file_the_answer_is_a_table_or_its_faults(write: Write, rows: list[tuple[str, ...]], data: bytes) -> None:
    """No other exception comes out, for random fields and random bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER.split(","))
    writer.writerows(rows)
    for path in (write(text.getvalue()), write(data, "b.csv"), write(data, "c.jsonl"), write(b"PAR1" + data, "d.parquet")):
        try:
            table = read(path)
        except TableError as error:
            assert error.faults
        else:
            assert table.rows > 0


def test_the_order_of_rows_and_files_does_not_reach_the_estimate(write: Write) -> None:
    """Shuffled and split, a table gives an equal record."""
    rng = np.random.default_rng(12)
    lines = [f"t{task},{arm},c{context},0,{rng.random()}" for task in range(20) for arm in ("test", "deploy") for context in range(5)]
    shuffled = rng.permutation(lines).tolist()
    whole = read(write("\n".join([HEADER, *lines]), "a.csv"))

    parts = read(*(write("\n".join([HEADER, *part]), name) for part, name in ((shuffled[:70], "b.csv"), (shuffled[70:], "c.csv"))))

    assert estimate(parts, Plan(), range_=(0, 1)) == estimate(whole, Plan(), range_=(0, 1))
