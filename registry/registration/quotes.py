"""Where quotations stand in the cards they name; each card and its text is read once."""

from dataclasses import replace

from registry.errors import Fault, InputError, NotFoundError
from registry.intake.anchor import AnchoredText
from registry.records.card import Anchor, Card, CardText
from registry.records.identifier import Kind, parse_identifier
from registry.registration.cards import get_card, get_card_text
from registry.store.view import View


class Quotes:
    """Answers for one file; a card without a name is the file's."""

    def __init__(self, view: View, *, default: str | None, where: str) -> None:
        """*default*: the card that the file names for all; *where*: the file."""
        self._view = view
        self._where = where
        self._default = default
        self._cards: dict[str, Card] = {}
        self._texts: dict[str, CardText] = {}
        self._anchored: dict[str, AnchoredText] = {}

    def find_card(self, name: str | None, where: str) -> Card | None:
        """Return the card called *name*, or the file's; None when neither is named.

        Raises:
            InputError: bad-identifier.
            NotFoundError: it is not registered; the fault says where it is named.
        """
        wanted = name or self._default
        if wanted is None:
            return None
        if wanted not in self._cards:
            place = f"{where}.card" if name else f"{self._where}, card"
            try:
                identifier = parse_identifier(wanted, Kind.CARD)
            except ValueError as error:
                raise InputError(Fault(code="bad-identifier", where=place, found=str(error))) from error
            try:
                self._cards[wanted] = get_card(self._view, identifier.bare, identifier.revision)
            except NotFoundError as error:
                faults = [replace(fault, where=place, found=f"{wanted} is not registered") for fault in error.faults]
                raise NotFoundError(faults) from error
        return self._cards[wanted]

    def get_card(self, name: str | None, where: str) -> Card:
        """Return the card called *name*, or the file's; raises InputError when neither is named, and as `find_card`."""
        card = self.find_card(name, where)
        if card is None:
            found, advice = "is required and missing, here or for the whole file", "add card: CRD-…, as caveat card list names it"
            raise InputError(Fault(code="not-valid", where=f"{where}.card", found=found, advice=advice))
        return card

    def find(self, card: Card, quote: str, *, page: int | None, where: str, near: int | None = None) -> Anchor:
        """Return where *quote* stands in *card*, of several places the one closest to the character *near*, otherwise the first.

        Raises:
            InputError: as `AnchoredText.find`.
        """
        if card.document not in self._anchored:
            self._anchored[card.document] = AnchoredText(self._get_text(card))
        return self._anchored[card.document].find(quote, page=page, near=near, where=where)

    def get_words(self, card: Card, start: int, stop: int) -> str:
        """Return what stands between two characters of *card*, with white space folded."""
        return " ".join(self._get_text(card).text[start:stop].split())

    def _get_text(self, card: Card) -> CardText:
        if card.document not in self._texts:
            self._texts[card.document] = get_card_text(self._view, card)
        return self._texts[card.document]
