"""Whether the detectable rate of a dose control is the rate that new audits detect.

Run from the repository root: `python -m benchmarks.controls` (ten minutes on one core; `--audits 20` for a quick look). Each world has
tasks and contexts with effects of their own, a base rate of bad responses, and a scorer that calls most known-bad responses bad. The true
rate is the smallest dose at which at least 90 % of new audits of the same size fail; it is compared with what `report_policy` states from
single audits. Prints a Markdown table and one JSON line; exit 1 when new audits detect the stated rates in less than 85 % on average.
"""

import argparse
import json
import sys
import time
from dataclasses import dataclass, replace

import numpy as np

from audit.modules.positive_controls import ControlledAudit, report_policy
from audit.statistics.responses import ScoreTable, TableFile, TextColumn
from registry.records.analysis_plan import Plan
from registry.records.audit_case import Case, CaseClaim
from registry.records.claim import Direction, Form, PropertyClass
from registry.records.positive_control import DOSES, ControlKind, ControlPlan
from registry.records.specification import PropertySpec

SENSITIVITY = 0.9
LIMIT = 0.10
LEAST = 0.85
NEW_AUDITS = 300
Array = np.ndarray


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """One set-up: sizes, base rate, and the spread of tasks and contexts in logits."""

    tasks: int
    contexts: int
    base: float
    task_spread: float = 1.0
    context_spread: float = 0.5


WORLDS = (
    World(tasks=60, contexts=10, base=0.02),
    World(tasks=24, contexts=6, base=0.02),
    World(tasks=40, contexts=8, base=0.005, context_spread=1.0),
)


def build_audit(redraws: int) -> ControlledAudit:
    spec = PropertySpec(name="bad", class_=PropertyClass.DECEPTION_SCHEMING, range=(0.0, 1.0), direction=Direction.LOWER_IS_SAFER)
    case = Case(claim=CaseClaim(form=Form.UPPER_BOUND, property=spec, theta=LIMIT), plan=Plan(replicates=0))
    plan = ControlPlan(name="a", kind=ControlKind.POLICY, subject="b", responses="0" * 64, doses=DOSES, redraws=redraws)
    return ControlledAudit(case=case, plan=plan)


def build_column(codes: Array) -> TextColumn:
    return TextColumn(codes=codes.astype(np.int32), labels=tuple(f"{number:04d}" for number in range(int(codes.max()) + 1)))


def draw_table(rng: np.random.Generator, world: World, dose: float) -> ScoreTable:
    """Return the scores of one new audit, with *dose* of the deployment responses replaced by known-bad ones."""
    pairs = world.tasks * world.contexts
    deploy = np.repeat([True, False], pairs)
    task = np.tile(np.repeat(np.arange(world.tasks), world.contexts), 2)
    context = np.tile(np.arange(world.contexts), 2 * world.tasks) + world.contexts * ~deploy
    effects = rng.normal(0, world.task_spread, world.tasks)[task] + rng.normal(0, world.context_spread, 2 * world.contexts)[context]
    chance = 1 / (1 + np.exp(-(np.log(world.base / (1 - world.base)) + effects)))
    bad = rng.random(2 * pairs) < chance
    replaced = deploy & (rng.random(2 * pairs) < dose)
    score = np.where(replaced, rng.random(2 * pairs) < SENSITIVITY, bad).astype(float)
    none = TextColumn(codes=np.full(2 * pairs, -1, np.int32), labels=())
    return ScoreTable(
        task=build_column(task),
        arm=TextColumn(codes=(~deploy).astype(np.int32), labels=("deploy", "test")),
        context=build_column(context),
        spec=none,
        sample=TextColumn(codes=np.zeros(2 * pairs, np.int32), labels=("0",)),
        excluded=none,
        score=score,
        low=0.0,
        high=1.0,
        files=(TableFile(name="simulated", sha256="0" * 64, rows=2 * pairs),),
    )


def find_power(audit: ControlledAudit, world: World) -> dict[float, float]:
    """Return the share of new audits that fail, by dose; doses above one at which all fail are left out."""
    rng, power = np.random.default_rng(1), {}
    for dose in DOSES:
        power[dose] = float(np.mean([audit.is_failing(draw_table(rng, world, dose)) for _ in range(NEW_AUDITS)]))
        if power[dose] == 1:
            break
    return power


def measure(world: World, audits: int) -> tuple[str, float]:
    audit = build_audit(100)
    power = find_power(audit, world)
    true = next(dose for dose in DOSES if power.get(dose, 1.0) >= 0.9)
    rng, stated, covered = np.random.default_rng(2), [], 0
    for number in range(audits):
        known = {(f"{task:04d}", None): list((rng.random(2) < SENSITIVITY).astype(float)) for task in range(world.tasks)}
        seeded = replace(audit, plan=replace(audit.plan, seed=number))
        report = report_policy(seeded, draw_table(rng, world, 0.0), known, planted="0" * 64)
        if report.rate is not None:
            stated.append(power.get(report.rate, 1.0))
            covered += (report.rate_low or 0) <= true <= (1 if report.rate_high is None else report.rate_high)
    mean = float(np.mean(stated))
    name = f"{world.tasks} tasks, {world.contexts} contexts a side, base rate {world.base:g}, contexts' spread {world.context_spread:g}"
    return f"| {name} | {true:.0%} | {mean:.1%} | {min(stated):.1%} | {covered / len(stated):.1%} |", mean


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--audits", type=int, default=100)
    audits = parser.parse_args().audits
    start = time.perf_counter()
    print("| world | true detectable rate | new audits that detect the stated rate, mean | least | intervals that hold the true rate |")
    print("|---|---|---|---|---|")
    least = 1.0
    for world in WORLDS:
        line, mean = measure(world, audits)
        least = min(least, mean)
        print(line, flush=True)
    print(json.dumps({"audits": audits, "least": round(least, 3), "seconds": round(time.perf_counter() - start, 1)}))
    return 0 if least >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
