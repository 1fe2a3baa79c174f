"""What a claim says of how its figure came about; never a condition for registering it."""

from dataclasses import dataclass
from enum import StrEnum

from registry.records.classification import ItemStatus
from registry.records.record import Record


class CompletenessItem(StrEnum):
    """What a reader needs to judge a figure; after STREAM (McCaslin et al. 2025), a standard for reporting model evaluations."""

    EVALUATION = "evaluation"
    """The evaluation is named."""
    SAMPLE_SIZE = "sample-size"
    """The number of tasks or trials behind the figure."""
    GRADER = "grader"
    """Who or what scored the responses."""
    ELICITATION = "elicitation"
    """How the model was asked: attempts, prompts, tools, safeguards on or off."""
    VERSION = "version"
    """The exact model version."""
    THRESHOLD = "threshold"
    """The value of θ; applies to thresholds and bounds."""
    UNCERTAINTY = "uncertainty"
    """An interval or standard error of the figure; applies to claims with a figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness(Record):
    """One item and what is there of it."""

    item: CompletenessItem
    status: ItemStatus
    note: str
    """What is stated, in the claim's words; or why it is missing or does not apply."""
