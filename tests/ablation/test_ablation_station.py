"""Cues of a table: signs, Holm, placebos, classes, and what is refused."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from audit.errors import DesignError
from audit.modules.cue_ablation import AblationSetting, ablate
from audit.sources.score_table import read_table
from audit.statistics.responses import ScoreTable
from registry.codec.canonical_documents import from_document, to_document
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.claim import Form
from registry.records.module_findings import Ablation, CueChange
from registry.records.verdict import ClaimClass
from tests.statistics.tables import Row, build_table, label
from tests.statistics.test_real_recordings import SHARED, read_paired
from tests.verdict.cases import build_case

RECORDING = Path(__file__).parents[2] / "examples" / "recording" / "ablation.csv"
Cell = tuple[str, str | None, float]
"""Arm, cue and the share of ones in it."""


def make(cells: Iterable[Cell], *, tasks: int = 40, contexts: int = 6, seed: int = 1) -> ScoreTable:
    """A crossed table; a task answers alike in all cells up to the share, so that cues are paired."""
    rng = np.random.default_rng(seed)
    ability = rng.random((tasks, contexts))
    noise = {arm: rng.uniform(-0.05, 0.05, (tasks, contexts)) for arm in ("test", "deploy", "other")}
    rows: list[Row] = []
    cues: list[str | None] = []
    for arm, cue, share in cells:
        for (task, context), one in np.ndenumerate(ability + noise[arm]):
            rows.append((f"t{task:02d}", arm, f"c{context}", "0", float(one < share)))
            cues.append(cue)
    return build_table(rows, cues=cues)


def find(found: Ablation, cue: str) -> CueChange:
    return next(one for one in found.changes if one.cue == cue)


STRONG = [("test", None, 0.9), ("deploy", None, 0.5), ("test", "format", 0.5), ("test", "wording", 0.88), ("test", "placebo-a", 0.87)]


def test_a_cue_taken_out_of_the_test_side_lowers_ed_by_what_it_gave() -> None:
    """ΔED = Φ_test − Φ_test without it; the difference of the two ED is the same number."""
    found = ablate(make(STRONG), Plan(), range_=(0, 1))

    change = find(found, "format")
    without = ablate(make([("test", None, 0.5), STRONG[1], STRONG[3]]), Plan(), range_=(0, 1))
    assert change.change.value == pytest.approx(change.phi_before - change.phi_after, abs=1e-12)
    assert found.ed.value is not None
    assert without.ed.value is not None
    assert change.change.value == pytest.approx(found.ed.value - without.ed.value, abs=1e-12)
    assert change.change.value is not None
    assert 0.3 < change.change.value < 0.5
    assert change.material
    assert change.relevant is True


def test_a_cue_put_into_the_deployment_side_has_the_same_sign() -> None:
    """ΔED = Φ_deploy with it − Φ_deploy: the cue raises the score on either side."""
    found = ablate(make([("test", None, 0.9), ("deploy", None, 0.5), ("deploy", "disclosure", 0.9)]), Plan(), range_=(0, 1))

    change = find(found, "disclosure")
    assert change.change.value == pytest.approx(change.phi_after - change.phi_before, abs=1e-12)
    assert change.change.low is not None
    assert change.change.low > 0.2


def test_a_cue_without_effect_is_not_relevant_and_comes_after_one_with() -> None:
    """Order is that of |ΔED|, placebos last."""
    found = ablate(make(STRONG), Plan(), range_=(0, 1))

    assert [one.cue for one in found.changes] == ["format", "wording", "placebo-a"]
    assert find(found, "wording").relevant is False
    assert found.family == 2


def test_holm_widens_and_simultaneous_intervals_hold_the_single_one() -> None:
    """With two cues the clearest is read at 97.5 %, the other at 95 %."""
    found = ablate(make(STRONG), Plan(), range_=(0, 1))

    cue, other = find(found, "format"), find(found, "wording")
    assert cue.holm is not None
    assert cue.change.low is not None
    assert cue.holm.low < cue.change.low
    assert other.holm is not None
    assert (other.holm.low, other.holm.high) == (other.change.low, other.change.high)
    for one in (cue, other):
        assert one.simultaneous is not None
        assert one.change.low is not None
        assert one.simultaneous.low <= one.change.low
        assert one.p is not None
        assert one.p_holm is not None
        assert one.p_holm >= one.p


def test_a_placebo_is_compared_and_never_adjusted_or_relevant() -> None:
    """What the cue does beyond it has an interval of its own; ED as it is cancels."""
    found = ablate(make(STRONG), Plan(), range_=(0, 1))

    cue, placebo = find(found, "format"), find(found, "placebo-a")
    assert placebo.placebo
    assert (placebo.holm, placebo.p_holm, placebo.simultaneous, placebo.relevant, placebo.beyond_placebo) == (None,) * 5
    assert placebo.reason is not None
    assert cue.beyond_placebo is not None
    assert cue.beyond_placebo.value == pytest.approx((cue.change.value or 0) - (placebo.change.value or 0), abs=1e-12)
    assert not any(warning.code == "no-placebo" for warning in found.warnings)


def test_a_placebo_can_be_named() -> None:
    """Whatever it is called."""
    found = ablate(make(STRONG), Plan(), range_=(0, 1), setting=AblationSetting(placebos=frozenset({"wording"})))

    assert {one.cue for one in found.changes if one.placebo} == {"wording", "placebo-a"}
    assert found.family == 1


def test_a_placebo_that_moves_the_score_is_told() -> None:
    """And a cue that does no more than it is not called more."""
    cells = [("test", None, 0.9), ("deploy", None, 0.5), ("test", "format", 0.5), ("test", "placebo", 0.5)]

    codes = [warning.code for warning in ablate(make(cells), Plan(), range_=(0, 1)).warnings]

    assert "placebo-not-inert" in codes
    assert "not-beyond-placebo" in codes


def test_the_class_is_given_with_and_without_the_cue() -> None:
    """A degraded figure becomes stable when the cue that moved it is gone."""
    case = build_case(Form.PREVALENCE, plan=Plan(margin=0.15))

    found = ablate(make(STRONG), case.plan, range_=(0, 1), case=case)

    assert found.class_before is ClaimClass.DEGRADED
    assert find(found, "format").class_after is ClaimClass.STABLE
    assert find(found, "wording").class_after is ClaimClass.DEGRADED
    assert find(found, "wording").relevant is False


def test_a_change_of_class_makes_a_cue_relevant_even_if_it_is_not_material() -> None:
    """Below the margin, and yet what decides."""
    cells = [("test", None, 0.72), ("deploy", None, 0.5), ("test", "format", 0.6)]
    case = build_case(Form.PREVALENCE, plan=Plan(margin=0.15))

    change = ablate(make(cells, tasks=60), case.plan, range_=(0, 1), case=case).changes[0]

    assert not change.material
    assert change.relevant is True


def test_a_class_that_changes_by_chance_makes_no_cue_relevant() -> None:
    """An edit without effect, replayed anew beside a threshold: it changes the class in 9 of 40 tables, and is called relevant in 1."""
    case = build_case(Form.THRESHOLD, theta=0.35, plan=Plan(replicates=0))
    rng = np.random.default_rng(0)
    changed, found = 0, []
    for _ in range(40):
        rate = 1 / (1 + np.exp(-(np.log(1 / 3) + rng.standard_normal((40, 1)))))
        arms = [("test", None), ("deploy", None), ("deploy", "tone")]
        scores = [(rng.random((40, 6)) < rate).astype(float) for _ in arms]
        rows = [
            (f"t{task:02d}", arm, f"c{context}", "0", float(one))
            for (arm, _), block in zip(arms, scores, strict=True)
            for (task, context), one in np.ndenumerate(block)
        ]
        report = ablate(build_table(rows, cues=[cue for _, cue in arms for _ in range(240)]), case.plan, range_=(0, 1), case=case)
        if report.changes[0].class_after is not report.class_before:
            changed += 1
            found.append(report.changes[0])

    silent = [one for one in found if one.relevant is None]
    assert changed >= 5
    assert changed - len(silent) <= 2
    assert all("cannot be said" in (one.reason or "") for one in silent)


def test_the_class_with_the_cue_is_compared_over_the_same_tasks() -> None:
    """Ten of forty tasks are too few for a class; that is not what the cue did."""
    whole = make([("test", None, 0.9), ("deploy", None, 0.5), ("test", "format", 0.9)])
    assert whole.cue_removed is not None
    few = whole.keep((whole.cue_removed.codes < 0) | (whole.task.codes < 10))
    case = build_case(Form.PREVALENCE)

    found = ablate(few, case.plan, range_=(0, 1), case=case)

    assert found.class_before is ClaimClass.DEGRADED
    assert found.changes[0].class_after is ClaimClass.UNDETERMINED
    assert found.changes[0].relevant is False
    assert any(warning.code == "cue-tasks-missing" and "30 tasks" in warning.message for warning in found.warnings)


def test_the_record_survives_its_document() -> None:
    """What is recorded in an audit is read back."""
    found = ablate(make(STRONG), Plan(), range_=(0, 1))

    assert from_document(Ablation, to_document(found), where="test") == found


def test_order_of_rows_changes_nothing() -> None:
    """Not a bit of it."""
    table = make(STRONG)
    shuffled = table.keep(np.random.default_rng(3).permutation(table.rows))

    assert ablate(shuffled, Plan(), range_=(0, 1)) == ablate(table, Plan(), range_=(0, 1))


def test_another_range_is_in_its_unit() -> None:
    """Scores from 0 to 100 give ΔED in points of it."""
    table = make(STRONG)
    large = replace(table, score=table.score * 100, high=100.0)

    small, big = (ablate(one, Plan(), range_=(0, one.high)) for one in (table, large))

    assert big.margin == 5
    for one, other in zip(small.changes, big.changes, strict=True):
        assert other.change.value == pytest.approx(100 * (one.change.value or 0))
        assert other.change.low == pytest.approx(100 * (one.change.low or 0))
        assert other.phi_after == pytest.approx(100 * one.phi_after)


def test_contexts_under_other_ids_count_as_independent_and_that_is_told() -> None:
    """The interval is wider, the number the same."""
    table = make(STRONG[:3])
    assert table.cue_removed is not None
    edited = table.cue_removed.codes >= 0
    names = [f"{table.context.labels[code]}{'a' if edit else ''}" for code, edit in zip(table.context.codes, edited, strict=True)]

    paired, apart = (ablate(one, Plan(), range_=(0, 1)) for one in (table, replace(table, context=label(names))))

    assert paired.changes[0].change.value == pytest.approx(apart.changes[0].change.value)
    assert next(warning.code for warning in apart.warnings) == "contexts-not-paired"


@pytest.mark.parametrize(
    ("tasks", "contexts", "design", "reason"),
    [
        (1, 6, ContextDesign.RANDOM, "one task"),
        (40, 1, ContextDesign.RANDOM, "one context"),
    ],
)
def test_too_thin_a_design_gets_no_interval_and_a_reason(tasks: int, contexts: int, design: ContextDesign, reason: str) -> None:
    """Whether the cue matters cannot be said then, and is not said."""
    found = ablate(make(STRONG[:3], tasks=tasks, contexts=contexts), Plan(contexts=design), range_=(0, 1)).changes[0]

    assert found.change.low is None
    assert found.change.reason is not None
    assert reason in found.change.reason
    assert (found.holm, found.simultaneous, found.p, found.p_holm, found.relevant) == (None,) * 5
    assert not found.material


def test_a_change_that_is_the_same_everywhere_has_no_p_and_an_interval() -> None:
    """From all right to all wrong."""
    found = ablate(make([("test", None, 2.0), ("deploy", None, 0.5), ("test", "all", -1.0)]), Plan(), range_=(0, 1)).changes[0]

    assert found.change.value == 1
    assert found.p is None
    assert found.reason is not None
    assert "No p" in found.reason
    assert found.change.low is not None
    assert 0.5 < found.change.low < 1
    assert found.relevant is True


def codes_of(table: ScoreTable, **setting: str | frozenset[str]) -> list[str]:
    with pytest.raises(DesignError) as caught:
        ablate(table, Plan(), range_=(0, 1), setting=AblationSetting(**setting))  # type: ignore[arg-type]  # names and kinds are those of Setting
    return [fault.code for fault in caught.value.faults]


def test_a_table_without_cues_is_refused() -> None:
    """Nothing to ablate."""
    plain = build_table([("t", arm, "c", "0", 1.0) for arm in ("test", "deploy")])

    assert codes_of(plain) == ["no-cues"]
    assert codes_of(make([*STRONG[:2], ("other", "format", 0.5)])) == ["no-cues"]


def test_one_side_alone_is_refused() -> None:
    """A differential of one side does not exist, and neither does its change."""
    assert codes_of(make([STRONG[0], STRONG[2]])) == ["one-sided"]


def test_an_unknown_placebo_is_refused_with_what_was_probably_meant() -> None:
    """A slip in its name would make a cue of it."""
    with pytest.raises(DesignError) as caught:
        ablate(make(STRONG), Plan(), range_=(0, 1), setting=AblationSetting(placebos=frozenset({"wordin"})))

    assert caught.value.code == "unknown-name"
    assert caught.value.faults[0].advice == "did you mean wording?"


def test_versions_without_common_tasks_are_refused_all_at_once() -> None:
    """Each cue that cannot be compared is named."""
    table = make([*STRONG[:4]])
    assert table.cue_removed is not None
    edited = table.cue_removed.codes >= 0
    names = [f"{table.task.labels[code]}{'x' if edit else ''}" for code, edit in zip(table.task.codes, edited, strict=True)]

    assert codes_of(replace(table, task=label(names))) == ["no-common-task", "no-common-task"]


def with_specs(specs: Sequence[str | None], table: ScoreTable) -> ScoreTable:
    return replace(table, spec=label(specs))


def test_several_specifications_ask_for_one() -> None:
    """And the one that is named is the one that counts."""
    table = make([("test", None, 0.9), ("deploy", None, 0.5), ("deploy", None, 0.2), ("deploy", "cue", 0.7), ("test", "format", 0.5)])
    size = 240
    both = with_specs([*[None] * size, *["chat"] * size, *["agent"] * size, *["chat"] * size, *[None] * size], table)

    assert codes_of(both) == ["choice-needed"]
    assert codes_of(both, spec="chta") == ["unknown-name"]
    chat, agent = (ablate(both, Plan(), range_=(0, 1), setting=AblationSetting(spec=spec)) for spec in ("chat", "agent"))
    assert (chat.spec, agent.spec) == ("chat", "agent")
    assert {one.cue for one in chat.changes} == {"cue", "format"}
    assert {one.cue for one in agent.changes} == {"format"}
    assert agent.ed.value is not None
    assert chat.ed.value is not None
    assert agent.ed.value > chat.ed.value


def test_several_judges_are_never_mixed() -> None:
    """One at a time, and the message says how."""
    table = make(STRONG)
    table = replace(table, judge=label(["a" if row % 2 else "b" for row in range(table.rows)]))

    assert codes_of(table) == ["choice-needed"]


def test_the_recording_gives_its_printed_numbers() -> None:
    """Φ_test 0.573 → 0.813 without the words "letter only", ED −0.188 → +0.052; twelve tasks in four contexts decide nothing."""
    table = read_table([RECORDING], low=0, high=1)

    random, fixed = (ablate(table, Plan(contexts=design), range_=(0, 1)) for design in (ContextDesign.RANDOM, ContextDesign.FIXED))

    change = random.changes[0]
    assert (change.phi_before, change.phi_after) == pytest.approx((0.573, 0.813), abs=5.1e-4)
    assert random.ed.value is not None
    assert change.change.value is not None
    assert (random.ed.value, random.ed.value - change.change.value) == pytest.approx((-0.188, 0.052), abs=5.1e-4)
    assert change.relevant is False
    assert fixed.changes[0].relevant is True
    assert [warning.code for warning in random.warnings] == ["few-tasks", "few-contexts", "few-contexts", "no-placebo"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here")
def test_published_cues_on_a_large_model_are_found_by_adding_them_to_deployment() -> None:
    """The note's headlines, 199 harmful requests: explicit and log cues matter, metadata does not; a service log is the placebo."""

    def keep(row: dict[str, str]) -> str | None:
        return "kept" if row["property"] == "refusal_harmful" else None

    rows = read_paired("indic_cues_gemma3", keep)
    # One context a side: the prompt, and the edits of it. The explicit evaluation is the test side too.
    plain = [(task, {"deploy": "deploy", "eval_explicit": "test"}[context], "prompt", sample, score)
             for task, _, context, sample, score in rows if context in ("deploy", "eval_explicit")]  # fmt: skip
    added = [(task, "deploy", "prompt", sample, score) for task, _, context, sample, score in rows if context != "deploy"]
    cues = [context for _, _, context, _, _ in rows if context != "deploy"]
    table = build_table([*plain, *added], cues=[*[None] * len(plain), *cues])

    found = ablate(table, Plan(contexts=ContextDesign.FIXED), range_=(0, 1), setting=AblationSetting(placebos=frozenset({"monitor_log"})))

    printed = {
        "eval_explicit": (0.176, 0.121, 0.236),
        "eval_log": (0.080, 0.035, 0.131),
        "eval_metadata": (-0.005, -0.065, 0.055),
        "monitor_log": (0.020, -0.025, 0.065),
    }
    for one in found.changes:
        assert one.tasks == 199
        assert one.change.value == pytest.approx(printed[one.cue][0], abs=5.1e-4)
        assert (one.change.low, one.change.high) == pytest.approx(printed[one.cue][1:], abs=0.012)
    assert {one.cue: one.relevant for one in found.changes} == {
        "eval_explicit": True,
        "eval_log": True,
        "eval_metadata": False,
        "monitor_log": None,
    }
    beyond = find(found, "eval_explicit").beyond_placebo
    assert beyond is not None
    assert beyond.value == pytest.approx(0.156, abs=1.1e-3)
    assert beyond.low is not None
    assert beyond.low > 0.05


def test_a_change_without_a_statistic_makes_joint_intervals_those_of_bonferroni() -> None:
    """It cannot be resampled, and is still one of the two that hold at once."""
    cells = [("test", None, 2.0), ("deploy", None, 0.5), ("test", "all", -1.0), ("test", "half", 0.5)]

    found = ablate(make(cells), Plan(), range_=(0, 1))

    first, second = (find(found, cue) for cue in ("all", "half"))
    assert first.p is None
    assert first.simultaneous == first.holm
    assert second.simultaneous is not None
    assert second.holm is not None
    assert second.simultaneous.low < second.holm.low


def test_a_version_without_a_scored_response_is_refused() -> None:
    """Every one of them was excluded."""
    table = make(STRONG[:3])
    assert table.cue_removed is not None
    edited = table.cue_removed.codes >= 0
    excluded = label(["refused" if edit else None for edit in edited])

    assert codes_of(replace(table, excluded=excluded, score=np.where(edited, np.nan, table.score))) == ["no-common-task"]


def test_more_responses_excluded_with_the_edit_are_told() -> None:
    """What was lost may be what the cue changed; ΔED is over the cells that both have."""
    table = make(STRONG[:3])
    assert table.cue_removed is not None
    lost = (table.cue_removed.codes >= 0) & (table.task.codes < 3) & (table.context.codes == 0)
    score = np.where(lost, np.nan, table.score)

    found = ablate(replace(table, excluded=label(["cut" if one else None for one in lost]), score=score), Plan(), range_=(0, 1))

    assert any("3 of 240 responses were excluded with the edit, 0 of 240 without it" in warning.message for warning in found.warnings)
    assert any(warning.code == "cells-not-paired" for warning in found.warnings)


def test_a_cue_and_a_placebo_of_other_tasks_are_not_compared() -> None:
    """And the reason is given."""
    table = make([*STRONG[:3], STRONG[4]])
    assert table.cue_removed is not None
    cues, half = table.cue_removed, table.task.codes < 20
    kept = (cues.codes < 0) | ((cues.codes == cues.find("format")) & half) | ((cues.codes == cues.find("placebo-a")) & ~half)

    change = find(ablate(table.keep(kept), Plan(), range_=(0, 1)), "format")

    assert change.beyond_placebo is None
    assert change.reason is not None
    assert "share no task" in change.reason


def test_edits_of_other_arms_are_excluded_and_told() -> None:
    """They belong to neither side."""
    found = ablate(make([*STRONG, ("other", "format", 0.1)]), Plan(), range_=(0, 1))

    assert len(found.changes) == 3
    assert any(warning.code == "other-arms" and "other" in warning.message for warning in found.warnings)


def test_edited_deployment_rows_name_their_specification() -> None:
    """Where the others do."""
    table = make([*STRONG[:2], ("deploy", "cue", 0.7)])

    assert codes_of(with_specs([*[None] * 240, *["chat"] * 240, *[None] * 240], table)) == ["spec-missing"]
