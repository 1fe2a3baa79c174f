"""Holm-adjusted p-values against statsmodels, and with comparisons that have none."""

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests  # type: ignore[import-untyped]  # it ships no types

from audit.statistics.contrast_intervals import holm_p
from tests.examples import scale

PS = st.lists(st.floats(0, 1), min_size=1, max_size=12)

# R: p.adjust(c(0.01, 0.04, 0.03, 0.005), method = "holm") gives 0.03 0.06 0.06 0.02 (the worked example of many textbooks).


@pytest.fixture(scope="module", autouse=True)
def _without_older_objects() -> None:
    """`multipletests` looks for garbage at each call: two seconds each in a worker that holds what thousands of tests left."""
    gc.freeze()


def test_the_textbook_example_comes_out() -> None:
    """As the dialogue above prints it."""
    assert holm_p([0.01, 0.04, 0.03, 0.005]) == pytest.approx((0.03, 0.06, 0.06, 0.02))


@given(ps=PS)
@settings(max_examples=scale(30), deadline=None)
def test_adjusted_p_is_that_of_statsmodels(ps: list[float]) -> None:
    """In the order given, ties included."""
    assert holm_p(ps) == pytest.approx(tuple(multipletests(ps, method="holm")[1]), abs=1e-12)


@given(ps=PS, seed=st.integers(0, 100))
@settings(max_examples=scale(60), deadline=None)
def test_the_order_of_comparisons_does_not_matter(ps: list[float], seed: int) -> None:
    """And no p becomes smaller, nor any larger than 1."""
    order = np.random.default_rng(seed).permutation(len(ps))

    adjusted = holm_p(ps)

    assert holm_p([ps[place] for place in order]) == tuple(adjusted[place] for place in order)
    assert all(there is not None and p <= there <= 1 for p, there in zip(ps, adjusted, strict=True))


def test_a_comparison_without_p_still_counts() -> None:
    """It was asked for; that it has no p makes the others no surer."""
    assert holm_p([0.01, None, 0.02]) == pytest.approx((0.03, None, 0.04))
    assert holm_p([None]) == (None,)
    assert holm_p([]) == ()


@pytest.mark.parametrize("bad", [-0.1, 1.1, float("nan")])
def test_what_is_no_p_is_refused(bad: float) -> None:
    """A mistake of the caller."""
    with pytest.raises(ValueError, match="p-values must lie in"):
        holm_p([0.5, bad])
