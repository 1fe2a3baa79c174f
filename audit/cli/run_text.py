"""What a replay takes and what came of it, for people and for programs."""

from collections.abc import Collection, Sequence
from typing import Any

from rich.console import Console

from audit.cli.run_session import Session
from audit.replay.call_engine import LOST, UNSENT, RunSummary
from audit.replay.replay_provenance import ArmCellCounts
from audit.replay.run_budget import SpentAmount, format_usd
from registry.cli.terminal_output import build_table
from registry.report.numbers import format_items


def describe_plan(session: Session) -> str:
    """Return in a sentence or two what is about to be done."""
    ahead, replay = session.forecast, session.replay
    locks = " and ".join(replay.audits)
    basis = f"under the lock of {locks}" if locks else "exploratory: no audit is named, so no lock precedes it"
    settled = f", {ahead.settled} settled before" if ahead.settled else ""
    responses, calls = format_items(ahead.cells, "response"), format_items(ahead.total.calls, "call")
    return f"{replay.name}: {responses} planned, {calls} to make{settled} ({basis})\nrun folder: {session.folder}"


def summarise_forecast(session: Session) -> dict[str, Any]:
    """Return the document of a dry run."""
    ahead = session.forecast
    return {
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
        "models": [{"model": model, **_document_amount(amount)} for model, amount in ahead.by_model.items()],
        "input_tokens_are": "estimated at four bytes a token",
        "output_tokens_are": "the most that max_tokens allows",
        "budget": {name: getattr(session.replay.budget, name) for name in ("calls", "input_tokens", "output_tokens", "usd")},
    }


def print_forecast(console: Console, session: Session) -> None:
    """Print what the replay would take."""
    ahead = session.forecast
    console.print(describe_plan(session))
    if ahead.shared:
        console.print(f"{ahead.shared} responses are those of other cells: same request, same sample")
    if ahead.failed:
        console.print(f"{format_items(ahead.failed, 'call')} failed before; --retry-failed sends them again")
    if ahead.lost:
        console.print(f"{ahead.lost} calls were in flight when an earlier run ended; --repeat-lost sends them again")
    rows = [
        (model, f"{one.calls:,}", f"{one.input_tokens:,}", f"{one.output_tokens:,}", _name_cost(one))
        for model, one in ahead.by_model.items()
    ]
    if rows:
        numbers = ("calls", "input tokens", "output tokens", "US $")
        console.print(build_table(("model", *numbers), rows, numbers=numbers))
    if ahead.total.usd is None:
        console.print("The cost is unknown: there is no price for the model. Give --prices FILE (caveat schema prices).")
    console.print("Nothing was sent. Input is estimated at four bytes a token; output is what max_tokens allows.")


def summarise_run(session: Session, summary: RunSummary, arms: Sequence[ArmCellCounts]) -> dict[str, Any]:
    """Return the document of a run."""
    return {
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
        "spent": _document_amount(summary.spent),
        "models": {asked: list(found) for asked, found in summary.models.items()},
        "elapsed_s": round(summary.elapsed_s, 3),
        "arms": [_document_arm(one) for one in arms],
    }


def print_run(console: Console, session: Session, summary: RunSummary, arms: Sequence[ArmCellCounts]) -> None:
    """Print what came of a run, and what to do next."""
    rows = [
        (_name_arm(one), *map(str, (one.cells, one.answered, one.refused, one.truncated, one.empty, sum(one.failures.values()), one.open)))
        for one in arms
    ]
    numbers = ("planned", "answered", "refused", "cut", "empty", "failed", "open")
    console.print(build_table(("arm", *numbers), rows, numbers=numbers))
    left = sum(one.open for one in arms)
    if left and summary.stopped is None and not summary.interrupted:
        console.print(f"{left} open responses are of an earlier version of the replay's file, which no longer asks for them")
    failures: dict[str, int] = {}
    for one in arms:
        for code, count in one.failures.items():
            failures[code] = failures.get(code, 0) + count
    if failures:
        told = ", ".join(f"{count} {code}" for code, count in sorted(failures.items()))
        console.print(f"failed: {told}; {_tell_sent_again(failures)}")
    console.print(
        f"this run: {summary.answered} answers by {summary.attempts} requests in {summary.elapsed_s:.1f} s, "
        f"{summary.input_tokens:,} input and {summary.output_tokens:,} output tokens"
    )
    console.print(f"this folder so far: {format_items(summary.spent.calls, 'call')}, cost {_name_cost(summary.spent)}")
    for asked, returned in summary.models.items():
        console.print(f"model asked {asked}, answered {', '.join(returned)}")
    if summary.lost:
        console.print(
            f"{summary.lost} calls were in flight when an earlier run ended; they may have been billed; --repeat-lost sends them again"
        )
    if summary.maybe_billed_twice:
        console.print(f"{summary.maybe_billed_twice} requests were repeated after no answer came; they may have been billed twice")
    if summary.stopped is None and not summary.interrupted:
        console.print(f"Next: {session.following or f'caveat score {session.folder}'}")
    else:
        console.print(f"To go on: {session.resume_command}")


def _tell_sent_again(codes: Collection[str]) -> str:
    """Say what sends calls again that failed by *codes*: an option, another one, or the next run by itself."""
    unsent, lost = sorted(set(codes) & UNSENT), sorted(set(codes) & {LOST})
    options = (("--retry-failed", sorted(set(codes) - UNSENT - {LOST})), ("--repeat-lost", lost))
    told = [f"{name} sends {'them' if len(found) == len(codes) else ', '.join(found)} again" for name, found in options if found]
    return "; ".join([*told, *([f"{', '.join(unsent)}: made when the run goes on"] if unsent else [])])


def _name_arm(one: ArmCellCounts) -> str:
    name = f"{one.arm} ({one.spec})" if one.spec else one.arm
    return f"{name} without {one.cue_removed}" if one.cue_removed else name


def _name_cost(amount: SpentAmount) -> str:
    return "unknown" if amount.usd is None else format_usd(amount.usd)


def _document_amount(amount: SpentAmount) -> dict[str, Any]:
    return {"calls": amount.calls, "input_tokens": amount.input_tokens, "output_tokens": amount.output_tokens, "usd": amount.usd}


def _document_arm(one: ArmCellCounts) -> dict[str, Any]:
    names = ("arm", "spec", "cue_removed", "cells", "answered", "refused", "truncated", "empty", "open")
    return {**{name: getattr(one, name) for name in names}, "failures": one.failures}
