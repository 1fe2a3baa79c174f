"""What seals a log: tree roots, proofs and signed checkpoints; and what is recorded of other logs."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Table, select

from registry.codec.statement_encoding import decode_statement, encode_statement
from registry.errors import AlteredError, CaveatError, ConflictError, Fault, InputError, NotFoundError
from registry.records.dossier import Inclusion, Recorded
from registry.records.log_seal import Checkpoint, EntryOpening, Equivocation, KeyEvent, KeyPurpose, LogImport, TimeAnchor, Witnessing
from registry.records.record import Record
from registry.seal import merkle_tree as tree
from registry.seal.signed_notes import parse_note
from registry.store.database_tables import body, checkpoint, cosignature
from registry.store.kinds.log_kinds import equivocation, log_import, time_anchor, witnessing
from registry.store.log_reader import CHUNK, LogReader, NodeFinder, find_log, from_seconds, list_key_events, list_signatures, to_seconds
from registry.store.log_writer import Writer

# What seals a log: the roots of its tree, the proofs derived from it, and the signed checkpoints.
#
# The tree is that of RFC 6962, section 2.1, over the leaves of the entries; entry seq is leaf seq −
# 1. Stored subtree roots make the cost of a proof independent of the size of the log. If they are
# missing they are computed from the leaves, with the same result.

_EVERYTHING = 2**53


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCheckpoint(Record):
    """A checkpoint of the log as it was signed, and as others cosigned it."""

    checkpoint: Checkpoint
    note: str
    """The signed note of C2SP tlog-checkpoint, with the cosignature lines that came since."""
    at: datetime
    """When it was recorded, UTC."""


def find_root(reader: LogReader, size: int | None = None) -> str:
    """Return the root of the tree over the first *size* entries (all that are seen), hexadecimal.

    Raises:
        NotFoundError: the log has fewer entries.
    """
    wanted = reader.log_size if size is None else size
    _refuse_beyond(reader, wanted)
    root = partial(tree.root_at, wanted, NodeFinder(reader).find)
    # Every list of a server states that of the present state.
    return (reader.once("root", root) if wanted == reader.log_size else root()).hex()


def prove(reader: LogReader, entries: Collection[int], *, openings: Collection[int] = ()) -> Inclusion:
    """Return the proof that *entries* are in the log as it is seen, and what opens the leaves of those in *openings*.

    Raises:
        AlteredError: an entry is gone.
        NotFoundError: the log has no such entry, or the text of one of *openings* was erased.
    """
    size = reader.log_size
    for seq in (*entries, *openings):
        _refuse_no_entry(reader, seq)
    # The key events of the signers are proven too. Without them a reader of a single file could not
    # verify the author signatures.
    keys = _list_keys_of(reader, entries)
    named = {key.entry.seq for key in keys}
    # One proof for all entries: shared nodes are stored once (0.5 to 7 ms per claim, 17 kB for a
    # card with 500 claims).
    proven = {*entries, *named}
    finder = NodeFinder(reader)
    nodes = tree.proof_nodes({seq - 1 for seq in proven}, size, finder.find)
    opened = tuple(_open(reader, sorted({*openings, *named})))
    signed = list_signatures(reader, proven)
    return Inclusion(size=size, root=tree.root_at(size, finder.find).hex(), nodes=nodes, openings=opened, signatures=signed, keys=keys)


def _list_keys_of(reader: LogReader, entries: Collection[int]) -> tuple[Recorded[KeyEvent], ...]:
    """Return what the log says of the statement keys of those who signed one of *entries*: their keys alone can verify it."""
    signers = {signature.key for signature in list_signatures(reader, entries)}
    if not signers:
        return ()
    # All events of these authorities, not just the matching keys: a later revocation must not be
    # left out.
    events = [key_event for key_event in list_key_events(reader) if key_event.payload.purpose is KeyPurpose.STATEMENT]
    authorities = {event.entry.actor for event in events if event.payload.key in signers}
    return tuple(event for event in events if event.entry.actor in authorities)


def inclusion_path(reader: LogReader, seq: int, size: int) -> list[bytes]:
    """Return the path that leads from entry *seq* to the root of the first *size* entries (RFC 6962 section 2.1.1), leaf side first.

    Raises:
        NotFoundError: there is no such entry among the first *size*, or the log has fewer.
    """
    _refuse_beyond(reader, size)
    if not 1 <= seq <= size:
        raise NotFoundError(Fault("entry-not-found", f"entry {seq}", f"it is not among the first {size} entries"))
    return tree.inclusion_path(seq - 1, size, NodeFinder(reader).find)


def consistency_path(reader: LogReader, old: int, new: int) -> list[bytes]:
    """Return the nodes that show that the first *new* entries begin with the first *old* (RFC 6962 section 2.1.2).

    Raises:
        NotFoundError: the log has fewer entries, or *old* is greater than *new*.
    """
    _refuse_beyond(reader, new)
    if not 0 <= old <= new:
        raise NotFoundError(Fault("entry-not-found", f"size {old}", f"is not a size of the log up to {new}"))
    return tree.consistency_path(old, new, NodeFinder(reader).find)


def add_checkpoint(writer: Writer, note_text: str, new_checkpoint: Checkpoint) -> None:
    """Keep the signed note *note_text*, which says *new_checkpoint*; the same note is not kept twice.

    The root is computed from the leaves themselves: what is signed rests on no kept subtree.

    Raises:
        ConflictError: it is of another log, of more entries than there are, of another root, or another note of this size is kept.
        InputError: an empty log has no checkpoint that could be kept.
    """
    where = f"checkpoint of {new_checkpoint.origin} at {new_checkpoint.size}"
    if new_checkpoint.size == 0:
        raise InputError(Fault("empty-registry", where, "nothing is recorded that it could seal"))
    if new_checkpoint.origin != writer.log_origin:
        raise ConflictError(Fault("wrong-log", where, f"this log is {writer.log_origin}"))
    if new_checkpoint.size > writer.log_size:
        raise ConflictError(Fault("entry-not-found", where, f"the log has {writer.log_size} entries"))
    # From the leaves, not from stored subtrees. An altered subtree row must not be able to enter a
    # signature.
    if (root := tree.root_of(writer.leaves(1, new_checkpoint.size + 1)).hex()) != new_checkpoint.root:
        raise ConflictError(Fault("history-differs", where, f"it says the root is {new_checkpoint.root}, the log gives {root}"))
    there = find_checkpoint(writer, new_checkpoint.size)
    if there is not None:
        # A second note with other content at the same size could be the beginning of a second
        # history.
        if not there.note.startswith(note_text.rstrip("\n")):
            raise ConflictError(Fault("already-recorded", where, "another note of this size is kept"))
        return
    writer.put_seal(checkpoint, (bytes.fromhex(new_checkpoint.root), note_text, to_seconds(writer.moment)), seq=new_checkpoint.size)


def add_cosignature(writer: Writer, size: int, line: str, at: datetime) -> None:
    """Keep an added signature line to the checkpoint of *size* entries, verified by who calls; the same is not kept twice.

    Args:
        line: as C2SP signed-note has it, without its line end.
        at: when it was cosigned.

    Raises:
        InputError: it is no signature line.
        NotFoundError: no checkpoint of this size is kept.
    """
    plain = line.removesuffix("\n")
    # One valid form only (C2SP signed-note): a dash, a name and base64. Whatever is not checked
    # here would end up in published files.
    if not plain.startswith("— ") or not plain.isprintable() or len(plain.split(" ")) != 3:
        raise InputError(Fault("not-a-signature", f"checkpoint at {size}", "a signature line reads `— NAME BASE64`"))
    there = find_checkpoint(writer, size)
    if there is None:
        raise _no_checkpoint(writer, size)
    if plain not in there.note.split("\n"):
        writer.put_seal(cosignature, (plain, to_seconds(at)), seq=size)


def list_checkpoints(reader: LogReader, *, beyond: bool = False) -> tuple[StoredCheckpoint, ...]:
    """Return the checkpoints of the log as it is seen, by size.

    Args:
        beyond: those of more entries than are seen too. In the log as it is now there is none, unless its end was cut off.
    """
    return tuple(_read_checkpoints(reader, beyond=beyond))


def count_cosignatures(checkpoint: StoredCheckpoint) -> int:
    """Return how many others cosigned *checkpoint*: lines of others are kept only where their signature was verified."""
    note = parse_note(checkpoint.note, where="recorded here")
    return len({line.name for line in note.lines} - {checkpoint.checkpoint.origin})


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """The log of another registry, as far as it was taken over."""

    reader: LogReader
    note: str
    """Its signed checkpoint, with our cosignature where there is one."""


def find_mirror(reader: LogReader, origin: str) -> Mirror | None:
    """Return the log *origin* as far as *reader* sees that it was taken over; None where nothing was."""
    imports = list_imports(reader, origin)
    if not imports:
        return None
    last = max((log_import.payload for log_import in imports), key=lambda log_import: log_import.size)
    number = reader.ask(lambda connection: find_log(connection, origin))
    mirrored = reader.ask(lambda connection: LogReader(connection, limit=last.size, log_id=number))
    cosigned = [witnessing.payload for witnessing in list_witnessings(reader, origin)]
    note = next((known.note for known in reversed(cosigned) if (known.size, known.root) == (last.size, last.root)), last.checkpoint)
    return Mirror(reader=mirrored, note=note)


def refuse_other_history(reader: LogReader) -> None:
    """Refuse to go on from a log that is not the one that was sealed: whoever signed it would sign a second history himself.

    Raises:
        AlteredError: a checkpoint is kept of more entries than there are now, or one that the leaves of the entries do not give.
    """
    # The complete log and not the view: a cut-off is only visible against checkpoints beyond its
    # end.
    whole = reader.ask(lambda connection: LogReader(connection, limit=_EVERYTHING, log_id=reader.log_id))
    kept = list_checkpoints(whole)  # before the leaves: what others write and seal meanwhile is longer, not cut off
    if not kept:
        return
    leaves = list(whole.leaves(1, whole.last_seq() + 1))
    levels = tree.list_levels(leaves)
    # The largest checkpoint first. It is the one that a truncation affects.
    for stored_checkpoint in reversed(kept):
        size = stored_checkpoint.checkpoint.size
        if size > len(leaves):
            raise _other_history(stored_checkpoint, describe_truncated(size, len(leaves)))
        root = tree.root_at(size, lambda level, index: levels[level][index]).hex()
        if _find_signed_root(stored_checkpoint) != root:
            raise _other_history(stored_checkpoint, f"the entries give the root {root} now, which is not the one that was signed")


def describe_truncated(size: int, entries: int) -> str:
    """Say that a log of *entries* was once one of *size*."""
    return f"the log had {size} entries then, now it ends with {entries}: it was cut off, or put back to an older state"


def find_checkpoint(reader: LogReader, size: int) -> StoredCheckpoint | None:
    """Return the checkpoint of the first *size* entries; None when there is none."""
    return next(_read_checkpoints(reader, checkpoint.c.seq == size), None)


def _find_signed_root(kept: StoredCheckpoint) -> str | None:
    """Return the root that the note names; None where it is no note of this checkpoint."""
    try:
        signed_checkpoint = parse_note(kept.note, where="kept checkpoint").checkpoint
    except CaveatError:
        return None
    return signed_checkpoint.root if signed_checkpoint == kept.checkpoint else None


def _other_history(kept: StoredCheckpoint, text: str) -> AlteredError:
    advice = "sign and publish nothing; caveat admin log check says since when; restore the registry from a backup"
    return AlteredError(Fault("history-differs", f"checkpoint at {kept.checkpoint.size}", text, advice=advice))


def _read_checkpoints(reader: LogReader, *conditions: Any, beyond: bool = False) -> Iterator[StoredCheckpoint]:
    def seen(table: Table) -> ColumnElement[bool]:
        return table.c.log == reader.log_id if beyond else reader.visible(table)

    wanted = select(checkpoint).where(seen(checkpoint), *conditions).order_by(checkpoint.c.seq)
    lines: dict[int, list[str]] = {}
    added = select(cosignature.c.seq, cosignature.c.line).where(seen(cosignature))
    for seq, line in reader.rows(added.order_by(cosignature.c.seq, cosignature.c.at, cosignature.c.line)):
        lines.setdefault(seq, []).append(line)
    origin = reader.log_origin
    for row in reader.rows(wanted):
        row_checkpoint = Checkpoint(origin=origin, size=row.seq, root=bytes(row.root).hex())
        note = row.note + "".join(f"{line}\n" for line in lines.get(row.seq, ()))
        yield StoredCheckpoint(checkpoint=row_checkpoint, note=note, at=from_seconds(row.at))


def _no_checkpoint(reader: LogReader, size: int) -> NotFoundError:
    kept = ", ".join(str(row[0]) for row in reader.rows(select(checkpoint.c.seq).where(reader.visible(checkpoint)).limit(20)))
    problem = f"checkpoints are kept of {kept} entries" if kept else "no checkpoint is kept"
    return NotFoundError(Fault("checkpoint-not-found", f"checkpoint at {size}", problem))


def _open(reader: LogReader, numbers: Sequence[int]) -> Iterator[EntryOpening]:
    """Yield what opens each of the entries *numbers*, which ascend."""
    reader.recorded(numbers)  # raises where one was erased or altered
    for start in range(0, len(numbers), CHUNK):
        wanted = select(body.c.seq, body.c.json).where(body.c.log == reader.log_id, body.c.seq.in_(numbers[start : start + CHUNK]))
        for seq, text in reader.rows(wanted.order_by(body.c.seq)):
            statement = decode_statement(text, where=f"entry {seq}")
            yield EntryOpening(entry=seq, salt=statement.salt, text=None if encode_statement(statement) == text.encode() else text)


def _refuse_beyond(reader: LogReader, size: int) -> None:
    if not 0 <= size <= reader.log_size:
        raise NotFoundError(Fault("entry-not-found", f"size {size}", f"the log has {reader.log_size} entries"))


def _refuse_no_entry(reader: LogReader, seq: int) -> None:
    if not 1 <= seq <= reader.log_size:
        raise NotFoundError(Fault("entry-not-found", f"entry {seq}", f"the log has {reader.log_size} entries"))


# What is recorded here of other registries' logs, by origin.


def list_imports(reader: LogReader, origin: str | None = None) -> tuple[Recorded[LogImport], ...]:
    """Return what was taken over from the log *origin*, or from any, in log order."""
    return _list(reader, log_import, origin)


def list_witnessings(reader: LogReader, origin: str | None = None) -> tuple[Recorded[Witnessing], ...]:
    """Return which checkpoints of the log *origin*, or of any, were cosigned, in log order."""
    return _list(reader, witnessing, origin)


def list_equivocations(reader: LogReader, origin: str | None = None) -> tuple[Recorded[Equivocation], ...]:
    """Return the evidence that the log *origin*, or any, signed two histories, in log order."""
    return _list(reader, equivocation, origin)


def list_time_anchors(reader: LogReader) -> tuple[Recorded[TimeAnchor], ...]:
    """Return the time stamps over checkpoints of the log as it is seen, in log order."""
    return reader.recorded_by(select(time_anchor.c.seq).where(reader.visible(time_anchor)))


def _list(reader: LogReader, table: Table, origin: str | None) -> tuple[Recorded[Any], ...]:
    wanted = select(table.c.seq).where(reader.visible(table))
    return reader.recorded_by(wanted if origin is None else wanted.where(table.c.origin == origin))
