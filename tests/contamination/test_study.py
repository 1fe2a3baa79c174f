"""The contrasts of the made-up run: units, tests, families, and what is not there."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.strategies import integers, sampled_from
from scipy import stats

from audit.contamination.contamination_analysis import build_study
from audit.contamination.skill_contrasts import NO_BASELINE, ContrastSettings
from audit.errors import DesignError
from audit.sources.skill_run_folder import read_recording
from audit.sources.skill_study_records import ContaminationStudy, Effect, SkillContrasts
from registry.codec.canonical_documents import from_document, to_document
from registry.errors import CaveatError
from tests.contamination.made_up import ALPHA, Run
from tests.examples import scale

SETTINGS = ContrastSettings(level=0.95, margin=0.2)


def study(run: Run, folder: Path, *names: str) -> ContaminationStudy:
    return build_study(read_recording(run.write(folder)), SETTINGS, names=names)


def find_skill(found: ContaminationStudy, name: str) -> SkillContrasts:
    (skill,) = [one for one in found.skills if one.skill == name]
    return skill


def find(found: ContaminationStudy, skill: str, contrast: str) -> Effect:
    (effect,) = [one for one in find_skill(found, skill).effects if one.name == contrast]
    return effect


def average(condition: str) -> np.ndarray:
    """Composite of ALPHA by task: two runs each."""
    return np.array([np.mean(one) for one in ALPHA[condition] if one is not None]).reshape(3, 2).mean(axis=1)


def test_a_contrast_is_by_task(tmp_path: Path) -> None:
    """The value, t, p and d are those of the three differences of task means, not of the six pairs of runs."""
    differences = average("with_skill") - average("baseline")
    expected = stats.ttest_1samp(differences, 0.0)

    effect = find(study(Run(), tmp_path), "alpha-sdk", "B−A")

    assert effect.unit == "task"
    assert effect.units == 3
    assert effect.measure.value == pytest.approx(differences.mean())
    assert effect.paired_t.statistic == pytest.approx(expected.statistic)
    assert effect.paired_t.p == pytest.approx(expected.pvalue)
    assert effect.cohens_d.value == pytest.approx(differences.mean() / differences.std(ddof=1))


def test_the_interval_holds_the_t_interval_of_tasks(tmp_path: Path) -> None:
    """The interval is the hull of the t interval and MOVER, never narrower than the first."""
    differences = average("with_skill") - average("baseline")
    t = stats.ttest_1samp(differences, 0.0).confidence_interval(0.95)

    measure = find(study(Run(), tmp_path), "alpha-sdk", "B−A").measure

    assert measure.low is not None
    assert measure.high is not None
    assert measure.low <= t.low + 1e-9
    assert measure.high >= t.high - 1e-9


def test_an_excluded_response_widens_the_bounds(tmp_path: Path) -> None:
    """D−A says what it would be if the unjudged response had the worst or the best score; B−A has no such doubt."""
    found = study(Run(), tmp_path)

    realistic, with_skill = find(found, "alpha-sdk", "D−A"), find(found, "alpha-sdk", "B−A")
    assert realistic.under_exclusions is not None
    assert with_skill.under_exclusions is not None
    # One of two runs of one of three tasks may be anything from 1 to 5.
    assert realistic.under_exclusions.high - realistic.under_exclusions.low == pytest.approx(4 / 2 / 3)
    assert with_skill.under_exclusions.high == with_skill.under_exclusions.low


def test_holm_is_over_the_skills_that_the_study_kept(tmp_path: Path) -> None:
    """Two kept skills are one family, all three another; the left-out skill is only in the second."""
    found = study(Run(), tmp_path)
    p = {one.skill: find(found, one.skill, "B−A").paired_t.p for one in found.skills}
    alpha, beta, gamma = (p[name] for name in ("alpha-sdk", "beta-docs", "gamma-flow"))
    assert alpha is not None
    assert beta is not None
    assert gamma is not None
    assert gamma < alpha < beta

    assert find(found, "alpha-sdk", "B−A").p_holm == pytest.approx(min(1.0, 2 * alpha))
    assert find(found, "gamma-flow", "B−A").p_holm is None
    assert find(found, "gamma-flow", "B−A").p_holm_all == pytest.approx(3 * gamma)
    assert find(found, "alpha-sdk", "B−A").p_holm_all == pytest.approx(max(3 * gamma, 2 * alpha))


def test_only_what_the_judge_saw_whole(tmp_path: Path) -> None:
    """The sensitivity reading drops the long responses, here all of task 1 with the skill, and says on how many tasks it rests."""
    differences = (average("with_skill") - average("baseline"))[1:]

    effect = find(study(Run(), tmp_path), "alpha-sdk", "B−A")

    assert effect.seen_whole_units == 2
    assert effect.seen_whole.value == pytest.approx(differences.mean())


def test_without_lengths_there_is_no_sensitivity_reading(tmp_path: Path) -> None:
    """What the judge saw is unknown without skills.json: None with the reason, not the whole contrast again."""
    run = Run()
    del run.documents["skills.json"]

    effect = find(study(run, tmp_path), "alpha-sdk", "B−A")

    assert effect.seen_whole.value is None
    assert effect.seen_whole.reason == "how much of a response the judge saw is not stated"


def test_contrasts_exist_where_their_arms_do(tmp_path: Path) -> None:
    """Only the skill with condition C has C−A and B−C."""
    found = study(Run(), tmp_path)

    assert [one.name for one in find_skill(found, "alpha-sdk").effects] == ["B−A", "D−A", "B−D"]
    assert [one.name for one in find_skill(found, "beta-docs").effects] == ["B−A", "D−A", "B−D", "C−A", "B−C"]


def test_mitigation_is_never_identified_without_its_baseline(tmp_path: Path) -> None:
    """The ratio stands as a description at most; a denominator that may be 0 gives none at all."""
    found = study(Run(), tmp_path)
    gamma, beta = (find_skill(found, name).mitigation for name in ("gamma-flow", "beta-docs"))
    assert gamma is not None
    assert beta is not None

    assert gamma.identified.value is None
    assert gamma.identified.reason == NO_BASELINE
    assert gamma.descriptive.value == pytest.approx(1.0, abs=0.05)
    assert beta.descriptive.value is None
    assert beta.descriptive.reason is not None


def test_over_skills_the_skill_is_the_unit(tmp_path: Path) -> None:
    """The pooled contrast is the mean of the skills' contrasts, with as many units as skills."""
    found = study(Run(), tmp_path)
    kept, every = found.aggregates
    values = {one.skill: find(found, one.skill, "B−A").measure.value or 0.0 for one in found.skills}

    assert (kept.name, kept.skills, every.name, every.skills) == ("kept", 2, "all", 3)
    assert kept.effects[0].unit == "skill"
    assert kept.effects[0].measure.value == pytest.approx((values["alpha-sdk"] + values["beta-docs"]) / 2)
    assert every.effects[0].measure.value == pytest.approx(sum(values.values()) / 3)


def test_one_skill_is_no_group(tmp_path: Path) -> None:
    """A risk level with one skill has no mean of its own, and says so."""
    kept = study(Run(), tmp_path).aggregates[0]

    levels = [one for one in kept.groups if one.by == "risk_level"]
    assert {one.measure.value for one in levels} == {None}
    assert {one.measure.reason for one in levels} == {"one skill is not a group"}
    assert {one.skills for one in kept.groups if one.by == "task_type"} == {2}


def test_too_few_skills_have_no_correlation(tmp_path: Path) -> None:
    """Two or three skills always lie nearly on a line."""
    for aggregate in study(Run(), tmp_path).aggregates:
        for one in aggregate.correlations:
            assert one.pearson.value is None
            assert one.pearson.reason is not None


def test_a_selection_is_its_own_family(tmp_path: Path) -> None:
    """One skill alone: its contrast stands, means over skills do not."""
    found = study(Run(), tmp_path, "alpha-sdk")

    effect = find(found, "alpha-sdk", "B−A")
    assert found.selected == ("alpha-sdk",)
    assert [one.skill for one in found.skills] == ["alpha-sdk"]
    assert effect.p_holm == effect.paired_t.p
    assert found.aggregates[0].effects == ()


def test_unknown_skills_are_refused_at_once(tmp_path: Path) -> None:
    """All names that are not there, with a suggestion where one is near."""
    with pytest.raises(DesignError) as caught:
        study(Run(), tmp_path, "alpha-sdl", "beta-docs", "omega")

    assert [fault.code for fault in caught.value.faults] == ["unknown-name", "unknown-name"]
    assert caught.value.faults[0].advice == "did you mean alpha-sdk?"


def test_every_excluded_skill(tmp_path: Path) -> None:
    """A study that kept no skill has no aggregate of kept ones, and nothing breaks."""
    run = Run()
    run.documents["skills.json"]["excluded_from_aggregates"] = ["alpha-sdk", "beta-docs", "gamma-flow"]

    kept, every = study(run, tmp_path).aggregates

    assert (kept.skills, kept.effects, kept.mitigation) == (0, (), None)
    assert every.effects[0].units == 3


def test_degenerate_scores(tmp_path: Path) -> None:
    """All scores equal on both arms: no t, no Wilcoxon, no d, each with its reason, and no interval of width zero."""
    run = Run()
    for task in (0, 1, 2):
        for position in (0, 1):
            one = run.run("alpha-sdk", task, position)
            for condition in ("baseline", "with_skill", "realistic"):
                one[condition] = run.run("beta-docs", 0, 0)["baseline"]

    effect = find(study(run, tmp_path), "alpha-sdk", "B−A")

    assert effect.measure.value == 0.0
    assert (effect.paired_t.p, effect.wilcoxon.p, effect.cohens_d.value) == (None, None, None)
    assert effect.paired_t.reason is not None
    assert effect.p_holm is None
    assert effect.measure.low is None or effect.measure.low < 0.0
    assert effect.measure.high is None or effect.measure.high > 0.0


def test_one_task_has_no_interval(tmp_path: Path) -> None:
    """Nothing says how tasks vary."""
    run = Run()
    run.documents["scores/alpha-sdk.json"]["tasks"] = run.documents["scores/alpha-sdk.json"]["tasks"][:1]

    effect = find(study(run, tmp_path), "alpha-sdk", "B−A")

    assert effect.units == 1
    assert effect.measure.value == pytest.approx(-0.5)
    assert effect.measure.low is None
    assert effect.measure.reason is not None
    assert effect.p_holm is None


def test_disjoint_tasks_have_no_contrast(tmp_path: Path) -> None:
    """Arms without a common task: None with the reason."""
    run = Run()
    for position in (0, 1):
        run.run("alpha-sdk", 0, position)["with_skill"]["judge"] = None
        run.run("alpha-sdk", 1, position)["baseline"]["judge"] = None
        run.run("alpha-sdk", 2, position)["baseline"]["judge"] = None

    effect = find(study(run, tmp_path), "alpha-sdk", "B−A")

    assert effect.measure.value is None
    assert effect.measure.reason is not None
    assert effect.units == 0
    assert effect.paired_t.p is None


def test_order_does_not_matter(tmp_path: Path) -> None:
    """Tasks and runs in another order give the same study, but for the order in which tasks are listed."""
    run, other = Run(), Run()
    document = other.documents["scores/alpha-sdk.json"]
    document["tasks"].reverse()
    for task in document["tasks"]:
        task["runs"].reverse()

    first, second = study(run, tmp_path / "one"), study(other, tmp_path / "two")

    assert find_skill(first, "alpha-sdk").effects == find_skill(second, "alpha-sdk").effects
    assert first.aggregates[0].effects == second.aggregates[0].effects


def test_the_study_goes_to_a_document_and_back(tmp_path: Path) -> None:
    """The record is closed: what `--json` prints is read back as the same study."""
    found = study(Run(), tmp_path)

    assert from_document(ContaminationStudy, to_document(found), where="results.json") == found


def test_swapped_arms_swap_the_sign(tmp_path: Path) -> None:
    """B−D is what D and B exchange: with both conditions exchanged in the files it changes its sign and its ends."""
    run, other = Run(), Run()
    for task in (0, 1, 2):
        for position in (0, 1):
            one = other.run("gamma-flow", task, position)
            one["with_skill"], one["realistic"] = one["realistic"], one["with_skill"]

    first = find(study(run, tmp_path / "one"), "gamma-flow", "B−D").measure
    second = find(study(other, tmp_path / "two"), "gamma-flow", "B−D").measure

    assert first.value is not None
    assert first.low is not None
    assert first.value > 3 or first.value < -3
    assert second.value == pytest.approx(-first.value)
    assert second.high == pytest.approx(-first.low)


def list_places(document: object, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    inner = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document, list) else ()
    return [path, *(place for name, value in inner for place in list_places(value, (*path, name)))]


STRANGE = [None, True, 0, -1, 6, 1e300, 10**400, 4.999, "", "x", "\u202e<b>", [], {}, [None], {"judge": None}]


@settings(max_examples=scale(40), deadline=None)
@given(choice=integers(0, 2**32), value=sampled_from(STRANGE), depth=integers(1, 9))
def test_anything_anywhere_is_read_or_refused(choice: int, value: object, depth: int) -> None:
    """One place of one file, at any depth, replaced by something strange: a study, or an error of the family; never a traceback."""
    run = Run()
    run.documents["behavioral-eval.json"] = {
        "summary": {
            "realistic_context": {"mean_delta_skill_only": -0.1, "mean_mitigation_ratio": 0.5},
            "correlation_structural_behavioral": 0.1,
        },
        "skills": [{"skill_name": "alpha-sdk", "mean_delta_composite": 0.1, "statistics": {"n_comparisons": 6, "paired_t_p": 0.01}}],
    }
    run.documents["history/first/scores/alpha-sdk.json"] = json.loads(json.dumps(run.documents["scores/alpha-sdk.json"]))
    name = sorted(run.documents)[choice % len(run.documents)]
    places = [place for place in list_places(run.documents[name]) if place]
    *path, last = places[choice % len(places)][:depth]
    inner = run.documents[name]
    for step in path:
        inner = inner[step]
    inner[last] = value

    with TemporaryDirectory() as folder:
        try:
            found = study(run, Path(folder))
        except CaveatError as error:
            assert error.faults[0].where
        else:
            assert from_document(ContaminationStudy, to_document(found), where="results.json") == found
