"""An estimate read again without its table: other levels, thresholds, larger designs."""

from dataclasses import replace

import numpy as np
import pytest

from audit.modules.differential_estimate import estimate
from audit.statistics.design_remarks import resolve_deploy, resolve_difference
from audit.statistics.detectable_effect import ExtraSample, sample_size_to_resolve
from audit.statistics.estimate_intervals import parse_moments, relevel
from audit.statistics.side_moments import VariancePart, half_width
from registry.records.analysis_plan import ContextDesign, Plan
from registry.records.estimates import Estimate
from tests.statistics.tables import build_crossed


def make(level: float = 0.95, contexts: ContextDesign = ContextDesign.RANDOM, shape: tuple[int, ...] = (24, 6, 2)) -> Estimate:
    rng = np.random.default_rng(4)
    blocks = [1 + 4 * (rng.random(shape) < share).astype(float) for share in (0.3, 0.5)]
    return estimate(build_crossed(*blocks, low=1, high=5), Plan(level=level, contexts=contexts, replicates=0), range_=(1, 5))


@pytest.mark.parametrize("contexts", [ContextDesign.RANDOM, ContextDesign.FIXED])
@pytest.mark.parametrize("shape", [(24, 6, 2), (24, 3, 1)])
def test_another_level_gives_what_the_table_would(contexts: ContextDesign, shape: tuple[int, ...]) -> None:
    """Read again at 98.33 % (Holm, first of three), the record is that of the table at this level."""
    first, goal = make(contexts=contexts, shape=shape), make(1 - 0.05 / 3, contexts=contexts, shape=shape)

    again = relevel(first, first.specs[0], level=1 - 0.05 / 3)

    wanted = goal.specs[0]
    for mine, theirs in ((again.phi_test, wanted.phi_test), (again.phi_deploy, wanted.phi_deploy), (again.ed, wanted.ed)):
        assert (mine.value, mine.low, mine.high) == pytest.approx((theirs.value, theirs.low, theirs.high), rel=1e-9)
    assert again.minimum_detectable_ed == pytest.approx(wanted.minimum_detectable_ed, rel=1e-9)
    assert again.equivalence.equivalent == wanted.equivalence.equivalent


def test_graded_scores_are_read_again_with_their_spread() -> None:
    """The record keeps how single responses vary; one made before it did is read as if they were all or nothing, which is wider."""
    rng = np.random.default_rng(6)
    blocks = [1 + 4 * rng.beta(20 * share, 20 - 20 * share, (60, 8, 2)) for share in (0.85, 0.9)]
    first, goal = (
        estimate(build_crossed(*blocks, low=1, high=5), Plan(level=level, replicates=0), range_=(1, 5)) for level in (0.95, 0.99)
    )
    spec = first.specs[0]
    assert spec.variance is not None
    older = replace(spec, variance=replace(spec.variance, test_spread=None, deploy_spread=None))

    again, before = relevel(first, spec, level=0.99), relevel(first, older, level=0.99)

    for mine, theirs, wider in zip(*([one.phi_test, one.phi_deploy, one.ed] for one in (again, goal.specs[0], before)), strict=True):
        assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), rel=1e-9)
        assert wider.low < mine.low < mine.high < wider.high
    assert spec.variance.test_spread == pytest.approx(blocks[0].var(), rel=1e-9)


def test_another_level_gives_no_interval_where_there_was_none() -> None:
    """One task stays one task at any level."""
    thin = make(shape=(1, 6, 2))

    again = relevel(thin, thin.specs[0], level=0.8)

    assert again == thin.specs[0]


def test_a_record_without_variance_is_not_read_again() -> None:
    """It was not made from a score table."""
    result = make()

    with pytest.raises(ValueError, match="carries no variance"):
        parse_moments(result, replace(result.specs[0], variance=None))


def test_more_contexts_come_first_and_suffice() -> None:
    """With the advice followed as planned, the half-width is what was needed; with one context fewer it is not."""
    task, contexts = VariancePart(variance=0.0004, df=23), (VariancePart(variance=0.001, df=5), VariancePart(variance=0.002, df=5))
    now = half_width([task, *contexts], level=0.95, banerjee=False)

    extra = sample_size_to_resolve(task, contexts, half_width_now=now, half_width_needed=now / 2, level=0.95)

    assert extra is not None
    assert extra.tasks == 0
    widths = [
        half_width(
            [task, *(VariancePart(variance=part.variance * 6 / (6 + more), df=5 + more) for part in contexts)], level=0.95, banerjee=False
        )
        for more in (extra.contexts - 1, extra.contexts)
    ]
    assert widths[1] <= now / 2 < widths[0]


def test_tasks_are_asked_for_where_contexts_cannot_do_it() -> None:
    """Half of the squared half-width is left to tasks."""
    task, contexts = VariancePart(variance=0.004, df=23), (VariancePart(variance=0.001, df=5), VariancePart(variance=0.002, df=5))
    now = half_width([task, *contexts], level=0.95, banerjee=False)

    extra = sample_size_to_resolve(task, contexts, half_width_now=now, half_width_needed=now / 4, level=0.95)

    assert extra is not None
    assert extra.tasks > 0
    assert extra.contexts > 0


def test_fixed_contexts_ask_for_tasks_alone() -> None:
    """Four times the tasks, a little less for the better quantile."""
    extra = sample_size_to_resolve(VariancePart(variance=0.004, df=24), (), half_width_now=0.2, half_width_needed=0.1, level=0.95)

    assert extra is not None
    assert extra.contexts == 0
    assert 65 < extra.tasks < 75


@pytest.mark.parametrize(("now", "needed", "variance"), [(0.1, 0.0, 0.004), (0.0, 0.1, 0.004), (0.1, 0.1, 0.0), (0.1, 1e-9, 0.004)])
def test_some_boundaries_no_design_resolves(now: float, needed: float, variance: float) -> None:
    """The point on the boundary, no width, no variance, or numbers beyond all means."""
    contexts = (VariancePart(variance=variance, df=5),)

    assert (
        sample_size_to_resolve(VariancePart(variance=variance, df=24), contexts, half_width_now=now, half_width_needed=needed, level=0.95)
        is None
    )


def test_numbers_beyond_all_means_are_none_for_tasks_too() -> None:
    """Ten million tasks are not asked for."""
    part = VariancePart(variance=0.004, df=24)

    assert sample_size_to_resolve(part, (), half_width_now=0.1, half_width_needed=1e-7, level=0.95) is None


def test_an_interval_that_is_narrow_enough_needs_nothing() -> None:
    """No more of either."""
    extra = sample_size_to_resolve(VariancePart(variance=0.004, df=24), (), half_width_now=0.1, half_width_needed=0.2, level=0.95)

    assert extra == ExtraSample(contexts=0, tasks=0)


def test_a_record_says_what_would_resolve_it() -> None:
    """Boundaries on either side of the point; None where there is no interval."""
    result, thin = make(), make(shape=(1, 6, 2))
    spec = result.specs[0]

    near = resolve_difference(result, spec, boundary=spec.ed.value + 0.2)
    far = resolve_difference(result, spec, boundary=spec.ed.value - 0.8)
    theta = resolve_deploy(result, spec, theta=spec.phi_deploy.value - 0.2)

    assert near is not None
    assert far is not None
    assert theta is not None
    assert near.contexts > far.contexts
    assert resolve_deploy(result, spec, theta=5.0) == ExtraSample(contexts=0, tasks=0)
    assert resolve_difference(thin, thin.specs[0], boundary=0.0) is None
    assert resolve_deploy(thin, thin.specs[0], theta=2.0) is None
