"""in-toto Statements in DSSE: what the verifier checked (SVR v0.1), and as a draft the result of an evaluation (eval-result v0.2)."""

import hashlib
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from interchange.formats.export_record import ExportedFile, ExportRequest, FieldReader, format_moment, format_number, write_json
from interchange.formats.outcome_facts import find_reading, is_passed, list_arms, read_outcome
from registry.records.audit_case import Independence
from registry.records.record import Record
from registry.records.supplement import Supplement
from registry.seal.dsse_envelopes import encode_signed

SVR = "https://in-toto.io/attestation/svr/v0.1"
EVAL_RESULT = "https://b7n0de.com/attestation/eval-result/v0.2"
"""Provisional type of the draft in-toto/attestation#575, by its author."""
PAYLOAD_TYPE = "application/vnd.in-toto+json"
LOST_SVR = (
    "θ and direction",
    "figures and intervals",
    "Evaluation Differential",
    "verdict",
    "class",
    "restricted text",
    "objections",
    "staleness",
    "history",
)
LOST_EVAL_RESULT = (
    "intervals",
    "Evaluation Differential",
    "restricted text",
    "numbers of tasks and contexts",
    "independence: commissioned",
    "objections",
    "staleness",
    "history",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvelopeSigner(Record):
    """Who signs: a name for the key, and what signs bytes. Deterministic for Ed25519, and for ECDSA after RFC 6979."""

    key_id: str
    sign: Callable[[bytes], bytes]


def name_key(public: bytes) -> str:
    """Return the key identifier of a raw Ed25519 key: OpenSSH's fingerprint, as other DSSE implementations derive it."""
    kind = b"ssh-ed25519"
    wire = b"".join(len(part).to_bytes(4, "big") + part for part in (kind, public))
    return f"SHA256:{b64encode(hashlib.sha256(wire).digest()).decode().rstrip('=')}"


def write_envelope(statement: dict[str, Any], signer: EnvelopeSigner) -> bytes:
    """Return *statement* in a signed DSSE envelope. Its payload is canonical JSON: verifiers refuse anything else."""
    body = write_json(statement)
    signed = encode_signed(PAYLOAD_TYPE, body)
    envelope = {
        "payload": b64encode(body).decode(),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [{"keyid": signer.key_id, "sig": b64encode(signer.sign(signed)).decode()}],
    }
    return write_json(envelope)


def map_svr(request: ExportRequest, signer: EnvelopeSigner) -> tuple[ExportedFile, ...]:
    """Return the signed Statement of the checks that were made and answered with yes. No property says that the claim holds."""
    program = request.program
    predicate = {
        "verifier": {"id": f"urn:x-caveat:verify:{program.version}"},
        # The moment up to which the log was read: the same record gives the same bytes.
        "timeCreated": format_moment(request.record.supplement.made_at),
        "properties": [f"CAVEAT_{name}" for name in request.record.checks],
    }
    content = write_envelope(_build_statement(request, SVR, predicate), signer)
    return (ExportedFile(path=f"{request.record.name}.svr.dsse.json", content=content),)


def map_eval_result(request: ExportRequest, signer: EnvelopeSigner) -> tuple[ExportedFile, ...]:
    """Return the signed result of the evaluation, of the draft predicate.

    Raises:
        InputError: `export-field-missing`, with every required field that the record does not state.
    """
    predicate = _build_eval_result(request)
    content = write_envelope(_build_statement(request, EVAL_RESULT, predicate), signer)
    return (ExportedFile(path=f"{request.record.name}.eval.dsse.json", content=content),)


def _build_statement(request: ExportRequest, kind: str, predicate: dict[str, Any]) -> dict[str, Any]:
    subject = {"name": request.record.supplement.identifier, "digest": {"sha256": request.record.sha256}}
    return {"_type": "https://in-toto.io/Statement/v1", "subject": [subject], "predicateType": kind, "predicate": predicate}


def _build_eval_result(request: ExportRequest) -> dict[str, Any]:
    supplement = request.record.claim
    fields = FieldReader(request, "in-toto --draft")
    claim, audit = supplement.claim.payload, supplement.audit
    if claim.relation is None or claim.theta is None:
        fields.lack(
            "claims.threshold",
            "the format requires a threshold, and the claim has no published θ",
            advice="export it as SVR: leave --draft out",
        )
    runs = () if audit is None else audit.runs
    began = format_moment(runs[0].payload.started_at) if runs else fields.read("evaluated_at", "the time at which the run began (RFC 3339)")
    suite = claim.test_context or fields.read("suite_version", "the version of the evaluation")
    arms = list_arms(supplement)
    independence = None if audit is None else audit.opening.payload.independence
    predicate = {
        "evaluator": {"id": f"urn:x-caveat:{supplement.log_origin}:{supplement.claimant.code if audit is None else audit.auditor.code}"},
        "evaluatedAt": began,
        "subjectProfile": "receipt",
        "suite": {"name": claim.evaluation or _name_test(supplement) or suite, "version": suite},
        "sampleSize": runs[-1].payload.responses if runs else sum(arm.responses for arm in arms),
        # `commissioned` has no word of its own; the annotations of the evidence say it.
        "assuranceLevel": "third_party" if independence is Independence.THIRD_PARTY else "self_attested",
        "claims": [
            {
                "metric": arm.name,
                "comparator": claim.relation,
                "threshold": format_number(claim.theta),
                "passed": is_passed(supplement, arm),
            }
            for arm in arms
            if claim.relation is not None and claim.theta is not None
        ],
        "model": _describe_model(supplement),
        "dataset": _describe_tasks(supplement, fields),
        "harness": {"name": request.program.name, "version": request.program.version},
        "evidence": [_describe_record(request)],
    }
    if audit is not None and audit.lock is not None:
        predicate["preRegistration"] = {"alg": "sha256", "value": audit.lock.entry.leaf}
    fields.refuse_missing()
    return predicate


def _name_test(supplement: Supplement) -> str | None:
    lock = None if supplement.audit is None or supplement.audit.lock is None else supplement.audit.lock.payload
    return lock.test.name if lock is not None and lock.test is not None else None


def _describe_model(supplement: Supplement) -> dict[str, Any]:
    model = supplement.claim.payload.model
    name = {"developer": model.developer, "name": model.name, "version": model.version}
    # The record knows no weights: the digest is of the name, and says so.
    note = {"digest of": "canonical JSON of developer, name and version; not of weights", **name}
    return {"name": str(model), "digest": {"sha256": hashlib.sha256(write_json(name)).hexdigest()}, "annotations": note}


def _describe_tasks(supplement: Supplement, fields: FieldReader) -> dict[str, Any]:
    lock = None if supplement.audit is None or supplement.audit.lock is None else supplement.audit.lock.payload
    if lock is not None and lock.tasks is not None:
        note = {"digest of": "the task identifiers, sorted, one a line", "count": str(lock.tasks.count)}
        return {"name": "tasks", "digest": {"sha256": lock.tasks.sha256}, "annotations": note}
    stated = fields.read("dataset_sha256", "the SHA-256 of the tasks, which no lock of the audit fixes")
    return {"name": "tasks", "digest": {"sha256": stated}}


def _describe_record(request: ExportRequest) -> dict[str, Any]:
    outcome = read_outcome(request.record.claim)
    audit = request.record.claim.audit
    reading = find_reading(request.record.claim)
    notes = {
        "verdict": outcome.words,
        "class": None if outcome.class_ is None else outcome.class_.value,
        "mode": None if outcome.mode is None else outcome.mode.value,
        "independence": None if audit is None else audit.opening.payload.independence.value,
        "basis": None if reading is None else reading.basis.value,
        "passed": "true where the whole interval of a usable, locked replay keeps to the threshold; false: that is not shown",
        "title": request.record.title,
        "lost": "; ".join(LOST_EVAL_RESULT),
    }
    return {
        "uri": request.record.file_name,
        "mediaType": "application/json",
        "digest": {"sha256": request.record.sha256},
        "annotations": {name: value for name, value in notes.items() if value is not None},
    }
