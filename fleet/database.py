"""PostgreSQL for the fleet: connections, transactions that are repeated after a cut, and the checks of `fleet init`."""

import json
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, LiteralString, Self, TypeVar
from urllib.parse import urlsplit

import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from registry.errors import ConflictError, Fault, InputError, UnavailableError

VERSION = "3"
"""Of `schema.sql`."""

_CONNECT_S = 5
_ANSWER_S = 300.0
_LONGEST_WAIT_S = 2.0

T = TypeVar("T")


class DatabaseAwayError(UnavailableError):
    """The database cannot be reached now. What was asked may or may not have been committed."""


def parse_address(url: str, *, is_typed: bool = False) -> str:
    """Return *url*, the address of a PostgreSQL database.

    Args:
        is_typed: whether it was given on the command line, where everyone on the machine can read a password.

    Raises:
        InputError: it is no such address, or has a password where it must not.
    """
    place = "fleet URL"
    if urlsplit(url).scheme not in ("postgresql", "postgres"):
        problem = f"{describe_address(url)!r} is not the address of a PostgreSQL database"
        raise InputError(Fault("fleet-url", place, problem))
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError as error:
        raise InputError(Fault("fleet-url", place, str(error).strip())) from error
    if is_typed and parts.get("password"):
        raise InputError(Fault("fleet-url", place, "contains a password, which other users of this machine can read"))
    return url


def describe_address(url: str) -> str:
    """Return *url* as it may be shown and recorded: without a password."""
    before, mark, after = url.partition("://")
    login, at, rest = after.partition("@")
    return f"{before}{mark}{login.partition(':')[0]}{at}{rest}" if at else url


def join_search_path(url: str, schema: str) -> str:
    """Return the connection string of *url* with *schema* as the place of names without one."""
    return make_conninfo(url, options=f"-c search_path={schema}", connect_timeout=_CONNECT_S)


# A server that stands still, or a network that drops everything, closes no connection: PostgreSQL and TCP then wait without end. So a
# silence that is too long is a cut.


def _hear(gen: Generator[Any, Any, T], connection: psycopg.BaseConnection[Any], answer_s: float) -> Generator[Any, Any, T]:
    """Do as *gen*, which psycopg asks again ten times a second; close *connection* when the server was silent for *answer_s* seconds."""
    try:
        wanted = next(gen)
        heard_at = time.monotonic()
        while True:
            ready = yield wanted
            if ready:
                heard_at = time.monotonic()
            elif time.monotonic() - heard_at > answer_s:
                connection.pgconn.finish()
                raise psycopg.OperationalError(f"no answer from the server for {answer_s:g} s")
            wanted = gen.send(ready)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]


class SyncConnection(psycopg.Connection[Any]):
    """A connection whose statements end when the server is silent for too long."""

    answer_s = _ANSWER_S

    def wait(self, gen: Generator[Any, Any, T], *how: Any, **named: Any) -> T:
        """Return the result of *gen*; raises OperationalError after a silence of `answer_s` seconds."""
        return super().wait(_hear(gen, self, self.answer_s), *how, **named)


class AsyncConnection(psycopg.AsyncConnection[Any]):
    """The same for an event loop."""

    async def wait(self, gen: Generator[Any, Any, T], *how: Any, **named: Any) -> T:
        """Return the result of *gen*; raises OperationalError after a silence."""
        return await super().wait(_hear(gen, self, _ANSWER_S), *how, **named)


async def open_async(url: str, *, schema: str) -> AsyncConnection:
    """Return a connection for an engine that needs one; each statement is a transaction of its own."""
    return await AsyncConnection.connect(join_search_path(url, schema), autocommit=True)


class FleetDatabase:
    """One connection, opened when it is needed and again after a cut. Methods may be called from any thread."""

    def __init__(self, url: str, *, answer_s: float = _ANSWER_S) -> None:
        """Connect to nothing yet.

        Args:
            answer_s: seconds of silence after which the server counts as away.
        """
        self.url = url
        self._answer_s = answer_s
        self._connection: SyncConnection | None = None
        self._lock = threading.RLock()

    @classmethod
    def open(cls, url: str, *, answer_s: float = _ANSWER_S) -> Self:
        """Return the database at *url* with the schema of this version.

        Raises:
            DatabaseAwayError: it cannot be reached.
            ConflictError: it has no schema `fleet`, or one of another version.
        """
        database = cls(url, answer_s=answer_s)
        try:
            version = database.read_version()
        except UnavailableError:
            database.close()
            raise
        if version != VERSION:
            database.close()
            problem = (
                "has no schema fleet" if version is None else f"has the schema fleet of version {version}; this Caveat needs {VERSION}"
            )
            raise ConflictError(Fault("fleet-not-initialised", describe_address(url), problem))
        return database

    def close(self) -> None:
        """Let go of the connection."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def read_version(self) -> str | None:
        """Return the version of the schema `fleet` here; None where there is none."""
        try:
            rows = self.fetch("SELECT value FROM fleet.meta WHERE name = 'version'")
        except (errors.UndefinedTable, errors.InvalidSchemaName):
            return None
        return str(rows[0][0]) if rows else None

    @contextmanager
    def transaction(self) -> Iterator[psycopg.Cursor[Any]]:
        """Give a cursor in a transaction, which is taken back when anything goes wrong.

        Raises:
            DatabaseAwayError: the connection was cut; whether COMMIT took effect is not known.
            UnavailableError: the role has too few rights, or the disk of the server is full.
        """
        with self._lock, self._translate():
            connection = self._connect()
            with connection.transaction(), connection.cursor() as cursor:
                yield cursor

    def fetch(self, sql: LiteralString, values: Sequence[object] | Mapping[str, object] = ()) -> list[tuple[Any, ...]]:
        """Run one statement in a transaction of its own; return its rows, none for a statement without any. Raises as `transaction`."""
        with self._lock, self._translate(), self._connect().cursor() as cursor:
            cursor.execute(sql, values)
            return cursor.fetchall() if cursor.description else []

    def call(self, sql: LiteralString, *values: object) -> Any:
        """Return the one value of one statement; None without a row. Raises as `transaction`."""
        rows = self.fetch(sql, values)
        return rows[0][0] if rows else None

    def stream(self, sql: LiteralString, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Give the rows of a long list as they are needed. Raises as `transaction`."""
        with self._lock, self._translate():
            connection = self._connect()
            with connection.transaction(), connection.cursor("rows") as cursor:
                cursor.itersize = 2000
                cursor.execute(sql, values)
                yield from cursor

    def _connect(self) -> SyncConnection:
        if self._connection is None or self._connection.closed or self._connection.broken:
            # A commit of an intent waits for the disk whatever the server's default is.
            self._connection = SyncConnection.connect(self.url, autocommit=True, connect_timeout=_CONNECT_S, application_name="caveat")
            self._connection.answer_s = self._answer_s
            self._connection.execute("SET synchronous_commit = on")
        return self._connection

    @contextmanager
    def _translate(self) -> Iterator[None]:
        """Raise what PostgreSQL raises as errors of ours, where a person or a worker can do something about it."""
        place = describe_address(self.url)
        try:
            yield
        except errors.InsufficientPrivilege as error:
            raise UnavailableError(Fault("fleet-rights", place, str(error).strip())) from error
        except (errors.DiskFull, errors.InvalidPassword, errors.InvalidCatalogName, errors.InvalidAuthorizationSpecification) as error:
            raise UnavailableError(Fault("fleet-database", place, str(error).strip())) from error
        # A deadlock or a server that is stopping is over by itself, as a cut connection is.
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            if self._connection is not None and not isinstance(error, errors.DeadlockDetected):
                self._connection.close()
            raise DatabaseAwayError(Fault("fleet-database-away", place, _describe(error))) from error


def _describe(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def repeat_until(action: Callable[[], T], is_over: Callable[[], bool], *, pause_s: float = 0.05) -> T:
    """Return what *action* returns, repeated while the database is away; the last DatabaseAwayError is raised once *is_over*.

    *action* must be safe to repeat: it may have been committed.
    """
    while True:
        try:
            return action()
        except DatabaseAwayError:
            if is_over():
                raise
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_WAIT_S)


# `fleet init`.


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFacts:
    """What a run remembers of its server: after a restore or a failover, commits may be missing."""

    system: str
    """System identifier of the data directory."""
    timeline: int


def read_facts(database: FleetDatabase) -> ServerFacts:
    """Return the identity of the server of *database*."""
    row = database.fetch("SELECT system_identifier::text, timeline_id FROM pg_control_system(), pg_control_checkpoint()")[0]
    return ServerFacts(system=row[0], timeline=row[1])


def create_schema(url: str, *, engine: str, unsent: Sequence[str], lease_s: float) -> bool:
    """Create the schema `fleet` at *url*; return False where it is there already, with this version.

    Args:
        engine: the queue engine that hands out the work.
        unsent: codes of failures that cost nothing and say nothing of the call.
        lease_s: seconds after its last renewal that a lease ends.

    Raises:
        UnavailableError: the server may lose committed rows, or the role may not create a schema.
        ConflictError: there is a schema of another version.
    """
    database = FleetDatabase(url)
    try:
        settings = dict(database.fetch("SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes')"))
        off = sorted(name for name, setting in settings.items() if setting == "off")
        if off:
            problem = f"runs with {' and '.join(f'{name} = off' for name in off)}: a power cut could lose the row that says what was sent"
            raise UnavailableError(Fault("fleet-not-durable", describe_address(url), problem))
        version = database.read_version()
        if version == VERSION:
            return False
        if version is not None:
            problem = f"has the schema fleet of version {version}; this Caveat needs {VERSION}"
            raise ConflictError(Fault("fleet-not-initialised", describe_address(url), problem))
        script = files("fleet").joinpath("schema.sql").read_text(encoding="utf-8")
        with database.transaction() as cursor:
            cursor.execute(script)
            meta = {"version": VERSION, "engine": engine, "unsent": ",".join(sorted(unsent)), "lease_s": str(lease_s)}
            cursor.executemany("INSERT INTO fleet.meta VALUES (%s, %s)", list(meta.items()))
            cursor.execute("CREATE SCHEMA IF NOT EXISTS fleet_queue")
        return True
    finally:
        database.close()


def read_meta(database: FleetDatabase) -> dict[str, str]:
    """Return the settings of the fleet by name."""
    return dict(database.fetch("SELECT name, value FROM fleet.meta"))


@contextmanager
def hold_name(database: FleetDatabase, name: str) -> Iterator[Callable[[], bool]]:
    """Hold *name* for this connection until the context ends; give a function that takes it again after a cut and returns whether it could.

    Raises:
        ConflictError: another process holds it.
    """

    def take() -> bool:
        return bool(
            database.call(
                "SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"
                " AND (classid::bigint << 32 | objid::bigint) = hashtextextended(%s, 0)) OR pg_try_advisory_lock(hashtextextended(%s, 0))",
                name,
                name,
            )
        )

    if not take():
        raise ConflictError(Fault("run-busy", name, "another coordinator works on it"))
    try:
        yield take
    finally:
        database.close()


def to_json(value: object) -> str:
    """Return *value* as JSON for a parameter of type jsonb."""
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
