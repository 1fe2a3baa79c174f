"""Score tables from compact recipes: the same recipe gives the same rows, without chance.

A recipe names tasks and, for each side, contexts and the share of responses that score 1. The ones are spread evenly over tasks and
contexts.
"""

import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.sources.eval_archive import build_archive, build_header, list_members
from tests.spelling import spell

Row = dict[str, Any]
Cell = tuple[int, int, int]
"""Numbers of task, context and sample."""

_STEPS = (0.6180339887498949, 0.7548776662466927, 0.5698402909980532)

TRUNCATED, SETTLED = "truncated", "settled"
"""Columns of 0 and 1: the response was truncated; its score can no longer change."""

COLUMNS = (
    "task_id",
    "arm",
    "context_id",
    "sample",
    "score",
    "spec",
    "judge",
    "excluded_reason",
    "weight",
    TRUNCATED,
    SETTLED,
    "model_returned",
)


def build_rows(recipe: dict[str, Any]) -> list[Row]:
    """Return the rows of *recipe*, in a fixed order; a column without a value is absent."""
    judges = recipe.get("judges")
    if judges:
        return [{**row, "judge": name} for name, part in judges.items() for row in build_rows({**recipe, "judges": None, **part})]
    rows = list(_build_side(recipe, "test", None, recipe.get("test")))
    specs = recipe["specs"] if "specs" in recipe else {None: recipe.get("deploy")}
    for name, side in specs.items():
        rows += _build_side(recipe, "deploy", name, side)
    return rows


def _build_side(recipe: dict[str, Any], arm: str, spec: str | None, side: dict[str, Any] | None) -> Iterator[Row]:
    """Give the rows of one side; none where the recipe leaves the side out."""
    if side is None:
        return
    first, last = side.get("tasks", (0, recipe.get("tasks", 40)))
    contexts = _name_contexts(side, arm, spec)
    samples = recipe.get("samples", 1)
    cells = [(task, place, sample) for task in range(first, last) for place in range(len(contexts)) for sample in range(samples)]
    scores = _spread(side, cells)
    marks = _mark_rows(side, scores)
    for number, (task, place, sample) in enumerate(cells):
        row: Row = {
            "task_id": f"t{task}",
            "arm": arm,
            "context_id": f"{contexts[place]}-of-t{task}" if recipe.get("nested") else contexts[place],
            "sample": sample,
            "score": scores[number],
        }
        row |= {"spec": spec} if spec else {}
        if model := side.get("model_returned", recipe.get("model_returned")):
            row["model_returned"] = model
        if "weights" in recipe:
            row["weight"] = recipe["weights"][task] if task < len(recipe["weights"]) else 1
        yield row | marks[number]


def _name_contexts(side: dict[str, Any], arm: str, spec: str | None) -> list[str]:
    contexts = side.get("contexts", 8)
    return contexts if isinstance(contexts, list) else [f"{spec or arm}{number}" for number in range(contexts)]


def _spread(side: dict[str, Any], cells: list[Cell]) -> list[float]:
    """Return the scores: one value for all, a share of ones, or a share for each context or for each of equal groups of tasks."""
    if "value" in side:
        return [float(side["value"])] * len(cells)
    if "context_rates" in side:
        return _spread_groups(cells, [context for _, context, _ in cells], side["context_rates"])
    if "task_rates" in side:
        rates, first = side["task_rates"], cells[0][0]
        count = cells[-1][0] - first + 1
        return _spread_groups(cells, [(task - first) * len(rates) // count for task, _, _ in cells], rates)
    return _sprinkle(cells, side["rate"])


def _spread_groups(cells: list[Cell], groups: list[int], rates: list[float]) -> list[float]:
    """Spread each group's share of ones over its own cells."""
    scores = [0.0] * len(cells)
    for group, rate in enumerate(rates):
        places = [number for number, one in enumerate(groups) if one == group]
        for number, score in zip(places, _sprinkle([cells[number] for number in places], rate), strict=True):
            scores[number] = score
    return scores


def _sprinkle(cells: list[Cell], rate: float) -> list[float]:
    """Return scores of 0 and 1 whose mean is *rate* up to rounding: about the same share in each task and each context.

    Cells are ranked by an additive recurrence with irrational steps (Roberts 2018), which fills rows and columns evenly.
    """
    ranks = sorted(range(len(cells)), key=lambda number: sum(step * one for step, one in zip(_STEPS, cells[number], strict=True)) % 1.0)
    ones = set(ranks[: round(rate * len(cells))])
    return [float(number in ones) for number in range(len(cells))]


def _mark_rows(side: dict[str, Any], scores: list[float]) -> list[Row]:
    """Return what rows carry beside their score: truncated responses first, then exclusions.

    Without a share no response is truncated, and the table says so; null: the table says nothing of it.
    """
    marks: list[Row] = [{} for _ in scores]
    truncated = side.get("truncated", 0)
    if truncated is not None:
        chosen = _choose(scores, truncated)
        settled = int(side.get("settled", False))
        marks = [{TRUNCATED: int(number in chosen), SETTLED: settled * int(number in chosen)} for number in range(len(scores))]
    if "excluded" in side:
        for number in _choose(scores, side["excluded"]):
            marks[number] |= {"score": None, "excluded_reason": side["excluded"]["reason"]}
    return marks


def _choose(scores: list[float], wanted: float | dict[str, Any]) -> set[int]:
    """Return which rows a share of all rows falls on: evenly on all of them, or on those with one score alone."""
    share, score = (wanted["share"], wanted.get("of")) if isinstance(wanted, dict) else (wanted, None)
    places = [number for number, one in enumerate(scores) if score is None or one == score]
    count = round(share * len(scores))
    if count > len(places):
        raise ValueError(f"{count} rows are wanted, {len(places)} have the score {score}")
    return {places[number * len(places) // count] for number in range(count)}


def write_table(path: Path, rows: list[Row]) -> Path:
    """Write *rows* as CSV, with the columns that any of them has."""
    named = [column for column in COLUMNS if any(column in row for row in rows)]
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, named)
        writer.writeheader()
        writer.writerows({key: "" if value is None else value for key, value in row.items()} for row in rows)
    return path


def write_log(path: Path, rows: list[Row], *, other_scorer: str | None = None) -> Path:
    """Write *rows* as one Inspect log that says when it ran and which model answered.

    Args:
        other_scorer: of the same samples, which gives each the opposite score; None for none.
    """
    now = datetime.now(UTC).isoformat()
    samples = [_build_sample(row, now) for row in rows]
    for sample in samples if other_scorer else ():
        sample["scores"][other_scorer] = {"value": 1 - sample["scores"]["match"]["value"]}
    names = [one["id"] for one in samples]
    header = build_header(len(samples))
    header["eval"] |= {
        "created": now,
        "dataset": {"samples": len(samples), "sample_ids": names},
        "model_generate_config": {"temperature": 1.0, "max_tokens": 1024},
    }
    path.write_bytes(build_archive(list_members(header, samples)))
    return path


LOG_OPTIONS = ("--arm-field", "sample.metadata.arm", "--context-field", "sample.metadata.context", "--task-field", "sample.metadata.task")
"""Where the logs that `write_log` makes name arm, context and task."""


def _build_sample(row: Row, now: str) -> dict[str, Any]:
    model = row.get("model_returned")
    stop = "max_tokens" if row.get(TRUNCATED) else "stop"
    output = {"choices": [{"message": {"role": "assistant", "content": "An answer."}, "stop_reason": stop}], "completion": "An answer."}
    return {
        "id": "-".join(str(row[key]) for key in ("task_id", "arm", "context_id", "sample")),
        "epoch": 1,
        "input": f"What is {spell(row['task_id'])}?",
        "target": "1",
        "started_at": now,
        "metadata": {"arm": row["arm"], "context": row["context_id"], "task": row["task_id"]},
        "output": {**output, "model": model} if model else output,
        "scores": {"match": {"value": row["score"]}},
    }


def write_json(path: Path, document: Any) -> Path:
    """Write *document* as JSON, which every file of ours may be."""
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")
    return path
