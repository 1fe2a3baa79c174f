"""This registry as a witness: it cosigns another log's checkpoint that follows from what it saw of that log before, and no other.

What a witness does is C2SP tlog-witness: verify the log's signature, verify the consistency proof from the last checkpoint it
cosigned, remember the new one, sign. Two checkpoints that cannot be of one history are evidence, and are kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from registry.errors import AnswerNoError, ConflictError, Fault, InputError, UnavailableError
from registry.records.log_seal import Checkpoint, Equivocation, LogImport, Witnessing
from registry.records.record import Record
from registry.registration.key_registration import get_log_keys
from registry.seal import tree
from registry.seal.consistency import ConsistencyProof
from registry.seal.keys import KeyRing
from registry.seal.note import SignedNote, VerifierKey, parse_note, parse_vkey, verify_note
from registry.seal.witness import cosign
from registry.store.ledger import Ledger
from registry.store.seen import list_imports, list_witnessings
from registry.store.writer import Writer
from registry.transfer.equivocation import Side, build_equivocation, build_proof, record_equivocation
from registry.transfer.history import Known, add_doubts, find_known


@dataclass(frozen=True, slots=True, kw_only=True)
class Cosigned(Record):
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
    """False where the same checkpoint was cosigned before, and its note is given out again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """The last that is known here of a log: what a new checkpoint must follow from."""

    checkpoint: Checkpoint
    note: str
    vkey: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
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

    def as_side(self) -> Side:
        """What it says of its own size."""
        return Side(vkey=str(self.vkey), root=self.said.root, path=())


def cosign_note(
    ledger: Ledger, ring: KeyRing, text: str, *, actor: str, given: Sequence[VerifierKey], proof: ConsistencyProof | None
) -> Cosigned:
    """Cosign the signed note *text* with the log keys of *ring*, record it, and return it.

    Args:
        actor: in whose name it is recorded.
        given: keys of the log that a person vouches for; the keys that the log was known by before are taken too.
        proof: what leads from the last checkpoint seen to this one; None where none was seen, or as many entries.

    Raises:
        AnswerNoError: `equivocation`, the log signed two histories: the evidence is recorded; `not-consistent`, the proof does not hold.
        InputError: `bad-note`, also where it has no room for one more line; `wrong-key`; `consistency-missing`, a proof from another
            size, or none, is given.
        ConflictError: `own-log`; `log-not-longer`, more was seen here before.
        UnavailableError: `no-log-key`.
    """
    note = parse_note(text, where="the checkpoint")
    known = find_known(ledger, note.checkpoint.origin)
    offered = Offered(text=text, note=note, vkey=_find_signer(note, [*given, *known.vkeys]))
    seen = _find_seen(known)
    evidence = None if seen is None else _compare(offered, seen, known, proof)
    if evidence is not None:
        with ledger.write(actor=actor) as writer:
            record_equivocation(writer, add_doubts(evidence, known))
        advice = "publish it: caveat log show --kind equivocation --json has the two notes"
        raise AnswerNoError(Fault(code="equivocation", where=evidence.origin, found=evidence.finding, advice=advice))
    return _sign(ledger, ring, offered, known, actor=actor)


def _find_signer(note: SignedNote, keys: Sequence[VerifierKey]) -> VerifierKey:
    origin = note.checkpoint.origin
    own = [key for key in keys if key.name == origin]
    lines = {line.vkey: line.is_valid for line in verify_note(note, own)}
    if lines and all(lines.values()):
        return next(key for key in own if str(key) in lines)
    names = ", ".join(f"{line.name}+{line.key_id.hex()}" for line in note.lines[:6])
    if lines:
        found, advice = f"the signature of {origin} does not verify", "get the note again, byte for byte"
    else:
        found = f"it is signed by {names}, and none of the keys known here signed it"
        advice = "give the log's key, learnt from its authority, with --vkey"
    raise InputError(Fault(code="wrong-key", where=f"checkpoint of {origin}", found=found, advice=advice))


def _find_seen(known: Known) -> Seen | None:
    """The largest that was taken over or cosigned: a take-over binds as much as a signature."""
    said = [Seen(checkpoint=_checkpoint(one), note=one.note, vkey=one.vkey) for one in known.witnessings]
    if known.last is not None:
        said.append(Seen(checkpoint=_checkpoint(known.last), note=known.last.checkpoint, vkey=known.last.vkey))
    return max(said, key=lambda one: one.checkpoint.size, default=None)


def _compare(offered: Offered, seen: Seen, known: Known, proof: ConsistencyProof | None) -> Equivocation | None:
    """Return the evidence that *offered* is of another history than what was seen; None where it follows from that."""
    said = offered.said
    if said.size > seen.checkpoint.size:
        return _follow(offered, seen, proof)
    if said.size == seen.checkpoint.size:
        first = Side(vkey=seen.vkey, root=seen.checkpoint.root, path=())
        return _contradict(seen.note, offered, first, offered.as_side(), said.size)
    evidence = _compare_older(offered, known)
    if evidence is None:
        found = f"it has {said.size} entries, and {seen.checkpoint.size} were seen here already: a witness does not go back"
        raise ConflictError(Fault(code="log-not-longer", where=said.origin, found=found, advice="ask for the log's latest checkpoint"))
    return evidence


def _follow(offered: Offered, seen: Seen, proof: ConsistencyProof | None) -> Equivocation | None:
    said = offered.said
    path = _get_path(said, seen, proof)
    old, new = bytes.fromhex(seen.checkpoint.root), bytes.fromhex(said.root)
    size = seen.checkpoint.size
    if tree.is_consistent(size, old, said.size, new, path):
        return None
    told = tree.old_root_of(size, said.size, new, path)
    if told is None:
        found = f"the proof does not lead from the {size} entries seen here to this checkpoint: altered, or of another history"
        advice = "ask for it again; if it stays so, ask for the whole log and compare: caveat import BUNDLE"
        raise AnswerNoError(Fault(code="not-consistent", where=said.origin, found=found, advice=advice))
    first = Side(vkey=seen.vkey, root=seen.checkpoint.root, path=())
    second = Side(vkey=str(offered.vkey), root=told.hex(), path=tuple(one.hex() for one in path))
    return _contradict(seen.note, offered, first, second, size)


def _get_path(said: Checkpoint, seen: Seen, proof: ConsistencyProof | None) -> tuple[bytes, ...]:
    size = seen.checkpoint.size
    if proof is not None and proof.old == size and parse_note(proof.note, where="the proof").checkpoint == said:
        return proof.path
    given = "none is given" if proof is None else f"the one given begins with {proof.old}"
    if proof is not None and proof.old == size:
        given = "the one given leads to another checkpoint"
    found = f"{size} entries of it were seen here, and it takes a proof that this checkpoint goes on from them; {given}"
    advice = f"ask its authority for: caveat log prove --since {size}"
    raise InputError(Fault(code="consistency-missing", where=said.origin, found=found, advice=advice))


def _compare_older(offered: Offered, known: Known) -> Equivocation | None:
    """Hold a smaller checkpoint against what was cosigned at its size, and against the entries that are here."""
    said, second = offered.said, offered.as_side()
    for one in known.witnessings:
        if one.size == said.size and one.root != said.root:
            first = Side(vkey=one.vkey, root=one.root, path=())
            return _contradict(one.note, offered, first, second, said.size)
    if known.last is None or known.last.size < said.size:
        return None
    path = tuple(one.hex() for one in known.stretch.consistency_path(said.size, known.last.size))
    first = Side(vkey=known.last.vkey, root=known.stretch.root_at(said.size).hex(), path=path)
    return _contradict(known.last.checkpoint, offered, first, second, said.size)


def _contradict(before: str, offered: Offered, first: Side, second: Side, size: int) -> Equivocation | None:
    """Return the evidence, where the two sides have different roots at *size*."""
    if first.root == second.root:
        return None
    finding = f"the first {size} entries have the root {first.root} by what was seen here before, and {second.root} by this checkpoint"
    is_plain = not first.path and not second.path and first.vkey == second.vkey and offered.said.size == size
    proof = None if is_plain else build_proof(size, first, second)
    return build_equivocation((before, offered.text), proof, vkey=second.vkey, finding=finding)


def _sign(ledger: Ledger, ring: KeyRing, offered: Offered, known: Known, *, actor: str) -> Cosigned:
    said = offered.said
    with ledger.write(actor=actor) as writer:
        keys = get_log_keys(writer, ring)
        recorded = list_witnessings(writer, said.origin)
        _refuse_moved(writer, tuple(one.payload for one in recorded), known)
        ours = [parse_vkey(str(key.vkey), where="own key").as_cosigner() for key in keys]
        vkeys = tuple(map(str, ours))
        seen = _find_seen(known)
        size = seen.checkpoint.size if seen else None
        for one in recorded:
            if _checkpoint(one.payload) == said and _has_lines(one.payload.note, ours):
                return Cosigned(checkpoint=said, note=one.payload.note, vkeys=vkeys, seen=size, entry=one.entry.seq, is_new=False)
        cosigned = _drop_lines(offered, ours) + "".join(cosign(offered.text, key, at=writer.moment) for key in keys)
        parse_note(cosigned, where="the checkpoint with our cosignature")  # else what is recorded could not be held against the log
        entry = writer.append(Witnessing(origin=said.origin, size=said.size, root=said.root, vkey=str(offered.vkey), note=cosigned))
    return Cosigned(checkpoint=said, note=cosigned, vkeys=vkeys, seen=size, entry=entry.seq, is_new=True)


def _drop_lines(offered: Offered, keys: Sequence[VerifierKey]) -> str:
    """The note without lines that are, or pretend to be, of *keys*: of ours, only what is signed now is given out."""
    own = {(key.name, key.key_id) for key in keys}
    rows = offered.text.partition("\n\n")[2].splitlines(keepends=True)
    kept = [row for row, line in zip(rows, offered.note.lines, strict=True) if (line.name, line.key_id) not in own]
    return offered.note.text + "\n" + "".join(kept)


def _has_lines(note: str, keys: Sequence[VerifierKey]) -> bool:
    return {line.vkey for line in verify_note(parse_note(note, where="recorded here"), keys) if line.is_valid} == set(map(str, keys))


def _refuse_moved(writer: Writer, now: tuple[Witnessing, ...], known: Known) -> None:
    """Two at once could cosign or take over two histories, each following from what was seen before the other."""
    last = list_imports(writer, known.origin)[-1:]
    if now != known.witnessings or [one.payload for one in last] != ([] if known.last is None else [known.last]):
        found = "another checkpoint of this log was cosigned or taken over meanwhile"
        raise UnavailableError(Fault(code="registry-busy", where=known.origin, found=found, advice="run the command again"))


def _checkpoint(said: Witnessing | LogImport) -> Checkpoint:
    return Checkpoint(origin=said.origin, size=said.size, root=said.root)
