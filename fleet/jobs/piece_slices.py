"""A worker does pieces of pure work, one after the other, and keeps each result as soon as there is one."""

import asyncio
from functools import partial
from importlib import import_module
from typing import Any, Protocol

from fleet.database import FleetDatabase, repeat_until
from fleet.jobs.slice_handler import SliceHandler, UnableError, WorkerPlace
from fleet.pieces import DRAW, ESTIMATE, SCORE, Equipment
from fleet.runs.leases import SliceLease
from fleet.runs.piece_store import OpenPiece, PieceRun, keep_result, read_pieces, read_run
from fleet.runs.run_states import dump_error
from registry.errors import CaveatError, ConflictError, Fault, UnavailableError

_MODULES = {SCORE: "fleet.jobs.scoring", ESTIMATE: "fleet.jobs.estimating", DRAW: "fleet.jobs.drawing"}


class PieceKind(Protocol):
    """What a module of pure work has."""

    def read_equipment(self) -> Equipment:
        """Return the versions that shape the results on this machine; raises UnavailableError where libraries are missing."""

    def do_piece(self, inputs: bytes, settings: dict[str, Any]) -> bytes:
        """Return the result of *inputs*. An InputError is a result too; an UnavailableError says nothing of the inputs."""


def load_kind(kind: str) -> PieceKind:
    """Return the module that does pieces of *kind*. It is loaded here: a worker that only draws needs no NumPy."""
    module: PieceKind = import_module(_MODULES[kind])
    return module


class PieceHandler(SliceHandler):
    """Does the pieces of slices of one kind."""

    def __init__(self, place: WorkerPlace, equipment: Equipment) -> None:
        super().__init__(place)
        self._equipment = equipment
        self._kind = load_kind(equipment.kind)
        self._runs: dict[str, PieceRun] = {}

    async def work(self, database: FleetDatabase, lease: SliceLease, _has_room: asyncio.Event) -> None:
        """Do the pieces of the slice that have no result."""
        piece_run = self._runs.get(lease.run) or await asyncio.to_thread(read_run, database, lease.run)
        if piece_run is None:
            raise UnableError(ConflictError(Fault("worker-differs", self._place.name, f"{lease.run} is no run of pieces")))
        self._runs[lease.run] = piece_run
        # A job on the wrong lane is a forged one. Its pieces are not spoiled.
        fault = piece_run.equipment.find_difference(self._place.name, self._equipment.versions)
        if fault is not None or piece_run.equipment.kind != self._equipment.kind:
            raise UnableError(UnavailableError(fault or Fault("worker-differs", self._place.name, f"it does no {lease.run}")))
        pieces = await asyncio.to_thread(read_pieces, database, piece_run, lease.slice)
        messages = [f"{self._equipment.kind} {piece.label} of {lease.run}" for piece in pieces]
        if messages:
            await asyncio.to_thread(self._place.note, database, messages[0])
        for piece, following in zip(pieces, [*messages[1:], f"has done slice {lease.slice} of {lease.run}"], strict=True):
            # A result that comes after the lease would be kept too; what has not begun is for the next owner.
            if lease.guard.is_over or self._place.is_leaving:
                return
            await asyncio.to_thread(self._do, database, piece, piece_run, following)

    def _do(self, database: FleetDatabase, piece: OpenPiece, piece_run: PieceRun, following: str) -> None:
        try:
            data, is_failure = self._kind.do_piece(piece.inputs, piece_run.settings), False
        except UnavailableError:
            raise
        except CaveatError as error:
            data, is_failure = dump_error(error).encode(), True
        keep = partial(keep_result, database, piece, worker=self._place.name, facts=self._place.facts, message=following)
        repeat_until(lambda: keep(data=data, is_failure=is_failure), lambda: self._place.is_leaving)
