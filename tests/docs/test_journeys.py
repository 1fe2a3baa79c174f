"""The journeys of new users: the table of their goals, and the two short ones walked as the benchmark walks them."""

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def journeys() -> Any:
    """The module benchmarks/journeys/journeys.py."""
    spec = importlib.util.spec_from_file_location("journeys", ROOT / "benchmarks" / "journeys" / "journeys.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["journeys"] = module
    spec.loader.exec_module(module)
    return module


def test_each_journey_has_its_goal(journeys: Any) -> None:
    """Six journeys; all but one of them without a file written by hand."""
    goals = {name: (journey.most_commands, journey.most_files) for name, journey in journeys.JOURNEYS.items()}

    assert goals == {"lab": (8, 0), "logs": (1, 0), "endpoint": (7, 2), "verify": (1, 0), "query": (1, 0), "developer": (5, 0)}


def test_a_developer_gets_a_number_in_five_lines(journeys: Any, tmp_path: Path) -> None:
    """From the installed package, in a folder with a score table."""
    row, is_met = journeys.measure("developer", tmp_path, str(Path(sys.executable).with_name("caveat")))

    assert is_met, row
    assert "| 5 | 0 |" in row


def test_a_journey_that_does_not_reach_its_end_says_where_it_stopped(journeys: Any, tmp_path: Path) -> None:
    """The row has the command, its exit code and the error, and no figure."""

    def walk(traveller: Any) -> str:
        return str(traveller.caveat("claim", "show", "CLM-NO"))

    lost = journeys.Journey(title="lost", before="-", most_commands=1, most_files=0, walk=walk)
    journeys.JOURNEYS["lost"] = lost
    try:
        row, is_met = journeys.measure("lost", tmp_path, str(Path(sys.executable).with_name("caveat")))
    finally:
        del journeys.JOURNEYS["lost"]

    assert not is_met
    assert "| – | – | – | **not reached**: `caveat claim show CLM-NO` ended with 2: error[" in row
