"""Which keys of a foreign log may be believed: one that was checked by a person, and those that the log, signed by it, puts in its place.

A key event counts once a checkpoint that covers it is signed by a key believed before. So whoever steals a registry's files, but not
its key, cannot name a key of their own: the rotation would not be signed by the old one. A revoked key vouches for nothing from the time
its revocation names; a replaced one signs nothing after it was replaced.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from registry.errors import Fault, InputError
from registry.records.log_seal import KeyAlgorithm, KeyEvent, KeyEventKind, KeyPurpose
from registry.records.record import Record
from registry.seal.keys import fingerprint_of_vkey
from registry.seal.note import SignedNote, VerifierKey, parse_vkey, verify_note

_MOST_KEYS = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyStep(Record):
    """What a log says of one of its keys."""

    seq: int
    """Number of the entry."""
    at: datetime
    event: KeyEvent


def find_signer(note: SignedNote, given: Sequence[VerifierKey], steps: Sequence[KeyStep], notes: Sequence[SignedNote]) -> VerifierKey:
    """Return the key that *note* is signed with and that is believed at its size.

    Args:
        given: keys that are believed to begin with.
        steps: key events of the log up to the size of *note*, in order.
        notes: signed checkpoints of the same log whose roots fit, *note* among them.

    Raises:
        InputError: `signature-forged`, a signature does not verify; `key-revoked`, `key-replaced`; `wrong-key`, no key that is believed
            signed it; `too-many-keys`.
    """
    where = f"checkpoint of {note.checkpoint.origin} at {note.checkpoint.size}"
    if len(steps) > _MOST_KEYS:
        raise _fault("too-many-keys", where, f"the log has {len(steps):,} key events; at most {_MOST_KEYS:,} are followed", None)
    believed = _follow([key for key in given if _is_of_log(key, note.checkpoint.origin)], steps, notes)
    lines = verify_note(note, believed)
    broken = [line.name for line in lines if not line.is_valid]
    if broken:
        found = f"the signature of {broken[0]} is not valid over what it says"
        raise _fault("signature-forged", where, found, "do not use it; ask its authority for another copy")
    by_text = {str(key): key for key in believed}
    ended = [(line.vkey, fault) for line in lines if (fault := _find_end(line.vkey, note.checkpoint.size, steps, where))]
    sound = [line.vkey for line in lines if line.vkey not in dict(ended)]
    if sound:
        return next((key for key in given if str(key) in sound), by_text[sound[0]])
    if ended:
        raise InputError(ended[0][1])
    signed_by = ", ".join(f"{line.name}+{line.key_id.hex()}" for line in note.lines[:8])
    known = ", ".join(f"{key.name}+{key.key_id.hex()}" for key in believed) or "none"
    advice = "compare the key with what its authority publishes elsewhere, and give it with --vkey"
    raise _fault("wrong-key", where, f"it is signed by {signed_by}; believed are {known}", advice)


def shorten_vkey(vkey: str) -> str:
    """Return name and hash of a verifier key, without the key itself."""
    return "+".join(vkey.split("+", 2)[:2])


def _follow(given: Sequence[VerifierKey], steps: Sequence[KeyStep], notes: Sequence[SignedNote]) -> list[VerifierKey]:
    """Keys that are believed, those given first; one pass is enough, because a step is vouched for by keys of steps before it."""
    believed = list(given)
    covered = {str(key): _covered_until(key, notes) for key in believed}
    for step in steps:
        vkey = step.event.vkey
        if vkey is None or step.event.purpose is not KeyPurpose.LOG or vkey in covered:
            continue
        if fingerprint_of_vkey(vkey) != step.event.key or not any(_vouches(text, size, step, steps) for text, size in covered.items()):
            continue
        key = parse_vkey(vkey, where=f"entry {step.seq}")
        if notes and _is_of_log(key, notes[-1].checkpoint.origin):
            believed.append(key)
            covered[vkey] = _covered_until(key, notes)
    return believed


def _is_of_log(key: VerifierKey, origin: str) -> bool:
    """Whether its lines are those of the log *origin*, whose name it bears, not of a witness; ML-DSA-44 has one type for both."""
    return key.name == origin and (not key.is_cosigner or key.algorithm is KeyAlgorithm.ML_DSA_44)


def _covered_until(key: VerifierKey, notes: Sequence[SignedNote]) -> int:
    """The largest size that *key* signed for; 0 where it signed none."""
    signed = (note.checkpoint.size for note in notes if any(line.is_valid for line in verify_note(note, [key])))
    return max(signed, default=0)


def _vouches(vkey: str, size: int, step: KeyStep, steps: Sequence[KeyStep]) -> bool:
    """Whether *vkey*, which signed for *size* entries, may put the key of *step* beside it or in its place."""
    if size < step.seq:
        return False
    revoked, replaced = _find_revocation(vkey, steps), _find_replacement(vkey, steps)
    if revoked is not None and (revoked.event.untrusted_from is None or step.at >= revoked.event.untrusted_from):
        return False
    return replaced is None or step.seq <= replaced.seq


def _find_end(vkey: str, size: int, steps: Sequence[KeyStep], where: str) -> Fault | None:
    """What keeps *vkey* from signing for *size* entries; None where nothing does."""
    revoked, replaced = _find_revocation(vkey, steps), _find_replacement(vkey, steps)
    name = shorten_vkey(vkey)
    if revoked is not None:
        found = f"entry {revoked.seq} revokes {name}, which signed it: {revoked.event.reason}"
        return Fault(code="key-revoked", where=where, found=found, advice="ask for a bundle that is signed with a key in force")
    if replaced is not None and size > replaced.seq:
        found = f"entry {replaced.seq} puts another key in the place of {name}, which signed it nevertheless"
        return Fault(code="key-replaced", where=where, found=found, advice="ask for a bundle that is signed with a key in force")
    return None


def _find_revocation(vkey: str, steps: Sequence[KeyStep]) -> KeyStep | None:
    key = fingerprint_of_vkey(vkey)
    return next((one for one in steps if one.event.event is KeyEventKind.REVOKE and one.event.key == key), None)


def _find_replacement(vkey: str, steps: Sequence[KeyStep]) -> KeyStep | None:
    key = fingerprint_of_vkey(vkey)
    return next((one for one in steps if one.event.replaces == key), None)


def _fault(code: str, where: str, found: str, advice: str | None) -> InputError:
    return InputError(Fault(code=code, where=where, found=found, advice=advice))
