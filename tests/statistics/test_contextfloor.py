"""What the number of contexts alone keeps a replay from finding."""

import math

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy.special import stdtrit
from statsmodels.stats.anova import anova_lm

from audit.modules.differential_estimate import estimate
from audit.statistics.detectable_effect import context_component, detectable_floor
from audit.statistics.side_moments import Cells
from registry.records.analysis_plan import ContextDesign, Plan
from tests.statistics.tables import build_crossed


def draw_cells(*, tasks: int, contexts: int, context_sd: float, seed: int = 0) -> Cells:
    """Cell means with task, context and residual effects of known size."""
    rng = np.random.default_rng(seed)
    effects = 0.1 * rng.standard_normal((tasks, 1)) + context_sd * rng.standard_normal(contexts)
    mean = 0.5 + effects + 0.05 * rng.standard_normal((tasks, contexts))
    task, context = (index.ravel() for index in np.indices(mean.shape))
    return Cells(task=task, context=context, mean=mean.ravel(), count=np.ones(mean.size, dtype=np.int64))


def test_the_component_is_that_of_the_analysis_of_variance() -> None:
    """statsmodels: anova_lm(ols("y ~ C(task) + C(context)")) gives the two mean squares; sd_c² = (MS_context − MS_residual)/T."""
    cells = draw_cells(tasks=30, contexts=6, context_sd=0.1)
    frame = pd.DataFrame({"y": cells.mean, "task": cells.task, "context": cells.context})
    table = anova_lm(smf.ols("y ~ C(task) + C(context)", frame).fit())
    squares = table["sum_sq"] / table["df"]

    assert context_component(cells) == pytest.approx((squares["C(context)"] - squares["Residual"]) / 30)


def test_the_component_is_unbiased_also_with_missing_cells() -> None:
    """The mean over many draws is the variance that they were drawn with."""
    found = []
    for seed in range(300):
        cells = draw_cells(tasks=25, contexts=5, context_sd=0.1, seed=seed)
        kept = np.random.default_rng(seed).random(len(cells.mean)) < 0.8
        found.append(
            context_component(Cells(task=cells.task[kept], context=cells.context[kept], mean=cells.mean[kept], count=cells.count[kept]))
        )

    assert np.mean([one for one in found if one is not None]) == pytest.approx(0.01, rel=0.12)


def test_the_floor_follows_its_formula_and_tasks_do_not_lower_it() -> None:
    """(t.975 + t.80)·√Σ sd_c²/C with Satterthwaite's degrees of freedom; ten times the tasks leave it about where it was."""
    few, many = (draw_cells(tasks=tasks, contexts=8, context_sd=0.1) for tasks in (40, 400))
    variance = (context_component(few) or 0.0) / 8
    quantiles = float(stdtrit(14, 0.975) + stdtrit(14, 0.8))

    assert detectable_floor((few, few), level=0.95, banerjee=False) == pytest.approx(quantiles * math.sqrt(2 * variance))
    assert detectable_floor((many, many), level=0.95, banerjee=False) > 0.1  # type: ignore[operator]  # a number, or the test fails


def test_contexts_that_do_not_differ_set_no_floor() -> None:
    """An estimate of the variance that is not above chance is no floor, and neither is one that cannot be made."""
    flat = draw_cells(tasks=20, contexts=5, context_sd=0.0, seed=3)
    single = draw_cells(tasks=1, contexts=5, context_sd=0.1)

    assert context_component(flat) == 0
    assert detectable_floor((flat, flat), level=0.95, banerjee=False) is None
    assert context_component(single) is None
    assert detectable_floor((single, flat), level=0.95, banerjee=False) is None


@pytest.mark.parametrize(("contexts", "is_given"), [(ContextDesign.RANDOM, True), (ContextDesign.FIXED, False)])
def test_the_estimate_gives_it_where_contexts_are_sampled(contexts: ContextDesign, *, is_given: bool) -> None:
    """In the unit of the score, and below what the present design detects."""
    test, deploy = (draw_cells(tasks=30, contexts=6, context_sd=0.1, seed=seed).mean.reshape(30, 6) for seed in (1, 2))
    table = build_crossed(np.clip(test, 0, 1), np.clip(deploy, 0, 1))

    spec = estimate(table, Plan(contexts=contexts, replicates=0), range_=(0, 1)).specs[0]

    assert (spec.detectable_floor is not None) is is_given
    if spec.detectable_floor is not None and spec.minimum_detectable_ed is not None:
        assert 0 < spec.detectable_floor < spec.minimum_detectable_ed
