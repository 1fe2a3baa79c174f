"""`/openapi.json`: the operations and the formats of their answers as OpenAPI 3.1. Nothing is described here a second time."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import version
from typing import Any

from web.api.formats import build_schemas
from web.api.operations import JSON, PATH_PARAMETERS, Operation, Parameter, list_operations

_PROBLEM = "application/problem+json"
_SCHEMAS = "#/components/schemas/"
_LOCAL = "#/$defs/"
_REFERENCE = re.compile(rf'"{re.escape(_LOCAL)}([^"]+)"')
_STATUSES = {
    304: "What the reader has is still what would be sent.",
    400: "A parameter is unknown, given twice, or has a value that it cannot have.",
    404: "There is no such thing here; the advice names what may have been meant.",
    410: "Its text was erased.",
    429: "Too many requests from this address; `Retry-After` says when to go on.",
    500: "An entry that the answer rests on was altered.",
    503: "The registry cannot be read now, or the question is too broad.",
}
_EVERYWHERE = (400, 404, 429, 500, 503)


@cache
def render_openapi(*, is_live: bool, base: str | None) -> bytes:
    """Return the document.

    Args:
        is_live: whether a server answers; a site of files has only the static operations.
        base: the address of the site; None where it is not known.
    """
    operations = [operation for operation in list_operations() if is_live or (operation.is_static and operation.media_type == JSON)]
    schemas = dict(_list_schemas({*(one.answer for one in operations if one.answer), "problem"}))
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Caveat: a registry of claims",
            "version": version("caveat"),
            "description": "Claims of AI system cards, their audits, and the log that proves what was said when. Nothing can be written.",
        },
        "jsonSchemaDialect": "https://json-schema.org/draft/2020-12/schema",
        "servers": [{"url": base or "/"}],
        "paths": {_find_path(one, is_live=is_live): {"get": _describe(one, is_live=is_live)} for one in operations},
        "components": {"schemas": schemas},
    }
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def _find_path(operation: Operation, *, is_live: bool) -> str:
    return operation.path if is_live or operation.path.endswith(".json") else f"{operation.path}.json"


def _describe(operation: Operation, *, is_live: bool) -> dict[str, Any]:
    places = [PATH_PARAMETERS[name] for name in operation.places]
    statuses = sorted({*_EVERYWHERE, *operation.statuses, *(() if operation.is_file else (304,))}) if is_live else [404]
    content: dict[str, Any] = {"schema": {"$ref": f"{_SCHEMAS}{operation.answer}"}} if operation.answer else {}
    return {
        "operationId": operation.name,
        "summary": operation.about,
        "parameters": [
            *(_describe_parameter(one, "path") for one in places),
            *(_describe_parameter(one, "query") for one in operation.parameters if is_live),
        ],
        "responses": {
            "200": {"description": "What was asked for.", "content": {operation.media_type: content}},
            **{str(status): _describe_status(status) for status in statuses},
        },
    }


def _describe_status(status: int) -> dict[str, Any]:
    if status == 304:
        return {"description": _STATUSES[status]}
    problem = {_PROBLEM: {"schema": {"$ref": f"{_SCHEMAS}problem"}}, "text/html": {}}
    return {"description": _STATUSES[status], "content": problem}


def _describe_parameter(parameter: Parameter, place: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string", "minLength": 1, "maxLength": parameter.longest}
    if parameter.is_number:
        schema = {"type": "integer", "minimum": parameter.minimum, "maximum": parameter.maximum}
    if parameter.default is not None:
        schema["default"] = parameter.default
    if parameter.is_repeated:
        schema = {"type": "array", "items": schema}
    described: dict[str, Any] = {"name": parameter.name, "in": place, "description": parameter.about, "required": place == "path"}
    if parameter.example is not None:
        described["example"] = parameter.example
    return {**described, "schema": schema}


def _list_schemas(names: set[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the schema of each format, and each definition once: references are to one document."""
    schemas = {name: build_schemas()[name] for name in sorted(names)}
    written: dict[str, str] = {}
    for name, schema in schemas.items():
        definitions = schema.get("$defs", {})
        places = {part: _name_definition(part, _write_closure(part, definitions), name, written) for part in sorted(definitions)}
        for part, place in places.items():
            yield place, _redirect(definitions[part], places)
        yield name, _redirect({key: value for key, value in schema.items() if key not in ("$defs", "$schema")}, places)


def _name_definition(part: str, closure: str, format_: str, written: dict[str, str]) -> str:
    """Return the name of a definition in the document: its own, unless another format has another definition of this name."""
    if written.setdefault(part, closure) == closure:
        return part
    return f"{format_}.{part}"


def _write_closure(part: str, definitions: dict[str, Any]) -> str:
    """Return a definition with all that it refers to, as a text that is equal for equal definitions."""
    reached, waiting = {part}, [part]
    while waiting:
        for reference in set(_REFERENCE.findall(json.dumps(definitions[waiting.pop()]))) - reached:
            reached.add(reference)
            waiting.append(reference)
    return json.dumps({name: definitions[name] for name in sorted(reached)}, sort_keys=True)


def _redirect(schema: Any, places: Mapping[str, str]) -> Any:
    if isinstance(schema, dict):
        return {key: _point(value, places) if key == "$ref" else _redirect(value, places) for key, value in schema.items()}
    return [_redirect(item, places) for item in schema] if isinstance(schema, list) else schema


def _point(reference: Any, places: Mapping[str, str]) -> Any:
    return f"{_SCHEMAS}{places[reference.removeprefix(_LOCAL)]}" if isinstance(reference, str) else _redirect(reference, places)
