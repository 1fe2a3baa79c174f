"""What a fleet is doing: its replays, its pure work, its workers, its limits."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from audit.replay.call_engine import LOST
from audit.replay.run_budget import SpentAmount
from fleet.database import FleetDatabase
from fleet.pieces import KINDS
from fleet.runs.piece_store import PieceRun, list_poisoned, read_run
from fleet.runs.run_states import read_account, read_stop
from registry.errors import CaveatError


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOverview:
    """How far a run is."""

    run: str
    kind: str
    """What its calls are for: `replay` or `judge`."""
    state: str
    session: int
    calls: int
    answered: int
    failures: dict[str, int]
    late: int
    """Answers that came after their calls had been given up as lost, counted or not."""
    under_way: int
    slices: int
    slices_done: int
    slices_held: int
    parked: Sequence[tuple[int, list[dict[str, Any]]]]
    spent: SpentAmount
    held: SpentAmount
    stopped: CaveatError | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceOverview:
    """How far a run of pure work is."""

    run: str
    kind: str
    state: str
    pieces: int
    """That were added so far."""
    done: int
    failed: int
    """Of those that are done: their inputs lead to an error on every machine."""
    slices_held: int
    parked: Sequence[tuple[str, list[dict[str, str]]]]
    """Pieces that ended three workers, each with their last messages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerOverview:
    """A worker as its row says."""

    worker: str
    version: str
    kinds: list[str]
    slots: int
    slices: int
    """That it owns now."""
    silent_s: float
    """Since it was last heard of."""
    message: str | None
    differs: str | None
    """Why it gets no pieces of a run that goes on: `press-differs` or `worker-differs`, and how."""
    is_draining: bool
    is_alive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaOverview:
    """The rate limit of an endpoint and a key."""

    endpoint: str
    key: str
    """Fingerprint."""
    rate: float | None
    paused_s: float


def list_runs(database: FleetDatabase, run: str | None = None) -> list[RunOverview]:
    """Return the runs of calls of the fleet, or the one called *run*, in the order in which they were begun."""
    rows = database.fetch(
        "SELECT run, kind FROM fleet.runs WHERE kind <> ALL (%s) AND (run = %s OR %s::text IS NULL) ORDER BY at", [list(KINDS), run, run]
    )
    return [_read_run(database, name, kind) for name, kind in rows]


def list_piece_runs(database: FleetDatabase, run: str | None = None) -> list[PieceOverview]:
    """Return the runs of pieces that are not over, or the one called *run*, in the order in which they were begun."""
    rows = database.fetch(
        "SELECT run, kind, fleet.read_state(run), count(position), count(digest), count(*) FILTER (WHERE is_failure),"
        " (SELECT count(*) FROM fleet.lease WHERE lease.run = runs.run AND NOT is_released AND until > clock_timestamp())"
        " FROM fleet.runs LEFT JOIN fleet.run_piece USING (run) LEFT JOIN fleet.piece USING (name, kind)"
        " WHERE kind = ANY (%s) AND (run = %s OR (%s::text IS NULL AND fleet.read_state(run) IN ('running', 'paused')))"
        " GROUP BY run, kind, runs.at ORDER BY runs.at",
        [list(KINDS), run, run],
    )
    return [
        PieceOverview(
            run=row[0],
            kind=row[1],
            state=row[2],
            pieces=row[3],
            done=row[4],
            failed=row[5],
            slices_held=row[6],
            parked=[(poisoned.label, poisoned.messages) for poisoned in list_poisoned(database, row[0])],
        )
        for row in rows
    ]


def _read_run(database: FleetDatabase, run: str, kind: str) -> RunOverview:
    events = database.fetch("SELECT state, session FROM fleet.event WHERE run = %s ORDER BY id DESC LIMIT 1", [run])
    state, session = events[0] if events else ("new", 0)
    failures: dict[str, int] = {}
    answered = late = 0
    # A late answer replaces a loss.
    for is_counted, failure, is_late, count in database.fetch(
        "SELECT is_counted, failure, is_late, sum(outcomes)::bigint FROM fleet.tally WHERE run = %s GROUP BY 1, 2, 3", [run]
    ):
        late += count if is_late or not is_counted else 0
        if not is_counted:
            continue
        if not failure:
            answered += count
        else:
            failures[failure] = count
        if is_late:
            failures[LOST] = failures.get(LOST, 0) - count
    # The calls under way are in slices that have not been given back; the others need not be counted.
    under_way = database.call(
        "SELECT count(*) FROM fleet.lease JOIN fleet.intent USING (run, slice) WHERE run = %s AND NOT is_released AND NOT EXISTS (SELECT"
        " FROM fleet.outcome WHERE outcome.run = intent.run AND outcome.key = intent.key AND outcome.round = intent.round)",
        run,
    )
    calls, slices, done, held = database.fetch(
        "SELECT coalesce(sum(calls), 0)::int, count(*), count(*) FILTER (WHERE is_done),"
        " count(*) FILTER (WHERE NOT is_released AND until > clock_timestamp()) FROM fleet.lease WHERE run = %s",
        [run],
    )[0]
    parked = database.fetch("SELECT slice, messages FROM fleet.lease WHERE run = %s AND is_parked ORDER BY slice", [run])
    spent, held_amount = read_account(database, run)
    return RunOverview(
        run=run,
        kind=kind,
        state=state,
        session=session,
        calls=calls,
        answered=answered,
        failures={code: count for code, count in sorted(failures.items()) if count},
        late=late,
        under_way=under_way,
        slices=slices,
        slices_done=done,
        slices_held=held,
        parked=[(row[0], row[1]) for row in parked],
        spent=spent,
        held=held_amount,
        stopped=read_stop(database, run, session),
    )


def list_workers(database: FleetDatabase, lease_s: float) -> list[WorkerOverview]:
    """Return the workers that have not ended in order, by name; one that is silent for longer than a lease is not alive."""
    rows = database.fetch(
        "SELECT worker, version, kinds, slots, (SELECT count(*) FROM fleet.lease WHERE lease.worker = worker.worker AND NOT is_released"
        " AND until > clock_timestamp()), extract(epoch FROM clock_timestamp() - seen)::float8, message, is_draining, facts"
        " FROM fleet.worker WHERE NOT is_ended ORDER BY worker"
    )
    wanted = database.fetch(
        "SELECT run FROM fleet.runs WHERE kind = ANY (%s) AND fleet.read_state(run) IN ('running', 'paused')", [list(KINDS)]
    )
    runs = [piece_run for (name,) in wanted if (piece_run := read_run(database, name)) is not None]
    return [
        WorkerOverview(
            worker=row[0],
            version=row[1],
            kinds=row[2],
            slots=row[3],
            slices=row[4],
            silent_s=round(max(0.0, row[5]), 1),
            message=row[6],
            differs=_find_difference(row[0], row[2], json.loads(row[8]), runs),
            is_draining=row[7],
            is_alive=row[5] <= lease_s,
        )
        for row in rows
    ]


def _find_difference(worker: str, kinds: Sequence[str], facts: Mapping[str, Any], runs: Sequence[PieceRun]) -> str | None:
    for piece_run in runs:
        equipment = piece_run.equipment
        versions = facts.get("equipment", {}).get(equipment.kind, {})
        fault = equipment.find_difference(worker, versions) if equipment.kind in kinds else None
        if fault is not None:
            return f"takes no piece of {piece_run.run}: {fault.code}: {fault.found}"
    return None


def list_quotas(database: FleetDatabase) -> list[QuotaOverview]:
    """Return the rate limits that the fleet knows."""
    rows = database.fetch(
        "SELECT endpoint, key, rate, greatest(0, extract(epoch FROM paused_until - clock_timestamp()))::float8"
        " FROM fleet.quota ORDER BY 1, 2"
    )
    return [QuotaOverview(endpoint=row[0], key=row[1], rate=row[2], paused_s=row[3]) for row in rows]


def count_ignored(database: FleetDatabase) -> int:
    """Return how many jobs named no slice of a run."""
    return int(database.call("SELECT count(*) FROM fleet.ignored"))


def drain_workers(database: FleetDatabase, name: str | None) -> list[str]:
    """Ask the worker called *name*, or all, to finish their slices and end; return their names."""
    rows = database.fetch(
        "UPDATE fleet.worker SET is_draining = true WHERE NOT is_ended AND (worker = %s OR %s::text IS NULL) RETURNING worker", [name, name]
    )
    return sorted(worker for (worker,) in rows)
