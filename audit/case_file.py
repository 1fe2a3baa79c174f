"""The file that `caveat classify` reads: a claim, its evidence and its plan, with scores beside it (docs/method.md)."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from audit.evidence_units import settle_evidence
from registry.codec.canonical_documents import Json, from_document, json_schema
from registry.codec.file_io import read_document
from registry.errors import Fault, InputError
from registry.records.audit_case import Case

DEFAULT_PROPERTY_NAME = "score"


def read_case(path: Path) -> tuple[Case, Path | None]:
    """Return the case in the YAML or JSON file *path*, and its score table if it names one.

    The table's path is taken relative to the file. A key that is null counts as absent.

    Raises:
        InputError: with every fault and its path inside the file.
    """
    document = _drop_nulls(read_document(path))
    where = str(path)
    if not isinstance(document, dict):
        raise InputError(
            Fault(code="not-valid", where=where, found="expected keys such as claim and evidence", advice="caveat schema case")
        )
    scores = document.pop("scores", None)
    faults = list(_check_scores(scores, where))
    try:
        case = from_document(Case, _complete(document), where=where)
    except InputError as error:
        raise InputError([*error.faults, *faults]) from error
    faults += _check_numbers(case, where)
    try:
        case = replace(case, evidence=settle_evidence(case.evidence, case.claim.property.range, where=f"{where}, evidence"))
    except InputError as error:
        faults += error.faults
    if faults:
        raise InputError(faults)
    return case, None if scores is None else path.parent / scores


def case_schema() -> dict[str, Any]:
    """Return the JSON Schema of the file; it allows what `read_case` fills in: null for absent, a bare number as reported figure."""
    schema = json_schema(Case)
    definitions = schema["$defs"]
    definitions["PropertySpec"]["required"].remove("name")
    definitions["CaseClaim"]["properties"]["reported"]["anyOf"].append({"type": "number"})
    schema["properties"]["scores"] = {"type": "string", "description": "Score table (CSV, JSONL or Parquet), relative to this file."}
    for part in (schema, *definitions.values()):
        for name, value in part.get("properties", {}).items():
            if name not in part.get("required", ()):
                part["properties"][name] = _allow_null(value)
    return schema


def _allow_null(value: dict[str, Any]) -> dict[str, Any]:
    null = {"type": "null"}
    if null in value.get("anyOf", ()):
        return value
    return {"anyOf": [value, null]}


def _drop_nulls(value: Json) -> Any:
    """Null means absent, wherever a key has it."""
    if isinstance(value, dict):
        return {key: _drop_nulls(item) for key, item in value.items() if item is not None}
    return [_drop_nulls(item) for item in value] if isinstance(value, list) else value


def _complete(document: dict[str, Any]) -> dict[str, Any]:
    """Write out what the file may leave short."""
    claim = document.get("claim")
    if not isinstance(claim, dict):
        return document
    claim = dict(claim)
    reported = claim.get("reported")
    if isinstance(reported, (int, float)) and not isinstance(reported, bool):
        claim["reported"] = {"value": reported}
    if isinstance(claim.get("property"), dict):
        claim["property"] = {"name": DEFAULT_PROPERTY_NAME, **claim["property"]}
    return {**document, "claim": claim}


def _check_scores(scores: Any, where: str) -> Iterator[Fault]:
    if scores is not None and not (isinstance(scores, str) and scores.strip()):
        yield Fault(code="not-valid", where=f"{where}, scores", found=f"expected the path of a score table, found {scores!r}")


def _check_numbers(case: Case, where: str) -> Iterator[Fault]:
    """A threshold or a figure outside the range of the score is in another unit, most often per cent."""
    low, high = case.claim.property.range
    reported = case.claim.reported
    numbers = {"theta": case.claim.theta}
    if reported is not None:
        numbers |= {"reported": reported.value, "reported.low": reported.low, "reported.high": reported.high}
    for name, value in numbers.items():
        if value is not None and not low <= value <= high:
            found = f"{value:g} lies outside the range [{low:g}, {high:g}] of the property"
            advice = "write it in the unit of the range, 0.1 for 10 % of [0, 1]; or correct claim.property.range"
            yield Fault(code="outside-range", where=f"{where}, claim.{name}", found=found, advice=advice)
