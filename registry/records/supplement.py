"""What a reader gets: the supplement of a claim or card, its coverage and drift, and the change report."""

import builtins
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Literal

from registry.records.analysis_plan import Deviation, Exploration, Lock
from registry.records.audit_case import Access, AccessLevel, Audit, AuditWithdrawal, EvidenceLayer, EvidenceStatement, Independence, Result
from registry.records.claim import ClaimEvent, ClaimRelation, ClaimRevision, Form, QuoteStatus, Relation
from registry.records.claim_status import Family, Opposition, Staleness, StalenessReview, Status
from registry.records.dossier import EntrySupersession, Inclusion, MonitorFile, ObjectionFile, Recorded
from registry.records.estimates import BoundedEstimate, Differential, Estimate, SpecEstimate
from registry.records.model_version import ModelEndpoint, ModelEvent, ModelRef, ModelVersion
from registry.records.module_findings import Finding, find_invariance
from registry.records.record import AuthorityRole, Record
from registry.records.replay_run import ModelIdentity, Provenance, Run, RunEnd, RunStart
from registry.records.specification import PropertySpec, Reveal, SpecOpening, SpecVersion
from registry.records.statement import Entry
from registry.records.system_card import Omission, PassageMatch
from registry.records.verdict import (
    ChecklistItem,
    ClaimClass,
    Completeness,
    Mode,
    Restriction,
    RestrictionStatus,
    Standing,
    Verdict,
    VerdictStanding,
)

# Coverage: how far the claims of a card are known, section by section.


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageCounts(Record):
    """Outcome of the passages of one section, or of all."""

    proposed: int | None
    """Passages that an engine proposed; None when no survey of this card revision is recorded."""
    registered: int
    """Claim families, also those that were superseded, withdrawn or rejected since: their passages have been decided on."""
    audited: int
    """Families with an outcome."""
    restricted: int
    """Families whose gravest outcome narrows or suspends the claim, or does not support it."""
    excluded: int
    """Passages left out on purpose."""
    unreviewed: int | None
    """Proposed passages that overlap neither a registered claim nor a passage left out; None without a survey."""
    undetermined: int | None = None
    """Families whose gravest outcome resolves nothing, or existence alone; they are audited and not restricted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionCoverage(Record):
    """One section of the card."""

    title: str | None
    """None for what stands above the first heading, for the pages of a card without headings, and for claims without a place."""
    page: int | None
    """On which the section begins; None for a card without pages."""
    counts: PassageCounts
    is_placed: bool = True
    """False for the claims that have no place in this revision of the card: paraphrases, and passages not found in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreviewedPassage(Record):
    """A passage that was proposed, and that has not been reviewed since."""

    start: int
    stop: int
    page: int | None
    section: str | None
    quote: str
    readable: str | None = None
    """The quote as a person reads it; None where its card was not read for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage(Record):
    """What of a card revision was proposed, registered, audited, restricted, and deliberately left out."""

    surveyed_by: tuple[str, ...]
    """The engines whose surveys are recorded, in order; empty if none is recorded."""
    total: PassageCounts
    sections: tuple[SectionCoverage, ...]
    """In the order of the card; sections of which nothing is known at all are left out."""
    silent_sections: int
    """How many sections were left out of `sections`."""
    omissions: tuple[Recorded[Omission], ...]
    """In the order of the card."""
    unreviewed: tuple[UnreviewedPassage, ...]
    """In the order of the card."""
    omitted: tuple[str, ...] = ()
    """The quotes of `omissions` as a person reads them, in the same order; empty where the card was not read for that."""
    erased: tuple[Entry, ...] = ()
    """Surveys and omissions of the card, in any of its revisions, whose text was erased: what they said is not counted."""

    @property
    def has_headings(self) -> bool:
        """Whether a section listed here has a heading; if not, its sections are pages."""
        return any(section.title is not None for section in self.sections)


# One claim over model versions: the outcome for each version, and the change from one to the next.


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
    phi_test: BoundedEstimate
    phi_deploy: BoundedEstimate
    ed: Differential
    finding: Entry | None
    """The finding that compared the scores task by task; None where the numbers are only of the two recorded estimates."""
    judge: str | None = None
    """The judge that scored, where several judges scored the responses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift(Record):
    """A claim over its revisions, in order."""

    schema: Literal["caveat/drift/1"] = "caveat/drift/1"
    claim: str
    """`CLM-…`."""
    points: tuple[VersionPoint, ...]
    steps: tuple[DriftStep, ...]
    """Between each point with an estimate and the next one with one, for each specification of P_deploy that both have."""


# The supplement of one claim, or of all claims of a card: everything that a template needs, from
# records, unrounded.
#
# Every recorded part keeps the log entry that recorded it, so any number leads to its record in two
# steps.


class Section(StrEnum):
    """The sections of a claim supplement, in order. One without content becomes a row of *not done*."""

    ESTIMATES = "estimates"
    READINGS = "readings"
    CONTEXTS = "contexts"
    NATURALNESS = "naturalness"
    ABLATION = "ablation"
    LAYERS = "layers"
    JUDGE = "judge"
    CONTROLS = "controls"
    EXCLUSIONS = "exclusions"
    PREREGISTRATION = "preregistration"
    EXPLORATIONS = "explorations"
    VERSIONS = "versions"
    HISTORY = "history"
    CHECKLIST = "checklist"
    FORMS = "forms"
    SPECIFICATION = "specification"
    PROVENANCE = "provenance"
    NOT_DONE = "not-done"
    VERIFICATION = "verification"
    APPENDIX = "appendix"


class SpecRole(StrEnum):
    """What a specification is to the claim."""

    PROPERTY = "property"
    SCORING = "scoring"
    TEST = "test"
    DEPLOY = "deploy"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class SupplementParty(Record):
    """An authority named in a supplement."""

    code: str
    name: str | None
    """None when the registry has no record of the code."""
    role: AuthorityRole | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusReason(Record):
    """One sentence of page one that says why, and where you find more."""

    text: str
    section: Section


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceCard(Record):
    """The card revision that is quoted."""

    card: str
    """`CRD-…`."""
    revision: int
    title: str
    publisher: str
    document: str
    """SHA-256 of the file, hexadecimal."""
    published: date | None
    url: str | None
    entry: Entry
    newer: int | None
    """The latest revision of the card, when it is not this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecPart(Record):
    """A specification that the claim refers to, with its owner and what was said against it."""

    role: SpecRole
    reference: str
    """`CTX-…@n` and the like."""
    owner: SupplementParty | None
    """None when the registry does not know the specification."""
    version: Recorded[SpecVersion] | None
    newer: int | None
    """The latest version, when it is not this one."""
    objections: tuple[ObjectionFile, ...]
    reveal: Recorded[Reveal] | None = None
    """Of a sealed one that was revealed since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerState(Record):
    """Whether an evidence layer was looked at, as `registry.report.minimum_reporting` derives it."""

    layer: EvidenceLayer
    access: Access | None
    """`available` where the audit did the work itself, else the best that is stated; None where nothing is."""
    levels: tuple[AccessLevel, ...] = ()
    """What it took to look; empty where that is not stated."""
    work: tuple[str, ...] = ()
    """What the audit itself did, in words that follow "the audit itself"."""
    contradiction: str | None = None
    """What a statement on the layer says against `work`, in words; None where nothing does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerPart(Record):
    """One evidence layer and everything the audit says of it."""

    layer: EvidenceLayer
    state: LayerState
    items: tuple[Recorded[EvidenceStatement], ...]

    @property
    def access(self) -> Access | None:
        """None where nothing is stated of the layer, and nothing was done."""
        return self.state.access


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingPart(Record):
    """A part of the protocol for which the registry holds nothing."""

    section: Section
    consequence: str
    """What a reader must not conclude, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPart(Record):
    """The audit that leads: the latest with an outcome, or the latest opened when none has one."""

    opening: Recorded[Audit]
    auditor: SupplementParty
    lock: Recorded[Lock] | None
    """None for a retrospective audit."""
    runs: tuple[Recorded[Run], ...]
    result: Recorded[Result] | None
    """The result the outcome rests on; None for a retrospective audit."""
    outcome: Recorded[Restriction] | None
    """None while the audit is open."""
    findings: tuple[Recorded[Finding], ...] = ()
    """What the modules of the protocol found, in log order."""
    starts: tuple[Recorded[RunStart], ...] = ()
    """Runs that were entered in the log before their first call, in log order."""
    ends: tuple[Recorded[RunEnd], ...] = ()
    deviations: tuple[Recorded[Deviation], ...] = ()
    """What was not done as locked, in log order."""
    explorations: tuple[Recorded[Exploration], ...] = ()
    """Analyses that no verdict rests on, in log order."""
    is_expired: bool = False
    """Whether the last day of its outcome was over on the day of this document: the verdict is then provisional at most."""
    opposed: Opposition | None = None
    """The outcome of an audit that disagrees with this one's, or was withdrawn: the verdict is provisional at most. None without one."""
    withdrawn: Recorded[AuditWithdrawal] | None = None
    asked_now: ModelIdentity | None = None
    """Who was asked, by the endpoint names in force at `log_size`; the record of the outcome is in it. None without scores."""

    @property
    def is_lowered(self) -> bool:
        """Whether its verdict is provisional at most on the day of this document, whatever was recorded."""
        return self.is_expired or self.opposed is not None

    @property
    def checked_invariance(self) -> bool | None:
        """Whether the scorer is invariant, as checks on record found it; None without one that decides for the scores of the outcome."""
        scores = self.runs[-1].payload.scores if self.runs else None if self.outcome is None else self.outcome.payload.scores
        return find_invariance((finding.payload.body for finding in self.findings), scores=scores)

    @property
    def origin(self) -> Provenance | None:
        """Where the scores came from: of the latest run, or as stated with scores that no lock preceded; None without scores."""
        if self.runs:
            return self.runs[-1].payload.provenance
        return None if self.outcome is None else self.outcome.payload.provenance

    @property
    def estimate(self) -> Estimate | None:
        """The estimate the outcome rests on; None when there is none."""
        if self.result is not None:
            return self.result.payload.estimate
        return None if self.outcome is None else self.outcome.payload.estimate

    @property
    def estimate_entry(self) -> Entry | None:
        """The log entry that holds `estimate`."""
        if self.result is not None:
            return self.result.entry
        return None if self.estimate is None or self.outcome is None else self.outcome.entry


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSummary(Record):
    """An outcome that does not lead: another audit, or an earlier outcome of the leading one."""

    audit: str
    claim: str
    """The revision it audited, `CLM-…@n`."""
    auditor: SupplementParty
    independence: Independence
    entry: Entry
    """Of the outcome, or of the opening when there is no outcome."""
    class_: ClaimClass | None
    """None while the audit is open."""
    standing: Standing | None
    mode: Mode | None
    point_class: ClaimClass | None
    verdict: str | None
    estimate: SpecEstimate | None
    """Against the first specification of P_deploy, so that two audits can be compared; None without one."""
    objection: str | None = None
    """`CON-…` with the rival it was made under; None for audits of the specification in force."""
    locked: Entry | None = None
    """Of its lock; None for an audit without one."""
    withdrawn: Recorded[AuditWithdrawal] | None = None
    is_replaced: bool = False
    """Whether the leading audit fixes the same plan and, in addition, endpoint names; no run under this lock is recorded."""
    deviations: int
    """How many things were not done as locked."""
    unexplained: int
    """How many of `deviations` are not explained."""
    model: ModelRef | None = None
    """The version that the revision it audited is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreeFigures(Record):
    """Card, replicated evaluation and deployment as they are printed, in one unit and with intervals."""

    card: str | None
    """None where the card gives no figure of the claim's model version."""
    evaluation: str | None
    """None without a replay."""
    deployment: tuple[str, ...] = ()
    """For each specification of P_deploy; empty without a replay."""
    excluded: int = 0
    """Specifications that are not listed here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplement(Record):
    """One claim as a reader sees it, as of log entry `log_size`."""

    schema: Literal["caveat/supplement/1"] = "caveat/supplement/1"
    identifier: str
    """`CLM-…@n#digest`: the exact content of the claim revision."""
    made_at: datetime
    """The date that is printed, in UTC."""
    log_origin: str
    log_size: int
    claim: Recorded[ClaimRevision]
    readable: str | None = None
    """The cells of a quoted row of a table, each under the head of its column; None for other quotations."""
    claimant: SupplementParty
    """Who registered the claim."""
    status: Status
    verdict: str
    """The outcome in one sentence."""
    figures: ThreeFigures | None = None
    """None where neither card nor replay gives a figure."""
    reasons: tuple[StatusReason, ...]
    """Why the status is what it is, at most five: why nothing is resolved, staleness, disputes. Empty where the verdict says it all."""
    limits: tuple[StatusReason, ...] = ()
    """What limits the outcome, the most harmful first."""
    account: str = ""
    """What was done, in one line: lock, date, sizes, model asked, objections, and whether it is current."""
    property: PropertySpec | None
    """None when the property is sealed or unknown to the registry."""
    card: SourceCard | None
    specs: tuple[SpecPart, ...]
    layers: tuple[LayerPart, ...]
    """Always all four."""
    audit: AuditPart | None
    """None for a claim that has not been audited."""
    checklist: tuple[ChecklistItem, ...]
    """Minimum reporting as of `log_size`; empty without an outcome."""
    not_made: tuple[MissingPart, ...]
    objections: tuple[ObjectionFile, ...]
    """Those that target the claim itself."""
    history: tuple[Recorded[ClaimRevision], ...]
    """Every revision, in order."""
    events: tuple[Recorded[ClaimEvent], ...]
    relations: tuple[Recorded[ClaimRelation], ...]
    other_audits: tuple[AuditSummary, ...]
    other_findings: tuple[Recorded[Finding], ...] = ()
    """What modules found in other audits of the same revision, in log order."""
    other_explorations: tuple[Recorded[Exploration], ...] = ()
    """Analyses in other audits of the same revision that no verdict rests on, in log order."""
    completeness: tuple[Completeness, ...] = ()
    """What the claim says of how its figure came about: all seven items, in order."""
    passage_matches: tuple[Recorded[PassageMatch], ...] = ()
    """Where the passage of this revision is in other revisions of the card, in log order."""
    inclusion: Inclusion | None = None
    """The proof that every entry named here is in the log at `log_size`."""
    openings: tuple[SpecOpening, ...] = ()
    """Of a confidential rendering: bodies of sealed specifications. The public one is the same record without them."""
    reviews: tuple[Recorded[StalenessReview], ...] = ()
    """What people decided of changes that the claim may not have survived, in log order."""
    model_events: tuple[Recorded[ModelEvent], ...] = ()
    """Of the lineage of the models that the claim's revisions are about, in log order."""
    monitors: tuple[MonitorFile, ...] = ()
    """Monitors of the claim after release, in log order."""
    model_endpoints: tuple[Recorded[ModelEndpoint], ...] = ()
    """Statements about the endpoint names that show who was asked, in log order."""
    models: tuple[Recorded[ModelVersion], ...] = ()
    """The claim's model version and those that follow it, as they were registered; without those that are not registered."""
    cause_entries: tuple[Entry, ...] = ()
    """Those that `status.causes` number, in log order, so that they are proven too."""
    drift: Drift | None = None
    """The claim over its revisions; None where it has only one."""
    superseded: EntrySupersession | None = None
    """Of a rendering of an earlier state; the record digest is that of the record without it, as with `openings`."""

    forms: tuple[str, ...] = ()
    """Reporting forms that this rendering prints, by name; the record digest is that of the record without them, as with `openings`."""
    family: Family = Family()
    """The claims on the same words about the same property and model version, with the outcomes of all."""
    family_entries: tuple[Entry, ...] = ()
    """Those of this registry's log that recorded the outcomes of `family`, in log order, so that they are proven too."""

    def __post_init__(self) -> None:
        if tuple(part.layer for part in self.layers) != tuple(EvidenceLayer):
            raise ValueError("a supplement states all four evidence layers, in order")
        if len(self.reasons) > 5:
            raise ValueError("page one gives at most five reasons")

    @builtins.property
    def original(self) -> str:
        """The claim as made."""
        return self.claim.payload.quote

    @builtins.property
    def attributed(self) -> str:
        """The claim as others may attribute it: a paraphrase is in the registrant's words, and says so."""
        is_paraphrase = self.claim.payload.quote_status is QuoteStatus.PARAPHRASE
        return f"Paraphrase: {self.original}" if is_paraphrase else self.original

    @builtins.property
    def outcome(self) -> Restriction | None:
        """The leading outcome; None for a claim without one."""
        if self.audit is None or self.audit.outcome is None:
            return None
        return self.audit.outcome.payload


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow(Record):
    """One claim in the table of a card supplement."""

    identifier: str
    page: int | None
    section: str | None
    quote: str
    quote_status: QuoteStatus
    form: Form
    theta: float | None
    restriction: RestrictionStatus
    status: Status
    class_: ClaimClass | None
    """Of an outcome of this revision itself; None without one. What its family came to stands in `status.gravest`."""
    standing: Standing | None
    mode: Mode | None
    point_class: ClaimClass | None
    """Class of the point estimate where the interval does not settle it; None otherwise."""
    verdict: str | None
    auditor: SupplementParty | None
    estimate: SpecEstimate | None
    """Against the first specification of P_deploy; None without an estimate."""
    specs: int
    """How many specifications of P_deploy the estimate has."""
    figures: ThreeFigures | None = None
    """None where neither card nor replay gives a figure."""
    verdict_words: str | None = None
    """The verdict with its standing, such as `contradicted, established`; None for a claim without an outcome."""
    audits: int
    completeness: tuple[Completeness, ...] = ()
    """All seven items, in order."""
    property: str | None = None
    """Name of the property; None when it is sealed or unknown to the registry."""
    model: str | None = None
    """Name and version of the model."""
    relation: Relation | None = None
    """Of a threshold or bound."""
    reported: float | None = None
    """The card's figure, in the unit of the property's range; None without one."""
    range: tuple[float, float] | None = None
    """Of the property's scores; None where it is not known to the registry."""
    spoken_of: str | None = None
    """The version that quote and figure are of, as it is printed, where the claim was carried to another; None where it was not."""
    objections: tuple[str, ...] = ()
    """`CON-…`, of the claim or of a specification that it rests on, in log order; they stand in `CardSupplement.objections`."""
    readable: str | None = None
    """The quote as a person reads it: hyphens at line ends closed, markup taken out; None where its card was not read for that."""
    claim_entry: Entry | None = None
    """Of the claim revision."""
    outcome_entry: Entry | None = None
    """Of the outcome; None without one."""
    is_locked: bool | None = None
    """Whether the outcome is of a replay that follows its locked plan; None without an outcome."""
    independence: Independence | None = None
    """Of its auditor; None without an outcome."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSupplement(Record):
    """Every registered claim of one card revision: what was audited, its outcome, and what was not reviewed."""

    schema: Literal["caveat/card-supplement/1"] = "caveat/card-supplement/1"
    identifier: str
    """`CRD-…@n#digest`."""
    made_at: datetime
    log_origin: str
    log_size: int
    card: SourceCard
    pages: int
    """Number of pages in the card."""
    claims: tuple[ClaimRow, ...]
    """In the order of the card; claims without a place last."""
    reserved: tuple[str, ...]
    """Identifiers that are reserved for this card and have no text yet."""
    coverage: Coverage | None = None
    """What of the card was proposed, registered, audited and left out, by section."""
    erased: tuple[str, ...] = ()
    """Claims that are not shown, because the text of a statement that they rest on was erased."""
    inclusion: Inclusion | None = None
    """As in `Supplement`."""
    superseded: EntrySupersession | None = None
    """As in `Supplement`."""
    cause_entries: tuple[Entry, ...] = ()
    """Those that the causes of the claims number, in log order."""
    objections: tuple[ObjectionFile, ...] = ()
    """Each that concerns a claim of the card, once, in log order."""
    family_entries: tuple[Entry, ...] = ()
    """Those that recorded the outcomes which `ClaimRow.status` names, in log order."""

    @property
    def unaudited(self) -> tuple[ClaimRow, ...]:
        """The claims with no outcome in their family."""
        return tuple(row for row in self.claims if row.restriction is RestrictionStatus.UNAUDITED)

    @property
    def stale(self) -> tuple[ClaimRow, ...]:
        """The claims that a person confirmed to be stale."""
        return tuple(row for row in self.claims if row.status.staleness is Staleness.STALE)

    @property
    def needs_review(self) -> tuple[ClaimRow, ...]:
        """The claims that may be stale, and that have not been reviewed."""
        return tuple(row for row in self.claims if row.status.staleness is Staleness.NEEDS_REVIEW)

    @property
    def pages_with_claims(self) -> tuple[int, ...]:
        """The pages on which at least one registered claim is, ascending."""
        return tuple(sorted({row.page for row in self.claims if row.page is not None}))


# The change report: what changed in a registry from one log entry to another. It is not about one
# claim or card, so it is signed, but not recorded as a publication, which needs an identifier
# (decision of 2026-11-22). The cost: a card revision that affects no claim is not reported.


class OccasionKind(StrEnum):
    """What set a change off."""

    MODEL = "model"
    CARD = "card"
    SPEC = "spec"
    METHOD = "method"
    AUDIT = "audit"
    OBJECTION = "objection"
    CLAIM = "claim"
    REVIEW = "review"


@dataclass(frozen=True, slots=True, kw_only=True)
class Occasion(Record):
    """One thing that happened in between, in a sentence."""

    kind: OccasionKind
    text: str
    entry: Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimState(Record):
    """A claim as it stood at one moment."""

    identifier: str
    """`CLM-…@n#digest`; `CLM-…@n` is also the name of its supplement's files."""
    claim_entry: Entry
    model: ModelRef
    quote: str
    quote_status: QuoteStatus
    form: Form
    relation: Relation | None
    """Of a threshold or bound."""
    card: str | None
    """`CRD-…@n` that is quoted."""
    status: Status
    class_: ClaimClass | None
    """None without an outcome, and then so is all that follows."""
    standing: Standing | None
    mode: Mode | None
    point_class: ClaimClass | None
    verdict: str | None
    restricted: str | None
    """The restricted claim."""
    audit: str | None
    """`AUD-…`."""
    outcome_entry: Entry | None
    estimate: SpecEstimate | None
    """Against the first specification of P_deploy, without its numbers task by task; None without one."""
    specs: int = 0
    """How many specifications of P_deploy the estimate has."""
    theta: float | None = None
    level: float | None = None
    """Of the intervals; None without an estimate, as the next two."""
    margin: float | None = None
    range: tuple[float, float] | None = None
    """Lowest and highest possible score."""
    outcome: Verdict | None = None
    """The verdict of that outcome, of which `verdict` is the sentence; None without one."""
    outcome_standing: VerdictStanding | None = None
    """How firm it is; None where it can only be open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimChange(Record):
    """One claim before and after."""

    claim: str
    """`CLM-…`."""
    before: ClaimState | None
    """None for a claim that was not registered then."""
    after: ClaimState
    why: tuple[str, ...]
    """At least one sentence: what set it off, most important first."""
    entries: tuple[Entry, ...]
    """Entries in between that concern the claim, in log order."""
    steps: tuple[DriftStep, ...]
    """How far the numbers moved; empty where one side has no estimate, or both have the same."""
    newly_inverted: bool
    """Whether it is inverted now, and was not before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeReport(Record):
    """What changed from entry `since` to entry `log_size`, claim by claim."""

    schema: Literal["caveat/change-report/1"] = "caveat/change-report/1"
    identifier: str
    """As `name_report` has it, also the name of its files."""
    made_at: datetime
    log_origin: str
    since: int
    """The registry as of this entry is the state before; 0 for an empty one."""
    since_at: datetime | None
    """Time of that entry; None for 0."""
    log_size: int
    scope: str | None
    """What it is limited to, in words; None for the whole registry."""
    occasions: tuple[Occasion, ...]
    """In log order."""
    changes: tuple[ClaimChange, ...]
    """Newly inverted first, then other changes of verdict, then of its standing or TRACE label, then model, status or text, then the rest,
    each by identifier.
    """
    unchanged: int
    """Claims in scope that did not change."""
    claims: tuple[str, ...] | None = None
    """The claims it is limited to, `CLM-…`, ascending; None for every claim of the registry."""
    erased: tuple[str, ...] = ()
    """Claims in scope that changed and are not shown, because the text of a statement that they rest on was erased."""
    inclusion: Inclusion | None = None
    """The proof that every entry named here is in the log at `log_size`."""

    def __post_init__(self) -> None:
        if not 0 <= self.since <= self.log_size:
            raise ValueError(f"it compares from entry {self.since} to entry {self.log_size}")
        if self.identifier != (expected := name_report(self.since, self.log_size, self.claims)):
            raise ValueError(f"it is called {self.identifier!r}; what it says makes it {expected}")


AnySupplement = Supplement | CardSupplement | ChangeReport
"""Each of the three documents that are drawn."""


def name_report(since: int, log_size: int, claims: Sequence[str] | None) -> str:
    """Return what a change report is called: `changes-SINCE-SIZE`, and for some claims only a digest of their names after that."""
    name = f"changes-{since}-{log_size}"
    return name if claims is None else f"{name}-{hashlib.sha256(' '.join(claims).encode()).hexdigest()[:8]}"
