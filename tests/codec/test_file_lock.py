"""Locks between processes: one holds a file, the other is told; one module knows the system call."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from registry.codec.file_io import lock_file
from registry.errors import UnavailableError

ROOT = Path(__file__).parents[2]


def test_a_file_that_another_process_holds_is_not_locked(tmp_path: Path) -> None:
    """The lock ends with the process that holds it, however that ends."""
    path = tmp_path / "run.lock"
    code = f"import sys; from registry.codec.file_io import lock_file; f = open({str(path)!r}, 'a')"
    code += "; print(lock_file(f, where='f'), flush=True)"
    holder = subprocess.Popen(
        [sys.executable, "-c", f"{code}; sys.stdin.read()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "True\n"
    with path.open("a") as file:
        assert lock_file(file, where="here") is False
        holder.kill()
        holder.communicate()
        assert lock_file(file, where="here") is True


def test_a_folder_is_locked_without_a_file_in_it(tmp_path: Path) -> None:
    """Two openings of one folder are two holders."""
    first, second = os.open(tmp_path, os.O_RDONLY), os.open(tmp_path, os.O_RDONLY)
    try:
        assert lock_file(first, where="folder") is True
        assert lock_file(second, where="folder") is False
    finally:
        os.close(first)
        os.close(second)
    assert list(tmp_path.iterdir()) == []


def test_a_system_without_locks_is_refused_with_a_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As on Windows, where the module `fcntl` does not exist."""
    monkeypatch.setitem(sys.modules, "fcntl", None)

    with (tmp_path / "run.lock").open("a") as file, pytest.raises(UnavailableError, match="system-not-supported"):
        lock_file(file, where="run")


def test_one_module_imports_fcntl() -> None:
    """Everything else runs, or says why not, where that module does not exist."""
    packages = ("registry", "audit", "fleet", "interchange", "monitoring", "web", "caveat")
    modules = [path for folder in packages for path in (ROOT / folder).rglob("*.py")]

    assert [path.name for path in modules if "import fcntl" in path.read_text(encoding="utf-8")] == ["file_io.py"]
