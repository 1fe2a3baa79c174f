"""Statements on the log itself: authorities, keys, other logs, erasures, and what was published."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlalchemy import CheckConstraint, Index, UniqueConstraint, select

from registry.errors import Fault
from registry.records.log_seal import (
    Equivocation,
    Erasure,
    KeyAlgorithm,
    KeyEvent,
    KeyEventKind,
    KeyPurpose,
    LogImport,
    TimeAnchor,
    Witnessing,
)
from registry.records.record import Authority, AuthorityRole, Kind
from registry.records.statement import OutputFormat, Publication
from registry.store.database_engine import (
    TriggerRule,
    bytes_column,
    digest,
    new_table,
    one_of,
    refers,
    text_column,
    text_columns,
    whole_column,
)
from registry.store.statement_kind import AUDIT, CARD, CLAIM, EntryPlace, Role, Row, StatementKind, plain, split_reference, unhex

if TYPE_CHECKING:
    from registry.store.statement_rules import StatementRules


authority = new_table(
    "authority",
    text_column("code"),
    text_column("name"),
    text_column("role"),
    one_of("role", AuthorityRole),
    UniqueConstraint("log", "code"),
)


class AuthorityKind(StatementKind[Authority]):
    """An authority that makes statements. Its code is never reused or renamed."""

    tables = (authority,)
    kept = "who speaks in the log is never forgotten"
    reason = "an authority's identity was stated"
    importance = 32

    def build_rows(self, authority: Authority, place: EntryPlace) -> Iterator[Row]:
        yield "authority", (*place.here, authority.code, authority.name, authority.role.value)

    def find_faults(self, authority: Authority, rules: "StatementRules") -> Iterator[Fault]:
        if there := rules.view.find_authority(authority.code):
            problem = f"the code is registered as {there.payload.name!r}; a code is never renamed or reused"
            yield Fault("authority-exists", authority.code, problem)

    def describe(self, payload: Authority) -> str:
        return f"{payload.code} {payload.name} ({payload.role.value})"


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


class KeyEventsKind(StatementKind[KeyEvent]):
    """A key added, replaced or revoked."""

    tables = (key_event,)
    kept = "without it no signature could be checked"

    def build_rows(self, key_event: KeyEvent, place: EntryPlace) -> Iterator[Row]:
        names = (key_event.algorithm.value, key_event.purpose.value)
        yield (
            "key_event",
            (
                *place.here,
                place.actor,
                key_event.event.value,
                unhex(key_event.key),
                *names,
                unhex(key_event.replaces),
                1 if key_event.reason else 0,
            ),
        )

    def find_faults(self, step: KeyEvent, rules: "StatementRules") -> Iterator[Fault]:
        events = _list_events(rules, step.key)
        # A revocation may come from a lost key, so it only requires that the key exists and is not
        # revoked yet.
        if step.event is KeyEventKind.REVOKE:
            if not events:
                yield Fault("key-unknown", step.key, "no such key was ever added")
            elif KeyEventKind.REVOKE in events:
                yield Fault(
                    "key-not-in-force", step.key, "it is revoked already", advice="a revocation is never taken back: add another key"
                )
            return
        # A revoked key must not come back. The holder of the stolen secret would be trusted again.
        if events:
            yield Fault("already-recorded", step.key, "it was added before; a key is never added twice")
        if step.replaces is not None:
            yield from _find_replaced_faults(rules, step, step.replaces)

    def describe(self, payload: KeyEvent) -> str:
        return f"{payload.event.value} {payload.purpose.value} key {payload.key[:16]}… {payload.reason or ''}"


def _find_replaced_faults(rules: "StatementRules", step: KeyEvent, replaces: str) -> Iterator[Fault]:
    before = rules.view.rows(
        select(key_event.c.purpose, key_event.c.algorithm, key_event.c.authority).where(
            rules.view.visible(key_event), key_event.c.key == bytes.fromhex(replaces), key_event.c.event != KeyEventKind.REVOKE.value
        )
    )
    if not before:
        yield Fault("key-unknown", replaces, "no such key was ever added")
    elif before[0].purpose != step.purpose:
        yield Fault("wrong-kind", replaces, f"it is for the {before[0].purpose}, the new one for the {step.purpose}")
    elif KeyEventKind.REVOKE in _list_events(rules, replaces) or rules.find_entry(
        key_event, key_event.c.replaces == bytes.fromhex(replaces)
    ):
        yield Fault(
            "key-not-in-force",
            replaces,
            "it is revoked, or another took its place",
            advice="caveat admin key list shows which are in force",
        )


def _list_events(rules: "StatementRules", key: str) -> set[str]:
    named = select(key_event.c.event).where(rules.view.visible(key_event), key_event.c.key == bytes.fromhex(key))
    return {row.event for row in rules.view.rows(named)}


log_import = new_table(
    "log_import", text_column("origin"), whole_column("size"), bytes_column("root"), digest("root"), Index(None, "log", "origin")
)


class LogImportKind(StatementKind[LogImport]):
    """Entries of another registry's log that were taken over. A foreign log only grows."""

    tables = (log_import,)
    kept = "it proves where another registry's entries came from"

    def build_rows(self, log_import: LogImport, place: EntryPlace) -> Iterator[Row]:
        yield "log_import", (*place.here, plain(log_import.origin), log_import.size, unhex(log_import.root))

    def find_faults(self, taken: LogImport, rules: "StatementRules") -> Iterator[Fault]:
        if taken.origin == rules.view.log_origin:
            yield Fault("own-log", taken.origin, "it is this registry's own log")
        table = log_import
        largest = select(table.c.size).where(rules.view.visible(table), table.c.origin == taken.origin).order_by(table.c.size.desc())
        known = rules.view.one_value(largest.limit(1))
        # An import of the same or a smaller size adds nothing. A shorter log can also be an attempt
        # to hide entries.
        if known is not None and taken.size <= known:
            yield Fault("not-newer", taken.origin, f"{known} of its entries are here already, the bundle has {taken.size}")

    def describe(self, payload: LogImport) -> str:
        return f"{payload.origin}, {payload.size} entries"


witnessing = new_table(
    "witnessing", text_column("origin"), whole_column("size"), bytes_column("root"), digest("root"), Index(None, "log", "origin")
)


class WitnessingKind(StatementKind[Witnessing]):
    """A checkpoint of another log that was cosigned here. A witness never goes back behind what it cosigned."""

    tables = (witnessing,)
    kept = "a witness cannot withdraw a cosignature"

    def build_rows(self, witnessing: Witnessing, place: EntryPlace) -> Iterator[Row]:
        yield "witnessing", (*place.here, plain(witnessing.origin), witnessing.size, unhex(witnessing.root))

    def find_faults(self, seen: Witnessing, rules: "StatementRules") -> Iterator[Fault]:
        if seen.origin == rules.view.log_origin:
            yield Fault("own-log", seen.origin, "it is this registry's own log")
        table = witnessing
        last = select(table.c.size).where(rules.view.visible(table), table.c.origin == seen.origin).order_by(table.c.size.desc())
        known = rules.view.one_value(last.limit(1))
        # A witness that cosigns a smaller size after a larger one would help to present a shortened
        # log. The same size may be cosigned again.
        if known is not None and seen.size < known:
            yield Fault("not-newer", seen.origin, f"{known} entries were cosigned already, this checkpoint has {seen.size}")

    def describe(self, payload: Witnessing) -> str:
        return f"{payload.origin}, {payload.size} entries"


time_anchor = new_table(
    "time_anchor",
    whole_column("size"),
    bytes_column("root"),
    digest("root"),
    # A stamp is over entries that were there before its own.
    CheckConstraint("size < seq", name="stamped_before_recorded"),
    Index(None, "log", "size"),
)


class TimeAnchorKind(StatementKind[TimeAnchor]):
    """A time stamp over a checkpoint. A checkpoint can have several, of several authorities."""

    tables = (time_anchor,)
    kept = "it shows when the log was how long"

    def build_rows(self, anchor: TimeAnchor, place: EntryPlace) -> Iterator[Row]:
        yield "time_anchor", (*place.here, anchor.size, unhex(anchor.root))

    def find_faults(self, anchor: TimeAnchor, rules: "StatementRules") -> Iterator[Fault]:
        if anchor.size > rules.view.log_size:
            yield Fault("entry-not-found", f"size {anchor.size}", f"the log has {rules.view.log_size} entries")

    def describe(self, payload: TimeAnchor) -> str:
        return f"{payload.size} entries by {payload.stamped_at:%Y-%m-%d %H:%M:%S} UTC, says {payload.authority}"


equivocation = new_table("equivocation", text_column("origin"), Index(None, "log", "origin"))


class EquivocationKind(StatementKind[Equivocation]):
    """Evidence that a log published two histories: two different notes."""

    tables = (equivocation,)
    kept = "it is evidence"

    def build_rows(self, equivocation: Equivocation, place: EntryPlace) -> Iterator[Row]:
        yield "equivocation", (*place.here, plain(equivocation.origin))

    def find_faults(self, equivocation: Equivocation, rules: "StatementRules") -> Iterator[Fault]:  # noqa: ARG002  (it proves itself)
        if equivocation.first == equivocation.second:
            yield Fault("not-evidence", equivocation.origin, "the two notes are the same, word for word")

    def describe(self, payload: Equivocation) -> str:
        return f"{payload.origin}: {payload.finding}"


erasure = new_table(
    "erasure",
    whole_column("erased"),
    bytes_column("leaf"),
    digest("leaf"),
    CheckConstraint("erased < seq", name="erased_before"),
    # One erasure per entry, so that it is clear which reason applies.
    UniqueConstraint("log", "erased"),
    refers("erased", "entry", "seq"),
    guards=(
        TriggerRule(
            broken="NEW.leaf <> (SELECT leaf FROM entry WHERE log = NEW.log AND seq = NEW.erased)",
            message="history-differs: erasure.leaf must be the leaf of the entry",
        ),
    ),
)


class ErasureKind(StatementKind[Erasure]):
    """That the text of an entry was erased, once, and why. It names the leaf of the text."""

    tables = (erasure,)
    kept = "why a text was erased stays"
    reason = "a text was erased"
    importance = 18

    def build_rows(self, erasure: Erasure, place: EntryPlace) -> Iterator[Row]:
        yield "erasure", (*place.here, erasure.erased, unhex(erasure.leaf))

    def find_faults(self, erased: Erasure, rules: "StatementRules") -> Iterator[Fault]:
        there = rules.view.find_entry(erased.erased)
        if there is None:
            yield Fault("entry-not-found", f"entry {erased.erased}", f"the log has {rules.view.log_size} entries")
        # The erasure repeats the leaf, so that the statement by itself says which text was
        # erased.
        elif there.leaf != erased.leaf:
            yield Fault("history-differs", f"entry {erased.erased}", f"its leaf is {there.leaf}, not {erased.leaf}")
        elif seq := rules.find_entry(erasure, erasure.c.erased == erased.erased):
            yield Fault("already-recorded", f"entry {erased.erased}", f"entry {seq} says that its text was erased")

    def describe(self, payload: Erasure) -> str:
        return f"text of entry {payload.erased}: {payload.why}"


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


class PublicationKind(StatementKind[Publication]):
    """A published file, about a registered subject and made of entries that exist."""

    tables = (publication,)
    names = (
        Role("publication", "subject", CLAIM, "revision", is_basis=False),
        Role("publication", "subject", CARD, "revision", is_basis=False),
        Role("publication", "audit", AUDIT, is_basis=False),
    )

    def build_rows(self, publication: Publication, place: EntryPlace) -> Iterator[Row]:
        digests = (unhex(publication.sha256), unhex(publication.record), unhex(publication.template))
        yield (
            "publication",
            (
                *place.here,
                *split_reference(publication.subject),
                publication.audit,
                publication.format.value,
                *digests,
                publication.log_size,
            ),
        )

    def find_faults(self, publication: Publication, rules: "StatementRules") -> Iterator[Fault]:
        if publication.subject.startswith(f"{Kind.CLAIM}-"):
            yield from rules.check_revision(publication.subject, "publication")
        else:
            yield from rules.check_card(publication.subject, "publication")
        if publication.audit is not None and rules.view.find_audit(publication.audit) is None:
            yield rules.refuse_unknown("audit", publication.audit)
        # A file cannot be rendered from entries that do not exist yet.
        if publication.log_size > rules.view.log_size:
            yield Fault(
                "entry-not-found", publication.subject, f"made of {publication.log_size} entries; the log has {rules.view.log_size}"
            )

    def describe(self, payload: Publication) -> str:
        return f"{payload.subject} as {payload.format.value}, sha256 {payload.sha256[:16]}…"
