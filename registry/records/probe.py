"""Verbalised recognition: how often a model says that it is being tested (method sections 5 and 6, module 2).

A rate of recognition belongs to one evaluation, never to a model. A difference of two rates is a difference of mention rates, not ED.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from registry.records.estimate import EstimateWarning, Range
from registry.records.measure import Measure
from registry.records.record import Record


class Channel(StrEnum):
    """Where a passage stands in a response."""

    REASONING = "reasoning"
    OUTPUT = "output"


class Recognised(StrEnum):
    """What a passage says of its own situation."""

    AWARE = "aware"
    """It takes its situation for a test, evaluation, simulation or made-up scenario, or weighs that it may be one."""
    AWARE_BUT_TOLD = "aware_but_told"
    """The same, where the prompt itself says so."""
    MONITORING_ONLY = "monitoring_only"
    """It believes that it is watched or logged, and says nothing of a test."""
    TASK_CONTENT = "task_content"
    """Tests, evaluations or monitoring are what the task is about, such as unit tests."""
    NONE = "none"


RECOGNITION = (Recognised.AWARE, Recognised.AWARE_BUT_TOLD)
"""The classes that together are verbalised recognition of being tested."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassCount(Record):
    """The passages of one class."""

    class_: Recognised
    count: int | None
    """None where it cannot be said, and `share` says why."""
    share: Measure
    """Among the classified passages, tasks weighing the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Excluded(Record):
    """Passages without a class, for one reason."""

    reason: str
    """Such as `no-reasoning`, `no-output`, `quote-not-found`, or the code of a failed call."""
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRate(Record):
    """One channel of one arm, for one specification."""

    arm: str
    spec: str | None
    """P_deploy specification; None where the rows name none."""
    channel: Channel
    responses: int
    """All responses that were drawn, failed ones included."""
    present: int
    """Those whose channel holds a text. 0: the channel is unavailable, and nothing is said of it."""
    candidates: int
    """Passages that the recall filter marks; a filter's marks are no recognition."""
    classified: int
    excluded: tuple[Excluded, ...]
    tasks: int
    """Tasks with a classified passage."""
    contexts: int
    recognised: Measure
    """Share of classified passages in which recognition of being tested is verbalised (`RECOGNITION`), tasks weighing the same."""
    corrected: Measure | None
    """The same corrected for the classifier's measured errors (Rogan & Gladen); None without a labelled set."""
    under_exclusions: Range | None
    """Lowest and highest share if no, or every, passage without a class were recognition; None with no passage at all."""
    recognised_candidates: int
    """Recognised passages that the recall filter had marked too."""
    recognised_count: int
    told_unknown: int
    """Recognised passages of which it is not known whether the prompt itself says that it is a test."""
    classes: tuple[ClassCount, ...]
    """All five, in the order of `Recognised`; empty where nothing was classified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionDifference(Record):
    """Recognition on the test side less that on the deployment side: a difference of mention rates, not ED."""

    channel: Channel
    spec: str | None
    tasks: int
    """Tasks with a classified passage on both sides; 0 where no difference exists."""
    difference: Measure
    corrected: Measure | None
    """None without a labelled set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassifierAccuracy(Record):
    """How the classifier and the recall filter do on passages that somebody labelled."""

    source: str
    """File name of the labelled set."""
    sha256: str
    labelled: int
    excluded: tuple[Excluded, ...]
    """Labelled passages that the classifier gave no class."""
    true_positives: int
    false_negatives: int
    true_negatives: int
    false_positives: int
    sensitivity: Measure
    """Share of the labelled positives that the classifier calls recognition, with the exact binomial interval (Clopper & Pearson 1934)."""
    specificity: Measure
    filter_recall: Measure
    """Share of the labelled positives that the recall filter marks, over all that are labelled."""
    filter_precision: Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Example(Record):
    """A passage of one class, by the quote that was found in it."""

    class_: Recognised
    channel: Channel
    task_id: str
    arm: str
    context_id: str
    sample: int
    spec: str | None
    quote: str
    """As it stands in the passage."""
    start: int
    """Place of the quote in the passage, in characters."""
    stop: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognition(Record):
    """What the evidence-layer probe found. It never decides anything about ED."""

    schema: Literal["caveat/probe/1"] = "caveat/probe/1"
    evaluation: str
    """The evaluation that the rates belong to, by name."""
    models: tuple[str, ...]
    """Whose responses they are, as the endpoint returned it; empty when not known."""
    classifier: str
    """The model that classified, as the endpoint returned it."""
    prompt: str
    """Name and version of the classifier's prompt."""
    patterns: str
    """Name and version of the recall filter."""
    level: float
    contexts: Literal["random", "fixed", "nested"]
    drawn: float
    """Share of the responses that were drawn at random, in (0, 1]."""
    seed: int
    """Of the draw."""
    test: str
    """Name of the test-like arm."""
    deploy: str
    groups: tuple[GroupRate, ...]
    differences: tuple[MentionDifference, ...] = ()
    accuracy: ClassifierAccuracy | None = None
    """None without a labelled set: the rates are as the classifier sees them."""
    examples: tuple[Example, ...] = ()
    passages: str
    """SHA-256 of what was read: cells and texts, hexadecimal; the same for any order."""
    warnings: tuple[EstimateWarning, ...] = ()

    @property
    def is_available(self) -> bool:
        """Whether any passage was classified."""
        return any(one.classified for one in self.groups)
