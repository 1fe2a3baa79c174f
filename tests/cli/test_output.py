"""Where the answer goes: a reader that stops listening, an output that is closed, and a question that is too large."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.scenario import write_scores

RUN = "import sys; from registry.cli.main import main; sys.argv[0] = 'caveat'; main()"


def run_shell(folder: Path, redirection: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `caveat` with its output redirected by a shell."""
    command = ["sh", "-c", f'exec "$@" {redirection}', "sh", sys.executable, "-c", RUN, *arguments]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_reader_that_stops_listening_is_no_failure(tmp_path: Path, form: tuple[str, ...]) -> None:
    """`caveat … | head -1` ends with 0: 1 would say that the answer is no."""
    write_scores(tmp_path / "scores.csv", test=0.3, deploy=0.5)
    reading, writing = os.pipe()
    os.close(reading)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", RUN, "analyze", "estimate", "scores.csv", "--replicates", "0", "--pointwise", *form]

    process = subprocess.run(command, cwd=tmp_path, env=environ, stdout=writing, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    os.close(writing)

    assert (process.returncode, process.stderr) == (0, "")


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_an_answer_that_nobody_can_get_is_told(tmp_path: Path, form: tuple[str, ...]) -> None:
    """With standard output closed the answer is lost, and the exit code does not say that it was given."""
    write_scores(tmp_path / "scores.csv", test=0.3, deploy=0.5)

    process = run_shell(tmp_path, ">&-", "analyze", "estimate", "scores.csv", "--replicates", "0", *form)

    assert process.returncode == 3
    assert "file-not-accessible" in process.stderr
    assert "internal-error" not in process.stderr


def test_too_little_memory_is_told_as_such(caveat: Caveat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no defect of the program."""
    write_scores(tmp_path / "scores.csv", test=0.3, deploy=0.5)

    def need_more(*_args: object, **_kwargs: object) -> None:
        raise MemoryError("Unable to allocate 4.26 PiB")

    monkeypatch.setattr("audit.sources.score_table.read_table", need_more)
    answer = caveat("analyze", "estimate", "scores.csv")

    assert (answer.code, answer.out) == (3, "")
    assert answer.error == "out-of-memory"
    assert "4.26 PiB" in answer.err


def test_wrong_numbers_of_a_plan_are_told_together(caveat: Caveat, tmp_path: Path) -> None:
    """One call tells them all, also a number of replicates that no computer holds."""
    write_scores(tmp_path / "scores.csv", test=0.3, deploy=0.5)
    answer = caveat("analyze", "estimate", "scores.csv", "--level", 2, "--margin", -1, "--tasks", 0, "--replicates", 99999999999999)

    assert answer.code == 2
    for name in ("level", "margin", "tasks", "replicates"):
        assert f"{name} must" in answer.err
