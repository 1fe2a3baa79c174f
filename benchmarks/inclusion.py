"""What the proof in a card's supplement costs: bytes, nodes, time to make and to check, for 500 claims and 250 passages left out.

Run: python benchmarks/inclusion.py [CLAIMS]
"""

import json
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.bulk_import_store import open_ledger
from benchmarks.card_coverage import register
from registry.codec.statement_encoding import list_entries, list_recorded
from registry.folder.supplement_publishing import collect_supplements
from registry.records.record import parse_identifier
from registry.records.supplement import CardSupplement
from registry.report.html_rendering import render_json
from registry.report.supplement_reading import read_supplement
from registry.store.ledger import Ledger
from registry.store.log_seals import prove
from registry.verify.record_checks import check_inclusion

ROUNDS = 5


def collect(ledger: Ledger, card: str) -> CardSupplement:
    with ledger.view() as view:
        (subject,) = collect_supplements(view, [parse_identifier(card)])
    assert isinstance(subject.supplement, CardSupplement)
    return subject.supplement


def measure_making(ledger: Ledger, supplement: CardSupplement) -> float:
    """Seconds to walk the record and to read the proof off the log, the least of several rounds."""
    taken = []
    for _ in range(ROUNDS):
        with ledger.view() as view:
            started = time.perf_counter()
            opened = [one.entry.seq for one in list_recorded(supplement)]
            made = prove(view, list_entries(supplement), openings=opened)
            taken.append(time.perf_counter() - started)
        assert made == supplement.inclusion
    return min(taken)


def measure_checking(data: bytes) -> tuple[float, float]:
    """Seconds to check what was read, with and without reading it, the least of several rounds."""
    taken = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        supplement = read_supplement(data, where="benchmark")
        document = json.loads(data)
        read = time.perf_counter()
        check_inclusion(supplement, document=document)
        taken.append((time.perf_counter() - read, time.perf_counter() - started))
    return min(one for one, _ in taken), min(one for _, one in taken)


def main() -> None:
    claims = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as name:
        ledger = open_ledger(f"sqlite:///{Path(name, 'store.db')}")
        supplement = collect(ledger, register(ledger, claims))
        data = render_json(supplement)
        bare = render_json(replace(supplement, inclusion=None))
        assert supplement.inclusion is not None
        making = measure_making(ledger, supplement)
        ledger.close()
    entries, opened = len(list_entries(supplement)), len(supplement.inclusion.openings)
    checking, whole = measure_checking(data)
    print(f"{claims} claims: {entries} entries named, {opened} of them with their words, in a log of {supplement.log_size}")
    print(f"record {len(data):,} bytes, of which the proof {len(data) - len(bare):,}; nodes {len(supplement.inclusion.nodes)}")
    print(f"made in {1000 * making:.0f} ms; checked in {1000 * checking:.0f} ms, {1000 * whole:.0f} ms with reading the record")


if __name__ == "__main__":
    main()
