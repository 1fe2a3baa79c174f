"""The outcome of a renewed audit: the new scores, how far they moved from the old ones, and what stands of the claim."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from audit.ablation import ablate
from audit.basis import Scored
from audit.comparing import find_design, warn_of_designs
from audit.docket import Concluded, add_finding, build_case, conclude, get_audit, get_claim, get_property
from audit.renewing.choice import Chosen
from audit.replay.replay_provenance import withhold_prompts
from audit.score.run_evidence import RunEvidence, read_run
from audit.shift import measure_shift
from audit.sources.log_rows import summarise_accounts
from audit.statistics.responses import ScoreTable
from registry.errors import CaveatError
from registry.records.claim import ClaimRevision
from registry.records.dossier import AuditFile
from registry.records.module_findings import Ablation, FindingBody
from registry.records.replay_run import Provenance
from registry.records.specification import Scorer
from registry.registration.specification_registration import find_locked_procedure, find_procedure
from registry.store.view import View
from registry.store.writer import Writer


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What is to be recorded of one renewed audit."""

    evidence: RunEvidence
    findings: tuple[tuple[FindingBody, str], ...]
    """Each with the file names of what it was made from."""
    remarks: tuple[str, ...]
    """What could not be measured, and why, a sentence each without full stop."""


def find_scorer(view: View, one: Chosen) -> Scorer | None:
    """Return whose scores the renewed audit rests on: the locked scoring function, else the claim's; None for the replay's own."""
    return find_locked_procedure(view, one.lock) or find_procedure(view, get_claim(view, _get_renewed(one).audit.payload.claim))


def measure(view: View, one: Chosen, run: Path, earlier: Iterable[Path]) -> Measured:
    """Return the scores in the run folder *run*, with what they say beside those of the audit that is renewed.

    Args:
        earlier: run folders that may hold the scores of the old outcome.

    Raises:
        ConflictError: the run is not finished, or not scored.
        TableError: a score lies outside the range.
    """
    file = _get_renewed(one)
    claim = get_claim(view, file.audit.payload.claim)
    scorer = find_scorer(view, one)
    low, high = get_property(view, claim).range
    evidence = read_run(run, low=low, high=high, scorer=scorer)
    # Where the folder of the renewal stands is nobody's concern, and would make other bytes of the same records.
    evidence = replace(evidence, source=f"{run.parent.name}/{run.name}/{Path(evidence.source).name}")
    findings: list[tuple[FindingBody, str]] = []
    remarks: list[str] = []
    before = None if one.before == one.target else _find_table(one, earlier, (low, high), scorer)
    for made in (_measure_shift(one, before, evidence, (low, high)), _ablate(view, file, one, claim, evidence)):
        if isinstance(made, str):
            remarks.append(made)
        elif made is not None:
            findings.append((made, evidence.source))
    return Measured(evidence=evidence, findings=tuple(findings), remarks=tuple(remarks))


def record_outcome(writer: Writer, one: Chosen, measured: Measured) -> Concluded:
    """Record findings and outcome of the renewed audit of *one*; the same again changes nothing.

    Raises:
        CaveatError: as `audit.docket.conclude`.
    """
    name = _get_renewed(one).audit.payload.audit
    for body, source in measured.findings:
        add_finding(writer, name, body, source=source)
    imported = measured.evidence.imported
    provenance = replace(imported.provenance, imported=summarise_accounts(imported))
    scored = Scored(
        table=measured.evidence.table,
        source=measured.evidence.source,
        started_at=datetime.fromisoformat(imported.started_at) if imported.started_at else None,
        is_dated_by_data=imported.started_at is not None,
        provenance=withhold_prompts(provenance) if _withheld_prompts(one.old) else provenance,
    )
    return conclude(writer, get_audit(writer, name), scored)


def _get_renewed(one: Chosen) -> AuditFile:
    if one.renewed is None:
        raise ValueError("the audit is locked before it is concluded")
    return one.renewed


def _find_table(one: Chosen, earlier: Iterable[Path], range_: tuple[float, float], scorer: Scorer | None) -> ScoreTable | None:
    """Return the very scores of the old outcome; None where no folder holds them."""
    digest = _find_scores(one.old)
    return next((table for table in _read_tables(earlier, range_, scorer) if table.content == digest), None)


def _measure_shift(one: Chosen, before: ScoreTable | None, evidence: RunEvidence, range_: tuple[float, float]) -> FindingBody | str | None:
    """Return how far the scores moved; a sentence where that cannot be measured, None between replays of one model version."""
    if one.before == one.target:
        return None
    if before is None:
        return f"the scores of {one.lock.audit} were not found, so its estimate and the new one are compared, not task by task"
    models = (one.before, one.target)
    try:
        found = measure_shift(before, evidence.table, one.lock.plan, range_=range_, models=models, audit=one.lock.audit)
    except CaveatError as error:
        return f"the scores could not be compared task by task: {error.faults[0].found}"
    return warn_of_designs(found, find_design(one.old), find_design(_get_renewed(one), evidence.imported.provenance.replayed))


def _read_tables(folders: Iterable[Path], range_: tuple[float, float], scorer: Scorer | None) -> Iterator[ScoreTable]:
    for folder in folders:
        try:
            yield read_run(folder, low=range_[0], high=range_[1], unfinished=True, scorer=scorer).table
        except CaveatError:  # not scored by this scorer, or not to be read: then it is not the one
            continue


def _find_scores(file: AuditFile) -> str | None:
    found = [run.payload.scores for run in file.runs] or [outcome.payload.scores for outcome in file.restrictions]
    return found[-1] if found else None


def _ablate(view: View, file: AuditFile, one: Chosen, claim: ClaimRevision, evidence: RunEvidence) -> FindingBody | str | None:
    """Return what taking cues out does now, where the old audit holds that too; it takes no more than the scores."""
    if not any(isinstance(finding.payload.body, Ablation) for finding in one.old.findings):
        return None
    case = build_case(claim, get_property(view, claim), file)
    try:
        return ablate(evidence.table, case.plan, range_=case.claim.property.range, case=case)
    except CaveatError as error:
        return f"what taking cues out does could not be measured again: {error.faults[0].found}"


def _withheld_prompts(old: AuditFile) -> bool:
    """Tell whether the texts of the old replay's contexts were left out of the record: then those of the new one are too."""
    said = [*(run.payload.provenance for run in old.runs), *(outcome.payload.provenance for outcome in old.restrictions)]
    return any(_is_withheld(one) for one in said if one is not None)


def _is_withheld(provenance: Provenance) -> bool:
    return provenance.replayed is not None and not provenance.replayed.is_disclosed
