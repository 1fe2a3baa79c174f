"""Tables of what is said of model versions after their registration, and of what people decide of changes."""

from sqlalchemy import CheckConstraint, Index

from registry.records.claim_status import CauseKind, StalenessVerdict
from registry.records.model_version import Descent, ModelEventKind
from registry.records.record import Kind
from registry.store.columns import begins, new_table, one_of, refers, text_column, text_columns, whole_column

model_event = new_table(
    "model_event",
    *text_columns("developer name version event"),
    *text_columns("predecessor_developer predecessor_name predecessor_version descent", null=True),
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
