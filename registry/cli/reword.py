"""`caveat claim reword`: a claim goes on in the newer wording of its card."""

from typing import TYPE_CHECKING

import click

from registry.cli.app import App, pass_app
from registry.cli.output import show
from registry.cli.parameters import CLAIM
from registry.records.record import Identifier

if TYPE_CHECKING:
    from registry.registration.passage_matching import Rewording


@click.command()
@click.argument("claim_id", type=CLAIM)
@click.option("--quote", help="The passage of the newer card; default: the reworded one that was found.")
@click.option("--why", help="Why it is the same claim, in your words; added to the reason.")
@click.option("--yes", is_flag=True, help="Record it without asking.")
@pass_app
def reword(app: App, *, claim_id: Identifier, quote: str | None, why: str | None, yes: bool) -> None:
    """Say that a claim is the same in the newer wording of its card, and record it as a revision with that reason.

    Refused where a number changed: that is another claim revision. Where a negation, its opposite, how far it holds, or a name
    changed, --yes needs --why. Nothing needs doing for a passage that is unchanged, moved, or spelled otherwise.
    """
    from registry.registration.passage_matching import check_turns, find_rewording, record_rewording

    with app.view() as view:
        if claim_id.revision or claim_id.digest:
            view.dossier(str(claim_id))
        found = find_rewording(view, claim_id.bare, quote)
        audits = [one.audit.payload for one in view.dossier(claim_id.bare).audits]
    if found.anchor is None:
        _report(app, found, None)
        return
    _show(app, found, sum(one.claim == found.claim.reference for one in audits))
    if yes:
        check_turns(found, why)
    else:
        turned = "".join(f"{str(one)[0].upper()}{str(one)[1:]}. " for one in found.turns)
        question = f"{turned}Is this the same claim{' all the same' if turned else ''}?"
        click.confirm(show(question), abort=True, err=True)
    with app.ledger.write(actor=app.config.authority) as writer:
        revised = record_rewording(writer, found, why)
    _report(app, found, revised.reference)


def _show(app: App, found: "Rewording", audits: int) -> None:
    from registry.cli.card_diff_text import render_redline

    if found.anchor and found.claim.anchor:
        app.say(f"{found.claim.reference} in {found.card.card}@{found.card.revision}:")
        app.say(f"  {render_redline(found.claim.anchor.exact, found.anchor.exact)}")
        for one in found.turns:
            app.say(f"ATTENTION: {one}")
        if audits:
            noun, verb = ("audit", "speaks") if audits == 1 else ("audits", "speak")
            app.say(
                f"{audits} {noun} of {found.claim.reference} {verb} of the old wording alone; their outcomes stay on record as history."
            )


def _report(app: App, found: "Rewording", revised: str | None) -> None:
    document = {
        "schema": "caveat/claim-reword/1",
        "claim": found.claim.reference,
        "fate": found.sighting.fate.value,
        "card": f"{found.card.card}@{found.card.revision}",
        "revised": revised,
        "turns": [{"what": one.what, "words": one.words} for one in found.turns],
    }
    spelling = " in spelling alone" if found.sighting.differs else ""
    nothing = f"{found.claim.reference} is {found.sighting.fate.value}{spelling} in {found.card.card}@{found.card.revision}."
    done = f"Recorded {revised}. Audits of {found.claim.reference} are history: they are about the old words."
    done += f"\nNext: caveat audit new {found.claim.claim}"
    app.report(document, lambda console: console.print(done if revised else f"{nothing} Nothing needs doing: its audits stand."))
