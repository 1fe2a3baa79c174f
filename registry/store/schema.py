"""The schema's state, and the way to the one this code expects: Alembic by its API, found in a checkout and in a wheel."""

import functools
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection, create_engine
from sqlalchemy.exc import DBAPIError

from registry.configuration import find_resource
from registry.errors import ConflictError, Fault, InputError
from registry.store.catalogue import Catalogue, compare_catalogues, read_catalogue
from registry.store.engine import describe_url, open_engine, release_engine, translate


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaState:
    """Where a database stands."""

    current: str | None
    """The revision it is at; None when it holds no registry."""
    head: str
    """The revision this code expects."""
    differences: tuple[str, ...]
    """What differs from the whole schema that the migrations make, in words, also what is there beside it; empty when nothing does. Only
    of a database at `head`."""

    @property
    def is_current(self) -> bool:
        """Whether this code can work with it."""
        return self.current == self.head and not self.differences


def upgrade(url: str, revision: str = "head") -> None:
    """Bring the database at *url* up to *revision*, creating it where there is none; the log is never touched.

    A process carries out the migrations of an empty SQLite registry once, in memory; each new file gets what they made.

    Raises:
        InputError: no such revision, or not a URL we know.
        UnavailableError: the database cannot be reached or written.
    """
    _run(url, _upgrade, revision)


def downgrade(url: str, revision: str) -> None:
    """Take the database at *url* back to *revision* (`base` removes everything).

    Raises:
        ConflictError: the downgrade would drop a table that holds rows; nothing is changed. The log is never deleted by a downgrade.
        InputError: no such revision, or not a URL we know.
        UnavailableError: the database cannot be reached or written.
    """
    if not revision.strip():
        raise InputError(Fault(code="revision-unknown", where="REVISION", found="is empty", advice="caveat db check names the revisions"))
    _run(url, command.downgrade, revision)


def check(url: str) -> SchemaState:
    """Return the state of the database at *url*; a SQLite file that is missing is not created.

    Raises:
        UnavailableError: the database cannot be reached.
    """
    engine = open_engine(url)
    try:
        with engine.connect() as connection:
            return inspect_state(connection)
    except DBAPIError as error:
        raise translate(error, where=describe_url(url)) from error
    finally:
        release_engine(url, engine)


def inspect_state(connection: Connection) -> SchemaState:
    """Return the state of the database behind *connection*."""
    head = expected_head()
    current = find_revision(connection)
    if current is None:
        return SchemaState(current=None, head=head, differences=())
    if current != head:  # what is to be upgraded is compared afterwards
        return SchemaState(current=current, head=head, differences=())
    differences = compare_catalogues(_read_expected(connection), read_catalogue(connection))
    return SchemaState(current=current, head=head, differences=tuple(differences))


def _read_expected(connection: Connection) -> Catalogue:
    """Return the catalogue of an empty registry, as the migrations make it on the engine of *connection*.

    On PostgreSQL that takes a schema of its own in the same database, for servers differ in how they print definitions. It is never
    committed.

    Raises:
        DBAPIError: the user may not create a schema there.
    """
    if connection.dialect.name == "sqlite":
        return _make_expected_sqlite().catalogue
    scratch = f"caveat_expected_{secrets.token_hex(8)}"
    with connection.begin_nested() as savepoint:
        try:
            connection.exec_driver_sql(f"CREATE SCHEMA {scratch}")
            connection.exec_driver_sql(f"SET LOCAL search_path = {scratch}")
            command.upgrade(_config(connection), "head")
            return read_catalogue(connection)
        finally:
            savepoint.rollback()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    """What the migrations make of an empty SQLite database."""

    catalogue: Catalogue
    statements: tuple[str, ...]
    """Make the same schema and the same rows, in this order."""


@functools.cache
def _make_expected_sqlite() -> _Made:
    engine = create_engine("sqlite://")
    try:
        with engine.connect() as connection:
            command.upgrade(_config(connection), "head")
            driver: Any = connection.connection.driver_connection
            dumped = driver.iterdump()
            statements = tuple(one for one in dumped if one not in ("BEGIN TRANSACTION;", "COMMIT;"))
            return _Made(catalogue=read_catalogue(connection), statements=statements)
    finally:
        engine.dispose()


def find_revision(connection: Connection) -> str | None:
    """Return the revision the database is at, without comparing anything; None when it holds no registry."""
    return MigrationContext.configure(connection).get_current_revision()


def expected_head() -> str:
    """Return the revision this code expects."""
    head = ScriptDirectory.from_config(_config(None)).get_current_head()
    assert head is not None, "the migrations ship with the code"  # noqa: S101
    return head


def _config(connection: Connection | None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(find_resource("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _run(url: str, step: Any, revision: str) -> None:
    with _migrating(url) as connection:
        try:
            step(_config(connection), revision)
        except CommandError as error:
            raise InputError(Fault(code="revision-unknown", where=revision, found=str(error))) from error
        except RuntimeError as error:
            advice = "export the registry first; a table that holds rows is not dropped"
            raise ConflictError(Fault(code="downgrade-refused", where=revision, found=str(error), advice=advice)) from error


def _upgrade(config: Config, revision: str) -> None:
    connection: Connection = config.attributes["connection"]
    if revision != "head" or connection.dialect.name != "sqlite" or not _is_empty(connection):
        command.upgrade(config, revision)
        return
    for statement in _make_expected_sqlite().statements:
        connection.exec_driver_sql(statement)


def _is_empty(connection: Connection) -> bool:
    return connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first() is None


@contextmanager
def _migrating(url: str) -> Iterator[Connection]:
    """One transaction around all steps, on SQLite too, where DDL is transactional if nobody interferes."""
    engine = open_engine(url)
    try:
        with engine.connect() as connection:
            if connection.dialect.name == "sqlite":
                connection.exec_driver_sql("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()
    except DBAPIError as error:
        raise translate(error, where=describe_url(url)) from error
    finally:
        release_engine(url, engine)
