"""From a score table to an estimate: sides, specifications, exclusions, refusals, warnings."""

from typing import Any

import numpy as np
import pytest

from audit.errors import DesignError
from audit.modules.differential_estimate import estimate
from audit.statistics.responses import ScoreTable
from registry.codec.canonical_documents import from_document, to_document
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import Estimate
from tests.statistics.tables import Row, build_crossed, build_table, list_rows


def run(table: ScoreTable, *, contexts: str = "random", **arguments: Any) -> Estimate:
    return estimate(table, Plan(contexts=ContextDesign(contexts), replicates=0), range_=(0, 1), **arguments)


def refuse(table: ScoreTable, **arguments: Any) -> DesignError:
    with pytest.raises(DesignError) as caught:
        run(table, **arguments)
    return caught.value


def codes(result: Estimate) -> list[str]:
    return [warning.code for warning in result.warnings]


def random_blocks(seed: int = 0, shape: tuple[int, ...] = (24, 6, 2)) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return (rng.random(shape) < 0.4).astype(float), (rng.random(shape) < 0.6).astype(float)


def test_a_policy_that_recognises_the_test_and_one_that_does_not_differ_only_in_the_differential() -> None:
    """Proposition 1: equal means over both sides together, ED 1 and 0."""
    recognises = run(build_crossed(np.ones((20, 5)), np.zeros((20, 5)))).specs[0]
    half = np.tile([0.0, 1.0], (20, 3))
    indifferent = run(build_crossed(half, half)).specs[0]

    mixtures = [(spec.phi_test.value + spec.phi_deploy.value) / 2 for spec in (recognises, indifferent)]

    assert mixtures == [0.5, 0.5]
    assert (recognises.ed.value, indifferent.ed.value) == (1, 0)


def test_one_side_is_no_differential() -> None:
    """A table of test scores alone is refused, with Proposition 1 as the reason."""
    error = refuse(build_table([("t1", "test", "c1", "0", 1.0), ("t2", "test", "c1", "0", 0.0)]))

    assert error.code == "one-sided"
    assert "Proposition 1" in str(error)


def test_a_table_of_ablations_alone_is_no_differential() -> None:
    """Nothing is left of it once those rows are set aside."""
    rows: list[Row] = [("t1", arm, "c1", "0", 1.0) for arm in ("test", "deploy")]

    error = refuse(build_table(rows, cues=["register", "register"]))

    assert error.code == "one-sided"
    assert "a cue was taken out of every one" in str(error)


def test_an_unknown_arm_is_told_with_the_one_that_was_meant() -> None:
    """Both missing arms at once, with a guess where there is one."""
    table = build_table([("t1", "tests", "c1", "0", 1.0), ("t1", "B", "c1", "0", 0.0)])

    error = refuse(table)

    assert [fault.code for fault in error.faults] == ["unknown-name", "unknown-name"]
    assert error.faults[0].advice == "did you mean tests?"
    assert "B, tests" in error.faults[1].found


def test_the_same_arm_cannot_be_both_sides() -> None:
    """Comparing an arm with itself is a slip."""
    assert refuse(build_crossed(*random_blocks()), test="test", deploy="test").code == "same-arm"


def test_sides_without_a_common_task_are_refused() -> None:
    """With an example of each side, so that the naming can be mended."""
    error = refuse(build_table([("a1", "test", "c", "0", 1.0), ("b1", "deploy", "c", "0", 0.0)]))

    assert error.code == "no-common-task"
    assert "'a1'" in error.faults[0].found


def test_a_side_with_every_response_excluded_is_refused() -> None:
    """On either side; both are told."""
    error = refuse(build_table([("a", "test", "c", "0", None), ("a", "deploy", "c", "0", None)]))

    assert [fault.code for fault in error.faults] == ["no-scores", "no-scores"]


def test_a_range_that_the_scores_exceed_is_refused() -> None:
    """A table checked against [0, 5] is not read as one in [0, 1]."""
    table = build_table([("a", "test", "c", "0", 4.0), ("a", "deploy", "c", "0", 1.0)], high=5)

    assert refuse(table).code == "score-out-of-range"
    with pytest.raises(DesignError, match="bad-range"):
        estimate(table, Plan(replicates=0), range_=(1, 1))
    with pytest.raises(DesignError, match="at least 1e-100 apart"):
        estimate(table, Plan(replicates=0), range_=(0, 1e-300))


@pytest.mark.parametrize(("low", "high"), [(-1e100, 1e100), (0.0, 1e-100)])
def test_the_widest_and_the_narrowest_range_are_computed(low: float, high: float) -> None:
    """Whatever may be asked is answered: squares of these neither overflow nor vanish."""
    rows: list[Row] = [(f"t{task}", arm, "c", "0", high if task % 3 else low) for task in range(9) for arm in ("test", "deploy")]
    rows += [("t9", "test", "c", "0", high), ("t9", "deploy", "c", "0", low)]
    found = estimate(build_table(rows, low=low, high=high), Plan(contexts=ContextDesign.FIXED, replicates=50), range_=(low, high))

    (spec,) = found.specs
    assert spec.ed.low is not None
    assert spec.ed.high is not None
    assert spec.ed.low < spec.ed.value < spec.ed.high
    assert spec.ed.value == pytest.approx((high - low) / 10)


def test_tasks_weigh_the_same_whatever_their_number_of_responses() -> None:
    """Mean of task means of cell means; a task seen on one side is dropped from both and counted."""
    rows: list[Row] = [("a", "test", "c1", str(k), 1.0) for k in range(9)]
    rows += [("a", "test", "c2", "0", 0.0), ("b", "test", "c1", "0", 0.0), ("only", "test", "c1", "0", 1.0)]
    rows += [("a", "deploy", "c1", "0", 0.0), ("b", "deploy", "c1", "0", 1.0), ("b", "deploy", "c1", "1", 0.5)]

    result = run(build_table(rows), pointwise=True)

    spec = result.specs[0]
    assert (spec.phi_test.value, spec.phi_deploy.value, spec.ed.value) == (0.25, 0.375, -0.125)
    assert (spec.n.tasks, spec.n.responses_test, spec.n.responses_deploy) == (2, 11, 3)
    assert "tasks-dropped" in codes(result)
    assert spec.pointwise is not None
    assert [(task.task_id, task.phi_test, task.phi_deploy, task.ed) for task in spec.pointwise] == [
        ("a", 0.5, 0, 0.5),
        ("b", 0, 0.75, -0.75),
    ]


def test_the_pooled_differential_is_shown_where_it_can_differ_and_its_other_sign_is_told() -> None:
    """Nine responses to an easy task turn the pooled mean."""
    rows: list[Row] = [("a", "test", "c", str(k), 1.0) for k in range(9)]
    rows += [("b", "test", "c", "0", 0.0)]
    rows += [("a", "deploy", "c", "0", 0.7), ("b", "deploy", "c", "0", 0.7)]

    result = run(build_table(rows))

    assert result.specs[0].ed.value == pytest.approx(-0.2)
    assert result.specs[0].pooled_ed == pytest.approx(0.2)
    assert "unequal-cells" in codes(result)
    assert run(build_crossed(*random_blocks())).specs[0].pooled_ed is None


def test_the_bounds_under_exclusions_fill_in_the_worst_and_the_best() -> None:
    """One excluded response a side, ten tasks: each can move its mean by a tenth."""
    test, deploy = np.zeros((10, 1)), np.ones((10, 1))
    test[0, 0], deploy[1, 0] = np.nan, np.nan

    spec = run(build_crossed(test, deploy)).specs[0]

    assert (spec.n.tasks, spec.n.excluded_test, spec.n.excluded_deploy) == (8, 1, 1)
    assert (spec.ed_under_exclusions.low, spec.ed_under_exclusions.high) == pytest.approx((-1, -0.8))


def test_unequal_exclusions_are_a_finding_and_equal_rates_are_not() -> None:
    """Two of 144 on one side only; then two on each."""
    test, deploy = random_blocks(shape=(24, 6, 1))
    test[0, :2] = np.nan
    uneven = run(build_crossed(test, deploy))
    deploy[5, 2:4] = np.nan

    even = run(build_crossed(test, deploy))

    message = next(warning.message for warning in uneven.warnings if warning.code == "unequal-exclusions")
    assert "2 of 144 on the test side, 0 of 144 on the deployment side" in message
    assert "unequal-exclusions" not in codes(even)


def test_the_sound_design_is_left_alone() -> None:
    """24 tasks, 6 contexts, nothing lost: no warning."""
    assert codes(run(build_crossed(*random_blocks()))) == []


def test_thin_designs_are_told() -> None:
    """Fewer than 20 tasks, fewer than 5 contexts; contexts matter only where they are a sample."""
    table = build_crossed(*random_blocks(shape=(12, 4, 2)))

    assert codes(run(table)) == ["few-tasks", "few-contexts", "few-contexts"]
    assert codes(run(table, contexts="fixed")) == ["few-tasks"]
    assert codes(run(build_crossed(*random_blocks(shape=(1, 1, 2))))).count("one-context") == 2


def test_flat_scores_are_told_and_a_leaning_ned_too() -> None:
    """No variation on a side; a pooled deviation under ten ε."""
    rng = np.random.default_rng(0)
    flat, narrow = np.full((24, 6), 0.5), 0.5 + 0.02 * rng.random((24, 6))

    result = run(build_crossed(flat, narrow))

    assert codes(result) == ["zero-variance", "ned-unstable"]


def test_contexts_that_no_two_tasks_share_look_nested() -> None:
    """Under `random` that is warned of, under `nested` it is right, and shared ones are refused."""
    rows: list[Row] = [
        (f"t{i:02}", arm, f"{arm}{i}-{c}", "0", float((i + c) % 2)) for arm in ("test", "deploy") for i in range(24) for c in range(5)
    ]

    assert codes(run(build_table(rows))) == ["looks-nested"]
    assert codes(run(build_table(rows), contexts="nested")) == []
    error = refuse(build_crossed(*random_blocks()), contexts="nested")
    assert error.code == "contexts-shared"
    assert "used for 24 tasks" in error.faults[0].found


def test_every_specification_is_estimated_against_the_shared_test_side() -> None:
    """In the order of names; a third arm is left out and said to be."""
    test, deploy = random_blocks()
    plain = list_rows(test, deploy)
    other: list[Row] = [(task, arm, context, sample, 1.0) for task, arm, context, sample, _ in plain if arm == "deploy"]
    extra: list[Row] = [("t00000", "C", "c000", "0", 1.0)]
    specs = [None if row[1] == "test" else "web" for row in plain] + ["api"] * len(other) + [None]

    result = run(build_table([*plain, *other, *extra], specs=specs))

    alone = run(build_table(plain)).specs[0]
    assert [spec.spec for spec in result.specs] == ["api", "web"]
    assert result.specs[0].phi_deploy.value == 1
    assert result.specs[1].ed == alone.ed
    assert codes(result)[0] == "other-arms"
    assert result.warnings[1].spec == "api"


@pytest.mark.parametrize(
    ("on_test", "on_deploy", "code"),
    [("web", ["web", "api"], "spec-on-test"), ("lab", ["web", "web"], "spec-on-test"), (None, ["web", None], "spec-missing")],
)
def test_specifications_that_could_mean_two_things_are_refused(on_test: str | None, on_deploy: list[str | None], code: str) -> None:
    """One of several on test rows, one that deployment does not have, or a deployment row without any."""
    rows: list[Row] = [("a", "test", "c", "0", 1.0), ("a", "deploy", "c", "0", 1.0), ("a", "deploy", "c", "1", 0.0)]

    assert refuse(build_table(rows, specs=[on_test, *on_deploy])).code == code


def test_several_specifications_on_test_rows_are_refused() -> None:
    """Even when they are the same as in deployment: test rows are shared."""
    rows: list[Row] = [("a", arm, "c", sample, 1.0) for arm in ("test", "deploy") for sample in "01"]

    assert refuse(build_table(rows, specs=["web", "api", "web", "api"])).code == "spec-on-test"


def test_the_only_specification_may_stand_on_every_row() -> None:
    """It says nothing new on test rows."""
    rows = list_rows(*random_blocks())

    result = run(build_table(rows, specs=["web"] * len(rows)))

    assert [spec.spec for spec in result.specs] == ["web"]


def test_specifications_of_other_arms_do_not_matter() -> None:
    """A spec that only a third arm names leaves the default."""
    rows: list[Row] = [*list_rows(*random_blocks()), ("t00000", "C", "c000", "0", 1.0)]

    result = run(build_table(rows, specs=[*[None] * (len(rows) - 1), "web"]))

    assert [spec.spec for spec in result.specs] == ["default"]


def test_the_sides_may_be_swapped_and_named() -> None:
    """Arms are named by the caller; swapping them turns the sign."""
    table = build_crossed(*random_blocks())

    assert run(table, test="deploy", deploy="test").specs[0].ed.value == -run(table).specs[0].ed.value


def test_defaults_follow_the_range() -> None:
    """Margin 5 % and ε 1 % of a range of 4."""
    rng = np.random.default_rng(2)
    table = build_crossed(1 + 4 * rng.random((24, 6)), 1 + 4 * rng.random((24, 6)), low=1, high=5)

    result = estimate(table, Plan(replicates=0), range_=(1, 5))

    assert (result.margin, result.epsilon) == pytest.approx((0.2, 0.04))


def test_an_estimate_comes_back_from_its_document() -> None:
    """Every number, also those that are None, with pointwise differentials and variance."""
    for result in (run(build_crossed(*random_blocks()), pointwise=True), run(build_crossed(*random_blocks(shape=(1, 1, 1))))):
        assert from_document(Estimate, to_document(result), where="estimate") == result
