"""How a claim revision is cited: a sentence, BibTeX, CSL-JSON and DataCite. Each names exactly one text by the start of its entry hash."""

import json
import re
from datetime import datetime

from registry.present.answers import show
from registry.records.supplement import Supplement

_MARKS = re.compile(r"[\\{}$&#^_~%]")
_ESCAPES = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}


def _shorten(text: str) -> str:
    plain = " ".join(show(text).split())
    return plain if len(plain) <= 160 else f"{plain[:159]}…"


def _write_title(supplement: Supplement) -> str:
    claim = supplement.claim.payload
    return f"Claim {supplement.identifier}: “{_shorten(claim.quote)}” ({show(str(claim.model))})"


def _name_author(supplement: Supplement) -> str:
    return show(supplement.claimant.name or supplement.claimant.code)


def _read_date(supplement: Supplement) -> datetime:
    return supplement.claim.entry.at


def write_sentence(supplement: Supplement, address: str | None) -> str:
    """Return the citation for a list of references.

    Args:
        address: where the page is published; None where that is not known.
    """
    day = f"{_read_date(supplement):%Y-%m-%d}"
    place = f" {address}" if address else ""
    return f"{_name_author(supplement)} ({day}). {_write_title(supplement)}. Caveat registry, {supplement.log_origin}.{place}"


def write_bibtex(supplement: Supplement, address: str | None) -> bytes:
    """Return a BibTeX entry."""
    moment = _read_date(supplement)
    fields = {
        "author": f"{{{_escape(_name_author(supplement))}}}",
        "title": f"{{{_escape(_write_title(supplement))}}}",
        "year": f"{moment:%Y}",
        "month": f"{moment.month}",
        "publisher": _escape(f"Caveat registry {supplement.log_origin}"),
        "note": _escape(f"Claim revision {supplement.identifier}"),
    }
    if address:
        # Percent-encoded already; BibTeX styles set the address as it is.
        fields["url"] = address
    key = re.sub(r"[^A-Za-z0-9]+", "-", supplement.identifier)
    lines = [f"@misc{{{key},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}", ""]
    return "\n".join(lines).encode()


def _escape(text: str) -> str:
    return _MARKS.sub(lambda mark: _ESCAPES.get(mark[0], f"\\{mark[0]}"), text)


def write_csl(supplement: Supplement, address: str | None) -> bytes:
    """Return an item of CSL-JSON, as Zotero and pandoc read it."""
    moment = _read_date(supplement)
    item = {
        "id": supplement.identifier,
        "type": "dataset",
        "title": _write_title(supplement),
        "author": [{"literal": _name_author(supplement)}],
        "issued": {"date-parts": [[moment.year, moment.month, moment.day]]},
        "publisher": f"Caveat registry {supplement.log_origin}",
        "version": str(supplement.claim.payload.revision),
        **({"URL": address} if address else {}),
    }
    return _dump([item])


def write_datacite(supplement: Supplement, address: str | None) -> bytes:
    """Return metadata after the DataCite schema 4; no DOI is registered, so it has an identifier of the type Other."""
    moment = _read_date(supplement)
    document = {
        "identifiers": [{"identifier": supplement.identifier, "identifierType": "Other"}],
        "creators": [{"name": _name_author(supplement), "nameType": "Organizational"}],
        "titles": [{"title": _write_title(supplement)}],
        "publisher": {"name": f"Caveat registry {supplement.log_origin}"},
        "publicationYear": moment.year,
        "dates": [{"date": f"{moment:%Y-%m-%d}", "dateType": "Issued"}],
        "types": {"resourceTypeGeneral": "Dataset", "resourceType": "Claim of an AI system card"},
        "version": str(supplement.claim.payload.revision),
        **({"url": address} if address else {}),
        "schemaVersion": "http://datacite.org/schema/kernel-4",
    }
    return _dump(document)


def _dump(document: object) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


FORMATS = {
    ".bib": ("BibTeX", "application/x-bibtex; charset=utf-8", write_bibtex),
    ".csl.json": ("CSL-JSON", "application/vnd.citationstyles.csl+json", write_csl),
    ".datacite.json": ("DataCite", "application/vnd.datacite.datacite+json", write_datacite),
}
"""By the ending of the address: name, media type, and what writes it."""
