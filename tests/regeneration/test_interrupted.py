"""A regeneration that is stopped, at any moment and by any means, leaves whole files, and the next one draws only the rest."""

import fcntl
import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.folder import folder_manifest as names
from registry.folder import folder_update as draw
from registry.store.ledger import Ledger
from tests.cli.test_kill import start
from tests.regeneration.folders import Regenerated
from tests.soaking import choose


def is_whole(path: Path) -> bool:
    """Whether a file of a supplement has its end."""
    data = path.read_bytes()
    return data.endswith((b"</html>\n", b"</html>", b"}", b"%%EOF\n"))


def stop_at(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Stop the command, as Ctrl-C would, at the step *number* that changes the folder."""
    steps = 0

    def count(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            nonlocal steps
            steps += 1
            if steps == number:
                raise KeyboardInterrupt
            return real(*arguments, **options)

        return step

    monkeypatch.setattr(os, "replace", count(os.replace))
    monkeypatch.setattr(os, "fsync", count(os.fsync))
    monkeypatch.setattr(draw.FolderJournal, "add", count(draw.FolderJournal.add))


def test_whatever_step_it_is_stopped_at_the_next_call_completes_it(folder: Regenerated, tmp_path: Path) -> None:
    """Every file is whole after each stop, and after the next call the folder is as if nothing had happened (`make soak`: every step)."""
    shutil.rmtree(folder.path)
    folder.regenerate(formats=("--json",))
    folder.withdraw()
    before = tmp_path / "before"
    shutil.copytree(folder.path, before)
    folder.regenerate(formats=("--json",))
    wanted = folder.read()
    for number in range(1, 100, choose(3, 1)):
        shutil.rmtree(folder.path)
        shutil.copytree(before, folder.path)
        with pytest.MonkeyPatch.context() as patch:
            stop_at(patch, number)
            stopped = folder.regenerate(formats=("--json",))
        whole = [is_whole(path) for path in folder.path.glob("C*.*")]
        again = folder.regenerate(formats=("--json",))

        assert stopped.code in (130, 0)
        assert all(whole)
        assert again.code == 0, again.err
        assert "ALTERED" not in again.err
        assert folder.read() == wanted
        if stopped.code == 0:
            break
    assert 12 < number < 99


def test_what_was_done_is_not_done_again(folder: Regenerated, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped after the first of two supplements, the next call draws the other one, and reports and lists both."""
    size = folder.manifest()["log_size"]
    folder.withdraw()
    real, rendered = draw.place, []

    def place_one(*arguments: Any, **options: Any) -> Any:
        if rendered:
            raise KeyboardInterrupt
        rendered.append(arguments[1].name)
        return real(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(draw, "place", place_one)
        stopped = folder.regenerate()
    first = folder.path / f"{rendered[0]}.json"
    seen = first.stat().st_ino, first.stat().st_mtime_ns
    checked = folder.regenerate("--check")
    told = folder.regenerate()

    assert stopped.code == 130
    assert (checked.code, len(checked.out.splitlines())) == (1, 1)
    assert "did not end" in checked.err
    assert "1 of 4 supplements were due" in told.err
    assert (first.stat().st_ino, first.stat().st_mtime_ns) == seen
    assert f"{rendered[0]}.json" in told.out
    assert [one["name"] for one in folder.manifest()["reports"]] == [f"changes-{size}-{size + 1}"]


def test_a_killed_command_leaves_whole_files_and_the_next_completes(folder: Regenerated) -> None:
    """SIGKILL as soon as the first file is there, and again a little later each time."""
    shutil.rmtree(folder.path)
    codes = []
    for wanted in (1, 3, 5):
        process = start(folder.path.parent, "report", "--stale", "--html", "--json", "-o", "out")
        until = time.monotonic() + 60
        while process.poll() is None and len(list(folder.path.glob("C*.*"))) < wanted and time.monotonic() < until:
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        codes.append(process.returncode)
        assert all(is_whole(path) for path in folder.path.glob("C*.*"))
    told = folder.regenerate()
    rendered = folder.read()
    shutil.rmtree(folder.path)
    folder.regenerate()

    assert -signal.SIGKILL in codes
    assert told.code == 0, told.err
    assert rendered == folder.read()


def test_two_at_once_are_refused(folder: Regenerated) -> None:
    """The second one says so and changes nothing; the lock ends with whoever holds it."""
    folder.withdraw()
    before = folder.see()
    descriptor = os.open(folder.path, os.O_RDONLY)
    fcntl.flock(descriptor, fcntl.LOCK_EX)

    refused = folder.regenerate()
    same = folder.see() == before
    os.close(descriptor)

    assert (refused.code, "in-use" in refused.err) == (2, True)
    assert same
    assert folder.regenerate().code == 0


def test_what_is_recorded_meanwhile_is_for_the_next_time(folder: Regenerated, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is of one state of the registry, though somebody writes while it is rendered."""
    folder.withdraw()
    size = folder.manifest()["log_size"] + 1
    real, names_ = Ledger.view, []

    def view(self: Ledger, as_of: Any = None, **options: Any) -> Any:
        names_.append(as_of)
        return real(self, as_of, **options)

    monkeypatch.setattr(Ledger, "view", view)
    folder.regenerate()

    assert names_[0] is None
    assert set(names_[1:]) <= {size, size - 1}


def test_a_line_that_was_being_written_is_passed_over(folder: Regenerated, monkeypatch: pytest.MonkeyPatch) -> None:
    """The journal ends where the command was killed; its last, torn line is rendered again."""
    folder.withdraw()
    with monkeypatch.context() as patch:
        stop_at(patch, 10)
        folder.regenerate()
    journal = folder.path / names.JOURNAL
    assert journal.exists()
    journal.write_bytes(journal.read_bytes()[:-20])

    told = folder.regenerate()

    assert told.code == 0, told.err
    assert not journal.exists()
    assert folder.regenerate().err.startswith("nothing is due")
