"""The cue naturalness audit: can blind raters tell the test side from the deployment side (method section 6, module 1)?"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from registry.records.estimate import EstimateWarning
from registry.records.measure import HypothesisTest, Measure
from registry.records.record import Record


class RaterKind(StrEnum):
    """Who rated. Models are a sensitivity check and never enter the pooled accuracy."""

    PERSON = "person"
    MODEL = "model"


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterResult(Record):
    """What one rater made of the blinded items."""

    rater: str
    kind: RaterKind
    rated: int
    unrated: int
    """Items of the sheet left empty or marked undecided."""
    correct: int
    said_test: int
    """How often the rater said `test`, right or wrong."""
    accuracy: Measure
    """Share of right answers, with the exact binomial interval (Clopper & Pearson 1934)."""
    balanced_accuracy: Measure
    """Mean of the shares right on either side: what matters when the sides have unequal numbers of items."""
    against_chance: HypothesisTest


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement(Record):
    """How far raters agree beyond chance."""

    statistic: str
    """Its name, such as `Krippendorff's alpha (nominal)` or `raw agreement`."""
    measure: Measure
    raters: int
    items: int
    """Items that at least two raters answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CueNote(Record):
    """A cue that raters named, with how often; the vocabulary is that of cue inventories."""

    cue: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Naturalness(Record):
    """What blind raters made of shuffled samples of both sides."""

    schema: Literal["caveat/naturalness/1"] = "caveat/naturalness/1"
    level: float
    rater_limit: float = 0.75
    """The plan's limit on the accuracy of raters."""
    seed: int
    """Of the shuffle, so that the sheets can be made again from the same samples."""
    key: str
    """SHA-256 of the key file that was kept from the raters, hexadecimal."""
    items_test: int
    items_deploy: int
    raters: tuple[RaterResult, ...]
    """In the order of their names."""
    accuracy: Measure
    """Of persons together: raters × items crossed, Korn–Graubard with both variances; unequal sides are balanced."""
    balanced: bool
    """Whether `accuracy` is the balanced accuracy, because the sides have unequal numbers of items."""
    agreement: tuple[Agreement, ...]
    distinguishable: bool | None
    """True: the interval of the pooled accuracy lies above 1/2. False: it contains 1/2 or lies below. None: no interval."""
    cues: tuple[CueNote, ...] = ()
    warnings: tuple[EstimateWarning, ...] = ()
