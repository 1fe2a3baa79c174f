"""What a live replay asked, and what came of it: contexts, arms and outcomes, as its run folder holds them."""

from dataclasses import dataclass

from registry.records.record import Record
from registry.records.spec import ContextSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedContexts(Record):
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
class AskedArm(Record):
    """One entry of a replay's arms: which tasks were asked under which contexts."""

    arm: str
    spec: str | None
    """Name of the specification of P_deploy; None where there is one alone, and for other arms."""
    contexts: str
    """`AskedContexts.name`."""
    tasks: int
    """Tasks that this entry asks, each in each of its contexts."""
    where: dict[str, tuple[str, ...]] | None = None
    """By field of a task, the values that chose them; None: all tasks of the replay."""
    edits: tuple[str, ...] = ()
    """Edits that are replayed beside the contexts as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmOutcomes(Record):
    """What became of the planned responses of one arm, specification and edit."""

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
    """Those whose outcome is the latest of their call; calls in batches have none of their own."""
    repeated: int
    """Of these, repetitions of a request that got no message."""
    doubtful: int
    """Of the repetitions, those of a request that may have reached the model: they may be billed twice."""
    calls_again: int
    """Calls that were made once more after their first outcome (`--retry-failed`, `--repeat-lost`)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed(Record):
    """A live replay as a reader has to know it."""

    name: str
    tasks: int
    tasks_file: str | None
    """Name and SHA-256 of the file of tasks."""
    samples: int
    """Responses to each task in each context."""
    seed: int
    """Of the order in which calls were made, arms mixed."""
    contexts: tuple[AskedContexts, ...]
    arms: tuple[AskedArm, ...]
    outcomes: tuple[ArmOutcomes, ...]
    requests: Requests
    parts: dict[str, str] | None = None
    """What the replay was made of, as a lock fixes it (`Lock.replay_parts`); None in records made before this was kept."""

    @property
    def is_disclosed(self) -> bool:
        """Whether every context stands in this record whole."""
        return bool(self.contexts) and all(one.spec is not None for one in self.contexts)

    def list_asked(self, arm: str) -> tuple[AskedContexts, ...]:
        """Return what the entries of *arm* were composed from."""
        names = {one.contexts for one in self.arms if one.arm == arm}
        return tuple(one for one in self.contexts if one.name in names)

    def list_references(self, arm: str) -> tuple[str, ...]:
        """Return the registered specifications of *arm*; none where one of its distributions is a mere file."""
        found = [one.reference for one in self.list_asked(arm)]
        return tuple(one for one in found if one) if all(found) else ()
