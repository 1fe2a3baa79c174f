"""What an engine proposed from a card becomes a statement, so that coverage knows what nobody decided on."""

import re
from collections.abc import Iterator, Sequence

from registry.errors import Fault, InputError
from registry.records.card import Card
from registry.records.draft import SurveyDraft
from registry.records.survey import Survey
from registry.registration.quotes import Quotes
from registry.store.writer import Writer

_DIGEST = re.compile("[0-9a-fA-F]{64}")


def register_survey(writer: Writer, draft: SurveyDraft, quotes: Quotes, *, where: str) -> bool:
    """Return whether the survey is new; the same again changes nothing.

    Raises:
        InputError: of another file than the card's, passages that are none, or other passages than the same engine proposed before.
        NotFoundError: the card is not registered.
    """
    card = quotes.get_card(None, where)
    faults = [*_check_document(writer, draft, card, where), *_check_passages(draft.passages, card, where)]
    if not draft.by.strip():
        faults.append(Fault(code="not-valid", where=f"{where}.by", found="is blank", advice="name the engine with its version"))
    if faults:
        raise InputError(faults)
    survey = Survey(card=f"{card.card}@{card.revision}", by=draft.by, passages=draft.passages)
    known = [one for one in writer.list_surveys(survey.card) if one.payload.by == survey.by]
    if known and known[0].payload != survey:
        raise InputError(_differs(survey, known[0].payload, known[0].entry.seq, where))
    if not known:
        writer.append(survey)
    return not known


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
        found, advice = f"is not the file of {reference}", "register the file that was surveyed, or run: caveat claim propose again"
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


def _differs(survey: Survey, known: Survey, seq: int, where: str) -> Fault:
    found = (
        f"{survey.by} proposed {len(known.passages)} passages of {survey.card} in entry {seq}, here {len(survey.passages)}, not the same"
    )
    advice = "remove proposed: from the file; what was proposed first stands, so that a card cannot be made to look better covered"
    return Fault(code="survey-differs", where=where, found=found, advice=advice)
