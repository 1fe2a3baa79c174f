"""A claim in one line, as lists show it."""

from dataclasses import dataclass

from registry.records.claim import Form
from registry.records.claim_status import Status
from registry.records.model_version import ModelRef
from registry.records.record import Record


@dataclass(frozen=True, slots=True)
class ClaimSummary(Record):
    """The current revision of a claim, and what became of it."""

    claim: str
    """The identifier, `CLM-…`."""
    revision: int
    quote: str | None
    """The claim's words; None when its text was erased."""
    form: Form
    property: str
    """`PRP-…@n`."""
    model: ModelRef
    card: str | None
    """`CRD-…@n`; None for a claim that is known from elsewhere."""
    status: Status
    seq: int
    """The entry that recorded this revision."""
