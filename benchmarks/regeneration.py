"""What it costs to keep a folder of supplements up to date: in proportion to what changed, on two cores, beside WeasyPrint, in memory.

`changed`: a registry with CLAIMS claims of which a tenth are stale; its folder is drawn as JSON once, then nothing, 20, and 200 claims
change. `drawn`: PDFs of a folder drawn by one worker and by two, and WeasyPrint alone on the same HTML in one process. `memory`: the
greatest resident set of the command for 30 and for 300 supplements, of itself and of its workers.

Run: python -m benchmarks.regeneration changed [CLAIMS] | drawn [PDFS] | memory [FEW] [MANY]
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from benchmarks.bulk_import_store import open_ledger, settle
from benchmarks.staleness import fill
from registry.folder.folder_manifest import hold_folder
from registry.folder.folder_plan import FolderRequest, FolderState, inspect_folder
from registry.folder.folder_update import RenderingOptions, begin, carry_out, complete
from registry.folder.supplement_publishing import SupplementCollector
from registry.records.claim import ClaimEvent, ClaimEventKind
from registry.records.record import parse_identifier
from registry.records.statement import OutputFormat
from registry.records.supplement import Supplement
from registry.report.html_rendering import Medium, build_html
from registry.report.pdf_rendering import _engine, is_covered
from registry.store.ledger import Ledger

JSON, PDF = (OutputFormat.JSON,), (OutputFormat.PDF,)


@dataclass
class Took:
    """How long something took, by the clock and of the processor, children included."""

    wall_s: float = 0.0
    cpu_s: float = 0.0


@contextmanager
def timed() -> Iterator[Took]:
    took, started, before = Took(), time.perf_counter(), _spent()
    yield took
    took.wall_s, took.cpu_s = time.perf_counter() - started, _spent() - before


def _spent() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def regenerate(
    ledger: Ledger, folder: Path, formats: tuple[OutputFormat, ...], *, workers: int = 2, asked: frozenset[str] | None = None
) -> FolderState:
    """Do what `caveat report --stale` does."""
    folder.mkdir(exist_ok=True)
    with hold_folder(folder):
        with ledger.view() as view:
            looked = inspect_folder(folder, view, FolderRequest(formats=formats, asked=asked))
        if looked.plan.due:
            pen = RenderingOptions(template=looked.template, workers=workers, time_limit_s=600)
            open_view = partial(_open, ledger, looked.log.size)
            due, why = looked.plan.due, lambda one: str(looked.reasons[one.name])
            outcome = carry_out(folder, begin(looked), due, open_view=open_view, pen=pen, why=why, progress=lambda _more: None)
            assert not outcome.failed, outcome.failed[0]
            complete(folder, looked, open_view=open_view, is_whole=asked is None, pen=pen, sign=None)
    return looked


def _open(ledger: Ledger, size: int, as_of: int | None):  # noqa: ANN202  (a context that gives a view)
    return ledger.view(size if as_of is None else as_of)


@contextmanager
def registry(count: int) -> Iterator[tuple[Ledger, Path]]:
    """Give a registry of *count* claims, and an empty folder."""
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as name:
        ledger = open_ledger(f"sqlite:///{Path(name, 'store.db')}")
        fill(ledger, settle(ledger), count)
        yield ledger, Path(name, "folder")
        ledger.close()


def withdraw(ledger: Ledger, start: int, stop: int) -> None:
    with ledger.write(actor="EXAMPLE") as writer:
        names = [one.claim for one in islice(writer.list_claims(), start, stop)]
        writer.append_many([ClaimEvent(claim=one, event=ClaimEventKind.WITHDRAW, reason="an error") for one in names])


def measure_changed(count: int) -> None:
    """The cost by what changed."""
    with registry(count) as (ledger, folder):
        spent = {}
        for what, start, stop in (("all of it, first", 0, 0), ("nothing", 0, 0), ("20", 0, 20), ("200", 20, 220), ("nothing again", 0, 0)):
            if stop:
                withdraw(ledger, start, stop)
            with timed() as took:
                looked = regenerate(ledger, folder, JSON)
            spent[what] = took.cpu_s
            print(f"{what:<20} {len(looked.plan.due):>7,} drawn of {looked.plan.total:,}  {took.wall_s:8.2f} s  {took.cpu_s:8.2f} s CPU")
        each = [(spent["20"] - spent["nothing"]) / 20, (spent["200"] - spent["nothing again"]) / 200]
        print(f"beyond looking: {1000 * each[0]:.1f} ms CPU each of 20, {1000 * each[1]:.1f} ms each of 200; ")
        print(f"20 cost {spent['20'] / spent['all of it, first']:.3f} of all, 200 {spent['200'] / spent['all of it, first']:.3f}")


def measure_drawn(count: int) -> None:
    """One worker, two, and WeasyPrint alone."""
    with registry(max(count, 100)) as (ledger, folder):
        with ledger.view() as view:
            names = [one.claim for one in islice(view.list_claims(), count)]
            collector = SupplementCollector(view)
            found = [collector.collect(parse_identifier(name)).supplement for name in names]
        took = {}
        for workers in (1, 2):
            with timed() as took[workers]:
                regenerate(ledger, folder.with_name(f"folder-{workers}"), PDF, workers=workers, asked=frozenset(names))
        engine = _engine()
        pages = [build_html(one, medium=Medium.PRINT, covers=is_covered) for one in found if isinstance(one, Supplement)]
        with timed() as took[0]:
            for html in pages:
                document = engine.weasyprint.HTML(string=html, base_url="bundled:", url_fetcher=engine.fetcher)
                document.render(font_config=engine.font_config, stylesheets=[engine.style]).write_pdf(pdf_variant="pdf/a-3a")
        for workers, what in ((1, "one worker"), (2, "two workers"), (0, "WeasyPrint alone")):
            print(f"{count} PDFs, {what:<17} {took[workers].wall_s:8.2f} s  {took[workers].cpu_s:8.2f} s CPU")
        print(
            f"two against one {took[1].wall_s / took[2].wall_s:.2f} by the clock; "
            f"one against WeasyPrint {took[1].cpu_s / took[0].cpu_s:.3f} CPU, its start included"
        )


def measure_memory(few: int, many: int) -> None:
    """The greatest resident set for few and for many."""
    for count in (few, many):
        print(
            subprocess.run(
                [sys.executable, "-m", "benchmarks.regeneration", "once", str(count)], check=True, text=True, capture_output=True
            ).stdout
        )


def draw_once(count: int) -> None:
    with registry(max(count, 100)) as (ledger, folder):
        with ledger.view() as view:
            asked = frozenset(one.claim for one in islice(view.list_claims(), count))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        regenerate(ledger, folder, tuple(OutputFormat), asked=asked)
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    print(
        f"{count:>5} supplements: {own.ru_maxrss / 1024:.0f} MiB "
        f"(before drawing {before / 1024:.0f}), a worker {children.ru_maxrss / 1024:.0f} MiB"
    )


def main() -> None:
    what, *numbers = sys.argv[1:] or ["changed"]
    given = [int(one) for one in numbers]
    match what:
        case "changed":
            measure_changed(*(given or [10_000]))
        case "drawn":
            measure_drawn(*(given or [300]))
        case "memory":
            measure_memory(*(given or [30, 300]))
        case "once":
            draw_once(*given)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    main()
