"""Pieces of pure work as rows: a run asks for them, workers keep their results, and the run takes them back."""

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from fleet.database import FleetDatabase, read_facts
from fleet.pieces import KINDS, Equipment, Piece, name_piece
from fleet.runs.run_states import add_event, load_error
from registry.errors import AlteredError, CaveatError, ConflictError, Fault

NO_SLICE = -1
"""Of a piece whose result was there when it was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceRun:
    """What all pieces of a run have in common."""

    run: str
    equipment: Equipment
    settings: dict[str, Any]
    """What bounds the work and does not shape its result, such as a time limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPiece:
    """A piece that a worker is to do."""

    name: str
    label: str
    inputs: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceResult:
    """What came of a piece."""

    name: str
    worker: str
    result: bytes | CaveatError
    """An error is one that the inputs lead to on every machine."""


def begin_run(database: FleetDatabase, piece_run: PieceRun) -> None:
    """Write down a run of pieces, to which they are added later."""
    facts = read_facts(database)
    document = json.dumps({"equipment": json.loads(piece_run.equipment.document), "settings": piece_run.settings})
    with database.transaction() as cursor:
        cursor.execute(
            "INSERT INTO fleet.runs (run, document, system, timeline, kind) VALUES (%s, %s, %s, %s, %s)",
            (piece_run.run, document, facts.system, facts.timeline, piece_run.equipment.kind),
        )
        cursor.execute("INSERT INTO fleet.session (run, session, settings) VALUES (%s, 1, '{}')", (piece_run.run,))
        cursor.execute("INSERT INTO fleet.event (run, session, state) VALUES (%s, 1, 'running')", (piece_run.run,))


def read_run(database: FleetDatabase, run: str) -> PieceRun | None:
    """Return the run of pieces called *run*; None where it is none."""
    text = database.call("SELECT document FROM fleet.runs WHERE run = %s AND kind = ANY (%s)", run, list(KINDS))
    if text is None:
        return None
    document = json.loads(text)
    equipment = document["equipment"]
    return PieceRun(run=run, equipment=Equipment(kind=equipment["kind"], versions=equipment["versions"]), settings=document["settings"])


def add_pieces(database: FleetDatabase, piece_run: PieceRun, pieces: Sequence[Piece], *, first: int, slice_size: int) -> list[int]:
    """Add *pieces* to the run from position *first*; return the new slices, which have the pieces that have no result yet.

    Repeated with the same position it changes nothing: a coordinator asks again when its connection broke.
    """
    equipment = piece_run.equipment
    names = [piece.name(equipment) for piece in pieces]
    inputs = {name: piece.inputs for name, piece in zip(names, pieces, strict=True)}
    with database.transaction() as cursor:
        # What a crash of the server takes is asked for again.
        cursor.execute("SET LOCAL synchronous_commit = off")
        cursor.execute("LOCK TABLE fleet.run_piece IN ROW EXCLUSIVE MODE")
        cursor.executemany(
            "INSERT INTO fleet.piece (name, kind, equipment, inputs) VALUES (%s, %s, %s, %s) ON CONFLICT (name) DO UPDATE"
            " SET inputs = excluded.inputs WHERE piece.inputs IS NULL",
            # Two transactions that add the same pieces wait for each other, and never in a circle.
            [(name, equipment.kind, equipment.document, inputs[name]) for name in sorted(inputs)],
        )
        cursor.execute("SELECT name FROM fleet.piece WHERE name = ANY (%s) AND result IS NULL", (names,))
        open_names = {name for (name,) in cursor.fetchall()}
        seen: set[str] = set()
        rows, count = [], 0
        for position, (name, piece) in enumerate(zip(names, pieces, strict=True), start=first):
            is_new = name in open_names and name not in seen
            seen.add(name)
            # The number of a slice is the position of its first piece, so a repetition gives the same.
            rows.append((piece_run.run, position, first + count // slice_size if is_new else NO_SLICE, piece.label, name))
            count += is_new
        cursor.executemany("INSERT INTO fleet.run_piece VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING", rows)
        slices = sorted({row[2] for row in rows} - {NO_SLICE})
        cursor.executemany(
            "INSERT INTO fleet.lease (run, slice) VALUES (%s, %s) ON CONFLICT DO NOTHING", [(piece_run.run, number) for number in slices]
        )
    return slices


def read_pieces(database: FleetDatabase, piece_run: PieceRun, number: int) -> list[OpenPiece]:
    """Return the pieces of slice *number* without a result, in order.

    Raises:
        AlteredError: the inputs of a piece are not those that it is named by.
    """
    rows = database.fetch(
        "SELECT name, label, inputs FROM fleet.run_piece JOIN fleet.piece USING (name) WHERE run = %s AND slice = %s AND result IS NULL"
        " ORDER BY position",
        [piece_run.run, number],
    )
    for name, label, inputs in rows:
        if inputs is None or name_piece(piece_run.equipment.document, inputs) != name:
            raise AlteredError(Fault("piece-altered", label, "its inputs in the database are not those that it is named by"))
    return [OpenPiece(name=name, label=label, inputs=inputs) for name, label, inputs in rows]


def keep_result(
    database: FleetDatabase, piece: OpenPiece, *, worker: str, facts: str, variant: str, data: bytes, is_failure: bool, message: str
) -> bool:
    """Keep the result of *piece*; return False where there is another one of the same variant, and note that.

    Args:
        facts: of the worker.
        variant: of its equipment. Results of two variants may differ: the first one stays.
        message: what the worker does next.
    """
    values = (piece.name, worker, facts, variant, is_failure, data, message)
    return bool(database.call("SELECT fleet.keep_piece(%s, %s, %s, %s, %s, %s, %s)", *values))


def count_variants(database: FleetDatabase, run: str) -> dict[str, int]:
    """Return how many pieces of *run* were done by machines of each variant."""
    return dict(
        database.fetch(
            "SELECT variant, count(*) FROM fleet.run_piece JOIN fleet.piece USING (name) WHERE run = %s AND variant IS NOT NULL GROUP BY 1",
            [run],
        )
    )


def list_results(database: FleetDatabase, names: Collection[str]) -> list[PieceResult]:
    """Return the results that there are of *names*; raises AlteredError where one is not what its worker wrote."""
    rows = database.fetch(
        "SELECT name, result, is_failure, digest, worker FROM fleet.piece WHERE name = ANY (%s) AND result IS NOT NULL", [list(names)]
    )
    results = []
    for name, data, is_failure, digest, worker in rows:
        if hashlib.sha256(data).hexdigest() != digest:
            raise AlteredError(Fault("piece-altered", name, f"the result that {worker} wrote was changed in the database"))
        results.append(PieceResult(name=name, worker=worker, result=load_error(data.decode()) if is_failure else data))
    return results


def refuse_contradictions(database: FleetDatabase, run: str) -> None:
    """Raise ConflictError `piece-differs` where a piece of *run* has two results."""
    rows = database.fetch(
        "SELECT DISTINCT ON (name) label, piece.worker, contradiction.worker, piece.facts, contradiction.facts FROM fleet.contradiction"
        " JOIN fleet.run_piece USING (name) JOIN fleet.piece USING (name) WHERE run = %s ORDER BY name, contradiction.at",
        [run],
    )
    if rows:
        raise ConflictError(
            [
                Fault("piece-differs", label, f"{worker} ({facts}) and {other} ({other_facts}) have different results of the same inputs")
                for label, worker, other, facts, other_facts in rows
            ]
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PoisonedPiece:
    """A piece that ended three workers."""

    name: str
    label: str
    messages: list[dict[str, str]]


def list_poisoned(database: FleetDatabase, run: str) -> list[PoisonedPiece]:
    """Return the pieces of *run* that were set aside, each with what its workers said last."""
    rows = database.fetch(
        "SELECT name, label, messages FROM fleet.lease JOIN fleet.run_piece USING (run, slice) JOIN fleet.piece USING (name)"
        " WHERE run = %s AND is_parked AND result IS NULL ORDER BY position",
        [run],
    )
    return [PoisonedPiece(name=name, label=label, messages=messages) for name, label, messages in rows]


def end_run(database: FleetDatabase, run: str) -> None:
    """Close the run of pieces, and remove inputs and results that no open run needs."""
    add_event(database, run, "closed", after=("running", "paused", "stopped"))
    database.fetch("SELECT fleet.clear_pieces(%s)", [run])


def end_abandoned(database: FleetDatabase) -> None:
    """Close the runs of pieces that no coordinator works on: they were stopped, or it died. Their results would stay for ever."""
    rows = database.fetch("SELECT run FROM fleet.runs WHERE kind = ANY (%s) AND fleet.read_state(run) <> 'closed'", [list(KINDS)])
    for (run,) in rows:
        if database.call("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", run):
            try:
                end_run(database, run)
            finally:
                database.call("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", run)
