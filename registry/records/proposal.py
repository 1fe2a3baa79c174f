"""Claims proposed from a card's text, for a person to accept, change, split or leave out; nothing of it is registered."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from registry.records.card import Anchor
from registry.records.claim import Form, Relation, Reported
from registry.records.completeness import Completeness
from registry.records.evidence import Layer
from registry.records.passage import PassageKind
from registry.records.record import Record
from registry.records.spec import PropertySpec


class Engine(StrEnum):
    """What proposes."""

    RULES = "rules"
    """Rules over the text; offline, the same on every machine."""
    CLAUDE = "claude"
    """A language model, asked for structured answers; every quote is found again in the card."""


class Confidence(StrEnum):
    """How sure the engine is that the passage makes this claim. An order, not a probability."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Record):
    """A figure that the passage gives for something else than the claim's model."""

    subject: str
    """As the card names it: another model, a human baseline, another condition."""
    value: float | None
    """In the unit of the claim's range; None where only the words are given ("lower than")."""
    words: str
    """As written, such as "2% of the time"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AwarenessNote(Record):
    """A statement nearby that the model recognised the evaluation, or may have."""

    quote: str
    """As the card has it."""
    start: int
    """First character in the card's text."""
    stop: int
    layer: Layer | None
    """The evidence layer it speaks of; None where it does not say how it is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Restated(Record):
    """A registered claim about the same quantity with another number."""

    claim: str
    """`CLM-…@n`."""
    value: float
    """The figure there, in the unit of its range."""
    why: str
    """What makes it the same quantity, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal(Record):
    """One claim that a passage seems to make."""

    quote: str
    """The passage, as the card has it; never anything else."""
    anchor: Anchor
    passage: PassageKind
    form: Form
    relation: Relation | None
    """Given exactly for thresholds and bounds."""
    theta: float | None
    """In the unit of the property's range; None for other forms, for a threshold that is not published, and for one that is relative."""
    reported: Reported | None
    """The figure, in the unit of the property's range (a share, where the card writes per cent); None without one."""
    written: str | None
    """The figure or bound as the card writes it, such as "<4%", "15/32", "161.29 AECI"; None without one."""
    property: PropertySpec
    slug: str
    """Short name of the property; equal properties have equal names."""
    model: str | None
    """What the claim is about, as the card names it; None where the passage and its surroundings do not say."""
    version: str | None
    """The snapshot or date that the card states for it; None where it does not."""
    evaluation: str | None
    grader: str | None = None
    elicitation: str | None = None
    relative_to: str | None = None
    """What the bound is relative to ("half of Claude Haiku 3.5's rate"); None for an absolute one."""
    comparisons: tuple[Comparison, ...] = ()
    awareness: tuple[AwarenessNote, ...] = ()
    """In the order of the card, those of the same section."""
    completeness: tuple[Completeness, ...] = ()
    """All seven items, in their order."""
    restates: tuple[Restated, ...] = ()
    confidence: Confidence = Confidence.LOW
    notes: tuple[str, ...] = ()
    """What a person should look at before accepting it, in sentences: hedges, a direction that may surprise, a unit that was guessed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped(Record):
    """Something an engine offered that was not taken."""

    quote: str
    """As the engine gave it, cut at 300 characters."""
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposals(Record):
    """What one engine proposed from one card."""

    card: str | None
    """`CRD-…@n`; None for a file that is not registered."""
    document: str
    """SHA-256 of the file, hexadecimal."""
    title: str
    engine: Engine
    by: str
    """The engine with its version: "rules 1", or "claude" with the model that answered."""
    passages: int
    """How many passages were read."""
    proposals: tuple[Proposal, ...]
    """In the order of the card."""
    dropped: tuple[Dropped, ...] = ()
    """Offered and not taken, with the reason: most often a quote that is not in the card."""
    notes: tuple[str, ...] = ()
    """What could not be read of the card, in sentences."""
    schema: Literal["caveat/proposals/1"] = "caveat/proposals/1"
