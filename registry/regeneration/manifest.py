"""What is known of a folder, on disk: the manifest, and the journal that is written ahead of it.

A line of the journal is a `FolderItem`, written when its files are drawn whole under other names and before they take their places. So
whatever ends the command, the next one puts in place what is in the journal and draws only the rest. Files, journal and manifest are
synced before anything relies on them: a file that nothing names counts as somebody else's, and is in the way.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TypeVar

from registry.atomic import replace_file
from registry.codec.canonical import canonical_bytes
from registry.codec.documents import from_json, to_document
from registry.errors import ConflictError, Fault, InputError
from registry.records.record import Record
from registry.regeneration import names
from registry.regeneration.folder_document import Folder, FolderFile, FolderItem

Noun = TypeVar("Noun", bound=Record)

LARGEST_BYTES = 500_000_000
"""A larger manifest or journal is refused unread: a million supplements need less."""
_ADVICE = "regenerate into another folder, or move the manifest away: then all is drawn again and what is there is kept under another name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """The log that a folder is drawn from."""

    origin: str
    size: int
    root: str


@contextmanager
def hold_folder(path: Path) -> Iterator[None]:
    """Hold the folder until the context ends; the lock is the system's, so that a killed process holds nothing.

    Raises:
        ConflictError: `folder-busy`, another process holds it.
    """
    import fcntl  # noqa: PLC0415  (of POSIX alone)

    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            found, advice = "another process is drawing into it", "wait until that one has ended, or stop it with Ctrl-C"
            raise ConflictError(Fault(code="folder-busy", where=str(path), found=found, advice=advice)) from error
        yield
    finally:
        os.close(descriptor)


def read_folder(path: Path, log: Log) -> Folder | None:
    """Return what the manifest says, brought up to what the journal says; None where there is neither.

    Nothing is changed: `settle` puts in place what a killed command left.

    Raises:
        InputError: `file-too-large`, not a manifest (with every fault), `folder-name`, `folder-of-another-log`, `folder-ahead`.
    """
    manifest, journal = path / names.MANIFEST, path / names.JOURNAL
    known = _read(Folder, _read_bytes(manifest), manifest) if manifest.exists() else None
    head, *lines = (_read_lines(journal) if journal.exists() else []) or [b""]
    begun = _read(Folder, head, journal) if head else None
    for one, where in ((known, manifest), (begun, journal)):
        if one is not None:
            check_folder(one, log, where=where)
    if known is None and begun is None:
        return None
    base = known or begun
    assert base is not None  # noqa: S101  (one of the two is there)
    items = {one.name: one for one in base.items}
    for line in lines:
        item = _read(FolderItem, line, journal)
        _check_names(item, journal)
        items[item.name] = item
    return replace(base, items=tuple(items[name] for name in sorted(items)))


def check_folder(folder: Folder, log: Log, *, where: Path) -> None:
    """Refuse a manifest that another registry made, that is ahead of this one, or that names files as no folder of ours does."""
    if folder.log_origin != log.origin:
        found = f"it is of the log {folder.log_origin or 'without a name'}, and this registry's is {log.origin or 'without a name'}"
        raise InputError(Fault(code="folder-of-another-log", where=str(where), found=found, advice=_ADVICE))
    if folder.log_size > log.size:
        found = f"it was drawn from {folder.log_size:,} entries, and this registry has {log.size:,}"
        advice = "name the registry that it was drawn from, or regenerate into another folder"
        raise InputError(Fault(code="folder-ahead", where=str(where), found=found, advice=advice))
    for item in folder.items:
        _check_names(item, where)
    for report in folder.reports:
        if not names.is_report(report.name) or not all(names.is_file_of(one.path, report.name, one.format) for one in report.files):
            raise InputError(_misnamed(where, report.name))


def check_root(folder: Folder, root: str, *, where: Path) -> None:
    """Refuse a folder whose log had another *root* at its size: its entries are not those of this registry."""
    if folder.root is not None and folder.root != root:
        found = f"the root over its {folder.log_size:,} entries is {folder.root[:16]}…, and this registry's is {root[:16]}…"
        raise InputError(Fault(code="folder-of-another-log", where=str(where / names.MANIFEST), found=found, advice=_ADVICE))


def write_folder(path: Path, folder: Folder) -> None:
    """Write the manifest, whole or not at all, and end the journal."""
    replace_file(path / names.MANIFEST, canonical_bytes(to_document(folder)))
    (path / names.JOURNAL).unlink(missing_ok=True)


class Journal:
    """The journal, opened to be added to. It begins with the folder as it will be called, without items."""

    def __init__(self, path: Path, folder: Folder) -> None:
        self._path = path / names.JOURNAL
        self._head = canonical_bytes(to_document(replace(folder, items=(), reports=())))
        self._file: IO[bytes] | None = None

    def add(self, item: FolderItem) -> None:
        """Write a line; it is whole and on the disk when this returns."""
        if self._file is None:
            self._file = self._open()
        self._file.write(canonical_bytes(to_document(item)) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _open(self) -> IO[bytes]:
        """Begin it, or go on after its last whole line."""
        whole = b"".join(line + b"\n" for line in _read_lines(self._path)) if self._path.exists() else b""
        if not whole:
            replace_file(self._path, self._head + b"\n")
        file = self._path.open("r+b")
        file.truncate(len(whole) or len(self._head) + 1)
        file.seek(0, os.SEEK_END)
        return file


def list_journaled(path: Path) -> tuple[FolderItem, ...]:
    """Return what the journal of a command that did not end says, each name once and as it was last; `read_folder` has checked it."""
    journal = path / names.JOURNAL
    lines = _read_lines(journal)[1:] if journal.exists() else []
    items = (_read(FolderItem, line, journal) for line in lines)
    return tuple({one.name: one for one in items}.values())


def list_files(folder: Folder) -> list[FolderFile]:
    """Return every file that the manifest knows the digest of: those of today, earlier ones, and change reports."""
    current = [file for item in folder.items for file in item.files]
    earlier = [file for item in folder.items for old in item.earlier for file in old.files]
    return [*current, *earlier, *(file for report in folder.reports for file in report.files)]


def _check_names(item: FolderItem, where: Path) -> None:
    files = [*item.files, *(one for old in item.earlier for one in old.files)]
    is_ours = names.SUBJECT.fullmatch(item.name) and len({one.format for one in item.files}) == len(item.files)
    if not is_ours or not all(names.is_file_of(one.path, item.name, one.format) for one in files):
        raise InputError(_misnamed(where, item.name))


def _misnamed(where: Path, name: str) -> Fault:
    found = "its files are not called as those of a folder of supplements are"
    return Fault(code="folder-name", where=f"{where}, {name}", found=found, advice=_ADVICE)


def _read_bytes(path: Path) -> bytes:
    if path.stat().st_size > LARGEST_BYTES:
        raise InputError(Fault(code="file-too-large", where=str(path), found=f"it has more than {LARGEST_BYTES:,} bytes"))
    return path.read_bytes()


def _read_lines(path: Path) -> list[bytes]:
    """The whole lines of a journal: what follows the last line break was being written when the command ended."""
    return _read_bytes(path).split(b"\n")[:-1]


def _read(noun: type[Noun], text: bytes, where: Path) -> Noun:
    return from_json(noun, text, where=str(where))
