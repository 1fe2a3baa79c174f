"""Signed notes, checkpoints, cosignatures, and inclusion and consistency proofs as files (C2SP)."""

import hashlib
import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.mldsa import MLDSA44PublicKey

from registry.errors import Fault, InputError
from registry.records.log_seal import Checkpoint, KeyAlgorithm

# Signed notes that state the size and root of a log: C2SP signed-note@v1.0.0,
# tlog-checkpoint@v1.0.0 and tlog-cosignature.
#
# Decision of 2026-11-22: everything that is signed has exactly one valid encoding, and every other
# one is refused, so that a flipped bit cannot hide. This is stricter than C2SP: printable ASCII,
# canonical base64, no extension lines (an ML-DSA-44 line would not cover them), no repeated line.
# The cost: notes with extension lines are refused.

LARGEST_NOTE = 262_144
"""Characters; a note of 16 ML-DSA-44 lines has 52,000."""
_MOST_LINES = 64
_LONGEST_NAME = 255
_LARGEST = 2**63 - 1
_ED25519, _COSIGNATURE, _ML_DSA_44 = 0x01, 0x04, 0x06
_PUBLIC_BYTES = {_ED25519: 32, _COSIGNATURE: 32, _ML_DSA_44: 1312}
_SIGNATURE_BYTES = {_ED25519: 64, _COSIGNATURE: 8 + 64, _ML_DSA_44: 8 + 2420}
# A key name has no space and no plus, because these separate the parts of a line and of a verifier
# key.
_NAME = re.compile(r"[!-*,-~]+")
_ORIGIN = re.compile(r"[!-~](?:[ -~]*[!-~])?")
# No leading zeros: 041 would be a second spelling of 41. Nineteen digits hold 2^63 − 1.
_SIZE = re.compile(r"0|[1-9][0-9]{0,18}")
_KEY_ID = re.compile(r"[0-9a-f]{8}")
# The two long constants are the y coordinates of the points of order 8. The others (0, 1, −1) have
# orders 4, 1 and 2.
_FIELD_PRIME = 2**255 - 19
_LOW_ORDER = frozenset(
    {
        0,
        1,
        _FIELD_PRIME - 1,
        int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"),
        int.from_bytes(bytes.fromhex("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), "little"),
    }
)
"""The y coordinates of the eight points of Curve25519 whose order divides 8: a signature under such a key can be made by anybody."""


class NoteSigner(Protocol):
    """What signs a line; `registry.seal.signing_keys.SigningKey` is one."""

    @property
    def name(self) -> str:
        """The key's name."""

    @property
    def algorithm(self) -> KeyAlgorithm:
        """How it signs."""

    @property
    def public(self) -> bytes:
        """The raw public key."""

    def sign(self, message: bytes) -> bytes:
        """Return the signature over *message*."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierKey:
    """A public key with its name: what a signature line is checked with."""

    name: str
    key_id: bytes
    """The first four bytes of SHA-256(name ‖ 0x0A ‖ type ‖ public key)."""
    algorithm: KeyAlgorithm
    public: bytes
    """Raw: 32 bytes of Ed25519, 1,312 of ML-DSA-44."""
    is_cosigner: bool
    """Whether its lines carry a time: cosignatures with Ed25519 (type 0x04), all lines with ML-DSA-44 (0x06)."""

    def as_cosigner(self) -> "VerifierKey":
        """The same key for its cosignatures on other logs' checkpoints."""
        return parse_vkey(encode_vkey(self.name, self.algorithm, self.public, is_cosigner=True), where=self.name)

    def __str__(self) -> str:
        return encode_vkey(self.name, self.algorithm, self.public, is_cosigner=self.is_cosigner)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureLine:
    """One signature of a note, as it stands there."""

    name: str
    key_id: bytes
    signature: bytes
    """Raw, without the key identifier; with its time in front where the key's type has one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedNote:
    """A checkpoint with signatures that are not checked yet."""

    checkpoint: Checkpoint
    text: str
    """What is signed: three lines, each with its newline."""
    lines: tuple[SignatureLine, ...]
    """At least one, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedLine:
    """Outcome of one signature line of a known key."""

    name: str
    algorithm: KeyAlgorithm
    vkey: str
    is_valid: bool
    at: datetime | None
    """When it was made, by its own word; None for lines without a time (0x01), with time 0, or beyond year 9999."""


def encode_vkey(name: str, algorithm: KeyAlgorithm, public: bytes, *, is_cosigner: bool = False) -> str:
    """Return the verifier key `name+hash+base64` of C2SP signed-note.

    Raises:
        ValueError: a name with spaces, plus or beyond printable ASCII; a key of another length; ECDSA, which signs documents.
    """
    kind = _type_of(algorithm, is_cosigner=is_cosigner)
    if not _is_name(name):
        raise ValueError(f"a key's name is 1 to {_LONGEST_NAME} printable ASCII characters without space or plus, got {name!r}")
    if len(public) != _PUBLIC_BYTES[kind]:
        raise ValueError(f"a public key of {algorithm} has {_PUBLIC_BYTES[kind]} bytes, got {len(public)}")
    return f"{name}+{_key_id(name, kind, public).hex()}+{b64encode(bytes([kind]) + public).decode()}"


def parse_vkey(text: str, *, where: str) -> VerifierKey:
    """Return the verifier key written in *text*, without newline.

    Raises:
        InputError: `bad-vkey`: it is none, its hash is of another key, its type is not known, or anyone could sign under it.
    """
    # At most two splits: base64 may contain a plus itself.
    parts = text.split("+", 2)
    if len(text) > 2 * LARGEST_NOTE or len(parts) != 3 or not _is_name(parts[0]) or not _KEY_ID.fullmatch(parts[1]):
        raise _bad_vkey(where, "it is not written as name+hash+base64 (hash: 8 hexadecimal digits in lower case)")
    material = _decode(parts[2])
    kind, public = (material[0], material[1:]) if material else (None, b"")
    if kind not in _PUBLIC_BYTES or len(public) != _PUBLIC_BYTES[kind]:
        raise _bad_vkey(where, "its key is neither Ed25519 (types 01 and 04, 32 bytes) nor ML-DSA-44 (06, 1,312 bytes) in canonical base64")
    if _key_id(parts[0], kind, public).hex() != parts[1]:
        raise _bad_vkey(where, f"its hash {parts[1]} is not that of its name and key")
    # Ed25519 verification accepts any signature under a key of low order. Such a key in a note
    # would let anyone sign as its owner.
    if kind != _ML_DSA_44 and _is_weak(public):
        raise _bad_vkey(where, "its key is a point of low order or not canonical: anyone could sign under it")
    algorithm = KeyAlgorithm.ML_DSA_44 if kind == _ML_DSA_44 else KeyAlgorithm.ED25519
    return VerifierKey(name=parts[0], key_id=bytes.fromhex(parts[1]), algorithm=algorithm, public=public, is_cosigner=kind != _ED25519)


def checkpoint_text(checkpoint: Checkpoint) -> str:
    """Return what is signed: origin, size and root (base64), each on a line.

    Raises:
        ValueError: an origin that no note can hold, a size below 0 or above 2**63 - 1, a root that is no SHA-256.
    """
    if not _is_origin(checkpoint.origin):
        raise ValueError(f"a log's origin is printable ASCII without space at its ends, at most {_LONGEST_NAME} characters")
    if not 0 <= checkpoint.size <= _LARGEST:
        raise ValueError(f"no log has {checkpoint.size} entries")
    if not re.fullmatch(r"[0-9a-f]{64}", checkpoint.root):
        raise ValueError("a root is 64 hexadecimal digits in lower case")
    return f"{checkpoint.origin}\n{checkpoint.size}\n{b64encode(bytes.fromhex(checkpoint.root)).decode()}\n"


def sign_checkpoint(checkpoint: Checkpoint, keys: Sequence[NoteSigner]) -> str:
    """Return the signed note: a line for each of *keys*, under its name; ML-DSA-44 with time 0, which says nothing of time.

    Raises:
        ValueError: no key, or a checkpoint that cannot be written.
    """
    if not keys:
        raise ValueError("a note needs a signature")
    text = checkpoint_text(checkpoint)
    lines = []
    for key in keys:
        kind = _type_of(key.algorithm, is_cosigner=False)
        # ML-DSA-44 has only the timestamped form. Time 0 means that the line states no time.
        if kind == _ML_DSA_44:
            lines.append(sign_line(key, text, at=None))
        else:
            lines.append(_format_line(key.name, _key_id(key.name, kind, key.public), key.sign(text.encode())))
    return text + "\n" + "".join(lines)


def sign_line(key: NoteSigner, text: str, *, at: datetime | None) -> str:
    """Return a signature line that carries a time, with its newline: cosignature/v1 of Ed25519, or ML-DSA-44.

    Args:
        key: the cosigner's.
        text: of the checkpoint, as `checkpoint_text` gives it.
        at: the time, whole seconds; None is 0, which only ML-DSA-44 allows.
    """
    kind = _type_of(key.algorithm, is_cosigner=True)
    seconds = 0 if at is None else int(at.timestamp())
    # C2SP tlog-cosignature requires a time in cosignature/v1.
    if at is None and kind == _COSIGNATURE:
        raise ValueError("a cosignature says when it was made")
    message = _cosigned(kind, key.name, text, seconds)
    return _format_line(key.name, _key_id(key.name, kind, key.public), seconds.to_bytes(8, "big") + key.sign(message))


def parse_note(text: str, *, where: str) -> SignedNote:
    """Return the signed checkpoint written in *text*; its signatures are not checked.

    Raises:
        InputError: `bad-note`: it is no signed note of a checkpoint, or not in the one form that is read here.
    """
    if len(text) > LARGEST_NOTE:
        raise _bad_note(where, f"it has {len(text)} characters, at most {LARGEST_NOTE} are read")
    body, blank, signatures = text.partition("\n\n")
    if not blank or not signatures.endswith("\n"):
        raise _bad_note(where, "expected three lines, an empty one, then signature lines, each ended by a line feed")
    rows = signatures[:-1].split("\n")
    # A repeated line would allow several texts for one set of signatures. The limit bounds the work
    # of verification.
    if len(rows) > _MOST_LINES or len(set(rows)) != len(rows):
        raise _bad_note(where, f"it has a signature line twice, or more than {_MOST_LINES}")
    lines = tuple(_parse_line(row, where=f"{where}, signature line {number}") for number, row in enumerate(rows, 1))
    return SignedNote(checkpoint=_parse_body(body, where=where), text=body + "\n", lines=lines)


def strip_cosignatures(text: str) -> str:
    """Return the signed note *text* with the signatures of its log only: others are added later, and a time stamp is over what was there.

    Raises:
        InputError: `bad-note`.
    """
    note = parse_note(text, where="note")
    own = [_format_line(line.name, line.key_id, line.signature) for line in note.lines if line.name == note.checkpoint.origin]
    return f"{note.text}\n{''.join(own)}"


def parse_line(text: str, *, where: str) -> SignatureLine:
    """Return one signature line, written with its newline.

    Raises:
        InputError: `bad-note`: it is none.
    """
    if not text.endswith("\n"):
        raise _bad_note(where, "a signature line ends with a line feed")
    return _parse_line(text[:-1], where=where)


def verify_note(note: SignedNote, vkeys: Iterable[VerifierKey]) -> tuple[VerifiedLine, ...]:
    """Check each signature line with the name and key identifier of one of *vkeys*; the others are excluded, as C2SP asks.

    A note counts as signed by a key only where that key's line is there and valid.
    """
    # Lines by unknown keys are ignored, as C2SP requires: any witness may add one.
    known = {(key.name, key.key_id): key for key in vkeys}
    return tuple(_verify(note, line, key) for line in note.lines if (key := known.get((line.name, line.key_id))))


def _verify(note: SignedNote, line: SignatureLine, key: VerifierKey) -> VerifiedLine:
    kind = _type_of(key.algorithm, is_cosigner=key.is_cosigner)
    at, is_valid = None, False
    if len(line.signature) == _SIGNATURE_BYTES[kind]:
        seconds = 0 if kind == _ED25519 else int.from_bytes(line.signature[:8], "big")
        message = note.text.encode() if kind == _ED25519 else _cosigned(kind, key.name, note.text, seconds)
        signature = line.signature if kind == _ED25519 else line.signature[8:]
        # A cosignature needs a positive time. Times beyond 2^63 − 1 are not representable in other
        # implementations.
        is_valid = seconds <= _LARGEST and (seconds > 0 or kind != _COSIGNATURE) and _is_signed(key, signature, message)
        at = datetime.fromtimestamp(seconds, UTC) if 0 < seconds < 253_402_300_800 else None
    return VerifiedLine(name=key.name, algorithm=key.algorithm, vkey=str(key), is_valid=is_valid, at=at)


def _is_signed(key: VerifierKey, signature: bytes, message: bytes) -> bool:
    try:
        if key.algorithm is KeyAlgorithm.ML_DSA_44:
            MLDSA44PublicKey.from_public_bytes(key.public).verify(signature, message)
        else:
            Ed25519PublicKey.from_public_bytes(key.public).verify(signature, message)
    except (InvalidSignature, ValueError):
        return False
    return True


def _cosigned(kind: int, name: str, text: str, seconds: int) -> bytes:
    """What a timestamped line signs: the note under a header, or the `cosigned_message` of ML-DSA-44 (RFC 8446 presentation)."""
    # The header differs from the note text, so a cosignature can never be reused as the log's own
    # signature.
    if kind == _COSIGNATURE:
        return f"cosignature/v1\ntime {seconds}\n{text}".encode()
    origin, size, root = text.split("\n")[:3]
    parts = (_opaque(name), seconds.to_bytes(8, "big"), _opaque(origin), bytes(8), int(size).to_bytes(8, "big"), b64decode(root))
    return b"subtree/v1\n\x00" + b"".join(parts)


def _opaque(text: str) -> bytes:
    return bytes([len(text)]) + text.encode()


def _parse_body(body: str, *, where: str) -> Checkpoint:
    rows = body.split("\n")
    if len(rows) != 3:
        raise _bad_note(where, f"a checkpoint has three lines (origin, size, root), this one {len(rows)}")
    origin, size, root = rows[0], rows[1], _decode(rows[2])
    if not _is_origin(origin):
        raise _bad_note(where, f"its origin is not printable ASCII of at most {_LONGEST_NAME} characters")
    if not _SIZE.fullmatch(size) or int(size) > _LARGEST:
        raise _bad_note(where, "its size is not a whole number without leading zeros, at most 2**63 - 1")
    if root is None or len(root) != 32:
        raise _bad_note(where, "its root is not the canonical base64 of 32 bytes")
    return Checkpoint(origin=origin, size=int(size), root=root.hex())


def _parse_line(row: str, *, where: str) -> SignatureLine:
    # Exactly two spaces. Another count is another encoding of the same line.
    dash, name, data = row.split(" ") if row.count(" ") == 2 else ("", "", "")
    blob = _decode(data)
    if dash != "—" or not _is_name(name) or blob is None or len(blob) <= 4:
        raise _bad_note(where, "expected an em dash, the key's name and canonical base64, separated by single spaces")
    return SignatureLine(name=name, key_id=blob[:4], signature=blob[4:])


def _format_line(name: str, key_id: bytes, signature: bytes) -> str:
    return f"— {name} {b64encode(key_id + signature).decode()}\n"


def _type_of(algorithm: KeyAlgorithm, *, is_cosigner: bool) -> int:
    match algorithm:
        case KeyAlgorithm.ED25519:
            return _COSIGNATURE if is_cosigner else _ED25519
        case KeyAlgorithm.ML_DSA_44:
            return _ML_DSA_44
        case KeyAlgorithm.ECDSA_P256:
            raise ValueError("a key of ECDSA P-256 signs documents, not notes")


def _key_id(name: str, kind: int, public: bytes) -> bytes:
    return hashlib.sha256(name.encode() + b"\n" + bytes([kind]) + public).digest()[:4]


def _is_name(name: str) -> bool:
    return len(name) <= _LONGEST_NAME and _NAME.fullmatch(name) is not None


def _is_origin(origin: str) -> bool:
    return len(origin) <= _LONGEST_NAME and _ORIGIN.fullmatch(origin) is not None


def _is_weak(public: bytes) -> bool:
    # The top bit is the sign of x and is masked. A y of p or more is a second encoding of a smaller
    # one.
    y = int.from_bytes(public, "little") & (2**255 - 1)
    return y >= _FIELD_PRIME or y in _LOW_ORDER


def _decode(text: str) -> bytes | None:
    """The bytes of canonical base64 (RFC 4648 section 4); None for anything else."""
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        return None
    # Re-encoding refuses base64 whose unused last bits are not zero.
    return data if b64encode(data).decode() == text else None


def _bad_note(where: str, text: str) -> InputError:
    return InputError(Fault("bad-note", where, text))


def _bad_vkey(where: str, text: str) -> InputError:
    return InputError(Fault("bad-vkey", where, text, advice="get the key again from its owner: caveat admin key show prints it"))


# Cosigning: the statement of a witness about another log's checkpoint (C2SP tlog-cosignature). The
# caller must first verify that the log extends what the witness saw before.


def cosign(note_text: str, key: NoteSigner, *, at: datetime) -> str:
    """Return one signature line, with its newline, to be added to the note.

    Args:
        note_text: the signed note as its log gave it out.
        key: the witness', Ed25519 (cosignature/v1) or ML-DSA-44.
        at: when the witness checked the log, whole seconds.

    Raises:
        InputError: `bad-note`: *note_text* is no signed note of a checkpoint.
    """
    return sign_line(key, parse_note(note_text, where="the note to cosign").text, at=at)


# Inclusion proofs as files that anyone can check (C2SP tlog-proof@v1). One form only: canonical
# base64, no leading zeros, line feeds, nothing after the note.

LARGEST_PROOF = 16_777_216
"""Characters; the extra data carries a statement and a consistency proof."""
_MAGIC = "c2sp.org/tlog-proof@v1"
# A tree of at most 2^63 leaves has 63 levels above them.
_LONGEST_INCLUSION_PATH = 63
_INDEX = re.compile(r"index (0|[1-9][0-9]{0,18})")


@dataclass(frozen=True, slots=True, kw_only=True)
class TlogProof:
    """An entry's place, its audit path and the checkpoint that it leads to; nothing in it is checked yet."""

    index: int
    """Of the leaf, from 0: entry `index + 1`."""
    path: tuple[bytes, ...]
    """Siblings from below, 32 bytes each."""
    note: str
    """The signed note, word for word."""
    extra: bytes | None
    """What its maker added; nothing signs it. None where the file has no such line."""


def format_proof(index: int, path: Sequence[bytes], note: str, extra: bytes | None = None) -> str:
    """Return the file's text.

    Raises:
        InputError: `bad-proof` or `bad-note`: what is given could not be read again.
    """
    added = [] if extra is None else [f"extra {b64encode(extra).decode()}"]
    lines = [_MAGIC, *added, f"index {index}", *(b64encode(node).decode() for node in path)]
    text = "\n".join(lines) + "\n\n" + note
    # Read back before it is published: a proof that our own reader refuses must not leave the
    # registry.
    parse_proof(text, where="the proof to write")
    return text


def parse_proof(text: str, *, where: str) -> TlogProof:
    """Return the proof written in *text*.

    Raises:
        InputError: `bad-proof`: it is none, or not in the one form that is read here; `bad-note`: its checkpoint is not.
    """
    if len(text) > LARGEST_PROOF:
        raise _bad_inclusion_proof(where, f"it has {len(text)} characters, at most {LARGEST_PROOF} are read")
    head, blank, note = text.partition("\n\n")
    if not blank or len(note) > LARGEST_NOTE:
        raise _bad_inclusion_proof(where, "there is no checkpoint after an empty line")
    lines = head.split("\n")
    if lines.pop(0) != _MAGIC:
        raise _bad_inclusion_proof(where, f"its first line is not {_MAGIC}")
    extra = _parse_extra(lines, where=where)
    index = _INDEX.fullmatch(lines.pop(0)) if lines else None
    if index is None or len(lines) > _LONGEST_INCLUSION_PATH:
        raise _bad_inclusion_proof(
            where, f"expected a line such as `index 41` (no leading zeros), then at most {_LONGEST_INCLUSION_PATH} hashes"
        )
    path = tuple(_decode_proof_line(line, where=f"{where}, hash {number}", length=32) for number, line in enumerate(lines, 1))
    size = parse_note(note, where=where).checkpoint.size
    # An index beyond the checkpoint can never be proven, so the file is wrong as a whole.
    if int(index[1]) >= size:
        raise _bad_inclusion_proof(where, f"the log of its checkpoint has {size} entries, and none with index {index[1]}")
    return TlogProof(index=int(index[1]), path=path, note=note, extra=extra)


def _parse_extra(lines: list[str], *, where: str) -> bytes | None:
    if not lines or not lines[0].startswith("extra "):
        return None
    return _decode_proof_line(lines.pop(0).removeprefix("extra "), where=f"{where}, extra", length=None)


def _decode_proof_line(text: str, *, where: str, length: int | None) -> bytes:
    try:
        data = b64decode(text, validate=True)
    except ValueError:
        data = b""
    if not data or b64encode(data).decode() != text or (length is not None and len(data) != length):
        raise _bad_inclusion_proof(where, "is not canonical base64" + ("" if length is None else f" of {length} bytes"))
    return data


def _bad_inclusion_proof(where: str, text: str) -> InputError:
    return InputError(Fault("bad-proof", where, text))


# Consistency proofs as files: the request by which C2SP tlog-witness asks for a cosignature.
#
# A line `old SIZE`, the nodes of the proof (RFC 6962, section 2.1.2) in base64, one per line, an
# empty line and the signed checkpoint. One form only, so that no two files mean the same.

_OLD = re.compile(r"old (0|[1-9][0-9]{0,18})")
_LONGEST_CONSISTENCY_PATH = 63


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyProof:
    """What is said to lead from the first *old* entries of a log to a checkpoint; it is not checked yet."""

    old: int
    """Number of entries that it begins with, at most those of the checkpoint."""
    path: tuple[bytes, ...]
    """32 bytes each; empty for 0 entries and for as many as the checkpoint has."""
    note: str
    """The signed note, word for word."""


def format_consistency(old: int, path: Sequence[bytes], note: str) -> str:
    """Return the file's text.

    Raises:
        InputError: `bad-proof` or `bad-note`: what is given could not be read again.
    """
    lines = [f"old {old}", *(b64encode(node).decode() for node in path)]
    text = "\n".join(lines) + "\n\n" + note
    parse_consistency(text, where="the proof to write")
    return text


def is_consistency(text: str) -> bool:
    """Whether *text* begins as such a file does."""
    return text.startswith("old ")


def parse_consistency(text: str, *, where: str) -> ConsistencyProof:
    """Return the proof written in *text*.

    Raises:
        InputError: `bad-proof`: it is none, or not in the one form that is read here; `bad-note`: its checkpoint is not.
    """
    if len(text) > LARGEST_NOTE + 64 * (_LONGEST_CONSISTENCY_PATH + 1):
        raise _bad_consistency_proof(where, f"it has {len(text)} characters, more than any such proof")
    head, blank, note = text.partition("\n\n")
    lines = head.split("\n")
    old = _OLD.fullmatch(lines[0])
    if not blank or old is None:
        raise _bad_consistency_proof(where, "expected a line such as `old 41`, hashes, an empty line and a checkpoint")
    if len(lines) - 1 > _LONGEST_CONSISTENCY_PATH:
        raise _bad_consistency_proof(where, f"it has {len(lines) - 1} hashes, at most {_LONGEST_CONSISTENCY_PATH} are possible")
    path = tuple(_decode_consistency_hash(line, where=f"{where}, hash {number}") for number, line in enumerate(lines[1:], 1))
    size = parse_note(note, where=where).checkpoint.size
    if int(old[1]) > size:
        raise _bad_consistency_proof(where, f"it begins with {old[1]} entries, its checkpoint has {size}")
    return ConsistencyProof(old=int(old[1]), path=path, note=note)


def _decode_consistency_hash(line: str, *, where: str) -> bytes:
    try:
        data = b64decode(line, validate=True)
    except ValueError:
        data = b""
    if len(data) != 32 or b64encode(data).decode() != line:
        raise _bad_consistency_proof(where, "is not the canonical base64 of 32 bytes")
    return data


def _bad_consistency_proof(where: str, text: str) -> InputError:
    return InputError(Fault("bad-proof", where, text, advice="get it again, byte for byte: caveat admin log prove --since SIZE writes one"))
