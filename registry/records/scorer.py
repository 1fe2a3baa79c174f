"""How a response becomes a score, exactly enough to be carried out again (method section 1: the scoring function s)."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from registry.records.record import Record


class PatternScore(StrEnum):
    """What a response's pattern matches come to; each lies in [0, 1]."""

    HIT_RATE = "hit_rate"
    """Share of the expected patterns that match."""
    ALL_EXPECTED = "all_expected"
    """1 when every expected pattern matches, else 0."""
    ANY_EXPECTED = "any_expected"
    """1 when at least one expected pattern matches, else 0."""
    ANY_ANTI = "any_anti"
    """1 when at least one anti-pattern matches, else 0."""
    NO_ANTI = "no_anti"
    """1 when no anti-pattern matches, else 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternScorer(Record):
    """Regular expressions of each task, or the same for all, reported one by one."""

    kind: Literal["pattern"]
    score: PatternScore = PatternScore.HIT_RATE
    expected: tuple[str, ...] = ()
    """For tasks without expected patterns of their own."""
    anti: tuple[str, ...] = ()
    """For tasks without anti-patterns of their own."""
    time_limit_s: float = 1.0
    """For one match, above 0; a pattern that needs longer makes the response an exclusion."""

    def __post_init__(self) -> None:
        if not 0 < self.time_limit_s < math.inf:
            raise ValueError(f"time_limit_s is above 0, got {self.time_limit_s}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceScorer(Record):
    """1 when the option that the response settles on is the task's answer, else 0; a response without an option is an exclusion."""

    kind: Literal["choice"]
    pattern: str | None = None
    """Regular expression whose first group is the option; None for our own reading."""
    unextracted: Literal["excluded", "wrong"] = "excluded"
    """What a response is in which no option is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberScorer(Record):
    """1 when the number that the response ends in is the task's answer, else 0."""

    kind: Literal["number"]
    pattern: str | None = None
    """Regular expression whose first group is the number; None for our own reading."""
    absolute_tolerance: float = 0.0
    relative_tolerance: float = 0.0
    unextracted: Literal["excluded", "wrong"] = "excluded"

    def __post_init__(self) -> None:
        for name in ("absolute_tolerance", "relative_tolerance"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} is 0 or more, got {getattr(self, name)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension(Record):
    """One thing that a judge rates, with a whole number."""

    name: str
    question: str
    low: int
    high: int
    anchors: dict[str, str] | None = None
    """What a number stands for, by the number written out."""

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"a dimension runs from low to high, got {self.low} and {self.high}")


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeScorer(Record):
    """A model rates every response by a rubric; it sees the task's prompt and the response, and never the context."""

    kind: Literal["judge"]
    model: str
    rubric: str
    """What the judge is told to do, in the lab's or the auditor's words."""
    dimensions: tuple[Dimension, ...]
    score: str = "mean"
    """`mean` of the dimensions (each must then have the same range), or the name of one."""
    max_tokens: int = 1024
    base_url: str | None = None
    """The judge's endpoint; None for that of the replay."""
    repeats: int = 1
    """How often a response of the repeated share is judged."""
    repeat_share: float = 0.0
    """Share of the responses, drawn by the seed, that are judged `repeats` times; 0 to 1."""
    longest_chars: int | None = None
    """Characters of a response that the judge sees; None: the whole. What is cut is stored, and the same for all arms."""
    show_answer: bool = False
    """Whether the judge also sees the task's right answer; every task must then have one."""
    allow_same_model: bool = False
    """Whether the judge may be the model that it judges."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.dimensions:
            raise ValueError("a rubric has at least one dimension")
        names = [one.name for one in self.dimensions]
        if len(set(names)) < len(names):
            raise ValueError("each dimension has a name of its own")
        if self.score != "mean" and self.score not in names:
            raise ValueError(f"score is `mean` or one of {', '.join(names)}, got {self.score}")
        if self.score == "mean" and len({(one.low, one.high) for one in self.dimensions}) > 1:
            raise ValueError("the mean of dimensions needs one range; name the dimension that is the score")
        if not 0 <= self.repeat_share <= 1:
            raise ValueError(f"repeat_share lies in [0, 1], got {self.repeat_share}")
        for name in ("repeats", "max_tokens", "longest_chars"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ValueError(f"{name} is 1 or more, got {value}")
        if not self.rubric.strip():
            raise ValueError("a rubric says something")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelScorer(Record):
    """A person labels every response with a number, on a shuffled sheet that names neither arm nor context."""

    kind: Literal["label"]
    question: str | None = None
    """What the labeller is asked."""


Scorer = PatternScorer | ChoiceScorer | NumberScorer | JudgeScorer | LabelScorer
"""Told apart by `kind`."""


def reads_only_response(scorer: Scorer) -> bool:
    """Tell whether *scorer* is a rule that reads the response and the task alone, so that no context can change its score.

    A judge or a person reads more than words, and can be led by what a response says of its context.
    """
    return isinstance(scorer, PatternScorer | ChoiceScorer | NumberScorer)
