"""Tables that claim families are found by: verdicts of outcomes, places of quotes, and the claims that others were adopted from.

Revision ID: 0008
Revises: 0006

What is recorded is entered: outcomes had no verdict before, which reads as inconclusive, and places stand in the statements.

History: this file imports nothing of ours, and no later change touches it.
"""

# ruff: noqa: E501  (a frozen copy of what was generated)

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TABLES = ("claim_origin", "claim_passage", "verdict")

SQLITE_TRIGGERS = (
    "CREATE TRIGGER verdict__update BEFORE UPDATE ON verdict BEGIN SELECT RAISE(ABORT, 'append-only: verdict takes no UPDATE'); END",
    "CREATE TRIGGER verdict__delete BEFORE DELETE ON verdict BEGIN SELECT RAISE(ABORT, 'append-only: verdict takes no DELETE'); END",
    "CREATE TRIGGER verdict__insert BEFORE INSERT ON verdict BEGIN SELECT CASE WHEN (SELECT 1 FROM verdict WHERE log = NEW.log AND reading = NEW.reading AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: verdict holds this log reading seq') END; END",
    "CREATE TRIGGER claim_passage__update BEFORE UPDATE ON claim_passage BEGIN SELECT RAISE(ABORT, 'append-only: claim_passage takes no UPDATE'); END",
    "CREATE TRIGGER claim_passage__delete BEFORE DELETE ON claim_passage BEGIN SELECT RAISE(ABORT, 'append-only: claim_passage takes no DELETE'); END",
    "CREATE TRIGGER claim_passage__insert BEFORE INSERT ON claim_passage BEGIN SELECT CASE WHEN (SELECT 1 FROM claim_passage WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_passage holds this log seq') END; END",
    "CREATE TRIGGER claim_origin__update BEFORE UPDATE ON claim_origin BEGIN SELECT RAISE(ABORT, 'append-only: claim_origin takes no UPDATE'); END",
    "CREATE TRIGGER claim_origin__delete BEFORE DELETE ON claim_origin BEGIN SELECT RAISE(ABORT, 'append-only: claim_origin takes no DELETE'); END",
    "CREATE TRIGGER claim_origin__insert BEFORE INSERT ON claim_origin BEGIN SELECT CASE WHEN (SELECT 1 FROM claim_origin WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: claim_origin holds this log seq') END; END",
)

POSTGRESQL_TRIGGERS = (
    "CREATE TRIGGER verdict__change BEFORE UPDATE OR DELETE ON verdict FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER verdict__truncate BEFORE TRUNCATE ON verdict FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER claim_passage__change BEFORE UPDATE OR DELETE ON claim_passage FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER claim_passage__truncate BEFORE TRUNCATE ON claim_passage FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER claim_origin__change BEFORE UPDATE OR DELETE ON claim_origin FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER claim_origin__truncate BEFORE TRUNCATE ON claim_origin FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
)

_ENTER_VERDICTS = "INSERT INTO verdict SELECT log, seq, reading, 'inconclusive', NULL FROM restriction"
_ENTER_PLACES = {
    "sqlite": "INSERT INTO claim_passage"
    " SELECT c.log, c.seq, json_extract(b.json, '$.payload.anchor.start'), json_extract(b.json, '$.payload.anchor.stop')"
    " FROM claim_revision c JOIN body b ON b.log = c.log AND b.seq = c.seq"
    " WHERE json_extract(b.json, '$.payload.anchor.start') IS NOT NULL",
    "postgresql": "INSERT INTO claim_passage"
    " SELECT c.log, c.seq, (b.json::json #>> '{payload,anchor,start}')::bigint, (b.json::json #>> '{payload,anchor,stop}')::bigint"
    " FROM claim_revision c JOIN body b ON b.log = c.log AND b.seq = c.seq"
    " WHERE b.json::json #>> '{payload,anchor,start}' IS NOT NULL",
}


def upgrade() -> None:
    """Add the tables with their triggers, and enter what the statements say."""
    connection = op.get_bind()
    op.create_table(
        "verdict",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("reading", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("verdict", sa.Text(), nullable=False),
        sa.Column("standing", sa.Text(), nullable=True),
        sa.CheckConstraint("standing IN ('established', 'conditional', 'provisional')", name=op.f("ck_verdict_standing")),
        sa.CheckConstraint(
            "verdict IN ('holds', 'does_not_carry_over', 'contradicted', 'not_reproduced', 'observed', 'contradicted_in_production', 'in_doubt', 'inconclusive', 'not_testable')",
            name=op.f("ck_verdict_verdict"),
        ),
        sa.ForeignKeyConstraint(
            ["log", "seq", "reading"],
            ["restriction.log", "restriction.seq", "restriction.reading"],
            name=op.f("fk_verdict_reading_restriction"),
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_verdict_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", "reading", name=op.f("pk_verdict")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "claim_passage",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("start", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("stop", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.CheckConstraint("start >= 0 AND stop > start", name=op.f("ck_claim_passage_stop_after_start")),
        sa.ForeignKeyConstraint(
            ["log", "seq"], ["claim_revision.log", "claim_revision.seq"], name=op.f("fk_claim_passage_seq_claim_revision")
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_claim_passage_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_claim_passage")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "claim_origin",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("entry", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("leaf", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("substr(claim, 1, 4) = 'CLM-'", name=op.f("ck_claim_origin_claim_begins")),
        sa.CheckConstraint("length(leaf) = 32", name=op.f("ck_claim_origin_leaf_32_bytes")),
        sa.CheckConstraint("revision >= 1 AND entry >= 1", name=op.f("ck_claim_origin_from_1")),
        sa.ForeignKeyConstraint(
            ["log", "seq"], ["claim_revision.log", "claim_revision.seq"], name=op.f("fk_claim_origin_seq_claim_revision")
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_claim_origin_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_claim_origin")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_claim_origin_log_origin_claim"), "claim_origin", ["log", "origin", "claim"], unique=False)
    connection.exec_driver_sql(_ENTER_VERDICTS)
    connection.exec_driver_sql(_ENTER_PLACES[connection.dialect.name])
    for statement in SQLITE_TRIGGERS if connection.dialect.name == "sqlite" else POSTGRESQL_TRIGGERS:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    """Drop the tables, unless something is recorded that the tables before cannot hold: a downgrade never deletes what was said."""
    connection = op.get_bind()
    if connection.exec_driver_sql("SELECT count(*) FROM claim_origin").scalar():
        raise RuntimeError("the table claim_origin holds rows")
    if connection.exec_driver_sql("SELECT count(*) FROM verdict WHERE verdict <> 'inconclusive' OR standing IS NOT NULL").scalar():
        raise RuntimeError("the table verdict holds verdicts")
    for table in TABLES:
        op.drop_table(table)
