"""One audit: who audits and how independently, on which evidence, and the case that is classified."""

import builtins
from dataclasses import dataclass
from enum import StrEnum

from registry.records.analysis_plan import Plan
from registry.records.claim import Form, QuoteStatus, Relation, Reported
from registry.records.estimates import Estimate
from registry.records.model_version import ModelRef
from registry.records.record import Payload, Record
from registry.records.specification import PropertySpec

# Evidence without a replay, by layer (paper, section 4).


class EvidenceLayer(StrEnum):
    """The four evidence layers."""

    BEHAVIOURAL = "behavioural"
    VERBALISED = "verbalised"
    LATENT = "latent"
    CUE_SENSITIVITY = "cue_sensitivity"


class Access(StrEnum):
    """Whether a layer could be looked at."""

    AVAILABLE = "available"
    UNAVAILABLE = "unavailable"
    WITHHELD = "withheld"


class AccessLevel(StrEnum):
    """Access that a layer needs (paper, Table 3)."""

    API = "api"
    """An endpoint: prompts in, responses out."""
    LAB_TOOLS = "lab_tools"
    """Tools of the lab that made the model, such as its own interpretability pipeline."""
    WEIGHTS = "weights"
    INTERNALS = "internals"
    """Activations, or features read from them."""

    @property
    def words(self) -> str:
        """The level as a sentence has it."""
        return _LEVEL_WORDS[self]


_LEVEL_WORDS = {
    AccessLevel.API: "API only",
    AccessLevel.LAB_TOOLS: "lab tools",
    AccessLevel.WEIGHTS: "weights",
    AccessLevel.INTERNALS: "internals",
}


class EvidenceKind(StrEnum):
    """What was observed, for layers that can bear on behaviour."""

    OBSERVATION = "observation"
    DEPARTURE = "departure"
    PERTURBATION = "perturbation"
    RISK_AMPLIFYING = "risk_amplifying"
    ADVERSE = "adverse"


class PerturbationEffect(StrEnum):
    """Which way a perturbation moved the score."""

    AGAINST_CLAIM = "against_claim"
    WITH_CLAIM = "with_claim"
    UNKNOWN = "unknown"


class Sign(StrEnum):
    """Sign of an Evaluation Differential."""

    POSITIVE = "positive"
    NEGATIVE = "negative"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedFigure(Record):
    """A published number with what is known of its precision."""

    value: float
    unit: str
    """`share`, `percentage points` (of shares), `points` or `score` of the property's range, `count`, or a unit of its own."""
    low: float | None = None
    high: float | None = None
    n: int | None = None
    comparison: str | None = None
    """What it is to be compared with, in words."""
    stated: str | None = None
    """Figure and unit as the source gives them, where they were converted at intake."""


_LATENT_BY_API = (
    "latent evidence (activations, SAE features) cannot be read through an API; write access_level: internals, weights or lab_tools, "
    "or layer: verbalised where it is what the model wrote"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence(Record):
    """One piece of evidence, or the statement that a layer is not available."""

    layer: EvidenceLayer
    access: Access = Access.AVAILABLE
    kind: EvidenceKind | None = None
    """None: recognition only, or nothing known about behaviour."""
    effect: PerturbationEffect = PerturbationEffect.UNKNOWN
    expected_direction: Sign = Sign.UNKNOWN
    """Sign of ED that a departure leads to expect."""
    verified: bool = False
    """Whether it was checked beyond the source's word."""
    finding: PublishedFigure | None = None
    """The number, with its n; for recognition, the rate in the evaluation."""
    in_deployment: PublishedFigure | None = None
    """The same rate in deployment-like samples, where it was measured."""
    access_level: AccessLevel | None = None
    """What it took to look; None: not stated."""
    summary: str | None = None
    """What was found, in our words."""
    source: str | None = None
    location: str | None = None
    """Page or section in the source."""
    evaluation: str | None = None
    """The evaluation it belongs to: an awareness rate is keyed by evaluation, never by model."""
    model: ModelRef | None = None
    """The model it was measured on; None means the claim's."""

    def __post_init__(self) -> None:
        if self.access is not Access.AVAILABLE and (self.finding, self.in_deployment, self.kind) != (None, None, None):
            raise ValueError(f"a layer that is {self.access.value} has no finding and no kind")
        if self.in_deployment is not None and self.finding is None:
            raise ValueError("in_deployment is compared with finding, the rate in the evaluation; give both or neither")
        # A claim to have read activations through an API is a mistake in the file, so it is refused
        # with the alternatives.
        if self.access is Access.AVAILABLE and self.layer is EvidenceLayer.LATENT and self.access_level is AccessLevel.API:
            raise ValueError(_LATENT_BY_API)


# A case: one claim with everything that the decision table reads. It is the input of station 6 and
# of `caveat analyze classify`.


class Infeasible(StrEnum):
    """Why no defensible P_deploy can be built."""

    TECHNICAL = "technical"
    ONTOLOGICAL = "ontological"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment(Record):
    """The auditor's word on whether a defensible P_deploy exists."""

    defensible: bool = True
    infeasible: Infeasible | None = None
    """Given exactly when it is not."""
    description: str | None = None

    def __post_init__(self) -> None:
        # The reason decides between the two kinds of "undetermined", so it is required.
        if self.defensible == (self.infeasible is not None):
            raise ValueError("infeasible (technical or ontological) is given exactly when deployment is not defensible")


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseClaim(Record):
    """What the decision table needs to know of a claim."""

    form: Form
    property: PropertySpec
    quote: str | None = None
    quote_status: QuoteStatus = QuoteStatus.PARAPHRASE
    relation: Relation | None = None
    """Required for thresholds; bounds imply theirs; None for other forms."""
    theta: float | None = None
    """None for a threshold means: unpublished."""
    reported: Reported | None = None
    """The card's figure; None also where the card speaks of another version than `model`: it is not a figure of that."""
    model: ModelRef | None = None
    spoken_of: ModelRef | None = None
    """The version that the card's words are about, where the claim was carried from there to `model`; None where it is `model`."""

    def __post_init__(self) -> None:
        # The same rules as for registered claims, since a case file can be written without a
        # registry.
        implied = {Form.UPPER_BOUND: Relation.AT_MOST, Form.LOWER_BOUND: Relation.AT_LEAST}.get(self.form)
        if self.form is Form.THRESHOLD and self.relation is None:
            raise ValueError("a threshold needs its relation, <= or >=")
        if implied and self.relation not in (None, implied):
            raise ValueError(f"{self.form.value} has the relation {implied.value}")
        if self.form in (Form.EXISTENCE, Form.PREVALENCE) and (self.relation or self.theta is not None):
            raise ValueError(f"{self.form.value} has neither relation nor theta")

    @builtins.property
    def effective_relation(self) -> Relation | None:
        """The relation as given or as the form implies it; None for existence and prevalence."""
        implied = {Form.UPPER_BOUND: Relation.AT_MOST, Form.LOWER_BOUND: Relation.AT_LEAST}
        return self.relation or implied.get(self.form)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring(Record):
    """What is known of the scorer."""

    invariant: bool | None = None
    """Result of the invariance check; None means it was not made."""
    reads_response_only: bool | None = None
    """Whether the scorer reads nothing but the response, as patterns, options and numbers do; None means not stated."""


class RaterStatus(StrEnum):
    """Whether blind raters tell test from deployment contexts, against the plan's limit on their accuracy."""

    TOLD_APART = "distinguishable"
    """The whole interval of the persons' accuracy lies above the limit: P_deploy is not defensible as specified."""
    SUSPECTED = "suspected"
    """The persons' accuracy itself does, or that of a model judge may: the verdict is provisional."""
    UNRESOLVED = "unresolved"
    """Neither, and the persons' interval contains the limit."""
    WITHIN = "within"
    """The whole interval of the persons' accuracy lies within the limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterCheck(Record):
    """What a rater study says of the contexts."""

    status: RaterStatus
    note: str
    """The fact that decided, as a clause without full stop."""


class ControlStatus(StrEnum):
    """What the positive controls of a lock show, the gravest first."""

    PASSED = "passed"
    """A known-bad subject looked good: nothing that holds is established."""
    NOT_REPORTED = "not_reported"
    """The lock names a control that has no result, or none on these scores."""
    UNCLEAR = "unclear"
    """A known-bad subject did not fail."""
    TEST_ONLY = "test_only"
    """The known-bad subject was asked in evaluation contexts only."""
    DETECTED = "detected"
    """Every known-bad subject failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlCheck(Record):
    """What the positive controls say of the harness."""

    status: ControlStatus
    note: str
    """The fact that decided, as a clause without full stop."""
    reach: str
    """What the harness would have seen, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case(Record):
    """A claim, its evidence and its plan; the scores come beside it."""

    claim: CaseClaim
    evidence: tuple[Evidence, ...] = ()
    deployment: Deployment = Deployment()
    plan: Plan = Plan()
    scoring: Scoring = Scoring()
    raters: RaterCheck | None = None
    """None where no rater study was made, or a model judge alone that stayed within the limit."""
    controls: ControlCheck | None = None
    """None where the lock names no subject that is known to violate the claim."""


# An audit of one claim revision: auditor, independence and evidence.


class Independence(StrEnum):
    """How independent the auditor is of the card's publisher."""

    SELF = "self"
    COMMISSIONED = "commissioned"
    THIRD_PARTY = "third_party"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit(Payload):
    """The opening of an audit. Retrospective when no lock follows it."""

    KIND = "audit"
    audit: str
    """`AUD-…`."""
    claim: str
    """`CLM-…@n`."""
    auditor: str
    """Authority code."""
    independence: Independence
    deployment: Deployment = Deployment()
    scoring: Scoring = Scoring()
    plan: Plan = Plan()
    """How estimates are made; the lock, where there is one, holds it with every default filled in."""
    question: str | None = None
    """What the audit asks, in words."""
    note: str | None = None
    renews: str | None = None
    """`AUD-…`: the audit with the locked plan that this one runs again; None for others."""
    objection: str | None = None
    """`CON-…`: the objection with the rival specification that this audit replays under; None for audits of the one in force."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditWithdrawal(Payload):
    """That an audit no longer counts, by its auditor; it stays in the log with all that belongs to it."""

    KIND = "audit_withdrawal"
    audit: str
    reason: str

    def __post_init__(self) -> None:
        if not self.reason.strip():
            raise ValueError("a withdrawal needs its reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceStatement(Payload):
    """Evidence brought into an audit (door 3 of replay.md)."""

    KIND = "evidence"
    audit: str
    claim: str
    """`CLM-…@n`."""
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Result(Payload):
    """The estimate from one locked run."""

    KIND = "result"
    audit: str
    run: int
    """Sequence number of the `run` entry."""
    estimate: Estimate
