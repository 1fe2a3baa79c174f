"""What every reader of logs hands over: rows of a score table, and its accounts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from registry.records.imported import Imported


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One response of a log, as a row of the score table."""

    task_id: str
    arm: str
    context_id: str
    sample: str
    score: float | None
    excluded_reason: str | None = None
    """Why there is no score; exactly when *score* is None."""
    spec: str | None = None
    """None: what the user said of the file (`deploy/agent=PATH`), or nothing."""
    cue_removed: str | None = None
    judge: str | None = None
    judge_repeat: str | None = None
    family: str | None = None
    """Tasks that depend on each other, such as paraphrases, have the same; None: not stated."""
    template: str | None = None
    """Contexts made from one template have the same; None: not stated."""
    stop_reason: str | None = None
    """Why the endpoint stopped, in its own word."""
    truncated: str | None = None
    """`yes` where something else than the endpoint ended the response; None: as *stop_reason* says."""
    settled: str | None = None
    refused: str | None = None
    text: str | None = None
    """What the task asks, for the search for near-duplicates; None where the reader does not know it. No column of a table."""
    extras: Mapping[str, str | float | None] = field(default_factory=dict)
    """Further columns, such as request_id, other scores by name."""
    file: str | None = None
    """Name of the file it stands in, as in the accounts; None where a reader was given one file."""
    place: str | None = None
    """Where it stands in that file, for messages: `sample calc-12, epoch 1`; None: its identifiers say it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the user says of how a log becomes a table."""

    arms: Mapping[str, str] = field(default_factory=dict)
    """By path as it was given, the arm of that file's responses (`ARM=PATH` on the command line)."""
    specs: Mapping[str, str] = field(default_factory=dict)
    """By path as it was given, the P_deploy specification (`ARM/SPEC=PATH`). The door sets it; readers need not."""
    arm_field: str | None = None
    """Where the arm stands instead: a dotted name such as `metadata.condition`, `task_args.framing`, `tags`."""
    arm_names: Mapping[str, str] = field(default_factory=dict)
    """By value of *arm_field*, the arm it stands for. The door applies it; readers hand over the values as they are."""
    context_field: str | None = None
    """Where the context stands; None: one context a file, called by the file's name without ending."""
    task_field: str | None = None
    """Where the task's identifier stands; None: the sample's own."""
    family_field: str | None = None
    """Where the family of the task stands, as *context_field*; None: families are not stated."""
    scorer: str | None = None
    """Which scorer's (metric's) scores; None where the log has one alone."""
    key: str | None = None
    """Which entry of a score that is an object; of a harness, which filter."""
    values: Mapping[str, float] = field(default_factory=dict)
    """What a text or an answer is as a number, such as {C: 1, I: 0}; empty: the default of the format."""
    unfinished: bool = False
    """Take a log also when its own status says that it did not finish; its accounts then say so."""

    def find_arm(self, path: Path) -> str | None:
        """Return the arm that was given for the file at *path*, however the path was written."""
        return next((arm for given, arm in self.arms.items() if Path(given) == path), None)


Reader = Callable[[Sequence[Path], Reading], tuple[list[Row], Imported]]
"""Reads files of one format. Raises TableError with every fault."""
