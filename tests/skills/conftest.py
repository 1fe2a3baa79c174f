"""The command, and an endpoint that writes and judges."""

from collections.abc import Iterator

import pytest

from tests.cli.conftest import caveat as caveat  # noqa: PLC0414 (a fixture is found by its name here)
from tests.endpoint.server import KEY, MODEL, Endpoint, run_endpoint
from tests.skills.studies import JUDGE, answer


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """An endpoint where one model writes and another judges."""
    with run_endpoint(Endpoint(script=answer, models=(MODEL, JUDGE))) as running:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running
