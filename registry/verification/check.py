"""One check: a question put to a file, its answer, and what was compared."""

from dataclasses import dataclass
from enum import StrEnum


class Answer(StrEnum):
    """What one check came to."""

    YES = "yes"
    NO = "no"
    NOT_CHECKED = "not_checked"


class Name(StrEnum):
    """What is checked, in the order in which it is told; docs/verifying.md says of each what it proves."""

    LOG = "log"
    ROWS = "rows"
    GUARDS = "guards"
    CHECKPOINTS = "checkpoints"
    BUNDLE = "bundle"
    SAFE = "safe"
    SIGNATURE = "signature"
    BYTES = "bytes"
    RECORD = "record"
    ENTRIES = "entries"
    AUTHORS = "authors"
    PUBLISHED = "published"
    INCLUSION = "inclusion"
    CHECKPOINT = "checkpoint"
    WITNESSES = "witnesses"
    CONSISTENCY = "consistency"
    LOCK = "lock"
    REGISTRY = "registry"
    KEYS = "keys"
    CURRENT = "current"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One question put to a file."""

    name: Name
    answer: Answer
    note: str
    """What was compared, or why it could not be."""
    rests_on_given_key: bool = False
    """Whether a key that the user gave with `--key` is what the answer rests on."""


def yes(name: Name, note: str, *, rests_on_given_key: bool = False) -> Check:
    """Return the check *name*, in order."""
    return Check(name=name, answer=Answer.YES, note=note, rests_on_given_key=rests_on_given_key)


def no(name: Name, note: str) -> Check:
    """Return the check *name*, found wrong."""
    return Check(name=name, answer=Answer.NO, note=note)


def not_checked(name: Name, note: str) -> Check:
    """Return the check *name*, which could not be made, with the reason."""
    return Check(name=name, answer=Answer.NOT_CHECKED, note=note)
