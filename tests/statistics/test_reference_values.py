"""Numbers checked against other programs."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint  # type: ignore[import-untyped]  # it ships no types

from audit.statistics.contrast_intervals import holm_levels
from audit.statistics.detectable_effect import minimum_detectable, unseen_bound
from audit.statistics.mean_intervals import ConfidenceLimits, clopper_pearson, mover_limits
from audit.statistics.responses import normalise, pooled_deviation
from audit.statistics.side_moments import VariancePart, half_width, one_sided_p, satterthwaite_df

# scipy 1.17.1 answers binomtest(7, 20).proportion_ci(method="exact") with low=0.1539092047845412 and high=0.5921885345328283.


def test_clopper_pearson_of_seven_in_twenty() -> None:
    """As the dialogue above prints it."""
    limits = clopper_pearson(successes=7, trials=20, level=0.95)

    assert (limits.low, limits.high) == pytest.approx((0.1539092047845412, 0.5921885345328283), abs=1e-12)


@given(trials=st.integers(1, 400), data=st.data(), level=st.sampled_from([0.8, 0.95, 0.99]))
def test_clopper_pearson_agrees_with_scipy_and_statsmodels(trials: int, data: st.DataObject, level: float) -> None:
    """Two other programs give the same limits for whole counts."""
    successes = data.draw(st.integers(0, trials))

    limits = clopper_pearson(successes=successes, trials=trials, level=level)

    theirs = stats.binomtest(successes, trials).proportion_ci(confidence_level=level, method="exact")
    assert (limits.low, limits.high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)
    assert (limits.low, limits.high) == pytest.approx(proportion_confint(successes, trials, alpha=1 - level, method="beta"), abs=1e-9)


@given(trials=st.integers(2, 400), data=st.data())
def test_a_clopper_pearson_limit_put_back_has_the_tail_it_was_made_for(trials: int, data: st.DataObject) -> None:
    """At the lower limit, so many successes or more have probability α/2; at the upper, so many or fewer."""
    successes = data.draw(st.integers(1, trials - 1))

    limits = clopper_pearson(successes=successes, trials=trials, level=0.95)

    assert stats.binom.sf(successes - 1, trials, limits.low) == pytest.approx(0.025, abs=1e-8)
    assert stats.binom.cdf(successes, trials, limits.high) == pytest.approx(0.025, abs=1e-8)


@pytest.mark.parametrize(("successes", "trials", "level"), [(1, 0, 0.95), (-1, 5, 0.95), (6, 5, 0.95), (1, 5, 1.0), (math.nan, 5, 0.95)])
def test_clopper_pearson_refuses_counts_that_are_none(successes: float, trials: float, level: float) -> None:
    """Counts and level outside their ranges are a mistake of the caller."""
    with pytest.raises(ValueError, match="must lie in"):
        clopper_pearson(successes=successes, trials=trials, level=level)


# Newcombe's method 10 is MOVER on Wilson limits with correlation 0. statsmodels 0.15.0 answers
# confint_proportions_2indep(56, 70, 48, 80, method="newcomb", compare="diff") with low 0.05243147240236498 and high 0.33387265403690614.


def test_mover_agrees_with_newcombe_and_statsmodels() -> None:
    """56 of 70 against 48 of 80, as the dialogue above prints it."""
    first, second = (
        ConfidenceLimits(low=low, high=high) for low, high in (proportion_confint(k, n, method="wilson") for k, n in ((56, 70), (48, 80)))
    )

    limits = mover_limits(first=56 / 70, first_limits=first, second=48 / 80, second_limits=second, correlation=0.0)

    assert (limits.low, limits.high) == pytest.approx((0.05243147240236498, 0.33387265403690614), abs=1e-12)
    assert (limits.low, limits.high) == pytest.approx(
        confint_proportions_2indep(56, 70, 48, 80, method="newcomb", compare="diff"), abs=1e-6
    )


@given(level=st.floats(0.5, 0.999), df=st.integers(1, 2000), variance=st.floats(1e-12, 1))
def test_one_part_gives_student_t(level: float, df: int, variance: float) -> None:
    """With a single part both forms are the textbook interval."""
    part = VariancePart(variance=variance, df=df)

    forms = [half_width([part], level=level, banerjee=banerjee) for banerjee in (False, True)]

    assert forms == pytest.approx([stats.t.ppf(0.5 + level / 2, df) * math.sqrt(variance)] * 2, rel=1e-9)


def test_satterthwaite_agrees_with_welch() -> None:
    """Two parts s²/n are Welch's test; its degrees of freedom as scipy gives them."""
    first, second = np.array([27.5, 21.0, 19.0, 23.6, 17.0, 17.9]), np.array([27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0])
    parts = [VariancePart(variance=float(np.var(x, ddof=1)) / len(x), df=len(x) - 1) for x in (first, second)]

    theirs = stats.ttest_ind(first, second, equal_var=False)

    assert satterthwaite_df(parts) == pytest.approx(theirs.df, rel=1e-12)
    assert half_width(parts, level=0.95, banerjee=False) == pytest.approx(
        (theirs.confidence_interval().high - theirs.confidence_interval().low) / 2, rel=1e-10
    )
    assert one_sided_p(abs(first.mean() - second.mean()), parts, banerjee=False) == pytest.approx(theirs.pvalue / 2, rel=1e-9)


@given(
    variances=st.lists(st.floats(1e-9, 1), min_size=1, max_size=3),
    df=st.integers(1, 50),
    level=st.floats(0.5, 0.99),
    banerjee=st.booleans(),
)
def test_the_p_of_a_half_width_is_its_tail(variances: list[float], df: int, level: float, *, banerjee: bool) -> None:
    """A distance of exactly h has one-sided p (1 − level)/2, and its mirror image the rest."""
    parts = [VariancePart(variance=variance, df=df + place) for place, variance in enumerate(variances)]
    h = half_width(parts, level=level, banerjee=banerjee)

    p, mirrored = one_sided_p(h, parts, banerjee=banerjee), one_sided_p(-h, parts, banerjee=banerjee)

    assert p == pytest.approx((1 - level) / 2, rel=1e-6)
    assert mirrored == pytest.approx((1 + level) / 2, rel=1e-6)


def test_banerjee_is_never_narrower_than_the_quantile_of_the_larger_part() -> None:
    """Two parts of one degree of freedom each: √(2 · 12.7062² v)."""
    parts = [VariancePart(variance=0.01, df=1)] * 2

    h = half_width(parts, level=0.95, banerjee=True)

    assert h == pytest.approx(12.7062047361747 * math.sqrt(0.02), rel=1e-9)


def test_without_variance_there_is_no_p_and_nothing_to_detect() -> None:
    """None, not zero."""
    parts = [VariancePart(variance=0.0, df=4)]

    assert one_sided_p(0.1, parts, banerjee=False) is None
    assert one_sided_p(0.1, parts, banerjee=True) is None
    assert minimum_detectable(parts, level=0.95, banerjee=False) is None
    assert half_width(parts, level=0.95, banerjee=False) == 0


def test_the_minimum_detectable_difference_is_the_sum_of_two_quantiles() -> None:
    """(t.975 + t.80)√V with 19 degrees of freedom: 2.0930 + 0.8610, as in any table of Student's t."""
    found = minimum_detectable([VariancePart(variance=0.0004, df=19)], level=0.95, banerjee=False)

    assert found == pytest.approx((2.0930 + 0.8610) * 0.02, abs=2e-6)
    assert found == pytest.approx((stats.t.ppf(0.975, 19) + stats.t.ppf(0.80, 19)) * 0.02, rel=1e-9)


@pytest.mark.parametrize(("contexts", "bound"), [(1, 0.95), (5, 0.4507197283), (20, 0.1391083), (100, 0.0295130)])
def test_the_unseen_bound(contexts: int, bound: float) -> None:
    """1 − 0.05^(1/C): 14 % at 20 contexts, and put back, (1 − bound)^C = 0.05."""
    found = unseen_bound(contexts)

    assert found == pytest.approx(bound, abs=1e-7)
    assert (1 - found) ** contexts == pytest.approx(0.05, rel=1e-9)


def test_no_context_bounds_nothing() -> None:
    """Below one context there is no bound."""
    with pytest.raises(ValueError, match="at least 1"):
        unseen_bound(0)


def test_holm_levels_fall_to_the_plan() -> None:
    """Three comparisons at 95 %: α/3, α/2, α."""
    assert holm_levels(3, level=0.95) == pytest.approx((1 - 0.05 / 3, 0.975, 0.95), rel=1e-12)
    assert holm_levels(1, level=0.95) == (0.95,)


@pytest.mark.parametrize(("count", "level"), [(0, 0.95), (2, 1.0)])
def test_holm_needs_a_comparison_and_a_level(count: int, level: float) -> None:
    """Nothing to compare, or no error allowed, is a mistake of the caller."""
    with pytest.raises(ValueError, match="at least 1"):
        holm_levels(count, level=level)


def test_the_pooled_deviation_is_that_of_numpy() -> None:
    """With n − 1 in each variance, both sides of equal weight whatever their sizes."""
    rng = np.random.default_rng(5)
    first, second = rng.random(40), rng.random(7)

    assert pooled_deviation(first, second) == pytest.approx(math.sqrt((first.var(ddof=1) + second.var(ddof=1)) / 2), rel=1e-12)
    assert pooled_deviation(first, second[:1]) is None


def test_a_degenerate_normalised_differential_is_zero_or_not_defined() -> None:
    """Both negligible: 0. Spread alone negligible: not defined. Spread unknown: not defined."""
    assert normalise(0.0, 0.0, epsilon=0.01) == 0
    assert normalise(5e-13, 5e-13, epsilon=0.0) == 0
    assert normalise(0.5, 0.0, epsilon=0.01) is None
    assert normalise(0.5, None, epsilon=0.01) is None
    assert normalise(-0.2, 0.34, epsilon=0.01) == pytest.approx(-0.2 / 0.35)
