"""The designs over which coverage is demanded, the worlds they are drawn from, and what their intervals hold.

Every interval comes from `audit.statistics`, table by table; that `audit.modules.differential_estimate` gives the same numbers is a
test. Each cell is
seeded by what it is, so the order, the choice of cells and the number of processes do not matter.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import expit, ndtri

from audit.statistics.design_remarks import ENOUGH_TASKS
from audit.statistics.intervals import IntervalBasis, find_difference, find_sides
from audit.statistics.responses import Floats
from audit.statistics.side_moments import ENOUGH_CONTEXTS, Cells, Moments, compute_moments
from registry.records.analysis_plan import IntervalMethod
from registry.report.number_format import SLACK

LEVEL = 0.95
TASKS = (5, 12, 20, 50, 200, 500)
CONTEXTS = {
    "random": ((1, 1), (2, 2), (4, 4), (5, 5), (10, 10), (20, 20), (2, 20), (10, 4), (20, 5)),
    "fixed": ((1, 1), (2, 2), (5, 5), (20, 20), (20, 5)),
    "nested": ((1, 1), (2, 2), (5, 5), (20, 20), (20, 5)),
}
SAMPLES = (1, 5)
MANY_TASKS = 500
"""From so many tasks on, a cell has one sample only: more would change little and cost the most."""

CONTEXT_SDS = (0.0, 0.4, 0.8)
RATES = ((0.01, 0.01), (0.01, 0.05), (0.05, 0.3), (0.3, 0.3), (0.3, 0.7), (0.7, 0.7))
"""Φ_test and Φ_deploy; every rate on both sides, pairs with and without a difference."""

TASK_SD, CROSSED_SD, RUBRIC = 1.0, 0.4, 4
"""On the logit: how tasks differ, the same on both sides, and how each cell departs; of how many items a judged score is the share."""

SCREENING, CONFIRMATION, SETTLEMENT = 300, 2500, 40_000
NEAR = 0.01
"""A cell whose screening holds a demand by less than this is confirmed; one that then falls short is settled."""

GUARANTEED_RUNS = 1000
GUARANTEED_TASKS, GUARANTEED_CONTEXTS = (5, 20, 200), {"random": ((2, 2), (5, 5), (20, 20)), "fixed": ((5, 5),), "nested": ((1, 1), (5, 5))}
"""Where the guaranteed mode is tried: one sample a cell, contexts of SD 0 and 0.8, all rates, binary and judged."""

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
    width_deploy: float
    """Mean width of the interval of Φ_deploy."""
    oracle: float
    """1.96 times the standard deviation of ED over the tables: the half-width of somebody who knows it."""
    refused: float
    """Share of runs without an interval of ED."""

    @property
    def over_oracle(self) -> float:
        """Mean half-width of ED over the oracle's; not a number where ED did not vary."""
        return self.width / 2 / self.oracle if self.oracle > 0 else math.nan

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
            if samples == SAMPLES[0] or tasks < MANY_TASKS:
                yield Cell(design, tasks, *pair, samples, sd, *rates, judged)


def list_guaranteed_cells() -> Iterator[Cell]:
    for design, pairs in GUARANTEED_CONTEXTS.items():
        sds = (CONTEXT_SDS[0], CONTEXT_SDS[-1])
        for tasks, pair, sd, rates, judged in product(GUARANTEED_TASKS, pairs, sds, RATES, (False, True)):
            yield Cell(design, tasks, *pair, SAMPLES[0], sd, *rates, judged)


# --- The world: truth by integration, tables by drawing ---


def find_center(rate: float, effects: Floats, spread: float) -> float:
    """Return the logit at which Φ, integrated over tasks and contexts, is *rate*.

    Φ is the mean over *effects* (the fixed contexts; a single 0 where contexts are drawn) of E expit(center + effect + spread · normal):
    normal effects of task, context and cell add up to one normal, so Gauss–Hermite quadrature integrates over all of them.
    """

    def excess(center: float) -> float:
        return float(expit(center + effects[:, np.newaxis] + spread * _NODES).mean(axis=0) @ _WEIGHTS / _WEIGHTS.sum()) - rate

    return float(brentq(excess, -30, 30, xtol=1e-12))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Drawn:
    """What was drawn for one side, [run, task, context]."""

    mean: Floats
    """Of the scores of a cell."""

    square: Floats | None
    """Mean squared score of a cell; None where scores are binary."""


def draw_tables(cell: Cell, rng: np.random.Generator, runs: int) -> tuple[list[Drawn], npt.NDArray[np.bool_]]:
    """Return the cells of both sides, and by run whether every score is 0 or 1."""
    tasks = rng.standard_normal((runs, cell.tasks, 1), dtype=np.float32) * np.float32(TASK_SD)
    sides, binary = [], np.ones(runs, dtype=bool)
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
        drawn, whole = draw_scores(expit(logit + np.float32(center)), cell, rng)
        sides.append(drawn)
        binary &= whole
    return sides, binary


def draw_scores(share: npt.NDArray[np.float32], cell: Cell, rng: np.random.Generator) -> tuple[Drawn, npt.NDArray[np.bool_]]:
    items = RUBRIC if cell.judged else 1
    total, squares = np.zeros(share.shape, dtype=np.int16), np.zeros(share.shape, dtype=np.int16)
    whole = np.ones(len(share), dtype=bool)
    for _ in range(cell.samples):
        met = np.zeros(share.shape, dtype=np.int16)
        for _ in range(items):
            met += rng.random(share.shape, dtype=np.float32) < share
        whole &= ((met == 0) | (met == items)).all(axis=(1, 2))
        total += met
        if cell.judged:
            squares += met * met
    square = squares / (items**2 * cell.samples) if cell.judged else None
    return Drawn(mean=total / (items * cell.samples), square=square), whole


# --- The intervals, by the functions that make a supplement's ---


def simulate(cell: Cell, *, runs: int, stage: int, interval: IntervalMethod = IntervalMethod.CLOSED_FORM) -> Result:
    """Return how often the intervals of *runs* tables held the truth."""
    rng = np.random.default_rng(cell.seed(stage))
    size = cell.tasks * max(cell.contexts_test, cell.contexts_deploy)
    rows: list[tuple[float, ...]] = []
    while len(rows) < runs:
        sides, binary = draw_tables(cell, rng, min(runs - len(rows), max(1, _BLOCK // size)))
        rows.extend(judge(cell, IntervalBasis(moments=moments, method=interval)) for moments in build_moments(cell, sides, binary))
    figures = np.array(rows)
    given = ~np.isnan(figures[:, 0])
    shares = figures[given].mean(axis=0).tolist() if given.any() else [math.nan] * 8
    oracle = float(ndtri(0.5 + LEVEL / 2) * figures[given, 7].std()) if given.any() else math.nan
    names = ("ed", "phi_test", "phi_deploy", "inverted_above", "inverted_below", "width", "width_deploy")
    return Result(runs=runs, refused=float(1 - given.mean()), oracle=oracle, **dict(zip(names, shares[:7], strict=True)))


def build_moments(cell: Cell, sides: list[Drawn], binary: npt.NDArray[np.bool_]) -> Iterator[Moments]:
    codes = [find_codes(cell, side.mean.shape[2]) for side in sides]
    counts = [np.full(len(task), cell.samples, dtype=np.int64) for task, _ in codes]
    common = np.ones(cell.tasks, dtype=bool)
    for run in range(len(binary)):
        test, deploy = (
            Cells(
                task=task,
                context=context,
                mean=side.mean[run].ravel(),
                count=count,
                square=None if side.square is None else side.square[run].ravel(),
            )
            for (task, context), side, count in zip(codes, sides, counts, strict=True)
        )
        yield compute_moments(test, deploy, common, random=cell.design == "random", binary=bool(binary[run]))


def find_codes(cell: Cell, contexts: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    task, context = (index.ravel() for index in np.indices((cell.tasks, contexts)))
    return task, np.arange(len(task)) if cell.design == "nested" else context


def judge(cell: Cell, grounds: IntervalBasis) -> tuple[float, ...]:
    band = find_difference(grounds, level=LEVEL)
    test, deploy = find_sides(grounds, level=LEVEL)
    if band is None or test is None or deploy is None:
        return (math.nan,) * 8
    return (
        band.low <= cell.rate_test - cell.rate_deploy <= band.high,
        test.low <= cell.rate_test <= test.high,
        deploy.low <= cell.rate_deploy <= deploy.high,
        deploy.low > cell.rate_deploy + SLACK,
        deploy.high < cell.rate_deploy - SLACK,
        band.high - band.low,
        deploy.high - deploy.low,
        grounds.moments.difference,
    )


def list_misses(demand: Demand, results: dict[Cell, Result]) -> list[tuple[float, Cell, Result]]:
    """Return the cells that miss *demand* by more than chance, with by how much, worst first."""
    short = [(demand.find_shortfall(result), cell, result) for cell, result in results.items() if demand.applies(cell)]
    missed = [one for one in short if one[0] > CERTAIN * demand.find_error(one[2])]
    return sorted(missed, key=lambda one: (-one[0], str(one[1])))
