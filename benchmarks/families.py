"""How often intervals hold the truth when tasks come in families, or contexts from templates: with the column and without it.

Run from the repository root: `python -m benchmarks.families` (about three minutes on one core). `--table FILE` writes what is kept as
FAMILIES.md. Each side has an effect of its own for each family (or template), of which its members share ICC .8. Every interval comes
from `audit.statistics`; that `audit.modules.differential_estimate` gives the same numbers is a test. Prints one JSON line; exit 1 when
with the column ED is
held less often than 93 %, or Φ_deploy with at least 20 families less often than 92 %, by more than chance.
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
from pathlib import Path

import numpy as np
from scipy.special import expit

from audit.statistics.mean_intervals import ConfidenceLimits, difference_interval, find_side_intervals
from audit.statistics.side_moments import Cells, Clusters, compute_moments
from benchmarks.coverage_grid import CERTAIN, CROSSED_SD, LEVEL, TASK_SD, find_center

RUNS, ICC = 1_000, 0.8
RATES = (0.3, 0.5)
"""Φ_test and Φ_deploy."""
FAMILY_SD, CONTEXT_SD = 2.0, 0.8
"""On the logit, of tasks in families and of contexts from templates; where one is tried, the other is usual (1 and 0)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One design; contexts are fixed where families are tried, and random where templates are."""

    families: int
    family_size: int
    templates: int
    template_size: int

    @property
    def random(self) -> bool:
        """Whether contexts are a sample."""
        return self.templates > 0

    @property
    def contexts(self) -> int:
        """Contexts a side."""
        return self.templates * self.template_size or 5

    @property
    def tasks(self) -> int:
        """Tasks, all on both sides."""
        return self.families * self.family_size


def list_worlds() -> Iterator[World]:
    """Yield designs with families, then designs with templates."""
    yield from (World(families=families, family_size=10, templates=0, template_size=0) for families in (5, 10, 20, 40))
    yield from (World(families=50, family_size=1, templates=templates, template_size=2) for templates in (3, 6, 10))


@cache
def find_centers(world: World) -> tuple[float, float]:
    """Return the logits at which both rates are true."""
    spread = math.hypot(TASK_SD if world.random else FAMILY_SD, CROSSED_SD, CONTEXT_SD if world.random else 0.0)
    test, deploy = (find_center(rate, np.zeros(1), spread) for rate in RATES)
    return test, deploy


def draw_effect(rng: np.random.Generator, clusters: int, size: int, sd: float) -> np.ndarray:
    """Return effects of clusters · size members, which share ICC of their variance within a cluster; of size 1 independent ones."""
    shared = np.repeat(rng.normal(0, math.sqrt(ICC), clusters), size)
    return sd * (shared + rng.normal(0, math.sqrt(1 - ICC), clusters * size))


def draw(world: World, rng: np.random.Generator, *, declared: bool) -> tuple[Cells, Cells]:
    """Return both sides of one replay with one binary response a cell."""
    tasks, contexts = world.tasks, world.contexts
    task, context = np.divmod(np.arange(tasks * contexts), contexts)
    clusters = Clusters(
        family=np.arange(tasks) // world.family_size * world.family_size if declared and not world.random else None,
        template=np.arange(contexts) // world.template_size * world.template_size if declared and world.random else None,
    )
    sides = []
    own = None if not world.random else rng.normal(0, TASK_SD, tasks)
    for center in find_centers(world):
        by_task = draw_effect(rng, world.families, world.family_size, FAMILY_SD) if own is None else own
        by_context = draw_effect(rng, world.templates, world.template_size, CONTEXT_SD) if world.random else np.zeros(contexts)
        share = expit(center + by_task[task] + by_context[context] + rng.normal(0, CROSSED_SD, len(task)))
        mean = (rng.random(len(task)) < share).astype(float)
        sides.append(Cells(task=task, context=context, mean=mean, count=np.ones(len(task), dtype=np.int64), clusters=clusters))
    return sides[0], sides[1]


def simulate(world: World, place: int, *, declared: bool, runs: int = RUNS) -> tuple[float, float, float]:
    """Return how often ED and Φ_deploy are held, and the mean width of ED; replays are the same with and without the column."""
    rng = np.random.default_rng([716, place])
    held, widths = np.zeros(2), []
    for _ in range(runs):
        test, deploy = draw(world, rng, declared=declared)
        moments = compute_moments(test, deploy, np.ones(world.tasks, dtype=bool), random=world.random, binary=True)
        ed, side = difference_interval(moments, level=LEVEL), find_side_intervals(moments, level=LEVEL)[1]
        if ed is None or side is None:
            raise ValueError("every design has two clusters of each kind")
        held += [holds(ed, RATES[0] - RATES[1]), holds(side.hull, RATES[1])]
        widths.append(ed.high - ed.low)
    return float(held[0] / runs), float(held[1] / runs), float(np.mean(widths))


def holds(limits: ConfidenceLimits, truth: float) -> bool:
    """Tell whether *limits* hold the truth."""
    return limits.low <= truth <= limits.high


Result = tuple[float, float, float]


def render(results: dict[World, tuple[Result, Result]], seconds: float) -> Iterator[str]:
    """Yield the lines of the table that is kept."""
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}; {seconds / 60:.0f} minutes of one core"
    yield f"# Coverage with task families and templates\n\n{datetime.now(UTC):%Y-%m-%d}, {machine}. Made by"
    yield "`python -m benchmarks.families --table benchmarks/FAMILIES.md`; seeded, so a second run gives the same figures.\n"
    yield f"Nominal level 95 %, {RUNS:,} replays a line (one standard error at 95 %: {100 * math.sqrt(0.95 * 0.05 / RUNS):.1f} %), binary"
    yield f"scores, Φ_test = {RATES[0]}, Φ_deploy = {RATES[1]}, ICC {ICC} within a family or template on each side. Families: fixed"
    yield f"contexts, 5 a side, tasks with SD {FAMILY_SD:g} on the logit. Templates: random contexts with SD {CONTEXT_SD}."
    yield "Coverage in per cent and the mean width of ED, without the column and with it.\n"
    yield "| tasks | contexts a side | ED without | ED with | Φ_deploy without | Φ_deploy with | width without | width with |"
    yield "|---|---|---|---|---|---|---|---|"
    for world, (without, declared) in results.items():
        tasks = f"{world.tasks}" if world.random else f"{world.tasks} in {world.families} families"
        contexts = f"{world.contexts} from {world.templates} templates" if world.random else f"{world.contexts}"
        cells = " | ".join(f"{100 * without[place]:.1f} | {100 * declared[place]:.1f}" for place in range(2))
        yield f"| {tasks} | {contexts} | {cells} | {without[2]:.2f} | {declared[2]:.2f} |"
    yield "\nA verdict needs 20 families, and 5 templates a side. Designs with fewer have intervals here and no verdict."


def main() -> int:
    """Simulate all designs, write the table if asked, and return whether a demand is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path)
    asked = parser.parse_args()
    begun = time.perf_counter()
    results = {
        world: (simulate(world, place, declared=False), simulate(world, place, declared=True)) for place, world in enumerate(list_worlds())
    }
    seconds = time.perf_counter() - begun
    if asked.table:
        asked.table.write_text("\n".join(render(results, seconds)) + "\n", encoding="utf-8")
    short = []
    for world, (_, (ed, deploy, _)) in results.items():
        demands = [("ED", ed, 0.93), *([("Φ_deploy", deploy, 0.92)] if world.families >= 20 else [])]
        short += [
            f"{world}: {name} {share:.3f}"
            for name, share, demand in demands
            if share < demand - CERTAIN * math.sqrt(demand * (1 - demand) / RUNS)
        ]
    lowest = {"with": round(min(one[1][0] for one in results.values()), 3), "without": round(min(one[0][0] for one in results.values()), 3)}
    print(json.dumps({"worlds": len(results), "lowest_ed": lowest, "short": short, "seconds": round(seconds)}))
    return 1 if short else 0


if __name__ == "__main__":
    sys.exit(main())
