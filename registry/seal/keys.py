"""Secret keys: making them, keeping them in files that only their owner reads, and signing with them.

A file holds one key as PEM PKCS 8 (RFC 5958, RFC 7468), encrypted where there is a passphrase, below what is public of it: the verifier key
of a log key as text, the certificate of a document key as PEM.
"""

import hashlib
import os
import stat
from base64 import b64decode, b64encode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDSA,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    derive_private_key,
    generate_private_key,
)
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PrivateKey, MLDSA44PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from registry.errors import ConflictError, Fault, InputError, UnavailableError
from registry.records.seal import KeyAlgorithm, KeyPurpose
from registry.seal.certificate import build_certificate, read_certificate
from registry.seal.note import encode_vkey, parse_vkey

PrivateKey = Ed25519PrivateKey | MLDSA44PrivateKey | EllipticCurvePrivateKey
PublicKey = Ed25519PublicKey | MLDSA44PublicKey | EllipticCurvePublicKey
FILE_NAMES = {KeyAlgorithm.ED25519: "log.pem", KeyAlgorithm.ML_DSA_44: "log-ml-dsa-44.pem", KeyAlgorithm.ECDSA_P256: "document.pem"}
_LARGEST_FILE = 65_536
_BEGIN, _END = b"-----BEGIN ", b"PRIVATE KEY-----"
_CERTIFICATE = (b"-----BEGIN CERTIFICATE-----\n", b"-----END CERTIFICATE-----\n")
_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_INTRODUCTION = "# A secret key of Caveat: who has it signs in your name. Public is the line or block that follows, and that alone.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """A secret key with what is public of it."""

    name: str
    """Of a log key: the log's origin. Of a document key: the authority's code."""
    algorithm: KeyAlgorithm
    vkey: str | None = None
    """Of a log key: its verifier key (C2SP signed-note). None for document keys."""
    certificate: str | None = None
    """Of a document key: its self-signed X.509 certificate, base64 of the DER. None for log keys."""
    private: PrivateKey = field(repr=False)

    @property
    def purpose(self) -> KeyPurpose:
        """What it signs."""
        return KeyPurpose.DOCUMENT if self.algorithm is KeyAlgorithm.ECDSA_P256 else KeyPurpose.LOG

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the public key as DER SubjectPublicKeyInfo, hexadecimal."""
        return _fingerprint(self.private.public_key())

    @property
    def public(self) -> bytes:
        """The public key: raw for log keys, an uncompressed point (X9.62) for document keys."""
        return _public_of(self.private)

    def sign(self, message: bytes) -> bytes:
        """Return the signature over *message*: 64 raw bytes of Ed25519, 2,420 of ML-DSA-44, DER of ECDSA with SHA-256 (RFC 6979)."""
        if isinstance(self.private, EllipticCurvePrivateKey):
            return self.private.sign(message, ECDSA(SHA256(), deterministic_signing=True))
        return self.private.sign(message)


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRing:
    """The keys of one folder."""

    log: tuple[SigningKey, ...] = ()
    """For checkpoints: Ed25519 first, then ML-DSA-44; empty where there is none."""
    document: SigningKey | None = None
    """For PDF files; None where there is none."""

    @property
    def keys(self) -> tuple[SigningKey, ...]:
        """All of them."""
        return (*self.log, self.document) if self.document else self.log


def make_key(algorithm: KeyAlgorithm, name: str, *, seed: bytes | None = None, organisation: str | None = None) -> SigningKey:
    """Return a new key.

    Args:
        algorithm: Ed25519 and ML-DSA-44 sign logs, ECDSA P-256 documents.
        name: of a log key, the log's origin; of a document key, the authority's code.
        seed: 32 bytes that the key is derived from, the same key each time; None takes the system's chance.
        organisation: of a document key, the authority's name, for its certificate; None leaves it out.

    Raises:
        ValueError: a name that no verifier key can hold, or a seed of another length.
    """
    if seed is not None and len(seed) != 32:
        raise ValueError(f"a seed has 32 bytes, got {len(seed)}")
    match algorithm:
        case KeyAlgorithm.ED25519:
            return _name_key(name, algorithm, Ed25519PrivateKey.from_private_bytes(seed) if seed else Ed25519PrivateKey.generate())
        case KeyAlgorithm.ML_DSA_44:
            return _name_key(name, algorithm, MLDSA44PrivateKey.from_seed_bytes(seed) if seed else MLDSA44PrivateKey.generate())
        case KeyAlgorithm.ECDSA_P256:
            private = _derive_p256(seed) if seed else generate_private_key(SECP256R1())
            certificate = b64encode(build_certificate(private, name, organisation)).decode()
            return SigningKey(name=name, algorithm=algorithm, certificate=certificate, private=private)


def write_key(folder: Path, key: SigningKey, *, passphrase: str | None) -> Path:
    """Keep *key* in a new file of *folder* and return its path: mode 0600, in a folder of mode 0700 if it is made here.

    Args:
        folder: made if there is none.
        key: at most one of each algorithm is kept in a folder.
        passphrase: encrypts it (PBES2, AES-256); None or empty leaves it unencrypted.

    Raises:
        ConflictError: `key-file-exists`: there is one; `key-file-open`: others could put files into the folder.
        UnavailableError: `file-not-accessible`: it cannot be written.
    """
    path = folder / FILE_NAMES[key.algorithm]
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _refuse_open_folder(folder)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(_to_pem(key, passphrase))
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError as error:
        found, advice = "there is a key already", "caveat key rotate puts another in its place"
        raise ConflictError(Fault(code="key-file-exists", where=str(path), found=found, advice=advice)) from error
    except OSError as error:
        raise _not_accessible(path, error) from error
    return path


def retire_key(folder: Path, algorithm: KeyAlgorithm) -> Path:
    """Rename the file of the key of *algorithm* to `NAME.retired.pem` (`NAME.retired-2.pem`, …) and return the new path.

    Raises:
        UnavailableError: `file-not-accessible`: there is none, or it cannot be renamed.
    """
    path = folder / FILE_NAMES[algorithm]
    number = 1
    while (target := folder / f"{path.stem}.retired{'' if number == 1 else f'-{number}'}.pem").exists():
        number += 1
    try:
        return path.rename(target)
    except OSError as error:
        raise _not_accessible(path, error) from error


def read_keys(folder: Path, *, ask: Callable[[], str | None]) -> KeyRing:
    """Return the keys of *folder*; none where it does not exist.

    Args:
        folder: where `write_key` put them.
        ask: gives the passphrase, None if there is nobody to ask; called once at most, and only for an encrypted key.

    Raises:
        InputError: `key-file-open`: others than the owner can read a file, or change the folder; `key-file-damaged`: it holds no key, or
            not the one whose public part it shows; `passphrase-wrong`.
        UnavailableError: `passphrase-missing`: it is encrypted, and nobody can be asked; `file-not-accessible`.
    """
    answers: list[str | None] = []

    def ask_once() -> str | None:
        if not answers:
            answers.append(ask())
        return answers[0]

    found = {algorithm: _read_key(folder / name, algorithm, ask_once) for algorithm, name in FILE_NAMES.items()}
    logs = tuple(key for algorithm in (KeyAlgorithm.ED25519, KeyAlgorithm.ML_DSA_44) if (key := found[algorithm]))
    return KeyRing(log=logs, document=found[KeyAlgorithm.ECDSA_P256])


def fingerprint_of_vkey(vkey: str) -> str:
    """Return the fingerprint of a verifier key's public key, as `SigningKey.fingerprint`; raises InputError `bad-vkey`."""
    key = parse_vkey(vkey, where="verifier key")
    kind = MLDSA44PublicKey if key.algorithm is KeyAlgorithm.ML_DSA_44 else Ed25519PublicKey
    return _fingerprint(kind.from_public_bytes(key.public))


def _name_key(name: str, algorithm: KeyAlgorithm, private: PrivateKey) -> SigningKey:
    return SigningKey(name=name, algorithm=algorithm, vkey=encode_vkey(name, algorithm, _public_of(private)), private=private)


def _public_of(private: PrivateKey) -> bytes:
    if isinstance(private, EllipticCurvePrivateKey):
        return private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return private.public_key().public_bytes_raw()


def _fingerprint(public: PublicKey) -> str:
    return hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def _algorithm_of(private: PrivateKey) -> KeyAlgorithm | None:
    match private:
        case Ed25519PrivateKey():
            return KeyAlgorithm.ED25519
        case MLDSA44PrivateKey():
            return KeyAlgorithm.ML_DSA_44
        case EllipticCurvePrivateKey():
            return KeyAlgorithm.ECDSA_P256 if private.curve.name == SECP256R1.name else None


def _derive_p256(seed: bytes) -> EllipticCurvePrivateKey:
    """FIPS 186-5 appendix A.2.1: 512 bits, reduced, so that the bias is below 2^-256."""
    wide = int.from_bytes(hashlib.sha512(b"caveat document key" + seed).digest(), "big")
    return derive_private_key(wide % (_P256_ORDER - 1) + 1, SECP256R1())


def _to_pem(key: SigningKey, passphrase: str | None) -> bytes:
    encryption = BestAvailableEncryption(passphrase.encode()) if passphrase else NoEncryption()
    secret = key.private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption)
    if key.vkey is not None:
        return f"{_INTRODUCTION}{key.vkey}\n".encode() + secret
    text = b64encode(b64decode(key.certificate or "")).decode()
    rows = "".join(f"{text[at : at + 64]}\n" for at in range(0, len(text), 64))
    return _INTRODUCTION.encode() + _CERTIFICATE[0] + rows.encode() + _CERTIFICATE[1] + secret


def _read_key(path: Path, algorithm: KeyAlgorithm, ask: Callable[[], str | None]) -> SigningKey | None:
    data = _read_file(path)
    if data is None:
        return None
    shown, begin, rest = data.partition(_BEGIN + (b"ENCRYPTED " if b"ENCRYPTED PRIVATE" in data else b"") + _END)
    if not begin:
        raise _damaged(path, "it has no block BEGIN PRIVATE KEY")
    private = _decrypt(path, begin + rest, ask if b"ENCRYPTED" in begin else None)
    if _algorithm_of(private) is not algorithm:
        raise _damaged(path, f"it holds no key of {algorithm}")
    return _check_shown(path, shown.decode(errors="replace"), algorithm, private)


def _decrypt(path: Path, pem: bytes, ask: Callable[[], str | None] | None) -> PrivateKey:
    passphrase = ask() if ask else None
    if ask and not passphrase:
        found, advice = "it is encrypted, and no passphrase is given", "set CAVEAT_PASSPHRASE, or run it on a terminal"
        raise UnavailableError(Fault(code="passphrase-missing", where=str(path), found=found, advice=advice))
    try:
        private = load_pem_private_key(pem, passphrase.encode() if passphrase else None)
    except (ValueError, TypeError) as error:
        if ask:
            found, advice = "the passphrase does not open it, or it is damaged", "try again; without it the key is lost"
            raise InputError(Fault(code="passphrase-wrong", where=str(path), found=found, advice=advice)) from error
        raise _damaged(path, "it holds no key in PKCS 8") from error
    if not isinstance(private, (Ed25519PrivateKey, MLDSA44PrivateKey, EllipticCurvePrivateKey)):
        raise _damaged(path, "its key is of another kind than Caveat uses")
    return private


def _check_shown(path: Path, shown: str, algorithm: KeyAlgorithm, private: PrivateKey) -> SigningKey:
    """What is public in the file must belong to the secret key: else somebody would sign with one key and show another."""
    if isinstance(private, EllipticCurvePrivateKey):
        certificate, name = None, None
        with suppress(ValueError):
            certificate, name = read_certificate(shown.encode(), private.public_key())
        if certificate is None or name is None:
            raise _damaged(path, "its certificate is missing, or of another key")
        return SigningKey(name=name, algorithm=algorithm, certificate=b64encode(certificate).decode(), private=private)
    rows = [row for row in shown.splitlines() if row and not row.startswith("#")]
    if len(rows) != 1:
        raise _damaged(path, "expected one line with its verifier key above the secret key")
    vkey = parse_vkey(rows[0], where=str(path))
    if vkey.public != _public_of(private) or vkey.algorithm is not algorithm:
        raise _damaged(path, "the verifier key above the secret key is of another key")
    return _name_key(vkey.name, algorithm, private)


def _read_file(path: Path) -> bytes | None:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _not_accessible(path, error) from error
    with os.fdopen(descriptor, "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise _damaged(path, "it is no file")
        if mode & 0o077:
            found = f"others than its owner can read it (mode {stat.S_IMODE(mode):04o})"
            advice = f"run: chmod 600 {path}   and, if somebody may have read it: caveat key rotate"
            raise InputError(Fault(code="key-file-open", where=str(path), found=found, advice=advice))
        _refuse_open_folder(path.parent)
        data = file.read(_LARGEST_FILE + 1)
    if len(data) > _LARGEST_FILE:
        raise _damaged(path, f"it has more than {_LARGEST_FILE} bytes")
    return data


def _refuse_open_folder(folder: Path) -> None:
    mode = folder.stat().st_mode
    if mode & 0o022:
        found = f"others than its owner can put files into it (mode {stat.S_IMODE(mode):04o})"
        raise InputError(Fault(code="key-file-open", where=str(folder), found=found, advice=f"run: chmod 700 {folder}"))


def _damaged(path: Path, found: str) -> InputError:
    return InputError(Fault(code="key-file-damaged", where=str(path), found=found, advice="restore it from your copy of the key"))


def _not_accessible(path: Path, error: OSError) -> UnavailableError:
    found = f"the system refuses: {error.strerror or error}"
    advice = "check the folder's permissions and its disk"
    return UnavailableError(Fault(code="file-not-accessible", where=str(path), found=found, advice=advice))
