"""Coverage in worlds beyond the grid: those of `benchmarks.verdict_worlds` that break an assumption, and a few more.

They are reported and nothing is demanded of them. Where the scores are drawn with families or templates, the interval is made as if
no one had declared them; `group` says which tasks or contexts belong together, for the interval with the declaration.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from audit.statistics.intervals import IntervalBasis, find_difference, find_sides
from audit.statistics.responses import Floats
from audit.statistics.side_moments import Cells, Moments, compute_moments
from benchmarks.coverage_grid import CROSSED_SD, LEVEL, TASK_SD, find_center
from benchmarks.verdict_worlds import CONTEXT_SD, Replay, World, build_opposed_world, draw_side, find_places, list_broken_worlds
from registry.records.analysis_plan import ContextDesign, IntervalMethod
from registry.report.number_format import SLACK

RUNS = 1000
WORLDS_HEAD = "## Worlds with broken assumptions (no demand)"
Z = 1.96

Build = Callable[[World, Replay], Moments]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Shares over the replays of one world."""

    ed: float
    phi_test: float
    phi_deploy: float
    above: float
    """Share of intervals of ED wholly above the truth; below, wholly below."""
    below: float
    over_oracle: float
    """Median half-width of ED over 1.96 times the standard deviation of the estimate; infinite where the estimate does not vary."""


def list_worlds() -> Iterator[World]:
    """Yield every world that breaks an assumption; opposed tasks; paired scaffolds, which make the interval wider than need be."""
    yield from list_broken_worlds()
    opposed = [build_opposed_world(design) for design in (ContextDesign.RANDOM, ContextDesign.FIXED)]
    yield from (replace(world, interval=mode) for world in opposed for mode in (IntervalMethod.CLOSED_FORM, IntervalMethod.GUARANTEED))
    yield from (build_template_world(contexts, templates) for contexts, templates in ((6, 3), (20, 5)))
    yield from (build_paired_world(contexts, correlation) for contexts, correlation in ((5, 0.8), (10, 0.8), (10, -0.8)))


def build_template_world(contexts: int, templates: int, *, tasks: int = 50, share: float = 0.9) -> World:
    """Contexts made from few templates, that share most of what makes contexts differ; no one declares them."""
    spread = math.hypot(TASK_SD, CROSSED_SD, 2 * CONTEXT_SD)
    centers = [find_center(rate, np.zeros(1), spread) for rate in (0.3, 0.5)]

    def draw(rng: np.random.Generator, runs: int) -> Iterator[Replay]:
        for _ in range(runs):
            task = rng.normal(0, TASK_SD, (tasks, 1))
            sides = []
            for center in centers:
                template = np.repeat(rng.normal(0, math.sqrt(share), templates), contexts // templates)
                effect = 2 * CONTEXT_SD * (template + rng.normal(0, math.sqrt(1 - share), contexts))
                sides.append(draw_side(rng, center + task + effect, contexts, is_sampled=False))
            yield Replay(test=sides[0], deploy=(sides[1],))

    return World(
        name=f"{contexts} contexts from {templates} templates, not declared",
        design=ContextDesign.RANDOM,
        tasks=tasks,
        contexts=(contexts, contexts),
        phi_test=0.3,
        phi_deploy=(0.5,),
        draw=draw,
        broken="templates",
    )


def build_paired_world(contexts: int, correlation: float, *, tasks: int = 50) -> World:
    """The same scaffolds on both sides: their effects go together, or against each other."""
    spread = math.hypot(TASK_SD, CROSSED_SD, 2 * CONTEXT_SD)
    centers = [find_center(rate, np.zeros(1), spread) for rate in (0.3, 0.5)]
    mixing = np.linalg.cholesky(np.array([[1.0, correlation], [correlation, 1.0]]))

    def draw(rng: np.random.Generator, runs: int) -> Iterator[Replay]:
        for _ in range(runs):
            task, effects = rng.normal(0, TASK_SD, (tasks, 1)), mixing @ rng.standard_normal((2, contexts)) * 2 * CONTEXT_SD
            sides = [draw_side(rng, c + task + effect, contexts, is_sampled=False) for c, effect in zip(centers, effects, strict=True)]
            yield Replay(test=sides[0], deploy=(sides[1],))

    return World(
        name=f"the same scaffolds on both sides, correlation {correlation:g}",
        design=ContextDesign.RANDOM,
        tasks=tasks,
        contexts=(contexts, contexts),
        phi_test=0.3,
        phi_deploy=(0.5,),
        draw=draw,
        broken="paired scaffolds",
    )


def build_moments(world: World, replay: Replay) -> Moments:
    """Return the moments of the first specification, nothing declared."""
    cells = []
    for scores in (replay.test, replay.deploy[0]):
        task, context = (np.array(codes, dtype=np.intp) for codes in zip(*find_places(world, scores.shape[1]), strict=True))
        graded = ((scores != 0) & (scores != 1)).any()
        cells.append(
            Cells(
                task=task,
                context=context,
                mean=scores.ravel().astype(float),
                count=np.ones(scores.size, dtype=np.int64),
                square=scores.ravel().astype(float) ** 2 if graded else None,
            )
        )
    binary = all(bool(((side.mean == 0) | (side.mean == 1)).all()) for side in cells)
    random = world.design is ContextDesign.RANDOM
    return compute_moments(cells[0], cells[1], np.ones(world.tasks, dtype=bool), random=random, binary=binary)


def measure(world: World, *, runs: int = RUNS, seed: Sequence[int] = (2611, 30), build: Build = build_moments) -> Held:
    """Return how often the intervals of *runs* replays held the truth; *build* may declare families or templates."""
    truth, rows = world.phi_test - world.phi_deploy[0], []
    for replay in world.draw(np.random.default_rng([*seed, world.tasks, *world.contexts]), runs):
        grounds = IntervalBasis(moments=build(world, replay), method=world.interval)
        band, (test, deploy) = find_difference(grounds, level=LEVEL), find_sides(grounds, level=LEVEL)
        if band is None or test is None or deploy is None:
            raise ValueError(f"{world.name}: no interval")
        rows.append(
            (
                band.low > truth + SLACK,
                band.high < truth - SLACK,
                test.low <= world.phi_test <= test.high,
                deploy.low <= world.phi_deploy[0] <= deploy.high,
                band.high - band.low,
                grounds.moments.difference,
            )
        )
    figures: Floats = np.array(rows, dtype=float)
    above, below, phi_test, phi_deploy = figures[:, :4].mean(axis=0).tolist()
    spread = float(figures[:, 5].std())
    over = float(np.median(figures[:, 4])) / 2 / (Z * spread) if spread > 0 else math.inf
    return Held(ed=1 - above - below, phi_test=phi_test, phi_deploy=phi_deploy, above=above, below=below, over_oracle=over)


def render_worlds(found: dict[World, Held], *, runs: int, made: str = "") -> Iterator[str]:
    """Yield the section of COVERAGE.md; *made* says when and how, where that is not what the whole table says."""
    yield f"{WORLDS_HEAD}\n"
    yield from [f"{made}\\"] if made else []
    yield f"{runs:,} replays each, one response a cell; coverage and misses of ED in %. Families and templates are not declared here."
    yield "*Over oracle*: median half-width of ED over 1.96 times the standard deviation of the estimate.\n"
    yield "| world | contexts | C | T | ED | ED misses above / below | Φ_test | Φ_deploy | over oracle |"
    yield "|---|---|---|---|---|---|---|---|---|"
    for world, held in found.items():
        mode = "" if world.interval is IntervalMethod.CLOSED_FORM else ", guaranteed intervals"
        place = f"{world.name} | {world.design.value}{mode} | {world.contexts[0]} | {world.tasks}"
        misses = f"{100 * held.above:.1f} / {100 * held.below:.1f}"
        wide = "–" if math.isinf(held.over_oracle) else f"{held.over_oracle:.2f}"
        yield f"| {place} | {100 * held.ed:.1f} | {misses} | {100 * held.phi_test:.1f} | {100 * held.phi_deploy:.1f} | {wide} |"
