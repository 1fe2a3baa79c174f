"""The same claim over model versions: what was found of each, and how far that moved from one to the next."""

from dataclasses import dataclass
from typing import Literal

from registry.records.audit import Independence
from registry.records.claim import Relation
from registry.records.classification import ClaimClass, Mode, Standing
from registry.records.estimate import Bounded, Differential, SpecEstimate
from registry.records.model import ModelRef
from registry.records.record import Record
from registry.records.statement import Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionPoint(Record):
    """One revision of a claim with the outcome that leads for it."""

    claim: str
    """`CLM-…@n`."""
    claim_entry: Entry
    model: ModelRef
    why: str | None
    """Why the revision was made; None for the first."""
    audit: str | None
    """`AUD-…`; None for a revision without an outcome, and then so is all that follows."""
    auditor: str | None
    independence: Independence | None
    outcome_entry: Entry | None
    class_: ClaimClass | None
    standing: Standing | None
    mode: Mode | None
    point_class: ClaimClass | None
    verdict: str | None
    estimates: tuple[SpecEstimate, ...]
    """Against each specification of P_deploy; empty without an estimate."""
    level: float | None = None
    """Of their intervals; None without an estimate, and then so are `margin` and `range`."""
    margin: float | None = None
    """δ of the audit's plan, in the unit of the score."""
    range: tuple[float, float] | None = None
    """Lowest and highest possible score."""
    property: str | None = None
    """`PRP-…@n`, what the numbers are of."""
    relation: Relation | None = None
    """Which side of θ the claim says Φ is on; None where the claim has no threshold."""
    theta: float | None = None
    """None where it has none, or none that is published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftStep(Record):
    """How far Φ_test, Φ_deploy and ED moved between two points, after minus before, against one specification of P_deploy."""

    before: str
    """`CLM-…@n`."""
    after: str
    spec: str
    phi_test: Bounded
    phi_deploy: Bounded
    ed: Differential
    finding: Entry | None
    """The finding that compared the scores task by task; None where the numbers are of the two recorded estimates alone."""
    judge: str | None = None
    """By whose scores, where several judges scored the responses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift(Record):
    """A claim over its revisions, in order."""

    schema: Literal["caveat/drift/1"] = "caveat/drift/1"
    claim: str
    """`CLM-…`."""
    points: tuple[VersionPoint, ...]
    steps: tuple[DriftStep, ...]
    """Between each point with an estimate and the next one with one, for each specification of P_deploy that both have."""
