"""Replays: what a replay file defines, and the runs that were made of it."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal, Protocol

from registry.records.analysis_plan import Lock
from registry.records.model_version import EndpointName, ModelRef
from registry.records.record import Payload, Record
from registry.records.specification import ContextSpec, ModelApi, Scorer, Turn

# The file that `caveat audit run` takes: tasks, arms, policy and budget of a replay.


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPrefix(Record):
    """The conversation before a task's prompt, from real traffic: every arm continues the same one."""

    system: str = ""
    """The conversation's own system prompt, sent where a context says `{system}`; empty where it had none."""
    messages: tuple[Turn, ...] = ()
    """Its turns before the prompt, sent as they are."""


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
    weight: float | None = None
    """Weight of the task in every mean, above 0: 1/π of an item that was sampled with probability π. None: all tasks weigh the same."""
    prefix: TaskPrefix | None = None
    """The conversation that the prompt continues; the task then has contexts of its own, `CONTEXT/TASK`."""
    note: str | None = None

    @property
    def question(self) -> str:
        """What a judge or a person has to see of the task: its prompt, after the conversation that it continues."""
        if self.prefix is None or not self.prefix.messages:
            return self.prompt
        turns = ((turn.role.value, turn.content) for turn in self.prefix.messages)
        return "\n\n".join(f"[{role}]\n{text}" for role, text in (*turns, ("user", self.prompt)))


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
    api: ModelApi | None = None
    """What the endpoint speaks: `messages` (also for None) or `openai-chat`."""
    base_url: str | None = None
    """None: ANTHROPIC_BASE_URL or OPENAI_BASE_URL, else the SDK's own."""
    key: str | None = None
    """Name of the environment variable with the key, or `none`; None: ANTHROPIC_API_KEY or OPENAI_API_KEY."""
    api_version: str | None = None
    """`messages`: header `anthropic-version`; None: the SDK's own. Sampling parameters can be set only below 2026-10-21."""
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop_sequences: tuple[str, ...] = ()
    effort: str | None = None
    thinking: dict[str, object] | None = None
    """As the API takes it, such as {type: enabled, budget_tokens: 2048}."""
    service_tier: str | None = None
    betas: tuple[str, ...] = ()
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    """`openai-chat`: the name under which max_tokens is sent; None: `max_completion_tokens` to OpenAI's own hosts, else `max_tokens`."""
    # One seed for all samples of a task would give the same answer several times.
    seed: int | None = None
    """`openai-chat`: sample number n of a call is sent with seed + n, so that samples differ."""
    top_logprobs: int | None = None
    """`openai-chat`: ask for the log probability of each token, and of so many alternatives, 0 to 20."""
    extra: dict[str, object] | None = None
    """`openai-chat`: further parameters, sent as they are, such as {min_p: 0.05, chat_template_kwargs: {enable_thinking: false}}."""
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
    api: ModelApi | None = None
    """What it speaks; None: `messages`, or at the replay's own address what the replay says."""
    key: str | None = None
    """As `policy.key`."""


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
        """Every audit with a lock that this replay follows; empty for an exploratory one."""
        return (self.audit,) if isinstance(self.audit, str) else self.audit or ()

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ValueError(f"samples is 1 or more, got {self.samples}")
        if not self.arms:
            raise ValueError("a replay has at least one arm")


# A live replay: contexts, arms and outcomes, as the run folder contains them.


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedContexts(Record):
    """One context distribution that arms of a replay were composed from."""

    name: str
    """What the replay calls it: a file, a short name or an identifier."""
    reference: str | None
    """The registered specification, `CTX-…@n`; None for a file."""
    file: str | None
    """SHA-256 of the file, hexadecimal; None for a registered specification."""
    digest: str
    """SHA-256 of the specification's canonical document, hexadecimal, with the texts of all its blocks; of a sealed one its commitment."""
    spec: ContextSpec | None
    """The specification itself; None where it is sealed, withheld or too long to print, and then only its digest is known here."""
    is_sealed: bool = False
    """Whether `digest` is the salted commitment of `reference`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedArm(Record):
    """One entry of a replay's arms: which tasks were asked under which contexts."""

    arm: str
    spec: str | None
    """Name of the specification of P_deploy; None where there is only one, and for other arms."""
    contexts: str
    """`AskedContexts.name`."""
    tasks: int
    """Tasks that this entry asks, each in each of its contexts."""
    where: dict[str, tuple[str, ...]] | None = None
    """By field of a task, the values that chose them; None: all tasks of the replay."""
    edits: tuple[str, ...] = ()
    """Edits that are replayed in addition to the unchanged contexts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmOutcomes(Record):
    """Outcome of the planned responses of one arm, specification and edit."""

    arm: str
    spec: str | None
    cue_removed: str | None
    """Name of the edit; None for the contexts as they are."""
    planned: int
    answered: int
    """Answers of any kind; the next three are among them."""
    refused: int
    truncated: int
    """Cut by max_tokens or the context window."""
    empty: int
    """Without any text."""
    failures: dict[str, int]
    """Responses that never came, by reason: they are excluded."""

    @property
    def open(self) -> int:
        """Planned responses without an outcome."""
        return self.planned - self.answered - sum(self.failures.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests(Record):
    """The HTTP requests of a replay."""

    sent: int
    """Those with an outcome that is the latest of their call; calls in batches have none of their own."""
    repeated: int
    """Of these, repetitions of a request that got no message."""
    doubtful: int
    """Of the repetitions, those of a request that may have reached the model: they may be billed twice."""
    calls_again: int
    """Calls that were made once more after their first outcome (`--retry-failed`, `--repeat-lost`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayAccount(Record):
    """A live replay as a reader has to know it."""

    name: str
    tasks: int
    tasks_file: str | None
    """Name and SHA-256 of the file of tasks."""
    samples: int
    """Responses to each task in each context."""
    seed: int
    """Of the order in which calls were made, arms mixed."""
    contexts: tuple[RequestedContexts, ...]
    arms: tuple[RequestedArm, ...]
    outcomes: tuple[ArmOutcomes, ...]
    requests: Requests
    parts: dict[str, str]
    """What the replay was made of, as a lock fixes it (`Lock.replay_parts`)."""

    @property
    def is_disclosed(self) -> bool:
        """Whether every context is in this record whole."""
        return bool(self.contexts) and all(context.spec is not None for context in self.contexts)

    def list_contexts(self, arm: str) -> tuple[RequestedContexts, ...]:
        """Return what the entries of *arm* were composed from."""
        names = {requested_arm.contexts for requested_arm in self.arms if requested_arm.arm == arm}
        return tuple(context for context in self.contexts if context.name in names)

    def list_references(self, arm: str) -> tuple[str, ...]:
        """Return the registered specifications of *arm*; none where one of its distributions is a mere file."""
        texts = [contexts.reference for contexts in self.list_contexts(arm)]
        return tuple(name for name in texts if name) if all(texts) else ()


# A run: scores, identified by the digest of their table.


class RunStatus(StrEnum):
    """How a run ended; failed runs stay visible."""

    COMPLETED = "completed"
    ABORTED = "aborted"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class NearDuplicates(Record):
    """Tasks with texts that hardly differ although they are in no common family."""

    compared: int
    """Tasks with texts that were compared with each other."""
    not_compared: int
    """Tasks beyond the largest number that is compared."""
    found: int
    """Pairs of near-duplicates that are not in one family."""
    pairs: tuple[tuple[str, str], ...] = ()
    """The first of them, by task id."""
    repeated: int = 0
    """Tasks with the same words as an earlier one that is not in their family."""
    repeats: tuple[tuple[str, str], ...] = ()
    """The first of them, each after the task that it repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance(Record):
    """Where responses came from. None means: not stated, and the checklist says so."""

    endpoint: str | None = None
    model_requested: str | None = None
    model_returned: str | None = None
    """In words, as printed; only `models_returned` decides who was asked."""
    models_returned: tuple[str, ...] = ()
    """The model names that the responses themselves carry, sorted, each once; no one can state them separately."""
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
    scorer: str | None = None
    """Name of the scorer, metric or column with the scores that were taken, as the files have it; None where they name none."""
    other_scorers: tuple[str, ...] = ()
    """Scorers of the same files with scores that were not taken, sorted."""
    judge_uncertainty: str | None = None
    """How far its scores vary and err: repeats, a labelled subset; for a deterministic scorer, its measured errors."""
    transcripts: str | None = None
    """SHA-256 of the stored responses."""
    corpus_tasks: int | None = None
    """Number of tasks in the original evaluation; coverage is replayed / corpus."""
    scorer_reads_response: bool | None = None
    """Whether the scorer reads only the response and the task (patterns, an option, a number), so that no context can change a score."""
    imported: str | None = None
    """Of logs that were imported: one line each, with what it states, what was found and scored, and what was excluded and why."""
    budget_planned: str | None = None
    """What the replay itself allowed to be spent, apart from the budget of the lock."""
    run: str | None = None
    """Random name of the run folder, by which its start is found in the log; None where no start was entered."""
    near_duplicates: NearDuplicates | None = None
    """Whether tasks that look alike are in one family; None: the texts of the tasks were not available."""
    repeated_contexts: tuple[tuple[str, str], ...] = ()
    """Contexts of one side with the same words as another one of it and no common template, each after the one that it repeats."""
    doubts: tuple[str, ...] = ()
    """What makes the files of the scores doubtful, each as a clause: responses that they state and do not hold, scores edited later."""
    replayed: ReplayAccount | None = None
    """Contexts, arms and outcomes of a live replay, as its run folder holds them; None for other scores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExcludedCount(Record):
    """How many responses one side lost for one reason."""

    arm: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Payload):
    """Scores imported into an audit under its lock."""

    KIND = "run"
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


# Runs of a live replay in the log: recorded before their first call, and how each ended. A lock is
# for one run. With several, the scores could have been chosen, so all of them are shown.

NOT_RECORDED = "the start of this run was not recorded in the log, so other runs under this lock cannot be ruled out"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStart(Payload):
    """A run under a lock, entered before its first call is sent. Resuming a run enters nothing."""

    KIND = "run_start"
    audit: str
    run: str
    """32 hexadecimal digits, chosen at random and kept in the run folder: they distinguish a resumed run from a second one."""
    model: str
    """The name that is asked for."""
    planned: int
    """Calls that the replay plans."""
    before: int = 0
    """Calls that the run folder held already: above 0 where the replay did not name its audit at first."""

    def __post_init__(self) -> None:
        # The number ties the entry to a run folder. Resuming a folder is then distinguishable from
        # a second run.
        if len(self.run) != 32 or set(self.run) - set("0123456789abcdef"):
            raise ValueError(f"a run is named by 32 hexadecimal digits, got {self.run!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd(Payload):
    """How a run ended. A run that goes on after that has a later one, and the last counts."""

    KIND = "run_end"
    audit: str
    start: int
    """Number of the entry that the run was started with."""
    status: RunStatus
    calls: int
    """Calls with an outcome in the run folder, failures included."""
    why: str | None = None
    """What ended it early, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHistory(Record):
    """One run under a lock, from its start to what came of it."""

    entry: int | None
    """That started it; None for scores whose start was not recorded."""
    status: RunStatus | None
    """How it ended last; None where no end is recorded."""
    calls: int | None
    """Calls with an outcome at that end; None where no end is recorded."""
    before: int = 0
    """Calls that were made before the start was entered."""
    why: str | None = None
    imported: int | None = None
    """Entry of the run's scores; None where none were imported."""


class _Entry(Protocol):
    @property
    def seq(self) -> int: ...


class _StartEntry(Protocol):
    @property
    def entry(self) -> _Entry: ...
    @property
    def payload(self) -> RunStart: ...


class _EndEntry(Protocol):
    @property
    def entry(self) -> _Entry: ...
    @property
    def payload(self) -> RunEnd: ...


class _RunEntry(Protocol):
    @property
    def entry(self) -> _Entry: ...
    @property
    def payload(self) -> Run: ...


def list_runs(starts: Sequence[_StartEntry], ends: Sequence[_EndEntry], runs: Sequence[_RunEntry]) -> tuple[RunHistory, ...]:
    """Return every run under a lock in the order of the log: each start with its last end, and scores without a recorded start."""
    # A resumed run has several ends; the last one counts.
    last = {end.payload.start: end.payload for end in ends}
    scored = {run.payload.start: run.entry.seq for run in runs if run.payload.start is not None}
    histories = [
        RunHistory(
            entry=start.entry.seq,
            status=last[start.entry.seq].status if start.entry.seq in last else None,
            calls=last[start.entry.seq].calls if start.entry.seq in last else None,
            before=start.payload.before,
            why=last[start.entry.seq].why if start.entry.seq in last else None,
            imported=scored.get(start.entry.seq),
        )
        for start in starts
    ]
    # Scores without a recorded start are listed too: other runs under the lock cannot be ruled out
    # for them.
    elsewhere = [
        RunHistory(entry=None, status=entry.payload.status, calls=None, imported=entry.entry.seq)
        for entry in runs
        if entry.payload.start is None
    ]
    return (*histories, *elsewhere)


def describe_doubts(doubts: Sequence[str]) -> str:
    """Return the first of *doubts* about the files of the scores, and how many more there are, as a clause."""
    more = len(doubts) - 1
    return doubts[0] if not more else f"{doubts[0]}, and {more} more {'doubt' if more == 1 else 'doubts'} about the files"


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def describe_runs(runs: Sequence[RunHistory], *, gave: RunHistory | None = None) -> str | None:
    """Return the outcome of all runs under one lock, as a clause without full stop; None without any.

    Args:
        gave: the run that gave the outcome, where it is not marked as imported yet.
    """
    if not runs:
        return None
    # Several runs are listed one by one, because their number is a limit of the verdict.
    if len(runs) == 1:
        return f"1 run under this lock: it {_describe_run(runs[0], gave=gave)}"
    listing = "; ".join(f"the {_name_ordinal(place)} {_describe_run(run, gave=gave)}" for place, run in enumerate(runs))
    return f"{len(runs)} runs under this lock: {listing}"


def _name_ordinal(place: int) -> str:
    return _ORDINALS[place] if place < len(_ORDINALS) else f"run with number {place + 1}"


def _describe_run(run_history: RunHistory, *, gave: RunHistory | None) -> str:
    late = f" (entered after {_count(run_history.before)})" if run_history.before else ""
    if run_history.imported is not None or run_history == gave:
        return f"gave this outcome{late}" if run_history.entry is not None else "gave this outcome, and its start was not recorded"
    if run_history.status is None or run_history.calls is None:
        return f"has no recorded end{late}"
    words = {RunStatus.COMPLETED: "was completed with", RunStatus.ABORTED: "was aborted after", RunStatus.FAILED: "was stopped after"}
    why = f" ({run_history.why})" if run_history.why else ""
    return f"{words[run_history.status]} {_count(run_history.calls)}{why}{late}"


def _count(calls: int) -> str:
    return f"{calls:,} call{'' if calls == 1 else 's'}"


# Model identity: whether the names that an endpoint returned belong to the model version that a
# claim is about.


class ModelIdentityStatus(StrEnum):
    """What the returned names show of who was asked."""

    BOUND = "bound"
    """Every response names the claim's model version, and no other version has that name."""
    UNIDENTIFIED = "unidentified"
    """Responses carry no model name."""
    UNBOUND = "unbound"
    """A name was returned, and none was stated for the claim's model version when it counted."""
    CONFLICTING = "conflicting"
    """A returned name is stated for the claim's model version and for another one."""
    OTHER = "other"
    """A returned name is none of those of the claim's model version."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelIdentity(Record):
    """Who was asked, as the returned names show it."""

    model: ModelRef
    """The model version that the claim is about."""
    status: ModelIdentityStatus
    names_returned: tuple[str, ...]
    """As the responses carry them, sorted, each once."""
    names_expected: tuple[str, ...]
    """Those that count for `model`: of a locked audit the names in the lock that are still stated, else all that are stated."""
    belongs_to: tuple[EndpointName, ...] = ()
    """Other registered versions that a returned name belongs to, where it is none of the expected ones."""
    conflicts: tuple[EndpointName, ...] = ()
    """Other registered versions that a returned name is stated for too, where it is an expected one."""
    unnamed_responses: int = 0
    """Responses that carry no model name, where others do."""
    text: str
    """One sentence that names both: what was returned and what was expected."""

    @property
    def is_other(self) -> bool:
        """Whether a returned name is not one of `model`'s: the responses are then evidence about another version."""
        return self.status is ModelIdentityStatus.OTHER

    @property
    def is_bound(self) -> bool:
        """Whether the evidence is shown to be of the claim's model version."""
        return self.status is ModelIdentityStatus.BOUND

    def differs_from(self, other: "ModelIdentity | None") -> bool:
        """Whether *other* says something else of who was asked, whatever its words and whoever stated the names."""
        return other is None or _list_facts(self) != _list_facts(other)


def _list_facts(model_identity: ModelIdentity) -> tuple[object, ...]:
    elsewhere = [
        sorted({(name.name, str(name.model)) for name in names}) for names in (model_identity.belongs_to, model_identity.conflicts)
    ]
    return (
        model_identity.model,
        model_identity.status,
        model_identity.names_returned,
        sorted(model_identity.names_expected),
        elsewhere,
        model_identity.unnamed_responses,
    )


def find_model_identity(names: Iterable[EndpointName], model: ModelRef, lock: Lock | None, provenance: Provenance) -> ModelIdentity:
    """Return who was asked, by what the responses carry.

    Args:
        names: in force, of every model version (`View.list_endpoint_names`).
        model: the version that the claim is about.
        lock: fixes which names count; without one all that are stated do.
        provenance: of the responses.
    """
    # The names of the lock decide, not the present ones.
    locked = None if lock is None else lock.endpoint_names
    return assess_model_identity(names, model, provenance.models_returned, locked=locked, unnamed_responses=provenance.unnamed_responses)


def assess_model_identity(
    names: Iterable[EndpointName],
    model: ModelRef,
    returned: Collection[str],
    *,
    locked: Sequence[str] | None,
    unnamed_responses: int = 0,
) -> ModelIdentity:
    """Return who was asked. Names are compared letter by letter; the beginning of a name is another name.

    Args:
        names: in force, of every model version; those of other versions show what a returned name belongs to.
        model: the version that the claim is about.
        returned: the names that the responses carry.
        locked: the names that the lock fixes; None without a lock, and then all that are stated for *model* count.
        unnamed_responses: how many responses carry no name, where others do.
    """
    known = tuple(names)
    stated = tuple(dict.fromkeys(endpoint_name.name for endpoint_name in known if endpoint_name.model == model))
    # Under a lock only the names stated before it count, and only while still stated. Otherwise a
    # name could be added to fit the responses.
    expected = stated if locked is None else tuple(name for name in locked if name in stated)
    texts = tuple(sorted(set(returned)))
    unexpected = [name for name in texts if name not in expected]
    belongs_to = tuple(endpoint_name for endpoint_name in known if endpoint_name.name in unexpected and endpoint_name.model != model)
    conflicts = tuple(
        endpoint_name
        for endpoint_name in known
        if endpoint_name.name in texts and endpoint_name.name in expected and endpoint_name.model != model
    )
    # A retracted statement makes a name unbound, not the name of another model.
    retracted = bool(locked) and all(name in (locked or ()) for name in unexpected)
    # Decision of 2026-11-23: a missing name makes the verdict provisional, since nothing
    # contradicts the claim's version. Another version's name makes it inconclusive. The cost:
    # whoever removes model names gets a provisional verdict. The order is by gravity: a name of
    # another version outweighs unnamed responses.
    if not texts:
        status = ModelIdentityStatus.UNIDENTIFIED
        text = f"The logs and tables carry no model name, so nothing shows that {model} was asked{_describe_expected(expected)}."
    elif belongs_to or (unexpected and expected and not retracted):
        status, text = ModelIdentityStatus.OTHER, _describe_other(model, unexpected, expected, belongs_to)
    elif unexpected:
        status, text = ModelIdentityStatus.UNBOUND, _describe_unbound(model, unexpected, stated, locked)
    elif unnamed_responses:
        status = ModelIdentityStatus.UNIDENTIFIED
        responses = "response carries" if unnamed_responses == 1 else "responses carry"
        unnamed = f"{unnamed_responses:,} {responses} no model name, so nothing shows that {model} gave them"
        text = f"{unnamed}; others returned {_join_names(texts)}."
    elif conflicts:
        status = ModelIdentityStatus.CONFLICTING
        others = "; ".join(f"{conflict.name} also for {conflict.model} (by {', '.join(conflict.by)})" for conflict in conflicts)
        text = (
            f"The endpoint returned {_join_names(texts)}, stated for {model}, but {others}: the name does not show which of them was asked."
        )
    else:
        # Claims about two versions can both state none, and responses of one support no claim about the other.
        status = ModelIdentityStatus.BOUND if model.states_version else ModelIdentityStatus.UNBOUND
        text = _describe_expected_alone(model, texts)
    return ModelIdentity(
        model=model,
        status=status,
        names_returned=texts,
        names_expected=expected,
        belongs_to=belongs_to,
        conflicts=conflicts,
        unnamed_responses=unnamed_responses,
        text=text,
    )


def _describe_expected_alone(model: ModelRef, texts: Sequence[str]) -> str:
    if not model.states_version:
        return f"The endpoint returned {_join_names(texts)}, and the claim is about {model}: nothing shows that its version was asked."
    what = "an endpoint name" if len(texts) == 1 else "endpoint names"
    return f"The endpoint returned {_join_names(texts)}, stated as {what} of {model}."


def _describe_expected(expected: Sequence[str]) -> str:
    return f", and its endpoint {_name_noun(expected)} {_join_names(expected)}" if expected else ""


def _describe_other(model: ModelRef, unexpected: Sequence[str], expected: Sequence[str], belongs_to: Sequence[EndpointName]) -> str:
    owners = {
        endpoint_name.name: [str(owner.model) for owner in belongs_to if owner.name == endpoint_name.name] for endpoint_name in belongs_to
    }
    names = ", ".join(f"{name} (a name of {' and of '.join(owners[name])})" if name in owners else name for name in unexpected)
    if expected:
        return (
            f"The endpoint returned {names}; the claim is about {model}, and its endpoint {_name_noun(expected)} {_join_names(expected)}."
        )
    return f"The endpoint returned {names}; the claim is about {model}, for which no endpoint name counts."


def _describe_unbound(model: ModelRef, unexpected: Sequence[str], stated: Sequence[str], locked: Sequence[str] | None) -> str:
    if locked:
        return (
            f"The endpoint returned {_join_names(unexpected)}, which counted for {model} when the plan was locked; "
            "the statement was retracted since."
        )
    if locked is not None and stated:
        return (
            f"No endpoint name was stated for {model} when the plan was locked; the endpoint returned {_join_names(unexpected)}, "
            f"and since then {_join_names(stated)} was stated."
        )
    return f"No endpoint name is stated for {model}; the endpoint returned {_join_names(unexpected)}."


def _name_noun(names: Sequence[str]) -> str:
    return "name is" if len(names) == 1 else "names are"


def _join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else "no name"
