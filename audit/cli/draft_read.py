"""An audit file as the commands take it: what its template left open is found before anything is recorded."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from registry.codec.canonical_documents import from_document
from registry.codec.file_io import read_document
from registry.errors import Fault, InputError
from registry.records.claim_draft import AuditDraft

PLACEHOLDER = "…"
"""What `caveat audit new` writes where a person has to decide."""


def read_draft(path: Path, *, locked: bool) -> tuple[AuditDraft, tuple[str, ...]]:
    """Return the audit that *path* describes, and the keys that were left as the template has them and count as not stated.

    Args:
        locked: whether the plan is to be fixed: then nothing may be left open by a placeholder.

    Raises:
        InputError: with every fault: what is not valid, and, for a lock, every placeholder.
    """
    document = read_document(path)
    places = list(_find_placeholders(document, ""))
    faults = [_refuse(path, place) for place in places] if locked else []
    try:
        draft = from_document(AuditDraft, _clear(document), where=str(path))
    except InputError as error:
        raise InputError([*faults, *error.faults]) from error
    if faults:
        raise InputError(faults)
    return draft, tuple(places)


def _refuse(path: Path, place: str) -> Fault:
    found = f"still holds the placeholder {PLACEHOLDER}, and a lock is for good"
    return Fault(
        code="not-filled-in", where=f"{path}, {place}", found=found, advice="decide it, or take the line out: it is then not fixed"
    )


def _find_placeholders(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _find_placeholders(one, f"{place}.{name}" if place else str(name))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _find_placeholders(one, f"{place}[{number}]")
    elif _is_placeholder(value):
        yield place


def _clear(value: Any) -> Any:
    """Return *value* without what only holds the place of something."""
    if isinstance(value, dict):
        return {name: _clear(one) for name, one in value.items() if not _is_placeholder(one)}
    return [_clear(one) for one in value if not _is_placeholder(one)] if isinstance(value, list) else value


def _is_placeholder(value: Any) -> bool:
    return isinstance(value, str) and value.strip() in (PLACEHOLDER, "...")
