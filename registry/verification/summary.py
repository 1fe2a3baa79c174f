"""What the checks of a file come to: one sentence, and an exit code."""

from collections.abc import Collection, Sequence

from registry.verification.check import Answer, Check, Name
from registry.verification.files import Verified
from registry.verification.proof import MISSING, SUFFIX

_WRONG, _UNREADABLE, _NOT_MADE, _FINE = 1, 2, 3, 0


def find_wrong(checks: Sequence[Check], *, required: Collection[Name]) -> list[Check]:
    """Return what was found to be wrong; that something newer was recorded since is wrong only where `current` is required."""
    return [one for one in checks if one.answer is Answer.NO and (one.name is not Name.CURRENT or Name.CURRENT in required)]


def find_missing(checks: Sequence[Check], *, required: Collection[Name]) -> list[Name]:
    """Return the required checks that were not made, also those that a file of this kind has not."""
    made = {one.name for one in checks if one.answer is not Answer.NOT_CHECKED}
    return [name for name in Name if name in required and name not in made]


def summarise(checks: Sequence[Check], *, required: Collection[Name]) -> str:
    """Return the outcome in a sentence or two."""
    wrong = find_wrong(checks, required=required)
    missing = [one.name.value for one in checks if one.answer is Answer.NOT_CHECKED]
    newer = any(one.name is Name.CURRENT and one.answer is Answer.NO for one in checks)
    if wrong:
        return f"Do not rely on this; not in order: {', '.join(one.name.value for one in wrong)}."
    told = "Nothing was found to be wrong."
    if is_unread(checks):
        told = f"Its record cannot be read here, so what it says was not checked: see record. Not made: {', '.join(missing)}."
    elif missing:
        noun = "1 check" if len(missing) == 1 else f"{len(missing)} checks"
        told = f"Nothing was found to be wrong; {noun} could not be made here: {', '.join(missing)}."
    elif len(checks) > 0 and not newer:
        told = "Everything that was asked is in order."
    if not wrong and _is_nobodys(checks):
        told += f" Nothing here shows who made this file, and anybody can make one of which all this holds: {_advise(checks)}."
    if _is_unvouched(checks):
        told += " Nobody vouches for what is composed in it, such as reasons and names: see entries."
    if is_unseen(checks):
        told += " What is printed in it was held against nothing, so it may say anything: see bytes and record."
    return f"{told} It is not the latest word: see current." if newer else told


def is_unread(checks: Sequence[Check]) -> bool:
    """Whether a supplement's record cannot be read: then there is no answer, whatever its digest and its proof say."""
    return any(one.name is Name.RECORD and one.answer is Answer.NOT_CHECKED for one in checks)


def find_unused_key(checks: Sequence[Check], name: str) -> str | None:
    """Return that the keys given with `--key` decided nothing about the file called *name*, and why; None where one did.

    Only for calls with `--key`. A file in which something is wrong needs no such notice.
    """
    if any(one.rests_on_given_key or one.answer is Answer.NO for one in checks):
        return None
    notes = {one.name: one.note for one in checks}
    if notes.get(Name.INCLUSION) == MISSING:
        return f"Your key was not used: the proof {name}{SUFFIX} is missing."
    return f"Your key was not used: {notes.get(Name.CHECKPOINT) or notes.get(Name.SIGNATURE) or 'nothing in it is signed'}."


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


def find_exit_code(found: Sequence[Verified], *, required: Collection[Name], everything: bool, with_key: bool = False) -> int:
    """Return 2 where one of several files cannot be read, else 1 where something is wrong, else 3 or 0.

    It is 3 where a required check could not be made, nothing says what a file shows, its record cannot be read, or a key decided nothing.

    Args:
        everything: whether every check that a file of its kind has is required.
        with_key: whether the user gave a key, which then has to decide something about each file.
    """
    if any(one.faults for one in found):
        return _UNREADABLE
    if any(find_wrong(one.checks, required=required) for one in found):
        return _WRONG
    missing = any(find_missing(one.checks, required=required) or is_unseen(one.checks) or is_unread(one.checks) for one in found)
    missing |= with_key and any(find_unused_key(one.checks, one.name) is not None for one in found)
    if everything:
        missing |= any(check.answer is Answer.NOT_CHECKED for one in found for check in one.checks)
    return _NOT_MADE if missing else _FINE
