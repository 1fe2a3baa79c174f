"""Supplements as pieces: a record and a format in, a file out. Only the coordinator writes it to a folder and signs it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from fleet.jobs.piece_run import PieceOrder, do_pieces
from fleet.pieces import DRAW, Equipment, Piece
from registry.errors import Fault, UnavailableError
from registry.records.statement import OutputFormat
from registry.report.pdf_rendering import describe_press
from registry.report.render_workers import PdfWorker, RenderedFile, RenderJob, dump_job, make_json

_SLICE, _AHEAD = 1, 64


def read_equipment() -> Equipment:
    """Return the press of this machine: templates, fonts, and the libraries that lay out and write a file."""
    return Equipment(kind=DRAW, versions=describe_press())


def list_equipment() -> tuple[Equipment, ...]:
    """Return what this machine can work as."""
    return (read_equipment(),)


def render_on_fleet(url: str, jobs: Iterable[RenderJob], *, time_limit_s: float, tell: Callable[[str], None]) -> Iterator[RenderedFile]:
    """Have the workers of the fleet at *url* draw, and give the files as they are done; raises as `do_pieces`."""
    order = PieceOrder(url=url, equipment=read_equipment(), slice_size=_SLICE, ahead=_AHEAD, settings={"time_limit_s": time_limit_s})
    source = _Source(iter(jobs))
    for outcome in do_pieces(order, source.list_pieces(), tell=tell):
        job = source.waiting.pop(outcome.position)
        yield from source.take_ready()
        data, error = (outcome.result, None) if isinstance(outcome.result, bytes) else (None, outcome.result)
        yield RenderedFile(key=job.key, format=job.format, data=data, error=error)
    yield from source.take_ready()


@dataclass(frozen=True, slots=True)
class _Slip:
    """What is kept of a job that is with a worker; its record need not be."""

    key: str
    format: OutputFormat


@dataclass(slots=True)
class _Source:
    """Jobs become pieces; JSON is the record itself, which no worker needs to make."""

    jobs: Iterator[RenderJob]
    waiting: dict[int, _Slip] = field(default_factory=dict)
    ready: list[RenderedFile] = field(default_factory=list)
    count: int = 0

    def list_pieces(self) -> Iterator[Piece]:
        for job in self.jobs:
            if job.format is OutputFormat.JSON:
                self.ready.append(make_json(job))
                continue
            self.waiting[self.count] = _Slip(job.key, job.format)
            self.count += 1
            yield Piece(label=f"{job.supplement.identifier}, {job.format.value}", inputs=dump_job(job))

    def take_ready(self) -> Iterator[RenderedFile]:
        while self.ready:
            yield self.ready.pop(0)


def do_piece(inputs: bytes, settings: dict[str, Any]) -> bytes:
    """Return the file that *inputs* ask for, made by a process of its own with the coordinator's time limit.

    Raises:
        InputError: the record cannot be rendered, here or anywhere.
        UnavailableError: the process died or took too long.
    """
    limit = settings.get("time_limit_s")
    if not isinstance(limit, int | float):
        raise UnavailableError(Fault("worker-differs", "time_limit_s", "the run has no time limit for a file"))
    with PdfWorker() as worker:
        return worker.draw_job(inputs, name="supplement", time_limit_s=float(limit))
