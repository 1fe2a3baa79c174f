"""The formats of the documents for programs, from which the JSON Schemas and `/openapi.json` are made."""

from functools import cache
from typing import Any

from registry.cli.model_presenter import VersionPage
from registry.present.answer_formats import AnswerFormat, answer, group
from registry.records.claim import PropertyClass
from registry.records.claim_status import ObjectionState, Status
from registry.records.dossier import AuditFile, Inclusion, ObjectionFile, Recorded
from registry.records.estimates import Differential
from registry.records.log_seal import KeyAlgorithm, KeyPurpose
from registry.records.model_version import ModelRef
from registry.records.monitor import MonitorState, MonitorVerdict
from registry.records.record import Authority
from registry.records.specification import Reveal, SpecBody, SpecVersion
from registry.records.statement import Entry, Publication
from registry.records.supplement import CardSupplement, Supplement
from registry.records.verdict import ClaimClass, Mode, Standing
from registry.store.claim_listing import ClaimSummary

FAULT = group(code=str, where=str, found=str, advice=str | None)
_LOG = group(origin=str, size=int, root=str)


def list_formats() -> tuple[AnswerFormat, ...]:
    """Return the formats of the documents below `/api/1/` that no command prints, and of the files that describe a registry."""
    value = group(value=str, count=int, chosen=bool)
    monitoring = group(state=MonitorState, verdict=MonitorVerdict)
    claim = group(
        claim=str, digest=str | None, entry=int, quote=str | None, model=ModelRef | None, class_=str | None, status=Status,
        monitoring=monitoring | None,
    )  # fmt: skip
    traced = group(entry=Entry, record=dict[str, Any] | None, erased_by=int | None)
    listed = group(id=str, address=str, entry=Entry | None, record=dict[str, Any] | None, erased_by=int | None)
    key = group(
        fingerprint=str, purpose=KeyPurpose, algorithm=KeyAlgorithm, authority=str, in_force=bool, added=int, replaced=int | None,
        revoked=int | None, untrusted_from=str | None, vkey=str | None, certificate=str | None, public=str | None,
    )  # fmt: skip
    known = group(origin=str, own=bool, entries=int, checkpoint=int | None, cosigned_by=list[str], vkeys=list[str])
    change = group(field=str, before=Any, after=Any)
    state = group(code=str, where=str, found=str, since=str)
    return (
        answer("web-claims", (), log=_LOG, count=int, facets=dict[str, list[value]], items=list[claim], next=str | None),
        answer("web-entries", (), log=_LOG, entries=list[group(entry=Entry, statement=dict[str, Any] | None)], next=str | None),
        answer("web-index", (), log=_LOG, claims=list[group(claim=str, record=str)], feeds=list[str]),
        answer(
            "web-claim-line", (), ClaimSummary, log_size=int, log=str, registered=str, property_class=PropertyClass | None,
            class_=ClaimClass | None, standing=Standing | None, mode=Mode | None, ed=Differential | None, ed_spec=str | None,
        ),
        answer("web-records", (), log=_LOG, resource=str, items=list[listed], next=str | None),
        answer("web-history", (), log=_LOG, id=str, entries=list[traced], next=str | None),
        answer(
            "web-difference", (), log=_LOG, id=str, from_=int, to=int, reason=str | None, changes=list[change] | None,
            not_compared=str | None,
        ),
        answer("web-proof", (), log=_LOG, id=str, entries=list[Entry], inclusion=Inclusion, checkpoint=str | None),
        answer("web-audit", (), log=_LOG, id=str, audit=AuditFile),
        answer("web-objection", (), log=_LOG, id=str, owner=str, state=ObjectionState, objection=ObjectionFile),
        answer(
            "web-spec", (), log=_LOG, id=str, versions=int, version=Recorded[SpecVersion], sealed=bool, body=SpecBody | None,
            reveal=Recorded[Reveal] | None,
        ),
        answer("web-model", (), log=_LOG, id=str, model=VersionPage),
        answer("web-authority", (), log=_LOG, id=str, authority=Recorded[Authority], keys=list[key]),
        answer("web-publication", (), log=_LOG, id=str, publications=list[Recorded[Publication]]),
        answer("web-entry", (), log=_LOG, id=str, entry=Entry, statement=dict[str, Any] | None, erased_by=int | None),
        answer("web-logs", (), log=_LOG, items=list[known]),
        answer("web-log", (), log=_LOG, id=str, item=known),
        answer(
            "web-status", (), log=_LOG, last=Entry | None, claims=int | None, checkpoint=int | None, is_complete=bool, faults=list[state],
        ),
        answer("web-registry", (), log=_LOG, vkeys=list[str], verifier_sha256=str, documents=dict[str, str], contact=str | None),
        answer(
            "problem", (), type=str, title=str, status=int, where=str, found=str, advice=str | None, faults=list[FAULT],
        ),
    )  # fmt: skip


@cache
def build_schemas() -> dict[str, dict[str, Any]]:
    """Return the JSON Schema of each format by its name; those of the supplements too, which `caveat report --json` writes."""
    records = (AnswerFormat("supplement", (), Supplement), AnswerFormat("card-supplement", (), CardSupplement))
    return {format_.name: format_.build_schema() for format_ in (*list_formats(), *records)}
