"""The tables of cards: their revisions, and what somebody did with their passages. Rules for all tables: `registry.store.tables`."""

from sqlalchemy import CheckConstraint, Index, UniqueConstraint

from registry.records.record import Kind
from registry.records.system_card import MatchResult, MediaType
from registry.store.columns import (
    begins,
    bytes_column,
    digest,
    new_table,
    one_of,
    refers,
    text_column,
    text_columns,
    whole_column,
    whole_columns,
)

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
