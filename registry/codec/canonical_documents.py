"""Records to documents and back, canonical bytes (RFC 8785), and digests made of them."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar, cast, get_args, get_type_hints

import orjson
import rfc8785
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails, to_json

from registry.errors import Fault, InputError
from registry.records.record import Payload, Record

# Canonical bytes of a document (RFC 8785), and their digests.
#
# Decision of 2026-11-21, changed on 2026-11-23: orjson is used wherever its output cannot differ from
# RFC 8785, and the `rfc8785` package elsewhere. A property test compares the two.

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]

_OPTIONS = orjson.OPT_SORT_KEYS | orjson.OPT_STRICT_INTEGER
"""Integers beyond 2**53 - 1 are refused."""


def canonical_bytes(document: Json) -> bytes:
    """Return *document* as RFC 8785 canonical JSON in UTF-8.

    orjson is a hundred times as fast as the reference implementation, which is asked wherever the two could differ; a property test
    compares them.

    Raises:
        InputError: a number or a text that canonical JSON cannot hold (NaN, infinity, integers beyond 2**53 - 1, lone surrogates).
    """
    try:
        plain = document
        if not (is_plain := _is_plain([document])):
            plain = _write_whole(document)
            is_plain = _is_plain([plain])
        if is_plain:
            with suppress(orjson.JSONEncodeError):  # the reference implementation gives the reason
                text = orjson.dumps(plain, option=_OPTIONS)
                if text.isascii() or _has_plain_keys(plain):
                    return text
        return rfc8785.dumps(document)
    # RecursionError comes from deep nesting, UnicodeEncodeError from lone surrogates.
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, ValueError, RecursionError) as error:
        raise InputError(Fault("not-storable", "document", f"canonical JSON (RFC 8785) cannot hold it: {error}")) from error


def digest(document: Json) -> str:
    """Return the SHA-256 of the canonical bytes of *document*, hexadecimal."""
    return hashlib.sha256(canonical_bytes(document)).hexdigest()


def write_json(document: Json) -> bytes:
    """Return *document* as JSON in UTF-8 on one line, in the order of its keys: for files of ours that nothing signs."""
    return orjson.dumps(document)


def parse_json(text: bytes | str) -> Any:
    """Return the document that the JSON *text* has; raises ValueError where it is no JSON. Of a key that is given twice the last counts."""
    return orjson.loads(text)


def _is_plain(items: Iterable[Json]) -> bool:
    """Whether orjson writes all *items* as RFC 8785 does: no whole float (`1.0` is `1`), none with an exponent, no NaN, no odd type."""
    for item in items:
        kind = type(item)
        if kind is str or item is None or kind is int or kind is bool:
            continue
        if kind is float:
            # Well within the range that both write without an exponent; NaN compares false.
            if not 1e-4 <= abs(item) < 1e15 or item.is_integer():  # type: ignore[arg-type,union-attr]
                return False
        elif kind is dict:
            if not _is_plain(item.values()):  # type: ignore[union-attr]
                return False
        elif (kind is not list and kind is not tuple) or not _is_plain(item):  # type: ignore[arg-type]
            return False
    return True


def _write_whole(item: Json) -> Json:
    """Return *item* with each whole float as a whole number: canonical JSON has `1` for `1.0`."""
    kind = type(item)
    if kind is float:
        return int(item) if abs(item) < 1e15 and item.is_integer() else item  # type: ignore[arg-type,union-attr]
    if kind is dict:
        return {key: _write_whole(value) for key, value in item.items()}  # type: ignore[union-attr]
    if kind is list or kind is tuple:
        return [_write_whole(value) for value in item]  # type: ignore[union-attr]
    return item


def _has_plain_keys(value: Json) -> bool:
    """Whether all keys are ASCII: beyond the Basic Multilingual Plane, RFC 8785 sorts otherwise than Python."""
    if isinstance(value, Mapping):
        return all(key.isascii() and _has_plain_keys(item) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return all(map(_has_plain_keys, value))
    return True


# Records to documents and back. An invalid document is refused with every fault and its path.

Noun = TypeVar("Noun")

MOST_FAULTS = 200
"""Faults of one file that are listed; the rest are counted."""

_TAG = "kind"
"""The field that tells the members of a union of records apart."""

_EXPECTED = {
    "missing": "is required and missing",
    "unexpected_keyword_argument": "is not a known key",
}


_adapters: dict[type, TypeAdapter[Any]] = {}


def _adapter(noun: type) -> TypeAdapter[Any]:
    """Building one costs up to 20 ms, so each is built once, when first needed."""
    if noun not in _adapters:
        _adapters[noun] = TypeAdapter(noun)
    return _adapters[noun]


def to_document(record: object) -> dict[str, Any]:
    """Return *record* as a JSON document: plain dicts, lists, texts and numbers."""
    document: dict[str, Any] = _adapter(type(record)).dump_python(record, mode="json")
    return document


def from_document(noun: type[Noun], document: Json, *, where: str) -> Noun:
    """Return the *noun* that *document* describes.

    Args:
        where: what the document is, as the user knows it; the path inside it is added to each fault.

    Raises:
        InputError: with one fault for everything that does not fit.
    """
    # Through JSON text: pydantic is strict about Python types but reads JSON types as a file
    # contains them.
    try:
        text = to_json(document, inf_nan_mode="constants")
    except ValueError as error:
        raise InputError(Fault("not-valid", where, f"it cannot be read: {error}")) from error
    return from_json(noun, text, where=where)


def from_json(noun: type[Noun], text: bytes | str, *, where: str) -> Noun:
    """Return the *noun* that the JSON *text* describes; as `from_document`."""
    try:
        record: Noun = _adapter(noun).validate_json(text)
    except ValidationError as error:
        raise InputError(_list_faults(error, where)) from error
    return record


def json_schema(noun: type[Noun]) -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of *noun*."""
    schema = _adapter(noun).json_schema(by_alias=True, mode="validation")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def _list_faults(error: ValidationError, where: str) -> Iterator[Fault]:
    details = list(_narrow(error.errors(include_url=False)))
    yield from (_fault(detail, where) for detail in details[:MOST_FAULTS])
    if len(details) > MOST_FAULTS:
        yield Fault("more-faults", where, f"and {len(details) - MOST_FAULTS:,} more faults like these")


def _fault(error: ErrorDetails, where: str) -> Fault:
    path = format_path(error["loc"])
    known = _EXPECTED.get(error["type"])
    problem = known or error["msg"].removeprefix("Value error, ").replace("Input should be", "expected", 1)
    if known is None and error["type"] not in ("value_error", "json_invalid", "missing_tag"):
        problem = f"{problem}; found {_shorten(error['input'])}"
    return Fault("not-valid", f"{where}, {path}" if path else where, problem, advice=_advise(error))


def _narrow(errors: Sequence[ErrorDetails], start: int = 0) -> Iterator[ErrorDetails]:
    """Give *errors* without those of the members of a union that were not meant: pydantic tries all of them, and lists what each lacks."""
    # pydantic reports the faults of every member of a union. A reader wants only those of the
    # member that was meant.
    names = {noun.__name__ for noun in _list_nouns()}
    groups: dict[tuple[int | str, ...], list[ErrorDetails]] = {}
    for error in errors:
        path = error["loc"]
        at = next((place for place in range(start, len(path)) if path[place] in names), None)
        groups.setdefault(path if at is None else (*path[:at], ""), []).append(error)
    for path, group in groups.items():
        yield from _choose(group, len(path) - 1) if path[-1:] == ("",) else group


def _list_nouns() -> list[type[Record]]:
    return [*Record.__subclasses__(), *Payload.__subclasses__()]


def _choose(errors: Sequence[ErrorDetails], at: int) -> Iterator[ErrorDetails]:
    """Give the errors of the member whose tag was given; where none is, one that names the tags. *at* is the member's place in a path."""
    # The tag decides: a member whose tag was refused was not meant.
    strangers = {error["loc"][at] for error in errors if _is_of_tag(error, at)}
    meant = [error for error in errors if error["loc"][at] not in strangers]
    if all(error["type"] == "dataclass_type" for error in errors):
        yield errors[0]
    elif meant:
        yield from _narrow(meant, at + 1)
    else:
        yield _name_tags([error for error in errors if _is_of_tag(error, at)])


def _is_of_tag(error: ErrorDetails, at: int) -> bool:
    return error["loc"][at + 1 :] == (_TAG,) and error["type"] in ("literal_error", "missing")


def _name_tags(errors: Sequence[ErrorDetails]) -> ErrorDetails:
    nouns = {noun.__name__: noun for noun in _list_nouns()}
    tags = [str(tag) for error in errors for tag in get_args(get_type_hints(nouns[str(error["loc"][-2])])[_TAG])]
    listed = " or ".join(part for part in (", ".join(tags[:-1]), tags[-1]) if part)
    is_missing = errors[0]["type"] == "missing"
    text = f"is required and missing: {listed}" if is_missing else f"expected {listed}"
    changed = {"loc": (*errors[0]["loc"][:-2], _TAG), "msg": text, "type": "missing_tag" if is_missing else "literal_error"}
    return cast("ErrorDetails", {**errors[0], **changed})


def _advise(error: ErrorDetails) -> str | None:
    """What YAML reads otherwise than it was meant: `4.5` is a number and `yes` a text."""
    value = error["input"]
    if error["type"] == "string_type" and isinstance(value, (int, float)):
        return f'put it in quotes: "{to_json(value).decode()}"'
    if error["type"].startswith("bool"):
        return "write true or false, without quotes"
    if error["type"].startswith(("float", "int")) and isinstance(value, str):
        return "write a number, without quotes and units"
    return None


def format_path(location: tuple[int | str, ...]) -> str:
    """Return a path such as `claims[3].quote`; the names of record types that pydantic adds for unions are excluded."""
    path = ""
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
        # pydantic adds names of types to paths in unions; a user's file contains no such keys.
        elif not step[:1].isupper() and step not in ("float", "str", "int", "none"):
            path += f".{step}" if path else step
    return path


def _shorten(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
