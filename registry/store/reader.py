"""Reading the log as of one entry: whatever a later entry recorded is not seen."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, Table, func, select
from sqlalchemy.exc import DBAPIError

from registry.codec.canonical_documents import leaf_hash
from registry.codec.statement_encoding import decode_statement
from registry.errors import AlteredError, Fault, NotFoundError
from registry.records.dossier import Recorded
from registry.records.statement import Entry, StatementKind
from registry.store.contents import unpack
from registry.store.engine import describe_connection, translate
from registry.store.tables import OWN_LOG, body, content, entry, identifier, log

Answer = TypeVar("Answer")

CHUNK = 500
"""How many keys one query asks for; SQLite takes at most 32,766 parameters."""


class Reader:
    """What every reading shares: a connection, the log that is read, and the entry up to which it sees."""

    def __init__(self, connection: Connection, *, limit: int, log_id: int = OWN_LOG, today: date | None = None) -> None:
        self._connection = connection
        self._limit = limit
        self._log_id = log_id
        self._today = today

    @property
    def log_id(self) -> int:
        """Number of the log that is read: 1 for this registry's own, others for those taken over from other registries."""
        return self._log_id

    @property
    def today(self) -> date | None:
        """The day by which outcomes count as expired: the one given, else that of the last entry seen; None in an empty log.

        What is rendered goes by the log alone, so that the same entries give the same bytes at any time. Lists go by the clock.
        """
        if self._today is None:
            last = self.find_entry(self.last_seq())
            self._today = None if last is None else last.at.date()
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
        return str(self.one_value(select(log.c.origin).where(log.c.id == self._log_id)) or "")

    @property
    def log_vkey(self) -> str | None:
        """The key that verifies the log's checkpoints; None when it has none."""
        found = self.one_value(select(log.c.vkey).where(log.c.id == self._log_id))
        return None if found is None else str(found)

    def visible(self, table: Table) -> ColumnElement[bool]:
        """Return the condition that a row of *table* is seen."""
        return (table.c.log == self._log_id) & (table.c.seq <= self._limit)

    def rows(self, statement: Select[Any]) -> Sequence[Any]:
        """Return all rows of *statement*; errors of the database come out as ours."""
        try:
            return self._connection.execute(statement).all()
        except DBAPIError as error:
            raise translate(error, where=describe_connection(self._connection)) from error
        except OverflowError as error:
            found = "a number is larger than any that is recorded"
            raise NotFoundError(Fault(code="not-registered", where="registry", found=found, advice="check the identifier")) from error

    def rows_in(self, statement: Select[Any], column: Any, keys: Iterable[Any]) -> list[Any]:
        """Return the rows of *statement* in which *column* has one of *keys*, asked for in chunks."""
        listed = list(dict.fromkeys(keys))
        chunks = (listed[start : start + CHUNK] for start in range(0, len(listed), CHUNK))
        return [row for chunk in chunks for row in self.rows(statement.where(column.in_(chunk)))]

    def plain_rows(self, statement: Select[Any]) -> list[tuple[Any, ...]]:
        """Return all rows as the driver gives them, for long lists of texts and numbers: SQLAlchemy's rows take as long as the query."""
        try:
            with self._connection.execute(statement) as result:
                return [] if result.cursor is None else list(result.cursor.fetchall())
        except DBAPIError as error:
            raise translate(error, where=describe_connection(self._connection)) from error

    def driver_rows(self, statement: str, *values: int) -> list[tuple[Any, ...]]:
        """Return all rows of the SQL *statement*, `?` for each value, past SQLAlchemy: a proof asks ten questions in a millisecond."""
        marked = statement if self._connection.dialect.paramstyle == "qmark" else statement.replace("?", "%s")
        try:
            with self._connection.exec_driver_sql(marked, values) as result:
                return list(result.cursor.fetchall())
        except DBAPIError as error:
            raise translate(error, where=describe_connection(self._connection)) from error

    def ask(self, question: Callable[[Connection], Answer]) -> Answer:
        """Return what *question* answers of the database as a whole. For the store alone."""
        return question(self._connection)

    def one_value(self, statement: Select[Any]) -> Any:
        """Return the first value of the first row, None when there is no row."""
        found = self.rows(statement)
        return found[0][0] if found else None

    def has_rows(self, table: Table) -> bool:
        """Whether *table* has anything that is seen."""
        return bool(self.rows(select(table.c.seq).where(self.visible(table)).limit(1)))

    def recorded(self, numbers: Iterable[int]) -> tuple[Recorded[Any], ...]:
        """Return the statements of the entries *numbers*, in log order.

        Raises:
            AlteredError: one of them was changed after it was recorded, or removed.
            NotFoundError: the text of one of them was erased.
        """
        wanted = sorted(set(numbers))
        found: list[Recorded[Any]] = []
        for start in range(0, len(wanted), CHUNK):
            found += self._recorded(wanted[start : start + CHUNK])
        return tuple(found)

    def recorded_by(self, statement: Select[Any]) -> tuple[Recorded[Any], ...]:
        """Return the statements whose entries *statement* selects."""
        return self.recorded(row[0] for row in self.rows(statement))

    def first_recorded(self, statement: Select[Any]) -> Recorded[Any] | None:
        """Return the statement whose entry *statement* selects first; None when there is none."""
        found = self.one_value(statement.limit(1))
        return None if found is None else self.recorded((found,))[0]

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
        found = self.rows(_places(self._log_id).where(entry.c.seq == seq, entry.c.seq <= self._limit))
        return _entry(found[0]) if found else None

    def get_content(self, sha256: str) -> str:
        """Return the text whose UTF-8 has this digest.

        Raises:
            AlteredError: what is kept under it is another text, or none.
            NotFoundError: it was never put there, or was erased.
        """
        packed = self.one_value(select(content.c.data).where(content.c.sha256 == bytes.fromhex(sha256)))
        if packed is None:
            raise NotFoundError(Fault(code="content-not-found", where=sha256, found="no text with this digest is kept here"))
        return unpack(bytes(packed), sha256)

    def has_content(self, sha256: str) -> bool:
        """Whether the text with this digest is kept here."""
        return self.one_value(select(content.c.sha256).where(content.c.sha256 == bytes.fromhex(sha256))) is not None

    def is_used(self, identifier_text: str) -> bool:
        """Whether the bare identifier is in use."""
        return bool(self.rows(select(identifier.c.seq).where(self.visible(identifier), identifier.c.id == identifier_text)))

    def suggest(self, identifier_text: str) -> list[str]:
        """Return identifiers in use that may have been meant, nearest first, at most five."""
        match = re.match(r"\s*([A-Za-z]{3})-([A-Za-z0-9]+)-(\d{4})-(\d+)", identifier_text)
        if not match:
            return []
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
        return [row.id for row in ranked[:5]]

    def _recorded(self, numbers: Sequence[int]) -> Iterator[Recorded[Any]]:
        found = self.rows(_places(self._log_id).where(entry.c.seq.in_(numbers)).order_by(entry.c.seq))
        if len(found) < len(numbers):
            (gone, *_) = sorted(set(numbers) - {row.seq for row in found})
            raise _altered(gone, "it is not in the log any more")
        for row in found:
            if row.json is None:
                erased = "its text was erased; the log keeps the proof that it was there"
                raise NotFoundError(Fault(code="body-erased", where=f"entry {row.seq}", found=erased))
            yield _decode(_entry(row), row.json.encode())


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


def _places(log_id: int) -> Select[Any]:
    joined = entry.outerjoin(body, (body.c.log == entry.c.log) & (body.c.seq == entry.c.seq))
    return (
        select(entry.c.seq, entry.c.kind, entry.c.actor, entry.c.at, entry.c.leaf, body.c.json)
        .select_from(joined)
        .where(entry.c.log == log_id)
    )


def _entry(row: Any) -> Entry:
    try:
        return Entry(seq=row.seq, kind=StatementKind(row.kind), actor=row.actor, at=from_seconds(row.at), leaf=bytes(row.leaf).hex())
    except (ValueError, OverflowError, OSError) as error:
        raise _altered(row.seq, f"no entry has the kind {row.kind!r} and the time {row.at}") from error


def _decode(place: Entry, text: bytes) -> Recorded[Any]:
    """Return the statement, if it is the one that was recorded.

    Raises:
        AlteredError: its leaf is not the hash of its text, or who, when or what stands otherwise in its entry.
    """
    hashed = leaf_hash(text)
    if hashed != place.leaf:
        raise _altered(place.seq, f"its leaf is {place.leaf}, the hash of its text {hashed}")
    said = decode_statement(text, where=f"entry {place.seq}")
    if (said.kind, said.actor, said.at) != (place.kind, place.actor, place.at):
        entered = f"{place.kind.value} by {place.actor} at {place.at.isoformat()}"
        raise _altered(place.seq, f"its text is a {said.kind.value} by {said.actor} at {said.at.isoformat()}, its entry says {entered}")
    return Recorded(entry=place, payload=said.payload)


def _altered(seq: int, found: str) -> AlteredError:
    advice = "caveat log check says since when; restore the registry from a backup"
    return AlteredError(Fault(code="entry-altered", where=f"entry {seq}", found=found, advice=advice))


def _similar_numbers(digits: str) -> set[int]:
    """The number itself, its neighbours, one digit changed, left out or added, and two digits swapped."""
    number = int(digits)
    similar = {number, number - 1, number + 1}
    for at in range(len(digits)):
        similar |= {int(f"{digits[:at]}{digit}{digits[at + 1 :]}") for digit in "0123456789"}
        similar.add(int(f"0{digits[:at]}{digits[at + 1 :]}"))
        if at + 1 < len(digits):
            similar.add(int(f"{digits[:at]}{digits[at + 1]}{digits[at]}{digits[at + 2 :]}"))
    return {one for one in similar if 0 < one < 2**53}
