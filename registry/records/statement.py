"""What is said and when: the unit of the log."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from registry.records.audit import Audit, EvidenceStatement, Result
from registry.records.authority import Authority
from registry.records.card import Card
from registry.records.claim import ClaimEvent, ClaimRelation, ClaimRevision
from registry.records.contestation import Contestation, ContestationEvent
from registry.records.deviation import Deviation, Exploration
from registry.records.disclosure import Reveal
from registry.records.endpoint import ModelEndpoint
from registry.records.finding import Finding
from registry.records.model import ModelEvent, ModelVersion
from registry.records.plan import Lock
from registry.records.publication import Publication
from registry.records.record import Record
from registry.records.restriction import Restriction
from registry.records.run_entry import RunEnd, RunStart
from registry.records.seal import Equivocation, Erasure, KeyEvent, LogImport, Witnessing
from registry.records.spec import SpecVersion
from registry.records.staleness import StalenessReview
from registry.records.survey import Omission, Sighting, Survey
from registry.records.trial import Run

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
    | Sighting
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
    StatementKind.SIGHTING: Sighting,
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
