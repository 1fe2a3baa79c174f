"""Contrasts between the arms of a score table: differences, ratios and mitigation (method section 9)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from registry.records.estimates import EstimateWarning, HypothesisTest, Measure, ScoreRange
from registry.records.record import Record


class ContrastKind(StrEnum):
    """What is computed from the means Φ of the named arms, over the tasks that all of them have."""

    DIFFERENCE = "difference"
    """First less second."""
    DIFFERENCE_IN_DIFFERENCES = "difference_in_differences"
    """(First less second) less (third less fourth)."""
    RATIO = "ratio"
    """First by second: a ratio of means."""
    MITIGATION = "mitigation"
    """1 − (first less its baseline)/(second less third): how much of the effect of the second arm over the third is gone in the first.
    Its baseline is the fourth arm."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContrastRequest(Record):
    """A requested contrast."""

    kind: ContrastKind
    arms: tuple[str, ...]
    """Names of the arms in the order of `kind`: two, four, two, and three or four (mitigation: without its fourth arm, the baseline in
    the first arm's own context, it is not identified)."""

    def __post_init__(self) -> None:
        allowed = {
            ContrastKind.DIFFERENCE: (2,),
            ContrastKind.DIFFERENCE_IN_DIFFERENCES: (4,),
            ContrastKind.RATIO: (2,),
            ContrastKind.MITIGATION: (3, 4),
        }[self.kind]
        if len(self.arms) not in allowed:
            numbers = " or ".join(str(number) for number in allowed)
            raise ValueError(f"arms of a {self.kind.value} must be {numbers}, got {len(self.arms)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmSummary(Record):
    """One arm by itself, over all its tasks. Its mean is no contrast: tasks of other arms may differ."""

    arm: str
    mean: float
    """Every task weighs as in the contrasts; unit of the score."""
    tasks: int
    contexts: int
    responses: int
    """Scored ones."""
    excluded: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContrast(Record):
    """A contrast for one task, in the unit of the score."""

    task_id: str
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast(Record):
    """One contrast with its interval and tests; the unit of every test is the task."""

    name: str
    """As a formula of arms, such as `B − A`."""
    kind: ContrastKind
    arms: tuple[str, ...]
    measure: Measure
    """In the unit of the score; a ratio or mitigation has none. The interval is made as that of ED."""
    null: float
    """The value that `p` tests: 0, and 1 for a ratio."""
    tasks: int
    """Tasks that all of its arms have."""
    effective_tasks: float | None = None
    """(Σw)²/Σw² of the weights of tasks, or of families (Kish 1965); None when all weigh the same."""
    families: int | None = None
    """Families that these tasks are in; None: none are declared."""
    method: str
    """Name of the interval."""
    p: float | None
    """Two-sided, from the standard error and degrees of freedom of the interval; None without a value or a variance."""
    p_holm: float | None
    """p adjusted by Holm's rule over all contrasts that were asked for."""
    reason: str | None = None
    """Why there is no p; None when there is."""
    paired_t: HypothesisTest | None = None
    """On tasks, with contexts taken as they are. None for ratios and mitigations."""
    wilcoxon: HypothesisTest | None = None
    """As `paired_t`."""
    cohens_d: Measure | None = None
    """d_z: mean over tasks by their standard deviation. None for ratios and mitigations."""
    pooled: float | None = None
    """The same from means over responses (micro), where cells are unequal; None where it is the same by design, or not identified."""
    within_margin: bool | None = None
    """Whether the whole interval lies within ±margin. None for ratios and mitigations, and without an interval."""
    under_exclusions: ScoreRange | None = None
    """A difference if every excluded response had the worst, and the best, score for it; None for other kinds, and if none was excluded."""
    uncorrected: Measure | None = None
    """For a mitigation without its matching baseline: the ratio with the plain baseline in its place. Descriptive: it mixes what the
    context does with what the mitigation does."""
    pointwise: tuple[TaskContrast, ...] | None = None
    """In the order of task ids; only where asked for, never for ratios and mitigations."""
    judge: str | None = None
    """Who scored, where the table has several judges."""

    def __post_init__(self) -> None:
        if self.p is None and self.reason is None:
            raise ValueError("a p-value that is not there needs its reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrasts(Record):
    """What one score table says about the contrasts that were asked for."""

    schema: Literal["caveat/contrasts/1"] = "caveat/contrasts/1"
    level: float
    range: tuple[float, float]
    margin: float
    contexts: Literal["random", "fixed", "nested"]
    family: str
    """What Holm's rule was applied to, in words."""
    arms: tuple[ArmSummary, ...]
    """In the order of their names; with several judges, of the first of them."""
    contrasts: tuple[Contrast, ...]
    """In the order asked for; with several judges, judge by judge."""
    scores: str
    """Digest of the scores, hexadecimal."""
    warnings: tuple[EstimateWarning, ...] = ()
