"""`caveat card`: documents and their revisions."""

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from registry.cli.app import App, as_of_option, pass_app
from registry.cli.main import LazyGroup
from registry.cli.parameters import CARD
from registry.records.record import Identifier
from registry.records.system_card import Card

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.records.system_card import CardText, PassageMatch
    from registry.registration.card_registration import CardNote
    from registry.registration.passage_matching import Followers


@click.group(cls=LazyGroup, entry_points="caveat.commands.card")
def card() -> None:
    """System cards: register a file, list what is registered, show one."""


@card.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--title", help="Title of the card; default: that of the revision before, or the name of the file.")
@click.option("--publisher", required=True, help="Who published it.")
@click.option("--published", type=click.DateTime(["%Y-%m-%d"]), help="Date of publication.")
@click.option("--url", help="Where it was published.")
@click.option("--revises", type=CARD, help="The registered card of which this file is a new revision.")
@click.option("--why", help="Why there is a new revision.")
@click.option("--unlike", is_flag=True, help="It is a revision though hardly a passage of the one before is in it.")
@pass_app
def add(
    app: App, /, *, file: Path, publisher: str, published: datetime | None, revises: Identifier | None, unlike: bool, **words: str | None
) -> None:
    """Register a card (PDF, HTML, Markdown, plain text) with its digest and its text.

    The same file twice changes nothing. With a new revision it is recorded where the card's claims stand in it (caveat card diff).
    """
    from registry.intake.card_reader import read_card
    from registry.registration.card_registration import CardNote, register_card
    from registry.registration.passage_matching import match_claims

    text = read_card(file)
    note = CardNote(
        title=words["title"],
        file_name=file.stem,
        publisher=publisher,
        revises=revises.bare if revises else None,
        published=published.date() if published else None,
        url=words["url"],
        why=words["why"],
    )
    followers = _align(app, note, text, unlike=unlike)
    with app.ledger.write(actor=app.config.authority) as writer:
        registered, is_new = register_card(writer, text, note, authority=app.config.authority)
        sightings = match_claims(writer, registered, followers) if is_new and followers else ()
    for warning in text.warnings:
        app.say(f"warning: {warning}")
    document = {"schema": "caveat/card/1", "new": is_new, "card": _summarise(registered), "warnings": list(text.warnings)}

    def tell(console: Any) -> None:
        console.print(
            f"{'Registered' if is_new else 'Registered already, nothing changed:'} {registered.card}@{registered.revision}  "
            f"{_count_pages(registered)}, {len(text.text):,} characters, sha256 {registered.document[:16]}…"
        )
        _tell_sightings(console, registered, sightings)

    app.report({**document, "sightings": [_summarise_sighting(one) for one in sightings]}, tell)


def _align(app: App, note: "CardNote", text: "CardText", *, unlike: bool) -> "Followers | None":
    """Return the revisions that claims quote, aligned with *text*; None where that is no new revision, or will be refused.

    Unless it may be *unlike*, a file that can hardly be a revision is refused here, before anything is written.
    """
    from registry.registration.card_registration import check_alike
    from registry.registration.passage_matching import open_followers

    if note.revises is None or not note.why:
        return None
    with app.ledger.view() as view:
        if view.find_card_by_document(text.sha256):
            return None
        if not unlike:
            check_alike(view, text, note)
        return open_followers(view, note.revises, text)


def _tell_sightings(console: Any, card: Card, sightings: "Sequence[PassageMatch]") -> None:
    from collections import Counter

    from registry.cli.card_diff_text import tell_fates

    if sightings:
        respelled = sum(bool(one.differs) for one in sightings)
        console.print(f"Of {len(sightings)} claims {tell_fates(Counter(one.fate for one in sightings), respelled)}.")
        console.print(f"Next: caveat card diff {card.card}")


def _summarise_sighting(one: "PassageMatch") -> dict[str, Any]:
    return {"claim": one.claim, "fate": one.fate.value, "alarm": one.is_alarm, "differs": list(one.differs)}


@card.command("list")
@as_of_option
@pass_app
def list_(app: App) -> None:
    """List the registered cards, the latest revision of each."""
    with app.view() as view:
        cards = [recorded.payload for recorded in view.list_cards()]
    app.report(
        {"schema": "caveat/cards/1", "cards": [_summarise(one) for one in cards]},
        lambda console: console.print(_build_card_table(cards) if cards else "No cards are registered. Next: caveat card add FILE"),
    )


@card.command()
@click.argument("card_id", type=CARD)
@click.option("--page", type=click.IntRange(1), help="Show the text of one page.")
@as_of_option
@pass_app
def show(app: App, *, card_id: Identifier, page: int | None) -> None:
    """Show a card: what is recorded of its file, and its claims; or the text of one page."""
    from registry.cli.claim_text import build_claim_table, summarise_claim
    from registry.registration.card_registration import get_card, get_card_text

    with app.view() as view:
        found = get_card(view, card_id.bare, card_id.revision)
        if page is not None:
            _show_page(app, found, get_card_text(view, found).text, page)
            return
        claims = list(view.list_claims(card=found.card))
    document = {"schema": "caveat/card/1", "card": _summarise(found), "claims": [summarise_claim(one) for one in claims]}

    def text(console: Any) -> None:
        from registry.cli.output import show as visible

        console.print(visible(f"{found.card}@{found.revision}  {found.title} ({found.publisher}, {found.published or 'no date'})"))
        console.print(visible(f"{found.media_type.value}, {found.size_bytes:,} bytes, {_count_pages(found)}, sha256 {found.document}"))
        agreement = "no second opinion" if found.agreement is None else f"{found.second_extractor} agrees on {found.agreement:.1%} of words"
        console.print(visible(f"read by {found.extractor}; {agreement}\n"))
        console.print(build_claim_table(claims) if claims else "No claims of it are registered. Next: caveat claim add claims.yaml")

    app.report(document, text)


def _show_page(app: App, found: Card, text: str, number: int) -> None:
    from registry.cli.output import show as visible
    from registry.errors import Fault, NotFoundError

    page = next((one for one in found.pages if one.number == number), None)
    if page is None:
        last = found.pages[-1].number
        raise NotFoundError(Fault(code="no-such-page", where=f"--page {number}", found=f"{found.card} has pages 1 to {last}"))
    passage = text[page.start : page.stop]
    document = {"schema": "caveat/page/1", "card": found.card, "revision": found.revision, "page": number, "text": passage}
    app.report(document, lambda console: console.print(visible(passage), soft_wrap=True))


def _count_pages(one: Card) -> str:
    """Return `1 page`, `39 pages`."""
    return "1 page" if len(one.pages) == 1 else f"{len(one.pages)} pages"


def _summarise(one: Card) -> dict[str, Any]:
    from registry.codec.documents import to_document

    document = to_document(one)
    return {**{key: value for key, value in document.items() if key not in ("pages", "headings")}, "pages": len(one.pages)}


def _build_card_table(cards: list[Card]) -> Any:
    from registry.cli.output import build_table

    rows = [(f"{one.card}@{one.revision}", one.title, one.publisher, str(one.published or "–"), str(len(one.pages))) for one in cards]
    return build_table(("card", "title", "publisher", "published", "pages"), rows, numbers=("pages",))
