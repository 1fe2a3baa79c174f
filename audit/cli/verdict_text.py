"""How audits and their outcomes look in a terminal and as JSON."""

from collections.abc import Sequence
from datetime import date
from typing import Any

from rich.console import Console
from rich.table import Table

from audit.cli.classify_text import describe_label, describe_reading, print_conditions
from audit.cli.explore_text import print_exploration
from audit.cli.lock_text import list_fixed
from audit.docket import Concluded
from audit.records.model_response import ImportedLog
from registry.cli.log_presenter import describe
from registry.cli.terminal_output import build_table, show
from registry.codec.canonical_documents import to_document
from registry.records.analysis_plan import list_departures
from registry.records.dossier import AuditFile, Dossier, Recorded
from registry.records.replay_run import ModelIdentity, describe_runs
from registry.records.verdict import ChecklistItem, ItemStatus, Restriction, is_expired, weaken
from registry.report.checklist import build_audit_items, count_items
from registry.report.wording import format_verdict


def summarise_concluded(
    concluded: Concluded, imported: ImportedLog | None = None, *, items: Sequence[ChecklistItem] = ()
) -> dict[str, Any]:
    """Return the outcome of an import as a document, with minimum reporting, and the accounts of the logs where there were any."""
    return {
        "schema": "caveat/audit-import/1",
        "audit": concluded.audit,
        "new": concluded.is_new,
        "restriction": to_document(concluded.restriction),
        "checklist": [to_document(one) for one in items],
        **({"imported": to_document(imported)} if imported else {}),
    }


def print_concluded(console: Console, concluded: Concluded, items: Sequence[ChecklistItem]) -> None:
    """Print the outcome of an import, verdict first."""
    one = concluded.restriction
    console.print(f"{concluded.audit} of {one.claim}{'' if concluded.is_new else ': recorded before, nothing changed'}", style="bold")
    print_outcome(console, one, items)
    console.print(f"\nNext: caveat report {one.claim.partition('@')[0]} -o supplements")


def print_outcome(console: Console, one: Restriction, items: Sequence[ChecklistItem]) -> None:
    """Print what became of a claim, and which of the *items* of minimum reporting are missing."""
    console.print(show(one.text.verdict), style="bold")
    if one.post_hoc:
        console.print("Post hoc: the scores could have been seen before the plan was fixed.")
    console.print(show(f"\n  original    {one.text.original}\n  restricted  {one.text.restricted}\n"))
    rows = [describe_reading(reading) for reading in one.classification.readings]
    console.print(build_table(("reading", "verdict", "TRACE label", "basis", "sign of ED"), rows))
    print_conditions(console, one.classification.primary)
    console.print(show(f"\nwhy: {one.classification.primary.why}"))
    if one.asked is not None:
        console.print(show(f"who was asked: {one.asked.text}"))
    for resolves in one.text.resolves:
        console.print(show(f"what would resolve it: {resolves}"))
    if one.valid_until is not None:
        console.print(f"valid until {one.valid_until}")
    missing = ", ".join(item.item for item in items if item.status is ItemStatus.MISSING)
    console.print(show(f"minimum reporting: {count_items(items)}{f': {missing}' if missing else ''}"))


def print_audit(console: Console, file: AuditFile, dossier: Dossier, asked_now: ModelIdentity | None = None) -> None:
    """Print one audit: what was planned, what was brought in, what came of it.

    Args:
        dossier: of its claim.
        asked_now: who was asked for the last outcome, by the endpoint names in force; None without scores.
    """
    audit = file.audit.payload
    console.print(show(f"{audit.audit} of {audit.claim} by {audit.auditor} ({audit.independence.value.replace('_', ' ')})"), style="bold")
    if audit.renews:
        told = "carries out" if file.lock else "has no lock, so nothing shows that it carries out"
        console.print(f"{told} the plan of {audit.renews} again")
    if audit.contestation:
        console.print(f"under the rival of {audit.contestation}: its outcome counts for the claim once that is upheld")
    _print_lock(console, file)
    said: list[Recorded[Any]] = [*file.evidence, *file.findings, *file.starts, *file.ends, *file.runs, *file.results]
    said.sort(key=lambda one: one.entry.seq)
    rows = [(str(one.entry.seq), one.entry.kind.value, describe(one.payload)) for one in said]
    if rows:
        console.print(build_table(("entry", "kind", "what"), rows, numbers=("entry",)))
    _print_deviations(console, file)
    for one in file.explorations:
        print_exploration(console, one, is_new=True)
    _print_outcomes(console, file, dossier, asked_now)


def _print_lock(console: Console, file: AuditFile) -> None:
    audit = file.audit.payload
    if file.lock:
        console.print(f"locked {file.lock.entry.at:%Y-%m-%d %H:%M:%S} UTC, entry {file.lock.entry.seq}")
        console.print(build_table(("fixed before the replay", "as"), list(list_fixed(file.lock.payload))))
        if audit.renews:
            console.print(f"rules, budget and notes are quoted from {audit.renews}: what they tell of a run is told of its run")
        for name in file.lock.payload.unfixed:
            console.print(f"not fixed before the replay: {name}")
    else:
        console.print("no lock: nothing shows that the plan was fixed before the scores")
    if file.lock and (told := describe_runs(file.history)):
        console.print(show(told))


def _print_outcomes(console: Console, file: AuditFile, dossier: Dossier, asked_now: ModelIdentity | None) -> None:
    for recorded in file.restrictions:
        print_outcome(console, recorded.payload, build_audit_items(dossier, file, recorded))
        if is_expired(recorded.payload.valid_until, dossier.today):
            console.print(
                f"expired: it was valid until {recorded.payload.valid_until}, so it is provisional at most; the claim needs review"
            )
    then = file.restrictions[-1].payload.asked if file.restrictions else None
    if asked_now is not None and asked_now.differs_from(then):
        console.print(show(f"who was asked, by the endpoint names in force: {asked_now.text}"))


def _print_deviations(console: Console, file: AuditFile) -> None:
    said = [one.payload for one in file.deviations]
    for one in list_departures(said):
        reasons = [more.reason for more in said if more.reason and more.departure == one.departure]
        why = f"explained: {'; then: '.join(reasons)}" if reasons else "nobody has explained it"
        console.print(show(f"✗ otherwise than locked: {one.item.words}: {one.done}; planned: {one.planned}; {why}"))


def summarise_audit(file: AuditFile, *, today: date | None) -> dict[str, Any]:
    """Return an audit of a listing as a document, with its outcome as it counts on *today*."""
    audit, outcome = file.audit.payload, file.restrictions[-1].payload if file.restrictions else None
    last_day = outcome.valid_until if outcome else None
    return {
        "audit": audit.audit,
        "claim": audit.claim,
        "auditor": audit.auditor,
        "locked_at": f"{file.lock.entry.at:%Y-%m-%dT%H:%M:%SZ}" if file.lock else None,
        "verdict": outcome.classification.primary.verdict if outcome else None,
        "verdict_standing": weaken(outcome.classification.primary.verdict_standing, last_day, today) if outcome else None,
        "valid_until": last_day.isoformat() if last_day else None,
        "expired": is_expired(last_day, today),
        "class": outcome.classification.primary.class_.value if outcome else None,
        "standing": outcome.classification.primary.standing if outcome else None,
        "mode": outcome.classification.primary.mode if outcome else None,
        "basis": outcome.basis.value if outcome else None,
    }


def build_audit_table(audits: Sequence[AuditFile], *, today: date | None) -> Table:
    """Return a listing of audits as they count on *today*, one line each."""
    rows = []
    for file in audits:
        line = summarise_audit(file, today=today)
        outcome = "no outcome yet"
        if file.restrictions:
            primary = file.restrictions[-1].payload.classification.primary
            expired = f"; expired {line['valid_until']}" if line["expired"] else ""
            outcome = f"{format_verdict(primary.verdict, line['verdict_standing'])} ({describe_label(primary)}; {line['basis']}{expired})"
        rows.append((line["audit"], line["claim"], line["auditor"], "locked" if line["locked_at"] else "no lock", outcome))
    return build_table(("audit", "claim", "auditor", "lock", "outcome"), rows)
