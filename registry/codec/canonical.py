"""Canonical bytes of a document (RFC 8785) and the digests made of them."""

import hashlib
import json
from collections.abc import Mapping, Sequence

import rfc8785

from registry.errors import Fault, InputError

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]

_LARGEST_INTEGER = 2**53 - 1
_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode


def canonical_bytes(document: Json) -> bytes:
    """Return *document* as RFC 8785 canonical JSON in UTF-8.

    Raises:
        InputError: a number or a text that canonical JSON cannot hold (NaN, infinity, integers beyond 2**53 - 1, lone surrogates).
    """
    try:
        if _is_plain(document):
            return _encode(document).encode()
        return rfc8785.dumps(document)
    except (rfc8785.CanonicalizationError, UnicodeEncodeError, ValueError) as error:
        raise InputError(
            Fault(code="not-canonical", where="document", found=f"canonical JSON (RFC 8785) cannot hold it: {error}")
        ) from error


def digest(document: Json) -> str:
    """Return the SHA-256 of the canonical bytes of *document*, hexadecimal."""
    return hashlib.sha256(canonical_bytes(document)).hexdigest()


def leaf_hash(canonical: bytes) -> str:
    """Return SHA-256(0x00 ‖ *canonical*), hexadecimal: the leaf of RFC 6962 section 2.1."""
    return hashlib.sha256(b"\x00" + canonical).hexdigest()


def _is_plain(value: Json) -> bool:
    """Whether Python's own encoder gives the bytes of RFC 8785 for *value*; a property test compares the two.

    They differ in the order of keys beyond the Basic Multilingual Plane and in how some floats are written: below 1e-4,
    from 1e16 up, and whole numbers (`1.0` is `1`).
    """
    if value is None or isinstance(value, (str, bool)):
        return True
    if isinstance(value, int):
        return -_LARGEST_INTEGER <= value <= _LARGEST_INTEGER
    if isinstance(value, float):
        return 1e-4 <= abs(value) < 1e16 and not value.is_integer()
    if isinstance(value, Mapping):
        return all(key.isascii() and _is_plain(item) for key, item in value.items())
    return all(_is_plain(item) for item in value)
