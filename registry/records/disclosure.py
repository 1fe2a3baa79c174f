"""Graduated disclosure: a specification sealed by a commitment now, its body shown to some, and to everybody by a reveal."""

from dataclasses import dataclass

from registry.records.record import Record
from registry.records.spec import SpecBody, SpecKind


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecOpening(Record):
    """The body of a sealed specification version, with the salt that makes its commitment.

    The commitment is SHA-256 over the salt's 32 bytes and the canonical JSON (RFC 8785) of `{"kind": …, "body": …}`.
    """

    spec: str
    """`CTX-…@n` and the like."""
    spec_kind: SpecKind
    salt: str
    """32 bytes, hexadecimal: without it nobody can try bodies until one fits."""
    body: SpecBody


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal(Record):
    """A sealed specification is shown to everybody; it must open the commitment."""

    opening: SpecOpening
    why: str | None = None
