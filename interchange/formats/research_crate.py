"""RO-Crate 1.1, for a recorded run with the profile Process Run Crate 0.5: a folder with the record, its proof and its provenance."""

import hashlib
from datetime import datetime
from typing import Any
from urllib.parse import quote

from interchange.formats.export_record import METHOD, METHOD_URL, ExportedFile, ExportRequest, FieldReader, format_moment, write_json
from interchange.formats.outcome_facts import describe_standing, read_outcome
from interchange.formats.prov_json import NAMESPACE, write_provenance
from registry.records.dossier import Recorded
from registry.records.replay_run import Run, RunStatus
from registry.records.supplement import AuditPart, Supplement, SupplementParty

LOST = (
    "θ and direction, outside the record in the crate",
    "figures and intervals, outside the record in the crate",
    "objections, outside the record in the crate",
    "history, outside the record in the crate",
    "supplement as PDF and HTML",
)
_CRATE = "https://w3id.org/ro/crate/1.1"
_PROCESS = "https://w3id.org/ro/wfrun/process/0.5"
_SHA256 = "https://w3id.org/ro/terms/workflow-run#sha256"
"""The term of Workflow Run RO-Crate; RO-Crate 1.1 has none for a digest."""
_Entity = dict[str, Any]


def map_research_crate(request: ExportRequest) -> tuple[ExportedFile, ...]:
    """Return the files of the crate, below `NAME.crate`.

    Raises:
        InputError: `export-field-missing`: the licence is not stated, which RO-Crate requires and no record has.
    """
    fields = FieldReader(request, "crate")
    license_ = fields.read("license", "the licence of the record, as a URL or in words")
    fields.refuse_missing()
    record = request.record
    contents = {record.file_name: (record.content, "application/json", f"Canonical record of {record.title}")}
    if record.proof is not None:
        title = "Proof that the log contains the publication of the record (C2SP tlog-proof)"
        contents[f"{record.file_name}.tlog-proof"] = (record.proof, "text/plain", title)
    contents[f"{record.name}.prov.json"] = (write_provenance(request), "application/json", "Provenance (W3C PROV-JSON)")
    graph = _build_graph(request, license_, [_describe_file(request, path, *content) for path, content in contents.items()])
    context = [f"{_CRATE}/context", {"sha256": _SHA256}]
    files = {path: content for path, (content, _, _) in contents.items()}
    files["ro-crate-metadata.json"] = write_json({"@context": context, "@graph": graph})
    return tuple(ExportedFile(path=f"{record.name}.crate/{path}", content=content) for path, content in files.items())


def _build_graph(request: ExportRequest, license_: str, files: list[_Entity]) -> list[_Entity]:
    supplement = request.record.claim
    runs = () if supplement.audit is None else supplement.audit.runs
    parties = {party.code: party for party in (supplement.claimant, *(() if supplement.audit is None else (supplement.audit.auditor,)))}
    actions = [entity for run in runs for entity in _describe_run(request, run)]
    descriptor = {"@id": "ro-crate-metadata.json", "@type": "CreativeWork", "conformsTo": _link(_CRATE), "about": _link("./")}
    return [
        descriptor,
        _describe_root(request, license_, files, [action["@id"] for action in actions if action["@type"] == "CreateAction"]),
        *([{"@id": license_, "@type": "CreativeWork", "name": license_, "description": "Licence of the record, as stated with the export"}]
          if _is_url(license_) else []),
        *files,
        *_describe_method(has_run=bool(runs)),
        *(_describe_party(party) for party in parties.values()),
        *_describe_card(supplement),
        *_describe_plan(supplement.audit),
        *([_describe_model(supplement)] if runs else []),
        *actions,
    ]  # fmt: skip


def _link(identifier: str) -> _Entity:
    return {"@id": identifier}


def _link_all(identifiers: list[str]) -> _Entity | list[_Entity]:
    """Return references; one alone without a list, as RO-Crate recommends."""
    links = [_link(identifier) for identifier in identifiers]
    return links[0] if len(links) == 1 else links


def _format_time(moment: datetime) -> str:
    # Workflow Run RO-Crate recommends an offset and no fractions.
    return format_moment(moment).replace("Z", "+00:00")


def _is_url(text: str) -> bool:
    return text.startswith(("https://", "http://")) and " " not in text


def _describe_root(request: ExportRequest, license_: str, files: list[_Entity], actions: list[str]) -> _Entity:
    supplement, outcome = request.record.claim, read_outcome(request.record.claim)
    verdict = f"Verdict: {outcome.words}; {describe_standing(supplement)}. {outcome.sentence}"
    description = f"Claim “{supplement.attributed}” on {supplement.claim.payload.model}. {verdict}"
    root: _Entity = {
        "@id": "./",
        "@type": "Dataset",
        "name": request.record.title,
        "description": " ".join(description.split()),
        "datePublished": f"{supplement.made_at:%Y-%m-%d}",
        "license": _link(license_) if _is_url(license_) else license_,
        "identifier": [supplement.identifier, f"sha256:{request.record.sha256}"],
        "author": _link(f"#{supplement.claimant.code}"),
        "hasPart": [_link(file["@id"]) for file in files],
        "about": _link(METHOD_URL),
    }
    if supplement.card is not None:
        root["citation"] = _link(f"#{supplement.card.card}@{supplement.card.revision}")
    # The profile is about executed tools: a claim without a recorded run conforms to none of it.
    if actions:
        root |= {"conformsTo": _link(_PROCESS), "mentions": _link_all(actions)}
    return root


def _describe_file(request: ExportRequest, path: str, content: bytes, media_type: str, title: str) -> _Entity:
    return {
        "@id": path,
        "@type": "File",
        "name": title,
        "encodingFormat": media_type,
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
        "description": f"{title}, as of entry {request.record.supplement.log_size} of the log {request.record.supplement.log_origin}",
    }


def _describe_method(*, has_run: bool) -> list[_Entity]:
    method = {"@id": METHOD_URL, "@type": "CreativeWork", "name": METHOD}
    profile = {"@id": _PROCESS, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    return [method, profile] if has_run else [method]


def _describe_party(party: SupplementParty) -> _Entity:
    return {"@id": f"#{party.code}", "@type": "Organization", "name": party.name or party.code, "identifier": f"{NAMESPACE}{party.code}"}


def _describe_card(supplement: Supplement) -> list[_Entity]:
    card = supplement.card
    if card is None:
        return []
    entity: _Entity = {
        "@id": f"#{card.card}@{card.revision}",
        "@type": "CreativeWork",
        "name": card.title,
        "publisher": card.publisher,
        "sha256": card.document,
        "description": "The system card that is quoted; the digest is of its file, which is not in this crate",
    }
    return [entity | ({"url": card.url} if card.url else {})]


def _describe_plan(audit: AuditPart | None) -> list[_Entity]:
    if audit is None or audit.lock is None:
        return []
    entry = audit.lock.entry
    return [
        {
            "@id": f"#{audit.opening.payload.audit}/plan",
            "@type": "CreativeWork",
            "name": f"Locked plan of {audit.opening.payload.audit}",
            "dateCreated": _format_time(entry.at),
            "description": f"Entry {entry.seq} of the log, entry hash {entry.leaf}",
        }
    ]


def _describe_model(supplement: Supplement) -> _Entity:
    model = supplement.claim.payload.model
    return {
        "@id": f"{NAMESPACE}model:{quote(str(model), safe='')}",
        "@type": "SoftwareApplication",
        "name": f"{model.developer} {model.name}",
        "softwareVersion": model.version,
        "description": "The model version that the claim is about, as it is registered",
    }


def _describe_run(request: ExportRequest, run: Recorded[Run]) -> list[_Entity]:
    supplement, payload = request.record.claim, run.payload
    audit = supplement.audit
    if audit is None:
        raise ValueError("a run belongs to an audit")
    name = f"#{payload.audit}/run/{run.entry.seq}"
    returned, requested = payload.provenance.model_returned, payload.provenance.model_requested
    asked = f"Model in the responses: {returned}" if returned else f"Model requested: {requested or 'not stated'}"
    scores = {
        "@id": f"{name}/scores",
        "@type": "CreativeWork",
        "name": f"Scores of {payload.responses} responses",
        "sha256": payload.table,
        "description": "The digest is of the score table, which is not in this crate",
    }
    action: _Entity = {
        "@id": name,
        "@type": "CreateAction",
        "name": f"Replay under {payload.audit}",
        "description": f"{asked}. Scores recorded in entry {run.entry.seq} of the log",
        "startTime": _format_time(payload.started_at),
        "instrument": _link(_describe_model(supplement)["@id"]),
        "agent": _link(f"#{audit.auditor.code}"),
        "result": [_link(scores["@id"]), _link(request.record.file_name)],
    }
    inputs = [entity["@id"] for entity in (*_describe_plan(audit), *_describe_card(supplement))]
    if inputs:
        action["object"] = _link_all(inputs)
    if payload.finished_at is not None:
        action["endTime"] = _format_time(payload.finished_at)
    ended = {RunStatus.COMPLETED: "CompletedActionStatus", RunStatus.FAILED: "FailedActionStatus", RunStatus.ABORTED: "FailedActionStatus"}
    return [action | {"actionStatus": f"http://schema.org/{ended[payload.status]}"}, scores]
