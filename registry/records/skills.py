"""A skill-contamination study before it is run: skills, tasks, conditions, model and judge."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from registry.records.record import Record
from registry.records.replay import Budget, Policy


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
    left_out: str | None = None
    """Why it is left out of the means over skills; it is run and shown all the same. None: it is kept."""

    def __post_init__(self) -> None:
        if not 0 <= self.structural_score <= 1:
            raise ValueError(f"structural_score lies in [0, 1], got {self.structural_score}")
        if self.left_out is not None and not self.left_out.strip():
            raise ValueError("left_out says the reason; leave the key out to keep the skill")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillStudy(Record):
    """The file that `caveat skills` takes."""

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
