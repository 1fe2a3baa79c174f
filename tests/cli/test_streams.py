"""What a command answers does not depend on who reads its output: closed pipes, full disks, terminals without Unicode."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from registry.codec.file_io import naming_file, write_file
from tests.cli.given_out import NAME

RUN = "import sys; from registry.cli.main import main; sys.argv[0] = 'caveat'; main()"


def run_in(
    folder: Path, *arguments: str, redirection: str = "", forked: Path | None = None, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run `caveat` in *folder* as a process of its own, its output redirected by bash; return what bash said, and its exit code.

    Args:
        forked: the folder of a `caveat` that is forked; without it, Python is started for it.
    """
    start = f"{sys.executable} -c {shlex.quote(environ.pop('RUN', RUN))}" if forked is None else str(forked / "caveat")
    script = f'set -o pipefail; {start} "$@" {redirection}'
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environ}
    command = ["bash", "-c", script, "bash", *arguments]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def forged(given_out: Path, tmp_path: Path) -> Path:
    """A folder with a supplement whose statement was changed."""
    data = (given_out / "out" / f"{NAME}.json").read_bytes()
    assert b"schemes in 5 %" in data
    (tmp_path / "forged.json").write_bytes(data.replace(b"schemes in 5 %", b"schemes in 1 %"))
    return tmp_path


@pytest.mark.parametrize("reader", ["| true", "| head -1", "2>&1 | head -c 1", "| (exec 0<&-; sleep 1)"])
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["text", "json"])
def test_a_closed_pipe_hides_no_failure(forged: Path, forked_commands: Path, reader: str, form: tuple[str, ...]) -> None:
    """The exit code is the one of the result, whether or not somebody reads all of it."""
    process = run_in(forged, "verify", "forged.json", *form, redirection=reader, forked=forked_commands)

    assert process.returncode == 1
    assert "BrokenPipe" not in process.stderr


def test_a_closed_pipe_makes_no_failure_either(given_out: Path, tmp_path: Path) -> None:
    """The answer to a good file stays what it is when the reader leaves: 3, as nothing was given to compare it with."""
    shutil.copy(given_out / "out" / f"{NAME}.json", tmp_path)

    codes = [run_in(tmp_path, "verify", f"{NAME}.json", redirection=to).returncode for to in ("> told.txt", "| true")]

    assert codes == [3, 3]
    assert (tmp_path / "told.txt").read_text().startswith("INCOMPLETE")


def test_an_error_is_told_by_its_code_when_nobody_reads_errors(tmp_path: Path) -> None:
    """Standard error may be closed too: a refusal keeps its exit code."""
    (tmp_path / "no.yaml").write_text("a: [", encoding="utf-8")

    assert run_in(tmp_path, "analyze", "classify", "no.yaml", redirection="2>&1 | true").returncode == 2


def test_an_answer_that_a_full_disk_swallows_is_an_error_that_names_the_output(forged: Path) -> None:
    """`> /dev/full` fails like a full disk: no exit code of an answer that no one can have got."""
    process = run_in(forged, "verify", "forged.json", redirection="> /dev/full")

    assert process.returncode == 3
    assert process.stderr.startswith("error[file-not-accessible]: File or folder cannot be used\n  --> standard output\n")


def test_a_full_disk_is_told_with_the_file_that_did_not_fit() -> None:
    """The system's error for a full disk names no file; ours does, whichever way the file is written."""
    full = Path("/dev/full")

    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        write_file(full, "text")
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"), naming_file(full), full.open("w") as stream:
        stream.write("text")


def test_a_registry_that_cannot_grow_is_named(tmp_path: Path) -> None:
    """A limit on the size of files acts like a full disk: the message has the URL of the registry, and nothing is left half written."""
    limit = "import resource as r, signal as s; s.signal(s.SIGXFSZ, s.SIG_IGN); r.setrlimit(r.RLIMIT_FSIZE, (400, 400)); "
    assert run_in(tmp_path, "init", "--code", "AISI").returncode == 0

    process = run_in(tmp_path, "admin", "log", "checkpoint", "-o", "note.txt", RUN=limit + RUN)

    assert process.returncode == 3
    assert "sqlite:///caveat.db" in process.stderr
    assert not (tmp_path / "note.txt").exists()


def test_a_terminal_without_unicode_gets_escapes_and_no_internal_error(forged: Path) -> None:
    """Characters that the encoding lacks are written as escapes; JSON stays the same document."""
    text = run_in(forged, "verify", "forged.json", PYTHONIOENCODING="ascii")
    ascii_ = run_in(forged, "verify", "forged.json", "--json", PYTHONIOENCODING="ascii")
    unicode_ = run_in(forged, "verify", "forged.json", "--json", PYTHONIOENCODING="utf-8")

    assert (text.returncode, ascii_.returncode) == (1, 1)
    assert "internal-error" not in text.stderr + ascii_.stderr
    assert ascii_.stdout.isascii()
    assert text.stdout.isascii()
    assert json.loads(ascii_.stdout) == json.loads(unicode_.stdout)
    assert not unicode_.stdout.isascii()
