"""Files of a folder of supplements: their names, the manifest and journal, and changes to files on disk."""

import hashlib
import json
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import IO, Any, TypeVar

from registry.codec.canonical_documents import canonical_bytes, from_json, to_document
from registry.codec.file_io import lock_file, put_in_place, replace_file, sync_folders, write_part
from registry.errors import ConflictError, Fault, InputError
from registry.folder.folder_document import Folder, FolderFile, FolderItem, SupersededFiles
from registry.folder.supplement_publishing import name_proof
from registry.records.record import Record
from registry.records.statement import OutputFormat
from registry.report.published_file import split_file

# File names come from identifiers alone, so none can lead out of the folder.
#
# A newer rendering of a published file is put next to it as `NAME.entry-N.EXT`. The published file
# keeps its path, because readers have that path (decision of 2026-11-23). A subfolder would break
# the links between supplements, which are bare names; moving the older file with its proof would
# break its path. The cost: links lead to the first published file, and only `index.html` leads to
# the newest.

MANIFEST = "supplements.json"
JOURNAL = ".supplements.journal"
SEEN = ".supplements.seen"
INDEX = "index.html"
FEED = "feed.xml"
PROOF = ".tlog-proof"

_SUBJECT = r"(?:CLM|CRD)-[A-Z][A-Z0-9]{1,11}-[0-9]{4}-[0-9]{4,}-[0-9A-Z]@[1-9][0-9]{0,8}"
_REPORT = r"changes-[0-9]{1,16}-[0-9]{1,16}"
_EXTENSION = rf"\.(?:{'|'.join(output_format.value for output_format in OutputFormat)})"
SUBJECT = re.compile(_SUBJECT)
"""`CLM-…@n` or `CRD-…@n`, the whole of a name."""
_ENTRY = r"(?:\.entry-[0-9]{1,16}(?:-[0-9]{1,9})?)?"
_FILE = re.compile(rf"(?P<name>{_SUBJECT}|{_REPORT}){_ENTRY}{_EXTENSION}")
_OWN = "|".join(re.escape(name) for name in (MANIFEST, JOURNAL, SEEN, INDEX, FEED))
# Only parts of our own files: `sweep` removes what matches.
_PART = re.compile(rf"\.(?:(?:{_SUBJECT}|{_REPORT}){_ENTRY}{_EXTENSION}(?:{re.escape(PROOF)})?|{_OWN})\.part")


def name_file(name: str, format_: OutputFormat) -> str:
    """Return the path of the file of the supplement or report *name*, relative to its folder."""
    return f"{name}.{format_.value}"


def list_names(name: str, format_: OutputFormat, *, log_size: int) -> Iterator[str]:
    """Give the paths that a file may have, in order: its plain name, and where that is not free one with the entry that it is as of.

    Links lead to the plain name, so the first published file has it; it stays valid, and the list of the folder leads to the newest.
    """
    # The plain name comes first, since links lead to it.
    yield name_file(name, format_)
    yield f"{name}.entry-{log_size}.{format_.value}"
    # Several renderings of one entry can exist, for example with other templates.
    yield from (f"{name}.entry-{log_size}-{number}.{format_.value}" for number in count(2))


def name_part(path: str) -> str:
    """Return where *path* is written before it takes its place."""
    return f".{path}.part"


def is_file_of(path: str, name: str, format_: OutputFormat) -> bool:
    """Whether *path* is one that `list_names` gives for *name*."""
    match = _FILE.fullmatch(path)
    return match is not None and match["name"] == name and path.endswith(f".{format_.value}")


def is_report(name: str) -> bool:
    """Whether *name* is that of a change report."""
    return re.fullmatch(_REPORT, name) is not None


def is_part(path: str) -> bool:
    """Whether *path* is one that `name_part` gives for a file of ours."""
    return _PART.fullmatch(path) is not None


# Manifest and journal: a redo log (decision of 2026-11-22).
#
# A line of the journal is a `FolderItem`. It is written when the files are whole under other names,
# and before they take their places. Whatever ends the command, the next one puts in place what the
# journal has and renders only the rest. Files, journal and manifest are synced before anything
# relies on them: a file that nothing names counts as someone else's, and is in the way. The cost: a
# journal and a cache next to the manifest.

Noun = TypeVar("Noun", bound=Record)

LARGEST_BYTES = 500_000_000
"""A larger manifest or journal is refused unread: a million supplements need less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderLog:
    """The log that a folder is rendered from."""

    origin: str
    size: int
    root: str


@contextmanager
def hold_folder(path: Path) -> Iterator[None]:
    """Hold the folder until the context ends; the lock is the system's, so that a killed process holds nothing.

    Raises:
        ConflictError: `in-use`, another process holds it.
    """
    # The lock is on the folder itself, so no lock file is left behind.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
    try:
        # Without waiting: a rendering can take minutes.
        if not lock_file(descriptor, where=str(path)):
            raise ConflictError(Fault("in-use", str(path), "another process is drawing into it"))
        yield
    finally:
        os.close(descriptor)


def read_folder(path: Path, log: FolderLog) -> Folder | None:
    """Return what the manifest says, brought up to what the journal says; None where there is neither.

    Nothing is changed: `settle` puts in place what a killed command left.

    Raises:
        InputError: `file-too-large`, not a manifest (with every fault), `folder-name`, `folder-of-another-log`, `folder-ahead`.
    """
    manifest, journal = path / MANIFEST, path / JOURNAL
    # A new folder has a journal before it has a manifest.
    known = _read(Folder, _read_bytes(manifest), manifest) if manifest.exists() else None
    head, *lines = (_read_lines(journal) if journal.exists() else []) or [b""]
    begun = _read(Folder, head, journal) if head else None
    # Both are checked before any name in them is used as a path.
    for folder, where in ((known, manifest), (begun, journal)):
        if folder is not None:
            check_folder(folder, log, where=where)
    if known is None and begun is None:
        return None
    base = known or begun
    assert base is not None  # noqa: S101  (one of the two is there)
    # Later lines replace earlier ones.
    items = {folder_item.name: folder_item for folder_item in base.items}
    for line in lines:
        item = _read(FolderItem, line, journal)
        _check_names(item, journal)
        items[item.name] = item
    return replace(base, items=tuple(items[name] for name in sorted(items)))


def check_folder(folder: Folder, log: FolderLog, *, where: Path) -> None:
    """Refuse a manifest that another registry made, that is ahead of this one, or that names files as no folder of ours does."""
    if folder.log_origin != log.origin:
        problem = f"it is of the log {folder.log_origin or 'without a name'}, and this registry's is {log.origin or 'without a name'}"
        raise InputError(Fault("folder-of-another-log", str(where), problem))
    if folder.log_size > log.size:
        problem = f"it was rendered from {folder.log_size:,} entries, and this registry has {log.size:,}"
        raise InputError(Fault("folder-ahead", str(where), problem))
    for item in folder.items:
        _check_names(item, where)
    for report in folder.reports:
        # A forged name must not lead to files that are none of ours.
        if not is_report(report.name) or not all(is_file_of(file.path, report.name, file.format) for file in report.files):
            raise InputError(_misnamed(where, report.name))


def check_root(folder: Folder, root: str, *, where: Path) -> None:
    """Refuse a folder with a log that had another *root* at its size: its entries are not those of this registry."""
    if folder.root != root:
        problem = f"the root over its {folder.log_size:,} entries is {folder.root[:16]}…, and this registry's is {root[:16]}…"
        raise InputError(Fault("folder-of-another-log", str(where / MANIFEST), problem))


def write_folder(path: Path, folder: Folder) -> None:
    """Write the manifest, whole or not at all, and end the journal."""
    # The manifest first: killed in between, the journal is read once more and changes nothing.
    replace_file(path / MANIFEST, canonical_bytes(to_document(folder)))
    (path / JOURNAL).unlink(missing_ok=True)


class FolderJournal:
    """The journal, opened to be added to. It begins with the folder as it will be called, without items."""

    def __init__(self, path: Path, folder: Folder) -> None:
        self._path = path / JOURNAL
        # Without items: each of them comes as a line.
        self._head = canonical_bytes(to_document(replace(folder, items=(), reports=())))
        self._file: IO[bytes] | None = None

    def add(self, item: FolderItem) -> None:
        """Write a line; it is whole and on the disk when this returns."""
        if self._file is None:
            self._file = self._open()
        self._file.write(canonical_bytes(to_document(item)) + b"\n")
        self._file.flush()
        # `place` renames after this, so the line must be on the disk.
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            self._file.close()

    def _open(self) -> IO[bytes]:
        """Begin it, or go on after its last whole line."""
        # A line without its end was being written when the command ended; it is cut off.
        whole = b"".join(line + b"\n" for line in _read_lines(self._path)) if self._path.exists() else b""
        if not whole:
            replace_file(self._path, self._head + b"\n")
        file = self._path.open("r+b")
        file.truncate(len(whole) or len(self._head) + 1)
        file.seek(0, os.SEEK_END)
        return file


def list_journaled(path: Path) -> tuple[FolderItem, ...]:
    """Return what the journal of a command that did not end says, each name once and as it was last; `read_folder` has checked it."""
    journal = path / JOURNAL
    lines = _read_lines(journal)[1:] if journal.exists() else []
    items = (_read(FolderItem, line, journal) for line in lines)
    return tuple({item.name: item for item in items}.values())


def list_files(folder: Folder) -> list[FolderFile]:
    """Return every file that the manifest knows the digest of: those of today, earlier ones, and change reports."""
    current = [file for item in folder.items for file in item.files]
    earlier = [file for item in folder.items for old in item.earlier for file in old.files]
    return [*current, *earlier, *(file for report in folder.reports for file in report.files)]


def _check_names(item: FolderItem, where: Path) -> None:
    files = [*item.files, *(file for old in item.earlier for file in old.files)]
    # One file for each format: with two, one would be overlooked.
    is_ours = SUBJECT.fullmatch(item.name) and len({folder_file.format for folder_file in item.files}) == len(item.files)
    if not is_ours or not all(is_file_of(folder_file.path, item.name, folder_file.format) for folder_file in files):
        raise InputError(_misnamed(where, item.name))


def _misnamed(where: Path, name: str) -> Fault:
    return Fault("folder-name", f"{where}, {name}", "its files are not called as those of a folder of supplements are")


def _read_bytes(path: Path) -> bytes:
    # The size is asked before reading.
    if path.stat().st_size > LARGEST_BYTES:
        raise InputError(Fault("file-too-large", str(path), f"it has more than {LARGEST_BYTES:,} bytes"))
    return path.read_bytes()


def _read_lines(path: Path) -> list[bytes]:
    """The whole lines of a journal: what follows the last line break was being written when the command ended."""
    return _read_bytes(path).split(b"\n")[:-1]


def _read(noun: type[Noun], text: bytes, where: Path) -> Noun:
    return from_json(noun, text, where=str(where))


# Which files changed, without reading them all: as Git's index does, by size, times and inode.
#
# A file that was compared once, and whose directory entry is unchanged, is not read again. One that
# changed in the instant of writing this down is read (Git's "racy" entries). The list is a
# convenience: where it is missing or unreadable, every file is read.

_INSTANT_NS = 50_000_000
"""Longer than the step in which any file system counts the times of files that it changes (ext4: 4 ms)."""

FileMark = tuple[int, int, int, int]
"""Size, time of the content and of the directory entry (ns), number."""


class FileState(StrEnum):
    """Outcome of a file of the folder."""

    RENDERED = "rendered"
    """As it was rendered: a draft, which a newer one may replace."""
    SIGNED = "signed"
    """Signed, and without a proof that it was published."""
    PROVEN = "proven"
    """With its proof."""
    GONE = "gone"
    ALTERED = "altered"
    """Other bytes, or no file at all but a folder or link."""

    @property
    def is_there(self) -> bool:
        """Whether the file shows what was rendered."""
        return self in (FileState.RENDERED, FileState.SIGNED, FileState.PROVEN)

    @property
    def is_given_out(self) -> bool:
        """Whether a reader may hold the file to be valid, so that it stays as it is."""
        return self in (FileState.SIGNED, FileState.PROVEN)


@dataclass(slots=True)
class FileStates:
    """What was compared, and when."""

    marks: dict[str, tuple[FileMark, str, FileState]] = field(default_factory=dict)
    """By path: the file as it was then, the digest of what was rendered, and its status."""
    before_ns: int = 0
    """Marks of files that changed from this time on may miss a change."""


def read_seen(folder: Path) -> FileStates:
    """Return what was written down for *folder*; nothing where that cannot be read."""
    path = folder / SEEN
    try:
        about = path.stat()
        if about.st_size > LARGEST_BYTES:
            return FileStates()
        document: Any = json.loads(path.read_bytes())
        marks = {str(name): (_mark(*numbers), str(digest), FileState(state)) for name, (*numbers, digest, state) in document.items()}
    # Whatever is wrong with the list, reading every file is safe.
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return FileStates()
    return FileStates(marks=marks, before_ns=about.st_mtime_ns - _INSTANT_NS)


def write_seen(folder: Path, files: Iterable[FolderFile], compared: Mapping[str, tuple[FileMark, FileState]]) -> None:
    """Record the status of each of *files*; those in *compared* are not read again."""
    marks: dict[str, list[int | str]] = {}
    for file in files:
        mark, state = compared.get(file.path) or (find_mark(folder / file.path), find_state(folder, file))
        # Altered files are left out, so that they are read again each time.
        if mark is not None and state.is_there:
            marks[file.path] = [*mark, file.sha256, state.value]
    replace_file(folder / SEEN, json.dumps(marks, separators=(",", ":")).encode())


def compare(folder: Path, files: Iterable[FolderFile], seen: FileStates) -> tuple[dict[str, FileState], dict[str, FileMark]]:
    """Return the status of each of *files*, by path, and as what those were seen that are there."""
    states: dict[str, FileState] = {}
    marks: dict[str, FileMark] = {}
    for file in files:
        mark = find_mark(folder / file.path)
        known = seen.marks.get(file.path)
        # Same file, same expected digest, and written well before the list was.
        if mark is not None and known is not None and known[:2] == (mark, file.sha256) and mark[2] < seen.before_ns:
            # The proof of a JSON file is a file of its own and has its own changes.
            states[file.path] = _find_json_state(folder, file) if file.format is OutputFormat.JSON else known[2]
        else:
            states[file.path] = find_state(folder, file)
        if mark is not None and states[file.path].is_there:
            marks[file.path] = mark
    return states, marks


def find_state(folder: Path, file: FolderFile) -> FileState:
    """Return the outcome of *file*, by reading it."""
    path = folder / file.path
    # A broken link stands in the way, too.
    if not os.path.lexists(path):
        return FileState.GONE
    try:
        # A folder or link has no bytes of ours.
        data = path.read_bytes() if find_mark(path) else b""
    except OSError:
        data = b""
    layers = split_file(data, file.format)
    # The length first: it costs nothing.
    if len(layers.rendered) != file.size_bytes or hashlib.sha256(layers.rendered).hexdigest() != file.sha256:
        return FileState.ALTERED
    if file.format is OutputFormat.JSON:
        return _find_json_state(folder, file)
    # Neither proof nor signature: a draft.
    is_rendered = len(data) == len(layers.rendered)
    return FileState.PROVEN if layers.proof is not None else FileState.RENDERED if is_rendered else FileState.SIGNED


def find_mark(path: Path) -> FileMark | None:
    """Return as what the file at *path* is seen; None where there is no plain file."""
    try:
        # Not `stat`: a link must not pass for a file.
        status = path.lstat()
    except OSError:
        return None
    return _mark(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def digest_file(path: Path) -> str:
    """Return the SHA-256 of the file at *path*, hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _find_json_state(folder: Path, file: FolderFile) -> FileState:
    """A JSON file has its proof beside it."""
    return FileState.PROVEN if name_proof(folder / file.path).is_file() else FileState.RENDERED


def _mark(*numbers: Any) -> FileMark:
    size, changed, moved, number = map(int, numbers)
    return (size, changed, moved, number)


# A supplement is put into the folder. Published and signed files stay where they are; only drafts
# are replaced.
#
# The order: new files under other names, synced; a line in the journal, synced; then the new names.
# Killed before that line, nothing has changed; after it, `settle` completes the renames.


def place(
    folder: Path,
    item: FolderItem,
    rendered: Mapping[OutputFormat, bytes],
    *,
    before: FolderItem | None,
    fixed: Collection[str],
    why: str,
    journal: FolderJournal,
) -> FolderItem:
    """Put the files of *rendered* in place, and return what is known of the supplement from then on.

    Args:
        folder: the folder.
        item: what will be known of the supplement, without files and without earlier ones.
        rendered: files by format.
        before: what was known of it; None for a new one.
        fixed: paths of files that stay as they are.
        why: why the new files supersede those of *before*.
        journal: gets a line.
    """
    files = tuple(_describe(folder, item, format_, data, before=before, fixed=fixed) for format_, data in rendered.items())
    for folder_file in files:
        write_part(folder / folder_file.path, rendered[folder_file.format])
    # A name in the folder is on the disk only after this.
    sync_folders([folder / file.path for file in files])
    item = _complete(item, files, before=before, fixed=fixed, why=why)
    journal.add(item)
    _rename(folder, item)
    return item


def settle(folder: Path) -> int:
    """Put in place what a command that did not end has rendered; return of how many supplements."""
    items = list_journaled(folder)
    for item in items:
        _rename(folder, item)
    return len(items)


def is_interrupted(folder: Path) -> bool:
    """Whether a command that wrote into *folder* did not end."""
    # A kill while the cache is written comes after the journal is gone and leaves only a part.
    return (folder / JOURNAL).exists() or any(_list_parts(folder))


def sweep(folder: Path) -> None:
    """Remove what was being written when a command was killed."""
    for path in _list_parts(folder):
        path.unlink()


def _list_parts(folder: Path) -> Iterator[Path]:
    # Other hidden files are not ours to remove.
    return (path for path in folder.glob(".*.part") if is_part(path.name))


def choose_path(folder: Path, name: str, format_: OutputFormat, *, draft: str | None, log_size: int) -> str:
    """Return where a file goes: in the place of a draft, or where nothing is.

    Args:
        draft: path of the file of the same supplement that may be replaced, or that is gone; None where there is none.
        log_size: entries that the new file is made from.
    """
    if draft is not None:
        return draft
    # The entry in the name lets both files exist.
    return next(path for path in list_names(name, format_, log_size=log_size) if not os.path.lexists(folder / path))


def _describe(
    folder: Path, item: FolderItem, format_: OutputFormat, data: bytes, *, before: FolderItem | None, fixed: Collection[str]
) -> FolderFile:
    old = next((file.path for file in (before.files if before else ()) if file.format is format_), None)
    # Published or signed: a reader may hold it, so it is not replaced.
    draft = None if old in fixed else old
    path = choose_path(folder, item.name, format_, draft=draft, log_size=item.log_size)
    return FolderFile(format=format_, path=path, sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data))


def _complete(item: FolderItem, files: Sequence[FolderFile], *, before: FolderItem | None, fixed: Collection[str], why: str) -> FolderItem:
    """Return *item* with its files, and with those that they supersede and that stay."""
    if before is None:
        return replace(item, files=tuple(files))
    # The same record from the same templates keeps its earlier reason.
    is_anew = item.record != before.record or item.template != before.template
    there = {file.format: file for file in before.files} | {folder_file.format: folder_file for folder_file in files}
    # Files that stay, and that newer ones supersede.
    kept = tuple(folder_file for folder_file in before.files if folder_file.path in fixed and there[folder_file.format] is not folder_file)
    earlier = before.earlier
    if kept:
        earlier = (*earlier, SupersededFiles(log_size=before.log_size, files=kept, by=item.log_size, why=why))
    return replace(
        item,
        files=tuple(there[output_format] for output_format in OutputFormat if output_format in there),
        earlier=earlier,
        why=why if is_anew else before.why,
    )


def _rename(folder: Path, item: FolderItem) -> None:
    """Put the files of *item* in place that were written for it and are not there yet."""
    written = []
    for file in item.files:
        part = folder / name_part(file.path)
        # A part of another run, or half a part, is not put in place.
        if part.is_file() and digest_file(part) == file.sha256:
            written.append(folder / file.path)
    put_in_place(written)
