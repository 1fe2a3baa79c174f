"""A renewal in a terminal: what it takes, what moved with newly inverted claims first, and what could not be done."""

from collections.abc import Sequence

from rich.console import Console

from audit.cli.renew_document import tell_state
from audit.cli.renew_session import Job, Renewal
from audit.renewing.choice import Left
from audit.renewing.movement import NOT_AUDITED, count_transitions, describe_class
from audit.replay.run_budget import SpentAmount, format_usd
from registry.report.units import Unit
from registry.cli.card_comparison_presenter import render_redline
from registry.cli.terminal_output import build_table
from registry.records.supplement import ClaimChange

_NUMBERS = ("responses", "calls", "input tokens", "output tokens", "US $")
_ELSEWHERE = "its run is made elsewhere: caveat audit import {audit} TABLE --run-date DATE"


def print_plan(console: Console, renewal: Renewal, *, is_forecast: bool) -> None:
    """Print which audits are renewed, and what their replays take."""
    for before, after in dict.fromkeys((one.before, one.target) for one in renewal.chosen):
        audits = [one.lock.audit for one in renewal.chosen if (one.before, one.target) == (before, after)]
        console.print(f"{len(audits):,} audit{'s' if len(audits) > 1 else ''} of {before}, to be carried out again on {after}:")
        console.print(f"  {', '.join(audits)}")
    for one in renewal.chosen:
        for note in one.notes:
            console.print(f"  {one.claim.claim}: {note}")
    _print_cost(console, renewal)
    if is_forecast:
        _print_left(console, renewal)
        console.print("Nothing was sent and nothing recorded. Input is estimated at four bytes a token; output is what max_tokens allows.")


def print_renewal(console: Console, renewal: Renewal, changes: Sequence[ClaimChange]) -> None:
    """Print what became of a renewal: newly inverted claims, what moved, how the texts changed, and what is left."""
    print_movement(console, changes)
    for job in renewal.jobs:
        _print_job(console, job)
    _print_left(console, renewal)
    if not renewal.chosen and not renewal.left:
        console.print("Nothing is stale: there is no audit to renew.")
    elif changes:
        console.print("\nNext: caveat report --stale -o DIR")


def print_movement(console: Console, changes: Sequence[ClaimChange]) -> None:
    """Print newly inverted claims, how far each moved, and how the texts changed; nothing without changes."""
    _print_inverted(console, changes)
    if changes:
        console.print(build_table(("claim", "before", "after", "ΔED"), [_describe(one) for one in changes]))
        for before, after, count in count_transitions(changes):
            console.print(f"{count:,} × {before} → {after}")
        for change in changes:
            _print_texts(console, change)


def _print_cost(console: Console, renewal: Renewal) -> None:
    jobs = [job for job in renewal.jobs if job.forecast is not None]
    rows = [_describe_cost(job) for job in jobs]
    if len(rows) > 1:
        planned = sum(job.forecast.cells for job in jobs if job.forecast)
        rows.append(("together", f"{planned:,}", *_write_amount(renewal.total)))
    for job in jobs:
        if job.group.recording is not None:
            console.print(f"{job.group.folder.name}: as recorded in {job.group.recording.place}")
    if rows:
        console.print(build_table(("replay", *_NUMBERS), rows, numbers=_NUMBERS))
    if rows and renewal.total.usd is None:
        console.print("The cost is unknown: there is no price for the model. Give --prices FILE (caveat schema prices).")
    for job in jobs:
        if job.judge is not None:
            where = job.group.run
            console.print(f"{job.group.folder.name}: {job.judge} scores its responses by calls of its own (caveat score {where} --dry-run)")


def _describe_cost(job: Job) -> tuple[str, ...]:
    ahead = job.forecast
    if ahead is None:
        raise ValueError("a replay without a forecast has no line")
    return job.group.folder.name, f"{ahead.cells:,}", *_write_amount(ahead.total)


def _write_amount(amount: SpentAmount) -> tuple[str, ...]:
    usd = "unknown" if amount.usd is None else format_usd(amount.usd)
    return f"{amount.calls:,}", f"{amount.input_tokens:,}", f"{amount.output_tokens:,}", usd


def _print_inverted(console: Console, changes: Sequence[ClaimChange]) -> None:
    found = [one for one in changes if one.newly_inverted]
    if not found:
        return
    console.print(f"▼ NEWLY INVERTED: {len(found):,} claim{'s' if len(found) > 1 else ''}", style="bold")
    for one in found:
        console.print(f"  {one.claim} ({describe_class(one.before)} → {describe_class(one.after)}): {one.after.quote}")
        console.print(f"    {one.after.verdict}")
    console.print()


def _describe(one: ClaimChange) -> tuple[str, str, str, str]:
    return one.claim, describe_class(one.before), describe_class(one.after), "; ".join(_list_shifts(one)) or "–"


def _list_shifts(one: ClaimChange) -> list[str]:
    """Return how far ED moved against each specification; the name stands there where there are several."""
    if one.after.range is None:
        return []
    unit = Unit(low=one.after.range[0], high=one.after.range[1])
    found = []
    for step in one.steps:
        ends = "" if step.ed.low is None or step.ed.high is None else f" ({unit.numbers(step.ed.low, step.ed.high)})"
        found.append(f"{step.spec + ': ' if len(one.steps) > 1 else ''}{unit.number(step.ed.value)}{ends} {unit.points}")
    return found


def _print_texts(console: Console, change: ClaimChange) -> None:
    before, after = change.before.restricted if change.before else None, change.after.restricted
    if after is None or before == after:
        return
    console.print(f"\n{change.claim}: {NOT_AUDITED if before is None else 'restricted claim, old to new'}", style="bold")
    console.print(f"  {after if before is None else render_redline(before, after)}")


def _print_job(console: Console, job: Job) -> None:
    for one in job.group.chosen:
        audit = one.renewed.audit.payload.audit if one.renewed else ""
        match tell_state(job, one):
            case "elsewhere":
                console.print(f"{one.claim.claim}: {_ELSEWHERE.format(audit=audit)}")
            case "locked":
                console.print(f"{one.claim.claim}: {audit} is locked; its run: caveat audit run {job.group.replay}")
            case _:
                pass
        for remark in job.remarks.get(audit, ()):
            console.print(f"{audit}: {remark}")


def _print_left(console: Console, renewal: Renewal) -> None:
    faults = [fault for job in renewal.jobs for fault in job.faults]
    if faults:
        console.print("\ncould not be done", style="bold")
    for fault in faults:
        console.print(f"  {fault.code}: {fault.where}: {fault.found}")
        _print_advice(console, fault.advice)
    if renewal.left:
        console.print("\nnot renewed", style="bold")
    for (code, found, advice), claims in _group_left(renewal.left).items():
        console.print(f"  {code}: {found}")
        console.print(f"    {', '.join(claims)}")
        _print_advice(console, advice)


def _group_left(left: Sequence[Left]) -> dict[tuple[str, str, str | None], list[str]]:
    """Return the claims that are left by why and what to do, in which their own names stand as CLAIM."""
    alike: dict[tuple[str, str, str | None], list[str]] = {}
    for one in left:
        advice = one.fault.advice.replace(one.claim, "CLAIM") if one.fault.advice else None
        alike.setdefault((one.fault.code, one.fault.found, advice), []).append(one.claim)
    return alike


def _print_advice(console: Console, advice: str | None) -> None:
    if advice:
        console.print(f"    next: {advice}")
