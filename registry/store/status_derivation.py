"""The four axes of a claim's status, and the facts of many claims from which they are derived."""

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, NamedTuple

from sqlalchemy import Table, select

from registry.records.analysis_plan import list_locked
from registry.records.claim import ClaimEventKind
from registry.records.claim_status import (
    Dispute,
    Family,
    FamilyOutcome,
    Lifecycle,
    ObjectionState,
    ObjectionStep,
    StaleCause,
    Staleness,
    Status,
    find_state,
    owner_of,
)
from registry.records.verdict import RestrictionStatus, Verdict, VerdictStanding, find_gravity, find_restriction, is_expired, weaken
from registry.store.claim_families import FamilyFinder, lead
from registry.store.claim_staleness import (
    CauseFinder,
    ClaimGround,
    ClaimHead,
    ExpiredOutcome,
    RecordedOutcome,
    Reference,
    UpheldObjection,
)
from registry.store.database_tables import body, entry
from registry.store.kinds.audit_kinds import audit, audit_rival, lock, outcome_validity, restriction, verdict
from registry.store.kinds.claim_kinds import claim_context, claim_event, claim_origin, passage_match, staleness_review
from registry.store.kinds.definition_kinds import model_version, objection, objection_event
from registry.store.kinds.monitor_kinds import monitor, monitor_incident, monitor_window
from registry.store.log_reader import CHUNK, KEYS, LogReader, has_text, seen
from registry.store.statement_kind import split_reference
from registry.store.version_lineage import Lineage

# The four axes of a claim's status: lifecycle, dispute, staleness, restriction. They are derived
# from the log each time, so an old view gives the old status.

_AFTER = {
    ClaimEventKind.PUBLISH: Lifecycle.PUBLISHED,
    ClaimEventKind.SUPERSEDE: Lifecycle.SUPERSEDED,
    ClaimEventKind.WITHDRAW: Lifecycle.WITHDRAWN,
    ClaimEventKind.REJECT: Lifecycle.REJECTED,
}
TERMINAL = frozenset({Lifecycle.SUPERSEDED, Lifecycle.WITHDRAWN, Lifecycle.REJECTED})
"""A claim here takes no new revision and is not published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusFacts:
    """What is known of one claim, as the store found it."""

    has_revision: bool
    events: Sequence[tuple[ClaimEventKind, str | None]] = ()
    """What happened to it, in log order, each with its successor if any."""
    objections: Sequence[ObjectionState] = ()
    """Where each objection of the claim, or of a specification that it or a lock of it refers to, stands."""
    causes: tuple[StaleCause, ...] = ()
    """What it may not have survived, without what was dismissed."""
    is_confirmed: bool = False
    """Whether a person confirmed one of `causes`."""
    gravest: FamilyOutcome | None = None
    """The gravest outcome of the claim's family; None for a family that is not audited."""
    beside: FamilyOutcome | None = None
    """The gravest outcome of other claims on the same words; None without one."""


def derive_status(facts: StatusFacts) -> Status:
    """Return the four axes; they do not depend on each other."""
    superseded = [successor for event, successor in facts.events if event is ClaimEventKind.SUPERSEDE]
    return Status(
        lifecycle=derive_lifecycle(has_revision=facts.has_revision, events=[event for event, _ in facts.events]),
        dispute=_derive_dispute(facts.objections),
        staleness=_derive_staleness(facts),
        restriction=_derive_restriction(facts.gravest),
        gravest=facts.gravest,
        beside=facts.beside,
        stale_because=tuple(cause.text for cause in facts.causes),
        causes=facts.causes,
        superseded_by=superseded[-1] if superseded else None,
    )


def derive_lifecycle(*, has_revision: bool, events: Sequence[ClaimEventKind]) -> Lifecycle:
    """Return where the claim is after the last event that moved it."""
    # A reservation does not move the claim: it may follow nothing and only holds the identifier.
    moved = [_AFTER[event] for event in events if event is not ClaimEventKind.RESERVE]
    if moved:
        return moved[-1]
    return Lifecycle.REGISTERED if has_revision else Lifecycle.RESERVED


def _derive_staleness(facts: StatusFacts) -> Staleness:
    if not facts.causes:
        return Staleness.CURRENT
    return Staleness.STALE if facts.is_confirmed else Staleness.NEEDS_REVIEW


def _derive_dispute(states: Sequence[ObjectionState]) -> Dispute:
    settled: Mapping[ObjectionState, Dispute] = {
        ObjectionState.UPHELD: Dispute.UPHELD,
        ObjectionState.REJECTED: Dispute.UNDISPUTED,
    }
    disputes = {settled.get(state, Dispute.CONTESTED) for state in states}
    # One open objection outweighs any number of resolved ones.
    if Dispute.CONTESTED in disputes:
        return Dispute.CONTESTED
    return Dispute.UPHELD if Dispute.UPHELD in disputes else Dispute.UNDISPUTED


def _derive_restriction(gravest: FamilyOutcome | None) -> RestrictionStatus:
    return RestrictionStatus.UNAUDITED if gravest is None else find_restriction(gravest.verdict, gravest.standing)


# Gathering of facts for many claims in a fixed number of queries.


class ObjectionPosition(NamedTuple):
    """Where an objection stands, and which entry says so."""

    objection: str
    target: str
    state: ObjectionState
    entry: int
    """Of its last step; 0 before any."""


class AuditOpening(NamedTuple):
    """The opening of an audit."""

    claim: str
    revision: int
    audit: str
    entry: int


class OwnFacts(NamedTuple):
    """What the status of one claim revision follows from beyond its model version, card and definitions."""

    events: tuple[tuple[ClaimEventKind, str | None], ...] = ()
    contexts: tuple[Reference, ...] = ()
    """The deployment contexts that it names."""
    gravest: FamilyOutcome | None = None
    beside: FamilyOutcome | None = None
    is_marked: bool = False
    """Whether there is an audit, objection, passage match or review of the claim."""


_NO_FACTS = OwnFacts()
_PLAIN_STATUS = derive_status(StatusFacts(has_revision=True))
"""Of a claim of which nothing else is recorded."""

_ASKED = (
    audit,
    audit_rival,
    claim_context,
    claim_event,
    claim_origin,
    objection,
    lock,
    model_version,
    restriction,
    passage_match,
    staleness_review,
    monitor,
    monitor_window,
    monitor_incident,
)


# Which of several outcomes counts (decision of 2026-11-21): one that decides before one that does
# not, a replay under a lock before reported evidence, and the latest of equals. Otherwise a small
# or unlocked audit would clear what was found. The cost: an older determined outcome stands until
# another determined one follows; all are printed.
class FactFinder:
    """Answers for one reading; what hangs on a card, model or specification is asked once and remembered."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        # Empty tables are the usual case, and each one saves a query per list.
        self._filled = reader.find_filled(*_ASKED)
        self._causes = CauseFinder(reader, self._filled)
        self._disputed = self._has(objection)
        self._disputed_specs: dict[Reference, list[ObjectionPosition]] | None = None
        self._usual: dict[Hashable, Status] = {}
        """Of claims with nothing of their own, by what they share."""
        self._families = FamilyFinder(reader, self._filled, list_ignored=_list_ignored)

    @property
    def lineage(self) -> Lineage:
        """Which model versions come from which."""
        return self._causes.lineage

    def statuses(self, heads: Sequence[ClaimHead], families: Sequence[Family] | None = None) -> list[Status]:
        """Return the status of each head, in order; *families* are theirs, where they are known already."""
        # Of one claim, both the state of its page and the page ask for it.
        if len(heads) == 1:
            return self._reader.recall(("statuses", heads[0]), lambda: self._find_statuses(heads, families))
        return self._find_statuses(heads, families)

    def _find_statuses(self, heads: Sequence[ClaimHead], families: Sequence[Family] | None) -> list[Status]:
        apart = self.find_apart([head.seq for head in heads], [head.claim for head in heads], families)
        facts = [apart.get(head.seq, _NO_FACTS) for head in heads]
        # Most claims of a registry share their status with the first one of the same model version,
        # card and definitions to which the same happened.
        keys: list[Hashable] = [
            head.seq
            if own.is_marked or own.gravest is not None or own.beside is not None
            else (head.model, head.card, head.has_passage, head.specs, own)
            for head, own in zip(heads, facts, strict=True)
        ]
        # Emptied instead of growing without a limit.
        if len(self._usual) > CHUNK:
            self._usual.clear()
        new = {key: place for place, key in enumerate(keys) if key not in self._usual}
        statuses = dict(zip(new, self._derive([heads[at] for at in new.values()], [facts[at] for at in new.values()]), strict=True))
        self._usual |= {key: status for key, status in statuses.items() if isinstance(key, tuple)}
        return [statuses[key] if key in statuses else self._usual[key] for key in keys]

    def find_usual(self, heads: Sequence[ClaimHead]) -> list[Status]:
        """Return the status that a claim with each of *heads* has as long as `find_apart` returns nothing of it, in order."""
        # No claim has an empty identifier, so nothing that was recorded of a single claim is found.
        return self._derive([head._replace(claim="") for head in heads], [_NO_FACTS] * len(heads))

    def find_apart(self, numbers: Sequence[int], claims: Sequence[str], families: Sequence[Family] | None = None) -> dict[int, OwnFacts]:
        """Return the facts that claim revisions do not share with others, by entry, without the many revisions that have none.

        Args:
            numbers: the entries of the revisions.
            claims: their claims, in the same order.
            families: theirs, where they are known already.
        """
        leading = self._families.find_leading(numbers) if families is None else [lead(family) for family in families]
        events, marked, contexts = self._events(claims), self._find_marked(claims), self._contexts(numbers)
        return {
            seq: OwnFacts(tuple(events.get(claim, ())), tuple(contexts.get(seq, ())), gravest, beside, claim in marked)
            for seq, claim, (gravest, beside) in zip(numbers, claims, leading, strict=True)
            if claim in events or claim in marked or seq in contexts or gravest is not None or beside is not None
        }

    def _find_marked(self, claims: Sequence[str]) -> set[str]:
        """Return those of *claims* of which a status depends on more than their revision and events."""
        return {claim for name in _MARKING if name in self._filled for (claim,) in self._reader.rows_by(_MARKING[name], claims)}

    def _derive(self, heads: Sequence[ClaimHead], facts: Sequence[OwnFacts]) -> list[Status]:
        placed, grounds = self._gather(heads, [(*head.specs, *own.contexts) for head, own in zip(heads, facts, strict=True)])
        return [
            # Of most claims nothing is recorded: they share one status.
            _PLAIN_STATUS
            if own is _NO_FACTS and not causes and not placed.get(head.seq)
            else derive_status(
                StatusFacts(
                    has_revision=True,
                    events=own.events,
                    objections=[position.state for position in placed.get(head.seq, ())],
                    causes=causes,
                    is_confirmed=is_confirmed,
                    gravest=own.gravest,
                    beside=own.beside,
                )
            )
            for head, own, (causes, is_confirmed) in zip(heads, facts, self._causes.find(heads, grounds), strict=True)
        ]

    def find_families(self, heads: Sequence[ClaimHead]) -> list[Family]:
        """Return the family of each head with all outcomes on its words, in order."""
        return self._families.find([head.seq for head in heads])

    def find_counted(self, numbers: Sequence[int]) -> dict[int, FamilyOutcome]:
        """Return the outcomes in this log that count in the families of the claim revisions of entries *numbers*, by their own entry."""
        families = self._families.find(numbers, with_members=False) if self._has(restriction) else []
        return {outcome.seq: outcome for family in families for outcome in family.outcomes if outcome.log is None}

    def find_specs(self, heads: Sequence[ClaimHead]) -> list[tuple[Reference, ...]]:
        """Return the specification versions that each head refers to, with its deployment contexts, in order."""
        contexts = self._contexts([head.seq for head in heads])
        return [(*head.specs, *contexts.get(head.seq, ())) if contexts else head.specs for head in heads]

    def candidates(self, heads: Sequence[ClaimHead]) -> list[tuple[StaleCause, ...]]:
        """Return for each of *heads* every cause to be stale that a person may decide on: also those that were dismissed."""
        _, grounds = self._gather(heads, self.find_specs(heads))
        return self._causes.candidates(heads, grounds)

    def _gather(
        self, heads: Sequence[ClaimHead], specs: Sequence[tuple[Reference, ...]]
    ) -> tuple[dict[int, tuple[ObjectionPosition, ...]], list[ClaimGround]]:
        """Return objections by entry of the head, and what each head rests on; *specs* are its specification versions."""
        openings = self._openings(heads)
        audited = {opening.claim: opening.revision for opening in openings}
        outcomes = self._outcomes(heads, openings)
        placed = self._place(heads, specs) if self._disputed else {}
        upheld = {seq: _keep_upheld(positions) for seq, positions in placed.items()}
        grounds = [
            ClaimGround(named, audited.get(head.claim), outcomes.get((head.claim, head.revision)), upheld.get(head.seq, ()))
            for head, named in zip(heads, specs, strict=True)
        ]
        return placed, grounds

    def _place(self, heads: Sequence[ClaimHead], specs: Sequence[tuple[Reference, ...]]) -> dict[int, tuple[ObjectionPosition, ...]]:
        """Return the objections of each head, and of what it and locks of it name, by its entry."""
        contested, disputes = self._contested(heads), self._spec_disputes()
        # Locks can name other definitions than the claim. Objections to those concern the audited
        # claim too.
        locked = self._locked_specs(heads) if disputes else {}
        positions = {}
        for head, own in zip(heads, specs, strict=True):
            named = dict.fromkeys((*own, *locked.get((head.claim, head.revision), ())))
            positions[head.seq] = (*contested.get(head.claim, ()), *(position for name in named for position in disputes.get(name, ())))
        return positions

    def reserved_status(self, claim: str) -> Status:
        """Return the status of a claim that has no revision."""
        return derive_status(StatusFacts(has_revision=False, events=tuple(self._events([claim]).get(claim, ()))))

    def events_of(self, claim: str) -> list[ClaimEventKind]:
        """Return what happened to *claim*, in log order."""
        return [event for event, _ in self._events([claim]).get(claim, ())]

    def _has(self, table: Table) -> bool:
        return table.name in self._filled

    def _events(self, claims: Sequence[str]) -> dict[str, list[tuple[ClaimEventKind, str | None]]]:
        events: dict[str, list[tuple[ClaimEventKind, str | None]]] = defaultdict(list)
        if self._has(claim_event):
            for claim, event, successor in self._reader.rows_by(_EVENTS, claims):
                events[claim].append((ClaimEventKind(event), successor))
        return events

    def _outcomes(self, heads: Sequence[ClaimHead], openings: Sequence[AuditOpening]) -> dict[Reference, RecordedOutcome]:
        """Return the gravest outcome of each claim revision itself, of equals the latest: its staleness follows from that."""
        outcomes: dict[Reference, RecordedOutcome] = {}
        gravities: dict[Reference, tuple[int, int]] = {}
        if not self._has(restriction):
            return outcomes
        opened, today = {opening.audit: opening.entry for opening in openings}, self._reader.today
        rivals = self.find_rivals(opened)
        last: dict[Reference, ExpiredOutcome | None] = {}
        for claim, revision, words, standing, name, seq, result, day in self._reader.rows_by(_OUTCOMES, (head.claim for head in heads)):
            rival_of, upheld = rivals.get(name, (None, False))
            # A replay under the rival specification does not count until the objection is upheld
            # (decision of 2026-11-22).
            if rival_of is not None and not upheld:
                continue
            here, valid_until = (claim, revision), None if day is None else date.fromisoformat(day)
            this = None if day is None else ExpiredOutcome(name, seq, day)
            last[here] = _find_longest(last.get(here, this), this)
            gravity = find_gravity(Verdict(words), weaken(VerdictStanding(standing) if standing else None, valid_until, today))
            # Rows come in log order, so "≤" lets the latest of equal outcomes win.
            if gravity <= gravities.get(here, gravity):
                gravities[here] = gravity
                outcomes[here] = RecordedOutcome(seq, result, name, opened.get(name, 0), rival_of)
        # Expired only if every outcome has expired: the longest validity decides.
        for here, last_outcome in last.items():
            if last_outcome is not None and is_expired(date.fromisoformat(last_outcome.valid_until), today):
                outcomes[here] = outcomes[here]._replace(expired=last_outcome)
        return outcomes

    def _openings(self, heads: Sequence[ClaimHead]) -> list[AuditOpening]:
        """Return the openings of the audits of each claim, in log order."""
        if not self._has(audit):
            return []
        return [AuditOpening(*row) for row in self._reader.rows_by(_OPENINGS, (head.claim for head in heads))]

    def _contested(self, heads: Sequence[ClaimHead]) -> dict[str, list[ObjectionPosition]]:
        positions: dict[str, list[ObjectionPosition]] = defaultdict(list)
        wanted = select(objection).where(self._reader.visible(objection))
        rows = self._reader.rows_in(wanted, objection.c.claim, (head.claim for head in heads))
        states = self._states(rows)
        for row in rows:
            positions[row.claim].append(states[row.objection])
        return positions

    def _states(self, objections: Sequence[Any]) -> dict[str, ObjectionPosition]:
        """Return where each of *objections* stands, rows of its table."""
        table = objection_event
        placed = (entry.c.log == table.c.log) & (entry.c.seq == table.c.seq)
        columns = (table.c.objection, table.c.step, table.c.seq, entry.c.actor)
        ordered = select(*columns).join(entry, placed).where(self._reader.visible(table))
        names = [row.objection for row in objections]
        last = {row.objection: row for row in self._reader.rows_in(ordered.order_by(table.c.seq), table.c.objection, names)}
        positions = {}
        for row in objections:
            step, owner = last.get(row.objection), owner_of(row.claim or row.spec)
            objection_step = ObjectionStep(step.step) if step else None
            state = find_state(objection_step, actor=step.actor if step else "", owner=owner, by=row.contested_by)
            target = f"{row.claim}@{row.revision}" if row.claim else f"{row.spec}@{row.version}"
            positions[row.objection] = ObjectionPosition(row.objection, target, state, step.seq if step else 0)
        return positions

    def find_rivals(self, audits: Collection[str]) -> dict[str, tuple[str, bool]]:
        """Return those of *audits* that replay under the rival of an objection, with that objection and whether it was upheld."""
        if not self._has(audit_rival):
            return {}
        replays = select(audit_rival.c.audit, audit_rival.c.objection).where(self._reader.visible(audit_rival))
        rows = self._reader.rows_in(replays, audit_rival.c.audit, audits)
        wanted = select(objection).where(self._reader.visible(objection))
        states = self._states(self._reader.rows_in(wanted, objection.c.objection, (row.objection for row in rows)))
        upheld = {name for name, state in states.items() if state.state is ObjectionState.UPHELD}
        return {row.audit: (row.objection, row.objection in upheld) for row in rows}

    def _locked_specs(self, heads: Sequence[ClaimHead]) -> dict[Reference, list[Reference]]:
        """Return what locks of the claims fix beside what the claims name; read only where a specification is disputed at all."""
        specs: dict[Reference, list[Reference]] = defaultdict(list)
        wanted = select(lock.c.seq).join(body, has_text(lock)).where(self._reader.visible(lock))
        rows = self._reader.rows_in(wanted, lock.c.claim, {head.claim for head in heads}) if self._has(lock) else []
        for recorded in self._reader.recorded(row.seq for row in rows):
            specs[split_reference(recorded.payload.claim)] += map(split_reference, list_locked(recorded.payload))
        return specs

    def _contexts(self, numbers: Sequence[int]) -> dict[int, list[Reference]]:
        """Return the deployment contexts that claim revisions name, by their entry."""
        contexts: dict[int, list[Reference]] = defaultdict(list)
        if self._has(claim_context):
            for seq, context, version in self._reader.rows_by(_CONTEXTS, numbers):
                contexts[seq].append((context, version))
        return contexts

    def _spec_disputes(self) -> dict[Reference, list[ObjectionPosition]]:
        if self._disputed_specs is None:
            self._disputed_specs = defaultdict(list)
            wanted = select(objection).where(self._reader.visible(objection), objection.c.spec.is_not(None))
            rows = self._reader.rows(wanted)
            states = self._states(rows)
            for row in rows:
                self._disputed_specs[row.spec, row.version].append(states[row.objection])
        return self._disputed_specs


_MARKING = {
    table.name: select(table.c.claim).where(seen(table), table.c.claim.in_(KEYS))
    for table in (audit, objection, passage_match, staleness_review, monitor)
}
"""What is recorded of a single claim, by table."""
_EVENTS = (
    select(claim_event.c.claim, claim_event.c.event, claim_event.c.successor)
    .where(seen(claim_event), claim_event.c.claim.in_(KEYS))
    .order_by(claim_event.c.seq)
)
_CONTEXTS = (
    select(claim_context.c.seq, claim_context.c.context, claim_context.c.context_version)
    .where(seen(claim_context), claim_context.c.seq.in_(KEYS))
    .order_by(claim_context.c.seq, claim_context.c.position)
)
_OPENINGS = (
    select(audit.c.claim, audit.c.revision, audit.c.audit, audit.c.seq).where(seen(audit), audit.c.claim.in_(KEYS)).order_by(audit.c.seq)
)
# The outcomes of claims in their own form, in log order, each with the last day on which it is valid.
_OUTCOMES = (
    select(
        restriction.c.claim,
        restriction.c.revision,
        verdict.c.verdict,
        verdict.c.standing,
        restriction.c.audit,
        restriction.c.seq,
        restriction.c.result,
        outcome_validity.c.valid_until,
    )
    .join(
        verdict,
        (verdict.c.log == restriction.c.log) & (verdict.c.seq == restriction.c.seq) & (verdict.c.reading == restriction.c.reading),
    )
    .outerjoin(outcome_validity, (outcome_validity.c.log == restriction.c.log) & (outcome_validity.c.seq == restriction.c.seq))
    .where(seen(restriction), restriction.c.reading == 0, restriction.c.claim.in_(KEYS))
    .order_by(restriction.c.seq)
)


def _find_longest(expired_outcome: ExpiredOutcome | None, other: ExpiredOutcome | None) -> ExpiredOutcome | None:
    """Return which of two outcomes is valid longer; None where one of them has no last day, and never expires."""
    # One outcome without an expiry date keeps the claim from ever expiring.
    return (
        None
        if expired_outcome is None or other is None
        else max(expired_outcome, other, key=lambda outcome: (outcome.valid_until, outcome.entry))
    )


def _keep_upheld(placed: Sequence[ObjectionPosition]) -> tuple[UpheldObjection, ...]:
    return tuple(
        UpheldObjection(position.objection, position.target, position.entry)
        for position in placed
        if position.state is ObjectionState.UPHELD
    )


def _list_ignored(reader: LogReader, audits: Collection[str]) -> frozenset[str]:
    """Return those of *audits* whose outcomes do not count: under a rival whose objection was not upheld."""
    return frozenset(name for name, (_, upheld) in FactFinder(reader).find_rivals(audits).items() if not upheld)
