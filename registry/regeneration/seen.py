"""Whether files are still those that were written, without reading each again: as Git's index, by size, times and number of the file.

A file whose digest was once compared, and of which nothing in its directory entry has changed since, is not read again. One that
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

from registry.records.folder import FolderFile
from registry.regeneration import names
from registry.regeneration.manifest import LARGEST_BYTES, write_whole

_INSTANT_NS = 50_000_000
"""Longer than the step in which any file system counts the times of files that it changes (ext4: 4 ms)."""

Mark = tuple[int, int, int, int]
"""Size, time of the content and of the directory entry (ns), number."""


class FileState(StrEnum):
    """What became of a file of the folder."""

    SOUND = "sound"
    GONE = "gone"
    ALTERED = "altered"
    """Other bytes, or no file at all but a folder or link."""


@dataclass(slots=True)
class Seen:
    """What was compared, and when."""

    marks: dict[str, tuple[Mark, str]] = field(default_factory=dict)
    """By path: the file as it was then, and the digest that it had."""
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
        marks = {str(name): (_mark(*numbers), str(digest)) for name, (*numbers, digest) in document.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return Seen()
    return Seen(marks=marks, before_ns=about.st_mtime_ns - _INSTANT_NS)


def write_seen(folder: Path, files: Iterable[FolderFile], compared: Mapping[str, Mark]) -> None:
    """Write down that each of *files* has its digest; those in *compared* as they were then, the others as they are."""
    marks: dict[str, list[int | str]] = {}
    for file in files:
        mark = compared.get(file.path) or find_mark(folder / file.path)
        if mark is not None:
            marks[file.path] = [*mark, file.sha256]
    write_whole(folder / names.SEEN, json.dumps(marks, separators=(",", ":")).encode())


def compare(folder: Path, files: Iterable[FolderFile], seen: Seen) -> tuple[dict[str, FileState], dict[str, Mark]]:
    """Return what became of each of *files*, by path, and as what those were seen that are sound."""
    states: dict[str, FileState] = {}
    marks: dict[str, Mark] = {}
    for file in files:
        mark = find_mark(folder / file.path)
        if (
            mark is not None
            and mark[0] == file.size_bytes
            and (_is_known(file, mark, seen) or _has_digest(folder / file.path, file.sha256))
        ):
            states[file.path], marks[file.path] = FileState.SOUND, mark
        else:
            states[file.path] = FileState.ALTERED if os.path.lexists(folder / file.path) else FileState.GONE
    return states, marks


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


def _is_known(file: FolderFile, mark: Mark, seen: Seen) -> bool:
    return seen.marks.get(file.path) == (mark, file.sha256) and mark[2] < seen.before_ns


def _has_digest(path: Path, sha256: str) -> bool:
    try:
        return digest_file(path) == sha256
    except OSError:
        return False


def _mark(*numbers: Any) -> Mark:
    size, changed, moved, number = map(int, numbers)
    return (size, changed, moved, number)
