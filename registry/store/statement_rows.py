"""Payloads to typed rows, private to the store; and what makes two claims the same claim."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from registry.codec.canonical_documents import canonical_bytes, digest, to_document
from registry.records.analysis_plan import Deviation, Exploration, Lock
from registry.records.audit_case import Audit, EvidenceStatement, Result
from registry.records.claim import ClaimEvent, ClaimEventKind, ClaimRelation, ClaimRevision
from registry.records.claim_status import Contestation, ContestationEvent, StalenessReview
from registry.records.log_seal import Equivocation, Erasure, KeyEvent, LogImport, Witnessing
from registry.records.model_version import ModelEndpoint, ModelEvent, ModelVersion
from registry.records.module_findings import Finding
from registry.records.record import Authority, parse_identifier
from registry.records.replay_run import Run, RunEnd, RunStart
from registry.records.specification import Reveal, SpecKind, SpecVersion
from registry.records.statement import Payload, Publication
from registry.records.system_card import Anchor, Card, Omission, PassageMatch, Survey
from registry.records.verdict import Restriction
from registry.store.database_tables import IMPORTED, OWN_LOG

# What makes two claims the same claim. Decision of 2026-11-21: a natural key of card without
# revision, property, form, model and quotation. The same key with the same content: nothing to do.
# The same key with other content is refused without a reason, and becomes a revision with one. The
# cost: the same words cannot be registered twice for one property.


def natural_key(claim: ClaimRevision) -> str:
    """Return the SHA-256 (hexadecimal) of what a claim says, apart from its number, revision and figures.

    That is: the card without its revision (the source, for a claim without a card), the property without its version, the form, the model,
    and the quote with white space folded. Where the quote begins is left out: it moves when the card is revised, and the claim does not.
    """
    # The position of the quotation is not part of the key: it moves when the card is revised. White
    # space is folded because page breaks change it.
    parts = (
        claim.card.partition("@")[0] if claim.card else None,
        None if claim.card else claim.source,
        claim.property.partition("@")[0],
        claim.form.value,
        claim.model.developer,
        claim.model.name,
        claim.model.version,
        " ".join(claim.quote.split()),
    )
    return digest(parts)


# Payloads to typed rows. Private to the store: no other module sees a row.

Row = tuple[str, tuple[Any, ...]]
"""A table's name and the values of one row, in the order of its columns."""


NewIdentifier = tuple[str, str, str, int, int]
"""An identifier with its kind, authority, year and number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPlace:
    """Where a statement goes, and what its rows take from those before it."""

    seq: int
    at: int
    """Seconds since 1970, UTC."""
    new: "NewIdentifier | None" = None
    """The identifier that the statement is the first to use; None when it uses one that is known."""
    actor: str = ""
    """Code of who says it."""
    log: int = OWN_LOG
    """Number of the log."""
    lock: tuple[int, int] | None = None
    """Entry and time of the audit's lock."""
    corpus: int | None = None
    """Number of tasks in the corpus, as the run states it."""


def split_reference(reference: str) -> tuple[str, int]:
    """Return identifier and revision of `…@n`; raises ValueError if there is no revision."""
    identifier, _, revision = reference.rpartition("@")
    return identifier, int(revision)


def parse_new(name: str) -> NewIdentifier:
    """Return *name* with its parts; raises ValueError if it is no identifier."""
    parsed = parse_identifier(name)
    return name, parsed.kind.value, parsed.authority, parsed.year, parsed.number


def named_identifier(payload: Payload) -> str | None:
    """Return the identifier that *payload* would be the first to use; None for payloads that name nothing new."""
    name: str | None = None
    # Only these statements may use an identifier for the first time. A reservation uses it before
    # the first revision does.
    match payload:
        case ClaimRevision(revision=1) | ClaimEvent(event=ClaimEventKind.RESERVE):
            name = payload.claim
        case SpecVersion(version=1):
            name = payload.spec
        case Card(revision=1):
            name = payload.card
        case Audit():
            name = payload.audit
        case Contestation():
            name = payload.contestation
        case _:
            pass
    return name


def build_rows(payload: Payload, place: EntryPlace) -> Iterator[Row]:
    """Yield the rows of *payload*, each after those it refers to."""
    here = (place.log, place.seq)
    # The identifier row comes first, because other rows refer to it.
    if place.new:
        yield "identifier", (*here, *place.new)
    yield from _BUILDERS[type(payload)](payload, here, place)


def _authority(authority: Authority, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "authority", (*here, authority.code, authority.name, authority.role.value)


def _model(model_version: ModelVersion, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    model, before = model_version.model, model_version.predecessor
    predecessor = (before.developer, before.name, before.version) if before else (None, None, None)
    yield "model_version", (*here, model.developer, model.name, model.version, *predecessor)


def _spec(spec_version: SpecVersion, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    kind = spec_version.kind.value
    if spec_version.version == 1:
        yield "spec", (*here, spec_version.spec, kind, spec_version.slug, spec_version.owner)
    # The body is stored for searching. A sealed version has only its commitment until it is
    # revealed.
    body = None if spec_version.body is None else canonical_bytes(_leave_out_later(to_document(spec_version.body))).decode()
    yield "spec_version", (*here, spec_version.spec, kind, spec_version.version, body, _raw(spec_version.commitment), spec_version.why)


_LATER: Mapping[str, object] = {"procedure": None, "blocks": None, "edits": []}
_LATER_IN_CONTEXTS: Mapping[str, object] = {"messages": [], "tools": [], "scaffold": None}
"""Fields that specifications got after rows of them were written, with what stands in a statement that does not have them."""


def _leave_out_later(body: dict[str, Any]) -> dict[str, Any]:
    """Return *body* as it was written before it had the later fields, where they say nothing: a row stays what its statement gives."""
    kept = {name: value for name, value in body.items() if name not in _LATER or value != _LATER[name]}
    if "contexts" in kept:
        kept["contexts"] = [
            {name: value for name, value in one.items() if name not in _LATER_IN_CONTEXTS or value != _LATER_IN_CONTEXTS[name]}
            for one in kept["contexts"]
        ]
    return kept


def _card(card: Card, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    names = (card.card, card.revision, plain(card.title), plain(card.publisher), card.media_type.value)
    yield "card_revision", (*here, *names, _raw(card.document), _raw(card.text), card.why)


def _claim(claim_revision: ClaimRevision, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    card, card_revision = split_reference(claim_revision.card) if claim_revision.card is not None else (None, None)
    yield (
        "claim_revision",
        (
            *here,
            claim_revision.claim,
            claim_revision.revision,
            bytes.fromhex(natural_key(claim_revision)),
            claim_revision.quote_status.value,
            claim_revision.form.value,
            claim_revision.relation.value if claim_revision.relation else None,
            claim_revision.theta,
            claim_revision.direction.value,
            plain(claim_revision.model.developer),
            plain(claim_revision.model.name),
            plain(claim_revision.model.version),
            card,
            card_revision,
            *_typed(claim_revision.property, "property"),
            *_typed(claim_revision.scoring, "scoring"),
            *_typed(claim_revision.test_context, "test_context"),
            1 if claim_revision.why else 0,
        ),
    )
    # Quote and note go to a table of their own that can be erased. The other columns hold no free
    # text of the claim.
    yield "claim_text", (*here, plain(claim_revision.quote), plain(claim_revision.note) if claim_revision.note else None)
    if claim_revision.anchor is not None and claim_revision.card is not None:
        yield _place_of(here, claim_revision.reference, claim_revision.card, claim_revision.anchor)
    if claim_revision.origin is not None:
        original = split_reference(claim_revision.origin.claim)
        yield (
            "claim_origin",
            (*here, plain(claim_revision.origin.log), *original, claim_revision.origin.seq, _raw(claim_revision.origin.leaf)),
        )
    for position, context in enumerate(claim_revision.deploy_contexts):
        yield "claim_context", (*here, position, *_typed(context, SpecKind.DEPLOY_CONTEXT.value))


def _event(claim_event: ClaimEvent, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "claim_event", (*here, claim_event.claim, claim_event.event.value, claim_event.successor, 1 if claim_event.reason else 0)


def _relation(claim_relation: ClaimRelation, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "claim_relation", (*here, claim_relation.claim, claim_relation.relation.value, claim_relation.other)


def _audit(audit: Audit, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "audit", (*here, audit.audit, *split_reference(audit.claim), audit.auditor, audit.independence.value)
    if audit.contestation is not None:
        yield "audit_rival", (*here, audit.audit, audit.contestation)


def _lock(lock: Lock, here: tuple[int, int], place: EntryPlace) -> Iterator[Row]:
    relation = lock.relation.value if lock.relation else None
    plan = (relation, lock.theta, lock.direction.value, lock.plan.margin, lock.plan.level)
    yield "lock", (*here, lock.audit, *split_reference(lock.claim), place.at, *plan)


def _run(run: Run, here: tuple[int, int], place: EntryPlace) -> Iterator[Row]:
    excluded = sum(one.count for one in run.excluded)
    counts = (run.responses, excluded, run.provenance.corpus_tasks)
    started = int(run.started_at.timestamp())
    # Without a lock the row gets entry 0, which the foreign key refuses. The rule reports it
    # earlier in better words.
    yield "run", (*here, run.audit, *(place.lock or (0, 0)), started, run.status.value, _raw(run.table), *counts)
    # An import also ends the run that was started under the lock.
    if run.start is not None:
        yield "run_end", (*here, run.audit, run.start, IMPORTED, run.responses + excluded)


def _run_start(run_start: RunStart, here: tuple[int, int], place: EntryPlace) -> Iterator[Row]:
    lock, _ = place.lock or (0, 0)
    yield "run_start", (*here, run_start.audit, lock, run_start.run)


def _run_end(run_end: RunEnd, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "run_end", (*here, run_end.audit, run_end.start, run_end.status.value, run_end.calls)


def _result(said: Result, here: tuple[int, int], place: EntryPlace) -> Iterator[Row]:
    lock, _ = place.lock or (0, 0)
    yield "result", (*here, said.audit, lock, said.run)
    for position, spec in enumerate(said.estimate.specs):
        # An empty judge instead of NULL: NULLs are distinct in a unique constraint, so two rows of
        # one specification would both be accepted.
        ed = (spec.ed.value, spec.ed.low, spec.ed.high)
        yield "estimate", (*here, position, spec.spec, spec.judge or "", *ed, spec.n.tasks, place.corpus)


def _evidence(evidence_statement: EvidenceStatement, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    evidence = evidence_statement.evidence
    kind = evidence.kind.value if evidence.kind else None
    finding = evidence.finding.value if evidence.finding else None
    yield (
        "evidence",
        (
            *here,
            evidence_statement.audit,
            *split_reference(evidence_statement.claim),
            evidence.layer.value,
            evidence.access.value,
            kind,
            finding,
        ),
    )


def _finding(finding: Finding, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "finding", (*here, finding.audit, *split_reference(finding.claim), finding.kind.value)


def _restriction(restriction: Restriction, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    form = restriction.classification.primary.form.value
    for position, reading in enumerate(restriction.classification.readings):
        standing = reading.standing.value if reading.standing else None
        mode = reading.mode.value if reading.mode else None
        target = (restriction.audit, *split_reference(restriction.claim), form, reading.form.value)
        verdict = (reading.class_.value, standing, mode, reading.basis.value, restriction.result, reading.resolves)
        yield "restriction", (*here, position, *target, *verdict)
        yield "verdict", (*here, position, reading.verdict.value, reading.verdict_standing.value if reading.verdict_standing else None)
    if restriction.valid_until is not None:
        yield "outcome_validity", (*here, restriction.audit, restriction.valid_until.isoformat())
    asked = restriction.asked
    # Duplicates are removed in order: the same name may be expected and returned.
    for position, name in enumerate(dict.fromkeys((*asked.names_returned, *asked.names_expected)) if asked else ()):
        yield "asked_name", (*here, position, restriction.audit, plain(name))


def _contestation(contestation: Contestation, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    target = split_reference(contestation.target)
    pair = (*target, None, None) if contestation.target.startswith("CLM-") else (None, None, *target)
    rival = split_reference(contestation.rival) if contestation.rival is not None else (None, None)
    yield "contestation", (*here, contestation.contestation, *pair, contestation.by, *rival)


def _contestation_event(contestation_event: ContestationEvent, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "contestation_event", (*here, contestation_event.contestation, contestation_event.step.value)


def _publication(publication: Publication, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    digests = (_raw(publication.sha256), _raw(publication.record), _raw(publication.template))
    yield (
        "publication",
        (*here, *split_reference(publication.subject), publication.audit, publication.format.value, *digests, publication.log_size),
    )


def _survey(survey: Survey, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "survey", (*here, *split_reference(survey.card), plain(survey.by))


def _omission(omission: Omission, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    """The words stand in the statement alone, where they can be erased."""
    yield "omission", (*here, *split_reference(omission.card), omission.anchor.start, omission.anchor.stop)


def _sighting(passage_match: PassageMatch, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    span = (passage_match.anchor.start, passage_match.anchor.stop) if passage_match.anchor else (None, None)
    yield (
        "sighting",
        (
            *here,
            *split_reference(passage_match.claim),
            *split_reference(passage_match.card),
            passage_match.fate.value,
            int(passage_match.is_alarm),
            *span,
        ),
    )
    if passage_match.anchor is not None:
        yield _place_of(here, passage_match.claim, passage_match.card, passage_match.anchor)


def _key_event(key_event: KeyEvent, here: tuple[int, int], place: EntryPlace) -> Iterator[Row]:
    names = (key_event.algorithm.value, key_event.purpose.value)
    yield (
        "key_event",
        (*here, place.actor, key_event.event.value, _raw(key_event.key), *names, _raw(key_event.replaces), 1 if key_event.reason else 0),
    )


def _log_import(log_import: LogImport, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "log_import", (*here, plain(log_import.origin), log_import.size, _raw(log_import.root))


def _witnessing(witnessing: Witnessing, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "witnessing", (*here, plain(witnessing.origin), witnessing.size, _raw(witnessing.root))


def _equivocation(equivocation: Equivocation, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "equivocation", (*here, plain(equivocation.origin))


def _erasure(erasure: Erasure, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "erasure", (*here, erasure.erased, _raw(erasure.leaf))


def _reveal(reveal: Reveal, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    """The body stands in the statement alone, where it can be erased."""
    yield "reveal", (*here, *split_reference(reveal.opening.spec))


def _deviation(deviation: Deviation, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "deviation", (*here, deviation.audit, deviation.item.value, int(deviation.found))


def _exploration(exploration: Exploration, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "exploration", (*here, exploration.audit, *split_reference(exploration.claim), _raw(exploration.scores))


def _model_event(model_event: ModelEvent, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    model, before = model_event.model, model_event.predecessor
    predecessor = (before.developer, before.name, before.version) if before else (None, None, None)
    descent = model_event.descent.value if model_event.descent else None
    link = (model.developer, model.name, model.version, model_event.event.value, *predecessor, descent)
    yield "model_event", (*here, *link, int(bool(model_event.reason)))


def _staleness_review(staleness_review: StalenessReview, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "staleness_review", (*here, *split_reference(staleness_review.claim), staleness_review.verdict.value)
    for position, cause in enumerate(staleness_review.causes):
        yield "reviewed_cause", (*here, position, cause.kind.value, plain(cause.what))


def _model_endpoint(model_endpoint: ModelEndpoint, here: tuple[int, int], place: EntryPlace) -> Iterator[Row]:
    model = model_endpoint.model
    yield (
        "model_endpoint",
        (*here, model.developer, model.name, model.version, model_endpoint.event.value, plain(model_endpoint.name), place.actor),
    )


_BUILDERS: dict[type[Payload], Callable[[Any, tuple[int, int], EntryPlace], Iterator[Row]]] = {
    Authority: _authority,
    ModelVersion: _model,
    SpecVersion: _spec,
    Card: _card,
    ClaimRevision: _claim,
    ClaimEvent: _event,
    ClaimRelation: _relation,
    Audit: _audit,
    Lock: _lock,
    Run: _run,
    Result: _result,
    EvidenceStatement: _evidence,
    Finding: _finding,
    Restriction: _restriction,
    Contestation: _contestation,
    ContestationEvent: _contestation_event,
    Publication: _publication,
    Survey: _survey,
    Omission: _omission,
    PassageMatch: _sighting,
    KeyEvent: _key_event,
    LogImport: _log_import,
    Witnessing: _witnessing,
    Equivocation: _equivocation,
    Erasure: _erasure,
    Reveal: _reveal,
    Deviation: _deviation,
    Exploration: _exploration,
    ModelEvent: _model_event,
    StalenessReview: _staleness_review,
    ModelEndpoint: _model_endpoint,
    RunStart: _run_start,
    RunEnd: _run_end,
}


def _typed(reference: str | None, kind: str) -> tuple[str | None, int | None, str | None]:
    return (*split_reference(reference), kind) if reference is not None else (None, None, None)


def _place_of(here: tuple[int, int], claim: str, card: str, anchor: Anchor) -> Row:
    size = (anchor.stop - anchor.start).bit_length()
    return "claim_place", (*here, *split_reference(claim), *split_reference(card), size, anchor.start, anchor.stop)


def _raw(digest: str | None) -> bytes | None:
    return None if digest is None else bytes.fromhex(digest)


def plain(words: str) -> str:
    """Return *words* without U+0000, which PostgreSQL cannot hold; the statement itself keeps it."""
    # Only the searchable copy changes. The statement itself can hold U+0000 in its JSON escape.
    return words.replace("\x00", "\ufffd")
