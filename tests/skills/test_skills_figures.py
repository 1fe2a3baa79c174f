"""What the page of a skill study shows of single conditions, and what arm E changes."""

from pathlib import Path
from typing import Any

import pytest

from audit.contamination.contamination_analysis import build_study
from audit.contamination.skill_contrasts import ContrastSettings
from audit.skills.cli.contamination_page import build_page, describe_net
from audit.sources.skill_run_folder import read_recording
from audit.sources.skill_study_records import ContaminationStudy
from registry.records.estimates import Measure
from tests.contamination.made_up import ALPHA, Run, judge

SETTINGS = ContrastSettings(level=0.95, margin=0.2)


def study(run: Run, folder: Path) -> ContaminationStudy:
    return build_study(read_recording(run.write(folder)), SETTINGS)


def add_baseline(run: Run) -> None:
    """Give alpha-sdk a baseline in the realistic context: that of A."""
    tasks: list[dict[str, Any]] = run.documents["scores/alpha-sdk.json"]["tasks"]
    for task, one in enumerate(tasks):
        for place, each in enumerate(one["runs"]):
            each["realistic_baseline"] = judge(ALPHA["baseline"][2 * task + place])


def test_mitigation_within_the_context_is_that_of_the_same_baseline(tmp_path: Path) -> None:
    """Where E equals A, D−E is D−A, and what is identified is what was only described."""
    before, run = study(Run(), tmp_path / "before"), Run()
    add_baseline(run)

    found = study(run, tmp_path / "after")

    effects = {one.name: one.measure.value for one in found.skills[0].effects}
    mitigation, described = found.skills[0].mitigation, before.skills[0].mitigation
    assert mitigation is not None
    assert described is not None
    assert effects["D−E"] == effects["D−A"]
    assert effects["E−A"] == 0
    assert mitigation.identified.value == mitigation.descriptive.value == described.descriptive.value
    assert str(described.identified.reason).startswith("not identified: no baseline")
    assert before.skills[1:] == found.skills[1:]


def test_skills_that_may_harm_have_a_figure_of_their_own(tmp_path: Path) -> None:
    """Those of the category net_negative, and no one else; without one there is no figure."""
    run = Run()
    run.documents["scores/alpha-sdk.json"]["test_category"] = "net_negative"

    page = build_page(study(run, tmp_path / "with"))
    without = build_page(study(Run(), tmp_path / "without"))

    assert "1 skill is in the study for this question." in page
    assert "Does contamination outweigh the benefit?" in page
    assert "Does contamination outweigh the benefit?" not in without


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        (Measure(value=-1.0, low=-2.0, high=-0.5), "net harm"),
        (Measure(value=1.0, low=0.5, high=2.0), "net help"),
        (Measure(value=-1.0, low=-2.0, high=0.0), "not distinguishable from 0"),
        (Measure(value=0.0, low=None, high=None, reason="no variance"), "no interval"),
    ],
)
def test_harm_is_said_only_where_the_interval_says_it(measure: Measure, told: str) -> None:
    """An end at 0 decides nothing."""
    assert describe_net(measure) == told


def test_references_are_shown_for_skills_that_were_tried_without_them(tmp_path: Path) -> None:
    """beta-docs alone has condition C."""
    page = build_page(study(Run(), tmp_path))

    figure = page.split("What the references add")[1].split("</figure>")[0]
    assert "beta-docs" in figure
    assert "alpha-sdk" not in figure


def test_a_group_of_one_is_named_and_not_drawn(tmp_path: Path) -> None:
    """Each risk level of this run has one skill."""
    page = build_page(study(Run(), tmp_path))

    assert "Risk level: high, medium. Each has one skill, and one skill is not a group." in page


def test_a_null_that_stands_there_says_that_the_judge_saw_all(tmp_path: Path) -> None:
    """judge_visible_chars: null is whole; without the key no one says."""
    whole, silent = Run(), Run()
    whole.documents["skills.json"]["judge_visible_chars"] = None
    del silent.documents["skills.json"]["judge_visible_chars"]

    told, untold = study(whole, tmp_path / "whole"), study(silent, tmp_path / "silent")

    assert {one.beyond_judge for one in told.inventory.arms} == {0}
    assert {one.beyond_judge for one in untold.inventory.arms} == {None}
    assert [one.seen_whole for one in told.skills[0].effects] == [one.measure for one in told.skills[0].effects]
    assert {one.seen_whole.value for one in untold.skills[0].effects} == {None}


def test_patterns_by_skill_are_shares_of_a_task(tmp_path: Path) -> None:
    """Every response of this run matches its expected pattern and no anti-pattern: no contrast differs from 0."""
    found = study(Run(), tmp_path).skills[0].patterns

    assert {one.property for one in found} == {"expected patterns found", "anti-patterns found"}
    assert {one.measure.value for one in found} == {0.0}
    assert {one.tasks for one in found} == {3}
