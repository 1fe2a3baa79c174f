"""Rogan & Gladen with the interval of Lang & Reiczigel: against published figures, another program's formulas, and simulated truth."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit.statistics.judge_correction import (
    HitCounts,
    JudgeAccuracy,
    correct_difference,
    correct_share,
    correct_shared_difference,
    find_effective_size,
    measure_rate,
)
from audit.statistics.mean_intervals import ConfidenceLimits, clopper_pearson
from audit.statistics.side_moments import SideMoments

LEVEL = 0.95


def know(sensitivity: tuple[int, int], specificity: tuple[int, int]) -> JudgeAccuracy:
    return JudgeAccuracy(
        sensitivity=HitCounts(right=sensitivity[0], cases=sensitivity[1]), specificity=HitCounts(right=specificity[0], cases=specificity[1])
    )


def transcribe(share: float, size: float, accuracy: JudgeAccuracy, z: float = 1.959963984540054) -> tuple[float, float]:
    """R, package asht, function prevSeSp, line by line: Lang & Reiczigel 2014, eqs 4, 6, 7, 16, 17."""
    n_se, n_sp = accuracy.sensitivity.cases, accuracy.specificity.cases
    se_ = (n_se * accuracy.sensitivity.rate + 1) / (n_se + 2)
    sp_ = (n_sp * accuracy.specificity.rate + 1) / (n_sp + 2)
    ap_ = (size * share + z**2 / 2) / (size + z**2)
    p_ = (ap_ + sp_ - 1) / (se_ + sp_ - 1)
    dp = 2 * z**2 * (p_ * se_ * (1 - se_) / (n_se + 2) - (1 - p_) * sp_ * (1 - sp_) / (n_sp + 2))
    var = (ap_ * (1 - ap_) / (size + z**2) + p_**2 * se_ * (1 - se_) / (n_se + 2) + (1 - p_) ** 2 * sp_ * (1 - sp_) / (n_sp + 2)) / (
        se_ + sp_ - 1
    ) ** 2
    return max(0.0, p_ + dp - z * math.sqrt(var)), min(1.0, p_ + dp + z * math.sqrt(var))


def test_the_estimate_is_that_of_epi_prev() -> None:
    """Two published examples.

    > library(epiR)
    > epi.prev(pos = 23, tested = 150, se = 0.96, sp = 0.89, method = "blaker", units = 100)
    The estimated true prevalence of brucellosis in this herd is 5.1 cases per 100 cows.
    > epi.prev(pos = 6, tested = 151, se = 0.964, sp = 0.927, method = "c-p", units = 100)
    The estimated true prevalence of Helicobacter pylori in 1 -- 4 year olds is 0 cases per 100 (Moujaber et al. 2008).
    """
    herd = correct_share(share=23 / 150, size=150, accuracy=know((96, 100), (89, 100)), level=LEVEL)
    children = correct_share(share=6 / 151, size=151, accuracy=know((964, 1000), (927, 1000)), level=LEVEL)

    assert round(100 * herd.value, 1) == 5.1
    assert children.value == 0.0
    assert children.uncut < 0


@given(
    positive=st.integers(0, 200),
    sensitivity=st.integers(30, 50),
    specificity=st.integers(60, 100),
)
def test_the_interval_is_that_of_lang_and_reiczigel(positive: int, sensitivity: int, specificity: int) -> None:
    """To the last digits, except that it is stretched to the value where that lies outside, and to exact limits at 0 and 1."""
    accuracy = know((sensitivity, 50), (specificity, 100))
    if not accuracy.informative:
        return
    found = correct_share(share=positive / 200, size=200, accuracy=accuracy, level=LEVEL)
    low, high = transcribe(positive / 200, 200, accuracy)
    if found.value in (0, 1):
        exact = clopper_pearson(successes=200 * found.value, trials=200, level=LEVEL)
        low, high = min(low, exact.low), max(high, exact.high)

    assert found.limits.low == pytest.approx(min(1.0, low, found.value), abs=1e-9)
    assert found.limits.high == pytest.approx(max(0.0, high, found.value), abs=1e-9)


def test_more_positives_than_the_judge_can_find_leave_a_doubt() -> None:
    """All 30 called positive by a judge that misses half: 2 is cut to 1, and the interval of 30 of 30 is kept, not [1, 1]."""
    found = correct_share(share=1.0, size=30, accuracy=know((30, 60), (60, 60)), level=LEVEL)

    assert (found.value, found.uncut) == (1, 2)
    assert (found.limits.low, found.limits.high) == pytest.approx((0.025 ** (1 / 30), 1))


def test_no_positive_and_one_known_negative_leave_a_doubt() -> None:
    """The specificity of 1 of 1 shrinks to 2/3, which puts the whole interval, here at 50 %, below 0."""
    found = correct_share(share=0.0, size=20, accuracy=know((9, 10), (1, 1)), level=0.5)

    assert (found.limits.low, found.limits.high) == pytest.approx((0, 1 - 0.25 ** (1 / 20)))


@pytest.mark.parametrize("rate", [0.0, 0.02, 0.3])
def test_the_interval_covers(rate: float) -> None:
    """2,000 seeded draws of scores and of both measurements."""
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(2000):
        accuracy = know((int(rng.binomial(50, 0.9)), 50), (int(rng.binomial(100, 0.95)), 100))
        positive = rng.binomial(200, rate * 0.9 + (1 - rate) * 0.05)
        limits = correct_share(share=positive / 200, size=200, accuracy=accuracy, level=LEVEL).limits
        covered += limits.low <= rate <= limits.high

    assert covered / 2000 >= 0.94


def test_the_difference_covers_with_one_accuracy_and_with_two() -> None:
    """One measurement for both sides scales both alike; two err on their own."""
    rng = np.random.default_rng(2)
    covered = np.zeros(2)
    for _ in range(1000):
        one, other = (know((int(rng.binomial(60, 0.85)), 60), (int(rng.binomial(60, 0.9)), 60)) for _ in range(2))
        positive = [rng.binomial(150, rate * 0.85 + (1 - rate) * 0.1) / 150 for rate in (0.2, 0.45)]
        difference, spread = positive[0] - positive[1], 1.96 * math.sqrt(sum(p * (1 - p) / 150 for p in positive))
        judged = ConfidenceLimits(low=difference - spread, high=difference + spread)
        shared = correct_shared_difference(difference=difference, limits=judged, accuracy=one, level=LEVEL)
        apart = correct_difference(
            *(correct_share(share=p, size=150, accuracy=a, level=LEVEL) for p, a in zip(positive, (one, other), strict=True))
        )
        covered += [shared.low <= -0.25 <= shared.high, apart.low <= -0.25 <= apart.high]

    assert covered.min() / 1000 >= 0.94


@pytest.mark.parametrize(("sensitivity", "specificity"), [((5, 10), (5, 10)), ((1, 10), (1, 1)), ((0, 5), (100, 100)), ((6, 10), (4, 10))])
def test_a_judge_that_tells_no_more_than_chance_corrects_nothing(sensitivity: tuple[int, int], specificity: tuple[int, int]) -> None:
    """Se + Sp ≤ 1, also with a case of each kind added, divides by nothing."""
    accuracy = know(sensitivity, specificity)

    assert not accuracy.informative
    with pytest.raises(ValueError, match="more than 1"):
        correct_share(share=0.5, size=10, accuracy=accuracy, level=LEVEL)
    with pytest.raises(ValueError, match="more than 1"):
        correct_shared_difference(difference=0.1, limits=ConfidenceLimits(low=0, high=0.2), accuracy=accuracy, level=LEVEL)


def test_sides_that_go_against_each_other_have_the_wider_difference() -> None:
    """Correlation -1: the distances to the limits add up."""
    sides = [correct_share(share=share, size=80, accuracy=know((50, 50), (50, 50)), level=LEVEL) for share in (0.4, 0.6)]

    apart, against = correct_difference(*sides), correct_difference(*sides, correlation=-1.0)

    down = sides[0].value - sides[0].limits.low + sides[1].limits.high - sides[1].value
    assert against.low == pytest.approx(sides[0].value - sides[1].value - down)
    assert against.low < apart.low


def test_a_perfect_judge_changes_little() -> None:
    """Measured on very many cases, it leaves the share, and the plain interval of Agresti and Coull."""
    found = correct_share(share=0.25, size=400, accuracy=know((10**6, 10**6), (10**6, 10**6)), level=LEVEL)

    assert found.value == 0.25
    # >>> statsmodels.stats.proportion.proportion_confint(100, 400, method="agresti_coull")
    # -> 0.21001285363408795 and 0.2947432935330603
    assert (found.limits.low, found.limits.high) == (pytest.approx(0.2100129, abs=1e-4), pytest.approx(0.2947433, abs=1e-4))


def side(*, mean: float, task: float | None, context: float | None, tasks: int = 20) -> SideMoments:
    return SideMoments(mean=mean, tasks=tasks, contexts=5, responses=100, task_variance=task, context_variance=context)


def test_clustered_scores_are_worth_fewer_responses() -> None:
    """Never more than there are; the tasks where nothing varies; unknown where a variance is."""
    options = {"random": True, "banerjee": False, "level": LEVEL}
    spread = find_effective_size(side(mean=0.5, task=0.01, context=0.0), **options)  # type: ignore[arg-type]
    tight = find_effective_size(side(mean=0.5, task=1e-6, context=0.0), **options)  # type: ignore[arg-type]

    assert spread is not None
    assert spread == pytest.approx(25 * (1.959964 / 2.093024) ** 2, rel=1e-5)
    assert tight == 100
    assert find_effective_size(side(mean=0.0, task=0.0, context=0.0), **options) == 20  # type: ignore[arg-type]
    assert find_effective_size(side(mean=0.5, task=None, context=0.0), **options) is None  # type: ignore[arg-type]


def test_rare_scores_are_worth_no_more_than_in_their_own_interval() -> None:
    """Contexts that hardly differ at Φ = 0.1: the least correlation of `proportion` counts too, 0.08 · 0.3 · 0.64 · 0.09 by contexts."""
    rare = side(mean=0.1, task=0.09 * 0.32 * 0.192 / 20, context=1e-9)
    context = 0.08 * 0.192 * 0.09 / rare.contexts
    raised = replace(rare, context_variance=context)

    found, expected = (find_effective_size(one, random=True, banerjee=False, level=LEVEL) for one in (rare, raised))

    assert found is not None
    assert found == pytest.approx(expected)
    assert found < 0.09 / (rare.task_variance or 0.0)


def test_rates_have_exact_limits_over_tasks() -> None:
    """One response a task: nearly the binomial limits; all in one task: those of one; none: nothing."""
    task = np.arange(50)
    right = np.arange(50) < 45
    among = np.ones(50, dtype=bool)
    found = measure_rate(right, among=among, task=task, level=LEVEL)
    alone = measure_rate(right, among=among, task=np.zeros(50, dtype=np.int64), level=LEVEL)
    perfect = measure_rate(among, among=among, task=task, level=LEVEL)

    assert found is not None
    assert found[0] == 0.9
    # >>> statsmodels.stats.proportion.proportion_confint(45, 50, method="beta")
    # -> 0.7818646335657977 and 0.9667249064109775
    assert (found[1].low, found[1].high) == (pytest.approx(0.782, abs=0.01), pytest.approx(0.967, abs=0.01))
    assert alone is not None
    assert alone[1] == clopper_pearson(successes=0.9, trials=1, level=LEVEL)
    assert perfect is not None
    assert perfect[1] == clopper_pearson(successes=50, trials=50, level=LEVEL)
    assert measure_rate(right, among=np.zeros(50, dtype=bool), task=task, level=LEVEL) is None
