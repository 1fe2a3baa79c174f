"""How far the scores of a judge vary, err and depend on the context (statistics.md section 3; method section 6, module 3).

Judged numbers are never mixed silently with corrected ones: every corrected figure stands beside the sampling interval of the judged one.
"""

from dataclasses import dataclass
from typing import Literal

from registry.records.estimate import EstimateWarning
from registry.records.measure import Measure
from registry.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeats(Record):
    """What scoring the same responses again by the same judge shows: noise, not bias."""

    responses: int
    """Responses that were scored at least twice."""
    scorings: int
    """All scorings of them."""
    deviation: float | None
    """Standard deviation of one scoring within a response, in the unit of the score; None with no response scored twice."""
    identical: float | None
    """Share of the repeated responses whose scorings all agree, in [0, 1]."""
    share: float | None
    """Share of the variance of ED that judge noise makes up; it is inside the interval already. None without a variance."""
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Labels(Record):
    """How a judge's scores stand beside a person's, on one side."""

    side: Literal["test", "deploy"]
    labelled: int
    """Responses with a label of a person and a score of the judge."""
    responses: int
    """Responses of the side that the judge scored."""
    bias: Measure
    """Mean of judge − person, with its interval over tasks."""
    sensitivity: Measure | None
    """Share of the person's positives that the judge calls positive; binary scores only."""
    specificity: Measure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrected(Record):
    """Φ and ED corrected for a judge's errors."""

    method: Literal["prediction-powered", "rogan-gladen"]
    detail: str
    """Variant, λ and clusters, in words."""
    phi_test: Measure
    phi_deploy: Measure
    ed: Measure
    lambda_test: float | None = None
    """Weight of the unlabelled responses (PPI++); None for Rogan–Gladen."""
    lambda_deploy: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariance(Record):
    """One check of whether the scorer depends on the context."""

    check: Literal["person-judge", "rescored", "failure-rate"]
    """Person less judge, on both sides; the same responses re-scored with the context hidden or swapped; a mark such as
    `truncated` or `unparsed` whose rate must not differ between the sides."""
    column: str
    """The column of the table it rests on."""
    difference: Measure
    """Test side less deployment side, in the unit of the score (of the rate, for marks)."""
    margin: float
    n_test: int
    n_deploy: int
    passed: bool | None
    """True: the interval lies within ±margin. False: it lies wholly outside, or re-scoring changed scores. None: it cannot be said."""
    note: str
    """The outcome in one sentence, with its numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport(Record):
    """Everything known of one judge on one score table."""

    schema: Literal["caveat/judge/1"] = "caveat/judge/1"
    judge: str | None
    """As the table names it; None when it does not."""
    level: float
    margin: float
    range: tuple[float, float]
    contexts: Literal["random", "fixed", "nested"]
    seed: int
    spec: str
    phi_test: Measure
    """Judged, with the sampling interval."""
    phi_deploy: Measure
    ed: Measure
    """The judged ED: raw, as the judge sees it."""
    repeats: Repeats | None
    """None when no response was scored twice."""
    labels: tuple[Labels, ...] = ()
    """Empty without labels of a person."""
    corrected: tuple[Corrected, ...] = ()
    invariance: tuple[Invariance, ...] = ()
    invariant: bool | None
    """False: a check failed. True: at least one was made and all passed. None: none was made, or none could decide."""
    scores: str
    """Digest of the scores, hexadecimal."""
    warnings: tuple[EstimateWarning, ...] = ()
