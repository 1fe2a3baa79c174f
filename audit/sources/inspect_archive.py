"""Members of an Inspect `.eval` archive within stated limits, and the header of a log with typed look-ups in it."""

import json
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Self

import zstandard

from audit.errors import TableError
from registry.errors import Fault

# Members of an `.eval` archive, read one at a time within stated limits. Nothing is unpacked to disk. An archive may
# come from strangers, so sizes are checked before memory is used.

LARGEST_MEMBER = 1 << 30
"""Bytes of one member, unpacked: the largest transcript that is read."""

LARGEST_ARCHIVE = 1 << 36
"""Bytes of all members together, unpacked."""

STEEPEST = 1000
"""Unpacked bytes per packed byte of a member that has more than `HARMLESS` unpacked ones; transcripts come to 5 to 100."""

HARMLESS = 1 << 24

_STORED, _DEFLATE, _ZSTANDARD = 0, 8, 93
_METHODS = {_STORED, _DEFLATE, _ZSTANDARD}
_ENCRYPTED = 0x1
_LOCAL_HEADER = struct.Struct("<4s5H3I2H")
_CHUNK = 1 << 20
_DRIVE = re.compile(r"[A-Za-z]:")


class EvalArchive:
    """An `.eval` file: its directory, checked as a whole when it is opened, and its members.

    Python's `zipfile` reads the directory; it cannot unpack Zstandard (method 93), which Inspect writes, so that is done here.
    A name that stands twice means its last member, as it does for Inspect, which so replaces a sample that it ran again.
    """

    def __init__(self, path: Path, name: str) -> None:
        """Open the archive at *path*, called *name* in messages.

        Raises:
            TableError: no readable zip archive (`file-not-readable`), or one that could do harm (`log-not-safe`).
        """
        self.name = name
        self._zstandard = zstandard.ZstdDecompressor()
        try:
            self._file: BinaryIO = path.open("rb")
        except OSError as error:
            raise _not_readable(name, f"the file cannot be opened: {error.strerror or error}") from error
        try:
            with zipfile.ZipFile(self._file) as directory:
                listing = directory.infolist()
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, struct.error) as error:
            self._file.close()
            advice = "copy the file again; what Inspect left unwritten, `inspect log recover` can put together"
            text = f"the file is no whole zip archive, as a log of Inspect (.eval) is: {error}"
            raise _not_readable(name, text, advice) from error
        try:
            # The whole directory is checked before the first member is read: overlapping members are the sign of a zip
            # bomb.
            _check_directory(listing, name, packed=self._file.seek(0, 2))
        except TableError:
            self._file.close()
            raise
        self._members = {member.filename: member for member in listing}
        self.superseded = _list_superseded(listing)
        """Names that stand more than once, one for each member that a later one replaces."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.close()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the members, each once, in the order of the archive."""
        return tuple(self._members)

    def find_size(self, name: str) -> int | None:
        """Return how many bytes the member called *name* unpacks to; None where there is none."""
        member = self._members.get(name)
        return member.file_size if member is not None else None

    def read(self, name: str) -> bytes:
        """Return the content of the member called *name*, found right by its length and its checksum.

        Raises:
            TableError: it is damaged or cut off, or unpacks to more than the archive says.
        """
        member = self._members[name]
        where = f"{self.name}, member {name}"
        packed = self._read_packed(member, where)
        try:
            content = _unpack(packed, member, self._zstandard)
        except (zlib.error, zstandard.ZstdError) as error:
            raise _not_readable(where, f"the member cannot be unpacked: {error}") from error
        # Unpacking stops one byte after the stated size, so a member that lies about its size is found without its full
        # cost.
        if len(content) > member.file_size:
            problem = f"the member unpacks to more than the {member.file_size:,} bytes that the archive states"
            raise TableError(Fault("log-not-safe", where, problem, advice="use a file from a source you trust"))
        checksum = zlib.crc32(content)
        if len(content) < member.file_size or checksum != member.CRC:
            expected = f"expected {member.file_size:,} bytes with checksum {member.CRC:08x}"
            problem = f"{expected}, found {len(content):,} with {checksum:08x}"
            raise _not_readable(where, problem)
        return content

    def _read_packed(self, member: zipfile.ZipInfo, where: str) -> bytes:
        header = b""
        if member.header_offset >= 0:
            self._file.seek(member.header_offset)
            header = self._file.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
            raise _not_readable(where, "there is no member where the directory of the archive says")
        *_, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        self._file.seek(name_length + extra_length, 1)
        packed = self._file.read(member.compress_size)
        if len(packed) < member.compress_size:
            raise _not_readable(where, f"expected {member.compress_size:,} packed bytes, found {len(packed):,}")
        return packed


def _unpack(packed: bytes, member: zipfile.ZipInfo, decompressor: zstandard.ZstdDecompressor) -> bytes:
    """Return what *packed* holds, but at most one byte more than the archive states."""
    limit = member.file_size + 1
    if member.compress_type == _STORED:
        return packed[:limit]
    if member.compress_type == _DEFLATE:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, limit)
    pieces, left = list[bytes](), limit
    # Inspect writes members of several Zstandard frames.
    with decompressor.stream_reader(packed, read_across_frames=True) as reader:
        while left and (piece := reader.read(min(left, _CHUNK))):
            pieces.append(piece)
            left -= len(piece)
    return b"".join(pieces)


def _check_directory(listing: list[zipfile.ZipInfo], name: str, *, packed: int) -> None:
    faults = [fault for member in listing for fault in _check_member(member, name)]
    unpacked = sum(member.file_size for member in listing)
    if unpacked > LARGEST_ARCHIVE:
        faults.append(_not_safe(name, f"the members unpack to {unpacked:,} bytes; the limit is {LARGEST_ARCHIVE:,}"))
    if sum(member.compress_size for member in listing) > packed:
        faults.append(_not_safe(name, "the members overlap: together they are longer than the file"))
    if faults:
        raise TableError(faults[:20])


def _check_member(member: zipfile.ZipInfo, archive: str) -> Iterator[Fault]:
    where = f"{archive}, member {member.filename[:200]!r}"
    name = member.orig_filename
    # Nothing is written to disk, so such names do no harm here; Inspect never writes them.
    if "\0" in name or name.startswith(("/", "\\")) or _DRIVE.match(name) or ".." in re.split(r"[/\\]", name):
        yield _not_safe(where, "the name leads out of the archive")
    if member.flag_bits & _ENCRYPTED:
        yield Fault("file-not-readable", where, "the member is encrypted")
    if member.compress_type not in _METHODS:
        problem = f"packed by method {member.compress_type}; expected none, deflate (8) or Zstandard (93)"
        yield Fault("file-not-readable", where, problem)
    if member.file_size > LARGEST_MEMBER:
        yield _not_safe(where, f"the member unpacks to {member.file_size:,} bytes; the limit is {LARGEST_MEMBER:,}")
    # Small members may be packed to any ratio: empty texts compress extremely well.
    elif member.file_size > HARMLESS and member.file_size > STEEPEST * member.compress_size:
        problem = f"{member.compress_size:,} bytes unpack to {member.file_size:,}; the limit is {STEEPEST} to one"
        yield _not_safe(where, problem)


def _list_superseded(listing: list[zipfile.ZipInfo]) -> tuple[str, ...]:
    last = {member.filename: place for place, member in enumerate(listing)}
    return tuple(member.filename for place, member in enumerate(listing) if last[member.filename] != place)


def _not_safe(where: str, text: str) -> Fault:
    return Fault("log-not-safe", where, text, advice="Inspect writes no such archive; ask whoever gave you the file")


def _not_readable(where: str, text: str, advice: str = "copy the file again") -> TableError:
    return TableError(Fault("file-not-readable", where, text, advice=advice))


# The header of an Inspect log, and where a value is found in it or in a sample.

NEWEST_VERSION = 2
"""Version of Inspect's log format that this was written for."""

LARGEST_NUMBER = 1e100
LARGEST_COUNT = 100_000_000
"""More responses than this have no log."""

Object = dict[str, Any]
"""A parsed JSON object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogHeader:
    """A log without its samples."""

    status: str
    """`success`, `error`, `cancelled`, or `started` where the log was never finished."""
    version: int
    spec: Object
    """What Inspect calls `eval`: task, model, dataset, configuration."""
    plan: Object
    results: Object
    """Empty where the log has none."""
    stats: Object
    error: str | None
    metadata: Object
    """Of the evaluation, later edits included."""
    tags: tuple[str, ...]
    updates: int
    """How often tags or metadata were edited after the run."""
    is_finished: bool
    """False: the log has only the journal of its beginning."""

    def find(self, name: str, sample: Object | None = None) -> str | None:
        """Return, as text, what is at the dotted *name*; None where nothing does.

        `metadata.x` and `tags` are those of the log, later edits included; `tags.side` is what follows `side:` or `side=` in a tag;
        `sample.metadata.x` is the sample's; any other name (`task_args.x`, `model`, `task`) is looked up in the log's specification.
        A tag list of more than one tag is no single value.
        """
        first, _, rest = name.partition(".")
        if first == "sample":
            return as_text(find_nested(sample or {}, rest))
        if first == "tags":
            # Inspect has no fields for arms, so users write them as tags such as `side:test`.
            texts = [tag[len(rest) + 1 :] for tag in self.tags if tag.startswith((f"{rest}:", f"{rest}="))] if rest else list(self.tags)
            return texts[0] if len(texts) == 1 else None
        if first == "metadata":
            return as_text(find_nested(self.metadata, rest))
        return as_text(find_nested(self.spec, name))


def parse_header(document: Object, *, name: str) -> LogHeader:
    """Return the header that *document* (a whole log or the member `header.json`, or the journal's beginning) states.

    Raises:
        TableError: it is no log of Inspect, or one of a format that came after this program.
    """
    version = document.get("version", NEWEST_VERSION)
    if not isinstance(version, int) or not isinstance(document.get("eval"), dict):
        problem = "the file has no `version` and `eval`, as a log of Inspect has"
        raise TableError(Fault("file-not-readable", name, problem, advice="give a log of Inspect (.eval or .json)"))
    # A later format may mean something else by the same field.
    if version > NEWEST_VERSION:
        problem = f"the log is of version {version} of the format; this program knows versions up to {NEWEST_VERSION}"
        raise TableError(Fault("newer-format", name, problem, advice="update Caveat, or write the log again with an earlier Inspect"))
    spec = as_object(document["eval"])
    updates = as_list(document.get("log_updates"))
    tags, metadata = _apply_updates(spec, updates)
    error = document.get("error")
    return LogHeader(
        status=str(document.get("status") or "started"),
        version=version,
        spec=spec,
        plan=as_object(document.get("plan")),
        results=as_object(document.get("results")),
        stats=as_object(document.get("stats")),
        error=(as_text(as_object(error).get("message")) or as_text(error) or "no message") if error else None,
        metadata=metadata,
        tags=tags,
        updates=len(updates),
        is_finished="status" in document,
    )


def _apply_updates(spec: Object, updates: list[Any]) -> tuple[tuple[str, ...], Object]:
    """Return tags and metadata as they stand after every edit."""
    tags = {str(tag) for tag in as_list(spec.get("tags"))}
    metadata = dict(as_object(spec.get("metadata")))
    for update in updates:
        for edit in map(as_object, as_list(as_object(update).get("edits"))):
            # Edits are applied in their order, so the latest counts.
            tags = tags - set(map(str, as_list(edit.get("tags_remove")))) | set(map(str, as_list(edit.get("tags_add"))))
            for key in as_list(edit.get("metadata_remove")):
                metadata.pop(str(key), None)
            metadata.update(as_object(edit.get("metadata_set")))
    return tuple(sorted(tags)), metadata


def find_nested(value: Any, name: str) -> Any:
    """Return what is at the dotted *name* below *value*, or None; a key that holds dots itself is found too."""
    if not name:
        return value
    if not isinstance(value, dict):
        return None
    if name in value:
        return value[name]
    # The longest key first: keys may contain dots.
    parts = name.split(".")
    for length in range(len(parts) - 1, 0, -1):
        key = ".".join(parts[:length])
        if key in value:
            return find_nested(value[key], ".".join(parts[length:]))
    return None


def as_text(value: object) -> str | None:
    """Return a text, number or truth value as a text without white space around it; None for anything else, and for an empty text."""
    if isinstance(value, str):
        # Half a surrogate pair is no character and could not be written.
        return value.strip().encode("utf-8", "replace").decode("utf-8") or None
    return json.dumps(value) if isinstance(value, bool | int | float) else None


def as_line(text: str) -> str:
    """Return *text* on one line and without control characters: what a log says is printed, never obeyed."""
    return "".join(mark for mark in " ".join(text.split()) if mark.isprintable())


def as_object(value: object) -> Object:
    """Return *value* if it is an object, else an empty one: a log is not trusted to have the form it should have."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """Return *value* if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_number(value: object) -> float | None:
    """Return *value* if it is a finite number, else None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < LARGEST_NUMBER else None


def as_count(value: object) -> int | None:
    """Return *value* if it is a whole number that can count something, else None."""
    number = as_number(value)
    return int(number) if number is not None and 0 <= number <= LARGEST_COUNT and number == int(number) else None
