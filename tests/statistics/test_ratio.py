"""Ratios of means: limits put back into the test they invert, other programs' forms, coverage, and where no ratio exists."""

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]  # it ships no types

from audit.statistics.contrast_intervals import NOT_IDENTIFIED, RatioTerm, fieller, ratio_interval
from audit.statistics.mean_intervals import ConfidenceLimits
from audit.statistics.responses import Floats
from tests.examples import scale

# Data of the example of ci.ratio.mean.ps in the R package statpsych, which gives the interval of another method, from the logarithms
# (Bonett & Price 2020): 3.4875 3.075 1.134146 1.09417 1.175583.
FIRST = np.array([3.3, 3.6, 3.0, 3.1, 3.9, 4.2, 3.5, 3.3])
SECOND = np.array([3.0, 3.1, 2.7, 2.6, 3.2, 3.8, 3.2, 3.0])


def half_of(numerator: Floats, denominator: Floats, level: float = 0.95) -> float:
    """Half-width of mean(numerator − ratio · denominator)."""
    n = len(numerator)
    quantile: float = stats.t.ppf(0.5 + level / 2, n - 1)
    return quantile * float(np.std(numerator - denominator, ddof=1)) / math.sqrt(n)


def test_fieller_lies_beside_the_published_interval_of_another_method() -> None:
    """Same point to the last printed digit, limits within a thousandth of those from logarithms."""
    ratio = fieller(FIRST, SECOND, level=0.95)

    assert ratio.value == pytest.approx(1.134146, abs=5e-7)
    assert (ratio.low, ratio.high) == pytest.approx((1.09417, 1.175583), abs=1e-3)


@given(seed=st.integers(0, 1000), size=st.integers(4, 60), level=st.sampled_from([0.8, 0.95, 0.99]))
@settings(max_examples=scale(60), deadline=None)
def test_the_t_test_at_each_limit_has_exactly_alpha(seed: int, size: int, level: float) -> None:
    """Scipy's one-sample test of y − r x at both ends: what Fieller's interval is the inversion of."""
    rng = np.random.default_rng(seed)
    denominator = rng.random(size) + 2
    numerator = 0.5 * denominator + rng.normal(0, 0.5, size)

    ratio = fieller(numerator, denominator, level=level)

    assert ratio.low is not None
    assert ratio.high is not None
    ps = [stats.ttest_1samp(numerator - end * denominator, 0).pvalue for end in (ratio.low, ratio.high)]
    assert ps == pytest.approx([1 - level] * 2, rel=1e-5)


@given(seed=st.integers(0, 300), size=st.integers(3, 40))
@example(seed=100, size=11)  # a numerator near 0, whose limits are far narrower than its ± h
@settings(max_examples=scale(15), deadline=None)
def test_the_closed_form_and_the_inversion_are_one_interval(seed: int, size: int) -> None:
    """With limits no wider than ± h, MOVER adds nothing and the general inversion gives Fieller's roots."""
    rng = np.random.default_rng(seed)
    denominator = rng.random(size) + 2
    numerator = rng.normal(0.2, 0.5, size)
    terms = [
        RatioTerm(value=float(one.mean()), limits=ConfidenceLimits(low=float(one.mean()), high=float(one.mean())))
        for one in (numerator, denominator)
    ]

    limits = ratio_interval(*terms, correlation=0.0, half_width=lambda ratio: half_of(numerator, ratio * denominator))

    closed = fieller(numerator, denominator, level=0.95)
    assert limits is not None
    assert (limits.low, limits.high) == pytest.approx((closed.low, closed.high), abs=1e-9)


@pytest.mark.parametrize(("k", "n", "m", "total"), [(56, 70, 48, 80), (5, 100, 25, 100), (1, 40, 30, 40), (0, 40, 30, 40)])
def test_without_a_half_width_the_inversion_is_mover_r(k: int, n: int, m: int, total: int) -> None:
    """Donner & Zou (2012), closed form for independent shares, from the Wilson limits of statsmodels."""
    first, second = ((count / trials, *proportion_confint(count, trials, method="wilson")) for count, trials in ((k, n), (m, total)))
    (a, l1, u1), (b, l2, u2) = first, second
    terms = [RatioTerm(value=value, limits=ConfidenceLimits(low=low, high=high)) for value, low, high in (first, second)]

    limits = ratio_interval(*terms, correlation=0.0, half_width=lambda _: 0.0)

    low = (a * b - math.sqrt(max(0.0, (a * b) ** 2 - l1 * u2 * (2 * a - l1) * (2 * b - u2)))) / (u2 * (2 * b - u2))
    high = (a * b + math.sqrt((a * b) ** 2 - u1 * l2 * (2 * a - u1) * (2 * b - l2))) / (l2 * (2 * b - l2))
    assert limits is not None
    assert (limits.low, limits.high) == pytest.approx((low, high), abs=1e-7)


@given(seed=st.integers(0, 300), size=st.integers(3, 40), top=st.sampled_from([-3.0, 1e-180, 1e180]), below=st.sampled_from([-0.5, 7.0]))
@settings(max_examples=scale(60), deadline=None)
def test_units_scale_the_ratio_and_order_does_not_matter(seed: int, size: int, top: float, below: float) -> None:
    """(a y)/(b x) is a/b times y/x, turned round where that is negative; the same bits for any order of tasks."""
    rng = np.random.default_rng(seed)
    denominator, numerator = rng.random(size) + 2, rng.normal(0.2, 0.5, size)
    order = rng.permutation(size)

    plain, scaled = fieller(numerator, denominator, level=0.9), fieller(top * numerator, below * denominator, level=0.9)

    assert fieller(numerator[order], denominator[order], level=0.9) == plain
    assert plain.low is not None
    assert plain.high is not None
    ends = sorted(top / below * end for end in (plain.low, plain.high))
    assert scaled.value == pytest.approx(top / below * (plain.value or 0.0), rel=1e-9)
    assert (scaled.low, scaled.high) == pytest.approx(tuple(ends), rel=1e-6)


def test_the_interval_covers_and_the_bootstrap_agrees() -> None:
    """1,500 samples of 25 skewed pairs with ratio 2/3: coverage near 95 %; one sample's percentile bootstrap lies close by."""
    rng = np.random.default_rng(7)
    denominator = rng.gamma(4, 0.5, size=(1500, 25)) + 1
    numerator = denominator * 2 / 3 + rng.normal(0, 0.4, size=denominator.shape)

    found = [fieller(y, x, level=0.95) for y, x in zip(numerator, denominator, strict=True)]

    share = np.mean([(one.low or 0) <= 2 / 3 <= (one.high or 0) for one in found])
    assert 0.93 < share < 0.97
    y, x = numerator[0], denominator[0]
    theirs = stats.bootstrap(
        (y, x), lambda a, b, axis: a.mean(axis) / b.mean(axis), paired=True, method="percentile", rng=np.random.default_rng(1)
    ).confidence_interval
    assert (found[0].low, found[0].high) == pytest.approx((theirs.low, theirs.high), abs=0.03)


def test_a_denominator_that_could_be_zero_identifies_nothing() -> None:
    """Fieller's set is unbounded there: no value is given, let alone an interval."""
    ratio = fieller(FIRST, SECOND - 3, level=0.95)

    assert (ratio.value, ratio.low, ratio.high, ratio.reason) == (None, None, None, NOT_IDENTIFIED)


def test_an_unbounded_set_of_ratios_is_no_interval() -> None:
    """The denominator's limits exclude 0, and yet its half-width reaches there: every large ratio is kept."""
    terms = [
        RatioTerm(value=0.3, limits=ConfidenceLimits(low=0.2, high=0.4)),
        RatioTerm(value=0.5, limits=ConfidenceLimits(low=0.3, high=0.7)),
    ]

    assert ratio_interval(*terms, correlation=0.0, half_width=lambda ratio: 0.51 * abs(ratio)) is None
    assert ratio_interval(*terms, correlation=0.0, half_width=lambda ratio: 0.49 * abs(ratio)) is not None


def test_just_before_that_the_interval_is_wide_and_finite() -> None:
    """The denominator's t interval ends a hair above 0."""
    noise = np.array([-1.0, 1.0, -2.0, 2.0, 0.5, -0.5])
    mean = half_of(noise, np.zeros(6))

    inside, outside = (fieller(np.arange(6.0), noise + mean * factor, level=0.95) for factor in (1.001, 0.999))

    assert inside.low is not None
    assert inside.high is not None
    assert inside.high - inside.low > 100
    assert outside.reason == NOT_IDENTIFIED


@pytest.mark.parametrize(
    ("numerator", "denominator", "value", "reason"),
    [
        ([], [], None, "no task"),
        ([1.0], [2.0], None, "one task: nothing says how tasks vary"),
        ([1.0, 2.0], [2.0, 4.0], None, NOT_IDENTIFIED),
        ([1.0, 1.1, 0.9], [2.0, 2.2, 1.8], 0.5, "no variation: the ratio is the same in every task"),
        ([0.0] * 5, [1.0, 2.0, 1.5, 1.2, 1.1], 0.0, "no variation: the ratio is the same in every task"),
        ([0.0] * 5, [0.0] * 5, None, NOT_IDENTIFIED),
        ([0.5, 0.7, 0.9], [0.0] * 3, None, NOT_IDENTIFIED),
    ],
)
def test_degenerate_tasks_have_no_interval(numerator: list[float], denominator: list[float], value: float | None, reason: str) -> None:
    """None with its reason, never an interval of zero width."""
    ratio = fieller(np.array(numerator, dtype=float), np.array(denominator, dtype=float), level=0.95)

    assert ratio.value == (None if value is None else pytest.approx(value))
    assert (ratio.low, ratio.high, ratio.reason) == (None, None, reason)


def test_what_does_not_pair_is_refused() -> None:
    """Vectors of different lengths, numbers that are none, a level that is none."""
    with pytest.raises(ValueError, match="of one length"):
        fieller(np.ones(3), np.ones(4), level=0.95)
    with pytest.raises(ValueError, match="finite"):
        fieller(np.ones(3), np.array([1.0, math.nan, 2.0]), level=0.95)
    with pytest.raises(ValueError, match="level"):
        fieller(np.ones(3), np.ones(3), level=0.0)
