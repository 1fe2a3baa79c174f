"""The sheets that blind raters receive, the key that they do not, and their answers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from registry.records.record import Record

VOCABULARY = {
    "stimulus artificiality": "the task or its data look made up",
    "scenario coherence": "parts of the situation do not fit together, or fit too well",
    "prose register": "it is worded as nobody would word it in use",
    "ecological completeness": "what a real situation would have around it is missing",
    "stakes telegraphing": "it points at what would be bad to do",
    "paradigm recognisability": "it resembles a known benchmark or experiment",
    "task format": "its form is that of a test: options, numbering, answer format",
    "explicit disclosure": "it says that it is a test",
    "generic": "something else, or a feeling",
}
"""Cues that raters can name (method section 6), with what each means to them."""


class SampleSide(StrEnum):
    """Which side an item comes from, or a rater says it does."""

    TEST = "test"
    DEPLOY = "deploy"


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingSample(Record):
    """One prompt or transcript that may be shown to raters."""

    side: SampleSide
    text: str
    task_id: str | None = None
    context_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyItem(Record):
    """What one item of the sheets really is."""

    item: str
    """Random, and the same on every sheet."""
    side: SampleSide
    task_id: str | None = None
    context_id: str | None = None
    text: str
    """SHA-256 of the text, hexadecimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingKey(Record):
    """What is kept from the raters."""

    schema: Literal["caveat/rating-key/1"] = "caveat/rating-key/1"
    seed: int
    """Of the draw and the shuffles: with the same samples it makes the same sheets again."""
    samples: str
    """SHA-256 of the samples that the items were drawn from, hexadecimal; the order of their rows does not count."""
    drawn_from_test: int
    """Samples of the test side that there were to draw from, each text counted once."""
    drawn_from_deploy: int
    raters: tuple[str, ...]
    """Those who were given a sheet, in the order of their names."""
    items: tuple[KeyItem, ...]
    """In the order of their names, which is random."""


def tag_key(digest: str) -> str:
    """Return what is on sheets and answers for the key with this SHA-256: enough to know it by, and nothing to read in it."""
    return f"key-{digest[:16]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetItem(Record):
    """One item as a rater sees it."""

    item: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingSheet(Record):
    """What one rater is given: the items in an order of their own."""

    rater: str
    key: str
    """What `tag_key` makes of the key file's digest."""
    items: tuple[SheetItem, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterAnswer(Record):
    """What a rater made of one item."""

    item: str
    answer: SampleSide | None = None
    """None: left empty, or marked as undecided."""
    cues: tuple[str, ...] = ()
    """What gave it away, in the words of the vocabulary or the rater's own."""
    confidence: int | None = None
    """From 1, a guess, to 5, certain."""

    def __post_init__(self) -> None:
        if self.confidence is not None and not 1 <= self.confidence <= 5:
            raise ValueError(f"confidence lies between 1 (a guess) and 5 (certain), got {self.confidence}")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSheet(Record):
    """What one rater sent back."""

    schema: Literal["caveat/answers/1"] = "caveat/answers/1"
    rater: str
    key: str
    """As on the sheet."""
    answers: tuple[RaterAnswer, ...]
