"""What a folder of renewals is for: a small file in it, so that a call that was ended goes on with the same claims and the same model."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from registry.codec.canonical_documents import canonical_bytes, from_document, to_document
from registry.codec.file_io import read_document, write_file
from registry.errors import ConflictError, Fault
from registry.records.record import Record

NAME = "renewal.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept(Record):
    """What was asked for when the folder was begun, and which claims were chosen since."""

    ask: str
    base_url: str | None = None
    claims: tuple[str, ...] = ()
    """`CLM-…`, ascending."""
    schema: Literal["caveat/renewal-folder/1"] = "caveat/renewal-folder/1"


def read_kept(folder: Path, *, ask: str, base_url: str | None) -> Kept:
    """Return what *folder* is for; a new one is for *ask*, asked at *base_url*.

    Raises:
        ConflictError: it is for another model, or another endpoint.
        InputError: the file in it cannot be read.
    """
    path = folder / NAME
    if not path.is_file():
        return Kept(ask=ask, base_url=base_url)
    kept = from_document(Kept, read_document(path), where=str(path))
    wanted = {"model": (kept.ask, ask), "endpoint": (kept.base_url, base_url or kept.base_url)}
    differing = [(name, before, now) for name, (before, now) in wanted.items() if before != now]
    if differing:
        found = "; ".join(f"is for the {name} {before or 'that the replay names'}, and {now} is asked" for name, before, now in differing)
        raise ConflictError(Fault(code="renewal-differs", where=str(folder), found=found, advice="choose another folder with -o DIR"))
    return kept


def write_kept(folder: Path, kept: Kept, claims: Iterable[str]) -> Kept:
    """Keep in *folder* that it is for *kept* and for *claims* too; return what it is for now.

    Raises:
        OSError: the file system refuses.
    """
    now = replace(kept, claims=tuple(sorted({*kept.claims, *claims})))
    path = folder / NAME
    if now != kept or not path.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{NAME}.part")
        write_file(part, canonical_bytes(to_document(now)) + b"\n")
        part.replace(path)
    return now
