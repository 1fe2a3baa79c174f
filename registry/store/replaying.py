"""Entries put into a log with their texts, rows and subtrees made anew: of a registry that is rebuilt, or of another that is taken over."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sqlalchemy import Connection, select

from registry.codec.canonical_documents import leaf_hash
from registry.codec.statement_encoding import decode_statement
from registry.errors import CaveatError, Fault, InputError
from registry.records.audit_case import Result
from registry.records.log_seal import EntrySignature
from registry.records.record import Kind, format_identifier
from registry.records.replay_run import Run, RunStart
from registry.records.statement import Entry, Payload
from registry.store.nodes import complete, load_frontier
from registry.store.reader import Reader, to_seconds
from registry.store.rows import NewIdentifier, Place, Row, build_rows, named_identifier, parse_new
from registry.store.signatures import to_row
from registry.store.tables import OWN_LOG, body, entry, identifier
from registry.store.writer import Inserts, find_place, refuse_nul

_BATCH = 1_000
_EVERYTHING = 2**53

Staged = dict[str, list[tuple[Any, ...]]]


def _nothing(_seq: int) -> Iterator[Row]:
    return iter(())


class Replay:
    """Goes on where the log ends. In another registry's log, rows that rest on an erased statement cannot be made, and are left out."""

    def __init__(self, connection: Connection, *, log_id: int = OWN_LOG, carry: Callable[[int], Iterator[Row]] = _nothing) -> None:
        """Begin.

        Args:
            log_id: number of the log; its row is there.
            carry: gives the rows of an erased statement, as they were.
        """
        self._connection = connection
        self._log_id = log_id
        self._carry = carry
        self._reader = Reader(connection, limit=_EVERYTHING, log_id=log_id)
        self._inserts = Inserts(connection)
        self._frontier, missing = load_frontier(self._reader)
        self._staged: dict[int, Staged] = {}
        columns = (identifier.c.id, identifier.c.kind, identifier.c.authority, identifier.c.year, identifier.c.number)
        ordered = select(*columns).where(self._reader.visible(identifier)).order_by(identifier.c.number)
        self._known = dict.fromkeys(row[0] for row in self._reader.plain_rows(ordered))
        self._numbers = {row[1:4]: row[4] for row in self._reader.plain_rows(ordered)}
        there = select(body.c.seq).where(body.c.log == entry.c.log, body.c.seq == entry.c.seq).exists()
        self._gone = len(self._reader.plain_rows(select(entry.c.seq).where(self._reader.visible(entry), ~there)))
        self.size = self._frontier.size
        """Number of entries in the log."""
        self.erased = 0
        """Number of entries added here whose text is gone."""
        self.without_rows = 0
        """Number of entries added here whose rows could not be made, because they rest on an erased statement."""
        self._inserts.send({"node": missing})

    def add(self, place: Entry, text: bytes | None, signed: EntrySignature | None = None) -> None:
        """Add the next entry; no *text*: it was erased. Whether *signed* is its author's signature is asked of the whole log.

        Raises:
            InputError: it is not the next, its leaf is not the hash of its text, its text says otherwise than its entry, or it cannot
                follow what stands before it.
        """
        if place.seq != self.size + 1:
            raise InputError(broken(place.seq, f"entry {self.size + 1} is missing before it"))
        here = (self._log_id, place.seq)
        leaf, at = bytes.fromhex(place.leaf), to_seconds(place.at)
        payload = None if text is None else check_entry(place, text)
        if isinstance(payload, (Run, Result, RunStart)) or len(self._staged) >= _BATCH:
            self.flush()
        staged: Staged = defaultdict(list)
        staged["entry"].append((*here, place.kind.value, place.actor, at, leaf))
        if signed is not None:
            staged["signature"].append(to_row(signed, log_id=self._log_id))
        staged["node"] += complete(self._frontier, leaf, log_id=self._log_id)
        if payload is None or text is None:
            self.erased += 1
            self._gone += 1
            rows: Iterable[Row] = self._carry(place.seq)
        else:
            staged["body"].append((*here, text.decode()))
            rows = self._try_rows(payload, place, at)
        for table, values in rows:
            refuse_nul(values, place.kind.value)
            staged[table].append(values)
            if table == "identifier":
                self._known[values[2]] = None
                self._numbers[values[3:6]] = values[6]
        self._staged[place.seq] = staged
        self.size = place.seq

    def flush(self) -> None:
        """Send what was added; raises InputError where it cannot follow what stands before it."""
        staged, self._staged = self._staged, {}
        if not staged:
            return
        try:
            self._send(list(staged.values()))
        except CaveatError as error:
            first = next(iter(staged))
            if self._log_id == OWN_LOG:
                found = f"from here on the statements cannot follow each other: {error.faults[0].found}"
                raise InputError(broken(first, found)) from error
            for seq, one in staged.items():
                self._send_one(seq, one)

    def _send(self, parts: list[Staged]) -> None:
        joined: Staged = defaultdict(list)
        for part in parts:
            for table, rows in part.items():
                joined[table] += rows
        with self._connection.begin_nested():
            self._inserts.send(joined)

    def _send_one(self, seq: int, staged: Staged) -> None:
        """An entry goes in whatever its rows rest on; without erased statements before it, they must rest on what is there."""
        try:
            self._send([staged])
        except CaveatError as error:
            if not self._gone:
                found = f"it cannot follow what stands before it: {error.faults[0].found}"
                raise InputError(broken(seq, found)) from error
            self.without_rows += 1
            bare = {name: staged.get(name, []) for name in ("entry", "body", "signature", "node")}
            try:
                self._send([bare | {"identifier": staged.get("identifier", [])}])
            except CaveatError:
                self._send([bare])

    def _try_rows(self, payload: Payload, place: Entry, at: int) -> list[Row]:
        """A statement that another registry let in may name what reads like no identifier or reference of ours."""
        try:
            return list(self._build_rows(payload, place, at))
        except (ValueError, OverflowError) as error:
            raise InputError(broken(place.seq, f"what its {place.kind.value} refers to cannot be read: {error}")) from error

    def _build_rows(self, payload: Payload, place: Entry, at: int) -> Iterator[Row]:
        wanted = Place(seq=place.seq, at=at, new=self._find_new(payload), actor=place.actor, log=self._log_id)
        if wanted.new is not None and self._log_id != OWN_LOG:
            yield from self._fill_numbers(wanted.new, (self._log_id, place.seq))
        yield from build_rows(payload, find_place(self._reader, payload, wanted))

    def _fill_numbers(self, new: NewIdentifier, here: tuple[int, int]) -> Iterator[Row]:
        """Numbers are gapless, so one that is left out was given to a statement that is erased now: it is known from here on."""
        _, kind, authority, year, number = new
        last = self._numbers.get((kind, authority, year), 0)
        if number - last - 1 <= self._gone:
            for skipped in range(last + 1, number):
                yield "identifier", (*here, format_identifier(Kind(kind), authority, year, skipped), kind, authority, year, skipped)

    def _find_new(self, payload: Payload) -> NewIdentifier | None:
        name = named_identifier(payload)
        return None if name is None or name in self._known else parse_new(name)


def check_entry(place: Entry, text: bytes) -> Payload:
    """Return what the statement says; raises InputError where leaf, kind, actor or time of its entry are not its own."""
    if leaf_hash(text) != place.leaf:
        raise InputError(broken(place.seq, "its leaf is not the hash of its text"))
    statement = decode_statement(text, where=f"entry {place.seq}")
    said = (statement.kind, statement.actor, statement.at)
    if said != (place.kind, place.actor, place.at):
        raise InputError(broken(place.seq, f"its text says {said[0]} by {said[1]} at {said[2].isoformat()}, its entry something else"))
    return statement.payload


def broken(seq: int, found: str) -> Fault:
    """Return the fault of a log that cannot be replayed."""
    return Fault(code="log-broken", where=f"entry {seq}", found=found, advice="restore the registry from a backup")
