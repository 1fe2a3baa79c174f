"""How far the claims of a card are known, section by section."""

from dataclasses import dataclass

from registry.records.dossier import Recorded
from registry.records.record import Record
from registry.records.statement import Entry
from registry.records.survey import Omission


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts(Record):
    """What became of the passages of one section, or of all."""

    proposed: int | None
    """Passages that an engine proposed; None when no survey of this card revision is recorded."""
    registered: int
    """Claim families, also those that were superseded, withdrawn or rejected since: their passages have been decided on."""
    audited: int
    """Families with an outcome."""
    restricted: int
    """Families whose gravest outcome narrows or suspends the claim, or does not support it."""
    left_out: int
    """Passages that somebody deliberately left out."""
    undecided: int | None
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
    counts: Counts
    is_placed: bool = True
    """False for the claims that have no place in this revision of the card: paraphrases, and passages not found in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undecided(Record):
    """A passage that was proposed, and of which nobody said anything since."""

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
    """The engines whose surveys are recorded, in order; empty when nobody recorded one."""
    total: Counts
    sections: tuple[SectionCoverage, ...]
    """In the order of the card; sections of which nothing is known at all are left out."""
    silent_sections: int
    """How many sections were left out of `sections`."""
    omissions: tuple[Recorded[Omission], ...]
    """In the order of the card."""
    undecided: tuple[Undecided, ...]
    """In the order of the card."""
    omitted: tuple[str, ...] = ()
    """The quotes of `omissions` as a person reads them, in the same order; empty where the card was not read for that."""
    erased: tuple[Entry, ...] = ()
    """Surveys and omissions of the card, in any of its revisions, whose text was erased: what they said is not counted."""

    @property
    def has_headings(self) -> bool:
        """Whether a section listed here has a heading; if not, its sections are pages."""
        return any(one.title is not None for one in self.sections)
