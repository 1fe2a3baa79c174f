"""Other registries' logs beside the own one: their entries under a log of their own, with the rows that their statements give.

What is handed in here was verified before (`registry.transfer`); the database still refuses what its guards and constraints forbid.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, LargeBinary, Table, func, select

from registry.codec.statements import decode_statement
from registry.errors import CaveatError, ConflictError, Fault, InputError, NotFoundError
from registry.records.audit import Result
from registry.records.record import Record
from registry.records.seal import Checkpoint
from registry.records.statement import Entry, Payload
from registry.records.trial import Run
from registry.seal.tree import Frontier
from registry.store.logs import find_log
from registry.store.nodes import complete, load_frontier
from registry.store.reader import Reader, to_seconds
from registry.store.rows import NewIdentifier, Place, build_rows, named_identifier, parse_new
from registry.store.seal_tables import checkpoint
from registry.store.tables import ERASABLE, METADATA, OWN_LOG, TYPED, identifier, log
from registry.store.view import View
from registry.store.writer import Inserts, Writer, find_place

_BATCH = 1_000
_EVERYTHING = 2**53
_KEPT = {table.name: table for table in TYPED if table.name not in ERASABLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class ErasedRow(Record):
    """A row that an erased statement gave: it holds no words that could be erased, and later statements may refer to it."""

    table: str
    row: tuple[tuple[str, str | float | None], ...]
    """Columns after log and number with their values, in the table's order; bytes are hexadecimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignEntry(Record):
    """One entry of another registry's log."""

    place: Entry
    text: bytes | None
    """The statement's canonical bytes; None where it was erased."""
    rows: tuple[ErasedRow, ...] = ()
    """Where it was erased: what it gave, by the word of who sent it."""


def list_erased_rows(reader: Reader, seq: int) -> tuple[ErasedRow, ...]:
    """Return the rows of entry *seq*, whose text was erased, each table's after those that it refers to."""
    found = []
    for table in _KEPT.values():
        for values in reader.rows(select(table).where(table.c.log == reader.log_id, table.c.seq == seq)):
            pairs = zip(table.columns.keys()[2:], tuple(values)[2:], strict=True)
            row = tuple((name, bytes(value).hex() if isinstance(value, (bytes, memoryview)) else value) for name, value in pairs)
            found.append(ErasedRow(table=table.name, row=row))
    return tuple(found)


def parse_erased_row(table: str, row: dict[str, Any]) -> ErasedRow:
    """Return the row that a document gives; raises ValueError where no such table, column or value can be."""
    known = _KEPT.get(table)
    if known is None:
        raise ValueError(f"no table of statements is called {table[:40]!r}")
    names = known.columns.keys()[2:]
    if set(row) != set(names):
        raise ValueError(f"a row of {table} has the columns {', '.join(names)}")
    return ErasedRow(table=table, row=tuple((name, _check_value(known, name, row[name])) for name in names))


def import_entries(writer: Writer, origin: str, vkey: str, entries: Iterable[ForeignEntry]) -> int:
    """Record *entries* behind those of the log *origin* that are here, and return how many they are.

    Args:
        vkey: what verifies its checkpoints; kept when its first entry comes.

    Raises:
        ConflictError: they do not follow what is here, or the database refuses a row; the transaction must end.
        InputError: a statement cannot be read, or gives rows that no registry keeps.
    """
    if origin == writer.log_origin:
        raise ConflictError(Fault(code="own-log", where=origin, found="it is this registry's own log"))
    return writer.ask(lambda connection: _Import(connection, origin, vkey).run(entries))


def add_foreign_checkpoint(writer: Writer, said: Checkpoint, note: str) -> None:
    """Keep the signed *note*, which says *said*, of a log that was taken over; raises NotFoundError where it was not."""
    row = (bytes.fromhex(said.root), note, to_seconds(writer.moment))
    writer.ask(lambda connection: Inserts(connection).send({checkpoint.name: [(find_log(connection, said.origin), said.size, *row)]}))


def find_foreign_leaf(view: View, origin: str, seq: int) -> str | None:
    """Return the leaf of entry *seq* of the log *origin*, hexadecimal; None where it is not here."""

    def ask(connection: Connection) -> str | None:
        try:
            number = find_log(connection, origin)
        except NotFoundError:
            return None
        found = Reader(connection, limit=_EVERYTHING, log_id=number).find_entry(seq)
        return found.leaf if found else None

    return view.ask(ask)


class _Import:
    """One run of entries into one foreign log."""

    def __init__(self, connection: Connection, origin: str, vkey: str) -> None:
        self._origin = origin
        self._inserts = Inserts(connection)
        self._log = _find_or_add(connection, self._inserts, origin, vkey)
        self._reader = Reader(connection, limit=_EVERYTHING, log_id=self._log)
        self._staged: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        used = select(identifier.c.id).where(identifier.c.log == self._log)
        self._known = {str(one) for (one,) in self._reader.plain_rows(used)}
        self._frontier: Frontier
        self._frontier, missing = load_frontier(self._reader)
        self._staged["node"] += missing

    def run(self, entries: Iterable[ForeignEntry]) -> int:
        """Record them."""
        count = 0
        for one in entries:
            if one.place.seq != self._frontier.size + 1:
                found = f"entry {one.place.seq} cannot follow the {self._frontier.size} that are here"
                raise ConflictError(Fault(code="not-gapless", where=self._origin, found=found, advice="import what is between first"))
            self._take(one)
            count += 1
            if count % _BATCH == 0:
                self._flush()
        self._flush()
        return count

    def _take(self, one: ForeignEntry) -> None:
        place, at = one.place, to_seconds(one.place.at)
        leaf = bytes.fromhex(place.leaf)
        self._staged["entry"].append((self._log, place.seq, place.kind.value, place.actor, at, leaf))
        self._staged["node"] += complete(self._frontier, leaf, log_id=self._log)
        if one.text is None:
            for erased in one.rows:
                self._staged[erased.table].append((self._log, place.seq, *_to_values(erased)))
                self._known |= {str(value) for name, value in erased.row if (erased.table, name) == ("identifier", "id")}
            return
        self._staged["body"].append((self._log, place.seq, one.text.decode()))
        payload = decode_statement(one.text, where=f"{self._origin}, entry {place.seq}").payload
        try:
            for table, values in self._build(payload, place, at):
                self._staged[table].append(values)
        except (ValueError, OverflowError) as error:
            raise InputError(self._broken(place.seq, f"its statement cannot be kept: {error}")) from error

    def _build(self, payload: Payload, place: Entry, at: int) -> Iterator[tuple[str, tuple[Any, ...]]]:
        if isinstance(payload, (Run, Result)):
            self._flush()
        here = Place(seq=place.seq, at=at, new=self._find_new(payload), actor=place.actor, log=self._log)
        for table, values in build_rows(payload, find_place(self._reader, payload, here)):
            if any(isinstance(value, str) and "\0" in value for value in values):
                raise ValueError("a text has U+0000")
            yield table, values

    def _find_new(self, payload: Payload) -> NewIdentifier | None:
        name = named_identifier(payload)
        if name is None or name in self._known:
            return None
        self._known.add(name)
        return parse_new(name)

    def _flush(self) -> None:
        staged, self._staged = self._staged, defaultdict(list)
        try:
            self._inserts.send(staged)
        except CaveatError as error:
            first = staged["entry"][0][1] if staged.get("entry") else self._frontier.size
            found = f"from here on its statements cannot follow each other: {error.faults[0].found}"
            raise ConflictError(self._broken(first, found)) from error

    def _broken(self, seq: int, found: str) -> Fault:
        return Fault(code="log-broken", where=f"{self._origin}, entry {seq}", found=found, advice="tell the authority whose log it is")


def _find_or_add(connection: Connection, inserts: Inserts, origin: str, vkey: str) -> int:
    try:
        return find_log(connection, origin)
    except NotFoundError:
        last = connection.execute(select(func.coalesce(func.max(log.c.id), OWN_LOG))).scalar_one()
        inserts.send({"log": [(int(last) + 1, origin, vkey)]})
        return int(last) + 1


def _check_value(table: Table, name: str, value: object) -> str | float | None:
    column = table.columns[name]
    wanted = str if isinstance(column.type, LargeBinary) else column.type.python_type
    if value is None and column.nullable:
        return None
    if isinstance(value, bool) or not isinstance(value, (wanted, int) if wanted is float else wanted):
        raise ValueError(f"{table.name}.{name} is {str(value)[:40]!r}")
    if isinstance(column.type, LargeBinary):
        bytes.fromhex(str(value))
    if isinstance(value, str) and "\0" in value:
        raise ValueError(f"{table.name}.{name} has U+0000")
    return value  # type: ignore[return-value]  (one of the three, by the check above)


def _to_values(erased: ErasedRow) -> tuple[Any, ...]:
    table = METADATA.tables[erased.table]
    binary = {name for name in table.columns.keys() if isinstance(table.columns[name].type, LargeBinary)}  # noqa: SIM118  (a collection)
    return tuple(bytes.fromhex(str(value)) if name in binary and value is not None else value for name, value in erased.row)
