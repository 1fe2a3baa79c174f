"""What was done otherwise than an audit's lock says, and what was looked at beside it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from registry.records.estimate import Estimate
from registry.records.record import Record


class LockedItem(StrEnum):
    """What a lock fixes."""

    THETA = "theta"
    DIRECTION = "direction"
    MARGIN = "margin"
    EPSILON = "epsilon"
    LEVEL = "level"
    INTERVAL = "interval"
    """Kind of contexts, method of intervals, replicates, seed."""
    TEST_CONTEXTS = "test_contexts"
    DEPLOY_CONTEXTS = "deploy_contexts"
    TASKS = "tasks"
    CUES = "cues"
    SCORING = "scoring"
    """The judge or other scoring function."""
    MODEL = "model"
    BUDGET = "budget"
    STOPPING_RULE = "stopping_rule"
    EXCLUSIONS = "exclusions"
    OTHER = "other"

    @property
    def words(self) -> str:
        """The item as a sentence has it."""
        return "deployment contexts" if self is LockedItem.DEPLOY_CONTEXTS else self.value.replace("_", " ")


COMPUTED = frozenset({LockedItem.THETA, LockedItem.DIRECTION, LockedItem.MARGIN, LockedItem.EPSILON, LockedItem.LEVEL, LockedItem.INTERVAL})
"""Items that every outcome under a lock is computed from: nothing can depart from them."""

DECISIVE = frozenset({LockedItem.TEST_CONTEXTS, LockedItem.DEPLOY_CONTEXTS, LockedItem.TASKS, LockedItem.SCORING, LockedItem.MODEL})
"""Items without which scores are not those that were planned: they restrict and never establish, whatever the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deviation(Record):
    """One departure from a lock. The lock itself is never changed."""

    audit: str
    item: LockedItem
    planned: str
    done: str
    reason: str | None
    """Somebody's word; None where Caveat found the departure and nobody has explained it."""
    found: bool = False
    """Whether Caveat found it by comparing, rather than somebody telling it."""

    def __post_init__(self) -> None:
        if not self.found and not (self.reason and self.reason.strip()):
            raise ValueError("a deviation that somebody tells needs its reason")

    @property
    def departure(self) -> tuple[LockedItem, str, str]:
        """What departed: its item, what was planned, what was done. Several statements may be about one departure."""
        return self.item, self.planned, self.done


def list_departures(deviations: Iterable[Deviation]) -> tuple[Deviation, ...]:
    """Return each departure once, in the order in which it came to be known, with the first reason that somebody gave for it."""
    found: dict[tuple[LockedItem, str, str], Deviation] = {}
    for one in deviations:
        known = found.get(one.departure, one)
        found[one.departure] = replace(known, reason=known.reason or one.reason)
    return tuple(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Exploration(Record):
    """An analysis that was not fixed before: recorded and shown, and no verdict rests on it."""

    audit: str
    claim: str
    """`CLM-…@n`."""
    question: str
    """What was looked for."""
    differs: tuple[str, ...]
    """In what it differs from the plan, in words; empty where there was no plan to differ from."""
    estimate: Estimate
    source: str
    """File names of the score table."""
    scores: str
    """SHA-256 of the scores themselves."""

    def __post_init__(self) -> None:
        if not self.question.strip():
            raise ValueError("an exploration needs the question it looked at")
