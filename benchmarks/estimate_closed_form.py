"""How long the closed-form estimate takes at 1,000 tasks × 2 sides × 10 contexts × 5 samples: at most 10 ms.

Run from the repository root: `python -m benchmarks.estimate_closed_form`. Prints one JSON line; exit 1 above the bar.
"""

import json
import sys
import time

import numpy as np

from audit.estimate import estimate
from audit.statistics.scores import Labelled, ScoreTable, TableFile
from registry.records.plan import Plan

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
        task=Labelled(codes=task, labels=tuple(f"t{code:04}" for code in range(TASKS))),
        arm=Labelled(codes=arm, labels=("deploy", "test")),
        context=Labelled(codes=context, labels=tuple(f"c{code:02}" for code in range(CONTEXTS))),
        spec=Labelled(codes=none, labels=()),
        sample=Labelled(codes=sample, labels=tuple(str(code) for code in range(SAMPLES))),
        excluded=Labelled(codes=none, labels=()),
        score=(rng.random(len(task)) < share).astype(np.float64),
        low=0.0,
        high=1.0,
        files=(TableFile(name="made", sha256="0" * 64, rows=len(task)),),
    )


def main() -> int:
    table = build_scores()
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        result = estimate(table, Plan(), range_=(0, 1))
        times.append((time.perf_counter() - start) * 1e3)
    median = sorted(times)[RUNS // 2]
    figures = {"rows": table.rows, "median_ms": round(median, 2), "fastest_ms": round(min(times), 2), "bar_ms": BAR_MS}
    print(json.dumps(figures | {"ed": result.specs[0].ed.value}))
    return 0 if median <= BAR_MS else 1


if __name__ == "__main__":
    sys.exit(main())
