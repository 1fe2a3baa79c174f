"""Processes that die or write at the same time lose nothing that was recorded."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

from registry.store import database_engine
from registry.store import database_schema as schema
from registry.store.ledger import Ledger
from registry.store.registry_rebuild import verify
from tests.store import builders as make

ROOT = Path(__file__).parent.parent.parent

IMPORT = """
import secrets, sys
from registry.store.ledger import Ledger
from registry.store.kinds.claim_kinds import (natural_key)
from registry.records.record import Kind
from tests.store import builders as make

url, phi, total, chunk = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
ledger = Ledger.open(url, clock=make.ticking(), salt=lambda: secrets.token_hex(16))
for start in range(0, total, chunk):
    with ledger.write(actor="LAB") as writer:
        claims = [make.claim("", phi, quote=f"Claim {number}.") for number in range(start, min(start + chunk, total))]
        known = writer.find_natural([natural_key(one) for one in claims])
        new = [one for one in claims if natural_key(one) not in known]
        names = writer.allocate(Kind.CLAIM, "LAB", len(new))
        writer.append_many([make.claim(name, phi, quote=one.quote) for name, one in zip(names, new)])
    print(start + chunk, len(new), flush=True)
"""

WRITE = """
import secrets, sys
from registry.store.ledger import Ledger
from tests.store import builders as make

url, phi, mark, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
ledger = Ledger.open(url, clock=make.ticking(), salt=lambda: secrets.token_hex(16))
for number in range(count):
    with ledger.write(actor="LAB") as writer:
        make.add_claim(writer, phi, quote=f"{mark} {number}")
"""


def _start(script: str, *arguments: object) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)})


def _found(tmp_path: Path) -> tuple[str, str]:
    url = f"sqlite:///{tmp_path / 'registry.db'}"
    schema.upgrade(url)
    ledger = Ledger.open(url, clock=make.ticking(), salt=make.salting())
    with ledger.write(actor="LAB") as writer:
        phi = make.settle(writer)
    ledger.close()
    return url, phi


def test_a_killed_import_loses_only_what_was_not_committed(tmp_path: Path) -> None:
    """After SIGKILL the committed chunks are there, nothing is half there, and the same import completes without doubling."""
    url, phi = _found(tmp_path)
    process = _start(IMPORT, url, phi, 20_000, 100)
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    count = 300 + 100 * len(process.stdout.read().splitlines())
    process.wait()
    process.stdout.close()

    ledger = Ledger.open(url, clock=make.ticking(), salt=make.salting())
    with ledger.view() as view:
        after_kill = view.count_claims()
    assert after_kill % 100 == 0
    assert count <= after_kill <= count + 100 < 20_000
    assert verify(ledger).entries == after_kill + 2
    again = _start(IMPORT, url, phi, 1_000 + after_kill, 500)
    output, _ = again.communicate(timeout=60)
    new = sum(int(line.split()[1]) for line in output.splitlines())
    with ledger.view() as view:
        assert (new, view.count_claims()) == (1_000, 1_000 + after_kill)
        quotes = [claim.quote for claim in view.list_claims()]
    assert len(set(quotes)) == len(quotes)
    ledger.close()


def test_two_writers_at_a_time_lose_nothing(tmp_path: Path) -> None:
    """Every commit of both processes is there, the log is gapless, and no number is used twice."""
    url, phi = _found(tmp_path)
    writers = [_start(WRITE, url, phi, mark, 100) for mark in ("a", "b")]
    for writer in writers:
        writer.communicate(timeout=60)

    ledger = Ledger.open(url, clock=make.ticking(), salt=make.salting())
    with ledger.view() as view:
        listed = list(view.list_claims())
    assert [writer.returncode for writer in writers] == [0, 0]
    assert {claim.quote for claim in listed} == {f"{mark} {number}" for mark in "ab" for number in range(100)}
    assert len({claim.claim for claim in listed}) == 200
    assert verify(ledger).entries == 202
    ledger.close()


def test_a_commit_waits_for_the_disk(tmp_path: Path) -> None:
    """Connections write ahead and sync at each commit; the other tests leave the waiting out (`tests/cheap_commands.py`)."""
    prepare: Any = database_engine._prepare_sqlite
    with closing(sqlite3.connect(tmp_path / "registry.db")) as connection:
        prepare.__wrapped__(connection, None, wait_ms=None)
        journal, synchronous = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous"))

    assert (journal, synchronous) == ("wal", 2)
