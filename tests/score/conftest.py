"""The command, run as in `tests/cli`."""

from tests.cli.conftest import caveat as caveat  # noqa: PLC0414 (a fixture is found by its name here)
