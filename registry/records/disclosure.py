"""Graduated disclosure: a specification sealed by a commitment now, its body shown to some, and to everybody by a reveal."""

import re
from dataclasses import dataclass
from typing import Literal

from registry.records.record import Record
from registry.records.spec import SpecBody, SpecKind

_SALT = re.compile(r"[0-9a-f]{64}")
KEEP = "Keep this file and keep it secret: without it nobody can ever show what was sealed, and whoever has it can."


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

    def __post_init__(self) -> None:
        if not _SALT.fullmatch(self.salt):
            raise ValueError(f"a salt is 64 small hexadecimal digits, found {len(self.salt)} characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal(Record):
    """A sealed specification is shown to everybody; it must open the commitment."""

    opening: SpecOpening
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealFile(Record):
    """What the owner of a sealed specification keeps: written by `caveat spec seal`, read by `reveal` and `report --confidential`."""

    slug: str
    """The short name under which the commitment is recorded."""
    owner: str
    """Authority code of who sealed it."""
    opening: SpecOpening
    keep: str = KEEP
    """A word to whoever opens the file."""
    schema: Literal["caveat/seal/1"] = "caveat/seal/1"
