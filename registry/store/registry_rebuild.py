"""A registry rebuilt from its log, checked against its log, or copied at one moment."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection, Table, select
from sqlalchemy.exc import DBAPIError

from registry.errors import ConflictError, Fault, InputError
from registry.records.record import Record
from registry.store import database_schema as schema
from registry.store.database_engine import OWN_LOG, describe_url, find_file, translate
from registry.store.database_tables import TYPED, checkpoint, content, cosignature, log, node, signature
from registry.store.ledger import Ledger, begin, hold_still
from registry.store.log_reader import LogReader, find_altered
from registry.store.log_seals import describe_truncated
from registry.store.log_writer import EntryReplay, Inserts
from registry.store.statement_kind import Row

# Replay of a log: into an empty registry, or next to an existing one to compare its rows with what
# its statements give.

EVERYTHING = 2**53
_BATCH = 1_000
# A registry that is altered throughout would otherwise produce a fault per row.
_MOST_FAULTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildReport(Record):
    """What a replay found."""

    entries: int
    erased: int
    """Entries whose text was erased: their leaves and rows are carried over as they were."""
    contents: int
    """Texts of cards that were copied."""
    foreign: int = 0
    """Entries of other registries' logs."""
    checkpoints: int = 0
    """Signed notes that were copied."""
    cosignatures: int = 0
    """Signature lines of others that were copied."""
    signatures: int = 0
    """Signatures of authors over their entries that were copied."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport(Record):
    """What a verification found, besides that everything agrees."""

    entries: int
    erased: int
    """Entries whose text was erased: that they were there is proven, what they said cannot be checked."""
    rows: int
    """Typed rows that were compared."""
    foreign: int = 0
    """Entries of other registries' logs."""


def rebuild(source_url: str, target_url: str, progress: Callable[[int], None]) -> RebuildReport:
    """Replay the log at *source_url* into the empty database at *target_url*: the same leaves, the same rows.

    Args:
        progress: called with the number of entries done, now and then and at the end.

    Raises:
        ConflictError: the target holds a log already.
        InputError: a leaf is not the hash of its statement, a text of a card not what its digest says, or the log has gaps or was
            cut off; the target keeps nothing.
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
            # `release` keeps a target in memory alive for the caller, unlike `close`.
            target.release()
    finally:
        source.release()


def verify(ledger: Ledger, progress: Callable[[int], None] = lambda _done: None) -> VerifyReport:
    """Return what was verified: the log is without gaps, every leaf the hash of its text, every row what its statement gives.

    Raises:
        InputError: with one fault for everything that is not so (at most a hundred).
    """
    # A file and not memory: the copy has the size of the registry.
    with TemporaryDirectory(prefix="caveat-verify-") as folder:
        url = f"sqlite:///{Path(folder, 'replayed.db')}"
        schema.upgrade(url)
        replayed = _open(url)
        try:
            report = _replay(ledger, replayed, progress)
            rows = _compare(ledger, replayed)
        finally:
            replayed.release()
    return VerifyReport(entries=report.entries, erased=report.erased, rows=rows, foreign=report.foreign)


def _open(url: str) -> Ledger:
    """Nothing is said anew in a replay: there is no clock, and no salt."""
    return Ledger.open(url, clock=_never, salt=_never)


def _never() -> Any:
    raise AssertionError("a replay makes no statements")


def _refuse_same(source_url: str, target_url: str) -> None:
    # The same file can be written in two ways, so resolved paths are compared as well.
    files = find_file(source_url), find_file(target_url)
    if source_url == target_url or (files[0] is not None and files[1] is not None and files[0].resolve() == files[1].resolve()):
        raise ConflictError(Fault("not-empty", target_url, "a registry cannot be rebuilt into itself"))


def _replay(source: Ledger, target: Ledger, progress: Callable[[int], None]) -> RebuildReport:
    with source.connect() as reading, target.connect() as writing:
        # One snapshot of the source. Otherwise rows and entries could come from different moments.
        hold_still(reading)
        begin(writing)
        try:
            report = _Copy(reading, writing).run(progress)
            writing.commit()
        except BaseException:
            writing.rollback()
            raise
        finally:
            reading.rollback()
    return report


class _Copy:
    """One pass over all logs, from one connection to another."""

    def __init__(self, reading: Connection, writing: Connection) -> None:
        self._reading = reading
        self._writing = writing
        self._all = LogReader(reading, limit=EVERYTHING)
        self._inserts = Inserts(writing)
        self._sizes: dict[int, int] = defaultdict(int)

    def run(self, progress: Callable[[int], None]) -> RebuildReport:
        """Copy names, entries, texts and checkpoints, and make rows and subtrees anew."""
        # A replay into a log that has entries would mix two histories.
        if LogReader(self._writing, limit=EVERYTHING).rows(select(log.c.id).limit(1)):
            raise ConflictError(
                Fault("not-empty", describe_url(self._writing.engine.url.render_as_string(hide_password=False)), "it holds a log already")
            )
        # Log rows first: every other row refers to one.
        logs = [tuple(row) for row in self._all.rows(select(log).order_by(log.c.id))]
        self._inserts.send({"log": logs})
        done = erased = own = 0
        for log_id, *_ in logs:
            replay = self._replay(log_id, lambda more, before=done: progress(before + more))  # type: ignore[misc]
            done += replay.size
            self._sizes[log_id] = replay.size
            if log_id == OWN_LOG:
                own, erased = replay.size, replay.erased
        progress(done)
        return RebuildReport(
            entries=own,
            erased=erased,
            contents=self._copy_contents(),
            foreign=done - own,
            checkpoints=self._copy_seals(checkpoint),
            cosignatures=self._copy_seals(cosignature),
            signatures=self._copy_seals(signature),
        )

    def _replay(self, log_id: int, progress: Callable[[int], None]) -> EntryReplay:
        source = LogReader(self._reading, limit=EVERYTHING, log_id=log_id)
        replay = EntryReplay(self._writing, log_id=log_id, carry=lambda seq: self._carry(log_id, seq))
        for place, text in source.log_entries(1, source.last_seq() + 1):
            replay.add(place, text)
            if place.seq % _BATCH == 0:
                progress(place.seq)
        replay.flush()
        return replay

    def _carry(self, log_id: int, seq: int) -> Iterator[Row]:
        """Rows hold no words that could be erased, so those of an erased statement stay as they are."""
        for table in TYPED:
            for row in self._all.rows(select(table).where(table.c.log == log_id, table.c.seq == seq)):
                yield table.name, tuple(row)

    def _copy_contents(self) -> int:
        # An altered card text is refused. Copying it would give it the appearance of a verified
        # one.
        if faults := list(find_altered(self._reading)):
            raise InputError(faults[:_MOST_FAULTS])
        copied = 0
        for (sha256,) in self._all.rows(select(content.c.sha256)):
            packed = self._all.one_value(select(content.c.data).where(content.c.sha256 == sha256))
            self._inserts.send({"content": [(bytes(sha256), bytes(packed))]})
            copied += 1
        return copied

    def _copy_seals(self, table: Table) -> int:
        rows = [tuple(row) for row in self._all.rows(select(table).order_by(*table.primary_key))]
        # A checkpoint of more entries than exist shows that the log was cut off. The rebuilt
        # registry would hide that.
        for log_id, size, *_ in rows:
            if size > self._sizes[log_id]:
                problem, advice = describe_truncated(size, self._sizes[log_id]), "restore the registry from a backup"
                raise InputError(Fault("history-differs", f"checkpoint at {size}", problem, advice=advice))
        self._inserts.send({table.name: rows})
        return len(rows)


def _compare(ledger: Ledger, replayed: Ledger) -> int:
    faults: list[Fault] = []
    compared = 0
    with ledger.connect() as connection, replayed.connect() as other:
        # Subtree rows are optional, so they are compared only for logs that have any.
        kept = _logs_with_nodes(connection)
        for table in (*TYPED, node):
            for here, there in zip_longest(
                _rows(connection, table), (row for row in _rows(other, table) if table is not node or row[0] in kept)
            ):
                compared += 1
                if here != there and len(faults) < _MOST_FAULTS:
                    faults.append(_differs(table, here, there))
                    # After the first difference the rows of a table no longer line up, so further
                    # differences would be noise.
                    break
    if faults:
        raise InputError(faults)
    return compared


def _differs(table: Table, here: tuple[Any, ...] | None, there: tuple[Any, ...] | None) -> Fault:
    """One row that is missing, one too many, or the columns in which one differs."""
    gives, lacks = (
        ("the leaves give", "the leaves do not give") if table is node else ("its statement gives", "its statement does not give")
    )
    place = [table.c.keys().index(column.name) for column in _order(table)]
    keys = [None if row is None else tuple(row[at] for at in place) for row in (here, there)]
    if here is None or there is None or keys[0] != keys[1]:
        is_missing = keys[0] is None or (keys[1] is not None and keys[1] < keys[0])
        row = there if is_missing else here
        which = f"lacks the row that {gives}" if is_missing else f"holds a row that {lacks}"
        problem = f"{table.name} {which}: {_list_columns(table, row or ())}"
    else:
        row = here
        pairs = [(name, item, other) for name, item, other in zip(table.c.keys(), here, there, strict=True) if item != other]
        problem = "; ".join(f"{table.name}.{name} is {_show(item)}, {gives} {_show(other)}" for name, item, other in pairs)
    log_id, seq = (row or (OWN_LOG, 0))[:2]
    where = f"entry {seq}" if log_id == OWN_LOG else f"entry {seq} of log {log_id}"
    return Fault("row-differs", where, problem, advice="run: caveat admin rebuild")


def _list_columns(table: Table, row: Sequence[Any]) -> str:
    return ", ".join(f"{name} {_show(value)}" for name, value in zip(table.c.keys(), row, strict=False) if value is not None)


def _show(value: Any) -> str:
    """As a person reads it: digests by their digits, text in quotes, and what is not there as such."""
    if isinstance(value, bytes):
        return value.hex()
    return "nothing" if value is None else repr(value)


def _logs_with_nodes(connection: Connection) -> set[int]:
    """A registry that was upgraded and not written since keeps no subtrees yet."""
    return {row[0] for row in connection.execute(select(node.c.log).distinct())}


def _rows(connection: Connection, table: Table) -> Iterator[Any]:
    # Streamed and ordered by key on both sides, so that memory does not grow with the registry.
    ordered = select(table).order_by(*_order(table))
    with connection.execution_options(stream_results=True, yield_per=_BATCH).execute(ordered) as result:
        for row in result:
            yield tuple(bytes(value) if isinstance(value, memoryview) else value for value in row)


def _order(table: Table) -> list[Any]:
    within = ("level", "position", "reading", "number", "phrase")
    return [table.c.log, table.c.seq, *(table.c[column] for column in within if column in table.c)]


# A copy of a registry at one moment, into a new SQLite file, while others continue to write.
#
# Decision of 2026-11-22: on SQLite the copy is made by SQLite itself in one read transaction and
# then checked; on PostgreSQL one snapshot is replayed. `restore` always replays, against a
# checkpoint. The cost: two ways to copy.


def copy_registry(ledger: Ledger, target: Path, progress: Callable[[int], None]) -> None:
    """Write everything that *ledger* holds at this moment into the new SQLite file *target*; writers need not wait, and are not waited for.

    SQLite copies its own file, within one read transaction (`VACUUM INTO`): pages that are free are excluded, and with them whatever
    was erased. PostgreSQL's log is replayed, as one snapshot sees it, which verifies every leaf on the way.

    Args:
        progress: called with the number of entries done; never called where SQLite copies, which takes about 4 µs an entry.

    Raises:
        InputError: a replayed log is altered.
        UnavailableError: the file cannot be written.
    """
    with ledger.connect() as connection:
        if connection.dialect.name == "sqlite":
            try:
                connection.exec_driver_sql("VACUUM INTO ?", (str(target),))
            except DBAPIError as error:
                raise translate(error, where=str(target)) from error
            return
    rebuild(ledger.url, f"sqlite:///{target}", progress)
