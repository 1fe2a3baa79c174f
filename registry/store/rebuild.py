"""The log replayed: into an empty registry, or beside an existing one to see that its rows are what its statements give."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection, select

from registry.codec.canonical import leaf_hash
from registry.codec.statements import decode_statement
from registry.errors import CaveatError, ConflictError, Fault, InputError
from registry.records.audit import Result
from registry.records.record import Record
from registry.records.statement import Entry, Payload
from registry.records.trial import Run
from registry.store import schema
from registry.store.engine import find_file
from registry.store.ledger import Ledger, begin
from registry.store.reader import Reader, to_seconds
from registry.store.rows import NewIdentifier, Place, build_rows, named_identifier, parse_new
from registry.store.tables import METADATA, OWN_LOG, TYPED, content
from registry.store.writer import Inserts, find_place

_BATCH = 1_000
_EVERYTHING = 2**53


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildReport(Record):
    """What a replay found."""

    entries: int
    erased: int
    """Entries whose text was erased: their leaves and rows are carried over as they were."""
    contents: int
    """Texts of cards that were copied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport(Record):
    """What a verification found, besides that everything agrees."""

    entries: int
    erased: int
    """Entries whose text was erased: that they were there is proven, what they said cannot be checked."""
    rows: int
    """Typed rows that were compared."""


def rebuild(source_url: str, target_url: str, progress: Callable[[int], None]) -> RebuildReport:
    """Replay the log at *source_url* into the empty database at *target_url*: the same leaves, the same rows.

    Args:
        progress: is told the number of entries done, now and then and at the end.

    Raises:
        ConflictError: the target holds a log already.
        InputError: a leaf is not the hash of its statement, or the log is not gapless; the target keeps nothing.
        UnavailableError: one of the two cannot be opened.
    """
    _refuse_same(source_url, target_url)
    source = _open(source_url)
    try:
        schema.upgrade(target_url)
        target = _open(target_url)
        try:
            return _replay(source, target, progress)
        finally:
            target.release()
    finally:
        source.release()


def verify(ledger: Ledger, progress: Callable[[int], None] = lambda _done: None) -> VerifyReport:
    """Return what was verified: the log is gapless, every leaf the hash of its text, every row what its statement gives.

    Raises:
        InputError: with one fault for everything that is not so (at most a hundred).
    """
    with TemporaryDirectory(prefix="caveat-verify-") as folder:
        url = f"sqlite:///{Path(folder, 'replayed.db')}"
        schema.upgrade(url)
        replayed = _open(url)
        try:
            report = _replay(ledger, replayed, progress)
            rows = _compare(ledger, replayed)
        finally:
            replayed.release()
    return VerifyReport(entries=report.entries, erased=report.erased, rows=rows)


def _open(url: str) -> Ledger:
    """Nothing is said anew in a replay: there is no clock, and no salt."""
    return Ledger.open(url, clock=_never, salt=_never)


def _never() -> Any:
    raise AssertionError("a replay makes no statements")


def _refuse_same(source_url: str, target_url: str) -> None:
    files = find_file(source_url), find_file(target_url)
    if source_url == target_url or (files[0] is not None and files[1] is not None and files[0].resolve() == files[1].resolve()):
        found = "a registry cannot be rebuilt into itself"
        raise ConflictError(Fault(code="same-registry", where=target_url, found=found, advice="name an empty database"))


def _replay(source: Ledger, target: Ledger, progress: Callable[[int], None]) -> RebuildReport:
    with source.connect() as reading, target.connect() as writing:
        begin(writing)
        try:
            report = _Replay(reading, writing).run(progress)
            writing.commit()
        except BaseException:
            writing.rollback()
            raise
    return report


class _Replay:
    """One pass over the log, from one connection to another."""

    def __init__(self, reading: Connection, writing: Connection) -> None:
        self._source = Reader(reading, limit=_EVERYTHING)
        self._target = Reader(writing, limit=_EVERYTHING)
        self._reading = reading
        self._inserts = Inserts(writing)
        self._staged: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
        self._known: set[str] = set()
        self._erased = 0

    def run(self, progress: Callable[[int], None]) -> RebuildReport:
        """Copy name, entries and texts, and make the rows anew."""
        if self._target.log_origin:
            raise ConflictError(Fault(code="not-empty", where="target", found="it holds a log already", advice="name an empty database"))
        origin = self._source.log_origin
        if origin:
            self._inserts.send({"log": [(OWN_LOG, origin, self._source.log_vkey)]})
        done = 0
        for place, text in self._source.log_entries(1, self._source.last_seq() + 1):
            done += 1
            if place.seq != done:
                raise InputError(_broken(place.seq, f"entry {done} is missing before it"))
            self._copy(place, text)
            if done % _BATCH == 0:
                self._flush()
                progress(done)
        self._flush()
        progress(done)
        return RebuildReport(entries=done, erased=self._erased, contents=self._copy_contents())

    def _copy(self, place: Entry, text: bytes | None) -> None:
        at = to_seconds(place.at)
        self._staged["entry"].append((OWN_LOG, place.seq, place.kind.value, place.actor, at, bytes.fromhex(place.leaf)))
        if text is None:
            self._erased += 1
            self._carry(place.seq)
            return
        self._staged["body"].append((OWN_LOG, place.seq, text.decode()))
        payload = _check(place, text)
        new = self._find_new(payload)
        if isinstance(payload, (Run, Result)):
            self._flush()
        for table, values in build_rows(
            payload, find_place(self._target, payload, Place(seq=place.seq, at=at, new=new, actor=place.actor))
        ):
            self._staged[table].append(values)

    def _find_new(self, payload: Payload) -> NewIdentifier | None:
        name = named_identifier(payload)
        if name is None or name in self._known:
            return None
        self._known.add(name)
        return parse_new(name)

    def _carry(self, seq: int) -> None:
        """Rows hold no words that could be erased, so those of an erased statement stay as they are."""
        for table in TYPED:
            for row in self._source.rows(select(table).where(table.c.log == OWN_LOG, table.c.seq == seq)):
                self._staged[table.name].append(tuple(row))
                if table.name == "identifier":
                    self._known.add(row.id)

    def _copy_contents(self) -> int:
        copied = 0
        for (sha256,) in self._source.rows(select(content.c.sha256)):
            packed = self._source.one_value(select(content.c.data).where(content.c.sha256 == sha256))
            self._inserts.send({"content": [(bytes(sha256), bytes(packed))]})
            copied += 1
        return copied

    def _flush(self) -> None:
        staged, self._staged = self._staged, defaultdict(list)
        try:
            self._inserts.send(staged)
        except CaveatError as error:
            raise InputError(
                _broken(staged["entry"][0][1], f"from here on the statements cannot follow each other: {error.faults[0].found}")
            ) from error


def _check(place: Entry, text: bytes) -> Payload:
    if leaf_hash(text) != place.leaf:
        raise InputError(_broken(place.seq, "its leaf is not the hash of its text"))
    statement = decode_statement(text, where=f"entry {place.seq}")
    said = (statement.kind, statement.actor, statement.at)
    if said != (place.kind, place.actor, place.at):
        raise InputError(_broken(place.seq, f"its text says {said[0]} by {said[1]} at {said[2].isoformat()}, its entry something else"))
    return statement.payload


def _compare(ledger: Ledger, replayed: Ledger) -> int:
    faults: list[Fault] = []
    compared = 0
    with ledger.connect() as one, replayed.connect() as other:
        for table in TYPED:
            for here, there in zip_longest(_rows(one, table.name), _rows(other, table.name)):
                compared += 1
                if here != there and len(faults) < 100:
                    seq = (here or there)[1]
                    found = f"the row in {table.name} is {here}, its statement gives {there}"
                    faults.append(Fault(code="row-differs", where=f"entry {seq}", found=found, advice="run: caveat rebuild"))
                    break
    if faults:
        raise InputError(faults)
    return compared


def _rows(connection: Connection, name: str) -> Iterator[Any]:
    table = METADATA.tables[name]
    ordered = select(table).where(table.c.log == OWN_LOG).order_by(*_order(name))
    with connection.execution_options(stream_results=True, yield_per=_BATCH).execute(ordered) as result:
        for row in result:
            yield tuple(bytes(value) if isinstance(value, memoryview) else value for value in row)


def _order(name: str) -> list[Any]:
    table = METADATA.tables[name]
    return [table.c.seq, *(table.c[column] for column in ("position", "reading", "number") if column in table.c)]


def _broken(seq: int, found: str) -> Fault:
    return Fault(code="log-broken", where=f"entry {seq}", found=found, advice="restore the registry from a backup")
