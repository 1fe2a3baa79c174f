"""What the checks of a file come to: a verdict, one sentence, and an exit code.

A file passes only if something that the user trusts shows who made it: a key or a registry. Otherwise the answer is INCOMPLETE, however
many checks are in order, since anybody can make a file of which they are.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from registry.verification.check import Answer, Check, Name
from registry.verification.files import Verified
from registry.verification.proof import MISSING, SUFFIX

_WRONG, _NOT_MADE, _FINE = 1, 3, 0


def find_wrong(checks: Sequence[Check], *, required: Collection[Name]) -> list[Check]:
    """Return what was found to be wrong; that something newer was recorded since is wrong only where `current` is required."""
    return [one for one in checks if one.answer is Answer.NO and (one.name is not Name.CURRENT or Name.CURRENT in required)]


def find_missing(checks: Sequence[Check], *, required: Collection[Name]) -> list[Name]:
    """Return the required checks that were not made, also those that a file of this kind has not."""
    made = {one.name for one in checks if one.answer is not Answer.NOT_CHECKED}
    return [name for name in Name if name in required and name not in made]


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What the user asks of the checks."""

    required: frozenset[Name] = frozenset()
    """Checks that must have been made."""
    everything: bool = False
    """Whether every check that a file of its kind has is required."""
    has_keys: bool = False
    """Whether the user gave a key, on which the answer must rest."""


class Verdict(StrEnum):
    """What the checks of a file come to."""

    PASS = "PASS"  # noqa: S105  (no password)
    FAIL = "FAIL"
    INCOMPLETE = "INCOMPLETE"
    """Nothing was found to be wrong, and what would show that the file is genuine could not be checked."""


def find_verdict(found: Verified, demand: Demand) -> Verdict:
    """Return what the checks of one file come to."""
    checks = found.checks
    if find_wrong(checks, required=demand.required):
        return Verdict.FAIL
    lacks = find_missing(checks, required=demand.required) or is_unseen(checks) or _is_nobodys(checks)
    lacks = lacks or is_unread(checks) or (demand.has_keys and find_unused_key(found) is not None)
    if demand.everything:
        lacks = lacks or any(one.answer is Answer.NOT_CHECKED for one in checks)
    return Verdict.INCOMPLETE if found.faults or not checks or lacks else Verdict.PASS


def find_newer(checks: Sequence[Check]) -> str | None:
    """Return what superseded a file, in words that follow “superseded by”; None where nothing that is known here did."""
    note = next((one.note for one in checks if one.name is Name.CURRENT and one.answer is Answer.NO), None)
    if note is None:
        return None
    name = re.search(r"((?:CLM|CRD)-\S+@\d+) stands in its place", note)
    entry = re.search(r"first changed by (entry \d+)", note)
    return name[1] if name else entry[1] if entry else "later entries"


def format_verdict(verdict: Verdict, checks: Sequence[Check]) -> str:
    """Return the verdict as the first line says it."""
    newer = find_newer(checks) if verdict is Verdict.PASS else None
    return verdict.value if newer is None else f"{verdict.value} (superseded by {newer})"


def find_exit_code(found: Sequence[Verified], demand: Demand) -> int:
    """Return 1 where a file fails, else 3 where one is incomplete, else 0."""
    verdicts = {find_verdict(one, demand) for one in found}
    if Verdict.FAIL in verdicts:
        return _WRONG
    return _NOT_MADE if Verdict.INCOMPLETE in verdicts else _FINE


def summarise(found: Verified, demand: Demand) -> str:
    """Return what the checks come to in a sentence or two."""
    if found.faults:
        return f"Nothing of it was checked: {'; '.join(f'{one.code}: {one.found}' for one in found.faults[:4])}"
    checks = found.checks
    wrong = find_wrong(checks, required=demand.required)
    missing = [one.name.value for one in checks if one.answer is Answer.NOT_CHECKED]
    if wrong:
        return f"Do not rely on this; not in order: {', '.join(one.name.value for one in wrong)}."
    told = "Everything that was asked is in order."
    if is_unread(checks):
        told = f"Its record cannot be read here, so what it says was not checked: see record. Not made: {', '.join(missing)}."
    elif missing:
        noun = "1 check" if len(missing) == 1 else f"{len(missing)} checks"
        told = f"Nothing was found to be wrong; {noun} could not be made here: {', '.join(missing)}."
    if demand.has_keys and (unused := find_unused_key(found)) is not None:
        told += f" {unused}"
    elif _is_nobodys(checks):
        told += f" Nothing here shows who made this file, and anybody can make one of which all this holds: {_advise(checks)}."
    if _is_unvouched(checks):
        told += " Nobody vouches for what is composed in it, such as reasons and names: see entries."
    if is_unseen(checks):
        told += " What is printed in it was held against nothing, so it may say anything: see bytes and record."
    return told


def find_unused_key(found: Verified) -> str | None:
    """Return that the keys given with `--key` decided nothing about a file, and why; None where one did. Only for calls with `--key`."""
    if any(one.rests_on_given_key for one in found.checks):
        return None
    notes = {one.name: one.note for one in found.checks}
    if any(one.name is Name.CHECKPOINTS and one.answer is Answer.NOT_CHECKED for one in found.checks):
        why = _advise(found.checks)
    elif notes.get(Name.INCLUSION) != MISSING:
        why = notes.get(Name.CHECKPOINT) or notes.get(Name.SIGNATURE) or "nothing in it is signed"
    elif found.name.lower().endswith((".pdf", ".html")):
        why = "the file has no proof in it"
    else:
        why = f"the proof {Path(found.name).name}{SUFFIX} is missing"
    return f"Your key was not used: {why}."


def is_unread(checks: Sequence[Check]) -> bool:
    """Whether a supplement's record cannot be read: then there is no answer, whatever its digest and its proof say."""
    return any(one.name is Name.RECORD and one.answer is Answer.NOT_CHECKED for one in checks)


def is_unseen(checks: Sequence[Check]) -> bool:
    """Whether neither drawing it again nor anybody that is known here says what the file shows: then there is no answer."""
    answers = {one.name: one.answer for one in checks}
    if Answer.NOT_CHECKED not in (answers.get(Name.BYTES), answers.get(Name.RECORD)):
        return False
    return not _is_published(checks) and answers.get(Name.SIGNATURE) is not Answer.YES


def _is_nobodys(checks: Sequence[Check]) -> bool:
    """Whether nothing that was checked rests on a key or a registry that the user knows."""
    in_order = {one.name for one in checks if one.answer is Answer.YES}
    asked = {one.name for one in checks}
    return Name.CHECKPOINT in asked and in_order.isdisjoint({Name.CHECKPOINT, Name.SIGNATURE, Name.REGISTRY})


def _advise(checks: Sequence[Check]) -> str:
    """A key helps nothing where a registry keeps no checkpoint that it could verify."""
    keeps_none = any(one.name is Name.CHECKPOINTS and one.answer is Answer.NOT_CHECKED for one in checks)
    return "ask for a checkpoint kept elsewhere" if keeps_none else "give a key that you trust"


def _is_unvouched(checks: Sequence[Check]) -> bool:
    """Whether a supplement rests on its entries alone: neither who gave it out nor a registry says the words around them."""
    answers = {one.name: one.answer for one in checks}
    return (
        Name.ENTRIES in answers
        and not _is_published(checks)
        and Answer.YES not in (answers.get(Name.SIGNATURE), answers.get(Name.REGISTRY))
    )


def _is_published(checks: Sequence[Check]) -> bool:
    answers = {one.name: one.answer for one in checks}
    by_proof = {answers.get(name) for name in (Name.INCLUSION, Name.CHECKPOINT)}
    return answers.get(Name.PUBLISHED) is Answer.YES and len(by_proof) == 1  # both proven; or neither, and a registry said so
