"""Where a claim was adopted from: a claim of another registry's log."""

from dataclasses import dataclass

from registry.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin(Record):
    """The claim of another registry's log that a claim was adopted from."""

    log: str
    """Name of that log."""
    claim: str
    """`CLM-…@n`."""
    seq: int
    """Number of the entry of that log that recorded it."""
    leaf: str
    """Its entry hash, hexadecimal."""
