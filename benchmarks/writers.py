"""Writers at the same time, two on SQLite and eight on PostgreSQL: whether anything is lost, and whether the order stays gapless.

Run: python benchmarks/writers.py [SECONDS]
"""

import os
import secrets
import sys
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.bulk_import_store import build_claim, open_ledger, settle
from registry.records.record import Kind
from registry.store.ledger import Ledger
from registry.store.log_integrity import check_log
from tests.postgres import NoServerError, create_database, run_server


def write(url: str, phi: str, mark: int, seconds: float, told: int) -> None:
    """Record one claim after the other until the time is over, and tell the entry of each."""
    ledger = Ledger.open(url, clock=lambda: datetime.now(UTC), salt=lambda: secrets.token_hex(16))
    until = time.monotonic() + seconds
    number = 0
    with os.fdopen(told, "w") as stream:
        while time.monotonic() < until:
            with ledger.write(actor="EXAMPLE") as writer:
                (name,) = writer.allocate(Kind.CLAIM, "EXAMPLE")
                entry = writer.append(build_claim(name, phi, 1_000_000 * mark + number))
            stream.write(f"{entry.seq}\n")
            number += 1
    ledger.close()


def start(url: str, phi: str, mark: int, seconds: float) -> tuple[int, int]:
    """Fork a writer; return its process and where it tells what it recorded."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        status = 1
        try:
            write(url, phi, mark, seconds, writing)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    return child, reading


def run(url: str, writers: int, seconds: float) -> tuple[int, Sequence[int]]:
    """Return the entries of the log, and how many each writer recorded; raises AssertionError if one is lost or doubled."""
    ledger = open_ledger(url)
    phi = settle(ledger)
    ledger.release()
    started = [start(url, phi, mark, seconds) for mark in range(writers)]
    told: list[list[int]] = []
    for child, reading in started:
        with os.fdopen(reading) as stream:
            told.append([int(line) for line in stream])
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0, "a writer failed"
    report = check_log(ledger)
    assert report.is_sound, report.findings
    assert sorted(seq for one in told for seq in one) == list(range(3, report.entries + 1)), "an entry is lost, or was given twice"
    with ledger.view() as view:
        assert view.count_claims() == report.entries - 2
    ledger.close()
    return report.entries, [len(one) for one in told]


def show(name: str, entries: int, counts: Sequence[int], seconds: float) -> None:
    shares = f"{min(counts):,} to {max(counts):,} each"
    print(f"{name}, {len(counts)} writers, {seconds:g} s: {entries:,} entries ({shares}), nothing lost, gapless, every leaf verified")


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as name:
        show("SQLite", *run(f"sqlite:///{Path(name, 'store.db')}", 2, seconds), seconds)
    try:
        with run_server() as server:
            show("PostgreSQL", *run(create_database(server, "template0"), 8, seconds), seconds)
    except NoServerError as error:
        print(f"PostgreSQL: not measured, {error}")


if __name__ == "__main__":
    main()
