"""Payloads to typed rows, private to the store; and what makes two claims the same claim."""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from registry.codec.canonical_documents import canonical_bytes, to_document
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
from registry.records.system_card import Card, Omission, PassageMatch, Survey
from registry.records.verdict import Restriction
from registry.store.database_tables import IMPORTED, OWN_LOG

# What makes two claims the same claim. Decision of 2026-11-21: a natural key of card without
# revision, property, form, model and quotation. The same key with the same content: nothing to do.
# The same key with other content is refused without a reason, and becomes a revision with one. The
# cost: the same words cannot be registered twice for one property.

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True).encode


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
    return hashlib.sha256(_encode(parts).encode()).hexdigest()


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


def _authority(said: Authority, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "authority", (*here, said.code, said.name, said.role.value)


def _model(said: ModelVersion, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    model, before = said.model, said.predecessor
    predecessor = (before.developer, before.name, before.version) if before else (None, None, None)
    yield "model_version", (*here, model.developer, model.name, model.version, *predecessor)


def _spec(said: SpecVersion, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    kind = said.kind.value
    if said.version == 1:
        yield "spec", (*here, said.spec, kind, said.slug, said.owner)
    # The body is stored for searching. A sealed version has only its commitment until it is
    # revealed.
    body = None if said.body is None else canonical_bytes(_leave_out_later(to_document(said.body))).decode()
    yield "spec_version", (*here, said.spec, kind, said.version, body, _raw(said.commitment), said.why)


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


def _card(said: Card, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    names = (said.card, said.revision, plain(said.title), plain(said.publisher), said.media_type.value)
    yield "card_revision", (*here, *names, _raw(said.document), _raw(said.text), said.why)


def _claim(said: ClaimRevision, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    card, card_revision = split_reference(said.card) if said.card is not None else (None, None)
    yield (
        "claim_revision",
        (
            *here,
            said.claim,
            said.revision,
            bytes.fromhex(natural_key(said)),
            said.quote_status.value,
            said.form.value,
            said.relation.value if said.relation else None,
            said.theta,
            said.direction.value,
            plain(said.model.developer),
            plain(said.model.name),
            plain(said.model.version),
            card,
            card_revision,
            *_typed(said.property, "property"),
            *_typed(said.scoring, "scoring"),
            *_typed(said.test_context, "test_context"),
            1 if said.why else 0,
        ),
    )
    # Quote and note go to a table of their own that can be erased. The other columns hold no free
    # text of the claim.
    yield "claim_text", (*here, plain(said.quote), plain(said.note) if said.note else None)
    if said.anchor is not None:
        yield "claim_passage", (*here, said.anchor.start, said.anchor.stop)
    if said.origin is not None:
        original = split_reference(said.origin.claim)
        yield "claim_origin", (*here, plain(said.origin.log), *original, said.origin.seq, _raw(said.origin.leaf))
    for position, context in enumerate(said.deploy_contexts):
        yield "claim_context", (*here, position, *_typed(context, SpecKind.DEPLOY_CONTEXT.value))


def _event(said: ClaimEvent, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "claim_event", (*here, said.claim, said.event.value, said.successor, 1 if said.reason else 0)


def _relation(said: ClaimRelation, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "claim_relation", (*here, said.claim, said.relation.value, said.other)


def _audit(said: Audit, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "audit", (*here, said.audit, *split_reference(said.claim), said.auditor, said.independence.value)
    if said.contestation is not None:
        yield "audit_rival", (*here, said.audit, said.contestation)


def _lock(said: Lock, here: tuple[int, int], place: EntryPlace) -> Iterator[Row]:
    relation = said.relation.value if said.relation else None
    plan = (relation, said.theta, said.direction.value, said.plan.margin, said.plan.level)
    yield "lock", (*here, said.audit, *split_reference(said.claim), place.at, *plan)


def _run(said: Run, here: tuple[int, int], place: EntryPlace) -> Iterator[Row]:
    excluded = sum(one.count for one in said.excluded)
    counts = (said.responses, excluded, said.provenance.corpus_tasks)
    started = int(said.started_at.timestamp())
    # Without a lock the row gets entry 0, which the foreign key refuses. The rule reports it
    # earlier in better words.
    yield "run", (*here, said.audit, *(place.lock or (0, 0)), started, said.status.value, _raw(said.table), *counts)
    # An import also ends the run that was started under the lock.
    if said.start is not None:
        yield "run_end", (*here, said.audit, said.start, IMPORTED, said.responses + excluded)


def _run_start(said: RunStart, here: tuple[int, int], place: EntryPlace) -> Iterator[Row]:
    lock, _ = place.lock or (0, 0)
    yield "run_start", (*here, said.audit, lock, said.run)


def _run_end(said: RunEnd, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "run_end", (*here, said.audit, said.start, said.status.value, said.calls)


def _result(said: Result, here: tuple[int, int], place: EntryPlace) -> Iterator[Row]:
    lock, _ = place.lock or (0, 0)
    yield "result", (*here, said.audit, lock, said.run)
    for position, one in enumerate(said.estimate.specs):
        # An empty judge instead of NULL: NULLs are distinct in a unique constraint, so two rows of
        # one specification would both be accepted.
        ed = (one.ed.value, one.ed.low, one.ed.high)
        yield "estimate", (*here, position, one.spec, one.judge or "", *ed, one.n.tasks, place.corpus)


def _evidence(said: EvidenceStatement, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    one = said.evidence
    kind = one.kind.value if one.kind else None
    finding = one.finding.value if one.finding else None
    yield "evidence", (*here, said.audit, *split_reference(said.claim), one.layer.value, one.access.value, kind, finding)


def _finding(said: Finding, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "finding", (*here, said.audit, *split_reference(said.claim), said.kind.value)


def _restriction(said: Restriction, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    form = said.classification.primary.form.value
    for position, one in enumerate(said.classification.readings):
        standing = one.standing.value if one.standing else None
        mode = one.mode.value if one.mode else None
        target = (said.audit, *split_reference(said.claim), form, one.form.value)
        verdict = (one.class_.value, standing, mode, one.basis.value, said.result, one.resolves)
        yield "restriction", (*here, position, *target, *verdict)
        yield "verdict", (*here, position, one.verdict.value, one.verdict_standing.value if one.verdict_standing else None)
    if said.valid_until is not None:
        yield "outcome_validity", (*here, said.audit, said.valid_until.isoformat())
    asked = said.asked
    # Duplicates are removed in order: the same name may be expected and returned.
    for position, name in enumerate(dict.fromkeys((*asked.names_returned, *asked.names_expected)) if asked else ()):
        yield "asked_name", (*here, position, said.audit, plain(name))


def _contestation(said: Contestation, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    target = split_reference(said.target)
    pair = (*target, None, None) if said.target.startswith("CLM-") else (None, None, *target)
    rival = split_reference(said.rival) if said.rival is not None else (None, None)
    yield "contestation", (*here, said.contestation, *pair, said.by, *rival)


def _contestation_event(said: ContestationEvent, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "contestation_event", (*here, said.contestation, said.step.value)


def _publication(said: Publication, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    digests = (_raw(said.sha256), _raw(said.record), _raw(said.template))
    yield "publication", (*here, *split_reference(said.subject), said.audit, said.format.value, *digests, said.log_size)


def _survey(said: Survey, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "survey", (*here, *split_reference(said.card), plain(said.by))


def _omission(said: Omission, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    """The words stand in the statement alone, where they can be erased."""
    yield "omission", (*here, *split_reference(said.card), said.anchor.start, said.anchor.stop)


def _sighting(said: PassageMatch, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    span = (said.anchor.start, said.anchor.stop) if said.anchor else (None, None)
    yield "sighting", (*here, *split_reference(said.claim), *split_reference(said.card), said.fate.value, int(said.is_alarm), *span)


def _key_event(said: KeyEvent, here: tuple[int, int], place: EntryPlace) -> Iterator[Row]:
    names = (said.algorithm.value, said.purpose.value)
    yield "key_event", (*here, place.actor, said.event.value, _raw(said.key), *names, _raw(said.replaces), 1 if said.reason else 0)


def _log_import(said: LogImport, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "log_import", (*here, plain(said.origin), said.size, _raw(said.root))


def _witnessing(said: Witnessing, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "witnessing", (*here, plain(said.origin), said.size, _raw(said.root))


def _equivocation(said: Equivocation, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "equivocation", (*here, plain(said.origin))


def _erasure(said: Erasure, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "erasure", (*here, said.erased, _raw(said.leaf))


def _reveal(said: Reveal, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    """The body stands in the statement alone, where it can be erased."""
    yield "reveal", (*here, *split_reference(said.opening.spec))


def _deviation(said: Deviation, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "deviation", (*here, said.audit, said.item.value, int(said.found))


def _exploration(said: Exploration, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "exploration", (*here, said.audit, *split_reference(said.claim), _raw(said.scores))


def _model_event(said: ModelEvent, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    model, before = said.model, said.predecessor
    predecessor = (before.developer, before.name, before.version) if before else (None, None, None)
    descent = said.descent.value if said.descent else None
    link = (model.developer, model.name, model.version, said.event.value, *predecessor, descent)
    yield "model_event", (*here, *link, int(bool(said.reason)))


def _staleness_review(said: StalenessReview, here: tuple[int, int], _place: EntryPlace) -> Iterator[Row]:
    yield "staleness_review", (*here, *split_reference(said.claim), said.verdict.value)
    for position, one in enumerate(said.causes):
        yield "reviewed_cause", (*here, position, one.kind.value, plain(one.what))


def _model_endpoint(said: ModelEndpoint, here: tuple[int, int], place: EntryPlace) -> Iterator[Row]:
    model = said.model
    yield "model_endpoint", (*here, model.developer, model.name, model.version, said.event.value, plain(said.name), place.actor)


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


def _raw(digest: str | None) -> bytes | None:
    return None if digest is None else bytes.fromhex(digest)


def plain(words: str) -> str:
    """Return *words* without U+0000, which PostgreSQL cannot hold; the statement itself keeps it."""
    # Only the searchable copy changes. The statement itself can hold U+0000 in its JSON escape.
    return words.replace("\x00", "\ufffd")
