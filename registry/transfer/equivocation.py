"""Two histories signed by one log: found, written down so that a stranger can check it, and checked.

Evidence needs two validly signed checkpoints of one origin. Of the same size, they contradict each other alone. Of different sizes, each
comes with the root that its log had at one common size, and the consistency proof (RFC 6962 section 2.1.2) from that root to its own; two
different roots at one size are two histories. What nobody signed, or not validly, is no evidence.
"""

from dataclasses import dataclass

from registry.codec.canonical import canonical_bytes
from registry.codec.documents import from_json, to_document
from registry.errors import CaveatError, Fault, InputError
from registry.records.log_seal import Equivocation
from registry.records.record import Record
from registry.seal import tree
from registry.seal.note import SignedNote, parse_note, parse_vkey, verify_note
from registry.store.seen import list_equivocations
from registry.store.view import View
from registry.store.writer import Writer
from registry.transfer.trust import shorten_vkey

_SCHEMA = "caveat/equivocation-proof/1"
_WHERE = "equivocation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side(Record):
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
    first: Side
    second: Side


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
    said = Equivocation(origin=origin, vkey=vkey, first=notes[0], second=notes[1], finding=finding, proof=written)
    verify_equivocation(said)
    return said


def build_proof(size: int, first: Side, second: Side) -> ContradictionProof:
    """Return the proof over two sides at the common *size*."""
    return ContradictionProof(schema=_SCHEMA, size=size, first=first, second=second)


def verify_equivocation(said: Equivocation) -> None:
    """Check that *said* is evidence: that both notes are signed with the keys it names and cannot be of one history.

    Whether those are the log's keys no statement can prove of itself: compare them with what its authority publishes.

    Raises:
        InputError: `not-evidence`, with what does not hold.
    """
    try:
        first, second = (parse_note(text, where=_WHERE) for text in (said.first, said.second))
        proof = None if said.proof is None else from_json(ContradictionProof, said.proof, where=f"{_WHERE}, proof")
        problem = _find_problem(said, first, second, proof)
    except CaveatError as error:
        problem = error.faults[0].found
    except ValueError as error:
        problem = str(error)
    if problem:
        raise InputError(Fault(code="not-evidence", where=f"{_WHERE} of {said.origin}", found=problem))


def find_equivocation(view: View, origin: str) -> tuple[Equivocation, ...]:
    """Return the evidence recorded here that the log *origin* signed two histories, oldest first; empty where there is none."""
    return tuple(one.payload for one in list_equivocations(view, origin))


def record_equivocation(writer: Writer, said: Equivocation) -> bool:
    """Record the evidence *said*, and return whether it is new: the same two notes are recorded once.

    Raises:
        InputError: it is no evidence.
        ConflictError: it is of this registry's own log.
    """
    verify_equivocation(said)
    if any({one.first, one.second} == {said.first, said.second} for one in find_equivocation(writer, said.origin)):
        return False
    writer.append(said)
    return True


def _find_problem(said: Equivocation, first: SignedNote, second: SignedNote, proof: ContradictionProof | None) -> str | None:
    if {first.checkpoint.origin, second.checkpoint.origin} != {said.origin}:
        return f"the notes are of {first.checkpoint.origin} and {second.checkpoint.origin}"
    vkeys = (said.vkey, said.vkey) if proof is None else (proof.first.vkey, proof.second.vkey)
    if vkeys[1] != said.vkey:
        return f"the proof has the second note signed with {shorten_vkey(vkeys[1])}, the statement with {shorten_vkey(said.vkey)}"
    for note, vkey in zip((first, second), vkeys, strict=True):
        key = parse_vkey(vkey, where=_WHERE)
        if key.name != said.origin:
            return f"{shorten_vkey(vkey)} is no key of this log: anybody can sign in a name of their own"
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
    if proof.first.root == proof.second.root:
        return "the two histories have one root at the common size"
    broken = [note for note, side in ((first, proof.first), (second, proof.second)) if not _leads_to(proof.size, side, note)]
    return f"the proof does not lead from {proof.size} entries to the note of {broken[0].checkpoint.size}" if broken else None


def _leads_to(size: int, side: Side, note: SignedNote) -> bool:
    path = [bytes.fromhex(one) for one in side.path]
    return tree.is_consistent(size, bytes.fromhex(side.root), note.checkpoint.size, bytes.fromhex(note.checkpoint.root), path)
