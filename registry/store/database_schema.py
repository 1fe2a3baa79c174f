"""The schema's state and its migrations: Alembic by its API, and everything a database has by way of schema."""

import functools
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import DBAPIError

from registry.configuration import find_resource
from registry.errors import ConflictError, Fault, InputError
from registry.store.database_engine import describe_url, open_engine, release_engine, translate

# The complete schema as comparable texts: tables, columns, indexes, views, triggers, rules,
# functions.
#
# A foreign trigger, rule or view can swallow entries or show others. So it is not enough that all
# our objects are present; there must be no others. The expected objects are not listed a second
# time: the migrations run in an empty place and both catalogues are compared.

Catalogue = Mapping[tuple[str, str], str]
"""Kind and name of an object, and its definition. The name of what belongs to a table begins with the table."""

_SQLITE = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_stat_' ESCAPE '\\'"
"""Also automatic indexes. ANALYZE keeps figures for the planner in sqlite_stat1 to sqlite_stat4, which change no answer."""
_POSTGRESQL = {
    "table": """
        SELECT relname, concat_ws(' ', relkind, relpersistence, relrowsecurity, relforcerowsecurity, reloptions,
          (SELECT count(*) FROM pg_trigger WHERE tgrelid = c.oid AND tgisinternal AND tgenabled NOT IN ('O', 'A')),
          CASE WHEN relkind IN ('v', 'm') THEN pg_get_viewdef(c.oid) END)
        FROM pg_class c WHERE relnamespace = :schema AND relkind NOT IN ('i', 'I')""",
    "column": """
        SELECT relname || '.' || attname, concat_ws(' ', format_type(atttypid, atttypmod), attnotnull, attidentity, attgenerated,
          attcollation::regcollation, pg_get_expr(adbin, adrelid))
        FROM pg_attribute JOIN pg_class c ON c.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
        WHERE relnamespace = :schema AND relkind NOT IN ('i', 'I') AND attnum > 0 AND NOT attisdropped""",
    "constraint": """
        SELECT coalesce(relname, '') || '.' || conname, concat_ws(' ', contype, convalidated, pg_get_constraintdef(o.oid))
        FROM pg_constraint o LEFT JOIN pg_class c ON c.oid = conrelid WHERE connamespace = :schema AND contype <> 'n'""",
    "index": """
        SELECT c.relname, concat_ws(' ', indisvalid, indisunique, pg_get_indexdef(indexrelid))
        FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE relnamespace = :schema""",
    "trigger": """
        SELECT tgname, concat_ws(' ', tgenabled, pg_get_triggerdef(t.oid))
        FROM pg_trigger t JOIN pg_class c ON c.oid = tgrelid WHERE relnamespace = :schema AND NOT tgisinternal""",
    "rule": """
        SELECT relname || '.' || rulename, concat_ws(' ', ev_enabled, pg_get_ruledef(r.oid))
        FROM pg_rewrite r JOIN pg_class c ON c.oid = ev_class WHERE relnamespace = :schema AND rulename <> '_RETURN'""",
    "policy": """
        SELECT relname || '.' || polname, concat_ws(' ', polcmd, polpermissive, pg_get_expr(polqual, polrelid))
        FROM pg_policy JOIN pg_class c ON c.oid = polrelid WHERE relnamespace = :schema""",
    "function": """
        SELECT proname || '(' || pg_get_function_identity_arguments(p.oid) || ')',
          CASE WHEN prokind = 'a' THEN 'aggregate' ELSE pg_get_functiondef(p.oid) END
        FROM pg_proc p WHERE pronamespace = :schema""",
    "inheritance": """
        SELECT parent.relname || '.' || child.relname, '' FROM pg_inherits
        JOIN pg_class parent ON parent.oid = inhparent JOIN pg_class child ON child.oid = inhrelid
        WHERE parent.relnamespace = :schema""",
}
"""Each gives a name and a definition; the schema is taken out of definitions, so that two schemas compare. The order of columns is left
out: it depends on what was dropped and restored, and every statement of ours names its columns."""


def read_catalogue(connection: Connection) -> Catalogue:
    """Return every object of the database behind *connection*, on PostgreSQL of its current schema."""
    if connection.dialect.name == "sqlite":
        rows = connection.exec_driver_sql(_SQLITE).all()
        return {(kind, name): f"{table} {sql}" for kind, name, table, sql in rows}
    # PostgreSQL prints schema names into definitions. They are removed, since the expected
    # catalogue is made in a scratch schema.
    quoted = connection.execute(text("SELECT quote_ident(current_schema())")).scalar_one()
    number = connection.execute(text("SELECT current_schema()::regnamespace::oid")).scalar_one()
    definitions: dict[tuple[str, str], str] = {}
    for kind, query in _POSTGRESQL.items():
        for name, definition in connection.execute(text(query), {"schema": number}):
            definitions[kind, name] = str(definition).replace(f"{quoted}.", "")
    return definitions


def compare_catalogues(expected: Catalogue, catalogue: Catalogue) -> Iterator[str]:
    """Yield each difference in words: what is missing or differs, then what does not belong there."""
    for kind, name in expected:
        if catalogue.get((kind, name)) != expected[kind, name]:
            yield f"{kind} {name} is missing or differs"
    # An additional trigger or rule can change what is stored, so extra objects are differences too.
    for kind, name in catalogue:
        if (kind, name) not in expected:
            yield f"{kind} {name} does not belong to this registry"


# The state of the schema and its migrations, by Alembic's programming interface. Script files are
# found in a checkout and in an installed wheel.


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
        raise InputError(Fault("schema-revision-unknown", "REVISION", "is empty"))
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
    # An older schema necessarily differs. Only a database at the expected revision is compared.
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
    # A random name: two checks may run at the same time in one database.
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
class _MigratedSchema:
    """What the migrations make of an empty SQLite database."""

    catalogue: Catalogue
    statements: tuple[str, ...]
    """Make the same schema and the same rows, in this order."""


@functools.cache
def _make_expected_sqlite() -> _MigratedSchema:
    # Running Alembic takes longer than most commands. The result is kept for the process, and new
    # registries are created from its statements.
    engine = create_engine("sqlite://")
    try:
        with engine.connect() as connection:
            command.upgrade(_config(connection), "head")
            driver: Any = connection.connection.driver_connection
            dumped = driver.iterdump()
            statements = tuple(item for item in dumped if item not in ("BEGIN TRANSACTION;", "COMMIT;"))
            return _MigratedSchema(catalogue=read_catalogue(connection), statements=statements)
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
    # Alembic's configuration expands percent signs, and a folder name may contain one.
    config.set_main_option("script_location", str(find_resource("migrations")).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    return config


def _run(url: str, step: Any, revision: str) -> None:
    with _migrating(url) as connection:
        try:
            step(_config(connection), revision)
        except CommandError as error:
            raise InputError(Fault("schema-revision-unknown", revision, str(error))) from error
        # Migrations raise RuntimeError instead of dropping a table with rows (decision of
        # 2026-11-21): nothing that was recorded is ever lost. The cost: going back needs an empty
        # target and a rebuild.
        except RuntimeError as error:
            raise ConflictError(Fault("downgrade-refused", revision, str(error))) from error


def _upgrade(config: Config, revision: str) -> None:
    connection: Connection = config.attributes["connection"]
    # The shortcut is only valid for an empty SQLite file that goes straight to the newest schema.
    if revision != "head" or connection.dialect.name != "sqlite" or not _is_empty(connection):
        command.upgrade(config, revision)
        return
    # By the driver: SQLAlchemy would take as long again for 400 statements. Its errors become those that `_migrating` translates.
    driver: Any = connection.connection.driver_connection
    try:
        for statement in _make_expected_sqlite().statements:
            driver.execute(statement)
    except connection.dialect.loaded_dbapi.Error as error:
        raise DBAPIError("CREATE", None, error) from error


def _is_empty(connection: Connection) -> bool:
    return connection.exec_driver_sql("SELECT 1 FROM sqlite_master").first() is None


@contextmanager
def _migrating(url: str) -> Iterator[Connection]:
    """One transaction around all steps, on SQLite too, where DDL is transactional if no one interferes."""
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
