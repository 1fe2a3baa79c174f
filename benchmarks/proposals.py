"""What the rules propose from real cards beside hand-coded claims, and what proposing from a 300-page PDF costs.

python benchmarks/proposals.py [--show]    --show lists each coded claim that is missed or read otherwise, by its number

A coded claim is proposed when a proposal's span and its own share at least half of the shorter one. Its form and value are right
when one of the proposals on that span (the best counts) has the coder's form, θ and reported value, compared on the scale of
the property. The coded claims are a sample of what the cards say, so the share of proposals that meet one underestimates precision.

The limits of the 300-page PDF are held against CPU time, that of the extractor it starts included, and against the peaks of both
processes added: one runs after the other, so a quiet machine's clock says the same. The clock of this run is printed beside it.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from audit.propose.card_models import CardSource
from audit.propose.rule_engine import propose_by_rules
from registry.errors import InputError
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.intake.quote_anchor import AnchoredText
from registry.records.claim import Form
from registry.records.claim_draft import Proposal
from registry.records.system_card import Anchor
from tests.gold import SHARED, card_path, read_gold
from tests.intake.pdf_files import build_pdf

RECALL, RIGHT, PER_CLAIM, SECONDS, MEGABYTES = 0.85, 0.75, 6.0, 20.0, 500.0
OVERLAP = 0.5
_BOUNDS = (Form.THRESHOLD, Form.UPPER_BOUND, Form.LOWER_BOUND)
_CLASSES = {"agency_meta": "agency_meta_task"}
_ROOT = Path(__file__).resolve().parent.parent
_CHILD = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.path.insert(0, sys.argv[2]); import proposals; proposals.measure_card(sys.argv[3])"
)


@dataclass
class Tally:
    """What is counted over the coded claims of one or more cards."""

    claims: int = 0
    proposals: int = 0
    met: int = 0
    """Proposals that meet a coded claim."""
    quantitative: int = 0
    proposed: int = 0
    """Of the quantitative ones."""
    right: int = 0
    worded: int = 0
    worded_proposed: int = 0
    forms: Counter[tuple[str, str]] = field(default_factory=Counter)
    classes: int = 0
    directions: int = 0
    compared: int = 0

    def add(self, other: "Tally") -> None:
        """Count what *other* counted too."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))


def share_of_shorter(anchor: Anchor, start: int, stop: int) -> float:
    """Return how much of the shorter of two spans both have, between 0 and 1."""
    return max(0, min(anchor.stop, stop) - max(anchor.start, start)) / min(anchor.stop - anchor.start, stop - start)


def is_right(gold: dict[str, Any], proposal: Proposal) -> bool:
    """Whether form, θ and reported value are the coder's."""
    if proposal.form != gold["logical_form"]:
        return False
    theta, reported = gold["theta"] or {}, gold["reported"] or {}
    is_relative = theta.get("kind") == "relative"
    expected = read_coded(theta)
    if proposal.form in _BOUNDS and not (is_same(expected, proposal.theta, proposal) or (is_relative and proposal.theta is None)):
        return False
    if reported.get("value") is None and reported.get("low") is not None:
        return proposal.reported is not None and is_same(
            read_coded({**reported, "value": reported["low"]}), proposal.reported.low, proposal
        )
    return is_same(read_coded(reported), proposal.reported.value if proposal.reported else None, proposal)


def read_coded(figure: dict[str, Any]) -> float | None:
    """Return a coded figure in the unit of records: per cents and fractions as shares."""
    value, unit = figure.get("value"), str(figure.get("unit") or "")
    if value is None:
        return None
    if unit.startswith("%"):
        return float(value) / 100
    return float(value) / float(unit.removeprefix("of ")) if unit.startswith("of ") else float(value)


def is_same(coded: float | None, given: float | None, proposal: Proposal) -> bool:
    """Whether both are the same number, where a property runs to 100 also in its per cents."""
    if coded is None or given is None:
        return coded is given
    scales = (1.0, 100.0) if proposal.property.range[1] == 100 else (1.0,)
    return any(abs(coded * scale - given) <= 1e-6 * max(1.0, abs(given)) for scale in scales)


def examine(path: Path, golds: list[dict[str, Any]], *, is_shown: bool) -> Tally:
    """Propose from one card and count."""
    card = read_card(path)
    proposals = propose_by_rules(card, read_outline(card), CardSource(title=path.name, publisher=golds[0]["vendor"], card=None)).proposals
    anchored, tally, met = AnchoredText(card), Tally(claims=len(golds), proposals=len(proposals)), set()
    for gold in golds:
        anchor = _anchor(anchored, gold)
        here = (
            [] if anchor is None else [one for one in proposals if share_of_shorter(anchor, one.anchor.start, one.anchor.stop) >= OVERLAP]
        )
        met |= {id(one) for one in here}
        _count(tally, gold, here, is_shown=is_shown)
    tally.met = len(met)
    return tally


def _anchor(anchored: AnchoredText, gold: dict[str, Any]) -> Anchor | None:
    try:
        return anchored.find(gold["quote"], page=gold["page"] if gold["source_file"] else None, near=gold["char_start"])
    except InputError as error:
        print(f"  {gold['id']} does not anchor: {error}")
        return None


def _count(tally: Tally, gold: dict[str, Any], here: list[Proposal], *, is_shown: bool) -> None:
    best = next((one for one in here if is_right(gold, one)), None) or next((one for one in here if one.form == gold["logical_form"]), None)
    best = best or (here[0] if here else None)
    is_good = best is not None and is_right(gold, best)
    if gold["quantitative"]:
        tally.quantitative += 1
        tally.proposed += bool(here)
        tally.right += is_good
    else:
        tally.worded += 1
        tally.worded_proposed += bool(here)
    tally.forms[gold["logical_form"], best.form.value if best else "not proposed"] += 1
    if best is not None:
        tally.compared += 1
        tally.classes += best.property.class_ == _CLASSES.get(gold["property_class"], gold["property_class"])
        tally.directions += best.property.direction == gold["safety_direction"]
    if is_shown and not is_good:
        kind = "figure" if gold["quantitative"] else "words"
        told = "not proposed" if best is None else f"{best.form}, θ {best.theta}, {best.reported.value if best.reported else None}"
        print(f"  {gold['id']} ({kind}): coded {gold['logical_form']}, θ {gold['theta']}, {gold['reported']}; {told}")


def report(name: str, tally: Tally) -> None:
    """Print one line of counts."""
    each, precision = tally.proposals / tally.claims, tally.met / max(1, tally.proposals)
    print(f"{name:40} {tally.proposed}/{tally.quantitative} quantitative proposed, {tally.right} right;", end=" ")
    print(f"in words {tally.worded_proposed}/{tally.worded};", end=" ")
    print(f"{tally.proposals} proposals, {each:.1f} a coded claim; precision at least {precision:.2f}")


def report_gold(*, is_shown: bool) -> bool:
    """Measure on the hand-coded claims; whether the promises are kept."""
    if not SHARED.is_dir():
        print("hand-coded claims: skipped, the shared data are not here (set CAVEAT_SHARED to their folder)")
        return True
    paths: dict[Path, list[dict[str, Any]]] = {}
    for gold in read_gold():
        paths.setdefault(card_path(gold), []).append(gold)
    whole, printed = Tally(), Tally()
    per_pdf = []
    for path, golds in paths.items():
        tally = examine(path, golds, is_shown=is_shown)
        report(path.name, tally)
        whole.add(tally)
        if path.suffix == ".pdf":
            printed.add(tally)
            per_pdf.append(tally.proposals / tally.claims)
    report("both PDFs", printed)
    report("all", whole)
    _report_forms(whole)
    recall, right, each = whole.proposed / whole.quantitative, whole.right / whole.proposed, printed.proposals / printed.claims
    print(f"class agrees for {whole.classes} and direction for {whole.directions} of {whole.compared} coded claims that are proposed")
    holds = recall >= RECALL and right >= RIGHT and each <= PER_CLAIM
    print(f"recall {recall:.3f} (at least {RECALL}), form and value right {right:.3f} (at least {RIGHT}),", end=" ")
    print(f"proposals a coded claim {each:.1f} on both PDFs ({per_pdf[0]:.1f} and {per_pdf[1]:.1f}; at most {PER_CLAIM})", end="  ")
    print("ok" if holds else "NOT MET")
    return holds


def _report_forms(tally: Tally) -> None:
    forms = [*(one.value for one in Form), "not proposed"]
    print(f"{'coded, proposed':18}" + "".join(f"{one:>14}" for one in forms))
    for coded in forms[:-1]:
        print(f"{coded:18}" + "".join(f"{tally.forms[coded, one]:>14}" for one in forms))


def measure_card(name: str) -> None:
    """Read a card and propose from it, in a process of its own; print what it took."""
    clock, begun = time.perf_counter(), _cpu_seconds()
    card = read_card(Path(name))
    read = _cpu_seconds()
    outline = read_outline(card)
    outlined = _cpu_seconds()
    found = propose_by_rules(card, outline, CardSource(title=Path(name).name, publisher=None, card=None))
    ended = _cpu_seconds()
    peak_kb = sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    figures = {
        "intake_s": read - begun,
        "outline_s": outlined - read,
        "rules_s": ended - outlined,
        "clock_s": time.perf_counter() - clock,
        "mb": peak_kb / 1024,
        "pages": len(card.pages),
        "characters": len(card.text),
        "proposals": len(found.proposals),
    }
    print(json.dumps(figures))


def _cpu_seconds() -> float:
    """Of this process and of those it has started and waited for."""
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def make_pages(count: int = 300, lines: int = 42) -> list[str]:
    """Return pages of the example card over and over, with other numbers each time."""
    source = (_ROOT / "examples" / "card" / "card.md").read_text(encoding="utf-8").splitlines()
    written = [line for line in source if line.strip()]
    digits = str.maketrans("0123456789", "1234567890")
    pages, place = [], 0
    for number in range(count):
        page = []
        for _ in range(lines):
            page.append(written[place % len(written)].translate(digits) if number % 2 else written[place % len(written)])
            place += 1
        pages.append("\n".join(page))
    return pages


def report_long() -> bool:
    """Propose from a 300-page PDF in a process of its own; whether the promises are kept."""
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as folder:
        path = Path(folder) / "long.pdf"
        path.write_bytes(build_pdf(make_pages()))
        command = [sys.executable, "-c", _CHILD, str(_ROOT), str(_ROOT / "benchmarks"), str(path)]
        figures: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    seconds = figures["intake_s"] + figures["outline_s"] + figures["rules_s"]
    holds = seconds <= SECONDS and figures["mb"] <= MEGABYTES
    print(f"{figures['pages']} pages, {figures['characters'] / 1e6:.2f} MB of text, {figures['proposals']} proposals:", end=" ")
    print(f"intake {figures['intake_s']:.1f} s, outline {figures['outline_s']:.1f} s, rules {figures['rules_s']:.1f} s of CPU,", end=" ")
    print(f"together {seconds:.1f} s (at most {SECONDS:.0f}; by the clock {figures['clock_s']:.1f} s),", end=" ")
    print(f"{figures['mb']:.0f} MB (at most {MEGABYTES:.0f})  {'ok' if holds else 'TOO MUCH'}")
    return holds


def main() -> int:
    """Measure everything; 1 if a promise is broken."""
    kept = [report_gold(is_shown="--show" in sys.argv[1:]), report_long()]
    return 0 if all(kept) else 1


if __name__ == "__main__":
    sys.exit(main())
