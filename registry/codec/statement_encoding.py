"""Statements as they are hashed, the entries that records name, openings, and what publication proofs add."""

import binascii
import hashlib
import json
import re
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, TypeVar

from registry.codec.canonical_documents import Json, canonical_bytes, from_document, from_json, parse_json, to_document
from registry.errors import CaveatError, Fault, InputError
from registry.records.dossier import EntrySupersession, Inclusion, Recorded
from registry.records.log_seal import EntryOpening
from registry.records.record import Record
from registry.records.specification import BODIES, SpecBody, SpecOpening, SpecVersion
from registry.records.statement import PAYLOADS, Entry, Statement
from registry.records.supplement import CardSupplement, Supplement

# Statements as they are hashed and stored. The salt is part of the hashed text, so an erased
# statement cannot be guessed from its leaf.

STATEMENT_SCHEMA = "caveat/statement/1"
_KEYS = {"schema", "kind", "actor", "at", "salt", "payload"}


LONGEST_ENTRY = 65_535
"""Bytes of what the log hashes of one statement: C2SP tlog-tiles gives their number in sixteen bits."""
_HEAD = re.compile(rb'\{"actor":"(?:[^"\\]|\\.)*","at":"[^"\\]*","kind":"[^"\\]*"(?=,"payload":)')
_TAIL = re.compile(rb',"salt":"[^"\\]*","schema":"%b"\}' % STATEMENT_SCHEMA.encode())


# Decision of 2026-11-26: a long statement goes into the log with the digest of its payload in place of the payload. Contexts, tasks,
# pages of a card and proposed passages have no limit of their own, and records stay whole. The cost: the entry bundles of a log do not
# have the payload of such a statement; bundles of Caveat and the API do.
def hashed_form(text: bytes) -> bytes:
    """Return the bytes that the log hashes of the statement *text*, and serves in entry bundles.

    That is *text* itself. In one of more than `LONGEST_ENTRY` bytes, the member `payload_sha256` takes the place of `payload`: the
    SHA-256 of the payload's canonical bytes, hexadecimal. What is no canonical statement is returned as it is.
    """
    if len(text) <= LONGEST_ENTRY:
        return text
    # Both ends must be those of a canonical statement. Otherwise two texts could have one form: one with a long value, and one with
    # the digest of this value in its place. No statement has a member `payload_sha256`.
    head, stop = _HEAD.match(text), text.rfind(b',"salt":"')
    if head is None or not _TAIL.fullmatch(text, max(stop, 0)):
        return text
    payload = hashlib.sha256(text[head.end() + len(b',"payload":') : stop]).hexdigest()
    return b'%b,"payload_sha256":"%b"%b' % (head[0], payload.encode(), text[stop:])


def leaf_hash(text: bytes) -> str:
    """Return SHA-256(0x00 ‖ `hashed_form` of *text*), hexadecimal: the leaf of RFC 6962 section 2.1."""
    return hashlib.sha256(b"\x00" + hashed_form(text)).hexdigest()


def encode_statement(statement: Statement) -> bytes:
    """Return the canonical bytes that the log keeps the leaf hash of."""
    return _write_envelope(statement.kind, statement.actor, statement.at, statement.salt, to_document(statement.payload))


def write_statement(place: Entry, payload: Json, salt: str) -> bytes:
    """Return the canonical bytes of the statement at *place* with the payload *payload*."""
    return _write_envelope(place.kind, place.actor, place.at, salt, payload)


def _write_envelope(kind: str, actor: str, at: datetime, salt: str, payload: Json) -> bytes:
    # The order of keys is fixed by RFC 8785. `registry.store.log_integrity` relies on actor, at and
    # kind coming first.
    return canonical_bytes(
        {"schema": STATEMENT_SCHEMA, "kind": kind, "actor": actor, "at": _format_time(at), "salt": salt, "payload": payload}
    )


@lru_cache(maxsize=16)  # the statements of one file share their time
def _format_time(at: datetime) -> str:
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def decode_statement(text: bytes | str, *, where: str) -> Statement:
    """Return the statement stored in *text*; raises InputError if it is none."""
    envelope = _parse_envelope(text, where)
    if envelope.get("schema") != STATEMENT_SCHEMA or str(envelope.get("kind")) not in PAYLOADS:
        problem = f"schema {envelope.get('schema')!r}, kind {envelope.get('kind')!r}; expected {STATEMENT_SCHEMA} and a known kind"
        raise InputError(Fault("unknown-statement", where, problem))
    # Unknown keys are refused, not ignored: they would be covered by the leaf but not by our
    # reading.
    if envelope.keys() != _KEYS or not all(isinstance(envelope[name], str) for name in _KEYS - {"payload"}):
        problem = f"it has {', '.join(sorted(envelope))}; expected {', '.join(sorted(_KEYS))}, all texts but the payload"
        raise InputError(Fault("unknown-statement", where, problem))
    noun = PAYLOADS[envelope["kind"]]
    payload = from_document(noun, envelope["payload"], where=f"{where}, payload")
    at = from_document(datetime, envelope["at"], where=f"{where}, at")
    return Statement(actor=envelope["actor"], at=at, salt=envelope["salt"], payload=payload)


def decode_payload(text: bytes | str, *, where: str) -> dict[str, Any]:
    """Return the payload of the statement stored in *text* as a document; raises InputError if it is no JSON."""
    payload: dict[str, Any] = _parse_envelope(text, where)["payload"]
    return payload


def _parse_envelope(text: bytes | str, where: str) -> dict[str, Any]:
    try:
        envelope = parse_json(text)
    except ValueError as error:
        raise InputError(Fault("not-valid", where, f"it is no JSON: {error}")) from error
    if not isinstance(envelope, dict):
        raise InputError(Fault("not-valid", where, "it is no JSON object"))
    return envelope


# Commitments to sealed specifications: a digest is public now, the body is shown later or only to
# some.


def commitment_of(opening: SpecOpening) -> str:
    """Return SHA-256(salt ‖ JCS({"body": …, "kind": …})), hexadecimal: it binds to the body and, by its salt, hides it."""
    # The kind is included, so that a body cannot be opened as another kind of specification.
    document = {"kind": opening.spec_kind.value, "body": to_document(opening.body)}
    return hashlib.sha256(bytes.fromhex(opening.salt) + canonical_bytes(document)).hexdigest()


# What a rendering adds to the public record: openings of sealed specifications, and what superseded
# it.
#
# Decision of 2026-11-22: a confidential rendering is the public record plus openings, and both
# print one record digest. The notice of supersession is outside the digest as well: a registry can
# confirm it, a file by itself cannot.

RenderedRecord = TypeVar("RenderedRecord", bound=Record)
ADDED: Mapping[str, Json] = {"openings": [], "superseded": None, "forms": []}
"""What a rendering adds to the record that was made of the log, by field, with how a document says that nothing was added."""


def public_record(record: RenderedRecord) -> RenderedRecord:
    """Return *record* without what a rendering adds: openings, forms, and what superseded it since. All renderings print its digest."""
    match record:
        case Supplement() if record.openings or record.superseded or record.forms:
            return replace(record, openings=(), superseded=None, forms=())
        case CardSupplement() if record.superseded:
            return replace(record, superseded=None)
        case _:
            return record


def public_document(document: Json) -> Json:
    """Return the document of `public_record` from that of a record; what the document lacks is not added."""
    if not isinstance(document, dict):
        return document
    # Works on the document as read, so that the digest of an older file does not gain fields.
    return document | {name: nothing for name, nothing in ADDED.items() if document.get(name)}


def check_openings(supplement: Supplement) -> tuple[Fault, ...]:
    """Return what is wrong with the openings of a confidential record; empty when each opens a commitment that the record states.

    An opening of a specification that the record does not refer to, one that is not sealed or is revealed, a second one of the same, or
    one with a kind, salt or body that gives another commitment is a fault.
    """
    named = {part.reference: part.version.payload for part in supplement.specs if part.version is not None}
    revealed = {part.reference: part.reveal.entry.seq for part in supplement.specs if part.reveal is not None}
    seen: set[str] = set()
    faults: list[Fault] = []
    for position, opening in enumerate(supplement.openings):
        where = f"openings[{position}], {opening.spec}"
        if opening.spec in seen:
            faults.append(Fault("duplicate", where, "the record holds an opening of it already"))
        elif opening.spec not in named:
            problem = f"the record of {supplement.identifier} does not refer to it"
            faults.append(Fault("seal-not-needed", where, problem))
        # The text is public already. An opening would suggest that it is confidential.
        elif opening.spec in revealed:
            problem = f"entry {revealed[opening.spec]} reveals it: its content is public in the log"
            faults.append(Fault("seal-not-needed", where, problem))
        else:
            faults += find_opening_faults(named[opening.spec], opening, where=where)
        seen.add(opening.spec)
    return tuple(faults)


def list_opened(supplement: Supplement) -> dict[str, SpecBody]:
    """Return the bodies that a rendering of *supplement* shows, by `CTX-…@n`: as recorded, as revealed, or opened in confidence."""
    shown = {opening.spec: opening.body for opening in supplement.openings}
    for part in supplement.specs:
        if part.version is not None and part.version.payload.body is not None:
            shown[part.reference] = part.version.payload.body
        elif part.reveal is not None:
            shown[part.reference] = part.reveal.payload.opening.body
    return shown


def find_opening_faults(version: SpecVersion, opening: SpecOpening, *, where: str) -> Iterator[Fault]:
    """Yield why *opening* does not open the commitment of *version*; nothing when it does."""
    made = commitment_of(opening)
    if version.commitment is None:
        yield Fault("seal-not-needed", where, "its content is public in the log")
    elif not isinstance(opening.body, BODIES[opening.spec_kind]):
        noun = type(opening.body).__name__
        yield Fault("seal-not-opened", where, f"a {noun} is not a specification of kind {opening.spec_kind.value}")
    elif (version.kind, version.commitment) != (opening.spec_kind, made):
        problem = f"kind, body and salt give the commitment {made}, sealed was {version.commitment} ({version.kind.value})"
        yield Fault("seal-not-opened", where, problem, advice="give the very file that `caveat spec seal` wrote")


# Which log entries a record names, and the leaf of a payload in it.

_names: dict[type[Record], tuple[tuple[str, str], ...]] = {}
_PLAIN = frozenset({type(None), str, bool, int, float, datetime})


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryReference:
    """One place of a record that names an entry of the log."""

    entry: Entry
    recorded: Recorded[Any] | None
    """The statement's payload beside it; None where the record names the entry alone."""
    document: Json = None
    """The payload as it stands in the file the record was read from; None where there is no file, or no payload."""


def list_named(record: object, document: Json = None) -> Iterator[EntryReference]:
    """Yield every place of *record*, a tree of records, that names an entry, in the order of its fields.

    What superseded it came after the log that it is proven in, and is excluded.

    Args:
        document: what *record* was read from. A payload is hashed as it is there, so that what was published before a field was
            added to its kind can still be proven.
    """
    match record:
        case EntrySupersession():
            return
        # The proof's own nodes name no entries, only its key events do.
        case Inclusion():
            yield from list_named(record.keys, document.get("keys") if isinstance(document, Mapping) else None)
        case Recorded():
            payload = document.get("payload") if isinstance(document, Mapping) else None
            yield EntryReference(entry=record.entry, recorded=record, document=payload)
        case Entry():
            yield EntryReference(entry=record, recorded=None)
        case tuple():
            parts = document if isinstance(document, list) else [None] * len(record)
            for item, part in zip(record, parts, strict=True):
                yield from list_named(item, part)
        case Record():
            for name, key in _list_names(type(record)):
                # Most fields are texts and numbers, which name nothing.
                if type(value := getattr(record, name)) not in _PLAIN:
                    yield from list_named(value, document.get(key) if isinstance(document, Mapping) else None)
        case _:
            pass


def list_entries(record: object) -> dict[int, Entry]:
    """Return every entry that *record* names, by its number and in log order.

    Raises:
        InputError: one number is given two different entries; each that is.
    """
    entries: dict[int, Entry] = {}
    faults: dict[int, Fault] = {}
    for reference in list_named(record):
        known = entries.setdefault(reference.entry.seq, reference.entry)
        if known != reference.entry:
            problem = f"the record has two versions of it: {_describe(known)}, and {_describe(reference.entry)}"
            faults[reference.entry.seq] = Fault("entry-inconsistent", f"entry {reference.entry.seq}", problem)
    if faults:
        raise InputError(faults[seq] for seq in sorted(faults))
    return dict(sorted(entries.items()))


def list_recorded(record: object) -> tuple[Recorded[Any], ...]:
    """Return every payload that is in *record* next to its entry, once each, in log order.

    Raises:
        InputError: two payloads are next to one entry; each where that is so.
    """
    statements: dict[int, Recorded[Any]] = {}
    faults: dict[int, Fault] = {}
    for reference in list_named(record):
        if reference.recorded is None:
            continue
        if statements.setdefault(reference.entry.seq, reference.recorded) != reference.recorded:
            problem = "it comes with two different statements"
            faults[reference.entry.seq] = Fault("entry-inconsistent", f"entry {reference.entry.seq}", problem)
    if faults:
        raise InputError(faults[seq] for seq in sorted(faults))
    return tuple(statements[seq] for seq in sorted(statements))


def find_misfit(named: EntryReference, opening: EntryOpening) -> str | None:
    """Return in what the payload and the entry of *named* are not the statement with the leaf that the entry gives; None if they are.

    A statement is `{"schema", "kind", "actor", "at", "salt", "payload"}` in canonical JSON; its leaf is SHA-256(0x00 ‖ statement).
    Raises ValueError for an entry that is named without its payload.
    """
    if named.recorded is None:
        raise ValueError(f"entry {named.entry.seq} is named without its payload")
    place = named.entry
    if place.kind != named.recorded.payload.KIND:
        return f"its kind is {place.kind}, but the statement given with it is a {named.recorded.payload.KIND}"
    # The statement's text has whole seconds in UTC. Another time could not be hashed to the same
    # leaf.
    if place.at.microsecond or place.at.utcoffset() != timedelta(0):
        return f"its time is {place.at.isoformat()}; an entry has whole seconds in UTC"
    return _find_other_leaf(named, opening) if opening.text is None else _find_other_text(named, opening, opening.text)


def _find_other_leaf(named: EntryReference, opening: EntryOpening) -> str | None:
    try:
        leaf = leaf_hash(write_statement(named.entry, _write(named), opening.salt))
    except CaveatError as error:
        return error.faults[0].found
    return (
        None
        if leaf == named.entry.leaf
        else f"the statement given with it has the entry hash {leaf}, but the entry states {named.entry.leaf}"
    )


def _find_other_text(named: EntryReference, opening: EntryOpening, text: str) -> str | None:
    """The text's own leaf must be the entry's, and it must say what stands beside the entry; it is given only where it is needed."""
    try:
        leaf = leaf_hash(text.encode())
        if leaf != named.entry.leaf:
            return f"the text given for it has the leaf {leaf}, the entry is said to have {named.entry.leaf}"
        statement = decode_statement(text, where=f"entry {named.entry.seq}")
        # The text is allowed only where re-encoding gives another one. Otherwise a file would have
        # two valid forms.
        if write_statement(named.entry, _write(named), opening.salt) == text.encode():
            return "its text is given although the statement given with it, written again, is the same"
    except (CaveatError, UnicodeEncodeError) as error:
        return error.faults[0].found if isinstance(error, CaveatError) else "the text given for it is not UTF-8"
    facts = (statement.kind, statement.actor, statement.at, statement.salt)
    if facts != (named.entry.kind, named.entry.actor, named.entry.at, opening.salt):
        return f"the text given for it says {facts[0]} by {facts[1]} at {facts[2].isoformat()}, salt {facts[3]}: something else"
    is_same = named.recorded is not None and statement.payload == named.recorded.payload
    return None if is_same else "the text given for it differs from the statement given with it"


def _write(named: EntryReference) -> Json:
    if named.document is not None or named.recorded is None:
        return named.document
    return to_document(named.recorded.payload)


def _list_names(noun: type[Record]) -> tuple[tuple[str, str], ...]:
    """Return the fields of *noun* with their names in a document, where `class_` is `class`."""
    if noun not in _names:
        _names[noun] = tuple((field.name, field.name.rstrip("_")) for field in fields(noun)) if is_dataclass(noun) else ()
    return _names[noun]


def _describe(place: Entry) -> str:
    return f"{place.kind} by {place.actor} at {place.at.isoformat()}, leaf {place.leaf[:16]}…"


# The `extra` data of a `.tlog-proof`: the publication that the proof is about, and the path from
# the supplement's log to the checkpoint's.

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
        return [b64decode(name) for name in self.path]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignerProof(Record):
    """That the log recorded the key that a PDF is signed with: the statement, and its place under the same checkpoint."""

    entry: int
    statement: str
    """Canonical text of the key event that added it."""
    path: tuple[str, ...]
    """Its audit path, base64."""

    @property
    def nodes(self) -> list[bytes]:
        """The path as hashes."""
        return [b64decode(name) for name in self.path]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationExtra(Record):
    """The publication that a proof is of, and what leads from the supplement's log to the checkpoint's."""

    schema: Literal["caveat/proof/1"] = "caveat/proof/1"
    statement: str
    """Canonical text of the publication; its leaf is the one that is proven."""
    consistency: Consistency
    signer: SignerProof | None = None
    """None for files that carry no signature."""


def encode_published(publication_extra: PublicationExtra) -> bytes:
    """Return *publication_extra* as canonical JSON."""
    return canonical_bytes(to_document(publication_extra))


def encode_nodes(path: list[bytes]) -> tuple[str, ...]:
    """Return hashes as they are in a document, base64."""
    return tuple(b64encode(node).decode() for node in path)


def decode_published(extra: bytes | None, *, where: str) -> PublicationExtra:
    """Return what the extra data of a proof says.

    Raises:
        InputError: `bad-proof`: there is none, it is not of this schema, or not in its one canonical form.
    """
    if extra is None or len(extra) > LARGEST_EXTRA_BYTES:
        raise _refuse(where, "its extra line does not say what was published; expected caveat/proof/1")
    try:
        publication_extra = from_json(PublicationExtra, extra, where=where)
        # Nothing signs the extra data by itself, so it must have exactly one form.
        if canonical_bytes(json.loads(extra)) != extra:
            raise _refuse(where, "its extra data is not in canonical JSON (RFC 8785)")
        for path in (publication_extra.consistency.path, publication_extra.signer.path if publication_extra.signer else ()):
            _refuse_odd(path, where)
    except (ValueError, RecursionError) as error:
        raise _refuse(where, f"its extra data cannot be read: {error}") from error
    except CaveatError as error:
        raise _refuse(where, f"its extra data is not what caveat report --publish writes: {error.faults[0].found}") from error
    return publication_extra


def _refuse_odd(path: tuple[str, ...], where: str) -> None:
    for name in path:
        try:
            data = b64decode(name, validate=True)
        except binascii.Error:
            data = b""
        if len(data) != 32 or b64encode(data).decode() != name:
            raise _refuse(where, "a hash in its extra data is not the canonical base64 of 32 bytes")


def _refuse(where: str, text: str) -> InputError:
    return InputError(Fault("bad-proof", where, text))
