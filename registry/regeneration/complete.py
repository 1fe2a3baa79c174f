"""A folder that was drawn into is completed: the change report, the page that lists all, the feed, and last the manifest."""

import hashlib
import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from registry.atomic import replace_file, replace_files
from registry.changes import collect_changes
from registry.errors import CaveatError
from registry.publishing import Facts, Written, holds_drawing
from registry.records.statement import OutputFormat
from registry.records.supplement import ChangeReport
from registry.regeneration import names
from registry.regeneration.draw import OpenView, Pen
from registry.regeneration.feed import render_feed
from registry.regeneration.folder_document import Folder, FolderFile, FolderItem, FolderReport
from registry.regeneration.index import render_index
from registry.regeneration.look import Looked
from registry.regeneration.manifest import list_files, list_journaled, write_folder
from registry.regeneration.place import sweep
from registry.regeneration.plan import order_names
from registry.regeneration.seen import Mark, find_mark, write_seen
from registry.report.html import digest_record
from registry.report.workers import Job, render_many

Sign = Callable[[bytes], bytes]
"""Signs a PDF."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """What a folder was completed with."""

    paths: tuple[Path, ...]
    """Of the change report, the list and the feed."""
    report: FolderReport | None
    """The change report; None where there is none to be made."""
    errors: tuple[CaveatError, ...]
    """Why the change report, or a format of it, could not be drawn."""


def begin(looked: Looked) -> Folder:
    """Return the folder as the journal of a new one begins."""
    if looked.known is not None:
        return looked.known
    log = looked.log
    return Folder(log_origin=log.origin, log_size=log.size, root=log.root, began=log.size, items=())


def list_written(folder: Path) -> list[Written]:
    """Return the files that were drawn since the folder was last completed, also by a command that did not end."""
    return [one for item in sorted(list_journaled(folder), key=lambda one: order_names(one.name)) for one in describe(folder, item)]


def complete(folder: Path, looked: Looked, *, open_view: OpenView, is_whole: bool, pen: Pen, sign: Sign | None) -> Completed:
    """Write the change report, `index.html`, `feed.xml` and the manifest, and end the journal.

    Args:
        folder: it is held, and everything due was drawn and, if asked for, published.
        looked: what was found before that.
        open_view: opens the registry.
        is_whole: whether all of the registry was asked for; only then is there a change report, and does the next one begin here.
        pen: how it is drawn.
        sign: signs the PDF of the change report; None to leave it unsigned.
    """
    items = {one.name: one for one in begin(looked).items} | {one.name: one for one in list_journaled(folder)}
    known = replace(begin(looked), items=tuple(items[name] for name in sorted(items)))
    report: FolderReport | None = None
    errors: tuple[CaveatError, ...] = ()
    if is_whole and looked.is_complete:
        report, errors = _report(folder, looked, known.log_size, open_view=open_view, pen=pen, sign=sign)
    if is_whole:
        known = replace(known, log_size=looked.log.size, root=looked.log.root)
    if report is not None:
        known = replace(known, reports=(*(one for one in known.reports if one.name != report.name), report))
    known = _forget_gone(folder, known)
    proofs = frozenset(path.name for path in folder.glob(f"*{names.PROOF}"))
    index, feed = render_index(known, proofs=proofs), render_feed(known)
    known = replace(known, index=hashlib.sha256(index).hexdigest(), feed=hashlib.sha256(feed).hexdigest())
    replace_files([(folder / names.INDEX, index), (folder / names.FEED, feed)])
    sweep(folder)
    write_folder(folder, known)
    write_seen(folder, list_files(known), {path: (mark, looked.states[path]) for path, mark in _list_untouched(folder, looked)})
    reported = [folder / file.path for file in (report.files if report else ())]
    return Completed(paths=(*reported, folder / names.INDEX, folder / names.FEED), report=report, errors=errors)


def _list_untouched(folder: Path, looked: Looked) -> Iterator[tuple[str, Mark]]:
    """Give the files that are as they were when the folder was looked at, each as what it was seen."""
    return ((path, mark) for path, mark in looked.marks.items() if find_mark(folder / path) == mark)


def _forget_gone(folder: Path, known: Folder) -> Folder:
    """Return *known* without earlier files and change reports that somebody took away since."""

    def keep(files: tuple[FolderFile, ...]) -> tuple[FolderFile, ...]:
        return tuple(one for one in files if (folder / one.path).is_file())

    items = (replace(item, earlier=tuple(replace(old, files=keep(old.files)) for old in item.earlier)) for item in known.items)
    reports = tuple(replace(one, files=keep(one.files)) for one in known.reports)
    return replace(known, items=tuple(items), reports=reports)


def describe(folder: Path, item: FolderItem) -> list[Written]:
    """Return the current files of *item* as they are told of and published."""
    facts = Facts(name=item.name, record=item.record, log_size=item.log_size, audit=item.audit)
    return [
        Written(
            name=item.name,
            format=one.format,
            path=folder / one.path,
            sha256=one.sha256,
            error=None,
            facts=facts,
            size_bytes=one.size_bytes,
        )
        for one in item.files
    ]


def _report(
    folder: Path, looked: Looked, since: int, *, open_view: OpenView, pen: Pen, sign: Sign | None
) -> tuple[FolderReport | None, tuple[CaveatError, ...]]:
    """Draw what changed from *since* on; nothing where nothing of any claim did."""
    size = looked.log.size
    if since >= size:
        return None, ()
    try:
        with open_view(since) as before, open_view(size) as after:
            changes = collect_changes(before, after)
    except CaveatError as error:
        return None, (error,)
    if not changes.changes and not changes.erased:
        return None, ()
    return _draw_report(folder, changes, looked.wish.formats, pen, sign)


def _draw_report(
    folder: Path, changes: ChangeReport, formats: Collection[OutputFormat], pen: Pen, sign: Sign | None
) -> tuple[FolderReport | None, tuple[CaveatError, ...]]:
    jobs = [Job(key=changes.identifier, supplement=changes, format=one) for one in OutputFormat if one in formats]
    made = list(render_many(jobs, workers=pen.workers, time_limit_s=pen.time_limit_s))
    errors = tuple(one.error for one in made if one.error is not None)
    files = [_write(folder, changes, one.format, one.data, sign) for one in made if one.data is not None]
    if not files:
        return None, errors
    return FolderReport(
        name=changes.identifier,
        since=changes.since,
        log_size=changes.log_size,
        made_at=changes.made_at,
        record=digest_record(changes),
        changed=len(changes.changes),
        newly_inverted=tuple(one.claim for one in changes.changes if one.newly_inverted),
        files=tuple(sorted(files, key=lambda one: list(OutputFormat).index(one.format))),
    ), errors


def _write(folder: Path, report: ChangeReport, format_: OutputFormat, drawn: bytes, sign: Sign | None) -> FolderFile:
    """Write a change report where nothing is, unless the same one is there."""
    name = report.identifier
    paths = names.list_names(name, format_, log_size=report.log_size)
    path = next(one for one in paths if not os.path.lexists(folder / one) or holds_drawing(folder / one, format_, drawn))
    if not os.path.lexists(folder / path):
        replace_file(folder / path, sign(drawn) if sign is not None and format_ is OutputFormat.PDF else drawn)
    return FolderFile(format=format_, path=path, sha256=hashlib.sha256(drawn).hexdigest(), size_bytes=len(drawn))
