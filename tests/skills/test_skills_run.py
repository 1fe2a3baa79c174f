"""`caveat analyze skills run`: all stages by one command, over real HTTP; where it stops, and how it goes on."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Caveat
from tests.endpoint.server import Endpoint
from tests.skills.studies import Study


@pytest.fixture
def parts() -> Study:
    """A study of one skill, two tasks and one sample: four conditions, eight calls, eight verdicts."""
    study = Study()
    study.study["skills"] = {"alpha": study.study["skills"]["alpha"]}
    study.study |= {"samples": 1, "conditions": "conditions.yaml"}
    study.tasks = {"alpha": study.tasks["alpha"]}
    return study


def test_one_command_carries_out_every_stage(caveat: Caveat, tmp_path: Path, endpoint: Endpoint, parts: Study) -> None:
    """It asks, matches, judges, analyses and writes; again, it makes no call and gives the same analysis."""
    study = parts.write(tmp_path)
    command = ("analyze", "skills", "run", study, "--results", tmp_path / "out", "--export", tmp_path / "export", "--json")

    first = caveat(*command).document
    calls = len(endpoint.posts())
    again = caveat(*command).document
    alone = caveat("analyze", "skills", "analyze", study, "--json").document
    reread = caveat("analyze", "contamination", tmp_path / "export", "--json").document

    assert (first["complete"], set(first["stages"].values()), calls) == (True, {None}, 16)
    assert first["scores"]["verdicts_new"] == 8
    assert (again["scores"]["verdicts_new"], len(endpoint.posts())) == (0, calls)
    assert first["analysis"] == again["analysis"] == alone
    assert [Path(name).name for name in first["written"][:4]] == ["results.json", "contrasts.csv", "scores.csv", "contamination.html"]
    # The judge of the study sees two marks fewer without the skill: one point in two of four dimensions.
    assert first["analysis"]["skills"][0]["effects"][0]["measure"]["value"] == reread["skills"][0]["effects"][0]["measure"]["value"] == -0.5


def test_a_spent_budget_stops_a_stage_and_nothing_is_written(caveat: Caveat, tmp_path: Path, endpoint: Endpoint, parts: Study) -> None:
    """Limits hold for responses and judge together; each call is made once, and the command that goes on is given."""
    study = parts.write(tmp_path)
    command = ("analyze", "skills", "run", study, "--results", tmp_path / "out")

    asking = caveat(*command, "--max-calls", "5", "--json")
    judging = caveat(*command, "--max-calls", "10", "--json")
    written = (tmp_path / "out").exists()
    whole = caveat(*command, "--json")

    stages = [json.loads(answer.out)["stages"] for answer in (asking, judging)]
    assert (asking.code, judging.code, whole.code) == (1, 1, 0)
    assert [stages[0][name] is None for name in ("plan", "ask", "match", "judge")] == [True, False, False, False]
    assert [stages[1][name] is None for name in ("plan", "ask", "match", "judge")] == [True, True, True, False]
    assert "caveat analyze skills run" in re.sub(r"\s+", " ", asking.err)
    assert "caveat analyze skills run" in re.sub(r"\s+", " ", judging.err)
    assert not written
    assert len(endpoint.posts()) == 16


def test_a_dry_run_sends_nothing_and_says_what_it_cannot_know(caveat: Caveat, tmp_path: Path, endpoint: Endpoint, parts: Study) -> None:
    """Calls are counted; the judge's input depends on responses that are not there, which is null with the reason."""
    document = caveat("analyze", "skills", "run", parts.write(tmp_path), "--dry-run", "--json").document

    assert (document["calls"], document["judging"]["most_verdicts"], endpoint.posts()) == (8, 8, [])
    assert document["judging"]["input_tokens"] is None
    assert "responses" in document["judging"]["reason"]


def list_notes(document: Any) -> dict[str, str]:
    return {note["kind"]: note["where"] for note in document["inventory"]["notes"]}


def test_a_run_under_other_conditions_says_so(caveat: Caveat, tmp_path: Path, endpoint: Endpoint, parts: Study) -> None:
    """A baseline with a system prompt is not the published study's; a run made before the file changed is of its own conditions."""
    built = parts.texts["conditions.yaml"]
    parts.texts["conditions.yaml"] = built.replace('id: baseline, system: ""', "id: baseline, system: [agent]")
    study = parts.write(tmp_path)
    before = caveat("analyze", "skills", "run", study, "--condition", "A", "--condition", "B", "--json").document["analysis"]
    parts.texts["conditions.yaml"] = built
    parts.write(tmp_path)

    after = caveat("analyze", "skills", "analyze", study, "--json").document

    assert list_notes(before) == {"condition-differs": "A baseline"}
    assert list_notes(after) == {"condition-differs": "A baseline", "conditions-changed": "baseline"}
