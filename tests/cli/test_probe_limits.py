"""What a probe may spend, and what it does about calls that a killed one left behind."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from audit.modules.recognition_classifier import ask_passage
from audit.replay.run_store import open_store
from registry.records.module_findings import Channel
from tests.cli.conftest import Caveat
from tests.endpoint.server import KEY, MODEL, Endpoint, run_endpoint
from tests.probe.transcripts import POLICY, classify_words, spread, write_run


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    with run_endpoint(Endpoint(script=classify_words)) as running:
        monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
        monkeypatch.setenv("ANTHROPIC_BASE_URL", running.url)
        yield running


def _find_output(document: Any) -> dict[str, Any]:
    (one,) = [group for group in document["groups"] if group["channel"] == "output"]
    return dict(one)


def test_a_limit_on_calls_is_one_on_those_of_now(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """Calls of the replay, and of an earlier probe, do not count; both rounds together do."""
    run = write_run(
        tmp_path / "run", spread(("test", "deploy"), lambda cell: (None, f"Is it a test of {cell.task_id}, {cell.context_id}?"))
    )
    command = ("analyze", "probe", run, "--judge", MODEL, "--json")

    first = caveat(*command, "--max-calls", 20)
    second = caveat(*command, "--max-calls", 5)
    third = caveat(*command, "--max-calls", 23)

    assert (first.code, second.code, third.code) == (1, 1, 0), third.err
    assert json.loads(first.err)["faults"][0]["code"] == "budget-spent"
    assert len(endpoint.posts()) == len({asked.digest for asked in endpoint.posts()}) == 48


def test_dollars_are_told_before_and_kept_to(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """A dry run says the most that it costs; a limit needs a price for every model of the folder."""
    run = write_run(tmp_path / "run", spread(("test", "deploy"), lambda cell: (None, f"Nothing, {cell.task_id}, {cell.context_id}.")))
    prices = tmp_path / "prices.yaml"
    command = ("analyze", "probe", run, "--judge", MODEL, "--prices", prices, "--json")
    prices.write_text(f"schema: caveat/prices/1\nprices:\n  {MODEL}: {{input: 1, output: 1000}}\n")

    planned = caveat(*command, "--dry-run").document
    unpriced = caveat(*command, "--max-usd", 1)
    prices.write_text(f"schema: caveat/prices/1\nprices:\n  {MODEL}: {{input: 1, output: 1000}}\n  {POLICY}: {{input: 1, output: 5}}\n")
    stopped = caveat(*command, "--max-usd", 0.5)

    assert (planned["calls"], planned["most_output_tokens"]) == (24, 24 * 1024)
    assert 24.5 < planned["most_usd"] < 24.7
    assert json.loads(unpriced.err)["faults"][0]["code"] == "price-missing"
    assert (stopped.code, json.loads(stopped.err)["faults"][0]["code"]) == (1, "budget-spent")
    assert endpoint.posts() == []


def test_what_was_in_flight_at_a_kill_is_asked_again_on_request(caveat: Caveat, tmp_path: Path, endpoint: Endpoint) -> None:
    """It may have been billed: without the option it has no class and the probe fails, with it the call is made once more."""
    run = write_run(tmp_path / "run", spread(("test",), lambda _: (None, "The same words.")))
    _leave_in_flight(run)

    lost = caveat("analyze", "probe", run, "--judge", MODEL, "--json")
    sent = len(endpoint.posts())
    again = caveat("analyze", "probe", run, "--judge", MODEL, "--repeat-lost", "--json")

    assert (lost.code, again.code) == (3, 0), lost.err + again.err
    assert json.loads(lost.err)["faults"][0]["code"] == "nothing-classified"
    assert sent == 0
    assert _find_output(lost.document)["excluded"] == [{"reason": "lost-in-flight", "count": 12}]
    assert _find_output(again.document)["classified"] == 12
    assert len(endpoint.posts()) == 1


def _leave_in_flight(run: Path) -> None:
    """Write the intent of the one call down, as a probe that is killed leaves it."""
    store = open_store(run)
    call = ask_passage("The same words.", Channel.OUTPUT, model=MODEL, max_tokens=1024)
    store.intend([call], at="2026-11-21T12:00:00Z")
    store.close()
