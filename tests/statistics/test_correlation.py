"""Correlations against other programs, by enumeration, and where they do not exist."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from audit.statistics.paired_tests import EXACT_RANKS_UP_TO, pearson, spearman
from audit.statistics.responses import Floats
from tests.examples import scale

# Example of ci.spear in the R package statpsych (D. G. Bonett), which "should return":
#  Estimate         SE        LL        UL
# 0.8699639 0.08241326 0.5840951 0.9638297
Y = np.array([21, 4, 9, 12, 35, 18, 10, 22, 24, 1, 6, 8, 13, 16, 19.0])
X = np.array([67, 28, 30, 28, 52, 40, 25, 37, 44, 10, 14, 20, 28, 40, 51.0])


def test_spearman_is_that_of_the_authors_of_its_interval() -> None:
    """As the dialogue above prints it."""
    found = spearman(Y, X, level=0.95)

    assert (found.measure.value, found.measure.low, found.measure.high) == pytest.approx((0.8699639, 0.5840951, 0.9638297), abs=5e-8)


@given(seed=st.integers(0, 500), size=st.integers(4, 60), level=st.sampled_from([0.8, 0.95, 0.99]))
@settings(max_examples=scale(60), deadline=None)
def test_pearson_agrees_with_scipy(seed: int, size: int, level: float) -> None:
    """Value, Fisher's interval and p."""
    rng = np.random.default_rng(seed)
    first = rng.normal(size=size)
    second = first * 0.4 + rng.normal(size=size)

    found = pearson(first, second, level=level)

    theirs = stats.pearsonr(first, second)
    limits = theirs.confidence_interval(level)
    assert (found.measure.value, found.measure.low, found.measure.high) == pytest.approx(
        (theirs.statistic, limits.low, limits.high), abs=1e-9
    )
    assert found.p == pytest.approx(theirs.pvalue, rel=1e-6)


@given(seed=st.integers(0, 500), size=st.integers(EXACT_RANKS_UP_TO + 1, 60))
@settings(max_examples=scale(60), deadline=None)
def test_spearman_agrees_with_scipy(seed: int, size: int) -> None:
    """With ties; p from t above eight units."""
    rng = np.random.default_rng(seed)
    first, second = rng.integers(0, 10, size).astype(float), rng.integers(0, 10, size).astype(float)

    found = spearman(first, second, level=0.95)

    theirs = stats.spearmanr(first, second)
    assert found.measure.value == pytest.approx(theirs.statistic, abs=1e-12)
    assert found.p == pytest.approx(theirs.pvalue, rel=1e-6)


@given(data=st.data(), size=st.integers(4, 5))
@settings(max_examples=scale(30), deadline=None)
def test_small_spearman_counts_every_order(data: st.DataObject, size: int) -> None:
    """All n! orders of the mid-ranks, correlated one by one."""
    draw = st.lists(st.integers(0, 3), min_size=size, max_size=size).filter(lambda values: len(set(values)) > 1)
    first, second = (np.array(data.draw(draw), dtype=float) for _ in range(2))

    found = spearman(first, second, level=0.95)

    ranks = stats.rankdata(second)
    seen = abs(np.corrcoef(stats.rankdata(first), ranks)[0, 1])
    each = [abs(np.corrcoef(stats.rankdata(first), ranks[list(order)])[0, 1]) for order in itertools.permutations(range(size))]
    assert found.p == pytest.approx(np.mean(np.array(each) >= seen - 1e-9), abs=1e-12)


@given(seed=st.integers(0, 200), size=st.integers(4, 30), factor=st.sampled_from([-2.0, 0.5, 1e150]))
@settings(max_examples=scale(60), deadline=None)
def test_unit_sign_and_order_change_what_they_should(seed: int, size: int, factor: float) -> None:
    """It is symmetric, knows no unit, turns with the sign, and does not see the order of units."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=size), rng.normal(size=size)
    order = rng.permutation(size)
    sign = math.copysign(1, factor)

    for correlate in (pearson, spearman):
        found = correlate(first, second, level=0.9)
        assert correlate(first[order], second[order], level=0.9) == found
        assert correlate(second, first, level=0.9).measure.value == found.measure.value
        if found.measure.low is None:
            continue
        other = correlate(first * factor, second, level=0.9).measure
        ends = (found.measure.low, found.measure.high) if sign > 0 else (-(found.measure.high or 0), -(found.measure.low or 0))
        assert (other.low, other.high) == pytest.approx(ends, abs=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([], [], "0 units"),
        ([1, 2, 3], [3, 1, 2], "3 units"),
        ([1, 1, 1, 1], [1, 2, 3, 4], "the first of the two numbers is the same for every unit"),
        ([1, 2, 3, 4], [0.3, 0.1 + 0.2, 0.3, 0.3], "the second of the two numbers is the same for every unit"),
    ],
)
def test_a_correlation_that_does_not_exist_says_so(first: list[float], second: list[float], reason: str) -> None:
    """Too few units, or one number that does not vary: value, interval and p are None."""
    for correlate in (pearson, spearman):
        found = correlate(np.array(first, dtype=float), np.array(second, dtype=float), level=0.95)
        assert (found.measure.value, found.measure.low, found.p) == (None, None, None)
        assert reason in (found.measure.reason or "")


def test_perfect_correlation_has_no_interval() -> None:
    """The artanh of ±1 is infinite; the exact p of five ranks in order is 2/5!, and t does not exist."""
    units = np.arange(5.0)

    line, ranks = pearson(units, 3 - 2 * units, level=0.95), spearman(units, np.exp(units), level=0.95)

    assert (line.measure.value, line.measure.low, line.p) == (-1.0, None, None)
    assert (ranks.measure.value, ranks.measure.low, ranks.p) == (1.0, None, 2 / math.factorial(5))
    assert line.test.reason == "perfect correlation: t is not finite"


def test_the_interval_covers() -> None:
    """2,000 samples of 20 pairs with ρ = 0.6: the interval of r holds it in 95 % of them, within three standard errors."""
    rng = np.random.default_rng(20)
    pairs = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], size=(2000, 20))

    held = [pearson(one[:, 0], one[:, 1], level=0.95).measure for one in pairs]

    share = np.mean([(one.low or 0) <= 0.6 <= (one.high or 0) for one in held])
    assert abs(share - 0.95) < 3 * math.sqrt(0.05 * 0.95 / 2000)


@pytest.mark.parametrize(("first", "second"), [([1.0, math.nan], [1.0, 2.0]), ([1.0, 2.0], [1.0, 2.0, 3.0])])
def test_what_does_not_pair_is_refused(first: list[float], second: list[float]) -> None:
    """Not finite, or not of one length."""
    for correlate in (pearson, spearman):
        with pytest.raises(ValueError, match=r"vector|length"):
            correlate(np.array(first), np.array(second), level=0.95)


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_a_level_outside_its_range_is_refused(level: float) -> None:
    """Nominal coverage lies between 0 and 1."""
    values: Floats = np.arange(5.0)

    with pytest.raises(ValueError, match="level must lie in"):
        pearson(values, values, level=level)
