"""`caveat model update`: one version comes from another, and what that makes stale."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from registry.cli.app import App, pass_app
from registry.cli.parameters import parse_date, parse_model
from registry.cli.trial import record
from registry.records.model_version import REPLACING, Descent, ModelRef

if TYPE_CHECKING:
    from registry.registration.model_lineage import ModelUpdateResult
    from registry.registration.stale_claims import KnownOutcome, StaleClaims
    from registry.store.writer import Writer

_FIRST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Aftermath:
    """What an update leaves behind."""

    update: "ModelUpdateResult"
    newest: ModelRef
    """What took the place of the later version in the end, where that is one version; else the later version itself."""
    about_old: int
    """Claims about the earlier version that are neither withdrawn, rejected nor superseded."""
    stale: "StaleClaims"
    """Those of them that may no longer stand because this version followed; none after a fine-tune."""
    newly: int
    """How many of these nothing else had made stale."""
    classes: dict[str, int]
    """How many are of each property class."""
    cards: dict[str, int]
    """How many quote each card."""
    first: "list[KnownOutcome]"
    """Those that matter most, with what is on record of them."""
    near: list[ModelRef]
    """Versions called much like the earlier one that claims are about, where none is about that and nobody had registered it."""
    earlier: int
    """Claims about versions before the earlier one that may no longer stand: they stay so until each is carried or decided."""


@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option(
    "--as", "descent", type=click.Choice(["successor", "snapshot", "fine-tune"]), default="successor", show_default=True,
    help="A successor or a snapshot takes the place of OLD; a fine-tune leaves it what it is.",
)  # fmt: skip
@click.option("--released", metavar="DATE", help="The day NEW was first offered, such as 2026-11-21.")
@click.option("--note", help="What is to be said of the link; it stays in the record.")
@click.option("--branch", is_flag=True, help="Let NEW take the place of OLD although another version did.")
@click.option("--dry-run", is_flag=True, help="Check everything and tell what would become stale; record nothing.")
@pass_app
def update(app: App, *, old: str, new: str, descent: str, released: str | None, note: str | None, branch: bool, dry_run: bool) -> None:
    """Record that NEW comes from OLD, each DEV/NAME/VERSION, and tell which claims that makes stale.

    Versions that are new are registered; the same again changes nothing. Claims about OLD become potentially stale, until each is
    carried to NEW or a person decides; after a fine-tune they stay as they are. No claim about OLD speaks for NEW in any case.
    """
    from registry.cli.model_text import print_aftermath, summarise_aftermath
    from registry.registration.model_lineage import update_model

    before, after = parse_model(old, where="OLD"), parse_model(new, where="NEW")
    kind, day = Descent(descent.replace("-", "_")), parse_date(released, where="--released") if released else None

    def work(writer: "Writer") -> Aftermath:
        done = update_model(writer, before, after, descent=kind, released=day, note=note, branch=branch)
        return find_aftermath(writer, done)

    found = record(app, work, dry_run=dry_run)
    app.report(summarise_aftermath(found, dry_run=dry_run), lambda console: print_aftermath(console, found, dry_run=dry_run))


def find_aftermath(writer: "Writer", done: "ModelUpdateResult") -> Aftermath:
    """Return what *done* leaves behind, read in the transaction that recorded it."""
    from registry.records.claim_status import CauseKind
    from registry.registration.model_lineage import ENDED
    from registry.registration.stale_claims import StaleClaims, count_cards, count_classes, find_so_far, find_stale

    link = done.link
    about = sum(one.status.lifecycle not in ENDED for one in writer.list_claims(model=link.predecessor))
    found = find_stale(writer, model=link.predecessor)
    name = (CauseKind.SUCCESSOR, str(link.model))
    ours = tuple(one for one in found.claims if any((cause.kind, cause.what) == name for cause in one.status.causes))
    stale = StaleClaims(claims=ours if link.descent in REPLACING else ())
    return Aftermath(
        update=done,
        newest=newest[0] if len(newest := writer.lineage().newest(link.model)) == 1 else link.model,
        about_old=about,
        stale=stale,
        newly=sum(len(one.status.causes) == 1 for one in stale.claims),
        classes=count_classes(writer, stale.claims),
        cards=count_cards(stale.claims),
        first=find_so_far(writer, stale.claims[:_FIRST]),
        near=[] if about or link.predecessor not in done.registered else _suggest_claimed(writer, link.predecessor),
        earlier=sum(1 for one in writer.lineage().ancestors(link.predecessor) for _ in writer.list_stale(model=one)),
    )


def _suggest_claimed(writer: "Writer", model: ModelRef) -> list[ModelRef]:
    from registry.registration.model_lineage import suggest_models

    claimed = writer.list_claimed_models()
    return [one for one in suggest_models(writer, model) if one in claimed]
