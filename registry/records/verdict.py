"""The outcome of a claim: class and verdict of each reading, how long it counts, and the restricted claim."""

from calendar import monthrange
from dataclasses import dataclass, replace
from datetime import date
from enum import StrEnum
from typing import Literal

from registry.records.audit_case import Sign
from registry.records.claim import Form
from registry.records.estimates import Estimate
from registry.records.record import Payload, Record
from registry.records.replay_run import ModelIdentity, Provenance

# Verdicts: class, standing and mode of each reading of a claim.


class ClaimClass(StrEnum):
    """The classes of the paper, section 3.3."""

    STABLE = "stable"
    DEGRADED = "degraded"
    INVERTED = "inverted"
    UNDETERMINED = "undetermined"


class Standing(StrEnum):
    """How firm a class is."""

    ESTABLISHED = "established"
    CANDIDATE = "candidate"
    STRUCTURAL_RISK = "structural_risk"
    DIRECTION_VERIFIED = "direction_verified"
    OBSERVED_CONDITION = "observed_condition"
    CONDITIONAL = "conditional"
    """Would be established, for the listed contexts only."""
    PROVISIONAL = "provisional"
    """Would be established, and a condition for that is missing. An inversion is then a candidate."""


class Mode(StrEnum):
    """Why a reading is undetermined."""

    TECHNICAL = "technical"
    ONTOLOGICAL = "ontological"
    NOISY = "noisy"


class Verdict(StrEnum):
    """What a reader sees, in the plain words of `get_words`; "not audited" is the absence of one."""

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
    """How firm a verdict is: which of the conditions of docs/method.md ("What established requires") are met."""

    ESTABLISHED = "established"
    CONDITIONAL = "conditional"
    """All conditions are met, for the listed contexts only."""
    PROVISIONAL = "provisional"
    """A condition is missing; the verdict names the first."""


# From adverse to favourable. Of several outcomes on the same words the gravest leads, so that a
# later favourable audit cannot hide an adverse one. "Inconclusive" precedes "holds": a reader
# should see that an audit did not confirm the claim.
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
# Among equal verdicts the better supported one leads.
_FIRMNESS = (VerdictStanding.ESTABLISHED, VerdictStanding.CONDITIONAL, VerdictStanding.PROVISIONAL, None)


FAVOURABLE = frozenset({Verdict.HOLDS, Verdict.OBSERVED})
FIRM = frozenset({Verdict.HOLDS, Verdict.DOES_NOT_CARRY_OVER, Verdict.CONTRADICTED, Verdict.NOT_REPRODUCED})
"""Verdicts of an estimate that can be established. The one from production belongs to monitors and never needs this."""


def find_gravity(verdict: Verdict, standing: VerdictStanding | None) -> tuple[int, int]:
    """Return a key that sorts outcomes of one claim family, the gravest first; of equals the caller takes the latest."""
    return _GRAVITY.index(verdict), _FIRMNESS.index(standing)


class Condition(StrEnum):
    """What an established verdict requires, in the order in which the first missing one is named."""

    REPLAY = "replay"
    """A replay was made."""
    LOCK = "lock"
    """The plan was locked before the run, and the data show when the run began."""
    RUNS = "runs"
    """One run was started under the lock: of several, the scores could have been chosen."""
    PLAN = "plan"
    """Level, margin and limit on raters are not too lax for an established verdict, and the scores use the range. Asked only where not."""
    ENDPOINT = "endpoint"
    """The endpoint returned a name that belongs to the model version."""
    DEPLOYMENT_CONSTRUCTION = "deployment_construction"
    """It is stated how P_deploy was made, and there are enough contexts. Fixed contexts make the verdict conditional."""
    NATURALNESS = "naturalness"
    """Blind raters do not tell test from deployment contexts more often than the plan allows. Without a rater study it is not checked."""
    CONTROL = "control"
    """Where the lock names a known-bad subject, it failed. Asked of verdicts that hold; without a control it is not asked."""
    INVARIANCE = "invariance"
    """The scorer was checked for invariance, or reads only the response under equal truncation."""
    ACCOUNTING = "accounting"
    """Exclusions and truncations are few and alike on both sides, or cannot change the verdict; the files are not doubtful."""
    PROVENANCE = "provenance"
    """Run dates, sampling settings and the returned model name are present."""
    VALIDITY = "validity"
    """The outcome has not expired."""
    REPRODUCTION = "reproduction"
    """The replay of the evaluation does not contradict the figure that the card reports."""
    CLUSTERS = "clusters"
    """Where families of tasks or templates of contexts are declared, every task and context has its own. Without them it is not asked."""


class ConditionStatus(StrEnum):
    """Whether a condition is met."""

    MET = "met"
    FIXED_CONTEXTS = "fixed_contexts"
    """Met for the listed contexts only: the verdict is conditional."""
    MISSING = "missing"
    NOT_CHECKED = "not_checked"
    """A case file without a log cannot show it, or a study that is not required was not made; it does not lower the standing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionCheck(Record):
    """One condition of an established verdict, checked against the data."""

    condition: Condition
    status: ConditionStatus
    note: str
    """The fact that decided, as a clause without full stop: `no lock preceded the run`."""


class ReproductionStatus(StrEnum):
    """Whether the replay of the evaluation gives the figure that the card reports."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not_reproduced"
    UNCLEAR = "unclear"
    NO_FIGURE = "no_figure"


# An interval stated by the card is preferred; otherwise Wilson's from the number of trials.
class FigureInterval(StrEnum):
    """Where the interval of a reported figure comes from."""

    STATED = "stated"
    WILSON = "wilson"
    """From the number of trials, for a share (Wilson 1927)."""
    EXACT = "exact"
    """The card gives neither: the figure is taken as exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reproduction(Record):
    """D = Φ_test − r, where r is the figure that the card reports; all in the unit of the score."""

    status: ReproductionStatus
    reported: float | None = None
    reported_low: float | None = None
    reported_high: float | None = None
    interval: FigureInterval | None = None
    """None exactly for `no_figure`."""
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    """Interval of D by MOVER at the level of the plan; None without an interval of Φ_test."""


class RestrictionStatus(StrEnum):
    """What the gravest outcome of a claim family leaves of the claim."""

    UNAUDITED = "unaudited"
    """No claim of the family has an outcome."""
    SUPPORTED = "supported"
    """Within the tested contexts."""
    NARROWED = "narrowed"
    """The claim may be made with a restriction alone."""
    NOT_SUPPORTED = "not_supported"
    SUSPENDED = "suspended"
    """Not to be relied on before a replay."""
    EXISTENCE_ONLY = "existence_only"
    """Seen at least once in the stated condition, and no more is known."""
    NOT_RESOLVED = "not_resolved"


_RESTRICTIONS = {
    Verdict.DOES_NOT_CARRY_OVER: RestrictionStatus.NARROWED,
    Verdict.NOT_REPRODUCED: RestrictionStatus.NOT_RESOLVED,
    Verdict.OBSERVED: RestrictionStatus.EXISTENCE_ONLY,
    Verdict.CONTRADICTED_IN_PRODUCTION: RestrictionStatus.NOT_SUPPORTED,
    Verdict.IN_DOUBT: RestrictionStatus.SUSPENDED,
    Verdict.INCONCLUSIVE: RestrictionStatus.NOT_RESOLVED,
    Verdict.NOT_TESTABLE: RestrictionStatus.NOT_RESOLVED,
}


def find_restriction(verdict: Verdict, standing: VerdictStanding | None) -> RestrictionStatus:
    """Return what an outcome leaves of its claim. A verdict without a standing counts as provisional."""
    # Supported only if established. A conditional or provisional verdict narrows the claim to what
    # was tested.
    if verdict is Verdict.HOLDS:
        return RestrictionStatus.SUPPORTED if standing is VerdictStanding.ESTABLISHED else RestrictionStatus.NARROWED
    if verdict is Verdict.CONTRADICTED:
        # A provisional contradiction suspends the claim until a replay; it does not refute it.
        is_firm = standing in (VerdictStanding.ESTABLISHED, VerdictStanding.CONDITIONAL)
        return RestrictionStatus.NOT_SUPPORTED if is_firm else RestrictionStatus.SUSPENDED
    return _RESTRICTIONS[verdict]


class Basis(StrEnum):
    """What a class rests on."""

    REPLAY = "replay"
    REPORTED = "reported"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecVerdict(Record):
    """The verdict against one specification of P_deploy."""

    spec: str
    class_: ClaimClass
    standing: Standing | None
    verdict: Verdict
    point_class: ClaimClass | None = None
    mode: Mode | None = None
    level: float | None = None
    """Level of the intervals of this statement: the plan's, Holm's, or 1 − α/m where the specifications differ."""
    judge: str | None = None
    """The judge that scored, where several judges scored the responses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingVerdict(Record):
    """One reading of the claim and its outcome."""

    form: Form
    class_: ClaimClass
    standing: Standing | None
    verdict: Verdict
    verdict_standing: VerdictStanding | None
    """None for verdicts that cannot be established: in doubt, inconclusive, not testable, observed."""
    missing_condition: Condition | None = None
    """The first condition of an established verdict that is missing; None where none is, and where `verdict_standing` is None."""
    conditions: tuple[ConditionCheck, ...] = ()
    """All conditions, in order; empty where `verdict_standing` is None."""
    reproduction: Reproduction | None = None
    """None without an estimate, and for existence."""
    point_class: ClaimClass | None
    """The class that the point estimate by itself suggests, where the interval does not decide; not printed on page one where the evidence
    is unusable (`mode` technical)."""
    mode: Mode | None
    """Given exactly for undetermined."""
    basis: Basis
    direction: Sign | None
    """Sign of ED, established or expected; None when nothing is known of it."""
    why: str
    """The row of the decision table in words, with the numbers that met it."""
    resolves: str | None
    """What would resolve an undetermined state; else None."""
    not_met_in_test: bool = False
    """Whether the claim's own evaluation does not meet it: the whole interval of Φ_test fails its relation, or, without an estimate, the
    figure that the card reports does."""
    control: str | None = None
    """What the harness would have seen, in a sentence; given exactly for a stable reading of a rate."""
    possible: tuple[ClaimClass, ...] = ()
    """The classes still possible, for an undetermined reading with an interval."""
    rule: str
    """Name of the row of the decision table that decided."""
    specs: tuple[SpecVerdict, ...] = ()
    hangs_on_one_spec: bool = False
    """Whether the verdict would differ without one contestable specification of P_deploy."""

    def __post_init__(self) -> None:
        # These invariants connect fields that templates and gates read independently. A
        # contradiction between them would print two different verdicts.
        if (self.class_ is ClaimClass.UNDETERMINED) != (self.mode is not None):
            raise ValueError("a mode belongs to undetermined, and only to it")
        if self.resolves is None and (self.class_ is ClaimClass.UNDETERMINED or self.verdict is Verdict.INCONCLUSIVE):
            raise ValueError("an undetermined or inconclusive reading says what would resolve it")
        if (self.verdict_standing is None) != (self.verdict not in FIRM):
            raise ValueError(f"{self.verdict.value} has {'a' if self.verdict in FIRM else 'no'} standing")
        if self.verdict_standing is VerdictStanding.ESTABLISHED and self.missing_condition is not None:
            raise ValueError("an established verdict has no missing condition")
        if self.standing is Standing.ESTABLISHED and self.verdict_standing is not VerdictStanding.ESTABLISHED:
            raise ValueError("TRACE's standing is established only where the verdict is")

    @property
    def is_not_reproduced(self) -> bool:
        """Whether the replay of the evaluation contradicts the card: its figure, or the limit that it claims."""
        return self.not_met_in_test or (self.reproduction is not None and self.reproduction.status is ReproductionStatus.NOT_REPRODUCED)

    @property
    def printed_point_class(self) -> ClaimClass | None:
        """The class of the point estimate where it may be printed: not where the evidence is unusable."""
        return None if self.mode is Mode.TECHNICAL else self.point_class


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
# `primary` is the reading in the claim's own form. The status and page one use that one only.
class Classification(Record):
    """All readings of one claim; the claim's own form comes first."""

    readings: tuple[ReadingVerdict, ...]
    inversion_margin: float | None
    """Φ_test − θ; None without a numeric θ or without a test-side figure."""
    conditions_not_checked: tuple[Condition, ...] = ()
    """Conditions of an established verdict that need a log; listed for case files, which have none."""
    schema: Literal["caveat/classification/1"] = "caveat/classification/1"

    def __post_init__(self) -> None:
        if not self.readings:
            raise ValueError("a classification has at least one reading")

    @property
    def primary(self) -> ReadingVerdict:
        """The reading in the claim's own form."""
        return self.readings[0]


# Validity: an outcome counts for a year from its run unless the plan names another day, and is
# provisional afterwards.

MONTHS = 12
"""From the day on which the run began, where the plan does not say until when its outcome is valid."""


def find_last_day(planned: date | None, began: date) -> date:
    """Return the last day on which an outcome is valid: the *planned* one, or the same day of the month 12 months after *began*.

    Where that month is shorter, its last day.
    """
    if planned is not None:
        return planned
    # Months counted from zero, so that divmod gives the month without a special case for December.
    months = began.year * 12 + began.month - 1 + MONTHS
    year, month = divmod(months, 12)
    return date(year, month + 1, min(began.day, monthrange(year, month + 1)[1]))


def is_expired(valid_until: date | None, today: date | None) -> bool:
    """Whether an outcome that is valid until *valid_until* counts no more in full on *today*; False where either is not known."""
    return valid_until is not None and today is not None and today > valid_until


def weaken(standing: VerdictStanding | None, valid_until: date | None, today: date | None) -> VerdictStanding | None:
    """Return *standing* as it counts on *today*: provisional at most once the outcome expired."""
    return VerdictStanding.PROVISIONAL if standing is not None and is_expired(valid_until, today) else standing


def lower_reading(reading: ReadingVerdict, standing: VerdictStanding | None) -> ReadingVerdict:
    """Return *reading* as it counts with *standing*, which is that of its record or lower; TRACE's standing is then no firmer."""
    if standing is reading.verdict_standing:
        return reading
    trace = reading.standing
    # Other standings of TRACE are no firmer than a provisional verdict, so they stay.
    if trace in (Standing.ESTABLISHED, Standing.CONDITIONAL):
        trace = Standing.CANDIDATE if reading.class_ is ClaimClass.INVERTED else Standing.PROVISIONAL
    return replace(reading, verdict_standing=standing, standing=trace)


# Completeness: what a claim says about the origin of its figure. Never a condition for registering
# it.


class CompletenessItem(StrEnum):
    """What a reader needs to judge a figure; after STREAM (McCaslin et al. 2025), a standard for reporting model evaluations."""

    EVALUATION = "evaluation"
    """The evaluation is named."""
    SAMPLE_SIZE = "sample-size"
    """The number of tasks or trials behind the figure."""
    GRADER = "grader"
    """Who or what scored the responses."""
    ELICITATION = "elicitation"
    """How the model was asked: attempts, prompts, tools, safeguards on or off."""
    VERSION = "version"
    """The exact model version."""
    THRESHOLD = "threshold"
    """The value of θ; applies to thresholds and bounds."""
    UNCERTAINTY = "uncertainty"
    """An interval or standard error of the figure; applies to claims with a figure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completeness(Record):
    """One item and what is there of it."""

    item: CompletenessItem
    status: ItemStatus
    note: str
    """What is stated, in the claim's words; or why it is missing or does not apply."""


# The restricted text of a claim next to the original. Decision of 2026-11-21: it keeps the claim's
# own words as far as they hold, and the redline shows exactly what was removed. A claim that its
# own evaluation fails, or that fails in deployment, keeps none. The cost: longer texts.


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEdit(Record):
    """A person's change to the composed text, kept with its reason."""

    composed: str
    """The text before the edit."""
    reason: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RestrictedClaim(Record):
    """The claim as it may still be made, composed from the record and never written freely (method section 7)."""

    original: str
    restricted: str
    """The whole restricted claim, one paragraph."""
    surviving: tuple[str, ...]
    """What may still be said, sentence by sentence: page one prints it."""
    withdrawn: tuple[str, ...]
    """What may not be said: each begins with "That" and ends with its status."""
    resolves: tuple[str, ...]
    """What would resolve what is open."""
    remarks: tuple[str, ...] = ()
    """The implied readings, and the cautions that belong to `restricted`."""
    wording: int = 2
    """Version of the sentences; the figures do not depend on it."""
    verdict: str
    """The outcome in one sentence, for the head of a supplement."""
    edit: TextEdit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restriction(Payload):
    """The outcome of an audit as recorded: stations 6 and 7 together."""

    KIND = "restriction"
    audit: str
    claim: str
    """`CLM-…@n`."""
    classification: Classification
    text: RestrictedClaim
    basis: Basis
    result: int | None = None
    """Sequence number of the `result` entry this rests on; None without one."""
    post_hoc: bool = False
    """Whether nothing shows that θ and the plan were fixed before the scores could be seen."""
    estimate: Estimate | None = None
    """An estimate from scores that no lock preceded (basis `reported`); None when `result` holds it."""
    table: str | None = None
    """SHA-256 of the score table of that estimate."""
    scores: str | None = None
    """SHA-256 of the scores themselves, whatever file holds them and in whatever order."""
    source: str | None = None
    """File names of that score table."""
    provenance: Provenance | None = None
    """Where the responses of that score table came from; None without one (a run under a lock holds its own)."""
    asked: ModelIdentity | None = None
    """Who was asked, as the names in the responses showed it then; None without scores."""
    valid_until: date | None = None
    """The last day on which this outcome counts at its full standing: the plan's, or 12 months after the run began. None: not stated."""

    @property
    def is_of_other_model(self) -> bool:
        """Whether the responses are of another model version, so that their figures are none of the claim's."""
        return self.asked is not None and self.asked.is_other
