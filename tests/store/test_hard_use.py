"""Writers that are killed at any moment, and writers at the same time: small rounds of two benchmarks."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

pytestmark = pytest.mark.slow


def _run(*arguments: str) -> str:
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300, env={"PYTHONPATH": str(ROOT)})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_twenty_killed_writers_leave_a_sound_log() -> None:
    """After each kill the log is gapless, all of it verifies, and what was said to be recorded is there."""
    output = _run("benchmarks/kills.py", "--kills", "20", "--seed", "1")

    assert output.startswith("20 writers killed")


def test_writers_at_the_same_time_lose_nothing() -> None:
    """Two on SQLite, eight on PostgreSQL: every entry that a writer was told is there once, in a gapless order."""
    lines = _run("benchmarks/writers.py", "2").splitlines()

    assert lines[0].startswith("SQLite, 2 writers")
    assert lines[1].startswith("PostgreSQL")
    assert all("nothing lost, gapless" in line or "not measured" in line for line in lines)
