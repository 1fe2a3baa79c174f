"""A supplement that was given out, known by its digest."""

from dataclasses import dataclass
from enum import StrEnum

from registry.records.record import Record


class OutputFormat(StrEnum):
    """In what a supplement is published."""

    PDF = "pdf"
    HTML = "html"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication(Record):
    """One file given out, and the record it was made of."""

    subject: str
    """`CLM-…@n` or `CRD-…@n`."""
    format: OutputFormat
    sha256: str
    """Of the bytes that were drawn, hexadecimal: of the file without the proof and the signature that are added to it."""
    size_bytes: int
    """How many bytes were drawn. A PDF begins with them, so what follows cannot be taken for them."""
    record: str
    """SHA-256 of the supplement's canonical JSON, hexadecimal."""
    log_size: int
    """Number of log entries the supplement was made from."""
    template: str
    """Digest of the templates, hexadecimal."""
    audit: str | None = None
