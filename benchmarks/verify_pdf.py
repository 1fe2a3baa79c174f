"""Seconds to verify one signed PDF with its proof: the whole command, cold, as a user waits for it; and the checks alone, warm.

Run: python benchmarks/verify_pdf.py
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from registry.records.statement import OutputFormat  # noqa: E402
from registry.report.pdf_rendering import render_pdf_in_process  # noqa: E402
from registry.report.render_workers import RenderedFile  # noqa: E402
from registry.report.supplement_reading import read_supplement  # noqa: E402
from registry.store.ledger import Ledger  # noqa: E402
from registry.verify.file_verification import check_file  # noqa: E402
from registry.verify.proof_checks import CheckAnswer  # noqa: E402
from registry.verify.verification_keys import Trust, collect_means  # noqa: E402
from tests.cli.given_out import NAME, build  # noqa: E402
from tests.cli.test_verify_published import read_vkey  # noqa: E402

TIMES = 15
COLD_TIMES = 7


def never() -> object:
    raise AssertionError("nothing is recorded here")


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix="caveat-benchmark-"))
    try:
        build(folder)
        ledger = Ledger.open(f"sqlite:///{folder}/caveat.db", clock=never, salt=never)  # type: ignore[arg-type]
        measure(folder, ledger)
        ledger.close()
        measure_command(folder)
    finally:
        shutil.rmtree(folder)


def measure(folder: Path, ledger: Ledger) -> None:
    data = (folder / "out" / f"{NAME}.pdf").read_bytes()
    trust = collect_means(ledger, Trust(), origin=None).trust

    def verify(*, drawn: bool, beside: Ledger | None) -> None:
        made = None
        if drawn:
            again = render_pdf_in_process(read_supplement(data, where="benchmark"))
            made = RenderedFile(key="benchmark", format=OutputFormat.PDF, data=again, error=None)
        checks = check_file(data, proof=None, trust=trust, ledger=beside, made=made)
        assert not any(one.answer is CheckAnswer.NO for one in checks), checks

    for name, drawn, beside in (
        ("all checks but drawing, no registry", False, None),
        ("all checks but drawing, beside its registry", False, ledger),
        ("all checks, drawn again, no registry", True, None),
        ("all checks, drawn again, beside its registry", True, ledger),
    ):
        verify(drawn=drawn, beside=beside)
        walls, cpus = [], []
        for _ in range(TIMES):
            wall, cpu = time.perf_counter(), time.process_time()
            verify(drawn=drawn, beside=beside)
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
        print(f"{name:<48} median {statistics.median(walls) * 1000:7.1f} ms wall {statistics.median(cpus) * 1000:7.1f} ms CPU")


def measure_command(folder: Path) -> None:
    """What `caveat verify FILE` takes from the shell and back, without a registry, all its processes together."""
    path, code = folder / "out" / f"{NAME}.pdf", "import sys; from registry.cli.main import main; sys.argv = sys.argv[1:]; main()"
    command = [sys.executable, "-c", code, "caveat", "verify", str(path), "--key", read_vkey(folder), "--json"]
    walls, cpus = [], []
    for _ in range(COLD_TIMES):
        before, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        done = subprocess.run(command, cwd=folder / "out", env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, check=True)
        walls.append(time.perf_counter() - wall)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpus.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert b'"no"' not in done.stdout, done.stdout
    print(
        f"{'caveat verify FILE, the whole command':<48} median {statistics.median(walls) * 1000:7.1f} ms wall "
        f"{statistics.median(cpus) * 1000:7.1f} ms CPU, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
    )


if __name__ == "__main__":
    main()
