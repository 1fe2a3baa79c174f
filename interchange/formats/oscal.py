"""OSCAL 1.2.1 assessment results: one finding on the claim, with the figures as observations and the locked plan in the back matter."""

from typing import Any

from interchange.formats.export_record import METHOD, ExportedFile, ExportRequest, format_moment, format_number, make_uuid, write_json
from interchange.formats.outcome_facts import ReplaySide, find_estimate, list_arms, read_outcome
from registry.records.supplement import AuditPart, Supplement
from registry.report.claim_outcome import describe_restricted

LOST = (
    "θ and direction, beyond properties of our namespace",
    "Evaluation Differential as a quantity",
    "restricted text, beyond a description",
    "objections",
    "staleness",
    "history",
    "proof",
)
NAMESPACE = "urn:x-caveat:oscal"
"""Of our properties: OSCAL has no words for them."""
_CONTROL = "trace-5.4"


def map_oscal(request: ExportRequest) -> tuple[ExportedFile, ...]:
    """Return the assessment results."""
    supplement = request.record.claim
    audit = supplement.audit
    if audit is None or audit.outcome is None:
        raise ValueError("the catalogue of formats refuses a claim without an outcome")
    document = {
        "uuid": make_uuid(request, "oscal"),
        "metadata": _build_metadata(request, supplement),
        "import-ap": {"href": f"#{make_uuid(request, 'oscal/plan')}"},
        "results": [_build_result(request, supplement, audit)],
        "back-matter": {"resources": [_describe_plan(request, audit), _describe_record(request)]},
    }
    return (ExportedFile(path=f"{request.record.name}.oscal.json", content=write_json({"assessment-results": document})),)


def _prop(name: str, value: str) -> dict[str, str]:
    # OSCAL allows no empty value and no space at either end.
    return {"name": name, "ns": NAMESPACE, "value": " ".join(value.split()) or "none"}


def _build_metadata(request: ExportRequest, supplement: Supplement) -> dict[str, Any]:
    audit = supplement.audit
    author = supplement.claimant if audit is None else audit.auditor
    party = make_uuid(request, "oscal/auditor")
    return {
        "title": f"{request.record.title}, assessed by {METHOD}",
        "last-modified": _moment(supplement),
        "version": str(supplement.claim.payload.revision),
        "oscal-version": "1.2.1",
        "props": [
            _prop("record-sha256", request.record.sha256),
            _prop("program", f"{request.program.name} {request.program.version}"),
            *(_prop("lost", text) for text in LOST),
        ],
        "roles": [{"id": "assessor", "title": "Auditor"}],
        "parties": [{"uuid": party, "type": "organization", "name": author.name or author.code}],
        "responsible-parties": [{"role-id": "assessor", "party-uuids": [party]}],
    }


def _moment(supplement: Supplement) -> str:
    return format_moment(supplement.made_at).replace("Z", "+00:00")


def _build_result(request: ExportRequest, supplement: Supplement, audit: AuditPart) -> dict[str, Any]:
    outcome = read_outcome(supplement)
    began = audit.runs[0].payload.started_at if audit.runs else audit.opening.entry.at
    observations = [_observe(request, supplement, arm) for arm in list_arms(supplement)]
    # OSCAL has two states. All but an established "holds" is not satisfied, and the remarks say what it is.
    status = {
        "state": "satisfied" if outcome.holds else "not-satisfied",
        "reason": "other",
        "remarks": f"{outcome.words}; class {outcome.label}",
    }
    finding: dict[str, Any] = {
        "uuid": make_uuid(request, "oscal/finding"),
        "title": "Deployment claim",
        "description": outcome.sentence,
        "target": {
            "type": "statement-id",
            "target-id": f"{_CONTROL}_smt",
            "title": " ".join(supplement.attributed.split()),
            "status": status,
        },
        "props": _list_facts(supplement),
    }
    if observations:
        finding["related-observations"] = [{"observation-uuid": observation["uuid"]} for observation in observations]
    result: dict[str, Any] = {
        "uuid": make_uuid(request, "oscal/result"),
        "title": outcome.words,
        "description": (describe_restricted(supplement.audit) if supplement.audit else None) or outcome.sentence,
        "start": format_moment(began).replace("Z", "+00:00"),
        "local-definitions": {"components": [_describe_model(request, supplement)]},
        "reviewed-controls": {"control-selections": [{"include-controls": [{"control-id": _CONTROL}]}]},
        "findings": [finding],
    }
    return result | ({"observations": observations} if observations else {})


def _list_facts(supplement: Supplement) -> list[dict[str, str]]:
    claim, outcome = supplement.claim.payload, read_outcome(supplement)
    facts = {
        "class": None if outcome.class_ is None else outcome.class_.value,
        "mode": None if outcome.mode is None else outcome.mode.value,
        "verdict": None if outcome.verdict is None else outcome.verdict.value,
        "verdict-standing": None if outcome.standing is None else outcome.standing.value,
        "theta": None if claim.theta is None else format_number(claim.theta),
        "relation": claim.relation,
        "direction": claim.direction.value,
        "independence": None if supplement.audit is None else supplement.audit.opening.payload.independence.value,
    }
    return [_prop(name, value) for name, value in facts.items() if value is not None]


def _observe(request: ExportRequest, supplement: Supplement, arm: ReplaySide) -> dict[str, Any]:
    estimate = find_estimate(supplement)
    figure = arm.figure
    facts = {
        "value": format_number(figure.value),
        "low": None if figure.low is None else format_number(figure.low),
        "high": None if figure.high is None else format_number(figure.high),
        "level": None if estimate is None or figure.low is None else format_number(estimate.level),
        "tasks": str(arm.tasks),
        "contexts": str(arm.contexts),
        "responses": str(arm.responses),
        "judge": arm.judge,
    }
    side = "P_test" if arm.part == "test" else f"P_deploy:{arm.spec}"
    return {
        "uuid": make_uuid(request, f"oscal/{arm.name}"),
        "title": arm.name,
        "description": f"Mean score under {side}",
        "methods": ["TEST"],
        "subjects": [{"subject-uuid": make_uuid(request, "oscal/model"), "type": "component"}],
        "props": [_prop(name, value) for name, value in facts.items() if value is not None],
        "collected": _moment(supplement),
    }


def _describe_model(request: ExportRequest, supplement: Supplement) -> dict[str, Any]:
    model = supplement.claim.payload.model
    return {
        "uuid": make_uuid(request, "oscal/model"),
        "type": "software",
        "title": f"{model.name} {model.version}",
        "description": f"Model version of {model.developer}",
        "status": {"state": "operational"},
    }


def _describe_plan(request: ExportRequest, audit: AuditPart) -> dict[str, Any]:
    name = audit.opening.payload.audit
    if audit.lock is None:
        return {"uuid": make_uuid(request, "oscal/plan"), "title": f"Audit {name}, without a lock before the run"}
    lock = audit.lock.entry
    note = [_prop("lock-entry", str(lock.seq)), _prop("lock-entry-hash", lock.leaf), _prop("locked-at", format_moment(lock.at))]
    return {"uuid": make_uuid(request, "oscal/plan"), "title": f"Locked plan {name}", "props": note}


def _describe_record(request: ExportRequest) -> dict[str, Any]:
    link = {"href": request.record.file_name, "hashes": [{"algorithm": "SHA-256", "value": request.record.sha256}]}
    return {"uuid": make_uuid(request, "oscal/record"), "title": "Canonical record", "rlinks": [link]}
