"""The command killed while it writes, and two of it at once: what is recorded is all of a file or nothing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.cli.refusals import size_of
from tests.cli.scenario import register

LINES = 5_000
RUN = "import sys; from registry.cli.main import main; sys.argv[0] = 'caveat'; main()"


def start(folder: Path, *arguments: str) -> "subprocess.Popen[str]":
    """Start `caveat` as a process of its own."""
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", RUN, *arguments]
    return subprocess.Popen(command, cwd=folder, env=environ, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def write_lines(path: Path, count: int) -> Path:
    """Write *count* claims, one a line."""
    model = {"developer": "LAB", "name": "M", "version": "1"}
    line = {"quote_status": "paraphrase", "form": "existence", "property": "scheming", "model": model}
    with path.open("w", encoding="utf-8") as stream:
        for number in range(count):
            stream.write(json.dumps({**line, "quote": f"Case {number} of covert action was observed."}) + "\n")
    return path


@pytest.mark.slow
def test_a_killed_registration_leaves_all_or_nothing(caveat: Caveat, tmp_path: Path) -> None:
    """Killed at several instants: the log is whole each time, has none or all of the file, and another run completes it."""
    register(caveat, tmp_path)
    write_lines(tmp_path / "big.jsonl", LINES)
    before, chance = size_of(caveat), random.Random(5)
    began = time.monotonic()
    start(tmp_path, "claim", "add", "big.jsonl", "--dry-run").communicate(timeout=120)
    whole_s = time.monotonic() - began
    seen = set()

    for part in (0.1, 0.4, 0.7, 0.9, 1.0):
        process = start(tmp_path, "claim", "add", "big.jsonl")
        time.sleep(whole_s * part * chance.uniform(0.8, 1.0))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        seen.add(process.returncode)

        assert size_of(caveat) in (before, before + LINES)
        assert caveat("claim", "list", "--limit", "1").code == 0
    again = caveat("claim", "add", "big.jsonl", "--json").document

    assert -signal.SIGKILL in seen
    assert len(again["added"]) + again["unchanged"] == LINES
    assert size_of(caveat) == before + LINES
    assert caveat("admin", "log", "check", "--json").document["entries"] == before + LINES


def test_two_at_once_record_a_file_once(caveat: Caveat, tmp_path: Path) -> None:
    """The later of two writers finds everything registered already."""
    register(caveat, tmp_path)
    write_lines(tmp_path / "both.jsonl", 300)
    before = size_of(caveat)

    processes = [start(tmp_path, "claim", "add", "both.jsonl", "--json") for _ in range(3)]
    answers = [process.communicate(timeout=120) for process in processes]

    assert [process.returncode for process in processes] == [0, 0, 0], answers
    documents = [json.loads(out) for out, _ in answers]
    assert sorted(len(document["added"]) for document in documents) == [0, 0, 300]
    assert size_of(caveat) == before + 300


def test_two_authorities_that_begin_at_once_are_both_there(caveat: Caveat, tmp_path: Path) -> None:
    """Migrations and first entries of two processes do not mix."""
    processes = [start(tmp_path, "init", "--code", code, "--join") for code in ("AISI", "LAB", "AISI")]
    answers = [process.communicate(timeout=120) for process in processes]

    assert [process.returncode for process in processes] == [0, 0, 0], answers
    assert size_of(caveat) == 4  # and the two keys of whoever was first
    assert sorted(path.name for path in (tmp_path / "caveat-keys").glob("*.pem")) == ["document.pem", "log.pem"]
    assert caveat("admin", "log", "check").code == 0


def test_an_interrupted_command_says_so(caveat: Caveat, tmp_path: Path) -> None:
    """Ctrl-C ends with 130 and without a traceback; nothing is recorded."""
    register(caveat, tmp_path)
    write_lines(tmp_path / "big.jsonl", 5_000)
    before = size_of(caveat)
    process = start(tmp_path, "claim", "add", "big.jsonl")
    time.sleep(0.8)

    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)

    assert (process.returncode, "Traceback" in said) in ((130, False), (0, False))
    assert size_of(caveat) in (before, before + 5_000)
