"""What an estimate would be if every response without a settled score had the lowest, or the highest, possible one.

Truncated responses could have gone on to another score, and excluded ones have none. Where they are many, or more on one side, a verdict is
established only if it is the same at all of these extremes.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import numpy.typing as npt

from audit.estimate import estimate
from audit.statistics.scores import SCORED, Labelled, ScoreTable
from registry.records.estimate import Estimate
from registry.records.plan import Plan

Rows = npt.NDArray[np.bool_]


def bound_open(table: ScoreTable, plan: Plan, *, range_: tuple[float, float], test: str, deploy: str) -> Iterator[Estimate]:
    """Yield the estimates for each pair of extremes: the open responses of either side at the lowest or the highest score.

    Open are excluded responses, and truncated ones whose score could still have changed. Bootstrap bands are left out: they decide nothing.
    """
    open_rows = find_open(table)
    sides = [open_rows & (table.arm.codes == table.arm.find(arm)) for arm in (test, deploy)]
    for ends in product(range_, repeat=2):
        score = table.score.copy()
        for rows, end in zip(sides, ends, strict=True):
            score[rows] = end
        codes = np.where(sides[0] | sides[1], SCORED, table.excluded.codes).astype(np.int32)
        filled = replace(table, score=score, excluded=Labelled(codes=codes, labels=table.excluded.labels))
        yield estimate(filled, replace(plan, replicates=0), range_=range_, test=test, deploy=deploy)


def find_open(table: ScoreTable) -> Rows:
    """Return which rows have no settled score."""
    return table.excluded.codes != SCORED
