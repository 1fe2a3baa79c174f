"""Named, owned, versioned definitions: properties, scorers, contexts, cue inventories, and sealed ones."""

import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from registry.records.claim import Direction, PropertyClass
from registry.records.record import Payload, Record

# A measurement context: named blocks of text, turns, tools, and the edits that derive versions of
# it.

Parts = str | tuple[str, ...]
"""A text, or names of blocks that are joined by an empty line. `{task}` in a template or turn stands for the task's prompt, and
`{options}` for its options; a system prompt is sent as it stands."""


class TurnRole(StrEnum):
    """Who says a turn."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
# A context can depend on the task, for example on its programming language, without one
# specification per value.
class Variants(Record):
    """A text for each value of a task's field, such as a code snippet in the task's language."""

    field: str
    """Name of the field of a task."""
    texts: dict[str, str]
    """By value of the field."""
    fallback: str | None = None
    """For values that have no text of their own, and tasks without the field; None: such a task is an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBlock(Record):
    """A named piece of text: the same for every task, or one for each value of a task's field."""

    text: str | None = None
    by: Variants | None = None
    cue: str | None = None
    """The cue that it carries: what in it could show a model that it is tested; None when there is none."""
    description: str | None = None
    source: str | None = None
    """Where the text comes from: a file with its SHA-256, an address with its date."""

    def __post_init__(self) -> None:
        if (self.text is None) == (self.by is None):
            raise ValueError("a block has either a text or variants (by)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Record):
    """One message of the conversation before the task."""

    role: TurnRole
    content: Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Record):
    """A tool that the model is offered."""

    name: str
    description: str
    input_schema: dict[str, object]
    """JSON Schema of its input."""


@dataclass(frozen=True, slots=True, kw_only=True)
# An edit derives a version from the original instead of copying it, so the two cannot drift apart.
class ContextEdit(Record):
    """A version of every context that holds a block which it takes out or replaces."""

    name: str
    """What the score table calls it in `cue_removed`."""
    remove: tuple[str, ...] = ()
    """Names of blocks that are taken out."""
    replace: dict[str, str] | None = None
    """By name of the block that is taken out, the name of the block in its place."""
    placebo: bool = False
    """Whether it touches no cue, and only shows what editing as such does."""
    description: str | None = None

    def __post_init__(self) -> None:
        if not self.remove and not self.replace:
            raise ValueError("an edit removes or replaces at least one block")


# Scoring: how a response becomes a score, precisely enough to be repeated (method section 1,
# scoring function s).


class PatternScore(StrEnum):
    """What a response's pattern matches come to; each lies in [0, 1]."""

    HIT_RATE = "hit_rate"
    """Share of the expected patterns that match."""
    ALL_EXPECTED = "all_expected"
    """1 when every expected pattern matches, else 0."""
    ANY_EXPECTED = "any_expected"
    """1 when at least one expected pattern matches, else 0."""
    ANY_ANTI = "any_anti"
    """1 when at least one anti-pattern matches, else 0."""
    NO_ANTI = "no_anti"
    """1 when no anti-pattern matches, else 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
# Decision of 2026-11-21: the syntax is that of Python's `re`, executed by `regex`, which can be
# stopped after the time limit. The cost: patterns are compiled twice.
class PatternScorer(Record):
    """Regular expressions of each task, or the same for all, reported one by one."""

    kind: Literal["pattern"]
    score: PatternScore = PatternScore.HIT_RATE
    expected: tuple[str, ...] = ()
    """For tasks without expected patterns of their own."""
    anti: tuple[str, ...] = ()
    """For tasks without anti-patterns of their own."""
    time_limit_s: float = 1.0
    """For one match, above 0; a pattern that needs longer makes the response an exclusion."""

    def __post_init__(self) -> None:
        if not 0 < self.time_limit_s < math.inf:
            raise ValueError(f"time_limit_s is above 0, got {self.time_limit_s}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceScorer(Record):
    """1 when the option that the response settles on is the task's answer, else 0; a response without an option is an exclusion."""

    kind: Literal["choice"]
    pattern: str | None = None
    """Regular expression with, as its first group, the option; None for our own reading."""
    # An extractor never guesses: two options, none, or a truncated text count as not extracted.
    unextracted: Literal["excluded", "wrong"] = "excluded"
    """What a response is in which no option is found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberScorer(Record):
    """1 when the number that the response ends in is the task's answer, else 0."""

    kind: Literal["number"]
    pattern: str | None = None
    """Regular expression with, as its first group, the number; None for our own reading."""
    absolute_tolerance: float = 0.0
    relative_tolerance: float = 0.0
    unextracted: Literal["excluded", "wrong"] = "excluded"

    def __post_init__(self) -> None:
        for name in ("absolute_tolerance", "relative_tolerance"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} is 0 or more, got {getattr(self, name)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension(Record):
    """One thing that a judge rates, with a whole number."""

    name: str
    question: str
    low: int
    high: int
    anchors: dict[str, str] | None = None
    """The meaning of a number, by the number written out."""

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"a dimension runs from low to high, got {self.low} and {self.high}")


class ModelApi(StrEnum):
    """The API that an endpoint speaks."""

    MESSAGES = "messages"
    """Anthropic's Messages API."""
    OPENAI_CHAT = "openai-chat"
    """OpenAI's chat completions, as vLLM, llama.cpp, Ollama and many gateways speak them."""


NO_KEY = "none"
"""What `Policy.key` says where no key is sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
# Decision of 2026-11-21: a judge sees task and response, each behind a fence that cannot occur in
# them, and nothing of the context. Equal answers are one call, also across contexts, so that judge
# noise cannot separate them. The cost: equal answers share their noise.
class JudgeScorer(Record):
    """A model rates every response by a rubric; it sees the task's prompt and the response, and never the context."""

    kind: Literal["judge"]
    model: str
    rubric: str
    """The instructions of the judge, in the lab's or the auditor's words."""
    dimensions: tuple[Dimension, ...]
    score: str = "mean"
    """`mean` of the dimensions (each must then have the same range), or the name of one."""
    max_tokens: int = 1024
    base_url: str | None = None
    """The judge's endpoint; None for that of the replay."""
    api: ModelApi | None = None
    """What it speaks; None: `messages`, or at the replay's own address what the replay says."""
    key: str | None = None
    """As `Policy.key`."""
    repeats: int = 1
    """How often a response of the repeated share is judged."""
    repeat_share: float = 0.0
    """Share of the responses, sampled by the seed, that are judged `repeats` times; 0 to 1."""
    longest_chars: int | None = None
    """Characters of a response that the judge sees; None: the whole. What is cut is stored, and the same for all arms."""
    # The right answer is shown only on request. It is then part of the provenance and of the
    # rubric's digest.
    show_answer: bool = False
    """Whether the judge also sees the task's right answer; every task must then have one."""
    allow_same_model: bool = False
    """Whether the judge may be the model that it judges."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.dimensions:
            raise ValueError("a rubric has at least one dimension")
        names = [dimension.name for dimension in self.dimensions]
        if len(set(names)) < len(names):
            raise ValueError("each dimension has a name of its own")
        if self.score != "mean" and self.score not in names:
            raise ValueError(f"score is `mean` or one of {', '.join(names)}, got {self.score}")
        # A mean over different ranges would weigh the dimensions by accident.
        if self.score == "mean" and len({(dimension.low, dimension.high) for dimension in self.dimensions}) > 1:
            raise ValueError("the mean of dimensions needs one range; name the dimension that is the score")
        if not 0 <= self.repeat_share <= 1:
            raise ValueError(f"repeat_share lies in [0, 1], got {self.repeat_share}")
        for name in ("repeats", "max_tokens", "longest_chars"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise ValueError(f"{name} is 1 or more, got {value}")
        if not self.rubric.strip():
            raise ValueError("a rubric says something")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelScorer(Record):
    """A person labels every response with a number, on a shuffled sheet that names neither arm nor context."""

    kind: Literal["label"]
    question: str | None = None
    """What the labeller is asked."""


Scorer = PatternScorer | ChoiceScorer | NumberScorer | JudgeScorer | LabelScorer
"""Told apart by `kind`."""


def reads_only_response(scorer: Scorer) -> bool:
    """Return whether *scorer* is a rule that reads the response and the task only, so that no context can change its score.

    A judge or a person reads more than words, and can be led by what a response says of its context.
    """
    return isinstance(scorer, PatternScorer | ChoiceScorer | NumberScorer)


# Named, owned and versioned definitions: properties, scoring functions, contexts, cue inventories,
# methods.


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
        # Default margin and ε are shares of the range, so it must have a width.
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
    """How exactly, so that `caveat audit score` can carry it out; None when it is only described."""


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
    """What in it could show a model that it is tested, apart from the cues of its blocks."""

    @property
    def block_names(self) -> tuple[str, ...]:
        """Names of the blocks that it is composed of, in order; a name that occurs twice is given twice."""
        parts = (self.system, *(turn.content for turn in self.messages), self.template)
        return tuple(name for part in parts if part is not None and not isinstance(part, str) for name in part)


class ContextSource(StrEnum):
    """Where the contexts of a distribution come from."""

    PRODUCTION = "production"
    """Traffic of the deployment itself."""
    PUBLIC_LOG = "public_log"
    """Published conversations of other users."""
    SIMULATED = "simulated"
    """Conversations that a model played."""
    WRITTEN = "written"
    """Texts that people wrote for the audit."""

    @property
    def words(self) -> str:
        """As a sentence has it."""
        return self.value.replace("_", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextSpec(Record):
    """A context distribution: P_test or one specification of P_deploy."""

    name: str
    description: str
    construction: str | None = None
    """How the contexts were sampled or written."""
    source: ContextSource | None = None
    """Where they come from; None: not stated."""
    contexts: tuple[ContextItem, ...] = ()
    """The contexts themselves; empty when they are only described."""
    blocks: dict[str, ContextBlock] | None = None
    """Named pieces of text that contexts are composed from."""
    edits: tuple[ContextEdit, ...] = ()
    """Versions of the contexts that are derived, not copied: a cue taken out, or a placebo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue(Record):
    """One cue with its place in the vocabulary of method section 6."""

    name: str
    category: str
    description: str | None = None
    count: int | None = None
    """How often it was named; None if it was not counted."""
    sources: tuple[str, ...] = ()
    """Who named it, and how often each: `raters: 7`, `model raters: 2`, `probe: 3`."""
    spellings: tuple[str, ...] = ()
    """Other words in which it was named, counted with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CueInventorySpec(Record):
    """The cues found in a distribution."""

    name: str
    cues: tuple[Cue, ...]
    held_out: str | None = None
    """`CUE-…@n` of the sealed inventory with the cues that were held out of this one; None where none were."""
    # Published with the inventory, the seed would reveal which cues were held out.
    seed: int | None = None
    """Of the draw, only in the sealed inventory: with the published cues it would show which were sampled."""


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
class SpecVersion(Payload):
    """One version of a specification; sealed when only its commitment is known."""

    KIND = "spec_version"
    spec: str
    """The identifier: `PRP-…`, `SCF-…`, `CTX-…`, `CUE-…` or `MTH-…`."""
    kind: SpecKind
    slug: str
    """A short name, unique per owner and kind."""
    version: int
    """From 1, without gaps."""
    owner: str
    """Authority code."""
    body: SpecBody | None = None
    commitment: str | None = None
    """SHA-256 of the salted body, hexadecimal, when the body is sealed."""
    why: str | None = None
    """Why this version was made; required from the second."""

    def __post_init__(self) -> None:
        # Exactly one of the two: a body next to its commitment would not be sealed, and neither of
        # them would define nothing.
        if (self.body is None) == (self.commitment is None):
            raise ValueError("a specification has either a body or a commitment")
        if self.version > 1 and not (self.why and self.why.strip()):
            raise ValueError("a version after the first needs its reason (why)")


# Graduated disclosure: a specification is sealed by a commitment now, shown to some, and revealed
# to everyone later.
#
# Decision of 2026-11-22: a live replay refuses a sealed context, because it would record what it
# asked. The cost: nothing else can be redacted.

_SALT = re.compile(r"[0-9a-f]{64}")
KEEP = "Keep this file and keep it secret: without it, no one can ever show what was sealed, and whoever has it can."


@dataclass(frozen=True, slots=True, kw_only=True)
# The salt has 32 bytes, so that short bodies cannot be found by trying candidates.
class SpecOpening(Record):
    """The body of a sealed specification version, with the salt that makes its commitment.

    The commitment is SHA-256 over the salt's 32 bytes and the canonical JSON (RFC 8785) of `{"kind": …, "body": …}`.
    """

    spec: str
    """`CTX-…@n` and the like."""
    spec_kind: SpecKind
    salt: str
    """32 bytes, hexadecimal: without it, no one can try bodies until one fits."""
    body: SpecBody

    def __post_init__(self) -> None:
        if not _SALT.fullmatch(self.salt):
            raise ValueError(f"a salt is 64 small hexadecimal digits, found {len(self.salt)} characters")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reveal(Payload):
    """A sealed specification is revealed; it must open the commitment."""

    KIND = "reveal"
    opening: SpecOpening
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SealFile(Record):
    """What the owner of a sealed specification keeps: written by `caveat spec seal`, read by `reveal` and `report --confidential`."""

    slug: str
    """The short name under which the commitment is recorded."""
    owner: str
    """Authority code of who sealed it."""
    opening: SpecOpening
    keep: str = KEEP
    """A word to whoever opens the file."""
    schema: Literal["caveat/seal/1"] = "caveat/seal/1"
