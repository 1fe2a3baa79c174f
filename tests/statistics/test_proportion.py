"""The interval of one side: wide enough where what is counted is rare, and Korn and Graubard's everywhere else."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import expit
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]  # it ships no types

from audit.statistics import mean_intervals as proportion
from audit.statistics.mean_intervals import ConfidenceLimits, SideInterval, raise_variances, side_interval
from audit.statistics.side_moments import SideMoments, build_cells, compute_moments, half_width
from benchmarks import coverage_grid
from benchmarks.coverage_grid import Cell, simulate

pytestmark = pytest.mark.slow


def build_side(
    mean: float, *, task: float = 0.0, context: float = 0.0, tasks: int = 20, contexts: int = 5, kish: float | None = None
) -> SideMoments:
    """A side with one all-or-nothing response a cell."""
    return SideMoments(
        mean=mean, tasks=tasks, contexts=contexts, responses=tasks * contexts, task_variance=task, context_variance=context, kish=kish
    )


def find(side: SideMoments, *, random: bool = True, binary: bool = False, level: float = 0.95) -> SideInterval:
    found = side_interval(side, random=random, banerjee=random and side.contexts < 5, binary=binary, level=level)
    assert found is not None
    return found


@st.composite
def sides(draw: st.DrawFn) -> SideMoments:
    """Variances between none and all that scores in [0, 1] of that mean can have."""
    mean, tasks, contexts = draw(st.floats(0.001, 0.999)), draw(st.integers(2, 300)), draw(st.integers(2, 30))
    task, context = (draw(st.floats(1e-6, 1)) * mean * (1 - mean) / count for count in (tasks, contexts))
    spread = draw(st.none() | st.floats(0, 1).map(lambda share: share * mean * (1 - mean)))
    return replace(build_side(mean, task=task, context=context, tasks=tasks, contexts=contexts), spread=spread)


def korn_graubard(side: SideMoments, *, random: bool) -> ConfidenceLimits:
    """Their interval from the observed variances alone, by statsmodels, joined with Φ ± h."""
    parts = side.parts(random=random)
    assert parts is not None
    h = half_width(parts, level=0.95, banerjee=random and side.contexts < 5)
    size = max(1e-3, side.mean * (1 - side.mean) * (stats.norm.ppf(0.975) / h) ** 2)
    low, high = proportion_confint(size * side.mean, size, method="beta")
    return ConfidenceLimits(low=max(0.0, min(low, side.mean - h)), high=min(1.0, max(high, side.mean + h)))


# By hand, for Φ = 0.02, 12 tasks, fixed contexts, no variance to speak of: Φ(1 − Φ) = 0.0196, its root 0.14, (1 − 2Φ)² = 0.9216, so the
# similarity is 0.32 · 0.14 · 0.9216 = 0.04128768 and the variance 0.04128768 · 0.0196 / 12 = 6.743654e-05. With t = 2.200985 of 11 degrees
# of freedom h = 0.01807444, n* = 0.0196 · (1.959964 / 0.01807444)² = 230.4744. statsmodels 0.15.0 answers
# proportion_confint(230.4744 * 0.02, 230.4744, method="beta") with (0.0061429, 0.0475533).


def test_a_rare_share_without_spread_has_the_interval_of_the_least_likeness() -> None:
    """As the computation above gives it."""
    side = build_side(0.02, task=1e-12, tasks=12)

    exact = find(side, random=False).exact

    assert (exact.low, exact.high) == pytest.approx((0.0061429, 0.0475533), abs=1e-7)


# By hand, for Φ = 0.85 and single responses with σ = 0.1, 50 tasks, fixed contexts, no variance to speak of: Φ(1 − Φ) = 0.1275, its root
# 0.3570714, (1 − 2Φ)² = 0.49, so it is 0.32 · 0.3570714 · 0.49 = 0.0559888; the spread 0.01 / (1.5 · 0.1275) = 0.0522876 and the
# variance 0.0559888 · 0.0522876 / 50 = 5.855038e-05. With t = 2.009575 of 49 degrees of freedom h = 0.01537691, n* = 0.1275 · (1.959964 /
# 0.01537691)² = 2071.420. statsmodels 0.15.0 answers proportion_confint(2071.420 * 0.85, 2071.420, method="beta") with
# (0.8338876, 0.8651148).


def test_graded_scores_that_vary_little_are_raised_less() -> None:
    """As the computation above gives it."""
    side = replace(build_side(0.85, task=1e-12, tasks=50), spread=0.01)

    exact = find(side, random=False).exact

    assert (exact.low, exact.high) == pytest.approx((0.8338876, 0.8651148), abs=1e-7)


@given(mean=st.floats(0.001, 0.999), share=st.floats(0.375, 1))
def test_scores_as_skewed_as_all_or_nothing_ones_are_raised_as_they_are(mean: float, share: float) -> None:
    """From 1.5 Φ(1 − Φ) of Φ(1 − Φ) on, which is at most 0.375, the spread makes no difference."""
    side = build_side(mean)
    parts = side.parts(random=True) or ()

    graded = raise_variances(replace(side, spread=share * mean * (1 - mean)), parts)

    assert [part.variance for part in graded] == pytest.approx([part.variance for part in raise_variances(side, parts)], rel=1e-12)


@given(side=sides(), random=st.booleans())
def test_no_interval_is_narrower_than_korn_and_graubards(side: SideMoments, *, random: bool) -> None:
    """The least similarity takes nothing away."""
    theirs = korn_graubard(side, random=random)

    ours = find(side, random=random).hull

    assert ours.low <= theirs.low + 1e-9
    assert ours.high >= theirs.high - 1e-9


@given(side=sides(), random=st.booleans())
def test_variance_enough_leaves_korn_and_graubards_interval(side: SideMoments, *, random: bool) -> None:
    """Where tasks and contexts differ as much as 6 % and 1.5 % of intraclass correlation make them, nothing is added."""
    spread = side.mean * (1 - side.mean)
    side = replace(side, task_variance=max(side.task_variance or 0, 0.062 * spread / side.tasks))
    side = replace(side, context_variance=max(side.context_variance or 0, 0.0155 * spread / side.contexts))

    ours, theirs = find(side, random=random).hull, korn_graubard(side, random=random)

    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


@given(side=sides(), random=st.booleans(), binary=st.booleans())
def test_failures_counted_instead_of_successes_turn_the_interval_over(side: SideMoments, *, random: bool, binary: bool) -> None:
    """Every score s made 1 − s: the limits are mirrored."""
    there, back = find(side, random=random, binary=binary), find(replace(side, mean=1 - side.mean), random=random, binary=binary)

    for first, second in ((there.exact, back.exact), (there.hull, back.hull)):
        assert (second.low, second.high) == pytest.approx((1 - first.high, 1 - first.low), abs=1e-6)


@given(side=sides(), random=st.booleans(), levels=st.tuples(st.floats(0.5, 0.999), st.floats(0.5, 0.999)))
def test_a_higher_level_holds_the_interval_of_a_lower_one(side: SideMoments, levels: tuple[float, float], *, random: bool) -> None:
    """So a p can be read off by turning the level."""
    low, high = (find(side, random=random, level=level).hull for level in sorted(levels))

    assert high.low <= low.low + 1e-9
    assert high.high >= low.high - 1e-9


@given(side=sides(), random=st.booleans())
def test_half_is_never_raised_and_nothing_is_lowered(side: SideMoments, *, random: bool) -> None:
    """A share of one half has no skewness; elsewhere each part is the observed one or more."""
    for mean in (0.5, side.mean):
        moved = replace(side, mean=mean)
        parts = moved.parts(random=random)
        assert parts is not None

        raised = raise_variances(moved, parts)

        assert [part.df for part in raised] == [part.df for part in parts]
        assert all(new.variance >= old.variance for new, old in zip(raised, parts, strict=True))
        assert mean != 0.5 or raised == parts


def test_the_likeness_is_at_most_six_and_one_and_a_half_per_cent() -> None:
    """Over all Φ, greatest near 0.1 and 0.9; weighted tasks count by their effective number."""
    means = np.linspace(0, 1, 1001)
    peaks = []
    for place, clusters in ((0, 10.0), (1, 5.0)):
        found = []
        for mean in means.tolist():
            side = build_side(mean, kish=10.0)
            raised = raise_variances(side, side.parts(random=True) or ())
            found.append(raised[place].variance * clusters / max(mean * (1 - mean), 1e-300))
        peaks.append((max(found), min(means[int(np.argmax(found))], 1 - means[int(np.argmax(found))])))

    assert [peak for peak, _ in peaks] == pytest.approx([0.0615, 0.0154], abs=1e-4)
    assert [at for _, at in peaks] == pytest.approx([0.1, 0.1], abs=0.02)


@pytest.mark.parametrize("mean", [0.003, 0.02, 0.1, 0.4, 0.97])
@pytest.mark.parametrize("random", [True, False])
def test_the_limits_have_no_cliff(mean: float, *, random: bool) -> None:
    """A hundredth more variance, through and beyond the point where the least similarity takes over, moves no limit by much."""
    spread = mean * (1 - mean)
    shares = np.exp(np.arange(math.log(1e-4), 0, 0.01))
    found = [find(build_side(mean, task=spread * share / 20, context=spread * share / 20), random=random).hull for share in shares.tolist()]

    steps = np.abs(np.diff([(limits.low, limits.high) for limits in found], axis=0))

    assert steps.max() < 0.01


@pytest.mark.parametrize("mean", [0.003, 0.1, 0.85])
def test_the_limits_have_no_cliff_in_the_spread_either(mean: float) -> None:
    """From scores that do not vary at all to all-or-nothing ones, a hundredth of Φ(1 − Φ) at a time."""
    whole = mean * (1 - mean)
    side = build_side(mean, task=1e-4 * whole, context=1e-4 * whole)
    found = [find(replace(side, spread=share * whole)).hull for share in np.linspace(0, 1, 1001).tolist()]

    steps = np.diff([(limits.low, limits.high) for limits in found], axis=0)

    assert np.abs(steps).max() < 0.01
    assert (steps[:, 0] <= 1e-12).all()
    assert (steps[:, 1] >= -1e-12).all()


def test_scores_of_nought_and_one_count_at_most_as_the_responses() -> None:
    """Twenty responses without spread between tasks are twenty draws, not more."""
    side = build_side(0.5, task=1e-9, context=1e-9, contexts=1)

    exact = find(side, random=False, binary=True).exact

    assert (exact.low, exact.high) == pytest.approx(proportion_confint(10, 20, method="beta"), abs=1e-9)


@pytest.mark.parametrize(
    ("side", "random"),
    [
        (replace(build_side(0.1), task_variance=None), False),
        (replace(build_side(0.1), context_variance=None), True),
    ],
)
def test_an_unknown_variance_is_not_raised_to_one(side: SideMoments, *, random: bool) -> None:
    """One task, or one random context: no interval, whatever similarity might be supposed."""
    assert side_interval(side, random=random, banerjee=False, binary=True, level=0.95) is None


@pytest.mark.parametrize(("mean", "printed"), [(0.0, (0.0, 0.1684335)), (1.0, (0.8315665, 1.0))])
@pytest.mark.parametrize("tasks", [20, 20.0])
def test_no_variance_at_all_still_counts_the_tasks(mean: float, printed: tuple[float, float], tasks: float) -> None:
    """0 of 20 tasks: [0, 0.168], and its mirror image; weights worth twenty tasks the same."""
    side = build_side(mean, tasks=20 if isinstance(tasks, int) else 50, kish=None if isinstance(tasks, int) else tasks)

    hull = find(side).hull

    assert (hull.low, hull.high) == pytest.approx(printed, abs=1e-7)


RARE = [
    Cell("fixed", 12, 5, 5, 5, 0.0, 0.01, 0.05, judged=True),
    Cell("fixed", 5, 20, 20, 5, 0.4, 0.01, 0.05, judged=True),
    Cell("nested", 20, 20, 20, 5, 0.4, 0.01, 0.01, judged=True),
    Cell("random", 200, 20, 5, 5, 0.8, 0.01, 0.05, judged=False),
]


@pytest.mark.parametrize("cell", RARE)
def test_a_rare_share_is_not_called_below_itself(cell: Cell) -> None:
    """At most 5 % of the intervals of Φ_deploy lie wholly below θ = Φ_deploy, though rare shares are skewed."""
    result = simulate(cell, runs=2000, stage=9)

    assert result.inverted_below <= 0.05
    assert result.inverted_above <= 0.05
    assert result.ed >= 0.93


def test_without_the_least_likeness_it_would_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulation sees what is mended."""
    monkeypatch.setattr(proportion, "MIN_TASK_CORRELATION", 0.0)
    monkeypatch.setattr(proportion, "MIN_CONTEXT_CORRELATION", 0.0)

    found = [simulate(cell, runs=800, stage=9).inverted_below for cell in RARE]

    assert np.mean(found) > 0.06


@pytest.mark.parametrize("items", [10, 20])
@pytest.mark.parametrize("cell", RARE[:3])
def test_nor_is_a_rare_share_of_a_longer_rubric(monkeypatch: pytest.MonkeyPatch, cell: Cell, items: int) -> None:
    """Scores graded in tenths or twentieths vary less, and are as skewed."""
    monkeypatch.setattr(coverage_grid, "RUBRIC", items)

    result = simulate(cell, runs=1000, stage=9)

    assert result.inversion <= 0.05
    assert result.ed >= 0.93


def draw_graded(rng: np.random.Generator, *, tasks: int, contexts: int) -> tuple[SideMoments, float]:
    """One side of scores between 0 and 1 about 0.85 with SD 0.1, tasks and contexts drawn, and the Φ of their world."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    truth = float(weights @ expit(1.85 + math.sqrt(0.5**2 + 0.4**2 + 0.3**2) * nodes) / weights.sum())
    logit = 1.85 + 0.5 * rng.normal(size=(tasks, 1)) + 0.4 * rng.normal(size=(1, contexts)) + 0.3 * rng.normal(size=(tasks, contexts))
    task, context = (index.ravel() for index in np.indices(logit.shape))
    cells = build_cells(task=task, context=context, score=rng.beta(30 * expit(logit), 30 - 30 * expit(logit)).ravel())
    return compute_moments(cells, cells, np.ones(tasks, dtype=bool), random=True, binary=False).test, truth


@pytest.mark.parametrize(("tasks", "contexts"), [(20, 5), (20, 20), (50, 20), (200, 5)])
def test_scores_graded_finely_about_a_high_mean_keep_narrow_intervals(tasks: int, contexts: int) -> None:
    """Within a tenth of Korn and Graubard's width, and they cover; as all-or-nothing scores they would not be so narrow."""
    rng = np.random.default_rng([tasks, contexts, 13])
    covered, widths = [], []
    for _ in range(400):
        side, truth = draw_graded(rng, tasks=tasks, contexts=contexts)
        ours, theirs, whole = find(side).hull, korn_graubard(side, random=True), find(replace(side, spread=None)).hull
        covered.append(ours.low <= truth <= ours.high)
        widths.append([limits.high - limits.low for limits in (ours, theirs, whole)])
    ours_mean, theirs_mean, whole_mean = np.mean(widths, axis=0)

    assert np.mean(covered) >= 0.92
    assert theirs_mean <= ours_mean <= 1.1 * theirs_mean
    assert ours_mean < 0.97 * whole_mean


def test_the_spread_is_that_of_single_responses_as_they_count_in_the_mean() -> None:
    """Unequal cells, weights, a task that only one side has: a weighted variance by numpy."""
    rng = np.random.default_rng(5)
    task, context = rng.integers(0, 8, 300), rng.integers(0, 4, 300)
    score = rng.beta(4, 1, 300)
    cells, weights, common = build_cells(task=task, context=context, score=score), rng.uniform(0.5, 3, 8), np.arange(8) != 3
    kept = task != 3
    cell_sizes = np.array([np.sum((task == i) & (context == c)) for i, c in zip(task, context, strict=True)])
    contexts_of = np.array([len(set(context[task == i].tolist())) for i in task.tolist()])
    counted = (weights[task] / (cell_sizes * contexts_of))[kept]
    mean = np.average(score[kept], weights=counted)

    side = compute_moments(cells, cells, common, random=True, binary=False, weights=weights).test

    assert (side.mean, side.spread) == pytest.approx((mean, np.average((score[kept] - mean) ** 2, weights=counted)), rel=1e-9)


def test_scores_of_nought_and_one_have_no_spread_of_their_own() -> None:
    """Φ(1 − Φ) is theirs already."""
    cells = build_cells(task=np.array([0, 1, 2]), context=np.zeros(3, dtype=int), score=np.array([0.0, 1.0, 1.0]))

    side = compute_moments(cells, cells, np.ones(3, dtype=bool), random=False, binary=True).test

    assert side.spread is None
