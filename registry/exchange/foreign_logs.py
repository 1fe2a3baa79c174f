"""Another registry's log: what is known of it, contradictions in it, and cosigning its checkpoints."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from registry.codec.canonical_documents import canonical_bytes, from_json, to_document
from registry.errors import AlteredError, AnswerNoError, CaveatError, ConflictError, Fault, InputError, UnavailableError
from registry.exchange.bundle_check import Bundle, Stretch, shorten_vkey
from registry.records.log_seal import Checkpoint, Equivocation, KeyEventKind, LogImport, Witnessing
from registry.records.record import Record
from registry.registration.key_registration import get_log_keys
from registry.seal import merkle_tree as tree
from registry.seal.signed_notes import ConsistencyProof, SignedNote, VerifierKey, cosign, parse_note, parse_vkey, verify_note
from registry.seal.signing_keys import KeyRing, fingerprint_of_vkey
from registry.store.ledger import Ledger
from registry.store.log_reader import list_key_events
from registry.store.log_seals import list_equivocations, list_imports, list_witnessings
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# Two histories signed by one log: detection, a record that a stranger can check, and its
# verification.
#
# Evidence consists of two validly signed checkpoints of one origin. If their sizes are equal,
# different roots suffice. Otherwise each comes with the root of its log at one common size and the
# consistency proof (RFC 6962, section 2.1.2) from there. Notes that are not validly signed are no
# evidence.
#
# Decision of 2026-11-22: a log known to have two histories is not trusted, including its old files.
# Evidence by a replaced or revoked key is kept, and says so. The cost: honest early files lose
# their confirmation.

_SCHEMA = "caveat/equivocation-proof/1"
_WHERE = "equivocation"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogBranch(Record):
    """One of the two histories."""

    vkey: str
    """The key that its note is signed with."""
    root: str
    """Of the log at the common size, hexadecimal."""
    path: tuple[str, ...]
    """Consistency proof from the common size to that of the note, hexadecimal; empty where they are the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContradictionProof(Record):
    """What shows, beside two signed notes, that they are of two histories."""

    schema: str
    size: int
    """The common size."""
    first: LogBranch
    second: LogBranch


def build_equivocation(notes: tuple[str, str], proof: ContradictionProof | None, *, vkey: str, finding: str) -> Equivocation:
    """Return the evidence that two signed notes contradict each other, after checking it as a stranger would.

    Args:
        notes: the one seen first, and the one that came.
        proof: None where the notes are of one size and signed with one key.
        vkey: the key that the second is signed with.
        finding: what contradicts what, in words.

    Raises:
        InputError: it is no evidence.
    """
    origin = parse_note(notes[0], where=_WHERE).checkpoint.origin
    written = None if proof is None else canonical_bytes(to_document(proof)).decode()
    equivocation = Equivocation(origin=origin, vkey=vkey, first=notes[0], second=notes[1], finding=finding, proof=written)
    # Checked with the code that a stranger would use, so that recorded evidence always verifies.
    verify_equivocation(equivocation)
    return equivocation


def build_proof(size: int, first: LogBranch, second: LogBranch) -> ContradictionProof:
    """Return the proof over two sides at the common *size*."""
    return ContradictionProof(schema=_SCHEMA, size=size, first=first, second=second)


def verify_equivocation(equivocation: Equivocation) -> None:
    """Check that *equivocation* is evidence: that both notes are signed with the keys it names and cannot be of one history.

    Whether those are the log's keys no statement can prove of itself: compare them with what its authority publishes.

    Raises:
        InputError: `not-evidence`, with what does not hold.
    """
    try:
        first, second = (parse_note(text, where=_WHERE) for text in (equivocation.first, equivocation.second))
        proof = None if equivocation.proof is None else from_json(ContradictionProof, equivocation.proof, where=f"{_WHERE}, proof")
        problem = _find_problem(equivocation, first, second, proof)
    except CaveatError as error:
        problem = error.faults[0].found
    except ValueError as error:
        problem = str(error)
    if problem:
        raise InputError(Fault("not-evidence", f"{_WHERE} of {equivocation.origin}", problem))


def find_equivocation(view: View, origin: str) -> tuple[Equivocation, ...]:
    """Return the evidence recorded here that the log *origin* signed two histories, oldest first; empty where there is none."""
    return tuple(equivocation.payload for equivocation in list_equivocations(view, origin))


def record_equivocation(writer: Writer, equivocation: Equivocation) -> bool:
    """Record the evidence *equivocation*, and return whether it is new: the same two notes are recorded once.

    Raises:
        InputError: it is no evidence.
        ConflictError: it is of this registry's own log.
    """
    verify_equivocation(equivocation)
    # Unordered: the same two notes may be found from either side.
    if any(
        {known.first, known.second} == {equivocation.first, equivocation.second} for known in find_equivocation(writer, equivocation.origin)
    ):
        return False
    writer.append(equivocation)
    return True


def _find_problem(equivocation: Equivocation, first: SignedNote, second: SignedNote, proof: ContradictionProof | None) -> str | None:
    if {first.checkpoint.origin, second.checkpoint.origin} != {equivocation.origin}:
        return f"the notes are of {first.checkpoint.origin} and {second.checkpoint.origin}"
    vkeys = (equivocation.vkey, equivocation.vkey) if proof is None else (proof.first.vkey, proof.second.vkey)
    if vkeys[1] != equivocation.vkey:
        return f"the proof has the second note signed with {shorten_vkey(vkeys[1])}, the statement with {shorten_vkey(equivocation.vkey)}"
    for note, vkey in zip((first, second), vkeys, strict=True):
        key = parse_vkey(vkey, where=_WHERE)
        # A signature under another name proves nothing about this log.
        if key.name != equivocation.origin:
            return f"{shorten_vkey(vkey)} is no key of this log: anyone can sign in a name of their own"
        lines = verify_note(note, [key])
        if not any(line.is_valid for line in lines):
            return f"the note of {note.checkpoint.size} entries is not signed with {shorten_vkey(vkey)}"
    if first.checkpoint.size == second.checkpoint.size:
        return None if first.checkpoint.root != second.checkpoint.root else "the two notes say the same"
    return _find_gap(first, second, proof)


def _find_gap(first: SignedNote, second: SignedNote, proof: ContradictionProof | None) -> str | None:
    """What is missing for notes of different sizes to contradict each other; None where nothing is."""
    if proof is None:
        return "the notes are of different sizes, and no proof says that they contradict each other"
    # Different sizes alone are normal growth. Only different roots at a common size contradict each
    # other.
    if proof.first.root == proof.second.root:
        return "the two histories have one root at the common size"
    broken = [note for note, side in ((first, proof.first), (second, proof.second)) if not _leads_to(proof.size, side, note)]
    return f"the proof does not lead from {proof.size} entries to the note of {broken[0].checkpoint.size}" if broken else None


def _leads_to(size: int, side: LogBranch, note: SignedNote) -> bool:
    path = [bytes.fromhex(name) for name in side.path]
    return tree.is_consistent(size, bytes.fromhex(side.root), note.checkpoint.size, bytes.fromhex(note.checkpoint.root), path)


# How a bundle relates to what is known here of its log: new entries, nothing new, less than is
# known, or another history.


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLog:
    """What this registry has of another log."""

    origin: str
    last: LogImport | None
    """The last take-over; None where there was none."""
    stretch: Stretch
    """The tree over its entries that are here."""
    witnessings: tuple[Witnessing, ...]
    equivocations: tuple[Equivocation, ...]
    """Evidence against it."""
    ended: Mapping[str, str]
    """Keys that its entries here revoke or replace: fingerprint to what was done to it, in words."""

    @property
    def vkeys(self) -> tuple[VerifierKey, ...]:
        """Keys of the log that were believed here before."""
        texts = [item.vkey for item in (self.last, *self.witnessings[-1:]) if item is not None]
        return tuple(parse_vkey(vkey, where=f"log {self.origin}") for vkey in dict.fromkeys(texts))


@dataclass(frozen=True, slots=True, kw_only=True)
class BundlePosition(Record):
    """Where a bundle goes on."""

    known: int
    """Entries of its log that are here."""
    new: int
    """Entries that it adds; 0: everything in it is here."""


def find_known(ledger: Ledger, origin: str) -> KnownLog:
    """Return what is recorded here of the log *origin*.

    Raises:
        AlteredError: the entries here do not give the root that was verified when they were taken over.
        ConflictError: it is this registry's own log.
    """
    with ledger.view() as view:
        if view.log_origin == origin:
            raise ConflictError(Fault("own-log", origin, "it is this registry's own log"))
        imports = list_imports(view, origin)
        witnessings = tuple(witnessing.payload for witnessing in list_witnessings(view, origin))
        equivocations = tuple(equivocation.payload for equivocation in list_equivocations(view, origin))
    last = imports[-1].payload if imports else None
    leaves: list[bytes] = []
    ended: dict[str, str] = {}
    if last is not None:
        with ledger.view(log=origin) as foreign:
            leaves = list(foreign.leaves())
            ended = dict(_list_ended(foreign))
    stretch = Stretch(0, (), leaves)
    # The stored entries must still give the root that was verified at import. New entries must not
    # be appended to an altered copy.
    if last is not None and (stretch.size != last.size or stretch.root_at(last.size).hex() != last.root):
        problem = f"{stretch.size} of its entries are here and do not give the root of the {last.size} that were taken over"
        raise AlteredError(Fault("entry-altered", f"log {origin}", problem))
    return KnownLog(origin=origin, last=last, stretch=stretch, witnessings=witnessings, equivocations=equivocations, ended=ended)


def add_doubts(equivocation: Equivocation, known_log: KnownLog) -> Equivocation:
    """Return *equivocation* with what points to theft: the key of the second note was revoked or replaced in the history that is here."""
    ended = known_log.ended.get(fingerprint_of_vkey(equivocation.vkey))
    if ended is None:
        return equivocation
    doubt = f"; in the history here {ended}: whoever had that key may have signed this, its authority or not"
    return replace(equivocation, finding=equivocation.finding + doubt)


def place_bundle(bundle: Bundle, signer: VerifierKey, known_log: KnownLog) -> BundlePosition | Equivocation:
    """Return what *bundle*, signed by *signer*, adds to what is *known*, or the evidence that its log has two histories.

    Raises:
        InputError: `bundle-not-adjacent`, entries between are missing; `not-newer`, more is known already.
    """
    here, size = known_log.stretch.size, bundle.header.size
    if bundle.header.since > here:
        problem = f"it begins after entry {bundle.header.since}; {here} entries of this log are here"
        raise _fault("bundle-not-adjacent", bundle, problem, f"ask for: caveat admin bundle write{f' --since {here}' if here else ''}")
    # Contradictions are searched before size, because an older bundle can still be evidence.
    for finding in (_compare_import(bundle, signer, known_log), _compare_witnessings(bundle, signer, known_log)):
        if finding is not None:
            return finding
    seen = max([here, *(witnessing.size for witnessing in known_log.witnessings)])
    # An old bundle is refused although it is genuine: showing it again can hide the entries after
    # it.
    if size < seen:
        problem = f"it has {size} entries, and {seen} were seen here before: nothing in it is new, and it may hide the rest"
        raise _fault("not-newer", bundle, problem, "ask for the log as it is now")
    return BundlePosition(known=here, new=size - here)


def _compare_import(bundle: Bundle, signer: VerifierKey, known_log: KnownLog) -> Equivocation | None:
    if known_log.last is None:
        return None
    since = bundle.header.since
    common = min(known_log.stretch.size, bundle.header.size)
    # If the omitted beginnings differ, no single entry can be named, so the common size is where
    # the bundle begins.
    if since and known_log.stretch.root_at(since) != bundle.stretch.root_at(since):
        common, finding = since, f"its first {since} entries are others than those taken over here before"
    else:
        seq = _find_other(bundle.stretch.leaves[: common - since], known_log.stretch.leaves[since:common], since)
        if seq is None:
            return None
        here, there = known_log.stretch.leaves[seq - 1].hex(), bundle.stretch.leaves[seq - 1 - since].hex()
        finding = f"entry {seq} has the leaf {here} in the history taken over before, and {there} in this one"
    return _build(bundle, signer, known_log, first=known_log.last.checkpoint, size=common, finding=finding)


def _compare_witnessings(bundle: Bundle, signer: VerifierKey, known_log: KnownLog) -> Equivocation | None:
    """A cosigned checkpoint holds its log to a history, also where no entry was taken over."""
    for witnessing in known_log.witnessings:
        if (
            not bundle.header.since <= witnessing.size <= bundle.header.size
            or bundle.stretch.root_at(witnessing.size).hex() == witnessing.root
        ):
            continue
        root = bundle.stretch.root_at(witnessing.size).hex()
        finding = f"its first {witnessing.size} entries have the root {root}, cosigned here was {witnessing.root}"
        return _build(bundle, signer, known_log, first=witnessing.note, size=witnessing.size, finding=finding)
    return None


def _build(bundle: Bundle, signer: VerifierKey, known_log: KnownLog, *, first: str, size: int, finding: str) -> Equivocation:
    """Evidence out of the first note, whose log has *size* entries in common with the bundle's, but not what they are."""
    checkpoint = parse_note(first, where="checkpoint recorded here").checkpoint
    vkey = _find_key(first, known_log)
    # At its own size the note itself states the root, so no path is needed.
    if checkpoint.size == size:
        log_branch = LogBranch(vkey=vkey, root=checkpoint.root, path=())
    else:
        path = known_log.stretch.consistency_path(size, checkpoint.size)
        log_branch = LogBranch(vkey=vkey, root=known_log.stretch.root_at(size).hex(), path=tuple(step.hex() for step in path))
    path = bundle.stretch.consistency_path(size, bundle.header.size)
    two = LogBranch(vkey=str(signer), root=bundle.stretch.root_at(size).hex(), path=tuple(step.hex() for step in path))
    proof = None if checkpoint.size == bundle.header.size and vkey == str(signer) else build_proof(size, log_branch, two)
    return build_equivocation((first, bundle.note), proof, vkey=str(signer), finding=finding)


def _list_ended(view: View) -> Iterator[tuple[str, str]]:
    for key_event in list_key_events(view):
        if key_event.payload.replaces is not None:
            yield key_event.payload.replaces, f"entry {key_event.entry.seq} put another key in the place of the one that signs it"
        if key_event.payload.event is KeyEventKind.REVOKE:
            yield key_event.payload.key, f"entry {key_event.entry.seq} revokes the key that signs it"


def _find_key(note: str, known_log: KnownLog) -> str:
    """The key that a note recorded here was verified with."""
    texts = [item.vkey for item in (known_log.last, *known_log.witnessings) if item is not None]
    for vkey in dict.fromkeys(texts):
        lines = verify_note(parse_note(note, where="checkpoint recorded here"), [parse_vkey(vkey, where="recorded here")])
        if any(line.is_valid for line in lines):
            return vkey
    raise AlteredError(Fault("entry-altered", f"log {known_log.origin}", "the checkpoint recorded here is not signed any more"))


def _find_other(contents: Sequence[bytes], here: Sequence[bytes], since: int) -> int | None:
    """The first entry whose leaves differ; None where none does."""
    return next((seq for seq, (content, other) in enumerate(zip(contents, here, strict=True), since + 1) if content != other), None)


def _fault(code: str, bundle: Bundle, text: str, advice: str | None = None) -> InputError:
    return InputError(Fault(code, str(bundle.path), text, advice=advice))


# This registry as a witness: it cosigns another log's checkpoint only if it extends what was seen
# of that log before.
#
# The steps are those of C2SP tlog-witness: verify the log's signature, verify the consistency proof
# from the last cosigned checkpoint, remember the new one, sign. Two checkpoints that cannot belong
# to one history are recorded as evidence.


@dataclass(frozen=True, slots=True, kw_only=True)
class CosigningResult(Record):
    """What was cosigned."""

    checkpoint: Checkpoint
    note: str
    """The signed note as it was given, but for older lines of ours, with our lines at its end."""
    vkeys: tuple[str, ...]
    """What verifies our lines: verifier keys of C2SP tlog-cosignature."""
    seen: int | None
    """How many entries of the log had been seen before; None for the first checkpoint that is seen of it."""
    entry: int
    """Which records it."""
    is_new: bool
    """False where the same checkpoint was cosigned before, and its note is published again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCheckpoint:
    """The last that is known here of a log: what a new checkpoint must follow from."""

    checkpoint: Checkpoint
    note: str
    vkey: str


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferedCheckpoint:
    """A checkpoint that is to be cosigned, its signature verified."""

    text: str
    """The signed note, word for word."""
    note: SignedNote
    vkey: VerifierKey
    """The key that signed it."""

    @property
    def said(self) -> Checkpoint:
        """What it says."""
        return self.note.checkpoint

    def as_side(self) -> LogBranch:
        """What it says of its own size."""
        return LogBranch(vkey=str(self.vkey), root=self.said.root, path=())


def cosign_note(
    ledger: Ledger, ring: KeyRing, text: str, *, actor: str, keys: Sequence[VerifierKey], proof: ConsistencyProof | None
) -> CosigningResult:
    """Cosign the signed note *text* with the log keys of *ring*, record it, and return it.

    Args:
        actor: the authority that it is recorded for.
        keys: keys of the log that a person vouches for; the keys that the log was known by before are taken too.
        proof: what leads from the last checkpoint seen to this one; None where none was seen, or as many entries.

    Raises:
        AnswerNoError: `equivocation`, the log signed two histories: the evidence is recorded; `not-consistent`, the proof does not hold.
        InputError: `bad-note`, also where it has no room for one more line; `wrong-key`; `consistency-missing`, a proof from another
            size, or none, is given.
        ConflictError: `own-log`; `not-newer`, more was seen here before.
        UnavailableError: `no-signing-key`.
    """
    note = parse_note(text, where="the checkpoint")
    known = find_known(ledger, note.checkpoint.origin)
    offered = OfferedCheckpoint(text=text, note=note, vkey=find_signer(note, [*keys, *known.vkeys]))
    seen = _find_seen(known)
    evidence = None if seen is None else _compare(offered, seen, known, proof)
    # Evidence is recorded before the refusal, so that it is not lost with the error.
    if evidence is not None:
        with ledger.write(actor=actor) as writer:
            record_equivocation(writer, add_doubts(evidence, known))
        advice = "publish it: caveat admin log show --kind equivocation --json has the two notes"
        raise AnswerNoError(Fault("equivocation", evidence.origin, evidence.finding, advice=advice))
    return _sign(ledger, ring, offered, known, actor=actor)


def find_seen_size(ledger: Ledger, origin: str) -> int:
    """Return how many entries of the log *origin* its last checkpoint that was cosigned or taken over here has; 0 before the first."""
    seen = _find_seen(find_known(ledger, origin))
    return 0 if seen is None else seen.checkpoint.size


def find_signer(note: SignedNote, keys: Sequence[VerifierKey]) -> VerifierKey:
    """Return which of *keys* signed *note* as its log; raises InputError `wrong-key` where none did, or a line of theirs is not valid."""
    origin = note.checkpoint.origin
    own = [key for key in keys if key.name == origin]
    lines = {line.vkey: line.is_valid for line in verify_note(note, own)}
    # All lines of the log's own keys must verify. One valid and one invalid line are a sign of
    # alteration.
    if lines and all(lines.values()):
        return next(key for key in own if str(key) in lines)
    names = ", ".join(f"{line.name}+{line.key_id.hex()}" for line in note.lines[:6])
    if lines:
        problem, advice = f"the signature of {origin} does not verify", "get the note again, byte for byte"
    else:
        problem = f"it is signed by {names}, and none of the keys known here signed it"
        advice = "give the log's key, learnt from its authority, with --vkey"
    raise InputError(Fault("wrong-key", f"checkpoint of {origin}", problem, advice=advice))


def _find_seen(known_log: KnownLog) -> KnownCheckpoint | None:
    """The largest that was taken over or cosigned: a take-over binds as much as a signature."""
    checkpoints = [
        KnownCheckpoint(checkpoint=_checkpoint(witnessing), note=witnessing.note, vkey=witnessing.vkey)
        for witnessing in known_log.witnessings
    ]
    if known_log.last is not None:
        checkpoints.append(
            KnownCheckpoint(checkpoint=_checkpoint(known_log.last), note=known_log.last.checkpoint, vkey=known_log.last.vkey)
        )
    return max(checkpoints, key=lambda checkpoint: checkpoint.checkpoint.size, default=None)


def _compare(offered: OfferedCheckpoint, seen: KnownCheckpoint, known_log: KnownLog, proof: ConsistencyProof | None) -> Equivocation | None:
    """Return the evidence that *offered* is of another history than what was seen; None where it follows from that."""
    checkpoint = offered.said
    # Three cases: larger needs a proof, equal must be identical, smaller can only be evidence.
    if checkpoint.size > seen.checkpoint.size:
        return _follow(offered, seen, proof)
    if checkpoint.size == seen.checkpoint.size:
        first = LogBranch(vkey=seen.vkey, root=seen.checkpoint.root, path=())
        return _contradict(seen.note, offered, first, offered.as_side(), checkpoint.size)
    evidence = _compare_older(offered, known_log)
    if evidence is None:
        problem = f"it has {checkpoint.size} entries, and {seen.checkpoint.size} were seen here already: a witness does not go back"
        raise ConflictError(Fault("not-newer", checkpoint.origin, problem, advice="ask for the log's latest checkpoint"))
    return evidence


def _follow(offered: OfferedCheckpoint, seen: KnownCheckpoint, proof: ConsistencyProof | None) -> Equivocation | None:
    checkpoint = offered.said
    path = _get_path(checkpoint, seen, proof)
    old, new = bytes.fromhex(seen.checkpoint.root), bytes.fromhex(checkpoint.root)
    size = seen.checkpoint.size
    if tree.is_consistent(size, old, checkpoint.size, new, path):
        return None
    # A proof that leads to the new root also shows which root the sender's log had at the old size.
    # A different one is evidence; otherwise the proof is merely invalid.
    old_root = tree.old_root_of(size, checkpoint.size, new, path)
    if old_root is None:
        problem = f"the proof does not lead from the {size} entries seen here to this checkpoint: altered, or of another history"
        raise AnswerNoError(Fault("not-consistent", checkpoint.origin, problem))
    first = LogBranch(vkey=seen.vkey, root=seen.checkpoint.root, path=())
    second = LogBranch(vkey=str(offered.vkey), root=old_root.hex(), path=tuple(node.hex() for node in path))
    return _contradict(seen.note, offered, first, second, size)


def _get_path(checkpoint: Checkpoint, seen: KnownCheckpoint, proof: ConsistencyProof | None) -> tuple[bytes, ...]:
    size = seen.checkpoint.size
    if proof is not None and proof.old == size and parse_note(proof.note, where="the proof").checkpoint == checkpoint:
        return proof.path
    proof_note = "none is given" if proof is None else f"the one given begins with {proof.old}"
    if proof is not None and proof.old == size:
        proof_note = "the one given leads to another checkpoint"
    problem = f"{size} entries of it were seen here, and it takes a proof that this checkpoint goes on from them; {proof_note}"
    advice = f"ask its authority for: caveat admin log prove --since {size}"
    raise InputError(Fault("consistency-missing", checkpoint.origin, problem, advice=advice))


def _compare_older(offered: OfferedCheckpoint, known_log: KnownLog) -> Equivocation | None:
    """Hold a smaller checkpoint against what was cosigned at its size, and against the entries that are here."""
    checkpoint, second = offered.said, offered.as_side()
    for witnessing in known_log.witnessings:
        if witnessing.size == checkpoint.size and witnessing.root != checkpoint.root:
            first = LogBranch(vkey=witnessing.vkey, root=witnessing.root, path=())
            return _contradict(witnessing.note, offered, first, second, checkpoint.size)
    if known_log.last is None or known_log.last.size < checkpoint.size:
        return None
    path = tuple(node.hex() for node in known_log.stretch.consistency_path(checkpoint.size, known_log.last.size))
    first = LogBranch(vkey=known_log.last.vkey, root=known_log.stretch.root_at(checkpoint.size).hex(), path=path)
    return _contradict(known_log.last.checkpoint, offered, first, second, checkpoint.size)


def _contradict(before: str, offered: OfferedCheckpoint, first: LogBranch, second: LogBranch, size: int) -> Equivocation | None:
    """Return the evidence, where the two sides have different roots at *size*."""
    if first.root == second.root:
        return None
    finding = f"the first {size} entries have the root {first.root} by what was seen here before, and {second.root} by this checkpoint"
    is_plain = not first.path and not second.path and first.vkey == second.vkey and offered.said.size == size
    proof = None if is_plain else build_proof(size, first, second)
    return build_equivocation((before, offered.text), proof, vkey=second.vkey, finding=finding)


def _sign(ledger: Ledger, ring: KeyRing, offered: OfferedCheckpoint, known_log: KnownLog, *, actor: str) -> CosigningResult:
    checkpoint = offered.said
    with ledger.write(actor=actor) as writer:
        keys = get_log_keys(writer, ring)
        recorded = list_witnessings(writer, checkpoint.origin)
        # The check ran outside the transaction. Another process may have cosigned a different
        # history meanwhile.
        _refuse_moved(writer, tuple(witnessing.payload for witnessing in recorded), known_log)
        ours = [parse_vkey(str(key.vkey), where="own key").as_cosigner() for key in keys]
        vkeys = tuple(map(str, ours))
        seen = _find_seen(known_log)
        size = seen.checkpoint.size if seen else None
        for witnessing in recorded:
            if _checkpoint(witnessing.payload) == checkpoint and _has_lines(witnessing.payload.note, ours):
                return CosigningResult(
                    checkpoint=checkpoint, note=witnessing.payload.note, vkeys=vkeys, seen=size, entry=witnessing.entry.seq, is_new=False
                )
        cosigned = _drop_lines(offered, ours) + "".join(cosign(offered.text, key, at=writer.moment) for key in keys)
        parse_note(cosigned, where="the checkpoint with our cosignature")  # else what is recorded could not be held against the log
        entry = writer.append(
            Witnessing(origin=checkpoint.origin, size=checkpoint.size, root=checkpoint.root, vkey=str(offered.vkey), note=cosigned)
        )
    return CosigningResult(checkpoint=checkpoint, note=cosigned, vkeys=vkeys, seen=size, entry=entry.seq, is_new=True)


def _drop_lines(offered: OfferedCheckpoint, keys: Sequence[VerifierKey]) -> str:
    """The note without lines that are, or pretend to be, of *keys*: of ours, only what is signed now is published."""
    # Lines under our key names that we did not verify must not be published with our signature.
    own = {(key.name, key.key_id) for key in keys}
    rows = offered.text.partition("\n\n")[2].splitlines(keepends=True)
    kept = [row for row, line in zip(rows, offered.note.lines, strict=True) if (line.name, line.key_id) not in own]
    return offered.note.text + "\n" + "".join(kept)


def _has_lines(note: str, keys: Sequence[VerifierKey]) -> bool:
    return {line.vkey for line in verify_note(parse_note(note, where="recorded here"), keys) if line.is_valid} == set(map(str, keys))


def _refuse_moved(writer: Writer, now: tuple[Witnessing, ...], known_log: KnownLog) -> None:
    """Two at once could cosign or take over two histories, each following from what was seen before the other."""
    last = list_imports(writer, known_log.origin)[-1:]
    if now != known_log.witnessings or [log_import.payload for log_import in last] != ([] if known_log.last is None else [known_log.last]):
        problem = "another checkpoint of this log was cosigned or taken over meanwhile"
        raise UnavailableError(Fault("registry-busy", known_log.origin, problem))


def _checkpoint(record: Witnessing | LogImport) -> Checkpoint:
    return Checkpoint(origin=record.origin, size=record.size, root=record.root)
