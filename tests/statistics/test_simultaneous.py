"""Intervals for several contrasts at once."""

import numpy as np
import pytest
from scipy.special import stdtrit

from audit.statistics.contrast_intervals import SimultaneousLevel, find_simultaneous
from audit.statistics.responses import Floats


def sample(*, tasks: int, contrasts: int, correlation: float, seed: int = 0) -> Floats:
    """Differences whose sample correlations are exactly *correlation*."""
    rng = np.random.default_rng(seed)
    raw = rng.standard_normal((tasks, contrasts))
    raw -= raw.mean(axis=0)
    whitened = raw @ np.linalg.inv(np.linalg.cholesky(raw.T @ raw / (tasks - 1))).T
    wanted = np.full((contrasts, contrasts), correlation) + (1 - correlation) * np.eye(contrasts)
    mixed: Floats = whitened @ np.linalg.cholesky(wanted).T
    return mixed


def errors(differences: Floats) -> Floats:
    counted = np.count_nonzero(~np.isnan(differences), axis=0)
    found: Floats = np.nanstd(differences, axis=0, ddof=1) / np.sqrt(counted)
    return found


def find(differences: Floats, *, level: float = 0.95, replicates: int = 10_000, seed: int = 0) -> SimultaneousLevel:
    found = find_simultaneous(differences, errors(differences), level=level, replicates=replicates, seed=seed)
    assert found is not None
    return found


@pytest.mark.parametrize("tasks", [2, 5, 30, 500])
def test_one_contrast_has_the_t_quantile(tasks: int) -> None:
    """Nothing else to hold at once: the quantile with tasks − 1 degrees of freedom."""
    found = find(sample(tasks=tasks, contrasts=1, correlation=0))

    assert found.critical == pytest.approx(float(stdtrit(tasks - 1, 0.975)))
    assert found.level == 0.95


@pytest.mark.parametrize(("contrasts", "published"), [(2, 2.21), (3, 2.35), (4, 2.44), (5, 2.51)])
def test_correlated_contrasts_have_dunnetts_quantile(contrasts: int, published: float) -> None:
    """Correlation ½, many tasks: C. W. Dunnett, Biometrics 20 (1964) 482–491, table II, two-sided 5 %, infinite degrees of freedom.

    A quantile of 10,000 replicates has a standard error of about 0.02 here.
    """
    found = find(sample(tasks=3000, contrasts=contrasts, correlation=0.5))

    assert found.critical == pytest.approx(published, abs=0.07)


@pytest.mark.parametrize("contrasts", [2, 5, 10])
def test_independent_contrasts_have_sidaks_quantile(contrasts: int) -> None:
    """Level 0.95^(1/m) each; never more than Bonferroni's."""
    found = find(sample(tasks=2000, contrasts=contrasts, correlation=0))

    assert found.critical == pytest.approx(float(stdtrit(1999, 0.5 + 0.95 ** (1 / contrasts) / 2)), abs=0.07)
    assert found.critical <= float(stdtrit(1999, 1 - 0.025 / contrasts))


def test_one_contrast_said_many_times_is_one() -> None:
    """Copies of one contrast cost nothing, to Monte Carlo error."""
    once = sample(tasks=400, contrasts=1, correlation=0)

    found = find(np.repeat(once, 6, axis=1))

    assert found.critical == pytest.approx(float(stdtrit(399, 0.975)), abs=0.07)


@pytest.mark.parametrize("tasks", [3, 6, 12])
def test_few_tasks_never_have_less_than_t(tasks: int) -> None:
    """The quantile has the degrees of freedom of the contrast with the fewest tasks."""
    differences = sample(tasks=tasks, contrasts=2, correlation=0.3)
    fewer = np.column_stack([differences, differences[:, 0]])
    fewer[-1, 2] = np.nan

    found = find(fewer)

    assert found.critical == pytest.approx(float(stdtrit(tasks - 2, 1 - 0.025 / 3)))


def test_intervals_hold_at_once_as_often_as_they_say() -> None:
    """Eight tasks, four correlated contrasts, 400 samples: all four intervals hold in 95 %; single t intervals do not."""
    rng = np.random.default_rng(23)
    joint = alone = 0
    for _ in range(400):
        differences = 0.6 * rng.standard_normal((8, 1)) + 0.8 * rng.standard_normal((8, 4))
        ratio = np.abs(differences.mean(axis=0) / errors(differences)).max()
        joint += ratio <= find(differences, replicates=500).critical
        alone += ratio <= float(stdtrit(7, 0.975))

    # Three standard errors below 95 %.
    assert joint >= 400 * (0.95 - 3 * np.sqrt(0.95 * 0.05 / 400))
    assert alone < 0.9 * 400


def test_variance_that_the_tasks_do_not_show_is_drawn_apart() -> None:
    """A standard error that is mostly of contexts makes perfectly correlated contrasts nearly independent, which is the wider case."""
    differences = np.repeat(sample(tasks=500, contrasts=1, correlation=0), 5, axis=1)

    found = find_simultaneous(differences, 10 * errors(differences), level=0.95, replicates=10_000, seed=0)

    assert found is not None
    assert found.critical == pytest.approx(float(stdtrit(499, 0.5 + 0.95**0.2 / 2)), abs=0.07)


def test_contexts_are_drawn_for_all_contrasts_at_once() -> None:
    """The same contexts in every contrast: the variance they bring stays correlated, and the quantile that of one contrast."""
    once = sample(tasks=500, contrasts=1, correlation=0)
    contexts = sample(tasks=40, contrasts=1, correlation=0, seed=1) * 0.025
    differences, shared = np.repeat(once, 5, axis=1), np.repeat(contexts, 5, axis=1)
    whole = np.sqrt(errors(differences) ** 2 + (shared**2).sum(axis=0) * 40 / 39)

    found = find_simultaneous(differences, whole, level=0.95, replicates=10_000, seed=0, contexts=[shared])
    apart = find_simultaneous(differences, whole, level=0.95, replicates=10_000, seed=0)

    assert found is not None
    assert apart is not None
    assert found.critical == pytest.approx(float(stdtrit(499, 0.975)), abs=0.07)
    assert apart.critical > found.critical + 0.3


@pytest.mark.parametrize(("tasks", "bonferroni"), [(5, True), (19, True), (20, False)])
def test_few_tasks_take_bonferronis_quantile(tasks: int, bonferroni: object) -> None:
    """Resampled, five independent contrasts of five tasks held jointly in 92.0 % of 1,500 samples, of Bonferroni's in 96.1 %."""
    found = find(sample(tasks=tasks, contrasts=4, correlation=0.5))

    assert (found.level == 1 - 0.05 / 4) is bonferroni


def test_few_contexts_take_bonferronis_quantile() -> None:
    """Five contexts that make up most of the variance: resampled, five contrasts held jointly in 88 % of 250 samples."""
    differences, contexts = sample(tasks=40, contrasts=4, correlation=0.5), sample(tasks=5, contrasts=4, correlation=0, seed=1)
    whole = np.sqrt(errors(differences) ** 2 + (contexts**2).sum(axis=0) * 5 / 4)

    found = find_simultaneous(differences, whole, level=0.95, replicates=1000, seed=0, contexts=[contexts])

    assert found is not None
    assert found.level == 1 - 0.05 / 4


@pytest.mark.parametrize("replicates", [0, 1, 18])
def test_without_enough_replicates_it_is_bonferronis(replicates: int) -> None:
    """Which needs none."""
    found = find(sample(tasks=30, contrasts=3, correlation=0.9), replicates=replicates)

    assert found.critical == pytest.approx(float(stdtrit(29, 1 - 0.025 / 3)))
    assert found.level == pytest.approx(1 - 0.05 / 3)


def test_order_of_tasks_does_not_matter_and_seeds_agree() -> None:
    """Shuffled tasks give the same to 12 digits, another seed nearly the same value."""
    differences = sample(tasks=90, contrasts=4, correlation=0.4)
    shuffled = np.random.default_rng(5).permutation(differences)

    first, again, other = find(differences), find(shuffled), find(differences, seed=1)

    assert again.critical == pytest.approx(first.critical, rel=1e-12)
    assert other.critical == pytest.approx(first.critical, abs=0.07)


def test_contrasts_without_a_standard_error_are_excluded() -> None:
    """Constant differences, one task alone, none at all: the rest decide; nothing left gives None."""
    differences = sample(tasks=40, contrasts=2, correlation=0.5)
    constant, single, absent = np.full(40, 0.2), np.full(40, np.nan), np.full(40, np.nan)
    single[0] = 1.0
    hollow = np.column_stack([constant, single, absent])
    widths = np.array([0.0, np.nan, np.nan])

    found = find_simultaneous(
        np.column_stack([differences, hollow]), np.concatenate([errors(differences), widths]), level=0.95, replicates=2000, seed=0
    )

    assert found == find_simultaneous(differences, errors(differences), level=0.95, replicates=2000, seed=0)
    assert find_simultaneous(hollow, widths, level=0.95, replicates=2000, seed=0) is None
    assert find_simultaneous(np.empty((0, 0)), np.empty(0), level=0.95, replicates=2000, seed=0) is None


def test_limits_are_the_estimate_and_so_many_standard_errors() -> None:
    """The interval of one contrast."""
    limits = SimultaneousLevel(critical=2.5, level=0.98).limits(0.1, 0.04)

    assert (limits.low, limits.high) == pytest.approx((0.0, 0.2))


@pytest.mark.parametrize(
    ("differences", "standard_errors", "level", "replicates"),
    [
        (np.zeros((5, 2)), np.ones(3), 0.95, 10),
        (np.zeros(5), np.ones(1), 0.95, 10),
        (np.zeros((5, 1)), np.ones(1), 1.0, 10),
        (np.zeros((5, 1)), np.ones(1), 0.95, -1),
    ],
)
def test_wrong_arguments_are_refused(differences: Floats, standard_errors: Floats, level: float, replicates: int) -> None:
    """Shapes that do not fit, a level that is none, replicates below 0."""
    with pytest.raises(ValueError, match="got"):
        find_simultaneous(differences, standard_errors, level=level, replicates=replicates, seed=0)
