"""How often the closed-form intervals hold the truth, over the grid of designs that statistics.md section 5 demands.

Run from the repository root: `python -m benchmarks.coverage` (a quarter of an hour of one core; `--processes 2` shares it out). `--table
FILE` writes the Markdown table that is kept as COVERAGE.md, `--cells FILE` one CSV line per cell of the grid, `--part 0.05` runs a
twentieth of it; `--worlds` keeps the grid that stands in the table and draws the other worlds anew, each with the whole number of replays.
Prints one JSON line; exit 1 when a demand is missed by more than chance (2.6 standard errors).

The grid, and what is drawn and judged in a cell, is in `benchmarks.coverage_grid`.
"""

import argparse
import json
import math
import os
import platform
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from audit.statistics.design_remarks import ENOUGH_TASKS
from audit.statistics.side_moments import ENOUGH_CONTEXTS
from benchmarks.coverage_grid import (
    CERTAIN,
    CONFIRMATION,
    CONTEXT_SDS,
    CONTEXTS,
    CROSSED_SD,
    DEMANDS,
    GUARANTEED_RUNS,
    MANY_TASKS,
    NEAR,
    RATES,
    RUBRIC,
    SAMPLES,
    SCREENING,
    SETTLEMENT,
    TASK_SD,
    TASKS,
    Cell,
    Result,
    list_cells,
    list_guaranteed_cells,
    list_misses,
    simulate,
)
from benchmarks.coverage_worlds import RUNS, WORLDS_HEAD, Held, list_worlds, measure, render_worlds
from benchmarks.verdict_worlds import World
from registry.records.analysis_plan import IntervalMethod


def run(cells: Sequence[Cell], *, processes: int) -> dict[Cell, Result]:
    """Return the result of each cell, from its last drawing alone."""
    results = simulate_all(cells, processes=processes, runs=SCREENING, stage=0)
    for stage, runs, margin in ((1, CONFIRMATION, NEAR), (2, SETTLEMENT, 0.0)):
        short = [cell for cell, result in results.items() if any(d.applies(cell) and d.find_shortfall(result) > -margin for d in DEMANDS)]
        results |= simulate_all(short, processes=processes, runs=runs, stage=stage)
    return results


def simulate_all(
    cells: Sequence[Cell], *, processes: int, runs: int, stage: int, interval: IntervalMethod = IntervalMethod.CLOSED_FORM
) -> dict[Cell, Result]:
    work = partial(simulate, runs=runs, stage=stage, interval=interval)
    if processes == 1:
        return {cell: work(cell) for cell in cells}
    with ProcessPoolExecutor(processes) as pool:
        return dict(zip(cells, pool.map(work, cells, chunksize=8), strict=True))


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
    yield from render_widths(results)
    yield f"\nHighest false inversion of an at-most claim (interval above θ) {above:.1%}, of an at-least claim (below θ) {below:.1%}."


def find_median_over_oracle(results: Iterable[Result]) -> float:
    """Return the median of width over oracle, cells in which ED did not vary left out."""
    figures = [result.over_oracle for result in results if not math.isnan(result.over_oracle)]
    return statistics.median(figures) if figures else math.nan


def render_widths(results: dict[Cell, Result]) -> Iterator[str]:
    yield "\n**Width over oracle**, median over the cells where a verdict is possible (goal: at most 1.25):"
    able = {cell: result for cell, result in results.items() if cell.allows_verdict}
    groups = {"all": list(able.values())}
    groups |= {design: [result for cell, result in able.items() if cell.design == design] for design in CONTEXTS}
    yield ", ".join(f"{name} {find_median_over_oracle(group):.2f}" for name, group in groups.items()) + "."


def render_misses(results: dict[Cell, Result]) -> Iterator[str]:
    """One line for each place (demand, design, contexts, tasks) with a cell that misses, and its worst cell in full."""
    if not any(list_misses(demand, results) for demand in DEMANDS):
        yield "Nowhere."
        return
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
    yield (
        "| C test/deploy | T | ED | Φ_test | Φ_deploy | false inversion above / below, highest | width of ED | over oracle | of Φ_deploy "
        "| refused |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for (first, second, tasks), group in sorted(groups.items()):
        refused = f"{statistics.mean(result.refused for result in group):.0%}"
        if any(math.isnan(result.ed) for result in group):
            yield f"| {first}/{second} | {tasks} | – | – | – | – | – | – | – | {refused} |"
            continue
        columns = [[getattr(result, name) for result in group] for name in ("ed", "phi_test", "phi_deploy")]
        coverage = " | ".join(f"{100 * min(column):.1f} / {100 * statistics.median(column):.1f}" for column in columns)
        above, below = (100 * max(getattr(result, name) for result in group) for name in ("inverted_above", "inverted_below"))
        width, width_deploy = (statistics.median(getattr(result, name) for result in group) for name in ("width", "width_deploy"))
        widths = f"{width:.3f} | {find_median_over_oracle(group):.2f} | {width_deploy:.3f}"
        yield f"| {first}/{second} | {tasks} | {coverage} | {above:.1f} / {below:.1f} | {widths} | {refused} |"


def render_guaranteed(results: dict[Cell, Result]) -> Iterator[str]:
    yield "\n## Guaranteed intervals\n\nCoverage in %, lowest cell / all cells of a line; median widths."
    sds = f"{CONTEXT_SDS[0]:g} and {CONTEXT_SDS[-1]:g}"
    yield f"{len(results)} cells of {GUARANTEED_RUNS:,} tables each: one sample a cell, context SD {sds}, all rates, binary and judged.\n"
    groups: dict[tuple[str, int, int, int], list[Result]] = defaultdict(list)
    for cell, result in results.items():
        groups[cell.place].append(result)
    yield "| design | C test/deploy | T | ED | Φ_test | Φ_deploy | width of ED | of Φ_deploy |"
    yield "|---|---|---|---|---|---|---|---|"
    for (design, tasks, first, second), group in groups.items():
        columns = [[getattr(result, name) for result in group] for name in ("ed", "phi_test", "phi_deploy")]
        coverage = " | ".join(f"{100 * min(column):.1f} / {100 * statistics.mean(column):.2f}" for column in columns)
        widths = " | ".join(f"{statistics.median(getattr(result, name) for result in group):.3f}" for name in ("width", "width_deploy"))
        yield f"| {design} | {first}/{second} | {tasks} | {coverage} | {widths} |"


def render_table(
    results: dict[Cell, Result], guaranteed: dict[Cell, Result], worlds: dict[World, Held], *, runs: int, part: float, cpu_s: float
) -> str:
    parts = [render_head(results, part=part, cpu_s=cpu_s), "## Demands\n", *render_demands(results)]
    parts += ["\n## Demands missed for certain\n", *render_misses(results)]
    for design in CONTEXTS:
        parts += [
            f"\n## {design.capitalize()} contexts\n\nCoverage in %, lowest / median over the cells of a line; median widths.\n",
            *render_groups(results, design),
        ]
    return "\n".join([*parts, *render_guaranteed(guaranteed), "", *render_worlds(worlds, runs=runs)]) + "\n"


def render_head(results: dict[Cell, Result], *, part: float, cpu_s: float) -> str:
    again, settled = (sum(result.runs == runs for result in results.values()) for runs in (CONFIRMATION, SETTLEMENT))
    rates = ", ".join(f"{first:g} → {second:g}" for first, second in RATES)
    thinned = "" if part == 1 else f" --part {part:g}"
    note = "" if part == 1 else "This is a thinned grid. Without `--part` the whole grid is simulated.\n"
    errors = [f"{math.sqrt(0.95 * 0.05 / runs):.1%}" for runs in (SCREENING, CONFIRMATION, SETTLEMENT)]
    return f"""# Coverage of intervals

{describe_machine(cpu_s)}.
Made by `python -m benchmarks.coverage --table benchmarks/COVERAGE.md{thinned}`; `--cells FILE` writes each of the {len(results):,} cells.
{note}Seeded, so a second run gives the same figures. Closed-form interval, nominal level 95 %.

**Grid.** Design, contexts a side (C) and tasks (T) as listed, each crossed with samples a cell {SAMPLES}
(at {MANY_TASKS} tasks {SAMPLES[0]} only), context SD {CONTEXT_SDS} on
the logit, Φ_test → Φ_deploy {rates}, and scores
that are binary or judged (share of {RUBRIC} rubric items). Tasks differ with SD {TASK_SD:g} on the logit, alike on both sides; each cell
departs from its task and context with SD {CROSSED_SD:g}. *Random*: contexts are sampled and crossed with tasks.
*Fixed*: contexts are normal quantiles and are the estimand. *Nested*: each task has its own sample.
The true Φ and ED come from quadrature, never from the sample.

**Draws.** {SCREENING} tables a cell. A cell below a demand, or less than {NEAR:.0%} above it, was simulated again with
{CONFIRMATION:,} new tables, and only those count ({again:,} cells). If it was still below, {SETTLEMENT:,} more followed, and
only those count ({settled} cells).
The screening misses a cell that is truly a point below about once in ten.
Chance (one standard error at 95 %): {", ".join(errors)}. The lowest of the 72 cells of a line is therefore low
by chance, most of all Φ_test, which no demand simulates again. *Missed for certain*: by more than {CERTAIN} standard errors.
*Verdict possible*: T ≥ {ENOUGH_TASKS}, and C ≥ {ENOUGH_CONTEXTS} a side where contexts are random; elsewhere the audit shows the
interval and the verdict is inconclusive. *False inversion*: the interval of Φ_deploy lies wholly beyond θ = Φ_deploy; the worse direction.
"""


def describe_machine(cpu_s: float) -> str:
    """Return date, machine and time."""
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    return f"{datetime.now(UTC):%Y-%m-%d}, {machine}; {cpu_s / 60:.0f} minutes of one of them"


def write_cells(path: Path, results: dict[Cell, Result]) -> None:
    rows = [asdict(cell) | asdict(result) for cell, result in results.items()]
    path.write_text("\n".join(",".join(map(str, row)) for row in (rows[0], *(row.values() for row in rows))) + "\n", encoding="utf-8")


def redraw_worlds(table: Path) -> int:
    """Put the other worlds, each with the whole number of replays, in place of those in *table*; its grid stays."""
    grid, is_there, _ = table.read_text(encoding="utf-8").partition(f"{WORLDS_HEAD}\n")
    if not is_there:
        raise SystemExit(f"{table} has no section {WORLDS_HEAD!r}: run without --worlds")
    worlds = {world: measure(world, runs=RUNS) for world in list_worlds()}
    made = f"Drawn on {describe_machine(sum(os.times()[:4]))}, by the same command with `--worlds`."
    table.write_text(grid + "\n".join(render_worlds(worlds, runs=RUNS, made=made)) + "\n", encoding="utf-8")
    print(json.dumps({"worlds": len(worlds), "cpu_s": round(sum(os.times()[:4]))}))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--table", type=Path)
    parser.add_argument("--cells", type=Path)
    parser.add_argument("--part", type=float, default=1.0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--worlds", action="store_true")
    asked = parser.parse_args()
    if asked.worlds:
        return redraw_worlds(asked.table or parser.error("--worlds needs --table"))
    # One random context is refused whatever the world: two lines of it are enough.
    everything = [cell for cell in list_cells() if cell.has_population or cell.tasks in {TASKS[0], TASKS[-1]}]
    step = max(1, round(1 / asked.part))
    results = run(everything[::step], processes=asked.processes)
    guaranteed = simulate_all(
        list(list_guaranteed_cells())[::step], processes=asked.processes, runs=GUARANTEED_RUNS, stage=3, interval=IntervalMethod.GUARANTEED
    )
    runs = max(20, round(RUNS * min(1.0, 2 * asked.part)))
    worlds = {world: measure(world, runs=runs) for world in list_worlds()}
    cpu_s = sum(os.times()[:4])
    if asked.table:
        table = render_table(results, guaranteed, worlds, runs=runs, part=asked.part, cpu_s=cpu_s)
        asked.table.write_text(table, encoding="utf-8")
    if asked.cells:
        write_cells(asked.cells, results)
    missed = {demand.text: len(list_misses(demand, results)) for demand in DEMANDS}
    print(json.dumps({"cells": len(results), "cpu_s": round(cpu_s), "missed": missed}, ensure_ascii=False))
    return 1 if any(missed.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
