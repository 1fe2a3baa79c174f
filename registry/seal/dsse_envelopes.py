"""DSSE envelopes: what is signed, and whether a key that a person gave signed it (Ed25519, ECDSA P-256)."""

import binascii
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from registry.codec.file_io import parse_document, read_text
from registry.errors import Fault, InputError
from registry.records.record import Record
from registry.seal.signed_notes import parse_vkey

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_PEM = "-----BEGIN PUBLIC KEY-----"
_LARGEST_KEY_FILE = 65_536
_MOST_SIGNATURES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedPayload(Record):
    """What an envelope holds, after its signature was verified."""

    kind: str
    """Type of the payload."""
    content: bytes
    key: str
    """The key that signed it, as the user named it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeKey:
    """A public key that the user trusts."""

    name: str
    """As it was given."""
    public: "Ed25519PublicKey | EllipticCurvePublicKey"


def encode_signed(kind: str, body: bytes) -> bytes:
    """Return the pre-authentication encoding of DSSE v1: type and body cannot run into each other."""
    return b"DSSEv1 %d %s %d %s" % (len(kind.encode()), kind.encode(), len(body), body)


def read_envelope_keys(texts: Sequence[str]) -> tuple[EnvelopeKey, ...]:
    """Return the keys in *texts*, each a verifier key of a log, or a file with one or with a public key in PEM.

    Raises:
        InputError: `bad-vkey`, `file-not-readable`: one is no such key.
    """
    return tuple(_read_key(text) for text in texts)


def _read_key(text: str) -> EnvelopeKey:
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import load_pem_public_key  # noqa: PLC0415

    path = Path(text)
    content = read_text(path, largest=_LARGEST_KEY_FILE).strip() if path.is_file() else text
    if _PEM not in content:
        vkey = parse_vkey(content.splitlines()[0] if content else "", where=text[:200])
        return EnvelopeKey(name=text, public=Ed25519PublicKey.from_public_bytes(vkey.public[:32]))
    try:
        public = load_pem_public_key(content.encode())
    except ValueError as error:
        raise InputError(Fault("bad-vkey", text, "its public key in PEM is damaged, or of a kind that is not known")) from error
    if isinstance(public, Ed25519PublicKey) or (isinstance(public, EllipticCurvePublicKey) and isinstance(public.curve, SECP256R1)):
        return EnvelopeKey(name=text, public=public)
    raise InputError(Fault("bad-vkey", text, "expected a public key for Ed25519 or ECDSA P-256"))


def open_envelope(text: str, keys: Sequence[EnvelopeKey], *, where: str) -> SignedPayload:
    """Return the payload of the envelope *text*, signed by one of *keys*.

    Raises:
        InputError: `bad-envelope`: it is no DSSE envelope; `signature-not-valid`: none of *keys* signed it.
    """
    envelope = parse_document(text, where=where)
    fields = envelope if isinstance(envelope, dict) else {}
    kind, payload, signatures = fields.get("payloadType"), fields.get("payload"), fields.get("signatures")
    if not isinstance(kind, str) or not isinstance(payload, str) or not isinstance(signatures, list) or len(signatures) > _MOST_SIGNATURES:
        raise InputError(Fault("bad-envelope", where, "it is no DSSE envelope with payload, payloadType and signatures"))
    try:
        body = b64decode(payload, validate=True)
        raw = [b64decode(str(signature["sig"]), validate=True) for signature in signatures]
    except (binascii.Error, TypeError, KeyError) as error:
        raise InputError(Fault("bad-envelope", where, "payload or a signature is not in base64")) from error
    signed = encode_signed(kind, body)
    for key in keys:
        if any(_is_signed(key, signature, signed) for signature in raw):
            return SignedPayload(kind=kind, content=body, key=key.name)
    problem = f"none of the {len(keys)} keys given signed it" if keys else "no key was given"
    advice = "get the signer's public key from the signer, and give it with --key"
    raise InputError(Fault("signature-not-valid", where, problem, advice=advice))


def _is_signed(key: EnvelopeKey, signature: bytes, message: bytes) -> bool:
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, EllipticCurvePublicKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415

    try:
        if isinstance(key.public, EllipticCurvePublicKey):
            key.public.verify(signature, message, ECDSA(SHA256()))
        else:
            key.public.verify(signature, message)
    except InvalidSignature:
        return False
    return True


def parse_payload(payload: SignedPayload, *, where: str) -> dict[str, Any]:
    """Return the JSON object of *payload*; raises InputError where it is none."""
    try:
        document = parse_document(payload.content.decode(), where=f"{where}, payload")
    except UnicodeDecodeError as error:
        raise InputError(Fault("bad-envelope", where, "its payload is not text in UTF-8")) from error
    if not isinstance(document, dict):
        raise InputError(Fault("bad-envelope", where, "its payload is no JSON object"))
    return document
