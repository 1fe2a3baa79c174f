"""The migrations: up, down, up again, with data; and the tables they make are those the code knows."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from registry.errors import ConflictError, InputError, UnavailableError
from registry.store import database_engine
from registry.store import database_schema as schema
from registry.store.database_engine import REVISION, open_engine, release_engine
from registry.store.database_tables import METADATA, create_guards, drop_statements, trigger_names
from registry.store.ledger import Ledger
from tests.store import builders as make


def _execute(url: str, statement: str) -> list[tuple[object, ...]]:
    engine = open_engine(url)
    try:
        with engine.connect() as connection:
            result = connection.execute(text(statement))
            rows = [tuple(row) for row in result] if result.returns_rows else []
            connection.commit()
    finally:
        release_engine(url, engine)
    return rows


_DESCRIBE = {
    "sqlite": "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'alembic%'"
    " AND tbl_name NOT LIKE 'alembic%' ORDER BY type, name",
    "postgresql": """
        SELECT 'column', table_name, column_name, data_type || is_nullable FROM information_schema.columns
         WHERE table_schema = 'public' AND table_name <> 'alembic_version'
        UNION ALL SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint
         WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'alembic_version'
        UNION ALL SELECT 'index', tablename, indexname, indexdef FROM pg_indexes
         WHERE schemaname = 'public' AND tablename <> 'alembic_version'
        UNION ALL SELECT 'trigger', tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
        UNION ALL SELECT 'function', '', proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        ORDER BY 1, 2, 3""",
}


def _describe(url: str) -> list[tuple[object, ...]]:
    rows = _execute(url, _DESCRIBE["sqlite" if url.startswith("sqlite") else "postgresql"])
    return [tuple(_sort_parts(" ".join(str(value).split())) for value in row) for row in rows]


def _sort_parts(statement: str) -> str:
    """The constraints of a table have no order."""
    parts = [part.strip() for part in re.split(r", (?=CONSTRAINT )|(?=\) WITHOUT)", statement)]
    return ", ".join(sorted(parts)) if statement.startswith("CREATE TABLE") else statement


def test_the_migrations_make_what_the_code_knows(new_url: Callable[[], str]) -> None:
    """Tables, columns, constraints, indexes and triggers of both ways are the same, word for word; statistics come with the migration."""
    migrated, made = new_url(), new_url()
    schema.upgrade(migrated)
    engine = open_engine(made)
    with engine.begin() as connection:
        METADATA.create_all(connection)
        create_guards(connection)
    release_engine(made, engine)

    assert [row for row in _describe(migrated) if row[1] != "sqlite_stat1"] == _describe(made)


def test_a_disk_that_is_full_while_the_tables_are_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite's limit of pages acts like a full disk; nothing is left half made."""
    prepare: Any = database_engine._prepare_sqlite
    url = f"sqlite:///{tmp_path / 'registry.db'}"

    def prepare_small(connection: Any, record: Any, *, wait_ms: int | None) -> None:
        prepare(connection, record, wait_ms=wait_ms)
        connection.execute("PRAGMA max_page_count = 10")

    with monkeypatch.context() as patch:
        patch.setattr(database_engine, "_prepare_sqlite", prepare_small)
        with pytest.raises(UnavailableError) as caught:
            schema.upgrade(url)

    assert (caught.value.code, caught.value.faults[0].advice) == ("registry-unavailable", "make room on its disk, then repeat")
    assert schema.check(url).current is None


def test_up_down_and_up_again(new_url: Callable[[], str]) -> None:
    """An empty registry goes away without a trace and comes back the same."""
    url = new_url()
    assert schema.check(url).current is None
    schema.upgrade(url)
    before = _describe(url)
    assert schema.check(url).is_current

    schema.downgrade(url, "base")

    assert _describe(url) == []
    assert not schema.check(url).is_current
    schema.upgrade(url)
    assert _describe(url) == before


def test_a_downgrade_never_deletes_what_is_recorded(new_url: Callable[[], str]) -> None:
    """With data in place it is refused, and every row is still there; upgrading again changes nothing."""
    url = new_url()
    schema.upgrade(url)
    ledger = Ledger.open(url, clock=make.ticking(), salt=make.salting())
    with ledger.write(actor="LAB") as writer:
        make.settle(writer)
    with ledger.view() as view:
        leaves = list(view.leaves())
    ledger.release()

    with pytest.raises(ConflictError, match="downgrade-refused"):
        schema.downgrade(url, "base")
    schema.upgrade(url)

    with ledger.view() as view:
        assert list(view.leaves()) == leaves
    assert schema.check(url).is_current
    ledger.close()


def test_an_entry_of_a_kind_nobody_knows_is_still_refused(new_url: Callable[[], str]) -> None:
    """Widening the condition on the kinds of entries left it a condition."""
    url = new_url()
    schema.upgrade(url)
    _execute(url, "INSERT INTO log VALUES (1, 'test', NULL)")

    leaf = "zeroblob(32)" if "sqlite" in url else "sha256('')"

    with pytest.raises(DBAPIError):
        _execute(url, f"INSERT INTO entry VALUES (1, 1, 'opinion', 'LAB', 0, {leaf})")
    _execute(url, f"INSERT INTO entry VALUES (1, 1, 'finding', 'LAB', 0, {leaf})")


def test_what_is_missing_is_named(new_url: Callable[[], str]) -> None:
    """A dropped trigger and a dropped index are seen; the guards can be created again."""
    url = new_url()
    schema.upgrade(url)
    engine = open_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(drop_statements(connection.dialect.name)[0])
        connection.exec_driver_sql("DROP INDEX ix_claim_event_log_claim")
    release_engine(url, engine)

    state = schema.check(url)

    assert not state.is_current
    missing = trigger_names("sqlite" if url.startswith("sqlite") else "postgresql")[0]
    assert any(missing in difference for difference in state.differences)
    assert any("ix_claim_event_log_claim" in difference for difference in state.differences)
    with engine.begin() as connection:
        create_guards(connection)
    release_engine(url, engine)
    assert not any("trigger" in difference for difference in schema.check(url).differences)


def test_pending_migrations_are_said(new_url: Callable[[], str]) -> None:
    """A registry of another revision is not opened."""
    url = new_url()
    schema.upgrade(url)
    _execute(url, "UPDATE alembic_version SET version_num = '0000'")

    with pytest.raises(UnavailableError, match="caveat init") as refused:
        Ledger.open(url, clock=make.ticking(), salt=make.salting())
    assert refused.value.code == "registry-not-current"


def test_a_table_that_another_version_lacks_is_said_with_both_revisions(new_url: Callable[[], str]) -> None:
    """The number agrees, a table is missing: the registry is there, so the error does not say that there is none."""
    url = new_url()
    schema.upgrade(url)
    _execute(url, "DROP TABLE model_endpoint")

    ledger = Ledger.open(url, clock=make.ticking(), salt=make.salting())
    with pytest.raises(UnavailableError, match="model_endpoint") as refused, ledger.view() as view:
        view.list_endpoint_statements()
    ledger.close()

    assert refused.value.code == "registry-not-current"
    assert REVISION in refused.value.faults[0].found
    assert "caveat admin db check" in str(refused.value.faults[0].advice)


def test_an_unknown_revision_is_refused(new_url: Callable[[], str]) -> None:
    """With its name; nothing is created."""
    url = new_url()

    with pytest.raises(InputError, match="schema-revision-unknown"):
        schema.upgrade(url, "9999")
    assert _describe(url) == []


def test_the_code_expects_the_newest_migration() -> None:
    """The constant that saves loading Alembic is right."""
    assert schema.expected_head() == REVISION


def test_history_imports_nothing_of_ours() -> None:
    """A migration must read the same in ten years."""
    folder = Path(__file__).parent.parent.parent / "migrations"
    ours = [
        path.name for path in folder.rglob("*.py") if re.search(r"^\s*(from|import) (registry|audit)\b", path.read_text(), re.MULTILINE)
    ]

    assert ours == []


FOREIGN = {
    "table": "CREATE TABLE notes (a TEXT)",
    "column": "ALTER TABLE entry ADD COLUMN note TEXT",
    "view": "CREATE VIEW entries AS SELECT 1 AS one",
    "index": "CREATE INDEX ix_of_mine ON entry (kind)",
}


@pytest.mark.parametrize("statement", FOREIGN.values(), ids=list(FOREIGN))
def test_what_does_not_belong_there_is_named(new_url: Callable[[], str], statement: str) -> None:
    """Tables, columns, views and indexes of others are differences: the schema is compared whole, not only what is ours of it."""
    url = new_url()
    schema.upgrade(url)
    engine = open_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql(statement)
    release_engine(url, engine)

    state = schema.check(url)

    assert (state.current, state.is_current) == (state.head, False)
    assert any(name in difference for difference in state.differences for name in ("notes", "entry", "entries", "ix_of_mine"))


SWALLOW_SQLITE = ("CREATE TRIGGER swallow BEFORE INSERT ON checkpoint BEGIN SELECT RAISE(IGNORE); END",)
SWALLOW_POSTGRESQL = (
    (
        "CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$;"
        " CREATE TRIGGER swallow BEFORE INSERT ON checkpoint FOR EACH ROW EXECUTE FUNCTION swallow()"
    ),
    "CREATE RULE swallow AS ON INSERT TO checkpoint DO INSTEAD NOTHING",
    "ALTER TABLE checkpoint ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE entry DISABLE TRIGGER entry__change",
    "CREATE TABLE other (CHECK (seq > 0)) INHERITS (entry)",
    "CREATE OR REPLACE FUNCTION caveat_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
)


def test_what_swallows_entries_is_named(new_url: Callable[[], str]) -> None:
    """A foreign trigger can drop what is recorded, on PostgreSQL also a rule, a policy, a child table and an emptied function."""
    for statement in SWALLOW_SQLITE if new_url().startswith("sqlite") else SWALLOW_POSTGRESQL:
        url = new_url()
        schema.upgrade(url)
        engine = open_engine(url)
        with engine.begin() as connection:
            connection.exec_driver_sql(statement)
        release_engine(url, engine)

        assert schema.check(url).differences, statement


def test_a_comparison_leaves_nothing_behind(new_url: Callable[[], str]) -> None:
    """What belongs there is made in an empty place of its own, which is gone afterwards; figures for the planner are no difference."""
    url = new_url()
    schema.upgrade(url)
    engine = open_engine(url)
    with engine.begin() as connection:
        connection.exec_driver_sql("ANALYZE")
    release_engine(url, engine)

    assert schema.check(url).is_current
    if not url.startswith("sqlite"):
        assert _execute(url, "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'caveat_expected%'") == [(0,)]
    assert schema.check(url).is_current
