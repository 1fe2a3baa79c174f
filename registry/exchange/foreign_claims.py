"""Claims of other registries: found for the same passage, and adopted under an identifier of one's own."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from registry.codec.statement_encoding import list_entries
from registry.errors import CaveatError, ConflictError, Fault, InputError, NotFoundError
from registry.exchange.foreign_logs import find_known
from registry.records.claim import ClaimRevision, Origin, QuoteStatus
from registry.records.claim_status import FamilyOutcome, Status
from registry.records.dossier import Dossier, Recorded
from registry.records.model_version import ModelVersion
from registry.records.record import Kind, Record, parse_identifier
from registry.records.specification import SpecBody, SpecVersion
from registry.registration.quote_checks import Quotes
from registry.registration.specification_registration import format_reference, register_spec
from registry.store.ledger import Ledger
from registry.store.log_integrity import check_rows
from registry.store.log_seals import list_equivocations, list_imports
from registry.store.log_writer import Writer
from registry.store.registry_view import View
from registry.store.statement_rules import find_adopted

# Claims in other registries on the same passage, as far as their logs were imported.


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignClaim(Record):
    """A claim about the same passage in another log."""

    origin: str
    """Name of the log."""
    is_doubtful: bool
    """Whether it signed two histories: readers may be shown another one."""
    claim: str
    """`CLM-…@n`."""
    status: Status | None
    """None where what the log says of the claim cannot be read; then nothing of an outcome is known either."""
    problem: str | None = None
    """Why it cannot be read: a text that was erased there, or entries that do not fit each other."""
    outcome: FamilyOutcome | None = None
    """The gravest outcome of the claim's family in that log; None where there is none."""


def find_elsewhere(ledger: Ledger, dossier: Dossier, *, as_of: int | None = None) -> tuple[ForeignClaim, ...]:
    """Return the claims of other logs about the passage that the claim of *dossier* quotes; empty where it quotes none.

    A passage is the same where the card's file has the same digest and the words are the same, whatever white space divides them.

    Args:
        as_of: an entry of this registry's own log; what was taken over later is not seen. None: everything is.
    """
    # A paraphrase has no exact words to compare.
    if not dossier.revisions or dossier.card is None or dossier.current.payload.quote_status is not QuoteStatus.VERBATIM:
        return ()
    with ledger.view(as_of) as view:
        imported = {log_import.payload.origin: log_import.payload.size for log_import in list_imports(view)}
        doubtful = {equivocation.payload.origin for equivocation in list_equivocations(view)}
    claims: list[ForeignClaim] = []
    for log in ledger.list_logs():
        # An imported log counts as of the view, the own log as a whole.
        size = log.size if log.is_own else imported.get(log.origin, 0)
        if log.origin == dossier.log_origin or not size:
            continue
        with ledger.view(size, log=None if log.is_own else log.origin) as other:
            claims += _find_same(other, dossier.current.payload, dossier.card.payload.document, is_doubtful=log.origin in doubtful)
    return tuple(claims)


def _find_same(view: View, claim: ClaimRevision, document: str, *, is_doubtful: bool) -> Iterator[ForeignClaim]:
    """A log that was taken over obeys its own registry's rules, and may have lost texts: what is here is shown whatever is there."""
    card = view.find_card_reference(document)
    for summary in () if card is None else view.list_claims(card=card):
        # White space is ignored, because extractors of different versions break lines differently.
        if summary.quote is None or summary.quote.split() != claim.quote.split():
            continue
        foreign_claim = ForeignClaim(
            origin=view.log_origin, is_doubtful=is_doubtful, claim=f"{summary.claim}@{summary.revision}", status=summary.status
        )
        try:
            yield _add_outcome(foreign_claim, view.dossier(summary.claim))
        # A foreign log may have lost texts or follow other rules. Its claim is listed with the
        # problem instead of stopping the page.
        except CaveatError as error:
            yield replace(foreign_claim, status=None, problem=f"{error.faults[0].where}: {error.faults[0].found}")


def _add_outcome(foreign_claim: ForeignClaim, dossier: Dossier) -> ForeignClaim:
    outcome = dossier.family.gravest
    return foreign_claim if outcome is None else replace(foreign_claim, outcome=outcome)


# Adoption: a claim of another registry's log is registered under an own identifier, so that it can
# be audited and objected to here.


@dataclass(frozen=True, slots=True, kw_only=True)
class AdoptionResult(Record):
    """Outcome of adopting a claim."""

    claim: str
    """The claim here, `CLM-…@n`."""
    origin: Origin
    entry: int
    """The entry of this registry's log that records it."""
    is_new: bool
    """Whether it was recorded now; False where it had been adopted before."""
    card: str | None
    """The card revision here that is the same file as the original's card; None where this registry has not got it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OriginalClaim:
    """A claim as the kept log has it."""

    recorded: Recorded[ClaimRevision]
    origin: Origin
    property: tuple[SpecVersion, SpecBody]
    scoring: tuple[SpecVersion, SpecBody] | None
    """None where the claim names none, or a sealed one."""
    document: str | None
    """SHA-256 of the card's file, hexadecimal; None for a claim without a card."""
    source: str
    """Where the words stand, in words."""


def adopt_claim(ledger: Ledger, log: str, claim: str, *, owner: str) -> AdoptionResult:
    """Register the claim *claim* (`CLM-…`, or `CLM-…@n`) of the kept log *log* as a claim of *owner*; the same again records nothing.

    Words, form, θ and model are the original's. Its property and scoring are registered as copies, for an identifier of another log means
    nothing here. Contexts are not copied: whoever audits states their own. A newer revision of an original that was adopted becomes a
    revision of the claim here.

    Raises:
        NotFoundError: the log was not taken over, or has no such claim; its text was erased.
        AlteredError: what is kept of the log is not what was taken over.
        InputError: its property is sealed.
    """
    original = _read_original(ledger, log, claim)
    with ledger.write(actor=owner) as writer:
        # The same revision again records nothing; a newer one becomes a revision of the adopted
        # claim.
        known = find_adopted(writer, original.origin)
        own = [
            (revision, is_same)
            for seq, is_same in known
            for revision in writer.recorded((seq,))
            if parse_identifier(revision.payload.claim, Kind.CLAIM).authority == owner
        ]
        # Adopting twice must not create two claims with one origin.
        same = [revision for revision, is_same in own if is_same]
        if same:
            here = same[-1]
            return AdoptionResult(
                claim=here.payload.reference, origin=original.origin, entry=here.entry.seq, is_new=False, card=here.payload.card
            )
        adopted = _build(writer, original, owner)
        adopted = _number(writer, adopted, own[-1][0].payload.claim if own else None, owner)
        entry = writer.append(adopted)
    return AdoptionResult(claim=adopted.reference, origin=original.origin, entry=entry.seq, is_new=True, card=adopted.card)


def _read_original(ledger: Ledger, log: str, claim: str) -> OriginalClaim:
    last = find_known(ledger, log).last
    if last is None:
        with ledger.view() as view:
            problem = f"nothing of the log {log} was taken over into {view.log_origin or 'this registry'}"
        raise NotFoundError(Fault("log-not-found", log, problem, advice="take it over first: caveat admin bundle read FILE"))
    with ledger.view(last.size, log=log) as kept:
        dossier = kept.dossier(claim)
        if not dossier.revisions:
            raise ConflictError(Fault("identifier-reserved", claim, "is only reserved in that log, and has no text to adopt"))
        # The rows of the imported log decide which statements belong to the claim, so they are
        # compared with the statements first.
        check_rows(kept, list_entries(dossier), {dossier.claim})
        return _open(kept, dossier, log)


def _open(kept: View, dossier: Dossier, log: str) -> OriginalClaim:
    recorded = dossier.current
    payload = recorded.payload
    phi = _open_spec(kept, payload.property)
    # Form and θ mean nothing without a readable property.
    if phi is None:
        problem = f"its property {payload.property} is sealed in the log {log}; a claim needs a property that can be read"
        raise InputError(Fault("spec-sealed", payload.reference, problem, advice="ask its owner to reveal it (caveat spec reveal)"))
    card = dossier.card.payload if dossier.card else None
    return OriginalClaim(
        recorded=recorded,
        origin=Origin(log=log, claim=payload.reference, seq=recorded.entry.seq, leaf=recorded.entry.leaf),
        property=phi,
        scoring=None if payload.scoring is None else _open_spec(kept, payload.scoring),
        document=card.document if card else None,
        source=f"{card.title}, {card.publisher} ({payload.card} in the log {log})" if card else payload.source or f"the log {log}",
    )


def _open_spec(kept: View, reference: str) -> tuple[SpecVersion, SpecBody] | None:
    spec = kept.find_spec(reference)
    body = None if spec is None else kept.open_spec(spec.payload)
    return None if spec is None or body is None else (spec.payload, body)


def _build(writer: Writer, original: OriginalClaim, owner: str) -> ClaimRevision:
    payload = original.recorded.payload
    # Lineage needs a registered version. The note says where the name came from.
    if writer.find_model(payload.model) is None:
        writer.append(ModelVersion(model=payload.model, note=f"as claims of the log {original.origin.log} name it"))
    reference = writer.find_card_reference(original.document) if original.document else None
    anchor = None
    if reference is not None and payload.anchor is not None:
        quotes = Quotes(writer, default=reference, where=payload.reference)
        anchor = quotes.find(quotes.get_card(None, payload.reference), payload.quote, page=payload.anchor.page, where=payload.reference)
    return replace(
        payload,
        property=_copy(writer, original.property, owner, payload.claim),
        scoring=None if original.scoring is None else _copy(writer, original.scoring, owner, payload.claim),
        # Contexts are not copied: the auditor here defines their own.
        test_context=None,
        deploy_contexts=(),
        card=reference,
        anchor=anchor,
        source=None if reference else original.source,
        origin=original.origin,
    )


def _copy(writer: Writer, spec: tuple[SpecVersion, SpecBody], owner: str, claim: str) -> str:
    """Return the identifier of a copy of *spec*; where its short name is taken by another body, under a name with the other authority."""
    version, body = spec
    authority = parse_identifier(claim, Kind.CLAIM).authority.lower()
    try:
        copied, _ = register_spec(writer, version.kind, version.slug, body, owner=owner)
    # The short name is taken by another definition here. A name with the other authority's code
    # avoids the conflict.
    except CaveatError:
        copied, _ = register_spec(writer, version.kind, f"{version.slug}-{authority}", body, owner=owner)
    return format_reference(copied)


def _number(writer: Writer, claim: ClaimRevision, earlier: str | None, owner: str) -> ClaimRevision:
    if earlier is None:
        return replace(claim, claim=writer.allocate(Kind.CLAIM, owner)[0], revision=1, why=None)
    current = writer.find_claim(earlier)
    number = current.payload.revision + 1 if current else 1
    origin = claim.origin.claim if claim.origin else ""
    return replace(claim, claim=earlier, revision=number, why=f"adopts another revision of the original, {origin}")
