"""Drawing in processes of their own: time limits hold, and one bad record does not stop the rest."""

import struct
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from registry.errors import InputError, UnavailableError
from registry.records.statement import OutputFormat
from registry.records.supplement import Supplement
from registry.report.html_rendering import render_html, render_json
from registry.report.render_workers import PdfWorker, RenderJob, render_many, render_pdf


def break_record(supplement: Supplement) -> Supplement:
    """A record that canonical JSON cannot hold."""
    return replace(supplement, verdict="\ud800")


def test_a_worker_draws_the_same_bytes(supplements: Mapping[str, Supplement], inverted_pdf: bytes) -> None:
    """The process makes no difference."""
    assert render_pdf(supplements["inverted"], time_limit_s=60) == inverted_pdf


def test_the_time_limit_ends_a_layout(supplements: Mapping[str, Supplement]) -> None:
    """What takes too long is ended, said, and does not spoil the next document."""
    with PdfWorker() as worker:
        with pytest.raises(UnavailableError) as caught:
            worker.draw(supplements["inverted"], time_limit_s=0.01)
        after = worker.draw(supplements["unaudited"], time_limit_s=60)

    assert caught.value.code == "pdf-time-limit"
    assert after.startswith(b"%PDF-1.7")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the limits of another process")
def test_the_memory_of_a_layout_is_limited(supplements: Mapping[str, Supplement]) -> None:
    """A record that would fill the memory ends its own process and not the machine."""
    with PdfWorker() as worker:
        worker.write(supplements["unaudited"], time_limit_s=60)
        limits = Path(f"/proc/{worker.start().pid}/limits").read_text(encoding="ascii")

    (line,) = (line for line in limits.splitlines() if line.startswith("Max address space"))
    assert int(line.split()[3]) <= 4_000_000_000


def test_a_process_that_owes_nothing_draws_for_the_next(supplements: Mapping[str, Supplement]) -> None:
    """A process is kept for the next worker, unless it still owes the answer to an earlier one."""
    with PdfWorker() as first:
        first.write(supplements["unaudited"], time_limit_s=60)
        kept = first.start().pid
    with PdfWorker() as second:
        taken = second.start().pid
        with pytest.raises(UnavailableError):
            second.draw(supplements["inverted"], time_limit_s=0.001)
        fresh = second.start().pid

    assert taken == kept
    assert fresh != kept


def test_one_bad_record_does_not_stop_the_rest(supplements: Mapping[str, Supplement], inverted_pdf: bytes) -> None:
    """Every job gets its answer, and progress counts them all."""
    jobs = [
        RenderJob(key="bad", supplement=break_record(supplements["inverted"]), format=OutputFormat.PDF),
        RenderJob(key="pdf", supplement=supplements["inverted"], format=OutputFormat.PDF),
        RenderJob(key="html", supplement=supplements["degraded"], format=OutputFormat.HTML),
        RenderJob(key="json", supplement=supplements["degraded"], format=OutputFormat.JSON),
    ]
    seen: list[tuple[int, int]] = []
    made = {one.key: one for one in render_many(jobs, workers=2, time_limit_s=60, progress=lambda done, total: seen.append((done, total)))}

    assert made["pdf"].data == inverted_pdf
    assert made["html"].data is not None
    assert made["json"].data is not None
    assert isinstance(made["bad"].error, InputError)
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_jobs_are_taken_as_they_are_needed(supplements: Mapping[str, Supplement]) -> None:
    """Of a batch that is made on the way a few are held at a time, however slowly what is done is collected."""
    taken = 0

    def list_jobs() -> Iterator[RenderJob]:
        nonlocal taken
        for number in range(40):
            taken += 1
            yield RenderJob(key=str(number), supplement=supplements["unaudited"], format=OutputFormat.JSON)

    most, keys = 0, set()
    for done, made in enumerate(render_many(list_jobs(), workers=2, time_limit_s=60)):
        keys.add(made.key)
        most = max(most, taken - done)

    assert keys == {str(number) for number in range(40)}
    assert most <= 8


def test_html_drawn_apart_is_the_same(supplements: Mapping[str, Supplement]) -> None:
    """Whoever draws it: this process, or a worker beside the PDF; one bad record stops neither."""
    one, bad = supplements["inverted"], break_record(supplements["inverted"])
    jobs = [RenderJob(key=key, supplement=each, format=OutputFormat.HTML, is_apart=True) for key, each in (("one", one), ("bad", bad))]

    made = {each.key: each for each in render_many(jobs, workers=1, time_limit_s=60)}

    assert made["one"].data == render_html(one)
    assert isinstance(made["bad"].error, InputError)


def test_no_jobs_are_no_work() -> None:
    """An empty batch is done at once."""
    assert list(render_many([], workers=4, time_limit_s=1)) == []


def test_a_drawing_that_nobody_takes_ends_without_a_word(supplements: Mapping[str, Supplement]) -> None:
    """When the command is killed while its worker draws, the worker finds its pipe closed and prints no traceback."""
    record = render_json(next(iter(supplements.values())))
    command = [sys.executable, "-c", "from registry.report.render_workers import serve; serve()"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(struct.pack(">cQ", b"D", len(record)) + record)
        process.stdin.close()
        told = process.stderr.read()

    assert b"BrokenPipe" not in told
    assert b"Traceback" not in told
    assert process.returncode == 0
