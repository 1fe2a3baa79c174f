"""What the rules propose from real cards beside hand-coded claims, and what proposing from a 300-page PDF costs.

python benchmarks/proposals.py [--folder DIR] [--gold FILE] [--show] [--json]

    --folder DIR   the cards; by default those of the shared data
    --gold FILE    their hand-coded claims, with quotations or with offsets and digests (proposals_gold/README.md); by default all
    --show         list each claim that is missed or read otherwise, and each proposal in coded windows that is not fully right
    --json         print the figures as JSON

The table gives each figure with its goal. Recall and the reading of fields are measured on all coded claims. Whether a proposal is right,
false or no claim is judged only in coded windows, where every claim is coded; the first 20 and 40 are those of the ranking that lie there.
How long a review takes is not measured.

The limits of the 300-page PDF are held against CPU time, that of the extractor it starts included, and against the peaks of both
processes added: one runs after the other, so a quiet machine's clock says the same. The clock of this run is printed beside it.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from audit.propose.card_models import CardSource
from audit.propose.proposal_ranking import rank_proposals
from audit.propose.rule_engine import propose_by_rules
from benchmarks.proposal_gold import GoldCard, group_by_card, locate_claims, read_lines
from benchmarks.proposal_scoring import (
    FALSE,
    Judgement,
    Tally,
    find_best,
    is_in_windows,
    is_reading_right,
    judge_proposal,
    list_levels,
    list_own_models,
    read_given,
    score_proposals,
)
from registry.intake.card_reader import read_card
from registry.intake.outline.card_passages import read_outline
from registry.records.claim_draft import Confidence, Proposal
from registry.records.system_card import CardText
from tests.gold import SHARED
from tests.intake.pdf_files import build_pdf

SECONDS, MEGABYTES = 20.0, 500.0
_PAGE = 2500
"""Characters of a page, where a card has none."""
_ROOT = Path(__file__).resolve().parent.parent
_CODED = _ROOT / "benchmarks" / "proposals_gold"
_CHILD = (
    "import sys; sys.path.insert(0, sys.argv[1]); sys.path.insert(0, sys.argv[2]); import proposals; proposals.measure_card(sys.argv[3])"
)


@dataclass(frozen=True, slots=True)
class ProposedCard:
    """A card and what the product proposes from it."""

    text: CardText
    proposals: Sequence[Proposal]
    ranking: Sequence[int]
    """Indexes of the proposals, the most important first."""


def propose_from_card(path: Path) -> ProposedCard:
    """Return what the product proposes from a card file. Nothing else here depends on how it does so."""
    text = read_card(path)
    proposals = propose_by_rules(text, read_outline(text), CardSource(title=path.name, publisher=None, card=None)).proposals
    return ProposedCard(text, proposals, rank_proposals(proposals))


@dataclass(frozen=True, slots=True)
class GoalRow:
    """One line of the table of goals."""

    label: str
    read: Callable[[Tally], tuple[float, float] | None]
    """The count and its base; None where it cannot be known."""
    goal: float | None = None
    is_at_most: bool = False
    is_count: bool = False
    """A number rather than a share."""

    def is_met(self, tally: Tally) -> bool:
        """Whether the goal is reached, or nothing is known."""
        share = self.read(tally)
        if self.goal is None or share is None or not share[1]:
            return True
        value = share[0] / share[1]
        return value <= self.goal if self.is_at_most else value >= self.goal


def _count(*judgements: Judgement) -> Callable[[Tally], tuple[float, float] | None]:
    return lambda tally: (sum(tally.judgements.get(one, 0) for one in judgements), tally.judged) if tally.judged else None


def _first(count: int) -> Callable[[Tally], tuple[float, float] | None]:
    return lambda tally: tally.top.get(count)


def _high_and_not_right(tally: Tally) -> tuple[float, float] | None:
    counts = tally.confidences.get(Confidence.HIGH, {})
    judged = sum(counts.values())
    return (judged - counts.get(Judgement.RIGHT, 0), judged) if judged else None


ROWS = (
    GoalRow("span recall, claims with figures", lambda tally: (tally.figures_met, tally.figures), 0.92),
    GoalRow("span recall, claims in words", lambda tally: (tally.worded_met, tally.worded), 0.65),
    GoalRow("form, value and θ right, of figures found", lambda tally: (tally.figures_right, tally.figures_met), 0.92),
    GoalRow(
        "direction right or not known, of all found",
        lambda tally: (tally.directions_right + tally.directions_open, tally.figures_met + tally.worded_met),
        0.92,
    ),
    GoalRow("  direction not known", lambda tally: (tally.directions_open, tally.figures_met + tally.worded_met)),
    GoalRow("proposals in coded windows", lambda tally: (tally.judged, 1) if tally.judged else None, is_count=True),
    GoalRow("fully right (model, value, class, direction)", _count(Judgement.RIGHT), 0.60),
    GoalRow("another model's or a wrong figure as own", _count(*FALSE), 0.05, is_at_most=True),
    GoalRow("  another model's figure", _count(Judgement.FOREIGN)),
    GoalRow("  a wrong figure", _count(Judgement.WRONG)),
    GoalRow("a claim, other fields differ", _count(Judgement.PARTLY)),
    GoalRow("a claim, its model or figure not read", _count(Judgement.UNREAD)),
    GoalRow("about another model", _count(Judgement.OTHER_MODEL)),
    GoalRow("a figure that is no claim", _count(Judgement.NO_CLAIM_FIGURE)),
    GoalRow("words that are no claim", _count(Judgement.NO_CLAIM)),
    GoalRow("high confidence, not fully right", _high_and_not_right, 0.05, is_at_most=True),
    GoalRow("fully right among the first 20", _first(20), 0.75),
    GoalRow("fully right among the first 40", _first(40)),
    GoalRow("proposals a 100 pages", lambda tally: (100 * tally.proposals, tally.pages), is_count=True),
)


def examine(path: Path, lines: Sequence[dict[str, Any]], *, is_shown: bool) -> Tally:
    """Propose from one card and count."""
    proposed = propose_from_card(path)
    gold = locate_claims(lines, proposed.text)
    if gold.missing:
        print(f"{path.name}: not found in the text: {', '.join(gold.missing)}", file=sys.stderr)
    if is_shown:
        _show(gold, proposed)
    pages = len(proposed.text.pages) if len(proposed.text.pages) > 1 else len(proposed.text.text) / _PAGE
    return score_proposals(gold, proposed.proposals, proposed.ranking, pages)


def _show(gold: GoldCard, proposed: ProposedCard) -> None:
    own = list_own_models(gold)
    for claim in gold.own:
        best = find_best(claim, proposed.proposals, own)
        if claim.is_arguable or (best is not None and is_reading_right(claim, best)):
            continue
        kind = "figure" if claim.is_quantitative else "words"
        given = "not proposed" if best is None else f"{best.form}, {_format_given(best)}"
        print(f"  {claim.id} ({kind}): coded {claim.form}, θ {claim.theta}, {claim.reported}; {given}")
    for proposal in proposed.proposals:
        if is_in_windows(proposal, gold) and (judgement := judge_proposal(proposal, gold)) is not Judgement.RIGHT:
            quote = " ".join(proposal.quote.split())[:80]
            print(f"  at {proposal.anchor.start} ({proposal.confidence}): {judgement}; {_format_given(proposal)}: {quote}")


def _format_given(proposal: Proposal) -> str:
    direction = proposal.property.direction
    return f"{proposal.model}, {read_given(proposal)}, θ {proposal.theta}, {proposal.property.class_}, {direction}"


def measure_gold(folder: Path, golds: Sequence[Path], *, is_shown: bool) -> dict[str, Tally]:
    """Return the counts of each card that is there, and of all."""
    lines = [line for gold in golds for line in read_lines(gold)]
    tallies: dict[str, Tally] = {}
    for path, coded in group_by_card(lines, folder).items():
        if not path.is_file():
            print(f"{path.name}: skipped, the card is not in the folder {folder.name}", file=sys.stderr)
            continue
        tallies[path.name] = examine(path, coded, is_shown=is_shown)
    return tallies


def sum_tallies(tallies: Sequence[Tally]) -> Tally:
    """Return the counts of all cards together."""
    whole = Tally()
    for tally in tallies:
        whole.add(tally)
    return whole


def print_table(tallies: dict[str, Tally]) -> bool:
    """Print the table of goals, a column for each card; whether all goals are met by all cards together."""
    whole = sum_tallies(list(tallies.values()))
    columns = {**{Path(name).stem[-16:]: tally for name, tally in tallies.items()}, "all": whole}
    print(f"{'':44}" + "".join(f"{name:>18}" for name in columns) + f"{'goal':>8}")
    holds = True
    for row in (row for row in ROWS if row.read(whole)):
        cells = "".join(f"{_format_cell(row, tally):>18}" for tally in columns.values())
        is_met = row.is_met(whole)
        holds = holds and is_met
        print(f"{row.label:44}{cells}{_format_goal(row):>8}{'' if is_met else '  NOT MET'}")
    _print_levels(whole)
    return holds


def _format_cell(row: GoalRow, tally: Tally) -> str:
    share = row.read(tally)
    if share is None or not share[1]:
        return "not known"
    if row.is_count:
        return f"{share[0] / share[1]:.0f}"
    return f"{share[0]:.0f}/{share[1]:.0f} {share[0] / share[1]:5.0%}"


def _format_goal(row: GoalRow) -> str:
    return "" if row.goal is None else f"{'≤' if row.is_at_most else '≥'} {row.goal:.0%}"


def _print_levels(tally: Tally) -> None:
    if not tally.judged:
        print("Only a sample of these cards' claims is coded, so their proposals cannot be judged.")
        return
    print(f"{'confidence':12}{'proposals':>10}{'fully right':>13}{'share, 95 % interval':>28}{'false attributions':>20}")
    for row in list_levels(tally):
        share = f"{row.right / row.judged:.0%} ({row.low:.0%} to {row.high:.0%})"
        print(f"{row.level:12}{row.judged:>10}{row.right:>13}{share:>28}{row.false:>20}")


def describe_tallies(tallies: dict[str, Tally]) -> dict[str, Any]:
    """Return the table of goals as JSON."""
    cards = {**tallies, "all": sum_tallies(list(tallies.values()))}
    described: dict[str, Any] = {}
    for name, tally in cards.items():
        rows = {row.label.strip(): row.read(tally) for row in ROWS}
        levels = [asdict(row) for row in list_levels(tally)]
        described[name] = {"rows": rows, "goals_met": all(row.is_met(tally) for row in ROWS), "confidence": levels}
    return described


def measure_card(name: str) -> None:
    """Read a card and propose from it, in a process of its own; print what it took."""
    clock, begun = time.perf_counter(), _cpu_seconds()
    card = read_card(Path(name))
    read = _cpu_seconds()
    outline = read_outline(card)
    outlined = _cpu_seconds()
    proposed = propose_by_rules(card, outline, CardSource(title=Path(name).name, publisher=None, card=None))
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
        "proposals": len(proposed.proposals),
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


def measure_long() -> dict[str, float]:
    """Propose from a 300-page PDF in a process of its own; return what it took."""
    with tempfile.TemporaryDirectory(prefix="caveat-bench-") as folder:
        path = Path(folder) / "long.pdf"
        path.write_bytes(build_pdf(make_pages()))
        command = [sys.executable, "-c", _CHILD, str(_ROOT), str(_ROOT / "benchmarks"), str(path)]
        figures: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    figures["seconds"] = figures["intake_s"] + figures["outline_s"] + figures["rules_s"]
    return figures


def is_quick(figures: dict[str, float]) -> bool:
    """Return whether the 300-page PDF keeps the limits of time and memory."""
    return figures["seconds"] <= SECONDS and figures["mb"] <= MEGABYTES


def print_long(figures: dict[str, float]) -> None:
    """Print what the 300-page PDF took."""
    print(f"{figures['pages']} pages, {figures['characters'] / 1e6:.2f} MB of text, {figures['proposals']} proposals:", end=" ")
    print(f"intake {figures['intake_s']:.1f} s, outline {figures['outline_s']:.1f} s, rules {figures['rules_s']:.1f} s of CPU,", end=" ")
    print(f"together {figures['seconds']:.1f} s (at most {SECONDS:.0f}; by the clock {figures['clock_s']:.1f} s),", end=" ")
    print(f"{figures['mb']:.0f} MB (at most {MEGABYTES:.0f})  {'ok' if is_quick(figures) else 'TOO MUCH'}")


def list_sets(folder: Path | None, gold: Path | None) -> list[tuple[str, Path, list[Path]]]:
    """Return what is measured: a title, the folder of cards, and the files of their coded claims."""
    if folder or gold:
        files = [gold] if gold else sorted(_CODED.glob("*.jsonl"))
        return [("coded claims", folder or files[0].parent, files)]
    return [
        ("a sample of claims, on cards used for development", SHARED, [SHARED / "claims_gold.jsonl"]),
        ("every claim of the coded windows", SHARED / "cards-dev", sorted(_CODED.glob("*.jsonl"))),
    ]


def main() -> int:
    """Measure everything; 1 if a goal is missed."""
    parser = argparse.ArgumentParser(description="Compare proposals with hand-coded claims.")
    parser.add_argument("--folder", type=Path, help="folder of the cards")
    parser.add_argument("--gold", type=Path, help="file of hand-coded claims")
    parser.add_argument("--show", action="store_true", help="list what is missed or wrong")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args()
    described: dict[str, Any] = {}
    holds = True
    for title, folder, golds in list_sets(options.folder, options.gold):
        absent = "coded claims" if not all(gold.is_file() for gold in golds) else "cards" if not folder.is_dir() else None
        if absent:
            print(f"{title}: skipped, the {absent} are not here (set CAVEAT_SHARED, or give --folder and --gold)", file=sys.stderr)
            continue
        tallies = measure_gold(folder, golds, is_shown=options.show and not options.json)
        if not tallies:
            continue
        described[title] = describe_tallies(tallies)
        if options.json:
            holds = holds and bool(described[title]["all"]["goals_met"])
        else:
            print(f"{title}\n")
            holds = print_table(tallies) and holds
            print()
    if options.folder is None and options.gold is None:
        figures = measure_long()
        described["300 pages"] = figures
        holds = holds and is_quick(figures)
        if not options.json:
            print_long(figures)
    if options.json:
        print(json.dumps(described, indent=2, ensure_ascii=False))
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
