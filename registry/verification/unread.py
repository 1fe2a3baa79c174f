"""The checks of a file whose record cannot be read: its bytes can still be the ones that were published.

The digest, the proof, the checkpoint and the signature need no record. What the record says is not checked, and the file never passes.
"""

import hashlib
from typing import TYPE_CHECKING

from registry.errors import InputError
from registry.records.statement import OutputFormat, Publication
from registry.report.enclosed import split_file
from registry.report.signature import PdfSignature, find_signature
from registry.verification import proof as proofs
from registry.verification.carried import tell_format
from registry.verification.check import Answer, Check, Name, no, not_checked, yes
from registry.verification.means import Means, find_log
from registry.verification.proof import ReadProof, read_proof
from registry.verification.signed import check_checkpoint, check_signature, check_witnesses

if TYPE_CHECKING:
    from registry.store.ledger import Ledger

_BROKEN = frozenset(
    {"pdf-attachment", "pdf-encrypted", "pdf-too-slow", "file-too-large", "file-not-readable", "not-json", "not-a-supplement"}
)
"""What a file is called when no record can be taken out of it."""
_NEWER = "record-newer"
_OF_RECORD = (Name.BYTES, Name.ENTRIES, Name.AUTHORS, Name.LOCK, Name.REGISTRY, Name.CURRENT)
_OF_PROOF = (Name.INCLUSION, Name.CHECKPOINT, Name.WITNESSES, Name.CONSISTENCY)


def is_foreign(data: bytes, error: InputError) -> bool:
    """Whether *data*, which *error* says cannot be read, is nothing that Caveat wrote."""
    return error.code == "not-a-supplement" or (tell_format(data) is OutputFormat.JSON and error.code == "not-json")


def check_unread(data: bytes, error: InputError, means: Means, *, proof: bytes | None, where: str) -> tuple[Check, ...]:
    """Return the checks of the file *data*, but for what only a PDF can be asked: what its pages do.

    Args:
        error: why its record cannot be read.
        proof: the bytes of the proof inside it or beside it; None where there is none.
        where: what the proof is called, for messages.
    """
    signature = find_signature(data) if tell_format(data) is OutputFormat.PDF else None
    try:
        read = None if proof is None else read_proof(proof, where=where)
    except InputError as broken:
        fault = broken.faults[0]
        seals: tuple[Check, ...] = (
            no(Name.PUBLISHED, f"its proof cannot be read: {fault.where}: {fault.found}"),
            *(not_checked(name, "its proof cannot be read") for name in _OF_PROOF),
        )
        read = None
    else:
        seals = _check_seals(_find_drawn(data, signature), tell_format(data), read, means)
    in_order = {one.name for one in seals if one.answer is Answer.YES}
    is_published = in_order.issuperset((Name.PUBLISHED, Name.INCLUSION, Name.CHECKPOINT))
    of_pdf: tuple[Check, ...] = ()
    if tell_format(data) is OutputFormat.PDF:
        of_pdf = (check_signature(signature, means.trust, proof=read if is_published else None),)
    rest = (not_checked(name, "its record cannot be read") for name in _OF_RECORD)
    return (*of_pdf, _describe_record(error, is_published=is_published), *seals, *rest)


def _describe_record(error: InputError, *, is_published: bool) -> Check:
    fault = error.faults[0]
    if error.code == _NEWER:
        return not_checked(Name.RECORD, f"{fault.found}; {fault.advice}")
    if error.code in _BROKEN:
        return no(Name.RECORD, f"{error.code}: {fault.found}")
    told = f"it does not fit the form that it names ({fault.where}: {fault.found})"
    if is_published:  # by a key that is known: so another version of Caveat wrote it, and nobody altered it since
        return not_checked(Name.RECORD, f"{told}: another version of Caveat made it; what it says was not checked")
    return no(Name.RECORD, f"{told}: it was altered")


def _find_drawn(data: bytes, signature: PdfSignature | None) -> bytes:
    """Return the file without its proof and signature, as far as Caveat wrote them."""
    unsigned = signature.unsigned if signature is not None and signature.is_intact else data
    return split_file(data, tell_format(data), unsigned=unsigned).drawn


def _check_seals(drawn: bytes, format_: OutputFormat, read: ReadProof | None, means: Means) -> tuple[Check, ...]:
    if read is None:
        return (_ask_registry(drawn, means.ledger), *(not_checked(name, proofs.MISSING) for name in _OF_PROOF))
    return (
        _check_publication(drawn, format_, read.publication),
        proofs.check_inclusion(read),
        check_checkpoint(read.note, means.trust, origin=means.origin, at=read.at),
        check_witnesses(read.note, means.trust),
        proofs.check_consistency(read),
    )


def _check_publication(drawn: bytes, format_: OutputFormat, said: Publication) -> Check:
    sha256 = hashlib.sha256(drawn).hexdigest()
    if (said.sha256, said.format, said.size_bytes) != (sha256, format_, len(drawn)):
        return no(Name.PUBLISHED, f"its proof is of another file: {said.format.value}, sha256 {said.sha256}; here {sha256}")
    return yes(Name.PUBLISHED, f"the statement proven is of this file, sha256 {sha256}; its record cannot be read")


def _ask_registry(drawn: bytes, ledger: "Ledger | None") -> Check:
    """Look for the digest in every log of the registry: which log the record names cannot be read."""
    sha256 = hashlib.sha256(drawn).hexdigest()
    for log in () if ledger is None else ledger.list_logs():
        place = None if ledger is None else find_log(ledger, log.origin)
        if ledger is None or place is None:
            continue
        with ledger.view(log=place.log) as view:
            if published := view.find_publications(sha256):
                return yes(
                    Name.PUBLISHED, f"no proof here; the registry recorded in entry {published[0].entry.seq} that this file was given out"
                )
    note = f"no proof that it was given out: ask for the file NAME{proofs.SUFFIX}, and put it beside this one"
    return not_checked(Name.PUBLISHED, note)
