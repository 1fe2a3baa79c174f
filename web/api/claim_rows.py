"""What lists show of a claim: the words from the registry, the status from the shelf that selected it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from registry.records.claim_status import Status
from registry.store.registry_view import View
from web.facets import SelectedClaim


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRow:
    """One claim of a list."""

    claim: SelectedClaim
    leaf: str | None
    """Hash of the entry that recorded the revision; None where its text was erased."""
    quote: str | None
    """None where its text was erased."""
    status: Status


def read_rows(view: View, claims: Sequence[SelectedClaim]) -> Iterator[ListedRow]:
    """Yield what a list shows of *claims*, with texts that are compared with their leaves.

    Raises:
        AlteredError: a text was changed after it was recorded.
    """
    documents = view.find_documents(claim.seq for claim in claims)
    unknown = [claim.claim for claim in claims if claim.status is None]
    statuses = view.find_statuses(unknown) if unknown else {}
    for claim in claims:
        leaf, payload = documents.get(claim.seq, (None, None))
        yield ListedRow(
            claim=claim,
            leaf=leaf,
            quote=payload["quote"] if payload else None,
            status=claim.status or statuses[claim.claim],
        )
