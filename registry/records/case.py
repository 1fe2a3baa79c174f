"""One claim with everything the decision table asks of it: the input of station 6 and of `caveat classify`."""

import builtins
from dataclasses import dataclass
from enum import StrEnum

from registry.records.claim import Form, QuoteStatus, Relation, Reported
from registry.records.evidence import Evidence
from registry.records.model import ModelRef
from registry.records.plan import Plan
from registry.records.record import Record
from registry.records.spec import PropertySpec


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

    TOLD_APART = "told_apart"
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
