"""Texts of cards as they are kept: compressed, under the digest of what they say."""

import hashlib
from collections.abc import Iterator

import zstandard
from sqlalchemy import Connection, select

from registry.errors import AlteredError, Fault
from registry.store.tables import content

_MOST_BYTES = 100_000_000
"""No card that is read has so long a text; a row that unpacks to more was not written by us."""


def pack(text: bytes) -> bytes:
    """Return *text* as it is kept."""
    return zstandard.ZstdCompressor(level=9).compress(text)


def unpack(packed: bytes, sha256: str) -> str:
    """Return the text that *packed* holds.

    Raises:
        AlteredError: `content-altered`: its digest is not *sha256*, or *packed* holds no text.
    """
    if (found := _find_difference(packed, sha256)) is not None:
        raise AlteredError(_altered(sha256, found))
    return _decompress(packed).decode()


def find_altered(connection: Connection) -> Iterator[Fault]:
    """Yield a fault for every kept text that is not what its digest says."""
    for (digest,) in connection.execute(select(content.c.sha256).order_by(content.c.sha256)).all():
        packed = connection.execute(select(content.c.data).where(content.c.sha256 == digest)).scalar()
        sha256 = bytes(digest).hex()
        if packed is not None and (found := _find_difference(bytes(packed), sha256)) is not None:
            yield _altered(sha256, found)


def _find_difference(packed: bytes, sha256: str) -> str | None:
    try:
        hashed = hashlib.sha256(_decompress(packed)).hexdigest()
    except (zstandard.ZstdError, ValueError) as error:
        return f"what is kept under it cannot be read: {error}"
    return None if hashed == sha256 else f"what is kept under it is a text with the digest {hashed}"


def _decompress(packed: bytes) -> bytes:
    size = zstandard.frame_content_size(packed)
    if not 0 <= size <= _MOST_BYTES:
        raise ValueError(f"it says that its text has {size:,} bytes; at most {_MOST_BYTES:,} are kept" if size >= 0 else "it tells no size")
    return zstandard.ZstdDecompressor().decompress(packed)


def _altered(sha256: str, found: str) -> Fault:
    advice = "caveat log check names every such text; restore the registry from a backup"
    return Fault(code="content-altered", where=f"text {sha256}", found=found, advice=advice)
