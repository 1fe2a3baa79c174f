"""One result, two reporters: JSON for programs, text for people."""

import errno
import json
import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from registry.cli.standard_streams import can_encode
from registry.errors import Fault


def print_json(document: Mapping[str, Any]) -> None:
    """Print *document* as `render_json` writes it."""
    # The shell can close standard output, and then nothing would be printed or said.
    _check_open()
    sys.stdout.write(_escape_missing(render_json(document)) + "\n")
    sys.stdout.flush()


def render_json(document: Mapping[str, Any]) -> str:
    """Return *document* as JSON, its schema first, two spaces deep; what does not show is escaped, so that data cannot drive a terminal."""
    # The schema comes first, so that a reader knows what follows.
    first = {"schema": document["schema"]} if "schema" in document else {}
    # NaN is no JSON.
    return escape_json(json.dumps({**first, **document}, ensure_ascii=False, indent=2, allow_nan=False))


def _escape_missing(text: str) -> str:
    """The JSON *text* with characters that standard output cannot show as escapes, so that programs read the same document."""
    if text.isascii():
        return text
    # An escape is the same document; a question mark would be another one.
    missing = {ord(character): json.dumps(character)[1:-1] for character in set(text) if not can_encode(character, sys.stdout)}
    return text.translate(missing) if missing else text


def escape_json(text: str) -> str:
    """Return the JSON *text* with control, direction and other characters that leave no mark written as `\\uXXXX`."""
    hidden = {ord(character): json.dumps(character)[1:-1] for character in set(text) if not _is_harmless(character)}
    return text.translate(hidden) if hidden else text


def print_text(text: Callable[[Console], None]) -> None:
    """Let *text* print to standard output, without markup, as wide as the terminal (100 columns when piped)."""
    _check_open()
    # Piped output has no width of its own; a fixed one makes it the same everywhere.
    width = None if sys.stdout.isatty() else 100
    # Markup and highlighting are off: texts of cards contain brackets.
    text(_CarefulConsole(file=sys.stdout, markup=False, highlight=False, emoji=False, width=width, soft_wrap=False))


def _check_open() -> None:
    """Python has no standard output where the shell closed it (`>&-`); the answer would be lost without a word."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")


_LABEL = re.compile(r"\s*(?:[\w-]+: +|\S+ {2,})?")
"""What stands before the text of a line: its indent, and one word with a colon or set apart by spaces."""


# Terminal safety lies here and not in each command (decision of 2026-11-21): everything that
# reaches a stream passes through it. The cost is that tests walk the whole tree of commands.
class _CarefulConsole(Console):
    """Shows what texts hide, whether or not the command that prints them thought of it, and wraps a line under its own text."""

    def print(self, *objects: Any, **options: Any) -> None:
        """Print *objects*; a text too long for a line goes on under its beginning, not under its indent or label."""
        if len(objects) == 1 and isinstance(objects[0], str) and not options.get("no_wrap"):
            objects = ("\n".join(self._hang(line) for line in show(objects[0]).split("\n")),)
        super().print(*objects, **options)

    def _hang(self, line: str) -> str:
        match = _LABEL.match(line)
        label = match[0] if match else ""
        # A label longer than half the line leaves no room for its text.
        if len(line) <= self.width or len(label) > self.width / 2:
            return line
        pieces = [piece.plain.rstrip() for piece in Text(line[len(label) :]).wrap(self, self.width - len(label))]
        return label + f"\n{' ' * len(label)}".join(pieces)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return *text* to be printed, its control and direction characters made visible."""
        return super().render_str(show(text), **options)


def build_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Sequence[str] = ()) -> Table:
    """Return a quiet table; the columns named in *numbers* are right-aligned."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for column in columns:
        # Identifiers and commands are folded, never cut off.
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
        "faults": [{"code": fault.code, "where": fault.where, "found": fault.found, "advice": fault.advice} for fault in faults],
    }
