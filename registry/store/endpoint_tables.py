"""Tables of what is said of endpoint names, and of the names by which an outcome decided who was asked."""

from sqlalchemy import CheckConstraint, Index

from registry.records.model_version import EndpointEventKind
from registry.store.columns import new_table, one_of, refers, text_columns, whole_column

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
