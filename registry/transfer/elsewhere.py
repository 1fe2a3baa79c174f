"""The same passage in other registries: what their logs, as far as they were taken over, say of claims quoted from it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from registry.errors import CaveatError
from registry.records.claim import ClaimRevision, QuoteStatus
from registry.records.claim_status import FamilyOutcome, Status
from registry.records.dossier import Dossier
from registry.records.record import Record
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
    status: Status | None
    """None where what the log says of the claim cannot be read; then nothing of an outcome is known either."""
    problem: str | None = None
    """Why it cannot be read: a text that was erased there, or entries that do not fit each other."""
    outcome: FamilyOutcome | None = None
    """The gravest outcome of the claim's family in that log; None where there is none."""


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
            found += _find_same(other, dossier.current.payload, dossier.card.payload.document, is_doubtful=log.origin in doubtful)
    return tuple(found)


def _find_same(view: View, claim: ClaimRevision, document: str, *, is_doubtful: bool) -> Iterator[Elsewhere]:
    """A log that was taken over obeys its own registry's rules, and may have lost texts: what is here is shown whatever is there."""
    card = view.find_card_reference(document)
    for one in () if card is None else view.list_claims(card=card):
        if one.quote is None or one.quote.split() != claim.quote.split():
            continue
        said = Elsewhere(origin=view.log_origin, is_doubtful=is_doubtful, claim=f"{one.claim}@{one.revision}", status=one.status)
        try:
            yield _add_outcome(said, view.dossier(one.claim))
        except CaveatError as error:
            yield replace(said, status=None, problem=f"{error.faults[0].where}: {error.faults[0].found}")


def _add_outcome(said: Elsewhere, dossier: Dossier) -> Elsewhere:
    outcome = dossier.family.gravest
    return said if outcome is None else replace(said, outcome=outcome)
