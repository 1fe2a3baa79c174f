"""Whether a bundle is whole and agrees with its checkpoint, and which keys of its log may be believed."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from registry.codec.canonical_documents import canonical_bytes
from registry.codec.statement_encoding import decode_statement
from registry.errors import Fault, InputError
from registry.exchange.bundle_format import BundleEnd, BundleHeader, BundleLine, ContentLine, EntryLine, NoteLine, digest_file, read_bundle
from registry.records.dossier import Recorded
from registry.records.log_seal import EntrySignature, KeyAlgorithm, KeyEvent, KeyEventKind, KeyPurpose
from registry.records.record import Payload, Record
from registry.records.statement import Entry
from registry.records.system_card import Card
from registry.seal import merkle_tree as tree
from registry.seal.signed_notes import SignedNote, VerifierKey, parse_note, parse_vkey, verify_note
from registry.seal.signing_keys import StatementKeys, fingerprint_of_vkey

# The tree over a log of which only the end is known: the peaks of the earlier part, and the leaves
# since.


# A bundle that starts in the middle contains the peaks of the omitted part. With them all roots
# from that size on can be computed.
class Stretch:
    """Complete subtrees of the peaks and leaves, from which `registry.seal.merkle_tree` makes roots and proofs."""

    def __init__(self, since: int, peaks: Sequence[bytes], leaves: Sequence[bytes]) -> None:
        """Take the peaks of the first *since* leaves, the widest first, and the *leaves* after them.

        Raises:
            ValueError: a tree of *since* leaves has another number of peaks.
        """
        if len(peaks) != since.bit_count():
            raise ValueError(f"a tree of {since} leaves has {since.bit_count()} peaks, got {len(peaks)}")
        self.since = since
        self.size = since + len(leaves)
        """Of the whole log."""
        self.leaves = leaves
        """Those after *since*: leaf *since* comes first."""
        self._known: dict[tuple[int, int], bytes] = {}
        start = 0
        for peak in peaks:
            level = (since - start).bit_length() - 1
            self._known[level, start >> level] = peak
            start += 1 << level

    def find(self, level: int, index: int) -> bytes:
        """Return the root of the complete subtree of leaves `index · 2^level` to before `(index + 1) · 2^level`.

        Raises:
            ValueError: it lies within the peaks, or beyond the last leaf.
        """
        key = (level, index)
        if key not in self._known:
            start, stop = index << level, (index + 1) << level
            # Inside the omitted part only the peaks are known. Nothing smaller can be computed from
            # them.
            if stop > self.size or stop <= self.since:
                raise ValueError(f"the leaves {start} to {stop - 1} are not at hand")
            if start >= self.since:
                self._known[key] = tree.root_of(self.leaves[start - self.since : stop - self.since])
            else:
                self._known[key] = tree.node_hash(self.find(level - 1, 2 * index), self.find(level - 1, 2 * index + 1))
        return self._known[key]

    def root_at(self, size: int) -> bytes:
        """Return the root of the first *size* leaves; raises ValueError for fewer than came before the stretch, or more than there are."""
        if not self.since <= size <= self.size:
            raise ValueError(f"only sizes from {self.since} to {self.size} are at hand, got {size}")
        return tree.root_at(size, self.find)

    def consistency_path(self, old: int, new: int) -> list[bytes]:
        """Return the proof that the first *new* leaves begin with the first *old*; raises ValueError as `root_at`."""
        if not self.since <= old <= new <= self.size:
            raise ValueError(f"only sizes from {self.since} to {self.size} are at hand, got {old} and {new}")
        return tree.consistency_path(old, new, self.find)


# Which keys of a foreign log are trusted: those that a person checked, and their successors
# according to the log.
#
# A key event counts once a checkpoint that covers it is signed by a key that was trusted before. So
# a thief of a registry's files, without its key, cannot introduce a key of their own: the rotation
# would not be signed by the old one. A revoked key attests nothing from the time that its
# revocation names, and a replaced one nothing after its replacement. The cost: a rotation that the
# old key did not sign needs a person.

_MOST_KEYS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStep(Record):
    """What a log says of one of its keys."""

    seq: int
    """Number of the entry."""
    at: datetime
    event: KeyEvent


def find_signer(
    note: SignedNote, verifier_keys: Sequence[VerifierKey], steps: Sequence[KeyStep], notes: Sequence[SignedNote]
) -> VerifierKey:
    """Return the key that *note* is signed with and that is believed at its size.

    Args:
        verifier_keys: keys that are believed to begin with.
        steps: key events of the log up to the size of *note*, in order.
        notes: signed checkpoints of the same log with matching roots, *note* among them.

    Raises:
        InputError: `bundle-forged`, a signature does not verify; `key-not-in-force`; `wrong-key`, no key that is believed
            signed it; `too-many-keys`.
    """
    where = f"checkpoint of {note.checkpoint.origin} at {note.checkpoint.size}"
    if len(steps) > _MOST_KEYS:
        raise _fault("too-many-keys", where, f"the log has {len(steps):,} key events; at most {_MOST_KEYS:,} are followed")
    # Only keys that bear the log's own name are followed. Anyone can sign in a name of their own.
    believed = _follow([key for key in verifier_keys if _is_of_log(key, note.checkpoint.origin)], steps, notes)
    lines = verify_note(note, believed)
    broken = [line.name for line in lines if not line.is_valid]
    # An invalid signature of a known key is reported first. It means alteration, and not merely an
    # unknown signer.
    if broken:
        raise _fault("bundle-forged", where, f"the signature of {broken[0]} is not valid over what it says")
    by_text = {str(key): key for key in believed}
    ended = [(line.vkey, fault) for line in lines if (fault := _find_end(line.vkey, note.checkpoint.size, steps, where))]
    sound = [line.vkey for line in lines if line.vkey not in dict(ended)]
    # The key that the user gave is preferred, so that the report names the key that the user
    # compared.
    if sound:
        return next((key for key in verifier_keys if str(key) in sound), by_text[sound[0]])
    if ended:
        raise InputError(ended[0][1])
    signed_by = ", ".join(f"{line.name}+{line.key_id.hex()}" for line in note.lines[:8])
    known = ", ".join(f"{key.name}+{key.key_id.hex()}" for key in believed) or "none"
    advice = "compare the key with what its authority publishes elsewhere, and give it with --vkey"
    raise _fault("wrong-key", where, f"it is signed by {signed_by}; believed are {known}", advice)


def shorten_vkey(vkey: str) -> str:
    """Return name and hash of a verifier key, without the key itself."""
    return "+".join(vkey.split("+", 2)[:2])


def _follow(verifier_keys: Sequence[VerifierKey], steps: Sequence[KeyStep], notes: Sequence[SignedNote]) -> list[VerifierKey]:
    """Keys that are believed, those given first; one pass is enough, because a step is vouched for by keys of steps before it."""
    believed = list(verifier_keys)
    covered = {str(key): _covered_until(key, notes) for key in believed}
    for step in steps:
        vkey = step.event.vkey
        if vkey is None or step.event.purpose is not KeyPurpose.LOG or vkey in covered:
            continue
        # An event that shows one key and names another is ignored here. The import reports it.
        if fingerprint_of_vkey(vkey) != step.event.key or not any(_vouches(text, size, step, steps) for text, size in covered.items()):
            continue
        key = parse_vkey(vkey, where=f"entry {step.seq}")
        if notes and _is_of_log(key, notes[-1].checkpoint.origin):
            believed.append(key)
            covered[vkey] = _covered_until(key, notes)
    return believed


def _is_of_log(key: VerifierKey, origin: str) -> bool:
    """Whether its lines are those of the log *origin*, whose name it bears, not of a witness; ML-DSA-44 has one type for both."""
    return key.name == origin and (not key.is_cosigner or key.algorithm is KeyAlgorithm.ML_DSA_44)


def _covered_until(key: VerifierKey, notes: Sequence[SignedNote]) -> int:
    """The largest size that *key* signed for; 0 where it signed none."""
    signed = (note.checkpoint.size for note in notes if any(line.is_valid for line in verify_note(note, [key])))
    return max(signed, default=0)


def _vouches(vkey: str, size: int, step: KeyStep, steps: Sequence[KeyStep]) -> bool:
    """Whether *vkey*, which signed for *size* entries, may put the key of *step* beside it or in its place."""
    # A key vouches only for events that one of its own checkpoints covers.
    if size < step.seq:
        return False
    revoked, replaced = _find_revocation(vkey, steps), _find_replacement(vkey, steps)
    if revoked is not None and (revoked.event.untrusted_from is None or step.at >= revoked.event.untrusted_from):
        return False
    return replaced is None or step.seq <= replaced.seq


def _find_end(vkey: str, size: int, steps: Sequence[KeyStep], where: str) -> Fault | None:
    """What keeps *vkey* from signing for *size* entries; None where nothing does."""
    revoked, replaced = _find_revocation(vkey, steps), _find_replacement(vkey, steps)
    name = shorten_vkey(vkey)
    if revoked is not None:
        problem = f"entry {revoked.seq} revokes {name}, which signed it: {revoked.event.reason}"
        return Fault("key-not-in-force", where, problem, advice="ask for a bundle that is signed with a key in force")
    if replaced is not None and size > replaced.seq:
        problem = f"entry {replaced.seq} puts another key in the place of {name}, which signed it nevertheless"
        return Fault("key-not-in-force", where, problem, advice="ask for a bundle that is signed with a key in force")
    return None


def _find_revocation(vkey: str, steps: Sequence[KeyStep]) -> KeyStep | None:
    key = fingerprint_of_vkey(vkey)
    return next((step for step in steps if step.event.event is KeyEventKind.REVOKE and step.event.key == key), None)


def _find_replacement(vkey: str, steps: Sequence[KeyStep]) -> KeyStep | None:
    key = fingerprint_of_vkey(vkey)
    return next((step for step in steps if step.event.replaces == key), None)


def _fault(code: str, where: str, text: str, advice: str | None = None) -> InputError:
    return InputError(Fault(code, where, text, advice=advice))


# Whether a bundle is complete and consistent with its checkpoint: leaves from texts, the root from
# leaves, all before any key is consulted. Who signed the checkpoint is decided by `find_signer`
# above.

_EVERY = 1_000
_MOST_FAULTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Bundle:
    """A bundle that is whole, and whose entries give the root of its checkpoint; whether to believe its signature is not asked yet."""

    path: Path
    sha256: str
    """Of the file's bytes, hexadecimal."""
    header: BundleHeader
    stretch: Stretch
    """The tree over its entries and what it says came before."""
    erased: int
    """Entries that come without text: kind, author and time are the sender's word."""
    contents: int
    """Texts of cards."""
    actors: frozenset[str]
    """Whose statements they are."""
    steps: tuple[KeyStep, ...]
    """What its entries say of the log's keys."""
    notes: tuple[SignedNote, ...]
    """Signed checkpoints whose roots fit, by size; the last is at `header.size`."""
    note: str
    """The last, word for word."""
    signed: int = 0
    """Entries that their authors signed, each signature verified."""
    signed_unknown: int = 0
    """Entries that are signed with keys which the log names before the bundle begins: an import verifies them."""

    @property
    def checkpoint(self) -> SignedNote:
        """The last of `notes`."""
        return self.notes[-1]


def read_whole(path: Path, *, progress: Callable[[int], None] = lambda _more: None) -> Bundle:
    """Return the bundle in the file *path* after all of it was read and every leaf and root computed.

    Args:
        progress: called with how many more entries were read, now and then.

    Raises:
        InputError: as `registry.exchange.bundle_format.read_bundle`; `unknown-statement` where a newer caveat wrote it; `log-broken`,
            `wrong-log`, `bundle-forged` where entries and checkpoint do not fit each other.
    """
    where = str(path)
    gathered = _BundleContents(where=where)
    with open_bundle(path) as stream:
        lines = read_bundle(stream, where=where)
        header = next(lines)
        assert isinstance(header, BundleHeader)  # noqa: S101  (read_bundle begins with it)
        for number, line in enumerate(lines, 1):
            gathered.take(line)
            if number % _EVERY == 0:
                progress(_EVERY)
    # Signatures need all key events, so they are checked after the last line.
    signed = gathered.check_signatures(header)
    gathered.raise_faults()
    stretch = Stretch(header.since, [bytes.fromhex(peak) for peak in header.peaks], gathered.leaves)
    notes = tuple(_check_notes(gathered.notes, header, stretch, where))
    return Bundle(
        path=path,
        sha256=digest_file(path),
        header=header,
        stretch=stretch,
        erased=gathered.erased,
        contents=gathered.contents,
        actors=frozenset(gathered.actors),
        steps=tuple(gathered.steps),
        notes=notes,
        note=gathered.notes[-1],
        signed=signed,
        signed_unknown=len(gathered.signed) - signed,
    )


def check_bundle(
    path: Path, verifier_keys: tuple[VerifierKey, ...], *, progress: Callable[[int], None] = lambda _more: None
) -> tuple[Bundle, VerifierKey]:
    """Return the bundle in the file *path* and the key that signs it, one of *verifier_keys* or one that the log puts in its place.

    Raises:
        InputError: as `read_whole` and `registry.exchange.bundle_check.find_signer`.
    """
    bundle = read_whole(path, progress=progress)
    return bundle, find_signer(bundle.checkpoint, verifier_keys, bundle.steps, bundle.notes)


def open_bundle(path: Path) -> BinaryIO:
    """Open the file *path* to be read; raises InputError `file-not-readable` where it is none."""
    try:
        if path.is_file():
            return path.open("rb")
        problem = "it is not a file" if path.exists() else "there is no such file"
    except (OSError, ValueError) as error:
        raise InputError(Fault("file-not-readable", str(path), str(error))) from error
    raise InputError(Fault("file-not-readable", str(path), problem))


@dataclass(kw_only=True)
class _BundleContents:
    """What the lines of a bundle say, as far as they are read."""

    where: str
    leaves: list[bytes] = field(default_factory=list)
    erased: int = 0
    contents: int = 0
    actors: set[str] = field(default_factory=set)
    steps: list[KeyStep] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    at: datetime | None = None
    wanted: set[str] = field(default_factory=set)
    events: list[Recorded[KeyEvent]] = field(default_factory=list)
    signed: list[tuple[Entry, EntrySignature]] = field(default_factory=list)

    def take(self, line: BundleLine) -> None:
        """Take one line after the header."""
        match line:
            case EntryLine():
                self.leaves.append(bytes.fromhex(line.leaf))
                if len(self.faults) < _MOST_FAULTS:
                    self._entry(line)
            case ContentLine():
                self._content(line)
            case NoteLine():
                self.notes.append(line.checkpoint)
            case BundleHeader() | BundleEnd():
                raise AssertionError("read_bundle yields one header and no end")

    def check_signatures(self, header: BundleHeader) -> int:
        """Return how many signatures are their authors'; what is wrong with the others goes to `faults`.

        In a bundle that leaves out its log's beginning, signatures with keys named there are left to who has that beginning.
        """
        keys = StatementKeys(header.origin, self.events, {signature.entry: signature for _, signature in self.signed})
        known = {key.fingerprint for key in keys.keys}
        # Keys that were added before the bundle begins are unknown here. Their signatures are
        # checked at import, where the earlier entries are present.
        is_whole = header.since == 0
        if is_whole:
            self.faults += keys.faults[:_MOST_FAULTS]
        checked = 0
        for place, signature in self.signed:
            if is_whole or signature.key in known:
                checked += 1
                if len(self.faults) < _MOST_FAULTS and (fault := keys.find_fault(place, signature)) is not None:
                    self.faults.append(replace(fault, where=f"{self.where}, {fault.where}"))
        return checked

    def raise_faults(self) -> None:
        """Refuse the bundle with what is wrong in its statements."""
        if self.faults:
            raise InputError(self.faults)

    def _content(self, line: ContentLine) -> None:
        self.contents += 1
        # A text that no statement names would be unsigned content inside a signed bundle.
        if line.sha256 not in self.wanted and not self.faults:
            problem = "no statement of the bundle names this text"
            self.faults.append(Fault("bundle-damaged", f"{self.where}, card text {line.sha256}", problem))

    def _entry(self, line: EntryLine) -> None:
        actor, at, kind = line.actor, line.at, line.kind
        if line.text is None:
            self.erased += 1
        else:
            try:
                payload, actor, at = _decode(line.text, f"{self.where}, entry {line.seq}")
                kind = payload.KIND
            except InputError as error:
                self.faults += error.faults
                return
            match payload:
                case KeyEvent():
                    self.steps.append(KeyStep(seq=line.seq, at=at, event=payload))
                    place = Entry(seq=line.seq, kind=kind, actor=actor, at=at, leaf=line.leaf)
                    self.events.append(Recorded(entry=place, payload=payload))
                case Card():
                    self.wanted.add(payload.text)
                case _:
                    pass
        # The database would refuse decreasing times later, without naming the bundle.
        if at is not None and self.at is not None and at < self.at:
            text = f"its time, {at.isoformat()}, lies before that of the entry before it"
            self.faults.append(_broken(f"{self.where}, entry {line.seq}", text))
        self.at = at or self.at
        if line.signature is not None and kind is not None and actor is not None and at is not None:
            self.signed.append((Entry(seq=line.seq, kind=kind, actor=actor, at=at, leaf=line.leaf), line.signature))
        self.actors.add(actor or "")


def _decode(text: str, where: str) -> tuple[Payload, str, datetime]:
    """Return payload, author and time of a statement; its text must have the one form that reads alike everywhere."""
    statement = decode_statement(text, where=where)
    # Two texts with the same meaning have different leaves. Only the canonical one is accepted.
    if canonical_bytes(json.loads(text)) != text.encode():
        raise InputError(_broken(where, "its text is not in canonical JSON (RFC 8785)"))
    return statement.payload, statement.actor, statement.at


def _check_notes(texts: list[str], header: BundleHeader, stretch: Stretch, where: str) -> Iterator[SignedNote]:
    before = header.since
    for text in texts:
        note = parse_note(text, where=f"{where}, checkpoint")
        checkpoint = note.checkpoint
        place = f"{where}, checkpoint at {checkpoint.size}"
        if checkpoint.origin != header.origin:
            problem = f"it is of the log {checkpoint.origin}, the bundle of {header.origin}"
            raise InputError(Fault("wrong-log", place, problem, advice="ask for the bundle again"))
        # In increasing order, so that a bundle has one form.
        if not before < checkpoint.size <= header.size:
            problem = f"it is of {checkpoint.size} entries, expected more than {before} and at most {header.size}"
            raise InputError(Fault("bundle-damaged", place, problem))
        root = stretch.root_at(checkpoint.size).hex()
        if root != checkpoint.root:
            problem = f"the entries have the root {root}, it says {checkpoint.root}: an entry, or the checkpoint, was changed"
            raise InputError(Fault("bundle-forged", place, problem))
        before = checkpoint.size
        yield note
    if before != header.size:
        raise InputError(Fault("bundle-damaged", where, f"the last checkpoint is of {before} entries, the bundle has {header.size}"))


def _broken(where: str, text: str) -> Fault:
    return Fault("log-broken", where, text, advice="inform the authority: its log is broken")
