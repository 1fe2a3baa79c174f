"""What an engine proposed from a card becomes a statement, so that coverage knows what nobody decided on."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.errors import Fault, InputError
from registry.records.card import Card
from registry.records.draft import SurveyDraft
from registry.records.survey import Survey
from registry.registration.quotes import Quotes
from registry.store.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class Surveyed:
    """What became of the passages that an engine proposed."""

    added: int
    unchanged: int
    """Recorded as proposed by this engine already."""


_DIGEST = re.compile("[0-9a-fA-F]{64}")


def register_survey(writer: Writer, draft: SurveyDraft, quotes: Quotes, *, where: str) -> Surveyed:
    """Record the passages that the engine did not propose before, and return how many; the same again changes nothing.

    Surveys by one engine add up: it may have read part of the card first, or left out what is registered by now. None takes anything back,
    so a card cannot be made to look better covered by proposing again.

    Raises:
        InputError: of another file than the card's, or passages that are none.
        NotFoundError: the card is not registered.
    """
    card = quotes.find_card(None, where)
    if card is None:
        found, advice = "is of a card, and the file names none", "add card: CRD-… at the top of the file"
        raise InputError(Fault(code="not-valid", where=where, found=found, advice=advice))
    faults = [*_check_document(writer, draft, card, where), *_check_passages(draft.passages, card, where)]
    if not draft.by.strip():
        faults.append(Fault(code="not-valid", where=f"{where}.by", found="is blank", advice="name the engine with its version"))
    if faults:
        raise InputError(faults)
    reference = f"{card.card}@{card.revision}"
    before = [one.payload for one in writer.list_surveys(reference) if one.payload.by == draft.by]
    known = {span for survey in before for span in survey.passages}
    new = tuple(span for span in draft.passages if span not in known)
    if new or not before:
        writer.append(Survey(card=reference, by=draft.by, passages=new))
    return Surveyed(added=len(new), unchanged=len(draft.passages) - len(new))


def _check_document(writer: Writer, draft: SurveyDraft, card: Card, where: str) -> Iterator[Fault]:
    """Positions mean nothing in another file; a survey of another revision says which."""
    if draft.document.lower() == card.document:
        return
    if not _DIGEST.fullmatch(draft.document):
        found = f"is no SHA-256 of a file: {draft.document[:80]!r}"
        yield Fault(code="not-valid", where=f"{where}.document", found=found, advice="write 64 hexadecimal digits")
        return
    surveyed = writer.find_card_by_document(draft.document.lower())
    reference = f"{card.card}@{card.revision}"
    if surveyed is None:
        found = f"is not the file of {reference}"
        advice = f"register the file that was read, or propose anew: caveat claim propose {reference}"
    else:
        other = f"{surveyed.payload.card}@{surveyed.payload.revision}"
        found, advice = f"is the file of {other}, and the claims quote {reference}", f"write card: {other}, the card that was surveyed"
    yield Fault(code="other-document", where=f"{where}.document", found=found, advice=advice)


def _check_passages(passages: Sequence[tuple[int, int]], card: Card, where: str) -> Iterator[Fault]:
    end = card.pages[-1].stop
    before = (-1, -1)
    for position, passage in enumerate(passages):
        place = f"{where}.passages[{position}]"
        if not 0 <= passage[0] < passage[1] <= end:
            found = f"characters {passage[0]} to {passage[1]} are no passage of a text of {end:,} characters"
            yield Fault(code="not-in-text", where=place, found=found, advice="leave what was proposed as caveat claim propose wrote it")
        elif passage <= before:
            yield Fault(code="not-valid", where=place, found="passages stand in the order of the card, each once")
        before = max(before, passage)
