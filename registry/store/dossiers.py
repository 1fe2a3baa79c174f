"""Everything known of an identifier: the entries that name it, dossiers, files, its history and the audit trail."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Select, Table, and_, bindparam, or_, select, true

from registry.errors import Fault, NotFoundError
from registry.records.analysis_plan import Deviation, Exploration, Lock, list_locked
from registry.records.audit_case import Audit, AuditWithdrawal, EvidenceStatement, Result
from registry.records.claim import ClaimRelation, ClaimRevision
from registry.records.claim_status import CauseKind, Family, Objection, ObjectionEvent, StaleCause, Staleness, StalenessReview, Status
from registry.records.dossier import AuditFile, Dossier, MonitorFile, ObjectionFile, Recorded
from registry.records.forecast import Forecast, ForecastScore
from registry.records.log_seal import Erasure
from registry.records.model_version import ModelEvent, ModelRef, ModelVersion
from registry.records.module_findings import Finding
from registry.records.monitor import Monitor, MonitorEnd, MonitorIncident, MonitorWindow
from registry.records.record import Identifier, Kind, Payload
from registry.records.replay_run import Run, RunEnd, RunStart
from registry.records.specification import Reveal, SpecVersion
from registry.records.statement import Entry
from registry.records.system_card import Omission, PassageMatch, Survey
from registry.records.verdict import Restriction
from registry.store.claim_listing import find_current_entry, get_heads
from registry.store.database_tables import body, entry
from registry.store.kinds.audit_kinds import AUDITS, audit
from registry.store.kinds.claim_kinds import (
    card_revision,
    claim_relation,
    omission,
    passage_match,
    staleness_review,
    survey,
)
from registry.store.kinds.definition_kinds import (
    DISPUTES,
    SPEC_DISPUTES,
    model_version,
    objection,
    objection_event,
    reveal,
    spec_version,
)
from registry.store.kinds.log_kinds import authority, erasure
from registry.store.kinds.monitor_kinds import MONITORS, monitor
from registry.store.log_reader import CHUNK, LogReader, has_text, seen, select_recorded
from registry.store.statement_kind import AUDIT, KINDS, MONITOR, OBJECTION, Role, split_reference
from registry.store.status_derivation import FactFinder
from registry.store.version_lineage import EndpointIndex, Lineage, read_endpoint_statements

# Which entries concern an identifier: one relation over the typed rows, read by name in one query.

# Decision of 2026-11-23: this index is not stored. The typed rows name every identifier already and
# have an index on it, so a UNION ALL over them answers as fast as a table would. A table of its own
# would be a second copy of the same facts: it would slow down every import by four rows a claim, and
# would have to be rebuilt and checked like the rows themselves.


class Concern(NamedTuple):
    """That an entry names an identifier."""

    table: str
    name: str
    seq: int
    revision: int
    """0 where the entry names no revision."""
    own: str | None
    """As `Role.own`."""


def _list_roles(of: Kind, *, with_history: bool = False) -> tuple[Role, ...]:
    return tuple(role for kind in KINDS.values() for role in kind.names if of in role.of and (with_history or role.is_basis))


OF_CLAIM = _list_roles(Kind.CLAIM)
"""What a claim's dossier and state rest on."""
OF_AUDIT = _list_roles(Kind.AUDIT)
"""What belongs to an audit, without its opening; a rival is in the entry that opens it."""
OF_OBJECTION = _list_roles(Kind.OBJECTION)
"""An objection, its steps, and the openings of audits that replay under its rival."""
OF_SPEC = _list_roles(Kind.PROPERTY)
"""The versions of a specification, what reveals them, and objections of them."""
OF_CARD = _list_roles(Kind.CARD)
"""The revisions of a card, and what was recorded of them."""

OF_MONITOR = tuple(role for role in _list_roles(Kind.MONITOR) if role.of == MONITOR)
"""The plan of a monitor, its windows and its end."""

IN_HISTORY: dict[Kind, tuple[Role, ...]] = {
    **{kind: _list_roles(kind, with_history=True) for kind in Kind},
    Kind.AUDIT: (Role("audit", "audit", AUDIT, own="audit"),),
    Kind.OBJECTION: (Role("objection", "objection", OBJECTION, own="objection"),),
}
"""What the history of an identifier lists; the audits and objections that it names belong to it with `PARTS_IN_HISTORY`."""
PARTS_IN_HISTORY = (*_list_roles(Kind.AUDIT, with_history=True), Role("objection_event", "objection", OBJECTION))


def find_concerns(reader: LogReader, roles: tuple[Role, ...], names: Collection[str] | None) -> list[Concern]:
    """Return where *roles* name one of *names* (any when None), in log order; an entry that names it twice comes twice."""
    return sorted(_read_concerns(reader, roles, names), key=lambda concern: concern.seq)


def group_concerns(concerns: Iterable[Concern], names: Iterable[str] = ()) -> dict[str, list[Concern]]:
    """Return *concerns* by the identifier they name; each of *names* is there, also where nothing concerns it."""
    groups: dict[str, list[Concern]] = {name: [] for name in names}
    for concern in concerns:
        groups.setdefault(concern.name, []).append(concern)
    return groups


def _read_concerns(reader: LogReader, roles: tuple[Role, ...], names: Collection[str] | None) -> Iterator[Concern]:
    here: tuple[int | str, ...] = (reader.log_id, reader.log_size)
    if names is None:
        yield from map(Concern._make, reader.driver_rows(_write_query(roles, 0), *here * len(roles)))
        return
    listed = list(dict.fromkeys(names))
    for start in range(0, len(listed), CHUNK):
        chunk = listed[start : start + CHUNK]
        yield from map(Concern._make, reader.driver_rows(_write_query(roles, len(chunk)), *(*here, *chunk) * len(roles)))


@cache
def _write_query(roles: tuple[Role, ...], count: int) -> str:
    """Return the SQL for *count* names; 0: for all. Names of tables and columns are ours, what is asked comes as parameters."""
    named = f" AND {{}} IN ({', '.join('?' * count)})" if count else ""
    return " UNION ALL ".join(
        f"SELECT '{role.table}', {role.column}, seq, {role.revision}, {role.own} FROM \"{role.table}\""  # noqa: S608
        f" WHERE log = ? AND seq <= ?{named.format(role.column)}"
        for role in roles
    )


# Files on one subject: an audit, an objection, the parts of a claim, and all statements on an
# identifier.


def find_audits(reader: LogReader, claim: str | None) -> tuple[AuditFile, ...]:
    """Return the audits of *claim* (of all claims when None), in log order."""
    wanted = select(audit.c.audit).where(reader.visible(audit)).order_by(audit.c.seq)
    if claim is not None:
        bare, _, revision = claim.partition("@")
        wanted = wanted.where(audit.c.claim == bare)
        wanted = wanted.where(audit.c.revision == int(revision)) if revision else wanted
    return tuple(get_audit(reader, row.audit) for row in reader.rows(wanted))


def get_audit(reader: LogReader, name: str) -> AuditFile:
    """Return the audit *name*, which exists, with all that belongs to it."""
    parts = _read_parts(reader, (*IN_HISTORY[Kind.AUDIT], *OF_AUDIT), name)
    (opening,) = parts[Audit]
    return AuditFile(
        audit=opening,
        lock=next(iter(parts[Lock]), None),
        runs=tuple(parts[Run]),
        results=tuple(parts[Result]),
        evidence=tuple(parts[EvidenceStatement]),
        restrictions=tuple(parts[Restriction]),
        findings=tuple(parts[Finding]),
        deviations=tuple(parts[Deviation]),
        explorations=tuple(parts[Exploration]),
        starts=tuple(parts[RunStart]),
        ends=tuple(parts[RunEnd]),
        withdrawn=next(iter(parts[AuditWithdrawal]), None),
    )


def get_monitor(reader: LogReader, name: str) -> MonitorFile:
    """Return the monitor *name*, which exists, with its windows and its end."""
    parts = _read_parts(reader, OF_MONITOR, name)
    (opening,) = parts[Monitor]
    return MonitorFile(
        monitor=opening,
        windows=tuple(parts[MonitorWindow]),
        incidents=tuple(parts[MonitorIncident]),
        ended=next(iter(parts[MonitorEnd]), None),
        forecasts=tuple(parts[Forecast]),
        scores=tuple(parts[ForecastScore]),
    )


def find_monitors_of(reader: LogReader, claims: Collection[str]) -> dict[str, tuple[MonitorFile, ...]]:
    """Return the monitors of many claims, `CLM-…`, by the revision that they watch, `CLM-…@n`; without those that have none."""
    if not reader.find_filled(monitor):
        return {}
    wanted = select(monitor.c.monitor).where(reader.visible(monitor)).order_by(monitor.c.seq)
    files: dict[str, tuple[MonitorFile, ...]] = {}
    for row in reader.rows_in(wanted, monitor.c.claim, claims):
        file = get_monitor(reader, row.monitor)
        files[file.monitor.payload.claim] = (*files.get(file.monitor.payload.claim, ()), file)
    return files


def find_monitors(reader: LogReader, claim: str | None) -> tuple[MonitorFile, ...]:
    """Return the monitors of *claim*, with or without `@n` (of all claims when None), in log order."""
    named = true() if claim is None else _is_named(claim, monitor.c.claim, monitor.c.revision)
    wanted = select(monitor.c.monitor).where(reader.visible(monitor), named).order_by(monitor.c.seq)
    return tuple(get_monitor(reader, row.monitor) for row in reader.rows(wanted))


def get_objection(reader: LogReader, name: str) -> ObjectionFile:
    """Return the objection *name*, which exists, with its steps and the audits that replay under its rival."""
    parts = _read_parts(reader, OF_OBJECTION, name)
    (opening,) = parts[Objection]
    return ObjectionFile(objection=opening, events=tuple(parts[ObjectionEvent]), replays=tuple(parts[Audit]))


def _read_parts(reader: LogReader, roles: tuple[Role, ...], name: str) -> dict[type[Any], list[Recorded[Any]]]:
    """Return the statements that name *name* in one of *roles*, by their kind, each kind in log order."""
    parts: dict[type[Any], list[Recorded[Any]]] = defaultdict(list)
    for recorded in reader.recorded(concern.seq for concern in find_concerns(reader, roles, [name])):
        parts[type(recorded.payload)].append(recorded)
    return parts


def find_objections(reader: LogReader, target: str | None) -> tuple[ObjectionFile, ...]:
    """Return the objections of *target* (of everything when None; of all its versions without `@n`), in log order.

    Those of which a statement was erased are excluded: `find_erased_objections` names them.
    """
    # Decision of 2026-11-22: lists exclude erased statements and name them. A supplement whose own
    # statement, or an objection to it, was erased is refused instead of being rendered without it.
    erased = set(find_erased_objections(reader, target))
    return tuple(get_objection(reader, name) for name in _name_objections(reader, target) if name not in erased)


def find_erased_objections(reader: LogReader, target: str | None) -> tuple[str, ...]:
    """Return the objections of *target*, as `find_objections` has it, of which grounds or a step were erased, in log order."""
    steps = select(objection_event.c.objection).where(reader.visible(objection_event), _is_erased(reader, objection_event))
    gone = or_(_is_erased(reader, objection), objection.c.objection.in_(steps))
    return _name_objections(reader, target, gone)


def _name_objections(reader: LogReader, target: str | None, *conditions: ColumnElement[bool]) -> tuple[str, ...]:
    wanted = select(objection.c.objection).where(reader.visible(objection), *conditions).order_by(objection.c.seq)
    if target is not None:
        of_claim = _is_named(target, objection.c.claim, objection.c.revision)
        wanted = wanted.where(or_(of_claim, _is_named(target, objection.c.spec, objection.c.version)))
    return tuple(row.objection for row in reader.rows(wanted))


def find_reveals(reader: LogReader, references: Iterable[tuple[str, int]]) -> tuple[Recorded[Reveal], ...]:
    """Return what reveals the specification versions *references* (identifier and version), in log order; without those since erased."""
    named = [(reveal.c.spec == name) & (reveal.c.version == version) for name, version in references]
    return reader.recorded_by(_seqs(reader, reveal, or_(*named)).join(body, has_text(reveal))) if named else ()


def find_relations(reader: LogReader, claim: str) -> tuple[Recorded[ClaimRelation], ...]:
    """Return the relations in which *claim* is on either side, in log order."""
    return _of(reader, claim_relation, or_(claim_relation.c.claim == claim, claim_relation.c.other == claim))


def find_surveys(reader: LogReader, card: str) -> tuple[Recorded[Survey], ...]:
    """Return the surveys of *card*, with or without `@n`, in log order; without those since erased."""
    return _of(reader, survey, _is_named(card, survey.c.card, survey.c.revision) & ~_is_erased(reader, survey))


def find_omissions(reader: LogReader, card: str) -> tuple[Recorded[Omission], ...]:
    """Return what was excluded of *card*, with or without `@n`, in log order; without what was erased since."""
    return _of(reader, omission, _is_named(card, omission.c.card, omission.c.revision) & ~_is_erased(reader, omission))


def find_erased_of(reader: LogReader, card: str) -> tuple[Entry, ...]:
    """Return the entries of surveys and omissions of *card*, with or without `@n`, with an erased text, in log order."""
    named = [
        _seqs(reader, table, _is_named(card, table.c.card, table.c.revision) & _is_erased(reader, table)) for table in (survey, omission)
    ]
    numbers = sorted(row[0] for selection in named for row in reader.rows(selection))
    return tuple(entry_row for seq in numbers if (entry_row := reader.find_entry(seq)) is not None)


def find_omission(reader: LogReader, card: str, start: int, stop: int) -> Recorded[Omission] | None:
    """Return the omission of exactly one passage of a card revision; None when it is not excluded."""
    place = (omission.c.start == start) & (omission.c.stop == stop)
    return reader.first_recorded(_seqs(reader, omission, _is_named(card, omission.c.card, omission.c.revision) & place))


def find_passage_matches(reader: LogReader, *, card: str | None, claim: str | None) -> tuple[Recorded[PassageMatch], ...]:
    """Return the passage matches in *card* and of *claim*, each with or without `@n`, in log order; None asks for all."""
    in_card = true() if card is None else _is_named(card, passage_match.c.card, passage_match.c.card_revision)
    of_claim = true() if claim is None else _is_named(claim, passage_match.c.claim, passage_match.c.revision)
    return _of(reader, passage_match, and_(in_card, of_claim))


_MODEL = select_recorded(
    select(model_version.c.seq).where(
        seen(model_version),
        model_version.c.developer == bindparam("developer"),
        model_version.c.name == bindparam("name"),
        model_version.c.version == bindparam("version"),
    )
)


def find_model(reader: LogReader, model: ModelRef) -> Recorded[ModelVersion] | None:
    """Return the registered version *model*; None if it is not registered."""
    return next(iter(reader.recorded_of(_MODEL, developer=model.developer, name=model.name, version=model.version)), None)


def find_successors(reader: LogReader, lineage: Lineage, model: ModelRef) -> tuple[Recorded[ModelVersion], ...]:
    """Return the registrations of the versions that took the place of *model*, or of one that did, nearest first."""
    entries = [entry for ref in lineage.successors(model) if (entry := lineage.registration(ref)) is not None]
    registrations = {recorded.entry.seq: recorded for recorded in reader.recorded(entries)}
    return tuple(registrations[entry] for entry in entries)


def find_model_events(reader: LogReader, entries: Iterable[int]) -> tuple[Recorded[ModelEvent], ...]:
    """Return the events of model versions among *entries*, in log order; without those with a text that is gone."""
    there = select(body.c.seq).where(reader.visible(body))
    return reader.recorded(row.seq for row in reader.rows_in(there, body.c.seq, entries))


def find_reviews(reader: LogReader, claim: str | None) -> tuple[Recorded[StalenessReview], ...]:
    """Return what people decided of changes that *claim* (with or without `@n`; any when None) may not have survived, in log order.

    Without those with a text erased since: what they decided still counts.
    """
    table = staleness_review
    same = true() if claim is None else _is_named(claim, table.c.claim, table.c.revision)
    return reader.recorded_by(_seqs(reader, table, same).join(body, has_text(table)))


def find_history(reader: LogReader, name: Identifier) -> tuple[Recorded[Any], ...]:
    """Return every statement about *name*, in log order; those of a claim's audits and objections belong to it."""
    return reader.recorded(find_history_entries(reader, name))


def find_history_entries(reader: LogReader, name: Identifier) -> set[int]:
    """Return the numbers of the entries about *name*, as `find_history`; also of those with an erased text."""
    concerns = find_concerns(reader, IN_HISTORY[name.kind], [name.bare])
    belonging = {concern.own for concern in concerns if concern.own is not None}
    return {concern.seq for concern in (*concerns, *find_concerns(reader, PARTS_IN_HISTORY, belonging))}


def not_found(reader: LogReader, what: str, name: str) -> NotFoundError:
    """Return the error for a *name* that is not there, with what may have been meant."""
    return NotFoundError(Fault("not-registered", name, f"no {what} has this identifier here", advice=reader.suggest(name)))


def has_revision(reader: LogReader, claim: str) -> bool:
    """Whether *claim* has any revision."""
    return find_current_entry(reader, claim) is not None


def _of(reader: LogReader, table: Table, condition: Any) -> tuple[Recorded[Any], ...]:
    return reader.recorded_by(_seqs(reader, table, condition))


def _seqs(reader: LogReader, table: Table, condition: Any) -> Select[Any]:
    return select(table.c.seq).where(reader.visible(table), condition)


def _is_erased(reader: LogReader, table: Table) -> ColumnElement[bool]:
    """Return the condition that the text of a row's statement was erased, also where that comes after what is seen: it is gone."""
    # The erasure may come after the entry that is viewed. The text is gone nevertheless, so the
    # view cannot show it.
    return table.c.seq.in_(select(erasure.c.erased).where(erasure.c.log == reader.log_id))


def _is_named(reference: str, name: ColumnElement[str], number: ColumnElement[int]) -> ColumnElement[bool]:
    """Return the condition that a row names *reference*; in any revision, unless it has `@n`."""
    bare, _, revision = reference.partition("@")
    return (name == bare) & (number == int(revision)) if revision.isdigit() else name == bare


# Dossiers for many claims. The number of queries does not grow with the number of claims of a card,
# because claims of one card share card, definitions, model and authorities.

Reference = tuple[str, int]
"""An identifier and its revision or version."""

_OWN = {"events": "claim_event", "relations": "claim_relation", "passage_matches": "passage_match", "reviews": "staleness_review"}
"""The parts of a dossier that are statements on its claim, by their table."""


def _pick(statements: Mapping[int, Recorded[Any]], concerns: Sequence[Concern], table: str) -> tuple[Recorded[Any], ...]:
    """Return the statements of *concerns* in *table*, in log order."""
    return tuple(statements[concern.seq] for concern in concerns if concern.table == table and concern.seq in statements)


def _list_own(concerns: Sequence[Concern], role: Role) -> list[tuple[int, str]]:
    """Return the entries of *concerns* in the table of *role*, each with its own identifier."""
    return [(concern.seq, concern.own) for concern in concerns if concern.table == role.table and concern.own is not None]


def build_dossier(reader: LogReader, claim: str, revision: int | None, *, skips_erased: bool = False) -> Dossier:
    """Return everything known of *claim*, which exists, seen from *revision* (the latest); *skips_erased* as in `build_dossiers`."""
    return next(build_dossiers(reader, [claim], revision=revision, skips_erased=skips_erased))


def build_dossiers(
    reader: LogReader, claims: Sequence[str], *, revision: int | None = None, skips_erased: bool = False
) -> Iterator[Dossier]:
    """Yield everything known of each of *claims*, in their order, each seen from *revision* (the latest); all are known to exist.

    What claims share (card, definitions, model, authorities) is read once.

    Args:
        skips_erased: leaves out an objection with an erased text, instead of raising NotFoundError; `find_erased_objections` names it.
    """
    gatherer = _Gatherer(reader, skips_erased=skips_erased)
    for start in range(0, len(claims), CHUNK):
        yield from gatherer.build(claims[start : start + CHUNK], revision)


def _select_since(name: Column[Any], number: Column[Any]) -> Select[Any]:
    table = name.table
    since = (seen(table), name == bindparam("name"), number >= bindparam("number"))
    return select_recorded(select(table.c.seq).where(*since))


_SPECS_SINCE = _select_since(spec_version.c.spec, spec_version.c.version)
_CARDS_SINCE = _select_since(card_revision.c.card, card_revision.c.revision)
_AUTHORITY = select_recorded(select(authority.c.seq).where(seen(authority), authority.c.code == bindparam("code")))


def _name_erased_objections(reader: LogReader) -> frozenset[str]:
    return frozenset(find_erased_objections(reader, None))


def _read_spec_disputes(reader: LogReader) -> dict[Reference, list[tuple[int, str]]]:
    disputes: dict[Reference, list[tuple[int, str]]] = defaultdict(list)
    for concern in find_concerns(reader, (SPEC_DISPUTES,), None):
        # The name is empty for an objection of a claim.
        if concern.name and concern.own:
            disputes[concern.name, concern.revision].append((concern.seq, concern.own))
    return disputes


class _Gatherer:
    def __init__(self, reader: LogReader, *, skips_erased: bool) -> None:
        self._reader = reader
        self._skipped = reader.once("erased_objections", lambda: _name_erased_objections(reader)) if skips_erased else frozenset()
        self._finder = FactFinder(reader)
        self._lineage = self._finder.lineage
        self._shared = {"log_origin": reader.log_origin, "log_size": reader.log_size, "today": reader.today}
        # Caches per reading. They hold for one last entry only, so they belong to this object and
        # not to the module.
        self._get_specs = cache(self._read_specs)
        self._get_card = cache(self._read_card)
        self._get_model = cache(self._read_model)
        self._get_model_events = cache(self._read_model_events)
        self._get_objection = cache(lambda name: get_objection(reader, name))
        self._authorities: dict[str, tuple[Recorded[Any], ...]] = {}

    def build(self, claims: Sequence[str], revision: int | None) -> Iterator[Dossier]:
        concerns = group_concerns(find_concerns(self._reader, OF_CLAIM, claims), claims)
        statements = self._read_statements([concern for named in concerns.values() for concern in named])
        endpoints = EndpointIndex(self._reader, claims)
        known = {claim: _pick(statements, concerns[claim], "claim_revision") for claim in claims}
        # "Seen from revision n" hides later revisions. The status is computed for that revision,
        # and later ones are reported as a cause.
        seen = {claim: revisions if revision is None else revisions[:revision] for claim, revisions in known.items()}
        statuses, families = self._derive([revisions[-1] for revisions in seen.values() if revisions])
        for claim in claims:
            parts: dict[str, Any] = {name: _pick(statements, concerns[claim], table) for name, table in _OWN.items()}
            parts |= self._shared | {"claim": claim, "revisions": seen[claim]}
            # A reserved claim has events but no revision, so nothing else can be gathered.
            if not seen[claim]:
                yield Dossier(**parts, status=self._finder.reserved_status(claim))
                continue
            current = seen[claim][-1]
            parts["audits"] = tuple(get_audit(self._reader, name) for _, name in _list_own(concerns[claim], AUDITS))
            parts["monitors"] = tuple(get_monitor(self._reader, name) for _, name in _list_own(concerns[claim], MONITORS))
            disputed = _list_own(concerns[claim], DISPUTES)
            parts |= self._gather_shared(current.payload, parts["audits"], disputed)
            parts["model_events"] = self._get_model_events(tuple(dict.fromkeys(recorded.payload.model for recorded in seen[claim])))
            entries = endpoints.list_entries(current.payload.model, claim)
            parts["model_endpoints"] = read_endpoint_statements(self._reader, entries) if entries else ()
            status = _see_newer(statuses[current.entry.seq], shown=current, newest=known[claim][-1])
            later = known[claim][len(seen[claim]) :]
            parts |= {"later": later, "family": families[current.entry.seq]}
            yield Dossier(**parts, status=status, authorities=self._find_authorities(_flatten(parts.values())))

    def _read_statements(self, concerns: Sequence[Concern]) -> dict[int, Recorded[Any]]:
        """Return the statements of *concerns* that a dossier shows as they are, by entry; erased reviews are left out."""
        # What an erased review decided stands in its rows, so the claim can still be told of.
        table = "staleness_review"
        wanted = {concern.seq for concern in concerns if concern.table in {"claim_revision", *_OWN.values()} - {table}}
        if reviews := [concern.seq for concern in concerns if concern.table == table]:
            wanted |= {row.seq for row in self._reader.rows_in(select(body.c.seq).where(self._reader.visible(body)), body.c.seq, reviews)}
        return {recorded.entry.seq: recorded for recorded in self._reader.recorded(wanted)}

    def _gather_shared(self, claim: ClaimRevision, audits: Sequence[AuditFile], disputed: Sequence[tuple[int, str]]) -> dict[str, Any]:
        references = _list_references(claim, audits)
        specs, newer = self._get_specs(references)
        card, newer_cards = self._get_card(claim.card)
        model, successors = self._get_model(claim.model)
        # An objection to a definition that the claim, or a lock of its audits, refers to concerns
        # the claim as well.
        of_specs = (dispute for reference in references for dispute in self._spec_disputes.get(reference, ()))
        names = [name for _, name in sorted({*disputed, *of_specs})]
        # A replay under a rival names its objection even if that objection targets a newer
        # definition.
        replayed = (file.audit.payload.objection for file in audits)
        names += [name for name in dict.fromkeys(replayed) if name is not None and name not in names]
        return {
            "card": card,
            "newer_cards": newer_cards,
            "model": model,
            "successors": successors,
            "specs": specs,
            "newer_specs": newer,
            "objections": tuple(self._get_objection(name) for name in names if name not in self._skipped),
            "reveals": find_reveals(self._reader, _list_sealed(specs)),
        }

    def _derive(self, current: Sequence[Recorded[ClaimRevision]]) -> tuple[dict[int, Status], dict[int, Family]]:
        heads = get_heads(self._reader, [revision.entry.seq for revision in current])
        families = self._finder.find_families(heads)
        statuses = self._finder.statuses(heads, families)
        numbers = [head.seq for head in heads]
        return dict(zip(numbers, statuses, strict=True)), dict(zip(numbers, families, strict=True))

    @cached_property
    def _spec_disputes(self) -> dict[Reference, list[tuple[int, str]]]:
        """The objections of definitions, each with its entry, by what they are against."""
        return self._reader.once("spec_disputes", lambda: _read_spec_disputes(self._reader))

    def _read_specs(self, references: tuple[Reference, ...]) -> tuple[tuple[Recorded[Any], ...], tuple[Recorded[Any], ...]]:
        current: list[Recorded[Any]] = []
        newer: list[Recorded[Any]] = []
        for name, version in references:
            for recorded in self._reader.recorded_of(_SPECS_SINCE, name=name, number=version):
                (newer if recorded.payload.version > version else current).append(recorded)
        return tuple(current), tuple(newer)

    def _read_card(self, reference: str | None) -> tuple[Recorded[Any] | None, tuple[Recorded[Any], ...]]:
        if reference is None:
            return None, ()
        name, revision = split_reference(reference)
        card, *newer = self._reader.recorded_of(_CARDS_SINCE, name=name, number=revision)
        return card, tuple(newer)

    def _read_model(self, model: ModelRef) -> tuple[Recorded[Any] | None, tuple[Recorded[Any], ...]]:
        return find_model(self._reader, model), find_successors(self._reader, self._lineage, model)

    def _read_model_events(self, models: tuple[ModelRef, ...]) -> tuple[Recorded[ModelEvent], ...]:
        return find_model_events(self._reader, self._lineage.list_entries(models))

    def _find_authorities(self, recorded: Iterable[Recorded[Any]]) -> tuple[Recorded[Any], ...]:
        codes: set[str] = set()
        for statement in recorded:
            codes.add(statement.entry.actor)
            # The payload types name people in different fields. A field that is missing simply
            # names no one.
            codes |= {
                value for name in ("auditor", "owner", "by", "to") if isinstance(value := getattr(statement.payload, name, None), str)
            }
        for code in codes - self._authorities.keys():
            self._authorities[code] = self._reader.recorded_of(_AUTHORITY, code=code)
        authorities = (party for code in codes for party in self._authorities[code])
        return tuple(sorted(authorities, key=lambda party: party.entry.seq))


def _see_newer(status: Status, *, shown: Recorded[ClaimRevision], newest: Recorded[ClaimRevision]) -> Status:
    """Return *status* as one sees it from the revision *shown*, where *newest* is the claim's last."""
    if shown == newest:
        return status
    payload = newest.payload
    text = f"the claim has a newer revision, @{payload.revision}"
    causes = (StaleCause(kind=CauseKind.REVISION, what=payload.reference, entry=newest.entry.seq, text=text), *status.causes)
    # A confirmed cause stays the stronger one. A newer revision alone makes the older one
    # needs review.
    staleness = Staleness.STALE if status.staleness is Staleness.STALE else Staleness.NEEDS_REVIEW
    return replace(status, staleness=staleness, stale_because=tuple(cause.text for cause in causes), causes=causes)


def _list_references(claim: ClaimRevision, audits: Sequence[AuditFile]) -> tuple[Reference, ...]:
    """Return what *claim* refers to, then what locks of its audits fix and what their replays asked beside that."""
    # Locks of audits of other revisions fixed other definitions and do not belong to this revision.
    own = [audit_file for audit_file in audits if audit_file.audit.payload.claim == claim.reference]
    locks = (audit_file.lock.payload for audit_file in own if audit_file.lock)
    named = (
        claim.property,
        claim.scoring,
        claim.test_context,
        *claim.deploy_contexts,
        *(name for lock in locks for name in list_locked(lock)),
        *(name for file in own for name in _list_replayed_contexts(file)),
    )
    return tuple(dict.fromkeys(split_reference(name) for name in named if name))


def _list_replayed_contexts(file: AuditFile) -> Iterator[str]:
    """Give the registered contexts of both sides that the scores of *file* are of."""
    origins = [*(run.payload.provenance for run in file.runs), *(restriction.payload.provenance for restriction in file.restrictions)]
    for replayed in (origin.replayed for origin in origins if origin is not None):
        yield from (name for arm in ("test", "deploy") if replayed for name in replayed.list_references(arm))


def _list_sealed(specs: Sequence[Recorded[SpecVersion]]) -> list[Reference]:
    return [(spec.payload.spec, spec.payload.version) for spec in specs if spec.payload.body is None]


def _flatten(parts: Iterable[Any]) -> Iterator[Recorded[Any]]:
    for part in parts:
        match part:
            case Recorded():
                yield part
            case tuple():
                yield from _flatten(part)
            case AuditFile():
                statements = (part.audit, part.lock, part.runs, part.results, part.evidence, part.restrictions, part.findings)
                yield from _flatten((*statements, part.starts, part.ends, part.withdrawn))
            case MonitorFile():
                yield from _flatten((part.monitor, part.windows, part.incidents, part.ended, part.forecasts, part.scores))
            case ObjectionFile():
                yield from _flatten((part.objection, part.events, part.replays))
            case _:
                pass


# The audit trail: entries with author and time, including those whose text was erased.


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailEntry:
    """One entry as the log still has it."""

    entry: Entry
    payload: Payload | None
    """None where its text was erased."""
    erased_by: Recorded[Erasure] | None = None
    """The entry that says why its text is gone, whenever it was said; None while it is here, and where it is gone without a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrailQuery:
    """Which entries are asked for; all conditions hold."""

    kinds: Collection[str] = ()
    """Empty for all."""
    actors: Collection[str] = ()
    """Authority codes; empty for all."""
    about: Identifier | None = None
    """Only statements that name it, in any revision, or belong to it as those of an audit belong to its claim."""
    start: int = 1
    stop: int | None = None
    """The last entry; None for the end."""
    last: int | None = None
    """Only so many, the latest; None for all."""
    first: int | None = None
    """Only so many, the earliest; None for all. Not together with `about`."""


def list_trail(reader: LogReader, wanted: TrailQuery) -> list[TrailEntry]:
    """Return the entries that are *wanted*, in log order.

    Raises:
        AlteredError: one of them is not what was recorded.
    """
    numbers = _find_entries(reader, wanted)
    traces: list[TrailEntry] = []
    # Decoded in chunks: a query for all entries would otherwise ask for more parameters than SQLite
    # allows.
    for start in range(0, len(numbers), CHUNK):
        traces += _read_trail(reader, numbers[start : start + CHUNK])
    return traces


def find_history_trail(reader: LogReader, name: Identifier) -> tuple[TrailEntry, ...]:
    """Return every entry about *name*, as `find_history`, in log order; without the payload where it was erased."""
    return tuple(_read_trail(reader, sorted(find_history_entries(reader, name))))


def _find_entries(reader: LogReader, wanted: TrailQuery) -> list[int]:
    conditions: list[ColumnElement[bool]] = [reader.visible(entry), entry.c.seq >= wanted.start]
    if wanted.stop is not None:
        conditions.append(entry.c.seq <= wanted.stop)
    if wanted.kinds:
        conditions.append(entry.c.kind.in_(sorted(wanted.kinds)))
    if wanted.actors:
        conditions.append(entry.c.actor.in_(sorted(wanted.actors)))
    chosen = select(entry.c.seq).where(*conditions).order_by(entry.c.seq).limit(wanted.first)
    numbers = [row[0] for row in reader.rows(chosen)]
    if wanted.about is not None:
        named = _find_named(reader, wanted.about)
        numbers = [seq for seq in numbers if seq in named]
    return numbers if wanted.last is None else numbers[-wanted.last :]


def _find_named(reader: LogReader, name: Identifier) -> set[int]:
    """A check character ends every identifier, so none is the beginning of another. An erased statement is found by its rows."""
    texts = select(body.c.seq).where(reader.visible(body), body.c.json.contains(name.bare, autoescape=True))
    return {row[0] for row in reader.rows(texts)} | set(find_history_entries(reader, name))


def _read_trail(reader: LogReader, numbers: list[int]) -> Iterator[TrailEntry]:
    there = {row[0] for row in reader.rows(select(body.c.seq).where(body.c.log == reader.log_id, body.c.seq.in_(numbers)))}
    recorded = {statement.entry.seq: statement for statement in reader.recorded(there)}
    gone = [seq for seq in numbers if seq not in there]
    selection = select(erasure.c.seq).where(erasure.c.log == reader.log_id, erasure.c.erased.in_(gone))
    erasures = {statement.payload.erased: statement for statement in reader.recorded_by(selection)}
    for seq in numbers:
        if seq in recorded:
            yield TrailEntry(entry=recorded[seq].entry, payload=recorded[seq].payload)
        elif (place := reader.find_entry(seq)) is not None:
            yield TrailEntry(entry=place, payload=None, erased_by=erasures.get(seq))
