"""SQLite and PostgreSQL: connections that keep what is committed, and columns that read alike on both."""

import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import (
    REAL,
    URL,
    BigInteger,
    CheckConstraint,
    Column,
    Connection,
    Double,
    Engine,
    ForeignKeyConstraint,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    create_engine,
    event,
    make_url,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SAWarning
from sqlalchemy.pool import StaticPool
from sqlalchemy.types import TypeEngine

from registry.configuration import find_resource
from registry.errors import CaveatError, ConflictError, Fault, InputError, UnavailableError
from registry.records.record import Kind
from registry.records.specification import SpecKind

# Connections. SQLite is the default and PostgreSQL is chosen by URL. Both are set up so that a
# committed entry survives a power cut.

# Writers wait for each other, and an import of many claims can hold the lock for seconds.
BUSY_TIMEOUT_MS = 30_000
_LONGEST_URL = 4_000
_PAGE_BYTES = 8192  # a statement fits into one page of a table without row numbers; 4096 would spill most of them

_in_memory: dict[str, Engine] = {}


def parse_url(url: str) -> URL:
    """Return *url* with its driver named; `postgresql://` means psycopg 3.

    Raises:
        InputError: not a URL of SQLite or PostgreSQL.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError) as error:
        raise _refuse_url(f"{url!r} is not a URL") from error
    backend = parsed.drivername
    if backend == "sqlite":
        if "\0" in url or len(url) > _LONGEST_URL:
            raise _refuse_url("no file can be called so")
        return parsed
    if backend in ("postgresql", "postgres", "postgresql+psycopg"):
        return parsed.set(drivername="postgresql+psycopg")
    raise _refuse_url(f"{backend!r} is not a database that Caveat knows")


def describe_url(url: str) -> str:
    """Return *url* as it may be shown: a password in it is `***`."""
    parsed = make_url(url)
    return url if parsed.password is None else parsed.render_as_string(hide_password=True)


def refuse_memory(url: str) -> None:
    """Refuse a database in memory, which is gone when the command ends; raises InputError."""
    # Each command is a process of its own. A registry in memory would be lost without any message.
    if find_file(url) is None and parse_url(url).get_backend_name() == "sqlite":
        raise _refuse_url(f"{url!r} is a database in memory, gone when this command ends")


def refuse_missing(url: str) -> None:
    """Refuse a SQLite file that is not there, and which SQLite would create when it is only asked to look; raises UnavailableError."""
    file = find_file(url)
    if file is not None and not is_file(file):
        problem = f"the file {file} does not exist"
        raise UnavailableError(Fault("registry-not-found", describe_url(url), problem))


def _refuse_url(text: str) -> InputError:
    return InputError(Fault("registry-url", "registry URL", text))


def find_file(url: str) -> Path | None:
    """Return the file of a SQLite URL; None for a database in memory and for PostgreSQL."""
    parsed = parse_url(url)
    if parsed.get_backend_name() != "sqlite" or _is_in_memory(parsed):
        return None
    return Path(str(parsed.database).removeprefix("file:"))


def is_file(path: Path) -> bool:
    """Whether *path* is a file that can be seen; a name that the file system refuses is none."""
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def open_engine(url: str, *, wait_ms: int | None = None) -> Engine:
    """Return an engine for *url*. A database in memory is the same one for each URL until `close_engine`.

    Args:
        wait_ms: how long a connection to SQLite waits for others; None: `BUSY_TIMEOUT_MS`.

    Raises:
        InputError: not a URL of SQLite or PostgreSQL.
        UnavailableError: the driver is missing.
    """
    parsed = parse_url(url)
    try:
        if parsed.get_backend_name() == "postgresql":
            # A server may close idle connections. The ping replaces a dead one before a transaction
            # starts on it.
            return create_engine(parsed, pool_pre_ping=True)
    except (ImportError, NoSuchModuleError) as error:
        raise UnavailableError(Fault("driver-missing", "registry URL", str(error))) from error
    if not _is_in_memory(parsed):
        try:
            # SQLAlchemy only warns about unknown options in a SQLite URL. A mistyped option must be
            # an error.
            with warnings.catch_warnings():
                warnings.simplefilter("error", SAWarning)
                engine = create_engine(parsed)
        except (SAWarning, ValueError, TypeError) as error:
            raise _refuse_url(f"its options are not those of SQLite: {error}") from error
        event.listen(engine, "connect", partial(_prepare_sqlite, wait_ms=wait_ms))
        return engine
    # A SQLite database in memory belongs to one connection. All users of the URL share one engine
    # with one connection, or each would see its own empty database.
    if url not in _in_memory:
        engine = create_engine(parsed, poolclass=StaticPool, pool_reset_on_return=None, connect_args={"check_same_thread": False})
        event.listen(engine, "connect", partial(_prepare_sqlite, wait_ms=wait_ms))
        _in_memory[url] = engine
    return _in_memory[url]


def close_engine(url: str, engine: Engine) -> None:
    """Close the connections of *engine*; a database in memory is gone after this."""
    if _in_memory.get(url) is engine:
        del _in_memory[url]
    engine.dispose()


def release_engine(url: str, engine: Engine) -> None:
    """Close the connections of *engine*, but keep a database in memory for the next who opens *url*."""
    if _in_memory.get(url) is not engine:
        engine.dispose()


def describe_connection(connection: Connection) -> str:
    """Return the URL of the database behind *connection* as it may be shown."""
    return connection.engine.url.render_as_string(hide_password=True)


def translate(error: DBAPIError, *, where: str) -> CaveatError:
    """Return the error of our family that says what the database refused, and what to do."""
    reason = str(error.orig).strip().splitlines()[0]
    name = type(error.orig).__name__
    # The text of our own triggers; see `registry.store.database_tables`. Driver errors have no code
    # that both engines share, so messages are matched.
    if "append-only" in reason:
        return ConflictError(Fault("append-only", where, reason))
    if "IntegrityError" in type(error).__name__:
        return ConflictError(Fault("refused-by-database", where, reason))
    if (waited := _find_wait(reason, name, where)) is not None:
        return UnavailableError(waited)
    if any(words in reason for words in ("no such table", "no such column")) or name in ("UndefinedTable", "UndefinedColumn"):
        # Only a registry of this schema gets so far: its revision was compared when it was opened.
        found = f"its schema is numbered {REVISION} as here, but has other tables ({reason}): another development version made it"
        return UnavailableError(Fault("registry-not-current", where, found, advice=OTHER_VERSION))
    if "DataError" in type(error).__name__:
        return InputError(Fault("not-storable", where, reason))
    advice = "make room on its disk, then repeat" if "is full" in reason else "check the URL, the permissions and the free space"
    return UnavailableError(Fault("registry-unavailable", where, f"{name}: {reason}", advice=advice))


def _find_wait(reason: str, name: str, where: str) -> Fault | None:
    """Return that a question took too long, or that another process writes; None for other errors."""
    if reason == "interrupted" or "QueryCanceled" in name:
        return Fault("too-broad", "question", "it takes longer than this server allows")
    if "locked" in reason or "LockNotAvailable" in name or "DeadlockDetected" in name:
        return Fault("registry-busy", where, f"another process is writing: {reason}")
    return None


def find_outdated_advice(current: str) -> str | None:
    """Return what to do with a registry at the schema *current* if no migration knows that; None if it can be upgraded."""
    known = {path.name.partition("_")[0] for path in find_resource("migrations").glob("versions/*.py")}
    return None if current in known else OTHER_VERSION


_STEPS = 10_000
"""Steps of SQLite between two looks at the clock: about a millisecond."""


@contextmanager
def limit_queries(connection: Connection, seconds: float) -> Iterator[None]:
    """Let every question on *connection* take at most so much time; for readers that must not wait.

    A question that takes longer ends with `UnavailableError`, `too-broad`.
    """
    if connection.dialect.name != "sqlite":
        connection.exec_driver_sql(f"SET statement_timeout = {int(seconds * 1000)}")
        try:
            yield
        finally:
            connection.rollback()
            connection.exec_driver_sql("SET statement_timeout = DEFAULT")
        return
    driver: Any = connection.connection.driver_connection
    deadline: float | None = None

    # The time of this thread, and not of the clock: a machine that is busy with other things does not make a question too broad.
    # It counts from the first look, because reading it takes as long as a short question.
    def is_late() -> bool:
        nonlocal deadline
        now = time.thread_time()
        deadline = now + seconds if deadline is None else deadline
        return now > deadline

    def begin_question(*_arguments: object) -> None:
        nonlocal deadline
        deadline = None

    driver.set_progress_handler(is_late, _STEPS)
    event.listen(connection, "before_cursor_execute", begin_question)
    try:
        yield
    finally:
        event.remove(connection, "before_cursor_execute", begin_question)
        driver.set_progress_handler(None, 0)


def _is_in_memory(url: URL) -> bool:
    return url.database in (None, "", ":memory:") or url.query.get("mode") == "memory"


def _prepare_sqlite(connection: Any, _record: Any, *, wait_ms: int | None) -> None:
    """The driver must not begin transactions of its own: a deferred BEGIN loses commits when two write."""
    connection.isolation_level = None
    connection.create_function("lower", 1, _lower, deterministic=True)  # SQLite's own knows A to Z alone
    # WAL lets readers continue while one process writes. FULL syncs the log at each commit; with
    # NORMAL a power cut can lose committed entries. Foreign keys are off in SQLite unless each
    # connection turns them on.
    for pragma in (
        f"page_size = {_PAGE_BYTES}",
        f"busy_timeout = {BUSY_TIMEOUT_MS if wait_ms is None else wait_ms}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "cache_size = -65536",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _lower(words: str | None) -> str | None:
    return None if words is None else words.lower()


# Building blocks of tables: columns that behave the same on both engines, and constraints with
# fixed names, because migrations and the schema check refer to constraints by name.

REVISION = "0001"
"""The migration that makes the tables of `registry.store.database_tables`; a test compares it with the newest one there is."""
OTHER_VERSION = "use the Caveat that made it, or make a new registry in another folder: caveat init; caveat admin db check shows more"

OWN_LOG = 1
"""The log this registry writes; others are those of other registries."""

SHARED = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(constraint_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# STRICT tables in SQLite accept only its own type names, so BIGINT becomes INTEGER and DOUBLE
# becomes REAL there.
_WHOLE = BigInteger().with_variant(Integer, "sqlite")
_REAL: TypeEngine[float] = Double().with_variant(REAL, "sqlite")


def text_column(name: str, *, null: bool = False) -> Column[Any]:
    """Return a column of text."""
    return Column(name, Text, nullable=null)


def text_columns(names: str, *, null: bool = False) -> list[Column[Any]]:
    """Return columns of text, all or none of them optional."""
    return [text_column(name, null=null) for name in names.split()]


def whole_column(name: str, *, null: bool = False) -> Column[Any]:
    """Return a column of whole numbers, 64 bits wide."""
    return Column(name, _WHOLE, nullable=null, autoincrement=False)


def whole_columns(names: str) -> list[Column[Any]]:
    """Return columns of whole numbers, none of them optional."""
    return [whole_column(name) for name in names.split()]


def real_column(name: str, *, null: bool = True) -> Column[Any]:
    """Return a column of double precision numbers."""
    return Column(name, _REAL, nullable=null)


def bytes_column(name: str, *, null: bool = False) -> Column[Any]:
    """Return a column of bytes."""
    return Column(name, LargeBinary, nullable=null)


def one_of(column: str, choices: type[StrEnum] | Iterable[str]) -> CheckConstraint:
    """Return the condition that *column* holds one of *choices*, or nothing."""
    # Not IN (…): SQLite builds a table of the choices again for each row that it checks, which costs
    # more than inserting the row.
    return CheckConstraint(" OR ".join(f"{column} = '{choice}'" for choice in choices), name=column)


def digest(column: str) -> CheckConstraint:
    """Return the condition that *column* holds 32 bytes."""
    return CheckConstraint(f"length({column}) = 32", name=f"{column}_32_bytes")


def begins(column: str, kind: Kind) -> CheckConstraint:
    """Return the condition that *column* holds an identifier of *kind*."""
    return CheckConstraint(f"substr({column}, 1, 4) = '{kind}-'", name=f"{column}_begins")


def refers(columns: str, target: str, target_columns: str) -> ForeignKeyConstraint:
    """Return the foreign key of *columns*, within one log."""
    # The log number is part of every foreign key. A row can therefore never refer to an entry of
    # another log.
    local = ["log", *columns.split()]
    return ForeignKeyConstraint(local, [f"{target}.{name}" for name in ("log " + target_columns).split()], name=f"{local[-1]}_{target}")


def refers_to_spec(column: str, kind: SpecKind) -> list[Any]:
    """A typed reference: the kind is a column, fixed by a CHECK, and part of the foreign key."""
    return [
        CheckConstraint(f"{column}_kind = '{kind}'", name=f"{column}_is_{kind}"),
        CheckConstraint(f"({column} IS NULL) = ({column}_version IS NULL)", name=f"{column}_whole"),
        CheckConstraint(f"({column} IS NULL) = ({column}_kind IS NULL)", name=f"{column}_typed"),
        refers(f"{column} {column}_version {column}_kind", "spec_version", "spec version kind"),
    ]


def spec_columns(column: str, *, null: bool) -> list[Any]:
    """Return the three columns of a typed reference."""
    return [text_column(column, null=null), whole_column(f"{column}_version", null=null), text_column(f"{column}_kind", null=null)]


@dataclass(frozen=True, slots=True, kw_only=True)
# Decision of 2026-11-21: what no constraint can express is a trigger. The triggers of both engines are generated from these rules and
# frozen into the migration. `caveat admin db check` names missing ones. The cost: slower bulk inserts.
class TriggerRule:
    """Something an inserted row must not be."""

    broken: str
    """SQL that is true for a row to refuse; `NEW` is the row. Read alike by both engines."""
    message: str
    covers: frozenset[str] = frozenset()
    """Columns of a unique key that this rule already guards."""


def without_gaps(table: str, number: str, within: str) -> TriggerRule:
    """Return the rule that *number* counts from 1 without a gap among rows with the same columns *within*."""
    columns = within.split()
    same = " AND ".join(f"{column} = NEW.{column}" for column in columns)
    # max + 1 instead of a sequence: sequences leave gaps after a rollback, and a gap in a log looks
    # like a deleted entry.
    return TriggerRule(
        broken=f"NEW.{number} <> (SELECT coalesce(max({number}), 0) + 1 FROM {table} WHERE {same})",  # noqa: S608  (our own names)
        message=f"has-gap: {table}.{number} must follow the last one",
        covers=frozenset({number, *columns}),
    )


def new_table(name: str, *parts: Any, key: str = "log seq", guards: Iterable[TriggerRule] = ()) -> Table:
    """Return a table with rows that name their entry; *guards* are what its triggers refuse."""
    columns: list[Any] = [] if name == "entry" else [refers("seq", "entry", "seq")]
    return Table(
        name,
        SHARED,
        whole_column("log"),
        whole_column("seq"),
        *parts,
        PrimaryKeyConstraint(*key.split()),
        *columns,
        # STRICT refuses a value of the wrong type, as PostgreSQL does. Without a hidden row number
        # the primary key is the storage order, sequential inserts are fast, and INSERT OR REPLACE
        # has no second key to aim at (decision of 2026-11-21).
        sqlite_strict=True,
        sqlite_with_rowid=False,
        info={"guards": tuple(guards)},
    )
