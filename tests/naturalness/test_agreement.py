"""Agreement between raters, against Krippendorff's own examples and statsmodels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa  # type: ignore[import-untyped]  # it ships no types

from audit.statistics.rater_accuracy import Answers, bound_alpha, count_answers, krippendorff_alpha, observe_agreement

# K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011). Section B: two observers, ten units, two values, alpha = 0.095.
# Section C: four observers, twelve units, five values, some missing, nominal alpha = 0.743.
TWO = """
0 1 0 0 0 0 0 0 1 0
1 1 1 0 0 1 0 0 0 0
"""
FOUR = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""


def parse(text: str) -> Answers:
    rows = [[-1 if word == "." else int(word) for word in line.split()] for line in text.split("\n") if line]
    return np.array(rows).T


@pytest.mark.parametrize(("text", "alpha"), [(TWO, 0.095), (FOUR, 0.743)])
def test_alpha_is_that_of_its_author(text: str, alpha: float) -> None:
    """To the digits he prints."""
    assert krippendorff_alpha(count_answers(parse(text))) == pytest.approx(alpha, abs=5.1e-4)


@given(seed=st.integers(0, 2**32 - 1), items=st.integers(2, 30), raters=st.integers(2, 6))
def test_alpha_is_fleiss_kappa_with_its_small_sample_term(seed: int, items: int, raters: int) -> None:
    """Complete nominal data: 1 − α = (1 − κ)(1 − 1/(items × raters)), κ as statsmodels computes it."""
    answers = np.random.default_rng(seed).integers(0, 2, (items, raters))
    if answers.min() == answers.max():
        return
    kappa = fleiss_kappa(aggregate_raters(answers)[0])

    alpha = krippendorff_alpha(count_answers(answers))

    assert alpha == pytest.approx(1 - (1 - kappa) * (1 - 1 / (items * raters)), abs=1e-9)


def test_raters_who_always_agree_keep_a_doubt() -> None:
    """20 items, all alike answered: alpha 1, and an interval that counts 20 items."""
    answers = np.tile(np.array([0, 1] * 10)[:, np.newaxis], (1, 4))
    counts = count_answers(answers)

    raw, alpha = observe_agreement(counts, level=0.95), bound_alpha(counts, level=0.95, replicates=500, seed=1)

    assert (raw.value, alpha.value) == (1, 1)
    assert raw.limits is not None
    assert raw.limits.low == pytest.approx(0.832, abs=1e-3)
    assert alpha.limits is not None
    assert alpha.limits.low == pytest.approx(1 - 0.168 / (80**2 - 2 * 40**2) * 80 * 79, abs=2e-3)


def test_one_answer_to_everything_leaves_alpha_undefined() -> None:
    """Chance would agree as well; raw agreement still is 1."""
    counts = count_answers(np.zeros((10, 3), dtype=int))

    assert krippendorff_alpha(counts) is None
    assert bound_alpha(counts, level=0.95, replicates=100, seed=0).limits is None
    assert observe_agreement(counts, level=0.95).value == 1


@pytest.mark.parametrize("answers", [np.zeros((0, 3), dtype=int), np.full((5, 3), -1), np.array([[0, -1], [-1, 1]]), np.array([[0], [1]])])
def test_without_an_item_that_two_answered_there_is_no_agreement(answers: Answers) -> None:
    """No item, no answers, answers to different items, one rater."""
    counts = count_answers(answers)

    assert krippendorff_alpha(counts) is None
    assert observe_agreement(counts, level=0.95).value is None


def test_one_item_has_a_value_and_no_interval() -> None:
    """Nothing says how other items would be."""
    counts = count_answers(np.array([[0, 1, 1]]))

    assert observe_agreement(counts, level=0.95).value == pytest.approx(1 / 3)
    assert observe_agreement(counts, level=0.95).limits is None
    assert bound_alpha(counts, level=0.95, replicates=100, seed=0).limits is None


def test_the_order_of_items_and_raters_and_the_names_of_answers_change_nothing() -> None:
    """Not a bit."""
    rng = np.random.default_rng(5)
    answers = rng.integers(-1, 2, (30, 4))
    shuffled = answers[rng.permutation(30)][:, rng.permutation(4)]

    one, other = (bound_alpha(count_answers(each), level=0.95, replicates=500, seed=3) for each in (answers, shuffled))

    renamed = np.where(answers < 0, -1, 1 - answers)
    assert one == other
    assert krippendorff_alpha(count_answers(renamed)) == pytest.approx(one.value, abs=1e-12)


def test_the_interval_of_alpha_covers_as_often_as_it_says() -> None:
    """A seeded simulation with a common truth that each rater sees with 80 %: alpha tends to 0.36."""
    rng = np.random.default_rng(2)
    covered = 0
    for _ in range(200):
        truth = rng.integers(0, 2, (40, 1))
        answers = np.where(rng.random((40, 4)) < 0.8, truth, 1 - truth)
        found = bound_alpha(count_answers(answers), level=0.95, replicates=400, seed=0)
        covered += found.limits is not None and found.limits.low <= 0.36 <= found.limits.high

    assert covered / 200 >= 0.93
