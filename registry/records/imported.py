"""What an import of somebody else's log read, what it left out, and why: the counts that must agree."""

from dataclasses import dataclass

from registry.records.record import Record
from registry.records.trial import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut(Record):
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
    left_out: tuple[LeftOut, ...] = ()
    warnings: tuple[str, ...] = ()
    """What makes it doubtful and must be heard before the outcome: a status that is not success, scores edited after scoring."""
    notes: tuple[str, ...] = ()
    """What else a reader must know, such as a parameter that was recorded and not sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported(Record):
    """An import as a whole."""

    files: tuple[ImportedFile, ...]
    provenance: Provenance = Provenance()
    """What the logs themselves say of endpoint, model, dates and sampling."""
    started_at: str | None = None
    """When the first response was made, ISO 8601, as the logs say; None when they do not."""
