"""Evidence and limits of a monitor against an independent program: confseq 0.0.11 by the authors of the method.

The numbers are those of confseq (MIT licence, I. Waudby-Smith and S. Howard, github.com/gostevehoward/confseq), computed once under NumPy
1.26.4 and SciPy 1.13.1: `betting.diversified_betting_mart(x, m, [f/m for each share f], theta=1, trunc_scale=1)` for log M, and
`betting.betting_cs(x, …, alpha=0.1, theta=1/2, breaks=20000, trunc_scale=1, running_intersection=False)`, the hedged capital process, for
limits. Weighted scores in [a, b] were given to it as (z - a)/(b - a) against (θ - a)/(b - a).
"""

import math

import pytest

from monitoring.statistics.e_process import BETS, LABEL_BETS, find_lower_limit, log_evidence
from monitoring.statistics.stream_tally import StreamCell, StreamLabels, StreamTally

BAD = [number**2 % 11 == 5 for number in range(200)]
"""The scores, 36 of 200 bad."""
GRADED = [number**2 * 7 % 23 / 22 for number in range(200)]
GRID = 1 / 20_000
"""Distance of the rates at which confseq looks for a limit."""


def tally(count: int = 200) -> StreamTally:
    return StreamTally().add([StreamCell(items=count, reviewed=count, total=sum(BAD[:count]))])


@pytest.mark.parametrize(
    ("limit", "count", "expected"),
    [
        (0.05, 60, 5.201043781633617),
        (0.05, 200, 19.71030694529296),
        (0.1, 60, 0.9351942643807057),
        (0.1, 200, 4.09857688435175),
        (0.3, 60, -0.768160093073228),
        (0.3, 200, -1.3159427128497379),
    ],
)
def test_evidence_is_that_of_confseq(limit: float, count: int, expected: float) -> None:
    assert log_evidence(tally(count), limit) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("limit", "expected"), [(0.3, 53.400775190907765), (0.45, 19.174494697831165)])
def test_evidence_from_sums_of_graded_scores_stays_below_that_of_confseq(limit: float, expected: float) -> None:
    """Most of it is kept."""
    total = sum(GRADED)
    evidence = log_evidence(StreamTally().add([StreamCell(items=200, reviewed=200, total=total)]), limit)
    assert 0.4 * expected < evidence <= expected


def test_evidence_from_a_sample_is_that_of_confseq() -> None:
    """Of five items in turn, the first is reviewed always, the second with probability 0.2 and chosen, the others not."""
    cells = [
        StreamCell(items=40, reviewed=40, total=sum(BAD[::5])),
        StreamCell(items=160, reviewed=40, total=sum(BAD[1::5]), inclusion=0.2),
    ]
    assert log_evidence(StreamTally().add(cells), 0.1) == pytest.approx(1.2090754628931488, abs=1e-9)


@pytest.mark.parametrize(("limit", "expected"), [(0.05, 4.6269991989186225), (0.1, 2.550954972084203)])
def test_evidence_from_partial_labels_is_that_of_confseq(limit: float, expected: float) -> None:
    """People label each fourth item; the judge misses some bad ones and calls each seventeenth bad."""
    judged = [(bad and number % 12 != 4) or number % 17 == 0 for number, bad in enumerate(BAD)]
    pairs = list(zip(judged, BAD, strict=True))[::4]
    labels = StreamLabels(
        share=0.25, items=50, both=pairs.count((True, True)), judge_only=pairs.count((True, False)), people_only=pairs.count((False, True))
    )  # fmt: skip
    assert min(labels.both, labels.judge_only, labels.people_only) > 0
    cell = StreamCell(items=200, reviewed=200, total=sum(judged), labels=labels)
    assert log_evidence(StreamTally(floor=-3.0).add([cell]), limit, bets=LABEL_BETS) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("count", "low", "high"), [(50, 0.0585, 0.41385), (100, 0.08455, 0.32595), (200, 0.10775, 0.27355)])
def test_the_band_is_that_of_the_hedged_capital_process(count: int, low: float, high: float) -> None:
    """Each side at 0.05 is the hedged process at 0.1, whose limits are points of a grid."""
    seen = tally(count)
    mirrored = StreamTally().add([StreamCell(items=count, reviewed=count, total=count - sum(BAD[:count]))])
    assert find_lower_limit(seen, 20) == pytest.approx(low, abs=2 * GRID)
    assert 1 - find_lower_limit(mirrored, 20) == pytest.approx(high, abs=2 * GRID)
    assert math.exp(log_evidence(seen, low - 2 * GRID, bets=BETS)) >= 20
