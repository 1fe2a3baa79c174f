"""Every Eval Ever 0.3.0: one file for each side of a replay, below the folder that its datastore expects."""

import hashlib
import re
import uuid
from typing import Any

from interchange.formats.export_record import METHOD, ExportedFile, ExportRequest, FieldReader, format_number, write_json
from interchange.formats.outcome_facts import ReplaySide, find_estimate, list_arms, read_outcome
from registry.records.audit_case import Independence
from registry.records.claim import Direction, Relation
from registry.records.estimates import Estimate
from registry.records.supplement import Supplement
from registry.report.claim_outcome import describe_restricted

LOST = ("quote", "θ", "Evaluation Differential", "plan and lock", "history", "objections", "staleness", "proof")
_RELATIONSHIPS = {
    Independence.SELF: "first_party",
    Independence.THIRD_PARTY: "third_party",
    Independence.COMMISSIONED: "collaborative",
}
_METHODS = {"closed_form": "analytical", "guaranteed": "bounded difference", "anytime": "confidence sequence"}


def map_every_eval_ever(request: ExportRequest) -> tuple[ExportedFile, ...]:
    """Return one file a side.

    Raises:
        InputError: `export-field-missing`: developer, deployment or availability of the model are not stated, or scores have no range.
    """
    supplement = request.record.claim
    estimate = find_estimate(supplement)
    if estimate is None:
        raise ValueError("the catalogue of formats refuses a claim without an estimate")
    fields = FieldReader(request, "eee")
    model = supplement.claim.payload.model
    developer = _slug(fields.read("developer", "the developer's name on the hub, such as example-lab"))
    deployment = fields.read("deployment_type", "who ran the model", choices=("self_deployed", "externally_managed", "unknown"))
    availability = fields.read("model_availability", "whether weights are available", choices=("open_weights", "closed_weights", "unknown"))
    benchmark = _slug(request.stated.get("benchmark", "") or supplement.claim.payload.evaluation or "")
    if not benchmark:
        benchmark = _slug(fields.read("benchmark", "the name of the evaluation, which the claim does not state"))
    lower_is_better = _find_direction(supplement, fields)
    fields.refuse_missing()
    name = _slug(request.stated.get("model", "") or model.name)
    info = {
        "name": model.name,
        "id": f"{developer}/{name}",
        "developer": developer,
        "additional_details": {
            "deployment_type": deployment,
            "model_availability": availability,
            "version": model.version,
            "developer_as_registered": model.developer,
        },
    }
    files = []
    for arm in list_arms(supplement):
        score = _describe_score(supplement, arm, estimate, benchmark, lower_is_better=lower_is_better)
        document = _build_document(request, supplement, arm, info, score)
        path = f"data/{benchmark}/{developer}/{name}/{_make_name(request, arm)}.json"
        files.append(ExportedFile(path=path, content=write_json(document)))
    return tuple(files)


def _slug(text: str) -> str:
    """Return *text* as a portable name of a folder."""
    return re.sub(r"[^a-z0-9.]+", "-", text.casefold()).strip("-.")


def _make_name(request: ExportRequest, arm: ReplaySide) -> str:
    # The datastore takes version 4 alone; random bits are taken from a digest, so that the name stays the same.
    text = f"{request.record.supplement.log_origin}/{request.record.supplement.identifier}/eee/{arm.name}"
    return str(uuid.UUID(bytes=hashlib.sha256(text.encode()).digest()[:16], version=4))


def _build_document(
    request: ExportRequest, supplement: Supplement, arm: ReplaySide, info: dict[str, Any], score: dict[str, Any]
) -> dict[str, Any]:
    audit = supplement.audit
    if audit is None:
        raise ValueError("an estimate belongs to an audit")
    outcome = read_outcome(supplement)
    details = {
        "caveat_record_sha256": request.record.sha256,
        "caveat_verdict": outcome.words,
        "caveat_class": outcome.label,
        "caveat_restricted": describe_restricted(audit) or outcome.sentence,
        "caveat_method": METHOD,
        "caveat_title": request.record.title,
        "caveat_lost": "; ".join(LOST),
    }
    return {
        "schema_version": "0.3.0",
        "evaluation_id": f"caveat/{info['id'].replace('/', '_')}/{request.record.name}/{arm.name}",
        "evaluation_timestamp": str(int(_find_moment(supplement))),
        "retrieved_timestamp": str(int(supplement.made_at.timestamp())),
        "source_metadata": {
            "source_name": request.record.title,
            # Figures without a replay are a report on an evaluation, and no run of ours.
            "source_type": "evaluation_run" if audit.runs else "documentation",
            "source_organization_name": audit.auditor.name or audit.auditor.code,
            "evaluator_relationship": _RELATIONSHIPS[audit.opening.payload.independence],
            "additional_details": details,
        },
        "eval_library": {"name": request.program.name, "version": request.program.version},
        "model_info": info,
        "evaluation_results": [score],
    }


def _find_moment(supplement: Supplement) -> float:
    audit = supplement.audit
    return audit.runs[0].payload.started_at.timestamp() if audit is not None and audit.runs else supplement.made_at.timestamp()


def _find_direction(supplement: Supplement, fields: FieldReader) -> bool:
    claim = supplement.claim.payload
    if claim.direction is Direction.NOT_SAFETY:
        if claim.relation is not None:
            return claim.relation is Relation.AT_MOST
        return (
            fields.read("lower_is_better", "whether a lower score is better, which the claim does not state", choices=("true", "false"))
            == "true"
        )
    return claim.direction is Direction.LOWER_IS_SAFER


def _describe_score(
    supplement: Supplement, arm: ReplaySide, estimate: Estimate, benchmark: str, *, lower_is_better: bool
) -> dict[str, Any]:
    claim = supplement.claim.payload
    side = "P_test" if arm.part == "test" else f"P_deploy:{arm.spec}"
    score: dict[str, Any] = {
        "score": arm.figure.value,
        "details": {"arm": arm.name, "tasks": str(arm.tasks), "contexts": str(arm.contexts), **({"judge": arm.judge} if arm.judge else {})},
        "uncertainty": {"num_samples": arm.responses},
    }
    if arm.figure.low is not None and arm.figure.high is not None:
        interval = {
            "lower": arm.figure.low,
            "upper": arm.figure.high,
            "confidence_level": estimate.level,
            "method": _METHODS[estimate.interval],
        }
        score["uncertainty"]["confidence_interval"] = interval
    low, high = estimate.range
    property_ = supplement.property
    return {
        "evaluation_name": property_.name if property_ is not None else claim.property,
        "source_data": {"dataset_name": benchmark, "source_type": "other"},
        "metric_config": {
            "evaluation_description": side,
            "lower_is_better": lower_is_better,
            "score_type": "continuous",
            "min_score": low,
            "max_score": high,
            "additional_details": {"direction": claim.direction.value, "unit": f"score from {format_number(low)} to {format_number(high)}"},
        },
        "score_details": score,
    }
