"""Responses of a model to single calls, and the counts of what an import of a log read and excluded."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from registry.records.record import Record
from registry.records.replay_run import Provenance

# What a model answered to one call, with everything that is known of how it came.


class Purpose(StrEnum):
    """Why a call was made."""

    REPLAY = "replay"
    JUDGE = "judge"
    PROBE = "probe"
    RATING = "rating"
    PROPOSAL = "proposal"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayCell(Record):
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
    """`endpoint-error`, `time-out`, `connection-lost`, `not-accepted`, `lost-in-flight`, `batch-expired`, …; docs/running.md lists them."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionDetails(Record):
    """What a chat completion says beyond what every answer says. None: not told."""

    sent: str
    """SHA-256 of the request as it was sent, hexadecimal: `Response.request` in the words of this API."""
    finish_reason: str | None = None
    """In the API's own word; `Response.stop_reason` is its translation."""
    system_fingerprint: str | None = None
    """The provider's name for the configuration of its servers."""
    logprobs: dict[str, object] | None = None
    """Log probabilities of the tokens, as they came."""


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
    completion: CompletionDetails | None = None
    """For answers by the OpenAI API; None for the Messages API."""
    failure: Failure | None = None

    def __post_init__(self) -> None:
        if (self.failure is None) == (self.text is None):
            raise ValueError("a call has either an answer or a failure")


# What an import of another tool's log read, what it left out, and why: the counts that must agree.


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedResponses(Record):
    """Responses of one file that did not become scored rows, for one reason."""

    reason: str
    count: int
    is_row: bool
    """True: they are rows without a score, counted as exclusions. False: they are no rows at all."""
    examples: tuple[str, ...] = ()
    """Identifiers of the first few."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedFile(Record):
    """One file of an import, with its accounts."""

    name: str
    sha256: str
    format: str
    """Such as `inspect-eval/2`, `lm-evaluation-harness`, `every-eval-ever/0.2`, `table`."""
    arm: str | None
    """The arm that its responses belong to; None when a column of the file says."""
    declared: int | None
    """Responses that the file's own header or summary states; None when it states nothing."""
    found: int
    """Responses that are in the file."""
    scored: int
    excluded: tuple[ExcludedResponses, ...] = ()
    warnings: tuple[str, ...] = ()
    """What makes it doubtful and must be heard before the outcome: a status that is not success, scores edited after scoring."""
    notes: tuple[str, ...] = ()
    """What else a reader must know, such as a parameter that was recorded and not sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedLog(Record):
    """An import as a whole."""

    files: tuple[ImportedFile, ...]
    provenance: Provenance = Provenance()
    """What the logs themselves say of endpoint, model, dates and sampling."""
    started_at: str | None = None
    """When the first response was made, ISO 8601, as the logs say; None when they do not."""
