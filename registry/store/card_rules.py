"""What may be said of a card's passages: that they were proposed, left out, or found again in another revision."""

from collections.abc import Iterator

from sqlalchemy import ColumnElement, Table, select

from registry.errors import Fault
from registry.records.claim import QuoteStatus
from registry.records.system_card import Anchor, Card, Omission, PassageMatch, Survey
from registry.store.card_tables import omission, sighting
from registry.store.rows import split_reference
from registry.store.tables import claim_revision
from registry.store.view import View


class CardRules:
    """The rules, applied inside one transaction; a card that was found is remembered, for nothing ever goes away."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._cards: dict[str, Card] = {}

    def survey(self, said: Survey) -> Iterator[Fault]:
        """Yield what keeps a survey from being recorded: the card, a passage outside of it, nothing that is new."""
        card = self._find_card(said.card)
        if card is None:
            yield _card_unknown(said.card, "survey")
            return
        for start, stop in said.passages:
            yield from _check_span(card, start, stop)
        before = [one for one in self._view.list_surveys(said.card) if one.payload.by == said.by]
        if before and {span for one in before for span in one.payload.passages}.issuperset(said.passages):
            found = f"entry {before[0].entry.seq} and later ones record all that {said.by} proposed here"
            yield Fault(code="survey-exists", where=said.card, found=found, advice="leave this survey out")

    def omission(self, said: Omission) -> Iterator[Fault]:
        """Yield what keeps an omission from being recorded: the card, a passage of another file or outside the text, the same passage."""
        card = self._find_card(said.card)
        if card is None:
            yield _card_unknown(said.card, "omission")
            return
        yield from _check_anchor(card, said.anchor)
        name, revision = split_reference(said.card)
        place = (omission.c.start == said.anchor.start) & (omission.c.stop == said.anchor.stop)
        if seq := self._find(omission, (omission.c.card == name) & (omission.c.revision == revision) & place):
            found = f"entry {seq} records characters {said.anchor.start} to {said.anchor.stop} as left out"
            yield Fault(code="omission-exists", where=said.card, found=found, advice="the reason given first stands")

    def sighting(self, said: PassageMatch) -> Iterator[Fault]:
        """Yield what keeps a sighting from being recorded: claim or card, a passage that is no quotation, not another revision."""
        claim, revision = split_reference(said.claim)
        table = claim_revision
        same_claim = (table.c.claim == claim) & (table.c.revision == revision)
        quoted = select(table.c.quote_status, table.c.card, table.c.card_revision).where(self._view.visible(table), same_claim)
        rows = self._view.rows(quoted)
        card = self._find_card(said.card)
        if not rows:
            found = f"{said.claim} is not a registered revision of a claim"
            yield Fault(code="claim-unknown", where="sighting", found=found, advice=f"run: caveat claim show {claim}")
        if card is None:
            yield _card_unknown(said.card, "sighting")
        if not rows or card is None:
            return
        yield from _check_quoted(said.claim, card, *rows[0])
        if said.anchor is not None:
            yield from _check_anchor(card, said.anchor)
        same = (sighting.c.claim == claim) & (sighting.c.revision == revision) & (sighting.c.card == card.card)
        if seq := self._find(sighting, same & (sighting.c.card_revision == card.revision)):
            found = f"entry {seq} records what became of its passage in {said.card}"
            yield Fault(code="sighting-exists", where=said.claim, found=found, advice="what was found first stands")

    def _find_card(self, reference: str) -> Card | None:
        if reference not in self._cards:
            name, _, revision = reference.partition("@")
            recorded = self._view.find_card(name, int(revision)) if revision.isdigit() else None
            if recorded is None:
                return None
            self._cards[reference] = recorded.payload
        return self._cards[reference]

    def _find(self, table: Table, same: ColumnElement[bool]) -> int | None:
        found: int | None = self._view.one_value(select(table.c.seq).where(self._view.visible(table), same))
        return found


def _check_quoted(claim: str, card: Card, quote_status: str, name: str | None, revision: int | None) -> Iterator[Fault]:
    if name is None or quote_status != QuoteStatus.VERBATIM:
        found = "it is not quoted from a card word for word, so it has no passage to find again"
        yield Fault(code="not-another-revision", where=claim, found=found)
    elif name != card.card or revision == card.revision:
        found = f"it is quoted from {name}@{revision}; {card.card}@{card.revision} is no other revision of that card"
        yield Fault(code="not-another-revision", where=claim, found=found)


def _check_anchor(card: Card, anchor: Anchor) -> Iterator[Fault]:
    if anchor.document != card.document:
        found = f"its passage stands in the file {anchor.document[:16]}…, the card's file is {card.document[:16]}…"
        yield Fault(code="other-document", where=f"{card.card}@{card.revision}", found=found)
        return
    yield from _check_span(card, anchor.start, anchor.stop)


def _check_span(card: Card, start: int, stop: int) -> Iterator[Fault]:
    end = card.pages[-1].stop
    if not 0 <= start < stop <= end:
        found = f"characters {start} to {stop} are no passage of a text of {end:,} characters"
        yield Fault(code="not-in-text", where=f"{card.card}@{card.revision}", found=found)


def _card_unknown(reference: str, where: str) -> Fault:
    found = f"{reference} is not a registered revision of a card"
    return Fault(code="card-unknown", where=where, found=found, advice="run: caveat card list")
