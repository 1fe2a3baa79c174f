"""A table for what the modules of the protocol find, and their kind of statement in the log.

Revision ID: 0002
Revises: 0001

No row of the log is read or written. On SQLite the condition on `entry.kind` is widened in the stored text of the table, as
SQLite's own page on ALTER TABLE describes for changes that leave every row as it is; a table made anew would lose its triggers.

History: this file imports nothing of ours, and no later change touches it.
"""

# ruff: noqa: E501  (a frozen copy of what was generated)

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

KINDS_BEFORE = "kind IN ('authority', 'model_version', 'spec_version', 'card', 'claim_revision', 'claim_event', 'claim_relation', 'audit', 'lock', 'run', 'result', 'evidence', 'restriction', 'contestation', 'contestation_event', 'publication')"
KINDS = "kind IN ('authority', 'model_version', 'spec_version', 'card', 'claim_revision', 'claim_event', 'claim_relation', 'audit', 'lock', 'run', 'result', 'evidence', 'finding', 'restriction', 'contestation', 'contestation_event', 'publication')"

SQLITE_TRIGGERS = (
    "CREATE TRIGGER finding__update BEFORE UPDATE ON finding BEGIN SELECT RAISE(ABORT, 'append-only: finding takes no UPDATE'); END",
    "CREATE TRIGGER finding__delete BEFORE DELETE ON finding BEGIN SELECT RAISE(ABORT, 'append-only: finding takes no DELETE'); END",
    "CREATE TRIGGER finding__insert BEFORE INSERT ON finding BEGIN SELECT CASE WHEN EXISTS (SELECT 1 FROM restriction WHERE log = NEW.log AND audit = NEW.audit AND seq < NEW.seq) THEN RAISE(ABORT, 'after-outcome: a finding enters an audit before its outcome') WHEN (SELECT 1 FROM finding WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: finding holds this log seq') END; END",
)

POSTGRESQL_TRIGGERS = (
    "CREATE TRIGGER finding__change BEFORE UPDATE OR DELETE ON finding FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER finding__truncate BEFORE TRUNCATE ON finding FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE FUNCTION caveat_finding_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF EXISTS (SELECT 1 FROM restriction WHERE log = NEW.log AND audit = NEW.audit AND seq < NEW.seq) THEN RAISE EXCEPTION 'after-outcome: a finding enters an audit before its outcome' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$",
    "CREATE TRIGGER finding__insert BEFORE INSERT ON finding FOR EACH ROW EXECUTE FUNCTION caveat_finding_insert()",
)


def upgrade() -> None:
    """Add the table with its triggers, and let the log hold its kind of statement."""
    connection = op.get_bind()
    change_kinds(connection, KINDS_BEFORE, KINDS)
    op.create_table(
        "finding",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("audit", sa.Text(), nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.CheckConstraint("what IN ('naturalness', 'ablation', 'judge')", name=op.f("ck_finding_what")),
        sa.ForeignKeyConstraint(
            ["log", "audit", "claim", "revision"],
            ["audit.log", "audit.audit", "audit.claim", "audit.revision"],
            name=op.f("fk_finding_revision_audit"),
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_finding_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_finding")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_finding_log_audit"), "finding", ["log", "audit"], unique=False)
    for statement in SQLITE_TRIGGERS if connection.dialect.name == "sqlite" else POSTGRESQL_TRIGGERS:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    """Drop the table, unless something is recorded in it: a downgrade never deletes what was said."""
    connection = op.get_bind()
    count = connection.exec_driver_sql("SELECT count(*) FROM finding").scalar()
    if count:
        raise RuntimeError(f"the table finding holds {count} rows")
    op.drop_table("finding")
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("DROP FUNCTION caveat_finding_insert()")
    change_kinds(connection, KINDS, KINDS_BEFORE)


def change_kinds(connection: sa.Connection, before: str, after: str) -> None:
    """Change the condition on `entry.kind`; raises RuntimeError when it is not the one expected, and then nothing is changed."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ALTER TABLE entry DROP CONSTRAINT ck_entry_kind")
        connection.exec_driver_sql(f"ALTER TABLE entry ADD CONSTRAINT ck_entry_kind CHECK ({after})")
        return
    version = connection.exec_driver_sql("PRAGMA schema_version").scalar()
    connection.exec_driver_sql("PRAGMA writable_schema = ON")
    changed = connection.execute(
        sa.text(
            "UPDATE sqlite_master SET sql = replace(sql, :before, :after) WHERE type = 'table' AND name = 'entry' AND instr(sql, :before)"
        ),
        {"before": before, "after": after},
    )
    if changed.rowcount != 1:
        connection.exec_driver_sql("PRAGMA writable_schema = OFF")
        raise RuntimeError("the table entry is not as revision 0001 made it")
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
