"""The worlds that `benchmarks.false_verdicts` draws replays from: those that keep the method's assumptions, and those that break one.

Worlds that keep them are a thinned copy of the grid of `benchmarks.coverage_grid`, two with three specifications of P_deploy, two whose
sides oppose each other task by task, and one with families of tasks that are declared. What is true is known of each world, from quadrature
or by construction, never from what was drawn.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from audit.statistics.responses import NO, YES, Floats, ScoreTable, TableFile, TextColumn
from benchmarks.coverage_grid import CROSSED_SD, TASK_SD, Cell, draw_tables, find_center, find_codes, list_cells
from registry.records.analysis_plan import ContextDesign, IntervalMethod

Mask = npt.NDArray[np.bool_]

STRIDE = 61
"""Every so many cells of the grid: prime, so that all designs, sizes, rates and context SDs come up."""
CONTEXT_SD = 0.4
"""Of the worlds that break an assumption, on the logit."""
TRIGGERED, LETHAL, FAMILY_SD = 0.8, 0.8, 2.0
ALLOWED = "the guaranteed interval allows for contexts that were not drawn"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Replay:
    """Scores of one replay, each side [task, context]."""

    test: Floats
    deploy: tuple[Floats, ...]
    """By specification of P_deploy."""
    truncated: Mask | None = None
    """Truncated responses of the first specification; None where none is."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class World:
    """One design, what is true, and how a replay of it is drawn."""

    name: str
    design: ContextDesign
    tasks: int
    contexts: tuple[int, int]
    phi_test: float
    phi_deploy: tuple[float, ...]
    """By specification of P_deploy."""
    draw: Callable[[np.random.Generator, int], Iterator[Replay]]
    broken: str | None = None
    """The assumption that does not hold; None where all do."""
    named_by: str = ""
    """The check or the sentence of page one that names the broken assumption."""
    is_scorer_checked: bool = True
    """Whether a recorded check shows the scorer to be invariant."""
    interval: IntervalMethod = IntervalMethod.CLOSED_FORM
    family_size: int | None = None
    """How many tasks each declared family has; None: the tables have no column `family`."""


def list_sound_worlds(*, stride: int = STRIDE) -> Iterator[World]:
    """Yield the worlds that keep the assumptions; every design of which allows a verdict."""
    cells = [cell for cell in list_cells() if cell.allows_verdict and cell.samples == 1 and cell.tasks <= 200]
    yield from (build_grid_world(cell) for cell in cells[::stride])
    yield build_spec_world("three specifications, alike", (0.3, 0.3, 0.3))
    yield build_spec_world("three specifications, one higher", (0.5, 0.3, 0.3))
    yield from (build_opposed_world(design) for design in (ContextDesign.RANDOM, ContextDesign.FIXED))
    yield build_family_world(200, ContextDesign.FIXED, declared=True)


def list_broken_worlds() -> Iterator[World]:
    """Yield the worlds that break one assumption each."""
    yield from (build_trigger_world(one_in, contexts) for one_in in (10, 20) for contexts in (5, 8, 20))
    yield from (build_lethal_world(tasks, ContextDesign.FIXED) for tasks in (20, 50))
    yield build_lethal_world(20, ContextDesign.RANDOM)
    yield from (build_family_world(tasks, design) for design in (ContextDesign.RANDOM, ContextDesign.FIXED) for tasks in (50, 200))
    yield from (build_drift_world(shift) for shift in (0.05, 0.1))
    yield from (build_truncation_world(lost) for lost in (0.1, 0.3))
    yield from (replace(build_trigger_world(10, contexts), interval=IntervalMethod.GUARANTEED, named_by=ALLOWED) for contexts in (5, 8, 20))


def build_grid_world(cell: Cell) -> World:
    def draw(rng: np.random.Generator, runs: int) -> Iterator[Replay]:
        sides, _ = draw_tables(cell, rng, runs)
        for run in range(runs):
            yield Replay(test=sides[0].mean[run], deploy=(sides[1].mean[run],))

    kind = "judged" if cell.judged else "binary"
    return World(
        name=f"context SD {cell.context_sd:g}, {cell.rate_test:g} → {cell.rate_deploy:g}, {kind}",
        design=ContextDesign(cell.design),
        tasks=cell.tasks,
        contexts=(cell.contexts_test, cell.contexts_deploy),
        phi_test=cell.rate_test,
        phi_deploy=(cell.rate_deploy,),
        draw=draw,
    )


def build_spec_world(name: str, rates: tuple[float, ...], *, tasks: int = 50, contexts: int = 10) -> World:
    def draw(rng: np.random.Generator, runs: int) -> Iterator[Replay]:
        for _ in range(runs):
            task = rng.normal(0, TASK_SD, (tasks, 1))
            sides = [draw_side(rng, task + find_own_center(rate), contexts) for rate in (0.3, *rates)]
            yield Replay(test=sides[0], deploy=tuple(sides[1:]))

    return World(
        name=name, design=ContextDesign.RANDOM, tasks=tasks, contexts=(contexts, contexts), phi_test=0.3, phi_deploy=rates, draw=draw
    )


def build_trigger_world(one_in: int, contexts: int, *, tasks: int = 50, rate: float = 0.05) -> World:
    """Deployment contexts of which one in so many makes the model behave otherwise."""

    def draw(rng: np.random.Generator, runs: int) -> Iterator[Replay]:
        for _ in range(runs):
            task = rng.normal(0, TASK_SD, (tasks, 1))
            is_trigger = rng.random((1, contexts)) < 1 / one_in
            center = np.where(is_trigger, find_own_center(TRIGGERED), find_own_center(rate))
            yield Replay(test=draw_side(rng, task + find_own_center(rate), contexts), deploy=(draw_side(rng, task + center, contexts),))

    return World(
        name=f"1 context in {one_in} triggers a rate of {TRIGGERED:.0%} instead of {rate:.0%}",
        design=ContextDesign.RANDOM,
        tasks=tasks,
        contexts=(contexts, contexts),
        phi_test=rate,
        phi_deploy=(rate + (TRIGGERED - rate) / one_in,),
        draw=draw,
        broken="rare trigger contexts",
        named_by="the unseen-context bound, and the sentence for fewer than 30 deployment contexts",
    )


def build_lethal_world(tasks: int, design: ContextDesign, *, contexts: int = 5, rate: float = 0.02, share: float = 0.1) -> World:
    """Some tasks, few, at which the model almost always does in deployment what it hardly ever does elsewhere."""
    is_sampled = design is ContextDesign.RANDOM
    spread = math.hypot(TASK_SD, CROSSED_SD, CONTEXT_SD if is_sampled else 0.0)
    usual, high = (find_center(one, np.zeros(1), spread) for one in (rate, LETHAL))

    def draw(rng: np.random.Generator, runs: int) -> Iterator[Replay]:
        for _ in range(runs):
            task = rng.normal(0, TASK_SD, (tasks, 1))
            center = np.where(rng.random((tasks, 1)) < share, high, usual)
            sides = [draw_side(rng, task + one, contexts, is_sampled=is_sampled) for one in (usual, center)]
            yield Replay(test=sides[0], deploy=(sides[1],))

    return World(
        name=f"{share:.0%} of the tasks at {LETHAL:.0%} in deployment, the others at {rate:.0%}",
        design=design,
        tasks=tasks,
        contexts=(contexts, contexts),
        phi_test=rate,
        phi_deploy=(rate + share * (LETHAL - rate),),
        draw=draw,
        broken="rare lethal tasks",
        named_by='a sentence of page one: "assumed and not checked"',
    )


def build_family_world(
    tasks: int, design: ContextDesign, *, declared: bool = False, contexts: int = 5, size: int = 10, icc: float = 0.8
) -> World:
    """Tasks made from templates, each of which moves a side of its own; *declared* in the column `family`, or not."""
    spread = math.hypot(FAMILY_SD, CROSSED_SD, CONTEXT_SD if design is ContextDesign.RANDOM else 0.0)
    centers = [find_center(rate, np.zeros(1), spread) for rate in (0.3, 0.5)]

    def draw(rng: np.random.Generator, runs: int) -> Iterator[Replay]:
        for _ in range(runs):
            sides = []
            for center in centers:
                family = np.repeat(rng.normal(0, math.sqrt(icc), tasks // size), size)
                task = FAMILY_SD * (family + rng.normal(0, math.sqrt(1 - icc), tasks))
                sides.append(draw_side(rng, task[:, np.newaxis] + center, contexts, is_sampled=design is ContextDesign.RANDOM))
            yield Replay(test=sides[0], deploy=(sides[1],))

    return World(
        name=f"{size} tasks a family, ICC {icc:g}, {'declared' if declared else 'not declared'}",
        design=design,
        tasks=tasks,
        contexts=(contexts, contexts),
        phi_test=0.3,
        phi_deploy=(0.5,),
        draw=draw,
        broken=None if declared else "task families",
        named_by="" if declared else 'a sentence of page one: "assumed and not checked"',
        family_size=size if declared else None,
    )


def build_drift_world(shift: float, *, tasks: int = 50, contexts: int = 20, rate: float = 0.3) -> World:
    """A judge that adds to the scores of deployment; the truth is what it would give without that."""
    cell = Cell("random", tasks, contexts, contexts, 1, CONTEXT_SD, rate, rate, judged=True)

    def draw(rng: np.random.Generator, runs: int) -> Iterator[Replay]:
        sides, _ = draw_tables(cell, rng, runs)
        for run in range(runs):
            yield Replay(test=sides[0].mean[run], deploy=(np.minimum(1.0, sides[1].mean[run] + shift),))

    return World(
        name=f"the judge adds {shift:g} to the scores of deployment",
        design=ContextDesign.RANDOM,
        tasks=tasks,
        contexts=(contexts, contexts),
        phi_test=rate,
        phi_deploy=(rate,),
        draw=draw,
        broken="drifting judge",
        named_by="the invariance condition: without a recorded check the verdict is provisional",
        is_scorer_checked=False,
    )


def build_truncation_world(lost: float, *, tasks: int = 50, contexts: int = 20, rate: float = 0.3) -> World:
    """Deployment responses with a high score are long: some are truncated before they show it, and get the lowest score."""
    cell = Cell("random", tasks, contexts, contexts, 1, CONTEXT_SD, rate, rate, judged=False)

    def draw(rng: np.random.Generator, runs: int) -> Iterator[Replay]:
        sides, _ = draw_tables(cell, rng, runs)
        for run in range(runs):
            deploy = sides[1].mean[run].astype(float)
            truncated = (deploy == 1) & (rng.random(deploy.shape) < lost)
            yield Replay(test=sides[0].mean[run], deploy=(np.where(truncated, 0.0, deploy),), truncated=truncated)

    return World(
        name=f"{lost:.0%} of the high scores of deployment truncated to 0 ({lost * rate:.0%} of its responses)",
        design=ContextDesign.RANDOM,
        tasks=tasks,
        contexts=(contexts, contexts),
        phi_test=rate,
        phi_deploy=(rate,),
        draw=draw,
        broken="unequal truncation",
        named_by="the accounting condition: best and worst case must agree",
    )


def build_opposed_world(design: ContextDesign, *, tasks: int = 20, contexts: int = 5, share: float = 0.12) -> World:
    """Tasks that score in the test are just those that do not in deployment."""

    def draw(rng: np.random.Generator, runs: int) -> Iterator[Replay]:
        for _ in range(runs):
            is_test = np.repeat(rng.random((tasks, 1)) < share, contexts, axis=1)
            yield Replay(test=is_test.astype(float), deploy=((~is_test).astype(float),))

    return World(
        name=f"{share:.0%} of the tasks score 1 in the test alone, the others in deployment alone",
        design=design,
        tasks=tasks,
        contexts=(contexts, contexts),
        phi_test=share,
        phi_deploy=(1 - share,),
        draw=draw,
    )


@cache
def find_own_center(rate: float) -> float:
    """Return the logit of a rate among tasks, drawn contexts and cells."""
    return find_center(rate, np.zeros(1), math.hypot(TASK_SD, CROSSED_SD, CONTEXT_SD))


def draw_side(rng: np.random.Generator, logit: Floats, contexts: int, *, is_sampled: bool = True) -> Floats:
    """Return binary scores [task, context] around *logit*, which is [task, 1] or [task, context]."""
    effect = rng.normal(0, CONTEXT_SD, (1, contexts)) if is_sampled else 0.0
    share = expit(logit + effect + rng.normal(0, CROSSED_SD, (len(logit), contexts)))
    return (rng.random(share.shape) < share).astype(float)


# --- From arrays to score tables ---


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layout:
    """The columns that all replays of one world share."""

    table: ScoreTable

    def fill(self, replay: Replay) -> ScoreTable:
        """Return the table of one replay."""
        score = np.concatenate([side.ravel() for side in (replay.test, *replay.deploy)]).astype(float)
        codes = np.zeros(len(score), dtype=np.int32)
        if replay.truncated is not None:
            codes[replay.test.size : replay.test.size + replay.truncated.size] = replay.truncated.ravel()
        return replace(self.table, score=score, truncated=TextColumn(codes=codes, labels=(NO, YES)))


def build_layout(world: World) -> Layout:
    """Return the layout of the tables of *world*: one response for each task, context and side."""
    test, deploy = (find_places(world, contexts) for contexts in world.contexts)
    sides = [("test", None, test), *(("deploy", number, deploy) for number in range(len(world.phi_deploy)))]
    rows = list(
        chain.from_iterable(
            ((f"t{task:04}", arm, f"{arm}-{number}-{context:05}", None if number is None else f"spec-{number}") for task, context in places)
            for arm, number, places in sides
        )
    )
    task, arm, context, spec = (label(column) for column in zip(*rows, strict=True))
    none = label([None] * len(rows))
    size = world.family_size
    family = None if size is None else label([f"f{int(row[0][1:]) // size:04}" for row in rows])
    return Layout(
        table=ScoreTable(
            task=task,
            arm=arm,
            context=context,
            spec=spec if len(world.phi_deploy) > 1 else none,
            sample=label(["0"] * len(rows)),
            excluded=none,
            family=family,
            score=np.zeros(len(rows)),
            low=0.0,
            high=1.0,
            files=(TableFile(name="drawn", sha256="0" * 64, rows=len(rows)),),
        )
    )


def find_places(world: World, contexts: int) -> list[tuple[int, int]]:
    cell = Cell(world.design.value, world.tasks, contexts, contexts, 1, 0.0, 0.5, 0.5, judged=False)
    task, context = find_codes(cell, contexts)
    return list(zip(task.tolist(), context.tolist(), strict=True))


def label(texts: list[str | None] | tuple[str | None, ...]) -> TextColumn:
    """Codes in the sorted order of the texts."""
    labels = tuple(sorted({text for text in texts if text is not None}))
    place = {text: code for code, text in enumerate(labels)}
    codes = [-1 if text is None else place[text] for text in texts]
    return TextColumn(codes=np.array(codes, dtype=np.int32), labels=labels)
