"""Leases on slices: one owner at a time, and what became open by the death of an owner is settled as lost in flight."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from audit.records.model_response import Failure, Purpose, Response
from audit.replay.call_engine import IN_FLIGHT
from fleet.database import FleetDatabase, to_json
from fleet.limits import LeaseGuard
from registry.codec.canonical_documents import canonical_bytes, to_document

DEADLY = 3
"""Workers that a slice may kill, or end with an error, one after the other without a single outcome."""
FIRST_SPLIT = 1_000_000_000
"""Numbers of slices from here on are those of pieces that were parted from one that a worker died of."""
_LOST = "the call was in flight when its worker died; it may have been billed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceLease:
    """A slice that this worker owns."""

    run: str
    slice: int
    epoch: int
    session: int
    guard: LeaseGuard


def acquire_lease(database: FleetDatabase, run: str, number: int, *, worker: str, lease_s: float, now: datetime) -> SliceLease | None:
    """Return the lease on slice *number* of *run*; None where it is done, parked, another worker's or unknown, or the run is not running.

    A take-over raises the epoch and waits for the sending transactions of the epoch before. After it, none can be committed.
    """
    asked_at = time.monotonic()
    with database.transaction() as cursor:
        cursor.execute(
            "SELECT epoch, until > clock_timestamp() OR is_done OR is_parked, is_released, deaths, fleet.read_state(run),"
            " (SELECT max(session) FROM fleet.session WHERE session.run = lease.run)"
            " FROM fleet.lease WHERE run = %s AND slice = %s FOR UPDATE",
            (run, number),
        )
        row = cursor.fetchone()
        if row is None or row[1] or row[4] != "running":
            return None
        epoch, _, is_released, deaths, _, session = row
        # Also after a release: a worker that lost the database cannot know what was committed of its last transaction.
        _settle_lost(cursor, run, number, now)
        if not is_released:
            is_parked = _note_death(cursor, run, number, epoch=epoch, deaths=deaths)
            _isolate_piece(cursor, run, number)
            if is_parked:
                return None
        cursor.execute(
            "UPDATE fleet.lease SET epoch = epoch + 1, worker = %s, is_released = false,"
            " until = clock_timestamp() + make_interval(secs => %s) WHERE run = %s AND slice = %s",
            (worker, lease_s, run, number),
        )
    guard = LeaseGuard(lease_s)
    guard.renew(asked_at)
    return SliceLease(run=run, slice=number, epoch=epoch + 1, session=session, guard=guard)


def _note_death(cursor: Any, run: str, number: int, *, epoch: int, deaths: int) -> bool:
    """Count the death of the last owner, if nothing came of its work; return whether the slice is parked for that."""
    cursor.execute(
        "SELECT EXISTS (SELECT FROM fleet.intent JOIN fleet.outcome USING (run, key, round) WHERE intent.run = %s AND slice = %s AND"
        " epoch = %s AND failure IS DISTINCT FROM %s)",
        (run, number, epoch, IN_FLIGHT),
    )
    deaths = 0 if cursor.fetchone()[0] else deaths + 1
    cursor.execute(
        "UPDATE fleet.lease SET deaths = %s, is_parked = %s, is_released = true,"
        " messages = messages || jsonb_build_array(jsonb_build_object('worker', worker, 'message',"
        " coalesce((SELECT message FROM fleet.worker WHERE worker.worker = lease.worker), 'it died')))"
        " WHERE run = %s AND slice = %s",
        (deaths, deaths >= DEADLY, run, number),
    )
    return deaths >= DEADLY


def _isolate_piece(cursor: Any, run: str, number: int) -> None:
    """Leave the slice the piece that was under way when its owner died or failed, and give those after it a slice of their own.

    Pieces are done one after the other, so it is the first without a result. What it does to its workers, the others do not suffer.
    A slice of calls has no pieces, and stays as it is.
    """
    cursor.execute(
        "SELECT position FROM fleet.run_piece JOIN fleet.piece USING (name) WHERE run = %s AND slice = %s AND result IS NULL"
        " ORDER BY position OFFSET 1",
        (run, number),
    )
    positions = [position for (position,) in cursor.fetchall()]
    if not positions:
        return
    # Two workers do not take the same number. Those that the coordinator gives are far below.
    cursor.execute("SELECT FROM fleet.runs WHERE run = %s FOR NO KEY UPDATE", (run,))
    cursor.execute(
        "INSERT INTO fleet.lease (run, slice) SELECT run, greatest(max(slice) + 1, %s) FROM fleet.lease WHERE run = %s GROUP BY run"
        " RETURNING slice",
        (FIRST_SPLIT, run),
    )
    cursor.execute("UPDATE fleet.run_piece SET slice = %s WHERE run = %s AND position = ANY (%s)", (cursor.fetchone()[0], run, positions))


def settle_expired(database: FleetDatabase, run: str, now: datetime) -> int:
    """Settle the calls of dead workers of *run* as lost in flight; return how many slices had ended without their workers."""
    with database.transaction() as cursor:
        cursor.execute(
            "SELECT slice FROM fleet.lease WHERE run = %s AND NOT is_released AND until <= clock_timestamp() ORDER BY slice FOR UPDATE",
            (run,),
        )
        numbers = [number for (number,) in cursor.fetchall()]
        for number in numbers:
            _settle_lost(cursor, run, number, now)
            cursor.execute("UPDATE fleet.lease SET epoch = epoch + 1, is_released = true WHERE run = %s AND slice = %s", (run, number))
    return len(numbers)


def _settle_lost(cursor: Any, run: str, number: int, now: datetime) -> None:
    """Give every intent of the slice that has no outcome one. Called under the lock of its lease, so none can be added."""
    cursor.execute(
        "SELECT intent.key, round, request, requested.model, intent.input_tokens, intent.output_tokens, intent.usd, intent.at, runs.kind"
        " FROM fleet.intent JOIN fleet.call USING (run, key) JOIN fleet.runs USING (run),"
        " LATERAL (SELECT folded::jsonb ->> 'model' AS model FROM fleet.request WHERE sha256 = call.request) AS requested"
        " WHERE intent.run = %s AND intent.slice = %s AND NOT EXISTS"
        " (SELECT FROM fleet.outcome WHERE outcome.run = intent.run AND outcome.key = intent.key AND outcome.round = intent.round)",
        (run, number),
    )
    lost = [_describe_lost(row, now=now) for row in cursor.fetchall()]
    if lost:
        cursor.execute("SELECT fleet.settle(%s, NULL, %s::jsonb)", (run, to_json(lost)))


def _describe_lost(row: Sequence[Any], *, now: datetime) -> dict[str, Any]:
    key, number, request, model, input_tokens, output_tokens, usd, at, kind = row
    response = Response(
        key=key,
        request=request,
        purpose=Purpose(kind),
        model_requested=model,
        sent_at=datetime.fromisoformat(at),
        received_at=now,
        failure=Failure(code=IN_FLIGHT, message=_LOST),
    )
    amount = {"calls": 1, "input_tokens": input_tokens, "output_tokens": output_tokens, "usd": usd}
    return {"key": key, "round": number, "failure": IN_FLIGHT, "requested": model, "returned": None, **amount,
            "document": canonical_bytes(to_document(response)).decode()}  # fmt: skip


def renew_leases(database: FleetDatabase, worker: str, leases: Sequence[SliceLease]) -> None:
    """Renew *leases* of *worker*, and mark those that another worker has taken as lost."""
    if not leases:
        return
    asked_at = time.monotonic()
    rows = database.fetch(
        "UPDATE fleet.lease SET until = clock_timestamp() + make_interval(secs => %s) FROM unnest(%s::text[], %s::int[], %s::int[])"
        " AS mine (run, slice, epoch) WHERE lease.run = mine.run AND lease.slice = mine.slice AND lease.epoch = mine.epoch"
        # A lease that has just ended and that no one took is renewed too: its epoch is still the last.
        " AND NOT lease.is_released AND lease.worker = %s RETURNING lease.run, lease.slice, lease.epoch",
        [
            leases[0].guard.lease_s,
            [lease.run for lease in leases],
            [lease.slice for lease in leases],
            [lease.epoch for lease in leases],
            worker,
        ],
    )
    renewed = set(rows)
    for lease in leases:
        if (lease.run, lease.slice, lease.epoch) in renewed:
            lease.guard.renew(asked_at)
        else:
            lease.guard.is_lost = True


def release_lease(database: FleetDatabase, lease: SliceLease, *, message: str | None = None) -> bool:
    """End *lease*; return whether every call of the slice has an outcome that is not to be sent again.

    Args:
        message: the error that ended its work; None where there was none.
    """
    with database.transaction() as cursor:
        # A slice with an error is not the fault of one worker: after three it is parked, and a person looks at it.
        cursor.execute(
            "UPDATE fleet.lease SET until = '-infinity', is_released = true,"
            " deaths = CASE WHEN %(message)s::text IS NULL THEN 0 ELSE deaths + 1 END,"
            " is_parked = %(message)s::text IS NOT NULL AND deaths + 1 >= %(deadly)s,"
            " messages = CASE WHEN %(message)s::text IS NULL THEN messages"
            "  ELSE messages || jsonb_build_array(jsonb_build_object('worker', worker, 'message', %(message)s::text)) END,"
            " is_done = %(message)s::text IS NULL AND NOT fleet.is_slice_open(run, slice)"
            " WHERE run = %(run)s AND slice = %(slice)s AND epoch = %(epoch)s RETURNING is_done",
            {"message": message, "deadly": DEADLY, "run": lease.run, "slice": lease.slice, "epoch": lease.epoch},
        )
        row = cursor.fetchone()
        if row is not None and message is not None:
            _isolate_piece(cursor, lease.run, lease.slice)
    return bool(row and row[0])
