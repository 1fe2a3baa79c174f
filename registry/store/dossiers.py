"""Files on one thing: an audit's, a contestation's, what belongs to a claim, and everything said about an identifier."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Select, Table, and_, or_, select, true, union

from registry.errors import Fault, NotFoundError
from registry.records.claim import ClaimRelation, ClaimRevision
from registry.records.claim_status import StalenessReview
from registry.records.dossier import AuditFile, ContestationFile, Recorded
from registry.records.model_version import ModelEvent, ModelRef, ModelVersion
from registry.records.record import Identifier, Kind
from registry.records.specification import Reveal
from registry.records.statement import Entry
from registry.records.system_card import Omission, PassageMatch, Survey
from registry.store.card_tables import card_revision, omission, sighting, survey
from registry.store.claims import find_current_entry
from registry.store.lineage import Lineage
from registry.store.lineage_tables import staleness_review
from registry.store.reader import Reader, has_text
from registry.store.run_tables import IMPORTED, run_end, run_start
from registry.store.seal_tables import audit_rival, deviation, erasure, exploration, reveal
from registry.store.tables import (
    audit,
    body,
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

_OF_AUDIT = (lock, run, result, evidence, finding, restriction, publication, deviation, exploration, run_start, run_end)


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
        deviations=_of(reader, deviation, deviation.c.audit == name),
        explorations=_of(reader, exploration, exploration.c.audit == name),
        starts=_of(reader, run_start, run_start.c.audit == name),
        ends=_of(reader, run_end, (run_end.c.audit == name) & (run_end.c.status != IMPORTED)),
    )


def get_contestation(reader: Reader, name: str) -> ContestationFile:
    """Return the contestation *name*, which exists, with its steps and the audits that replay under its rival."""
    (opening,) = _of(reader, contestation, contestation.c.contestation == name)
    rivals = select(audit_rival.c.audit).where(reader.visible(audit_rival), audit_rival.c.contestation == name)
    return ContestationFile(
        contestation=opening,
        events=_of(reader, contestation_event, contestation_event.c.contestation == name),
        replays=_of(reader, audit, audit.c.audit.in_(rivals)),
    )


def find_contestations(reader: Reader, target: str | None) -> tuple[ContestationFile, ...]:
    """Return the contestations of *target* (of everything when None; of all its versions without `@n`), in log order.

    Those of which a statement was erased are left out: `find_erased_contestations` names them.
    """
    erased = set(find_erased_contestations(reader, target))
    return tuple(get_contestation(reader, name) for name in _name_contestations(reader, target) if name not in erased)


def find_erased_contestations(reader: Reader, target: str | None) -> tuple[str, ...]:
    """Return the contestations of *target*, as `find_contestations` has it, of which grounds or a step were erased, in log order."""
    steps = select(contestation_event.c.contestation).where(reader.visible(contestation_event), _is_erased(reader, contestation_event))
    gone = or_(_is_erased(reader, contestation), contestation.c.contestation.in_(steps))
    return _name_contestations(reader, target, gone)


def _name_contestations(reader: Reader, target: str | None, *conditions: ColumnElement[bool]) -> tuple[str, ...]:
    wanted = select(contestation.c.contestation).where(reader.visible(contestation), *conditions).order_by(contestation.c.seq)
    if target is not None:
        of_claim = _is_named(target, contestation.c.claim, contestation.c.revision)
        wanted = wanted.where(or_(of_claim, _is_named(target, contestation.c.spec, contestation.c.version)))
    return tuple(row.contestation for row in reader.rows(wanted))


def find_reveals(reader: Reader, references: Iterable[tuple[str, int]]) -> tuple[Recorded[Reveal], ...]:
    """Return what reveals the specification versions *references* (identifier and version), in log order; without those since erased."""
    named = [(reveal.c.spec == name) & (reveal.c.version == version) for name, version in references]
    return reader.recorded_by(_seqs(reader, reveal, or_(*named)).join(body, has_text(reveal))) if named else ()


def find_relations(reader: Reader, claim: str) -> tuple[Recorded[ClaimRelation], ...]:
    """Return the relations in which *claim* stands on either side, in log order."""
    return _of(reader, claim_relation, or_(claim_relation.c.claim == claim, claim_relation.c.other == claim))


def find_surveys(reader: Reader, card: str) -> tuple[Recorded[Survey], ...]:
    """Return the surveys of *card*, with or without `@n`, in log order; without those since erased."""
    return _of(reader, survey, _is_named(card, survey.c.card, survey.c.revision) & ~_is_erased(reader, survey))


def find_omissions(reader: Reader, card: str) -> tuple[Recorded[Omission], ...]:
    """Return what was left out of *card*, with or without `@n`, in log order; without what was erased since."""
    return _of(reader, omission, _is_named(card, omission.c.card, omission.c.revision) & ~_is_erased(reader, omission))


def find_erased_of(reader: Reader, card: str) -> tuple[Entry, ...]:
    """Return the entries of surveys and omissions of *card*, with or without `@n`, whose text was erased, in log order."""
    named = [_seqs(reader, one, _is_named(card, one.c.card, one.c.revision) & _is_erased(reader, one)) for one in (survey, omission)]
    numbers = sorted(row[0] for one in named for row in reader.rows(one))
    return tuple(found for seq in numbers if (found := reader.find_entry(seq)) is not None)


def find_omission(reader: Reader, card: str, start: int, stop: int) -> Recorded[Omission] | None:
    """Return the omission of exactly one passage of a card revision; None when it is not left out."""
    place = (omission.c.start == start) & (omission.c.stop == stop)
    return reader.first_recorded(_seqs(reader, omission, _is_named(card, omission.c.card, omission.c.revision) & place))


def find_sightings(reader: Reader, *, card: str | None, claim: str | None) -> tuple[Recorded[PassageMatch], ...]:
    """Return the sightings in *card* and of *claim*, each with or without `@n`, in log order; None asks for all."""
    in_card = true() if card is None else _is_named(card, sighting.c.card, sighting.c.card_revision)
    of_claim = true() if claim is None else _is_named(claim, sighting.c.claim, sighting.c.revision)
    return _of(reader, sighting, and_(in_card, of_claim))


def find_model(reader: Reader, model: ModelRef) -> Recorded[ModelVersion] | None:
    """Return the registered version *model*; None when nobody registered it."""
    table = model_version
    same = (table.c.developer == model.developer) & (table.c.name == model.name) & (table.c.version == model.version)
    return reader.first_recorded(select(table.c.seq).where(reader.visible(table), same))


def find_successors(reader: Reader, lineage: Lineage, model: ModelRef) -> tuple[Recorded[ModelVersion], ...]:
    """Return the registrations of the versions that took the place of *model*, or of one that did, nearest first."""
    entries = [entry for one in lineage.successors(model) if (entry := lineage.registration(one)) is not None]
    found = {one.entry.seq: one for one in reader.recorded(entries)}
    return tuple(found[entry] for entry in entries)


def find_model_events(reader: Reader, entries: Iterable[int]) -> tuple[Recorded[ModelEvent], ...]:
    """Return the events of model versions among *entries*, in log order; without those whose text is gone."""
    there = select(body.c.seq).where(reader.visible(body))
    return reader.recorded(row.seq for row in reader.rows_in(there, body.c.seq, entries))


def find_reviews(reader: Reader, claim: str | None) -> tuple[Recorded[StalenessReview], ...]:
    """Return what people decided of changes that *claim* (with or without `@n`; any when None) may not have survived, in log order.

    Without those whose text was erased since: what they decided still counts.
    """
    table = staleness_review
    same = true() if claim is None else _is_named(claim, table.c.claim, table.c.revision)
    return reader.recorded_by(_seqs(reader, table, same).join(body, has_text(table)))


def find_history(reader: Reader, name: Identifier) -> tuple[Recorded[Any], ...]:
    """Return every statement about *name*, in log order; those of a claim's audits and contestations belong to it."""
    return reader.recorded(find_history_entries(reader, name))


def find_history_entries(reader: Reader, name: Identifier) -> list[int]:
    """Return the numbers of the entries about *name*, as `find_history`; also of those whose text was erased. In no order."""
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
    return [row[0] for row in reader.rows(select(union(*parts).subquery()))]


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


def _is_erased(reader: Reader, table: Table) -> ColumnElement[bool]:
    """Return the condition that the text of a row's statement was erased, also where that comes after what is seen: it is gone."""
    return table.c.seq.in_(select(erasure.c.erased).where(erasure.c.log == reader.log_id))


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
        _seqs(reader, staleness_review, staleness_review.c.claim == claim),
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
