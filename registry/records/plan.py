"""What is fixed before the scores are seen."""

from dataclasses import dataclass
from enum import StrEnum

from registry.records.claim import Direction, Relation
from registry.records.record import Record


class ContextDesign(StrEnum):
    """What the contexts are to the estimand (statistics.md section 1)."""

    RANDOM = "random"
    """The same contexts over all tasks, a sample of P_test and P_deploy."""
    FIXED = "fixed"
    """The listed contexts are the estimand."""
    NESTED = "nested"
    """Each task has contexts of its own; the task is the only cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Record):
    """How an estimate is made."""

    margin: float | None = None
    """Materiality margin δ in the unit of the score; None means 0.05 × range."""
    level: float = 0.95
    """Nominal coverage of the intervals."""
    epsilon: float | None = None
    """ε of nED in the unit of the score; None means 0.01 × range."""
    contexts: ContextDesign = ContextDesign.RANDOM
    seed: int = 0
    replicates: int = 10000
    """Bootstrap replicates."""

    def __post_init__(self) -> None:
        if not 0.5 <= self.level < 1:
            raise ValueError(f"level must lie in [0.5, 1), got {self.level}")
        if self.margin is not None and not self.margin > 0:
            raise ValueError(f"margin must be above 0, got {self.margin}")
        if self.epsilon is not None and not self.epsilon >= 0:
            raise ValueError(f"epsilon must not be negative, got {self.epsilon}")
        if self.replicates < 1:
            raise ValueError(f"replicates must be at least 1, got {self.replicates}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock(Record):
    """The plan of an audit, fixed before its runs: nothing in it changes afterwards."""

    audit: str
    claim: str
    """`CLM-…@n`."""
    plan: Plan
    """With every default filled in."""
    relation: Relation | None
    theta: float | None
    direction: Direction
    deploy_specs: tuple[str, ...]
    """Names of the P_deploy specifications as they stand in the score table."""
    exclusion_rules: str | None = None
    stopping_rule: str | None = None
    budget: str | None = None
    """Calls, tokens or money that the runs may take, in words."""
    note: str | None = None
