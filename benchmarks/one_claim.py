"""How long dossier, status and state of one claim take, by the size of the registry, beside raw sqlite3 reading the claim's row and text.

All claims quote one card in passages of their own, about one model version and property; one in a thousand is audited, and one in a
thousand revised. Each registry is made once, through the ledger, in a file of the folder that is named, and used again when it is there.

Run: python benchmarks/one_claim.py [FOLDER [CLAIMS …]]    (a temporary folder, 10,000 and 200,000 without; two minutes for 1,000,000)
"""

import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.bulk_import_store import MODEL, build_claim, open_ledger, settle
from benchmarks.staleness import add_audit
from registry.records.claim import ClaimRevision
from registry.records.model_version import ModelVersion
from registry.records.record import Kind
from registry.records.system_card import Card, MediaType
from registry.store.ledger import Ledger
from registry.store.log_writer import Writer
from registry.store.supplement_states import find_states

WORDS = tuple(
    f"{start}{end}"
    for start in ("ba", "ce", "di", "fo", "gu", "la", "me", "ni", "po", "ru")
    for end in map(str.lower, map(chr, range(65, 91)))
)
"""Vocabulary of the quotations, drawn from with a weight of one over the rank, as words of a language are."""
WEIGHTS = tuple(1 / rank for rank in range(1, len(WORDS) + 1))
TIMES = 60
RAW = """
    SELECT r.*, t.quote, b.json FROM claim_revision r
      JOIN claim_text t ON t.log = r.log AND t.seq = r.seq JOIN body b ON b.log = r.log AND b.seq = r.seq
     WHERE r.log = 1 AND r.claim = ? AND r.seq <= ? ORDER BY r.revision DESC LIMIT 1
"""


def fill(ledger: Ledger, count: int) -> None:
    """Record *count* claims of one card, some audits and revisions."""
    phi = settle(ledger)
    rng = random.Random(17)  # noqa: S311  (a benchmark, nothing secret)
    with ledger.write(actor="EXAMPLE") as writer:
        card = _add_card(writer)
        writer.append(ModelVersion(model=MODEL))
        names = writer.allocate(Kind.CLAIM, "EXAMPLE", count)
        numbered = enumerate(names)
        while stretch := list(islice(numbered, 20_000)):
            writer.append_many([_build(name, phi, card, number, rng) for number, name in stretch])
        for name in names[::1_000]:
            add_audit(writer, f"{name}@1")
        revised = [_build(name, phi, card, number, rng) for number, name in islice(enumerate(names), 1, None, 1_000)]
        writer.append_many([replace(claim, revision=2, why="a better quotation") for claim in revised])


def _build(name: str, phi: str, card: str, number: int, rng: random.Random) -> ClaimRevision:
    claim = build_claim(name, phi, number)
    quote = f"{' '.join(rng.choices(WORDS, WEIGHTS, k=20))}."
    assert claim.anchor is not None
    anchor = replace(claim.anchor, start=number * 150, stop=number * 150 + len(quote), exact=quote)
    return replace(claim, quote=quote, card=card, anchor=anchor)


def _add_card(writer: Writer) -> str:
    (name,) = writer.allocate(Kind.CARD, "EXAMPLE")
    text = writer.put_content("The card.")
    known = {"title": "A card", "publisher": "Example", "media_type": MediaType.MARKDOWN, "extractor": "none", "size_bytes": 9}
    writer.append(Card(card=name, revision=1, document="ab" * 32, text=text, pages=(), **known))  # type: ignore[arg-type]
    return f"{name}@1"


def measure(ask: Callable[[str], object], names: list[str]) -> tuple[float, float, float]:
    """Return the median time, and the median and least CPU time, of *ask* over *names*, in milliseconds."""
    walls, cpus = [], []
    for name in names:
        started, cpu = time.perf_counter(), time.process_time()
        ask(name)
        walls.append(1000 * (time.perf_counter() - started))
        cpus.append(1000 * (time.process_time() - cpu))
    return statistics.median(walls), statistics.median(cpus), min(cpus)


def questions(ledger: Ledger) -> Iterator[tuple[str, Callable[[str], object]]]:
    """Yield what is asked of one claim, each time of a view of its own."""

    def asked(ask: Callable[..., object]) -> Callable[[str], object]:
        def look(name: str) -> object:
            with ledger.view() as view:
                return ask(view, name)

        return look

    yield "dossier", asked(lambda view, name: view.dossier(name))
    yield "status", asked(lambda view, name: view.status(name))
    yield "state", asked(lambda view, name: find_states(view, [f"{name}@1"]))


def main() -> None:
    folder, *counts = sys.argv[1:] or [tempfile.mkdtemp(prefix="caveat-benchmark-")]
    medians: dict[str, list[float]] = {}
    for count in map(int, counts or ("10000", "200000")):
        path = Path(folder, f"{count}.db")
        is_new = not path.exists()
        ledger = open_ledger(f"sqlite:///{path}")
        if is_new:
            started = time.perf_counter()
            fill(ledger, count)
            print(f"{count:>9,} claims recorded in {time.perf_counter() - started:.0f} s", flush=True)
        with ledger.view() as view:
            rows, size = list(view.list_claims(limit=5_000)), view.log_size
        picked = [row.claim for row in random.Random(3).sample(rows, TIMES)]  # noqa: S311
        with sqlite3.connect(path) as raw:
            asked = [("raw sqlite3", lambda name, raw=raw, size=size: raw.execute(RAW, (name, size)).fetchall()), *questions(ledger)]
            for what, ask in asked:
                ask(picked[0])
                wall, cpu, least = measure(ask, picked)
                medians.setdefault(what, []).append(cpu)
                ratio = cpu / medians["raw sqlite3"][-1]
                of_cpu = f"{cpu:8.3f} ms CPU, least {least:7.3f}"
                print(f"{count:>9,} claims   {what:<12} p50 {wall:8.2f} ms   {of_cpu}   {ratio:6.1f} times raw", flush=True)
        ledger.close()
    for what, values in medians.items():
        print(f"{what:<12} CPU, last over first {values[-1] / values[0]:.2f}")


if __name__ == "__main__":
    main()
