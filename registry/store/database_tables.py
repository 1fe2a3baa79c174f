"""The tables, as SQLAlchemy Core knows them: the log, what may be erased, and typed rows that find and refuse."""

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, Index, PrimaryKeyConstraint, Table, UniqueConstraint, text

from registry.records.analysis_plan import LockedItem
from registry.records.audit_case import Access, EvidenceKind, EvidenceLayer, Independence
from registry.records.claim import ClaimEventKind, ClaimRelationKind, Direction, Form, QuoteStatus, Relation
from registry.records.claim_status import CauseKind, ContestationStep, StalenessVerdict
from registry.records.log_seal import KeyAlgorithm, KeyEventKind, KeyPurpose
from registry.records.model_version import Descent, EndpointEventKind, ModelEventKind
from registry.records.module_findings import FindingKind
from registry.records.record import AuthorityRole, Kind
from registry.records.replay_run import RunStatus
from registry.records.specification import SpecKind
from registry.records.statement import OutputFormat, StatementKind
from registry.records.system_card import MatchResult, MediaType
from registry.records.verdict import Basis, ClaimClass, Mode, Standing, Verdict, VerdictStanding
from registry.store.database_engine import (
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

# Cards: their revisions, and what people recorded about their passages.

card_revision = new_table(
    "card_revision",
    text_column("card"),
    whole_column("revision"),
    *text_columns("title publisher media_type"),
    bytes_column("document"),
    bytes_column("text"),
    text_column("why", null=True),
    begins("card", Kind.CARD),
    one_of("media_type", MediaType),
    digest("document"),
    digest("text"),
    # `why IS NOT NULL` is needed: a CHECK passes if its condition is NULL.
    CheckConstraint("revision = 1 OR length(trim(why)) > 0 AND why IS NOT NULL", name="why_from_2"),
    UniqueConstraint("log", "card", "revision"),
    UniqueConstraint("log", "document"),
    refers("card", "identifier", "id"),
)
survey = new_table(
    "survey",
    text_column("card"),
    whole_column("revision"),
    text_column("engine"),
    refers("card revision", "card_revision", "card revision"),
    Index(None, "log", "card", "revision"),
)
omission = new_table(
    "omission",
    text_column("card"),
    *whole_columns("revision start stop"),
    CheckConstraint("start >= 0 AND stop > start", name="stop_after_start"),
    UniqueConstraint("log", "card", "revision", "start", "stop"),
    refers("card revision", "card_revision", "card revision"),
)
sighting = new_table(
    "sighting",
    text_column("claim"),
    whole_column("revision"),
    text_column("card"),
    whole_column("card_revision"),
    text_column("fate"),
    whole_column("alarm"),
    whole_column("start", null=True),
    whole_column("stop", null=True),
    one_of("fate", MatchResult),
    CheckConstraint(
        # A passage that is gone always asks for a decision, one that only moved never does.
        "CASE fate WHEN 'gone' THEN alarm = 1 WHEN 'reworded' THEN alarm IN (0, 1) ELSE alarm = 0 END",
        name="alarm_agrees",
    ),
    CheckConstraint("(fate = 'gone') = (start IS NULL) AND (start IS NULL) = (stop IS NULL)", name="placed_unless_gone"),
    CheckConstraint("start >= 0 AND stop > start", name="stop_after_start"),
    UniqueConstraint("log", "claim", "revision", "card", "card_revision"),
    refers("claim revision", "claim_revision", "claim revision"),
    refers("card card_revision", "card_revision", "card revision"),
    Index(None, "log", "card", "card_revision"),
)


# Endpoint names: statements about them, and the names by which an outcome decided which model was
# asked.

model_endpoint = new_table(
    "model_endpoint",
    *text_columns("developer name version event endpoint actor"),
    one_of("event", EndpointEventKind),
    CheckConstraint("endpoint <> ''", name="endpoint_given"),
    refers("developer name version", "model_version", "developer name version"),
    Index(None, "log", "developer", "name", "version"),
    Index("ix_model_endpoint_endpoint", "log", "endpoint"),
)
asked_name = new_table(
    "asked_name",
    whole_column("position"),
    *text_columns("audit name"),
    refers("audit", "audit", "audit"),
    Index(None, "log", "audit"),
    key="log seq position",
)
"""Of an outcome: the names that were returned, and those that were expected. A later statement on one of them concerns it."""


# Tables for finding claim families: verdicts, positions of quotations, origins.

verdict = new_table(
    "verdict",
    whole_column("reading"),
    text_column("verdict"),
    text_column("standing", null=True),
    one_of("verdict", Verdict),
    one_of("standing", VerdictStanding),
    # A verdict row belongs to one reading of a restriction, so it cannot exist without it.
    refers("seq reading", "restriction", "seq reading"),
    key="log seq reading",
)
claim_place = new_table(
    "claim_place",
    text_column("claim"),
    whole_column("revision"),
    text_column("card"),
    *whole_columns("card_revision size start stop"),
    CheckConstraint("start >= 0 AND stop > start", name="stop_after_start"),
    refers("claim revision", "claim_revision", "claim revision"),
    # An overlap is looked up by size class: a passage of this class begins less than its size before what it overlaps.
    Index(None, "log", "card", "card_revision", "size", "start"),
)
"""Where the words of a claim revision stand: in its own revision of the card, and in others where they were found. `size` is the number of
binary digits of the length."""
claim_origin = new_table(
    "claim_origin",
    *text_columns("origin claim"),
    *whole_columns("revision entry"),
    bytes_column("leaf"),
    begins("claim", Kind.CLAIM),
    digest("leaf"),
    CheckConstraint("revision >= 1 AND entry >= 1", name="from_1"),
    refers("seq", "claim_revision", "seq"),
    # Imports ask which claims were already adopted from a given original.
    Index(None, "log", "origin", "claim"),
)


# Model versions after their registration, and reviews of possible staleness.

model_event = new_table(
    "model_event",
    *text_columns("developer name version event"),
    *text_columns("predecessor_developer predecessor_name predecessor_version descent", null=True),
    # Only whether a reason exists. The reason itself is in the statement, which can be erased.
    whole_column("has_reason"),
    one_of("event", ModelEventKind),
    one_of("descent", Descent),
    CheckConstraint(
        "(predecessor_developer IS NULL) = (predecessor_name IS NULL) AND (predecessor_name IS NULL) = (predecessor_version IS NULL)",
        name="predecessor_whole",
    ),
    CheckConstraint("(event IN ('follow', 'unfollow')) = (predecessor_name IS NOT NULL)", name="link_names_predecessor"),
    CheckConstraint("(event = 'follow') = (descent IS NOT NULL)", name="follow_names_descent"),
    CheckConstraint("event = 'follow' OR has_reason = 1", name="reason_given"),
    CheckConstraint(
        "NOT (developer = coalesce(predecessor_developer, '') AND name = coalesce(predecessor_name, '')"
        " AND version = coalesce(predecessor_version, ''))",
        name="another_predecessor",
    ),
    refers("developer name version", "model_version", "developer name version"),
    refers("predecessor_developer predecessor_name predecessor_version", "model_version", "developer name version"),
    Index(None, "log", "developer", "name", "version"),
    Index("ix_model_event_predecessor", "log", "predecessor_developer", "predecessor_name", "predecessor_version"),
)
staleness_review = new_table(
    "staleness_review",
    text_column("claim"),
    whole_column("revision"),
    text_column("verdict"),
    begins("claim", Kind.CLAIM),
    one_of("verdict", StalenessVerdict),
    refers("claim revision", "claim_revision", "claim revision"),
    Index(None, "log", "claim"),
)
reviewed_cause = new_table(
    "reviewed_cause",
    whole_column("position"),
    *text_columns("kind what"),
    one_of("kind", CauseKind),
    refers("seq", "staleness_review", "seq"),
    key="log seq position",
)


# Runs under a lock, and the expiry dates of outcomes.

IMPORTED = "imported"
"""How a run ends whose scores were imported, beside the values of `RunStatus`."""

run_start = new_table(
    "run_start",
    text_column("audit"),
    whole_column("lock"),
    text_column("run"),
    # Entry numbers prove the order without trusting any clock.
    CheckConstraint("lock < seq", name="lock_before_start"),
    CheckConstraint("length(run) = 32", name="run_32_digits"),
    UniqueConstraint("log", "audit", "seq"),
    UniqueConstraint("log", "audit", "run"),
    refers("audit lock", "lock", "audit seq"),
)
run_end = new_table(
    "run_end",
    text_column("audit"),
    whole_column("start"),
    text_column("status"),
    whole_column("calls"),
    one_of("status", (*RunStatus, IMPORTED)),
    CheckConstraint("start < seq", name="start_before_end"),
    CheckConstraint("calls >= 0", name="calls"),
    refers("audit start", "run_start", "audit seq"),
    Index(None, "log", "audit"),
)
outcome_validity = new_table(
    "outcome_validity",
    *text_columns("audit valid_until"),
    CheckConstraint("length(valid_until) = 10", name="valid_until_is_a_day"),
    refers("audit", "audit", "audit"),
)
"""Of each outcome the last day on which it counts, `2027-11-21`."""


# Trust: what seals the log, and statements on keys, other logs, seals and protocol deviations.

node = new_table(
    "node",
    whole_column("level"),
    bytes_column("hash"),
    # Every fourth level; see `registry.store.log_reader`. Level 40 would need 10^12 entries.
    CheckConstraint("level IN (4, 8, 12, 16, 20, 24, 28, 32, 36, 40)", name="level_of_sixteens"),
    digest("hash"),
    key="log seq level",
)
"""Roots of complete subtrees of 16, 256, … leaves, each with the entry that completed it: proofs are read off them. `verify` makes them
again from the leaves, so nothing rests on them."""

checkpoint = new_table(
    "checkpoint",
    bytes_column("root"),
    text_column("note"),
    whole_column("at"),
    digest("root"),
    key="log seq",
)
"""Signed notes of C2SP tlog-checkpoint; `seq` is the size of the log that they are of. No statement: a log cannot hold its own root."""

cosignature = new_table(
    "cosignature",
    text_column("line"),
    whole_column("at"),
    refers("seq", "checkpoint", "seq"),
    key="log seq line",
)
"""Signature lines that others added to a checkpoint."""

key_event = new_table(
    "key_event",
    *text_columns("authority event"),
    bytes_column("key"),
    *text_columns("algorithm purpose"),
    bytes_column("replaces", null=True),
    whole_column("has_reason"),
    one_of("event", KeyEventKind),
    one_of("algorithm", KeyAlgorithm),
    one_of("purpose", KeyPurpose),
    digest("key"),
    digest("replaces"),
    CheckConstraint("(event = 'rotate') = (replaces IS NOT NULL)", name="rotate_names_replaced"),
    CheckConstraint("event = 'add' OR has_reason = 1", name="reason_given"),
    # A key is added once and revoked once. A revocation is never taken back.
    UniqueConstraint("log", "key", "event"),
    refers("authority", "authority", "code"),
)
signature = new_table(
    "signature",
    bytes_column("key"),
    bytes_column("value"),
    digest("key"),
    # Ed25519 signatures have 64 bytes (RFC 8032).
    CheckConstraint("length(value) = 64", name="value_64_bytes"),
)
"""What authors signed of their entries. No statement: it is computed from the leaf, which therefore cannot cover it."""

log_import = new_table(
    "log_import", text_column("origin"), whole_column("size"), bytes_column("root"), digest("root"), Index(None, "log", "origin")
)
witnessing = new_table(
    "witnessing", text_column("origin"), whole_column("size"), bytes_column("root"), digest("root"), Index(None, "log", "origin")
)
equivocation = new_table("equivocation", text_column("origin"), Index(None, "log", "origin"))
erasure = new_table(
    "erasure",
    whole_column("erased"),
    bytes_column("leaf"),
    digest("leaf"),
    CheckConstraint("erased < seq", name="erased_before"),
    # One erasure per entry, so that it is clear which reason applies.
    UniqueConstraint("log", "erased"),
    refers("erased", "entry", "seq"),
)
reveal = new_table(
    "reveal",
    text_column("spec"),
    whole_column("version"),
    UniqueConstraint("log", "spec", "version"),
    refers("spec version", "spec_version", "spec version"),
)
deviation = new_table(
    "deviation",
    *text_columns("audit item"),
    whole_column("found"),
    one_of("item", LockedItem),
    CheckConstraint("found IN (0, 1)", name="found"),
    refers("audit", "lock", "audit"),
    Index(None, "log", "audit"),
)
exploration = new_table(
    "exploration",
    *text_columns("audit claim"),
    whole_column("revision"),
    bytes_column("scores"),
    digest("scores"),
    refers("audit claim revision", "audit", "audit claim revision"),
    Index(None, "log", "audit"),
)
audit_rival = new_table(
    "audit_rival",
    *text_columns("audit contestation"),
    begins("contestation", Kind.CONTESTATION),
    refers("audit", "audit", "audit"),
    refers("contestation", "contestation", "contestation"),
    Index(None, "log", "audit"),
    Index(None, "log", "contestation"),
)
"""Audits that replay under the rival of a contestation."""


# The tables: the log, the texts that can be erased, and typed rows. Typed rows only help to find
# and to refuse; the canonical document in `body` is the record.
#
# Every row names the entry (log, seq) that recorded it. No row is ever updated, and the triggers of
# `registry.store.database_guards` enforce that. Digests are stored as 32 bytes and instants as
# whole seconds in UTC.
#
# Decision of 2026-11-21: `body` is keyed by (log, seq), since sequential keys are faster than
# digests, and quotations are in a table of their own that can be erased. Erasing a text leaves its
# proof. The cost: finding a body by leaf goes through `entry`, and each claim needs one more row.

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
# Keyed by digest and shared by all logs: the same card text is kept once.
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
    # The parts of an identifier are columns too. This keeps them from contradicting the identifier.
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
    # Named by hand: the generated name would exceed the 63 characters of PostgreSQL.
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
    # The target of typed references: a foreign key over (spec, version, kind) refuses a scoring
    # procedure where a property is expected.
    UniqueConstraint("log", "spec", "version", "kind"),
    refers("spec kind", "spec", "spec kind"),
)
is_unplaced = text("(card IS NULL OR quote_status <> 'verbatim')")
"""Whether the words of a claim revision have no place in a card."""
claim_revision = new_table(
    "claim_revision",
    text_column("claim"),
    whole_column("revision"),
    # What makes two claims the same claim; see `natural_key` in
    # `registry.store.statement_rows`. Not unique: the revisions of a claim share it.
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
        # Upper bounds are always ≤ and lower bounds always ≥. A form without a threshold has no
        # relation.
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
    Index(None, "log", "card", "card_revision"),
    # Quotes without a place in a card are compared by their words. There are few of them.
    Index(
        "ix_claim_revision_unplaced",
        "log",
        "property",
        "card",
        sqlite_where=is_unplaced,
        postgresql_where=is_unplaced,
    ),
)
# The words are in a table of their own, because they can be erased while the claim's row stays.
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
    Index(None, "log", "successor"),
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
    # The lock precedes the run. Otherwise scores may have been seen before the plan was fixed.
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
    # An interval that does not contain its estimate is an error of the method.
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
    # The primary reading takes the claim in its own form. Further readings may take it in another
    # one.
    CheckConstraint("reading > 0 OR form = as_form", name="primary_in_own_form"),
    # Only a claim with a limit can be inverted.
    CheckConstraint("class <> 'inverted' OR as_form IN ('threshold', 'upper_bound', 'lower_bound')", name="inverted_needs_threshold"),
    CheckConstraint(
        # An established inversion is the gravest result, so the database itself requires a replay
        # under a lock.
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
    # An objection has exactly one target.
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
    Index(None, "log", "rival"),
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
    # A file is rendered from the log as it was before the entry that records its publication.
    CheckConstraint("log_size < seq", name="made_before_recorded"),
    refers("subject", "identifier", "id"),
    refers("audit", "audit", "audit"),
    Index(None, "log", "subject"),
    Index(None, "log", "audit"),
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
