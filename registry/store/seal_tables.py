"""The tables of trust: what seals the log, and what is said of keys, other logs, seals and departures. Rules: `registry.store.tables`."""

from sqlalchemy import CheckConstraint, Index, UniqueConstraint

from registry.records.analysis_plan import LockedItem
from registry.records.log_seal import KeyAlgorithm, KeyEventKind, KeyPurpose
from registry.records.record import Kind
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
)

node = new_table(
    "node",
    whole_column("level"),
    bytes_column("hash"),
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
    UniqueConstraint("log", "key", "event"),
    refers("authority", "authority", "code"),
)
signature = new_table(
    "signature",
    bytes_column("key"),
    bytes_column("value"),
    digest("key"),
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
    Index(None, "log", "contestation"),
)
"""Audits that replay under the rival of a contestation."""
