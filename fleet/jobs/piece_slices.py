"""A worker does pieces of pure work, one after the other, and keeps each result as soon as there is one."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
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

    def list_equipment(self) -> tuple[Equipment, ...]:
        """Return what this machine can work as, the strictest last; raises UnavailableError where libraries are missing."""

    def do_piece(self, inputs: bytes, settings: dict[str, Any]) -> bytes:
        """Return the result of *inputs*. An InputError is a result too; an UnavailableError says nothing of the inputs."""


def load_kind(kind: str) -> PieceKind:
    """Return the module that does pieces of *kind*. It is loaded here: a worker that only draws needs no NumPy."""
    module: PieceKind = import_module(_MODULES[kind])
    return module


class PieceHandler(SliceHandler):
    """Does the pieces of slices of one kind."""

    def __init__(self, place: WorkerPlace, equipment: Equipment, *, slots: int = 1) -> None:
        super().__init__(place)
        self._places = asyncio.Semaphore(slots)
        """For slices under way: one that is read ahead waits here."""
        self._keepers = ThreadPoolExecutor(slots + 1, thread_name_prefix="keep")
        self._equipment = equipment
        self._kind = load_kind(equipment.kind)
        self._runs: dict[str, PieceRun] = {}

    async def close(self) -> None:
        """Let go of the connections and of the threads that keep results, when no slice is under way."""
        await super().close()
        await asyncio.to_thread(self._keepers.shutdown)

    async def work(self, database: FleetDatabase, lease: SliceLease, has_room: asyncio.Event) -> None:
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
        async with self._places:
            loop = asyncio.get_running_loop()
            last = await asyncio.to_thread(
                self._do_pieces, database, lease, piece_run, pieces, lambda: loop.call_soon_threadsafe(has_room.set)
            )
        # Without the place: the next slice begins while the last result is written.
        if last is not None:
            await asyncio.wrap_future(last)

    def _do_pieces(
        self, database: FleetDatabase, lease: SliceLease, piece_run: PieceRun, pieces: Sequence[OpenPiece], make_room: Callable[[], object]
    ) -> Future[None] | None:
        """Do *pieces* in this thread, which costs less than a step of the event loop for each; return the write of the last result."""
        messages = [f"{self._equipment.kind} {piece.label} of {lease.run}" for piece in pieces]
        if messages:
            self._place.note(database, messages[0])
        keeping: Future[None] | None = None
        for piece, following in zip(pieces, [*messages[1:], f"has done slice {lease.slice} of {lease.run}"], strict=True):
            # A result that comes after the lease would be kept too; what has not begun is for the next owner.
            if lease.guard.is_over or self._place.is_leaving:
                break
            # The next slice is read while the last piece of this one is done.
            if piece is pieces[-1]:
                make_room()
            try:
                data, is_failure = self._do(piece, piece_run)
            finally:
                if keeping is not None:
                    keeping.result()
            # One result is written while the next piece is done, and no more than one: the first piece without a result is the one
            # that a worker died of.
            keeping = self._keepers.submit(self._keep, database, piece, data, following, is_failure=is_failure)
        return keeping

    def _do(self, piece: OpenPiece, piece_run: PieceRun) -> tuple[bytes, bool]:
        """Return the result of *piece*, and whether it is an error."""
        try:
            return self._kind.do_piece(piece.inputs, piece_run.settings), False
        except UnavailableError:
            raise
        except CaveatError as error:
            return dump_error(error).encode(), True

    def _keep(self, database: FleetDatabase, piece: OpenPiece, data: bytes, following: str, *, is_failure: bool) -> None:
        place = self._place

        def keep() -> bool:
            return keep_result(
                database,
                piece,
                worker=place.name,
                facts=place.facts,
                variant=self._equipment.variant,
                data=data,
                is_failure=is_failure,
                message=following,
            )

        repeat_until(keep, lambda: place.is_leaving)
