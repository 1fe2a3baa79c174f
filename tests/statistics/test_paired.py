"""Tests and effect size on one difference per task: against other programs, by enumeration, and where they do not exist."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW  # type: ignore[import-untyped]  # it ships no types

from audit.statistics.paired_tests import EXACT_SIGNS_UP_TO, cohens_d, paired_t, rank_doubled, wilcoxon_signed_rank
from audit.statistics.responses import Floats
from tests.examples import scale

STEPS = st.lists(st.integers(-5, 5), min_size=2, max_size=9).map(lambda steps: np.array(steps) / 10)
"""Few different sizes: zeros and ties are the rule."""

# The help of Pingouin.jl and HypothesisTests.jl (Julia), one zero and two ties among twelve pairs:
# julia> SignedRankTest on [20, 22, 19, 20, 22, 18, 24, 20, 19, 24, 26, 13] and [38, 37, 33, 29, 14, 12, 20, 22, 17, 25, 26, 16] answers
# Exact Wilcoxon signed rank test … two-sided p-value: 0.2881, rank sums: [20.5, 45.5]; Pingouin.wilcoxon prints p_val 0.288086.
JULIA = np.array([20, 22, 19, 20, 22, 18, 24, 20, 19, 24, 26, 13.0]) - np.array([38, 37, 33, 29, 14, 12, 20, 22, 17, 25, 26, 16])

# ?wilcox.test in R (Hollander & Wolfe 1973, 29f., depression scores), no ties: V = 40, p-value = 0.01953 one-sided.
DEPRESSION = np.array([1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]) - np.array(
    [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
)


def test_wilcoxon_with_a_zero_and_ties_is_that_of_julia() -> None:
    """As the dialogue above prints it."""
    test = wilcoxon_signed_rank(JULIA)

    assert (test.statistic, test.n) == (20.5, 11)
    assert test.p == pytest.approx(0.288086, abs=5e-7)
    assert "1 zero dropped (zero method wilcox), exact by sign flips over mid-ranks" in test.method


def test_wilcoxon_without_ties_is_that_of_r() -> None:
    """V = 40; two-sided p is twice the printed one."""
    test = wilcoxon_signed_rank(DEPRESSION)

    assert test.statistic == 40
    assert test.p == pytest.approx(2 * 0.01953, abs=1e-5)


@given(differences=STEPS)
@settings(max_examples=scale(60), deadline=None)
def test_exact_wilcoxon_counts_every_sign(differences: Floats) -> None:
    """All 2ⁿ signs of the mid-ranks, counted one by one; and scipy's permutation of the same statistic."""
    kept = differences[differences != 0]

    test = wilcoxon_signed_rank(differences)

    if not len(kept):
        assert test.p is None
        return
    ranks = stats.rankdata(np.abs(kept))
    sums = np.array(
        [sum(rank for rank, plus in zip(ranks, signs, strict=True) if plus) for signs in itertools.product([0, 1], repeat=len(kept))]
    )
    middle = ranks.sum() / 2
    assert test.statistic == ranks[kept > 0].sum()
    assert test.p == np.mean(np.abs(sums - middle) >= abs(test.statistic - middle))
    if len(kept) > 1:
        assert test.p == pytest.approx(stats.wilcoxon(kept, method=stats.PermutationMethod(n_resamples=1024)).pvalue, abs=1e-12)


@given(seed=st.integers(0, 500), size=st.integers(2, EXACT_SIGNS_UP_TO))
@settings(max_examples=scale(60), deadline=None)
def test_exact_wilcoxon_without_ties_agrees_with_scipy(seed: int, size: int) -> None:
    """Scipy's exact mode, which knows no ties."""
    differences = np.random.default_rng(seed).normal(0.2, 1, size)

    theirs = stats.wilcoxon(differences, method="exact")

    assert wilcoxon_signed_rank(differences).p == pytest.approx(theirs.pvalue, abs=1e-12)


@given(seed=st.integers(0, 500), size=st.integers(40, 120))
@settings(max_examples=scale(60), deadline=None)
def test_beyond_twenty_the_normal_curve_is_scipys(seed: int, size: int) -> None:
    """With ties, zeros dropped, tie and continuity correction."""
    differences = np.random.default_rng(seed).integers(-4, 6, size) / 8

    test = wilcoxon_signed_rank(differences)

    assert test.p == pytest.approx(stats.wilcoxon(differences, correction=True, method="approx").pvalue, rel=1e-9)
    assert "normal approximation with tie and continuity correction" in test.method


def test_the_change_from_exact_to_approximate_is_small() -> None:
    """At 20 and 21 differences with the same share of signs the two ways are within a hundredth."""
    sizes = [np.concatenate([np.arange(1, n // 3) * -1.0, np.arange(n // 3, n + 1)]) for n in (20, 21)]

    exact, approximate = (wilcoxon_signed_rank(one) for one in sizes)

    assert ("exact" in exact.method, "normal" in approximate.method) == (True, True)
    assert exact.p == pytest.approx(approximate.p, abs=0.01)


def test_ties_are_found_under_rounding() -> None:
    """0.3 − 0.2 and 0.1 differ by a rounding, and are one size; a leftover of 1e−17 is a zero."""
    noisy = np.array([0.3 - 0.2, 0.1, -0.1, 0.4, 1e-17])

    test = wilcoxon_signed_rank(noisy)

    assert (test.statistic, test.n) == (8.0, 4)
    assert rank_doubled(np.abs(noisy[:4])).tolist() == [4, 4, 4, 8]


@given(seed=st.integers(0, 500), size=st.integers(2, 200), shift=st.floats(-2, 2))
@settings(max_examples=scale(60), deadline=None)
def test_paired_t_agrees_with_scipy_and_statsmodels(seed: int, size: int, shift: float) -> None:
    """Two other programs, with n − 1 degrees of freedom."""
    rng = np.random.default_rng(seed)
    first, second = rng.random(size) + shift, rng.random(size)

    test = paired_t(first - second)

    theirs = stats.ttest_rel(first, second)
    assert (test.statistic, test.p) == pytest.approx((theirs.statistic, theirs.pvalue), rel=1e-9)
    assert (test.statistic, test.p) == pytest.approx(DescrStatsW(first - second).ttest_mean(0)[:2], rel=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(("size", "mean"), [(2, 1.0), (5, 0.0), (12, -3.0), (20, 0.4), (400, 0.1), (100_000, 0.7)])
def test_limits_of_d_put_back_have_the_tail_they_were_made_for(size: int, mean: float, level: float) -> None:
    """Scipy's noncentral t, at each limit times √n, leaves α/2 on its side of the observed t."""
    differences = np.random.default_rng(size).normal(mean, 1, size)

    d = cohens_d(differences, level=level)

    t = paired_t(differences).statistic
    assert t is not None
    assert d.low is not None
    assert d.high is not None
    assert d.value == pytest.approx(differences.mean() / differences.std(ddof=1), rel=1e-12)
    tails = [stats.nct.cdf(t, size - 1, end * math.sqrt(size)) for end in (d.low, d.high)]
    assert tails == pytest.approx([0.5 + level / 2, 0.5 - level / 2], abs=1e-7)


def test_the_interval_of_d_at_zero_is_that_of_the_normal_curve() -> None:
    """With t = 0 the noncentral t is P(T ≤ 0) = Φ(−δ), whatever the degrees of freedom: d = 0 ± 1.96/√n."""
    d = cohens_d(np.array([-1.0, 1.0, -2.0, 2.0]), level=0.95)

    assert d.value == 0
    assert (d.low, d.high) == pytest.approx((-1.959963984540054 / 2, 1.959963984540054 / 2), abs=1e-9)


@given(differences=STEPS, factor=st.sampled_from([-1.0, 3.0, 1e-200, 1e200]), seed=st.integers(0, 100))
@settings(max_examples=scale(60), deadline=None)
def test_sign_unit_and_order_change_what_they_should(differences: Floats, factor: float, seed: int) -> None:
    """Swapped arms turn t, d and W+ round; a unit changes nothing; the order of tasks not a bit."""
    shuffled = np.random.default_rng(seed).permutation(differences)
    sign = math.copysign(1, factor)

    assert paired_t(shuffled) == paired_t(differences)
    assert wilcoxon_signed_rank(shuffled) == wilcoxon_signed_rank(differences)
    assert cohens_d(shuffled, level=0.9) == cohens_d(differences, level=0.9)
    there, back = paired_t(differences), paired_t(differences * factor)
    ranks, turned = wilcoxon_signed_rank(differences), wilcoxon_signed_rank(differences * factor)
    assert turned.p == ranks.p
    if there.statistic is not None:
        assert back.statistic == pytest.approx(sign * there.statistic, rel=1e-9, abs=1e-12)
        d, e = cohens_d(differences, level=0.9), cohens_d(differences * factor, level=0.9)
        ends = (d.low, d.high) if sign > 0 else (-(d.high or 0), -(d.low or 0))
        assert (e.low, e.high) == pytest.approx(ends, abs=1e-6)
    if ranks.statistic is not None and sign < 0:
        assert turned.statistic == ranks.n * (ranks.n + 1) / 2 - ranks.statistic


@pytest.mark.parametrize(
    ("differences", "t", "ranks"),
    [
        ([], "no task", "no task"),
        ([0.4], "one task: nothing says how tasks vary", None),
        ([0.0], "one task: nothing says how tasks vary", "every difference is zero"),
        ([0.0] * 20, "no variation: the difference is the same in every task", "every difference is zero"),
        ([1.0] * 20, "no variation: the difference is the same in every task", None),
        ([0.1 + 0.2, 0.3, 0.3], "no variation: the difference is the same in every task", None),
    ],
)
def test_a_statistic_that_does_not_exist_has_no_p(differences: list[float], t: str, ranks: str | None) -> None:
    """None with its reason, never 0 or 1; the signed ranks of equal differences do exist."""
    vector = np.array(differences, dtype=float)

    first, second, d = paired_t(vector), wilcoxon_signed_rank(vector), cohens_d(vector, level=0.95)

    assert (first.statistic, first.p, first.reason) == (None, None, t)
    assert (d.value, d.low, d.high, d.reason) == (None, None, None, t)
    assert second.reason == ranks
    assert (second.p is None) == (ranks is not None)


def test_all_of_twenty_in_one_direction_is_as_small_as_p_can_be() -> None:
    """2/2²⁰, ties or not: never 0."""
    assert wilcoxon_signed_rank(np.ones(20)).p == 2 / 2**20


def test_a_d_beyond_the_noncentral_t_has_no_interval() -> None:
    """Tasks that hardly vary beside a large mean: the value is there, and the reason why its limits are not."""
    d = cohens_d(1 + 1e-9 * np.arange(10.0), level=0.95)

    assert d.value == pytest.approx(1 / (1e-9 * np.std(np.arange(10), ddof=1)), rel=1e-6)
    assert (d.low, d.high) == (None, None)
    assert d.reason is not None
    assert "tasks hardly vary" in d.reason


@pytest.mark.parametrize("bad", [np.array([0.1, math.nan]), np.array([math.inf, 0.0]), np.zeros((2, 2))])
def test_what_is_no_vector_of_numbers_is_refused(bad: Floats) -> None:
    """By every function; and so is a level that is none."""
    for refuse in (paired_t, wilcoxon_signed_rank, lambda values: cohens_d(values, level=0.95)):
        with pytest.raises(ValueError, match="expected a vector of finite numbers"):
            refuse(bad)
    with pytest.raises(ValueError, match="level must lie in"):
        cohens_d(np.array([0.1, 0.2]), level=1.0)
