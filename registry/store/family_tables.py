"""The tables that claim families are found by: verdicts, places of quotes, origins. Rules for all tables: `registry.store.tables`."""

from sqlalchemy import CheckConstraint, Index

from registry.records.record import Kind
from registry.records.verdict import Verdict, VerdictStanding
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

verdict = new_table(
    "verdict",
    whole_column("reading"),
    text_column("verdict"),
    text_column("standing", null=True),
    one_of("verdict", Verdict),
    one_of("standing", VerdictStanding),
    refers("seq reading", "restriction", "seq reading"),
    key="log seq reading",
)
claim_passage = new_table(
    "claim_passage",
    *whole_columns("start stop"),
    CheckConstraint("start >= 0 AND stop > start", name="stop_after_start"),
    refers("seq", "claim_revision", "seq"),
)
claim_origin = new_table(
    "claim_origin",
    *text_columns("origin claim"),
    *whole_columns("revision entry"),
    bytes_column("leaf"),
    begins("claim", Kind.CLAIM),
    digest("leaf"),
    CheckConstraint("revision >= 1 AND entry >= 1", name="from_1"),
    refers("seq", "claim_revision", "seq"),
    Index(None, "log", "origin", "claim"),
)
