"""Whether a PDF is signed by a key that is known here."""

from registry.records.seal import KeyEvent, KeyEventKind, KeyPurpose
from registry.report.signature import PdfSignature
from registry.verification import proof as proofs
from registry.verification.check import Check, Name, no, not_checked, yes
from registry.verification.proof import ReadProof
from registry.verification.trust import KnownKey, Trust


def check_signature(signature: PdfSignature | None, trust: Trust, *, proof: ReadProof | None) -> Check:
    """Return whether a key that may sign for the log's keeper signed exactly this file.

    Args:
        signature: what the file carries; None where it carries none.
        trust: keys that are known here.
        proof: the file's, where its checkpoint is signed by a known key: then the log itself may say whose key it is. None otherwise.
    """
    if signature is None:
        return not_checked(Name.SIGNATURE, "the PDF is not signed; its proof, where it has one, shows who gave it out")
    if not signature.is_intact:
        return no(Name.SIGNATURE, "; ".join(signature.problems))
    fingerprint = signature.fingerprint or ""
    at = f" on {signature.at:%Y-%m-%d %H:%M} UTC by its own clock" if signature.at else ""
    told = f"signed{at} with the key {fingerprint[:16]}, which calls itself {signature.subject}"
    known = trust.find_document(fingerprint) or _find_proven(fingerprint, proof)
    if known is None:
        return _tell_unknown(told, trust)
    objection = known.find_objection(at=signature.at)
    if objection is not None:
        return no(Name.SIGNATURE, f"{told}: {objection}")
    return yes(Name.SIGNATURE, f"{told}; key {known.source}")


def _find_proven(fingerprint: str, proof: ReadProof | None) -> KnownKey | None:
    """The key that signed, where the log under a checkpoint that is trusted recorded it as one for documents."""
    event: KeyEvent | None = None if proof is None else proofs.find_signer(proof)
    if proof is None or event is None or proof.said.signer is None:
        return None
    if event.key != fingerprint or event.purpose is not KeyPurpose.DOCUMENT or event.event is KeyEventKind.REVOKE:
        return None
    source = f"recorded by the log itself in entry {proof.said.signer.entry}; whether it was revoked since, a file cannot tell"
    return KnownKey(fingerprint=fingerprint, source=source)


def _tell_unknown(told: str, trust: Trust) -> Check:
    if any(one.vkey is None for one in trust.keys):
        return no(Name.SIGNATURE, f"{told}: none of the document keys that are known here")
    return not_checked(Name.SIGNATURE, f"{told}, and nothing here says whose key that is; give its certificate with --key")
