"""The tables, as SQLAlchemy Core knows them: the log, what may be erased, and typed rows that only help to find and to refuse.

Every row names the entry `(log, seq)` that recorded it. No row is updated; `registry.store.guards` makes the database refuse it.
Tables have no hidden row number on SQLite (`INSERT OR REPLACE` could aim at it). Digests are 32 bytes, instants are whole seconds since
1970 in UTC.
"""

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    CheckConstraint,
    Column,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeEngine

from registry.records.audit import Independence
from registry.records.authority import Role
from registry.records.card import MediaType
from registry.records.claim import ClaimEventKind, ClaimRelationKind, Direction, Form, QuoteStatus, Relation
from registry.records.classification import Basis, ClaimClass, Mode, Standing
from registry.records.contestation import ContestationStep
from registry.records.evidence import Access, EvidenceKind, Layer
from registry.records.identifier import Kind
from registry.records.publication import OutputFormat
from registry.records.spec import SpecKind
from registry.records.statement import StatementKind
from registry.records.trial import RunStatus

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(constraint_name)s",
        "pk": "pk_%(table_name)s",
    }
)

_WHOLE = BigInteger().with_variant(Integer, "sqlite")
_REAL: TypeEngine[float] = Double().with_variant(REAL, "sqlite")


def _text(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, Text, nullable=null)


def _whole(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, _WHOLE, nullable=null, autoincrement=False)


def _real(name: str, *, null: bool = True) -> Column[Any]:
    return Column(name, _REAL, nullable=null)


def _bytes(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, LargeBinary, nullable=null)


def _one_of(column: str, choices: type[StrEnum] | Iterable[str]) -> CheckConstraint:
    listed = ", ".join(f"'{choice}'" for choice in choices)
    return CheckConstraint(f"{column} IN ({listed})", name=column)


def _digest(column: str) -> CheckConstraint:
    return CheckConstraint(f"length({column}) = 32", name=f"{column}_32_bytes")


def _begins(column: str, kind: str) -> CheckConstraint:
    return CheckConstraint(f"substr({column}, 1, 4) = '{kind}-'", name=f"{column}_begins")


def _refers(columns: str, target: str, target_columns: str) -> ForeignKeyConstraint:
    local = ["log", *columns.split()]
    return ForeignKeyConstraint(local, [f"{target}.{one}" for one in ("log " + target_columns).split()], name=f"{local[-1]}_{target}")


def _refers_to_spec(column: str, kind: SpecKind) -> list[Any]:
    """A typed reference: the kind is a column, fixed by a CHECK, and part of the foreign key."""
    return [
        CheckConstraint(f"{column}_kind = '{kind}'", name=f"{column}_is_{kind}"),
        CheckConstraint(f"({column} IS NULL) = ({column}_version IS NULL)", name=f"{column}_whole"),
        CheckConstraint(f"({column} IS NULL) = ({column}_kind IS NULL)", name=f"{column}_typed"),
        _refers(f"{column} {column}_version {column}_kind", "spec_version", "spec version kind"),
    ]


def _spec_columns(column: str, *, null: bool) -> list[Any]:
    return [_text(column, null=null), _whole(f"{column}_version", null=null), _text(f"{column}_kind", null=null)]


def _table(name: str, *parts: Any, key: str = "log seq") -> Table:
    """Return a table whose rows name their entry."""
    columns: list[Any] = [] if name == "entry" else [_refers("seq", "entry", "seq")]
    return Table(
        name,
        METADATA,
        _whole("log"),
        _whole("seq"),
        *parts,
        PrimaryKeyConstraint(*key.split()),
        *columns,
        sqlite_strict=True,
        sqlite_with_rowid=False,
    )


log = Table(
    "log",
    METADATA,
    _whole("id"),
    _text("origin"),
    _text("vkey", null=True),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("origin"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
entry = _table(
    "entry",
    _text("kind"),
    _text("actor"),
    _whole("at"),
    _bytes("leaf"),
    _one_of("kind", StatementKind),
    _digest("leaf"),
    ForeignKeyConstraint(["log"], ["log.id"], name="log"),
)
body = _table("body", _text("json"))
content = Table(
    "content",
    METADATA,
    _bytes("sha256"),
    _bytes("data"),
    PrimaryKeyConstraint("sha256"),
    _digest("sha256"),
    sqlite_strict=True,
    sqlite_with_rowid=False,
)
authority = _table("authority", _text("code"), _text("name"), _text("role"), _one_of("role", Role), UniqueConstraint("log", "code"))
identifier = _table(
    "identifier",
    _text("id"),
    _text("kind"),
    _text("authority"),
    _whole("year"),
    _whole("number"),
    _one_of("kind", Kind),
    CheckConstraint("number >= 1", name="number_from_1"),
    CheckConstraint("substr(id, 1, length(authority) + 5) = kind || '-' || authority || '-'", name="id_agrees"),
    UniqueConstraint("log", "kind", "authority", "year", "number"),
    _refers("authority", "authority", "code"),
    key="log id",
)
model_version = _table(
    "model_version",
    _text("developer"),
    _text("name"),
    _text("version"),
    _text("predecessor_developer", null=True),
    _text("predecessor_name", null=True),
    _text("predecessor_version", null=True),
    CheckConstraint(
        "(predecessor_developer IS NULL) = (predecessor_name IS NULL) AND (predecessor_name IS NULL) = (predecessor_version IS NULL)",
        name="predecessor_whole",
    ),
    UniqueConstraint("log", "developer", "name", "version"),
    _refers("predecessor_developer predecessor_name predecessor_version", "model_version", "developer name version"),
    Index("ix_model_version_predecessor", "log", "predecessor_developer", "predecessor_name", "predecessor_version"),
)
card_revision = _table(
    "card_revision",
    _text("card"),
    _whole("revision"),
    _text("title"),
    _text("publisher"),
    _text("media_type"),
    _bytes("document"),
    _bytes("text"),
    _text("why", null=True),
    _begins("card", Kind.CARD),
    _one_of("media_type", MediaType),
    _digest("document"),
    _digest("text"),
    CheckConstraint("revision = 1 OR length(trim(why)) > 0 AND why IS NOT NULL", name="why_from_2"),
    UniqueConstraint("log", "card", "revision"),
    UniqueConstraint("log", "document"),
    _refers("card", "identifier", "id"),
)
spec = _table(
    "spec",
    _text("spec"),
    _text("kind"),
    _text("slug"),
    _text("owner"),
    _one_of("kind", SpecKind),
    UniqueConstraint("log", "spec", "kind"),
    UniqueConstraint("log", "owner", "kind", "slug"),
    _refers("spec", "identifier", "id"),
    _refers("owner", "authority", "code"),
)
spec_version = _table(
    "spec_version",
    _text("spec"),
    _text("kind"),
    _whole("version"),
    _text("body", null=True),
    _bytes("commitment", null=True),
    _text("why", null=True),
    _digest("commitment"),
    CheckConstraint("(body IS NULL) <> (commitment IS NULL)", name="sealed_xor_body"),
    CheckConstraint("version = 1 OR length(trim(why)) > 0 AND why IS NOT NULL", name="why_from_2"),
    UniqueConstraint("log", "spec", "version"),
    UniqueConstraint("log", "spec", "version", "kind"),
    _refers("spec kind", "spec", "spec kind"),
)
claim_revision = _table(
    "claim_revision",
    _text("claim"),
    _whole("revision"),
    _bytes("natural_key"),
    _text("quote_status"),
    _text("form"),
    _text("relation", null=True),
    _real("theta"),
    _text("direction"),
    _text("developer"),
    _text("model"),
    _text("model_version"),
    _text("card", null=True),
    _whole("card_revision", null=True),
    *_spec_columns("property", null=False),
    *_spec_columns("scoring", null=True),
    *_spec_columns("test_context", null=True),
    CheckConstraint("revision >= 1", name="revision_from_1"),
    _whole("has_why"),
    _begins("claim", Kind.CLAIM),
    _digest("natural_key"),
    _one_of("quote_status", QuoteStatus),
    _one_of("form", Form),
    _one_of("relation", Relation),
    _one_of("direction", Direction),
    CheckConstraint(
        "CASE form WHEN 'threshold' THEN relation IS NOT NULL WHEN 'upper_bound' THEN relation IS NOT NULL AND relation = '<='"
        " WHEN 'lower_bound' THEN relation IS NOT NULL AND relation = '>=' ELSE relation IS NULL END",
        name="relation_agrees",
    ),
    CheckConstraint("theta IS NULL OR relation IS NOT NULL", name="theta_agrees"),
    CheckConstraint("revision = 1 OR has_why = 1", name="why_from_2"),
    CheckConstraint("(card IS NULL) = (card_revision IS NULL)", name="card_whole"),
    UniqueConstraint("log", "claim", "revision"),
    _refers("claim", "identifier", "id"),
    _refers("card card_revision", "card_revision", "card revision"),
    *_refers_to_spec("property", SpecKind.PROPERTY),
    *_refers_to_spec("scoring", SpecKind.SCORING),
    *_refers_to_spec("test_context", SpecKind.TEST_CONTEXT),
    Index(None, "log", "natural_key"),
)
claim_text = _table("claim_text", _text("quote"), _text("note", null=True), _refers("seq", "claim_revision", "seq"))
claim_context = _table(
    "claim_context",
    _whole("position"),
    *_spec_columns("context", null=False),
    *_refers_to_spec("context", SpecKind.DEPLOY_CONTEXT),
    _refers("seq", "claim_revision", "seq"),
    key="log seq position",
)
claim_event = _table(
    "claim_event",
    _text("claim"),
    _text("event"),
    _text("successor", null=True),
    _whole("has_reason"),
    _begins("claim", Kind.CLAIM),
    _one_of("event", ClaimEventKind),
    CheckConstraint("(event = 'supersede') = (successor IS NOT NULL)", name="supersede_names_successor"),
    CheckConstraint("successor <> claim", name="another_successor"),
    CheckConstraint("event IN ('reserve', 'publish') OR has_reason = 1", name="reason_given"),
    _refers("claim", "identifier", "id"),
    _refers("successor", "identifier", "id"),
    Index(None, "log", "claim"),
)
claim_relation = _table(
    "claim_relation",
    _text("claim"),
    _text("relation"),
    _text("other"),
    _one_of("relation", ClaimRelationKind),
    _begins("claim", Kind.CLAIM),
    _begins("other", Kind.CLAIM),
    CheckConstraint("claim <> other", name="another_claim"),
    UniqueConstraint("log", "claim", "relation", "other"),
    _refers("claim", "identifier", "id"),
    _refers("other", "identifier", "id"),
    Index(None, "log", "other"),
)
audit = _table(
    "audit",
    _text("audit"),
    _text("claim"),
    _whole("revision"),
    _text("auditor"),
    _text("independence"),
    _begins("audit", Kind.AUDIT),
    _one_of("independence", Independence),
    UniqueConstraint("log", "audit"),
    UniqueConstraint("log", "audit", "claim", "revision"),
    _refers("audit", "identifier", "id"),
    _refers("claim revision", "claim_revision", "claim revision"),
    _refers("auditor", "authority", "code"),
    Index(None, "log", "claim"),
)
lock = _table(
    "lock",
    _text("audit"),
    _text("claim"),
    _whole("revision"),
    _whole("at"),
    _text("relation", null=True),
    _real("theta"),
    _text("direction"),
    _real("margin"),
    _real("level", null=False),
    _one_of("relation", Relation),
    _one_of("direction", Direction),
    CheckConstraint("theta IS NULL OR relation IS NOT NULL", name="theta_agrees"),
    CheckConstraint("level >= 0.5 AND level < 1", name="level"),
    CheckConstraint("margin > 0", name="margin"),
    UniqueConstraint("log", "audit"),
    UniqueConstraint("log", "audit", "seq"),
    UniqueConstraint("log", "audit", "seq", "at"),
    _refers("audit claim revision", "audit", "audit claim revision"),
)
run = _table(
    "run",
    _text("audit"),
    _whole("lock"),
    _whole("lock_at"),
    _whole("started_at"),
    _text("status"),
    _bytes("scores"),
    _whole("responses"),
    _whole("excluded"),
    _whole("corpus", null=True),
    _one_of("status", RunStatus),
    _digest("scores"),
    CheckConstraint("lock < seq", name="lock_before_run"),
    CheckConstraint("started_at >= lock_at", name="started_after_lock"),
    CheckConstraint("responses >= 0 AND excluded >= 0", name="counts"),
    UniqueConstraint("log", "audit", "seq"),
    _refers("audit lock lock_at", "lock", "audit seq at"),
)
result = _table(
    "result",
    _text("audit"),
    _whole("lock"),
    _whole("run"),
    CheckConstraint("lock < run AND run < seq", name="lock_before_run_before_result"),
    UniqueConstraint("log", "audit", "seq"),
    _refers("audit lock", "lock", "audit seq"),
    _refers("audit run", "run", "audit seq"),
)
estimate = _table(
    "estimate",
    _whole("position"),
    _text("spec"),
    _real("ed", null=False),
    _real("low"),
    _real("high"),
    _whole("replayed"),
    _whole("corpus", null=True),
    CheckConstraint("(low IS NULL) = (high IS NULL)", name="interval_whole"),
    CheckConstraint("low <= ed AND ed <= high", name="ed_in_interval"),
    CheckConstraint("replayed <= corpus", name="replayed_of_corpus"),
    UniqueConstraint("log", "seq", "spec"),
    _refers("seq", "result", "seq"),
    key="log seq position",
)
evidence = _table(
    "evidence",
    _text("audit"),
    _text("claim"),
    _whole("revision"),
    _text("layer"),
    _text("access"),
    _text("kind", null=True),
    _real("finding"),
    _one_of("layer", Layer),
    _one_of("access", Access),
    _one_of("kind", EvidenceKind),
    CheckConstraint("access = 'available' OR finding IS NULL AND kind IS NULL", name="unavailable_without_finding"),
    _refers("audit claim revision", "audit", "audit claim revision"),
    Index(None, "log", "audit"),
)
restriction = _table(
    "restriction",
    _whole("reading"),
    _text("audit"),
    _text("claim"),
    _whole("revision"),
    _text("form"),
    _text("as_form"),
    _text("class"),
    _text("standing", null=True),
    _text("mode", null=True),
    _text("basis"),
    _whole("result", null=True),
    _text("resolves", null=True),
    _one_of("form", Form),
    _one_of("as_form", Form),
    _one_of("class", ClaimClass),
    _one_of("standing", Standing),
    _one_of("mode", Mode),
    _one_of("basis", Basis),
    CheckConstraint("reading > 0 OR form = as_form", name="primary_in_own_form"),
    CheckConstraint("class <> 'inverted' OR as_form IN ('threshold', 'upper_bound', 'lower_bound')", name="inverted_needs_threshold"),
    CheckConstraint(
        "NOT (class = 'inverted' AND coalesce(standing, '') = 'established') OR basis = 'replay' AND result IS NOT NULL",
        name="established_inversion_needs_replay",
    ),
    CheckConstraint("basis <> 'replay' OR result IS NOT NULL", name="replay_names_result"),
    CheckConstraint("(class = 'undetermined') = (mode IS NOT NULL)", name="undetermined_has_mode"),
    CheckConstraint("(class = 'undetermined') = (coalesce(length(trim(resolves)), 0) > 0)", name="undetermined_resolves"),
    _refers("audit claim revision", "audit", "audit claim revision"),
    _refers("audit result", "result", "audit seq"),
    Index(None, "log", "audit"),
    Index(None, "log", "claim", "revision"),
    key="log seq reading",
)
contestation = _table(
    "contestation",
    _text("contestation"),
    _text("claim", null=True),
    _whole("revision", null=True),
    _text("spec", null=True),
    _whole("version", null=True),
    _text("contested_by"),
    _text("rival", null=True),
    _whole("rival_version", null=True),
    _begins("contestation", Kind.CONTESTATION),
    CheckConstraint("(claim IS NULL) <> (spec IS NULL)", name="one_target"),
    CheckConstraint("(claim IS NULL) = (revision IS NULL) AND (spec IS NULL) = (version IS NULL)", name="target_whole"),
    CheckConstraint("(rival IS NULL) = (rival_version IS NULL)", name="rival_whole"),
    UniqueConstraint("log", "contestation"),
    _refers("contestation", "identifier", "id"),
    _refers("claim revision", "claim_revision", "claim revision"),
    _refers("spec version", "spec_version", "spec version"),
    _refers("rival rival_version", "spec_version", "spec version"),
    _refers("contested_by", "authority", "code"),
    Index(None, "log", "claim"),
    Index(None, "log", "spec"),
)
contestation_event = _table(
    "contestation_event",
    _text("contestation"),
    _text("step"),
    _one_of("step", ContestationStep),
    _refers("contestation", "contestation", "contestation"),
    Index(None, "log", "contestation"),
)
publication = _table(
    "publication",
    _text("subject"),
    _whole("revision"),
    _text("audit", null=True),
    _text("format"),
    _bytes("sha256"),
    _bytes("record"),
    _bytes("template"),
    _whole("log_size"),
    _one_of("format", OutputFormat),
    _digest("sha256"),
    _digest("record"),
    _digest("template"),
    CheckConstraint("log_size < seq", name="made_before_recorded"),
    _refers("subject", "identifier", "id"),
    _refers("audit", "audit", "audit"),
    Index(None, "log", "subject"),
    Index(None, "log", "sha256"),
)

ERASABLE = frozenset({body.name, claim_text.name, content.name})
"""Rows here may be deleted, never changed: erasing a text leaves its proof in the log."""

TYPED = tuple(table for table in METADATA.sorted_tables if table not in (log, entry, body, content))
"""What the statements give, each after those it refers to."""

REVISION = "0001"
"""The migration that makes these tables; a test compares it with the newest one there is."""

OWN_LOG = 1
"""The log this registry writes; others are those of other registries."""
