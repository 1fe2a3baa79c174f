"""Folders of skill-contamination runs as rows: a folder made up, and the recorded study where it is at hand."""

import json
from pathlib import Path

import pytest

from audit.errors import TableError
from audit.modules.differential_estimate import estimate
from audit.sources.log_import import read_logs, read_rows
from audit.sources.log_rows import LogOptions
from audit.sources.skill_study_records import DIMENSIONS
from registry.records.analysis_plan import ContextDesign, Plan
from tests.contamination.made_up import ALPHA, BETA, GAMMA, Run
from tests.gold import SHARED

STUDY = SHARED / "skill-eval"

needs_study = pytest.mark.skipif(not STUDY.is_dir(), reason="the shared data are not here")


def read(folder: Path, scorer: str | None, **arms: str) -> LogOptions:
    return LogOptions(scorer=scorer, arm_names=arms)


def test_each_condition_is_an_arm_with_one_context(tmp_path: Path) -> None:
    """Tasks are those of a skill, runs are samples, and a condition that was not tried has no rows."""
    rows, imported = read_rows([str(Run().write(tmp_path))], LogOptions(scorer="composite"))

    assert {(row.arm, row.context_id) for row in rows} == {
        ("A", "baseline"),
        ("B", "with_skill"),
        ("C", "skill_md_only"),
        ("D", "realistic"),
    }
    assert {row.task_id.partition("/")[0] for row in rows if row.arm == "C"} == {"beta-docs"}
    assert [file.found for file in imported.files] == [18, 24, 18]


def test_a_failed_judgment_is_an_exclusion(tmp_path: Path) -> None:
    """It stays a row with its reason; the pattern results of the same response stay scores."""
    folder = str(Run().write(tmp_path))
    judged, accounts = read_rows([folder], LogOptions(scorer="composite"))
    found, _ = read_rows([folder], LogOptions(scorer="expected_hit_rate"))

    assert [(row.task_id, row.arm, row.sample, row.excluded_reason) for row in judged if row.score is None] == [
        ("alpha-sdk/alpha-sdk-3", "D", "1", "the judge gave no usable answer")
    ]
    assert (accounts.files[0].scored, accounts.files[0].excluded[0].count) == (17, 1)
    assert {row.score for row in found} == {1.0}


def test_named_arms_give_the_differential_of_the_two_conditions(tmp_path: Path) -> None:
    """Of one dimension, by hand from the scores that were written: tasks weigh the same, runs of a task are averaged."""
    folder = str(Run().write(tmp_path))
    table = read_logs([folder], read(tmp_path, "code_quality", B="test", D="deploy"), low=1, high=5).table

    spec = estimate(table, Plan(contexts=ContextDesign.FIXED), range_=(1, 5)).specs[0]

    def mean(condition: str) -> float:
        tasks = [
            [one[3] for one in skill[condition][2 * task : 2 * task + 2] if one is not None]
            for skill in (ALPHA, BETA, GAMMA)
            for task in range(3)
        ]
        return sum(sum(runs) / len(runs) for runs in tasks) / len(tasks)

    assert spec.phi_test.value == pytest.approx(mean("with_skill"))
    assert spec.phi_deploy.value == pytest.approx(mean("realistic"))


@pytest.mark.parametrize("scorer", [None, "quality"])
def test_the_property_is_chosen_and_never_guessed(tmp_path: Path, scorer: str | None) -> None:
    """Eight properties are there; the message lists them."""
    with pytest.raises(TableError) as error:
        read_rows([str(Run().write(tmp_path))], LogOptions(scorer=scorer))

    assert error.value.faults[0].code == ("choice-needed" if scorer is None else "unknown-name")
    assert "any_anti, api_idiomaticity, code_quality, composite" in (error.value.faults[0].found or "")


def test_a_condition_that_is_not_there_cannot_be_an_arm(tmp_path: Path) -> None:
    """A mapping that matches nothing is a mistake, not an empty side."""
    with pytest.raises(TableError) as error:
        read_rows([str(Run().write(tmp_path))], read(tmp_path, "composite", E="test"))

    assert error.value.faults[0].code == "unknown-name"


@pytest.mark.parametrize(("given", "code"), [({"key": "x"}, "option-for-logs"), ({"arm_field": "condition"}, "option-for-logs")])
def test_what_has_no_meaning_here_is_refused(tmp_path: Path, given: dict[str, str], code: str) -> None:
    """An option without effect must not seem to have one."""
    with pytest.raises(TableError) as error:
        read_rows([str(Run().write(tmp_path))], LogOptions(scorer="composite", **given))  # type: ignore[arg-type]  # texts alone

    assert error.value.faults[0].code == code


@needs_study
def test_the_study_has_its_published_number_of_pattern_tests() -> None:
    """1,074 responses and 11,718 pattern tests; found and not found as its files say, pattern by pattern."""
    rows, _ = read_rows([str(STUDY)], LogOptions(scorer="expected_hit_rate"))
    matched = 0
    for path in (STUDY / "scores").glob("*.json"):
        for task in json.loads(path.read_text())["tasks"]:
            for run in task["runs"]:
                for one in (run.get(name) for name in ("baseline", "with_skill", "skill_md_only", "realistic")):
                    patterns = (one or {}).get("patterns") or {}
                    matched += sum(found["matched"] for kind in ("expected_results", "anti_results") for found in patterns.get(kind, []))

    assert len(rows) == 1074
    assert sum(float(row.extras["expected_patterns"] or 0) + float(row.extras["anti_patterns"] or 0) for row in rows) == 11_718
    assert sum(float(row.extras["expected_found"] or 0) + float(row.extras["anti_found"] or 0) for row in rows) == matched


@needs_study
@pytest.mark.parametrize("dimension", DIMENSIONS)
def test_the_study_gives_its_published_means_by_task(dimension: str) -> None:
    """`behavioral-eval.json` prints the mean of each dimension by task to three digits; the rows give the same."""
    rows, _ = read_rows([str(STUDY)], LogOptions(scorer=dimension))
    scores: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        if row.score is not None:
            scores.setdefault((row.task_id, row.arm), []).append(row.score)
    printed = {
        (f"{skill['skill_name']}/{task['task_id']}", arm): task[key][dimension]
        for skill in json.loads((STUDY / "behavioral-eval.json").read_text())["skills"]
        for task in skill["tasks"]
        for arm, key in (("A", "baseline_means"), ("B", "skill_means"))
        if dimension in task.get(key, {})
    }

    assert len(printed) > 100
    assert {key: sum(scores[key]) / len(scores[key]) for key in printed} == pytest.approx(printed, abs=0.00051)
