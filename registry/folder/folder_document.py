"""A folder of supplements: what was rendered there, from what, and which files newer ones supersede."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from registry.records.claim_status import Status
from registry.records.record import Record
from registry.records.statement import OutputFormat
from registry.records.verdict import ClaimClass, Mode, Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderFile(Record):
    """One file, by its path relative to the folder."""

    format: OutputFormat
    path: str
    # The log records this digest before proof and signature exist, so it cannot cover them.
    sha256: str
    """Of the bytes that were rendered, hexadecimal, without the proof and the signature that are added to them."""
    size_bytes: int
    """How many bytes were rendered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SupersededFiles(Record):
    """Published or signed files that newer ones supersede. They stay where they are, under their names."""

    log_size: int
    """Entries that they were made from."""
    files: tuple[FolderFile, ...]
    by: int
    """Entries that the newer files were made from."""
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementDigest(Record):
    """What a supplement says, in short: as much as a list of a folder shows of it."""

    made_at: datetime
    """The date that it prints: of the log entry it was made as of."""
    title: str
    """The quote of a claim, cut where it is long; the title of a card."""
    card: str | None
    """`CRD-…@n` that is quoted; None for a card itself, and for a claim that is known from elsewhere."""
    model: str | None
    """The model version that a claim is about, in words; None for a card."""
    status: Status | None = None
    """Without its causes; None for a card."""
    class_: ClaimClass | None = None
    """None without an outcome, and then so are the next three."""
    standing: Standing | None = None
    mode: Mode | None = None
    point_class: ClaimClass | None = None
    ed: float | None = None
    """Evaluation Differential against the first specification of P_deploy; None without an estimate."""
    low: float | None = None
    """Lower end of its interval; None where it has none."""
    high: float | None = None
    range: tuple[float, float] | None = None
    """Lowest and highest possible score; None without an estimate."""
    level: float | None = None
    """Nominal coverage of the interval; None without an estimate."""
    claims: int | None = None
    """How many claims a card supplement tells of; None for a claim."""
    audited: int | None = None
    """How many of them have an outcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderItem(Record):
    """A supplement in the folder, in one or more formats."""

    name: str
    """`CLM-…@n` or `CRD-…@n`."""
    # The state shows cheaply whether the record may have changed; the record digest shows whether
    # it did.
    state: str
    """Digest of what the record depends on (`registry.store.supplement_states`), hexadecimal: the same state gives the same record, but
    for the
    size of the log."""
    record: str
    """Record digest, hexadecimal."""
    template: str
    """Digest of the templates, hexadecimal."""
    log_size: int
    files: tuple[FolderFile, ...]
    earlier: tuple[SupersededFiles, ...] = ()
    """Oldest first."""
    why: str | None = None
    """Why its files were rendered anew; None while they are the first."""
    audit: str | None = None
    """`AUD-…` that leads; None for a card, and for a claim that has not been audited."""
    summary: SupplementDigest


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderReport(Record):
    """A change report in the folder."""

    name: str
    """`changes-SINCE-SIZE`."""
    since: int
    log_size: int
    made_at: datetime
    """Time of the last entry."""
    record: str
    """Record digest, hexadecimal."""
    changed: int
    """Claims that it tells of."""
    newly_inverted: tuple[str, ...]
    """Of them those, `CLM-…`, that are inverted and were not before."""
    files: tuple[FolderFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder(Record):
    """What `caveat report --stale` knows of a folder; kept there as `supplements.json`."""

    schema: Literal["caveat/folder/1"] = "caveat/folder/1"
    log_origin: str
    log_size: int
    """Entries of the log when all of it was last gone through: the next change report begins here."""
    items: tuple[FolderItem, ...]
    """By name."""
    root: str
    """Root of the log's tree at `log_size`, hexadecimal: another history under the same name has another."""
    began: int
    """Entries of the log when it was first rendered."""
    reports: tuple[FolderReport, ...] = ()
    """Oldest first."""
    index: str | None = None
    """SHA-256 of `index.html`, hexadecimal; None before it is written."""
    feed: str | None = None
    """SHA-256 of `feed.xml`, hexadecimal; None before it is written."""
