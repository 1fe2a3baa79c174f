"""A run folder's plan becomes rows, and the rows become a run folder again."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

from audit.records.model_response import Purpose, ReplayCell, Response
from audit.replay.run_store import Call, PlannedCall, RunStore, fold_body, load_response, open_store, unfold_body
from fleet.database import FleetDatabase, ServerFacts, read_facts
from fleet.slices import number_slices
from registry.errors import ConflictError, Fault, NotFoundError

_BLOCK = 4000
"""Rows of one transaction: each waits for the disk once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCalls:
    """What a coordinator asks the fleet for."""

    planned: Sequence[PlannedCall]
    settled: frozenset[str]
    """Keys with an outcome in the run folder from before the fleet, and not to be sent again."""
    before: Mapping[str, int]
    """Rounds by key that the run folder had made before."""


def check_server(database: FleetDatabase, run: str) -> ServerFacts:
    """Return the identity of the server; raises ConflictError where *run* was begun on another, or before a restore or failover."""
    facts = read_facts(database)
    rows = database.fetch("SELECT system, timeline FROM fleet.runs WHERE run = %s", [run])
    if rows and rows[0] != (facts.system, facts.timeline):
        problem = f"was begun on server {rows[0][0]}, timeline {rows[0][1]}; this is {facts.system}, timeline {facts.timeline}"
        raise ConflictError(Fault("database-moved", run, problem))
    return facts


def upload_plan(database: FleetDatabase, run: str, store: RunStore, wanted: WantedCalls, facts: ServerFacts) -> None:
    """Write the plan of the run folder *store* to the fleet; what is there already stays."""
    with database.transaction() as cursor:
        cursor.execute(
            "INSERT INTO fleet.runs (run, document, system, timeline) VALUES (%s, %s, %s, %s) ON CONFLICT DO NOTHING",
            (run, json.dumps({"name": run}), facts.system, facts.timeline),
        )
        cursor.execute("INSERT INTO fleet.purse (run) VALUES (%s) ON CONFLICT DO NOTHING", (run,))
        documents = [(run, name, json.dumps(document, ensure_ascii=True)) for name, document in store.dump_documents().items()]
        cursor.executemany("INSERT INTO fleet.document VALUES (%s, %s, %s) ON CONFLICT DO NOTHING", documents)
        # A document that is the latest of its name may not differ: the fleet makes the calls of one plan.
        cursor.execute("SELECT name, document FROM fleet.document WHERE run = %s", (run,))
        known = dict(cursor.fetchall())
        differing = sorted(name for _, name, document in documents if known[name] != document)
        if differing:
            problem = f"the fleet has another {', '.join(differing)} for this run"
            raise ConflictError(Fault("run-differs", run, problem))
        positions: dict[str, int] = {}
        cells = enumerate(store.list_cells())
        while block := list(islice(cells, _BLOCK)):
            cursor.executemany(
                "INSERT INTO fleet.cell VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
                [(run, position, *_list_names(cell), key) for position, (cell, key) in block],
            )
            for position, (_, key) in block:
                positions.setdefault(key, position)
        _upload_calls(cursor, run, wanted, positions)


def _upload_calls(cursor: Any, run: str, wanted: WantedCalls, positions: Mapping[str, int]) -> None:
    cursor.execute("SELECT key FROM fleet.call WHERE run = %s", (run,))
    known = {key for (key,) in cursor.fetchall()}
    calls = {planned.call.key: planned.call for planned in wanted.planned if planned.call.key not in wanted.settled}
    cursor.execute("SELECT coalesce(max(slice) + 1, 0) FROM fleet.lease WHERE run = %s", (run,))
    first = cursor.fetchone()[0]
    numbers = list(number_slices(calls, known, first=first))
    texts: dict[str, str] = {}
    requests: dict[str, str] = {}
    for key, _ in numbers:
        if calls[key].request not in requests:
            requests[calls[key].request], more = fold_body(calls[key].body)
            texts |= more
    cursor.executemany(
        "INSERT INTO fleet.text VALUES (%s, %s) ON CONFLICT DO NOTHING", [(sha256, json.dumps(text)) for sha256, text in texts.items()]
    )
    cursor.executemany("INSERT INTO fleet.request VALUES (%s, %s) ON CONFLICT DO NOTHING", list(requests.items()))
    cursor.executemany(
        "INSERT INTO fleet.call VALUES (%s, %s, %s, %s, %s, %s, %s)",
        [(run, key, calls[key].request, calls[key].index, positions[key], number, wanted.before.get(key, 0)) for key, number in numbers],
    )
    sizes = Counter(number for _, number in numbers)
    cursor.executemany("INSERT INTO fleet.lease (run, slice, calls) VALUES (%s, %s, %s)", [(run, *item) for item in sorted(sizes.items())])


def _list_names(cell: ReplayCell) -> tuple[str | int, ...]:
    return cell.task_id, cell.arm, cell.spec or "", cell.context_id, cell.cue_removed or "", cell.sample


# Back into a run folder.


def copy_outcomes(database: FleetDatabase, run: str, store: RunStore) -> Iterator[tuple[int, Response]]:
    """Write the outcomes of *run* that the run folder *store* does not hold yet to it, in the order of the plan.

    Gives each that was new with the session of its call. The order does not depend on which worker was first.
    """
    held = store.count_intents(Purpose.REPLAY)
    rows = database.stream(
        "SELECT DISTINCT ON (call.position, intent.round) call.key, call.before, call.request, call.index, intent.round, intent.session,"
        " intent.at, outcome.document FROM fleet.call JOIN fleet.intent USING (run, key) JOIN fleet.outcome USING (run, key, round)"
        " WHERE call.run = %s AND outcome.is_counted ORDER BY call.position, intent.round, outcome.is_late DESC",
        [run],
    )
    fresh = (row for row in rows if row[4] + row[1] > held.get(row[0], 0))
    while block := list(islice(fresh, _BLOCK)):
        responses = [(row[5], load_response(row[7])) for row in block]
        calls = [
            # The body is in the folder since the plan is; `keep_body` finds it by its digest.
            (Call(body={}, index=row[3], purpose=Purpose.REPLAY, request=row[2]), _normalise(row[6]), response)
            for row, (_, response) in zip(block, responses, strict=True)
        ]
        store.add_outcomes(calls)
        yield from responses


def _normalise(at: str) -> str:
    return datetime.fromisoformat(at).astimezone(UTC).isoformat()


def write_folder(database: FleetDatabase, run: str, folder: Path) -> int:
    """Write *run* as a run folder to *folder*; return how many outcomes were new there.

    Raises:
        NotFoundError: the fleet has no such run.
        ConflictError: the folder is for another run.
    """
    documents = dict(database.fetch("SELECT name, document FROM fleet.document WHERE run = %s", [run]))
    if not documents:
        names = ", ".join(name for (name,) in database.fetch("SELECT run FROM fleet.runs ORDER BY run")) or "none"
        raise NotFoundError(Fault("run-not-found", run, f"the fleet has no run of this name; it has: {names}"))
    store = open_store(folder, create=True)
    try:
        for name, document in documents.items():
            store.put_document(name, json.loads(document))
        store.add_cells(_read_cells(database, run))
        return sum(1 for _ in copy_outcomes(database, run, store))
    finally:
        store.close()


def _read_cells(database: FleetDatabase, run: str) -> Iterable[PlannedCall]:
    texts = {sha256: json.loads(content) for sha256, content in database.fetch("SELECT sha256, content FROM fleet.text")}
    rows = database.stream(
        "SELECT task_id, arm, spec, context_id, cue_removed, sample, call.request, call.index, folded FROM fleet.cell"
        " JOIN fleet.call USING (run, key) JOIN fleet.request ON sha256 = call.request WHERE run = %s ORDER BY cell.position",
        [run],
    )
    for task, arm, spec, context, cue, sample, request, index, folded in rows:
        cell = ReplayCell(task_id=task, arm=arm, spec=spec or None, context_id=context, cue_removed=cue or None, sample=sample)
        call = Call(body=unfold_body(folded, texts.__getitem__), index=index, purpose=Purpose.REPLAY, request=request)
        yield PlannedCall(cell=cell, call=call)
