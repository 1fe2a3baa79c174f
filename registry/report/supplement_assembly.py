"""A dossier becomes a supplement: page one, figures, specifications, layers and the rows of a card."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from registry.completeness import check_claim
from registry.errors import ConflictError, Fault
from registry.records.claim import Form, QuoteStatus, find_spoken_of
from registry.records.claim_status import Dispute, Staleness
from registry.records.dossier import AuditFile, Dossier, ObjectionFile, Recorded
from registry.records.model_version import ModelRef
from registry.records.module_findings import Finding, RealismJudge
from registry.records.monitor import MonitorVerdict
from registry.records.specification import PropertySpec
from registry.records.supplement import (
    AuditPart,
    AuditSummary,
    CardSupplement,
    ClaimRow,
    Coverage,
    LayerPart,
    Section,
    SourceCard,
    SpecPart,
    SpecRole,
    StatusReason,
    Supplement,
    ThreeFigures,
)
from registry.records.system_card import Card
from registry.records.verdict import Restriction, is_expired
from registry.report.card_coverage import ReadRow, ReadWords
from registry.report.claim_outcome import (
    build_other_audits,
    build_three_figures,
    describe_own_verdict,
    find_claim_identity,
    find_counted,
    find_first_spec,
    find_leading,
    find_not_made,
    find_other_explorations,
    find_other_findings,
    find_party,
    find_standing_now,
    find_trace_now,
    join_leading,
)
from registry.report.minimum_reporting import build_audit_items, comes_from_endpoint, derive_layers
from registry.report.page_one import SCORER_FAILED, AuditEvidence, build_limits, describe_account, explain_outcome, is_replay_as_locked
from registry.report.status_account import describe_staleness
from registry.report.supplement_wording import describe_joint_error, format_verdict, name_model
from registry.report.version_drift import build_drift

# Page one has room for five reasons.
_MOST_REASONS = 5


def assemble_claim(dossier: Dossier, *, made_at: datetime, read: ReadRow | None = None, audit_file: AuditFile | None = None) -> Supplement:
    """Return the supplement of the claim in *dossier*, dated *made_at* (UTC).

    The outcome that counts leads (`find_leading`). A claim that was not audited gives a supplement that says so.

    Args:
        read: reads a row of a table in the claim's card.
        audit_file: the audit that leads whatever others found, for a page about this audit; of the current revision.

    Raises:
        ConflictError: the claim is only reserved, so there is nothing to print.
    """
    if not dossier.revisions:
        raise ConflictError(Fault("identifier-reserved", dossier.claim, "the identifier is reserved, but no claim was registered under it"))
    # The current revision is the subject. Outcomes of others on the same words come through the
    # family.
    current = dossier.current
    leading, outcome = (audit_file, next(reversed(audit_file.restrictions), None)) if audit_file else find_leading(dossier)
    audit = None if leading is None else _build_audit(dossier, leading, outcome)
    items = () if leading is None else build_audit_items(dossier, leading, outcome)
    specs = tuple(_build_specs(dossier))
    others = find_other_findings(dossier, leading)
    beside = tuple(build_other_audits(dossier, leading, outcome))
    evidence = _collect_evidence(audit, current.payload.model, others, beside)
    return Supplement(
        identifier=f"{current.payload.reference}#{current.entry.leaf[:16]}",
        made_at=made_at,
        log_origin=dossier.log_origin,
        log_size=dossier.log_size,
        claim=current,
        readable=_read_passage(dossier, dossier.card.payload, read) if dossier.card else None,
        claimant=find_party(dossier, current.entry.actor),
        status=dossier.status,
        verdict=_build_verdict(dossier, audit),
        figures=_build_figures(dossier, audit, _find_property(specs)),
        reasons=_keep_reasons(dossier, _build_reasons(dossier, evidence)),
        limits=tuple(build_limits(evidence)) if evidence else (),
        account=describe_account(current.payload, current.entry, audit, dossier.status),
        property=_find_property(specs),
        card=_build_card(dossier.card, dossier.newer_cards),
        specs=specs,
        layers=tuple(_build_layers(leading, audit)),
        audit=audit,
        checklist=items,
        not_made=find_not_made(
            # A model judge does not replace blind raters, so naturalness still counts as not made.
            finding.payload.kind
            for finding in (leading.findings if leading else ())
            if not isinstance(finding.payload.body, RealismJudge)
        ),
        objections=_find_objections(dossier),
        history=dossier.revisions,
        events=dossier.events,
        relations=dossier.relations,
        other_audits=beside,
        other_findings=others,
        other_explorations=find_other_explorations(dossier, leading),
        completeness=check_claim(dossier),
        # A match belongs to the revision whose passage was searched.
        passage_matches=tuple(
            passage_match for passage_match in dossier.passage_matches if passage_match.payload.claim == current.payload.reference
        ),
        drift=build_drift(dossier),
        reviews=dossier.reviews,
        model_events=dossier.model_events,
        monitors=dossier.monitors,
        model_endpoints=dossier.model_endpoints,
        models=(*((dossier.model,) if dossier.model else ()), *dossier.successors),
        family=dossier.family,
    )


def _collect_evidence(
    audit: AuditPart | None, model: ModelRef, others: Sequence[Recorded[Finding]], beside: tuple[AuditSummary, ...]
) -> AuditEvidence | None:
    """Return what the limits of an outcome follow from; None without an outcome."""
    if audit is None or audit.outcome is None:
        return None
    return AuditEvidence(
        audit=audit,
        outcome=audit.outcome.payload,
        model=model,
        findings=[finding.payload.body for finding in audit.findings],
        other_findings=[finding.payload.body for finding in others],
        other_audits=beside,
    )


def assemble_card(
    dossiers: Sequence[Dossier],
    card: Recorded[Card],
    *,
    coverage: Coverage | None = None,
    read: ReadWords | None = None,
    log_origin: str,
    log_size: int,
    made_at: datetime,
) -> CardSupplement:
    """Return the supplement of *card* with a row for every claim in *dossiers*, in the order of the card.

    Claims that are only reserved are named apart; claims that quote no place come last.

    Args:
        coverage: of the card revision; None leaves it untold.
        read: reads passages of the card revision; without it quotes are as they are in the file.
    """
    registered = [dossier for dossier in dossiers if dossier.revisions]
    source = _build_card(card, ())
    if source is None:
        raise ValueError("a card supplement needs its card")
    return CardSupplement(
        identifier=f"{card.payload.card}@{card.payload.revision}#{card.entry.leaf[:16]}",
        made_at=made_at,
        log_origin=log_origin,
        log_size=log_size,
        card=source,
        pages=len(card.payload.pages),
        claims=tuple(_build_row(dossier, _read_passage(dossier, card.payload, read)) for dossier in sorted(registered, key=_place)),
        reserved=tuple(sorted(dossier.claim for dossier in dossiers if not dossier.revisions)),
        coverage=coverage,
        objections=_list_each(registered),
    )


def _list_each(dossiers: Sequence[Dossier]) -> tuple[ObjectionFile, ...]:
    """Return the objections of many claims, each once, in log order."""
    by_number = {objection.objection.entry.seq: objection for dossier in dossiers for objection in dossier.objections}
    return tuple(by_number[seq] for seq in sorted(by_number))


def _build_audit(dossier: Dossier, file: AuditFile, outcome: Recorded[Restriction] | None) -> AuditPart:
    # An audit can hold several results; the outcome names the one it rests on.
    wanted = outcome.payload.result if outcome else None
    counted = find_counted(dossier, outcome) if outcome else None
    return AuditPart(
        opening=file.audit,
        auditor=find_party(dossier, file.audit.payload.auditor),
        lock=file.lock,
        runs=file.runs,
        result=next((result for result in file.results if result.entry.seq == wanted), None),
        outcome=outcome,
        findings=file.findings,
        starts=file.starts,
        ends=file.ends,
        deviations=file.deviations,
        explorations=file.explorations,
        asked_now=find_claim_identity(dossier, file),
        is_expired=outcome is not None and is_expired(outcome.payload.valid_until, dossier.today),
        opposed=counted.opposed if counted else None,
        withdrawn=file.withdrawn,
    )


def _build_figures(dossier: Dossier, audit: AuditPart | None, body: PropertySpec | None) -> ThreeFigures | None:
    claim = dossier.current.payload
    # A figure that the card gives for an earlier version is not compared with estimates of this
    # one.
    is_own = find_spoken_of([revision.payload for revision in dossier.revisions]) is None
    # The figures of another model are not those of the claim's.
    estimate = audit.estimate if audit and not (audit.outcome and audit.outcome.payload.is_of_other_model) else None
    return build_three_figures(
        claim.reported if is_own else None,
        estimate.specs if estimate else (),
        # The estimate's range was in force at the replay; the definition may have a newer version
        # since.
        range_=estimate.range if estimate else body.range if body else None,
        theta=claim.theta,
    )


def _build_verdict(dossier: Dossier, audit: AuditPart | None) -> str:
    rivals = [file for file in dossier.audits if file.audit.payload.claim == dossier.current.payload.reference]
    # An audit under a rival that was not upheld is no outcome. Saying "not audited" would hide it.
    if audit is None and dossier.family.gravest is None and (withdrawn := [rival for rival in rivals if rival.withdrawn is not None]):
        names = ", ".join(rival.audit.payload.audit for rival in withdrawn)
        return f"Not audited: {names} of this claim was withdrawn. Whether the claim holds in deployment is not known."
    if audit is None and rivals and dossier.family.gravest is None:
        names = ", ".join(dict.fromkeys(str(rival.audit.payload.objection) for rival in rivals))
        return (
            "This claim has no outcome under its own definitions. "
            f"Outcomes under the rival of {names} count only if the objection is upheld."
        )
    own = describe_own_verdict(audit) if audit else None
    # The gravest outcome of the family leads, even where this revision has one of its own.
    if (leading := join_leading(dossier.family, dossier.current.payload, own)) is not None:
        return leading
    if audit is not None:
        return "An audit is open and has no outcome yet: whether the claim holds in deployment is not known."
    # Outcomes on these very words exist, though on another property or version.
    if any(other.other_words is None for other in dossier.family.others):
        return "Not audited. Other claims on the same words have outcomes, listed below."
    return "Not audited: whether the claim holds in deployment is not known."


def _build_reasons(dossier: Dossier, evidence: AuditEvidence | None) -> Iterator[StatusReason]:
    """Yield why the status is what it is, the most important first; the caller keeps five."""
    # The reader must know first under which definition the outcome was measured.
    if evidence is not None and (under := evidence.audit.opening.payload.objection) is not None:
        text = f"This outcome is under the rival definition of {under}, which was upheld; the history has the other one."
        yield StatusReason(text=text, section=Section.HISTORY)
    if evidence is None and dossier.family.gravest is not None:
        text = "The leading outcome is of another revision or claim on the same words; its supplement has the estimates."
        yield StatusReason(text=text, section=Section.HISTORY)
    if evidence is not None and (reason := explain_outcome(evidence)) is not None:
        section = Section.JUDGE if evidence.primary.rule == SCORER_FAILED else Section.READINGS
        yield StatusReason(text=reason, section=section)
    if dossier.status.dispute is not Dispute.UNDISPUTED:
        # Objections to the claim itself are in its history, those to definitions with the contexts.
        objections, is_open = _find_objections(dossier), dossier.status.dispute is Dispute.CONTESTED
        concerned = any(not objection.is_settled for objection in objections) if is_open else bool(objections)
        what = "An objection to the claim, or to a definition that it rests on,"
        text = f"{what} is open." if is_open else f"{what} was upheld."
        yield StatusReason(text=text, section=Section.HISTORY if concerned else Section.CONTEXTS)
    if (stale := _build_stale_reason(dossier)) is not None:
        yield stale
    # The alarm of one of several monitors says less than that of the only one.
    if any(file.find_verdict(dossier.today) is MonitorVerdict.VIOLATED for file in dossier.monitors) and (
        joint_error := describe_joint_error(dossier.monitors, dossier.today)
    ):
        yield StatusReason(text=f"{joint_error}.", section=Section.HISTORY)


def _build_stale_reason(dossier: Dossier) -> StatusReason | None:
    claim = dossier.current.payload
    text = describe_staleness(dossier.status, dossier.reviews, claim=claim.reference, model=claim.model)
    return None if text is None else StatusReason(text=text, section=Section.HISTORY)


def _keep_reasons(dossier: Dossier, reasons: Iterable[StatusReason]) -> tuple[StatusReason, ...]:
    """Return five of *reasons*, of which staleness is one: first where a person confirmed it, else not left out for want of room."""
    every, stale = list(reasons), _build_stale_reason(dossier)
    if stale is None:
        return tuple(every[:_MOST_REASONS])
    # Not twice, wherever it stood.
    rest = [reason for reason in every if reason != stale]
    # A person confirmed it: that changes how everything else on the page is read.
    if dossier.status.staleness is Staleness.STALE:
        return (stale, *rest[: _MOST_REASONS - 1])
    # A possible staleness keeps its place, or takes the last one.
    return tuple(every[:_MOST_REASONS]) if stale in every[:_MOST_REASONS] else (*rest[: _MOST_REASONS - 1], stale)


def _build_specs(dossier: Dossier) -> Iterator[SpecPart]:
    claim = dossier.current.payload
    named = [
        (SpecRole.PROPERTY, claim.property),
        (SpecRole.SCORING, claim.scoring),
        (SpecRole.TEST, claim.test_context),
        *((SpecRole.DEPLOY, deploy_context) for deploy_context in claim.deploy_contexts),
    ]
    # A specification in a role of the claim is printed once, in that role.
    shown = {reference for _, reference in named if reference}
    others = [(SpecRole.OTHER, f"{spec.payload.spec}@{spec.payload.version}") for spec in dossier.specs]
    for role, reference in [*named, *(other for other in others if other[1] not in shown)]:
        if reference is not None:
            yield _build_spec(dossier, role, reference)


def _build_spec(dossier: Dossier, role: SpecRole, reference: str) -> SpecPart:
    bare = reference.split("@", maxsplit=1)[0]
    version = next((spec for spec in dossier.specs if f"{spec.payload.spec}@{spec.payload.version}" == reference), None)
    return SpecPart(
        role=role,
        reference=reference,
        owner=None if version is None else find_party(dossier, version.payload.owner),
        version=version,
        newer=max((newer_spec.payload.version for newer_spec in dossier.newer_specs if newer_spec.payload.spec == bare), default=None),
        objections=tuple(objection for objection in dossier.objections if objection.objection.payload.target == reference),
        reveal=next((reveal for reveal in dossier.reveals if reveal.payload.opening.spec == reference), None),
    )


def _find_property(specs: Sequence[SpecPart]) -> PropertySpec | None:
    for part in specs:
        if part.role is SpecRole.PROPERTY and part.version is not None:
            # The opened text of a sealed definition replaces its commitment.
            body = part.reveal.payload.opening.body if part.reveal else part.version.payload.body
            return body if isinstance(body, PropertySpec) else None
    return None


def _build_card(card: Recorded[Card] | None, newer: Sequence[Recorded[Card]]) -> SourceCard | None:
    # A claim can be registered without its card.
    if card is None:
        return None
    payload = card.payload
    return SourceCard(
        card=payload.card,
        revision=payload.revision,
        title=payload.title,
        publisher=payload.publisher,
        document=payload.document,
        published=payload.published,
        url=payload.url,
        entry=card.entry,
        newer=max((revision.payload.revision for revision in newer), default=None),
    )


def _build_layers(file: AuditFile | None, audit: AuditPart | None) -> Iterator[LayerPart]:
    """Yield all four layers, as what the audit did and what is stated make them."""
    evidence = file.evidence if file else ()
    states = derive_layers(
        [statement.payload.evidence for statement in evidence],
        [finding.payload.body for finding in (file.findings if file else ())],
        has_estimate=audit is not None and audit.estimate is not None and bool(audit.estimate.specs),
        through_endpoint=audit is not None and comes_from_endpoint(audit.origin),
    )
    for state in states:
        items = tuple(statement for statement in evidence if statement.payload.evidence.layer is state.layer)
        yield LayerPart(layer=state.layer, state=state, items=items)


def _find_objections(dossier: Dossier) -> tuple[ObjectionFile, ...]:
    """Those of the claim itself, and of definitions it does not rest on; those of its definitions stand with each of them."""
    # Objections to a definition are printed with it, so they are left out here.
    named = {part.reference for part in _build_specs(dossier)}
    return tuple(objection for objection in dossier.objections if objection.objection.payload.target not in named)


def _place(dossier: Dossier) -> tuple[int, str]:
    anchor = dossier.current.payload.anchor
    # Claims without a place in the card come last.
    return (anchor.start if anchor else 1 << 60, dossier.claim)


def _read_passage(dossier: Dossier, card: Card, read: ReadRow | None) -> str | None:
    """Return the claim's passage as a person reads it; None for what does not stand in *card*."""
    claim = dossier.current.payload
    # A paraphrase has no passage that could be read from the card.
    is_there = claim.anchor is not None and claim.anchor.document == card.document and claim.quote_status is QuoteStatus.VERBATIM
    return read(claim.anchor.start, claim.anchor.stop) if read and claim.anchor and is_there else None


def _build_row(dossier: Dossier, readable: str | None) -> ClaimRow:
    claim = dossier.current.payload
    leading, recorded = find_leading(dossier)
    outcome = recorded.payload if recorded else None
    estimate, specs = find_first_spec(leading, outcome) if leading and outcome else (None, 0)
    primary = outcome.classification.primary if outcome else None
    spoken_of = find_spoken_of([revision.payload for revision in dossier.revisions])
    # Without an outcome nothing of the audit goes into the row.
    audit = _build_audit(dossier, leading, recorded) if leading and recorded else None
    # An existence or prevalence claim has no limit that it could fail.
    bounded = claim.form not in (Form.EXISTENCE, Form.PREVALENCE)
    return ClaimRow(
        identifier=f"{claim.reference}#{dossier.current.entry.leaf[:16]}",
        page=claim.anchor.page if claim.anchor else None,
        section=claim.anchor.section if claim.anchor else None,
        quote=claim.quote,
        quote_status=claim.quote_status,
        form=claim.form,
        theta=claim.theta if bounded else None,
        restriction=dossier.status.restriction,
        status=dossier.status,
        class_=primary.class_ if primary else None,
        standing=find_trace_now(audit, primary),
        mode=primary.mode if primary else None,
        point_class=primary.printed_point_class if primary else None,
        verdict=describe_own_verdict(audit) if audit else None,
        auditor=find_party(dossier, leading.audit.payload.auditor) if leading and outcome else None,
        estimate=estimate,
        specs=specs,
        figures=_build_figures(dossier, audit, _find_property(tuple(_build_specs(dossier)))),
        verdict_words=format_verdict(primary.verdict, find_standing_now(audit, primary)) if primary else None,
        audits=len(dossier.audits),
        completeness=check_claim(dossier),
        property=_name_property(dossier),
        model=name_model(claim.model),
        spoken_of=name_model(spoken_of) if spoken_of else None,
        relation=claim.relation,
        reported=claim.reported.value if claim.reported else None,
        range=_find_range(dossier),
        readable=readable,
        objections=tuple(objection.objection.payload.objection for objection in dossier.objections),
        claim_entry=dossier.current.entry,
        outcome_entry=recorded.entry if recorded else None,
        is_locked=is_replay_as_locked(outcome) if outcome else None,
        independence=leading.audit.payload.independence if leading and outcome else None,
    )


def _find_range(dossier: Dossier) -> tuple[float, float] | None:
    body = _find_property(tuple(_build_specs(dossier)))
    return body.range if body else None


def _name_property(dossier: Dossier) -> str | None:
    body = _find_property(tuple(_build_specs(dossier)))
    return body.name if body else None
