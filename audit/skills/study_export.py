"""A study's run folder in the layout of the published studies, for readers of that layout."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from audit.replay.run_store import RunStore
from audit.skills.study_file import LANGUAGE, TYPE, StudyFile
from audit.skills.study_recording import CellOutcome, list_outcomes, list_pattern_outcomes
from audit.sources.skill_study_records import ARMS
from registry.codec.file_io import read_text, write_file
from registry.records.replay_run import Task

Document = dict[str, Any]
Writer = Callable[[CellOutcome], Document | None]


def build_export(store: RunStore, file: StudyFile) -> dict[str, Document | str]:
    """Return by path what the layout holds: generations/, scores/, tasks/ (as they are) and skills.json.

    `judge_visible_chars` is null where the judge saw every response whole. Patterns with a time-out have no results.
    """
    documents: dict[str, Document | str] = {"skills.json": _describe_study(file)}
    for name, outcomes in list_outcomes(store, file).items():
        tasks = [task for task in file.tasks[name].tasks if any(outcome.cell.task_id == task.id for outcome in outcomes)]
        by_task = {task.id: [cell_outcome for cell_outcome in outcomes if cell_outcome.cell.task_id == task.id] for task in tasks}
        head = _describe_skill(file, name, outcomes)
        documents[f"generations/{name}.json"] = {**head, "tasks": [_write_task(task, by_task[task.id], _write_output) for task in tasks]}
        documents[f"scores/{name}.json"] = {**head, "tasks": [_write_task(task, by_task[task.id], _write_scores) for task in tasks]}
        documents[f"tasks/{name}.json"] = read_text(file.tasks[name].path)
    return documents


def _describe_study(file: StudyFile) -> Document:
    study, judge = file.study, file.judge
    document: Document = {
        "note": f"Study {study.name}, written by Caveat",
        "constants": {
            "MODEL_GENERATION": study.policy.model,
            "MODEL_JUDGE": None if judge is None else judge.model,
            "TEMPERATURE": study.policy.temperature,
            "RUNS_PER_CONDITION": study.samples,
            "MAX_GENERATION_TOKENS": study.policy.max_tokens,
            "MAX_JUDGE_TOKENS": None if judge is None else judge.max_tokens,
        },
        "excluded_from_aggregates": [name for name, entry in study.skills.items() if entry.excluded is not None],
        "skills": {
            name: {
                "config": {
                    "path": entry.path,
                    "contamination_score": entry.structural_score,
                    "risk_level": entry.risk_level.value,
                    "test_category": entry.test_category,
                    "has_refs": bool(file.texts[name].references),
                    "hidden_contamination": entry.hidden_references,
                    "excluded": entry.excluded,
                }
            }
            for name, entry in study.skills.items()
        },
    }
    return document if judge is None else {**document, "judge_visible_chars": judge.longest_chars}


def _describe_skill(file: StudyFile, name: str, outcomes: Sequence[CellOutcome]) -> Document:
    entry = file.study.skills[name]
    returned = {outcome.response.model_returned for outcome in outcomes if outcome.response is not None and outcome.response.model_returned}
    return {
        "skill_name": name,
        "model_generation": ", ".join(sorted(returned)) or file.study.policy.model,
        "model_judge": ", ".join(sorted({judge for cell_outcome in outcomes for judge in cell_outcome.judges})),
        "contamination_score": entry.structural_score,
        "risk_level": entry.risk_level.value,
        "test_category": entry.test_category,
    }


def _write_task(task: Task, outcomes: Sequence[CellOutcome], write: Writer) -> Document:
    by_place: Mapping[tuple[int, str], CellOutcome] = {(outcome.cell.sample, outcome.cell.arm): outcome for outcome in outcomes}
    fields = task.fields or {}
    return {
        "task_id": task.id.partition("/")[2],
        "task_type": fields[TYPE],
        "target_language": fields[LANGUAGE],
        "runs": [
            {
                "run_index": run,
                **{
                    condition: write(cell_outcome) if (cell_outcome := by_place.get((run, arm))) else None
                    for arm, condition in ARMS.items()
                },
            }
            for run in sorted({cell_outcome.cell.sample for cell_outcome in outcomes})
        ],
    }


def _write_output(cell_outcome: CellOutcome) -> Document:
    response = cell_outcome.response
    if response is None or response.text is None:
        return {"output": None, "error": (cell_outcome.excluded or "").removeprefix("the generation failed: "), "cached": False}
    return {
        "output": response.text,
        "model": response.model_returned,
        "input_tokens": response.usage.input_tokens,
        "output_tokens": response.usage.output_tokens,
        "stop_reason": response.stop_reason,
        "cached": False,
    }


def _write_scores(cell_outcome: CellOutcome) -> Document | None:
    if cell_outcome.response is None or cell_outcome.response.text is None:
        return None
    judge = None if not cell_outcome.dimensions else {**cell_outcome.dimensions, "cached": False}
    error = {} if cell_outcome.excluded is None else {"error": cell_outcome.excluded.removeprefix("not judged: ")}
    return {"judge": judge, "patterns": _write_patterns(cell_outcome), **error}


def _write_patterns(cell_outcome: CellOutcome) -> Document | None:
    patterns = list_pattern_outcomes(cell_outcome.patterns)
    if not patterns:
        return None
    kinds = ("expected", "anti")
    return {
        f"{kind}_results": [
            {"pattern": pattern["pattern"], "matched": pattern["matched"]} for pattern in patterns if pattern["kind"] == kind
        ]
        for kind in kinds
    }


def write_export(documents: Mapping[str, Document | str], folder: Path) -> list[Path]:
    """Write *documents* into *folder*, made if need be, and return their paths."""
    paths = []
    for name, document in sorted(documents.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, document if isinstance(document, str) else json.dumps(document, ensure_ascii=False, indent=1) + "\n")
        paths.append(path)
    return paths
