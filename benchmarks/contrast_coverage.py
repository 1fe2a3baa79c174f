"""How often the intervals of contrasts hold the truth: difference in differences, ratio of means, mitigation (random contexts).

Run from the repository root: `python -m benchmarks.contrast_coverage` (three minutes). `--table FILE` writes what is kept as
CONTRASTS.md. Four arms share their tasks; each has contexts of its own; the worlds are those of `benchmarks.coverage_grid`. Every
interval comes from `audit.modules.arm_contrasts`. Prints one JSON line; exit 1 when a coverage lies below 93 % by more than chance.
"""

import argparse
import json
import math
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import expit

from audit.modules.arm_contrasts import contrast
from audit.records.contrast_result import ContrastKind, ContrastRequest
from audit.statistics.responses import ScoreTable, TableFile, TextColumn
from benchmarks.coverage_grid import CERTAIN, CROSSED_SD, RUBRIC, TASK_SD, find_center
from registry.records.analysis_plan import ContextDesign, Plan

RUNS, SAMPLES, CONTEXT_SD, DEMAND = 300, 2, 0.4, 0.93
ARMS = ("A", "B", "D", "E")
RATES = {"clear": (0.2, 0.7, 0.45, 0.25), "small": (0.3, 0.4, 0.35, 0.3), "rare": (0.05, 0.3, 0.1, 0.05)}
"""By arm: baseline A, changed B, mitigated D, and E, the baseline in D's context."""

TASKS, CONTEXTS = (20, 60), (5, 10)
ASKED = {
    "difference in differences": ContrastRequest(kind=ContrastKind.DIFFERENCE_IN_DIFFERENCES, arms=("B", "A", "D", "E")),
    "ratio of means": ContrastRequest(kind=ContrastKind.RATIO, arms=("B", "A")),
    "mitigation": ContrastRequest(kind=ContrastKind.MITIGATION, arms=("D", "B", "A", "E")),
}


def find_truth(rates: tuple[float, ...]) -> dict[str, float]:
    a, b, d, e = rates
    return {"difference in differences": (b - a) - (d - e), "ratio of means": b / a, "mitigation": 1 - (d - e) / (b - a)}


def draw_table(rng: np.random.Generator, *, tasks: int, contexts: int, rates: tuple[float, ...], judged: bool) -> ScoreTable:
    arm, task, context, sample = (index.ravel().astype(np.int32) for index in np.indices((len(ARMS), tasks, contexts, SAMPLES)))
    spread = math.hypot(TASK_SD, CROSSED_SD, CONTEXT_SD)
    centers = np.array([find_center(rate, np.zeros(1), spread) for rate in rates])
    effects = rng.standard_normal(tasks)[task] * TASK_SD + rng.standard_normal((len(ARMS), contexts))[arm, context] * CONTEXT_SD
    cell = rng.standard_normal((len(ARMS), tasks, contexts))[arm, task, context] * CROSSED_SD
    share = expit(centers[arm] + effects + cell)
    items = RUBRIC if judged else 1
    none = TextColumn(codes=np.full(len(task), -1, dtype=np.int32), labels=())
    return ScoreTable(
        arm=TextColumn(codes=arm, labels=ARMS),
        task=TextColumn(codes=task, labels=tuple(f"t{code:03}" for code in range(tasks))),
        context=TextColumn(codes=context, labels=tuple(f"c{code:03}" for code in range(contexts))),
        sample=TextColumn(codes=sample, labels=tuple(map(str, range(SAMPLES)))),
        spec=none,
        excluded=none,
        score=rng.binomial(items, share) / items,
        low=0.0,
        high=1.0,
        files=(TableFile(name="made", sha256="0" * 64, rows=len(task)),),
    )


def simulate() -> Iterator[tuple[str, dict[str, tuple[float, float]]]]:
    """Yield, by world, for each kind the coverage of the intervals given and the share that was given."""
    plan = Plan(contexts=ContextDesign.RANDOM)
    for place, (tasks, contexts, (name, rates), judged) in enumerate(product(TASKS, CONTEXTS, RATES.items(), (False, True))):
        rng, truth = np.random.default_rng([2611, place]), find_truth(rates)
        held: dict[str, list[bool]] = {kind: [] for kind in ASKED}
        for _ in range(RUNS):
            table = draw_table(rng, tasks=tasks, contexts=contexts, rates=rates, judged=judged)
            for kind, one in zip(ASKED, contrast(table, plan, tuple(ASKED.values()), range_=(0, 1)).contrasts, strict=True):
                if one.measure.low is not None and one.measure.high is not None:
                    held[kind].append(one.measure.low <= truth[kind] <= one.measure.high)
        shares = {kind: (float(np.mean(each)) if each else math.nan, len(each) / RUNS) for kind, each in held.items()}
        yield f"{tasks} | {contexts} | {name} | {'judged' if judged else 'binary'}", shares


def render(results: dict[str, dict[str, tuple[float, float]]]) -> Iterator[str]:
    yield f"# Coverage of contrast intervals\n\n{datetime.now(UTC):%Y-%m-%d}. Made by"
    yield "`python -m benchmarks.contrast_coverage --table benchmarks/CONTRASTS.md`; seeded.\n"
    yield f"Nominal level 95 %, {RUNS} tables a line, {SAMPLES} samples a cell, separate contexts for each arm (SD {CONTEXT_SD} on the"
    yield "logit). The share in brackets is that of tables with an interval. In the others the denominator may be 0, and the"
    yield "contrast is *not identified*."
    yield f"Rates of A, B, D, E: {'; '.join(f'{name} {rates}' for name, rates in RATES.items())}.\n"
    yield f"| T | C an arm | rates | scores | {' | '.join(ASKED)} |"
    yield "|---|---|---|---|" + "---|" * len(ASKED)
    for world, shares in results.items():
        cells = ("–" if math.isnan(held) else f"{100 * held:.1f} ({100 * given:.0f} %)" for held, given in shares.values())
        yield f"| {world} | {' | '.join(cells)} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path)
    asked = parser.parse_args()
    results = dict(simulate())
    if asked.table:
        asked.table.write_text("\n".join(render(results)) + "\n", encoding="utf-8")
    each = [(kind, held, given) for shares in results.values() for kind, (held, given) in shares.items() if given > 0]
    short = [kind for kind, held, given in each if held < DEMAND - CERTAIN * math.sqrt(DEMAND * (1 - DEMAND) / (RUNS * given))]
    print(json.dumps({"worlds": len(results), "lowest": {kind: round(min(h for k, h, _ in each if k == kind), 3) for kind in ASKED}}))
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
