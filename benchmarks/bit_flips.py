"""Is every flipped bit detected: in a stored statement or leaf, a record, a proof, a signed PDF?

On a small registry every bit of each; on a log of 10,000 entries 10,000 bits at random. A flip is detected if something is answered no or
refused, or what was yes is not any more. What is not detected is printed, and the exit code is 1.

Run: python benchmarks/bit_flips.py [--every N]     (N = 1, every bit, takes about an hour; 211 some minutes)
"""

import argparse
import os
import random
import re
import secrets
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from registry.errors import CaveatError  # noqa: E402
from registry.records.record import Authority, AuthorityRole  # noqa: E402
from registry.registration.key_registration import list_keys  # noqa: E402
from registry.report.published_file import find_signature  # noqa: E402
from registry.store.ledger import Ledger  # noqa: E402
from registry.store.log_integrity import check_log  # noqa: E402
from registry.verify.file_verification import check_file  # noqa: E402
from registry.verify.proof_checks import CheckAnswer  # noqa: E402
from registry.verify.verification_keys import Trust, collect_keys  # noqa: E402

CARD = "# Lumen 1 system card\n\nIn the consumer product Lumen 1 refuses at least 90 % of harmful requests.\n"
CLAIMS = """schema: caveat/claims/1
card: CRD-EXAMPLE-2026-0001-J
model: {developer: Example Lab, name: Lumen, version: "1"}
properties:
  refusal: {name: refusal of harmful requests, class: compliance_refusal, range: [0, 1], direction: higher_is_safer}
claims:
  - {quote: In the consumer product Lumen 1 refuses at least 90 % of harmful requests., form: lower_bound, property: refusal, theta: 0.9}
"""
COMMANDS = (
    "init --code EXAMPLE --name Example --role lab",
    "card add card.md --title Lumen --publisher Example --published 2026-11-02",
    "claim add claims.yaml",
    "report CLM-EXAMPLE-2026-0001-T --publish --yes",
)
MOMENT = datetime(2026, 11, 22, tzinfo=UTC)
LARGE, BATCH = 10_000, 500
Where = tuple[str, int, int]
"""What, which byte, which bit."""


def build_registry(folder: Path) -> Path:
    """Make a registry in *folder*, publish one supplement, and return the folder of its files."""
    (folder / "card.md").write_text(CARD)
    (folder / "claims.yaml").write_text(CLAIMS)
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1795255200", "CAVEAT_PASSPHRASE": "", "PYTHONPATH": str(ROOT)}
    for command in COMMANDS:
        main = [sys.executable, "-c", "from registry.cli.main import main; main()", *command.split()]
        subprocess.run(main, cwd=folder, check=True, env=environment, capture_output=True)
    return folder / "supplements"


def flip(data: bytes, place: int, bit: int) -> bytes:
    return b"".join((data[:place], bytes([data[place] ^ 1 << bit]), data[place + 1 :]))


def list_places(size: int, every: int) -> Iterator[tuple[int, int]]:
    return (divmod(number, 8) for number in range(0, size * 8, every))


def try_file(name: str, data: bytes, is_caught: Callable[[bytes], bool], places: Iterable[tuple[int, int]]) -> list[Where]:
    """Return the flips of *data* that *is_caught* does not catch; the file itself must be good."""
    if is_caught(data):
        raise AssertionError(f"{name}: what no one flipped is refused")
    started, count, missed = time.perf_counter(), 0, []
    for place, bit in places:
        count += 1
        if not is_caught(flip(data, place, bit)):
            missed.append((name, place, bit))
    elapsed_s = time.perf_counter() - started
    print(
        f"{name:<42} {len(data):>9,} bytes {count:>9,} flips {len(missed):>4} missed {elapsed_s / max(count, 1) * 1000:7.2f} ms each",
        flush=True,
    )
    return missed


def answer(data: bytes, *, proof: bytes | None, trust: Trust) -> frozenset[str] | None:
    """Return the checks of `caveat verify` whose answer is yes, without drawing; None where one is no, or it is nothing to verify."""
    try:
        checks = check_file(data, proof=proof, trust=trust)
    except CaveatError:
        return None
    return (
        None
        if any(one.answer is CheckAnswer.NO for one in checks)
        else frozenset(one.name for one in checks if one.answer is CheckAnswer.YES)
    )


def is_bad_signature(data: bytes) -> bool:
    found = find_signature(data)
    return found is None or not found.is_intact


def try_files(folder: Path, trust: Trust, every: int) -> list[Where]:
    (pdf,), (record,) = folder.glob("CLM-*.pdf"), folder.glob("CLM-*.json")
    return [
        *try_pdf(pdf.read_bytes(), every),
        *try_record(record.read_bytes(), (folder / f"{record.name}.tlog-proof").read_bytes(), trust, every),
    ]


def try_pdf(data: bytes, every: int) -> list[Where]:
    signature = find_signature(data)
    if signature is None:
        raise AssertionError("it is not signed")
    start = len(signature.unsigned)
    appended = [(place, bit) for place in range(start, len(data)) for bit in range(0, 8, 1 if every == 1 else 3)]
    missed = try_file("signed PDF: what was appended", data, is_bad_signature, appended)
    return missed + try_file("signed PDF: what was there before", data, is_bad_signature, list_places(start, every * 7 if every > 1 else 1))


def try_record(record: bytes, proof: bytes, trust: Trust, every: int) -> list[Where]:
    together, alone = answer(record, proof=proof, trust=trust), answer(proof, proof=None, trust=trust)
    if together is None or alone is None:
        raise AssertionError("what no one flipped is refused")

    def is_less(now: frozenset[str] | None, before: frozenset[str]) -> bool:
        return now is None or not before <= now

    tries = (
        ("record, with its proof", record, lambda one: is_less(answer(one, proof=proof, trust=trust), together)),
        ("proof, with its record", proof, lambda one: is_less(answer(record, proof=one, trust=trust), together)),
        ("proof alone", proof, lambda one: is_less(answer(one, proof=None, trust=trust), alone)),
    )
    return [one for name, data, is_caught in tries for one in try_file(name, data, is_caught, list_places(len(data), every))]


class Database:
    """A registry's file, changed behind its back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ledger = Ledger.open(f"sqlite:///{path}", clock=lambda: MOMENT, salt=lambda: secrets.token_hex(16))
        with closing(sqlite3.connect(path)) as connection:
            self.triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()

    def read(self, query: str) -> dict[int, bytes]:
        """Return what is stored, by the number of its entry."""
        with closing(sqlite3.connect(self.path)) as connection:
            return dict(connection.execute(query).fetchall())

    def change(self, statement: str, rows: Iterable[tuple[bytes, int]]) -> None:
        """Write *rows* without the guards, and put the guards back."""
        with closing(sqlite3.connect(self.path)) as connection, connection:
            for name, _ in self.triggers:
                connection.execute(f"DROP TRIGGER {name}")
            connection.executemany(statement, rows)
            for _, text in self.triggers:
                connection.execute(text)

    def find_altered(self) -> set[int]:
        """Return the entries that checking the log names."""
        report = check_log(self.ledger)
        if report.unlisted:
            raise AssertionError("more findings than are listed")
        return {int(found[1]) for one in report.findings if (found := re.match(r"entry (\d+)", one.where))}


COLUMNS = {
    "text of a statement": ("SELECT seq, CAST(json AS BLOB) FROM body", "UPDATE body SET json = CAST(? AS TEXT) WHERE seq = ?"),
    "leaf of an entry": ("SELECT seq, leaf FROM entry", "UPDATE entry SET leaf = ? WHERE seq = ?"),
}


def try_column(database: Database, name: str, every: int) -> list[Where]:
    """Flip the same bit of every entry at once: each must be named."""
    query, statement = COLUMNS[name]
    stored = database.read(query)
    if database.find_altered():
        raise AssertionError("what no one flipped is refused")
    started, count, missed = time.perf_counter(), 0, []
    for place, bit in list_places(max(map(len, stored.values())), every):
        changed = {seq: text for seq, text in stored.items() if place < len(text)}
        database.change(statement, [(flip(text, place, bit), seq) for seq, text in changed.items()])
        missed += [(f"{name}, entry {seq}", place, bit) for seq in changed.keys() - database.find_altered()]
        database.change(statement, [(text, seq) for seq, text in changed.items()])
        count += len(changed)
    elapsed_s = time.perf_counter() - started
    print(f"{name:<42} {len(stored):>7,} entries {count:>9,} flips {len(missed):>4} missed {elapsed_s:7.1f} s", flush=True)
    return missed


def try_large(folder: Path, rng: random.Random) -> list[Where]:
    """Flip one bit at random in entry after entry of a log of 10,000, 500 entries between two looks."""
    url = f"sqlite:///{folder / 'caveat.db'}"
    with (
        closing(Ledger.open(url, clock=lambda: MOMENT, salt=lambda: rng.randbytes(16).hex())) as ledger,
        ledger.write(actor="EXAMPLE") as writer,
    ):
        writer.append_many(
            [Authority(code=f"A{number}", name=f"Authority {number}", role=AuthorityRole.AUDITOR) for number in range(LARGE)]
        )
    database, missed, started = Database(folder / "caveat.db"), [], time.perf_counter()
    for name, (query, statement) in COLUMNS.items():
        stored = database.read(query)
        chosen = rng.sample(sorted(stored), LARGE // 2)
        for at in range(0, len(chosen), BATCH):
            places = {seq: (rng.randrange(len(stored[seq])), rng.randrange(8)) for seq in chosen[at : at + BATCH]}
            database.change(statement, [(flip(stored[seq], *place), seq) for seq, place in places.items()])
            missed += [(f"large log, {name}, entry {seq}", *places[seq]) for seq in places.keys() - database.find_altered()]
            database.change(statement, [(stored[seq], seq) for seq in places])
    database.ledger.close()
    elapsed_s = time.perf_counter() - started
    print(f"{'large log, texts and leaves':<42} {len(stored):>7,} entries {LARGE:>9,} flips {len(missed):>4} missed {elapsed_s:7.1f} s")
    return missed


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1, help="flip every N-th bit")
    every = parser.parse_args().every
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = build_registry(folder)
        database = Database(folder / "caveat.db")
        with database.ledger.view() as view:
            trust = collect_keys(list_keys(view), source="the registry here")
        missed = try_files(files, trust, every)
        for column in COLUMNS:
            missed += try_column(database, column, every)
        database.ledger.close()
        missed += try_large(folder, random.Random(20261122))  # noqa: S311  (chance guards nothing here)
    for one in missed[:50]:
        print("NOT DETECTED", *one)
    print(f"{len(missed)} not detected")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
