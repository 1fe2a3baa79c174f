"""The same passage in other registries: what their logs, as far as they were taken over, say of claims quoted from it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from registry.records.claim import ClaimRevision, QuoteStatus
from registry.records.classification import ClaimClass, Standing
from registry.records.dossier import Dossier, Recorded
from registry.records.record import Record
from registry.records.restriction import Restriction
from registry.records.status import Status
from registry.store.ledger import Ledger
from registry.store.seen import list_equivocations, list_imports
from registry.store.view import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere(Record):
    """A claim about the same passage in another log."""

    origin: str
    """Name of the log."""
    is_doubtful: bool
    """Whether it signed two histories: somebody may be shown another one."""
    claim: str
    """`CLM-…@n`."""
    status: Status
    audit: str | None
    """The audit whose outcome follows; None where there is no outcome."""
    class_: ClaimClass | None
    """Of the primary reading."""
    standing: Standing | None
    at: datetime | None
    """When the outcome was recorded."""


def find_elsewhere(ledger: Ledger, dossier: Dossier, *, as_of: int | None = None) -> tuple[Elsewhere, ...]:
    """Return the claims of other logs about the passage that the claim of *dossier* quotes; empty where it quotes none.

    A passage is the same where the card's file has the same digest and the words are the same, whatever white space divides them.

    Args:
        as_of: an entry of this registry's own log; what was taken over later is not seen. None: everything is.
    """
    if not dossier.revisions or dossier.card is None or dossier.current.payload.quote_status is not QuoteStatus.VERBATIM:
        return ()
    with ledger.view(as_of) as view:
        imported = {one.payload.origin: one.payload.size for one in list_imports(view)}
        doubtful = {one.payload.origin for one in list_equivocations(view)}
    found: list[Elsewhere] = []
    for log in ledger.list_logs():
        size = log.size if log.is_own else imported.get(log.origin, 0)
        if log.origin == dossier.log_origin or not size:
            continue
        with ledger.view(size, log=None if log.is_own else log.origin) as other:
            found += _find_same(other, dossier.current.payload, dossier.card.payload.document, log.origin in doubtful)
    return tuple(found)


def _find_same(view: View, claim: ClaimRevision, document: str, is_doubtful: bool) -> Iterator[Elsewhere]:  # noqa: FBT001  (private)
    card = view.find_card_by_document(document)
    if card is None:
        return
    for one in view.list_claims(card=f"{card.payload.card}@{card.payload.revision}"):
        if one.quote is None or one.quote.split() != claim.quote.split():
            continue
        there = view.dossier(one.claim)
        outcome = _find_outcome(there)
        primary = outcome.payload.classification.primary if outcome else None
        yield Elsewhere(
            origin=view.log_origin,
            is_doubtful=is_doubtful,
            claim=there.current.payload.reference,
            status=there.status,
            audit=outcome.payload.audit if outcome else None,
            class_=primary.class_ if primary else None,
            standing=primary.standing if primary else None,
            at=outcome.entry.at if outcome else None,
        )


def _find_outcome(dossier: Dossier) -> Recorded[Restriction] | None:
    """The last outcome of the current revision; one of an earlier revision does not speak for it."""
    said = [one for file in dossier.audits for one in file.restrictions if one.payload.claim == dossier.current.payload.reference]
    return max(said, key=lambda one: one.entry.seq, default=None)
