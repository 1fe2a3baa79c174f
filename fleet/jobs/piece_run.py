"""The coordinator of pure work: it adds pieces, keeps the queue filled, and gives the results as they come."""

import contextlib
import json
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

from fleet.database import DatabaseAwayError, FleetDatabase, hold_name, parse_address, read_meta
from fleet.pieces import Equipment, Piece
from fleet.queue.job_queue import Job, JobQueue, OpenQueue, choose_timeout, open_queue
from fleet.runs.piece_store import (
    PieceResult,
    PieceRun,
    add_pieces,
    begin_run,
    count_variants,
    end_abandoned,
    end_run,
    list_poisoned,
    list_results,
    refuse_contradictions,
)
from fleet.runs.run_states import add_event, list_free_slices, read_event
from registry.errors import AnswerNoError, CaveatError, ConflictError, Fault

_SHORTEST_WAIT_S, _LONGEST_WAIT_S = 0.01, 0.1
_COMPARE_S = 1.0
"""Seconds between two comparisons of the open slices with the queue."""
_ALONE_S = 3.0
"""Seconds without a fitting worker after which the user hears of it."""
_REPEAT_S = 60.0
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceOrder:
    """Pure work that a fleet is asked to do."""

    url: str
    equipment: Equipment
    """Of the machine of the coordinator: workers with another get none of its pieces."""
    slice_size: int
    """Pieces that a worker does in one go."""
    ahead: int
    """Pieces that wait or are under way at the same time, at most."""
    settings: dict[str, Any] = field(default_factory=dict)
    make_queue: OpenQueue | None = None
    """None: that of the engine that the fleet was initialised with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PieceOutcome:
    """What came of one piece."""

    position: int
    """Of the piece, from 0."""
    worker: str | None
    """Who did it; None for one that was set aside."""
    result: bytes | CaveatError


def do_pieces(order: PieceOrder, pieces: Iterable[Piece], *, tell: Callable[[str], None]) -> Iterator[PieceOutcome]:
    """Have workers do *pieces*, and give what comes of each, as they are done. A piece that was poisoned stops no other.

    Args:
        order: where and how.
        pieces: a few are taken at a time, by the caller's thread.
        tell: for what the user should know while it goes on.

    Raises:
        ConflictError: `piece-differs`, two workers have different results of the same inputs.
        UnavailableError: the database cannot be reached at the start.
    """
    with contextlib.closing(FleetDatabase.open(parse_address(order.url))) as database:
        meta = read_meta(database)
        queue = (order.make_queue or (lambda url, timeout_s: open_queue(meta["engine"], url, timeout_s)))(
            order.url, choose_timeout(float(meta["lease_s"]))
        )
        run = f"{order.equipment.kind}-{secrets.token_hex(4)}"
        with hold_name(database, run) as take:
            piece_run = PieceRun(run=run, equipment=order.equipment, settings=order.settings)
            begin_run(database, piece_run)
            batch = _PieceBatch(database, queue, piece_run, order, lease_s=float(meta["lease_s"]), take=take, tell=tell)
            try:
                yield from batch.collect(iter(pieces))
            except BaseException:
                # Also when the caller stops collecting. What is done stays: the same command finds it by its name.
                with contextlib.suppress(CaveatError):
                    add_event(database, run, "stopped")
                with contextlib.suppress(Exception):
                    queue.cancel(run)
                raise
            # What cannot be reached now, the next coordinator ends.
            with contextlib.suppress(CaveatError):
                end_run(database, run)
                # Only now: an earlier start of the same command may have left results that this one has used. This connection holds the
                # name of its own run, so it comes after that has ended.
                end_abandoned(database)


class _PieceBatch:
    def __init__(
        self,
        database: FleetDatabase,
        queue: JobQueue,
        piece_run: PieceRun,
        order: PieceOrder,
        *,
        lease_s: float,
        take: Callable[[], bool],
        tell: Callable[[str], None],
    ) -> None:
        self._database = database
        self._queue = queue
        self._piece_run = piece_run
        self._order = order
        self._lease_s = lease_s
        self._take = take
        self._tell = tell
        self._open: dict[str, list[int]] = {}
        """Positions by the name of the piece: the same piece may be asked for twice."""
        self._count = 0
        self._compared = time.monotonic()
        self._fitting = time.monotonic()
        """When a fitting worker was last seen, or the user was told that there is none."""
        self._alone_s = _ALONE_S
        self._is_away = False

    def collect(self, pieces: Iterator[Piece]) -> Iterator[PieceOutcome]:
        """Add *pieces* as there is room, and give the outcomes."""
        order = self._order
        wait_s, size = _SHORTEST_WAIT_S, order.slice_size
        is_over = False
        while True:
            while not is_over and (room := order.ahead - self._count_open()) >= min(size, order.ahead):
                block = list(islice(pieces, min(room, size)))
                is_over = len(block) < min(room, size)
                if block:
                    self._add(block)
                # The first worker begins at once. Later blocks are larger: each opens a connection to the queue.
                size = min(2 * size, max(order.ahead // 4, order.slice_size))
            if not self._open:
                break
            # Workers have pieces ahead, so a result may wait a moment. Asking for hundreds of names costs as much as a short piece.
            time.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_WAIT_S)
            for result in self._ask(lambda: list_results(self._database, self._open)):
                yield from self._finish(result)
            if time.monotonic() - self._compared > _COMPARE_S:
                yield from self._compare()
        self._ask(lambda: refuse_contradictions(self._database, self._piece_run.run))
        self._report_variants()

    def _report_variants(self) -> None:
        """Tell the user of results that may differ from this machine's in their last digits."""
        own = set(self._order.equipment.variant.split())
        counts = self._ask(lambda: count_variants(self._database, self._piece_run.run))
        for variant, count in sorted(counts.items()):
            others = set(variant.split())
            if others != own:
                names = {"with": others - own, "without": own - others}
                lists = " and ".join(f"{word} {' '.join(sorted(own_names))}" for word, own_names in names.items() if own_names)
                problem = f"{count:,} of {self._count:,} results come from processors {lists}, other than this machine's"
                self._tell(f"{problem}: their last digits may differ; --strict refuses such workers")

    def _count_open(self) -> int:
        return sum(map(len, self._open.values()))

    def _add(self, block: list[Piece]) -> None:
        for position, piece in enumerate(block, start=self._count):
            self._open.setdefault(piece.name(self._order.equipment), []).append(position)
        size = self._order.slice_size
        slices = self._ask(lambda: add_pieces(self._database, self._piece_run, block, first=self._count, slice_size=size))
        self._count += len(block)
        self._put(slices)

    def _put(self, slices: list[int]) -> None:
        # The queue is a hint, and engines raise what they like while the database is away. The next comparison puts what is missing.
        with contextlib.suppress(Exception):
            self._queue.put([Job(kind=self._order.equipment.lane, run=self._piece_run.run, slice=number) for number in slices])

    def _finish(self, result: PieceResult) -> Iterator[PieceOutcome]:
        for position in self._open.pop(result.name):
            yield PieceOutcome(position=position, worker=result.worker, result=result.result)

    def _compare(self) -> Iterator[PieceOutcome]:
        """Compare open slices with the queue, and look for contradictions, poisoned pieces and fitting workers."""
        self._compared = time.monotonic()
        run = self._piece_run.run
        self._ask(lambda: refuse_contradictions(self._database, run))
        if not self._ask(self._take):
            raise ConflictError(Fault("run-busy", run, "another coordinator took it while the database was away"))
        event = self._ask(lambda: read_event(self._database, run))
        if event is not None and event.state == "closed":
            # Without its lock it looked abandoned. What is done is named by its inputs, so the same command finds most of it again.
            raise ConflictError(Fault("run-busy", run, "another coordinator ended it while the database was away"))
        with contextlib.suppress(Exception):
            waiting = self._queue.look(run).names
            jobs = [Job(kind=self._order.equipment.lane, run=run, slice=number) for number in list_free_slices(self._database, run)]
            self._put([job.slice for job in jobs if job.name not in waiting])
        for poisoned in self._ask(lambda: list_poisoned(self._database, run)):
            lines = "; ".join(f"{message['worker']}: {message['message']}" for message in poisoned.messages[-3:])
            error = AnswerNoError(Fault("piece-poisoned", poisoned.label, f"it ended three workers one after the other: {lines}"))
            for position in self._open.pop(poisoned.name, ()):
                yield PieceOutcome(position=position, worker=None, result=error)
        self._watch_workers()

    def _watch_workers(self) -> None:
        """Tell the user when no living worker may do these pieces, and why."""
        equipment = self._order.equipment
        rows = self._ask(
            lambda: self._database.fetch(
                "SELECT worker, facts FROM fleet.worker WHERE NOT is_ended AND seen > clock_timestamp() - make_interval(secs => %s)"
                " AND %s = ANY (kinds) ORDER BY worker",
                [self._lease_s, equipment.kind],
            )
        )
        own = {worker: json.loads(facts).get("equipment", {}).get(equipment.kind, {}) for worker, facts in rows}
        faults = [fault for worker, versions in own.items() if (fault := equipment.find_difference(worker, versions)) is not None]
        if len(faults) < len(own):
            self._fitting = time.monotonic()
            return
        if time.monotonic() - self._fitting > self._alone_s:
            others = "".join(f"; {fault.where} {fault.found} ({fault.code})" for fault in faults)
            self._tell(f"no worker can do this work now: start one with caveat worker --can {equipment.kind}{others}")
            self._fitting, self._alone_s = time.monotonic(), _REPEAT_S

    def _ask(self, action: Callable[[], T]) -> T:
        """Return what *action* returns, which is safe to repeat; wait while the database is away."""
        while True:
            try:
                value = action()
            except DatabaseAwayError as error:
                if not self._is_away:
                    self._tell(f"the database is away: {error.faults[0].found}")
                self._is_away = True
                time.sleep(_LONGEST_WAIT_S)
            else:
                self._is_away = False
                return value
