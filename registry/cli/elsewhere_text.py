"""How claims of other registries about the same passage look in a terminal."""

from collections.abc import Sequence

from rich.console import Console

from registry.cli.output import show
from registry.report.families import describe_outcome
from registry.transfer.elsewhere import Elsewhere


def print_elsewhere(console: Console, found: Sequence[Elsewhere]) -> None:
    """Print one line for each claim of another log; nothing where there is none."""
    if found:
        console.print("\nother registries on the same passage", style="bold")
    for one in found:
        console.print(show(f"  {one.origin}: {one.claim} {_describe(one)}"), soft_wrap=True)
        if one.is_doubtful:
            console.print("    this log signed two histories: others may be shown another one (caveat log show)", soft_wrap=True)


def _describe(one: Elsewhere) -> str:
    if one.status is None:
        return f"cannot be read here: {one.problem}"
    if one.outcome is None:
        return f"{one.status.lifecycle.value} · no outcome recorded"
    flags = [] if one.status.lifecycle.value in ("registered", "published") else [one.status.lifecycle.value]
    flags += [] if one.status.dispute.value == "undisputed" else [one.status.dispute.value]
    told = "".join(f", {flag}" for flag in flags)
    return f"{describe_outcome(one.outcome)}{told}, {one.outcome.audit}"
