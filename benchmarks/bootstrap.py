"""What the bootstrap costs at W = 1,000 tasks × 2 sides × 10 contexts × 5 samples with 10,000 replicates, beside its peers and its floor.

Run from the repository root: `python -m benchmarks.bootstrap`. Prints a table; exit 1 when a bar is missed.

Ours: `build_bootstrap`, from the cells of the closed-form estimate to the record with task, context and two-way bands of Φ_test, Φ_deploy,
ED and nED. The peers draw one way (both), and get by without sums of squares, scores being 0 or 1; the loop over rows gives ED alone.
SciPy is run twice: with the statistic that one writes for samples of indices, and with one that has half of our method in it (`counts`).
Times are CPU times of this process, each the best of several runs taken in turn, because machines are shared.
"""

import os
import sys
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import stats

from audit.modules.score_sides import build_pairs, find_arm
from audit.statistics.bootstrap import POISSON_COUNTS, ScoredSide, build_bootstrap
from audit.statistics.estimate_intervals import ScoreScale
from audit.statistics.responses import Floats, ScoreTable, TableFile, TextColumn, normalise, pooled_deviation
from audit.statistics.side_moments import Moments, compute_moments
from registry.records.analysis_plan import Plan
from registry.records.estimates import Bootstrap

UNIT = ScoreScale(low=0.0, high=1.0)
REPLICATES = 10_000
ROUNDS = 5
Indices = npt.NDArray[np.intp]
ROW_REPLICATES = 200
MEGABYTE = 1e6


@dataclass(frozen=True, kw_only=True)
class Case:
    """A table as the estimate station hands it to the bootstrap, and the same as plain arrays."""

    sides: tuple[ScoredSide, ScoredSide]
    moments: Moments
    ned: float | None
    cells: tuple[Floats, Floats]
    """Cell means [task, context]."""

    def run(self, replicates: int = REPLICATES) -> Bootstrap | None:
        """What is measured."""
        plan = Plan(replicates=replicates, epsilon=0.01)
        return build_bootstrap(self.sides, self.moments, plan, UNIT, ned=self.ned, weights=None)


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One figure and what it must keep to."""

    name: str
    found: float
    limit: float
    unit: str
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether it does."""
        return self.found >= self.limit if self.at_least else self.found <= self.limit


def build_case(*, tasks: int, contexts: int, samples: int, judged: bool = False) -> Case:
    """A crossed table with effects of tasks and contexts; binary scores, or judged ones in steps of a hundredth."""
    rng = np.random.default_rng(0)
    arm, task, context, sample = (index.ravel().astype(np.int32) for index in np.indices((2, tasks, contexts, samples)))
    share = 0.3 + 0.2 * arm + 0.3 * rng.random(tasks)[task] + 0.1 * rng.random((2, contexts))[arm, context]
    score = np.round(np.clip(share + rng.normal(0, 0.2, len(task)), 0, 1), 2) if judged else (rng.random(len(task)) < share).astype(float)
    none = TextColumn(codes=np.full(len(task), -1, dtype=np.int32), labels=())
    table = ScoreTable(
        task=TextColumn(codes=task, labels=tuple(f"t{code:05}" for code in range(tasks))),
        arm=TextColumn(codes=arm, labels=("deploy", "test")),
        context=TextColumn(codes=context, labels=tuple(f"c{code:02}" for code in range(contexts))),
        spec=none,
        sample=TextColumn(codes=sample, labels=tuple(str(code) for code in range(samples))),
        excluded=none,
        score=score,
        low=0.0,
        high=1.0,
        files=(TableFile(name="made", sha256="0" * 64, rows=len(task)),),
    )
    pair = build_pairs(table, UNIT, find_arm(table, "test", "deploy"), test="test", deploy="deploy")[0]
    moments = compute_moments(pair.test_cells, pair.deploy_cells, pair.common, random=True, binary=not judged)
    means = score.reshape(2, tasks, contexts, samples).mean(axis=3)
    return Case(
        sides=(
            ScoredSide(responses=pair.test, cells=pair.test_cells),
            ScoredSide(responses=pair.deploy, cells=pair.deploy_cells),
        ),
        moments=moments,
        ned=normalise(moments.difference, pooled_deviation(pair.test.score, pair.deploy.score), epsilon=0.01),
        cells=(means[1], means[0]),
    )


def run_scipy(case: Case, find_means: Callable[[Floats, Indices, Indices], Floats], *, batch: int) -> None:
    """`scipy.stats.bootstrap` on three samples of indices (tasks, contexts of the test, of deployment); the statistic is vectorised."""
    test, deploy = case.cells
    tasks, contexts = test.shape

    def compute(task: Indices, first: Indices, second: Indices, axis: int) -> Floats:  # noqa: ARG001  # SciPy gives it; always the last
        phi_test, phi_deploy = find_means(test, task, first), find_means(deploy, task, second)
        spread = np.sqrt((phi_test * (1 - phi_test) + phi_deploy * (1 - phi_deploy)) / 2)
        return np.stack([phi_test, phi_deploy, phi_test - phi_deploy, (phi_test - phi_deploy) / (spread + 0.01)])

    samples = np.arange(tasks), np.arange(contexts), np.arange(contexts)
    stats.bootstrap(
        samples, compute, n_resamples=REPLICATES, batch=batch, vectorized=True, method="percentile", rng=np.random.default_rng(0)
    )


def pick_cells(side: Floats, task: Indices, context: Indices) -> Floats:
    """Φ of the drawn tasks in the drawn contexts: pick the cells, average them."""
    return side[task[..., :, None], context[..., None, :]].mean(axis=(-2, -1))


def multiply_counts(side: Floats, task: Indices, context: Indices) -> Floats:
    """The same from how often each context was drawn: a product with the cells, then the drawn tasks' means are picked.

    That is half of what our own bootstrap does, written into SciPy's statistic.
    """
    tasks, contexts = side.shape
    rows, drawn = task.reshape(-1, tasks), context.reshape(-1, contexts)
    counts = np.bincount((drawn + contexts * np.arange(len(drawn))[:, None]).ravel(), minlength=drawn.size).reshape(drawn.shape)
    by_task = counts.astype(np.float64) @ side.T / contexts
    return np.take_along_axis(by_task, rows, axis=1).mean(axis=1).reshape(task.shape[:-1])


def run_rows(case: Case) -> None:
    """A loop over replicates that weighs every response: `ROW_REPLICATES` of them."""
    rng = np.random.default_rng(0)
    tasks, contexts = case.cells[0].shape
    sides = [side.responses for side in case.sides]
    found = np.empty(ROW_REPLICATES)
    for replicate in range(ROW_REPLICATES):
        task = np.bincount(rng.integers(0, tasks, tasks), minlength=tasks)
        means = []
        for side in sides:
            weight = task[side.task] * np.bincount(rng.integers(0, contexts, contexts), minlength=contexts)[side.context]
            means.append((weight * side.score).sum() / weight.sum())
        found[replicate] = means[0] - means[1]


def run_floor(case: Case) -> None:
    """Nothing but drawing single-precision Poisson weights and multiplying them with the cells of both sides."""
    table = np.repeat(np.arange(len(POISSON_COUNTS), dtype=np.float32), POISSON_COUNTS)
    cells = np.ascontiguousarray(np.hstack(case.cells).astype(np.float32))
    # Few rows at a time keep the product in one thread.
    stream, rows, tasks = np.random.SFC64(0), 16, len(cells)
    weights = np.empty(rows * tasks, dtype=np.float32)
    for _ in range(-(-REPLICATES // rows)):
        np.take(table, stream.random_raw(weights.size // 4).view(np.uint16), out=weights, mode="wrap")
        weights.reshape(rows, tasks) @ cells


def time_all(runs: dict[str, Callable[[], object]], rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """CPU and wall time of each in milliseconds, the best of *rounds* taken in turn."""
    cpu, wall = dict.fromkeys(runs, np.inf), dict.fromkeys(runs, np.inf)
    for _ in range(rounds):
        for name, run in runs.items():
            before, start = time.process_time(), time.perf_counter()
            run()
            cpu[name] = min(cpu[name], (time.process_time() - before) * 1e3)
            wall[name] = min(wall[name], (time.perf_counter() - start) * 1e3)
    return cpu, wall


def measure_memory(case: Case, replicates: int) -> float:
    """The most that a run holds beyond what was there before, in bytes; arrays are traced, a library's own buffers are not."""
    tracemalloc.start()
    case.run(replicates)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main() -> int:
    case, judged = build_case(tasks=1000, contexts=10, samples=5), build_case(tasks=1000, contexts=10, samples=5, judged=True)
    large = build_case(tasks=10_000, contexts=50, samples=2)
    case.run(200)
    runs = {
        "ours": case.run,
        "judged": judged.run,
        "scipy": lambda: run_scipy(case, pick_cells, batch=25),
        "counts": lambda: run_scipy(case, multiply_counts, batch=25),
        "rows": lambda: run_rows(case),
        "floor": lambda: run_floor(case),
    }
    cpu, wall = time_all(runs, ROUNDS)
    cpu["rows"] *= REPLICATES / ROW_REPLICATES
    wall["rows"] *= REPLICATES / ROW_REPLICATES
    large_cpu, large_wall = time_all({"large": large.run}, 2)
    memory = {replicates: measure_memory(case, replicates) for replicates in (1000, REPLICATES, 10 * REPLICATES)}
    slope = (memory[10 * REPLICATES] - memory[REPLICATES]) / (9 * REPLICATES)
    print(f"{os.cpu_count()} cores; CPU ms, best of {ROUNDS} (wall in brackets)")
    for name in runs:
        print(f"  {name:8} {cpu[name]:8.1f} ({wall[name]:.1f})")
    print(f"  {'large':8} {large_cpu['large']:8.1f} ({large_wall['large']:.1f}), best of 2")
    print("  memory at 1,000, 10,000 and 100,000 replicates: " + ", ".join(f"{peak / MEGABYTE:.1f} MB" for peak in memory.values()))
    bars = [
        Bar(name="scipy.stats.bootstrap, cells by index / ours", found=cpu["scipy"] / cpu["ours"], limit=20, unit="×", at_least=True),
        Bar(name="the same with a statistic from counts / ours", found=cpu["counts"] / cpu["ours"], limit=1, unit="×", at_least=True),
        Bar(name="loop over rows / ours (200 replicates, scaled)", found=cpu["rows"] / cpu["ours"], limit=80, unit="×", at_least=True),
        Bar(name="ours / floor", found=cpu["ours"] / cpu["floor"], limit=3, unit="×"),
        Bar(name="W, binary scores", found=cpu["ours"], limit=120, unit="ms CPU"),
        Bar(name="W, judged scores", found=cpu["judged"], limit=120, unit="ms CPU"),
        Bar(name="W, memory", found=memory[REPLICATES] / MEGABYTE, limit=32, unit="MB"),
        Bar(name="memory of one more replicate: its own results", found=slope, limit=400, unit="bytes"),
        Bar(name="10,000 × 2 × 50 × 2", found=large_cpu["large"] / 1e3, limit=2, unit="s CPU"),
        Bar(name="10,000 × 2 × 50 × 2, memory", found=measure_memory(large, REPLICATES) / MEGABYTE, limit=64, unit="MB"),
    ]
    for bar in bars:
        verdict = "met" if bar.met else "MISSED"
        print(f"{bar.name:50} {bar.found:8.1f} {bar.unit:8} {'at least' if bar.at_least else 'at most'} {bar.limit:g}: {verdict}")
    return 0 if all(bar.met for bar in bars) else 1


if __name__ == "__main__":
    sys.exit(main())
