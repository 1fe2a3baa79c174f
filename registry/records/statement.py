"""What is said and when: statements, the unit of the log, and the publications that they record."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

# A kind of statement is known when its module was read, so all modules with one are read here.
from registry.records import (  # noqa: F401
    analysis_plan,
    audit_case,
    claim,
    claim_status,
    forecast,
    log_seal,
    model_version,
    module_findings,
    monitor,
    replay_run,
    specification,
    system_card,
    verdict,
)
from registry.records.record import Payload, Record

# A published supplement, identified by its digest.


class OutputFormat(StrEnum):
    """In what a supplement is published."""

    PDF = "pdf"
    HTML = "html"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication(Payload):
    """One file published, and the record it was made of."""

    KIND = "publication"
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


# Statements: the unit of the log.

PAYLOADS: Mapping[str, type[Payload]] = Payload.CLASSES
"""The class of each kind of statement."""


class _KindName:
    """Marks the name of a kind of statement, so that JSON Schemas list what it can be."""

    def __get_pydantic_json_schema__(self, schema: Any, handler: Callable[[Any], dict[str, Any]]) -> dict[str, Any]:
        return handler(schema) | {"enum": sorted(PAYLOADS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(Record):
    """One thing said by one actor at one time; its canonical bytes are hashed into a leaf."""

    actor: str
    """Authority code of who says it."""
    at: datetime
    """In UTC, to the second."""
    payload: Payload
    # Without a salt, the leaf of a short erased statement could be matched by hashing candidates.
    salt: str
    """32 hexadecimal digits, so that an erased body cannot be guessed from its leaf."""

    @property
    def kind(self) -> str:
        """The kind that belongs to the payload."""
        return self.payload.KIND


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Record):
    """A statement's place in the log."""

    seq: int
    """From 1, without gaps."""
    kind: Annotated[str, _KindName()]
    actor: str
    at: datetime
    leaf: str
    """SHA-256(0x00 ‖ JCS(statement)), hexadecimal (RFC 6962 leaf, RFC 8785 JSON); of a statement of more than 65,535 bytes with
    `payload_sha256` in place of `payload`."""

    def __post_init__(self) -> None:
        if self.kind not in PAYLOADS:
            raise ValueError(f"{self.kind!r} is not a kind of statement; known are {', '.join(sorted(PAYLOADS))}")
