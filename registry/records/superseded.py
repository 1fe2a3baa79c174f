"""What says now what a supplement said of an earlier entry of the log."""

from dataclasses import dataclass

from registry.records.record import Record
from registry.records.statement import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Superseded(Record):
    """That a supplement no longer says what the registry says; known only to whoever draws it later."""

    name: str
    """`CLM-…@n` or `CRD-…@n` that says it now; also the name of its files."""
    entry: Entry
    """The first entry after the supplement's own log that changed what it says."""
    log_size: int
    """Entries of the log when this was known."""
    why: tuple[str, ...]
    """What changed, a sentence each; at least one."""
