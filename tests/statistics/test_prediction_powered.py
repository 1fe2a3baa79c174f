"""A judge corrected by a person's labels: against another program's formulas, against itself, and against simulated truth."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from audit.statistics.judge_correction import (
    JudgedResponses,
    compare_unlabelled,
    correct,
    find_bias,
    find_bias_difference,
    find_difference,
    find_limits,
    find_mean_limits,
    has_rare_errors,
    tune,
    weigh_responses,
)
from audit.statistics.responses import Floats
from tests.examples import scale

LEVEL = 0.95


def build(score: Floats, label: Floats) -> JudgedResponses:
    """A side from arrays [task, context] or [task]; NaN for no label."""
    score, label = (np.asarray(one, dtype=float).reshape(len(one), -1) for one in (score, label))
    task, context = (index.ravel().astype(np.int32) for index in np.indices(score.shape))
    weight = weigh_responses(task, context, None, tasks=len(score))
    return JudgedResponses(task=task, context=context, score=score.ravel(), label=label.ravel(), weight=weight, tasks=len(score))


def draw(
    rng: np.random.Generator, shape: tuple[int, int], *, base: float, share: float, errors: tuple[float, float], shift: float = 0.0
) -> JudgedResponses:
    """Tasks and contexts on the logit; a judge with a sensitivity and a specificity; a random subset labelled."""
    centre = np.log(base / (1 - base)) + shift
    rate = 1 / (1 + np.exp(-(centre + rng.normal(0, 1, (shape[0], 1)) + rng.normal(0, 0.3, (1, shape[1])) * (shape[1] > 1))))
    truth = rng.random(shape) < rate
    score = np.where(truth, rng.random(shape) < errors[0], rng.random(shape) >= errors[1])
    chosen = np.zeros(truth.size, dtype=bool)
    chosen[rng.choice(truth.size, round(share * truth.size), replace=False)] = True
    return build(score, np.where(chosen.reshape(shape), truth, np.nan))


def find_truth(base: float, spread: float, shift: float = 0.0) -> float:
    """The mean of a logit-normal rate, by Gauss–Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return float((weights / (1 + np.exp(-(np.log(base / (1 - base)) + shift + spread * nodes)))).sum() / weights.sum())


def test_the_estimate_is_that_of_ppi_py() -> None:
    """One response a task, one context: the published estimator, whose unlabelled sample is here the responses without a label.

    ppi_py (github.com/aangelopoulos/ppi_py, ppi_py/ppi.py; its ppi_mean_ci has alpha = 0.1 unless told otherwise):
        ppi_mean_pointestimate: (lam * Yhat_unlabeled).mean() + (Y - lam * Yhat).mean()
        ppi_mean_ci: imputed_std = (lam * Yhat_unlabeled).std() / sqrt(N); rectifier_std = (Y - lam * Yhat).std() / sqrt(n)
    with lam = λ(1 − n/N_all), because our mean of the judge is over all responses.
    """
    rng = np.random.default_rng(7)
    side = draw(rng, (2000, 1), base=0.3, share=0.2, errors=(0.85, 0.9))
    known = side.labelled
    labels, scored, others = side.label[known], side.score[known], side.score[~known]

    for weight in (1.0, 0.6, 0.0):
        theirs = weight * len(others) / len(side.score)
        found = correct(side, weight=weight, level=LEVEL)
        part = found.task_part()

        assert found.value == pytest.approx((theirs * others).mean() + (labels - theirs * scored).mean(), abs=1e-12)
        expected = (theirs * others).var() / len(others) + (labels - theirs * scored).var() / len(labels)
        assert part.variance == pytest.approx(expected, rel=0.02)
        assert part.df == pytest.approx(len(labels) - 1)


def test_the_tuned_weight_is_that_of_ppi_plus_plus() -> None:
    """ppi_py `_calc_lhat_glm` for a mean: cov(Y, Yhat) / ((1 + n/N) var(Yhat)), clipped to [0, 1]."""
    side = draw(np.random.default_rng(11), (4000, 1), base=0.3, share=0.25, errors=(0.7, 0.8))
    known = side.labelled
    n, unlabelled = int(known.sum()), int((~known).sum())
    covariance = np.cov(side.label[known], side.score[known], bias=True)[0, 1]
    theirs = covariance / ((1 + n / unlabelled) * np.var(side.score, ddof=1))

    assert tune(side) * unlabelled / len(side.score) == pytest.approx(theirs, rel=0.03)


def test_labels_of_everything_leave_the_judge_no_part() -> None:
    """Then the estimate is the mean of the labels, whatever λ is."""
    rng = np.random.default_rng(3)
    side = draw(rng, (40, 5), base=0.3, share=1.0, errors=(0.6, 0.7))

    for weight in (0.0, 0.5, 1.0):
        assert correct(side, weight=weight, level=LEVEL).value == pytest.approx(side.label.mean(), abs=1e-12)


@pytest.mark.parametrize(
    ("shape", "base", "share", "errors", "random", "tuned"),
    [
        ((200, 1), 0.2, 0.3, (0.9, 0.9), False, True),
        ((60, 1), 0.3, 0.5, (0.7, 0.8), False, False),
        ((60, 6), 0.2, 0.2, (0.8, 0.9), True, True),
        ((100, 5), 0.05, 0.1, (0.98, 0.99), True, False),
    ],
)
def test_the_corrected_interval_covers(
    shape: tuple[int, int], base: float, share: float, errors: tuple[float, float], *, random: bool, tuned: bool
) -> None:
    """Φ of a side and ED at least as often as stated, while the judge errs otherwise on one side (300 seeded draws)."""
    rng = np.random.default_rng(20261121)
    spread = float(np.hypot(1, 0.3 * (shape[1] > 1)))
    truth = find_truth(base, spread), find_truth(base, spread, 0.5)
    covered = np.zeros(2)
    rounds = 300
    for _ in range(rounds):
        sides = [
            draw(rng, shape, base=base, share=share, errors=errors),
            draw(rng, shape, base=base, share=share, errors=(errors[0] - 0.1, errors[1]), shift=0.5),
        ]
        weights = [tune(side) if tuned and not has_rare_errors(side) else 1.0 for side in sides]
        found = [correct(side, weight=weight, level=LEVEL) for side, weight in zip(sides, weights, strict=True)]
        limits = [find_mean_limits(one, random=random, level=LEVEL) for one in found]
        assert limits[0] is not None
        assert limits[1] is not None
        band = find_difference(found[0], found[1], (limits[0], limits[1]), random=random, level=LEVEL)
        covered += [limits[0].low <= truth[0] <= limits[0].high, band.low <= truth[0] - truth[1] <= band.high]

    assert covered.min() / rounds >= 0.93


def test_a_judge_that_never_erred_is_not_taken_for_one_that_never_errs() -> None:
    """0 errors in 30 labelled tasks leave up to 11.6 % (exact limit) of errors each way; the interval is never of zero width."""
    label = np.full(300, np.nan)
    label[:30] = 0.0
    found = correct(build(np.zeros(300), label), weight=1.0, level=LEVEL)
    limits = find_mean_limits(found, random=False, level=LEVEL)

    assert limits is not None
    assert (found.value, limits.low) == (0.0, 0.0)
    # >>> statsmodels.stats.proportion.proportion_confint(0, 30, method="beta")
    # -> 0.0 and 0.1157033082220278
    assert limits.high == pytest.approx(0.1157033, abs=1e-6)


def test_a_constant_shift_of_the_judge_is_taken_out() -> None:
    """A judge that gives 0.2 more to everything on one side: judged means move, corrected ones do not, and the bias is 0.2."""
    rng = np.random.default_rng(5)
    side = draw(rng, (100, 4), base=0.4, share=0.3, errors=(0.9, 0.9))
    side = replace(side, score=side.score * 0.5)
    shifted = replace(side, score=side.score + 0.2)

    assert correct(shifted, weight=1.0, level=LEVEL).value == pytest.approx(correct(side, weight=1.0, level=LEVEL).value, abs=1e-12)
    assert find_bias(shifted, level=LEVEL).value == pytest.approx(find_bias(side, level=LEVEL).value - 0.2, abs=1e-12)


@settings(max_examples=scale(40), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), random=st.booleans())
def test_swapping_the_sides_turns_the_difference_round(seed: int, *, random: bool) -> None:
    """ED changes its sign, and so do its limits."""
    rng = np.random.default_rng(seed)
    sides = [draw(rng, (12, 3), base=0.4, share=0.8, errors=(0.7, 0.8)) for _ in range(2)]
    found = [correct(side, weight=1.0, level=LEVEL) for side in sides]
    limits = [find_mean_limits(one, random=random, level=LEVEL) for one in found]
    assert limits[0] is not None
    assert limits[1] is not None
    there = find_difference(found[0], found[1], (limits[0], limits[1]), random=random, level=LEVEL)
    back = find_difference(found[1], found[0], (limits[1], limits[0]), random=random, level=LEVEL)

    assert there.low == pytest.approx(-back.high, abs=1e-9)
    assert there.high == pytest.approx(-back.low, abs=1e-9)


def test_labels_of_one_task_or_one_context_have_no_interval() -> None:
    """Nothing says how others would differ; with contexts that are no sample, one is enough."""
    label = np.full((20, 3), np.nan)
    label[0] = 1.0
    one_task = find_bias(build(np.zeros((20, 3)), label), level=LEVEL)
    label = np.full((20, 3), np.nan)
    label[:, 1] = 1.0
    label[:7, 1] = 0.0
    one_context = find_bias(build(np.zeros((20, 3)), label), level=LEVEL)

    assert find_limits(one_task, random=False, level=LEVEL) is None
    assert find_limits(one_context, random=True, level=LEVEL) is None
    assert find_limits(one_context, random=False, level=LEVEL) is not None


@pytest.mark.parametrize("by_task", [False, True])
def test_a_random_subset_rarely_looks_like_a_chosen_one(*, by_task: bool) -> None:
    """Responses or whole tasks drawn at random: p below 0.01 in at most 2 % of 500 samples."""
    rng = np.random.default_rng(3)
    found = []
    for _ in range(500):
        score = (rng.random((60, 5)) < 1 / (1 + np.exp(-rng.standard_normal((60, 1))))).astype(float)
        chosen = rng.random((60, 1) if by_task else (60, 5)) < 0.4
        found.append(compare_unlabelled(build(score, np.where(chosen, score, np.nan))))

    assert np.mean([one is not None and one.p < 0.01 for one in found]) <= 0.02


def test_a_subset_without_a_rest_is_compared_with_nothing() -> None:
    """All labelled, too few labelled, and scores that do not vary."""
    score = np.random.default_rng(0).random((40, 2))
    few = np.where(np.arange(40)[:, np.newaxis] < 10, score, np.nan)
    half = np.where(np.arange(40)[:, np.newaxis] < 20, 1.0, np.nan)

    found = [compare_unlabelled(one) for one in (build(score, score), build(score, few), build(np.ones((40, 2)), half))]

    assert found == [None, None, None]


def test_errors_that_are_all_the_same_are_no_certainty() -> None:
    """The person says one half less in every one of 30 tasks: tasks are counted, the limits are those of 15 in 30."""
    side = build(np.full((30, 2), 0.75), np.full((30, 2), 0.25))

    limits = find_limits(find_bias(side, level=LEVEL), random=False, level=LEVEL)

    assert limits is not None
    assert (limits.low, limits.high) == pytest.approx((-stats.beta.ppf(0.975, 16, 15), -stats.beta.ppf(0.025, 15, 16)))


def test_errors_that_are_the_same_on_both_sides_are_no_certainty() -> None:
    """Half less in every one of 60 tasks on either side, and none of 60 pairs differs: the exact limit is 0.0596."""
    side = find_bias(build(np.full((60, 2), 0.75), np.full((60, 2), 0.25)), level=LEVEL)

    limits = find_bias_difference(side, side, level=LEVEL)

    assert limits is not None
    assert (limits.low, limits.high) == pytest.approx((-(1 - 0.025 ** (1 / 60)), 1 - 0.025 ** (1 / 60)))


def test_a_value_beyond_the_range_keeps_a_doubt() -> None:
    """Labelled responses that the judge took for positive, others that it did not: -0.4 is cut to 0, and 0 of 30 tasks go up to 0.1157."""
    score = np.column_stack([np.ones(30), np.zeros(30)])
    label = np.column_stack([np.arange(30) < 3, np.full(30, np.nan)])
    found = correct(build(score, label), weight=1, level=LEVEL)

    limits = find_mean_limits(found, random=False, level=LEVEL)

    assert found.value == pytest.approx(-0.4)
    assert limits is not None
    assert (limits.low, limits.high) == pytest.approx((0, 1 - 0.025 ** (1 / 30)))


def test_a_million_labels_of_one_task_count_as_one() -> None:
    """No interval, rather than one of a million."""
    task = np.zeros(1_000_000, dtype=np.int32)
    side = JudgedResponses(
        task=task, context=task, score=np.zeros(len(task)), label=np.ones(len(task)), weight=np.full(len(task), 1e-6), tasks=1
    )

    assert find_mean_limits(correct(side, weight=1.0, level=LEVEL), random=False, level=LEVEL) is None


def test_responses_weigh_as_in_the_mean_of_cell_means() -> None:
    """Tasks alike (or by weight), contexts of a task alike, responses of a cell alike."""
    task = np.array([0, 0, 0, 1], dtype=np.int32)
    context = np.array([0, 0, 1, 1], dtype=np.int32)

    np.testing.assert_allclose(weigh_responses(task, context, None, tasks=2), [1 / 8, 1 / 8, 1 / 4, 1 / 2])
    np.testing.assert_allclose(weigh_responses(task, context, np.array([1.0, 0.25]), tasks=2), [0.2, 0.2, 0.4, 0.2])
