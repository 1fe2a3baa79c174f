"""How fast `caveat claim add` takes a file of claims end to end, beside raw sqlite3 inserting the very same rows; and its memory.

Run: python benchmarks/bulk_import.py [CLAIMS]
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bulk_import_store import measure_raw

CHILD = """
import resource, sys, time
from datetime import UTC, datetime
from pathlib import Path
from registry.registration.claims_file_registration import register_file
from registry.store.ledger import Ledger
from caveat_command import collect_rarely
import secrets
collect_rarely()
folder = Path(sys.argv[1])
ledger = Ledger.open(f"sqlite:///{folder / 'store.db'}", clock=lambda: datetime.now(UTC), salt=lambda: secrets.token_hex(16))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.perf_counter()
outcome = register_file(ledger, folder / "claims.jsonl", owner="EXAMPLE", dry_run=False, progress=lambda more: None)
elapsed_s = time.perf_counter() - started
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(len(outcome.added), elapsed_s, (after - before) / 1024)
"""
SETTLE = """
import sys
from pathlib import Path
from bulk_import_store import open_ledger, settle
settle(open_ledger(f"sqlite:///{Path(sys.argv[1]) / 'store.db'}"))
"""


def write_claims(path: Path, count: int) -> None:
    line = {
        "form": "prevalence",
        "quote_status": "paraphrase",
        "property": "covert",
        "reported": 0.25,
        "model": {"developer": "Example", "name": "m", "version": "1"},
        "evaluation": "An evaluation",
        "source": "card, page 3",
    }
    with path.open("w", encoding="utf-8") as stream:
        for number in range(count):
            quote = f"In {number} of 100,000 rollouts the model took a covert action when it was told to reach its goal at any price."
            stream.write(json.dumps({**line, "quote": quote}) + "\n")


def run(code: str, folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], check=True, capture_output=True, text=True, cwd=Path(__file__).resolve().parent
    )
    return done.stdout.split()


def measure_import(folder: Path, count: int) -> tuple[float, float]:
    """Return claims per second and the growth of memory in MiB, in a process of its own."""
    run(SETTLE, folder)
    write_claims(folder / "claims.jsonl", count)
    added, elapsed_s, memory_mib = run(CHILD, folder)
    assert int(added) == count
    return count / float(elapsed_s), float(memory_mib)


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    rounds = []
    for _ in range(3):
        with tempfile.TemporaryDirectory(prefix="caveat-bench-") as name:
            folder = Path(name)
            speed, memory_mib = measure_import(folder, count)
            rounds.append((speed, measure_raw(folder, count, guarded=True), measure_raw(folder, count, guarded=False), memory_mib))
            time.sleep(0.2)
    speed, guarded, bare = (max(column) for column in list(zip(*rounds, strict=True))[:3])
    print(f"file to registry, {count:,} claims, end to end        {speed:>10,.0f} claims/s   (target 20,000)")
    print(f"raw sqlite3, the same rows, guards and foreign keys  {guarded:>10,.0f} claims/s   ratio {speed / guarded:.2f}   (target 0.33)")
    print(f"raw sqlite3, the same rows, no guards                {bare:>10,.0f} claims/s   ratio {speed / bare:.2f}   (target 0.33)")
    for size in (count // 4, count * 4):
        with tempfile.TemporaryDirectory(prefix="caveat-bench-") as name:
            _, memory_mib = measure_import(Path(name), size)
        print(f"memory that importing {size:>7,} claims adds          {memory_mib:>10,.1f} MiB")


if __name__ == "__main__":
    main()
