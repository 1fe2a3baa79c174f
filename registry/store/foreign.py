"""Another registry's log taken over: its entries under their own origin, beside the own log and never mixed with it.

Who calls has verified the entries against a signed checkpoint; here they are only held against what is here already, and against their own
texts. Rows of statements whose text was erased there do not come along: the leaf is the proof that they were, and all that is known.
"""

from collections.abc import Iterable
from itertools import islice

from sqlalchemy import func, select

from registry.errors import ConflictError, Fault, InputError
from registry.records.log_seal import EntrySignature
from registry.records.statement import Entry
from registry.store.reader import Reader
from registry.store.replaying import Replay, broken
from registry.store.signatures import find_signature_faults
from registry.store.tables import OWN_LOG, entry, log
from registry.store.writer import Writer

_MOST_FAULTS = 20
ForeignEntry = tuple[Entry, bytes | None, EntrySignature | None]
"""An entry with its text and its author's signature, where it has them."""


def import_entries(writer: Writer, origin: str, vkey: str, entries: Iterable[ForeignEntry]) -> int:
    """Take over *entries* of the log *origin* in the transaction of *writer*, and return how many were new.

    Args:
        vkey: the key that its checkpoint was verified with; kept when the log is new here.
        entries: in order, each with its canonical text, None where that was erased, and its author's signature, None where it has none.
            Those that are here already are compared.

    Raises:
        ConflictError: `own-log`: it is this registry's own; `leaf-differs`: an entry that is here has another leaf.
        InputError: `log-broken`: an entry is missing, or does not fit its leaf or what stands before it; `signature-wrong` and the
            like: a signature is not its author's.
    """
    if origin == writer.log_origin:
        raise ConflictError(Fault(code="own-log", where=origin, found="it is this registry's own log"))
    log_id = _find_or_name(writer, origin, vkey)
    replay = Replay(writer.connection, log_id=log_id)
    known = dict(_read_leaves(Reader(writer.connection, limit=replay.size, log_id=log_id)))
    before, expected = replay.size, None
    for place, text, signed in entries:
        if expected is not None and place.seq != expected:
            raise InputError(broken(place.seq, f"entry {expected} is missing before it"))
        expected = place.seq + 1
        if place.seq not in known:
            replay.add(place, text, signed)
        elif known[place.seq] != place.leaf:
            raise ConflictError(_differs(origin, place.seq, here=known[place.seq], there=place.leaf))
    replay.flush()
    if faults := list(islice(find_signature_faults(Reader(writer.connection, limit=replay.size, log_id=log_id)), _MOST_FAULTS)):
        raise InputError(faults)
    return replay.size - before


def find_foreign_leaf(reader: Reader, origin: str, seq: int) -> str | None:
    """Return the leaf that entry *seq* of the log *origin* has here, hexadecimal; None when it is not here."""
    wanted = select(entry.c.leaf).join(log, log.c.id == entry.c.log).where(log.c.origin == origin, entry.c.seq == seq)
    found = reader.one_value(wanted)
    return None if found is None else bytes(found).hex()


def _find_or_name(writer: Writer, origin: str, vkey: str) -> int:
    found = writer.one_value(select(log.c.id).where(log.c.origin == origin))
    if found is not None:
        return int(found)
    last = writer.one_value(select(func.max(log.c.id)))
    number = max(int(last or 0), OWN_LOG) + 1
    writer.name_foreign_log(number, origin, vkey)
    return number


def _read_leaves(reader: Reader) -> Iterable[tuple[int, str]]:
    return ((seq, leaf.hex()) for seq, leaf in enumerate(reader.leaves(), 1))


def _differs(origin: str, seq: int, *, here: str, there: str) -> Fault:
    found = f"here its leaf is {here}, there {there}: {origin} gave out two histories"
    return Fault(code="leaf-differs", where=f"{origin}, entry {seq}", found=found, advice="keep both signed notes: they are evidence")
