"""The command, run in this process as a user would run it in a folder."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from registry.cli.main import main


@dataclass(frozen=True)
class Answer:
    """What one call of `caveat` came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output read as JSON."""
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The code of the first error on standard error; empty without one."""
        return self.err.partition("error[")[2].partition("]")[0]


Caveat = Callable[..., Answer]
HERE = ("--registry", "sqlite:///caveat.db")
"""Compare with the registry of the current folder: `verify` reads none that it is not asked to."""


@pytest.fixture
def caveat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Caveat:
    """Run `caveat` in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    for name in ("CAVEAT_REGISTRY", "CAVEAT_AUTHORITY", "SOURCE_DATE_EPOCH"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str | Path) -> Answer:
        monkeypatch.setattr("sys.argv", ["caveat", *map(str, arguments)])
        capfd.readouterr()
        code = 0
        try:
            main()
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return Answer(code, captured.out, captured.err)

    run.is_plain = True  # type: ignore[attr-defined]  # a registry made by it may be a copy (tests/cli/scenario.py)
    return run


@pytest.fixture(scope="session")
def given_out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a registry whose supplements were published; to be copied, not changed."""
    from tests.cli.given_out import build

    folder = tmp_path_factory.mktemp("given-out")
    build(folder)
    return folder


@pytest.fixture
def registered(caveat: Caveat, tmp_path: Path) -> list[str]:
    """The three claims of the small card, registered in the folder of the test."""
    from tests.cli.scenario import register

    return register(caveat, tmp_path)
