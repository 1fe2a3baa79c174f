"""Tables for the lineage of model versions and for reviews of staleness; the table of findings takes shifts between versions.

Revision ID: 0006
Revises: 0005

No row is read or written. On SQLite the conditions on `entry.kind` and `finding.what` are widened in the stored text of their tables, as
revision 0002 did; tables made anew would lose their triggers.

History: this file imports nothing of ours, and no later change touches it.
"""

# ruff: noqa: E501  (a frozen copy of what was generated)

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

KINDS_BEFORE = "kind IN ('authority', 'model_version', 'spec_version', 'card', 'claim_revision', 'claim_event', 'claim_relation', 'audit', 'lock', 'run', 'result', 'evidence', 'finding', 'restriction', 'contestation', 'contestation_event', 'publication', 'survey', 'omission', 'sighting', 'key_event', 'log_import', 'witnessing', 'equivocation', 'erasure', 'reveal', 'deviation', 'exploration')"
KINDS = "kind IN ('authority', 'model_version', 'spec_version', 'card', 'claim_revision', 'claim_event', 'claim_relation', 'audit', 'lock', 'run', 'result', 'evidence', 'finding', 'restriction', 'contestation', 'contestation_event', 'publication', 'survey', 'omission', 'sighting', 'key_event', 'log_import', 'witnessing', 'equivocation', 'erasure', 'reveal', 'deviation', 'exploration', 'model_event', 'staleness_review')"

WHAT_BEFORE = "what IN ('naturalness', 'ablation', 'judge', 'probe')"
WHAT = "what IN ('naturalness', 'ablation', 'judge', 'probe', 'shift')"

TABLES = ("reviewed_cause", "staleness_review", "model_event")

SQLITE_TRIGGERS = (
    "CREATE TRIGGER model_event__update BEFORE UPDATE ON model_event BEGIN SELECT RAISE(ABORT, 'append-only: model_event takes no UPDATE'); END",
    "CREATE TRIGGER model_event__delete BEFORE DELETE ON model_event BEGIN SELECT RAISE(ABORT, 'append-only: model_event takes no DELETE'); END",
    "CREATE TRIGGER model_event__insert BEFORE INSERT ON model_event BEGIN SELECT CASE WHEN (SELECT 1 FROM model_event WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: model_event holds this log seq') END; END",
    "CREATE TRIGGER staleness_review__update BEFORE UPDATE ON staleness_review BEGIN SELECT RAISE(ABORT, 'append-only: staleness_review takes no UPDATE'); END",
    "CREATE TRIGGER staleness_review__delete BEFORE DELETE ON staleness_review BEGIN SELECT RAISE(ABORT, 'append-only: staleness_review takes no DELETE'); END",
    "CREATE TRIGGER staleness_review__insert BEFORE INSERT ON staleness_review BEGIN SELECT CASE WHEN (SELECT 1 FROM staleness_review WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: staleness_review holds this log seq') END; END",
    "CREATE TRIGGER reviewed_cause__update BEFORE UPDATE ON reviewed_cause BEGIN SELECT RAISE(ABORT, 'append-only: reviewed_cause takes no UPDATE'); END",
    "CREATE TRIGGER reviewed_cause__delete BEFORE DELETE ON reviewed_cause BEGIN SELECT RAISE(ABORT, 'append-only: reviewed_cause takes no DELETE'); END",
    "CREATE TRIGGER reviewed_cause__insert BEFORE INSERT ON reviewed_cause BEGIN SELECT CASE WHEN (SELECT 1 FROM reviewed_cause WHERE log = NEW.log AND position = NEW.position AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: reviewed_cause holds this log position seq') END; END",
)

POSTGRESQL_TRIGGERS = (
    "CREATE TRIGGER model_event__change BEFORE UPDATE OR DELETE ON model_event FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER model_event__truncate BEFORE TRUNCATE ON model_event FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER staleness_review__change BEFORE UPDATE OR DELETE ON staleness_review FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER staleness_review__truncate BEFORE TRUNCATE ON staleness_review FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER reviewed_cause__change BEFORE UPDATE OR DELETE ON reviewed_cause FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER reviewed_cause__truncate BEFORE TRUNCATE ON reviewed_cause FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
)


def upgrade() -> None:
    """Add the tables with their triggers, and let the log hold their kinds of statement."""
    connection = op.get_bind()
    change_condition(connection, "entry", "kind", KINDS_BEFORE, KINDS)
    change_condition(connection, "finding", "what", WHAT_BEFORE, WHAT)
    op.create_table(
        "model_event",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("developer", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("predecessor_developer", sa.Text(), nullable=True),
        sa.Column("predecessor_name", sa.Text(), nullable=True),
        sa.Column("predecessor_version", sa.Text(), nullable=True),
        sa.Column("descent", sa.Text(), nullable=True),
        sa.Column("has_reason", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.CheckConstraint("(event = 'follow') = (descent IS NOT NULL)", name=op.f("ck_model_event_follow_names_descent")),
        sa.CheckConstraint(
            "(event IN ('follow', 'unfollow')) = (predecessor_name IS NOT NULL)", name=op.f("ck_model_event_link_names_predecessor")
        ),
        sa.CheckConstraint(
            "NOT (developer = coalesce(predecessor_developer, '') AND name = coalesce(predecessor_name, '') AND version = coalesce(predecessor_version, ''))",
            name=op.f("ck_model_event_another_predecessor"),
        ),
        sa.CheckConstraint("descent IN ('successor', 'snapshot', 'fine_tune')", name=op.f("ck_model_event_descent")),
        sa.CheckConstraint("event = 'follow' OR has_reason = 1", name=op.f("ck_model_event_reason_given")),
        sa.CheckConstraint("event IN ('follow', 'unfollow', 'deprecate', 'reinstate')", name=op.f("ck_model_event_event")),
        sa.CheckConstraint(
            "(predecessor_developer IS NULL) = (predecessor_name IS NULL) AND (predecessor_name IS NULL) = (predecessor_version IS NULL)",
            name=op.f("ck_model_event_predecessor_whole"),
        ),
        sa.ForeignKeyConstraint(
            ["log", "developer", "name", "version"],
            ["model_version.log", "model_version.developer", "model_version.name", "model_version.version"],
            name=op.f("fk_model_event_version_model_version"),
        ),
        sa.ForeignKeyConstraint(
            ["log", "predecessor_developer", "predecessor_name", "predecessor_version"],
            ["model_version.log", "model_version.developer", "model_version.name", "model_version.version"],
            name=op.f("fk_model_event_predecessor_version_model_version"),
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_model_event_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_model_event")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_model_event_log_developer_name_version"), "model_event", ["log", "developer", "name", "version"], unique=False)
    op.create_index(
        "ix_model_event_predecessor",
        "model_event",
        ["log", "predecessor_developer", "predecessor_name", "predecessor_version"],
        unique=False,
    )
    op.create_table(
        "staleness_review",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.CheckConstraint("substr(claim, 1, 4) = 'CLM-'", name=op.f("ck_staleness_review_claim_begins")),
        sa.CheckConstraint("verdict IN ('confirmed', 'dismissed')", name=op.f("ck_staleness_review_verdict")),
        sa.ForeignKeyConstraint(
            ["log", "claim", "revision"],
            ["claim_revision.log", "claim_revision.claim", "claim_revision.revision"],
            name=op.f("fk_staleness_review_revision_claim_revision"),
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_staleness_review_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_staleness_review")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_staleness_review_log_claim"), "staleness_review", ["log", "claim"], unique=False)
    op.create_table(
        "reviewed_cause",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("position", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("what", sa.Text(), nullable=False),
        sa.CheckConstraint(
            "kind IN ('successor', 'deprecation', 'card', 'spec', 'method', 'contestation', 'revision')",
            name=op.f("ck_reviewed_cause_kind"),
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_reviewed_cause_seq_entry")),
        sa.ForeignKeyConstraint(
            ["log", "seq"], ["staleness_review.log", "staleness_review.seq"], name=op.f("fk_reviewed_cause_seq_staleness_review")
        ),
        sa.PrimaryKeyConstraint("log", "seq", "position", name=op.f("pk_reviewed_cause")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    for statement in SQLITE_TRIGGERS if connection.dialect.name == "sqlite" else POSTGRESQL_TRIGGERS:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    """Drop the tables, unless something is recorded in them: a downgrade never deletes what was said."""
    connection = op.get_bind()
    for table in TABLES:
        count = connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()  # noqa: S608  (our own names)
        if count:
            raise RuntimeError(f"the table {table} holds {count} rows")
    shifts = connection.exec_driver_sql("SELECT count(*) FROM finding WHERE what = 'shift'").scalar()
    if shifts:
        raise RuntimeError(f"the table finding holds {shifts} rows of shifts between versions")
    for table in TABLES:
        op.drop_table(table)
    change_condition(connection, "entry", "kind", KINDS, KINDS_BEFORE)
    change_condition(connection, "finding", "what", WHAT, WHAT_BEFORE)


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
        raise RuntimeError(f"the table {table} is not as revision 0005 left it")
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
