"""What a model answered to one call, with everything that is known of how it came."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from registry.records.record import Record


class Purpose(StrEnum):
    """Why a call was made."""

    REPLAY = "replay"
    JUDGE = "judge"
    PROBE = "probe"
    RATING = "rating"
    PROPOSAL = "proposal"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell(Record):
    """The place of one response in the design of a replay; its columns are those of the score table."""

    task_id: str
    arm: str
    context_id: str
    sample: int
    """From 0."""
    spec: str | None = None
    cue_removed: str | None = None
    """Name of the edit; None for the contexts as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt(Record):
    """One HTTP request of a call; a retry after a time-out may have been billed twice."""

    status: int | None
    """HTTP status; None when no answer came."""
    request_id: str | None
    error: str | None
    """Type of the error, as the endpoint or the connection named it; None for an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Record):
    """Tokens as the endpoint counted them; None: not told."""

    input_tokens: int | None = None
    """Fresh input; the total is this with both cache fields."""
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    service_tier: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(Record):
    """Why a call has no answer: the reason that its rows are excluded for."""

    code: str
    """`endpoint-error`, `time-out`, `connection-lost`, `not-accepted`, `lost-in-flight`, `batch-expired`, …; docs/replay.md lists them."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Response(Record):
    """The outcome of one call: an answer or a failure, never neither."""

    key: str
    """SHA-256 of request digest and sample index, hexadecimal: what makes a repetition of the call unnecessary."""
    request: str
    """SHA-256 of the canonical request body, hexadecimal."""
    purpose: Purpose
    model_requested: str
    model_returned: str | None = None
    text: str | None = None
    """The answer's text blocks joined; None after a failure, empty when the model said nothing."""
    thinking: str | None = None
    """Its reasoning as returned; None when there is none."""
    content: tuple[dict[str, object], ...] = ()
    """The content blocks as they came."""
    stop_reason: str | None = None
    message_id: str | None = None
    usage: Usage = Usage()
    attempts: tuple[Attempt, ...] = ()
    """In order; the last is the one that counts."""
    sent_at: datetime | None = None
    """When the first attempt was sent, UTC."""
    received_at: datetime | None = None
    latency_s: float | None = None
    """Of the attempt that was answered."""
    batch: str | None = None
    """Batch identifier, for Message Batches."""
    failure: Failure | None = None

    def __post_init__(self) -> None:
        if (self.failure is None) == (self.text is None):
            raise ValueError("a call has either an answer or a failure")
