"""Canonical bytes are those of RFC 8785."""

import hashlib
import struct

import pytest
import rfc8785
from hypothesis import given
from hypothesis.strategies import booleans, dictionaries, floats, integers, lists, none, recursive, text

from registry.codec.canonical_documents import Json, canonical_bytes, digest
from registry.codec.statement_encoding import leaf_hash
from registry.errors import InputError

NUMBERS = floats(allow_nan=False, allow_infinity=False) | floats(1e-6, 1e17) | integers(-(2**53) + 1, 2**53 - 1)
TEXTS = text()
DOCUMENTS = recursive(
    none() | booleans() | NUMBERS | TEXTS,
    lambda inner: lists(inner, max_size=4) | dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(DOCUMENTS)
def test_bytes_are_those_of_the_reference_implementation(document: Json) -> None:
    """The fast path gives exactly what the rfc8785 package gives, for any document."""
    assert canonical_bytes(document) == rfc8785.dumps(document)


@pytest.mark.parametrize(
    ("bits", "written"),
    [
        ("0000000000000000", b"0"),
        ("8000000000000000", b"0"),
        ("0000000000000001", b"5e-324"),
        ("7fefffffffffffff", b"1.7976931348623157e+308"),
        ("4340000000000000", b"9007199254740992"),
        ("44b52d02c7e14af5", b"9.999999999999997e+22"),
        ("444b1ae4d6e2ef4e", b"999999999999999700000"),
        ("3eb0c6f7a0b5ed8d", b"0.000001"),
        ("41b3de4355555553", b"333333333.3333332"),
        ("becbf647612f3696", b"-0.0000033333333333333333"),
    ],
)
def test_numbers_are_written_as_in_the_standard(bits: str, written: bytes) -> None:
    """RFC 8785, appendix B: IEEE 754 bits and their ECMAScript form."""
    (number,) = struct.unpack(">d", bytes.fromhex(bits))

    assert canonical_bytes(number) == written


def test_keys_are_sorted_by_utf16() -> None:
    """RFC 8785, section 3.2.3: an emoji sorts before a private-use character although its code point is higher."""
    assert canonical_bytes({"\ufb33": 1, "\U0001f600": 2, "a": 3}) == '{"a":3,"\U0001f600":2,"\ufb33":1}'.encode()


@pytest.mark.parametrize("impossible", [float("nan"), float("inf"), 2**53, "\ud800"])
def test_what_json_cannot_hold_is_refused(impossible: Json) -> None:
    """Numbers and texts outside I-JSON are an input error, never a traceback."""
    with pytest.raises(InputError, match="not-storable"):
        canonical_bytes({"value": impossible})


def test_leaf_is_that_of_rfc_6962() -> None:
    """A leaf is hashed with a zero byte before it, so that it can never be taken for a node."""
    assert leaf_hash(b"{}") == hashlib.sha256(b"\x00{}").hexdigest()
    assert digest({}) == hashlib.sha256(b"{}").hexdigest()
