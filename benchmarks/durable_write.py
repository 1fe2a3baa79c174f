"""How long one registration takes until it is on the disk, beside raw sqlite3 committing the same rows.

Run: python benchmarks/durable_write.py [REGISTRATIONS]
"""

import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.bulk_import_store import TABLES, build_claim, open_ledger, settle
from registry.records.record import Kind


def measure_store(folder: Path, count: int) -> list[float]:
    ledger = open_ledger(f"sqlite:///{folder / 'store.db'}")
    phi = settle(ledger)
    taken_ms = []
    for number in range(count):
        started = time.perf_counter()
        with ledger.write(actor="EXAMPLE") as writer:
            (name,) = writer.allocate(Kind.CLAIM, "EXAMPLE")
            writer.append(build_claim(name, phi, number))
        taken_ms.append(1000 * (time.perf_counter() - started))
    ledger.close()
    return taken_ms


def measure_raw(folder: Path, count: int) -> list[float]:
    open_ledger(f"sqlite:///{folder / 'raw.db'}").close()
    with sqlite3.connect(folder / "store.db") as source:
        rows = {table: source.execute(f"SELECT * FROM {table} WHERE seq > 2 ORDER BY seq").fetchall() for table in TABLES}
        before = {
            table: source.execute(f"SELECT * FROM {table} {'' if table == 'log' else 'WHERE seq <= 2 ORDER BY seq'}").fetchall()
            for table in ("log", "entry", "body", "authority", "identifier", "spec", "spec_version")
        }
    source.close()
    target = sqlite3.connect(folder / "raw.db", isolation_level=None)
    target.execute("PRAGMA synchronous = FULL")
    target.execute("PRAGMA foreign_keys = ON")
    for table, there in before.items():
        for row in there:
            target.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    taken_ms = []
    for number in range(count):
        started = time.perf_counter()
        target.execute("BEGIN IMMEDIATE")
        for table in TABLES:
            row = rows[table][number]
            target.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        target.execute("COMMIT")
        taken_ms.append(1000 * (time.perf_counter() - started))
    target.close()
    return taken_ms


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as name:
        store = statistics.median(measure_store(Path(name), count))
        raw = statistics.median(measure_raw(Path(name), count))
    print(f"store, one claim, committed (median of {count})     {store:>8.3f} ms   (target 1.5)")
    print(f"raw sqlite3, the same rows, committed              {raw:>8.3f} ms   ratio {store / raw:.2f}")


if __name__ == "__main__":
    main()
