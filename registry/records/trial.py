"""A run: scores that somebody made, known by the digest of their table."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from registry.records.record import Record
from registry.records.replayed import Replayed


class RunStatus(StrEnum):
    """How a run ended; failed runs stay visible."""

    COMPLETED = "completed"
    ABORTED = "aborted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NearDuplicates(Record):
    """Tasks whose texts hardly differ although they are in no common family."""

    compared: int
    """Tasks whose texts were compared with each other."""
    not_compared: int
    """Tasks beyond the largest number that is compared."""
    found: int
    """Pairs of near-duplicates that are not in one family."""
    pairs: tuple[tuple[str, str], ...] = ()
    """The first of them, by task id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance(Record):
    """Where responses came from. None means: not stated, and the checklist says so."""

    endpoint: str | None = None
    model_requested: str | None = None
    model_returned: str | None = None
    """In words, as printed; who was asked is decided by `models_returned` alone."""
    models_returned: tuple[str, ...] = ()
    """The model names that the responses themselves carry, sorted, each once; nobody can state them beside the data."""
    unnamed_responses: int = 0
    """How many scored responses carry no model name."""
    accessed: str | None = None
    """Date or dates of access, ISO 8601."""
    sampling: str | None = None
    """Sampling parameters as set, default, or not settable."""
    tools: str | None = None
    """Tool and scaffold configuration."""
    budget_spent: str | None = None
    system_prompts: str | None = None
    """Where the system prompts are disclosed."""
    judge: str | None = None
    """Judge model and rubric; for a deterministic scorer its name."""
    judge_uncertainty: str | None = None
    """How far its scores vary and err: repeats, a labelled subset; for a deterministic scorer, its measured errors."""
    transcripts: str | None = None
    """SHA-256 of the stored responses."""
    corpus_tasks: int | None = None
    """Number of tasks in the original evaluation; coverage is replayed / corpus."""
    scorer_reads_response: bool | None = None
    """Whether the scorer reads the response and the task alone (patterns, an option, a number), so that no context can change a score."""
    imported: str | None = None
    """Of logs that were imported: one line each, with what it states, what was found and scored, and what was left out and why."""
    budget_planned: str | None = None
    """What the replay itself allowed to be spent, beside the budget of the lock."""
    run: str | None = None
    """Random name of the run folder, by which its start is found in the log; None where no start was entered."""
    near_duplicates: NearDuplicates | None = None
    """Whether tasks that look alike are in one family; None: the texts of the tasks were not available."""
    replayed: Replayed | None = None
    """Contexts, arms and outcomes of a live replay, as its run folder holds them; None for other scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedCount(Record):
    """How many responses one side lost for one reason."""

    arm: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Record):
    """Scores imported into an audit under its lock."""

    audit: str
    started_at: datetime
    """When the first response was made; never before the lock (the database refuses it)."""
    status: RunStatus
    table: str
    """SHA-256 of the score table's bytes, hexadecimal."""
    source: str
    """File name of the table."""
    scores: str | None = None
    """SHA-256 of the scores themselves, whatever file holds them and in whatever order."""
    responses: int
    """Scored responses."""
    excluded: tuple[ExcludedCount, ...] = ()
    finished_at: datetime | None = None
    provenance: Provenance = Provenance()
    note: str | None = None
    start: int | None = None
    """Number of the entry that the run was started with; None where its start was not recorded: a run that was made elsewhere, or a
    replay that did not name its audit."""
