"""How a published record is cited: a sentence, BibTeX, CSL-JSON, DataCite and CFF. Each names exactly one text by digest."""

import json
import re
from dataclasses import dataclass
from datetime import datetime

from interchange.formats.export_record import METHOD, METHOD_URL, ExportedFile, ExportRequest
from registry.present.answers import escape_json, show
from registry.records.claim_status import Lifecycle
from registry.records.record import Record
from registry.records.supplement import CardSupplement, SourceCard, Supplement, SupplementParty

_MARKS = re.compile(r"[\\{}$&#^_~%]")
_ESCAPES = {"\\": r"\textbackslash{}", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}"}
_METHOD_TITLE = "The Evaluation Differential: When Frontier AI Models Recognise They Are Being Tested"
_METHOD_AUTHORS = (("V.", "Vishwarupe"), ("N.", "Shadbolt"), ("M.", "Jirotka"), ("I.", "Flechais"))
LOST = ("quote beyond 160 characters", "verdict", "figures and intervals", "θ and direction", "history", "objections", "proof")
"""What no citation holds; a reader finds it in the record that is cited."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation(Record):
    """What is cited, in the terms that all citation formats share."""

    identifier: str
    """With revision and digest of the text."""
    title: str
    author: str
    moment: datetime
    """When the revision was registered."""
    version: str
    publisher: str
    notes: tuple[str, ...]
    """Sentences without full stop: the verdict on the claim, and the digest of its record."""
    sha256: str | None
    """Of the canonical record; None where no record was published."""
    card_title: str | None
    card_url: str | None
    card_publisher: str | None
    address: str | None
    """Where the page is published; None where that is not known."""


def build_citation(supplement: Supplement | CardSupplement, *, address: str | None = None, sha256: str | None = None) -> Citation:
    """Return how *supplement* is cited.

    Args:
        address: where its page is published; None where that is not known.
        sha256: digest of its canonical record; None where none was published.
    """
    digest = () if sha256 is None else (f"Canonical record sha256:{sha256}",)
    card: SourceCard | None = supplement.card
    states: tuple[str, ...] = ()
    if isinstance(supplement, CardSupplement):
        title = f"Registered claims of {_shorten(supplement.card.title)} ({supplement.identifier})"
        author, moment, version = show(supplement.card.entry.actor), supplement.card.entry.at, str(supplement.card.revision)
    else:
        claim = supplement.claim.payload
        title = f"Claim {supplement.identifier}: “{_shorten(supplement.attributed)}” ({show(str(claim.model))})"
        author, moment, version = _name_party(supplement.claimant), supplement.claim.entry.at, str(claim.revision)
        states = _describe_end(supplement)
    title = f"Example. {title}" if supplement.identifier.split("-")[1] == "EXAMPLE" else title
    return Citation(
        identifier=supplement.identifier, title=title, author=author, moment=moment, version=version,
        publisher=f"Caveat registry {supplement.log_origin}", notes=(*states, *digest), sha256=sha256,
        card_title=None if card is None else show(card.title), card_url=None if card is None else card.url,
        card_publisher=None if card is None else show(card.publisher), address=address,
    )  # fmt: skip


def _describe_end(supplement: Supplement) -> tuple[str, ...]:
    """Return that a claim was withdrawn, rejected or superseded: it keeps its citation, and the citation says so."""
    status = supplement.status
    match status.lifecycle:
        case Lifecycle.SUPERSEDED:
            return (f"Superseded by {status.superseded_by}",)
        case Lifecycle.WITHDRAWN | Lifecycle.REJECTED:
            return (f"{status.lifecycle.value.capitalize()} claim",)
        case _:
            return ()


def _shorten(text: str) -> str:
    plain = " ".join(show(text).split())
    return plain if len(plain) <= 160 else f"{plain[:159]}…"


def _name_party(party: SupplementParty) -> str:
    return show(party.name or party.code)


def write_sentence(citation: Citation) -> str:
    """Return the citation for a list of references."""
    place = f" {citation.address}" if citation.address else ""
    return f"{citation.author} ({citation.moment:%Y-%m-%d}). {citation.title}. {citation.publisher}.{place}"


def write_bibtex(citation: Citation) -> bytes:
    """Return a BibTeX entry."""
    fields = {
        "author": f"{{{_escape(citation.author)}}}",
        "title": f"{{{_escape(citation.title)}}}",
        "year": f"{citation.moment:%Y}",
        "month": f"{citation.moment.month}",
        "institution": _escape(citation.publisher),
        "number": _escape(citation.identifier),
        "note": _escape(". ".join((*citation.notes, f"Method: {METHOD}"))),
    }
    if citation.address:
        # Percent-encoded already; BibTeX styles set the address as it is.
        fields["url"] = citation.address
    key = re.sub(r"[^A-Za-z0-9]+", "-", citation.identifier)
    lines = [f"@techreport{{{key},", *(f"  {name} = {{{value}}}," for name, value in fields.items()), "}", ""]
    return "\n".join(lines).encode()


def _escape(text: str) -> str:
    return _MARKS.sub(lambda mark: _ESCAPES.get(mark[0], f"\\{mark[0]}"), text)


def write_csl(citation: Citation) -> bytes:
    """Return an item of CSL-JSON, as Zotero and pandoc read it."""
    moment = citation.moment
    item = {
        "id": citation.identifier,
        "type": "report",
        "title": citation.title,
        "author": [{"literal": citation.author}],
        "issued": {"date-parts": [[moment.year, moment.month, moment.day]]},
        "publisher": citation.publisher,
        "number": citation.identifier,
        "version": citation.version,
        "note": ". ".join((*citation.notes, f"Method: {METHOD}")),
        **({"URL": citation.address} if citation.address else {}),
    }
    return _dump([item])


def write_datacite(citation: Citation) -> bytes:
    """Return metadata after the DataCite schema 4.5. `identifiers` takes only DOIs, and none is registered: ours are alternate ones."""
    digest = [] if citation.sha256 is None else [{"alternateIdentifier": f"sha256:{citation.sha256}", "alternateIdentifierType": "SHA-256"}]
    reviewed = [_relate("Reviews", citation.card_url, "URL")] if citation.card_url else []
    document = {
        "alternateIdentifiers": [{"alternateIdentifier": citation.identifier, "alternateIdentifierType": "Caveat identifier"}, *digest],
        "creators": [{"name": citation.author, "nameType": "Organizational"}],
        "titles": [{"title": citation.title}],
        "publisher": {"name": citation.publisher},
        "publicationYear": str(citation.moment.year),
        "dates": [{"date": f"{citation.moment:%Y-%m-%d}", "dateType": "Issued"}],
        "types": {"resourceTypeGeneral": "Report", "resourceType": "Claim of an AI system card"},
        "descriptions": [{"description": note, "descriptionType": "Other"} for note in citation.notes],
        "relatedIdentifiers": [*reviewed, _relate("References", "arXiv:2605.11496", "arXiv")],
        "version": citation.version,
        **({"url": citation.address} if citation.address else {}),
        "schemaVersion": "http://datacite.org/schema/kernel-4",
    }
    return _dump(document)


def _relate(relation: str, identifier: str, kind: str) -> dict[str, str]:
    return {"relatedIdentifier": identifier, "relatedIdentifierType": kind, "relationType": relation}


def write_cff(citation: Citation) -> bytes:
    """Return a CITATION.cff of the Citation File Format 1.2.0. Every text is quoted, so that YAML reads no date or number in it."""
    message = ". ".join(("Cite this record by its identifier and digest", *citation.notes))
    lines = [
        f"cff-version: {quote_yaml('1.2.0')}",
        f"message: {quote_yaml(message)}",
        "type: dataset",
        f"title: {quote_yaml(citation.title)}",
        f"version: {quote_yaml(citation.version)}",
        f"date-released: {quote_yaml(f'{citation.moment:%Y-%m-%d}')}",
        "authors:",
        f"  - name: {quote_yaml(citation.author)}",
        "identifiers:",
        *_write_identifier(citation.identifier, "Identifier of the claim or card, its revision, and the start of its entry hash"),
        *(() if citation.sha256 is None else _write_identifier(f"sha256:{citation.sha256}", "SHA-256 of the canonical record")),
        *([f"url: {quote_yaml(citation.address)}"] if citation.address else []),
        "references:",
        *_write_card(citation),
        "  - type: article",
        f"    title: {quote_yaml(_METHOD_TITLE)}",
        "    authors:",
        *(f"      - given-names: {quote_yaml(given)}\n        family-names: {quote_yaml(family)}" for given, family in _METHOD_AUTHORS),
        f"    notes: {quote_yaml(METHOD)}",
        f"    url: {quote_yaml(METHOD_URL)}",
    ]
    return ("\n".join(lines) + "\n").encode()


def _write_identifier(value: str, description: str) -> tuple[str, ...]:
    return ("  - type: other", f"    value: {quote_yaml(value)}", f"    description: {quote_yaml(description)}")


def _write_card(citation: Citation) -> list[str]:
    if citation.card_title is None or citation.card_publisher is None:
        return []
    # A publisher's address may be anything; the schema of CFF takes http and https alone.
    url = citation.card_url if citation.card_url and citation.card_url.startswith(("https://", "http://")) else None
    lines = [
        "  - type: report",
        f"    title: {quote_yaml(citation.card_title)}",
        "    authors:",
        f"      - name: {quote_yaml(citation.card_publisher)}",
    ]
    return [*lines, *([f"    url: {quote_yaml(url)}"] if url else [])]


def quote_yaml(text: str) -> str:
    """Return *text* as a double-quoted YAML scalar: JSON's escapes are YAML's, too."""
    return escape_json(json.dumps(text, ensure_ascii=False))


def _dump(document: object) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode()


FORMATS = {
    ".bib": ("BibTeX", "application/x-bibtex; charset=utf-8", write_bibtex),
    ".csl.json": ("CSL-JSON", "application/vnd.citationstyles.csl+json", write_csl),
    ".datacite.json": ("DataCite", "application/vnd.datacite.datacite+json", write_datacite),
}
"""Of the web, by the ending of the address: name, media type, and what writes it."""


# The mappers of `caveat export`.


def _cite(request: ExportRequest) -> Citation:
    return build_citation(request.record.supplement, sha256=request.record.sha256)


def map_bibtex(request: ExportRequest) -> tuple[ExportedFile, ...]:
    """Return the BibTeX file."""
    return (ExportedFile(path=f"{request.record.name}.bib", content=write_bibtex(_cite(request))),)


def map_csl(request: ExportRequest) -> tuple[ExportedFile, ...]:
    """Return the CSL-JSON file."""
    return (ExportedFile(path=f"{request.record.name}.csl.json", content=write_csl(_cite(request))),)


def map_datacite(request: ExportRequest) -> tuple[ExportedFile, ...]:
    """Return the DataCite file."""
    return (ExportedFile(path=f"{request.record.name}.datacite.json", content=write_datacite(_cite(request))),)


def map_cff(request: ExportRequest) -> tuple[ExportedFile, ...]:
    """Return the CFF file. Tools look for this one name, so two records need two folders."""
    return (ExportedFile(path="CITATION.cff", content=write_cff(_cite(request))),)
