"""The checks of what stands alone: a proof, a signed checkpoint, a consistency proof."""

from registry.errors import CaveatError, Fault, InputError
from registry.records.seal import Checkpoint
from registry.seal.note import parse_note
from registry.store.ledger import Ledger
from registry.store.seals import find_root
from registry.verification import proof as proofs
from registry.verification.check import Check, Name, no, not_checked, yes
from registry.verification.means import Means
from registry.verification.signed import check_checkpoint, check_witnesses

_LARGEST_BYTES = 17_000_000


def check_proof(data: bytes, means: Means, *, where: str) -> tuple[Check, ...]:
    """Return the checks of a proof without its file; raises InputError where it is none."""
    read = proofs.read_proof(_limit(data, where), where=where)
    file = f"{read.publication.subject}.{read.publication.format.value}, sha256 {read.publication.sha256}"
    return (
        not_checked(Name.PUBLISHED, f"it is of {file}; verify that file, with this beside it"),
        proofs.check_inclusion(read),
        check_checkpoint(read.note, means.trust, origin=means.origin, at=read.at),
        check_witnesses(read.note, means.trust),
        proofs.check_consistency(read),
    )


def check_note(data: bytes, means: Means, *, where: str) -> tuple[Check, ...]:
    """Return the checks of a signed checkpoint; raises InputError where it is none."""
    note = parse_note(_decode(_limit(data, where), where), where=where)
    return (
        check_checkpoint(note, means.trust, origin=means.origin, at=None),
        check_witnesses(note, means.trust),
        check_root(note.checkpoint, means.ledger),
    )


def check_root(said: Checkpoint, ledger: Ledger | None) -> Check:
    """Return whether the log of the registry here, its own or one that it took over, has this root at this size."""
    if ledger is None:
        return not_checked(Name.CONSISTENCY, "no registry here to hold it against; give one with --registry")
    if said.origin not in {one.origin for one in ledger.list_logs()}:
        return not_checked(Name.CONSISTENCY, f"the registry here has no log {said.origin}")
    with ledger.view() as own:
        log = None if own.log_origin == said.origin else said.origin
    with ledger.view(log=log) as view:
        if view.log_size < said.size:
            note = f"it is of {said.size} entries, the registry here has {view.log_size} of this log"
            return no(Name.CONSISTENCY, f"{note}: it was cut") if log is None else not_checked(Name.CONSISTENCY, note)
        try:
            root = find_root(view, said.size)
        except CaveatError as error:
            return no(Name.CONSISTENCY, f"the registry here does not stand as it was recorded: {error.faults[0].found}")
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
