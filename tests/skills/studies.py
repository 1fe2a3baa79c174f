"""A small study in files: three skills, two tasks each, and a judge; and an endpoint that writes worse where a skill is loaded."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from audit.skills.study_file import find_conditions
from tests.endpoint.server import MODEL, Asked, Refusal, Reply

JUDGE = "claude-judge-1-20261101"
DIMENSIONS = ("language_correctness", "api_idiomaticity", "functional_correctness", "code_quality")
ENTRIES: Mapping[str, Mapping[str, Any]] = {
    "alpha": {"risk_level": "high", "test_category": "multi_lang_api", "structural_score": 0.9},
    "beta": {"risk_level": "medium", "test_category": "net_negative", "structural_score": 0.2, "hidden_references": True},
    "gamma": {"risk_level": "high", "test_category": "app_to_aux", "structural_score": 0.5},
}
LANGUAGES = ("python", "go")


class Study:
    """The documents and texts of a study's folder, to be changed before they are written."""

    def __init__(self) -> None:
        self.study: dict[str, Any] = {
            "schema": "caveat/skill-study/1",
            "name": "made-up",
            "skills": {name: {"path": f"skills/{name}", **entry} for name, entry in ENTRIES.items()},
            "tasks": "tasks",
            "policy": {"model": MODEL, "max_tokens": 50},
            "judge": "judge.yaml",
            "samples": 2,
        }
        self.judge: dict[str, Any] = {
            "kind": "judge",
            "model": JUDGE,
            "rubric": "Rate.",
            "dimensions": [{"name": name, "question": "How good?", "low": 1, "high": 5} for name in DIMENSIONS],
        }
        self.tasks: dict[str, dict[str, Any]] = {name: build_tasks(name) for name in ENTRIES}
        self.texts: dict[str, str] = {f"skills/{name}/SKILL.md": f"Skill text of {name}." for name in ENTRIES}
        self.texts["skills/beta/references/b.md"] = "Reference b of beta."
        self.texts["skills/beta/references/a.md"] = "Reference a of beta."
        self.texts["conditions.yaml"] = find_conditions().read_text(encoding="utf-8")

    def write(self, folder: Path) -> Path:
        """Write everything into *folder*; return the path of the study."""
        documents = {f"tasks/{name}.json": json.dumps(document) for name, document in self.tasks.items()}
        plain = {"study.yaml": json.dumps(self.study), "judge.yaml": json.dumps(self.judge)}
        for name, text in {**documents, **plain, **self.texts}.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return folder / "study.yaml"


def build_tasks(name: str) -> dict[str, Any]:
    return {
        "skill_name": name,
        "tasks": [
            {
                "id": f"{name}-{number}",
                "type": ("direct_target", "cross_language")[number],
                "prompt": f"Task {number} of {name}: write a function.",
                "target_language": LANGUAGES[number],
                "expected_patterns": ["def|func", "return"],
                "anti_patterns": ["foreign"],
                "pattern_sources": [{"url": "https://example.org", "description": "made up"}],
                "notes": "made up",
            }
            for number in (0, 1)
        ],
    }


def answer(asked: Asked) -> Reply | Refusal:
    """Write as a model that every skill text makes worse, and judge what was written by what stands in it."""
    if asked.body["model"] == JUDGE:
        return _judge(asked)
    system = str(asked.body.get("system"))
    loaded = [mark for mark in ("Skill text", "Reference a") if mark in system]
    end = " agent" if "coding agent" in system else ""
    text = (
        f"def f{asked.number}(): return 1 # {' '.join('foreign ' + mark for mark in loaded)}{end} {asked.body['messages'][-1]['content']}"
    )
    return Reply(text=text + " x" * 4000)


def _judge(asked: Asked) -> Reply:
    """A rating for each response, by what stands in the response alone."""
    shown = str(asked.body["messages"][0]["content"])
    worse = shown.count("foreign")
    ratings = {name: 5 - worse if place < 2 else 4 for place, name in enumerate(DIMENSIONS)}
    if "Task 1" in shown and "agent" in shown:
        ratings["code_quality"] = 5
    return Reply(text=json.dumps({"explanation": "made up", "ratings": ratings}))
