"""The tables, as SQLAlchemy Core knows them: the log, what may be erased, and typed rows that only help to find and to refuse.

Every row names the entry `(log, seq)` that recorded it. No row is updated; `registry.store.guards` makes the database refuse it.
Tables have no hidden row number on SQLite (`INSERT OR REPLACE` could aim at it). Digests are 32 bytes, instants whole seconds, UTC.
"""

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, PrimaryKeyConstraint, Table, UniqueConstraint

from registry.store import card_tables, endpoint_tables, family_tables, lineage_tables, run_tables, seal_tables  # noqa: F401
from registry.records.audit_case import Access, EvidenceKind, EvidenceLayer, Independence
from registry.records.claim import ClaimEventKind, ClaimRelationKind, Direction, Form, QuoteStatus, Relation
from registry.records.claim_status import ContestationStep
from registry.records.module_findings import FindingKind
from registry.records.record import AuthorityRole, Kind
from registry.records.replay_run import RunStatus
from registry.records.specification import SpecKind
from registry.records.statement import OutputFormat, StatementKind
from registry.records.verdict import Basis, ClaimClass, Mode, Standing
from registry.store.columns import (
    SHARED,
    begins,
    bytes_column,
    digest,
    new_table,
    one_of,
    real_column,
    refers,
    refers_to_spec,
    spec_columns,
    text_column,
    text_columns,
    whole_column,
    whole_columns,
)

METADATA = SHARED
"""All tables. To be imported from here, where they are defined."""

log = Table(
    "log",
    METADATA,
    whole_column("id"),
    text_column("origin"),
    text_column("vkey", null=True),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("origin"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
entry = new_table(
    "entry",
    *text_columns("kind actor"),
    whole_column("at"),
    bytes_column("leaf"),
    one_of("kind", StatementKind),
    digest("leaf"),
    ForeignKeyConstraint(["log"], ["log.id"], name="log"),
)
body = new_table("body", text_column("json"))
content = Table(
    "content",
    METADATA,
    bytes_column("sha256"),
    bytes_column("data"),
    PrimaryKeyConstraint("sha256"),
    digest("sha256"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
authority = new_table(
    "authority",
    text_column("code"),
    text_column("name"),
    text_column("role"),
    one_of("role", AuthorityRole),
    UniqueConstraint("log", "code"),
)
identifier = new_table(
    "identifier",
    *text_columns("id kind authority"),
    *whole_columns("year number"),
    one_of("kind", Kind),
    CheckConstraint("number >= 1", name="number_from_1"),
    CheckConstraint("substr(id, 1, length(authority) + 5) = kind || '-' || authority || '-'", name="id_agrees"),
    UniqueConstraint("log", "kind", "authority", "year", "number"),
    refers("authority", "authority", "code"),
    key="log id",
)
model_version = new_table(
    "model_version",
    *text_columns("developer name version"),
    *text_columns("predecessor_developer predecessor_name predecessor_version", null=True),
    CheckConstraint(
        "(predecessor_developer IS NULL) = (predecessor_name IS NULL) AND (predecessor_name IS NULL) = (predecessor_version IS NULL)",
        name="predecessor_whole",
    ),
    UniqueConstraint("log", "developer", "name", "version"),
    refers("predecessor_developer predecessor_name predecessor_version", "model_version", "developer name version"),
    Index("ix_model_version_predecessor", "log", "predecessor_developer", "predecessor_name", "predecessor_version"),
)
spec = new_table(
    "spec",
    *text_columns("spec kind slug owner"),
    one_of("kind", SpecKind),
    UniqueConstraint("log", "spec", "kind"),
    UniqueConstraint("log", "owner", "kind", "slug"),
    refers("spec", "identifier", "id"),
    refers("owner", "authority", "code"),
)
spec_version = new_table(
    "spec_version",
    *text_columns("spec kind"),
    whole_column("version"),
    text_column("body", null=True),
    bytes_column("commitment", null=True),
    text_column("why", null=True),
    digest("commitment"),
    CheckConstraint("(body IS NULL) <> (commitment IS NULL)", name="sealed_xor_body"),
    CheckConstraint("version = 1 OR length(trim(why)) > 0 AND why IS NOT NULL", name="why_from_2"),
    UniqueConstraint("log", "spec", "version"),
    UniqueConstraint("log", "spec", "version", "kind"),
    refers("spec kind", "spec", "spec kind"),
)
claim_revision = new_table(
    "claim_revision",
    text_column("claim"),
    whole_column("revision"),
    bytes_column("natural_key"),
    *text_columns("quote_status form"),
    text_column("relation", null=True),
    real_column("theta"),
    *text_columns("direction developer model model_version"),
    text_column("card", null=True),
    whole_column("card_revision", null=True),
    *spec_columns("property", null=False),
    *spec_columns("scoring", null=True),
    *spec_columns("test_context", null=True),
    CheckConstraint("revision >= 1", name="revision_from_1"),
    whole_column("has_why"),
    begins("claim", Kind.CLAIM),
    digest("natural_key"),
    one_of("quote_status", QuoteStatus),
    one_of("form", Form),
    one_of("relation", Relation),
    one_of("direction", Direction),
    CheckConstraint(
        "CASE form WHEN 'threshold' THEN relation IS NOT NULL WHEN 'upper_bound' THEN relation IS NOT NULL AND relation = '<='"
        " WHEN 'lower_bound' THEN relation IS NOT NULL AND relation = '>=' ELSE relation IS NULL END",
        name="relation_agrees",
    ),
    CheckConstraint("theta IS NULL OR relation IS NOT NULL", name="theta_agrees"),
    CheckConstraint("revision = 1 OR has_why = 1", name="why_from_2"),
    CheckConstraint("(card IS NULL) = (card_revision IS NULL)", name="card_whole"),
    UniqueConstraint("log", "claim", "revision"),
    refers("claim", "identifier", "id"),
    refers("card card_revision", "card_revision", "card revision"),
    *refers_to_spec("property", SpecKind.PROPERTY),
    *refers_to_spec("scoring", SpecKind.SCORING),
    *refers_to_spec("test_context", SpecKind.TEST_CONTEXT),
    Index(None, "log", "natural_key"),
)
claim_text = new_table("claim_text", text_column("quote"), text_column("note", null=True), refers("seq", "claim_revision", "seq"))
claim_context = new_table(
    "claim_context",
    whole_column("position"),
    *spec_columns("context", null=False),
    *refers_to_spec("context", SpecKind.DEPLOY_CONTEXT),
    refers("seq", "claim_revision", "seq"),
    key="log seq position",
)
claim_event = new_table(
    "claim_event",
    *text_columns("claim event"),
    text_column("successor", null=True),
    whole_column("has_reason"),
    begins("claim", Kind.CLAIM),
    one_of("event", ClaimEventKind),
    CheckConstraint("(event = 'supersede') = (successor IS NOT NULL)", name="supersede_names_successor"),
    CheckConstraint("successor <> claim", name="another_successor"),
    CheckConstraint("event IN ('reserve', 'publish') OR has_reason = 1", name="reason_given"),
    refers("claim", "identifier", "id"),
    refers("successor", "identifier", "id"),
    Index(None, "log", "claim"),
)
claim_relation = new_table(
    "claim_relation",
    *text_columns("claim relation other"),
    one_of("relation", ClaimRelationKind),
    begins("claim", Kind.CLAIM),
    begins("other", Kind.CLAIM),
    CheckConstraint("claim <> other", name="another_claim"),
    UniqueConstraint("log", "claim", "relation", "other"),
    refers("claim", "identifier", "id"),
    refers("other", "identifier", "id"),
    Index(None, "log", "other"),
)
audit = new_table(
    "audit",
    *text_columns("audit claim"),
    whole_column("revision"),
    *text_columns("auditor independence"),
    begins("audit", Kind.AUDIT),
    one_of("independence", Independence),
    UniqueConstraint("log", "audit"),
    UniqueConstraint("log", "audit", "claim", "revision"),
    refers("audit", "identifier", "id"),
    refers("claim revision", "claim_revision", "claim revision"),
    refers("auditor", "authority", "code"),
    Index(None, "log", "claim"),
)
lock = new_table(
    "lock",
    *text_columns("audit claim"),
    *whole_columns("revision at"),
    text_column("relation", null=True),
    real_column("theta"),
    text_column("direction"),
    real_column("margin"),
    real_column("level", null=False),
    one_of("relation", Relation),
    one_of("direction", Direction),
    CheckConstraint("theta IS NULL OR relation IS NOT NULL", name="theta_agrees"),
    CheckConstraint("level >= 0.5 AND level < 1", name="level"),
    CheckConstraint("margin > 0", name="margin"),
    UniqueConstraint("log", "audit"),
    UniqueConstraint("log", "audit", "seq"),
    UniqueConstraint("log", "audit", "seq", "at"),
    refers("audit claim revision", "audit", "audit claim revision"),
)
run = new_table(
    "run",
    text_column("audit"),
    *whole_columns("lock lock_at started_at"),
    text_column("status"),
    bytes_column("scores"),
    *whole_columns("responses excluded"),
    whole_column("corpus", null=True),
    one_of("status", RunStatus),
    digest("scores"),
    CheckConstraint("lock < seq", name="lock_before_run"),
    CheckConstraint("started_at >= lock_at", name="started_after_lock"),
    CheckConstraint("responses >= 0 AND excluded >= 0", name="counts"),
    UniqueConstraint("log", "audit", "seq"),
    refers("audit lock lock_at", "lock", "audit seq at"),
)
result = new_table(
    "result",
    text_column("audit"),
    *whole_columns("lock run"),
    CheckConstraint("lock < run AND run < seq", name="lock_before_run_before_result"),
    UniqueConstraint("log", "audit", "seq"),
    refers("audit lock", "lock", "audit seq"),
    refers("audit run", "run", "audit seq"),
)
estimate = new_table(
    "estimate",
    whole_column("position"),
    *text_columns("spec judge"),
    real_column("ed", null=False),
    real_column("low"),
    real_column("high"),
    whole_column("replayed"),
    whole_column("corpus", null=True),
    CheckConstraint("(low IS NULL) = (high IS NULL)", name="interval_whole"),
    CheckConstraint("low <= ed AND ed <= high", name="ed_in_interval"),
    CheckConstraint("replayed <= corpus", name="replayed_of_corpus"),
    UniqueConstraint("log", "seq", "spec", "judge"),
    refers("seq", "result", "seq"),
    key="log seq position",
)
evidence = new_table(
    "evidence",
    *text_columns("audit claim"),
    whole_column("revision"),
    *text_columns("layer access"),
    text_column("kind", null=True),
    real_column("finding"),
    one_of("layer", EvidenceLayer),
    one_of("access", Access),
    one_of("kind", EvidenceKind),
    CheckConstraint("access = 'available' OR finding IS NULL AND kind IS NULL", name="unavailable_without_finding"),
    refers("audit claim revision", "audit", "audit claim revision"),
    Index(None, "log", "audit"),
)
finding = new_table(
    "finding",
    *text_columns("audit claim"),
    whole_column("revision"),
    text_column("what"),
    one_of("what", FindingKind),
    refers("audit claim revision", "audit", "audit claim revision"),
    Index(None, "log", "audit"),
)
restriction = new_table(
    "restriction",
    whole_column("reading"),
    *text_columns("audit claim"),
    whole_column("revision"),
    *text_columns("form as_form class"),
    *text_columns("standing mode", null=True),
    text_column("basis"),
    whole_column("result", null=True),
    text_column("resolves", null=True),
    one_of("form", Form),
    one_of("as_form", Form),
    one_of("class", ClaimClass),
    one_of("standing", Standing),
    one_of("mode", Mode),
    one_of("basis", Basis),
    CheckConstraint("reading > 0 OR form = as_form", name="primary_in_own_form"),
    CheckConstraint("class <> 'inverted' OR as_form IN ('threshold', 'upper_bound', 'lower_bound')", name="inverted_needs_threshold"),
    CheckConstraint(
        "NOT (class = 'inverted' AND coalesce(standing, '') = 'established') OR basis = 'replay' AND result IS NOT NULL",
        name="established_inversion_needs_replay",
    ),
    CheckConstraint("basis <> 'replay' OR result IS NOT NULL", name="replay_names_result"),
    CheckConstraint("(class = 'undetermined') = (mode IS NOT NULL)", name="undetermined_has_mode"),
    CheckConstraint("(class = 'undetermined') = (coalesce(length(trim(resolves)), 0) > 0)", name="undetermined_resolves"),
    refers("audit claim revision", "audit", "audit claim revision"),
    refers("audit result", "result", "audit seq"),
    Index(None, "log", "audit"),
    Index(None, "log", "claim", "revision"),
    key="log seq reading",
)
contestation = new_table(
    "contestation",
    text_column("contestation"),
    text_column("claim", null=True),
    whole_column("revision", null=True),
    text_column("spec", null=True),
    whole_column("version", null=True),
    text_column("contested_by"),
    text_column("rival", null=True),
    whole_column("rival_version", null=True),
    begins("contestation", Kind.CONTESTATION),
    CheckConstraint("(claim IS NULL) <> (spec IS NULL)", name="one_target"),
    CheckConstraint("(claim IS NULL) = (revision IS NULL) AND (spec IS NULL) = (version IS NULL)", name="target_whole"),
    CheckConstraint("(rival IS NULL) = (rival_version IS NULL)", name="rival_whole"),
    UniqueConstraint("log", "contestation"),
    refers("contestation", "identifier", "id"),
    refers("claim revision", "claim_revision", "claim revision"),
    refers("spec version", "spec_version", "spec version"),
    refers("rival rival_version", "spec_version", "spec version"),
    refers("contested_by", "authority", "code"),
    Index(None, "log", "claim"),
    Index(None, "log", "spec"),
)
contestation_event = new_table(
    "contestation_event",
    *text_columns("contestation step"),
    one_of("step", ContestationStep),
    refers("contestation", "contestation", "contestation"),
    Index(None, "log", "contestation"),
)
publication = new_table(
    "publication",
    text_column("subject"),
    whole_column("revision"),
    text_column("audit", null=True),
    text_column("format"),
    bytes_column("sha256"),
    bytes_column("record"),
    bytes_column("template"),
    whole_column("log_size"),
    one_of("format", OutputFormat),
    *map(digest, ("sha256", "record", "template")),
    CheckConstraint("log_size < seq", name="made_before_recorded"),
    refers("subject", "identifier", "id"),
    refers("audit", "audit", "audit"),
    Index(None, "log", "subject"),
    Index(None, "log", "sha256"),
)

ERASABLE = frozenset({body.name, claim_text.name, content.name})
"""Rows here may be deleted, never changed: erasing a text leaves its proof in the log."""

_SEALS = frozenset({"node", "checkpoint", "cosignature", "signature"})
TYPED = tuple(table for table in METADATA.sorted_tables if table not in (log, entry, body, content) and table.name not in _SEALS)
"""What the statements give, each after those it refers to."""

REVISION = "0001"
"""The migration that makes these tables; a test compares it with the newest one there is."""

OWN_LOG = 1
"""The log this registry writes; others are those of other registries."""
