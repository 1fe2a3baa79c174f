"""Writers killed at any moment: whether the log is gapless and verifies each time. Nothing is measured but that.

Run: python benchmarks/kills.py [--kills N] [--seed N]
"""

import argparse
import os
import random
import secrets
import signal
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.bulk_import_store import build_claim, open_ledger, settle
from registry.records.log_seal import Checkpoint, KeyAlgorithm
from registry.records.record import Kind
from registry.seal.signed_notes import parse_vkey, sign_checkpoint
from registry.seal.signing_keys import make_key
from registry.store import log_seals as seals
from registry.store.ledger import Ledger
from registry.store.log_integrity import check_log

SEED = b"\x05" * 32
LONGEST_S = 0.15
"""A kill comes so long after the first entry at most: some dozen transactions."""


def write(url: str, phi: str, start: int, said_to: int) -> None:
    """Write claims until killed, one or some at a time, with a checkpoint now and then; tell *said_to* each size once it is recorded."""
    ledger = Ledger.open(url, clock=lambda: datetime.now(UTC), salt=lambda: secrets.token_hex(16))
    number = start
    while True:
        many = 1 + number % 7
        with ledger.write(actor="EXAMPLE") as writer:
            names = writer.allocate(Kind.CLAIM, "EXAMPLE", many)
            writer.append_many([build_claim(name, phi, number + more) for more, name in enumerate(names)])
            if number % 5 == 0:
                said = Checkpoint(origin=writer.log_origin, size=writer.log_size, root=seals.find_root(writer))
                key = make_key(KeyAlgorithm.ED25519, said.origin, seed=SEED)
                seals.add_checkpoint(writer, sign_checkpoint(said, [key]), said)
            size = writer.log_size
        os.write(said_to, f"{size}\n".encode())
        number += many


def kill_once(url: str, phi: str, start: int, chance: random.Random) -> int:
    """Start a writer, kill it at a random moment after it began to write, and return the last size that it said was recorded.

    It is a fork of this process, which has everything loaded and nothing open.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            write(url, phi, start, writing)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading) as said:
        first = said.readline()
        time.sleep(chance.uniform(0, LONGEST_S))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, "the writer ended by itself"
        return max(int(line) for line in (first, *said) if line.endswith("\n"))


def run(folder: Path, kills: int, seed: int) -> tuple[int, int]:
    """Return entries and checkpoints in the end; raises AssertionError if anything recorded is lost, or anything is half there."""
    chance = random.Random(seed)  # noqa: S311  (moments, not secrets)
    url = f"sqlite:///{folder / 'store.db'}"
    ledger = open_ledger(url)
    phi = settle(ledger)
    with ledger.view() as view:
        origin = view.log_origin
    vkeys = [parse_vkey(make_key(KeyAlgorithm.ED25519, origin, seed=SEED).vkey or "", where="benchmark")]
    size = checkpoints = 0
    for _ in range(kills):
        ledger.release()
        said = kill_once(url, phi, size, chance)
        report = check_log(ledger, vkeys=vkeys)
        assert report.is_sound, report.findings
        assert report.entries >= max(said, size), "a transaction that was recorded is lost"
        size, checkpoints = report.entries, len(report.checkpoints)
    ledger.close()
    return size, checkpoints


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as name:
        size, checkpoints = run(Path(name), options.kills, options.seed)
    taken = time.perf_counter() - started
    print(
        f"{options.kills:,} writers killed in {taken:.0f} s: {size:,} entries, {checkpoints:,} checkpoints; gapless and verified each time"
    )


if __name__ == "__main__":
    main()
