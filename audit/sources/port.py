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
    cue_removed: str | None = None
    judge: str | None = None
    judge_repeat: str | None = None
    extras: Mapping[str, str | float | None] = field(default_factory=dict)
    """Further columns, such as stop_reason, request_id, other scores by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What the user says of how a log becomes a table."""

    arms: Mapping[str, str] = field(default_factory=dict)
    """By path as it was given, the arm of that file's responses (`ARM=PATH` on the command line)."""
    arm_field: str | None = None
    """Where the arm stands instead: a dotted name such as `metadata.condition`, `task_args.framing`, `tags`."""
    context_field: str | None = None
    """Where the context stands; None: one context a file, called by the file's name without ending."""
    task_field: str | None = None
    """Where the task's identifier stands; None: the sample's own."""
    scorer: str | None = None
    """Which scorer's (metric's) scores; None where the log has one alone."""
    key: str | None = None
    """Which entry of a score that is an object."""
    values: Mapping[str, float] = field(default_factory=dict)
    """What a text or an answer is as a number, such as {C: 1, I: 0}; empty: the default of the format."""


Reader = Callable[[Sequence[Path], Reading], tuple[list[Row], Imported]]
"""Reads files of one format. Raises TableError with every fault."""
