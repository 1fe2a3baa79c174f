"""The bundle: one log, or a stretch of it, in one file that another registry verifies without trusting who sends it.

JSON Lines, each line in canonical JSON (RFC 8785) and ended by a line feed, in this order:

1. the header `{"schema": "caveat/bundle/1", "origin", "since", "peaks", "size", "cards", "vkeys"}`;
2. one line for each entry after `since`: `{"seq", "text"}`, where the text was erased
   `{"seq", "actor", "at", "kind", "leaf"}`, all but the leaf by the sender's word; with `"key"` and `"signature"` where its author signed;
3. the card texts that the statements name, `{"content", "sha256"}`, by digest;
4. the signed notes `{"checkpoint"}` that vouch for the log's key events, by size, and last the one at `size`;
5. the end `{"lines", "sha256"}`: how many lines come before it, and the SHA-256 of their bytes.

`peaks` are the roots of the complete subtrees (RFC 6962) of the first `since` entries, the widest first. Who holds those entries, or
their root, compares; with the leaves that follow they give the root at `size`, so they are the consistency proof too. The last line
shows accidents; only the checkpoint's signature shows who says it. A file has one valid form, so a changed bit is a changed bundle.
"""

import hashlib
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import orjson

from registry.codec.canonical import canonical_bytes, leaf_hash
from registry.errors import CaveatError, Fault, InputError
from registry.records.log_seal import EntrySignature
from registry.records.record import Record
from registry.records.statement import StatementKind

SCHEMA = "caveat/bundle/1"
MOST_ENTRIES = 10_000_000
MOST_VKEYS = 1_000
MOST_NOTES = 1_000
_SIGNATURE_BYTES = 64
_TIME = "%Y-%m-%dT%H:%M:%SZ"
_HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Header(Record):
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
    kind: StatementKind | None = None
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
class End(Record):
    """The last line."""

    lines: int
    """How many come before it."""
    sha256: str
    """Of their bytes, hexadecimal."""


Line = Header | EntryLine | ContentLine | NoteLine | End


def encode_line(line: Line) -> bytes:
    """Return *line* as it stands in a file, with its line feed."""
    return canonical_bytes(_to_document(line)) + b"\n"


def parse_line(text: bytes, *, where: str) -> Line:
    """Return what one line, without its line feed, says.

    Raises:
        InputError: `bundle-line`, it is none of the five, or not in canonical JSON.
    """
    try:
        return _read(text)
    except (ValueError, CaveatError, RecursionError) as error:
        found = error.faults[0].found if isinstance(error, CaveatError) else str(error)
        raise InputError(Fault(code="bundle-line", where=where, found=found, advice="ask for the bundle again")) from error


def _to_document(line: Line) -> dict[str, Any]:
    match line:
        case Header():
            names = {"origin": line.origin, "since": line.since, "size": line.size, "cards": line.cards}
            return {"schema": SCHEMA, **names, "peaks": list(line.peaks), "vkeys": list(line.vkeys)}
        case EntryLine(text=None, at=datetime() as at, kind=StatementKind() as kind):
            told = {"seq": line.seq, "actor": line.actor, "at": at.strftime(_TIME), "kind": kind.value, "leaf": line.leaf}
            return told | _write_signature(line.signature)
        case EntryLine():
            return {"seq": line.seq, "text": line.text} | _write_signature(line.signature)
        case ContentLine():
            return {"content": line.content, "sha256": line.sha256}
        case NoteLine():
            return {"checkpoint": line.checkpoint}
        case End():
            return {"lines": line.lines, "sha256": line.sha256}


def _write_signature(signed: EntrySignature | None) -> dict[str, Any]:
    return {} if signed is None else {"key": signed.key, "signature": signed.signature}


def _read(text: bytes) -> Line:
    document = orjson.loads(text)
    if not isinstance(document, dict):
        raise ValueError("it is no JSON object")  # noqa: TRY004  (what is wrong is the file)
    line = _parse(document)
    if canonical_bytes(document) != text:
        raise ValueError("it is not in canonical JSON (RFC 8785)")
    return line


def _parse(document: Mapping[str, Any]) -> Line:
    reader = _READERS.get(frozenset(document))
    if reader is None:
        raise ValueError(f"a line with the keys {', '.join(map(repr, sorted(document)[:8]))} is none of a bundle")
    return reader(document)


def _header(document: Mapping[str, Any]) -> Header:
    if document["schema"] != SCHEMA:
        raise ValueError(f"its schema is {str(document['schema'])[:60]!r}, expected {SCHEMA!r}; upgrade caveat")
    since, size = (_whole(document[name], name) for name in ("since", "size"))
    peaks, vkeys = tuple(_texts(document["peaks"], "peaks", 64)), tuple(_texts(document["vkeys"], "vkeys", MOST_VKEYS))
    if since >= size or len(peaks) != since.bit_count():
        raise ValueError(f"entries {since} to {size} with {len(peaks)} subtrees before them cannot be")
    if not isinstance(document["cards"], bool):
        raise ValueError("cards must be true or false")  # noqa: TRY004  (what is wrong is the file)
    header = Header(
        origin=_text(document["origin"], "origin"),
        since=since,
        peaks=tuple(_digest(one, "peaks") for one in peaks),
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


def _erased(document: Mapping[str, Any]) -> EntryLine:
    at = _text(document["at"], "at")
    moment = datetime.strptime(at, _TIME).replace(tzinfo=UTC)
    if moment.strftime(_TIME) != at:
        raise ValueError(f"at is {at!r}, expected a time such as 2026-11-21T12:00:00Z")
    return EntryLine(
        seq=_whole(document["seq"], "seq"),
        text=None,
        actor=_text(document["actor"], "actor"),
        at=moment,
        kind=StatementKind(_text(document["kind"], "kind")),
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


_READERS: dict[frozenset[str], Callable[[Mapping[str, Any]], Line]] = {
    frozenset({"schema", "origin", "since", "peaks", "size", "cards", "vkeys"}): _header,
    frozenset({"seq", "text"}): _entry,
    frozenset({"seq", "text", "key", "signature"}): _entry,
    frozenset({"seq", "actor", "at", "kind", "leaf"}): _erased,
    frozenset({"seq", "actor", "at", "kind", "leaf", "key", "signature"}): _erased,
    frozenset({"content", "sha256"}): _content,
    frozenset({"checkpoint"}): lambda document: NoteLine(checkpoint=_text(document["checkpoint"], "checkpoint")),
    frozenset({"lines", "sha256"}): lambda document: End(
        lines=_whole(document["lines"], "lines"), sha256=_digest(document["sha256"], "sha256")
    ),
}
"""How a line is read, by its keys."""


def _whole(value: object, name: str) -> int:
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
    return (_text(one, name) for one in value)


def _digest(value: object, name: str) -> str:
    if not isinstance(value, str) or not _HEX.fullmatch(value):
        raise ValueError(f"{name} has {str(value)[:70]!r}, expected 64 hexadecimal digits")
    return value
