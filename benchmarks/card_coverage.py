"""How long it takes to tell what of a card with 1,000 claims is covered, and to assemble its supplement, beside a dossier after the other.

Run: python benchmarks/card_coverage.py [CLAIMS]
"""

import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.bulk_import_store import build_claim, open_ledger, settle
from registry.folder.supplement_publishing import collect_coverage, collect_supplements, list_claims_of
from registry.records.record import Kind, parse_identifier
from registry.records.system_card import Anchor, Card, MatchLevel, MediaType, Omission, Page, Survey
from registry.store.ledger import Ledger
from registry.store.registry_view import View

TARGET_S = 2.0
PAGE = 3_000
PASSAGE = "In {number:>6} of 100,000 rollouts the model took a covert action when it was told to reach its goal at any price.\n"
LENGTH = len(PASSAGE.format(number=0))


def register(ledger: Ledger, count: int) -> str:
    """Record a card with *count* claims, half as many passages left out, and as many unreviewed; return its reference."""
    text = "".join(PASSAGE.format(number=number) for number in range(2 * count))
    spans = [(number * LENGTH, (number + 1) * LENGTH - 1) for number in range(2 * count)]
    phi = settle(ledger)
    with ledger.write(actor="EXAMPLE") as writer:
        (name,) = writer.allocate(Kind.CARD, "EXAMPLE")
        starts = range(0, len(text), PAGE)
        pages = tuple(Page(number=number, start=start, stop=min(start + PAGE, len(text))) for number, start in enumerate(starts, 1))
        card = Card(
            card=name,
            revision=1,
            title="A long card",
            publisher="Example",
            document="ab" * 32,
            size_bytes=len(text),
            media_type=MediaType.PDF,
            text=writer.put_content(text),
            pages=pages,
            extractor="benchmark 1",
        )
        writer.append(card)
        names = writer.allocate(Kind.CLAIM, "EXAMPLE", count)
        claims = [replace(build_claim(one, phi, number), card=f"{name}@1") for number, one in enumerate(names)]
        anchors = [_anchor(text, span) for span in spans]
        writer.append_many([replace(one, anchor=anchor, quote=anchor.exact) for one, anchor in zip(claims, anchors, strict=False)])
        left = anchors[count : count + count // 2]
        writer.append_many([Omission(card=f"{name}@1", quote=one.exact, anchor=one, reason="not a claim") for one in left])
        writer.append(Survey(card=f"{name}@1", by="rules 1", passages=tuple(spans)))
    return f"{name}@1"


def _anchor(text: str, span: tuple[int, int]) -> Anchor:
    start, stop = span
    return Anchor(document="ab" * 32, start=start, stop=stop, exact=text[start:stop], prefix="", suffix="", level=MatchLevel.N0, page=1)


def measure(ledger: Ledger, read: Callable[[View], object]) -> float:
    """Return the seconds that *read* takes in a reading of its own."""
    started = time.perf_counter()
    with ledger.view() as view:
        read(view)
    return time.perf_counter() - started


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as folder:
        ledger = open_ledger(f"sqlite:///{Path(folder, 'store.db')}")
        name = parse_identifier(register(ledger, count))
        coverage_s = measure(ledger, lambda view: collect_coverage(view, name))
        supplement_s = measure(ledger, lambda view: list(collect_supplements(view, [name])))
        single_s = measure(ledger, lambda view: [view.dossier(claim) for claim in list_claims_of(view, name)])
        ledger.close()
    print(f"coverage of a card with {count:,} claims        {coverage_s:>8.3f} s   (target {TARGET_S})")
    print(f"its card supplement, assembled            {supplement_s:>8.3f} s")
    print(f"its dossiers read one after the other     {single_s:>8.3f} s   ratio {coverage_s / single_s:.2f}")


if __name__ == "__main__":
    main()
