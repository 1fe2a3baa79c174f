"""Tables for endpoint names of model versions, and for the names by which an outcome decided who was asked.

Revision ID: 0007
Revises: 0006

No row is read or written. On SQLite the condition on `entry.kind` is widened in the stored text of the table, as revision 0002 did; a
table made anew would lose its triggers.

History: this file imports nothing of ours, and no later change touches it.
"""

# ruff: noqa: E501  (a frozen copy of what was generated)

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

KINDS_BEFORE = "kind IN ('authority', 'model_version', 'spec_version', 'card', 'claim_revision', 'claim_event', 'claim_relation', 'audit', 'lock', 'run', 'result', 'evidence', 'finding', 'restriction', 'contestation', 'contestation_event', 'publication', 'survey', 'omission', 'sighting', 'key_event', 'log_import', 'witnessing', 'equivocation', 'erasure', 'reveal', 'deviation', 'exploration', 'model_event', 'staleness_review')"
KINDS = "kind IN ('authority', 'model_version', 'spec_version', 'card', 'claim_revision', 'claim_event', 'claim_relation', 'audit', 'lock', 'run', 'result', 'evidence', 'finding', 'restriction', 'contestation', 'contestation_event', 'publication', 'survey', 'omission', 'sighting', 'key_event', 'log_import', 'witnessing', 'equivocation', 'erasure', 'reveal', 'deviation', 'exploration', 'model_event', 'staleness_review', 'model_endpoint')"

TABLES = ("asked_name", "model_endpoint")

SQLITE_TRIGGERS = (
    "CREATE TRIGGER model_endpoint__update BEFORE UPDATE ON model_endpoint BEGIN SELECT RAISE(ABORT, 'append-only: model_endpoint takes no UPDATE'); END",
    "CREATE TRIGGER model_endpoint__delete BEFORE DELETE ON model_endpoint BEGIN SELECT RAISE(ABORT, 'append-only: model_endpoint takes no DELETE'); END",
    "CREATE TRIGGER model_endpoint__insert BEFORE INSERT ON model_endpoint BEGIN SELECT CASE WHEN (SELECT 1 FROM model_endpoint WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: model_endpoint holds this log seq') END; END",
    "CREATE TRIGGER asked_name__update BEFORE UPDATE ON asked_name BEGIN SELECT RAISE(ABORT, 'append-only: asked_name takes no UPDATE'); END",
    "CREATE TRIGGER asked_name__delete BEFORE DELETE ON asked_name BEGIN SELECT RAISE(ABORT, 'append-only: asked_name takes no DELETE'); END",
    "CREATE TRIGGER asked_name__insert BEFORE INSERT ON asked_name BEGIN SELECT CASE WHEN (SELECT 1 FROM asked_name WHERE log = NEW.log AND position = NEW.position AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: asked_name holds this log position seq') END; END",
)

POSTGRESQL_TRIGGERS = (
    "CREATE TRIGGER model_endpoint__change BEFORE UPDATE OR DELETE ON model_endpoint FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER model_endpoint__truncate BEFORE TRUNCATE ON model_endpoint FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER asked_name__change BEFORE UPDATE OR DELETE ON asked_name FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER asked_name__truncate BEFORE TRUNCATE ON asked_name FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
)


def upgrade() -> None:
    """Add the tables with their triggers, and let the log hold their kind of statement."""
    connection = op.get_bind()
    change_condition(connection, "entry", "kind", KINDS_BEFORE, KINDS)
    op.create_table(
        "model_endpoint",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("developer", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("endpoint", sa.Text(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.CheckConstraint("endpoint <> ''", name=op.f("ck_model_endpoint_endpoint_given")),
        sa.CheckConstraint("event IN ('state', 'retract')", name=op.f("ck_model_endpoint_event")),
        sa.ForeignKeyConstraint(
            ["log", "developer", "name", "version"],
            ["model_version.log", "model_version.developer", "model_version.name", "model_version.version"],
            name=op.f("fk_model_endpoint_version_model_version"),
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_model_endpoint_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_model_endpoint")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(
        op.f("ix_model_endpoint_log_developer_name_version"), "model_endpoint", ["log", "developer", "name", "version"], unique=False
    )
    op.create_index("ix_model_endpoint_endpoint", "model_endpoint", ["log", "endpoint"], unique=False)
    op.create_table(
        "asked_name",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("audit", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["log", "audit"], ["audit.log", "audit.audit"], name=op.f("fk_asked_name_audit_audit")),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_asked_name_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", "position", name=op.f("pk_asked_name")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_asked_name_log_audit"), "asked_name", ["log", "audit"], unique=False)
    for statement in SQLITE_TRIGGERS if connection.dialect.name == "sqlite" else POSTGRESQL_TRIGGERS:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    """Drop the tables, unless something is recorded in them: a downgrade never deletes what was said."""
    connection = op.get_bind()
    for table in TABLES:
        count = connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()  # noqa: S608  (our own names)
        if count:
            raise RuntimeError(f"the table {table} holds {count} rows")
    for table in TABLES:
        op.drop_table(table)
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
        raise RuntimeError(f"the table {table} is not as revision 0006 left it")
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
