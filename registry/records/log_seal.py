"""What makes the log hard to change quietly: keys, checkpoints, proofs, witnesses and erasures."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from registry.records.record import Payload, Record


class KeyAlgorithm(StrEnum):
    """How a key signs."""

    ED25519 = "ed25519"
    """RFC 8032; the log's own signature on a checkpoint (C2SP signed-note type 0x01), and cosignatures (0x04)."""
    ML_DSA_44 = "ml-dsa-44"
    """FIPS 204, against quantum computers; a second line on a checkpoint (C2SP tlog-cosignature type 0x06)."""
    ECDSA_P256 = "ecdsa-p256"
    """FIPS 186-5; signs PDF files (PAdES)."""


class KeyPurpose(StrEnum):
    """What a key signs."""

    LOG = "log"
    """Checkpoints of the authority's own log, and of other logs as their witness."""
    DOCUMENT = "document"
    """Supplements in PDF."""
    STATEMENT = "statement"
    """What its authority states: each authority that makes statements in a log can have a key of its own."""


class KeyEventKind(StrEnum):
    """Outcome of a key."""

    ADD = "add"
    ROTATE = "rotate"
    """It takes the place of `replaces`, which signs nothing more; what that one signed before stays good."""
    REVOKE = "revoke"
    """It is not to be trusted any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyEvent(Payload):
    """An authority's word on one of its keys; the authority is the actor of the entry."""

    KIND = "key_event"
    event: KeyEventKind
    key: str
    """SHA-256 of the public key as DER SubjectPublicKeyInfo, hexadecimal: the fingerprint that people compare."""
    algorithm: KeyAlgorithm
    purpose: KeyPurpose
    vkey: str | None = None
    """Of a log key: the verifier key `name+hash+base64` of C2SP signed-note. None for document keys, and in a revocation."""
    certificate: str | None = None
    """Of a document key: the X.509 certificate, base64 of its DER. None for other keys, and in a revocation."""
    public: str | None = None
    """Of a statement key: `CODE+hash+base64`, written as a verifier key with the authority's code as name. None for other keys, and in a
    revocation."""
    replaces: str | None = None
    """Fingerprint of the key that it replaces; given exactly for `rotate`."""
    reason: str | None = None
    """Required for `rotate` and `revoke`."""
    untrusted_from: datetime | None = None
    """Of a revocation: what the key signed from then on is not trusted; None: nothing it ever signed is."""

    def __post_init__(self) -> None:
        if self.event is not KeyEventKind.ADD and not (self.reason and self.reason.strip()):
            raise ValueError(f"to {self.event} a key needs a reason")
        if (self.event is KeyEventKind.ROTATE) != (self.replaces is not None):
            raise ValueError("replaces is given exactly when a key is rotated")
        # Exactly the public part that fits the purpose. A key shown in two forms could differ
        # between them.
        shown = {KeyPurpose.LOG: self.vkey, KeyPurpose.DOCUMENT: self.certificate, KeyPurpose.STATEMENT: self.public}
        purposes = {purpose for purpose, text in shown.items() if text is not None}
        if self.event is not KeyEventKind.REVOKE and purposes != {self.purpose}:
            raise ValueError("a log key is given as vkey, a document key as certificate, a statement key as public")
        if self.purpose is KeyPurpose.STATEMENT and self.algorithm is not KeyAlgorithm.ED25519:
            raise ValueError("statements are signed with Ed25519")
        # Only a revocation takes trust back, and it may do so from a given time on.
        if self.event is not KeyEventKind.REVOKE and self.untrusted_from is not None:
            raise ValueError("untrusted_from belongs to a revocation")


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint(Record):
    """A log at one size: what a signed note of C2SP tlog-checkpoint says."""

    origin: str
    size: int
    """Number of entries."""
    root: str
    """Root of the tree over them, hexadecimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node(Record):
    """The root of a complete subtree: leaves `index · 2^level` to before `(index + 1) · 2^level`."""

    level: int
    """0 for a leaf."""
    index: int
    """From 0."""
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
# The text is present only if encoding the payload again gives other bytes, for example after a
# field was added. A file therefore has one valid form.
class EntryOpening(Record):
    """What is needed in addition to a recorded payload to compute the hash of its entry."""

    entry: int
    salt: str
    """Of the statement, 32 hexadecimal digits."""
    text: str | None = None
    """The statement as it was written, canonical JSON; None where the payload, written again, gives the same bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntrySignature(Record):
    """The signature of who speaks over one entry; it is kept outside the log, since an entry hash cannot contain what is computed from it.

    Signed are the name of the log, the number of the entry and its leaf: `registry.seal.signing_keys`.
    """

    entry: int
    """Number of the entry."""
    key: str
    """Fingerprint of the statement key, hexadecimal."""
    signature: str
    """64 bytes of Ed25519, base64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogImport(Payload):
    """Another registry's log, taken over after all of it was verified."""

    KIND = "log_import"
    origin: str
    size: int
    root: str
    vkey: str
    """The key that its checkpoint was verified with."""
    checkpoint: str
    """The signed note, word for word."""
    bundle: str
    """SHA-256 of the file it came from, hexadecimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Witnessing(Payload):
    """A checkpoint of another log that this authority cosigned: it follows from the one it saw before."""

    KIND = "witnessing"
    origin: str
    size: int
    root: str
    vkey: str
    """The key that signed it."""
    note: str
    """The signed note as it was published, with the cosignature."""


@dataclass(frozen=True, slots=True, kw_only=True)
# The answer is stored byte for byte: nothing less can be verified, and authorities do not keep it.
class TimeAnchor(Payload):
    """A time stamp of a time-stamping authority (RFC 3161) over a checkpoint of this log: the log was that long by then."""

    KIND = "time_anchor"
    size: int
    """Entries of the checkpoint."""
    root: str
    """Its root, hexadecimal."""
    note: str
    """The signed note that the stamp is over, word for word: as the log signed it, without cosignatures of others."""
    sha256: str
    """Of the note, hexadecimal; the stamp names it."""
    stamped_at: datetime
    """By the authority's clock, UTC."""
    policy: str
    """OID of the policy that the authority issued the stamp under."""
    serial: str
    """Serial number of the stamp, decimal."""
    authority: str
    """The address that was asked."""
    answer: str
    """The authority's answer (TimeStampResp), base64 of its DER: the bytes of `NAME.note.tsr`."""


@dataclass(frozen=True, slots=True, kw_only=True)
# The two notes are stored word for word, so that a stranger can verify the signatures without this
# registry.
class Equivocation(Payload):
    """Evidence that a log signed two histories: kept for good, whoever it embarrasses."""

    KIND = "equivocation"
    origin: str
    vkey: str
    first: str
    """A signed note, word for word: the history seen first."""
    second: str
    """A signed note, word for word, that cannot be of the same history."""
    finding: str
    """What contradicts what, such as the entry whose leaves differ."""
    proof: str | None = None
    """What shows it beside the two notes, such as a consistency proof that fails; None where the notes alone do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure(Payload):
    """The text of an entry was erased; its leaf stays."""

    KIND = "erasure"
    erased: int
    """Number of the entry."""
    leaf: str
    """Of that entry, hexadecimal."""
    why: str

    def __post_init__(self) -> None:
        if not self.why.strip():
            raise ValueError("an erasure needs its reason (why)")
