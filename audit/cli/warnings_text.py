"""How warnings look in a terminal, whatever they are about."""

from collections.abc import Iterable

from rich.console import Console

from registry.cli.terminal_output import show
from registry.records.estimates import EstimateWarning


def print_warnings(console: Console, warnings: Iterable[EstimateWarning], *, named: bool = False) -> None:
    """Print one line for each warning; *named* says of which judge and specification, where there are several."""
    for one in warnings:
        about = ", ".join(part for part in (one.judge and f"judge {one.judge}", one.spec) if part) if named else ""
        console.print(show(f"warning: {one.code}{f' ({about})' if about else ''}: {one.message}"))
