"""Make `windows.jsonl` from the recorded everyday answers of `examples/established`, by the split that README.md describes.

Run from this folder: `python make_windows.py`. The answers of each third of the 24 questions, in the order of their names, are one window;
each answer stands for one user.
"""

import json
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from audit.score.run_evidence import read_run

MONITOR = "MON-EXAMPLE-2026-0001-Q"
START = datetime(2026, 11, 24, tzinfo=UTC)
WINDOWS = 3


def build_windows(recording: Path) -> list[dict[str, object]]:
    """Return the windows that the run folder *recording* gives by the split."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"  # reading a run folder may write to it
        shutil.copytree(recording, folder)
        table = read_run(folder, low=0.0, high=1.0).table
    deploy = table.arm.find("deploy")
    tasks = table.task.labels
    sums = [[0, 0.0] for _ in range(WINDOWS)]
    for row in range(table.rows):
        if table.arm.codes[row] == deploy:
            window = sums[int(table.task.codes[row]) * WINDOWS // len(tasks)]
            window[0] += 1
            window[1] += float(table.score[row])
    return [
        {
            "schema": "caveat/monitor-batch/1",
            "monitor": MONITOR,
            "order": number,
            "from": f"{START + timedelta(days=number - 1):%Y-%m-%dT%H:%M:%SZ}",
            "to": f"{START + timedelta(days=number):%Y-%m-%dT%H:%M:%SZ}",
            "cells": [{"stratum": "all", "items": items, "reviewed": items, "total": total, "squares": total, "users": items, "inclusion": 1}],
        }
        for number, (items, total) in enumerate(sums, start=1)
    ]


if __name__ == "__main__":
    here = Path(__file__).parent
    lines = [json.dumps(window) for window in build_windows(here.parent / "established" / "run")]
    (here / "windows.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
