"""What a replay or a renewal takes and what came of it, for people and for programs."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from audit.cli.renewal_session import Renewal, RenewalJob
from audit.cli.run_session import RunSession
from audit.renew.renewal_choice import NOT_AUDITED, ClaimRenewal, SkippedClaim, count_transitions, describe_class
from audit.replay.call_engine import LOST, UNSENT, RunSummary
from audit.replay.replay_provenance import ArmCellCounts
from audit.replay.run_budget import SpentAmount, format_usd
from registry.cli.card_comparison_presenter import render_redline
from registry.codec.canonical_documents import to_document
from registry.present.answers import Answer, describe_fault
from registry.present.blocks import Block, Subtitle, Table, Title
from registry.records.supplement import ClaimChange
from registry.report.number_format import Unit, format_items

# What a replay takes and what came of it, for people and for programs.


def describe_plan(session: RunSession) -> str:
    """Return in a sentence or two what is about to be done."""
    ahead, replay = session.forecast, session.replay
    locks = " and ".join(replay.audits)
    basis = f"under the lock of {locks}" if locks else "exploratory: no audit is named, so no lock precedes it"
    settled = f", {ahead.settled} settled before" if ahead.settled else ""
    responses, calls = format_items(ahead.cells, "response"), format_items(ahead.total.calls, "call")
    return f"{replay.name}: {responses} planned, {calls} to make{settled} ({basis})\nrun folder: {session.folder}"


def present_forecast(session: RunSession) -> Answer:
    """Present what a replay would take."""
    ahead = session.forecast
    document = {
        "schema": "caveat/run-forecast/1",
        "replay": session.replay.name,
        "folder": str(session.folder),
        "audits": list(session.replay.audits),
        "planned": ahead.cells,
        "shared": ahead.shared,
        "settled": ahead.settled,
        "failed": ahead.failed,
        "lost": ahead.lost,
        "calls": ahead.total.calls,
        "models": [{"model": model, **to_document(amount)} for model, amount in ahead.by_model.items()],
        "input_tokens_are": "estimated at four bytes a token",
        "output_tokens_are": "the most that max_tokens allows",
        "budget": {name: getattr(session.replay.budget, name) for name in ("calls", "input_tokens", "output_tokens", "usd")},
    }
    return Answer(document, _list_forecast_blocks(session))


def _list_forecast_blocks(session: RunSession) -> Iterator[Block]:
    """Yield what the replay would take."""
    ahead = session.forecast
    yield describe_plan(session)
    if ahead.shared:
        yield f"{ahead.shared} responses are those of other cells: same request, same sample"
    if ahead.failed:
        yield f"{format_items(ahead.failed, 'call')} failed before; --retry-failed sends them again"
    if ahead.lost:
        yield f"{ahead.lost} calls were in flight when an earlier run ended; --repeat-lost sends them again"
    rows = [
        (model, f"{amount.calls:,}", f"{amount.input_tokens:,}", f"{amount.output_tokens:,}", _name_cost(amount))
        for model, amount in ahead.by_model.items()
    ]
    if rows:
        numbers = ("calls", "input tokens", "output tokens", "US $")
        yield Table(("model", *numbers), rows, numbers=numbers)
    if ahead.total.usd is None:
        yield "The cost is unknown: there is no price for the model. Give --prices FILE (caveat admin schema prices)."
    yield "Nothing was sent. Input is estimated at four bytes a token; output is what max_tokens allows."


def present_run(session: RunSession, summary: RunSummary, arms: Sequence[ArmCellCounts]) -> Answer:
    """Present a run: what was answered, what it cost, and what comes next."""
    document = {
        "schema": "caveat/run/1",
        "replay": session.replay.name,
        "folder": str(session.folder),
        "audits": list(session.replay.audits),
        "complete": summary.stopped is None and not summary.interrupted,
        "stopped": None if summary.stopped is None else summary.stopped.code,
        "interrupted": summary.interrupted,
        "answered": summary.answered,
        "failures": dict(summary.failures),
        "settled_before": summary.settled_before,
        "lost": summary.lost,
        "maybe_billed_twice": summary.maybe_billed_twice,
        "requests": summary.attempts,
        "input_tokens": summary.input_tokens,
        "output_tokens": summary.output_tokens,
        "spent": to_document(summary.spent),
        "models": {name: list(model) for name, model in summary.models.items()},
        "fingerprints": list(summary.fingerprints),
        "elapsed_s": round(summary.elapsed_s, 3),
        "arms": [_document_arm(arm) for arm in arms],
    }
    return Answer(document, _list_run_blocks(session, summary, arms))


def _list_run_blocks(session: RunSession, summary: RunSummary, arms: Sequence[ArmCellCounts]) -> Iterator[Block]:
    """Yield what came of a run, and what to do next."""
    rows = [
        (_name_arm(arm), *map(str, (arm.cells, arm.answered, arm.refused, arm.truncated, arm.empty, sum(arm.failures.values()), arm.open)))
        for arm in arms
    ]
    numbers = ("planned", "answered", "refused", "truncated", "empty", "failed", "open")
    yield Table(("arm", *numbers), rows, numbers=numbers)
    left = sum(counts.open for counts in arms)
    if left and summary.stopped is None and not summary.interrupted:
        yield f"{left} open responses are of an earlier version of the replay's file, which no longer asks for them"
    failures: dict[str, int] = {}
    for counts in arms:
        for code, count in counts.failures.items():
            failures[code] = failures.get(code, 0) + count
    if failures:
        tally = ", ".join(f"{count} {code}" for code, count in sorted(failures.items()))
        yield f"failed: {tally}; {_describe_sent_again(failures)}"
    yield (
        f"this run: {summary.answered} answers by {summary.attempts} requests in {summary.elapsed_s:.1f} s, "
        f"{summary.input_tokens:,} input and {summary.output_tokens:,} output tokens"
    )
    yield f"this folder so far: {format_items(summary.spent.calls, 'call')}, cost {_name_cost(summary.spent)}"
    for model, returned in ((model, returned) for model, returned in summary.models.items() if returned):
        yield f"model asked {model}, answered {', '.join(returned)}"
    # The name of the model did not change, so the run goes on; a provider may answer from several configurations at once.
    if len(summary.fingerprints) > 1:
        yield f"warning: the system fingerprint changed during the run: {', '.join(summary.fingerprints)}; provenance names them all"
    if summary.lost:
        yield f"{summary.lost} calls were in flight when an earlier run ended; they may have been billed; --repeat-lost sends them again"
    if summary.maybe_billed_twice:
        yield f"{summary.maybe_billed_twice} requests were repeated after no answer came; they may have been billed twice"
    if summary.stopped is None and not summary.interrupted:
        yield f"Next: {session.following or f'caveat audit score {session.folder}'}"
    else:
        yield f"To go on: {session.resume_command}"


def _describe_sent_again(codes: Collection[str]) -> str:
    """Say what sends calls again that failed by *codes*: an option, another one, or the next run by itself."""
    unsent, lost = sorted(set(codes) & UNSENT), sorted(set(codes) & {LOST})
    options = (("--retry-failed", sorted(set(codes) - UNSENT - {LOST})), ("--repeat-lost", lost))
    remedies = [f"{name} sends {'them' if len(texts) == len(codes) else ', '.join(texts)} again" for name, texts in options if texts]
    return "; ".join([*remedies, *([f"{', '.join(unsent)}: made when the run goes on"] if unsent else [])])


def _name_arm(arm_cell_counts: ArmCellCounts) -> str:
    name = f"{arm_cell_counts.arm} ({arm_cell_counts.spec})" if arm_cell_counts.spec else arm_cell_counts.arm
    return f"{name} without {arm_cell_counts.cue_removed}" if arm_cell_counts.cue_removed else name


def _name_cost(amount: SpentAmount) -> str:
    return "unknown" if amount.usd is None else format_usd(amount.usd)


def _document_arm(arm_cell_counts: ArmCellCounts) -> dict[str, Any]:
    names = ("arm", "spec", "cue_removed", "cells", "answered", "refused", "truncated", "empty", "open")
    return {**{name: getattr(arm_cell_counts, name) for name in names}, "failures": arm_cell_counts.failures}


# A renewal as a document: what was chosen, what it takes, its outcome, and what is left.

SCHEMA = "caveat/renewal/1"


def summarise_renewal(renewal: Renewal, changes: Sequence[ClaimChange], *, log_size: int, is_forecast: bool) -> dict[str, Any]:
    """Return the document of *renewal*.

    Args:
        changes: of the claims with renewed audits that have their outcome, newly inverted first.
        log_size: entries of the log when it was made.
        is_forecast: whether nothing was recorded: a dry run.
    """
    by_claim = {change.claim: change for change in changes}
    return {
        "schema": SCHEMA,
        "log_size": log_size,
        "model_asked": renewal.wish.ask,
        "folder": str(renewal.output),
        "dry_run": is_forecast,
        "complete": not any(renewal.list_faults()) and not renewal.interrupted,
        "interrupted": renewal.interrupted,
        "replays": [_summarise_job(job) for job in renewal.jobs],
        "calls": to_document(renewal.total),
        "input_tokens_are": "estimated at four bytes a token",
        "output_tokens_are": "the most that max_tokens allows",
        "renewals": [
            _summarise_chosen(job, claim_renewal, by_claim.get(claim_renewal.claim.claim))
            for job in renewal.jobs
            for claim_renewal in job.group.chosen
        ],
        "newly_inverted": [claim_change.claim for claim_change in changes if claim_change.newly_inverted],
        "transitions": [{"before": before, "after": after, "claims": count} for before, after, count in count_transitions(changes)],
        "left": [_summarise_left(claim) for claim in renewal.left],
    }


def tell_state(job: RenewalJob, claim_renewal: ClaimRenewal) -> str:
    """Return how far the renewal of one audit has come: concluded, planned, locked, elsewhere, or failed."""
    if claim_renewal.is_concluded:
        return "concluded"
    if job.faults:
        return "failed"
    if job.is_elsewhere and claim_renewal.renewed is not None:
        return "elsewhere"
    return "locked" if claim_renewal.renewed is not None else "planned"


def _summarise_job(job: RenewalJob) -> dict[str, Any]:
    ahead, is_here = job.forecast, job.group.recording is not None
    return {
        "replay": job.group.replay.as_posix() if is_here else None,
        "run": job.group.run.as_posix() if is_here else None,
        "recording": job.group.recording.place.as_posix() if job.group.recording else None,
        "renews": [renewal.lock.audit for renewal in job.group.chosen],
        "audits": [renewal.renewed.audit.payload.audit for renewal in job.group.chosen if renewal.renewed],
        "planned": ahead.cells if ahead else None,
        "settled": ahead.settled if ahead else None,
        "failed": ahead.failed if ahead else None,
        "lost": ahead.lost if ahead else None,
        "to_make": to_document(ahead.total) if ahead else None,
        "judge": job.judge,
        "answered": job.summary.answered if job.summary else None,
        "faults": [describe_fault(fault) for fault in job.faults],
    }


def _summarise_chosen(job: RenewalJob, claim_renewal: ClaimRenewal, change: ClaimChange | None) -> dict[str, Any]:
    audit = claim_renewal.renewed.audit.payload.audit if claim_renewal.renewed else None
    return {
        "claim": claim_renewal.claim.claim,
        "revision": claim_renewal.claim.reference,
        "renews": claim_renewal.lock.audit,
        "audit": audit,
        "before": to_document(claim_renewal.before),
        "after": to_document(claim_renewal.target),
        "state": tell_state(job, claim_renewal),
        "notes": list(claim_renewal.notes),
        "not_measured": list(job.remarks.get(audit or "", ())),
        "change": None if change is None else to_document(change),
    }


def _summarise_left(skipped_claim: SkippedClaim) -> dict[str, Any]:
    return {
        "claim": skipped_claim.claim,
        "audit": skipped_claim.audit,
        "to_be_done": skipped_claim.is_open,
        **describe_fault(skipped_claim.fault),
    }


# A renewal in a terminal: what it takes, what moved with newly inverted claims first, and what could not be done.

_NUMBERS = ("responses", "calls", "input tokens", "output tokens", "US $")
_ELSEWHERE = "its run is made elsewhere: caveat audit conclude {audit} TABLE --run-date DATE"


def present_plan(renewal: Renewal, *, is_forecast: bool) -> Iterator[Block]:
    """Present which audits are renewed, and what their replays take."""
    for before, after in dict.fromkeys((claim_renewal.before, claim_renewal.target) for claim_renewal in renewal.chosen):
        audits = [
            claim_renewal.lock.audit for claim_renewal in renewal.chosen if (claim_renewal.before, claim_renewal.target) == (before, after)
        ]
        yield f"{len(audits):,} audit{'s' if len(audits) > 1 else ''} of {before}, to be run again on {after}:"
        yield f"  {', '.join(audits)}"
    for claim_renewal in renewal.chosen:
        for note in claim_renewal.notes:
            yield f"  {claim_renewal.claim.claim}: {note}"
    yield from _present_cost(renewal)
    if is_forecast:
        yield from _present_left(renewal)
        yield from _present_none(renewal)
        yield "Nothing was sent and nothing recorded. Input is estimated at four bytes a token; output is what max_tokens allows."


def present_renewal(renewal: Renewal, changes: Sequence[ClaimChange]) -> Iterator[Block]:
    """Present the outcome of a renewal: newly inverted claims, what moved, how the texts changed, and what is left."""
    yield from present_movement(changes)
    for job in renewal.jobs:
        yield from _present_job(job)
    yield from _present_left(renewal)
    yield from _present_none(renewal)
    if changes:
        yield "\nNext: caveat report --stale -o DIR"


def _present_none(renewal: Renewal) -> Iterator[Block]:
    if not renewal.chosen and not renewal.left:
        model = f" about {renewal.wish.model}" if renewal.wish.model else ""
        yield f"Repeating a plan resolves no stale claim{model}.\nNext: caveat stale list"


def present_movement(changes: Sequence[ClaimChange]) -> Iterator[Block]:
    """Present newly inverted claims, how far each moved, and how the texts changed; nothing without changes."""
    yield from _present_inverted(changes)
    if changes:
        yield Table(("claim", "before", "after", "ΔED"), [_describe(change) for change in changes])
        for before, after, count in count_transitions(changes):
            yield f"{count:,} × {before} → {after}"
        for change in changes:
            yield from _present_texts(change)


def _present_cost(renewal: Renewal) -> Iterator[Block]:
    jobs = [job for job in renewal.jobs if job.forecast is not None]
    rows = [_describe_cost(job) for job in jobs]
    if len(rows) > 1:
        planned = sum(job.forecast.cells for job in jobs if job.forecast)
        rows.append(("together", f"{planned:,}", *_write_amount(renewal.total)))
    for job in jobs:
        if job.group.recording is not None:
            yield f"{job.group.folder.name}: as recorded in {job.group.recording.place}"
    if rows:
        yield Table(("replay", *_NUMBERS), rows, numbers=_NUMBERS)
    if rows and renewal.total.usd is None:
        yield "The cost is unknown: there is no price for the model. Give --prices FILE (caveat admin schema prices)."
    for job in jobs:
        if job.judge is not None:
            where = job.group.run
            yield f"{job.group.folder.name}: {job.judge} scores its responses by calls of its own (caveat audit score {where} --dry-run)"


def _describe_cost(job: RenewalJob) -> tuple[str, ...]:
    ahead = job.forecast
    if ahead is None:
        raise ValueError("a replay without a forecast has no line")
    return job.group.folder.name, f"{ahead.cells:,}", *_write_amount(ahead.total)


def _write_amount(amount: SpentAmount) -> tuple[str, ...]:
    usd = "unknown" if amount.usd is None else format_usd(amount.usd)
    return f"{amount.calls:,}", f"{amount.input_tokens:,}", f"{amount.output_tokens:,}", usd


def _present_inverted(changes: Sequence[ClaimChange]) -> Iterator[Block]:
    claim_changes = [change for change in changes if change.newly_inverted]
    if not claim_changes:
        return
    yield Title(f"▼ NEWLY INVERTED: {len(claim_changes):,} claim{'s' if len(claim_changes) > 1 else ''}")
    for change in claim_changes:
        yield f"  {change.claim} ({describe_class(change.before)} → {describe_class(change.after)}): {change.after.quote}"
        yield f"    {change.after.verdict}"
    yield ""


def _describe(claim_change: ClaimChange) -> tuple[str, str, str, str]:
    return (
        claim_change.claim,
        describe_class(claim_change.before),
        describe_class(claim_change.after),
        "; ".join(_list_shifts(claim_change)) or "–",
    )


def _list_shifts(claim_change: ClaimChange) -> list[str]:
    """Return how far ED moved against each specification; the name stands there where there are several."""
    if claim_change.after.range is None:
        return []
    unit = Unit(low=claim_change.after.range[0], high=claim_change.after.range[1])
    texts = []
    for step in claim_change.steps:
        ends = "" if step.ed.low is None or step.ed.high is None else f" ({unit.numbers(step.ed.low, step.ed.high)})"
        texts.append(f"{step.spec + ': ' if len(claim_change.steps) > 1 else ''}{unit.number(step.ed.value)}{ends} {unit.points}")
    return texts


def _present_texts(change: ClaimChange) -> Iterator[Block]:
    before, after = change.before.restricted if change.before else None, change.after.restricted
    if after is None or before == after:
        return
    yield Subtitle(f"{change.claim}: {NOT_AUDITED if before is None else 'restricted claim, old to new'}")
    yield f"  {after if before is None else render_redline(before, after)}"


def _present_job(job: RenewalJob) -> Iterator[Block]:
    for renewal in job.group.chosen:
        audit = renewal.renewed.audit.payload.audit if renewal.renewed else ""
        match tell_state(job, renewal):
            case "elsewhere":
                yield f"{renewal.claim.claim}: {_ELSEWHERE.format(audit=audit)}"
            case "locked":
                yield f"{renewal.claim.claim}: {audit} is locked; its run: caveat audit run {job.group.replay}"
            case _:
                pass
        for remark in job.remarks.get(audit, ()):
            yield f"{audit}: {remark}"


def _present_left(renewal: Renewal) -> Iterator[Block]:
    failed = [job for job in renewal.jobs if job.faults]
    if failed:
        yield Subtitle("could not be done")
    for job in failed:
        for fault in job.faults:
            yield f"  {fault.code}: {fault.where}: {fault.found}"
            yield from _present_advice(fault.advice)
        # A fault names a file or an endpoint; readers ask which claims still wait.
        waiting = [claim_renewal.claim.claim for claim_renewal in job.group.chosen if not claim_renewal.is_concluded]
        yield f"    not renewed: {', '.join(waiting)}"
    if renewal.left:
        yield Subtitle("not renewed")
    for (code, text, advice), claims in _group_left(renewal.left).items():
        yield f"  {code}: {text}"
        yield f"    {', '.join(claims)}"
        yield from _present_advice(advice)


def _group_left(left: Sequence[SkippedClaim]) -> dict[tuple[str, str, str | None], list[str]]:
    """Return the claims that are left by why and what to do, in which their own names stand as CLAIM."""
    alike: dict[tuple[str, str, str | None], list[str]] = {}
    for claim in left:
        advice = claim.fault.advice.replace(claim.claim, "CLAIM") if claim.fault.advice else None
        alike.setdefault((claim.fault.code, claim.fault.found, advice), []).append(claim.claim)
    return alike


def _present_advice(advice: str | None) -> Iterator[Block]:
    if advice:
        yield f"    fix: {advice}"
