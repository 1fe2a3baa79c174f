"""What exists before anything is registered: proposed claims, the claims file and the audit file."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from registry.records.analysis_plan import Plan
from registry.records.audit_case import Deployment, Evidence, EvidenceLayer, Independence, Scoring
from registry.records.claim import Direction, Form, QuoteStatus, Relation, Reported
from registry.records.model_version import ModelRef
from registry.records.record import Record
from registry.records.replay_run import Provenance
from registry.records.specification import ContextSpec, PropertySpec, ScoringSpec
from registry.records.system_card import Anchor, PassageKind
from registry.records.verdict import Completeness

# Claims proposed from a card's text. A person accepts, changes, splits or excludes them; nothing
# here is registered.


class Engine(StrEnum):
    """What proposes."""

    RULES = "rules"
    """Rules over the text; offline, the same on every machine."""
    CLAUDE = "claude"
    """Claude, asked for the fields of passages; each of its words is found again in the card."""
    LOCAL = "local"
    """A model behind a chat endpoint, asked the same questions."""


class Confidence(StrEnum):
    """How sure the engine is that the passage makes this claim. An order, not a probability."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldEvidence(Record):
    """The words that one field of a proposal was read from."""

    field: str
    """"model", "version", "figure", "form", "property", "direction", "evaluation", "grader" or "elicitation"."""
    words: str
    """As the card has them."""
    place: str
    """What holds them, such as "sentence", "column head", "row label", "caption", "heading", "sentence above"."""
    certainty: float
    """Between 0 and 1, calibrated on committed examples."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonNote(Record):
    """A figure that the passage gives for something else than the claim's model."""

    subject: str
    """As the card names it: another model, a human baseline, another condition."""
    value: float | None
    """In the unit of the claim's range; None where only the words are given ("lower than")."""
    words: str
    """As written, such as "2% of the time"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwarenessNote(Record):
    """A statement nearby that the model recognised the evaluation, or may have."""

    quote: str
    """As the card has it."""
    start: int
    """First character in the card's text."""
    stop: int
    layer: EvidenceLayer | None
    """The evidence layer it speaks of; None where it does not say how it is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestatedFigure(Record):
    """A registered claim about the same quantity with another number."""

    claim: str
    """`CLM-…@n`."""
    value: float
    """The figure there, in the unit of its range."""
    why: str
    """What makes it the same quantity, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(Record):
    """One claim that a passage seems to make."""

    quote: str
    """The passage, as the card has it; never anything else."""
    anchor: Anchor
    passage: PassageKind
    form: Form
    relation: Relation | None
    """Given exactly for thresholds and bounds."""
    theta: float | None
    """In the unit of the property's range; None for other forms, for a threshold that is not published, and for one that is relative."""
    reported: Reported | None
    """The figure, in the unit of the property's range (a share, where the card writes per cent); None without one."""
    written: str | None
    """The figure or bound as the card writes it, such as "<4%", "15/32", "161.29 AECI"; None without one."""
    property: PropertySpec
    slug: str
    """Short name of the property; equal properties have equal names."""
    model: str | None
    """What the claim is about, as the card names it; None where the passage and its surroundings do not say."""
    version: str | None
    """The snapshot or date that the card states for it; None where it does not."""
    evaluation: str | None
    grader: str | None = None
    elicitation: str | None = None
    relative_to: str | None = None
    """What the bound is relative to ("half of Claude Haiku 3.5's rate"); None for an absolute one."""
    comparisons: tuple[ComparisonNote, ...] = ()
    awareness: tuple[AwarenessNote, ...] = ()
    """In the order of the card, those of the same section."""
    completeness: tuple[Completeness, ...] = ()
    """All seven items, in their order."""
    restates: tuple[RestatedFigure, ...] = ()
    confidence: Confidence = Confidence.LOW
    """From the evidence of the fields: high only where form, model, property and direction are all evident."""
    evidence: tuple[FieldEvidence, ...] = ()
    """A field without evidence is empty."""
    is_own: bool | None = None
    """Whether the subject is a model the card is about; None where the card leaves it open."""
    is_limit: bool = False
    """Whether it is a limit or risk in words, which says what a model may do and not how often."""
    unknown: tuple[str, ...] = ()
    """Fields that the record requires and the card does not show: "direction". The property then says "not a safety property"."""
    table: str | None = None
    """Names the table of capabilities in which the row is; its rows fold into one proposal. None for everything else."""
    notes: tuple[str, ...] = ()
    """What a person should look at before accepting it, in sentences: hedges, a direction that may surprise, a unit that was guessed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RejectedOffer(Record):
    """Something an engine offered that was not taken."""

    quote: str
    """As the engine gave it, cut at 300 characters."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnexplainedFigure(Record):
    """A figure that looks like a result, is in no proposal, and was left out without a reason."""

    written: str
    page: int | None
    """From 1; None for media without pages."""
    line: int
    """Line of the card's text on which its passage begins, from 1."""
    words: str
    """The beginning of its passage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureAccount(Record):
    """All figures of a card that look like results, by what an engine made of them."""

    figures: int
    proposed: int
    """Those in the passage of a proposal, or in its cell of a row."""
    own_models: tuple[str, ...]
    """Names taken for the card's own models; empty where the card does not say which one it is about."""
    other_models: dict[str, int]
    """Figures taken for those of other models, by name, the most frequent first."""
    explained: dict[str, int]
    """Figures left out for a reason, by reason."""
    unexplained: tuple[UnexplainedFigure, ...]
    """In the order of the card."""
    indexed: int = 0
    """Figures in the model-index of the front matter, which are not read from the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals(Record):
    """What one engine proposed from one card."""

    card: str | None
    """`CRD-…@n`; None for a file that is not registered."""
    document: str
    """SHA-256 of the file, hexadecimal."""
    title: str
    engine: Engine
    by: str
    """The engine with its version: "rules 1", or "claude" with the model that answered."""
    passages: int
    """How many passages were read."""
    proposals: tuple[Proposal, ...]
    """In the order of the card."""
    dropped: tuple[RejectedOffer, ...] = ()
    """Offered and not taken, with the reason: most often a quote that is not in the card."""
    notes: tuple[str, ...] = ()
    """What could not be read of the card, in sentences."""
    account: FigureAccount | None = None
    """Every figure of the card that looks like a result; None where they were not counted."""
    schema: Literal["caveat/proposals/1"] = "caveat/proposals/1"


# What people write to register something: the claims file and the audit file, before anything is
# recorded.


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimDraft(Record):
    """One claim as a person writes it. `property`, `scoring` and the contexts are short names from the same file or the registry."""

    quote: str
    form: Form
    property: str
    """Short name of a property defined in the file or registered, or an identifier `PRP-…@n`."""
    id: str | None = None
    """`CLM-…` to revise or to fill a reserved identifier; None to register by content."""
    quote_status: QuoteStatus = QuoteStatus.VERBATIM
    card: str | None = None
    """`CRD-…`; None means the file's."""
    page: int | None = None
    """Page on which the quote begins, from 1."""
    relation: Relation | None = None
    """Required for thresholds; bounds imply theirs."""
    theta: float | None = None
    """Threshold or bound; leave it out when it is not published."""
    reported: float | Reported | None = None
    """The card's figure, in the unit of the property's range (9 % is 0.09 on [0, 1])."""
    direction: Direction | None = None
    """None means the property's."""
    scoring: str | None = None
    test_context: str | None = None
    deploy_contexts: tuple[str, ...] = ()
    model: ModelRef | None = None
    """None means the file's."""
    evaluation: str | None = None
    grader: str | None = None
    """Who or what scored the responses, in words."""
    elicitation: str | None = None
    """How the model was asked, in words."""
    deployment: str | None = None
    source: str | None = None
    """Where the claim was read, when no card is registered."""
    note: str | None = None
    restates: tuple[str, ...] = ()
    """`CLM-…`, claims about the same quantity that give another number; recorded as relations."""
    why: str | None = None
    """Why a registered claim is changed; required exactly then."""
    reason: str | None = None
    """Why θ, relation or the reported figure differ from what the words say; required exactly then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OmissionDraft(Record):
    """A passage of the card that is deliberately not registered as a claim."""

    quote: str
    reason: str
    page: int | None = None
    """Page on which the quote begins, from 1."""
    card: str | None = None
    """`CRD-…`; None means the file's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyDraft(Record):
    """Which passages an engine proposed; written by `caveat claim propose`, so that coverage knows what is undecided."""

    by: str
    """The engine with its version."""
    document: str
    """SHA-256 of the card's file, hexadecimal: the positions mean nothing in another."""
    passages: tuple[tuple[int, int], ...]
    """Start and stop of each in the card's text, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsFile(Record):
    """The file that `caveat claim add` takes."""

    claims: tuple[ClaimDraft, ...]
    card: str | None = None
    """`CRD-…`, the card that all claims without one of their own quote."""
    model: ModelRef | None = None
    """The model version that all claims without one of their own are about."""
    properties: dict[str, PropertySpec] | None = None
    """By short name."""
    scorings: dict[str, ScoringSpec] | None = None
    test_contexts: dict[str, ContextSpec] | None = None
    deploy_contexts: dict[str, ContextSpec] | None = None
    excluded: tuple[OmissionDraft, ...] = ()
    """What of the card is deliberately not registered, with the reason; it counts in the card's coverage."""
    proposed: SurveyDraft | None = None
    schema: Literal["caveat/claims/1"] = "caveat/claims/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceDraft(Record):
    """The file that `caveat audit evidence` takes: evidence that was reported elsewhere, as in an audit file."""

    evidence: tuple[Evidence, ...]
    schema: Literal["caveat/evidence/1"] = "caveat/evidence/1"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditDraft(Record):
    """The file that `caveat audit lock` and `caveat audit conclude` take."""

    claim: str
    """`CLM-…` or `CLM-…@n`; without a revision, the latest."""
    independence: Independence
    question: str | None = None
    deployment: Deployment = Deployment()
    scoring: Scoring = Scoring()
    evidence: tuple[Evidence, ...] = ()
    plan: Plan = Plan()
    deploy_specs: tuple[str, ...] = ("default",)
    """Names of the P_deploy specifications as they are in the score table."""
    exclusion_rules: str | None = None
    stopping_rule: str | None = None
    budget: str | None = None
    provenance: Provenance = Provenance()
    note: str | None = None
    test_contexts: str | None = None
    """P_test as registered: an identifier or a short name. None: the claim's own, if it names one."""
    deploy_contexts: dict[str, str] | None = None
    """By the name in the score table, the P_deploy specification as registered. None: not registered."""
    scored_by: str | None = None
    """The scoring function as registered. None: the claim's own, if it names one."""
    scorer: str | None = None
    """Of logs that other software makes, the scorer, metric or column with the scores to be taken. None: not fixed."""
    cues: tuple[str, ...] = ()
    """Cue inventories as registered."""
    tasks: str | None = None
    """File of task identifiers, one a line, relative to this file: what is to be replayed is then fixed. None: not fixed."""
    replay: str | None = None
    """The replay file, relative to this one: it is fixed with everything it refers to. None: runs are made elsewhere."""
    controls: tuple[str, ...] = ()
    """Files of controls, relative to this one: each is fixed, with the responses that it names."""
    model: str | None = None
    """The model version as the endpoint is to return it. None: that of the replay file, if there is one."""
    objection: str | None = None
    """`CON-…`: the objection under whose rival this audit replays."""
    renews: str | None = None
    """`AUD-…`: the audit with the locked plan that this one runs again."""
    schema: Literal["caveat/audit/1"] = "caveat/audit/1"
