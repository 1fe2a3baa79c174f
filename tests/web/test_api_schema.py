"""The interface against its own description: schemathesis asks every operation what the description allows, and what it forbids."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from starlette.testclient import TestClient

from tests.web.conftest import open_ledger
from tests.web.test_api import SETTINGS, find_names
from tests.web.test_server import build_client
from web.api.operations import list_operations

EXAMPLES = 200 if os.environ.get("CAVEAT_SOAK") else 2


@pytest.fixture(scope="module")
def client(_built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    ledger = open_ledger(_built)
    with build_client(ledger, tmp_path_factory.mktemp("shelf"), SETTINGS) as client:
        yield client
    ledger.close()


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_every_operation_keeps_its_description(client: TestClient, mode: GenerationMode) -> None:
    """Status, media type, format and headers are those that are declared, and what is forbidden is refused."""
    schema = schemathesis.openapi.from_dict(json.loads(client.get("/openapi.json").content))
    schema.app = client.app
    schema.config.update(base_url="http://localhost")
    # A value that a description allows can still name nothing, or an entry after the last.
    schema.config.checks.positive_data_acceptance.expected_statuses = ["2xx", 304, 400, 404, 410]
    is_allowed = mode is GenerationMode.POSITIVE
    names = find_names(client) if is_allowed else {}
    # Any text may be a name in a path, so only a query can have what is forbidden.
    operations = [one for one in map(_get, schema.get_all_operations()) if is_allowed or len(one.query)]
    for operation in operations:
        _ask(operation, mode, names)

    assert len(operations) == len([one for one in list_operations() if is_allowed or one.parameters])


def _get(result: Any) -> Any:
    return result.ok()


def _ask(operation: Any, mode: GenerationMode, names: dict[str, str]) -> None:
    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def ask(case: Any) -> None:
        # With names of this registry things are found, and not only missed.
        case.path_parameters = {name: names.get(name, value) for name, value in (case.path_parameters or {}).items()}
        case.call_and_validate()

    ask()
