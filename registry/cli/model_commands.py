"""`caveat model`: model versions, their lineage, and what an update leaves behind."""

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

import click

from registry.cli.application import (
    ALL_LOGS,
    App,
    as_of_option,
    examples,
    logs_option,
    parse_date,
    parse_model,
    pass_app,
    reason_option,
    record,
    refusing,
)
from registry.cli.list_options import ListOutput, list_options
from registry.cli.main import LazyGroup
from registry.errors import ConflictError, Fault
from registry.records.model_version import REPLACING, Descent, ModelRef, ModelVersion

if TYPE_CHECKING:
    from registry.registration.model_lineage import ModelUpdateResult
    from registry.registration.stale_claims import KnownOutcome, StaleClaims
    from registry.store.log_writer import Writer

# `caveat model`: versions and their lineage.


@click.group(cls=LazyGroup, entry_points="caveat.commands.model")
def model() -> None:
    """Register model versions and their updates."""


@examples("model add Lab/Lumen/1", "model add Lab/Lumen/2 --predecessor Lab/Lumen/1 --released 2026-11-21")
@model.command()
@click.argument("version", metavar="DEV/NAME/VERSION")
@click.option("--predecessor", metavar="DEV/NAME/VERSION", help="The version it replaces; claims about that version then need review.")
@click.option("--released", metavar="DATE", help="The day it was first offered, such as 2026-11-21.")
@click.option("--note", help="What is to be said of it.")
@pass_app
def add(app: App, *, version: str, predecessor: str | None, released: str | None, note: str | None) -> None:
    """Register a model version.

    The version it replaces is registered too if it is new. The same again changes nothing. To see which claims an update made stale,
    use caveat model update.
    """
    from registry.registration.model_lineage import describe_near_version, find_near_versions

    wanted = ModelVersion(
        model=parse_model(version, where="VERSION"),
        predecessor=parse_model(predecessor, where="--predecessor") if predecessor else None,
        note=note,
        released=parse_date(released, where="--released") if released else None,
    )
    with app.ledger.write(actor=app.config.authority) as writer:
        known = writer.find_model(wanted.model)
        near = () if known else find_near_versions(writer, wanted.model)
        # The predecessor is registered too, so that a lineage never names an unknown version.
        if known is None:
            if wanted.predecessor and writer.find_model(wanted.predecessor) is None:
                writer.append(ModelVersion(model=wanted.predecessor))
            writer.append(wanted)
        elif known.payload.predecessor != wanted.predecessor and (
            # A link that a later event recorded counts as the same predecessor.
            wanted.predecessor is None or writer.lineage().find_link(wanted.model, wanted.predecessor) is None
        ):
            problem = f"is registered as following {known.payload.predecessor or 'nothing'}, by entry {known.entry.seq}"
            raise ConflictError(Fault("lineage-differs", version, problem))
    app.answer(
        {"schema": "caveat/model-add/1", "model": str(wanted.model), "new": known is None},
        f"{'Registered' if known is None else 'Registered already:'} {wanted.model}",
    )
    for ref in near:
        app.say(describe_near_version(wanted.model, ref))


@examples("model list", "model list --sort claims --reverse --columns model,claims,outcomes", "model list --log all --csv > models.csv")
@model.command("list")
@logs_option
@pass_app
@list_options
def list_(app: App, /, *, output: ListOutput) -> None:
    """List model versions with claims and outcomes.

    Versions that only claims name are listed too. Each is listed under its predecessor; with --columns, --sort or --log all as a table.
    Columns: log, model, registered, released, comes_from, deprecated, claims, audited, outcomes.
    """
    from registry.cli.model_presenter import list_model_columns, present_forests, summarise_version
    from registry.present.listings import Listing
    from registry.registration.log_survey import list_versions

    rows = [version for log, view in app.views(by_clock=True) for version in list_versions(view, log=log)]
    listing = Listing(
        document={"schema": "caveat/models/1"}, field="models", rows=rows, describe=summarise_version, columns=list_model_columns(),
        none="No model versions.", present=None if output.is_arranged or app.log == ALL_LOGS else present_forests,
    )  # fmt: skip
    output.report(listing)


@examples("model show Lab/Lumen/1")
@model.command()
@click.argument("version", metavar="DEV/NAME/VERSION")
@as_of_option
@pass_app
def show(app: App, *, version: str) -> None:
    """Show a model version: lineage, status, claims."""
    from registry.cli.model_presenter import collect_version, present_version

    with app.view() as view:
        page = collect_version(view, parse_model(version, where="VERSION"))
    app.report(present_version(page))


@examples('model deprecate Lab/Lumen/1 -m "end of life" --on 2026-12-31')
@model.command()
@click.argument("version", metavar="DEV/NAME/VERSION")
@reason_option("Why; it stays in the record.")
@click.option("--on", "last", metavar="DATE", help="The last day on which it is offered, such as 2026-12-31.")
@pass_app
def deprecate(app: App, *, version: str, reason: str, last: str | None) -> None:
    """Record that a model version is no longer offered.

    Claims about it then need review. The same again changes nothing.
    """
    from registry.registration.model_lineage import deprecate_model

    wanted, on = parse_model(version, where="VERSION"), parse_date(last, where="--on") if last else None
    # A reason that a record refuses is a fault of the option.
    with refusing("--reason"), app.ledger.write(actor=app.config.authority) as writer:
        entry, is_new = deprecate_model(writer, wanted, reason=reason, on=on)
        # Counted in the same transaction: the number is that of this event.
        stale = sum(1 for _ in writer.list_stale(model=wanted))
    until = f" after {on}" if isinstance(on, date) else ""
    sentence = f"Recorded, entry {entry}" if is_new else f"Nothing changes, it is on record as entry {entry}"
    app.answer({"schema": "caveat/model-deprecate/1", "model": str(wanted), "entry": entry, "new": is_new, "on": str(on) if on else None,
         "stale": stale},
        f"{sentence}: {wanted} is no longer offered{until}. {_describe_stale(stale, version)}")  # fmt: skip


@examples('model reinstate Lab/Lumen/1 -m "support was extended"')
@model.command()
@click.argument("version", metavar="DEV/NAME/VERSION")
@reason_option("Why; it stays in the record.")
@pass_app
def reinstate(app: App, *, version: str, reason: str) -> None:
    """Record that a deprecated version is offered again."""
    from registry.registration.model_lineage import reinstate_model

    wanted = parse_model(version, where="VERSION")
    with refusing("--reason"), app.ledger.write(actor=app.config.authority) as writer:
        entry = reinstate_model(writer, wanted, reason=reason)
        stale = sum(1 for _ in writer.list_stale(model=wanted))
    app.answer(
        {"schema": "caveat/model-reinstate/1", "model": str(wanted), "entry": entry.seq, "stale": stale},
        f"Recorded, entry {entry.seq}: {wanted} is offered again. {_describe_stale(stale, version)}",
    )


@examples('model unlink Lab/Lumen/2 Lab/Lumen/1 -m "another base model"')
@model.command()
@click.argument("new", metavar="NEW")
@click.argument("old", metavar="OLD")
@reason_option("Why the link was wrong; it stays in the record.")
@pass_app
def unlink(app: App, *, new: str, old: str, reason: str) -> None:
    """Record that a link between two versions was wrong.

    NEW does not come from OLD, each DEV/NAME/VERSION. Claims applied along that link stay as they are recorded.
    """
    from registry.registration.model_lineage import unlink_model

    after, before = parse_model(new, where="NEW"), parse_model(old, where="OLD")
    with refusing("--reason"), app.ledger.write(actor=app.config.authority) as writer:
        entry = unlink_model(writer, after, before, reason=reason)
        stale = sum(1 for _ in writer.list_stale(model=before))
    app.answer(
        {"schema": "caveat/model-unlink/1", "model": str(after), "predecessor": str(before), "entry": entry.seq, "stale": stale},
        f"Recorded, entry {entry.seq}: {after} does not come from {before}. {_describe_stale(stale, old)}",
    )


@examples('model endpoint Lab/Lumen/1 lumen-1-20260501 -m "as the API returns it"')
@model.command()
@click.argument("version", metavar="DEV/NAME/VERSION")
@click.argument("name", metavar="NAME")
@reason_option("Why you say so; it stays in the record.")
@click.option("--source", help="Where it can be looked up, such as the address of a page.")
@click.option("--retract", is_flag=True, help="Take back that you stated NAME for this version.")
@pass_app
def endpoint(app: App, *, version: str, name: str, reason: str, source: str | None, retract: bool) -> None:
    """Record the name that endpoints return for a version.

    A verdict is about the claim's model version only if every response names it exactly so. Record the name before you lock the
    plan. A snapshot or a quantisation is a version of its own. A name of two versions does not identify either; it is recorded,
    and each verdict that depends on it says so.
    """
    from registry.cli.model_presenter import present_endpoint
    from registry.codec.canonical_documents import to_document
    from registry.registration.model_lineage import retract_endpoint, state_endpoint

    wanted, actor = parse_model(version, where="VERSION"), app.config.authority
    with app.ledger.write(actor=actor) as writer:
        if retract:
            done = retract_endpoint(writer, wanted, name, reason=reason, source=source)
        else:
            done = state_endpoint(writer, wanted, name, actor=actor, reason=reason, source=source)
        names = writer.list_endpoint_names(wanted)
    # The statement is recorded in any case. It only decides nothing while it is
    # ambiguous.
    if done.conflicts and not retract:
        others = ", ".join(f"{conflict.model} (by {', '.join(conflict.by)})" for conflict in done.conflicts)
        app.say(f"warning: {name} is stated for {others} too; while it is, it does not show which of them was asked")
    document = {
        "schema": "caveat/model-endpoint/1",
        "model": str(wanted),
        "name": name,
        "retracted": retract,
        "entry": done.entry,
        "new": done.is_new,
        "names": [endpoint_name.name for endpoint_name in names],
        "conflicts": [to_document(conflict) for conflict in done.conflicts],
    }
    app.answer(document, present_endpoint(wanted, name, done, names, is_retracted=retract))


def _describe_stale(number: int, version: str) -> str:
    if not number:
        return f"No claim about {version} is stale."
    return f"{number:,} {'claim' if number == 1 else 'claims'} about it may no longer hold: caveat stale list --model {version!r}"


# `caveat model update`: one version comes from another, and the claims that this makes stale.

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
    """Versions called much like the earlier one that claims are about, where none is about that and no one had registered it."""
    earlier: int
    """Claims about versions before the earlier one that may no longer stand: they stay so until each is carried or decided."""


@examples("model update Lab/Lumen/1 Lab/Lumen/2 --dry-run", "model update Lab/Lumen/1 Lab/Lumen/1-school --as fine-tune")
@click.command()
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option(
    "--as", "descent", type=click.Choice(["successor", "snapshot", "fine-tune"]), default="successor", show_default=True,
    help="A successor or a snapshot takes the place of OLD; a fine-tune leaves it what it is.",
)  # fmt: skip
@click.option("--released", metavar="DATE", help="The day NEW was first offered, such as 2026-11-21.")
@reason_option("Why NEW is recorded so; it stays in the record.", required=False)
@click.option("--branch", is_flag=True, help="Let NEW take the place of OLD although another version did.")
@click.option("--dry-run", is_flag=True, help="Check everything and list claims that would become stale; record nothing.")
@pass_app
def update(app: App, *, old: str, new: str, descent: str, released: str | None, reason: str | None, branch: bool, dry_run: bool) -> None:
    """Record an update of a model, and list stale claims.

    NEW comes from OLD, each DEV/NAME/VERSION. New versions are registered; the same again changes nothing. Claims about OLD then need
    review, until you apply them to NEW or decide; after a fine-tune they stay as they are. No claim about OLD applies to NEW by itself.
    """
    from registry.cli.model_presenter import present_aftermath
    from registry.registration.model_lineage import describe_near_version, update_model

    before, after = parse_model(old, where="OLD"), parse_model(new, where="NEW")
    kind, day = Descent(descent.replace("-", "_")), parse_date(released, where="--released") if released else None

    def work(writer: "Writer") -> Aftermath:
        done = update_model(writer, before, after, descent=kind, released=day, note=reason, branch=branch)
        return find_aftermath(writer, done)

    # In a dry run the whole update is made and rolled back, so that its numbers are exact.
    aftermath = record(app, work, dry_run=dry_run)
    app.report(present_aftermath(aftermath, dry_run=dry_run))
    for ref, near in aftermath.update.near:
        app.say(describe_near_version(ref, near))


def find_aftermath(writer: "Writer", done: "ModelUpdateResult") -> Aftermath:
    """Return what *done* leaves behind, read in the transaction that recorded it."""
    from registry.records.claim_status import CauseKind
    from registry.registration.model_lineage import ENDED
    from registry.registration.stale_claims import StaleClaims, count_cards, count_classes, find_so_far, find_stale

    link = done.link
    about = sum(claim.status.lifecycle not in ENDED for claim in writer.list_claims(model=link.predecessor))
    claims = find_stale(writer, model=link.predecessor)
    # Only this link's cause: claims can be stale for other reasons.
    name = (CauseKind.SUCCESSOR, str(link.model))
    ours = tuple(summary for summary in claims.claims if any((cause.kind, cause.what) == name for cause in summary.status.causes))
    # A fine-tune takes no version's place, so it makes nothing stale.
    stale = StaleClaims(claims=ours if link.descent in REPLACING else ())
    return Aftermath(
        update=done,
        # Of several newest versions none can be suggested.
        newest=newest[0] if len(newest := writer.lineage().newest(link.model)) == 1 else link.model,
        about_old=about,
        stale=stale,
        # A claim with other causes was stale before.
        newly=sum(len(summary.status.causes) == 1 for summary in stale.claims),
        classes=count_classes(writer, stale.claims),
        cards=count_cards(stale.claims),
        first=find_so_far(writer, stale.claims[:_FIRST]),
        # Only for a version that was just registered and has no claims: its name may be a
        # misspelling.
        near=[] if about or link.predecessor not in done.registered else _suggest_claimed(writer, link.predecessor),
        earlier=sum(1 for ref in writer.lineage().ancestors(link.predecessor) for _ in writer.list_stale(model=ref)),
    )


def _suggest_claimed(writer: "Writer", model: ModelRef) -> list[ModelRef]:
    from registry.registration.model_lineage import suggest_models

    # Suggestions without claims would not help.
    claimed = writer.list_claimed_models()
    return [ref for ref in suggest_models(writer, model) if ref in claimed]
