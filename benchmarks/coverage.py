"""How often the closed-form intervals hold the truth, over the grid of designs that statistics.md section 5 demands.

Run from the repository root: `python -m benchmarks.coverage` (about a quarter of an hour on one core). `--table FILE` writes the
Markdown table that is kept as COVERAGE.md, `--cells FILE` one CSV line per cell of the grid, `--part 0.05` runs a twentieth of it.
Prints one JSON line; exit 1 when a demand is missed by more than chance (2.6 standard errors).

Every interval comes from `audit.statistics`, table by table; that `audit.estimate` gives the same numbers is a test. Each cell is
seeded by what it is, so the order and the choice of cells do not matter.
"""

import argparse
import json
import math
import os
import platform
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from audit.statistics.cells import Cells
from audit.statistics.design import ENOUGH_TASKS
from audit.statistics.difference import difference_interval, find_side_intervals
from audit.statistics.moments import ENOUGH_CONTEXTS, Moments, compute_moments
from audit.statistics.scores import Floats
from audit.wording import SLACK

LEVEL = 0.95
TASKS = (5, 12, 20, 50, 200)
CONTEXTS = {
    "random": ((1, 1), (2, 2), (4, 4), (5, 5), (10, 10), (20, 20), (2, 20), (10, 4), (20, 5)),
    "fixed": ((1, 1), (2, 2), (5, 5), (20, 20), (20, 5)),
    "nested": ((1, 1), (2, 2), (5, 5), (20, 20), (20, 5)),
}
SAMPLES = (1, 5)
CONTEXT_SDS = (0.0, 0.4, 0.8)
RATES = ((0.01, 0.01), (0.01, 0.05), (0.05, 0.3), (0.3, 0.3), (0.3, 0.7), (0.7, 0.7))
"""Φ_test and Φ_deploy; every rate on both sides, pairs with and without a difference."""

TASK_SD, CROSSED_SD, RUBRIC = 1.0, 0.4, 4
"""On the logit: how tasks differ, the same on both sides, and how each cell departs; of how many items a judged score is the share."""

SCREENING, CONFIRMATION, SETTLEMENT = 300, 2500, 80_000
NEAR = 0.01
"""A cell whose screening holds a demand by less than this is confirmed; one that then falls short in coverage is settled."""

CERTAIN, _BLOCK = 2.576, 2_000_000
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(120)


@dataclass(frozen=True, slots=True)
class Cell:
    """One point of the grid; the rates are the true Φ."""

    design: str
    tasks: int
    contexts_test: int
    contexts_deploy: int
    samples: int
    context_sd: float
    rate_test: float
    rate_deploy: float
    judged: bool

    @property
    def place(self) -> tuple[str, int, int, int]:
        """Design, tasks and contexts: what can be read off a table without knowing the world."""
        return self.design, self.tasks, self.contexts_test, self.contexts_deploy

    @property
    def has_population(self) -> bool:
        """Whether there is an interval at all: one random context gives none."""
        return self.design != "random" or min(self.contexts_test, self.contexts_deploy) > 1

    @property
    def allows_verdict(self) -> bool:
        """Whether a class may be established from such a design (statistics.md section 3)."""
        return self.tasks >= ENOUGH_TASKS and (self.design != "random" or min(self.contexts_test, self.contexts_deploy) >= ENOUGH_CONTEXTS)

    def seed(self, stage: int) -> list[int]:
        """The seed of one stage: the cell itself, in whole numbers."""
        kind = ("random", "fixed", "nested").index(self.design)
        shares = (round(100 * value) for value in (self.context_sd, self.rate_test, self.rate_deploy))
        return [2611, stage, kind, self.tasks, self.contexts_test, self.contexts_deploy, self.samples, *shares, int(self.judged)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Shares over the runs of one cell; coverages over the runs that had an interval."""

    runs: int
    ed: float
    phi_test: float
    phi_deploy: float
    inverted_above: float
    """Share of intervals of Φ_deploy wholly above θ = Φ_deploy: false inversion of an at-most claim; below, of an at-least claim."""
    inverted_below: float
    width: float
    """Mean width of the interval of ED."""
    refused: float
    """Share of runs without an interval of ED."""

    @property
    def inversion(self) -> float:
        """The worse of the two directions."""
        return max(self.inverted_above, self.inverted_below)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What statistics.md section 5 demands of one figure."""

    text: str
    figure: str
    bound: float
    """At least; for `inversion` at most."""
    tasks: int
    """It holds from this many tasks on."""
    fixed: bool | None
    """Only of fixed contexts, only of the others, or of all."""

    def applies(self, cell: Cell) -> bool:
        """Whether the demand is made of such a cell."""
        return cell.tasks >= self.tasks and self.fixed in {None, cell.design == "fixed"} and cell.has_population

    def get_figure(self, result: Result) -> float:
        """The share that the demand is about."""
        return float(getattr(result, self.figure))

    def find_shortfall(self, result: Result) -> float:
        """By how much the figure fails; negative where it holds."""
        return (self.get_figure(result) - self.bound) * (1 if self.figure == "inversion" else -1)

    def find_error(self, result: Result) -> float:
        """Standard error of the figure by chance."""
        return math.sqrt(self.get_figure(result) * (1 - self.get_figure(result)) / result.runs)


DEMANDS = (
    Demand(text="ED ≥ 93 %, random and nested", figure="ed", bound=0.93, tasks=5, fixed=False),
    Demand(text="Φ_deploy ≥ 92 % at T ≥ 20, random and nested", figure="phi_deploy", bound=0.92, tasks=20, fixed=False),
    Demand(text="ED ≥ 91 %, fixed", figure="ed", bound=0.91, tasks=5, fixed=True),
    Demand(text="Φ_deploy ≥ 91 % at T ≥ 20, fixed", figure="phi_deploy", bound=0.91, tasks=20, fixed=True),
    Demand(text="false inversion at θ = Φ_deploy ≤ 5 %, all designs", figure="inversion", bound=0.05, tasks=5, fixed=None),
)


def list_cells() -> Iterator[Cell]:
    for design, pairs in CONTEXTS.items():
        for tasks, pair, samples, sd, rates, judged in product(TASKS, pairs, SAMPLES, CONTEXT_SDS, RATES, (False, True)):
            yield Cell(design, tasks, *pair, samples, sd, *rates, judged)


# --- The world: truth by integration, tables by drawing ---


def find_center(rate: float, effects: Floats, spread: float) -> float:
    """Return the logit at which Φ, integrated over tasks and contexts, is *rate*.

    Φ is the mean over *effects* (the fixed contexts; a single 0 where contexts are drawn) of E expit(center + effect + spread · normal):
    normal effects of task, context and cell add up to one normal, so Gauss–Hermite quadrature integrates over all of them.
    """

    def excess(center: float) -> float:
        return float(expit(center + effects[:, np.newaxis] + spread * _NODES).mean(axis=0) @ _WEIGHTS / _WEIGHTS.sum()) - rate

    return float(brentq(excess, -30, 30, xtol=1e-12))


def draw_tables(cell: Cell, rng: np.random.Generator, runs: int) -> tuple[list[Floats], npt.NDArray[np.bool_]]:
    """Return cell means [run, task, context] of both sides, and by run whether every score is 0 or 1."""
    tasks = rng.standard_normal((runs, cell.tasks, 1), dtype=np.float32) * np.float32(TASK_SD)
    means, binary = [], np.ones(runs, dtype=bool)
    for contexts, rate in ((cell.contexts_test, cell.rate_test), (cell.contexts_deploy, cell.rate_deploy)):
        fixed = cell.design == "fixed"
        effects = cell.context_sd * ndtri((np.arange(contexts) + 0.5) / contexts) if fixed else np.zeros(1)
        center = find_center(rate, effects, math.hypot(TASK_SD, CROSSED_SD, 0.0 if fixed else cell.context_sd))
        logit = tasks + rng.standard_normal((runs, cell.tasks, contexts), dtype=np.float32) * np.float32(CROSSED_SD)
        if fixed:
            logit += effects.astype(np.float32)
        else:
            shape = (runs, cell.tasks if cell.design == "nested" else 1, contexts)
            logit += rng.standard_normal(shape, dtype=np.float32) * np.float32(cell.context_sd)
        mean, whole = draw_scores(expit(logit + np.float32(center)), cell, rng)
        means.append(mean)
        binary &= whole
    return means, binary


def draw_scores(share: npt.NDArray[np.float32], cell: Cell, rng: np.random.Generator) -> tuple[Floats, npt.NDArray[np.bool_]]:
    items = RUBRIC if cell.judged else 1
    total = np.zeros(share.shape, dtype=np.int16)
    whole = np.ones(len(share), dtype=bool)
    for _ in range(cell.samples):
        met = np.zeros(share.shape, dtype=np.int16)
        for _ in range(items):
            met += rng.random(share.shape, dtype=np.float32) < share
        whole &= ((met == 0) | (met == items)).all(axis=(1, 2))
        total += met
    return total / (items * cell.samples), whole


# --- The intervals, by the functions that make a supplement's ---


def simulate(cell: Cell, *, runs: int, stage: int) -> Result:
    """Return how often the intervals of *runs* tables held the truth."""
    rng = np.random.default_rng(cell.seed(stage))
    size = cell.tasks * max(cell.contexts_test, cell.contexts_deploy)
    rows: list[tuple[float, ...]] = []
    while len(rows) < runs:
        means, binary = draw_tables(cell, rng, min(runs - len(rows), max(1, _BLOCK // size)))
        rows.extend(judge(cell, moments) for moments in build_moments(cell, means, binary))
    figures = np.array(rows)
    given = ~np.isnan(figures[:, 0])
    shares = figures[given].mean(axis=0).tolist() if given.any() else [math.nan] * 6
    names = ("ed", "phi_test", "phi_deploy", "inverted_above", "inverted_below", "width")
    return Result(runs=runs, refused=float(1 - given.mean()), **dict(zip(names, shares, strict=True)))


def build_moments(cell: Cell, means: list[Floats], binary: npt.NDArray[np.bool_]) -> Iterator[Moments]:
    codes = [find_codes(cell, side.shape[2]) for side in means]
    counts = [np.full(len(task), cell.samples, dtype=np.int64) for task, _ in codes]
    common = np.ones(cell.tasks, dtype=bool)
    for run in range(len(binary)):
        test, deploy = (
            Cells(task=task, context=context, mean=side[run].ravel(), count=count)
            for (task, context), side, count in zip(codes, means, counts, strict=True)
        )
        yield compute_moments(test, deploy, common, random=cell.design == "random", binary=bool(binary[run]))


def find_codes(cell: Cell, contexts: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    task, context = (index.ravel() for index in np.indices((cell.tasks, contexts)))
    return task, np.arange(len(task)) if cell.design == "nested" else context


def judge(cell: Cell, moments: Moments) -> tuple[float, ...]:
    band = difference_interval(moments, level=LEVEL)
    test, deploy = find_side_intervals(moments, level=LEVEL)
    if band is None or test is None or deploy is None:
        return (math.nan,) * 6
    return (
        band.low <= cell.rate_test - cell.rate_deploy <= band.high,
        test.hull.low <= cell.rate_test <= test.hull.high,
        deploy.hull.low <= cell.rate_deploy <= deploy.hull.high,
        deploy.hull.low > cell.rate_deploy + SLACK,
        deploy.hull.high < cell.rate_deploy - SLACK,
        band.high - band.low,
    )


# --- The run and its table ---


def run(cells: list[Cell]) -> dict[Cell, Result]:
    """Return the result of each cell, from its last drawing alone."""
    results = {cell: simulate(cell, runs=SCREENING, stage=0) for cell in cells}
    results = draw_again(results, DEMANDS, margin=NEAR, runs=CONFIRMATION, stage=1)
    return draw_again(results, [d for d in DEMANDS if d.figure != "inversion"], margin=0.0, runs=SETTLEMENT, stage=2)


def draw_again(results: dict[Cell, Result], demands: Sequence[Demand], *, margin: float, runs: int, stage: int) -> dict[Cell, Result]:
    """Return the results with new ones for the cells that do not hold all *demands* with *margin* to spare."""
    short = [cell for cell, result in results.items() if any(d.applies(cell) and d.find_shortfall(result) > -margin for d in demands)]
    return results | {cell: simulate(cell, runs=runs, stage=stage) for cell in short}


def list_misses(demand: Demand, results: dict[Cell, Result]) -> list[tuple[float, Cell, Result]]:
    """Return the cells that miss *demand* by more than chance, with by how much, worst first."""
    short = [(demand.find_shortfall(result), cell, result) for cell, result in results.items() if demand.applies(cell)]
    missed = [one for one in short if one[0] > CERTAIN * demand.find_error(one[2])]
    return sorted(missed, key=lambda one: (-one[0], str(one[1])))


def render_demands(results: dict[Cell, Result]) -> Iterator[str]:
    yield "| demand | cells | worst (error) | median | missed for certain | of these, verdict possible | short, within chance |"
    yield "|---|---|---|---|---|---|---|"
    for demand in DEMANDS:
        asked = [result for cell, result in results.items() if demand.applies(cell)]
        missed = list_misses(demand, results)
        below = sum(demand.find_shortfall(result) > 0 for result in asked) - len(missed)
        worst = max(asked, key=demand.find_shortfall)
        median = statistics.median(demand.get_figure(result) for result in asked)
        verdicts = sum(cell.allows_verdict for _, cell, _ in missed)
        shown = f"{demand.get_figure(worst):.2%} (±{demand.find_error(worst):.2%})"
        yield f"| {demand.text} | {len(asked)} | {shown} | {median:.2%} | {len(missed)} | {verdicts} | {below} |"
    above, below = (max(getattr(result, name) for result in asked) for name in ("inverted_above", "inverted_below"))
    yield f"\nHighest false inversion of an at-most claim (interval above θ) {above:.1%}, of an at-least claim (below θ) {below:.1%}."


def render_misses(results: dict[Cell, Result]) -> Iterator[str]:
    """One line for each place (demand, design, contexts, tasks) with a cell that misses, and its worst cell in full."""
    yield "| demand | design | T | C test/deploy | cells that miss | verdict possible | worst | short by | where it is worst |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for demand in DEMANDS:
        places: dict[tuple[str, int, int, int], list[tuple[float, Cell, Result]]] = defaultdict(list)
        for one in list_misses(demand, results):
            places[one[1].place].append(one)
        for (design, tasks, first, second), missed in sorted(places.items()):
            short, cell, result = missed[0]
            among = sum(other.place == cell.place for other in results)
            verdict, score = ("no", "yes")[cell.allows_verdict], ("binary", "judged")[cell.judged]
            figure = f"{demand.get_figure(result):.2%} ± {demand.find_error(result):.2%}"
            world = f"{cell.samples} a cell, context SD {cell.context_sd:g}, {cell.rate_test:g} → {cell.rate_deploy:g}, {score}"
            counts = f"{len(missed)} of {among} | {verdict} | {figure} | {100 * short:.2f} points"
            yield f"| {demand.text} | {design} | {tasks} | {first}/{second} | {counts} | {world} |"


def render_groups(results: dict[Cell, Result], design: str) -> Iterator[str]:
    groups: dict[tuple[int, int, int], list[Result]] = defaultdict(list)
    for cell in (cell for cell in results if cell.design == design):
        groups[cell.contexts_test, cell.contexts_deploy, cell.tasks].append(results[cell])
    yield "| C test/deploy | T | ED | Φ_test | Φ_deploy | false inversion above / below, highest | width of ED, median | no interval |"
    yield "|---|---|---|---|---|---|---|---|"
    for (first, second, tasks), group in sorted(groups.items()):
        refused = f"{statistics.mean(result.refused for result in group):.0%}"
        if any(math.isnan(result.ed) for result in group):
            yield f"| {first}/{second} | {tasks} | – | – | – | – | – | {refused} |"
            continue
        columns = [[getattr(result, name) for result in group] for name in ("ed", "phi_test", "phi_deploy")]
        coverage = " | ".join(f"{100 * min(column):.1f} / {100 * statistics.median(column):.1f}" for column in columns)
        above, below = (100 * max(getattr(result, name) for result in group) for name in ("inverted_above", "inverted_below"))
        width = statistics.median(result.width for result in group)
        yield f"| {first}/{second} | {tasks} | {coverage} | {above:.1f} / {below:.1f} | {width:.3f} | {refused} |"


def render_table(results: dict[Cell, Result], *, elapsed_s: float) -> str:
    parts = [render_head(results, elapsed_s=elapsed_s), "## Demands\n", *render_demands(results)]
    parts += ["\n## Where a demand is missed for certain\n", *render_misses(results)]
    for design in CONTEXTS:
        parts += [f"\n## Contexts {design}: coverage in %, lowest / median over the cells of a line\n", *render_groups(results, design)]
    return "\n".join(parts) + "\n"


def render_head(results: dict[Cell, Result], *, elapsed_s: float) -> str:
    again, settled = (sum(result.runs == runs for result in results.values()) for runs in (CONFIRMATION, SETTLEMENT))
    machine = f"{platform.system()} {platform.machine()}, one of {os.cpu_count()} cores, Python {platform.python_version()}"
    rates = ", ".join(f"{first:g} → {second:g}" for first, second in RATES)
    errors = [f"{math.sqrt(0.95 * 0.05 / runs):.1%}" for runs in (SCREENING, CONFIRMATION, SETTLEMENT)]
    return f"""# How often the intervals hold the truth

{datetime.now(UTC):%Y-%m-%d}, {machine}; {elapsed_s / 60:.0f} minutes.
Made by `python -m benchmarks.coverage --table benchmarks/COVERAGE.md`; `--cells FILE` writes each of the {len(results):,} cells.
Seeded, so a second run gives the same figures. Closed-form interval, nominal level 95 %.

**Grid.** Design, contexts a side (C) and tasks (T) as listed, each crossed with samples a cell {SAMPLES}, context SD {CONTEXT_SDS} on
the logit, Φ_test → Φ_deploy {rates}, and scores
that are binary or judged (share of {RUBRIC} rubric items). Tasks differ with SD {TASK_SD:g} on the logit, alike on both sides; each cell
departs from its task and context with SD {CROSSED_SD:g}. *Random*: contexts are drawn, crossed with tasks. *Fixed*: contexts are normal
quantiles and are the estimand. *Nested*: each task draws its own. The true Φ and ED come from quadrature, never from what was drawn.

**Draws.** {SCREENING} tables a cell. A cell that falls short of a demand, or holds it by less than {NEAR:.0%}, was drawn again:
{CONFIRMATION:,} new tables, and only those count ({again:,} cells); where coverage fell short then, {SETTLEMENT:,} more, and
only those ({settled} cells). A cell truly a point short slips through the screening about once in ten.
Chance (one standard error at 95 %): {", ".join(errors)}; so the lowest of the 72 cells of a line is low by chance, most of all
Φ_test, which no demand draws again. *Missed for certain*: by more than {CERTAIN} standard errors.
*Verdict possible*: T ≥ {ENOUGH_TASKS}, and C ≥ {ENOUGH_CONTEXTS} a side where contexts are random; elsewhere the audit shows the
interval and says undetermined. *False inversion*: the interval of Φ_deploy lies wholly beyond θ = Φ_deploy; the worse direction.
"""


def write_cells(path: Path, results: dict[Cell, Result]) -> None:
    rows = [asdict(cell) | asdict(result) for cell, result in results.items()]
    path.write_text("\n".join(",".join(map(str, row)) for row in (rows[0], *(row.values() for row in rows))) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--cells", type=Path)
    parser.add_argument("--part", type=float, default=1.0)
    asked = parser.parse_args()
    # One random context is refused whatever the world: two lines of it are enough.
    everything = [cell for cell in list_cells() if cell.has_population or cell.tasks in {TASKS[0], TASKS[-1]}]
    start = time.perf_counter()
    results = run(everything[:: max(1, round(1 / asked.part))])
    elapsed_s = time.perf_counter() - start
    if asked.table:
        asked.table.write_text(render_table(results, elapsed_s=elapsed_s), encoding="utf-8")
    if asked.cells:
        write_cells(asked.cells, results)
    missed = {demand.text: len(list_misses(demand, results)) for demand in DEMANDS}
    print(json.dumps({"cells": len(results), "elapsed_s": round(elapsed_s), "missed": missed}, ensure_ascii=False))
    return 1 if any(missed.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
