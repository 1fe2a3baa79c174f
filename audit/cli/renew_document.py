"""A renewal as a document: what was chosen, what it takes, what became of it, and what is left."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.cli.renew_session import Job, Renewal
from audit.renewing.choice import Chosen, Left
from audit.renewing.movement import count_transitions
from audit.replay.run_budget import SpentAmount
from registry.codec.canonical_documents import to_document
from registry.errors import Fault
from registry.records.supplement import ClaimChange

SCHEMA = "caveat/renewal/1"


def summarise_renewal(renewal: Renewal, changes: Sequence[ClaimChange], *, log_size: int, is_forecast: bool) -> dict[str, Any]:
    """Return the document of *renewal*.

    Args:
        changes: of the claims whose renewed audits have their outcome, newly inverted first.
        log_size: entries of the log when it was made.
        is_forecast: whether nothing was recorded: a dry run.
    """
    by_claim = {one.claim: one for one in changes}
    return {
        "schema": SCHEMA,
        "log_size": log_size,
        "model_asked": renewal.wish.ask,
        "folder": str(renewal.output),
        "dry_run": is_forecast,
        "complete": not any(renewal.list_faults()) and not renewal.interrupted,
        "interrupted": renewal.interrupted,
        "replays": [_summarise_job(job) for job in renewal.jobs],
        "calls": _summarise_amount(renewal.total),
        "input_tokens_are": "estimated at four bytes a token",
        "output_tokens_are": "the most that max_tokens allows",
        "renewals": [_summarise_chosen(job, one, by_claim.get(one.claim.claim)) for job in renewal.jobs for one in job.group.chosen],
        "newly_inverted": [one.claim for one in changes if one.newly_inverted],
        "transitions": [{"before": before, "after": after, "claims": count} for before, after, count in count_transitions(changes)],
        "left": [_summarise_left(one) for one in renewal.left],
    }


def tell_state(job: Job, one: Chosen) -> str:
    """Return how far the renewal of one audit has come: concluded, planned, locked, elsewhere, or failed."""
    if one.is_concluded:
        return "concluded"
    if job.faults:
        return "failed"
    if job.is_elsewhere and one.renewed is not None:
        return "elsewhere"
    return "locked" if one.renewed is not None else "planned"


def _summarise_job(job: Job) -> dict[str, Any]:
    ahead, is_here = job.forecast, job.group.recording is not None
    return {
        "replay": _write(job.group.replay) if is_here else None,
        "run": _write(job.group.run) if is_here else None,
        "recording": _write(job.group.recording.place) if job.group.recording else None,
        "renews": [one.lock.audit for one in job.group.chosen],
        "audits": [one.renewed.audit.payload.audit for one in job.group.chosen if one.renewed],
        "planned": ahead.cells if ahead else None,
        "settled": ahead.settled if ahead else None,
        "failed": ahead.failed if ahead else None,
        "lost": ahead.lost if ahead else None,
        "to_make": _summarise_amount(ahead.total) if ahead else None,
        "judge": job.judge,
        "answered": job.summary.answered if job.summary else None,
        "faults": [_summarise_fault(one) for one in job.faults],
    }


def _summarise_chosen(job: Job, one: Chosen, change: ClaimChange | None) -> dict[str, Any]:
    audit = one.renewed.audit.payload.audit if one.renewed else None
    return {
        "claim": one.claim.claim,
        "revision": one.claim.reference,
        "renews": one.lock.audit,
        "audit": audit,
        "before": to_document(one.before),
        "after": to_document(one.target),
        "state": tell_state(job, one),
        "notes": list(one.notes),
        "not_measured": list(job.remarks.get(audit or "", ())),
        "change": None if change is None else to_document(change),
    }


def _summarise_left(one: Left) -> dict[str, Any]:
    return {"claim": one.claim, "audit": one.audit, "to_be_done": one.is_open, **_summarise_fault(one.fault)}


def _summarise_fault(fault: Fault) -> dict[str, Any]:
    return {name: getattr(fault, name) for name in ("code", "where", "found", "advice")}


def _summarise_amount(amount: SpentAmount) -> dict[str, Any]:
    return {"calls": amount.calls, "input_tokens": amount.input_tokens, "output_tokens": amount.output_tokens, "usd": amount.usd}


def _write(path: Path) -> str:
    return path.as_posix()
