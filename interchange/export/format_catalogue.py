"""The formats of `caveat export`: version, validator, what is lost, what a record must have, and the mapper of each."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from interchange.formats import (
    citations,
    claim_review,
    cyclonedx,
    every_eval_ever,
    hugging_face,
    in_toto,
    oscal,
    research_crate,
    safety_case,
    scitt_receipt,
)
from interchange.formats.export_record import Mapper, PublishedRecord
from interchange.formats.outcome_facts import find_estimate, list_sealed
from registry.errors import ConflictError, Fault, InputError, find_near
from registry.records.record import Kind, Record, parse_identifier


class Need(StrEnum):
    """What a record must have before a format can hold it."""

    RECORD = "record"
    OUTCOME = "outcome"
    """An audit with an outcome."""
    ESTIMATE = "estimate"
    """An outcome with figures of both sides."""


class Seal(StrEnum):
    """Who signs an export."""

    NONE = "none"
    ENVELOPE = "envelope"
    """A DSSE envelope, by any key of the registry."""
    LOG = "log"
    """The Ed25519 key of the log alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFormat(Record):
    """One format."""

    name: str
    """As `--as` takes it."""
    title: str
    version: str
    validator: str
    """The program of others that accepts the exports; `make interop` runs it."""
    lost: tuple[str, ...]
    """What the format cannot hold."""
    need: Need = Need.RECORD
    seal: Seal = Seal.NONE
    has_property: bool = False
    """Whether it names what is measured, so that a sealed property cannot be exported."""
    takes_cards: bool = False
    is_draft: bool = False
    """Whether the format itself is a draft: written with `--draft` only."""
    warning: str | None = None
    """What a file says where it ends up, so that a person confirms it first; None where nothing is to be confirmed."""
    mapper: Mapper | None = None
    """None for a format that is signed while it is written."""


_IN_TOTO = "in-toto-attestation 0.9.3, securesystemslib 1.6.0, proofbundle 6.3.1"
_FORMATS = (
    ExportFormat(
        name="in-toto", title="in-toto Statement in DSSE", version="Statement v1, SVR v0.1", validator=_IN_TOTO,
        lost=in_toto.LOST_SVR, seal=Seal.ENVELOPE,
    ),
    ExportFormat(
        name="in-toto --draft", title="in-toto Statement in DSSE", version="Statement v1, eval-result v0.2 (draft)", validator=_IN_TOTO,
        lost=in_toto.LOST_EVAL_RESULT, need=Need.ESTIMATE, seal=Seal.ENVELOPE, is_draft=True,
    ),
    ExportFormat(
        name="eee", title="Every Eval Ever", version="0.3.0", validator="every-eval-ever 0.3.0", lost=every_eval_ever.LOST,
        need=Need.ESTIMATE, has_property=True, mapper=every_eval_ever.map_every_eval_ever,
    ),
    ExportFormat(
        name="cyclonedx", title="CycloneDX ML-BOM with declarations", version="1.7", validator="cyclonedx-python-lib 11.12",
        lost=cyclonedx.LOST, mapper=cyclonedx.map_cyclonedx,
    ),
    ExportFormat(
        name="scitt", title="COSE receipt for each published file", version="RFC 9942", validator="scitt-cose 0.5.0",
        lost=scitt_receipt.LOST, seal=Seal.LOG, takes_cards=True,
    ),
    ExportFormat(
        name="oscal", title="OSCAL assessment results", version="1.2.1", validator="compliance-trestle 5.2.0", lost=oscal.LOST,
        need=Need.OUTCOME, mapper=oscal.map_oscal,
    ),
    ExportFormat(
        name="cff", title="Citation File Format", version="1.2.0", validator="cffconvert 2.0.0", lost=citations.LOST, takes_cards=True,
        mapper=citations.map_cff,
    ),
    ExportFormat(
        name="datacite", title="DataCite JSON", version="4.5", validator="datacite 1.4.1", lost=citations.LOST, takes_cards=True,
        mapper=citations.map_datacite,
    ),
    ExportFormat(
        name="csl", title="CSL-JSON", version="1.0.2", validator="citeproc-py 0.11.1", lost=citations.LOST, takes_cards=True,
        mapper=citations.map_csl,
    ),
    ExportFormat(
        name="bibtex", title="BibTeX", version="0.99", validator="bibtexparser 2.1", lost=citations.LOST, takes_cards=True,
        mapper=citations.map_bibtex,
    ),
    ExportFormat(
        name="case", title="LTAC fragment of a safety case", version="extended LTAC", validator="verocase 0.7.2", lost=safety_case.LOST,
        mapper=safety_case.map_safety_case,
    ),
    ExportFormat(
        name="crate", title="RO-Crate with PROV-JSON", version="RO-Crate 1.1, Process Run Crate 0.5",
        validator="roc-validator 0.13.0, prov 3.2.3", lost=research_crate.LOST, mapper=research_crate.map_research_crate,
    ),
    ExportFormat(
        name="hf", title="Hugging Face evaluation result", version=".eval_results/*.yaml", validator="huggingface_hub 2.4.0",
        lost=hugging_face.LOST, need=Need.ESTIMATE, warning=hugging_face.WARNING, mapper=hugging_face.map_hugging_face,
    ),
    ExportFormat(
        name="jsonld", title="schema.org ClaimReview", version="schema.org 30.0", validator="none: it parses as JSON-LD (rdflib)",
        lost=claim_review.LOST, need=Need.OUTCOME, mapper=claim_review.map_claim_review,
    ),
)  # fmt: skip
FORMATS: Mapping[str, ExportFormat] = {format_.name: format_ for format_ in _FORMATS}
"""By name, in the order in which they are listed."""


def get_format(name: str, *, is_draft: bool) -> ExportFormat:
    """Return the format called *name*; with *is_draft* its draft.

    Raises:
        InputError: `export-format-unknown`, or `export-is-draft`: it has no draft.
    """
    format_ = FORMATS.get(name)
    if format_ is None or format_.is_draft:
        near = find_near(name, [known.name for known in FORMATS.values() if not known.is_draft])
        advice = f"did you mean {near[0]}?" if near else "caveat export --list"
        raise InputError(Fault("export-format-unknown", "--as", f"{name!r} is no format", advice=advice))
    if not is_draft:
        return format_
    draft = FORMATS.get(f"{name} --draft")
    if draft is None:
        raise InputError(Fault("export-is-draft", "--draft", f"{name} has no draft; only in-toto has one"))
    return draft


def refuse_unfit(format_: ExportFormat, record: PublishedRecord) -> None:
    """Refuse a record that the format cannot hold truly.

    Raises:
        InputError: `export-without-result`, with what is missing; `export-field-missing` for a card in a format of claims.
        ConflictError: `export-would-unseal`.
    """
    identifier = parse_identifier(record.name)
    if identifier.kind is Kind.CARD and not format_.takes_cards:
        advice = f"export one of its claims, or cite the card: caveat export {record.name} --as cff"
        raise InputError(
            Fault("export-field-missing", record.name, f"{format_.name} describes one claim, and this is a card", advice=advice)
        )
    if identifier.kind is Kind.CARD:
        return
    supplement = record.claim
    if format_.need is not Need.RECORD and supplement.outcome is None:
        raise InputError(Fault("export-without-result", record.name, f"{format_.name} describes a result, and this claim has no outcome"))
    if format_.need is Need.ESTIMATE and find_estimate(supplement) is None:
        problem = f"{format_.name} describes figures, and this outcome rests on none: {supplement.verdict}"
        raise InputError(Fault("export-without-result", record.name, problem))
    claim = supplement.claim.payload
    if format_.has_property and claim.property in list_sealed(supplement):
        problem = f"{format_.name} names what is measured, and {claim.property} is sealed"
        raise ConflictError(Fault("export-would-unseal", record.name, problem))
