"""Tables for what is said of a card's passages: proposed by an engine, left out by somebody, found again in another revision.

Revision ID: 0004
Revises: 0003

No row of the log is read or written. On SQLite the condition on `entry.kind` is widened in the stored text of the table, as revision
0002 did; a table made anew would lose its triggers.

History: this file imports nothing of ours, and no later change touches it.
"""

# ruff: noqa: E501  (a frozen copy of what was generated)

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

KINDS_BEFORE = "kind IN ('authority', 'model_version', 'spec_version', 'card', 'claim_revision', 'claim_event', 'claim_relation', 'audit', 'lock', 'run', 'result', 'evidence', 'finding', 'restriction', 'contestation', 'contestation_event', 'publication')"
KINDS = "kind IN ('authority', 'model_version', 'spec_version', 'card', 'claim_revision', 'claim_event', 'claim_relation', 'audit', 'lock', 'run', 'result', 'evidence', 'finding', 'restriction', 'contestation', 'contestation_event', 'publication', 'survey', 'omission', 'sighting')"

TABLES = ("sighting", "omission", "survey")

SQLITE_TRIGGERS = (
    "CREATE TRIGGER omission__update BEFORE UPDATE ON omission BEGIN SELECT RAISE(ABORT, 'append-only: omission takes no UPDATE'); END",
    "CREATE TRIGGER omission__delete BEFORE DELETE ON omission BEGIN SELECT RAISE(ABORT, 'append-only: omission takes no DELETE'); END",
    "CREATE TRIGGER omission__insert BEFORE INSERT ON omission BEGIN SELECT CASE WHEN (SELECT 1 FROM omission WHERE card = NEW.card AND log = NEW.log AND revision = NEW.revision AND start = NEW.start AND stop = NEW.stop) THEN RAISE(ABORT, 'append-only: omission holds this card log revision start stop') WHEN (SELECT 1 FROM omission WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: omission holds this log seq') END; END",
    "CREATE TRIGGER survey__update BEFORE UPDATE ON survey BEGIN SELECT RAISE(ABORT, 'append-only: survey takes no UPDATE'); END",
    "CREATE TRIGGER survey__delete BEFORE DELETE ON survey BEGIN SELECT RAISE(ABORT, 'append-only: survey takes no DELETE'); END",
    "CREATE TRIGGER survey__insert BEFORE INSERT ON survey BEGIN SELECT CASE WHEN (SELECT 1 FROM survey WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: survey holds this log seq') END; END",
    "CREATE TRIGGER sighting__update BEFORE UPDATE ON sighting BEGIN SELECT RAISE(ABORT, 'append-only: sighting takes no UPDATE'); END",
    "CREATE TRIGGER sighting__delete BEFORE DELETE ON sighting BEGIN SELECT RAISE(ABORT, 'append-only: sighting takes no DELETE'); END",
    "CREATE TRIGGER sighting__insert BEFORE INSERT ON sighting BEGIN SELECT CASE WHEN NOT EXISTS (SELECT 1 FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim AND revision = NEW.revision AND quote_status = 'verbatim' AND card = NEW.card AND card_revision <> NEW.card_revision) THEN RAISE(ABORT, 'not-another-revision: a sighting is of a quoted passage, in another revision of the card it is quoted from') WHEN (SELECT 1 FROM sighting WHERE card = NEW.card AND card_revision = NEW.card_revision AND claim = NEW.claim AND log = NEW.log AND revision = NEW.revision) THEN RAISE(ABORT, 'append-only: sighting holds this card card_revision claim log revision') WHEN (SELECT 1 FROM sighting WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: sighting holds this log seq') END; END",
)

POSTGRESQL_TRIGGERS = (
    "CREATE TRIGGER omission__change BEFORE UPDATE OR DELETE ON omission FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER omission__truncate BEFORE TRUNCATE ON omission FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER survey__change BEFORE UPDATE OR DELETE ON survey FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER survey__truncate BEFORE TRUNCATE ON survey FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER sighting__change BEFORE UPDATE OR DELETE ON sighting FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER sighting__truncate BEFORE TRUNCATE ON sighting FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE FUNCTION caveat_sighting_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NOT EXISTS (SELECT 1 FROM claim_revision WHERE log = NEW.log AND claim = NEW.claim AND revision = NEW.revision AND quote_status = 'verbatim' AND card = NEW.card AND card_revision <> NEW.card_revision) THEN RAISE EXCEPTION 'not-another-revision: a sighting is of a quoted passage, in another revision of the card it is quoted from' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$",
    "CREATE TRIGGER sighting__insert BEFORE INSERT ON sighting FOR EACH ROW EXECUTE FUNCTION caveat_sighting_insert()",
)


def upgrade() -> None:
    """Add the tables with their triggers, and let the log hold their kinds of statement."""
    connection = op.get_bind()
    change_kinds(connection, KINDS_BEFORE, KINDS)
    op.create_table(
        "omission",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("card", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("start", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("stop", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.CheckConstraint("start >= 0 AND stop > start", name=op.f("ck_omission_stop_after_start")),
        sa.ForeignKeyConstraint(
            ["log", "card", "revision"],
            ["card_revision.log", "card_revision.card", "card_revision.revision"],
            name=op.f("fk_omission_revision_card_revision"),
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_omission_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_omission")),
        sa.UniqueConstraint("log", "card", "revision", "start", "stop", name=op.f("uq_omission_log_card_revision_start_stop")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "survey",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("card", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["log", "card", "revision"],
            ["card_revision.log", "card_revision.card", "card_revision.revision"],
            name=op.f("fk_survey_revision_card_revision"),
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_survey_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_survey")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_survey_log_card_revision"), "survey", ["log", "card", "revision"], unique=False)
    op.create_table(
        "sighting",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("card", sa.Text(), nullable=False),
        sa.Column("card_revision", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("fate", sa.Text(), nullable=False),
        sa.Column("alarm", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("start", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=True),
        sa.Column("stop", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=True),
        sa.CheckConstraint(
            "(fate = 'gone') = (start IS NULL) AND (start IS NULL) = (stop IS NULL)", name=op.f("ck_sighting_placed_unless_gone")
        ),
        sa.CheckConstraint(
            "CASE fate WHEN 'gone' THEN alarm = 1 WHEN 'reworded' THEN alarm IN (0, 1) ELSE alarm = 0 END",
            name=op.f("ck_sighting_alarm_agrees"),
        ),
        sa.CheckConstraint("fate IN ('unchanged', 'moved', 'reworded', 'gone')", name=op.f("ck_sighting_fate")),
        sa.CheckConstraint("start >= 0 AND stop > start", name=op.f("ck_sighting_stop_after_start")),
        sa.ForeignKeyConstraint(
            ["log", "card", "card_revision"],
            ["card_revision.log", "card_revision.card", "card_revision.revision"],
            name=op.f("fk_sighting_card_revision_card_revision"),
        ),
        sa.ForeignKeyConstraint(
            ["log", "claim", "revision"],
            ["claim_revision.log", "claim_revision.claim", "claim_revision.revision"],
            name=op.f("fk_sighting_revision_claim_revision"),
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_sighting_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_sighting")),
        sa.UniqueConstraint(
            "log", "claim", "revision", "card", "card_revision", name=op.f("uq_sighting_log_claim_revision_card_card_revision")
        ),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_sighting_log_card_card_revision"), "sighting", ["log", "card", "card_revision"], unique=False)
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
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("DROP FUNCTION caveat_sighting_insert()")
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
        raise RuntimeError("the table entry is not as revision 0002 left it")
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
