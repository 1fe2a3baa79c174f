"""Killed while it publishes or imports: what is recorded is recorded once, every file is whole, and the next call completes it."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from registry.codec import file_io as atomic
from tests.cli.conftest import HERE
from tests.cli.given_out import ask, inside, run
from tests.cli.test_kill import RUN
from tests.regeneration.folders import COVERT, Regenerated
from tests.soaking import choose

INSTANTS = choose(8, 200)
_TRIES = 6


def fork_command(folder: Path, *arguments: str) -> int:
    """Run `caveat` in a fork of this process, which has everything loaded already; return its number."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            with inside(folder):
                run(*arguments)
            code = 0
        finally:
            os._exit(code)
    return child


def wait(child: int) -> int:
    """Wait for a fork; return its status as `os.waitpid` gives it."""
    return os.waitpid(child, 0)[1]


def kill_at_instants(source: Path, work: Path, *arguments: str, check: Callable[[Path], None]) -> int:
    """Kill the command at each of the instants in a fresh copy of *source* and *check* it; return how many were killed at work."""
    shutil.copytree(source, work)
    began = time.monotonic()
    wait(fork_command(work, *arguments))
    whole_s = time.monotonic() - began
    killed = 0
    for number in range(INSTANTS):
        for _ in range(_TRIES):
            shutil.rmtree(work)
            shutil.copytree(source, work)
            child = fork_command(work, *arguments)
            time.sleep(whole_s * (number + 0.5) / INSTANTS)
            os.kill(child, signal.SIGKILL)
            if os.WIFSIGNALED(wait(child)):
                killed += 1
                break
            # It was done before: the machine is less busy than when the whole command was measured.
            whole_s *= 0.7
        check(work)
    shutil.rmtree(work)
    return killed


@pytest.mark.slow
def test_a_killed_publication_is_completed_by_the_next(folder: Regenerated, tmp_path: Path) -> None:
    """At every instant: the log is in order, no file is half written, and publishing again records nothing twice and proves all."""
    folder.withdraw()
    home = tmp_path / "home"
    home.mkdir()
    for name in ("caveat.db", "caveat-keys", "registry.cfg"):
        if (tmp_path / name).is_dir():
            shutil.copytree(tmp_path / name, home / name)
        elif (tmp_path / name).exists():
            shutil.copyfile(tmp_path / name, home / name)
    publish = ("report", find_claim(folder), "--html", "--json", "--publish", "--yes", "-o", "out")

    def check(work: Path) -> None:
        with inside(work):
            for path in (work / "out").glob("C*.html"):
                assert path.read_bytes().rstrip().endswith(b"</html>")
            assert ask("admin", "log", "check")["entries"] > 0
            run(*publish)
            published = [one for one in ask("admin", "log", "show")["entries"] if {"format", "template"} <= set(one["payload"] or ())]
            files = ask("verify", *HERE, *sorted(path for path in (work / "out").glob("C*") if path.suffix in (".html", ".json")))["files"]
        assert len(published) == 2
        assert [one["verdict"] for one in files] == ["PASS", "PASS"]
        assert not list((work / "out").glob(".*.part"))

    killed = kill_at_instants(home, tmp_path / "work", *publish, check=check)

    assert killed >= INSTANTS // 2


def find_claim(folder: Regenerated) -> str:
    """The claim that is published."""
    return folder.find(COVERT).stem.partition("@")[0]


@pytest.mark.slow
def test_a_killed_import_is_completed_by_the_next(folder: Regenerated, tmp_path: Path) -> None:
    """At every instant the registry has all of the other log or nothing of it."""
    with inside(tmp_path):
        run("admin", "bundle", "write", "-o", "log.caveat")
        vkey = next(one["vkey"] for one in ask("admin", "key", "show")["keys"] if one["vkey"])
        size = ask("admin", "log", "show")["size"]
    home = tmp_path / "other"
    home.mkdir()
    with inside(home):
        run("init", "--code", "LAB")
    take = ("admin", "bundle", "read", str(tmp_path / "log.caveat"), "--vkey", vkey)

    def check(work: Path) -> None:
        with inside(work):
            assert list_sizes() <= {size}
            run(*take)
            assert list_sizes() == {size}
            assert ask("admin", "log", "check")["entries"] > 0

    killed = kill_at_instants(home, tmp_path / "work", *take, check=check)

    assert killed >= INSTANTS // 4
    assert folder.path.is_dir()


def list_sizes() -> set[int]:
    """The number of entries of each log that was taken over."""
    return {one["entries"] for one in ask("admin", "log", "list")["logs"] if not one["own"]}


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Every sync and rename of this process, in order, by what it was of; the real calls are made."""
    calls: list[tuple[str, str]] = []
    fsync, rename = os.fsync, os.replace

    def record_fsync(descriptor: int) -> None:
        calls.append(("fsync", str(Path(f"/proc/self/fd/{descriptor}").readlink())))
        fsync(descriptor)

    def record_rename(source: Path, target: Path) -> None:
        calls.append(("rename", str(target)))
        rename(source, target)

    monkeypatch.setattr(os, "fsync", record_fsync)
    monkeypatch.setattr(os, "replace", record_rename)
    return calls


def test_a_file_is_on_the_disk_before_it_takes_its_place(tmp_path: Path, recorded: list[tuple[str, str]]) -> None:
    """The file is synced, then the folder; it is renamed; the folder is synced again."""
    path = tmp_path / "x.pdf"

    atomic.replace_file(path, b"data")

    assert recorded == [
        ("fsync", str(atomic.name_part(path))),
        ("fsync", str(tmp_path)),
        ("rename", str(path)),
        ("fsync", str(tmp_path)),
    ]


def test_several_files_take_their_places_together(tmp_path: Path) -> None:
    """Where the second cannot be written, the first is as it was, and the error names the second."""
    first, second = tmp_path / "a.html", tmp_path / "missing" / "b.html"
    first.write_bytes(b"before")

    with pytest.raises(OSError, match="missing") as caught:
        atomic.replace_files([(first, b"after"), (second, b"after")])

    assert caught.value.filename == str(second)
    assert first.read_bytes() == b"before"
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_the_order_of_a_publication_as_the_system_sees_it(folder: Regenerated, tmp_path: Path) -> None:
    """Rendered file on the disk, then the log entry, then the proof on the disk, then the finished file in place and the folder synced."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not here (apt-get install strace); the recorder of this process shows the order of one file")
    name = folder.find(COVERT).stem
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", RUN, "report", name, "--html", "--publish", "--yes", "-o", "new"]
    traced = subprocess.run(
        ["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2", "-o", "calls", *command],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    if "ptrace" in traced.stderr.lower():
        pytest.skip(f"strace may not trace here: {traced.stderr[:100]}")
    assert traced.returncode == 0, traced.stderr
    lines = (tmp_path / "calls").read_text("utf-8").splitlines()

    def find(pattern: str) -> list[int]:
        return [place for place, line in enumerate(lines) if re.search(pattern, line)]

    part, file = re.escape(f"/new/.{name}.html.part"), re.escape(f"/new/{name}.html")
    folder_synced = find(rf"fsync\(\d+<{re.escape(str(tmp_path))}/new>")
    part_synced, draft_synced = find(rf"fsync\(\d+<[^>]*{part}>"), find(rf"fsync\(\d+<[^>]*{file}>")
    renamed = find(rf'rename\w*\(.*{re.escape(f"new/{name}.html")}"')
    committed = find(r"f(data)?sync\(\d+<[^>]*caveat\.db")
    assert len(part_synced) == len(renamed) == 2
    assert part_synced[0] < renamed[0] < draft_synced[0]
    between = [place for place in committed if draft_synced[0] < place < part_synced[1]]
    assert between, "the log is committed between the rendered file and the finished one"
    assert any(draft_synced[0] < place < between[0] for place in folder_synced)
    assert between[-1] < part_synced[1] < renamed[1]
    assert any(place > renamed[1] for place in folder_synced)
