"""How long it takes to check a log against its kept tree and its checkpoints, and to read a proof off it.

Run: python benchmarks/log_verify.py [ENTRIES]
"""

import hashlib
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.bulk_import_store import build_claim, open_ledger, settle
from registry.records.log_seal import Checkpoint, KeyAlgorithm
from registry.records.record import Kind
from registry.seal.merkle_tree import root_from_inclusion
from registry.seal.signed_notes import parse_vkey, sign_checkpoint
from registry.seal.signing_keys import make_key
from registry.store import log_seals as seals
from registry.store.ledger import Ledger
from registry.store.log_integrity import check_log

ROUNDS = 7
PROOFS = 1_000


def fill(ledger: Ledger, entries: int) -> str:
    """Append until the log has so many entries, and sign a checkpoint of all; return the verifier key."""
    phi = settle(ledger)
    with ledger.write(actor="EXAMPLE") as writer:
        names = writer.allocate(Kind.CLAIM, "EXAMPLE", entries - writer.log_size)
        for start in range(0, len(names), 5_000):
            writer.append_many([build_claim(name, phi, number) for number, name in enumerate(names[start : start + 5_000], start)])
        said = Checkpoint(origin=writer.log_origin, size=writer.log_size, root=seals.find_root(writer))
        key = make_key(KeyAlgorithm.ED25519, said.origin)
        seals.add_checkpoint(writer, sign_checkpoint(said, [key]), said)
    assert key.vkey is not None
    return key.vkey


def measure_check(ledger: Ledger, vkey: str, entries: int) -> tuple[float, float]:
    """Return seconds by the clock and of CPU, the least of several rounds."""
    taken = []
    for _ in range(ROUNDS):
        started, used = time.perf_counter(), time.process_time()
        report = check_log(ledger, vkeys=[parse_vkey(vkey, where="benchmark")])
        taken.append((time.perf_counter() - started, time.process_time() - used))
        assert report.is_sound
        assert (report.entries, report.checkpoints[0].fits, report.checkpoints[0].is_signed) == (entries, True, True)
    return min(one for one, _ in taken), min(one for _, one in taken)


def measure_floor(path: Path) -> float:
    """Seconds that sqlite3 and hashlib alone need to read the same texts and hash them."""
    taken = []
    for _ in range(ROUNDS):
        connection = sqlite3.connect(path)
        started = time.perf_counter()
        query = "SELECT entry.leaf, CAST(json AS BLOB) FROM entry JOIN body USING (log, seq) WHERE log = 1 ORDER BY seq"
        for leaf, text in connection.execute(query):
            assert hashlib.sha256(b"\x00" + text).digest() == leaf
        taken.append(time.perf_counter() - started)
        connection.close()
    return min(taken)


def measure_proofs(ledger: Ledger) -> list[float]:
    """Milliseconds of each inclusion proof, of entries taken by chance; each is verified outside the time."""
    chance = random.Random(0)  # noqa: S311  (places, not secrets)
    taken_ms = []
    with ledger.view() as view:
        size, leaves = view.log_size, list(view.leaves())
        root = seals.find_root(view)
        for _ in range(PROOFS):
            seq = chance.randint(1, size)
            started = time.perf_counter()
            path = seals.inclusion_path(view, seq, size)
            taken_ms.append(1000 * (time.perf_counter() - started))
            assert root_from_inclusion(leaves[seq - 1], seq - 1, size, path).hex() == root
    return sorted(taken_ms)


def main() -> None:
    entries = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as name:
        path = Path(name, "store.db")
        ledger = open_ledger(f"sqlite:///{path}")
        vkey = fill(ledger, entries)
        elapsed_s, cpu_s = measure_check(ledger, vkey, entries)
        floor_s = measure_floor(path)
        proofs = measure_proofs(ledger)
        ledger.close()
    print(f"log of {entries:,} entries checked: leaves, tree, checkpoint {elapsed_s:.2f} s, {cpu_s:.2f} s CPU   (target 0.50 s)")
    print(f"sqlite3 and hashlib alone reading and hashing the same texts          {floor_s:.2f} s   ratio {elapsed_s / floor_s:.1f}")
    print(f"inclusion proof: median {statistics.median(proofs):.2f} ms, 95 % {proofs[len(proofs) * 95 // 100]:.2f} ms   (target 1 ms)")


if __name__ == "__main__":
    main()
