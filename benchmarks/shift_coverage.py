"""How often the intervals of a shift hold the truth: ΔΦ_test, ΔΦ_deploy and ΔED between two replays of the same tasks.

Run from the repository root: `python -m benchmarks.shift_coverage` (about four minutes on one core). `--table FILE` writes what is
kept as SHIFT.md. Tasks are shared by both sides of both replays; contexts of a side are shared by both replays, or are others. The
worlds are those of `benchmarks.coverage_grid`, with a part of each effect that only one model version has. Every interval comes from
`audit.statistics`; that `audit.modules.version_shift` gives the same numbers is a test. Prints one JSON line; exit 1 when a coverage
lies below what
is demanded of ED itself by more than chance.
"""

import argparse
import json
import math
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import expit, ndtri

from audit.statistics.responses import Floats
from audit.statistics.side_moments import Cells
from audit.statistics.version_differences import DoubleDifference, compute_edit, double_difference_interval, edit_interval
from benchmarks.coverage_grid import CERTAIN, CROSSED_SD, LEVEL, RUBRIC, TASK_SD, find_center

RUNS, AGAIN, SAMPLES = 400, 2500, 2
CONTEXT_SD, TASK_OWN, CONTEXT_OWN = 0.4, 0.5, 0.2
"""On the logit: how contexts differ in both replays alike, and what a task or a context does to one model version alone."""

RATES = {
    "nothing moves": ((0.3, 0.5), (0.3, 0.5)),
    "gap opens": ((0.05, 0.05), (0.05, 0.3)),
    "gap closes": ((0.3, 0.7), (0.3, 0.3)),
    "both fall": ((0.5, 0.7), (0.3, 0.4)),
    "rare": ((0.02, 0.05), (0.01, 0.02)),
}
"""Φ_test and Φ_deploy, before and after."""

DESIGNS = {"random": (2, 5, 10), "fixed": (1, 5), "nested": (1, 5)}
TASKS = (5, 20, 60)
DEMANDS = {"random": 0.93, "nested": 0.93, "fixed": 0.91}
FIGURES = ("ΔED", "ΔΦ_test", "ΔΦ_deploy")


@dataclass(frozen=True, slots=True)
class World:
    """One design, and the truth that tables are drawn from."""

    design: str
    shared: bool
    """Whether both replays use the same contexts."""
    contexts: int
    tasks: int
    rates: str
    judged: bool


def list_worlds() -> Iterator[World]:
    for design, numbers in DESIGNS.items():
        # Fixed contexts are the estimand: others would be another question.
        for shared, contexts, tasks, rates, judged in product((True, False), numbers, TASKS, RATES, (False, True)):
            if shared or design != "fixed":
                yield World(design, shared, contexts, tasks, rates, judged)


@cache
def find_centers(world: World) -> list[list[float]]:
    """Return the logits at which the rates hold, by replay and side."""
    fixed = world.design == "fixed"
    spread = math.hypot(TASK_SD, TASK_OWN, CROSSED_SD, *(() if fixed else (CONTEXT_SD, CONTEXT_OWN)))
    return [[find_center(rate, find_effects(world), spread) for rate in rates] for rates in RATES[world.rates]]


def find_effects(world: World) -> Floats:
    if world.design != "fixed":
        return np.zeros(1)
    effects: Floats = CONTEXT_SD * ndtri((np.arange(world.contexts) + 0.5) / world.contexts)
    return effects


def draw(world: World, rng: np.random.Generator) -> list[list[Floats]]:
    """Return scores [task, context, sample], by replay and side."""
    shape = (world.tasks, world.contexts)
    task = rng.standard_normal((world.tasks, 1)) * TASK_SD
    fixed = world.design == "fixed"
    rows = world.tasks if world.design == "nested" else 1
    common = [rng.standard_normal((rows, world.contexts)) * CONTEXT_SD for _ in range(2)]
    found = []
    for centers in find_centers(world):
        own = rng.standard_normal((world.tasks, 1)) * TASK_OWN
        sides = []
        for side, center in enumerate(centers):
            logit = center + task + own + rng.standard_normal(shape) * CROSSED_SD
            if fixed:
                logit = logit + find_effects(world)
            else:
                contexts = common[side] if world.shared else rng.standard_normal((rows, world.contexts)) * CONTEXT_SD
                logit = logit + contexts + rng.standard_normal((rows, world.contexts)) * CONTEXT_OWN
            items = RUBRIC if world.judged else 1
            sides.append(rng.binomial(items, np.broadcast_to(expit(logit)[:, :, np.newaxis], (*shape, SAMPLES))) / items)
        found.append(sides)
    return found


def build_cells(world: World, scores: Floats, *, later: bool) -> Cells:
    task, context = (index.ravel() for index in np.indices(scores.shape[:2]))
    if world.design == "nested":
        context = task * world.contexts + context
    if later and not world.shared:
        context = context + context.max() + 1
    mean = scores.mean(axis=2).ravel()
    count = np.full(len(task), SAMPLES, dtype=np.int64)
    graded = bool(((scores != 0) & (scores != 1)).any())
    return Cells(task=task, context=context, mean=mean, count=count, square=(scores**2).mean(axis=2).ravel() if graded else None)


def judge(world: World, drawn: list[list[Floats]]) -> tuple[tuple[bool, ...], float]:
    """Return whether the intervals of ΔED, ΔΦ_test and ΔΦ_deploy hold the truth, and how wide that of ΔED is."""
    edits = []
    for side in range(2):
        before, after = (build_cells(world, drawn[which][side], later=which == 1) for which in range(2))
        binary = before.square is None and after.square is None
        edits.append(compute_edit(after, before, tasks=world.tasks, random=world.design == "random", binary=binary))
    test, deploy = edits
    assert test is not None
    assert deploy is not None
    limits = [double_difference_interval(DoubleDifference(first=test, second=deploy), level=LEVEL)]
    limits += [edit_interval(edit, level=LEVEL) for edit in (test, deploy)]
    (test_before, deploy_before), (test_after, deploy_after) = RATES[world.rates]
    moved = test_after - test_before, deploy_after - deploy_before
    truths = (moved[0] - moved[1], *moved)
    held = tuple(one is not None and one.low <= truth <= one.high for one, truth in zip(limits, truths, strict=True))
    return held, math.nan if limits[0] is None else limits[0].high - limits[0].low


def simulate(world: World, place: int, *, runs: int = RUNS) -> tuple[list[float], float]:
    rng = np.random.default_rng([711, runs, place])
    rows = [judge(world, draw(world, rng)) for _ in range(runs)]
    return np.mean([held for held, _ in rows], axis=0).tolist(), float(np.mean([width for _, width in rows]))


def render(results: dict[World, tuple[list[float], float]], seconds: float, *, again: int) -> Iterator[str]:
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}; {seconds / 60:.0f} minutes of one core"
    yield f"# Coverage of intervals between model versions\n\n{datetime.now(UTC):%Y-%m-%d}, {machine}. Made by"
    yield "`python -m benchmarks.shift_coverage --table benchmarks/SHIFT.md`; seeded, so a second run gives the same figures.\n"
    yield f"Nominal level 95 %, {RUNS} pairs of tables a world (one standard error at 95 %: {100 * math.sqrt(0.95 * 0.05 / RUNS):.1f} %),"
    yield f"{SAMPLES} samples a cell. A world below the level is simulated again, {AGAIN:,} times, and only those count ({again} worlds)."
    yield f"On the logit, tasks have SD {TASK_SD:g} common to all four means and {TASK_OWN} in one version only. Contexts have"
    yield f"SD {CONTEXT_SD} common to both replays and {CONTEXT_OWN} in one version only, and cells have SD {CROSSED_SD}."
    yield "Rates (Φ_test, Φ_deploy):"
    yield (
        "; ".join(f"*{name}* {before} → {after}" for name, (before, after) in RATES.items()) + ". Each line takes all of them, with binary"
    )
    yield "scores and with judged ones (shares of 4 rubric items): lowest and median coverage in per cent, and the mean width of ΔED.\n"
    yield "| contexts | in both replays | C a side | T | " + " | ".join(f"{name} lowest | median" for name in FIGURES) + " | width |"
    yield "|---|---|---|---|" + "---|" * (2 * len(FIGURES) + 1)
    for key in dict.fromkeys((one.design, one.shared, one.contexts, one.tasks) for one in results):
        mine = [result for one, result in results.items() if (one.design, one.shared, one.contexts, one.tasks) == key]
        shares = np.array([held for held, _ in mine])
        cells = " | ".join(f"{100 * low:.1f} | {100 * middle:.1f}" for low, middle in zip(shares.min(0), np.median(shares, 0), strict=True))
        width = np.mean([width for _, width in mine])
        yield f"| {key[0]} | {'the same' if key[1] else 'others'} | {key[2]} | {key[3]} | {cells} | {width:.2f} |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path)
    asked = parser.parse_args()
    begun = time.perf_counter()
    results = {world: simulate(world, place) for place, world in enumerate(list_worlds())}
    doubtful = [world for world, (shares, _) in results.items() if min(shares) < DEMANDS[world.design]]
    results |= {world: simulate(world, place, runs=AGAIN) for place, world in enumerate(list_worlds()) if world in doubtful}
    seconds = time.perf_counter() - begun
    if asked.table:
        asked.table.write_text("\n".join(render(results, seconds, again=len(doubtful))) + "\n", encoding="utf-8")
    short = []
    for world, (shares, _) in results.items():
        demand = DEMANDS[world.design]
        least = demand - CERTAIN * math.sqrt(demand * (1 - demand) / (AGAIN if world in doubtful else RUNS))
        short += [f"{world}: {name} {share:.3f}" for name, share in zip(FIGURES, shares, strict=True) if share < least]
    lowest = {name: round(min(shares[place] for shares, _ in results.values()), 3) for place, name in enumerate(FIGURES)}
    print(json.dumps({"worlds": len(results), "lowest": lowest, "short": short, "seconds": round(seconds)}))
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
