"""Accuracy of raters, one by one and together, against other programs and by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from audit.statistics.mean_intervals import clopper_pearson
from audit.statistics.rater_accuracy import PooledAccuracy, binomial_p, fisher_p, mean_of_shares, pool_raters
from audit.statistics.responses import Floats


@given(trials=st.integers(1, 300), data=st.data())
def test_the_binomial_p_is_that_of_scipy(trials: int, data: st.DataObject) -> None:
    """scipy.stats.binomtest against 1/2."""
    correct = data.draw(st.integers(0, trials))

    assert binomial_p(correct=correct, trials=trials) == pytest.approx(stats.binomtest(correct, trials).pvalue, rel=1e-9)


@given(trials=st.tuples(st.integers(1, 40), st.integers(1, 40)), data=st.data())
def test_the_fisher_p_is_that_of_scipy(trials: tuple[int, int], data: st.DataObject) -> None:
    """scipy.stats.fisher_exact on the table of answer and side."""
    right = (data.draw(st.integers(0, trials[0])), data.draw(st.integers(0, trials[1])))
    table = np.array([[right[0], trials[0] - right[0]], [trials[1] - right[1], right[1]]])

    assert fisher_p(right=right, trials=trials) == pytest.approx(stats.fisher_exact(table)[1], rel=1e-6, abs=1e-12)


def test_the_lady_tasting_tea() -> None:
    """Three of four cups right on either side (Fisher 1935): (1 + 16) of 70 tables in either tail."""
    assert fisher_p(right=(3, 3), trials=(4, 4)) == pytest.approx(34 / 70, rel=1e-12)


@pytest.mark.parametrize(("correct", "trials"), [(-1, 4), (5, 4), (0, 0)])
def test_counts_that_cannot_be_are_refused(correct: int, trials: int) -> None:
    """No p from no trial."""
    with pytest.raises(ValueError, match="trials"):
        binomial_p(correct=correct, trials=trials)


def test_the_mean_of_two_shares_ignores_unequal_numbers() -> None:
    """A rater who always says `test` is right half of the time, however many test items there are."""
    value, limits = mean_of_shares(right=(90, 0), trials=(90, 10), level=0.95)

    assert value == 0.5
    assert limits.low < 0.5 < limits.high


def test_the_mean_of_shares_never_gets_an_interval_of_no_width() -> None:
    """All right on both sides."""
    value, limits = mean_of_shares(right=(10, 10), trials=(10, 10), level=0.95)

    assert value == 1
    assert limits.low < 0.9


def pool(right: Floats, test: list[bool], *, level: float = 0.95) -> PooledAccuracy:
    found = pool_raters(right, np.array(test), level=level)
    assert found is not None
    return found


def test_raters_who_answer_alike_are_worth_no_more_than_their_items() -> None:
    """Without variance between raters the interval is near the binomial one over items, and never below it in width."""
    one = np.array([1.0] * 15 + [0.0] * 5)

    found = pool(np.tile(one[:, np.newaxis], (1, 8)), [True, False] * 10)

    alone = clopper_pearson(successes=15, trials=20, level=0.95)
    assert found.value == pytest.approx(0.75)
    assert found.limits is not None
    assert found.limits.high - found.limits.low > 0.85 * (alone.high - alone.low)


@pytest.mark.parametrize("right", [0.0, 1.0])
def test_perfect_or_hopeless_raters_keep_a_doubt(right: float) -> None:
    """20 of 20 items: the interval is that of 20, not of 100 answers."""
    found = pool(np.full((20, 5), right), [True, False] * 10)

    assert found.value == right
    assert found.limits is not None
    assert found.limits.high - found.limits.low == pytest.approx(0.168, abs=1e-3)


def test_a_side_weighs_half_whatever_its_items() -> None:
    """30 test items all right, 10 deployment items all wrong: one half, not three quarters."""
    right = np.vstack([np.ones((30, 5)), np.zeros((10, 5))])

    assert pool(right, [True] * 30 + [False] * 10).value == pytest.approx(0.5)


def test_two_items_of_a_side_are_no_twenty_two() -> None:
    """All right on 20 and on 2 items: half of the mean rests on 2, whose exact limit is 0.158; 22 draws would give 0.846."""
    found = pool(np.ones((22, 6)), [True] * 20 + [False] * 2)

    assert found.limits is not None
    assert found.limits.low == pytest.approx(1 - np.hypot(1 - 0.025 ** (1 / 2), 1 - 0.025 ** (1 / 20)) / 2)


def test_the_side_with_most_of_the_variance_has_its_own_degrees_of_freedom() -> None:
    """Raters alike, 5 items that differ beside 100 that do not: t with 4 degrees of freedom about one half, not with 104."""
    one = np.concatenate([np.ones(100), [1.0, 1.0, 0.0, 0.0, 0.0]])

    found = pool(np.tile(one[:, np.newaxis], (1, 6)), [True] * 100 + [False] * 5)

    half = float(stats.t.ppf(0.975, 4)) * np.sqrt(0.3 / 5) / 2
    assert found.value == pytest.approx(0.7)
    assert found.limits is not None
    assert found.limits.low <= 0.7 - half


@pytest.mark.parametrize(("test", "deploy", "raters"), [(20, 2, 6), (30, 3, 6), (20, 2, 20)])
def test_sides_of_unequal_size_are_covered_too(test: int, deploy: int, raters: int) -> None:
    """Items differ by 3 on the logit; as one sample of items the interval held the truth in 81, 86 and 74 % of 600."""
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(250):
        logit = 3 * rng.standard_normal((test + deploy, 1)) + 0.3 * rng.standard_normal((1, raters))
        right = (rng.random((test + deploy, raters)) < 1 / (1 + np.exp(-logit))).astype(float)
        limits = pool(right, [True] * test + [False] * deploy).limits
        covered += bool(limits is not None and limits.low <= 0.5 <= limits.high)

    assert covered / 250 >= 0.94


def test_undecided_items_count_for_nobody() -> None:
    """Neither an item without answers nor a rater without any."""
    right = np.array([[1, 1, np.nan], [0, 1, np.nan], [1, 0, np.nan], [1, 1, np.nan], [np.nan] * 3])

    whole, kept = pool(right, [True, False, True, False, True]), pool(right[:4, :2], [True, False, True, False])

    assert whole == kept


@pytest.mark.parametrize(
    ("right", "test"),
    [
        (np.ones((10, 1)), [True, False] * 5),  # one rater
        (np.ones((2, 5)), [True, False]),  # one item of a side
    ],
)
def test_one_rater_or_one_item_of_a_side_gets_no_interval(right: Floats, test: list[bool]) -> None:
    """Nothing says how others would differ."""
    assert pool(right, test).limits is None


def test_a_side_without_answers_has_no_accuracy() -> None:
    """A rater cannot tell apart what was not there."""
    assert pool_raters(np.ones((4, 3)), np.array([True] * 4), level=0.95) is None
    assert pool_raters(np.full((4, 3), np.nan), np.array([True, False] * 2), level=0.95) is None


@pytest.mark.parametrize(
    ("items", "raters", "skill", "spread", "bias"),
    [(20, 5, 0.0, 0.0, 0.0), (40, 5, 0.5, 0.5, 0.8), (40, 8, 1.0, 0.8, 0.0), (20, 3, 0.8, 0.5, 0.8)],
)
def test_the_interval_covers_as_often_as_it_says(items: int, raters: int, skill: float, spread: float, bias: float) -> None:
    """A seeded simulation: items and raters differ by *spread* on the logit, and everyone leans towards `test` by *bias*."""
    rng = np.random.default_rng(11)
    test = np.arange(items) < items // 2
    lean = np.where(test, bias, -bias)[:, np.newaxis]
    many = rng.normal(0, np.hypot(spread, spread), 200_000)
    truth = np.mean([1 / (1 + np.exp(-(skill + side * bias + many))) for side in (1, -1)])
    covered = 0
    for _ in range(250):
        logit = skill + lean + spread * (rng.standard_normal((items, 1)) + rng.standard_normal((1, raters)))
        limits = pool((rng.random((items, raters)) < 1 / (1 + np.exp(-logit))).astype(float), test.tolist()).limits
        covered += bool(limits is not None and limits.low <= truth <= limits.high)

    assert covered / 250 >= 0.94
