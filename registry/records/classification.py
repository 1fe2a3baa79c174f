"""What became of a claim: class, standing and mode of each of its readings."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from registry.records.claim import Form
from registry.records.evidence import Sign
from registry.records.record import Record


class ClaimClass(StrEnum):
    """The classes of the paper, section 3.3."""

    STABLE = "stable"
    DEGRADED = "degraded"
    INVERTED = "inverted"
    UNDETERMINED = "undetermined"


class Standing(StrEnum):
    """How firmly a class stands."""

    ESTABLISHED = "established"
    CANDIDATE = "candidate"
    STRUCTURAL_RISK = "structural_risk"
    DIRECTION_VERIFIED = "direction_verified"
    OBSERVED_CONDITION = "observed_condition"


class Mode(StrEnum):
    """Why a reading is undetermined."""

    TECHNICAL = "technical"
    ONTOLOGICAL = "ontological"
    NOISY = "noisy"


class Verdict(StrEnum):
    """What a reader is told, in the plain words of `get_words`; "not audited" is the absence of one."""

    HOLDS = "holds"
    DOES_NOT_CARRY_OVER = "does_not_carry_over"
    CONTRADICTED = "contradicted"
    NOT_REPRODUCED = "not_reproduced"
    OBSERVED = "observed"
    CONTRADICTED_IN_PRODUCTION = "contradicted_in_production"
    IN_DOUBT = "in_doubt"
    """Evidence without a replay points against the deployment claim."""
    INCONCLUSIVE = "inconclusive"
    """The interval is too wide, or the evidence cannot be used."""
    NOT_TESTABLE = "not_testable"
    """No deployment distribution can exist."""


class VerdictStanding(StrEnum):
    """How firmly a verdict stands: which of the conditions of docs/method.md ("What established requires") are met."""

    ESTABLISHED = "established"
    CONDITIONAL = "conditional"
    """All conditions are met, for the listed contexts only."""
    PROVISIONAL = "provisional"
    """A condition is missing; the verdict names the first."""


_GRAVITY = (
    Verdict.CONTRADICTED,
    Verdict.CONTRADICTED_IN_PRODUCTION,
    Verdict.DOES_NOT_CARRY_OVER,
    Verdict.NOT_REPRODUCED,
    Verdict.IN_DOUBT,
    Verdict.INCONCLUSIVE,
    Verdict.NOT_TESTABLE,
    Verdict.HOLDS,
    Verdict.OBSERVED,
)
_FIRMNESS = (VerdictStanding.ESTABLISHED, VerdictStanding.CONDITIONAL, VerdictStanding.PROVISIONAL, None)


def find_gravity(verdict: Verdict, standing: VerdictStanding | None) -> tuple[int, int]:
    """Return a key that sorts outcomes of one claim family, the gravest first; of equals the caller takes the latest."""
    return _GRAVITY.index(verdict), _FIRMNESS.index(standing)


class Basis(StrEnum):
    """What a class rests on."""

    REPLAY = "replay"
    REPORTED = "reported"
    NONE = "none"


def rank_outcome(class_: ClaimClass, basis: Basis, *, upheld: bool = False) -> tuple[bool, bool, bool]:
    """Return how much an outcome weighs among those of one claim revision: the heaviest counts, and of equals the latest.

    One that decides outweighs one that does not, and a replay under a lock outweighs what is reported. So nobody clears what was
    found by adding an audit that is too small, or not locked, to find anything. Of two that weigh the same so far, one under the
    rival of a contestation that was *upheld* outweighs those under what was contested; before that a rival's outcome is not ranked.
    """
    return class_ is not ClaimClass.UNDETERMINED, basis is Basis.REPLAY, upheld


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecVerdict(Record):
    """The verdict against one specification of P_deploy."""

    spec: str
    class_: ClaimClass
    standing: Standing | None
    candidate: ClaimClass | None = None
    mode: Mode | None = None
    judge: str | None = None
    """By whose scores, where several judges scored the responses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingVerdict(Record):
    """One reading of the claim and what became of it."""

    form: Form
    class_: ClaimClass
    standing: Standing | None
    candidate: ClaimClass | None
    """Class of the point estimate where the interval does not settle it, else None."""
    mode: Mode | None
    """Given exactly for undetermined."""
    basis: Basis
    direction: Sign | None
    """Sign of ED, established or expected; None when nothing is known of it."""
    why: str
    """The row of the decision table in words, with the numbers that met it."""
    resolves: str | None
    """What would resolve an undetermined state; None otherwise."""
    not_met_in_test: bool = False
    """Whether the claim's own evaluation fails its relation."""
    possible: tuple[ClaimClass, ...] = ()
    """The classes still possible, for an undetermined reading with an interval."""
    rule: str
    """Name of the row of the decision table that decided."""
    specs: tuple[SpecVerdict, ...] = ()
    hangs_on_one_spec: bool = False
    """Whether the class would differ without one contestable specification of P_deploy."""
    verdict: Verdict = Verdict.INCONCLUSIVE
    verdict_standing: VerdictStanding | None = None
    """None for verdicts that cannot be established: in doubt, inconclusive, not testable, observed."""

    def __post_init__(self) -> None:
        if (self.class_ is ClaimClass.UNDETERMINED) != (self.mode is not None):
            raise ValueError("a mode belongs to undetermined, and only to it")
        if (self.class_ is ClaimClass.UNDETERMINED) != (self.resolves is not None):
            raise ValueError("what resolves it belongs to undetermined, and only to it")


class ItemStatus(StrEnum):
    """Whether a minimum-reporting item is there."""

    REPORTED = "reported"
    MISSING = "missing"
    NOT_APPLICABLE = "not_applicable"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChecklistItem(Record):
    """One item of minimum reporting (paper Table 4, method section 8)."""

    item: str
    status: ItemStatus
    note: str
    """What is reported, or why it is missing or does not apply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Classification(Record):
    """All readings of one claim; the claim's own form comes first."""

    readings: tuple[ReadingVerdict, ...]
    inversion_margin: float | None
    """Φ_test − θ; None without a numeric θ or without a test-side figure."""
    checklist: tuple[ChecklistItem, ...] = ()
    """Always empty, to be removed: `registry.report.checklist` computes it when a document is rendered."""
    schema: Literal["caveat/classification/1"] = "caveat/classification/1"

    def __post_init__(self) -> None:
        if not self.readings:
            raise ValueError("a classification has at least one reading")

    @property
    def primary(self) -> ReadingVerdict:
        """The reading in the claim's own form."""
        return self.readings[0]
