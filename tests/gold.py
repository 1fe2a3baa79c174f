"""The hand-coded claims of real cards as claims files; the data are not ours and are never part of the project."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SHARED = Path(os.environ.get("CAVEAT_SHARED", Path(__file__).resolve().parents[2] / "shared")) / "data"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="the shared data are not here (set CAVEAT_SHARED)")

_CLASSES = {"agency_meta": "agency_meta_task"}
_RELATIONS = {"<": "<=", "<=": "<=", ">": ">=", ">=": ">="}


def read_gold() -> list[dict[str, Any]]:
    """Return the gold claims."""
    with (SHARED / "claims_gold.jsonl").open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def card_path(gold: dict[str, Any]) -> Path:
    """Return the file the claim was published in: the PDF where there is one."""
    return SHARED / (gold["source_file"] or gold["text_file"])


def write_claims_file(path: Path, card: str, claims: list[dict[str, Any]]) -> None:
    """Write *claims* as the file that `caveat claim add` takes."""
    properties: dict[str, Any] = {}
    drafts = [dict(_draft(one, properties)) for one in claims]
    model = {"developer": claims[0]["vendor"], "name": claims[0]["card_model"], "version": claims[0]["card_version"] or "unknown"}
    document = {"schema": "caveat/claims/1", "card": card, "model": model, "properties": properties, "claims": drafts}
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def _draft(gold: dict[str, Any], properties: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    slug = re.sub(r"[^a-z0-9]+", "-", f"{gold['property']} {gold['id']}".lower()).strip("-")
    scale, high = _scale(gold)
    properties[slug] = {
        "name": gold["property"],
        "class": _CLASSES.get(gold["property_class"], gold["property_class"]),
        "range": [0, high],
        "direction": gold["safety_direction"],
    }
    form = gold["logical_form"]
    yield from (("quote", gold["quote"]), ("form", form), ("property", slug), ("note", gold["id"]))
    if form == "threshold":
        yield "relation", _RELATIONS[gold["comparator"]]
    theta = gold["theta"] or {}
    if form not in ("existence", "prevalence") and theta.get("kind") == "absolute" and theta.get("value") is not None:
        yield "theta", theta["value"] * scale
    reported = gold["reported"] or {}
    if reported.get("value") is not None:
        yield "reported", reported["value"] * scale
    if gold["source_file"] and gold["page"]:
        yield "page", gold["page"]


def _scale(gold: dict[str, Any]) -> tuple[float, float]:
    """Return the factor from the card's unit to the range, and the top of the range."""
    units = {(gold["reported"] or {}).get("unit"), (gold["theta"] or {}).get("unit")} - {None}
    if any(str(unit).startswith("%") for unit in units):
        return 0.01, 1
    return 1, 1000
