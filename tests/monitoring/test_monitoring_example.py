"""The example of a monitor: its windows are the recorded answers, by the split that its README describes."""

import json
import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "monitoring"


def test_the_windows_are_the_recorded_answers() -> None:
    """Three windows of 64 answers, and 62.5 % of all are long, as the replay's own estimate says."""
    build_windows = runpy.run_path(str(EXAMPLE / "make_windows.py"))["build_windows"]
    windows = [json.loads(line) for line in (EXAMPLE / "windows.jsonl").read_text(encoding="utf-8").splitlines()]

    assert build_windows(EXAMPLE.parent / "established" / "run") == windows
    cells = [window["cells"][0] for window in windows]
    assert sum(cell["total"] for cell in cells) / sum(cell["items"] for cell in cells) == 0.625
