"""A supplement takes its place in the folder, and what it takes the place of is kept, byte for byte and with its proof.

In this order: the new files are written under other names; the old ones get a second name, their proofs move after them;
a line is added to the journal; the new files are renamed. Killed before that line, nothing has changed but that old files have a second
name; after it, `settle` renames what is left to rename.
"""

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from registry.codec.files import write_file
from registry.records.folder import FolderFile, FolderItem, Replaced
from registry.records.publication import OutputFormat
from registry.regeneration import names
from registry.regeneration.manifest import Journal, list_journaled
from registry.regeneration.seen import digest_file


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawing:
    """A file that was drawn."""

    data: bytes
    unsigned: str | None = None
    """SHA-256 of it before it was signed, hexadecimal; None where it is not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """What became of a supplement that took its place."""

    item: FolderItem
    strays: tuple[str, ...]
    """Where files are kept that stood in their place and are none that were drawn there."""


def place(
    folder: Path,
    item: FolderItem,
    drawn: Mapping[OutputFormat, Drawing],
    *,
    before: FolderItem | None,
    why: str,
    journal: Journal,
) -> Placed:
    """Put the files of *drawn* in place.

    Args:
        folder: the folder.
        item: what will be known of the supplement, without files and without what it takes the place of.
        drawn: files by format.
        before: what was known of it; None for a new one.
        why: why it takes the place of another.
        journal: gets a line.
    """
    files = tuple(_describe(item.name, format_, drawing) for format_, drawing in drawn.items())
    for one in files:
        write_file(folder / names.name_part(one.path), drawn[one.format].data)
    known = {one.path: one for one in before.files} if before else {}
    moved: list[FolderFile] = []
    strays: list[str] = []
    for one in files:
        old = known.get(one.path)
        kept, stray = _keep(folder, item.name, one, old, log_size=before.log_size if before else 0)
        moved += [kept] if kept else []
        strays += [stray] if stray else []
    item = _complete(item, files, before=before, moved=moved, why=why)
    journal.add(item)
    _rename(folder, item)
    return Placed(item=item, strays=tuple(strays))


def settle(folder: Path) -> int:
    """Put in place what a command that did not end has drawn; return of how many supplements."""
    items = list_journaled(folder)
    for item in items:
        _rename(folder, item)
    return len(items)


def sweep(folder: Path) -> None:
    """Remove what was being written when a command was killed."""
    for path in folder.glob(".*.part"):
        if names.is_part(path.name):
            path.unlink()


def _describe(name: str, format_: OutputFormat, drawing: Drawing) -> FolderFile:
    path, sha256 = names.name_file(name, format_), hashlib.sha256(drawing.data).hexdigest()
    return FolderFile(format=format_, path=path, sha256=sha256, size_bytes=len(drawing.data), unsigned=drawing.unsigned)


def _complete(
    item: FolderItem, files: Sequence[FolderFile], *, before: FolderItem | None, moved: Sequence[FolderFile], why: str
) -> FolderItem:
    there = {one.format: one for one in (before.files if before else ())} | {one.format: one for one in files}
    replaced = before.replaced if before else ()
    if before and moved:
        replaced = (*replaced, Replaced(log_size=before.log_size, files=tuple(moved), by=item.log_size, why=why))
    return replace(item, files=tuple(there[one] for one in OutputFormat if one in there), replaced=replaced)


def _keep(folder: Path, name: str, new: FolderFile, old: FolderFile | None, *, log_size: int) -> tuple[FolderFile | None, str | None]:
    """Keep what stands where *new* will: as a file that was drawn here, or as one that was not."""
    path = folder / new.path
    is_there = os.path.lexists(path)
    digest = digest_file(path) if path.is_file() else None
    if digest == new.sha256:
        return None, None
    kept: FolderFile | None = None
    stray: str | None = None
    if old is not None and digest == old.sha256:
        kept = replace(old, path=_link(folder, path, name, old, log_size))
    elif is_there:
        stray = _put_aside(folder, path, names.name_stray(name, new.format, digest=digest or "0" * 12))
    if old is not None and old.sha256 != new.sha256:
        _move_proof(folder, path, names.name_replaced(name, new.format, log_size=log_size, digest=old.sha256))
    return kept, stray


def _link(folder: Path, path: Path, name: str, old: FolderFile, log_size: int) -> str:
    """Give the file at *path* a second name, and return it."""
    kept = names.name_replaced(name, old.format, log_size=log_size, digest=old.sha256)
    target = folder / kept
    if os.path.lexists(target) and not (target.is_file() and digest_file(target) == old.sha256):
        _put_aside(folder, target, f"{target.stem}.edited{target.suffix}")
    if not os.path.lexists(target):
        _copy(path, target)
    return kept


def _copy(path: Path, target: Path) -> None:
    try:
        os.link(path, target)
    except OSError:  # a file system without hard links
        part = target.with_name(f".{target.name}.part")
        shutil.copyfile(path, part)
        os.replace(part, target)  # noqa: PTH105  (the point is that it is atomic)


def _put_aside(folder: Path, path: Path, kept: str) -> str:
    """Move what was never drawn here (an edited file, another one, a folder, a link) out of the way."""
    target, number = folder / kept, 1
    while os.path.lexists(target):
        number += 1
        target = (folder / kept).with_name(f"{Path(kept).stem}-{number}{Path(kept).suffix}")
    path.rename(target)
    return target.relative_to(folder).as_posix()


def _move_proof(folder: Path, path: Path, kept: str) -> None:
    """Move the proof of a file after it: beside another one it would prove nothing."""
    proof, target = path.with_name(path.name + names.PROOF), folder / f"{kept}{names.PROOF}"
    if not proof.is_file():
        return
    if os.path.lexists(target) and target.read_bytes() != proof.read_bytes():
        target = target.with_name(f"{target.name}.{hashlib.sha256(proof.read_bytes()).hexdigest()[:12]}")
    os.replace(proof, target)  # noqa: PTH105  (what is there already has the same bytes)


def _rename(folder: Path, item: FolderItem) -> None:
    """Put the files of *item* in place that were written for it and are not there yet."""
    for one in item.files:
        part = folder / names.name_part(one.path)
        if part.is_file() and digest_file(part) == one.sha256:
            os.replace(part, folder / one.path)  # noqa: PTH105  (the point is that it is atomic)
