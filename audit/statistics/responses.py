"""The table of scored responses, order-free sums, task weights, and repeated scorings of one response."""

import hashlib
import json
import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float64]

SCORED = -1
"""The `excluded` code of a response that has a score; also the `spec` code of a row that names no specification."""


NO, SETTLED, YES = "no", "settled", "yes"
"""Labels of `ScoreTable.truncated`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextColumn:
    """One text column: an integer code per row, and the text of each code in sorted order."""

    codes: Codes
    """Index into `labels`; −1 where the row has none."""

    labels: tuple[str, ...]

    def find(self, label: str) -> int | None:
        """Return the code of *label*, or None when no row has it."""
        return self.labels.index(label) if label in self.labels else None

    def keep(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "TextColumn":
        """Return the entries of *rows* (a mask or positions); labels that none of them has are dropped."""
        codes = self.codes[rows]
        used = np.unique(codes[codes >= 0])
        # The additional last place maps code −1 (no label) to itself.
        place = np.full(len(self.labels) + 1, -1, dtype=np.int32)
        place[used] = np.arange(len(used), dtype=np.int32)
        return TextColumn(codes=place[codes], labels=tuple(self.labels[code] for code in used.tolist()))


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFile:
    """One file that the table was read from."""

    name: str
    """As it was given, for messages and records."""

    sha256: str
    """Digest of the bytes that were read, hexadecimal."""

    rows: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreTable:
    """Checked scores: keys are unique, every score lies in the range, every row without a score has a reason."""

    task: TextColumn
    arm: TextColumn
    context: TextColumn
    spec: TextColumn
    """P_deploy specification; code −1 where the row names none."""

    sample: TextColumn
    excluded: TextColumn
    """Reason why the row has no score; code −1 where it has one."""

    score: Floats
    """In the unit of the range; NaN exactly where `excluded` has a reason."""

    low: float
    """Lowest possible score; every score was checked against it."""

    high: float
    """Highest possible score."""

    files: tuple[TableFile, ...]

    doubts: tuple[str, ...] = ()
    """What makes the files doubtful, each as a clause: scored rows that another column marks as failed. Not part of `content`."""

    cue_removed: TextColumn | None = None
    """Cue that was taken out of the context (or put into it) for an ablation; code −1 for the context as it is; None without the column."""

    judge: TextColumn | None = None
    """Who or what scored the response; None without the column."""

    judge_repeat: TextColumn | None = None
    """Which of several scorings of one response by one judge; None without the column."""

    weight: TextColumn | None = None
    """Weight of the row's task as it was written; None without the column: all tasks weigh the same."""

    family: TextColumn | None = None
    """Family of the row's task, whose tasks depend on each other; code −1 where the row names none; None without the column."""

    template: TextColumn | None = None
    """Template that the row's context was made from; as `family`."""

    truncated: TextColumn | None = None
    """Whether the response was cut by the limit of tokens or the context window: `yes`, `no`, or `settled` where it was and its score
    can no longer change; code −1 where that is not stated; None where it is stated of no row. Not part of `content`."""

    refused: TextColumn | None = None
    """Whether the model refused to answer, `yes` or `no`; as `truncated`."""

    @property
    def rows(self) -> int:
        """Number of responses, scored or excluded."""
        return len(self.score)

    def keep(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "ScoreTable":
        """Return the table of *rows* (a mask or positions) only; `files` stay, as what they were read from."""
        names = (
            "task",
            "arm",
            "context",
            "spec",
            "sample",
            "excluded",
            "cue_removed",
            "judge",
            "judge_repeat",
            "weight",
            "family",
            "template",
            "truncated",
            "refused",
        )
        columns: dict[str, TextColumn | None] = {name: getattr(self, name) for name in names}
        kept = {name: None if column is None else column.keep(rows) for name, column in columns.items()}
        return replace(self, score=self.score[rows], **kept)  # type: ignore[arg-type]  # names and kinds are those of the fields

    @property
    def sha256(self) -> str:
        """Digest of the file; of several files, the digest of their digests in sorted order, one a line."""
        digests = sorted(file.sha256 for file in self.files)
        if len(digests) == 1:
            return digests[0]
        return hashlib.sha256("".join(f"{digest}\n" for digest in digests).encode()).hexdigest()

    @property
    def content(self) -> str:
        """Digest of the scores themselves, hexadecimal: the same for any file, format and order of rows."""
        # Truncation and refusal are not part of the digest: it identifies scores, and stating more
        # about a response changes none.
        optional = (self.cue_removed, self.judge, self.judge_repeat, self.weight, self.family, self.template)
        columns = (self.task, self.arm, self.spec, self.context, self.sample, self.excluded, *filter(None, optional))
        order = np.lexsort([column.codes for column in reversed(columns)])
        total = hashlib.sha256()
        for column in columns:
            total.update(json.dumps(column.labels).encode())
            total.update(column.codes[order].astype("<i4").tobytes())
        total.update(np.nan_to_num(self.score[order], nan=0.0).astype("<f8").tobytes())
        return total.hexdigest()


# Sums that do not depend on the order of their terms, so that any order of rows and any names give the
# same bits.
#
# A value in [−1, 1] is split into two integers, its multiples of 2⁻²⁶ and of 2⁻⁵³. Sums of integers
# below 2⁵³ are exact in double precision in any order. The loss is at most 2⁻⁵⁴ per value, and 2²⁶ (67
# million) values per group are safe.

_COARSE = 2.0**26
_FINE = 2.0**53


def sum_groups(values: Floats, groups: npt.NDArray[np.integer], *, size: int) -> Floats:
    """Return the sum of *values* (each in [−2, 2]) in each of the groups 0 … size − 1; 0 for an empty group."""
    coarse = np.rint(values * _COARSE)
    fine = np.rint((values - coarse / _COARSE) * _FINE)
    high = np.bincount(groups, weights=coarse, minlength=size)
    low = np.bincount(groups, weights=fine, minlength=size)
    return high / _COARSE + low / _FINE


def sum_all(values: Floats) -> float:
    """Return the correctly rounded sum of a vector (Shewchuk's algorithm, `math.fsum`)."""
    return math.fsum(values.tolist())


def sum_many(values: Floats) -> float:
    """Return the order-free sum of a long vector of values in [−2, 2]; faster than `sum_all` and as exact as `sum_groups`."""
    coarse = np.rint(values * _COARSE)
    fine = np.rint((values - coarse / _COARSE) * _FINE)
    return float(np.sum(coarse)) / _COARSE + float(np.sum(fine)) / _FINE


# Task weights and the effective number of tasks: L. Kish, Survey Sampling (1965), section 11.7: n_eff =
# (Σw)²/Σw².
#
# A weighted mean is a ratio. It has a linearised variance, and Kish's number replaces the number of
# tasks in the degrees of freedom, in sides without variance, and in the minimum of 20. σ_pool stays
# unweighted.


def find_relative_weights(weights: Floats | None, common: npt.NDArray[np.bool_]) -> Floats | None:
    """Return the weights of the *common* tasks as shares of the largest, in the order of codes; None where they do not differ.

    *weights* are by task code, finite and above 0, or None.
    """
    if weights is None:
        return None
    kept = weights[common]
    return None if (kept == kept[0]).all() else kept / kept.max()


def effective_number(relative: Floats) -> float:
    """Return Kish's (Σw)²/Σw², from 1 to the number of weights."""
    return sum_all(relative) ** 2 / sum_all(relative**2)


# nED = ED / (σ_pool + ε), the differential in units of the spread of single responses (arXiv:2605.11496
# section 3.1).

NEGLIGIBLE = 1e-12
"""On the scale of scores in [0, 1], a spread or a differential up to this counts as 0."""


def pooled_deviation(test: Floats, deploy: Floats) -> float | None:
    """Return σ_pool = √((σ²_test + σ²_deploy)/2) of scores in [0, 1], n − 1 in each variance; None when a side has fewer than two."""
    if len(test) < 2 or len(deploy) < 2:
        return None
    return math.sqrt((_variance(test) + _variance(deploy)) / 2)


def normalise(difference: float, deviation: float | None, *, epsilon: float) -> float | None:
    """Return nED; 0 when spread and difference are both negligible, None when only the spread is, or when it is not known."""
    if deviation is None:
        return None
    if deviation <= NEGLIGIBLE:
        return 0.0 if abs(difference) <= NEGLIGIBLE else None
    return difference / (deviation + epsilon)


def _variance(scores: Floats) -> float:
    mean = sum_many(scores) / len(scores)
    return sum_many((scores - mean) ** 2) / (len(scores) - 1)


# Repeated scorings of one response: their mean is its score, their spread the judge's noise
# (statistics.md section 3).
#
# Assumed: a judge's scorings of one response are independent of each other. The mean is used as the
# score, so judge noise is already inside every variance and is never added to it.


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RepeatedResponses:
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
class JudgeNoise:
    """How far a judge's scorings of the same responses differ; scores lie in [0, 1]."""

    responses: int
    """Responses scored at least twice, at least one."""

    scorings: int
    """Scorings of them."""

    variance: float
    """Of one scoring within a response, pooled: Σ(y − ȳ)²/Σ(r − 1)."""

    identical: int
    """Responses whose scorings all agree."""


def find_responses(table: ScoreTable) -> RepeatedResponses:
    """Return the rows of each response: those alike in everything but `judge_repeat`. Without that column, each row is its own."""
    if table.judge_repeat is None:
        rows = np.arange(table.rows)
        return RepeatedResponses(first=rows, of_row=rows)
    optional = [column.codes for column in (table.cue_removed, table.judge) if column is not None]
    key = [table.task.codes, table.arm.codes, table.context.codes, table.spec.codes, table.sample.codes, *optional]
    # Scored rows sort before unscored ones, so a scored row represents the response if there is one.
    order = np.lexsort([table.judge_repeat.codes, np.isnan(table.score), *key])
    changes = np.any([np.diff(codes[order]) != 0 for codes in key], axis=0)
    starts = np.concatenate([[True], changes])
    of_row = np.empty(table.rows, dtype=np.intp)
    of_row[order] = np.cumsum(starts) - 1
    return RepeatedResponses(first=order[starts], of_row=of_row)


def average_repeats(table: ScoreTable) -> ScoreTable:
    """Return the table with one row for each response, its score the mean of its scorings that have one.

    A table without `judge_repeat` comes back as it is. A response that was never scored keeps the reason of one of its scorings.
    """
    if table.judge_repeat is None:
        return table
    responses = find_responses(table)
    # A response that was scored once keeps its score to the bit; mapping to [0, 1] and back could
    # change it.
    several = responses.count(table.score) > 1
    width = table.high - table.low
    means = table.low + width * responses.average(np.clip((table.score - table.low) / width, 0.0, 1.0))
    kept = table.keep(responses.first)
    return replace(kept, judge_repeat=None, score=np.where(several, np.minimum(means, table.high), kept.score))


def measure_noise(responses: RepeatedResponses, scores: Floats) -> JudgeNoise | None:
    """Return the spread of *scores* (by row, in [0, 1]) within responses; None when none was scored twice."""
    counts = responses.count(scores)
    several = counts > 1
    if not several.any():
        return None
    rows = ~np.isnan(scores) & several[responses.of_row]
    off = (scores - responses.average(scores)[responses.of_row])[rows]
    squares = sum_groups(off * off, responses.of_row[rows], size=len(counts))[several]
    return JudgeNoise(
        responses=int(np.count_nonzero(several)),
        scorings=int(counts[several].sum()),
        variance=sum_all(squares) / int((counts[several] - 1).sum()),
        identical=int(np.count_nonzero(squares <= 1e-24)),
    )


def find_noise_share(noise: JudgeNoise, sides: tuple[tuple[Floats, npt.NDArray[np.int64]], ...], *, variance: float) -> float | None:
    """Return the share of *variance*, that of ED, that the noise of the judge makes up, in [0, 1]; None without a variance.

    *sides*: for each, the weight of every response in Φ and how often it was scored. Noise adds σ² Σ w²/r: exact if noise is alike
    over responses, which is assumed.
    """
    if not variance > 0:
        return None
    added = math.fsum(noise.variance * sum_all(weights**2 / counts) for weights, counts in sides)
    return min(1.0, added / variance)
