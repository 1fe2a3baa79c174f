"""`caveat contest`: objections to claims and specifications, and what becomes of them."""

from typing import TYPE_CHECKING, Any

import click

from registry.cli.app import App, as_of_option, pass_app
from registry.cli.parameters import CONTESTABLE, CONTESTATION, SPEC, refusing
from registry.records.claim_status import ContestationEvent, ContestationStep
from registry.records.record import Identifier

if TYPE_CHECKING:
    from registry.store.view import View

_NOTE = click.option("--note", required=True, help="What is said, and why; it stays in the record.")


@click.group()
def contest() -> None:
    """Contestations: object to a claim or a specification, answer, decide, escalate, and see what a rival would change."""


@contest.command("open")
@click.argument("target", type=CONTESTABLE)
@click.option("--grounds", required=True, help="Why it is contested.")
@click.option("--rival", type=SPEC, help="A specification of the same kind, offered in its place.")
@pass_app
def open_(app: App, /, *, target: Identifier, grounds: str, rival: Identifier | None) -> None:
    """Contest TARGET with grounds: a claim, P_test, a P_deploy, a property, a scoring function (judge), a cue inventory, a method.

    Any registered authority may (CAVEAT_AUTHORITY=CODE says who you are). It is of the latest revision or version unless TARGET names one,
    and every supplement that rests on it says so from then on. Replays under the rival attach by `contestation: CON-…` in the audit file.
    """
    opened = open_contestation(app, target, grounds=grounds, rival=rival)
    app.report(opened, lambda console: console.print(f"{opened['contestation']} contests {opened['target']}."))


def open_contestation(app: App, target: Identifier, *, grounds: str, rival: Identifier | None) -> dict[str, Any]:
    """Record a contestation in the name of who calls, and return the document that says so."""
    from registry.registration.objections import contest_target

    with refusing("--grounds"), app.ledger.write(actor=app.config.authority) as writer:
        _check_exact(writer, target)
        opened = contest_target(writer, target, grounds=grounds, rival=rival, by=app.config.authority)
    return {"schema": "caveat/contestation/1", "contestation": opened.contestation, "target": opened.target}


@contest.command()
@click.argument("contestation_id", type=CONTESTATION)
@_NOTE
@pass_app
def answer(app: App, *, contestation_id: Identifier, note: str) -> None:
    """Answer a contestation of what you own."""
    report_step(app, contestation_id, ContestationStep.ANSWERED, note=note)


@contest.command()
@click.argument("contestation_id", type=CONTESTATION)
@_NOTE
@pass_app
def uphold(app: App, *, contestation_id: Identifier, note: str) -> None:
    """Decide that a contestation is right; by the owner of what is contested, that is giving way.

    Outcomes under the rival count for their claims from then on. Who contests does not decide it.
    """
    report_step(app, contestation_id, ContestationStep.UPHELD, note=note)


@contest.command()
@click.argument("contestation_id", type=CONTESTATION)
@_NOTE
@pass_app
def reject(app: App, *, contestation_id: Identifier, note: str) -> None:
    """Decide that a contestation is wrong; by who contests, that is taking it back.

    By the owner of what is contested it is recorded and printed as theirs, and settles nothing: the dispute goes on.
    """
    report_step(app, contestation_id, ContestationStep.REJECTED, note=note)


@contest.command()
@click.argument("contestation_id", type=CONTESTATION)
@_NOTE
@click.option("--to", metavar="CODE", help="The authority that is to decide; from then on it alone does.")
@pass_app
def escalate(app: App, *, contestation_id: Identifier, note: str, to: str | None) -> None:
    """Hand a contestation to somebody else to decide."""
    report_step(app, contestation_id, ContestationStep.ESCALATED, note=note, to=to)


@contest.command("list")
@click.option("--open", "only_open", is_flag=True, help="Only those that nobody settled.")
@click.option("--target", type=CONTESTABLE, help="Only those of this claim or specification, in any of its versions or in one (@n).")
@as_of_option
@pass_app
def list_(app: App, *, only_open: bool, target: Identifier | None) -> None:
    """List contestations and where they stand."""
    from registry.cli.contest_text import build_contestation_table, summarise_contestation

    with app.view() as view:
        named = None if target is None else (f"{target.bare}@{target.revision}" if target.revision else target.bare)
        files = [one for one in view.list_contestations(named) if not (only_open and one.is_settled)]
        erased = view.list_erased_contestations(named)
    document = {"schema": "caveat/contestations/1", "contestations": [summarise_contestation(one) for one in files], "erased": list(erased)}
    if erased:
        app.say(f"not told, because a statement of theirs was erased: {', '.join(erased)}")
    app.report(document, lambda console: console.print(build_contestation_table(files) if files else "No contestations."))


@contest.command()
@click.argument("contestation_id", type=CONTESTATION)
@as_of_option
@pass_app
def show(app: App, *, contestation_id: Identifier) -> None:
    """Show a contestation: grounds, contested and rival word by word, each step with who took it, and replays under the rival."""
    from registry.cli.contest_text import build_document, collect_contestation, print_contestation

    with app.view() as view:
        found = collect_contestation(view, contestation_id.bare)
    app.report(build_document(found), lambda console: print_contestation(console, found))


def report_step(app: App, contestation_id: Identifier, step: ContestationStep, *, note: str, to: str | None = None) -> None:
    """Record a step in the name of who calls, and say so."""
    from registry.registration.objections import get_contestation, record_step
    from registry.report.contested import describe_state, name_actor

    with refusing("--note"):
        said = ContestationEvent(contestation=contestation_id.bare, step=step, note=note, to=to)
    with app.ledger.write(actor=app.config.authority) as writer:
        entry = record_step(writer, said, actor=app.config.authority)
        file = get_contestation(writer, contestation_id.bare)
    document = {
        "schema": "caveat/contestation-step/1",
        "contestation": said.contestation,
        "step": step.value,
        "entry": entry.seq,
        "by": entry.actor,
        "to": to,
        "state": file.state.value,
    }
    who = f"{name_actor(file, entry.actor)}{f', to {to}' if to else ''}"
    app.report(
        document,
        lambda console: console.print(
            f"{said.contestation}: {step.value} by {who}, recorded as entry {entry.seq}."
            + ("" if file.is_settled else f"\nIt stands: {describe_state(file)}.")
        ),
    )


def _check_exact(view: "View", target: Identifier) -> None:
    """Refuse a claim named by a revision or a digest (`@n`, `#…`) that it does not have."""
    if str(target).startswith("CLM-") and (target.revision or target.digest):
        view.dossier(str(target))
