"""`caveat status`: what is registered, and what is open, stale or unpublished, each with the next command."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import click

from registry.cli.application import App, as_of_option, examples, pass_app
from registry.present.answers import Answer
from registry.present.blocks import Block, Subtitle, Table, Verbatim

if TYPE_CHECKING:
    from registry.store.registry_view import View


class OpenMatter(StrEnum):
    """A kind of work that a registry has left."""

    CARD_WITHOUT_CLAIMS = "card_without_claims"
    UNAUDITED_CLAIM = "unaudited_claim"
    UNCONCLUDED_AUDIT = "unconcluded_audit"
    OPEN_OBJECTION = "open_objection"
    STALE_CLAIM = "stale_claim"
    UNPUBLISHED_CLAIM = "unpublished_claim"


_TITLES = {
    OpenMatter.CARD_WITHOUT_CLAIMS: "cards without claims",
    OpenMatter.UNAUDITED_CLAIM: "claims without a verdict",
    OpenMatter.UNCONCLUDED_AUDIT: "audits without a verdict",
    OpenMatter.OPEN_OBJECTION: "open objections",
    OpenMatter.STALE_CLAIM: "stale claims",
    OpenMatter.UNPUBLISHED_CLAIM: "claims without a published supplement",
}
# The command names the first of them; a list of the others is one command away.
_COMMANDS = {
    OpenMatter.CARD_WITHOUT_CLAIMS: "caveat claim propose {} -o claims.yaml",
    OpenMatter.UNAUDITED_CLAIM: "caveat audit new {} > audit.yaml",
    OpenMatter.UNCONCLUDED_AUDIT: "caveat audit show {}",
    OpenMatter.OPEN_OBJECTION: "caveat contest show {}",
    OpenMatter.STALE_CLAIM: "caveat stale list",
    OpenMatter.UNPUBLISHED_CLAIM: "caveat report {} --publish",
}


@dataclass(frozen=True, slots=True)
class RegistryOverview:
    """Counts of what a registry holds, and the identifiers of what is left to do."""

    log: str
    log_size: int
    registered: dict[str, int]
    todo: dict[OpenMatter, Sequence[str]]


@examples("status", "status --as-of 2026-11-01", "status --json")
@click.command()
@as_of_option
@pass_app
def status(app: App) -> None:
    """Show what is registered, open, stale and unpublished.

    Each line of open work ends with the next command. Withdrawn, rejected and superseded claims need no work and are only counted.
    """
    with app.view(by_clock=True) as view:
        overview = summarise_registry(view)
    app.report(present_overview(overview))


def summarise_registry(view: "View") -> RegistryOverview:
    """Return counts and open work of the registry that *view* shows."""
    from registry.records.claim_status import Staleness
    from registry.store.status_derivation import TERMINAL

    claims = list(view.list_claims())
    active = [claim for claim in claims if claim.status.lifecycle not in TERMINAL]
    cards, audits, published = view.list_cards(), view.list_audits(), view.list_published_subjects()
    quoted = {(claim.card or "").partition("@")[0] for claim in claims}
    objections = [file.contestation.payload.contestation for file in view.list_contestations() if not file.is_settled]
    todo: dict[OpenMatter, Sequence[str]] = {
        OpenMatter.CARD_WITHOUT_CLAIMS: [card.payload.card for card in cards if card.payload.card not in quoted],
        OpenMatter.UNAUDITED_CLAIM: [claim.claim for claim in active if claim.status.gravest is None],
        OpenMatter.UNCONCLUDED_AUDIT: [file.audit.payload.audit for file in audits if not file.restrictions],
        OpenMatter.OPEN_OBJECTION: objections,
        OpenMatter.STALE_CLAIM: [claim.claim for claim in active if claim.status.staleness is not Staleness.CURRENT],
        OpenMatter.UNPUBLISHED_CLAIM: [claim.claim for claim in active if f"{claim.claim}@{claim.revision}" not in published],
    }
    registered = {
        "cards": len(cards),
        "claims": len(claims),
        "audits": len(audits),
        "models": len(view.list_models()),
        "specifications": len(view.list_specs()),
    }
    return RegistryOverview(log=view.log_origin, log_size=view.log_size, registered=registered, todo=todo)


def present_overview(overview: RegistryOverview) -> Answer:
    """Present *overview*; kinds of work of which nothing is left are not listed."""
    todo = [
        {"matter": matter.value, "count": len(names), "first": names[0], "next": _COMMANDS[matter].format(names[0])}
        for matter, names in overview.todo.items()
        if names
    ]
    document = {
        "schema": "caveat/status/1",
        "log": overview.log,
        "log_size": overview.log_size,
        "registered": overview.registered,
        "todo": todo,
    }
    return Answer(document, _list_blocks(overview))


def _list_blocks(overview: RegistryOverview) -> Iterator[Block]:
    yield f"{overview.log}, {overview.log_size:,} log entries"
    yield Table(tuple(overview.registered), [[f"{count:,}" for count in overview.registered.values()]], numbers=tuple(overview.registered))
    left = [(matter, names) for matter, names in overview.todo.items() if names]
    if not left:
        yield "Nothing is open, stale or unpublished." if overview.registered["cards"] else "Next: caveat card add CARD --publisher NAME"
    for matter, names in left:
        yield Subtitle(f"{len(names):,} {_TITLES[matter]}")
        yield Verbatim(f"  {_COMMANDS[matter].format(names[0])}")
