"""What survives of a claim: the restricted text beside the original."""

from dataclasses import dataclass
from datetime import date

from registry.records.asked import Asked
from registry.records.classification import Basis, Classification
from registry.records.estimate import Estimate
from registry.records.record import Record
from registry.records.trial import Provenance


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEdit(Record):
    """A person's change to the composed text, kept with its reason."""

    composed: str
    """The text before the edit."""
    reason: str
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RestrictedClaim(Record):
    """The claim as it may still be made, composed from the record and never written freely (method section 7)."""

    original: str
    restricted: str
    """The whole restricted claim, one paragraph."""
    surviving: tuple[str, ...]
    """What may still be said, sentence by sentence."""
    withdrawn: tuple[str, ...]
    """What may no longer be said."""
    resolves: tuple[str, ...]
    """What would settle what is open."""
    verdict: str
    """The outcome in one sentence, for the head of a supplement."""
    edit: TextEdit | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Restriction(Record):
    """The outcome of an audit as recorded: stations 6 and 7 together."""

    audit: str
    claim: str
    """`CLM-…@n`."""
    classification: Classification
    text: RestrictedClaim
    basis: Basis
    result: int | None = None
    """Sequence number of the `result` entry this rests on; None without one."""
    post_hoc: bool = False
    """Whether nothing shows that θ and the plan were fixed before the scores could be seen."""
    estimate: Estimate | None = None
    """An estimate from scores that no lock preceded (basis `reported`); None when `result` holds it."""
    table: str | None = None
    """SHA-256 of the score table of that estimate."""
    scores: str | None = None
    """SHA-256 of the scores themselves, whatever file holds them and in whatever order."""
    source: str | None = None
    """File names of that score table."""
    provenance: Provenance | None = None
    """Where the responses of that score table came from; None without one (a run under a lock holds its own)."""
    asked: Asked | None = None
    """Who was asked, as the names in the responses showed it then; None without scores."""
    valid_until: date | None = None
    """The last day on which this outcome counts at its full standing: the plan's, or 12 months after the run began. None: not stated."""
