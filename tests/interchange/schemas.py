"""Validators made of the vendored schemas; docs of their origin and licences: schemas/README.md."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft4Validator, Draft7Validator
from jsonschema.protocols import Validator
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT7

FOLDER = Path(__file__).parent / "schemas"
_NEIGHBOURS = ("spdx", "jsf-0.82", "cryptography-defs")


def _read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.schema.json").read_bytes())


@cache
def load(name: str) -> Validator:
    """Return the validator of the schema in *name*`.schema.json`."""
    if name == "bom-1.7":
        base = _read(name)["$id"].rpartition("/")[0]
        resources = [(f"{base}/{other}.SNAPSHOT.schema.json", Resource(_read(other), DRAFT7)) for other in _NEIGHBOURS]
        return Draft7Validator(_read(name), registry=Registry().with_resources(resources))
    if name == "sarif-2.1.0":
        return Draft4Validator(_read(name))
    return Draft7Validator(_read(name))


def list_faults(name: str, document: Any) -> list[str]:
    """Return what the schema says against *document*."""
    return [f"{error.json_path}: {error.message[:200]}" for error in load(name).iter_errors(document)]
