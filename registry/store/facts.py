"""Gathers, for many claims at once, what their status is derived from."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Select, Table, func, select

from registry.records.claim import ClaimEventKind
from registry.records.classification import Basis, ClaimClass, Standing, rank_outcome
from registry.records.contestation import ContestationState, ContestationStep, find_state, owner_of
from registry.records.model import ModelRef
from registry.records.plan import list_locked
from registry.records.status import Status
from registry.records.survey import Fate
from registry.store.card_tables import card_revision, sighting
from registry.store.reader import CHUNK, Reader, has_text
from registry.store.rows import split_reference
from registry.store.seal_tables import audit_rival
from registry.store.status import Facts, derive_status
from registry.store.tables import (
    audit,
    body,
    claim_context,
    claim_event,
    contestation,
    contestation_event,
    entry,
    lock,
    model_version,
    restriction,
    spec_version,
)

Reference = tuple[str, int]
"""An identifier and its revision or version."""


Known = tuple[
    tuple[tuple[ClaimEventKind, str | None], ...],
    tuple[ContestationState, ...],
    tuple[str, ...],
    tuple[ClaimClass, Standing | None] | None,
]
"""Events, states of contestations, reasons to be stale, and verdict: what the status of a registered claim follows from."""


class Head(NamedTuple):
    """What a claim revision refers to. A tuple: a hundred thousand are made for a long list."""

    seq: int
    claim: str
    revision: int
    model: ModelRef
    card: Reference | None
    specs: tuple[Reference, ...]
    """Property, scoring and test context; the deployment contexts are added when gathered."""
    has_passage: bool
    """Whether it quotes its card word for word, so that its passage can be looked up in another revision."""


class FactFinder:
    """Answers for one reading; what hangs on a card, model or specification is asked once and remembered."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._stale_models: dict[ModelRef, str | None] = {}
        self._newest_cards: dict[str, int] | None = None
        self._newest_specs: dict[str, int] | None = None
        self._disputed = reader.has_rows(contestation)
        self._disputed_specs: dict[Reference, list[ContestationState]] | None = None
        self._upheld: dict[str, bool] | None = None
        self._filled: dict[str, bool] = {}
        self._usual: dict[Known, Status] = {}
        self._reasons: dict[tuple[ModelRef, str | None, tuple[Reference, ...]], tuple[str, ...]] = {}

    def statuses(self, heads: Sequence[Head]) -> list[Status]:
        """Return the status of each head, in order."""
        events = self._events([head.claim for head in heads])
        verdicts = self._verdicts(heads)
        audited = self._audited(heads)
        contested = self._contested(heads)
        contexts = self._contexts(heads)
        fates = self._fates(heads)
        disputes = self._spec_disputes()
        locked = self._locked_specs(heads) if disputes else {}
        found = []
        for head in heads:
            specs = (*head.specs, *contexts.get(head.seq, ())) if contexts else head.specs
            steps: tuple[ContestationState, ...] = ()
            if self._disputed:
                named = dict.fromkeys((*specs, *locked.get((head.claim, head.revision), ())))
                steps = (*contested.get(head.claim, ()), *(step for one in named for step in disputes.get(one, ())))
            card = self._stale_card(head, head.card, fates.get((head.claim, head.revision))) if head.card else None
            stale = self._stale_because(head, card, specs, audited.get(head.claim))
            found.append(self._derive((tuple(events.get(head.claim, ())), steps, stale, verdicts.get((head.claim, head.revision)))))
        return found

    def reserved_status(self, claim: str) -> Status:
        """Return the status of a claim that has no revision."""
        return derive_status(Facts(has_revision=False, events=tuple(self._events([claim]).get(claim, ()))))

    def events_of(self, claim: str) -> list[ClaimEventKind]:
        """Return what happened to *claim*, in log order."""
        return [event for event, _ in self._events([claim]).get(claim, ())]

    def _derive(self, known: Known) -> Status:
        """Most claims of a registry share a status; it is made once."""
        status = self._usual.get(known)
        if status is None:
            if len(self._usual) > CHUNK:
                self._usual.clear()
            events, contestations, stale_because, verdict = known
            facts = Facts(has_revision=True, events=events, contestations=contestations, stale_because=stale_because, verdict=verdict)
            status = self._usual[known] = derive_status(facts)
        return status

    def _has(self, table: Table) -> bool:
        if table.name not in self._filled:
            self._filled[table.name] = self._reader.has_rows(table)
        return self._filled[table.name]

    def _rows_in(self, statement: Select[Any], column: Any, keys: Iterable[Any]) -> list[Any]:
        listed = list(keys)
        chunks = (listed[start : start + CHUNK] for start in range(0, len(listed), CHUNK))
        return [row for chunk in chunks for row in self._reader.rows(statement.where(column.in_(chunk)))]

    def _events(self, claims: Sequence[str]) -> dict[str, list[tuple[ClaimEventKind, str | None]]]:
        found: dict[str, list[tuple[ClaimEventKind, str | None]]] = defaultdict(list)
        if self._has(claim_event):
            wanted = select(claim_event.c.claim, claim_event.c.event, claim_event.c.successor)
            ordered = wanted.where(self._reader.visible(claim_event)).order_by(claim_event.c.seq)
            for claim, event, successor in self._rows_in(ordered, claim_event.c.claim, claims):
                found[claim].append((ClaimEventKind(event), successor))
        return found

    def _verdicts(self, heads: Sequence[Head]) -> dict[Reference, tuple[ClaimClass, Standing | None]]:
        found: dict[Reference, tuple[ClaimClass, Standing | None]] = {}
        heaviest: dict[Reference, tuple[bool, bool, bool]] = {}
        if self._has(restriction):
            rivals = self._rivals()
            columns = (restriction.c.claim, restriction.c.revision, restriction.c["class"], restriction.c.standing, restriction.c.basis)
            primary = select(*columns, restriction.c.audit).where(self._reader.visible(restriction), restriction.c.reading == 0)
            for claim, revision, class_, standing, basis, name in self._rows_in(
                primary.order_by(restriction.c.seq), restriction.c.claim, (head.claim for head in heads)
            ):
                if rivals and rivals.get(name, True) is False:
                    continue
                weight = rank_outcome(ClaimClass(class_), Basis(basis), upheld=rivals.get(name, False))
                if weight >= heaviest.get((claim, revision), weight):
                    heaviest[claim, revision] = weight
                    found[claim, revision] = (ClaimClass(class_), Standing(standing) if standing else None)
        return found

    def _audited(self, heads: Sequence[Head]) -> dict[str, int]:
        """Return the revision that the last audit of each claim was about."""
        if not self._has(audit):
            return {}
        ordered = select(audit.c.claim, audit.c.revision).where(self._reader.visible(audit)).order_by(audit.c.seq)
        return {row.claim: row.revision for row in self._rows_in(ordered, audit.c.claim, (head.claim for head in heads))}

    def _contested(self, heads: Sequence[Head]) -> dict[str, list[ContestationState]]:
        found: dict[str, list[ContestationState]] = defaultdict(list)
        if self._has(contestation):
            wanted = select(contestation).where(self._reader.visible(contestation))
            rows = self._rows_in(wanted, contestation.c.claim, (head.claim for head in heads))
            states = self._states(rows)
            for row in rows:
                found[row.claim].append(states[row.contestation])
        return found

    def _states(self, contestations: Sequence[Any]) -> dict[str, ContestationState]:
        """Return where each of *contestations* stands, rows of its table."""
        table = contestation_event
        placed = (entry.c.log == table.c.log) & (entry.c.seq == table.c.seq)
        ordered = select(table.c.contestation, table.c.step, entry.c.actor).join(entry, placed).where(self._reader.visible(table))
        names = [row.contestation for row in contestations]
        last = {row.contestation: row for row in self._rows_in(ordered.order_by(table.c.seq), table.c.contestation, names)}
        found = {}
        for row in contestations:
            step, owner = last.get(row.contestation), owner_of(row.claim or row.spec)
            said = ContestationStep(step.step) if step else None
            found[row.contestation] = find_state(said, actor=step.actor if step else "", owner=owner, by=row.contested_by)
        return found

    def _rivals(self) -> dict[str, bool]:
        """Return each audit that replays under the rival of a contestation, with whether that was upheld."""
        if not self._has(audit_rival):
            return {}
        if self._upheld is not None:
            return self._upheld
        rows = self._reader.rows(select(audit_rival.c.audit, audit_rival.c.contestation).where(self._reader.visible(audit_rival)))
        wanted = select(contestation).where(self._reader.visible(contestation))
        states = self._states(self._rows_in(wanted, contestation.c.contestation, {row.contestation for row in rows}))
        self._upheld = {row.audit: states.get(row.contestation) is ContestationState.UPHELD for row in rows}
        return self._upheld

    def _locked_specs(self, heads: Sequence[Head]) -> dict[Reference, list[Reference]]:
        """Return what locks of the claims fix beside what the claims name; read only where a specification is disputed at all."""
        found: dict[Reference, list[Reference]] = defaultdict(list)
        wanted = select(lock.c.seq).join(body, has_text(lock)).where(self._reader.visible(lock))
        rows = self._rows_in(wanted, lock.c.claim, {head.claim for head in heads}) if self._has(lock) else []
        for one in self._reader.recorded(row.seq for row in rows):
            found[split_reference(one.payload.claim)] += map(split_reference, list_locked(one.payload))
        return found

    def _contexts(self, heads: Sequence[Head]) -> dict[int, list[Reference]]:
        found: dict[int, list[Reference]] = defaultdict(list)
        if heads and self._has(claim_context):
            table = claim_context
            wanted = select(table.c.seq, table.c.context, table.c.context_version).where(self._reader.visible(table))
            for row in self._rows_in(wanted.order_by(table.c.seq, table.c.position), table.c.seq, (head.seq for head in heads)):
                found[row.seq].append((row.context, row.context_version))
        return found

    def _spec_disputes(self) -> dict[Reference, list[ContestationState]]:
        if self._disputed_specs is None:
            self._disputed_specs = defaultdict(list)
            wanted = select(contestation).where(self._reader.visible(contestation), contestation.c.spec.is_not(None))
            rows = self._reader.rows(wanted)
            states = self._states(rows)
            for row in rows:
                self._disputed_specs[row.spec, row.version].append(states[row.contestation])
        return self._disputed_specs

    def _fates(self, heads: Sequence[Head]) -> dict[Reference, Fate]:
        """Return what became of the passages of claim revisions in the newest revision of their card, where somebody looked.

        One that is reworded in its spelling alone counts as unchanged: it asks nobody for a decision.
        """
        newest = self._cards() if any(head.card for head in heads) and self._has(sighting) else {}
        older = [head.claim for head in heads if head.card and newest.get(head.card[0], 0) > head.card[1]]
        table = sighting
        columns = (table.c.claim, table.c.revision, table.c.card, table.c.card_revision, table.c.fate, table.c.alarm)
        rows = self._rows_in(select(*columns).where(self._reader.visible(table)), table.c.claim, older)
        return {
            (row.claim, row.revision): Fate(row.fate) if row.alarm or row.fate != Fate.REWORDED else Fate.UNCHANGED
            for row in rows
            if newest.get(row.card) == row.card_revision
        }

    def _stale_because(self, head: Head, card: str | None, specs: tuple[Reference, ...], audited: int | None) -> tuple[str, ...]:
        key = (head.model, card, specs)
        reasons = self._reasons.get(key)
        if reasons is None:
            if len(self._reasons) > CHUNK:
                self._reasons.clear()
            reasons = self._reasons[key] = tuple(self._find_reasons(head.model, card, specs))
        if audited is not None and audited < head.revision:
            return (*reasons, f"the claim was revised to @{head.revision} after its last audit, which was about @{audited}")
        return reasons

    def _find_reasons(self, model: ModelRef, card: str | None, specs: Sequence[Reference]) -> Iterator[str]:
        if succeeded := self._stale_model(model):
            yield succeeded
        if card:
            yield card
        for name, version in dict.fromkeys(specs):
            if (newest := self._specs()[name]) > version:
                yield f"{name}@{version} has a newer version, @{newest}"

    def _stale_card(self, head: Head, card: Reference, fate: Fate | None) -> str | None:
        """Return why a newer revision of *card* makes the claim stale; None when there is none, or its passage still stands there."""
        name, revision = card
        newest = self._cards()[name]
        if newest <= revision:
            return None
        newer = f"{name}@{revision} has a newer revision, @{newest}"
        match fate:
            case Fate.UNCHANGED | Fate.MOVED:
                return None
            case Fate.REWORDED:
                return f"its passage is reworded in {name}@{newest}"
            case Fate.GONE:
                return f"its passage is gone from {name}@{newest}"
            case None:
                unseen = f"{newer}; where its passage stands there was not looked up (caveat card diff {name} --record)"
                return unseen if head.has_passage else newer

    def _stale_model(self, model: ModelRef) -> str | None:
        if model not in self._stale_models:
            table = model_version
            follows = (
                (table.c.predecessor_developer == model.developer)
                & (table.c.predecessor_name == model.name)
                & (table.c.predecessor_version == model.version)
            )
            wanted = select(table.c.developer, table.c.name, table.c.version).where(self._reader.visible(table), follows)
            rows = self._reader.rows(wanted.order_by(table.c.seq))
            after = [str(ModelRef(developer=row.developer, name=row.name, version=row.version)) for row in rows]
            self._stale_models[model] = f"{model} was followed by {', '.join(after)}" if after else None
        return self._stale_models[model]

    def _cards(self) -> dict[str, int]:
        if self._newest_cards is None:
            self._newest_cards = self._newest(card_revision, card_revision.c.card, card_revision.c.revision)
        return self._newest_cards

    def _specs(self) -> dict[str, int]:
        if self._newest_specs is None:
            self._newest_specs = self._newest(spec_version, spec_version.c.spec, spec_version.c.version)
        return self._newest_specs

    def _newest(self, table: Table, name: Any, number: Any) -> dict[str, int]:
        wanted = select(name, func.max(number)).where(self._reader.visible(table)).group_by(name)
        return {row[0]: row[1] for row in self._reader.rows(wanted)}
