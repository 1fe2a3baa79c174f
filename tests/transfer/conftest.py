"""Registries to carry logs between: SQLite files, and a PostgreSQL server that the tests start themselves."""

import shutil
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from registry.store import database_schema as schema
from tests.postgres import NoServerError, create_database, run_server
from tests.transfer.registries import Institute, found

_numbers = count(1)


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[str]:
    """A running server, as the beginning of its URLs; what needs it is skipped where none can be started."""
    try:
        with run_server() as server:
            yield server
    except NoServerError as error:
        pytest.skip(f"PostgreSQL cannot be started: {error}")


@pytest.fixture(params=["file", "postgresql"])
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Makes URLs of databases that are empty or missing, on each engine in turn."""
    if request.param == "postgresql":
        server: str = request.getfixturevalue("postgresql_server")
        return lambda: create_database(server)
    return lambda: f"sqlite:///{tmp_path / f'registry{next(_numbers)}.db'}"


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated, empty registry, to be copied."""
    path = tmp_path_factory.mktemp("template") / "registry.db"
    schema.upgrade(f"sqlite:///{path}")
    return path


@pytest.fixture
def institutes(template: Path, tmp_path: Path) -> Iterator[Callable[..., Institute]]:
    """Makes registries of authorities in SQLite files, each called by its code and seed; all are closed in the end."""
    made: list[Institute] = []

    def make(code: str, seed: int, name: str = "") -> Institute:
        path = tmp_path / f"{name or code.lower()}.db"
        shutil.copy(template, path)
        made.append(found(f"sqlite:///{path}", code, seed=seed, is_migrated=True))
        return made[-1]

    yield make
    for one in made:
        one.ledger.close()


@pytest.fixture
def aisi(institutes: Callable[..., Institute]) -> Institute:
    """A registry in a SQLite file with a card, a claim quoted from it, and two others."""
    institute = institutes("AISI", 1)
    institute.add_quoted()
    institute.add_claims(2)
    return institute


@pytest.fixture
def lab(institutes: Callable[..., Institute]) -> Institute:
    """Another registry in a SQLite file."""
    return institutes("LAB", 2)
