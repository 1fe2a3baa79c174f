"""How claims that may no longer stand look in a terminal and as JSON."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console

from registry.cli.claim_text import describe_status, shorten
from registry.codec.documents import to_document
from registry.registration.stale_claims import Remedy, RemedyStep, StaleClaims
from registry.store.summary import ClaimSummary

_SETTLES = {
    Remedy.AUDIT: "a new audit settles it",
    Remedy.REVISION: "a new revision settles it",
    Remedy.PERSON: "a person decides",
}
_CALLED = {Remedy.AUDIT: "a new audit", Remedy.REVISION: "a new revision", Remedy.PERSON: "a person alone"}
Shown = Sequence[tuple[ClaimSummary, tuple[RemedyStep, ...]]]


def summarise_stale(found: StaleClaims, shown: Shown, *, log_size: int) -> dict[str, Any]:
    """Return what `caveat claim stale --json` prints."""
    return {
        "schema": "caveat/claim-stale/1",
        "log_size": log_size,
        "count": len(found.claims),
        "confirmed": found.confirmed,
        "by_cause": {kind.value: number for kind, number in found.count_kinds().items()},
        "by_remedy": {remedy.value: number for remedy, number in found.count_remedies().items()},
        "claims": [_summarise(claim, steps) for claim, steps in shown],
        "has_more": len(shown) < len(found.claims),
    }


def print_stale(console: Console, found: StaleClaims, shown: Shown) -> None:
    """Print counts, then each claim with its causes and what to do about them."""
    total, confirmed = len(found.claims), found.confirmed
    if not total:
        console.print("No claim is stale, or may be.")
        return
    console.print(f"{_count(total)} may no longer stand: {total - confirmed:,} potentially stale, {confirmed:,} confirmed.")
    console.print(f"  by cause: {', '.join(f'{kind.value} {number:,}' for kind, number in found.count_kinds().items())}")
    console.print(f"  settled by: {_list_remedies(found)}")
    for claim, steps in shown:
        console.print(f"\n{claim.claim}@{claim.revision}  {describe_status(claim.status)}", style="bold")
        console.print(f"  “{shorten(claim.quote)}”" if claim.quote is not None else "  (text erased)")
        for step in steps:
            console.print(f"  {step.cause.kind.value}: {step.cause.text} (entry {step.cause.entry}); {_SETTLES[step.remedy]}")
            for command in step.commands:
                console.print(f"      {command}", soft_wrap=True, no_wrap=True)
    console.print('\nAny cause a person may decide: caveat claim confirm CLM-… --why "…", or dismiss; one cause alone: --cause KIND')
    if len(shown) < total:
        console.print(f"{total - len(shown):,} more are not shown: --limit {total}")


def _list_remedies(found: StaleClaims) -> str:
    """Return how many claims each remedy settles whole; the others need several."""
    settled = found.count_remedies()
    several = len(found.claims) - sum(settled.values())
    parts = [f"{_CALLED[remedy]} {number:,}" for remedy, number in settled.items()]
    return ", ".join([*parts, *([f"several of these {several:,}"] if several else [])])


def _summarise(claim: ClaimSummary, steps: Sequence[RemedyStep]) -> dict[str, Any]:
    return {
        **to_document(claim),
        "steps": [
            {"kind": one.cause.kind.value, "what": one.cause.what, "remedy": one.remedy.value, "commands": list(one.commands)}
            for one in steps
        ],
    }


def _count(number: int) -> str:
    return "1 claim" if number == 1 else f"{number:,} claims"
