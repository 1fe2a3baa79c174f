"""Score tables as JSONL: one object a line."""

import json
import math
from array import array
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from audit.errors import TableError
from audit.sources.score_columns import (
    COLUMNS,
    FLAGS,
    LISTED,
    MOST_COLUMNS,
    SYNONYMS,
    ColumnSelection,
    FaultList,
    RawColumn,
    RawTable,
    build_too_wide,
    find_columns,
    list_unknown,
)
from registry.errors import Fault

_LONGEST = 2**63
_LONGEST_LINE = 20_000_000


class _TextCodes:
    """Gives each text its code."""

    def __init__(self) -> None:
        self.codes = array("i")
        self.known: dict[str, int] = {}

    def add(self, text: str | None) -> None:
        self.codes.append(-1 if text is None else self.known.setdefault(text, len(self.known)))

    def build(self) -> RawColumn:
        return RawColumn(codes=np.frombuffer(self.codes, dtype=np.int32), labels=tuple(self.known))


class _RowBuffer:
    """Rows of one file as they come in."""

    def __init__(self, name: str, selection: ColumnSelection) -> None:
        self.name = name
        self.selection = selection
        self.read = 0
        self.texts = {column: _TextCodes() for column in COLUMNS if column != "score"}
        self.extras = {column: _TextCodes() for column in selection.names}
        self.seen: dict[str, set[str]] = {column: set() for column in selection.where}
        self.score, self.rows = array("d"), array("q")
        self.empty = bytearray()
        self.strange: dict[int, str] = {}
        self.beyond = array("q")
        self.faults = FaultList()
        self.keys: dict[str, None] = {}

    def add(self, number: int, line: bytes) -> None:
        row = self._parse(number, line)
        if row is None:
            return
        if "side" in row:
            if "arm" in row:
                self._fault("duplicate-column", number, "arm", "both arm and side are there; they are two words for one column")
            row["arm"] = row.get("arm", row["side"])
        self.keys.update(dict.fromkeys(row))
        # Every line may bring new keys, so the width is limited while reading.
        if len(self.keys) > MOST_COLUMNS:
            raise TableError(build_too_wide(self.name, f"its rows have more than {MOST_COLUMNS:,} keys by line {number}"))
        self.read += 1
        # Rows that are not chosen are gone before any check: they may belong to another evaluation.
        if self.seen and not self._is_chosen(row):
            return
        for column, interner in self.texts.items():
            interner.add(self._read_text(number, column, row.get(column)))
        for column, interner in self.extras.items():
            interner.add(_read_any(row, column) or None)
        self._add_score(row.get(self.selection.score))
        self.rows.append(number)

    def _is_chosen(self, row: dict[str, Any]) -> bool:
        chosen = True
        for column, seen in self.seen.items():
            value = _read_any(row, column)
            seen.add(value)
            # No early exit: the values of every column are needed for the message about a value that no row has.
            chosen &= value in self.selection.where[column]
        return chosen

    def _parse(self, number: int, line: bytes) -> dict[str, Any] | None:
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            # orjson rejects NaN, as the standard does. NaN is the usual way to write a missing number, so it gets a
            # message of its own.
            problem = "NaN is not JSON; write null" if b"NaN" in line else f"the line is not JSON: {error}"
            self.faults.add(Fault("not-json", f"{self.name}, line {number}", problem))
            return None
        if not isinstance(row, dict):
            problem = f"expected an object, found {type(row).__name__}"
            self.faults.add(Fault("not-json", f"{self.name}, line {number}", problem))
            return None
        # More ends of keys than keys: a key occurs twice, or objects and texts inside the line contain some.
        if line.count(b'":') + line.count(b'" :') > len(row):
            self._check_keys(number, line)
        return row

    def _check_keys(self, number: int, line: bytes) -> None:
        """Refuse a key that stands twice in the line: orjson keeps the last one without a word."""
        keys: list[str] = []

        def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            keys[:] = [key for key, _ in pairs]
            return dict(pairs)

        # The outermost object is closed last, so its keys are the last ones that were added.
        json.loads(line, object_pairs_hook=keep)
        for key, count in Counter(keys).items():
            if count > 1 and (key in COLUMNS or key in {*SYNONYMS, self.selection.score, *self.selection.names, *self.selection.where}):
                self._fault("duplicate-column", number, key, f"the key occurs {count} times")

    def _read_text(self, number: int, column: str, value: object) -> str | None:
        if value is None or value == "":
            return None
        if isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if column == "weight" and isinstance(value, float):
            return repr(value)
        if column in FLAGS and isinstance(value, bool):
            return "yes" if value else "no"
        self._fault("bad-name", number, column, f"expected a text or a whole number, found {_show(value)}")
        return "?"

    def _add_score(self, value: object) -> None:
        self.empty.append(value is None or value == "")
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LONGEST:
            self.score.append(float(value))
            return
        if value is not None and value != "":
            if len(self.strange) < LISTED:
                self.strange[len(self.score)] = _show(value)
            else:
                self.beyond.append(len(self.score))
        self.score.append(math.nan)

    def _fault(self, code: str, number: int, column: str, text: str, advice: str | None = None) -> None:
        self.faults.add(Fault(code, f"{self.name}, line {number}, column {column}", text, advice=advice))


def _read_any(row: dict[str, Any], column: str) -> str:
    """The value of a column of any kind as a text, an empty one where there is nothing."""
    value = row.get("arm" if column == "side" else column)
    return "" if value is None else value if isinstance(value, str) else orjson.dumps(value).decode()


def _show(value: object) -> str:
    """A value as it would stand in JSON, cut to what a message can hold."""
    return (repr(value) if isinstance(value, float) else orjson.dumps(value).decode())[:40]


def read_jsonl(path: Path, selection: ColumnSelection, *, name: str, sha256: str) -> RawTable:
    """Return the rows of a JSONL file; blank lines are skipped, integers become texts in id columns.

    Raises:
        TableError: a line is no object, an id no text, or a column is missing everywhere.
    """
    lines = _RowBuffer(name, selection)
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(_LONGEST_LINE + 1), b""), start=1):
            if len(line) > _LONGEST_LINE:
                raise TableError(build_too_wide(name, f"line {number} has more than {_LONGEST_LINE:,} bytes"))
            content = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
            if content.strip():
                lines.add(number, content)
    names = [key for key in lines.keys if not (key == "arm" and "side" in lines.keys)]
    columns, faults = find_columns(names, selection, where=name) if lines.read else ({}, [])
    faults = [*faults, *lines.faults.all(where=name)]
    if faults:
        raise TableError(faults)
    return RawTable(
        name=name,
        sha256=sha256,
        columns={column: interner.build() for column, interner in lines.texts.items() if column in columns},
        score=np.frombuffer(lines.score, dtype=np.float64),
        empty=np.frombuffer(bytes(lines.empty), dtype=np.bool_),
        row_word="line",
        first_row=1,
        rows=np.frombuffer(lines.rows, dtype=np.int64),
        texts=lines.strange,
        texts_beyond=np.frombuffer(lines.beyond, dtype=np.int64).astype(np.intp),
        score_name=selection.score,
        extras={column: interner.build() for column, interner in lines.extras.items()},
        seen={column: frozenset(values) for column, values in lines.seen.items()},
        unknown=list_unknown(names, columns),
        rows_read=lines.read,
    )
