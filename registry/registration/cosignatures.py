"""What witnesses add to a checkpoint of the own log: their lines are kept where their keys are known and the signatures hold."""

from collections.abc import Collection
from dataclasses import dataclass

from registry.errors import ConflictError, Fault, InputError
from registry.records.record import Record
from registry.records.seal import Checkpoint
from registry.seal.note import SignatureLine, SignedNote, VerifierKey, parse_note, parse_vkey, verify_note
from registry.store.seals import StoredCheckpoint, add_cosignature, find_checkpoint
from registry.store.seen import list_imports, list_witnessings
from registry.store.view import View
from registry.store.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut(Record):
    """A signature line that was not kept."""

    name: str
    """Whose it says it is."""
    key: str
    """Identifier of its key, 8 hexadecimal digits."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attached(Record):
    """What became of the lines of a note that came back."""

    checkpoint: Checkpoint
    kept: tuple[str, ...]
    """Names of those whose cosignatures are kept, also of those that were kept before."""
    left_out: tuple[LeftOut, ...]


def list_witness_keys(view: View) -> tuple[VerifierKey, ...]:
    """Return the keys of other registries that are recorded here, as they cosign; each was checked by whoever recorded it."""
    said = [*(one.payload.vkey for one in list_imports(view)), *(one.payload.vkey for one in list_witnessings(view))]
    return tuple(parse_vkey(vkey, where="recorded here").as_cosigner() for vkey in dict.fromkeys(said))


def attach_cosignatures(writer: Writer, text: str, trusted: Collection[VerifierKey], *, where: str) -> Attached:
    """Keep the cosignatures of the signed note *text* that verify under keys of *trusted*, and return what became of each line.

    A line whose key is not known here is left out: nobody could say later whose word it is.

    Args:
        where: what the note is called, for messages.

    Raises:
        InputError: `bad-note`; `signature-not-valid`, a line of a known key does not verify: nothing is kept.
        ConflictError: `other-log`; `checkpoint-not-found`, none of its size is kept here; `root-differs`, it is not the one that is kept.
    """
    note = parse_note(text, where=where)
    there = _find_kept(writer, note, where)
    known = {(key.name, key.key_id): key for key in trusted if key.is_cosigner and key.name != note.checkpoint.origin}
    checked = dict(zip([line for line in note.lines if (line.name, line.key_id) in known], verify_note(note, known.values()), strict=True))
    broken = [line.name for line, result in checked.items() if not result.is_valid]
    if broken:
        found = f"the signature of {', '.join(broken)} does not verify: the note was altered, or is not theirs"
        raise InputError(Fault(code="signature-not-valid", where=where, found=found, advice="get the note again, byte for byte"))
    held = {(line.name, line.key_id) for line in parse_note(there.note, where="recorded here").lines}
    kept, left_out = [], []
    for line, row in zip(note.lines, text.partition("\n\n")[2].splitlines(), strict=True):
        result = checked.get(line)
        if result is not None and result.at is not None:
            if (line.name, line.key_id) not in held:  # one of each key: else a witness could fill the note until nobody reads it
                add_cosignature(writer, note.checkpoint.size, row, result.at)
                held.add((line.name, line.key_id))
            kept.append(line.name)
        elif line.name != note.checkpoint.origin:
            left_out.append(_leave_out(line, has_key=result is not None))
    return Attached(checkpoint=note.checkpoint, kept=tuple(dict.fromkeys(kept)), left_out=tuple(left_out))


def _leave_out(line: SignatureLine, *, has_key: bool) -> LeftOut:
    why = "it says no time" if has_key else "its key is not known here; give it with --trust"
    return LeftOut(name=line.name, key=line.key_id.hex(), why=why)


def _find_kept(writer: Writer, note: SignedNote, where: str) -> StoredCheckpoint:
    """Return the checkpoint that is kept here; nothing is kept of a note that does not say the same, word for word."""
    said = note.checkpoint
    if said.origin != writer.log_origin:
        raise ConflictError(Fault(code="other-log", where=where, found=f"it is of {said.origin}, this log is {writer.log_origin}"))
    there = find_checkpoint(writer, said.size)
    if there is None:
        found = f"no checkpoint of {said.size} entries is kept here"
        raise ConflictError(Fault(code="checkpoint-not-found", where=where, found=found, advice="caveat log checkpoint makes one"))
    if there.checkpoint.root != said.root:
        found = f"it has the root {said.root}, the checkpoint kept here {there.checkpoint.root}"
        raise ConflictError(Fault(code="root-differs", where=where, found=found, advice="keep it: two histories of one log were signed"))
    return there
