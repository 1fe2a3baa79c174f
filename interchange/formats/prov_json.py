"""PROV-JSON: the card, the claim quoted from it, the run, the outcome, and who is responsible for each."""

from typing import Any
from urllib.parse import quote

from interchange.formats.export_record import ExportRequest, format_moment, write_json
from interchange.formats.outcome_facts import describe_standing, read_outcome
from registry.records.claim import QuoteStatus
from registry.records.dossier import Recorded
from registry.records.replay_run import Run
from registry.records.supplement import AuditPart, SupplementParty
from registry.report.claim_outcome import describe_restricted

NAMESPACE = "urn:x-caveat:"
"""Of our identifiers and properties."""
_Table = dict[str, dict[str, Any]]


def write_provenance(request: ExportRequest) -> bytes:
    """Return the provenance of a claim as W3C PROV-JSON."""
    document = _Document()
    document.describe_claim(request)
    audit = request.record.claim.audit
    if audit is not None:
        document.describe_audit(request, audit)
    return write_json(document.build())


class _Document:
    """Elements and relations, by kind and then by name. Names of relations are counted: the same record gives the same document."""

    def __init__(self) -> None:
        self._parts: dict[str, _Table] = {}

    def build(self) -> dict[str, Any]:
        return {"prefix": {"caveat": NAMESPACE}, **self._parts}

    def describe_claim(self, request: ExportRequest) -> None:
        supplement = request.record.claim
        claim = self._add("entity", request.record.name, label=supplement.identifier, words=supplement.original)
        self._attribute(claim, supplement.claimant)
        card = supplement.card
        if card is not None:
            source = self._add("entity", f"{card.card}@{card.revision}", label=card.title, sha256=card.document)
            publisher = self._add("agent", f"publisher/{card.publisher}", label=card.publisher, kind="prov:Organization")
            self._relate("wasAttributedTo", entity=source, agent=publisher)
            is_verbatim = supplement.claim.payload.quote_status is QuoteStatus.VERBATIM
            self._relate("wasDerivedFrom", generatedEntity=claim, usedEntity=source, kind="prov:Quotation" if is_verbatim else None)
        record = self._add("entity", request.record.file_name, label=f"Record of {request.record.title}", sha256=request.record.sha256)
        self._relate("wasDerivedFrom", generatedEntity=record, usedEntity=claim)

    def describe_audit(self, request: ExportRequest, audit: AuditPart) -> None:
        supplement, opening = request.record.claim, audit.opening.payload
        auditor = self._agent(audit.auditor)
        plan = None
        if audit.lock is not None:
            entry = audit.lock.entry
            plan = self._add(
                "entity", f"{opening.audit}/plan", label="Locked plan", kind="prov:Plan", entry=str(entry.seq), entry_hash=entry.leaf
            )
            self._relate("wasGeneratedBy", entity=plan, activity=None, time=format_moment(entry.at))
        scores = [self._describe_run(run, request.record.name, plan, auditor) for run in audit.runs]
        if audit.outcome is None or (words := describe_restricted(audit)) is None:
            return
        name = f"{opening.audit}/outcome"
        said = f"{read_outcome(supplement).words}; {describe_standing(supplement)}"
        restricted = self._add("entity", name, label="Restricted claim", words=words, verdict=said)
        self._relate("wasDerivedFrom", generatedEntity=restricted, usedEntity=_qualify(request.record.name))
        for table in scores:
            self._relate("wasDerivedFrom", generatedEntity=restricted, usedEntity=table)
        self._relate("wasAttributedTo", entity=restricted, agent=auditor)
        self._relate("wasDerivedFrom", generatedEntity=_qualify(request.record.file_name), usedEntity=restricted)

    def _describe_run(self, run: Recorded[Run], claim: str, plan: str | None, auditor: str) -> str:
        payload, name = run.payload, f"{run.payload.audit}/run/{run.entry.seq}"
        times = {"prov:startTime": format_moment(payload.started_at)}
        if payload.finished_at is not None:
            times["prov:endTime"] = format_moment(payload.finished_at)
        activity = self._add("activity", name, label=f"Replay, {payload.status.value}", **times)
        self._relate("wasAssociatedWith", activity=activity, agent=auditor, plan=plan)
        self._relate("used", activity=activity, entity=_qualify(claim))
        table = self._add("entity", f"{name}/scores", label="Scores", sha256=payload.table, responses=str(payload.responses))
        self._relate("wasGeneratedBy", entity=table, activity=activity)
        return table

    def _attribute(self, entity: str, party: SupplementParty) -> None:
        self._relate("wasAttributedTo", entity=entity, agent=self._agent(party))

    def _agent(self, party: SupplementParty) -> str:
        return self._add("agent", party.code, label=party.name or party.code, kind="prov:Organization")

    def _add(self, part: str, name: str, *, label: str, kind: str | None = None, **properties: str) -> str:
        values: dict[str, Any] = {"prov:label": label}
        if kind is not None:
            values["prov:type"] = _as_name(kind)
        for key, value in properties.items():
            values[key if ":" in key else f"caveat:{key}"] = value
        self._parts.setdefault(part, {})[_qualify(name)] = values
        return _qualify(name)

    def _relate(self, relation: str, *, kind: str | None = None, **ends: str | None) -> None:
        table = self._parts.setdefault(relation, {})
        values: dict[str, Any] = {f"prov:{name}": value for name, value in ends.items() if value is not None}
        if kind is not None:
            values["prov:type"] = _as_name(kind)
        table[f"_:{relation}{len(table) + 1}"] = values


def _qualify(name: str) -> str:
    # A qualified name of PROV has no spaces, and publishers do.
    return f"caveat:{quote(name, safe='/@')}"


def _as_name(kind: str) -> dict[str, str]:
    return {"$": kind, "type": "prov:QUALIFIED_NAME"}
