"""Several scorings of one response: their mean counts, and their spread is the judge's noise."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import f_oneway

from audit.errors import DesignError
from audit.modules.differential_estimate import estimate
from audit.modules.score_sides import split_judges
from audit.statistics.responses import Floats, ScoreTable, average_repeats, find_noise_share, find_responses, measure_noise
from registry.records.analysis_plan import ContextDesign, Plan
from tests.examples import scale
from tests.statistics.tables import Row, build_table, label

QUICK = Plan(replicates=0)


def repeat(rows: list[Row], *, times: list[int], judges: list[str] | None = None, low: float = 0.0, high: float = 1.0) -> ScoreTable:
    """A table with the columns judge_repeat and, if given, judge."""
    table = build_table(rows, low=low, high=high)
    return replace(table, judge_repeat=label([str(time) for time in times]), judge=None if judges is None else label(judges))


def draw(seed: int, *, repeats: int, noise: float, tasks: int = 25, contexts: int = 5) -> tuple[list[Row], list[int]]:
    """Behaviour that differs over tasks and contexts, scored several times with noise; scores lie well within [0, 1]."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    times: list[int] = []
    for arm in ("test", "deploy"):
        truth = 0.5 + rng.normal(0, 0.05, (tasks, 1)) + rng.normal(0, 0.02, (1, contexts))
        for (task, context), value in np.ndenumerate(truth):
            for time in range(repeats):
                rows.append((f"t{task:02}", arm, f"{arm}{context}", "0", float(np.clip(value + rng.normal(0, noise), 0, 1))))
                times.append(time)
    return rows, times


def test_repeats_count_as_one_response() -> None:
    """Their mean is its score; a repeat without a score is left out of it, and a response that never got one stays excluded."""
    rows: list[Row] = [
        ("a", "test", "c", "0", 0.25),
        ("a", "test", "c", "0", 0.75),
        ("a", "test", "c", "1", 0.1),
        ("a", "deploy", "c", "0", None),
        ("a", "deploy", "c", "0", 0.4),
        ("b", "deploy", "c", "0", None),
        ("b", "deploy", "c", "0", None),
    ]
    table = average_repeats(repeat(rows, times=[0, 1, 0, 0, 1, 0, 1]))

    assert table.judge_repeat is None
    found = {
        (table.task.labels[t], table.arm.labels[a], table.sample.labels[s]): score
        for t, a, s, score in zip(table.task.codes, table.arm.codes, table.sample.codes, table.score.tolist(), strict=True)
    }
    assert found == pytest.approx(
        {("a", "test", "0"): 0.5, ("a", "test", "1"): 0.1, ("a", "deploy", "0"): 0.4, ("b", "deploy", "0"): np.nan}, nan_ok=True
    )
    assert np.array_equal(np.isnan(table.score), table.excluded.codes >= 0)


def test_a_response_scored_more_often_weighs_no_more() -> None:
    """Ten scorings of one response and one of the other: ED is that of two responses."""
    rows: list[Row] = [("a", "test", "c", "0", 1.0)] * 10 + [("a", "test", "c", "1", 0.0), ("a", "deploy", "c", "0", 0.0)]

    assert estimate(repeat(rows, times=[*range(10), 0, 0]), QUICK, range_=(0, 1)).specs[0].phi_test.value == 0.5


def test_without_repeats_nothing_is_touched() -> None:
    """The very table comes back; with one scoring each, the same scores to the bit, in any range."""
    rows, times = draw(1, repeats=1, noise=0.1)
    plain = build_table([(*row[:4], 3.0 + 0.7 * (row[4] or 0.0)) for row in rows], low=3.0, high=3.7)
    once = replace(plain, judge_repeat=label([str(time) for time in times]))

    assert average_repeats(plain) is plain
    assert estimate(once, QUICK, range_=(3.0, 3.7)) == estimate(plain, QUICK, range_=(3.0, 3.7))


@settings(max_examples=scale(25), deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(seed: int) -> None:
    """Neither to the estimate nor to the noise, to the last bit."""
    rows, times = draw(3, repeats=3, noise=0.2, tasks=4, contexts=2)
    order = np.random.default_rng(seed).permutation(len(rows)).tolist()
    first, second = repeat(rows, times=times), repeat([rows[i] for i in order], times=[times[i] for i in order])

    assert estimate(first, QUICK, range_=(0, 1)).specs == estimate(second, QUICK, range_=(0, 1)).specs
    assert measure_noise(find_responses(first), first.score) == measure_noise(find_responses(second), second.score)


def test_noise_is_the_variance_within_responses() -> None:
    """Against a one-way analysis of variance: F = mean square between over mean square within (scipy.stats.f_oneway)."""
    rows, times = draw(4, repeats=3, noise=0.1, tasks=10, contexts=2)
    table = repeat(rows, times=times)
    noise = measure_noise(find_responses(table), table.score)
    groups = table.score.reshape(-1, 3)
    between = 3 * groups.mean(axis=1).var(ddof=1)

    assert noise is not None
    assert (noise.responses, noise.scorings, noise.identical) == (40, 120, 0)
    assert noise.variance == pytest.approx(between / f_oneway(*groups).statistic, rel=1e-9)


def test_scorings_that_agree_have_no_noise() -> None:
    """0 is measured here; without any repeat it is unknown."""
    rows, times = draw(5, repeats=2, noise=0.0, tasks=5, contexts=2)
    table = repeat(rows, times=times)
    noise = measure_noise(find_responses(table), table.score)
    single = build_table(rows[::2])

    assert noise is not None
    assert (noise.variance, noise.identical) == (pytest.approx(0.0, abs=1e-20), 20)
    assert measure_noise(find_responses(single), single.score) is None


def test_the_share_of_noise_is_that_of_its_variance() -> None:
    """The same behaviour scored over and over: the variance of ED over scorings is the one that is reported, within 10 %."""
    noise, repeats, rounds = 0.3, 2, 600
    truth, _ = draw(6, repeats=1, noise=0.0)
    rng = np.random.default_rng(7)
    base: Floats = np.array([row[4] for row in truth])
    halves = [base[:125], base[125:]]
    differences = [
        float(
            np.mean(halves[0] + rng.normal(0, noise, (repeats, 125)).mean(axis=0))
            - np.mean(halves[1] + rng.normal(0, noise, (repeats, 125)).mean(axis=0))
        )
        for _ in range(rounds)
    ]
    rows, times = draw(6, repeats=repeats, noise=0.05)
    table = repeat(rows, times=times)
    found = measure_noise(find_responses(table), table.score)
    assert found is not None
    weights, counts = np.full(125, 1 / 125), np.full(125, repeats)
    added = find_noise_share(replace(found, variance=noise**2), ((weights, counts), (weights, counts)), variance=1.0)

    assert added == pytest.approx(np.var(differences, ddof=1), rel=0.15)
    assert find_noise_share(found, ((weights, counts), (weights, counts)), variance=0.0) is None


def test_each_judge_gives_an_estimate_of_its_own() -> None:
    """All shown, in the order of their names; one judge alone is what the table is."""
    rows, times = draw(8, repeats=2, noise=0.1)
    table = repeat(rows, times=[0] * len(times), judges=["b" if time else "a" for time in times])
    found = estimate(table, QUICK, range_=(0, 1))
    alone = estimate(table.keep(np.array(times) == 1), QUICK, range_=(0, 1))

    assert [spec.judge for spec in found.specs] == ["a", "b"]
    assert replace(found.specs[1], judge=None) == alone.specs[0]
    assert alone.specs[0].judge is None


def test_rows_without_a_judge_among_others_are_refused() -> None:
    """No one knows whose they are."""
    rows, _ = draw(9, repeats=1, noise=0.1, tasks=2, contexts=2)
    table = replace(build_table(rows), judge=label([None, *["a"] * (len(rows) - 1)]))

    with pytest.raises(DesignError) as caught:
        list(split_judges(table))
    assert caught.value.code == "judge-missing"


def test_a_judge_of_one_side_is_refused_by_name() -> None:
    """A mean over one side never becomes a differential, whoever scored it."""
    rows, _ = draw(10, repeats=1, noise=0.1, tasks=2, contexts=2)
    judges = ["a" if row[1] == "test" else "b" for row in rows]

    with pytest.raises(DesignError) as caught:
        estimate(replace(build_table(rows), judge=label(judges)), Plan(contexts=ContextDesign.FIXED), range_=(0, 1))
    assert [(fault.code, fault.where) for fault in caught.value.faults] == [
        ("one-sided", "scores.csv, judge a"),
        ("one-sided", "scores.csv, judge b"),
    ]
