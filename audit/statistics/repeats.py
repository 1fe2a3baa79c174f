"""Scoring one response several times: the mean counts as its score, and the spread is the judge's noise (statistics.md section 3).

Assumed: a judge's scorings of one response are independent of each other. Their mean is what the response got, so judge noise is
inside every variance already and never added to it.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from audit.statistics.scores import Floats, ScoreTable
from audit.statistics.sums import sum_all, sum_groups


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Responses:
    """Which rows of a table are scorings of one response."""

    first: npt.NDArray[np.intp]
    """By response: the row that stands for it, a scored one if there is one."""

    of_row: npt.NDArray[np.intp]
    """By row: its response."""

    def average(self, values: Floats) -> Floats:
        """Return the mean of *values* (by row, in [0, 1]) over the rows of each response that have one; NaN where none has."""
        known = ~np.isnan(values)
        size = len(self.first)
        counts = np.bincount(self.of_row[known], minlength=size)
        sums = sum_groups(values[known], self.of_row[known], size=size)
        means: Floats = np.divide(sums, counts, out=np.full(size, np.nan), where=counts > 0)
        return means

    def count(self, values: Floats) -> npt.NDArray[np.int64]:
        """Return how many rows of each response have a value."""
        return np.bincount(self.of_row[~np.isnan(values)], minlength=len(self.first))


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How far a judge's scorings of the same responses differ; scores lie in [0, 1]."""

    responses: int
    """Responses scored at least twice, at least one."""

    scorings: int
    """Scorings of them."""

    variance: float
    """Of one scoring within a response, pooled: Σ(y − ȳ)²/Σ(r − 1)."""

    identical: int
    """Responses whose scorings all agree."""


def find_responses(table: ScoreTable) -> Responses:
    """Return the rows of each response: those alike in everything but `judge_repeat`. Without that column, each row is its own."""
    if table.judge_repeat is None:
        rows = np.arange(table.rows)
        return Responses(first=rows, of_row=rows)
    optional = [column.codes for column in (table.cue_removed, table.judge) if column is not None]
    key = [table.task.codes, table.arm.codes, table.context.codes, table.spec.codes, table.sample.codes, *optional]
    order = np.lexsort([table.judge_repeat.codes, np.isnan(table.score), *key])
    changes = np.any([np.diff(codes[order]) != 0 for codes in key], axis=0)
    starts = np.concatenate([[True], changes])
    of_row = np.empty(table.rows, dtype=np.intp)
    of_row[order] = np.cumsum(starts) - 1
    return Responses(first=order[starts], of_row=of_row)


def average_repeats(table: ScoreTable) -> ScoreTable:
    """Return the table with one row for each response, its score the mean of its scorings that have one.

    A table without `judge_repeat` comes back as it is. A response that was never scored keeps the reason of one of its scorings.
    """
    if table.judge_repeat is None:
        return table
    responses = find_responses(table)
    # A response scored once keeps its score to the bit.
    several = responses.count(table.score) > 1
    width = table.high - table.low
    means = table.low + width * responses.average(np.clip((table.score - table.low) / width, 0.0, 1.0))
    kept = table.keep(responses.first)
    return replace(kept, judge_repeat=None, score=np.where(several, np.minimum(means, table.high), kept.score))


def measure_noise(responses: Responses, scores: Floats) -> Noise | None:
    """Return the spread of *scores* (by row, in [0, 1]) within responses; None when none was scored twice."""
    counts = responses.count(scores)
    several = counts > 1
    if not several.any():
        return None
    rows = ~np.isnan(scores) & several[responses.of_row]
    off = (scores - responses.average(scores)[responses.of_row])[rows]
    squares = sum_groups(off * off, responses.of_row[rows], size=len(counts))[several]
    return Noise(
        responses=int(np.count_nonzero(several)),
        scorings=int(counts[several].sum()),
        variance=sum_all(squares) / int((counts[several] - 1).sum()),
        identical=int(np.count_nonzero(squares <= 1e-24)),
    )


def find_noise_share(noise: Noise, sides: tuple[tuple[Floats, npt.NDArray[np.int64]], ...], *, variance: float) -> float | None:
    """Return the share of *variance*, that of ED, that the noise of the judge makes up, in [0, 1]; None without a variance.

    *sides*: for each, the weight of every response in Φ and how often it was scored. Noise adds σ² Σ w²/r: exact if noise is alike
    over responses, which is assumed.
    """
    if not variance > 0:
        return None
    added = math.fsum(noise.variance * sum_all(weights**2 / counts) for weights, counts in sides)
    return min(1.0, added / variance)
