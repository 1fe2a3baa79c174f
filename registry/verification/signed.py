"""Whether keys that are known here signed: a PDF, a checkpoint as its log, a checkpoint as a witness."""

from collections.abc import Sequence
from datetime import datetime

from registry.records.log_seal import KeyEvent, KeyEventKind, KeyPurpose
from registry.report.signature import PdfSignature
from registry.seal.note import SignedNote, VerifiedLine, verify_note
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
    if known is None and proof is not None:
        return no(Name.SIGNATURE, f"{told}: its publication is proven, and this key is none that the log recorded with it")
    if known is None:
        return _tell_unknown_signer(told, trust)
    objection = known.find_objection(at=signature.at)
    if objection is not None:
        return no(Name.SIGNATURE, f"{told}: {objection}")
    return yes(Name.SIGNATURE, f"{told}; key {known.source}", rests_on_given_key=known.is_given)


def check_checkpoint(note: SignedNote, trust: Trust, *, origin: str | None, at: datetime | None) -> Check:
    """Return whether a key that is known here, and may sign for this log, signed *note*.

    Args:
        origin: the log that it must be of, as what is checked says; None where nothing says.
        at: when it was signed, as far as something says; it decides about keys that were revoked from a day on.
    """
    said = note.checkpoint
    if origin is not None and said.origin != origin:
        return no(Name.CHECKPOINT, f"it is a checkpoint of the log {said.origin}; expected one of {origin}")
    lines = verify_note(note, trust.list_log_keys(said.origin))
    if any(not line.is_valid for line in lines):
        return no(Name.CHECKPOINT, f"the signature in the name of {said.origin} is not valid: the checkpoint was altered, or forged")
    if not lines:
        return _tell_unknown(note, trust)
    objections = [why for line in lines if (why := _find_objection(line, note, trust, at))]
    if len(objections) == len(lines):
        return no(Name.CHECKPOINT, objections[0])
    sound = [line for line in lines if not _find_objection(line, note, trust, at)]
    if fork := trust.forks.get(said.origin):
        return no(Name.CHECKPOINT, f"a key of {said.origin} signed it, and that log is not to be believed: {fork}")
    sources = ", ".join(dict.fromkeys(f"{line.algorithm.value}, key {_tell_source(line, trust)}" for line in sound))
    given = any(trust.is_given(line.vkey) for line in sound)
    return yes(Name.CHECKPOINT, f"{said.origin} at {said.size} entries, root {said.root}, signed ({sources})", rests_on_given_key=given)


def check_witnesses(note: SignedNote, trust: Trust) -> Check:
    """Return how many witnesses that are known here cosigned *note*."""
    lines = verify_note(note, trust.list_witness_keys(note.checkpoint.origin))
    broken = [line.name for line in lines if not line.is_valid]
    if broken:
        return no(Name.WITNESSES, f"the cosignature of {', '.join(broken)} is not valid")
    sound = [line for line in lines if not _find_objection(line, note, trust, line.at)]
    if sound:
        told = ", ".join(f"{line.name}{_tell_time(line.at)}" for line in sound)
        given = any(trust.is_given(line.vkey) for line in sound)
        return yes(Name.WITNESSES, f"cosigned by {told}: they saw no other history of this log", rests_on_given_key=given)
    others = _list_others(note)
    if others:
        listed = ", ".join(others[:6])
        return not_checked(Name.WITNESSES, f"cosigned in the name of {listed}, whose keys are not known here; give them with --key")
    return not_checked(Name.WITNESSES, "nobody cosigned it: whether the log shows others another history cannot be seen from here")


def _tell_unknown(note: SignedNote, trust: Trust) -> Check:
    origin = note.checkpoint.origin
    names = ", ".join(dict.fromkeys(f"{line.name}+{line.key_id.hex()}" for line in note.lines[:6]))
    if trust.list_log_keys(origin):
        told = f"no key of {origin} that is known here signed it; its signatures are of {names}. If the log has a new key, give that"
        return no(Name.CHECKPOINT, told)
    if why := trust.contradicted.get(origin):
        told = f"signed by {names}; the registry here contradicts itself on the keys of {origin} ({why}), so give one with --key"
        return not_checked(Name.CHECKPOINT, told)
    others = sorted({one.vkey.name for one in trust.keys if one.vkey is not None})
    return not_checked(Name.CHECKPOINT, f"signed by {names}, and nothing here says whose key that is; {tell_others(others)}")


def tell_others(names: Sequence[str]) -> str:
    """Return what to do where no key of a log is known, and *names* are those whose keys are."""
    if not names:
        return "give it with --key"
    more = f" and {len(names) - 3} others" if len(names) > 3 else ""
    return f"the keys known here are of {', '.join(names[:3])}{more}: give this log's with --key"


def _find_objection(line: VerifiedLine, note: SignedNote, trust: Trust, at: datetime | None) -> str | None:
    known = trust.find_vkey(line.vkey)
    return None if known is None else known.find_objection(size=note.checkpoint.size, at=at)


def _tell_source(line: VerifiedLine, trust: Trust) -> str:
    known = trust.find_vkey(line.vkey)
    return "" if known is None else f"{known.fingerprint[:16]} {known.source}"


def _list_others(note: SignedNote) -> Sequence[str]:
    origin = note.checkpoint.origin
    return list(dict.fromkeys(line.name for line in note.lines if line.name != origin))


def _tell_time(at: datetime | None) -> str:
    return "" if at is None else f" on {at:%Y-%m-%d %H:%M} UTC"


def _find_proven(fingerprint: str, proof: ReadProof | None) -> KnownKey | None:
    """The key that signed, where the log under a checkpoint that is trusted recorded it as one for documents."""
    event: KeyEvent | None = None if proof is None else proofs.find_signer(proof)
    if proof is None or event is None or proof.said.signer is None:
        return None
    if event.key != fingerprint or event.purpose is not KeyPurpose.DOCUMENT or event.event is KeyEventKind.REVOKE:
        return None
    source = f"recorded by the log itself in entry {proof.said.signer.entry}; whether it was revoked since, a file cannot tell"
    return KnownKey(fingerprint=fingerprint, source=source)


def _tell_unknown_signer(told: str, trust: Trust) -> Check:
    if any(one.vkey is None for one in trust.keys):
        return no(Name.SIGNATURE, f"{told}: none of the document keys that are known here")
    return not_checked(Name.SIGNATURE, f"{told}, and nothing here says whose key that is; give its certificate with --key")
