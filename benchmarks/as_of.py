"""How long it takes to list 100,000 claims with their status as of an earlier entry, beside raw sqlite3 selecting the same columns.

Run: python benchmarks/as_of.py [CLAIMS]
"""

import sqlite3
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from benchmarks.bulk_import_store import build_claim, open_ledger, settle
from registry.records.claim import ClaimEvent, ClaimEventKind
from registry.records.record import Kind

SELECT = """
    SELECT r.seq, r.claim, r.revision, r.developer, r.model, r.model_version, r.card, r.card_revision, r.property, r.property_version,
           r.form, t.quote
      FROM claim_revision r LEFT JOIN claim_text t ON t.log = r.log AND t.seq = r.seq
     WHERE r.log = 1 AND r.seq <= ? AND NOT EXISTS (SELECT 1 FROM claim_revision n WHERE n.log = r.log AND n.claim = r.claim
           AND n.revision = r.revision + 1 AND n.seq <= ?)
     ORDER BY r.seq
"""


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as name:
        path = Path(name, "store.db")
        ledger = open_ledger(f"sqlite:///{path}")
        phi = settle(ledger)
        with ledger.write(actor="EXAMPLE") as writer:
            names = writer.allocate(Kind.CLAIM, "EXAMPLE", count)
            writer.append_many([build_claim(one, phi, number) for number, one in enumerate(names)])
            then = writer.log_size
            writer.append_many([ClaimEvent(claim=one, event=ClaimEventKind.PUBLISH) for one in names[:1000]])
        started = time.perf_counter()
        with ledger.view(then) as view:
            listed = sum(1 for _ in view.list_claims())
        whole_s = time.perf_counter() - started
        started = time.perf_counter()
        with ledger.view(then) as view:
            page = len(list(islice(view.list_claims(limit=50), 50)))
        page_s = time.perf_counter() - started
        ledger.close()
        raw = sqlite3.connect(path)
        started = time.perf_counter()
        rows = len(raw.execute(SELECT, (then, then)).fetchall())
        raw_s = time.perf_counter() - started
        raw.close()
    assert listed == rows == count
    print(f"store, {listed:,} claims with status, as of entry {then:,}   {whole_s:>8.3f} s   (target 0.5)")
    print(f"raw sqlite3, the same columns without status            {raw_s:>8.3f} s   ratio {whole_s / raw_s:.2f}")
    print(f"store, the first {page} of them                           {page_s:>8.3f} s")


if __name__ == "__main__":
    main()
