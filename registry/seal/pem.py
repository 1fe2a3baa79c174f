"""A secret key as text: PEM PKCS 8 (RFC 5958, RFC 7468), encrypted where there is a passphrase, below what is public of it.

Public is the verifier key of a log key, as a line, or the certificate of a document key, as PEM. Reading it needs no passphrase; reading
the secret checks that both belong together: else somebody would sign with one key and show another.
"""

from base64 import b64decode, b64encode
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PrivateKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from registry.errors import Fault, InputError
from registry.records.log_seal import KeyAlgorithm
from registry.seal.certificate import fingerprint_of_certificate, read_certificate
from registry.seal.keys import PrivateKey, SigningKey, algorithm_of, fingerprint_of_vkey, name_key, public_of
from registry.seal.note import parse_vkey

_PLAIN, _ENCRYPTED = "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
_CERTIFICATE, _CERTIFICATE_END = "-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\n"
_INTRODUCTION = "# A secret key of Caveat: who has it signs in your name. Public is the line or block that follows, and that alone.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyText:
    """What stands in a key's file; the secret is still as it is written there."""

    vkey: str | None
    """Of a log key."""
    certificate: str | None
    """Of a document key, base64 of the DER."""
    is_encrypted: bool
    secret: str
    """The block of the secret key."""

    @property
    def fingerprint(self) -> str:
        """Of the public key that is shown; whether the secret fits is not known before it is read."""
        return fingerprint_of_vkey(self.vkey) if self.vkey else fingerprint_of_certificate(b64decode(self.certificate or ""))


class BadPassphraseError(Exception):
    """The passphrase does not open the key, or its block is damaged: which of the two cannot be known."""


def format_key(key: SigningKey, passphrase: str | None) -> str:
    """Return the text of *key*'s file, encrypted (PBES2, AES-256) where there is a *passphrase*."""
    encryption = BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
    secret = key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption).decode()
    shown = f"{key.vkey}\n" if key.vkey is not None else format_certificate(key.certificate or "")
    return _INTRODUCTION + shown + secret


def format_certificate(certificate: str) -> str:
    """Return a certificate, base64 of its DER, as PEM."""
    rows = "".join(f"{certificate[at : at + 64]}\n" for at in range(0, len(certificate), 64))
    return _CERTIFICATE + rows + _CERTIFICATE_END


def parse_key(text: str, *, where: str) -> KeyText:
    """Return what stands in a key's file.

    Raises:
        InputError: `key-file-damaged`: there is no secret key, or not one public part above it; `bad-vkey`.
    """
    begin = _ENCRYPTED if _ENCRYPTED in text else _PLAIN
    shown, found, rest = text.partition(begin)
    if not found:
        raise damaged(where, "it has no block BEGIN PRIVATE KEY")
    certificate = vkey = None
    if _CERTIFICATE in shown:
        certificate = "".join(shown.partition(_CERTIFICATE)[2].partition(_CERTIFICATE_END)[0].split())
        _refuse_no_certificate(certificate, where)
    else:
        rows = [row for row in shown.splitlines() if row and not row.startswith("#")]
        if len(rows) != 1:
            raise damaged(where, "expected one line with its verifier key above the secret key")
        vkey = str(parse_vkey(rows[0], where=where))
    return KeyText(vkey=vkey, certificate=certificate, is_encrypted=begin == _ENCRYPTED, secret=begin + rest)


def open_key(text: KeyText, algorithm: KeyAlgorithm, passphrase: str | None, *, where: str) -> SigningKey:
    """Return the secret key of *text*, which must be one of *algorithm*.

    Raises:
        BadPassphraseError: *passphrase* does not open it.
        InputError: `key-file-damaged`: it is no such key, or another than the public part says.
    """
    try:
        private = load_pem_private_key(text.secret.encode(), passphrase.encode() if passphrase and text.is_encrypted else None)
    except (ValueError, TypeError) as error:
        if text.is_encrypted:
            raise BadPassphraseError from error
        raise damaged(where, "it holds no key in PKCS 8") from error
    if not isinstance(private, (Ed25519PrivateKey, MLDSA44PrivateKey, EllipticCurvePrivateKey)) or algorithm_of(private) is not algorithm:
        raise damaged(where, f"it holds no key of {algorithm.value}")
    return _join(text, algorithm, private, where)


def damaged(where: str, found: str) -> InputError:
    """Return the error for a key file that is not as it was written."""
    return InputError(Fault(code="key-file-damaged", where=where, found=found, advice="restore it from your copy of the key"))


def _join(text: KeyText, algorithm: KeyAlgorithm, private: PrivateKey, where: str) -> SigningKey:
    if isinstance(private, EllipticCurvePrivateKey):
        try:
            name = read_certificate(b64decode(text.certificate or ""), private.public_key())
        except ValueError as error:
            raise damaged(where, f"what it shows does not belong to its secret key: {error}") from error
        return SigningKey(name=name, algorithm=algorithm, certificate=text.certificate, private=private)
    if text.vkey is None:
        raise damaged(where, "it shows no verifier key")
    vkey = parse_vkey(text.vkey, where=where)
    if vkey.public != public_of(private) or vkey.algorithm is not algorithm:
        raise damaged(where, "the verifier key above the secret key is of another key")
    return name_key(vkey.name, algorithm, private)


def _refuse_no_certificate(certificate: str, where: str) -> None:
    try:
        der = b64decode(certificate, validate=True)
        fingerprint_of_certificate(der)
    except ValueError as error:
        raise damaged(where, f"its certificate cannot be read: {error}") from error
    if b64encode(der).decode() != certificate:
        raise damaged(where, "its certificate is not canonical base64")
