"""Whether files are still those that were written, without reading each again: as Git's index, by size, times and number of the file.

A file that was once compared, and of which nothing in its directory entry has changed since, is not read again. One that
changed in the instant in which this was written down is (Git's "racy" entries). What is written down is a convenience: without it, or
where it cannot be read, every file is.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from registry.atomic import replace_file
from registry.proving import name_proof
from registry.records.statement import OutputFormat
from registry.regeneration import names
from registry.regeneration.folder_document import FolderFile
from registry.regeneration.manifest import LARGEST_BYTES
from registry.report.enclosed import split_file

_INSTANT_NS = 50_000_000
"""Longer than the step in which any file system counts the times of files that it changes (ext4: 4 ms)."""

Mark = tuple[int, int, int, int]
"""Size, time of the content and of the directory entry (ns), number."""


class FileState(StrEnum):
    """What became of a file of the folder."""

    DRAWN = "drawn"
    """As it was drawn: a draft, which a newer one may replace."""
    SIGNED = "signed"
    """Signed, and without a proof that it was published."""
    PROVEN = "proven"
    """With its proof."""
    GONE = "gone"
    ALTERED = "altered"
    """Other bytes, or no file at all but a folder or link."""

    @property
    def is_there(self) -> bool:
        """Whether the file shows what was drawn."""
        return self in (FileState.DRAWN, FileState.SIGNED, FileState.PROVEN)

    @property
    def is_given_out(self) -> bool:
        """Whether somebody may hold the file to be valid, so that it stays as it is."""
        return self in (FileState.SIGNED, FileState.PROVEN)


@dataclass(slots=True)
class Seen:
    """What was compared, and when."""

    marks: dict[str, tuple[Mark, str, FileState]] = field(default_factory=dict)
    """By path: the file as it was then, the digest of what was drawn, and what became of it."""
    before_ns: int = 0
    """Marks of files that changed from this time on may miss a change."""


def read_seen(folder: Path) -> Seen:
    """Return what was written down for *folder*; nothing where that cannot be read."""
    path = folder / names.SEEN
    try:
        about = path.stat()
        if about.st_size > LARGEST_BYTES:
            return Seen()
        document: Any = json.loads(path.read_bytes())
        marks = {str(name): (_mark(*numbers), str(digest), FileState(state)) for name, (*numbers, digest, state) in document.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return Seen()
    return Seen(marks=marks, before_ns=about.st_mtime_ns - _INSTANT_NS)


def write_seen(folder: Path, files: Iterable[FolderFile], compared: Mapping[str, tuple[Mark, FileState]]) -> None:
    """Write down what became of each of *files*; those in *compared* are not read again."""
    marks: dict[str, list[int | str]] = {}
    for file in files:
        mark, state = compared.get(file.path) or (find_mark(folder / file.path), find_state(folder, file))
        if mark is not None and state.is_there:
            marks[file.path] = [*mark, file.sha256, state.value]
    replace_file(folder / names.SEEN, json.dumps(marks, separators=(",", ":")).encode())


def compare(folder: Path, files: Iterable[FolderFile], seen: Seen) -> tuple[dict[str, FileState], dict[str, Mark]]:
    """Return what became of each of *files*, by path, and as what those were seen that are there."""
    states: dict[str, FileState] = {}
    marks: dict[str, Mark] = {}
    for file in files:
        mark = find_mark(folder / file.path)
        known = seen.marks.get(file.path)
        if mark is not None and known is not None and known[:2] == (mark, file.sha256) and mark[2] < seen.before_ns:
            states[file.path] = _find_json_state(folder, file) if file.format is OutputFormat.JSON else known[2]
        else:
            states[file.path] = find_state(folder, file)
        if mark is not None and states[file.path].is_there:
            marks[file.path] = mark
    return states, marks


def find_state(folder: Path, file: FolderFile) -> FileState:
    """Return what became of *file*, by reading it."""
    path = folder / file.path
    if not os.path.lexists(path):
        return FileState.GONE
    try:
        data = path.read_bytes() if find_mark(path) else b""
    except OSError:
        data = b""
    layers = split_file(data, file.format)
    if len(layers.drawn) != file.size_bytes or hashlib.sha256(layers.drawn).hexdigest() != file.sha256:
        return FileState.ALTERED
    if file.format is OutputFormat.JSON:
        return _find_json_state(folder, file)
    is_drawn = len(data) == len(layers.drawn)
    return FileState.PROVEN if layers.proof is not None else FileState.DRAWN if is_drawn else FileState.SIGNED


def find_mark(path: Path) -> Mark | None:
    """Return as what the file at *path* is seen; None where there is no plain file."""
    try:
        found = path.lstat()
    except OSError:
        return None
    return _mark(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino) if stat.S_ISREG(found.st_mode) else None


def digest_file(path: Path) -> str:
    """Return the SHA-256 of the file at *path*, hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _find_json_state(folder: Path, file: FolderFile) -> FileState:
    """A JSON file has its proof beside it."""
    return FileState.PROVEN if name_proof(folder / file.path).is_file() else FileState.DRAWN


def _mark(*numbers: Any) -> Mark:
    size, changed, moved, number = map(int, numbers)
    return (size, changed, moved, number)
