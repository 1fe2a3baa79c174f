"""`caveat claim` and `caveat contest`: register, read and revise claims, and object to them."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.application import (
    ALL_LOGS,
    ANY,
    CLAIM,
    CONTESTABLE,
    OBJECTION,
    SPEC,
    App,
    as_of_option,
    examples,
    logs_option,
    pass_app,
    reason_option,
    refusing,
    yes_option,
)
from registry.cli.list_options import ListOutput, list_options
from registry.cli.main import LazyGroup
from registry.present.blocks import Block, Table
from registry.records.claim import ClaimEvent, ClaimEventKind
from registry.records.claim_status import ObjectionEvent, ObjectionStep
from registry.records.record import Identifier, Kind

if TYPE_CHECKING:
    from registry.records.dossier import ObjectionFile
    from registry.store.registry_view import View

# `caveat claim`: register, read and follow claims.


@click.group(cls=LazyGroup, entry_points="caveat.commands.claim")
def claim() -> None:
    """Register claims, show their outcomes, revise them."""


@examples("claim add claims.yaml --dry-run", "claim add claims.yaml")
@claim.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Check everything, record nothing.")
@pass_app
def add(app: App, *, file: Path, dry_run: bool) -> None:
    """Register the claims of a file.

    FILE is YAML or JSON, or one JSON claim per line (.jsonl). Caveat looks up every verbatim quote in its card. All claims are
    recorded, or none. The same file again changes nothing; a changed claim needs its reason (`why:`) and becomes a new revision. List
    deliberate exclusions under `excluded:`, with the reason. The format: caveat admin schema claims.
    """
    from registry.cli.application import track
    from registry.cli.claim_presenter import present_added
    from registry.registration.claims_file_registration import register_file
    from registry.registration.model_lineage import describe_near_version

    # Checked and recorded in one transaction: the file is registered as a whole or not at all.
    with track(app, f"registering {file.name}", unit="claims") as progress:
        outcome = register_file(app.ledger, file, owner=app.config.authority, dry_run=dry_run, progress=progress)
    app.report(present_added(outcome, dry_run=dry_run))
    for model, near in outcome.near:
        app.say(describe_near_version(model, near))


@examples("claim show CLM-LAB-2026-0001-E", "claim show CLM-LAB-2026-0001-E@2 --json")
@claim.command()
@click.argument("claim_id", type=CLAIM)
@as_of_option
@pass_app
def show(app: App, *, claim_id: Identifier) -> None:
    """Show one claim: passage, reported figure, verdict."""
    from registry.cli.claim_presenter import present_dossier, present_elsewhere
    from registry.cli.log_presenter import list_backed, name_backing, present_backed
    from registry.codec.canonical_documents import to_document
    from registry.completeness import check_claim
    from registry.exchange.foreign_claims import find_elsewhere
    from registry.store.log_reader import find_backings

    with app.view(by_clock=True) as view:
        dossier = view.dossier(str(claim_id))
        backed = find_backings(view, (entry for _, entry in list_backed(dossier)))
    # A reserved identifier has no figure to state anything of.
    stated = [to_document(completeness) for completeness in check_claim(dossier)] if dossier.revisions else []
    # The size of another log says nothing about entries of this one.
    elsewhere = find_elsewhere(app.ledger, dossier, as_of=dossier.log_size if app.log is None else None)
    others = [to_document(foreign_claim) for foreign_claim in elsewhere]
    backing = {str(seq): name_backing(entry_backing) for seq, entry_backing in backed.items()}
    document = {"schema": "caveat/dossier/1", **to_document(dossier), "completeness": stated, "elsewhere": others, "backed_by": backing}

    def text() -> Iterator[Block]:
        yield from present_dossier(dossier)
        yield from present_backed(dossier, backed)
        yield from present_elsewhere(elsewhere)

    app.answer(document, text())


@examples("claim history CLM-LAB-2026-0001-E", "claim history AUD-LAB-2026-0001-1 --json")
@claim.command()
@click.argument("identifier", type=ANY)
@as_of_option
@pass_app
@list_options
def history(app: App, /, *, output: ListOutput, identifier: Identifier) -> None:
    """List all log entries about an identifier.

    Columns: entry, at, by, backed_by, kind, what.
    """
    from registry.cli.log_presenter import build_trail_listing
    from registry.store.dossiers import TrailEntry
    from registry.store.log_reader import find_backings

    with app.view(by_clock=True) as view:
        # The history is that of the whole claim, but a revision that was named must exist.
        _check_exact(view, identifier)
        payloads = view.history(identifier.bare)
        backed = find_backings(view, (payload.entry for payload in payloads))
    traces = [TrailEntry(entry=recorded.entry, payload=recorded.payload) for recorded in payloads]
    document = {"schema": "caveat/history/1", "id": identifier.bare}
    output.report(build_trail_listing(document, traces, backed, none="No entry is about it."))


@examples("claim diff CLM-LAB-2026-0001-E", "claim diff CLM-LAB-2026-0001-E --from 1 --to 3")
@claim.command()
@click.argument("claim_id", type=CLAIM)
@click.option("--from", "old", type=click.IntRange(1), help="Revision to compare from; default: the one before.")
@click.option("--to", "new", type=click.IntRange(1), help="Revision to compare to; default: the latest.")
@as_of_option
@pass_app
def diff(app: App, *, claim_id: Identifier, old: int | None, new: int | None) -> None:
    """Show the changes between two revisions of a claim."""
    from registry.cli.log_presenter import compare_revisions, show_value

    with app.view(by_clock=True) as view:
        dossier = view.dossier(str(claim_id))
    # Without options: the named revision, or the latest, against the one before.
    later = new or claim_id.revision or max(len(dossier.revisions), 1)
    before, after, rows = compare_revisions(dossier, old or max(later - 1, 1), later)
    document = {
        "schema": "caveat/claim-diff/1",
        "claim": claim_id.bare,
        "from": before.revision,
        "to": after.revision,
        "why": after.why,
        "changes": [{"field": field, "before": left, "after": right} for field, left, right in rows],
    }

    def text() -> Iterator[Block]:
        yield f"{claim_id.bare}: revision {before.revision} → {after.revision}" + (f"; why: {after.why}" if after.why else "")
        cells = [(field, show_value(left), show_value(right)) for field, left, right in rows]
        yield Table(("field", "before", "after"), cells) if rows else "no difference"

    app.answer(document, text())


@examples('claim revise CLM-LAB-2026-0001-E claim.yaml -m "limit corrected to 5 %"')
@claim.command()
@click.argument("claim_id", type=CLAIM)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@reason_option("Why the claim is revised.")
@pass_app
def revise(app: App, *, claim_id: Identifier, file: Path, reason: str) -> None:
    """Record a new revision of a claim.

    FILE is a claims file with this one claim.
    """
    from registry.registration.claims_file_registration import revise_claim

    with app.view(by_clock=True) as view:
        # A revision that was named must exist, although a new one is made of the whole claim.
        _check_exact(view, claim_id)
    outcome = revise_claim(app.ledger, claim_id.bare, file, why=reason, owner=app.config.authority)
    done = outcome.revised[0] if outcome.revised else None
    app.answer(
        {"schema": "caveat/claim-revise/1", "revised": done},
        f"Recorded {done}." if done else "Nothing differs from what is recorded; nothing was recorded.",
    )


def _check_exact(view: "View", identifier: Identifier | None) -> None:
    """Refuse a claim named by a revision or a digest (`@n`, `#…`) that it does not have, although only the claim as a whole is meant."""
    if identifier is not None and identifier.kind is Kind.CLAIM and (identifier.revision or identifier.digest):
        view.dossier(str(identifier))


def _report_event(
    app: App,
    claim_id: Identifier,
    kind: ClaimEventKind,
    *,
    reason: str | None = None,
    successor: Identifier | None = None,
    yes: bool = True,
) -> None:
    # What the record refuses is a fault of the option that gave it.
    with refusing("--reason"):
        event = ClaimEvent(claim=claim_id.bare, event=kind, reason=reason, successor=successor.bare if successor else None)
    app.confirm(f"{kind.value.capitalize()} {claim_id.bare} for good?", yes=yes)
    with app.ledger.write(actor=app.config.authority) as writer:
        for identifier in (claim_id, successor):
            _check_exact(writer, identifier)
        entry = writer.append(event)
    app.answer(
        {"schema": "caveat/claim-event/1", "claim": event.claim, "event": event.event.value, "entry": entry.seq},
        f"{event.claim}: {event.event.value}, recorded as entry {entry.seq}.",
    )


@examples("claim publish CLM-LAB-2026-0001-E")
@claim.command()
@click.argument("claim_id", type=CLAIM)
@pass_app
def publish(app: App, *, claim_id: Identifier) -> None:
    """Record that a claim is published."""
    _report_event(app, claim_id, ClaimEventKind.PUBLISH)


@examples(
    'claim withdraw CLM-LAB-2026-0001-E -m "the figure was wrong" --yes',
    'claim withdraw CLM-LAB-2026-0001-E --reject -m "not in the card" --yes',
)
@claim.command()
@click.argument("claim_id", type=CLAIM)
@reason_option("Why; it stays in the record.")
@click.option("--reject", is_flag=True, help="Reject it instead: it should never have been registered.")
@yes_option
@pass_app
def withdraw(app: App, *, claim_id: Identifier, reason: str, reject: bool, yes: bool) -> None:
    """Withdraw a claim. You cannot undo this.

    The claim and its reason stay in the record. On a terminal you are asked to confirm; scripts give --yes.
    """
    kind = ClaimEventKind.REJECT if reject else ClaimEventKind.WITHDRAW
    _report_event(app, claim_id, kind, reason=reason, yes=yes)


@examples('claim supersede CLM-LAB-2026-0001-E CLM-LAB-2026-0002-C -m "split into two claims" --yes')
@claim.command()
@click.argument("claim_id", type=CLAIM)
@click.argument("successor", type=CLAIM)
@reason_option("Why; it stays in the record.")
@yes_option
@pass_app
def supersede(app: App, *, claim_id: Identifier, successor: Identifier, reason: str, yes: bool) -> None:
    """Replace a claim by another. You cannot undo this.

    On a terminal you are asked to confirm; scripts give --yes.
    """
    _report_event(app, claim_id, ClaimEventKind.SUPERSEDE, reason=reason, successor=successor, yes=yes)


@examples("claim reserve", "claim reserve --count 10")
@claim.command()
@click.option("--count", type=click.IntRange(1, 10_000), default=1, show_default=True, help="How many.")
@pass_app
def reserve(app: App, *, count: int) -> None:
    """Reserve identifiers for later claims.

    Use them as `id:` in a claims file.
    """
    # In one transaction, so that no number is reserved twice.
    with app.ledger.write(actor=app.config.authority) as writer:
        reserved = writer.allocate(Kind.CLAIM, app.config.authority, count)
        writer.append_many([ClaimEvent(claim=name, event=ClaimEventKind.RESERVE) for name in reserved])
    app.answer({"schema": "caveat/reserved/1", "claims": reserved}, ["\n".join(reserved)])


@examples("claim adopt lab.example/log CLM-LAB-2026-0001-E")
@claim.command()
@click.argument("origin", metavar="LOG")
@click.argument("claim_id", type=CLAIM)
@pass_app
def adopt(app: App, *, origin: str, claim_id: Identifier) -> None:
    """Register a claim of an imported log here.

    Use it to audit or contest a claim of another registry (caveat admin bundle read). The claim gets an identifier of yours. It names
    the log, the identifier and the entry hash of the original. Outcomes of the original stay in its family.
    """
    from registry.codec.canonical_documents import to_document
    from registry.exchange.foreign_claims import adopt_claim
    from registry.exchange.log_names import get_origin

    log = get_origin(origin, [log.origin for log in app.ledger.list_logs()])
    done = adopt_claim(app.ledger, log, str(claim_id), owner=app.config.authority)

    def text() -> Iterator[Block]:
        if not done.is_new:
            yield f"{done.origin.claim} is adopted already: {done.claim} (entry {done.entry})."
            return
        yield f"Adopted {done.origin.claim} of {log} as {done.claim} (entry {done.entry})."
        yield f"Next: caveat audit new {done.claim.partition('@')[0]}"

    app.answer({"schema": "caveat/adopted/1", **to_document(done)}, text())


@examples('claim relate CLM-LAB-2026-0001-E restates CLM-LAB-2026-0002-C -m "the same figure in the summary"')
@claim.command()
@click.argument("claim_id", type=CLAIM)
@click.argument("relation", type=click.Choice(["alias", "related", "splits", "merges", "restates"]))
@click.argument("other", type=CLAIM)
@reason_option("In what way they belong together.", required=False)
@pass_app
def relate(app: App, *, claim_id: Identifier, relation: str, other: Identifier, reason: str | None) -> None:
    """Record how two claims are related."""
    from registry.records.claim import ClaimRelation, ClaimRelationKind

    with refusing("OTHER"):
        claim_relation = ClaimRelation(claim=claim_id.bare, relation=ClaimRelationKind(relation), other=other.bare, note=reason)
    with app.ledger.write(actor=app.config.authority) as writer:
        for identifier in (claim_id, other):
            _check_exact(writer, identifier)
        entry = writer.append(claim_relation)
    app.answer(
        {
            "schema": "caveat/claim-relation/1",
            "claim": claim_relation.claim,
            "relation": relation,
            "other": claim_relation.other,
            "entry": entry.seq,
        },
        f"{claim_relation.claim} {relation} {claim_relation.other}, recorded as entry {entry.seq}.",
    )


# `caveat contest`: objections to claims and specifications.

_NOTE = reason_option("What is said, and why; it stays in the record.")


@click.group()
def contest() -> None:
    """Object to claims and specifications, and decide."""


@examples(
    'contest open CLM-LAB-2026-0001-E -m "fifty requests are too few"',
    'contest open CTX-LAB-2026-0001-0 --rival CTX-LAB-2026-0002-Y -m "no one works there"',
)
@contest.command("open")
@click.argument("target", type=CONTESTABLE)
@reason_option("Why it is contested.")
@click.option("--rival", type=SPEC, help="A specification of the same kind, offered in its place.")
@pass_app
def open_(app: App, /, *, target: Identifier, reason: str, rival: Identifier | None) -> None:
    """Object to a claim or a specification.

    TARGET is a claim, P_test, a P_deploy, a property, a scoring function, a cue inventory or a method; the latest version unless it
    names one. Any registered authority may object (set CAVEAT_AUTHORITY=CODE). Every supplement that depends on TARGET shows the
    objection. Replays under the rival name it as `objection: CON-…` in the audit file.
    """
    opened = open_objection(app, target, grounds=reason, rival=rival)
    app.answer(opened, f"{opened['objection']} contests {opened['target']}.")


def open_objection(app: App, target: Identifier, *, grounds: str, rival: Identifier | None) -> dict[str, Any]:
    """Record an objection in the name of who calls, and return the document that says so."""
    from registry.registration.objections import contest_target

    # The name of who objects is the authority of this call; the record refuses empty grounds.
    with refusing("--reason"), app.ledger.write(actor=app.config.authority) as writer:
        _check_exact_target(writer, target)
        opened = contest_target(writer, target, grounds=grounds, rival=rival, by=app.config.authority)
    return {"schema": "caveat/objection/1", "objection": opened.objection, "target": opened.target}


@examples('contest answer CON-LAB-2026-0001-B -m "the contexts cover this case"')
@contest.command()
@click.argument("objection_id", type=OBJECTION)
@_NOTE
@pass_app
def answer(app: App, *, objection_id: Identifier, reason: str) -> None:
    """Answer an objection to what you own."""
    report_step(app, objection_id, ObjectionStep.ANSWERED, note=reason)


@examples('contest uphold CON-LAB-2026-0001-B -m "the rival describes the product better" --yes')
@contest.command()
@click.argument("objection_id", type=OBJECTION)
@_NOTE
@yes_option
@pass_app
def uphold(app: App, *, objection_id: Identifier, reason: str, yes: bool) -> None:
    """Decide that an objection is right.

    Outcomes under the rival count for their claims from then on. The owner of the target concedes by this. You cannot decide your own
    objection. On a terminal you are asked to confirm; scripts give --yes.
    """
    app.confirm(f"Uphold {objection_id.bare} for good?", yes=yes)
    report_step(app, objection_id, ObjectionStep.UPHELD, note=reason)


@examples('contest reject CON-LAB-2026-0001-B -m "the sample is large enough" --yes')
@contest.command()
@click.argument("objection_id", type=OBJECTION)
@_NOTE
@yes_option
@pass_app
def reject(app: App, *, objection_id: Identifier, reason: str, yes: bool) -> None:
    """Reject an objection, or take back your own.

    A rejection by the owner of the target is recorded and printed as the owner's, and decides nothing: the dispute continues. On
    a terminal you are asked to confirm; scripts give --yes.
    """
    app.confirm(f"Reject {objection_id.bare} for good?", yes=yes)
    report_step(app, objection_id, ObjectionStep.REJECTED, note=reason)


@examples('contest escalate CON-LAB-2026-0001-B --to AISI -m "we do not agree"')
@contest.command()
@click.argument("objection_id", type=OBJECTION)
@_NOTE
@click.option("--to", metavar="CODE", help="The authority that decides from then on.")
@pass_app
def escalate(app: App, *, objection_id: Identifier, reason: str, to: str | None) -> None:
    """Pass an objection to another authority for decision."""
    report_step(app, objection_id, ObjectionStep.ESCALATED, note=reason, to=to)


@examples("contest list --open", "contest list --target CLM-LAB-2026-0001-E")
@contest.command("list")
@click.option("--open", "only_open", is_flag=True, help="Only those that are not settled.")
@click.option("--target", type=CONTESTABLE, help="Only those of this claim or specification, in any of its versions or in one (@n).")
@logs_option
@pass_app
@list_options
def list_objections(app: App, /, *, output: ListOutput, only_open: bool, target: Identifier | None) -> None:
    """List objections and their states.

    Columns: log, objection, of, by, opened, state, rival, reason.
    """
    from registry.cli.claim_presenter import list_objection_columns, summarise_objection
    from registry.present.listings import Listing

    named = None if target is None else (f"{target.bare}@{target.revision}" if target.revision else target.bare)
    rows: list[tuple[str, ObjectionFile]] = []
    erased: list[str] = []
    for log, view in app.views():
        rows += [(log, file) for file in view.list_objections(named) if not (only_open and file.is_settled)]
        # An erased objection is named: leaving it out would look like none.
        erased += view.list_erased_objections(named)
    if erased:
        app.say(f"not shown, because one of their statements was erased: {', '.join(erased)}")
    listing = Listing(
        document={"schema": "caveat/objections/1", "erased": erased}, field="objections", rows=rows,
        describe=lambda row: {"log": row[0], **summarise_objection(row[1])},
        columns=list_objection_columns(is_all=app.log == ALL_LOGS), none="No objections.",
    )  # fmt: skip
    output.report(listing)


@examples("contest show CON-LAB-2026-0001-B")
@contest.command()
@click.argument("objection_id", type=OBJECTION)
@as_of_option
@pass_app
def show_command(app: App, *, objection_id: Identifier) -> None:
    """Show an objection: reason, rival, steps, replays."""
    from registry.cli.claim_presenter import collect_objection, present_objection

    with app.view() as view:
        objection = collect_objection(view, objection_id.bare)
    app.report(present_objection(objection))


def report_step(app: App, objection_id: Identifier, step: ObjectionStep, *, note: str, to: str | None = None) -> None:
    """Record a step in the name of who calls, and say so."""
    from registry.registration.objections import get_objection, record_step
    from registry.report.status_account import describe_state, name_actor

    with refusing("--reason"):
        objection_event = ObjectionEvent(objection=objection_id.bare, step=step, note=note, to=to)
    with app.ledger.write(actor=app.config.authority) as writer:
        # Who may take a step is decided where it is recorded, for all front ends.
        entry = record_step(writer, objection_event, actor=app.config.authority)
        # Read in the same transaction: the state is that after this step.
        file = get_objection(writer, objection_id.bare)
    document = {
        "schema": "caveat/objection-step/1",
        "objection": objection_event.objection,
        "step": step.value,
        "entry": entry.seq,
        "by": entry.actor,
        "to": to,
        "state": file.state.value,
    }
    who = f"{name_actor(file, entry.actor)}{f', to {to}' if to else ''}"
    app.answer(
        document,
        f"{objection_event.objection}: {step.value} by {who}, recorded as entry {entry.seq}."
        + ("" if file.is_settled else f"\nIts state: {describe_state(file)}."),
    )


def _check_exact_target(view: "View", target: Identifier) -> None:
    """Refuse a claim named by a revision or a digest (`@n`, `#…`) that it does not have."""
    if str(target).startswith("CLM-") and (target.revision or target.digest):
        view.dossier(str(target))
