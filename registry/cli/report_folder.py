"""`caveat report` for a folder that is kept: as the registry is now, with a list, a feed and a manifest."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from registry.cli.app import App
from registry.errors import CaveatError

if TYPE_CHECKING:
    from registry.proving import Publisher
    from registry.regeneration.draw import Failed
    from registry.regeneration.look import Looked, Wish
    from registry.regeneration.update import Updated
    from registry.store.view import View

_MOST_TOLD = 20
"""Failures that are told one by one; the rest are counted."""
NO_KEY = (
    "published without proofs: there is no log key here to sign the log with\n"
    "  next: name its folder (CAVEAT_KEYS) or make a key (caveat key add), and publish the same files again"
)

BuildWish = Callable[["View"], "Wish"]


def keep(
    app: App, folder: Path, wish: BuildWish, *, check: bool, is_whole: bool, lists_all: bool, sign: bool, publisher: "Publisher"
) -> None:
    """Bring *folder* up to date, or with *check* only tell what is due; ends the command with its exit code.

    Args:
        wish: what is asked for, from a reading of the registry.
        is_whole: whether all of the registry is gone through, as with `--stale` alone.
        lists_all: whether the files asked for are told, and not only those that were drawn now.
        sign: whether PDF files are signed although they are not published.
        publisher: who publishes and signs.
    """
    from registry.regeneration.look import look
    from registry.regeneration.manifest import hold_folder

    is_new = not folder.is_dir()
    if is_new or check:
        with app.view() as view:
            asked = wish(view)  # a registry that has nothing of it leaves no folder behind
            if check:
                _tell_due(app, look(folder, view, asked))
                return
        folder.mkdir(parents=True, exist_ok=True)
    with hold_folder(folder):
        with app.view() as view:
            looked = look(folder, view, wish(view))
        try:
            if looked.is_settled:
                _tell_nothing(app, folder, looked, lists_all=lists_all)
            else:
                _update(app, folder, looked, is_whole=is_whole, lists_all=lists_all, sign=sign, publisher=publisher)
        finally:
            if is_new and lists_all and not any(folder.iterdir()):
                folder.rmdir()  # nothing could be drawn


def _tell_due(app: App, looked: "Looked") -> None:
    """Print what is due, with its reason; the answer is no when something is."""
    for one in looked.plan.due:
        click.echo(f"{one.name}  {looked.reasons[one.name]}")
    if looked.is_begun:
        app.say("a command that was drawing here did not end; the next one goes on where it stopped")
    for path in looked.pages:
        click.echo(f"{path}  it was altered in the folder")
    for path in looked.in_the_way:
        click.echo(f"{path}  it is in the way: it is not the file that was drawn here")
    if looked.is_settled:
        _tell_nothing(app, None, looked, lists_all=False)
        return
    _tell_damaged(app, looked)
    _tell_count(app, looked, "are due")
    click.get_current_context().exit(1)


def _tell_nothing(app: App, folder: Path | None, looked: "Looked", *, lists_all: bool) -> None:
    from registry.regeneration.update import list_current

    if lists_all and folder is not None:
        for one in list_current(folder, looked):
            click.echo(str(one.path))
    total = looked.plan.total
    app.say(
        f"nothing is due: {'the' if total == 1 else 'all'} {total:,} supplement{' is' if total == 1 else 's are'} as the registry has them"
    )
    if _tell_damaged(app, looked):
        click.get_current_context().exit(1)


def _tell_damaged(app: App, looked: "Looked") -> bool:
    """Tell of altered files that cannot be drawn again as they were; return whether there are any."""
    for path in looked.damaged[:_MOST_TOLD]:
        app.say(f"ALTERED: {path} is not the file that was drawn here, and cannot be drawn again as it was; take it away")
    if len(looked.damaged) > _MOST_TOLD:
        app.say(f"ALTERED: and {len(looked.damaged) - _MOST_TOLD:,} more files that cannot be drawn again")
    return bool(looked.damaged)


def _tell_count(app: App, looked: "Looked", verb: str) -> None:
    from registry.regeneration.reasons import count_reasons

    total = looked.plan.total
    counted = count_reasons(looked.reasons.values())
    app.say(f"{len(looked.plan.due):,} of {total:,} supplements {verb}{f': {counted}' if counted else ''}")


def _update(app: App, folder: Path, looked: "Looked", *, is_whole: bool, lists_all: bool, sign: bool, publisher: "Publisher") -> None:
    from registry.cli.progress import track
    from registry.regeneration.update import update

    for page in looked.pages:
        app.say(f"ALTERED: {page} is not the page that was written here; it is written again")
    with track(app, "drawing supplements", total=len(looked.plan.due), unit="supplements") as progress:
        updated = update(
            folder,
            looked,
            open_view=partial(_open, app, looked.log.size),
            time_limit_s=app.config.time_limit_s,
            publisher=publisher,
            sign=sign,
            is_whole=is_whole,
            progress=progress,
        )
    files = updated.current if lists_all else (*updated.drawn, *(one for one in updated.published if one not in updated.drawn))
    for path in (*(one.path for one in files), *(() if lists_all else updated.completed.paths)):
        click.echo(str(path))
    if not updated.has_proofs:
        app.say(NO_KEY)
    if not lists_all:
        _tell_count(app, looked, "were due")
    _tell_failed(app, updated, looked)


def _open(app: App, size: int, as_of: int | None) -> "AbstractContextManager[View]":
    """Open the registry as of an entry, or as it was when the folder was looked at; what was recorded since is for the next time."""
    return app.ledger.view(size if as_of is None else as_of, log=app.log)


def _tell_failed(app: App, updated: "Updated", looked: "Looked") -> None:
    errors: Sequence[CaveatError] = updated.errors
    for error in errors[:_MOST_TOLD]:
        app.say(str(error))
    if len(errors) > _MOST_TOLD:
        app.say(f"and {len(errors) - _MOST_TOLD:,} more like these")
    _count_failed(app, updated.failed, looked)
    if looked.plan.unknown:
        app.say(f"the registry has no word of {', '.join(looked.plan.unknown[:_MOST_TOLD])}; their files are left as they are")
    if _tell_damaged(app, looked) or errors or looked.plan.unknown:
        click.get_current_context().exit(3)


def _count_failed(app: App, failed: "Sequence[Failed]", looked: "Looked") -> None:
    if not failed:
        return
    there = {one.name for one in looked.known.items} if looked.known else set()
    kept = sum(one.name in there for one in failed)
    files = f"; of {kept:,} of them the files that were there still are, and say what was so then" if kept else ""
    app.say(f"{len(failed):,} of {len(looked.plan.due):,} could not be drawn{files}; they are due again the next time")
