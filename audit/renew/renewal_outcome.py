"""Renewals as the registry and their folder record them: opened, locked, and concluded with their shift."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

from audit.modules.cue_ablation import ablate
from audit.modules.version_shift import measure_shift
from audit.protocol.audit_record import (
    AuditConclusion,
    add_finding,
    build_case,
    conclude,
    find_design,
    get_audit,
    get_claim,
    get_property,
    open_audit,
    warn_of_designs,
)
from audit.protocol.evidence_basis import ScoredTable
from audit.renew.renewal_choice import ClaimRenewal, draft_renewal, list_task_ids
from audit.renew.renewal_replays import REPLAY, RenewalGroup, RenewedReplay, check_same, renew_replay, write_files
from audit.replay.replay_provenance import withhold_prompts
from audit.score.run_evidence import RunEvidence, read_run
from audit.sources.log_rows import describe_accounts
from audit.statistics.responses import ScoreTable
from registry.codec.canonical_documents import canonical_bytes, from_document, to_document
from registry.codec.file_io import read_document, write_file
from registry.errors import CaveatError, ConflictError, Fault, InputError
from registry.records.claim import ClaimRevision
from registry.records.dossier import AuditFile
from registry.records.module_findings import Ablation, FindingBody
from registry.records.record import Record
from registry.records.specification import Scorer
from registry.registration.model_lineage import carry_claim
from registry.registration.specification_registration import find_locked_procedure, find_procedure
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from registry.store.registry_view import View

# The registration of a renewal: claims carried to the new version, audits opened and locked. All of one replay, or
# none.
#
# The ledger compares the locks when it takes a renewal, so "carries out the plan again" is true by rule, also for logs
# that were imported. The same responses count for one model version only. Cost: two reads for each renewed lock; a
# snapshot of the same model needs a run of its own.

TASK_LIST = "tasks.txt"
"""Task identifiers, one a line, for a run that is made elsewhere."""


def build_renewed(group: RenewalGroup, view: View, *, ask: str, base_url: str | None) -> RenewedReplay | None:
    """Return the replay of *group* with the model *ask*, answering to the audits that are on record; None for a run made elsewhere."""
    if group.recording is None:
        return None
    audits = [renewal.renewed.audit.payload.audit for renewal in group.chosen if renewal.renewed]
    renewed = renew_replay(group.recording.file, view, ask=ask, base_url=base_url, audits=audits)
    # Only the policy may differ. This catches a defect of the writer before anything is locked.
    check_same(group.recording.file, renewed.file)
    return renewed


def record_group(ledger: Ledger, group: RenewalGroup, *, auditor: str, ask: str, base_url: str | None, why: str | None) -> RenewalGroup:
    """Write the files of *group*, carry its claims and lock its audits; return it with them. The same again changes nothing.

    Files come first, so that the locks can fix them; the replay's file is written once more with the audits that it answers to. All is
    recorded in one transaction, or nothing.

    Args:
        auditor: authority that carries the plans out.
        ask: the model as the endpoint is to return it.
        why: the reason for carrying the claims; None for one that names the update.

    Raises:
        CaveatError: the claim cannot be applied, or the plan no longer fits together with it.
        OSError: the file system refuses.
    """
    # Nothing is left to write: the folder of a finished renewal stays as it is.
    if all(renewal.is_concluded for renewal in group.chosen):
        return group
    # Files before locks, because a lock fixes the digest of its files. The replay's file is written again afterwards:
    # it names its audits, which exist only then, and that name is no part of the digest.
    with ledger.view() as view:
        renewed = build_renewed(group, view, ask=ask, base_url=base_url)
    write_files(group.folder, renewed.texts if renewed else _list_texts(group.chosen[0]))
    with ledger.write(actor=auditor) as writer:
        chosen = tuple(_record(writer, renewal, group.folder, auditor=auditor, ask=ask, why=why) for renewal in group.chosen)
        done = replace(group, chosen=chosen)
        final = build_renewed(done, writer, ask=ask, base_url=base_url)
    if final is not None:
        write_files(group.folder, final.texts)
    return done


def _record(writer: Writer, renewal: ClaimRenewal, folder: Path, *, auditor: str, ask: str, why: str | None) -> ClaimRenewal:
    # Recorded by an earlier call that was interrupted afterwards.
    if renewal.renewed is not None:
        return renewal
    claim = carry_claim(writer, renewal.claim.claim, renewal.target, why=why or _explain(renewal)).payload
    is_here = renewal.lock.replay is not None
    tasks = TASK_LIST if not is_here and renewal.lock.tasks else None
    draft = draft_renewal(renewal, claim.reference, ask=ask, replay=REPLAY if is_here else None, tasks=tasks)
    file, _ = open_audit(writer, draft, auditor=auditor, locked=True, folder=folder)
    return replace(renewal, claim=claim, renewed=get_audit(writer, file.audit.payload.audit))


def _explain(renewal: ClaimRenewal) -> str:
    return f"{renewal.target} takes the place of {renewal.claim.model}; the locked plan of {renewal.lock.audit} is run again on it"


def _list_texts(renewal: ClaimRenewal) -> Mapping[str, str]:
    """Return the files of an audit whose run is made elsewhere: its list of tasks, where the lock fixes one."""
    ids = list_task_ids(renewal.lock)
    # A digest proves a list and cannot restore it.
    if renewal.lock.tasks is not None and ids is None:
        count = renewal.lock.tasks.count
        problem = f"the lock of {renewal.lock.audit} fixes {count} tasks only by their digest, so the list cannot be made again"
        advice = f"lock an audit with the list itself: caveat audit new {renewal.claim.claim} > audit.yaml"
        raise InputError(Fault("tasks-not-known", renewal.claim.reference, problem, advice=advice))
    return {} if ids is None else {TASK_LIST: "".join(f"{name}\n" for name in ids)}


# The outcome of a renewed audit: the new scores, and how far they moved from the old ones.


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewalMeasurement:
    """What is to be recorded of one renewed audit."""

    evidence: RunEvidence
    findings: tuple[tuple[FindingBody, str], ...]
    """Each with the file names of what it was made from."""
    remarks: tuple[str, ...]
    """What could not be measured, and why, a sentence each without full stop."""


def find_scorer(view: View, renewal: ClaimRenewal) -> Scorer | None:
    """Return the scorer that the renewed audit rests on: the locked scoring function, else the claim's; None for the replay's own."""
    return find_locked_procedure(view, renewal.lock) or find_procedure(view, get_claim(view, _get_renewed(renewal).audit.payload.claim))


def measure(view: View, renewal: ClaimRenewal, run: Path, earlier: Iterable[Path]) -> RenewalMeasurement:
    """Return the scores in the run folder *run*, with what they say next to those of the audit that is renewed.

    Args:
        earlier: run folders that may hold the scores of the old outcome.

    Raises:
        ConflictError: the run is not finished, or not scored.
        TableError: a score lies outside the range.
    """
    file = _get_renewed(renewal)
    claim = get_claim(view, file.audit.payload.claim)
    scorer = find_scorer(view, renewal)
    low, high = get_property(view, claim).range
    evidence = read_run(run, low=low, high=high, scorer=scorer)
    # The path of the renewal's folder is left out. The same records must give the same bytes wherever the folder is.
    evidence = replace(evidence, source=f"{run.parent.name}/{run.name}/{Path(evidence.source).name}")
    # A finding must be recorded before the outcome, so everything is measured here first.
    findings: list[tuple[FindingBody, str]] = []
    remarks: list[str] = []
    # Without a change of version there is no shift to measure.
    before = None if renewal.before == renewal.target else _find_table(renewal, earlier, (low, high), scorer)
    # A module that cannot measure gives a sentence. The outcome does not depend on it and is recorded all the same.
    for made in (_measure_shift(renewal, before, evidence, (low, high)), _ablate(view, file, renewal, claim, evidence)):
        if isinstance(made, str):
            remarks.append(made)
        elif made is not None:
            findings.append((made, evidence.source))
    return RenewalMeasurement(evidence=evidence, findings=tuple(findings), remarks=tuple(remarks))


def record_outcome(writer: Writer, renewal: ClaimRenewal, measured: RenewalMeasurement) -> AuditConclusion:
    """Record findings and outcome of the renewed audit of *renewal*; the same again changes nothing.

    Raises:
        CaveatError: as `audit.protocol.audit_record.conclude`.
    """
    name = _get_renewed(renewal).audit.payload.audit
    for body, source in measured.findings:
        add_finding(writer, name, body, source=source)
    imported = measured.evidence.imported
    provenance = replace(imported.provenance, imported=describe_accounts(imported))
    scored = ScoredTable(
        table=measured.evidence.table,
        source=measured.evidence.source,
        started_at=datetime.fromisoformat(imported.started_at) if imported.started_at else None,
        is_dated_by_data=imported.started_at is not None,
        # Prompts that were withheld before stay withheld: a renewal must not publish them without being asked.
        provenance=withhold_prompts(provenance) if _withheld_prompts(renewal.old) else provenance,
    )
    return conclude(writer, get_audit(writer, name), scored)


def _get_renewed(renewal: ClaimRenewal) -> AuditFile:
    if renewal.renewed is None:
        raise ValueError("the audit is locked before it is concluded")
    return renewal.renewed


def _find_table(renewal: ClaimRenewal, earlier: Iterable[Path], range_: tuple[float, float], scorer: Scorer | None) -> ScoreTable | None:
    """Return the very scores of the old outcome; None where no folder holds them."""
    # Only the very scores of the old outcome may be compared; another table of the same run could give another shift.
    texts = [run.payload.scores for run in renewal.old.runs] or [outcome.payload.scores for outcome in renewal.old.restrictions]
    digest = texts[-1] if texts else None
    return next((table for table in _read_tables(earlier, range_, scorer) if table.content == digest), None)


def _measure_shift(
    renewal: ClaimRenewal, before: ScoreTable | None, evidence: RunEvidence, range_: tuple[float, float]
) -> FindingBody | str | None:
    """Return how far the scores moved; a sentence where that cannot be measured, None between replays of one model version."""
    if renewal.before == renewal.target:
        return None
    # Without the old scores the two recorded intervals are compared. Their half-widths add, which holds whatever their
    # dependence, and is wide.
    if before is None:
        return f"the scores of {renewal.lock.audit} were not found, so its estimate and the new one are compared, not task by task"
    models = (renewal.before, renewal.target)
    try:
        shift = measure_shift(before, evidence.table, renewal.lock.plan, range_=range_, models=models, audit=renewal.lock.audit)
    except CaveatError as error:
        return f"the scores could not be compared task by task: {error.faults[0].found}"
    return warn_of_designs(shift, find_design(renewal.old), find_design(_get_renewed(renewal), evidence.imported.provenance.replayed))


def _read_tables(folders: Iterable[Path], range_: tuple[float, float], scorer: Scorer | None) -> Iterator[ScoreTable]:
    for folder in folders:
        try:
            yield read_run(folder, low=range_[0], high=range_[1], unfinished=True, scorer=scorer).table
        except CaveatError:  # not scored by this scorer, or not to be read: then it is not the one
            continue


def _ablate(view: View, file: AuditFile, renewal: ClaimRenewal, claim: ClaimRevision, evidence: RunEvidence) -> FindingBody | str | None:
    """Return what taking cues out does now, where the old audit holds that too; it takes no more than the scores."""
    if not any(isinstance(finding.payload.body, Ablation) for finding in renewal.old.findings):
        return None
    case = build_case(claim, get_property(view, claim), file)
    try:
        return ablate(evidence.table, case.plan, range_=case.claim.property.range, case=case)
    except CaveatError as error:
        return f"what taking cues out does could not be measured again: {error.faults[0].found}"


def _withheld_prompts(old: AuditFile) -> bool:
    """Tell whether the texts of the old replay's contexts were left out of the record: then those of the new one are too."""
    provenances = [*(run.payload.provenance for run in old.runs), *(outcome.payload.provenance for outcome in old.restrictions)]
    return any(
        provenance.replayed is not None and not provenance.replayed.is_disclosed for provenance in provenances if provenance is not None
    )


# The file that records the purpose of a renewal folder. A call that was interrupted goes on with the same claims and
# the same model.

RENEWAL_FILE = "renewal.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenewalFolder(Record):
    """What was asked for when the folder was begun, and which claims were chosen since."""

    ask: str
    base_url: str | None = None
    claims: tuple[str, ...] = ()
    """`CLM-…`, ascending."""
    schema: Literal["caveat/renewal-folder/1"] = "caveat/renewal-folder/1"


def read_renewal_folder(folder: Path, *, ask: str, base_url: str | None) -> RenewalFolder:
    """Return what *folder* is for; a new one is for *ask*, asked at *base_url*.

    Raises:
        ConflictError: it is for another model, or another endpoint.
        InputError: the file in it cannot be read.
    """
    path = folder / RENEWAL_FILE
    if not path.is_file():
        return RenewalFolder(ask=ask, base_url=base_url)
    kept = from_document(RenewalFolder, read_document(path), where=str(path))
    wanted = {"model": (kept.ask, ask), "endpoint": (kept.base_url, base_url or kept.base_url)}
    differing = [(name, before, now) for name, (before, now) in wanted.items() if before != now]
    # One folder holds one model's responses; another model or endpoint would mix them.
    if differing:
        problem = "; ".join(f"is for the {name} {before or 'that the replay names'}, and {now} is asked" for name, before, now in differing)
        raise ConflictError(Fault("renewal-differs", str(folder), problem))
    return kept


def write_renewal_folder(folder: Path, kept: RenewalFolder, claims: Iterable[str]) -> RenewalFolder:
    """Keep in *folder* that it is for *kept* and for *claims* too; return what it is for now.

    Raises:
        OSError: the file system refuses.
    """
    now = replace(kept, claims=tuple(sorted({*kept.claims, *claims})))
    path = folder / RENEWAL_FILE
    if now != kept or not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        # Written to a second name and renamed, so that a crash leaves the old or the new file and never half of one.
        part = path.with_name(f"{RENEWAL_FILE}.part")
        write_file(part, canonical_bytes(to_document(now)) + b"\n")
        part.replace(path)
    return now
