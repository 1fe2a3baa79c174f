"""Triggers: what the database itself refuses and no constraint can say, from one table of rules for both engines."""

from dataclasses import dataclass

from sqlalchemy import Connection, PrimaryKeyConstraint, Table, UniqueConstraint, text

from registry.store.database_tables import ERASABLE, METADATA


@dataclass(frozen=True, slots=True, kw_only=True)
# Decision of 2026-11-21: what no constraint can express is a trigger. The triggers of both engines
# are generated from one table of rules and frozen into the migration. `caveat admin db check` names
# missing ones. The cost: slower bulk inserts, least when many rows share a statement.
class TriggerRule:
    """Something an inserted row must not be."""

    table: str
    broken: str
    """SQL that is true for a row to refuse; `NEW` is the row. Read alike by both engines."""
    message: str
    covers: frozenset[str] = frozenset()
    """Columns of a unique key that this rule already guards."""


def _gapless(table: str, number: str, within: str) -> TriggerRule:
    columns = within.split()
    same = " AND ".join(f"{column} = NEW.{column}" for column in columns)
    # max + 1 instead of a sequence: sequences leave gaps after a rollback, and a gap in a log looks
    # like a deleted entry.
    return TriggerRule(
        table=table,
        broken=f"NEW.{number} <> (SELECT coalesce(max({number}), 0) + 1 FROM {table} WHERE {same})",  # noqa: S608  (our own names)
        message=f"not-gapless: {table}.{number} must follow the last one",
        covers=frozenset({number, *columns}),
    )


RULES = (
    # The leaf index in the Merkle tree is seq − 1, so a gap would break every proof.
    _gapless("entry", "seq", "log"),
    TriggerRule(
        table="entry",
        # Times that decrease would make "as of a date" ambiguous.
        broken="NEW.at < (SELECT at FROM entry WHERE log = NEW.log AND seq = NEW.seq - 1)",
        message="out-of-order: entry.at must not lie before the entry that precedes it",
    ),
    _gapless("identifier", "number", "log kind authority year"),
    _gapless("card_revision", "revision", "log card"),
    _gapless("spec_version", "version", "log spec"),
    _gapless("claim_revision", "revision", "log claim"),
    TriggerRule(
        table="lock",
        # The lock repeats the time of its entry so that runs can be compared with it by a foreign
        # key. A wrong copy would let a run precede its lock.
        broken="NEW.at <> (SELECT at FROM entry WHERE log = NEW.log AND seq = NEW.seq)",
        message="not-its-time: lock.at must be the time of its entry",
    ),
    TriggerRule(
        # Findings are weighed when the outcome is computed. A later finding would change the
        # outcome without any new score.
        table="finding",
        broken="EXISTS (SELECT 1 FROM restriction WHERE log = NEW.log AND audit = NEW.audit AND seq < NEW.seq)",
        message="after-outcome: a finding enters an audit before its outcome",
    ),
    TriggerRule(
        table="restriction",
        broken="NEW.form <> (SELECT form FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim AND revision = NEW.revision)",
        message="verdict-inconsistent: restriction.form must be the form of the claim revision",
    ),
    TriggerRule(
        # A CHECK cannot look into another table, so the condition on the quoted card is a trigger.
        table="sighting",
        broken="NOT EXISTS (SELECT 1 FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim AND revision = NEW.revision"
        " AND quote_status = 'verbatim' AND card = NEW.card AND card_revision <> NEW.card_revision)",
        message="wrong-document: a sighting is of a quoted passage, in another revision of the card it is quoted from",
    ),
    TriggerRule(
        table="reveal",
        broken="(SELECT commitment FROM spec_version WHERE log = NEW.log AND spec = NEW.spec AND version = NEW.version) IS NULL",
        message="seal-not-needed: only a sealed specification is revealed",
    ),
    TriggerRule(
        table="erasure",
        broken="NEW.leaf <> (SELECT leaf FROM entry WHERE log = NEW.log AND seq = NEW.erased)",
        message="history-differs: erasure.leaf must be the leaf of the entry",
    ),
    TriggerRule(
        # A checkpoint beyond the log could only come from another history.
        table="checkpoint",
        broken="NEW.seq > (SELECT coalesce(max(seq), 0) FROM entry WHERE log = NEW.log)",
        message="entry-not-found: a checkpoint is of entries that are recorded",
    ),
)


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
    covered = [rule.covers for rule in RULES if rule.table == table.name]
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
    checks = [(rule.broken, rule.message) for rule in RULES if rule.table == name]
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
    return ["caveat_append_only", *(f"caveat_{table.name}_insert" for table in METADATA.sorted_tables if _rules_of(table))]


def _rules_of(table: Table) -> list[TriggerRule]:
    return [rule for rule in RULES if rule.table == table.name]


def _postgresql_statements(table: Table) -> list[str]:
    name = table.name
    events = "UPDATE" if name in ERASABLE else "UPDATE OR DELETE"
    call = "EXECUTE FUNCTION caveat_append_only()"
    # TRUNCATE does not fire row triggers on PostgreSQL and needs a trigger of its own.
    statements = [
        f"CREATE TRIGGER {name}__change BEFORE {events} ON {name} FOR EACH ROW {call}",
        f"CREATE TRIGGER {name}__truncate BEFORE TRUNCATE ON {name} FOR EACH STATEMENT {call}",
    ]
    if rules := _rules_of(table):
        checks = " ".join(f"IF {rule.broken} THEN RAISE EXCEPTION '{rule.message}' USING ERRCODE = '23000'; END IF;" for rule in rules)
        statements += [
            f"CREATE FUNCTION caveat_{name}_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {checks} RETURN NEW; END $$",
            f"CREATE TRIGGER {name}__insert BEFORE INSERT ON {name} FOR EACH ROW EXECUTE FUNCTION caveat_{name}_insert()",
        ]
    return statements
