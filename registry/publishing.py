"""From identifiers to supplements: what a registry holds on a claim or a card, assembled for print."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from registry.errors import Fault, NotFoundError
from registry.records.card import Card
from registry.records.dossier import Dossier, Recorded
from registry.records.identifier import Identifier, Kind
from registry.records.supplement import CardSupplement, Supplement
from registry.report.assemble import assemble_card, assemble_claim
from registry.store.view import View


def collect_supplements(view: View, subjects: Iterable[Identifier]) -> Iterator[Supplement | CardSupplement]:
    """Give the supplement of each claim or card in *subjects*, as the registry stands in *view*.

    The date that is printed is that of the last log entry which is seen: the same records give the same bytes at any time.

    Raises:
        NotFoundError: not registered, with what is near.
    """
    for subject in subjects:
        yield _assemble_card(view, subject) if subject.kind is Kind.CARD else _assemble_claim(view, subject)


def list_claims_of(view: View, card: Identifier) -> Sequence[str]:
    """Return the claims registered of *card*, `CLM-…`, in the order of their registration."""
    return [one.claim for one in view.list_claims(card=card.bare)]


def _assemble_claim(view: View, subject: Identifier) -> Supplement:
    dossier = view.dossier(subject.bare, subject.revision)
    if not dossier.revisions:
        found = "is reserved and has no text yet, so there is nothing to print"
        raise NotFoundError(Fault(code="only-reserved", where=subject.bare, found=found, advice="register it: caveat claim add FILE"))
    return assemble_claim(dossier, made_at=_find_last_moment(view))


def _assemble_card(view: View, subject: Identifier) -> CardSupplement:
    card: Recorded[Card] | None = view.find_card(subject.bare, subject.revision)
    if card is None:
        near = ", ".join(view.suggest(subject.bare)) or "caveat card list shows them all"
        raise NotFoundError(Fault(code="not-registered", where=str(subject), found="no such card is registered", advice=near))
    dossiers: list[Dossier] = [view.dossier(claim) for claim in list_claims_of(view, subject)]
    return assemble_card(dossiers, card, log_origin=view.log_origin, log_size=view.log_size, made_at=_find_last_moment(view))


def _find_last_moment(view: View) -> datetime:
    last = view.find_entry(view.log_size)
    if last is None:
        raise NotFoundError(Fault(code="empty-registry", where="registry", found="nothing is recorded yet", advice="caveat card add FILE"))
    return last.at
