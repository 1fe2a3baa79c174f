"""`caveat audit control`: would a subject that is known to be bad have failed?"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from audit.cli.analysis_options import FILE
from audit.cli.imported_evidence import ImportedEvidence, read_evidence
from audit.cli.table_reading import build_reading, reading_options
from registry.cli.application import AUDIT, App, examples, pass_app
from registry.present.blocks import Block, Facts, Table, Title
from registry.records.module_findings import ControlOutcome, ControlReport
from registry.records.positive_control import ControlExpectation, ControlKind
from registry.records.record import Identifier

if TYPE_CHECKING:
    from audit.modules.positive_controls import ControlledAudit
    from audit.protocol.evidence_basis import ScoredTable
    from registry.records.dossier import AuditFile
    from registry.records.positive_control import ControlPlan
    from registry.records.replay_run import Task
    from registry.records.specification import Scorer
    from registry.store.log_writer import Writer


@examples(
    "audit control AUD-LAB-2026-0001-1 known-bad.yaml replay.run",
    "audit control AUD-LAB-2026-0001-1 instructed.yaml instructed.run",
    "audit control AUD-LAB-2026-0001-1 known-bad.yaml replay.run --dry-run",
)
@click.command()
@click.argument("audit_id", metavar="AUDIT", type=AUDIT)
@click.argument("control_file", metavar="CONTROL", type=FILE)
@click.argument("sources", metavar="[ARM=]SOURCE...", nargs=-1, required=True)
@reading_options
@click.option("--dry-run", is_flag=True, help="Show what the control comes to, and record nothing.")
@pass_app
def control(app: App, /, *, audit_id: Identifier, control_file: Path, sources: tuple[str, ...], dry_run: bool, **options: Any) -> None:
    """Test a plan with a subject known to be bad.

    The lock of AUDIT names CONTROL (key controls of the audit file). For the kind policy, SOURCE has the audit's own scores: random
    shares of deployment responses are replaced by known-bad ones until the claim fails. For the kinds prompt and
    model_organism, it has the scores of that subject under the same tasks, contexts and scorer. Record every control before the
    verdict: one without a result makes a verdict that holds provisional, and one that passes makes it inconclusive.
    """
    from audit.cli.analysis_options import record_finding
    from audit.protocol.control_checks import check_named
    from audit.protocol.control_file import read_control
    from registry.codec.canonical_documents import to_document

    plan = read_control(control_file)
    with app.ledger.write(actor=app.config.authority) as writer:
        file, audit = _open(writer, audit_id.bare, plan, where=str(control_file))
        check_named(file, plan, where=str(control_file))
        scored, evidence = _read_scores(writer, file, plan, sources, options)
        scorer = _find_scorer(writer, file)
    report = _make_report(audit, scored, evidence, control_file, scorer=scorer, sources=sources)
    names = [Path(name).name for name in (str(control_file), *sources)]
    record_finding(app, None if dry_run else audit_id, report, source=", ".join(names))
    app.answer(to_document(report), present_control(report))


def _open(writer: "Writer", name: str, plan: "ControlPlan", *, where: str) -> "tuple[AuditFile, ControlledAudit]":
    from audit.modules.positive_controls import ControlledAudit
    from audit.protocol.audit_record import build_case, get_audit, get_claim, get_property
    from registry.errors import Fault, InputError
    from registry.records.claim import Form

    file = get_audit(writer, name)
    claim = get_claim(writer, file.audit.payload.claim)
    if claim.form is Form.EXISTENCE:
        raise InputError(Fault("control-not-possible", where, "a claim of existence has no rate that a control could raise"))
    case = build_case(claim, get_property(writer, claim), file)
    return file, ControlledAudit(case=case, plan=plan)


def _read_scores(
    writer: "Writer", file: "AuditFile", plan: "ControlPlan", sources: tuple[str, ...], options: dict[str, Any]
) -> "tuple[ScoredTable, ImportedEvidence]":
    from audit.protocol.audit_record import get_claim, get_property
    from audit.protocol.control_checks import check_subject
    from audit.protocol.evidence_basis import ScoredTable

    low, high = get_property(writer, get_claim(writer, file.audit.payload.claim)).range
    evidence = read_evidence(*build_reading(sources, options), low=low, high=high, scorer=_find_scorer(writer, file))
    provenance = _restore_tasks(evidence, sources, plan)
    scored = ScoredTable(
        table=evidence.table, source=evidence.source, started_at=evidence.started_at, provenance=replace(evidence.provenance, **provenance)
    )
    check_subject(writer, file, scored, plan)
    return scored, evidence


def _restore_tasks(evidence: ImportedEvidence, sources: tuple[str, ...], plan: "ControlPlan") -> dict[str, Any]:
    """Return the account of the replay with its tasks as they are without the instruction: these are compared with the lock.

    Raises:
        ConflictError: a task was asked without the instruction, so that the subject is not the one that the lock names.
    """
    from audit.replay.replay_file import describe_tasks
    from audit.replay.run_store import get_tasks, open_store
    from audit.score.run_evidence import is_run
    from registry.errors import ConflictError, Fault

    account = evidence.provenance.replayed
    if plan.instruction is None or account is None or account.parts is None or not is_run(sources[0]):
        return {}
    store = open_store(Path(sources[0]))
    try:
        asked = list(get_tasks(store).values())
    finally:
        store.close()
    before = f"{plan.instruction}\n\n"
    if without := [task.id for task in asked if not task.prompt.startswith(before)]:
        problem = f"{len(without)} of {len(asked)} tasks were asked without the instruction of the control, such as {without[0]}"
        advice = "write the instruction and an empty line before the prompt of every task, and run again"
        raise ConflictError(Fault("control-differs-from-lock", sources[0], problem, advice=advice))
    tasks = [replace(task, prompt=task.prompt.removeprefix(before)) for task in asked]
    return {"replayed": replace(account, parts={**account.parts, "tasks": describe_tasks(tasks)})}


def _find_scorer(writer: "Writer", file: "AuditFile") -> "Scorer | None":
    from audit.protocol.audit_record import get_claim
    from registry.registration.specification_registration import find_locked_procedure, find_procedure

    locked = find_locked_procedure(writer, file.lock.payload) if file.lock else None
    return locked or find_procedure(writer, get_claim(writer, file.audit.payload.claim))


def _make_report(
    audit: "ControlledAudit",
    scored: "ScoredTable",
    evidence: ImportedEvidence,
    control_file: Path,
    *,
    scorer: "Scorer | None",
    sources: tuple[str, ...],
) -> ControlReport:
    from audit.modules.positive_controls import report_policy, report_subject
    from audit.protocol.control_file import find_responses
    from audit.score.planted_responses import digest_pool, read_pool
    from registry.codec.canonical_documents import from_document
    from registry.codec.file_io import read_document
    from registry.records.positive_control import ControlDraft

    if audit.plan.kind is not ControlKind.POLICY:
        return report_subject(audit, scored.table, models=evidence.provenance.models_returned)
    draft = from_document(ControlDraft, read_document(control_file), where=str(control_file))
    low, high = audit.case.claim.property.range
    own, tasks = _read_run(Path(sources[0]), scorer)
    pool = read_pool(
        find_responses(control_file, draft.responses or ""),
        range_=(low, high),
        good=low if audit.is_high_bad else high,
        scorer=own,
        tasks=tasks,
    )
    return report_policy(audit, scored.table, pool, planted=digest_pool(pool))


def _read_run(source: Path, scorer: "Scorer | None") -> "tuple[Scorer | None, dict[str, Task] | None]":
    """Return the scorer and tasks of a run folder; without one the scorer that the plan fixes, and no tasks."""
    from audit.replay.run_store import get_tasks, open_store
    from audit.score.run_evidence import find_scorer, is_run

    if not is_run(source):
        return scorer, None
    store = open_store(source)
    try:
        return scorer or find_scorer(store), dict(get_tasks(store))
    finally:
        store.close()


_OUTCOMES = {
    ControlOutcome.PASSED: "PASSED: a known-bad subject looked good. A verdict that holds will be inconclusive",
    ControlOutcome.UNCLEAR: "unclear: a known-bad subject was not seen to fail. A verdict that holds will be provisional",
    ControlOutcome.TEST_ONLY: "evaluation contexts only: it says nothing of deployment",
    ControlOutcome.DETECTED: "detected: a known-bad subject failed, as it should",
    ControlOutcome.MEASURED: "measured: how often a subject that complies is called bad",
}


def present_control(report: ControlReport) -> Iterator[Block]:
    """Present what a control shows: its outcome, the rate that would have been seen, and the doses."""
    from registry.report.control_wording import describe_reach
    from registry.report.number_format import format_percent, share
    from registry.report.supplement_wording import get_words

    plan, bad = report.plan, report.judged_bad
    yield Title(f"Control {plan.name}: {_OUTCOMES[report.outcome]}")
    is_bad = plan.expects is ControlExpectation.VIOLATES
    if is_bad:
        yield describe_reach([report])
    ends = (
        "no interval"
        if bad.low is None or bad.high is None
        else f"{share(report.level)} CI {format_percent(bad.low)} to {format_percent(bad.high)}"
    )
    facts = [("subject", f"{plan.kind.value.replace('_', ' ')}: {plan.subject}")]
    facts += [
        (
            "sensitivity" if is_bad else "false alarms",
            "not known: " + (bad.reason or "no share")
            if bad.value is None
            else f"{format_percent(bad.value)} judged bad ({ends}); {report.responses:,} responses",
        )
    ]
    facts += [("claim on it", get_words(report.verdict))] if report.verdict else []
    yield Facts(facts)
    if report.detection:
        yield f"re-draws of tasks, contexts and replaced responses: {plan.redraws:,} at each share, seed {plan.seed}"
        rows = [(share(dose.dose), share(dose.detected)) for dose in report.detection]
        yield Table(("replaced", "claim fails in"), rows, numbers=("replaced", "claim fails in"))
    yield from (f"warning: {warning.message}" for warning in report.warnings)
