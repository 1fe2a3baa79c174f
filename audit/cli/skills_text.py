"""What a skill study is made of and how far it is, for people and for programs."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from rich.console import Console

from audit.records.model_response import ReplayCell
from audit.skills.study_file import StudyFile
from audit.skills.study_recording import ConditionProgress
from registry.cli.terminal_output import build_table, show

_COUNTS = ("planned", "answered", "failed", "matched", "judged")


def summarise_listing(
    file: StudyFile, planned: Collection[ReplayCell], stages: Mapping[str, Sequence[ConditionProgress]], folder: Path
) -> dict[str, Any]:
    """Return the document of `caveat skills list`.

    Args:
        planned: one cell for each sample of each task under each condition: the study's, and those that the run folder holds beyond it.
    """
    calls = Counter((cell.task_id.partition("/")[0], cell.arm) for cell in planned)
    skills = []
    for name, entry in file.study.skills.items():
        arms = sorted(arm for skill, arm in calls if skill == name)
        done = {one.arm: one for one in stages.get(name, ())}
        skills.append(
            {
                "name": name,
                "risk_level": entry.risk_level.value,
                "test_category": entry.test_category,
                "structural_score": entry.structural_score,
                "left_out": entry.left_out,
                "chars": file.texts[name].chars,
                "references": len(file.texts[name].digests) - 1,
                "tasks": len(file.tasks[name].tasks),
                "conditions": [{"arm": arm, "calls": calls[name, arm], **_count(done.get(arm))} for arm in arms],
            }
        )
    return {
        "schema": "caveat/skill-list/1",
        "study": file.study.name,
        "path": str(file.path),
        "folder": str(folder),
        "model": file.study.policy.model,
        "judge": None if file.judge is None else file.judge.model,
        "samples": file.study.samples,
        "skills": skills,
    }


def print_listing(console: Console, document: Mapping[str, Any]) -> None:
    """Print the listing: one row per skill, and what was left out and why."""
    judge = f"judge {document['judge']}" if document["judge"] else "no judge, patterns only"
    console.print(show(f"{document['study']}: model {document['model']}, {judge}, samples: {document['samples']}"), style="bold")
    columns = ("skill", "risk, category", "score", "tasks", "arms", "answered", "patterns", "judged")
    rows = [
        (
            one["name"] + (" *" if one["left_out"] else ""),
            f"{one['risk_level']}, {one['test_category']}",
            f"{one['structural_score']:g}",
            str(one["tasks"]),
            "".join(each["arm"] for each in one["conditions"]),
            _tell_answered(one["conditions"]),
            *(_sum(one["conditions"], name) for name in ("matched", "judged")),
        )
        for one in document["skills"]
    ]
    console.print(build_table(columns, rows, numbers=("score", "tasks", "answered", "patterns", "judged")))
    for one in document["skills"]:
        if one["left_out"]:
            console.print(show(f"* {one['name']}: left out of the means over skills ({one['left_out']})"))
    cells = [one for skill in document["skills"] for one in skill["conditions"]]
    is_whole = all(one["answered"] == one["calls"] for one in cells)
    run = f"--run {quote(document['folder'])}"
    verb = f"analyze {quote(document['path'])} {run}" if is_whole else f"generate {quote(document['path'])} --dry-run"
    console.print(show(f"Next: caveat skills {verb}"))


def summarise_scored(file: StudyFile, stages: Mapping[str, Sequence[ConditionProgress]], folder: Path) -> dict[str, Any]:
    """Return the document of `caveat skills score`, without what was new in it."""
    return {
        "schema": "caveat/skill-scores/1",
        "study": file.study.name,
        "path": str(file.path),
        "folder": str(folder),
        "judge": None if file.judge is None else file.judge.model,
        "skills": [{"name": name, "conditions": [{"arm": one.arm, **_count(one)} for one in found]} for name, found in stages.items()],
    }


def print_scored(console: Console, document: Mapping[str, Any]) -> None:
    """Print what is scored so far, by skill."""
    columns = ("skill", *_COUNTS)
    rows = [(one["name"], *(_sum(one["conditions"], name) for name in _COUNTS)) for one in document["skills"]]
    console.print(build_table(columns, rows, numbers=_COUNTS))
    for line in document["judging"]:
        console.print(show(line))
    if document["judge"] is None:
        console.print("The study names no judge: there are patterns, and no composite score.")
    console.print(f"new: {document['patterns_changed']:,} pattern scores, {document['verdicts_new']:,} verdicts")
    console.print(show(f"Next: caveat skills analyze {quote(document['path'])} --run {quote(document['folder'])} -o DIR"))


def _count(stage: ConditionProgress | None) -> dict[str, int]:
    return {name: 0 if stage is None else getattr(stage, name) for name in _COUNTS}


def _tell_answered(conditions: Sequence[Mapping[str, Any]]) -> str:
    failed = sum(one["failed"] for one in conditions)
    told = f"{_sum(conditions, 'answered')} of {_sum(conditions, 'calls')}"
    return f"{told}, {failed:,} failed" if failed else told


def _sum(conditions: Sequence[Mapping[str, Any]], name: str) -> str:
    return f"{sum(one[name] for one in conditions):,}"
