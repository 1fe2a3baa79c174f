"""Supplements per second: warm, cold, on all cores, and beside WeasyPrint alone on the same HTML.

Run: python benchmarks/supplements.py
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from registry.records.statement import OutputFormat  # noqa: E402
from registry.records.supplement import Supplement  # noqa: E402
from registry.report.html_rendering import Medium, build_html, render_html, render_json  # noqa: E402
from registry.report.pdf_rendering import (  # noqa: E402
    _engine,
    finish_pdf,
    is_covered,
    render_pdf_in_process,
)
from registry.report.render_workers import RenderJob, render_many  # noqa: E402
from registry.report.supplement_assembly import assemble_claim  # noqa: E402
from tests.report.builders import MADE_AT  # noqa: E402
from tests.report.dossiers import inverted  # noqa: E402

COLD = (
    "import sys; from registry.report.supplement_reading import read_supplement;"
    "from registry.report.pdf_rendering import render_pdf_in_process;"
    "render_pdf_in_process(read_supplement(sys.stdin.buffer.read(), where='stdin'))"
)


def measure(work: Callable[[], object], times: int) -> tuple[float, float]:
    """Seconds of wall clock and of processor for one piece of work: the best of *times*."""
    best = (float("inf"), float("inf"))
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        best = min(best, (time.perf_counter() - wall, time.process_time() - cpu), key=lambda pair: pair[1])
    return best


def show(name: str, seconds: tuple[float, float]) -> None:
    wall, cpu = seconds
    print(f"{name:<44} {wall * 1000:9.1f} ms wall {cpu * 1000:9.1f} ms CPU {1 / wall:9.1f} per second")


def measure_cold(supplement: Supplement) -> tuple[float, float]:
    """A fresh interpreter that draws one PDF."""
    record, before = render_json(supplement), resource.getrusage(resource.RUSAGE_CHILDREN)
    wall = time.perf_counter()
    subprocess.run([sys.executable, "-c", COLD], input=record, check=True, env=os.environ | {"PYTHONPATH": str(ROOT)})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    dossier = inverted()
    supplement = assemble_claim(dossier, made_at=MADE_AT)
    engine, html = _engine(), build_html(supplement, medium=Medium.PRINT, covers=is_covered)

    def weasyprint_alone() -> bytes:
        document = engine.weasyprint.HTML(string=html, base_url="bundled:", url_fetcher=engine.fetcher)
        drawn: bytes = document.render(font_config=engine.font_config, stylesheets=[engine.style]).write_pdf(pdf_variant="pdf/a-3a")
        return drawn

    render_pdf_in_process(supplement)
    raw = weasyprint_alone()
    show("assemble", measure(lambda: assemble_claim(dossier, made_at=MADE_AT), 20))
    show("JSON", measure(lambda: render_json(supplement), 20))
    show("HTML", measure(lambda: render_html(supplement), 20))
    show("PDF, warm", measure(lambda: render_pdf_in_process(supplement), 5))
    show("  WeasyPrint alone on the same HTML", measure(weasyprint_alone, 5))
    show("  finishing step", measure(lambda: finish_pdf(raw, title="t", moment=MADE_AT, links={}), 10))
    show("PDF, cold (fresh process)", measure_cold(supplement))
    for workers in sorted({1, os.cpu_count() or 1}):
        jobs = [RenderJob(key=str(number), supplement=supplement, format=OutputFormat.PDF) for number in range(12)]
        wall = time.perf_counter()
        failed = [made for made in render_many(jobs, workers=workers, time_limit_s=120) if made.error]
        elapsed_s = time.perf_counter() - wall
        print(
            f"batch of 12, {workers} worker(s), start included {elapsed_s:6.1f} s, {12 / elapsed_s:5.2f} per second, {len(failed)} failed"
        )
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"peak memory {peak_mb:.0f} MB; PDF {len(render_pdf_in_process(supplement)):,} bytes")


if __name__ == "__main__":
    main()
