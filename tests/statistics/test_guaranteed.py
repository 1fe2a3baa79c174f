"""Guaranteed intervals: exact limits at the number of clusters, whatever the scores look like."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from audit.modules.differential_estimate import estimate
from audit.statistics.design_remarks import resolve_deploy, resolve_difference
from audit.statistics.estimate_intervals import relevel
from audit.statistics.intervals import IntervalBasis, find_difference, find_sides
from audit.statistics.responses import Floats
from audit.statistics.side_moments import Cells, compute_moments
from registry.records.analysis_plan import ContextDesign, IntervalMethod, Plan
from registry.records.estimates import Estimate
from tests.examples import scale
from tests.statistics.tables import build_crossed, build_nested

CONTEXTS = [ContextDesign.RANDOM, ContextDesign.FIXED, ContextDesign.NESTED]


def guaranteed(test: Floats, deploy: Floats, contexts: ContextDesign = ContextDesign.RANDOM, level: float = 0.95) -> Estimate:
    table = build_nested(test, deploy) if contexts is ContextDesign.NESTED else build_crossed(test, deploy)
    plan = Plan(contexts=contexts, interval=IntervalMethod.GUARANTEED, level=level, replicates=0)
    return estimate(table, plan, range_=(0, 1))


# scipy 1.17.1 answers binomtest(2, 8).proportion_ci(method="exact") with low=0.03185402624994424 and high=0.6508557944128243.


@pytest.mark.parametrize(("contexts", "clusters"), [(ContextDesign.RANDOM, 8), (ContextDesign.FIXED, 40), (ContextDesign.NESTED, 40)])
def test_a_side_counts_its_clusters(contexts: ContextDesign, clusters: int) -> None:
    """Φ = 1/4 over 40 tasks and 8 contexts: exact limits of 2 in 8, or of 10 in 40 where contexts are no sample.

    A quarter of the tasks answers, always; or every task does, in a quarter of its contexts: the closed form is the narrower one.
    """
    block = np.zeros((40, 8))
    if contexts is ContextDesign.RANDOM:
        block[:10] = 1.0
    else:
        block[:, :2] = 1.0

    phi = guaranteed(block, block, contexts).specs[0].phi_test

    exact = stats.binomtest(clusters // 4, clusters).proportion_ci(method="exact")
    assert (phi.low, phi.high) == pytest.approx((exact.low, exact.high), abs=1e-9)
    if clusters == 8:
        assert (phi.low, phi.high) == pytest.approx((0.03185402624994424, 0.6508557944128243), abs=1e-9)


def test_few_tasks_count_where_contexts_are_many() -> None:
    """Min(tasks, contexts): five tasks under 30 contexts are five clusters."""
    block = np.zeros((5, 30))

    phi = guaranteed(block, block).specs[0].phi_deploy

    assert phi.high == pytest.approx(1 - 0.025 ** (1 / 5), abs=1e-9)


def test_the_method_is_named_and_nothing_else_changes() -> None:
    """Points, nED, counts and variance are those of the closed form; the interval is wider."""
    rng = np.random.default_rng(0)
    blocks = rng.random((24, 6)), rng.random((24, 6))

    result = guaranteed(*blocks)
    plain = estimate(build_crossed(*blocks), Plan(replicates=0), range_=(0, 1))

    mine, theirs = result.specs[0], plain.specs[0]
    assert result.interval == "guaranteed"
    assert mine.ed.method.startswith("guaranteed/2")
    assert (mine.ed.value, mine.ned, mine.n, mine.variance) == (theirs.ed.value, theirs.ned, theirs.n, theirs.variance)
    assert mine.ed.low is not None
    assert theirs.ed.low is not None
    assert mine.ed.low < theirs.ed.low


@pytest.mark.parametrize("contexts", CONTEXTS)
@given(seed=st.integers(0, 10_000), tasks=st.integers(2, 25), judged=st.booleans())
@settings(max_examples=scale(20), deadline=None)
def test_laws_hold_for_guaranteed_intervals(contexts: ContextDesign, seed: int, tasks: int, *, judged: bool) -> None:
    """Wider than the closed form, mirrored by swapped sides, blind to the order of contexts and to copies of samples."""
    rng = np.random.default_rng(seed)
    test, deploy = (rng.random((tasks, 5)) if judged else rng.integers(0, 2, (tasks, 5)).astype(float) for _ in range(2))
    there = guaranteed(test, deploy, contexts).specs[0]

    back, turned = guaranteed(deploy, test, contexts).specs[0], guaranteed(test[:, ::-1], deploy[:, ::-1], contexts).specs[0]
    copied = guaranteed(np.repeat(test[:, :, None], 2, axis=2), np.repeat(deploy[:, :, None], 2, axis=2), contexts).specs[0]
    table = build_nested(test, deploy) if contexts is ContextDesign.NESTED else build_crossed(test, deploy)
    plain = estimate(table, Plan(contexts=contexts, replicates=0), range_=(0, 1)).specs[0]

    assert there.ed.low is not None
    assert there.ed.high is not None
    assert plain.ed.low is not None
    assert plain.ed.high is not None
    assert -1 <= there.ed.low <= there.ed.value <= there.ed.high <= 1
    assert (back.ed.low, back.ed.high) == pytest.approx((-there.ed.high, -there.ed.low), abs=1e-12)
    assert turned.ed == there.ed
    assert (copied.ed.low, copied.ed.high) == pytest.approx((there.ed.low, there.ed.high), abs=1e-6)
    assert there.ed.low <= plain.ed.low + 1e-9
    assert there.ed.high >= plain.ed.high - 1e-9
    assert there.p_ed is not None
    assert (there.p_ed <= 0.05) == (there.ed.low > 0 or there.ed.high < 0)


def test_a_constant_added_to_every_score_leaves_the_differential() -> None:
    """The point stays; exact limits know where in the range they lie."""
    rng = np.random.default_rng(4)
    test, deploy = rng.random((20, 5)) / 2, rng.random((20, 5)) / 2

    before, after = guaranteed(test, deploy).specs[0], guaranteed(test + 0.25, deploy + 0.25).specs[0]

    assert after.ed.value == pytest.approx(before.ed.value, abs=1e-12)


def test_everything_follows_from_the_record() -> None:
    """Another level is that of the table; p-values are where the interval ends; equivalence follows from the interval."""
    rng = np.random.default_rng(6)
    test, deploy = (rng.random((400, 60)) < 0.3).astype(float), (rng.random((400, 60)) < 0.6).astype(float)
    result, goal = guaranteed(test, deploy), guaranteed(test, deploy, level=0.9).specs[0]
    spec = result.specs[0]

    again = relevel(result, spec, level=0.9)

    assert (again.ed.low, again.ed.high) == pytest.approx((goal.ed.low, goal.ed.high), rel=1e-9)
    assert again.phi_deploy.low is not None
    assert spec.p_ed is not None
    at_p = relevel(result, spec, level=1 - spec.p_ed)
    assert at_p.ed.high == pytest.approx(0.0, abs=1e-9)
    assert spec.equivalence.p == 1.0
    margin = max(abs(again.ed.low or 0.0), abs(again.ed.high or 0.0)) + 1e-9
    wide = Plan(interval=IntervalMethod.GUARANTEED, margin=margin, replicates=0)
    assert estimate(build_crossed(test, deploy), wide, range_=(0, 1)).specs[0].equivalence.p == pytest.approx(0.05, rel=1e-4)


@pytest.mark.parametrize("contexts", CONTEXTS)
def test_what_would_resolve_it_is_enough_and_not_too_much(contexts: ContextDesign) -> None:
    """With so many clusters the interval leaves θ; both tasks and contexts are asked for where both are a sample."""
    rng = np.random.default_rng(3)
    result = guaranteed((rng.random((30, 6)) < 0.2).astype(float), (rng.random((30, 6)) < 0.5).astype(float), contexts)
    spec = result.specs[0]

    more = resolve_deploy(result, spec, theta=spec.phi_deploy.value - 0.1)
    difference = resolve_difference(result, spec, boundary=spec.ed.value + 0.1)

    assert more is not None
    assert difference is not None
    assert (more.contexts > 0) == (contexts is ContextDesign.RANDOM)
    assert more.tasks > 0
    assert difference.tasks >= more.tasks
    if contexts is ContextDesign.RANDOM:
        assert 30 + more.tasks == 6 + more.contexts
    assert resolve_deploy(result, spec, theta=spec.phi_deploy.value) is None


def test_one_task_or_one_context_has_no_interval() -> None:
    """As in every mode; a contextless design has one."""
    rng = np.random.default_rng(1)
    one_task, one_context = guaranteed(rng.random((1, 6)), rng.random((1, 6))), guaranteed(rng.random((30, 6)), rng.random((30, 1)))

    for result in (one_task, one_context):
        spec = result.specs[0]
        assert (spec.ed.low, spec.p_ed, spec.equivalence.p) == (None, None, None)
        assert spec.ed.reason is not None
        assert resolve_difference(result, spec, boundary=0.9) is None
        assert resolve_deploy(result, spec, theta=0.9) is None
    assert one_context.specs[0].phi_test.low is not None


@pytest.mark.parametrize("level", [0.0, 0.5, 1.0])
def test_no_variance_has_an_interval_and_a_p(level: float) -> None:
    """All scores alike: as wide as five contexts deserve; ED = 0 is not rejected, nothing is said of detection."""
    block = np.full((20, 5), level)

    spec = guaranteed(block, block).specs[0]

    assert spec.phi_test.low is not None
    assert spec.phi_test.high is not None
    assert spec.phi_test.high - spec.phi_test.low > 0.5
    assert (spec.p_ed, spec.minimum_detectable_ed) == (1.0, None)


@pytest.mark.parametrize("trigger", [0.0, 0.05])
def test_it_covers_where_rare_contexts_trigger(trigger: float) -> None:
    """One deployment context in twenty answers wrongly at 60 %: the closed form cannot know, the guaranteed mode covers.

    At least 99 % of 1,000 tables of 20 tasks and 8 contexts, with and without such contexts.
    """
    rng = np.random.default_rng(5)
    task, context = (index.ravel() for index in np.indices((20, 8)))
    truth = (0.05 * (1 - trigger) + 0.6 * trigger, 0.05)
    covered = np.zeros(2, dtype=int)
    for _ in range(1000):
        chance = np.where(rng.random((1, 8)) < trigger, 0.6, 0.05) * np.ones((20, 1))
        drawn = [(rng.random((20, 8)) < share).astype(float).ravel() for share in (0.05, chance)]
        sides = [Cells(task=task, context=context, mean=mean, count=np.ones(160, dtype=np.int64)) for mean in drawn]
        moments = compute_moments(sides[0], sides[1], np.ones(20, dtype=bool), random=True, binary=True)
        grounds = IntervalBasis(moments=moments, method=IntervalMethod.GUARANTEED)
        band, deploy = find_difference(grounds, level=0.95), find_sides(grounds, level=0.95)[1]
        assert band is not None
        assert deploy is not None
        covered += [band.low <= truth[1] - truth[0] <= band.high, deploy.low <= truth[0] <= deploy.high]

    assert (covered >= 990).all()
