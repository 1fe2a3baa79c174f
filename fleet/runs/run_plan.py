"""A run folder's plan becomes rows, and the rows become a run folder again."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from audit.records.model_response import Purpose, ReplayCell, Response
from audit.replay.call_engine import find_fleet_run
from audit.replay.run_store import Call, MadeCall, RunStore, fold_body, load_response, open_store
from fleet.database import FleetDatabase, ServerFacts, read_facts
from fleet.pieces import KINDS
from fleet.runs.slice_store import list_texts
from fleet.slices import number_slices
from registry.codec.canonical_documents import Json
from registry.errors import AlteredError, ConflictError, Fault, NotFoundError

_BLOCK = 4000
"""Rows of one transaction: each waits for the disk once."""
_SLICES = 24
"""Slices whose outcomes come into the run folder in one transaction: at most 6,144 are in memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCalls:
    """What a coordinator asks the fleet for."""

    purpose: Purpose
    calls: Iterable[Call]
    """In the order of the plan. They are read once, a few at a time; the same call twice is one call."""
    cells: Iterable[tuple[ReplayCell, str]]
    """Of a replay, in the order of planning, with the keys of their calls; a judge's calls have none."""
    documents: Mapping[str, Json]
    """By name: those that the run folder has, which a fetched folder gets."""
    find_settled: Callable[[Collection[str]], Collection[str]]
    """From keys to those with an outcome in the run folder from before the fleet, and not to be sent again."""
    before: Mapping[str, int]
    """Rounds by key that the run folder had made before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadedPlan:
    """What came of a plan that was written to the fleet."""

    calls: int
    open: int
    """Of these calls, that are to be made now."""
    unwanted: frozenset[str]
    """Keys of calls of the run that earlier sessions asked for, and this plan does not."""


def check_server(database: FleetDatabase, run: str) -> ServerFacts:
    """Return the identity of the server; raises ConflictError where *run* was begun on another, or before a restore or failover."""
    facts = read_facts(database)
    rows = database.fetch("SELECT system, timeline FROM fleet.runs WHERE run = %s", [run])
    if rows and rows[0] != (facts.system, facts.timeline):
        problem = f"was begun on server {rows[0][0]}, timeline {rows[0][1]}; this is {facts.system}, timeline {facts.timeline}"
        raise ConflictError(Fault("database-moved", run, problem))
    return facts


def upload_plan(database: FleetDatabase, run: str, wanted: WantedCalls, facts: ServerFacts) -> UploadedPlan:
    """Write the plan of *run* to the fleet; what is there already stays.

    Raises:
        ConflictError: the fleet has another document of a name for this run.
    """
    known = _begin_run(database, run, wanted, facts)
    keys: set[str] = set()
    fresh: list[tuple[str, str, int]] = []
    requests: set[str] = set()
    count, calls = 0, iter(wanted.calls)
    while block := list(islice(calls, _BLOCK)):
        # Only what is new is kept in memory, and without its body: a judge's requests hold the responses of a run.
        new = {call.key: call for call in block if call.key not in keys}
        keys.update(new)
        settled = set(wanted.find_settled(list(new)))
        count += len(new) - len(settled)
        missing = [call for key, call in new.items() if key not in settled and key not in known]
        fresh += [(call.key, call.request, call.index) for call in missing]
        _upload_requests(database, {call.request: call for call in missing if call.request not in requests})
        requests.update(call.request for call in missing)
    with database.transaction() as cursor:
        # The run folder only adds cells, so those that are there already are the first.
        cursor.execute("SELECT count(*) FROM fleet.cell WHERE run = %s", (run,))
        cells = islice(enumerate(wanted.cells), _read_number(cursor), None)
        _copy(cursor, "COPY fleet.cell FROM STDIN", ((run, position, *_list_names(cell), key) for position, (cell, key) in cells))
        cursor.execute("SELECT coalesce(max(slice) + 1, 0) FROM fleet.lease WHERE run = %s", (run,))
        numbers = dict(number_slices([key for key, _, _ in fresh], first=_read_number(cursor)))
        places = enumerate(fresh, start=max(known.values(), default=-1) + 1)
        rows = ((run, key, request, index, place, numbers[key], wanted.before.get(key, 0)) for place, (key, request, index) in places)
        _copy(cursor, "COPY fleet.call FROM STDIN", rows)
        sizes = sorted(Counter(numbers.values()).items())
        _copy(cursor, "COPY fleet.lease (run, slice, calls) FROM STDIN", ((run, *size) for size in sizes))
    return UploadedPlan(calls=len(keys), open=count, unwanted=frozenset(known.keys() - keys))


def _begin_run(database: FleetDatabase, run: str, wanted: WantedCalls, facts: ServerFacts) -> dict[str, int]:
    """Write down what is known of *run* before its calls; return the places of the calls that it has already, by key."""
    with database.transaction() as cursor:
        cursor.execute(
            "INSERT INTO fleet.runs (run, document, system, timeline, kind) VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
            (run, json.dumps({"name": run}), facts.system, facts.timeline, wanted.purpose.value),
        )
        cursor.execute("INSERT INTO fleet.purse (run) VALUES (%s) ON CONFLICT DO NOTHING", (run,))
        documents = [(run, name, json.dumps(document, ensure_ascii=True)) for name, document in wanted.documents.items()]
        cursor.executemany("INSERT INTO fleet.document VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", documents)
        # A document that is the latest of its name may not differ: the fleet makes the calls of one plan.
        cursor.execute("SELECT name, document FROM fleet.document WHERE run = %s", (run,))
        known = dict(cursor.fetchall())
        differing = sorted(name for _, name, document in documents if known[name] != document)
        if differing:
            problem = f"the fleet has another {', '.join(differing)} for this run"
            raise ConflictError(Fault("run-differs", run, problem))
        cursor.execute("SELECT key, position FROM fleet.call WHERE run = %s", (run,))
        return dict(cursor.fetchall())


def _upload_requests(database: FleetDatabase, calls: Mapping[str, Call]) -> None:
    """Write the bodies of *calls*, by digest; other runs may have them already."""
    folded = {request: fold_body(call.body) for request, call in calls.items()}
    texts = {sha256: text for _, own in folded.values() for sha256, text in own.items()}
    # In their order, and in a transaction of their own: two coordinators that write the same texts never wait in a circle.
    with database.transaction() as cursor:
        cursor.executemany(
            "INSERT INTO fleet.text VALUES (%s, %s) ON CONFLICT DO NOTHING", [(name, json.dumps(texts[name])) for name in sorted(texts)]
        )
        cursor.executemany(
            "INSERT INTO fleet.request VALUES (%s, %s) ON CONFLICT DO NOTHING", [(name, folded[name][0]) for name in sorted(folded)]
        )


def _read_number(cursor: Any) -> int:
    return int(cursor.fetchone()[0])


def _copy(cursor: Any, sql: str, rows: Iterable[tuple[object, ...]]) -> None:
    with cursor.copy(sql) as copy:
        for row in rows:
            copy.write_row(row)


def _list_names(cell: ReplayCell) -> tuple[str | int, ...]:
    return cell.task_id, cell.arm, cell.spec or "", cell.context_id, cell.cue_removed or "", cell.sample


# Back into a run folder.


def read_purpose(database: FleetDatabase, run: str) -> Purpose | None:
    """Return what the calls of *run* are for; None where the fleet has no run of calls of this name."""
    kind = database.call("SELECT kind FROM fleet.runs WHERE run = %s AND kind <> ALL (%s)", run, list(KINDS))
    return None if kind is None else Purpose(kind)


def copy_outcomes(database: FleetDatabase, run: str, store: RunStore) -> Iterator[tuple[int, Response]]:
    """Write the outcomes of *run* that the run folder *store* does not hold yet to it, in the order of the plan.

    Gives each that was new with the session of its call. The order does not depend on which worker was first.
    """
    purpose = read_purpose(database, run)
    if purpose is None:
        return
    held = store.count_intents(purpose)
    slices = iter(database.fetch("SELECT slice FROM fleet.lease WHERE run = %s ORDER BY slice", [run]))

    # Slices are stretches of the plan, so their order is its order.
    while numbers := [number for (number,) in islice(slices, _SLICES)]:
        fresh = [row for row in _read_outcomes(database, run, numbers) if row[3] + row[1] > held.get(row[0], 0)]
        calls = [MadeCall(at=_normalise(row[5]), response=load_response(row[6]), document=row[6]) for row in fresh]
        _check_own(run, purpose, fresh, calls)
        if calls:
            store.add_made_calls(calls, *_fetch_requests(database, store, {row[2] for row in fresh}))
        yield from ((row[4], call.response) for row, call in zip(fresh, calls, strict=True))


def _check_own(run: str, purpose: Purpose, rows: Sequence[tuple[Any, ...]], calls: Sequence[MadeCall]) -> None:
    """Raise AlteredError where the response of a row answers another call: it would count for that call in the run folder."""
    for row, call in zip(rows, calls, strict=True):
        if (call.response.key, call.response.request, call.response.purpose) != (row[0], row[2], purpose):
            problem = f"the outcome of the call {row[0][:16]}… is a response to the call {call.response.key[:16]}…; its row was altered"
            raise AlteredError(Fault("outcome-differs", run, problem))


def _read_outcomes(database: FleetDatabase, run: str, slices: Sequence[int]) -> list[tuple[Any, ...]]:
    """Return the outcomes that count of the calls in *slices*, in the order of the plan: a late answer instead of the loss before it."""
    rows = database.fetch(
        "SELECT call.key, call.before, call.request, intent.round, intent.session, intent.at, outcome.document, call.position,"
        " outcome.is_late FROM fleet.call JOIN fleet.intent USING (run, key) JOIN fleet.outcome USING (run, key, round)"
        " WHERE call.run = %s AND call.slice = ANY (%s) AND outcome.is_counted",
        [run, slices],
    )
    # Sorted here: PostgreSQL would move the documents on its disk.
    rows.sort(key=lambda row: (row[7], row[3], row[8]))
    return list({(row[7], row[3]): row for row in rows}.values())


def _fetch_requests(database: FleetDatabase, store: RunStore, digests: Collection[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Return those of the requests with *digests* that *store* does not have, folded, and their texts; both by digest."""
    missing = sorted(set(digests) - store.find_requests(digests))
    requests = dict(database.fetch("SELECT sha256, folded FROM fleet.request WHERE sha256 = ANY (%s)", [missing])) if missing else {}
    names = sorted({name for folded in requests.values() for name in list_texts(json.loads(folded))})
    texts = database.fetch("SELECT sha256, content FROM fleet.text WHERE sha256 = ANY (%s)", [names]) if names else []
    return requests, {name: json.loads(content) for name, content in texts}


def _normalise(at: str) -> str:
    # Nearly all are as they should be.
    return at if at.endswith("+00:00") else datetime.fromisoformat(at).astimezone(UTC).isoformat()


def write_folder(database: FleetDatabase, run: str, folder: Path) -> int:
    """Write *run* as a run folder to *folder*, or the calls of a judge into the run folder that they belong to.

    Returns:
        How many outcomes were new there.

    Raises:
        NotFoundError: the fleet has no such run.
        ConflictError: the folder is for another run.
    """
    purpose = read_purpose(database, run)
    if purpose is None:
        names = ", ".join(name for (name,) in database.fetch("SELECT run FROM fleet.runs ORDER BY run")) or "none"
        raise NotFoundError(Fault("run-not-found", run, f"the fleet has no run of this name; it has: {names}"))
    # A judge's calls are about the responses of a replay, which are in its folder.
    store = open_store(folder, create=purpose is Purpose.REPLAY)
    try:
        if purpose is not Purpose.REPLAY and find_fleet_run(store, purpose) != run:
            problem = f"the calls of {run} are about another run folder, or this one was copied before they began"
            raise ConflictError(Fault("run-differs", str(folder), problem))
        for name, document in database.fetch("SELECT name, document FROM fleet.document WHERE run = %s", [run]):
            store.put_document(name, json.loads(document))
        if purpose is Purpose.REPLAY:
            digests = {request for (request,) in database.fetch("SELECT DISTINCT request FROM fleet.call WHERE run = %s", [run])}
            store.add_made_calls((), *_fetch_requests(database, store, digests))
        store.add_fetched_cells(_list_cells(database, run))
        return sum(1 for _ in copy_outcomes(database, run, store))
    finally:
        store.close()


def _list_cells(database: FleetDatabase, run: str) -> Iterator[tuple[ReplayCell, str, str]]:
    """Give the cells of *run* with the keys of their calls and the digests of their requests."""
    rows = database.stream(
        "SELECT task_id, arm, spec, context_id, cue_removed, sample, key, call.request FROM fleet.cell"
        " JOIN fleet.call USING (run, key) WHERE run = %s ORDER BY cell.position",
        [run],
    )
    for task, arm, spec, context, cue, sample, key, request in rows:
        yield ReplayCell(task_id=task, arm=arm, spec=spec or None, context_id=context, cue_removed=cue or None, sample=sample), key, request
