"""A folder is brought up to date: drawn, published if asked for, completed. All commands that keep a folder go through here."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from registry.errors import CaveatError, ConflictError
from registry.proving import Publisher, publish_files
from registry.publishing import Written, refuse_place, sign_written
from registry.records.folder import FolderItem
from registry.records.publication import OutputFormat
from registry.regeneration.complete import Completed, begin, complete, describe
from registry.regeneration.draw import Failed, OpenView, Pen, carry_out
from registry.regeneration.look import Looked
from registry.regeneration.manifest import list_journaled
from registry.regeneration.place import settle
from registry.report.signature import sign_pdf


@dataclass(frozen=True, slots=True, kw_only=True)
class Updated:
    """What a folder was brought up to date with."""

    drawn: tuple[Written, ...]
    """Files of the supplements that were drawn, also by a command that did not end."""
    published: tuple[Written, ...]
    """Files that were published."""
    has_proofs: bool
    """Whether those have their proofs; without a log key they have none."""
    current: tuple[Written, ...]
    """All files of what was asked for, drawn now or before, in the formats asked for."""
    failed: tuple[Failed, ...]
    completed: Completed

    @property
    def errors(self) -> tuple[CaveatError, ...]:
        """Why something could not be drawn."""
        return (*(one.error for one in self.failed), *self.completed.errors)


def update(
    folder: Path,
    looked: Looked,
    *,
    open_view: OpenView,
    time_limit_s: float,
    publisher: Publisher,
    sign: bool,
    is_whole: bool,
    progress: Callable[[int], None],
) -> Updated:
    """Draw what is due in *folder*, publish or sign it if asked for, and write the list, the feed and the manifest.

    Of a folder that is settled there is nothing to be done: `list_current` tells what is there.

    Args:
        folder: it is held by this process.
        looked: what was found in it.
        open_view: opens the registry.
        time_limit_s: for each file.
        publisher: records and signs; published is what `looked.wish` says.
        sign: whether PDF files are signed, with the publisher's key, although they are not published.
        is_whole: whether the change report and the next one go with this.
        progress: told how many more supplements are done with.

    Raises:
        ConflictError: `file-in-the-way`, every file that stands where a supplement belongs; nothing was changed.
    """
    if looked.in_the_way:
        raise ConflictError([refuse_place(folder / path) for path in looked.in_the_way])
    settle(folder)
    pen = Pen(template=looked.template, workers=os.cpu_count() or 1, time_limit_s=time_limit_s)
    outcome = carry_out(
        folder,
        begin(looked),
        looked.plan.due,
        open_view=open_view,
        pen=pen,
        why=lambda due: str(looked.reasons[due.name]),
        progress=progress,
    )
    journaled = list_journaled(folder)
    items = {item.name: item for item in begin(looked).items} | {item.name: item for item in journaled}
    # The journal has them in the order in which the workers finished, which differs from run to run.
    places = {name: place for place, name in enumerate(looked.plan.current)}
    drawn = _describe_all(folder, sorted(journaled, key=lambda item: (places.get(item.name, len(places)), item.name)))
    named = [items[name] for name in looked.plan.current if name in items]
    published: list[Written] = []
    has_proofs = True
    if looked.wish.publishes:
        published = _describe_all(folder, (items[name] for name in _list_unpublished(folder, looked) if name in items))
        has_proofs = publish_files(publisher, published)
    elif sign and publisher.key is not None:
        sign_written(drawn, publisher.key, at=publisher.at)
    signer = partial(sign_pdf, key=publisher.key, at=publisher.at) if publisher.key and (sign or looked.wish.publishes) else None
    completed = Completed(paths=(), report=None, errors=())
    if drawn or published or looked.pages or looked.is_begun:
        completed = complete(folder, looked, open_view=open_view, is_whole=is_whole, pen=pen, sign=signer)
    return Updated(
        drawn=tuple(drawn),
        published=tuple(published),
        has_proofs=has_proofs,
        current=tuple(one for one in _describe_all(folder, named) if one.format in looked.wish.formats),
        failed=tuple(outcome.failed),
        completed=completed,
    )


def list_current(folder: Path, looked: Looked) -> list[Written]:
    """Return all files of what was asked for, in the formats asked for, where nothing is due."""
    items = {one.name: one for one in begin(looked).items}
    files = _describe_all(folder, (items[name] for name in looked.plan.current if name in items))
    return [one for one in files if one.format in looked.wish.formats]


def _list_unpublished(folder: Path, looked: Looked) -> Iterator[str]:
    """Give the names of what was drawn now or is not published yet, each once."""
    wanted = {*(one.name for one in looked.plan.due), *(one.name for one in list_journaled(folder))}
    return (name for name in looked.plan.current if name in wanted)


def _describe_all(folder: Path, items: "Iterator[FolderItem] | Sequence[FolderItem]") -> list[Written]:
    formats = list(OutputFormat)
    return [file for item in items for file in sorted(describe(folder, item), key=lambda one: formats.index(one.format))]
