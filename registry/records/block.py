"""What a measurement context is composed from: named pieces of text, turns, tools, and the edits that derive versions of it."""

from dataclasses import dataclass
from enum import StrEnum

from registry.records.record import Record

Parts = str | tuple[str, ...]
"""A text, or names of blocks that are joined by an empty line. `{task}` in a template or turn stands for the task's prompt, and
`{options}` for its options; a system prompt is sent as it stands."""


class Role(StrEnum):
    """Who says a turn."""

    USER = "user"
    ASSISTANT = "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Variants(Record):
    """A text for each value of a task's field, such as a code snippet in the task's language."""

    field: str
    """Name of the field of a task."""
    texts: dict[str, str]
    """By value of the field."""
    fallback: str | None = None
    """For values that have no text of their own, and tasks without the field; None: such a task is an error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Block(Record):
    """A named piece of text: the same for every task, or one for each value of a task's field."""

    text: str | None = None
    by: Variants | None = None
    cue: str | None = None
    """The cue that it carries: what in it could tell a model that it is tested; None when there is none."""
    description: str | None = None
    source: str | None = None
    """Where the text comes from: a file with its SHA-256, an address with its date."""

    def __post_init__(self) -> None:
        if (self.text is None) == (self.by is None):
            raise ValueError("a block has either a text or variants (by)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn(Record):
    """One message of the conversation before the task."""

    role: Role
    content: Parts


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Record):
    """A tool that the model is offered."""

    name: str
    description: str
    input_schema: dict[str, object]
    """JSON Schema of its input."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit(Record):
    """A version of every context that holds a block which it takes out or replaces."""

    name: str
    """What the score table calls it in `cue_removed`."""
    remove: tuple[str, ...] = ()
    """Names of blocks that are taken out."""
    replace: dict[str, str] | None = None
    """By name of the block that is taken out, the name of the block that stands in its place."""
    placebo: bool = False
    """Whether it touches no cue, and only shows what editing as such does."""
    description: str | None = None

    def __post_init__(self) -> None:
        if not self.remove and not self.replace:
            raise ValueError("an edit removes or replaces at least one block")
