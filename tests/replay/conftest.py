"""`caveat audit run` in this process, without the seconds that a process of its own takes; an endpoint; an empty run folder."""

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from audit.replay.run_store import RunStore, open_store
from registry.cli.main import main
from tests.endpoint.server import KEY, Endpoint, run_endpoint


@dataclass(frozen=True)
class Ran:
    """What one call of `caveat` came to."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output read as JSON."""
        return json.loads(self.out)


Caveat = Callable[..., Ran]


@pytest.fixture
def caveat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Caveat:
    """Run `caveat` with these words in the test's folder; *server* is where it sends calls, *key* what it has for it."""
    monkeypatch.chdir(tmp_path)
    for name in ("CAVEAT_REGISTRY", "CAVEAT_AUTHORITY", "SOURCE_DATE_EPOCH", "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    def call(*words: str | Path, server: Endpoint | None = None, key: str | None = KEY) -> Ran:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url if server else "http://127.0.0.1:9")
        monkeypatch.setenv("ANTHROPIC_API_KEY", key or "")
        monkeypatch.setattr("sys.argv", ["caveat", *map(str, words)])
        capfd.readouterr()
        code = 0
        try:
            main()
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        captured = capfd.readouterr()
        assert "Traceback" not in captured.err
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture
def server() -> Iterator[Endpoint]:
    """A running endpoint."""
    with run_endpoint() as endpoint:
        yield endpoint


@pytest.fixture(scope="session")
def updated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a registry on the day of a model update (`tests.replay.renewals`); to be copied, not changed."""
    from tests.replay.renewals import build

    folder = tmp_path_factory.mktemp("updated")
    build(folder)
    return folder


@pytest.fixture
def registry(updated: Path, tmp_path: Path) -> Path:
    """A copy of it, in the test's folder."""
    shutil.copytree(updated, tmp_path, dirs_exist_ok=True)
    return tmp_path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    """An empty run folder."""
    store = open_store(tmp_path / "run", create=True)
    yield store
    store.close()
