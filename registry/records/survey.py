"""What a person or program did with a card's passages: proposed, left out, and found again in another revision."""

from dataclasses import dataclass
from enum import StrEnum

from registry.records.card import Anchor
from registry.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey(Record):
    """Which passages of a card an engine proposed as claims. Several by one engine add up: it may have read part of the card first."""

    card: str
    """`CRD-…@n`."""
    by: str
    """The engine with its version, as in `Proposals.by`."""
    passages: tuple[tuple[int, int], ...]
    """Start and stop of each in the card's text, in order; several proposals may quote one passage."""

    def __post_init__(self) -> None:
        if any(not 0 <= start < stop for start, stop in self.passages):
            raise ValueError("a passage starts at 0 or later and stops after its start")
        if list(self.passages) != sorted(set(self.passages)):
            raise ValueError("passages stand in the order of the card, each once")


@dataclass(frozen=True, slots=True, kw_only=True)
class Omission(Record):
    """A passage that somebody deliberately did not register as a claim."""

    card: str
    """`CRD-…@n`."""
    quote: str
    anchor: Anchor
    reason: str

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("what is left out needs its reason")


class Fate(StrEnum):
    """What became of a claim's passage in another revision of its card."""

    UNCHANGED = "unchanged"
    """Word for word, in the same section; layout may differ."""
    MOVED = "moved"
    """Word for word, in another section."""
    REWORDED = "reworded"
    """A passage like it stands there in other words. Whether it is the same claim is a person's decision, unless spelling is all that
    differs (`Sighting.differs`)."""
    GONE = "gone"
    """Nothing like it stands there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting(Record):
    """Where a claim's passage stands in another revision of its card, as this program found it."""

    claim: str
    """`CLM-…@n`."""
    card: str
    """`CRD-…@n` that was searched; another revision than the one the claim quotes."""
    fate: Fate
    anchor: Anchor | None
    """The passage there; None exactly for what is gone."""
    differs: tuple[str, ...] = ()
    """Of a reworded passage from which nothing but spelling differs: each difference, as "colour → color". Empty for all others."""

    def __post_init__(self) -> None:
        if (self.anchor is None) != (self.fate is Fate.GONE):
            raise ValueError("a passage has its place exactly if it is not gone")

    @property
    def is_alarm(self) -> bool:
        """Whether a person has to decide what becomes of the claim: it is gone, or reworded in more than its spelling."""
        return self.fate is Fate.GONE or (self.fate is Fate.REWORDED and not self.differs)
