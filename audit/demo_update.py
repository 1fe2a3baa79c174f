"""The second act of the demo: a smaller model takes the place of the first, and what was found of that no longer speaks of what is offered.

The smaller model really was asked, under plans that were locked before its first response; the clock stands at those moments.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from audit.demo import AUTHORITY, MODEL, Story, name_endpoint, open_story, publish_supplements
from audit.docket import Concluded, get_audit, get_claim
from audit.renewing.choice import Wish, choose
from audit.renewing.conclude import measure, record_outcome
from audit.renewing.group import Group, Grouped, group, list_runs
from audit.renewing.movement import find_change, sort_changes
from audit.renewing.record import record_group
from audit.replay.run_store import DATABASE
from registry.configuration import find_resource
from registry.folder.folder_update import FolderUpdate
from registry.records.model_version import ModelRef
from registry.records.supplement import ClaimChange
from registry.registration.model_lineage import update_model
from registry.store.ledger import Ledger

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
FOLDER = "supplements"
"""The folder of supplements that is brought up to date, in the demo's folder."""
NOTE = "The smaller model takes its place where answers must come fast"


@dataclass(frozen=True, slots=True, kw_only=True)
class SecondAct:
    """What the update came to."""

    audits: tuple[Concluded, ...]
    changes: tuple[ClaimChange, ...]
    """Of the claims that were audited again, newly inverted first."""
    updated: FolderUpdate | None
    """What the folder was brought up to date with; None where nothing was due."""


def tell_update(story: Story, folder: Path, *, time_limit_s: float, progress: Callable[[int], None]) -> SecondAct:
    """Record the update, carry the locked plans out again on the recorded responses, and publish what is due; twice changes nothing.

    Args:
        story: the first act, told and given out.
        folder: the demo's.
        time_limit_s: for each PDF.
        progress: is told how many more supplements are drawn.
    """
    ledger = open_story(story, UPDATED)
    try:
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
    finally:
        ledger.close()
    updated = publish_supplements(story, folder / FOLDER, moment=CONCLUDED_AGAIN, time_limit_s=time_limit_s, progress=progress)
    return SecondAct(
        audits=tuple(one for _, each in concluded for one in each),
        changes=tuple(sort_changes(one for one in changes if one is not None)),
        updated=updated,
    )


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
