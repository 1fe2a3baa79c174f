"""Tables for runs under a lock, from start to end, and for the last day on which an outcome counts.

Revision ID: 0010
Revises: 0009

No row is read or written: runs that were recorded before have no start. On SQLite the conditions on `entry.kind` and
`reviewed_cause.kind` are widened in the stored text of their tables, as revision 0007 did; a table made anew would lose its triggers.

History: this file imports nothing of ours, and no later change touches it.
"""

# ruff: noqa: E501  (a frozen copy of what was generated)

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

KINDS_BEFORE = "kind IN ('authority', 'model_version', 'spec_version', 'card', 'claim_revision', 'claim_event', 'claim_relation', 'audit', 'lock', 'run', 'result', 'evidence', 'finding', 'restriction', 'contestation', 'contestation_event', 'publication', 'survey', 'omission', 'sighting', 'key_event', 'log_import', 'witnessing', 'equivocation', 'erasure', 'reveal', 'deviation', 'exploration', 'model_event', 'staleness_review', 'model_endpoint')"
KINDS = "kind IN ('authority', 'model_version', 'spec_version', 'card', 'claim_revision', 'claim_event', 'claim_relation', 'audit', 'lock', 'run', 'result', 'evidence', 'finding', 'restriction', 'contestation', 'contestation_event', 'publication', 'survey', 'omission', 'sighting', 'key_event', 'log_import', 'witnessing', 'equivocation', 'erasure', 'reveal', 'deviation', 'exploration', 'model_event', 'staleness_review', 'model_endpoint', 'run_start', 'run_end')"
CAUSES_BEFORE = "kind IN ('successor', 'deprecation', 'card', 'spec', 'method', 'contestation', 'revision')"
CAUSES = "kind IN ('successor', 'deprecation', 'card', 'spec', 'method', 'contestation', 'expiry', 'revision')"

TABLES = ("outcome_validity", "run_end", "run_start")

SQLITE_TRIGGERS = (
    "CREATE TRIGGER outcome_validity__update BEFORE UPDATE ON outcome_validity BEGIN SELECT RAISE(ABORT, 'append-only: outcome_validity takes no UPDATE'); END",
    "CREATE TRIGGER outcome_validity__delete BEFORE DELETE ON outcome_validity BEGIN SELECT RAISE(ABORT, 'append-only: outcome_validity takes no DELETE'); END",
    "CREATE TRIGGER outcome_validity__insert BEFORE INSERT ON outcome_validity BEGIN SELECT CASE WHEN (SELECT 1 FROM outcome_validity WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: outcome_validity holds this log seq') END; END",
    "CREATE TRIGGER run_start__update BEFORE UPDATE ON run_start BEGIN SELECT RAISE(ABORT, 'append-only: run_start takes no UPDATE'); END",
    "CREATE TRIGGER run_start__delete BEFORE DELETE ON run_start BEGIN SELECT RAISE(ABORT, 'append-only: run_start takes no DELETE'); END",
    "CREATE TRIGGER run_start__insert BEFORE INSERT ON run_start BEGIN SELECT CASE WHEN (SELECT 1 FROM run_start WHERE audit = NEW.audit AND log = NEW.log AND run = NEW.run) THEN RAISE(ABORT, 'append-only: run_start holds this audit log run') WHEN (SELECT 1 FROM run_start WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: run_start holds this log seq') END; END",
    "CREATE TRIGGER run_end__update BEFORE UPDATE ON run_end BEGIN SELECT RAISE(ABORT, 'append-only: run_end takes no UPDATE'); END",
    "CREATE TRIGGER run_end__delete BEFORE DELETE ON run_end BEGIN SELECT RAISE(ABORT, 'append-only: run_end takes no DELETE'); END",
    "CREATE TRIGGER run_end__insert BEFORE INSERT ON run_end BEGIN SELECT CASE WHEN (SELECT 1 FROM run_end WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: run_end holds this log seq') END; END",
)

POSTGRESQL_TRIGGERS = (
    "CREATE TRIGGER outcome_validity__change BEFORE UPDATE OR DELETE ON outcome_validity FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER outcome_validity__truncate BEFORE TRUNCATE ON outcome_validity FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER run_start__change BEFORE UPDATE OR DELETE ON run_start FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER run_start__truncate BEFORE TRUNCATE ON run_start FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER run_end__change BEFORE UPDATE OR DELETE ON run_end FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER run_end__truncate BEFORE TRUNCATE ON run_end FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
)


def upgrade() -> None:
    """Add the tables with their triggers, and let the log hold their kinds of statement."""
    connection = op.get_bind()
    change_condition(connection, "entry", "kind", KINDS_BEFORE, KINDS)
    change_condition(connection, "reviewed_cause", "kind", CAUSES_BEFORE, CAUSES)
    op.create_table(
        "run_start",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("audit", sa.Text(), nullable=False),
        sa.Column("lock", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("run", sa.Text(), nullable=False),
        sa.CheckConstraint("length(run) = 32", name=op.f("ck_run_start_run_32_digits")),
        sa.CheckConstraint("lock < seq", name=op.f("ck_run_start_lock_before_start")),
        sa.ForeignKeyConstraint(["log", "audit", "lock"], ["lock.log", "lock.audit", "lock.seq"], name=op.f("fk_run_start_lock_lock")),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_run_start_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_run_start")),
        sa.UniqueConstraint("log", "audit", "run", name=op.f("uq_run_start_log_audit_run")),
        sa.UniqueConstraint("log", "audit", "seq", name=op.f("uq_run_start_log_audit_seq")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "run_end",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("audit", sa.Text(), nullable=False),
        sa.Column("start", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("calls", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.CheckConstraint("status IN ('completed', 'aborted', 'failed', 'imported')", name=op.f("ck_run_end_status")),
        sa.CheckConstraint("calls >= 0", name=op.f("ck_run_end_calls")),
        sa.CheckConstraint("start < seq", name=op.f("ck_run_end_start_before_end")),
        sa.ForeignKeyConstraint(
            ["log", "audit", "start"], ["run_start.log", "run_start.audit", "run_start.seq"], name=op.f("fk_run_end_start_run_start")
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_run_end_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_run_end")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "outcome_validity",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("audit", sa.Text(), nullable=False),
        sa.Column("valid_until", sa.Text(), nullable=False),
        sa.CheckConstraint("length(valid_until) = 10", name=op.f("ck_outcome_validity_valid_until_is_a_day")),
        sa.ForeignKeyConstraint(["log", "audit"], ["audit.log", "audit.audit"], name=op.f("fk_outcome_validity_audit_audit")),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_outcome_validity_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_outcome_validity")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    for statement in SQLITE_TRIGGERS if connection.dialect.name == "sqlite" else POSTGRESQL_TRIGGERS:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    """Drop the tables, unless something is recorded that the tables before cannot hold: a downgrade never deletes what was said."""
    connection = op.get_bind()
    for table in TABLES:
        count = connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()  # noqa: S608  (our own names)
        if count:
            raise RuntimeError(f"the table {table} holds {count} rows")
    if connection.exec_driver_sql("SELECT count(*) FROM reviewed_cause WHERE kind = 'expiry'").scalar():
        raise RuntimeError("the table reviewed_cause holds decisions on expired audits")
    for table in TABLES:
        op.drop_table(table)
    change_condition(connection, "reviewed_cause", "kind", CAUSES, CAUSES_BEFORE)
    change_condition(connection, "entry", "kind", KINDS, KINDS_BEFORE)


def change_condition(connection: sa.Connection, table: str, column: str, before: str, after: str) -> None:
    """Change the condition on *column*; raises RuntimeError when it is not the one expected, and then nothing is changed."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT ck_{table}_{column}")
        connection.exec_driver_sql(f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_{column} CHECK ({after})")
        return
    version = connection.exec_driver_sql("PRAGMA schema_version").scalar()
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    changed = connection.execute(
        sa.text(
            "UPDATE sqlite_master SET sql = replace(sql, :before, :after) WHERE type = 'table' AND name = :table AND instr(sql, :before)"
        ),
        {"before": before, "after": after, "table": table},
    )
    if changed.rowcount != 1:
        connection.exec_driver_sql("PRAGMA writable_schema = OFF")
        raise RuntimeError(f"the table {table} is not as revision 0009 left it")
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
