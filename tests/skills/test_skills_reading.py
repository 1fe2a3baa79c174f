"""What a study's file names is read whole, and what is wrong with any of it is told at once."""

import json
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest

from audit.skills.study_file import find_conditions, read_study, read_task_file
from audit.skills.study_plan import StudySelection, build_replay, plan_calls
from audit.sources.skill_study_records import SkillEntry, SkillStudy, SkillTask
from registry.errors import InputError
from tests.gold import SHARED
from tests.skills.studies import Study

ROOT = Path(__file__).parents[2]
PUBLISHED = SHARED / "skill-eval"


def find_codes(study: Path) -> list[str]:
    with pytest.raises(InputError) as refused:
        read_study(study)
    return sorted(fault.code for fault in refused.value.faults)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    """A missing folder, a skill without tasks, tasks without a skill, an empty text and a judge of other dimensions, in one answer."""
    parts = Study()
    parts.study["skills"]["alpha"]["path"] = "skills/nowhere"
    parts.study["skills"]["delta"] = {"path": "skills/delta", "risk_level": "low", "test_category": "x", "structural_score": 0}
    parts.texts["skills/delta/SKILL.md"] = "  \n"
    parts.tasks["epsilon"] = {**parts.tasks["alpha"], "skill_name": "epsilon"}
    parts.judge["dimensions"] = parts.judge["dimensions"][:3]

    found = find_codes(parts.write(tmp_path))

    # The empty text and the judge are not valid; delta has no tasks; no one knows epsilon; alpha's folder is not there.
    assert found == ["not-valid", "not-valid", "skill-not-found", "skill-not-listed", "tasks-not-found"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"risk_level": "enormous"}, "not-valid"),
        ({"structural_score": 1.5}, "not-valid"),
        ({"excluded": " "}, "not-valid"),
        ({"path": "../elsewhere"}, "path-outside-folder"),
        ({"hidden_references": True}, "skill-not-found"),
    ],
)
def test_a_skill_that_does_not_fit_is_refused(change: dict[str, Any], code: str, tmp_path: Path) -> None:
    """An unknown risk, a score that is no share, a reason without words, a folder outside, references that are not there."""
    parts = Study()
    parts.study["skills"]["alpha"] |= change

    assert find_codes(parts.write(tmp_path)) == [code]


def test_a_text_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    """What cannot be read is not sent."""
    study = Study().write(tmp_path)
    (tmp_path / "skills/beta/references/a.md").write_bytes(b"\xff\xfe\x00")

    assert find_codes(study) == ["not-utf-8"]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ("id: with_skill", "id: with_skil", "condition-missing"),
        ("id: realistic\n", "id: relistic\n", "unknown-name"),
        ("system: [skill, references], template", "system: [skill], template", "not-valid"),
        ("environment]", "environment, skill]", "not-valid"),
        ("{by: {field: skill, texts: {}}, description: SKILL", "{text: written out, description: SKILL", "not-valid"),
    ],
)
def test_conditions_that_are_not_what_they_are_called_are_refused(before: str, after: str, code: str, tmp_path: Path) -> None:
    """A condition by another name, a skill without its references as the whole, a baseline with the skill, a skill written out."""
    parts = Study()
    parts.study["conditions"] = "conditions.yaml"
    assert before in parts.texts["conditions.yaml"]
    parts.texts["conditions.yaml"] = parts.texts["conditions.yaml"].replace(before, after)

    assert code in find_codes(parts.write(tmp_path))


def test_where_a_text_comes_from_stands_in_its_block(tmp_path: Path) -> None:
    """Files with their SHA-256, for skill and references apart."""
    blocks = read_study(Study().write(tmp_path)).spec.blocks

    assert blocks is not None
    assert str(blocks["skill"].source).count(", sha256 ") == 3
    assert [part.split(",")[0] for part in str(blocks["references"].source).split("; ")] == [
        "skills/beta/references/a.md",
        "skills/beta/references/b.md",
    ]


def test_the_order_of_calls_mixes_conditions_and_skills(tmp_path: Path) -> None:
    """No condition comes first: each has calls in the first half."""
    file = read_study(Study().write(tmp_path))
    planned = plan_calls(file, build_replay(file), StudySelection())

    half = planned[: len(planned) // 2]
    assert {one.cell.arm for one in half} == {"A", "B", "C", "D", "E"}
    assert {one.cell.task_id.partition("/")[0] for one in half} == {"alpha", "beta", "gamma"}


def test_a_selection_has_the_calls_that_the_whole_has(tmp_path: Path) -> None:
    """The parts of a study are disjoint, and together the study."""
    file = read_study(Study().write(tmp_path))
    replay = build_replay(file)
    whole = [one.cell for one in plan_calls(file, replay, StudySelection())]

    parts = [one.cell for skill in file.study.skills for one in plan_calls(file, replay, StudySelection(skills=(skill,)))]

    assert sorted(parts, key=repr) == sorted(whole, key=repr)


def test_skills_with_the_same_tasks_share_their_baseline(tmp_path: Path) -> None:
    """The same prompt without a skill is one call, whichever skill it stands for."""
    parts = Study()
    for task, other in zip(parts.tasks["gamma"]["tasks"], parts.tasks["alpha"]["tasks"], strict=True):
        task["prompt"] = other["prompt"]
    file = read_study(parts.write(tmp_path))

    planned = plan_calls(file, build_replay(file, samples=1), StudySelection())

    keys = [one.call.key for one in planned]
    assert len(keys) - len(set(keys)) == 2 * 2


def test_the_tables_of_the_page_name_every_key() -> None:
    """docs/skills.md tells each key of the records, and which are required."""
    page = (ROOT / "docs" / "skills.md").read_text(encoding="utf-8")
    for noun in (SkillStudy, SkillEntry, SkillTask):
        table = page.split(f"<!-- keys: {noun.__name__} -->\n")[1].split("\n\n")[0]
        rows = {line.split("|")[1].strip().strip("`"): "**required**" in line for line in table.splitlines()[2:]}
        known = {one.name: one.default is MISSING and one.default_factory is MISSING for one in fields(noun)}

        assert rows == known


def test_the_study_of_the_examples_is_read() -> None:
    """Three skills with two tasks each; the realistic context has a file for each code base, and a fallback."""
    file = read_study(ROOT / "examples" / "skills" / "study.yaml")

    assert (len(file.texts), len(file.list_tasks())) == (3, 6)
    assert file.spec.blocks is not None
    for name in ("explore-report", "file-read"):
        by = file.spec.blocks[name].by
        assert by is not None
        assert by.fallback
    assert file.study.conditions == find_conditions().name


def list_bodies(study: Path) -> dict[tuple[str, str], Any]:
    """Return by task and arm the request of the first sample."""
    file = read_study(study)
    return {
        (planned.cell.task_id, planned.cell.arm): planned.call.body
        for planned in plan_calls(file, build_replay(file, samples=1), StudySelection())
    }


def test_a_baseline_is_the_prompt_alone_and_the_skill_is_the_whole_system_prompt(tmp_path: Path) -> None:
    """A sends no system prompt; B sends SKILL.md and references, C SKILL.md; all three send one message, the prompt."""
    bodies = list_bodies(Study().write(tmp_path))
    plain, whole, own = (bodies["beta/beta-0", arm] for arm in "ABC")

    assert "system" not in plain
    assert whole["system"] == (
        "Skill text of beta.\n\n---\n\n# Reference: a.md\n\nReference a of beta.\n\n---\n\n# Reference: b.md\n\nReference b of beta."
    )
    assert own["system"] == "Skill text of beta."
    assert {json.dumps(body["messages"]) for body in (plain, whole, own)} == {
        json.dumps([{"role": "user", "content": "Task 0 of beta: write a function."}])
    }


def test_the_realistic_condition_is_an_exchange_before_the_task(tmp_path: Path) -> None:
    """D: tools, environment and skill in the system prompt; a request, a report with a file, then the task. E lacks the skill alone."""
    bodies = list_bodies(Study().write(tmp_path))
    realistic, without = (bodies["beta/beta-0", arm] for arm in "DE")

    assert [turn["role"] for turn in realistic["messages"]] == ["user", "assistant", "user"]
    assert realistic["messages"] == without["messages"]
    report = realistic["messages"][1]["content"]
    assert report.index("# Report of the exploring agent") < report.index("# File: src/store.py") < report.index("```python")
    assert realistic["messages"][2]["content"] == "Task 0 of beta: write a function."
    assert "# Tools" in without["system"]
    assert "# Environment" in without["system"]
    assert realistic["system"].startswith(without["system"] + "\n\n---\n\nSkill text of beta.")
    assert "tools" not in realistic


def test_a_task_loads_the_references_that_it_names_and_its_variant_of_the_code_base(tmp_path: Path) -> None:
    """`reference_files` and `codebase_variant` select, as in the published study; the other task of the skill loads all references."""
    parts = Study()
    parts.tasks["beta"]["tasks"][0] |= {"reference_files": ["b.md"], "codebase_variant": "python_sync"}
    bodies = list_bodies(parts.write(tmp_path))

    assert "Reference a of beta" not in bodies["beta/beta-0", "B"]["system"]
    assert "Reference b of beta" in bodies["beta/beta-0", "D"]["system"]
    assert "Reference a of beta" in bodies["beta/beta-1", "B"]["system"]
    assert "SQLite" in bodies["beta/beta-0", "D"]["messages"][1]["content"]


def test_a_reference_that_the_skill_lacks_is_refused(tmp_path: Path) -> None:
    """A task that names no file of its skill is a fault with the nearest name, never a shorter prompt."""
    parts = Study()
    parts.tasks["beta"]["tasks"][0]["reference_files"] = ["aa.md"]
    with pytest.raises(InputError) as refused:
        read_study(parts.write(tmp_path))

    (fault,) = refused.value.faults
    assert (fault.code, fault.advice) == ("unknown-name", "did you mean a.md?")


@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published study is not there")
def test_published_task_files_are_read_unchanged() -> None:
    """All 22 files of the published study are tasks as they are, with every pattern."""
    files = sorted((PUBLISHED / "tasks").glob("*.json"))
    read = [read_task_file(path, path.stem) for path in files]

    documents = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    patterns = [(len(one["expected_patterns"]), len(one["anti_patterns"])) for document in documents for one in document["tasks"]]
    assert len(read) == 22
    assert [(len(task.expected), len(task.anti)) for file in read for task in file.tasks] == patterns
