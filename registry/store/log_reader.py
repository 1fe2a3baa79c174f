"""Reading a log as of one entry: its texts, subtree roots, keys and signatures."""

import hashlib
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import zstandard
from sqlalchemy import BindParameter, ColumnElement, Connection, Select, Table, bindparam, func, select
from sqlalchemy.exc import DBAPIError

from registry.codec.statement_encoding import decode_payload, decode_statement, leaf_hash
from registry.errors import MOST_EDITS, AlteredError, ConflictError, Fault, NotFoundError, count_edits
from registry.records.dossier import Recorded
from registry.records.log_seal import EntrySignature, KeyEvent
from registry.records.record import Record
from registry.records.statement import Entry
from registry.seal import merkle_tree as tree
from registry.store.database_engine import OWN_LOG, describe_connection, translate
from registry.store.database_tables import body, content, entry, identifier, log, node, signature
from registry.store.kinds.log_kinds import key_event

if TYPE_CHECKING:
    from registry.seal.signing_keys import Backing, SigningKey, StatementKeys

# Card texts are stored compressed under the SHA-256 of the uncompressed text.

_MOST_BYTES = 100_000_000
"""No card that is read has so long a text; a row that unpacks to more was not written by us."""


def pack(text: bytes) -> bytes:
    """Return *text* as it is kept."""
    # Level 9 of zstd; texts are written once and read often.
    return zstandard.ZstdCompressor(level=9).compress(text)


def unpack(packed: bytes, sha256: str) -> str:
    """Return the text that *packed* holds.

    Raises:
        AlteredError: `content-altered`: its digest is not *sha256*, or *packed* holds no text.
    """
    if (difference := _find_difference(packed, sha256)) is not None:
        raise AlteredError(_altered(sha256, difference))
    return _decompress(packed).decode()


def find_altered(connection: Connection) -> Iterator[Fault]:
    """Yield a fault for every kept text that is not what its digest says."""
    for (digest,) in connection.execute(select(content.c.sha256).order_by(content.c.sha256)).all():
        packed = connection.execute(select(content.c.data).where(content.c.sha256 == digest)).scalar()
        sha256 = bytes(digest).hex()
        if packed is not None and (difference := _find_difference(bytes(packed), sha256)) is not None:
            yield _altered(sha256, difference)


def _find_difference(packed: bytes, sha256: str) -> str | None:
    try:
        hashed = hashlib.sha256(_decompress(packed)).hexdigest()
    except (zstandard.ZstdError, ValueError) as error:
        return f"what is kept under it cannot be read: {error}"
    return None if hashed == sha256 else f"what is kept under it is a text with the digest {hashed}"


def _decompress(packed: bytes) -> bytes:
    # The frame states its size before anything is unpacked. An altered row could otherwise expand
    # to more than the memory of the machine.
    size = zstandard.frame_content_size(packed)
    if not 0 <= size <= _MOST_BYTES:
        raise ValueError(f"it says that its text has {size:,} bytes; at most {_MOST_BYTES:,} are kept" if size >= 0 else "it has no size")
    return zstandard.ZstdDecompressor().decompress(packed)


def _altered(sha256: str, text: str) -> Fault:
    return Fault("content-altered", f"text {sha256}", text)


# Every reading is limited to one log and one last entry, so that a past state can be read without
# keeping versions of rows.

Answer = TypeVar("Answer")

_MOST_RECENT = 500
"""What `LogReader.recall` keeps."""
CHUNK = 500
"""How many keys one query asks for; SQLite takes at most 32,766 parameters."""


# Statements that are asked of one claim again and again are written once, as constants of their
# modules: SQLAlchemy needs 0.2 ms to put one together, ten times as long as SQLite needs to answer.

LOG: BindParameter[int] = bindparam("log_id")
"""In a statement: the log that is read."""
LAST: BindParameter[int] = bindparam("log_size")
"""In a statement: the last entry that is seen."""
KEYS: BindParameter[Any] = bindparam("keys", expanding=True)
"""In a statement for `LogReader.rows_by`: the keys that are asked for."""


@cache
def seen(table: Table) -> ColumnElement[bool]:
    """Return the condition that a row of *table* is seen by the reading that asks."""
    # All queries go through this condition. A query without it would mix logs or show later
    # entries.
    return (table.c.log == LOG) & (table.c.seq <= LAST)


class LogReader:
    """What every reading shares: a connection, the log that is read, and the entry up to which it sees."""

    def __init__(
        self, connection: Connection, *, limit: int, log_id: int = OWN_LOG, today: date | None = None, kept: dict[str, Any] | None = None
    ) -> None:
        """Read the log as of entry *limit*; readers of one state share what was *kept*."""
        self.kept = kept
        """What was derived from this state, and is derived once for all its readers; None where the state still grows, for a writer."""
        self._connection = connection
        self._limit = limit
        self._log_id = log_id
        self._today = today

    def once(self, key: str, make: Callable[[], Answer]) -> Answer:
        """Return what *make* derives from this state; it is made once for all readers of the state that keep anything."""
        if self.kept is None:
            return make()
        if key not in self.kept:
            self.kept[key] = make()
        answer: Answer = self.kept[key]
        return answer

    def recall(self, key: Hashable, make: Callable[[], Answer]) -> Answer:
        """As `once`, for what one page needs several times: only the latest are kept."""
        if self.kept is None:
            return make()
        recent: dict[Hashable, Answer] = self.kept.setdefault("recent", {})
        if key not in recent:
            # Emptied instead of growing without a limit; other threads may read it meanwhile.
            if len(recent) >= _MOST_RECENT:
                self.kept["recent"] = recent = {}
            recent[key] = make()
        return recent[key]

    @property
    def log_id(self) -> int:
        """Number of the log that is read: 1 for this registry's own, others for those taken over from other registries."""
        return self._log_id

    @property
    def today(self) -> date | None:
        """The day by which outcomes count as expired: the one given, else that of the last entry seen; None in an empty log.

        What is rendered goes by the log only, so that the same entries give the same bytes at any time. Lists go by the clock.
        """
        # An outcome expires by date. With the clock, the same entries would give other bytes
        # tomorrow; so renderings use the day of the last entry.
        if self._today is None:
            last = self.once("last_time", lambda: self.one_value(_LAST_TIME))
            self._today = None if last is None else from_seconds(last).date()
        return self._today

    @property
    def engine(self) -> str:
        """What the database is, `sqlite` or `postgresql`."""
        return str(self._connection.dialect.name)

    @property
    def log_size(self) -> int:
        """Number of entries that are seen; the log as of this entry."""
        return self._limit

    @property
    def log_origin(self) -> str:
        """The name of the log; empty before it has one."""
        # A log gets its name before its first entry.
        return self.once("origin", self._read_origin) if self._limit else self._read_origin()

    def _read_origin(self) -> str:
        return str(self.one_value(_ORIGIN) or "")

    @property
    def log_vkey(self) -> str | None:
        """The key that verifies the log's checkpoints; None when it has none."""
        vkey = self.one_value(select(log.c.vkey).where(log.c.id == self._log_id))
        return None if vkey is None else str(vkey)

    def visible(self, table: Table) -> ColumnElement[bool]:
        """Return the condition that a row of *table* is seen."""
        return seen(table)

    def rows(self, statement: Select[Any], **values: Any) -> Sequence[Any]:
        """Return all rows of *statement*, with *values* for its parameters; errors of the database come out as ours."""
        try:
            return self._connection.execute(statement, {"log_id": self._log_id, "log_size": self._limit, **values}).all()
        except DBAPIError as error:
            raise translate(error, where=describe_connection(self._connection)) from error
        # The driver refuses a number above 64 bits. No such number is recorded, so the answer is
        # "not found" instead of a crash.
        except OverflowError as error:
            raise NotFoundError(Fault("not-registered", "registry", "a number is larger than any that is recorded")) from error

    def rows_in(self, statement: Select[Any], column: Any, keys: Iterable[Any]) -> list[Any]:
        """Return the rows of *statement* in which *column* has one of *keys*, asked for in chunks."""
        # Duplicates are removed first, in order: a chunk must not be filled with repeated keys.
        listed = list(dict.fromkeys(keys))
        chunks = (listed[start : start + CHUNK] for start in range(0, len(listed), CHUNK))
        return [row for chunk in chunks for row in self.rows(statement.where(column.in_(chunk)))]

    def rows_by(self, statement: Select[Any], keys: Iterable[Any]) -> list[Any]:
        """Return the rows of *statement* for the `KEYS` in it, asked for in chunks, as the driver gives them."""
        listed = list(dict.fromkeys(keys))
        return [row for start in range(0, len(listed), CHUNK) for row in self.plain_rows(statement, keys=listed[start : start + CHUNK])]

    def plain_rows(self, statement: Select[Any], **values: Any) -> list[tuple[Any, ...]]:
        """Return all rows as the driver gives them, for long lists of texts and numbers: SQLAlchemy's rows take as long as the query."""
        try:
            with self._connection.execute(statement, {"log_id": self._log_id, "log_size": self._limit, **values}) as result:
                return [] if result.cursor is None else list(result.cursor.fetchall())
        except DBAPIError as error:
            raise translate(error, where=describe_connection(self._connection)) from error

    def driver_rows(self, statement: str, *values: int | str) -> list[tuple[Any, ...]]:
        """Return all rows of the SQL *statement*, `?` for each value, past SQLAlchemy: a proof asks ten questions in a millisecond."""
        marked = statement if self._connection.dialect.paramstyle == "qmark" else statement.replace("?", "%s")
        try:
            with self._connection.exec_driver_sql(marked, values) as result:
                return list(result.cursor.fetchall())
        except DBAPIError as error:
            raise translate(error, where=describe_connection(self._connection)) from error

    def ask(self, question: Callable[[Connection], Answer]) -> Answer:
        """Return what *question* answers of the database as a whole. For the store only."""
        return question(self._connection)

    def one_value(self, statement: Select[Any], **values: Any) -> Any:
        """Return the first value of the first row, None when there is no row."""
        rows = self.rows(statement, **values)
        return rows[0][0] if rows else None

    def find_filled(self, *tables: Table) -> frozenset[str]:
        """Return the names of those of *tables* that have anything that is seen."""
        return self.once(f"filled: {' '.join(table.name for table in tables)}", lambda: self._find_filled(tables))

    def _find_filled(self, tables: Sequence[Table]) -> frozenset[str]:
        columns = ", ".join(f'EXISTS (SELECT 1 FROM "{table.name}" WHERE log = ? AND seq <= ?)' for table in tables)  # noqa: S608
        (row,) = self.driver_rows(f"SELECT {columns}", *(self._log_id, self._limit) * len(tables))
        return frozenset(table.name for table, is_filled in zip(tables, row, strict=True) if is_filled)

    def recorded(self, numbers: Iterable[int], *, skips_erased: bool = False) -> tuple[Recorded[Any], ...]:
        """Return the statements of the entries *numbers*, in log order; with *skips_erased*, those with an erased text are passed over.

        Raises:
            AlteredError: one of them was changed after it was recorded, or removed.
            NotFoundError: the text of one of them was erased.
        """
        wanted = sorted(set(numbers))
        statements: list[Recorded[Any]] = []
        for start in range(0, len(wanted), CHUNK):
            rows = self._read_places(wanted[start : start + CHUNK])
            statements += self._decode_rows(row for row in rows if row.json is not None or not skips_erased)
        return tuple(statements)

    def find_recorded(self, numbers: Iterable[int]) -> dict[int, Recorded[Any]]:
        """Return the statements of the entries *numbers*, by number; without those that are not seen or with an erased text."""
        return {row.seq: _decode(_entry(row), row.json.encode()) for row in self._find_places(numbers) if row.json is not None}

    def find_documents(self, numbers: Iterable[int]) -> dict[int, tuple[str, dict[str, Any]]]:
        """Return leaf and payload of the entries *numbers*, as documents: for lists, which show a few fields of many statements.

        As `find_recorded`, and each text is compared with its leaf too.
        """
        return {row.seq: _decode_payload(row) for row in self._find_places(numbers) if row.json is not None}

    def _find_places(self, numbers: Iterable[int]) -> Iterator[Any]:
        listed = list(dict.fromkeys(numbers))
        for start in range(0, len(listed), CHUNK):
            yield from self.rows(_RECORDED_SEEN, keys=listed[start : start + CHUNK])

    def find_times(self, numbers: Iterable[int]) -> dict[int, datetime]:
        """Return when the entries *numbers* were recorded, in UTC, by number."""
        return {seq: from_seconds(at) for seq, at in self.rows_by(_TIMES, numbers)}

    def recorded_by(self, statement: Select[Any], **values: Any) -> tuple[Recorded[Any], ...]:
        """Return the statements with entries that *statement* selects."""
        return self.recorded(row[0] for row in self.rows(statement, **values))

    def first_recorded(self, statement: Select[Any]) -> Recorded[Any] | None:
        """Return the statement with an entry that *statement* selects first; None when there is none."""
        number = self.one_value(statement.limit(1))
        return None if number is None else self.recorded((number,))[0]

    def entries(self, start: int = 1, stop: int | None = None) -> Iterator[Recorded[Any]]:
        """Yield every statement from entry *start* to before *stop* (the end), in order; erased ones are passed over."""
        for place, text in self.log_entries(start, stop):
            if text is not None:
                yield _decode(place, text)

    def log_entries(self, start: int = 1, stop: int | None = None) -> Iterator[tuple[Entry, bytes | None]]:
        """Yield entries with the canonical bytes of their statements, None where the text was erased; as `entries`."""
        last = self._limit if stop is None else min(self._limit, stop - 1)
        while start <= last:
            upto = min(last, start + CHUNK - 1)
            for row in self.rows(_places(self._log_id).where(entry.c.seq >= start, entry.c.seq <= upto).order_by(entry.c.seq)):
                yield _entry(row), None if row.json is None else row.json.encode()
            start = upto + 1

    def leaves(self, start: int = 1, stop: int | None = None) -> Iterator[bytes]:
        """Yield the leaf hashes, 32 bytes each, from entry *start* to before *stop* (the end)."""
        last = self._limit if stop is None else min(self._limit, stop - 1)
        # Leaves have 32 bytes, so a larger step than for texts keeps memory small and needs fewer
        # queries.
        step = 20 * CHUNK
        for first in range(start, last + 1, step):
            between = (entry.c.seq >= first) & (entry.c.seq <= min(last, first + step - 1))
            for row in self.rows(select(entry.c.leaf).where(entry.c.log == self._log_id, between).order_by(entry.c.seq)):
                yield bytes(row[0])

    def last_seq(self) -> int:
        """Return the number of the last entry that is seen, 0 before the first."""
        last = select(func.max(entry.c.seq)).where(entry.c.log == self._log_id, entry.c.seq <= self._limit)
        return int(self.one_value(last) or 0)

    def find_entry(self, seq: int) -> Entry | None:
        """Return the entry *seq*, None if there is none."""
        rows = self.rows(_PLACE, seq=seq)
        return _entry(rows[0]) if rows else None

    def get_content(self, sha256: str) -> str:
        """Return the text with UTF-8 of this digest.

        Raises:
            AlteredError: what is kept under it is another text, or none.
            NotFoundError: it was never put there, or was erased.
        """
        packed = self.one_value(select(content.c.data).where(content.c.sha256 == bytes.fromhex(sha256)))
        if packed is None:
            raise NotFoundError(Fault("content-missing", sha256, "no text with this digest is kept here"))
        return unpack(bytes(packed), sha256)

    def has_content(self, sha256: str) -> bool:
        """Whether the text with this digest is kept here."""
        return self.one_value(select(content.c.sha256).where(content.c.sha256 == bytes.fromhex(sha256))) is not None

    def is_used(self, identifier_text: str) -> bool:
        """Whether the bare identifier is in use."""
        return bool(self.rows(_IDENTIFIER, name=identifier_text))

    def suggest(self, identifier_text: str) -> str | None:
        """Return a question that names the identifiers in use that may have been meant, at most three; None if there is none."""
        match = re.match(r"\s*([A-Za-z]{3})-([A-Za-z0-9]+)-(\d{4})-(\d+)", identifier_text)
        if not match:
            return None
        kind, owner, year, number = match[1].upper(), match[2].upper(), int(match[3]), int(match[4])
        near = select(identifier.c.id, identifier.c.authority, identifier.c.year, identifier.c.number).where(
            self.visible(identifier),
            identifier.c.kind == kind,
            identifier.c.number.in_(_similar_numbers(match[4])),
        )
        ranked = sorted(
            self.rows(near.order_by(identifier.c.seq).limit(200)),
            key=lambda row: (row.authority != owner, row.year != year, abs(row.number - number)),
        )
        stem = match[0].strip()
        meant = [row.id for row in ranked if row.id != identifier_text and count_edits(stem, row.id.rpartition("-")[0]) <= MOST_EDITS]
        return f"did you mean {' or '.join(meant[:3])}?" if meant else None

    def complete(self, start: str, kinds: Collection[str], *, limit: int = 200) -> list[str]:
        """Return the identifiers in use of *kinds* (any where empty) that begin with *start*, in order, at most *limit*."""
        beginning = identifier.c.id.startswith(start.upper(), autoescape=True)
        of_kinds = [identifier.c.kind.in_(list(kinds))] if kinds else []
        query = select(identifier.c.id).where(self.visible(identifier), beginning, *of_kinds).order_by(identifier.c.id).limit(limit)
        return [row.id for row in self.rows(query)]

    def _read_places(self, numbers: Sequence[int]) -> Sequence[Any]:
        rows = self.rows(_RECORDED, keys=numbers)
        if len(rows) < len(numbers):
            (gone, *_) = sorted(set(numbers) - {row.seq for row in rows})
            raise _altered_text(gone, "it is not in the log any more")
        return rows

    def recorded_of(self, statement: Select[Any], **values: Any) -> tuple[Recorded[Any], ...]:
        """Return the statements that *statement*, made by `select_recorded`, selects, in log order; as `recorded`."""
        return tuple(self._decode_rows(self.rows(statement, **values)))

    def _decode_rows(self, rows: Iterable[Any]) -> Iterator[Recorded[Any]]:
        for row in rows:
            if row.json is None:
                erased = "its text was erased; the log keeps the proof that it was there"
                raise NotFoundError(Fault("body-erased", f"entry {row.seq}", erased))
            yield self._decode_once(row)

    def _decode_once(self, row: Any) -> Recorded[Any]:
        # One page reads a statement several times. By the whole row, so that one that was altered meanwhile is another.
        whole = (row.seq, row.kind, row.actor, row.at, bytes(row.leaf), row.json)
        return self.recall(whole, lambda: _decode(_entry(row), row.json.encode()))


def has_text(table: Table) -> ColumnElement[bool]:
    """Return the condition that joins a row of *table* to the text of its statement, which may have been erased."""
    return (body.c.log == table.c.log) & (body.c.seq == table.c.seq)


def to_seconds(moment: datetime) -> int:
    """Return *moment* in whole seconds since 1970, UTC; raises ValueError without a time zone."""
    if moment.tzinfo is None:
        raise ValueError("a time needs its time zone")
    return int(moment.timestamp())


def from_seconds(seconds: int) -> datetime:
    """Return the instant, in UTC."""
    return datetime.fromtimestamp(seconds, tz=UTC)


def _places(log_id: int | BindParameter[Any]) -> Select[Any]:
    joined = entry.outerjoin(body, (body.c.log == entry.c.log) & (body.c.seq == entry.c.seq))
    return (
        select(entry.c.seq, entry.c.kind, entry.c.actor, entry.c.at, entry.c.leaf, body.c.json)
        .select_from(joined)
        .where(entry.c.log == log_id)
    )


def select_recorded(numbers: Select[Any]) -> Select[Any]:
    """Return the statement, for `LogReader.recorded_of`, of the entries that *numbers* selects."""
    return _places(LOG).where(entry.c.seq.in_(numbers)).order_by(entry.c.seq)


_RECORDED = _places(LOG).where(entry.c.seq.in_(KEYS)).order_by(entry.c.seq)
_RECORDED_SEEN = _RECORDED.where(entry.c.seq <= LAST)
_PLACE = _places(LOG).where(entry.c.seq == bindparam("seq"), entry.c.seq <= LAST)
_TIMES = select(entry.c.seq, entry.c.at).where(entry.c.log == LOG, entry.c.seq.in_(KEYS))
_LAST_TIME = select(entry.c.at).where(seen(entry)).order_by(entry.c.seq.desc()).limit(1)
_ORIGIN = select(log.c.origin).where(log.c.id == LOG)
_IDENTIFIER = select(identifier.c.seq).where(seen(identifier), identifier.c.id == bindparam("name"))


def _entry(row: Any) -> Entry:
    try:
        return Entry(seq=row.seq, kind=row.kind, actor=row.actor, at=from_seconds(row.at), leaf=bytes(row.leaf).hex())
    except (ValueError, OverflowError, OSError) as error:
        raise _altered_text(row.seq, f"no entry has the kind {row.kind!r} and the time {row.at}") from error


def _decode(place: Entry, text: bytes) -> Recorded[Any]:
    """Return the statement, if it is the one that was recorded.

    Raises:
        AlteredError: its leaf is not the hash of its text, or who, when or what stands otherwise in its entry.
    """
    # Decision of 2026-11-22: every text that is decoded is compared with its leaf, at about 1 µs
    # per statement. An altered statement ends with exit code 3, because the request was valid but
    # the answer cannot be trusted.
    _compare_leaf(place.seq, place.leaf, text)
    statement = decode_statement(text, where=f"entry {place.seq}")
    # The columns of `entry` are not covered by the leaf. Comparing them with the text protects
    # queries that select by kind, actor or time.
    if (statement.kind, statement.actor, statement.at) != (place.kind, place.actor, place.at):
        entered = f"{place.kind} by {place.actor} at {place.at.isoformat()}"
        raise _altered_text(
            place.seq, f"its text is a {statement.kind} by {statement.actor} at {statement.at.isoformat()}, its entry says {entered}"
        )
    return Recorded(entry=place, payload=statement.payload)


def _decode_payload(row: Any) -> tuple[str, dict[str, Any]]:
    text, leaf = row.json.encode(), bytes(row.leaf).hex()
    _compare_leaf(row.seq, leaf, text)
    return leaf, decode_payload(text, where=f"entry {row.seq}")


def _compare_leaf(seq: int, leaf: str, text: bytes) -> None:
    hashed = leaf_hash(text)
    if hashed != leaf:
        raise _altered_text(seq, f"its leaf is {leaf}, the hash of its text {hashed}")


def _altered_text(seq: int, text: str) -> AlteredError:
    return AlteredError(Fault("entry-altered", f"entry {seq}", text))


def _similar_numbers(digits: str) -> set[int]:
    """The number itself, its neighbours, one digit changed, left out or added, and two digits swapped."""
    # Edits of distance 1 and swapped digits are the usual typing errors. Suggestions must exist, so
    # the caller filters these by the database.
    number = int(digits)
    similar = {number, number - 1, number + 1}
    for at in range(len(digits)):
        similar |= {int(f"{digits[:at]}{digit}{digits[at + 1 :]}") for digit in "0123456789"}
        similar.add(int(f"0{digits[:at]}{digits[at + 1 :]}"))
        if at + 1 < len(digits):
            similar.add(int(f"{digits[:at]}{digits[at + 1]}{digits[at]}{digits[at + 2 :]}"))
    return {candidate for candidate in similar if 0 < candidate < 2**53}


# Roots of complete subtrees, stored when they are completed and read for proofs.
#
# Decision of 2026-11-22: levels 4, 8, 12, … are stored (16, 256, 4,096, … leaves). A proof then
# reads about eighty rows, and levels in between are computed from at most sixteen. A checkpoint's
# own root is always computed from the leaves, so nothing that is signed depends on this table. The
# cost: one pass over the leaves for each checkpoint.

STEP = 4
"""Every fourth level is kept."""

_NODES = "SELECT seq, hash FROM node WHERE log = ? AND level = ? AND seq IN ({})"
_LEAVES = "SELECT leaf FROM entry WHERE log = ? AND seq BETWEEN ? AND ? ORDER BY seq"

NodeRow = tuple[int, int, int, bytes]
"""A row of `node`: log, entry that completes the subtree, level, hash."""


class NodeFinder:
    """Finds roots of complete subtrees for `registry.seal.merkle_tree`; what was read once is remembered."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._known: dict[tuple[int, int], bytes] = {}
        self._read_already: set[tuple[int, int]] = set()

    def find(self, level: int, index: int) -> bytes:
        """Return the root of the complete subtree of leaves `index · 2^level` to before `(index + 1) · 2^level`.

        Raises:
            AlteredError: leaves under it are gone.
        """
        if (level, index) not in self._known:
            # The nearest stored level at or below the requested one.
            kept = level - level % STEP
            self._read(kept, index >> (STEP - level % STEP))
            if (level, index) not in self._known:
                self._known[level, index] = self._compute(level, index, kept)
        return self._known[level, index]

    def _read(self, level: int, group: int) -> None:
        """Read the sixteen subtrees of *level*, or as many as there are, that make up one of the next level that is kept."""
        # A group without stored rows must not be asked for again: proofs visit neighbouring nodes.
        if (level, group) in self._read_already:
            return
        self._read_already.add((level, group))
        first, width = group << STEP, 1 << level
        stop = min((first + (1 << STEP)) * width, self._reader.log_size)
        if level == 0:
            self._known.update(((0, index), leaf) for index, leaf in enumerate(self._read_leaves(first, stop), start=first))
            return
        numbers = [(index + 1) * width for index in range(first, stop // width)]
        if numbers:
            values = (self._reader.log_id, level, *numbers)
            for seq, digest in self._reader.driver_rows(_NODES.format(", ".join("?" * len(numbers))), *values):
                self._known[level, seq // width - 1] = bytes(digest)

    def _compute(self, level: int, index: int, kept: int) -> bytes:
        below = level - 1
        # Between two stored levels, hash upwards. At a stored level whose row is missing, compute
        # from the leaves.
        if level > kept:
            return tree.node_hash(self.find(below, 2 * index), self.find(below, 2 * index + 1))
        return tree.root_of(self._read_leaves(index << level, (index + 1) << level))

    def _read_leaves(self, first: int, stop: int) -> list[bytes]:
        if stop - first <= 1 << STEP:
            rows = self._reader.driver_rows(_LEAVES, self._reader.log_id, first + 1, stop)
            leaves = [bytes(row[0]) for row in rows]
        else:
            leaves = list(self._reader.leaves(first + 1, stop + 1))
        # A missing leaf would shift all later ones and give a wrong root without any error.
        if len(leaves) != stop - first:
            raise AlteredError(Fault("entry-altered", "log", f"{stop - first - len(leaves)} of the entries {first + 1} to {stop} are gone"))
        return leaves


def load_frontier(reader: LogReader) -> tuple[tree.Frontier, list[NodeRow]]:
    """Return the right edge of the log's tree, and the rows of `node` that are missing: of a registry upgraded and not written since."""
    size = reader.last_seq()
    # Level 4 rows exist for every sixteenth entry, so at most fifteen leaves after the last row are
    # read here in a registry that is up to date.
    last = select(func.max(node.c.seq)).where(node.c.log == reader.log_id, node.c.level == STEP)
    known = int(reader.one_value(last) or 0)
    find = NodeFinder(reader).find
    peaks = [find(level, (known >> level) - 1) for level in range(known.bit_length() - 1, -1, -1) if known >> level & 1]
    frontier = tree.Frontier(known, peaks)
    missing: list[NodeRow] = []
    for leaf in reader.leaves(known + 1, size + 1):
        missing += complete(frontier, leaf, log_id=reader.log_id)
    return frontier, missing


def complete(frontier: tree.Frontier, leaf: bytes, *, log_id: int) -> Iterator[NodeRow]:
    """Append *leaf* to *frontier*, and yield the rows of `node` for the subtrees it completes."""
    # `append` yields a root for each subtree that this leaf completes. Only every fourth level is
    # stored.
    for level, _, digest in frontier.append(leaf):
        if level % STEP == 0:
            yield log_id, frontier.size, level, digest


# Logs in one registry: its own, and imported logs of other registries.


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSummary(Record):
    """One log that is kept here."""

    origin: str
    """Its name."""
    vkey: str | None
    """The key that verifies its checkpoints; None when it has none."""
    size: int
    """Number of its entries that are here."""
    is_own: bool
    """Whether this registry writes it."""


def list_log_summaries(connection: Connection) -> tuple[LogSummary, ...]:
    """Return the logs behind *connection*, the own one first; empty before the first entry."""
    size = select(func.coalesce(func.max(entry.c.seq), 0)).where(entry.c.log == log.c.id).scalar_subquery()
    rows = connection.execute(select(log.c.id, log.c.origin, log.c.vkey, size.label("size")).order_by(log.c.id))
    return tuple(LogSummary(origin=row.origin, vkey=row.vkey, size=row.size, is_own=row.id == OWN_LOG) for row in rows)


def find_log(connection: Connection, origin: str) -> int:
    """Return the number of the log called *origin*.

    Raises:
        NotFoundError: none is called so; with the names of those that are here.
    """
    known = {row.origin: row.id for row in connection.execute(select(log.c.origin, log.c.id).order_by(log.c.id))}
    if origin not in known:
        here = f"the logs here are {', '.join(known)}" if known else "there is no log here"
        raise NotFoundError(Fault("log-not-found", origin, here, advice="caveat admin bundle read takes over another registry's log"))
    return int(known[origin])


def list_key_events(reader: LogReader) -> tuple[Recorded[KeyEvent], ...]:
    """Return every key event that is seen, in log order."""
    return reader.recorded_by(select(key_event.c.seq).where(reader.visible(key_event)))


# Author signatures. An author signs log name, entry number and leaf with a statement key. The
# signature is stored next to the log, because a leaf cannot contain what is computed from it, and
# it is included in bundles, backups and inclusion proofs.
#
# The cost: whoever transmits a log can remove signatures. Such a statement then counts as the
# operator's, never as another author's.

SignatureRow = tuple[int, int, bytes, bytes]
"""What is kept of one signature: log, entry, fingerprint of the key, 64 bytes."""


class FindKey(Protocol):
    """Gives the secret statement key of an authority."""

    def __call__(self, authority: str, /) -> "SigningKey | None":
        """Return the key that is here; None where there is none, and then nothing is signed."""


def find_no_key(_authority: str, /) -> "SigningKey | None":
    """Return None: nothing is signed."""
    return None


def list_signatures(reader: LogReader, entries: Iterable[int]) -> tuple[EntrySignature, ...]:
    """Return the signatures of *entries*, as far as they have one, in log order."""
    statement = select(signature).where(reader.visible(signature))
    rows = reader.rows_in(statement, signature.c.seq, entries)
    return tuple(
        EntrySignature(entry=row.seq, key=bytes(row.key).hex(), signature=b64encode(bytes(row.value)).decode())
        for row in sorted(rows, key=lambda row: row.seq)
    )


def read_statement_keys(reader: LogReader) -> "StatementKeys":
    """Return what the log says of statement keys, as far as it is seen."""
    from registry.seal.signing_keys import StatementKeys  # noqa: PLC0415  (cryptography: most commands need none)

    events = list_key_events(reader)
    signed = list_signatures(reader, (event.entry.seq for event in events))
    return StatementKeys(reader.log_origin, events, {entry_signature.entry: entry_signature for entry_signature in signed})


def find_signature_faults(reader: LogReader) -> Iterator[Fault]:
    """Yield what is wrong with the signatures of the log, and with what it says of statement keys."""
    keys = read_statement_keys(reader)
    yield from keys.faults
    numbers = [row[0] for row in reader.plain_rows(select(signature.c.seq).where(reader.visible(signature)).order_by(signature.c.seq))]
    # In chunks: a log of many signed entries must not be loaded at once.
    for start in range(0, len(numbers), CHUNK):
        wanted = numbers[start : start + CHUNK]
        signed = {entry_signature.entry: entry_signature for entry_signature in list_signatures(reader, wanted)}
        places = {place.seq: place for place, _ in reader.log_entries(wanted[0], wanted[-1] + 1)}
        for seq, entry_signature in signed.items():
            place = places.get(seq)
            if place is None:
                yield Fault("signature-not-valid", f"entry {seq}", "a signature is kept of an entry that is not in the log")
            elif (fault := keys.find_fault(place, entry_signature)) is not None:
                yield fault


def to_row(signed: EntrySignature, *, log_id: int) -> SignatureRow:
    """Return *signed* as it is kept; raises ValueError for what is no base64."""
    return log_id, signed.entry, bytes.fromhex(signed.key), b64decode(signed.signature, validate=True)


class Signing:
    """Signs the entries of one transaction with their author's key, where that is here."""

    def __init__(self, reader: LogReader, actor: str, find_key: FindKey) -> None:
        self._reader = reader
        self._actor = actor
        self._find_key = find_key
        self._key: SigningKey | None = None
        self._is_asked = False

    def sign(self, seq: int, leaf: str) -> EntrySignature | None:
        """Return the signature of the actor over the entry *seq*; None where no key of theirs is here.

        Raises:
            ConflictError: `key-not-registered`, `key-not-in-force`: the key that is here is not the one that the log has in force.
            UnavailableError: `passphrase-missing`: the key is encrypted, and there is no terminal to ask at.
        """
        # The key is looked up once per transaction. Opening an encrypted key asks for a passphrase.
        if not self._is_asked:
            self._key = self._find_key(self._actor)
            self._is_asked = True
            if self._key is not None:
                # A signature by a key that the log does not know could never be verified. Refuse it
                # before the entry is written.
                _refuse_other(self._reader, self._key)
        if self._key is None:
            return None
        from registry.seal.signing_keys import sign_entry  # noqa: PLC0415  (as above)

        return sign_entry(self._key, self._reader.log_origin, seq, leaf)

    def forget(self) -> None:
        """Ask again which key signs: the log says something new of keys."""
        self._is_asked = False


def _refuse_other(reader: LogReader, key: "SigningKey") -> None:
    current = read_statement_keys(reader).find_in_force(key.name)
    if current is not None and current.fingerprint == key.fingerprint:
        return
    there = "no statement key" if current is None else f"key {current.fingerprint[:16]}"
    problem = f"a secret statement key of {key.name} is here, and the log has {there} in force for them"
    advice = "use the folder of this registry's keys: CAVEAT_KEYS; caveat admin key list names those in force"
    raise ConflictError(Fault("key-not-registered", f"key {key.fingerprint[:16]}", problem, advice=advice))


def find_backings(reader: LogReader, entries: Iterable[Entry]) -> "dict[int, Backing | None]":
    """Return who is behind each of *entries*, by number; None where its signature is wrong."""
    listed = list(entries)
    keys = read_statement_keys(reader)
    signed = {
        entry_signature.entry: entry_signature for entry_signature in list_signatures(reader, (candidate.seq for candidate in listed))
    }
    backings: dict[int, Backing | None] = {}
    for listed_entry in listed:
        its = signed.get(listed_entry.seq)
        # A wrong signature gives None. Treating it as missing would make the entry look like a
        # statement of the operator.
        is_wrong = its is not None and keys.find_fault(listed_entry, its) is not None
        backings[listed_entry.seq] = None if is_wrong else keys.find_backing(listed_entry, its)
    return backings
