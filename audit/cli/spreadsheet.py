"""Texts of others in a CSV file, which a spreadsheet would compute and a terminal obey."""

from registry.cli.terminal_output import show

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet would compute a field that begins so."""


def write_cell(text: str) -> str:
    """Return *text* with what hides made visible, and an apostrophe before one that would be computed."""
    shown = show(text)
    return f"'{shown}" if text.startswith(_FORMULA) else shown


def undo_cell(field: str) -> str:
    """Return a field without the apostrophe that `write_cell` put before it."""
    return field[1:] if field.startswith(tuple(f"'{mark}" for mark in _FORMULA)) else field
