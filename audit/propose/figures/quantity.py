"""A figure as a card writes it, and what it says."""

from dataclasses import dataclass
from enum import StrEnum

from registry.records.claim import Relation


class Unit(StrEnum):
    """What a figure counts in."""

    SHARE = "share"
    """Per cent, a fraction of a stated whole ("15/32"), or a share in words ("never", "half of"); the value is between 0 and 1."""
    POINTS = "points"
    """Percentage points: a difference of shares; the value is between -1 and 1."""
    COUNT = "count"
    """Things counted without their whole: "132 false negatives"."""
    MULTIPLE = "multiple"
    """Times another figure: "7×", "halved"."""
    SCORE = "score"
    """A number on a scale of its own: "0.88", "161.29 AECI"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One figure in the words of a passage."""

    start: int
    """First character in the words."""
    stop: int
    written: str
    """As it stands there, with its bound and unit: "<4%", "15/32 challenges", "99.38% (± 0.21%)"."""
    unit: Unit
    value: float | None
    """In the unit; None for a range without a middle ("1–2%"), whose ends are `low` and `high`."""
    low: float | None = None
    high: float | None = None
    """Ends of an interval, of a ± around the value, or of a range."""
    n: int | None = None
    """The whole of a fraction, or a stated n."""
    scale: str | None = None
    """Name of the scale of a score: "AECI", "pass@200", "AUROC"."""
    bound: Relation | None = None
    """Whether it is written as a bound ("<4%", "at most", "5% or less", "over 60%"); None for a figure."""
    is_strict: bool = False
    """Whether the bound excludes its value."""
    is_approximate: bool = False
    """Whether it is hedged: "about", "~", "roughly"."""
    is_in_words: bool = False
    """Whether no digit is written: "never", "a perfect score", "none of the"."""
