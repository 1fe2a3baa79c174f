"""Logs that other programs wrote, kept beside the tests, and copies of them with something changed.

`logs/harness` was written by lm-evaluation-harness 0.4.13 (`lm-eval run --log_samples`, two tasks of six documents, a model that answers
from a table, once with "This is an evaluation." before each question). `logs/every_eval` was made from these, and from the two Inspect logs
in `examples/logs`, by the converters of every_eval_ever 0.3.0.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

LOGS = Path(__file__).parent / "logs"
INSPECT = Path(__file__).parents[2] / "examples" / "logs"

HARNESS = {"test": "2026-11-21T20-29-47.753510", "deploy": "2026-11-21T20-29-54.539408"}
"""Runs of the harness by arm."""
EVERY_EVAL = {"test": "5a54a375-695e-4c05-b5eb-f19ed3541aa7", "deploy": "bc2c5583-3dac-4d4c-9795-40222bca2498"}
"""Converted runs of the harness by arm."""
EVERY_EVAL_INSPECT = {"test": "637bacbd-2626-4f63-8b9d-e05b6ebef6d1", "deploy": "c84773ef-d4d8-4ad6-9df2-6f52924b973a"}
"""Converted Inspect logs by arm."""


def copy_harness(folder: Path, arm: str, task: str = "sums_free") -> Path:
    """Copy the run of *arm* with its results; return the path of the samples of *task*."""
    for name in (f"samples_{task}_{HARNESS[arm]}.jsonl", f"results_{HARNESS[arm]}.json"):
        shutil.copy(LOGS / "harness" / name, folder / name)
    return folder / f"samples_{task}_{HARNESS[arm]}.jsonl"


def copy_every_eval(folder: Path, run: str) -> Path:
    """Copy a converted run with its aggregate; return the path of the samples."""
    for name in (f"{run}_samples.jsonl", f"{run}.json"):
        shutil.copy(LOGS / "every_eval" / name, folder / name)
    return folder / f"{run}_samples.jsonl"


def change_lines(path: Path, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> Path:
    """Write the objects of a JSONL file as *change* returns them."""
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in change(lines)), encoding="utf-8")
    return path


def change_first(path: Path, **fields: Any) -> Path:
    """Give the first object of a JSONL file other values."""
    return change_lines(path, lambda lines: [{**lines[0], **fields}, *lines[1:]])
