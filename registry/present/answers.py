"""An answer: one JSON document and the blocks that say the same to a person; text of others, made safe to show.

A command parses its options, calls one function and hands the result to a presenter, which returns an `Answer`. Whether `--json` prints the
document or the blocks are rendered is decided in one place, `registry.cli.application.App.report`. Terminal safety lies in the renderers
and not in each presenter: everything that reaches a stream or a page passes through `show` or `render_json`.
"""

import json
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from registry.errors import Fault
from registry.present.blocks import Block


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command answers."""

    document: Mapping[str, Any]
    """With a `schema` field that names its format, such as `caveat/model/1`; formats: `registry.present.answer_formats`."""
    blocks: Iterable[Block] | None = None
    """May be a generator: rendered at most once, and not at all with `--json`. None: people read the document, too."""


def render_json(document: Mapping[str, Any]) -> str:
    """Return *document* as JSON, its schema first, two spaces deep; what does not show is escaped, so that data cannot drive a terminal."""
    # The schema comes first, so that a reader knows what follows.
    first = {"schema": document["schema"]} if "schema" in document else {}
    # NaN is no JSON.
    return escape_json(json.dumps({**first, **document}, ensure_ascii=False, indent=2, allow_nan=False))


def escape_json(text: str) -> str:
    """Return the JSON *text* with control, direction and other characters that leave no mark written as JSON escapes."""
    # Most documents have nothing to escape, and this is a tenth of the work.
    if text.isprintable():
        return text
    hidden = {ord(character): json.dumps(character)[1:-1] for character in set(text) if not _is_harmless(character)}
    return text.translate(hidden) if hidden else text


def show(text: object) -> str:
    """Return *text* for a terminal: control and bidirectional characters made visible, so that data cannot drive the terminal."""
    written = str(text)
    # Most texts have nothing to show: a list of ten thousand claims has three million characters.
    if written.isprintable():
        return written
    return "".join(character if _is_harmless(character) else f"[U+{ord(character):04X}]" for character in written)


def _is_harmless(character: str) -> bool:
    return character.isprintable() or character in "\n\t" or unicodedata.category(character) == "Zs"


def fault_document(faults: Iterable[Fault]) -> dict[str, Any]:
    """Return the faults as the document that `--json` prints on standard error."""
    return {"schema": "caveat/error/1", "faults": [describe_fault(fault) for fault in faults]}


def describe_fault(fault: Fault) -> dict[str, str | None]:
    """Return one fault as part of a document."""
    return {"code": fault.code, "where": fault.where, "found": fault.found, "advice": fault.advice}


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
