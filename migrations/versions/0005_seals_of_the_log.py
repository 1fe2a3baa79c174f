"""Tables for what seals the log (subtrees, checkpoints, cosignatures), and for what is said of keys, other logs, seals and departures.

Revision ID: 0005
Revises: 0004

No row of the log is read or written; `node` is filled by the first writer that comes after. On SQLite the condition on `entry.kind` is
widened in the stored text of the table, as revision 0002 did; a table made anew would lose its triggers.

History: this file imports nothing of ours, and no later change touches it.
"""

# ruff: noqa: E501  (a frozen copy of what was generated)

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

KINDS_BEFORE = "kind IN ('authority', 'model_version', 'spec_version', 'card', 'claim_revision', 'claim_event', 'claim_relation', 'audit', 'lock', 'run', 'result', 'evidence', 'finding', 'restriction', 'contestation', 'contestation_event', 'publication', 'survey', 'omission', 'sighting')"
KINDS = "kind IN ('authority', 'model_version', 'spec_version', 'card', 'claim_revision', 'claim_event', 'claim_relation', 'audit', 'lock', 'run', 'result', 'evidence', 'finding', 'restriction', 'contestation', 'contestation_event', 'publication', 'survey', 'omission', 'sighting', 'key_event', 'log_import', 'witnessing', 'equivocation', 'erasure', 'reveal', 'deviation', 'exploration')"

TABLES = (
    "deviation",
    "exploration",
    "audit_rival",
    "reveal",
    "key_event",
    "cosignature",
    "witnessing",
    "node",
    "log_import",
    "erasure",
    "equivocation",
    "checkpoint",
)

SQLITE_TRIGGERS = (
    "CREATE TRIGGER checkpoint__update BEFORE UPDATE ON checkpoint BEGIN SELECT RAISE(ABORT, 'append-only: checkpoint takes no UPDATE'); END",
    "CREATE TRIGGER checkpoint__delete BEFORE DELETE ON checkpoint BEGIN SELECT RAISE(ABORT, 'append-only: checkpoint takes no DELETE'); END",
    "CREATE TRIGGER checkpoint__insert BEFORE INSERT ON checkpoint BEGIN SELECT CASE WHEN NEW.seq > (SELECT coalesce(max(seq), 0) FROM entry WHERE log = NEW.log) THEN RAISE(ABORT, 'beyond-the-log: a checkpoint is of entries that are recorded') WHEN (SELECT 1 FROM checkpoint WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: checkpoint holds this log seq') END; END",
    "CREATE TRIGGER equivocation__update BEFORE UPDATE ON equivocation BEGIN SELECT RAISE(ABORT, 'append-only: equivocation takes no UPDATE'); END",
    "CREATE TRIGGER equivocation__delete BEFORE DELETE ON equivocation BEGIN SELECT RAISE(ABORT, 'append-only: equivocation takes no DELETE'); END",
    "CREATE TRIGGER equivocation__insert BEFORE INSERT ON equivocation BEGIN SELECT CASE WHEN (SELECT 1 FROM equivocation WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: equivocation holds this log seq') END; END",
    "CREATE TRIGGER erasure__update BEFORE UPDATE ON erasure BEGIN SELECT RAISE(ABORT, 'append-only: erasure takes no UPDATE'); END",
    "CREATE TRIGGER erasure__delete BEFORE DELETE ON erasure BEGIN SELECT RAISE(ABORT, 'append-only: erasure takes no DELETE'); END",
    "CREATE TRIGGER erasure__insert BEFORE INSERT ON erasure BEGIN SELECT CASE WHEN NEW.leaf <> (SELECT leaf FROM entry WHERE log = NEW.log AND seq = NEW.erased) THEN RAISE(ABORT, 'leaf-differs: erasure.leaf must be the leaf of the entry') WHEN (SELECT 1 FROM erasure WHERE erased = NEW.erased AND log = NEW.log) THEN RAISE(ABORT, 'append-only: erasure holds this erased log') WHEN (SELECT 1 FROM erasure WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: erasure holds this log seq') END; END",
    "CREATE TRIGGER log_import__update BEFORE UPDATE ON log_import BEGIN SELECT RAISE(ABORT, 'append-only: log_import takes no UPDATE'); END",
    "CREATE TRIGGER log_import__delete BEFORE DELETE ON log_import BEGIN SELECT RAISE(ABORT, 'append-only: log_import takes no DELETE'); END",
    "CREATE TRIGGER log_import__insert BEFORE INSERT ON log_import BEGIN SELECT CASE WHEN (SELECT 1 FROM log_import WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: log_import holds this log seq') END; END",
    "CREATE TRIGGER node__update BEFORE UPDATE ON node BEGIN SELECT RAISE(ABORT, 'append-only: node takes no UPDATE'); END",
    "CREATE TRIGGER node__delete BEFORE DELETE ON node BEGIN SELECT RAISE(ABORT, 'append-only: node takes no DELETE'); END",
    "CREATE TRIGGER node__insert BEFORE INSERT ON node BEGIN SELECT CASE WHEN (SELECT 1 FROM node WHERE level = NEW.level AND log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: node holds this level log seq') END; END",
    "CREATE TRIGGER witnessing__update BEFORE UPDATE ON witnessing BEGIN SELECT RAISE(ABORT, 'append-only: witnessing takes no UPDATE'); END",
    "CREATE TRIGGER witnessing__delete BEFORE DELETE ON witnessing BEGIN SELECT RAISE(ABORT, 'append-only: witnessing takes no DELETE'); END",
    "CREATE TRIGGER witnessing__insert BEFORE INSERT ON witnessing BEGIN SELECT CASE WHEN (SELECT 1 FROM witnessing WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: witnessing holds this log seq') END; END",
    "CREATE TRIGGER cosignature__update BEFORE UPDATE ON cosignature BEGIN SELECT RAISE(ABORT, 'append-only: cosignature takes no UPDATE'); END",
    "CREATE TRIGGER cosignature__delete BEFORE DELETE ON cosignature BEGIN SELECT RAISE(ABORT, 'append-only: cosignature takes no DELETE'); END",
    "CREATE TRIGGER cosignature__insert BEFORE INSERT ON cosignature BEGIN SELECT CASE WHEN (SELECT 1 FROM cosignature WHERE line = NEW.line AND log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: cosignature holds this line log seq') END; END",
    "CREATE TRIGGER key_event__update BEFORE UPDATE ON key_event BEGIN SELECT RAISE(ABORT, 'append-only: key_event takes no UPDATE'); END",
    "CREATE TRIGGER key_event__delete BEFORE DELETE ON key_event BEGIN SELECT RAISE(ABORT, 'append-only: key_event takes no DELETE'); END",
    "CREATE TRIGGER key_event__insert BEFORE INSERT ON key_event BEGIN SELECT CASE WHEN (SELECT 1 FROM key_event WHERE event = NEW.event AND key = NEW.key AND log = NEW.log) THEN RAISE(ABORT, 'append-only: key_event holds this event key log') WHEN (SELECT 1 FROM key_event WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: key_event holds this log seq') END; END",
    "CREATE TRIGGER reveal__update BEFORE UPDATE ON reveal BEGIN SELECT RAISE(ABORT, 'append-only: reveal takes no UPDATE'); END",
    "CREATE TRIGGER reveal__delete BEFORE DELETE ON reveal BEGIN SELECT RAISE(ABORT, 'append-only: reveal takes no DELETE'); END",
    "CREATE TRIGGER reveal__insert BEFORE INSERT ON reveal BEGIN SELECT CASE WHEN (SELECT commitment FROM spec_version WHERE log = NEW.log AND spec = NEW.spec AND version = NEW.version) IS NULL THEN RAISE(ABORT, 'not-sealed: only a sealed specification is revealed') WHEN (SELECT 1 FROM reveal WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: reveal holds this log seq') WHEN (SELECT 1 FROM reveal WHERE log = NEW.log AND spec = NEW.spec AND version = NEW.version) THEN RAISE(ABORT, 'append-only: reveal holds this log spec version') END; END",
    "CREATE TRIGGER audit_rival__update BEFORE UPDATE ON audit_rival BEGIN SELECT RAISE(ABORT, 'append-only: audit_rival takes no UPDATE'); END",
    "CREATE TRIGGER audit_rival__delete BEFORE DELETE ON audit_rival BEGIN SELECT RAISE(ABORT, 'append-only: audit_rival takes no DELETE'); END",
    "CREATE TRIGGER audit_rival__insert BEFORE INSERT ON audit_rival BEGIN SELECT CASE WHEN (SELECT 1 FROM audit_rival WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: audit_rival holds this log seq') END; END",
    "CREATE TRIGGER exploration__update BEFORE UPDATE ON exploration BEGIN SELECT RAISE(ABORT, 'append-only: exploration takes no UPDATE'); END",
    "CREATE TRIGGER exploration__delete BEFORE DELETE ON exploration BEGIN SELECT RAISE(ABORT, 'append-only: exploration takes no DELETE'); END",
    "CREATE TRIGGER exploration__insert BEFORE INSERT ON exploration BEGIN SELECT CASE WHEN (SELECT 1 FROM exploration WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: exploration holds this log seq') END; END",
    "CREATE TRIGGER deviation__update BEFORE UPDATE ON deviation BEGIN SELECT RAISE(ABORT, 'append-only: deviation takes no UPDATE'); END",
    "CREATE TRIGGER deviation__delete BEFORE DELETE ON deviation BEGIN SELECT RAISE(ABORT, 'append-only: deviation takes no DELETE'); END",
    "CREATE TRIGGER deviation__insert BEFORE INSERT ON deviation BEGIN SELECT CASE WHEN (SELECT 1 FROM deviation WHERE log = NEW.log AND seq = NEW.seq) THEN RAISE(ABORT, 'append-only: deviation holds this log seq') END; END",
)

POSTGRESQL_TRIGGERS = (
    "CREATE TRIGGER checkpoint__change BEFORE UPDATE OR DELETE ON checkpoint FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER checkpoint__truncate BEFORE TRUNCATE ON checkpoint FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE FUNCTION caveat_checkpoint_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.seq > (SELECT coalesce(max(seq), 0) FROM entry WHERE log = NEW.log) THEN RAISE EXCEPTION 'beyond-the-log: a checkpoint is of entries that are recorded' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$",
    "CREATE TRIGGER checkpoint__insert BEFORE INSERT ON checkpoint FOR EACH ROW EXECUTE FUNCTION caveat_checkpoint_insert()",
    "CREATE TRIGGER equivocation__change BEFORE UPDATE OR DELETE ON equivocation FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER equivocation__truncate BEFORE TRUNCATE ON equivocation FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER erasure__change BEFORE UPDATE OR DELETE ON erasure FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER erasure__truncate BEFORE TRUNCATE ON erasure FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE FUNCTION caveat_erasure_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.leaf <> (SELECT leaf FROM entry WHERE log = NEW.log AND seq = NEW.erased) THEN RAISE EXCEPTION 'leaf-differs: erasure.leaf must be the leaf of the entry' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$",
    "CREATE TRIGGER erasure__insert BEFORE INSERT ON erasure FOR EACH ROW EXECUTE FUNCTION caveat_erasure_insert()",
    "CREATE TRIGGER log_import__change BEFORE UPDATE OR DELETE ON log_import FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER log_import__truncate BEFORE TRUNCATE ON log_import FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER node__change BEFORE UPDATE OR DELETE ON node FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER node__truncate BEFORE TRUNCATE ON node FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER witnessing__change BEFORE UPDATE OR DELETE ON witnessing FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER witnessing__truncate BEFORE TRUNCATE ON witnessing FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER cosignature__change BEFORE UPDATE OR DELETE ON cosignature FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER cosignature__truncate BEFORE TRUNCATE ON cosignature FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER key_event__change BEFORE UPDATE OR DELETE ON key_event FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER key_event__truncate BEFORE TRUNCATE ON key_event FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER reveal__change BEFORE UPDATE OR DELETE ON reveal FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER reveal__truncate BEFORE TRUNCATE ON reveal FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE FUNCTION caveat_reveal_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF (SELECT commitment FROM spec_version WHERE log = NEW.log AND spec = NEW.spec AND version = NEW.version) IS NULL THEN RAISE EXCEPTION 'not-sealed: only a sealed specification is revealed' USING ERRCODE = '23000'; END IF; RETURN NEW; END $$",
    "CREATE TRIGGER reveal__insert BEFORE INSERT ON reveal FOR EACH ROW EXECUTE FUNCTION caveat_reveal_insert()",
    "CREATE TRIGGER audit_rival__change BEFORE UPDATE OR DELETE ON audit_rival FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER audit_rival__truncate BEFORE TRUNCATE ON audit_rival FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER exploration__change BEFORE UPDATE OR DELETE ON exploration FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER exploration__truncate BEFORE TRUNCATE ON exploration FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER deviation__change BEFORE UPDATE OR DELETE ON deviation FOR EACH ROW EXECUTE FUNCTION caveat_append_only()",
    "CREATE TRIGGER deviation__truncate BEFORE TRUNCATE ON deviation FOR EACH STATEMENT EXECUTE FUNCTION caveat_append_only()",
)


def upgrade() -> None:
    """Add the tables with their triggers, and let the log hold their kinds of statement."""
    connection = op.get_bind()
    change_kinds(connection, KINDS_BEFORE, KINDS)
    op.create_table(
        "checkpoint",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.CheckConstraint("length(root) = 32", name=op.f("ck_checkpoint_root_32_bytes")),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_checkpoint_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_checkpoint")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "equivocation",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_equivocation_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_equivocation")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_equivocation_log_origin"), "equivocation", ["log", "origin"], unique=False)
    op.create_table(
        "erasure",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("erased", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("leaf", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("erased < seq", name=op.f("ck_erasure_erased_before")),
        sa.CheckConstraint("length(leaf) = 32", name=op.f("ck_erasure_leaf_32_bytes")),
        sa.ForeignKeyConstraint(["log", "erased"], ["entry.log", "entry.seq"], name=op.f("fk_erasure_erased_entry")),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_erasure_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_erasure")),
        sa.UniqueConstraint("log", "erased", name=op.f("uq_erasure_log_erased")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "log_import",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("length(root) = 32", name=op.f("ck_log_import_root_32_bytes")),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_log_import_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_log_import")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_log_import_log_origin"), "log_import", ["log", "origin"], unique=False)
    op.create_table(
        "node",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("level", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("length(hash) = 32", name=op.f("ck_node_hash_32_bytes")),
        sa.CheckConstraint("level IN (4, 8, 12, 16, 20, 24, 28, 32, 36, 40)", name=op.f("ck_node_level_of_sixteens")),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_node_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", "level", name=op.f("pk_node")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "witnessing",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("length(root) = 32", name=op.f("ck_witnessing_root_32_bytes")),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_witnessing_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_witnessing")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_witnessing_log_origin"), "witnessing", ["log", "origin"], unique=False)
    op.create_table(
        "cosignature",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("at", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["log", "seq"], ["checkpoint.log", "checkpoint.seq"], name=op.f("fk_cosignature_seq_checkpoint")),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_cosignature_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", "line", name=op.f("pk_cosignature")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "key_event",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("authority", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("key", sa.LargeBinary(), nullable=False),
        sa.Column("algorithm", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("replaces", sa.LargeBinary(), nullable=True),
        sa.Column("has_reason", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.CheckConstraint("(event = 'rotate') = (replaces IS NOT NULL)", name=op.f("ck_key_event_rotate_names_replaced")),
        sa.CheckConstraint("algorithm IN ('ed25519', 'ml-dsa-44', 'ecdsa-p256')", name=op.f("ck_key_event_algorithm")),
        sa.CheckConstraint("event = 'add' OR has_reason = 1", name=op.f("ck_key_event_reason_given")),
        sa.CheckConstraint("event IN ('add', 'rotate', 'revoke')", name=op.f("ck_key_event_event")),
        sa.CheckConstraint("purpose IN ('log', 'document')", name=op.f("ck_key_event_purpose")),
        sa.CheckConstraint("length(key) = 32", name=op.f("ck_key_event_key_32_bytes")),
        sa.CheckConstraint("length(replaces) = 32", name=op.f("ck_key_event_replaces_32_bytes")),
        sa.ForeignKeyConstraint(["log", "authority"], ["authority.log", "authority.code"], name=op.f("fk_key_event_authority_authority")),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_key_event_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_key_event")),
        sa.UniqueConstraint("log", "key", "event", name=op.f("uq_key_event_log_key_event")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "reveal",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("spec", sa.Text(), nullable=False),
        sa.Column("version", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_reveal_seq_entry")),
        sa.ForeignKeyConstraint(
            ["log", "spec", "version"],
            ["spec_version.log", "spec_version.spec", "spec_version.version"],
            name=op.f("fk_reveal_version_spec_version"),
        ),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_reveal")),
        sa.UniqueConstraint("log", "spec", "version", name=op.f("uq_reveal_log_spec_version")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_table(
        "audit_rival",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("audit", sa.Text(), nullable=False),
        sa.Column("contestation", sa.Text(), nullable=False),
        sa.CheckConstraint("substr(contestation, 1, 4) = 'CON-'", name=op.f("ck_audit_rival_contestation_begins")),
        sa.ForeignKeyConstraint(["log", "audit"], ["audit.log", "audit.audit"], name=op.f("fk_audit_rival_audit_audit")),
        sa.ForeignKeyConstraint(
            ["log", "contestation"],
            ["contestation.log", "contestation.contestation"],
            name=op.f("fk_audit_rival_contestation_contestation"),
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_audit_rival_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_audit_rival")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_audit_rival_log_contestation"), "audit_rival", ["log", "contestation"], unique=False)
    op.create_table(
        "exploration",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("audit", sa.Text(), nullable=False),
        sa.Column("claim", sa.Text(), nullable=False),
        sa.Column("revision", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("scores", sa.LargeBinary(), nullable=False),
        sa.CheckConstraint("length(scores) = 32", name=op.f("ck_exploration_scores_32_bytes")),
        sa.ForeignKeyConstraint(
            ["log", "audit", "claim", "revision"],
            ["audit.log", "audit.audit", "audit.claim", "audit.revision"],
            name=op.f("fk_exploration_revision_audit"),
        ),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_exploration_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_exploration")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_exploration_log_audit"), "exploration", ["log", "audit"], unique=False)
    op.create_table(
        "deviation",
        sa.Column("log", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("audit", sa.Text(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("found", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.CheckConstraint(
            "item IN ('theta', 'direction', 'margin', 'epsilon', 'level', 'interval', 'test_contexts', 'deploy_contexts', 'tasks', 'cues', 'scoring', 'model', 'budget', 'stopping_rule', 'exclusions', 'other')",
            name=op.f("ck_deviation_item"),
        ),
        sa.CheckConstraint("found IN (0, 1)", name=op.f("ck_deviation_found")),
        sa.ForeignKeyConstraint(["log", "audit"], ["lock.log", "lock.audit"], name=op.f("fk_deviation_audit_lock")),
        sa.ForeignKeyConstraint(["log", "seq"], ["entry.log", "entry.seq"], name=op.f("fk_deviation_seq_entry")),
        sa.PrimaryKeyConstraint("log", "seq", name=op.f("pk_deviation")),
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )
    op.create_index(op.f("ix_deviation_log_audit"), "deviation", ["log", "audit"], unique=False)
    for statement in SQLITE_TRIGGERS if connection.dialect.name == "sqlite" else POSTGRESQL_TRIGGERS:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    """Drop the tables, unless something is recorded in them: a downgrade never deletes what was said."""
    connection = op.get_bind()
    for table in TABLES:
        count = 0 if table == "node" else connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()  # noqa: S608  (our own names)
        if count:
            raise RuntimeError(f"the table {table} holds {count} rows")
    for table in TABLES:
        op.drop_table(table)
    if connection.dialect.name == "postgresql":
        for name in ("caveat_checkpoint_insert", "caveat_erasure_insert", "caveat_reveal_insert"):
            connection.exec_driver_sql(f"DROP FUNCTION {name}()")
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
        raise RuntimeError("the table entry is not as revision 0004 left it")
    connection.exec_driver_sql(f"PRAGMA schema_version = {version + 1}")
    connection.exec_driver_sql("PRAGMA writable_schema = RESET")
