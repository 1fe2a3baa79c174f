"""The card that `caveat claim propose` reads: registered or a file, with what the registry knows beside its text."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from audit.propose.card_models import CardSource
from registry.cli.application import App
from registry.errors import CaveatError, Fault, NotFoundError
from registry.records.claim import ClaimRevision
from registry.records.model_version import ModelRef
from registry.records.record import Kind, parse_identifier
from registry.records.specification import PropertySpec, SpecKind
from registry.records.system_card import Anchor, Card, CardText, Omission

if TYPE_CHECKING:
    from registry.registration.restated_values import QuantityFigure
    from registry.store.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A card with what is known of it."""

    text: CardText
    source: CardSource
    models: tuple[ModelRef, ...] = ()
    """Registered model versions of this publisher."""
    registered: Mapping[str, PropertySpec | None]
    """Short names of registered properties; None for a sealed one."""
    claims: tuple[ClaimRevision, ...] = ()
    """Those that are registered of this card, whatever its revision."""
    sighted: tuple[tuple[ClaimRevision, Anchor], ...] = ()
    """Claims that quote another revision of the card, each with the place of its passage in this one, where it stands as it did."""
    left_out: tuple[Omission, ...] = ()
    """Passages of this card that are deliberately not registered."""
    figures: "tuple[QuantityFigure, ...]" = ()
    """Numbers of registered claims, to find what is restated; empty where there is no registry."""


def find_card(app: App, name: str) -> Found:
    """Return the card called *name*: an identifier `CRD-…[@n]`, or the path of a file, which is known by its digest if it is registered.

    Raises:
        NotFoundError: neither a registered card nor a file.
        InputError: the file cannot be read as a card.
    """
    path = Path(name)
    if name.startswith("CRD-") and not path.exists():
        return _read_registered(app, name)
    if not path.exists():
        found = "neither a registered card nor a file"
        raise NotFoundError(
            Fault(code="card-not-found", where=name, found=found, advice="give CRD-… (caveat card list) or the path of a file")
        )
    known = _find_registered(app, path)
    if known is not None:
        return known
    from registry.intake.card_reader import read_card

    text, source = read_card(path), CardSource(title=path.stem, publisher=None, card=None)
    if not _has_registry(app):
        return Found(text=text, source=source, registered={})
    with app.view() as view:
        return Found(text=text, source=source, registered=_list_properties(app, view), figures=_read_figures(view))


def _find_registered(app: App, path: Path) -> Found | None:
    """Return the registered card that the file at *path* is, known by its digest; None for another file, and where there is no registry."""
    if not (path.is_file() and _has_registry(app)):
        return None
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    with app.view() as view:
        known = view.find_card_by_document(digest)
        if known is None:
            return None
        app.say(f"{path.name} is registered as {known.payload.card}@{known.payload.revision}")
        return _gather(app, view, known.payload)


def _read_registered(app: App, name: str) -> Found:
    from registry.registration.card_registration import get_card

    try:
        identifier = parse_identifier(name, Kind.CARD)
    except ValueError as error:
        raise NotFoundError(Fault(code="bad-identifier", where=name, found=str(error))) from error
    with app.view() as view:
        return _gather(app, view, get_card(view, identifier.bare, identifier.revision))


def _gather(app: App, view: "View", card: Card) -> Found:
    from registry.registration.card_registration import get_card_text

    known = tuple(one.payload.model for one in view.list_models() if one.payload.model.developer == card.publisher)
    names = tuple(dict.fromkeys(one.name for one in known))
    source = CardSource(title=card.title, publisher=card.publisher, card=f"{card.card}@{card.revision}", models=names)
    claims = tuple(_read_claims(view, card))
    return Found(
        text=get_card_text(view, card),
        source=source,
        models=known,
        registered=_list_properties(app, view),
        claims=claims,
        sighted=tuple(_find_sighted(view, card, claims)),
        left_out=tuple(one.payload for one in view.list_omissions(card.card)),
        figures=_read_figures(view),
    )


def _read_claims(view: "View", card: Card) -> Iterator[ClaimRevision]:
    numbers = [one.seq for one in view.list_claims(card=card.card) if one.quote is not None]  # None: reserved, or its text was erased
    yield from (one.payload for one in view.recorded(numbers))


def _find_sighted(view: "View", card: Card, claims: tuple[ClaimRevision, ...]) -> Iterator[tuple[ClaimRevision, Anchor]]:
    """Yield the claims whose passages were seen in *card* and need no decision there, as they are recorded."""
    current = {one.reference: one for one in claims}
    for one in view.list_sightings(card=f"{card.card}@{card.revision}"):
        seen = one.payload
        if seen.anchor is not None and not seen.is_alarm and seen.claim in current:
            yield current[seen.claim], seen.anchor


def _list_properties(app: App, view: "View") -> dict[str, PropertySpec | None]:
    specs = (one.payload for one in view.list_specs(SpecKind.PROPERTY) if one.payload.owner == app.config.authority)
    bodies = {one.slug: view.open_spec(one) for one in specs}
    return {slug: body if isinstance(body, PropertySpec) else None for slug, body in bodies.items()}


def _read_figures(view: "View") -> "tuple[QuantityFigure, ...]":
    from registry.registration.restated_values import read_figures

    return read_figures(view)


def _has_registry(app: App) -> bool:
    """Whether there is a registry here; without one a file is read all the same."""
    try:
        return app.ledger is not None
    except CaveatError as error:
        if error.code == "registry-not-found" and app.registry is None:
            return False
        raise
