"""Which responses were truncated or refused: as a table says it, else by the reason for which the endpoint stopped."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from audit.sources.raw import LISTED, FaultList, RawTable
from audit.statistics.scores import NO, SETTLED, YES, Labelled
from registry.errors import Fault

FLAGS = ("truncated", "settled", "refused")
"""Columns that say yes or no."""

_WORDS = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
_CUT = frozenset({"max_tokens", "model_context_window_exceeded", "length", "model_length", "max_output_tokens"})
_REFUSED = frozenset({"refusal", "content_filter", "safety"})
_ENDED = frozenset({"end_turn", "stop", "stop_sequence", "eos", "tool_use", "tool_calls", "function_call"})
"""Reasons as the Messages API, OpenAI's API and Inspect name them; of any other nothing is known."""

Codes = npt.NDArray[np.int8]
_UNKNOWN = -1


def read_stops(tables: Sequence[RawTable], columns: Mapping[str, Labelled], faults: FaultList) -> tuple[Labelled | None, Labelled | None]:
    """Return which responses were truncated (no, settled, yes) and which refused (no, yes), row for row; None where no row says it.

    An entry that is neither yes nor no, and a column `settled` without one that says what was truncated, are added to *faults*.
    """
    for name in FLAGS:
        _check_words(tables, name, faults)
    by_reason = _read_reasons(columns["stop_reason"])
    truncated, settled, refused = (_read_flag(columns[name]) for name in FLAGS)
    cut = np.where(truncated == _UNKNOWN, by_reason[0], truncated)
    if (settled != _UNKNOWN).any() and (cut == _UNKNOWN).all():
        found = "the column is there, and nothing says which responses were truncated"
        where = f"{', '.join(table.name for table in tables[:3])}, column settled"
        faults.add(Fault(code="settled-without-truncated", where=where, found=found, advice="add the column truncated (yes or no)"))
    labels = (NO, SETTLED, YES)
    three = np.where(cut == 1, np.where(settled == 1, 1, 2), cut)
    declined = np.where(refused == _UNKNOWN, by_reason[1], refused)
    return _build(three, labels), _build(declined, (NO, YES))


def _build(codes: npt.NDArray[np.generic], labels: tuple[str, ...]) -> Labelled | None:
    full = Labelled(codes=codes.astype(np.int32), labels=labels)
    used = full.keep(np.ones(len(codes), dtype=bool))
    return used if used.labels else None


def _read_flag(column: Labelled) -> Codes:
    """Return 1 for yes, 0 for no, −1 for what says neither."""
    known = np.array([*(_WORDS.get(label.strip().casefold(), _UNKNOWN) for label in column.labels), _UNKNOWN], dtype=np.int8)
    return known[column.codes]


def _read_reasons(column: Labelled) -> tuple[Codes, Codes]:
    """Return by row whether a response was truncated, and whether it was refused."""
    words = [label.strip().casefold() for label in column.labels]
    cut = [int(word in _CUT) if word in _CUT | _REFUSED | _ENDED else _UNKNOWN for word in words]
    refused = [int(word in _REFUSED) if word in _CUT | _REFUSED | _ENDED else _UNKNOWN for word in words]
    return np.array([*cut, _UNKNOWN], dtype=np.int8)[column.codes], np.array([*refused, _UNKNOWN], dtype=np.int8)[column.codes]


def _check_words(tables: Sequence[RawTable], name: str, faults: FaultList) -> None:
    for table in tables:
        rows = list(_find_strange(table, name))
        column = table.columns.get(name)
        for row in rows[:LISTED]:
            found = f"expected yes or no, found {column.labels[column.codes[row]][:40]!r}" if column else ""
            where = table.locate(row, name)
            faults.add(Fault(code="flag-not-yes-or-no", where=where, found=found, advice="write yes or no, or leave it empty"))
        faults.count(max(0, len(rows) - LISTED))


def _find_strange(table: RawTable, name: str) -> Iterator[int]:
    column = table.columns.get(name)
    if column is not None:
        strange = np.array([*(label.strip().casefold() not in _WORDS for label in column.labels), False], dtype=bool)
        yield from np.flatnonzero(strange[column.codes]).tolist()
