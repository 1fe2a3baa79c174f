"""Files on one thing: a claim's dossier, an audit's file, a contestation's, and everything said about an identifier."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, or_, select, true, union

from registry.errors import Fault, NotFoundError
from registry.records.claim import ClaimRelation, ClaimRevision
from registry.records.dossier import AuditFile, ContestationFile, Dossier, Recorded
from registry.records.identifier import Identifier, Kind
from registry.records.model import ModelRef, ModelVersion
from registry.records.status import Staleness
from registry.records.survey import Omission, Sighting, Survey
from registry.store.card_tables import card_revision, omission, sighting, survey
from registry.store.claims import find_current_entry, get_head
from registry.store.facts import FactFinder
from registry.store.reader import Reader
from registry.store.rows import split_reference
from registry.store.tables import (
    audit,
    authority,
    claim_event,
    claim_relation,
    claim_revision,
    contestation,
    contestation_event,
    evidence,
    finding,
    lock,
    model_version,
    publication,
    restriction,
    result,
    run,
    spec_version,
)

_OF_AUDIT = (lock, run, result, evidence, finding, restriction, publication)


def build_dossier(reader: Reader, claim: str, revision: int | None) -> Dossier:
    """Return everything known of *claim*, seen from *revision* (the latest); the claim is known to exist."""
    known = find_revisions(reader, claim)
    revisions = known if revision is None else known[:revision]
    finder = FactFinder(reader)
    shared: dict[str, Any] = {
        "log_origin": reader.log_origin,
        "log_size": reader.log_size,
        "claim": claim,
        "revisions": revisions,
        "events": _of(reader, claim_event, claim_event.c.claim == claim),
        "relations": find_relations(reader, claim),
        "sightings": find_sightings(reader, card=None, claim=claim),
    }
    if not revisions:
        return Dossier(**shared, status=finder.reserved_status(claim))
    current = revisions[-1]
    (status,) = finder.statuses([get_head(reader, current.entry.seq)])
    if len(revisions) < len(known):
        reasons = (f"the claim has a newer revision, @{len(known)}", *status.stale_because)
        status = replace(status, staleness=Staleness.POTENTIALLY_STALE, stale_because=reasons)
    audits = find_audits(reader, claim)
    contestations = _contestations(reader, claim, _spec_references(current.payload))
    specs, newer_specs = _specs(reader, _spec_references(current.payload))
    card, newer_cards = _cards(reader, current.payload.card)
    found: dict[str, Any] = {
        "card": card,
        "newer_cards": newer_cards,
        "model": find_model(reader, current.payload.model),
        "successors": find_successors(reader, current.payload.model),
        "specs": specs,
        "newer_specs": newer_specs,
        "audits": audits,
        "contestations": contestations,
    }
    everything = _flatten((*shared.values(), *found.values()))
    return Dossier(**shared, **found, status=status, authorities=_authorities(reader, everything))


def find_revisions(reader: Reader, claim: str) -> tuple[Recorded[ClaimRevision], ...]:
    """Return the revisions of *claim*, in order."""
    return _of(reader, claim_revision, claim_revision.c.claim == claim)


def find_audits(reader: Reader, claim: str | None) -> tuple[AuditFile, ...]:
    """Return the audits of *claim* (of all claims when None), in log order."""
    wanted = select(audit.c.audit).where(reader.visible(audit)).order_by(audit.c.seq)
    if claim is not None:
        bare, _, revision = claim.partition("@")
        wanted = wanted.where(audit.c.claim == bare)
        wanted = wanted.where(audit.c.revision == int(revision)) if revision else wanted
    return tuple(get_audit(reader, row.audit) for row in reader.rows(wanted))


def get_audit(reader: Reader, name: str) -> AuditFile:
    """Return the audit *name*, which exists, with all that belongs to it."""
    (opening,) = _of(reader, audit, audit.c.audit == name)
    locks = _of(reader, lock, lock.c.audit == name)
    return AuditFile(
        audit=opening,
        lock=locks[0] if locks else None,
        runs=_of(reader, run, run.c.audit == name),
        results=_of(reader, result, result.c.audit == name),
        evidence=_of(reader, evidence, evidence.c.audit == name),
        restrictions=_of(reader, restriction, restriction.c.audit == name),
        findings=_of(reader, finding, finding.c.audit == name),
    )


def get_contestation(reader: Reader, name: str) -> ContestationFile:
    """Return the contestation *name*, which exists, with its steps."""
    (opening,) = _of(reader, contestation, contestation.c.contestation == name)
    return ContestationFile(contestation=opening, events=_of(reader, contestation_event, contestation_event.c.contestation == name))


def find_relations(reader: Reader, claim: str) -> tuple[Recorded[ClaimRelation], ...]:
    """Return the relations in which *claim* stands on either side, in log order."""
    return _of(reader, claim_relation, or_(claim_relation.c.claim == claim, claim_relation.c.other == claim))


def find_surveys(reader: Reader, card: str) -> tuple[Recorded[Survey], ...]:
    """Return the surveys of *card*, with or without `@n`, in log order."""
    return _of(reader, survey, _is_named(card, survey.c.card, survey.c.revision))


def find_omissions(reader: Reader, card: str) -> tuple[Recorded[Omission], ...]:
    """Return what was left out of *card*, with or without `@n`, in log order."""
    return _of(reader, omission, _is_named(card, omission.c.card, omission.c.revision))


def find_omission(reader: Reader, card: str, start: int, stop: int) -> Recorded[Omission] | None:
    """Return the omission of exactly one passage of a card revision; None when it is not left out."""
    place = (omission.c.start == start) & (omission.c.stop == stop)
    return reader.first_recorded(_seqs(reader, omission, _is_named(card, omission.c.card, omission.c.revision) & place))


def find_sightings(reader: Reader, *, card: str | None, claim: str | None) -> tuple[Recorded[Sighting], ...]:
    """Return the sightings in *card* and of *claim*, each with or without `@n`, in log order; None asks for all."""
    in_card = true() if card is None else _is_named(card, sighting.c.card, sighting.c.card_revision)
    of_claim = true() if claim is None else _is_named(claim, sighting.c.claim, sighting.c.revision)
    return _of(reader, sighting, and_(in_card, of_claim))


def find_model(reader: Reader, model: ModelRef) -> Recorded[ModelVersion] | None:
    """Return the registered version *model*; None when nobody registered it."""
    table = model_version
    same = (table.c.developer == model.developer) & (table.c.name == model.name) & (table.c.version == model.version)
    return reader.first_recorded(select(table.c.seq).where(reader.visible(table), same))


def find_successors(reader: Reader, model: ModelRef) -> tuple[Recorded[ModelVersion], ...]:
    """Return the versions that follow *model*, nearest first; they cannot form a circle, a predecessor is registered before."""
    table = model_version
    found: list[Recorded[ModelVersion]] = []
    waiting = [model]
    while waiting:
        before = waiting.pop(0)
        follows = (
            (table.c.predecessor_developer == before.developer)
            & (table.c.predecessor_name == before.name)
            & (table.c.predecessor_version == before.version)
        )
        after = reader.recorded_by(select(table.c.seq).where(reader.visible(table), follows))
        found += after
        waiting += [one.payload.model for one in after]
    return tuple(found)


def find_history(reader: Reader, name: Identifier) -> tuple[Recorded[Any], ...]:
    """Return every statement about *name*, in log order; those of a claim's audits and contestations belong to it."""
    bare = name.bare
    match name.kind:
        case Kind.CLAIM:
            parts = [*_about_claim(reader, bare), *_about_audits(reader, audit.c.claim == bare)]
            parts += _about_contestations(reader, contestation.c.claim == bare)
        case Kind.AUDIT:
            parts = _about_audits(reader, audit.c.audit == bare)
        case Kind.CARD:
            parts = _about_card(reader, bare)
        case Kind.CONTESTATION:
            parts = _about_contestations(reader, contestation.c.contestation == bare)
        case Kind.CONTEXT | Kind.PROPERTY | Kind.SCORING | Kind.CUES | Kind.METHOD:
            targeted = or_(contestation.c.spec == bare, contestation.c.rival == bare)
            parts = [_seqs(reader, spec_version, spec_version.c.spec == bare), *_about_contestations(reader, targeted)]
    return reader.recorded(row[0] for row in reader.rows(select(union(*parts).subquery())))


def not_found(reader: Reader, what: str, name: str) -> NotFoundError:
    """Return the error for a *name* that is not there, with what may have been meant."""
    near = [one for one in reader.suggest(name) if one != name]
    advice = f"did you mean {' or '.join(near)}?" if near else None
    return NotFoundError(Fault(code=f"{what}-not-found", where=name, found=f"no {what} has this identifier here", advice=advice))


def has_revision(reader: Reader, claim: str) -> bool:
    """Whether *claim* has any revision."""
    return find_current_entry(reader, claim) is not None


def _of(reader: Reader, table: Table, condition: Any) -> tuple[Recorded[Any], ...]:
    return reader.recorded_by(_seqs(reader, table, condition))


def _seqs(reader: Reader, table: Table, condition: Any) -> Select[Any]:
    return select(table.c.seq).where(reader.visible(table), condition)


def _is_named(reference: str, name: ColumnElement[str], number: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a row names *reference*; in any revision, unless it has `@n`."""
    bare, _, revision = reference.partition("@")
    return (name == bare) & (number == int(revision)) if revision.isdigit() else name == bare


def _about_claim(reader: Reader, claim: str) -> list[Select[Any]]:
    return [
        _seqs(reader, claim_revision, claim_revision.c.claim == claim),
        _seqs(reader, claim_event, or_(claim_event.c.claim == claim, claim_event.c.successor == claim)),
        _seqs(reader, claim_relation, or_(claim_relation.c.claim == claim, claim_relation.c.other == claim)),
        _seqs(reader, publication, publication.c.subject == claim),
        _seqs(reader, sighting, sighting.c.claim == claim),
    ]


def _about_card(reader: Reader, card: str) -> list[Select[Any]]:
    own = (card_revision, survey, omission, sighting)
    return [*(_seqs(reader, table, table.c.card == card) for table in own), _seqs(reader, publication, publication.c.subject == card)]


def _about_audits(reader: Reader, condition: Any) -> list[Select[Any]]:
    names = select(audit.c.audit).where(reader.visible(audit), condition)
    return [_seqs(reader, audit, condition), *(_seqs(reader, table, table.c.audit.in_(names)) for table in _OF_AUDIT)]


def _about_contestations(reader: Reader, condition: Any) -> list[Select[Any]]:
    names = select(contestation.c.contestation).where(reader.visible(contestation), condition)
    return [_seqs(reader, contestation, condition), _seqs(reader, contestation_event, contestation_event.c.contestation.in_(names))]


def _spec_references(claim: ClaimRevision) -> list[tuple[str, int]]:
    named = (claim.property, claim.scoring, claim.test_context, *claim.deploy_contexts)
    return list(dict.fromkeys(split_reference(one) for one in named if one))


def _specs(reader: Reader, references: Sequence[tuple[str, int]]) -> tuple[tuple[Recorded[Any], ...], tuple[Recorded[Any], ...]]:
    table = spec_version
    found: list[Recorded[Any]] = []
    newer: list[Recorded[Any]] = []
    for name, version in references:
        found += _of(reader, table, (table.c.spec == name) & (table.c.version == version))
        newer += _of(reader, table, (table.c.spec == name) & (table.c.version > version))
    return tuple(found), tuple(newer)


def _cards(reader: Reader, reference: str | None) -> tuple[Recorded[Any] | None, tuple[Recorded[Any], ...]]:
    if reference is None:
        return None, ()
    name, revision = split_reference(reference)
    table = card_revision
    (card,) = _of(reader, table, (table.c.card == name) & (table.c.revision == revision))
    return card, _of(reader, table, (table.c.card == name) & (table.c.revision > revision))


def _contestations(reader: Reader, claim: str, specs: Sequence[tuple[str, int]]) -> tuple[ContestationFile, ...]:
    table = contestation
    targets = [table.c.claim == claim, *((table.c.spec == name) & (table.c.version == version) for name, version in specs)]
    wanted = select(table.c.contestation).where(reader.visible(table), or_(*targets)).order_by(table.c.seq)
    return tuple(get_contestation(reader, row.contestation) for row in reader.rows(wanted))


def _authorities(reader: Reader, recorded: Iterable[Recorded[Any]]) -> tuple[Recorded[Any], ...]:
    codes: set[str] = set()
    for one in recorded:
        codes.add(one.entry.actor)
        codes |= {value for name in ("auditor", "owner", "by") if isinstance(value := getattr(one.payload, name, None), str)}
    return _of(reader, authority, authority.c.code.in_(sorted(codes)))


def _flatten(parts: Iterable[Any]) -> list[Recorded[Any]]:
    found: list[Recorded[Any]] = []
    for part in parts:
        match part:
            case Recorded():
                found.append(part)
            case tuple():
                found += _flatten(part)
            case AuditFile():
                found += _flatten((part.audit, part.lock, part.runs, part.results, part.evidence, part.restrictions, part.findings))
            case ContestationFile():
                found += _flatten((part.contestation, part.events))
            case _:
                pass
    return found
