"""Weights of tasks: against other programs, against none, and refused where they are none."""

import math
import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from audit.errors import DesignError
from audit.modules.differential_estimate import estimate
from audit.modules.score_sides import find_weights
from audit.statistics.design_remarks import resolve_difference
from audit.statistics.estimate_intervals import parse_moments, relevel
from audit.statistics.mean_intervals import difference_interval, find_side_intervals
from audit.statistics.responses import Floats, effective_number, find_relative_weights
from audit.statistics.side_moments import Cells, compute_moments
from registry.records.analysis_plan import ContextDesign, IntervalMethod, Plan
from registry.records.estimates import Estimate
from tests.examples import scale
from tests.statistics.tables import build_crossed, build_table, label, list_rows

# statsmodels 0.15.0, a weighted mean as a regression on a constant, its robust variance with n/(n − 1):
# >>> y, d = [.2, .5, .9, .4, .7, .1, .6, .3], y - [.1, .6, .5, .2, .9, .1, .3, .4]; w = [1, 2, 1, 4, 3, 1, 2, 2]
# >>> fit = sm.WLS(y, np.ones(8), weights=w).fit(cov_type="HC1"); fit.params[0], fit.bse[0] ** 2
# answers 0.4812500000000003 and 0.005023716517857146
# >>> fit = sm.WLS(d, np.ones(8), weights=w).fit(cov_type="HC1"); fit.params[0], fit.bse[0] ** 2
# answers 0.056250000000000036 and 0.006597377232142865
TEST = np.array([0.2, 0.5, 0.9, 0.4, 0.7, 0.1, 0.6, 0.3])
DEPLOY = np.array([0.1, 0.6, 0.5, 0.2, 0.9, 0.1, 0.3, 0.4])
WEIGHTS = (1, 2, 1, 4, 3, 1, 2, 2)

# And a mean over 4 tasks × 3 contexts, clustered by context with G/(G − 1):
# >>> Y = [[.2, .4, .9], [.5, .1, .3], [.8, .6, .7], [.3, .2, .2]]; w = np.repeat([1, 3, 2, 1], 3); groups = np.tile(range(3), 4)
# >>> fit = sm.WLS(np.ravel(Y), np.ones(12), weights=w).fit(cov_type="cluster", cov_kwds={"groups": groups, "df_correction": False})
# >>> fit.params[0], fit.bse[0] ** 2
# answers 0.43333333333333324 and 0.004512471655328789
GRID = np.array([[0.2, 0.4, 0.9], [0.5, 0.1, 0.3], [0.8, 0.6, 0.7], [0.3, 0.2, 0.2]])


def run(test: Floats, deploy: Floats, weights: Sequence[object] | None, plan: Plan | None = None) -> Estimate:
    return estimate(build_crossed(test, deploy, weights=weights), plan or Plan(replicates=0), range_=(0, 1))


FIXED = Plan(contexts=ContextDesign.FIXED, replicates=0)


def test_a_weighted_mean_and_its_variance_are_those_of_statsmodels() -> None:
    """Of one side and of the difference, as the dialogue above prints them; of one side only where its floor is lower."""
    spec = run(TEST[:, None], DEPLOY[:, None], WEIGHTS, FIXED).specs[0]
    # The spread of all tasks alike, as a share of the largest, times that of the weighted mean, over Kish's number.
    mean, floor = 0.48125, TEST.var(ddof=1) / (TEST.mean() * (1 - TEST.mean())) * 0.48125 * (1 - 0.48125) / 6.4

    assert spec.variance is not None
    assert floor > 0.005023716517857146
    assert (spec.phi_test.value, spec.variance.test_task) == pytest.approx((mean, floor), rel=1e-12)
    heavy_vary = run(TEST[:, None], DEPLOY[:, None], (4, 1, 4, 1, 1, 4, 1, 1), FIXED).specs[0]
    assert heavy_vary.variance is not None
    shares = np.array((4, 1, 4, 1, 1, 4, 1, 1)) / 17
    linear = 8 / 7 * (shares**2 * (TEST - shares @ TEST) ** 2).sum()
    assert heavy_vary.variance.test_task == pytest.approx(linear, rel=1e-12)
    assert (spec.ed.value, spec.variance.difference_task) == pytest.approx((0.05625, 0.006597377232142865), rel=1e-12)


def test_the_context_part_of_a_weighted_mean_is_that_of_statsmodels() -> None:
    """As the second dialogue above prints it."""
    spec = run(GRID, GRID[:, ::-1], (1, 3, 2, 1)).specs[0]

    assert spec.variance is not None
    assert (spec.phi_test.value, spec.variance.test_context) == pytest.approx((0.4333333333333333, 0.004512471655328789), rel=1e-12)


def test_the_effective_number_is_kish() -> None:
    """(Σw)²/Σw² = 16²/40 = 6.4, in the record and as degrees of freedom plus one."""
    result = run(TEST[:, None], DEPLOY[:, None], WEIGHTS, FIXED)

    assert result.specs[0].n.effective_tasks == pytest.approx(6.4)
    parts = parse_moments(result, result.specs[0]).parts()
    assert parts is not None
    assert parts[0].df == pytest.approx(5.4)


@pytest.mark.parametrize("method", [IntervalMethod.CLOSED_FORM, IntervalMethod.GUARANTEED])
@pytest.mark.parametrize("contexts", [ContextDesign.RANDOM, ContextDesign.FIXED])
@pytest.mark.parametrize("weight", ["1", "0.3", "7e5"])
def test_equal_weights_are_none_to_the_last_bit(weight: str, contexts: ContextDesign, method: IntervalMethod) -> None:
    """Whatever they are, and also where only a task that is not on both sides weighs otherwise."""
    rng = np.random.default_rng(1)
    test, deploy = rng.random((22, 5, 2)), rng.random((22, 5, 2))
    plan = Plan(contexts=contexts, interval=method, replicates=0)
    rows = [*list_rows(test, deploy), ("only-test", "test", "c000", "0", 1.0)]
    weights = {row[0]: weight for row in rows} | {"only-test": "100"}

    weighted, plain = (estimate(build_table(rows, weights=given), plan, range_=(0, 1)) for given in (weights, None))

    assert weighted.specs[0].ed == plain.specs[0].ed
    assert weighted.specs[0].variance == plain.specs[0].variance
    assert weighted.specs[0].n == plain.specs[0].n
    assert run(test, deploy, [weight] * 22, plan) == run(test, deploy, None, plan)


def test_a_weight_of_two_is_the_task_counted_twice_in_the_mean() -> None:
    """Points are those of copied tasks; the variance is not, because copies are no evidence."""
    rng = np.random.default_rng(2)
    test, deploy = rng.random((6, 5)), rng.random((6, 5))
    copied = [0, 0, 1, 2, 2, 3, 4, 5]

    weighted = run(test, deploy, (2, 1, 2, 1, 1, 1)).specs[0]
    repeated = run(test[copied], deploy[copied], None).specs[0]

    assert weighted.ed.value == pytest.approx(repeated.ed.value, abs=1e-12)
    assert weighted.phi_test.value == pytest.approx(repeated.phi_test.value, abs=1e-12)


@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=40), st.floats(1e-6, 1e6))
def test_only_ratios_of_weights_matter(weights: list[float], factor: float) -> None:
    """The effective number lies between 1 and the number of tasks, whatever the unit of the weights."""
    first = find_relative_weights(np.array(weights), np.ones(len(weights), dtype=bool))
    other = find_relative_weights(np.array(weights) * factor, np.ones(len(weights), dtype=bool))
    if first is None or other is None:
        return

    assert 1 <= effective_number(first) <= len(weights) * (1 + 1e-12)
    assert effective_number(other) == pytest.approx(effective_number(first), rel=1e-9)


@pytest.mark.parametrize("method", [IntervalMethod.CLOSED_FORM, IntervalMethod.GUARANTEED])
@given(seed=st.integers(0, 10_000), tasks=st.integers(2, 12))
@settings(max_examples=scale(25), deadline=None)
def test_laws_hold_with_weights(method: IntervalMethod, seed: int, tasks: int) -> None:
    """Swapped sides mirror the interval; shuffled rows and renamed contexts change nothing; copied samples no standard error."""
    rng = np.random.default_rng(seed)
    test, deploy = rng.random((tasks, 5, 1)), rng.random((tasks, 5, 1))
    weights, plan = rng.integers(1, 4, tasks).tolist(), Plan(interval=method, replicates=0)
    there = run(test, deploy, weights, plan).specs[0]

    back = run(deploy, test, weights, plan).specs[0]
    turned = run(test[:, ::-1], deploy[:, [2, 0, 1, 4, 3]], weights, plan).specs[0]
    copied = run(np.repeat(test, 3, axis=2), np.repeat(deploy, 3, axis=2), weights, plan).specs[0]

    assert back.ed.value == -there.ed.value
    assert turned == there
    assert copied.ed.value == pytest.approx(there.ed.value, abs=1e-12)
    if there.ed.low is None or there.ed.high is None or there.variance is None or there.variance.difference_task is None:
        assert back.ed.low is None
        return
    assert (back.ed.low, back.ed.high) == pytest.approx((-there.ed.high, -there.ed.low), abs=1e-12)
    assert copied.variance is not None
    assert copied.variance.difference_task == pytest.approx(there.variance.difference_task, rel=1e-6, abs=1e-15)


def test_the_order_of_rows_does_not_matter_with_weights() -> None:
    """To the last bit."""
    rng = np.random.default_rng(9)
    rows = list_rows(rng.random((12, 5, 2)), rng.random((12, 5, 2)))
    weights = {row[0]: str(1 + int(row[0][1:]) % 3) for row in rows}
    shuffled = list(rows)
    random.Random(3).shuffle(shuffled)

    first, second = (estimate(build_table(order, weights=weights), Plan(replicates=0), range_=(0, 1)) for order in (rows, shuffled))

    assert first == second


def test_weights_worth_fewer_than_two_tasks_have_no_interval() -> None:
    """One task with nearly all of the weight is like one task: the linearised variance would be almost nothing."""
    rng = np.random.default_rng(5)
    test, deploy = rng.random((30, 6)), rng.random((30, 6))

    result = run(test, deploy, [1000, *[1] * 29])

    spec = result.specs[0]
    assert (spec.ed.low, spec.phi_test.low, spec.equivalence.p, spec.minimum_detectable_ed) == (None, None, None, None)
    assert spec.ed.reason is not None
    assert "effective tasks" in spec.ed.reason
    assert spec.phi_deploy.reason == spec.ed.reason
    assert relevel(result, spec, level=0.9).ed.low is None


def test_few_effective_tasks_are_told() -> None:
    """Thirty tasks that are worth fewer than twenty."""
    rng = np.random.default_rng(6)

    result = run(rng.random((30, 6)), rng.random((30, 6)), [10] * 5 + [1] * 25)

    message = next(warning.message for warning in result.warnings if warning.code == "few-tasks")
    assert "30 tasks worth 10.7" in message


def test_without_variance_effective_tasks_are_counted() -> None:
    """0 everywhere with weights worth 16 tasks: the exact limit at 16, 1 − 0.025^(1/16)."""
    weights = [3] * 4 + [1] * 16
    zero = np.zeros((20, 5))

    spec = run(zero, zero, weights).specs[0]

    assert spec.n.effective_tasks == pytest.approx(28**2 / 52)
    assert spec.phi_test.high == pytest.approx(1 - 0.025 ** (52 / 28**2), rel=1e-9)


def test_an_estimate_with_weights_is_read_again_without_its_table() -> None:
    """Another level from the record is another level from the table; what would resolve it counts tasks of such weights."""
    rng = np.random.default_rng(8)
    test, deploy, weights = rng.random((25, 6)), rng.random((25, 6)), rng.integers(1, 6, 25).tolist()
    first, goal = run(test, deploy, weights), run(test, deploy, weights, Plan(level=0.9, replicates=0))

    again = relevel(first, first.specs[0], level=0.9)

    assert (again.ed.low, again.ed.high) == pytest.approx((goal.specs[0].ed.low, goal.specs[0].ed.high), rel=1e-9)
    alone = run(test, deploy, weights, FIXED)
    more = resolve_difference(alone, alone.specs[0], boundary=alone.specs[0].ed.value + 0.02)
    assert more is not None
    assert more.tasks > 25


def test_the_bounds_under_exclusions_are_weighted() -> None:
    """One excluded response on the test side of a task that carries 4 of 16: ED moves by a quarter of its contexts' share."""
    test = TEST[:, None].repeat(2, axis=1)
    test[3, 0] = np.nan

    spec = run(test, DEPLOY[:, None].repeat(2, axis=1), WEIGHTS, FIXED).specs[0]

    assert spec.ed_under_exclusions.high - spec.ed_under_exclusions.low == pytest.approx(4 / 16 / 2)


def test_the_pooled_differential_has_the_weights_of_the_tasks() -> None:
    """Where cells are unequal: Σ w·score/Σ w over responses."""
    rows = [("a", "test", "c", str(k), 1.0) for k in range(3)] + [("b", "test", "c", "0", 0.0)]
    rows += [("a", "deploy", "c", "0", 0.5), ("b", "deploy", "c", "0", 0.5)]

    spec = estimate(build_table(rows, weights={"a": "1", "b": "3"}), Plan(replicates=0), range_=(0, 1)).specs[0]

    assert spec.pooled_ed == pytest.approx(3 / 6 - 0.5)
    assert spec.ed.value == pytest.approx(1 / 4 - 0.5)


@pytest.mark.parametrize("weight", ["0", "-1", "nan", "inf", "1e999", "abc", "1_0", "", "1e-999"])
def test_what_is_no_weight_is_refused_with_its_row(weight: str) -> None:
    """Zero, negative, not finite, no number, or missing in one row."""
    rows = list_rows(TEST[:3, None, None], DEPLOY[:3, None, None])
    weights = {"t00000": "1", "t00001": weight, "t00002": "2"}
    table = build_table(rows, weights={task: one for task, one in weights.items() if one})

    with pytest.raises(DesignError) as caught:
        estimate(table, Plan(), range_=(0, 1))

    assert {fault.code for fault in caught.value.faults} == {"weight-not-positive"}
    assert "task 't00001', arm 'test'" in caught.value.faults[0].where
    assert len(caught.value.faults) == 2


def test_two_weights_of_one_task_are_refused_once() -> None:
    """With both; the same number written in two ways is one weight."""
    rows = list_rows(TEST[:2, None, None].repeat(2, axis=1), DEPLOY[:2, None, None].repeat(2, axis=1))
    table = build_table(rows)
    object.__setattr__(table, "weight", label(["1", "1.0", "2", "3", "1", "1e0", "3", "3"]))

    with pytest.raises(DesignError) as caught:
        find_weights(table)

    assert [fault.code for fault in caught.value.faults] == ["weights-differ"]
    assert "the weight 2 in another row, here '3'" in caught.value.faults[0].found


def test_weights_over_the_whole_range_of_numbers_stay_positive() -> None:
    """1e300 beside 1e-300 is one task and next to nothing, not a division by zero."""
    spec = run(TEST[:2, None], DEPLOY[:2, None], ("1e300", "1e-300"), FIXED).specs[0]

    assert spec.phi_test.value == pytest.approx(0.2)
    assert spec.n.effective_tasks == pytest.approx(1.0)
    assert spec.ed.low is None


@pytest.mark.parametrize("rates", [(0.05, 0.05), (0.3, 0.05)])
def test_a_rare_event_that_heavy_tasks_lack_does_not_narrow_the_interval(rates: tuple[float, float]) -> None:
    """150 tasks of weight 1 and 30 of weight 30: without the floor the interval ended below the truth in 20 % and 13 % of samples."""
    rng, truth = np.random.default_rng(5), (150 * rates[0] + 900 * rates[1]) / 1050
    weights, chance = np.repeat([1.0, 30.0], [150, 30]), np.repeat(rates, [150, 30])
    task, count, below, above = np.arange(180), np.ones(180, dtype=np.int64), 0, 0
    for _ in range(600):
        side = Cells(task=task, context=task, mean=(rng.random(180) < chance).astype(float), count=count)
        moments = compute_moments(side, side, np.ones(180, dtype=bool), random=False, binary=True, weights=weights)
        band = find_side_intervals(moments, level=0.95)[1]
        assert band is not None
        below, above = below + (band.hull.high < truth), above + (band.hull.low > truth)

    assert max(below, above) / 600 <= 0.03


def test_weighted_means_are_covered() -> None:
    """Skewed weights, random contexts: at least 93 % for ED of nominal 95 %."""
    rng = np.random.default_rng(31)
    nodes, masses = np.polynomial.hermite_e.hermegauss(40)
    truths = [float(masses @ expit(center + math.sqrt(1.32) * nodes) / masses.sum()) for center in (-1.0, 0.0)]
    task, context = (index.ravel() for index in np.indices((30, 6)))
    covered = 0
    for _ in range(400):
        difficulty = rng.normal(0, 1, (30, 1))
        sides = []
        for center in (-1.0, 0.0):
            chance = expit(center + difficulty + rng.normal(0, 0.4, (1, 6)) + rng.normal(0, 0.4, (30, 6)))
            mean = (rng.random((30, 6)) < chance).astype(float).ravel()
            sides.append(Cells(task=task, context=context, mean=mean, count=np.ones(180, dtype=np.int64)))
        weights = np.exp(rng.normal(0, 1, 30))
        moments = compute_moments(sides[0], sides[1], np.ones(30, dtype=bool), random=True, binary=True, weights=weights)
        band = difference_interval(moments, level=0.95)
        assert band is not None
        covered += band.low <= truths[0] - truths[1] <= band.high

    assert covered / 400 >= 0.93
