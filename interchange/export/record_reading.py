"""The published record of a claim or card: rebuilt from the log, and compared with the digest that its publication recorded."""

import hashlib
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date

from interchange.formats.export_record import PublishedRecord
from interchange.formats.scitt_receipt import ReceiptFacts
from registry.codec.statement_encoding import public_record
from registry.errors import AlteredError, ConflictError, Fault, NotFoundError
from registry.folder.supplement_publishing import SupplementCollector, build_proof
from registry.records.dossier import Recorded
from registry.records.record import Identifier, Kind
from registry.records.statement import OutputFormat, Publication
from registry.records.supplement import CardSupplement, Supplement
from registry.report.html_rendering import render_json
from registry.seal.signed_notes import strip_cosignatures
from registry.store.log_seals import find_root, inclusion_path, list_checkpoints
from registry.store.registry_view import View
from registry.verify.proof_checks import CheckAnswer
from registry.verify.record_checks import check_lock, check_record, read_carried
from registry.verify.supplement_checks import check_entries

OpenView = Callable[[int], AbstractContextManager[View]]
"""Opens the same log as of an entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundRecord:
    """A published record, and the publications of its files."""

    record: PublishedRecord
    publications: tuple[Recorded[Publication], ...]
    """Of the files with this record, in log order."""


def read_published(view: View, subject: Identifier, open_view: OpenView, *, today: date | None) -> FoundRecord:
    """Return the newest published record of *subject*.

    Args:
        view: the log as it is read: publications and what superseded them.
        subject: with a revision, or without one for the newest revision.
        open_view: opens the log as of the entry that the record was made from.
        today: the day on which an outcome may have expired since; None to export a record as of an entry, whatever came later.

    Raises:
        NotFoundError: `export-without-record`: no file of this revision was published; or it is not registered, or a text was erased.
        ConflictError: `export-record-superseded`: later entries changed what the record says, or its outcome expired.
        AlteredError: `export-record-differs`: the log gives another record than the one that was published.
    """
    name = _name_revision(view, subject)
    publications = tuple(found for found in view.list_publications(subject.bare) if found.payload.subject == name)
    if not publications:
        advice = f"caveat report {name} --publish"
        raise NotFoundError(Fault("export-without-record", name, "no record of this revision was published", advice=advice))
    newest = max(publications, key=lambda publication: (publication.payload.log_size, publication.entry.seq)).payload
    with open_view(newest.log_size) as then:
        # Without `now` nothing that superseded it is looked for: the record as of an entry was asked for.
        collector = SupplementCollector(then, now=view if today is not None else then)
        supplement = collector.collect(replace(subject, revision=int(name.partition("@")[2]))).supplement
    if not isinstance(supplement, (Supplement, CardSupplement)):
        raise TypeError(f"{name} is neither claim nor card")
    _refuse_superseded(name, supplement, today)
    content = render_json(public_record(supplement))
    sha256 = hashlib.sha256(content).hexdigest()
    if sha256 != newest.record:
        both = f"the log gives the record {sha256[:16]}…, and {newest.record[:16]}… was published"
        problem = f"{both}: rows were altered, or another version wrote it"
        raise AlteredError(Fault("export-record-differs", name, problem))
    record = PublishedRecord(supplement=replace(supplement, superseded=None), content=content, sha256=sha256)
    same = tuple(publication for publication in publications if publication.payload.record == sha256)
    return FoundRecord(record=replace(record, checks=list_checks(record), proof=_prove(view, same)), publications=same)


def _prove(view: View, publications: tuple[Recorded[Publication], ...]) -> bytes | None:
    """Return the proof that the record was published as JSON, under the first checkpoint that covers it: a later one changes nothing."""
    publication = next((found for found in publications if found.payload.format is OutputFormat.JSON), None)
    if publication is None:
        return None
    stored = next((stored for stored in list_checkpoints(view) if stored.checkpoint.size >= publication.entry.seq), None)
    if stored is None:
        return None
    # Cosignatures may come later, and would change the bytes of an export.
    return build_proof(view, publication, replace(stored, note=strip_cosignatures(stored.note)), signer=None).encode()


def _name_revision(view: View, subject: Identifier) -> str:
    """Return *subject* with its revision: the newest where none is named."""
    if subject.revision is not None:
        return f"{subject.bare}@{subject.revision}"
    if subject.kind is Kind.CARD:
        card = view.find_card(subject.bare)
        number = None if card is None else card.payload.revision
    else:
        number = view.count_revisions(subject.bare) or None
    if number is None:
        near = view.suggest(subject.bare) or "caveat claim list shows them all"
        raise NotFoundError(Fault("not-registered", str(subject), "it is not registered, or has no text yet", advice=near))
    return f"{subject.bare}@{number}"


def _refuse_superseded(name: str, supplement: Supplement | CardSupplement, today: date | None) -> None:
    superseded = supplement.superseded
    if superseded is not None:
        now = f"caveat report {superseded.name} --publish"
        advice = f"publish what it says now: {now}; or export the older state: --as-of {superseded.entry.seq - 1}"
        raise ConflictError(Fault("export-record-superseded", name, " ".join(superseded.why), advice=advice))
    outcome = supplement.outcome if isinstance(supplement, Supplement) else None
    if today is not None and outcome is not None and outcome.valid_until is not None and today > outcome.valid_until:
        problem = f"its outcome counted in full until {outcome.valid_until}"
        raise ConflictError(Fault("export-record-superseded", name, problem, advice=f"audit it again: caveat audit new {name}"))


def list_checks(record: PublishedRecord) -> tuple[str, ...]:
    """Return the checks that a record passes on its own, named as the properties of an attestation. One that was not made is absent."""
    embedded = read_carried(record.content, where=record.file_name)
    entries = check_entries(embedded)
    is_proven = entries.answer is CheckAnswer.YES
    lock = check_lock(embedded.supplement, is_proven=is_proven)
    answers = {
        # Its bytes are those of the publication: compared by the caller.
        "BYTES": CheckAnswer.YES,
        "RECORD": check_record(embedded).answer,
        "ENTRIES": entries.answer,
        "LOCK_BEFORE_RUN": lock.answer,
    }
    return tuple(name for name, answer in answers.items() if answer is CheckAnswer.YES)


def build_receipt_facts(view: View, publication: Recorded[Publication], key_id: bytes) -> ReceiptFacts:
    """Return what a receipt states of *publication*, under the first checkpoint that covers it.

    Raises:
        NotFoundError: no checkpoint covers it yet, or the text of the publication was erased.
    """
    seq = publication.entry.seq
    stored = next((stored for stored in list_checkpoints(view) if stored.checkpoint.size >= seq), None)
    if stored is None:
        problem = f"no checkpoint covers entry {seq}"
        raise NotFoundError(Fault("checkpoint-not-found", publication.payload.subject, problem, advice="caveat admin log checkpoint"))
    size = stored.checkpoint.size
    ((_, text),) = view.log_entries(seq, seq + 1)
    if text is None:
        raise NotFoundError(Fault("body-erased", f"entry {seq}", "the text of the publication was erased"))
    return ReceiptFacts(
        subject=publication.payload.subject, statement=text, index=seq - 1, size=size, root=bytes.fromhex(find_root(view, size)),
        path=tuple(inclusion_path(view, seq, size)), origin=view.log_origin, at=stored.at, key_id=key_id,
    )  # fmt: skip
