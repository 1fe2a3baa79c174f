"""Which entries of the log a record names, and what the leaf of a payload is that stands in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import timedelta
from typing import Any

from registry.codec.canonical import Json, canonical_bytes, leaf_hash
from registry.codec.documents import to_document
from registry.codec.statements import SCHEMA, decode_statement
from registry.errors import CaveatError, Fault, InputError
from registry.records.dossier import EntrySupersession, Inclusion, Recorded
from registry.records.log_seal import EntryOpening
from registry.records.record import Record
from registry.records.statement import KINDS, Entry

_names: dict[type[Record], tuple[tuple[str, str], ...]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """One place of a record that names an entry of the log."""

    entry: Entry
    recorded: Recorded[Any] | None
    """The statement's payload beside it; None where the record names the entry alone."""
    document: Json = None
    """The payload as it stands in the file the record was read from; None where there is no file, or no payload."""


def list_named(record: object, document: Json = None) -> Iterator[Named]:
    """Yield every place of *record*, a tree of records, that names an entry, in the order of its fields.

    What superseded it came after the log that it is proven in, and is left out.

    Args:
        document: what *record* was read from. A payload is hashed as it stands there, so that what was given out before a field was
            added to its kind can still be proven.
    """
    match record:
        case EntrySupersession():
            return
        case Inclusion():
            yield from list_named(record.keys, document.get("keys") if isinstance(document, Mapping) else None)
        case Recorded():
            said = document.get("payload") if isinstance(document, Mapping) else None
            yield Named(entry=record.entry, recorded=record, document=said)
        case Entry():
            yield Named(entry=record, recorded=None)
        case tuple():
            parts = document if isinstance(document, list) else [None] * len(record)
            for item, part in zip(record, parts, strict=True):
                yield from list_named(item, part)
        case Record():
            for name, key in _list_names(type(record)):
                yield from list_named(getattr(record, name), document.get(key) if isinstance(document, Mapping) else None)
        case _:
            pass


def list_entries(record: object) -> dict[int, Entry]:
    """Return every entry that *record* names, by its number and in log order.

    Raises:
        InputError: one number is given two different entries; each that is.
    """
    found: dict[int, Entry] = {}
    faults: dict[int, Fault] = {}
    for one in list_named(record):
        known = found.setdefault(one.entry.seq, one.entry)
        if known != one.entry:
            told = f"the record tells it twice: {_tell(known)}, and {_tell(one.entry)}"
            faults[one.entry.seq] = Fault(code="entry-contradicted", where=f"entry {one.entry.seq}", found=told)
    if faults:
        raise InputError(faults[seq] for seq in sorted(faults))
    return dict(sorted(found.items()))


def list_recorded(record: object) -> tuple[Recorded[Any], ...]:
    """Return every payload that stands in *record* beside its entry, once each, in log order.

    Raises:
        InputError: two payloads stand beside one entry; each where that is so.
    """
    found: dict[int, Recorded[Any]] = {}
    faults: dict[int, Fault] = {}
    for one in list_named(record):
        if one.recorded is None:
            continue
        if found.setdefault(one.entry.seq, one.recorded) != one.recorded:
            told = "two different statements stand beside it"
            faults[one.entry.seq] = Fault(code="entry-contradicted", where=f"entry {one.entry.seq}", found=told)
    if faults:
        raise InputError(faults[seq] for seq in sorted(faults))
    return tuple(found[seq] for seq in sorted(found))


def find_misfit(named: Named, opening: EntryOpening) -> str | None:
    """Return in what the payload and the entry of *named* are not the statement whose leaf the entry gives; None if they are.

    A statement is `{"schema", "kind", "actor", "at", "salt", "payload"}` in canonical JSON; its leaf is SHA-256(0x00 ‖ statement).
    Raises ValueError for an entry that is named without its payload.
    """
    if named.recorded is None:
        raise ValueError(f"entry {named.entry.seq} is named without its payload")
    place = named.entry
    if KINDS[type(named.recorded.payload)] is not place.kind:
        return f"its kind is {place.kind.value}, but a {KINDS[type(named.recorded.payload)].value} stands beside it"
    if place.at.microsecond or place.at.utcoffset() != timedelta(0):
        return f"its time is {place.at.isoformat()}; an entry has whole seconds in UTC"
    return _find_other_leaf(named, opening) if opening.text is None else _find_other_text(named, opening, opening.text)


def write_statement(place: Entry, payload: Json, salt: str) -> bytes:
    """Return the canonical bytes of the statement at *place* whose payload is the document *payload*."""
    at = place.at.strftime("%Y-%m-%dT%H:%M:%SZ")
    return canonical_bytes({"schema": SCHEMA, "kind": place.kind.value, "actor": place.actor, "at": at, "salt": salt, "payload": payload})


def _find_other_leaf(named: Named, opening: EntryOpening) -> str | None:
    try:
        leaf = leaf_hash(write_statement(named.entry, _write(named), opening.salt))
    except CaveatError as error:
        return error.faults[0].found
    return None if leaf == named.entry.leaf else f"what stands beside it has the leaf {leaf}, the entry is said to have {named.entry.leaf}"


def _find_other_text(named: Named, opening: EntryOpening, text: str) -> str | None:
    """The text's own leaf must be the entry's, and it must say what stands beside the entry; it is given only where it is needed."""
    try:
        leaf = leaf_hash(text.encode())
        if leaf != named.entry.leaf:
            return f"the text given for it has the leaf {leaf}, the entry is said to have {named.entry.leaf}"
        statement = decode_statement(text, where=f"entry {named.entry.seq}")
        if write_statement(named.entry, _write(named), opening.salt) == text.encode():
            return "its text is given although what stands beside it, written again, is the same"
    except (CaveatError, UnicodeEncodeError) as error:
        return error.faults[0].found if isinstance(error, CaveatError) else "the text given for it is not UTF-8"
    said = (statement.kind, statement.actor, statement.at, statement.salt)
    if said != (named.entry.kind, named.entry.actor, named.entry.at, opening.salt):
        return f"the text given for it says {said[0].value} by {said[1]} at {said[2].isoformat()}, salt {said[3]}: something else"
    is_same = named.recorded is not None and statement.payload == named.recorded.payload
    return None if is_same else "the text given for it says something else than what stands beside it"


def _write(named: Named) -> Json:
    if named.document is not None or named.recorded is None:
        return named.document
    return to_document(named.recorded.payload)


def _list_names(noun: type[Record]) -> tuple[tuple[str, str], ...]:
    """Return the fields of *noun* with their names in a document, where `class_` is `class`."""
    if noun not in _names:
        _names[noun] = tuple((field.name, field.name.rstrip("_")) for field in fields(noun)) if is_dataclass(noun) else ()
    return _names[noun]


def _tell(place: Entry) -> str:
    return f"{place.kind.value} by {place.actor} at {place.at.isoformat()}, leaf {place.leaf[:16]}…"
