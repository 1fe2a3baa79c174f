"""A card's claim: its form, threshold and figure, the model version it is about, and where it was adopted from."""

import builtins
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from registry.records.model_version import ModelRef
from registry.records.record import Payload, Record
from registry.records.system_card import Anchor

# Origin of an adopted claim: a claim of another registry's log.


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin(Record):
    """The claim of another registry's log that a claim was adopted from."""

    log: str
    """Name of that log."""
    claim: str
    """`CLM-…@n`."""
    seq: int
    """Number of the entry of that log that recorded it."""
    leaf: str
    """Its entry hash, hexadecimal."""


# A claim: form, threshold, property, model version, and its place in the card.


class PropertyClass(StrEnum):
    """The five property classes of the paper, section 3.1."""

    CAPABILITY = "capability"
    COMPLIANCE_REFUSAL = "compliance_refusal"
    REASONING_MONITORABILITY = "reasoning_monitorability"
    DECEPTION_SCHEMING = "deception_scheming"
    AGENCY_META_TASK = "agency_meta_task"


class Direction(StrEnum):
    """Which way is safer."""

    HIGHER_IS_SAFER = "higher_is_safer"
    LOWER_IS_SAFER = "lower_is_safer"
    NOT_SAFETY = "not_safety"


class Form(StrEnum):
    """Logical form of a claim, method section 2."""

    EXISTENCE = "existence"
    UPPER_BOUND = "upper_bound"
    LOWER_BOUND = "lower_bound"
    PREVALENCE = "prevalence"
    THRESHOLD = "threshold"


class Relation(StrEnum):
    """How a score must compare with θ for the claim to hold."""

    AT_MOST = "<="
    AT_LEAST = ">="


class QuoteStatus(StrEnum):
    """Whether the claim's words are the card's own."""

    VERBATIM = "verbatim"
    PARAPHRASE = "paraphrase"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported(Record):
    """A figure as the card gives it, in the unit of the property's range."""

    value: float
    low: float | None = None
    high: float | None = None
    n: int | None = None
    """Number of tasks or trials behind it, if stated."""

    def __post_init__(self) -> None:
        if self.low is not None and self.high is not None and not self.low <= self.high:
            raise ValueError(f"low must not exceed high, got {self.low} and {self.high}")
        if (self.low is not None and self.value < self.low) or (self.high is not None and self.value > self.high):
            raise ValueError(f"the interval from {self.low} to {self.high} does not contain the figure {self.value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRevision(Payload):
    """One revision of a claim, method section 2. A later revision says why it was made."""

    KIND = "claim_revision"
    claim: str
    """The identifier, `CLM-…`."""
    revision: int
    """From 1, without gaps."""
    quote: str
    """The claim's words: the card's own if `quote_status` is verbatim, else ours."""
    quote_status: QuoteStatus
    form: Form
    property: str
    """`PRP-…@n`, the property φ with its class, range and direction."""
    direction: Direction
    model: ModelRef
    card: str | None = None
    """`CRD-…@n`; None for a claim that is known from elsewhere."""
    anchor: Anchor | None = None
    """Where the quote is; never None for a verbatim quote with a card."""
    relation: Relation | None = None
    """Given exactly for thresholds and bounds."""
    theta: float | None = None
    """Threshold or bound; None for other forms, and for a threshold that is not published."""
    reported: Reported | None = None
    scoring: str | None = None
    """`SCF-…@n`, the scoring function."""
    test_context: str | None = None
    """`CTX-…@n`, P_test."""
    deploy_contexts: tuple[str, ...] = ()
    """`CTX-…@n`, the specifications of P_deploy, in order."""
    evaluation: str | None = None
    """The evaluation the figure comes from, in words."""
    grader: str | None = None
    """Who or what scored the responses, in words."""
    elicitation: str | None = None
    """How the model was asked, in words: attempts, prompts, tools, safeguards on or off."""
    deployment: str | None = None
    """The deployment context claimed for, in words."""
    source: str | None = None
    """Where a claim without a registered card was read."""
    note: str | None = None
    why: str | None = None
    """Why this revision was made; required from the second."""
    mismatch_reason: str | None = None
    """Why θ, relation or reported figure differ from what the words say; None where they do not."""
    origin: Origin | None = None
    """The claim of another registry's log that this one was adopted from; None for a claim of this registry."""

    def __post_init__(self) -> None:
        check_form(self.form, self.relation, self.theta)
        if self.revision > 1 and not (self.why and self.why.strip()):
            raise ValueError("a revision after the first needs its reason (why)")

    @builtins.property
    def reference(self) -> str:
        """Identifier and revision, `CLM-…@n`."""
        return f"{self.claim}@{self.revision}"


def find_spoken_of(history: Sequence[ClaimRevision]) -> ModelRef | None:
    """Return the model version that the words of the last revision are about, where it was applied to another; None where it was not.

    Words belong to the version under which they were first quoted from their card.

    Args:
        history: all revisions of one claim, in order.
    """
    current = history[-1]
    # The first revision with the present words of the present card. Its model is the one that the
    # words are about.
    first = next(
        revision
        for revision in history
        if (revision.card or revision.source, revision.quote) == (current.card or current.source, current.quote)
    )
    return None if first.model == current.model else first.model


def check_form(form: Form, relation: Relation | None, theta: float | None) -> None:
    """Raise ValueError unless form, relation and θ go together (method section 2)."""
    # Existence and prevalence claims have no side to fail on. A bound without a relation could be
    # read either way.
    needs_relation = form in (Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND)
    if needs_relation and relation is None:
        raise ValueError("a threshold needs its relation, <= or >=")
    if relation is not None and not needs_relation:
        raise ValueError(f"a relation belongs to thresholds and bounds, not to {form.value}")
    if form is Form.UPPER_BOUND and relation is not Relation.AT_MOST:
        raise ValueError("an upper bound has the relation <=")
    if form is Form.LOWER_BOUND and relation is not Relation.AT_LEAST:
        raise ValueError("a lower bound has the relation >=")
    if theta is not None and not needs_relation:
        raise ValueError(f"theta belongs to thresholds and bounds, not to {form.value}")


class ClaimEventKind(StrEnum):
    """What may happen to a claim as a whole."""

    RESERVE = "reserve"
    PUBLISH = "publish"
    SUPERSEDE = "supersede"
    WITHDRAW = "withdraw"
    REJECT = "reject"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimEvent(Payload):
    """A step in the life of a claim."""

    KIND = "claim_event"
    claim: str
    event: ClaimEventKind
    successor: str | None = None
    """The claim that takes its place; given exactly for `supersede`."""
    reason: str | None = None
    """Required for supersede, withdraw and reject."""

    def __post_init__(self) -> None:
        if (self.event is ClaimEventKind.SUPERSEDE) != (self.successor is not None):
            raise ValueError("a successor belongs to supersede, and only to it")
        # An end cannot be undone, so its reason must be recorded.
        ends = self.event in (ClaimEventKind.SUPERSEDE, ClaimEventKind.WITHDRAW, ClaimEventKind.REJECT)
        if ends and not (self.reason and self.reason.strip()):
            raise ValueError(f"{self.event.value} needs a reason")


class ClaimRelationKind(StrEnum):
    """How two claims belong together."""

    ALIAS = "alias"
    RELATED = "related"
    SPLITS = "splits"
    MERGES = "merges"
    RESTATES = "restates"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRelation(Payload):
    """One claim's relation to another."""

    KIND = "claim_relation"
    claim: str
    relation: ClaimRelationKind
    other: str
    note: str | None = None

    def __post_init__(self) -> None:
        if self.claim == self.other:
            raise ValueError("a claim cannot be related to itself")
