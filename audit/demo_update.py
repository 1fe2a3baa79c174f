"""The second act of the demo: a smaller model takes the place of the first, and what was found of that no longer speaks of what is offered.

The smaller model really was asked, under plans that were locked before its first response; the clock stands at those moments.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from audit.demo import AUTHORITY, MODEL, Story, name_endpoint, open_story, read_demo_keys
from audit.docket import Concluded, get_audit, get_claim
from audit.renewing.choice import Wish, choose
from audit.renewing.conclude import measure, record_outcome
from audit.renewing.group import Group, Grouped, group, list_runs
from audit.renewing.movement import find_change, sort_changes
from audit.renewing.record import record_group
from audit.replay.store import DATABASE
from registry.errors import CaveatError
from registry.records.change import ClaimChange
from registry.records.model import ModelRef
from registry.records.publication import OutputFormat
from registry.regeneration.complete import Completed, begin, complete, list_written
from registry.regeneration.draw import Pen, carry_out
from registry.regeneration.look import look
from registry.regeneration.manifest import hold_folder
from registry.regeneration.place import settle
from registry.registration.lineage import update_model
from registry.resources import find_resource
from registry.store.ledger import Ledger
from registry.store.view import View

OLD = MODEL
NEW = ModelRef(developer="Example Lab", name="Example Assistant 135M", version="1.0")
ASKED = "claude-local-smollm2-135m-instruct-q4_1"
"""What the endpoint called the smaller model."""
UPDATED = datetime(2026, 11, 22, 5, 43, 32, tzinfo=UTC)
"""When the plans were locked again, 19 seconds before the first response."""
CONCLUDED_AGAIN = datetime(2026, 11, 22, 5, 56, tzinfo=UTC)
"""When its scores were imported."""
RENEWED = "renewed"
"""The folder of the replays that were carried out again, in the demo's folder."""
FOLDER = "updated"
"""The folder of supplements that is regenerated, in the demo's folder."""
NOTE = "The smaller model takes its place where answers must come fast"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondAct:
    """What the update came to."""

    audits: tuple[Concluded, ...]
    changes: tuple[ClaimChange, ...]
    """Of the claims that were audited again, newly inverted first."""
    drawn: int
    """Supplements that the update made due; the others stayed as they were."""
    completed: Completed
    errors: tuple[CaveatError, ...]
    """Why a supplement could not be drawn."""


def tell_update(story: Story, folder: Path, *, time_limit_s: float, progress: Callable[[int], None]) -> SecondAct:
    """Record the update, carry the locked plans out again on the recorded responses, and regenerate the supplements; twice changes nothing.

    Args:
        story: the first act, told and given out.
        folder: the demo's.
        time_limit_s: for each PDF.
        progress: is told how many more supplements are drawn.
    """
    ledger = open_story(story, UPDATED)
    try:
        if (before := _find_before(ledger)) is not None:
            _regenerate(ledger, folder / FOLDER, before, time_limit_s=time_limit_s, progress=progress)
        with ledger.write(actor=AUTHORITY.code) as writer:
            update_model(writer, OLD, NEW, note=NOTE)
        name_endpoint(ledger, NEW, ASKED, source="examples/update/README.md")
        grouped = _prepare(ledger, folder)
    finally:
        ledger.close()
    ledger = open_story(story, CONCLUDED_AGAIN)
    try:
        concluded = [_conclude(ledger, one, grouped) for one in grouped.groups]
        changes = [find_change(ledger, one) for each, _ in concluded for one in each.chosen]
        drawn, completed, errors = _regenerate(ledger, folder / FOLDER, None, time_limit_s=time_limit_s, progress=progress)
    finally:
        ledger.close()
    return SecondAct(
        audits=tuple(one for _, each in concluded for one in each),
        changes=tuple(sort_changes(one for one in changes if one is not None)),
        drawn=drawn,
        completed=completed,
        errors=errors,
    )


def _find_before(ledger: Ledger) -> int | None:
    """Return the size of the log before the update; None where it was recorded already."""
    with ledger.view() as view:
        return None if view.find_model(NEW) else view.log_size


def _prepare(ledger: Ledger, folder: Path) -> Grouped:
    """Carry the claims, lock their plans again, and put the recorded responses where the replay keeps its own."""
    wish = Wish(ask=ASKED, claims=tuple(_list_claims(ledger)), to=NEW)
    with ledger.view() as view:
        chosen = choose(view, wish, auditor=AUTHORITY.code).chosen
        found = group(chosen, (folder,), view, folder / RENEWED, owner=AUTHORITY.code, advance=lambda _more: None)
    recorded = [record_group(ledger, one, auditor=AUTHORITY.code, ask=ASKED, base_url=None, why=None) for one in found.groups]
    for one in recorded:
        if not (one.run / DATABASE).is_file():
            one.run.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(find_resource("examples") / "update" / "run" / DATABASE, one.run / DATABASE)
    return replace(found, groups=tuple(recorded))


def _list_claims(ledger: Ledger) -> Iterator[str]:
    """Give the claims about the old version whose plans were locked, as they stood in the first act."""
    with ledger.view() as view:
        for one in view.list_audits():
            payload = one.audit.payload
            if one.lock is not None and payload.renews is None and get_claim(view, payload.claim).model == OLD:
                yield payload.claim.partition("@")[0]


def _conclude(ledger: Ledger, one: Group, grouped: Grouped) -> tuple[Group, list[Concluded]]:
    """Record the outcomes of the audits of *one*, as `caveat audit renew` does when its run is over."""
    chosen, concluded = [], []
    for each in one.chosen:
        with ledger.view() as view:
            measured = measure(view, each, one.run, list_runs(grouped.search, each, but=one.run))
        with ledger.write(actor=AUTHORITY.code) as writer:
            concluded.append(record_outcome(writer, each, measured))
            chosen.append(replace(each, renewed=get_audit(writer, concluded[-1].audit)))
    return replace(one, chosen=tuple(chosen)), concluded


def _regenerate(
    ledger: Ledger, folder: Path, size: int | None, *, time_limit_s: float, progress: Callable[[int], None]
) -> tuple[int, Completed, tuple[CaveatError, ...]]:
    """Bring *folder* up to date with the log as of *size*, as `caveat report --stale --sign` does; None for all of it."""
    folder.mkdir(parents=True, exist_ok=True)
    with hold_folder(folder):
        with ledger.view(size) as view:
            looked = look(folder, view, formats=tuple(OutputFormat), asked=None)
            last = view.find_entry(looked.log.size)
        settle(folder)
        open_view = partial(_open, ledger, looked.log.size)
        pen = Pen(
            template=looked.template,
            workers=os.cpu_count() or 1,
            time_limit_s=time_limit_s,
            key=read_demo_keys().document,
            at=last.at if last else None,
        )
        outcome = carry_out(
            folder,
            begin(looked),
            looked.plan.due,
            open_view=open_view,
            pen=pen,
            why=lambda due: str(looked.reasons[due.name]),
            progress=progress,
        )
        drawn = len({one.name for one in list_written(folder)})
        done = complete(folder, looked, open_view=open_view, formats=tuple(OutputFormat), is_whole=True, pen=pen)
    return drawn, done, (*(one.error for one in outcome.failed), *done.errors)


def _open(ledger: Ledger, size: int, as_of: int | None) -> AbstractContextManager[View]:
    return ledger.view(size if as_of is None else as_of)
