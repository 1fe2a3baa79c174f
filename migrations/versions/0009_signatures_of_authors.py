"""A table for the signatures of authors over their entries, and keys whose purpose is to make them.

Revision ID: 0009
Revises: 0008

No row is read or written: what was recorded before stays unsigned, as the operator's assertion. On SQLite the condition on
`key_event.purpose` is widened in the stored text of the table, as revision 0007 did; a table made anew would lose its triggers.

History: this file imports nothing of ours, and no later change touches it.
"""

# ruff: noqa: E501  (a frozen copy of what was generated)

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

PURPOSES_BEFORE = "purpose IN ('log', 'document')"
PURPOSES = "purpose IN ('log', 'document', 'statement')"

SQLITE_TRIGGERS = (
    "CREATE TRIGGER signature__update BEFORE UPDATE ON signature BEGIN SELECT RAISE(ABORT, 'append-only: signature takes no UPDATE'); END",
    "CREATE TRIGGER signature__delete BEFORE DELETE ON signature BEGIN SELECT RAISE(ABORT, 'append-only: signature takes no DELETE'); END",
    "CREATE TRIGGER signature__insert BEFORE INSERT ON signature BEGIN SELECT CASE WHEN (SELECT 1 FROM signature WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: signature holds this log seq') END; END",
)

POSTGRESQL_TRIGGERS = (
    "CREATE TRIGGER signature__change BEFORE UPDATE OR DELETE ON signature FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER signature__truncate BEFORE TRUNCATE ON signature FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
)


def upgrade() -> None:
    """Add the table with its triggers, and let the log hold keys for statements."""
    connection = op.get_bind()
    change_condition(connection, "key_event", "purpose", PURPOSES_BEFORE, PURPOSES)
    op.create_table(
        "signature",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("value", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("length(key) = 32", name=op.f("ck_signature_key_32_bytes")),
        sa.CheckConstraint("length(value) = 64", name=op.f("ck_signature_value_64_bytes")),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_signature_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_signature")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    for statement in SQLITE_TRIGGERS if connection.dialect.name == "sqlite" else POSTGRESQL_TRIGGERS:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    """Drop the table, unless something is recorded that the tables before cannot hold: a downgrade never deletes what was said."""
    connection = op.get_bind()
    if connection.exec_driver_sql("SELECT count(*) FROM signature").scalar():
        raise RuntimeError("the table signature holds rows")
    if connection.exec_driver_sql("SELECT count(*) FROM key_event WHERE purpose = 'statement'").scalar():
        raise RuntimeError("the table key_event holds keys for statements")
    op.drop_table("signature")
    change_condition(connection, "key_event", "purpose", PURPOSES, PURPOSES_BEFORE)


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
        raise RuntimeError(f"the table {table} is not as revision 0008 left it")
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
