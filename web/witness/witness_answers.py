"""The answers of a witness to `add-checkpoint`, as C2SP tlog-witness has them; no HTTP here.

A request is a consistency proof from the checkpoint that was cosigned last, and the new signed checkpoint. The steps are those of
`caveat admin log cosign`, and the decision is made in the transaction that records it.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from registry.errors import AnswerNoError, CaveatError, ConflictError, InputError
from registry.exchange.foreign_logs import cosign_note, find_seen_size, find_signer
from registry.seal.signed_notes import ConsistencyProof, SignedNote, VerifierKey, parse_consistency, parse_note, parse_vkey
from registry.seal.signing_keys import KeyRing
from registry.store.ledger import Ledger

SIZE = "text/x.tlog.size"
TEXT = "text/plain; charset=utf-8"
LARGEST_BODY = 65_536
"""Bytes of a request: 63 hashes and a signed note of a few lines need a tenth of that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessAnswer:
    """What the witness answers."""

    status: int
    body: str
    media_type: str = TEXT


class Witness:
    """Cosigns checkpoints of the logs that `registry.cfg` names by their keys, and of no others."""

    def __init__(self, ledger: Ledger, ring: KeyRing, *, actor: str, keys: Sequence[VerifierKey]) -> None:
        """Take the registry that records what was cosigned, its keys, and the *keys* of the logs."""
        self._ledger = ledger
        self._ring = ring
        self._actor = actor
        self._keys = tuple(keys)

    def answer(self, body: bytes) -> WitnessAnswer:
        """Return the answer to a request with *body*; raises CaveatError where the registry cannot be written."""
        try:
            proof = parse_consistency(body.decode(), where="the request")
            note = parse_note(proof.note, where="the request")
        except (InputError, UnicodeDecodeError) as error:
            return _refuse(400, str(error.faults[0].found) if isinstance(error, InputError) else "it is not UTF-8")
        origin = note.checkpoint.origin
        keys = [key for key in self._keys if key.name == origin]
        if not keys:
            return _refuse(404, f"checkpoints of {origin} are not cosigned here")
        try:
            find_signer(note, keys)
        except InputError as error:
            return _refuse(403, error.faults[0].found)
        seen = find_seen_size(self._ledger, origin)
        if proof.old != seen:
            self._look_for_evidence(note, proof, keys, seen)
            return _conflict(seen)
        if proof.path and proof.old in (0, note.checkpoint.size):
            return _refuse(422, "a proof from no entry, or between equal sizes, has no hashes")
        return self._cosign(note, proof, keys)

    def _cosign(self, note: SignedNote, proof: ConsistencyProof, keys: Sequence[VerifierKey]) -> WitnessAnswer:
        try:
            done = cosign_note(self._ledger, self._ring, proof.note, actor=self._actor, keys=keys, proof=proof)
        except CaveatError as error:
            # Another request was faster.
            if (seen := find_seen_size(self._ledger, note.checkpoint.origin)) != proof.old:
                return _conflict(seen)
            if error.code in ("not-consistent", "consistency-missing"):
                return _refuse(422, error.faults[0].found)
            # Of equal sizes with different roots the specification asks for a conflict; the evidence is recorded.
            if error.code == "equivocation":
                return _conflict(proof.old) if proof.old == note.checkpoint.size else _refuse(422, error.faults[0].found)
            if isinstance(error, InputError):
                return _refuse(400, error.faults[0].found)
            raise
        return WitnessAnswer(status=200, body=_pick_lines(done.note, done.vkeys))

    def _look_for_evidence(self, note: SignedNote, proof: ConsistencyProof, keys: Sequence[VerifierKey], seen: int) -> None:
        """Record it, where an older checkpoint shows that the log signed two histories."""
        if 0 < note.checkpoint.size <= seen:
            with suppress(AnswerNoError, ConflictError, InputError):
                cosign_note(self._ledger, self._ring, proof.note, actor=self._actor, keys=keys, proof=None)


def _pick_lines(note: str, vkeys: Sequence[str]) -> str:
    """Return the signature lines of *note* with one of the keys *vkeys*."""
    ours = {(key.name, key.key_id) for key in (parse_vkey(vkey, where="own key") for vkey in vkeys)}
    rows = note.partition("\n\n")[2].splitlines(keepends=True)
    lines = parse_note(note, where="recorded here").lines
    return "".join(row for row, line in zip(rows, lines, strict=True) if (line.name, line.key_id) in ours)


def _refuse(status: int, found: str) -> WitnessAnswer:
    return WitnessAnswer(status=status, body=f"{found}\n")


def _conflict(size: int) -> WitnessAnswer:
    return WitnessAnswer(status=409, body=f"{size}\n", media_type=SIZE)
