"""Logs of one JSON object a line, read as they are: NaN and all, with every line that is none told at once."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.errors import TableError
from audit.sources.raw import FaultList
from registry.errors import Fault

_LARGEST_BYTES = 4_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One object of a log."""

    number: int
    """Counted from 1, blank lines included."""
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """A log as a whole."""

    name: str
    sha256: str
    lines: tuple[Line, ...]


def read_lines(path: Path, *, without: Collection[str] = ()) -> Lines:
    """Return the objects of a JSONL file; NaN is kept, for the reader to say what it means.

    Args:
        path: the file.
        without: keys whose values are dropped as each line is read: prompts and answers are what makes a log large.

    Raises:
        TableError: the file cannot be read or has no lines, or lines are no JSON objects, each of them told.
    """
    faults = FaultList()
    digest = hashlib.sha256()
    found: list[Line] = []
    try:
        if path.stat().st_size > _LARGEST_BYTES:
            found_bytes = f"the file has {path.stat().st_size:,} bytes; the largest that is read has {_LARGEST_BYTES:,}"
            raise TableError(Fault(code="file-too-large", where=str(path), found=found_bytes, advice="split it by task"))
        with path.open("rb") as file:
            for number, line in enumerate(file, start=1):
                digest.update(line)
                if line.strip():
                    found += _parse(line, number, str(path), faults, without)
    except OSError as error:
        unread = f"the file cannot be read: {error.strerror or error}"
        raise TableError(Fault(code="table-not-readable", where=str(path), found=unread, advice="check what the file is")) from error
    if faults.faults:
        raise TableError(faults.all(where=str(path)))
    if not found:
        raise TableError(Fault(code="table-empty", where=str(path), found="the file has no rows", advice="check that the log is whole"))
    return Lines(name=str(path), sha256=digest.hexdigest(), lines=tuple(found))


def _parse(line: bytes, number: int, name: str, faults: FaultList, without: Collection[str]) -> Iterator[Line]:
    where = f"{name}, line {number}"
    try:
        fields = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except (ValueError, RecursionError) as error:
        found = f"the line is not JSON: {error}"
        faults.add(Fault(code="line-not-json", where=where, found=found, advice="check that the log was written to its end"))
        return
    if isinstance(fields, dict):
        yield Line(number=number, fields={key: value for key, value in fields.items() if key not in without})
    else:
        faults.add(Fault(code="line-not-json", where=where, found=f"expected an object, found {type(fields).__name__}"))


def read_companion(path: Path) -> Mapping[str, Any] | None:
    """Return the object that a results file beside a log holds; None when there is no such file.

    Raises:
        TableError: the file is there and holds no object.
    """
    try:
        fields = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        found = f"the file beside the samples cannot be read: {error}"
        advice = "restore it, or take it away; the import then says that nothing states the counts"
        raise TableError(Fault(code="not-json", where=str(path), found=found, advice=advice)) from error
    if not isinstance(fields, dict):
        raise TableError(Fault(code="not-json", where=str(path), found=f"expected an object, found {type(fields).__name__}"))
    return fields


def find_unread(heavy: Collection[str], *names: str | None) -> frozenset[str]:
    """Return those of the *heavy* keys that none of the dotted *names* leads into."""
    return frozenset(heavy) - {(name or "").partition(".")[0] for name in names}


def dig(value: Any, name: str) -> Any:
    """Return what stands at the dotted *name* below *value*, or None where nothing does."""
    if isinstance(value, Mapping) and name in value:
        return value[name]
    first, dot, rest = name.partition(".")
    return dig(value[first], rest) if dot and isinstance(value, Mapping) and first in value else None


def as_text(value: object) -> str | None:
    """Return a text, number or truth value as a text without white space around it; None for anything else, and for an empty text."""
    if isinstance(value, str):
        # Half a surrogate pair is no character and could not be written.
        return value.strip().encode("utf-8", "replace").decode("utf-8") or None
    return json.dumps(value) if isinstance(value, bool | int | float) else None
