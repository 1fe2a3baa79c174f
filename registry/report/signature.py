"""The signature of a PDF: PAdES baseline B-B (ETSI EN 319 142-1) by an ECDSA key over P-256, made and checked.

The one door to pyHanko, loaded when something is signed or a signature is checked. A signature is good only if the whole file is what
Caveat writes from the unsigned bytes, the moment, the certificate and the value of the signature: so that no byte of it is unwatched,
also none that other readers do not look at. Whether the key is to be trusted is not asked here: that is looked up in the log.
"""

import asyncio
import warnings
from base64 import b64decode
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from registry.errors import Fault, InputError
from registry.records.log_seal import KeyAlgorithm
from registry.report.revision import Found, find_revision, hash_around, write_revision

if TYPE_CHECKING:
    from asn1crypto import cms as asn1

    from registry.seal.signing_keys import SigningKey

_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_LONGEST_SIGNATURE = 72
"""Bytes of an ECDSA signature over P-256 in DER."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PdfSignature:
    """What the signature of a PDF says, and whether it holds."""

    certificate: bytes | None
    """Of the key that is said to have signed, DER; None where none can be read."""
    subject: str | None
    """Whom the certificate names, as RFC 4514 writes names. Anybody can make a certificate of any name."""
    fingerprint: str | None
    """SHA-256 of the key as DER SubjectPublicKeyInfo, hexadecimal, as the log records it; None where it is no key of Caveat's."""
    valid_from: datetime | None
    valid_until: datetime | None
    at: datetime | None
    """When it was signed, as the signer says; None where it is not said as Caveat says it."""
    covers_all: bool
    """Nothing was appended to the file after it was signed, and nothing is missing."""
    unsigned: bytes
    """The file as it was before it was signed; the file itself where that cannot be told."""
    is_intact: bool
    """The certificate's key signed exactly this file, and every byte is as Caveat writes it: there are no problems."""
    problems: tuple[str, ...]
    """What is wrong, in words; empty if the signature is good."""


def sign_pdf(data: bytes, key: "SigningKey", *, at: datetime) -> bytes:
    """Return *data* with a signature appended; the same file, key and moment give the same bytes (RFC 6979).

    Args:
        data: a PDF that `registry.report` drew.
        key: a document key.
        at: when it is signed, to the second; the signer's word, with no time stamp of another.

    Raises:
        InputError: `not-signable`: it has no empty place for a signature.
        ValueError: the key signs no documents.
    """
    if key.algorithm is not KeyAlgorithm.ECDSA_P256 or key.certificate is None:
        raise ValueError("documents are signed with a document key")
    certificate = b64decode(key.certificate)
    try:
        revision = write_revision(data, at=at, room=_measure(certificate))
    except ValueError as error:
        advice = "draw it again with caveat report, and sign that"
        raise InputError(Fault(code="not-signable", where="PDF", found=str(error), advice=advice)) from error
    attributes = _list_attributes(certificate, revision.digest)
    return revision.fill(_build_cms(certificate, attributes, _take_lower(key.sign(attributes.dump()))))


def find_signature(data: bytes) -> PdfSignature | None:
    """Return what the signature of the PDF *data* says and whether it holds, as `check_signature`; None if it has none."""
    try:
        found = find_revision(data)
    except ValueError as error:
        return _build(data, None, None, [str(error)])
    if found is None:
        return None
    certificate, signed, unreadable = _read_cms(found.contents)
    problems = _check_extent(data, found) + unreadable
    if certificate is not None and signed is not None and found.covered_end <= len(data):
        problems += _check_cryptography(data[: found.covered_end], found, certificate, signed)
        if not problems:
            problems += _check_bytes(data, found, certificate, signed)
    return _build(data, found, certificate, problems)


def check_signature(data: bytes) -> PdfSignature:
    """Return what the signature of the PDF *data* says, and whether it holds.

    Raises:
        InputError: `not-signed`: it has none.
    """
    signature = find_signature(data)
    if signature is None:
        found, advice = "the PDF carries no signature", "caveat report --sign signs what it draws"
        raise InputError(Fault(code="not-signed", where="PDF", found=found, advice=advice))
    return signature


def _check_extent(data: bytes, found: Found) -> list[str]:
    problems = []
    if found.count > 1:
        problems.append(f"it carries {found.count} signatures; Caveat gives one, which permits no other")
    if found.covered_end > len(data):
        problems.append(f"it is cut off: the signature speaks of {found.covered_end:,} bytes, the file has {len(data):,}")
    if found.covered_end < len(data):
        problems.append(f"{len(data) - found.covered_end:,} bytes were appended after it was signed")
    if found.at is None:
        problems.append("the moment of signing is not written as Caveat writes it")
    return problems


def _read_cms(contents: bytes) -> "tuple[bytes | None, asn1.SignerInfo | None, list[str]]":
    """Return the certificate and what its key signed, and what is wrong with them as far as reading shows it."""
    from asn1crypto import cms  # noqa: PLC0415  (pyHanko's)

    try:
        content = cms.ContentInfo.load(contents)["content"]
        (certificate,), (signer,) = content["certificates"], content["signer_infos"]
        return bytes(certificate.chosen.dump()), signer, []
    except Exception as error:  # noqa: BLE001  (whatever foreign bytes do to the parser: they are no signature of Caveat's)
        return None, None, [f"it cannot be read as a signature of one key with its certificate ({type(error).__name__})"]


def _check_cryptography(covered: bytes, found: Found, certificate: bytes, signer: "asn1.SignerInfo") -> list[str]:
    from asn1crypto import x509  # noqa: PLC0415
    from pyhanko.sign.validation.generic_cms import validate_sig_integrity  # noqa: PLC0415

    digest = hash_around(covered, found.start, found.end)
    try:
        is_unchanged, is_signed = validate_sig_integrity(signer, x509.Certificate.load(certificate), "data", digest)
    except Exception as error:  # noqa: BLE001  (as above; pyHanko's own words are kept)
        return [f"the signature cannot be checked: {(str(error) or type(error).__name__).splitlines()[0][:200]}"]
    problems = []
    if not is_unchanged:
        problems.append("the file was changed after it was signed: the signature is of other bytes")
    if not is_signed:
        problems.append("the certificate's key did not make this signature")
    return problems


def _check_bytes(data: bytes, found: Found, certificate: bytes, signer: "asn1.SignerInfo") -> list[str]:
    """Write the signed file again from what the signature says; every byte must be the same."""
    value = signer["signature"].native
    try:
        if found.at is None or value != _take_lower(value):
            return ["the value of the signature is not written as Caveat writes it"]
        revision = write_revision(data[: found.unsigned_end], at=found.at, room=_measure(certificate))
        again = revision.fill(_build_cms(certificate, _list_attributes(certificate, revision.digest), value))
    except ValueError as error:
        return [f"it is no signature as Caveat makes them: {error}"]
    if again != data:
        first = next(place for place in range(len(data)) if again[place : place + 1] != data[place : place + 1])
        return [f"what was appended to sign it is not what Caveat appends: it differs from byte {first:,} on"]
    return []


def _build(data: bytes, found: Found | None, certificate: bytes | None, problems: list[str]) -> PdfSignature:
    named = None
    if certificate is not None:
        try:
            named = _read_certificate(certificate)
        except Exception as error:  # noqa: BLE001  (as in `_read_cms`)
            problems = [*problems, f"its certificate is none that Caveat makes: {error}"]
    if named and found and found.at and not named.valid_from <= found.at <= named.valid_until:
        problems = [*problems, f"its certificate was not valid on {found.at:%Y-%m-%d}, when it says it was signed"]
    return PdfSignature(
        certificate=certificate,
        subject=named.subject if named else None,
        fingerprint=named.fingerprint if named else None,
        valid_from=named.valid_from if named else None,
        valid_until=named.valid_until if named else None,
        at=found.at if found else None,
        covers_all=found is not None and found.covered_end == len(data) and found.count == 1,
        unsigned=data[: found.unsigned_end] if found and found.unsigned_end else data,
        is_intact=not problems,
        problems=tuple(problems),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Certificate:
    subject: str
    fingerprint: str
    valid_from: datetime
    valid_until: datetime


def _read_certificate(der: bytes) -> _Certificate:
    """Return what the certificate *der* says; raises ValueError, or one of the parser's errors, if it is none that Caveat makes."""
    from cryptography.x509 import load_der_x509_certificate  # noqa: PLC0415

    from registry.seal.signing_keys import fingerprint_of_certificate  # noqa: PLC0415

    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what cryptography only warns of, such as a negative serial number, Caveat never makes
        certificate = load_der_x509_certificate(der)
        return _Certificate(
            subject=certificate.subject.rfc4514_string(),
            fingerprint=fingerprint_of_certificate(der),
            valid_from=certificate.not_valid_before_utc,
            valid_until=certificate.not_valid_after_utc,
        )


def _list_attributes(certificate: bytes, digest: bytes) -> "asn1.CMSAttributes":
    """Return what the key signs: the type of the content, its digest, and which certificate is meant (RFC 5035), as PAdES B-B asks."""
    from asn1crypto import cms, x509  # noqa: PLC0415
    from pyhanko.sign.general import as_signing_certificate_v2, simple_cms_attribute  # noqa: PLC0415

    meant = as_signing_certificate_v2(x509.Certificate.load(certificate))
    named: dict[str, Any] = {"content_type": "data", "message_digest": digest, "signing_certificate_v2": meant}
    return cms.CMSAttributes([simple_cms_attribute(name, value) for name, value in named.items()])  # type: ignore[no-untyped-call]


def _build_cms(certificate: bytes, attributes: "asn1.CMSAttributes", value: bytes) -> bytes:
    """Return the signed data (RFC 5652) as DER: one signer, one certificate, nothing that is not signed."""
    from asn1crypto import x509  # noqa: PLC0415
    from pyhanko.sign.signers import ExternalSigner  # noqa: PLC0415

    signer = ExternalSigner(signing_cert=x509.Certificate.load(certificate), cert_registry=None, signature_value=value)
    return bytes(asyncio.run(signer.async_sign_prescribed_attributes("sha256", attributes)).dump())


def _measure(certificate: bytes) -> int:
    """Return how many bytes the longest signature with *certificate* has."""
    return len(_build_cms(certificate, _list_attributes(certificate, bytes(32)), bytes(_LONGEST_SIGNATURE)))


def _take_lower(value: bytes) -> bytes:
    """Return the ECDSA signature *value* with the lower of its two s, in DER: (r, s) and (r, n - s) hold both, and one must do."""
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature  # noqa: PLC0415

    r, s = decode_dss_signature(value)
    return encode_dss_signature(r, min(s, _P256_ORDER - s))
