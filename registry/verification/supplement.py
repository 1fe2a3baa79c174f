"""The checks of one supplement, in order."""

from registry.errors import InputError
from registry.records.publication import OutputFormat
from registry.report.signature import PdfSignature, find_signature
from registry.report.suspicious import list_threats
from registry.report.workers import Made
from registry.verification.carried import Carried, check_record
from registry.verification.check import Answer, Check, Name, no, yes
from registry.verification.drawing import check_bytes
from registry.verification.locked import check_lock
from registry.verification.means import Means
from registry.verification.proof import ReadProof, read_proof
from registry.verification.proven import Sealed, check_entries, check_seals, find_published
from registry.verification.recorded import check_current, check_registry
from registry.verification.signature import check_signature
from registry.verification.trust import Trust

ORDER = tuple(Name)
_MOST_TOLD = 4


def check_supplement(carried: Carried, means: Means, *, proof: bytes | None, made: Made | None, where: str) -> tuple[Check, ...]:
    """Return the checks of a supplement, in order; all are made, whatever the others come to.

    Args:
        proof: the bytes of the `.tlog-proof` beside it; None where there is none.
        made: what drawing it again came to; None where it was not drawn, and then `bytes` says so.
        where: what the proof is called, for messages.

    Raises:
        InputError: the record cannot be drawn.
    """
    signature = find_signature(carried.data) if carried.format is OutputFormat.PDF else None
    sealed = _read_seal(carried, signature, proof, where)
    seals = check_seals(carried, sealed, means.trust, means.ledger, origin=means.origin)
    published = find_published(sealed, seals)
    entries, registry = check_entries(carried, published), check_registry(carried, means.ledger)
    checks = [
        *_check_pdf(carried, signature, means.trust, sealed.proof if published else None),
        check_bytes(carried, made, unsigned=sealed.unsigned, published=published),
        check_record(carried),
        entries,
        *seals,
        check_lock(carried.supplement, is_proven=Answer.YES in (entries.answer, registry.answer)),
        registry,
        check_current(carried, means.ledger),
    ]
    return tuple(sorted(checks, key=lambda one: ORDER.index(one.name)))


def _read_seal(carried: Carried, signature: PdfSignature | None, proof: bytes | None, where: str) -> Sealed:
    unsigned = signature.unsigned if signature is not None and signature.is_intact else carried.data
    read: ReadProof | None = None
    try:
        read = None if proof is None else read_proof(proof, where=where)
    except InputError as error:
        return Sealed(proof=None, broken=error, unsigned=unsigned)
    return Sealed(proof=read, broken=None, unsigned=unsigned)


def _check_pdf(carried: Carried, signature: PdfSignature | None, trust: Trust, proof: ReadProof | None) -> tuple[Check, ...]:
    if carried.format is not OutputFormat.PDF:
        return ()
    return (_check_threats(carried.data), check_signature(signature, trust, proof=proof))


def _check_threats(data: bytes) -> Check:
    threats = list_threats(data)
    if threats:
        more = f"; and {len(threats) - _MOST_TOLD} more" if len(threats) > _MOST_TOLD else ""
        return no(Name.SAFE, "; ".join(one.found for one in threats[:_MOST_TOLD]) + more)
    return yes(Name.SAFE, "nothing that acts, hides, reaches outside or came later was found; one file is attached, its record")
