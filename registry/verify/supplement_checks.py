"""The checks of one supplement, in order, also where its record cannot be read."""

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.errors import CaveatError, InputError, UnavailableError
from registry.records.dossier import Recorded
from registry.records.statement import OutputFormat, Publication
from registry.report.published_file import PdfSignature, find_signature, split_file
from registry.report.render_workers import has_layout
from registry.report.supplement_reading import list_threats
from registry.verify import proof_checks as proofs
from registry.verify.proof_checks import (
    Check,
    CheckAnswer,
    CheckName,
    PublicationProof,
    check_checkpoint,
    check_root,
    check_signature,
    check_witnesses,
    no,
    not_checked,
    read_proof,
    yes,
)
from registry.verify.record_checks import (
    SupplementInFile,
    check_authors,
    check_lock,
    check_record,
    detect_format,
    find_template,
    list_contradictions,
)
from registry.verify.record_checks import check_inclusion as check_entries_of
from registry.verify.verification_keys import Trust, VerificationMeans, find_log

if TYPE_CHECKING:
    from registry.report.render_workers import RenderedFile
    from registry.store.ledger import Ledger

# What the log proves of a supplement: the entries that it names, and its publication.

_MOST_LISTED = 3
_COMPOSED = (
    "not covered is what the supplement composes from them (reasons, limits, names, a card's title and rows, gaps, other audits): "
    "`published` with `checkpoint`, `signature` or `registry` vouch for that"
)
_OF_PROOF = (CheckName.PUBLISHED, CheckName.INCLUSION, CheckName.CHECKPOINT, CheckName.WITNESSES, CheckName.CONSISTENCY)


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementSeals:
    """What stands around a supplement."""

    proof: PublicationProof | None
    """The proof of its publication; None where there is none, or none that can be read."""
    broken: InputError | None
    """Why the proof cannot be read; None where it can, or where there is none."""
    rendered: bytes
    """The file without its proof and signature, as far as Caveat wrote them; all of it where the signature is not intact."""


def check_entries(embedded: SupplementInFile) -> Check:
    """Return whether every entry that the record quotes is in the log, at the root that it names, and what copies one is its copy."""
    supplement = embedded.supplement
    # Every supplement is written with its proof, so someone took it out.
    if supplement.inclusion is None:
        note = "IT PROVES NO ENTRY: the proof that its entries are in the log was taken out; ask for the file as it was made"
        return no(CheckName.ENTRIES, note)
    try:
        proven = check_entries_of(supplement, document=embedded.document)
    except CaveatError as error:
        # The same fault can concern many entries; each is printed once.
        problems = list(dict.fromkeys(f"{fault.where}: {fault.found}" for fault in error.faults))
        more = f"; and {len(problems) - _MOST_LISTED} more" if len(problems) > _MOST_LISTED else ""
        return no(CheckName.ENTRIES, "; ".join(problems[:_MOST_LISTED]) + more)
    # The entries are proven; now what the supplement says of them is compared.
    if contradictions := list_contradictions(supplement):
        more = f"; and {len(contradictions) - _MOST_LISTED} more" if len(contradictions) > _MOST_LISTED else ""
        return no(CheckName.ENTRIES, f"not what the statements given with it say: {'; '.join(contradictions[:_MOST_LISTED])}{more}")
    count, whole = len(proven.entries), len(proven.recomputed)
    # Named entries without a statement prove number and leaf, not words.
    hashed = f"of {whole} every word was hashed again" if whole else "their text is not in it"
    note = f"{count} entries are in {supplement.log_origin} at {supplement.log_size} entries, root {supplement.inclusion.root}; "
    return yes(CheckName.ENTRIES, f"{note}{hashed}; {_COMPOSED}")


def check_publication(embedded: SupplementInFile, sealed: SupplementSeals, ledger: "Ledger | None") -> Check:
    """Return whether this very file was published, by its digest: as its proof says, or without one as the registry here says."""
    # Without proof and signature: the log recorded the rendered file before they existed.
    sha256 = hashlib.sha256(sealed.rendered).hexdigest()
    if sealed.broken is not None:
        fault = sealed.broken.faults[0]
        return no(CheckName.PUBLISHED, f"its proof cannot be read: {fault.where}: {fault.found}")
    # Without a proof the registry here may still know the digest.
    if sealed.proof is None:
        return _check_published(embedded, sha256, ledger)
    faults = _compare(sealed.proof.publication, embedded, sealed, sha256)
    if faults:
        return no(CheckName.PUBLISHED, f"its proof is {faults[0]}{_describe_others(faults[1:])}")
    note = f"the statement proven is of this file: {len(sealed.rendered):,} bytes, sha256 {sha256}, and of its record"
    # What was added was taken off by writing it again, so it is exactly that.
    added = len(embedded.data) - len(sealed.rendered)
    return yes(CheckName.PUBLISHED, note + (f"; the {added:,} bytes added to them are its proof and signature" if added else ""))


def check_seals(
    embedded: SupplementInFile, sealed: SupplementSeals, trust: Trust, ledger: "Ledger | None", *, origin: str | None
) -> tuple[Check, ...]:
    """Return the checks of the proof, in order: publication, inclusion, checkpoint, witnesses, consistency.

    Args:
        origin: the log that the user expects; None takes the one that the supplement names.
    """
    publication = check_publication(embedded, sealed, ledger)
    read = sealed.proof
    if read is None:
        why = _describe_lack(embedded, is_broken=sealed.broken is not None)
        return (publication, *(not_checked(name, why) for name in _OF_PROOF[1:]))
    return (
        publication,
        proofs.check_inclusion(read),
        check_checkpoint(read.note, trust, origin=origin or embedded.supplement.log_origin, at=read.at),
        check_witnesses(read.note, trust),
        _check_consistency(embedded, read, ledger),
    )


def _describe_lack(embedded: SupplementInFile, *, is_broken: bool) -> str:
    if is_broken:
        return "its proof cannot be read"
    if embedded.subject is None:
        return "a change report has no proof of publication; a registry gives the root that it names, or another: see registry"
    return proofs.MISSING


def find_published(sealed: SupplementSeals, checks: tuple[Check, ...]) -> Publication | None:
    """Return the publication, where all that leads to it was found in order."""
    # All three: a proven publication under a checkpoint of an unknown key proves nothing.
    wanted = (CheckName.PUBLISHED, CheckName.INCLUSION, CheckName.CHECKPOINT)
    in_order = {check.name for check in checks if check.answer is CheckAnswer.YES}
    return sealed.proof.publication if sealed.proof is not None and in_order.issuperset(wanted) else None


def _compare(publication: Publication, embedded: SupplementInFile, sealed: SupplementSeals, sha256: str) -> list[str]:
    """Return everything in which a publication is not of this file."""
    supplement = embedded.supplement
    # The digest comes first. It decides; the others help to find the right file.
    pairs = [
        ("of another file: sha256", publication.sha256, sha256),
        ("of a file of another length:", str(publication.size_bytes), str(len(sealed.rendered))),
        ("of another record: sha256", publication.record, embedded.digest),
        ("of another subject:", publication.subject, embedded.name),
        ("of another form:", publication.format.value, embedded.format.value),
        ("of another size of the log:", str(publication.log_size), str(supplement.log_size)),
    ]
    return [f"{what} {there}, here {here}" for what, there, here in pairs if there != here]


def _describe_others(faults: list[str]) -> str:
    """What else differs, without the digests: the first says enough."""
    return "".join(f", and {fault.partition(':')[0]}" for fault in faults)


def _check_published(embedded: SupplementInFile, sha256: str, ledger: "Ledger | None") -> Check:
    if ledger is not None:
        # Only in the log that the record names.
        place = find_log(ledger, embedded.supplement.log_origin)
        publications: tuple[Recorded[Publication], ...] = ()
        if place is not None:
            with ledger.view(log=place.log) as view:
                publications = view.find_publications(sha256)
        if publications:
            entry = publications[0].entry
            note = f"no proof here; the registry recorded in entry {entry.seq} on {entry.at:%Y-%m-%d} that this file was published"
            return yes(CheckName.PUBLISHED, note)
    # A publication names a claim or a card.
    if embedded.subject is None:
        note = "a change report is about no one claim or card, so no log says that it was published; see signature and registry"
        return not_checked(CheckName.PUBLISHED, note)
    note = "no proof that it was published: ask for the file NAME.tlog-proof, and put it next to this one"
    return not_checked(CheckName.PUBLISHED, note)


def _check_consistency(embedded: SupplementInFile, read: PublicationProof, ledger: "Ledger | None") -> Check:
    """The supplement's own root and the registry's, where there is one here, are of the same history as the checkpoint's."""
    inclusion = embedded.supplement.inclusion
    # The record prints its own root, which must be the one that the proof begins with.
    if inclusion is not None and (inclusion.size, inclusion.root) != (read.said.consistency.size, read.said.consistency.root):
        note = f"the supplement names the root {inclusion.root} at {inclusion.size} entries, its proof {read.said.consistency.root}"
        return no(CheckName.CONSISTENCY, f"{note} at {read.said.consistency.size}")
    check = proofs.check_consistency(read)
    # A registry adds nothing to a proof that failed.
    if ledger is None or check.answer is not CheckAnswer.YES:
        return check
    return _compare_roots(check, read, ledger)


def _compare_roots(check: Check, read: PublicationProof, ledger: "Ledger") -> Check:
    held = check_root(read.checkpoint, ledger)
    # The registry may not have this log; the proof stands by itself.
    if held.answer is CheckAnswer.NOT_CHECKED:
        return check
    return held if held.answer is CheckAnswer.NO else yes(CheckName.CONSISTENCY, f"{check.note}, and of the registry here")


# A file whose record cannot be read. Its bytes can still be those that were published: digest,
# proof, checkpoint and signature need no record. What the record says is not checked, so such a
# file never passes.

_BROKEN = frozenset({"pdf-altered", "pdf-damaged", "file-too-large", "file-not-readable", "not-json", "not-a-supplement"})
"""What a file is called when no record can be taken out of it."""
_NEWER = "newer-format"
_NOT_DRAWN = "it was not rendered again from its record and compared; --rerender does it"
_OF_RECORD = (CheckName.BYTES, CheckName.ENTRIES, CheckName.AUTHORS, CheckName.LOCK, CheckName.REGISTRY, CheckName.CURRENT)
_OF_UNREAD_PROOF = (CheckName.INCLUSION, CheckName.CHECKPOINT, CheckName.WITNESSES, CheckName.CONSISTENCY)


def is_foreign(data: bytes, error: InputError) -> bool:
    """Whether *data*, which *error* says cannot be read, is nothing that Caveat wrote."""
    # A JSON file that is none may be anything; a PDF or HTML file with a broken record was made by
    # someone.
    return error.code == "not-a-supplement" or (detect_format(data) is OutputFormat.JSON and error.code == "not-json")


def check_unread(data: bytes, error: InputError, means: VerificationMeans, *, proof: bytes | None, where: str) -> tuple[Check, ...]:
    """Return the checks of the file *data*, but for what only a PDF can be asked: what its pages do.

    Args:
        error: why its record cannot be read.
        proof: the bytes of the proof inside it or next to it; None where there is none.
        where: what the proof is called, for messages.
    """
    # Only PDFs carry signatures.
    signature = find_signature(data) if detect_format(data) is OutputFormat.PDF else None
    try:
        read = None if proof is None else read_proof(proof, where=where)
    except InputError as broken:
        fault = broken.faults[0]
        seals: tuple[Check, ...] = (
            no(CheckName.PUBLISHED, f"its proof cannot be read: {fault.where}: {fault.found}"),
            *(not_checked(name, "its proof cannot be read") for name in _OF_UNREAD_PROOF),
        )
        read = None
    else:
        seals = _check_seals(_find_rendered(data, signature), detect_format(data), read, means)
    # A signature is judged with the proof only if the proof leads to a known key.
    in_order = {seal.name for seal in seals if seal.answer is CheckAnswer.YES}
    is_published = in_order.issuperset((CheckName.PUBLISHED, CheckName.INCLUSION, CheckName.CHECKPOINT))
    of_pdf: tuple[Check, ...] = ()
    if detect_format(data) is OutputFormat.PDF:
        of_pdf = (check_signature(signature, means.trust, proof=read if is_published else None),)
    rest = (not_checked(name, "its record cannot be read") for name in _OF_RECORD)
    return (*of_pdf, _describe_record(error, is_published=is_published), *seals, *rest)


def _describe_record(error: InputError, *, is_published: bool) -> Check:
    fault = error.faults[0]
    # A newer record is not a damaged one.
    if error.code == _NEWER:
        return not_checked(CheckName.RECORD, f"{fault.found}; {fault.advice}")
    if error.code in _BROKEN:
        return no(CheckName.RECORD, f"{error.code}: {fault.found}")
    problem = f"it does not fit the form that it names ({fault.where}: {fault.found})"
    if is_published:  # by a key that is known: so another version of Caveat wrote it, and no one altered it since
        return not_checked(CheckName.RECORD, f"{problem}: another version of Caveat made it; what it says was not checked")
    return no(CheckName.RECORD, f"{problem}: it was altered")


def _find_rendered(data: bytes, signature: PdfSignature | None) -> bytes:
    """Return the file without its proof and signature, as far as Caveat wrote them."""
    # A signature that is not intact is not taken off: its bytes may be anything.
    unsigned = signature.unsigned if signature is not None and signature.is_intact else data
    return split_file(data, detect_format(data), unsigned=unsigned).rendered


def _check_seals(content: bytes, format_: OutputFormat, read: PublicationProof | None, means: VerificationMeans) -> tuple[Check, ...]:
    if read is None:
        return (_find_publication_in_logs(content, means.ledger), *(not_checked(name, proofs.MISSING) for name in _OF_UNREAD_PROOF))
    return (
        _check_publication(content, format_, read.publication),
        proofs.check_inclusion(read),
        check_checkpoint(read.note, means.trust, origin=means.origin, at=read.at),
        check_witnesses(read.note, means.trust),
        proofs.check_consistency(read),
    )


def _check_publication(content: bytes, format_: OutputFormat, publication: Publication) -> Check:
    sha256 = hashlib.sha256(content).hexdigest()
    if (publication.sha256, publication.format, publication.size_bytes) != (sha256, format_, len(content)):
        return no(
            CheckName.PUBLISHED, f"its proof is of another file: {publication.format.value}, sha256 {publication.sha256}; here {sha256}"
        )
    return yes(CheckName.PUBLISHED, f"the statement proven is of this file, sha256 {sha256}; its record cannot be read")


def _find_publication_in_logs(content: bytes, ledger: "Ledger | None") -> Check:
    """Look for the digest in every log of the registry: which log the record names cannot be read."""
    sha256 = hashlib.sha256(content).hexdigest()
    # The record cannot say which log it names, so every log is asked.
    for log in () if ledger is None else ledger.list_logs():
        place = None if ledger is None else find_log(ledger, log.origin)
        if ledger is None or place is None:
            continue
        with ledger.view(log=place.log) as view:
            if published := view.find_publications(sha256):
                return yes(
                    CheckName.PUBLISHED,
                    f"no proof here; the registry recorded in entry {published[0].entry.seq} that this file was published",
                )
    note = f"no proof that it was published: ask for the file NAME{proofs.PROOF_SUFFIX}, and put it next to this one"
    return not_checked(CheckName.PUBLISHED, note)


# The checks of one supplement. All are made, whatever the others give, because a reader wants every
# fault at once.

_ORDER = tuple(CheckName)
_MOST_THREATS = 4
_AGAIN = "caveat report --from FILE draws its record here, to be read instead"


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementExamination:
    """A supplement of which all is checked but whether it shows what its record says."""

    embedded: SupplementInFile
    sealed: SupplementSeals
    published: Publication | None
    """What is proven of it by a checkpoint that a known key signed; None where nothing is."""
    checks: tuple[Check, ...]

    def finish(self, made: "RenderedFile | None") -> tuple[Check, ...]:
        """Return all checks in order; *made* is what drawing it again came to, None where it was not rendered."""
        return _sort(*self.checks, _check_bytes(self, made))


def examine_supplement(embedded: SupplementInFile, means: VerificationMeans, *, proof: bytes | None, where: str) -> SupplementExamination:
    """Return every check of a supplement but `bytes`.

    Args:
        proof: the bytes of the `.tlog-proof` next to it; None where there is none.
        where: what the proof is called, for messages.
    """
    signature = find_signature(embedded.data) if embedded.format is OutputFormat.PDF else None
    sealed = _read_seal(embedded, signature, proof, where)
    seals = check_seals(embedded, sealed, means.trust, means.ledger, origin=means.origin)
    published = find_published(sealed, seals)
    # The registry's answer replaces proven entries in the check of the lock.
    entries, registry = check_entries(embedded), _ask_registry(embedded, means)
    of_pdf: tuple[Check, ...] = ()
    if embedded.format is OutputFormat.PDF:
        # Threats are looked for in the file as it is.
        of_pdf = (_check_threats(embedded.data), check_signature(signature, means.trust, proof=sealed.proof if published else None))
    lock = check_lock(embedded.supplement, is_proven=CheckAnswer.YES in (entries.answer, registry[0].answer))
    checks = (*of_pdf, check_record(embedded), entries, check_authors(embedded), *seals, lock, *registry)
    return SupplementExamination(embedded=embedded, sealed=sealed, published=published, checks=checks)


def check_unreadable(data: bytes, error: InputError, means: VerificationMeans, *, proof: bytes | None, where: str) -> tuple[Check, ...]:
    """Return the checks of a file with a record that cannot be read; none where Caveat wrote no such file and no proof is of it.

    Args:
        error: why it cannot be read.
        proof, where: as `examine_supplement` takes them.
    """
    # Neither Caveat's form nor a proof: the command refuses the file in words.
    if proof is None and is_foreign(data, error):
        return ()
    of_pdf = (_check_threats(data),) if data.startswith(b"%PDF-") else ()
    return _sort(*of_pdf, *check_unread(data, error, means, proof=proof, where=where))


def _sort(*checks: Check) -> tuple[Check, ...]:
    return tuple(sorted(checks, key=lambda check: _ORDER.index(check.name)))


def _ask_registry(embedded: SupplementInFile, means: VerificationMeans) -> tuple[Check, Check]:
    # Without a registry nothing can be said of what came later.
    if means.ledger is None:
        return (
            not_checked(CheckName.REGISTRY, "no registry here; give one with --registry to compare what it says"),
            not_checked(CheckName.CURRENT, "no registry here: what was recorded since cannot be known from a file"),
        )
    from registry.verify.registry_comparison import check_current, check_registry  # noqa: PLC0415  (SQLAlchemy, and all that assembles)

    return check_registry(embedded, means.ledger), check_current(embedded, means.ledger)


def _read_seal(embedded: SupplementInFile, signature: PdfSignature | None, beside: bytes | None, where: str) -> SupplementSeals:
    """Return the proof and what it is of. The one inside the file is taken before the one beside it."""
    unsigned = signature.unsigned if signature is not None and signature.is_intact else embedded.data
    # Taken off only as far as Caveat wrote it; the rest stays part of the file and fails the
    # comparison.
    layers = split_file(embedded.data, embedded.format, unsigned=unsigned)
    # The proof inside cannot be exchanged by mistake.
    proof = beside if layers.proof is None else layers.proof
    read: PublicationProof | None = None
    try:
        read = None if proof is None else read_proof(proof, where=where)
    except InputError as error:
        return SupplementSeals(proof=None, broken=error, rendered=layers.rendered)
    return SupplementSeals(proof=read, broken=None, rendered=layers.rendered)


def _check_threats(data: bytes) -> Check:
    threats = list_threats(data)
    if threats:
        more = f"; and {len(threats) - _MOST_THREATS} more" if len(threats) > _MOST_THREATS else ""
        return no(CheckName.SAFE, "; ".join(threat.found for threat in threats[:_MOST_THREATS]) + more)
    return yes(
        CheckName.SAFE,
        "nothing that acts, hides, reaches outside or came later was found; what is attached is its record, and its proof where it has one",
    )


def _check_bytes(supplement_examination: SupplementExamination, made: "RenderedFile | None") -> Check:
    """Whether the file shows what its record says: what was rendered from the record is the file, without its proof and signature."""
    rendered = supplement_examination.sealed.rendered
    if made is None:
        return not_checked(CheckName.BYTES, _NOT_DRAWN)
    # No PDF library here, or the time limit: that is no fault of the file.
    if isinstance(made.error, UnavailableError):
        return not_checked(CheckName.BYTES, made.error.faults[0].found)
    if made.data == rendered:
        before = "" if len(rendered) == len(supplement_examination.embedded.data) else ", to which proof and signature are added"
        return yes(CheckName.BYTES, f"rendered again from its record: the same {len(rendered):,} bytes{before}")
    what = "it is another file" if made.error is None else f"it cannot be: {made.error.faults[0].found}"
    # Files name the templates that rendered them. Other templates give other bytes, so the answer
    # is "not checked", and without another witness the exit code is 3 (decision of 2026-11-22). A
    # forger can turn a no into "not checked", never into yes.
    if (who := _find_other_version(supplement_examination)) is not None:
        note = f"{who} another version of Caveat, and only that renders these bytes: what is printed was not compared with the record; "
        return not_checked(CheckName.BYTES, note + _AGAIN)
    # Pango and HarfBuzz lay out text, and are not part of the digest of the templates.
    other = (
        ", or laid out with other system libraries (Pango, HarfBuzz)" if supplement_examination.embedded.format is OutputFormat.PDF else ""
    )
    return no(CheckName.BYTES, f"rendered again from its record, {what}: it was altered{other}")


def _find_other_version(supplement_examination: SupplementExamination) -> str | None:
    """Who says that other templates drew the file, in words that “names” ends; None where no one does.

    The log does, under a checkpoint that is trusted; or the proof beside it, or the file itself, of which neither is believed for more
    than this: that it cannot be compared here. So an altered file may escape a *no* by such words, and gets no *yes* by them.
    """
    # Without templates nothing here could have rendered it.
    here: str | None = None
    if has_layout():
        from registry.report.html_rendering import template_digest  # noqa: PLC0415  (Jinja2: only a file that differs needs it)

        here = template_digest()
    # The log's word is the strongest: then the file's own does not count.
    if supplement_examination.published is not None:
        return None if supplement_examination.published.template == here else "its publication in the log names the templates of"
    text = None if supplement_examination.sealed.proof is None else supplement_examination.sealed.proof.publication.template
    # The separate proof is only believed for the reason why bytes cannot be compared.
    if text is not None and text != here:
        return "its proof, for which nothing here vouches, names the templates of"
    # JSON is its record and needs no templates.
    if supplement_examination.embedded.format is OutputFormat.JSON:
        return None  # it is its record, whatever the templates
    inside = find_template(supplement_examination.embedded)
    return None if inside == here else "it says that it was rendered by" if inside else "it does not say what rendered it, as files of"
