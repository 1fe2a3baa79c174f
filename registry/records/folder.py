"""A folder of supplements: what was drawn there, from what, and what took whose place."""

from dataclasses import dataclass
from typing import Literal

from registry.records.publication import OutputFormat
from registry.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFile(Record):
    """One file, by its path relative to the folder."""

    format: OutputFormat
    path: str
    sha256: str
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced(Record):
    """Files that others took the place of; they are kept."""

    log_size: int
    """Entries that they were made from."""
    files: tuple[FolderFile, ...]
    by: int
    """Entries that what took their place was made from."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderItem(Record):
    """A supplement in the folder, in one or more formats."""

    name: str
    """`CLM-…@n` or `CRD-…@n`."""
    state: str
    """Digest of what the record depends on (`registry.store.states`), hexadecimal: the same state gives the same record, but for the
    size of the log."""
    record: str
    """Record digest, hexadecimal."""
    template: str
    """Digest of the templates, hexadecimal."""
    log_size: int
    files: tuple[FolderFile, ...]
    replaced: tuple[Replaced, ...] = ()
    """Oldest first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder(Record):
    """What `caveat report --stale` knows of a folder; kept there as `supplements.json`."""

    schema: Literal["caveat/folder/1"] = "caveat/folder/1"
    log_origin: str
    log_size: int
    """Entries of the log when everything in it was last found up to date."""
    items: tuple[FolderItem, ...]
    """By name."""
