"""Formats of answers: which command prints which document with `--json`, and the JSON Schema of each, made from the types that make it.

A format is declared once, beside the commands (`registry/cli/answer_formats.py`, `audit/cli/answer_formats.py`); entry points of the group
`caveat.answers` name the functions that list them. `caveat admin schema answers/NAME` prints a schema. Under test every printed document is
validated, so a declaration that differs from what is printed fails.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, Literal, get_type_hints

from pydantic import TypeAdapter
from typing_extensions import TypedDict

DIALECT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class AnswerFormat:
    """A format of documents that commands print with `--json`."""

    name: str
    """Without prefix and number: `model-add` for `caveat/model-add/1`."""
    commands: tuple[str, ...]
    """That print it, without `caveat`."""
    type_: Any
    """A record, a union of records, or what `group` returns."""

    @property
    def schema(self) -> str:
        """What the field `schema` of a document says."""
        return f"caveat/{self.name}/1"

    def build_schema(self) -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of the documents; it is closed: a field that is not declared is an error."""
        schema = TypeAdapter(self.type_).json_schema(by_alias=True, mode="serialization")
        return {"$schema": DIALECT, **_close(schema), "title": self.schema}


def group(*records: Any, without: Sequence[str] = (), **own: Any) -> Any:
    """Return the type of a document with the fields of *records*, but those in *without*, and fields of its *own*.

    A trailing underscore is no part of a field's name: `from_` declares `from`.
    """
    hints = {name: hint for record in records for name, hint in _list_fields(record).items() if name not in without}
    hints |= {name.rstrip("_"): hint for name, hint in own.items()}
    # The syntax that calls TypedDict is for the type checker; these types are made for pydantic alone.
    made: Any = TypedDict("Document", hints)  # type: ignore[misc]
    return made


def answer(name: str, commands: str | tuple[str, ...], /, *records: Any, without: Sequence[str] = (), **own: Any) -> AnswerFormat:
    """Return the format *name* of documents with the field `schema` and the fields that `group` gives them."""
    own["schema"] = Literal[f"caveat/{name}/1"]
    return AnswerFormat(name, (commands,) if isinstance(commands, str) else commands, group(*records, without=without, **own))


def _list_fields(record: Any) -> dict[str, Any]:
    hints = get_type_hints(record, include_extras=True)
    # Only fields: a record also has class variables.
    names = [field.name for field in fields(record)] if is_dataclass(record) else hints
    return {name.rstrip("_"): hints[name] for name in names}


def _close(schema: Any) -> Any:
    """Return *schema* with every object closed that names its properties."""
    if isinstance(schema, dict):
        closed = {key: _close(value) for key, value in schema.items()}
        return {"additionalProperties": False, **closed} if closed.get("type") == "object" and "properties" in closed else closed
    return [_close(item) for item in schema] if isinstance(schema, list) else schema
