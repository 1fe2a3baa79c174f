"""Named, owned, versioned definitions: properties, scoring functions, contexts, cue inventories, methods."""

from dataclasses import dataclass
from enum import StrEnum

from registry.records.block import Block, Edit, Parts, Tool, Turn
from registry.records.claim import Direction, PropertyClass
from registry.records.record import Record
from registry.records.scorer import Scorer


class SpecKind(StrEnum):
    """What a specification defines."""

    PROPERTY = "property"
    SCORING = "scoring"
    TEST_CONTEXT = "test_context"
    DEPLOY_CONTEXT = "deploy_context"
    CUE_INVENTORY = "cue_inventory"
    METHOD = "method"


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertySpec(Record):
    """A property φ and what its score means."""

    name: str
    class_: PropertyClass
    range: tuple[float, float]
    """Lowest and highest possible score [a, b], a < b."""
    direction: Direction
    suppressible: bool = False
    """Whether a model that recognises the test could hide it (deception, sandbagging, covert or destructive action)."""
    description: str | None = None

    def __post_init__(self) -> None:
        if not self.range[0] < self.range[1]:
            raise ValueError(f"range must run from low to high, got {list(self.range)}")


class ScoringMethod(StrEnum):
    """How a response becomes a score."""

    PATTERN = "pattern"
    JUDGE = "judge"
    CHOICE = "choice"
    NUMBER = "number"
    LABEL = "label"
    EXTERNAL = "external"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoringSpec(Record):
    """A scoring function s(τ, c, y)."""

    name: str
    method: ScoringMethod
    description: str
    procedure: Scorer | None = None
    """How exactly, so that `caveat score` can carry it out; None when it is only described."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextItem(Record):
    """One measurement context c, written out or composed from the named blocks of its specification."""

    id: str
    """The `context_id` of the score table."""
    system: Parts | None = None
    """System prompt; None when it is not known or not disclosed, an empty text when there is none."""
    messages: tuple[Turn, ...] = ()
    """The conversation before the task."""
    template: Parts | None = None
    """User message with `{task}` where the task goes; None when not known."""
    tools: tuple[Tool, ...] = ()
    """Tools that the model is offered."""
    made_from: str | None = None
    """Template that it was made from: contexts of one template count as one where contexts are a sample. None: not stated."""
    scaffold: str | None = None
    """What surrounds the model beyond prompts and tools, in words."""
    cues: tuple[str, ...] = ()
    """What in it could tell a model that it is tested, beside the cues of its blocks."""

    @property
    def block_names(self) -> tuple[str, ...]:
        """Names of the blocks that it is composed of, in order; a name that stands twice is given twice."""
        parts = (self.system, *(turn.content for turn in self.messages), self.template)
        return tuple(name for one in parts if one is not None and not isinstance(one, str) for name in one)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSpec(Record):
    """A context distribution: P_test or one specification of P_deploy."""

    name: str
    description: str
    construction: str | None = None
    """How the contexts were drawn or written."""
    contexts: tuple[ContextItem, ...] = ()
    """The contexts themselves; empty when they are only described."""
    blocks: dict[str, Block] | None = None
    """Named pieces of text that contexts are composed from."""
    edits: tuple[Edit, ...] = ()
    """Versions of the contexts that are derived, not copied: a cue taken out, or a placebo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue(Record):
    """One cue with its place in the vocabulary of method section 6."""

    name: str
    category: str
    description: str | None = None
    count: int | None = None
    """How often it was named; None where nobody counted."""
    sources: tuple[str, ...] = ()
    """Who named it, and how often each: `raters: 7`, `model raters: 2`, `probe: 3`."""
    spellings: tuple[str, ...] = ()
    """Other words in which it was named, counted with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CueInventorySpec(Record):
    """The cues somebody found in a distribution."""

    name: str
    cues: tuple[Cue, ...]
    held_out: str | None = None
    """`CUE-…@n` of the sealed inventory with the cues that were held out of this one; None where none were."""
    seed: int | None = None
    """Of the draw, in the sealed inventory alone: with the published cues it would tell which were drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSpec(Record):
    """A procedure that evidence refers to."""

    name: str
    description: str
    reference: str | None = None


SpecBody = PropertySpec | ScoringSpec | ContextSpec | CueInventorySpec | MethodSpec

BODIES: dict[SpecKind, type[SpecBody]] = {
    SpecKind.PROPERTY: PropertySpec,
    SpecKind.SCORING: ScoringSpec,
    SpecKind.TEST_CONTEXT: ContextSpec,
    SpecKind.DEPLOY_CONTEXT: ContextSpec,
    SpecKind.CUE_INVENTORY: CueInventorySpec,
    SpecKind.METHOD: MethodSpec,
}
"""What the body of a specification of each kind is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpecVersion(Record):
    """One version of a specification; sealed when only its commitment is known."""

    spec: str
    """The identifier: `PRP-…`, `SCF-…`, `CTX-…`, `CUE-…` or `MTH-…`."""
    kind: SpecKind
    slug: str
    """A short name, unique per owner and kind."""
    version: int
    """From 1, gapless."""
    owner: str
    """Authority code."""
    body: SpecBody | None = None
    commitment: str | None = None
    """SHA-256 of the salted body, hexadecimal, when the body is sealed."""
    why: str | None = None
    """Why this version was made; required from the second."""

    def __post_init__(self) -> None:
        if (self.body is None) == (self.commitment is None):
            raise ValueError("a specification has either a body or a commitment")
        if self.version > 1 and not (self.why and self.why.strip()):
            raise ValueError("a version after the first needs its reason (why)")
