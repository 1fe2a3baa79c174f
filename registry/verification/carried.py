"""What a file of a supplement carries: its record, as it stands there."""

import hashlib
import json
import re
from dataclasses import dataclass, replace

from registry.codec.canonical import Json, canonical_bytes
from registry.codec.disclosure import check_openings, public_document
from registry.records.change import AnySupplement, ChangeReport
from registry.records.identifier import Identifier
from registry.records.publication import OutputFormat
from registry.records.supplement import Supplement
from registry.report.opening import open_pdf
from registry.report.read import find_record, parse_subject, read_supplement
from registry.verification.check import Check, Name, no, yes

_DRAWN_BY = re.compile(rb'<meta name="generator" content="([^"]{1,200})">')
_HEAD_BYTES = 4_000
_DRAWN_WITH = "Caveat, templates "
LATER = frozenset(
    {
        "cause_entries",
        "causes",
        "claim_entry",
        "completeness",
        "contestation",
        "coverage",
        "cues",
        "deploy",
        "deviations",
        "drift",
        "elicitation",
        "erased",
        "explorations",
        "grader",
        "inclusion",
        "model",
        "model_events",
        "models",
        "omitted",
        "openings",
        "outcome_entry",
        "property",
        "readable",
        "relation",
        "released",
        "renews",
        "replay",
        "replays",
        "reported",
        "reveal",
        "reviews",
        "scoring",
        "sightings",
        "spoken_of",
        "superseded",
        "tasks",
        "test",
        "to",
        "undetermined",
    }
)
"""Fields that records of supplements got after files had been given out. All that such a file has is compared; what it lacks is named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """A supplement with the file that it was found in."""

    data: bytes
    format: OutputFormat
    supplement: AnySupplement
    subject: Identifier | None
    """The claim or card, with its revision; None for a change report, which is about neither."""
    document: Json
    """The record as the file has it, also fields that are missing."""
    is_canonical: bool
    """Whether the record stands there in its one canonical form."""

    @property
    def name(self) -> str:
        """What the supplement is called: `CLM-…@n`, `CRD-…@n`, `changes-…`."""
        return self.supplement.identifier.partition("#")[0]

    @property
    def named(self) -> Identifier:
        """The claim or card, with its revision; raises ValueError for a change report."""
        if self.subject is None:
            raise ValueError(f"{self.name} is about no one claim or card")
        return self.subject

    @property
    def public(self) -> Json:
        """The record without what a rendering adds to it: openings, and what superseded it."""
        return public_document(self.document)

    @property
    def digest(self) -> str:
        """The record digest, which all renderings share: SHA-256 of the canonical JSON of `public`, hexadecimal."""
        return hashlib.sha256(canonical_bytes(self.public)).hexdigest()


def read_carried(data: bytes, *, where: str) -> Carried:
    """Return what *data* carries; raises InputError as `registry.report.read.read_supplement`."""
    supplement = read_supplement(data, where=where)
    named = parse_subject(supplement, where=where)
    subject = None if named is None else replace(named, digest=None)
    text = find_record(data, where=where)
    document = json.loads(text)
    canonical = canonical_bytes(document)
    format_ = tell_format(data)
    written = canonical.replace(b"<", b"\\u003c") if format_ is OutputFormat.HTML else canonical
    return Carried(data=data, format=format_, supplement=supplement, subject=subject, document=document, is_canonical=written == text)


def tell_format(data: bytes) -> OutputFormat:
    """Return in what form *data* is, by its first bytes."""
    if data.startswith(b"%PDF-"):
        return OutputFormat.PDF
    return OutputFormat.JSON if data.lstrip()[:1] == b"{" else OutputFormat.HTML


def find_template(carried: Carried) -> str | None:
    """Return the digest of the templates that the file says drew it, hexadecimal; None where it does not say, as JSON never does."""
    if carried.format is OutputFormat.PDF:
        with open_pdf(carried.data, where="PDF") as opened:
            said = str(opened.pdf.docinfo.get("/Creator", ""))
    else:
        found = _DRAWN_BY.search(carried.data[:_HEAD_BYTES])
        said = found[1].decode() if found else ""
    return said.removeprefix(_DRAWN_WITH) if said.startswith(_DRAWN_WITH) else None


def check_record(carried: Carried) -> Check:
    """Whether the file carries one record, in the form that its digest is of."""
    if not carried.is_canonical:
        note = "it carries a record that does not stand there in canonical JSON (RFC 8785): Caveat wrote no such file"
        return no(Name.RECORD, note)
    supplement = carried.supplement
    opened = supplement.openings if isinstance(supplement, Supplement) else ()
    if isinstance(supplement, Supplement) and (faults := check_openings(supplement)):
        return no(Name.RECORD, "; ".join(f"{one.where}: {one.found}" for one in faults[:3]))
    told = f"; CONFIDENTIAL: {len(opened)} sealed specifications are shown, each the one that was committed to" if opened else ""
    superseded = None if isinstance(supplement, ChangeReport) else supplement.superseded
    if superseded is not None:
        told += f"; a notice stands before it, outside that digest, that {superseded.name} superseded it: only a registry knows"
    return yes(Name.RECORD, f"carries the record of {supplement.identifier}, sha256 {carried.digest}{told}")


def take_later(now: Json, then: Json) -> tuple[Json, frozenset[str]]:
    """Return *now* without the fields of `LATER` that *then* lacks, and their names: all else must be there to be the same."""
    if isinstance(now, dict) and isinstance(then, dict):
        lacks = frozenset(name for name in now if name in LATER and name not in then)
        parts = {name: take_later(value, then.get(name)) for name, value in now.items() if name not in lacks}
        return {name: part for name, (part, _) in parts.items()}, lacks.union(*(names for _, names in parts.values()))
    if isinstance(now, list) and isinstance(then, list) and len(now) == len(then):
        pairs = [take_later(one, other) for one, other in zip(now, then, strict=True)]
        return [part for part, _ in pairs], frozenset().union(*(names for _, names in pairs))
    return now, frozenset()


def tell_later(lacks: frozenset[str]) -> str:
    """Return what a record lacks, in words that follow another sentence; empty when it lacks nothing."""
    if not lacks:
        return ""
    return f", but for what it lacks: {', '.join(sorted(lacks))}; it was made before Caveat told these, or they were taken out"
