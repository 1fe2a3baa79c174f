"""How locks, audits, classifications, outcomes and explorations look in a terminal and as JSON."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from audit.cli.analysis_presenter import present_estimate
from audit.protocol.audit_record import AuditConclusion
from audit.protocol.case_outcome import CaseOutcome
from audit.records.model_response import ImportedLog
from registry.cli.log_presenter import describe
from registry.codec.canonical_documents import to_document
from registry.present.answers import Answer
from registry.present.blocks import Block, Subtitle, Table, Title
from registry.present.listings import Column
from registry.records.analysis_plan import Exploration, Lock, LockedSpec, list_deviations
from registry.records.audit_case import Case
from registry.records.claim import Relation
from registry.records.claim_status import FamilyOutcome, Opposition
from registry.records.dossier import AuditFile, Dossier, Recorded
from registry.records.model_version import ModelRef
from registry.records.replay_run import ModelIdentity, describe_runs
from registry.records.verdict import (
    ChecklistItem,
    ItemStatus,
    ReadingVerdict,
    Restriction,
    SpecVerdict,
    Standing,
    VerdictStanding,
    is_expired,
    lower_reading,
    weaken,
)
from registry.report.claim_outcome import describe_disagreement, find_counted, name_opposition
from registry.report.minimum_reporting import build_audit_items, build_case_items, count_items
from registry.report.number_format import Unit, share
from registry.report.supplement_wording import format_verdict, get_words

# What a lock fixes, and what it leaves open, as a person reads it.

_SHOWN = 16
"""Hexadecimal digits of a digest on a screen; documents hold all 64."""


def present_lock(opened: AuditFile, *, is_new: bool, dry_run: bool = False, replay: Path | None = None) -> Answer:
    """Present a lock: what it fixes, what it leaves open, and the next command; after a *dry_run*, a new one has no name.

    Args:
        opened: the audit with its lock.
        is_new: whether this call recorded it.
        dry_run: whether nothing was recorded.
        replay: the file of the replay that the plan names; None without one.
    """
    audit, recorded = opened.audit.payload, opened.lock
    lock = recorded.payload if recorded else None
    is_recorded = recorded is not None and not (dry_run and is_new)
    document = {
        "schema": "caveat/audit-lock/1",
        "dry_run": dry_run,
        "audit": audit.audit if is_recorded else None,
        "claim": audit.claim,
        "new": is_new,
        "locked_at": f"{recorded.entry.at:%Y-%m-%dT%H:%M:%SZ}" if recorded and is_recorded else None,
        "entry": recorded.entry.seq if recorded and is_recorded else None,
        "lock": to_document(lock) if lock and is_recorded else None,
        "not_fixed": list(lock.unfixed) if lock else [],
    }
    return Answer(document, _list_checked_blocks(opened) if dry_run else _list_lock_blocks(opened, is_new=is_new, replay=replay))


def list_fixed(lock: Lock) -> Iterator[tuple[str, str]]:
    """Give each thing that *lock* fixes with what it says; what it leaves open is not among them."""
    yield "claim", lock.claim
    if lock.relation is not None:
        yield "θ", f"{lock.relation.value} {'not published' if lock.theta is None else f'{lock.theta:g}'}"
    yield "direction", lock.direction.value.replace("_", " ")
    yield from _list_plan(lock)
    specs = [("test contexts", lock.test), ("scoring", lock.scoring)]
    specs += [(f"deployment contexts ({spec.name})", spec) for spec in lock.deploy] + [("cues", cue) for cue in lock.cues]
    yield from ((name, _name(spec)) for name, spec in specs if spec is not None)
    yield from ((f"control {control.name}", f"{control.kind.value.replace('_', ' ')}: {control.subject}") for control in lock.controls)
    if lock.tasks is not None:
        yield "tasks", f"{lock.tasks.count}, SHA-256 {lock.tasks.sha256[:_SHOWN]}"
    if lock.replay is not None:
        yield "replay", f"SHA-256 {lock.replay[:_SHOWN]} of {', '.join(lock.replay_parts or ())}"
    worded = (
        ("scorer", lock.scorer),
        ("model", lock.model),
        ("endpoint names", ", ".join(lock.endpoint_names)),
        ("budget", lock.budget),
        ("stopping rule", lock.stopping_rule),
        ("exclusion rules", lock.exclusion_rules),
    )
    yield from ((name, text) for name, text in worded if text)


def list_lock_warnings(file: Path, model: ModelRef, opened: AuditFile) -> Iterator[str]:
    """Give what the lock of *file* leaves open: who is asked, each with the command that mends it, and what is not fixed."""
    if opened.lock is None:
        return
    lock = opened.lock.payload
    if not lock.endpoint_names:
        name = shlex.quote(lock.model) if lock.model else "NAME"
        yield (
            f"no endpoint name is recorded for {model}, so nothing will show that it was asked, and the outcome establishes nothing. "
            f"If endpoints return it as {name}, lock again before the run, which replaces this lock: "
            f"caveat audit lock {shlex.quote(str(file))} --endpoint-name {name}"
        )
    elif lock.model not in (None, *lock.endpoint_names):
        names = ", ".join(lock.endpoint_names)
        yield f"the plan asks for {lock.model}; what the endpoint returns counts only if it is one of {names}"
    yield from (f"not fixed before the replay: {name}; the supplement will say so" for name in lock.unfixed)


def _list_plan(lock: Lock) -> Iterator[tuple[str, str]]:
    plan = lock.plan
    yield "margin, ε, level", f"{plan.margin:g}, {plan.epsilon:g}, {plan.level:g}"
    drawn = f"contexts {plan.contexts.value}, seed {plan.seed}, {plan.replicates} replicates"
    yield "intervals", f"{plan.interval.value.replace('_', ' ')}, {drawn}"
    yield "recognition floor", f"{plan.recognition_floor:g}"
    yield "limit on raters", f"{plan.rater_limit:g}"
    if lock.plan.valid_until is not None:
        yield "valid until", lock.plan.valid_until.isoformat()
    if plan.tasks is not None and lock.tasks is None:
        yield "number of tasks", str(plan.tasks)


def _name(spec: LockedSpec) -> str:
    return f"{spec.spec}, {'sealed, commitment' if spec.is_sealed else 'SHA-256'} {spec.sha256[:_SHOWN]}"


def _list_checked_blocks(opened: AuditFile) -> Iterator[Block]:
    """Yield what a lock would fix."""
    if opened.lock is not None:
        yield f"The file has no faults: a plan for {opened.lock.payload.claim}. Nothing was recorded."
        yield Table(("would be fixed", "as"), list(list_fixed(opened.lock.payload)))


def _list_lock_blocks(opened: AuditFile, *, is_new: bool, replay: Path | None) -> Iterator[Block]:
    """Yield what was fixed, and what comes next."""
    name, recorded = opened.audit.payload.audit, opened.lock
    if recorded is None:
        return
    text = "Locked" if is_new else "Locked already:"
    yield f"{text} {name} for {recorded.payload.claim} at {recorded.entry.at:%Y-%m-%dT%H:%M:%SZ}, entry {recorded.entry.seq}."
    yield Table(("fixed", "as"), list(list_fixed(recorded.payload)))
    if replay is None:
        yield f"Next: run the replay, then: caveat audit conclude {name} scores.csv --run-date DATE"
    else:
        yield f"Next: write audit: {name} in {replay}, then: caveat audit run {replay}"


# How a classification without a registry looks in a terminal and as JSON.


def present_case_outcome(case: Case, outcome: CaseOutcome) -> Answer:
    """Present the outcome of a case file: readings, claim before and after, estimate, checklist."""
    document = to_document(outcome.classification)
    document = {
        "schema": document["schema"],
        "verdict": outcome.restricted.verdict,
        "readings": document["readings"],
        "inversion_margin": document["inversion_margin"],
        "original_claim": outcome.restricted.original,
        "restricted_claim": outcome.restricted.restricted,
        "estimate": None if outcome.estimate is None else to_document(outcome.estimate),
        "conditions_not_checked": document["conditions_not_checked"],
        "checklist": [to_document(case_item) for case_item in build_case_items(case, outcome.estimate)],
    }
    return Answer(document, _list_case_outcome_blocks(case, outcome))


def _list_case_outcome_blocks(case: Case, outcome: CaseOutcome) -> Iterator[Block]:
    """Yield the verdict, the claim before and after, why, and the numbers."""
    text, primary = outcome.restricted, outcome.classification.primary
    yield Title(text.verdict)
    yield f"\noriginal claim\n  {text.original}\n\nrestricted claim\n  {text.restricted}"
    yield f"\nwhy\n  {primary.why}"
    yield from _present_margin(case, outcome)
    rows = [describe_reading(reading) for reading in outcome.classification.readings]
    yield ""
    yield Table(("reading", "verdict", "TRACE label", "basis", "sign of ED"), rows)
    yield from present_conditions(primary)
    if len(primary.specs) > 1:
        several = any(spec.judge for spec in primary.specs)
        specs = [
            (
                verdict.spec,
                *((verdict.judge or "–",) if several else ()),
                get_words(verdict.verdict),
                describe_label(verdict),
                "–" if verdict.level is None else share(verdict.level),
            )
            for verdict in primary.specs
        ]
        yield ""
        yield Table(("P_deploy specification", *(("judge",) if several else ()), "verdict", "TRACE label", "level"), specs)
    if outcome.estimate is not None:
        yield ""
        yield from present_estimate(outcome.estimate)
    if text.resolves:
        yield Subtitle("what would resolve it")
        for resolves in text.resolves:
            yield f"  {resolves}"
    items = build_case_items(case, outcome.estimate)
    yield Subtitle(f"minimum reporting: {count_items(items)}")
    if missing := [(item.item, item.note) for item in items if item.status is ItemStatus.MISSING]:
        yield Table(("item", "why"), missing)


def _present_margin(case: Case, outcome: CaseOutcome) -> Iterator[Block]:
    margin = outcome.classification.inversion_margin
    if margin is None:
        return
    low, high = case.claim.property.range
    unit = Unit(low=low, high=high)
    yield f"\ninversion margin Φ_test − θ = {unit.difference(margin, 0.0)}"
    if not outcome.classification.primary.not_met_in_test:
        verb = "suppresses the behaviour" if case.claim.effective_relation is Relation.AT_MOST else "raises the score"
        yield f"  an evaluation that {verb} by more than {unit.difference(abs(margin), 0.0)} would already flip this claim"


def describe_reading(reading_verdict: ReadingVerdict) -> tuple[str, str, str, str, str]:
    """Return a reading as a row: form, verdict with its standing, TRACE label, basis, sign of ED."""
    verdict = format_verdict(reading_verdict.verdict, reading_verdict.verdict_standing)
    return (
        reading_verdict.form.value.replace("_", " "),
        verdict,
        describe_label(reading_verdict),
        reading_verdict.basis.value,
        reading_verdict.direction.value if reading_verdict.direction else "–",
    )


def describe_label(decision: ReadingVerdict | SpecVerdict) -> str:
    """TRACE's class with its standing or mode."""
    return " · ".join(get_words(part) for part in (decision.class_, decision.standing or decision.mode) if part is not None)


def present_conditions(primary: ReadingVerdict) -> Iterator[Block]:
    """Present what an established verdict requires and what is met of that, and what the harness would have seen."""
    if primary.control:
        yield ""
        yield primary.control
    if not primary.conditions:
        return
    yield ""
    rows = [(get_words(condition.condition), get_words(condition.status), condition.note) for condition in primary.conditions]
    yield Table(("condition of an established verdict", "status", "why"), rows)


# How an exploration looks in a terminal: labelled before anything else.

LABEL = "EXPLORATORY: not fixed before, and no verdict rests on it"


def present_exploration(record: Recorded[Exploration], *, is_new: bool) -> Iterator[Block]:
    """Present the label, the question and the settings, then the estimate."""
    exploration = record.payload
    yield Title(LABEL)
    recorded = "" if is_new else " (recorded already)"
    yield f"{exploration.audit} of {exploration.claim}, entry {record.entry.seq}{recorded}: {exploration.question}"
    yield f"differs from the plan: {'; '.join(exploration.differs) or 'in nothing but that it was not fixed for these scores'}"
    yield from present_estimate(exploration.estimate)


# How audits and their outcomes look in a terminal and as JSON.


def present_concluded(
    concluded: AuditConclusion,
    imported: ImportedLog | None = None,
    *,
    items: Sequence[ChecklistItem] = (),
    opposed: Opposition | None = None,
) -> Answer:
    """Present the outcome of an import, with minimum reporting, the accounts of the logs, and the audit that disagrees, if any."""
    document = {
        "schema": "caveat/audit-conclude/1",
        "audit": concluded.audit,
        "new": concluded.is_new,
        "restriction": to_document(concluded.restriction),
        "checklist": [to_document(item) for item in items],
        "opposed": to_document(opposed) if opposed else None,
        **({"imported": to_document(imported)} if imported else {}),
    }
    return Answer(document, _list_concluded_blocks(concluded, items, opposed))


def _list_concluded_blocks(concluded: AuditConclusion, items: Sequence[ChecklistItem], opposed: Opposition | None) -> Iterator[Block]:
    """Yield the outcome of an import, verdict first."""
    restriction = concluded.restriction
    yield Title(f"{concluded.audit} of {restriction.claim}{'' if concluded.is_new else ': recorded before, nothing changed'}")
    # The record has the verdict of this audit by itself. What counts for the claim is said first.
    if opposed is not None:
        yield describe_disagreement(concluded.audit, restriction.classification.primary.verdict, opposed)
    yield from present_outcome(restriction, items)
    yield f"\nNext: caveat report {restriction.claim.partition('@')[0]} -o supplements"


def present_outcome(restriction: Restriction, items: Sequence[ChecklistItem]) -> Iterator[Block]:
    """Present the outcome of a claim, and which of the *items* of minimum reporting are missing."""
    yield Title(restriction.text.verdict)
    if restriction.post_hoc:
        yield "Post hoc: the scores could have been seen before the plan was fixed."
    yield f"\n  original    {restriction.text.original}\n  restricted  {restriction.text.restricted}\n"
    rows = [describe_reading(reading) for reading in restriction.classification.readings]
    yield Table(("reading", "verdict", "TRACE label", "basis", "sign of ED"), rows)
    yield from present_conditions(restriction.classification.primary)
    yield f"\nwhy: {restriction.classification.primary.why}"
    if restriction.asked is not None:
        yield f"who was asked: {restriction.asked.text}"
    for resolves in restriction.text.resolves:
        yield f"what would resolve it: {resolves}"
    if restriction.valid_until is not None:
        yield f"valid until {restriction.valid_until}"
    missing = ", ".join(item.item for item in items if item.status is ItemStatus.MISSING)
    yield f"minimum reporting: {count_items(items)}{f': {missing}' if missing else ''}"


def present_audit(file: AuditFile, dossier: Dossier, asked_now: ModelIdentity | None = None) -> Iterator[Block]:
    """Present one audit: what was planned, what was brought in, what came of it.

    Args:
        dossier: of its claim.
        asked_now: who was asked for the last outcome, by the endpoint names in force; None without scores.
    """
    audit = file.audit.payload
    yield Title(f"{audit.audit} of {audit.claim} by {audit.auditor} ({audit.independence.value.replace('_', ' ')})")
    if audit.renews:
        relation = "carries out" if file.lock else "has no lock, so nothing shows that it carries out"
        yield f"{relation} the plan of {audit.renews} again"
    if audit.objection:
        yield f"under the rival of {audit.objection}: its outcome counts for the claim once that is upheld"
    if file.withdrawn:
        yield f"withdrawn {file.withdrawn.entry.at:%Y-%m-%d}, entry {file.withdrawn.entry.seq}: {file.withdrawn.payload.reason}"
    yield from _present_lock(file)
    records: list[Recorded[Any]] = [*file.evidence, *file.findings, *file.starts, *file.ends, *file.runs, *file.results]
    records.sort(key=lambda record: record.entry.seq)
    rows = [(str(record.entry.seq), record.entry.kind, describe(record.payload)) for record in records]
    if rows:
        yield Table(("entry", "kind", "what"), rows, numbers=("entry",))
    yield from _present_deviations(file)
    for exploration in file.explorations:
        yield from present_exploration(exploration, is_new=True)
    yield from _present_outcomes(file, dossier, asked_now)


def _present_lock(file: AuditFile) -> Iterator[Block]:
    audit = file.audit.payload
    if file.lock:
        yield f"locked {file.lock.entry.at:%Y-%m-%d %H:%M:%S} UTC, entry {file.lock.entry.seq}"
        yield Table(("fixed before the replay", "as"), list(list_fixed(file.lock.payload)))
        if audit.renews:
            yield f"rules, budget and notes are quoted from {audit.renews}: statements about a run are about the run of that audit"
        for name in file.lock.payload.unfixed:
            yield f"not fixed before the replay: {name}"
    else:
        yield "no lock: nothing shows that the plan was fixed before the scores"
    if file.lock and (runs := describe_runs(file.history)):
        yield runs


def _present_outcomes(file: AuditFile, dossier: Dossier, asked_now: ModelIdentity | None) -> Iterator[Block]:
    for recorded in file.restrictions:
        yield from present_outcome(recorded.payload, build_audit_items(dossier, file, recorded))
        if is_expired(recorded.payload.valid_until, dossier.today):
            yield f"expired: it was valid until {recorded.payload.valid_until}, so it is provisional at most; the claim needs review"
        if (counted := find_counted(dossier, recorded)) is not None and counted.opposed is not None:
            yield describe_disagreement(counted.audit, counted.verdict, counted.opposed)
    then = file.restrictions[-1].payload.asked if file.restrictions else None
    if asked_now is not None and asked_now.differs_from(then):
        yield f"who was asked, by the endpoint names in force: {asked_now.text}"


def _present_deviations(file: AuditFile) -> Iterator[Block]:
    deviations = [deviation.payload for deviation in file.deviations]
    for departure in list_deviations(deviations):
        reasons = [more.reason for more in deviations if more.reason and more.departure == departure.departure]
        why = f"explained: {'; then: '.join(reasons)}" if reasons else "not explained"
        yield f"✗ not as locked: {departure.item.words}: {departure.done}; planned: {departure.planned}; {why}"


def summarise_audit(file: AuditFile, counted: Mapping[int, FamilyOutcome], *, today: date | None) -> dict[str, Any]:
    """Return an audit of a listing as a document, with its outcome as it counts on *today*, and next to others (*counted*, by entry)."""
    standing, label = _find_standing(file, counted, today)
    audit, outcome = file.audit.payload, file.restrictions[-1].payload if file.restrictions else None
    last_day = outcome.valid_until if outcome else None
    return {
        "audit": audit.audit,
        "claim": audit.claim,
        "auditor": audit.auditor,
        "locked_at": f"{file.lock.entry.at:%Y-%m-%dT%H:%M:%SZ}" if file.lock else None,
        "verdict": outcome.classification.primary.verdict if outcome else None,
        "verdict_standing": standing,
        "valid_until": last_day.isoformat() if last_day else None,
        "expired": is_expired(last_day, today),
        "withdrawn": file.withdrawn.payload.reason if file.withdrawn else None,
        "class": outcome.classification.primary.class_.value if outcome else None,
        "standing": label,
        "mode": outcome.classification.primary.mode if outcome else None,
        "basis": outcome.basis.value if outcome else None,
    }


def _find_standing(
    file: AuditFile, counted: Mapping[int, FamilyOutcome], today: date | None
) -> tuple[VerdictStanding | None, Standing | None]:
    """Return how firm the last outcome of *file* is, in Caveat's word and in TRACE's."""
    if not file.restrictions:
        return None, None
    last = file.restrictions[-1]
    primary, member = last.payload.classification.primary, counted.get(last.entry.seq)
    standing = member.standing if member else weaken(primary.verdict_standing, last.payload.valid_until, today)
    return standing, lower_reading(primary, standing).standing


def describe_listed(file: AuditFile, counted: Mapping[int, FamilyOutcome], *, today: date | None) -> str:
    """Return the outcome of an audit of a listing in a few words, as it counts on *today*, and next to others (*counted*, by entry)."""
    if not file.restrictions:
        return "withdrawn" if file.withdrawn else "locked, no outcome yet" if file.lock else "no outcome yet"
    outcome = file.restrictions[-1].payload
    primary, last_day = outcome.classification.primary, outcome.valid_until
    expired = f"; expired {last_day}" if is_expired(last_day, today) else ""
    standing, label = _find_standing(file, counted, today)
    member = counted.get(file.restrictions[-1].entry.seq)
    trace = describe_label(replace(primary, standing=label))
    return f"{format_verdict(primary.verdict, standing)} ({trace}; {outcome.basis.value}{expired}{name_opposition(member, is_here=True)})"


def list_audit_columns(*, is_all: bool) -> tuple[Column[dict[str, Any]], ...]:
    """Return the columns of a list of audits, each as `summarise_audit` gives it; with *is_all* the log is shown."""

    def get(name: str) -> Callable[[dict[str, Any]], Any]:
        return lambda line: line[name]

    names = ("verdict", "verdict_standing", "class", "standing", "mode", "basis", "valid_until", "expired", "withdrawn")
    return (
        Column(name="log", read=get("log"), is_shown=is_all),
        Column(name="audit", read=get("audit")),
        Column(name="claim", read=get("claim")),
        Column(name="auditor", read=get("auditor")),
        Column(name="locked_at", read=get("locked_at"), show=lambda line: str(line["locked_at"] or "no lock")[:10], is_spare=True),
        *(Column(name=name, read=get(name), is_shown=False) for name in names),
        Column(name="outcome", read=get("outcome")),
    )
