"""A small made-up run in the layout of a skill-contamination study: three skills, three tasks each, two runs, up to four conditions."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DIMENSIONS = ("language_correctness", "api_idiomaticity", "functional_correctness", "code_quality")
TYPES = ("direct_target", "cross_language", "grounded")
VISIBLE = 50
LONG = "x" * (VISIBLE + 1)

Document = dict[str, Any]
Judged = Sequence[int] | None
"""Four scores, or None for a response that the judge could not score."""

ALPHA: Mapping[str, Sequence[Judged]] = {
    # Two runs of task 1, two of task 2, two of task 3.
    "baseline": [(5, 5, 4, 4), (5, 4, 4, 4), (4, 4, 4, 4), (5, 5, 5, 5), (5, 5, 4, 5), (5, 5, 4, 4)],
    "with_skill": [(4, 4, 4, 4), (4, 4, 3, 4), (4, 4, 4, 3), (5, 4, 5, 5), (5, 4, 4, 4), (4, 5, 4, 4)],
    "realistic": [(5, 4, 4, 4), (4, 4, 4, 4), (4, 4, 4, 4), (5, 5, 5, 4), (5, 5, 4, 5), None],
}
BETA: Mapping[str, Sequence[Judged]] = {
    "baseline": [(4, 4, 4, 4)] * 6,
    "with_skill": [(4, 4, 4, 5), (4, 4, 4, 4), (5, 4, 4, 4), (4, 4, 4, 4), (4, 4, 4, 4), (4, 3, 4, 4)],
    "skill_md_only": [(4, 4, 4, 4), (4, 4, 4, 4), (5, 4, 4, 5), (4, 4, 4, 4), (4, 4, 3, 4), (4, 4, 4, 4)],
    "realistic": [(5, 4, 4, 4), (4, 4, 4, 4), (5, 4, 4, 4), (4, 4, 5, 4), (4, 4, 4, 4), (4, 4, 4, 4)],
}
GAMMA: Mapping[str, Sequence[Judged]] = {
    "baseline": [(5, 5, 5, 5), (5, 5, 5, 4), (5, 5, 4, 5), (5, 5, 5, 5), (5, 4, 5, 5), (5, 5, 5, 5)],
    "with_skill": [(1, 2, 1, 1), (1, 1, 1, 1), (2, 2, 1, 2), (1, 1, 2, 1), (1, 1, 1, 1), (2, 1, 1, 1)],
    "realistic": [(5, 5, 5, 5), (5, 5, 5, 5), (5, 5, 4, 5), (5, 4, 5, 5), (5, 5, 5, 5), (5, 5, 5, 5)],
}


class Run:
    """The documents of a folder, to be changed before they are written."""

    def __init__(self) -> None:
        self.documents: dict[str, Any] = {
            "skills.json": {
                "constants": {"MAX_GENERATION_TOKENS": 100},
                "judge_visible_chars": VISIBLE,
                "excluded_from_aggregates": ["gamma-flow"],
                "skills": {
                    "alpha-sdk": {"config": {"hidden_contamination": False}},
                    "beta-docs": {"config": {"hidden_contamination": True}},
                    "gamma-flow": {"config": {}},
                },
            }
        }
        self.texts: dict[str, str] = {}
        for name, scores, structural, risk in (
            ("alpha-sdk", ALPHA, 0.9, "high"),
            ("beta-docs", BETA, 0.2, "medium"),
            ("gamma-flow", GAMMA, 0.0, "control"),
        ):
            self.documents[f"scores/{name}.json"] = build_scores(name, scores, structural=structural, risk=risk)
            self.documents[f"generations/{name}.json"] = build_generations(name, scores)
            self.documents[f"tasks/{name}.json"] = {"skill_name": name, "tasks": [{"id": f"{name}-{task}"} for task in (1, 2, 3)]}

    def run(self, skill: str, task: int, run: int, *, of: str = "scores") -> Document:
        """The document of one run, to be changed in place; counted from 0."""
        found: Document = self.documents[f"{of}/{skill}.json"]["tasks"][task]["runs"][run]
        return found

    def write(self, folder: Path) -> Path:
        """Write everything below *folder* and return it."""
        for name, document in self.documents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(document), encoding="utf-8")
        for name, text in self.texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text, encoding="utf-8")
        return folder


def build_scores(name: str, scores: Mapping[str, Sequence[Judged]], *, structural: float, risk: str) -> Document:
    return {
        "skill_name": name,
        "scored_at": "2026-01-02T03:04:05+00:00",
        "model_judge": "judge-1",
        "model_generation": "writer-1",
        "contamination_score": structural,
        "risk_level": risk,
        "test_category": f"category-{risk}",
        "tasks": [
            {
                "task_id": f"{name}-{task + 1}",
                "task_type": TYPES[task],
                "target_language": "python",
                "runs": [
                    {"run_index": run, **{one: judge(scores[one][2 * task + run]) if one in scores else None for one in CONDITIONS}}
                    for run in (0, 1)
                ],
            }
            for task in range(3)
        ],
    }


CONDITIONS = ("baseline", "with_skill", "skill_md_only", "realistic")


def judge(scores: Judged) -> Document:
    found = None if scores is None else {**dict(zip(DIMENSIONS, scores, strict=True)), "brief_assessment": "made up", "cached": False}
    patterns = {"expected_results": [{"pattern": ".", "matched": True}], "anti_results": [{"pattern": "#", "matched": False}]}
    return {"judge": found, "patterns": patterns}


def build_generations(name: str, scores: Mapping[str, Sequence[Judged]]) -> Document:
    """Texts of 20 characters; those of the first task with the skill are longer than the judge sees."""
    return {
        "skill_name": name,
        "tasks": [
            {
                "task_id": f"{name}-{task + 1}",
                "runs": [
                    {
                        "run_index": run,
                        **{
                            one: {"output": LONG if task == 0 and one == "with_skill" else f"{one[:8]:8}{task}{run}" + "." * 10,
                                  "output_tokens": 100 if task == 2 else 40, "cached": False}
                            for one in scores
                        },
                    }
                    for run in (0, 1)
                ],
            }
            for task in range(3)
        ],
    }  # fmt: skip
