"""The checks of what stands alone: a proof, a signed checkpoint, a consistency proof."""

from typing import TYPE_CHECKING

from registry.codec.canonical import leaf_hash
from registry.codec.statements import decode_statement
from registry.errors import Fault, InputError
from registry.records.log_seal import Checkpoint
from registry.records.statement import Statement
from registry.seal.consistency import ConsistencyProof, parse_consistency
from registry.seal.note import parse_note
from registry.seal.proof import TlogProof, parse_proof
from registry.seal.tree import is_consistent, root_from_inclusion, root_of
from registry.verification import proof as proofs
from registry.verification.check import Answer, Check, Name, no, not_checked, yes
from registry.verification.means import Means, find_log
from registry.verification.signed import check_checkpoint, check_witnesses

if TYPE_CHECKING:
    from registry.store.ledger import Ledger

_LARGEST_BYTES = 17_000_000
_PUBLISHED = b'{"consistency":'
"""Canonical JSON sorts its keys: what the proof of a publication begins with."""


def check_proof(data: bytes, means: Means, *, where: str) -> tuple[Check, ...]:
    """Return the checks of a proof without its file; raises InputError where it is none."""
    text = _decode(_limit(data, where), where)
    proof = parse_proof(text, where=where)
    if proof.extra is None or not proof.extra.startswith(_PUBLISHED):
        return _check_entry(proof, means, where=where)
    read = proofs.read_proof(data, where=where)
    file = f"{read.publication.subject}.{read.publication.format.value}, sha256 {read.publication.sha256}"
    return (
        not_checked(Name.PUBLISHED, f"it is of {file}; verify that file, with this beside it"),
        proofs.check_inclusion(read),
        check_checkpoint(read.note, means.trust, origin=means.origin, at=read.at),
        check_witnesses(read.note, means.trust),
        proofs.check_consistency(read),
    )


def _check_entry(proof: TlogProof, means: Means, *, where: str) -> tuple[Check, ...]:
    """The checks of what `caveat log prove ENTRY` writes: its extra data is the statement itself."""
    note = parse_note(proof.note, where=where)
    statement = None if proof.extra is None else decode_statement(proof.extra, where=f"{where}, extra")
    return (
        _check_statement(proof, statement, note.checkpoint),
        check_checkpoint(note, means.trust, origin=means.origin, at=None if statement is None else statement.at),
        check_witnesses(note, means.trust),
        check_root(note.checkpoint, means.ledger),
    )


def _check_statement(proof: TlogProof, statement: Statement | None, said: Checkpoint) -> Check:
    if statement is None or proof.extra is None:
        return not_checked(Name.INCLUSION, f"it does not say what entry {proof.index + 1} is; who has the statement can check it")
    try:
        root = root_from_inclusion(bytes.fromhex(leaf_hash(proof.extra)), proof.index, said.size, list(proof.path)).hex()
    except ValueError:
        root = ""
    what = f"{statement.kind.value.replace('_', ' ')} by {statement.actor} of {statement.at:%Y-%m-%d %H:%M} UTC"
    if root != said.root:
        return no(Name.INCLUSION, f"the {what} with its path does not give the root of the checkpoint at {said.size} entries")
    return yes(Name.INCLUSION, f"entry {proof.index + 1} of {said.origin} is the {what} that stands in the proof")


def check_note(data: bytes, means: Means, *, proof: bytes | None, where: str) -> tuple[Check, ...]:
    """Return the checks of a signed checkpoint; raises InputError where it is none.

    Args:
        proof: a consistency proof that begins with it; None where there is none.
    """
    note = parse_note(_decode(_limit(data, where), where), where=where)
    leads = None if proof is None else parse_consistency(_decode(_limit(proof, where), where), where=f"proof of {where}")
    return (
        check_checkpoint(note, means.trust, origin=means.origin, at=None),
        check_witnesses(note, means.trust),
        check_root(note.checkpoint, means.ledger) if leads is None else _follow(note.checkpoint, leads, means),
    )


def check_consistency(data: bytes, means: Means, *, where: str) -> tuple[Check, ...]:
    """Return the checks of a consistency proof, which has no root to begin with: the registry here may know it.

    Raises:
        InputError: it is none.
    """
    leads = parse_consistency(_decode(_limit(data, where), where), where=where)
    note = parse_note(leads.note, where=where)
    return (
        check_checkpoint(note, means.trust, origin=means.origin, at=None),
        check_witnesses(note, means.trust),
        _begin(note.checkpoint, leads, means),
    )


def _begin(said: Checkpoint, leads: ConsistencyProof, means: Means) -> Check:
    place = None if means.ledger is None else find_log(means.ledger, said.origin)
    if means.ledger is None or place is None:
        note = f"it leads on from {leads.old} entries: give the checkpoint that you have of these, and this as --proof"
        return not_checked(Name.CONSISTENCY, note)
    from registry.store.seals import find_root  # noqa: PLC0415

    with means.ledger.view(log=place.log) as view:
        if view.log_size < leads.old:
            return not_checked(Name.CONSISTENCY, f"it leads on from {leads.old} entries, the registry here has {view.log_size} of this log")
        root = find_root(view, leads.old)
    return _follow(Checkpoint(origin=said.origin, size=leads.old, root=root), leads, means)


def _follow(old: Checkpoint, leads: ConsistencyProof, means: Means) -> Check:
    """Whether the checkpoint that a proof leads to is signed by a known key, and goes on from *old*."""
    note = parse_note(leads.note, where="proof")
    new = note.checkpoint
    if (old.origin, old.size) != (new.origin, leads.old):
        told = f"the proof leads on from {leads.old} entries of {new.origin}, the checkpoint is of {old.size} of {old.origin}"
        return no(Name.CONSISTENCY, told)
    if not is_consistent(old.size, bytes.fromhex(old.root), new.size, bytes.fromhex(new.root), list(leads.path)):
        return no(Name.CONSISTENCY, f"the log at {new.size} entries does not go on from the one at {old.size}: two histories of one log")
    signed = check_checkpoint(note, means.trust, origin=means.origin, at=None)
    told = f"the log at {new.size} entries goes on from the one at {old.size}"
    if signed.answer is not Answer.YES:
        return not_checked(Name.CONSISTENCY, f"{told}, but for the checkpoint that it leads to: {signed.note}")
    return yes(Name.CONSISTENCY, told)


def check_root(said: Checkpoint, ledger: "Ledger | None") -> Check:
    """Return whether the log of the registry here, its own or one that it took over, has this root at this size."""
    if ledger is None:
        return not_checked(Name.CONSISTENCY, "no registry here to hold it against; give one with --registry")
    place = find_log(ledger, said.origin)
    if place is None:
        return not_checked(Name.CONSISTENCY, f"the registry here has no log {said.origin}")
    with ledger.view(log=place.log) as view:
        if view.log_size < said.size:
            note = f"it is of {said.size} entries, the registry here has {view.log_size} of this log"
            return no(Name.CONSISTENCY, f"{note}: it was cut") if place.log is None else not_checked(Name.CONSISTENCY, note)
        leaves = list(view.leaves(1, said.size + 1))
    root = root_of(leaves).hex()  # from the leaves themselves: the subtrees that are kept of them may be those of before they were changed
    if root != said.root:
        note = f"the registry here has the root {root} at {said.size} entries, this one {said.root}: two histories of one log"
        return no(Name.CONSISTENCY, note)
    return yes(Name.CONSISTENCY, f"the registry here has the same root at {said.size} entries")


def _limit(data: bytes, where: str) -> bytes:
    if len(data) > _LARGEST_BYTES:
        raise InputError(Fault(code="file-too-large", where=where, found=f"it has {len(data):,} bytes, which no proof has"))
    return data


def _decode(data: bytes, where: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(Fault(code="bad-note", where=where, found=f"it is no text in UTF-8: {error.reason}")) from error
