"""Records of a skill-contamination study: its plan, its responses, and the analysis of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from registry.records.estimates import EstimateWarning, HypothesisTest, Measure, ScoreRange
from registry.records.record import Record
from registry.records.replay_run import Budget, Policy

# A skill-contamination study before its run: skills, tasks, conditions, model and judge. A skill is left out only by
# the study's file, and before its calls: in the published study one was excluded after its result.


class RiskLevel(StrEnum):
    """How much contamination the structure of a skill's text leads one to expect."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    CONTROL = "control"
    """A skill from which none is expected."""
    EXPERIMENTAL = "experimental"


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillEntry(Record):
    """One skill of a study, as it is fixed before any of its calls."""

    path: str
    """Its folder, beside the study or below it: SKILL.md, and references/ where there are any."""
    risk_level: RiskLevel
    test_category: str
    """What the skill is in the study for, such as `multi_lang_api` or `net_negative`."""
    structural_score: float
    """Structural contamination score of its text, 0 to 1."""
    hidden_references: bool = False
    """Whether it is also tried without its references (condition C)."""
    excluded: str | None = None
    """Why it is left out of the means over skills; it is run and shown all the same. None: it is kept."""

    def __post_init__(self) -> None:
        if not 0 <= self.structural_score <= 1:
            raise ValueError(f"structural_score lies in [0, 1], got {self.structural_score}")
        if self.excluded is not None and not self.excluded.strip():
            raise ValueError("excluded says the reason; leave the key out to keep the skill")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillStudy(Record):
    """The file that `caveat analyze skills` takes."""

    name: str
    skills: dict[str, SkillEntry]
    """By name: the name of a skill's tasks file, without its ending."""
    tasks: str
    """A folder with SKILL.json for each skill."""
    policy: Policy
    conditions: str | None = None
    """A context specification whose contexts are the conditions; None: those that come with Caveat."""
    judge: str | None = None
    """A file with a judge scorer of the four dimensions; None: patterns only."""
    samples: int = 3
    """Responses to each task under each condition."""
    budget: Budget = Budget()
    seed: int = 0
    """Order in which calls are made: no condition comes first."""
    schema: Literal["caveat/skill-study/1"] = "caveat/skill-study/1"

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ValueError(f"samples is 1 or more, got {self.samples}")
        if not self.skills:
            raise ValueError("a study has at least one skill")


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternSource(Record):
    """Where the patterns of a task come from."""

    url: str
    description: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTask(Record):
    """One task of a skill, as the published studies write it."""

    id: str
    type: str
    """How it relates to the skill, such as `direct_target`, `cross_language` or `grounded`."""
    prompt: str
    target_language: str
    """Selects the code snippet of the realistic context."""
    expected_patterns: tuple[str, ...] = ()
    """Regular expressions that a right response matches."""
    anti_patterns: tuple[str, ...] = ()
    """Regular expressions of what the skill might draw in."""
    pattern_sources: tuple[PatternSource, ...] = ()
    reference_files: tuple[str, ...] = ()
    """References of the skill that the task is about."""
    codebase_variant: str | None = None
    notes: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillTasks(Record):
    """One tasks file."""

    skill_name: str
    tasks: tuple[SkillTask, ...]


# The records of a study that is analysed again: contrasts with intervals by task, next to the published figures. The
# unit is the task within a skill, because runs of one task are not independent.

ARMS: Mapping[str, str] = {
    "A": "baseline",
    "B": "with_skill",
    "C": "skill_md_only",
    "D": "realistic",
    "E": "realistic_baseline",
}
"""Condition of the study by arm: nothing loaded; the skill; the skill without its references; the skill in a realistic agent context;
that context without the skill, which the published study did not run."""

DIMENSIONS = ("language_correctness", "api_idiomaticity", "functional_correctness", "code_quality")
"""What the judge scored; the composite is their mean."""

LOWEST, HIGHEST = 1.0, 5.0
"""The judge's range."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Record):
    """Something that the parts of a recording say differently, or do not say."""

    kind: str
    where: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exclusion(Record):
    """A response without a composite score."""

    skill: str
    task_id: str
    run: int
    arm: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmCount(Record):
    """What there is of one condition; None where nothing says it."""

    arm: str
    condition: str
    skills: int
    """Skills that were tried under it."""
    responses: int
    scored: int
    excluded: int
    beyond_judge: int | None
    """Responses longer than what the judge was shown; None when the length of a response or of what was shown is unknown."""
    at_token_limit: int | None
    """Responses that ended because the limit of tokens was reached."""
    cached: int | None
    """Responses taken from a cache of an earlier run."""
    judge_cached: int | None
    """Judgments taken from a cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedSkill(Record):
    """A skill that the study left out of its aggregates; nothing shows that this was decided before its result was seen."""

    skill: str
    reason: str
    """As the study calls it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory(Record):
    """What was read, before anything is computed of it."""

    skills: int
    tasks: int
    responses: int
    generators: tuple[str, ...]
    judges: tuple[str, ...]
    visible_chars: int | None
    """How much of a response the judge was shown; None if it is not stated."""
    token_limit: int | None
    arms: tuple[ArmCount, ...]
    exclusions: tuple[Exclusion, ...]
    excluded: tuple[ExcludedSkill, ...]
    notes: tuple[Note, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published(Record):
    """What the study printed of a contrast; None where it printed nothing."""

    delta: float | None
    n: int | None = None
    """Pairs of runs that were compared as if they were independent."""
    t: float | None = None
    t_p: float | None = None
    wilcoxon_w: float | None = None
    wilcoxon_p: float | None = None
    cohens_d: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect(Record):
    """One contrast between two arms, in points of the composite score."""

    name: str
    """Such as `B−A`: the mean of the first arm less that of the second."""
    arms: tuple[str, str]
    unit: Literal["task", "skill"]
    """What is taken as independent."""
    units: int
    """Units with a score on both arms."""
    measure: Measure
    method: str
    """Of the interval; empty without one."""
    paired_t: HypothesisTest
    wilcoxon: HypothesisTest
    cohens_d: Measure
    """d of the differences of the units, with its interval."""
    p_holm: float | None
    """p of the paired t after Holm over the skills that the study kept; None without one, or outside this family."""
    p_holm_all: float | None
    """The same over all skills."""
    within_margin: bool | None
    """Whether the whole interval lies within ±margin; None without an interval."""
    under_exclusions: ScoreRange | None
    """The contrast if every response without a score had the worst, and the best, score for it; None without a common unit."""
    seen_whole: Measure
    """The contrast over the responses that the judge saw whole."""
    seen_whole_units: int
    published: Published | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mitigation(Record):
    """1 − (D−E)/(B−A): how much of the skill's effect a realistic context takes away."""

    identified: Measure
    """Not identified wherever no baseline (E) was run in the realistic context."""
    descriptive: Measure
    """1 − (D−A)/(B−A) of the published arms, context and skill confounded; None where the denominator's interval contains 0."""
    published: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow(Record):
    """Means of one task; None where an arm has no score."""

    task_id: str
    task_type: str
    language: str
    means: Mapping[str, float | None]
    """By arm, the mean composite of its runs."""
    published_delta: float | None
    """B−A as printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternEffect(Record):
    """One contrast of the share of patterns that are found in a response, by task of one skill."""

    property: str
    contrast: str
    tasks: int
    measure: Measure
    """In shares, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillContrasts(Record):
    """One skill: its contrasts by task."""

    skill: str
    structural_score: float
    risk_level: str
    test_category: str
    excluded: str | None
    tasks: tuple[TaskRow, ...]
    effects: tuple[Effect, ...]
    mitigation: Mitigation | None
    """None without the arms A, B and D."""
    patterns: tuple[PatternEffect, ...] = ()
    """Of expected and anti-patterns, where they were looked for; not adjusted for their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation(Record):
    """Structural score against behavioural change, over skills."""

    contrast: str
    skills: int
    pearson: Measure
    pearson_p: float | None
    spearman: Measure
    spearman_p: float | None
    published: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Group(Record):
    """Skills, or tasks of one type, that the study put together; a group of one is none."""

    by: Literal["risk_level", "test_category", "task_type"]
    name: str
    skills: int
    contrast: str
    measure: Measure
    published: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyEffect(Record):
    """One contrast of one property that makes up the composite, or of the patterns, over skills."""

    property: str
    contrast: str
    range: tuple[float, float]
    skills: int
    measure: Measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Aggregate(Record):
    """Statements on skills: the skill is the unit, its tasks and runs are averaged first."""

    name: Literal["kept", "all"]
    """`kept`: the skills that the study kept in its aggregates; `all`: every skill."""
    skills: int
    effects: tuple[Effect, ...]
    mitigation: Mitigation | None
    correlations: tuple[Correlation, ...]
    groups: tuple[Group, ...]
    properties: tuple[PropertyEffect, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureDifference(Record):
    """A published figure that the files do not give."""

    path: str
    published: float
    recomputed: float | None
    """None when nothing of the files corresponds to it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureCount(Record):
    """Published figures by what they were compared with."""

    recomputed: int
    """Computed here, from the responses' texts and the judge's scores; a figure of which nothing is in the files counts here too."""
    reproduced: int
    """Of the recomputed, those that agree to the last printed digit."""
    copied: int
    """Compared with a copy of the same figure alone: nothing in the files lets it be computed."""
    copies_agree: int
    """Of the copied, those that agree."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compatibility(Record):
    """The published figures, recomputed the way the study did where the files allow it."""

    total: FigureCount
    by_part: Mapping[str, FigureCount]
    """By part of the publication."""
    differ: tuple[FigureDifference, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change(Record):
    """What a published statement becomes, and why."""

    about: str
    published: str
    ours: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierState(Record):
    """An earlier state of one skill's files, compared with the present one."""

    state: str
    """The folder of history/ that holds it."""
    skill: str
    scored_at: str
    scored_at_now: str
    compared: int
    """Responses that both states name."""
    texts_changed: int | None
    """Of these, texts that differ; None when a text is not there."""
    scores_changed: int
    """Of these, composites that differ, a missing one counted as different from a score."""
    rescored: int | None
    """Composites that differ although the text is the same."""
    failed: int
    """Responses of the earlier state without a score."""
    deltas: Mapping[str, tuple[float | None, float | None]]
    """By contrast: the mean over tasks then and now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsentContrast(Record):
    """A contrast that the study cannot give."""

    contrast: str
    of: Literal["skill", "mean"]
    """`skill`: no skill has it; `mean`: there is no mean over skills."""
    measure: Measure
    """Without a value, with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternCount(Record):
    """One pattern, and in how many responses it was found; as data, never to be run or shown as markup."""

    kind: Literal["expected", "anti"]
    pattern: str
    """The regular expression as the file writes it."""
    literal: bool
    """Whether it is not a regular expression, and so was searched for as it is written."""
    responses: int
    """Responses that it was searched for in, or of which the study records a result."""
    found: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPatterns(Record):
    """The patterns of one task, which define what counts as a match."""

    skill: str
    task_id: str
    file: str | None
    """The file that names them; None where no file does."""
    sha256: str | None
    """Of that file."""
    patterns: tuple[PatternCount, ...]
    sources: tuple[PatternSource, ...]
    """Where they come from, as the study says."""
    reason: str | None
    """Why there are none; None where there are some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternDifference(Record):
    """A pattern that a response matches otherwise than the study records."""

    skill: str
    task_id: str
    run: int
    arm: str
    kind: Literal["expected", "anti"]
    pattern: str
    recorded: bool
    matched: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UnmatchedResponses(Record):
    """Responses of which the patterns were not matched here."""

    reason: str
    responses: int
    copied: int
    """Of these, responses whose recorded results stand in for a match."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rematch(Record):
    """The patterns matched anew against the stored responses, compared with what the study records of them."""

    responses: int
    """Matched here."""
    searches: int
    """One for each pattern and response."""
    compared: int | None
    """Searches whose result the study records too; None where it records none."""
    reason: str | None
    """Why nothing was compared."""
    differ: tuple[PatternDifference, ...]
    """All of them; the match made here is the one that counts."""
    unmatched: tuple[UnmatchedResponses, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContaminationStudy(Record):
    """The whole study."""

    level: float
    margin: float
    """Materiality margin δ in points."""
    range: tuple[float, float]
    family: str
    """What Holm's rule was applied over."""
    selected: tuple[str, ...] | None
    """The skills that were asked for; None for all."""
    inventory: Inventory
    skills: tuple[SkillContrasts, ...]
    aggregates: tuple[Aggregate, ...]
    """`kept` first; `all` only where the study left skills out."""
    compatibility: Compatibility | None
    """None without behavioral-eval.json."""
    changes: tuple[Change, ...]
    states: tuple[EarlierState, ...]
    warnings: tuple[EstimateWarning, ...]
    absent: tuple[AbsentContrast, ...]
    """Contrasts that do not exist, each with its reason."""
    patterns: tuple[TaskPatterns, ...]
    rematch: Rematch
    files: Mapping[str, str]
    """SHA-256 of each file that was read."""
    schema: Literal["caveat/contamination/1"] = "caveat/contamination/1"
