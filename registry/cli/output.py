"""One result, two reporters: JSON for programs, text for people. Data goes to standard output."""

import json
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from registry.errors import Fault


def print_json(document: Mapping[str, Any]) -> None:
    """Print *document* as JSON, two spaces deep; what does not show is escaped, so that data cannot drive the terminal."""
    click.echo(escape_json(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)))


def escape_json(text: str) -> str:
    """Return the JSON *text* with control, direction and other characters that leave no mark written as `\\uXXXX`."""
    hidden = {ord(character): json.dumps(character)[1:-1] for character in set(text) if not _is_harmless(character)}
    return text.translate(hidden) if hidden else text


def print_text(text: Callable[[Console], None]) -> None:
    """Let *text* print to standard output, without markup, as wide as the terminal (100 columns when piped)."""
    width = None if sys.stdout.isatty() else 100
    text(_CarefulConsole(file=sys.stdout, markup=False, highlight=False, emoji=False, width=width, soft_wrap=False))


class _CarefulConsole(Console):
    """Shows what texts hide, whether or not the command that prints them thought of it."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return *text* to be printed, its control and direction characters made visible."""
        return super().render_str(show(text), **options)


def build_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[str] = ()) -> Table:
    """Return a quiet table; the columns named in *numbers* are right-aligned."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(show(cell)) for cell in row))
    return table


def show(text: object) -> str:
    """Return *text* for a terminal: control and bidirectional characters made visible, so that data cannot drive the terminal."""
    return "".join(character if _is_harmless(character) else f"[U+{ord(character):04X}]" for character in str(text))


def _is_harmless(character: str) -> bool:
    return character.isprintable() or character in "\n\t" or unicodedata.category(character) == "Zs"


def fault_document(faults: Sequence[Fault]) -> dict[str, Any]:
    """Return the faults as the document that `--json` prints on standard error."""
    return {
        "schema": "caveat/error/1",
        "faults": [{"code": one.code, "where": one.where, "found": one.found, "advice": one.advice} for one in faults],
    }
