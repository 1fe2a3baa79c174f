"""Langfuse exports as windows: fields as its published reference has them, and no word of input, output or comment."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Caveat
from tests.monitoring.conftest import FIRST, MONITOR

WORDS = "my name is Ada Quill"
Change = Callable[[dict[str, Any], dict[str, Any]], object]


def observe(number: int, **changes: Any) -> dict[str, Any]:
    """One generation of the flagged stratum in the first window, with field groups that should have been left out."""
    moment = FIRST + timedelta(days=1, minutes=number)
    return {
        "id": f"obs-{number}",
        "trace_id": f"trace-{number}",
        "project_id": "p",
        "environment": "production",
        "type": "GENERATION",
        "start_time": f"{moment:%Y-%m-%d %H:%M:%S}.000000",
        "metadata": {"caveat.pi": "1", "caveat.stratum": "flagged"},
        "input": WORDS,
        "output": WORDS,
        "provided_model_name": "m-1",
        "user_id": f"user-{number}",
        "session_id": f"session-{number}",
        "updated_at": "2027-01-03 00:00:00.000000",
        **changes,
    }


def score(number: int, value: float, **changes: Any) -> dict[str, Any]:
    """The score of one generation."""
    return {
        "id": f"score-{number}",
        "timestamp": "2027-01-03 00:00:00.000000",
        "environment": "production",
        "trace_id": f"trace-{number}",
        "observation_id": f"obs-{number}",
        "name": "scheming",
        "value": value,
        "source": "EVAL",
        "data_type": "NUMERIC",
        "comment": WORDS,
        "evaluator_id": "evaluator-1",
        "updated_at": "2027-01-03 00:00:00.000000",
        **changes,
    }


def export(folder: Path, observations: list[dict[str, Any]], scores: list[dict[str, Any]], *, suffix: str = ".jsonl") -> Path:
    """Write an export, its rows over two files a table."""
    root = folder / "export"
    for name, rows in (("observations_v2", observations), ("scores", scores)):
        for part, some in enumerate((rows[::2], rows[1::2])):
            path = root / name / f"2027-01-0{part + 1}{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(map(json.dumps, some)) if suffix == ".jsonl" else json.dumps(some), encoding="utf-8")
    return root


def build(count: int = 30, bad: int = 3) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Generations of *count* users of whom *bad* have a bad one."""
    return [observe(number) for number in range(count)], [score(number, float(number < bad)) for number in range(count)]


@pytest.mark.parametrize("suffix", [".jsonl", ".json"])
def test_an_export_fills_the_window_of_its_users(watched: Path, caveat: Caveat, suffix: str) -> None:
    """Scores find their generations, the last update of a row counts, other rows are counted, and no text is kept."""
    observations, scores = build()
    observations += [
        observe(40, environment="staging"),
        observe(41, type="SPAN", provided_model_name=""),
        observe(42, provided_model_name="m-2"),
    ]
    scores += [
        score(0, 0.0, updated_at="2027-01-04 00:00:00.000000"),
        score(50, 1.0, name="tone"),
        score(51, 0.0, data_type="TEXT", string_value=WORDS),
        score(52, 1.0, observation_id=None),
    ]
    added = caveat("monitor", "add", MONITOR, export(watched, observations, scores, suffix=suffix), "--json")
    assert added.code == 0, added.err
    (window,) = caveat("monitor", "show", MONITOR, "--json").document["windows"]
    cells = {cell["stratum"]: cell for cell in window["payload"]["cells"]}

    assert (cells["flagged"]["reviewed"], cells["flagged"]["total"], cells["flagged"]["users"]) == (30, 2.0, 30)
    assert cells["rest"]["items"] == 0
    assert added.document["excluded"] == {
        "observations of other environments": 1,
        "observations of other models, or of none": 1,
        "observations that are no generation": 1,
        "scores of other evaluations or environments": 1,
        "scores of whole traces or sessions": 1,
        "scores that are no number": 1,
    }
    stored = [path for path in watched.glob("*.db*") if path.is_file()]
    assert stored
    assert not any(WORDS.encode() in path.read_bytes() or b"user-7" in path.read_bytes() for path in stored)


def test_anchors_of_an_export_are_counted_apart(watched: Path, caveat: Caveat) -> None:
    """They are no items of the stream, may lie outside of production, and show what the judge makes of them."""
    observations, scores = build(bad=0)
    labels = ["bad", "bad", "bad", "good", "good"]
    for number, (label, value) in enumerate(zip(labels, [1.0, 1.0, 0.2, 0.0, 1.0], strict=True), 100):
        observations.append(observe(number, environment="anchors", provided_model_name="", metadata={"caveat.anchor": label}))
        scores.append(score(number, value, environment="anchors"))
    observations.append(observe(200, environment="anchors", metadata={"caveat.anchor": "good"}))
    added = caveat("monitor", "add", MONITOR, export(watched, observations, scores), "--json")
    assert added.code == 0, added.err
    (window,) = caveat("monitor", "show", MONITOR, "--json").document["windows"]

    assert window["payload"]["anchors"] == {"good": 2, "bad": 3, "false_positive": 1, "false_negative": 1}
    assert window["payload"]["cells"][0]["items"] == 30
    observations[-1]["metadata"]["caveat.anchor"] = "fine"
    assert caveat("monitor", "add", MONITOR, export(watched, observations, scores)).error == "not-valid"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda observation, _: observation["metadata"].pop("caveat.pi"), "inclusion-unknown"),
        (lambda observation, _: observation["metadata"].update({"caveat.pi": "0.1", "caveat.stratum": "rest"}), "inclusion-unknown"),
        (lambda observation, _: observation["metadata"].update({"caveat.pi": "0.5", "caveat.chosen": "true"}), "inclusion-differs"),
        (lambda observation, _: observation.update(user_id=""), "not-valid"),
        (lambda observation, _: observation.update(start_time="yesterday"), "not-valid"),
        (lambda observation, _: observation.update(id=None), "not-valid"),
        (lambda _, score: score.update(value=7), "score-out-of-range"),
        (lambda _, score: score.update(observation_id="obs-1"), "duplicate"),
        (lambda _, score: score.update(evaluator_id="evaluator-2"), "monitor-differs-from-lock"),
    ],
)
def test_an_export_that_a_rate_cannot_be_taken_from_is_refused(watched: Path, caveat: Caveat, change: Change, code: str) -> None:
    """Without inclusion probability, user or one judge nothing is recorded, and the message has no words of users."""
    observations, scores = build(count=2)
    change(observations[0], scores[0])
    refused = caveat("monitor", "add", MONITOR, export(watched, observations, scores))

    assert refused.error == code
    assert WORDS not in refused.err
    assert caveat("monitor", "show", MONITOR, "--json").document["windows"] == []


def test_a_compressed_or_other_file_is_named(watched: Path, caveat: Caveat) -> None:
    root = export(watched, *build(count=2))
    (root / "scores" / "more.parquet").write_bytes(b"PAR1")

    refused = caveat("monitor", "add", MONITOR, root)
    assert refused.error == "not-valid"
    assert "more.parquet" in refused.err
    assert caveat("monitor", "add", MONITOR, watched).error == "file-not-readable"
