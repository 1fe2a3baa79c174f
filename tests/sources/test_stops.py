"""Whether a response was truncated or refused is read from any format, and what says neither yes nor no is refused."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit.errors import TableError
from audit.sources.score_table import read_table
from audit.statistics.responses import ScoreTable, TextColumn

BASE = {"arm": "test", "context_id": "c", "sample": "0", "score": 1.0}


def write(path: Path, rows: list[dict[str, object]]) -> ScoreTable:
    full = [{"task_id": f"t{number}", **BASE, **row} for number, row in enumerate(rows)]
    names = list(dict.fromkeys(name for row in full for name in row))
    if path.suffix == ".parquet":
        pq.write_table(pa.table({name: [row.get(name) for row in full] for name in names}), path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in full))
    else:
        path.write_text("\n".join([",".join(names), *(",".join(str(row.get(name, "")) for name in names) for row in full)]) + "\n")
    return read_table([path], low=0, high=1)


def texts(column: TextColumn | None) -> list[str | None]:
    assert column is not None
    return [None if code < 0 else column.labels[code] for code in column.codes.tolist()]


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize(("yes", "no"), [("yes", "no"), ("1", "0"), ("True", "false")])
def test_yes_and_no_are_read_in_their_usual_spellings(tmp_path: Path, ending: str, yes: str, no: str) -> None:
    """A truncated response is settled only where the table says so; an empty field says nothing."""
    rows: list[dict[str, object]] = [{"truncated": yes, "settled": yes}, {"truncated": yes}, {"truncated": no, "settled": yes}, {}]
    table = write(tmp_path / f"t.{ending}", [{"truncated": "", "settled": "", **row} for row in rows])

    assert texts(table.truncated) == ["settled", "yes", "no", None]


@pytest.mark.parametrize("ending", ["parquet", "jsonl"])
def test_truth_values_are_yes_and_no(tmp_path: Path, ending: str) -> None:
    """Formats that have truth values may use them."""
    table = write(tmp_path / f"t.{ending}", [{"truncated": True, "refused": False}, {"truncated": False, "refused": True}])

    assert texts(table.truncated) == ["yes", "no"]
    assert texts(table.refused) == ["no", "yes"]


def test_the_reason_to_stop_answers_where_nothing_else_does(tmp_path: Path) -> None:
    """Known reasons of three interfaces are read, an unknown one says nothing, and a stated answer wins."""
    reasons = ["max_tokens", "length", "end_turn", "refusal", "who knows", "max_tokens"]
    table = write(
        tmp_path / "t.csv", [{"stop_reason": reason, "truncated": "no" if place == 5 else ""} for place, reason in enumerate(reasons)]
    )

    assert texts(table.truncated) == ["yes", "yes", "no", "no", None, "no"]
    assert texts(table.refused) == ["no", "no", "no", "yes", None, "no"]


def test_a_table_without_a_word_on_it_states_nothing(tmp_path: Path) -> None:
    """Silence is not "no"."""
    table = write(tmp_path / "t.csv", [{}, {}])

    assert (table.truncated, table.refused) == (None, None)


@pytest.mark.parametrize("name", ["truncated", "settled", "refused"])
def test_a_word_that_is_neither_is_refused_with_its_place(tmp_path: Path, name: str) -> None:
    """A typing error must not count as no."""
    with pytest.raises(TableError) as caught:
        write(tmp_path / "t.csv", [{"truncated": "yes", name: "yes"}, {"truncated": "no", name: "perhaps"}])

    (fault,) = caught.value.faults
    assert fault.code == "bad-flag"
    assert f"row 3, column {name}" in fault.where


def test_settled_needs_to_know_what_was_truncated(tmp_path: Path) -> None:
    """It says of truncated responses that their scores stay."""
    with pytest.raises(TableError) as caught:
        write(tmp_path / "t.csv", [{"settled": "yes"}])

    assert caught.value.code == "settled-without-truncated"
