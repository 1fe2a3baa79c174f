"""`caveat claim stale`: which claims may no longer stand, and what settles each cause."""

import click

from registry.cli.app import App, as_of_option, pass_app
from registry.cli.parameters import CARD, parse_model
from registry.records.record import Identifier

_FEW = 20


@click.command()
@click.option("--model", metavar="DEV/NAME/VERSION", help="Only claims about this model version.")
@click.option("--card", type=CARD, help="Only claims of this card, or of this revision of it.")
@click.option("--limit", type=click.IntRange(1), help=f"List at most this many; default: {_FEW}, and all of them with --json.")
@click.option("--check", is_flag=True, help="Exit with 1 if there is any.")
@as_of_option
@pass_app
def stale(app: App, *, model: str | None, card: Identifier | None, limit: int | None, check: bool) -> None:
    """List the claims that are stale or may be, with every cause and the command that settles it.

    First those whose outcome people rely on (supported, narrowed), then those with another outcome, then unaudited ones;
    among these published claims before others, confirmed before potential, more causes before fewer. Withdrawn, rejected and
    superseded claims are left out: nothing rests on them.
    """
    from registry.cli.stale_text import print_stale, summarise_stale
    from registry.registration.card_registration import get_card
    from registry.registration.model_lineage import require_model
    from registry.registration.stale_claims import RemedyPlanner, find_stale

    wanted = parse_model(model, where="--model") if model else None
    with app.view(by_clock=True) as view:
        if card is not None:
            get_card(view, card.bare, card.revision)
        if wanted is not None:
            require_model(view, wanted)
        found = find_stale(view, model=wanted, card=str(card) if card else None)
        steps = RemedyPlanner(view)
        shown = [(one, steps.find(one)) for one in found.claims[: limit or (None if app.json else _FEW)]]
        size = view.log_size
    app.report(summarise_stale(found, shown, log_size=size), lambda console: print_stale(console, found, shown))
    if check and found.claims:
        click.get_current_context().exit(1)
