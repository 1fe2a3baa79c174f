"""The documents of `caveat site` and of the server, from which the JSON Schemas are made."""

from typing import Any

from registry.present.answer_formats import AnswerFormat, answer, group
from registry.records.claim_status import Status
from registry.records.model_version import ModelRef
from registry.records.statement import Entry

_FAULT = group(code=str, where=str, found=str, advice=str | None)
_LOG = group(origin=str, size=int, root=str)


def list_formats() -> tuple[AnswerFormat, ...]:
    """Return the formats of the web: the first two are printed by commands, the others are answers of the server and files of a site."""
    written = {"folder": str, "log_size": int}
    value = group(value=str, count=int, chosen=bool)
    claim = group(claim=str, digest=str | None, entry=int, quote=str | None, model=ModelRef | None, class_=str | None, status=Status)
    return (
        answer("site-written", "site", **written, written=int, unchanged=int, removed=int),
        answer("site-check", "site check", **written, newer_entries=int, files=int, links=int, faults=list[_FAULT]),
        answer("tiles-written", "admin log tiles", folder=str, written=int, unchanged=int, removed=int, logs=list[str]),
        answer("web-claims", (), log=_LOG, count=int, facets=dict[str, list[value]], items=list[claim], next=str | None),
        answer("web-entries", (), log=_LOG, entries=list[group(entry=Entry, statement=dict[str, Any] | None)], next=str | None),
        answer("web-index", (), log=_LOG, claims=list[group(claim=str, record=str)], feeds=list[str]),
    )
