"""Write docs/record.md: every field of the record of a supplement, from its JSON Schema and from the docstrings of the records.

    python tools/record_dictionary.py

A test compares the page with the schema.
"""

import ast
import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/record.md"
NOUNS = {
    "string": "text",
    "number": "number",
    "integer": "whole number",
    "boolean": "true or false",
    "null": "null",
    "array": "list",
    "object": "object",
}
"""The types of JSON Schema in words."""
HEAD = """\
# Record of a supplement

For people who read supplements by program. After this page you can find a figure in the JSON file and know what it means.

Each claim supplement contains its record: as the file `NAME.json`, and inside the PDF and the HTML file. The record is one JSON
document with the schema `{schema}`. `caveat admin schema supplement` prints the JSON Schema. This page lists the same fields with
their meaning. The tool `tools/record_dictionary.py` generates it.

* **Required** fields are always there. For an optional field the table gives the default value.
* Names of types lead to their tables. "List of" means a JSON array.
* Shares and scores are numbers on the scale of the property, not per cent: 0.5 means 50 %.
* Instants are in UTC, as `2026-11-21T10:00:00Z`.
* `Recorded_X_` is the statement X with its entry in the log.

Start with [`Supplement`](#supplement). For the verdict read `verdict`, `figures` and `audit`. For the state of the claim read `status` and
`reasons`. [Reading a supplement](supplement.md) explains the printed page.
"""


def build_page() -> str:
    """Return the whole page."""
    sys.path.insert(0, str(ROOT))
    from registry.codec.canonical_documents import json_schema  # noqa: PLC0415 (found only after the line above)
    from registry.records.supplement import Supplement  # noqa: PLC0415

    schema = json_schema(Supplement)
    types = {"Supplement": schema, **schema["$defs"]}
    meanings = dict(list_meanings())
    parts = [HEAD.format(schema=schema["properties"]["schema"]["const"])]
    parts.extend(describe_type(name, types[name], meanings) for name in order_types(types))
    return "\n".join(parts)


def list_meanings() -> Iterator[tuple[tuple[str, str], str]]:
    """Yield (class, field) and the field's docstring, for all classes of both packages."""
    for path in sorted([*ROOT.glob("registry/**/*.py"), *ROOT.glob("audit/**/*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for field, text in pairwise(node.body) if isinstance(node, ast.ClassDef) else ():
                match field, text:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(meaning))):
                        yield (node.name, name), meaning


def order_types(types: dict[str, Any]) -> list[str]:
    """Return the names of *types* as a reader meets them: each after the first type that refers to it."""
    names = ["Supplement"]
    for name in names:
        names.extend(found for found in dict.fromkeys(list_references(types[name].get("properties", types[name]))) if found not in names)
    return names


def list_references(node: Any) -> Iterator[str]:
    """Yield the names of the types that a part of the schema refers to."""
    if isinstance(node, dict):
        if "$ref" in node:
            yield node["$ref"].rsplit("/", 1)[-1]
        for value in node.values():
            yield from list_references(value)
    elif isinstance(node, list):
        for value in node:
            yield from list_references(value)


def describe_type(name: str, definition: dict[str, Any], meanings: dict[tuple[str, str], str]) -> str:
    """Return heading, description and table of one type."""
    lines = [f"## `{name}`", "", squeeze(definition.get("description", "")).split(" Args:")[0].split(" Attributes:")[0], ""]
    if "enum" in definition:
        lines += ["Values: " + ", ".join(f"`{value}`" for value in definition["enum"]) + ".", ""]
    elif "properties" in definition:
        lines += ["| field | type | required | meaning |", "|---|---|---|---|"]
        owner = re.sub(r"_.*", "", name)
        required = definition.get("required", [])
        for field, part in definition["properties"].items():
            need = "yes" if field in required else f"default {format_value(part.get('default'))}"
            lines.append(
                f"| `{field}` | {describe_part(part)} | {need} | {squeeze(meanings.get((owner, field), '')).replace('|', chr(92) + '|')} |"
            )
        lines.append("")
    else:
        lines += [f"Type: {describe_part(definition)}.", ""]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def describe_part(part: dict[str, Any]) -> str:
    """Return the type of a field in words, with links to other types."""
    match part:
        case {"$ref": reference}:
            name = reference.rsplit("/", 1)[-1]
            words = f"[`{name}`](#{name.lower()})"
        case {"const": value}:
            words = f"the text `{value}`"
        case {"enum": values}:
            words = " or ".join(f"`{value}`" for value in values)
        case {"anyOf": members} | {"oneOf": members}:
            words = " or ".join(dict.fromkeys(describe_part(member) for member in members))
        case {"type": "array", "prefixItems": items}:
            words = "list of " + ", ".join(describe_part(item) for item in items)
        case {"type": "array", "items": {**item}} if item:
            words = f"list of {describe_part(item)}"
        case {"type": "object", "additionalProperties": {**values}} if values:
            words = f"object with values of {describe_part(values)}"
        case {"format": "date-time" | "date" as kind}:
            words = {"date-time": "instant", "date": "date"}[kind]
        case _:
            words = NOUNS.get(part.get("type", ""), "any value")
    return words


def format_value(value: Any) -> str:
    """Return a default value for a table; long ones only by their kind."""
    words = {None: "null", True: "true", False: "false"}
    if value is None or isinstance(value, bool):
        return words[value]
    if isinstance(value, dict):
        return "empty object" if not any(value.values()) else "object"
    return "empty list" if value == [] else f"`{value}`"


def squeeze(text: str) -> str:
    """Return *text* on one line, with JSON's word for None."""
    return re.sub(r"\bNone\b", "null", " ".join(text.split()))


if __name__ == "__main__":
    PAGE.write_text(build_page(), encoding="utf-8")
