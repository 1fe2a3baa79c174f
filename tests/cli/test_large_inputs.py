"""Files far larger than anybody writes are refused before work is done on them: by size, number of claims, and columns."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from audit.sources import arrow
from audit.sources.score_columns import LONGEST_HEADER, MOST_COLUMNS
from registry.codec.file_io import LARGEST_YAML_BYTES
from registry.registration.claims_file_registration import MOST_CLAIMS
from tests.cli.conftest import Answer, Caveat

OURS = "task_id,arm,context_id,sample,score"


def check(answer: Answer, code: str) -> None:
    """It is refused for being too large, in one fault, and nothing else was tried."""
    assert (answer.code, answer.error) == (2, code), answer.err
    assert answer.err.count(code) == 1


def test_yaml_is_read_up_to_a_size(caveat: Caveat, tmp_path: Path) -> None:
    """YAML takes a hundred times longer to read than JSON, so its limit is lower, and the message says what to do."""
    caveat("init", "--example")
    (tmp_path / "large.yaml").write_text("claims:\n" + "- quote: x\n" * (LARGEST_YAML_BYTES // 10), encoding="utf-8")

    refused = caveat("claim", "add", "large.yaml")

    check(refused, "file-too-large")
    assert "write it as JSON" in refused.err


def test_claims_in_one_document_are_counted_first(caveat: Caveat, tmp_path: Path) -> None:
    """Each claim of it would be read, and told for its faults; a file of lines is read claim by claim instead."""
    caveat("init", "--example")
    (tmp_path / "many.json").write_text(json.dumps({"claims": [{}] * (MOST_CLAIMS + 1)}), encoding="utf-8")

    refused = caveat("claim", "add", "many.json")

    check(refused, "file-too-large")
    assert "10,001 claims in one file" in refused.err


@pytest.mark.parametrize("name", ["wide.csv", "long.csv", "wide.jsonl", "long.jsonl", "wide.parquet"])
def test_tables_with_too_many_columns_are_refused_by_their_header(caveat: Caveat, tmp_path: Path, name: str) -> None:
    """In every form of a table, and before a row is read."""
    names = [f"c{number}" for number in range(MOST_COLUMNS + 1)]
    path = tmp_path / name
    match name:
        case "wide.csv":
            path.write_text(f"{OURS},{','.join(names)}\n", encoding="utf-8")
        case "long.csv":
            path.write_text(f"{OURS},{'x' * LONGEST_HEADER}\n", encoding="utf-8")
        case "wide.jsonl":
            path.write_text(json.dumps(dict.fromkeys(names, 1)) + "\n", encoding="utf-8")
        case "long.jsonl":
            path.write_text(json.dumps({"a": "x" * 20_000_001}) + "\n", encoding="utf-8")
        case _:
            pq.write_table(pa.table({one: [1] for one in names}), path)

    check(caveat("analyze", "estimate", name), "table-too-wide")


def test_a_long_description_of_parquet_columns_is_not_read(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of the file says how long it is, and that is read first."""
    pq.write_table(pa.table({"score": [1.0]}), tmp_path / "scores.parquet")
    monkeypatch.setattr(arrow, "_LONGEST_FOOTER", 100)

    refused = caveat("analyze", "estimate", "scores.parquet")

    check(refused, "table-too-wide")
    assert "the description of its columns has" in refused.err
