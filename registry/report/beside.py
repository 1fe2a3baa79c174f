"""What stands beside the outcome that leads: other audits, what became of their locks, what they found and looked at."""

from collections.abc import Iterator

from registry.records.analysis_plan import Exploration, list_departures
from registry.records.dossier import AuditFile, Dossier, Recorded
from registry.records.estimates import SpecEstimate
from registry.records.module_findings import Finding
from registry.records.supplement import AuditSummary, SupplementParty
from registry.records.verdict import Restriction


def find_party(dossier: Dossier, code: str) -> SupplementParty:
    """Return who *code* is, as far as the registry knows."""
    for authority in dossier.authorities:
        if authority.payload.code == code:
            return SupplementParty(code=code, name=authority.payload.name, role=authority.payload.role)
    return SupplementParty(code=code, name=None, role=None)


def find_other_findings(dossier: Dossier, leading: AuditFile | None) -> tuple[Recorded[Finding], ...]:
    """Return what was found in other audits of the current revision: an audit without a check does not undo the check of another."""
    reference = dossier.current.payload.reference
    others = (file for file in dossier.audits if file is not leading and file.audit.payload.claim == reference)
    return tuple(sorted((one for file in others for one in file.findings), key=lambda one: one.entry.seq))


def find_other_explorations(dossier: Dossier, leading: AuditFile | None) -> tuple[Recorded[Exploration], ...]:
    """Return what was looked at in other audits of the current revision: somebody may have looked before the plan that leads."""
    reference = dossier.current.payload.reference
    others = (file for file in dossier.audits if file is not leading and file.audit.payload.claim == reference)
    return tuple(sorted((one for file in others for one in file.explorations), key=lambda one: one.entry.seq))


def build_other_audits(dossier: Dossier, leading: AuditFile | None, counts: Recorded[Restriction] | None) -> Iterator[AuditSummary]:
    """Give every outcome but the one that *counts*, of all revisions, and every audit without one but the *leading*."""
    for file in dossier.audits:
        for outcome in file.restrictions:
            if outcome is not counts:
                yield _summarise(dossier, file, outcome)
        if not file.restrictions and file is not leading:
            yield _summarise(dossier, file, None)


def _summarise(dossier: Dossier, file: AuditFile, outcome: Recorded[Restriction] | None) -> AuditSummary:
    primary = outcome.payload.classification.primary if outcome else None
    departures = list_departures(one.payload for one in file.deviations)
    revisions = {one.payload.reference: one.payload for one in (*dossier.revisions, *dossier.later)}
    return AuditSummary(
        model=revisions[file.audit.payload.claim].model,
        claim=file.audit.payload.claim,
        audit=file.audit.payload.audit,
        auditor=find_party(dossier, file.audit.payload.auditor),
        independence=file.audit.payload.independence,
        entry=outcome.entry if outcome else file.audit.entry,
        class_=primary.class_ if primary else None,
        standing=primary.standing if primary else None,
        mode=primary.mode if primary else None,
        point_class=primary.printed_point_class if primary else None,
        verdict=outcome.payload.text.verdict if outcome else None,
        contestation=file.audit.payload.contestation,
        locked=file.lock.entry if file.lock else None,
        departures=len(departures),
        unexplained=sum(one.reason is None for one in departures),
        estimate=None if outcome is None else find_first_spec(file, outcome.payload)[0],
    )


def find_first_spec(file: AuditFile, outcome: Restriction) -> tuple[SpecEstimate | None, int]:
    """Return the estimate against the first specification and the number of specifications."""
    found = next((one.payload.estimate for one in file.results if one.entry.seq == outcome.result), outcome.estimate)
    return (None, 0) if found is None or not found.specs else (found.specs[0], len({one.spec for one in found.specs}))
