"""The file that `caveat audit run` takes: tasks, arms, policy and budget of a replay."""

from dataclasses import dataclass
from typing import Literal

from registry.records.record import Record
from registry.records.specification import Scorer


@dataclass(frozen=True, slots=True, kw_only=True)
class Task(Record):
    """One task τ: what the user asks, and what belongs to it."""

    id: str
    """The `task_id` of the score table."""
    prompt: str
    fields: dict[str, str] | None = None
    """Values that select variants of blocks and the tasks of an arm, such as `target_language`."""
    options: tuple[str, ...] = ()
    """What a multiple-choice task offers, A first."""
    answer: str | None = None
    """The right option's letter, or the right number as it is written."""
    expected: tuple[str, ...] = ()
    """Regular expressions that a right response matches."""
    anti: tuple[str, ...] = ()
    """Regular expressions that it does not match."""
    family: str | None = None
    """Tasks that depend on each other have the same: paraphrases, variants of one template, questions on one document."""
    note: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TasksFile(Record):
    """The tasks of a replay."""

    tasks: tuple[Task, ...]
    schema: Literal["caveat/tasks/1"] = "caveat/tasks/1"


@dataclass(frozen=True, slots=True, kw_only=True)
# Decision of 2026-11-21: temperature, top_p and top_k are sent under API version 2023-06-01, the
# last one that accepts them. Provenance states for each whether it was set, default or not
# settable. The cost: an old header if they are set.
class Policy(Record):
    """The model policy π: endpoint, exact model, sampling parameters. None: the endpoint's default, and provenance says so."""

    model: str
    """The exact version; an alias that may come to mean another one is refused."""
    max_tokens: int
    base_url: str | None = None
    """None: ANTHROPIC_BASE_URL, else the SDK's own."""
    api_version: str | None = None
    """Header `anthropic-version`; None: the SDK's own. Sampling parameters can be set only below 2026-10-21."""
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop_sequences: tuple[str, ...] = ()
    effort: str | None = None
    thinking: dict[str, object] | None = None
    """As the API takes it, such as {type: enabled, budget_tokens: 2048}."""
    service_tier: str | None = None
    betas: tuple[str, ...] = ()
    # An alias can come to mean another version during an audit, so it needs explicit consent.
    allow_alias: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm(Record):
    """One arm of a replay: a context distribution that tasks are asked under."""

    arm: str
    """`test`, `deploy`, or a name of its own."""
    context: str
    """`CTX-…@n`, a short name of the registry, or a file beside the replay's."""
    spec: str | None = None
    """Name of the P_deploy specification; for arms called `deploy` where there are several."""
    edits: tuple[str, ...] | None = None
    """Which of the specification's edits are replayed too; None for none."""
    where: dict[str, tuple[str, ...]] | None = None
    """By field of a task, the values of the tasks that are asked in this arm; None: all tasks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget(Record):
    """What a replay may spend; None: no limit of its kind."""

    calls: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    # Decision of 2026-11-21: no prices are bundled, because an outdated price is worse than none. A
    # budget in dollars is refused without a table of prices.
    usd: float | None = None
    """Needs a price for each model."""

    def __post_init__(self) -> None:
        for name in ("calls", "input_tokens", "output_tokens", "usd"):
            if (value := getattr(self, name)) is not None and value < 0:
                raise ValueError(f"{name} is 0 or more, got {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe(Record):
    """Module 2: a judge reads reasoning and output for verbalised recognition of being tested."""

    model: str
    max_tokens: int = 1024
    base_url: str | None = None
    """The classifier's endpoint; None for that of the replay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay(Record):
    """Tasks, arms, policy, scoring and budget of one replay."""

    name: str
    tasks: str
    """A file beside this one: YAML or JSON (`caveat admin schema tasks`), JSONL, or CSV."""
    policy: Policy
    arms: tuple[Arm, ...]
    samples: int = 1
    """Responses to each task in each context."""
    scoring: Scorer | None = None
    probe: Probe | None = None
    budget: Budget = Budget()
    audit: str | tuple[str, ...] | None = None
    """`AUD-…` whose lock this replay answers to, or several that share its responses; None: an exploratory replay."""
    # Calls of both arms are mixed: a change of the endpoint during the run then affects both.
    seed: int = 0
    """Order in which calls are made: neither arm comes first."""
    schema: Literal["caveat/replay/1"] = "caveat/replay/1"

    @property
    def audits(self) -> tuple[str, ...]:
        """Every audit whose lock this replay answers to; empty for an exploratory one."""
        return (self.audit,) if isinstance(self.audit, str) else self.audit or ()

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ValueError(f"samples is 1 or more, got {self.samples}")
        if not self.arms:
            raise ValueError("a replay has at least one arm")
