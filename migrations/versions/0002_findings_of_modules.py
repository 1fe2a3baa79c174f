"""A table for what the modules of the protocol find, their kind of statement in the log, and whose scores an estimate is of.

Revision ID: 0002
Revises: 0001

No row of the log is read or written. On SQLite the condition on `entry.kind` is widened in the stored text of the table, as
SQLite's own page on ALTER TABLE describes for changes that leave every row as it is; a table made anew would lose its triggers.
Rows of `estimate`, which statements give and nothing refers to, are carried into a table with one more column.

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

ESTIMATE_TRIGGERS = (
    "CREATE TRIGGER estimate__update BEFORE UPDATE ON estimate BEGIN SELECT RAISE(ABORT, 'append-only: estimate takes no UPDATE'); END",
    "CREATE TRIGGER estimate__delete BEFORE DELETE ON estimate BEGIN SELECT RAISE(ABORT, 'append-only: estimate takes no DELETE'); END",
    "CREATE TRIGGER estimate__insert BEFORE INSERT ON estimate BEGIN SELECT CASE WHEN (SELECT 1 FROM estimate WHERE judge = NEW.judge AND log = NEW.log AND seq = NEW.seq AND spec = NEW.spec) THEN RAISE(ABORT, 'append-only: estimate holds this judge log seq spec') WHEN (SELECT 1 FROM estimate WHERE log = NEW.log AND position = NEW.position AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: estimate holds this log position seq') END; END",
)
ESTIMATE_TRIGGERS_BEFORE = (
    *ESTIMATE_TRIGGERS[:2],
    "CREATE TRIGGER estimate__insert BEFORE INSERT ON estimate BEGIN SELECT CASE WHEN (SELECT 1 FROM estimate WHERE log = NEW.log AND position = NEW.position AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: estimate holds this log position seq') WHEN (SELECT 1 FROM estimate WHERE log = NEW.log AND seq = NEW.seq AND spec = NEW.spec) THEN RAISE(ABORT, 'append-only: estimate holds this log seq spec') END; END",
)


def upgrade() -> None:
    """Add the table with its triggers, let the log hold its kind of statement, and let estimates name their judge."""
    connection = op.get_bind()
    change_kinds(connection, KINDS_BEFORE, KINDS)
    add_judge(connection)
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
    remove_judge(connection)
    change_kinds(connection, KINDS, KINDS_BEFORE)


def add_judge(connection: sa.Connection) -> None:
    """Give `estimate` the column `judge`, empty in every row that is there: before, no table had several judges."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ALTER TABLE estimate ADD COLUMN judge TEXT NOT NULL DEFAULT ''")
        connection.exec_driver_sql("ALTER TABLE estimate ALTER COLUMN judge DROP DEFAULT")
        connection.exec_driver_sql("ALTER TABLE estimate DROP CONSTRAINT uq_estimate_log_seq_spec")
        connection.exec_driver_sql("ALTER TABLE estimate ADD CONSTRAINT uq_estimate_log_seq_spec_judge UNIQUE (log, seq, spec, judge)")
        return
    set_estimates_aside(connection)
    create_estimate(with_judge=True)
    connection.exec_driver_sql(
        "INSERT INTO estimate (log, seq, position, spec, judge, ed, low, high, replayed, corpus)"
        " SELECT log, seq, position, spec, '', ed, low, high, replayed, corpus FROM estimate_aside"
    )
    op.drop_table("estimate_aside")
    for statement in ESTIMATE_TRIGGERS:
        connection.exec_driver_sql(statement)


def remove_judge(connection: sa.Connection) -> None:
    """Take the column `judge` away; raises RuntimeError when an estimate names one."""
    count = connection.exec_driver_sql("SELECT count(*) FROM estimate WHERE judge <> ''").scalar()
    if count:
        raise RuntimeError(f"the table estimate holds {count} rows that name a judge")
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("ALTER TABLE estimate DROP COLUMN judge")
        connection.exec_driver_sql("ALTER TABLE estimate ADD CONSTRAINT uq_estimate_log_seq_spec UNIQUE (log, seq, spec)")
        return
    set_estimates_aside(connection)
    create_estimate(with_judge=False)
    connection.exec_driver_sql(
        "INSERT INTO estimate (log, seq, position, spec, ed, low, high, replayed, corpus)"
        " SELECT log, seq, position, spec, ed, low, high, replayed, corpus FROM estimate_aside"
    )
    op.drop_table("estimate_aside")
    for statement in ESTIMATE_TRIGGERS_BEFORE:
        connection.exec_driver_sql(statement)


def set_estimates_aside(connection: sa.Connection) -> None:
    """Rename the table, without its triggers: they would keep its rows from being carried over and dropped."""
    for name in ("update", "delete", "insert"):
        connection.exec_driver_sql(f"DROP TRIGGER estimate__{name}")
    connection.exec_driver_sql("ALTER TABLE estimate RENAME TO estimate_aside")


def create_estimate(*, with_judge: bool) -> None:
    """Create the table as SQLite has it, with or without the column `judge`."""
    judge = [sa.Column("judge", sa.Text(), nullable=False)] if with_judge else []
    unique = ["log", "seq", "spec", "judge"] if with_judge else ["log", "seq", "spec"]
    op.create_table(
        "estimate",
        sa.Column("log", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        *judge,
        sa.Column("ed", sa.REAL(), nullable=False),
        sa.Column("low", sa.REAL(), nullable=True),
        sa.Column("high", sa.REAL(), nullable=True),
        sa.Column("replayed", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("corpus", sa.Integer(), autoincrement=False, nullable=True),
        sa.CheckConstraint("(low IS NULL) = (high IS NULL)", name=op.f("ck_estimate_interval_whole")),
        sa.CheckConstraint("low <= ed AND ed <= high", name=op.f("ck_estimate_ed_in_interval")),
        sa.CheckConstraint("replayed <= corpus", name=op.f("ck_estimate_replayed_of_corpus")),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_estimate_seq_entry")),
        sa.ForeignKeyConstraint(["log", "seq"], ["result.log", "result.seq"], name=op.f("fk_estimate_seq_result")),
        sa.PrimaryKeyConstraint("log", "seq", "position", name=op.f("pk_estimate")),
        sa.UniqueConstraint(*unique, name=op.f("uq_estimate_" + "_".join(unique))),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )


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
