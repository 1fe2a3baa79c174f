"""The weights of the bootstrap."""

import math

import numpy as np
import pytest

from audit.statistics.bootstrap import POISSON_COUNTS, count_rows, draw_chunks, draw_uniforms, draw_weights, open_stream


def test_the_table_of_poisson_weights_has_mean_and_variance_one() -> None:
    """Exactly, in integers; no probability is off by more than 1.5 of 65,536."""
    counts = np.array(POISSON_COUNTS)
    draws = np.arange(len(counts))

    assert counts.sum() == 65_536
    assert (draws * counts).sum() == 65_536
    assert (draws**2 * counts).sum() == 2 * 65_536
    for draw, count in enumerate(POISSON_COUNTS):
        assert count == pytest.approx(65_536 * math.exp(-1) / math.factorial(draw), abs=1.5)


@pytest.mark.parametrize("units", [1, 2, 20, 199])
def test_few_units_are_drawn_with_replacement(units: int) -> None:
    """Each row counts as many draws as there are units, and each unit is drawn once on average."""
    weights = draw_weights(open_stream(3, 0), rows=4000, units=units)

    assert (weights.sum(axis=1) == units).all()
    # Five standard errors of a mean of 4,000 counts of variance below 1.
    assert weights.mean(axis=0) == pytest.approx(np.ones(units), abs=5 / math.sqrt(4000))


def test_counts_of_few_units_are_multinomial() -> None:
    """Two units: binomial(2, ½) counts of the first, 1 : 2 : 1, by χ² with two degrees of freedom."""
    first = draw_weights(open_stream(5, 0), rows=40_000, units=2)[:, 0]

    seen = np.bincount(first.astype(int), minlength=3)
    expected = np.array([10_000, 20_000, 10_000])
    # χ²(2) exceeds 13.8 once in a thousand.
    assert ((seen - expected) ** 2 / expected).sum() < 13.8


def test_many_units_have_poisson_weights() -> None:
    """Shares of 0, 1, 2 … among 2,000,000 weights are those of Poisson(1)."""
    weights = draw_weights(open_stream(7, 0), rows=2000, units=1000)

    seen = np.bincount(weights.astype(int).ravel(), minlength=9)
    expected = np.array(POISSON_COUNTS) / 65_536 * weights.size
    # χ²(8) exceeds 26.1 once in a thousand.
    assert ((seen - expected) ** 2 / expected).sum() < 26.1


def test_weights_of_two_units_do_not_know_each_other() -> None:
    """Correlations among Poisson weights of neighbours, which come from one random word, are those of chance."""
    weights = draw_weights(open_stream(11, 0), rows=20_000, units=200)

    neighbours = [float(np.corrcoef(weights[:, unit], weights[:, unit + 1])[0, 1]) for unit in range(8)]
    assert np.abs(neighbours).max() < 5 / math.sqrt(20_000)


@pytest.mark.parametrize("units", [30, 400])
def test_single_precision_holds_the_same_weights(units: int) -> None:
    """They are small whole numbers."""
    double = draw_weights(open_stream(4, 2), rows=50, units=units)

    single = np.concatenate([chunk for _, chunk in draw_chunks(open_stream(4, 2), rows=50, units=units, kind=np.float32)], axis=1)

    assert single.dtype == np.float32
    assert (single == double).all()


@pytest.mark.parametrize("units", [150, 300, 9000])
def test_chunks_are_the_weights_in_pieces(units: int) -> None:
    """Also where there are several chunks, each in the memory of the last."""
    whole = draw_weights(open_stream(1, 4), rows=20, units=units)

    pieces = [(place, chunk.copy()) for place, chunk in draw_chunks(open_stream(1, 4), rows=20, units=units)]
    assert sum(chunk.shape[1] for _, chunk in pieces) == units
    for place, chunk in pieces:
        assert (whole[:, place] == chunk).all()


def test_streams_of_other_blocks_and_seeds_are_others() -> None:
    """The same block again gives the same; a negative seed is a seed."""
    drawn = {key: draw_weights(open_stream(*key), rows=16, units=250).tobytes() for key in ((0, 0), (0, 1), (1, 0), (-1, 0), (-1, 1))}

    assert len(set(drawn.values())) == len(drawn)
    assert draw_weights(open_stream(-1, 1), rows=16, units=250).tobytes() == drawn[-1, 1]


def test_the_first_weights_of_a_seed_are_known() -> None:
    """The stream is NumPy's SFC64, which does not change from version to version; a change here changes every published band."""
    multinomial = draw_weights(open_stream(0, 0), rows=2, units=8)
    poisson = draw_weights(open_stream(0, 0), rows=1, units=200)

    assert multinomial.tolist() == [[1, 1, 0, 3, 2, 0, 0, 1], [3, 0, 1, 0, 0, 1, 0, 3]]
    assert poisson[0, :24].tolist() == [1, 0, 0, 1, 1, 0, 0, 1, 3, 1, 1, 2, 3, 1, 2, 1, 0, 0, 1, 0, 0, 2, 3, 0]


def test_uniform_numbers_lie_strictly_between_0_and_1() -> None:
    """So that their normal quantiles are finite."""
    numbers = draw_uniforms(open_stream(2, 0), rows=1000, columns=50)

    assert numbers.shape == (1000, 50)
    assert 0 < numbers.min() < numbers.max() < 1
    assert numbers.mean() == pytest.approx(0.5, abs=5 * math.sqrt(1 / 12 / 50_000))


@pytest.mark.parametrize(("units", "rows"), [(1, 1024), (31, 1024), (100, 320), (1000, 32), (2000, 16), (1_000_000, 16)])
def test_blocks_hold_about_as_many_weights(units: int, rows: int) -> None:
    """32,000, between 16 and 1,024 replicates."""
    assert count_rows(units) == rows
