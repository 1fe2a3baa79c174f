"""Quotations and the bounds they state, checked against the cards and figures of their claims."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from registry.errors import Fault, InputError, NotFoundError
from registry.intake.quote_anchor import AnchoredText
from registry.intake.stated_bounds import agrees, is_theta, read_bounds
from registry.records.claim import Form, Relation, Reported
from registry.records.claim_draft import SurveyDraft
from registry.records.record import Kind, parse_identifier
from registry.records.system_card import Anchor, Card, CardText, Survey
from registry.registration.card_registration import get_card, get_card_text
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# Positions of quotations in the cards they name. Each card text is read once per file.


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
            # The fault names the line where the card is named: the claim's own, or the head of the
            # file.
            place = f"{where}.card" if name else f"{self._where}, card"
            try:
                identifier = parse_identifier(wanted, Kind.CARD)
            except ValueError as error:
                raise InputError(Fault("bad-identifier", place, str(error), advice=self._view.suggest(wanted))) from error
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
            problem, advice = "is required and missing, here or for the whole file", "add card: CRD-…, as caveat card list names it"
            raise InputError(Fault("not-valid", f"{where}.card", problem, advice=advice))
        return card

    def find(self, card: Card, quote: str, *, page: int | None, where: str, near: int | None = None) -> Anchor:
        """Return where *quote* is in *card*, of several places the one closest to the character *near*, else the first.

        Raises:
            InputError: as `AnchoredText.find`.
        """
        # A card is aligned once for all quotations of a file; this takes longer than each search.
        if card.document not in self._anchored:
            self._anchored[card.document] = AnchoredText(self._get_text(card))
        return self._anchored[card.document].find(quote, page=page, near=near, where=where)

    def get_words(self, card: Card, start: int, stop: int) -> str:
        """Return what is between two characters of *card*, with white space folded."""
        return " ".join(self._get_text(card).text[start:stop].split())

    def _get_text(self, card: Card) -> CardText:
        if card.document not in self._texts:
            self._texts[card.document] = get_card_text(self._view, card)
        return self._texts[card.document]


# Bounds stated in a quotation, compared with θ, relation and reported figure of its claim. Only
# clear contradictions count: a false alarm would ask for a reason where none is needed.


def find_mismatches(
    quote: str,
    *,
    form: Form | None = None,
    relation: Relation | None,
    theta: float | None,
    reported: Reported | None,
    range_: tuple[float, float],
    where: str,
) -> Iterator[Fault]:
    """Yield in what a claim differs from its own words: θ or relation from a bound in them, a reported figure from θ.

    Args:
        quote: the words.
        form: a prevalence without a figure tests no bound that the words state.
        range_: of the property. Words are compared only on shares, [0, 1] or [0, 100].
        where: path of the claim.
    """
    if form is Form.PREVALENCE and reported is None and (stated_bounds := read_bounds(quote)):
        problem = f"the words say “{stated_bounds[0].words}”; a prevalence without a reported figure tests no limit"
        yield Fault("quotation-mismatch", f"{where}.form", problem)
    # Only shares can be compared. On another range the unit of the number is unknown.
    bounds = read_bounds(quote) if relation is not None and range_ in ((0.0, 1.0), (0.0, 100.0)) else ()
    if relation is not None and bounds and not any(agrees(bound, relation, theta, range_) for bound in bounds):
        stated = " and ".join(f"“{bound.words}”" for bound in bounds)
        claimed = f"{relation.value} {'θ, not published' if theta is None else f'{theta:g}'}"
        # The right number with the wrong direction is the most common mistake, so it gets a message
        # of its own.
        if all(stated_bound.relation is not relation for stated_bound in bounds) and any(
            is_theta(stated_bound.share, theta, range_) for stated_bound in bounds
        ):
            problem = f"the words say {stated}; the claim has {claimed}, the other direction"
            yield Fault("quotation-mismatch", f"{where}.relation", problem)
        else:
            problem = f"the words say {stated}; expected a θ and a relation that agree, found {claimed}"
            yield Fault("quotation-mismatch", f"{where}.theta", problem)
    if relation is not None and theta is not None and reported is not None:
        excess = theta - reported.value if relation is Relation.AT_LEAST else reported.value - theta
        if excess > 1e-12:
            problem = f"the reported figure {reported.value:g} fails the claim’s own θ: {relation.value} {theta:g}"
            yield Fault("reported-fails-theta", f"{where}.reported", problem)


# Surveys: what an engine proposed from a card becomes a statement, so that coverage knows the
# unreviewed passages.


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyResult:
    """Outcome of the passages that an engine proposed."""

    added: int
    unchanged: int
    """Recorded as proposed by this engine already."""


_DIGEST = re.compile("[0-9a-fA-F]{64}")


def register_survey(writer: Writer, draft: SurveyDraft, quotes: Quotes, *, where: str) -> SurveyResult:
    """Record the passages that the engine did not propose before, and return how many; the same again changes nothing.

    Surveys by one engine add up: it may have read part of the card first, or omitted what is registered by now. None takes anything back,
    so a card cannot be made to look better covered by proposing again.

    Raises:
        InputError: of another file than the card's, or passages that are none.
        NotFoundError: the card is not registered.
    """
    card = quotes.find_card(None, where)
    if card is None:
        problem, advice = "is of a card, and the file names none", "add card: CRD-… at the top of the file"
        raise InputError(Fault("not-valid", where, problem, advice=advice))
    faults = [*_check_document(writer, draft, card, where), *_check_passages(draft.passages, card, where)]
    if not draft.by.strip():
        faults.append(Fault("not-valid", f"{where}.by", "is blank", advice="name the engine with its version"))
    if faults:
        raise InputError(faults)
    reference = f"{card.card}@{card.revision}"
    before = [recorded.payload for recorded in writer.list_surveys(reference) if recorded.payload.by == draft.by]
    known = {span for survey in before for span in survey.passages}
    new = tuple(span for span in draft.passages if span not in known)
    if new or not before:
        writer.append(Survey(card=reference, by=draft.by, passages=new))
    return SurveyResult(added=len(new), unchanged=len(draft.passages) - len(new))


def _check_document(writer: Writer, draft: SurveyDraft, card: Card, where: str) -> Iterator[Fault]:
    """Positions mean nothing in another file; a survey of another revision says which."""
    if draft.document.lower() == card.document:
        return
    if not _DIGEST.fullmatch(draft.document):
        problem = f"is not a SHA-256 of a file: {draft.document[:80]!r}"
        yield Fault("not-valid", f"{where}.document", problem, advice="write 64 hexadecimal digits")
        return
    surveyed = writer.find_card_by_document(draft.document.lower())
    reference = f"{card.card}@{card.revision}"
    if surveyed is None:
        problem = f"is not the file of {reference}"
        advice = f"register the file that was read, or propose anew: caveat claim propose {reference}"
    else:
        other = f"{surveyed.payload.card}@{surveyed.payload.revision}"
        problem, advice = f"is the file of {other}, and the claims quote {reference}", f"write card: {other}, the card that was surveyed"
    yield Fault("wrong-document", f"{where}.document", problem, advice=advice)


def _check_passages(passages: Sequence[tuple[int, int]], card: Card, where: str) -> Iterator[Fault]:
    end = card.pages[-1].stop
    before = (-1, -1)
    for position, passage in enumerate(passages):
        place = f"{where}.passages[{position}]"
        if not 0 <= passage[0] < passage[1] <= end:
            yield Fault("not-in-text", place, f"characters {passage[0]} to {passage[1]} are not a passage of a text of {end:,} characters")
        elif passage <= before:
            yield Fault("not-valid", place, "passages are listed in the order of the card, each once")
        before = max(before, passage)
