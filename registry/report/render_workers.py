"""Supplements rendered in child processes with a time limit for each layout."""

import atexit
import json
import os
import select
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import islice
from queue import SimpleQueue
from types import TracebackType
from typing import IO, TYPE_CHECKING, Self

from registry.codec.canonical_documents import canonical_bytes, to_document
from registry.configuration import build_child_command
from registry.errors import CaveatError, Fault, InputError, UnavailableError
from registry.records.statement import OutputFormat

if TYPE_CHECKING:
    from registry.records.supplement import AnySupplement

# PDFs are rendered by worker processes over pipes, each with a hard time limit (decision of
# 2026-11-21): layout of a hostile record could take for ever, and a thread cannot be stopped. The
# cost is this small protocol.
Progress = Callable[[int, int], None]
RenderJobs = Callable[[Iterable["RenderJob"]], Iterator["RenderedFile"]]
"""Makes what becomes of each job, in any order: `render_many` here, or the workers of a fleet."""

# Kind of message and its length. Records and answers cross as bytes, never as pickled objects.
_LENGTH = struct.Struct(">cQ")
_DRAWN, _REFUSED = b"D", b"R"
"""What is asked for and comes back: a PDF; what comes back instead of a document."""
_WRITTEN: Mapping[bytes, tuple[OutputFormat, ...]] = {
    b"0": (), b"1": (OutputFormat.PDF,), b"2": (OutputFormat.JSON,), b"3": (OutputFormat.PDF, OutputFormat.JSON),
}  # fmt: skip
"""The same for HTML, with the formats that it links to."""
_AHEAD = 3
"""Jobs a worker that wait, so that none is idle while the next record is assembled."""
_ERRORS: dict[int, type[CaveatError]] = {InputError.exit_code: InputError, UnavailableError.exit_code: UnavailableError}


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderJob:
    """One file to be made."""

    key: str
    """What the caller calls it."""
    supplement: "AnySupplement"
    format: OutputFormat
    neighbours: tuple[OutputFormat, ...] = ()
    """What HTML links to: the other formats that are rendered with it."""
    is_apart: bool = False
    """Whether HTML too is drawn in a worker's process, which is worth its start where there is a PDF to draw or much HTML."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedFile:
    """Outcome of a job: either data or an error."""

    key: str
    format: OutputFormat
    data: bytes | None
    error: CaveatError | None


def has_layout() -> bool:
    """Whether the libraries that lay out HTML and PDF are installed; `caveat-verify` comes without them."""
    return all(find_spec(name) is not None for name in ("jinja2", "segno", "weasyprint"))


def refuse_layout() -> UnavailableError:
    """Return the error of an installation without these libraries."""
    return UnavailableError(Fault("part-not-installed", "rendering", "it was not rendered again: this installation has no layout"))


def render_pdf(supplement: "AnySupplement", *, time_limit_s: float) -> bytes:
    """Return *supplement* as a PDF, rendered in a process that is ended after *time_limit_s* seconds.

    Raises:
        UnavailableError: Pango or HarfBuzz is missing, or the time limit was reached.
        InputError: the record cannot be rendered.
    """
    with PdfWorker() as worker:
        return worker.draw(supplement, time_limit_s=time_limit_s)


def render_many(
    jobs: Iterable[RenderJob], *, workers: int | Sequence["PdfWorker"], time_limit_s: float, progress: Progress | None = None
) -> Iterator[RenderedFile]:
    """Return what becomes of each job, as they are done; one that fails does not stop the others. The drawing begins at once.

    Args:
        jobs: a sequence is handed to the workers at once; of anything else a few are taken at a time, here, whenever one is done.
        workers: how many processes draw at once, at least 1; or those that do, which are ended when the work is done.
        time_limit_s: for each PDF.
        progress: called with the number done and the number of jobs that were taken so far.
    """
    count = workers if isinstance(workers, int) else len(workers)
    # More processes than jobs would only cost their start.
    if isinstance(jobs, Sequence):
        count = max(1, min(count, len(jobs)))
    ready = [PdfWorker() for _ in range(count)] if isinstance(workers, int) else workers
    # Of an iterator only a few jobs wait: each holds a whole record in memory.
    batch = _Batch(jobs, ahead=len(jobs) if isinstance(jobs, Sequence) else _AHEAD * count)
    # Daemon threads do not keep a command alive that was interrupted.
    threads = [threading.Thread(target=_work, args=(worker, batch.waiting, batch.done, time_limit_s), daemon=True) for worker in ready]
    for thread in threads:
        thread.start()
    return batch.collect(threads, progress)


def dump_job(job: RenderJob) -> bytes:
    """Return *job*, HTML or PDF, as bytes: what is asked for, and the record. What the caller calls it is not in them."""
    return (_DRAWN if job.format is OutputFormat.PDF else _get_wanted(job.neighbours)) + _encode(job.supplement)


def make_json(job: RenderJob) -> RenderedFile:
    """Return the file of a job for JSON, which is the record itself."""
    return RenderedFile(key=job.key, format=job.format, data=_encode(job.supplement), error=None)


def _encode(supplement: "AnySupplement") -> bytes:
    return canonical_bytes(to_document(supplement))


def _get_wanted(neighbours: Collection[OutputFormat]) -> bytes:
    return next(kind for kind, formats in _WRITTEN.items() if set(formats) == set(neighbours))


class _Batch:
    """Jobs on their way to the workers and back. The thread that collects takes them: a database is read by the thread that opened it."""

    def __init__(self, jobs: Iterable[RenderJob], *, ahead: int) -> None:
        self.waiting: SimpleQueue[RenderJob | None] = SimpleQueue()
        self.done: SimpleQueue[RenderedFile] = SimpleQueue()
        self._jobs = iter(jobs)
        self._taken = 0
        self._take(ahead)

    def collect(self, threads: Sequence[threading.Thread], progress: Progress | None) -> Iterator[RenderedFile]:
        """Yield what is done until all is, and the workers have ended; they end too when the results are no longer collected."""
        try:
            number = 0
            while number < self._taken:
                made = self.done.get()
                number += 1
                # The collecting thread takes the next job, because it owns the database connection.
                self._take(1)
                if progress is not None:
                    progress(number, self._taken)
                yield made
        # Also when the caller stops collecting: without this the workers would wait for ever.
        finally:
            for _ in threads:
                self.waiting.put(None)
        for thread in threads:
            thread.join()

    def _take(self, count: int) -> None:
        for job in islice(self._jobs, count):
            self._taken += 1
            self.waiting.put(job)


def _work(worker: "PdfWorker", waiting: "SimpleQueue[RenderJob | None]", done: "SimpleQueue[RenderedFile]", time_limit_s: float) -> None:
    with worker:
        while (job := waiting.get()) is not None:
            done.put(_make(job, worker, time_limit_s))


def _make(job: RenderJob, worker: "PdfWorker", time_limit_s: float) -> RenderedFile:
    try:
        match job.format:
            case OutputFormat.JSON:
                data = _encode(job.supplement)
            # HTML in a worker only where there is much of it; else its start costs more than the
            # rendering.
            case OutputFormat.HTML if job.is_apart:
                data = worker.write(job.supplement, job.neighbours, time_limit_s=time_limit_s)
            case OutputFormat.HTML:
                from registry.report.html_rendering import render_html  # noqa: PLC0415  (who draws PDFs alone need not load Jinja2 here)

                data = render_html(job.supplement, job.neighbours)
            case OutputFormat.PDF:
                data = worker.draw(job.supplement, time_limit_s=time_limit_s)
    except CaveatError as error:
        return RenderedFile(key=job.key, format=job.format, data=None, error=error)
    except Exception as error:  # noqa: BLE001  (whatever one record does, the others are still to be drawn)
        return RenderedFile(key=job.key, format=job.format, data=None, error=_refuse(job.supplement.identifier, error))
    return RenderedFile(key=job.key, format=job.format, data=data, error=None)


_idle: list["subprocess.Popen[bytes]"] = []
"""Processes that have drawn what they were asked for, kept for who draws next: starting one takes a second of a core."""


@atexit.register
def end_idle_processes() -> None:
    """End the processes that wait for work."""
    while _idle:
        _end(_idle.pop())


# A forked child must not reuse or end the processes of its parent.
os.register_at_fork(after_in_child=_idle.clear)


class PdfWorker:
    """A process that draws PDFs, started when first needed and again after it had to be ended.

    A process that owes no answer is kept when its worker closes, and taken by the next worker with the same search path.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_owing = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def draw(self, supplement: "AnySupplement", *, time_limit_s: float) -> bytes:
        """Return the PDF of *supplement*; raises as `render_pdf`."""
        return self._ask(_DRAWN, _encode(supplement), supplement.identifier, time_limit_s)

    def write(self, supplement: "AnySupplement", neighbours: Collection[OutputFormat] = (), *, time_limit_s: float) -> bytes:
        """Return the HTML of *supplement* with links to *neighbours*; raises as `render_pdf`."""
        return self._ask(_get_wanted(neighbours), _encode(supplement), supplement.identifier, time_limit_s)

    def draw_job(self, job: bytes, *, name: str, time_limit_s: float) -> bytes:
        """Return the file of a job that `dump_job` wrote, called *name* in errors; raises as `render_pdf`."""
        wanted, record = job[:1], job[1:]
        if wanted != _DRAWN and wanted not in _WRITTEN:
            raise InputError(Fault("not-renderable", name, "the job names no format"))
        return self._ask(wanted, record, name, time_limit_s)

    def _ask(self, wanted: bytes, record: bytes, name: str, time_limit_s: float) -> bytes:
        process = self.start()
        deadline = time.monotonic() + time_limit_s
        # From here on the process owes an answer. Reused before that is read, it would hand its
        # next user a foreign document.
        self._is_owing = True
        try:
            _send(_pipe(process.stdin), wanted, record)
            kind, size = _LENGTH.unpack(_receive(process, _LENGTH.size, deadline))
            data = _receive(process, size, deadline)
        except TimeoutError:
            # The process may still be rendering, and cannot be asked to stop, so it is ended.
            self.close()
            problem = f"rendering it took longer than {time_limit_s:g} s"
            raise UnavailableError(Fault("pdf-time-limit", name, problem)) from None
        except (BrokenPipeError, EOFError):
            self.close()
            problem = "the process that renders PDFs ended without an answer"
            raise UnavailableError(Fault("pdf-worker-lost", name, problem)) from None
        self._is_owing = False
        # A refusal is an answer: the process stays in use.
        if kind == _REFUSED:
            raise _restore(data)
        return data

    def close(self) -> None:
        """Let go of the process, if there is one: it is kept where it owes no answer, else ended."""
        process, self._process = self._process, None
        if process is None:
            return
        # One idle process a core is all that can be used at once.
        if self._is_owing or len(_idle) >= (os.cpu_count() or 1):
            _end(process)
        else:
            _idle.append(process)
        self._is_owing = False

    def start(self) -> "subprocess.Popen[bytes]":
        """Return the process, started if there is none: it loads what it needs while the caller still does something else."""
        if self._process is not None and self._process.poll() is not None:
            # A process that ended on its own is replaced.
            self._is_owing = True
            self.close()
        command = build_child_command("registry.report.render_workers", "serve")
        self._process = self._process or _take_idle(command)
        if self._process is None:
            # In a session of its own, so that Ctrl-C ends the command and not the drawing; it ends when its standard input does.
            self._process = subprocess.Popen(  # noqa: S603  (our own interpreter)
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
            )
        return self._process


def _take_idle(command: list[str]) -> "subprocess.Popen[bytes] | None":
    """Return a process that was started by *command* and still runs; None where none waits."""
    with suppress(IndexError):  # none is left: another thread may take the last
        while True:
            process = _idle.pop()
            # Another search path could load another version of the code.
            if process.args == command and process.poll() is None:
                return process
            _end(process)
    return None


def _end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            _close_quietly(pipe)
    process.wait()


def serve() -> None:
    """Draw what comes in on standard input until it ends: the other side of `PdfWorker`.

    Where no one is left to take a drawing, because the command was killed, the process ends without a word.
    """
    try:
        _serve()
    except BrokenPipeError:
        os._exit(0)  # an ordinary end would try to write what is left, and say that it cannot


def _serve() -> None:
    from registry.report.html_rendering import render_html  # noqa: PLC0415  (only the worker pays for it)
    from registry.report.pdf_rendering import load_engine, render_pdf_in_process  # noqa: PLC0415
    from registry.report.supplement_reading import read_supplement  # noqa: PLC0415

    # WeasyPrint loads while the caller still assembles the first record.
    load_engine()

    # A library that prints would damage the protocol. So answers use a copy of standard output, and
    # the original leads to standard error.
    incoming, outgoing = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while len(head := incoming.read(_LENGTH.size)) == _LENGTH.size:
        wanted, size = _LENGTH.unpack(head)
        record = incoming.read(size)
        draw = partial(render_html, neighbours=_WRITTEN[wanted]) if wanted in _WRITTEN else render_pdf_in_process
        try:
            # Read back by the ordinary reader, with all its checks.
            _send(outgoing, wanted, draw(read_supplement(record, where="supplement")))
        except CaveatError as error:
            _send(outgoing, _REFUSED, _dump(error))
        except Exception as error:  # noqa: BLE001  (the next document may well be drawable)
            _send(outgoing, _REFUSED, _dump(_refuse("supplement", error)))


def _refuse(where: str, error: Exception) -> CaveatError:
    return InputError(Fault("not-renderable", where, f"it cannot be rendered: {type(error).__name__}: {error}"))


def _dump(error: CaveatError) -> bytes:
    # Faults cross as plain data, and `_restore` makes the same error of them.
    faults = [{"code": fault.code, "where": fault.where, "found": fault.found, "advice": fault.advice} for fault in error.faults]
    return json.dumps({"exit_code": error.exit_code, "faults": faults}).encode()


def _restore(data: bytes) -> CaveatError:
    document = json.loads(data)
    return _ERRORS.get(document["exit_code"], InputError)(Fault(**fault) for fault in document["faults"])


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise EOFError
    return pipe


def _send(pipe: IO[bytes], kind: bytes, data: bytes) -> None:
    pipe.write(_LENGTH.pack(kind, len(data)))
    pipe.write(data)
    pipe.flush()


def _receive(process: "subprocess.Popen[bytes]", size: int, deadline: float) -> bytes:
    """Return *size* bytes from the process; raises TimeoutError after *deadline* and EOFError when it ends."""
    descriptor = _pipe(process.stdout).fileno()
    chunks: list[bytes] = []
    while size:
        # The deadline is that of the whole answer, not of each part.
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError
        # A bounded read, so that a large answer does not block past its deadline.
        chunk = os.read(descriptor, min(size, 1 << 20))
        if not chunk:
            raise EOFError
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)


def _close_quietly(pipe: IO[bytes]) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        return
