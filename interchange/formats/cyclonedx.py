"""CycloneDX 1.7: an ML-BOM of the model version, whose declarations hold the claim, its restricted text and what was found."""

from typing import Any

from interchange.formats.export_record import (
    METHOD,
    METHOD_URL,
    ExportedFile,
    ExportRequest,
    format_moment,
    format_number,
    make_uuid,
    write_json,
)
from interchange.formats.outcome_facts import OutcomeFacts, ReplaySide, find_estimate, list_arms, read_outcome
from registry.records.estimates import BoundedEstimate, Differential
from registry.records.supplement import Supplement
from registry.records.verdict import Verdict
from registry.report.claim_outcome import describe_restricted

LOST = (
    "θ and direction, beyond the text",
    "level and method of intervals",
    "numbers of tasks and contexts",
    "objections",
    "staleness",
    "history",
    "proof",
)
_REQUIREMENT = "trace-deploy"
_UNFIXED = frozenset({Verdict.INCONCLUSIVE, Verdict.NOT_TESTABLE, Verdict.NOT_REPRODUCED})


def map_cyclonedx(request: ExportRequest) -> tuple[ExportedFile, ...]:
    """Return the BOM."""
    supplement = request.record.claim
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.7",
        "serialNumber": f"urn:uuid:{make_uuid(request, 'cyclonedx')}",
        "version": 1,
        "metadata": {
            "timestamp": format_moment(supplement.made_at),
            "tools": {"components": [{"type": "application", "name": request.program.name, "version": request.program.version}]},
            "component": _describe_model(supplement, "model", with_card=True),
            "properties": [
                {"name": "caveat:record", "value": request.record.title},
                {"name": "caveat:record-sha256", "value": request.record.sha256},
                *({"name": "caveat:lost", "value": text} for text in LOST),
            ],
        },
        "externalReferences": _list_references(request),
        "declarations": _build_declarations(request),
        "definitions": {"standards": [_describe_standard()]},
    }
    return (ExportedFile(path=f"{request.record.name}.cdx.json", content=write_json(document)),)


def _describe_model(supplement: Supplement, reference: str, *, with_card: bool = False) -> dict[str, Any]:
    model = supplement.claim.payload.model
    component: dict[str, Any] = {
        "type": "machine-learning-model",
        "bom-ref": reference,
        "name": model.name,
        "version": model.version,
        "supplier": {"name": model.developer},
    }
    return component | {"modelCard": _build_model_card(supplement)} if with_card else component


def _build_model_card(supplement: Supplement) -> dict[str, Any]:
    metrics = [_describe_figure(arm.name, arm.figure, slice_=_describe_arm(arm)) for arm in list_arms(supplement)]
    estimate = find_estimate(supplement)
    metrics += [
        _describe_figure("Evaluation Differential", spec.ed, slice_=f"phi_test - phi_deploy:{spec.spec}{_name_judge(spec.judge)}")
        for spec in (() if estimate is None else estimate.specs)
    ]
    card: dict[str, Any] = {"quantitativeAnalysis": {"performanceMetrics": metrics}} if metrics else {}
    outcome = supplement.outcome
    limits = [*(() if outcome is None else outcome.text.withdrawn), *(reason.text for reason in supplement.limits)]
    if limits:
        card["considerations"] = {"technicalLimitations": limits}
    return card


def _describe_figure(name: str, figure: BoundedEstimate | Differential, *, slice_: str) -> dict[str, Any]:
    metric: dict[str, Any] = {"type": name, "value": format_number(figure.value), "slice": slice_}
    # Without an interval the object is left out: an empty one would read as an exact figure.
    if figure.low is not None and figure.high is not None:
        metric["confidenceInterval"] = {"lowerBound": format_number(figure.low), "upperBound": format_number(figure.high)}
    return metric


def _describe_arm(arm: ReplaySide) -> str:
    side = "P_test" if arm.part == "test" else f"P_deploy:{arm.spec}"
    return f"{side}{_name_judge(arm.judge)}"


def _name_judge(judge: str | None) -> str:
    return "" if judge is None else f", judge {judge}"


def _list_references(request: ExportRequest) -> list[dict[str, Any]]:
    record, audit = request.record, request.record.claim.audit
    references: list[dict[str, Any]] = [
        {
            "type": "evidence",
            "url": record.file_name,
            "comment": "The canonical record that this BOM was made from",
            "hashes": [{"alg": "SHA-256", "content": record.sha256}],
        },
        {"type": "documentation", "url": METHOD_URL, "comment": METHOD},
    ]
    if audit is not None and audit.lock is not None:
        # An entry hash is a salted leaf of the log and the digest of no file, so it is no `hashes`.
        note = f"Locked plan, entry {audit.lock.entry.seq} of the log, entry hash {audit.lock.entry.leaf}"
        references.append({"type": "other", "url": f"urn:x-caveat:{audit.opening.payload.audit}", "comment": note})
    return references


def _build_declarations(request: ExportRequest) -> dict[str, Any]:
    record, supplement = request.record, request.record.claim
    outcome = read_outcome(supplement)
    arms = list_arms(supplement)
    evidence = [_describe_evidence(arm) for arm in arms]
    against = [item["bom-ref"] for item in evidence if item["bom-ref"] != "ev-phi_test"] if outcome.is_adverse else []
    support = [item["bom-ref"] for item in evidence if item["bom-ref"] not in against]
    original: dict[str, Any] = {
        "bom-ref": record.name,
        "target": "target",
        "predicate": supplement.attributed,
        "reasoning": f"{outcome.words}: {outcome.sentence}",
    }
    original |= {"evidence": support} if support else {}
    original |= {"counterEvidence": against} if against else {}
    claims = [original]
    restricted = describe_restricted(supplement.audit) if supplement.audit is not None else None
    if restricted is not None:
        second = {"bom-ref": f"{record.name}/restricted", "target": "target", "predicate": restricted}
        claims.append(second | ({"evidence": [item["bom-ref"] for item in evidence]} if evidence else {}))
    declarations: dict[str, Any] = {"targets": {"components": [_describe_model(supplement, "target")]}, "claims": claims}
    if evidence:
        declarations["evidence"] = evidence
    if supplement.audit is not None and restricted is not None:
        declarations["assessors"] = [_describe_assessor(supplement)]
        declarations["attestations"] = [_attest(record.name, outcome)]
    return declarations


def _describe_evidence(arm: ReplaySide) -> dict[str, Any]:
    side = "P_test" if arm.part == "test" else f"P_deploy:{arm.spec}"
    text = f"Mean under {side}: {arm.tasks} tasks, {arm.contexts} contexts, {arm.responses} responses{_name_judge(arm.judge)}"
    return {"bom-ref": f"ev-{arm.name}", "propertyName": arm.name, "description": text}


def _describe_assessor(supplement: Supplement) -> dict[str, Any]:
    audit = supplement.audit
    if audit is None:
        raise ValueError("a claim without an audit has no assessor")
    name = audit.auditor.name or audit.auditor.code
    return {"bom-ref": "assessor", "thirdParty": audit.opening.payload.independence.value == "third_party", "organization": {"name": name}}


def _attest(name: str, outcome: OutcomeFacts) -> dict[str, Any]:
    """Return what the assessor says. The original claim meets the requirement only where it holds, established.

    `conformance` and `confidence` are left out: the record has no score of either kind.
    """
    restricted = f"{name}/restricted"
    entry: dict[str, Any] = {"requirement": _REQUIREMENT}
    if outcome.holds:
        entry["claims"] = [name, restricted]
    elif outcome.verdict not in _UNFIXED:
        entry["claims"] = [restricted]
    if outcome.is_adverse:
        entry["counterClaims"] = [name]
    return {"summary": f"{outcome.words}: {outcome.sentence}", "assessor": "assessor", "map": [entry]}


def _describe_standard() -> dict[str, Any]:
    requirement = {"bom-ref": _REQUIREMENT, "identifier": "deployment", "title": "The claim holds under deployment-like contexts"}
    return {"bom-ref": "trace", "name": METHOD, "version": "1", "requirements": [requirement]}
