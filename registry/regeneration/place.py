"""A supplement is put into the folder. Published and signed files stay where they are; only drafts are replaced.

In this order: the new files are written under other names and synced; a line is added to the journal and synced; the new files are
renamed. Killed before that line, nothing has changed; after it, `settle` renames what is left to rename.
"""

import hashlib
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from registry.atomic import put_in_place, sync_folders, write_part
from registry.records.statement import OutputFormat
from registry.regeneration import names
from registry.regeneration.folder_document import FolderFile, FolderItem, SupersededFiles
from registry.regeneration.manifest import Journal, list_journaled
from registry.regeneration.seen import digest_file


def place(
    folder: Path,
    item: FolderItem,
    drawn: Mapping[OutputFormat, bytes],
    *,
    before: FolderItem | None,
    fixed: Collection[str],
    why: str,
    journal: Journal,
) -> FolderItem:
    """Put the files of *drawn* in place, and return what is known of the supplement from then on.

    Args:
        folder: the folder.
        item: what will be known of the supplement, without files and without earlier ones.
        drawn: files by format.
        before: what was known of it; None for a new one.
        fixed: paths of files that stay as they are.
        why: why the new files supersede those of *before*.
        journal: gets a line.
    """
    files = tuple(_describe(folder, item, format_, data, before=before, fixed=fixed) for format_, data in drawn.items())
    for one in files:
        write_part(folder / one.path, drawn[one.format])
    sync_folders([folder / one.path for one in files])
    item = _complete(item, files, before=before, fixed=fixed, why=why)
    journal.add(item)
    _rename(folder, item)
    return item


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


def choose_path(folder: Path, name: str, format_: OutputFormat, *, draft: str | None, log_size: int) -> str:
    """Return where a file goes: in the place of a draft, or where nothing is.

    Args:
        draft: path of the file of the same supplement that may be replaced, or that is gone; None where there is none.
        log_size: entries that the new file is made from.
    """
    if draft is not None:
        return draft
    return next(path for path in names.list_names(name, format_, log_size=log_size) if not os.path.lexists(folder / path))


def _describe(
    folder: Path, item: FolderItem, format_: OutputFormat, data: bytes, *, before: FolderItem | None, fixed: Collection[str]
) -> FolderFile:
    old = next((one.path for one in (before.files if before else ()) if one.format is format_), None)
    draft = None if old in fixed else old
    path = choose_path(folder, item.name, format_, draft=draft, log_size=item.log_size)
    return FolderFile(format=format_, path=path, sha256=hashlib.sha256(data).hexdigest(), size_bytes=len(data))


def _complete(item: FolderItem, files: Sequence[FolderFile], *, before: FolderItem | None, fixed: Collection[str], why: str) -> FolderItem:
    """Return *item* with its files, and with those that they supersede and that stay."""
    if before is None:
        return replace(item, files=tuple(files))
    is_anew = item.record != before.record or item.template != before.template
    there = {one.format: one for one in before.files} | {one.format: one for one in files}
    kept = tuple(one for one in before.files if one.path in fixed and there[one.format] is not one)
    earlier = before.earlier
    if kept:
        earlier = (*earlier, SupersededFiles(log_size=before.log_size, files=kept, by=item.log_size, why=why))
    return replace(
        item, files=tuple(there[one] for one in OutputFormat if one in there), earlier=earlier, why=why if is_anew else before.why
    )


def _rename(folder: Path, item: FolderItem) -> None:
    """Put the files of *item* in place that were written for it and are not there yet."""
    written = []
    for one in item.files:
        part = folder / names.name_part(one.path)
        if part.is_file() and digest_file(part) == one.sha256:
            written.append(folder / one.path)
    put_in_place(written)
