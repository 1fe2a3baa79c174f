"""Everything known of many claims at once: a dossier each, in a number of queries that does not grow with the claims of a card."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from sqlalchemy import Column, Table, select

from registry.records.analysis_plan import list_locked
from registry.records.claim import ClaimRevision
from registry.records.claim_status import CauseKind, Family, StaleCause, Staleness, Status
from registry.records.dossier import AuditFile, ContestationFile, Dossier, Recorded
from registry.records.model_version import ModelEndpoint, ModelEvent, ModelRef
from registry.records.specification import SpecVersion
from registry.store.card_tables import card_revision, sighting
from registry.store.claims import get_heads
from registry.store.dossiers import find_model, find_model_events, find_reveals, find_successors, get_audit, get_contestation
from registry.store.endpoints import EndpointIndex, read_endpoint_statements
from registry.store.facts import FactFinder
from registry.store.lineage import read_lineage
from registry.store.lineage_tables import staleness_review
from registry.store.reader import CHUNK, Reader, has_text
from registry.store.rows import split_reference
from registry.store.tables import audit, authority, body, claim_event, claim_relation, claim_revision, contestation, spec_version

Reference = tuple[str, int]
"""An identifier and its revision or version."""

_OWN = {
    "revisions": (claim_revision, (claim_revision.c.claim,)),
    "events": (claim_event, (claim_event.c.claim,)),
    "relations": (claim_relation, (claim_relation.c.claim, claim_relation.c.other)),
    "sightings": (sighting, (sighting.c.claim,)),
    "reviews": (staleness_review, (staleness_review.c.claim,)),
}
"""The parts of a dossier that name its claim, by the columns that do."""

_PASSED_OVER = frozenset({staleness_review})
"""Statements whose text may be erased without the claim's becoming untold: what they decided stands in their rows."""


def build_dossier(reader: Reader, claim: str, revision: int | None) -> Dossier:
    """Return everything known of *claim*, seen from *revision* (the latest); the claim is known to exist."""
    return next(build_dossiers(reader, [claim], revision=revision))


def build_dossiers(reader: Reader, claims: Sequence[str], *, revision: int | None = None) -> Iterator[Dossier]:
    """Yield everything known of each of *claims*, in their order, each seen from *revision* (the latest); all are known to exist.

    What claims share (card, definitions, model, authorities) is read once.
    """
    gatherer = _Gatherer(reader)
    for start in range(0, len(claims), CHUNK):
        yield from gatherer.build(claims[start : start + CHUNK], revision)


class _Gatherer:
    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._finder = FactFinder(reader)
        self._lineage = read_lineage(reader)
        self._endpoints = EndpointIndex(reader)
        self._shared = {"log_origin": reader.log_origin, "log_size": reader.log_size, "today": reader.today}
        self._get_specs = cache(self._read_specs)
        self._get_card = cache(self._read_card)
        self._get_model = cache(self._read_model)
        self._get_model_events = cache(self._read_model_events)
        self._get_contestation = cache(lambda name: get_contestation(reader, name))
        self._authorities: dict[str, tuple[Recorded[Any], ...]] = {}

    def build(self, claims: Sequence[str], revision: int | None) -> Iterator[Dossier]:
        own = {name: self._group(table, columns, claims) for name, (table, columns) in _OWN.items()}
        known = {claim: tuple(own["revisions"].get(claim, ())) for claim in claims}
        seen = {claim: found if revision is None else found[:revision] for claim, found in known.items()}
        statuses, families = self._derive([found[-1] for found in seen.values() if found])
        audits, disputes = self._name_audits(claims), self._name_contestations(claims)
        for claim in claims:
            parts: dict[str, Any] = {name: tuple(own[name].get(claim, ())) for name in ("events", "relations", "sightings", "reviews")}
            parts |= self._shared | {"claim": claim, "revisions": seen[claim]}
            if not seen[claim]:
                yield Dossier(**parts, status=self._finder.reserved_status(claim))
                continue
            current = seen[claim][-1]
            parts["audits"] = tuple(get_audit(self._reader, name) for name in audits.get(claim, ()))
            parts |= self._gather_shared(current.payload, parts["audits"], disputes)
            parts["model_events"] = self._get_model_events(tuple(dict.fromkeys(one.payload.model for one in seen[claim])))
            parts["model_endpoints"] = self._read_endpoints(current.payload.model, claim)
            status = _see_newer(statuses[current.entry.seq], shown=current, newest=known[claim][-1])
            later = known[claim][len(seen[claim]) :]
            parts |= {"later": later, "family": families[current.entry.seq]}
            yield Dossier(**parts, status=status, authorities=self._find_authorities(_flatten(parts.values())))

    def _gather_shared(
        self, claim: ClaimRevision, audits: Sequence[AuditFile], disputes: Mapping[str | Reference, Sequence[tuple[int, str]]]
    ) -> dict[str, Any]:
        references = _list_references(claim, audits)
        specs, newer = self._get_specs(references)
        card, newer_cards = self._get_card(claim.card)
        model, successors = self._get_model(claim.model)
        targets: list[str | Reference] = [claim.claim, *references]
        names = [name for _, name in sorted({one for target in targets for one in disputes.get(target, ())})]
        replayed = (one.audit.payload.contestation for one in audits)
        names += [name for name in dict.fromkeys(replayed) if name is not None and name not in names]
        return {
            "card": card,
            "newer_cards": newer_cards,
            "model": model,
            "successors": successors,
            "specs": specs,
            "newer_specs": newer,
            "contestations": tuple(self._get_contestation(name) for name in names),
            "reveals": find_reveals(self._reader, _list_sealed(specs)),
        }

    def _derive(self, current: Sequence[Recorded[ClaimRevision]]) -> tuple[dict[int, Status], dict[int, Family]]:
        heads = get_heads(self._reader, [one.entry.seq for one in current])
        found, families = self._finder.statuses(heads), self._finder.find_families(heads)
        numbers = [head.seq for head in heads]
        return dict(zip(numbers, found, strict=True)), dict(zip(numbers, families, strict=True))

    def _group(self, table: Table, columns: Sequence[Column[Any]], claims: Sequence[str]) -> dict[str, list[Recorded[Any]]]:
        """Return the statements of *table* that name each of *claims*, in log order."""
        named: dict[int, set[str]] = defaultdict(set)
        for column in columns:
            wanted = select(table.c.seq, column).where(self._reader.visible(table), column.in_(claims))
            for seq, claim in self._reader.rows(wanted.join(body, has_text(table)) if table in _PASSED_OVER else wanted):
                named[seq].add(claim)
        found: dict[str, list[Recorded[Any]]] = defaultdict(list)
        for one in self._reader.recorded(named):
            for claim in named[one.entry.seq]:
                found[claim].append(one)
        return found

    def _name_audits(self, claims: Sequence[str]) -> dict[str, list[str]]:
        wanted = select(audit.c.claim, audit.c.audit).where(self._reader.visible(audit), audit.c.claim.in_(claims))
        found: dict[str, list[str]] = defaultdict(list)
        for claim, name in self._reader.rows(wanted.order_by(audit.c.seq)):
            found[claim].append(name)
        return found

    def _name_contestations(self, claims: Sequence[str]) -> dict[str | Reference, list[tuple[int, str]]]:
        """Return the contestations of *claims*, and of any definition, by what they are against; each with its entry."""
        table = contestation
        wanted = select(table.c.seq, table.c.contestation, table.c.claim, table.c.spec, table.c.version)
        against = table.c.claim.in_(claims) | table.c.spec.is_not(None)
        found: dict[str | Reference, list[tuple[int, str]]] = defaultdict(list)
        for seq, name, claim, spec, version in self._reader.rows(wanted.where(self._reader.visible(table), against)):
            found[claim if spec is None else (spec, version)].append((seq, name))
        return found

    def _read_specs(self, references: tuple[Reference, ...]) -> tuple[tuple[Recorded[Any], ...], tuple[Recorded[Any], ...]]:
        table = spec_version
        found: list[Recorded[Any]] = []
        newer: list[Recorded[Any]] = []
        for name, version in references:
            since = (table.c.spec == name) & (table.c.version >= version)
            for one in self._reader.recorded_by(select(table.c.seq).where(self._reader.visible(table), since)):
                (newer if one.payload.version > version else found).append(one)
        return tuple(found), tuple(newer)

    def _read_card(self, reference: str | None) -> tuple[Recorded[Any] | None, tuple[Recorded[Any], ...]]:
        if reference is None:
            return None, ()
        name, revision = split_reference(reference)
        table = card_revision
        since = (table.c.card == name) & (table.c.revision >= revision)
        card, *newer = self._reader.recorded_by(select(table.c.seq).where(self._reader.visible(table), since))
        return card, tuple(newer)

    def _read_model(self, model: ModelRef) -> tuple[Recorded[Any] | None, tuple[Recorded[Any], ...]]:
        return find_model(self._reader, model), find_successors(self._reader, self._lineage, model)

    def _read_model_events(self, models: tuple[ModelRef, ...]) -> tuple[Recorded[ModelEvent], ...]:
        return find_model_events(self._reader, self._lineage.list_entries(models))

    def _read_endpoints(self, model: ModelRef, claim: str) -> tuple[Recorded[ModelEndpoint], ...]:
        entries = self._endpoints.list_entries(model, claim)
        return read_endpoint_statements(self._reader, entries) if entries else ()

    def _find_authorities(self, recorded: Iterable[Recorded[Any]]) -> tuple[Recorded[Any], ...]:
        codes: set[str] = set()
        for one in recorded:
            codes.add(one.entry.actor)
            codes |= {value for name in ("auditor", "owner", "by", "to") if isinstance(value := getattr(one.payload, name, None), str)}
        for code in codes - self._authorities.keys():
            wanted = select(authority.c.seq).where(self._reader.visible(authority), authority.c.code == code)
            self._authorities[code] = self._reader.recorded_by(wanted)
        found = (one for code in codes for one in self._authorities[code])
        return tuple(sorted(found, key=lambda one: one.entry.seq))


def _see_newer(status: Status, *, shown: Recorded[ClaimRevision], newest: Recorded[ClaimRevision]) -> Status:
    """Return *status* as one sees it from the revision *shown*, where *newest* is the claim's last."""
    if shown == newest:
        return status
    said = newest.payload
    text = f"the claim has a newer revision, @{said.revision}"
    causes = (StaleCause(kind=CauseKind.REVISION, what=said.reference, entry=newest.entry.seq, text=text), *status.causes)
    staleness = Staleness.STALE if status.staleness is Staleness.STALE else Staleness.POTENTIALLY_STALE
    return replace(status, staleness=staleness, stale_because=tuple(one.text for one in causes), causes=causes)


def _list_references(claim: ClaimRevision, audits: Sequence[AuditFile]) -> tuple[Reference, ...]:
    """Return what *claim* refers to, then what locks of its audits fix and what their replays asked beside that."""
    own = [one for one in audits if one.audit.payload.claim == claim.reference]
    locks = (one.lock.payload for one in own if one.lock)
    named = (
        claim.property,
        claim.scoring,
        claim.test_context,
        *claim.deploy_contexts,
        *(one for lock in locks for one in list_locked(lock)),
        *(one for file in own for one in _list_asked(file)),
    )
    return tuple(dict.fromkeys(split_reference(one) for one in named if one))


def _list_asked(file: AuditFile) -> Iterator[str]:
    """Give the registered contexts of both sides that the scores of *file* are of."""
    origins = [*(one.payload.provenance for one in file.runs), *(one.payload.provenance for one in file.restrictions)]
    for replayed in (one.replayed for one in origins if one is not None):
        yield from (name for arm in ("test", "deploy") if replayed for name in replayed.list_references(arm))


def _list_sealed(specs: Sequence[Recorded[SpecVersion]]) -> list[Reference]:
    return [(one.payload.spec, one.payload.version) for one in specs if one.payload.body is None]


def _flatten(parts: Iterable[Any]) -> Iterator[Recorded[Any]]:
    for part in parts:
        match part:
            case Recorded():
                yield part
            case tuple():
                yield from _flatten(part)
            case AuditFile():
                said = (part.audit, part.lock, part.runs, part.results, part.evidence, part.restrictions, part.findings)
                yield from _flatten((*said, part.starts, part.ends))
            case ContestationFile():
                yield from _flatten((part.contestation, part.events, part.replays))
            case _:
                pass
