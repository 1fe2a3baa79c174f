"""How fast the store takes 20,000 claims that are ready, beside raw sqlite3 inserting the very same rows into the same tables.

Run: python benchmarks/bulk_import_store.py [CLAIMS]
"""

import secrets
import sqlite3
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from registry.records.claim import ClaimRevision, Direction, Form, PropertyClass, QuoteStatus
from registry.records.model_version import ModelRef
from registry.records.record import Authority, AuthorityRole, Kind
from registry.records.specification import PropertySpec, SpecKind, SpecVersion
from registry.records.system_card import Anchor, MatchLevel
from registry.store import database_schema as schema
from registry.store.ledger import Ledger

TABLES = ("entry", "body", "identifier", "claim_revision", "claim_text")
MODEL = ModelRef(developer="Example", name="m", version="1")


def open_ledger(url: str) -> Ledger:
    schema.upgrade(url)
    return Ledger.open(url, clock=lambda: datetime.now(UTC), salt=lambda: secrets.token_hex(16))


def settle(ledger: Ledger) -> str:
    """Register who speaks and of what; return the property's reference."""
    body = PropertySpec(name="covert action", class_=PropertyClass.DECEPTION_SCHEMING, range=(0.0, 1.0), direction=Direction.LOWER_IS_SAFER)
    with ledger.write(actor="EXAMPLE") as writer:
        writer.append(Authority(code="EXAMPLE", name="Example", role=AuthorityRole.LAB))
        (name,) = writer.allocate(Kind.PROPERTY, "EXAMPLE")
        writer.append(SpecVersion(spec=name, kind=SpecKind.PROPERTY, slug="covert", version=1, owner="EXAMPLE", body=body))
    return f"{name}@1"


def build_claim(name: str, phi: str, number: int) -> ClaimRevision:
    quote = f"In {number} of 100,000 rollouts the model took a covert action when it was told to reach its goal at any price."
    anchor = Anchor(
        document="ab" * 32,
        start=number,
        stop=number + len(quote),
        exact=quote,
        prefix="and that is what we found. ",
        suffix=" This is a",
        level=MatchLevel.N1,
        page=3,
    )
    return ClaimRevision(
        claim=name,
        revision=1,
        quote=quote,
        quote_status=QuoteStatus.VERBATIM,
        form=Form.PREVALENCE,
        property=phi,
        direction=Direction.LOWER_IS_SAFER,
        model=MODEL,
        anchor=anchor,
    )


def measure_store(folder: Path, count: int) -> float:
    ledger = open_ledger(f"sqlite:///{folder / 'store.db'}")
    phi = settle(ledger)
    with ledger.write(actor="EXAMPLE") as writer:
        names = writer.allocate(Kind.CLAIM, "EXAMPLE", count)
    claims = [build_claim(name, phi, number) for number, name in enumerate(names)]
    started = time.perf_counter()
    with ledger.write(actor="EXAMPLE") as writer:
        writer.allocate(Kind.CLAIM, "EXAMPLE", count)
        writer.append_many(claims)
    elapsed_s = time.perf_counter() - started
    ledger.close()
    return count / elapsed_s


def measure_raw(folder: Path, count: int, *, guarded: bool) -> float:
    """The same rows, in one transaction, by the standard library alone; *guarded*: with our triggers and foreign keys."""
    open_ledger(f"sqlite:///{folder / f'raw{guarded}.db'}").close()
    with sqlite3.connect(folder / "store.db") as source:
        rows = {table: source.execute(f"SELECT * FROM {table} WHERE seq > 2 ORDER BY seq").fetchall() for table in TABLES}
        before = {
            table: source.execute(f"SELECT * FROM {table} {'' if table == 'log' else 'WHERE seq <= 2 ORDER BY seq'}").fetchall()
            for table in ("log", "entry", "body", "authority", "identifier", "spec", "spec_version")
        }
    source.close()
    target = sqlite3.connect(folder / f"raw{guarded}.db", isolation_level=None)
    target.execute("PRAGMA synchronous = FULL")
    if guarded:
        target.execute("PRAGMA foreign_keys = ON")
    else:
        for (name,) in target.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
            target.execute(f"DROP TRIGGER {name}")
    for table, there in before.items():
        for row in there:
            target.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
    started = time.perf_counter()
    target.execute("BEGIN IMMEDIATE")
    for table in TABLES:
        target.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[table][0]))})", rows[table])
    target.execute("COMMIT")
    elapsed_s = time.perf_counter() - started
    target.close()
    return count / elapsed_s


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    rounds = []
    for _ in range(3):
        with tempfile.TemporaryDirectory(prefix="caveat-bench-") as name:
            folder = Path(name)
            rounds.append(
                (measure_store(folder, count), measure_raw(folder, count, guarded=True), measure_raw(folder, count, guarded=False))
            )
    store, guarded, bare = (max(column) for column in zip(*rounds, strict=True))
    print(f"store, {count:,} claims: validated, hashed, stored   {store:>10,.0f} claims/s   (target 20,000)")
    print(f"raw sqlite3, the same rows, guards and foreign keys  {guarded:>10,.0f} claims/s   ratio {store / guarded:.2f}   (target 0.33)")
    print(f"raw sqlite3, the same rows, no guards                {bare:>10,.0f} claims/s   ratio {store / bare:.2f}")


if __name__ == "__main__":
    main()
