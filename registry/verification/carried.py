"""What a file of a supplement carries: its record, as it stands there."""

import hashlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from registry.codec.canonical import Json, canonical_bytes
from registry.codec.disclosure import check_openings, public_document
from registry.codec.documents import to_document
from registry.records.record import Identifier
from registry.records.statement import OutputFormat
from registry.records.supplement import AnySupplement, ChangeReport, Supplement
from registry.report.opening import open_pdf
from registry.report.read import find_record, parse_subject, read_supplement
from registry.verification.check import Check, Name, no, yes

_DRAWN_BY = re.compile(rb'<meta name="generator" content="([^"]{1,200})">')
_HEAD_BYTES = 4_000
_DRAWN_WITH = "Caveat, templates "
_NAMED = re.compile(r"(?<![A-Z0-9])((?:CLM|CRD)-[A-Z][A-Z0-9]{1,11}-[0-9]{4}-[0-9]{4,12}-[0-9A-Z])(?:@([1-9][0-9]{0,8}))?", re.IGNORECASE)
"""A claim or card in the name of a file, with or without its revision; how the rest is called is the user's affair."""
_MOST_TOLD = 3


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
    file: str = ""
    """The name of the file, without its folder; empty where it has none."""

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
    return Carried(
        data=data,
        format=format_,
        supplement=supplement,
        subject=subject,
        document=document,
        is_canonical=written == text,
        file=Path(where).name,
    )


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
    if other := find_other_name(carried):
        return no(Name.RECORD, other)
    if differing := list(_list_differences(to_document(carried.supplement), carried.document, "")):
        more = f"; and {len(differing) - _MOST_TOLD} more" if len(differing) > _MOST_TOLD else ""
        return no(Name.RECORD, f"it is not a whole record: {'; '.join(differing[:_MOST_TOLD])}{more}")
    supplement = carried.supplement
    opened = supplement.openings if isinstance(supplement, Supplement) else ()
    if isinstance(supplement, Supplement) and (faults := check_openings(supplement)):
        return no(Name.RECORD, "; ".join(f"{one.where}: {one.found}" for one in faults[:3]))
    told = f"; CONFIDENTIAL: {len(opened)} sealed specifications are shown, each the one that was committed to" if opened else ""
    superseded = None if isinstance(supplement, ChangeReport) else supplement.superseded
    if superseded is not None:
        told += f"; a notice stands before it, outside that digest, that {superseded.name} superseded it: only a registry knows"
    return yes(Name.RECORD, f"carries the record of {supplement.identifier}, sha256 {carried.digest}{told}")


def find_other_name(carried: Carried) -> str | None:
    """Return that the file is called after another claim, card or revision than its record is of; None where its name agrees."""
    for claim, revision in _NAMED.findall(carried.file):
        called = f"{claim.upper()}@{revision}" if revision else claim.upper()
        name = carried.name if revision else carried.name.partition("@")[0]
        if called != name:
            return f"the file is called {called}, and its record is of {carried.name}: it was renamed, or put in the place of another"
    return None


def _list_differences(whole: Json, document: Json, path: str) -> Iterator[str]:
    """Give each field that *document* lacks, or has written otherwise, beside the record that was read from it."""
    if isinstance(whole, dict) and isinstance(document, dict):
        yield from (f"{path}{name} is missing" for name in whole if name not in document)
        for name, value in document.items():
            if name in whole:
                yield from _list_differences(whole[name], value, f"{path}{name}.")
    elif isinstance(whole, list) and isinstance(document, list) and len(whole) == len(document):
        for position, (item, other) in enumerate(zip(whole, document, strict=True)):
            yield from _list_differences(item, other, f"{path.removesuffix('.')}[{position}].")
    elif canonical_bytes(whole) != canonical_bytes(document):
        yield f"{path.removesuffix('.')} is written in another way than Caveat writes it"
