"""Settings for all tests."""

import gc
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import settings

from registry import errors
from tests.answers import watch_answers
from tests.cheap_commands import share_statements, skip_syncs
from tests.cli.terminal import Terminal
from tests.forkserver import run_fork_server

# A law is not a measurement of time: how long an example takes depends on what else the machine does.
settings.register_profile("dev", deadline=None, max_examples=20, derandomize=True)
settings.register_profile("ci", deadline=None, max_examples=100, derandomize=True)
settings.register_profile("weekly", deadline=None, max_examples=1000)
settings.load_profile("ci")  # another: --hypothesis-profile=NAME

_TESTS = Path(__file__).parent
_LIGHT = frozenset(("codec", "intake", "judge", "naturalness", "probe", "records", "seal", "shift", "sources", "statistics", "verdict"))
"""Rooms whose tests draw no page and start no process."""
share_statements()
skip_syncs()
watch_answers()
# A shell that starts the tests in the background has them and all their processes ignore Ctrl-C, which some of them are to feel.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


_complete = errors.Fault.__post_init__


def _require_entry(fault: errors.Fault) -> None:
    """Let a fault with a code that the catalogue lacks fail, also one whose code is composed where no scan of the source sees it."""
    assert fault.code in errors.list_explanations(), f"{fault.code} is not in docs/errors.md"
    _complete(fault)


errors.Fault.__post_init__ = _require_entry  # type: ignore[method-assign]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with slow tests run first, light ones last: in the end no worker is left alone with a long file."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in slow, item.path.relative_to(_TESTS).parts[0] in _LIGHT))


def pytest_collection_finish() -> None:
    """What the modules hold stays to the end: no need to look through it again and again for garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000)


@pytest.fixture(scope="session")
def forked_commands(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a `caveat` that runs in a process of its own, but is not loaded anew for each command."""
    with run_fork_server(tmp_path_factory.mktemp("commands")) as folder:
        yield folder


@pytest.fixture
def open_terminal(forked_commands: Path) -> Callable[..., Terminal]:
    """Run `caveat` in a terminal: `open_terminal(folder, *arguments, columns=80, lines=50, **environment)`."""
    return partial(Terminal, forked_commands)
