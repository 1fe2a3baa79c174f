"""How long reading and estimating 2,000,000 scores takes, and how much memory: under 1 GiB.

Run from the repository root: `python -m benchmarks.read_scores [csv|parquet|jsonl]`. Prints one JSON line; exit 1 above the bar.
"""

import json
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

TASKS, CONTEXTS, SAMPLES = 10_000, 20, 5
BAR_S = 20.0
BAR_MIB = 1024.0


def write_scores(path: Path) -> None:
    """Write the table in the format its name says; in a process of its own, so that its memory does not count."""
    import numpy as np  # noqa: PLC0415  # only the writing process needs it
    import pyarrow as pa  # noqa: PLC0415
    import pyarrow.csv  # noqa: PLC0415
    import pyarrow.parquet  # noqa: PLC0415

    rng = np.random.default_rng(0)
    arm, task, context, sample = (index.ravel() for index in np.indices((2, TASKS, CONTEXTS, SAMPLES)))
    columns = {
        "task_id": pa.array(np.array([f"task-{code:05}" for code in range(TASKS)])[task]),
        "arm": pa.array(np.array(["deploy", "test"])[arm]),
        "context_id": pa.array(np.array([f"context-{code:02}" for code in range(CONTEXTS)])[context]),
        "sample": pa.array(sample),
        "score": pa.array(np.round(rng.random(len(task)), 4)),
    }
    table = pa.table(columns)
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    elif path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        with path.open("w") as file:
            for batch in table.to_batches(max_chunksize=100_000):
                file.writelines(json.dumps(row) + "\n" for row in batch.to_pylist())


def measure(path: Path) -> None:
    """Read and estimate; print the figures and leave with the verdict."""
    from audit.modules.differential_estimate import estimate  # noqa: PLC0415  # loaded inside what is measured
    from audit.sources.score_table import read_table  # noqa: PLC0415
    from registry.records.analysis_plan import Plan  # noqa: PLC0415

    start = time.perf_counter()
    table = read_table([path], low=0, high=1)
    read_s = time.perf_counter() - start
    estimate(table, Plan(), range_=(0, 1))
    total_s = time.perf_counter() - start
    peak_mib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {"format": path.suffix[1:], "rows": table.rows, "read_s": round(read_s, 2), "total_s": round(total_s, 2)}
    print(json.dumps(figures | {"peak_mib": round(peak_mib), "bar_s": BAR_S, "bar_mib": BAR_MIB}), flush=True)
    sys.exit(0 if total_s <= BAR_S and peak_mib <= BAR_MIB else 1)


def main() -> int:
    kind = sys.argv[1] if len(sys.argv) > 1 else "csv"
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"scores.{kind}"
        for job in (write_scores, measure):
            process = spawn.Process(target=job, args=(path,))
            process.start()
            process.join()
        return process.exitcode or 0


if __name__ == "__main__":
    sys.exit(main())
