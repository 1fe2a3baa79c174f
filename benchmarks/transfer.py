"""How long it takes to carry a log of N entries: to export it, to verify the bundle, to import it, to back the registry up.

A backup is measured beside what SQLite's own backup interface takes for the same file, which checks nothing and keeps freed pages.
Run: python benchmarks/transfer.py [N]
"""

import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from registry.exchange.bundle_check import check_bundle
from registry.exchange.bundle_transfer import take_over
from registry.exchange.registry_backup import back_up
from registry.store.registry_rebuild import rebuild
from tests.transfer.registries import found


def measure(name: str, work: Callable[[], Any]) -> Any:
    started = time.perf_counter()
    result = work()
    print(f"{name:<45} {time.perf_counter() - started:8.2f} s")
    return result


def copy_plainly(source: Path, target: Path) -> None:
    one, other = sqlite3.connect(source), sqlite3.connect(target)
    one.backup(other)
    one.close()
    other.close()


def main(claims: int) -> None:
    with TemporaryDirectory(prefix="caveat-transfer-") as name:
        folder = Path(name)
        source = found(f"sqlite:///{folder / 'source.db'}", "AISI", seed=1, salt=lambda: token_hex(16))
        target = found(f"sqlite:///{folder / 'target.db'}", "LAB", seed=2)
        for _ in range(0, claims, 10_000):
            source.add_claims(min(claims, 10_000))
        print(f"{claims:,} claims")
        for suffix in ("jsonl", "caveat"):
            path = folder / f"bundle.{suffix}"
            measure(f"export .{suffix}", lambda path=path: source.export(path))
            print(f"  {path.stat().st_size:,} bytes")
        measure("verify the bundle", lambda: check_bundle(folder / "bundle.caveat", (source.vkey,)))
        measure("import (verify and record)", lambda: take_over(target.ledger, path, actor="LAB", keys=(source.vkey,)))
        measure("backup, checked", lambda: back_up(source.ledger, folder / "b.db", keys=(source.key,), actor="AISI"))
        measure("SQLite's own backup, unchecked", lambda: copy_plainly(folder / "source.db", folder / "plain.db"))
        measure(
            "replay into an empty database", lambda: rebuild(source.ledger.url, f"sqlite:///{folder / 'replayed.db'}", lambda _done: None)
        )
        source.ledger.close()
        target.ledger.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
