"""How Φ_test, Φ_deploy and ED moved from one model version to another, from the scores of both replays of the same tasks."""

from dataclasses import dataclass
from typing import Literal

from registry.records.estimate import Bounded, Differential
from registry.records.model import ModelRef
from registry.records.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecShift(Record):
    """The movement against one specification of P_deploy: after minus before, in the unit of the score."""

    spec: str
    phi_test: Bounded
    phi_deploy: Bounded
    ed: Differential
    """ΔED = ED(after) − ED(before); its `method` says what is treated as paired."""
    tasks: int
    """Tasks with scores on both sides in both replays; all numbers here are of these alone."""
    families: int | None = None
    """Families that these tasks are in; None: none are declared."""
    judge: str | None = None
    """By whose scores, where several judges scored both replays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift(Record):
    """What moved between two replays of one design, model version against model version."""

    schema: Literal["caveat/shift/1"] = "caveat/shift/1"
    before: ModelRef
    after: ModelRef
    before_audit: str
    """`AUD-…`."""
    before_scores: str
    """SHA-256 of the scores themselves, hexadecimal."""
    after_scores: str
    level: float
    specs: tuple[SpecShift, ...]
    warnings: tuple[str, ...] = ()
    """What a reader must know of the comparison, a sentence each."""
