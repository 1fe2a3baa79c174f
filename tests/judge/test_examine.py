"""What is said of a judge: its noise, its errors on both sides, and whether it depends on the context."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.errors import DesignError
from audit.modules.differential_estimate import estimate
from audit.modules.judge_error import JudgeQuestion
from audit.modules.judge_report import examine
from audit.statistics.judge_correction import HitCounts, JudgeAccuracy
from audit.statistics.responses import Floats, ScoreTable
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.module_findings import Invariance, JudgeReport
from tests.examples import scale
from tests.statistics.tables import Row, build_table, label

FIXED = Plan(contexts=ContextDesign.FIXED, replicates=0)
RANDOM = Plan(replicates=0)
TASKS, CONTEXTS = 60, 5
SIDES = {"test": 0.4, "deploy": 0.25}


def draw(seed: int, *, errors: dict[str, tuple[float, float]] | None = None, share: float = 0.5) -> tuple[ScoreTable, Floats]:
    """A table scored by a judge with a sensitivity and specificity on each side, and a person's labels of a random share."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    labels: list[float] = []
    for side, rate in SIDES.items():
        right = (errors or {}).get(side, (0.95, 0.95))
        for task in range(TASKS):
            for context in range(CONTEXTS):
                truth = rng.random() < rate
                score = rng.random() < right[0] if truth else rng.random() >= right[1]
                rows.append((f"t{task:02}", side, f"{side}-{context}", "0", float(score)))
                labels.append(float(truth) if rng.random() < share else np.nan)
    return build_table(rows), np.array(labels)


def ask(table: ScoreTable, plan: Plan = FIXED, range_: tuple[float, float] = (0, 1), **known: Any) -> JudgeReport:
    (report,) = examine(table, plan, JudgeQuestion(**known), range_=range_)
    return report


def only_check(table: ScoreTable, plan: Plan = FIXED, **known: Any) -> Invariance:
    (check,) = ask(table, plan, **known).invariance
    return check


def test_the_judged_numbers_are_those_of_the_estimate() -> None:
    """To the bit, with its warnings; nothing corrected is mixed in."""
    table, labels = draw(1)
    report, plain = ask(table, RANDOM, labels=labels), estimate(table, RANDOM, range_=(0, 1)).specs[0]

    assert (report.ed.value, report.ed.low, report.ed.high) == (plain.ed.value, plain.ed.low, plain.ed.high)
    assert (report.phi_test.low, report.phi_deploy.high) == (plain.phi_test.low, plain.phi_deploy.high)
    assert report.scores == table.content


def test_a_judge_that_errs_on_one_side_is_caught_and_corrected() -> None:
    """It misses half of the positives under test: the judged ED has the wrong sign, labels bring it back, the check fails."""
    table, labels = draw(2, errors={"test": (0.45, 0.98), "deploy": (0.98, 0.98)})
    report = ask(table, labels=labels)
    (corrected,) = report.corrected

    assert report.ed.value is not None
    assert report.ed.value < 0
    assert corrected.ed.low is not None
    assert corrected.ed.high is not None
    assert corrected.ed.low < 0.15 < corrected.ed.high
    assert corrected.ed.low > report.ed.value
    assert [check.passed for check in report.invariance] == [False]
    assert report.invariant is False


def test_a_judge_that_errs_alike_on_both_sides_passes_and_is_told_to_be_off() -> None:
    """Invariance asks about the difference; that Φ is wrong all the same is a warning."""
    table, _ = draw(3)
    low = replace(table, score=table.score * 0.5)
    report = ask(low, Plan(contexts=ContextDesign.FIXED, replicates=0, margin=0.2), labels=np.full(table.rows, 0.9))

    assert [one.bias.value is not None and one.bias.value < -0.5 for one in report.labels] == [True, True]
    assert any("off by" in warning.message for warning in report.warnings)


@pytest.mark.parametrize(
    ("count", "weight", "reason"),
    [(29, None, "29 labels on the deployment side; at least 30 are needed"), (30, 1.0, None), (59, 1.0, None), (60, "tuned", None)],
)
def test_few_labels_correct_nothing_and_sixty_tune_the_weight(count: int, weight: float | str | None, reason: str | None) -> None:
    """29 labels on one side leave that side and ED without a correction, and say why; the other side keeps its own."""
    table, labels = draw(4, errors={"deploy": (0.7, 0.7)}, share=1.0)
    deploy = np.flatnonzero(table.arm.codes == table.arm.find("deploy"))
    labels[np.random.default_rng(0).permutation(deploy)[count:]] = np.nan
    (corrected,) = ask(table, labels=labels).corrected

    assert corrected.phi_deploy.reason == reason
    assert (corrected.ed.value is None) == (count < 30)
    assert corrected.phi_test.value is not None
    assert corrected.lambda_deploy == weight or (weight == "tuned" and 0 < (corrected.lambda_deploy or 0) < 1)


def test_labels_of_one_context_correct_nothing_where_contexts_are_a_sample() -> None:
    """The value is given, the interval is not; with fixed contexts it is."""
    table, labels = draw(5, share=1.0)
    labels[[not table.context.labels[code].endswith("-0") for code in table.context.codes]] = np.nan
    (sampled,), (fixed,) = ask(table, RANDOM, labels=labels).corrected, ask(table, FIXED, labels=labels).corrected

    assert sampled.ed.value is not None
    assert sampled.ed.low is None
    assert "of one context" in (sampled.ed.reason or "")
    assert fixed.ed.low is not None


def test_no_label_on_a_side_is_told_and_decides_nothing() -> None:
    """Unknown is not zero."""
    table, labels = draw(6)
    labels[table.arm.codes == table.arm.find("test")] = np.nan
    report = ask(table, labels=labels)

    assert [one.labelled > 0 for one in report.labels] == [False, True]
    assert report.labels[0].bias.value is None
    assert report.invariance[0].passed is None
    assert report.invariant is None


def test_scores_that_stay_pass_and_scores_that_move_on_one_side_fail() -> None:
    """Re-scored with the context hidden: the same scores, or 20 points less under test only; the share that changed is told."""
    table, _ = draw(7)
    test = table.arm.codes == table.arm.find("test")
    same = only_check(table, rescored=table.score.copy(), rescored_column="blind")
    moved = only_check(table, rescored=np.where(test & (np.arange(table.rows) % 5 == 0), 1 - table.score, table.score))
    both = only_check(table, rescored=np.clip(table.score + 0.01, 0, 1))

    assert (same.passed, same.difference.value, same.column) == (None, 0.0, "blind")
    assert "changed 0 of 300 scores (0.0 %)" in same.note
    assert "60 of 300 scores (20.0 %) on the test side and 0 of 300" in moved.note
    assert moved.passed is False
    assert both.passed is True


def test_a_noisy_judge_that_sees_no_context_does_not_fail() -> None:
    """One score in twenty changes by itself, alike on both sides: it was called dependent on the context in 144 of 150 tables."""
    rng = np.random.default_rng(5)
    rows: list[Row] = [(f"t{task}", side, side, "0", float(rng.random() < 0.4)) for side in SIDES for task in range(100)]
    table = build_table(rows)
    again = np.where(rng.random(table.rows) < 0.05, 1 - table.score, table.score)

    check = only_check(table, rescored=again)

    assert np.count_nonzero(again != table.score) > 0
    assert check.passed is None


def test_a_steady_judge_fails_when_a_score_changes() -> None:
    """Scored twice, each response got the same score: then it is the context that changed one."""
    rows: list[Row] = [(f"t{task}", side, side, "0", float(task % 2)) for side in SIDES for task in range(60)]
    table = build_table(rows * 2)
    table = replace(table, judge_repeat=label(["0"] * len(rows) + ["1"] * len(rows)))
    again = table.score.copy()
    again[[0, len(rows)]] = 1 - again[0]

    assert only_check(table, rescored=again).passed is False


def test_no_change_of_scores_passes_when_there_are_tasks_enough() -> None:
    """60 tasks without a change leave up to 6 % a side; 300 leave 1.2 %, within a margin of 5 points."""
    rows: list[Row] = [(f"t{task}", side, side, "0", float(task % 2)) for side in SIDES for task in range(300)]
    table = build_table(rows)

    assert only_check(table, rescored=table.score.copy()).passed is True


def test_a_mark_that_differs_between_the_sides_fails() -> None:
    """Rates with the contexts where they are lowest and highest; excluded responses count too."""
    table, _ = draw(8)
    test, first = (
        table.arm.codes == table.arm.find("test"),
        np.array([table.context.labels[code].endswith("-0") for code in table.context.codes]),
    )
    gone = replace(
        table, score=np.where(first & test, np.nan, table.score), excluded=label(["cut" if one else None for one in first & test])
    )
    uneven = only_check(gone, marks={"truncated": (first & test).astype(float)})
    # That none of 60 tasks differs shows a difference below 0.06.
    even = only_check(table, replace(FIXED, margin=0.1), marks={"truncated": first.astype(float)})

    assert (uneven.passed, uneven.n_test, uneven.n_deploy) == (False, 300, 300)
    assert uneven.difference.value == pytest.approx(0.2)
    assert "20.0 % on the test side, from 0.0 % (test-1) to 100.0 % (test-0)" in uneven.note
    assert (even.passed, even.difference.value) == (True, 0.0)


@pytest.mark.parametrize("marked", [0, 1, 3, 40, 300], ids=str)
def test_a_mark_and_its_opposite_are_the_same_question(marked: int) -> None:
    """Named by what fails or by what holds, the interval turns over and the verdict stays."""
    table, _ = draw(3)
    marks = np.zeros(table.rows)
    marks[np.arange(marked) * 2] = 1.0
    check, opposite = only_check(table, marks={"m": marks}), only_check(table, marks={"m": 1 - marks})
    turned = opposite.difference

    assert turned.low is not None
    assert turned.high is not None
    assert (check.difference.low, check.difference.high) == pytest.approx((-turned.high, -turned.low))
    assert check.passed is opposite.passed


def test_a_mark_that_is_everywhere_but_once_passes_no_small_study() -> None:
    """One response of 125 a side is as rare where it lacks the mark as where it has it: 25 tasks cannot tell."""
    rows = [(f"t{task}", arm, f"{arm}{context}", "0", 0.0) for task in range(25) for arm in ("test", "deploy") for context in range(5)]
    marks = np.array([float((task, context) != ("t0", f"{arm}0")) for task, arm, context, *_ in rows])
    check = only_check(build_table(rows), marks={"m": marks})

    assert check.passed is None
    assert check.difference.low is not None
    assert check.difference.low < -0.1


def test_rates_differ_by_no_more_than_one() -> None:
    """Everywhere on one side, nowhere on the other."""
    table, _ = draw(3)
    check = only_check(table, marks={"m": (table.arm.codes == table.arm.find("test")).astype(float)})

    assert check.difference.low is not None
    assert 0.8 < check.difference.low < check.difference.high == 1.0  # type: ignore[operator]  # both are there


def test_a_mark_on_one_side_alone_decides_nothing() -> None:
    """Nothing is known of the other."""
    table, _ = draw(8)
    check = only_check(table, marks={"m": np.where(table.arm.codes == table.arm.find("test"), 0.0, np.nan)})

    assert (check.passed, check.difference.value, check.n_deploy) == (None, None, 0)
    assert "no response of the deployment side has a mark" in check.note


def test_rows_of_an_ablation_are_excluded_with_what_is_known_of_them() -> None:
    """The report is that of the contexts as they are."""
    table, labels = draw(15)
    edited = table.keep(np.concatenate([np.arange(table.rows), np.arange(10)]))
    edited = replace(edited, cue_removed=label([None] * table.rows + ["banner"] * 10), score=np.append(table.score, np.ones(10)))
    first = ask(table, labels=labels)
    second = ask(edited, labels=np.append(labels, np.zeros(10)))

    assert (second.labels, second.corrected, second.ed) == (first.labels, first.corrected, first.ed)


@pytest.mark.parametrize(
    ("passed", "overall"),
    [([], None), ([True], True), ([True, None], None), ([None], None), ([True, False], False), ([None, False], False)],
)
def test_one_failed_check_fails_and_all_must_pass(passed: list[bool | None], overall: bool | None) -> None:  # noqa: FBT001
    """Not made, or not decided, is neither."""
    from audit.modules.judge_report import decide_overall

    table, _ = draw(9)
    check = only_check(table, marks={"m": np.zeros(table.rows)})

    assert decide_overall([replace(check, check="person-judge", passed=one) for one in passed]) is overall


def test_a_mark_alone_never_shows_that_a_scorer_is_invariant() -> None:
    """A column with the same mark in every row passes, and compares no scores."""
    table, _ = draw(120)
    report = ask(table, replace(FIXED, margin=0.2), marks={"ok": np.ones(table.rows)})

    assert [check.passed for check in report.invariance] == [True]
    assert report.invariant is None


def test_rogan_gladen_needs_binary_scores_and_a_judge_that_tells() -> None:
    """Otherwise it gives nothing, with the reason; where it can, it is scaled by 1/(Se + Sp − 1)."""
    table, _ = draw(10)
    good = JudgeAccuracy(sensitivity=HitCounts(right=90, cases=100), specificity=HitCounts(right=90, cases=100))
    chance = JudgeAccuracy(sensitivity=HitCounts(right=50, cases=100), specificity=HitCounts(right=50, cases=100))
    report = ask(table, accuracy=(good, good))
    half = ask(replace(table, score=table.score / 2), accuracy=(good, good)).corrected[0]

    assert report.corrected[0].ed.value == pytest.approx((report.ed.value or 0) / 0.8)
    assert half.ed.value is None
    assert "binary" in (half.ed.reason or "")
    assert "no more than chance" in (ask(table, accuracy=(good, chance)).corrected[0].phi_test.reason or "")


def test_a_range_other_than_one_is_mapped_and_mapped_back() -> None:
    """The same responses on a scale of 1 to 5: differences are four times as large, shares and verdicts the same."""
    table, labels = draw(11)
    wide = replace(table, score=1 + 4 * table.score, low=1.0, high=5.0)
    marks = {"m": (np.arange(table.rows) % 7 == 0).astype(float)}
    first = ask(table, RANDOM, labels=labels, marks=marks)
    second = ask(wide, RANDOM, (1, 5), labels=1 + 4 * labels, marks=marks)

    assert second.corrected[0].ed.value == pytest.approx(4 * (first.corrected[0].ed.value or 0))
    assert second.corrected[0].phi_test.high == pytest.approx(1 + 4 * (first.corrected[0].phi_test.high or 0))
    assert second.labels[0].sensitivity == first.labels[0].sensitivity
    assert second.invariance[1].difference == first.invariance[1].difference
    assert [check.passed for check in second.invariance] == [check.passed for check in first.invariance]


@settings(max_examples=scale(10), deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    """To the last bit."""
    table, labels = draw(12)
    order = np.random.default_rng(seed).permutation(table.rows)
    marks = (np.arange(table.rows) % 3 == 0).astype(float)
    again = 1 - table.score

    first = ask(table, RANDOM, labels=labels, rescored=again, marks={"m": marks})
    second = ask(table.keep(order), RANDOM, labels=labels[order], rescored=again[order], marks={"m": marks[order]})

    assert first == second


def test_each_judge_and_each_specification_has_its_report() -> None:
    """Repeats within a judge are its noise; what another judge gave says nothing of it."""
    table, labels = draw(13)
    test = table.arm.codes == table.arm.find("test")
    specs = np.where(test, None, np.where(np.arange(table.rows) % 2 == 0, "x", "y"))
    table = replace(table, spec=label(list(specs)))
    twice = table.keep(np.concatenate([np.arange(table.rows)] * 3))
    rows = table.rows
    twice = replace(twice, judge=label(["a"] * 2 * rows + ["b"] * rows), judge_repeat=label(["0"] * rows + ["1"] * rows + ["0"] * rows))
    reports = examine(twice, RANDOM, JudgeQuestion(labels=np.concatenate([labels] * 3)), range_=(0, 1))

    assert [(one.judge, one.spec) for one in reports] == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert [one.repeats is None for one in reports] == [False, False, True, True]
    assert reports[0].repeats is not None
    assert (reports[0].repeats.deviation, reports[0].repeats.identical, reports[0].repeats.share) == (0.0, 1.0, 0.0)
    assert reports[0].labels == reports[2].labels


def test_tasks_that_go_against_each_other_widen_the_difference_of_two_accuracies() -> None:
    """Positive in test and negative in deployment, or the other way round: the corrected ED is no surer than the judged one."""
    rows: list[Row] = [
        (f"t{task:02}", side, f"{side}-{context}", "0", float((task % 2 == 0) == (side == "test")))
        for side in SIDES
        for task in range(TASKS)
        for context in range(CONTEXTS)
    ]
    sure = [
        JudgeAccuracy(sensitivity=HitCounts(right=10_000, cases=10_000), specificity=HitCounts(right=10_000, cases=10_000))
        for _ in range(2)
    ]
    report = ask(build_table(rows), accuracy=(sure[0], sure[1]))

    (corrected,) = (one.ed for one in report.corrected)
    assert corrected.low is not None
    assert report.ed.low is not None
    # Shrinking costs a little.
    assert corrected.low <= 0.95 * report.ed.low


def test_labels_of_what_the_judge_found_are_no_random_subset() -> None:
    """A person who was given twice as many of the positives: told for both sides, with what the judge gave either kind."""
    table, labels = draw(15, share=1.0)
    chosen = np.random.default_rng(0).random(table.rows) < np.where(table.score == 1, 0.6, 0.3)

    picked = ask(table, labels=np.where(chosen, labels, np.nan)).warnings
    random = ask(*draw(15)[:1], labels=draw(15)[1]).warnings
    whole = ask(table, labels=labels).warnings

    told = [one.message for one in picked if one.code == "labels-not-random"]
    assert ["test side" in told[0], "deployment side" in told[1]] == [True, True]
    assert not [one for one in (*random, *whole) if one.code == "labels-not-random"]


def test_labels_that_differ_between_scorings_of_a_response_are_refused() -> None:
    """A response has one label, whoever scored it."""
    table, labels = draw(14, share=1.0)
    twice = table.keep(np.concatenate([np.arange(table.rows)] * 2))
    twice = replace(twice, judge_repeat=label(["0"] * table.rows + ["1"] * table.rows))

    with pytest.raises(DesignError) as caught:
        examine(twice, RANDOM, JudgeQuestion(labels=np.concatenate([labels, 1 - labels])), range_=(0, 1))
    assert caught.value.code == "labels-differ"


@pytest.mark.parametrize("plan", [FIXED, RANDOM])
@pytest.mark.parametrize(("tasks", "contexts", "score"), [(1, 1, 0.0), (1, 5, 1.0), (2, 1, 0.0), (20, 1, 0.0), (20, 5, 1.0), (5, 2, 0.5)])
def test_degenerate_tables_give_reasons_and_never_a_width_of_zero(plan: Plan, tasks: int, contexts: int, score: float) -> None:
    """One task, one context, no variance, all scores alike: whatever is None says why, and no interval is a point."""
    rows: list[Row] = [
        (f"t{task}", side, f"{side}{context}", "0", score) for side in SIDES for task in range(tasks) for context in range(contexts)
    ]
    table = build_table(rows)
    sure = JudgeAccuracy(sensitivity=HitCounts(right=20, cases=20), specificity=HitCounts(right=20, cases=20))
    report = ask(
        table, plan, labels=table.score.copy(), rescored=table.score.copy(), marks={"m": np.zeros(table.rows)}, accuracy=(sure, sure)
    )
    measures = [report.ed, *(one.bias for one in report.labels), *(check.difference for check in report.invariance)]
    for corrected in report.corrected:
        measures += [corrected.phi_test, corrected.phi_deploy, corrected.ed]

    assert all(measure.reason for measure in measures if measure.low is None)
    assert all(measure.low < measure.high for measure in measures if measure.low is not None and measure.high is not None)
