"""The tables of the log itself, all tables together, and the triggers of all; a kind declares its own tables in `registry.store.kinds`."""

from sqlalchemy import CheckConstraint, Connection, ForeignKeyConstraint, PrimaryKeyConstraint, Table, UniqueConstraint, text

from registry.records.record import Kind
from registry.records.statement import PAYLOADS
from registry.store.database_engine import (
    SHARED,
    TriggerRule,
    bytes_column,
    digest,
    new_table,
    one_of,
    refers,
    text_column,
    text_columns,
    whole_column,
    whole_columns,
    without_gaps,
)

# All kinds are read here, so that a module that has the tables has them all.
from registry.store.kinds import audit_kinds, claim_kinds, definition_kinds, log_kinds, monitor_kinds  # noqa: F401
from registry.store.statement_kind import KINDS

# Typed rows only help to find and to refuse; the canonical document in `body` is the record. Every row names the entry (log, seq) that
# recorded it. No row is ever updated, and the triggers below enforce that. Digests are stored as 32 bytes
# and instants as whole seconds in UTC.
#
# Decision of 2026-11-21: `body` is keyed by (log, seq), since sequential keys are faster than digests, and quotations are in a table of
# their own that can be erased. Erasing a text leaves its proof. The cost: finding a body by leaf goes through `entry`, and each claim
# needs one more row.

METADATA = SHARED
"""All tables. To be imported from here, where they are complete."""

log = Table(
    "log",
    METADATA,
    whole_column("id"),
    text_column("origin"),
    text_column("vkey", null=True),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("origin"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
entry = new_table(
    "entry",
    *text_columns("kind actor"),
    whole_column("at"),
    bytes_column("leaf"),
    one_of("kind", sorted(PAYLOADS)),
    digest("leaf"),
    ForeignKeyConstraint(["log"], ["log.id"], name="log"),
    guards=(
        without_gaps("entry", "seq", "log"),
        TriggerRule(
            # Times that decrease would make "as of a date" ambiguous.
            broken="NEW.at < (SELECT at FROM entry WHERE log = NEW.log AND seq = NEW.seq - 1)",
            message="out-of-order: entry.at must not lie before the entry that precedes it",
        ),
    ),
)
body = new_table("body", text_column("json"))
# Keyed by digest and shared by all logs: the same card text is kept once.
content = Table(
    "content",
    METADATA,
    bytes_column("sha256"),
    bytes_column("data"),
    PrimaryKeyConstraint("sha256"),
    digest("sha256"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
identifier = new_table(
    "identifier",
    *text_columns("id kind authority"),
    *whole_columns("year number"),
    one_of("kind", Kind),
    CheckConstraint("number >= 1", name="number_from_1"),
    # The parts of an identifier are columns too. This keeps them from contradicting the identifier.
    CheckConstraint("substr(id, 1, length(authority) + 5) = kind || '-' || authority || '-'", name="id_agrees"),
    UniqueConstraint("log", "kind", "authority", "year", "number"),
    refers("authority", "authority", "code"),
    key="log id",
    guards=(without_gaps("identifier", "number", "log kind authority year"),),
)
node = new_table(
    "node",
    whole_column("level"),
    bytes_column("hash"),
    # Every fourth level; see `registry.store.log_reader`. Level 40 would need 10^12 entries.
    CheckConstraint("level IN (4, 8, 12, 16, 20, 24, 28, 32, 36, 40)", name="level_of_sixteens"),
    digest("hash"),
    key="log seq level",
)
"""Roots of complete subtrees of 16, 256, … leaves, each with the entry that completed it: proofs are read off them. `verify` makes them
again from the leaves, so nothing rests on them."""

checkpoint = new_table(
    "checkpoint",
    bytes_column("root"),
    text_column("note"),
    whole_column("at"),
    digest("root"),
    key="log seq",
    guards=(
        TriggerRule(
            # A checkpoint beyond the log could only come from another history.
            broken="NEW.seq > (SELECT coalesce(max(seq), 0) FROM entry WHERE log = NEW.log)",
            message="entry-not-found: a checkpoint is of entries that are recorded",
        ),
    ),
)
"""Signed notes of C2SP tlog-checkpoint; `seq` is the size of the log that they are of. No statement: a log cannot hold its own root."""

cosignature = new_table("cosignature", text_column("line"), whole_column("at"), refers("seq", "checkpoint", "seq"), key="log seq line")
"""Signature lines that others added to a checkpoint."""

signature = new_table(
    "signature",
    bytes_column("key"),
    bytes_column("value"),
    digest("key"),
    # Ed25519 signatures have 64 bytes (RFC 8032).
    CheckConstraint("length(value) = 64", name="value_64_bytes"),
)
"""What authors signed of their entries. No statement: it is computed from the leaf, which therefore cannot cover it."""

ERASABLE = frozenset({body.name, content.name, *(column.table.name for kind in KINDS.values() for column in kind.erasable)})
"""Rows here may be deleted, never changed: erasing a text leaves its proof in the log."""

_SEALS = frozenset({"node", "checkpoint", "cosignature", "signature"})
TYPED = tuple(table for table in METADATA.sorted_tables if table not in (log, entry, body, content) and table.name not in _SEALS)
"""What the statements give, each after those it refers to."""

# Triggers: what the database itself refuses and no constraint can say. The tables declare the rules (`guards`), for both engines.


def create_statements(engine: str) -> tuple[str, ...]:
    """Return the SQL that creates every trigger on *engine*, `sqlite` or `postgresql`, in order."""
    make = _sqlite_statements if engine == "sqlite" else _postgresql_statements
    shared = () if engine == "sqlite" else (_POSTGRESQL_REFUSES,)
    return shared + tuple(statement for table in METADATA.sorted_tables for statement in make(table))


def drop_statements(engine: str) -> tuple[str, ...]:
    """Return the SQL that removes what `create_statements` made."""
    if engine == "sqlite":
        return tuple(f"DROP TRIGGER IF EXISTS {name}" for name in trigger_names(engine))
    triggers = [f"DROP TRIGGER IF EXISTS {name} ON {name.split('__')[0]}" for name in trigger_names(engine)]
    functions = [f"DROP FUNCTION IF EXISTS {name}()" for name in _postgresql_function_names()]
    return (*triggers, *functions)


def trigger_names(engine: str) -> tuple[str, ...]:
    """Return the names of all triggers; each begins with its table."""
    words = (statement.split() for statement in create_statements(engine))
    return tuple(word[2] for word in words if word[1] == "TRIGGER")


def create_guards(connection: Connection) -> None:
    """Create every trigger anew; those that are there are replaced."""
    engine = connection.dialect.name
    # Dropped first, so that a trigger that was edited by hand is replaced.
    for statement in (*drop_statements(engine), *create_statements(engine)):
        connection.exec_driver_sql(statement)


def find_missing(connection: Connection) -> list[str]:
    """Return the names of triggers that are missing or read differently, in the database behind *connection*."""
    engine = connection.dialect.name
    wanted = trigger_names(engine)
    # SQLite stores the text of a trigger as it was written, so texts can be compared. PostgreSQL
    # reformats definitions, so only name and enabled state are compared here; the whole definition
    # is compared by `registry.store.database_schema`.
    if engine == "sqlite":
        rows = connection.execute(text("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"))
        there = {row.name: row.sql for row in rows}
        statements = dict(zip(wanted, create_statements(engine), strict=True))
        return [name for name in wanted if there.get(name) != statements[name]]
    rows = connection.execute(
        text(
            "SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid"
            " WHERE NOT tgisinternal AND tgenabled IN ('O', 'A') AND relnamespace = current_schema()::regnamespace"
        )
    )
    names = {name for (name,) in rows}
    return [name for name in wanted if name not in names]


def _unique_keys(table: Table) -> list[frozenset[str]]:
    keys = [
        frozenset(column.name for column in constraint.columns)
        for constraint in table.constraints
        if isinstance(constraint, (PrimaryKeyConstraint, UniqueConstraint))
    ]
    # A rule on gap-free numbers already refuses a repeated number, so a second check of the same
    # key would only cost time.
    covered = [rule.covers for rule in _list_rules(table)]
    # A key that contains a smaller unique key cannot be violated without it.
    smallest = [key for key in keys if not any(other < key for other in keys)]
    return sorted((key for key in smallest if key not in covered), key=sorted)


def _sqlite_statements(table: Table) -> list[str]:
    name = table.name
    refuse = [("update", "UPDATE")] if name in ERASABLE else [("update", "UPDATE"), ("delete", "DELETE")]
    statements = [
        f"CREATE TRIGGER {name}__{word} BEFORE {event} ON {name} BEGIN SELECT RAISE(ABORT, 'append-only: {name} takes no {event}'); END"
        for word, event in refuse
    ]
    checks = [(rule.broken, rule.message) for rule in _list_rules(table)]
    # INSERT OR REPLACE deletes the old row without firing DELETE triggers unless recursive triggers
    # are on. The insert trigger therefore refuses a row whose key exists.
    for key in _unique_keys(table):
        same = " AND ".join(f"{column} = NEW.{column}" for column in sorted(key))
        there = f"(SELECT 1 FROM {name} WHERE {same})"  # noqa: S608  (our own names)
        checks.append((there, f"append-only: {name} holds this {' '.join(sorted(key))}"))
    whens = " ".join(f"WHEN {broken} THEN RAISE(ABORT, '{message}')" for broken, message in checks)
    statements.append(f"CREATE TRIGGER {name}__insert BEFORE INSERT ON {name} BEGIN SELECT CASE {whens} END; END")
    return statements


_POSTGRESQL_REFUSES = (
    "CREATE FUNCTION caveat_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
    " RAISE EXCEPTION USING MESSAGE = 'append-only: ' || TG_TABLE_NAME || ' takes no ' || TG_OP, ERRCODE = '23000'; END $$"
)


def _postgresql_function_names() -> list[str]:
    return ["caveat_append_only", *(f"caveat_{table.name}_insert" for table in METADATA.sorted_tables if _list_rules(table))]


def _list_rules(table: Table) -> tuple[TriggerRule, ...]:
    rules: tuple[TriggerRule, ...] = table.info.get("guards", ())
    return rules


def _postgresql_statements(table: Table) -> list[str]:
    name = table.name
    events = "UPDATE" if name in ERASABLE else "UPDATE OR DELETE"
    call = "EXECUTE FUNCTION caveat_append_only()"
    # TRUNCATE does not fire row triggers on PostgreSQL and needs a trigger of its own.
    statements = [
        f"CREATE TRIGGER {name}__change BEFORE {events} ON {name} FOR EACH ROW {call}",
        f"CREATE TRIGGER {name}__truncate BEFORE TRUNCATE ON {name} FOR EACH STATEMENT {call}",
    ]
    if rules := _list_rules(table):
        checks = " ".join(f"IF {rule.broken} THEN RAISE EXCEPTION '{rule.message}' USING ERRCODE = '23000'; END IF;" for rule in rules)
        statements += [
            f"CREATE FUNCTION caveat_{name}_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {checks} RETURN NEW; END $$",
            f"CREATE TRIGGER {name}__insert BEFORE INSERT ON {name} FOR EACH ROW EXECUTE FUNCTION caveat_{name}_insert()",
        ]
    return statements
