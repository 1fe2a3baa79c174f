"""`caveat audit run --batch`: from the replay file to kept answers, and back to a batch that was left running."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Caveat
from tests.endpoint.server import KEY, MODEL, Endpoint, run_endpoint
from tests.replay.replay_files import press_when_submitted

FILES = {
    "tasks.yaml": 'schema: caveat/tasks/1\ntasks: [{id: a, prompt: "1 + 1?"}, {id: b, prompt: "2 + 2?"}]\n',
    "test.yaml": 'name: T\ndescription: A test\ncontexts: [{id: T1, system: "You are tested.", template: "{task}"}]\n',
    "deploy.yaml": 'name: D\ndescription: No test\ncontexts: [{id: D1, system: "", template: "hey, {task}"}]\n',
}
REPLAY = """
schema: caveat/replay/1
name: small
tasks: tasks.yaml
policy: {model: %s, max_tokens: 16, base_url: "%s"%s}
arms: [{arm: test, context: test.yaml}, {arm: deploy, context: deploy.yaml}]
"""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """An endpoint whose batches end at once, and a replay that asks it."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with run_endpoint(Endpoint(batch_polls=0)) as endpoint:
        for name, text in FILES.items():
            (tmp_path / name).write_text(text)
        (tmp_path / "replay.yaml").write_text(REPLAY % (MODEL, endpoint.url, ""))
        yield endpoint


def test_a_replay_by_batches_keeps_every_answer_and_asks_once(caveat: Caveat, server: Endpoint) -> None:
    """Four calls, one batch, no single call; the second run finds nothing to do."""
    first = caveat("audit", "run", "replay.yaml", "-o", "run", "--batch", "--json")
    again = caveat("audit", "run", "replay.yaml", "-o", "run", "--json")

    assert (first.code, again.code) == (0, 0)
    assert (first.document["answered"], again.document["answered"]) == (4, 0)
    assert len(server.posts("/v1/messages/batches")) == 1
    assert not server.posts()
    assert "4 calls submitted as msgbatch_" in first.err


def test_another_model_in_a_batch_is_told_after_everything_is_kept(caveat: Caveat, server: Endpoint, tmp_path: Path) -> None:
    """The answers were paid for and are kept; the command says that another model gave them, and answers no."""
    server.edit_results = lambda lines: [line.replace(MODEL, "claude-other") for line in lines]

    result = caveat("audit", "run", "replay.yaml", "-o", "run", "--batch")

    assert result.code == 1
    assert "model-changed" in result.err
    assert "4 succeeded" in result.err


def test_parameters_that_the_version_does_not_take_are_refused_before_anything_is_sent(
    caveat: Caveat, server: Endpoint, tmp_path: Path
) -> None:
    """Under the new version a temperature cannot be set, in a batch as outside."""
    (tmp_path / "replay.yaml").write_text(REPLAY % (MODEL, server.url, ', temperature: 0.5, api_version: "2026-10-21"'))

    result = caveat("audit", "run", "replay.yaml", "-o", "run", "--batch")

    assert result.code == 2
    assert "sampling-not-settable" in result.err
    assert not server.asked


def test_a_temperature_reaches_the_endpoint_with_the_version_that_takes_it(caveat: Caveat, server: Endpoint, tmp_path: Path) -> None:
    """The version header of the submission holds for every request in it."""
    (tmp_path / "replay.yaml").write_text(REPLAY % (MODEL, server.url, ", temperature: 0.5"))

    result = caveat("audit", "run", "replay.yaml", "-o", "run", "--batch", "--json")

    (posted,) = server.posts("/v1/messages/batches")
    assert result.document["answered"] == 4
    assert posted.headers["anthropic-version"] == "2023-06-01"
    assert {one["params"]["temperature"] for one in posted.body["requests"]} == {0.5}


def test_open_batches_are_cancelled_and_nothing_new_is_sent(caveat: Caveat, server: Endpoint) -> None:
    """After Ctrl-C the batch is stopped at the endpoint, its calls count as failed, and `--retry-failed` makes them."""
    server.batch_polls = 10**9
    pressing = press_when_submitted(server)
    left = caveat("audit", "run", "replay.yaml", "-o", "run", "--batch")
    pressing.join()

    stopped = caveat("audit", "run", "replay.yaml", "-o", "run", "--cancel-batches", "--json")
    posts = len(server.posts("/v1/messages/batches"))
    again = caveat("audit", "run", "replay.yaml", "-o", "run", "--cancel-batches")
    retried = caveat("audit", "run", "replay.yaml", "-o", "run", "--retry-failed", "--json")

    assert left.code == 1
    assert (stopped.code, stopped.document["answered"], posts) == (0, 0, 1)
    assert f"asked the endpoint to stop {next(iter(server.batches))}" in stopped.err
    assert "has no open batch" in again.err
    assert (retried.code, retried.document["answered"]) == (0, 4)


def test_a_fleet_cancels_no_batches(caveat: Caveat, server: Endpoint) -> None:
    """Batches belong to one process."""
    result = caveat("audit", "run", "replay.yaml", "--cancel-batches", "--fleet", "postgresql://fleet@localhost/fleet")

    assert result.code == 2
    assert "bad-option" in result.err
