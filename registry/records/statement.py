"""What is said and when: statements, the unit of the log, and the publications that they record."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from registry.records.analysis_plan import Deviation, Exploration, Lock
from registry.records.audit_case import Audit, EvidenceStatement, Result
from registry.records.claim import ClaimEvent, ClaimRelation, ClaimRevision
from registry.records.claim_status import Contestation, ContestationEvent, StalenessReview
from registry.records.log_seal import Equivocation, Erasure, KeyEvent, LogImport, Witnessing
from registry.records.model_version import ModelEndpoint, ModelEvent, ModelVersion
from registry.records.module_findings import Finding
from registry.records.record import Authority, Record
from registry.records.replay_run import Run, RunEnd, RunStart
from registry.records.specification import Reveal, SpecVersion
from registry.records.system_card import Card, Omission, PassageMatch, Survey
from registry.records.verdict import Restriction

# A published supplement, identified by its digest.


class OutputFormat(StrEnum):
    """In what a supplement is published."""

    PDF = "pdf"
    HTML = "html"
    JSON = "json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Publication(Record):
    """One file published, and the record it was made of."""

    subject: str
    """`CLM-…@n` or `CRD-…@n`."""
    format: OutputFormat
    sha256: str
    """Of the bytes that were drawn, hexadecimal: of the file without the proof and the signature that are added to it."""
    size_bytes: int
    """How many bytes were drawn. A PDF begins with them, so what follows cannot be taken for them."""
    record: str
    """SHA-256 of the supplement's canonical JSON, hexadecimal."""
    log_size: int
    """Number of log entries the supplement was made from."""
    template: str
    """Digest of the templates, hexadecimal."""
    audit: str | None = None


# Statements: the unit of the log.

Payload = (
    Authority
    | ModelVersion
    | SpecVersion
    | Card
    | ClaimRevision
    | ClaimEvent
    | ClaimRelation
    | Audit
    | Lock
    | Run
    | Result
    | EvidenceStatement
    | Finding
    | Restriction
    | Contestation
    | ContestationEvent
    | Publication
    | Survey
    | Omission
    | PassageMatch
    | KeyEvent
    | LogImport
    | Witnessing
    | Equivocation
    | Erasure
    | Reveal
    | Deviation
    | Exploration
    | ModelEvent
    | StalenessReview
    | ModelEndpoint
    | RunStart
    | RunEnd
)


class StatementKind(StrEnum):
    """The kinds of statement, each with one payload type."""

    AUTHORITY = "authority"
    MODEL_VERSION = "model_version"
    SPEC_VERSION = "spec_version"
    CARD = "card"
    CLAIM_REVISION = "claim_revision"
    CLAIM_EVENT = "claim_event"
    CLAIM_RELATION = "claim_relation"
    AUDIT = "audit"
    LOCK = "lock"
    RUN = "run"
    RESULT = "result"
    EVIDENCE = "evidence"
    FINDING = "finding"
    RESTRICTION = "restriction"
    CONTESTATION = "contestation"
    CONTESTATION_EVENT = "contestation_event"
    PUBLICATION = "publication"
    SURVEY = "survey"
    OMISSION = "omission"
    SIGHTING = "sighting"
    KEY_EVENT = "key_event"
    LOG_IMPORT = "log_import"
    WITNESSING = "witnessing"
    EQUIVOCATION = "equivocation"
    ERASURE = "erasure"
    REVEAL = "reveal"
    DEVIATION = "deviation"
    EXPLORATION = "exploration"
    MODEL_EVENT = "model_event"
    STALENESS_REVIEW = "staleness_review"
    MODEL_ENDPOINT = "model_endpoint"
    RUN_START = "run_start"
    RUN_END = "run_end"


PAYLOADS: dict[StatementKind, type[Payload]] = {
    StatementKind.AUTHORITY: Authority,
    StatementKind.MODEL_VERSION: ModelVersion,
    StatementKind.SPEC_VERSION: SpecVersion,
    StatementKind.CARD: Card,
    StatementKind.CLAIM_REVISION: ClaimRevision,
    StatementKind.CLAIM_EVENT: ClaimEvent,
    StatementKind.CLAIM_RELATION: ClaimRelation,
    StatementKind.AUDIT: Audit,
    StatementKind.LOCK: Lock,
    StatementKind.RUN: Run,
    StatementKind.RESULT: Result,
    StatementKind.EVIDENCE: EvidenceStatement,
    StatementKind.FINDING: Finding,
    StatementKind.RESTRICTION: Restriction,
    StatementKind.CONTESTATION: Contestation,
    StatementKind.CONTESTATION_EVENT: ContestationEvent,
    StatementKind.PUBLICATION: Publication,
    StatementKind.SURVEY: Survey,
    StatementKind.OMISSION: Omission,
    StatementKind.SIGHTING: PassageMatch,
    StatementKind.KEY_EVENT: KeyEvent,
    StatementKind.LOG_IMPORT: LogImport,
    StatementKind.WITNESSING: Witnessing,
    StatementKind.EQUIVOCATION: Equivocation,
    StatementKind.ERASURE: Erasure,
    StatementKind.REVEAL: Reveal,
    StatementKind.DEVIATION: Deviation,
    StatementKind.EXPLORATION: Exploration,
    StatementKind.MODEL_EVENT: ModelEvent,
    StatementKind.STALENESS_REVIEW: StalenessReview,
    StatementKind.MODEL_ENDPOINT: ModelEndpoint,
    StatementKind.RUN_START: RunStart,
    StatementKind.RUN_END: RunEnd,
}
KINDS: dict[type[Payload], StatementKind] = {payload: kind for kind, payload in PAYLOADS.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement(Record):
    """One thing said by one actor at one time; its canonical bytes are hashed into a leaf."""

    actor: str
    """Authority code of who says it."""
    at: datetime
    """In UTC, to the second."""
    payload: Payload
    # Without a salt, the leaf of a short erased statement could be matched by hashing candidates.
    salt: str
    """32 hexadecimal digits, so that an erased body cannot be guessed from its leaf."""

    @property
    def kind(self) -> StatementKind:
        """The kind that belongs to the payload."""
        return KINDS[type(self.payload)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(Record):
    """A statement's place in the log."""

    seq: int
    """From 1, gapless."""
    kind: StatementKind
    actor: str
    at: datetime
    leaf: str
    """SHA-256(0x00 ‖ JCS(statement)), hexadecimal (RFC 6962 leaf, RFC 8785 JSON)."""
