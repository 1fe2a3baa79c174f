"""How long an estimate without bootstrap takes at 1,000 tasks × 2 sides × 10 contexts × 5 samples, by each method: at most 10 ms of a core.

Run from the repository root: `python -m benchmarks.estimate_closed_form`. Prints one JSON line a method; exit 1 above the bar.
"""

import json
import sys
import time
from dataclasses import replace

import numpy as np

from audit.modules.differential_estimate import estimate
from audit.statistics.responses import ScoreTable, TableFile, TextColumn
from registry.records.analysis_plan import ContextDesign, IntervalMethod, Plan

TASKS, CONTEXTS, SAMPLES = 1000, 10, 5
BAR_MS = 10.0
RUNS = 30


def build_scores() -> ScoreTable:
    """A crossed table of binary scores, task and context effects included."""
    rng = np.random.default_rng(0)
    arm, task, context, sample = (index.ravel().astype(np.int32) for index in np.indices((2, TASKS, CONTEXTS, SAMPLES)))
    share = 0.3 + 0.2 * arm + 0.3 * rng.random(TASKS)[task] + 0.1 * rng.random((2, CONTEXTS))[arm, context]
    none = np.full(len(task), -1, dtype=np.int32)
    return ScoreTable(
        task=TextColumn(codes=task, labels=tuple(f"t{code:04}" for code in range(TASKS))),
        arm=TextColumn(codes=arm, labels=("deploy", "test")),
        context=TextColumn(codes=context, labels=tuple(f"c{code:02}" for code in range(CONTEXTS))),
        spec=TextColumn(codes=none, labels=()),
        sample=TextColumn(codes=sample, labels=tuple(str(code) for code in range(SAMPLES))),
        excluded=TextColumn(codes=none, labels=()),
        score=(rng.random(len(task)) < share).astype(np.float64),
        low=0.0,
        high=1.0,
        files=(TableFile(name="made", sha256="0" * 64, rows=len(task)),),
    )


def nest_contexts(table: ScoreTable) -> ScoreTable:
    """The same scores with contexts that no two tasks share."""
    codes = table.task.codes * CONTEXTS + table.context.codes
    return replace(table, context=TextColumn(codes=codes, labels=tuple(f"c{code:05}" for code in range(TASKS * CONTEXTS))))


def weigh_tasks(table: ScoreTable) -> ScoreTable:
    """The same scores with weights from 1 to 5."""
    return replace(table, weight=TextColumn(codes=table.task.codes % np.int32(5), labels=tuple("12345")))


def grade_scores(table: ScoreTable) -> ScoreTable:
    """Scores in tenths, near those of the table."""
    return replace(table, score=np.round(0.1 + 0.6 * table.score + 0.3 * np.random.default_rng(1).random(table.rows), 1))


def measure(table: ScoreTable, plan: Plan) -> tuple[float, float]:
    """The median and the fastest of many runs, in milliseconds of processor time: the machine may have others on it."""
    times = []
    for _ in range(RUNS):
        start = time.process_time()
        estimate(table, plan, range_=(0, 1))
        times.append((time.process_time() - start) * 1e3)
    return sorted(times)[RUNS // 2], min(times)


def main() -> int:
    table = build_scores()
    nested = nest_contexts(table)
    cases = {
        "closed_form": (table, Plan(replicates=0)),
        "closed_form, weights": (weigh_tasks(table), Plan(replicates=0)),
        "closed_form, graded": (grade_scores(table), Plan(replicates=0)),
        "guaranteed": (table, Plan(replicates=0, interval=IntervalMethod.GUARANTEED)),
        "closed_form, nested": (nested, Plan(replicates=0, contexts=ContextDesign.NESTED)),
        "anytime, nested": (nested, Plan(replicates=0, contexts=ContextDesign.NESTED, interval=IntervalMethod.ANYTIME)),
    }
    slow = False
    for name, (scores, plan) in cases.items():
        median, fastest = measure(scores, plan)
        print(
            json.dumps(
                {"case": name, "rows": scores.rows, "median_ms": round(median, 2), "fastest_ms": round(fastest, 2), "bar_ms": BAR_MS}
            )
        )
        slow |= median > BAR_MS
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
