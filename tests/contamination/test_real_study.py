"""The recorded study itself: what its published statements become; skipped where the shared data are not there."""

from collections.abc import Iterator

import pytest

from audit.contamination.contamination_analysis import build_study
from audit.contamination.skill_contrasts import ContrastSettings
from audit.sources.skill_run_folder import read_recording
from audit.sources.skill_study_records import ContaminationStudy, Effect
from tests.gold import SHARED

STUDY_DATA = SHARED / "skill-eval"

pytestmark = pytest.mark.skipif(not STUDY_DATA.is_dir(), reason="the shared data are not here")


@pytest.fixture(scope="module")
def found() -> ContaminationStudy:
    return build_study(read_recording(STUDY_DATA), ContrastSettings(level=0.95, margin=0.2))


def list_kept(found: ContaminationStudy, contrast: str) -> Iterator[Effect]:
    return (effect for one in found.skills if one.excluded is None for effect in one.effects if effect.name == contrast)


def test_every_response_is_accounted_for(found: ContaminationStudy) -> None:
    """1,074 responses, two of them without a score, two thirds longer than what the judge was shown."""
    inventory = found.inventory

    assert (inventory.skills, inventory.tasks, inventory.responses, inventory.visible_chars) == (22, 116, 1074, 6000)
    assert [(one.arm, one.responses, one.scored, one.beyond_judge) for one in inventory.arms] == [
        ("A", 348, 348, 251),
        ("B", 348, 348, 238),
        ("C", 30, 30, 28),
        ("D", 348, 346, 191),
    ]
    assert [(one.skill, one.task_id, one.run, one.arm) for one in inventory.exclusions] == [
        ("azure-containerregistry-py", "azure-containerregistry-py-02", 2, "D"),
        ("sharp-edges", "sharp-edges-05", 1, "D"),
    ]
    assert [one.skill for one in inventory.excluded] == ["doc-coauthoring", "upgrade-stripe-comprehensive", "upgrade-stripe-targeted"]
    assert [(one.kind, one.where) for one in inventory.notes] == [("task-not-run", "upgrade-stripe")]


def test_every_pattern_is_matched_anew_and_agrees_with_the_record(found: ContaminationStudy) -> None:
    """11,718 results in 1,074 responses are those that the study records; every task names its file, digest and sources."""
    rematch = found.rematch

    assert (rematch.responses, rematch.searches, rematch.compared, rematch.differ, rematch.unmatched) == (1074, 11718, 11718, (), ())
    assert len(found.patterns) == 116
    assert all(entry.sha256 == found.files[f"tasks/{entry.skill}.json"] and entry.sources and entry.patterns for entry in found.patterns)
    assert [(entry.contrast, entry.of) for entry in found.absent] == [("D−E", "skill"), ("E−A", "skill")]


def is_below(p: float | None) -> bool:
    return p is not None and p < 0.05


@pytest.mark.parametrize(("contrast", "then"), [("B−A", 6), ("D−A", 5)])
def test_no_skill_is_left_after_holm_by_task(found: ContaminationStudy, contrast: str, then: int) -> None:
    """Six (B−A, by t) and five (D−A) of 19 were published as significant; one each has p < .05 by task, none after Holm."""
    effects = list(list_kept(found, contrast))

    assert len(effects) == 19
    assert sum(one.published is not None and is_below(one.published.t_p) for one in effects) == then
    assert sum(is_below(one.paired_t.p) for one in effects) == 1
    assert sum(is_below(one.p_holm) for one in effects) == 0


def test_five_of_19_were_published_as_significant_by_wilcoxon(found: ContaminationStudy) -> None:
    """With five tasks signed ranks cannot give a p below 1/16, whatever the data."""
    effects = list(list_kept(found, "B−A"))

    assert sum(one.published is not None and is_below(one.published.wilcoxon_p) for one in effects) == 5
    assert min(one.wilcoxon.p for one in effects if one.wilcoxon.p is not None) == 0.0625


def test_a_single_skill_by_hand(found: ContaminationStudy) -> None:
    """The task differences of monitoring-observability, put through another program."""
    # statsmodels 0.15.0, with the five differences of task means:
    # >>> DescrStatsW([-1/12, -1/12, -0.25, -5/12, -1/3]).ttest_mean(0)
    # gives t, p and degrees of freedom as -3.4999999999999996, 0.024896163460222765, 4.0
    (skill,) = [one for one in found.skills if one.skill == "monitoring-observability"]
    effect = skill.effects[0]
    differences = [(row.means["B"] or 0) - (row.means["A"] or 0) for row in skill.tasks]

    assert differences == pytest.approx([-1 / 12, -1 / 12, -0.25, -5 / 12, -1 / 3])
    assert effect.paired_t.statistic == pytest.approx(-3.5)
    assert effect.paired_t.p == pytest.approx(0.024896163460222765)
    assert effect.published is not None
    assert effect.published.t_p == 0.0


def test_means_over_skills_come_with_intervals(found: ContaminationStudy) -> None:
    """The points agree with the published means; the intervals of all three contrasts hold 0."""
    effects = {one.name: one for one in found.aggregates[0].effects}

    values = {name: effects[name].measure for name in ("B−A", "D−A", "B−D")}
    assert {name: round(one.value or 0, 3) for name, one in values.items()} == {"B−A": -0.08, "D−A": -0.023, "B−D": -0.057}
    assert all(one.low is not None and one.high is not None and one.low < 0 < one.high for one in values.values())
    assert {one.units for name, one in effects.items() if name in values} == {19}


def test_mitigation_is_not_identified(found: ContaminationStudy) -> None:
    """The published mean of ratios is −0.625; neither the design nor the denominator allows a number."""
    mitigation = found.aggregates[0].mitigation

    assert mitigation is not None
    assert mitigation.published == -0.625
    assert mitigation.identified.value is None
    assert mitigation.descriptive.value is None
    assert mitigation.descriptive.reason == "not identified: the denominator's interval contains 0"


def test_what_looked_like_mitigation_is_gone_where_the_judge_saw_everything(found: ContaminationStudy) -> None:
    """Over responses seen whole, the skill alone and the skill in a realistic context differ from the baseline alike."""
    effects = {one.name: one for one in found.aggregates[0].effects}

    assert round(effects["B−A"].seen_whole.value or 0, 3) == -0.089
    assert round(effects["D−A"].seen_whole.value or 0, 3) == -0.088


def test_correlations_have_intervals_that_hold_zero(found: ContaminationStudy) -> None:
    """The published r are reproduced and say nothing either way."""
    # Fisher's z in NumPy:
    # >>> np.tanh(np.arctanh(0.0771) + np.array([-1, 1]) * 1.959964 / np.sqrt(19 - 3))
    # gives -0.39079474 and 0.51333262
    first, second = found.aggregates[0].correlations

    assert (round(first.pearson.value or 0, 3), first.published) == (0.077, 0.077)
    assert (first.pearson.low, first.pearson.high) == pytest.approx((-0.391, 0.513), abs=1e-3)
    assert (round(second.pearson.value or 0, 3), second.published) == (0.109, 0.109)


def test_groups_of_one_are_not_groups(found: ContaminationStudy) -> None:
    """Five of eleven test categories and one of three risk levels have one skill."""
    single = [one.name for one in found.aggregates[0].groups if one.contrast == "B−A" and one.skills == 1]

    assert sorted(single) == sorted(
        ["control", "negative_control_code", "multi_lang_api", "app_to_app_and_aux", "multi_reference", "meta_skill_high_novelty"]
    )
    assert all(one.measure.value is None for one in found.aggregates[0].groups if one.skills == 1)


def test_the_skills_excluded_change_the_mean(found: ContaminationStudy) -> None:
    """With them B−A is −0.23 instead of −0.08: both are shown."""
    kept, every = (aggregate.effects[0].measure.value for aggregate in found.aggregates)

    assert (round(kept or 0, 2), round(every or 0, 2)) == (-0.08, -0.23)


def test_earlier_states_are_on_record(found: ContaminationStudy) -> None:
    """Five skills have an earlier state; two of the contrasts that were published as significant were a quarter as large before."""
    states = {one.skill: one for one in found.states}

    assert sorted(states) == ["monitoring-observability", "neon-postgres", "react-native-best-practices", "sharp-edges", "upgrade-stripe"]
    assert states["react-native-best-practices"].deltas["B−A"] == pytest.approx((-1 / 15, -23 / 60))
    assert states["monitoring-observability"].deltas["B−A"] == pytest.approx((-1 / 15, -7 / 30))
    assert (states["sharp-edges"].texts_changed, states["sharp-edges"].failed, states["sharp-edges"].rescored) == (36, 2, 0)


def test_every_statement_says_what_and_why(found: ContaminationStudy) -> None:
    """Each change has all four parts, and no number is left as a placeholder."""
    assert len(found.changes) >= 12
    for one in found.changes:
        assert all((one.about, one.published, one.ours, one.why))
        assert "None" not in f"{one.published}{one.ours}{one.why}"
        assert "nan" not in f"{one.ours}".lower().split()
