"""ED over all tasks from a random subset that was replayed: against statsmodels, by simulation, and where there is none."""

import math

import numpy as np
import pytest
from scipy.stats import t as student

from audit.modules.differential_estimate import estimate
from audit.statistics.responses import Floats
from audit.statistics.side_moments import Cells
from audit.statistics.subset_regression import estimate_from_subset
from registry.records.analysis_plan import ContextDesign, IntervalMethod, Plan
from registry.records.estimates import Regression
from tests.statistics.tables import Row, build_table, list_rows


def cells(block: Floats, tasks: np.ndarray) -> Cells:
    task, context = (index.ravel() for index in np.indices(block.shape))
    return Cells(task=tasks[task], context=context, mean=block.ravel(), count=np.ones(block.size, dtype=np.int64))


def regress(test: Floats, deploy: Floats, contexts: ContextDesign = ContextDesign.FIXED, **plan: object) -> Regression:
    """The first tasks of *test* are those of *deploy*."""
    rows = [row for row in list_rows(test[:, :, None], test[:, :, None]) if row[1] == "test"]
    rows += [row for row in list_rows(deploy[:, :, None], deploy[:, :, None]) if row[1] == "deploy"]
    asked = Plan(contexts=contexts, random_subset=True, replicates=0, **plan)  # type: ignore[arg-type]  # as the fields are typed
    found = estimate(build_table(rows), asked, range_=(0, 1)).specs[0].regression
    assert found is not None
    return found


def draw(rng: np.random.Generator, *, tasks: int = 120, replayed: int = 30, contexts: int = 6, sd: float = 0.0) -> tuple[Floats, Floats]:
    """Judged scores of tasks that differ much, deployment lower by 0.1 with slope 0.8; contexts of this SD."""
    ease = rng.normal(0, 0.12, tasks)
    test = 0.55 + ease[:, None] + rng.normal(0, sd, (1, contexts)) + rng.normal(0, 0.05, (tasks, contexts))
    deploy = 0.45 + 0.8 * ease[:replayed, None] + rng.normal(0, sd, (1, contexts)) + rng.normal(0, 0.08, (replayed, contexts))
    return np.clip(test, 0, 1), np.clip(deploy, 0, 1)


# statsmodels 0.15.0, the mean of y foretold at x = X̄_N is the second term of the estimator:
# >>> x, y = [.2, .4, .9, .5, .1, .3, .8, .6, .7, .3], [.1, .5, .7, .6, .2, .2, .9, .4, .8, .3]
# >>> fit = sm.OLS(y, sm.add_constant(x)).fit(); at = fit.get_prediction([1, 0.55]); at.predicted_mean[0], at.se_mean[0]
# answers 0.5342767295597485 and 0.04414470936251321, and fit.params[1] is 0.91823899


def test_the_estimator_is_a_prediction_of_statsmodels() -> None:
    """The dialogue above with every task twice, and others that bring the mean of all to 0.55: same line, X̄_N − ŷ(X̄_N)."""
    x = np.array([0.2, 0.4, 0.9, 0.5, 0.1, 0.3, 0.8, 0.6, 0.7, 0.3])
    y = np.array([0.1, 0.5, 0.7, 0.6, 0.2, 0.2, 0.9, 0.4, 0.8, 0.3])
    others = np.full(20, 2 * 0.55 - x.mean()) + np.tile([0.1, -0.1], 10)
    test = np.concatenate([x, x, others])[:, None]

    found = regress(test, np.concatenate([y, y])[:, None])

    assert (found.tasks_all, found.tasks_replayed) == (40, 20)
    assert found.slope == pytest.approx(0.91823899, abs=1e-8)
    assert found.value == pytest.approx(0.55 - 0.5342767295597485, abs=1e-12)
    # Twice the tasks: s² = 2·8·0.018093553459/18 and half of 1/n + gap²/Sxx, which is 0.0441447²/0.018093553459.
    residual = 2 * 8 * 0.018093553459119498 / 18
    foretold = residual * 0.04414470936251321**2 / 0.018093553459119498 / 2
    slack = (1 - 0.91823899) ** 2 * float(np.var(test, ddof=1)) / 40
    variance = foretold + slack
    df = variance**2 / (foretold**2 / 18 + slack**2 / 39)
    assert found.low is not None
    assert found.value is not None
    assert found.value - found.low == pytest.approx(student.ppf(0.975, df) * math.sqrt(variance), rel=1e-6)


@pytest.mark.parametrize(("contexts", "sd"), [(ContextDesign.FIXED, 0.0), (ContextDesign.RANDOM, 0.0), (ContextDesign.RANDOM, 0.05)])
def test_the_interval_covers_and_is_narrower_than_the_plain_one(contexts: ContextDesign, sd: float) -> None:
    """The truth is 0.1 for tasks and contexts drawn anew: at least 93 % of 400 tables; without context effects it is narrower."""
    rng = np.random.default_rng([7, round(100 * sd)])
    covered, widths = 0, []
    every, common = np.arange(120), np.arange(120) < 30
    for _ in range(400):
        test, deploy = draw(rng, sd=sd)
        found = estimate_from_subset(
            cells(test, every), cells(deploy, every[:30]), common, random=contexts is ContextDesign.RANDOM, level=0.95
        )
        assert found.limits is not None
        covered += found.limits.low <= 0.1 <= found.limits.high
        widths.append(found.limits.high - found.limits.low)

    assert covered / 400 >= 0.93
    if contexts is ContextDesign.FIXED:
        # Drawing tasks alone, a plain mean difference of 30 tasks has SD √((0.2·0.12)² + 0.05²/6 + 0.08²/6)/√30.
        plain = 2 * 2.045 * math.sqrt(0.024**2 + (0.05**2 + 0.08**2) / 6) / math.sqrt(30)
        assert np.mean(widths) < 1.02 * plain


def test_it_gains_where_the_slope_is_one_half() -> None:
    """Deployment that follows test by half: the variance of the estimator, by simulation and by its own formula, agree."""
    rng = np.random.default_rng(12)
    every, common, values, claimed = np.arange(200), np.arange(200) < 40, [], []
    for _ in range(500):
        ease = rng.normal(0, 0.12, 200)
        test, deploy = 0.5 + ease[:, None], 0.4 + 0.5 * ease[:40, None] + rng.normal(0, 0.05, (40, 1))
        found = estimate_from_subset(cells(np.clip(test, 0, 1), every), cells(deploy, every[:40]), common, random=False, level=0.95)
        assert found.value is not None
        assert found.limits is not None
        values.append(found.value)
        claimed.append((found.limits.high - found.limits.low) / 4)

    assert np.std(values) == pytest.approx(math.sqrt(0.05**2 / 40 + 0.25 * 0.12**2 / 200), rel=0.1)
    assert np.mean(claimed) == pytest.approx(np.std(values), rel=0.1)


def test_context_effects_do_not_shrink_with_the_slope() -> None:
    """A context that moves all test tasks moves the estimate as much, whatever the slope: a slope of 1 leaves the context part."""
    rng = np.random.default_rng(3)
    every, common = np.arange(100), np.arange(100) < 30
    ease, effect = rng.normal(0, 0.1, 100), np.linspace(-0.1, 0.1, 6)
    test = 0.5 + ease[:, None] + effect
    deploy = 0.5 + ease[:30, None] + rng.normal(0, 0.01, (30, 6))

    found = estimate_from_subset(cells(test, every), cells(deploy, every[:30]), common, random=True, level=0.95)

    assert found.slope == pytest.approx(1.0, abs=0.05)
    assert found.limits is not None
    from_contexts = float(np.std(effect, ddof=1)) / math.sqrt(6)
    assert (found.limits.high - found.limits.low) / 2 > 2 * from_contexts


def test_all_tasks_replayed_is_the_plain_differential() -> None:
    """With nothing left to foretell the value is ED."""
    test, deploy = draw(np.random.default_rng(0), tasks=30)

    found = regress(test, deploy)

    assert found.value == pytest.approx(float(test.mean() - deploy.mean()), abs=1e-12)
    assert (found.tasks_all, found.tasks_replayed) == (30, 30)


def test_it_drives_nothing_and_is_only_there_when_asked_for() -> None:
    """The estimate is the same beside it."""
    test, deploy = draw(np.random.default_rng(1))
    rows: list[Row] = [row for row in list_rows(test[:, :, None], test[:, :, None]) if row[1] == "test"]
    rows += [row for row in list_rows(deploy[:, :, None], deploy[:, :, None]) if row[1] == "deploy"]

    plain = estimate(build_table(rows), Plan(replicates=0), range_=(0, 1)).specs[0]
    asked = estimate(build_table(rows), Plan(random_subset=True, replicates=0), range_=(0, 1)).specs[0]

    assert plain.regression is None
    assert asked.regression is not None
    assert (asked.ed, asked.phi_test, asked.equivalence) == (plain.ed, plain.phi_test, plain.equivalence)


def test_where_there_is_no_regression_it_says_why() -> None:
    """Too few tasks, test scores that do not vary, deployment scores on the line, one context, anytime, weights."""
    rng = np.random.default_rng(2)
    test, deploy = draw(rng)

    few = regress(test, deploy[:19])
    flat = regress(np.full((60, 5), 0.5), deploy)
    exact = regress(test, np.zeros((30, 6)))
    narrow = regress(test, deploy[:, :1], ContextDesign.RANDOM)

    assert (few.value, few.low, few.slope) == (None, None, None)
    assert few.reason == "19 tasks were replayed; the regression needs at least 20"
    assert flat.reason is not None
    assert "do not vary" in flat.reason
    assert (exact.low, exact.value) == (None, pytest.approx(float(test.mean())))
    assert exact.reason is not None
    assert "on the regression line" in exact.reason
    assert narrow.value is not None
    assert narrow.low is None
    assert narrow.reason is not None
    assert "one context" in narrow.reason


def test_a_data_dependent_stop_and_weights_leave_no_regression_interval() -> None:
    """Its t interval holds at a fixed size, and for tasks that weigh the same."""
    test, deploy = draw(np.random.default_rng(4))
    rows: list[Row] = [row for row in list_rows(test[:, :, None], test[:, :, None]) if row[1] == "test"]
    rows += [row for row in list_rows(deploy[:, :, None], deploy[:, :, None]) if row[1] == "deploy"]
    nested = [(task, arm, f"{task}{arm}{context}", sample, score) for task, arm, context, sample, score in rows]
    weights = {row[0]: str(1 + int(row[0][1:]) % 2) for row in rows}
    plan = Plan(contexts=ContextDesign.NESTED, interval=IntervalMethod.ANYTIME, random_subset=True, replicates=0)

    stopped = estimate(build_table(nested), plan, range_=(0, 1)).specs[0].regression
    weighted = estimate(build_table(rows, weights=weights), Plan(random_subset=True, replicates=0), range_=(0, 1)).specs[0].regression

    assert stopped is not None
    assert stopped.value is not None
    assert (stopped.low, stopped.reason) == (None, "the interval of the regression does not hold whenever the replay is stopped")
    assert weighted is not None
    assert (weighted.value, weighted.slope) == (None, None)
    assert weighted.reason is not None
    assert "weights" in weighted.reason


def test_another_range_scales_the_regression() -> None:
    """Scores from 1 to 5: four times the value and the width."""
    test, deploy = draw(np.random.default_rng(5))
    plain = regress(test, deploy)
    rows: list[Row] = []
    for arm, block in (("test", test), ("deploy", deploy)):
        listed = list_rows(1 + 4 * block[:, :, None], 1 + 4 * block[:, :, None])
        rows += [row for row in listed if row[1] == arm]

    plan = Plan(contexts=ContextDesign.FIXED, random_subset=True, replicates=0)
    scaled = estimate(build_table(rows, low=1, high=5), plan, range_=(1, 5)).specs[0].regression

    assert scaled is not None
    assert plain.value is not None
    assert plain.low is not None
    assert (scaled.value, scaled.low, scaled.slope) == pytest.approx((4 * plain.value, 4 * plain.low, plain.slope), rel=1e-9)
