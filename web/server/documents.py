"""The documents that the server answers programs with: lists of claims, entries of the log, and faults (RFC 9457)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from registry.codec.canonical_documents import to_document
from registry.errors import Fault
from registry.present.answers import describe_fault, render_compact, render_json
from registry.store.log_seals import find_root
from registry.store.registry_view import View
from web.facets import FACETS, NONE, FacetValue, Selection
from web.pages.list_pages import write_query
from web.server.requests import ListRequest

MOST_ENTRIES = 500
MOST_VALUES = 30
"""Values of one facet that a list names: the most frequent ones, and those that are chosen."""


def _describe_log(view: View) -> dict[str, Any]:
    return {"origin": view.log_origin, "size": view.log_size, "root": find_root(view, view.log_size)}


def build_claim_list(view: View, selection: Selection, asked: ListRequest) -> bytes:
    """Return one page of claims, with the counts of every facet and the address of the next page."""
    statuses = view.find_statuses([claim.claim for claim in selection.claims])
    recorded = view.find_recorded(claim.seq for claim in selection.claims)
    items = []
    for claim in selection.claims:
        there = recorded.get(claim.seq)
        items.append(
            {
                "claim": f"{claim.claim}@{claim.revision}",
                "digest": there.entry.leaf[:16] if there else None,
                "entry": claim.seq,
                "quote": there.payload.quote if there else None,
                "model": to_document(there.payload.model) if there else None,
                "class": None if claim.class_ == NONE else claim.class_,
                "status": to_document(statuses[claim.claim]),
            }
        )
    document = {
        "schema": "caveat/web-claims/1",
        "log": _describe_log(view),
        "count": selection.total,
        "facets": {name: [_describe_value(value) for value in selection.facets.list_most(name, MOST_VALUES)[0]] for name in FACETS},
        "items": items,
        "next": _find_next(view, selection, asked),
    }
    return f"{render_compact(document)}\n".encode()


def _describe_value(value: FacetValue) -> dict[str, Any]:
    return {"value": value.value, "count": value.count, "chosen": value.is_chosen}


def _find_next(view: View, selection: Selection, asked: ListRequest) -> str | None:
    # The cursor has the size of the log: what is recorded meanwhile is on no page of this walk.
    if len(selection.claims) < asked.limit:
        return None
    more = {"limit": str(asked.limit), "as_of": str(view.log_size), "after": str(selection.claims[-1].seq)}
    return f"/api/1/claims?{write_query(asked.wanted, more)}"


def build_entries(view: View, *, after: int, limit: int) -> bytes:
    """Return the entries after the entry *after*, at most *limit*, each with its statement; null where it was erased."""
    stop = min(view.log_size, after + limit)
    items = [
        {"entry": to_document(entry), "statement": None if text is None else json.loads(text)}
        for entry, text in view.log_entries(after + 1, stop + 1)
    ]
    document = {
        "schema": "caveat/web-entries/1",
        "log": _describe_log(view),
        "entries": items,
        "next": f"/api/1/entries?after={stop}" if stop < view.log_size else None,
    }
    return f"{render_json(document)}\n".encode()


def build_problem(faults: Sequence[Fault], status: int) -> bytes:
    """Return *faults* as RFC 9457 asks for: the first is the problem, and all are listed."""
    first = faults[0]
    document: Mapping[str, Any] = {
        "type": f"/errors/#{first.code}",
        "title": first.code,
        "status": status,
        "where": first.where,
        "found": first.found,
        "advice": first.advice,
        "faults": [describe_fault(fault) for fault in faults],
    }
    return f"{render_json(document)}\n".encode()
