"""Seconds and memory until inputs that are far too large are refused: the whole command, cold, with all its child processes.

Run: python benchmarks/large_inputs.py
"""

import json
import os
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.intake.test_bombs import write_pdf  # noqa: E402

CLAIM = {"quote": "the model refuses nearly all requests", "form": "lower_bound", "theta": 0.9}
LINE = b"(The model refuses nearly all harmful requests.) Tj 0 -1 Td "
MEASURE = """
import resource, subprocess, sys, time
start = time.monotonic()
process = subprocess.run(sys.argv[1:], capture_output=True, text=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
said = process.stderr.partition(":")[0]
cpu = used.ru_utime + used.ru_stime
print(f"{time.monotonic() - start:.1f} s, {cpu:.1f} s CPU, {used.ru_maxrss / 1024:.0f} MiB, {said}, exit {process.returncode}")
"""


def write_inputs(folder: Path) -> dict[str, tuple[str, ...]]:
    """Write the files into *folder*; return the command for each."""
    text = b"BT /F1 8 Tf 10 700 Td " + LINE * 250_000 + b"ET"
    (folder / "bomb.pdf").write_bytes(write_pdf(zlib.compress(text, 9)))
    double = zlib.compress(zlib.compress(b"BT /F1 8 Tf " + b"(A) Tj " * 30_000_000 + b"ET", 9), 9)
    (folder / "deep.pdf").write_bytes(write_pdf(double, b"/Filter[/FlateDecode/FlateDecode]"))
    rows = "".join(f"- {json.dumps(CLAIM)}\n" for _ in range(19_000_000 // (len(json.dumps(CLAIM)) + 3)))
    (folder / "large.yaml").write_text(f"claims:\n{rows}", encoding="utf-8")
    (folder / "many.json").write_text(json.dumps({"claims": [CLAIM] * 200_000}), encoding="utf-8")
    names = ",".join(f"c{number}" for number in range(3_000_000))
    (folder / "wide.csv").write_text(f"task_id,arm,context_id,sample,score,{names}\n", encoding="utf-8")
    card = ("--publisher", "x")
    return {
        "a PDF of one page with 15 MB of text": ("card", "add", "bomb.pdf", *card),
        "a PDF that inflates twice to 210 MB": ("card", "add", "deep.pdf", *card),
        "19 MB of YAML": ("claim", "add", "large.yaml"),
        "200,000 claims in one JSON file": ("claim", "add", "many.json"),
        "a table with 3,000,000 columns": ("analyze", "estimate", "wide.csv"),
    }


def main() -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    with tempfile.TemporaryDirectory(prefix="caveat-benchmark-") as name:
        folder = Path(name)
        run = [sys.executable, "-m", "caveat_command"]
        subprocess.run([*run, "init", "--example"], cwd=folder, env=environ, check=True, capture_output=True)
        for what, command in write_inputs(folder).items():
            measured = subprocess.run(
                [sys.executable, "-c", MEASURE, *run, *command], cwd=folder, env=environ, check=True, capture_output=True, text=True
            )
            print(f"{what}: {measured.stdout.strip()}")


if __name__ == "__main__":
    main()
