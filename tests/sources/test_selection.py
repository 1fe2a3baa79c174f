"""A file that holds more than one table could use: which rows and which score column are taken."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit.errors import TableError
from audit.sources.score_columns import ColumnSelection
from audit.sources.score_table import read_columns, read_table

MODELS = ("alpha-7b", "beta-7b")
ROWS: list[dict[str, Any]] = [
    {
        "task_id": f"t{task}",
        "side": side,
        "context_id": "c",
        "sample": 0,
        "score": 0.0,
        "model": model,
        "lexicon": (task + place) / 4,
        "tokens": 100 * task + 10 * place + (side == "test"),
    }
    for task in range(3)
    for side in ("test", "deploy")
    for place, model in enumerate(MODELS)
]
FORMATS = (".csv", ".jsonl", ".parquet")


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    if path.suffix == ".csv":
        text = io.StringIO()
        writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(text.getvalue())
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def refuse(path: Path, **options: Any) -> list[Any]:
    with pytest.raises(TableError) as caught:
        read_table([path], low=0, high=1, **options)
    return list(caught.value.faults)


@pytest.mark.parametrize("suffix", FORMATS)
def test_rows_are_chosen_by_any_column_of_the_file(tmp_path: Path, suffix: str) -> None:
    """One that is none of ours, and one of ours; the score column too has a name of its own."""
    path = write(tmp_path / f"scores{suffix}", ROWS)

    table = read_table([path], low=0, high=1, score="lexicon", where={"model": ["beta-7b"], "task_id": ["t0", "t2"]})

    assert table.task.labels == ("t0", "t2")
    np.testing.assert_array_equal(table.score, [0.25, 0.25, 0.75, 0.75])


@pytest.mark.parametrize("suffix", FORMATS)
def test_arm_and_side_are_one_column_here_too(tmp_path: Path, suffix: str) -> None:
    """Whichever of the two words the file has, either chooses rows by it."""
    path = write(tmp_path / f"scores{suffix}", [row for row in ROWS if row["model"] == "alpha-7b"])

    first, second = (read_table([path], low=0, high=1, where={name: ["test"]}) for name in ("arm", "side"))

    assert first.content == second.content
    assert first.rows == 3


@pytest.mark.parametrize("suffix", FORMATS)
def test_repeated_keys_name_the_column_that_tells_rows_apart(tmp_path: Path, suffix: str) -> None:
    """Two models in one file is the usual reason; the number of tokens also differs, and no one chooses rows by that."""
    rows = [row | {"tokens": number} for number, row in enumerate(ROWS * 20)]
    for number, row in enumerate(rows):
        row["sample"] = number // len(ROWS)

    faults = refuse(write(tmp_path / f"scores{suffix}", rows))

    assert {fault.code for fault in faults} == {"duplicate-row", "more-faults"}
    assert faults[0].advice == "rows differ in model: keep one with --where model=… (model is alpha-7b, beta-7b)"


def test_a_column_that_is_no_text_is_passed_over_and_refused_when_asked_for(tmp_path: Path) -> None:
    """Lists and raw bytes tell no one's rows apart; the plain advice remains."""
    path = tmp_path / "scores.parquet"
    rows = [{name: row[name] for name in ("task_id", "side", "context_id", "sample", "score")} for row in ROWS]
    pq.write_table(pa.Table.from_pylist([row | {"raw": bytes([200, number]), "list": [number]} for number, row in enumerate(rows)]), path)

    assert refuse(path)[0].advice == "give each response its own sample, or remove one"
    assert [fault.code for fault in refuse(path, where={"raw": ["x"]})] == ["bad-name"]


def test_a_repeated_row_beside_two_models_gets_the_plain_advice(tmp_path: Path) -> None:
    """Choosing a model would leave a row that stands twice."""
    rows = [{name: row[name] for name in ("task_id", "side", "context_id", "sample", "score", "model")} for row in ROWS]

    assert refuse(write(tmp_path / "scores.csv", [*rows, rows[0]]))[0].advice == "give each response its own sample, or remove one"


def test_two_columns_are_named_where_one_does_not_tell_rows_apart(tmp_path: Path) -> None:
    """And a column that differs without being needed is not named."""
    rows = [row | {"prompt": prompt, "same": "x"} for row in ROWS for prompt in ("p", "q")]

    faults = refuse(write(tmp_path / "scores.csv", [{k: v for k, v in row.items() if k not in ("tokens", "lexicon")} for row in rows]))

    assert faults[0].advice is not None
    assert "--where model=…" in faults[0].advice
    assert "--where prompt=…" in faults[0].advice
    assert "same" not in faults[0].advice


def test_rows_that_repeat_in_every_column_get_the_plain_advice(tmp_path: Path) -> None:
    """Choosing rows would not help."""
    faults = refuse(write(tmp_path / "scores.csv", [ROWS[0], ROWS[0]]))

    assert faults[0].advice == "give each response its own sample, or remove one"


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize(
    ("options", "code", "advice"),
    [
        ({"where": {"modle": ["alpha-7b"]}}, "column-missing", "did you mean model?"),
        ({"where": {"model": ["alpha"]}}, "unknown-name", "did you mean alpha-7b?"),
        ({"score": "lexicn"}, "column-missing", "did you mean lexicon?"),
        ({"where": {"model": [""]}}, "unknown-name", "use one of the names that exist"),
        ({"where": {"task_id": ["t0"], "tokens": ["201"]}}, "nothing-selected", "give fewer conditions"),
    ],
)
def test_what_is_not_there_is_told_with_what_is(tmp_path: Path, suffix: str, options: Any, code: str, advice: str | None) -> None:
    """A misspelt column or value never means all rows, or none."""
    faults = refuse(write(tmp_path / f"scores{suffix}", ROWS), **options)

    assert [(fault.code, fault.advice) for fault in faults] == [(code, advice)]


@pytest.mark.parametrize("suffix", FORMATS)
def test_rows_excluded_are_not_checked_and_the_others_keep_their_numbers(tmp_path: Path, suffix: str) -> None:
    """A score of 7 in the other model's rows is none of our business; one in ours is told with its place in the file."""
    rows = [row | {"score": 7.0 if row["model"] == "alpha-7b" else row["score"]} for row in ROWS]
    rows[5]["score"] = 9.0
    path = write(tmp_path / f"scores{suffix}", rows)

    faults = refuse(path, where={"model": ["beta-7b"]})

    number = {".csv": "row 7", ".jsonl": "line 6", ".parquet": "row 6"}[suffix]
    assert [fault.where for fault in faults] == [f"{path}, {number}, column score"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_an_empty_value_stands_for_an_empty_field(tmp_path: Path, suffix: str) -> None:
    """Rows that name no model can be asked for."""
    rows = [row | {"model": None if row["model"] == "alpha-7b" else row["model"]} for row in ROWS]

    table = read_table([write(tmp_path / f"scores{suffix}", rows)], low=0, high=1, score="lexicon", where={"model": [""]})

    assert table.rows == 6


def test_a_value_in_one_of_two_files_is_enough(tmp_path: Path) -> None:
    """Files may hold one model each."""
    paths = [write(tmp_path / f"{model}.csv", [row for row in ROWS if row["model"] == model]) for model in MODELS]

    table = read_table(paths, low=0, high=1, score="lexicon", where={"model": ["alpha-7b"]})

    assert [file.rows for file in table.files] == [6, 0]


@pytest.mark.parametrize("suffix", FORMATS)
def test_columns_of_any_kind_come_beside_the_table(tmp_path: Path, suffix: str) -> None:
    """Row for row, as texts."""
    path = write(tmp_path / f"scores{suffix}", ROWS)

    table, columns = read_columns([path], ColumnSelection(where={"model": ["beta-7b"]}, also=("tokens", "score")), low=0, high=1)

    assert [columns["tokens"].labels[code] for code in columns["tokens"].codes] == [str(row["tokens"]) for row in ROWS[1::2]]
    assert {float(label) for label in columns["score"].labels} == {0.0}
    assert table.rows == 6


@pytest.mark.parametrize("suffix", FORMATS)
def test_weights_may_be_fractions(tmp_path: Path, suffix: str) -> None:
    """A weight is a number, whatever the format."""
    rows = [row | {"weight": 1.5} for row in ROWS if row["model"] == "alpha-7b"]

    table = read_table([write(tmp_path / f"scores{suffix}", rows)], low=0, high=1)

    assert table.weight is not None
    assert table.weight.labels == ("1.5",)


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("name", ["model", "property", "metric"])
def test_rows_of_several_models_or_properties_make_no_rate_until_the_user_chooses(tmp_path: Path, suffix: str, name: str) -> None:
    """Different tasks for each kind repeat no key, so nothing else would show that two questions are pooled."""
    rows = [{**row, "task_id": f"{row['model']}-{row['task_id']}"} for row in ROWS]
    path = write(tmp_path / f"scores{suffix}", [{(name if key == "model" else key): value for key, value in row.items()} for row in rows])

    (fault,) = refuse(path)

    assert (fault.code, fault.advice) == ("choice-needed", f"choose one with --where {name}=alpha-7b")
    assert "the rows have 2 values: alpha-7b, beta-7b" in fault.found
    assert read_table([path], low=0, high=1, where={name: ["alpha-7b"]}).rows == 6
    assert read_table([path], low=0, high=1, where={name: list(MODELS)}).rows == 12
