"""The audit trail: what was said, by whom, when and of what, with what was erased in its place."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, select

from registry.records.dossier import Recorded
from registry.records.log_seal import Erasure
from registry.records.record import Identifier
from registry.records.statement import Entry, Payload, StatementKind
from registry.store.dossiers import find_history_entries
from registry.store.reader import CHUNK, Reader
from registry.store.seal_tables import erasure
from registry.store.tables import body, entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One entry as the log still has it."""

    entry: Entry
    payload: Payload | None
    """None where its text was erased."""
    erased_by: Recorded[Erasure] | None = None
    """The entry that says why its text is gone, whenever it was said; None while it is here, and where it is gone without a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which entries are asked for; all conditions hold."""

    kinds: Collection[StatementKind] = ()
    """Empty for all."""
    actors: Collection[str] = ()
    """Authority codes; empty for all."""
    about: Identifier | None = None
    """Only statements that name it, in any revision, or belong to it as those of an audit belong to its claim."""
    start: int = 1
    stop: int | None = None
    """The last entry; None for the end."""
    last: int | None = None
    """Only so many, the latest; None for all."""


def list_trail(reader: Reader, wanted: Wanted) -> list[Trace]:
    """Return the entries that are *wanted*, in log order.

    Raises:
        AlteredError: one of them is not what was recorded.
    """
    numbers = _find_entries(reader, wanted)
    traces: list[Trace] = []
    for start in range(0, len(numbers), CHUNK):
        traces += _read(reader, numbers[start : start + CHUNK])
    return traces


def _find_entries(reader: Reader, wanted: Wanted) -> list[int]:
    conditions: list[ColumnElement[bool]] = [reader.visible(entry), entry.c.seq >= wanted.start]
    if wanted.stop is not None:
        conditions.append(entry.c.seq <= wanted.stop)
    if wanted.kinds:
        conditions.append(entry.c.kind.in_([one.value for one in wanted.kinds]))
    if wanted.actors:
        conditions.append(entry.c.actor.in_(sorted(wanted.actors)))
    found = [row[0] for row in reader.rows(select(entry.c.seq).where(*conditions).order_by(entry.c.seq))]
    if wanted.about is not None:
        named = _find_named(reader, wanted.about)
        found = [seq for seq in found if seq in named]
    return found if wanted.last is None else found[-wanted.last :]


def _find_named(reader: Reader, name: Identifier) -> set[int]:
    """A check character ends every identifier, so none is the beginning of another. An erased statement is found by its rows."""
    texts = select(body.c.seq).where(reader.visible(body), body.c.json.contains(name.bare, autoescape=True))
    return {row[0] for row in reader.rows(texts)} | set(find_history_entries(reader, name))


def _read(reader: Reader, numbers: list[int]) -> Iterator[Trace]:
    there = {row[0] for row in reader.rows(select(body.c.seq).where(body.c.log == reader.log_id, body.c.seq.in_(numbers)))}
    recorded = {one.entry.seq: one for one in reader.recorded(there)}
    gone = [seq for seq in numbers if seq not in there]
    said_gone = select(erasure.c.seq).where(erasure.c.log == reader.log_id, erasure.c.erased.in_(gone))
    said = {one.payload.erased: one for one in reader.recorded_by(said_gone)}
    for seq in numbers:
        if seq in recorded:
            yield Trace(entry=recorded[seq].entry, payload=recorded[seq].payload)
        elif (place := reader.find_entry(seq)) is not None:
            yield Trace(entry=place, payload=None, erased_by=said.get(seq))
