"""Checkpoints that were given together and cannot both be true: one log, one size, two roots."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from registry.errors import CaveatError
from registry.seal.consistency import parse_consistency
from registry.seal.note import SignedNote, parse_note, verify_note
from registry.seal.proof import parse_proof
from registry.verification.check import Check, Name, no
from registry.verification.files import FileKind, Given
from registry.verification.trust import Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sighting:
    """A checkpoint, and the file that brings it."""

    at: int
    """Place of the file among those that were given."""
    note: SignedNote
    is_signed: bool
    """Whether a key of the log that is known here signed it."""


def find_contradictions(files: Sequence[Given], trust: Trust) -> dict[int, str]:
    """Return the files whose checkpoint contradicts that of another, by place, each with the words for it.

    Where a known key signed one side alone, the other side proves nothing, and only its files are returned. Otherwise all are: either the
    log signed two histories, or nothing here says which of them is forged.
    """
    groups: dict[tuple[str, int], list[_Sighting]] = defaultdict(list)
    for at, given in enumerate(files):
        for note in _list_notes(given):
            said = note.checkpoint
            lines = verify_note(note, trust.list_log_keys(said.origin))
            sighting = _Sighting(at=at, note=note, is_signed=any(line.is_valid for line in lines))
            groups[said.origin, said.size].append(sighting)
    told: dict[int, str] = {}
    for sightings in groups.values():
        told |= _compare(sightings, files)
    return told


def mark_contradiction(checks: tuple[Check, ...], words: str | None) -> tuple[Check, ...]:
    """Return *checks* with `consistency` found wrong, where *words* say what the file contradicts."""
    if words is None:
        return checks
    wrong = no(Name.CONSISTENCY, words)
    return tuple(replace(wrong, note=f"{words}; {one.note}") if one.name is Name.CONSISTENCY else one for one in checks)


def _compare(sightings: Sequence[_Sighting], files: Sequence[Given]) -> Mapping[int, str]:
    roots = {one.note.checkpoint.root for one in sightings}
    if len(roots) == 1:
        return {}
    signed = {one.note.checkpoint.root for one in sightings if one.is_signed}
    told = {}
    for one in sightings:
        said = one.note.checkpoint
        if signed == {said.root}:
            continue  # the others are not signed by a key that is known: they are no evidence against it
        other = next(rival for rival in sightings if rival.note.checkpoint.root != said.root)
        told[one.at] = (
            f"two histories of {said.origin}: at {said.size} entries its root is {said.root} here, "
            f"and {other.note.checkpoint.root} in {files[other.at].path}"
        )
    return told


def _list_notes(given: Given) -> list[SignedNote]:
    """The checkpoints that a file, or the proof that belongs to it, brings; what cannot be parsed is told by the file's own checks."""
    notes = []
    for data in (given.data, given.proof or b""):
        try:
            text = data.decode()
            if text.startswith("c2sp.org/tlog-proof@"):
                notes.append(parse_note(parse_proof(text, where="proof").note, where="proof"))
            elif text.startswith("old "):
                notes.append(parse_note(parse_consistency(text, where="proof").note, where="proof"))
            elif given.kind is FileKind.CHECKPOINT and data is given.data:
                notes.append(parse_note(text, where="checkpoint"))
        except (CaveatError, UnicodeDecodeError):
            continue
    return notes
