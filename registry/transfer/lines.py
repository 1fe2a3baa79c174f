"""A bundle's file as lines: plain, or compressed with Zstandard (RFC 8878), within limits on size, and nothing behind it.

A compressed file is one Zstandard frame and, in a skippable frame behind it, the SHA-256 of that frame: programs that know Zstandard
pass it over, and a changed bit shows also where decompressing would not notice it.
"""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import zstandard

from registry.errors import Fault, InputError

COMPRESSED = ".caveat"
"""How the name of a compressed bundle ends; every other is written plain. When read, the content decides."""

LARGEST_FILE_BYTES = 8 * 2**30
LARGEST_BUNDLE_BYTES = 32 * 2**30
"""Of a bundle after it was decompressed."""
LONGEST_LINE_BYTES = 256 * 2**20
LARGEST_RATIO = 500
"""How many times larger than its file a bundle may be, beyond `FREE_BYTES`: salts do not compress, so none comes near it."""
FREE_BYTES = 16 * 2**20

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x50\x2a\x4d\x18" + (32).to_bytes(4, "little")
_SEAL_BYTES = len(_SKIPPABLE) + 32
_LARGEST_WINDOW = 2**27
_CHUNK = 2**20


@contextmanager
def compressing(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Give a stream whose bytes reach *stream* compressed; at its end the digest of the frame follows."""
    hashing = _Hashing(stream)
    with zstandard.ZstdCompressor(level=9, write_checksum=True).stream_writer(cast("BinaryIO", hashing), closefd=False) as packed:
        yield cast("BinaryIO", packed)
    stream.write(_SKIPPABLE + hashing.digest())


class _Hashing:
    """Passes on what is written, and hashes it: as much of a stream as the compressor asks for."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Pass on *data*."""
        self._hash.update(data)
        return self._stream.write(data)

    def digest(self) -> bytes:
        """Return the SHA-256 of what was written."""
        return self._hash.digest()


def read_lines(stream: BinaryIO, *, where: str) -> Iterator[bytes]:
    """Yield the lines of a bundle, each with its line feed; the last may lack it. Reads from the beginning.

    Raises:
        InputError: `bundle-too-large`, `bundle-altered` (the compressed file does not fit its digest), `bundle-truncated`,
            `bundle-trailing` (something stands behind the compressed bundle).
    """
    size = stream.seek(0, os.SEEK_END)
    if size > LARGEST_FILE_BYTES:
        raise _too_large(where, f"the file has {size:,} bytes; at most {LARGEST_FILE_BYTES:,} are read")
    stream.seek(0)
    if stream.read(4) != _ZSTD_MAGIC:
        stream.seek(0)
        yield from _split(stream, LARGEST_BUNDLE_BYTES, where)
        return
    _check_seal(stream, size, where)
    stream.seek(0)
    limit = min(LARGEST_BUNDLE_BYTES, FREE_BYTES + LARGEST_RATIO * size)
    with zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW).stream_reader(stream, closefd=False) as plain:
        try:
            yield from _split(cast("BinaryIO", plain), limit, where)
        except zstandard.ZstdError as error:
            raise InputError(_altered(where, f"it cannot be decompressed: {error}")) from error


def digest_file(path: Path) -> str:
    """Return the SHA-256 of the bytes of *path*, hexadecimal."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _split(stream: BinaryIO, limit: int, where: str) -> Iterator[bytes]:
    """Lines of a stream that is never asked for more than a chunk: a line without an end does not fill the memory."""
    pieces: list[bytes] = []
    read = kept = 0
    while chunk := stream.read(_CHUNK):
        read += len(chunk)
        if read > limit:
            raise _too_large(where, f"it has more than {limit:,} bytes when decompressed, which no bundle in a file of this size has")
        first, *others = chunk.split(b"\n")
        pieces.append(first)
        kept += len(first)
        if kept > LONGEST_LINE_BYTES:
            raise _too_large(where, f"a line has more than {LONGEST_LINE_BYTES:,} bytes")
        if others:
            yield b"".join(pieces) + b"\n"
            yield from (line + b"\n" for line in others[:-1])
            pieces, kept = [others[-1]], len(others[-1])
    if rest := b"".join(pieces):
        yield rest


def _check_seal(stream: BinaryIO, size: int, where: str) -> None:
    """Compare the frame with the digest behind it, and see that the file ends there."""
    frame = _measure_frame(stream, size, where)
    if size < frame + _SEAL_BYTES:
        raise InputError(_truncated(where, "the digest behind the compressed bundle is missing"))
    if size > frame + _SEAL_BYTES:
        found = f"{size - frame - _SEAL_BYTES:,} bytes stand behind the bundle"
        raise InputError(Fault(code="bundle-trailing", where=where, found=found, advice="ask for the bundle again"))
    stream.seek(0)
    hashed, left = hashlib.sha256(), frame
    while left and (chunk := stream.read(min(left, _CHUNK))):
        hashed.update(chunk)
        left -= len(chunk)
    if stream.read(_SEAL_BYTES) != _SKIPPABLE + hashed.digest():
        raise InputError(_altered(where, "the digest behind the compressed bundle is not that of its bytes"))


def _measure_frame(stream: BinaryIO, size: int, where: str) -> int:
    """Return how many bytes the first frame has, from the sizes of its blocks (RFC 8878 section 3.1.1)."""
    stream.seek(0)
    try:
        start = stream.read(18)
        place = zstandard.frame_header_size(start)
        has_checksum = zstandard.get_frame_parameters(start).has_checksum
    except zstandard.ZstdError as error:
        raise InputError(_altered(where, f"it cannot be decompressed: {error}")) from error
    is_last = False
    while not is_last and place + 3 <= size:
        stream.seek(place)
        block = int.from_bytes(stream.read(3), "little")
        is_last = bool(block & 1)
        is_run = (block >> 1) & 3 == 1
        place += 3 + (1 if is_run else block >> 3)
    place += 4 if has_checksum else 0
    if not is_last or place > size:
        raise InputError(_truncated(where, "the compressed bundle breaks off"))
    return place


def _truncated(where: str, found: str) -> Fault:
    return Fault(code="bundle-truncated", where=where, found=found, advice="ask for the bundle again: this copy is not whole")


def _altered(where: str, found: str) -> Fault:
    return Fault(code="bundle-altered", where=where, found=found, advice="ask for the bundle again: this copy was changed on its way")


def _too_large(where: str, found: str) -> InputError:
    return InputError(Fault(code="bundle-too-large", where=where, found=found, advice="ask for it in parts: caveat export --since N"))
