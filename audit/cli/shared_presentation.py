"""Parts of an answer that many presenters share: warnings, and texts of others in a CSV file."""

from collections.abc import Iterable

from rich.console import Console

from registry.cli.terminal_output import show
from registry.records.estimates import EstimateWarning

# How warnings look in a terminal, whatever they are about.


def print_warnings(console: Console, warnings: Iterable[EstimateWarning], *, named: bool = False) -> None:
    """Print one line for each warning; *named* says of which judge and specification, where there are several."""
    for warning in warnings:
        about = ", ".join(part for part in (warning.judge and f"judge {warning.judge}", warning.spec) if part) if named else ""
        console.print(show(f"warning: {warning.code}{f' ({about})' if about else ''}: {warning.message}"))


# Texts of others in a CSV file, which a spreadsheet would compute and a terminal obey.

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet would compute a field that begins so."""


def write_cell(text: str) -> str:
    """Return *text* with what hides made visible, and an apostrophe before one that would be computed."""
    shown = show(text)
    return f"'{shown}" if text.startswith(_FORMULA) else shown


def undo_cell(field: str) -> str:
    """Return a field without the apostrophe that `write_cell` put before it."""
    return field[1:] if field.startswith(tuple(f"'{mark}" for mark in _FORMULA)) else field
