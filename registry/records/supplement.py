"""What a reader is told of one claim, or of all claims of a card: everything a template needs, from records, unrounded.

Every part that was recorded keeps the log entry that recorded it, so that any number leads in two steps to its record.
"""

import builtins
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Literal

from registry.records.asked import Asked
from registry.records.audit import Audit, EvidenceStatement, Independence, Result
from registry.records.authority import Role
from registry.records.claim import ClaimEvent, ClaimRelation, ClaimRevision, Form, QuoteStatus, Relation
from registry.records.classification import ChecklistItem, ClaimClass, Mode, RestrictionStatus, Standing
from registry.records.completeness import Completeness
from registry.records.coverage import Coverage
from registry.records.deviation import Deviation, Exploration
from registry.records.disclosure import Reveal, SpecOpening
from registry.records.dossier import ContestationFile, Recorded
from registry.records.drift import Drift
from registry.records.endpoint import ModelEndpoint
from registry.records.estimate import Estimate, SpecEstimate
from registry.records.evidence import Access, AccessLevel, Layer
from registry.records.family import Family
from registry.records.finding import Finding, find_invariance
from registry.records.inclusion import Inclusion
from registry.records.model import ModelEvent, ModelRef, ModelVersion
from registry.records.plan import Lock
from registry.records.record import Record
from registry.records.restriction import Restriction
from registry.records.run_entry import RunEnd, RunStart
from registry.records.spec import PropertySpec, SpecVersion
from registry.records.staleness import StalenessReview
from registry.records.statement import Entry
from registry.records.status import Staleness, Status
from registry.records.superseded import Superseded
from registry.records.survey import Sighting
from registry.records.trial import Provenance, Run


class Section(StrEnum):
    """The numbered sections of a claim supplement, in order; all of them are always printed."""

    SPECIFICATION = "specification"
    READINGS = "readings"
    CONTEXTS = "contexts"
    ESTIMATES = "estimates"
    MULTIPLICITY = "multiplicity"
    NATURALNESS = "naturalness"
    ABLATION = "ablation"
    LAYERS = "layers"
    JUDGE = "judge"
    EXCLUSIONS = "exclusions"
    COVERAGE = "coverage"
    CHECKLIST = "checklist"
    PROVENANCE = "provenance"
    PREREGISTRATION = "preregistration"
    EXPLORATIONS = "explorations"
    RESOLUTION = "resolution"
    VERSIONS = "versions"
    HISTORY = "history"
    VERIFICATION = "verification"


class SpecRole(StrEnum):
    """What a specification is to the claim."""

    PROPERTY = "property"
    SCORING = "scoring"
    TEST = "test"
    DEPLOY = "deploy"
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Party(Record):
    """Somebody named in a supplement."""

    code: str
    name: str | None
    """None when the registry has no record of the code."""
    role: Role | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason(Record):
    """One sentence of page one that says why, and where the rest of it stands."""

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
    owner: Party | None
    """None when the registry does not know the specification."""
    version: Recorded[SpecVersion] | None
    newer: int | None
    """The latest version, when it is not this one."""
    contestations: tuple[ContestationFile, ...]
    reveal: Recorded[Reveal] | None = None
    """Of a sealed one that was shown to everybody since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerState(Record):
    """Whether an evidence layer was looked at, as `registry.report.layers` derives it."""

    layer: Layer
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

    layer: Layer
    state: LayerState
    items: tuple[Recorded[EvidenceStatement], ...]

    @property
    def access(self) -> Access | None:
        """None where nothing is stated of the layer, and nothing was done."""
        return self.state.access


@dataclass(frozen=True, slots=True, kw_only=True)
class NotMade(Record):
    """A part of the protocol for which the registry holds nothing."""

    section: Section
    consequence: str
    """What a reader must not conclude, in a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditPart(Record):
    """The audit that leads: the latest with an outcome, or the latest opened when none has one."""

    opening: Recorded[Audit]
    auditor: Party
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
    """What was done otherwise than the lock says, in log order."""
    explorations: tuple[Recorded[Exploration], ...] = ()
    """Analyses that no verdict rests on, in log order."""
    is_expired: bool = False
    """Whether the last day of its outcome was over on the day of this document: the verdict is then provisional at most."""
    asked_now: Asked | None = None
    """Who was asked, by the endpoint names in force at `log_size`; what the outcome recorded stands in it. None without scores."""

    @property
    def checked_invariance(self) -> bool | None:
        """Whether the scorer is invariant, as checks on record found it; None without one that decides for the scores of the outcome."""
        scores = self.runs[-1].payload.scores if self.runs else None if self.outcome is None else self.outcome.payload.scores
        return find_invariance((one.payload.body for one in self.findings), scores=scores)

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
    auditor: Party
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
    """Against the first specification of P_deploy, so that two audits can be set beside each other; None without one."""
    contestation: str | None = None
    """`CON-…` under whose rival it was made; None for audits of what is contested, and in supplements made before this was told."""
    locked: Entry | None = None
    """Of its lock; None for an audit without one, and in supplements made before this was told."""
    departures: int | None = None
    """How many things were done otherwise than locked; None in supplements made before this was told."""
    unexplained: int | None = None
    """How many of `departures` nobody has explained."""
    model: ModelRef | None = None
    """The version that the revision it audited is about; None in supplements made before this was told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreeFigures(Record):
    """Card, replicated evaluation and deployment as they are printed, in one unit and with intervals."""

    card: str | None
    """None where the card gives no figure of the claim's model version."""
    evaluation: str | None
    """None without a replay."""
    deployment: tuple[str, ...] = ()
    """For each specification of P_deploy; empty without a replay."""
    left_out: int = 0
    """Specifications that are not listed here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Supplement(Record):
    """One claim as a reader is told of it, as of log entry `log_size`."""

    schema: Literal["caveat/supplement/1"] = "caveat/supplement/1"
    identifier: str
    """`CLM-…@n#digest`: the exact content of the claim revision."""
    made_at: datetime
    """The date that is printed, in UTC."""
    log_origin: str
    log_size: int
    claim: Recorded[ClaimRevision]
    claimant: Party
    """Who registered the claim."""
    status: Status
    verdict: str
    """The outcome in one sentence."""
    figures: ThreeFigures | None = None
    """None where neither card nor replay gives a figure."""
    reasons: tuple[Reason, ...]
    """At most five."""
    property: PropertySpec | None
    """None when the property is sealed or unknown to the registry."""
    card: SourceCard | None
    specs: tuple[SpecPart, ...]
    layers: tuple[LayerPart, ...]
    """Always all four."""
    audit: AuditPart | None
    """None for a claim that nobody has audited."""
    checklist: tuple[ChecklistItem, ...]
    """Minimum reporting as of `log_size`; empty without an outcome."""
    not_made: tuple[NotMade, ...]
    contestations: tuple[ContestationFile, ...]
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
    sightings: tuple[Recorded[Sighting], ...] = ()
    """Where the passage of this revision stands in other revisions of the card, in log order."""
    inclusion: Inclusion | None = None
    """That every entry named here stands in the log at `log_size`; None in supplements made before this was given."""
    openings: tuple[SpecOpening, ...] = ()
    """Of a confidential rendering: bodies of sealed specifications. The public one is the same record without them."""
    reviews: tuple[Recorded[StalenessReview], ...] = ()
    """What people decided of changes that the claim may not have survived, in log order."""
    model_events: tuple[Recorded[ModelEvent], ...] = ()
    """Of the lineage of the models that the claim's revisions are about, in log order."""
    model_endpoints: tuple[Recorded[ModelEndpoint], ...] = ()
    """What is stated of the endpoint names that tell who was asked, in log order."""
    models: tuple[Recorded[ModelVersion], ...] = ()
    """The claim's model version and those that follow it, as they were registered; without those that nobody registered."""
    cause_entries: tuple[Entry, ...] = ()
    """Those that `status.causes` number, in log order, so that they are proven too."""
    drift: Drift | None = None
    """The claim over its revisions; None where it has one alone, and in supplements made before this was told."""
    superseded: Superseded | None = None
    """Of a rendering of an earlier state; the record digest is that of the record without it, as with `openings`."""

    family: Family = Family()
    """The claims on the same words about the same property and model version, with the outcomes of all."""
    family_entries: tuple[Entry, ...] = ()
    """Those of this registry's log that recorded the outcomes of `family`, in log order, so that they are proven too."""

    def __post_init__(self) -> None:
        if tuple(part.layer for part in self.layers) != tuple(Layer):
            raise ValueError("a supplement states all four evidence layers, in order")
        if len(self.reasons) > 5:
            raise ValueError("page one gives at most five reasons")

    @builtins.property
    def original(self) -> str:
        """The claim as made."""
        return self.claim.payload.quote

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
    auditor: Party | None
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
    """Name of the property; None when it is sealed or unknown to the registry, and in supplements made before this was told."""
    model: str | None = None
    """Name and version of the model; None in supplements made before this was told."""
    relation: Relation | None = None
    """Of a threshold or bound."""
    reported: float | None = None
    """The card's figure, in the unit of the property's range; None without one."""
    spoken_of: str | None = None
    """The version that quote and figure are of, as it is printed, where the claim was carried to another; None where it was not."""
    contestations: tuple[str, ...] = ()
    """`CON-…`, of the claim or of a specification that it rests on, in log order; they stand in `CardSupplement.contestations`."""
    readable: str | None = None
    """The quote as a person reads it: hyphens at line ends closed, markup taken out; None where its card was not read for that."""
    claim_entry: Entry | None = None
    """Of the claim revision; None in supplements made before this was told."""
    outcome_entry: Entry | None = None
    """Of the outcome; None without one, and in supplements made before this was told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSupplement(Record):
    """Every registered claim of one card revision: what was audited, what became of it, and what nobody looked at."""

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
    """What of the card was proposed, registered, audited and left out, by section; None in supplements made before this was told."""
    erased: tuple[str, ...] = ()
    """Claims of which nothing is told, because the text of a statement that they rest on was erased."""
    inclusion: Inclusion | None = None
    """As in `Supplement`."""
    superseded: Superseded | None = None
    """As in `Supplement`."""
    cause_entries: tuple[Entry, ...] = ()
    """Those that the causes of the claims number, in log order."""
    contestations: tuple[ContestationFile, ...] = ()
    """Each that concerns a claim of the card, once, in log order."""
    family_entries: tuple[Entry, ...] = ()
    """Those that recorded the outcomes which `ClaimRow.status` names, in log order."""

    @property
    def unaudited(self) -> tuple[ClaimRow, ...]:
        """The claims in whose family nothing has an outcome."""
        return tuple(row for row in self.claims if row.restriction is RestrictionStatus.UNAUDITED)

    @property
    def stale(self) -> tuple[ClaimRow, ...]:
        """The claims that a person confirmed to be stale."""
        return tuple(row for row in self.claims if row.status.staleness is Staleness.STALE)

    @property
    def potentially_stale(self) -> tuple[ClaimRow, ...]:
        """The claims that may be stale, and that nobody has looked at."""
        return tuple(row for row in self.claims if row.status.staleness is Staleness.POTENTIALLY_STALE)

    @property
    def pages_with_claims(self) -> tuple[int, ...]:
        """The pages on which at least one registered claim stands, ascending."""
        return tuple(sorted({row.page for row in self.claims if row.page is not None}))
