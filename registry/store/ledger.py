"""The ledger: open it, read it as of an entry, and append to it in one transaction at a time."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from datetime import date, datetime
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, func, select, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from registry.errors import Fault, InputError, UnavailableError
from registry.store.database_engine import (
    OWN_LOG,
    REVISION,
    close_engine,
    describe_url,
    find_outdated_advice,
    limit_queries,
    open_engine,
    refuse_missing,
    release_engine,
    translate,
)
from registry.store.database_tables import entry
from registry.store.log_reader import FindKey, LogSummary, find_log, find_no_key, list_log_summaries, to_seconds
from registry.store.log_writer import Writer
from registry.store.registry_view import View

LOG = logging.getLogger("caveat.registry")
"""Which database is opened, without its password: shown by `caveat -v`."""

ADVISORY_LOCK = 0x63617665
"""On PostgreSQL one transaction writes at a time; the migrations take the same lock."""


class Ledger:
    """An open registry."""

    def __init__(self, url: str, engine: Engine, clock: Callable[[], datetime], salt: Callable[[], str], find_key: FindKey) -> None:
        self.url = url
        """Where it is, as given."""
        self._engine = engine
        self._clock = clock
        self._salt = salt
        self._find_key = find_key
        self._is_writing = False
        self._kept: tuple[tuple[int, date | None], dict[str, Any]] = ((0, None), {})
        """What readers of the newest state of the own log derived from it: after an erasure, nothing of a text stays in memory."""

    @classmethod
    def open(
        cls,
        url: str,
        *,
        clock: Callable[[], datetime],
        salt: Callable[[], str],
        find_key: FindKey = find_no_key,
        wait_ms: int | None = None,
    ) -> "Ledger":
        """Return the registry at *url*.

        Args:
            clock: gives the time, with its time zone.
            salt: gives 32 hexadecimal digits, new at each call.
            find_key: gives the secret key that signs what an authority states here; without it, nothing is signed.
            wait_ms: how long a connection to SQLite waits for other processes; None: half a minute.

        Raises:
            InputError: not a URL of SQLite or PostgreSQL.
            UnavailableError: `registry-not-found` (no file, no schema), `registry-not-current` (migrations are pending), or it cannot
                be reached.
        """
        # SQLite creates a file that does not exist. A mistyped path must be an error, not an empty
        # registry.
        refuse_missing(url)
        engine = open_engine(url, wait_ms=wait_ms)
        LOG.info("open %s", describe_url(url))
        try:
            with engine.connect() as connection:
                _check_revision(connection, describe_url(url))
        # Also on an interrupt: an engine that is left open keeps the file locked for the next
        # caller.
        except BaseException as error:
            release_engine(url, engine)
            if isinstance(error, DBAPIError):
                raise translate(error, where=describe_url(url)) from error
            raise
        return cls(url, engine, clock, salt, find_key)

    @contextmanager
    def view(
        self,
        as_of: int | datetime | None = None,
        *,
        log: str | None = None,
        is_steady: bool = False,
        today: date | None = None,
        query_limit_s: float | None = None,
    ) -> Iterator[View]:
        """Give the registry as of an entry, as of a time, or as it is now; later writes are not seen.

        Args:
            log: the origin of another registry's log that was taken over; only its statements are seen. None: the own log.
            today: the day by which outcomes count as expired; None: that of the last entry seen.
            is_steady: nothing that others do meanwhile is seen, not even a text that they erase; for long looks at all of it.
            query_limit_s: how long one question to the database may take; None: as long as it needs.

        Raises:
            InputError: *as_of* lies beyond the last entry, or is a time without time zone.
            NotFoundError: no log of this origin is here.
            UnavailableError: `too-broad`, a question took longer than *query_limit_s*.
        """
        # A database in memory has one connection, which holds the open transaction. A second reader
        # on it would see statements that can still be rolled back.
        if self._is_writing and self._engine.pool.__class__.__name__ == "StaticPool":
            raise RuntimeError("a database in memory has one connection: read through the writer")
        with self.connect() as connection, nullcontext() if query_limit_s is None else limit_queries(connection, query_limit_s):
            if is_steady:
                hold_still(connection)
            # A server is open for weeks, and the schema can change meanwhile.
            if query_limit_s is not None:
                _check_revision(connection, describe_url(self.url))
            log_id = OWN_LOG if log is None else find_log(connection, log)
            try:
                limit = _find_limit(connection, as_of, log_id)
                kept = self._find_kept(limit, today) if log_id == OWN_LOG else None
                yield View(connection, limit=limit, log_id=log_id, today=today, kept=kept)
            # A read transaction that stays open would pin the write-ahead log of SQLite and old row
            # versions on PostgreSQL.
            finally:
                if is_steady:
                    connection.rollback()

    def _find_kept(self, limit: int, today: date | None) -> dict[str, Any] | None:
        key, kept = self._kept
        if limit > key[0] or (limit == key[0] and today != key[1]):
            kept = {}
            self._kept = ((limit, today), kept)
        return kept if limit >= key[0] else None

    def list_logs(self) -> tuple[LogSummary, ...]:
        """Return the logs that are here: this registry's own first, then those taken over, in the order they came."""
        with self.connect() as connection:
            return list_log_summaries(connection)

    @contextmanager
    def write(self, *, actor: str) -> Iterator[Writer]:
        """Give a writer for *actor* in one transaction: recorded wholly, or not at all if anything is raised.

        Raises:
            ConflictError: it contradicts what is recorded.
            UnavailableError: another process writes for too long, or the database cannot be reached.
        """
        # Decision of 2026-11-21: one statement is one entry, and the statements of one file share
        # one transaction. So a file is recorded completely or not at all. The cost: a very large
        # file holds the write lock for its whole import.
        with self.connect() as connection:
            # The lock is taken before the writer reads the head of the log. Otherwise two writers
            # could read the same head and give two entries the same number.
            begin(connection)
            self._is_writing = True
            try:
                writer = Writer(connection, actor=actor, clock=self._clock, salt=self._salt, find_key=self._find_key)
                yield writer
                writer.finish()
                connection.commit()
                # Only after the commit: a checkpoint of the write-ahead log inside the transaction
                # could not remove the old pages.
                if writer.has_erased:
                    _forget_pages(connection)
            except BaseException:
                connection.rollback()
                raise
            finally:
                self._is_writing = False

    def close(self) -> None:
        """Close all connections; a registry in memory is gone."""
        close_engine(self.url, self._engine)

    def release(self) -> None:
        """Close all connections, but keep a registry in memory for the next who opens it."""
        release_engine(self.url, self._engine)

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Give a connection. For the store only: rows never leave it."""
        try:
            with self._engine.connect() as connection:
                yield connection
        except DBAPIError as error:
            raise translate(error, where=describe_url(self.url)) from error


def begin(connection: Connection) -> None:
    """Writers queue up before the head of the log is read."""
    # SQLite: a deferred BEGIN takes the write lock at the first INSERT, after the head was read.
    # PostgreSQL: the lock is bound to the transaction, so it is released even if the process dies.
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_LOCK})


def _forget_pages(connection: Connection) -> None:
    """On SQLite the write-ahead log still holds the pages as they were before a text was erased; PostgreSQL needs its VACUUM."""
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def hold_still(connection: Connection) -> None:
    """Let everything that *connection* reads until it rolls back be of one moment, whatever others write or erase meanwhile."""
    # SQLite reads one snapshot in any open transaction. On PostgreSQL the default isolation level
    # takes a new snapshot for each query, so REPEATABLE READ is required.
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql("BEGIN")
    else:
        connection.execution_options(isolation_level="REPEATABLE READ")


_LAST_ENTRY = select(func.coalesce(func.max(entry.c.seq), 0)).where(entry.c.log == bindparam("log_id"))


def _find_limit(connection: Connection, as_of: int | datetime | None, log_id: int) -> int:
    # Several entries can share one second. The last of them counts, so a time always means a
    # complete second.
    if isinstance(as_of, datetime):
        try:
            return int(connection.execute(_LAST_ENTRY.where(entry.c.at <= to_seconds(as_of)), {"log_id": log_id}).scalar_one())
        except ValueError as error:
            raise InputError(Fault("entry-not-found", str(as_of), str(error))) from error
    last = int(connection.execute(_LAST_ENTRY, {"log_id": log_id}).scalar_one())
    if as_of is None:
        return last
    # A number beyond the last entry is refused. Clamping it would label today's state with an entry
    # that does not exist yet.
    if not 0 <= as_of <= last:
        raise InputError(Fault("entry-not-found", str(as_of), f"the log has {last} entries"))
    return as_of


def _check_revision(connection: Connection, url: str) -> None:
    """Cheaper than asking Alembic, which takes longer to load than most commands to run."""
    problem = "it holds no registry"
    try:
        current = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    except SQLAlchemyError as error:
        connection.rollback()
        # Only a missing table means "no registry". Every other database error must keep its own
        # cause.
        if "alembic_version" in str(error):
            raise UnavailableError(_not_found(url, problem)) from error
        raise
    if current is None:
        raise UnavailableError(_not_found(url, problem))
    if current != REVISION:
        problem = f"its schema is at revision {current}, and this Caveat works with {REVISION}"
        raise UnavailableError(Fault("registry-not-current", url, problem, advice=find_outdated_advice(current)))


def _not_found(url: str, problem: str) -> Fault:
    return Fault("registry-not-found", url, problem)
