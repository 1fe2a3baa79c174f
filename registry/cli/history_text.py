"""How log entries and revisions look in a terminal and as JSON."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from registry.cli.backing_text import Backed, name_backing, print_legend, shorten_backing
from registry.cli.claim_text import shorten
from registry.cli.output import build_table
from registry.codec.documents import to_document
from registry.errors import Fault, NotFoundError
from registry.records.analysis_plan import Deviation, Exploration, Lock
from registry.records.audit_case import Audit, EvidenceStatement, Result
from registry.records.claim import ClaimEvent, ClaimRelation, ClaimRevision
from registry.records.claim_status import Contestation, ContestationEvent, StalenessReview
from registry.records.dossier import Dossier, Recorded
from registry.records.log_seal import Equivocation, Erasure, KeyEvent, LogImport, Witnessing
from registry.records.model_version import ModelEndpoint, ModelEvent, ModelVersion
from registry.records.module_findings import (
    Ablation,
    Finding,
    FindingBody,
    JudgeReport,
    Naturalness,
    RealismJudge,
    Recognition,
    RecognitionLinks,
    Shift,
)
from registry.records.record import Authority
from registry.records.replay_run import Run, RunEnd, RunStart
from registry.records.specification import Reveal, SpecVersion
from registry.records.statement import Payload, Publication
from registry.records.system_card import Card, Omission, PassageMatch, Survey
from registry.records.verdict import Restriction


def summarise_entry(one: Recorded[Payload], backed: Backed) -> dict[str, Any]:
    """Return a log entry with its payload, and who stands behind it, as a document."""
    return {"entry": to_document(one.entry), "payload": to_document(one.payload), "backed_by": name_backing(backed[one.entry.seq])}


def print_history(console: Console, said: Sequence[Recorded[Payload]], backed: Backed) -> None:
    """Print log entries, one line each, and who stands behind them."""
    rows = [
        (
            str(one.entry.seq),
            f"{one.entry.at:%Y-%m-%d %H:%M}",
            one.entry.actor,
            shorten_backing(backed[one.entry.seq]),
            one.entry.kind.value,
            describe(one.payload),
        )
        for one in said
    ]
    print_legend(console)
    console.print(build_table(("entry", "at", "by", "backed by", "kind", "what"), rows, numbers=("entry",)))


def describe(payload: Payload) -> str:
    """Return the gist of a payload on one line; what is made of identifiers alone is not shortened."""
    return _describe(payload) if isinstance(payload, PassageMatch) else shorten(_describe(payload))


def _describe(payload: Payload) -> str:  # noqa: C901, PLR0911, PLR0912  (one line for each kind of statement)
    match payload:
        case ClaimRevision():
            return f"{payload.reference} {payload.why or payload.quote}"
        case ClaimEvent():
            return " ".join(filter(None, (payload.claim, payload.event.value, payload.successor, payload.reason)))
        case ClaimRelation():
            return f"{payload.claim} {payload.relation.value} {payload.other}"
        case Audit():
            return f"{payload.audit} of {payload.claim} {payload.question or ''}"
        case Lock():
            theta = "" if payload.relation is None else f", {payload.relation.value} {_show_theta(payload.theta)}"
            return f"{payload.audit} margin {payload.plan.margin:g}, level {payload.plan.level:g}{theta}"
        case Run():
            return f"{payload.audit} {payload.responses} responses of {payload.started_at:%Y-%m-%d %H:%M} in {payload.source}"
        case RunStart():
            return f"{payload.audit} run started: {payload.planned:,} calls planned, model {payload.model}"
        case RunEnd():
            return f"{payload.audit} run of entry {payload.start} {payload.status.value} after {payload.calls:,} calls"
        case Result():
            return f"{payload.audit} " + ", ".join(f"ED {one.ed.value:+.3f} ({one.spec})" for one in payload.estimate.specs)
        case EvidenceStatement():
            one = payload.evidence
            return f"{payload.audit} {one.layer.value.replace('_', ' ')}: {one.summary or one.access.value}"
        case Finding():
            return f"{payload.audit} {payload.kind.value}: {_describe_finding(payload.body)}"
        case Restriction():
            return f"{payload.audit} {payload.text.verdict}"
        case Authority():
            return f"{payload.code} {payload.name} ({payload.role.value})"
        case Card():
            return f"{payload.card}@{payload.revision} {payload.why or payload.title}"
        case Contestation():
            return f"{payload.contestation} contests {payload.target}: {payload.grounds}"
        case ContestationEvent():
            return f"{payload.contestation} {payload.step.value}: {payload.note}"
        case ModelVersion():
            return f"{payload.model}" + (f", follows {payload.predecessor}" if payload.predecessor else "")
        case Publication():
            return f"{payload.subject} as {payload.format.value}, sha256 {payload.sha256[:16]}…"
        case Survey():
            noun = "passage" if len(payload.passages) == 1 else "passages"
            return f"{payload.card} {len(payload.passages)} {noun} proposed by {payload.by}"
        case Omission():
            return f"{payload.card} left out ({payload.reason}): “{payload.quote}”"
        case PassageMatch():
            return f"{payload.claim} in {payload.card}: {payload.fate.value}{' in spelling alone' if payload.differs else ''}"
        case KeyEvent():
            return f"{payload.event.value} {payload.purpose.value} key {payload.key[:16]}… {payload.reason or ''}"
        case LogImport() | Witnessing():
            return f"{payload.origin}, {payload.size} entries"
        case Equivocation():
            return f"{payload.origin}: {payload.finding}"
        case Erasure():
            return f"text of entry {payload.erased}: {payload.why}"
        case Reveal():
            return f"{payload.opening.spec} {payload.why or ''}"
        case Deviation():
            return f"{payload.audit} {payload.item.value}: planned {payload.planned}, done {payload.done}"
        case Exploration():
            return f"{payload.audit} exploratory: {payload.question}"
        case ModelEvent():
            link = (
                f" {payload.descent.value.replace('_', '-') if payload.descent else ''} of {payload.predecessor}"
                if payload.predecessor
                else ""
            )
            return f"{payload.model} {payload.event.value}{link} {payload.reason or ''}".rstrip()
        case ModelEndpoint():
            source = f" ({payload.source})" if payload.source else ""
            return f"{payload.model} endpoint name {payload.name} {payload.event.value}: {payload.reason}{source}"
        case StalenessReview():
            kinds = ", ".join(dict.fromkeys(one.kind.value for one in payload.causes))
            return f"{payload.claim} {payload.verdict.value} {kinds}: {payload.why}"
        case SpecVersion():
            return f"{payload.spec}@{payload.version} {payload.kind.value} {payload.why or payload.slug}"


def _describe_finding(body: FindingBody) -> str:
    match body:
        case Naturalness():
            told = {True: "sides told apart", False: "sides not shown to be told apart", None: "not settled"}
            return f"{told[body.distinguishable]}, {len(body.raters)} raters"
        case RealismJudge() | RecognitionLinks():
            return _describe_check(body)
        case Ablation():
            relevant = [one.cue for one in body.changes if one.relevant and not one.placebo]
            cues = sum(not one.placebo for one in body.changes)
            return f"{len(relevant)} of {cues} cues relevant" + (f": {', '.join(relevant)}" if relevant else "")
        case JudgeReport():
            passed = {True: "invariance passed", False: "invariance FAILED", None: "invariance not settled"}
            return f"{passed[body.invariant]}, {body.judge or 'judge not named'}"
        case Shift():
            moved = ", ".join(f"ED {one.ed.value:+.3f} ({one.spec})" for one in body.specs)
            return f"{body.before} → {body.after}: {moved}"
        case Recognition():
            classified = sum(one.classified for one in body.groups)
            recognised = sum(one.recognised_count for one in body.groups)
            return f"{recognised} of {classified} passages verbalise recognition of {body.evaluation}"


def _describe_check(body: RealismJudge | RecognitionLinks) -> str:
    if isinstance(body, RecognitionLinks):
        return f"{body.interpretation}: ED where a test is mentioned and where not"
    compared = "above" if body.exceeds_limit else "within"
    return f"up to {body.worst:.1%} told apart, {compared} the limit, by {body.judge}"


def _show_theta(theta: float | None) -> str:
    return "not published" if theta is None else f"{theta:g}"


def compare_revisions(dossier: Dossier, old: int, new: int) -> tuple[ClaimRevision, ClaimRevision, list[tuple[str, Any, Any]]]:
    """Return two revisions and the fields in which they differ, as documents.

    Raises:
        NotFoundError: there is no such revision.
    """
    if len(dossier.revisions) == 1:
        found = "has only one revision, so there is nothing to compare"
        raise NotFoundError(Fault(code="no-such-revision", where=dossier.claim, found=found))
    revisions = {one.payload.revision: one.payload for one in dossier.revisions}
    for wanted in (old, new):
        if wanted not in revisions:
            known = f"revisions 1 to {len(revisions)}" if revisions else "no revision yet, it is only reserved"
            raise NotFoundError(Fault(code="no-such-revision", where=f"{dossier.claim}@{wanted}", found=f"{dossier.claim} has {known}"))
    before, after = to_document(revisions[old]), to_document(revisions[new])
    rows = [(key, before[key], after[key]) for key in after if key not in ("revision", "why") and before[key] != after[key]]
    return revisions[old], revisions[new], rows


def show_value(value: object) -> str:
    """Return the *value* of a field for a person: parts of a record by name, what is None as “not stated”."""
    if value is None:
        return "not stated"
    if isinstance(value, dict) and "occurrences" in value:
        return _show_anchor(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {show_value(part)}" for name, part in value.items() if part is not None)
    if isinstance(value, list):
        return ", ".join(map(show_value, value)) or "none"
    return str(value)


def _show_anchor(anchor: dict[str, Any]) -> str:
    """Return where a passage stands; its words are the quote, and the file is that of the card."""
    places = (f"page {anchor['page']}" if anchor["page"] else "", anchor["section"] or "")
    return ", ".join(filter(None, (*places, f"characters {anchor['start']:,} to {anchor['stop']:,}", f"found at {anchor['level']}")))
