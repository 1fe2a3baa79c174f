"""What a reader of one format hands over: texts and numbers, unchecked."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from audit.statistics.scores import Codes, Floats, Labelled
from registry.errors import Fault

LISTED = 20
"""Faults shown; the rest are counted."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawColumn:
    """One column of texts; code −1 where the row has nothing."""

    codes: Codes
    labels: tuple[str, ...]
    """In no order that matters; each once."""

    def find(self, values: Collection[str]) -> npt.NDArray[np.bool_]:
        """Return, for each row, whether it has one of *values*; an empty text stands for nothing."""
        wanted = np.array([*(label in values for label in self.labels), "" in values], dtype=bool)
        # The last entry answers code −1.
        return wanted[self.codes]

    def list_values(self) -> frozenset[str]:
        """Return the values that rows have; an empty text where one has nothing."""
        used = np.unique(self.codes).tolist()
        return frozenset("" if code < 0 else self.labels[code] for code in used)

    def keep(self, rows: npt.NDArray[np.bool_]) -> "RawColumn":
        """Return the entries of *rows* (a mask)."""
        return RawColumn(codes=self.codes[rows], labels=self.labels)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RawTable:
    """One file, read and not yet checked."""

    name: str
    sha256: str
    columns: dict[str, RawColumn]
    """By our names; optional columns may be absent."""

    score: Floats
    """NaN where the field is empty, not a number, or NaN."""

    empty: npt.NDArray[np.bool_]
    """Where the score field is empty (or null)."""

    row_word: str
    """What a position is called: `line` in JSONL, `row` elsewhere."""

    first_row: int
    """Number of the first position: 1; 2 where line 1 is a header."""

    rows: npt.NDArray[np.int64] | None = None
    """Number of each row where blank lines make it differ from a plain count."""

    texts: dict[int, str] = field(default_factory=dict)
    """By row, the content of the first `LISTED` score fields that are no number."""

    texts_beyond: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    """Rows of the other score fields that are no number."""

    score_name: str = "score"
    """What the file calls the column of scores."""

    extras: dict[str, RawColumn] = field(default_factory=dict)
    """Columns that were asked for beside ours, by the name they were asked for."""

    seen: dict[str, frozenset[str]] = field(default_factory=dict)
    """By column that rows were chosen by: the values of all rows of the file, an empty text where there is nothing."""

    unknown: tuple[str, ...] = ()
    """Columns of the file that are none of ours."""

    rows_read: int = 0
    """Rows of the file, those left out included."""

    places: tuple[str, ...] | None = None
    """Where each row stands in its file, for messages; None: its number says it."""

    def locate(self, row: int, column: str) -> str:
        """Return file, row and column, for a message."""
        number = int(self.rows[row]) if self.rows is not None else row + self.first_row
        place = f"{self.row_word} {number}" if self.places is None else self.places[row]
        return f"{self.name}, {place}, column {self.score_name if column == 'score' else column}"


@dataclass(slots=True)
class FaultList:
    """Collects faults: the first of every kind are kept, the rest are counted."""

    faults: list[Fault] = field(default_factory=list)
    kinds: Counter[str] = field(default_factory=Counter)
    more: int = 0

    def add(self, fault: Fault) -> None:
        """Keep *fault* if there is room for its kind, else count it."""
        self.kinds[fault.code] += 1
        if self.kinds[fault.code] <= LISTED:
            self.faults.append(fault)
        else:
            self.more += 1

    def count(self, unlisted: int) -> None:
        """Count faults that were not made out one by one."""
        self.more += unlisted

    def all(self, *, where: str) -> list[Fault]:
        """Return `LISTED` faults, at least one of each kind, and one that says how many more there are."""
        order = sorted(range(len(self.faults)), key=self._rank)
        shown = [self.faults[place] for place in sorted(order[: max(LISTED, len(self.kinds))])]
        more = self.more + len(self.faults) - len(shown)
        if not more:
            return shown
        return [*shown, Fault(code="more-faults", where=where, found=f"and {more} more faults like these")]

    def _rank(self, place: int) -> tuple[bool, int]:
        """The first of each kind before all others."""
        code = self.faults[place].code
        return any(earlier.code == code for earlier in self.faults[:place]), place


def merge_columns(columns: Sequence[tuple[RawColumn | None, int]]) -> Labelled:
    """Return one column of all files, each given with its number of rows: codes in the sorted order of the texts that are used."""
    used: set[str] = set()
    for column, _ in columns:
        if column is not None:
            present = np.bincount(column.codes[column.codes >= 0], minlength=len(column.labels)) > 0
            used.update(label for label, is_used in zip(column.labels, present.tolist(), strict=True) if is_used)
    labels = tuple(sorted(used))
    place = {label: code for code, label in enumerate(labels)}
    pieces = []
    for column, rows in columns:
        if column is None:
            pieces.append(np.full(rows, -1, dtype=np.int32))
            continue
        # The last entry answers code −1.
        codes = np.array([*(place.get(label, -1) for label in column.labels), -1], dtype=np.int32)
        pieces.append(codes[column.codes])
    return Labelled(codes=np.concatenate(pieces), labels=labels)
