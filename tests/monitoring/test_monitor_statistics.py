"""Evidence, limits, averages and drift: against products over items, by property, and on simulated streams."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitoring.statistics.average_sequence import AverageSequence
from monitoring.statistics.drift_detector import BETS as DRIFT_BETS
from monitoring.statistics.drift_detector import DriftDetector
from monitoring.statistics.e_process import BETS, find_lower_limit, log_evidence
from monitoring.statistics.stream_tally import StreamCell, StreamTally

Item = tuple[float | None, float]
"""Score (None: not reviewed) and inclusion probability."""
LIMITS = st.floats(0.01, 0.9)
TEN: list[Item] = [(1, 0.5), (0, 1), (None, 0.5), (1, 1), (None, 0.5), (0, 0.5), (1, 0.5), (0, 1), (None, 0.5), (0, 1)]


def cells_of(items: list[Item]) -> list[StreamCell]:
    """The items as cells, one for each inclusion probability."""
    cells = []
    for inclusion in sorted({inclusion for _, inclusion in items}):
        own = [score for score, pi in items if pi == inclusion]
        seen = [score for score in own if score is not None]
        squares = sum(score**2 for score in seen)
        cells.append(StreamCell(items=len(own), reviewed=len(seen), total=sum(seen), squares=min(squares, sum(seen)), inclusion=inclusion))
    return cells


def multiply(items: list[Item], limit: float) -> float:
    """M by its definition: the mean over bets of the product over items."""
    weighted = [0.0 if score is None else score / inclusion for score, inclusion in items]
    return sum(math.prod(1 + bet * (score - limit) / limit for score in weighted) for bet in BETS) / len(BETS)


SCORED = st.tuples(st.none() | st.sampled_from([0.0, 1.0]), st.sampled_from([0.1, 0.5, 1.0]))
GRADED = st.tuples(st.none() | st.floats(0, 1), st.sampled_from([0.1, 0.5, 1.0]))


def test_the_evidence_of_ten_items_is_that_of_their_product() -> None:
    assert log_evidence(StreamTally().add(cells_of(TEN)), 0.3) == pytest.approx(math.log(multiply(TEN, 0.3)), abs=1e-12)


@given(items=st.lists(SCORED, min_size=1, max_size=40), limit=LIMITS)
def test_evidence_from_counts_of_zeros_and_ones_is_exact(items: list[Item], limit: float) -> None:
    assert log_evidence(StreamTally().add(cells_of(items)), limit) == pytest.approx(math.log(multiply(items, limit)), abs=1e-9)


@given(items=st.lists(GRADED, min_size=1, max_size=40), limit=LIMITS)
def test_evidence_from_sums_never_exceeds_that_from_items(items: list[Item], limit: float) -> None:
    assert log_evidence(StreamTally().add(cells_of(items)), limit) <= math.log(multiply(items, limit)) + 1e-9


@given(items=st.lists(SCORED, min_size=1, max_size=60), limit=LIMITS, threshold=st.floats(2, 1000))
def test_the_lower_limit_is_where_the_evidence_reaches_the_threshold(items: list[Item], limit: float, threshold: float) -> None:
    tally = StreamTally().add(cells_of(items))
    lower = find_lower_limit(tally, threshold)
    margin = log_evidence(tally, limit) - math.log(threshold)
    if abs(margin) > 1e-9:
        assert (limit <= lower) == (margin >= 0)


def test_the_order_of_cells_does_not_matter() -> None:
    cells = [StreamCell(items=9, reviewed=9, total=3.5, inclusion=pi) for pi in (1.0, 0.5, 0.1)]
    assert len({StreamTally().add(order).weights.__repr__() for order in permutations(cells)}) == 1


@given(
    reviewed=st.integers(0, 50), bad=st.integers(0, 50), pending=st.integers(0, 20), hidden=st.integers(0, 20), limit=st.floats(0.05, 0.9)
)
def test_what_is_not_known_never_adds_evidence_on_either_side(reviewed: int, bad: int, pending: int, hidden: int, limit: float) -> None:
    bad = min(bad, reviewed)
    known = [StreamCell(items=reviewed, reviewed=reviewed, total=bad, squares=bad)]
    partly = [
        StreamCell(items=reviewed + pending, reviewed=reviewed, total=bad, squares=bad, pending=pending),
        StreamCell(items=hidden, suppressed=True),
    ]
    for side in (lambda cell: cell, StreamCell.complement):
        full, part = (StreamTally().add(map(side, cells)) for cells in (known, partly))
        assert log_evidence(part, limit) <= log_evidence(full, limit) + 1e-12
    averages = [AverageSequence(bound=1, centre=limit).add(cells).find_upper_limit(20) for cells in (known, partly)]
    assert averages[1] >= averages[0] - 1e-9 or not reviewed


def test_a_wrong_alarm_is_rare_at_any_look() -> None:
    """400 streams of 600 items with a rate at the limit, looked at after each item; `benchmarks/monitoring.py` has more."""
    rng = np.random.default_rng(11)
    counts = np.cumsum(rng.random((400, 600)) < 0.1, axis=1)
    wrong = sum(
        any(
            log_evidence(StreamTally(items=look, weights={1.0: float(stream[look - 1])}), 0.1) >= math.log(20)
            for look in range(20, 601, 20)
        )
        for stream in counts
    )
    assert wrong / 400 <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 400)


def test_a_right_alarm_comes() -> None:
    assert log_evidence(StreamTally(items=500, weights={1.0: 80.0}), 0.1) >= math.log(20)


def test_the_average_limit_covers_an_average_that_changes() -> None:
    rng = np.random.default_rng(12)
    rates = np.where(np.arange(1500) < 500, 0.2, 0.02)
    averages = np.cumsum(rates)[99::100] / np.arange(100, 1501, 100)
    missed = 0
    for _ in range(100):
        bad = rng.random(1500) < rates
        sequence = AverageSequence(bound=1, centre=0.1)
        limits = []
        for start in range(0, 1500, 100):
            total = float(bad[start : start + 100].sum())
            sequence = sequence.add([StreamCell(items=100, reviewed=100, total=total, squares=total)])
            limits.append(sequence.find_upper_limit(20))
        missed += bool((np.array(limits) < averages).any())
        assert limits[-1] < 0.16  # and it says something: the average is 0.08
    assert missed <= 100 * (0.05 + 3 * math.sqrt(0.05 * 0.95 / 100))


def test_an_average_of_nothing_has_no_limit() -> None:
    assert AverageSequence(bound=1, centre=0.1).find_upper_limit(20) == 1
    assert AverageSequence(bound=1, centre=0.1).add([StreamCell(items=9, suppressed=True)]).find_upper_limit(20) == 1


def test_the_drift_statistic_is_that_of_its_recursion() -> None:
    scores = [0, 1, 0, 0, 1, 1, 0, 1, 0, 0]
    detector = DriftDetector(tolerated=0.2)
    values = [0.0 for _ in DRIFT_BETS]
    for score in scores:
        detector = detector.add([StreamCell(items=1, reviewed=1, total=score)])
        values = [(value + 1) * (1 + bet * (score - 0.2)) for value, bet in zip(values, DRIFT_BETS, strict=True)]
    assert detector.log_statistic == pytest.approx(math.log(sum(values) / len(values)), abs=1e-12)


@pytest.mark.parametrize(
    "parts",
    [
        {"items": 3, "reviewed": 4},
        {"items": 3, "reviewed": 2, "pending": 2},
        {"items": 3, "reviewed": 3, "total": 3.5},
        {"items": 3, "reviewed": 3, "total": 1, "squares": 2},
        {"items": 3, "reviewed": 3, "total": 2, "squares": 0.5},
        {"items": 3, "inclusion": 0},
        {"items": 3, "inclusion": 1.5},
        {"items": -1},
    ],
)
def test_counts_that_cannot_be_are_refused(parts: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r".+"):
        StreamCell(**parts)  # type: ignore[arg-type]


@pytest.mark.parametrize("limit", [0, 1, -0.1])
def test_evidence_needs_a_limit_inside_the_range(limit: float) -> None:
    with pytest.raises(ValueError, match="limit"):
        log_evidence(StreamTally(items=1), limit)
