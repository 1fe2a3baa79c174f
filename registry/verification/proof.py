"""The proof beside a file: that its publication stands in a log, under a checkpoint that the log signed."""

from dataclasses import dataclass
from datetime import datetime

from registry.codec.canonical import leaf_hash
from registry.codec.published import Published, decode_published
from registry.codec.statements import decode_statement
from registry.errors import Fault, InputError
from registry.records.log_seal import Checkpoint, KeyEvent
from registry.records.statement import Publication, Statement
from registry.seal.note import SignedNote, parse_note
from registry.seal.proof import TlogProof, parse_proof
from registry.seal.tree import is_consistent, root_from_inclusion
from registry.verification.check import Check, Name, no, yes

SUFFIX = ".tlog-proof"
MISSING = f"no proof here: give the file NAME{SUFFIX} beside it, or --proof"
"""What the checks of a proof say where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadProof:
    """A proof as it was read; nothing in it is checked yet."""

    proof: TlogProof
    note: SignedNote
    said: Published
    statement: Statement
    publication: Publication

    @property
    def checkpoint(self) -> Checkpoint:
        """The log at the size that the proof is for."""
        return self.note.checkpoint

    @property
    def entry(self) -> int:
        """Number of the publication's entry."""
        return self.proof.index + 1

    @property
    def at(self) -> datetime:
        """When it was published, by the log's word."""
        return self.statement.at


def read_proof(data: bytes, *, where: str) -> ReadProof:
    """Return the proof in *data*.

    Raises:
        InputError: `bad-proof`, `bad-note`: it is none, it is not in its one form, or not of a publication.
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InputError(_fault(where, f"it is no text in UTF-8: {error.reason}")) from error
    proof = parse_proof(text, where=where)
    said = decode_published(proof.extra, where=where)
    statement = decode_statement(said.statement, where=f"{where}, statement")
    if not isinstance(statement.payload, Publication):
        raise InputError(_fault(where, f"its statement is a {statement.kind.value.replace('_', ' ')}, no publication"))
    note = parse_note(proof.note, where=where)
    return ReadProof(proof=proof, note=note, said=said, statement=statement, publication=statement.payload)


def check_inclusion(read: ReadProof) -> Check:
    """Whether the publication stands in the log at the root of the checkpoint (RFC 6962 section 2.1.1)."""
    checkpoint = read.checkpoint
    root = _find_root(read.said.statement, read.proof.index, checkpoint.size, list(read.proof.path))
    if root != checkpoint.root:
        note = f"entry {read.entry} with its path does not give the root of the checkpoint at {checkpoint.size} entries"
        return no(Name.INCLUSION, note)
    if not read.publication.log_size < read.entry:
        return no(Name.INCLUSION, f"made of {read.publication.log_size} entries, it cannot be entry {read.entry}")
    at = f"{read.at:%Y-%m-%d %H:%M} UTC"
    note = f"the publication in the proof, by {read.statement.actor}, is entry {read.entry} of {at}, "
    note += f"of {checkpoint.size} entries in {checkpoint.origin}"
    return yes(Name.INCLUSION, note)


def check_consistency(read: ReadProof) -> Check:
    """Whether the log that the supplement was made from is the beginning of the checkpoint's (RFC 6962 section 2.1.2)."""
    old, checkpoint = read.said.consistency, read.checkpoint
    if old.size != read.publication.log_size:
        note = f"the proof begins at {old.size} entries, the supplement was made of {read.publication.log_size}"
        return no(Name.CONSISTENCY, note)
    if not _is_consistent(read):
        note = f"the log as of entry {old.size} is not shown to be the beginning of the log at {checkpoint.size} entries"
        return no(Name.CONSISTENCY, note)
    note = f"the log as of entry {old.size}, of which it was made, is the beginning of the log at {checkpoint.size} entries"
    return yes(Name.CONSISTENCY, note)


def find_signer(read: ReadProof) -> KeyEvent | None:
    """Return the key event that the proof brings for the signature of its file, where it is proven under the same checkpoint."""
    signer = read.said.signer
    if signer is None or _find_root(signer.statement, signer.entry - 1, read.checkpoint.size, signer.nodes) != read.checkpoint.root:
        return None
    payload = decode_statement(signer.statement, where=f"entry {signer.entry}").payload
    return payload if isinstance(payload, KeyEvent) else None


def _is_consistent(read: ReadProof) -> bool:
    old, checkpoint = read.said.consistency, read.checkpoint
    try:
        roots = bytes.fromhex(old.root), bytes.fromhex(checkpoint.root)
        return is_consistent(old.size, roots[0], checkpoint.size, roots[1], old.nodes)
    except ValueError:
        return False


def _find_root(statement: str, index: int, size: int, path: list[bytes]) -> str | None:
    """The root that a statement gives at a place of a log; None where the path cannot be one."""
    try:
        return root_from_inclusion(bytes.fromhex(leaf_hash(statement.encode())), index, size, path).hex()
    except ValueError:
        return None


def _fault(where: str, found: str) -> Fault:
    return Fault(code="bad-proof", where=where, found=found, advice="get the proof again, byte for byte, from who gave it out")
