"""The state of a run on the fleet: its sessions, its events, and how far its slices are."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from audit import errors as audit_errors
from audit.replay.call_engine import IN_FLIGHT, UNSENT
from audit.replay.run_budget import SpentAmount, TokenPrice
from fleet.database import FleetDatabase
from registry import errors
from registry.codec.canonical_documents import from_document, to_document
from registry.errors import CaveatError, Fault
from registry.records.record import Record
from registry.records.replay_run import Budget, Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSettings(Record):
    """How the calls of one session are made, by every worker alike."""

    policy: Policy
    base_url: str
    """Where the coordinator's requests would go; a worker that would ask elsewhere takes no slice."""
    concurrency: int
    timeout_s: float
    retry_failed: bool
    repeat_lost: bool
    prices: dict[str, TokenPrice]
    version: str
    """Of Caveat, at the coordinator."""
    rate: float | None = None
    """Requests a second, for all workers together; None: what the endpoint's headers say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """The latest state of a run."""

    id: int
    session: int
    state: str
    error: CaveatError | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceCounts:
    """How far the slices of a run are."""

    open: int
    """Neither done nor parked."""
    held: int
    """With an owner who has not released them."""
    parked: int
    all: int


def open_session(
    database: FleetDatabase, run: str, settings: SessionSettings, budget: Budget, spent: SpentAmount, *, unwanted: Collection[str] = ()
) -> int:
    """Begin a session of *run*, open the slices that have calls to be made in it, and return its number.

    Args:
        budget: of the whole run.
        spent: by the run folder before it came to the fleet.
        unwanted: keys of calls that earlier sessions asked for, and this one does not.
    """
    with database.transaction() as cursor:
        cursor.execute(
            "INSERT INTO fleet.session (run, session, settings) SELECT %(run)s, coalesce(max(session), 0) + 1, %(settings)s"
            " FROM fleet.session WHERE run = %(run)s RETURNING session",
            {"run": run, "settings": json.dumps(to_document(settings))},
        )
        row = cursor.fetchone()
        session = int(row[0]) if row else 0
        limits = {
            "run": run,
            "calls": _lower(budget.calls, spent.calls),
            "input": _lower(budget.input_tokens, spent.input_tokens),
            "output": _lower(budget.output_tokens, spent.output_tokens),
            "usd": _lower(budget.usd, spent.usd),
        }
        cursor.execute(
            "UPDATE fleet.purse SET limit_calls = %(calls)s, limit_input_tokens = %(input)s, limit_output_tokens = %(output)s,"
            " limit_usd = %(usd)s WHERE run = %(run)s",
            limits,
        )
        cursor.executemany("INSERT INTO fleet.unwanted VALUES (%s, %s, %s)", [(run, session, key) for key in unwanted])
        # A slice with calls that this session sends, or sends again, is open, and one that was parked gets another chance.
        cursor.execute(
            "UPDATE fleet.lease SET is_parked = false, deaths = 0, is_done = NOT EXISTS ("
            " SELECT FROM fleet.call LEFT JOIN LATERAL (SELECT id, failure FROM fleet.outcome WHERE outcome.run = call.run"
            "  AND outcome.key = call.key AND is_counted ORDER BY round DESC, is_late DESC LIMIT 1) AS last ON true"
            " WHERE call.run = lease.run AND call.slice = lease.slice AND (last.id IS NULL OR last.failure IS NOT NULL AND CASE"
            "  WHEN last.failure = %(in_flight)s THEN %(lost)s ELSE %(failed)s OR last.failure = ANY (%(unsent)s) END)"
            " AND NOT EXISTS (SELECT FROM fleet.unwanted WHERE unwanted.run = call.run AND session = %(session)s"
            "  AND unwanted.key = call.key)) WHERE run = %(run)s",
            {
                "run": run,
                "session": session,
                "in_flight": IN_FLIGHT,
                "lost": settings.repeat_lost,
                "failed": settings.retry_failed,
                "unsent": sorted(UNSENT),
            },
        )
        cursor.execute("INSERT INTO fleet.event (run, session, state) VALUES (%s, %s, 'running')", (run, session))
    return session


def _lower(limit: float | None, spent: float | None) -> float | None:
    return None if limit is None else limit - (spent or 0)


def read_settings(database: FleetDatabase, run: str, session: int) -> SessionSettings:
    """Return the settings of *session* of *run*."""
    document = database.call("SELECT settings FROM fleet.session WHERE run = %s AND session = %s", run, session)
    return from_document(SessionSettings, json.loads(document), where=f"session {session} of {run}")


def add_event(
    database: FleetDatabase,
    run: str,
    state: str,
    *,
    error: CaveatError | None = None,
    worker: str | None = None,
    after: Sequence[str] = ("running", "paused"),
) -> bool:
    """Set the state of *run*, where it is one of *after*; return whether it was."""
    fault = None if error is None else dump_error(error)
    rows = database.fetch(
        "INSERT INTO fleet.event (run, session, state, fault, worker) SELECT run, session, %s, %s, %s FROM fleet.event WHERE id ="
        " (SELECT max(id) FROM fleet.event WHERE run = %s) AND state = ANY (%s) RETURNING id",
        [state, fault, worker, run, list(after)],
    )
    return bool(rows)


def dump_error(error: CaveatError) -> str:
    """Return *error* as a text that `load_error` reads."""
    # No traceback and no time: the same error gives the same text on every machine.
    faults = [{field.name: getattr(fault, field.name) for field in fields(fault)} for fault in error.faults]
    return json.dumps({"error": type(error).__name__, "faults": faults}, sort_keys=True)


def load_error(text: str) -> CaveatError:
    """Return the error that *text* describes."""
    document: Mapping[str, Any] = json.loads(text)
    name = str(document["error"])
    kind = getattr(errors, name, None) or getattr(audit_errors, name, CaveatError)
    # Only an error of the family: the name comes from a row that any worker may write.
    kind = kind if isinstance(kind, type) and issubclass(kind, CaveatError) else CaveatError
    return kind(Fault(**fault) for fault in document["faults"])


def read_event(database: FleetDatabase, run: str) -> RunEvent | None:
    """Return the latest event of *run*; None where the fleet has no such run."""
    rows = database.fetch("SELECT id, session, state, fault FROM fleet.event WHERE run = %s ORDER BY id DESC LIMIT 1", [run])
    return None if not rows else RunEvent(id=rows[0][0], session=rows[0][1], state=rows[0][2], error=_load_stop(rows[0][3]))


def read_stop(database: FleetDatabase, run: str, session: int) -> CaveatError | None:
    """Return the error that stopped *session* of *run*; None where none did."""
    fault = database.call(
        "SELECT fault FROM fleet.event WHERE run = %s AND session = %s AND fault IS NOT NULL ORDER BY id LIMIT 1", run, session
    )
    return _load_stop(fault)


def _load_stop(text: str | None) -> CaveatError | None:
    return None if text is None else load_error(text)


def count_slices(database: FleetDatabase, run: str) -> SliceCounts:
    """Return how far the slices of *run* are."""
    row = database.fetch(
        "SELECT count(*) FILTER (WHERE NOT is_done AND NOT is_parked),"
        " count(*) FILTER (WHERE NOT is_released AND until > clock_timestamp()),"
        " count(*) FILTER (WHERE is_parked), count(*) FROM fleet.lease WHERE run = %s",
        [run],
    )[0]
    return SliceCounts(open=row[0], held=row[1], parked=row[2], all=row[3])


def list_free_slices(database: FleetDatabase, run: str) -> list[int]:
    """Return the open slices of *run* that no worker owns now, in order."""
    rows = database.fetch(
        "SELECT slice FROM fleet.lease WHERE run = %s AND NOT is_done AND NOT is_parked AND (is_released OR until <= clock_timestamp())"
        " ORDER BY slice",
        [run],
    )
    return [number for (number,) in rows]


def read_spent(database: FleetDatabase, run: str) -> SpentAmount:
    """Return what *run* has spent on the fleet; what may have been billed counts as if it had."""
    return read_account(database, run)[0]


def read_account(database: FleetDatabase, run: str) -> tuple[SpentAmount, SpentAmount]:
    """Return what *run* has spent on the fleet, and what it has set aside for calls under way."""
    row = database.fetch(
        "SELECT spent_calls, spent_input_tokens, spent_output_tokens, spent_usd, held_calls, held_input_tokens, held_output_tokens,"
        " held_usd FROM fleet.read_account(%s)",
        [run],
    )[0]
    spent, held = (
        SpentAmount(calls=calls, input_tokens=input_tokens, output_tokens=output_tokens, usd=usd)
        for calls, input_tokens, output_tokens, usd in (row[:4], row[4:])
    )
    return spent, held
