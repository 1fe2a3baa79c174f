"""Keys that sign: their making, certificates and PEM texts, and signatures of statements."""

import hashlib
import warnings
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
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
from cryptography.utils import CryptographyDeprecationWarning
from cryptography.x509.oid import NameOID, SignatureAlgorithmOID

from registry.errors import CaveatError, Fault, InputError
from registry.records.dossier import Recorded
from registry.records.log_seal import EntrySignature, KeyAlgorithm, KeyEvent, KeyEventKind, KeyPurpose
from registry.records.record import Record
from registry.records.statement import Entry
from registry.seal.signed_notes import VerifierKey, encode_vkey, parse_vkey

# Self-signed X.509 certificates (RFC 5280) of document keys.
#
# They bind a name to a key and attest nothing. A key is trusted because of its entry in the log. So
# the certificates have no end date, and the same key and names give the same bytes.

_BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_END = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
"""RFC 5280 section 4.1.2.5: no well-defined expiration date."""
_LONGEST_NAME = 64
"""X.520, ub-common-name and ub-organization-name."""


def build_certificate(private: EllipticCurvePrivateKey, code: str, organisation: str | None) -> bytes:
    """Return the certificate, DER: common name *code*, organisation its name, cut to the 64 characters that X.520 allows."""
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, code[:_LONGEST_NAME])]
    if organisation:
        attributes.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, organisation[:_LONGEST_NAME]))
    name = x509.Name(attributes)
    public = private.public_key()
    # Derived from the key instead of random, so that the certificate can be reproduced. Shifted and
    # odd: RFC 5280 wants a positive number of at most 20 octets.
    serial = hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).digest()
    builder = x509.CertificateBuilder(
        issuer_name=name,
        subject_name=name,
        public_key=public,
        serial_number=int.from_bytes(serial[:16], "big") >> 1 | 1,
        not_valid_before=_BEGIN,
        not_valid_after=_END,
    )
    for extension, is_critical in _list_extensions(public):
        builder = builder.add_extension(extension, critical=is_critical)
    # Deterministic ECDSA (RFC 6979), for the same reason.
    return builder.sign(private, SHA256(), ecdsa_deterministic=True).public_bytes(Encoding.DER)


def read_certificate(der: bytes, public: EllipticCurvePublicKey) -> str:
    """Return the common name of the certificate *der*.

    Raises:
        ValueError: there is no certificate, it is of another key than *public*, or not signed by it.
    """
    certificate, shown = _load(der)
    if shown != public:
        raise ValueError("the certificate is of another key")
    _refuse_unsigned(certificate, public)
    name = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    if not name:
        raise ValueError("the certificate has no common name")
    return str(name[0].value)


def fingerprint_of_certificate(der: bytes) -> str:
    """Return the SHA-256 of a certificate's public key as DER SubjectPublicKeyInfo, hexadecimal.

    Raises:
        ValueError: it is no certificate of a P-256 key that signed itself.
    """
    certificate, public = _load(der)
    _refuse_unsigned(certificate, public)
    return hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def _load(der: bytes) -> tuple[x509.Certificate, EllipticCurvePublicKey]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", CryptographyDeprecationWarning)  # what RFC 5280 forbids and a later release will refuse
            certificate = x509.load_der_x509_certificate(der)
            public = certificate.public_key()
    except (x509.InvalidVersion, UnsupportedAlgorithm, CryptographyDeprecationWarning) as error:  # these alone are no ValueError
        raise ValueError(f"the certificate cannot be read: {error}") from error
    # Other curves would need other signature code in every verifier.
    if not isinstance(public, EllipticCurvePublicKey) or public.curve.name != SECP256R1.name:
        raise ValueError("the certificate's key is none of P-256")
    return certificate, public


def _list_extensions(public: EllipticCurvePublicKey) -> list[tuple[x509.ExtensionType, bool]]:
    # Signing and non-repudiation only. It is not a CA, so it can never vouch for other
    # certificates.
    usage = x509.KeyUsage(
        digital_signature=True,
        content_commitment=True,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    return [
        (x509.BasicConstraints(ca=False, path_length=None), True),
        (usage, True),
        (x509.SubjectKeyIdentifier.from_public_key(public), False),
    ]


def _refuse_unsigned(certificate: x509.Certificate, public: EllipticCurvePublicKey) -> None:
    if certificate.signature_algorithm_oid != SignatureAlgorithmOID.ECDSA_WITH_SHA256:
        raise ValueError("the certificate is not signed with ECDSA and SHA-256")
    try:
        public.verify(certificate.signature, certificate.tbs_certificate_bytes, ECDSA(SHA256()))
    except InvalidSignature as error:
        raise ValueError("the certificate is not signed by its own key") from error


# Signing keys: Ed25519 and ML-DSA-44 for logs, ECDSA P-256 for documents.

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
    # repr=False keeps the secret out of tracebacks and logs.
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
    # Seeds exist for the reproducible example. A short one would make a guessable key.
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
    """Return *key*, an Ed25519 key named by an authority's code, as the one that signs what that authority states."""
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
    # The full digest: a prefix can be matched by trying keys.
    groups = [fingerprint[at : at + 4] for at in range(0, len(fingerprint), 4)]
    return "\n".join(" ".join(groups[at : at + 8]) for at in range(0, len(groups), 8))


def _fingerprint(public: PublicKey) -> str:
    return hashlib.sha256(public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def _derive_p256(seed: bytes) -> EllipticCurvePrivateKey:
    """FIPS 186-5 appendix A.2.1: 512 bits, reduced, so that the bias is below 2^-256."""
    # The prefix keeps this key independent of others derived from the same seed.
    wide = int.from_bytes(hashlib.sha512(b"caveat document key" + seed).digest(), "big")
    return derive_private_key(wide % (_P256_ORDER - 1) + 1, SECP256R1())


# A secret key as text: PEM PKCS 8 (RFC 5958, RFC 7468), encrypted if there is a passphrase, below
# its public part.
#
# The public part is the verifier key of a log key, or the certificate of a document key. It can be
# read without the passphrase. Reading the secret checks that both belong together; otherwise
# someone would sign with one key and show another.

_PLAIN, _ENCRYPTED = "-----BEGIN PRIVATE KEY-----\n", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n"
_CERTIFICATE, _CERTIFICATE_END = "-----BEGIN CERTIFICATE-----\n", "-----END CERTIFICATE-----\n"
_INTRODUCTION = "# A secret key of Caveat: who has it signs in your name. Only the line or block that follows is public.\n"


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
    """Return what is in a key's file.

    Raises:
        InputError: `key-file-damaged`: there is no secret key, or not one public part above it; `bad-vkey`.
    """
    begin = _ENCRYPTED if _ENCRYPTED in text else _PLAIN
    shown, separator, rest = text.partition(begin)
    if not separator:
        raise build_damage_error(where, "it has no block BEGIN PRIVATE KEY")
    certificate = vkey = None
    if _CERTIFICATE in shown:
        certificate = "".join(shown.partition(_CERTIFICATE)[2].partition(_CERTIFICATE_END)[0].split())
        _refuse_no_certificate(certificate, where)
    else:
        rows = [row for row in shown.splitlines() if row and not row.startswith("#")]
        if len(rows) != 1:
            raise build_damage_error(where, "expected one line with its verifier key above the secret key")
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
        # A wrong passphrase and a damaged block look the same in PBES2.
        if text.is_encrypted:
            raise BadPassphraseError from error
        raise build_damage_error(where, "it holds no key in PKCS 8") from error
    if not isinstance(private, (Ed25519PrivateKey, MLDSA44PrivateKey, EllipticCurvePrivateKey)) or algorithm_of(private) is not algorithm:
        raise build_damage_error(where, f"it holds no key of {algorithm.value}")
    return _join(text, algorithm, private, where)


def build_damage_error(where: str, text: str) -> InputError:
    """Return the error for a key file that is not as it was written."""
    return InputError(Fault("key-file-damaged", where, text))


def _join(text: KeyText, algorithm: KeyAlgorithm, private: PrivateKey, where: str) -> SigningKey:
    if isinstance(private, EllipticCurvePrivateKey):
        try:
            name = read_certificate(b64decode(text.certificate or ""), private.public_key())
        except ValueError as error:
            raise build_damage_error(where, f"what it shows does not belong to its secret key: {error}") from error
        return SigningKey(name=name, algorithm=algorithm, certificate=text.certificate, private=private)
    if text.vkey is None:
        raise build_damage_error(where, "it shows no verifier key")
    vkey = parse_vkey(text.vkey, where=where)
    # The public part may have been exchanged while the secret was encrypted.
    if vkey.public != public_of(private) or vkey.algorithm is not algorithm:
        raise build_damage_error(where, "the verifier key above the secret key is of another key")
    return name_key(vkey.name, algorithm, private)


def _refuse_no_certificate(certificate: str, where: str) -> None:
    try:
        der = b64decode(certificate, validate=True)
        fingerprint_of_certificate(der)
    except ValueError as error:
        raise build_damage_error(where, f"its certificate cannot be read: {error}") from error
    if b64encode(der).decode() != certificate:
        raise build_damage_error(where, "its certificate is not canonical base64")


# Who made a statement: its author, shown by a signature, or the registry's operator, who can write
# in any name.
#
# An authority signs with its statement key (Ed25519). The signed text has four lines:
# `caveat/signature/1`, the log's name, the entry number and the leaf. So a signature is valid for
# one entry of one log, and the leaf covers author, time and every word.
#
# The log names the keys. The first key of an authority is asserted by the operator, since no
# earlier key could sign it. Each further key is signed by the one before it, or follows a
# revocation. A key signs entries of its own authority after the entry that adds it and up to the
# one that replaces or revokes it.

_PREFIX = "caveat/signature/1"
_ADVICE = "compare it with a bundle or a backup made before, and ask its author"


class Backing(StrEnum):
    """Who stands behind an entry."""

    AUTHOR = "author"
    """Its author signed it, with a key that was in force then and is trusted."""
    OPERATOR = "operator"
    """No one signed it: the registry's operator asserts that its author made this statement."""
    WITHDRAWN = "withdrawn"
    """Its author signed it with a key that was revoked later, for what it signed then too: it counts as the operator's assertion."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatementKey(Record):
    """A statement key with the entries between which it may sign."""

    authority: str
    fingerprint: str
    vkey: str
    added: Recorded[KeyEvent]
    is_vouched: bool
    """Whether the key before it signed the entry that adds it; if not, the operator asserts it."""
    replaced: Recorded[KeyEvent] | None = None
    revoked: Recorded[KeyEvent] | None = None

    @property
    def last(self) -> int | None:
        """Number of the last entry it may sign; None while it is in force."""
        return min((event.entry.seq for event in (self.replaced, self.revoked) if event is not None), default=None)


def write_message(origin: str, seq: int, leaf: str) -> bytes:
    """Return what is signed of entry *seq* of the log *origin*, with the leaf *leaf* (hexadecimal)."""
    return f"{_PREFIX}\n{origin}\n{seq}\n{leaf}\n".encode()


def sign_entry(key: SigningKey, origin: str, seq: int, leaf: str) -> EntrySignature:
    """Return the signature of *key*, the author's, over an entry."""
    signature = b64encode(key.sign(write_message(origin, seq, leaf))).decode()
    return EntrySignature(entry=seq, key=key.fingerprint, signature=signature)


class StatementKeys:
    """The statement keys of one log, as its key events give them, and what each signature by them is worth."""

    def __init__(self, origin: str, events: Iterable[Recorded[KeyEvent]], signatures: Mapping[int, EntrySignature]) -> None:
        """Read the events.

        Args:
            origin: name of the log.
            events: in log order; those of keys for other purposes are passed over.
            signatures: by entry, at least those of the events.
        """
        self._origin = origin
        self._keys: dict[str, StatementKey] = {}
        self._public: dict[str, Ed25519PublicKey] = {}
        self.faults: list[Fault] = []
        """Events that do not follow from those before them; a key that one of them adds signs nothing."""
        for event in events:
            if event.payload.purpose is KeyPurpose.STATEMENT:
                self._take(event, signatures.get(event.entry.seq))

    @property
    def keys(self) -> tuple[StatementKey, ...]:
        """All of them, in the order they were added."""
        return tuple(self._keys.values())

    def find_in_force(self, authority: str) -> StatementKey | None:
        """Return the key that *authority* signs with after the last event; None where it has none."""
        return next((key for key in self._keys.values() if key.authority == authority and key.last is None), None)

    def find_backing(self, entry: Entry, signature: EntrySignature | None) -> Backing:
        """Return who is behind *entry*; its signature, if any, `find_fault` finds in order."""
        if signature is None:
            return Backing.OPERATOR
        revoked = self._keys[signature.key].revoked
        # The entry that revokes a key may be signed with it: this is the owner's last statement.
        if revoked is None or revoked.entry.seq == entry.seq:
            return Backing.AUTHOR
        since = revoked.payload.untrusted_from
        # A revocation can name a time. What was signed before it stays the author's.
        return Backing.WITHDRAWN if since is None or entry.at >= since else Backing.AUTHOR

    def find_fault(self, entry: Entry, signature: EntrySignature) -> Fault | None:
        """Return what is wrong with *signature* over *entry*; None where it is its author's, made with a key in force there."""
        key = self._keys.get(signature.key)
        name = f"key {signature.key[:16]}"
        # Checks go from what is known of the key to the signature itself, so that the message names
        # the actual reason.
        if key is None:
            return _fault("signature-not-valid", entry, f"it is signed with {name}, which the log adds for no authority")
        if key.authority != entry.actor:
            return _fault("signature-not-valid", entry, f"it is stated by {entry.actor} and signed with {name} of {key.authority}")
        if entry.seq <= key.added.entry.seq:
            return _fault("signature-not-valid", entry, f"it is signed with {name}, which entry {key.added.entry.seq} adds only later")
        if key.last is not None and entry.seq > key.last:
            return _fault("signature-not-valid", entry, f"it is signed with {name}, which entry {key.last} replaced or revoked before")
        if not self._is_valid(key, entry, signature):
            problem = f"the signature of {entry.actor} is not over this entry: the entry or the signature was changed"
            return _fault("signature-not-valid", entry, problem)
        return None

    def _is_valid(self, key: StatementKey, entry: Entry, signature: EntrySignature) -> bool:
        try:
            value = b64decode(signature.signature, validate=True)
            self._public[key.fingerprint].verify(value, write_message(self._origin, entry.seq, entry.leaf))
        except (InvalidSignature, ValueError):
            return False
        # Canonical base64, as everywhere: one signature has one text.
        return b64encode(value).decode() == signature.signature

    def _take(self, event: Recorded[KeyEvent], signature: EntrySignature | None) -> None:
        """Take the next event; what does not follow goes to `faults` and changes nothing."""
        key_event, entry = event.payload, event.entry
        if key_event.event is KeyEventKind.REVOKE:
            self._revoke(event)
            return
        vkey = _parse_own(key_event, entry)
        # A fault does not stop the reading. Later events are judged by the keys that are in force
        # without it.
        if vkey is None:
            self._refuse(entry, "the key that it shows is not the one that it names, or bears another name than its authority's")
            return
        if key_event.key in self._keys:
            self._refuse(entry, f"it adds key {key_event.key[:16]}, which was added before")
            return
        current = self.find_in_force(entry.actor)
        if key_event.event is KeyEventKind.ROTATE:
            before = self._keys.get(key_event.replaces or "")
            if before is None or before != current:
                self._refuse(entry, f"it replaces key {(key_event.replaces or '')[:16]}, which {entry.actor} does not have in force")
                return
            # The old key must sign its own replacement. Otherwise the operator could replace an
            # author's key.
            if signature is None or signature.key != before.fingerprint or self.find_fault(entry, signature) is not None:
                self._refuse(entry, f"it replaces key {before.fingerprint[:16]}, which did not sign that")
                return
            self._keys[before.fingerprint] = replace(before, replaced=event)
        # One key per authority at a time. A second one would sign in the author's name without the
        # author's consent.
        elif current is not None:
            self._refuse(entry, f"it adds a key next to {current.fingerprint[:16]}, which {entry.actor} has in force and did not replace")
            return
        self._public[key_event.key] = Ed25519PublicKey.from_public_bytes(vkey.public)
        is_vouched = key_event.event is KeyEventKind.ROTATE
        self._keys[key_event.key] = StatementKey(
            authority=entry.actor, fingerprint=key_event.key, vkey=str(vkey), added=event, is_vouched=is_vouched
        )

    def _revoke(self, event: Recorded[KeyEvent]) -> None:
        key = self._keys.get(event.payload.key)
        if key is None or key.authority != event.entry.actor or key.revoked is not None:
            self._refuse(
                event.entry, f"it revokes key {event.payload.key[:16]}, which is not a key of {event.entry.actor}, or was revoked before"
            )
            return
        self._keys[key.fingerprint] = replace(key, revoked=event)

    def _refuse(self, entry: Entry, text: str) -> None:
        self.faults.append(_fault("key-not-authorised", entry, text))


def _parse_own(key_event: KeyEvent, entry: Entry) -> VerifierKey | None:
    """Return the key that an event shows; None where it is not the authority's own, or not the one that it names."""
    try:
        key = parse_vkey(key_event.public or "", where=f"entry {entry.seq}")
        is_own = key.name == entry.actor and not key.is_cosigner and fingerprint_of_vkey(str(key)) == key_event.key
    except (CaveatError, ValueError):
        return None
    return key if is_own else None


def _fault(code: str, entry: Entry, text: str) -> Fault:
    return Fault(code, f"entry {entry.seq}", text, advice=_ADVICE)
