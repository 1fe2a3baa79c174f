"""Claim families: the claims about one property of one model version that quote the same words of one card, with their outcomes.

An outcome follows the words of a claim. Whoever revises θ, direction or form, registers the claim again, or quotes another revision of the
card, takes the outcomes along. They stay until a newer revision of the card says something else in that place.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from registry.records.classification import Verdict, VerdictStanding, find_gravity
from registry.records.model import ModelRef
from registry.records.record import Record

_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[%<>=≤≥±]")
SHORTEST_RUN = 5
"""Words in a row that two quotes share by chance too rarely to count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyOutcome(Record):
    """An outcome of one claim revision, as the other claims of its family show it."""

    claim: str
    """The revision that was audited, `CLM-…@n`."""
    property: str
    """`PRP-…@n`."""
    model: ModelRef
    audit: str
    verdict: Verdict
    standing: VerdictStanding | None
    """As it counted when this was read."""
    seq: int
    """The entry that recorded the outcome."""
    at: datetime
    """Its time, in UTC."""
    log: str | None = None
    """Name of the other registry's log that has it; None for the registry's own."""
    valid_until: date | None = None
    """The last day on which it counts in full; None where that was not recorded."""
    is_expired: bool = False
    """Whether that day was over when this was read: `standing` is then provisional at most."""
    other_words: str | None = None
    """The card revision, `CRD-…@n`, that has other words in the place that the older of both claims quotes; None while the words are
    the same. An outcome on other words is history: it never leads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family(Record):
    """The family of one claim revision."""

    members: tuple[str, ...] = ()
    """`CLM-…@n`, the other claim revisions of the family, in log order."""
    outcomes: tuple[FamilyOutcome, ...] = ()
    """Of the claim and its family, the gravest first, those on other words last."""
    others: tuple[FamilyOutcome, ...] = ()
    """Of claims on the same words about another property, model version or card, the gravest first."""

    @property
    def gravest(self) -> FamilyOutcome | None:
        """The outcome that leads; None for a family that is not audited."""
        return find_gravest(self.outcomes)


def find_gravest(outcomes: Sequence[FamilyOutcome]) -> FamilyOutcome | None:
    """Return the gravest of *outcomes* on the same words, of equals the latest; None without one."""
    return min((one for one in outcomes if one.other_words is None), key=weigh_outcome, default=None)


def weigh_outcome(outcome: FamilyOutcome) -> tuple[bool, tuple[int, int], float, int]:
    """Return a key that sorts outcomes: those on the same words first, then the gravest, then the latest."""
    return outcome.other_words is not None, find_gravity(outcome.verdict, outcome.standing), -outcome.at.timestamp(), -outcome.seq


def read_words(text: str) -> tuple[str, ...]:
    """Return the words, numbers and signs of *text* in lower case, without punctuation and layout."""
    return tuple(_WORD.findall(text.casefold()))


def contains_words(outer: Sequence[str], inner: Sequence[str]) -> bool:
    """Whether the words *inner* stand in *outer* one after the other. No words stand nowhere."""
    return bool(inner) and f" {' '.join(inner)} " in f" {' '.join(outer)} "


def overlaps_words(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether two quotes count as overlapping by their words alone.

    They do if one contains the other, or if they share a run of at least five words that makes up half of the shorter one.
    """
    shorter, longer = sorted((left, right), key=len)
    if contains_words(longer, shorter):
        return True
    wanted = max(SHORTEST_RUN, (len(shorter) + 1) // 2)
    runs = {tuple(longer[at : at + wanted]) for at in range(len(longer) - wanted + 1)}
    return any(tuple(shorter[at : at + wanted]) in runs for at in range(len(shorter) - wanted + 1))
