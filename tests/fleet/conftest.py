"""A PostgreSQL server that keeps what is committed, and fleets in new databases of it."""

from collections.abc import Callable, Iterator

import pytest

from audit.replay.call_engine import UNSENT
from fleet.database import create_schema
from fleet.queue.job_queue import install_queue
from tests.postgres import create_database, run_server

NewFleet = Callable[..., str]


@pytest.fixture(scope="session")
def durable_server() -> Iterator[str]:
    """A running server with fsync, as the beginning of its URLs. Where none can be started, the tests of the fleet fail."""
    with run_server(is_durable=True) as server:
        yield server


@pytest.fixture(scope="session")
def new_fleet(durable_server: str) -> NewFleet:
    """Makes databases with the schema of a fleet, on the engine that is named."""

    def make(engine: str = "procrastinate", *, lease_s: float = 1.0) -> str:
        url = create_database(durable_server)
        assert create_schema(url, engine=engine, unsent=sorted(UNSENT), lease_s=lease_s)
        install_queue(engine, url)
        return url

    return make
