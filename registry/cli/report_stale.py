"""`caveat report --stale`: a folder of supplements kept up to date."""

import os
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from registry.cli.app import App
from registry.errors import CaveatError
from registry.records.identifier import Identifier
from registry.records.publication import OutputFormat

if TYPE_CHECKING:
    from registry.publishing import Written
    from registry.regeneration.draw import Failed
    from registry.regeneration.look import Looked
    from registry.seal.keys import SigningKey
    from registry.store.view import View

_MOST_TOLD = 20
"""Failures and strays that are told one by one; the rest are counted."""

Publish = Callable[[App, "Sequence[Written]"], None]


def regenerate(
    app: App,
    folder: Path,
    asked: Collection[Identifier],
    formats: Sequence[OutputFormat],
    *,
    check: bool,
    key: "SigningKey | None",
    publish: Publish | None,
) -> None:
    """Draw what is due in *folder*, or with *check* only tell; ends the command with its exit code."""
    from registry.regeneration.look import look
    from registry.regeneration.manifest import hold_folder

    if not check:
        folder.mkdir(parents=True, exist_ok=True)
    if not folder.is_dir():
        with app.view() as view:
            _tell_due(app, look(folder, view, formats=formats, asked=_expand(view, asked)))
        return
    with hold_folder(folder):
        with app.view() as view:
            looked = look(folder, view, formats=formats, asked=_expand(view, asked))
        if check:
            _tell_due(app, looked)
        elif looked.plan.due or looked.is_begun or looked.pages:
            _draw(app, folder, looked, formats, is_whole=not asked, key=key, publish=publish)
        else:
            _tell_nothing(app, looked)


def _expand(view: "View", asked: Collection[Identifier]) -> frozenset[str] | None:
    """Return what is asked for, cards with their claims; None for everything."""
    from registry.publishing import list_claims_of
    from registry.records.identifier import Kind

    if not asked:
        return None
    named = {str(one) for one in asked}
    for one in asked:
        if one.kind is Kind.CARD:
            named.update(list_claims_of(view, one))
    return frozenset(named)


def _tell_due(app: App, looked: "Looked") -> None:
    """Print what is due, with its reason; the answer is no when something is."""
    for one in looked.plan.due:
        click.echo(f"{one.name}  {looked.reasons[one.name]}")
    if looked.is_begun:
        app.say("a command that was drawing here did not end; the next one goes on where it stopped")
    for path in looked.pages:
        click.echo(f"{path}  it was altered in the folder")
    if not looked.plan.due and not looked.is_begun and not looked.pages:
        _tell_nothing(app, looked)
        return
    _tell_damaged(app, looked)
    _tell_count(app, looked, "are due")
    click.get_current_context().exit(1)


def _tell_nothing(app: App, looked: "Looked") -> None:
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


def _draw(
    app: App,
    folder: Path,
    looked: "Looked",
    formats: Sequence[OutputFormat],
    *,
    is_whole: bool,
    key: "SigningKey | None",
    publish: Publish | None,
) -> None:
    from registry.cli.progress import track
    from registry.regeneration.complete import begin, complete, list_written
    from registry.regeneration.draw import Pen, carry_out
    from registry.regeneration.place import settle

    settle(folder)
    _warn_altered(app, looked)
    at = app.config.now() if key is not None else None
    pen = Pen(template=looked.template, workers=os.cpu_count() or 1, time_limit_s=app.config.time_limit_s, key=key, at=at)
    open_view = partial(_open, app, looked.log.size)
    with track(app, "drawing supplements", total=len(looked.plan.due), unit="supplements") as progress:
        outcome = carry_out(
            folder, begin(looked), looked.plan.due, open_view=open_view, pen=pen, why=partial(_explain, looked), progress=progress
        )
    written = list_written(folder)
    for page in looked.pages:
        app.say(f"ALTERED: {page} is not the page that was written here; it is written again")
    errors: list[CaveatError] = [one.error for one in outcome.failed]
    if written or looked.pages:
        if publish is not None and written:
            publish(app, written)
        completed = complete(folder, looked, open_view=open_view, formats=formats, is_whole=is_whole, pen=pen)
        errors += completed.errors
        for path in (*(one.path for one in written), *completed.paths):
            click.echo(str(path))
    _tell_count(app, looked, "were due")
    altered = {path.rpartition(".")[0] for one in looked.plan.due for path in one.altered}
    _tell_strays(app, [one for one in outcome.strays if one.partition(".edited-")[0] not in altered])
    _tell_failed(app, errors, outcome.failed, looked)


def _open(app: App, size: int, as_of: int | None) -> "AbstractContextManager[View]":
    """Open the registry as of an entry, or as it was when the folder was looked at; what was recorded since is for the next time."""
    return app.ledger.view(size if as_of is None else as_of, log=app.log)


def _explain(looked: "Looked", due: object) -> str:
    from registry.regeneration.plan import Due

    return str(looked.reasons[due.name]) if isinstance(due, Due) else ""


def _warn_altered(app: App, looked: "Looked") -> None:
    """Tell loudly of files that somebody changed: they may have been given out so."""
    altered = [path for one in looked.plan.due for path in one.altered]
    for path in altered[:_MOST_TOLD]:
        app.say(f"ALTERED: {path} is not the file that was drawn here; it is kept under another name and drawn again")
    if len(altered) > _MOST_TOLD:
        app.say(f"ALTERED: and {len(altered) - _MOST_TOLD:,} more files")


def _tell_strays(app: App, strays: Sequence[str]) -> None:
    for path in strays[:_MOST_TOLD]:
        app.say(f"kept: a file that was never drawn here stood in the place of a supplement, and is now {path}")
    if len(strays) > _MOST_TOLD:
        app.say(f"kept: and {len(strays) - _MOST_TOLD:,} more, called NAME.edited-…")


def _tell_failed(app: App, errors: "Sequence[CaveatError]", failed: "Sequence[Failed]", looked: "Looked") -> None:
    for error in errors[:_MOST_TOLD]:
        app.say(str(error))
    if len(errors) > _MOST_TOLD:
        app.say(f"and {len(errors) - _MOST_TOLD:,} more like these")
    there = {one.name for one in looked.known.items} if looked.known else set()
    kept = sum(one.name in there for one in failed)
    if failed:
        files = f"; of {kept:,} of them the files that were there still are, and say what was so then" if kept else ""
        app.say(f"{len(failed):,} of {len(looked.plan.due):,} could not be drawn{files}; they are due again the next time")
    if looked.plan.unknown:
        app.say(f"the registry has no word of {', '.join(looked.plan.unknown[:_MOST_TOLD])}; their files are left as they are")
    if _tell_damaged(app, looked) or errors or looked.plan.unknown:
        click.get_current_context().exit(3)
