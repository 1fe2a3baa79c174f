"""Runs of a live replay as the log has them: entered before their first call, and what came of each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from registry.records.record import Record
from registry.records.trial import Run, RunStatus

NOT_RECORDED = "the start of this run was not recorded in the log, so other runs under this lock cannot be ruled out"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStart(Record):
    """A run under a lock, entered before its first call is sent. Resuming a run enters nothing."""

    audit: str
    run: str
    """32 hexadecimal digits, chosen at random and kept in the run folder: they tell a resumed run from a second one."""
    model: str
    """The name that is asked for."""
    planned: int
    """Calls that the replay plans."""
    before: int = 0
    """Calls that the run folder held already: above 0 where the replay did not name its audit at first."""

    def __post_init__(self) -> None:
        if len(self.run) != 32 or set(self.run) - set("0123456789abcdef"):
            raise ValueError(f"a run is named by 32 hexadecimal digits, got {self.run!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd(Record):
    """How a run ended. A run that goes on after that has a later one, and the last counts."""

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
    last = {one.payload.start: one.payload for one in ends}
    scored = {one.payload.start: one.entry.seq for one in runs if one.payload.start is not None}
    found = [
        RunHistory(
            entry=one.entry.seq,
            status=last[one.entry.seq].status if one.entry.seq in last else None,
            calls=last[one.entry.seq].calls if one.entry.seq in last else None,
            before=one.payload.before,
            why=last[one.entry.seq].why if one.entry.seq in last else None,
            imported=scored.get(one.entry.seq),
        )
        for one in starts
    ]
    elsewhere = [
        RunHistory(entry=None, status=one.payload.status, calls=None, imported=one.entry.seq) for one in runs if one.payload.start is None
    ]
    return (*found, *elsewhere)


_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def describe_runs(runs: Sequence[RunHistory], *, gave: RunHistory | None = None) -> str | None:
    """Return what became of all runs under one lock, as a clause without full stop; None without any.

    Args:
        gave: the run that gave the outcome, where it is not marked as imported yet.
    """
    if not runs:
        return None
    if len(runs) == 1:
        return f"1 run under this lock: {_describe_run(runs[0], gave=gave)}"
    told = "; ".join(f"the {_name(place)} {_describe_run(one, gave=gave)}" for place, one in enumerate(runs))
    return f"{len(runs)} runs under this lock: {told}"


def _name(place: int) -> str:
    return _ORDINALS[place] if place < len(_ORDINALS) else f"run with number {place + 1}"


def _describe_run(one: RunHistory, *, gave: RunHistory | None) -> str:
    late = f" (entered after {_count(one.before)})" if one.before else ""
    if one.imported is not None or one == gave:
        return f"gave this outcome{late}" if one.entry is not None else "gave this outcome, and its start was not recorded"
    if one.status is None or one.calls is None:
        return f"has no recorded end{late}"
    words = {RunStatus.COMPLETED: "was completed with", RunStatus.ABORTED: "was aborted after", RunStatus.FAILED: "was stopped after"}
    why = f" ({one.why})" if one.why else ""
    return f"{words[one.status]} {_count(one.calls)}{why}{late}"


def _count(calls: int) -> str:
    return f"{calls:,} call{'' if calls == 1 else 's'}"
