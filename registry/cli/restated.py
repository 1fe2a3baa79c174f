"""`caveat claim restated`: claims that give different numbers for one quantity."""

from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from registry.cli.app import App, as_of_option, pass_app
from registry.cli.parameters import CARD
from registry.records.claim import ClaimRelationKind
from registry.records.record import Identifier

if TYPE_CHECKING:
    from rich.console import Console

    from registry.registration.restated_values import QuantityFigure, RestatedPair
    from registry.store.view import View


@click.command()
@click.option("--card", type=CARD, help="Only where one of the two claims quotes this card.")
@click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="At most this many.")
@as_of_option
@pass_app
def restated(app: App, *, card: Identifier | None, limit: int) -> None:
    """Find claims that seem to give another number for the same quantity: same model, property and evaluation.

    Numbers are compared after rounding to the coarser of the two as written. Nothing is recorded: each pair comes with the
    command that records it, for a person who has read both passages.
    """
    from registry.cli.progress import track
    from registry.registration.card_registration import get_card
    from registry.registration.restated_values import find_pairs, read_figures

    with app.view() as view:
        if card is not None:
            get_card(view, card.bare, card.revision)
        with track(app, "reading claims", unit="claims") as progress:
            figures = read_figures(view, progress=progress)
        pairs = list(islice(find_pairs(figures, card=card.bare if card else None), limit + 1))
        found = [(pair, _is_recorded(view, pair)) for pair in pairs[:limit]]
        size = view.log_size
    document = {
        "schema": "caveat/restated/1",
        "log_size": size,
        "card": card.bare if card else None,
        "figures": len(figures),
        "pairs": [_summarise(pair, recorded=recorded) for pair, recorded in found],
        "has_more": len(pairs) > limit,
    }

    def text(console: "Console") -> None:
        for pair, recorded in found:
            _print_pair(console, pair, recorded=recorded)
        number = f"{len(found)} {'pair' if len(found) == 1 else 'pairs'}"
        claims = f"{len(figures):,} {'claim' if len(figures) == 1 else 'claims'} with a number"
        console.print(f"{number} among {claims}." + (" There are more: --limit." if len(pairs) > limit else ""))

    app.report(document, text)


def _is_recorded(view: "View", pair: "RestatedPair") -> bool:
    ends = {_bare(pair.claim), _bare(pair.other)}
    relations = (one.payload for one in view.list_relations(_bare(pair.claim)))
    return any(one.relation is ClaimRelationKind.RESTATES and {one.claim, one.other} == ends for one in relations)


def _bare(figure: "QuantityFigure") -> str:
    return (figure.claim or "").partition("@")[0]


def _write_command(pair: "RestatedPair") -> str:
    return f"caveat claim relate {_bare(pair.claim)} restates {_bare(pair.other)}"


def _summarise(pair: "RestatedPair", *, recorded: bool) -> dict[str, Any]:
    return {
        "claim": _summarise_figure(pair.claim),
        "restates": _summarise_figure(pair.other),
        "range": list(pair.claim.range),
        "why": pair.why,
        "recorded": recorded,
        "command": _write_command(pair),
    }


def _summarise_figure(figure: "QuantityFigure") -> dict[str, Any]:
    return {
        "claim": figure.claim,
        "card": figure.card,
        "value": figure.value,
        "relation": figure.relation.value if figure.relation else None,
        "quote": figure.quote,
    }


def _print_pair(console: "Console", pair: "RestatedPair", *, recorded: bool) -> None:
    from registry.cli.claim_text import shorten

    for figure, says in ((pair.claim, "states"), (pair.other, "stated")):
        number = f"{figure.relation.value} {figure.value:g}" if figure.relation else f"{figure.value:g}"
        lead = "" if figure is pair.claim else "  where "
        console.print(f"{lead}{figure.claim} {says} {number} ({figure.card or 'no card'})")
        console.print(f"    “{shorten(figure.quote)}”")
    console.print(f"  why: {pair.why}")
    console.print("  recorded already\n" if recorded else f"  {_write_command(pair)}\n")
