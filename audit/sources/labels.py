"""A person's labels, and other columns of numbers, beside the rows of a score table."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from audit.errors import TableError
from audit.sources.keys import number_keys
from audit.sources.raw import LISTED, RawColumn, merge_columns
from audit.sources.table import read_table
from audit.statistics.scores import Floats, Labelled, ScoreTable
from registry.errors import Fault

_TRUTH = {"true": 1.0, "false": 0.0}


def read_labels(paths: Sequence[Path], table: ScoreTable, *, column: str = "label", range_: tuple[float, float] | None = None) -> Floats:
    """Return, for each row of *table*, the label of its response, NaN where it has none.

    A file of labels has the columns task_id, arm (or side), context_id, sample and *column*, and spec where the table has several
    specifications. Labels lie in *range_*, by default that of the scores. All scorings of a response, by any judge, share its label.
    Rows whose context had a cue taken out have none.

    Raises:
        TableError: a file cannot be read, a label is no number of the range, stands twice, matches no row, or could mean several.
    """
    low, high = range_ or (table.low, table.high)
    labels = read_table(paths, low=low, high=high, score=column)
    pairs = [(getattr(table, name), getattr(labels, name)) for name in ("task", "arm", "context", "sample", "spec")]
    merged = [merge_columns([(_raw(one), table.rows), (_raw(other), labels.rows)]) for one, other in pairs]
    if not labels.spec.labels:
        _check_specs(table, labels, merged)
        merged = merged[:-1]
    key = number_keys(merged)
    own, asked = key[: table.rows], key[table.rows :]
    usable = np.ones(table.rows, dtype=bool) if table.cue_removed is None else table.cue_removed.codes < 0
    unmatched = np.flatnonzero(~np.isin(asked, own[usable]))
    if len(unmatched):
        raise TableError(_tell_unmatched(labels, unmatched))
    order = np.argsort(asked)
    place = np.minimum(np.searchsorted(asked, own, sorter=order), len(asked) - 1)
    found = order[place]
    return np.where((asked[found] == own) & usable, labels.score[found], np.nan)


def _raw(column: Labelled) -> RawColumn:
    return RawColumn(codes=column.codes, labels=column.labels)


def _check_specs(table: ScoreTable, labels: ScoreTable, merged: Sequence[Labelled]) -> None:
    """Refuse labels without a specification where one response of each of several could be meant."""
    key = number_keys(merged[:-1])
    pairs = np.unique(np.stack([key[: table.rows], table.spec.codes], axis=1), axis=0)
    several = pairs[:-1, 0][pairs[1:, 0] == pairs[:-1, 0]]
    if np.isin(key[table.rows :], several).any():
        found = "a label could be that of one response of each of several specifications of P_deploy"
        raise TableError(Fault(code="label-ambiguous", where=_name(labels), found=found, advice="add the column spec to the labels"))


def _tell_unmatched(labels: ScoreTable, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> list[Fault]:
    columns = (("task_id", labels.task), ("arm", labels.arm), ("context_id", labels.context), ("sample", labels.sample))
    faults = []
    for row in rows[:LISTED].tolist():
        key = ", ".join(f"{name} {column.labels[column.codes[row]]!r}" for name, column in columns)
        found = f"no row of the scores is of {key}"
        faults.append(Fault(code="label-unmatched", where=_name(labels), found=found, advice="label responses that stand in the scores"))
    if len(rows) > LISTED:
        faults.append(Fault(code="more-faults", where=_name(labels), found=f"and {len(rows) - LISTED} more faults like these"))
    return faults


def _name(labels: ScoreTable) -> str:
    return ", ".join(file.name for file in labels.files[:3])


def parse_numbers(column: Labelled, *, name: str, low: float, high: float) -> Floats:
    """Return a column of texts as numbers in [low, high], NaN where the row has none; `true` is 1 and `false` 0.

    Raises:
        TableError: a text is no number, or one outside the range.
    """
    numbers = np.array([*(_parse(label) for label in column.labels), np.nan])
    faults = []
    for label, number in zip(column.labels, numbers.tolist(), strict=False):
        if np.isnan(number) or not low <= number <= high:
            code = "score-not-number" if np.isnan(number) else "score-out-of-range"
            found = f"expected a number from {low:g} to {high:g}, found {label[:40]!r}"
            faults.append(Fault(code=code, where=f"column {name}", found=found, advice="correct it, or leave the field empty"))
    if faults:
        more = [Fault(code="more-faults", where=f"column {name}", found=f"and {len(faults) - LISTED} more values like these")]
        raise TableError([*faults[:LISTED], *(more if len(faults) > LISTED else [])])
    # The last entry answers code −1.
    return numbers[column.codes]


def parse_marks(column: Labelled, *, name: str) -> Floats:
    """Return a column of marks, 0 or 1 (or `false` and `true`), NaN where the row has none.

    Raises:
        TableError: a text is something else.
    """
    numbers = [_parse(label) for label in column.labels]
    strange = [label[:40] for label, number in zip(column.labels, numbers, strict=True) if number not in (0.0, 1.0)]
    if strange:
        found = f"expected 0 or 1, found {', '.join(map(repr, strange[:5]))}{' …' if len(strange) > 5 else ''}"
        raise TableError(
            Fault(code="mark-not-binary", where=f"column {name}", found=found, advice="mark with 1 what went wrong, with 0 what did not")
        )
    return np.array([*numbers, np.nan])[column.codes]


def _parse(text: str) -> float:
    if text.strip().lower() in _TRUTH:
        return _TRUTH[text.strip().lower()]
    try:
        return float(text) if "_" not in text else float("nan")
    except ValueError:
        return float("nan")
