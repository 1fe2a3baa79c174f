"""Replicates: each is the statistic of the table in which tasks and contexts stand as often as they were drawn."""

import hashlib
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from audit.statistics import bootstrap as resampling
from audit.statistics.bootstrap import (
    ReplicatedSums,
    Replicates,
    ResamplingInput,
    build_layers,
    draw_weights,
    expected_error,
    open_stream,
    quantise,
    resample,
)
from audit.statistics.responses import Floats, ScoreTable, sum_all
from tests.examples import scale
from tests.statistics.designs import make_scores, make_table, prepare
from tests.statistics.tables import build_crossed, build_table, list_rows


def layers_of(table: ScoreTable, *, random: bool, weights: Floats | None = None) -> ResamplingInput:
    ready = prepare(table, random=random, weights=weights)
    return build_layers(ready.sides, ready.moments, weights=weights, random=random)


def run(ready: ResamplingInput, *, random: bool = True, replicates: int = 10_000, seed: int = 0, threads: int = 1) -> Replicates:
    return resample(ready.layers, ready.task_weights, random=random, replicates=replicates, seed=seed, threads=threads)


def differences(ready: ResamplingInput, sums: tuple[ReplicatedSums, ReplicatedSums] | None) -> Floats:
    assert sums is not None
    test, deploy = (reading.means(side) for reading, side in zip(ready.readings, sums, strict=True))
    return test - deploy


def bits(found: Replicates) -> list[bytes]:
    return [
        array.tobytes()
        for way in (found.task, found.context, found.two_way)
        for side in way or ()
        for array in (side.tables, side.drawn, side.weighted)
    ]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("random", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("binary", [False, True])
def test_weights_of_one_give_the_estimate(*, binary: bool, missing: float, random: bool, weighted: bool) -> None:
    """Φ and the variance of single responses, also with missing and unequal cells and with tasks that one side lacks."""
    scores = make_scores(tasks=12, contexts=(4, 3), samples=3, binary=binary, missing=missing)
    scores[0][3] = np.nan
    scores[1][7] = np.nan
    weights = np.linspace(0.5, 3, 12) if weighted else None
    table = build_crossed(*scores)
    ready, prepared = layers_of(table, random=random, weights=weights), prepare(table, random=random, weights=weights)

    for side, layer, reading, block in zip((0, 1), ready.layers, ready.readings, scores, strict=True):
        once = ReplicatedSums(
            tables=np.array([[column.sum() for column in layer.tables]]),
            drawn=np.array([len(ready.task_weights)], dtype=float),
            weighted=np.array([ready.task_weights.sum()]),
        )
        expected = (prepared.moments.test, prepared.moments.deploy)[side].mean

        assert reading.means(once)[0] == pytest.approx(expected, abs=1e-13)
        assert reading.variances(once)[0] == pytest.approx(np.nanvar(block, ddof=1), abs=1e-13)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("binary", "missing"), [(True, 0.0), (False, 0.0), (True, 0.3), (False, 0.3)])
def test_a_replicate_is_the_estimate_of_the_table_as_drawn(*, binary: bool, missing: float, weighted: bool) -> None:
    """Against the definition, response by response, for 40 replicates of each way of drawing; with missing cells one task is dropped."""
    tasks, contexts, rows = 9, (4, 3), 1024
    scores = make_scores(tasks=tasks, contexts=contexts, samples=2, binary=binary, missing=missing, seed=2)
    weights = np.linspace(0.5, 3, tasks) if weighted else None
    table = build_crossed(*scores)
    ready = layers_of(table, random=True, weights=weights)
    found = run(ready, replicates=40, seed=5)
    stream = open_stream(5, 0)
    drawn_contexts = [draw_weights(stream, rows=rows, units=count) for count in contexts]
    drawn_tasks = draw_weights(stream, rows=rows, units=len(ready.task_weights))
    pair = prepare(table).pair
    for side, block in enumerate(scores):
        layer, reading, cells = ready.layers[side], ready.readings[side], (pair.test_cells, pair.deploy_cells)[side].keep(pair.common)
        # Weights are attached in the order that the scores give.
        task_place = dict(zip(cells.task.tolist(), layer.task.tolist(), strict=True))
        context_place = dict(zip(cells.context.tolist(), layer.context.tolist(), strict=True))
        for replicate in range(40):
            w = np.array([drawn_tasks[replicate, task_place[task]] if task in task_place else np.nan for task in range(tasks)])
            v = np.array([drawn_contexts[side][replicate, context_place[context]] for context in range(contexts[side])])
            for way, left, right in ((found.task, w, np.ones_like(v)), (found.context, w * 0 + 1, v), (found.two_way, w, v)):
                assert way is not None
                mean, variance = define(block, left, right, weights)

                assert reading.means(way[side])[replicate] == pytest.approx(mean, abs=1e-12, nan_ok=True)
                assert reading.variances(way[side])[replicate] == pytest.approx(variance, abs=1e-12, nan_ok=True)


def define(block: Floats, tasks: Floats, contexts: Floats, weights: Floats | None) -> tuple[float, float]:
    """Ratio of weighted sums over cells, and the variance of responses that stand as often as they were drawn.

    A task that one side lacks has NaN for its draws: no part of the mean, its responses stand once each.
    """
    above = below = 0.0
    responses: list[float] = []
    for task, row in enumerate(block):
        cells = [(context, cell[~np.isnan(cell)]) for context, cell in enumerate(row) if not np.isnan(cell).all()]
        for context, cell in cells:
            if np.isnan(tasks[task]):
                responses += cell.tolist()
                continue
            share = tasks[task] * contexts[context] * (1.0 if weights is None else weights[task]) / len(cells)
            above += share * cell.mean()
            below += share
            responses += cell.tolist() * int(tasks[task] * contexts[context])
    return (above / below if below else np.nan), (float(np.var(responses, ddof=1)) if len(responses) > 1 else np.nan)


@pytest.mark.parametrize("random", [False, True])
@pytest.mark.parametrize(
    ("tasks", "contexts", "missing", "weighted"),
    [(30, (6, 4), 0.0, False), (250, (6, 4), 0.0, False), (60, (8, 7), 0.15, False), (300, (5, 5), 0.2, True), (40, (210, 5), 0.0, False)],
)
def test_spread_of_replicates_is_that_of_infinitely_many(
    tasks: int, contexts: tuple[int, int], missing: float, *, weighted: bool, random: bool
) -> None:
    """Within Monte Carlo error: 1/√(2B) = 0.7 % for 10,000 normal replicates, four times that and as much for the linearised ratio."""
    weights = np.linspace(0.5, 2, tasks) if weighted else None
    ready = layers_of(make_table(tasks=tasks, contexts=contexts, samples=2, binary=True, missing=missing), random=random, weights=weights)
    found = run(ready, random=random)

    seen = np.nanstd(differences(ready, found.two_way if random else found.task))

    assert seen == pytest.approx(expected_error(ready.layers, ready.task_weights, random=random), rel=0.056)


def test_the_expected_spread_is_the_two_way_formula() -> None:
    """Crossed, all weights equal: the sum of Owen & Eckles (2012) by hand, with multinomial corrections."""
    test, deploy = (block.mean(axis=2) for block in make_scores(tasks=10, contexts=(4, 3), samples=2, binary=False))
    tasks = len(test)
    z = [(side - side.mean()) / side.size for side in (test, deploy)]
    variance = ((z[0].sum(axis=1) - z[1].sum(axis=1)) ** 2).sum()
    for side in z:
        variance += (1 - 1 / tasks) * (side.sum(axis=0) ** 2).sum() + (side**2).sum() - (side.sum(axis=1) ** 2).sum() / side.shape[1]
    ready = layers_of(build_crossed(test, deploy), random=True)

    assert expected_error(ready.layers, ready.task_weights, random=True) == pytest.approx(np.sqrt(variance), rel=1e-12)


@pytest.mark.parametrize("tasks", [40, 300])
def test_tasks_are_resampled_as_scipy_does(tasks: int) -> None:
    """The distribution of ED over task replicates and that of `scipy.stats.bootstrap` on paired task differences are one.

    >>> from scipy.stats import bootstrap
    >>> bootstrap((differences,), np.mean, n_resamples=10_000, method="percentile", rng=1).bootstrap_distribution
    """
    blocks = make_scores(tasks=tasks, contexts=(5, 5), samples=2, binary=False)
    paired = blocks[0].mean(axis=(1, 2)) - blocks[1].mean(axis=(1, 2))
    ready = layers_of(build_crossed(*blocks), random=False)

    ours = differences(ready, run(ready, random=False).task)

    theirs = stats.bootstrap((paired,), np.mean, n_resamples=10_000, method="percentile", rng=np.random.default_rng(1), vectorized=True)
    assert stats.ks_2samp(ours, theirs.bootstrap_distribution).pvalue > 1e-3
    limits = np.quantile(ours, [0.025, 0.975])
    # Two quantiles of 10,000 each have a standard error of 0.038 SE between them.
    assert limits == pytest.approx(list(theirs.confidence_interval), abs=0.2 * theirs.standard_error)


@pytest.mark.parametrize("tasks", [15, 260])
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_threads_and_number_change_no_bit(tasks: int, missing: float) -> None:
    """One, two and three threads give the same bits, and 1,500 replicates are the first of 4,000."""
    ready = layers_of(make_table(tasks=tasks, contexts=(6, 5), samples=2, binary=False, missing=missing), random=True)
    one = run(ready, replicates=4000)

    assert bits(run(ready, replicates=4000, threads=2)) == bits(one)
    assert bits(run(ready, replicates=4000, threads=3)) == bits(one)
    short = run(ready, replicates=1500)
    assert short.two_way is not None
    assert one.two_way is not None
    assert (short.two_way[1].tables == one.two_way[1].tables[:1500]).all()
    assert (short.task[0].tables == one.task[0].tables[:1500]).all()


@pytest.mark.parametrize("tasks", [15, 260])
def test_rows_in_any_order_and_other_names_change_no_bit(tasks: int) -> None:
    """Also with missing cells: weights are attached in an order that comes from the scores."""
    rows = list_rows(*make_scores(tasks=tasks, contexts=(6, 5), samples=2, binary=True, missing=0.2))
    shuffle = random.Random(1)
    names = {(kind, name): f"n{shuffle.random()}" for kind in (0, 2, 3) for name in {row[kind] for row in rows}}
    other = [(names[0, row[0]], row[1], names[2, row[2]], names[3, row[3]], row[4]) for row in rows]
    shuffle.shuffle(other)

    first, second = (layers_of(build_table(listed), random=True) for listed in (rows, other))

    assert bits(run(first, replicates=500)) == bits(run(second, replicates=500))


def test_a_sparse_matrix_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contexts that few tasks share are not laid out as a grid; no bit shows it."""
    ready = layers_of(make_table(tasks=230, contexts=(12, 9), samples=1, binary=False, missing=0.93), random=True)
    dense = bits(run(ready, replicates=300))
    monkeypatch.setattr(resampling, "_DENSE", -(10**9))

    assert bits(run(ready, replicates=300)) == dense


@pytest.mark.parametrize(("binary", "digest"), [(False, "1ed7472c8cff"), (True, "24a91ded11fb")])
def test_replicates_are_the_same_on_every_machine(digest: str, *, binary: bool) -> None:
    """All bits of ED over 2,000 two-way replicates of a table made of fractions, Poisson tasks and multinomial contexts.

    Binary scores are multiplied in single precision, eighths in double. Tried with OpenBLAS's kernels for Prescott, Nehalem, Haswell,
    SkylakeX and Zen, one thread and two, and without NumPy's AVX-512.
    """
    task, context, sample = np.indices((240, 7, 3))
    test, deploy = (((5 * task + 3 * context + 2 * sample + task * context * step) % 8) / 8 for step in (1, 3))
    if binary:
        test, deploy = (test > 0.4).astype(float), (deploy > 0.6).astype(float)
    ready = layers_of(build_crossed(test, deploy), random=True)

    found = differences(ready, run(ready, replicates=2000, seed=9).two_way)

    assert hashlib.sha256(found.astype("<f8").tobytes()).hexdigest()[:12] == digest


@given(values=arrays(np.float64, st.integers(1, 60), elements=st.floats(-1, 1)), seed=st.integers(0, 99))
@settings(max_examples=scale(60), deadline=None)
def test_quantised_sums_do_not_know_the_order(values: Floats, seed: int) -> None:
    """With whole weights, any order and any grouping gives the sum that is exact."""
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 9, len(values)).astype(float)
    rounded = quantise(values, factor=8)
    order = rng.permutation(len(values))

    sums = [float(weights @ rounded), float(np.sum((weights * rounded)[order])), sum_all(weights * rounded)]

    assert sums[0] == sums[1] == sums[2]
    assert rounded == pytest.approx(values, abs=2.0**-40)


def test_contexts_of_one_side_do_not_move_the_other() -> None:
    """Over context replicates the two sides are uncorrelated, over task replicates they are not."""
    ready = layers_of(make_table(tasks=50, contexts=(8, 8), samples=2, binary=False), random=True)
    found = run(ready)

    def correlation(sums: tuple[ReplicatedSums, ReplicatedSums] | None) -> float:
        assert sums is not None
        test, deploy = (reading.means(side) for reading, side in zip(ready.readings, sums, strict=True))
        return float(np.corrcoef(test, deploy)[0, 1])

    assert abs(correlation(found.context)) < 5 / np.sqrt(10_000)
    assert correlation(found.task) > 0.5
