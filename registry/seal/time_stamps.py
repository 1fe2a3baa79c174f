"""Time stamps of RFC 3161: a request, the content of an answer, and whether a certificate vouches for it. Imports rfc3161_client."""

import importlib.util
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from registry.errors import Fault, InputError, UnavailableError
from registry.records.record import Record

if TYPE_CHECKING:
    from rfc3161_client import TimeStampResponse

SUFFIX = ".tsr"
"""Of the file next to a checkpoint: `NAME.note.tsr`."""
LARGEST_BYTES = 32_768
"""Of an answer with its certificates; those of public authorities have 2 to 8 kB. The log keeps the answer whole."""
_LARGEST_FILE = 1_000_000
_SHA256 = "2.16.840.1.101.3.4.2.1"
_GRANTED = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeStamp(Record):
    """What an answer of a time-stamping authority states; nothing of it is verified yet."""

    sha256: str
    """Digest that it is over, hexadecimal."""
    at: datetime
    """UTC, by the authority's clock."""
    policy: str
    """OID of the policy that the authority issued it under."""
    serial: str
    """Serial number of the token, decimal; up to 160 bits."""
    nonce: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StampRequest:
    """A request for a time stamp, and the nonce that the answer must repeat."""

    content: bytes
    nonce: int


def has_time_stamps() -> bool:
    """Whether the library for time stamps is installed: the extra `caveat[anchors]`."""
    return importlib.util.find_spec("rfc3161_client") is not None


def refuse_missing_library() -> None:
    """Raise UnavailableError where the library for time stamps is not installed."""
    if not has_time_stamps():
        problem = "time stamps need the library rfc3161-client, which is not installed"
        raise UnavailableError(Fault("part-not-installed", "caveat[anchors]", problem, advice="pip install 'caveat[anchors]'"))


def build_request(data: bytes) -> StampRequest:
    """Return a request for a time stamp over the SHA-256 of *data*, with a fresh nonce; it asks for the authority's certificates."""
    from rfc3161_client import HashAlgorithm, TimestampRequestBuilder  # noqa: PLC0415

    request = TimestampRequestBuilder(data, HashAlgorithm.SHA256, nonce=True, cert_req=True).build()
    if request.nonce is None:
        raise AssertionError("the request was built with a nonce")
    return StampRequest(content=request.as_bytes(), nonce=request.nonce)


def read_stamp(content: bytes, *, where: str) -> TimeStamp:
    """Return what the answer *content* (TimeStampResp) states.

    Raises:
        InputError: `bad-time-stamp`: it is none, it was not granted, or it is over another kind of digest.
    """
    response = _parse(content, where=where)
    info = response.tst_info
    imprint = info.message_imprint
    if imprint.hash_algorithm.dotted_string != _SHA256:
        raise _refused(where, f"it is over a digest of the kind {imprint.hash_algorithm.dotted_string}, and not over a SHA-256")
    return TimeStamp(
        sha256=imprint.message.hex(), at=info.gen_time, policy=info.policy.dotted_string, serial=str(info.serial_number),
        # An answer to a request without a nonce has none, whatever the library's types say.
        nonce=info.nonce,
    )  # fmt: skip


def find_objection(content: bytes, certificates: tuple[bytes, ...], *, where: str) -> str | None:
    """Return why the answer *content* is not vouched for by *certificates*; None where it is.

    The library checks the signature, the chain to one of *certificates* at the time of the stamp, and that the signer may sign stamps.

    Args:
        certificates: those that the user trusts, DER.

    Raises:
        InputError: `bad-time-stamp`: it is no granted time stamp.
    """
    from cryptography import x509  # noqa: PLC0415
    from rfc3161_client import VerificationError, VerifierBuilder  # noqa: PLC0415

    response = _parse(content, where=where)
    roots = [x509.load_der_x509_certificate(certificate) for certificate in dict.fromkeys(certificates)]
    try:
        VerifierBuilder(roots=roots).build().verify(response, response.tst_info.message_imprint.message)
    except VerificationError as error:
        # The library quotes OpenSSL's whole error stack, with file names; the reason is the text after `Verify error`.
        _, is_chain, reason = str(error).partition("Verify error: ")
        return reason.split('"')[0] if is_chain else str(error).split(": ErrorStack")[0]
    except Exception as error:  # noqa: BLE001  (a damaged certificate stops the library in many ways, and none of them vouches for it)
        return f"its certificates cannot be read: {' '.join(str(error).split())[:200]}"
    return None


def read_certificates(path: Path) -> tuple[bytes, ...]:
    """Return the certificates in the PEM file *path*, DER.

    Raises:
        InputError: `file-not-readable`; `bad-certificate`: it has none, or one is not valid.
    """
    from cryptography import x509  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import Encoding  # noqa: PLC0415

    try:
        with path.open("rb") as stream:
            content = stream.read(_LARGEST_FILE)
    except OSError as error:
        raise InputError(Fault("file-not-readable", str(path), error.strerror or str(error))) from error
    try:
        found = x509.load_pem_x509_certificates(content)
    except ValueError as error:
        problem = "it holds no certificate in PEM, or one that is damaged"
        raise InputError(Fault("bad-certificate", str(path), problem, advice="openssl x509 -inform DER -in FILE -out FILE.pem")) from error
    return tuple(certificate.public_bytes(Encoding.DER) for certificate in found)


def _parse(content: bytes, *, where: str) -> "TimeStampResponse":
    """Return the answer, parsed down to what `TimeStamp` holds: the library reads parts of it late."""
    if len(content) > LARGEST_BYTES:
        raise _refused(where, f"it has {len(content):,} bytes; at most {LARGEST_BYTES:,} are read")
    try:
        response = _decode(content)
        if response.status != _GRANTED:
            raise _refused(where, _describe_status(response))
        info, imprint = response.tst_info, response.tst_info.message_imprint
        _ = info.gen_time, info.policy, info.serial_number, info.nonce, imprint.message, imprint.hash_algorithm
        _ = response.signed_data.signer_infos, response.signed_data.certificates
    except (ValueError, TypeError, KeyError, OverflowError) as error:
        raise _refused(where, "it is no answer of a time-stamping authority (RFC 3161), or it is damaged") from error
    return response


def _decode(content: bytes) -> "TimeStampResponse":
    from rfc3161_client import decode_timestamp_response  # noqa: PLC0415

    try:
        return decode_timestamp_response(content)
    except ValueError:
        return decode_timestamp_response(_sort_certificates(content))


def _sort_certificates(content: bytes) -> bytes:
    """Return the answer with its certificates in the order of DER, which the library insists on and OpenSSL's own authority does not keep.

    No signature covers the certificates of a token, and nothing else is encoded again.
    """
    from asn1crypto import cms, tsp  # noqa: PLC0415

    answer = tsp.TimeStampResp.load(content, strict=True)
    signed = answer["time_stamp_token"]["content"]
    if signed["certificates"]:
        signed["certificates"] = cms.CertificateSet(sorted(signed["certificates"], key=lambda certificate: certificate.dump()))
    return bytes(answer.dump())


def _describe_status(response: "TimeStampResponse") -> str:
    from rfc3161_client import PKIStatus  # noqa: PLC0415

    words = PKIStatus(response.status).name.lower().replace("_", " ") if response.status in set(PKIStatus) else str(response.status)
    return " ".join(": ".join([f"the authority did not grant it ({words})", *response.status_string]).split())[:300]


def _refused(where: str, found: str) -> InputError:
    return InputError(Fault("bad-time-stamp", where, found, advice="ask the authority again: caveat admin log anchor --tsa URL"))
