"""The command that the documentation calls."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.forkserver import run_fork_server


@pytest.fixture(scope="session")
def forked_commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a `caveat` that runs in a process of its own, but is not loaded anew for each command."""
    with run_fork_server(tmp_path_factory.mktemp("commands")) as folder:
        yield folder
