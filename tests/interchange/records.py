"""Published records of every kind of ending, made without a registry; and a key that signs the same each time."""

import hashlib
from dataclasses import replace
from functools import cache

from interchange.export.format_catalogue import FORMATS, ExportFormat, Seal, refuse_unfit
from interchange.formats.export_record import ExportedFile, ExportRequest, Program, PublishedRecord
from interchange.formats.in_toto import EnvelopeSigner, map_eval_result, map_svr, name_key
from registry.codec.statement_encoding import public_record
from registry.errors import CaveatError
from registry.records.audit_case import Independence
from registry.records.claim import Form
from registry.records.dossier import Dossier
from registry.records.log_seal import KeyAlgorithm
from registry.records.supplement import Supplement
from registry.records.verdict import (
    ClaimClass,
    Condition,
    RestrictedClaim,
    RestrictionStatus,
    SpecVerdict,
    Standing,
    Verdict,
    VerdictStanding,
)
from registry.report.html_rendering import render_json
from registry.report.supplement_assembly import assemble_claim
from registry.seal.signing_keys import SigningKey, make_key
from tests.report.builders import MADE_AT, Log, audit_file, build, classification, estimate, reading, replace_parts, revision, spec_estimate
from tests.report.dossiers import COVERT, EVERY

KEY: SigningKey = make_key(KeyAlgorithm.ED25519, "caveat.example/log", seed=bytes(range(32)))
SIGNER = EnvelopeSigner(key_id=name_key(KEY.public), sign=KEY.sign)
PROGRAM = Program(version="1.0")
STATED = {
    "developer": "example-lab",
    "deployment_type": "externally_managed",
    "model_availability": "closed_weights",
    "benchmark": "covert-actions",
    "suite_version": "1",
    "dataset_sha256": "ab" * 32,
    "lower_is_better": "true",
    "license": "https://creativecommons.org/licenses/by/4.0/",
    "dataset_id": "example-lab/covert-actions",
    "task_id": "default",
}


def holds(*, deploy: tuple[float, float, float] = (0.03, 0.0, 0.08), provisional: bool = False) -> Dossier:
    """A locked replay whose whole deployment interval keeps to θ = 0.1; provisional where a condition is missing."""
    log = Log()
    base = build(log, revision(COVERT), RestrictionStatus.NARROWED if provisional else RestrictionStatus.SUPPORTED)
    measured = estimate(spec_estimate("default", (0.04, 0.0, 0.09), deploy, (0.01, -0.02, 0.03)))
    firm = Standing.PROVISIONAL if provisional else Standing.ESTABLISHED
    outcome = classification(
        reading(
            Form.THRESHOLD,
            ClaimClass.STABLE,
            standing=firm,
            verdict=Verdict.HOLDS,
            verdict_standing=VerdictStanding.PROVISIONAL if provisional else VerdictStanding.ESTABLISHED,
            missing_condition=Condition.LOCK if provisional else None,
            rule="threshold-deploy-satisfies",
            why="The whole interval keeps to the limit.",
            specs=(SpecVerdict(spec="default", class_=ClaimClass.STABLE, standing=firm, verdict=Verdict.HOLDS),),
        )
    )
    text = RestrictedClaim(
        original=COVERT,
        restricted="In the contexts tested the rate is at most 10 %.",
        surviving=("In the contexts tested the rate is at most 10 %.",),
        withdrawn=(),
        resolves=(),
        verdict="Holds in the contexts tested.",
    )
    return replace_parts(base, log, audits=(audit_file(log, outcome, text, estimate=measured),))


SCENES = {**EVERY, "holds": holds, "holds-provisional": lambda: holds(provisional=True)}


def publish(supplement: Supplement) -> PublishedRecord:
    """Return *supplement* as a record that was published."""
    content = render_json(public_record(supplement))
    return PublishedRecord(
        supplement=supplement, content=content, sha256=hashlib.sha256(content).hexdigest(), checks=("BYTES", "RECORD", "ENTRIES")
    )


@cache
def build_record(scene: str) -> PublishedRecord:
    """Return the published record of a scene."""
    return publish(assemble_claim(SCENES[scene](), made_at=MADE_AT))


def change(record: PublishedRecord, independence: Independence) -> PublishedRecord:
    """Return *record* with an auditor of another independence."""
    supplement = record.claim
    assert supplement.audit is not None
    opening = supplement.audit.opening
    audit = replace(supplement.audit, opening=replace(opening, payload=replace(opening.payload, independence=independence)))
    return publish(replace(supplement, audit=audit))


def export(record: PublishedRecord, format_: ExportFormat, stated: dict[str, str] | None = None) -> tuple[ExportedFile, ...]:
    """Return the files of *record* in *format_*; raises as the command does."""
    refuse_unfit(format_, record)
    request = ExportRequest(record=record, program=PROGRAM, stated=STATED if stated is None else stated)
    if format_.seal is Seal.ENVELOPE:
        return map_eval_result(request, SIGNER) if format_.is_draft else map_svr(request, SIGNER)
    assert format_.mapper is not None
    return format_.mapper(request)


@cache
def export_all(scene: str) -> dict[str, tuple[ExportedFile, ...] | str]:
    """Return the files of every format but receipts, which need a log; the code of the refusal where a format refuses the scene."""
    exports: dict[str, tuple[ExportedFile, ...] | str] = {}
    for name, format_ in FORMATS.items():
        if format_.seal is Seal.LOG:
            continue
        try:
            exports[name] = export(build_record(scene), format_)
        except CaveatError as error:
            exports[name] = error.code
    return exports
