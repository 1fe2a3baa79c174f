"""How log entries and revisions look in a terminal and as JSON."""

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from registry.cli.claim_text import shorten
from registry.cli.output import build_table
from registry.codec.documents import to_document
from registry.errors import Fault, NotFoundError
from registry.records.claim import ClaimRevision
from registry.records.dossier import Dossier, Recorded
from registry.records.statement import Payload


def summarise_entry(one: Recorded[Payload]) -> dict[str, Any]:
    """Return a log entry with its payload as a document."""
    return {"entry": to_document(one.entry), "payload": to_document(one.payload)}


def build_history_table(said: Sequence[Recorded[Payload]]) -> Table:
    """Return log entries, one line each."""
    rows = [
        (str(one.entry.seq), f"{one.entry.at:%Y-%m-%d %H:%M}", one.entry.actor, one.entry.kind.value, describe(one.payload)) for one in said
    ]
    return build_table(("entry", "at", "by", "kind", "what"), rows, numbers=("entry",))


def describe(payload: Payload) -> str:
    """Return the gist of a payload on one line: its first identifiers and words."""
    document = to_document(payload)
    leading = ("claim", "audit", "card", "spec", "contestation", "code", "subject", "event", "step", "successor", "revision", "version")
    words = [str(document[key]) for key in leading if isinstance(document.get(key), (str, int))]
    texts = [str(document[key]) for key in ("why", "reason", "grounds", "note", "quote", "title", "slug", "name") if document.get(key)]
    verdict = document.get("text", {}).get("verdict") if isinstance(document.get("text"), dict) else None
    return shorten(" ".join([*words, *(texts[:1]), *([verdict] if verdict else [])]))


def compare_revisions(dossier: Dossier, old: int, new: int) -> tuple[ClaimRevision, ClaimRevision, list[tuple[str, Any, Any]]]:
    """Return two revisions and the fields in which they differ, as documents.

    Raises:
        NotFoundError: there is no such revision.
    """
    revisions = {one.payload.revision: one.payload for one in dossier.revisions}
    for wanted in (old, new):
        if wanted not in revisions:
            known = f"revisions 1 to {len(revisions)}" if revisions else "no revision yet, it is only reserved"
            raise NotFoundError(Fault(code="no-such-revision", where=f"{dossier.claim}@{wanted}", found=f"{dossier.claim} has {known}"))
    before, after = to_document(revisions[old]), to_document(revisions[new])
    rows = [(key, before[key], after[key]) for key in after if key not in ("revision", "why") and before[key] != after[key]]
    return revisions[old], revisions[new], rows
