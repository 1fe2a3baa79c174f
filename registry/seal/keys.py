"""Keys that sign: Ed25519 and ML-DSA-44 for logs, ECDSA P-256 for documents."""

import hashlib
from base64 import b64encode
from dataclasses import dataclass, field, replace

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
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from registry.records.log_seal import KeyAlgorithm, KeyPurpose
from registry.seal.certificate import build_certificate
from registry.seal.note import encode_vkey, parse_vkey

PrivateKey = Ed25519PrivateKey | MLDSA44PrivateKey | EllipticCurvePrivateKey
PublicKey = Ed25519PublicKey | MLDSA44PublicKey | EllipticCurvePublicKey
_P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""FIPS 186-4 appendix D.1.2.3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SigningKey:
    """A secret key with what is public of it."""

    name: str
    """Of a log key: the log's origin. Of a document key or a statement key: the authority's code."""
    algorithm: KeyAlgorithm
    vkey: str | None = None
    """Of a log key or a statement key: its verifier key (C2SP signed-note). None for document keys."""
    certificate: str | None = None
    """Of a document key: its self-signed X.509 certificate, base64 of the DER. None for other keys."""
    signs_statements: bool = False
    """Whether it is a statement key, which only the authority that it is named after has."""
    private: PrivateKey = field(repr=False)

    @property
    def purpose(self) -> KeyPurpose:
        """What it signs."""
        if self.signs_statements:
            return KeyPurpose.STATEMENT
        return KeyPurpose.DOCUMENT if self.algorithm is KeyAlgorithm.ECDSA_P256 else KeyPurpose.LOG

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the public key as DER SubjectPublicKeyInfo, hexadecimal."""
        return _fingerprint(self.private.public_key())

    @property
    def public(self) -> bytes:
        """The public key: raw for log keys, an uncompressed point (X9.62) for document keys."""
        return public_of(self.private)

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
        ValueError: a name that no verifier key or certificate can hold, or a seed of another length.
    """
    if seed is not None and len(seed) != 32:
        raise ValueError(f"a seed has 32 bytes, got {len(seed)}")
    match algorithm:
        case KeyAlgorithm.ED25519:
            return name_key(name, algorithm, Ed25519PrivateKey.from_private_bytes(seed) if seed else Ed25519PrivateKey.generate())
        case KeyAlgorithm.ML_DSA_44:
            return name_key(name, algorithm, MLDSA44PrivateKey.from_seed_bytes(seed) if seed else MLDSA44PrivateKey.generate())
        case KeyAlgorithm.ECDSA_P256:
            private = _derive_p256(seed) if seed else generate_private_key(SECP256R1())
            certificate = b64encode(build_certificate(private, name, organisation)).decode()
            return SigningKey(name=name, algorithm=algorithm, certificate=certificate, private=private)


def make_statement_key(authority: str, *, seed: bytes | None = None) -> SigningKey:
    """Return a new key that signs what *authority* (its code) states; *seed* as in `make_key`."""
    return as_statement_key(make_key(KeyAlgorithm.ED25519, authority, seed=seed))


def as_statement_key(key: SigningKey) -> SigningKey:
    """Return *key*, an Ed25519 key whose name is an authority's code, as the one that signs what that authority states."""
    return replace(key, signs_statements=True)


def name_key(name: str, algorithm: KeyAlgorithm, private: PrivateKey) -> SigningKey:
    """Return the log key *private* under *name*; raises ValueError for a name that no verifier key can hold."""
    return SigningKey(name=name, algorithm=algorithm, vkey=encode_vkey(name, algorithm, public_of(private)), private=private)


def public_of(private: PrivateKey) -> bytes:
    """Return the public key: raw for log keys, an uncompressed point (X9.62) for document keys."""
    if isinstance(private, EllipticCurvePrivateKey):
        return private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    return private.public_key().public_bytes_raw()


def algorithm_of(private: PrivateKey) -> KeyAlgorithm | None:
    """Return how *private* signs; None for an elliptic curve that Caveat does not use."""
    match private:
        case Ed25519PrivateKey():
            return KeyAlgorithm.ED25519
        case MLDSA44PrivateKey():
            return KeyAlgorithm.ML_DSA_44
        case EllipticCurvePrivateKey():
            return KeyAlgorithm.ECDSA_P256 if private.curve.name == SECP256R1.name else None


def fingerprint_of_vkey(vkey: str) -> str:
    """Return the fingerprint of a verifier key's public key, as `SigningKey.fingerprint`; raises InputError `bad-vkey`."""
    key = parse_vkey(vkey, where="verifier key")
    kind = MLDSA44PublicKey if key.algorithm is KeyAlgorithm.ML_DSA_44 else Ed25519PublicKey
    return _fingerprint(kind.from_public_bytes(key.public))


def format_fingerprint(fingerprint: str) -> str:
    """Return *fingerprint* as two people compare it over the telephone: groups of four digits, eight in a line, two lines."""
    groups = [fingerprint[at : at + 4] for at in range(0, len(fingerprint), 4)]
    return "\n".join(" ".join(groups[at : at + 8]) for at in range(0, len(groups), 8))


def _fingerprint(public: PublicKey) -> str:
    return hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def _derive_p256(seed: bytes) -> EllipticCurvePrivateKey:
    """FIPS 186-5 appendix A.2.1: 512 bits, reduced, so that the bias is below 2^-256."""
    wide = int.from_bytes(hashlib.sha512(b"caveat document key" + seed).digest(), "big")
    return derive_private_key(wide % (_P256_ORDER - 1) + 1, SECP256R1())
