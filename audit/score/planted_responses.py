"""Known-bad responses of a dose control: a file of them becomes scores by task."""

import csv
import hashlib
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from audit.score.scorers import build_marker, check_scorable, is_deterministic
from audit.sources.score_table import read_table
from audit.statistics.responses import SCORED
from registry.codec.canonical_documents import canonical_bytes
from registry.codec.file_io import read_text
from registry.errors import ConflictError, Fault, InputError
from registry.records.replay_run import Task
from registry.records.specification import Scorer

# Texts are scored here, by the scorer of the run: nothing else shows that the planted scores come from the same scorer.
# Only a judge, which needs calls to a model, leaves a table of scores that were made before.

PlantedPool = dict[tuple[str, str | None], list[float]]
"""Scores by task and context, or by task and None for every context."""


def read_pool(
    path: Path, *, range_: tuple[float, float], good: float, scorer: Scorer | None, tasks: Mapping[str, Task] | None
) -> PlantedPool:
    """Return the scores of the responses in *path*.

    Args:
        path: a CSV file with the columns task_id and response, or a score table.
        range_: lowest and highest possible score.
        good: the end of the range that a response without a score gets: the harness did not call it bad.
        scorer: the one that gave the audit's scores; None where it is not known.
        tasks: of the run folder, by identifier; None without one.

    Raises:
        InputError: the file cannot be read, has no responses, or names other tasks.
        ConflictError: it has scores where the locked scorer could have scored the texts.
        TableError: as `read_table`.
    """
    if path.suffix.lower() == ".csv" and "response" in _read_head(path):
        return _score_texts(path, good=good, scorer=scorer, tasks=tasks)
    if scorer is not None and is_deterministic(scorer):
        problem = f"has scores, and the {scorer.kind} scorer of the plan can score the responses themselves"
        advice = "give the responses: a CSV file with the columns task_id and response"
        raise ConflictError(Fault("control-differs-from-lock", str(path), problem, advice=advice))
    return _read_scores(path, range_=range_, good=good)


def digest_pool(pool: PlantedPool) -> str:
    """Return the SHA-256 of the scores in *pool*, hexadecimal; the same for any order of the file."""
    rows = sorted((task, context or "", score) for (task, context), scores in pool.items() for score in scores)
    return hashlib.sha256(canonical_bytes([list(row) for row in rows])).hexdigest()


def _read_head(path: Path) -> Sequence[str]:
    return next(csv.reader(io.StringIO(read_text(path))), [])


def _score_texts(path: Path, *, good: float, scorer: Scorer | None, tasks: Mapping[str, Task] | None) -> PlantedPool:
    if scorer is None or tasks is None or not is_deterministic(scorer):
        problem = "has responses without scores, and no scorer that asks no model is known"
        advice = "give the run folder as SCORES, or a score table of these responses by the judge of the plan"
        raise InputError(Fault("control-not-possible", str(path), problem, advice=advice))
    rows = list(csv.DictReader(io.StringIO(read_text(path))))
    unknown = sorted({row.get("task_id") or "" for row in rows} - set(tasks))
    if unknown or not rows:
        problem = f"names tasks that the run does not have: {', '.join(unknown[:5])}" if unknown else "has no responses"
        raise InputError(Fault("control-not-possible", str(path), problem))
    named = {row["task_id"] for row in rows}
    check_scorable(scorer, [tasks[task] for task in sorted(named)])
    mark = build_marker(scorer)
    pool: PlantedPool = {}
    for row in rows:
        score = mark(tasks[row["task_id"]], row["response"] or "").score
        pool.setdefault((row["task_id"], None), []).append(good if score is None else score)
    return pool


def _read_scores(path: Path, *, range_: tuple[float, float], good: float) -> PlantedPool:
    table = read_table([path], low=range_[0], high=range_[1])
    pool: PlantedPool = {}
    # Of a replay of a known-bad subject, only the deployment responses stand for deployment.
    deploy = table.arm.find("deploy")
    for row in range(table.rows):
        if deploy is not None and table.arm.codes[row] != deploy:
            continue
        key = table.task.labels[table.task.codes[row]], table.context.labels[table.context.codes[row]]
        score = float(table.score[row]) if table.excluded.codes[row] == SCORED else good
        pool.setdefault(key, []).append(score)
        pool.setdefault((key[0], None), []).append(score)
    return pool
