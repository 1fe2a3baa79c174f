"""What is added to a record when it is drawn, beside the public one: openings of sealed specifications, and what superseded it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from registry.codec.canonical import Json
from registry.codec.commitment import commitment_of
from registry.errors import Fault
from registry.records.record import Record
from registry.records.specification import BODIES, SpecBody, SpecOpening, SpecVersion
from registry.records.supplement import CardSupplement, Supplement

Drawn = TypeVar("Drawn", bound=Record)
ADDED: Mapping[str, Json] = {"openings": [], "superseded": None}
"""What a rendering adds to the record that was made of the log, by field, with how a document says that nothing was added."""


def public_record(record: Drawn) -> Drawn:
    """Return *record* without what a rendering adds: openings, and what superseded it since. All renderings print its digest."""
    match record:
        case Supplement() if record.openings or record.superseded:
            return replace(record, openings=(), superseded=None)
        case CardSupplement() if record.superseded:
            return replace(record, superseded=None)
        case _:
            return record


def public_document(document: Json) -> Json:
    """Return the document of `public_record` from that of a record; what the document lacks is not added."""
    if not isinstance(document, dict):
        return document
    return document | {name: nothing for name, nothing in ADDED.items() if document.get(name)}


def check_openings(supplement: Supplement) -> tuple[Fault, ...]:
    """Return what is wrong with the openings of a confidential record; empty when each opens a commitment that the record states.

    An opening of a specification that the record does not refer to, one that is not sealed or is revealed, a second one of the same, or
    one whose kind, salt or body gives another commitment is a fault.
    """
    named = {part.reference: part.version.payload for part in supplement.specs if part.version is not None}
    revealed = {part.reference: part.reveal.entry.seq for part in supplement.specs if part.reveal is not None}
    seen: set[str] = set()
    faults: list[Fault] = []
    for position, opening in enumerate(supplement.openings):
        where = f"openings[{position}], {opening.spec}"
        if opening.spec in seen:
            faults.append(Fault(code="opening-twice", where=where, found="the record holds an opening of it already"))
        elif opening.spec not in named:
            found = f"the record of {supplement.identifier} does not refer to it"
            faults.append(Fault(code="opening-not-referred", where=where, found=found, advice="leave this seal file out"))
        elif opening.spec in revealed:
            found = f"entry {revealed[opening.spec]} reveals it: its text is in the log for everybody to read"
            faults.append(Fault(code="not-sealed", where=where, found=found, advice="leave this seal file out"))
        else:
            faults += find_opening_faults(named[opening.spec], opening, where=where)
        seen.add(opening.spec)
    return tuple(faults)


def list_opened(supplement: Supplement) -> dict[str, SpecBody]:
    """Return the bodies that a rendering of *supplement* shows, by `CTX-…@n`: as recorded, as revealed, or opened in confidence."""
    shown = {one.spec: one.body for one in supplement.openings}
    for part in supplement.specs:
        if part.version is not None and part.version.payload.body is not None:
            shown[part.reference] = part.version.payload.body
        elif part.reveal is not None:
            shown[part.reference] = part.reveal.payload.opening.body
    return shown


def find_opening_faults(version: SpecVersion, opening: SpecOpening, *, where: str) -> Iterator[Fault]:
    """Yield why *opening* does not open the commitment of *version*; nothing when it does."""
    made = commitment_of(opening)
    if version.commitment is None:
        yield Fault(code="not-sealed", where=where, found="its body is in the log for everybody to read")
    elif not isinstance(opening.body, BODIES[opening.spec_kind]):
        noun = type(opening.body).__name__
        yield Fault(code="seal-not-opened", where=where, found=f"a {noun} is no body of a specification of kind {opening.spec_kind.value}")
    elif (version.kind, version.commitment) != (opening.spec_kind, made):
        found = f"kind, body and salt give the commitment {made}, sealed was {version.commitment} ({version.kind.value})"
        yield Fault(code="seal-not-opened", where=where, found=found, advice="give the very file that `caveat spec seal` wrote")
