"""The documents that list: claims of a search, entries of the log, faults of a request (RFC 9457), the state of the server."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from registry.codec.canonical_documents import to_document, write_json
from registry.errors import Fault
from registry.present.answers import describe_fault, escape_json, render_json
from registry.store.log_seals import list_checkpoints
from registry.store.registry_view import View
from web.api.claim_rows import read_rows
from web.api.records import describe_log, read_statement
from web.facets import FACETS, NONE, ClaimFilter, ClaimSource, FacetValue, Selection, count_claims, write_query

MOST_VALUES = 100
"""Values of one facet that a list names: the most frequent ones, and those that are chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRequest:
    """One page of a list of claims that is asked for."""

    wanted: ClaimFilter
    limit: int
    as_of: int | None
    """The size of the log that the walk began with; None for now."""
    before: int | None
    """The entry that the page before ended with."""


def write_document(document: Mapping[str, Any]) -> bytes:
    """Return the bytes of *document*."""
    return escape_json(write_json(document).decode()).encode() + b"\n"


def build_claim_list(view: View, selection: Selection, asked: ListRequest) -> dict[str, Any]:
    """Return one page of claims, with the counts of every facet and the address of the next page."""
    items = [
        {
            "claim": f"{row.claim.claim}@{row.claim.revision}",
            "digest": row.leaf[:16] if row.leaf else None,
            "entry": row.claim.seq,
            "quote": row.quote,
            "model": _describe_record(row.claim.model) if row.leaf else None,
            "class": None if row.claim.class_ == NONE else row.claim.class_,
            "status": _describe_record(row.status),
            "monitoring": None if row.claim.monitoring == NONE else {"state": row.claim.monitoring, "verdict": row.claim.production},
        }
        for row in read_rows(view, selection.claims)
    ]
    return {
        "schema": "caveat/web-claims/1",
        "log": describe_log(view),
        "count": selection.total,
        "facets": {name: [_describe_value(value) for value in selection.facets.list_most(name, MOST_VALUES)[0]] for name in FACETS},
        "items": items,
        "next": _find_next(view, selection, asked),
    }


@lru_cache(maxsize=4096)
def _describe_record(record: Hashable) -> dict[str, Any]:
    """Return the document of *record*, which no one changes: many claims share model versions and statuses."""
    return to_document(record)


def _describe_value(value: FacetValue) -> dict[str, Any]:
    return {"value": value.value, "count": value.count, "chosen": value.is_chosen}


def _find_next(view: View, selection: Selection, asked: ListRequest) -> str | None:
    # The cursor has the size of the log: what is recorded meanwhile is on no page of this walk.
    if len(selection.claims) < asked.limit:
        return None
    more = {"limit": str(asked.limit), "as_of": str(view.log_size), "after": str(selection.claims[-1].seq)}
    return f"/api/1/claims?{write_query(asked.wanted, more)}"


def build_entries(view: View, stem: str, *, after: int, limit: int) -> dict[str, Any]:
    """Return the entries after the entry *after*, at most *limit*, each with its statement; null where it was erased.

    Args:
        stem: the path of the list.
    """
    stop = min(view.log_size, after + limit)
    items = [
        {"entry": to_document(entry), "statement": read_statement(entry, text)} for entry, text in view.log_entries(after + 1, stop + 1)
    ]
    return {
        "schema": "caveat/web-entries/1",
        "log": describe_log(view),
        "entries": items,
        "next": f"{stem}?after={stop}&limit={limit}" if stop < view.log_size else None,
    }


def build_status(view: View, claims: ClaimSource, faults: Sequence[tuple[Fault, datetime]], *, is_complete: bool) -> dict[str, Any]:
    """Return the state of log and server.

    Args:
        faults: what is not as it was recorded, each with the time when it was first seen.
        is_complete: whether every entry was looked at.
    """
    last, checkpoints = view.find_entry(view.log_size), list_checkpoints(view)
    return {
        "schema": "caveat/web-status/1",
        "log": describe_log(view),
        "last": to_document(last) if last else None,
        "claims": count_claims(claims),
        "checkpoint": checkpoints[-1].checkpoint.size if checkpoints else None,
        "is_complete": is_complete,
        "faults": [
            {"code": fault.code, "where": fault.where, "found": fault.found, "since": f"{at:%Y-%m-%dT%H:%M:%SZ}"} for fault, at in faults
        ],
    }


def build_problem(faults: Sequence[Fault], status: int) -> bytes:
    """Return *faults* as RFC 9457 asks for: the first is the problem, and all are listed."""
    first = faults[0]
    document: Mapping[str, Any] = {
        "schema": "caveat/problem/1",
        "type": f"/errors/#{first.code}",
        "title": first.code,
        "status": status,
        "where": first.where,
        "found": first.found,
        "advice": first.advice,
        "faults": [describe_fault(fault) for fault in faults],
    }
    return f"{render_json(document)}\n".encode()
