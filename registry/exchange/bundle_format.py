"""The bundle: one log, or a stretch of it, as a file of lines, within limits on size and in one order."""

import hashlib
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import orjson

from registry.codec.canonical_documents import canonical_bytes
from registry.codec.statement_encoding import leaf_hash
from registry.errors import CaveatError, Fault, InputError
from registry.records.log_seal import EntrySignature
from registry.records.record import Record
from registry.records.statement import PAYLOADS

# The bundle: one log, or a part of it, in one file that another registry can verify without
# trusting the sender.
#
# JSON Lines, each line in canonical JSON (RFC 8785) and ended by a line feed, in this order:
#
# 1. the header `{"schema": "caveat/bundle/1", "origin", "since", "peaks", "size", "cards", "vkeys"}`;
# 2. one line for each entry after `since`: `{"seq", "text"}`, or for an erased text
#    `{"seq", "actor", "at", "kind", "leaf"}`, of which the sender asserts all but the leaf; with
#    `"key"` and `"signature"` if the author signed;
# 3. the card texts that the statements name, `{"content", "sha256"}`, by digest;
# 4. the signed notes `{"checkpoint"}` that attest the log's key events, by size, the last at `size`;
# 5. the end `{"lines", "sha256"}`: the number of lines before it, and the SHA-256 of their bytes.
#
# `peaks` are the roots of the complete subtrees (RFC 6962) of the first `since` entries, the widest
# first. A receiver that has those entries compares them. With the leaves that follow they give the
# root at `size`, so they serve as the consistency proof. The last line detects accidents; only the
# checkpoint's signature shows the origin.

SCHEMA = "caveat/bundle/1"
# Limits of what one file can make a reader keep in memory.
MOST_ENTRIES = 10_000_000
MOST_VKEYS = 1_000
MOST_NOTES = 1_000
_SIGNATURE_BYTES = 64
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleHeader(Record):
    """What a bundle is of."""

    origin: str
    """Name of the log."""
    since: int
    """Entries that are left out at its beginning; 0: the bundle is whole."""
    peaks: tuple[str, ...]
    """Roots of the complete subtrees of those entries, the widest first, hexadecimal."""
    size: int
    """Number of the last entry."""
    cards: bool
    """Whether the texts of cards come with it."""
    vkeys: tuple[str, ...]
    """Verifier keys that the log names as its own. The sender's word: nothing is believed because of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryLine(Record):
    """One entry."""

    seq: int
    text: str | None
    """The statement, canonical JSON; None where it was erased, and then what follows is given, all but the leaf unproven."""
    actor: str | None = None
    at: datetime | None = None
    kind: str | None = None
    leaf: str
    """Computed from the text where there is one, hexadecimal."""
    signature: EntrySignature | None = None
    """Its author's; None where it is not signed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContentLine(Record):
    """The text of a card revision."""

    content: str
    sha256: str
    """Of its UTF-8, hexadecimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLine(Record):
    """A signed checkpoint, with the cosignatures it has."""

    checkpoint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleEnd(Record):
    """The last line."""

    lines: int
    """How many come before it."""
    sha256: str
    """Of their bytes, hexadecimal."""


BundleLine = BundleHeader | EntryLine | ContentLine | NoteLine | BundleEnd


def encode_line(line: BundleLine) -> bytes:
    """Return *line* as it is in a file, with its line feed."""
    return canonical_bytes(_to_document(line)) + b"\n"


def parse_line(text: bytes, *, where: str) -> BundleLine:
    """Return what one line, without its line feed, says.

    Raises:
        InputError: `bundle-damaged`, it is none of the five, or not in canonical JSON.
    """
    try:
        return _read(text)
    # RecursionError: deeply nested JSON must be a fault of the file, not a crash.
    except (ValueError, CaveatError, RecursionError) as error:
        raise InputError(Fault("bundle-damaged", where, error.faults[0].found if isinstance(error, CaveatError) else str(error))) from error


def _to_document(line: BundleLine) -> dict[str, Any]:
    match line:
        case BundleHeader():
            names = {"origin": line.origin, "since": line.since, "size": line.size, "cards": line.cards}
            return {"schema": SCHEMA, **names, "peaks": list(line.peaks), "vkeys": list(line.vkeys)}
        case EntryLine(text=None, at=datetime() as at, kind=str() as kind):
            document = {"seq": line.seq, "actor": line.actor, "at": at.strftime(_TIME), "kind": kind, "leaf": line.leaf}
            return document | _write_signature(line.signature)
        case EntryLine():
            return {"seq": line.seq, "text": line.text} | _write_signature(line.signature)
        case ContentLine():
            return {"content": line.content, "sha256": line.sha256}
        case NoteLine():
            return {"checkpoint": line.checkpoint}
        case BundleEnd():
            return {"lines": line.lines, "sha256": line.sha256}


def _write_signature(signed: EntrySignature | None) -> dict[str, Any]:
    return {} if signed is None else {"key": signed.key, "signature": signed.signature}


def _read(text: bytes) -> BundleLine:
    document = orjson.loads(text)
    if not isinstance(document, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004  (what is wrong is the file)
    line = _parse(document)
    # Also refuses duplicate keys, which the parser would silently merge.
    if canonical_bytes(document) != text:
        raise ValueError("it is not in canonical JSON (RFC 8785)")
    return line


def _parse(document: Mapping[str, Any]) -> BundleLine:
    reader = _READERS.get(frozenset(document))
    if reader is None:
        raise ValueError(f"a line with the keys {', '.join(map(repr, sorted(document)[:8]))} is none of a bundle")
    return reader(document)


def _header(document: Mapping[str, Any]) -> BundleHeader:
    if document["schema"] != SCHEMA:
        raise ValueError(f"its schema is {str(document['schema'])[:60]!r}, expected {SCHEMA!r}; upgrade caveat")
    since, size = (_whole(document[name], name) for name in ("since", "size"))
    peaks, vkeys = tuple(_texts(document["peaks"], "peaks", 64)), tuple(_texts(document["vkeys"], "vkeys", MOST_VKEYS))
    if since >= size or len(peaks) != since.bit_count():
        raise ValueError(f"entries {since} to {size} with {len(peaks)} subtrees before them cannot be")
    if not isinstance(document["cards"], bool):
        raise ValueError("cards must be true or false")  # noqa: TRY004  (what is wrong is the file)
    header = BundleHeader(
        origin=_text(document["origin"], "origin"),
        since=since,
        peaks=tuple(_digest(peak, "peaks") for peak in peaks),
        size=size,
        cards=document["cards"],
        vkeys=vkeys,
    )
    if not header.origin.strip():
        raise ValueError("origin is empty")
    return header


def _entry(document: Mapping[str, Any]) -> EntryLine:
    text = _text(document["text"], "text")
    return EntryLine(seq=_whole(document["seq"], "seq"), text=text, leaf=leaf_hash(text.encode()), signature=_parse_signature(document))


def _kind(name: str) -> str:
    if name not in PAYLOADS:
        raise ValueError(f"{name!r} is not a kind of statement")
    return name


def _erased(document: Mapping[str, Any]) -> EntryLine:
    at = _text(document["at"], "at")
    moment = datetime.strptime(at, _TIME).replace(tzinfo=UTC)
    # strptime accepts variants such as missing leading zeros. Only the canonical form is valid.
    if moment.strftime(_TIME) != at:
        raise ValueError(f"at is {at!r}, expected a time such as 2026-11-21T12:00:00Z")
    return EntryLine(
        seq=_whole(document["seq"], "seq"),
        text=None,
        actor=_text(document["actor"], "actor"),
        at=moment,
        kind=_kind(_text(document["kind"], "kind")),
        leaf=_digest(document["leaf"], "leaf"),
        signature=_parse_signature(document),
    )


def _parse_signature(document: Mapping[str, Any]) -> EntrySignature | None:
    if "signature" not in document:
        return None
    text = _text(document["signature"], "signature")
    value = b64decode(text, validate=True)
    if len(value) != _SIGNATURE_BYTES or b64encode(value).decode() != text:
        raise ValueError(f"signature is not {_SIGNATURE_BYTES} bytes in canonical base64")
    return EntrySignature(entry=_whole(document["seq"], "seq"), key=_digest(document["key"], "key"), signature=text)


def _content(document: Mapping[str, Any]) -> ContentLine:
    line = ContentLine(content=_text(document["content"], "content"), sha256=_digest(document["sha256"], "sha256"))
    if hashlib.sha256(line.content.encode()).hexdigest() != line.sha256:
        raise ValueError(f"the text's SHA-256 is not {line.sha256}")
    return line


_READERS: dict[frozenset[str], Callable[[Mapping[str, Any]], BundleLine]] = {
    frozenset({"schema", "origin", "since", "peaks", "size", "cards", "vkeys"}): _header,
    frozenset({"seq", "text"}): _entry,
    frozenset({"seq", "text", "key", "signature"}): _entry,
    frozenset({"seq", "actor", "at", "kind", "leaf"}): _erased,
    frozenset({"seq", "actor", "at", "kind", "leaf", "key", "signature"}): _erased,
    frozenset({"content", "sha256"}): _content,
    frozenset({"checkpoint"}): lambda document: NoteLine(checkpoint=_text(document["checkpoint"], "checkpoint")),
    frozenset({"lines", "sha256"}): lambda document: BundleEnd(
        lines=_whole(document["lines"], "lines"), sha256=_digest(document["sha256"], "sha256")
    ),
}
"""How a line is read, by its keys."""


def _whole(value: object, name: str) -> int:
    # bool is a subclass of int in Python.
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 2 * MOST_ENTRIES:
        raise ValueError(f"{name} is {str(value)[:40]!r}, expected a whole number up to {2 * MOST_ENTRIES:,}")
    return value


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} is no text")  # noqa: TRY004  (what is wrong is the file)
    return value


def _texts(value: object, name: str, most: int) -> Iterator[str]:
    if not isinstance(value, list) or len(value) > most:
        raise ValueError(f"{name} is no list of at most {most} texts")
    return (_text(item, name) for item in value)


def _digest(value: object, name: str) -> str:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise ValueError(f"{name} has {str(value)[:70]!r}, expected 64 hexadecimal digits")
    return value


# The file as lines: plain or compressed with Zstandard (RFC 8878), with limits on size and nothing
# after the end.
#
# A compressed file is one Zstandard frame, followed by a skippable frame with the SHA-256 of the
# first. Other programs skip it, and a changed bit is also found where decompression would not
# notice it.

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
    """Give a stream with bytes that reach *stream* compressed; at its end the digest of the frame follows."""
    import zstandard  # noqa: PLC0415  (24 MB that only a compressed bundle needs)

    hashing = _HashingWriter(stream)
    with zstandard.ZstdCompressor(level=9, write_checksum=True).stream_writer(cast("BinaryIO", hashing), closefd=False) as packed:
        yield cast("BinaryIO", packed)
    stream.write(_SKIPPABLE + hashing.digest())


class _HashingWriter:
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
        InputError: `bundle-too-large`, `bundle-damaged` (the compressed file does not fit its digest), `bundle-damaged`,
            `bundle-damaged` (something is behind the compressed bundle).
    """
    size = stream.seek(0, os.SEEK_END)
    if size > LARGEST_FILE_BYTES:
        raise _too_large(where, f"the file has {size:,} bytes; at most {LARGEST_FILE_BYTES:,} are read")
    stream.seek(0)
    if stream.read(4) != _ZSTD_MAGIC:
        stream.seek(0)
        yield from _split(stream, LARGEST_BUNDLE_BYTES, where)
        return
    # The digest is checked first, so that damaged data never reaches the decompressor.
    _check_seal(stream, size, where)
    stream.seek(0)
    import zstandard  # noqa: PLC0415  (as in `compressing`)

    # A small file that expands to gigabytes is refused while it is read. Salts are random and do
    # not compress, so no real bundle reaches the ratio.
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
        raise InputError(Fault("bundle-damaged", where, f"{size - frame - _SEAL_BYTES:,} bytes follow the bundle"))
    stream.seek(0)
    hashed, left = hashlib.sha256(), frame
    while left and (chunk := stream.read(min(left, _CHUNK))):
        hashed.update(chunk)
        left -= len(chunk)
    if stream.read(_SEAL_BYTES) != _SKIPPABLE + hashed.digest():
        raise InputError(_altered(where, "the digest behind the compressed bundle is not that of its bytes"))


def _measure_frame(stream: BinaryIO, size: int, where: str) -> int:
    """Return how many bytes the first frame has, from the sizes of its blocks (RFC 8878 section 3.1.1)."""
    import zstandard  # noqa: PLC0415  (24 MB that only a compressed bundle needs)

    stream.seek(0)
    try:
        start = stream.read(18)
        place = zstandard.frame_header_size(start)
        has_checksum = zstandard.get_frame_parameters(start).has_checksum
    except zstandard.ZstdError as error:
        raise InputError(_altered(where, f"it cannot be decompressed: {error}")) from error
    is_last = False
    # Block headers have three bytes: last-block flag, type and size. Walking them needs no
    # decompression.
    while not is_last and place + 3 <= size:
        stream.seek(place)
        block = int.from_bytes(stream.read(3), "little")
        is_last = bool(block & 1)
        # A run-length block stores one byte whatever its size field says.
        is_run = (block >> 1) & 3 == 1
        place += 3 + (1 if is_run else block >> 3)
    place += 4 if has_checksum else 0
    if not is_last or place > size:
        raise InputError(_truncated(where, "the compressed bundle breaks off"))
    return place


def _truncated(where: str, text: str) -> Fault:
    return Fault("bundle-damaged", where, text)


def _altered(where: str, text: str) -> Fault:
    return Fault("bundle-damaged", where, text)


def _too_large(where: str, text: str) -> InputError:
    return InputError(Fault("bundle-too-large", where, text))


# Reading line by line in the only valid order. Whatever is missing, doubled, moved or added is
# named.

_MOST_CONTENTS = 1_000_000


def read_bundle(stream: BinaryIO, *, where: str) -> Iterator[BundleLine]:
    """Yield the lines of a bundle: the header, entries, card texts, notes. All were there, in order, when this ends without an error.

    Raises:
        InputError: `not-a-bundle`, `bundle-damaged`, `bundle-too-large`, `bundle-damaged`,
            `bundle-damaged`.
    """
    lines = read_lines(stream, where=where)
    hashed = hashlib.sha256()
    order = _Order(where)
    count = 0
    for text in lines:
        line = _parse_numbered_line(text, count + 1, where)
        # The end line is not part of its own digest.
        if isinstance(line, BundleEnd):
            order.close()
            _check_end(line, count, hashed.hexdigest(), where)
            if next(lines, None) is not None:
                raise _fault("bundle-damaged", where, "something follows the last line of the bundle")
            return
        try:
            order.check(line)
        except _MissingEntryError as error:
            raise _name_missing(lines, error.seq, where, count + 1) from error
        hashed.update(text)
        count += 1
        yield line
    raise _fault("bundle-damaged", where, f"it ends after line {count}, without the line that ends a bundle")


class _MissingEntryError(Exception):
    """Another entry was expected."""

    def __init__(self, seq: int) -> None:
        super().__init__(seq)
        self.seq = seq


class _Order:
    """What came so far, and what may come now."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._header: BundleHeader | None = None
        self._seq = 0
        self._stage = 0
        self._contents = self._notes = 0
        self._last_content = ""

    def check(self, line: BundleLine) -> None:
        """Take the next line; raises InputError, or _MissingEntryError where a later entry came."""
        stage = _STAGES[type(line)]
        if self._header is None or isinstance(line, BundleHeader):
            self._begin(line)
            return
        if stage < self._stage:
            raise _fault("bundle-damaged", self._where, f"{_describe(line)} comes after a later line")
        # All entries must come before the first text or note.
        if stage > 1 and self._seq < self._header.size:
            raise _MissingEntryError(self._seq + 1)
        self._stage = stage
        match line:
            case EntryLine():
                self._entry(line, self._header)
            case ContentLine():
                self._content(line, self._header)
            case NoteLine():
                self._count_note()
            case BundleEnd():
                pass

    def close(self) -> None:
        """Refuse an end before everything came."""
        if self._header is None:
            raise _fault("not-a-bundle", self._where, "its first line is not the header of a bundle")
        if self._seq < self._header.size:
            raise _fault("bundle-damaged", self._where, f"entries {self._seq + 1} to {self._header.size} are missing")
        if not self._notes:
            raise _fault("bundle-damaged", self._where, "the signed checkpoint is missing")

    def _begin(self, line: BundleLine) -> None:
        if self._header is not None:
            raise _fault("bundle-damaged", self._where, "a second header")
        if not isinstance(line, BundleHeader):
            raise _fault("not-a-bundle", self._where, "its first line is not the header of a bundle")
        if line.size - line.since > MOST_ENTRIES:
            problem = f"it has {line.size - line.since:,} entries; at most {MOST_ENTRIES:,} are read at once"
            raise _fault("bundle-too-large", self._where, problem)
        self._header, self._seq = line, line.since

    def _entry(self, line: EntryLine, header: BundleHeader) -> None:
        if header.since < line.seq <= self._seq:
            raise _fault("bundle-damaged", self._where, f"entry {line.seq} occurs twice")
        if not header.since < line.seq <= header.size:
            problem = f"entry {line.seq} is none of the entries {header.since + 1} to {header.size} that the header announces"
            raise _fault("bundle-damaged", self._where, problem)
        if line.seq != self._seq + 1:
            raise _MissingEntryError(self._seq + 1)
        self._seq = line.seq

    def _content(self, line: ContentLine, header: BundleHeader) -> None:
        self._contents += 1
        if line.sha256 == self._last_content:
            raise _fault("bundle-damaged", self._where, f"the card text {line.sha256} occurs twice")
        # Sorted by digest: this gives one valid order, and repeats are neighbours.
        if line.sha256 < self._last_content:
            raise _fault("bundle-damaged", self._where, f"the card text {line.sha256} comes after a later one")
        if not header.cards or self._contents > _MOST_CONTENTS:
            raise _fault("bundle-damaged", self._where, "a card text that the header does not announce, or one too many")
        self._last_content = line.sha256

    def _count_note(self) -> None:
        self._notes += 1
        if self._notes > MOST_NOTES:
            raise _fault("bundle-too-large", self._where, f"it has more than {MOST_NOTES:,} checkpoints")


_STAGES: dict[type[BundleLine], int] = {BundleHeader: 0, EntryLine: 1, ContentLine: 2, NoteLine: 3, BundleEnd: 4}


def _parse_numbered_line(text: bytes, number: int, where: str) -> BundleLine:
    if not text.endswith(b"\n"):
        if number == 1 and not text.startswith(b'{"cards"'):
            raise _fault("not-a-bundle", where, "its first line is not the header of a bundle")
        raise _fault("bundle-damaged", where, f"it breaks off in line {number}")
    try:
        return parse_line(text[:-1], where=f"{where}, line {number}")
    except InputError as error:
        if number == 1:
            raise _fault("not-a-bundle", where, f"its first line is not the header of a bundle: {error.faults[0].found}") from error
        raise


def _check_end(end: BundleEnd, count: int, digest: str, where: str) -> None:
    if end.lines > count:
        raise _fault("bundle-damaged", where, f"it had {end.lines} lines before its end, and has {count}")
    if end.lines < count:
        raise _fault("bundle-damaged", where, f"it had {end.lines} lines before its end, and has {count}")
    if end.sha256 != digest:
        raise _fault("bundle-damaged", where, f"the SHA-256 of its lines is {digest}, its end says {end.sha256}")


def _name_missing(lines: Iterator[bytes], seq: int, where: str, number: int) -> InputError:
    """Tell an entry that stands later from one that does not come; the rest is read for it, within its limits."""
    # A moved entry and a missing one need different advice, so the rest of the file is searched.
    for text in islice(lines, 2 * MOST_ENTRIES):
        try:
            line = parse_line(text.removesuffix(b"\n"), where=where)
        except InputError:
            continue
        if isinstance(line, EntryLine) and line.seq == seq:
            return _fault("bundle-damaged", f"{where}, line {number}", f"entry {seq} is out of order: it comes later")
    return _fault("bundle-damaged", f"{where}, line {number}", f"entry {seq} is missing")


def _describe(line: BundleLine) -> str:
    match line:
        case EntryLine():
            return f"entry {line.seq}"
        case ContentLine():
            return f"the card text {line.sha256}"
        case _:
            return "a line"


def _fault(code: str, where: str, text: str, advice: str | None = None) -> InputError:
    return InputError(Fault(code, where, text, advice=advice))
