"""What the proof of a publication says beside its place in the tree: the `extra` of a `.tlog-proof` that Caveat writes."""

import binascii
import json
from base64 import b64decode, b64encode
from dataclasses import dataclass
from typing import Literal

from registry.codec.canonical import canonical_bytes
from registry.codec.documents import from_json, to_document
from registry.errors import CaveatError, Fault, InputError
from registry.records.record import Record

SCHEMA = "caveat/proof/1"
LARGEST_EXTRA_BYTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Consistency(Record):
    """That the log of a supplement, as it was then, is the beginning of the log of a checkpoint."""

    size: int
    """Entries that the supplement was made from."""
    root: str
    """Of the tree over them, hexadecimal."""
    path: tuple[str, ...]
    """Nodes of RFC 6962 section 2.1.2, base64."""

    @property
    def nodes(self) -> list[bytes]:
        """The path as hashes."""
        return [b64decode(one) for one in self.path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer(Record):
    """That the log recorded the key that a PDF is signed with: the statement, and its place under the same checkpoint."""

    entry: int
    statement: str
    """Canonical text of the key event that added it."""
    path: tuple[str, ...]
    """Its audit path, base64."""

    @property
    def nodes(self) -> list[bytes]:
        """The path as hashes."""
        return [b64decode(one) for one in self.path]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published(Record):
    """The publication that a proof is of, and what leads from the supplement's log to the checkpoint's."""

    schema: Literal["caveat/proof/1"] = "caveat/proof/1"
    statement: str
    """Canonical text of the publication; its leaf is the one that is proven."""
    consistency: Consistency
    signer: Signer | None = None
    """None for files that carry no signature."""


def encode_published(said: Published) -> bytes:
    """Return *said* as canonical JSON."""
    return canonical_bytes(to_document(said))


def encode_nodes(path: list[bytes]) -> tuple[str, ...]:
    """Return hashes as they stand in a document, base64."""
    return tuple(b64encode(one).decode() for one in path)


def decode_published(extra: bytes | None, *, where: str) -> Published:
    """Return what the extra data of a proof says.

    Raises:
        InputError: `bad-proof`: there is none, it is not of this schema, or not in its one canonical form.
    """
    if extra is None or len(extra) > LARGEST_EXTRA_BYTES:
        raise _refuse(where, "its extra line does not say what was published; expected caveat/proof/1")
    try:
        said = from_json(Published, extra, where=where)
        if canonical_bytes(json.loads(extra)) != extra:
            raise _refuse(where, "its extra data is not in canonical JSON (RFC 8785)")
        for path in (said.consistency.path, said.signer.path if said.signer else ()):
            _refuse_odd(path, where)
    except (ValueError, RecursionError) as error:
        raise _refuse(where, f"its extra data cannot be read: {error}") from error
    except CaveatError as error:
        raise _refuse(where, f"its extra data is not what caveat report --publish writes: {error.faults[0].found}") from error
    return said


def _refuse_odd(path: tuple[str, ...], where: str) -> None:
    for one in path:
        try:
            data = b64decode(one, validate=True)
        except binascii.Error:
            data = b""
        if len(data) != 32 or b64encode(data).decode() != one:
            raise _refuse(where, "a hash in its extra data is not the canonical base64 of 32 bytes")


def _refuse(where: str, found: str) -> InputError:
    advice = "get the proof again, byte for byte, from who gave it out"
    return InputError(Fault(code="bad-proof", where=where, found=found, advice=advice))
