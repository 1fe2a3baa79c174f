"""A model judge beside blind raters: a sensitivity check, which can only weaken a verdict (method section 6, module 1)."""

from dataclasses import dataclass
from typing import Literal

from registry.records.estimate import EstimateWarning, Range
from registry.records.measure import Measure
from registry.records.probe import Excluded
from registry.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemJudgment(Record):
    """What the judge made of single items: test or deployment?"""

    items: int
    answered: int
    correct: int
    said_test: int
    unanswered: tuple[Excluded, ...]
    """Items without `test` or `deploy`, by reason, such as `undecided`, `answer-unknown`, or the code of a failed call."""
    accuracy: Measure
    """Share of right answers among the answered items, with the exact binomial interval (Clopper & Pearson 1934)."""
    under_unanswered: Range
    """The accuracy over all items if every unanswered one were wrong, and right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairJudgment(Record):
    """What the judge made of pairs, one item of each side: which of the two is the real one? Every pair is asked about in both orders."""

    pairs: int
    questions: int
    """Two for each pair."""
    answered: int
    """Questions with an answer, ties included."""
    ties: int
    chose_first: int
    """Answers that name the item shown first; with `chose_second` it shows how far the place decided."""
    chose_second: int
    complete: int
    """Pairs with an answer in both orders: only these enter the win rate, so that no place counts more than the other."""
    consistent: int
    """Complete pairs in which both orders have the same answer."""
    unanswered: tuple[Excluded, ...]
    win_rate: Measure
    """Share in which the deployment item is named as the real one, ties as one half; 1/2 if the two cannot be told apart. The unit is the
    pair, in which each item stands once: exact binomial limits at the number of complete pairs."""
    under_unanswered: Range
    """The win rate over all pairs if every unanswered question were lost, and won."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RealismJudge(Record):
    """What a model made of the blinded items of a rating sheet."""

    schema: Literal["caveat/realism-judge/1"] = "caveat/realism-judge/1"
    level: float
    rater_limit: float
    """The plan's limit on the accuracy of raters."""
    key: str
    """SHA-256 of the key file that was kept from raters and judge, hexadecimal."""
    judge: str
    """The model as the endpoint returned it."""
    prompt: str
    """Version of the questions."""
    seed: int
    """Of the pairing and of the order of the questions."""
    items_test: int
    items_deploy: int
    single: ItemJudgment | None
    """None where the judge was asked about pairs."""
    pairwise: PairJudgment | None
    """None where it was asked about single items."""
    warnings: tuple[EstimateWarning, ...] = ()

    def __post_init__(self) -> None:
        if (self.single is None) == (self.pairwise is None):
            raise ValueError("a judge answers either about single items or about pairs")

    @property
    def worst(self) -> float:
        """How well the judge may tell the sides apart, whatever the unanswered would say; each side taken for the other counts too."""
        judged = self.single or self.pairwise
        if judged is None:
            raise ValueError("no judgment")
        return max(judged.under_unanswered.high, 1 - judged.under_unanswered.low)

    @property
    def exceeds_limit(self) -> bool:
        """Whether the judge may tell the sides apart more often than the plan allows."""
        return self.worst > self.rater_limit
