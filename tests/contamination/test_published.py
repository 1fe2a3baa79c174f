"""The compatibility column: published figures recomputed the way they were made."""

import json
from pathlib import Path

import pytest

from audit.contamination.published_figures import compare_published, find_figure, recompute
from audit.skills.cli.skill_study_presenter import describe_figures
from audit.sources.skill_run_folder import read_recording
from audit.sources.skill_study_records import FigureCount
from tests.contamination.made_up import Run
from tests.gold import SHARED

STUDY_DATA = SHARED / "skill-eval"

# Published figures of the made-up run, by hand. alpha-sdk, task 1: baseline dimensions mean (5, 4.5, 4, 4), with the skill (4, 4, 3.5, 4),
# so the deltas are −1, −0.5, −0.5, 0 and their mean is −0.5.
ALPHA_TASK = {
    "task_id": "alpha-sdk-1",
    "deltas": {"language_correctness": -1.0, "api_idiomaticity": -0.5, "functional_correctness": -0.5, "code_quality": 0.0},
    "delta_composite": -0.5,
    "anti_pattern_rate_baseline": 0.0,
}


def publish(run: Run, **alpha: object) -> None:
    run.documents["behavioral-eval.json"] = {
        "summary": {"n_skills": 2, "excluded_from_aggregates": [{"name": "gamma-flow", "reason": "behavioral_override"}]},
        "skills": [{"skill_name": "alpha-sdk", "tasks": [ALPHA_TASK], **alpha}],
    }


def test_figures_made_by_hand_are_reproduced(tmp_path: Path) -> None:
    """Means of rounded means, and the pairs of runs as if they were independent."""
    run = Run()
    # B − A by run: 4 − 4.5, 3.75 − 4.25, 3.75 − 4, 4.75 − 5, 4.25 − 4.75, 4.25 − 4.5; statsmodels 0.15.0:
    # >>> DescrStatsW([-.5, -.5, -.25, -.25, -.5, -.25]).ztest_mean(0)
    # gives z = -6.708203932499369 and p = 1.970344471179895e-11
    publish(run, mean_delta_composite=-0.375, statistics={"n_comparisons": 6, "paired_t_stat": -6.708, "paired_t_p": 0.0, "wilcoxon_w": 0})

    found = compare_published(read_recording(run.write(tmp_path)))

    assert found is not None
    assert found.differ == ()
    assert found.total == FigureCount(recomputed=12, reproduced=12, copied=0, copies_agree=0)


def test_a_figure_that_the_files_do_not_give_is_listed(tmp_path: Path) -> None:
    """A wrong digit and a figure of nothing are named with their paths; the others still count."""
    run = Run()
    publish(run, mean_delta_composite=-0.376, invented=1.0)

    found = compare_published(read_recording(run.write(tmp_path)))

    assert found is not None
    assert [(one.path, one.published, one.recomputed) for one in found.differ] == [
        ("skills.alpha-sdk.mean_delta_composite", -0.376, -0.375),
        ("skills.alpha-sdk.invented", 1.0, None),
    ]
    assert found.total.reproduced == found.total.recomputed - 2


def test_patterns_are_matched_against_the_stored_texts(tmp_path: Path) -> None:
    """A published pattern result that the response's text does not give differs, whatever copy of it stands in scores/."""
    run = Run()
    results = {"expected_results": [{"pattern": "no such text", "matched": True}], "anti_results": [{"pattern": "#", "matched": False}]}
    run.run("alpha-sdk", 0, 0)["baseline"]["patterns"] = results
    publish(run, tasks=[{"task_id": "alpha-sdk-1", "pattern_results": {"baseline": [results, results]}}])

    recording = read_recording(run.write(tmp_path))
    found = compare_published(recording)

    assert found is not None
    wrong = "skills.alpha-sdk.tasks.alpha-sdk-1.pattern_results.baseline.0.expected_results.0.matched"
    assert [(one.path, one.published, one.recomputed) for one in found.differ] == [(wrong, 1.0, 0.0)]
    assert found.by_part["tasks: patterns"] == FigureCount(recomputed=4, reproduced=3, copied=0, copies_agree=0)
    (note,) = (one for one in recording.notes if one.kind == "patterns-differ")
    assert note.where == "alpha-sdk"
    assert "1 responses" not in note.message
    assert "task alpha-sdk-1, run 0, arm A" in note.message


def test_figures_compared_with_a_copy_are_counted_apart(tmp_path: Path) -> None:
    """Without the texts, patterns are a copy, as structural scores always are: agreeing with it reproduces nothing."""
    run = Run()
    del run.documents["generations/alpha-sdk.json"]
    results = {"expected_results": [{"pattern": ".", "matched": True}], "anti_results": [{"pattern": "#", "matched": True}]}
    task = {**ALPHA_TASK, "pattern_results": {"baseline": [results]}}
    publish(run, contamination_score=0.9, tasks=[task])

    found = compare_published(read_recording(run.write(tmp_path)))

    assert found is not None
    # Six figures come from the judge's scores, and the summary's number of skills. The copies: the structural score, a rate of
    # anti-patterns, and two pattern results, of which one is another one in scores/.
    assert found.total == FigureCount(recomputed=6, reproduced=6, copied=4, copies_agree=3)
    assert [one.path.rpartition(".pattern_results.")[2] for one in found.differ] == ["baseline.0.anti_results.0.matched"]


def test_both_numbers_are_told() -> None:
    """The sentence calls only recomputed figures recomputed, and names the others with their own number."""
    both = FigureCount(recomputed=3515, reproduced=3514, copied=18666, copies_agree=18666)

    assert describe_figures(both) == (
        "3,514 of 3,515 published figures that were recomputed here agree to their last digit. "
        "18,666 more were only compared with a copy in the files: 18,666 agree."
    )
    assert describe_figures(FigureCount(recomputed=1, reproduced=1, copied=0, copies_agree=0)).endswith("agree to their last digit.")


def test_nothing_published_is_nothing_compared(tmp_path: Path) -> None:
    """Without behavioral-eval.json there is no compatibility column, and no figure of it."""
    recording = read_recording(Run().write(tmp_path))

    assert compare_published(recording) is None
    assert find_figure(recording.published, "summary", "n_skills") is None


def test_the_faults_of_the_study_are_reproduced_too(tmp_path: Path) -> None:
    """A ratio over 0 is 0, p without variation is 1: as published, and nowhere else."""
    run = Run()
    run.documents["scores/beta-docs.json"] = json.loads(
        json.dumps(run.documents["scores/beta-docs.json"]).replace('"language_correctness": 5', '"language_correctness": 4')
    )
    for task in (0, 1, 2):
        for position in (0, 1):
            one = run.run("beta-docs", task, position)
            one["with_skill"] = one["baseline"]

    found = recompute(read_recording(run.write(tmp_path)))["skills"]["beta-docs"]

    assert found["statistics"] == {
        "n_comparisons": 6,
        "paired_t_stat": 0.0,
        "paired_t_p": 1.0,
        "wilcoxon_w": 0.0,
        "wilcoxon_p": 1.0,
        "cohens_d": 0.0,
    }
    assert found["statistics_realistic"]["mitigation_ratio"] == 0.0


@pytest.mark.skipif(not STUDY_DATA.is_dir(), reason="the shared data are not here")
def test_every_published_figure_that_can_be_recomputed_is_reproduced() -> None:
    """All but the structural scores, to the last printed digit: the recomputation is that of the study."""
    found = compare_published(read_recording(STUDY_DATA))

    assert found is not None
    assert found.differ == ()
    # 22 structural scores are a copy; the 18,666 pattern results come from the 1,074 stored texts.
    assert found.total == FigureCount(recomputed=22159, reproduced=22159, copied=22, copies_agree=22)
    assert found.by_part["tasks: patterns"] == FigureCount(recomputed=18666, reproduced=18666, copied=0, copies_agree=0)
    assert found.by_part["summary"] == FigureCount(recomputed=59, reproduced=59, copied=0, copies_agree=0)
