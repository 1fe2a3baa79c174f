"""How long signing a PDF takes, checking its signature, and looking for what does not belong into it (the whole of verify: verify_pdf.py).

Run: python benchmarks/sign_pdf.py
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from registry.records.log_seal import KeyAlgorithm  # noqa: E402
from registry.report.pdf_rendering import render_pdf_in_process  # noqa: E402
from registry.report.published_file import check_signature, sign_pdf  # noqa: E402
from registry.report.supplement_assembly import assemble_claim  # noqa: E402
from registry.report.supplement_reading import list_threats  # noqa: E402
from registry.seal.signing_keys import make_key  # noqa: E402
from tests.report.builders import MADE_AT  # noqa: E402
from tests.report.dossiers import inverted  # noqa: E402

AT = datetime(2026, 11, 22, tzinfo=UTC)
FIRST = (
    "import time, sys; data = open(sys.argv[1], 'rb').read(); started = time.process_time();"
    "from registry.report.published_file import check_signature; check_signature(data); print(time.process_time() - started)"
)


def measure(work: Callable[[], object], times: int = 15) -> tuple[float, float]:
    """Seconds of wall clock and of processor for one piece of work: the best of *times*, after one to load what it needs."""
    work()
    best = (float("inf"), float("inf"))
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        best = min(best, (time.perf_counter() - wall, time.process_time() - cpu), key=lambda pair: pair[1])
    return best


def show(name: str, seconds: tuple[float, float], limit: str = "") -> None:
    print(f"{name:<44} {seconds[0] * 1000:8.1f} ms wall {seconds[1] * 1000:8.1f} ms CPU   {limit}")


def measure_first(data: bytes) -> float:
    """Return the seconds of processor that the first check of a process takes, pyHanko's imports included."""
    with tempfile.NamedTemporaryFile(suffix=".pdf") as file:
        Path(file.name).write_bytes(data)
        command = [sys.executable, "-c", FIRST, file.name]
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        return min(float(subprocess.run(command, env=environment, capture_output=True, check=True).stdout) for _ in range(3))


def main() -> None:
    unsigned = render_pdf_in_process(assemble_claim(inverted(), made_at=MADE_AT))
    key = make_key(KeyAlgorithm.ECDSA_P256, "EXAMPLE", seed=bytes(32), organisation="Example Institute")
    signed = sign_pdf(unsigned, key, at=AT)
    print(f"a claim supplement of {len(unsigned):,} bytes, signed {len(signed) - len(unsigned):,} more")
    show("sign", measure(lambda: sign_pdf(unsigned, key, at=AT)), "limit 50")
    show("check the signature", measure(lambda: check_signature(signed)), "limit 150")
    print(f"{'  the first time in a process':<44} {'':>8}         {measure_first(signed) * 1000:8.1f} ms CPU")
    show("list what does not belong into it", measure(lambda: list_threats(signed)))


if __name__ == "__main__":
    main()
