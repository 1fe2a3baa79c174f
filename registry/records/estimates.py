"""The Evaluation Differential of a score table with honest intervals, and the numbers of the other modules."""

from dataclasses import dataclass
from typing import Literal

from registry.records.record import Record

# The Evaluation Differential of one score table with its intervals (method, sections 1 and 4).


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedEstimate(Record):
    """A number with its interval; low and high are None together, and then `reason` says why."""

    value: float
    low: float | None
    high: float | None
    reason: str | None = None

    def __post_init__(self) -> None:
        # Half an interval would be rendered as a one-sided limit, which no method here computes.
        if (self.low is None) != (self.high is None):
            raise ValueError("low and high are given together or not at all")
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise ValueError(f"low must not exceed high, got {self.low} and {self.high}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Differential(Record):
    """ED = Φ_test − Φ_deploy with its interval and the name of the method."""

    value: float
    low: float | None
    high: float | None
    method: str
    reason: str | None = None
    """Why there is no interval; None when there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
# nED divides by a spread that can be zero, so it drives no verdict.
class NormalisedDifferential(Record):
    """nED = ED / (σ_pool + ε); value None when it is not defined, and then `reason` says why.

    With σ_pool = 0 it is ED/ε, and `reason` marks it. It drives no verdict.
    """

    value: float | None
    reason: str | None = None
    low: float | None = None
    """Approximate interval: the widest band of the bootstrap, which resamples the spread too; None without one."""
    high: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence(Record):
    """Two one-sided tests against ±margin (Schuirmann 1987)."""

    p: float | None
    """The larger of the two one-sided p-values; None without a variance."""
    equivalent: bool
    """True exactly when the interval at `level` lies within ±margin."""


@dataclass(frozen=True, slots=True, kw_only=True)
# Families and templates are counted where they are declared, because tasks made from one source are
# not independent.
class EstimateCounts(Record):
    """What the estimate rests on."""

    tasks: int
    """Tasks seen on both sides."""
    contexts_test: int
    contexts_deploy: int
    responses_test: int
    responses_deploy: int
    excluded_test: int
    excluded_deploy: int
    effective_tasks: float | None = None
    """(Σw)²/Σw² of the weights of tasks, or of families (Kish 1965); None when all weigh the same."""
    families: int | None = None
    """Families that the tasks are in, a task without one counting as one; None: the scores declare no families."""
    templates_test: int | None = None
    """Templates that the contexts of the test side were made from, as `families`."""
    templates_deploy: int | None = None
    unnamed: int = 0
    """Tasks without a family, and contexts without a template, where others have one."""

    @property
    def task_clusters(self) -> int:
        """What counts as independent: families where they are declared, else tasks."""
        return self.tasks if self.families is None else self.families

    @property
    def test_clusters(self) -> int:
        """What counts as independent of the test side's contexts: templates where they are declared, else contexts."""
        return self.contexts_test if self.templates_test is None else self.templates_test

    @property
    def deploy_clusters(self) -> int:
        """As `test_clusters`, of the deployment side."""
        return self.contexts_deploy if self.templates_deploy is None else self.templates_deploy


@dataclass(frozen=True, slots=True, kw_only=True)
class TruncationCounts(Record):
    """The responses of one side that were cut by the limit of tokens or by the context window."""

    responses: int
    """Of the side, scored or excluded."""
    truncated: int
    """Scored or excluded."""
    settled: int
    """Of `truncated`, those with a score that can no longer change, as their scorer declares."""
    not_stated: int
    """Of `responses`, those of which it is not stated whether they were truncated."""
    excluded: int
    """Of `responses`, those without a score, truncated or not."""
    unresolved: int
    """Of `responses`, those without a settled score: excluded, or truncated and not settled; each counted once."""
    refused: int | None = None
    """Of `responses`, those in which the model refused to answer; None: not stated."""

    def __post_init__(self) -> None:
        # Each count is a subset of the next one.
        counts = (self.settled, self.truncated, self.responses)
        if not 0 <= counts[0] <= counts[1] <= counts[2] or not 0 <= self.not_stated <= self.responses - self.truncated:
            raise ValueError(f"settled, truncated and all responses must not fall in this order, got {counts}")

    @property
    def open(self) -> int:
        """Truncated responses with a score that could have been another."""
        return self.truncated - self.settled

    @property
    def share(self) -> float:
        """Share of all responses that are `open`, in [0, 1]."""
        return self.open / self.responses if self.responses else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Truncation(Record):
    """Truncated responses of both sides."""

    test: TruncationCounts
    deploy: TruncationCounts


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreRange(Record):
    """The lowest and highest value a number could take."""

    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDifferential(Record):
    """Pointwise ED(τ) of one task."""

    task_id: str
    phi_test: float
    phi_deploy: float
    ed: float


@dataclass(frozen=True, slots=True, kw_only=True)
# Kept in the record so that Holm's levels, p-values and "what would resolve it" can be computed
# from it without the score table (decision of 2026-11-21). The cost: seven more numbers for each
# specification.
class Variance(Record):
    """What the intervals were made of, so that they can be made again at another level; squared units of the score.

    A task part is None with one task, a context part None with one random context and 0 where contexts are not sampled.
    """

    difference_task: float | None
    """Task part of the variance of ED; its context parts are those of the two sides."""
    covariance_task: float | None
    """Covariance of Φ_test and Φ_deploy over tasks."""
    test_task: float | None
    deploy_task: float | None
    test_context: float | None
    deploy_context: float | None
    binary: bool
    """Whether every score of both sides is the lowest or the highest possible."""
    test_spread: float | None = None
    """Variance of single responses of the side about its mean; None where each is the lowest or highest possible."""
    deploy_spread: float | None = None
    test_residual: float = 0.0
    """What the task and the context part of the side both contain, counted once in its variance and in that of ED."""
    deploy_residual: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Bands(Record):
    """Bootstrap bands of one number; None where that cluster is not sampled, there is only one of it, or nothing varies over it."""

    task: ScoreRange | None
    """Tasks resampled, contexts kept."""
    context: ScoreRange | None
    """Contexts resampled on each side, tasks kept."""
    two_way: ScoreRange | None
    """Both (pigeonhole)."""
    reason: str | None = None
    """Why one of them is None; None when none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
# The bands decide nothing; the verdict uses the closed-form interval. One factor k, that of ED,
# scales all bands, and no band has zero width (decision of 2026-11-21). Published bands are tied to
# SFC64.
class Bootstrap(Record):
    """Bands from one run of the bootstrap on sufficient statistics, scaled about the estimate; they decide nothing."""

    replicates: int
    seed: int
    scale: float
    """k = max(1, h/(1.96·SE)) with h the closed-form half-width of ED."""
    standard_error: float | None
    """Of ED over the two-way replicates (over the task replicates where contexts are not sampled); None where they do not vary."""
    expected_standard_error: float
    """The same for infinitely many replicates, in closed form: a check of the run."""
    ed: Bands
    phi_test: Bands
    phi_deploy: Bands
    ned: Bands | None
    """None when nED is not defined."""


@dataclass(frozen=True, slots=True, kw_only=True)
# Context parts are not scaled by 1 − b, since a context effect moves both means alike (decision of
# 2026-11-21). The cost: less gain with few contexts.
class Regression(Record):
    """ED for all tasks of the test side, from a random subset that was replayed (regression estimator, Cochran 1977 ch. 7)."""

    value: float | None
    low: float | None
    high: float | None
    slope: float | None
    """Of deployment scores on test scores over the replayed tasks."""
    tasks_all: int
    """Tasks with a score of the test side."""
    tasks_replayed: int
    reason: str | None = None
    """Why there is no value or interval; None when there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
# Stored as centre, penalty and weight, so that one record can be read at any level. Bets are cut at
# 1/2 and tuned at the plan's level (decision of 2026-11-21). The cost: about twice the width; no
# weights, no contrasts.
class ConfidenceSequence(Record):
    """An empirical-Bernstein confidence sequence at its last task (Waudby-Smith & Ramdas 2024), scores mapped to [0, 1].

    The interval at error rate α is centre ± (log(2/α) + penalty)/weight, whatever α is and whenever the replay stops.
    """

    centre: float
    penalty: float
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceSequences(Record):
    """The three sequences of an anytime-valid estimate."""

    phi_test: ConfidenceSequence
    phi_deploy: ConfidenceSequence
    ed: ConfidenceSequence
    """Of (d + 1)/2, with d the difference of a task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecEstimate(Record):
    """The estimate against one specification of P_deploy."""

    spec: str
    phi_test: BoundedEstimate
    phi_deploy: BoundedEstimate
    ed: Differential
    ned: NormalisedDifferential
    sigma_pool: float | None
    """Pooled standard deviation of single-response scores; None when a side has fewer than two."""
    equivalence: Equivalence
    minimum_detectable_ed: float | None
    """Smallest |ED| found with 80 % power at this design; None without a variance."""
    n: EstimateCounts
    ed_under_exclusions: ScoreRange
    """ED if every excluded response had the worst, and the best, score for it."""
    pooled_ed: float | None = None
    """The micro ED over all responses, where cells are unequal; None where it equals ED by design."""
    p_ed: float | None = None
    """Two-sided p of ED = 0 from the same standard error as the interval; None without a variance. Used to order specifications (Holm)."""
    pointwise: tuple[TaskDifferential, ...] | None = None
    variance: Variance | None = None
    """None when the estimate was not made from a score table."""
    # Decision of 2026-11-21: the floor comes from an analysis-of-variance component of contexts,
    # not from the context part of the variance, which also contains noise. It is not given for
    # guaranteed or anytime intervals.
    detectable_floor: float | None = None
    """What no number of tasks or samples would bring the smallest detectable |ED| below, at these numbers of contexts; None where
    contexts are not sampled, or not seen to differ beyond chance."""
    undefined: str | None = None
    """Why `equivalence.p`, `p_ed` or `minimum_detectable_ed` is None; None when all are given."""
    bootstrap: Bootstrap | None = None
    """None when no replicates were asked for, or with one task."""
    regression: Regression | None = None
    """None unless the plan says that the replayed tasks are a random subset."""
    sequence: ConfidenceSequences | None = None
    """Given exactly for anytime intervals."""
    judge: str | None = None
    """Who scored, where the table has several judges; the verdict must hold for each."""
    fixed_contexts: tuple[str, ...] = ()
    """Names of the deployment contexts, in order, where contexts are fixed: statements are only about these. Else empty."""
    truncation: Truncation | None = None
    """None where the scores do not state which responses were truncated."""
    scores: ScoreRange | None = None
    """The lowest and the highest score of both sides; None where the estimate was not made from a score table."""


DEVIATIONS = frozenset({"order-not-followed", "stopped-early", "tasks-added"})
"""Codes of the warnings that say that the replay did not keep to its plan."""

DOUBTFUL = "doubtful-table"
"""Code of the warning that a table is doubtful, such as by scored rows that are marked as failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
# Decision of 2026-11-21: a warning has a code in every document, so that a program can act on it
# and a supplement prints it once.
class EstimateWarning(Record):
    """Something a reader of an estimate, or of a module's finding, must know."""

    code: str
    message: str
    spec: str | None = None
    judge: str | None = None
    """The judge of the scores, where the table has several judges."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate(Record):
    """What one score table says, against every specification of P_deploy in it."""

    margin: float
    level: float
    epsilon: float
    range: tuple[float, float]
    seed: int
    contexts: Literal["random", "fixed", "nested"] = "random"
    interval: Literal["closed_form", "guaranteed", "anytime"] = "closed_form"
    replicates: int = 0
    """Bootstrap replicates that were made."""
    specs: tuple[SpecEstimate, ...]
    warnings: tuple[EstimateWarning, ...] = ()
    schema: Literal["caveat/estimate/1"] = "caveat/estimate/1"


# A measure: a number that may not exist, with its interval and reason. Every module other than the
# estimate reports these.


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure(Record):
    """A statistic with its interval. Whatever is None is explained by `reason`; unknown is never written as 0."""

    value: float | None
    """None when the statistic does not exist, and then `reason` says why."""
    low: float | None = None
    """Lower end of the interval; None together with `high` when no interval can be given honestly."""
    high: float | None = None
    reason: str | None = None
    """Why the value, or its interval, is not there; None when both are."""

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise ValueError("low and high are given together or not at all")
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise ValueError(f"low must not exceed high, got {self.low} and {self.high}")
        # Unknown is not zero. A missing number without a reason would be read as an oversight.
        if (self.value is None or self.low is None) and self.reason is None:
            raise ValueError("a value or interval that is not there needs its reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class HypothesisTest(Record):
    """A test of a hypothesis; None wherever the statistic does not exist, with the reason."""

    statistic: float | None
    p: float | None
    """Two-sided unless `method` differs; None when the statistic does not exist."""
    method: str
    """Name of the test and its variant, such as how zeros and ties were treated."""
    n: int
    """Units that entered it: tasks, items or raters."""
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.p is None and self.reason is None:
            raise ValueError("a p-value that is not there needs its reason")
